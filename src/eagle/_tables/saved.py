"""Empty tables as plain data, so that a saved background can build tables for its model."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from eagle._tables.dataframes import NarwhalsFrame, PandasFrame, as_dictionary, narwhals
from eagle._tables.frame import ArrayFrame, Frame, ObjectColumns, SparseFrame
from eagle._tables.units import ColumnUnit
from eagle._values.checks import integer
from eagle._values.packages import package
from eagle._values.text import short_repr
from eagle.errors import InputError, MissingExtraError
from eagle.io.values import decode, encode

KINDS = ("array", "sparse", "pandas", "polars", "pyarrow")
SPARSE = ("array", "matrix")

WHAT = "reading this background"
"""What a missing package is needed for."""

MAX_ITEM_BYTES = 1 << 20
"""The largest number of bytes of a text in an array."""


def plain_levels(levels: Sequence[Any], name: Hashable) -> list[Any]:
    """Levels as JSON can hold them. Others are an error that names the column."""
    for level in levels:
        endless = isinstance(level, float) and not np.isfinite(level)
        if endless or not isinstance(level, str | int | float | bool):
            raise InputError(
                f"column {name!r} has a level of type {type(level).__name__}, which cannot be "
                "written to a file: turn its levels into text first, or name it in fixed"
            )
    return list(levels)


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


def to_saved(template: Frame) -> dict[str, Any]:
    """An empty table as plain data."""
    names = plain_names(template.names)
    if isinstance(template, ArrayFrame):
        return {
            "table": "array",
            "names": names if template.named else None,
            "width": len(names),
            "dtype": template.native.dtype.str,
            "flags": sorted(template.flags),
            **_objects_known(template.known, names),
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
            "dtypes": [
                _dictionary(template, j, n) or _pandas_dtype(template.dtype(j), n)
                for j, n in enumerate(names)
            ],
            **_objects_known(template.known, names),
        }
    assert isinstance(template, NarwhalsFrame)
    return {
        "table": type(template.native).__module__.split(".")[0],
        "names": names,
        "dtypes": [
            _dictionary(template, j, n) or _narwhals_dtype(template.dtype(j))
            for j, n in enumerate(names)
        ],
    }


def of_saved(data: Mapping[str, Any]) -> Frame:
    """The empty table that `to_saved` gave. What does not fit is a ValueError or a KeyError."""
    kind = one_of(data["table"], KINDS)
    names = None if data["names"] is None else list(data["names"])
    if kind == "array":
        width, dtype = integer(data["width"], "a width", 1), numpy_dtype(data["dtype"])
        empty = np.empty((0, width), dtype)
        return ArrayFrame(empty, names, _read_objects_known(data), data["flags"])
    if names is None:
        raise ValueError("the columns have no names")
    if kind == "sparse":
        return _read_sparse(data, names)
    if kind == "pandas":
        return _read_pandas(data, names)
    nw = narwhals()
    by_name = dict(zip(names, data["dtypes"], strict=True))
    held = {n: d for n, d in by_name.items() if kind != "pyarrow" or d["dtype"] != DICTIONARY}
    schema = {n: _read_narwhals_dtype(d) for n, d in held.items()}
    try:
        table = nw.from_dict({n: [] for n in held}, schema, backend=kind).to_native()
    except ImportError:
        raise MissingExtraError(WHAT, kind, "frames") from None
    if len(held) < len(names):
        columns = {n: table.column(n) if n in held else _read_dictionary(by_name[n]) for n in names}
        table = type(table).from_pydict(columns)
    return NarwhalsFrame(table)


def check_kept(template: Frame) -> None:
    """Refuse a table that a file would give back with other dtypes."""
    data = to_saved(template)
    try:
        same = of_saved(decode(encode(data), {})).conforms(template)
    except MissingExtraError:
        raise
    except Exception:  # pandas may raise anything for dtypes without a name
        same = False
    if not same:
        raise InputError(
            "this table has a dtype that cannot be written to a file and read back alike: "
            "turn it into a plain one"
        )


def one_of(value: Any, known: Collection[str]) -> str:
    """One of the known words."""
    if value not in known:
        raise ValueError(f"{short_repr(value, 40)} is not known")
    return str(value)


DICTIONARY = "dictionary"
"""The name of Arrow's dictionaries among dtypes."""


def _dictionary(template: PandasFrame | NarwhalsFrame, j: int, name: Any) -> dict[str, Any] | None:
    """A dictionary of Arrow's: its types and its levels, in the order of their codes; None where
    column j is something else."""
    kind, known = template.kind(j), template.dictionary(j)
    if known is None:
        return None
    return {
        "dtype": DICTIONARY,
        "levels": plain_levels(known, name),
        "of": str(kind.value_type),
        "index": str(kind.index_type),
        "ordered": bool(kind.ordered),
    }


def _read_dictionary(data: Mapping[str, Any]) -> Any:
    """An empty column that is a dictionary of Arrow's."""
    pa = package("pyarrow", WHAT, "frames")
    known, of, index = (data[name] for name in ("levels", "of", "index"))
    kind = pa.dictionary(pa.type_for_alias(index), pa.type_for_alias(of), data["ordered"])
    return as_dictionary(known, kind, known).slice(0, 0)


def _objects_known(known: ObjectColumns, names: Sequence[Any]) -> dict[str, Any]:
    """What is known of columns of objects; no units where there are none."""
    for j, unit in known.units.items():
        if unit.made != "python" or unit.zone is not None:
            raise InputError(
                f"column {names[j]!r} holds objects of time that cannot be written to a file: give "
                "them a dtype, such as datetime64"
            )
    listed_units = [[j, unit.kind, unit.digits] for j, unit in sorted(known.units.items())]
    return {
        "holes": [_marker_name(marker) for marker in known.markers],
        "whole": sorted(known.integers),
        **({"units": listed_units} if listed_units else {}),
    }


def _read_objects_known(data: Mapping[str, Any]) -> ObjectColumns:
    """What `_objects_known` gave."""
    return ObjectColumns(
        [_marker(tag) for tag in data["holes"]],
        frozenset(data["whole"]),
        {j: ColumnUnit(kind, digits=digits) for j, kind, digits in data.get("units", ())},
    )


def numpy_dtype(name: Any) -> np.dtype[Any]:
    """A dtype of numbers, booleans, text or objects from numpy's name for it."""
    dtype = np.dtype(str(name))
    if dtype.kind not in "fiubOUS" or dtype.itemsize > MAX_ITEM_BYTES:
        raise ValueError(f"{short_repr(name, 40)} is no dtype of numbers or levels")
    return dtype


def _read_sparse(data: Mapping[str, Any], names: list[Any]) -> SparseFrame:
    from scipy import sparse

    types = {f"{form}_{kind}" for form in ("csr", "csc", "coo", "lil") for kind in SPARSE}
    kind = getattr(sparse, one_of(data["type"], types))
    return SparseFrame(kind((0, len(names)), dtype=numpy_dtype(data["dtype"])), names)


def _read_pandas(data: Mapping[str, Any], names: list[Any]) -> PandasFrame:
    pd = pandas()
    columns = {
        j: pd.Series(pd.arrays.ArrowExtensionArray(_read_dictionary(d)))
        if d["dtype"] == DICTIONARY
        else pd.Series([], dtype=_read_pandas_dtype(d))
        for j, d in enumerate(data["dtypes"])
    }
    table = pd.DataFrame(columns)
    table.columns = pd.Index(names)
    return PandasFrame(table, _read_objects_known(data))


def pandas() -> Any:
    return package("pandas", WHAT, "frames")


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
    pd, name = pandas(), data["dtype"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about deprecated names
        if name == "category":
            known = pd.Index(data["categories"], dtype=data["of"])
            return pd.CategoricalDtype(known, ordered=data["ordered"])
        return pd.api.types.pandas_dtype(str(name))


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
    if "unit" in data:
        return kind(data["unit"], data["zone"]) if name == "Datetime" else kind(data["unit"])
    return kind(list(data["levels"])) if name == "Enum" else kind()
