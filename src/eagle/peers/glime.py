"""GLIME: draw rows by the kernel, with equal weights, instead of weighing rows by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, final

import numpy as np

from eagle._engine.method import Method
from eagle._values.arrays import Array, Points
from eagle._values.checks import check_flags, number
from eagle.contracts import Kernel, Need, Planned, Space
from eagle.designs.law import (
    Absorbed,
    Tilt,
    check_tilt,
    kept_count_law,
    mean_weight,
    quantile,
    uniforms,
)
from eagle.kernels import COSINE, MIN_DISTANCE, Exponential, Unit, log_ways
from eagle.peers.offsets import Gauss
from eagle.surrogates.ridge import Ridge


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
        number(self.sigma, "the scale of a removal", above=0.0)

    def chances(self, d: int) -> Array:
        """The probability, up to a factor, that k of d parts are kept, shape (d + 1,)."""
        more = np.arange(d - 1, -1, -1.0)  # parts off, minus one
        with np.errstate(over="ignore"):  # the smallest scales give −∞, which is probability 0
            logs = log_ways(d)[:d] - more / max(self.sigma * self.sigma, MIN_DISTANCE)
        return np.append(np.exp(logs - logs.max(initial=0.0)), 0.0)


@final
@dataclass(frozen=True)
class Tilted(Planned):
    """The instance, then independent points of `law`, with equal weights.

    With `mass` the weight of every row is π̄, the kernel's mean weight. A ridge penalty or a prior
    then means the same as under the kernel, and the estimate is LIME's. Without `mass` the weight
    is 1, as in GLIME: a penalty of α then shrinks as much as α·π̄ would with `mass`.
    """

    law: Tilt | Removal = field(default_factory=Absorbed)
    mass: bool = False

    def __post_init__(self) -> None:
        check_flags(mass=self.mass)
        check_tilt(self.law, "tilt", "chances")

    @property
    def needs(self) -> frozenset[Need]:
        return self.law.needs

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
            points = _masks(kept_count_law(space, kernel), uniform)
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


def _masks(chances: Array, uniform: Array) -> Array:
    """Masks whose number of kept parts follows `chances`; which parts are kept is uniform.

    The result, shape (n, d), is 1 where a part is off.
    """
    cumulated = np.cumsum(chances)
    kept = np.searchsorted(cumulated, uniform[:, 0] * cumulated[-1], side="right")
    rank = np.argsort(np.argsort(uniform[:, 1:], axis=1), axis=1)
    return np.asarray(rank >= kept[:, None], dtype=np.float64)


GLIME: Final = Method("GLIME", Tilted(), Exponential(), Ridge(), COSINE)
"""GLIME-Binomial: rows are drawn by LIME's kernel and have equal weights; a ridge of 1.

On masks it draws by LIME's cosine kernel, so its scores mean the same as LIME's: a little over
half of the parts are kept. The authors' code for images has another law, with nearly all parts
kept: see `GLIME_PUBLISHED`. Their code for tables cannot be imported; here the law is exact, also
if matches have unequal probabilities.
"""

GLIME_PUBLISHED: Final = Method(
    "GLIME (published)", Tilted(Removal(0.25)), Unit(), Ridge(), budget=1024
)
"""GLIME as its authors' code draws images, for masks only: σ = ¼, 1,024 rows, a ridge of 1.

Masks of fair coins are drawn by the kernel e^(−removed/σ²) of the number of parts removed, and
the mask that keeps all parts is excluded. At σ = ¼ nearly every mask leaves out one part: 92% of 12
parts are kept, 98% of 50. So there are hardly more than d different masks, whatever the budget.
Each is asked once, and counts as often as it is drawn. A score is the effect of leaving a part out
of the complete image; in `GLIME` it is the effect when nearly half of the others are off.
"""

GLIME_LIME: Final = Method(
    "GLIME (LIME's ridge)", Tilted(mass=True), Exponential(), Ridge(), COSINE
)
"""GLIME with a ridge of α/π̄: it converges to the same explanation as LIME, with fewer rows."""

GLIME_GAUSS: Final = Method("GLIME (Gauss)", Tilted(Gauss(0.5)), Exponential(), Ridge())
"""Offsets from N(0, ½²) standard deviations, in the continuous view; the ½ is our choice."""
