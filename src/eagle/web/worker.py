"""The one thread on which the model is asked: counted, and never past the limit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, TypeVar, final

from eagle._values.arrays import Model
from eagle.limit import Limit, Meter

T = TypeVar("T")


class Stopped(BaseException):
    """The model is not asked any more: Stop was pressed, the tab was closed, or the page ends."""


def ignore(event: str, data: dict[str, Any]) -> None:
    """Tells nobody."""


@final
@dataclass(eq=False)
class Job:
    """Something that is wanted of the model, until it is `stopped` or its client has `left`."""

    stopped: bool = False
    left: bool = False
    ends_itself: bool = False
    """Whether it ends by itself where it is stopped, with what it has."""
    turn: Future[Any] | None = None
    """Its place in the queue before the thread."""
    say: Callable[[str, dict[str, Any]], None] = ignore
    """Tells the client an event, by its name and data, on the way."""

    def progress(self, what: str, done: int, of: int) -> None:
        self.say("progress", {"what": what, "done": done, "of": of})

    def stop(self) -> None:
        """Ask it to end with what it has. If it has only waited, it is dropped."""
        self.stopped = True
        if self.turn is not None:
            self.turn.cancel()  # which a turn that has begun ignores

    @property
    def may_ask(self) -> bool:
        return not self.left and (self.ends_itself or not self.stopped)


@final
class Worker:
    """A thread for all that asks the model, one after the other.

    What waits for its turn holds no thread, and is dropped if its task is cancelled. The thread is
    a daemon, which those of `concurrent.futures` are not: a model that hangs keeps no process from
    ending.
    """

    def __init__(self, limit: Limit | None = None) -> None:
        self.meter = Meter(limit)
        self._queue: SimpleQueue[tuple[Job, Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._turns: set[Future[Any]] = set()
        self._job = Job()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="eagle-model", daemon=True)

    async def do(self, job: Job, work: Callable[[], T]) -> T:
        """What `work` returns or raises, on the thread."""
        if self._closed or job.stopped:
            raise Stopped
        if self._thread.ident is None:
            self._thread.start()
        job.turn = turn = Future[Any]()
        self._turns.add(turn)
        turn.add_done_callback(self._turns.discard)
        self._queue.put((job, turn, work))
        try:
            result: T = await asyncio.wrap_future(turn)
        except asyncio.CancelledError:
            if job.stopped:
                raise Stopped from None
            raise
        return result

    @property
    def waiting(self) -> int:
        """How many turns are not over: those that wait, and the one on the thread."""
        return len(self._turns)

    def close(self) -> None:
        """Ask nothing any more."""
        self._closed = True
        for turn in list(self._turns):
            turn.cancel()
        self._queue.put(None)

    def gate(self, model: Model) -> Model:
        """The model as the page asks it: on this thread alone, counted, never past the limit."""

        def ask(inputs: Any) -> Any:
            assert threading.current_thread() is self._thread, "the model has a thread of its own"
            if self._closed or not self._job.may_ask:
                raise Stopped
            with self.meter.call(number_of(inputs)):
                return model(inputs)

        return ask

    def _work(self) -> None:
        while (entry := self._queue.get()) is not None:
            job, turn, work = entry
            if turn.set_running_or_notify_cancel():
                self._job = job
                _run(turn, work)
            del entry, job, turn, work  # nothing is held while the thread waits


def _run(turn: Future[Any], work: Callable[[], Any]) -> None:
    try:
        turn.set_result(work())
    except (Stopped, Exception) as error:
        turn.set_exception(error)
    except BaseException as error:  # what ends a script, such as sys.exit, ends no server
        ended = RuntimeError("the model wanted to end the process")
        ended.__cause__ = error
        turn.set_exception(ended)


def number_of(inputs: Any) -> int:
    """How many rows, images or texts these are; a sparse matrix has no length."""
    shape = getattr(inputs, "shape", None)
    return int(shape[0]) if shape else len(inputs)
