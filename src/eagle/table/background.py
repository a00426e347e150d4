"""What is known of the data a model was fitted on: a summary of each column, without the rows."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from os import PathLike
from statistics import NormalDist
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from eagle.table.column import LARGEST_WHOLE, Codes, encode, key, numbers
from eagle.table.frame import Frame
from eagle.table.read import frame
from eagle.types import Array, InputError, finite, told

STEPS = 1024
"""A coordinate of a point is one of this many equally likely steps, 0 to 1023."""

GRID = 32
"""Match probabilities are rounded to multiples of 1/32, so that many rows share one plan."""

KEPT = 64
"""A bin keeps at most this many of its values, evenly spaced by rank."""

FEW = 4
"""So many distinct values, if any repeats, are a bin each."""

LEAST_STEP = 0.5
"""The least scale of integers in the continuous view: below it they would hardly ever move."""

TAME = 1e140
"""Numbers up to this size, and down to its inverse, can be squared and summed as they are."""


def normal_steps() -> Array:
    """Standard normal quantiles, evenly spaced; step 0 stands for "no move" and is 0."""
    normal = NormalDist()
    steps = np.array([0.0] + [normal.inv_cdf(k / STEPS) for k in range(1, STEPS)])
    return np.asarray(steps / np.sqrt(np.mean(steps**2)))


NORMAL = normal_steps()


@final
@dataclass(frozen=True, eq=False)
class Column:
    """One column: its states with their shares of the background, and values in each state.

    A state of a number is a bin (`edges` part them; a value on an edge is in the lower one), a
    state of a category is a level. The last state is "missing". `single` has the value of a bin
    that holds no other, NaN for the others: an instance with another value is not in it. A frozen
    column is never moved and has no states. `dtype` is set where numbers are held in a dtype
    narrower than float64.
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

    def seen(self, state: int) -> bool:
        """Whether the background has values in this state."""
        return state < len(self.values) and len(self.values[state]) > 0

    @cached_property
    def _moves(self) -> dict[tuple[int, int], Array]:
        return {}

    def moves(self, state: int, kept: int) -> Array:
        """The value at each step for an instance in `state`, shape (STEPS,).

        Steps below `kept` draw from the instance's own state, the others from all other
        states. NaN stands where the background has not `seen` the state: there the
        instance's own value belongs.
        """
        key = (state, kept)
        if key not in self._moves:
            values = np.concatenate(self.values)
            if self.levels is None:
                sizes = tuple(map(len, self.values))
                table = values.take(_spread(sizes, tuple(self.shares.tolist()), state, kept))
                if not self.seen(state):
                    table[:kept] = np.nan
            else:  # many states of one value each
                table = np.full(STEPS, values[state] if self.seen(state) else np.nan)
                if kept < STEPS:
                    shares = self.shares.copy()
                    shares[state : state + 1] = 0.0
                    ends = np.rint(np.cumsum(shares) / shares.sum() * (STEPS - kept))
                    table[kept:] = values.repeat(np.diff(ends.astype(np.intp), prepend=0))
            self._moves[key] = table
        return self._moves[key]

    @property
    def switches(self) -> bool:
        """Whether a number has two values, and nothing between them."""
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
        """As `offsets`, but from this value, as far as bounds and the dtype let it go.

        A number that `switches` keeps its value at half of the steps.
        """
        if not self.scale > 0:
            return np.zeros(STEPS)
        if self.switches:
            others = self.single[self.single != value]
            moved = np.repeat([value, *others], [STEPS // 2, *_even(STEPS // 2, len(others))])
        else:
            with np.errstate(over="ignore"):  # beyond the largest number is clipped
                moved = value + self.scale * NORMAL
            if self.integer:
                moved = np.floor(moved + 0.5)
            moved = self._held(self._clipped(moved))
        offsets = self.standardised(moved, value)
        offsets[0] = 0.0
        return offsets

    def standardised(self, values: Array, origin: float) -> Array:
        """How far values are from an origin, in scales."""
        half = 0.5 if self.scale > 1 else 1.0  # so that no difference overflows
        return np.asarray((half * values - half * origin) / (half * self.scale))

    def bends(self, value: float) -> bool:
        """Whether the plain offsets do not hold from this value."""
        if not self.scale > 0:
            return False
        if self.switches:
            return True
        with np.errstate(over="ignore"):
            reach = value + self.scale * NORMAL[[1, -1]]
        slack = 0.5 if self.integer else 0.0
        low, high = self._limits
        if reach[0] - slack < low or reach[1] + slack > high:
            return True
        if self.integer:
            return not float(value).is_integer()
        if self.dtype is None:
            return False
        coarse = np.spacing(np.abs(reach).max().astype(self.dtype))
        return bool(float(coarse) > 1e-3 * self.scale)

    def moved(self, value: float, offsets: Array) -> Array:
        """The values at these offsets from a value, as the table holds them."""
        if not self.scale > 0:
            return np.full(len(offsets), value)
        if self.switches:
            near = np.abs(self.standardised(self.single[:, None], value) - offsets)
            return np.where(offsets == 0, value, self.single[near.argmin(axis=0)])
        with np.errstate(over="ignore"):
            moved = value + self.scale * offsets
        return self._held(self._clipped(np.rint(moved) if self.integer else moved))

    @property
    def _limits(self) -> tuple[float, float]:
        """The least and the largest value that bounds and the dtype allow."""
        most = float(np.finfo(self.dtype or np.float64).max)
        return max(self.low, -most), min(self.high, most)

    def _clipped(self, values: Array) -> Array:
        low, high = self._limits
        return np.clip(values, *((np.ceil(low), np.floor(high)) if self.integer else (low, high)))

    def _held(self, values: Array) -> Array:
        """Numbers as a column of this dtype holds them."""
        return values if self.dtype is None else values.astype(self.dtype).astype(np.float64)

    def describe(self, label: str, state: int, value: Any, binned: bool) -> str:
        """What an instance has here, in words: «28 < age ≤ 37», «flag = 0», «sex = female»."""
        if value is None:
            return f"{label} is missing"
        edges = self.edges
        alone = state >= len(self.shares) or (
            state < len(self.single) and not np.isnan(self.single[state])
        )
        if self.levels is not None or not binned or not len(edges) or alone:
            return f"{label} = {_text(value)}"
        if state == 0:
            return f"{label} ≤ {_text(edges[0])}"
        if state == len(edges):
            return f"{label} > {_text(edges[-1])}"
        return f"{_text(edges[state - 1])} < {label} ≤ {_text(edges[state])}"

    def __getstate__(self) -> dict[str, Any]:
        """Without the tables built so far: they are made again when needed."""
        return {k: v for k, v in self.__dict__.items() if k not in ("_moves", "offsets")}


@lru_cache(maxsize=256)
def _places(size: int, n: int) -> NDArray[np.intp]:
    """n places among so many, in order, each equally often."""
    return ((2 * np.arange(n) + 1) * size) // (2 * n)


@lru_cache(maxsize=256)
def _spread(
    sizes: tuple[int, ...], shares: tuple[float, ...], state: int, kept: int
) -> NDArray[np.intp]:
    """The place of each step's value among the values of all states, so many of each.

    Steps below `kept` spread over the state's own, the others over all other states by their
    frequencies. Most columns of numbers are alike in this: quarters, and as many values kept.
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


def _text(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.6g}"


@lru_cache(maxsize=256)
def _chances(shares: tuple[float, ...]) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    frequency, even = [], []
    total = sum(shares)
    for share in [*shares, 0.0]:  # the last: a level nobody has seen
        stuck = total - share <= 1e-12
        kept = min(max(round(GRID * share), 1), GRID - 1) * (STEPS // GRID)
        frequency.append(STEPS if stuck else kept)
        even.append(STEPS if stuck else STEPS // 2)
    return np.array(frequency, dtype=np.uint16), np.array(even, dtype=np.uint16)


def _even(n: int, parts: int) -> list[int]:
    """n in so many parts, as even as can be."""
    return [n * (k + 1) // parts - n * k // parts for k in range(parts)]


def _quartiles(ordered: Array) -> Array:
    """The distinct quartiles of ordered values, by linear interpolation as numpy's default.

    The largest value always has a bin above the last edge: where many values tie with it, that
    edge moves down to the value before it. So a column that varies has two bins or more.
    """
    if not len(ordered) or ordered.item(0) == ordered.item(-1):
        return np.empty(0)
    found, last, most = set(), len(ordered) - 1, ordered.item(-1)
    for share in (0.25, 0.5, 0.75):
        place = share * last
        low, high = ordered.item(int(place)), ordered.item(min(int(place) + 1, last))
        part = place - int(place)
        far = high - low == np.inf
        found.add(low * (1 - part) + high * part if far else low + (high - low) * part)
    if max(found) >= most:
        before = ordered.item(int(ordered.searchsorted(most)) - 1)
        found = {min(edge, before) for edge in found}
    return np.array(sorted(found), dtype=np.float64)


def _few(ordered: Array) -> Array | None:
    """The distinct ones of ordered values, if they are few and any of them repeats."""
    distinct: list[float] = []
    place = 0
    while place < len(ordered):
        if len(distinct) == FEW:
            return None
        distinct.append(ordered.item(place))
        place = int(ordered.searchsorted(distinct[-1], "right"))
    return np.array(distinct) if len(distinct) < len(ordered) else None


def _single(ordered: Array, cuts: tuple[int, ...]) -> Array:
    """The value of each bin from cut to cut that holds it repeatedly and no other, else NaN."""
    bins = [
        (ordered.item(a), ordered.item(b - 1)) if b - a > 1 else (0.0, 1.0)
        for a, b in pairwise(cuts)
    ]
    return np.array([low if low == high else np.nan for low, high in bins])


def unit_of(size: float) -> float:
    """A power of two in whose unit numbers up to this size can be squared and summed."""
    tame = not size or 1 / TAME < size < TAME
    return 1.0 if tame else math.ldexp(1.0, math.frexp(size)[1] - 1)


def _moments(present: Array, size: float) -> tuple[float, float]:
    """Mean and standard deviation of numbers up to a size."""
    unit = unit_of(size)
    values = present if unit == 1 else present / unit
    mean = float(np.add.reduce(values)) / len(values)
    apart = values - mean
    scale = unit * math.sqrt(float(apart @ apart) / len(values))
    return unit * mean, scale


def _number(
    name: Hashable, values: Array, integer: bool, bounds: tuple[float, float], dtype: str | None
) -> Column:
    low, high = bounds
    present = np.sort(values)
    n = len(present)
    if n and present[-1] != present[-1]:  # NaN is last
        n = int(present.searchsorted(np.nan))
        present = present[:n]
    missing = len(values) - n
    least, most = (present.item(0), present.item(-1)) if n else (0.0, 0.0)
    size = max(abs(least), abs(most))
    if size == np.inf:
        raise InputError(
            f"column {name!r} holds an infinite value: replace it, or freeze the column"
        )
    if integer and size > LARGEST_WHOLE:
        raise InputError(
            f"column {name!r} holds integers beyond 2^53, as identifiers often are: "
            "freeze it, or name it among the categories"
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
    places, ends = _thinned(cuts)
    kept = inside.take(places)
    mean, scale = _moments(present, size) if n else (float("nan"), float("nan"))
    if least == most and n:
        scale = 0.0  # whatever rounding makes of its mean
    elif scale > 0 and few is not None and len(few) == 2:
        scale = few.item(1) / 2 - few.item(0) / 2  # a switch counts as two steps
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
    )


@lru_cache(maxsize=256)
def _thinned(cuts: tuple[int, ...]) -> tuple[NDArray[np.intp], tuple[int, ...]]:
    """Where the values kept of bins from cut to cut stand, and the cuts between these.

    Each bin is thinned out evenly to at most KEPT.
    """
    places = [a + _places(b - a, min(b - a, KEPT)) for a, b in pairwise(cuts)]
    return np.concatenate(places), (0, *accumulate(map(len, places)))


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
class Background:
    """A summary of the data a model works on, column by column. The rows are not kept.

    It knows how each column is distributed, alone, and how to build tables of the same kind,
    names, order and dtypes. `rows` is how many there were: 0 where there was only one instance
    and given scales.
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
        freeze: Collection[Hashable] = (),
        bounds: Mapping[Any, tuple[float | None, float | None]] | None = None,
        scales: Mapping[Any, float] | None = None,
    ) -> Background:
        """Summarise a table: an array, a sparse matrix, a pandas, polars or pyarrow table.

        `categories` names number columns that are really levels; `freeze` columns that are
        never moved; `bounds` gives (low, high) of numbers, None for open; `scales` the step
        of a number in the continuous view, where the standard deviation is not wanted.
        """
        table = frame(data, names)
        if not len(table):
            raise InputError("the background has no rows")
        categories, freeze = _listed(categories, "categories"), _listed(freeze, "freeze")
        limits = {n: _bounds(n, pair) for n, pair in _by_name(bounds, "bounds").items()}
        scales = {n: _scale(n, scale) for n, scale in _by_name(scales, "scales").items()}
        for what, asked in (
            ("categories", categories),
            ("freeze", freeze),
            ("bounds", limits),
            ("scales", scales),
        ):
            for name in asked:
                if name not in table.names:
                    raise InputError(f"{what} names the column {name!r}, which is not there")
        columns = []
        for j, name in enumerate(table.names):
            if name in freeze:
                columns.append(Column(name, frozen=True))
                continue
            values = table.read(j)
            if values is None:
                raise InputError(
                    f"column {name!r} ({table.dtype(j)}) holds neither numbers nor levels: "
                    "turn it into one of them, or freeze it, and it is passed on as it is"
                )
            integer = table.is_integer(j)
            if name in categories and not isinstance(values, Codes):
                values = encode(table.objects(j), name)
            if isinstance(values, Codes):
                if name in limits or name in scales:
                    raise InputError(f"column {name!r} is a category: it has no bounds or scale")
                columns.append(_category(name, values))
                continue
            low, high = limits.get(name, (-np.inf, np.inf))
            least, most = table.limits(j)
            inside = max(low, least), min(high, most)
            column = _number(name, values, integer, inside, table.narrow(j))
            if name in scales:
                column = replace(column, scale=scales[name])
            columns.append(column)
        if all(c.frozen for c in columns):
            raise InputError("every column is frozen: there is nothing left to explain with")
        return cls(tuple(columns), table.template(), len(table))

    @classmethod
    def around(
        cls,
        x: Any,
        scales: Mapping[Any, float] | Sequence[float] | float,
        *,
        names: Sequence[Hashable] | None = None,
        freeze: Collection[Hashable] = (),
        bounds: Mapping[Any, tuple[float | None, float | None]] | None = None,
    ) -> Background:
        """Without data: rows like x, whose numbers move by the given scales.

        A scale of 0 and a column without one hold the column still. Only the continuous view
        can be used, and levels cannot move, since no others are known.
        """
        table = frame(x, names)
        numeric = [n for j, n in enumerate(table.names) if not isinstance(table.read(j), Codes)]
        if isinstance(scales, Mapping):
            given = dict(scales)
        elif isinstance(scales, str) or not np.iterable(scales):
            given = {name: _scale(name, scales) for name in numeric}
        else:
            listed = list(scales)
            if len(listed) != len(table.names):
                raise InputError(f"{len(listed)} scales do not fit {len(table.names)} columns")
            given = dict(zip(table.names, listed, strict=True))
        still = [n for n in table.names if n not in given or n in _listed(freeze, "freeze")]
        found = cls.of(
            table,
            freeze=still,
            bounds=bounds,
            scales={n: given[n] for n in given if n not in still},
        )
        for column in found.columns:
            if column.integer and 0 < column.scale < 0.5:
                raise InputError(
                    f"column {column.name!r} holds integers, which a scale of "
                    f"{column.scale:g} never moves: give it as a float, or a larger scale"
                )
        columns = tuple(replace(c, mean=float("nan")) for c in found.columns)
        return replace(found, columns=columns, rows=0)

    def fitted(self, template: Frame) -> Background:
        """Of the columns of another template, which takes the place of this one's."""
        columns = tuple(self.columns[self.names.index(n)] for n in template.names)
        return replace(self, columns=columns, template=template)

    def __repr__(self) -> str:
        return f"<Background of {self.rows} rows and {len(self.columns)} columns>"

    @property
    def names(self) -> list[Hashable]:
        return [c.name for c in self.columns]

    @cached_property
    def moved(self) -> list[int]:
        """The columns that are not frozen: the features of an explanation."""
        return [j for j, c in enumerate(self.columns) if not c.frozen]

    def read(self, rows: Frame) -> tuple[Array, dict[int, tuple[Any, ...]]]:
        """The moved columns of rows as numbers and codes, shape (n, d), and the levels meant.

        Levels the background never saw get codes behind those it knows.
        """
        out = np.empty((len(rows), len(self.moved)))
        levels: dict[int, tuple[Any, ...]] = {}
        for k, j in enumerate(self.moved):
            column = self.columns[j]
            values = rows.read(j)
            if column.levels is None:
                out[:, k] = values if isinstance(values, np.ndarray) else _numbers(rows, j)
                continue
            if not isinstance(values, Codes):
                values = encode(rows.objects(j), column.name, column.levels)
            index = {key(level): i for i, level in enumerate(column.levels)}
            for level in values.levels:
                index.setdefault(key(level), len(index))
            levels[j] = tuple(level for _, level in index)
            lookup = np.array([index[key(level)] for level in values.levels] + [np.nan])
            out[:, k] = lookup[values.codes]
        if np.isinf(out).any():
            k = int(np.isinf(out).any(axis=0).argmax())
            raise InputError(f"column {self.columns[self.moved[k]].name!r} of x is infinite")
        return out, levels

    @cached_property
    def _edges(self) -> Array:
        """The bin edges of the moved columns, shape (d, most edges), filled up with infinity."""
        columns = [self.columns[j] for j in self.moved]
        out = np.full((len(columns), max([len(c.edges) for c in columns], default=0)), np.inf)
        for k, column in enumerate(columns):
            out[k, : len(column.edges)] = column.edges
        return out

    @cached_property
    def _singles(self) -> list[tuple[int, Array]]:
        """The moved columns that have bins of one value, and these values."""
        every = [(k, self.columns[j].single) for k, j in enumerate(self.moved)]
        return [(k, single) for k, single in every if not np.isnan(single).all()]

    @cached_property
    def _chances(self) -> list[tuple[NDArray[np.uint16], NDArray[np.uint16]]]:
        """For each moved column how many steps keep each state: by frequency, and evenly.

        A rare state keeps at least one chance in 32: else nothing could ever be learnt about
        it. A state without another to go to keeps all of them.
        """
        return [_chances(tuple(self.columns[j].shares.tolist())) for j in self.moved]

    def check_bounds(self, values: Array) -> None:
        """An instance beyond the bounds of its own columns is an error."""
        columns = [self.columns[j] for j in self.moved]
        outside = (values < [c.low for c in columns]) | (values > [c.high for c in columns])
        if not outside.any():
            return
        k = int(outside.any(axis=0).argmax())
        column, value = columns[k], values[outside[:, k], k][0]
        raise InputError(
            f"x has {column.name} = {value:g}, outside its bounds from "
            f"{column.low:g} to {column.high:g}"
        )

    def states(self, values: Array) -> NDArray[np.intp]:
        """The state of each value, shape (n, d); beyond the last are levels nobody has seen."""
        out = (self._edges < values[:, :, None]).sum(axis=2)
        missing = np.array([len(self.columns[j].shares) - 1 for j in self.moved])
        for k, single in self._singles:
            only = single[out[:, k]]
            out[(only == only) & (only != values[:, k]), k] = missing[k] + 1
        for k, j in enumerate(self.moved):
            if self.columns[j].levels is not None:
                code = np.where(np.isnan(values[:, k]), 0.0, values[:, k])
                out[:, k] = np.where(code < missing[k], code, missing[k] + 1)
        return np.where(np.isnan(values), missing, out).astype(np.intp)

    def kept(self, states: NDArray[np.intp], even: bool) -> NDArray[np.uint16]:
        """How many of the steps keep each state, shape (n, d)."""
        out = np.empty(states.shape, dtype=np.uint16)
        for k, chances in enumerate(self._chances):
            out[:, k] = chances[even][states[:, k]]
        return out

    def adopt(self, x: Any) -> Frame:
        """Rows of any kind as rows of this kind: same columns, order and, if they fit, dtypes."""
        rows, template = frame(x), self.template
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
            return template.wrap(rows.native)
        return template.adopt([rows.objects(j) for j in range(len(rows.names))])

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what `save` writes."""
        from eagle.files import backgrounds

        return backgrounds.to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Background:
        """The background that `to_dict` wrote."""
        from eagle.files import backgrounds

        return backgrounds.from_dict(data)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the summary as JSON, with a checksum: no rows, no code."""
        from eagle.files import backgrounds

        backgrounds.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Background:
        """Read what `save` wrote. Nothing in the file is ever run."""
        from eagle.files import backgrounds

        return backgrounds.load(path)


def _by_place(names: Sequence[Hashable]) -> list[int] | None:
    """Where columns named 0, 1, … or x0, x1, … stand, if that is how they are named."""
    for expected in (range(len(names)), [f"x{i}" for i in range(len(names))]):
        if set(names) == set(expected):
            return [list(names).index(n) for n in expected]
    return None


def _numbers(rows: Frame, j: int) -> Array:
    return numbers(rows.objects(j), rows.names[j])


def _by_name(given: Any, what: str) -> dict[Any, Any]:
    """What was given for columns, by their names."""
    try:
        return {} if given is None else dict(given)
    except (TypeError, ValueError):
        raise InputError(
            f"{what} are given by column name, in a dictionary, not as {told(given)}"
        ) from None


def _scale(name: Hashable, scale: Any) -> float:
    if finite(scale) and scale >= 0:
        return float(scale)
    raise InputError(f"the scale of column {name!r} must be zero or more, not {told(scale)}")


def _bounds(name: Hashable, pair: Any) -> tuple[float, float]:
    try:
        low, high = pair
        found = -np.inf if low is None else float(low), np.inf if high is None else float(high)
    except (TypeError, ValueError, OverflowError):
        found = np.nan, np.nan
    if np.isnan(found).any():
        raise InputError(
            f"the bounds of column {name!r} are a pair of numbers, None for open, not {told(pair)}"
        )
    return found


def _listed(names: Any, what: str) -> list[Hashable]:
    if names is None:
        return []
    if isinstance(names, str) or not isinstance(names, Collection):
        raise InputError(f"{what} takes a list of column names, not {told(names)}")
    return list(names)
