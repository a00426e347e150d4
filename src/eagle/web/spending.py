"""What the page has asked of the model, all clients together, and the limit on it."""

from __future__ import annotations

import threading
from typing import TypedDict, final

from eagle.types import LimitError
from eagle.until import Budget


class Spent(TypedDict):
    """The cost so far."""

    rows: int
    calls: int
    seconds: float
    money: float | None


@final
class Spending:
    """Counts rows, calls and seconds. Nothing is taken that would cross the limit."""

    def __init__(self, limit: Budget | None = None, price_per_row: float | None = None) -> None:
        self.limit = limit
        self.price = price_per_row if limit is None or not limit.pays else limit.price_per_row
        self._rows, self._calls, self._seconds = 0, 0, 0.0
        self._lock = threading.Lock()

    def take(self, rows: int) -> None:
        """Count a call of `rows` rows before it is made, or refuse it."""
        with self._lock:
            if self.limit is not None:
                why = self.limit.crossed(self._rows + rows, self._calls + 1, self._seconds)
                if why is not None:
                    raise LimitError(f"{why}: no more is asked from this page")
            self._rows += rows
            self._calls += 1

    def took(self, seconds: float) -> None:
        with self._lock:
            self._seconds += seconds

    def left(self) -> Budget | None:
        """The limit on what follows; None if there is none. Spent is spent: it is refused."""
        with self._lock:
            if self.limit is None:
                return None
            left = self.limit.after(self._rows, self._calls, self._seconds)
        if left is None:
            raise LimitError("the limit of this page is spent: no more is asked from it")
        return left

    @property
    def spent(self) -> Spent:
        with self._lock:
            money = None if self.price is None else self._rows * self.price
            return {
                "rows": self._rows,
                "calls": self._calls,
                "seconds": round(self._seconds, 3),
                "money": money,
            }
