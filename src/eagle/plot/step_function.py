"""A feature's scores against its values as a curve: steps where one score holds for a whole bin,
and what the model itself answers as the value is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._questions.errors import spread_over
from eagle._values.arrays import Array
from eagle._values.targets import answers_of
from eagle._values.text import finite
from eagle.errors import InputError
from eagle.explainer import Explainer
from eagle.explanations import Explanations

SAYS_STEPS: Final = "Steps: one score holds for a whole bin of values; the model may move within it"
"""What is said below steps."""

MAX_WHAT_IF_ROWS, MAX_WHAT_IF_VALUES = 40, 25
"""Rows whose value is changed, and the values that it is given."""


@final
@dataclass(frozen=True, eq=False)
class StepFunction:
    """A score for each bin, from edge to edge: the one in the middle of the bin's rows.

    `bins` says which bin each row is in.
    """

    edges: Array
    scores: Array
    bins: NDArray[np.intp]


def steps_of(e: Explanations, j: int, numbers: Array) -> StepFunction | None:
    """The steps of feature j, whose rows have these numbers, NaN where missing; None where scores
    are no step function of the value."""
    known = np.isfinite(numbers)
    conditions = np.asarray(e.conditions[:, j], dtype=str)
    if not known.any() or len(np.unique(numbers[known])) <= len(np.unique(conditions[known])):
        return None
    names, codes = np.unique(conditions, return_inverse=True)
    low = np.array(
        [np.nanmin(numbers[known & (codes == k)], initial=np.inf) for k in range(len(names))]
    )
    high = np.array(
        [np.nanmax(numbers[known & (codes == k)], initial=-np.inf) for k in range(len(names))]
    )
    order = [int(k) for k in np.argsort(low) if np.isfinite(low[k])]
    if len(order) < 2 or (high[order][:-1] >= low[order][1:]).any():
        return None
    place = np.full(len(names), -1)
    place[order] = np.arange(len(order))
    between = (high[order][:-1] + low[order][1:]) / 2
    edges = np.concatenate([[low[order[0]]], between, [high[order[-1]]]])
    bins = np.where(known, place[codes], -1)
    scores = np.array([np.median(e.scores[bins == k, j]) for k in range(len(order))])
    return StepFunction(edges, scores, bins)


def what_if(e: Explanations, explainer: Explainer, j: int) -> tuple[Array, Array]:
    """Values of number j over its range, and the mean answer as rows are given each of them, less
    its mean over the rows' own values: what a perfect score would say. The model is asked."""
    if not isinstance(explainer, Explainer) or not explainer.has_model:
        raise InputError("the what-if line asks the model: give an explainer that has one")
    if e.difference is not None or not all(v is None or finite(v) for v in e.data[:, j].tolist()):
        raise InputError("there is a what-if line for numbers of one model only")
    known = np.array([v for v in e.data[:, j].tolist() if v is not None], dtype=np.float64)
    shares = np.linspace(0, 1, MAX_WHAT_IF_VALUES)
    values = np.unique(np.quantile(known, shares, method="nearest"))
    rows = spread_over(len(e), MAX_WHAT_IF_ROWS)
    answers = [_answers(e, explainer, _with_value(e, rows, j, value)) for value in values.tolist()]
    mean = np.array([one.mean() for one in answers])
    return values, mean - np.interp(known, values, mean).mean()


def _with_value(e: Explanations, rows: NDArray[np.intp], j: int, value: float) -> Any:
    """Rows with another value of feature j, as the explainer takes them."""
    data = e.data[rows].copy()
    whole = all(isinstance(v, int) for v in e.data[:, j].tolist())
    data[:, j] = int(value) if whole else value
    try:
        import pandas as pd
    except ImportError:
        return data
    return pd.DataFrame({name: data[:, k].tolist() for k, name in enumerate(e.names)})


def _answers(e: Explanations, explainer: Explainer, rows: Any) -> Array:
    answers = explainer.predict(rows)
    return answers_of(answers, e.outputs, e.target, e.link)
