"""A survey: rows that are asked once, and explain every row of a table.

    survey = explainer.survey(rows=4096)
    survey.explain(x)
    survey.explain_many(X)

Reusing perturbations for a batch of predictions is the idea of Shahin (Hasani, Thirumuruganathan,
Koudas and Das, 2021). Here one balanced sequence is reweighted to each row's own law, so that
intervals can be given.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike
from typing import Any, Final, final

import numpy as np

from eagle._engine.metering import MeteredModel
from eagle._engine.progress import Progress
from eagle._engine.targets import Target, answers_of
from eagle._sources.tables import Tables
from eagle._tables.background import Background
from eagle._tables.rows import TableInstances
from eagle._values.arrays import Array
from eagle._values.checks import check_flags
from eagle._values.difference import Difference, refuse_pair_of
from eagle._values.text import short_repr
from eagle.contracts import NOTHING, Wanted
from eagle.cost import Cost, CostEstimate
from eagle.errors import InputError, ReplyError
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.io import container
from eagle.io.container import Key
from eagle.io.values import Saved
from eagle.kernels import Exponential
from eagle.limit import Meter
from eagle.models.box import Box, SavedBox
from eagle.models.native import Task
from eagle.surrogates.reweighted import Reweighted
from eagle.survey.identity import Identity
from eagle.survey.law import Indices
from eagle.survey.many import explanations
from eagle.survey.plan import Setting, SurveyPlan, check_rows, some_rows
from eagle.survey.rows import Drawn, States, draw, supplement
from eagle.survey.surveyed import Surveyed
from eagle.survey.weigh import Supplement, Weights

METHOD: Final = "survey"
"""The name of the method in explanations."""

BATCH_ROWS: Final = 25_000
"""The most rows of one call of a survey that was read from a file."""


@final
@dataclass(frozen=True, eq=False)
class Survey(Saved):
    """Rows of a table's law with a model's answers to them, shape (rows, outputs).

    Examples:
        >>> survey = eagle.Explainer(model, X).survey(rows=512)  # asks the model once
        >>> explanations = survey.explain_many(X)  # every row from the same answers
        >>> explanations.scores.shape
        (100, 3)

    An explanation depends on model, background, seed and the rows of the survey alone, never on
    what else is explained. Values that the survey has too seldom are asked in small supplements,
    which every explanation that needs them shares; `cost` is what was asked in all. Several threads
    may explain by one survey at once; they take turns where they ask the model.

    The `difference` of two surveys of the same rows, `survey.requery(new_model) - survey`, is a
    survey, too: it explains what changed from one model to the other.
    """

    setting: Setting = field(repr=False)
    drawn: Drawn = field(repr=False)
    answers: Array = field(repr=False)
    meter: Meter = field(repr=False)
    note: str = ""
    difference: Difference | None = None
    known: dict[tuple[int, str], Supplement] = field(default_factory=dict, repr=False)

    # -- what it is -----------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.drawn)

    @property
    def cost(self) -> Cost:
        """What was asked so far: rows, calls, the model's seconds, tokens."""
        return self.meter.cost

    @property
    def seed(self) -> int:
        return self.setting.seed

    @property
    def background(self) -> Background:
        return self.setting.background

    @cached_property
    def weights(self) -> Weights:
        return Weights(self.setting.law, self.drawn.states)

    @cached_property
    def _task_and_outputs(self) -> tuple[Task, tuple[Any, ...]]:
        return self.setting.box.task_and_outputs(self.answers)

    @property
    def task(self) -> Task:
        """ "classification" or "regression"."""
        return self._task_and_outputs[0]

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The names of the model's outputs."""
        return self._task_and_outputs[1]

    @property
    def identity(self) -> Identity:
        """Which model answered, and over which background."""
        return self.setting.identity

    @property
    def pairs(self) -> bool:
        """Whether one output can be explained against another."""
        return self.difference is None or self.difference.pairs

    @property
    def method(self) -> str:
        """The name of the method in explanations."""
        return METHOD

    @property
    def surrogate(self) -> Reweighted:
        return Reweighted(self.weights.evenness)

    def __repr__(self) -> str:
        return (
            f"<Survey of {self.identity.model}: {self.rows:,} rows, "
            f"{len(self.drawn.states)} features, {self.cost.rows:,} model rows asked>"
        )

    def describe(self) -> str:
        """What it is, what it cost and what answered it, in words, a line each."""
        from eagle.display import surveys

        return surveys.describe(self)

    def _repr_html_(self) -> str:
        from eagle.display import surveys

        return surveys.html(self)

    # -- explaining -----------------------------------------------------------------------------

    def explain(
        self, x: Any, target: Target = None, *, prediction: Any = None, ask: bool = True
    ) -> Explanation:
        """Explain one row. The model is asked for its prediction at x, and for supplements.

        If you give the model's `prediction` at x, as it would answer, only supplements are asked.
        With `ask=False` nothing is asked: the prediction is not known unless it is given, and only
        supplements that were asked before are used.

        A difference asks both models, as their surveys would; give the predictions of both as a
        pair, the new model's first.
        """
        check_flags(ask=ask)
        given = None if prediction is None else self._as_table(prediction)
        many = self.instances(x, one=True)
        self.check_target(target)
        own = self.own_answers(many, given, ask, Progress("asked", 0, silent=True))
        return many.explanation(0, own, self.known, target, self._asks(given, ask))

    def explain_many(
        self,
        X: Any,
        target: Target = None,
        *,
        predictions: Any = None,
        ask: bool = True,
        progress: bool = True,
    ) -> Explanations:
        """Explain all rows of a table. The model is asked for their predictions, and supplements.

        If you give the model's `predictions`, only supplements are asked; with `ask=False` nothing
        is. Without a `target` each row is explained about its predicted class; a difference, about
        the first output. The predictions of a difference are a pair, the new model's and the old
        one's.
        """
        check_flags(ask=ask, progress=progress)
        many = self.instances(X)
        self.check_target(target)
        line = Progress("asked", len(many), silent=not progress)
        with closing(line):
            own = self.own_answers(many, predictions, ask, line)
        asked = self._asks(predictions, ask)
        targets = many.targets(own, target)
        return explanations(many, own, dict(self.known), targets, asked, silent=not progress)

    def instances(self, X: Any, one: bool = False) -> Surveyed:
        """Rows of a table, as this survey sees them."""
        groups = self.setting.source.groups(X, Wanted(one, self.rows, NOTHING, by_value=False))
        tables = [
            (g.instances, g.places) for g in groups if isinstance(g.instances, TableInstances)
        ]
        many = Surveyed.of(self, tables, X)
        if one and len(many) != 1:
            raise InputError(f"explain takes one row, but {len(many)} came: use explain_many")
        return many

    def check_target(self, target: Target) -> None:
        """Refuse a target that the survey cannot explain."""
        if target is None:
            return
        answers_of(self.answers[:1], self.outputs, target)
        refuse_pair_of(self.difference, target)

    def _asks(self, given: Any, ask: bool) -> bool:
        """Whether the model is asked for predictions."""
        return given is None and ask and self.setting.has_model

    def own_answers(self, many: Surveyed, given: Any, ask: bool, line: Progress) -> Array:
        """The rows' own answers, NaN where not known. Supplements that are needed are asked."""
        if given is not None:
            own = self._check_predictions(given, len(many))
        else:
            own = self._predictions(many, line) if self._asks(given, ask) else many.unknown
        if ask and self.setting.has_model:
            self.supplement(many)
        return own

    def _as_table(self, prediction: Any) -> Any:
        """The prediction of one row as those of a table of it; of a difference, a pair of them."""
        if self.difference is not None and isinstance(prediction, tuple):
            return tuple(one_row(one) for one in prediction)
        return one_row(prediction)

    def _check_predictions(self, predictions: Any, rows: int) -> Array:
        """Predictions that the caller gives, checked like the model's own."""
        from eagle.survey.compare import differences_given

        box = replace(self.setting.box, task=self.task, outputs=self.outputs)
        try:
            if self.difference is not None:
                return differences_given(self.difference, box, predictions, rows)
            return box.read(predictions, rows)
        except ReplyError as error:
            raise InputError(f"the predictions given do not fit the survey: {error}") from None

    def _predictions(self, many: Surveyed, line: Progress) -> Array:
        out = many.unknown
        for instances, places in many.tables:
            assert isinstance(instances, TableInstances)  # rows from a file are never asked about
            part = partial(some_rows, instances.rows)
            answers = self._ask(len(instances), part, line)
            self._check_outputs(answers)
            out[list(places)] = answers
        return out

    def _ask(self, count: int, inputs: Callable[[int, int], Any], line: Progress) -> Array:
        """The model's answers to rows, within the limit of the survey."""
        with self.meter.turn:
            model = MeteredModel(self.setting.box, self.meter)
            return model.ask_rows(count, inputs, self.setting.batch_rows, line)

    def predict(self, X: Any) -> Array:
        """The model's own answers about many rows, checked, shape (rows, outputs)."""
        return self._predictions(self.instances(X), Progress("asked", 0, silent=True))

    def _check_outputs(self, answers: Array) -> None:
        if answers.shape[1] != self.answers.shape[1]:
            raise InputError(
                f"the model answers with {answers.shape[1]} outputs, but the survey was answered "
                f"with {self.answers.shape[1]}: it is another model"
            )

    def supplement(self, many: Surveyed) -> None:
        """Ask the supplements that rows need and that are not known yet.

        Threads take turns, so that none asks what another one is asking.
        """
        for name, (rows, i) in many.supplements_needed.items():
            if self._has(name) < rows:
                with self.meter.turn:
                    self._ask_supplement(many, name, rows, i)

    def _has(self, name: tuple[int, str]) -> int:
        """How many rows of a supplement are known."""
        known = self.known.get(name)
        return 0 if known is None else len(known.drawn)

    def _ask_supplement(self, many: Surveyed, name: tuple[int, str], rows: int, i: int) -> None:
        """Ask so many rows of a supplement that row i needs, or as many as are not known yet."""
        law, silent, (k, value) = self.setting.law, Progress("asked", 0, silent=True), name
        before, have, state = self.known.get(name), self._has(name), int(many.states[i, k])
        if have < rows:
            drawn = supplement(self.background, law, rows, self.seed, k, state, value)
            part = many.with_value(i, k, drawn.part(have))
            answers = self._ask(rows - have, part, silent)
            self._check_outputs(answers)
            kept = answers if before is None else np.concatenate([before.answers, answers])
            unseen = bool(law.draw[k, state] == 0)
            self.known[(k, value)] = Supplement(k, value, unseen, drawn, kept)

    def estimate_cost(
        self,
        X: Any,
        *,
        price_per_row: float | None = None,
        seconds_per_call: float | None = None,
    ) -> CostEstimate:
        """What it costs to explain the rows of a table: their predictions, and supplements."""
        many, setting = self.instances(X), self.setting
        (first, _), *_ = many.tables
        assert isinstance(first, TableInstances)
        like = first.rows.take([0]).native
        how = {"price_per_row": price_per_row, "seconds_per_call": seconds_per_call}
        out = setting.estimate_cost(len(many), like, **how)
        for name, (rows, _) in many.supplements_needed.items():
            if (have := self._has(name)) < rows:
                out += setting.estimate_cost(rows - have, like, **how)
        return out

    # -- growing --------------------------------------------------------------------------------

    def plan(self, rows: int) -> SurveyPlan:
        """What is still to be asked for a survey of `rows` rows in all: answer it anywhere."""
        self._refuse_difference("grow", "grow both surveys, and subtract them then")
        if check_rows(rows) <= self.rows:
            raise InputError(f"the survey has {self.rows:,} rows already: ask for more than these")
        longer = draw(self.background, self.setting.law, rows, self.seed)
        return SurveyPlan(self.setting, longer.part(self.rows), self)

    def longer(self, more: Drawn, answers: Array, meter: Meter) -> Survey:
        """The survey with the rows that follow it, their answers, and all that was asked."""
        self._check_outputs(answers)
        drawn = draw(self.background, self.setting.law, self.rows + len(more), self.seed)
        every, known = np.concatenate([self.answers, answers]), dict(self.known)
        return replace(self, drawn=drawn, answers=every, meter=meter, known=known)

    def grow(
        self,
        rows: int,
        *,
        until: Any = None,
        sample: Any = None,
        target: Target = None,
        progress: bool = True,
    ) -> Survey:
        """A survey of more rows, which begins with the rows of this one.

        With a rule such as `until=eagle.until.Top(3)` it grows by factors of 2, up to `rows`, and
        stops when 9 of 10 rows of the `sample`, a table of at least 30 rows, meet the rule, or
        where its limit would be crossed.
        """
        from eagle.survey.grow import grow

        check_flags(progress=progress)
        self._refuse_difference("grow", "grow both surveys, and subtract them then")
        return grow(self, check_rows(rows), until, sample, target, progress)

    # -- other models ---------------------------------------------------------------------------

    def requery(self, model: Any, *, name: str | None = None, progress: bool = True) -> Survey:
        """The same rows, answered by another model, such as a new version of this one.

        With a `name`, the model is called so; without one, by its class or function.
        """
        from eagle.survey.compare import requery

        check_flags(progress=progress)
        self._refuse_difference(
            "be answered anew", "let one of its surveys be asked again: requery(model)"
        )
        made = requery(self, model, progress)
        return made if name is None else made.rename(name)

    def rename(self, model: str) -> Survey:
        """The same survey, whose model is called so where it is named, as in differences."""
        if not isinstance(model, str) or not model.strip():
            raise InputError(f"a model's name is a text, not {short_repr(model)}")
        self._refuse_difference("be renamed", "rename its surveys, and subtract them then")
        which = replace(self.identity, model=model.strip())
        return replace(self, setting=replace(self.setting, identity=which))

    def _refuse_difference(self, what: str, remedy: str) -> None:
        if self.difference is not None:
            raise InputError(f"the difference of two surveys cannot {what}: {remedy}")

    def __sub__(self, other: object) -> Survey:
        """What changed from another survey of the same rows to this one.

        It explains the difference of the two models' answers: what changed for whom, and why. Where
        both surveys have their models, it asks both.
        """
        from eagle.survey.compare import difference

        return difference(self, other)

    # -- files ----------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str], *, key: Key = None) -> None:
        """Write the survey as JSON under a digest, or an HMAC with a `key`: no model, no rows of
        the data, no code."""
        container.write(path, container.dump("survey", self, key=key))

    @classmethod
    def load(cls, path: str | PathLike[str], model: Any = None, *, key: Key = None) -> Survey:
        """Read what `save` wrote. A `model`, if given, is asked for predictions and supplements.

        The survey's `note` says if that model is not known to be the one that answered it.
        """
        from eagle.saved.classes import CLASSES
        from eagle.survey.compare import beside

        survey: Survey = container.load(path, CLASSES, key, "survey")
        return survey if model is None else beside(survey, model)

    def to_saved(self) -> dict[str, Any]:
        """What a file keeps: rows, answers, and of the model what it is called."""
        setting, box = self.setting, self.setting.box
        kernel = setting.kernel
        more = [
            (one.column, one.value, one.unseen, one.drawn.states, one.drawn.steps, one.answers)
            for one in self.known.values()
        ]
        return {
            "background": self.background,
            "seed": self.seed,
            "kernel": (kernel.width, kernel.root),
            "box": (self.task, self.outputs, box.margin, box.link),
            "states": self.drawn.states,
            "steps": self.drawn.steps,
            "answers": self.answers,
            "supplements": more,
            "cost": self.cost,
            "identity": self.identity,
            "difference": self.difference,
        }

    @classmethod
    def of_saved(
        cls,
        background: Background,
        seed: int,
        kernel: tuple[float | None, bool],
        box: SavedBox,
        states: States,
        steps: Indices,
        answers: Array,
        supplements: tuple[tuple[int, str, bool, States, Indices, Array], ...],
        cost: Cost,
        identity: Identity,
        difference: Difference | None,
    ) -> Survey:
        """What `to_saved` gave: a survey without a model."""
        task, outputs, margin, link = box
        setting = Setting(
            Tables(background, "binned"),
            Exponential(*kernel),
            seed,
            Box(None, identity.model, task, outputs, margin, link=link),
            BATCH_ROWS,
            None,
            identity,
        )
        d = len(background.moved_columns)
        known = {}
        for column, value, unseen, its_states, its_steps, its_answers in supplements:
            drawn = Drawn.of_saved(background, its_states, its_steps, len(its_answers))
            known[column, value] = Supplement(column, value, unseen, drawn, its_answers)
        if answers.shape[1:] != (len(outputs or ()),) or any(not 0 <= k < d for k, _ in known):
            raise ValueError("its answers do not fit its rows")
        drawn = Drawn.of_saved(background, states, steps, len(answers))
        return cls(setting, drawn, answers, Meter(None, cost), "", difference, known)


def one_row(prediction: Any) -> Array:
    """What a caller gives as the prediction of one row, as a row of outputs."""
    try:
        return np.reshape(np.asarray(prediction), (1, -1))
    except ValueError:
        raise InputError(
            f"a prediction is a number, or one for each output, not {short_repr(prediction)}"
        ) from None
