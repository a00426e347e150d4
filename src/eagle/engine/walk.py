"""Walks: how one instance is asked. All at once, in growing parts until sure, or by the answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle.engine.plan import Planner, Prepared
from eagle.types import Adaptive, Array, InputError, Points, Rows, Seen, Space
from eagle.until import Look, Rule, looks

Aim: TypeAlias = Callable[[Array], Array]
"""Answers, shape (n, outputs), to the numbers to be explained, shape (n,)."""

Watch: TypeAlias = Callable[[Look, float], None]
"""Told at every look what is known, and about how many rows it will take in all."""

PATIENCE: Final = 3
"""So many rounds in a row may bring nothing new: a small space may have no more to ask."""


class Walk(Protocol):
    """How far one instance has come. It is asked what it wants next until it wants no more."""

    def next(self) -> Points:
        """The points to ask now; none when it is done."""

    def answered(self, reply: Array, calls: int) -> None:
        """The answers to these points, shape (n, outputs), and the calls that it took."""

    @property
    def prepared(self) -> Prepared:
        """What was planned in the end."""

    @property
    def answers(self) -> Array:
        """All answers, shape (n, outputs)."""

    @property
    def calls(self) -> int:
        """How many calls it took part in."""

    @property
    def stopped(self) -> str:
        """Why no more was asked, if a rule decided that."""


@final
@dataclass(eq=False)
class Whole:
    """A plan, asked at once."""

    prepared: Prepared
    answers: Array = field(default_factory=lambda: np.empty((0, 1)))
    calls: int = 0
    stopped: str = ""

    def next(self) -> Points:
        return self.prepared.points[len(self.answers) :]

    def answered(self, reply: Array, calls: int) -> None:
        self.answers, self.calls = reply, calls


@final
@dataclass(eq=False)
class Growing:
    """Longer and longer parts of one plan, until a rule is met.

    Plans are nested, so each look has the rows of a longer one, and asks what is new in it.
    `seconds` tells how long the model has taken for this instance.
    """

    planner: Planner
    space: Space
    aim: Aim
    rule: Rule
    watch: Watch | None
    seconds: Callable[[], float]
    prepared: Prepared = field(init=False)
    answers: Array = field(default_factory=lambda: np.empty((0, 1)))
    calls: int = 0
    stopped: str = ""
    _turn: int = 0
    _lengths: list[int] = field(init=False)

    def __post_init__(self) -> None:
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
            self._look()  # the space has an end: nothing new is to be asked
        return self.prepared.points[:0]

    def answered(self, reply: Array, calls: int) -> None:
        self.answers = np.concatenate([self.answers, reply]) if self.calls else reply
        self.calls += calls
        self._look()

    def _look(self) -> None:
        """Stop here, or go on with a longer plan."""
        fitted = self.prepared.fitter.fit(self.aim(self.answers))
        assert fitted.posterior is not None  # as was seen at the start
        rows = len(self.answers)
        look = Look(fitted.posterior, rows, self.calls, self.seconds(), len(self._lengths))
        why = self.rule.met(look)
        if self.watch is not None:
            self.watch(look, self.rule.rows(look))
        self._turn += 1
        if why is None and self._turn == len(self._lengths):
            why = f"all {rows} rows were asked, and still it was not sure enough"
        if why is not None:
            self.stopped = why
        else:
            self._lengthen()


@final
@dataclass(eq=False)
class Choosing:
    """An adaptive design: what is asked next depends on the answers so far.

    `_chosen` are all points chosen, `_first` those of them that were asked: a row that is chosen
    again is not asked again, but counts again.
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
        return Rows(features, self._weight * often, often, self.design.balanced)

    def next(self) -> Points:
        kernel = self.planner.method.kernel_in(self.space)
        for _ in range(PATIENCE):
            left = self.planner.budget - len(self._first)
            if left <= 0:
                break
            y = self.aim(self.answers) if self.calls else np.empty(0)
            seen = Seen(self._points, self._rows(self._features), y)
            points = self.design.ask(seen, self.space, kernel, left, self._rng)[:left]
            if not len(points):
                break
            fresh = self._choose(points)
            if len(fresh):
                return fresh
        return self._chosen[:0]

    def _choose(self, points: Points) -> Points:
        """Those of the points that ask what was not asked before."""
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

    @property
    def prepared(self) -> Prepared:
        seen = self.planner.method.fitted_on(self.space, self._points, self._features)
        return self.planner.ready(self._points, self._rows(seen))


def _refuse_unsure(name: str, prepared: Prepared) -> None:
    """Before anything is asked: who never knows how sure it is cannot stop when sure."""
    silent = prepared.fitter.fit(np.zeros(len(prepared.points)))
    if silent.posterior is None:
        raise InputError(
            f"{name} gives scores without intervals, so it is never sure: "
            "eagle.methods.Bootstrapped(method) gives any planned method intervals"
        )
