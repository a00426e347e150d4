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
from eagle.table.frame import Frame
from eagle.types import Array, InputError, Points

REMEMBERED = 64
"""So many spaces of a table are kept: as many as are asked in one call by default, and some."""


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Rows to be explained, over a background: their spaces, and the tables the model is asked.

    A point has one coordinate a feature, a step from 0 to 1023, all equally likely. Step 0 is
    the row's own value. In the *binned* view steps below `kept` stay in the row's own bin or
    level, the others leave it, and the feature is 1 or 0. In the *continuous* view a step is a
    normal quantile, the feature the standardised offset; levels and missing numbers match with
    even chances.
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
        if not self.binned:  # a number that is there moves by an offset: it never "matches"
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
        """The space around row i; the last ones are remembered, with what they have worked out."""
        if i not in self._spaces:
            if len(self._spaces) >= REMEMBERED:
                self._spaces.clear()
            self._spaces[i] = TableSpace(self, i)
        return self._spaces[i]

    @cached_property
    def _spaces(self) -> dict[int, TableSpace]:
        return {}

    def names(self, i: int) -> tuple[str, ...]:
        """The features' names; columns that only have a place are x0, x1, …"""
        return self._names

    @cached_property
    def _names(self) -> tuple[str, ...]:
        place = "" if self.rows.named else "x"
        return tuple(f"{place}{self.background.columns[j].name}" for j in self.background.moved)

    def own(self, i: int) -> tuple[Any, ...]:
        """The values of row i itself, None where missing."""
        out: list[Any] = []
        for j, value in zip(self.background.moved, self.values[i].tolist(), strict=True):
            if value != value:
                out.append(None)
            elif j in self.levels:
                out.append(self.levels[j][int(value)])
            else:
                whole = self.background.columns[j].integer and value.is_integer()
                out.append(int(value) if whole else value)
        return tuple(out)

    def conditions(self, i: int) -> tuple[str, ...]:
        """What row i has, in words, a feature each."""
        columns = [self.background.columns[j] for j in self.background.moved]
        parts = zip(columns, self._names, self.states[i], self.own(i), strict=True)
        return tuple(c.describe(name, int(s), v, self.binned) for c, name, s, v in parts)

    def contrast(self, i: int) -> Array:
        """How far row i stands from the background, in each feature's units."""
        out = np.ones(self.kept.shape[1])
        for k in np.flatnonzero(self.kept[i] == 0).tolist():
            column = self.background.columns[self.background.moved[k]]
            still = not column.scale > 0
            out[k] = 0.0 if still else column.standardised(self.values[i, k], column.mean)
        return out

    def subject(self, i: int) -> None:
        return None

    @property
    def row_bytes(self) -> int:
        return 0

    @cached_property
    def steps(self) -> tuple[Any, ...]:
        """What decides the offsets of numbers that nothing stands in the way of."""
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
        """Offsets that depend on the row, since bounds or rounding stand in the way."""
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
            # Every step is in the table: "clip" only says that nobody need check.
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
    """So many draws of n points of d steps each, shape (count, n, d)."""
    # Raw 64-bit output, cut in four: the fastest chance there is, and the one part of numpy's
    # generators whose stream is promised never to change. A draw starts afresh: what the one
    # before left of its last number is not used.
    size = n * d
    each = -(-size // 4)
    raw = np.asarray(rng.bit_generator.random_raw(count * each)).reshape(count, each)
    steps = raw.astype("<u8", copy=False).view("<u2")[:, :size] & np.uint16(STEPS - 1)
    return steps.astype(np.uint16, copy=False).reshape(count, n, d)


def distinct_rows(values: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each row, shape (n, d), comes first, in this order, and how often it comes."""
    values = np.where(np.isnan(values), np.inf, values) + 0.0  # one NaN, one zero
    # Equal rows have equal sums, whatever the machine: these are integers.
    odd = 2 * np.arange(values.shape[1], dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    sums = (values.view(np.uint64) * odd).sum(axis=1)
    ordered = np.sort(sums)
    if (ordered[1:] != ordered[:-1]).all():
        return np.arange(len(values)), np.ones(len(values), dtype=np.intp)
    rows = values.view(np.dtype((np.void, values.shape[1] * 8)))[:, 0]
    _, first, often = np.unique(rows, return_index=True, return_counts=True)
    order = np.argsort(first)
    return first[order], often[order]
