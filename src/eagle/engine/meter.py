"""What the model is asked, counted, and stopped before it would cross a limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, final, runtime_checkable

from eagle.log import LOG
from eagle.types import Array, LimitError
from eagle.until import Budget

Query: TypeAlias = Callable[[Any, int], Array]
"""Inputs and how many there are, to checked answers, shape (n, outputs)."""


@runtime_checkable
class Counts(Protocol):
    """A language model that sums the tokens it was billed for."""

    @property
    def tokens(self) -> int | None:
        """The tokens of all replies so far; None if they are not counted."""


@final
class Meter:
    """The one way from the engine to the model: nothing is asked that would cross the limit."""

    def __init__(self, query: Query, limit: Budget | None = None, model: Any = None) -> None:
        self._query, self._limit, self._model = query, limit, model
        self._rows, self._calls, self._seconds = 0, 0, 0.0

    @property
    def tokens(self) -> int | None:
        """The tokens that the model has counted in its life; None if it counts none."""
        return self._model.tokens if isinstance(self._model, Counts) else None

    def crossed(self, rows: int, calls: int = 1) -> LimitError | None:
        """The error that so many more rows and calls would be; None if they are allowed."""
        if self._limit is None:
            return None
        why = self._limit.crossed(self._rows + rows, self._calls + calls, self._seconds)
        return None if why is None else LimitError(f"{why}: no more was asked")

    def ask(self, inputs: Any, rows: int) -> Array:
        """The checked answers. What is refused here was not asked."""
        error = self.crossed(rows)
        if error is not None:
            LOG.info("a limit would be crossed by %d more rows: not asked", rows)
            raise error
        self._rows += rows  # before they are asked: also a call that fails may be billed
        self._calls += 1
        began = time.perf_counter()
        try:
            return self._query(inputs, rows)
        finally:
            self._seconds += time.perf_counter() - began
