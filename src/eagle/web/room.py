"""All that the clients of one page share: the model, its rows, what was asked and answered."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar, final

import numpy as np

from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.survey.survey import Survey
from eagle.targets import Target, aimed_at
from eagle.types import Array, InputError
from eagle.until import Budget
from eagle.web.jobs import Gate, Workers
from eagle.web.payload import target_at
from eagle.web.shelf import Shelf, Things
from eagle.web.spending import Spending
from eagle.web.table import TableRows
from eagle.web.turns import Turns

KEPT: Final = 128
"""Number of results that are kept, to be shown again without asking."""

PART: Final = 2000
"""Rows per call when predictions of all rows are asked, so that others get their turn."""

T = TypeVar("T")


@final
class Room:
    """One model and the things it is explained on. Everything asked passes through one gate."""

    def __init__(
        self,
        explainer: Explainer | Survey,
        X: Any,
        *,
        survey: Survey | None,
        limit: Budget | None,
        price_per_row: float | None,
        together: int,
    ) -> None:
        self.spending, self.turns = Spending(limit, price_per_row), Turns(together)
        self.workers, self.gate = Workers(), Gate(self.turns, self.spending)
        self.plain = explainer if isinstance(explainer, Explainer) else None
        survey = explainer if isinstance(explainer, Survey) else survey
        self.explainer = None if self.plain is None else self.plain.through(self.gate)
        self.survey = None if survey is None else gated(survey, self.gate)
        self.shelf = self._shelf(X)
        self._lock = threading.RLock()
        self._known: dict[int, Array] = {}
        self._results: OrderedDict[Hashable, Any] = OrderedDict()

    def _shelf(self, X: Any) -> Shelf:
        if self.explainer is None:
            assert self.survey is not None
            return TableRows(self.survey.background, X)
        asked = self.explainer.kind.asked
        if asked is not None:
            return Things(X, asked)
        if self.explainer.background is None:
            raise InputError("the page needs an explainer with data, or with a Background")
        return TableRows(self.explainer.background, X)

    # -- the model ------------------------------------------------------------------------------

    @property
    def can(self) -> bool:
        """Whether there is a model to ask."""
        if self.explainer is not None:
            return self.explainer.asks
        return self.survey is not None and self.survey.setting.ask.can

    @property
    def outputs(self) -> tuple[Any, ...] | None:
        if self.explainer is not None and self.explainer.outputs is not None:
            return self.explainer.outputs
        return None if self.survey is None else self.survey.outputs

    @property
    def task(self) -> str | None:
        if self.explainer is not None and self.explainer.task is not None:
            return self.explainer.task
        return None if self.survey is None else self.survey.task

    def predict(self, X: Any) -> Array:
        """The model's answers, shape (rows, outputs)."""
        if self.explainer is not None:
            return self.explainer.predict(X)
        assert self.survey is not None
        return self.survey.predict(X)

    def own(self, i: int) -> Array:
        """The model's answer about row i, asked once, shape (outputs,)."""
        if i not in self._known:
            self.learn([i])
        return self._known[i]

    def learn(self, rows: Sequence[int]) -> None:
        """Ask the predictions of rows that are not known yet."""
        wanted = [i for i in rows if i not in self._known]
        for start in range(0, len(wanted), PART):
            part = wanted[start : start + PART]
            answers = self.predict(self.shelf.some(part))
            with self._lock:
                self._known.update(zip(part, answers, strict=True))

    def answer(self, i: int) -> Array | None:
        """What is known of row i, without asking."""
        return self._known.get(i)

    def note(self, i: int, answer: Array) -> None:
        """Remember the answer about row i that came with an explanation."""
        if np.isfinite(answer).all():
            with self._lock:
                self._known.setdefault(i, answer)

    @property
    def learnt(self) -> int:
        """Of how many rows the prediction is known."""
        return len(self._known)

    # -- targets --------------------------------------------------------------------------------

    def target(self, one: int | None, other: int | None) -> Target:
        """The target that these places name; None for the predicted class."""
        names = self.outputs
        if one is None or names is None:
            return None
        for place in (one, other):
            if place is not None and not 0 <= place < len(names):
                raise InputError(f"there is no output number {place}: there are {len(names)}")
        return target_at(one, other, names)

    def aimed(self, target: Target, answers: Array | None) -> Target:
        """The target, or what the answers predict; without answers the first output."""
        if target is not None or self.outputs is None or self.task is None:
            return target
        if answers is None:
            return self.outputs[0]
        return aimed_at(None, answers[None], self.task, self.outputs)

    # -- results --------------------------------------------------------------------------------

    def kept(self, key: Hashable) -> Any:
        """A result that was made before; None if there is none."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def keep(self, key: Hashable, made: T) -> T:
        with self._lock:
            self._results[key] = made
            while len(self._results) > KEPT:
                self._results.popitem(last=False)
        return made

    def made(self, key: Hashable, make: Callable[[], T]) -> T:
        """A result that was made before, or is made now."""
        known = self.kept(key)
        return self.keep(key, make()) if known is None else known

    def surveyed(self, survey: Survey) -> None:
        """Explain from this survey from now on: one that was made through the gate."""
        self.survey = survey

    def warm(self) -> None:
        """Prepare what the first explanation would have to wait for. Nothing is asked."""
        if self.survey is not None:
            self.from_survey(self.shelf.one(0, {}), None, None)

    def from_survey(self, x: Any, target: Target, answers: Array | None) -> Explanation:
        """A row explained from the survey; nothing is asked."""
        if self.survey is None:
            raise InputError("there is no survey to explain from: make one first")
        aim = self.aimed(target, answers)
        return self.survey.explain(x, aim, prediction=answers, ask=False)


def gated(survey: Survey, gate: Gate) -> Survey:
    """A survey whose model is asked through the gate."""
    ask = survey.setting.ask
    if ask.box.function is None:
        return survey
    box = replace(ask.box, function=gate(ask.box.function))
    return replace(survey, setting=replace(survey.setting, ask=replace(ask, box=box)))
