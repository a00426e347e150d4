"""Batches that are asked several at once, of which some may fail, within a limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_EXCEPTION,
    CancelledError,
    Future,
    ThreadPoolExecutor,
    wait,
)
from os import PathLike
from threading import Condition, Event
from typing import Final, final

import numpy as np

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.text import finite, message_of, short_repr
from eagle.cost import Cost
from eagle.errors import AnswerError, DeniedError, InputError, LimitError, ModelError, ReplyError
from eagle.limit import Call, calls_now
from eagle.models.inputs import Inputs
from eagle.models.processes import PerProcess
from eagle.models.recording import Recording, open_ledger, stack_answers

MAX_FAILURES_KEPT: Final = 20
"""The number of sentences about failures that are kept: the last ones."""


@final
class Flight:
    """The requests of one call of a model, by batch. None begins after one that ends them all.

    Batches begin in their order, so that those that were asked before an end are the first ones.
    """

    def __init__(self) -> None:
        self.calls, self._ended = calls_now(), Event()
        self._turns, self._turn, self._begun = Condition(), 0, set[int]()

    def end(self) -> None:
        """Begin no more. Those that wait to be sent again wake up, and are not sent."""
        self._ended.set()

    def refuse_ended(self) -> None:
        if self._ended.is_set():
            raise CancelledError

    def rest(self, seconds: float) -> None:
        """Do nothing for some seconds, or until they are ended."""
        self._ended.wait(seconds)

    def wait_for_turn(self, batch: int) -> None:
        """Wait until all batches before this one have begun, or have no need to."""
        with self._turns:
            self._turns.wait_for(lambda: self._turn >= batch)

    def release_next(self, batch: int) -> None:
        """Let the next batch begin."""
        with self._turns:
            self._begun.add(batch)
            while self._turn in self._begun:
                self._turn += 1
            self._turns.notify_all()


@final
class Requests:
    """The requests of one batch, counted before they are sent.

    They are counted in all calls that are under way here (see `eagle.limit`), and one that would
    cross their limits is refused, and ends the others.
    """

    def __init__(self, flight: Flight | None = None, batch: int = 0) -> None:
        self.flight, self.batch = flight or Flight(), batch

    @property
    def limits_tokens(self) -> bool:
        """Whether a limit needs to know how many tokens each took."""
        limits = [call.meter.limit for call in self.flight.calls]
        return any(limit is not None and limit.counts_tokens for limit in limits)

    def one(self, tokens: int = 0) -> Request:
        """A request of about so many tokens, for a `with`. It may be sent several times."""
        return Request(self, tokens)


@final
class Request:
    """One request. `took` are its tokens, which are counted when it is over."""

    def __init__(self, requests: Requests, tokens: int) -> None:
        self._flight, self._batch, self._tokens = requests.flight, requests.batch, tokens
        self._expected: list[Call] = []
        self.took = 0

    def __enter__(self) -> Request:
        return self

    def __exit__(self, *_: object) -> None:
        for call in self._expected:
            call.meter.settle(self._tokens, self.took)

    def begin(self) -> None:
        """Count it before it is sent, or sent again; raise if it is not to be."""
        self._flight.wait_for_turn(self._batch)
        self._flight.refuse_ended()
        try:
            self._count()
        except LimitError:
            self._flight.end()
            raise
        finally:
            self._flight.release_next(self._batch)

    def _count(self) -> None:
        for call in self._flight.calls:
            fresh = call not in self._expected
            call.meter.expect(call, self._tokens if fresh else 0)
            if fresh:
                self._expected.append(call)

    def wait(self, seconds: float, sleep: Callable[[float], None] | None) -> None:
        """Wait before it is sent again, unless the seconds of a limit would be over by then."""
        for call in self._flight.calls:
            call.meter.refuse(Cost(model_seconds=seconds))
        (sleep or self._flight.rest)(seconds)


@final
class ConcurrentCalls:
    """Asks at most `concurrency` batches at once, of whose rows a share `gaps` may fail.

    The share is of all rows wanted so far. The rows of a batch that fails are NaN. What is raised
    is a failure beyond the share, one after which no other batch can be answered either, or a limit
    that is reached: from then on no request begins. The `answers` of the error are those of all
    batches, NaN where there are none.

    With a `ledger`, what was answered is not asked again. Answers there belong to a `name`, a
    `version` and what they are.
    """

    def __init__(
        self,
        concurrency: int,
        gaps: float,
        ledger: str | PathLike[str] | None = None,
        *belongs: str,
    ) -> None:
        self.concurrency = integer(concurrency, "concurrency", 1)
        if not finite(gaps) or not 0 <= gaps < 1:
            raise InputError(f"gaps is a share of rows from 0 to below 1, not {short_repr(gaps)}")
        self.gaps = float(gaps)
        self.failures: tuple[str, ...] = ()
        self._own, self._asked, self._lost = PerProcess(), 0, 0
        self.recording = None if ledger is None else Recording(open_ledger(ledger), *belongs)

    def fresh(self, inputs: Inputs) -> int:
        """How many rows are not in the ledger."""
        return len(inputs) if self.recording is None else self.recording.fresh(inputs)

    def answer(self, inputs: Inputs, ask: Callable[[Inputs], Array]) -> Array:
        """The answers to all rows; `ask` gives those that are not in the ledger, by `billed`."""
        with self._own.lock:  # those that were answered before are wanted, too
            self._asked += len(inputs)
        return ask(inputs) if self.recording is None else self.recording.answer(inputs, ask)

    def ask_and_store(self, inputs: Inputs, ask: Callable[[Callable[[], None]], Array]) -> Array:
        """Ask as `Recording.ask_and_store` does, if there is a ledger."""
        if self.recording is None:
            return ask(lambda: None)
        return self.recording.ask_and_store(inputs, ask)

    def ask(self, batches: Sequence[Inputs], one: Callable[[Inputs, Requests], Array]) -> Array:
        """The answers to all batches. After an error no further request is sent."""
        flight = Flight()

        def try_batch(k: int) -> Array:
            flight.refuse_ended()
            batch = batches[k]
            try:
                return one(batch, Requests(flight, k))
            except DeniedError as error:
                self._allows(len(batch), message_of(error))
                flight.end()
                raise
            except (ModelError, ReplyError) as error:
                if not self._allows(len(batch), message_of(error)):
                    flight.end()
                    raise
                return _nothing(batch)
            except BaseException:
                flight.end()
                raise
            finally:
                flight.release_next(k)

        if len(batches) == 1:
            return try_batch(0)
        with ThreadPoolExecutor(min(self.concurrency, len(batches))) as threads:
            asked = [threads.submit(try_batch, k) for k in range(len(batches))]
            try:
                wait(asked, return_when=FIRST_EXCEPTION)
            finally:  # also after Ctrl-C: what is on its way is waited for, and kept
                for future in asked:
                    future.cancel()
                if not all(future.done() for future in asked):
                    flight.end()
        raised = [e for f in asked if not f.cancelled() and (e := f.exception()) is not None]
        failed = [e for e in raised if not isinstance(e, CancelledError)]
        if failed:
            first = next((e for e in failed if isinstance(e, DeniedError)), failed[0])
            if isinstance(first, AnswerError):
                first.answers = stack_answers(
                    [_answers_or_nan(f, b) for f, b in zip(asked, batches, strict=True)]
                )
            raise first
        return stack_answers([future.result() for future in asked])

    def _allows(self, rows: int, words: str) -> bool:
        """Whether this many more rows may fail. The failure is recorded in either case."""
        with self._own.lock:
            self._lost += rows
            if words not in self.failures:
                self.failures = (*self.failures, words)[-MAX_FAILURES_KEPT:]
            return self._lost <= self.gaps * self._asked


def _nothing(batch: Inputs) -> Array:
    return np.full((len(batch), 1), np.nan)


def _answers_or_nan(future: Future[Array], batch: Inputs) -> Array:
    """The answers of a batch, NaN if there are none."""
    failed = future.cancelled() or future.exception() is not None
    return _nothing(batch) if failed else future.result()
