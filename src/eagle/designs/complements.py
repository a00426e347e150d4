"""Masks in pairs with their complements, none twice: effects that both share cancel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array, Points
from eagle._values.checks import check_flags
from eagle.contracts import Kernel, Need, Planned, Space
from eagle.designs.balanced import masks, scrambled_sobol
from eagle.designs.hadamard import rows
from eagle.designs.law import raw, sizes
from eagle.kernels import MIN_DISTANCE

MAX_LISTED_PARTS: Final = 20
"""Up to this number of parts all masks can be listed, so a plan can have all of them."""

MAX_PAIRS_LOG2: Final = 17
"""With up to `MAX_LISTED_PARTS` parts, at most 2^17 pairs are drawn; then the missing masks are
listed."""

MAX_PAIRS_PER_ROW: Final = 16
"""With more parts, the maximum number of pairs that are drawn for each row of the budget."""


@final
@dataclass(frozen=True)
class Complements(Planned):
    """The instance, then pairs of a mask and its complement, no mask twice.

    With `block`, one Hadamard matrix comes first, so that small plans are orthogonal. Then come
    scrambled Sobol' masks. Their size has the law t(k) + t(d − k), where t is the space's law times
    the kernel. If all masks fit into the budget, all are asked. The masks of one size that are
    asked stand for all of that size, so the weight of each is t(k) over their number. With d ≤ 2
    and a law that never keeps all parts, as for texts, the mask of all parts gets the probability
    1/(d + 1); otherwise no line could be fitted.
    """

    block: bool = True
    needs: ClassVar = frozenset({Need.MASKS})

    def __post_init__(self) -> None:
        check_flags(block=self.block)

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d), or fewer if there are no more masks."""
        if not spaces:
            return []
        d = len(spaces[0].origin)
        block = ~rows(2 << d.bit_length(), d, rng)
        if not self.block:
            block = block[:0]
        order = np.argsort(raw(rng, d))
        # Generators of their own, so that a longer plan begins with the shorter one.
        drawn, listed = (int(seed) for seed in raw(rng, 2))
        out = []
        for space in spaces:
            law = sizes(space, kernel)
            draw = RandomPairs(space, law + law[::-1], block, order, drawn)
            out.append(_plan_masks(draw, budget, listed))
        return out

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        """The probability of each row's size over the number of such rows; mean π̄, shape (n,)."""
        kept = np.rint(features.sum(axis=1)).astype(np.intp)
        there = np.bincount(kept, minlength=len(space.origin) + 1)
        one = sizes(space, kernel)[kept] * (len(kept) / there[kept])
        return np.asarray(np.maximum(one, MIN_DISTANCE))


@final
@dataclass(frozen=True, eq=False)
class RandomPairs:
    """Random pairs of masks, before duplicates are removed."""

    space: Space
    law: Array
    block: NDArray[np.bool_]
    order: NDArray[np.intp]
    seed: int

    def first(self, n: int) -> Points:
        """The instance, the block, n Sobol' masks and their complements, without duplicates."""
        uniform = scrambled_sobol(n, len(self.order), generator(self.seed))
        off = np.empty(uniform.shape, dtype=bool)
        off[:, self.order] = masks(self.law, uniform) == 1
        pairs = with_complements(off)
        return distinct(self.space, [self.space.origin[None], self.block, pairs])


def _plan_masks(draw: RandomPairs, budget: int, listed: int) -> Points:
    """The first distinct masks: as many as the budget allows, or all there are."""
    d = len(draw.order)
    few = d <= MAX_LISTED_PARTS
    most = 1 << min(d + 1, MAX_PAIRS_LOG2) if few else MAX_PAIRS_PER_ROW * budget
    wanted = min(budget, 1 << d) if few else budget
    n = min(budget, most)
    points = draw.first(n)
    while len(points) < wanted and n < most:
        n = min(4 * n, most)
        points = draw.first(n)
    if len(points) < wanted and few:
        points = distinct(draw.space, [points, every_pair(d, generator(listed))])
    return points[:wanted]


def every_pair(d: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """All masks of d parts in random order, each followed by its complement, shape (2^d, d)."""
    half = np.argsort(raw(rng, 1 << (d - 1)))
    off = (half[:, None] >> np.arange(d) & 1).astype(bool)
    return with_complements(off)


def with_complements(off: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Each mask followed by its complement, shape (2n, d)."""
    return np.stack([off, ~off], axis=1).reshape(2 * len(off), -1)


def distinct(space: Space, points: Sequence[Points]) -> Points:
    """Points without duplicates; of equal ones the first stays."""
    every = np.concatenate([part.astype(space.origin.dtype) for part in points])
    return np.asarray(every[space.distinct(every)[0]])


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))
