"""Explanations as shap draws them: a contribution for each feature, which add up to the prediction.

The scores of a line do not add up to the prediction. The rest is where the line starts, its value
without the contributions, and what it misses of the instance: both are in the base value.
"""

from __future__ import annotations

import numpy as np

from eagle._values.arrays import Array
from eagle.display.numbers import count
from eagle.errors import InputError


def parts(scores: Array, contrast: Array, prediction: Array) -> tuple[Array, Array]:
    """The contributions of the features, shape (n, d), and the base values, shape (n,): what is
    left of the predictions."""
    given = scores * contrast
    return given, prediction - given.sum(axis=1)


def between(low: Array, high: Array, contrast: Array) -> tuple[Array, Array]:
    """The intervals of the contributions, from those of the scores."""
    ends = np.sort(np.stack([low * contrast, high * contrast]), axis=0)
    return ends[0], ends[1]


def check(method: str, signed: bool, contrast: Array, prediction: Array) -> None:
    """Refuse scores that are no contributions, and an end that is not known."""
    if not signed:
        raise InputError(f"the scores of {method} have no sign: they add up to nothing")
    if not np.isfinite(contrast).all():
        raise InputError(
            "contributions need a background to start from, and this explanation was made "
            "from scales alone: read the scores as slopes instead"
        )
    if not np.isfinite(prediction).all():
        raise InputError(
            "contributions end at the prediction, which is not known of "
            f"{count(int((~np.isfinite(prediction)).sum()))} of {count(len(prediction))} rows: "
            "explain with the model, or give a survey their predictions=…"
        )
