"""Batches that are asked several at once, of which some may fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_EXCEPTION,
    CancelledError,
    Future,
    ThreadPoolExecutor,
    wait,
)
from threading import Event, Lock
from typing import Any, Final, final

import numpy as np

from eagle.models.inputs import Inputs
from eagle.models.recording import stacked
from eagle.types import Array, InputError, ModelError, ReplyError, finite, integer, message_of, told

KEPT: Final = 20
"""The number of sentences about failures that are kept: the last ones."""


@final
class ConcurrentCalls:
    """Asks at most `concurrency` batches at once, of whose rows a share `gaps` may fail.

    The share is of all rows wanted so far. The rows of a batch that fails are NaN. A failure beyond
    the share is raised. If `gaps` is above 0 and there are several batches, the error's `answers`
    are those of all batches, NaN where there are none.
    """

    def __init__(self, concurrency: int, gaps: float) -> None:
        self.concurrency = integer(concurrency, "concurrency", 1)
        if not finite(gaps) or not 0 <= gaps < 1:
            raise InputError(f"gaps is a share of rows from 0 to below 1, not {told(gaps)}")
        self.gaps = float(gaps)
        self.failures: tuple[str, ...] = ()
        self._lock, self._asked, self._lost = Lock(), 0, 0

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def expect(self, rows: int) -> None:
        """Count rows as wanted, also those that were answered before and are not asked."""
        with self._lock:
            self._asked += rows

    def ask(self, batches: Sequence[Inputs], one: Callable[[Inputs], Array]) -> Array:
        """The answers to all batches. After an error no further batch is sent."""

        ended = Event()

        def tried(batch: Inputs) -> Array:
            if ended.is_set():
                raise CancelledError
            try:
                return one(batch)
            except (ModelError, ReplyError) as error:
                if not self._allows(len(batch), message_of(error)):
                    ended.set()
                    raise
                return _nothing(batch)

        if len(batches) == 1:
            return tried(batches[0])
        with ThreadPoolExecutor(min(self.concurrency, len(batches))) as threads:
            asked = [threads.submit(tried, batch) for batch in batches]
            try:
                wait(asked, return_when=FIRST_EXCEPTION)
            finally:  # also after Ctrl-C: what is on its way is waited for, and kept
                for future in asked:
                    future.cancel()
        raised = [e for f in asked if not f.cancelled() and (e := f.exception()) is not None]
        failed = [e for e in raised if not isinstance(e, CancelledError)]
        if failed and self.gaps and isinstance(failed[0], ModelError | ReplyError):
            failed[0].answers = stacked([_kept(f, b) for f, b in zip(asked, batches, strict=True)])
        if failed:
            raise failed[0]
        return stacked([future.result() for future in asked])

    def _allows(self, rows: int, words: str) -> bool:
        """Whether this many more rows may fail. The failure is recorded in either case."""
        with self._lock:
            self._lost += rows
            if words not in self.failures:
                self.failures = (*self.failures, words)[-KEPT:]
            return self._lost <= self.gaps * self._asked


def _nothing(batch: Inputs) -> Array:
    return np.full((len(batch), 1), np.nan)


def _kept(future: Future[Array], batch: Inputs) -> Array:
    """The answers of a batch, NaN if there are none."""
    failed = future.cancelled() or future.exception() is not None
    return _nothing(batch) if failed else future.result()
