"""What decides a survey of Shapley values besides its answers, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.setup import Setup
from eagle._sources.tables import Around, Tables, as_fitted
from eagle._tables.background import Background
from eagle._tables.frame import Frame, frame
from eagle._tables.rows import TableInstances
from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.packages import package
from eagle._values.text import short_repr
from eagle.contracts import NOTHING, Source, Wanted
from eagle.errors import InputError
from eagle.models.box import Box
from eagle.shapley.codes import Levels, Spread

LEAST_ROWS: Final = 20
"""Minimum number of rows of a survey: fewer do not teach a proxy."""

MAX_PLAYERS: Final = 200

WHAT: Final = "a survey of Shapley values"


@final
@dataclass(frozen=True, eq=False)
class Setting:
    """A table's source, the model in its `box`, the seed, and the most rows of one call."""

    source: Tables
    box: Box
    seed: int
    batch_rows: int

    @property
    def ground(self) -> Background:
        return self.source.background


@final
@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows of a table, in parts of equal dtypes, each with the places of its rows among all.

    `values`, shape (n, players), are in the codes of `levels`.
    """

    parts: Sequence[tuple[TableInstances, Sequence[int]]]
    values: Array
    levels: Levels

    def __len__(self) -> int:
        return len(self.values)

    @property
    def where(self) -> list[tuple[TableInstances, int]]:
        """The table of each row, and its place there."""
        out: list[Any] = [None] * len(self)
        for table, places in self.parts:
            for i, place in enumerate(places):
                out[place] = table, i
        return out


def read(source: Tables, X: Any, known: Levels, one: bool = False) -> TableRows:
    """The rows of a table. Their levels come after those known."""
    groups = source.groups(X, Wanted(one, 1, NOTHING, by_value=True))
    parts = [(group.instances, group.places) for group in groups]
    tables = [(table, places) for table, places in parts if isinstance(table, TableInstances)]
    levels = known.and_of([table for table, _ in tables])
    values = np.empty((sum(len(table) for table, _ in tables), len(levels.each)))
    for table, places in tables:
        values[list(places)] = levels.values(table)
    return TableRows(tables, values, levels)


def setting_of(setup: Setup, background: Any) -> tuple[Setting, Any]:
    """The setting, and the background as a table; or an error that says what does not fit."""
    package("sklearn", WHAT, "shapley")
    source, count = setup.source, background if _is_count(background) else None
    if not isinstance(source, Tables | Around):
        raise InputError(f"{WHAT} is of the rows of a table: images, texts and series have none")
    if count is not None:
        count = integer(count, "background", 1)
        if not isinstance(source, Tables) or source.rows is None:
            raise InputError(
                "the rows of the background are drawn from the explainer's data, and this one has "
                "none: give background= a table of about 100 rows"
            )
    table = _draw(source, count, setup.seed) if count is not None else background
    if isinstance(source, Around):
        source = _over(source, table)
    ground = source.background
    frozen = [str(column.name) for column in ground.columns if column.frozen]
    if frozen:
        raise InputError(
            f"Shapley values cannot keep {', '.join(frozen[:5])}{' …' if len(frozen) > 5 else ''} "
            "at each row's own value, since each row would have a base value of its own: leave "
            "fixed out, or put these columns into a group with others"
        )
    if len(ground.moved_columns) > MAX_PLAYERS:
        raise InputError(
            f"{WHAT} takes at most {MAX_PLAYERS} features, not {len(ground.moved_columns)}: put "
            "columns "
            "into groups"
        )
    box = replace(setup.box, partial=False)
    bare = source.without(frozenset())
    return Setting(bare, box, setup.seed, setup.batch_rows), table


def _is_count(background: Any) -> bool:
    return isinstance(background, bool | int | float | np.number) or background is None


def _draw(source: Source, count: int, seed: int) -> Frame:
    """Rows of the explainer's data, drawn by the seed without replacement."""
    assert isinstance(source, Tables)
    assert source.rows is not None
    kept = source.rows.copy()
    rng = np.random.Generator(np.random.PCG64([seed, len(kept)]))
    some = np.sort(np.argsort(rng.random(len(kept)), kind="stable")[:count])
    return kept.take(some.tolist()).raw


def _over(source: Around, table: Any) -> Tables:
    """The source over a background table, where the explainer has only scales."""
    said = source.columns
    rows = as_fitted(source.model, frame(table, said.names))
    ground = Background.of(rows, fixed=said.fixed, bounds=said.bounds)
    return Tables(ground, "continuous")


@final
@dataclass(frozen=True, eq=False)
class Ground:
    """The rows of a survey, and those of its background, in the same codes."""

    rows: TableRows
    background: TableRows
    spread: Spread

    @classmethod
    def of(cls, setting: Setting, X: Any, background: Any) -> Ground:
        start = Levels.of(setting.ground)
        behind = read(setting.source, _table(background), start)
        if len(behind.parts) > 1 or not setting.ground.template.conforms(behind.parts[0][0].rows):
            raise InputError(
                "the background holds values that the explainer's data cannot hold, such as a "
                "level that it lacks: make the explainer with data that has them"
            )
        if len(behind) < 1:
            raise InputError("the background has no rows")
        rows = read(setting.source, X, behind.levels)
        if len(rows) < LEAST_ROWS:
            raise InputError(
                f"{WHAT} is of at least {LEAST_ROWS} rows, which learn from one another, and "
                f"{len(rows)} came: give more of the table, and explain the rows you want"
            )
        return cls(rows, behind, Spread.of(rows.levels, setting.ground))

    @property
    def players(self) -> int:
        return int(self.rows.values.shape[1])

    def columns(self, values: Array) -> Array:
        """Rows in the codes of this ground as columns that proxies see."""
        return self.spread.columns(values, self.rows.levels)

    def unchanged_players(self, values: Array) -> NDArray[np.bool_]:
        """Players of rows who have the value of every background row, shape (n, players)."""
        first = self.background.values[0]
        gap = np.isnan(first)
        behind = self.background.values
        constant = np.where(gap, np.isnan(behind).all(axis=0), (behind == first).all(axis=0))
        return np.asarray(constant & np.where(gap, np.isnan(values), values == first))

    def tables(
        self, own: NDArray[np.bool_], other: NDArray[np.intp], batch_rows: int
    ) -> Iterator[tuple[NDArray[np.intp], Any, int]]:
        """The rows to ask: each row mixed with background rows, in tables of at most `batch_rows`.

        `own`, shape (n, k, players), says what is taken of the row, and `other`, shape (n, k),
        which background row the rest is from. With each table come the places of its rows among
        all n × k, and how many there are.
        """
        k = other.shape[1]
        for table, places in self.rows.parts:
            start = table.rows.take([0])
            every = (np.array(places)[:, None] * k + np.arange(k)).ravel()
            for first in range(0, len(every), batch_rows):
                part = every[first : first + batch_rows]
                row, which = part // k, part % k
                behind = self.background.values[other[row, which]]
                mixed = np.where(own[row, which], self.rows.values[row], behind)
                values, levels = self.rows.levels.local(mixed, table)
                zeros = np.zeros(len(part), dtype=np.intp)
                built = start.build(zeros, table.background.moved_columns, values, levels)
                yield part, built.native, len(part)


def _table(background: Any) -> Any:
    error = InputError(
        f"background is a number of rows or a table of them, not {short_repr(background)}"
    )
    if isinstance(background, dict):  # one row
        raise error
    try:
        frame(background)
    except InputError:
        raise error from None
    return background


def own_tables(rows: TableRows, batch_rows: int) -> Iterator[tuple[NDArray[np.intp], Any, int]]:
    """The rows themselves as tables to ask, each with the places of its rows."""
    for table, places in rows.parts:
        for first in range(0, len(places), batch_rows):
            some = range(first, min(first + batch_rows, len(places)))
            yield np.array(places)[list(some)], table.rows.take(some).native, len(some)
