"""Plan, query, fit: from instances to what a method has learnt about each of them."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from eagle.design import room
from eagle.surrogate.fit import Fitter, Surrogate
from eagle.types import (
    Adaptive,
    AnswerError,
    Array,
    InputError,
    Instances,
    Kernel,
    Need,
    Planned,
    Points,
    Seen,
    Space,
)
from eagle.until import Look, Rule, looks


@final
@dataclass(frozen=True)
class Method:
    """A way to explain: a design picks the points, a kernel weighs them, a surrogate is fitted.

    On masks, which parts of a picture or a text are kept, `on_masks` weighs them if given.
    `budget` is how many rows the model is asked unless the caller says otherwise.
    """

    name: str
    design: Planned | Adaptive
    kernel: Kernel
    surrogate: Surrogate
    on_masks: Kernel | None = None
    budget: int = 500

    @property
    def planned(self) -> bool:
        """Whether all points are known before any answer."""
        return hasattr(self.design, "plan")

    @property
    def needs(self) -> frozenset[Need]:
        """What the method cannot do without: what its parts cannot."""
        parts = (self.design, self.surrogate)
        return frozenset[Need]().union(*(getattr(part, "needs", ()) for part in parts))

    def fitted_on(self, space: Space, points: Points, features: Array) -> Array:
        """What the surrogate sees of the points: their features, or their values if it needs them.

        Values are a row's own, also where rows of one law share points, features and weights.
        """
        return space.values(points) if Need.VALUES in self.needs else features

    def kernel_in(self, space: Space) -> Kernel:
        return self.on_masks if space.masks and self.on_masks is not None else self.kernel

    def weight(self, space: Space, features: Array) -> Array:
        """How much each row counts, shape (n,): by the kernel, unless the design absorbs it."""
        kernel = self.kernel_in(space)
        absorbed: Callable[..., Array] | None = getattr(self.design, "weight", None)
        if absorbed is not None:
            return absorbed(space, kernel, features)
        return kernel(features, space.features(space.origin[None])[0])


@final
@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a method knows of an instance before any answer."""

    points: Points
    features: Array
    weight: Array
    fitter: Fitter

    @property
    def nbytes(self) -> int:
        """How much memory it holds."""
        return self.points.nbytes + self.features.nbytes + self.fitter.nbytes


@final
@dataclass(frozen=True, eq=False)
class Asked:
    """One instance with its answers, shape (n, outputs), and what they cost."""

    i: int
    prepared: Prepared
    answers: Array
    calls: int
    model_seconds: float
    own_seconds: float
    stopped: str = ""


@final
class Memory:
    """The plans made last in this process, up to so many bytes of them."""

    def __init__(self, most: int) -> None:
        self._most, self._size, self._lock = most, 0, Lock()
        self._plans: OrderedDict[Hashable, Prepared] = OrderedDict()

    def get(self, key: Hashable) -> Prepared | None:
        with self._lock:
            if key in self._plans:
                self._plans.move_to_end(key)
            return self._plans.get(key)

    def put(self, key: Hashable, plan: Prepared) -> None:
        with self._lock:
            if key not in self._plans:
                self._size += plan.nbytes
                self._plans[key] = plan
            while self._size > self._most and len(self._plans) > 1:
                self._size -= self._plans.popitem(last=False)[1].nbytes

    def clear(self) -> None:
        with self._lock:
            self._plans.clear()
            self._size = 0


MEMORY = Memory(64 << 20)

LONGEST = 16
"""A plan of masks is made at most so many times longer than the budget, to ask enough of them."""


@final
@dataclass(frozen=True)
class Planner:
    """Plans by law: instances of one law share points, weights and algebra.

    Method, budget, seed and law alone decide a plan; what was planned before, or together, never
    does. So plans are remembered for the whole process: explainers of tables alike share them.
    """

    method: Method
    budget: int
    seed: int

    def prepare(self, spaces: Sequence[Space]) -> list[Prepared]:
        """For each space its points, and everything about them that needs no answers."""
        found: dict[Hashable, Prepared] = {}
        fresh: dict[Hashable, Space] = {}
        for space in spaces:
            law = space.law
            known = found.get(law) or MEMORY.get(self._key(space))
            if known is None:
                fresh[law] = space
            else:
                found[law] = known
        for alike in _by_size(fresh.values()):
            self.refuse_large(alike[0])
            for space, points in zip(alike, self._plans(alike), strict=True):
                found[space.law] = self._prepared(space, points)
                MEMORY.put(self._key(space), found[space.law])
        return [self._own(found[space.law], space) for space in spaces]

    def _plans(self, spaces: Sequence[Space]) -> list[Points]:
        kernel = self.method.kernel_in(spaces[0])
        plans = self._design.plan(spaces, kernel, self.budget, self.generator())
        if not spaces[0].masks:
            return plans
        return [self._filled(space, plan) for space, plan in zip(spaces, plans, strict=True)]

    def _filled(self, space: Space, points: Points) -> Points:
        """A plan of masks, as long as it takes to ask the budget, or all masks there are.

        Many are drawn more than once. Never shorter than the budget, so that plans are nested.
        """
        n, d = self.budget, len(space.origin)
        most = self.budget if d >= 63 else min(self.budget, 2**d)
        while len(first := space.distinct(points)[0]) < most and n < LONGEST * self.budget:
            n *= 2
            replace(self, budget=n).refuse_large(space)
            plan = self._design.plan([space], self.method.kernel_in(space), n, self.generator())
            points = plan[0]
        if len(first) < most:
            return points
        return points[: max(self.budget, int(first[most - 1]) + 1)]

    def refuse_large(self, space: Space) -> tuple[int, int]:
        """How many rows and features a plan may have; one without room is refused, unmade."""
        at_most: Callable[[Space], int] | None = getattr(self.method.design, "at_most", None)
        rows = self.budget if at_most is None else min(self.budget, at_most(space))
        d = space.features(space.origin[None]).shape[1]
        room.refuse_plan(rows, d, self.method.surrogate)
        return rows, d

    def generator(self) -> np.random.Generator:
        """The one source of chance, fresh for each plan and each instance."""
        return np.random.Generator(np.random.PCG64(self.seed))

    @property
    def _design(self) -> Planned:
        if not self.method.planned:
            raise InputError(
                f"{self.method.name} chooses rows by the answers to those before, so there is "
                "nothing to plan: use explain"
            )
        design: Planned = self.method.design  # type: ignore[assignment]
        return design

    def _key(self, space: Space) -> Hashable:
        return self, type(space), space.law

    def _prepared(self, space: Space, points: Points, often: Any = 1) -> Prepared:
        features = space.features(points)
        weight = self.method.weight(space, features) * often
        return self.ready(points, self.method.fitted_on(space, points, features), weight)

    def ready(self, points: Points, features: Array, weight: Array) -> Prepared:
        """Points with all that the surrogate can do before the answers."""
        fitter = self.method.surrogate.on(features, weight)
        # Explanations show these arrays, and others will stand on them: nobody may write there.
        for shared in (points, features, weight, *fitter.shared):
            shared.flags.writeable = False
        return Prepared(points, features, weight, fitter)

    def _own(self, shared: Prepared, space: Space) -> Prepared:
        """Each row once, with its own values: asked again, a deterministic model says nothing new.

        A row that was planned several times keeps that weight in the line, but it is one
        observation: replicates would narrow intervals without teaching anything.
        """
        first, often = space.distinct(shared.points)
        if len(first) == len(shared.points) and Need.VALUES not in self.method.needs:
            return shared
        return self._prepared(space, shared.points[first], often)


def _by_size(spaces: Iterable[Space]) -> list[list[Space]]:
    """Spaces that can be planned together: as texts have, they may differ in how many features."""
    found: dict[int, list[Space]] = {}
    for space in spaces:
        found.setdefault(len(space.origin), []).append(space)
    return list(found.values())


Aim = Callable[[Array], Array]
"""Answers, shape (n, outputs), to the numbers to be explained, shape (n,)."""

Watch = Callable[[Look, float], None]
"""Told at every look what is known, and about how many rows it will take in all."""

Query = Callable[[Any, int], Array]
"""Inputs and how many there are, to checked answers, shape (n, outputs)."""


Told = tuple[Prepared, Array, int, str]
"""What was planned, the answers, the calls, and why no more was asked."""


def ask(
    planner: Planner, instances: Instances, query: Query, batch_rows: int, aim: Aim,
    until: Rule | None = None, watch: Watch | None = None,
) -> Iterator[Asked]:  # fmt: skip
    """Explain instances together: what they ask is stacked, so the model sees full batches.

    No call has more rows than `batch_rows`: a plan that is longer is asked in parts. `aim` tells
    an adaptive design which number of each answer is to be explained. With `until`, a plan is
    asked in growing parts until the rule is met; `watch` is told of every look.
    """
    size = max(1, batch_rows // max(planner.budget, 1))
    _refuse_large(planner, instances, batch_rows, until)
    for start in range(0, len(instances), size):
        rows = range(start, min(start + size, len(instances)))
        began = time.perf_counter()
        model = _Model(instances, query, batch_rows)
        if until is not None:
            found = _until(planner, rows, model, aim, until, watch)
        else:
            asked = _planned if planner.method.planned else _adaptive
            found = asked(planner, rows, model, aim)
        own = time.perf_counter() - began - model.seconds
        for i, (prepared, answers, calls, why) in zip(rows, found, strict=True):
            share = len(rows)
            yield Asked(i, prepared, answers, calls, model.seconds / share, own / share, why)


def _refuse_large(
    planner: Planner, instances: Instances, batch_rows: int, until: Rule | None
) -> None:
    """What this machine has no memory for is refused before anything is planned or asked."""
    longest = planner.budget if until is None else int(min(planner.budget, until.most))
    planner, first = replace(planner, budget=longest), instances.space(0)
    rows, d = planner.refuse_large(first)
    if not first.masks:
        room.refuse_call(min(batch_rows, rows * len(instances)), d)
        return
    for alike in _by_size(instances.space(i) for i in range(len(instances))):
        planner.refuse_large(alike[0])  # texts differ in how many parts they have


@final
class _Model:
    """Asks points around instances, in as few calls as may be, and keeps the time."""

    def __init__(self, instances: Instances, query: Query, most: int) -> None:
        self.instances, self._query, self._most = instances, query, most
        self.calls, self.seconds = 0, 0.0
        self._paid: list[Array] = []

    def ask(self, rows: Sequence[int], points: Sequence[Points]) -> list[Array]:
        """The answers to the points around each row."""
        answers: list[Array] = []
        for part, parts in _parts(rows, points, self._most):
            inputs = self.instances.inputs(part, parts)
            asked = time.perf_counter()
            try:
                answers.append(self._query(inputs, sum(map(len, parts))))
            except AnswerError as error:
                paid = self._paid + answers
                error.answers = np.concatenate(paid) if paid else None
                raise
            self.seconds += time.perf_counter() - asked
            self.calls += 1
            del inputs  # or the next part would be drawn beside this one
        self._paid += answers
        return np.split(np.concatenate(answers), np.cumsum([len(p) for p in points])[:-1])


def _planned(planner: Planner, rows: Sequence[int], model: _Model, aim: Aim) -> list[Told]:
    prepared = planner.prepare([model.instances.space(i) for i in rows])
    answers = model.ask(rows, [p.points for p in prepared])
    return [(p, a, model.calls, "") for p, a in zip(prepared, answers, strict=True)]


def _until(
    planner: Planner, rows: Sequence[int], model: _Model, aim: Aim, rule: Rule,
    watch: Watch | None,
) -> list[Told]:  # fmt: skip
    """Plans are nested, so each look has the rows of a longer one, and asks what is new in it.

    Each instance looks at its own pace, as it would alone; what all want goes into one call.
    """
    spaces = {i: model.instances.space(i) for i in rows}
    most = int(min(planner.budget, rule.most))
    lengths = {i: looks(len(space.origin), most) for i, space in spaces.items()}
    found: dict[int, Told] = {}
    known: dict[int, Array] = {}
    calls: dict[int, int] = {}
    for turn in range(max(map(len, lengths.values()))):
        active = [i for i in rows if i not in found]
        if not active:
            break
        prepared = {
            i: replace(planner, budget=lengths[i][turn]).prepare([spaces[i]])[0] for i in active
        }
        if not turn:
            _refuse_unsure(planner.method, prepared[active[0]])
        fresh = {i: prepared[i].points[len(known.get(i, ())) :] for i in active}
        fresh = {i: points for i, points in fresh.items() if len(points)}  # a space has an end
        before = model.calls
        replies = model.ask(list(fresh), list(fresh.values())) if fresh else []
        for i, reply in zip(fresh, replies, strict=True):
            known[i] = np.concatenate([known[i], reply]) if turn else reply
            calls[i] = calls.get(i, 0) + model.calls - before
        for i in active:
            fitted = prepared[i].fitter.fit(aim(known[i]))
            assert fitted.posterior is not None
            rows_asked = len(known[i])
            look = Look(
                fitted.posterior, rows_asked, calls[i], model.seconds / len(rows), len(lengths[i])
            )
            why = rule.met(look)
            if watch is not None:
                watch(look, rule.rows(look))
            if why is None and turn + 1 == len(lengths[i]):
                why = f"all {rows_asked} rows were asked, and still it was not sure enough"
            if why is not None:
                found[i] = prepared[i], known[i], calls[i], why
    return [found[i] for i in rows]


def _refuse_unsure(method: Method, prepared: Prepared) -> None:
    """Before anything is asked: who never knows how sure it is cannot stop when sure."""
    silent = prepared.fitter.fit(np.zeros(len(prepared.points)))
    if silent.posterior is None:
        raise InputError(
            f"{method.name} gives scores without intervals, so it is never sure: "
            "eagle.methods.Bootstrapped(method) gives any planned method intervals"
        )


def _adaptive(planner: Planner, rows: Sequence[int], model: _Model, aim: Aim) -> list[Told]:
    """In rounds: what all instances ask next goes into one call."""
    walks = {i: _Walk(planner, model.instances.space(i)) for i in rows}
    active = dict(walks)
    while active:
        asked = {i: walk.next(aim) for i, walk in active.items()}
        asked = {i: points for i, points in asked.items() if len(points)}
        active = {i: active[i] for i in asked}
        if asked:
            before = model.calls
            replies = model.ask(list(asked), list(asked.values()))
            for i, reply in zip(asked, replies, strict=True):
                active[i].answered(reply, model.calls - before)
    return [(walk.prepared(), walk.answers, walk.calls, "") for walk in walks.values()]


PATIENCE = 3
"""So many rounds in a row may bring nothing new: a small space may have no more to ask."""


@final
@dataclass(eq=False)
class _Walk:
    """How far an adaptive design has come with one instance.

    `chosen` are all points chosen, `first` those of them that were asked: a row that is chosen
    again is not asked again, but counts again.
    """

    planner: Planner
    space: Space
    rng: np.random.Generator = field(init=False)
    chosen: Points = field(init=False)
    first: NDArray[np.intp] = field(init=False)
    often: NDArray[np.intp] = field(init=False)
    features: Array = field(init=False)
    base: Array = field(init=False)
    answers: Array = field(init=False)
    calls: int = 0

    def __post_init__(self) -> None:
        self.rng = self.planner.generator()
        self.chosen = self.space.origin[None][:0]
        self.first = self.often = np.empty(0, dtype=np.intp)
        self.features, self.base = self.space.features(self.chosen), np.empty(0)
        self.answers = np.empty((0, 1))

    def next(self, aim: Aim) -> Points:
        """The points to ask now; none when the design is done."""
        design: Adaptive = self.planner.method.design  # type: ignore[assignment]
        for _ in range(PATIENCE):
            left = self.planner.budget - len(self.first)
            if left <= 0:
                break
            y = aim(self.answers) if self.calls else np.empty(0)
            seen = Seen(self.chosen[self.first], self.features, self.base * self.often, y)
            kernel = self.planner.method.kernel_in(self.space)
            points = design.ask(seen, self.space, kernel, left, self.rng)[:left]
            if not len(points):
                break
            known = len(self.first)
            self.chosen = np.concatenate([self.chosen, points])
            self.first, self.often = self.space.distinct(self.chosen)
            fresh = self.chosen[self.first[known:]]
            if len(fresh):
                features = self.space.features(fresh)
                weight = self.planner.method.weight(self.space, features)
                self.features = np.concatenate([self.features, features])
                self.base = np.concatenate([self.base, weight])
                return fresh
        return self.chosen[:0]

    def answered(self, reply: Array, calls: int) -> None:
        self.answers = np.concatenate([self.answers, reply]) if self.calls else reply
        self.calls += calls

    def prepared(self) -> Prepared:
        points = self.chosen[self.first]
        seen = self.planner.method.fitted_on(self.space, points, self.features)
        return self.planner.ready(points, seen, self.base * self.often)


def _parts(
    rows: Sequence[int], points: Sequence[Points], most: int
) -> Iterator[tuple[Sequence[int], Sequence[Points]]]:
    """What goes into one call each: all together, or a single long plan in parts."""
    if len(rows) > 1 or len(points[0]) <= most:
        yield rows, points
        return
    for start in range(0, len(points[0]), most):
        yield rows, [points[0][start : start + most]]
