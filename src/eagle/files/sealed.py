"""Saved files: plain JSON under a checksum, and read as if a stranger had written it.

What does not fit is a ValueError or a KeyError here, and `why` puts it into words: each kind of
file makes one sentence of it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle.types import InputError

LARGEST: Final = 512 << 20
"""A file has at most so many bytes."""

DEEPEST: Final = 100
"""A file has at most so many parts within parts."""

WIDEST: Final = 1 << 14
"""An explanation or a plan has at most so many features: a fit may need their square."""

SEAL: Final = "sha256"
"""Where a file keeps the checksum of all the rest."""

FAULTS: Final = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RecursionError,
    MemoryError,
)
"""All that reading may raise of a file that is not what it says."""

DTYPES: Final = {
    np.dtype(name).newbyteorder("<").str: np.dtype(name).newbyteorder("<")
    for name in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}
"""What arrays in files are made of."""


# -- whole files --------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Format:
    """One kind of file: what it calls itself, the schemas that are read, the one written.

    Files have a checksum since the schema `sealed_since`.
    """

    kind: str
    oldest: int
    schema: int
    sealed_since: int

    def seal(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The data of such a file, under its kind, its schema and its checksum."""
        return sealed({"schema": self.schema, "kind": self.kind, **data})

    def reads(self, schema: int) -> bool:
        """Whether files of this schema are read."""
        return self.oldest <= schema <= self.schema

    def opened(self, data: Any) -> Mapping[str, Any]:
        """The data, if they are of this kind, plain, and as they were when they were sealed."""
        if mapping(data)["kind"] != self.kind:
            raise ValueError("it is something else")
        schema = whole(data["schema"])
        if not self.reads(schema):
            raise ValueError(f"it has schema {schema}, not {self.oldest} to {self.schema}")
        check(dict(data), schema, self.sealed_since)
        return mapping(data)


def sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data, and the checksum of all of it."""
    return {**data, SEAL: checksum(data)}


def checksum(data: Mapping[str, Any]) -> str:
    """SHA-256 of the data as JSON with sorted keys and no space, but for the checksum itself."""
    rest = {key: value for key, value in data.items() if key != SEAL}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def check(data: Any, schema: int, sealed_since: int) -> None:
    """That data of this schema are plain, and as they were when they were sealed."""
    _check_plain(data, 0)
    if schema < sealed_since:
        if SEAL in data:
            raise ValueError("it has a checksum, which files of that age have not")
    elif data[SEAL] != checksum(data):
        raise ValueError("its checksum does not fit: something in it was changed")


def _check_plain(value: Any, depth: int) -> None:
    """That a value is what JSON holds, finite, and not too deep."""
    if depth > DEEPEST:
        raise ValueError("it has too many parts within parts")
    if isinstance(value, dict):
        for key, inner in value.items():
            text(key)
            _check_plain(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check_plain(inner, depth + 1)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("it has a number that is not finite")
    elif value is not None and not isinstance(value, str | int):
        raise ValueError(f"it has a {type(value).__name__}, which JSON does not know")


def parse(content: str) -> Any:
    """JSON without NaN and infinity, and with each key once."""
    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST >> 20} MiB")
    return json.loads(content, object_pairs_hook=_once, parse_constant=_no_constant)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has the same key twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"it has {name} where a finite number should be")


def load(path: str | PathLike[str]) -> str:
    """The text of a file, unless it is too long or no text."""
    with Path(path).open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST >> 20} MiB")
    return content.decode("utf-8")


def write(path: str | PathLike[str], content: str) -> None:
    """Write a text that can be read again."""
    try:
        encoded = content.encode("utf-8")
    except UnicodeEncodeError:  # half a character of UTF-16 has no bytes, but JSON can name it
        encoded = json.dumps(json.loads(content), indent=1).encode("ascii")
    if len(encoded) > LARGEST:
        raise InputError(f"{path} would have more than {LARGEST >> 20} MiB, and not be read again")
    Path(path).write_bytes(encoded)


def why(error: BaseException) -> str:
    """In words what does not fit in a file."""
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}" if error.args else "something is missing in it"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "it is not JSON"
    if isinstance(error, RecursionError):
        return "it has too many parts within parts"
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    said = " ".join(str(error).split()) or type(error).__name__
    return said if len(said) <= 160 else said[:159] + "…"


# -- what is in them ----------------------------------------------------------------------------


def mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{short(value)} stands where named parts should be")
    return value


def listed(value: Any, count: int | None = None) -> list[Any]:
    """A list, of so many things if that is known."""
    if not isinstance(value, list):
        raise ValueError(f"{short(value)} stands where a list should be")
    if count is not None and len(value) != count:
        raise ValueError(f"a list has {len(value)} entries where {count} should be")
    return value


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{short(value)} stands where text should be")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{short(value)} stands where true or false should be")
    return value


def number(value: Any) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{short(value)} stands where a number should be")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise ValueError("it has a number that is not finite")
    return found


def number_or(value: Any, otherwise: float) -> float:
    """A finite number, or what null stands for."""
    return otherwise if value is None else number(value)


def whole(value: Any, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{short(value)} stands where an integer from {least} on should be")
    return value


def scalar(value: Any) -> Any:
    """Text, a number, or true or false: what an output may be called."""
    if not isinstance(value, str | int | float):
        raise ValueError(f"{short(value)} stands where a name should be")
    return value


def null(value: float) -> float | None:
    """What JSON has no number for, as null."""
    return value if math.isfinite(value) else None


def writable(text: str) -> str:
    """Text that files can hold: half a character, which Python allows, as its number."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def plain_json(value: Any) -> Any:
    """A label or value as JSON holds it; what JSON does not know becomes its text."""
    if isinstance(value, tuple):
        return [plain_json(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def one_of(value: Any, known: Iterable[str]) -> str:
    """A word that is known."""
    if text(value) not in known:
        raise ValueError(f"{short(value)} is not known")
    return str(value)


def pack(array: NDArray[Any]) -> dict[str, Any]:
    """An array as its dtype, its shape and its bytes in base64."""
    contiguous = np.ascontiguousarray(array)
    little = contiguous.astype(contiguous.dtype.newbyteorder("<"), copy=False)
    data = base64.b64encode(little.tobytes()).decode()
    return {"dtype": little.dtype.str, "shape": list(little.shape), "data": data}


def unpack(data: Any, dimensions: int | None = None) -> NDArray[Any]:
    """What `pack` wrote. Nothing is allocated before the shape is known to fit the bytes."""
    dtype = DTYPES[one_of(mapping(data)["dtype"], DTYPES)]
    shape = tuple(whole(n) for n in listed(data["shape"], dimensions))
    if len(shape) > 4:
        raise ValueError(f"an array has {len(shape)} dimensions")
    size, encoded = math.prod(shape) * dtype.itemsize, text(data["data"])
    if len(encoded) != 4 * -(-size // 3):
        raise ValueError("the shape of an array does not fit its data")
    try:
        content = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise ValueError("the data of an array are not base64") from None
    if len(content) != size:
        raise ValueError("the shape of an array does not fit its data")
    return np.frombuffer(content, dtype).reshape(shape).copy()


def floats(data: Any, dimensions: int | None = None) -> NDArray[np.float64]:
    """An array of finite numbers, as floats."""
    found = unpack(data, dimensions).astype(np.float64)
    if not np.isfinite(found).all():
        raise ValueError("an array has a number that is not finite")
    return found


def short(value: Any) -> str:
    """A value for a sentence: a few of its letters will do."""
    if isinstance(value, Mapping | list):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and value.bit_length() > 64:
        return "an endless integer"
    said = repr(value)
    return said if len(said) <= 40 else said[:39] + "…"
