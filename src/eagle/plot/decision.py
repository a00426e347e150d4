"""How rows, or groups of rows, come from the base value to their predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from eagle._questions.errors import Common
from eagle._questions.statements import group_masks
from eagle._values.checks import integer
from eagle._values.posterior import LEVEL, check_level, quantiles
from eagle._values.ties import rank
from eagle.display import contributions
from eagle.display.many import title
from eagle.display.numbers import at_level, count, plural
from eagle.errors import InputError
from eagle.explanations import Explanations
from eagle.plot.dots import legend
from eagle.plot.drawing import plot_function
from eagle.plot.many import feature_labels, label, ramp, several, strongest_features
from eagle.plot.page import SOFT_OPACITY, WIDTH, Page, page, tall

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LINES: Final = 400
"""Of more rows, so many are drawn, spread evenly over the predictions."""


@plot_function
def decision(
    explanations: Explanations,
    groups: Any = None,
    ax: Axes | None = None,
    *,
    level: float = LEVEL,
    max_display: int = 12,
) -> Axes:
    """Lines that rise from the base value, at the bottom, to the predictions, at the top.

    At each feature a line moves by the row's contribution; the feature that matters most is on
    top, and those not among the `max_display` are one step. Without `groups` there is a line for
    each row, coloured by its prediction. `groups`, as in `Explanations.compare_groups`, draws
    the mean of each group in place of its rows, with the interval of each step's mean: of these
    rows, counting that their errors are common.
    """
    e = several(explanations, "decision")
    check_level(level)
    t = e.table
    known = np.isfinite(t.prediction)
    some = known if known.any() else ~known  # of no row a prediction: that is refused
    contributions.check(e.method, t.signed, t.contrast, t.prediction[some])
    given, base = contributions.parts(t.scores, t.contrast, t.prediction)
    order = strongest_features(e, integer(max_display, "max_display", 1))
    labels, more = feature_labels(e.names, order)
    rest = np.setdiff1d(np.arange(given.shape[1]), order)
    steps = [given[:, [j]].sum(axis=1) for j in order]
    if more:
        labels.append(f"… and {plural(more, 'more feature')}")
        steps.append(given[:, rest].sum(axis=1))
    way = np.cumsum(np.stack([base, *steps[::-1]]), axis=0)  # from the bottom
    p = page(ax, WIDTH, tall(labels, 0.33, 0), "decision")
    p.rows(labels, zero=False)
    places = np.arange(len(labels), -1, -1) - 0.5  # a step ends at the upper edge of its row
    p.ax.axvline(
        float(base[known].mean()), color=p.ink, linewidth=0.8, alpha=SOFT_OPACITY, linestyle=":"
    )
    start = "the average" if e.additive else "where its line starts"
    notes = [f"From {start}, at the bottom, to the prediction, at the top"]
    if groups is None:
        _rows(p, way[:, known], places)
        notes.append("Colour: the prediction, from the lowest to the highest")
    else:
        _groups(p, e, groups, way, places, [*order.tolist()], level)
        notes.append(f"Bands: {at_level(level)} interval of each step's mean, over these rows")
    if not known.all():
        notes.append(f"Without {count(int((~known).sum()))} rows whose prediction is not known")
    p.title(title(e))
    p.x_label(*notes)
    return p.finish()


def _rows(p: Page, way: Any, places: Any) -> None:
    by = rank(-way[-1])[::-1]
    share = np.linspace(0, 1, len(by))
    shown = np.unique(np.linspace(0, len(by) - 1, min(len(by), MAX_LINES)).round().astype(int))
    colours, faint = ramp(p.ax), max(0.15, min(0.9, 30 / len(shown)))
    for k in shown.tolist():
        p.ax.plot(
            way[:, by[k]],
            places,
            color=colours(float(1 - share[k])),
            alpha=faint,
            linewidth=0.9,
            zorder=2,
        )


def _groups(
    p: Page, e: Explanations, groups: Any, way: Any, places: Any, order: list[int], level: float
) -> None:
    """The mean way of each group, and how far each step's mean may be wrong."""
    known = np.isfinite(e.table.prediction)
    every = {name: mask & known for name, mask in group_masks(e, groups).items()}
    masks = {name: mask for name, mask in every.items() if mask.any()}
    if len(masks) > p.colours:
        raise InputError(f"decision draws at most {p.colours} groups, not {len(masks)}")
    t, contrast = e.table, e.table.contrast
    errors = e.errors or Common(t.scores, t.spread, t.df)
    has_errors, at = e.table.kind != "", np.arange(len(order))
    for k, (_, mask) in enumerate(masks.items()):
        mean = way[:, mask].mean(axis=1)
        p.ax.plot(mean, places, color=p.colour(k), linewidth=1.8, zorder=3)
        if not has_errors:
            continue
        deviation, df = errors.deviation(contrast * (mask / mask.sum())[:, None])
        half = float(quantiles((1 + level) / 2, np.array(df))) * deviation[order]
        end = mean[::-1][at]
        bands = p.ax.barh(
            at - 0.5,
            2 * half,
            left=end - half,
            height=0.22,
            color=p.colour(k),
            alpha=0.35,
            linewidth=0,
            zorder=2.5,
            clip_on=False,  # the uppermost lies on the edge
        )
        for band in bands:
            band.sticky_edges.x.clear()  # so that the widest keeps a margin
    names = [
        f"{label(str(name), 24)} ({plural(int(mask.sum()), 'row')})" for name, mask in masks.items()
    ]
    legend(p, names, "")
