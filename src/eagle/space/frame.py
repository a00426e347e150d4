"""Native tables, read and rebuilt exactly: arrays, sparse matrices, pandas, polars, pyarrow.

A model must be asked in the very form it was fitted on. A frame reads the columns of a table of
any kind as plain values, and builds new tables of the same kind, column names, order and dtypes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle.types import Array, InputError, MissingExtraError

if TYPE_CHECKING:
    import pandas as pd

Objects: TypeAlias = NDArray[np.object_]

OBJECT = np.dtype(object)


@final
@dataclass(frozen=True, eq=False)
class Codes:
    """A column of levels: `codes` index `levels`, and -1 is missing."""

    codes: NDArray[np.intp]
    levels: tuple[Any, ...]

    def objects(self, missing: Any = None) -> Objects:
        """The levels themselves, with `missing` where there is none."""
        table = np.empty(len(self.levels) + 1, dtype=object)
        table[:-1] = self.levels
        table[-1] = missing
        return table[self.codes]


Values: TypeAlias = "Array | Codes"
"""A column read or to be written: numbers (NaN is missing), or codes of levels."""


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA: the ways in which a table says "nothing"."""
    if value is None:
        return True
    try:
        return not bool(value == value)
    except (TypeError, ValueError):  # pandas.NA refuses to be true or false
        return type(value).__name__ == "NAType"


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def plain(value: Any) -> Any:
    """numpy scalars as Python's own, everything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def ordered(levels: Sequence[Any]) -> tuple[Any, ...]:
    """Levels in an order that does not depend on the rows: by type, then by value."""
    try:
        return tuple(sorted(levels, key=lambda v: (type(v).__name__, v)))
    except TypeError:
        return tuple(sorted(levels, key=lambda v: (type(v).__name__, repr(v))))


def encode(objects: Objects, name: Hashable, levels: tuple[Any, ...] | None = None) -> Codes:
    """Objects as codes; levels beyond those given are put behind them."""
    index: dict[Any, int] = {level: i for i, level in enumerate(levels or ())}
    try:
        fresh = {plain(v) for v in objects if not is_missing(v)} - index.keys()
    except TypeError:
        raise InputError(
            f"column {name!r} holds values that cannot be compared (lists, arrays or the like): "
            "freeze it, and it is passed to the model as it is"
        ) from None
    for level in ordered(list(fresh)):
        index[level] = len(index)
    codes = [-1 if is_missing(v) else index[plain(v)] for v in objects]
    return Codes(np.array(codes, dtype=np.intp), tuple(index))


def whole(values: Array) -> bool:
    """Whether all values are whole numbers, none missing."""
    return bool(np.all(np.isfinite(values)) and np.all(values == np.rint(values)))


class Frame(ABC):
    """A table of some kind. Frames are immutable: what they build is new."""

    names: list[Hashable]
    named: bool = True
    """Whether the columns have names, or only places."""

    @property
    @abstractmethod
    def native(self) -> Any:
        """The table itself, as the model takes it."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def dtype(self, j: int) -> Any:
        """The native dtype of column j: equal dtypes hold the same values."""

    @abstractmethod
    def read(self, j: int) -> Values | None:
        """Column j as numbers or codes, or None where it is neither (dates, lists)."""

    @abstractmethod
    def objects(self, j: int) -> Objects:
        """Column j as Python objects, None where missing."""

    @abstractmethod
    def write(self, index: NDArray[np.intp], columns: Mapping[int, Values]) -> Frame:
        """The rows `index` of this table, with the given columns written over."""

    def build(
        self,
        index: NDArray[np.intp],
        columns: Sequence[int],
        values: Array,
        levels: Mapping[int, tuple[Any, ...]],
    ) -> Frame:
        """The rows `index`, with `values`, shape (n, columns), in the given columns.

        A column in `levels` takes its values as codes; NaN is missing.
        """
        written: dict[int, Values] = {}
        for k, j in enumerate(columns):
            if j in levels:
                codes = np.where(np.isnan(values[:, k]), -1.0, values[:, k]).astype(np.intp)
                written[j] = Codes(codes, levels[j])
            else:
                written[j] = values[:, k]
        return self.write(index, written)

    def take(self, index: Sequence[int]) -> Frame:
        """Some of the rows."""
        return self.write(np.asarray(index, dtype=np.intp), {})

    @abstractmethod
    def select(self, columns: Sequence[int]) -> Frame:
        """Only these columns, in this order."""

    @abstractmethod
    def adopt(self, columns: Sequence[Objects]) -> Frame:
        """A table of this kind and these dtypes from Python objects.

        A column whose dtype cannot hold a value (a level it does not know, a hole among whole
        numbers) gets a wider one; `conforms` tells.
        """

    @abstractmethod
    def wrap(self, native: Any) -> Frame:
        """Another native table of this very kind, with these names and dtypes."""

    @abstractmethod
    def template(self) -> Frame:
        """This table without its rows."""

    def is_integer(self, j: int) -> bool:
        """Whether column j holds whole numbers by its dtype."""
        return False

    def stored(self, j: int) -> np.dtype[Any] | None:
        """The numpy dtype in which numbers of column j are held, if there is one."""
        return None

    def limits(self, j: int) -> tuple[float, float]:
        """The least and the largest whole number that column j can hold."""
        dtype = self.stored(j)
        if dtype is None or dtype.kind not in "iu" or dtype.itemsize > 4:
            return (0.0 if dtype is not None and dtype.kind == "u" else -np.inf), np.inf
        return float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)

    def narrow(self, j: int) -> str | None:
        """The dtype of numbers that are held with fewer digits than a float has."""
        dtype = self.stored(j)
        return dtype.str if dtype is not None and dtype.kind == "f" and dtype.itemsize < 8 else None

    def conforms(self, other: Frame) -> bool:
        """Whether both have the same kind, names and dtypes."""
        return (
            type(self) is type(other)
            and (self.names == other.names or not (self.named and other.named))
            and len(self.names) == len(other.names)
            and all(self.dtype(j) == other.dtype(j) for j in range(len(self.names)))
        )


def hole(objects: Objects) -> Any:
    """How a column of objects says "nothing": None or NaN, as its first missing value does."""
    return next((v for v in objects if is_missing(v)), np.nan)


def numbers(objects: Objects, name: Hashable) -> Array:
    """Objects as numbers, NaN where missing."""
    out = np.full(len(objects), np.nan)
    for i, value in enumerate(objects):
        if is_missing(value):
            continue
        try:
            if isinstance(value, str | bytes):
                raise TypeError
            out[i] = float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"column {name!r} holds numbers in the background, but {value!r} came"
            ) from None
    return out


def read_objects(objects: Objects, name: Hashable) -> Values | None:
    """Mixed objects: numbers if all of them are, levels if they can be compared."""
    present = [v for v in objects if not is_missing(v)]
    if present and all(is_number(v) for v in present):
        return numbers(objects, name)
    try:
        return encode(objects, name)
    except InputError:
        return None


@final
class ArrayFrame(Frame):
    """A numpy array of two dimensions: one dtype for all columns, or objects.

    An array made from a table with more dtypes remembers which columns were `whole` numbers and
    which were `flags`, true or false.
    """

    def __init__(
        self,
        array: NDArray[Any],
        names: Sequence[Hashable] | None = None,
        holes: Sequence[Any] | None = None,
        whole: Collection[int] = (),
        flags: Collection[int] = (),
    ) -> None:
        self._array, self.whole, self.flags = array, frozenset(whole), frozenset(flags)
        self.named = names is not None
        self.names = list(names) if names is not None else list(range(array.shape[1]))
        if holes is None:
            mixed = array.dtype == object
            holes = [hole(array[:, j]) if mixed else np.nan for j in range(array.shape[1])]
        self.holes = list(holes)

    def wrap(self, native: NDArray[Any]) -> ArrayFrame:
        names = self.names if self.named else None
        return ArrayFrame(native, names, self.holes, self.whole, self.flags)

    def template(self) -> ArrayFrame:
        return self.wrap(self._array[:0].copy())

    @property
    def native(self) -> NDArray[Any]:
        return self._array

    def __len__(self) -> int:
        return len(self._array)

    def dtype(self, j: int) -> Any:
        kind = self._array.dtype
        return kind.kind if kind.kind in "US" else kind  # the length of strings does not matter

    def is_integer(self, j: int) -> bool:
        return self._array.dtype.kind in "iu" or j in self.whole

    def stored(self, j: int) -> np.dtype[Any] | None:
        return self._array.dtype

    def read(self, j: int) -> Values | None:
        column = self._array[:, j]
        kind = column.dtype.kind
        if j in self.flags and np.isin(column, (0, 1)).all():
            return Codes(column.astype(np.intp), (False, True))
        if kind in "fiu":
            return column.astype(np.float64)
        if kind == "b":
            return Codes(column.astype(np.intp), (False, True))
        return read_objects(self.objects(j), self.names[j]) if kind in "OUS" else None

    def objects(self, j: int) -> Objects:
        column = self._array[:, j].astype(object)
        missing = [is_missing(v) for v in column]
        column[np.array(missing, dtype=bool)] = None
        return column

    def build(
        self,
        index: NDArray[np.intp],
        columns: Sequence[int],
        values: Array,
        levels: Mapping[int, tuple[Any, ...]],
    ) -> Frame:
        if self._array.dtype.kind == "f" and not levels and len(columns) == len(self.names):
            return self.wrap(values.astype(self._array.dtype, copy=False))
        return super().build(index, columns, values, levels)

    def write(self, index: NDArray[np.intp], columns: Mapping[int, Values]) -> ArrayFrame:
        if len(columns) == len(self.names):
            out = np.empty((len(index), len(self.names)), self._array.dtype)
        else:
            out = self._array[index]
        for j, values in columns.items():
            if isinstance(values, Codes):
                out[:, j] = values.objects(self.holes[j])
            else:
                out[:, j] = np.rint(values) if out.dtype.kind in "iu" else values
        return self.wrap(out)

    def select(self, columns: Sequence[int]) -> ArrayFrame:
        names = [self.names[j] for j in columns] if self.named else None
        places = {j: k for k, j in enumerate(columns)}
        return ArrayFrame(
            self._array[:, list(columns)],
            names,
            [self.holes[j] for j in columns],
            [places[j] for j in self.whole if j in places],
            [places[j] for j in self.flags if j in places],
        )

    def adopt(self, columns: Sequence[Objects]) -> ArrayFrame:
        dtype = self._array.dtype
        out: NDArray[Any]
        if dtype.kind in "fiu":
            out = np.stack([numbers(c, n) for c, n in zip(columns, self.names, strict=True)], 1)
            fits = dtype.kind == "f" or whole(out)
            out = out.astype(dtype) if fits else out
        else:
            out = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=object)
            for j, column in enumerate(columns):
                out[:, j] = column
            if dtype.kind == "b" and not all(isinstance(plain(v), bool) for v in out.flat):
                raise InputError("the background holds true or false, but other values came")
            if dtype.kind in "bUS":
                hole = any(is_missing(v) for v in out.flat)
                out = out if hole else out.astype(dtype.kind)
            else:
                for j, marker in enumerate(self.holes):
                    out[[is_missing(v) for v in out[:, j]], j] = marker
        return self.wrap(out)


@final
class SparseFrame(Frame):
    """A scipy sparse matrix or array. Rows are built dense, a chunk at a time, then compressed."""

    def __init__(self, matrix: Any, names: Sequence[Hashable] | None = None) -> None:
        self._matrix = matrix
        self._like = type(matrix)
        self.named = names is not None
        self.names = list(names) if names is not None else list(range(matrix.shape[1]))

    @property
    def native(self) -> Any:
        return self._matrix

    @cached_property
    def _columns(self) -> Any:
        return self._matrix.tocsc()

    def __len__(self) -> int:
        return int(self._matrix.shape[0])

    def wrap(self, native: Any) -> SparseFrame:
        return SparseFrame(native, self.names if self.named else None)

    def template(self) -> SparseFrame:
        return self.wrap(self._like((0, len(self.names)), dtype=self._matrix.dtype))

    def dtype(self, j: int) -> Any:
        return self._matrix.dtype

    def is_integer(self, j: int) -> bool:
        return bool(self._matrix.dtype.kind in "iu")

    def stored(self, j: int) -> np.dtype[Any] | None:
        held: np.dtype[Any] = self._matrix.dtype
        return held

    def read(self, j: int) -> Array | None:
        return np.asarray(self._columns[:, [j]].toarray()[:, 0], dtype=np.float64)

    def objects(self, j: int) -> Objects:
        column = self.read(j)
        assert column is not None
        return column.astype(object)

    def write(self, index: NDArray[np.intp], columns: Mapping[int, Values]) -> SparseFrame:
        dense = ArrayFrame(self._matrix.tocsr()[index].toarray())
        built = dense.write(np.arange(len(index)), columns)
        return self.wrap(self._like(built.native))

    def select(self, columns: Sequence[int]) -> SparseFrame:
        chosen = self._like(self._columns[:, list(columns)])
        return SparseFrame(chosen, [self.names[j] for j in columns] if self.named else None)

    def adopt(self, columns: Sequence[Objects]) -> SparseFrame:
        dense = ArrayFrame(np.empty((0, len(self.names)), self._matrix.dtype), self.names)
        return self.wrap(self._like(dense.adopt(columns).native))


@final
class PandasFrame(Frame):
    """A pandas DataFrame, of version 2 or 3."""

    def __init__(self, table: pd.DataFrame, holes: Sequence[Any] | None = None) -> None:
        self._table = table
        self.names = list(table.columns)
        if holes is None:
            holes = [
                hole(table.iloc[:, j].to_numpy()) if dtype == OBJECT else None
                for j, dtype in enumerate(table.dtypes)
            ]
        self.holes = list(holes)

    def wrap(self, native: pd.DataFrame) -> PandasFrame:
        return PandasFrame(native, self.holes)

    def template(self) -> PandasFrame:
        return self.wrap(self._table.iloc[:0].copy())

    @property
    def native(self) -> pd.DataFrame:
        return self._table

    def __len__(self) -> int:
        return len(self._table)

    def dtype(self, j: int) -> Any:
        return self._table.dtypes.iloc[j]

    def is_integer(self, j: int) -> bool:
        import pandas as pd

        return bool(pd.api.types.is_integer_dtype(self.dtype(j)))

    def stored(self, j: int) -> np.dtype[Any] | None:
        dtype: Any = getattr(self.dtype(j), "numpy_dtype", self.dtype(j))
        held: np.dtype[Any] | None = dtype if isinstance(dtype, np.dtype) else None
        return held

    def read(self, j: int) -> Values | None:
        import pandas as pd

        series, dtype = self._table.iloc[:, j], self.dtype(j)
        if isinstance(dtype, pd.CategoricalDtype):
            levels = tuple(plain(v) for v in dtype.categories)
            return Codes(series.cat.codes.to_numpy().astype(np.intp), levels)
        if pd.api.types.is_bool_dtype(dtype):
            return encode(self.objects(j), self.names[j], (False, True))
        if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
            return np.array(series.to_numpy(dtype=np.float64, na_value=np.nan), np.float64)
        if dtype == OBJECT:
            return read_objects(self.objects(j), self.names[j])
        if pd.api.types.is_string_dtype(dtype):
            return encode(self.objects(j), self.names[j])
        return None

    def objects(self, j: int) -> Objects:
        series = self._table.iloc[:, j]
        column: Objects = series.astype(object).to_numpy(copy=True)
        column[series.isna().to_numpy()] = None
        return column

    def write(self, index: NDArray[np.intp], columns: Mapping[int, Values]) -> PandasFrame:
        import pandas as pd

        dtypes = set(self._table.dtypes)
        one = next(iter(dtypes)) if len(dtypes) == 1 else None
        if len(columns) == len(self.names) and isinstance(one, np.dtype) and one.kind == "f":
            # One block, as pandas itself would hold it.
            block = np.empty((len(index), len(self.names)), dtype=one)
            for j, values in columns.items():
                block[:, j] = values
            table = pd.DataFrame(block, columns=self._table.columns)
            return self.wrap(table)
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

        if isinstance(values, Codes):
            if isinstance(dtype, pd.CategoricalDtype):
                return pd.Categorical.from_codes(self._recode(values, dtype), dtype=dtype)
            return pd.Series(values.objects(self.holes[j]), dtype=dtype).array
        integer = pd.api.types.is_integer_dtype(dtype)
        if isinstance(dtype, np.dtype):
            return (np.rint(values) if integer else values).astype(dtype)
        written = [pd.NA if v != v else round(v) if integer else v for v in values.tolist()]
        return pd.array(written, dtype=dtype)

    @staticmethod
    def _recode(values: Codes, dtype: pd.CategoricalDtype) -> NDArray[np.intp]:
        """The codes of these levels among the dtype's categories."""
        categories = {plain(v): i for i, v in enumerate(dtype.categories)}
        table = [categories[level] for level in values.levels] + [-1]
        return np.array(table, dtype=np.intp)[values.codes]

    def select(self, columns: Sequence[int]) -> PandasFrame:
        return PandasFrame(self._table.iloc[:, list(columns)], [self.holes[j] for j in columns])

    def adopt(self, columns: Sequence[Objects]) -> PandasFrame:
        import pandas as pd

        data: dict[int, Any] = {}
        for j, objects in enumerate(columns):
            column = self._adopt(objects, j, self.dtype(j))
            data[j] = pd.Series(column, dtype=column.dtype)
        table = pd.DataFrame(data)
        table.columns = self._table.columns
        return self.wrap(table)

    def _adopt(self, objects: Objects, j: int, dtype: Any) -> Any:
        import pandas as pd

        name = self.names[j]
        holes = any(is_missing(v) for v in objects)
        if isinstance(dtype, pd.CategoricalDtype):
            known = tuple(plain(v) for v in dtype.categories)
            codes = encode(objects, name, known)
            if len(codes.levels) > len(known):
                dtype = pd.CategoricalDtype(list(codes.levels), ordered=dtype.ordered)
            return pd.Categorical.from_codes(codes.codes, dtype=dtype)
        if pd.api.types.is_bool_dtype(dtype):
            for value in objects:
                if not is_missing(value) and plain(value) not in (False, True):
                    raise InputError(f"column {name!r} holds true or false, but {value!r} came")
            return pd.Series(
                objects, dtype=object if holes and isinstance(dtype, np.dtype) else dtype
            ).array
        if pd.api.types.is_numeric_dtype(dtype):
            values = numbers(objects, name)
            if pd.api.types.is_integer_dtype(dtype):
                fits = whole(values[np.isfinite(values)]) and not (
                    holes and isinstance(dtype, np.dtype)
                )
                dtype = dtype if fits else np.dtype(np.float64)
            return self._write(values, j, dtype)
        if dtype == OBJECT:
            objects = objects.copy()
            objects[[is_missing(v) for v in objects]] = self.holes[j]
        return pd.Series(objects, dtype=dtype).array


@final
class NarwhalsFrame(Frame):
    """A polars DataFrame or a pyarrow Table, through narwhals."""

    def __init__(self, table: Any) -> None:
        nw = narwhals()
        self._table = nw.from_native(table, eager_only=True)
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
        return np.dtype(str(self.dtype(j)).lower()) if self.dtype(j).is_numeric() else None

    def read(self, j: int) -> Values | None:
        nw = narwhals()
        dtype, objects = self.dtype(j), self.objects(j)
        if dtype.is_numeric():
            return numbers(objects, self.names[j])
        if dtype == nw.Boolean:
            return encode(objects, self.names[j], (False, True))
        if isinstance(dtype, nw.Enum):
            return encode(objects, self.names[j], tuple(dtype.categories))
        if dtype in (nw.String, nw.Categorical):
            return encode(objects, self.names[j])
        return None

    def objects(self, j: int) -> Objects:
        column = np.empty(len(self._table), dtype=object)
        column[:] = self._table[self.names[j]].to_list()
        return column

    def write(self, index: NDArray[np.intp], columns: Mapping[int, Values]) -> NarwhalsFrame:
        data: dict[str, Any] = {}
        for j, name in enumerate(self.names):
            if j not in columns:
                data[str(name)] = [self.objects(j)[i] for i in index]
                continue
            values = columns[j]
            if isinstance(values, Codes):
                data[str(name)] = values.objects().tolist()
            elif self.is_integer(j):
                data[str(name)] = [None if v != v else round(v) for v in values.tolist()]
            else:
                data[str(name)] = [None if v != v else v for v in values.tolist()]
        return self._new(data, dict(self._table.schema))

    def _new(self, data: Mapping[str, Any], schema: Mapping[str, Any]) -> NarwhalsFrame:
        nw = narwhals()
        table = nw.from_dict(data, schema, backend=self._table.implementation).to_native()
        if type(table).__module__.startswith("pyarrow") and schema == dict(self._table.schema):
            table = table.cast(self.native.schema)  # kinds of strings narwhals does not tell apart
        return NarwhalsFrame(table)

    def select(self, columns: Sequence[int]) -> NarwhalsFrame:
        return NarwhalsFrame(self._table.select([self.names[j] for j in columns]).to_native())

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
                if dtype.is_integer() and not whole(values[np.isfinite(values)]):
                    schema[name] = nw.Float64()
                elif dtype.is_integer():
                    data[name] = [None if v != v else int(v) for v in values]
                else:
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


def frame(table: Any, names: Sequence[Hashable] | None = None) -> Frame:
    """Any table, or any single row, as a frame. The table is read, never changed."""
    found = table if isinstance(table, Frame) else _frame(table, names)
    if len(set(found.names)) < len(found.names):
        twice = sorted({str(n) for n in found.names if found.names.count(n) > 1})
        raise InputError(f"column names must differ from one another: {', '.join(twice)}")
    return found


def _frame(table: Any, names: Sequence[Hashable] | None) -> Frame:
    module = type(table).__module__.split(".")[0]
    if module == "pandas":
        import pandas as pd

        if isinstance(table, pd.Series):
            row = np.empty((1, len(table)), dtype=object)
            row[0] = table.to_list()
            return ArrayFrame(
                row, None if isinstance(table.index, pd.RangeIndex) else list(table.index)
            )
        if isinstance(table, pd.DataFrame):
            return PandasFrame(table)
    if isinstance(table, Mapping):
        row = np.empty((1, len(table)), dtype=object)
        row[0] = list(table.values())
        return ArrayFrame(row, list(table))
    if module in ("polars", "pyarrow"):
        return NarwhalsFrame(table)
    if module == "scipy" and hasattr(table, "tocsr"):
        return SparseFrame(table if table.ndim == 2 else table.reshape(1, -1), names)
    array = _array(table)
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2:
        raise InputError(f"a table has rows and columns, but this has {array.ndim} dimensions")
    if array.dtype.kind not in "fiubOUS":
        raise InputError(f"an array of dtype {array.dtype} is neither numbers nor levels")
    if names is not None and len(names) != array.shape[1]:
        raise InputError(f"{len(names)} names do not fit {array.shape[1]} columns")
    return ArrayFrame(array, names)


def _array(table: Any) -> NDArray[Any]:
    if isinstance(table, np.ndarray):
        return np.asarray(table)
    detach: Callable[[], Any] | None = getattr(table, "detach", None)
    if detach is not None:
        table = detach()
    try:
        array = np.asarray(table)
        if array.dtype.kind in "US":  # numbers and strings side by side: keep the numbers
            array = np.asarray(table, dtype=object)
    except (ValueError, TypeError) as error:
        raise InputError(f"this is not a table of rows and columns: {error}") from None
    if array.ndim == 0:
        raise InputError(f"a {type(table).__name__} is not a table of rows and columns")
    return array
