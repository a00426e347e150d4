"""What explaining would ask and cost, before anything is asked."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from eagle.engine import run
from eagle.engine.plan import Planning
from eagle.models.box import Box
from eagle.quote import Quote, quoted
from eagle.types import Group, Instances, LimitError, Points, Space
from eagle.until import Budget, Rule, looks

SAMPLE: Final = 64
"""Number of inputs that are made to estimate what all of them cost."""


def quote(
    how: Planning | None,
    box: Box,
    groups: Sequence[Group],
    batch_rows: int,
    budget: int,
    until: Rule | None,
    *,
    price_per_row: float | None,
    price_per_1000_tokens: float | None,
    seconds_per_call: float | None,
    probe: bool,
) -> Quote:
    """What it costs to explain groups. With `probe`, one row is asked to measure the seconds.

    `how` is None where another package asks the model. There, and where the answers decide what is
    asked, each instance asks at most `budget` rows.
    """
    first = groups[0].instances
    price = partial(
        quoted,
        box.function,
        first.inputs([0], [_sample(how, first.space(0))]),
        sizes(how, groups, batch_rows, until),
        sum(len(group.instances) for group in groups) * budget,
        at_most=until is not None,
        price_per_row=price_per_row,
        price_per_1000_tokens=price_per_1000_tokens,
    )
    made = price(seconds_per_call=seconds_per_call)  # refuses a wrong price before it asks
    return replace(price(seconds_per_call=_probed(box, first)), asked=1) if probe else made


def refuse_over(
    limit: Budget, how: Planning | None, groups: Sequence[Group], batch_rows: int
) -> None:
    """Refuse now what is known to cross a limit."""
    known = sizes(how, groups, batch_rows) or ()
    why = limit.crossed(sum(known), len(known), 0.0)
    if why is not None:
        raise LimitError(f"{why}, so nothing was asked: quote says what is needed")


def sizes(
    how: Planning | None, groups: Sequence[Group], batch_rows: int, until: Rule | None = None
) -> list[int] | None:
    """The rows of each call, at most if there is a rule; None where the answers decide."""
    if how is None or not how.planned:
        return None
    return [n for group in groups for n in _calls(how, group.instances, batch_rows, until)]


def _calls(
    how: Planning, instances: Instances, batch_rows: int, until: Rule | None
) -> Iterator[int]:
    """How many rows each call of `run.explain` would have, at most if there is a rule."""
    how, most = run.allowed(how, instances, batch_rows, until)
    run.refuse_large(how, instances, most, until)
    for rows in run.together(how, instances, most):
        spaces = [instances.space(i) for i in rows]
        planners = [how.planner(space, until is not None) for space in spaces]
        asked = [len(p.points) for p in run.prepare(planners, spaces)]
        for new in _rounds(asked, [len(space.origin) for space in spaces], how.budget, until):
            step = most if len(rows) == 1 else max(1, new)
            yield from (min(step, new - k) for k in range(0, max(1, new), step))


def _rounds(
    asked: Sequence[int], features: Sequence[int], budget: int, until: Rule | None
) -> Iterator[int]:
    """Rows per round over all walks, given the total of each walk.

    Where rows repeat, a walk may get them in later rounds than is counted here, but in no more.
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


def _sample(how: Planning | None, space: Space) -> Points:
    """Points like those that would be asked: of masks, which differ in length, the first."""
    if how is None or not how.planned or not space.masks:
        return space.origin[None]
    (prepared,) = how.planner(space).prepare([space])
    return prepared.points[:SAMPLE]


def _probed(box: Box, instances: Instances) -> float:
    """The seconds that the model takes for one row."""
    row = instances.inputs([0], [instances.space(0).origin[None]])
    began = time.perf_counter()
    box.ask(row, 1)
    return time.perf_counter() - began
