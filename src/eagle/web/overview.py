"""All rows: explanations of rows spread over the table, and what they have in common."""

from __future__ import annotations

from asyncio import to_thread
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle._engine.pipeline import take_finished
from eagle._questions.errors import spread_over
from eagle._values.means import Means
from eagle._values.targets import Target
from eagle.errors import InputError
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.web import payload_many
from eagle.web.listing import ask_predictions
from eagle.web.requests import AboutFeature, Run
from eagle.web.state import State
from eagle.web.worker import Job, Stopped

MAX_ROWS_FROM_SURVEY: Final = 500
"""Number of rows, evenly spread, that are explained from a survey."""

MAX_ROWS_RATIO: Final = 1.25
"""If all rows are at most this many times that number, all are explained."""

MAX_ROWS_ONE_BY_ONE: Final = 60
"""Number of rows explained without a survey: fewer, since each asks rows of its own."""

Numbers: TypeAlias = NDArray[np.intp]

Overview: TypeAlias = tuple[Explanations, Numbers, Means]
"""Explanations, the numbers of their rows, and how much each feature matters over them."""


async def run_overview(state: State, job: Job, request: Run) -> dict[str, Any]:
    """Explain rows spread over the table, once, and say what they have in common."""
    key = _key(state, request)
    done: Overview | None = state.result(key)
    rows = _numbers(state, request)
    if done is None or (request.rows is not None and len(done[1]) != len(rows)):
        e, rows = await _explain_many(state, job, request, rows)
        job.progress("weighing", 0, len(rows))
        done = state.keep(key, (e, rows, await to_thread(payload_many.importance, e)))
    return await to_thread(payload_many.overview, *done[:2], len(state.rows), done[2])


def _key(state: State, request: Run | AboutFeature) -> tuple[Any, ...]:
    return "overview", state.survey is None, request.target, request.against


def _numbers(state: State, request: Run) -> Numbers:
    few = MAX_ROWS_FROM_SURVEY if state.survey is not None else MAX_ROWS_ONE_BY_ONE
    most = len(state.rows) if len(state.rows) <= MAX_ROWS_RATIO * few else few
    rows = spread_over(len(state.rows), request.rows or most)
    if len(rows) < 2:
        raise InputError("an overview needs at least two rows: give the page a table as X")
    return rows


async def _explain_many(
    state: State, job: Job, request: Run, rows: Numbers
) -> tuple[Explanations, Numbers]:
    target, places = state.target(request.target, request.against), rows.tolist()
    X = await to_thread(state.rows.take, places)
    if state.has_model:
        await ask_predictions(state, job, places)
    answers = [state.predictions.get(i) for i in places]
    if state.survey is None:
        aim = state.default_target(answers[0]) if target is None else target
        return await state.worker.do(job, partial(_one_by_one, state, job, X, aim, rows))
    aim = state.default_target(None) if target is None else target
    asked = [one for one in answers if one is not None]
    given = np.stack(asked) if len(asked) == len(answers) else None
    job.progress("explaining", 0, len(rows))
    explain = partial(state.survey.explain_many, predictions=given, ask=False, progress=False)
    return await to_thread(explain, X, aim), rows


def _one_by_one(
    state: State, job: Job, X: Any, target: Target, rows: Numbers
) -> tuple[Explanations, Numbers]:
    """What is explained when this is stopped, or an error or the limit ends it, is kept."""
    done: list[Explanation] = []
    places = list(range(len(rows)))
    try:
        for e in state.asking().explain_each(X, target, limit=state.limit_left()):
            done.append(e)
            job.progress("explaining", len(done), len(rows))
    except (Stopped, Exception) as error:
        more = take_finished(error)
        places = [*range(len(done)), *sorted(more)]
        done += [more[i] for i in sorted(more)]
        if job.left or len(done) < 2:
            raise
    rows = rows[places]
    return Explanations.of(done, [state.rows.label(i) for i in rows.tolist()]), rows


# -- one feature of the overview -----------------------------------------------------------------


def dependence(state: State, request: AboutFeature) -> dict[str, Any]:
    e, rows, _ = _overview(state, request)
    return payload_many.dependence(e, rows, request.feature, request.other)


def groups(state: State, request: AboutFeature) -> dict[str, Any]:
    e, _, means = _overview(state, request)
    return payload_many.groups(e, request.feature, means.order())


def _overview(state: State, request: AboutFeature) -> Overview:
    """The overview that was made before."""
    state.target(request.target, request.against)
    done: Overview | None = state.result(_key(state, request))
    if done is None:
        raise InputError("open «All rows» first: these rows are not explained yet")
    return done
