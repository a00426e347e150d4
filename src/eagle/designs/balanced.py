"""Balanced rows: points that fill the law evenly, so that errors average out sooner.

A row is the image of a point u in (0, 1)^d, by the inverse of the law's distribution functions; the
points are one scrambled Sobol' sequence. What a row adds to the error of a score is a function of
u. Over independent rows such functions average out like 1/√N. Over a Sobol' sequence those of one
coordinate average out about as fast as 1/N, since every dyadic interval has its share of the
points, and those of two coordinates nearly so. What remains is what many features do together.

References: Sobol', "On the distribution of points in a cube and the approximate evaluation of
integrals", 1967; Antonov and Saleev, "An economic method of computing LPτ-sequences", 1979;
Matoušek, "On the L₂-discrepancy for anchored boxes", 1998; Joe and Kuo, "Constructing Sobol'
sequences with better two-dimensional projections", 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array, Points
from eagle._values.checks import check_flags
from eagle.contracts import Kernel, Need, Planned, Space
from eagle.designs.directions import BITS, MAX_DIMENSIONS, directions
from eagle.designs.law import (
    Absorbed,
    Tilt,
    check_tilt,
    kept_count_law,
    mean_weight,
    movable,
    quantile,
    raw,
)
from eagle.errors import InputError
from eagle.kernels import log_ways


@final
@dataclass(frozen=True)
class Sobol(Planned):
    """The instance, then scrambled Sobol' points of the space's law times the kernel.

    Each row alone follows that law exactly. Together they fill it more evenly than independent
    rows: each of 2ᵏ equally probable parts of a feature's law has one of the first 2ᵏ rows, and
    pairs of features are nearly as even. With `mass` the weight of every row is π̄, the kernel's
    mean weight, so that a prior means the same as under the kernel; otherwise it is 1.

    A plan of n rows is the beginning of every longer one: row i depends on i and on the scramble,
    and the scramble, like the order of features, is drawn before any point and from as many
    numbers whatever n is.
    """

    law: Tilt = field(default_factory=Absorbed)
    mass: bool = True

    def __post_init__(self) -> None:
        check_tilt(self.law)
        check_flags(mass=self.mass)

    @property
    def needs(self) -> frozenset[Need]:
        return self.law.needs

    @property
    def balanced(self) -> bool:
        return True

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d). All spaces share the uniforms."""
        if not spaces:
            return []
        d = len(spaces[0].origin)
        key = raw(rng, d)
        uniform = scrambled_sobol(budget - 1, d, rng)
        return [self._points(space, kernel, key, uniform) for space in spaces]

    def _points(
        self, space: Space, kernel: Kernel, key: NDArray[np.uint64], uniform: Array
    ) -> Points:
        # The first dimensions are the most even, so features that can change get them. Among
        # these the order is random, so that no feature is favoured by its place.
        order = np.lexsort((key, ~movable(space)))
        points = np.empty_like(uniform)
        if space.counts is not None:
            points[:, order] = masks(kept_count_law(space, kernel), uniform)
        else:
            tilt = self.law.tilt(space, kernel)
            points[:, order] = quantile(tilt[:, order], np.insert(uniform, 0, 0.0, axis=1))
        origin = space.origin
        return np.concatenate([origin[None], points.astype(origin.dtype)])

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        """The same for every row, shape (n,)."""
        mean = mean_weight(space, kernel, self.law) if self.mass else 1.0
        return np.full(len(features), mean)


def scrambled_sobol(n: int, d: int, rng: np.random.Generator) -> Array:
    """The first n points of a randomly scrambled Sobol' sequence in (0, 1), shape (n, d).

    In each coordinate, with binary digits as vectors over the numbers 0 and 1 (sums are XOR),

        point(i) = e + Σ_b g_b(i) L v_b,    g(i) = i XOR ⌊i/2⌋,

    where v_b is direction number b, g_b(i) digit b of i in Gray code, e random digits, and L a
    random matrix with ones on its diagonal and zeros above: to every digit a random sum of the
    digits before it and a random digit are added (Matoušek's scramble).

    Why it is right: e alone makes each point uniform. The first k digits of Lx depend on the first
    k of x, one to one: dyadic intervals are exchanged among themselves, so the sequence is as even
    as before. Why it is quick: L is linear, so that the d·log₂ n directions are scrambled, not the
    points. And Gray codes are reflected: g(2ᵏ + r) is g(2ᵏ − 1 − r) with the digit k as well. So
    the next 2ᵏ points are the first 2ᵏ in reverse order, plus L v_k. Gray code (Antonov and
    Saleev) changes only the order of the points within each 2ᵏ.
    """
    if d > MAX_DIMENSIONS:
        raise InputError(
            f"balanced rows are known for up to {MAX_DIMENSIONS:,} features, not {d:,}"
        )
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
    for level, one in enumerate(mix_digits(directions(d, (n - 1).bit_length()), mixing)):
        half = 1 << level
        more = min(half, n - half)
        points[half : half + more] = points[half - more : half][::-1] ^ one
    return np.asarray((points.astype(np.float64) + 0.5) * 2.0**-BITS)


def mix_digits(numbers: NDArray[np.uint64], mixing: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each digit plus a random sum of those before it, for numbers of shape (levels, d).

    This is L v: digit i of the result is the parity of the digits that v and row i of L share. The
    rows of L, `before`, have a one at digit i and random digits before it.
    """
    low = np.arange(BITS - 1, -1, -1, dtype=np.uint64)[:, None]
    before = ((mixing >> np.uint64(64 - BITS) >> low) | np.uint64(1)) << low
    out = np.empty_like(numbers)
    for level, one in enumerate(numbers):
        odd = np.bitwise_count(one & before) & np.uint8(1)
        out[level] = np.bitwise_or.reduce(odd.astype(np.uint64) << low, axis=0)
    return out


def masks(chances: Array, uniform: Array) -> Array:
    """Masks whose number of kept parts follows `chances`; which parts are kept is uniform.

    The result, shape (n, d), is 1 where a part is off. With t, the `chances`, one mask of k kept
    parts has the probability t(k)/C(d, k), and one choice of the first j parts that keeps k of them

        P_j(k) = P_{j+1}(k) + P_{j+1}(k + 1),    P_d(k) = t(k)/C(d, k),

    the next part being off or kept. Parts are decided in order: part j + 1 is kept if its uniform
    is below P_{j+1}(k + 1)/P_j(k), k of the parts before it being kept. This is the inverse of
    conditional distribution functions (Rosenblatt, "Remarks on a multivariate transformation",
    1952): uniform points become masks of exactly this law, and given the parts before it each part
    is a step function of its own coordinate alone, falling from kept to off. So an even sequence of
    uniforms gives even masks, which drawing the number of kept parts first, or ranking uniforms,
    does not.
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
