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

# Two candidates may have equal scores, by equal features or by symmetry, but rounding differs with
# their place in a matrix and with the machine. Scores this close, relatively, count as equal, and
# the earlier candidate wins: so a plan is the same on every machine.
TIE = 1e-9

# Candidates on the short list of a batch, and which of them are later than which.
SHORT = 64
LATER = np.tri(SHORT, k=-1, dtype=bool)

# Floats of candidate features held at once: small enough to stay in a processor's cache.
BLOCK = 1 << 18


def gain(variance: Array, weight: Array) -> Array:
    """π zᵀVz: the expected information gain ½ log(1 + π zᵀVz) grows with it (Theorem 1)."""
    return weight * variance


def variance_only(variance: Array, weight: Array) -> Array:
    """Predictive variance zᵀVz, blind to locality."""
    return variance


@final
class _Pool:
    """Candidates, and what is known about their answers: variance is zᵀVz with z = (1, features).

    The intercept is kept apart: candidates lie in memory as their space writes them.
    """

    def __init__(self, features: Array, weight: Array, known: Information, scratch: Array) -> None:
        self.features, self.weight, self.known = features, weight, known
        V = known.covariance
        self._reach = np.matmul(features, np.ascontiguousarray(V[1:, 1:]), out=scratch)
        self._cross, self._corner = features @ V[0, 1:], V[0, 0]
        self.variance = np.vecdot(self._reach, features) + (2 * self._cross + self._corner)

    def shared_with(self, i: int | np.intp) -> Array:
        """zᵀVz* of all candidates z with candidate z*, shape (n,)."""
        beside = self._cross + (self._cross[i] + self._corner)
        return np.asarray(self._reach @ self.features[i] + beside)


@final
@dataclass(eq=False)
class _Walk:
    """How far the plan of one space has come."""

    space: Space
    origin: Array
    known: Information
    chosen: list[Points]
    failed: int = 0
    rest: int = 0


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
        space, d = spaces[0], len(spaces[0].origin)
        first = space.draw(self.seeds, rng)
        first[0] = space.origin
        walks = [self._start(s, kernel, first) for s in spaces]
        rounds = max(0, -(-(budget - self.seeds) // self.batch))
        step = max(1, BLOCK // (self.pool * max(d, 1)))
        # Room for candidates, made once: fresh memory costs more than what is done in it.
        room, scratch = np.empty((step, self.pool, d)), np.empty((self.pool, d))
        for start in range(0, rounds, step):
            pools = [space.draw(self.pool, rng) for _ in range(min(step, rounds - start))]
            for walk in walks:
                self._go_on(walk, kernel, np.stack(pools), room[: len(pools)], scratch)
        return [np.concatenate(walk.chosen)[:budget] for walk in walks]

    def _start(self, space: Space, kernel: Kernel, first: Points) -> _Walk:
        origin = space.features(space.origin[None])[0]
        features = space.features(first)
        prior = self.prior.information(len(origin))
        known = prior.add(augment(features), kernel(features, origin))
        return _Walk(space, origin, known, [first])

    def _go_on(
        self, walk: _Walk, kernel: Kernel, pools: Points, room: Array, scratch: Array
    ) -> None:
        """Choose a batch from each pool, shape (pools, size, d)."""
        walk.space.features(pools.reshape(-1, pools.shape[-1]), out=_flat(room))
        for pool, features, weight in zip(pools, room, kernel(room, walk.origin), strict=True):
            picks = self._batch(walk, _Pool(features, weight, walk.known, scratch))
            walk.known = walk.known.add(augment(features[picks]), weight[picks])
            walk.chosen.append(pool[picks])

    def _batch(self, walk: _Walk, pool: _Pool) -> NDArray[np.intp]:
        """The next batch from a pool, best first."""
        fast = self.score is gain and not self.frozen and self.batch < SHORT < len(pool.weight)
        if fast and walk.rest == 0:
            found = self._by_cholesky(pool)
            if found is not None:
                return found
            walk.failed += 1  # try again after a while, and after ever longer ones
            walk.rest = max(1, 2 ** (walk.failed - 3))
        else:
            walk.rest -= 1
        return self._one_by_one(pool)

    def _one_by_one(self, pool: _Pool) -> NDArray[np.intp]:
        """A batch, each pick the best given those before it, or in spite of them if frozen."""
        weight, variance = pool.weight, pool.variance
        picks = np.empty(self.batch, dtype=np.intp)
        shared = np.empty((self.batch, len(weight)))
        for i in range(self.batch):
            score = self.score(variance, weight)
            pick = picks[i] = (score >= score[score.argmax()] * (1 - TIE)).argmax()
            if not self.frozen:
                # Sherman-Morrison, kept as one vector a pick: zᵀVz* given the picks before it.
                row = pool.shared_with(pick)
                if i:
                    row -= shared[:i, pick] @ shared[:i]
                row *= math.sqrt(weight[pick] / (1 + weight[pick] * variance[pick]))
                shared[i] = row
                variance -= row * row
            variance[pick] = 0.0  # never again
        return picks

    def _by_cholesky(self, pool: _Pool) -> NDArray[np.intp] | None:
        """What `_one_by_one` picks by information gain, by a single call to LAPACK.

        Picking by gain is the pivoting of a Cholesky factorisation of I + √π Z V Zᵀ √π, here of
        a short list. More points never make a point more informative, so today's scores bound
        tomorrow's: if the last pick beats the best candidate off the list, it was long enough.
        If not, or if different candidates tie for a pick, there is no answer here.
        """
        from scipy.linalg import lapack

        score = self.score(pool.variance, pool.weight)
        last = len(score) - SHORT - 1
        order = np.argpartition(score, last)
        listed, bound = np.sort(order[last + 1 :]), score[order[last]]
        z = augment(pool.features[listed])
        root = z * np.sqrt(pool.weight[listed])[:, None]
        matrix = root @ pool.known.covariance @ root.T
        matrix.flat[:: SHORT + 1] += 1.0
        factor, pivots, _, _ = lapack.dpstrf(matrix, lower=1)
        pivots -= 1
        best = np.diagonal(factor)[: self.batch] ** 2 - 1
        # Beside the 1 on the diagonal, a smaller score keeps too few digits to tell ties.
        if best[-1] <= max(bound * (1 + TIE), 1e-5):
            return None
        # The score of candidate j, in order of pivoting, when pick k was made.
        scores = np.empty((SHORT, self.batch))
        scores[:, 0] = matrix.diagonal()[pivots] - 1
        scores[:, 1:] = scores[:, :1] - np.cumsum(factor[:, : self.batch - 1] ** 2, axis=1)
        tied = (scores >= best * (1 - TIE)) & LATER[:, : self.batch]
        if tied.any():
            return self._earliest(z, listed, pivots, tied)
        return np.asarray(listed[pivots[: self.batch]])

    def _earliest(
        self,
        z: Array,
        listed: NDArray[np.intp],
        pivots: NDArray[np.intp],
        tied: NDArray[np.bool_],
    ) -> NDArray[np.intp] | None:
        """The picks, each moved to its earliest copy; None if a tie is not between copies."""
        others, picked = np.nonzero(tied)
        if not np.array_equal(z[pivots[others]], z[pivots[picked]]):
            return None
        picks, free = np.empty(self.batch, dtype=np.intp), np.ones(len(listed), dtype=bool)
        for k, place in enumerate(pivots[: self.batch]):
            earliest = ((z == z[place]).all(axis=1) & free).argmax()
            picks[k] = listed[earliest]
            free[earliest] = False
        return picks


def _flat(block: Array) -> Array:
    """Pools of candidates as one list of them, without a copy."""
    return block.reshape(-1, block.shape[-1])
