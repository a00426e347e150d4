"""Balanced rows: points that fill the law evenly, so that errors average out sooner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from eagle.design.directions import BITS, MOST, directions
from eagle.design.law import Absorbed, Tilt, mean_weight, movable, quantile, raw, tilted_counts
from eagle.kernel import log_ways
from eagle.types import Array, InputError, Kernel, Need, Points, Space


@final
@dataclass(frozen=True)
class Sobol:
    """The instance, then scrambled Sobol' points of the space's law times the kernel.

    Each row alone follows that law exactly. Together they fill it more evenly than independent
    rows: each of 2ᵏ equally probable parts of a feature's law has one of the first 2ᵏ rows, and
    pairs of features are nearly as even. With `mass` the weight of every row is π̄, the kernel's
    mean weight, so that a prior means the same as under the kernel; otherwise it is 1. With
    `mirrored` each row at the quantiles u is followed by the row at 1 − u.
    """

    law: Tilt = field(default_factory=Absorbed)
    mass: bool = True
    mirrored: bool = False

    @property
    def needs(self) -> frozenset[Need]:
        return self.law.needs

    @property
    def balanced(self) -> bool:
        return not self.mirrored

    def longest(self, space: Space, budget: int) -> int:
        return budget

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d). All spaces share the uniforms."""
        if not spaces:
            return []
        d = len(spaces[0].origin)
        key = raw(rng, d)
        if self.mirrored:
            half = scrambled(budget // 2, d, rng)
            uniform = np.stack([half, 1.0 - half], axis=1).reshape(-1, d)[: budget - 1]
        else:
            uniform = scrambled(budget - 1, d, rng)
        return [self._points(space, kernel, key, uniform) for space in spaces]

    def _points(
        self, space: Space, kernel: Kernel, key: NDArray[np.uint64], uniform: Array
    ) -> Points:
        # The first dimensions are the most even, so features that can change get them. Among
        # these the order is random, so that no feature is favoured by its place.
        order = np.lexsort((key, ~movable(space)))
        points = np.empty_like(uniform)
        if space.counts is not None:
            points[:, order] = masks(tilted_counts(space, kernel), uniform)
        else:
            tilt = self.law.tilt(space, kernel)
            points[:, order] = quantile(tilt[:, order], np.insert(uniform, 0, 0.0, axis=1))
        return np.concatenate([space.origin[None], points.astype(space.origin.dtype)])

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        """The same for every row, shape (n,)."""
        mean = mean_weight(space, kernel, self.law) if self.mass else 1.0
        return np.full(len(features), mean)


def scrambled(n: int, d: int, rng: np.random.Generator) -> Array:
    """The first n points of a randomly scrambled Sobol' sequence in (0, 1), shape (n, d).

    To every binary digit a random sum of the digits before it and a random digit are added
    (Matoušek). Each point is then uniform, and the sequence is as even as before.
    """
    if d > MOST:
        raise InputError(f"balanced rows are known for up to {MOST:,} features, not {d:,}")
    if n > 1 << BITS:
        raise InputError(f"balanced rows are known for budgets up to {1 << BITS:,}, not {n:,}")
    # Not by scipy, whose scrambling uses a stream of random numbers that numpy may change.
    mixing, shift = raw(rng, BITS * d).reshape(BITS, d), raw(rng, d) >> np.uint64(64 - BITS)
    if n < 1 or d < 1:
        return np.empty((max(n, 0), d))
    points = np.empty((n, d), dtype=np.uint64)
    points[0] = shift
    # In a Gray code the next 2ᵏ numbers are the first 2ᵏ in reverse order with one more digit.
    # Scrambling is linear, so the directions of that digit are scrambled, not the points.
    for level, one in enumerate(mixed(directions(d, (n - 1).bit_length()), mixing)):
        half = 1 << level
        more = min(half, n - half)
        points[half : half + more] = points[half - more : half][::-1] ^ one
    return np.asarray((points.astype(np.float64) + 0.5) * 2.0**-BITS)


def mixed(numbers: NDArray[np.uint64], mixing: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each digit plus a random sum of those before it, for numbers of shape (levels, d)."""
    low = np.arange(BITS - 1, -1, -1, dtype=np.uint64)[:, None]
    before = ((mixing >> np.uint64(64 - BITS) >> low) | np.uint64(1)) << low
    out = np.empty_like(numbers)
    for level, one in enumerate(numbers):
        odd = np.bitwise_count(one & before) & np.uint8(1)
        out[level] = np.bitwise_or.reduce(odd.astype(np.uint64) << low, axis=0)
    return out


def masks(chances: Array, uniform: Array) -> Array:
    """Masks whose number of kept parts follows `chances`; which parts are kept is uniform.

    The result, shape (n, d), is 1 where a part is off. Parts are decided in order: each is kept if
    its uniform is below the probability of that, given how many before it are kept. So a mask is a
    monotone function of its uniforms, and stays even.
    """
    n, d = uniform.shape
    with np.errstate(divide="ignore"):  # log 0 is −∞, as it should be
        ends = np.log(chances) - log_ways(d)
    ways = [ends]  # log-probability of one choice of the first parts that keeps k
    for _ in range(d):
        ways.append(np.logaddexp(ways[-1][:-1], ways[-1][1:]))
    off, kept = np.empty((n, d)), np.zeros(n, dtype=np.intp)
    for j in range(d):
        before, after = ways[d - j], ways[d - j - 1]
        keep = uniform[:, j] < np.exp(after[kept + 1] - before[kept])
        off[:, j] = ~keep
        kept += keep
    return off
