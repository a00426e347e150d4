"""One row: from the survey at once, or by the explainer's method, which asks the model."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, final

from eagle._values.arrays import Array
from eagle._values.targets import Target
from eagle.errors import InputError
from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.reports import report
from eagle.survey.survey import Survey
from eagle.until import Look, Rule, Sign, Top
from eagle.web.listing import ask_predictions
from eagle.web.payload import finite_or_none, payload
from eagle.web.requests import AboutRow, Explain, Run, Save
from eagle.web.state import State
from eagle.web.worker import Job

SURVEY_ROWS: Final = 4096
"""The rows of a survey that is made on the page."""

STOP_REASON: Final = "you stopped it"

FILES: Final = {
    "json": ("json", "application/json"),
    "report": ("html", "text/html; charset=utf-8"),
}
"""How the file of a form ends, and its type."""


def subject_of(state: State, request: AboutRow) -> tuple[Any, Target]:
    """The row of a request, with its edits, and its target; what does not fit is refused."""
    target = state.target(request.target, request.against)
    return state.rows.row(request.row, request.edits), target


# -- from the survey -----------------------------------------------------------------------------


async def explain(state: State, job: Job, request: Explain) -> dict[str, Any]:
    """An explanation from the survey. The model is asked for this row's prediction at most."""
    if state.survey is None:
        raise InputError("there is no survey to explain from: make one first")
    e = await _from_survey(state, job, request)
    return {**await to_thread(payload, e, words=request.words), "spent": state.spending}


async def _from_survey(state: State, job: Job, request: Explain | Save) -> Explanation:
    x, target = subject_of(state, request)
    answers = await _prediction(state, job, request, x)
    return await to_thread(state.from_survey, x, target, answers)


async def _prediction(state: State, job: Job, request: Explain | Save, x: Any) -> Array | None:
    """The model's answer about a row, asked once; None if it is not to be asked."""
    asks = request.ask and state.has_model
    if not request.edits:
        if asks:
            await ask_predictions(state, job, [request.row])
        return state.predictions.get(request.row)
    key = (request.row, request.edits_key)
    if asks and key not in state.edited_predictions:
        await state.worker.do(job, partial(_predict_edited, state, key, x))
    return state.edited_predictions.get(key)


def _predict_edited(state: State, key: tuple[int, Any], x: Any) -> None:
    if key not in state.edited_predictions:  # no request before this one has asked it
        state.edited_predictions[key] = state.predict(x)[0]


async def make_survey(state: State, job: Job, request: Run) -> dict[str, Any]:
    """Make a survey, from which all rows are then explained."""
    survey = state.survey
    if survey is None:
        survey = await state.worker.do(job, partial(_survey, state, request.rows))
    return {"survey": {"rows": survey.rows}}


def _survey(state: State, rows: int | None) -> Survey:
    if state.survey is None:  # no request before this one has made it
        ready, limit = state.asking(), state.limit_left()
        state.survey = ready.survey(rows or SURVEY_ROWS, limit=limit, progress=False)
    return state.survey


# -- by the explainer's method -------------------------------------------------------------------


@final
@dataclass(frozen=True)
class StopPressed(Rule):
    """Ask the whole plan, unless the client has pressed Stop."""

    job: Job
    budget: int

    def reason_to_stop(self, look: Look) -> str | None:
        if self.job.stopped:
            return STOP_REASON
        return "that is the whole plan" if look.rows >= self.budget else None

    def rows(self, look: Look) -> float:
        return self.budget


async def run_explain(state: State, job: Job, request: Run) -> dict[str, Any]:
    """An explanation by the explainer's own method; looks are told on the way."""
    e = await _by_method(state, job, request)
    return dict(await to_thread(payload, e))


async def _by_method(state: State, job: Job, request: Run | Save) -> Explanation:
    explainer = state.asking()
    x, target = subject_of(state, request)
    row = (request.row, request.edits_key, request.target, request.against)
    key = ("explained", *row, request.until)
    e: Explanation | None = state.result(key)
    if e is None:
        rule = _rule(request, job, explainer.budget)
        e = await state.worker.do(job, partial(_ask, state, job, explainer, x, target, rule))
        if e.cost.stopped != STOP_REASON:
            state.keep(key, e)
    if not request.edits:
        state.note(request.row, e.evidence.answers[0])
    return e


def _rule(request: Run | Save, job: Job, budget: int) -> Rule:
    rule: Rule = StopPressed(job, budget)
    if request.until == "top":
        return rule | Top(3)
    return rule | Sign(k=5) if request.until == "sign" else rule


def _ask(
    state: State, job: Job, explainer: Explainer, x: Any, target: Target, rule: Rule
) -> Explanation:
    limit = state.limit_left()

    def show(e: Explanation, rows: float) -> None:
        forecast = finite_or_none(min(rows, float(explainer.budget)))
        job.say("look", {**payload(e, words=False), "forecast": forecast})

    job.ends_itself = True
    try:
        return explainer.explain(x, target, until=rule, limit=limit, progress=False, show=show)
    except InputError:
        # A method that cannot grow, or has no intervals to stop by, is asked as a whole.
        job.ends_itself = False
        return explainer.explain(x, target, limit=limit, progress=False)


# -- files ---------------------------------------------------------------------------------------


async def save(state: State, job: Job, request: Save) -> tuple[bytes, str]:
    """The bytes of a file with one explanation, and their type."""
    made = _by_method if state.survey is None else _from_survey
    e = await made(state, job, request)
    return await to_thread(_file, e, request.form)


def _file(e: Explanation, form: str) -> tuple[bytes, str]:
    ending, kind = FILES[form]
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"file.{ending}"
        if form == "json":
            e.save(path)
        else:
            report(e, path, progress=False)
        return path.read_bytes(), kind
