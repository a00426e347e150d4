"""The memory that a plan takes. A plan that does not fit is refused before it is made."""

from __future__ import annotations

import os
from typing import Final

from eagle.errors import InputError
from eagle.surrogates.fit import Surrogate

NUMBERS_PER_COEFFICIENT: Final = 6
"""Numbers held for each row and coefficient at the worst moment of planning and fitting: uniforms,
points, features, the line's rows, their reach and the hat matrix. As measured: from 4 to 8."""

SQUARES: Final = 5
"""Matrices of coefficients by coefficients that are held at once."""

NUMBERS_PER_FEATURE: Final = 4
"""Numbers held for each row and feature of one call: points, values and the table itself."""

ASSUMED_MEMORY: Final = 64 << 30
"""The memory assumed for a machine whose memory is not known."""


def memory() -> int:
    """The physical memory of this machine, in bytes."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not every system has these names
        return ASSUMED_MEMORY
    return size if size > 0 else ASSUMED_MEMORY


def of_plan(rows: int, d: int, surrogate: Surrogate | None) -> int:
    """The bytes that a plan of `rows` rows and d features takes until it is fitted."""
    more = 0 if surrogate is None else surrogate.memory(rows, d)
    return 8 * (NUMBERS_PER_COEFFICIENT * rows * (d + 1) + SQUARES * (d + 1) ** 2 + more)


def refuse_plan(rows: int, d: int, surrogate: Surrogate | None) -> None:
    """Refuse a plan that does not fit into the memory of this machine."""
    size = of_plan(rows, d, surrogate)
    if size <= memory():
        return
    fits = largest(rows, d, surrogate)
    hint = f"a budget of up to {fits:,} would fit" if fits else "explain with fewer features"
    raise InputError(
        f"a plan of {short_integer(rows)} rows for {d:,} feature{'s' if d > 1 else ''} would take "
        f"{gib(size)} of memory, and this machine has {gib(memory())}: {hint}"
    )


def refuse_call(rows: int, d: int) -> None:
    """Refuse a call whose table does not fit into the memory of this machine."""
    size = 8 * NUMBERS_PER_FEATURE * rows * d
    if size > memory():
        raise InputError(
            f"a call of {short_integer(rows)} rows of {d:,} features would take {gib(size)} of "
            f"memory, and this machine has {gib(memory())}: give a smaller batch_rows"
        )


def largest(rows: int, d: int, surrogate: Surrogate | None) -> int:
    """How many rows fit, rounded down to two digits; 0 if none do."""
    low, high = 0, rows
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if of_plan(middle, d, surrogate) <= memory() else (low, middle)
    step: int = 10 ** max(len(str(low)) - 2, 0)
    return low // step * step


def gib(size: int) -> str:
    """Bytes as GiB."""
    whole = size >> 30
    return f"{size / 2**30:.1f} GiB" if whole < 1000 else f"{short_integer(whole)} GiB"


def short_integer(number: int) -> str:
    """An integer of any size as short text."""
    return f"{number:,}" if number < 10**15 else "more than 10^15"
