"""Names of types that every module shares, and what arrays of answers and features are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
"""A float array: features, weights, answers, scores."""


Points: TypeAlias = NDArray[Any]
"""Perturbations in the encoding in which their space draws them, one per row."""


Model: TypeAlias = Callable[[Any], Any]
"""A black box: a table of n rows in, n answers out."""


Range: TypeAlias = tuple[float, float]
"""The least and the greatest number that an answer can be."""


UNBOUNDED: Final[Range] = (-math.inf, math.inf)
"""The range of answers that can be any number."""


def is_flat(y: Array) -> bool:
    """Whether answers differ by no more than rounding; unknown answers, NaN, are ignored."""
    known = y[~np.isnan(y)]
    return not len(known) or bool(np.ptp(known) <= 1e-12 * np.abs(known).max())


def columns_that_move(features: Array) -> NDArray[np.bool_]:
    """Which columns differ from the first row somewhere, shape (d,); missing equals missing."""
    own = features[0]
    return np.asarray(((features != own) & ~(np.isnan(features) & np.isnan(own))).any(axis=0))


def are_probabilities(answers: Array) -> bool:
    """Whether each row could be the probabilities of exclusive classes."""
    inside = answers.min() >= -1e-6 and answers.max() <= 1 + 1e-6
    return bool(inside and np.abs(answers.sum(axis=1) - 1).max() <= 1e-3)
