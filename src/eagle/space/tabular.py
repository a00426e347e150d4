"""Rows of a table and the perturbations around them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from eagle.space.background import NORMAL, STEPS, Background
from eagle.space.frame import Codes, Frame, Values, plain
from eagle.types import Array, InputError, Points


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Rows to be explained, over a background: their spaces, and the tables the model is asked.

    A point has one coordinate a feature, a step from 0 to 4095, all equally likely. Step 0 is
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
        states = np.empty(values.shape, dtype=np.intp)
        kept = np.empty(values.shape, dtype=np.uint16)
        for k, j in enumerate(self.background.moved):
            column = self.background.columns[j]
            states[:, k] = column.state(values[:, k])
            kept[:, k] = column.matches(states[:, k], even=not self.binned)
            if not self.binned and column.levels is None:
                kept[~np.isnan(values[:, k]), k] = 0  # an offset, not a match
        for name, value in (("values", values), ("levels", levels),
                            ("states", states), ("kept", kept)):  # fmt: skip
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.rows)

    def space(self, i: int) -> TableSpace:
        return TableSpace(self, i)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features' names; columns that only have a place are x0, x1, …"""
        place = "" if self.rows.named else "x"
        return tuple(f"{place}{self.background.columns[j].name}" for j in self.background.moved)

    @cached_property
    def _own(self) -> list[NDArray[np.object_]]:
        return [self.rows.objects(j) for j in self.background.moved]

    def own(self, i: int) -> tuple[Any, ...]:
        """The values of row i itself, None where missing."""
        return tuple(plain(column[i]) for column in self._own)

    def conditions(self, i: int) -> tuple[str, ...]:
        """What row i has, in words, a feature each."""
        columns = [self.background.columns[j] for j in self.background.moved]
        parts = zip(columns, self.names, self.states[i], self.own(i), strict=True)
        return tuple(c.describe(name, int(s), v, self.binned) for c, name, s, v in parts)

    def contrast(self, i: int) -> Array:
        """How far row i stands from the background, in each feature's units."""
        out = np.ones(self.kept.shape[1])
        for k in np.flatnonzero(self.kept[i] == 0):
            column = self.background.columns[self.background.moved[k]]
            still = not column.scale > 0
            out[k] = 0.0 if still else (self.values[i, k] - column.mean) / column.scale
        return out

    @cached_property
    def offsets(self) -> Array:
        """The standardised offsets of all moved columns, shape (d, STEPS)."""
        columns = [self.background.columns[j] for j in self.background.moved]
        return np.array([NORMAL if c.levels is not None else c.offsets for c in columns])

    def moved_to(self, rows: Sequence[int], points: Sequence[Points]) -> list[Array]:
        """The values, numbers and codes, that the points stand for: per row (n, d)."""
        out = [np.empty(p.shape) for p in points]
        for k, j in enumerate(self.background.moved):
            column = self.background.columns[j]
            for values, i, p in zip(out, rows, points, strict=True):
                own, kept, steps = self.values[i, k], int(self.kept[i, k]), p[:, k]
                if kept:
                    moved = column.moves(int(self.states[i, k]), kept)[steps]
                    if column.levels is not None or not self._has_own(i, k):
                        moved[steps < kept] = own
                    moved[steps == 0] = own
                elif column.bounded:
                    moved = own + column.scale * column.offsets_from(own)[steps]
                else:
                    moved = own + column.scale * column.offsets[steps]
                    moved = np.rint(moved) if column.integer else moved
                values[:, k] = moved
        return out

    def _has_own(self, i: int, k: int) -> bool:
        """Whether the background has values in row i's own state of feature k."""
        column = self.background.columns[self.background.moved[k]]
        state = self.states[i, k]
        return bool(state < len(column.values) and len(column.values[state]))

    def inputs(self, rows: Sequence[int], points: Sequence[Points]) -> Any:
        stacked = np.concatenate(self.moved_to(rows, points))
        index = np.repeat(np.asarray(rows, dtype=np.intp), [len(p) for p in points])
        columns: dict[int, Values] = {}
        for k, j in enumerate(self.background.moved):
            values = stacked[:, k]
            if j in self.levels:
                codes = np.where(np.isnan(values), -1.0, values).astype(np.intp)
                columns[j] = Codes(codes, self.levels[j])
            else:
                columns[j] = values
        return self.rows.build(index, columns).native


@final
@dataclass(frozen=True, eq=False)
class TableSpace:
    """The perturbations of row i of a table."""

    table: Table
    i: int

    @property
    def _kept(self) -> NDArray[np.uint16]:
        return np.asarray(self.table.kept[self.i])

    @cached_property
    def _bounded(self) -> dict[int, Array]:
        """Offsets that depend on the row, since bounds stand in the way."""
        background = self.table.background
        return {
            k: background.columns[j].offsets_from(self.table.values[self.i, k])
            for k, j in enumerate(background.moved)
            if not self._kept[k] and background.columns[j].bounded
        }

    @property
    def law(self) -> Hashable:
        own = tuple((k, self.table.values[self.i, k]) for k in self._bounded)
        return (self._kept.tobytes(), own)

    @property
    def origin(self) -> Points:
        return np.zeros(len(self._kept), dtype=np.uint16)

    def draw(self, n: int, rng: np.random.Generator) -> Points:
        # Raw 64-bit output, cut in four: the fastest chance there is, and the one part of
        # numpy's generators whose stream is promised never to change.
        size = n * len(self._kept)
        raw = rng.integers(0, 2**64, size=-(-size // 4), dtype=np.uint64)
        steps = raw.astype("<u8").view("<u2")[:size] % STEPS
        return steps.astype(np.uint16).reshape(n, -1)

    def features(self, points: Points) -> Array:
        kept = self._kept
        out = (points < kept).astype(np.float64)
        for k in np.flatnonzero(kept == 0).tolist():
            table = self._bounded.get(k)
            out[:, k] = (self.table.offsets[k] if table is None else table)[points[:, k]]
        return out

    def distinct(self, points: Points) -> NDArray[np.bool_]:
        """Which rows are the first of their kind: a model asked twice says nothing new."""
        values = self.table.moved_to([self.i], [points])[0]
        values = np.where(np.isnan(values), np.inf, values) + 0.0
        rows = np.ascontiguousarray(values).view(np.dtype((np.void, values.shape[1] * 8)))[:, 0]
        first = np.zeros(len(points), dtype=bool)
        first[np.unique(rows, return_index=True)[1]] = True
        return first
