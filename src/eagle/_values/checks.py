"""Checks of what callers give: what does not fit is refused in a sentence."""

from __future__ import annotations

import inspect
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from eagle._values.text import finite, short_repr
from eagle.errors import InputError

T = TypeVar("T")


def integer(value: Any, name: str, least: int) -> int:
    """A number that must be an integer, such as a budget."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be an integer of at least {least}, not {short_repr(value)}")
    if value > sys.maxsize:
        raise InputError(f"{name} is larger than anything that can be counted: {short_repr(value)}")
    return int(value)


def number(value: Any, name: str, least: float = -math.inf, *, above: float = -math.inf) -> float:
    """A finite number that must be at least `least`, and above `above`."""
    if finite(value) and value >= least and value > above:
        return float(value)
    if above > -math.inf:
        wanted = "a positive number" if above == 0 else f"a number above {above:g}"
    elif least > -math.inf:
        wanted = "zero or more" if least == 0 else f"a number of at least {least:g}"
    else:
        wanted = "a finite number"
    raise InputError(f"{name} must be {wanted}, not {short_repr(value)}")


def as_numbers(values: Any, name: str) -> NDArray[Any]:
    """An array of numbers of any shape, from what a caller gives."""
    try:
        array = np.asarray(values)
    except Exception:  # rows of different lengths, or an object that is none of numbers
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} must be numbers, not {short_repr(values)}")
    return array


def string(value: Any, name: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be a text, not {short_repr(value)}")
    return value


def check_choice(value: Any, options: Iterable[str], name: str) -> None:
    """Refuse what is none of these texts."""
    listed = list(options)
    if not isinstance(value, str) or value not in listed:
        *first, last = map(repr, listed)
        raise InputError(f"{name} must be {', '.join(first)} or {last}, not {short_repr(value)}")


def check_flags(**given: Any) -> None:
    """Refuse what is neither true nor false: "no" would count as true."""
    for name, value in given.items():
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"{name} must be True or False, not {short_repr(value)}")


def check_function(value: Any, name: str) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise InputError(f"{name} must be a function, not {short_repr(value)}")


def elements(value: Any, name: str) -> list[Any]:
    """The elements of a list, a tuple, a column or anything like them, but not of a text."""
    if isinstance(value, str | bytes | Mapping | type) or not np.iterable(value):
        raise InputError(f"{name} must be a list, not {short_repr(value)}")
    return list(value)


def path_of(value: Any, name: str = "a path") -> Path:
    """A path, which is a text or a `pathlib.Path`."""
    if not isinstance(value, str | PathLike) or value == "":
        raise InputError(
            f"{name} is a text that is not empty or a pathlib.Path, not {short_repr(value)}"
        )
    try:
        path = Path(value)
        if b"\0" in os.fsencode(path):
            raise ValueError
    except (TypeError, ValueError):  # a path of bytes, or a text that no file can be named by
        raise InputError(f"{name} cannot be the name of a file: {short_repr(value)}") from None
    return path


def each_placed(things: Sequence[Any], take: Callable[[Any], T], what: str, one: bool) -> list[T]:
    """What `take` makes of each thing. An error says at which of several things it is."""
    out = list[T]()
    for place, thing in enumerate(things):
        try:
            out.append(take(thing))
        except InputError as error:
            if one:
                raise
            raise InputError(f"{what} {place}, counted from 0: {error}") from error
    return out


def refuse_repeats(names: Sequence[Hashable], what: str) -> None:
    """Refuse names of which two are equal, and say which."""
    try:
        often = Counter(names)
    except TypeError:  # a list or another value that cannot be a key
        raise InputError(f"{what} must be texts or numbers, not {short_repr(names)}") from None
    if len(often) == len(names):
        return
    twice = [f"{short_repr(name, 40)} {count} times" for name, count in often.items() if count > 1]
    more = f" and {len(twice) - 5} more" if len(twice) > 5 else ""
    raise InputError(f"{what} must differ from one another: {', '.join(twice[:5])}{more}")


def is_equal(one: Any, other: Any) -> bool:
    """Whether two values are equal; what cannot be compared is not."""
    try:
        return bool(one == other)
    except Exception:  # another package's object may raise anything
        return False


def lacking(part: Any, *members: str) -> list[str]:
    """The members that a caller's part lacks, or has as None. "plan or ask" means one of the two.

    Properties are not computed.
    """

    def has(member: str) -> bool:
        return inspect.getattr_static(part, member, None) is not None

    return [one for one in members if not any(map(has, one.split(" or ")))]
