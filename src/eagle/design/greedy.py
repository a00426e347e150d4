"""EAGLE: ask where the answer is expected to teach most about the coefficients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from eagle.surrogate.information import Information, Prior, augment
from eagle.types import Array, InputError, Kernel, Points, Space

# Two candidates may have equal scores, by equal features or by symmetry, but rounding differs with
# their place in a matrix and with the machine. Scores this close, relatively, count as equal, and
# the earlier candidate wins: so a plan is the same on every machine.
TIE = 1e-9

# Candidates on the short list of a batch.
SHORT = 64

# Floats of candidate features held at once: small enough to stay in a processor's cache.
BLOCK = 1 << 16


def gain(variance: Array, weight: Array) -> Array:
    """π zᵀVz: the expected information gain ½ log(1 + π zᵀVz) grows with it (Theorem 1)."""
    return weight * variance


def variance_only(variance: Array, weight: Array) -> Array:
    """Predictive variance zᵀVz, blind to locality."""
    return variance


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
        step = max(1, BLOCK // (self.pool * (d + 1)))
        for start in range(0, rounds, step):
            pools = [space.draw(self.pool, rng) for _ in range(min(step, rounds - start))]
            for walk in walks:
                self._go_on(walk, kernel, np.stack(pools))
        return [np.concatenate(walk.chosen)[:budget] for walk in walks]

    def _start(self, space: Space, kernel: Kernel, first: Points) -> _Walk:
        origin = space.features(space.origin[None])[0]
        features = space.features(first)
        prior = self.prior.information(len(origin))
        known = prior.add(augment(features), kernel(features, origin))
        return _Walk(space, origin, known, [first])

    def _go_on(self, walk: _Walk, kernel: Kernel, pools: Points) -> None:
        """Choose a batch from each pool, shape (pools, size, d)."""
        rounds, size, d = pools.shape
        fast = self.score is gain and not self.frozen and self.batch < SHORT < size
        z = np.ones((rounds, size, d + 1))
        walk.space.features(pools.reshape(-1, d), out=z.reshape(-1, d + 1)[:, 1:])
        weight = kernel(z[..., 1:], walk.origin)
        for r, pool in enumerate(pools):
            picks = None
            if fast and walk.rest == 0:
                picks = self._shortlisted(z[r], weight[r], walk.known)
                if picks is None:  # too short a list: try again later, and ever later
                    walk.failed, walk.rest = walk.failed + 1, 2**walk.failed
            else:
                walk.rest -= 1
            if picks is None:
                picks = self._greedy(z[r], weight[r], walk.known)
            walk.known = walk.known.add(z[r][picks], weight[r][picks])
            walk.chosen.append(pool[picks])

    def _greedy(self, z: Array, weight: Array, known: Information) -> NDArray[np.intp]:
        """The next batch, each pick the best given those before it, or in spite of them."""
        reach = z @ known.covariance
        variance = np.vecdot(reach, z)
        picks = np.empty(self.batch, dtype=np.intp)
        shared = np.empty((self.batch, len(z)))
        for i in range(self.batch):
            score = self.score(variance, weight)
            pick = picks[i] = (score >= score[score.argmax()] * (1 - TIE)).argmax()
            if not self.frozen:
                # Sherman-Morrison, kept as one vector a pick: zᵀVz* given the picks before it.
                row = reach @ z[pick] - shared[:i, pick] @ shared[:i]
                row *= math.sqrt(weight[pick] / (1 + weight[pick] * variance[pick]))
                shared[i] = row
                variance -= row * row
            variance[pick] = 0.0  # never again
        return picks

    def _shortlisted(self, z: Array, weight: Array, known: Information) -> NDArray[np.intp] | None:
        """What `_greedy` picks by information gain, found among the best candidates alone.

        Picking by gain is the pivoting of a Cholesky factorisation of I + √π Z V Zᵀ √π. More
        points never make a point more informative, so today's scores bound tomorrow's: if the
        last pick beats the best candidate off the list, the list was long enough. If it does
        not, or if different candidates tie for a pick, there is no answer here.
        """
        score = known.variance(z) * weight
        last = len(z) - SHORT - 1
        order = np.argpartition(score, last)
        listed = np.sort(order[last + 1 :])
        root = z[listed] * np.sqrt(weight[listed])[:, None]
        matrix = root @ known.covariance @ root.T
        matrix.flat[:: SHORT + 1] += 1.0
        factor, pivots, _, _ = lapack.dpstrf(matrix, lower=1)
        pivots -= 1
        best = np.diagonal(factor)[: self.batch] ** 2 - 1
        # Beside the 1 on the diagonal, a smaller score keeps too few digits to tell ties.
        if best[-1] <= max(score[order[last]] * (1 + TIE), 1e-5):
            return None
        # The score of candidate j, in order of pivoting, when pick k was made.
        scores = np.empty((SHORT, self.batch))
        scores[:, 0] = matrix.diagonal()[pivots] - 1
        taken = np.cumsum(factor[:, : self.batch - 1] ** 2, axis=1)
        scores[:, 1:] = scores[:, :1] - taken
        tied = np.tril(scores >= best * (1 - TIE), -1)
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
        places = listed[pivots]
        others, picked = np.nonzero(tied)
        if not np.array_equal(z[places[others]], z[places[picked]]):
            return None
        picks, free = places[: self.batch].copy(), np.ones(len(listed), dtype=bool)
        for k, place in enumerate(places[: self.batch]):
            earliest = ((z[listed] == z[place]).all(axis=1) & free).argmax()
            picks[k] = listed[earliest]
            free[earliest] = False
        return picks
