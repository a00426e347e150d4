"""GLIME: draw where the weight is, instead of weighing what was drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, final

import numpy as np

from eagle.kernel import TINY, Exponential, Unit, euclidean
from eagle.space.mask import log_ways
from eagle.types import Array, InputError, Kernel, Need, Points, Space

WIDEST = 1.0
"""Offsets wider than the space's own would be cut off where its steps end."""

RAREST = 1 / 32
"""What moves less often than this teaches nothing, so it moves as in the space's own law."""

FAR = 600.0
"""Beyond this exponent a law has no room: its steps ended long before."""


class Tilt(Protocol):
    """Another law of the same steps: how likely each is, beside the space's own law."""

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        """How much more often each step of each feature is drawn, shape (STEPS, d)."""


@final
@dataclass(frozen=True)
class Absorbed:
    """The kernel itself. The exponential of a squared Euclidean distance is a product over
    features, so the tilted law is again independent: a match that the space draws with
    probability q is drawn with p = q/(q + (1 − q)e^(−1/2w²)), and what leaves keeps its own law.
    """

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        if isinstance(kernel, Unit):
            return np.ones((space.steps, len(space.origin)))
        if not isinstance(kernel, Exponential) or kernel.distance is not euclidean:
            raise InputError(
                "only an exponential kernel of the Euclidean distance can be absorbed feature by "
                "feature"
            )
        features, anchor = every_step(space)
        return np.asarray(np.exp(-((features - anchor) ** 2) / kernel.scale(len(anchor))))


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
    """Offsets from the Laplace law of scale σ, as far as the space's steps go."""

    sigma: float
    needs: ClassVar = frozenset({Need.OFFSETS})

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        return _offsets(space, self.sigma, lambda x: np.exp(-np.abs(x)))


@final
@dataclass(frozen=True)
class Uniform:
    """Offsets evenly from −σ to σ."""

    sigma: float
    needs: ClassVar = frozenset({Need.OFFSETS})

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        return _offsets(space, self.sigma, lambda x: (np.abs(x) <= 1).astype(np.float64))


@final
@dataclass(frozen=True)
class Removal:
    """Masks by how many parts are off: of d parts k are kept with C(d, k)·2⁻ᵈ·e^((k − d)/σ²).

    All parts are never kept: else, at the σ = ¼ that is published, hardly anything would be off.
    So nearly every mask leaves out one part. The space's own law and the kernel have no say.
    """

    sigma: float
    needs: ClassVar = frozenset({Need.MASKS})

    def __post_init__(self) -> None:
        if not (np.isfinite(self.sigma) and self.sigma > 0):
            raise InputError(
                f"the scale of a removal must be a positive number, not {self.sigma!r}"
            )

    def chances(self, d: int) -> Array:
        """How probable it is that k of d parts are kept, up to a factor, shape (d + 1,)."""
        more = np.arange(d - 1, -1, -1.0)  # parts off beside the first
        with np.errstate(over="ignore"):  # at the smallest scales there are none
            logs = log_ways(d)[:d] - more / max(self.sigma * self.sigma, TINY)
        return np.append(np.exp(logs - logs.max(initial=0.0)), 0.0)


@final
@dataclass(frozen=True)
class Tilted:
    """The instance, then independent points of another law than the space's own; equal weights.

    With `mass` every row weighs what the kernel would have given on average, π̄: then a ridge or
    a prior means the same as under the kernel, and what is estimated is exactly LIME's. Without,
    rows weigh 1, as in GLIME: a penalty of α then shrinks as α·π̄ would have.
    """

    law: Tilt | Removal = field(default_factory=Absorbed)
    mass: bool = False

    @property
    def needs(self) -> frozenset[Need]:
        return getattr(self.law, "needs", frozenset())

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
            points = at(self.law.tilt(space, kernel), uniform)
        points[0] = space.origin
        return points.astype(space.origin.dtype)

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        """The same for every row, shape (n,)."""
        mean = mean_weight(space, kernel, self.law) if self.mass else 1.0
        return np.full(len(features), mean)


def mean_weight(space: Space, kernel: Kernel, law: Tilt | Removal) -> float:
    """π̄: what the kernel gives a row of the space's own law on average."""
    if space.counts is not None or isinstance(law, Removal):
        return float(tilted_counts(space, kernel).sum())
    return float(np.prod(law.tilt(space, kernel).mean(axis=0)))


def uniforms(space: Space, n: int, rng: np.random.Generator) -> Array:
    """n rows of uniform numbers: one for the row, then one a feature, shape (n, d + 1)."""
    d = len(space.origin)
    # Raw output: the part of numpy's generators that is promised never to change.
    raw = np.asarray(rng.bit_generator.random_raw(n * (d + 1)))
    return ((raw >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(n, d + 1)


def at(tilt: Array, uniform: Array) -> Array:
    """The steps at which uniform numbers stand in a tilted law, shape (n, d)."""
    points = np.empty((len(uniform), tilt.shape[1]))
    for j, one in enumerate(np.cumsum(tilt, axis=0).T):
        points[:, j] = np.searchsorted(one, uniform[:, j + 1] * one[-1], side="right")
    return points


def every_step(space: Space) -> tuple[Array, Array]:
    """The feature at each step, shape (STEPS, d), and at the instance, shape (d,)."""
    steps = np.arange(space.steps, dtype=space.origin.dtype)
    every = np.repeat(steps[:, None], len(space.origin), axis=1)
    return space.features(every), space.features(space.origin[None])[0]


def _offsets(space: Space, sigma: float, law: Callable[[Array], Array]) -> Array:
    """A law of offsets over that of the space, which is normal; matches keep theirs.

    So does what the law would hardly ever move, as a number of two values.
    """
    if not 0 < sigma <= WIDEST:
        raise InputError(
            f"the scale of offsets must be above 0 and at most {WIDEST:g}, since steps end at "
            f"three standard deviations: not {sigma!r}"
        )
    features, anchor = every_step(space)
    with np.errstate(over="ignore", under="ignore"):
        out = law(features / sigma) * np.exp(np.minimum(features**2 / 2, FAR))
    moves = anchor == 0  # an instance matches itself, and is at no offset from itself
    moves &= (out * (features != 0)).sum(axis=0) >= RAREST * out.sum(axis=0)
    out[:, ~moves] = 1.0
    return out


def tilted_counts(space: Space, kernel: Kernel) -> Array:
    """How probable k kept parts are, times their weight, shape (d + 1,)."""
    assert space.counts is not None
    d = len(space.origin)
    kept = np.tri(d + 1, d, k=-1)
    return space.counts * kernel(kept, np.ones(d))


def _masks(chances: Array, uniform: Array) -> Array:
    """Masks whose number of kept parts follows the chances, and which parts these are, none."""
    cumulated = np.cumsum(chances)
    kept = np.searchsorted(cumulated, uniform[:, 0] * cumulated[-1], side="right")
    rank = np.argsort(np.argsort(uniform[:, 1:], axis=1), axis=1)
    return np.asarray(rank >= kept[:, None], dtype=np.float64)
