"""Locality: how much a perturbation counts, by its distance from the instance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from eagle._values.arrays import Array
from eagle._values.checks import check_flags, check_function, number
from eagle._values.text import finite, short_repr
from eagle.contracts import Kernel
from eagle.errors import InputError

__all__ = [
    "COSINE",
    "Exponential",
    "Shapley",
    "Unit",
    "cosine_distance",
    "euclidean",
]

MIN_DISTANCE = float(np.finfo(np.float64).tiny)

AT_ONCE: Final = 1 << 20
"""At most this many features of rows are weighed at once, where rows are all numbers of matches."""

MAX_EXPANDED_SQUARE = 100.0
"""If the anchor is farther from the origin, the expanded square would lose digits."""


def euclidean(features: Array, anchor: Array) -> Array:
    """Squared Euclidean distance of each row to the anchor, shape (..., n)."""
    if np.abs(anchor).max(initial=0.0) > MAX_EXPANDED_SQUARE:
        apart = features - anchor
        return np.asarray(np.vecdot(apart, apart))
    # ‖z‖² − 2zᵀa + ‖a‖² needs no copy of the features, which would cost more than the rest.
    squared = np.asarray(np.einsum("...i,...i->...", features, features))
    if anchor.any():
        squared += features @ (-2 * anchor)
        squared += anchor @ anchor
        np.maximum(squared, 0.0, out=squared)
    return squared


def cosine_distance(features: Array, anchor: Array) -> Array:
    """Squared cosine distance of each row to the anchor; a row of zeros is at distance 1."""
    if not anchor.any():
        raise InputError(
            "an instance at the origin has no direction: take the Euclidean distance where "
            "features are offsets"
        )
    length = np.sqrt(np.vecdot(features, features)) * np.sqrt(anchor @ anchor)
    inner = features @ anchor
    likeness = np.divide(inner, length, out=np.zeros_like(inner), where=length > 0)
    return np.asarray((1.0 - likeness) ** 2)


@final
@dataclass(frozen=True)
class Exponential:
    """exp(-D²/w²), or its square root exp(-D²/2w²), which is what LIME uses.

    `width` is w; without one it is 0.75·√d. `distance` gives D².
    """

    width: float | None = None
    root: bool = True
    distance: Callable[[Array, Array], Array] = euclidean

    def __post_init__(self) -> None:
        check_flags(root=self.root)
        check_function(self.distance, "a distance")
        if self.width is not None and not (finite(self.width) and self.width > 0):
            raise InputError(
                f"a kernel's width must be a positive number, not {short_repr(self.width)}"
            )

    def scale(self, d: int) -> float:
        """The divisor of D² for d features."""
        width = self.width or 0.75 * math.sqrt(max(d, 1))
        return float((2.0 if self.root else 1.0) * width**2)

    def __call__(self, features: Array, anchor: Array) -> Array:
        scale = self.scale(features.shape[-1])
        # The exponential underflows to 0 some 38 widths out. The smallest normal float keeps
        # weights positive, and such a row still has no influence.
        weight = np.asarray(self.distance(features, anchor) / -scale)
        np.exp(weight, out=weight)
        return np.maximum(weight, MIN_DISTANCE, out=weight)


COSINE: Final = Exponential(0.25, distance=cosine_distance)
"""LIME's kernel of masks: width 0.25 of the cosine distance. For texts LIME writes 25 of 100."""


@final
@dataclass(frozen=True)
class Shapley:
    """(d − 1)/(C(d, k) k (d − k)) for k matches of d: the kernel of Shapley values.

    It is infinite where all or none match. There the weight is `ends`; BayesSHAP takes 1.
    """

    ends: float = 1.0

    def __post_init__(self) -> None:
        number(self.ends, "ends, the weight where all or none match,", above=0.0)

    def __call__(self, features: Array, anchor: Array) -> Array:
        d = features.shape[-1]
        weight = np.full(d + 1, float(self.ends))
        k = np.arange(1, d)
        weight[1:d] = np.exp(-log_ways(d)[1:d]) * (d - 1) / (k * (d - k))
        matches = np.rint(features.sum(axis=-1)).astype(np.intp)
        return np.asarray(np.maximum(weight, MIN_DISTANCE)[matches])


@final
@dataclass(frozen=True)
class Unit:
    """Every perturbation counts the same."""

    def __call__(self, features: Array, anchor: Array) -> Array:
        return np.ones(features.shape[:-1])


def log_ways(d: int) -> Array:
    """The logarithm of how many masks of d parts keep k of them, shape (d + 1,)."""
    from scipy.special import gammaln

    k = np.arange(d + 1)
    return np.asarray(gammaln(d + 1) - gammaln(k + 1) - gammaln(d - k + 1))


def by_count(kernel: Kernel, d: int) -> Array | None:
    """The weight of k matches of d, shape (d + 1,), if it depends on k alone; else None."""
    even = isinstance(kernel, Shapley | Unit) or (
        isinstance(kernel, Exponential) and kernel.distance in (euclidean, cosine_distance)
    )
    return weight_by_count(kernel, d) if even else None


def weight_by_count(kernel: Kernel, d: int) -> Array:
    """The weight of rows whose first k of d features match, for k = 0 to d, shape (d + 1,)."""
    each = max(1, AT_ONCE // max(d, 1))
    parts = [
        kernel(np.tri(min(each, d + 1 - k), d, k=k - 1), np.ones(d)) for k in range(0, d + 1, each)
    ]
    return np.concatenate(parts)


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)
