"""A feature's scores against its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.posterior import LEVEL
from eagle._values.text import middle, short_repr
from eagle.display.many import title
from eagle.display.numbers import at_level
from eagle.display.sheet import NOT_SURE
from eagle.errors import InputError
from eagle.explainer import Explainer
from eagle.explanations import Explanations
from eagle.plot.drawing import plot_function
from eagle.plot.many import (
    MAX_LEVELS,
    MAX_VECTOR_POINTS,
    MISSING,
    OTHERS,
    FeatureValues,
    cell_of,
    intervals,
    keys,
    label,
    pale,
    ramp,
    row_colours,
    score_label,
    several,
    stack_points,
    thin_cells,
)
from eagle.plot.page import PLAIN_TEXT, WIDTH, Page, fold, page, plain_ticks
from eagle.plot.step_function import SAYS_STEPS, steps_of, what_if

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_ROWS_WITH_BARS: Final = 120
"""Up to this number of rows, each has an error bar. Beyond it, rows near one another share one."""

MAX_ERROR_BARS: Final = 16
"""Maximum number of error bars along the range of numbers, if there are many rows."""

DOT: Final = 3.2
"""The diameter of a point, in points."""

MAX_POINTS_PER_CELL: Final = 4
"""Maximum number of points drawn at one place."""


@plot_function
def dependence(
    explanations: Explanations,
    feature: str,
    ax: Axes | None = None,
    *,
    colour: str | bool | None = None,
    level: float = LEVEL,
    max_display: int = 12,
    explainer: Explainer | None = None,
) -> Axes:
    """The score of one feature against its value: a point for each row, with error bars.

    Few rows have an error bar each. Of many, one among those that are near one another has: the
    row whose score is in their middle. Where one score holds for a whole bin of numbers, it is
    drawn as steps. Of a number, an `explainer` with the model draws the model's own what-if line
    beside: the mean answer of up to 40 rows as all are given each of up to 25 values, less its mean
    over the rows' own values. A point is pale where its sign is not sure. `colour` names a feature
    whose values colour the points; True takes the strongest partner, that which explains most of
    how scores differ at equal values, as Shapley values without a `colour` do. Of levels, the
    `max_display` frequent have a place of their own.
    """
    e = several(explanations, "dependence")
    j = _place(e, feature)
    scores, interval = e.scores[:, j], intervals(e, np.array([j]), level)[:, 0]
    p = page(ax, WIDTH, 3.0, "dependence")
    p.ax.axhline(0, color=p.ink, linewidth=0.8, zorder=1.5)
    axis = Axis.of(FeatureValues.of(e.data[:, j]), scores, integer(max_display, "max_display", 1))
    other = _colour(e, j, colour)
    shade = None if other is None else FeatureValues.of(e.data[:, other])
    doubt = e.doubtful(level)[:, j]
    steps = steps_of(e, j, axis.x) if axis.numbers and not axis.places else None
    fewer = _points(p, axis, scores, doubt, shade)
    chosen = _bars(p, axis, scores, interval, axis.bins if steps is None else steps.bins)
    more = []
    if steps is not None:
        p.ax.stairs(
            steps.scores, steps.edges, baseline=None, color=p.ink, linewidth=1.3, zorder=2.5
        )
        more.append(SAYS_STEPS)
    if explainer is not None:
        p.ax.plot(*what_if(e, explainer, j), color=p.colour(1), linewidth=1.5, zorder=2.4)
        more.append("Coloured line: the model's own mean answer as rows are given each value")
    p.title(title(e))
    p.x_label(middle(feature, 60), *_notes(interval, doubt, level, chosen, fewer), *more)
    _axes(p, axis)
    if shade is not None and other is not None:
        _key(p, shade, e.names[other])
    _y_label(p, f"Score {e.steps[j]}" if e.steps[j] else score_label(e))
    p.ax.spines[["top", "right"]].set_visible(False)
    p.ax.grid(axis="y", color=p.ink, alpha=0.12, linewidth=0.6)
    p.ax.set_axisbelow(True)
    return p.finish()


def _y_label(p: Page, text: str) -> None:
    """Write along the y axis, in lines as long as it."""
    artist = p.ax.set_ylabel("", fontsize="small", rotation=0, **PLAIN_TEXT)
    fold(artist, text, p.height)  # measured while it lies flat
    artist.set_rotation(90)
    p.small_ticks("y")


def _place(e: Explanations, feature: Any) -> int:
    if not isinstance(feature, str) or feature not in e.names:
        listed = ", ".join(e.names[:20]) + (", …" if len(e.names) > 20 else "")
        raise InputError(f"there is no feature {short_repr(feature)}; there are {listed}")
    return e.names.index(feature)


def _colour(e: Explanations, j: int, colour: Any) -> int | None:
    """The feature that colours the points; None if there is none."""
    if colour is None:
        colour = e.additive
    if isinstance(colour, bool):
        return strongest_partner(e, j) if colour else None
    return _place(e, colour)


def strongest_partner(e: Explanations, j: int) -> int | None:
    """The feature that explains most of how scores of feature j differ among rows of about its
    value: more than chance would; None if there is none."""
    scores, near = e.scores[:, j], Axis.of(FeatureValues.of(e.data[:, j]), e.scores[:, j], 12).bins
    explained = np.zeros(len(e.names))
    for k in range(len(e.names)):
        values = FeatureValues.of(e.data[:, k])
        for one in np.unique(near).tolist():
            here = near == one
            explained[k] += 0.0 if k == j else _sum_of_squares(scores[here], values, here)
    best = int(explained.argmax())
    return best if explained[best] > 0 else None


def _sum_of_squares(scores: Array, values: FeatureValues, here: NDArray[np.bool_]) -> float:
    """The sum of squares of scores that values explain, less what chance would explain."""
    rest = scores - scores.mean()
    whole, n = float(rest @ rest), len(rest)
    if n < 4 or not whole > 0:
        return 0.0
    if values.levels is None:
        x = np.nan_to_num(values.rank[here], nan=0.5)
        x = x - x.mean()
        size, freedom = float(x @ x), 1
        found = float(rest @ x) ** 2 / size if size > 0 else 0.0
    else:
        code = np.minimum(values.codes[here], MAX_LEVELS) + 1
        counts, sums = np.bincount(code), np.bincount(code, weights=rest)
        there = counts > 0
        found, freedom = float((sums[there] ** 2 / counts[there]).sum()), int(there.sum()) - 1
    return found - freedom * whole / (n - 1)


@final
@dataclass(frozen=True, eq=False)
class Axis:
    """Where rows stand: at their number, or at the place of their level.

    `places` are labelled places: levels, and where missing values stand.
    """

    x: Array
    places: dict[float, str]
    numbers: bool
    dates: bool = False

    @classmethod
    def of(cls, values: FeatureValues, scores: Array, max_display: int) -> Axis:
        if values.levels is None:
            return cls._of_numbers(values)
        return cls._of_levels(values, scores, max_display)

    @classmethod
    def _of_numbers(cls, values: FeatureValues) -> Axis:
        if not values.missing.any():
            return cls(values.numbers, {}, True, values.dates)
        known = values.numbers[~values.missing]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        left = low - (0.12 * (high - low) or 1.0)
        x = np.where(values.missing, left, values.numbers)
        return cls(x, {left: MISSING}, True, values.dates)

    @classmethod
    def _of_levels(cls, values: FeatureValues, scores: Array, max_display: int) -> Axis:
        """Levels by increasing mean score, then all others, then what is missing."""
        assert values.levels is not None
        group = np.where(values.missing, max_display + 1, np.minimum(values.codes, max_display))
        there = np.unique(group)
        own = [k for k in there.tolist() if k < max_display]
        own.sort(key=lambda k: float(scores[group == k].mean()))
        names = {
            max_display: f"{len(values.levels) - max_display} {OTHERS}",
            max_display + 1: MISSING,
        }
        order = own + [k for k in there.tolist() if k >= max_display]
        x = np.empty(len(group))
        places = {}
        for place, k in enumerate(order):
            x[group == k] = place
            places[float(place)] = label(names.get(k) or values.levels[k], 24)
        return cls(x, places, False)

    @property
    def bins(self) -> NDArray[np.intp]:
        """Rows that share an error bar: equal places, or one of a few ranges of equal counts."""
        if not self.numbers:
            return self.x.astype(np.intp)
        known = ~np.isin(self.x, list(self.places))
        distinct = np.unique(self.x[known])
        if len(distinct) <= MAX_ERROR_BARS:
            edges = distinct
        else:
            edges = np.unique(
                np.quantile(self.x[known], np.linspace(0, 1, MAX_ERROR_BARS + 1)[:-1])
            )
        return np.where(known, np.searchsorted(edges, self.x, side="right"), -1)


def _points(
    p: Page, axis: Axis, scores: Array, doubt: NDArray[np.bool_], shade: FeatureValues | None
) -> bool:
    """Draw the rows, and return whether some stand for others."""
    wide, high = max(int(72 * p.width / DOT), 10), max(int(72 * p.height / DOT), 10)
    down = cell_of(scores, high)
    by = np.arange(float(len(scores))) if shade is None else np.nan_to_num(shade.rank, nan=-1.0)
    if axis.numbers:
        shown = thin_cells(cell_of(axis.x, wide) * high + down, by, MAX_POINTS_PER_CELL)
        x = axis.x[shown]
    else:
        cells = axis.x.astype(np.intp) * high + down
        shown = thin_cells(cells, by, 3 * MAX_POINTS_PER_CELL)
        dot = DOT * len(axis.places) / (72 * p.width)
        x = axis.x[shown] + stack_points(cells, shown, dot, 0.6)
    if shade is None:
        from matplotlib.colors import to_rgb

        colours = np.tile(to_rgb(p.ink), (len(shown), 1))
    else:
        colours = row_colours(p, shade)[shown]
    order = np.argsort(~doubt[shown], kind="stable")
    p.ax.scatter(
        x[order],
        scores[shown][order],
        s=DOT**2,
        c=pale(p, colours, doubt[shown])[order],
        linewidths=0,
        zorder=2,
        rasterized=len(shown) > MAX_VECTOR_POINTS,
    )
    return len(shown) < len(scores)


def _bars(p: Page, axis: Axis, scores: Array, interval: Array, bins: NDArray[np.intp]) -> bool:
    """Draw error bars, and return whether only some rows have one."""
    if np.isnan(interval).all():
        return False
    many = len(scores) > MAX_ROWS_WITH_BARS
    rows = middle_rows(bins, scores) if many else np.arange(len(scores))
    x, y, (low, high) = axis.x[rows], scores[rows], interval[rows].T
    p.ax.errorbar(
        x,
        y,
        yerr=np.maximum(np.stack([y - low, high - y]), 0),
        fmt="o" if many else "none",
        markersize=3.4,
        color=p.ink,
        ecolor=p.ink,
        elinewidth=1.0 if many else 0.5,
        capsize=1.8 if many else 0,
        alpha=1.0 if many else 0.5,
        zorder=3 if many else 1.8,
    )
    return many


def middle_rows(bins: NDArray[np.intp], scores: Array) -> NDArray[np.intp]:
    """In each bin the row whose score is in the middle. A mean could be a score that no row has."""
    order = np.lexsort((scores, bins))
    _, start, counts = np.unique(bins[order], return_index=True, return_counts=True)
    return np.asarray(order[start + counts // 2])


def _axes(p: Page, axis: Axis) -> None:
    """Name the places on the x axis."""
    if axis.numbers:
        if axis.dates:
            _date_ticks(p)
        else:
            p.ax.locator_params(axis="x", nbins=6)
            plain_ticks(p.ax.xaxis, values=True)
        if axis.places:
            _missing_tick(p, axis)
        return
    long = max(map(len, axis.places.values())) * len(axis.places) > 14 * p.width
    p.ax.set_xticks(
        list(axis.places),
        list(axis.places.values()),
        rotation=35 if long else 0,
        ha="right" if long else "center",
        rotation_mode="anchor",
        **PLAIN_TEXT,
    )
    p.ax.set_xlim(-0.6, len(axis.places) - 0.4)


def _date_ticks(p: Page) -> None:
    import matplotlib.dates

    dates: Any = matplotlib.dates  # its types are not complete
    locator = dates.AutoDateLocator(minticks=3, maxticks=6)
    p.ax.xaxis.set_major_locator(locator)
    p.ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))


def _missing_tick(p: Page, axis: Axis) -> None:
    """A place for missing values beside the numbers, with a line between."""
    (left,) = axis.places
    known = axis.x[axis.x > left]
    low = float(known.min()) if len(known) else left + 1
    ticks = [t for t in p.ax.get_xticks() if low - 1e-9 <= t <= axis.x.max()] if len(known) else []
    p.ax.set_xlim(p.ax.get_xlim())
    written = p.ax.xaxis.get_major_formatter().format_ticks(ticks)
    p.ax.set_xticks([left, *ticks], [MISSING, *written])
    p.ax.axvline((left + low) / 2, color=p.ink, linewidth=0.6, alpha=0.4, linestyle=":")


def _key(p: Page, shade: FeatureValues, name: str) -> None:
    """What the colours mean: a strip from low to high, or the levels."""
    from matplotlib.lines import Line2D

    title_ = label(name, 30)
    if shade.levels is None and not shade.missing.all():
        inset = p.ax.inset_axes((1.04, 0.0, 0.03, 0.8))
        inset.imshow(np.linspace(1, 0, 64)[:, None], cmap=ramp(p.ax), aspect="auto")
        inset.set_xticks([])
        # Equal texts are written once; the ends come last, and so stay.
        quantiles = np.nanquantile(shade.numbers, [1, 0, 0.25, 0.5, 0.75])
        places = dict(zip(map(shade.text, quantiles[::-1]), (16, 32, 47, 63, 0), strict=True))
        inset.set_yticks([*places.values()], [*places])
        inset.yaxis.tick_right()
        inset.tick_params(axis="y", labelsize="small", length=2)
        inset.spines[:].set_visible(False)
        inset.set_title(title_, loc="left", fontsize="small", **PLAIN_TEXT)
        return
    listed = keys(p, shade)
    made = p.ax.legend(
        [Line2D([], [], color=c, marker="o", linestyle="none", markersize=4) for _, c in listed],
        [str(k) for k in range(len(listed))],
        title="-",
        loc="upper left",
        bbox_to_anchor=(1.03, 1.0),
        borderaxespad=0.0,
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        alignment="left",
    )
    made.get_title().set(text=title_, **PLAIN_TEXT)
    # Written afterwards: a legend leaves out names that begin with an underscore.
    for text, (level, _) in zip(made.get_texts(), listed, strict=True):
        text.set(text=label(level, 24), **PLAIN_TEXT)


def _notes(
    interval: Array, doubt: NDArray[np.bool_], level: float, many: bool, fewer: bool
) -> list[str]:
    lines = []
    if not np.isnan(interval).all():
        which = "of the middle one of the rows nearby" if many else "of each row"
        lines.append(f"Lines: {at_level(level)} interval, {which}")
    if doubt.any():
        lines.append(f"Pale: {NOT_SURE}")
    return [*lines, "Where rows crowd, some stand for all"] if fewer else lines
