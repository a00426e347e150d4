"""Backgrounds in files. Content that no background can have is refused."""

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
    read_integer,
    text,
    why,
)
from eagle.table.background import KEPT, STEPS, Background, Column, Member, members
from eagle.table.column import LARGEST_INTEGER, Codes, key
from eagle.table.frame import Frame
from eagle.table.groups import GroupedFrame, checked_groups
from eagle.table.units import CALENDARS, Calendar
from eagle.types import Array, InputError, MissingExtraError

FORMAT: Final = Format("eagle background", oldest=1, schema=2, sealed_since=2)

WIDEST: Final = 1 << 20
"""The largest number of columns of a table."""

ROUNDING: Final = 1e-9
"""How much the sum of shares may differ from 1."""


def to_dict(background: Background) -> dict[str, Any]:
    """A background as plain data, with its checksum."""
    return FORMAT.seal(
        {
            "rows": background.rows,
            "template": templates.to_dict(background.template.raw),
            "columns": [_column_to_dict(c) for c in background.columns],
            **_groups_to_dict(background.template),
        }
    )


def _groups_to_dict(template: Frame) -> dict[str, Any]:
    """The groups of columns by their places; nothing where there are none."""
    if not isinstance(template, GroupedFrame):
        return {}
    names, raw = templates.plain_names(list(template.groups)), template.raw.names
    parts = zip(names, template.groups.values(), strict=True)
    return {"groups": [[name, [raw.index(m) for m in some]] for name, some in parts]}


def from_dict(data: Any, name: str = "this") -> Background:
    """The background that `to_dict` wrote; `name` stands for it in error sentences."""
    try:
        return _read(data)
    except MissingExtraError:
        raise
    except FAULTS as error:
        raise _unfit(name, error) from None


def save(background: Background, path: str | PathLike[str]) -> None:
    """Write a background as JSON; one that would be read back differently is refused."""
    data = to_dict(background)
    try:
        raw = background.template.raw
        same = templates.from_dict(data["template"], len(raw.names)).conforms(raw)
    except Exception:  # pandas may raise anything for dtypes without a name
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
    template = _template(data, len(columns))
    read = []
    for j, (name, column) in enumerate(zip(template.names, columns, strict=True)):
        try:
            read.append(_column_from_dict(name, mapping(column), members(template, j)))
            _check_fit(read[-1], template, j)
        except FAULTS as error:
            raise ValueError(f"of column {name!r}, {why(error)}") from None
    if all(column.frozen for column in read):
        raise ValueError("every column is frozen")
    return Background(tuple(read), template, read_integer(data["rows"]))


def _template(data: Mapping[str, Any], width: int) -> Frame:
    """The empty table of `width` features, with its groups of columns if it has any."""
    groups = [listed(pair, 2) for pair in listed(data.get("groups", []))]
    places = [[read_integer(p) for p in listed(some)] for _, some in groups]
    every = width + sum(len(some) - 1 for some in places)
    if not 0 < every <= WIDEST:
        raise ValueError(f"it has {every} columns")
    raw = templates.from_dict(data["template"], every)
    if not groups:
        return raw
    names = templates.read_names([name for name, _ in groups], len(groups))
    if any(p >= every for some in places for p in some):
        raise ValueError("a group has a column that is not there")
    named = {n: [raw.names[p] for p in some] for n, some in zip(names, places, strict=True)}
    return GroupedFrame(raw, checked_groups(named, raw))


# -- one column ---------------------------------------------------------------------------------


def _column_to_dict(column: Column) -> dict[str, Any]:
    return {
        "levels": None
        if column.levels is None
        else _combinations(column)
        if column.members
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
        **({} if column.calendar is None else {"calendar": column.calendar}),
    }


def _combinations(column: Column) -> list[list[Any]]:
    """The combinations of a group as JSON can hold them."""
    levels = column.levels or ()
    for level in levels:
        templates.plain_levels([v for v in level if v is not None], column.name)
    return [list(level) for level in levels]


def _read_levels(data: Any, group: tuple[Member, ...]) -> tuple[Any, ...]:
    """Levels as they were written; those of a group are tuples of its columns' values."""
    if not group:
        return tuple(templates.levels(data))
    combinations = [listed(level, len(group)) for level in listed(data)]
    templates.levels([v for level in combinations for v in level if v is not None])
    return tuple(map(tuple, combinations))


def _column_from_dict(name: Hashable, data: Mapping[str, Any], group: tuple[Member, ...]) -> Column:
    levels, calendar = data["levels"], data.get("calendar")
    column = Column(
        name,
        levels=None if levels is None else _read_levels(levels, group),
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
        calendar=None if calendar is None else _calendar(calendar),
        members=() if flag(data["frozen"]) else group,
    )
    if column.frozen:
        _check_bare(column)
    else:
        _check_states(column)
        (_check_number if levels is None else _check_category)(column)
    return column


def _calendar(value: Any) -> Calendar:
    for known in CALENDARS:
        if value == known:
            return known
    raise ValueError("its calendar is not known")


def _numbers(data: Any) -> Array:
    return np.array([number(x) for x in listed(data)], dtype=np.float64)


def _values(data: Any) -> tuple[Array, ...]:
    """The values of each state. The last state is "missing" and has only NaN."""
    states = listed(data)
    if not states:
        return ()
    if states[-1] != [None]:
        raise ValueError("the last state is not the missing one")
    return (*(_numbers(state) for state in states[:-1]), np.array([np.nan]))


def _narrow(value: Any) -> str:
    """A float dtype narrower than float64."""
    dtype = templates.numpy_dtype(value)
    if dtype.kind != "f" or dtype.itemsize >= 8:
        raise ValueError(f"{text(value)!r} is no float dtype narrower than float64")
    return dtype.str


def _check_bare(column: Column) -> None:
    """Refuse a frozen column that has states, since it never moves."""
    nothing = (column.levels, column.integer, column.dtype) == (None, False, None)
    empty = not (len(column.edges) or len(column.shares) or column.values or len(column.single))
    numbers = np.isnan([column.mean, column.scale]).all() and np.isinf([column.low, column.high])
    if not (nothing and empty and np.all(numbers)) or column.calendar is not None:
        raise ValueError("it is frozen, and yet has states")


def _check_states(column: Column) -> None:
    """Refuse shares that do not fit the states, are negative, or do not sum to 1."""
    shares, sizes = column.shares, [len(v) for v in column.values]
    if not sizes or len(shares) != len(sizes):
        raise ValueError("the shares do not fit the values")
    if (shares < 0).any() or (shares.any() and abs(shares.sum() - 1) > ROUNDING):
        raise ValueError("the shares are negative, or do not sum to 1")
    if any(share > 0 and not size for share, size in zip(shares, sizes, strict=True)):
        raise ValueError("a state has a share, but no values")


def _check_number(column: Column) -> None:
    """Refuse bins that are not in order, and values that the column cannot hold."""
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
    if column.integer and ((every != np.rint(every)) | (np.abs(every) > LARGEST_INTEGER)).any():
        raise ValueError("its numbers are not integers")
    if column.dtype is not None:
        with np.errstate(over="ignore"):
            held = every.astype(column.dtype).astype(np.float64)
        if column.integer or not np.array_equal(held, every):
            raise ValueError(f"its dtype {column.dtype} does not hold its values")


def _check_category(column: Column) -> None:
    """Refuse levels that do not fit the states, and settings that only numbers have."""
    levels = column.levels or ()
    if len({key(level) for level in levels}) < len(levels):
        raise ValueError("two levels are the same")
    if [v.tolist() for v in column.values[:-1]] != [[float(i)] for i in range(len(levels))]:
        raise ValueError("the values do not fit the levels")
    numbers = len(column.edges), len(column.single), column.integer, column.dtype
    if column.calendar is not None:
        raise ValueError("it is a category, and yet its numbers are days")
    open_ended = (column.low, column.high) == (-np.inf, np.inf)
    if not (
        numbers == (0, 0, False, None)
        and open_ended
        and np.isnan(column.mean)
        and np.isnan(column.scale)
    ):
        raise ValueError("it is a category, and yet has edges, bounds or a scale")


def _check_fit(column: Column, template: Frame, j: int) -> None:
    """Refuse a column with values that the table's dtype cannot hold."""
    if column.frozen:
        return
    if column.members:
        _check_group(column, template, j)
        return
    held, unit = template.read(j), template.unit(j)
    if column.levels is None and column.calendar != (None if unit is None else unit.calendar):
        raise ValueError("its numbers are not those of its dtype")
    if held is None:
        raise ValueError("its dtype holds neither numbers nor levels")
    if column.shares[-1] > 0 and template.misfit(j, None) is not None:
        raise ValueError("values are missing where its dtype cannot say so")
    if column.levels is not None:
        _check_levels(column.levels, held, template, j)
        return
    stored = template.stored(j)
    numeric = unit is not None or (stored is not None and stored.kind in "fiuO")
    if isinstance(held, Codes) and not numeric:
        raise ValueError("its dtype holds levels, not numbers")
    least, most = template.limits(j)
    if (template.is_integer(j) and not column.integer) or column.low < least or column.high > most:
        raise ValueError("its dtype does not hold its numbers")


def _check_group(column: Column, template: Frame, j: int) -> None:
    """Refuse combinations that the dtypes of the group's columns cannot hold."""
    assert isinstance(template, GroupedFrame)
    if column.levels is None or column.shares[-1] > 0:
        raise ValueError("it is a group, and yet no category, or is missing")
    raw = template.raw
    for k, p in enumerate(template.places(j)):
        held, values = raw.read(p), [level[k] for level in column.levels]
        if held is None:
            raise ValueError("a dtype of its group holds neither numbers nor levels")
        present = [v for v in values if v is not None]
        if len(present) < len(values) and raw.misfit(p, None) is not None:
            raise ValueError("values are missing where a dtype cannot say so")
        if raw.unit(p) is not None or not isinstance(held, Codes):
            _check_members(present, raw, p)
        elif held.levels:
            known = {key(level) for level in held.levels}
            if any(key(v) not in known for v in present):
                raise ValueError("a combination has a level that is not of its dtype")
        elif present and raw.stored(p) != np.dtype(object):
            _check_levels(tuple(present), held, raw, p)


def _check_members(present: list[Any], raw: Frame, p: int) -> None:
    """Refuse values that are not numbers, or that column p cannot hold."""
    low, high = raw.limits(p)
    for value in present:
        if isinstance(value, bool) or not low <= number(value) <= high:
            raise ValueError("a combination has a number that its dtype does not hold")
        if raw.unit(p) is None and raw.misfit(p, value) is not None:
            raise ValueError("a combination has a number that its dtype does not hold")


def _check_levels(levels: tuple[Any, ...], held: Any, template: Frame, j: int) -> None:
    if isinstance(held, Codes) and held.levels:  # the dtype has levels of its own
        if [key(level) for level in levels] != [key(level) for level in held.levels]:
            raise ValueError("its levels are not those of its dtype")
        return
    if template.stored(j) == np.dtype(object):  # it holds anything
        return
    wanted = str if isinstance(held, Codes) else int | float
    for level in levels:
        fits = isinstance(level, wanted) and not isinstance(level, bool)
        if not fits or template.misfit(j, level) is not None:
            raise ValueError("its dtype does not hold its levels")
        if wanted is not str:
            number(level)
