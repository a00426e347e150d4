"""Do explanations of one prediction agree with one another?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eagle._values.text import finite, short_repr
from eagle.errors import InputError
from eagle.metrics.validate import (
    any_numbers,
    bounds,
    count,
    finite_numbers,
    flags,
    overlap,
    pairs,
    runs,
    same,
    strongest,
)

__all__ = [
    "chance",
    "chance_corrected",
    "coefficients_index",
    "jaccard",
    "lipschitz",
    "variables_index",
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


def chance_corrected(value: float, d: int, k: int = 5) -> float:
    """A mean overlap on the scale where chance is 0 and equality 1: (J − chance)/(1 − chance).

    Below 0 is worse than chance. If d ≤ k every overlap is 1 and nothing is measured: NaN.
    """
    if not finite(value) or not 0 <= value <= 1:
        raise InputError(f"an overlap is between 0 and 1, not {short_repr(value)}")
    by_chance = chance(d, count(k, "k"))
    return float("nan") if k >= d else (value - by_chance) / (1 - by_chance)


def variables_index(selected: ArrayLike) -> float:
    """VSI of lime_stability: how many selected features two runs share, in percent.

    `selected`, shape (runs, d), is True where a run selected a feature. The figure is
    100·|F ∩ F'|/p, averaged over pairs; p is how many each run selects, the same for all.
    """
    chosen = _as_flags(selected)
    counts = chosen.sum(axis=1)
    if counts.min() != counts.max() or not counts[0]:
        raise InputError(
            "every run must select as many features as every other, and at least one: "
            f"these select {counts.min()} to {counts.max()}"
        )
    first, second = pairs(len(chosen))
    return float(100 * np.mean((chosen[first] & chosen[second]).sum(axis=1)) / counts[0])


def coefficients_index(intervals: ArrayLike, selected: ArrayLike) -> float:
    """CSI of lime_stability: how often intervals of one feature overlap between runs, in percent.

    For each feature that at least two runs selected, the share of pairs of those runs whose
    intervals overlap; averaged over these features. NaN where there are none. `intervals` has the
    shape (runs, d, 2); only those `selected`, shape (runs, d), are used. Intervals
    that share a single point overlap, so that a run always agrees with its copy; lime_stability
    asks for more than a point.
    """
    chosen = _as_flags(selected)
    given = any_numbers(intervals, "intervals", "runs", "d", "2")
    if given.shape != (*chosen.shape, 2):
        raise InputError(
            f"intervals must have the shape {(*chosen.shape, 2)}, as what is selected, "
            f"not {given.shape}"
        )
    given = bounds(np.where(chosen[..., None], given, 0.0))
    first, second = pairs(len(chosen))
    low, high = given[..., 0], given[..., 1]
    meet = (low[first] <= high[second]) & (low[second] <= high[first])
    together = chosen[first] & chosen[second]
    known = together.sum(axis=0)
    there = known > 0
    if not there.any():
        return float("nan")
    return float(100 * np.mean((meet & together).sum(axis=0)[there] / known[there]))


def _as_flags(selected: ArrayLike) -> NDArray[np.bool_]:
    chosen = flags(selected, "selected", "runs", "d")
    if len(chosen) < 2:
        raise InputError(f"at least 2 runs are needed here, not {len(chosen)}")
    return chosen


def lipschitz(scores: ArrayLike, x: ArrayLike, near_scores: ArrayLike, near: ArrayLike) -> float:
    """The largest ‖scores(x) − scores(x')‖/‖x − x'‖ over neighbours x' of an instance x.

    The arguments have shapes (d,), (p,), (m, d) and (m, p); the units of scores and of x are the
    caller's. The figure says how far an explanation moves with its instance, which includes how far
    the model itself changes.
    """
    own, centre = finite_numbers(scores, "scores", "d"), finite_numbers(x, "x", "p")
    others, points = (
        finite_numbers(near_scores, "near_scores", "m", "d"),
        finite_numbers(near, "near", "m", "p"),
    )
    same("near_scores", others.shape[1], len(own))
    if len(others) != len(points) or points.shape[1] != len(centre):
        raise InputError(
            f"{len(others)} neighbours of {len(centre)} numbers are needed, not {points.shape}"
        )
    distance = np.linalg.norm(points - centre, axis=1)
    if not distance.all():
        raise InputError("a neighbour is the instance itself: leave it out")
    return float(np.max(np.linalg.norm(others - own, axis=1) / distance))
