"""The list of rows: a search, an order, and what is known of their predictions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.targets import Target, answers_of
from eagle._values.text import message_of, short
from eagle.display.numbers import answer
from eagle.errors import InputError
from eagle.web.payload import finite_or_none
from eagle.web.requests import ListRows, OpenRow, Predict
from eagle.web.state import State
from eagle.web.worker import Job

MAX_PREDICTIONS: Final = 2000
"""Maximum number of predictions that are asked together: those before an error or Stop are kept."""


def list_rows(state: State, request: ListRows) -> dict[str, Any]:
    """A part of the list of rows, and how many fit the search. Nothing is asked."""
    try:
        fits, problem = state.rows.search(request.search), ""
    except InputError as error:  # as one types, most conditions are not finished
        fits, problem = np.empty(0, dtype=np.intp), message_of(error)
    target = state.target(request.target)
    if request.sort != "own":
        fits = _sort(state, request, fits, target)
    elif not request.down:
        fits = fits[::-1]
    shown = fits[request.start : request.start + request.count].tolist()
    return {
        "total": len(fits),
        "about": _describe_target(state, target),
        "problem": problem,
        "rows": [
            {"row": i, "label": state.rows.label(i), **_with_text(_prediction(state, i, target))}
            for i in shown
        ],
    }


def _with_text(prediction: float | None) -> dict[str, Any]:
    """A prediction as a number and as it is written."""
    text = "–" if prediction is None else answer(prediction, 0 <= prediction <= 1)
    return {"prediction": prediction, "text": text}


def _sort(
    state: State, request: ListRows, fits: NDArray[np.intp], target: Target
) -> NDArray[np.intp]:
    """The rows by their predictions, which must be known, or by how far these are from the mean."""
    if len(state.predictions) < len(state.rows):
        raise InputError("the predictions of all rows are not known yet")
    every = [_prediction(state, i, target) for i in range(len(state.rows))]
    by = np.array(every, dtype=np.float64)
    if request.sort == "surprise":
        by = np.abs(by - by.mean())
    order = np.argsort(by[fits], kind="stable")
    return np.asarray(fits[order[::-1] if request.down else order])


def _prediction(state: State, i: int, target: Target) -> float | None:
    """What is known of the model's answer about row i: of the target, or of the default one."""
    answers = state.predictions.get(i)
    if answers is None or state.outputs is None:
        return None
    if target is None and _shows_largest(state):
        return float(answers.max())
    aim = _default(state.outputs) if target is None else target
    return finite_or_none(answers_of(answers[None], state.outputs, aim)[0])


def _shows_largest(state: State) -> bool:
    """Whether the list shows the largest probability of each row, since no class is chosen."""
    return state.task == "classification" and state.outputs is not None and len(state.outputs) > 2


def _default(outputs: tuple[Any, ...]) -> Target:
    return outputs[-1] if len(outputs) == 2 else outputs[0]


def _describe_target(state: State, target: Target) -> str:
    """What the numbers beside rows are."""
    if target is None and _shows_largest(state):
        return "of its class"
    if target is None and state.outputs is not None:
        target = _default(state.outputs)
    return "" if target is None else f"of {short(str(target), 40)}"


def open_row(state: State, request: OpenRow) -> dict[str, Any]:
    """A row's name and its values."""
    i = state.rows.check(request.row)
    return {"row": i, "label": state.rows.label(i), "values": state.rows.values(i)}


async def predict(state: State, job: Job, request: Predict) -> dict[str, Any]:
    """Ask the predictions of some rows, or of all."""
    if not state.has_model:
        raise InputError("there is no model here to ask")
    rows = range(len(state.rows)) if request.everything else request.rows
    await ask_predictions(state, job, [state.rows.check(i) for i in rows])
    return {**describe(state), "spent": state.spending}


async def ask_predictions(state: State, job: Job, rows: Iterable[int]) -> None:
    """Ask the predictions that are not known yet, each once."""
    unknown = [i for i in dict.fromkeys(rows) if i not in state.predictions]
    for start in range(0, len(unknown), MAX_PREDICTIONS):
        job.progress("asking predictions", start, len(unknown))
        part = unknown[start : start + MAX_PREDICTIONS]
        await state.worker.do(job, partial(state.predict_rows, part))


def describe(state: State) -> dict[str, Any]:
    """What is known of the model by now."""
    return {
        "predicted": len(state.predictions),
        "outputs": [short(str(name), 200) for name in state.outputs or ()],
        "task": state.task,
    }
