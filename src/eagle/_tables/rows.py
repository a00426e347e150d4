"""Rows of a table and the perturbations around them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables.background import NORMAL, STEPS, Background
from eagle._tables.column import array_of
from eagle._tables.frame import Frame
from eagle._tables.moves import Moves
from eagle._tables.units import days_text
from eagle._values.arrays import Array, Points
from eagle.contracts import Instances, Space
from eagle.errors import InputError

MAX_CACHED_SPACES: Final = 64
"""The number of spaces of a table that are cached: somewhat more than one call asks by default."""


@final
@dataclass(frozen=True, eq=False)
class TableInstances(Instances):
    """Rows to be explained, over a background: their spaces, and the tables the model is asked.

    A point has one coordinate for each feature: a step from 0 to 1023, all equally likely. Step 0
    is the row's own value. In the *binned* view steps below `kept` stay in the row's own bin or
    level, and the feature is 1; the other steps leave it, and the feature is 0. In the
    *continuous* view a step is a normal quantile, and the feature is the standardised offset;
    levels and missing numbers match with probability ½. `by_value` says that scores are about
    values as they are, so that those of offsets are no slopes.
    """

    background: Background
    rows: Frame
    binned: bool = True
    by_value: bool = False
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
        kept = self.background.steps_kept(states, even=not self.binned)
        if not self.binned:  # a number that is not missing moves by an offset
            kept[~np.array(self.background.is_coded, dtype=bool) & ~np.isnan(values)] = 0
        for name, value in (
            ("values", values),
            ("levels", levels),
            ("states", states),
            ("kept", kept),
        ):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.values)

    def space(self, i: int) -> TableSpace:
        """The space around row i. Spaces are cached, with what they have computed."""
        if i not in self._spaces:
            if len(self._spaces) >= MAX_CACHED_SPACES:
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
        place = "" if self.rows.named else "x"
        return tuple(f"{'' if c.members else place}{c.name}" for c in self.background.features)

    def own(self, i: int) -> tuple[Any, ...]:
        """The values of row i itself, None where missing."""
        columns = self.background.features
        return tuple(
            column.combination(value) if column.members else value
            for column, value in zip(columns, self._cells(i), strict=True)
        )

    def _cells(self, i: int) -> list[Any]:
        """As `own`, with the combinations of groups as tuples."""
        return self.background.cells(self.values[i], self.levels)

    @property
    def everything(self) -> NDArray[np.object_]:
        """The values of all rows, as `own` gives them, shape (n, d)."""
        out = np.empty(self.values.shape, dtype=object)
        for k, j in enumerate(self.background.moved_columns):
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
                out[there, k] = array_of(days_text(v, calendar) for v in values)
            else:
                whole = column.integer
                out[there, k] = array_of(int(v) if whole and v.is_integer() else v for v in values)
        return out

    def conditions(self, i: int) -> tuple[str, ...]:
        """What the score of each feature of row i is about, as text: «28 < age ≤ 37», or, of an
        offset, «per +1 SD (12.1) of age». A value that the background lacks is said to be new."""
        background, labels = self.background, self._names
        texts = background.conditions(labels, self.states[i], self._cells(i), self.binned)
        if not self._slopes:
            return texts
        row = zip(texts, self.kept[i].tolist(), self._slopes, strict=True)
        return tuple(text if kept else slope or text for text, kept, slope in row)

    @cached_property
    def _slopes(self) -> tuple[str, ...]:
        """What the score of an offset of each feature is about, as text; "" if it never moves.

        It is empty where no score is about an offset.
        """
        if self.binned or self.by_value:
            return ()
        columns = zip(self._names, self.background.features, strict=True)
        return tuple(c.describe_slope(name) if c.scale > 0 else "" for name, c in columns)

    @property
    def every_condition(self) -> NDArray[np.object_]:
        """The conditions of all rows, as `conditions` gives them, shape (n, d)."""
        out = np.empty(self.values.shape, dtype=object)
        for k, column in enumerate(self.background.features):
            known: dict[Any, str] = {}
            states = self.states[:, k].tolist()
            bins = {s for s in set(states) if not column.names_values(s, self.binned)}
            levels = self.levels.get(self.background.moved_columns[k], ())
            for i, (state, number) in enumerate(
                zip(states, self.values[:, k].tolist(), strict=True)
            ):
                same = state if state in bins or number != number else (state, number)
                if same not in known:
                    known[same] = self.background.condition(
                        k, self._names[k], state, column.value(number, levels), self.binned
                    )
                out[i, k] = known[same]
            if self._slopes and self._slopes[k]:
                out[self.kept[:, k] == 0, k] = self._slopes[k]
        return out

    def contrast(self, i: int) -> Array:
        """How far row i is from the background's mean, in units of the scale; 1 for matches."""
        out = np.ones(self.kept.shape[1])
        for k in np.flatnonzero(self.kept[i] == 0).tolist():
            column = self.background.features[k]
            unchanged = not column.scale > 0
            out[k] = 0.0 if unchanged else column.standardise(self.values[i, k], column.mean)
        return out

    def moves(self, i: int) -> Moves:
        """What the steps of row i stand for."""
        return Moves(tuple(self.space(i).tables), self.values[i], self.background.is_coded)

    @cached_property
    def steps(self) -> tuple[Any, ...]:
        """What determines the offsets of numbers that no bound or rounding changes."""
        numbers = [c for c in self.background.features if c.levels is None]
        return tuple((c.scale > 0, c.scale if c.integer else None) for c in numbers)

    @cached_property
    def bends(self) -> NDArray[np.bool_]:
        """Which offsets are not plain, because bounds or rounding change them, shape (n, d)."""
        return self.background.bends(self.values)

    @cached_property
    def offsets(self) -> Array:
        """The standardised offsets of all moved columns, shape (d, STEPS)."""
        columns = self.background.features
        return np.array([NORMAL if c.levels is not None else c.offsets for c in columns])

    @cached_property
    def normal(self) -> bool:
        """Whether the offsets of all moved columns are plain normal quantiles."""
        return bool((self.offsets == NORMAL).all())

    def inputs(self, rows: Sequence[int], points: Sequence[Points]) -> Any:
        spaces = [self.space(i) for i in rows]
        values = np.concatenate([s.values(p) for s, p in zip(spaces, points, strict=True)])
        index = np.repeat(np.asarray(rows, dtype=np.intp), [len(p) for p in points])
        return self.rows.build(index, self.background.moved_columns, values, self.levels).native


@final
@dataclass(frozen=True, eq=False)
class TableSpace(Space):
    """The perturbations of row i of a table."""

    table: TableInstances
    i: int
    steps: int = STEPS

    @property
    def _steps_kept(self) -> NDArray[np.uint16]:
        return np.asarray(self.table.kept[self.i])

    @cached_property
    def _offsets(self) -> list[int]:
        """The features that are offsets; all others are matches."""
        return np.flatnonzero(self._steps_kept == 0).tolist()

    @cached_property
    def _bent_offsets(self) -> dict[int, Array]:
        """Offsets that depend on the row, because bounds or rounding change them."""
        columns, own = self.table.background.features, self.table.values[self.i]
        return {
            k: columns[k].offsets_from(own[k]) for k in self._offsets if self.table.bends[self.i, k]
        }

    @cached_property
    def law(self) -> Hashable:
        bent = tuple(
            (k, sha256(offsets.tobytes()).digest()) for k, offsets in self._bent_offsets.items()
        )
        return (self._steps_kept.tobytes(), self.table.steps if self._offsets else (), bent)

    @property
    def origin(self) -> Points:
        return np.zeros(len(self._steps_kept), dtype=np.uint16)

    def draw(self, n: int, rng: np.random.Generator) -> Points:
        return np.asarray(self.pools(1, n, rng)[0])

    def pools(self, count: int, n: int, rng: np.random.Generator) -> Points:
        return draw_steps(count, n, len(self._steps_kept), rng)

    def features(self, points: Points, out: Array | None = None) -> Array:
        out = np.empty(points.shape) if out is None else out
        if len(self._offsets) < points.shape[1]:
            np.less(points, self._steps_kept, out=out, casting="unsafe")
        if len(self._offsets) == points.shape[1] and self.table.normal and not self._bent_offsets:
            # Every step is in range. mode="clip" only skips the check.
            return np.take(NORMAL, points, out=out, mode="clip")
        for k in self._offsets:
            table = self._bent_offsets.get(k)
            out[:, k] = (self.table.offsets[k] if table is None else table)[points[:, k]]
        return out

    def values(self, points: Points) -> Array:
        """The numbers and codes that the points stand for, shape (n, d)."""
        return self._moves.ravel().take(points + STEPS * np.arange(points.shape[1]))

    @cached_property
    def tables(self) -> list[Array | None]:
        """The value at each step of each feature but offsets. Rows share these arrays."""
        table, i = self.table, self.i
        return table.background.moves(table.states[i], table.kept[i], table.values[i])

    @cached_property
    def _moves(self) -> Array:
        """The value at each step of each feature, shape (d, STEPS)."""
        own, which = self.table.values[self.i], self._offsets
        out = np.empty((len(own), STEPS))
        for k, values in enumerate(self.tables):
            if values is not None:
                out[k] = values
        if which:
            offsets = self.table.offsets[which]
            for at, k in enumerate(which):
                offsets[at] = self._bent_offsets.get(k, offsets[at])
            out[which] = self.table.background.values_at(own, which, offsets)
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
    sums = values.view(np.uint64) @ odd
    ordered = np.sort(sums)
    if (ordered[1:] != ordered[:-1]).all():
        return np.arange(len(values)), np.ones(len(values), dtype=np.intp)
    rows = values.view(np.dtype((np.void, values.shape[1] * 8)))[:, 0]
    _, first, repeats = np.unique(rows, return_index=True, return_counts=True)
    order = np.argsort(first)
    return first[order], repeats[order]
