"""What explanations say of many rows, as plain data that stays small for any number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.means import Means
from eagle._values.posterior import LEVEL
from eagle._values.text import short
from eagle.display.numbers import Numbers, at_level, plural, row_value
from eagle.display.scale import Scale
from eagle.display.summary import numbers_of
from eagle.errors import InputError
from eagle.explanations import Explanations
from eagle.plot.many import FeatureValues, cell_of, stack_points, thin_cells
from eagle.plot.step_function import SAYS_STEPS, steps_of
from eagle.web.payload import axis, finite_or_none

MAX_SWARMS: Final = 12
"""Number of features with a swarm of points."""

SWARM_CELLS, MAX_STACK = 100, 10
"""Cells of a swarm from left to right, and the maximum number of points in each."""

MAX_POINTS: Final = 1500
"""Points of a dependence that are sent, about this many at most."""

MAX_PLACES, DATES = 12, 4
"""Number of levels, and of dates, that are named along an axis."""

NUMBER_GROUPS: Final = 4
"""Number of groups, of about the same size, into which a number is cut."""

MAX_LEVELS: Final = 8
"""Levels beyond the most frequent ones are one group, "others"."""


def overview(e: Explanations, rows: NDArray[np.intp], of: int, means: Means) -> dict[str, Any]:
    """Importance with intervals and swarms of points. `rows` are the numbers of the rows explained,
    among all `of` them."""
    order = means.order()
    swarms = [swarm(e, rows, int(j)) for j in order[:MAX_SWARMS]]
    return {
        "rows": len(e),
        "of": of,
        "importance": _importance_bars(e, means, order),
        "swarm": swarms,
        "axis": axis(Scale.over(e.scores[:, order[:MAX_SWARMS]].ravel())),
        "names": [short(name, 160) for name in e.names],
        "order": order.tolist(),
    }


def importance(e: Explanations) -> Means:
    """The mean size of each score; without intervals where the method has no errors."""
    if e.errors is not None:
        return e.importance()
    unknown = np.full(len(e.names), np.nan)
    return Means(e.names, np.abs(e.scores).mean(axis=0), unknown, unknown, LEVEL)


def bars(
    means: Means, order: NDArray[np.intp], labels: Sequence[str], signed: bool
) -> dict[str, Any]:
    """Numbers with intervals, as `chart.js` draws them."""
    seen = [float(v) for v in (*means.value, *means.low, *means.high)]
    written = numbers_of(means)
    write = written.signed if signed else written.plain
    return {
        "axis": axis(Scale.over(seen)),
        "level_text": at_level(means.level),
        "signed": signed,
        "bars": [
            {
                "key": str(j),
                "name": short(name, 160),
                "condition": short(label, 160),
                "value": "",
                "score": float(means.value[j]),
                "low": finite_or_none(means.low[j]),
                "high": finite_or_none(means.high[j]),
                "sure": None,
                "clear": not means.low[j] <= 0 <= means.high[j],
                "text": write(means.value[j]),
                "span": written.span(float(means.low[j]), float(means.high[j]), signed),
                "certain": "",
            }
            for j, (name, label) in enumerate(zip(means.names, labels, strict=True))
        ],
        "order": order.tolist(),
        "level": means.level,
    }


def _importance_bars(e: Explanations, means: Means, order: NDArray[np.intp]) -> dict[str, Any]:
    """Mean sizes of scores, with the part of each that is from rows where it pushes up."""
    drawn = bars(means, order, e.labels, signed=False)
    if e.table.signed:
        for bar, up in zip(drawn["bars"], np.maximum(e.scores, 0).mean(axis=0), strict=True):
            bar["up"] = float(up)
    return drawn


def swarm(e: Explanations, rows: NDArray[np.intp], j: int) -> dict[str, Any]:
    """The rows' scores of one feature: points that would overlap are stacked, some left out."""
    scores = e.scores[:, j]
    values = FeatureValues.of(e.data[:, j])
    rank = np.nan_to_num(values.rank, nan=-1.0)
    cells = cell_of(scores, SWARM_CELLS)
    shown = thin_cells(cells, rank, MAX_STACK)
    lift = stack_points(cells, shown, 1.0 / MAX_STACK, 1.0)
    doubtful = e.doubtful(LEVEL)[shown, j].astype(int).tolist()
    write = Numbers.of(scores).signed if e.table.signed else Numbers.of(scores).plain
    points = [
        [
            int(rows[i]),
            finite_or_none(e.scores[i, j]),
            round(float(up), 3),
            _rank(values, i),
            pale,
            write(e.scores[i, j]),
        ]
        for i, up, pale in zip(shown.tolist(), lift, doubtful, strict=True)
    ]
    return {"feature": j, "name": short(e.labels[j], 160), "points": points, "key": _key(values)}


def dependence(
    e: Explanations, rows: NDArray[np.intp], j: int, other: int | None
) -> dict[str, Any]:
    """The scores of one feature against its value, coloured by another feature's value."""
    for place in (j, other):
        if place is not None and place >= len(e.names):
            raise InputError(f"there is no feature number {place}")
    values = FeatureValues.of(e.data[:, j])
    tint = None if other is None else FeatureValues.of(e.data[:, other])
    keep = np.flatnonzero(~values.missing)
    if not len(keep):
        raise InputError("this feature is missing in all rows")
    x = values.numbers if values.levels is None else values.codes.astype(np.float64)
    if len(keep) > MAX_POINTS:
        grid = 60 * cell_of(x[keep], 60) + cell_of(e.scores[keep, j], 60)
        for most in (8, 4, 2, 1):
            few = thin_cells(grid, keep.astype(np.float64), most)
            if len(few) <= MAX_POINTS:
                break
        keep = keep[few]
    interval, steps = e.interval(LEVEL)[:, j], _steps(e, j, values)
    low, high = interval[keep].T
    written = Numbers.of([*e.scores[keep, j], *low, *high], low, high)
    write = written.signed if e.table.signed else written.plain
    return {
        "across": _places(values, x[keep]),
        "up": axis(Scale.over([*e.scores[keep, j], *low, *high])),
        "name": short(e.names[j], 160),
        "label": short(e.labels[j], 160),
        "other": None if other is None else short(e.names[other], 160),
        "steps": steps,
        "levels": None if values.levels is None else [short(v, 40) for v in values.levels],
        "key": None if tint is None else _key(tint),
        "notes": _dependence_notes(values, steps),
        "points": [
            [
                int(rows[i]),
                float(x[i]),
                float(e.scores[i, j]),
                finite_or_none(interval[i, 0]),
                finite_or_none(interval[i, 1]),
                None if tint is None else _rank(tint, i),
                write(e.scores[i, j]),
                row_value(e.data[i, j], 40),
            ]
            for i in keep.tolist()
        ],
    }


def _steps(e: Explanations, j: int, values: FeatureValues) -> list[list[float]]:
    """From edge to edge the score of each bin, where one score holds for a whole bin."""
    steps = None if values.levels is not None else steps_of(e, j, values.numbers)
    if steps is None:
        return []
    ends = zip(steps.edges[:-1], steps.edges[1:], steps.scores, strict=True)
    return [[float(a), float(b), float(score)] for a, b, score in ends]


def _ends(bar: dict[str, Any]) -> tuple[float | None, float | None]:
    return bar["low"], bar["high"]


def _dependence_notes(values: FeatureValues, steps: list[list[float]]) -> list[str]:
    """What is said below the points."""
    absent = int(values.missing.sum())
    notes = [f"{SAYS_STEPS}."] if steps else []
    return notes + ([f"Without a value, and not drawn: {plural(absent, 'row')}."] if absent else [])


def _places(values: FeatureValues, x: Array) -> list[list[Any]]:
    """What stands along the axis of values: levels, dates or round numbers."""
    if values.levels is not None:
        return [[k, short(level, 14)] for k, level in enumerate(values.levels[:MAX_PLACES])]
    if values.dates:
        few = np.unique(np.rint(np.linspace(x.min(), x.max(), DATES)))
        return [[float(day), values.text(float(day))] for day in few]
    scale = Scale.over(x, zero=False)
    return [[tick, text] for tick, text in zip(scale.ticks, scale.value_texts, strict=True)]


def groups(e: Explanations, j: int, order: NDArray[np.intp]) -> dict[str, Any]:
    """How mean scores differ between groups of rows, with intervals for all at once."""
    if j >= len(e.names):
        raise InputError(f"there is no feature number {j}")
    values = FeatureValues.of(e.data[:, j])
    labels, names = _labels(values)
    masks = {name: labels == k for k, name in enumerate(names)}
    few = [name for name, mask in masks.items() if mask.sum() < 2]
    if len(masks) - len(few) < 2:
        raise InputError(f"{e.names[j]} has too few rows in each group to compare them")
    rest = {name: mask for name, mask in masks.items() if name not in few}
    frame = e.compare_groups(rest)
    compared, others = [], order[order != j]  # what makes the groups is not found by them
    for name in dict.fromkeys(frame["group"]):
        part = frame[frame["group"] == name]
        columns = (part["difference"], part["low"], part["high"])
        value, low, high = (np.asarray(column, dtype=np.float64) for column in columns)
        against = str(part["against"].iloc[0])
        compared.append(
            {
                "group": short(str(name), 80),
                "against": short(against, 80),
                "count": int(part["rows"].iloc[0]),
                **bars(Means(e.names, value, low, high, LEVEL), others, e.labels, signed=True),
            }
        )
    seen = [v for one in compared for k in others.tolist() for v in _ends(one["bars"][k])]
    shared = axis(Scale.over([v for v in seen if v is not None]))
    return {
        "name": short(e.names[j], 160),
        "groups": [{**one, "axis": shared} for one in compared],
        "ranges": values.levels is None and len(_distinct_numbers(values)) > NUMBER_GROUPS,
    }


def _labels(values: FeatureValues) -> tuple[NDArray[np.intp], list[str]]:
    """A group for each row, and the groups' names: ranges of numbers, or levels."""
    if values.levels is not None:
        names = [short(level, 40) for level in values.levels[:MAX_LEVELS]]
        codes = np.minimum(values.codes, MAX_LEVELS)
        if len(values.levels) > MAX_LEVELS:
            names.append("others")
    else:
        names, codes = _ranges(values)
    if (codes < 0).any():
        codes = np.where(codes < 0, len(names), codes)
        names = [*names, "missing"]
    return codes, _make_distinct(names)


def _distinct_numbers(values: FeatureValues) -> Array:
    """The different numbers there are."""
    return np.unique(values.numbers[~np.isnan(values.numbers)])


def _ranges(values: FeatureValues) -> tuple[list[str], NDArray[np.intp]]:
    """Ranges of about as many rows each."""
    numbers = values.numbers
    present, distinct = numbers[~np.isnan(numbers)], _distinct_numbers(values)
    if len(distinct) <= NUMBER_GROUPS:
        codes = np.searchsorted(distinct, numbers)
        names = [values.text(float(value)) for value in distinct]
    else:
        cuts = np.unique(np.quantile(present, np.arange(1, NUMBER_GROUPS) / NUMBER_GROUPS))
        cuts = cuts[cuts < distinct[-1]]
        codes = np.searchsorted(cuts, numbers)
        ends = [values.text(float(cut)) for cut in cuts]
        middle = [f"{a} to {b}" for a, b in pairwise(ends)]
        names = [f"up to {ends[0]}", *middle, f"above {ends[-1]}"]
    return names, np.where(np.isnan(numbers), -1, codes).astype(np.intp)


def _make_distinct(names: Sequence[str]) -> list[str]:
    """Names that differ, also where two were cut to the same text."""
    out: list[str] = []
    for name in names:
        out.append(name if name not in out else f"{name} ({len(out)})")
    return out


def _rank(values: FeatureValues, i: int) -> float | None:
    rank = finite_or_none(values.rank[i])
    return None if rank is None else round(rank, 3)


def _key(values: FeatureValues) -> dict[str, Any]:
    """What the colours of points stand for: from a low to a high number, or levels."""
    if values.levels is not None:
        return {"kind": "levels", "levels": [short(v, 40) for v in values.levels[:MAX_LEVELS]]}
    if values.missing.all():
        return {"kind": "missing"}
    low, high = values.ends
    return {"kind": "numbers", "low": low, "high": high}
