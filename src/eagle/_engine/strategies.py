"""How a plan is asked when not at once: in growing parts until a rule is met, or by the answers.

The third strategy, one batch, is in `pipeline`, with their contract `QueryStrategy`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.metering import Share
from eagle._engine.plan import Plan, PlannedRows, has_answer
from eagle._engine.planning import Planner
from eagle._values.arrays import Array, Points, Range
from eagle.contracts import Adaptive, Need, Rows, Seen, Space
from eagle.errors import InputError
from eagle.until import Look, Rule, looks

Aim: TypeAlias = Callable[[Array], tuple[Array, Range]]
"""A function from answers, shape (n, outputs), to the numbers to explain and their bounds."""

PlanOf: TypeAlias = Callable[[PlannedRows], Plan]
"""A function that makes the plan of an instance from its rows."""

Watch: TypeAlias = Callable[[Look, float], None]
"""A function that is called at every look, with a forecast of the total number of rows."""

MAX_IDLE_ROUNDS: Final = 3
"""Rounds without a new point after which a design is done: a small space may have no more."""


@final
@dataclass(eq=False)
class UntilRule:
    """Longer and longer parts of one plan, until a rule is met.

    Plans are nested, so each part begins with the part before, and only its new rows are asked.
    `share` is what the model has taken for this instance. `show` is given the strategy itself at
    every look, with a forecast of the total number of rows.
    """

    planner: Planner
    space: Space
    plan_of: PlanOf
    aim: Aim
    rule: Rule
    watch: Watch | None
    share: Share
    show: Callable[[UntilRule, float], None] | None = None
    plan: Plan = field(init=False)
    answers: Array = field(default_factory=lambda: np.empty((0, 1)))
    calls: int = 0
    stop_reason: str = ""
    _look: int = 0
    _lengths: list[int] = field(init=False)

    def __post_init__(self) -> None:
        method = self.planner.method
        if not method.nested:
            raise InputError(f"{method.name} needs {Need.WHOLE.value}: leave out until")
        self._lengths = looks(len(self.space.origin), self.planner.budget)
        self.plan = self.plan_of(self._plan_rows(self._lengths[0]))
        _refuse_unsure(method.name, self.plan.planned)

    def _plan_rows(self, rows: int) -> PlannedRows:
        (planned,) = replace(self.planner, budget=rows).plan([self.space])
        return planned

    def next(self) -> Points:
        while not self.stop_reason:
            fresh = self.plan.planned.points[len(self.answers) :]
            if len(fresh):
                return fresh
            self._decide()  # a small space: the longer plan has no new rows
        return self.plan.planned.points[:0]

    def take_answers(self, reply: Array, calls: int) -> None:
        self.answers = np.concatenate([self.answers, reply]) if self.calls else reply
        self.calls += calls
        self._decide()

    def halt(self, why: str, late: Array) -> None:
        self.answers = np.concatenate([self.answers, late]) if len(late) else self.answers
        low = self._lengths[self._look - 1]
        high = self._lengths[self._look] - 1 if len(late) else low
        while low < high:  # back to the longest plan whose rows were all answered
            middle = -(-(low + high) // 2)
            fits = len(self._plan_rows(middle).points) <= len(self.answers)
            low, high = (middle, high) if fits else (low, middle - 1)
        self.plan, self.stop_reason = replace(self.plan, planned=self._plan_rows(low)), why
        self.answers = self.answers[: self.plan.rows]

    def _decide(self) -> None:
        """Stop here, or go on with a longer plan."""
        planned, answers = self.plan.planned.drop_unanswered(self.answers, self.plan.surrogate)
        sure = planned.fitter.fit(*self.aim(answers)).posterior
        rows, why = len(self.answers), None
        if sure is not None:  # it is None where too many rows have no answer: see `_refuse_unsure`
            look = Look(sure, rows, self.calls, self.share.seconds, len(self._lengths))
            why = self.rule.reason_to_stop(look)
            if self.watch is not None:
                self.watch(look, self.rule.rows(look))
            if self.show is not None:
                self.show(self, self.rule.rows(look))
        self._look += 1
        if why is None and self._look == len(self._lengths):
            why = f"all {rows} rows were asked before the rule was met"
        if why is not None:
            self.stop_reason = why
        else:
            self.plan = replace(self.plan, planned=self._plan_rows(self._lengths[self._look]))


@final
@dataclass(eq=False)
class ByAnswers:
    """An adaptive design: what is asked next depends on the answers so far.

    `_chosen` are all points chosen, and `_first` the places of those that were asked: a point that
    is chosen again is not asked again, but its weight grows.
    """

    planner: Planner
    design: Adaptive
    space: Space
    plan_of: PlanOf
    aim: Aim
    answers: Array = field(default_factory=lambda: np.empty((0, 1)))
    calls: int = 0
    stop_reason: str = ""
    _rng: np.random.Generator = field(init=False)
    _chosen: Points = field(init=False)
    _first: NDArray[np.intp] = field(init=False)
    _repeats: NDArray[np.intp] = field(init=False)
    _features: Array = field(init=False)
    _weight: Array = field(init=False)
    _before: tuple[Points, NDArray[np.intp], NDArray[np.intp], Array, Array] = field(init=False)

    def __post_init__(self) -> None:
        self._rng = self.planner.generator()
        self._chosen = self.space.origin[None][:0]
        self._first = self._repeats = np.empty(0, dtype=np.intp)
        self._features, self._weight = self.space.features(self._chosen), np.empty(0)

    @property
    def _points(self) -> Points:
        return self._chosen[self._first]

    def _rows(self, features: Array) -> Rows:
        repeats = self._repeats.astype(np.float64)
        balanced, law = self.design.balanced, self.planner.method.law(self.space)
        return Rows(features, self._weight * repeats, repeats, balanced, law, self._points)

    def next(self) -> Points:
        self._before = (self._chosen, self._first, self._repeats, self._features, self._weight)
        kernel = self.planner.method.kernel_in(self.space)
        for _ in range(MAX_IDLE_ROUNDS):
            left = self.planner.budget - len(self._first)
            if left <= 0:
                break
            seen = self._rows_so_far()
            points = self.design.ask(seen, self.space, kernel, left, self._rng)[:left]
            if not len(points):
                break
            fresh = self._choose(points)
            if len(fresh):
                return fresh
        return self._chosen[:0]

    def _rows_so_far(self) -> Seen:
        """The rows asked so far that have an answer."""
        rows = self._rows(self._features)
        if not self.calls:
            return Seen(self._points, rows, np.empty(0))
        known = has_answer(self.answers)
        return Seen(self._points[known], rows.take(known), self.aim(self.answers[known])[0])

    def _choose(self, points: Points) -> Points:
        """Those of the points that were not asked before."""
        known = len(self._first)
        self._chosen = np.concatenate([self._chosen, points])
        self._first, self._repeats = self.space.distinct(self._chosen)
        fresh = self._points[known:]
        if len(fresh):
            features = self.space.features(fresh)
            weight = self.planner.method.weight(self.space, features)
            self._features = np.concatenate([self._features, features])
            self._weight = np.concatenate([self._weight, weight])
        return fresh

    def take_answers(self, reply: Array, calls: int) -> None:
        self.answers = np.concatenate([self.answers, reply]) if self.calls else reply
        self.calls += calls

    def halt(self, why: str, late: Array) -> None:
        self._chosen, self._first, self._repeats, self._features, self._weight = self._before
        self.stop_reason = why

    @property
    def plan(self) -> Plan:
        """What was chosen in the end."""
        method = self.planner.method
        seen = method.surrogate_features(self.space, self._points, self._features)
        return self.plan_of(PlannedRows.of(self._points, self._rows(seen), method.surrogate))


def _refuse_unsure(name: str, planned: PlannedRows) -> None:
    """Refuse a method without intervals before anything is asked: it cannot stop when sure."""
    silent = planned.fitter.fit(np.zeros(len(planned.points)))
    if silent.posterior is None:
        raise InputError(
            f"{name} gives scores without intervals, so it is never sure: "
            "eagle.peers.with_bootstrap(method) gives any planned method intervals"
        )
