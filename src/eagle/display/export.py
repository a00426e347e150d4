"""Explanations as other packages show them: a pandas table, a `shap.Explanation`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eagle._values import packages
from eagle._values.posterior import LEVEL
from eagle._values.ties import places
from eagle.display import contributions
from eagle.io.container import writable

if TYPE_CHECKING:
    import pandas as pd

    from eagle.explanation import Explanation


def to_frame(e: Explanation, level: float = LEVEL) -> pd.DataFrame:
    """A tidy table: one row a feature, in the features' own order."""
    pd = packages.package("pandas", "to_frame", "frames")
    low, high, std, sure = e.columns(level)
    odds = {} if e.link is None or not e.signed else {"odds": np.exp(e.scores)}
    return pd.DataFrame(
        {
            "feature": [writable(name) for name in e.names],
            "condition": [writable(condition) for condition in e.conditions],
            "value": pd.Series(list(e.data), dtype=object),
            "output": [writable(e.target_name)] * len(e.names),
            "prediction": [e.prediction] * len(e.names),
            "score": e.scores,
            "low": low,
            "high": high,
            "std": std,
            "probability_sign": sure,
            "rank": places(np.abs(e.scores)),
            **odds,
        }
    )


def to_shap(e: Explanation, level: float = LEVEL) -> Any:
    """A contribution for each feature, and the base value, which add up to the prediction."""
    prediction = np.array([e.prediction])
    contributions.check(e.method, e.signed, e.contrast, prediction)
    shap = packages.shap("to_shap")
    given, base = contributions.parts(e.scores[None], e.contrast, prediction)
    return shap.Explanation(
        given[0],
        base_values=float(base[0]),
        data=np.array(["missing" if v is None else v for v in e.data], dtype=object),
        feature_names=list(e.names),
        **({} if e.posterior is None else _bounds(e, level)),
    )


def _bounds(e: Explanation, level: float) -> dict[str, Any]:
    """The intervals of the contributions."""
    low, high, std, _ = e.columns(level)
    lower, upper = contributions.between(low, high, e.contrast)
    return {
        "lower_bounds": lower,
        "upper_bounds": upper,
        "error_std": std * np.abs(e.contrast),
    }
