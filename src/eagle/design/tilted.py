"""GLIME: draw rows by the kernel, with equal weights, instead of weighing rows by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np

from eagle.design.law import (
    Absorbed,
    Tilt,
    every_step,
    mean_weight,
    quantile,
    tilted_counts,
    uniforms,
)
from eagle.kernel import TINY, log_ways
from eagle.types import Array, InputError, Kernel, Need, Points, Space

WIDEST = 1.0
"""The largest scale: wider offsets would be cut off where the space's steps end."""

RAREST = 1 / 32
"""A feature that would move less often than this follows the space's own law instead."""

FAR = 600.0
"""The largest exponent: it keeps exp from overflowing, far beyond the last step."""


@final
@dataclass(frozen=True)
class Gauss:
    """Offsets from N(0, σ²), in the space's own standard deviations."""

    sigma: float
    needs: ClassVar = frozenset({Need.OFFSETS})

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        return _offsets(space, self.sigma, lambda x: np.exp(-(x**2) / 2))


@final
@dataclass(frozen=True)
class Laplace:
    """Offsets from the Laplace law of scale σ, cut off where the space's steps end."""

    sigma: float
    needs: ClassVar = frozenset({Need.OFFSETS})

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        return _offsets(space, self.sigma, lambda x: np.exp(-np.abs(x)))


@final
@dataclass(frozen=True)
class Uniform:
    """Offsets from the uniform law between −σ and σ."""

    sigma: float
    needs: ClassVar = frozenset({Need.OFFSETS})

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        return _offsets(space, self.sigma, lambda x: (np.abs(x) <= 1).astype(np.float64))


@final
@dataclass(frozen=True)
class Removal:
    """Masks by the number of parts off: k of d are kept with weight C(d, k)·2⁻ᵈ·e^((k − d)/σ²).

    The mask that keeps all parts is excluded: at the published σ = ¼ nearly every mask would be
    that one. As it is, nearly every mask leaves out one part. The space's own law and the kernel
    play no part.
    """

    sigma: float
    needs: ClassVar = frozenset({Need.MASKS})

    def __post_init__(self) -> None:
        if not (np.isfinite(self.sigma) and self.sigma > 0):
            raise InputError(
                f"the scale of a removal must be a positive number, not {self.sigma!r}"
            )

    def chances(self, d: int) -> Array:
        """The probability, up to a factor, that k of d parts are kept, shape (d + 1,)."""
        more = np.arange(d - 1, -1, -1.0)  # parts off, minus one
        with np.errstate(over="ignore"):  # the smallest scales give −∞, which is probability 0
            logs = log_ways(d)[:d] - more / max(self.sigma * self.sigma, TINY)
        return np.append(np.exp(logs - logs.max(initial=0.0)), 0.0)


@final
@dataclass(frozen=True)
class Tilted:
    """The instance, then independent points of `law`, with equal weights.

    With `mass` the weight of every row is π̄, the kernel's mean weight. A ridge penalty or a prior
    then means the same as under the kernel, and the estimate is LIME's. Without `mass` the weight
    is 1, as in GLIME: a penalty of α then shrinks as much as α·π̄ would with `mass`.
    """

    law: Tilt | Removal = field(default_factory=Absorbed)
    mass: bool = False
    balanced: ClassVar = False

    @property
    def needs(self) -> frozenset[Need]:
        return self.law.needs

    def longest(self, space: Space, budget: int) -> int:
        return budget

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d). All spaces share the uniforms."""
        if not spaces:
            return []
        uniform = uniforms(spaces[0], budget, rng)
        return [self._points(space, kernel, uniform) for space in spaces]

    def _points(self, space: Space, kernel: Kernel, uniform: Array) -> Points:
        if isinstance(self.law, Removal):
            points = _masks(self.law.chances(len(space.origin)), uniform)
        elif space.counts is not None:
            points = _masks(tilted_counts(space, kernel), uniform)
        else:
            points = quantile(self.law.tilt(space, kernel), uniform)
        points[0] = space.origin
        return points.astype(space.origin.dtype)

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        """One weight for all rows, shape (n,)."""
        mean = 1.0
        if self.mass:
            law = Absorbed() if isinstance(self.law, Removal) else self.law
            mean = mean_weight(space, kernel, law)
        return np.full(len(features), mean)


def _offsets(space: Space, sigma: float, law: Callable[[Array], Array]) -> Array:
    """The ratio of a law of offsets to the space's own, which is normal; 1 for matches.

    It is also 1 for features that the law would hardly ever move, as some numbers of two values.
    """
    if not 0 < sigma <= WIDEST:
        raise InputError(
            f"the scale of offsets must be above 0 and at most {WIDEST:g}, since steps end at "
            f"three standard deviations: not {sigma!r}"
        )
    features, anchor = every_step(space)
    with np.errstate(over="ignore", under="ignore"):
        out = law(features / sigma) * np.exp(np.minimum(features**2 / 2, FAR))
    moves = anchor == 0  # at the instance a match is 1 and an offset is 0
    moves &= (out * (features != 0)).sum(axis=0) >= RAREST * out.sum(axis=0)
    out[:, ~moves] = 1.0
    return out


def _masks(chances: Array, uniform: Array) -> Array:
    """Masks whose number of kept parts follows `chances`; which parts are kept is uniform.

    The result, shape (n, d), is 1 where a part is off.
    """
    cumulated = np.cumsum(chances)
    kept = np.searchsorted(cumulated, uniform[:, 0] * cumulated[-1], side="right")
    rank = np.argsort(np.argsort(uniform[:, 1:], axis=1), axis=1)
    return np.asarray(rank >= kept[:, None], dtype=np.float64)
