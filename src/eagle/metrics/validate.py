"""Checks of the arrays that metrics take. What does not fit is an `InputError`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.text import short_repr
from eagle._values.ties import rank
from eagle.errors import InputError


def finite_numbers(values: ArrayLike, name: str, *shape: str) -> Array:
    """Finite numbers with one axis for each word of `shape`.

    If `shape` begins with "…", any number of axes may come first. No axis is empty.
    """
    array = any_numbers(values, name, *shape)
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite: there are NaN or infinite numbers among them")
    return array


def any_numbers(values: ArrayLike, name: str, *shape: str) -> Array:
    """As `finite_numbers`, but they may be infinite or missing."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} must be an array: its rows differ in length") from None
    except Exception:  # another's object may raise anything
        raise InputError(f"{name} must be an array, not {short_repr(values)}") from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be numbers, not {array.dtype}")
    least = len(shape) - (shape[0] == "…")
    if array.ndim < least or (array.ndim > least and shape[0] != "…"):
        listed = ", ".join(shape) + ("," if len(shape) == 1 else "")
        raise InputError(f"{name} must have the shape ({listed}), not {array.shape}")
    if not array.size:
        raise InputError(f"{name} must not be empty: the shape is {array.shape}")
    return array.astype(np.float64)


def runs(scores: ArrayLike, least: int = 2) -> Array:
    """Scores of several runs on the same features, shape (runs, d)."""
    by_run = finite_numbers(scores, "scores", "runs", "d")
    if len(by_run) < least:
        raise InputError(f"at least {least} runs are needed here, not {len(by_run)}")
    return by_run


def bounds(intervals: ArrayLike) -> Array:
    """Intervals of any shape (…, d, 2), low before high; a bound may be infinite."""
    given = any_numbers(intervals, "intervals", "…", "d", "2")
    if given.shape[-1] != 2:
        raise InputError(f"intervals must have the shape (…, d, 2), not {given.shape}")
    if not (given[..., 0] <= given[..., 1]).all():
        raise InputError("each interval must have a low bound that is not above its high one")
    return given


def count(value: Any, name: str) -> int:
    """An integer of at least 1."""
    return integer(value, name, 1)


def same(name: str, given: int, wanted: int) -> None:
    """Refuse an array of another number of features."""
    if given != wanted:
        raise InputError(
            f"{name} must be about as many features as the rest: {wanted}, not {given}"
        )


def strongest(scores: Array, k: int) -> NDArray[np.bool_]:
    """Which features are among the k largest in size, for each run, as in `Explanation.top`.

    Of equal or nearly equal sizes the earlier feature comes first.
    """
    order = rank(np.abs(scores))[..., : count(k, "k")]
    chosen = np.zeros(scores.shape, dtype=np.bool_)
    np.put_along_axis(chosen, order, True, axis=-1)
    return chosen


def pairs(runs: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All pairs of different runs, each once."""
    return np.triu_indices(runs, 1)


def overlap(first: Array, second: Array) -> Array:
    """|T ∩ T'|/|T ∪ T'| of sets given as zeros and ones, shape (…, d)."""
    both = np.vecdot(first, second)
    return np.asarray(both / (first.sum(axis=-1) + second.sum(axis=-1) - both))
