"""Explanations of different features, as those of texts and images are: columns of lists."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from eagle._values.posterior import LEVEL, StudentT
from eagle.explanation import Explanation
from eagle.io.container import plain_json, writable

BY_ROW: Final = ("prediction", "local_prediction", "intercept", "r2", "r2_held_out")
"""The columns of numbers, one a row."""


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
    shown = [
        e.interval_or_nan(LEVEL) if t is None else None for e, t in zip(items, sure, strict=True)
    ]
    for k, end in enumerate(("low", "high")):
        out[end] = pa.array([None if s is None else s[:, k] for s in shown], numbers)
    return out
