"""Rows of a table as numbers that rows of other tables can be compared with.

A player is a column, or a group of columns. What a player has is a number, or the code of a level;
a group's levels are combinations of its columns' values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from eagle._tables.background import Background
from eagle._tables.column import is_missing, key, places
from eagle._tables.rows import TableInstances
from eagle._values.arrays import Array
from eagle.shapley.layout import Layout

WHOLE: Final = 64
"""A group of at most this many combinations is one column to proxies; of more, each of its
columns is one."""


@final
@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of each player, () for numbers. A larger set begins with the smaller one."""

    each: tuple[tuple[Any, ...], ...]
    coded: tuple[bool, ...]

    @classmethod
    def of(cls, background: Background) -> Levels:
        columns = background.features
        return cls(
            tuple(column.levels or () for column in columns),
            tuple(column.levels is not None for column in columns),
        )

    def and_of(self, tables: Sequence[TableInstances]) -> Levels:
        """With the levels of some tables after those known."""
        each = list(self.each)
        for table in tables:
            for k, j in enumerate(table.background.moved_columns):
                known = places(each[k])
                fresh = [v for v in table.levels.get(j, ()) if key(v) not in known]
                each[k] = (*each[k], *fresh)
        return Levels(tuple(each), self.coded)

    def values(self, table: TableInstances) -> Array:
        """The rows of a table, shape (n, players), in these codes."""
        out = table.values.copy()
        for k, j in enumerate(table.background.moved_columns):
            if self.coded[k]:
                known = places(self.each[k])
                to = [float(known[key(level)]) for level in table.levels[j]]
                out[:, k] = np.array([*to, np.nan])[_codes(out[:, k])]
        return out + 0.0  # so that −0 is 0

    def local(
        self, values: Array, table: TableInstances
    ) -> tuple[Array, dict[int, tuple[Any, ...]]]:
        """Rows in the codes of a table, with its levels and those that it lacks after them."""
        out, levels = values.copy(), dict[int, tuple[Any, ...]]()
        for k, j in enumerate(table.background.moved_columns):
            if self.coded[k]:
                known = places(table.levels[j])
                every, to = list(table.levels[j]), np.full(len(self.each[k]) + 1, np.nan)
                for code in np.unique(_codes(values[:, k])).tolist():
                    if code >= 0:
                        level = self.each[k][code]
                        if known.setdefault(key(level), len(every)) == len(every):
                            every.append(level)
                        to[code] = known[key(level)]
                out[:, k] = to[_codes(values[:, k])]
                levels[j] = tuple(every)
        return out, levels


def _codes(column: Array) -> Any:
    """Codes as places, −1 where missing."""
    return np.where(np.isnan(column), -1.0, column).astype(np.intp)


@final
@dataclass(frozen=True, eq=False)
class Spread:
    """How the players of a table are columns of a `layout`.

    `texts` has, for each column of levels inside a group, the levels that were there.
    """

    layout: Layout
    whole: tuple[bool, ...]
    texts: dict[int, tuple[Any, ...]]

    @classmethod
    def of(cls, levels: Levels, background: Background) -> Spread:
        player, many, whole = list[int](), list[int](), list[bool]()
        texts: dict[int, tuple[Any, ...]] = {}
        for k, column in enumerate(background.features):
            known = levels.each[k]
            whole.append(not column.members or len(known) <= WHOLE)
            if whole[-1]:
                player.append(k)
                many.append(len(known) if levels.coded[k] else 0)
                continue
            for m in range(len(column.members)):
                values = [level[m] for level in known]
                if not all(map(_is_numeric, values)):
                    distinct = {key(v): v for v in values if not is_missing(v)}
                    texts[len(player)] = tuple(distinct.values())
                player.append(k)
                many.append(len(texts.get(len(player) - 1, ())))
        layout = Layout(np.array(player, dtype=np.intp), np.array(many, dtype=np.intp))
        return cls(layout, tuple(whole), texts)

    def columns(self, values: Array, levels: Levels) -> Array:
        """Rows as columns of the layout, shape (n, columns)."""
        out, at = np.empty((len(values), len(self.layout.player))), 0
        for k, whole in enumerate(self.whole):
            if whole:
                out[:, at] = values[:, k]
                at += 1
                continue
            for m in range(len(levels.each[k][0])):
                texts = self.texts.get(at)
                known = None if texts is None else places(texts)
                table = [_number(level[m], known) for level in levels.each[k]]
                out[:, at] = np.array([*table, np.nan])[_codes(values[:, k])]
                at += 1
        return out


def _is_numeric(value: Any) -> bool:
    return is_missing(value) or isinstance(value, bool | int | float)


def _number(value: Any, known: dict[tuple[bool, Any], int] | None) -> float:
    """A value of a group's column as a number: of levels, its place, beyond all for a new one."""
    if is_missing(value):
        return float("nan")
    return float(value) if known is None else float(known.get(key(value), len(known)))
