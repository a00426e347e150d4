"""Do runs agree on the sign of a feature? Its entropy, in bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from eagle._values.arrays import Array
from eagle.metrics.validate import runs

__all__ = ["sign_entropy"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


ABSENCE_PENALTY = 0.1
"""The penalty for features that are always 0: see `sign_entropy`."""


def sign_entropy(scores: ArrayLike) -> float:
    """ASFE: the entropy of signs over runs, in bits, averaged over features.

    `scores` has the shape (runs, d). p is a feature's share of positive scores among those that
    are not 0; a feature that is always 0 adds nothing. So runs that give 0 to most features would
    look perfect. Hence BELIEF's penalty: where the entropy is 0 and only m < d/2 features are ever
    not 0, the result is 0.1·(d − m)/d.
    """
    by_run = runs(scores)
    up, down = (by_run > 0).sum(axis=0), (by_run < 0).sum(axis=0)
    doubt = _entropy(np.stack([up, down]) / np.maximum(up + down, 1))
    d, present = len(up), int(np.count_nonzero(up + down))
    if doubt == 0 and present < d / 2:
        return ABSENCE_PENALTY * (d - present) / d
    return doubt


def _entropy(shares: Array) -> float:
    """The mean over columns of the entropy of shares, shape (classes, d), in bits."""
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return float(np.mean(np.abs((shares * logs).sum(axis=0))))  # never −0
