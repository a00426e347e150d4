"""An explanation of an image: the image, its segments' scores, and how sure these are."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eagle.explanation import Explanation
from eagle.plot.fonts import cautions, legible, visible
from eagle.plot.page import LITERAL, SOFT, below, one, per_cent, unsure
from eagle.show.sheet import DOWN, UP, likeliest
from eagle.subject import Image
from eagle.types import Array, InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 0.9

PALE, DEEP = 0.35, 0.75
"""The opacity of a segment's colour: where its sign is not sure, and where it is."""

STRIPED = 240
"""Stripes are drawn in at least this many pixels a side."""


@legible
def image(
    explanation: Explanation,
    axes: Any = None,
    *,
    level: float = LEVEL,
    sure: bool = False,
    top: int | None = None,
) -> NDArray[np.object_]:
    """The image, a signed heat map over its segments, and how wide their intervals are.

    Blue segments push the answer up, orange ones down; they are pale and hatched where the
    interval contains zero. With `sure`, such segments are left grey; with `top`, only the strongest
    are shown. `axes` are three axes to draw on, or two if there are no intervals. The axes drawn on
    are returned. Warnings of the explanation are written below the first.
    """
    e = one(explanation, "image")
    if not isinstance(e.subject, Image):
        raise InputError("image draws explanations of images: attribution draws any other")
    if top is not None and (isinstance(top, bool) or not isinstance(top, int) or top < 1):
        raise InputError(f"top is how many segments to show, from 1, not {top!r}")
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("image", "matplotlib", "plot") from None
    known, own = e.posterior is not None, None
    if axes is None:
        high, wide = e.subject.labels.shape
        size = (3.1 * (3 if known else 2) + 0.9, min(max(3.1 * high / wide, 1.2), 9.0) + 0.45)
        own, axes = plt.subplots(1, 3 if known else 2, figsize=size, layout="constrained")
    panels = np.ravel(axes)
    if len(panels) < (3 if known else 2):
        raise InputError(f"image draws on {3 if known else 2} axes, not {len(panels)}")
    shown = _shown(e, level, sure, top)
    title = wrap(visible(e.title), 40)
    _plain(panels[0], e.subject.pixels, "\n".join(title))
    if own is not None:
        own.set_figheight(own.get_figheight() + 0.17 * (len(title) - 1))
    _heat(panels[1], e, shown, top, sure, level)
    if known:
        _doubt(panels[2], e, level)
    below(own, panels[0], [line for line in (likeliest(e), *cautions([e])) if line])
    return panels[: 3 if known else 2]


def _shown(e: Explanation, level: float, sure: bool, top: int | None) -> NDArray[np.bool_]:
    """Which segments are coloured."""
    shown = np.ones(len(e.scores), dtype=bool)
    if sure:
        shown &= ~np.array(unsure(e.interval(level)))
    if top is not None:
        strongest = np.zeros_like(shown)
        strongest[e.order()[:top]] = True
        shown &= strongest
    return shown


def _plain(ax: Axes, pixels: NDArray[Any], title: str) -> None:
    ax.imshow(pixels, interpolation="nearest")
    ax.set_axis_off()
    ax.set_title(title, loc="left", fontsize="small", weight="bold", **LITERAL)


def _heat(
    ax: Axes, e: Explanation, shown: NDArray[np.bool_], top: int | None, sure: bool, level: float
) -> None:
    assert isinstance(e.subject, Image)
    grey = 0.5 * e.subject.pixels.mean(axis=2) + 110  # light, so that colours and stripes show
    reach = float(np.abs(e.scores).max()) or 1.0
    ax.imshow(grey, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    values = np.where(shown, e.scores, np.nan)[e.subject.labels]
    low = -reach if e.signed else 0.0
    doubt = np.array(unsure(e.shown(level)))[e.subject.labels]
    drawn = ax.imshow(
        values,
        cmap=_colours(e.signed),
        vmin=low,
        vmax=reach,
        alpha=np.where(doubt, PALE, DEEP),
        interpolation="nearest",
    )
    _outlines(ax, e.subject.labels)
    hatched = doubt & np.isfinite(values)
    if hatched.any():
        _hatched(ax, hatched)
    words = ["score"] + ([f"{top} strongest"] if top is not None else [])
    words += [f"surely not zero at {per_cent(level)}"] if sure else []
    words += [f"hatched: {per_cent(level)} interval contains 0"] if hatched.any() else []
    ax.set_axis_off()
    ax.set_title(", ".join(words), loc="left", fontsize="small")
    _bar(ax, drawn)


def _hatched(ax: Axes, where: NDArray[np.bool_]) -> None:
    """Stripes over some of the pixels."""
    fine = -(-STRIPED // max(where.shape))  # a small image has too few pixels for stripes
    large = where.repeat(fine, axis=0).repeat(fine, axis=1)
    rows, columns = np.indices(large.shape)
    step = max(6, max(large.shape) // 40)
    ink = np.zeros((*large.shape, 4))
    ink[large & ((rows + columns) % step < max(1, step // 5))] = (0.0, 0.0, 0.0, 0.5)
    high, wide = where.shape
    ax.imshow(ink, extent=(-0.5, wide - 0.5, high - 0.5, -0.5), interpolation="nearest")


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
    ax.set_title(f"± half of the {per_cent(level)} interval", loc="left", fontsize="small")
    _bar(ax, drawn)


def _bar(ax: Axes, drawn: Any) -> None:
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.8, aspect=30, pad=0.02)
    bar.ax.tick_params(labelsize="x-small")
    bar.outline.set_visible(False)


def _outlines(ax: Axes, labels: NDArray[np.intp]) -> None:
    """Thin lines where segments meet."""
    from matplotlib.collections import LineCollection

    rows, columns = np.nonzero(labels[:, 1:] != labels[:, :-1])
    upright = np.stack([columns + 0.5, rows - 0.5, columns + 0.5, rows + 0.5], axis=1)
    rows, columns = np.nonzero(labels[1:] != labels[:-1])
    level = np.stack([columns - 0.5, rows + 0.5, columns + 0.5, rows + 0.5], axis=1)
    lines = np.concatenate([upright, level]).reshape(-1, 2, 2)
    ax.add_collection(LineCollection(list(lines), colors="black", linewidths=0.4, alpha=SOFT))
