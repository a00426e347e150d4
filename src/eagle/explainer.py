"""The front door: a model and its data in, explanations out."""

from __future__ import annotations

import time
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, final

import numpy as np

from eagle import foreign, methods
from eagle.engine.method import Method
from eagle.engine.plan import Planner, Prepared
from eagle.engine.run import ask
from eagle.engine.walk import Watch
from eagle.explanation import Bill, Explanation, short
from eagle.foreign import Foreign, Question
from eagle.models.box import Steady, Task, box
from eagle.plan import Plan
from eagle.progress import Progress, Watching
from eagle.source.tables import Bounds, Columns, Scales, View, source
from eagle.targets import Target, aimed_at, answers_of, refuse_pair, too_small
from eagle.types import Array, Group, InputError, Instances, Need, Wanted, integer, told
from eagle.until import Rule

CALL_BYTES: Final = 256 << 20
"""No call has more bytes of images than this."""

PLAN_BYTES: Final = 4 << 30
"""No plan, which is drawn as a whole, has more."""


@final
class Explainer:
    """Explains single predictions of any model on tables, images or texts.

    `model` is a fitted estimator or any function of a table; None if it lives elsewhere, and
    only `plan` is wanted. `data` is a table like those the model was fitted on, a `Background`
    made from one, or None if `scales` say how far each number may move. For images and texts it
    is `Images(...)` or `Texts(...)`, which say how they are taken apart; what follows, up to
    `task`, is for tables.

    `view` is "binned" (does the row keep the instance's quartile bin or level? the default) or
    "continuous" (how many standard deviations does it move?). `categories` names number columns
    that are levels, `freeze` columns never to be moved, `bounds` gives (low, high) of numbers.
    `task` and `outputs` (names of classes or targets) are read from the model if it knows them.
    `batch_rows` is the most rows the model is asked in one call.

    `random_state` alone decides all chance: a row's explanation is the same alone, in a batch,
    on another machine and tomorrow. None takes a seed once, from the system.
    """

    def __init__(
        self,
        model: Any,
        data: Any = None,
        *,
        view: View | None = None,
        method: Method | Foreign = methods.EAGLE_BALANCED,
        budget: int | None = None,
        random_state: int | None = 0,
        task: Task | None = None,
        outputs: Sequence[Hashable] | None = None,
        names: Sequence[Hashable] | None = None,
        categories: Collection[Hashable] = (),
        freeze: Collection[Hashable] = (),
        bounds: Bounds | None = None,
        scales: Scales | None = None,
        batch_rows: int = 25_000,
    ) -> None:
        columns = Columns(names, categories, freeze, bounds, scales)
        self._source = source(model, data, view, columns)
        self._box = replace(box(model, task, outputs), asked=self._source.kind.asked)
        self._seen: tuple[str, tuple[Any, ...]] | None = None
        self.batch_rows = integer(batch_rows, "batch_rows", 1)
        if random_state is None:
            random_state = int(np.random.SeedSequence().generate_state(1)[0])
        self._take(method, budget, random_state)

    def _take(self, method: Method | Foreign, budget: int | None, seed: int) -> None:
        """Explain by this method from now on. One that cannot work here is refused."""
        if not isinstance(method, Method | Foreign):
            raise InputError(f"a method is a value such as eagle.methods.EAGLE, not {told(method)}")
        self.method = method
        self.seed = integer(seed, "random_state", 0)
        self._refuse()
        self._source.keep(method.needs)
        self.budget = integer(method.budget if budget is None else budget, "budget", 1)
        self._planner = (
            Planner(method, self.budget, self.seed) if isinstance(method, Method) else None
        )

    @property
    def view(self) -> str:
        """ "binned" or "continuous": whether features match or are offsets."""
        return self._source.kind.view

    @property
    def background(self) -> Any:
        """The summary of a table's data; None where there is none."""
        return self._source.kind.background

    def using(
        self,
        method: Method | Foreign,
        *,
        budget: int | None = None,
        random_state: int | None = None,
    ) -> Explainer:
        """An explainer of the same model and data by another method, or with another seed."""
        other = object.__new__(Explainer)
        other.__dict__.update(self.__dict__)
        other._take(method, budget, self.seed if random_state is None else random_state)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows of the data, unless the method needs them."""
        return {**self.__dict__, "_source": self._source.without(self.method.needs)}

    def _refuse(self) -> None:
        """A method that cannot work here is refused now, before anything is asked."""
        needs, name, kind = self.method.needs, self.method.name, self._source.kind
        for need in (Need.TABLE, Need.ROWS, Need.MASKS, Need.MATCHES, Need.OFFSETS):
            if need in needs - kind.offers:
                raise InputError(f"{name} needs {need.value}{kind.hints.get(need, '')}")
        self._box.refuse(name, needs)

    # -- explaining -----------------------------------------------------------------------------

    def explain(
        self, x: Any, target: Target = None, *, until: Rule | None = None, progress: bool = True
    ) -> Explanation:
        """Explain the prediction at x: a row, a dictionary, or a table of one row.

        `target` is the class or output to explain, or a pair: one against another. Without it,
        the predicted class, or the first output of a regression. With a rule such as
        `until=eagle.until.Width(0.02)`, rows are asked only until it is met, at most the budget.
        """
        self._refuse_rule(until)
        line = Watching(silent=not progress or until is None)
        try:
            return next(self._each([self._one(x)], target, until, line.look))
        finally:
            line.close()

    def check(self, x: Any, target: Target = None) -> None:
        """Raise now what `explain` would refuse before it asks: an x or a target that does not
        fit, or a plan that the budget does not allow."""
        group = self._one(x)
        self._check_target(target)
        if self._planner is not None and self._planner.method.planned:
            self._planner.prepare([group.instances.space(0)])

    def explain_each(
        self, X: Any, target: Target = None, *, until: Rule | None = None
    ) -> Iterator[Explanation]:
        """Explain many rows from shared model calls, each as soon as its answers are there.

        Whatever ends this early, Ctrl-C too, carries what is explained but was not yet handed out,
        since a row before it was still to come: `finished`, and their numbers in `places`.
        """
        self._refuse_rule(until)
        return self._each(self._groups(X), target, until)

    def explain_many(
        self, X: Any, target: Target = None, *, until: Rule | None = None, progress: bool = True
    ) -> list[Explanation]:
        """Explain many rows from shared model calls; with a rule, each until it is met.

        If the model fails on the way, or Ctrl-C or anything else ends it, the exception's
        `finished` holds all that is done, in order, and `places` the numbers of these rows.
        """
        self._refuse_rule(until)
        groups = self._groups(X)
        done: dict[int, Explanation] = {}
        total = sum(len(group.instances) for group in groups)
        line = Progress("explained", total, silent=not progress)
        try:
            for i, explanation in self._made(groups, target, until):
                done[i] = explanation
                line.at(len(done))
        except BaseException as error:
            keep(error, done)
            raise
        finally:
            line.close()
        return [done[i] for i in sorted(done)]

    __call__ = explain_many

    def plan(self, x: Any) -> Plan:
        """What the model would be asked about x, before it is: answer it anywhere, then `fit`."""
        table = self._one(x).instances
        if self._planner is None:
            raise InputError(f"{self.method.name} asks the model itself: it has no plan")
        prepared = self._planner.prepare([table.space(0)])[0]
        size = len(prepared.points) * table.row_bytes
        if size > PLAN_BYTES:
            raise InputError(
                f"the {len(prepared.points)} {self._box.asked}s of this plan would take "
                f"{size / 2**30:.1f} GiB: use explain, which makes them as they are asked, or a "
                "smaller budget"
            )
        return replace(self._plan(table, 0, prepared), inputs=table.inputs([0], [prepared.points]))

    # -- in words -------------------------------------------------------------------------------

    def describe(self) -> str:
        """What was understood of the model and the data, in words, a line each."""
        method = f"Method: {self.method.name}, up to {self.budget} rows, seed {self.seed}"
        lines = [*self._box.describe(*(self._seen or (None, None))), method]
        return "\n".join(short(line, 200) for line in lines + self._source.describe())

    def __repr__(self) -> str:
        return short(f"<Explainer of {self._box.calls_it} by {self.method.name}, {self.view}>", 200)

    # -- inside ---------------------------------------------------------------------------------

    def _one(self, x: Any) -> Group:
        groups = self._groups(x, one=True)
        rows = sum(len(group.instances) for group in groups)
        if rows != 1:
            raise InputError(f"explain takes one row, but {rows} came: use explain_many")
        return groups[0]

    def _groups(self, X: Any, one: bool = False) -> list[Group]:
        wanted = Wanted(one, self.budget, self.method.needs, self.method.by_value)
        return self._source.groups(X, wanted)

    def _plan(self, table: Instances, i: int, prepared: Prepared) -> Plan:
        assert isinstance(self.method, Method)  # others have no plan
        return Plan.of(table, i, prepared, self.method, self.seed, self._box)

    def _check_target(self, target: Target) -> None:
        """Before anything is paid."""
        refuse_pair(self.method.name, self.method.needs, target)
        if target is not None and self._box.outputs is not None:
            answers_of(np.zeros((1, len(self._box.outputs))), self._box.outputs, target)

    def _refuse_rule(self, until: Rule | None) -> None:
        if until is None:
            return
        if not isinstance(until, Rule):
            raise InputError(
                f"until is a rule such as eagle.until.Width(0.02), not {told(until)}; numbers of "
                "rows are eagle.until.Budget(rows=...)"
            )
        if not self.method.planned:
            raise InputError(
                f"{self.method.name} chooses rows by the answers to those before, so there is no "
                "plan to stop in: use a planned method, such as EAGLE"
            )

    def _each(
        self,
        groups: Sequence[Group],
        target: Target,
        until: Rule | None = None,
        watch: Watch | None = None,
    ) -> Iterator[Explanation]:
        """Explanations in the order of the rows."""
        ready: dict[int, Explanation] = {}
        following = 0
        try:
            for i, explanation in self._made(groups, target, until, watch):
                ready[i] = explanation
                while following in ready:
                    yield ready.pop(following)
                    following += 1
        except GeneratorExit:
            raise
        except BaseException as error:
            keep(error, ready)
            raise

    def _made(
        self,
        groups: Sequence[Group],
        target: Target,
        until: Rule | None = None,
        watch: Watch | None = None,
    ) -> Iterator[tuple[int, Explanation]]:
        """Explanations with the places of their rows. The few odd rows are asked first."""
        self._check_target(target)
        model = Steady(self._box)
        for group in sorted(groups, key=lambda group: len(group.instances)):
            if self._planner is None:
                yield from self._foreign(group, target, model)
            else:
                yield from self._explained(group, self._planner, target, model, until, watch)

    def _foreign(
        self, group: Group, target: Target, model: Steady
    ) -> Iterator[tuple[int, Explanation]]:
        """Another package explains one row after the other."""
        rows, method = group.instances, self.method
        assert isinstance(method, Foreign)
        for i in range(len(rows)):
            question = Question.of(
                rows, i, self._box, model.ask, target, self.budget, self.seed, self.batch_rows
            )
            explanation = foreign.explain(method, question)
            self._seen = explanation.task, explanation.outputs
            yield group.places[i], explanation

    def _explained(
        self,
        group: Group,
        planner: Planner,
        target: Target,
        model: Steady,
        until: Rule | None,
        watch: Watch | None,
    ) -> Iterator[tuple[int, Explanation]]:
        table = group.instances

        def aim(answers: Array) -> Array:
            task, outputs = self._box.understood(answers)
            y = answers_of(answers, outputs, aimed_at(target, answers, task, outputs))
            # As flat ones, while larger answers may still come; in the end they are refused.
            return np.zeros_like(y) if too_small(y) else y

        most = min(self.batch_rows, max(1, CALL_BYTES // max(1, table.row_bytes)))
        for asked in ask(planner, table, model.ask, most, aim, until, watch):
            began = time.perf_counter()
            bill = Bill(
                len(asked.answers),
                asked.calls,
                asked.model_seconds,
                asked.own_seconds,
                asked.stopped,
            )
            plan = self._plan(table, asked.i, asked.prepared)
            explanation = plan.explain(asked.answers, target, bill)
            own = bill.own_seconds + time.perf_counter() - began
            explanation = replace(explanation, bill=replace(bill, own_seconds=own))
            self._seen = explanation.task, explanation.outputs
            yield group.places[asked.i], explanation


def keep(error: BaseException, made: Mapping[int, Explanation]) -> None:
    """Explanations by their places, on the exception that ends the making of others."""
    places = sorted(made)
    with suppress(Exception):  # another's exception may take no attributes
        vars(error).update(finished=[made[i] for i in places], places=places)


def kept(error: BaseException) -> dict[int, Explanation]:
    """What `keep` has put on an exception: explanations by their places."""
    on = vars(error)
    return dict(zip(on.get("places", ()), on.get("finished", ()), strict=True))
