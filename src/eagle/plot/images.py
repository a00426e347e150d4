"""An explanation of an image: the image, its segments' scores, and how sure these are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import check_flags, integer
from eagle._values.packages import package
from eagle._values.posterior import LEVEL
from eagle._values.subject import Image
from eagle.display.colours import DOWN, GREY, UP
from eagle.display.numbers import at_level
from eagle.display.panels import edges, middle_of, strongest_sure, widths_differ
from eagle.display.sheet import NOT_SURE, Shown, likeliest
from eagle.errors import InputError
from eagle.explanation import Explanation
from eagle.plot.drawing import plot_function
from eagle.plot.page import (
    PLAIN_TEXT,
    SOFT_OPACITY,
    below,
    cautions,
    one,
    plain_ticks,
    several_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNSURE_OPACITY, SURE_OPACITY = 0.35, 0.75
"""The opacity of a segment's colour: where its sign is not sure, and where it is."""


@plot_function
def image(
    explanation: Explanation,
    axes: Any = None,
    *,
    level: float = LEVEL,
    sure: bool = True,
    max_display: int | None = 5,
    numbers: bool = False,
) -> NDArray[np.object_]:
    """The image with its strongest segments outlined, and a signed heat map over all segments.

    Blue segments push the answer up, orange ones down. The `max_display` strongest of those whose
    sign is sure (`Explanation.sure`) are outlined, coloured, and numbered as tables name them;
    None takes all of these, and with `sure=False` others have a pale colour too. With `numbers`,
    each segment of the heat map has its number. A third picture shows how wide intervals are, if
    their widths differ. `axes` are as many axes to draw on. The axes drawn on are returned. Notes
    and warnings of the explanation are written below the first.
    """
    e = one(explanation, "image")
    if not isinstance(e.subject, Image):
        raise InputError("image draws explanations of images: attribution draws any other")
    check_flags(sure=sure, numbers=numbers)
    if max_display is not None:
        integer(max_display, "max_display, how many segments to show,", 1)
    plt = package("matplotlib.pyplot", "image", "plot")
    drawn, own = Shown.of(e, level), None
    known = widths_differ(drawn)
    if axes is None:
        high, wide = e.subject.labels.shape
        size = (3.1 * (3 if known else 2) + 0.9, min(max(3.1 * high / wide, 1.2), 9.0) + 0.45)
        own, axes = plt.subplots(1, 3 if known else 2, figsize=size, layout="constrained")
    panels = several_axes(axes, 3 if known else 2, "image")
    shown = _which_segments(e, level, sure, max_display)
    title = wrap(e.title, 40)
    _plain(panels[0], e.subject.pixels, "\n".join(title))
    chosen = [k for k in strongest_sure(drawn, None) if shown[k]]
    _outline(panels[0], e, chosen)
    _number_segments(panels[0], e.subject.labels, chosen)
    if own is not None:
        own.set_figheight(own.get_figheight() + 0.17 * (len(title) - 1))
    _heat(panels[1], e, shown, max_display, sure, level)
    if numbers:
        _number_segments(panels[1], e.subject.labels, range(len(e.scores)))
    if known:
        _doubt(panels[2], e, level)
    below(own, panels[0], [line for line in (likeliest(e), *cautions([e])) if line])
    return panels[: 3 if known else 2]


def _which_segments(
    e: Explanation, level: float, sure: bool, max_display: int | None
) -> NDArray[np.bool_]:
    """Which segments are coloured."""
    shown = ~e.doubtful(level) if sure else np.ones(len(e.scores), dtype=bool)
    strongest = [j for j in e.order().tolist() if shown[j]][:max_display]
    return np.isin(np.arange(len(shown)), strongest)


def _plain(ax: Axes, pixels: NDArray[Any], title: str) -> None:
    ax.imshow(pixels, interpolation="nearest")
    ax.set_axis_off()
    ax.set_title(title, loc="left", fontsize="small", weight="bold", **PLAIN_TEXT)


def _heat(
    ax: Axes,
    e: Explanation,
    shown: NDArray[np.bool_],
    max_display: int | None,
    sure: bool,
    level: float,
) -> None:
    assert isinstance(e.subject, Image)
    grey = 0.5 * e.subject.pixels.mean(axis=2) + 110  # light, so that colours and stripes show
    reach = float(np.abs(e.scores).max()) or 1.0
    ax.imshow(grey, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    values = np.where(shown, e.scores, np.nan)[e.subject.labels]
    low = -reach if e.signed else 0.0
    doubt = e.doubtful(level)[e.subject.labels]
    drawn = ax.imshow(
        values,
        cmap=_colours(e.signed),
        vmin=low,
        vmax=reach,
        alpha=np.where(doubt, UNSURE_OPACITY, SURE_OPACITY),
        interpolation="nearest",
    )
    _outlines(ax, e.subject.labels)
    unsure = bool((doubt & np.isfinite(values)).any())
    count = int(shown.sum())
    words = ["score"]
    if max_display is not None:
        words.append(f"the {count} strongest" if count > 1 else "the strongest")
    words += [f"sure at {at_level(level)}"] if sure else []
    words = words if count else [f"no segment is sure at {at_level(level)}"]
    words += [f"pale: {NOT_SURE}"] if unsure else []
    ax.set_axis_off()
    ax.set_title(", ".join(words), loc="left", fontsize="small")
    _bar(ax, drawn)


def _outline(ax: Axes, e: Explanation, chosen: Sequence[int]) -> None:
    """The edges of segments, in the colour of which way they push, on white."""
    from matplotlib.collections import LineCollection

    assert isinstance(e.subject, Image)
    for k in chosen:
        lines = np.array(list(edges(e.subject.labels == k)), dtype=float).reshape(-1, 2, 2) - 0.5
        colour = (UP if e.scores[k] > 0 else DOWN) if e.signed else GREY
        for look, wide in (("white", 3.6), (colour, 2.0)):
            ax.add_collection(
                LineCollection(list(lines), colors=look, linewidths=wide, capstyle="projecting")
            )


def _number_segments(ax: Axes, labels: NDArray[np.intp], chosen: Iterable[int]) -> None:
    """The numbers of segments, at the pixel of each that is nearest to its middle."""
    from matplotlib.patheffects import withStroke

    for k in chosen:
        if not (labels == k).any():
            continue
        row, column = middle_of(labels == k)
        ax.text(
            column,
            row,
            str(k),
            ha="center",
            va="center",
            fontsize="small",
            weight="bold",
            color="black",
            path_effects=[withStroke(linewidth=2, foreground="white")],
        )


def _colours(signed: bool) -> Any:
    """A colour map from negative through white to positive scores."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = (DOWN, "#FFFFFF", UP) if signed else ("#FFFFFF", "#333333")
    return LinearSegmentedColormap.from_list("pushes", ends)


def _quiet() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("doubt", ("#FFFFFF", "#9A8FB0"))


def _doubt(ax: Axes, e: Explanation, level: float) -> None:
    assert isinstance(e.subject, Image)
    low, high = e.interval(level).T
    half: Array = (high - low) / 2
    # Muted colours: intervals are mostly of about the same width, so they should not stand out.
    drawn = ax.imshow(half[e.subject.labels], cmap=_quiet(), vmin=0, interpolation="nearest")
    _outlines(ax, e.subject.labels)
    ax.set_axis_off()
    ax.set_title(f"± half of the {at_level(level)} interval", loc="left", fontsize="small")
    _bar(ax, drawn)


def _bar(ax: Axes, drawn: Any) -> None:
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.8, aspect=30, pad=0.02)
    bar.ax.tick_params(labelsize="x-small")
    bar.outline.set_visible(False)
    plain_ticks(bar.ax.yaxis)


def _outlines(ax: Axes, labels: NDArray[np.intp]) -> None:
    """Thin lines where segments meet."""
    from matplotlib.collections import LineCollection

    rows, columns = np.nonzero(labels[:, 1:] != labels[:, :-1])
    upright = np.stack([columns + 0.5, rows - 0.5, columns + 0.5, rows + 0.5], axis=1)
    rows, columns = np.nonzero(labels[1:] != labels[:-1])
    level = np.stack([columns - 0.5, rows + 0.5, columns + 0.5, rows + 0.5], axis=1)
    lines = np.concatenate([upright, level]).reshape(-1, 2, 2)
    ax.add_collection(
        LineCollection(list(lines), colors="black", linewidths=0.4, alpha=SOFT_OPACITY)
    )
