"""The plan of a survey: its rows, to be answered here or anywhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from eagle.engine.method import Choice, Method
from eagle.kernel import Exponential, euclidean
from eagle.models.box import Box, Steady
from eagle.progress import Progress
from eagle.quote import Quote, check_price, quoted
from eagle.source.tables import Tables
from eagle.survey.identity import Identity, identity
from eagle.survey.law import Indices, RootLaw
from eagle.survey.rows import Drawn, as_table, draw
from eagle.table.background import Background
from eagle.types import Array, InputError, Kind, LimitError, Need, Source, integer
from eagle.until import Budget

if TYPE_CHECKING:
    from eagle.survey.survey import Survey

WIDEST: Final = 1 << 16
"""A column has fewer states than this."""

LEAST: Final = 64
"""Minimum number of rows of a survey."""

MANY: Final = 100_000
"""A survey is suggested if single explanations ask at least this many model rows."""

MOST: Final = 1 << 24
"""Maximum number of rows of a survey."""


@final
@dataclass(frozen=True, eq=False)
class ModelAccess:
    """How a model is asked: its box, the most rows of one call, and a limit on the total cost."""

    box: Box
    batch_rows: int
    limit: Budget | None = None

    @property
    def can(self) -> bool:
        return self.box.function is not None

    def calls(self, count: int) -> list[int]:
        """The number of rows of each call, for `count` rows in all."""
        return [min(self.batch_rows, count - start) for start in range(0, count, self.batch_rows)]

    def refuse(self, count: int, spent: Account) -> None:
        """Refuse `count` more rows if they would cross the limit."""
        if self.limit is None:
            return
        calls = spent.calls + len(self.calls(count))
        why = self.limit.crossed(spent.rows + count, calls, spent.seconds)
        if why is not None:
            raise LimitError(f"{why}, so it was not asked: quote says what is needed")

    def quote(self, count: int, table: Any, price: float | None, seconds: float | None) -> Quote:
        """The cost of `count` rows like those of a table."""
        check_price(price)
        return quoted(
            self.box.function,
            table,
            self.calls(count),
            count,
            seconds_per_call=seconds,
            price_per_row=price,
        )

    def rows(
        self, count: int, inputs: Callable[[int, int], Any], account: Account, line: Progress
    ) -> Array:
        """Answers to `count` rows, in calls of at most `batch_rows`.

        `inputs` makes the table of the rows from one index to another. Each call is added to the
        account at once. An exception that ends the calls early has the answers so far as `answers`.
        """
        self.refuse(count, account)
        ask, paid, end = Steady(self.box), list[Array](), 0
        try:
            for size in self.calls(count):
                start, end = end, end + size
                table, began = inputs(start, end), time.perf_counter()
                paid.append(ask.ask(table, end - start))
                account.pay(end - start, 1, time.perf_counter() - began)
                line.at(end)
        except BaseException as error:
            with suppress(Exception):  # another's exception may take no attributes
                vars(error)["answers"] = np.concatenate(paid) if paid else None
            raise
        return np.concatenate(paid)


@final
@dataclass
class Account:
    """What a survey has cost so far: rows, calls and seconds of the model."""

    rows: int = 0
    calls: int = 0
    seconds: float = 0.0

    def pay(self, rows: int, calls: int = 0, seconds: float = 0.0) -> None:
        """Count what was asked."""
        self.rows += rows
        self.calls += calls
        self.seconds += seconds


@final
@dataclass(frozen=True, eq=False)
class SurveyPlan:
    """The rows of a survey, to be answered anywhere.

    `inputs` is the table to ask, each row once. `before` is the survey that these rows make
    longer; None if they are all of it.
    """

    setting: Setting
    drawn: Drawn
    before: Survey | None = None

    @cached_property
    def inputs(self) -> Any:
        """The rows to ask, in the model's own form."""
        return self.table(self.drawn.distinct[0])

    def table(self, rows: Indices) -> Any:
        """Some of the rows, in the model's own form."""
        return as_table(self.setting.background, self.drawn.values[rows])

    @property
    def rows(self) -> int:
        """How many rows the model is to answer: the price."""
        return len(self.drawn.distinct[0])

    def quote(
        self, *, price_per_row: float | None = None, seconds_per_call: float | None = None
    ) -> Quote:
        """What it costs to answer the plan, before anything is asked."""
        like = self.table(self.drawn.distinct[0][:1])
        return self.setting.ask.quote(self.rows, like, price_per_row, seconds_per_call)

    def first(self, rows: int) -> SurveyPlan:
        """The plan of a shorter survey."""
        return replace(self, drawn=self.drawn.part(0, rows))

    def fit(self, answers: Any) -> Survey:
        """The survey, now that the model has answered: one row of outputs for each input."""
        checked = self.setting.ask.box.read(answers, self.rows)
        return self.answered(checked, Account(self.rows))

    def answered(self, answers: Array, account: Account) -> Survey:
        """The survey from checked answers, shape (rows, outputs)."""
        from eagle.survey.survey import Survey

        every = answers[self.drawn.distinct[1]]
        if self.before is None:
            return Survey(self.setting, self.drawn, every, account)
        return self.before.longer(self.drawn, every, account)

    def __repr__(self) -> str:
        return f"<SurveyPlan of {self.rows:,} rows for {len(self.drawn.states)} features>"


@final
@dataclass(frozen=True, eq=False)
class Setting:
    """What decides a survey besides its answers: the table's source, the kernel and the seed."""

    source: Tables
    kernel: Exponential
    seed: int
    ask: ModelAccess
    identity: Identity

    @property
    def background(self) -> Background:
        return self.source.background

    @cached_property
    def law(self) -> RootLaw:
        return RootLaw.of(self.background, self.kernel)

    def plan(self, rows: int) -> SurveyPlan:
        """The plan of a survey of `rows` rows."""
        return SurveyPlan(self, draw(self.background, self.law, checked_rows(rows), self.seed))


def checked_rows(rows: Any) -> int:
    """A number of rows that a survey can have."""
    count = integer(rows, "rows", LEAST)
    if count > MOST:
        raise InputError(f"a survey has at most {MOST:,} rows, not {count:,}")
    return count


def setting(source: Source, method: Any, seed: int, ask: ModelAccess) -> Setting:
    """The setting of a survey, or an error that says why there can be none here."""
    if not isinstance(source, Tables) or source.view != "binned":
        binned = ", or say view='binned'" if isinstance(source, Tables) else ""
        raise InputError(
            "a survey is for the binned view of a table with data, where rows do not depend on the "
            f"instance: explain one by one{binned}"
        )
    columns = source.background.columns
    frozen = [str(column.name) for column in columns if column.frozen]
    if frozen:
        raise InputError(
            f"a survey cannot keep {', '.join(frozen[:5])}{' …' if len(frozen) > 5 else ''} at "
            "each row's own value, since all rows share its answers: leave freeze out, or explain "
            "row by row"
        )
    for column in columns:
        if len(column.shares) >= WIDEST:
            raise InputError(
                f"column {column.name!r} has {len(column.shares) - 1:,} levels, as identifiers do, "
                f"and a survey takes columns of fewer than {WIDEST:,}: leave it out, or freeze it "
                "and explain row by row"
            )
    kernel = kernel_of(method)
    which = identity(ask.box.function, ask.box.calls_it, source.background)
    return Setting(source.without(frozenset()), kernel, seed, ask, which)


def hint(method: Any, kind: Kind, rows: int, asked: int) -> str:
    """A sentence on what a survey would cost; empty if none can be made, or `asked` < `MANY`.

    Explaining `rows` rows one by one asks up to `asked` rows of the model.
    """
    fits = Need.TABLE in kind.offers and kind.view == "binned"
    if asked < MANY or not fits or not isinstance(method, Choice):
        return ""
    return (
        f"{rows:,} rows cost up to {asked:,} model rows; explainer.survey() asks 4,096 once, and "
        "then one for each row"
    )


def kernel_of(method: Any) -> Exponential:
    """The kernel of a method that a survey can weigh its rows by."""
    kernel = method.kernel if isinstance(method, Method) else Exponential()
    fits = isinstance(kernel, Exponential) and kernel.distance is euclidean
    if isinstance(method, Method | Choice) and isinstance(kernel, Exponential) and fits:
        return kernel
    raise InputError(
        f"a survey explains by the default's kernel, which {method.name} has not: take the default "
        "method"
    )
