"""Orthogonal rows: Hadamard matrices, each row followed by its mirror image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array, Points
from eagle.contracts import Kernel, Need, Planned, Space
from eagle.designs.law import even, every_step, movable, quantile, raw
from eagle.kernels import log_ways


@final
@dataclass(frozen=True)
class Hadamard(Planned):
    """The instance, then rows of Hadamard matrices, each followed by its mirror image.

    After each complete matrix, all four combinations of any two features are equally frequent, and
    the interactions of two features cancel in each pair of rows. For each matrix, columns, their
    signs and the order of rows are drawn at random. Every match is a fair coin. So the weight of a
    row is the kernel times its probability under the space's own law over that under fair coins.
    """

    needs: ClassVar = frozenset({Need.MATCHES})

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d). All spaces share the rows."""
        if not spaces:
            return []
        d = len(spaces[0].origin)
        # A generator of its own, so that a longer plan begins with the shorter one.
        inner = np.random.Generator(np.random.PCG64(int(raw(rng, 1)[0])))
        match = rows(2 * budget, d, rng)
        counts = spaces[0].counts
        if counts is not None and counts[d] == 0:  # no law of texts draws the whole text
            match = match[~match.all(axis=1)]
        match = match[: budget - 1]
        fine = (raw(inner, (budget - 1) * d) >> np.uint64(11)).reshape(budget - 1, d) * 2.0**-53
        uniform = np.insert((fine + ~match) / 2, 0, 0.0, axis=1)
        return [
            np.concatenate([space.origin[None], quantile(even(space), uniform)]).astype(
                space.origin.dtype
            )
            for space in spaces
        ]

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        """The kernel times the probability in the space's own law over that of fair coins."""
        return kernel(features, np.ones(features.shape[1])) * np.exp(likely(space, features))


def rows(n: int, d: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """n rows of orthogonal columns, as booleans, shape (n, d)."""
    size = 1 << d.bit_length()
    blocks: list[NDArray[np.bool_]] = [np.empty((0, d), dtype=bool)]
    for _ in range(-(-n // (2 * size))):
        column = 1 + np.argsort(raw(rng, size - 1))[:d]
        sign = raw(rng, d) >> np.uint64(63) == 1
        row = np.argsort(raw(rng, size))
        one = (np.bitwise_count(row[:, None] & column) % 2 == 1) ^ sign
        blocks.append(np.stack([one, ~one], axis=1).reshape(-1, d))
    return np.concatenate(blocks)[:n]


def likely(space: Space, features: Array) -> Array:
    """The log of the features' probability in the space's law over that of fair coins, (n,)."""
    if space.counts is not None:
        d = features.shape[1]
        with np.errstate(divide="ignore"):  # log 0 is −∞, which becomes weight 0
            one = np.log(space.counts) - log_ways(d) + d * np.log(2.0)
        one[d] = max(one[d], 0.0)  # the instance itself is asked in any case
        return np.asarray(one[features.sum(axis=1).astype(np.intp)])
    moves = movable(space)
    match = (every_step(space)[0] == 1).mean(axis=0)[moves]
    both = np.log(2 * match), np.log(2 * (1 - match))
    return np.asarray(np.where(features[:, moves] == 1, *both).sum(axis=1))
