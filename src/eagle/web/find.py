"""Finding rows of a table by words and conditions: «age > 40, sex = male, smith»."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle._values.text import clean, short_repr
from eagle.errors import InputError

Indices: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]

CONDITION: Final = re.compile(r"^\s*(.+?)\s*(<=|>=|!=|≤|≥|≠|=|<|>)\s*(.*?)\s*$")

COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "<": np.less,
    "<=": np.less_equal,
    "≤": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "≥": np.greater_equal,
}


def find(
    words: str, count: int, names: Sequence[str], column: Callable[[int], NDArray[np.object_]]
) -> Indices:
    """The rows that fit all parts of a search; parts are separated by commas.

    A part is a condition on a column, or words that any cell or the row's name contains. `column`
    gives the cells of a column, the row names being column −1.
    """
    fits = np.ones(count, dtype=bool)
    for part in filter(None, (piece.strip() for piece in clean(words).split(","))):
        condition = CONDITION.match(part)
        place = None if condition is None else place_of(condition[1], names)
        if condition is not None and place is None:
            raise InputError(f"there is no column that begins with {short_repr(condition[1])}")
        if condition is None or place is None:
            fits &= _contain(part, count, len(names), column)
        else:
            fits &= _meet(column(place), condition[2], condition[3])
    return np.flatnonzero(fits)


def place_of(name: str, names: Sequence[str]) -> int | None:
    """The column of this name, or the only one whose name begins so, in any case."""
    low = [one.casefold() for one in names]
    wanted = name.casefold()
    if wanted in low:
        return low.index(wanted)
    begin = [k for k, one in enumerate(low) if one.startswith(wanted)]
    return begin[0] if len(begin) == 1 else None


def _contain(
    part: str, count: int, width: int, column: Callable[[int], NDArray[np.object_]]
) -> Mask:
    wanted = part.casefold()
    fits = np.zeros(count, dtype=bool)
    for k in range(-1, width):
        cells = column(k)
        distinct = {cell for cell in cells.tolist() if isinstance(cell, str)}
        hit = {cell for cell in distinct if wanted in cell.casefold()}
        if hit:
            fits |= np.array([isinstance(c, str) and c in hit for c in cells.tolist()])
    return fits


def _meet(cells: NDArray[np.object_], sign: str, value: str) -> Mask:
    number = _number(value)
    if sign in COMPARE:
        if number is None:
            raise InputError(f"{sign} compares with a number, which {short_repr(value)} is not")
        numbers = np.array([_float(cell) for cell in cells.tolist()])
        return np.asarray(COMPARE[sign](numbers, number))
    wanted = value.casefold()
    if wanted in ("", "missing"):
        same = np.array([cell is None for cell in cells.tolist()])
    else:
        same = np.array([_same(cell, wanted, number) for cell in cells.tolist()])
    return same if sign == "=" else ~same


def _same(cell: Any, wanted: str, number: float | None) -> bool:
    if number is not None and not isinstance(cell, str):
        return _float(cell) == number
    return cell is not None and str(cell).casefold() == wanted


def _float(cell: Any) -> float:
    number = isinstance(cell, int | float | np.integer | np.floating)
    return float(cell) if number else float("nan")


def _number(value: str) -> float | None:
    try:
        return float(value.replace("−", "-"))
    except ValueError:
        return None
