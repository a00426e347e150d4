"""Do explanations of one prediction agree with one another?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eagle.metrics.validate import (
    count,
    overlap,
    pairs,
    runs,
    strongest,
)

__all__ = [
    "chance",
    "jaccard",
]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


def jaccard(scores: ArrayLike, k: int = 5) -> float:
    """The mean overlap |T ∩ T'|/|T ∪ T'| of the k strongest features, over all pairs of runs.

    `scores` has the shape (runs, d). Of equal sizes the earlier feature is the stronger one. Print
    it beside `chance(d, k)`. It is always 1 if d ≤ k.
    """
    tops = strongest(runs(scores), k).astype(np.float64)
    first, second = pairs(len(tops))
    return float(np.mean(overlap(tops[first], tops[second])))


def chance(d: int, k: int = 5) -> float:
    """The mean overlap of two sets of k features of d, each drawn at random."""
    count(d, "d"), count(k, "k")
    if k >= d:
        return 1.0
    both = np.arange(max(0, 2 * k - d), k + 1)
    probability = np.exp(_ways(k, both) + _ways(d - k, k - both) - _ways(d, k))
    return float(probability @ (both / (2 * k - both)))


def _ways(n: int, k: Any) -> Any:
    """The logarithm of how many sets of k there are among n."""
    from scipy.special import gammaln

    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
