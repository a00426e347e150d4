"""Rows of a table and the perturbations around them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from eagle.table.background import NORMAL, STEPS, Background
from eagle.table.column import array_of
from eagle.table.frame import Frame
from eagle.table.moves import Moves
from eagle.table.units import shown
from eagle.types import Array, InputError, Points

REMEMBERED = 64
"""The number of spaces of a table that are cached: somewhat more than one call asks by default."""


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Rows to be explained, over a background: their spaces, and the tables the model is asked.

    A point has one coordinate for each feature: a step from 0 to 1023, all equally likely. Step 0
    is the row's own value. In the *binned* view steps below `kept` stay in the row's own bin or
    level, and the feature is 1; the other steps leave it, and the feature is 0. In the
    *continuous* view a step is a normal quantile, and the feature is the standardised offset;
    levels and missing numbers match with probability ½.
    """

    background: Background
    rows: Frame
    binned: bool = True
    values: Array = field(init=False)
    levels: dict[int, tuple[Any, ...]] = field(init=False)
    states: NDArray[np.intp] = field(init=False)
    kept: NDArray[np.uint16] = field(init=False)

    def __post_init__(self) -> None:
        if self.binned and not self.background.rows:
            raise InputError(
                "the binned view needs background data: give data, or take the continuous view"
            )
        values, levels = self.background.read(self.rows)
        self.background.check_bounds(values)
        states = self.background.states(values)
        kept = self.background.kept(states, even=not self.binned)
        if not self.binned:  # a number that is not missing moves by an offset
            numbers = [self.background.columns[j].levels is None for j in self.background.moved]
            kept[np.array(numbers, dtype=bool) & ~np.isnan(values)] = 0
        for name, value in (
            ("values", values),
            ("levels", levels),
            ("states", states),
            ("kept", kept),
        ):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.rows)

    def space(self, i: int) -> TableSpace:
        """The space around row i. Spaces are cached, with what they have computed."""
        if i not in self._spaces:
            if len(self._spaces) >= REMEMBERED:
                self._spaces.clear()
            self._spaces[i] = TableSpace(self, i)
        return self._spaces[i]

    @cached_property
    def _spaces(self) -> dict[int, TableSpace]:
        return {}

    def names(self, i: int) -> tuple[str, ...]:
        """The features' names. Columns without names are x0, x1, …"""
        return self._names

    @cached_property
    def _names(self) -> tuple[str, ...]:
        columns = [self.background.columns[j] for j in self.background.moved]
        place = "" if self.rows.named else "x"
        return tuple(f"{'' if c.members else place}{c.name}" for c in columns)

    def own(self, i: int) -> tuple[Any, ...]:
        """The values of row i itself, None where missing."""
        out: list[Any] = []
        for j, value in zip(self.background.moved, self.values[i].tolist(), strict=True):
            if value != value:
                out.append(None)
            elif (column := self.background.columns[j]).members:
                out.append(column.combination(self.levels[j][int(value)]))
            elif j in self.levels:
                out.append(self.levels[j][int(value)])
            elif column.calendar is not None:
                out.append(shown(value, column.calendar))
            else:
                out.append(int(value) if column.integer and value.is_integer() else value)
        return tuple(out)

    @property
    def everything(self) -> NDArray[np.object_]:
        """The values of all rows, as `own` gives them, shape (n, d)."""
        out = np.empty(self.values.shape, dtype=object)
        for k, j in enumerate(self.background.moved):
            column, calendar = self.background.columns[j], self.background.columns[j].calendar
            there = ~np.isnan(self.values[:, k])
            values = self.values[there, k].tolist()
            if j in self.levels:
                named = (
                    map(column.combination, self.levels[j]) if column.members else self.levels[j]
                )
                levels = tuple(named)
                out[there, k] = array_of(levels[int(v)] for v in values)
            elif calendar is not None:
                out[there, k] = array_of(shown(v, calendar) for v in values)
            else:
                whole = column.integer
                out[there, k] = array_of(int(v) if whole and v.is_integer() else v for v in values)
        return out

    def conditions(self, i: int) -> tuple[str, ...]:
        """The condition that each feature of row i meets, as text: «28 < age ≤ 37»."""
        columns = [self.background.columns[j] for j in self.background.moved]
        parts = zip(columns, self._names, self.states[i], self.own(i), strict=True)
        out = [c.describe(name, int(s), v, self.binned) for c, name, s, v in parts]
        for k, j in enumerate(self.background.moved):
            if columns[k].members:
                level = self.levels[j][int(self.values[i, k])]
                out[k] = columns[k].describe_combination(self._names[k], level)
        return tuple(out)

    def contrast(self, i: int) -> Array:
        """How far row i is from the background's mean, in units of the scale; 1 for matches."""
        out = np.ones(self.kept.shape[1])
        for k in np.flatnonzero(self.kept[i] == 0).tolist():
            column = self.background.columns[self.background.moved[k]]
            still = not column.scale > 0
            out[k] = 0.0 if still else column.standardised(self.values[i, k], column.mean)
        return out

    def moves(self, i: int) -> Moves:
        """What the steps of row i stand for."""
        columns = [self.background.columns[j] for j in self.background.moved]
        tables: list[Array | None] = [None] * len(columns)
        for k in np.flatnonzero(self.kept[i]).tolist():
            state, kept = int(self.states[i, k]), int(self.kept[i, k])
            table = columns[k].moves(state, kept)
            if not columns[k].seen(state):
                table = table.copy()
                table[:kept] = self.values[i, k]
            tables[k] = table
        return Moves(tuple(tables), self.values[i], tuple(c.levels is not None for c in columns))

    def subject(self, i: int) -> None:
        return None

    @property
    def row_bytes(self) -> int:
        return 0

    @cached_property
    def steps(self) -> tuple[Any, ...]:
        """What determines the offsets of numbers that no bound or rounding changes."""
        columns = [self.background.columns[j] for j in self.background.moved]
        numbers = [c for c in columns if c.levels is None]
        return tuple((c.scale > 0, c.scale if c.integer else None) for c in numbers)

    @cached_property
    def offsets(self) -> Array:
        """The standardised offsets of all moved columns, shape (d, STEPS)."""
        columns = [self.background.columns[j] for j in self.background.moved]
        return np.array([NORMAL if c.levels is not None else c.offsets for c in columns])

    def inputs(self, rows: Sequence[int], points: Sequence[Points]) -> Any:
        spaces = [self.space(i) for i in rows]
        values = np.concatenate([s.values(p) for s, p in zip(spaces, points, strict=True)])
        index = np.repeat(np.asarray(rows, dtype=np.intp), [len(p) for p in points])
        return self.rows.build(index, self.background.moved, values, self.levels).native


@final
@dataclass(frozen=True, eq=False)
class TableSpace:
    """The perturbations of row i of a table."""

    table: Table
    i: int
    masks: bool = False
    steps: int = STEPS
    counts: None = None

    @property
    def _kept(self) -> NDArray[np.uint16]:
        return np.asarray(self.table.kept[self.i])

    @cached_property
    def _offsets(self) -> list[int]:
        """The features that are offsets; all others are matches."""
        return np.flatnonzero(self._kept == 0).tolist()

    @cached_property
    def _plain(self) -> bool:
        """Whether all offsets are plain normal quantiles."""
        return not self._bent and bool((self.table.offsets == NORMAL).all())

    @cached_property
    def _bent(self) -> dict[int, Array]:
        """Offsets that depend on the row, because bounds or rounding change them."""
        columns, moved = self.table.background.columns, self.table.background.moved
        own = self.table.values[self.i]
        return {
            k: columns[moved[k]].offsets_from(own[k])
            for k in self._offsets
            if columns[moved[k]].bends(own[k])
        }

    @cached_property
    def law(self) -> Hashable:
        bent = tuple((k, sha256(offsets.tobytes()).digest()) for k, offsets in self._bent.items())
        return (self._kept.tobytes(), self.table.steps if self._offsets else (), bent)

    @property
    def origin(self) -> Points:
        return np.zeros(len(self._kept), dtype=np.uint16)

    def draw(self, n: int, rng: np.random.Generator) -> Points:
        return np.asarray(self.pools(1, n, rng)[0])

    def pools(self, count: int, n: int, rng: np.random.Generator) -> Points:
        return draw_steps(count, n, len(self._kept), rng)

    def features(self, points: Points, out: Array | None = None) -> Array:
        out = np.empty(points.shape) if out is None else out
        if len(self._offsets) < points.shape[1]:
            np.less(points, self._kept, out=out, casting="unsafe")
        if len(self._offsets) == points.shape[1] and self._plain:
            # Every step is in range. mode="clip" only skips the check.
            return np.take(NORMAL, points, out=out, mode="clip")
        for k in self._offsets:
            table = self._bent.get(k)
            out[:, k] = (self.table.offsets[k] if table is None else table)[points[:, k]]
        return out

    def values(self, points: Points) -> Array:
        """The numbers and codes that the points stand for, shape (n, d)."""
        return self._moves.ravel().take(points + STEPS * np.arange(points.shape[1]))

    @cached_property
    def _moves(self) -> Array:
        """The value at each step of each feature, shape (d, STEPS)."""
        background, own, kept = self.table.background, self.table.values[self.i], self._kept
        out = np.empty((len(own), STEPS))
        states = self.table.states[self.i].tolist()
        for k, j in enumerate(background.moved):
            column = background.columns[j]
            if kept[k]:
                out[k] = column.moves(states[k], int(kept[k]))
                if not column.seen(states[k]):
                    out[k, : kept[k]] = own[k]
                continue
            out[k] = column.moved(own[k], self._bent.get(k, column.offsets))
        out[:, 0] = own
        return out

    def distinct(self, points: Points) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return distinct_rows(self.values(points))


def draw_steps(count: int, n: int, d: int, rng: np.random.Generator) -> Points:
    """`count` draws of n points of d steps each, shape (count, n, d)."""
    # Raw 64-bit outputs, each cut into four: this is the fastest way, and numpy promises that only
    # its generators' raw output never changes. Each draw begins with a new output: what the draw
    # before left of its last one is not used.
    size = n * d
    each = -(-size // 4)
    raw = np.asarray(rng.bit_generator.random_raw(count * each)).reshape(count, each)
    steps = raw.astype("<u8", copy=False).view("<u2")[:, :size] & np.uint16(STEPS - 1)
    return steps.astype(np.uint16, copy=False).reshape(count, n, d)


def distinct_rows(values: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first place of each distinct row of (n, d), in order, and how often the row occurs."""
    values = np.where(np.isnan(values), np.inf, values) + 0.0  # NaN payloads and −0 are made equal
    # Hashes of rows in integer arithmetic: equal rows have equal hashes on every machine.
    odd = 2 * np.arange(values.shape[1], dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    sums = (values.view(np.uint64) * odd).sum(axis=1)
    ordered = np.sort(sums)
    if (ordered[1:] != ordered[:-1]).all():
        return np.arange(len(values)), np.ones(len(values), dtype=np.intp)
    rows = values.view(np.dtype((np.void, values.shape[1] * 8)))[:, 0]
    _, first, often = np.unique(rows, return_index=True, return_counts=True)
    order = np.argsort(first)
    return first[order], often[order]
