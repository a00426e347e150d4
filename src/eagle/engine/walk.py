"""Two walks: growing parts of a plan until a rule is met, and points chosen by the answers.

The third, a whole plan at once, is in `run`, with their contract `Walk`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle.engine.plan import Planner, Prepared, answered_rows
from eagle.types import Adaptive, Array, InputError, Need, Points, Range, Rows, Seen, Space
from eagle.until import Look, Rule, looks

Aim: TypeAlias = Callable[[Array], tuple[Array, Range]]
"""A function from answers, shape (n, outputs), to the numbers to explain and their bounds."""

Watch: TypeAlias = Callable[[Look, float], None]
"""A function that is called at every look, with a forecast of the total number of rows."""

PATIENCE: Final = 3
"""Rounds without a new point after which a walk ends: a small space may have no more."""


@final
@dataclass(eq=False)
class Growing:
    """Longer and longer parts of one plan, until a rule is met.

    Plans are nested, so each part begins with the part before, and only its new rows are asked.
    `seconds` gives the time that the model has taken for this instance. `show` is given the walk
    itself at every look, with a forecast of the total number of rows.
    """

    planner: Planner
    space: Space
    aim: Aim
    rule: Rule
    watch: Watch | None
    seconds: Callable[[], float]
    show: Callable[[Growing, float], None] | None = None
    prepared: Prepared = field(init=False)
    answers: Array = field(default_factory=lambda: np.empty((0, 1)))
    calls: int = 0
    stopped: str = ""
    _turn: int = 0
    _lengths: list[int] = field(init=False)

    def __post_init__(self) -> None:
        method = self.planner.method
        if not method.nested:
            raise InputError(f"{method.name} needs {Need.WHOLE.value}: leave out until")
        most = int(min(self.planner.budget, self.rule.most))
        self._lengths = looks(len(self.space.origin), most)
        self._lengthen()
        _refuse_unsure(self.planner.method.name, self.prepared)

    def _lengthen(self) -> None:
        longer = replace(self.planner, budget=self._lengths[self._turn])
        (self.prepared,) = longer.prepare([self.space])

    def next(self) -> Points:
        while not self.stopped:
            fresh = self.prepared.points[len(self.answers) :]
            if len(fresh):
                return fresh
            self._look()  # a small space: the longer plan has no new rows
        return self.prepared.points[:0]

    def answered(self, reply: Array, calls: int) -> None:
        self.answers = np.concatenate([self.answers, reply]) if self.calls else reply
        self.calls += calls
        self._look()

    def halted(self, why: str) -> None:
        self._turn -= 1
        self._lengthen()  # back to the plan whose rows were all asked
        self.stopped = why

    def _look(self) -> None:
        """Stop here, or go on with a longer plan."""
        known, answers = self.prepared.answered(self.answers, self.planner.method.surrogate)
        sure = known.fitter.fit(*self.aim(answers)).posterior
        rows, why = len(self.answers), None
        if sure is not None:  # it is None where too many rows have no answer: see `_refuse_unsure`
            look = Look(sure, rows, self.calls, self.seconds(), len(self._lengths))
            why = self.rule.met(look)
            if self.watch is not None:
                self.watch(look, self.rule.rows(look))
            if self.show is not None:
                self.show(self, self.rule.rows(look))
        self._turn += 1
        if why is None and self._turn == len(self._lengths):
            why = f"all {rows} rows were asked before the rule was met"
        if why is not None:
            self.stopped = why
        else:
            self._lengthen()


@final
@dataclass(eq=False)
class Choosing:
    """An adaptive design: what is asked next depends on the answers so far.

    `_chosen` are all points chosen, and `_first` the places of those that were asked: a point that
    is chosen again is not asked again, but its weight grows.
    """

    planner: Planner
    design: Adaptive
    space: Space
    aim: Aim
    answers: Array = field(default_factory=lambda: np.empty((0, 1)))
    calls: int = 0
    stopped: str = ""
    _rng: np.random.Generator = field(init=False)
    _chosen: Points = field(init=False)
    _first: NDArray[np.intp] = field(init=False)
    _often: NDArray[np.intp] = field(init=False)
    _features: Array = field(init=False)
    _weight: Array = field(init=False)
    _before: tuple[Points, NDArray[np.intp], NDArray[np.intp], Array, Array] = field(init=False)

    def __post_init__(self) -> None:
        self._rng = self.planner.generator()
        self._chosen = self.space.origin[None][:0]
        self._first = self._often = np.empty(0, dtype=np.intp)
        self._features, self._weight = self.space.features(self._chosen), np.empty(0)

    @property
    def _points(self) -> Points:
        return self._chosen[self._first]

    def _rows(self, features: Array) -> Rows:
        often = self._often.astype(np.float64)
        balanced, law = self.design.balanced, self.planner.method.law(self.space)
        return Rows(features, self._weight * often, often, balanced, law, self._points)

    def next(self) -> Points:
        self._before = (self._chosen, self._first, self._often, self._features, self._weight)
        kernel = self.planner.method.kernel_in(self.space)
        for _ in range(PATIENCE):
            left = self.planner.budget - len(self._first)
            if left <= 0:
                break
            seen = self._seen()
            points = self.design.ask(seen, self.space, kernel, left, self._rng)[:left]
            if not len(points):
                break
            fresh = self._choose(points)
            if len(fresh):
                return fresh
        return self._chosen[:0]

    def _seen(self) -> Seen:
        """The rows asked so far that have an answer."""
        rows = self._rows(self._features)
        if not self.calls:
            return Seen(self._points, rows, np.empty(0))
        known = answered_rows(self.answers)
        return Seen(self._points[known], rows.take(known), self.aim(self.answers[known])[0])

    def _choose(self, points: Points) -> Points:
        """Those of the points that were not asked before."""
        known = len(self._first)
        self._chosen = np.concatenate([self._chosen, points])
        self._first, self._often = self.space.distinct(self._chosen)
        fresh = self._points[known:]
        if len(fresh):
            features = self.space.features(fresh)
            weight = self.planner.method.weight(self.space, features)
            self._features = np.concatenate([self._features, features])
            self._weight = np.concatenate([self._weight, weight])
        return fresh

    def answered(self, reply: Array, calls: int) -> None:
        self.answers = np.concatenate([self.answers, reply]) if self.calls else reply
        self.calls += calls

    def halted(self, why: str) -> None:
        self._chosen, self._first, self._often, self._features, self._weight = self._before
        self.stopped = why

    @property
    def prepared(self) -> Prepared:
        seen = self.planner.method.fitted_on(self.space, self._points, self._features)
        return self.planner.ready(self._points, self._rows(seen))


def _refuse_unsure(name: str, prepared: Prepared) -> None:
    """Refuse a method without intervals before anything is asked: it cannot stop when sure."""
    silent = prepared.fitter.fit(np.zeros(len(prepared.points)))
    if silent.posterior is None:
        raise InputError(
            f"{name} gives scores without intervals, so it is never sure: "
            "eagle.methods.Bootstrapped(method) gives any planned method intervals"
        )
