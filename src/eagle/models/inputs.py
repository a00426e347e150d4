"""What a model is asked, row by row: cut into batches, written as JSON, known by its bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables.column import array_of, is_missing, plain
from eagle._tables.frame import Frame
from eagle._tables.read import frame
from eagle._values.text import message_of
from eagle.errors import InputError

NUMBERS: Final = "fiub"
"""The kinds of numpy dtypes that are written as their own bytes."""

LARGEST_ROW: Final = 1 << 16
"""A ledger keeps rows of up to this many bytes. Of larger ones, as of images, it keeps the key."""


@final
@dataclass(frozen=True, eq=False)
class Inputs:
    """Rows to ask, whatever they came as: an array, a table, a list of texts.

    `native` is what came. A table has `names`, and a column each, shape (n,); an array is a single
    column without a name, of any shape (n, ...). `dtypes` are those of the columns, as text that
    is the same in every run. `is_list` tells whether a list came.
    """

    native: Any
    columns: tuple[NDArray[Any], ...]
    dtypes: tuple[str, ...]
    names: tuple[Any, ...] | None = None
    is_list: bool = False

    @classmethod
    def of(cls, native: Any) -> Inputs:
        """What a model is asked, as inputs. It is read, never changed."""
        if isinstance(native, Inputs):
            return native
        if isinstance(native, list | tuple):
            return cls(list(native), (array_of(native),), ("object",), is_list=True)
        module = type(native).__module__.split(".")[0]
        if module in ("pandas", "polars", "pyarrow"):
            return _table(frame(native))
        if module == "scipy" and callable(getattr(native, "tocsr", None)):
            dense = np.asarray(native.toarray())  # no protocol has sparse rows
            return cls(native.tocsr(), (dense,), (_dtype(dense),))
        array = np.asarray(native)
        if array.ndim == 0 or array.dtype.kind not in NUMBERS + "OUS":
            raise InputError(
                f"a model is asked rows of numbers, texts or a table, not {type(native).__name__}"
            )
        return cls(array, (array,), (_dtype(array),))

    def __len__(self) -> int:
        return len(self.columns[0])

    def take(self, index: slice | Sequence[int]) -> Inputs:
        """Some of the rows, in the form in which all came."""
        native = self.native
        if self.is_list:
            listed = range(len(self))[index] if isinstance(index, slice) else index
            native = [native[i] for i in listed]
        elif self.names is None:
            native = native[index]
        elif type(native).__module__.split(".")[0] == "pandas":
            native = native.iloc[index].reset_index(drop=True)
        else:  # polars and pyarrow take numbers of rows
            rows = list(range(len(self))[index]) if isinstance(index, slice) else list(index)
            native = native[rows] if hasattr(native, "get_column") else native.take(rows)
        columns = tuple(column[index] for column in self.columns)
        return Inputs(native, columns, self.dtypes, self.names, self.is_list)

    def refuse(self, missing: bool) -> None:
        """Refuse what JSON cannot hold: infinities and, unless `missing` is set, missing values."""
        for name, column in zip(self.names or [None], self.columns, strict=True):
            where = "" if name is None else f" in the column {str(name)!r}"
            if column.dtype.kind == "f" and np.isinf(column).any():
                raise InputError(f"the rows have infinities{where}, which JSON cannot carry")
            if not missing and _lacks(column).any():
                raise InputError(
                    f"the rows have missing values{where}, which servers read in different ways: "
                    "if this one reads null as missing, say missing='null'"
                )

    # -- as JSON --------------------------------------------------------------------------------

    def column(self, j: int) -> list[Any]:
        """Column j as plain values, None where missing."""
        column = self.columns[j]
        lacks = _lacks(column)
        if column.dtype.kind in NUMBERS and not lacks.any():
            return list(column.tolist())
        cells = column.astype(object)
        cells[lacks] = None
        return list(np.frompyfunc(_cell, 1, 1)(cells).tolist())

    def rows(self) -> list[Any]:
        """All rows as plain values: a list for each row, or the text itself in a list of texts."""
        if self.names is None:
            return self.column(0)
        if len({column.dtype for column in self.columns}) == 1 and self.uniform:
            whole = np.column_stack(self.columns)
            return Inputs(whole, (whole,), self.dtypes[:1]).column(0)
        return [list(row) for row in zip(*map(self.column, range(len(self.columns))), strict=True)]

    @property
    def uniform(self) -> bool:
        """Whether all columns are numbers of one dtype."""
        first = self.columns[0].dtype
        return first.kind in NUMBERS and all(column.dtype == first for column in self.columns)

    # -- as bytes -------------------------------------------------------------------------------

    @cached_property
    def form(self) -> str:
        """All that rows have in common: names, dtypes and shapes."""
        names = self.names and [[type(name).__name__, str(name)] for name in self.names]
        shapes = [list(column.shape[1:]) for column in self.columns]
        return json.dumps([self.is_list, names, list(self.dtypes), shapes])

    @cached_property
    def bytes_of_rows(self) -> list[bytes]:
        """Each row as bytes: equal for equal values, and different for different ones."""
        if all(column.dtype.kind in NUMBERS for column in self.columns):
            cells = [_raw(column) for column in self.columns]
            rows = np.ascontiguousarray(np.concatenate(cells, axis=1))
            return [row.tobytes() for row in rows]
        parts = [_parts(column) for column in self.columns]
        return [b"".join(row) for row in zip(*parts, strict=True)]

    def digest(self) -> str:
        """A name for these rows, made of their content."""
        made = blake2b(self.form.encode(), digest_size=16)
        for row in self.bytes_of_rows:
            made.update(len(row).to_bytes(8, "little") + row)
        return made.hexdigest()


def _table(table: Frame) -> Inputs:
    columns, dtypes = [], []
    pandas = type(table.native).__module__.split(".")[0] == "pandas"
    for j, _ in enumerate(table.names):
        dtype: Any = table.dtype(j)
        if pandas and isinstance(dtype, np.dtype) and dtype.kind in NUMBERS:
            columns.append(np.asarray(table.native.iloc[:, j].to_numpy()))
            dtypes.append(_dtype(columns[-1]))
            continue
        columns.append(table.objects(j))
        levels = getattr(dtype, "categories", None)
        levels = None if levels is None else [_to_bytes(plain(level)).hex() for level in levels]
        dtypes.append(f"object of {dtype if levels is None else 'category'}{levels or ''}")
    if not columns:
        raise InputError("a table without columns cannot be asked")
    return Inputs(table.native, tuple(columns), tuple(dtypes), tuple(table.names))


def _dtype(array: NDArray[Any]) -> str:
    """The dtype in words that do not depend on the machine."""
    return array.dtype.newbyteorder("<").str if array.dtype.kind in NUMBERS else "object"


def _lacks(column: NDArray[Any]) -> NDArray[np.bool_]:
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype.kind != "O":
        return np.zeros(column.shape, dtype=bool)
    return np.asarray(np.frompyfunc(is_missing, 1, 1)(column), dtype=bool)


def _cell(value: Any) -> Any:
    value = plain(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, np.ndarray):
        return value.tolist()
    try:
        return str(value)
    except Exception as error:  # another's code
        raise InputError(f"a cell cannot be written as text: {message_of(error)}") from None


def _raw(column: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of numbers, shape (n, bytes of a row)."""
    plainly = np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("<"))
    return plainly.reshape(len(column), -1).view(np.uint8)


def _parts(column: NDArray[Any]) -> Iterator[bytes]:
    if column.dtype.kind in NUMBERS:
        return (row.tobytes() for row in _raw(column))
    cells = column.reshape(len(column), -1)
    return (b"".join(_to_bytes(plain(cell)) for cell in row) for row in cells)


def _to_bytes(value: Any) -> bytes:
    """A value as its kind, its length and its bytes."""
    if isinstance(value, np.ndarray):
        inside = f"{value.dtype.str}{value.shape}".encode() + b"\0" + value.tobytes()
        tag = b"a"
    elif isinstance(value, bool):
        tag, inside = b"b", bytes([value])
    elif isinstance(value, int):
        tag, inside = b"i", str(value).encode()
    elif isinstance(value, float) and value == value:
        tag, inside = b"f", struct.pack("<d", value)
    elif isinstance(value, str):
        tag, inside = b"s", value.encode("utf-8", "surrogatepass")
    elif isinstance(value, bytes):
        tag, inside = b"y", value
    elif is_missing(value):
        tag, inside = b"n", b""
    else:
        tag, inside = b"o", f"{type(value).__qualname__}:{value}".encode("utf-8", "surrogatepass")
    return tag + len(inside).to_bytes(4, "little") + inside


# -- read again ---------------------------------------------------------------------------------


def read_row(form: str, row: bytes) -> dict[str, Any]:
    """The values of a row by the names of its columns, from its form and its bytes."""
    _, names, dtypes, shapes = json.loads(form)
    out: dict[str, Any] = {}
    for j, (dtype, shape) in enumerate(zip(dtypes, shapes, strict=True)):
        count = int(np.prod(shape, dtype=np.int64))
        values: list[Any]
        if dtype.startswith("object"):
            values = []
            for _ in range(count):
                size = int.from_bytes(row[1:5], "little")
                values.append(_from_bytes(row[:1], row[5 : 5 + size]))
                row = row[5 + size :]
        else:
            size = np.dtype(dtype).itemsize * count
            values = np.frombuffer(row[:size], dtype=dtype).tolist()
            row = row[size:]
        if names is not None:
            out[names[j][1]] = values[0]
        else:
            out.update({f"x{k}" if shape else "x": value for k, value in enumerate(values)})
    return out


def _from_bytes(tag: bytes, inside: bytes) -> Any:
    if tag == b"b":
        return bool(inside[0])
    if tag == b"i":
        return int(inside)
    if tag == b"f":
        return struct.unpack("<d", inside)[0]
    if tag == b"n":
        return None
    if tag == b"a":
        return inside.split(b"\0", 1)[0].decode()
    return inside.decode("utf-8", "replace")
