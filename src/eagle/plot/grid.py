"""All rows and features at once, as colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import check_flags
from eagle.display.colours import DOWN, UP
from eagle.display.many import title
from eagle.errors import InputError
from eagle.explanations import Explanations, spread_over
from eagle.plot.drawing import plot_function
from eagle.plot.many import feature_labels, score_label, several, strongest_features
from eagle.plot.page import PLAIN_TEXT, WIDTH, Page, ground, page, plain_ticks, tall

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_COLUMNS: Final = 800
"""More rows than this are drawn as means of neighbours."""

MAX_ORDERED_ROWS: Final = 600
"""Number of rows that are ordered by similarity. Others stand beside the nearest of them."""

MIN_HEIGHT: Final = 1.0
"""The least height in inches, so that there is room for the line and the scale of colours."""

CHUNK: Final = 4096
"""Rows that are compared with the ordered ones at a time."""


@plot_function
def heatmap(
    explanations: Explanations,
    ax: Axes | None = None,
    *,
    by_prediction: bool = False,
    max_display: int = 15,
) -> Axes:
    """Rows from left to right, features from top to bottom, scores as colours.

    Blue pushes the answer up, vermillion down. Rows with similar scores stand together, or, with
    `by_prediction`, rows are in order of the model's prediction, the largest first; the line on top
    is the prediction. The `max_display` features with the largest mean size of scores are drawn,
    and the others are counted.
    """
    e = several(explanations, "heatmap")
    check_flags(by_prediction=by_prediction)
    order = strongest_features(e, max_display)
    rows = order_by_prediction(e.predictions) if by_prediction else similar(e.scores[:, order])
    labels, more = feature_labels(e.labels, order)
    p = page(ax, WIDTH, max(tall(labels, 0.27, more), MIN_HEIGHT), "heatmap")
    cells = merge_rows(e.scores[rows][:, order], MAX_COLUMNS)
    reach = float(np.quantile(np.abs(cells), 0.99)) or float(np.abs(cells).max()) or 1.0
    drawn = p.ax.imshow(
        cells.T,
        cmap=_colours(p, e.table.signed),
        vmin=-reach if e.table.signed else 0.0,
        vmax=reach,
        aspect="auto",
        interpolation="nearest",
        extent=(0, len(e), len(order) - 0.5, -0.5),
    )
    _rows(p, labels, more, len(e))
    above = "prediction" if e.difference is None else "change"
    _line(p, merge_rows(e.predictions[rows][:, None], MAX_COLUMNS)[:, 0], len(e), above)
    p.title(title(e))
    how = "by prediction" if by_prediction else "similar ones side by side"
    fewer = ["Each column is the mean of several rows"] if len(e) > MAX_COLUMNS else []
    p.x_label(f"Rows, {how}", *fewer, score_label(e).replace("Score:", "Colour: the score,", 1))
    _bar(p, drawn)
    return p.finish()


# -- the order of rows ---------------------------------------------------------------------------


def order_by_prediction(predictions: Array) -> NDArray[np.intp]:
    """Rows by decreasing prediction; those without one come last."""
    if np.isnan(predictions).all():
        raise InputError(
            "no prediction of these rows is known: leave by_prediction out, or explain them with "
            "the model at hand"
        )
    return np.argsort(-predictions, kind="stable")  # NaN is last


def similar(scores: Array) -> NDArray[np.intp]:
    """Rows such that similar scores stand together, those with the largest sums first."""
    chosen = spread_over(len(scores), MAX_ORDERED_ROWS)
    leaves = _leaves(scores[chosen])
    if len(chosen) == len(scores):
        return leaves
    place = np.empty(len(chosen), dtype=np.intp)
    place[leaves] = np.arange(len(chosen))
    near = np.concatenate(
        [_nearest(scores[s : s + CHUNK], scores[chosen]) for s in range(0, len(scores), CHUNK)]
    )
    return np.lexsort((-scores.sum(axis=1), place[near]))


def _nearest(scores: Array, kinds: Array) -> NDArray[np.intp]:
    away = (kinds**2).sum(axis=1) - 2 * scores @ kinds.T
    return np.asarray(away.argmin(axis=1))


def _leaves(scores: Array) -> NDArray[np.intp]:
    """The leaves of Ward's tree; at each branch the side with the larger mean sum is first."""
    n = len(scores)
    if n < 3:
        return np.argsort(-scores.sum(axis=1), kind="stable")
    from scipy.cluster.hierarchy import linkage

    tree = linkage(scores, "ward")
    total = np.concatenate([scores.sum(axis=1), np.empty(n - 1)])
    size = np.concatenate([np.ones(n), tree[:, 3]])
    sides = tree[:, :2].astype(np.intp)
    for k, (a, b) in enumerate(sides.tolist()):
        total[n + k] = total[a] + total[b]
    stack, out = [2 * n - 2], []
    while stack:
        node = stack.pop()
        if node < n:
            out.append(node)
            continue
        a, b = sides[node - n].tolist()
        first, second = (a, b) if total[a] / size[a] >= total[b] / size[b] else (b, a)
        stack += [second, first]
    return np.array(out, dtype=np.intp)


def merge_rows(rows: Array, most: int) -> Array:
    """At most `most` rows: means of neighbours, over what is known."""
    if len(rows) <= most:
        return rows
    which = np.arange(len(rows)) * most // len(rows)
    known = ~np.isnan(rows)
    first = np.flatnonzero(np.diff(which, prepend=-1))
    total = np.add.reduceat(np.where(known, rows, 0.0), first, axis=0)
    count = np.add.reduceat(known, first, axis=0, dtype=np.float64)
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


# -- drawing -------------------------------------------------------------------------------------


def _colours(p: Page, signed: bool) -> Any:
    """From negative through the ground's colour to positive scores."""
    from matplotlib.colors import LinearSegmentedColormap

    zero = tuple(ground(p.ax))
    return LinearSegmentedColormap.from_list(
        "scores", [DOWN, zero, UP] if signed else [zero, p.ink]
    )


def _rows(p: Page, labels: list[str], more: int, count: int) -> None:
    p.rows(labels, more)
    p.ax.grid(visible=False)
    p.ax.lines[0].remove()  # the zero line of other plots
    p.ax.set_xlim(0, count)


def _line(p: Page, predictions: Array, count: int, name: str) -> None:
    """The predictions above the rows, if they are known."""
    if np.isnan(predictions).all():
        return
    above = p.ax.inset_axes((0, 0.06, 1, 0.4), transform=_above(p))
    above.plot(
        (np.arange(len(predictions)) + 0.5) * count / len(predictions),
        predictions,
        color=p.ink,
        linewidth=0.8,
    )
    above.set_xlim(0, count)
    above.set_xticks([])
    above.locator_params(axis="y", nbins=2)
    plain_ticks(above.yaxis)
    above.tick_params(axis="y", labelsize="x-small", length=2)
    above.spines[["top", "right", "bottom"]].set_visible(False)
    above.set_ylabel(name, fontsize="x-small", rotation=0, ha="right", va="center", **PLAIN_TEXT)
    above.patch.set_alpha(0)


def _above(p: Page) -> Any:
    """Shares of the axes' width, and inches above them: a height that no layout changes."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    figure: Any = p.ax.figure
    shares: Any = p.ax.transAxes
    inches = figure.dpi_scale_trans + ScaledTranslation(0, 1, shares)
    return blended_transform_factory(shares, inches)


def _bar(p: Page, drawn: Any) -> None:
    inset = p.ax.inset_axes((1.03, 0, 0.025, 1))
    bar = p.ax.figure.colorbar(drawn, cax=inset, extend="both")
    bar.ax.tick_params(labelsize="small")
    bar.outline.set_visible(False)
    plain_ticks(bar.ax.yaxis)
