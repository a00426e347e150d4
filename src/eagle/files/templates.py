"""Empty tables as plain data, so that a summary can be saved and rebuild the model's own form."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from eagle.files.sealed import flag, listed, mapping, one_of, short, text, whole
from eagle.table.arrays import ArrayFrame, SparseFrame
from eagle.table.dataframes import NarwhalsFrame, PandasFrame, narwhals
from eagle.table.frame import Frame
from eagle.types import InputError, MissingExtraError

KINDS = ("array", "sparse", "pandas", "polars", "pyarrow")
SPARSE = ("array", "matrix")
HOLES = ("None", "NaN", "NA")

LONGEST = 1 << 20
"""So many bytes has the longest text of an array at most."""


def plain_levels(levels: Sequence[Any], name: Hashable) -> list[Any]:
    """Levels that JSON can hold, or an error that names the column."""
    for level in levels:
        endless = isinstance(level, float) and not np.isfinite(level)
        if endless or not isinstance(level, str | int | float | bool):
            raise InputError(
                f"column {name!r} has a level of type {type(level).__name__}, which cannot be "
                "written to a file: turn its levels into text first, or freeze it"
            )
    return list(levels)


def levels(data: Any) -> list[Any]:
    """Levels as they were written."""
    found = listed(data)
    if not all(isinstance(level, str | int | float) for level in found):
        raise ValueError("a level is neither text nor a number")
    return found


def _names(names: Sequence[Hashable]) -> list[Any]:
    for name in names:
        if not isinstance(name, str | int):
            raise InputError(f"the column name {name!r} cannot be written: use text or numbers")
    return list(names)


def _hole(marker: Any) -> str:
    return "None" if marker is None else "NaN" if isinstance(marker, float) else "NA"


def _marker(tag: str) -> Any:
    if tag == "NA":
        return pandas().NA
    return None if tag == "None" else np.nan


def to_dict(template: Frame) -> dict[str, Any]:
    """An empty table as plain data."""
    names = _names(template.names)
    if isinstance(template, ArrayFrame):
        return {
            "table": "array",
            "names": names if template.named else None,
            "width": len(names),
            "dtype": template.native.dtype.str,
            "holes": [_hole(h) for h in template.holes],
            "whole": sorted(template.whole),
            "flags": sorted(template.flags),
        }
    if isinstance(template, SparseFrame):
        return {
            "table": "sparse",
            "names": names,
            "type": type(template.native).__name__,
            "dtype": template.native.dtype.str,
        }
    if isinstance(template, PandasFrame):
        return {
            "table": "pandas",
            "names": names,
            "dtypes": [_pandas_dtype(template.dtype(j), n) for j, n in enumerate(names)],
            "holes": [_hole(h) for h in template.holes],
            "whole": sorted(template.whole),
        }
    assert isinstance(template, NarwhalsFrame)
    return {
        "table": type(template.native).__module__.split(".")[0],
        "names": names,
        "dtypes": [_narwhals_dtype(template.dtype(j)) for j in range(len(names))],
    }


def from_dict(data: Any, width: int) -> Frame:
    """The empty table of so many columns that `to_dict` wrote.

    What else comes is a ValueError, or a KeyError where something is missing.
    """
    kind = one_of(mapping(data)["table"], KINDS)
    names = None if data["names"] is None else _read_names(data["names"], width)
    if kind == "array":
        if whole(data["width"]) != width:
            raise ValueError("the template does not fit the columns")
        dtype = numpy_dtype(data["dtype"])
        holes, whole_ones = _read_holes(data["holes"], width), _places(data["whole"], width)
        flags = _places(data["flags"], width)
        return ArrayFrame(np.empty((0, width), dtype), names, holes, whole_ones, flags)
    if names is None:
        raise ValueError("the columns have no names")
    if kind == "sparse":
        return _read_sparse(data, names)
    dtypes = [mapping(d) for d in listed(data["dtypes"], width)]
    if kind == "pandas":
        return _read_pandas(data, names, dtypes)
    nw = narwhals()
    if not all(isinstance(name, str) for name in names):
        raise ValueError("the name of a column is not text")
    schema = {n: _read_narwhals_dtype(d) for n, d in zip(names, dtypes, strict=True)}
    try:
        table = nw.from_dict({n: [] for n in names}, schema, backend=kind).to_native()
    except ImportError:
        raise MissingExtraError("reading this background", kind, "frames") from None
    return NarwhalsFrame(table)


def _read_names(data: Any, width: int) -> list[Any]:
    names = listed(data, width)
    if not all(isinstance(name, str | int) for name in names):
        raise ValueError("the name of a column is neither text nor a number")
    if len(set(names)) < width:
        raise ValueError("two columns have the same name")
    return names


def _read_holes(data: Any, width: int) -> list[Any]:
    return [_marker(one_of(tag, HOLES)) for tag in listed(data, width)]


def _places(data: Any, width: int) -> list[int]:
    """Some of the columns, by their places."""
    found = [whole(j) for j in listed(data)]
    if any(j >= width for j in found):
        raise ValueError("the template names a column that is not there")
    return found


def numpy_dtype(value: Any) -> np.dtype[Any]:
    """A dtype of numbers, truths, text or objects by the name that numpy gives it."""
    name = text(value)
    try:
        found = np.dtype(name)
    except Exception:  # numpy tries to read it as code
        found = np.dtype("V")
    if found.str != name or found.kind not in "fiubOUS" or found.itemsize > LONGEST:
        raise ValueError(f"{short(name)} is no dtype of numbers or levels")
    return found


def _read_sparse(data: Mapping[str, Any], names: list[Any]) -> SparseFrame:
    from scipy import sparse

    types = {f"{form}_{kind}" for form in ("csr", "csc", "coo", "lil") for kind in SPARSE}
    dtype = numpy_dtype(data["dtype"])
    if dtype.kind not in "fiub":
        raise ValueError(f"a sparse table holds no {dtype}")
    kind = getattr(sparse, one_of(data["type"], types))
    return SparseFrame(kind((0, len(names)), dtype=dtype), names)


def _read_pandas(
    data: Mapping[str, Any], names: list[Any], dtypes: list[Mapping[str, Any]]
) -> PandasFrame:
    pd, width = pandas(), len(names)
    holes, whole_ones = _read_holes(data["holes"], width), _places(data["whole"], width)
    read = [_read_pandas_dtype(d) for d in dtypes]
    try:
        table = pd.DataFrame({j: pd.Series([], dtype=d) for j, d in enumerate(read)})
        table.columns = pd.Index(names)
    except Exception as error:  # pandas raises whatever it likes
        raise ValueError(f"pandas makes no such table: {error}") from None
    return PandasFrame(table, holes, whole_ones)


def pandas() -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("reading this background", "pandas", "frames") from None
    return pd


def _pandas_dtype(dtype: Any, name: Hashable) -> dict[str, Any]:
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        return {
            "dtype": "category",
            "categories": plain_levels(dtype.categories.tolist(), name),
            "of": str(dtype.categories.dtype),
            "ordered": bool(dtype.ordered),
        }
    return {"dtype": str(dtype)}


def _read_pandas_dtype(data: Mapping[str, Any]) -> Any:
    pd, name = pandas(), text(data["dtype"])
    if name == "category":
        known, of = levels(data["categories"]), text(data["of"])
        ordered = flag(data["ordered"])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that are going out of use
            if name == "category":
                return pd.CategoricalDtype(pd.Index(known, dtype=of), ordered=ordered)
            return pd.api.types.pandas_dtype(name)
    except Exception:  # pandas raises whatever it likes
        raise ValueError(f"{short(name)} is no dtype, or does not hold its categories") from None


NARWHALS_DTYPES = frozenset(
    {f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
    | {"Float32", "Float64", "Boolean", "String", "Categorical", "Enum", "Date", "Datetime"}
)


def _narwhals_dtype(dtype: Any) -> dict[str, Any]:
    name = type(dtype).__name__ if not isinstance(dtype, type) else dtype.__name__
    if name not in NARWHALS_DTYPES:
        raise InputError(f"a column of dtype {dtype} cannot be written to a file")
    return {"dtype": name, "levels": list(dtype.categories) if name == "Enum" else None}


def _read_narwhals_dtype(data: Mapping[str, Any]) -> Any:
    name = one_of(data["dtype"], NARWHALS_DTYPES)
    kind = getattr(narwhals(), name)
    if name != "Enum":
        return kind()
    known = [text(level) for level in listed(data["levels"])]
    if len(set(known)) < len(known):
        raise ValueError("two levels are the same")
    return kind(known)
