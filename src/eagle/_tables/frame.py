"""A table of any kind, read and rebuilt exactly.

A model must be asked in the form that it was fitted on. A frame reads the columns of a table as
plain values, and builds new tables of the same kind, column names, order and dtypes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables import units
from eagle._tables.column import (
    Codes,
    Objects,
    Values,
    all_integers,
    exact,
    is_missing,
    missing,
    missing_marker,
    numbers,
    read_objects,
    to_objects,
    truths,
)
from eagle._tables.units import ColumnUnit
from eagle._values.arrays import Array
from eagle._values.text import short_repr
from eagle.errors import InputError


class Frame(ABC):
    """A table of some kind. Frames are immutable: `write` and the like return new ones."""

    names: list[Hashable]
    named: bool = True
    """Whether the columns have names of their own, or only positions."""

    @property
    @abstractmethod
    def native(self) -> Any:
        """The table itself, as the model takes it."""

    @property
    def raw(self) -> Frame:
        """The table without groups: every column by itself."""
        return self

    def like(self, table: Frame) -> Frame:
        """`table`, which has no groups, with its columns grouped as here."""
        return table

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def wrap(self, native: Any) -> Frame:
        """A frame of another native table of the same kind, names and dtypes."""

    @abstractmethod
    def template(self) -> Frame:
        """This table without its rows."""

    @abstractmethod
    def dtype(self, j: int) -> Any:
        """The native dtype of column j."""

    def form(self, j: int) -> Any:
        """The dtype of column j and all else that a model could see: equal forms look the same."""
        return self.dtype(j)

    @abstractmethod
    def read(self, j: int) -> Values | None:
        """Column j as numbers or codes, or None where it is neither (lists, periods).

        Dates are numbers of days; `unit` says how.
        """

    def numbers(self, columns: Sequence[int]) -> Array:
        """Columns that hold numbers, shape (n, columns), NaN where missing."""
        out = np.empty((len(self), len(columns)))
        for k, j in enumerate(columns):
            values = self.read(j)
            if not isinstance(values, np.ndarray):
                values = numbers(self.objects(j), self.names[j])
            out[:, k] = values
        return out

    @abstractmethod
    def objects(self, j: int) -> Objects:
        """Column j as Python objects, None where missing."""

    @abstractmethod
    def select(self, columns: Sequence[int]) -> Frame:
        """Only these columns, in this order."""

    @abstractmethod
    def write(self, index: NDArray[np.intp], columns: Mapping[int, Values]) -> Frame:
        """The rows `index` of this table, with the given columns written over."""

    @abstractmethod
    def adopt(self, columns: Sequence[Objects]) -> Frame:
        """A table of this kind and these dtypes from Python objects.

        A column whose dtype cannot hold a value (an unknown level, a missing value among
        integers) gets a wider dtype; `wider_dtype` says where.
        """

    @abstractmethod
    def wider_dtype(self, j: int, value: Any) -> Hashable:
        """None if column j can hold the value, else a key of the wider dtype that it needs."""

    def is_integer(self, j: int) -> bool:
        """Whether column j holds integers."""
        return False

    def unit(self, j: int) -> ColumnUnit | None:
        """How the dates, durations or decimals of column j are read as numbers; None for others."""
        return None

    def dtype_of(self, j: int) -> np.dtype[Any] | None:
        """The numpy dtype in which numbers of column j are held, if there is one."""
        return None

    def take(self, index: Sequence[int]) -> Frame:
        """Some of the rows."""
        return self.write(np.asarray(index, dtype=np.intp), {})

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
        given: dict[int, Values] = {}
        for k, j in enumerate(columns):
            if j in levels:
                codes = np.where(np.isnan(values[:, k]), -1.0, values[:, k]).astype(np.intp)
                given[j] = Codes(codes, levels[j])
            else:
                given[j] = values[:, k]
        return self.write(index, given)

    def limits(self, j: int) -> tuple[float, float]:
        """The least and the largest number that column j can hold, infinite if there is no limit.

        Of 64-bit integers only the 0 of unsigned ones is a limit.
        """
        dtype, unit = self.dtype_of(j), self.unit(j)
        if unit is not None:
            return unit.limits
        if dtype is None or dtype.kind not in "iu":
            return -np.inf, np.inf
        if dtype.itemsize > 4:
            return (0.0 if dtype.kind == "u" else -np.inf), np.inf
        return float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)

    def narrow(self, j: int) -> str | None:
        """The dtype of column j if it is a float dtype narrower than float64, else None."""
        dtype = self.dtype_of(j)
        return dtype.str if dtype is not None and dtype.kind == "f" and dtype.itemsize < 8 else None

    def unlike(self, j: int, value: Any) -> Hashable:
        """ "a float" if column j holds integers in its dtype, and not this number; else None."""
        dtype = self.dtype_of(j)
        if dtype is None or dtype.kind not in "iu":
            return None
        number, bounds = exact(value, self.names[j]), np.iinfo(dtype)
        fits = float(number).is_integer() and bounds.min <= int(number) <= bounds.max
        return None if fits else "a float"

    def in_unit(
        self, values: Array | None, j: int, index: NDArray[np.intp], marker: Any
    ) -> Objects:
        """Numbers as objects of the unit of column j, in these rows; missing ones are `marker`.

        Where a number is that of the row itself, or none is given, the row's own object stays.
        """
        unit, objects = self.unit(j), self.objects(j)
        assert unit is not None
        own = to_numbers(objects, unit, self.names[j])[index]
        made: Objects = unit.objects(own if values is None else values, objects[index], own, marker)
        return made

    def conforms(self, other: Frame) -> bool:
        """Whether both have the same kind, names and dtypes."""
        return (
            type(self) is type(other)
            and (self.names == other.names or not (self.named and other.named))
            and len(self.names) == len(other.names)
            and all(self.form(j) == other.form(j) for j in range(len(self.names)))
        )


@final
@dataclass(frozen=True, eq=False)
class ObjectColumns:
    """What the objects in a table's columns show, and its dtypes do not.

    `markers` has for each column the value that marks "missing" in it. `integers` are the columns
    of objects that hold only integers, and `units` those of dates, durations or decimals.
    """

    markers: Sequence[Any]
    integers: frozenset[int] = frozenset()
    units: Mapping[int, ColumnUnit] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Mapping[int, Objects], width: int, marker: Any) -> ObjectColumns:
        """What the columns of objects show; the others of a table of this width have a marker."""
        present = {j: [v for v in held if not is_missing(v)] for j, held in columns.items()}
        kinds = {j: units.unit_of_objects(held) for j, held in present.items()}
        return cls(
            [missing_marker(columns[j]) if j in columns else marker for j in range(width)],
            frozenset(j for j, held in columns.items() if all_integers(held)),
            {j: unit for j, unit in kinds.items() if unit is not None},
        )

    def select(self, columns: Sequence[int]) -> ObjectColumns:
        """The same of only these columns, in this order."""
        place = {j: k for k, j in enumerate(columns)}
        return ObjectColumns(
            [self.markers[j] for j in columns],
            frozenset(place[j] for j in self.integers if j in place),
            {place[j]: unit for j, unit in self.units.items() if j in place},
        )


@final
class ArrayFrame(Frame):
    """A numpy array of two dimensions: one dtype for all columns, or objects.

    `flags` are the columns that hold only True and False where the array's dtype does not say so.
    """

    def __init__(
        self,
        array: NDArray[Any],
        names: Sequence[Hashable] | None = None,
        known: ObjectColumns | None = None,
        flags: Collection[int] = (),
    ) -> None:
        width = array.shape[1]
        self._array, self.named = array, names is not None
        self.names = list(names) if names is not None else list(range(width))
        if known is None:
            objects = range(width) if array.dtype == object else ()
            known = ObjectColumns.of({j: array[:, j] for j in objects}, width, np.nan)
        self.known, self.flags = known, frozenset(flags)

    @property
    def native(self) -> NDArray[Any]:
        return self._array

    def __len__(self) -> int:
        return len(self._array)

    def wrap(self, native: NDArray[Any]) -> ArrayFrame:
        if self._array.dtype.kind in "US":  # keep the longer of the two text lengths
            native = native.astype(np.result_type(native.dtype, self._array.dtype), copy=False)
        names = self.names if self.named else None
        return ArrayFrame(native, names, self.known, self.flags)

    def template(self) -> ArrayFrame:
        return self.wrap(self._array[:0].copy())

    def dtype(self, j: int) -> Any:
        return self._array.dtype

    def form(self, j: int) -> Any:
        kind = self._array.dtype
        return kind.kind if kind.kind in "US" else kind  # text of any length has one form

    def is_integer(self, j: int) -> bool:
        return self._array.dtype.kind in "iu" or j in self.known.integers

    def unit(self, j: int) -> ColumnUnit | None:
        return self.known.units.get(j)

    def dtype_of(self, j: int) -> np.dtype[Any] | None:
        return self._array.dtype

    def read(self, j: int) -> Values | None:
        column = self._array[:, j]
        kind = column.dtype.kind
        if j in self.known.units:
            return to_numbers(self.objects(j), self.known.units[j], self.names[j])
        if kind == "b" or (j in self.flags and np.isin(column, (0, 1)).all()):
            return Codes(column.astype(np.intp), (False, True))
        if kind in "fiu":
            return column.astype(np.float64)
        return read_objects(self.objects(j), self.names[j]) if kind in "OUS" else None

    def numbers(self, columns: Sequence[int]) -> Array:
        if self._array.dtype.kind in "fiu" and not self.known.units and not self.flags:
            return self._array[:, columns].astype(np.float64)
        return super().numbers(columns)

    def objects(self, j: int) -> Objects:
        column = self._array[:, j].astype(object)
        column[missing(column)] = None
        return column

    def select(self, columns: Sequence[int]) -> ArrayFrame:
        names = [self.names[j] for j in columns] if self.named else None
        return ArrayFrame(
            self._array[:, list(columns)],
            names,
            self.known.select(columns),
            [k for k, j in enumerate(columns) if j in self.flags],
        )

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
        kind = self._array.dtype.kind
        out = self._array[index]
        if kind in "US":  # new text may be longer than the old
            out = out.astype(object)
        for j, values in columns.items():
            if j in self.known.units and not isinstance(values, Codes):
                out[:, j] = self.in_unit(values, j, index, self.known.markers[j])
            elif kind in "OUS" or isinstance(values, Codes):
                out[:, j] = to_objects(values, j in self.known.integers, self.known.markers[j])
            else:
                out[:, j] = np.rint(values) if kind in "iu" else values
        return self.wrap(out.astype(kind) if kind in "US" else out)

    def wider_dtype(self, j: int, value: Any) -> Hashable:
        if is_missing(value):
            return "missing" if self._array.dtype.kind in "iubUS" else None
        return self.unlike(j, value)

    def adopt(self, columns: Sequence[Objects]) -> ArrayFrame:
        kind, named = self._array.dtype.kind, list(zip(columns, self.names, strict=True))
        if kind in "iu":
            fits = all(self.wider_dtype(j, v) is None for j, c in enumerate(columns) for v in c)
            if fits:  # through Python integers, which are exact
                exact = [np.array([int(v) for v in c], self._array.dtype) for c in columns]
                return self.wrap(np.stack(exact, axis=1))
            return self.wrap(np.stack([numbers(c, n) for c, n in named], axis=1))
        if kind == "f":
            stacked = np.stack([numbers(c, n) for c, n in named], axis=1)
            with np.errstate(over="ignore"):
                held = stacked.astype(self._array.dtype)
            for i, j in np.argwhere(np.isfinite(stacked) & np.isinf(held))[:1].tolist():
                raise InputError(
                    f"column {self.names[j]!r} is {held.dtype} in the background, and cannot hold "
                    f"what came: {stacked[i, j]:g} is too large"
                )
            return self.wrap(held)
        out = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=object)
        for j, (column, name) in enumerate(named):
            out[:, j] = truths(column, name) if kind == "b" else column
            gaps = missing(out[:, j])
            out[gaps, j] = self.known.markers[j]
        gap = any(is_missing(v) for v in out.flat)
        return self.wrap(out if gap or kind == "O" else out.astype(bool if kind == "b" else kind))


@final
class SparseFrame(Frame):
    """A scipy sparse matrix or array. Rows are built dense, then compressed."""

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

    def _dense(self, array: NDArray[Any]) -> ArrayFrame:
        return ArrayFrame(array, self.names)

    def __len__(self) -> int:
        return int(self._matrix.shape[0])

    def wrap(self, native: Any) -> SparseFrame:
        return SparseFrame(native, self.names if self.named else None)

    def template(self) -> SparseFrame:
        return self.wrap(self._like((0, len(self.names)), dtype=self._matrix.dtype))

    def dtype(self, j: int) -> Any:
        return self._matrix.dtype

    def form(self, j: int) -> Any:
        return self._matrix.dtype, self._like

    def is_integer(self, j: int) -> bool:
        return bool(self._matrix.dtype.kind in "iu")

    def dtype_of(self, j: int) -> np.dtype[Any] | None:
        held: np.dtype[Any] = self._matrix.dtype
        return held

    def read(self, j: int) -> Values | None:
        return ArrayFrame(self._columns[:, [j]].toarray()).read(0)

    def objects(self, j: int) -> Objects:
        return ArrayFrame(self._columns[:, [j]].toarray()).objects(0)

    def select(self, columns: Sequence[int]) -> SparseFrame:
        chosen = self._like(self._columns[:, list(columns)])
        return SparseFrame(chosen, [self.names[j] for j in columns] if self.named else None)

    def write(self, index: NDArray[np.intp], columns: Mapping[int, Values]) -> SparseFrame:
        dense = self._dense(self._matrix.tocsr()[index].toarray())
        return self.wrap(self._like(dense.write(np.arange(len(index)), columns).native))

    def wider_dtype(self, j: int, value: Any) -> Hashable:
        return self._dense(np.empty((0, len(self.names)), self._matrix.dtype)).wider_dtype(j, value)

    def adopt(self, columns: Sequence[Objects]) -> SparseFrame:
        dense = self._dense(np.empty((0, len(self.names)), self._matrix.dtype))
        return self.wrap(self._like(dense.adopt(columns).native))


def to_numbers(objects: Objects, unit: ColumnUnit, name: Hashable) -> Array:
    """Objects as numbers of a unit, NaN where missing."""
    out = np.full(len(objects), np.nan)
    for i, value in enumerate(objects):
        if is_missing(value):
            continue
        try:
            out[i] = unit.number(value)
        except Exception:  # another package's object may raise anything
            what = unit.kind if unit.calendar is None else units.CALENDARS[unit.calendar]
            raise InputError(
                f"column {name!r} holds {what} in the background, but {short_repr(value)} came"
            ) from None
    return out
