"""What the steps of a table's features stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array, Points
from eagle.io.values import Saved

MAX_STEPS: Final = 1 << 24
"""The largest number of steps of all features together that is read from a file."""


@final
@dataclass(frozen=True, eq=False)
class Moves(Saved):
    """The value at each step of each feature of a row.

    `tables` has for each feature the value at each step, shape (steps,): numbers as they are,
    levels as codes, NaN where missing. Rows of a table share these arrays. The entry of an offset
    is None: its feature says how far it moves. `own` are the values of the row, at step 0, shape
    (d,), and `coded` says which features are levels.
    """

    tables: tuple[Array | None, ...]
    own: Array
    coded: tuple[bool, ...]

    def values(self, points: Points, k: int) -> Array | None:
        """The values of feature k at the points, shape (n,); None for an offset."""
        table, steps = self.tables[k], points[:, k]
        return None if table is None else np.where(steps == 0, self.own[k], table[steps])

    def to_saved(self) -> dict[str, Any]:
        """What a file keeps: successive steps with the same value as a run, its start and value.

        A feature's first run starts at 0; an offset has no runs.
        """
        tables = [table for table in self.tables if table is not None]
        starts = [_starts(table) for table in tables]
        values = [table[start] for table, start in zip(tables, starts, strict=True)]
        return {
            "sizes": tuple(None if table is None else len(table) for table in self.tables),
            "starts": np.concatenate([np.empty(0, dtype=np.intp), *starts]),
            "values": np.concatenate([np.empty(0), *values]),
            "own": self.own,
            "coded": self.coded,
        }

    @classmethod
    def of_saved(
        cls,
        sizes: tuple[int | None, ...],
        starts: NDArray[np.intp],
        values: Array,
        own: Array,
        coded: tuple[bool, ...],
    ) -> Moves:
        """What `to_saved` gave."""
        first = np.flatnonzero(starts == 0)
        fits = len(starts) == len(values) and len(first) == sum(size is not None for size in sizes)
        if not fits or sum(size or 0 for size in sizes) > MAX_STEPS or starts[:1].any():
            raise ValueError("the values of its steps do not fit its features")
        parts = iter(zip(np.split(starts, first[1:]), np.split(values, first[1:]), strict=True))
        tables: list[Array | None] = []
        for size in sizes:
            if size is not None:
                start, value = next(parts)
                tables.append(value.repeat(np.diff(start, append=size)))
            else:
                tables.append(None)
        return cls(tuple(tables), own, coded)


def _starts(table: Array) -> NDArray[np.intp]:
    same = (table[1:] == table[:-1]) | (np.isnan(table[1:]) & np.isnan(table[:-1]))
    return np.append(0, np.flatnonzero(~same) + 1)
