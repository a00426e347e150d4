"""A run as server-sent events, which a browser reads again from where it was if the line breaks."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import AsyncIterator
from typing import Any, Final, final

from eagle.types import EagleError, message_of
from eagle.web.jobs import Job
from eagle.web.room import Room
from eagle.web.turns import Cancelled
from eagle.web.wishes import Run
from eagle.web.work import RUNS

BEAT: Final = 10.0
"""Seconds between empty lines, which are sent to notice that a client has gone."""

UNKNOWN: Final = "something went wrong here: the terminal of the server says what"

RETRY: Final = 500
"""Milliseconds after which a browser tries again if the line breaks."""


@final
class Runs:
    """The runs that are under way, by their tickets."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._jobs: dict[str, Job] = {}

    def stop(self, ticket: str) -> bool:
        """Ask a run to end with what it has."""
        job = self._jobs.get(ticket)
        if job is not None:
            job.stop.set()
        return job is not None

    async def events(self, ticket: str, client: str, wish: Run, after: int) -> AsyncIterator[str]:
        """The events of a run, without those that the client has `after` the line broke.

        The points of a plan depend on its seed alone, so a run that is started again says the
        same. If the client goes, what has not been asked is not asked any more.
        """
        job, loop = Job(client), asyncio.get_running_loop()
        heard: asyncio.Queue[tuple[str, Any, int] | None] = asyncio.Queue()
        self._jobs[ticket] = job

        def say(name: str, data: Any, far: int) -> None:
            loop.call_soon_threadsafe(heard.put_nowait, (name, data, far))

        def work() -> None:
            try:
                RUNS[wish.kind](self._room, wish, say)
            except Cancelled:
                say("failed", {"error": "stopped before there was anything to show"}, 1 << 30)
            except BaseException as error:
                say("failed", {"error": sentence(error)}, 1 << 30)

        yield f"retry: {RETRY}\n\n"
        self._room.workers.begin(job, work)
        waiting = self._room.turns.waiting
        if waiting:
            yield event("waiting", {"before": waiting})
        try:
            async for name, data, far in _heard(heard):
                if name == "beat":
                    yield ": still here\n\n"
                elif far > after or name in ("done", "failed"):
                    yield event(name, data, far)
                if name in ("done", "failed"):
                    return
        finally:
            job.gone.set()
            self._jobs.pop(ticket, None)


async def _heard(heard: asyncio.Queue[Any]) -> AsyncIterator[tuple[str, Any, int]]:
    while True:
        try:
            yield await asyncio.wait_for(heard.get(), BEAT)
        except TimeoutError:
            yield "beat", None, 0


def event(name: str, data: Any, far: int | None = None) -> str:
    """One event as text."""
    number = "" if far is None else f"id: {far}\n"
    return f"{number}event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n"


def sentence(error: BaseException) -> str:
    """What a client is told of an error: its sentence, never a stack trace."""
    if isinstance(error, EagleError):
        return message_of(error)
    traceback.print_exception(error, file=sys.stderr)
    return UNKNOWN
