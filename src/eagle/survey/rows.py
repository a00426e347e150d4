"""The rows of a survey: the state of each column in each, and the table that the model is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b, sha256
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables.background import Background
from eagle._tables.column import array_of
from eagle._tables.rows import distinct_rows
from eagle._values.arrays import Array
from eagle.designs.balanced import scrambled_sobol
from eagle.designs.law import raw
from eagle.survey.law import GRID, Indices, RootLaw

States: TypeAlias = NDArray[np.uint16]
"""States of rows, shape (d, n): what belongs to one column lies together."""

SEED_BYTES: Final = 8

GOLDEN: Final = (5**0.5 - 1) / 2
"""Its multiples modulo 1 fill the interval from 0 to 1 evenly, however many there are."""


@final
@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows of the law: their `states`, shape (d, n), and `steps`, shape (n, d).

    A step is the place of a row's value among all values that the background keeps of that column.
    """

    background: Background
    states: States
    steps: Indices

    @classmethod
    def of_saved(cls, background: Background, states: States, steps: Indices, rows: int) -> Drawn:
        """Rows of a file, if they are of this background."""
        sizes = [sum(map(len, background.columns[j].values)) for j in background.moved_columns]
        states_of = [len(background.columns[j].values) for j in background.moved_columns]
        if states.shape != (len(sizes), rows) or steps.shape != (rows, len(sizes)):
            raise ValueError("its answers do not fit its rows")
        if (steps < 0).any() or (steps >= sizes).any() or (states_of < states.T).any():
            raise ValueError("its rows are not of its background")
        return cls(background, states, steps)

    def __len__(self) -> int:
        return len(self.steps)

    @cached_property
    def values(self) -> Array:
        """Numbers as they are and levels as codes, NaN where missing, shape (n, d)."""
        kept = [
            np.concatenate(self.background.columns[j].values) for j in self.background.moved_columns
        ]
        return np.stack([one[self.steps[:, k]] for k, one in enumerate(kept)], axis=1)

    @cached_property
    def distinct(self) -> tuple[Indices, Indices]:
        """The places of rows that repeat no earlier one, and which of these each row equals."""
        first, repeats = distinct_rows(self.values)
        if (repeats == 1).all():
            return first, np.arange(len(self))
        rows = np.where(np.isnan(self.values), np.inf, self.values) + 0.0
        _, place, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(place)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return place[order], rank[which.reshape(-1)]

    def part(self, start: int, end: int | None = None) -> Drawn:
        """Some rows, one after another."""
        return Drawn(self.background, self.states[:, start:end], self.steps[start:end])

    @property
    def digest(self) -> str:
        """A hash of the rows' values, the same on every machine."""
        rows = np.where(np.isnan(self.values), np.inf, self.values) + 0.0
        return sha256(rows.astype("<f8").tobytes()).hexdigest()


def draw(background: Background, law: RootLaw, rows: int, seed: int) -> Drawn:
    """The first rows of the survey with this seed: background, seed and rows alone decide them.

    They are scrambled Sobol' points of the root law (`designs/balanced.py`). One uniform number
    decides a column twice: the interval of length q that it lies in is the state, and how far
    inside that interval it lies says which of the state's values is taken. A longer survey begins
    with the same rows.
    """
    return _draw(background, law, rows, np.random.Generator(np.random.PCG64(seed)))


def supplement(
    background: Background, law: RootLaw, rows: int, seed: int, column: int, state: int, value: str
) -> Drawn:
    """Rows of the law in which a column has one state, for a supplement.

    They follow the law of the survey given that state: the other columns are drawn as they are
    there, so that a row is 1/q times as probable as in the survey, q being the state's chance. How
    many rows there are is `RootLaw.supplements`, how they count beside the survey's is
    `Weights.of`.

    Seed, column and `value`, which names the state, alone decide them, not which instances are
    explained together; a longer supplement begins with the same rows. Among the values inside the
    state, row i takes the one at i·`GOLDEN` modulo 1. A value that the background lacks has no
    step: the caller puts it there.
    """
    one = background.columns[background.moved_columns[column]]
    key = blake2b(f"{seed} {one.name!r} {value}".encode(), digest_size=SEED_BYTES).digest()
    rng = np.random.Generator(np.random.PCG64(int.from_bytes(key, "little")))
    out = _draw(background, law, rows, rng)
    out.states[column] = state
    if one.has_seen(state):
        sizes = [len(values) for values in one.values]
        place = (np.arange(rows) * GOLDEN) % 1.0
        out.steps[:, column] = sum(sizes[:state]) + (place * sizes[state]).astype(np.intp)
    return out


def _draw(background: Background, law: RootLaw, rows: int, rng: np.random.Generator) -> Drawn:
    d = len(law.share)
    # The first dimensions are the most even, so columns that can change get them.
    order = np.lexsort((raw(rng, d), (law.draw > 0).sum(axis=1) < 2))
    uniform = np.empty((d, rows))
    uniform[order] = scrambled_sobol(rows, d, rng).T
    states, steps = np.empty((d, rows), dtype=np.uint16), np.empty((rows, d), dtype=np.intp)
    for k, j in enumerate(background.moved_columns):
        place = uniform[k] * GRID  # exact: GRID is a power of two
        state = np.searchsorted(law.ends[k], np.floor(place), side="right")
        width = law.draw[k, state] * GRID
        inside = (place - (law.ends[k, state] - width)) / width
        sizes = np.array([len(one) for one in background.columns[j].values])
        first = np.cumsum(sizes) - sizes
        steps[:, k] = first[state] + np.minimum(inside * sizes[state], sizes[state] - 1)
        states[k] = state
    return Drawn(background, states, steps)


def as_table(background: Background, values: Array) -> Any:
    """Values, shape (n, d), as a table that the model takes. No column is frozen."""
    columns, template = background.columns, background.template
    first = template.adopt([array_of([_some(background, j)]) for j in range(len(columns))])
    levels = {j: named for j, column in enumerate(columns) if (named := column.levels) is not None}
    rows = np.zeros(len(values), dtype=np.intp)
    return first.build(rows, background.moved_columns, values, levels).native


def _some(background: Background, j: int) -> Any:
    """A value of column j as its table holds it; it is missing only if the column has no other."""
    column, unit = background.columns[j], background.template.unit(j)
    if column.levels:
        return column.levels[0]
    value = next((v for v in np.concatenate(column.values).tolist() if v == v), None)
    return value if unit is None or value is None else unit.value(value)
