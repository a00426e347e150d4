"""Instances whose perturbations are rows of the background itself, not made-up rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables.background import Background, unit_of
from eagle._tables.column import key, places
from eagle._tables.frame import Frame
from eagle._tables.rows import TableInstances, distinct_rows
from eagle._values.arrays import Array, Points
from eagle._values.packages import package
from eagle.contracts import Instances, Space
from eagle.errors import InputError

MAX_CLUSTERED_ROWS = 10_000
"""The largest number of rows that are clustered. Of more, evenly spaced ones are taken, since
Ward's method compares all pairs."""


@final
@dataclass(eq=False)
class BackgroundRows:
    """The rows of the background and what is computed from them, shared by explainers."""

    given: Frame | None
    background: Background
    clusters: dict[int, NDArray[np.intp]] = field(default_factory=dict, repr=False)
    count: int = field(init=False)
    _kept: Frame | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.count = 0 if self.given is None else len(self.given)

    @property
    def places(self) -> list[int]:
        """The places of the rows that are used: all of them, or evenly spaced ones."""
        return [
            int(j)
            for j in np.linspace(0, self.count - 1, min(self.count, MAX_CLUSTERED_ROWS)).round()
        ]

    def copy(self) -> Frame:
        """At most `MAX_CLUSTERED_ROWS` rows, copied once, so that later changes of the data have no
        effect."""
        if self._kept is None:
            assert self.given is not None
            self._kept, self.given = self.given.take(self.places), None
        return self._kept

    @cached_property
    def _read(self) -> tuple[Array, dict[int, tuple[Any, ...]]]:
        return self.background.read(self.copy())

    @property
    def values(self) -> Array:
        """The background's rows as numbers and codes, shape (n, d)."""
        return self._read[0]

    @property
    def levels(self) -> dict[int, tuple[Any, ...]]:
        """The levels of codes: those of the background, then combinations it has not kept."""
        return self._read[1]

    @cached_property
    def states(self) -> NDArray[np.intp]:
        """The bin or level of each value, shape (n, d)."""
        return self.background.states(self.values)

    @cached_property
    def unit(self) -> float:
        """A power of two. Divided by it, the rows' numbers can be squared and summed."""
        return unit_of(float(np.nan_to_num(np.abs(self.values)).max(initial=0.0)))

    @cached_property
    def numbers(self) -> Array:
        """The rows that distances are measured on: in `unit`, and column means where missing."""
        return self.standardise(self.values)

    def standardise(self, values: Array) -> Array:
        """Rows of values in the unit of `numbers`, missing ones filled in, shape (n, d)."""
        return fill_missing(values / self.unit, self.values / self.unit)

    def labels(self, clusters: int) -> NDArray[np.intp]:
        """The cluster of each row, by Ward's method on the columns as they are, shape (n,)."""
        if clusters not in self.clusters:
            cluster = package("sklearn.cluster", "clustering", "peers")
            if clusters > len(self.numbers):
                raise InputError(f"{len(self.numbers)} rows cannot form {clusters} clusters")
            labels = cluster.AgglomerativeClustering(clusters).fit_predict(self.numbers)
            self.clusters[clusters] = np.asarray(labels, dtype=np.intp)
        return self.clusters[clusters]


@final
@dataclass(frozen=True, eq=False)
class Neighbours(Instances):
    """Rows to be explained by the rows of a background.

    A point has one coordinate: the number of a background row, or -1 for the instance itself.
    A feature is 1 where that row is in the instance's bin or level, else 0. Frozen columns keep
    the instance's values.
    """

    table: TableInstances
    rows: BackgroundRows

    def __len__(self) -> int:
        return len(self.table)

    def names(self, i: int) -> tuple[str, ...]:
        return self.table.names(i)

    def own(self, i: int) -> tuple[Any, ...]:
        return self.table.own(i)

    def conditions(self, i: int) -> tuple[str, ...]:
        return self.table.conditions(i)

    def contrast(self, i: int) -> Array:
        return self.table.contrast(i)

    def space(self, i: int) -> NeighbourSpace:
        return NeighbourSpace(self, i)

    @cached_property
    def levels(self) -> dict[int, tuple[Any, ...]]:
        """The levels of codes: those of the explained rows, then others of the background's."""
        out = {}
        for j, own in self.table.levels.items():
            known = places(own)
            out[j] = (*own, *(v for v in self.rows.levels[j] if key(v) not in known))
        return out

    @cached_property
    def values(self) -> Array:
        """The background's rows as numbers and codes of `levels`, shape (n, d)."""
        values = self.rows.values
        for k, j in enumerate(self.table.background.moved_columns):
            if j in self.levels and self.rows.levels[j] != self.levels[j]:
                code = places(self.levels[j])
                table = np.array([code[key(v)] for v in self.rows.levels[j]] + [np.nan])
                values = values.copy()
                values[:, k] = table[np.nan_to_num(values[:, k], nan=-1).astype(np.intp)]
        return values

    def own_values(self, i: int) -> Array:
        """The values of row i, with codes as the background's rows have them, shape (1, d)."""
        own = self.table.values[[i]]
        for k, j in enumerate(self.table.background.moved_columns):
            if j in self.levels and own[0, k] == own[0, k]:
                level = self.levels[j][int(own[0, k])]
                own[0, k] = places(self.rows.levels[j]).get(key(level), own[0, k])
        return own

    def to_table(self, i: int, values: Array) -> Any:
        """Rows of numbers and codes as a table for the model; other columns are those of row i."""
        table = self.table
        index = np.full(len(values), i, dtype=np.intp)
        return table.rows.build(index, table.background.moved_columns, values, self.levels).native

    def inputs(self, rows: Sequence[int], points: Sequence[Points]) -> Any:
        parts = [self.space(i).values(p) for i, p in zip(rows, points, strict=True)]
        index = np.repeat(np.asarray(rows, dtype=np.intp), [len(p) for p in points])
        table = self.table
        moved = table.background.moved_columns
        return table.rows.build(index, moved, np.concatenate(parts), self.levels).native


@final
@dataclass(frozen=True, eq=False)
class NeighbourSpace(Space):
    """The perturbations of row i: the rows of the background."""

    neighbours: Neighbours
    i: int

    @property
    def law(self) -> Hashable:
        return self.neighbours, self.i

    @property
    def steps(self) -> int:
        return len(self.neighbours.rows.values)

    @property
    def origin(self) -> Points:
        return np.array([-1])

    def draw(self, n: int, rng: np.random.Generator) -> Points:
        return rng.integers(len(self.neighbours.rows.values), size=(n, 1))

    def features(self, points: Points, out: Array | None = None) -> Array:
        own = self.neighbours.table.states[self.i]
        match = self.neighbours.rows.states[points[:, 0]] == own
        for k in self._unseen:
            values = self.neighbours.values[points[:, 0], k]
            match[:, k] = values == self.neighbours.table.values[self.i, k]
        match[points[:, 0] < 0] = True
        if out is None:
            return np.asarray(match, dtype=np.float64)
        out[...] = match
        return out

    @cached_property
    def _unseen(self) -> list[int]:
        """The groups whose own combination is not one of those that the background keeps."""
        table = self.neighbours.table
        columns = [table.background.columns[j] for j in table.background.moved_columns]
        own = table.states[self.i].tolist()
        return [k for k, c in enumerate(columns) if c.members and own[k] >= len(c.shares)]

    def values(self, points: Points) -> Array:
        """The numbers and codes that the points stand for, shape (n, d)."""
        values = self.neighbours.values[points[:, 0]].copy()
        values[points[:, 0] < 0] = self.neighbours.table.values[self.i]
        return values

    def distinct(self, points: Points) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return distinct_rows(self.values(points))

    @cached_property
    def distances(self) -> Array:
        """The Euclidean distance of each background row from row i, on `numbers`, shape (n,)."""
        here = self.neighbours.rows.standardise(self.neighbours.own_values(self.i))
        apart = self.neighbours.rows.numbers - here
        unit = unit_of(float(np.abs(apart).max(initial=0.0)))
        return np.asarray(unit * np.sqrt(((apart / unit) ** 2).sum(axis=1)))


def fill_missing(values: Array, by: Array) -> Array:
    """Values with the column means of `by` where they are missing; 0 where `by` has no values."""
    there = ~np.isnan(by)
    total = np.where(there, by, 0.0).sum(axis=0)
    means = total / np.maximum(there.sum(axis=0), 1)
    return np.where(np.isnan(values), means, values)
