"""Tables in Parquet files that any tool opens, under a seal over all bytes of the file.

The seal stands in the file's own metadata, where zeros stood when it was computed. It is checked
before anything in the file is parsed, and what the file says of its size before it is read.
"""

from __future__ import annotations

import hmac
import io
import json
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, TypeVar

from eagle._values.checks import path_of
from eagle._values.text import short_repr
from eagle.errors import InputError, MissingExtraError
from eagle.io import atomic
from eagle.io.container import (
    DAMAGED,
    FAULTS,
    FORGED,
    FORMAT,
    VALUE,
    Key,
    hasher,
    name_of_seal,
    parse,
    why,
    wrong_seal,
)
from eagle.io.values import Classes, decode, encode

T = TypeVar("T")

MAGIC: Final = b"PAR1"
"""How a Parquet file begins."""

HEAD: Final = b"eagle"
"""The metadata key of what the file says of itself, as JSON."""

KIND: Final = "eagle explanations"

SEAL: Final = b"eagle seal"
"""The metadata key of the seal."""

DIGITS: Final = 64
"""The number of hexadecimal digits of a seal."""

MAX_CELLS: Final = (4, 1 << 20)
MAX_UNPACKED: Final = (32, 1 << 24)
"""The most cells of a file, and the most bytes once it is unpacked: so many for each of its bytes,
and so many beside. Repeats take next to none; a table that would have more is written in full."""

ENCODINGS: Final = frozenset({"PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY"})
"""How columns are encoded. Other ways give long texts from few bytes."""

WRITING: Final[tuple[dict[str, Any], ...]] = (
    {"compression": "zstd"},
    {"compression": "none", "use_dictionary": False},
)
"""How a table is written, and how if that has too many repeats."""


def pyarrow(what: str) -> Any:
    """The package, to save or to load."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(f"{what} of many explanations", "pyarrow", "cli") from None
    return pa


def write(
    path: Path, columns: Mapping[str, Any], said: Mapping[str, Any], value: Any, key: Key = None
) -> None:
    """Write columns, what the file `said` of itself, and a value that belongs to all rows."""
    pa = pyarrow("save")
    head = json.dumps({"kind": KIND, "format": FORMAT, **said, VALUE: encode(value)})
    table = pa.table(list(columns.values()), names=list(columns))
    name = marker(key)
    table = table.replace_schema_metadata({HEAD: head.encode(), SEAL: name + b"0" * DIGITS})
    for options in WRITING:
        out = io.BytesIO()
        pa.parquet.write_table(table, out, **options)
        content = bytearray(out.getbuffer())
        if not too_large(
            chunks_of(pa.parquet.read_metadata(pa.BufferReader(content))), len(content)
        ):
            break
    at = content.rfind(name) + len(name)
    content[at : at + DIGITS] = seal_at(content, at, key).encode()
    atomic.put(path, lambda beside: beside.write_bytes(content))


def too_large(chunks: Sequence[Any], size: int) -> bool:
    """Whether the columns of a file of so many bytes say that they hold far more."""
    said = (
        (sum(one.num_values for one in chunks), MAX_CELLS),
        (sum(one.total_uncompressed_size for one in chunks), MAX_UNPACKED),
    )
    return any(count > each * size + beside for count, (each, beside) in said)


def chunks_of(metadata: Any) -> list[Any]:
    """What a file says of each of its columns."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return [group.column(k) for group in groups for k in range(group.num_columns)]


def texts(table: Any, name: str) -> list[str]:
    """A column of texts. Those that are alike are one object."""
    out: list[str] = []
    for chunk in table.column(name).chunks:
        known = chunk.dictionary.to_pylist() if hasattr(chunk, "dictionary") else [None]
        if not all(isinstance(text, str) for text in known):
            raise ValueError(f"{short_repr(name, 40)} is no column of texts")
        out += [known[place] for place in chunk.indices.to_pylist()]
    return out


def marker(key: Key) -> bytes:
    """What stands before the digits of a seal."""
    return b"this file's " + name_of_seal(key).encode() + b", with zeros here: "


def seal_at(content: Any, at: int, key: Key) -> str:
    """The seal of a file's bytes, whose digits stand at a place."""
    view, made = memoryview(content), hasher(key)
    for part in (view[:at], b"0" * DIGITS, view[at + DIGITS :]):
        made.update(part)
    return str(made.hexdigest())


def seal_in(content: bytes, key: Key = None) -> str:
    """The seal that a file's bytes have, if it fits them; otherwise a ValueError."""
    name = marker(key)
    at = content.rfind(name) + len(name)
    if at < len(name):
        raise ValueError(f"{wrong_seal(key)}, or it was saved by an older version of eagle")
    said = content[at : at + DIGITS].decode("latin-1")
    if not hmac.compare_digest(said.encode(), seal_at(content, at, key).encode()):
        raise ValueError(DAMAGED if key is None else FORGED)
    return said


def read(
    path: str | PathLike[str],
    look: Callable[[Any, dict[str, Any]], T],
    columns: Sequence[str] | None = None,
    key: Key = None,
    seal: str | None = None,
) -> T:
    """The result of `look` for a file's table and head; only `columns` are read, if given.

    A `seal`, if given, is the one that the file is to have.
    """
    pa, path = pyarrow("load"), path_of(path)
    try:
        content = path.read_bytes()
        found = seal_in(content, key)
        if seal not in (None, found):
            raise ValueError("it is another file than was written there")
        buffer = pa.BufferReader(content)
        metadata = pa.parquet.read_metadata(buffer)
        chunks = chunks_of(metadata)
        known = all(ENCODINGS.issuperset(one.encodings) for one in chunks)
        if too_large(chunks, len(content)) or not known:
            raise ValueError("it says that it holds far more than it has bytes")
        words = {one.path_in_schema for one in chunks if one.physical_type == "BYTE_ARRAY"}
        with pa.parquet.ParquetFile(buffer, metadata=metadata, read_dictionary=list(words)) as file:
            head = head_of(file.schema_arrow.metadata or {})
            table = file.read(None if columns is None else list(columns))
        return look(table, head)
    except (FileNotFoundError, MissingExtraError):
        raise
    except (*FAULTS, OSError, pa.ArrowException) as error:
        raise InputError(
            f"{fspath(path)} is not a file of explanations saved by this version of eagle: "
            f"{why(error)}"
        ) from None


def head_of(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    """What a file says of itself."""
    data: dict[str, Any] = parse(metadata[HEAD])
    if data["kind"] != KIND or data["format"] != FORMAT:
        raise ValueError(
            f"it has format {short_repr(data['format'], 20)}, and only {FORMAT} is read"
        )
    return data


def value_of(head: Mapping[str, Any], classes: Classes) -> Any:
    """The value that belongs to all rows."""
    return decode(head[VALUE], classes)
