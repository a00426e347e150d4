"""EAGLE: ask where the answer is expected to teach most about the coefficients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from eagle.design.law import by_kernel
from eagle.kernel import by_count
from eagle.surrogate.information import Information, Prior, augment
from eagle.ties import TIE
from eagle.types import NOTHING, Array, InputError, Kernel, Points, Space

# Candidates on a short list, at least.
SHORT = 64

# After so many batches the covariance is found anew.
ANEW = 16

# Floats of candidate features held at once: small enough to stay in a processor's cache.
BLOCK = 3 << 15


def gain(variance: Array, weight: Array) -> Array:
    """π zᵀVz: the expected information gain ½ log(1 + π zᵀVz) grows with it (Theorem 1)."""
    return weight * variance


def variance_only(variance: Array, weight: Array) -> Array:
    """Predictive variance zᵀVz, blind to locality."""
    return variance


@final
class _Walk:
    """How far the plan of one space has come: what is known, and how long lists must be."""

    def __init__(self, space: Space, kernel: Kernel, known: Information, listed: int) -> None:
        self.space, self.listed, self._kernel = space, listed, kernel
        self._origin = space.features(space.origin[None])[0]
        # An instance matches itself, and is at no offset from itself.
        self.matches = bool(self._origin.all())
        self._by_count = by_count(kernel, len(self._origin)) if self.matches else None
        self.chosen: list[Points] = []
        self._keys = np.empty(0, dtype=np.uint64)
        self._recent: list[tuple[Array, Array]] = []
        self._set(known)

    def _set(self, known: Information) -> None:
        self._known, self.covariance, self._tame = known, known.covariance, known.is_tame
        self._recent.clear()

    def weight(self, features: Array) -> Array:
        """How much candidates count, shape (...)."""
        if self._by_count is None:
            return self._kernel(features, self._origin)
        count = features @ self._origin
        return np.asarray(self._by_count.take(count.astype(np.intp)))

    def choose(self, points: Points) -> None:
        self.chosen.append(points)
        if self.space.masks:
            self._keys = np.concatenate([self._keys, _keys(points)])

    def fresh(self, pool: Points) -> NDArray[np.intp]:
        """The masks of a pool that were not chosen before, each once, in order."""
        keys, first = np.unique(_keys(pool), return_index=True)
        return np.sort(first[~np.isin(keys, self._keys)])

    def learn(self, z: Array, weight: Array, fall: Array | None) -> None:
        """Add points z, which lower the covariance by UᵀU if U, the `fall`, is known.

        So it is carried along, but not far: now and then it is found anew.
        """
        self._recent.append((z, weight))
        if fall is not None and self._tame and len(self._recent) < ANEW:
            self.covariance = self.covariance - fall.T @ fall
            return
        points, weights = zip(*self._recent, strict=True)
        self._set(self._known.add(np.concatenate(points), np.concatenate(weights)))


@final
@dataclass(frozen=True)
class Greedy:
    """Algorithm 1, planned: seeds, then the best of a fresh pool, batch by batch.

    The score needs no answers, so the whole loop runs before any query. The first seed is the
    instance itself. Within a batch each pick is the best given the picks before it; with
    `frozen`, the `batch` best under the batch's first covariance, as printed in the paper. No
    mask is chosen twice while there are others.
    """

    score: Callable[[Array, Array], Array] = gain
    prior: Prior = field(default_factory=Prior)
    seeds: int = 10
    batch: int = 10
    pool: int = 1000
    frozen: bool = False
    needs: ClassVar = NOTHING
    balanced: ClassVar = False

    def __post_init__(self) -> None:
        sizes = {"seeds": self.seeds, "batch": self.batch, "pool": self.pool}
        for name, value in sizes.items():
            if not isinstance(value, int | np.integer) or value < 1:
                raise InputError(f"{name} must be an integer of at least 1, not {value!r}")
        if self.batch > self.pool:
            raise InputError(f"a batch of {self.batch} cannot be chosen from a pool of {self.pool}")

    def longest(self, space: Space, budget: int) -> int:
        return budget

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return by_kernel(space, kernel, features)

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
            pools = space.pools(min(step, rounds - start), self.pool, rng)
            for walk in walks:
                self._go_on(walk, pools, room[: len(pools)], scratch)
        return [np.concatenate(walk.chosen)[:budget] for walk in walks]

    def _start(self, space: Space, kernel: Kernel, first: Points) -> _Walk:
        features = space.features(first)
        anchor = space.features(space.origin[None])[0]
        prior = self.prior.information(features.shape[1])
        known = prior.add(augment(features), kernel(features, anchor))
        walk = _Walk(space, kernel, known, self.pool)
        walk.choose(first)
        return walk

    def _go_on(self, walk: _Walk, pools: Points, room: Array, scratch: Array) -> None:
        """Choose a batch from each pool, shape (pools, size, d)."""
        walk.space.features(_flat(pools), out=_flat(room))
        for pool, features, weight in zip(pools, room, walk.weight(room), strict=True):
            if walk.space.masks:  # asked again, a mask would teach nothing
                fresh = walk.fresh(pool)
                if len(fresh):  # else all are known, and repeats must do
                    fresh = np.resize(fresh, max(len(fresh), self.batch))
                    pool, features, weight = pool[fresh], features[fresh], weight[fresh]
            picks = self._batch(walk, features, weight, scratch[: len(features)])
            walk.choose(pool.take(picks, axis=0))

    def _batch(
        self, walk: _Walk, features: Array, weight: Array, scratch: Array
    ) -> NDArray[np.intp]:
        """The next batch from a pool, best first.

        More points never make a point more informative, so today's scores bound tomorrow's: a
        short list of the best is enough if every pick beats the best candidate off the list.
        """
        size = walk.listed if self.score in (gain, variance_only) else len(weight)
        variance = _variance(features, walk.covariance, walk.matches, scratch)
        score = self.score(variance, weight)
        while True:
            listed, bound = _short_list(score, size)
            seen, own = _seen(features, listed, self.batch), weight[listed]
            found = self._picked(seen, own, variance[listed], score[listed], walk.covariance, bound)
            if found is not None:
                break
            size *= 4
        picks, fall, enough = found
        walk.learn(seen[picks, : -self.batch], own[picks], fall)
        # The next one half as long again as would have done here, and some: one too short costs
        # more than many longer ones.
        walk.listed = max(SHORT, (SHORT + 3 * enough) // 2)
        return picks if isinstance(listed, slice) else listed[picks]

    def _picked(
        self, seen: Array, weight: Array, variance: Array, score: Array, V: Array, bound: float
    ) -> tuple[NDArray[np.intp], Array | None, int] | None:
        """A batch from a list, each pick the best given those before it, or in spite of them if
        frozen; by what the covariance falls; and how long a list would have done. None if a score
        is within bound. What is `seen` is filled up, and the variance is written over.

        Sherman-Morrison, kept as one vector a pick: z* lowers V by uuᵀ with
        u = Vz* √(π/(1 + πz*ᵀVz*)), and so the variance of a candidate z by (zᵀu)².
        """
        d, start, best = len(V), score, 0.0
        z, picks = seen[:, :d], np.empty(self.batch, dtype=np.intp)
        # -V before the batch, then u of each pick, up to a sign: what is seen of z*, times these
        # rows, is Vz* given all picks.
        rows, square = np.empty((d + self.batch, d)), np.empty(len(z))
        np.negative(V, out=rows[:d])
        for k in range(d, d + self.batch):
            # Equal features, and symmetry, make equal scores, but rounding differs with the place
            # in a matrix and with the machine: of near-ties the earlier candidate wins.
            best = score.item(score.argmax()) * (1 - TIE)
            if best <= bound:
                return None
            pick = picks[k - d] = (score >= best).argmax()
            if not self.frozen:
                own = weight.item(pick)
                u = np.dot(seen[pick, :k], rows[:k], out=rows[k])
                u *= math.sqrt(own / (1 + own * variance.item(pick)))
                if k + 1 == len(rows):
                    break  # nobody is to be picked any more
                along = np.dot(z, u, out=seen[:, k])
                variance -= np.multiply(along, along, out=square)
            variance[pick] = 0.0  # never again
            score = self.score(variance, weight)
        return picks, None if self.frozen else rows[d:], int(np.count_nonzero(start >= best))


def _variance(features: Array, covariance: Array, matches: bool, scratch: Array) -> Array:
    """zᵀVz of candidates z = (1, features), which lie in memory as their space writes them."""
    own, beside, among = covariance.item(0), 2 * covariance[0, 1:], covariance[1:, 1:].copy()
    if matches:  # 0 and 1 are their own squares
        among.reshape(-1)[:: len(among) + 1] += beside
    variance = np.einsum("ij,ij->i", np.matmul(features, among, out=scratch), features)
    if not matches:
        variance += features @ beside
    variance += own
    return np.asarray(variance)


def _short_list(score: Array, size: int) -> tuple[NDArray[np.intp] | slice, float]:
    """The places of the best scores, in order, and the best score that may be off the list."""
    if size >= len(score):
        return slice(None), -np.inf
    last = np.partition(score, -size).item(-size)
    return (score >= last).nonzero()[0], last


def _seen(features: Array, listed: NDArray[np.intp] | slice, more: int) -> Array:
    """Candidates z = (1, features) on a list, beside them room for so many numbers of each.

    In memory they lie number by number: one vector after another is laid on all of them.
    """
    # What take does is indexing, but twice as fast.
    rows = features if isinstance(listed, slice) else features.take(listed, axis=0)
    d = rows.shape[1]
    seen = np.empty((1 + d + more, len(rows))).T
    seen[:, 0] = 1.0
    seen[:, 1 : d + 1] = rows
    return seen


def _keys(masks: Points) -> NDArray[np.uint64]:
    """A number for each mask, of as many bits as make equal ones of different masks no worry."""
    odd = np.random.PCG64(1).random_raw(masks.shape[1]) | np.uint64(1)
    return np.asarray(masks.astype(np.uint64) @ odd)


def _flat(block: NDArray[Any]) -> NDArray[Any]:
    """Pools of candidates as one list of them, without a copy."""
    return block.reshape(-1, block.shape[-1])
