"""The routes of the page. Everything that asks the model is a POST."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any, Final, TypeAlias

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

import eagle
from eagle.types import EagleError, InputError, LimitError, message_of, short
from eagle.web import work
from eagle.web.guard import Guard, Keys, TooLargeError
from eagle.web.jobs import Job
from eagle.web.room import Room
from eagle.web.saved import saved
from eagle.web.stream import Runs, sentence
from eagle.web.turns import Cancelled
from eagle.web.wishes import (
    AboutFeature,
    Explain,
    ListRows,
    OpenRow,
    Predict,
    Run,
    Save,
    Stop,
    Wish,
    again,
    plain_wish,
    read,
)

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
Answerer: TypeAlias = Callable[[Room, Any], Any]
"""A function that answers a request, in a thread."""

TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}

LONGEST: Final = 64
"""The longest name of a client."""


class UnknownError(EagleError):
    """An error that is nobody's business but the server's own."""


def application(room: Room, keys: Keys, hosts: Sequence[str], title: str) -> Guard:
    """The page's server, behind its guard."""
    held, runs = _held(), Runs(room)
    asked = [
        Route(f"/api/{path}", partial(_asked, room, kind, answer), methods=["POST"])
        for path, (kind, answer) in ASKED.items()
    ]
    app = Starlette(
        routes=[
            Route("/", partial(_index, held)),
            Route("/static/{name}", partial(_file, held)),
            Route("/api/about", partial(_about, room, _fixed(room, title))),
            *asked,
            Route("/api/runs", partial(_begin, room, keys), methods=["POST"]),
            Route("/api/stream/{ticket}", partial(_stream, runs, keys)),
            Route("/api/stop", partial(_stop, runs), methods=["POST"]),
        ],
        exception_handlers={EagleError: _told, 404: _nothing},
    )
    return Guard(app, keys, hosts)


# -- errors --------------------------------------------------------------------------------------


async def _told(_: Request, error: Exception) -> Response:
    known = {LimitError: 402, TooLargeError: 413, UnknownError: 500}
    status = next((code for kind, code in known.items() if isinstance(error, kind)), 400)
    return JSONResponse({"error": message_of(error)}, status)


async def _nothing(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": "there is nothing under this address"}, 404)


# -- the page's own files ------------------------------------------------------------------------


def _held() -> dict[str, bytes]:
    """All files by their names: a name that is not among them is not looked for."""
    folder = files("eagle.web") / "static"
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


async def _index(held: dict[str, bytes], _: Request) -> Response:
    return Response(held["index.html"], media_type=TYPES[".html"])


async def _file(held: dict[str, bytes], request: Request) -> Response:
    name = request.path_params["name"]
    kind = TYPES.get(PurePosixPath(name).suffix)
    if name not in held or kind is None:
        return await _nothing(request, InputError())
    return Response(held[name], media_type=kind)


# -- what the page knows at the start ------------------------------------------------------------


def _fixed(room: Room, title: str) -> dict[str, Any]:
    """What does not change while the server runs."""
    limit = room.spending.limit
    return {
        "title": title,
        "version": eagle.__version__,
        "kind": room.shelf.kind,
        "rows": len(room.shelf),
        "fields": room.shelf.fields,
        "can": {
            "ask": room.can,
            "explain": room.explainer is not None and room.can,
            "survey": _may_survey(room),
        },
        "methods": work.offered(room.plain),
        "budget": None if room.plain is None else room.plain.budget,
        "surveys": work.SURVEY,
        "price": room.spending.price,
        "limit": None if limit is None else dict(limit.limits),
    }


def _may_survey(room: Room) -> bool:
    """Whether a survey can be made here: of a table in the binned view."""
    if room.plain is None or not room.can or room.shelf.kind != "table":
        return False
    try:
        room.plain.survey_plan(64)
    except EagleError:
        return False
    return True


async def _about(room: Room, fixed: dict[str, Any], _: Request) -> Response:
    now = {
        "outputs": [short(str(name), 200) for name in room.outputs or ()],
        "task": room.task,
        "survey": None if room.survey is None else {"rows": room.survey.rows},
        "predicted": room.learnt,
        "spent": room.spending.spent,
    }
    return JSONResponse(fixed | now)


# -- what is answered at once --------------------------------------------------------------------


async def _asked(room: Room, kind: type[Wish], answer: Answerer, request: Request) -> Response:
    """A wish, answered in a thread and in turn with others; errors become sentences."""
    wish = read(kind, await request.body())
    try:
        made = await room.workers.do(Job(_client(request)), partial(answer, room, wish))
    except EagleError:
        raise
    except (Cancelled, asyncio.CancelledError):  # the server ends
        return JSONResponse({"error": "the server has ended"}, 503)
    except Exception as error:
        raise UnknownError(sentence(error)) from None
    if isinstance(made, tuple):
        return Response(made[0], media_type=made[1])
    return JSONResponse(made)


def _client(request: Request) -> str:
    return short(request.headers.get("x-client", "unnamed"), LONGEST)


ASKED: Final[dict[str, tuple[type[Wish], Answerer]]] = {
    "rows": (ListRows, work.listed),
    "row": (OpenRow, work.opened),
    "predict": (Predict, work.predicted),
    "explain": (Explain, work.at_once),
    "dependence": (AboutFeature, work.dependence),
    "cohorts": (AboutFeature, work.cohorts),
    "save": (Save, saved),
}


# -- what takes its time -------------------------------------------------------------------------


async def _begin(room: Room, keys: Keys, request: Request) -> Response:
    wish = read(Run, await request.body())
    room.shelf.check(wish.row)
    return JSONResponse({"ticket": keys.ticket([_client(request), plain_wish(wish)])})


async def _stream(runs: Runs, keys: Keys, request: Request) -> Response:
    ticket = request.path_params["ticket"]
    try:
        client, wanted = keys.read(ticket)
    except InputError as error:
        return JSONResponse({"error": message_of(error)}, 403)
    last = request.headers.get("last-event-id", "")
    after = int(last) if last.isdigit() else -1
    events = runs.events(ticket, client, again(Run, wanted), after)
    return StreamingResponse(events, media_type="text/event-stream")


async def _stop(runs: Runs, request: Request) -> Response:
    wish = read(Stop, await request.body())
    return JSONResponse({"stopped": runs.stop(wish.ticket)})
