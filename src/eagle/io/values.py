"""Plain values as JSON holds them: numbers, texts, tuples, mappings, arrays and named records.

A record is a frozen dataclass of eagle: its name, and its fields by their names. What is read is
made of the classes that the caller names and of nothing else, so reading runs no code of a file's.
A class whose fields are not what is to be kept inherits from `Saved`.
"""

from __future__ import annotations

import base64
import binascii
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from functools import cache
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from eagle._values.packages import package
from eagle._values.text import short_repr
from eagle.errors import InputError


class Saved(ABC):
    """A class whose files keep other values than those of its fields."""

    @abstractmethod
    def to_saved(self) -> dict[str, Any]:
        """What a file keeps, by name."""

    @classmethod
    @abstractmethod
    def of_saved(cls, *args: Any, **kept: Any) -> Any:
        """What `to_saved` gave, made again."""


Classes = Mapping[str, type]
"""The classes that may be read, by their names."""

MAX_DEPTH: Final = 50
"""The largest depth of values within values."""

MAX_DIMENSIONS: Final = 4
"""The largest number of dimensions of an array."""

DTYPES: Final = {
    np.dtype(name).newbyteorder("<").str: np.dtype(name)
    for name in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}
"""The dtypes of arrays in files."""

TIMES: Final[dict[str, Any]] = {"date": date, "datetime": datetime, "timedelta": timedelta}
PANDAS_TIMES: Final = ("Timestamp", "Timedelta")
"""Dates, moments and time spans that come back as they were."""

NOT_FINITE: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


# -- writing ------------------------------------------------------------------------------------


def encode(value: Any) -> Any:
    """A value as JSON holds it. A type that no file has becomes text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, date | timedelta):
        return encode_time(value)
    if isinstance(value, tuple | list):
        return [encode(one) for one in value]
    if isinstance(value, Mapping):
        return {"map": [[encode(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray):
        return pack(value)
    made = is_dataclass(value) and not isinstance(value, type)
    if made and type(value).__module__.split(".")[0] == "eagle":
        kept = value.to_saved() if isinstance(value, Saved) else values_of(value)
        return {"is": type(value).__name__, **{name: encode(one) for name, one in kept.items()}}
    return encode_text(value)


def values_of(value: Any) -> dict[str, Any]:
    """What a dataclass is made of, by the names of its fields."""
    return {f.name: getattr(value, f.name) for f in fields(value) if f.init}


def encode_time(value: Any) -> Any:
    """A date, a moment or a time span, Python's own or pandas'; a missing one becomes text."""
    kind, pandas = type(value).__name__, type(value).__module__.startswith("pandas")
    if kind == "timedelta" and not pandas:
        return {"time": kind, "of": [value.days, value.seconds, value.microseconds]}
    if kind == "Timestamp" and pandas and value.tz is not None:
        return {"time": kind, "of": [value.tz_convert("UTC").isoformat(), str(value.tz)]}
    if kind in (PANDAS_TIMES if pandas else TIMES):
        return {"time": kind, "of": value.isoformat()}
    return encode_text(value)


def decode_time(kind: Any, of: Any) -> Any:
    """What `encode_time` wrote."""
    if kind == "timedelta":
        return timedelta(*map(int, of))
    if kind in TIMES:
        return TIMES[kind].fromisoformat(of)
    if kind in PANDAS_TIMES:
        moment, zone = of if isinstance(of, list) else (of, None)
        made = getattr(package("pandas", "names that are pandas' times", "frames"), kind)(
            str(moment)
        )
        return made if zone is None else made.tz_convert(str(zone))
    raise ValueError(f"{short_repr(kind, 40)} is no kind of time")


def encode_text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # another's object may raise anything
        raise InputError(f"a file cannot hold {short_repr(value)}: it has no text") from None


def pack(array: NDArray[Any]) -> dict[str, Any]:
    """An array as its dtype, its shape and its bytes in base64.

    Small integers, such as masks and steps, take a byte or two each, whatever their dtype.
    """
    array = np.asarray(array)
    name = array.dtype.newbyteorder("<").str
    if name not in DTYPES:
        raise InputError(f"a file cannot hold an array of {array.dtype}")
    kept = narrow(array)
    little = np.ascontiguousarray(kept, kept.dtype.newbyteorder("<"))
    said: dict[str, Any] = {"array": name, "shape": list(array.shape)}
    if little.dtype.str != name:
        said["as"] = little.dtype.str
    return {**said, "data": base64.b64encode(little.tobytes()).decode()}


def narrow(array: NDArray[Any]) -> NDArray[Any]:
    """The array in one or two bytes a number, if these hold it exactly."""
    if array.dtype.itemsize == 1 or not array.size:
        return array
    if array.dtype.kind == "f" and (np.signbit(array).any() or not np.isfinite(array).all()):
        return array
    for small in (np.uint8, np.uint16):
        most, size = np.iinfo(small).max, np.dtype(small).itemsize
        if size < array.dtype.itemsize and array.min() >= 0 and array.max() <= most:
            held = array.astype(small)
            if np.array_equal(held, array):
                return held
    return array


# -- reading ------------------------------------------------------------------------------------


def decode(data: Any, classes: Classes, depth: int = 0) -> Any:
    """The value that `encode` wrote. What does not fit raises a ValueError or a TypeError."""
    if depth > MAX_DEPTH:
        raise ValueError("it has too many parts within parts")
    if isinstance(data, list):
        return tuple(decode(one, classes, depth + 1) for one in data)
    if not isinstance(data, dict):
        return data
    if "is" in data:
        return decode_record(data, classes, depth)
    if "array" in data:
        return unpack(data)
    if "time" in data:
        return decode_time(data["time"], data["of"])
    if "float" in data:
        return NOT_FINITE[data["float"]]
    pairs = decode(data["map"], classes, depth + 1)
    return dict(pairs)


def decode_record(data: dict[str, Any], classes: Classes, depth: int) -> Any:
    name = data["is"]
    if not isinstance(name, str) or name not in classes:
        raise ValueError(
            f"it has {short_repr(name, 40)}, which this version of eagle does not know"
        )
    return make(
        classes[name], {k: decode(v, classes, depth + 1) for k, v in data.items() if k != "is"}
    )


def make(kind: Any, kept: Mapping[str, Any]) -> Any:
    """What `encode` took apart, if each part is of the type that its class declares."""
    check_types(kind, kept)
    return kind.of_saved(**kept) if issubclass(kind, Saved) else kind(**kept)


def check_types(kind: type, kept: Mapping[str, Any]) -> None:
    """Refuse what is not of the type that a class declares for its name."""
    hints = hints_of(kind)
    for name, value in kept.items():
        if name in hints and not fits(value, hints[name]):
            raise ValueError(f"{name} of {kind.__name__} is of the wrong type")


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """The declared types of all that a file keeps of a class."""
    made = get_type_hints(kind.of_saved) if issubclass(kind, Saved) else {}
    return {**get_type_hints(kind), **made}


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type, also inside; a type that is not known here takes anything."""
    origin, inner = get_origin(hint), get_args(hint)
    meant = getattr(origin or hint, "__value__", None)
    if meant is not None:  # the name of a type, as NDArray is from Python 3.12 and numpy 2.5 on
        return fits(value, meant[inner] if inner else meant)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is np.ndarray:
        (scalar,) = get_args(inner[1])
        return isinstance(value, np.ndarray) and (
            scalar is Any or np.issubdtype(value.dtype, scalar)
        )
    if origin is tuple and ... not in inner:
        return (
            isinstance(value, tuple) and len(value) == len(inner) and all(map(fits, value, inner))
        )
    if origin in (tuple, Sequence):
        return isinstance(value, tuple) and all(fits(one, inner[0]) for one in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items()
        )
    if hint in (int, float):
        return type(value) in (int, hint)
    if getattr(hint, "_is_protocol", False):
        there = {*dir(type(value)), *getattr(value, "__dataclass_fields__", ())}
        return there.issuperset(name for name in vars(hint) if not name.startswith("_"))
    return hint is Any or not isinstance(hint, type) or isinstance(value, hint)


def unpack(data: Mapping[str, Any]) -> NDArray[Any]:
    """The array that `pack` wrote. Its shape is checked against its bytes before anything is made
    of them."""
    dtype, kept = DTYPES[data["array"]], DTYPES[data.get("as", data["array"])]
    shape, encoded = tuple(data["shape"]), data["data"]
    if len(shape) > MAX_DIMENSIONS or any(type(n) is not int or n < 0 for n in shape):
        raise ValueError("the shape of an array is none")
    size = math.prod(shape) * kept.itemsize
    if len(encoded) != 4 * -(-size // 3):
        raise ValueError("the shape of an array does not fit its data")
    try:
        content = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise ValueError("the data of an array are not base64") from None
    if len(content) != size:
        raise ValueError("the shape of an array does not fit its data")
    return np.frombuffer(content, kept.newbyteorder("<")).reshape(shape).astype(dtype)
