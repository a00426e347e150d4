"""The routes of the page. Everything that asks the model is a POST."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from functools import partial
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any, Final, TypeAlias

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from eagle._values.text import message_of
from eagle.errors import EagleError, LimitError
from eagle.web.compare import fitting_methods, run_compare
from eagle.web.explain import SURVEY_ROWS, explain, make_survey, run_explain, save
from eagle.web.listing import describe, list_rows, open_row, predict
from eagle.web.overview import dependence, groups, run_overview
from eagle.web.requests import (
    AboutFeature,
    ApiRequest,
    Explain,
    ListRows,
    OpenRow,
    Predict,
    Run,
    Save,
    Stop,
    read,
)
from eagle.web.security import Guard, TooLargeError
from eagle.web.state import State
from eagle.web.worker import Job, Stopped

Answer: TypeAlias = Callable[[State, Job, Any], Awaitable[Any]]
"""A function that answers a request, perhaps with the model: with plain data, or with a file."""

TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}

UNKNOWN_ERROR: Final = "something went wrong here: the terminal of the server says what"


def application(state: State, token: str, port: int, title: str) -> Guard:
    """The page's server, behind its guard."""
    page = _files()
    app = Starlette(
        routes=[
            Route("/", partial(_file, page)),
            Route("/static/{name}", partial(_file, page)),
            Route("/api/about", partial(_about, state, _page_facts(state, title))),
            *[
                Route(f"/api/{path}", partial(_answer, state, kind, answer), methods=["POST"])
                for path, (kind, answer) in ENDPOINTS.items()
            ],
            Route("/api/run", partial(_run, state), methods=["POST"]),
        ],
        exception_handlers={EagleError: _tell, 404: _nothing},
    )
    return Guard(app, token, port)


def _json(content: Any, status: int = 200) -> Response:
    return Response(_text(content), status, media_type="application/json")


def _text(content: Any) -> str:
    """Plain data as JSON in ASCII: a lone surrogate in a text has no UTF-8."""
    return json.dumps(content, allow_nan=False, separators=(",", ":"))


# -- errors --------------------------------------------------------------------------------------


async def _tell(_: Request, error: Exception) -> Response:
    known = {LimitError: 402, TooLargeError: 413, EagleError: 400}
    status = next((code for kind, code in known.items() if isinstance(error, kind)), 500)
    return _json({"error": _sentence(error)}, status)


def _sentence(error: Exception) -> str:
    """What a client is told of an error: its sentence, never a stack trace."""
    if isinstance(error, EagleError):
        return message_of(error)
    traceback.print_exception(error, file=sys.stderr)
    return UNKNOWN_ERROR


async def _nothing(_: Request, error: Exception) -> Response:
    return _json({"error": "there is nothing under this address"}, 404)


# -- the page's own files ------------------------------------------------------------------------


def _files() -> dict[str, bytes]:
    """All files by their names: a name that is not among them is not looked for."""
    folder = files("eagle.web") / "static"
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


async def _file(page: dict[str, bytes], request: Request) -> Response:
    name = request.path_params.get("name", "index.html")
    kind = TYPES.get(PurePosixPath(name).suffix)
    if name not in page or kind is None:
        return await _nothing(request, EagleError())
    return Response(page[name], media_type=kind)


# -- what the page knows at the start ------------------------------------------------------------


def _page_facts(state: State, title: str) -> dict[str, Any]:
    """What does not change while the server runs."""
    explainer = state.explainer
    return {
        "title": title,
        "kind": state.rows.kind,
        "rows": len(state.rows),
        "fields": [asdict(field) for field in state.rows.fields],
        "can": {
            "ask": state.has_model,
            "explain": explainer is not None and state.has_model,
            "survey": _may_survey(state),
        },
        "methods": fitting_methods(explainer),
        "budget": None if explainer is None else explainer.budget,
        "surveys": SURVEY_ROWS,
        "price": state.price,
        "limit": None if state.limit is None else state.limit.limits,
    }


def _may_survey(state: State) -> bool:
    """Whether a survey can be made here: of a table in the binned view."""
    if state.explainer is None or not state.has_model or state.rows.kind != "table":
        return False
    try:
        state.explainer.survey_plan(64)
    except EagleError:
        return False
    return True


async def _about(state: State, fixed: dict[str, Any], _: Request) -> Response:
    survey = None if state.survey is None else {"rows": state.survey.rows}
    return _json({**fixed, **describe(state), "survey": survey, "spent": state.spending})


# -- what is answered at once --------------------------------------------------------------------


def _aside(compute: Callable[[State, Any], Any]) -> Answer:
    """An answer that needs no model: on a thread of its own, so that nothing waits for it."""

    async def answer(state: State, _: Job, request: Any) -> Any:
        return await asyncio.to_thread(compute, state, request)

    return answer


async def _stop(state: State, _: Job, request: Stop) -> dict[str, bool]:
    """End a run with what it has."""
    job = state.runs.get(request.run)
    if job is not None:
        job.stop()
    return {"stopped": job is not None}


ENDPOINTS: Final[dict[str, tuple[type[ApiRequest], Answer]]] = {
    "rows": (ListRows, _aside(list_rows)),
    "row": (OpenRow, _aside(open_row)),
    "predict": (Predict, predict),
    "explain": (Explain, explain),
    "dependence": (AboutFeature, _aside(dependence)),
    "groups": (AboutFeature, _aside(groups)),
    "save": (Save, save),
    "stop": (Stop, _stop),
}


async def _answer(state: State, kind: type[ApiRequest], answer: Answer, http: Request) -> Response:
    """The answer to a request. If its client leaves, it is dropped."""
    request, job = read(kind, await http.body()), Job()
    task = asyncio.ensure_future(answer(state, job, request))
    gone = asyncio.ensure_future(_wait_for_disconnect(http))
    gone.add_done_callback(lambda _: task.cancel())
    try:
        content = await task
        is_file = isinstance(content, tuple)
        return Response(content[0], media_type=content[1]) if is_file else _json(content)
    except (Stopped, asyncio.CancelledError):  # a client who has left does not read it
        return _json({"error": "the server has ended"}, 503)
    except Exception as error:
        return await _tell(http, error)
    finally:
        job.left = True
        gone.cancel()


async def _wait_for_disconnect(http: Request) -> None:
    """Waits until the client has left."""
    while (await http.receive())["type"] != "http.disconnect":
        pass


# -- what takes its time -------------------------------------------------------------------------


STREAMS: Final[dict[str, Answer]] = {
    "explain": run_explain,
    "overview": run_overview,
    "compare": run_compare,
    "survey": make_survey,
}


async def _run(state: State, http: Request) -> Response:
    request = read(Run, await http.body())
    state.rows.check(request.row)
    return StreamingResponse(_events(state, request), media_type="application/x-ndjson")


async def _events(state: State, request: Run) -> AsyncIterator[str]:
    """The events of a run, each a line. If the client leaves, no more is asked."""
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str | None]()

    def say(event: str, data: dict[str, Any]) -> None:
        line = _text({"event": event, "data": data})
        loop.call_soon_threadsafe(lines.put_nowait, f"{line}\n")

    number, job = next(state.numbers), Job(say=say)
    state.runs[number] = job
    say("begun", {"run": number, "waiting": state.worker.waiting})
    task = asyncio.ensure_future(_do(state, job, request))
    task.add_done_callback(lambda _: lines.put_nowait(None))
    try:
        while (line := await lines.get()) is not None:
            yield line
    finally:
        job.left = True
        task.cancel()
        del state.runs[number]


async def _do(state: State, job: Job, request: Run) -> None:
    """Do a run; its last event says how it ended."""
    try:
        content = await STREAMS[request.kind](state, job, request)
        job.say("done", {**content, "spent": state.spending})
    except Stopped:
        job.say("failed", {"error": "stopped before there was anything to show"})
    except Exception as error:
        job.say("failed", {"error": _sentence(error)})
