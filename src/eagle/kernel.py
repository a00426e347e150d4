"""Locality: how much a perturbation counts, by its distance from the instance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from eagle.types import Array, InputError, Kernel, finite, told

TINY = float(np.finfo(np.float64).tiny)

FAR = 100.0
"""If the anchor is farther from the origin, the expanded square would lose digits."""


def euclidean(features: Array, anchor: Array) -> Array:
    """Squared Euclidean distance of each row to the anchor, shape (..., n)."""
    if np.abs(anchor).max(initial=0.0) > FAR:
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
        if self.width is not None and not (finite(self.width) and self.width > 0):
            raise InputError(f"a kernel's width must be a positive number, not {told(self.width)}")

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
        return np.maximum(weight, TINY, out=weight)


@final
@dataclass(frozen=True)
class Shapley:
    """(d − 1)/(C(d, k) k (d − k)) for k matches of d: the kernel of Shapley values.

    It is infinite where all or none match. There the weight is `ends`; BayesSHAP takes 1.
    """

    ends: float = 1.0

    def __call__(self, features: Array, anchor: Array) -> Array:
        d = features.shape[-1]
        weight = np.full(d + 1, float(self.ends))
        k = np.arange(1, d)
        weight[1:d] = np.exp(-log_ways(d)[1:d]) * (d - 1) / (k * (d - k))
        matches = np.rint(features.sum(axis=-1)).astype(np.intp)
        return np.asarray(np.maximum(weight, TINY)[matches])


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
    return kernel(np.tri(d + 1, d, k=-1), np.ones(d)) if even else None
