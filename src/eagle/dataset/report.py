"""What is said on standard error while a data set is explained."""

from __future__ import annotations

import sys
from typing import final

from eagle._engine.progress import Progress
from eagle.saved.folders import DatasetPart


@final
class Report:
    """A line that says how many rows are explained, and sentences on lines of their own."""

    def __init__(self, rows: int, silent: bool) -> None:
        self._line, self._silent = Progress("rows explained", rows, silent=silent), silent
        self._done = 0

    def add(self, part: DatasetPart) -> None:
        """One more part is finished."""
        self._done += len(part)
        self._line.at(self._done)

    def say(self, sentence: str) -> None:
        if not self._silent:
            self.close()
            sys.stderr.write(f"{sentence}\n")
            sys.stderr.flush()

    def close(self) -> None:
        """End the line, if one was begun."""
        self._line.close()
