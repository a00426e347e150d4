"""Ctrl-C and SIGTERM while a data set is explained: the parts at hand are finished first."""

from __future__ import annotations

import signal
import sys
from typing import Any, Final, final

from eagle.dataset.report import Report

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@final
class Interrupts:
    """Within it the first signal is noted. The second one acts as it did before, at once."""

    def __init__(self, report: Report) -> None:
        self._report, self._number = report, 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
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
    def stop(self) -> bool:
        """Whether a signal came, and the run is to end."""
        return self._number != 0

    def _note(self, number: int, _: Any) -> None:
        self._number = number
        self._restore()
        self._report.say("\nfinishing the parts at hand; once more to stop at once")

    def _restore(self) -> None:
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_DFL if before is None else before)
        self._before.clear()

    def act(self, done: str) -> None:
        """Let the signal act as it did before, now that all is in order; `done` is a note."""
        if not callable(signal.getsignal(self._number)):  # it ends the process
            sys.stderr.write(f"{done}\n")
            sys.stderr.flush()
        try:
            signal.raise_signal(self._number)
        except BaseException as stop:
            stop.add_note(done)
            raise
