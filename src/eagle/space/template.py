"""Empty tables as plain data, so that a summary can be saved and rebuild the model's own form."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from eagle.space.arrays import ArrayFrame, SparseFrame
from eagle.space.dataframes import NarwhalsFrame, PandasFrame, narwhals
from eagle.space.frame import Frame
from eagle.types import InputError


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


def _names(names: Sequence[Hashable]) -> list[Any]:
    for name in names:
        if not isinstance(name, str | int):
            raise InputError(f"the column name {name!r} cannot be written: use text or numbers")
    return list(names)


def _hole(marker: Any) -> str:
    return "None" if marker is None else "NaN" if isinstance(marker, float) else "NA"


def _marker(tag: str) -> Any:
    if tag == "NA":
        import pandas as pd

        return pd.NA
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


def from_dict(data: Mapping[str, Any]) -> Frame:
    """The empty table that `to_dict` wrote."""
    kind, names = data["table"], data["names"]
    if kind == "array":
        empty = np.empty((0, int(data["width"])), np.dtype(str(data["dtype"])))
        holes = [_marker(h) for h in data["holes"]]
        return ArrayFrame(empty, names, holes, data["whole"], data["flags"])
    if kind == "sparse":
        from scipy import sparse

        types = {t.__name__: t for t in (
            sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.lil_array,
            sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.lil_matrix,
        )}  # fmt: skip
        if data["type"] not in types:
            raise InputError(f"a sparse table of type {data['type']!r} cannot be read back")
        dtype = np.dtype(str(data["dtype"]))
        return SparseFrame(types[data["type"]]((0, len(names)), dtype=dtype), names)
    if kind == "pandas":
        import pandas as pd

        dtypes = [_read_pandas_dtype(d) for d in data["dtypes"]]
        table = pd.DataFrame({j: pd.Series([], dtype=d) for j, d in enumerate(dtypes)})
        table.columns = pd.Index(names)
        return PandasFrame(table, [_marker(h) for h in data["holes"]], data["whole"])
    if kind in ("polars", "pyarrow"):
        nw = narwhals()
        schema = {n: _read_narwhals_dtype(d) for n, d in zip(names, data["dtypes"], strict=True)}
        return NarwhalsFrame(nw.from_dict({n: [] for n in names}, schema, backend=kind).to_native())
    raise InputError(f"a table of kind {kind!r} is not known to this version of eagle")


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
    import pandas as pd

    if data["dtype"] == "category":
        categories = pd.Index(data["categories"], dtype=str(data["of"]))
        return pd.CategoricalDtype(categories, ordered=bool(data["ordered"]))
    return pd.api.types.pandas_dtype(str(data["dtype"]))


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
    if data["dtype"] not in NARWHALS_DTYPES:
        raise InputError(f"a column of dtype {data['dtype']!r} is not known")
    kind = getattr(narwhals(), data["dtype"])
    return kind(data["levels"]) if data["levels"] is not None else kind()
