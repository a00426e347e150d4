"""Rows of a table on the page: their labels, their fields, and rows with other values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables.background import Background, Column
from eagle._tables.column import array_of
from eagle._tables.groups import GroupedFrame
from eagle._tables.read import frame
from eagle._tables.rows import TableInstances
from eagle._values.text import clean, finite, short, short_repr, whole_number
from eagle.errors import InputError
from eagle.explanations import row_ids
from eagle.web.find import Indices, find
from eagle.web.rows import MAX_LABEL, EditField, Rows

MAX_LEVELS: Final = 500
"""Maximum number of levels of a column that can be edited."""


@final
class TableRows(Rows):
    """Rows of a table over the background of its explainer."""

    kind = "table"

    def __init__(self, background: Background, X: Any) -> None:
        self._ground = background
        framed = frame(X)
        if not len(framed):
            raise InputError("the page shows a table with at least one row")
        self._frame = background.adopt(framed)
        self._raw = self._frame.raw
        self._names = [clean(str(name)) for name in row_ids(X, len(framed))]
        self._moved = list(background.moved_columns)
        self.fields = [self._field(k, j) for k, j in enumerate(self._moved)]
        self._read: dict[int, NDArray[np.object_]] = {}

    def __len__(self) -> int:
        return len(self._names)

    def label(self, i: int) -> str:
        return short(self._names[i], MAX_LABEL)

    # -- fields ---------------------------------------------------------------------------------

    def _field(self, k: int, j: int) -> EditField:
        """The k-th field, which edits column j."""
        column = self._ground.columns[j]
        kind = "number"
        levels: list[str] = []
        if column.levels is not None:
            kind = "level" if len(column.levels) <= MAX_LEVELS else "fixed"
            shown = map(column.combination, column.levels) if column.members else column.levels
            levels = [short(str(level), MAX_LABEL) for level in shown][:MAX_LEVELS]
        elif column.calendar is not None:
            kind = "fixed" if column.calendar == "duration" else "date"
        place = "" if self._frame.named or column.members else "x"
        return EditField(
            str(k),
            short(f"{place}{column.name}", 2 * MAX_LABEL),
            kind,
            tuple(levels),
            column.low if math.isfinite(column.low) else None,
            column.high if math.isfinite(column.high) else None,
            _step(column),
            bool(len(column.shares) and column.shares[-1] > 0),
        )

    def values(self, i: int) -> list[Any]:
        """The values of row i as they are edited: numbers, places of levels, texts; None where
        missing."""
        return [self._value(k, cell) for k, cell in enumerate(self._own(self.check(i)))]

    def _value(self, k: int, cell: Any) -> Any:
        field = self.fields[k]
        if cell is None:
            return None
        if field.kind == "level":
            shown = short(str(cell), MAX_LABEL)
            return field.levels.index(shown) if shown in field.levels else shown
        if field.kind == "number":
            return float(cell)
        return str(cell)

    def _own(self, i: int) -> tuple[Any, ...]:
        return TableInstances(self._ground, self._frame.take([i]), bool(self._ground.rows)).own(0)

    # -- rows -----------------------------------------------------------------------------------

    def row(self, i: int, edits: Mapping[str, Any]) -> Any:
        own = self._raw.take([self.check(i)])
        if not edits:
            return own.native
        row = [own.objects(p)[0] for p in range(len(own.names))]
        for key, value in edits.items():
            k = whole_number(key)
            if k is None or k >= len(self._moved):
                raise InputError(f"there is no field {short_repr(key)}")
            self._edit(row, k, value)
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

    def take(self, places: Sequence[int]) -> Any:
        return self._raw.take(list(places)).native

    # -- search ---------------------------------------------------------------------------------

    def search(self, words: str) -> Indices:
        return find(words, len(self), [str(name) for name in self._raw.names], self._cells)

    def _cells(self, k: int) -> NDArray[np.object_]:
        if k not in self._read:
            self._read[k] = array_of(self._names) if k < 0 else self._raw.objects(k)
        return self._read[k]


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
    name = field.name
    if value is None or value == "":
        if column.members:
            raise InputError(f"{name} cannot be left empty")
        return None
    if field.kind == "fixed":
        raise InputError(f"{name} cannot be changed here")
    if field.kind == "level":
        levels = column.levels or ()
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(levels):
            raise InputError(f"{name} has no level number {short_repr(value)}")
        return levels[value]
    if field.kind == "date":
        return _date(value, column, name)
    if not finite(value):
        raise InputError(f"{name} is a number, not {short_repr(value)}")
    return int(value) if column.integer and float(value).is_integer() else float(value)


def _date(value: Any, column: Column, name: str) -> Any:
    try:
        read = datetime.fromisoformat(str(value))
    except ValueError:
        raise InputError(f"{name} is a date such as 2026-01-31, not {short_repr(value)}") from None
    if column.calendar == "date":
        return date(read.year, read.month, read.day)
    if column.calendar == "moment" and read.tzinfo is None:
        return read.replace(tzinfo=UTC)
    return read
