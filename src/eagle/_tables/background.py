"""A summary of the data a model was fitted on: each column's distribution, without the rows."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from os import PathLike
from statistics import NormalDist
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables import saved as templates
from eagle._tables.column import LARGEST_INTEGER, Codes, encode, key, places
from eagle._tables.frame import Frame, frame
from eagle._tables.groups import GroupedFrame, Groups, check_groups, ending
from eagle._tables.units import CALENDARS, Calendar, ColumnUnit, days_text
from eagle._values.arrays import Array
from eagle._values.checks import elements
from eagle._values.text import finite, short_repr
from eagle.errors import InputError
from eagle.io import container
from eagle.io.container import Key
from eagle.io.values import Saved

STEPS = 1024
"""A coordinate of a point is one of this many equally likely steps, 0 to 1023."""

GRID = 32
"""Match probabilities are rounded to multiples of 1/32, so that many rows share one plan."""

MAX_COMBINATIONS = 256
"""A group of columns keeps at most this many combinations of their values."""

MAX_VALUES_PER_BIN = 64
"""A bin keeps at most this many of its values, evenly spaced by rank."""

MAX_FEW_VALUES = 4
"""A number column with at most this many distinct values, one repeated, has a bin for each."""

LEAST_STEP = 0.5
"""The least scale of integers in the continuous view: with less they would rarely move."""

MAX_SQUARED_SIZE = 1e140
"""Numbers of a size from 1/TAME to TAME are squared and summed without over- or underflow."""


NOT_IN_DATA: Final = "(not in the data)"
"""What a condition says of a value that the background lacks."""


def normal_steps() -> Array:
    """Normal quantiles at k/STEPS, scaled to mean square 1, shape (STEPS,). Step 0 is no move."""
    normal = NormalDist()
    steps = np.array([0.0] + [normal.inv_cdf(k / STEPS) for k in range(1, STEPS)])
    return np.asarray(steps / np.sqrt(np.mean(steps**2)))


NORMAL = normal_steps()


@final
@dataclass(frozen=True)
class Member:
    """A column of a group: its name as it is shown and, for days, how they are shown."""

    name: str
    calendar: Calendar | None = None


@final
@dataclass(frozen=True, eq=False)
class Column:
    """One column: its states, their shares of the background, and values in each state.

    A state of a number is a bin, a state of a category is a level. `edges` separate bins; a value
    on an edge is in the lower bin. The last state is "missing". `single` has the value of each bin
    that holds only one value, and NaN for other bins: an instance with another value is not in
    such a bin. A frozen column is never moved and has no states. `dtype` is set where numbers are
    stored in a dtype narrower than float64. `calendar` is set where numbers are days, and says how
    they are shown. A group of columns is a category whose levels are combinations: tuples of the
    values of its `members`. `chosen` says that the scale was given, and not taken from the data.
    """

    name: Hashable
    levels: tuple[Any, ...] | None = None
    integer: bool = False
    edges: Array = field(default_factory=lambda: np.empty(0))
    shares: Array = field(default_factory=lambda: np.empty(0))
    values: tuple[Array, ...] = ()
    single: Array = field(default_factory=lambda: np.empty(0))
    mean: float = float("nan")
    scale: float = float("nan")
    low: float = -np.inf
    high: float = np.inf
    dtype: str | None = None
    frozen: bool = False
    calendar: Calendar | None = None
    members: tuple[Member, ...] = ()
    chosen: bool = False

    def has_seen(self, state: int) -> bool:
        """Whether the background has values in this state."""
        return state < len(self.values) and len(self.values[state]) > 0

    def lacks(self, state: int) -> bool:
        """Whether no row of the background is in this state. Of groups with so many combinations
        that only some are kept, nothing is said."""
        if self.members and len(self.levels or ()) >= MAX_COMBINATIONS:
            return False
        return not self.has_seen(state) or self.shares[state] == 0

    @cached_property
    def _moves(self) -> dict[tuple[int, int], Array]:
        return {}

    def moves(self, state: int, kept: int) -> Array:
        """The value at each step for an instance in `state`, shape (STEPS,).

        Steps below `kept` draw from the instance's own state, the others from all other
        states. Steps below `kept` are NaN if the background has not `seen` the state: the caller
        puts the instance's own value there.
        """
        key = (state, kept)
        if key not in self._moves:
            values = np.concatenate(self.values)
            if self.levels is None:
                sizes = tuple(map(len, self.values))
                table = values.take(_spread(sizes, tuple(self.shares.tolist()), state, kept))
                if not self.has_seen(state):
                    table[:kept] = np.nan
            else:  # levels: many states of one value each
                table = np.full(STEPS, values[state] if self.has_seen(state) else np.nan)
                if kept < STEPS:
                    shares = self.shares.copy()
                    shares[state : state + 1] = 0.0
                    ends = np.rint(np.cumsum(shares) / shares.sum() * (STEPS - kept))
                    table[kept:] = values.repeat(np.diff(ends.astype(np.intp), prepend=0))
            self._moves[key] = table
        return self._moves[key]

    @property
    def switches(self) -> bool:
        """Whether this is a number of exactly two values."""
        return len(self.single) == 2 and not np.isnan(self.single).any()

    @cached_property
    def offsets(self) -> Array:
        """The standardised offset at each step of an unbounded number, shape (STEPS,)."""
        if not self.scale > 0:
            return np.zeros(STEPS)
        if not self.integer:
            return NORMAL
        # Integers stay integers; rounding halves up commutes with adding an integer.
        return np.floor(self.scale * NORMAL + 0.5) / self.scale

    def offsets_from(self, value: float) -> Array:
        """As `offsets`, but from this value, within bounds and rounded to the dtype.

        A number that `switches` keeps its value at half of the steps.
        """
        if not self.scale > 0:
            return np.zeros(STEPS)
        if self.switches:
            others = self.single[self.single != value]
            moved = np.repeat([value, *others], [STEPS // 2, *_even(STEPS // 2, len(others))])
        else:
            with np.errstate(over="ignore"):  # infinite values are clipped below
                moved = value + self.scale * NORMAL
            if self.integer:
                moved = np.floor(moved + 0.5)
            moved = self._round_to_dtype(self._clip(moved))
        offsets = self.standardise(moved, value)
        offsets[0] = 0.0
        return offsets

    def standardise(self, values: Array, origin: float) -> Array:
        """How far values are from an origin, in units of the scale."""
        half = 0.5 if self.scale > 1 else 1.0  # so that no difference overflows
        return np.asarray((half * values - half * origin) / (half * self.scale))

    def move(self, value: float, offsets: Array) -> Array:
        """The values at these offsets from a value, within bounds and rounded to the dtype."""
        if not self.scale > 0:
            return np.full(len(offsets), value)
        if self.switches:
            near = np.abs(self.standardise(self.single[:, None], value) - offsets)
            return np.where(offsets == 0, value, self.single[near.argmin(axis=0)])
        with np.errstate(over="ignore"):
            moved = value + self.scale * offsets
        return self._round_to_dtype(self._clip(np.rint(moved) if self.integer else moved))

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the largest value that bounds and the dtype allow."""
        most = float(np.finfo(self.dtype or np.float64).max)
        return max(self.low, -most), min(self.high, most)

    def _clip(self, values: Array) -> Array:
        return np.clip(values, *whole_limits(*self.limits, self.integer))

    def _round_to_dtype(self, values: Array) -> Array:
        """Numbers rounded to the column's dtype."""
        return values if self.dtype is None else values.astype(self.dtype).astype(np.float64)

    def value(self, number: float, levels: Sequence[Any]) -> Any:
        """What a number, or a code of `levels`, stands for; None where missing."""
        if number != number:
            return None
        if self.levels is not None:
            return levels[int(number)]
        if self.calendar is not None:
            return days_text(number, self.calendar)
        return int(number) if self.integer and number.is_integer() else number

    def describe(self, label: str, state: int, value: Any, binned: bool) -> str:
        """The instance's state as text: «28 < age ≤ 37», «flag = 0», «sex = female»."""
        if value is None:
            return f"{label} is missing"
        if self.members:
            return self.describe_combination(label, value)
        if self.names_values(state, binned):
            return f"{label} = {_text(value)}"
        edges = self._edge_texts
        if state == 0:
            return f"{label} ≤ {edges[0]}"
        if state == len(edges):
            return f"{label} > {edges[-1]}"
        return f"{edges[state - 1]} < {label} ≤ {edges[state]}"

    @cached_property
    def _edge_texts(self) -> tuple[str, ...]:
        return tuple(map(self.text, self.edges))

    def names_values(self, state: int, binned: bool) -> bool:
        """Whether the text of a state names the value itself, not the bin that it is in."""
        if not binned or self.levels is not None or not self._edge_texts:
            return True
        return state >= len(self.shares) or state in self._alone

    @cached_property
    def _alone(self) -> frozenset[int]:
        """The bins that hold only one value."""
        return frozenset(np.flatnonzero(~np.isnan(self.single)).tolist())

    def describe_slope(self, label: str) -> str:
        """The unit of a slope as text: «per +1 SD (8.2) of age», or «per +0.5 of flag» where the
        scale is no standard deviation."""
        size = _text(float(f"{self.scale:.4g}")) + (" days" if self.calendar is not None else "")
        deviation = not (
            self.switches or self.chosen or (self.integer and self.scale == LEAST_STEP)
        )
        return f"per +1 SD ({size}) of {label}" if deviation else f"per +{size} of {label}"

    def combination(self, level: tuple[Any, ...]) -> str:
        """A combination of a group as text: «red», or «lat = 51.5, lon = 0»."""
        place = self._hot(level)
        if place is None:
            parts = zip(self.members, level, strict=True)
            return _cut(", ".join(f"{m.name} {_member_text(m, v)}" for m, v in parts))
        if place < 0:
            return "none"
        names = [member.name for member in self.members]
        return ending(names[place], str(self.name), names)

    def describe_combination(self, label: str, level: tuple[Any, ...]) -> str:
        """A combination as a condition: «colour = red», or «lat = 51.5, lon = 0»."""
        text = self.combination(level)
        return text if self._hot(level) is None else f"{label} = {text}"

    def _hot(self, level: tuple[Any, ...]) -> int | None:
        """Which member of a one-hot block is 1, -1 if none is; None for other combinations."""
        if not self._one_hot or len(level) < 2 or not _is_one_hot(level):
            return None
        return next((k for k, v in enumerate(level) if v), -1)

    @cached_property
    def _one_hot(self) -> bool:
        return bool(self.members) and all(map(_is_one_hot, self.levels or ()))

    def text(self, number: float) -> str:
        """A number of this column as text.

        Where values are whole days, an edge between two days is rounded down: each value stays on
        its side of the edge.
        """
        if self.calendar is None:
            return _text(number)
        return days_text(np.floor(number) if self.integer else number, self.calendar)

    def __getstate__(self) -> dict[str, Any]:
        """The state without cached tables, which are made again when needed."""
        cached = ("_moves", "offsets", "_one_hot", "_edge_texts", "_alone")
        return {k: v for k, v in self.__dict__.items() if k not in cached}


def whole_limits(low: Any, high: Any, integer: Any) -> tuple[Any, Any]:
    """The least and the largest value between bounds, of numbers that may have to be integers."""
    return np.where(integer, np.ceil(low), low), np.where(integer, np.floor(high), high)


@lru_cache(maxsize=256)
def _places(size: int, n: int) -> NDArray[np.intp]:
    """n of `size` places, in order and evenly spaced."""
    return ((2 * np.arange(n) + 1) * size) // (2 * n)


@lru_cache(maxsize=256)
def _spread(
    sizes: tuple[int, ...], shares: tuple[float, ...], state: int, kept: int
) -> NDArray[np.intp]:
    """The place of each step's value in the values of all states, one after another.

    `sizes` is the number of values of each state. Steps below `kept` are spread over the state's
    own values, the others over all other states by their frequencies. The result is cached, since
    most number columns are alike: quartile bins of `MAX_VALUES_PER_BIN` values each.
    """
    first = [0, *accumulate(sizes)]
    places = np.zeros(STEPS, dtype=np.intp)
    if state < len(sizes) and sizes[state]:
        places[:kept] = first[state] + _places(sizes[state], kept)
    if kept < STEPS:
        upto = list(accumulate(0.0 if i == state else s for i, s in enumerate(shares)))
        ends = (kept + round(share / upto[-1] * (STEPS - kept)) for share in upto)
        for start, size, (a, b) in zip(first, sizes, pairwise([kept, *ends]), strict=False):
            if a < b:
                places[a:b] = start + _places(size, b - a)
    places.flags.writeable = False
    return places


def _is_one_hot(level: tuple[Any, ...]) -> bool:
    """Whether all values are 0 but at most one, which is 1."""
    flags = all(isinstance(v, bool | int | float) and v in (0, 1) for v in level)
    return flags and sum(level) <= 1


def _member_text(member: Member, value: Any) -> str:
    if value is None:
        return "is missing"
    if member.calendar is not None:
        return f"= {days_text(value, member.calendar)}"
    return f"= {_text(value)}"


def _cut(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _text(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.6g}"


@lru_cache(maxsize=256)
def _chances(shares: tuple[float, ...]) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    frequency, even = [], []
    total = sum(shares)
    for share in [*shares, 0.0]:  # the last is for a level that is not in the background
        stuck = total - share <= 1e-12
        kept = min(max(round(GRID * share), 1), GRID - 1) * (STEPS // GRID)
        frequency.append(STEPS if stuck else kept)
        even.append(STEPS if stuck else STEPS // 2)
    return np.array(frequency, dtype=np.uint16), np.array(even, dtype=np.uint16)


def _even(n: int, parts: int) -> list[int]:
    """n divided into integer parts that differ by at most 1."""
    return [n * (k + 1) // parts - n * k // parts for k in range(parts)]


def _quartiles(ordered: Array) -> Array:
    """The distinct quartiles of ordered values, by linear interpolation as numpy's default.

    The largest value is always above the last edge. Where many values tie with the largest, edges
    are lowered to the next smaller value. So a column that varies has at least two bins.
    """
    if not len(ordered) or ordered.item(0) == ordered.item(-1):
        return np.empty(0)
    edges, last, most = set(), len(ordered) - 1, ordered.item(-1)
    for share in (0.25, 0.5, 0.75):
        place = share * last
        low, high = ordered.item(int(place)), ordered.item(min(int(place) + 1, last))
        part = place - int(place)
        far = high - low == np.inf
        edges.add(low * (1 - part) + high * part if far else low + (high - low) * part)
    if max(edges) >= most:
        before = ordered.item(int(ordered.searchsorted(most)) - 1)
        edges = {min(edge, before) for edge in edges}
    return np.array(sorted(edges), dtype=np.float64)


def _few(ordered: Array) -> Array | None:
    """The distinct values of sorted numbers if at most `MAX_FEW_VALUES`, one of them repeated; else
    None."""
    distinct: list[float] = []
    place = 0
    while place < len(ordered):
        if len(distinct) == MAX_FEW_VALUES:
            return None
        distinct.append(ordered.item(place))
        place = int(ordered.searchsorted(distinct[-1], "right"))
    return np.array(distinct) if len(distinct) < len(ordered) else None


def _single(ordered: Array, cuts: tuple[int, ...]) -> Array:
    """The value of each bin that holds one value, at least twice; NaN for other bins.

    Bins lie between successive `cuts`, which are places in the sorted values.
    """
    bins = [
        (ordered.item(a), ordered.item(b - 1)) if b - a > 1 else (0.0, 1.0)
        for a, b in pairwise(cuts)
    ]
    return np.array([low if low == high else np.nan for low, high in bins])


def unit_of(size: float) -> float:
    """A power of two to divide numbers up to `size` by, so that they can be squared and summed."""
    tame = not size or 1 / MAX_SQUARED_SIZE < size < MAX_SQUARED_SIZE
    return 1.0 if tame else math.ldexp(1.0, math.frexp(size)[1] - 1)


def _moments(present: Array, size: float) -> tuple[float, float]:
    """Mean and standard deviation of numbers whose absolute values are at most `size`."""
    unit = unit_of(size)
    values = present if unit == 1 else present / unit
    mean = float(np.add.reduce(values)) / len(values)
    apart = values - mean
    scale = unit * math.sqrt(float(apart @ apart) / len(values))
    return unit * mean, scale


def _number(
    name: Hashable,
    values: Array,
    integer: bool,
    bounds: tuple[float, float],
    dtype: str | None,
    calendar: Calendar | None = None,
) -> Column:
    low, high = bounds
    present = np.sort(values)
    n = len(present)
    if n and present[-1] != present[-1]:  # NaN is sorted last
        n = int(present.searchsorted(np.nan))
        present = present[:n]
    missing = len(values) - n
    least, most = (present.item(0), present.item(-1)) if n else (0.0, 0.0)
    size = max(abs(least), abs(most))
    if size == np.inf:
        raise InputError(
            f"column {name!r} holds an infinite value: replace it, or name the column in fixed"
        )
    if integer and size > LARGEST_INTEGER:
        raise InputError(
            f"column {name!r} holds integers beyond 2^53, as identifiers often are: "
            "name it in fixed, or among the categories"
        )
    if low > high:
        raise InputError(f"the bounds of column {name!r} are the wrong way round")
    inside = present
    if least < low or most > high:
        inside = present[present.searchsorted(low, "left") : present.searchsorted(high, "right")]
    few = _few(inside)
    edges = _quartiles(inside) if few is None else few[:-1]
    cuts = (0, *inside.searchsorted(edges, "right").tolist(), len(inside))
    single = _single(inside, cuts) if few is None else few
    counts = np.array([b - a for a, b in pairwise(cuts)] + [missing], dtype=np.float64)
    places, ends = _thin_bins(cuts)
    kept = inside.take(places)
    mean, scale = _moments(present, size) if n else (float("nan"), float("nan"))
    if least == most and n:
        scale = 0.0  # not the rounding error of the mean
    elif scale > 0 and few is not None and len(few) == 2:
        scale = few.item(1) / 2 - few.item(0) / 2  # the two values are two scales apart
    elif scale > 0 and integer:
        scale = max(scale, LEAST_STEP)
    return Column(
        name,
        integer=integer,
        edges=edges,
        shares=counts / max(len(inside) + missing, 1.0),
        values=(*(kept[a:b] for a, b in pairwise(ends)), np.array([np.nan])),
        single=single,
        mean=mean,
        scale=scale,
        low=low,
        high=high,
        dtype=dtype,
        calendar=calendar,
    )


@lru_cache(maxsize=256)
def _thin_bins(cuts: tuple[int, ...]) -> tuple[NDArray[np.intp], tuple[int, ...]]:
    """The places of the values that bins keep, and the cuts between bins after thinning.

    Each bin is thinned out evenly to at most `MAX_VALUES_PER_BIN` values.
    """
    places = [a + _places(b - a, min(b - a, MAX_VALUES_PER_BIN)) for a, b in pairwise(cuts)]
    return np.concatenate(places), (0, *accumulate(map(len, places)))


def _thin(codes: Codes) -> Codes:
    """The combination of each row of a group. If more than `MAX_COMBINATIONS`, of as many rows
    only.

    Rows are sorted by combination and taken evenly, so that frequent combinations stay frequent.
    """
    if len(codes.levels) <= MAX_COMBINATIONS:
        return codes
    rows = np.sort(codes.codes)[_places(len(codes.codes), MAX_COMBINATIONS)]
    kept, again = np.unique(rows, return_inverse=True)
    return Codes(again.astype(np.intp), tuple(codes.levels[i] for i in kept.tolist()))


def _category(name: Hashable, codes: Codes) -> Column:
    counts = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.levels))
    counts = np.append(counts, np.sum(codes.codes < 0)).astype(float)
    values = tuple(np.array([float(i)]) for i in range(len(codes.levels)))
    return Column(
        name,
        levels=codes.levels,
        shares=counts / max(counts.sum(), 1.0),
        values=(*values, np.array([np.nan])),
    )


@final
@dataclass(frozen=True, eq=False)
class Background(Saved):
    """A summary of the data a model works on, column by column. The rows are not kept.

    Examples:
        >>> background = eagle.Background.of(X)  # background.save(path) ships it without the rows
        >>> eagle.Explainer(model, background).explain(X[0]).top(1)
        ['x1']

    It holds the distribution of each column by itself, and builds tables of the same kind, names,
    order and dtypes. `rows` is the number of rows summarised; it is 0 if there was only one
    instance with given scales. Where columns are grouped, a column here is a whole group, and the
    template builds tables of all columns.
    """

    columns: tuple[Column, ...]
    template: Frame
    rows: int

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        names: Sequence[Hashable] | None = None,
        categories: Collection[Hashable] = (),
        fixed: Collection[Hashable] = (),
        bounds: Mapping[Any, tuple[Any, Any]] | None = None,
        scales: Mapping[Any, float | timedelta] | None = None,
        groups: Groups | None = None,
    ) -> Background:
        """Summarise a table: an array, a sparse matrix, a pandas, polars or pyarrow table.

        `categories` names number columns that are levels. `fixed` names columns that are never
        moved. `bounds` gives (low, high) of numbers, None for no bound. `scales` gives the step of
        a number in the continuous view, in place of its standard deviation. Dates are numbers of
        days: their bounds are dates, and their scale is a timedelta or a number of days.
        `groups` names columns that move together and are one feature, such as one-hot blocks:
        {"colour": ["colour_red", "colour_blue"]}.
        """
        table = frame(data, names)
        together = {} if groups is None else check_groups(groups, table)
        if together:
            table = GroupedFrame(table, together)
        if not len(table):
            raise InputError("the background has no rows")
        categories, fixed = names_of(categories, "categories"), names_of(fixed, "fixed")
        units = {n: table.unit(j) for j, n in enumerate(table.names)}
        limits = {
            n: _bounds(n, pair, units.get(n)) for n, pair in by_name(bounds, "bounds").items()
        }
        steps = {
            n: _scale(n, scale, units.get(n)) for n, scale in by_name(scales, "scales").items()
        }
        for what, asked in (
            ("categories", categories),
            ("fixed", fixed),
            ("bounds", limits),
            ("scales", steps),
        ):
            for name in asked:
                if name not in table.names:
                    where = "in a group" if name in table.raw.names else "not there"
                    raise InputError(f"{what} names the column {name!r}, which is {where}")
        columns = []
        for j, name in enumerate(table.names):
            if name in fixed:
                columns.append(Column(name, frozen=True))
                continue
            values = table.read(j)
            if values is None:
                raise InputError(
                    f"column {name!r} ({table.dtype(j)}) holds neither numbers nor levels: "
                    "turn it into one of them, or name it in fixed, and it is passed on as it is"
                )
            integer = table.is_integer(j)
            if name in categories and not isinstance(values, Codes):
                values = encode(table.objects(j), name)
            if isinstance(values, Codes):
                if name in limits or name in steps:
                    raise InputError(f"column {name!r} is a category: it has no bounds or scale")
                parts = members(table, j)
                column = _category(name, _thin(values) if parts else values)
                columns.append(replace(column, members=parts))
                continue
            low, high = limits.get(name, (-np.inf, np.inf))
            least, most = table.limits(j)
            inside = max(low, least), min(high, most)
            unit = units[name]
            calendar = None if unit is None else unit.calendar
            if unit is not None:
                integer = unit.integral(values)
            column = _number(name, values, integer, inside, table.narrow(j), calendar)
            if name in steps:
                column = replace(column, scale=steps[name], chosen=True)
            columns.append(column)
        if all(c.frozen for c in columns):
            raise InputError("every column is frozen: there is nothing left to explain with")
        return cls(tuple(columns), table.template(), len(table))

    @classmethod
    def around(
        cls,
        x: Any,
        scales: Mapping[Any, float | timedelta] | Sequence[float] | float,
        *,
        names: Sequence[Hashable] | None = None,
        fixed: Collection[Hashable] = (),
        bounds: Mapping[Any, tuple[Any, Any]] | None = None,
    ) -> Background:
        """A background without data: rows like x, whose numbers move by the given scales.

        A column without a scale, or with a scale of 0, does not move. Only the continuous view can
        be used, and categories cannot move, since no other levels are known.
        """
        table = frame(x, names)
        numeric = [n for j, n in enumerate(table.names) if not isinstance(table.read(j), Codes)]
        if isinstance(scales, Mapping):
            given = dict(scales)
        elif isinstance(scales, str) or not np.iterable(scales):
            given = {name: _scale(name, scales, None) for name in numeric}
        else:
            listed = list(scales)
            if len(listed) != len(table.names):
                raise InputError(f"{len(listed)} scales do not fit {len(table.names)} columns")
            given = dict(zip(table.names, listed, strict=True))
        unchanged = [n for n in table.names if n not in given or n in names_of(fixed, "fixed")]
        summary = cls.of(
            table,
            fixed=unchanged,
            bounds=bounds,
            scales={n: given[n] for n in given if n not in unchanged},
        )
        for column in summary.columns:
            if column.integer and 0 < column.scale < 0.5:
                raise InputError(
                    f"column {column.name!r} holds integers, which a scale of "
                    f"{column.scale:g} never moves: give it as a float, or a larger scale"
                )
        columns = tuple(replace(c, mean=float("nan")) for c in summary.columns)
        return replace(summary, columns=columns, rows=0)

    def with_template(self, template: Frame) -> Background:
        """The same background with the columns, and the kind of table, of another template."""
        grouped = self.template.like(template)
        columns = tuple(self.columns[self.names.index(n)] for n in grouped.names)
        return replace(self, columns=columns, template=grouped)

    def __repr__(self) -> str:
        return f"<Background of {self.rows} rows and {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        from eagle.display import lines

        frozen = [c.name for c in self.columns if c.frozen]
        levels = sum(c.levels is not None for c in self.columns)
        facts = [
            f"Columns: {_some(self.names)}",
            f"Kinds: {len(self.columns) - levels} of numbers, {levels} of levels",
            *([f"Never moved: {_some(frozen)}"] if frozen else []),
            "A summary, column by column: the rows are not kept",
        ]
        return lines.html(repr(self)[1:-1], facts)

    @property
    def names(self) -> list[Hashable]:
        return [c.name for c in self.columns]

    @cached_property
    def moved_columns(self) -> list[int]:
        """The columns that are not frozen: the features of an explanation."""
        return [j for j, c in enumerate(self.columns) if not c.frozen]

    @cached_property
    def features(self) -> list[Column]:
        """The columns that are moved."""
        return [self.columns[j] for j in self.moved_columns]

    @cached_property
    def is_coded(self) -> tuple[bool, ...]:
        """Which features are levels."""
        return tuple(column.levels is not None for column in self.features)

    def read(self, rows: Frame) -> tuple[Array, dict[int, tuple[Any, ...]]]:
        """The moved columns of rows as numbers and codes, shape (n, d), and the levels of codes.

        Levels that are not in the background get codes after those that are.
        """
        out = np.empty((len(rows), len(self.moved_columns)))
        numeric = np.flatnonzero(~np.array(self.is_coded, dtype=bool)).tolist()
        out[:, numeric] = rows.numbers([self.moved_columns[k] for k in numeric])
        levels: dict[int, tuple[Any, ...]] = {}
        for k, j in enumerate(self.moved_columns):
            column = self.columns[j]
            if column.levels is None:
                continue
            values = rows.read(j)
            if not isinstance(values, Codes):
                values = encode(rows.objects(j), column.name, column.levels)
            index, every = places(column.levels), list(column.levels)
            for level in values.levels:
                if index.setdefault(key(level), len(every)) == len(every):
                    every.append(level)
            levels[j] = tuple(every)
            lookup = np.array([index[key(level)] for level in values.levels] + [np.nan])
            out[:, k] = lookup[values.codes]
        if np.isinf(out).any():
            k = int(np.isinf(out).any(axis=0).argmax())
            raise InputError(
                f"column {self.columns[self.moved_columns[k]].name!r} of x is infinite"
            )
        return out, levels

    @cached_property
    def _edges(self) -> Array:
        """The bin edges of the moved columns, shape (d, most edges), padded with infinity."""
        most = max([len(column.edges) for column in self.features], default=0)
        out = np.full((len(self.features), most), np.inf)
        for k, column in enumerate(self.features):
            out[k, : len(column.edges)] = column.edges
        return out

    @cached_property
    def _bounds(self) -> tuple[Array, Array]:
        """The least and the largest value of the moved columns, both of shape (d,)."""
        return np.array([c.low for c in self.features]), np.array([c.high for c in self.features])

    @cached_property
    def _missing(self) -> NDArray[np.intp]:
        """The state that is "missing" of each moved column, shape (d,)."""
        return np.array([len(column.shares) - 1 for column in self.features], dtype=np.intp)

    @cached_property
    def _singles(self) -> list[tuple[int, Array]]:
        """The moved columns that have bins of one value, and these values."""
        every = enumerate(column.single for column in self.features)
        return [(k, single) for k, single in every if not np.isnan(single).all()]

    @cached_property
    def _chances(self) -> tuple[NDArray[np.intp], NDArray[np.uint16], NDArray[np.uint16]]:
        """The number of steps that keep each state, in two views, one column after another.

        First comes the place of each moved column's first state. The binned view keeps a state by
        its frequency, the continuous view in half of the steps.

        A rare state is kept with probability at least 1/32, since otherwise no score could be
        estimated. If there is no other state, all steps keep it.
        """
        each = [_chances(tuple(column.shares.tolist())) for column in self.features]
        frequency, even = (np.concatenate(one) for one in zip(*each, strict=True))
        first = [0, *accumulate(len(one) for one, _ in each[:-1])]
        return np.array(first, dtype=np.intp), frequency, even

    def check_bounds(self, values: Array) -> None:
        """Refuse values outside the bounds of their columns."""
        least, most = self._bounds
        outside = (values < least) | (values > most)
        if not outside.any():
            return
        k = int(outside.any(axis=0).argmax())
        column, value = self.features[k], values[outside[:, k], k][0]
        value, low, high = (
            f"{v:g}" if column.calendar is None or np.isinf(v) else column.text(v)
            for v in (value, column.low, column.high)
        )
        raise InputError(f"x has {column.name} = {value}, outside its bounds from {low} to {high}")

    def states(self, values: Array) -> NDArray[np.intp]:
        """The state of each value, shape (n, d). Unknown levels are one beyond the last state."""
        out = (self._edges < values[:, :, None]).sum(axis=2)
        missing = self._missing
        for k, single in self._singles:
            only = single[out[:, k]]
            out[(only == only) & (only != values[:, k]), k] = missing[k] + 1
        for k in np.flatnonzero(self.is_coded).tolist():
            code = np.where(np.isnan(values[:, k]), 0.0, values[:, k])
            out[:, k] = np.where(code < missing[k], code, missing[k] + 1)
        return np.where(np.isnan(values), missing, out).astype(np.intp)

    def steps_kept(self, states: NDArray[np.intp], even: bool) -> NDArray[np.uint16]:
        """How many of the steps keep each state, shape (n, d)."""
        first, *chances = self._chances
        return np.asarray(chances[even].take(first + states))

    def moves(
        self, states: NDArray[np.intp], kept: NDArray[np.uint16], own: Array
    ) -> list[Array | None]:
        """The value at each step of each feature of one row, shape (STEPS,); None for an offset.

        Rows in the same states share these arrays. They are the row's `own` values at the steps
        that keep a state without values in the background.
        """
        out: list[Array | None] = []
        row = zip(self.features, states.tolist(), kept.tolist(), own.tolist(), strict=True)
        for column, state, steps, value in row:
            table = column.moves(state, steps) if steps else None
            if table is not None and not column.has_seen(state):
                table = table.copy()
                table[:steps] = value
            out.append(table)
        return out

    @cached_property
    def _numeric(self) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        """Scale, limits and whether they are integers, of the moved columns, each of shape (d,)."""
        low, high = np.array([column.limits for column in self.features]).T
        scale = np.array([column.scale for column in self.features])
        return scale, low, high, np.array([column.integer for column in self.features])

    def bends(self, values: Array) -> NDArray[np.bool_]:
        """Which numbers have offsets that differ from the plain ones of their column, shape (n, d).

        Bounds or rounding change them, or the column `switches`.
        """
        scale, low, high, integer = self._numeric
        slack = np.where(integer, 0.5, 0.0)
        with np.errstate(all="ignore"):
            least, most = values + scale * NORMAL[1], values + scale * NORMAL[-1]
            out = (least - slack < low) | (most + slack > high)
            out |= integer & (values != np.floor(values))
            for k, column in enumerate(self.features):
                if column.switches:
                    out[:, k] = True
                elif column.dtype is not None and not column.integer:
                    reach = np.maximum(np.abs(least[:, k]), np.abs(most[:, k]))
                    coarse = np.spacing(reach.astype(column.dtype)).astype(np.float64)
                    out[:, k] |= coarse > 1e-3 * column.scale
        return np.asarray(out & (scale > 0))

    def values_at(self, own: Array, which: Sequence[int], offsets: Array) -> Array:
        """The values of features `which` at offsets from a row's own, both (which, STEPS)."""
        scale, low, high, integer = (one[which, None] for one in self._numeric)
        with np.errstate(over="ignore"):
            out = own[which, None] + scale * offsets
        out = np.clip(np.where(integer, np.rint(out), out), *whole_limits(low, high, integer))
        for at, column in enumerate(self.features[k] for k in which):
            if column.switches or column.dtype is not None or not column.scale > 0:
                out[at] = column.move(own[which[at]], offsets[at])
        return out

    def cells(self, numbers: Array, levels: Mapping[int, Sequence[Any]]) -> list[Any]:
        """What the numbers and codes of one row stand for, None where missing."""
        row = zip(self.features, self.moved_columns, numbers.tolist(), strict=True)
        return [column.value(number, levels.get(j, ())) for column, j, number in row]

    def condition(self, k: int, label: str, state: int, value: Any, binned: bool) -> str:
        """The state of feature k as text. A value that the background lacks is said to be new."""
        column = self.features[k]
        text = column.describe(label, state, value, binned)
        return f"{text} {NOT_IN_DATA}" if self.rows and column.lacks(state) else text

    def conditions(
        self, labels: Sequence[str], states: NDArray[np.intp], cells: Sequence[Any], binned: bool
    ) -> tuple[str, ...]:
        """The states of all features of one row as text."""
        row = enumerate(zip(labels, states.tolist(), cells, strict=True))
        return tuple(self.condition(k, *one, binned) for k, one in row)

    def adopt(self, x: Any) -> Frame:
        """Rows of any kind as rows of this kind: same columns, order and, if they fit, dtypes."""
        rows, template = frame(x).raw, self.template.raw
        if rows.named and template.named:
            missing = [n for n in template.names if n not in rows.names]
            if missing:
                raise InputError(
                    f"x lacks the column{'s' if len(missing) > 1 else ''} "
                    f"{', '.join(repr(n) for n in missing)} of the background"
                )
            if rows.names != template.names:
                rows = rows.select([rows.names.index(n) for n in template.names])
        elif rows.named and (order := _by_place(rows.names)) is not None:
            rows = rows.select(order)
        if len(rows.names) != len(template.names):
            raise InputError(
                f"x has {len(rows.names)} columns, but the background has {len(template.names)}"
            )
        if template.conforms(rows):
            return self.template.like(template.wrap(rows.native))
        adopted = template.adopt([rows.objects(j) for j in range(len(rows.names))])
        return self.template.like(adopted)

    def to_dict(self, *, key: Key = None) -> dict[str, Any]:
        """What `save` writes, as plain data."""
        return container.dump("background", self, key=key)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, key: Key = None) -> Background:
        """The background that `to_dict` wrote."""
        made: Background = container.value_in(data, CLASSES, key, "background")
        return made

    def save(self, path: str | PathLike[str], *, key: Key = None) -> None:
        """Write the summary as JSON under a digest, or an HMAC with a `key`: no rows, no code.

        One that would be read back differently is refused.
        """
        templates.check_kept(self.template.raw)
        container.write(path, self.to_dict(key=key))

    @classmethod
    def load(cls, path: str | PathLike[str], *, key: Key = None) -> Background:
        """Read what `save` wrote. Nothing in the file is ever run."""
        made: Background = container.load(path, CLASSES, key, "background")
        return made

    def to_saved(self) -> dict[str, Any]:
        """What a file keeps: the columns, the dtypes of their table, and the places of groups."""
        for column in self.columns:
            _check_levels(column)
        template, groups = self.template, {}
        if isinstance(template, GroupedFrame):
            for name, some in template.groups.items():
                groups[name] = tuple(template.raw.names.index(member) for member in some)
        return {
            "columns": self.columns,
            "template": templates.to_saved(template.raw),
            "groups": groups,
            "rows": self.rows,
        }

    @classmethod
    def of_saved(
        cls,
        columns: tuple[Column, ...],
        template: Mapping[str, Any],
        groups: Mapping[Hashable, tuple[int, ...]],
        rows: int,
    ) -> Background:
        """What `to_saved` gave."""
        width = len(columns) + sum(len(some) - 1 for some in groups.values())
        if width != template.get("width", len(template["names"] or ())):
            raise ValueError("its columns do not fit its table")
        raw = templates.of_saved(template)
        if groups:
            named = {name: [raw.names[p] for p in some] for name, some in groups.items()}
            raw = GroupedFrame(raw, check_groups(named, raw))
        if len(raw.names) != len(columns):
            raise ValueError("its columns do not fit its table")
        return cls(columns, raw, rows)


CLASSES: Final[dict[str, type]] = {kind.__name__: kind for kind in (Background, Column, Member)}
"""What a background's file may name."""


def _check_levels(column: Column) -> None:
    """Refuse levels that no file can hold."""
    for level in column.levels or ():
        own = [v for v in level if v is not None] if column.members else [level]
        templates.plain_levels(own, column.name)


def members(table: Frame, j: int) -> tuple[Member, ...]:
    """The columns of a group; none for a column by itself."""
    if not isinstance(table, GroupedFrame) or not table.is_group(j):
        return ()
    places, raw = table.places(j), table.raw
    units = [raw.unit(p) for p in places]
    return tuple(
        Member(f"{'' if raw.named else 'x'}{raw.names[p]}", None if unit is None else unit.calendar)
        for p, unit in zip(places, units, strict=True)
    )


def _by_place(names: Sequence[Hashable]) -> list[int] | None:
    """The order of columns named 0, 1, … or x0, x1, …; None if they have other names."""
    for expected in (range(len(names)), [f"x{i}" for i in range(len(names))]):
        if set(names) == set(expected):
            return [list(names).index(n) for n in expected]
    return None


def by_name(given: Any, what: str) -> dict[Any, Any]:
    """Settings of columns as a dictionary by column name."""
    try:
        return {} if given is None else dict(given)
    except (TypeError, ValueError):
        raise InputError(
            f"{what} are given by column name, in a dictionary, not as {short_repr(given)}"
        ) from None


def _scale(name: Hashable, scale: Any, unit: ColumnUnit | None) -> float:
    if isinstance(scale, timedelta) and unit is not None and unit.calendar is not None:
        scale = scale / timedelta(days=1)
    if finite(scale) and scale >= 0:
        return float(scale)
    raise InputError(f"the scale of column {name!r} must be zero or more, not {short_repr(scale)}")


def _bounds(name: Hashable, pair: Any, unit: ColumnUnit | None) -> tuple[float, float]:
    calendar = None if unit is None else unit.calendar
    number = float if unit is None or calendar is None else unit.number
    try:
        low, high = pair
        limits = -np.inf if low is None else number(low), np.inf if high is None else number(high)
    except (TypeError, ValueError, OverflowError):
        limits = np.nan, np.nan
    if np.isnan(limits).any():
        what = "numbers" if calendar is None else CALENDARS[calendar]
        raise InputError(
            f"the bounds of column {name!r} are a pair of {what}, None for open, not "
            f"{short_repr(pair)}"
        )
    return limits


def names_of(names: Any, what: str) -> list[Hashable]:
    if names is None:
        return []
    listed = elements(names, what)
    if not all(isinstance(name, Hashable) for name in listed):
        raise InputError(f"{what} takes a list of column names, not {short_repr(names)}")
    return listed


def _some(names: Sequence[Hashable]) -> str:
    """The first ten names, and how many more there are."""
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(map(str, names[:10])) + more
