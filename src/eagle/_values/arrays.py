"""Names of types that every module shares."""

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
