"""EAGLE: ask where the answer is expected to teach most about the coefficients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from eagle.surrogate.information import Information, Prior, augment
from eagle.types import Array, InputError, Kernel, Points, Space

# Two candidates with equal features have equal scores, but rounding differs with their place in
# a matrix and with the machine. Scores this close count as equal, and the earlier one wins: so
# a plan is the same on every machine.
TIE = 1e-9

# Candidates kept up to date within a batch.
SHORT = 128

# Floats of candidate features held at once: small enough to stay in a processor's cache.
BLOCK = 1 << 16


def gain(variance: Array, weight: Array) -> Array:
    """π zᵀVz: the expected information gain ½ log(1 + π zᵀVz) grows with it (Theorem 1)."""
    return weight * variance


def variance_only(variance: Array, weight: Array) -> Array:
    """Predictive variance zᵀVz, blind to locality."""
    return variance


@final
@dataclass(frozen=True)
class Greedy:
    """Algorithm 1, planned: seeds, then the best of a fresh pool, batch by batch.

    The score needs no answers, so the whole loop runs before any query. The first seed is the
    instance itself. Within a batch each pick is the best given the picks before it; with
    `frozen`, the `batch` best under the batch's first covariance, as printed in the paper.
    """

    score: Callable[[Array, Array], Array] = gain
    prior: Prior = field(default_factory=Prior)
    seeds: int = 10
    batch: int = 10
    pool: int = 1000
    frozen: bool = False

    def __post_init__(self) -> None:
        for name in ("seeds", "batch", "pool"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 1:
                raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")
        if self.batch > self.pool:
            raise InputError(f"a batch of {self.batch} cannot be chosen from a pool of {self.pool}")

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d). All spaces share seeds and pools."""
        if not spaces:
            return []
        space = spaces[0]
        first = space.draw(self.seeds, rng)
        first[0] = space.origin
        rounds = max(0, -(-(budget - self.seeds) // self.batch))
        pools = np.empty((rounds, self.pool, len(space.origin)), first.dtype)
        for pool in pools:
            pool[:] = space.draw(self.pool, rng)
        return [self._plan(s, kernel, first, pools)[:budget] for s in spaces]

    def _plan(self, space: Space, kernel: Kernel, first: Points, pools: Points) -> Points:
        origin = space.features(space.origin[None])[0]
        features = space.features(first)
        known = self.prior.information(len(origin)).add(augment(features), kernel(features, origin))
        chosen, short = [first], SHORT
        rounds, size, d = pools.shape
        step = max(1, BLOCK // (size * (d + 1)))
        for start in range(0, rounds, step):
            block = pools[start : start + step]
            features = space.features(block.reshape(-1, d)).reshape(block.shape)
            weights = kernel(features, origin)
            for pool, z, weight in zip(block, augment(features), weights, strict=True):
                if self.frozen:
                    picks = self._top(z, weight, known)
                else:
                    picks, short = self._best(z, weight, known, short)
                known = known.add(z[picks], weight[picks])
                chosen.append(pool[picks])
        return np.concatenate(chosen)

    def _top(self, z: Array, weight: Array, known: Information) -> NDArray[np.intp]:
        """The batch of largest scores under one covariance, best first."""
        score = self.score(known.variance(z), weight)
        level = np.rint(score / (score.max() * TIE))
        return np.argsort(-level, kind="stable")[: self.batch]

    def _best(
        self, z: Array, weight: Array, known: Information, short: int
    ) -> tuple[NDArray[np.intp], int]:
        """The next batch, each pick given those before it, and how many were kept in view.

        More points never make a point more informative (submodularity), so today's scores bound
        tomorrow's: while the best of a short list beats everyone off it, the list is all one
        must keep up to date. When it fails to, a longer one is taken, now and from then on.
        """
        reach = z @ known.covariance
        variance = np.vecdot(reach, z)
        score = self.score(variance, weight)
        while short < len(z):
            order = np.argpartition(score, len(z) - short)
            listed, bound = np.sort(order[-short:]), score[order[:-short]].max()
            picks = self._within(z[listed], weight[listed], reach[listed], variance[listed], bound)
            if picks is not None:
                return np.asarray(listed[picks]), short
            short *= 2
        picks = self._within(z, weight, reach, variance, -np.inf)
        assert picks is not None
        return picks, short

    def _within(
        self, z: Array, weight: Array, reach: Array, variance: Array, bound: float
    ) -> NDArray[np.intp] | None:
        """The next batch among candidates z, or None once an outsider's bound is not beaten."""
        picks = np.empty(self.batch, dtype=np.intp)
        shared = np.empty((self.batch, len(z)))
        for i in range(self.batch):
            score = self.score(variance, weight)
            best = score[score.argmax()] * (1 - TIE)
            if best <= bound:
                return None
            pick = picks[i] = (score >= best).argmax()
            # Sherman-Morrison, kept as one vector a pick: zᵀVz* given the picks before it.
            row = reach @ z[pick]
            if i:
                row -= shared[:i, pick] @ shared[:i]
            row *= math.sqrt(weight[pick] / (1 + weight[pick] * variance[pick]))
            shared[i] = row
            variance = variance - row * row
            variance[pick] = 0.0  # never again
        return picks
