"""What the steps of a table's features stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from eagle.types import Array, Points


@final
@dataclass(frozen=True, eq=False)
class Moves:
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
