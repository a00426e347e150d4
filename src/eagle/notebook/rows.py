"""The rows of a table one by one, as values that a page can edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypedDict, final

import numpy as np

from eagle.explanations import row_ids
from eagle.table.column import is_missing, plain
from eagle.types import InputError, finite, short, told

SEEN: Final = 2000
"""Number of rows, evenly spread, that give the range and the levels of a column."""

LEVELS: Final = 60
"""A column with more levels than this cannot be edited."""


class ViewField(TypedDict):
    """A column that can be edited: a number in a range, or one of some levels."""

    name: str
    kind: str
    low: float | None
    high: float | None
    step: float | None
    levels: list[str]


@final
@dataclass(frozen=True, eq=False)
class ViewRows:
    """Rows of a table, by number. What is no table, such as texts, has rows but no columns."""

    given: Any
    count: int
    names: tuple[Any, ...] | None

    @classmethod
    def of(cls, X: Any) -> ViewRows:
        """A table of any kind, or a sequence of images or texts."""
        if isinstance(X, Mapping | str) or not hasattr(X, "__len__"):
            raise InputError(f"a view is of several rows: give a table or a list, not {told(X)}")
        count = len(X)
        if not count:
            raise InputError("there are no rows to look at")
        columns = getattr(X, "columns", getattr(X, "column_names", None))
        if columns is not None:
            names: tuple[Any, ...] | None = tuple(getattr(X, "column_names", columns))
        elif isinstance(X, np.ndarray) and X.ndim == 2:
            names = tuple(range(X.shape[1]))
        else:
            names = None
        return cls(X, count, names)

    @property
    def labels(self) -> list[str]:
        """What rows are called."""
        return [short(str(one), 60) for one in row_ids(self.given, self.count)]

    def one(self, i: int) -> Any:
        """Row i: a dictionary of its values, a list of them, or the thing itself."""
        if not 0 <= i < self.count:
            raise InputError(f"there is no row {i}: there are rows 0 to {self.count - 1}")
        if self.names is None:
            return self.given[i]
        if isinstance(self.given, np.ndarray):
            return self.given[i].tolist()
        return dict(zip(self.names, self._values(i), strict=True))

    def _values(self, i: int) -> list[Any]:
        if hasattr(self.given, "iloc"):
            return [self.given[name].iloc[i] for name in self.names or ()]
        if hasattr(self.given, "column_names"):  # pyarrow's
            return [self.given[name][i].as_py() for name in self.names or ()]
        return [self.given[name][i] for name in self.names or ()]

    def edited(self, i: int, edits: Mapping[int, Any]) -> Any:
        """Row i with other values in some columns, by their number."""
        row = self.one(i)
        for place, value in edits.items():
            if self.names is None or not 0 <= place < len(self.names):
                raise InputError(f"there is no column {place} to edit")
            row[self.names[place] if isinstance(row, dict) else place] = value
        return row

    def values(self, i: int) -> list[Any]:
        """The values of row i, by column; nothing where there are no columns."""
        if self.names is None:
            return []
        row = self.one(i)
        return list(row.values()) if isinstance(row, dict) else list(row)

    def columns(self) -> list[ViewColumn]:
        """The columns that can be edited."""
        if self.names is None:
            return []
        some = np.unique(np.linspace(0, self.count - 1, min(self.count, SEEN)).astype(int))
        every = [self.values(int(i)) for i in some]
        return [
            ViewColumn.of(j, name, [row[j] for row in every]) for j, name in enumerate(self.names)
        ]


@final
@dataclass(frozen=True, eq=False)
class ViewColumn:
    """A column: its number and name, and its levels or its range."""

    place: int
    name: str
    kind: str
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    levels: tuple[Any, ...] = ()

    @classmethod
    def of(cls, place: int, name: Any, values: Sequence[Any]) -> ViewColumn:
        called = f"x{name}" if isinstance(name, int) else short(str(name), 80)
        known = [plain(value) for value in values if not is_missing(value)]
        if known and all(finite(value) for value in known):
            whole = all(float(value).is_integer() for value in known)
            low, high = float(min(known)), float(max(known))
            return cls(place, called, "number", low, high, whole)
        levels = tuple(dict.fromkeys(known))
        simple = all(isinstance(level, str | bool) for level in levels)
        if not simple or not 2 <= len(levels) <= LEVELS:
            return cls(place, called, "fixed")
        return cls(place, called, "level", levels=tuple(sorted(levels, key=str)))

    @property
    def field(self) -> ViewField:
        """The column as plain data."""
        number = self.kind == "number"
        step = 1.0 if self.whole else (self.high - self.low) / 100 or 1.0
        return {
            "name": self.name,
            "kind": self.kind,
            "low": self.low if number else None,
            "high": self.high if number else None,
            "step": step if number else None,
            "levels": [short(str(level), 60) for level in self.levels],
        }

    def sent(self, value: Any) -> Any:
        """A value for the page: a number, the place of a level, or a text; None where missing."""
        if is_missing(value):
            return None
        own = plain(value)
        if self.kind == "number":
            return float(own)
        if self.kind == "level":
            return self.levels.index(own) if own in self.levels else None
        return short(str(own), 60)

    def received(self, value: Any) -> Any:
        """A value that the page sent, as the table has it."""
        if self.kind == "number" and finite(value):
            return int(value) if self.whole and float(value).is_integer() else float(value)
        if self.kind == "level" and type(value) is int and 0 <= value < len(self.levels):
            return self.levels[value]
        raise InputError(f"{told(value)} is no value that {self.name} can have")
