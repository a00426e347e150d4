"""Plan, query, fit: the one loop of every explanation.

As many instances are explained together as fit into a call. Each has a *walk*, which says what to
ask next: a whole plan at once, growing parts of it, or points chosen by the answers so far.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Protocol, TypeAlias, final, runtime_checkable

import numpy as np

from eagle.engine import room
from eagle.engine.plan import Plan, Planner, Planning, Prepared, by_size
from eagle.engine.walk import Choosing, Growing, Watch
from eagle.evidence import Asked, Bill
from eagle.explanation import Explanation, described
from eagle.log import LOG
from eagle.models.box import Box, Steady
from eagle.progress import Progress
from eagle.targets import (
    Target,
    aimed_at,
    answers_of,
    bounds_of,
    explained,
    refuse_pair,
    too_small,
)
from eagle.types import (
    Adaptive,
    AnswerError,
    Array,
    Group,
    InputError,
    Instances,
    LimitError,
    Points,
    Range,
    Space,
    check_space,
    message_of,
    told,
)
from eagle.until import Budget, Rule

PlacedExplanations: TypeAlias = Iterator[tuple[int, Explanation]]
"""Explanations as they are made, each with the place of its row."""

Show: TypeAlias = Callable[[Explanation, float], None]
"""A function of the explanation so far, and a forecast of the total number of rows."""

CALL_BYTES: Final = 256 << 20
"""The largest number of bytes of images in a call."""


@final
@dataclass(frozen=True, eq=False)
class Request:
    """What is to be explained, of which model, and how it may be asked.

    The model is asked through the meter, and its answers are read by the box. The meter's own box
    may be stricter: where another package explains, it takes no row without an answer. No call has
    more rows than `batch_rows`. With `until`, each plan is asked in growing parts until that rule
    is met; `watch` is called at every look, and `show` with the explanation so far.
    """

    box: Box
    meter: Meter
    target: Target
    batch_rows: int
    until: Rule | None = None
    watch: Watch | None = None
    show: Show | None = None

    def aim(self, answers: Array) -> tuple[Array, Range]:
        """The numbers to explain so far, shape (n,), and their bounds."""
        task, outputs = self.box.understood(answers)
        target = aimed_at(self.target, answers, task, outputs)
        link = self.box.link
        y = answers_of(answers, outputs, target, link)
        # Answers too small to square count as equal here: larger ones may follow. If none does,
        # they are refused in the end.
        return np.zeros_like(y) if too_small(y) else y, bounds_of(
            target, answers, task, self.box.link
        )


def each(
    groups: Sequence[Group],
    explain: Callable[[Instances, Request], PlacedExplanations],
    request: Request,
) -> PlacedExplanations:
    """Explain all groups, small ones first. The places are those of all that were given."""
    for group in sorted(groups, key=lambda group: len(group.instances)):
        for i, explanation in explain(group.instances, request):
            yield group.places[i], explanation


def explain(how: Planning, instances: Instances, request: Request) -> PlacedExplanations:
    """Explain instances together, so that the model is asked full batches."""
    how, most = allowed(how, instances, request.batch_rows, request.until)
    refuse_large(how, instances, most, request.until)
    for rows in together(how, instances, most):
        began = time.perf_counter()
        model = _Model(instances, request.meter, most, len(rows))
        planners = [how.planner(instances.space(i), request.until is not None) for i in rows]
        walks = plan(planners, model, rows, request)
        LOG.debug(
            "planned %d instances by %s, budget %d", len(rows), planners[0].method.name, how.budget
        )
        query(walks, model)
        prepared = [walk.prepared for walk in walks.values()]
        own = (time.perf_counter() - began) / len(rows) - model.share()
        for (i, walk), planner, known in zip(walks.items(), planners, prepared, strict=True):
            made = Plan.of(instances, i, known, planner.method, planner.seed, request.box)
            yield i, _billed(made, walk, request.target, model.share(), own, model.tokens())


def allowed(
    how: Planning, instances: Instances, batch_rows: int, until: Rule | None
) -> tuple[Planning, int]:
    """The planning, its budget capped by the rule, and the largest number of rows in one call."""
    most = min(batch_rows, max(1, CALL_BYTES // max(1, instances.row_bytes)))
    if until is not None:
        how = replace(how, budget=int(min(how.budget, until.most)))
    return how, most


def together(how: Planning, instances: Instances, most: int) -> Iterator[range]:
    """The instances that are asked together: as many as fit into a call."""
    size = max(1, most // how.budget)
    for start in range(0, len(instances), size):
        yield range(start, min(start + size, len(instances)))


# -- plan ---------------------------------------------------------------------------------------


class Walk(Protocol):
    """What to ask about one instance: `next` gives points until there are none."""

    def next(self) -> Points:
        """The points to ask now; none when it is done."""

    def answered(self, reply: Array, calls: int) -> None:
        """The answers to these points, shape (n, outputs), and the calls that it took."""

    def halted(self, why: str) -> None:
        """The limit is reached: drop the last request and finish with the answers so far."""

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

    def halted(self, why: str) -> None:
        self.stopped = why


def plan(
    planners: Sequence[Planner], model: _Model, rows: Sequence[int], request: Request
) -> dict[int, Walk]:
    """The walk of each instance: its whole plan, growing parts of it, or by the answers."""
    spaces, until = [model.instances.space(i) for i in rows], request.until
    if until is None and planners[0].method.planned:
        return dict(zip(rows, map(Whole, prepare(planners, spaces)), strict=True))
    walks: dict[int, Walk] = {}
    for i, planner, space in zip(rows, planners, spaces, strict=True):
        design = planner.method.design
        if isinstance(design, Adaptive):
            walks[i] = Choosing(planner, design, space, request.aim)
        elif until is not None:
            show = None if request.show is None else partial(_so_far, model, i, planner, request)
            walks[i] = Growing(planner, space, request.aim, until, request.watch, model.share, show)
    return walks


def _so_far(
    model: _Model, i: int, planner: Planner, request: Request, walk: Growing, rows: float
) -> None:
    """Show the explanation of instance i from what was answered so far."""
    assert request.show is not None
    made = Plan.of(model.instances, i, walk.prepared, planner.method, planner.seed, request.box)
    shown = _billed(made, walk, request.target, walk.seconds(), 0.0, model.tokens())
    request.show(shown, rows)


def prepare(planners: Sequence[Planner], spaces: Sequence[Space]) -> list[Prepared]:
    """What each planner prepares for its space. Spaces of one method are planned together."""
    together: dict[int, list[int]] = {}
    for k, planner in enumerate(planners):
        together.setdefault(id(planner.method), []).append(k)
    out: dict[int, Prepared] = {}
    for places in together.values():
        prepared = planners[places[0]].prepare([spaces[k] for k in places])
        out.update(zip(places, prepared, strict=True))
    return [out[k] for k in range(len(spaces))]


def refuse_large(how: Planning, instances: Instances, most: int, until: Rule | None) -> None:
    """Refuse what does not fit into memory, before anything is planned or asked."""
    first = instances.space(0)
    check_space(first)
    rows, d = how.planner(first, until is not None).refuse_large(first)
    if not first.masks:
        room.refuse_call(min(most, rows * len(instances)), d)
        return
    for space, *_ in by_size(instances.space(i) for i in range(len(instances))):
        how.planner(space, until is not None).refuse_large(space)  # texts differ in size


# -- query --------------------------------------------------------------------------------------


@runtime_checkable
class Counts(Protocol):
    """A language model of `eagle.models` that sums the tokens it was billed for.

    Models of other packages may have `tokens` that mean something else; they have no `as_box`.
    """

    @property
    def as_box(self) -> Callable[..., Box]:
        """How it is asked, and how its answers are read."""

    @property
    def tokens(self) -> int | None:
        """The tokens of all replies so far; None if they are not counted."""


@final
class Meter:
    """All calls of the model go through this. It refuses calls that would exceed the limit."""

    def __init__(self, box: Box, limit: Budget | None = None) -> None:
        self._query, self._limit, self._model = Steady(box).ask, limit, box.function
        self._rows, self._calls, self._seconds = 0, 0, 0.0

    @property
    def tokens(self) -> int | None:
        """The tokens that the model has counted in its life; None if it counts none."""
        return self._model.tokens if isinstance(self._model, Counts) else None

    def crossed(self, rows: int, calls: int = 1) -> LimitError | None:
        """The LimitError to raise if these rows and calls exceed the limit; None if they fit."""
        if self._limit is None:
            return None
        why = self._limit.crossed(self._rows + rows, self._calls + calls, self._seconds)
        return None if why is None else LimitError(f"{why}: no more was asked")

    def ask(self, inputs: Any, rows: int) -> Array:
        """The checked answers. What is refused here was not asked."""
        error = self.crossed(rows)
        if error is not None:
            LOG.info("a limit would be crossed by %d more rows: not asked", rows)
            raise error
        self._rows += rows  # before they are asked: also a call that fails may be billed
        self._calls += 1
        began = time.perf_counter()
        try:
            return self._query(inputs, rows)
        finally:
            self._seconds += time.perf_counter() - began


def query(walks: Mapping[int, Walk], model: _Model) -> None:
    """Ask in rounds: one call has the next points of all walks, until there are none.

    At a limit, walks that have answers end with these. One without answers cannot be explained.
    """
    active = dict(walks)
    while active:
        wanted = {i: walk.next() for i, walk in active.items()}
        wanted = {i: points for i, points in wanted.items() if len(points)}
        active = {i: active[i] for i in wanted}
        if not active:
            return
        error = model.crossed(list(wanted.values()))
        if error is not None and not all(walk.calls for walk in active.values()):
            raise error
        if error is not None:
            for walk in active.values():
                walk.halted(message_of(error))
            return
        before = model.calls
        replies = model.ask(list(wanted), list(wanted.values()))
        for walk, reply in zip(active.values(), replies, strict=True):
            walk.answered(reply, model.calls - before)


@final
class _Model:
    """Asks points around instances, in as few calls as possible, and measures the time."""

    def __init__(self, instances: Instances, meter: Meter, most: int, together: int) -> None:
        self.instances, self._meter, self._most = instances, meter, most
        self._together, self._seconds = together, 0.0
        self.calls = 0
        self._before = meter.tokens
        self._paid: list[Array] = []

    def share(self) -> float:
        """The model's seconds so far, divided by the instances that share its calls."""
        return self._seconds / self._together

    def tokens(self) -> int | None:
        """The tokens so far, divided in the same way; None if the model counts none."""
        now = self._meter.tokens
        if now is None or self._before is None:
            return None
        return round((now - self._before) / self._together)

    def crossed(self, points: Sequence[Points]) -> LimitError | None:
        """The LimitError if asking these points exceeds the limit; else None."""
        rows = sum(map(len, points))
        return self._meter.crossed(rows, 1 if len(points) > 1 else -(-rows // self._most))

    def ask(self, rows: Sequence[int], points: Sequence[Points]) -> list[Array]:
        """The answers to the points around each row."""
        answers: list[Array] = []
        for part, parts in _parts(rows, points, self._most):
            inputs = self.instances.inputs(part, parts)
            asked = time.perf_counter()
            try:
                answers.append(self._meter.ask(inputs, sum(map(len, parts))))
            except AnswerError as error:
                paid = self._paid + answers
                paid += [] if error.answers is None else [np.asarray(error.answers)]
                error.answers = np.concatenate(paid) if paid else None
                raise
            self._seconds += time.perf_counter() - asked
            self.calls += 1
            del inputs  # free this part before the next one is made
        self._paid += answers
        return np.split(np.concatenate(answers), np.cumsum([len(p) for p in points])[:-1])


def _parts(
    rows: Sequence[int], points: Sequence[Points], most: int
) -> Iterator[tuple[Sequence[int], Sequence[Points]]]:
    """The content of each call: all points together, or a part of one long plan."""
    if len(rows) > 1 or len(points[0]) <= most:
        yield rows, points
        return
    for start in range(0, len(points[0]), most):
        yield rows, [points[0][start : start + most]]


# -- fit ----------------------------------------------------------------------------------------


def fit(plan: Plan, answers: Array, target: Target, bill: Bill) -> Explanation:
    """The explanation from the checked answers to a plan, shape (rows, outputs), and their cost."""
    refuse_pair(plan.method, plan.surrogate.needs, target)
    asked, link = len(answers), plan.box.link
    prepared, answers = plan.prepared.answered(answers, plan.surrogate)
    task, outputs = plan.box.understood(answers)
    target = aimed_at(target, answers, task, outputs)
    y = explained(answers, outputs, target, link)
    fitted = prepared.fitter.fit(y, bounds_of(target, answers, task, link))
    if np.shape(fitted.scores) != (len(plan.names),) or not np.isfinite(fitted.scores).all():
        raise InputError(
            f"{plan.method}: a surrogate must give a finite score for each of {len(plan.names)} "
            f"features, not {told(fitted.scores)}"
        )
    rows = prepared.rows
    return Explanation(
        names=plan.names,
        conditions=plan.conditions,
        data=plan.data,
        target=target,
        outputs=outputs,
        task=task,
        contrast=plan.contrast,
        evidence=Asked(
            prepared.points, rows.features, rows.weight, answers, rows.often, plan.moves, rows.law
        ),
        bill=replace(bill, missing=asked - len(answers)),
        method=plan.method,
        surrogate=plan.surrogate,
        seed=plan.seed,
        subject=plan.subject,
        link=link,
        **described(fitted, y),
    )


def _billed(
    known: Plan, walk: Walk, target: Target, seconds: float, own: float, tokens: int | None
) -> Explanation:
    """The fit to all answers of a walk, and its cost: the model's seconds and our own."""
    began = time.perf_counter()
    bill = Bill(len(walk.answers), walk.calls, seconds, own, walk.stopped, tokens=tokens)
    explanation = fit(known, walk.answers, target, bill)
    own += time.perf_counter() - began
    return replace(explanation, bill=replace(explanation.bill, own_seconds=own))


# -- many ---------------------------------------------------------------------------------------


def predict(box: Box, groups: Sequence[Group], batch_rows: int) -> Array:
    """The model's own answers about the instances of groups, in the order of their places."""
    ask, out = Steady(box), dict[int, Array]()
    for group in groups:
        instances = group.instances
        for start in range(0, len(instances), batch_rows):
            part = range(start, min(start + batch_rows, len(instances)))
            points = [instances.space(i).origin[None] for i in part]
            answers = ask.ask(instances.inputs(part, points), len(part))
            out.update((group.places[i], one) for i, one in zip(part, answers, strict=True))
    return np.stack([out[place] for place in sorted(out)])


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


def gathered(
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


def kept(error: BaseException) -> dict[int, Explanation]:
    """The explanations that `keep` attached to an exception, by their places."""
    on = vars(error)
    return dict(zip(on.get("places", ()), on.get("finished", ()), strict=True))
