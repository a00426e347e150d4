"""Tables with a dtype for each column: pandas, polars, pyarrow."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from eagle.table.column import (
    Codes,
    Objects,
    Values,
    all_whole,
    array_of,
    encode,
    exact,
    hole,
    is_missing,
    key,
    missing,
    numbers,
    places,
    plain,
    read_objects,
    truths,
    written,
)
from eagle.table.frame import Frame, holds
from eagle.types import Array, InputError, MissingExtraError

if TYPE_CHECKING:
    import pandas as pd

OBJECT = np.dtype(object)


@final
class PandasFrame(Frame):
    """A pandas DataFrame, of version 2 or 3.

    `holes` are how columns of objects say "nothing", `whole` those that hold integers.
    """

    def __init__(
        self,
        table: pd.DataFrame,
        holes: Sequence[Any] | None = None,
        whole: Collection[int] = (),
    ) -> None:
        self._table, self._dtypes = table, list(table.dtypes)
        self.names = list(table.columns)
        if holes is None:
            mixed = [j for j, dtype in enumerate(self._dtypes) if dtype == OBJECT]
            columns = {j: array_of(table.iloc[:, j]) for j in mixed}
            holes = [hole(columns[j]) if j in columns else None for j in range(len(self.names))]
            whole = [j for j in mixed if all_whole(columns[j])]
        self.holes, self.whole = list(holes), frozenset(whole)

    @property
    def native(self) -> pd.DataFrame:
        return self._table

    def __len__(self) -> int:
        return len(self._table)

    def wrap(self, native: pd.DataFrame) -> PandasFrame:
        return PandasFrame(native, self.holes, self.whole)

    def template(self) -> PandasFrame:
        return self.wrap(self._table.iloc[:0].copy())

    def dtype(self, j: int) -> Any:
        return self._dtypes[j]

    def form(self, j: int) -> Any:
        # Categories in another order are equal to pandas, but their codes are not.
        dtype = self.dtype(j)
        categories = getattr(dtype, "categories", None)
        return dtype, None if categories is None else tuple(categories)

    def is_integer(self, j: int) -> bool:
        import pandas as pd

        return j in self.whole or bool(pd.api.types.is_integer_dtype(self.dtype(j)))

    def stored(self, j: int) -> np.dtype[Any] | None:
        dtype: Any = getattr(self.dtype(j), "numpy_dtype", self.dtype(j))
        held: np.dtype[Any] | None = dtype if isinstance(dtype, np.dtype) else None
        return held

    @cached_property
    def _block(self) -> Array | None:
        """All columns at once, where all are floats: pandas takes its time to give single ones."""
        plain = all(isinstance(t, np.dtype) and t.kind == "f" for t in self._dtypes)
        return np.asarray(self._table.to_numpy(dtype=np.float64)) if plain else None

    def read(self, j: int) -> Values | None:
        import pandas as pd

        if self._block is not None:
            return self._block[:, j]
        series, dtype, name = self._table.iloc[:, j], self.dtype(j), self.names[j]
        if isinstance(dtype, pd.CategoricalDtype):
            levels = tuple(plain(v) for v in dtype.categories)
            return Codes(series.cat.codes.to_numpy().astype(np.intp), levels)
        if pd.api.types.is_bool_dtype(dtype):
            return encode(self.objects(j), name, (False, True))
        if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
            return np.array(series.to_numpy(dtype=np.float64, na_value=np.nan), np.float64)
        if dtype == OBJECT:
            return read_objects(self.objects(j), name)
        return encode(self.objects(j), name) if pd.api.types.is_string_dtype(dtype) else None

    def objects(self, j: int) -> Objects:
        series = self._table.iloc[:, j]
        column: Objects = series.astype(object).to_numpy(copy=True)
        # Of objects pandas asks too much: a decimal NaN that signals would raise.
        column[missing(column) if series.dtype == OBJECT else series.isna().to_numpy()] = None
        return column

    def select(self, columns: Sequence[int]) -> PandasFrame:
        place = {j: k for k, j in enumerate(columns)}
        whole = [place[j] for j in self.whole if j in place]
        table = self._table.iloc[:, list(columns)]
        return PandasFrame(table, [self.holes[j] for j in columns], whole)

    def write(self, index: NDArray[np.intp], columns: Mapping[int, Values]) -> PandasFrame:
        import pandas as pd

        dtypes = set(self._dtypes)
        one = next(iter(dtypes)) if len(dtypes) == 1 else None
        if len(columns) == len(self.names) and isinstance(one, np.dtype) and one.kind == "f":
            # One block, as pandas itself would hold it.
            block = np.empty((len(index), len(self.names)), dtype=one)
            for j, values in columns.items():
                block[:, j] = values.objects(np.nan) if isinstance(values, Codes) else values
            return self.wrap(pd.DataFrame(block, columns=self._table.columns))
        data: dict[int, Any] = {}
        for j in range(len(self.names)):
            if j in columns:
                data[j] = self._write(columns[j], j, self.dtype(j))
            else:
                data[j] = self._table.iloc[:, j].array.take(index)
            # As a series of its dtype: pandas would guess one for bare objects.
            data[j] = pd.Series(data[j], dtype=self.dtype(j))
        table = pd.DataFrame(data, index=pd.RangeIndex(len(index)))
        table.columns = self._table.columns
        return self.wrap(table)

    def _write(self, values: Values, j: int, dtype: Any) -> Any:
        import pandas as pd

        if isinstance(values, Codes) and isinstance(dtype, pd.CategoricalDtype):
            index = places(plain(v) for v in dtype.categories)
            table = np.array([index[key(level)] for level in values.levels] + [-1], dtype=np.intp)
            return pd.Categorical.from_codes(table[values.codes], dtype=dtype)
        integer = bool(pd.api.types.is_integer_dtype(dtype)) or j in self.whole
        if not isinstance(values, Codes) and isinstance(dtype, np.dtype) and dtype != OBJECT:
            return (np.rint(values) if integer else values).astype(dtype)
        marker = self.holes[j] if dtype == OBJECT else pd.NA
        objects = written(values, integer, marker)
        if isinstance(dtype, np.dtype):
            return pd.Series(objects, dtype=dtype).array
        return pd.array(objects.tolist(), dtype=dtype)

    def misfit(self, j: int, value: Any) -> Hashable:
        import pandas as pd

        dtype, absent = self.dtype(j), is_missing(value)
        if isinstance(dtype, pd.CategoricalDtype):
            known = places(plain(v) for v in dtype.categories)
            return None if absent or key(plain(value)) in known else ("level", key(plain(value)))
        if absent:
            return "a hole" if isinstance(dtype, np.dtype) and dtype.kind in "iub" else None
        held = self.stored(j)
        if held is not None and held.kind in "iu":
            return None if holds(held, exact(value, self.names[j])) else "a float"
        return None

    def adopt(self, columns: Sequence[Objects]) -> PandasFrame:
        import pandas as pd

        data: dict[int, Any] = {}
        for j, objects in enumerate(columns):
            try:
                column = self._adopt(objects, j, self.dtype(j))
            except InputError:
                raise
            except (TypeError, ValueError, OverflowError) as error:
                raise InputError(
                    f"column {self.names[j]!r} is {self.dtype(j)} in the background, and cannot "
                    f"hold what came: {error}"
                ) from None
            data[j] = pd.Series(column, dtype=column.dtype)
        table = pd.DataFrame(data)
        table.columns = self._table.columns
        return self.wrap(table)

    def _adopt(self, objects: Objects, j: int, dtype: Any) -> Any:
        import pandas as pd

        name, gaps = self.names[j], missing(objects)
        if isinstance(dtype, pd.CategoricalDtype):
            known = tuple(plain(v) for v in dtype.categories)
            codes = encode(objects, name, known)
            if len(codes.levels) > len(known):
                dtype = pd.CategoricalDtype(list(codes.levels), ordered=dtype.ordered)
            return pd.Categorical.from_codes(codes.codes, dtype=dtype)
        if pd.api.types.is_bool_dtype(dtype):
            widened = object if gaps.any() and isinstance(dtype, np.dtype) else dtype
            return pd.Series(truths(objects, name), dtype=widened).array
        if pd.api.types.is_integer_dtype(dtype):
            values = numbers(objects, name)
            if any(self.misfit(j, v) is not None for v in objects):
                return self._write(values, j, np.dtype(np.float64))
            exact = [pd.NA if gap else int(v) for v, gap in zip(objects, gaps, strict=True)]
            return pd.array(exact, dtype=dtype)
        if pd.api.types.is_numeric_dtype(dtype):
            return self._write(numbers(objects, name), j, dtype)
        if dtype == OBJECT:
            objects = objects.copy()
            objects[gaps] = self.holes[j]
        return pd.Series(objects, dtype=dtype).array


@final
class NarwhalsFrame(Frame):
    """A polars DataFrame or a pyarrow Table, through narwhals."""

    def __init__(self, table: Any) -> None:
        nw = narwhals()
        try:
            self._table = nw.from_native(table, eager_only=True)
        except TypeError:
            raise InputError(
                f"a {type(table).__name__} is not a table with rows at hand: collect it first"
            ) from None
        self.names = list(self._table.columns)

    @property
    def native(self) -> Any:
        return self._table.to_native()

    def __len__(self) -> int:
        return len(self._table)

    def wrap(self, native: Any) -> NarwhalsFrame:
        return NarwhalsFrame(native)

    def template(self) -> NarwhalsFrame:
        return self.wrap(self._table.head(0).to_native())

    def dtype(self, j: int) -> Any:
        return self._table.schema[self.names[j]]

    def is_integer(self, j: int) -> bool:
        return bool(self.dtype(j).is_integer())

    def stored(self, j: int) -> np.dtype[Any] | None:
        dtype = self.dtype(j)
        plainly = dtype.is_integer() or str(dtype) in ("Float32", "Float64")
        return np.dtype(str(dtype).lower()) if plainly else None

    def read(self, j: int) -> Values | None:
        nw = narwhals()
        dtype, name = self.dtype(j), self.names[j]
        if dtype.is_numeric():
            try:
                column = self._table[name].cast(nw.Float64())
            except Exception:  # pyarrow refuses integers that a float cannot tell apart
                return numbers(self.objects(j), name)
            return np.array(column.fill_null(float("nan")).to_numpy(), dtype=np.float64)
        if dtype == nw.Boolean:
            return encode(self.objects(j), name, (False, True))
        if isinstance(dtype, nw.Enum):
            return encode(self.objects(j), name, tuple(dtype.categories))
        return encode(self.objects(j), name) if dtype in (nw.String, nw.Categorical) else None

    def objects(self, j: int) -> Objects:
        return array_of(self._table[self.names[j]].to_list())

    def select(self, columns: Sequence[int]) -> NarwhalsFrame:
        return NarwhalsFrame(self._table.select([self.names[j] for j in columns]).to_native())

    def write(self, index: NDArray[np.intp], columns: Mapping[int, Values]) -> NarwhalsFrame:
        data: dict[str, Any] = {}
        for j, name in enumerate(self.names):
            if j in columns:
                objects = written(columns[j], self.is_integer(j), None)
            else:
                objects = self.objects(j)[index]
            data[str(name)] = objects.tolist()
        return self._new(data, dict(self._table.schema))

    def _new(self, data: Mapping[str, Any], schema: Mapping[str, Any]) -> NarwhalsFrame:
        nw = narwhals()
        try:
            table = nw.from_dict(data, schema, backend=self._table.implementation).to_native()
        except Exception as error:  # polars and pyarrow raise whatever they like
            raise InputError(f"the table cannot hold what came: {error}") from None
        if type(table).__module__.startswith("pyarrow") and schema == dict(self._table.schema):
            table = table.cast(self.native.schema)  # kinds of strings narwhals does not tell apart
        return NarwhalsFrame(table)

    def misfit(self, j: int, value: Any) -> Hashable:
        nw = narwhals()
        if is_missing(value):
            return None
        held, dtype = self.stored(j), self.dtype(j)
        if held is not None and held.kind in "iu":
            return None if holds(held, exact(value, self.names[j])) else "a float"
        if isinstance(dtype, nw.Enum) and plain(value) not in tuple(dtype.categories):
            return ("level", plain(value))
        return None

    def adopt(self, columns: Sequence[Objects]) -> NarwhalsFrame:
        nw = narwhals()
        data: dict[str, Any] = {}
        schema = dict(self._table.schema)
        for j, objects in enumerate(columns):
            name = str(self.names[j])
            dtype = schema[name]
            data[name] = [None if is_missing(v) else plain(v) for v in objects]
            if dtype.is_numeric():
                values = numbers(objects, name)
                if dtype.is_integer() and all(self.misfit(j, v) is None for v in objects):
                    data[name] = [None if v is None else int(v) for v in data[name]]
                    continue
                schema[name] = nw.Float64() if dtype.is_integer() else dtype
                data[name] = [None if v != v else float(v) for v in values]
            elif isinstance(dtype, nw.Enum):
                known = tuple(dtype.categories)
                levels = encode(objects, name, known).levels
                schema[name] = dtype if levels == known else nw.Enum(levels)
        return self._new(data, schema)


def narwhals() -> Any:
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        raise MissingExtraError("reading a polars or pyarrow table", "narwhals", "frames") from None
    return nw
