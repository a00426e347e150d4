"""Saved files: plain JSON with a checksum. Their content is never trusted.

Content that does not fit raises a ValueError or a KeyError here. `why` turns it into text, of
which each kind of file makes one sentence.
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
"""The largest size of a file, in bytes."""

DEEPEST: Final = 100
"""The largest depth of nested parts in a file."""

WIDEST: Final = 1 << 14
"""The largest number of features of an explanation or plan: a fit may need its square."""

SEAL: Final = "sha256"
"""The key of the checksum of everything else in a file."""

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
"""All errors that reading a damaged or forged file may raise."""

DTYPES: Final = {
    np.dtype(name).newbyteorder("<").str: np.dtype(name).newbyteorder("<")
    for name in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}
"""The dtypes of arrays in files."""


# -- files --------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Format:
    """One kind of file: its name, the schemas that are read, and the one that is written.

    Files have a checksum since the schema `sealed_since`.
    """

    kind: str
    oldest: int
    schema: int
    sealed_since: int

    def seal(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The data of such a file with its kind, schema and checksum."""
        return sealed({"schema": self.schema, "kind": self.kind, **data})

    def reads(self, schema: int) -> bool:
        """Whether files of this schema are read."""
        return self.oldest <= schema <= self.schema

    def opened(self, data: Any) -> Mapping[str, Any]:
        """The data, if they are of this kind and plain, and if their checksum fits."""
        if mapping(data)["kind"] != self.kind:
            raise ValueError("it is something else")
        schema = read_integer(data["schema"])
        if not self.reads(schema):
            raise ValueError(f"it has schema {schema}, not {self.oldest} to {self.schema}")
        check(dict(data), schema, self.sealed_since)
        return mapping(data)


def sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data and their checksum."""
    return {**data, SEAL: checksum(data)}


def checksum(data: Mapping[str, Any]) -> str:
    """SHA-256 of the data, without the checksum, as JSON with sorted keys and no spaces."""
    rest = {key: value for key, value in data.items() if key != SEAL}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def check(data: Any, schema: int, sealed_since: int) -> None:
    """Refuse data that are not plain, or whose checksum does not fit."""
    _check_plain(data, 0)
    if schema < sealed_since:
        if SEAL in data:
            raise ValueError("it has a checksum, which files of that age have not")
    elif data[SEAL] != checksum(data):
        raise ValueError("its checksum does not fit: something in it was changed")


def _check_plain(value: Any, depth: int) -> None:
    """Refuse a value that JSON cannot hold, that is not finite, or that is nested too deeply."""
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
    """Parse JSON. NaN, infinity and duplicate keys are refused."""
    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST >> 20} MiB")
    return json.loads(content, object_pairs_hook=_once, parse_constant=_no_constant)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("it has the same key twice")
    return data


def _no_constant(name: str) -> Any:
    raise ValueError(f"it has {name} where a finite number should be")


def load(path: str | PathLike[str]) -> str:
    """The text of a file. One that is too large, or no text, is a ValueError."""
    with Path(path).open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST >> 20} MiB")
    return content.decode("utf-8")


def write(path: str | PathLike[str], content: str) -> None:
    """Write a text; one that is too large to be read again is refused."""
    try:
        encoded = content.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8 bytes, but JSON can escape it
        encoded = json.dumps(json.loads(content), indent=1).encode("ascii")
    if len(encoded) > LARGEST:
        raise InputError(f"{path} would have more than {LARGEST >> 20} MiB, and not be read again")
    Path(path).write_bytes(encoded)


def why(error: BaseException) -> str:
    """What is wrong in a file, as text."""
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
        raise ValueError(f"{spoken(value)} stands where named parts should be")
    return value


def listed(value: Any, count: int | None = None) -> list[Any]:
    """A list, with `count` entries if that is given."""
    if not isinstance(value, list):
        raise ValueError(f"{spoken(value)} stands where a list should be")
    if count is not None and len(value) != count:
        raise ValueError(f"a list has {len(value)} entries where {count} should be")
    return value


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{spoken(value)} stands where text should be")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{spoken(value)} stands where true or false should be")
    return value


def number(value: Any) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{spoken(value)} stands where a number should be")
    try:
        as_float = float(value)
    except OverflowError:
        as_float = math.inf
    if not math.isfinite(as_float):
        raise ValueError("it has a number that is not finite")
    return as_float


def number_or(value: Any, otherwise: float) -> float:
    """A finite number, or `otherwise` for null."""
    return otherwise if value is None else number(value)


def read_integer(value: Any, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{spoken(value)} stands where an integer from {least} on should be")
    return value


def scalar(value: Any) -> Any:
    """A text, a number or a boolean: the possible names of an output."""
    if not isinstance(value, str | int | float):
        raise ValueError(f"{spoken(value)} stands where a name should be")
    return value


def null(value: float) -> float | None:
    """The value, or null if it is not finite, since JSON has no such numbers."""
    return value if math.isfinite(value) else None


def writable(text: str) -> str:
    """Text with lone surrogates, which UTF-8 cannot hold, replaced by their numbers."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def plain_json(value: Any) -> Any:
    """A label or value as JSON holds it; a type that JSON does not have becomes text."""
    if isinstance(value, tuple):
        return [plain_json(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def one_of(value: Any, known: Iterable[str]) -> str:
    """One of the known words."""
    if text(value) not in known:
        raise ValueError(f"{spoken(value)} is not known")
    return str(value)


def pack(array: NDArray[Any]) -> dict[str, Any]:
    """An array as its dtype, its shape and its bytes in base64."""
    contiguous = np.ascontiguousarray(array)
    little = contiguous.astype(contiguous.dtype.newbyteorder("<"), copy=False)
    data = base64.b64encode(little.tobytes()).decode()
    return {"dtype": little.dtype.str, "shape": list(little.shape), "data": data}


def unpack(data: Any, dimensions: int | None = None) -> NDArray[Any]:
    """The array that `pack` wrote. The shape is checked against the bytes before allocation."""
    dtype = DTYPES[one_of(mapping(data)["dtype"], DTYPES)]
    shape = tuple(read_integer(n) for n in listed(data["shape"], dimensions))
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
    array = unpack(data, dimensions).astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError("an array has a number that is not finite")
    return array


def spoken(value: Any) -> str:
    """A short text of a value, for a sentence."""
    if isinstance(value, Mapping | list):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and value.bit_length() > 64:
        return "an integer with too many digits"
    said = repr(value)
    return said if len(said) <= 40 else said[:39] + "…"
