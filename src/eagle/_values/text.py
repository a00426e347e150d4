"""Short texts of values, names and errors."""

from __future__ import annotations

import math
from typing import TypeGuard

import numpy as np

JOINERS = "\u200c\u200d"
"""Not printable, but Persian words and some emoji need them."""


def clean(text: str) -> str:
    """Text on one line; characters that cannot be printed become spaces."""
    return "".join(c if c.isprintable() or c in JOINERS else " " for c in text)


def short(text: str, width: int) -> str:
    """Text on one line, cut to a width."""
    text = clean(text)
    return text if len(text) <= width else text[: width - 1] + "…"


def middle(text: str, width: int) -> str:
    """Text on one line; where it is too long, its middle is left out."""
    text = clean(text)
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[-end:]}"


def short_repr(value: object, most: int = 80) -> str:
    """A value for an error sentence: its repr on one line, cut; it works for any object."""
    try:
        text = repr(value)
    except Exception:  # a failing __repr__, or an integer with too many digits
        text = f"<{type(value).__name__}>"
    return short(text, most)


MAX_VALUE_CHARACTERS = 10
"""A number that takes more was computed, not written, and is rounded to six figures."""


def value_text(value: object) -> str:
    """A value of a row as its owner wrote it: numbers without needless digits or powers of ten."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, float | np.floating):
        return str(value)
    size = abs(float(value))
    if not math.isfinite(size) or (size and not 1e-4 <= size < 1e15):
        return f"{float(value):.6g}"
    few = np.float32(value)  # a column of such numbers keeps the digits that were written
    exact = few if float(few) == float(value) else np.float64(value)
    text = np.format_float_positional(exact, trim="-")
    if len(text.lstrip("-")) <= MAX_VALUE_CHARACTERS:
        return text
    whole = len(f"{size:.0f}")
    return np.format_float_positional(
        float(value), precision=max(6, whole), fractional=False, trim="-"
    )


def finite(value: object) -> TypeGuard[int | float]:
    """Whether a value is a finite number that a float can hold; booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def whole_number(text: str) -> int | None:
    """The number that a text of up to 18 digits from 0 to 9 writes; None for any other text.

    Python's own tests of text take further digits, such as ², which `int` then refuses.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def message_of(error: BaseException) -> str:
    """The message of an exception, also if its `__str__` fails."""
    try:
        return str(error)
    except Exception:
        return "it has no message"
