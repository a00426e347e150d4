"""Fair turns at the model: who has waited longest since their last turn is next.

A model is asked by one thread at a time, unless its owner says that it may be asked by more. A turn
is one call, so that a long job of one client never keeps the others waiting for all of it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, final

from eagle.types import integer

REMEMBERED: Final = 4096
"""Number of clients whose last turn is remembered."""

CHECK: Final = 0.25
"""Seconds between checks of whether a waiting request was cancelled."""


class Cancelled(BaseException):
    """The client has gone: what they wanted is not asked any more."""


@final
class Turns:
    """Turns for `together` threads at once. Clients are served in rotation."""

    def __init__(self, together: int = 1) -> None:
        self._free = integer(together, "together", 1)
        self._waiting: dict[str, deque[object]] = {}
        self._last: dict[str, int] = {}
        self._count = 0
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, client: str, gone: Callable[[], bool]) -> Iterator[None]:
        """Wait for a turn, and give it back in the end. Whoever has `gone` gets none."""
        mine = object()
        with self._changed:
            self._waiting.setdefault(client, deque()).append(mine)
            try:
                while not (self._free and self._next() is mine):
                    if gone():
                        raise Cancelled
                    self._changed.wait(CHECK)
                if gone():
                    raise Cancelled
                self._free -= 1
                self._serve(client)
            finally:
                self._leave(client, mine)
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()

    @property
    def waiting(self) -> int:
        """How many jobs wait for a turn."""
        with self._changed:
            return sum(map(len, self._waiting.values()))

    def _next(self) -> object:
        """The job that is next: of the client whose last turn is longest ago."""
        client = min(self._waiting, key=lambda name: self._last.get(name, -1))
        return self._waiting[client][0]

    def _serve(self, client: str) -> None:
        self._count += 1
        self._last.pop(client, None)
        self._last[client] = self._count
        while len(self._last) > REMEMBERED:
            self._last.pop(next(iter(self._last)))

    def _leave(self, client: str, mine: object) -> None:
        queue = self._waiting[client]
        queue.remove(mine)
        if not queue:
            del self._waiting[client]
        self._changed.notify_all()
