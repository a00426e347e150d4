"""An image with its strongest sure segments outlined, and its segments by score and by width."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values import png
from eagle._values.subject import Image
from eagle.display.sheet import NOT_SURE, Shown, hue, ways

MIN_OUTLINED_PIXELS: Final = 20
"""Smaller images have no outlines between segments, which would cover them."""

MAX_OUTLINED: Final = 5
"""Number of segments, the strongest of those that are sure, that are outlined and numbered."""

SHADES: Final = 0b11111000

UNSURE_SHARE, SURE_SHARE = 0.3, 0.85
"""How much colour the strongest segment has: where it is not sure which way, and where it is."""

MAX_PIXELS: Final = 128
"""Pixels of an image's side on a page."""

MAX_WIDTH_RATIO: Final = 0.8
"""Widths differ if the narrowest interval is less than this share of the widest."""

MIN_WIDTH: Final = 0.1
"""Widths below this share of the strongest score are not worth a picture."""


@final
@dataclass(frozen=True)
class Outline:
    """A segment that is outlined: its number, which way it pushes, its edge as runs of an SVG path,
    and a pixel of it near its middle."""

    number: int
    way: str
    path: str
    x: float
    y: float


def outlines(shown: Shown, image: Image, side: int = MAX_PIXELS) -> list[Outline]:
    """The strongest segments that are sure, in pixels of the image as `pictures` makes it."""
    labels = image.labels[_thin_grid(image, side)]
    out = []
    for k in strongest_sure(shown):
        mask = labels == k
        if not mask.any():
            continue
        across = "".join(f"M{x0} {y0}H{x1}" for x0, y0, x1, y1 in edges(mask) if y0 == y1)
        down = "".join(f"M{x0} {y0}V{y1}" for x0, y0, x1, y1 in edges(mask) if x0 == x1)
        way = ("up" if shown.scores[k] > 0 else "down") if shown.signed else "flat"
        row, column = middle_of(mask)
        out.append(Outline(k, way, across + down, column + 0.5, row + 0.5))
    return out


def strongest_sure(shown: Shown, most: int | None = MAX_OUTLINED) -> list[int]:
    """The segments that surely push one way, the strongest first."""
    order = np.argsort(-np.abs(shown.scores), kind="stable")
    return [int(k) for k in order if not shown.unsure[k] and shown.scores[k]][:most]


def middle_of(mask: NDArray[np.bool_]) -> tuple[int, int]:
    """The row and the column of the pixel that is nearest to the middle of a segment."""
    rows, columns = np.nonzero(mask)
    away = (rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2
    at = int(away.argmin())
    return int(rows[at]), int(columns[at])


def edges(mask: NDArray[np.bool_]) -> Iterator[tuple[int, int, int, int]]:
    """The edge of a segment as straight runs from (x0, y0) to (x1, y1), between pixels."""
    padded = np.pad(mask, 1).astype(np.int8)
    for upright in (False, True):
        grid = padded.T if upright else padded
        steps = np.diff(grid, axis=0)[:, 1:-1] != 0
        for at in np.flatnonzero(steps.any(axis=1)).tolist():
            ends = np.flatnonzero(np.diff(np.pad(steps[at], 1).astype(np.int8)))
            for start, end in ends.reshape(-1, 2).tolist():
                yield (at, start, at, end) if upright else (start, at, end, at)


def widths_differ(shown: Shown) -> bool:
    """Whether some intervals are wider than others, so that their widths are worth a picture."""
    wide = np.diff(shown.interval[np.isfinite(shown.interval).all(axis=1)], axis=1)
    if not len(wide) or wide.max() < MIN_WIDTH * np.abs(shown.scores).max():
        return False
    return bool(wide.min() < MAX_WIDTH_RATIO * wide.max())


def pictures(shown: Shown, image: Image, side: int = MAX_PIXELS) -> list[NDArray[np.uint8]]:
    """The image, its heat map, and its uncertainty if widths differ, with at most `side` pixels a
    side.

    Segments whose sign is not sure are pale. Shades are fewer than there could be: it halves the
    bytes, and is hardly seen.
    """
    thin = _thin_grid(image, side)
    labels, pixels = image.labels[thin], image.pixels[thin] & SHADES
    grey = pixels.mean(axis=2, keepdims=True) // 16 * 16
    hues = np.array([_rgb(hue(shown, k)) for k in range(len(shown.scores))])
    most = np.where(shown.unsure, UNSURE_SHARE, SURE_SHARE)
    share = (most * np.abs(shown.depth))[labels][..., None]
    heat = (1 - share) * (0.5 * grey + 110) + share * hues[labels]
    parts = [pixels, heat]
    if widths_differ(shown):
        parts.append(np.repeat(255 * (1 - shown.doubt)[labels][..., None], 3, axis=2))
    edge = np.where(_borders(labels), 0.6, 1.0)[..., None]
    parts[1:] = [part * edge for part in parts[1:]]
    return [np.asarray(np.rint(part), dtype=np.uint8) for part in parts]


def _thin_grid(image: Image, side: int) -> tuple[NDArray[np.intp], ...]:
    """Which rows and columns of an image are shown."""
    return np.ix_(*(_thin(n, side / max(image.labels.shape)) for n in image.labels.shape))


def _thin(n: int, share: float) -> NDArray[np.intp]:
    """Places among n, evenly, a share of them, or all."""
    count = max(1, min(n, round(n * share)))
    return np.asarray(np.arange(count) * n // count)


def _borders(labels: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Pixels whose neighbour to the right or below is of another segment."""
    edges = np.zeros(labels.shape, dtype=bool)
    edges[:, :-1] = labels[:, 1:] != labels[:, :-1]
    edges[:-1] |= labels[1:] != labels[:-1]
    return np.asarray(edges & (min(labels.shape) >= MIN_OUTLINED_PIXELS))


def _rgb(hue: str) -> tuple[int, int, int]:
    return int(hue[1:3], 16), int(hue[3:5], 16), int(hue[5:7], 16)


# -- as HTML -------------------------------------------------------------------------------------


def captions(shown: Shown) -> tuple[str, str, str]:
    """What each picture shows."""
    way = ways([shown.slopes]) if shown.signed else "The darker, the more it matters."
    pale = f" Pale: {NOT_SURE}." if shown.unsure.any() else ""
    few = bool(strongest_sure(shown))
    return (
        "The image; its strongest sure segments are numbered as in the table" * few
        or "The image; of no segment it is sure which way it pushes",
        f"{way}{pale}",
        "How sure: the darker, the wider the interval",
    )


def figures(shown: Shown, image: Image, sides: Sequence[int], most: int) -> str:
    """The pictures with captions, as large as their PNG files may be: `most` bytes together."""
    for side in sides:
        files = [png.encode(part) for part in pictures(shown, image, side)]
        if sum(map(len, files)) <= most:
            break
    drawn = [_overlay(shown, image, side), "", ""]
    each = "".join(
        f'<figure><div class="photo"><img alt="{escape(words)}" src="data:image/png;base64,'
        f'{b64encode(file).decode()}">{over}</div><figcaption>{escape(words)}</figcaption></figure>'
        for words, file, over in zip(captions(shown), files, drawn, strict=False)
    )
    return f'<div class="pictures">{each}</div>'


def _overlay(shown: Shown, image: Image, side: int) -> str:
    """The outlines and numbers of the strongest sure segments, over the image."""
    rows, columns = _thin_grid(image, side)
    size = max(len(rows), columns.shape[1]) / 14
    each = "".join(
        f'<path class="under" d="{one.path}"/><path class="edge {one.way}" d="{one.path}"/>'
        for one in outlines(shown, image, side)
    )
    each += "".join(
        f'<text x="{one.x}" y="{one.y}" font-size="{size:.3g}">{one.number}</text>'
        for one in outlines(shown, image, side)
    )
    return f'<svg viewBox="0 0 {columns.shape[1]} {len(rows)}" aria-hidden="true">{each}</svg>'
