"""Explanations of different features, as those of texts and images are: columns of lists."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from eagle.explanation import Explanation
from eagle.explanations import LazyExplanations, alone, bounds_at
from eagle.files import sealed
from eagle.files.sealed import plain_json, scalar, text, writable
from eagle.surrogate.posterior import LEVEL, Posterior, StudentT
from eagle.types import Array

BY_ROW: Final = ("prediction", "local_prediction", "intercept", "r2", "r2_held_out")
"""The columns of numbers, one a row."""

LISTS: Final = ("score", "scale", "contrast", "low", "high")
"""The columns of numbers, one a feature."""


def columns(pa: Any, items: Sequence[Explanation]) -> dict[str, Any]:
    """The columns of a table with a row for each explanation."""
    numbers = pa.list_(pa.float64())
    out: dict[str, Any] = {
        name: pa.array([float(vars(e)[name]) for e in items], pa.float64()) for name in BY_ROW
    }
    sure = [e.posterior if isinstance(e.posterior, StudentT) else None for e in items]
    out["df"] = pa.array([None if t is None else t.df for t in sure], pa.float64())
    out["intervals"] = pa.array(["" if t is None else t.kind for t in sure])
    out["pooled"] = pa.array([t is not None and t.pooled for t in sure])
    out["signed"] = pa.array([bool(e.signed) for e in items])
    out["name"] = pa.array([[writable(n) for n in e.names] for e in items])
    out["condition"] = pa.array([[writable(c) for c in e.conditions] for e in items])
    out["value"] = pa.array([[json.dumps(plain_json(v)) for v in e.data] for e in items])
    out["score"] = pa.array([e.scores for e in items], numbers)
    out["scale"] = pa.array([None if t is None else t.spread for t in sure], numbers)
    out["contrast"] = pa.array([e.contrast for e in items], numbers)
    shown = [e.shown(LEVEL) if t is None else None for e, t in zip(items, sure, strict=True)]
    for k, end in enumerate(("low", "high")):
        out[end] = pa.array([None if s is None else s[:, k] for s in shown], numbers)
    return out


def items(table: Any, common: Mapping[str, Any], targets: Sequence[Any]) -> LazyExplanations:
    """The explanations of a table that `columns` made, each when it is looked at."""
    _check(table)
    unknown = np.full((1, len(common["outputs"])), np.nan)

    def make(i: int) -> Explanation:
        row: dict[str, Any] = table.slice(i, 1).to_pylist()[0]
        names = tuple(map(text, row["name"]))
        lists = {name: _floats(row[name]) for name in LISTS}
        return alone(
            common,
            names=names,
            conditions=tuple(map(text, row["condition"])),
            data=tuple(map(_plain, row["value"])),
            scores=lists["score"],
            posterior=_posterior(row, lists),
            signed=bool(row["signed"]),
            contrast=lists["contrast"],
            target=targets[i],
            answers=unknown,
            **{name: float(row[name]) for name in BY_ROW},
        )

    return LazyExplanations(range(len(table)), make)


def _posterior(row: Mapping[str, Any], lists: Mapping[str, Array | None]) -> Posterior | None:
    scores, scale, low, high = (lists[name] for name in ("score", "scale", "low", "high"))
    assert scores is not None
    if scale is not None:
        kind, pooled = text(row["intervals"]), bool(row["pooled"])
        square = np.diag(np.nan_to_num(scale) ** 2)
        return StudentT(scores, square, float(row["df"]), 1.0, kind, pooled)
    return None if low is None or high is None else bounds_at(low, high, scores, LEVEL)


def _check(table: Any) -> None:
    """Refuse lists that do not fit the names of the features, and scores that are not finite."""
    from pyarrow import compute

    counts = compute.list_value_length(table.column("name"))
    for name in ("condition", "value", *LISTS):
        own = table.column(name)
        fits = compute.equal(compute.list_value_length(own), counts)
        if not compute.all(fits, min_count=0).as_py():
            raise ValueError(f"the lists of {name!r} do not fit the features")
    if table.column("name").null_count or table.column("score").null_count:
        raise ValueError("an explanation has no features, or no scores")
    if not np.isfinite(compute.list_flatten(table.column("score")).to_numpy()).all():
        raise ValueError("a score is not a finite number")


def _floats(values: Any) -> Array | None:
    return None if values is None else np.array(values, dtype=np.float64)


def _plain(said: Any) -> Any:
    value = sealed.parse(text(said))
    return value if value is None else scalar(value)
