"""What explaining would ask and cost, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from eagle._engine.metering import MeteredModel, rows_per_call
from eagle._engine.pipeline import MAX_SAMPLE, batches, calls_of, plan_rows, refuse_large
from eagle._engine.setup import Setup
from eagle.contracts import Group, Instances
from eagle.cost import Cost, CostEstimate, estimate_calls, expected_cost
from eagle.errors import LimitError
from eagle.limit import Meter
from eagle.models.box import Box
from eagle.until import Rule, looks

MAX_INSTANCES: Final = 8
"""Maximum number of instances of a group whose inputs are made to estimate what all cost."""


def estimate_cost(
    setup: Setup,
    groups: Sequence[Group],
    until: Rule | None,
    *,
    price_per_row: float | None,
    price_per_1000_tokens: float | None,
    seconds_per_call: float | None,
    probe: bool,
) -> CostEstimate:
    """What it costs to explain groups. With `probe`, one row is asked to measure the seconds.

    Where another package asks the model, and where the answers decide what is asked, each instance
    asks at most the budget.
    """

    def price(group: Group, seconds: float | None) -> CostEstimate:
        return estimate_calls(
            setup.box.remote,
            _sample(setup, group.instances),
            call_sizes(setup, group.instances, until),
            len(group.instances) * setup.budget,
            at_most=until is not None,
            price_per_row=price_per_row,
            price_per_1000_tokens=price_per_1000_tokens,
            seconds_per_call=seconds,
        )

    made = _sum([price(group, seconds_per_call) for group in groups])  # refuses a wrong price first
    if not probe:
        return made
    seconds = _measure_seconds(setup.box, groups[0].instances)
    return replace(_sum([price(group, seconds) for group in groups]), asked=1)


def _sum(estimates: Sequence[CostEstimate]) -> CostEstimate:
    first, *others = estimates
    return sum(others, first)


def refuse_over(meter: Meter, setup: Setup, groups: Sequence[Group]) -> None:
    """Refuse now what is known to cross the limit of a meter; tokens are known about."""
    total = Cost()
    for group in groups:
        known = call_sizes(setup, group.instances)
        if known is not None:
            like = partial(_sample, setup, group.instances)
            every = partial(_tables, setup, group.instances)
            total += expected_cost(setup.box.remote, known, like, every)
    why = meter.over_limit(total)
    if why is not None:
        nothing = "no more" if meter.cost.rows else "nothing"
        raise LimitError(f"{why}, so {nothing} was asked: estimate_cost says what is needed")


def call_sizes(setup: Setup, group: Instances, until: Rule | None = None) -> list[int] | None:
    """The rows of each call, at most if there is a rule; None where the answers decide."""
    return list(_call_sizes(setup, group, until)) if setup.method.planned else None


def _call_sizes(setup: Setup, group: Instances, until: Rule | None) -> Iterator[int]:
    most = rows_per_call(setup.batch_rows, group.row_bytes)
    refuse_large(setup, group, until)
    for rows in batches(len(group), setup.budget, most):
        planned = plan_rows(setup, group, rows, until is not None)
        asked = [len(one.points) for _, one in planned]
        features = [len(group.space(i).origin) for i in rows]
        for new in _rounds(asked, features, setup.budget, until):
            step = most if len(rows) == 1 else max(1, new)
            yield from (min(step, new - k) for k in range(0, max(1, new), step))


def _tables(setup: Setup, group: Instances) -> Iterator[Any]:
    """The inputs of each call, without a rule."""
    most = rows_per_call(setup.batch_rows, group.row_bytes)
    for rows in batches(len(group), setup.budget, most):
        points = [one.points for _, one in plan_rows(setup, group, rows)]
        yield from (group.inputs(*part) for part in calls_of(rows, points, most))


def _rounds(
    asked: Sequence[int], features: Sequence[int], budget: int, until: Rule | None
) -> Iterator[int]:
    """Rows per round over all instances, given the total of each.

    Where rows repeat, they may come in later rounds than is counted here, but in no more.
    """
    if until is None:
        yield sum(asked)
        return
    ends = [looks(d, budget) for d in features]
    before = 0
    for k in range(max(map(len, ends))):
        total = sum(min(n, end[min(k, len(end) - 1)]) for n, end in zip(asked, ends, strict=True))
        yield total - before
        before = total


def _sample(setup: Setup, group: Instances) -> Any:
    """Inputs like those that would be asked: of masks, which differ in length, from all over."""
    first = group.space(0)
    if not setup.method.planned or not first.masks:
        return group.inputs([0], [first.origin[None]])
    some = _spread(len(group), MAX_INSTANCES)
    points = [one.points for _, one in plan_rows(setup, group, some)]
    each = MAX_SAMPLE // len(some)
    return group.inputs(some, [asked[_spread(len(asked), each)] for asked in points])


def _spread(count: int, most: int) -> list[int]:
    """At most so many of the places from 0 to `count`, evenly spread and without the ends."""
    if count <= most:
        return list(range(count))
    return [(2 * k + 1) * count // (2 * most) for k in range(most)]


def _measure_seconds(box: Box, instances: Instances) -> float:
    """The seconds that the model takes for one row."""
    model = MeteredModel(box, Meter())
    model.ask(instances.inputs([0], [instances.space(0).origin[None]]), 1)
    return model.seconds
