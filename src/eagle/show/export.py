"""Explanations as other packages show them: a pandas table, a `shap.Explanation`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eagle import packages
from eagle.explanation import Explanation
from eagle.files.sealed import writable
from eagle.show import contributions
from eagle.surrogate.posterior import LEVEL
from eagle.types import Array, MissingExtraError

if TYPE_CHECKING:
    import pandas as pd


def to_frame(e: Explanation, level: float = LEVEL) -> pd.DataFrame:
    """A tidy table: one row a feature, in the features' own order."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("to_frame", "pandas", "frames") from None
    low, high, std, sure = e.columns(level)
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


def to_shap(e: Explanation, level: float = LEVEL, base: Any = None) -> Any:
    """Bars that add up from the base to the prediction."""
    contributions.check(e.method, e.signed, e.contrast, np.array([e.prediction]))
    shap = packages.shap("to_shap")
    local, start = np.array([e.local_prediction]), np.array([contributions.base_of(e, base)])
    bars = contributions.parts(e.scores[None], e.contrast, local, np.array([e.prediction]), start)
    own = contributions.ends(local, bars, start)[0].tolist()
    return shap.Explanation(
        bars[0],
        base_values=float(start[0]),
        data=np.array([*e.data, *own], dtype=object),
        feature_names=[*e.names, *contributions.OWN],
        **({} if e.posterior is None else _bounds(e, level, bars[0, -2:])),
    )


def _bounds(e: Explanation, level: float, own: Array) -> dict[str, Any]:
    """The intervals of the bars; what is not fitted has none, and so its bar's own ends."""
    low, high, std, _ = e.columns(level)
    bounds = np.sort(np.stack([low, high], axis=1) * e.contrast[:, None], axis=1)
    return {
        "lower_bounds": np.append(bounds[:, 0], own),
        "upper_bounds": np.append(bounds[:, 1], own),
        "error_std": np.append(std * np.abs(e.contrast), [0.0, 0.0]),
    }
