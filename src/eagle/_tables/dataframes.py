"""Tables with a dtype for each column: pandas, polars, pyarrow."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import UTC
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables import units
from eagle._tables.column import (
    Codes,
    Objects,
    Values,
    array_of,
    encode,
    is_missing,
    key,
    missing,
    numbers,
    places,
    plain,
    read_objects,
    to_objects,
    truths,
)
from eagle._tables.frame import Frame, ObjectColumns, to_numbers
from eagle._tables.units import NOT_A_TIME, PER_DAY, ColumnUnit, UnitKind
from eagle._values.arrays import Array
from eagle._values.packages import package
from eagle.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

OBJECT = np.dtype(object)


class TypedFrame(Frame):
    """A table with a dtype for each column, which may be a dictionary of Arrow's."""

    @abstractmethod
    def kind(self, j: int) -> Any:
        """The type of column j if it is a dictionary of Arrow's, else None."""

    @abstractmethod
    def arrow(self, j: int) -> Any:
        """Column j as a chunked array of Arrow's, if it is a dictionary."""

    def dictionary(self, j: int) -> tuple[Any, ...] | None:
        """The levels of column j in its own order if it is a dictionary of Arrow's, else None."""
        return None if self.kind(j) is None else dictionary_of(self.arrow(j))

    def as_dictionary(self, objects: Iterable[Any], j: int) -> Any:
        """Objects as a column of the dictionary of Arrow's that column j has."""
        return as_dictionary(objects, self.kind(j), self.dictionary(j) or ())


@final
class PandasFrame(TypedFrame):
    """A pandas DataFrame, of version 2 or 3."""

    def __init__(self, table: pd.DataFrame, known: ObjectColumns | None = None) -> None:
        self._table, self._dtypes = table, list(table.dtypes)
        self.names = list(table.columns)
        if known is None:
            mixed = [j for j, dtype in enumerate(self._dtypes) if dtype == OBJECT]
            columns = {j: array_of(table.iloc[:, j]) for j in mixed}
            known = ObjectColumns.of(columns, len(self.names), None)
        self.known = known

    @property
    def native(self) -> pd.DataFrame:
        return self._table

    def __len__(self) -> int:
        return len(self._table)

    def wrap(self, native: pd.DataFrame) -> PandasFrame:
        return PandasFrame(native, self.known)

    def template(self) -> PandasFrame:
        return self.wrap(self._table.iloc[:0].copy())

    def dtype(self, j: int) -> Any:
        return self._dtypes[j]

    def form(self, j: int) -> Any:
        # Categories in another order are equal to pandas, but their codes are not.
        dtype = self.dtype(j)
        categories: Any = getattr(dtype, "categories", self.dictionary(j))
        return dtype, None if categories is None else tuple(categories)

    def kind(self, j: int) -> Any:
        return arrow_dictionary(self.dtype(j))

    def arrow(self, j: int) -> Any:
        return self._table.iloc[:, j].array.__arrow_array__()

    def is_integer(self, j: int) -> bool:
        import pandas as pd

        return j in self.known.integers or bool(pd.api.types.is_integer_dtype(self.dtype(j)))

    def unit(self, j: int) -> ColumnUnit | None:
        dtype = self.dtype(j)
        if dtype == OBJECT:
            return self.known.units.get(j)
        if isinstance(dtype, np.dtype):
            if dtype.kind not in "Mm":
                return None
            kind: UnitKind = "datetime" if dtype.kind == "M" else "duration"
            return ColumnUnit(kind, PER_DAY[np.datetime_data(dtype)[0]])
        if isinstance(dtype, _pandas().DatetimeTZDtype):
            return ColumnUnit("datetime", PER_DAY[dtype.unit], zone=dtype.tz)
        return _arrow_unit(dtype)

    def dtype_of(self, j: int) -> np.dtype[Any] | None:
        dtype: Any = getattr(self.dtype(j), "numpy_dtype", self.dtype(j))
        held: np.dtype[Any] | None = dtype if isinstance(dtype, np.dtype) else None
        return held

    @cached_property
    def _block(self) -> Array | None:
        """All columns as one array if all are floats, else None: pandas is slow at single ones."""
        plain = all(isinstance(t, np.dtype) and t.kind == "f" for t in self._dtypes)
        return np.asarray(self._table.to_numpy(dtype=np.float64)) if plain else None

    def read(self, j: int) -> Values | None:
        import pandas as pd

        if self._block is not None:
            return self._block[:, j]
        series, dtype, name = self._table.iloc[:, j], self.dtype(j), self.names[j]
        unit = self.unit(j)
        if unit is not None:
            ticks = self._ticks(j)
            if ticks is None:
                return to_numbers(self.objects(j), unit, name)
            return units.days(ticks, unit.per_day)
        if isinstance(dtype, pd.CategoricalDtype):
            levels = tuple(plain(v) for v in dtype.categories)
            return Codes(series.cat.codes.to_numpy().astype(np.intp), levels)
        if pd.api.types.is_bool_dtype(dtype):
            return encode(self.objects(j), name, (False, True))
        if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
            return np.array(series.to_numpy(dtype=np.float64, na_value=np.nan), np.float64)
        if dtype == OBJECT:
            return read_objects(self.objects(j), name)
        named = pd.api.types.is_string_dtype(dtype) or self.kind(j) is not None
        return encode(self.objects(j), name) if named else None

    def _ticks(self, j: int) -> NDArray[np.int64] | None:
        """Column j as integers of its unit of time; None for objects and pyarrow's dtypes."""
        dtype, series = self.dtype(j), self._table.iloc[:, j]
        if isinstance(dtype, _pandas().DatetimeTZDtype):
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        elif not (isinstance(dtype, np.dtype) and dtype.kind in "Mm"):
            return None
        return np.array(series.to_numpy()).view(np.int64)

    def _write_unit(self, values: Array, j: int, unit: ColumnUnit, index: NDArray[np.intp]) -> Any:
        """Numbers in the dtype of a column with a unit; a row's own value stays as it is."""
        import pandas as pd

        dtype, held = self.dtype(j), self._ticks(j)
        if held is None:
            marker = self.known.markers[j] if dtype == OBJECT else None
            made = self.in_unit(values, j, index, marker)
            return made if dtype == OBJECT else pd.array(made.tolist(), dtype=dtype)
        ticks = units.ticks(values, unit.per_day, held[index])
        if isinstance(dtype, np.dtype):
            return ticks.view(dtype)
        moments = pd.DatetimeIndex(ticks.view(f"M8[{dtype.unit}]"))
        return moments.tz_localize("UTC").tz_convert(dtype.tz)

    def objects(self, j: int) -> Objects:
        series = self._table.iloc[:, j]
        column: Objects = series.astype(object).to_numpy(copy=True)
        # isna of pandas compares objects, and a signalling NaN of decimal raises.
        column[missing(column) if series.dtype == OBJECT else series.isna().to_numpy()] = None
        return column

    def select(self, columns: Sequence[int]) -> PandasFrame:
        return PandasFrame(self._table.iloc[:, list(columns)], self.known.select(columns))

    def write(self, index: NDArray[np.intp], columns: Mapping[int, Values]) -> PandasFrame:
        import pandas as pd

        dtypes = set(self._dtypes)
        one = next(iter(dtypes)) if len(dtypes) == 1 else None
        if len(columns) == len(self.names) and isinstance(one, np.dtype) and one.kind == "f":
            # One block, as pandas itself would hold it.
            block = np.empty((len(index), len(self.names)), dtype=one)
            for j, given in columns.items():
                block[:, j] = given.objects(np.nan) if isinstance(given, Codes) else given
            return self.wrap(pd.DataFrame(block, columns=self._table.columns))
        data: dict[int, Any] = {}
        for j in range(len(self.names)):
            values, unit = columns.get(j), self.unit(j)
            if unit is not None and isinstance(values, np.ndarray):
                data[j] = self._write_unit(values, j, unit, index)
            elif values is not None:
                data[j] = self._write(values, j, self.dtype(j))
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
        if isinstance(values, Codes) and self.kind(j) is not None:
            return _extension(self.as_dictionary(values.objects(None), j))
        integer = bool(pd.api.types.is_integer_dtype(dtype)) or j in self.known.integers
        if not isinstance(values, Codes) and isinstance(dtype, np.dtype) and dtype != OBJECT:
            return (np.rint(values) if integer else values).astype(dtype)
        marker = self.known.markers[j] if dtype == OBJECT else pd.NA
        objects = to_objects(values, integer, marker)
        if isinstance(dtype, np.dtype):
            return pd.Series(objects, dtype=dtype).array
        return pd.array(objects.tolist(), dtype=dtype)

    def _as_floats(self, values: Array, j: int, dtype: Any) -> Any:
        """Numbers as a column of floats; refused where one is too large for it."""
        import pandas as pd

        with np.errstate(over="ignore"):
            column = self._write(values, j, dtype)
        there = pd.Series(column).to_numpy(dtype=np.float64, na_value=np.nan)
        for value in values[np.isfinite(values) & np.isinf(there)][:1].tolist():
            raise ValueError(f"{value:g} is too large")
        return column

    def wider_dtype(self, j: int, value: Any) -> Hashable:
        import pandas as pd

        dtype, absent = self.dtype(j), is_missing(value)
        if isinstance(dtype, pd.CategoricalDtype):
            known = places(plain(v) for v in dtype.categories)
            return None if absent or key(plain(value)) in known else ("level", key(plain(value)))
        if absent:
            return "missing" if isinstance(dtype, np.dtype) and dtype.kind in "iub" else None
        return self.unlike(j, value)

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
        if self.kind(j) is not None:
            return _extension(self.as_dictionary(objects, j))
        if pd.api.types.is_bool_dtype(dtype):
            widened = object if gaps.any() and isinstance(dtype, np.dtype) else dtype
            return pd.Series(truths(objects, name), dtype=widened).array
        if pd.api.types.is_integer_dtype(dtype):
            values = numbers(objects, name)
            if any(self.wider_dtype(j, v) is not None for v in objects):
                return self._write(values, j, np.dtype(np.float64))
            exact = [pd.NA if gap else int(v) for v, gap in zip(objects, gaps, strict=True)]
            return pd.array(exact, dtype=dtype)
        if pd.api.types.is_numeric_dtype(dtype):
            return self._as_floats(numbers(objects, name), j, dtype)
        if dtype == OBJECT:
            objects = objects.copy()
            objects[gaps] = self.known.markers[j]
        return pd.Series(objects, dtype=dtype).array


@final
class NarwhalsFrame(TypedFrame):
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

    @cached_property
    def native(self) -> Any:
        return self._table.to_native()

    def __len__(self) -> int:
        return len(self._table)

    def wrap(self, native: Any) -> NarwhalsFrame:
        return NarwhalsFrame(native)

    def template(self) -> NarwhalsFrame:
        return self.wrap(self._table.head(0).to_native())

    @cached_property
    def _dtypes(self) -> list[Any]:
        """The dtypes, once: narwhals reads all of them anew whenever one is wanted."""
        return list(self._table.schema.values())

    @cached_property
    def _schema(self) -> dict[str, Any]:
        return dict(zip(map(str, self.names), self._dtypes, strict=True))

    def dtype(self, j: int) -> Any:
        return self._dtypes[j]

    def form(self, j: int) -> Any:
        # Dictionaries in another order have other codes, which a model may see.
        return self.dtype(j), self.dictionary(j)

    @cached_property
    def _kinds(self) -> list[Any]:
        """The types of those columns that are dictionaries of Arrow's, None for the others."""
        if not type(self.native).__module__.startswith("pyarrow"):
            return [None] * len(self.names)
        return [arrow_dictionary(field.type) for field in self.native.schema]

    def kind(self, j: int) -> Any:
        return self._kinds[j]

    def arrow(self, j: int) -> Any:
        return self.native.column(j)

    def is_integer(self, j: int) -> bool:
        return bool(self.dtype(j).is_integer())

    def unit(self, j: int) -> ColumnUnit | None:
        return self._units[j]

    @cached_property
    def _units(self) -> list[ColumnUnit | None]:
        return [self._unit(j) for j in range(len(self.names))]

    def _unit(self, j: int) -> ColumnUnit | None:
        nw, dtype = narwhals(), self.dtype(j)
        if dtype.is_float() or dtype.is_integer():
            return None
        if isinstance(dtype, nw.Datetime):
            zone = None if dtype.time_zone is None else UTC
            return ColumnUnit("datetime", PER_DAY[dtype.time_unit], zone=zone)
        if isinstance(dtype, nw.Duration):
            return ColumnUnit("duration", PER_DAY[dtype.time_unit])
        if dtype == nw.Date:
            return ColumnUnit("date", 1)
        return ColumnUnit("decimal", digits=self._digits(j)) if dtype == nw.Decimal else None

    def _digits(self, j: int) -> int:
        """How many digits a column of decimals has after its point."""
        native = self.native.schema
        name = self.names[j]
        dtype = native[name] if isinstance(native, Mapping) else native.field(name).type
        return int(dtype.scale)

    def _ticks(self, table: Any, j: int) -> NDArray[np.int64]:
        """Column j of a table like this one as integers of its unit of time."""
        nw, name = narwhals(), self.names[j]
        column = table[name]
        gaps = column.is_null().to_numpy()
        held = nw.Int32() if self.dtype(j) == nw.Date else nw.Int64()
        ticks = np.array(column.cast(held).fill_null(0).to_numpy(), dtype=np.int64)
        ticks[gaps] = NOT_A_TIME
        return ticks

    def dtype_of(self, j: int) -> np.dtype[Any] | None:
        dtype = self.dtype(j)
        plainly = dtype.is_integer() or str(dtype) in ("Float32", "Float64")
        return np.dtype(str(dtype).lower()) if plainly else None

    def read(self, j: int) -> Values | None:
        nw = narwhals()
        dtype, name = self.dtype(j), self.names[j]
        held, unit = self.dtype_of(j), self.unit(j)
        if unit is not None and unit.kind == "decimal":
            return to_numbers(self.objects(j), unit, name)
        if unit is not None:
            return units.days(self._ticks(self._table, j), unit.per_day)
        if held is not None:
            # Of the table itself: narwhals takes a hundred times as long to hand a column over.
            values = self.native[name].to_numpy()
            if values.dtype == held:  # else integers have gaps
                return np.array(values, dtype=np.float64)
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
        every = len(columns) == len(self.names)
        rows = self._table[[] if every else index.tolist()]
        if not columns:
            return NarwhalsFrame(rows.to_native())
        data: dict[str, Any] = {}
        for j, name in enumerate(self.names):
            values, unit = columns.get(j), self.unit(j)
            if unit is not None and not isinstance(values, Codes):
                data[str(name)] = self._write_unit(values, j, unit, index)
            else:
                data[str(name)] = rows[name].to_list() if values is None else self._write(values, j)
        return self._new(data, self._schema)

    def _write_unit(
        self, values: Array | None, j: int, unit: ColumnUnit, index: NDArray[np.intp]
    ) -> list[Any]:
        """Numbers of a column that has a unit, as decimals or as integers of time."""
        if unit.kind == "decimal":
            return list(self.in_unit(values, j, index, None))
        held = self._ticks(self._table, j)[index]
        return _ticks_or_none(held if values is None else units.ticks(values, unit.per_day, held))

    def _write(self, values: Values, j: int) -> Any:
        """Values for narwhals: an array of the column's dtype if it holds them, else a list."""
        held = self.dtype_of(j)
        if not isinstance(values, Codes) and held is not None and _fits(values, held):
            return values.astype(held)
        return to_objects(values, self.is_integer(j), None).tolist()

    def _new(self, data: Mapping[str, Any], schema: Mapping[str, Any]) -> NarwhalsFrame:
        nw = narwhals()
        times = {n for j, n in enumerate(map(str, self.names)) if self._is_time(j)}
        levels = {str(n): j for j, n in enumerate(self.names) if self.kind(j) is not None}
        rest = {n: column for n, column in data.items() if n not in levels}
        counted = {
            n: (nw.Int32() if kind == nw.Date else nw.Int64()) if n in times else kind
            for n, kind in schema.items()
            if n in rest
        }
        try:
            made = nw.from_dict(rest, counted, backend=self._table.implementation)
            if times:
                made = made.with_columns(*(nw.col(n).cast(schema[n]) for n in sorted(times)))
            table = made.to_native()
            if levels:
                columns = {n: self.as_dictionary(data[n], j) for n, j in levels.items()}
                every = {n: columns[n] if n in columns else table.column(n) for n in data}
                table = type(table).from_pydict(every)
        except Exception as error:  # polars and pyarrow raise whatever they like
            raise InputError(f"the table cannot hold what came: {error}") from None
        if type(table).__module__.startswith("pyarrow") and schema == self._schema:
            table = table.cast(self.native.schema)  # kinds of strings narwhals does not tell apart
        return NarwhalsFrame(table)

    def _is_time(self, j: int) -> bool:
        """Whether column j is written as integers of a unit of time."""
        unit = self.unit(j)
        return unit is not None and unit.kind != "decimal"

    def wider_dtype(self, j: int, value: Any) -> Hashable:
        nw = narwhals()
        if is_missing(value):
            return None
        dtype = self.dtype(j)
        if isinstance(dtype, nw.Enum) and plain(value) not in tuple(dtype.categories):
            return ("level", plain(value))
        return self.unlike(j, value)

    def adopt(self, columns: Sequence[Objects]) -> NarwhalsFrame:
        nw = narwhals()
        data: dict[str, Any] = {}
        schema = dict(self._schema)
        for j, objects in enumerate(columns):
            name = str(self.names[j])
            dtype = schema[name]
            data[name] = [None if is_missing(v) else plain(v) for v in objects]
            unit = self.unit(j)
            if unit is not None:
                values = to_numbers(objects, unit, name)
                if unit.kind == "decimal":
                    data[name] = list(unit.objects(values, objects, values, None))
                else:
                    data[name] = _ticks_or_none(units.ticks(values, unit.per_day))
            elif dtype.is_numeric():
                values = numbers(objects, name)
                if dtype.is_integer() and all(self.wider_dtype(j, v) is None for v in objects):
                    data[name] = [None if v is None else int(v) for v in data[name]]
                    continue
                schema[name] = nw.Float64() if dtype.is_integer() else dtype
                data[name] = [None if v != v else float(v) for v in values]
            elif isinstance(dtype, nw.Enum):
                known = tuple(dtype.categories)
                levels = encode(objects, name, known).levels
                schema[name] = dtype if levels == known else nw.Enum(levels)
        return self._new(data, schema)


def _ticks_or_none(ticks: NDArray[np.int64]) -> list[int | None]:
    """Integers of a unit of time as a list, None where missing."""
    return [None if tick == NOT_A_TIME else tick for tick in ticks.tolist()]


def _pandas() -> Any:
    import pandas as pd

    return pd


def _extension(column: Any) -> Any:
    """A column of Arrow's as pandas holds it."""
    return _pandas().arrays.ArrowExtensionArray(column)


def arrow_dictionary(dtype: Any) -> Any:
    """The type of a dictionary of Arrow's, from its own type or a dtype of pandas; else None."""
    kind = getattr(dtype, "pyarrow_dtype", dtype)
    if not type(kind).__module__.startswith("pyarrow"):
        return None
    from pyarrow import types

    return kind if types.is_dictionary(kind) else None


def dictionary_of(column: Any) -> tuple[Any, ...]:
    """The levels of a dictionary column of Arrow's, each once, in the order of their codes."""
    chunks = column.unify_dictionaries().chunks
    levels = chunks[0].dictionary.to_pylist() if chunks else []
    return tuple({key(level): level for level in levels if not is_missing(level)}.values())


def as_dictionary(objects: Iterable[Any], kind: Any, levels: Sequence[Any]) -> Any:
    """Objects as a dictionary column of Arrow's. Its codes are those of `levels`; others follow."""
    import pyarrow as pa

    index, every = places(levels), list(levels)
    codes: list[int | None] = []
    for value in objects:
        level = plain(value)
        if is_missing(level):
            codes.append(None)
            continue
        if index.setdefault(key(level), len(every)) == len(every):
            every.append(level)
        codes.append(index[key(level)])
    held = pa.array(every, type=kind.value_type)
    made = pa.DictionaryArray.from_arrays(
        pa.array(codes, type=kind.index_type), held, ordered=kind.ordered
    )
    return pa.chunked_array([made])


def _arrow_unit(dtype: Any) -> ColumnUnit | None:
    """The unit of pyarrow's dates, durations and decimals in pandas."""
    arrow = getattr(dtype, "pyarrow_dtype", None)
    if arrow is None:
        return None
    from pyarrow import types

    if types.is_timestamp(arrow):
        return ColumnUnit("datetime", PER_DAY[arrow.unit], zone=None if arrow.tz is None else UTC)
    if types.is_duration(arrow):
        return ColumnUnit("duration", PER_DAY[arrow.unit])
    if types.is_decimal(arrow):
        return ColumnUnit("decimal", digits=arrow.scale)
    return ColumnUnit("date", 1) if types.is_date(arrow) else None


def _fits(values: Array, held: np.dtype[Any]) -> bool:
    """Whether no number is missing, and a dtype holds all: floats by range, integers exactly."""
    if held.kind == "f":
        return not np.isnan(values).any() and bool((np.abs(values) <= np.finfo(held).max).all())
    # Up to 2^53, where floats tell integers apart; NaN is no integer.
    low, high = max(np.iinfo(held).min, -(2**53)), min(np.iinfo(held).max, 2**53)
    return bool(((values >= low) & (values <= high) & (values == np.rint(values))).all())


def narwhals() -> Any:
    return package("narwhals.stable.v2", "reading a polars or pyarrow table", "frames")
