"""Ctrl-C and SIGTERM while a data set is explained: the parts at hand are finished first."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, Final, final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@final
class Stopping:
    """Within it the first signal is noted. The second one acts as it did before, at once."""

    def __init__(self, silent: bool) -> None:
        self._silent, self._asked = silent, 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stopping:
        for number in SIGNALS:
            if signal.getsignal(number) is signal.SIG_IGN:  # as for a job in the background
                continue
            try:
                self._before[number] = signal.signal(number, self._note)
            except ValueError:  # only the main thread may set handlers
                return self
        return self

    def __exit__(self, *error: object) -> None:
        self._restore()

    @property
    def asked(self) -> bool:
        """Whether the run is to end."""
        return bool(self._asked)

    def _note(self, number: int, _: Any) -> None:
        self._asked = number
        self._restore()
        if not self._silent:
            sys.stderr.write("\nfinishing the parts at hand; once more to stop at once\n")

    def _restore(self) -> None:
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_DFL if before is None else before)
        self._before.clear()

    def act(self, done: str) -> None:
        """Let the signal act as it did before, now that all is in order; `done` is a note."""
        before = signal.getsignal(self._asked)
        if not callable(before):
            sys.stderr.write(f"{done}\n")
            sys.stderr.flush()
            os.kill(os.getpid(), self._asked)
            return
        try:
            before(self._asked, None)
        except BaseException as stop:
            stop.add_note(done)
            raise
