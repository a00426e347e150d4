"""A progress line on standard error for anything that takes longer than two seconds.

It is written where somebody looks: on a terminal, or below a cell of a notebook. Elsewhere, as in
the log of a job, it is silent.
"""

from __future__ import annotations

import sys
import time
from threading import Timer
from typing import final

from eagle._values.posterior import LEVEL
from eagle.until import Look

PATIENCE = 2.0
"""Nothing is shown of what takes fewer seconds."""


def is_watched() -> bool:
    """Whether standard error is a terminal, or what a notebook shows below a cell."""
    stream = sys.stderr
    return stream is not None and (
        stream.isatty() or type(stream).__module__.split(".")[0] == "ipykernel"
    )


@final
class Progress:
    """Reports how far a job of `total` steps is: after two seconds, at most once a second.

    A `hint` is told once, before the first report.
    """

    def __init__(self, what: str, total: int, *, silent: bool = False, hint: str = "") -> None:
        self._what, self._total, self._hint = what, total, hint
        self._silent = silent or not is_watched()
        self._began = self._said = time.monotonic()
        self._open, self._done = False, 0

    def step(self) -> None:
        """One more step is finished."""
        self.at(self._done + 1)

    def at(self, done: int) -> None:
        """`done` steps are finished."""
        self._done = done
        now = time.monotonic()
        spent = now - self._began
        if self._silent or spent < PATIENCE or (now - self._said < 1 and done < self._total):
            return
        self._said = now
        if self._hint:
            sys.stderr.write(f"{self._hint}\n")
            self._hint = ""
        left = spent / max(done, 1) * (self._total - done)
        end = "\n" if done >= self._total else ""
        sys.stderr.write(
            f"\r{self._what}: {done:,} of {self._total:,}, {duration(left)} left   {end}"
        )
        sys.stderr.flush()
        self._open = not end

    def close(self) -> None:
        """Ends the line, if one was begun."""
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


@final
class Step:
    """A step of one explanation, named on a line while it runs, from the third second on.

    Nothing can say how far it is, so the line has no numbers. It is removed when the step ends.
    """

    def __init__(self, what: str, *, silent: bool = False) -> None:
        self._line, self._shown = f"{what} …", False
        self._timer = None if silent or not is_watched() else Timer(PATIENCE, self._show)

    def _show(self) -> None:
        self._shown = True
        sys.stderr.write(f"\r{self._line}")
        sys.stderr.flush()

    def __enter__(self) -> Step:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._timer is None:
            return
        self._timer.cancel()
        self._timer.join()
        if self._shown:
            sys.stderr.write(f"\r{' ' * len(self._line)}\r")
            sys.stderr.flush()


@final
class Watching:
    """A line that shows the widest interval so far, and about how many rows are left."""

    def __init__(self) -> None:
        self._began, self._open = time.monotonic(), False
        self._silent = not is_watched()

    def __enter__(self) -> Watching:
        return self

    def __exit__(self, *error: object) -> None:
        if self._open:
            sys.stderr.write("\n")

    def look(self, look: Look, rows: float) -> None:
        """Report a look: its widest 95% interval, and how many of the forecast `rows` are left."""
        if self._silent or time.monotonic() - self._began < PATIENCE:
            return
        low, high = look.posterior.interval(LEVEL).T
        left = max(0.0, rows - look.rows)
        said = f"about {left:.0f} to go" if left < 1e7 else "the number of rows to go is not known"
        width = f"widest {LEVEL:.0%} interval {(high - low).max():.3g}"
        sys.stderr.write(f"\rasked {look.rows} rows: {width}, {said}   ")
        sys.stderr.flush()
        self._open = True
