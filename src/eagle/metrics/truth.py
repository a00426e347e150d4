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
    "cosine",
    "coverage",
    "relative_error",
    "sign_agreement",
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


def cosine(scores: ArrayLike, reference: ArrayLike) -> float:
    """The mean cosine of the angle between each run's scores and the reference.

    `scores` has the shape (runs, d), `reference` (d,). A run whose scores are all 0 has cosine 0; a
    reference of zeros has no direction, so it is NaN.
    """
    by_run, truth = _both(scores, reference)
    if not truth.any():
        return float("nan")
    # In units of the largest: squares of very small or large scores would under- or overflow.
    by_run = by_run / np.maximum(np.abs(by_run).max(axis=1, keepdims=True), np.finfo(float).tiny)
    truth = truth / np.abs(truth).max()
    lengths = np.linalg.norm(by_run, axis=1) * np.linalg.norm(truth)
    return float(np.mean((by_run @ truth) / np.where(lengths > 0, lengths, 1.0)))


def relative_error(scores: ArrayLike, reference: ArrayLike) -> float:
    """The mean of ‖a − b‖/‖b‖ of each run's scores a from the reference b; NaN where b is 0.

    `scores` has the shape (runs, d), `reference` (d,).
    """
    by_run, truth = _both(scores, reference)
    if not truth.any():
        return float("nan")
    return float(np.mean(np.linalg.norm(by_run - truth, axis=1)) / np.linalg.norm(truth))


def sign_agreement(scores: ArrayLike, reference: ArrayLike, k: int | None = None) -> float:
    """The share of the reference's k strongest features, or of all, whose sign a run shares.

    `scores` has the shape (runs, d), `reference` (d,). Features whose reference is 0 have no sign
    to share and are left out; NaN if none is left. A run that gives 0 to one of the others does not
    share its sign.
    """
    by_run, truth = _both(scores, reference)
    asked = truth != 0
    if k is not None:
        asked &= strongest(truth, k)
    if not asked.any():
        return float("nan")
    return float(np.mean(np.sign(by_run[:, asked]) == np.sign(truth[asked])))


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
