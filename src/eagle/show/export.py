"""Explanations as other packages show them: a pandas table, a `shap.Explanation`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eagle import packages
from eagle.explanation import LEVEL, Explanation, columns
from eagle.files.sealed import writable
from eagle.types import Array, InputError, MissingExtraError

if TYPE_CHECKING:
    import pandas as pd


def to_frame(e: Explanation, level: float = LEVEL) -> pd.DataFrame:
    """A tidy table: one row a feature, in the features' own order."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("to_frame", "pandas", "frames") from None
    low, high, std, sure = columns(e, level)
    rank = np.empty(len(e.names), dtype=int)
    rank[e.order()] = np.arange(1, len(e.names) + 1)
    odds = {} if e.link is None or not e.signed else {"odds": np.exp(e.scores)}
    return pd.DataFrame(
        {
            "feature": [writable(name) for name in e.names],
            "condition": [writable(condition) for condition in e.conditions],
            "value": pd.Series(list(e.data), dtype=object),
            "output": [writable(e.target_name)] * len(e.names),
            "score": e.scores,
            "low": low,
            "high": high,
            "std": std,
            "probability_sign": sure,
            "rank": rank,
            **odds,
        }
    )


def to_shap(e: Explanation, level: float = LEVEL) -> Any:
    """Contributions that add up from the base to the local line at x."""
    check_adds_up(e.method, e.signed, e.contrast)
    shap = packages.shap("to_shap")
    values = e.scores * e.contrast
    return shap.Explanation(
        values,
        base_values=e.local_prediction - float(values.sum()),
        data=np.array(e.data, dtype=object),
        feature_names=list(e.names),
        **({} if e.posterior is None else _bounds(e, level)),
    )


def check_adds_up(method: str, signed: bool, contrast: Array) -> None:
    """Refuse scores that are no contributions."""
    if not signed:
        raise InputError(f"the scores of {method} have no sign: they add up to nothing")
    if not np.isfinite(contrast).all():
        raise InputError(
            "contributions need a background to start from, and this explanation was made "
            "from scales alone: read the scores as slopes instead"
        )


def _bounds(e: Explanation, level: float) -> dict[str, Any]:
    low, high, std, _ = columns(e, level)
    bounds = np.sort(np.stack([low, high], axis=1) * e.contrast[:, None], axis=1)
    return {
        "lower_bounds": bounds[:, 0],
        "upper_bounds": bounds[:, 1],
        "error_std": std * np.abs(e.contrast),
    }
