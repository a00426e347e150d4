"""Are explanations right? Do they agree with their limit, and do their intervals contain it?

`scores` has the shape (runs, d), `reference` the shape (d,): the converged explanation. What is
returned is the mean over runs; one run is enough. Scores of different designs estimate different
lines where the model is not linear, so compare sizes only with a reference of the same design.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from eagle._values.arrays import Array
from eagle.errors import InputError
from eagle.metrics.validate import bounds, finite_numbers, overlap, runs, same, strongest

__all__ = [
    "agreement",
    "coverage",
    "relative_error",
    "width",
]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


def agreement(scores: ArrayLike, reference: ArrayLike, k: int = 5) -> float:
    """The mean overlap of each run's k strongest features with those of the reference.

    `scores` has the shape (runs, d), `reference` (d,). A biased method can be stable and wrong;
    this metric shows it. Its chance level is that of `stability.jaccard`.
    """
    by_run, truth = _both(scores, reference)
    tops = strongest(by_run, k).astype(np.float64)
    return float(np.mean(overlap(tops, strongest(truth, k).astype(np.float64))))


def relative_error(scores: ArrayLike, reference: ArrayLike) -> float:
    """The mean of ‖a − b‖/‖b‖ of each run's scores a from the reference b; NaN where b is 0.

    `scores` has the shape (runs, d), `reference` (d,).
    """
    by_run, truth = _both(scores, reference)
    if not truth.any():
        return float("nan")
    return float(np.mean(np.linalg.norm(by_run - truth, axis=1)) / np.linalg.norm(truth))


def coverage(intervals: ArrayLike, reference: ArrayLike) -> Array:
    """The share of runs whose interval contains the reference, for each feature, shape (d,).

    `intervals` has the shape (runs, d, 2). Print the mean of the result beside the level.
    """
    given, truth = bounds(intervals), finite_numbers(reference, "reference", "d")
    if given.ndim != 3:
        raise InputError(f"intervals must have the shape (runs, d, 2), not {given.shape}")
    same("the reference", len(truth), given.shape[1])
    return np.asarray(((given[..., 0] <= truth) & (truth <= given[..., 1])).mean(axis=0))


def width(intervals: ArrayLike) -> Array:
    """The mean width of intervals over features, shape (…) for intervals of shape (…, d, 2).

    A narrow interval may be wrong: print the width beside `coverage` at the same level.
    """
    given = bounds(intervals)
    return np.asarray((given[..., 1] - given[..., 0]).mean(axis=-1))


def _both(scores: ArrayLike, reference: ArrayLike) -> tuple[Array, Array]:
    by_run, truth = runs(scores, 1), finite_numbers(reference, "reference", "d")
    same("the reference", len(truth), by_run.shape[1])
    return by_run, truth
