"""Any table, or any single row, as a frame."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle.table.arrays import ArrayFrame, SparseFrame
from eagle.table.column import array_of
from eagle.table.dataframes import NarwhalsFrame, PandasFrame
from eagle.table.frame import Frame
from eagle.types import InputError, message_of, told


def frame(table: Any, names: Sequence[Hashable] | None = None) -> Frame:
    """Any table, or any single row. It is read, never changed.

    `names` are for tables that have none of their own.
    """
    names = None if names is None else _named(names)
    found = table if isinstance(table, Frame) else _frame(table, names)
    if names is not None and names != found.names:
        raise InputError("names are for tables without them, and this one has its own")
    if len(set(found.names)) < len(found.names):
        twice = sorted({str(n) for n in found.names if found.names.count(n) > 1})
        raise InputError(f"column names must differ from one another: {', '.join(twice)}")
    return found


def _named(names: Any) -> list[Hashable]:
    """The names that a caller gives to columns."""
    if not isinstance(names, Iterable) or not all(isinstance(n, Hashable) for n in names):
        raise InputError(f"names are a list of texts or numbers, one a column, not {told(names)}")
    return list(names)


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
        _refuse_misfit(names, matrix.shape[1])
        return SparseFrame(matrix, names)
    if isinstance(table, Mapping):
        return _row(list(table.values()), list(table))
    if module in ("polars", "pyarrow"):
        return NarwhalsFrame(table)
    array = _array(table)
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2:
        raise InputError(f"a table has rows and columns, but this has {array.ndim} dimensions")
    if array.dtype.kind not in "fiubOUS":
        raise InputError(f"an array of dtype {array.dtype} is neither numbers nor levels")
    _refuse_misfit(names, array.shape[1])
    return ArrayFrame(array, names)


def _refuse_misfit(names: Sequence[Hashable] | None, width: int) -> None:
    if names is not None and len(names) != width:
        raise InputError(f"{len(names)} names do not fit {width} columns")


def _row(values: list[Any], names: list[Hashable] | None) -> ArrayFrame:
    return ArrayFrame(array_of(values)[None], names)


def _array(table: Any) -> NDArray[Any]:
    if isinstance(table, np.ma.MaskedArray):
        return _unmasked(table)
    if isinstance(table, np.ndarray):
        return np.asarray(table)
    detach: Callable[[], Any] | None = getattr(table, "detach", None)
    if detach is not None:
        table = detach()
    try:
        array = np.asarray(table)
        if array.dtype.kind in "US":  # numbers and strings side by side: keep the numbers
            array = np.asarray(table, dtype=object)
    except Exception as error:  # whatever another's object does when asked for an array
        raise InputError(f"this is not a table of rows and columns: {message_of(error)}") from None
    if array.ndim == 0:
        raise InputError(f"a {type(table).__name__} is not a table of rows and columns")
    return array


def _unmasked(table: Any) -> NDArray[Any]:
    """What is masked is missing."""
    if not np.ma.is_masked(table):
        return np.asarray(table.data)
    if table.dtype.kind in "fiu":
        return np.asarray(table.astype(np.float64).filled(np.nan))
    return np.asarray(table.astype(object).filled(None))
