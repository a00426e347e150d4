"""Rows of a table on the page: their labels, their fields, and rows with other values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle.table.background import Background, Column
from eagle.table.column import array_of
from eagle.table.frame import frame
from eagle.table.groups import GroupedFrame
from eagle.table.rows import Table
from eagle.types import InputError, short, told
from eagle.web.find import Indices, find
from eagle.web.shelf import LABEL, EditField, Shelf, names_of

MOST_LEVELS: Final = 500
"""Maximum number of levels of a column that can be edited."""

SHOWN: Final = 3
"""Number of values in the label of a row that has no name of its own."""


@final
class TableRows(Shelf):
    """Rows of a table over the background of its explainer."""

    def __init__(self, background: Background, X: Any) -> None:
        self._ground = background
        framed = frame(typical(background) if X is None else X)
        if not len(framed):
            raise InputError("the page shows a table with at least one row")
        self._frame = background.adopt(framed)
        self._raw = self._frame.raw
        self._names = names_of(X, len(framed)) if X is not None else ["a typical row"]
        self._moved = list(background.moved)
        self._read: dict[int, NDArray[np.object_]] = {}

    @property
    def kind(self) -> str:
        return "table"

    def __len__(self) -> int:
        return len(self._names)

    def label(self, i: int) -> str:
        return short(self._names[i], LABEL)

    # -- fields ---------------------------------------------------------------------------------

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The names of the features, as explanations have them."""
        place = "" if self._frame.named else "x"
        columns = [self._ground.columns[j] for j in self._moved]
        return tuple(f"{'' if c.members else place}{c.name}" for c in columns)

    @cached_property
    def fields(self) -> list[EditField]:
        return [
            self._field(k, self._ground.columns[j], title)
            for k, (j, title) in enumerate(zip(self._moved, self.titles, strict=True))
        ]

    def _field(self, k: int, column: Column, title: str) -> EditField:
        kind = "number"
        levels: list[str] = []
        if column.levels is not None:
            kind = "level" if len(column.levels) <= MOST_LEVELS else "fixed"
            shown = map(column.combination, column.levels) if column.members else column.levels
            levels = [short(str(level), LABEL) for level in shown][:MOST_LEVELS]
        elif column.calendar is not None:
            kind = "fixed" if column.calendar == "duration" else "date"
        return {
            "key": str(k),
            "name": short(title, 2 * LABEL),
            "kind": kind,
            "levels": levels,
            "integer": column.integer,
            "low": column.low if math.isfinite(column.low) else None,
            "high": column.high if math.isfinite(column.high) else None,
            "step": _step(column),
            "missing": bool(len(column.shares) and column.shares[-1] > 0),
        }

    def values(self, i: int) -> list[Any]:
        """The values of row i as they are edited: numbers, places of levels, texts; None where
        missing."""
        return [self._value(k, cell) for k, cell in enumerate(self._own(self.check(i)))]

    def _value(self, k: int, cell: Any) -> Any:
        field = self.fields[k]
        if cell is None:
            return None
        if field["kind"] == "level":
            shown = short(str(cell), LABEL)
            return field["levels"].index(shown) if shown in field["levels"] else shown
        if field["kind"] == "number":
            return float(cell)
        return str(cell)

    def _own(self, i: int) -> tuple[Any, ...]:
        return Table(self._ground, self._frame.take([i]), bool(self._ground.rows)).own(0)

    # -- rows -----------------------------------------------------------------------------------

    def one(self, i: int, edits: Mapping[str, Any]) -> Any:
        own = self._raw.take([self.check(i)])
        if not edits:
            return own.native
        row = [own.objects(p)[0] for p in range(len(own.names))]
        for key, value in edits.items():
            if not key.isdigit() or int(key) >= len(self._moved):
                raise InputError(f"there is no field {told(key)}")
            self._edit(row, int(key), value)
        if not self._raw.named:
            return array_of(row)[None]
        return dict(zip(self._raw.names, row, strict=True))

    def _edit(self, row: list[Any], k: int, value: Any) -> None:
        j = self._moved[k]
        column, field = self._ground.columns[j], self.fields[k]
        grouped = self._frame
        places = grouped.places(j) if isinstance(grouped, GroupedFrame) else [j]
        made = _read(value, column, field)
        if column.members:
            for place, part in zip(places, made, strict=True):
                row[place] = part
        else:
            row[places[0]] = made

    def some(self, places: Sequence[int]) -> Any:
        return self._raw.take(list(places)).native

    # -- search ---------------------------------------------------------------------------------

    def search(self, words: str) -> Indices:
        return find(words, len(self), self._searched, self._cells)

    @cached_property
    def _searched(self) -> list[str]:
        return [str(name) for name in self._raw.names]

    def _cells(self, k: int) -> NDArray[np.object_]:
        if k not in self._read:
            self._read[k] = array_of(self._names) if k < 0 else self._raw.objects(k)
        return self._read[k]


def typical(background: Background) -> Any:
    """One row of the middle of each number and the most frequent level."""
    if background.template.raw is not background.template or any(
        column.frozen for column in background.columns
    ):
        raise InputError("the page needs rows to show: give X, a table like the data")
    row = [_middle(column) for column in background.columns]
    if not background.template.named:
        return array_of(row)[None]
    return dict(zip(background.template.names, row, strict=True))


def _middle(column: Column) -> Any:
    if column.levels is not None:
        return column.levels[int(np.argmax(column.shares[:-1]))]
    if column.calendar is not None:
        raise InputError("the page needs rows to show: give X, a table like the data")
    present = np.sort(np.concatenate(column.values[:-1]))
    return float(present[len(present) // 2])


def _step(column: Column) -> float | None:
    """A round step for a number: about a fiftieth of its spread."""
    if column.levels is not None or column.calendar is not None:
        return None
    if column.integer:
        return 1.0
    if not column.scale > 0:
        return None
    return float(10.0 ** math.floor(math.log10(column.scale / 5)))


def _read(value: Any, column: Column, field: EditField) -> Any:
    """What a field's new value means to the model."""
    name = field["name"]
    if value is None or value == "":
        if column.members:
            raise InputError(f"{name} cannot be left empty")
        return None
    if field["kind"] == "fixed":
        raise InputError(f"{name} cannot be changed here")
    if field["kind"] == "level":
        levels = column.levels or ()
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(levels):
            raise InputError(f"{name} has no level number {told(value)}")
        return levels[value]
    if field["kind"] == "date":
        return _date(value, column, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{name} is a number, not {told(value)}")
    return int(value) if column.integer and float(value).is_integer() else float(value)


def _date(value: Any, column: Column, name: str) -> Any:
    try:
        read = datetime.fromisoformat(str(value))
    except ValueError:
        raise InputError(f"{name} is a date such as 2026-01-31, not {told(value)}") from None
    if column.calendar == "date":
        return date(read.year, read.month, read.day)
    if column.calendar == "moment" and read.tzinfo is None:
        return read.replace(tzinfo=UTC)
    return read


__all__ = ["TableRows", "typical"]
