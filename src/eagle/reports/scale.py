"""Numbers on a page: where they stand on an axis, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, isnan, log10
from typing import Final, final

TICKS: Final = 4
"""Approximate number of labels along an axis."""

MARGIN: Final = 0.02
"""The share of an axis that is left free at either end."""

MIN_PLAIN, MAX_PLAIN = 1e-4, 1e6
"""Numbers whose largest is beyond these are written with powers of ten."""


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
        step = _round_step((self.high / 2 - self.low / 2) * 2 / TICKS)
        if not step or not isfinite(step):
            return [0.0] if self.low <= 0 <= self.high else []
        first, last = ceil(self.low / step), floor(self.high / step)
        return [k * step for k in range(first, last + 1)]


def _round_step(least: float) -> float:
    """The least of 1, 2 and 5 times a power of ten that is not smaller."""
    if not least > 0 or not isfinite(least):
        return 0.0
    power = 10.0 ** floor(log10(least))
    if power == 0:
        return 0.0
    return next((k * power for k in (1, 2, 5, 10) if k * power >= least * 0.999), 10 * power)


@final
@dataclass(frozen=True)
class Digits:
    """How the numbers of a column are written: with as many decimals each, so that they align."""

    decimals: int | None

    @classmethod
    def of(cls, numbers: Iterable[float], figures: int = 4) -> Digits:
        """Decimals such that the largest number has `figures` significant figures."""
        largest = max((abs(float(x)) for x in numbers if isfinite(x)), default=0.0)
        if largest and not MIN_PLAIN <= largest < MAX_PLAIN:
            return cls(None)
        return cls(max(0, figures - 1 - floor(log10(largest))) if largest else figures - 1)

    def with_sign(self, number: float) -> str:
        """With its sign, a true minus; a number that is rounded to 0 has none."""
        return self._write(number, "+")

    def plain(self, number: float) -> str:
        return self._write(number, "-")

    def span(self, low: float, high: float, signed: bool = True) -> str:
        """An interval."""
        if isnan(low) or isnan(high):
            return "not known"
        write = self.with_sign if signed else self.plain
        return f"{write(low)} … {write(high)}"

    def _write(self, number: float, sign: str) -> str:
        if not isfinite(number):
            return "∞" if number > 0 else "−∞" if number < 0 else "not known"
        form = f"{sign}.3e" if self.decimals is None else f"{sign}.{self.decimals}f"
        out = format(number, form)
        if not out.strip("+-0."):
            out = out.lstrip("+-")
        return out.replace("-", "−")


def tick(number: float) -> str:
    """A round number on an axis."""
    return figure(number, 3)


def figure(number: float, figures: int = 4) -> str:
    """A number by itself, with `figures` significant figures and a true minus."""
    form = ",.0f" if 10**figures <= abs(number) < MAX_PLAIN * 10 else f".{figures}g"
    return format(number, form).replace("-", "−")
