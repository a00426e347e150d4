"""Numbers on a page: where they stand on an axis, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Final, final

from eagle.display.numbers import Numbers

TICKS: Final = 4
"""Approximate number of labels along an axis."""

MARGIN: Final = 0.02
"""The share of an axis that is left free at either end."""


@final
@dataclass(frozen=True)
class Scale:
    """An axis from one number to another."""

    low: float
    high: float

    @classmethod
    def over(cls, numbers: Iterable[float], zero: bool = True) -> Scale:
        """An axis that has all finite numbers on it, and 0 if asked for."""
        seen = [float(number) for number in numbers if isfinite(number)]
        seen += [0.0] if zero or not seen else []
        low, high = min(seen), max(seen)
        if not high > low:
            low, high = (low - 1.0, high + 1.0) if low == 0 else (low - abs(low), high + abs(high))
        edge = MARGIN * (high / 2 - low / 2) * 2
        return cls(low - edge if low < 0 or not zero else low, high + edge if high > 0 else high)

    def at(self, number: float) -> float:
        """Where a number stands, from 0 to 100."""
        half = self.high / 2 - self.low / 2
        share = (number / 2 - self.low / 2) / half
        return round(100 * min(max(share, 0.0), 1.0), 2)

    @property
    def ticks(self) -> list[float]:
        """A few round numbers on the axis."""
        out = [0.0] if self.low <= 0 <= self.high else []
        for count in (TICKS, 1.5 * TICKS, 3 * TICKS):
            step = _round_step((self.high / 2 - self.low / 2) * 2 / count)
            if not step or not isfinite(step):
                return out
            first, last = ceil(self.low / step), floor(self.high / step)
            out = [k * step for k in range(first, last + 1)]
            if len(out) > 2:
                return out
        return out

    @property
    def value_texts(self) -> list[str]:
        """These numbers as values of rows: years have no separators."""
        return [text.replace(",", "") for text in self.tick_texts]

    @property
    def tick_texts(self) -> list[str]:
        """These numbers as they are written."""
        written = Numbers.of_ticks(self.ticks)
        return [written.tick(tick) for tick in self.ticks]


def _round_step(least: float) -> float:
    """The least of 1, 2 and 5 times a power of ten that is not smaller."""
    if not least > 0 or not isfinite(least):
        return 0.0
    power = 10.0 ** floor(log10(least))
    if power == 0:
        return 0.0
    return next((k * power for k in (1, 2, 5, 10) if k * power >= least * 0.999), 10 * power)
