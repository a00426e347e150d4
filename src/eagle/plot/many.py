"""What plots of many explanations share: rows of a table, their values, and colours for these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.difference import scale
from eagle._values.text import finite, middle, short_repr, value_text
from eagle._values.ties import rank
from eagle.display.colours import GREY, VALUES, VALUES_ON_DARK
from eagle.errors import InputError
from eagle.explanations import Explanations
from eagle.plot.page import LABEL, Page, ground, is_dark, meaning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LEVELS: Final = 6
"""Maximum number of levels of a feature with a colour of their own."""

OTHERS: Final = "others"
MISSING: Final = "missing"

PALE_SHARE: Final = 0.25
"""How much of its colour a pale point keeps; the rest is the ground's."""

DATE: Final = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,9})?)?)?")
"""How explanations write dates."""

DAY: Final = 86_400.0
"""The seconds of a day."""

MAX_VECTOR_POINTS: Final = 10_000
"""More points than this are drawn as one image in a PDF or SVG file."""


def several(explanations: Any, what: str) -> Explanations:
    """Explanations with the same features and one target, or a sentence."""
    if not isinstance(explanations, Explanations):
        raise InputError(
            f"{what} draws Explanations, as explain_many and surveys give them, not "
            f"{short_repr(explanations)}"
        )
    _ = explanations.table, explanations.target  # refused where they differ
    return explanations


def strongest_features(e: Explanations, most: int) -> NDArray[np.intp]:
    """The features with the largest mean size of their scores, the largest first."""
    return rank(np.abs(e.scores).mean(axis=0))[: integer(most, "most", 1)]


def intervals(e: Explanations, features: NDArray[np.intp], level: float) -> Array:
    """The intervals of some features, shape (n, features, 2): those of all may be too many."""
    table = e.table
    if not table.kind:
        return e.interval(level)[:, features]
    few = replace(table, scores=table.scores[:, features], spread=table.spread[:, features])
    return replace(e, stacked=few).interval(level)


def score_label(e: Explanations) -> str:
    """What a score means, also where the explanations were read from a file."""
    table = e.table
    if not table.signed:
        return "Score: how much the feature matters, not which way it pushes"
    if table.kind and not e.additive and bool((table.contrast == 1).all()):
        return f"Score: what having this value adds to the {scale(e.link, e.difference)}"
    return meaning([e[0]])


def label(text: str, width: int = LABEL) -> str:
    """A name in a plot: its middle is left out where it is too long."""
    return middle(text, width)


# -- values --------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class FeatureValues:
    """A feature's own values over the rows.

    Numbers are in `numbers`, NaN where missing, and `levels` is None. Dates are numbers of days
    since 1970, as matplotlib counts them. Levels are in `levels`, the
    most frequent first, and `codes` are their places; −1 where missing.
    """

    numbers: Array
    codes: NDArray[np.intp]
    levels: tuple[str, ...] | None
    dates: bool = False

    @classmethod
    def of(cls, values: NDArray[np.object_]) -> FeatureValues:
        given = values.tolist()
        if all(value is None or finite(value) for value in given):
            numbers = np.array([np.nan if v is None else v for v in given], dtype=np.float64)
            return cls(numbers, np.where(np.isnan(numbers), -1, 0), None)
        if all(value is None or _is_date(value) for value in given):
            days = np.array([np.datetime64(v or "NaT", "s") for v in given]).astype(np.float64)
            missing = np.array([value is None for value in given])
            days = np.where(missing, np.nan, days / DAY)
            return cls(days, np.where(missing, -1, 0), None, dates=True)
        counts: dict[Any, int] = {}
        for value in given:
            if value is not None:
                counts[value] = counts.get(value, 0) + 1
        order = sorted(counts, key=lambda value: -counts[value])
        place: dict[Any, int] = {None: -1, **{value: k for k, value in enumerate(order)}}
        codes = np.array([place[value] for value in given], dtype=np.intp)
        return cls(np.full(len(given), np.nan), codes, tuple(str(value) for value in order))

    @property
    def missing(self) -> NDArray[np.bool_]:
        return np.asarray(self.codes < 0)

    @cached_property
    def rank(self) -> Array:
        """The place of each row among all, from 0 to 1, equals in the middle; NaN where missing."""
        each = self.numbers if self.levels is None else self.codes.astype(np.float64)
        out = np.full(len(each), np.nan)
        known = ~self.missing
        _, where, counts = np.unique(each[known], return_inverse=True, return_counts=True)
        if len(counts) == 1:
            out[known] = 0.5
        elif len(counts):
            upto = np.cumsum(counts) - (counts + 1) / 2
            out[known] = ((upto - upto[0]) / (upto[-1] - upto[0]))[where]
        return out

    @property
    def ends(self) -> tuple[str, str]:
        """The smallest and the largest number, as texts."""
        low, high = float(np.nanmin(self.numbers)), float(np.nanmax(self.numbers))
        return self.text(low), self.text(high)

    def text(self, number: float) -> str:
        """A number as it is written, or the date that it stands for."""
        return str(np.datetime64(int(number), "D")) if self.dates else value_text(number)


def _is_date(value: Any) -> bool:
    return isinstance(value, str) and DATE.fullmatch(value) is not None


# -- colours -------------------------------------------------------------------------------------


def ramp(ax: Axes) -> Any:
    """Colours from low to high values."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = VALUES_ON_DARK if is_dark(ax) else VALUES
    return LinearSegmentedColormap.from_list("values", list(colours))


def row_colours(p: Page, values: FeatureValues) -> Array:
    """A colour for each row, shape (n, 3): by rank or by level, grey where missing."""
    from matplotlib.colors import to_rgb

    if values.levels is None:
        out = np.asarray(ramp(p.ax)(np.nan_to_num(values.rank, nan=0.5)))[:, :3]
    else:
        palette = np.array([to_rgb(p.colour(k)) for k in range(MAX_LEVELS + 1)])
        out = palette[np.clip(values.codes, 0, MAX_LEVELS)]
    out[values.missing] = to_rgb(GREY)
    return out


def pale(p: Page, colours: Array, where: NDArray[np.bool_]) -> Array:
    """The colours, some of them nearly the ground's."""
    faint = PALE_SHARE * colours + (1 - PALE_SHARE) * ground(p.ax)
    return np.where(where[:, None], faint, colours)


def keys(p: Page, values: FeatureValues) -> list[tuple[str, Any]]:
    """The levels that have a colour, and this colour; also of what is missing."""
    out: list[tuple[str, Any]] = []
    for k, level in enumerate((values.levels or ())[:MAX_LEVELS]):
        out.append((level, p.colour(k)))
    others = (values.levels or ())[MAX_LEVELS:]
    if others:
        out.append((others[0] if len(others) == 1 else OTHERS, p.colour(MAX_LEVELS)))
    if values.missing.any():
        out.append((MISSING, GREY))
    return out


# -- many points ---------------------------------------------------------------------------------


def thin_cells(cells: NDArray[np.intp], first: Array, most: int) -> NDArray[np.intp]:
    """At most `most` places of each cell, spread evenly in the order of `first`.

    Cells with few points keep them all, so that outliers stay. The places are sorted by cell and
    `first`.
    """
    order = np.lexsort((first, cells))
    _, start, counts = np.unique(cells[order], return_index=True, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(start, counts)
    size = np.repeat(counts, counts)
    share = np.minimum(most, size)
    keep = (rank * share) // size != ((rank - 1) * share) // size
    return np.asarray(order[keep])


def stack_points(
    cells: NDArray[np.intp], shown: NDArray[np.intp], dot: float, height: float
) -> Array:
    """How far to move the points shown up or down so that those of a cell stand on one another.

    They come sorted by cell. A dot is so high; where stacks would be higher than the room, dots
    overlap, and a stack's height goes with the root of the number of points in the cell, shown or
    not.
    """
    every = np.bincount(cells - cells.min())
    there, start, counts = np.unique(cells[shown], return_index=True, return_counts=True)
    place = np.arange(len(shown)) - np.repeat(start + (counts - 1) / 2, counts)
    size = every[there - cells.min()]
    high = np.minimum(size * dot, height)
    if every.max() * dot > height:
        high = np.minimum(high, height * np.sqrt(size / every.max()))
    return np.asarray(place * np.repeat(high / counts, counts))


def cell_of(x: Array, cells: int) -> NDArray[np.intp]:
    """Which of `cells` equal cells each number is in."""
    low, high = float(x.min()), float(x.max())
    if high <= low:
        return np.zeros(len(x), dtype=np.intp)
    return np.asarray(np.minimum((x - low) / (high - low) * cells, cells - 1).astype(np.intp))


def feature_labels(names: Sequence[str], features: NDArray[np.intp]) -> tuple[list[str], int]:
    """The labels of the features that are drawn, and how many others there are."""
    return [label(names[j]) for j in features], len(names) - len(features)
