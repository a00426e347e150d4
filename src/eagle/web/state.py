"""What the page holds: the model, the rows that can be opened, and what was asked and answered."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any, Final, TypeVar, final

import numpy as np

from eagle._values.arrays import Array
from eagle._values.targets import Target, resolve_target
from eagle.errors import InputError, LimitError
from eagle.explainer import Explainer, setup_of, with_setup
from eagle.explanation import Explanation
from eagle.limit import Limit
from eagle.survey.plan import BothModels
from eagle.survey.survey import Survey
from eagle.web.payload import target_at
from eagle.web.rows import Rows, Things
from eagle.web.table import TableRows
from eagle.web.worker import Job, Worker

MAX_RESULTS: Final = 128
"""Maximum number of results that are kept, to be shown again without asking."""

T = TypeVar("T")


@final
class State:
    """One model, and the things it is explained on."""

    def __init__(
        self,
        explainer: Explainer | Survey,
        X: Any,
        *,
        survey: Survey | None = None,
        limit: Limit | None = None,
        price_per_row: float | None = None,
    ) -> None:
        self.worker, self.limit = Worker(limit), limit
        priced = limit is not None and limit.money is not None
        self.price = limit.price_per_row if limit is not None and priced else price_per_row
        self.explainer: Explainer | None = None
        if isinstance(explainer, Explainer):
            self.explainer = gate_explainer(explainer, self.worker)
        else:
            survey = explainer
        self.survey = None if survey is None else gate_survey(survey, self.worker)
        self.rows = self._openable(X)
        self.predictions: dict[int, Array] = {}
        self.edited_predictions: dict[tuple[int, Any], Array] = {}
        self.runs: dict[int, Job] = {}
        self.numbers = count(1)
        self._results: dict[Hashable, Any] = {}
        self._lock = threading.Lock()

    def _openable(self, X: Any) -> Rows:
        if self.explainer is None:
            assert self.survey is not None
            return TableRows(self.survey.background, X)
        kind = self.explainer.kind.asked
        if kind is not None:
            return Things(X, kind)
        if self.explainer.background is None:
            raise InputError("the page needs an explainer with data, or with a Background")
        return TableRows(self.explainer.background, X)

    # -- the model ------------------------------------------------------------------------------

    @property
    def has_model(self) -> bool:
        if self.explainer is not None:
            return self.explainer.has_model
        return self.survey is not None and self.survey.setting.has_model

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

    def asking(self) -> Explainer:
        """The explainer, which asks the model; refused where there is none."""
        if self.explainer is None or not self.has_model:
            raise InputError("there is no model here to ask: only the survey explains")
        return self.explainer

    def predict(self, X: Any) -> Array:
        """The model's answers, shape (rows, outputs). Only the worker asks."""
        if self.explainer is not None:
            return self.explainer.predict(X)
        assert self.survey is not None
        return self.survey.predict(X)

    def predict_rows(self, places: Sequence[int]) -> None:
        """Ask the predictions of rows, each once, and remember them."""
        unknown = [i for i in places if i not in self.predictions]
        if unknown:
            answers = self.predict(self.rows.take(unknown))
            self.predictions.update(zip(unknown, answers, strict=True))

    def note(self, i: int, answer: Array) -> None:
        """Remember the answer about row i that came with an explanation."""
        if np.isfinite(answer).all():
            self.predictions.setdefault(i, answer)

    # -- what it has cost -----------------------------------------------------------------------

    def limit_left(self) -> Limit | None:
        """The limit on what follows; None if there is none. Spent is spent: it is refused."""
        if self.limit is None:
            return None
        left = self.limit.after(self.worker.meter.cost)
        if left is None:
            raise LimitError("the limit of this page is spent: no more is asked from it")
        return left

    @property
    def spending(self) -> dict[str, Any]:
        cost = self.worker.meter.cost
        money = None
        if self.limit is not None and self.limit.money is not None:
            money = self.limit.money_for(cost)
        elif self.price is not None:
            money = cost.rows * self.price
        return {"rows": cost.rows, "money": money}

    # -- targets --------------------------------------------------------------------------------

    def target(self, one: int | None, other: int | None = None) -> Target:
        """The target that these places name; None for the predicted class."""
        names = self.outputs
        if one is None or names is None:
            return None
        for place in (one, other):
            if place is not None and not 0 <= place < len(names):
                raise InputError(f"there is no output number {place}: there are {len(names)}")
        return target_at(one, other, names)

    def default_target(self, answers: Array | None) -> Target:
        """What the answers about a row predict; without answers the first output."""
        if self.outputs is None or self.task is None:
            return None
        if answers is None:
            return self.outputs[0]
        return resolve_target(None, answers[None], self.task, self.outputs)

    # -- results --------------------------------------------------------------------------------

    def result(self, key: Hashable) -> Any:
        """A result that was made before; None if there is none."""
        with self._lock:
            if key in self._results:
                self._results[key] = self._results.pop(key)  # used last, dropped last
            return self._results.get(key)

    def keep(self, key: Hashable, result: T) -> T:
        with self._lock:
            self._results[key] = result
            if len(self._results) > MAX_RESULTS:
                del self._results[next(iter(self._results))]
        return result

    # -- the survey -----------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Begin to prepare what the first explanation would have to wait for. Nothing is asked."""
        if self.survey is not None:
            threading.Thread(target=self._explain_first, daemon=True).start()

    def _explain_first(self) -> None:
        with suppress(Exception):  # it is raised again where somebody waits for it
            self.from_survey(self.rows.row(0, {}), None, None)

    def from_survey(self, x: Any, target: Target, answers: Array | None) -> Explanation:
        """A row explained from the survey; nothing is asked."""
        assert self.survey is not None
        aim = self.default_target(answers) if target is None else target
        return self.survey.explain(x, aim, prediction=answers, ask=False)


def gate_explainer(explainer: Explainer, worker: Worker) -> Explainer:
    """An explainer whose model is asked by the worker alone."""
    setup = setup_of(explainer)
    if setup.box.function is None:
        return explainer
    box = replace(setup.box, function=worker.gate(setup.box.function))
    return with_setup(explainer, replace(setup, box=box))


def gate_survey(survey: Survey, worker: Worker) -> Survey:
    """A survey whose model is asked by the worker alone."""
    box = survey.setting.box
    if box.function is None:
        return survey
    function: Any = box.function
    if isinstance(function, BothModels):
        asked: Any = function.through(worker.gate)
    else:
        asked = worker.gate(function)
    setting = replace(survey.setting, box=replace(box, function=asked))
    return replace(survey, setting=setting)
