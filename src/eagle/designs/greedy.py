"""EAGLE: ask the rows with the largest expected information gain about the coefficients.

With answers y = zᵀφ + ε, ε ~ N(0, σ²/π), and φ ~ N(0, σ²Λ⁻¹), z beginning with 1, the covariance of
the coefficients after some rows is σ²V, whatever the model answered:

    V = (Λ + Σ π z zᵀ)⁻¹.

A row z of kernel weight π lowers their entropy, for known σ, by

    ½ log(|V|/|V′|) = ½ log(1 + π zᵀVz),    V′ = V − u uᵀ,    u = Vz √(π/(1 + π zᵀVz)).

The first is the matrix determinant lemma, the second Sherman and Morrison's formula. The gain grows
with π zᵀVz, so this is the score of Theorem 1, and the gains of a plan add up to ½ log(|V₀|/|V|).
No step needs an answer: the loop of Algorithm 1 around the model is a plan and one batch of
queries. As rows only ever lower V, a candidate's gain never grows (log |V⁻¹| is submodular). Hence
the greedy choice: n picks from a pool have at least the share 1 − 1/e of the gain of its best n.

References: Sherman and Morrison, "Adjustment of an inverse matrix corresponding to a change in one
element of a given matrix", 1950; Nemhauser, Wolsey and Fisher, "An analysis of approximations for
maximizing submodular set functions", 1978; Chaloner and Verdinelli, "Bayesian experimental design:
a review", 1995.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array, Points
from eagle._values.checks import check_flags, check_function
from eagle._values.text import short_repr
from eagle._values.ties import TIE
from eagle.contracts import Kernel, Planned, Space
from eagle.designs.law import check_batch, check_sizes, draw_with_instance
from eagle.errors import InputError
from eagle.kernels import by_count
from eagle.surrogates.bayes import Information, Prior, augment
from eagle.surrogates.dual import Features, FewPoints, is_wide

# The least number of candidates on a short list.
MIN_LIST = 64

# After this many batches the covariance is computed again from the information matrix.
RELIST_FACTOR = 16

# Floats of candidate features held at once: few enough to stay in the processor's cache.
BLOCK = 3 << 15


def gain(variance: Array, weight: Array) -> Array:
    """π zᵀVz: the expected information gain ½ log(1 + π zᵀVz) grows with it (Theorem 1)."""
    return weight * variance


def variance_only(variance: Array, weight: Array) -> Array:
    """Predictive variance zᵀVz. It ignores locality."""
    return variance


@final
class _Draft:
    """The state of the plan of one space: points, covariance, and length of the short list.

    With fewer rows than many features, `few` are the points so far, in place of the covariance.
    """

    def __init__(
        self, space: Space, kernel: Kernel, known: Information | FewPoints, listed: int
    ) -> None:
        self.space, self.listed, self._kernel = space, listed, kernel
        self._origin = space.features(space.origin[None])[0]
        # At the instance a match is 1 and an offset is 0.
        self.matches = bool(self._origin.all())
        self._by_count = by_count(kernel, len(self._origin)) if self.matches else None
        self.chosen: list[Points] = []
        self._keys = np.empty(0, dtype=np.uint64)
        self._recent: list[tuple[Array, Array]] = []
        self.few: FewPoints | None = None
        if isinstance(known, Information):
            self._set(known)
        else:
            self.few = known

    def _set(self, known: Information) -> None:
        self._known, self.covariance, self._tame = known, known.covariance, known.is_tame
        self._recent.clear()

    def weight(self, features: Features) -> Array:
        """The kernel weight of candidates, shape (...)."""
        if self._by_count is None:
            return self._kernel(np.asarray(features, dtype=np.float64), self._origin)
        count = features @ self._origin.astype(features.dtype, copy=False)
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
        """Add points z. They lower the covariance by UᵀU if U, the `fall`, is given.

        The rows of U are the vectors u of the picks. Rounding errors of such updates add up, so the
        covariance is computed again after `RELIST_FACTOR` batches, as the inverse of Λ + Σ π z zᵀ.
        """
        self._recent.append((z, weight))
        if fall is not None and self._tame and len(self._recent) < RELIST_FACTOR:
            self.covariance = self.covariance - fall.T @ fall
            return
        points, weights = zip(*self._recent, strict=True)
        self._set(self._known.add(np.concatenate(points), np.concatenate(weights)))


@final
@dataclass(frozen=True)
class Greedy(Planned):
    """Algorithm 1 as a plan: seeds, then batches of the best candidates, each from a new pool.

    The score needs no answers, so the loop runs before any query. The first seed is the instance
    itself. Within a batch each pick is the best given the picks before it. With `frozen` a batch
    is the best candidates under the covariance at its start, as printed in the paper. No mask is
    chosen twice as long as there are others.
    """

    score: Callable[[Array, Array], Array] = gain
    prior: Prior = field(default_factory=Prior)
    seeds: int = 10
    batch: int = 10
    pool: int = 1000
    frozen: bool = False

    def __post_init__(self) -> None:
        check_flags(frozen=self.frozen)
        check_function(self.score, "a score of candidates")
        if not isinstance(self.prior, Prior):
            raise InputError(
                f"a prior is one such as eagle.surrogates.bayes.PAPER, not {short_repr(self.prior)}"
            )
        check_sizes(seeds=self.seeds, batch=self.batch, pool=self.pool)
        check_batch(self.batch, self.pool)

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d). All spaces share seeds and pools."""
        if not spaces:
            return []
        space, d = spaces[0], len(spaces[0].origin)
        first = draw_with_instance(space, self.seeds, rng)
        wide = is_wide(budget, d)
        drafts = [self._start(s, kernel, first, wide) for s in spaces]
        rounds = max(0, -(-(budget - self.seeds) // self.batch))
        step = max(1, BLOCK // (self.pool * max(d, 1)))
        # Buffers for candidates, allocated once: allocation would cost more than the computation.
        kind = np.float32 if wide and space.masks else np.float64
        buffer = np.empty((step, self.pool, d), dtype=kind)
        scratch = np.empty((0 if wide else self.pool, d))
        for start in range(0, rounds, step):
            pools = space.pools(min(step, rounds - start), self.pool, rng)
            for draft in drafts:
                self._go_on(draft, pools, buffer[: len(pools)], scratch)
        return [np.concatenate(draft.chosen)[:budget] for draft in drafts]

    def _start(self, space: Space, kernel: Kernel, first: Points, wide: bool) -> _Draft:
        features = space.features(first)
        weight = kernel(features, space.features(space.origin[None])[0])
        known: Information | FewPoints
        if wide:
            narrow = features.astype(np.float32) if space.masks else features
            known = FewPoints(self.prior, narrow, weight)
        else:
            known = self.prior.information(features.shape[1]).add(augment(features), weight)
        draft = _Draft(space, kernel, known, self.pool)
        draft.choose(first)
        return draft

    def _go_on(self, draft: _Draft, pools: Points, buffer: Features, scratch: Array) -> None:
        """Choose a batch from each pool, shape (pools, size, d)."""
        draft.space.features(_flat(pools), out=_flat(buffer))
        for pool, features, weight in zip(pools, buffer, draft.weight(buffer), strict=True):
            if draft.space.masks:  # a mask that was asked before teaches nothing new
                fresh = draft.fresh(pool)
                # If none is, all were asked before, and masks repeat.
                if 0 < len(fresh) < max(len(pool), self.batch):
                    fresh = np.resize(fresh, max(len(fresh), self.batch))
                    pool, features, weight = pool[fresh], features[fresh], weight[fresh]
            if draft.few is None:
                picks = self._batch(draft, features, weight, scratch[: len(features)])
            else:
                picks = self._batch_of_few(draft, draft.few, features, weight)
            draft.choose(pool.take(picks, axis=0))

    def _batch(
        self, draft: _Draft, features: Array, weight: Array, scratch: Array
    ) -> NDArray[np.intp]:
        """The next batch from a pool, best first.

        A pick lowers zᵀVz by (zᵀu)² ≥ 0, so no pick raises the score of another candidate, and
        scores are upper bounds of later scores. A short list of the best is therefore enough if
        every pick beats the best candidate that is not on the list; if one does not, the list is
        made four times as long. A score of one's own may grow, so its list is the whole pool.
        """
        size = draft.listed if self.score in (gain, variance_only) else len(weight)
        variance = _variance(features, draft.covariance, draft.matches, scratch)
        score = self.score(variance, weight)
        while True:
            listed, bound = _short_list(score, size)
            seen, own = _listed_candidates(features, listed, self.batch), weight[listed]
            picked = self._pick(seen, own, variance[listed], score[listed], draft.covariance, bound)
            if picked is not None:
                break
            size *= 4
        picks, fall, enough = picked
        draft.learn(seen[picks, : -self.batch], own[picks], fall)
        # The next list is 1.5 times as long as was needed here, and SHORT/2 longer: a list that is
        # too short costs more than many that are too long.
        draft.listed = max(MIN_LIST, (MIN_LIST + 3 * enough) // 2)
        return picks if isinstance(listed, slice) else listed[picks]

    def _batch_of_few(
        self, draft: _Draft, few: FewPoints, features: Features, weight: Array
    ) -> NDArray[np.intp]:
        """As `_batch`, by the points so far in place of the covariance.

        For n points of d > n features V is never formed. By Woodbury's identity

            zᵀVz′ = k(z, z′) − r(z)ᵀr(z′) + r₀(z) r₀(z′),    k(z, z′) = zᵀz′/λ + 1/λ₀,

        where λ and λ₀ are the prior precisions of slopes and intercept, and r, one number for each
        point so far, is what `FewPoints.reach` gives. For a free intercept 1/λ₀ is left out, and r₀
        is what the points do not tell of it; otherwise r₀ is 0.
        """
        size = draft.listed if self.score in (gain, variance_only) else len(weight)
        reach = few.reach(features)
        variance = few.spread(features) - np.einsum("ij,ij->j", reach[1:], reach[1:])
        variance += reach[0] ** 2
        score = self.score(variance, weight)
        while True:
            listed, bound = _short_list(score, size)
            z, own = features[listed], weight[listed]
            about = variance[listed].copy(), score[listed]
            picked = self._pick_from_few(few, z, reach[:, listed], own, *about, bound)
            if picked is not None:
                break
            size *= 4
        picks, enough = picked
        few.add(z[picks], own[picks])
        draft.listed = max(MIN_LIST, (MIN_LIST + 3 * enough) // 2)
        return picks if isinstance(listed, slice) else listed[picks]

    def _pick_from_few(
        self,
        few: FewPoints,
        z: Features,
        reach: Array,
        weight: Array,
        variance: Array,
        score: Array,
        bound: float,
    ) -> tuple[NDArray[np.intp], int] | None:
        """As `_picked`: the picks and the length of the list that was needed.

        With the list's answers taken as a Gaussian process of covariance zᵀVz′, each pick adds one
        number to the `reach` of every candidate, zᵀVz* √(π/(1 + π z*ᵀVz*)), which is zᵀu.
        """
        start, best = score, 0.0
        picks, known = np.empty(self.batch, dtype=np.intp), len(reach)
        seen = np.concatenate([reach, np.empty((self.batch, len(z)))])
        for k in range(self.batch):
            best = score.item(score.argmax()) * (1 - TIE)
            if best <= bound:
                return None
            pick = picks[k] = (score >= best).argmax()
            if not self.frozen:
                rows = seen[1 : known + k]
                shared = few.product(z, z[pick : pick + 1])[:, 0] - rows[:, pick] @ rows
                shared += seen[0] * seen[0, pick]
                own = weight.item(pick)
                seen[known + k] = shared * math.sqrt(own / (1 + own * variance.item(pick)))
                variance -= seen[known + k] ** 2
            variance[pick] = 0.0  # it is not picked again
            score = self.score(variance, weight)
        return picks, int(np.count_nonzero(start >= best))

    def _pick(
        self, seen: Array, weight: Array, variance: Array, score: Array, V: Array, bound: float
    ) -> tuple[NDArray[np.intp], Array | None, int] | None:
        """A batch from a list: the picks, the fall of the covariance, and the length needed.

        Each pick is the best given those before it; if frozen, those before it do not count. The
        result is None if the best score is not above `bound`: then the list is too short. `seen`
        is filled up and `variance` is overwritten.

        Sherman and Morrison's formula, stored as one vector for each pick: z* lowers V by uuᵀ with
        u = Vz* √(π/(1 + πz*ᵀVz*)), and the variance of a candidate z by (zᵀu)². V itself is not
        changed within a batch. After k picks Vz* is Vz* − Σ u (uᵀz*), which is one product: a row
        (z*ᵀ, z*ᵀu₁, …, z*ᵀu_k) of `seen` times the rows (−V, u₁, …, u_k), up to the sign, which
        the squares do not see.
        """
        d, start, best = len(V), score, 0.0
        z, picks = seen[:, :d], np.empty(self.batch, dtype=np.intp)
        # Rows: -V before the batch, then u of each pick, up to a sign. A row of `seen` times these
        # rows is Vz* given all picks so far.
        rows, square = np.empty((d + self.batch, d)), np.empty(len(z))
        np.negative(V, out=rows[:d])
        for k in range(d, d + self.batch):
            # Equal features and symmetry give equal scores, but rounding depends on the place in
            # the matrix and on the machine. Of near-ties the earlier candidate wins.
            best = score.item(score.argmax()) * (1 - TIE)
            if best <= bound:
                return None
            pick = picks[k - d] = (score >= best).argmax()
            if not self.frozen:
                own = weight.item(pick)
                u = np.dot(seen[pick, :k], rows[:k], out=rows[k])
                u *= math.sqrt(own / (1 + own * variance.item(pick)))
                if k + 1 == len(rows):
                    break  # the batch is complete
                along = np.dot(z, u, out=seen[:, k])
                variance -= np.multiply(along, along, out=square)
            variance[pick] = 0.0  # it is not picked again
            score = self.score(variance, weight)
        return picks, None if self.frozen else rows[d:], int(np.count_nonzero(start >= best))


def _variance(features: Array, covariance: Array, matches: bool, scratch: Array) -> Array:
    """zᵀVz of candidates z = (1, features); features are row by row in memory."""
    own, beside, among = covariance.item(0), 2 * covariance[0, 1:], covariance[1:, 1:].copy()
    if matches:  # features are 0 or 1, so each equals its square
        among.reshape(-1)[:: len(among) + 1] += beside
    variance = np.einsum("ij,ij->i", np.matmul(features, among, out=scratch), features)
    if not matches:
        variance += features @ beside
    variance += own
    return np.asarray(variance)


def _short_list(score: Array, size: int) -> tuple[NDArray[np.intp] | slice, float]:
    """The places of the best scores, in order, and an upper bound of all scores not listed."""
    if size >= len(score):
        return slice(None), -np.inf
    last = np.partition(score, -size).item(-size)
    return (score >= last).nonzero()[0], last


def _listed_candidates(features: Array, listed: NDArray[np.intp] | slice, more: int) -> Array:
    """Listed candidates z = (1, features), with room for `more` numbers after each.

    In memory they are column by column, since one column after another is multiplied and filled.
    """
    # take does the same as indexing, twice as fast.
    rows = features if isinstance(listed, slice) else features.take(listed, axis=0)
    d = rows.shape[1]
    seen = np.empty((1 + d + more, len(rows))).T
    seen[:, 0] = 1.0
    seen[:, 1 : d + 1] = rows
    return seen


def _keys(masks: Points) -> NDArray[np.uint64]:
    """A 64-bit hash of each mask. Equal hashes of different masks are too rare to matter."""
    odd = np.random.PCG64(1).random_raw(masks.shape[1]) | np.uint64(1)
    return np.asarray(masks.astype(np.uint64) @ odd)


def _flat(block: NDArray[Any]) -> NDArray[Any]:
    """Pools of candidates as one list of candidates, without a copy."""
    return block.reshape(-1, block.shape[-1])
