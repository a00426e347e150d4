"""The plan of a survey: its rows, to be answered here or anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, final

from eagle._engine.metering import MeteredModel, sizes_of
from eagle._engine.method import Choice, Method
from eagle._engine.setup import Setup
from eagle._sources.tables import Tables
from eagle._tables.background import Background
from eagle._tables.frame import Frame, frame
from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.difference import Unit
from eagle._values.link import Logit
from eagle.contracts import Kind, Need, Source
from eagle.cost import Cost, CostEstimate, estimate_calls
from eagle.errors import InputError, ReplyError
from eagle.kernels import Exponential, euclidean
from eagle.limit import Limit, Meter
from eagle.models.box import Box
from eagle.survey.identity import Identity, identity
from eagle.survey.law import Indices, RootLaw
from eagle.survey.rows import Drawn, as_table, draw

if TYPE_CHECKING:
    from eagle.survey.survey import Survey

MAX_STATES: Final = 1 << 16
"""A column has fewer states than this."""

MIN_ROWS: Final = 64
"""Minimum number of rows of a survey."""

MANY_MODEL_ROWS: Final = 100_000
"""A survey is suggested if single explanations ask at least this many model rows."""

MAX_ROWS: Final = 1 << 24
"""Maximum number of rows of a survey."""


@final
@dataclass(frozen=True, eq=False)
class ModelSide:
    """A model of a difference: asked as its own survey asks it, on the survey's meter."""

    box: Box
    meter: Meter
    batch_rows: int

    @classmethod
    def of(cls, survey: Any) -> ModelSide:
        """The model of any survey; its answers are read as the survey's are."""
        box = replace(survey.setting.box, task=survey.task, outputs=survey.outputs)
        return cls(box, survey.meter, survey.setting.batch_rows)

    def ask(self, rows: Frame) -> Array:
        """The answers on the scale that is explained, shape (rows, outputs)."""
        model = MeteredModel(self.box, self.meter)
        answers = model.ask_rows(len(rows), partial(some_rows, rows), self.batch_rows)
        return on_scale(answers, self.box.link)

    def refuse(self, rows: Frame) -> None:
        """Refuse rows that would cross the limit of the survey."""
        model = MeteredModel(self.box, self.meter)
        model.refuse_rows(len(rows), partial(some_rows, rows), self.batch_rows)


@final
@dataclass(frozen=True, eq=False)
class BothModels:
    """Two models as one, which answers by the difference of their answers, the new model's first.

    Neither is asked what the other's limit would refuse.
    """

    sides: tuple[ModelSide, ModelSide]

    def __call__(self, table: Any) -> Array:
        rows = frame(table)
        for side in self.sides:
            side.refuse(rows)
        one, other = (side.ask(rows) for side in self.sides)
        if one.shape != other.shape:
            raise ReplyError(
                f"one model answered with {one.shape[1]} outputs, the other with {other.shape[1]}"
            )
        return one - other

    def through(self, gate: Callable[[Any], Any]) -> BothModels:
        """The same, each model asked through a gate."""
        one, other = (
            replace(side, box=replace(side.box, function=gate(side.box.function)))
            for side in self.sides
        )
        return BothModels((one, other))


def on_scale(answers: Array, link: Logit | None) -> Array:
    """Answers on the scale that is explained."""
    return answers if link is None else link.of(answers)


def unit_of(box: Box, task: str) -> Unit:
    """What the answers of a model are."""
    if box.link is not None:
        return "log-odds"
    if task == "regression":
        return "answer"
    return "decision value" if box.margin else "probability"


def some_rows(rows: Frame, start: int, end: int) -> Any:
    """A copy of rows from one number to another, as a model takes them."""
    return rows.take(range(start, end)).native


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

    def estimate_cost(
        self,
        *,
        price_per_row: float | None = None,
        price_per_1000_tokens: float | None = None,
        seconds_per_call: float | None = None,
    ) -> CostEstimate:
        """What it costs to answer the plan, before anything is asked."""
        return self.setting.estimate_cost(
            self.rows,
            self.table(self.drawn.distinct[0][:1]),
            price_per_row=price_per_row,
            price_per_1000_tokens=price_per_1000_tokens,
            seconds_per_call=seconds_per_call,
        )

    def first(self, rows: int) -> SurveyPlan:
        """The plan of a shorter survey."""
        return replace(self, drawn=self.drawn.part(0, integer(rows, "rows", 1)))

    def fit(self, answers: Any) -> Survey:
        """The survey, now that the model has answered: one row of outputs for each input."""
        checked = self.setting.box.read(answers, self.rows)
        spent = self.cost_before + Cost(self.rows)
        return self.survey_of(checked, Meter(self.setting.limit, spent))

    @property
    def cost_before(self) -> Cost:
        """The cost of the survey that these rows make longer."""
        return Cost() if self.before is None else self.before.cost

    def survey_of(self, answers: Array, meter: Meter) -> Survey:
        """The survey from checked answers, shape (rows, outputs), and all that was asked for it."""
        from eagle.survey.survey import Survey

        every = answers[self.drawn.distinct[1]]
        if self.before is None:
            return Survey(self.setting, self.drawn, every, meter)
        return self.before.longer(self.drawn, every, meter)

    def __repr__(self) -> str:
        return f"<SurveyPlan of {self.rows:,} rows for {len(self.drawn.states)} features>"


@final
@dataclass(frozen=True, eq=False)
class Setting:
    """What decides a survey besides its answers: the table's source, the kernel and the seed.

    The model is in its `box`. No call has more than `batch_rows` rows, and the `limit` is on all
    that is ever asked for the survey.
    """

    source: Tables
    kernel: Exponential
    seed: int
    box: Box
    batch_rows: int
    limit: Limit | None
    identity: Identity

    @property
    def background(self) -> Background:
        return self.source.background

    @property
    def has_model(self) -> bool:
        """Whether there is a model to ask."""
        return self.box.function is not None

    @cached_property
    def law(self) -> RootLaw:
        return RootLaw.of(self.background, self.kernel)

    def estimate_cost(
        self,
        count: int,
        table: Any,
        *,
        price_per_row: float | None,
        seconds_per_call: float | None,
        price_per_1000_tokens: float | None = None,
    ) -> CostEstimate:
        """The cost of asking `count` rows like those of a table."""
        function = self.box.function
        sides: Sequence[Setting | ModelSide] = (self,)
        if isinstance(function, BothModels):
            sides = function.sides
        first, *others = (
            estimate_calls(
                side.box.remote,
                table,
                sizes_of(count, side.batch_rows),
                count,
                seconds_per_call=seconds_per_call,
                price_per_row=price_per_row,
                price_per_1000_tokens=price_per_1000_tokens,
            )
            for side in sides
        )
        return sum(others, first)

    def plan(self, rows: int) -> SurveyPlan:
        """The plan of a survey of `rows` rows."""
        return SurveyPlan(self, draw(self.background, self.law, check_rows(rows), self.seed))


def check_rows(rows: Any) -> int:
    """A number of rows that a survey can have."""
    count = integer(rows, "rows", MIN_ROWS)
    if count > MAX_ROWS:
        raise InputError(f"a survey has at most {MAX_ROWS:,} rows, not {count:,}")
    return count


def setting(setup: Setup, limit: Limit | None) -> Setting:
    """The setting of a survey, or an error that says why there can be none here."""
    table, kernel = table_of(setup.source), kernel_of(setup.method)
    which = identity(setup.box.function, setup.box.calls_it, table.background)
    bare = table.without(frozenset())
    return Setting(bare, kernel, setup.seed, setup.box, setup.batch_rows, limit, which)


def table_of(source: Source) -> Tables:
    """The source, if a survey can be made over it; otherwise an error that says why not."""
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
            "each row's own value, since all rows share its answers: leave fixed out, or explain "
            "row by row"
        )
    for column in columns:
        if len(column.shares) >= MAX_STATES:
            raise InputError(
                f"column {column.name!r} has {len(column.shares) - 1:,} levels, as identifiers do, "
                f"and a survey takes columns of fewer than {MAX_STATES:,}: leave it out, or "
                "name it in fixed and explain row by row"
            )
    return source


def hint(method: Any, kind: Kind, rows: int, asked: int) -> str:
    """A sentence on what a survey would cost; empty if none can be made, or `asked` <
    `MANY_MODEL_ROWS`.

    Explaining `rows` rows one by one asks up to `asked` rows of the model.
    """
    fits = Need.TABLE in kind.offers and kind.view == "binned"
    if asked < MANY_MODEL_ROWS or not fits or not isinstance(method, Choice):
        return ""
    return (
        f"{rows:,} rows cost up to {asked:,} model rows; explainer.survey() asks 4,096 once, and "
        "then one for each row"
    )


def comparing(source: Source, method: Any) -> list[str]:
    """A line on how two models are compared, where a survey can be made."""
    try:
        table_of(source), kernel_of(method)
    except InputError:
        return []
    return [
        "Two models: survey = explainer.survey(); (survey.requery(new_model) - survey)"
        ".explain_many(X) explains what changed"
    ]


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
