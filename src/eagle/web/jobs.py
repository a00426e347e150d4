"""Jobs: what a client wants of the model, done in a thread, with events on the way."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar, final
from weakref import WeakSet

from eagle.types import Model
from eagle.web.spending import Spending
from eagle.web.turns import Cancelled, Turns

THREADS: Final = 32
"""Maximum number of jobs under way at once. Further ones wait in order."""

T = TypeVar("T")

Say: TypeAlias = Callable[[str, Any, int], None]
"""Says an event: its name, its data, and how far the job is, as a number that grows."""


@final
@dataclass(eq=False)
class Job:
    """One thing that a client wants. `stop` asks it to end with what it has; `gone` to end."""

    client: str
    stop: threading.Event = field(default_factory=threading.Event)
    gone: threading.Event = field(default_factory=threading.Event)
    hard: bool = False
    """Whether `stop` ends it at the next call, since it cannot end by itself."""

    def check(self) -> None:
        """Raise if it should not go on."""
        if self.gone.is_set() or (self.hard and self.stop.is_set()):
            raise Cancelled

    @property
    def over(self) -> bool:
        return self.gone.is_set() or (self.hard and self.stop.is_set())


CURRENT: Final[ContextVar[Job]] = ContextVar("the job of this thread")

SERVER: Final = Job("the server itself")
"""The job of what no client has wished for."""


@final
@dataclass(frozen=True)
class Gate:
    """The one way from the page to the model: in turns, counted, and never past the limit."""

    turns: Turns
    spending: Spending

    def __call__(self, model: Model) -> Model:
        def asked(inputs: Any) -> Any:
            job = CURRENT.get(SERVER)
            with self.turns.turn(job.client, lambda: job.over):
                job.check()
                self.spending.take(size(inputs))
                began = time.perf_counter()
                try:
                    return model(inputs)
                finally:
                    self.spending.took(time.perf_counter() - began)

        return asked


def size(inputs: Any) -> int:
    """How many rows, images or texts these are; a sparse matrix has no length."""
    shape = getattr(inputs, "shape", None)
    return int(shape[0]) if shape else len(inputs)


@final
class Workers:
    """Threads that do jobs."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, "eagle-page")
        self._jobs: WeakSet[Job] = WeakSet()

    async def do(self, job: Job, work: Callable[[], T]) -> T:
        """The result of a job; its exceptions are raised here."""
        self._jobs.add(job)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, _within, job, work)

    def begin(self, job: Job, work: Callable[[], T]) -> None:
        """Start a job whose result nobody waits for."""
        self._jobs.add(job)
        self._pool.submit(_within, job, work)

    def close(self) -> None:
        """No job asks any more."""
        for job in list(self._jobs):
            job.gone.set()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _within(job: Job, work: Callable[[], T]) -> T:
    token = CURRENT.set(job)
    try:
        job.check()
        return work()
    finally:
        CURRENT.reset(token)
