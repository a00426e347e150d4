"""The folder EAGLE_DATA, and errors about files in it."""

from __future__ import annotations

import csv
import gzip
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from eagle.errors import InputError, MissingExtraError

VARIABLE: Final = "EAGLE_DATA"
BROKEN: Final = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
    csv.Error,
    NotImplementedError,
)
"""Errors of reading a file that is truncated, or has another format than its name says."""


def folder() -> Path | None:
    """The folder EAGLE_DATA; None if it is not set."""
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    if not Path(named).is_dir():
        raise InputError(f"{VARIABLE} is {named!r}, which is not a folder")
    return Path(named)


def located(relative: str) -> Path:
    """A file of the folder, which must be there."""
    root = folder()
    if root is None:
        raise InputError(
            f"the file {relative} is needed: set {VARIABLE} to a folder that holds it at this place"
        )
    if not (root / relative).is_file():
        raise InputError(
            f"{VARIABLE} is {str(root)!r}, which holds no file {relative}: put it there"
        )
    return root / relative


@contextmanager
def reading(relative: str, expected: str) -> Iterator[None]:
    """Turn errors inside into sentences about the file."""
    try:
        yield
    except InputError:
        raise
    except BROKEN as error:
        raise InputError(
            f"{relative} in the folder of {VARIABLE} cannot be read as {expected}: {error}"
        ) from None


def table(relative: str, columns: Sequence[str], **settings: Any) -> Any:
    """A comma-separated file with these columns, as a pandas DataFrame of them."""
    path = located(relative)
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("a table from a file", "pandas", "bench") from None
    with reading(relative, "comma-separated values"):
        read = pd.read_csv(path, **settings)
    return chosen(read, columns, relative)


def chosen(table: Any, columns: Sequence[str], where: str) -> Any:
    """These columns of a table, which must be there and hold rows."""
    lacking = [name for name in columns if name not in table.columns]
    if lacking:
        raise InputError(f"{where} lacks the columns {', '.join(lacking)}")
    if not len(table):
        raise InputError(f"{where} has no rows")
    return table[list(columns)]


def unpacked(relative: str) -> bytes:
    """The uncompressed content of a .gz file."""
    path = located(relative)
    with reading(relative, "a gzip file"), gzip.open(path) as stream:
        return stream.read()


def idx(relative: str, axes: int) -> NDArray[np.uint8]:
    """A compressed IDX file of bytes with this number of axes, as those of MNIST."""
    raw = unpacked(relative)
    with reading(relative, "an IDX file"):
        zero, kind, rank = struct.unpack(">HBB", raw[:4])
        if (zero, kind, rank) != (0, 8, axes):
            raise InputError(
                f"{relative} begins with {raw[:4].hex(' ')} where an IDX file of bytes with {axes} "
                f"axes begins with 00 00 08 {axes:02x}"
            )
        shape = struct.unpack(f">{axes}I", raw[4 : 4 + 4 * axes])
        values = np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * axes)
        if values.size != np.prod(shape, dtype=np.int64):
            raise InputError(
                f"{relative} says that it holds {shape} bytes, but {values.size} follow"
            )
        return values.reshape(shape)
