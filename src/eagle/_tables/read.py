"""A frame of any table or single row that a caller gives."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle._tables.column import array_of
from eagle._tables.dataframes import NarwhalsFrame, PandasFrame
from eagle._tables.frame import ArrayFrame, Frame, SparseFrame
from eagle._values.checks import elements, refuse_repeats
from eagle._values.text import message_of, short_repr
from eagle.errors import InputError


def frame(table: Any, names: Sequence[Hashable] | None = None) -> Frame:
    """A frame of any table or single row. The table is read, never changed.

    `names` are for tables that have none of their own.
    """
    names = None if names is None else _column_names(names)
    framed = table if isinstance(table, Frame) else _frame(table, names)
    if names is not None and names != framed.names:
        raise InputError("names are for tables without them, and this one has its own")
    refuse_repeats(framed.names, "column names")
    return framed


def _column_names(names: Any) -> list[Hashable]:
    """The names that a caller gives to columns."""
    listed = elements(names, "names of columns")
    if not all(isinstance(n, Hashable) for n in listed):
        raise InputError(f"names are texts or numbers, one a column, not {short_repr(names)}")
    return listed


def _frame(table: Any, names: Sequence[Hashable] | None) -> Frame:
    module = type(table).__module__.split(".")[0]
    if module == "pandas":
        import pandas as pd

        if isinstance(table, pd.Series):
            placed = isinstance(table.index, pd.RangeIndex)
            return _row(table.to_list(), None if placed else list(table.index))
        if isinstance(table, pd.DataFrame):
            return PandasFrame(table)
    if module == "scipy" and hasattr(table, "tocsr"):
        matrix = table if table.ndim == 2 else table.reshape(1, -1)
        _refuse_width(names, matrix.shape[1])
        return SparseFrame(matrix, names)
    if isinstance(table, Mapping):
        return _row(list(table.values()), list(table))
    if module in ("polars", "pyarrow"):
        return NarwhalsFrame(table)
    if isinstance(table, list | tuple) and any(isinstance(row, Mapping) for row in table):
        raise InputError("a list of dictionaries is no table: give pandas.DataFrame(rows)")
    array = _array(table)
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2:
        raise InputError(f"a table has rows and columns, but this has {array.ndim} dimensions")
    if array.dtype.kind not in "fiubOUS":
        raise InputError(f"an array of dtype {array.dtype} is neither numbers nor levels")
    _refuse_width(names, array.shape[1])
    return ArrayFrame(array, names)


def _refuse_width(names: Sequence[Hashable] | None, width: int) -> None:
    if names is not None and len(names) != width:
        raise InputError(f"{len(names)} names do not fit {width} columns")


def _row(values: list[Any], names: list[Hashable] | None) -> ArrayFrame:
    return ArrayFrame(array_of(values)[None], names)


def _array(table: Any) -> NDArray[Any]:
    if isinstance(table, np.ma.MaskedArray):
        return _unmask(table)
    if isinstance(table, np.ndarray):
        return np.asarray(table)
    detach: Callable[[], Any] | None = getattr(table, "detach", None)
    if detach is not None:
        table = detach()
    try:
        array = np.asarray(table)
        if array.dtype.kind in "US":  # numbers and strings side by side: keep the numbers
            array = np.asarray(table, dtype=object)
    except Exception as error:  # another package's object may raise anything
        raise InputError(f"this is not a table of rows and columns: {message_of(error)}") from None
    if array.ndim == 0:
        raise InputError(f"a {type(table).__name__} is not a table of rows and columns")
    return array


def _unmask(table: Any) -> NDArray[Any]:
    """A masked array as a plain one; masked values are missing."""
    if not np.ma.is_masked(table):
        return np.asarray(table.data)
    if table.dtype.kind in "fiu":
        return np.asarray(table.astype(np.float64).filled(np.nan))
    return np.asarray(table.astype(object).filled(None))
