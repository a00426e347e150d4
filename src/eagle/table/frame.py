"""A table of any kind, read and rebuilt exactly.

A model must be asked in the very form it was fitted on. A frame reads the columns of a table as
plain values, and builds new tables of the same kind, column names, order and dtypes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle.table.column import Codes, Objects, Values
from eagle.types import Array


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
    def wrap(self, native: Any) -> Frame:
        """Another native table of this very kind, with these names and dtypes."""

    @abstractmethod
    def template(self) -> Frame:
        """This table without its rows."""

    @abstractmethod
    def dtype(self, j: int) -> Any:
        """The native dtype of column j."""

    def form(self, j: int) -> Any:
        """The dtype of column j and whatever else a model could see: equal forms are alike."""
        return self.dtype(j)

    @abstractmethod
    def read(self, j: int) -> Values | None:
        """Column j as numbers or codes, or None where it is neither (dates, lists)."""

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

        A column whose dtype cannot hold a value (a level it does not know, a hole among whole
        numbers) gets a wider one; `misfit` tells.
        """

    @abstractmethod
    def misfit(self, j: int, value: Any) -> Hashable:
        """None if column j can hold the value; else what it would have to become for it."""

    def is_integer(self, j: int) -> bool:
        """Whether column j holds integers."""
        return False

    def stored(self, j: int) -> np.dtype[Any] | None:
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
        """The least and the largest integer that column j can hold."""
        dtype = self.stored(j)
        if dtype is None or dtype.kind not in "iu":
            return -np.inf, np.inf
        if dtype.itemsize > 4:
            return (0.0 if dtype.kind == "u" else -np.inf), np.inf
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
            and all(self.form(j) == other.form(j) for j in range(len(self.names)))
        )


def holds(dtype: np.dtype[Any], value: Any) -> bool:
    """Whether a dtype of integers can hold a number."""
    bounds = np.iinfo(dtype)
    return bool(float(value).is_integer() and bounds.min <= int(value) <= bounds.max)
