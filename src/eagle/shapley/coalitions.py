"""Which coalitions of players are asked about each row, and with which background rows.

A row is asked in pairs: a coalition S of its own values with a background row's other values, and
the mirror image of it. Sizes of S follow the Shapley kernel, stratified within the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array

MAX_EXACT_PLAYERS: Final = 16
"""Maximum number of players of whom all coalitions may be listed."""


@final
@dataclass(frozen=True, eq=False)
class Pairs:
    """For each row its coalitions, shape (n, pairs, d): True where the row's own value is taken.

    `other`, shape (n, pairs), is the background row that the other values are from.
    """

    own: NDArray[np.bool_]
    other: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.own)

    @property
    def count(self) -> int:
        """How many pairs each row has."""
        return int(self.own.shape[1])

    def and_more(self, more: Pairs) -> Pairs:
        """These pairs of each row, and more."""
        return Pairs(
            np.concatenate([self.own, more.own], axis=1),
            np.concatenate([self.other, more.other], axis=1),
        )


def draw_pairs(
    rows: int, players: int, count: int, background: int, seed: int, batch: int
) -> Pairs:
    """`count` pairs for each row. Seed, batch and the row's place alone decide those of a row.

    A size s has probability ∝ 1/(s(d − s)). Sizes are drawn by systematic sampling, so that each
    row has them in about these shares. Background rows do not repeat before all have come.
    """
    own = np.zeros((rows, count, players), dtype=bool)
    other = np.empty((rows, count), dtype=np.intp)
    size = np.arange(1, players)
    ends = np.cumsum(1 / (size * (players - size)))
    ends /= ends[-1]
    for i in range(rows):
        rng = np.random.Generator(np.random.PCG64([seed, batch, i]))
        at = (np.arange(count) + rng.random()) / count
        sizes = size[np.minimum(np.searchsorted(ends, at, side="right"), len(size) - 1)]
        sizes = sizes[np.argsort(rng.random(count), kind="stable")]
        rank = np.argsort(np.argsort(rng.random((count, players)), axis=1), axis=1)
        own[i] = rank < sizes[:, None]
        turns = -(-count // background)
        order = np.argsort(rng.random((turns, background)), axis=1, kind="stable")
        other[i] = order.ravel()[:count]
    return Pairs(own, other)


def all_coalitions(players: int) -> NDArray[np.bool_]:
    """All coalitions but none and all, shape (2^d − 2, d)."""
    every = (np.arange(1 << players)[:, None] >> np.arange(players)) & 1
    return np.asarray(every[1:-1], dtype=bool)


def exact_values(own: NDArray[np.bool_], worth: Array, none: Array, all_of: Array) -> Array:
    """Shapley values from the worth of all coalitions, shape (n, 2^d − 2), and those of none and
    all of the players, shape (n,)."""
    from math import comb

    d = own.shape[1]
    size = own.sum(axis=1)
    joined = np.array([0.0] + [1 / (d * comb(d - 1, s - 1)) for s in range(1, d)])
    left = np.array([0.0] + [-1 / (d * comb(d - 1, s)) for s in range(1, d)])
    weight = np.where(own, joined[size][:, None], left[size][:, None])
    return np.asarray(worth @ weight + ((all_of - none) / d)[:, None])
