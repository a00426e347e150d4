"""A line on standard error: how many rows are explained, how fast, and what the model is billed."""

from __future__ import annotations

import sys
import time
from typing import final

from eagle.dataset.job import FinishedPart
from eagle.progress import PATIENCE, watched


@final
class Report:
    """How far a run is. `before` rows were explained by earlier runs."""

    def __init__(self, parts: int, rows: int, todo: int, before: int, silent: bool) -> None:
        self._parts, self._rows, self._todo = parts, rows, todo
        self._before, self._silent = before, silent
        self._began = self._said = time.monotonic()
        self._work = self._began
        self._open = False
        self.done = self.made = self.asked = 0

    def ready(self) -> None:
        """A worker is ready. The first one starts the clock of rows per second."""
        if self._work == self._began:
            self._work = time.monotonic()

    def add(self, made: FinishedPart) -> None:
        """One more part is finished."""
        self.done += 1
        self.made += made.rows
        self.asked += made.asked
        now = time.monotonic()
        last = self.done >= self._todo
        if self._silent or now - self._began < PATIENCE or (now - self._said < 1 and not last):
            return
        self._said = now
        if watched():
            self._write(f"\r{self.line(now - self._work)}   ")

    def line(self, seconds: float) -> str:
        """The state in words, `seconds` after the start."""
        rate = self.made / max(seconds, 1e-9)
        left = self._rows - self._before - self.made
        parts = self._parts - self._todo + self.done
        return (
            f"explained {self._before + self.made:,} of {self._rows:,} rows "
            f"({parts:,} of {self._parts:,} parts), {rate:,.0f} rows/s, "
            f"{duration(left / max(rate, 1e-9))} left, {self.asked:,} model rows asked"
        )

    def say(self, sentence: str) -> None:
        """Say something else, on a line of its own."""
        if not self._silent:
            self.close()
            sys.stderr.write(f"{sentence}\n")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
        self._open = True

    def close(self) -> None:
        """End the line, if one was begun."""
        if self._open:
            sys.stderr.write("\n")
            self._open = False


def duration(seconds: float) -> str:
    """A number of seconds in words."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
