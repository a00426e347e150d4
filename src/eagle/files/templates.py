"""Empty tables as plain data, so that a saved background can build tables for its model."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from eagle.files.sealed import flag, listed, mapping, one_of, read_integer, spoken, text
from eagle.table.dataframes import NarwhalsFrame, PandasFrame, narwhals
from eagle.table.frame import ArrayFrame, Frame, SparseFrame
from eagle.table.units import ColumnUnit, UnitKind
from eagle.types import InputError, MissingExtraError

KINDS = ("array", "sparse", "pandas", "polars", "pyarrow")
SPARSE = ("array", "matrix")
MARKERS = ("None", "NaN", "NA", "NaT", "Decimal")
KINDS_OF_OBJECTS: tuple[UnitKind, ...] = ("date", "datetime", "duration", "decimal")
TIME_UNITS = ("s", "ms", "us", "ns")

LONGEST = 1 << 20
"""The largest number of bytes of a text in an array."""


def plain_levels(levels: Sequence[Any], name: Hashable) -> list[Any]:
    """Levels as JSON can hold them. Others are an error that names the column."""
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
    values = listed(data)
    if not all(isinstance(level, str | int | float) for level in values):
        raise ValueError("a level is neither text nor a number")
    return values


def plain_names(names: Sequence[Hashable]) -> list[Any]:
    """Names of columns as JSON can hold them."""
    for name in names:
        if not isinstance(name, str | int):
            raise InputError(f"the column name {name!r} cannot be written: use text or numbers")
    return list(names)


def _marker_name(marker: Any) -> str:
    if isinstance(marker, Decimal):
        return "Decimal"
    if type(marker).__name__ == "NaTType":
        return "NaT"
    return "None" if marker is None else "NaN" if isinstance(marker, float) else "NA"


def _marker(tag: str) -> Any:
    if tag == "Decimal":
        return Decimal("NaN")
    if tag in ("NA", "NaT"):
        return pandas().NA if tag == "NA" else pandas().NaT
    return None if tag == "None" else np.nan


def to_dict(template: Frame) -> dict[str, Any]:
    """An empty table as plain data."""
    names = plain_names(template.names)
    if isinstance(template, ArrayFrame):
        return {
            "table": "array",
            "names": names if template.named else None,
            "width": len(names),
            "dtype": template.native.dtype.str,
            "holes": [_marker_name(h) for h in template.missing_markers],
            "whole": sorted(template.integers),
            "flags": sorted(template.flags),
            **_units(template.units, names),
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
            "holes": [_marker_name(h) for h in template.missing_markers],
            "whole": sorted(template.integers),
            **_units(template.units, names),
        }
    assert isinstance(template, NarwhalsFrame)
    return {
        "table": type(template.native).__module__.split(".")[0],
        "names": names,
        "dtypes": [_narwhals_dtype(template.dtype(j)) for j in range(len(names))],
    }


def from_dict(data: Any, width: int) -> Frame:
    """The empty table of `width` columns that `to_dict` wrote.

    Anything else is a ValueError, or a KeyError if something is missing.
    """
    kind = one_of(mapping(data)["table"], KINDS)
    names = None if data["names"] is None else read_names(data["names"], width)
    if kind == "array":
        if read_integer(data["width"]) != width:
            raise ValueError("the template does not fit the columns")
        dtype = numpy_dtype(data["dtype"])
        missing_markers, integers = (
            _read_markers(data["holes"], width),
            _places(data["whole"], width),
        )
        flags = _places(data["flags"], width)
        measures = _read_units(data, [dtype] * width)
        empty = np.empty((0, width), dtype)
        return ArrayFrame(empty, names, missing_markers, integers, flags, measures)
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


def _units(units: Mapping[int, ColumnUnit], names: Sequence[Any]) -> dict[str, Any]:
    """The units of columns of objects; nothing where there are none."""
    for j, unit in units.items():
        if unit.made != "python" or unit.zone is not None:
            raise InputError(
                f"column {names[j]!r} holds objects of time that cannot be written to a file: give "
                "them a dtype, such as datetime64"
            )
    listed_units = [[j, unit.kind, unit.digits] for j, unit in sorted(units.items())]
    return {"units": listed_units} if listed_units else {}


def _read_units(data: Mapping[str, Any], dtypes: Sequence[Any]) -> dict[int, ColumnUnit]:
    """The units of columns of objects."""
    out = {}
    for entry in listed(data.get("units", [])):
        place, kind, digits = listed(entry, 3)
        j = read_integer(place)
        if j >= len(dtypes) or dtypes[j] != np.dtype(object):
            raise ValueError("a column that holds no objects has the unit of objects")
        if read_integer(digits) > (300 if kind == "decimal" else 0):
            raise ValueError("a unit has too many digits")
        (known,) = (k for k in KINDS_OF_OBJECTS if k == kind)
        out[j] = ColumnUnit(known, digits=read_integer(digits))
    return out


def read_names(data: Any, width: int) -> list[Any]:
    names = listed(data, width)
    if not all(isinstance(name, str | int) for name in names):
        raise ValueError("the name of a column is neither text nor a number")
    if len(set(names)) < width:
        raise ValueError("two columns have the same name")
    return names


def _read_markers(data: Any, width: int) -> list[Any]:
    return [_marker(one_of(tag, MARKERS)) for tag in listed(data, width)]


def _places(data: Any, width: int) -> list[int]:
    """The places of some of the columns."""
    places = [read_integer(j) for j in listed(data)]
    if any(j >= width for j in places):
        raise ValueError("the template names a column that is not there")
    return places


def numpy_dtype(value: Any) -> np.dtype[Any]:
    """A dtype of numbers, booleans, text or objects from numpy's name for it."""
    name = text(value)
    try:
        dtype = np.dtype(name)
    except Exception:  # numpy parses names and may raise anything
        dtype = np.dtype("V")
    if dtype.str != name or dtype.kind not in "fiubOUS" or dtype.itemsize > LONGEST:
        raise ValueError(f"{spoken(name)} is no dtype of numbers or levels")
    return dtype


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
    missing_markers, integers = _read_markers(data["holes"], width), _places(data["whole"], width)
    read = [_read_pandas_dtype(d) for d in dtypes]
    try:
        table = pd.DataFrame({j: pd.Series([], dtype=d) for j, d in enumerate(read)})
        table.columns = pd.Index(names)
    except Exception as error:  # pandas may raise anything
        raise ValueError(f"pandas makes no such table: {error}") from None
    return PandasFrame(table, missing_markers, integers, _read_units(data, read))


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
            warnings.simplefilter("ignore")  # about deprecated names
            if name == "category":
                return pd.CategoricalDtype(pd.Index(known, dtype=of), ordered=ordered)
            return pd.api.types.pandas_dtype(name)
    except Exception:  # pandas may raise anything
        raise ValueError(f"{spoken(name)} is no dtype, or does not hold its categories") from None


NARWHALS_DTYPES = frozenset(
    {f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
    | {"Float32", "Float64", "Boolean", "String", "Categorical", "Enum", "Date", "Datetime"}
    | {"Duration"}
)


def _narwhals_dtype(dtype: Any) -> dict[str, Any]:
    name = type(dtype).__name__ if not isinstance(dtype, type) else dtype.__name__
    if name not in NARWHALS_DTYPES:
        raise InputError(f"a column of dtype {dtype} cannot be written to a file")
    read = {"dtype": name, "levels": list(dtype.categories) if name == "Enum" else None}
    if name in ("Datetime", "Duration"):
        read["unit"] = dtype.time_unit
    return {**read, "zone": dtype.time_zone} if name == "Datetime" else read


def _read_narwhals_dtype(data: Mapping[str, Any]) -> Any:
    name = one_of(data["dtype"], NARWHALS_DTYPES)
    kind = getattr(narwhals(), name)
    if name in ("Datetime", "Duration") and "unit" in data:
        unit = one_of(data["unit"], TIME_UNITS)
        if name == "Duration":
            return kind(unit)
        return kind(unit, None if data["zone"] is None else text(data["zone"]))
    if name != "Enum":
        return kind()
    known = [text(level) for level in listed(data["levels"])]
    if len(set(known)) < len(known):
        raise ValueError("two levels are the same")
    return kind(known)
