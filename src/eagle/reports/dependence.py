"""The scores of the strongest features against their values."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.text import short
from eagle.display import cell_bars
from eagle.display.numbers import at_level, plural
from eagle.display.parts import name, paragraph, to_html
from eagle.display.scale import Scale
from eagle.display.sheet import NOT_SURE
from eagle.explanations import Explanations
from eagle.plot.many import (
    FeatureValues,
    cell_of,
    intervals,
    stack_points,
    strongest_features,
    thin_cells,
)
from eagle.plot.scatter import MAX_ROWS_WITH_BARS, Axis, middle_rows
from eagle.plot.step_function import SAYS_STEPS, StepFunction, steps_of

FEATURES: Final = 4
"""Number of features that are drawn."""

CELLS: Final = 110
"""Grid cells per axis for thinning."""

POINTS_PER_CELL: Final = 2
"""Points kept per cell; four times as many for levels."""

LEVELS: Final = 8
"""Number of levels with a place of their own on the axis."""

SIDE: Final = 1000
"""Units along either axis."""


def section(e: Explanations, level: float, note: str) -> str:
    """A panel for each of the strongest features."""
    order = strongest_features(e, FEATURES)
    interval, doubt = intervals(e, order, level), e.doubtful(level)[:, order]
    panels = "".join(
        _panel(e, j, FeatureValues.of(e.data[:, j]), e.scores[:, j], interval[:, k], doubt[:, k])
        for k, j in enumerate(order.tolist())
    )
    known = bool(np.isfinite(interval).any())
    bars = f" Lines are {at_level(level)} intervals of single rows." if known else ""
    if known and len(e) > MAX_ROWS_WITH_BARS:
        bars = (
            " Large points: of rows near one another, the one in the middle, with its "
            f"{at_level(level)} interval."
        )
    pale = f" Pale: {NOT_SURE}, at {at_level(level)}." if doubt.any() else ""
    said = f"A point is a row: its value, and the score of the feature there.{bars}{pale} {note}"
    said += f" {SAYS_STEPS}." * ('<path class="i steps"' in panels)
    return paragraph(said, "soft") + f'<div class="panels">{panels}</div>'


def _panel(
    e: Explanations,
    j: int,
    values: FeatureValues,
    scores: Array,
    interval: Array,
    doubt: NDArray[np.bool_],
) -> str:
    feature, axis = e.labels[j], Axis.of(values, scores, LEVELS)
    across = _across(axis)
    steps = steps_of(e, j, axis.x) if axis.numbers and not axis.places else None
    few = len(scores) <= MAX_ROWS_WITH_BARS
    bins = axis.bins if steps is None else steps.bins
    rows = np.arange(len(scores)) if few else middle_rows(bins, scores)
    down = Scale.over([*scores, *interval[rows].ravel()])
    body = (
        _lines(down)
        + (_whiskers(across, down, axis.x, interval, rows, thin=True) if few else "")
        + _points(axis, across, down, scores, doubt)
        + ("" if steps is None else _steps(across, down, steps))
        + ("" if few else _whiskers(across, down, axis.x, interval, rows, thin=False))
        + ("" if few else _middles(across, down, axis.x, scores, rows))
    )
    told = f"{short(feature, 120)}: the score of {plural(len(scores), 'row')} against their value"
    return (
        f'<figure><figcaption class="name">{name(feature)}</figcaption><div class="frame">'
        f'<svg class="y" aria-hidden="true">{_beside(down)}</svg>'
        f'<svg class="d k" role="img" viewBox="0 0 {SIDE} {SIDE}" preserveAspectRatio="none">'
        f"<title>{to_html(told)}</title>{body}</svg>{_below(axis, values, across)}</div></figure>"
    )


def _steps(across: Scale, down: Scale, steps: StepFunction) -> str:
    """The score of each bin, from edge to edge."""
    x = [_x(across, edge) for edge in steps.edges.tolist()]
    moves = [
        f"{'M' if not k else 'L'}{x[k]} {_y(down, score)}H{x[k + 1]}"
        for k, score in enumerate(steps.scores.tolist())
    ]
    return f'<path class="i steps" d="{"".join(moves)}"/>'


def _across(axis: Axis) -> Scale:
    if not axis.numbers:
        return Scale(-0.5, len(axis.places) - 0.5)
    return Scale.over([*axis.x], zero=False)


def _lines(down: Scale) -> str:
    """Horizontal lines at round scores."""
    return "".join(
        f'<line class="{"z" if number == 0 else "g"}" x1="0" x2="{SIDE}" '
        f'y1="{_y(down, number)}" y2="{_y(down, number)}"/>'
        for number in down.ticks
    )


def _y(down: Scale, number: float) -> int:
    return round(SIDE - 10 * down.at(number))


def _x(across: Scale, number: float) -> int:
    return round(10 * across.at(number))


def _points(axis: Axis, across: Scale, down: Scale, scores: Array, doubt: NDArray[np.bool_]) -> str:
    high = cell_of(scores, CELLS)
    by = np.arange(float(len(scores)))
    if axis.numbers:
        shown = thin_cells(cell_of(axis.x, CELLS) * CELLS + high, by, POINTS_PER_CELL)
        x = axis.x[shown]
    else:
        cells = axis.x.astype(np.intp) * CELLS + high
        shown = thin_cells(cells, by, 4 * POINTS_PER_CELL)
        x = axis.x[shown] + stack_points(cells, shown, 0.01 * len(axis.places), 0.6)
    looks = np.where(doubt[shown], "l6 q", "l6")
    xs = [_x(across, v) for v in x.tolist()]
    return cell_bars.points(xs, [_y(down, v) for v in scores[shown].tolist()], looks)


def _whiskers(
    across: Scale, down: Scale, x: Array, interval: Array, rows: NDArray[np.intp], thin: bool
) -> str:
    """Intervals of some rows as one path."""
    moves = []
    for i in rows.tolist():
        low, high = interval[i].tolist()
        if np.isfinite(low) and np.isfinite(high):
            top, bottom = _y(down, high), _y(down, low)
            moves.append(f"M{_x(across, float(x[i]))} {top}V{bottom}")
    return f'<path class="{"v" if thin else "i"}" d="{"".join(moves)}"/>' if moves else ""


def _middles(across: Scale, down: Scale, x: Array, scores: Array, rows: NDArray[np.intp]) -> str:
    moves = [f"M{_x(across, float(x[i]))} {_y(down, float(scores[i]))}h0" for i in rows.tolist()]
    return f'<path class="m" d="{"".join(moves)}"/>'


def _beside(down: Scale) -> str:
    """The numbers along the y axis."""
    return "".join(
        f'<text x="100%" y="{100 - down.at(number):.2f}%" text-anchor="end" dy=".35em">'
        f"{text}</text>"
        for number, text in zip(down.ticks, down.tick_texts, strict=True)
    )


def _below(axis: Axis, values: FeatureValues, across: Scale) -> str:
    """What stands along the x axis."""
    if not axis.numbers:
        each = "".join(f"<span>{name(place, 24)}</span>" for place in axis.places.values())
        return f'<div class="x places">{each}</div>'
    if values.missing.all():
        return '<div class="x">missing</div>'
    if values.dates:
        low, high = values.ends
        left = "missing, " if axis.places else ""
        each = f"<span>{left}{to_html(low)}</span><span>{to_html(high)}</span>"
        return f'<div class="x ends">{each}</div>'
    least = float(np.nanmin(values.numbers))
    missing = next(iter(axis.places), None)
    return f'<div class="x">{cell_bars.axis(across, least, missing)}</div>'
