"""Backgrounds in files: what was written is read, and what no background can be is refused."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from os import PathLike
from typing import Any, Final

import numpy as np

from eagle.files import sealed, templates
from eagle.files.sealed import (
    FAULTS,
    Format,
    flag,
    listed,
    mapping,
    null,
    number,
    number_or,
    text,
    whole,
    why,
)
from eagle.table.background import KEPT, STEPS, Background, Column
from eagle.table.column import LARGEST_WHOLE, Codes, key
from eagle.table.frame import Frame
from eagle.types import Array, InputError, MissingExtraError

FORMAT: Final = Format("eagle background", oldest=1, schema=2, sealed_since=2)

WIDEST: Final = 1 << 20
"""A table has at most so many columns."""

ROUNDING: Final = 1e-9
"""Shares sum to 1 but for so much."""


def to_dict(background: Background) -> dict[str, Any]:
    """Plain data, and their checksum."""
    return FORMAT.seal(
        {
            "rows": background.rows,
            "template": templates.to_dict(background.template),
            "columns": [_column_to_dict(c) for c in background.columns],
        }
    )


def from_dict(data: Any, name: str = "this") -> Background:
    """The background that `to_dict` wrote; `name` is what a sentence calls it."""
    try:
        return _read(data)
    except MissingExtraError:
        raise
    except FAULTS as error:
        raise _unfit(name, error) from None


def save(background: Background, path: str | PathLike[str]) -> None:
    """Write a background as JSON, if it can be read back alike."""
    data = to_dict(background)
    try:
        width = len(background.template.names)
        same = templates.from_dict(data["template"], width).conforms(background.template)
    except Exception:  # pandas raises whatever it likes of dtypes it cannot name
        same = False
    if not same:
        raise InputError(
            "this table has a dtype that cannot be written to a file and read back alike: "
            "turn it into a plain one"
        )
    sealed.write(path, json.dumps(data, allow_nan=False))


def load(path: str | PathLike[str]) -> Background:
    """Read what `save` wrote. Nothing in the file is ever run."""
    try:
        data = sealed.parse(sealed.load(path))
    except FAULTS as error:
        raise _unfit(str(path), error) from None
    return from_dict(data, str(path))


def _unfit(name: str, error: Exception) -> InputError:
    return InputError(f"{name} is not a background saved by this version of eagle: {why(error)}")


def _read(data: Any) -> Background:
    columns = listed(FORMAT.opened(data)["columns"])
    if not 0 < len(columns) <= WIDEST:
        raise ValueError(f"it has {len(columns)} columns")
    template = templates.from_dict(data["template"], len(columns))
    found = []
    for j, (name, column) in enumerate(zip(template.names, columns, strict=True)):
        try:
            found.append(_column_from_dict(name, mapping(column)))
            _check_fit(found[-1], template, j)
        except FAULTS as error:
            raise ValueError(f"of column {name!r}, {why(error)}") from None
    if all(column.frozen for column in found):
        raise ValueError("every column is frozen")
    return Background(tuple(found), template, whole(data["rows"]))


# -- one column ---------------------------------------------------------------------------------


def _column_to_dict(column: Column) -> dict[str, Any]:
    return {
        "levels": None
        if column.levels is None
        else templates.plain_levels(column.levels, column.name),
        "integer": column.integer,
        "edges": column.edges.tolist(),
        "shares": column.shares.tolist(),
        "values": [[null(x) for x in v.tolist()] for v in column.values],
        "single": [null(x) for x in column.single.tolist()],
        "mean": null(column.mean),
        "scale": null(column.scale),
        "low": null(column.low),
        "high": null(column.high),
        "dtype": column.dtype,
        "frozen": column.frozen,
    }


def _column_from_dict(name: Hashable, data: Mapping[str, Any]) -> Column:
    levels = data["levels"]
    column = Column(
        name,
        levels=None if levels is None else tuple(templates.levels(levels)),
        integer=flag(data["integer"]),
        edges=_numbers(data["edges"]),
        shares=_numbers(data["shares"]),
        values=_values(data["values"]),
        single=np.array([number_or(x, np.nan) for x in listed(data.get("single", []))]),
        mean=number_or(data["mean"], np.nan),
        scale=number_or(data["scale"], np.nan),
        low=number_or(data["low"], -np.inf),
        high=number_or(data["high"], np.inf),
        dtype=None if data["dtype"] is None else _narrow(data["dtype"]),
        frozen=flag(data["frozen"]),
    )
    if column.frozen:
        _check_bare(column)
    else:
        _check_states(column)
        (_check_number if levels is None else _check_category)(column)
    return column


def _numbers(data: Any) -> Array:
    return np.array([number(x) for x in listed(data)], dtype=np.float64)


def _values(data: Any) -> tuple[Array, ...]:
    """The values of each state; of the last, "missing", it is the one that is no number."""
    states = listed(data)
    if not states:
        return ()
    if states[-1] != [None]:
        raise ValueError("the last state is not the missing one")
    return (*(_numbers(state) for state in states[:-1]), np.array([np.nan]))


def _narrow(value: Any) -> str:
    """A dtype of numbers that are held with fewer digits than a float has."""
    dtype = templates.numpy_dtype(value)
    if dtype.kind != "f" or dtype.itemsize >= 8:
        raise ValueError(f"{text(value)!r} is no dtype of numbers with few digits")
    return dtype.str


def _check_bare(column: Column) -> None:
    """A column that never moves has nothing to move by."""
    nothing = (column.levels, column.integer, column.dtype) == (None, False, None)
    empty = not (len(column.edges) or len(column.shares) or column.values or len(column.single))
    numbers = np.isnan([column.mean, column.scale]).all() and np.isinf([column.low, column.high])
    if not (nothing and empty and np.all(numbers)):
        raise ValueError("it is frozen, and yet has states")


def _check_states(column: Column) -> None:
    """As many shares as states; they are not negative, sum to 1, and stand for values."""
    shares, sizes = column.shares, [len(v) for v in column.values]
    if not sizes or len(shares) != len(sizes):
        raise ValueError("the shares do not fit the values")
    if (shares < 0).any() or (shares.any() and abs(shares.sum() - 1) > ROUNDING):
        raise ValueError("the shares are negative, or do not sum to 1")
    if any(share > 0 and not size for share, size in zip(shares, sizes, strict=True)):
        raise ValueError("a state has a share, but no values")


def _check_number(column: Column) -> None:
    """Bins part the values in order, and the values are such as the column can hold."""
    edges, bins = column.edges, column.values[:-1]
    if len(bins) != len(edges) + 1 or len(bins) > STEPS:
        raise ValueError("the edges do not fit the bins")
    if (np.diff(edges) <= 0).any():
        raise ValueError("the edges do not increase")
    if any(len(values) > KEPT for values in bins):
        raise ValueError("a bin has too many values")
    ends = [-np.inf, *edges.tolist(), np.inf]
    for low, high, values in zip(ends, ends[1:], bins, strict=False):
        if (np.diff(values) < 0).any() or (values <= low).any() or (values > high).any():
            raise ValueError("the values of a bin are not in order, or lie outside it")
    if len(column.single) not in (0, len(bins)):
        raise ValueError("the bins of one value do not fit the bins")
    for one, values in zip(column.single, bins, strict=False):
        if one == one and not (len(values) and (values == one).all()):
            raise ValueError("a bin of one value has others")
    if column.low > column.high or column.scale < 0:
        raise ValueError("the bounds are the wrong way round, or the scale is negative")
    every = np.concatenate(bins)
    if (every < column.low).any() or (every > column.high).any():
        raise ValueError("a value lies outside the bounds")
    if column.integer and ((every != np.rint(every)) | (np.abs(every) > LARGEST_WHOLE)).any():
        raise ValueError("its numbers are not whole")
    if column.dtype is not None:
        with np.errstate(over="ignore"):
            held = every.astype(column.dtype).astype(np.float64)
        if column.integer or not np.array_equal(held, every):
            raise ValueError(f"its dtype {column.dtype} does not hold its values")


def _check_category(column: Column) -> None:
    """A level is a state, its place its value; and a category has no numbers."""
    levels = column.levels or ()
    if len({key(level) for level in levels}) < len(levels):
        raise ValueError("two levels are the same")
    if [v.tolist() for v in column.values[:-1]] != [[float(i)] for i in range(len(levels))]:
        raise ValueError("the values do not fit the levels")
    numbers = len(column.edges), len(column.single), column.integer, column.dtype
    open_ended = (column.low, column.high) == (-np.inf, np.inf)
    if not (
        numbers == (0, 0, False, None)
        and open_ended
        and np.isnan(column.mean)
        and np.isnan(column.scale)
    ):
        raise ValueError("it is a category, and yet has edges, bounds or a scale")


def _check_fit(column: Column, template: Frame, j: int) -> None:
    """The table can hold what the column moves to."""
    if column.frozen:
        return
    held = template.read(j)
    if held is None:
        raise ValueError("its dtype holds neither numbers nor levels")
    if column.shares[-1] > 0 and template.misfit(j, None) is not None:
        raise ValueError("values are missing where its dtype cannot say so")
    if column.levels is not None:
        _check_levels(column.levels, held, template, j)
        return
    stored = template.stored(j)
    numeric = stored is not None and stored.kind in "fiuO"
    if isinstance(held, Codes) and not numeric:
        raise ValueError("its dtype holds levels, not numbers")
    least, most = template.limits(j)
    if (template.is_integer(j) and not column.integer) or column.low < least or column.high > most:
        raise ValueError("its dtype does not hold its numbers")


def _check_levels(levels: tuple[Any, ...], held: Any, template: Frame, j: int) -> None:
    if isinstance(held, Codes) and held.levels:  # a dtype that knows its levels
        if [key(level) for level in levels] != [key(level) for level in held.levels]:
            raise ValueError("its levels are not those of its dtype")
        return
    if template.stored(j) == np.dtype(object):  # which holds anything
        return
    wanted = str if isinstance(held, Codes) else int | float
    for level in levels:
        fits = isinstance(level, wanted) and not isinstance(level, bool)
        if not fits or template.misfit(j, level) is not None:
            raise ValueError("its dtype does not hold its levels")
        if wanted is not str:
            number(level)
