"""What proxies see of a table: columns of numbers and levels, each of a player."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array

Values: TypeAlias = Callable[[Array], Array]
"""What makes Shapley values, shape (n, players), of rows."""


@final
@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of a matrix: the `player` each belongs to, and its number of `levels`.

    A column without levels holds numbers, others codes from 0 on. NaN is missing. A code beyond
    the levels stands for a level that was not there when proxies were fitted.
    """

    player: NDArray[np.intp]
    levels: NDArray[np.intp]

    @property
    def players(self) -> int:
        """How many players there are."""
        return int(self.player.max(initial=-1)) + 1

    def by_player(self, columns: Array) -> Array:
        """Sums over the columns of each player, from shape (n, columns) to (n, players)."""
        out = np.zeros((len(columns), self.players))
        for j, player in enumerate(self.player.tolist()):
            out[:, player] += columns[:, j]
        return out


def ranks_of_levels(codes: Array, answers: Array, levels: int) -> Array:
    """The rank of each level by its mean answer, shape (levels,); NaN for levels without one.

    Few answers count less: each mean is drawn towards that of all by ten answers more.
    """
    seen = ~np.isnan(codes) & (codes < levels)
    place = codes[seen].astype(np.intp)
    often = np.bincount(place, minlength=levels)
    total = np.bincount(place, weights=answers[seen], minlength=levels)
    middle = float(answers.mean()) if len(answers) else 0.0
    mean = (total + 10 * middle) / (often + 10)
    out = np.full(levels, np.nan)
    there = np.flatnonzero(often > 0)
    out[there[np.argsort(mean[there], kind="stable")]] = np.arange(len(there))
    return out


def look_up(codes: Array, table: Array) -> Array:
    """The entry of a table for each code; NaN for missing and unknown ones."""
    known = ~np.isnan(codes) & (codes < len(table))
    out = np.full(len(codes), np.nan)
    out[known] = table[codes[known].astype(np.intp)]
    return out
