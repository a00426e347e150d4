"""Numbers as people read them: all that is shown of a number is written here.

All numbers of a column have the same number of digits after the point: what its narrowest interval
can tell. What that would write as 0 without being 0 is said to be smaller than the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, inf, isfinite, isnan, log10
from typing import Any, Final, final

from eagle._values.text import short, value_text

MIN_PLAIN, MAX_PLAIN = 1e-4, 1e7
"""Numbers between these are written without powers of ten."""

MAX_FIGURES: Final = 4
"""A number below 1,000 has at most this many significant figures."""

MIN_HALF_IN_UNITS: Final = 3.0
"""Half of the narrowest interval is this to ten times this many units of the last digit."""

MAX_SIZE: Final = 1e300
"""Larger numbers could not be rounded: their next power of ten may be beyond the largest float."""

MAX_DECIMALS: Final = 12
"""No number has more digits after the point."""

NOT_KNOWN: Final = "not known"


@final
@dataclass(frozen=True)
class Numbers:
    """How the numbers of a column are written: with `decimals` each; None for powers of ten."""

    decimals: int | None

    @classmethod
    def of(
        cls, values: Iterable[float], low: Iterable[float] = (), high: Iterable[float] = ()
    ) -> Numbers:
        """For these numbers, and their intervals from `low` to `high` where they are known."""
        halves = [float(b) / 2 - float(a) / 2 for a, b in zip(low, high, strict=True)]
        sizes = [abs(float(value)) for value in values if isfinite(value)]
        largest = float(f"{min(max(sizes, default=0.0), MAX_SIZE):.{MAX_FIGURES - 1}e}")
        if 0 < largest < MIN_PLAIN:
            return cls(None)
        most = MAX_FIGURES - 1 - floor(log10(largest)) if largest else 0
        narrowest = min((half for half in halves if 0 < half < inf), default=0.0)
        if narrowest and isfinite(wanted := log10(MIN_HALF_IN_UNITS / narrowest)):
            most = min(most, ceil(wanted))
        return cls(min(max(most, 0), MAX_DECIMALS))

    @classmethod
    def of_ticks(cls, ticks: Sequence[float]) -> Numbers:
        """For the numbers of an axis: as many decimals as the step between them has."""
        steps = [abs(b - a) for a, b in pairwise(ticks) if b != a]
        step = min((s for s in steps if isfinite(s)), default=abs(ticks[0]) if len(ticks) else 0.0)
        largest = max((abs(tick) for tick in ticks), default=0.0)
        if 0 < largest < MIN_PLAIN:
            return cls(None)
        if not 0 < step < MAX_SIZE:
            return cls(0)
        power = floor(log10(step * 1.0001))
        if power < -MAX_DECIMALS:
            return cls(MAX_DECIMALS)
        places = next(k for k in (0, 1, 2, 3) if _is_whole(step * 10.0 ** (k - power)) or k == 3)
        return cls(min(max(places - power, 0), MAX_DECIMALS))

    def tick(self, value: float) -> str:
        """A number of an axis, where 0 is 0, and powers of ten have no needless zeros."""
        digits, power, exponent = self.plain(value).partition("e")
        if not power:
            return digits if value else "0"
        return f"{digits.rstrip('0').rstrip('.')}e{exponent}"

    def plain(self, value: float) -> str:
        """With a true minus."""
        return self._write(float(value), "")

    def signed(self, value: float) -> str:
        """With its sign; 0 has none."""
        return self._write(float(value), "+")

    def span(self, low: float, high: float, signed: bool = True) -> str:
        """An interval: its ends, or that they are not known."""
        if isnan(low) or isnan(high):
            return NOT_KNOWN
        write = self.signed if signed else self.plain
        return f"{write(low)} … {write(high)}"

    def _write(self, value: float, plus: str) -> str:
        if not isfinite(value):
            return NOT_KNOWN if isnan(value) else "∞" if value > 0 else "−∞"
        sign = "−" if value < 0 else plus if value > 0 else ""
        size = abs(value)
        if size >= MAX_PLAIN or (self.decimals is None and size):
            return f"{sign}{size:.{MAX_FIGURES - 1}e}".replace("-", "−")
        text = f"{size:,.{self.decimals or 0}f}"
        if size and not text.strip("0."):
            bound = f"{text[:-1]}1"
            return f"<{bound}" if value > 0 else f">−{bound}"
        return f"{sign}{text}"


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < 1e-6 * max(abs(number), 1.0)


# -- single numbers ------------------------------------------------------------------------------


def number(value: float, figures: int = MAX_FIGURES) -> str:
    """A number by itself: all digits before the point, at most `figures` if it is below 1,000."""
    return _alone(float(value), figures, "")


def signed_number(value: float, figures: int = MAX_FIGURES) -> str:
    """A number by itself, with its sign."""
    return _alone(float(value), figures, "+")


def _alone(value: float, figures: int, plus: str) -> str:
    size = abs(value)
    if not isfinite(value) or size == 0 or size >= MAX_PLAIN:
        return Numbers(0)._write(value, plus)
    sign = "−" if value < 0 else plus
    if size < MIN_PLAIN:
        return f"{sign}{size:.{figures - 1}e}".replace("-", "−")
    rounded = float(f"{size:.{figures - 1}e}")
    text = f"{size:,.{max(figures - 1 - floor(log10(rounded)), 0)}f}"
    return sign + (text.rstrip("0").rstrip(".") if "." in text else text)


def probability(value: float) -> str:
    """A probability by itself, never rounded to impossible or certain."""
    if 0 < value < MIN_PLAIN:
        return "<0.0001"
    return ">0.9999" if 1 - MIN_PLAIN < value < 1 else number(value)


def answer(value: float, is_probability: bool) -> str:
    """What a model answers."""
    return probability(value) if is_probability else number(value)


def count(value: float) -> str:
    """How many there are."""
    return f"{value:,.0f}"


def plural(value: int, what: str) -> str:
    """How many of what: «1 row», «2,048 rows»."""
    return f"{count(value)} {what}{'' if value == 1 else 's'}"


def percent(share: float, decimals: int = 0) -> str:
    """A share in per cent."""
    return f"{100 * share:.{decimals}f}%".replace("-", "−")


def at_level(level: float) -> str:
    """The level of an interval: 95%, 99.9%."""
    return f"{100 * level:g}%"


def sureness(sure: float | None) -> str:
    """A probability in per cent, never rounded up to certainty; "" if it is not known."""
    if sure is None or isnan(sure):
        return ""
    return ">99.9%" if sure > 0.999 else percent(sure, 1)


def p_value(value: float) -> str:
    """A p-value."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def share(value: float) -> str:
    """A number between 0 and 1, or an R², with two decimals."""
    return "" if isnan(value) else f"{value:.2f}".replace("-", "−")


def seconds(value: float) -> str:
    """A time in seconds."""
    return f"{value:.3f} s" if value < 10 else f"{value:,.1f} s"


def row_value(value: Any, width: int = 200) -> str:
    """A value of a row, as its owner wrote it."""
    return "missing" if value is None else short(value_text(value), width)
