"""Explanations of any scores, for the tests of what is drawn of many of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from eagle import Explanations
from eagle._questions.errors import Common
from eagle.contracts import Array
from eagle.explanations import LazyExplanations, Stacked


def synthetic(
    scores: Array,
    spread: float = 0.05,
    values: Any = None,
    name: str = "x",
    conditions: Any = None,
    each: Any = None,
) -> Explanations:
    """Explanations with these scores, and values that are the scores' own unless given. `each`
    makes a single one, which plots do not need."""
    n, d = scores.shape
    one = np.ones(n)
    wide = np.full((n, d), spread)
    stacked = Stacked(
        names=tuple(f"{name}{j}" for j in range(d)),
        data=scores.round(3).astype(object) if values is None else values,
        conditions=np.full((n, d), "", dtype=object) if conditions is None else conditions,
        slopes=np.zeros((n, d), dtype=bool),
        scores=scores,
        spread=wide,
        df=8 * one,
        prediction=np.where(np.arange(n) % 3 == 2, np.nan, scores.sum(axis=1)),
        local_prediction=one,
        intercept=one,
        r2=one,
        r2_held_out=one,
        contrast=np.ones((n, d)),
        effective=one,
        kind="robust",
        pooled=True,
        signed=True,
    )

    def none(i: int) -> Any:
        raise AssertionError("no plot needs a single explanation of these")

    return Explanations(
        LazyExplanations(range(n), none if each is None else lambda i: each(stacked, i)),
        tuple(range(n)),
        ("yes",) * n,
        ("no", "yes"),
        "classification",
        "survey",
        0,
        None,
        stacked,
        Common(scores, wide, stacked.df),
    )
