"""Tables that are arrays: numpy's and scipy's sparse ones."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from eagle.table.column import (
    Codes,
    Objects,
    Values,
    all_whole,
    exact,
    hole,
    is_missing,
    missing,
    numbers,
    read_objects,
    truths,
    written,
)
from eagle.table.frame import Frame, holds
from eagle.types import Array


@final
class ArrayFrame(Frame):
    """A numpy array of two dimensions: one dtype for all columns, or objects.

    `holes` are how columns of objects say "nothing". An array of numbers or objects that knows
    more than its dtype says which columns are `whole` numbers, and which are `flags`.
    """

    def __init__(
        self,
        array: NDArray[Any],
        names: Sequence[Hashable] | None = None,
        holes: Sequence[Any] | None = None,
        whole: Collection[int] = (),
        flags: Collection[int] = (),
    ) -> None:
        width = array.shape[1]
        self._array, self.named = array, names is not None
        self.names = list(names) if names is not None else list(range(width))
        if holes is None and array.dtype == object:
            holes = [hole(array[:, j]) for j in range(width)]
            whole = [j for j in range(width) if all_whole(array[:, j])]
        self.holes = [np.nan] * width if holes is None else list(holes)
        self.whole, self.flags = frozenset(whole), frozenset(flags)

    @property
    def native(self) -> NDArray[Any]:
        return self._array

    def __len__(self) -> int:
        return len(self._array)

    def wrap(self, native: NDArray[Any]) -> ArrayFrame:
        if self._array.dtype.kind in "US":  # never narrower than what it is like
            native = native.astype(np.result_type(native.dtype, self._array.dtype), copy=False)
        names = self.names if self.named else None
        return ArrayFrame(native, names, self.holes, self.whole, self.flags)

    def template(self) -> ArrayFrame:
        return self.wrap(self._array[:0].copy())

    def dtype(self, j: int) -> Any:
        return self._array.dtype

    def form(self, j: int) -> Any:
        kind = self._array.dtype
        return kind.kind if kind.kind in "US" else kind  # the length of text does not matter

    def is_integer(self, j: int) -> bool:
        return self._array.dtype.kind in "iu" or j in self.whole

    def stored(self, j: int) -> np.dtype[Any] | None:
        return self._array.dtype

    def read(self, j: int) -> Values | None:
        column = self._array[:, j]
        kind = column.dtype.kind
        if kind == "b" or (j in self.flags and np.isin(column, (0, 1)).all()):
            return Codes(column.astype(np.intp), (False, True))
        if kind in "fiu":
            return column.astype(np.float64)
        return read_objects(self.objects(j), self.names[j]) if kind in "OUS" else None

    def objects(self, j: int) -> Objects:
        column = self._array[:, j].astype(object)
        column[missing(column)] = None
        return column

    def select(self, columns: Sequence[int]) -> ArrayFrame:
        names = [self.names[j] for j in columns] if self.named else None
        place = {j: k for k, j in enumerate(columns)}
        return ArrayFrame(
            self._array[:, list(columns)],
            names,
            [self.holes[j] for j in columns],
            [place[j] for j in self.whole if j in place],
            [place[j] for j in self.flags if j in place],
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
        if kind in "US":  # what is written may be longer than what was there
            out = out.astype(object)
        for j, values in columns.items():
            if kind in "OUS" or isinstance(values, Codes):
                out[:, j] = written(values, j in self.whole, self.holes[j])
            else:
                out[:, j] = np.rint(values) if kind in "iu" else values
        return self.wrap(out.astype(kind) if kind in "US" else out)

    def misfit(self, j: int, value: Any) -> Hashable:
        kind = self._array.dtype.kind
        if is_missing(value):
            return "a hole" if kind in "iubUS" else None
        if kind in "iu":
            fits = holds(self._array.dtype, exact(value, self.names[j]))
            return None if fits else "a float"
        return None

    def adopt(self, columns: Sequence[Objects]) -> ArrayFrame:
        kind, named = self._array.dtype.kind, list(zip(columns, self.names, strict=True))
        if kind in "iu":
            fits = all(self.misfit(j, v) is None for j, c in enumerate(columns) for v in c)
            if fits:  # by way of Python's own numbers, which keep every digit
                exact = [np.array([int(v) for v in c], self._array.dtype) for c in columns]
                return self.wrap(np.stack(exact, axis=1))
            return self.wrap(np.stack([numbers(c, n) for c, n in named], axis=1))
        if kind == "f":
            stacked = np.stack([numbers(c, n) for c, n in named], axis=1)
            return self.wrap(stacked.astype(self._array.dtype))
        out = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=object)
        for j, (column, name) in enumerate(named):
            out[:, j] = truths(column, name) if kind == "b" else column
            gaps = missing(out[:, j])
            out[gaps, j] = self.holes[j]
        gap = any(is_missing(v) for v in out.flat)
        return self.wrap(out if gap or kind == "O" else out.astype(bool if kind == "b" else kind))


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

    def stored(self, j: int) -> np.dtype[Any] | None:
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

    def misfit(self, j: int, value: Any) -> Hashable:
        return self._dense(np.empty((0, len(self.names)), self._matrix.dtype)).misfit(j, value)

    def adopt(self, columns: Sequence[Objects]) -> SparseFrame:
        dense = self._dense(np.empty((0, len(self.names)), self._matrix.dtype))
        return self.wrap(self._like(dense.adopt(columns).native))
