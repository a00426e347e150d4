"""Columns of tables as plain values: numbers, or codes of levels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.text import short_repr
from eagle.errors import InputError

Objects: TypeAlias = NDArray[np.object_]

LARGEST_INTEGER = 2.0**53
"""Beyond 2^53 not every integer is exactly a float."""


@final
@dataclass(frozen=True, eq=False)
class Codes:
    """A column of levels: `codes` index `levels`, and -1 is missing."""

    codes: NDArray[np.intp]
    levels: tuple[Any, ...]

    def objects(self, missing: Any = None) -> Objects:
        """The levels themselves, with `missing` where there is none."""
        return array_of([*self.levels, missing])[self.codes]


Values: TypeAlias = "Array | Codes"
"""A column read or to be written: numbers (NaN is missing), or codes of levels."""


def array_of(values: Iterable[Any]) -> Objects:
    """Any values as an array of objects of one dimension."""
    listed = list(values)
    out = np.empty(len(listed), dtype=object)
    for i, value in enumerate(listed):
        out[i] = value
    return out


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA: the ways to mark "missing" in a table."""
    if value is None:
        return True
    if getattr(value, "ndim", 0):  # an array in a cell is not missing, whatever it holds
        return False
    try:
        return not bool(value == value)
    except ArithmeticError:  # a signalling NaN of decimal raises
        return True
    except Exception:  # pandas.NA has no truth value; other objects may raise anything
        return type(value).__name__ == "NAType"


def missing(objects: Objects) -> NDArray[np.bool_]:
    """Which of the objects are missing."""
    return np.array([is_missing(v) for v in objects], dtype=bool)


def missing_marker(objects: Objects) -> Any:
    """The value that marks "missing" in a column of objects: its first missing value, else NaN.

    A signalling NaN of decimal, which raises when compared, becomes a quiet one.
    """
    marker = next((v for v in objects if is_missing(v)), np.nan)
    return Decimal("NaN") if isinstance(marker, Decimal) else marker


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_integer_value(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def all_integers(objects: Objects) -> bool:
    """Whether all objects that are not missing are integers by type, and there is one."""
    present = [v for v in objects if not is_missing(v)]
    return bool(present) and all(is_integer_value(v) for v in present)


def are_integers(values: Array) -> bool:
    """Whether all values are integers, none missing."""
    return bool(np.all(np.isfinite(values)) and np.all(values == np.rint(values)))


def plain(value: Any) -> Any:
    """A numpy scalar as a Python one; everything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def key(level: Any) -> tuple[bool, Any]:
    """A key that is equal for equal levels: 1 and 1.0 are one level, 1 and True are two."""
    if isinstance(level, tuple):  # a combination of a group's levels, or a level that is a tuple
        return False, tuple(key(part) for part in level)
    return isinstance(level, bool), level


def places(levels: Iterable[Any]) -> dict[tuple[bool, Any], int]:
    """The place of each level, by its key."""
    return {key(level): i for i, level in enumerate(levels)}


def sort_levels(levels: Sequence[Any]) -> list[Any]:
    """Levels in an order that does not depend on the rows: by type, then by value."""
    try:
        return sorted(levels, key=lambda v: (type(v).__name__, v))
    except TypeError:
        return sorted(levels, key=lambda v: (type(v).__name__, repr(v)))


def encode(objects: Objects, name: Hashable, levels: Sequence[Any] = ()) -> Codes:
    """Objects as codes. New levels come after those given."""
    index = places(levels)
    try:
        present = {key(plain(v)): plain(v) for v in objects if not is_missing(v)}
        for level in present.values():
            if not isinstance(level, str | int | float | bytes):
                str(level)  # it will be shown, so this must not raise
    except Exception:  # another package's object may raise anything
        raise InputError(
            f"column {name!r} holds values that cannot be compared or named (lists, arrays or the "
            "like): name it in fixed, and it is passed to the model as it is"
        ) from None
    fresh = sort_levels([level for k, level in present.items() if k not in index])
    index |= {key(level): len(index) + i for i, level in enumerate(fresh)}
    codes = [-1 if is_missing(v) else index[key(plain(v))] for v in objects]
    return Codes(np.array(codes, dtype=np.intp), (*levels, *fresh))


def numbers(objects: Objects, name: Hashable) -> Array:
    """Objects as numbers, NaN where missing."""
    out = np.full(len(objects), np.nan)
    for i, value in enumerate(objects):
        if is_missing(value):
            continue
        try:
            if isinstance(value, str | bytes):
                raise TypeError
            out[i] = float(value)
        except OverflowError:
            raise InputError(
                f"column {name!r} holds {short_repr(value)}, which is too large for a float: "
                "name it in fixed, or give its numbers in other units"
            ) from None
        except Exception:  # another package's object may raise anything
            raise InputError(
                f"column {name!r} holds numbers in the background, but {short_repr(value)} came"
            ) from None
    return out


def exact(value: Any, name: Hashable) -> int | float:
    """A number for a column of integers. A float beyond 2^53 is refused: it is not exact."""
    (number,) = numbers(array_of([value]), name).tolist()
    if isinstance(plain(value), int):
        return int(value)
    if abs(number) > LARGEST_INTEGER:
        raise InputError(
            f"column {name!r} holds integers, but {short_repr(value)} came, a float too large to "
            "be exact: give x as a table of one row"
        )
    return float(number)


def truths(objects: Objects, name: Hashable) -> Objects:
    """Objects as true or false, None where missing."""
    out = array_of(None if is_missing(v) else plain(v) for v in objects)
    for i, value in enumerate(out):
        if value is not None:
            if value not in (False, True):
                raise InputError(
                    f"column {name!r} holds true or false, but {short_repr(value)} came"
                )
            out[i] = bool(value)
    return out


def read_objects(objects: Objects, name: Hashable) -> Values | None:
    """Mixed objects as numbers if all are numbers, as levels if they can be compared, else None."""
    present = [v for v in objects if not is_missing(v)]
    if present and all(is_number(v) for v in present):
        return numbers(objects, name)
    try:
        return encode(objects, name)
    except InputError:
        return None


def to_objects(values: Values, as_integers: bool, marker: Any) -> Objects:
    """Values as objects: integers as int if `as_integers`, missing ones as `marker`."""
    if isinstance(values, Codes):
        return values.objects(marker)
    return array_of(
        marker if v != v else int(v) if as_integers and v.is_integer() else v
        for v in values.tolist()
    )
