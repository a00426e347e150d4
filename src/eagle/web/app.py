"""The routes of the page. Everything that asks the model is a POST."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any, Final, TypeVar

from fastapi import FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse

import eagle
from eagle.types import EagleError, InputError, LimitError, message_of, short
from eagle.web import work
from eagle.web.guard import Guard, Keys
from eagle.web.jobs import Job
from eagle.web.room import Room
from eagle.web.stream import UNKNOWN, Runs, sentence
from eagle.web.wishes import Ask, Explain, Predict, Row, Rows, Run, Save, Stop, plain

T = TypeVar("T")

TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}

LONGEST: Final = 64
"""The longest name of a client."""


def application(room: Room, keys: Keys, hosts: Sequence[str], title: str) -> Guard:
    """The page's server, behind its guard."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    runs = Runs(room)
    _errors(app)
    _static(app)
    _about(app, room, title)
    _asking(app, room)
    _running(app, room, runs, keys)
    return Guard(app, keys, hosts)


def _errors(app: FastAPI) -> None:
    @app.exception_handler(EagleError)
    async def told(_: Request, error: EagleError) -> JSONResponse:
        status = 402 if isinstance(error, LimitError) else 400
        status = 500 if isinstance(error, UnknownError) else status
        return JSONResponse({"error": message_of(error)}, status)

    @app.exception_handler(RequestValidationError)
    async def misread(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        said = short(f"{where or 'the request'} does not fit: {first['msg']}", 200)
        return JSONResponse({"error": said}, 422)

    @app.exception_handler(404)
    async def nothing(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": "there is nothing under this address"}, 404)


def _static(app: FastAPI) -> None:
    """The page's own files, by their names: a name that is not among them is not looked for."""
    folder = files("eagle.web") / "static"
    held = {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}

    def given(name: str) -> Response:
        kind = TYPES.get(PurePosixPath(name).suffix)
        if name not in held or kind is None:
            return JSONResponse({"error": "there is nothing under this address"}, 404)
        return Response(held[name], media_type=kind)

    @app.get("/")
    async def index() -> Response:
        return given("index.html")

    @app.get("/static/{name}")
    async def static(name: str) -> Response:
        return given(name)


def _client(given: str | None) -> str:
    return short(given or "unnamed", LONGEST)


async def _done(room: Room, client: str | None, make: Callable[[], T]) -> T:
    """Done in a thread, in turn with other clients; other errors become a plain sentence."""
    try:
        return await room.workers.do(Job(_client(client)), make)
    except (EagleError, asyncio.CancelledError):
        raise
    except Exception as error:
        raise UnknownError(sentence(error)) from None


class UnknownError(EagleError):
    """An error that is nobody's business but the server's own."""


def _about(app: FastAPI, room: Room, title: str) -> None:
    methods, may_survey = work.offered(room.plain), _may_survey(room)

    @app.get("/api/about")
    async def about() -> dict[str, Any]:
        limit = room.spending.limit
        return {
            "title": title,
            "version": eagle.__version__,
            "kind": room.shelf.kind,
            "rows": len(room.shelf),
            "fields": room.shelf.fields,
            "outputs": [short(str(name), 200) for name in room.outputs or ()],
            "task": room.task,
            "survey": None if room.survey is None else {"rows": room.survey.rows},
            "can": {
                "ask": room.can,
                "explain": room.explainer is not None and room.can,
                "survey": may_survey,
                "report": report() is not None,
            },
            "methods": methods,
            "budget": None if room.plain is None else room.plain.budget,
            "surveys": work.SURVEY,
            "predicted": room.learnt,
            "price": room.spending.price,
            "limit": None if limit is None else dict(limit.limits),
            "spent": room.spending.spent,
        }

    @app.get("/api/spent")
    async def spent() -> dict[str, Any]:
        return {**room.spending.spent, "predicted": room.learnt}


def _may_survey(room: Room) -> bool:
    """Whether a survey can be made here: of a table in the binned view."""
    if room.plain is None or not room.can or room.shelf.kind != "table":
        return False
    try:
        room.plain.survey_plan(64)
    except EagleError:
        return False
    return True


def report() -> Callable[..., Any] | None:
    """The function that writes reports, if this version has it."""
    try:
        from importlib import import_module

        found: Callable[..., Any] = import_module("eagle.report").report
    except (ImportError, AttributeError):
        return None
    return found


def _asking(app: FastAPI, room: Room) -> None:
    @app.post("/api/rows")
    async def rows(wish: Rows, x_client: str | None = Header(None)) -> dict[str, Any]:
        return await _done(room, x_client, lambda: work.listed(room, wish))

    @app.post("/api/row")
    async def row(wish: Row, x_client: str | None = Header(None)) -> dict[str, Any]:
        def made() -> dict[str, Any]:
            i = room.shelf.check(wish.row)
            return {"row": i, "label": room.shelf.label(i), "values": room.shelf.values(i)}

        return await _done(room, x_client, made)

    @app.post("/api/predict")
    async def predict(wish: Predict, x_client: str | None = Header(None)) -> dict[str, Any]:
        def asked() -> dict[str, Any]:
            wanted = range(len(room.shelf)) if wish.everything else wish.rows
            if not room.can:
                raise InputError("there is no model here to ask")
            room.learn([room.shelf.check(i) for i in wanted])
            names = [short(str(name), 200) for name in room.outputs or ()]
            return {"predicted": room.learnt, "spent": room.spending.spent, "outputs": names}

        return await _done(room, x_client, asked)

    @app.post("/api/explain")
    async def explain(wish: Explain, x_client: str | None = Header(None)) -> dict[str, Any]:
        return await _done(room, x_client, lambda: work.at_once(room, wish))

    @app.post("/api/dependence")
    async def dependence(wish: Ask, x_client: str | None = Header(None)) -> dict[str, Any]:
        return await _done(room, x_client, lambda: work.dependence(room, wish))

    @app.post("/api/cohorts")
    async def cohorts(wish: Ask, x_client: str | None = Header(None)) -> dict[str, Any]:
        return await _done(room, x_client, lambda: work.cohorts(room, wish))

    @app.post("/api/save")
    async def save(wish: Save, x_client: str | None = Header(None)) -> Response:
        def made() -> Response:
            e = work.saved(room, wish)
            if wish.form == "json":
                return Response(e.to_json(1), media_type="application/json")
            return Response(reported(e), media_type="text/html; charset=utf-8")

        return await _done(room, x_client, made)


def reported(e: eagle.Explanation) -> bytes:
    """A report of an explanation, as the bytes of its file."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    write = report()
    if write is None:
        raise InputError("this version cannot write reports")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        write(e, path)
        return path.read_bytes()


def _running(app: FastAPI, room: Room, runs: Runs, keys: Keys) -> None:
    @app.post("/api/runs")
    async def begin(wish: Run, x_client: str | None = Header(None)) -> dict[str, Any]:
        room.shelf.check(wish.row)
        return {"ticket": keys.ticket([_client(x_client), plain(wish)])}

    @app.get("/api/stream/{ticket}")
    async def stream(ticket: str, last_event_id: str | None = Header(None)) -> Response:
        try:
            client, wanted = keys.read(ticket)
            wish = Run.model_validate(wanted)
        except InputError as error:
            return JSONResponse({"error": message_of(error)}, 403)
        after = int(last_event_id) if last_event_id and last_event_id.isdigit() else -1
        events = runs.events(ticket, client, wish, after)
        return StreamingResponse(events, media_type="text/event-stream")

    @app.post("/api/stop")
    async def stop(wish: Stop) -> dict[str, Any]:
        return {"stopped": runs.stop(wish.ticket)}


__all__ = ["UNKNOWN", "application"]
