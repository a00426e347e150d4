"""A survey: rows that are asked once, and explain every row of a table.

    survey = explainer.survey(rows=4096)
    survey.explain(x)
    survey.explain_many(X)

Reusing perturbations for a batch of predictions is the idea of Shahin (Hasani, Thirumuruganathan,
Koudas and Das, 2021). Here one balanced sequence is reweighted to each row's own law, so that
intervals can be given.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike
from typing import Any, Final, final

import numpy as np

from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.models.native import Task
from eagle.progress import Progress
from eagle.quote import Quote
from eagle.surrogate.reweighted import Reweighted
from eagle.survey.identity import Identity
from eagle.survey.many import explanations
from eagle.survey.plan import Account, Setting, SurveyPlan, checked_rows
from eagle.survey.rows import Drawn, draw, supplement
from eagle.survey.surveyed import Surveyed
from eagle.survey.weigh import Supplement, Weights
from eagle.table.background import Background
from eagle.table.frame import Frame
from eagle.table.rows import Table
from eagle.targets import Target, answers_of
from eagle.types import NOTHING, Array, InputError, ReplyError, Wanted

METHOD: Final = "EAGLE (survey)"
"""The name of the method in explanations."""


@final
@dataclass(frozen=True, eq=False)
class Survey:
    """Rows of a table's law with a model's answers to them, shape (rows, outputs).

    Examples:
        >>> survey = eagle.Explainer(model, X).survey(rows=512)  # asks the model once
        >>> explanations = survey.explain_many(X)  # every row from the same answers
        >>> explanations.scores.shape
        (100, 3)

    An explanation depends on model, background, seed and the rows of the survey alone, never on
    what else is explained. Values that the survey has too seldom are asked in small supplements,
    which every explanation that needs them shares; `account` counts what was asked in all. `pairs`
    says whether one output can be explained against another.
    """

    setting: Setting = field(repr=False)
    drawn: Drawn = field(repr=False)
    answers: Array = field(repr=False)
    account: Account
    note: str = ""
    pairs: bool = True
    known: dict[tuple[int, str], Supplement] = field(default_factory=dict, repr=False)

    # -- what it is -----------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.drawn)

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
    def _understood(self) -> tuple[Task, tuple[Any, ...]]:
        return self.setting.ask.box.understood(self.answers)

    @property
    def task(self) -> Task:
        """ "classification" or "regression"."""
        return self._understood[0]

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The names of the model's outputs."""
        return self._understood[1]

    @property
    def identity(self) -> Identity:
        """Which model answered, and over which background."""
        return self.setting.identity

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
            f"{len(self.drawn.states)} features, {self.account.rows:,} model rows asked>"
        )

    def describe(self) -> str:
        """What it is, what it cost and what answered it, in words, a line each."""
        from eagle.show import surveys

        return surveys.describe(self)

    def _repr_html_(self) -> str:
        from eagle.show import surveys

        return surveys.html(self)

    # -- explaining -----------------------------------------------------------------------------

    def explain(
        self, x: Any, target: Target = None, *, prediction: Any = None, ask: bool = True
    ) -> Explanation:
        """Explain one row. The model is asked for its prediction at x, and for supplements.

        If you give the model's `prediction` at x, as it would answer, only supplements are asked.
        With `ask=False` nothing is asked: the prediction is not known unless it is given, and only
        supplements that were asked before are used.
        """
        given = None if prediction is None else np.reshape(np.asarray(prediction), (1, -1))
        many = self.instances(x, one=True)
        self.check_target(target)
        own = self.asked(many, given, ask, Progress("asked", 0, silent=True))
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
        is. Without a `target` each row is explained about its predicted class.
        """
        many = self.instances(X)
        self.check_target(target)
        line = Progress("asked", len(many), silent=not progress)
        with closing(line):
            own = self.asked(many, predictions, ask, line)
        asked = self._asks(predictions, ask)
        return explanations(many, own, dict(self.known), target, asked, silent=not progress)

    __call__ = explain_many

    def instances(self, X: Any, one: bool = False) -> Surveyed:
        """Rows of a table, as this survey sees them."""
        groups = self.setting.source.groups(X, Wanted(one, self.rows, NOTHING, by_value=False))
        tables = [(group.instances, group.places) for group in groups]
        for instances, _ in tables:
            if not isinstance(instances, Table):
                raise InputError("a survey explains rows of a table")
        many = Surveyed.of(self, [(t, p) for t, p in tables if isinstance(t, Table)], X)
        if one and len(many) != 1:
            raise InputError(f"explain takes one row, but {len(many)} came: use explain_many")
        return many

    def check_target(self, target: Target) -> None:
        """Refuse a target that the survey cannot explain."""
        if target is None:
            return
        answers_of(self.answers[:1], self.outputs, target)
        if isinstance(target, tuple) and not self.pairs:
            raise InputError(
                "a difference of log-odds is explained for one class at a time: give one class, or "
                "leave link='logit' out"
            )

    def _asks(self, given: Any, ask: bool) -> bool:
        """Whether the model is asked for predictions."""
        return given is None and ask and self.setting.ask.can

    def asked(self, many: Surveyed, given: Any, ask: bool, line: Progress) -> Array:
        """The rows' own answers, NaN where not known. Supplements that are needed are asked."""
        if given is not None:
            own = self._given(given, len(many))
        else:
            own = self._predictions(many, line) if self._asks(given, ask) else many.unknown
        if ask and self.setting.ask.can:
            self.supplement(many)
        return own

    def _given(self, predictions: Any, rows: int) -> Array:
        """Predictions that the caller gives, checked like the model's own."""
        box = replace(self.setting.ask.box, task=self.task, outputs=self.outputs)
        try:
            return box.read(predictions, rows)
        except ReplyError as error:
            raise InputError(f"the predictions given do not fit the survey: {error}") from None

    def _predictions(self, many: Surveyed, line: Progress) -> Array:
        out = many.unknown
        for instances, places in many.tables:
            part = partial(_some, instances.rows)
            answers = self.setting.ask.rows(len(instances), part, self.account, line)
            self._check_outputs(answers)
            out[list(places)] = answers
        return out

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
        """Ask the supplements that rows need and that are not known yet."""
        law, silent = self.setting.law, Progress("asked", 0, silent=True)
        for (k, value), (rows, i) in many.needed.items():
            before, state = self.known.get((k, value)), int(many.states[i, k])
            have = 0 if before is None else len(before.drawn)
            if have >= rows:
                continue
            drawn = supplement(self.background, law, rows, self.seed, k, state, value)
            part = many.with_value(i, k, drawn.part(have))
            answers = self.setting.ask.rows(rows - have, part, self.account, silent)
            self._check_outputs(answers)
            kept = answers if before is None else np.concatenate([before.answers, answers])
            unseen = bool(law.draw[k, state] == 0)
            self.known[(k, value)] = Supplement(k, value, unseen, drawn, kept)

    def quote(
        self,
        X: Any,
        *,
        price_per_row: float | None = None,
        seconds_per_call: float | None = None,
    ) -> Quote:
        """What it costs to explain the rows of a table: their predictions, and supplements."""
        many, ask = self.instances(X), self.setting.ask
        like = many.tables[0][0].rows.take([0]).native
        out = ask.quote(len(many), like, price_per_row, seconds_per_call)
        for name, (rows, _) in many.needed.items():
            have = len(self.known[name].drawn) if name in self.known else 0
            if rows > have:
                out += ask.quote(rows - have, like, price_per_row, seconds_per_call)
        return out

    # -- growing --------------------------------------------------------------------------------

    def plan(self, rows: int) -> SurveyPlan:
        """What is still to be asked for a survey of `rows` rows in all: answer it anywhere."""
        if checked_rows(rows) <= self.rows:
            raise InputError(f"the survey has {self.rows:,} rows already: ask for more than these")
        longer = draw(self.background, self.setting.law, rows, self.seed)
        return SurveyPlan(self.setting, longer.part(self.rows), self)

    def longer(self, more: Drawn, answers: Array, account: Account) -> Survey:
        """The survey with the rows that follow it, and their answers."""
        self._check_outputs(answers)
        drawn = draw(self.background, self.setting.law, self.rows + len(more), self.seed)
        total = Account(
            self.account.rows + account.rows,
            self.account.calls + account.calls,
            self.account.seconds + account.seconds,
        )
        every = np.concatenate([self.answers, answers])
        return replace(self, drawn=drawn, answers=every, account=total, known=dict(self.known))

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
        stops when 9 of 10 rows of the `sample`, a table of at least 30 rows, meet the rule.
        """
        from eagle.survey.grow import grown

        return grown(self, checked_rows(rows), until, sample, target, progress)

    # -- other models ---------------------------------------------------------------------------

    def answered_by(self, model: Any, *, progress: bool = True) -> Survey:
        """The same rows, answered by another model, such as a new version of this one."""
        from eagle.survey.compare import answered_by

        return answered_by(self, model, progress)

    def __sub__(self, other: object) -> Survey:
        """What changed from another survey of the same rows to this one.

        It explains the difference of the two models' answers: what changed for whom, and why.
        """
        from eagle.survey.compare import difference

        if not isinstance(other, Survey):
            return NotImplemented
        return difference(self, other)

    # -- files ----------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the survey as JSON with a checksum: no model, no rows of the data, no code."""
        from eagle.files import surveys

        surveys.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], model: Any = None) -> Survey:
        """Read what `save` wrote. A `model`, if given, is asked for predictions and supplements.

        The survey's `note` says if that model is not known to be the one that answered it.
        """
        from eagle.files import surveys

        return surveys.load(path, model)


def _some(rows: Frame, start: int, end: int) -> Any:
    """Rows from one number to another, as the model takes them."""
    return rows.take(range(start, end)).native
