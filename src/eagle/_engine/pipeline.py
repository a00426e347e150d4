"""instances → plan → query → fit: the way of every explanation, from top to bottom.

1. `instances`: what the caller gives, as instances with a space of perturbations each.
2. `plan`: the rows to ask about each, with everything about them that needs no answers.
3. `query`: the model's answers, in as few calls as fit. What is asked next is said by a *strategy*:
   all at once, growing parts until a rule is met, or by the answers so far.
4. `fit`: the surrogate fitted to the answers. That is the explanation.

`explain` runs them for instances that share calls. One row is a table of one row. A survey is a
plan of its own (`eagle.survey.plan`), asked by the same `query`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Protocol, TypeAlias, final

import numpy as np

from eagle._engine import memory
from eagle._engine.evidence import Asked
from eagle._engine.foreign import ForeignMethod
from eagle._engine.metering import MeteredModel, Share, rows_per_call, unbroken
from eagle._engine.method import Method
from eagle._engine.plan import Plan, PlannedRows
from eagle._engine.planning import by_size
from eagle._engine.progress import Progress, Step
from eagle._engine.setup import Setup
from eagle._engine.strategies import ByAnswers, UntilRule, Watch
from eagle._engine.targets import (
    Target,
    answers_of,
    bounds_of,
    explained_answers,
    refuse_pair,
    refuse_target,
    resolve_target,
    too_small,
)
from eagle._values.arrays import Array, Points, Range
from eagle._values.log import LOG
from eagle._values.text import message_of, short_repr
from eagle.contracts import Adaptive, Group, Instances, Need, Wanted, check_space
from eagle.cost import Cost
from eagle.errors import AnswerError, InputError, LimitError
from eagle.explanation import Explanation, fields_of_fit, slopes_of
from eagle.limit import Meter
from eagle.models.box import Box
from eagle.until import Rule, refuse_rule

PlacedExplanations: TypeAlias = Iterator[tuple[int, Explanation]]
"""Explanations as they are made, each with the place of its row."""

Show: TypeAlias = Callable[[Explanation, float], None]
"""A function of the explanation so far, and a forecast of the total number of rows."""

MAX_PLAN_BYTES: Final = 4 << 30
"""Maximum number of bytes of a plan's inputs, which are all made at once."""

MAX_SAMPLE: Final = 64
"""Maximum number of rows that are made to estimate what all rows cost."""


@final
@dataclass(frozen=True, eq=False)
class Request:
    """What a caller asks of an explainer besides the instances.

    All that is asked goes past the `meter`. With `until`, each plan is asked in growing parts until
    that rule is met; `watch` is called at every look, and `show` with the explanation so far. With
    `steps`, steps of a single explanation that take long are named on standard error.
    """

    target: Target
    meter: Meter
    until: Rule | None = None
    watch: Watch | None = None
    show: Show | None = None
    steps: bool = False


# -- instances ----------------------------------------------------------------------------------


def instances(setup: Setup, X: Any, until: Rule | None = None, one: bool = False) -> list[Group]:
    """X as instances, in groups that share no call; `one` says that X is a single instance."""
    method = setup.method
    if until is not None:
        refuse_rule(until, method.name, method.planned)
    groups = setup.source.groups(X, Wanted(one, setup.budget, method.needs, method.by_value))
    if one and (count := sum(len(group.instances) for group in groups)) != 1:
        what = setup.source.kind.asked or "row"
        raise InputError(f"explain takes one {what}, but {count} came: use explain_many")
    return groups


def check(setup: Setup, x: Any, target: Target) -> None:
    """Raise the errors that explaining x would raise before anything is asked: for an x or a target
    that does not fit, or for a plan that the budget does not allow."""
    (group,) = instances(setup, x, one=True)
    check_target(setup, target)
    if setup.method.planned:
        refuse_large(setup, group.instances)
        plan_rows(setup, group.instances, [0])


def check_target(setup: Setup, target: Target) -> None:
    """Refuse a target that does not fit the method or the model."""
    refuse_target(setup.method.name, setup.method.needs, target, setup.box.outputs)


# -- explain: all four, for instances that share calls ------------------------------------------


def explain(setup: Setup, groups: Sequence[Group], request: Request) -> PlacedExplanations:
    """Explanations of all instances as they are made, each with its place; small groups first.

    What was answered whole before an error is explained, and then the error is raised.
    """
    # Methods of other packages need every answer.
    box = (
        replace(setup.box, partial=False) if isinstance(setup.method, ForeignMethod) else setup.box
    )
    model = MeteredModel(box, request.meter)
    for group in sorted(groups, key=lambda group: len(group.instances)):
        for i, explanation in _explain_group(setup, group.instances, request, model):
            yield group.places[i], explanation


def _explain_group(
    setup: Setup, group: Instances, request: Request, model: MeteredModel
) -> PlacedExplanations:
    if isinstance(setup.method, ForeignMethod):
        how = setup.budget, setup.seed, setup.batch_rows
        yield from setup.method.explain(*how, group, setup.box, model, request.target)
        return
    refuse_large(setup, group, request.until)
    most = rows_per_call(setup.batch_rows, group.row_bytes)
    for rows in batches(len(group), setup.budget, most):
        yield from _explain_batch(setup, group, rows, request, model, most)


def batches(instances: int, budget: int, most: int) -> Iterator[range]:
    """The instances that are asked together: as many as fit into a call of `most` rows."""
    size = max(1, most // budget)
    for start in range(0, instances, size):
        yield range(start, min(start + size, instances))


def _explain_batch(
    setup: Setup,
    group: Instances,
    rows: range,
    request: Request,
    model: MeteredModel,
    most: int,
) -> PlacedExplanations:
    began, share = time.perf_counter(), Share(model, len(rows))
    silent, d = not request.steps or len(group) > 1, len(group.names(rows[0]))
    with Step(f"planning {setup.budget:,} rows of {d:,} features", silent=silent):
        strategies = strategies_of(setup, group, rows, request, share)
    ended = query(strategies, group, model, most)
    own = (time.perf_counter() - began) / len(rows) - share.seconds
    for i, strategy in strategies.items():
        if ended is None or i not in ended.undone:
            with Step(f"fitting {len(strategy.answers):,} rows of {d:,} features", silent=silent):
                explanation = fit_with_cost(strategy, request.target, share, own)
            yield i, explanation
    if ended is not None:
        raise ended.error


# -- plan ---------------------------------------------------------------------------------------


def plan(setup: Setup, group: Instances, rows: Sequence[int]) -> list[Plan]:
    """The plans of some instances: all that is known of each before the model has answered."""
    planned = plan_rows(setup, group, rows)
    LOG.debug("planned %d instances by %s, budget %d", len(rows), planned[0][0].name, setup.budget)
    return [
        Plan.of(group, i, some, method, setup.seed, setup.box)
        for i, (method, some) in zip(rows, planned, strict=True)
    ]


def plan_rows(
    setup: Setup, group: Instances, rows: Sequence[int], growing: bool = False
) -> list[tuple[Method, PlannedRows]]:
    """The method of each instance and its rows. Spaces of one method are planned together."""
    spaces = [group.space(i) for i in rows]
    planners = [setup.planner(space, growing) for space in spaces]
    together: dict[int, list[int]] = {}
    for k, planner in enumerate(planners):
        together.setdefault(id(planner.method), []).append(k)
    out: dict[int, PlannedRows] = {}
    for places in together.values():
        planned = planners[places[0]].plan([spaces[k] for k in places])
        out.update(zip(places, planned, strict=True))
    return [(planner.method, out[k]) for k, planner in enumerate(planners)]


def plan_to_send(setup: Setup, group: Instances) -> Plan:
    """The plan of the first instance, with the table that the model is to be asked."""
    refuse_large(setup, group)
    (made,) = plan(setup, group, [0])
    size = made.rows * group.row_bytes
    if size > MAX_PLAN_BYTES:
        raise InputError(
            f"the {made.rows} {setup.box.asked}s of this plan would take {size / 2**30:.1f} GiB: "
            "use explain, which makes them as they are asked, or a smaller budget"
        )
    return replace(made, inputs=group.inputs([0], [made.planned.points]))


def refuse_large(setup: Setup, group: Instances, until: Rule | None = None) -> None:
    """Refuse what does not fit into memory, before anything is planned or asked."""
    first = group.space(0)
    check_space(first)
    rows, d = setup.planner(first, until is not None).refuse_large(first)
    if not first.masks:
        calls = rows_per_call(setup.batch_rows, group.row_bytes)
        memory.refuse_call(min(calls, rows * len(group)), d)
        return
    for space, *_ in by_size(group.space(i) for i in range(len(group))):
        setup.planner(space, until is not None).refuse_large(space)  # texts differ in size


# -- query --------------------------------------------------------------------------------------


class QueryStrategy(Protocol):
    """How one plan is asked: `next` gives points until there are none."""

    @property
    def plan(self) -> Plan:
        """What was planned in the end."""

    @property
    def answers(self) -> Array:
        """All answers, shape (n, outputs)."""

    @property
    def calls(self) -> int:
        """How many calls it took part in."""

    @property
    def stop_reason(self) -> str:
        """Why no more was asked, if a rule decided that."""

    def next(self) -> Points:
        """The points to ask now; none when it is done."""

    def take_answers(self, reply: Array, calls: int) -> None:
        """The answers to these points, shape (n, outputs), and the calls that it took."""

    def halt(self, why: str, late: Array) -> None:
        """The limit is reached: finish with the answers so far.

        `late` are the first answers of those that were asked last.
        """


@final
@dataclass(eq=False)
class OneBatch:
    """A whole plan at once."""

    plan: Plan
    answers: Array = field(default_factory=lambda: np.empty((0, 1)))
    calls: int = 0
    stop_reason: str = ""

    def next(self) -> Points:
        return self.plan.planned.points[len(self.answers) :]

    def take_answers(self, reply: Array, calls: int) -> None:
        self.answers, self.calls = reply, calls

    def halt(self, why: str, late: Array) -> None:
        self.stop_reason = why


def strategies_of(
    setup: Setup, group: Instances, rows: range, request: Request, share: Share
) -> dict[int, QueryStrategy]:
    """How each instance's plan is asked."""
    until, method = request.until, setup.method
    if until is None and method.planned:
        return dict(zip(rows, map(OneBatch, plan(setup, group, rows)), strict=True))
    out: dict[int, QueryStrategy] = {}
    for i in rows:
        space = group.space(i)
        planner = setup.planner(space, until is not None)
        design = planner.method.design
        plan_of = partial(Plan.of, group, i, method=planner.method, seed=setup.seed, box=setup.box)
        aim = partial(target_answers, setup.box, request.target)
        if isinstance(design, Adaptive):
            out[i] = ByAnswers(planner, design, space, plan_of, aim)
        elif until is not None:
            show = None if request.show is None else partial(_show, request, share)
            out[i] = UntilRule(planner, space, plan_of, aim, until, request.watch, share, show)
    return out


def _show(request: Request, share: Share, strategy: UntilRule, rows: float) -> None:
    """Show the explanation from what was answered so far."""
    assert request.show is not None
    request.show(fit_with_cost(strategy, request.target, share, 0.0), rows)


def target_answers(box: Box, target: Target, answers: Array) -> tuple[Array, Range]:
    """The numbers to explain so far, shape (n,), and their bounds."""
    task, outputs = box.task_and_outputs(answers)
    target = resolve_target(target, answers, task, outputs)
    y = answers_of(answers, outputs, target, box.link)
    # Answers too small to square count as equal here: larger ones may follow. If none does,
    # they are refused in the end.
    bounds = bounds_of(target, answers, task, box.link)
    return np.zeros_like(y) if too_small(y) else y, bounds


@final
@dataclass(frozen=True, eq=False)
class Ended:
    """An error that ended the asking early, and the instances that were not done by then."""

    error: AnswerError
    undone: frozenset[int]


def query(
    strategies: Mapping[int, QueryStrategy], group: Instances, model: MeteredModel, most: int
) -> Ended | None:
    """Ask in rounds: one call has the next points of all strategies, until there are none.

    No call has more than `most` rows. At a limit, strategies that have answers are done with these.
    """
    active, paid = dict(strategies), list[Array]()
    while active:
        wanted = {i: strategy.next() for i, strategy in active.items()}
        wanted = {i: points for i, points in wanted.items() if len(points)}
        active = {i: active[i] for i in wanted}
        if not active:
            return None
        before = model.calls
        replies, error = _ask(wanted, group, model, most, paid)
        calls = model.calls - before
        if error is not None:
            undone = [
                i
                for (i, strategy), reply in zip(active.items(), replies, strict=True)
                if not _is_done(strategy, reply, len(wanted[i]), calls, error)
            ]
            return Ended(error, frozenset(undone)) if undone else None
        for strategy, reply in zip(active.values(), replies, strict=True):
            strategy.take_answers(reply, calls)
    return None


def _is_done(
    strategy: QueryStrategy, reply: Array, wanted: int, calls: int, error: AnswerError
) -> bool:
    """Whether a strategy is done with the first answers of those that it wanted."""
    if len(reply) == wanted:
        strategy.take_answers(reply, calls)
        if not len(strategy.next()):
            return True
        reply = reply[:0]
    if not strategy.calls or not isinstance(error, LimitError):
        return False
    strategy.halt(message_of(error), reply)
    return True


def _ask(
    wanted: Mapping[int, Points],
    group: Instances,
    model: MeteredModel,
    most: int,
    paid: list[Array],
) -> tuple[list[Array], AnswerError | None]:
    """The answers to the points around each instance. With an error, the first answers of each.

    All answers are added to those `paid` for, which an error has as `answers`.
    """
    parts = list(calls_of(list(wanted), list(wanted.values()), most))
    sizes = [sum(map(len, points)) for _, points in parts]
    error: AnswerError | None = model.limit_error(
        sizes, partial(sample_of, group, wanted), lambda: (group.inputs(*part) for part in parts)
    )
    answers: list[Array] = []
    if error is None:
        tables = ((group.inputs(*part), rows) for part, rows in zip(parts, sizes, strict=True))
        answers, error = model.ask_all(tables)
    paid += answers
    if error is not None:
        error.answers = np.concatenate(paid) if paid else None
    return _of_each(wanted.values(), answers, error is None), error


def _of_each(points: Collection[Points], answers: Sequence[Array], whole: bool) -> list[Array]:
    """The answers of each instance: all, or those before the first that is missing."""
    if not answers:
        return [np.empty((0, 1))] * len(points)
    each = np.split(np.concatenate(answers), np.cumsum([len(p) for p in points])[:-1])
    return each if whole else [unbroken(one) for one in each]


def calls_of(
    rows: Sequence[int], points: Sequence[Points], most: int
) -> Iterator[tuple[Sequence[int], Sequence[Points]]]:
    """The content of each call: all points together, or a part of one long plan."""
    if len(rows) > 1 or len(points[0]) <= most:
        yield rows, points
        return
    for start in range(0, len(points[0]), most):
        yield rows, [points[0][start : start + most]]


def sample_of(group: Instances, wanted: Mapping[int, Points]) -> Any:
    """A few inputs, like all that are wanted."""
    rows = list(wanted)[:MAX_SAMPLE]
    each = max(1, MAX_SAMPLE // len(wanted))
    return group.inputs(rows, [wanted[i][:each] for i in rows])


# -- fit ----------------------------------------------------------------------------------------


def fit(plan: Plan, answers: Array, target: Target, cost: Cost) -> Explanation:
    """The explanation from the checked answers to a plan, shape (rows, outputs), and their cost.

    What the fit takes is added to the cost.
    """
    began = time.perf_counter()
    refuse_pair(plan.method, plan.surrogate.needs, target)
    asked, link = len(answers), plan.box.link
    planned, answers = plan.planned.drop_unanswered(answers, plan.surrogate)
    task, outputs = plan.box.task_and_outputs(answers)
    target = resolve_target(target, answers, task, outputs)
    y = explained_answers(answers, outputs, target, link)
    fitted = planned.fitter.fit(y, bounds_of(target, answers, task, link))
    if np.shape(fitted.scores) != (len(plan.names),) or not np.isfinite(fitted.scores).all():
        raise InputError(
            f"{plan.method}: a surrogate must give a finite score for each of {len(plan.names)} "
            f"features, not {short_repr(fitted.scores)}"
        )
    rows, own = planned.rows, cost.own_seconds + time.perf_counter() - began
    return Explanation(
        names=plan.names,
        conditions=plan.conditions,
        data=plan.data,
        target=target,
        outputs=outputs,
        task=task,
        contrast=plan.contrast,
        evidence=Asked(
            planned.points, rows.features, rows.weight, answers, rows.repeats, plan.moves, rows.law
        ),
        cost=replace(cost, missing=asked - len(answers), own_seconds=own),
        method=plan.method,
        surrogate=plan.surrogate,
        seed=plan.seed,
        subject=plan.subject,
        link=link,
        slopes=() if Need.VALUES in plan.surrogate.needs else slopes_of(rows.features[0]),
        **fields_of_fit(fitted, y),
    )


def fit_with_cost(strategy: QueryStrategy, target: Target, share: Share, own: float) -> Explanation:
    """The fit to all answers of a strategy, and its cost: the model's seconds and our own."""
    count, seconds = len(strategy.answers), share.seconds
    cost = Cost(count, strategy.calls, seconds, share.tokens, own, strategy.stop_reason)
    return fit(strategy.plan, strategy.answers, target, cost)


# -- many ---------------------------------------------------------------------------------------


def predict(setup: Setup, groups: Sequence[Group]) -> Array:
    """The model's own answers about the instances of groups, in the order of their places."""
    model, out = MeteredModel(setup.box, Meter()), dict[int, Array]()
    for group in groups:
        answers = model.ask_rows(
            len(group.instances), partial(_own_inputs, group.instances), setup.batch_rows
        )
        out.update(zip(group.places, answers, strict=True))
    return np.stack([out[place] for place in sorted(out)])


def _own_inputs(group: Instances, start: int, end: int) -> Any:
    """The instances themselves, as the model is asked about them."""
    rows = range(start, end)
    return group.inputs(rows, [group.space(i).origin[None] for i in rows])


def in_order(made: PlacedExplanations) -> Iterator[Explanation]:
    """Explanations in the order of their places, each as soon as all before it are done."""
    ready: dict[int, Explanation] = {}
    following = 0
    try:
        for i, explanation in made:
            ready[i] = explanation
            while following in ready:
                yield ready.pop(following)
                following += 1
    except GeneratorExit:
        raise
    except BaseException as error:
        keep(error, ready)
        raise


def gather(
    made: PlacedExplanations, store: Callable[[Explanation], Explanation], line: Progress
) -> list[Explanation]:
    """All explanations in row order, each passed through `store`."""
    done: dict[int, Explanation] = {}
    try:
        for i, explanation in made:
            done[i] = store(explanation)
            line.at(len(done))
    except BaseException as error:
        keep(error, done)
        raise
    finally:
        line.close()
    return [done[i] for i in sorted(done)]


def keep(error: BaseException, made: Mapping[int, Explanation]) -> None:
    """Attach finished explanations, by their places, to an exception."""
    places = sorted(made)
    with suppress(Exception):  # some exceptions take no attributes
        vars(error).update(finished=[made[i] for i in places], places=places)


def take_finished(error: BaseException) -> dict[int, Explanation]:
    """The explanations that `keep` attached to an exception, by their places."""
    on = vars(error)
    return dict(zip(on.get("places", ()), on.get("finished", ()), strict=True))
