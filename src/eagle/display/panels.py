"""An image, its segments by score, and by how sure their scores are, side by side."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from eagle._values.subject import Image
from eagle.display.sheet import Shown, hue

MIN_OUTLINED_PIXELS: Final = 20
"""Smaller images have no outlines, which would cover them."""

SHADES: Final = 0b11111000

MAX_PIXELS: Final = 128
"""Pixels of an image's side on a page."""


def panels(shown: Shown, image: Image, side: int = MAX_PIXELS) -> NDArray[np.uint8]:
    """The image, its heat map, and its uncertainty if known, side by side, small."""
    parts = pictures(shown, image, side)
    gap = np.full((len(parts[0]), 4, 3), 255, dtype=np.uint8)
    return np.concatenate([piece for part in parts for piece in (part, gap)][:-1], axis=1)


def pictures(shown: Shown, image: Image, side: int = MAX_PIXELS) -> list[NDArray[np.uint8]]:
    """The image, its heat map, and its uncertainty if known, with at most `side` pixels a side.

    Segments whose sign is not sure are hatched. Shades are fewer than there could be: it
    halves the bytes, and is hardly seen.
    """
    thin = np.ix_(*(_thin(n, side / max(image.labels.shape)) for n in image.labels.shape))
    labels, pixels = image.labels[thin], image.pixels[thin] & SHADES
    grey = pixels.mean(axis=2, keepdims=True) // 16 * 16
    hues = np.array([_rgb(hue(shown, k)) for k in range(len(shown.scores))])
    share = (0.85 * np.abs(shown.depth)[labels] * ~_hatch(shown.unsure[labels]))[..., None]
    heat = (1 - share) * (0.5 * grey + 110) + share * hues[labels]
    parts = [pixels, heat]
    if shown.doubt.any():
        parts.append(np.repeat(255 * (1 - shown.doubt)[labels][..., None], 3, axis=2))
    edge = np.where(_edges(labels), 0.6, 1.0)[..., None]
    parts[1:] = [part * edge for part in parts[1:]]
    return [np.asarray(np.rint(part), dtype=np.uint8) for part in parts]


def _thin(n: int, share: float) -> NDArray[np.intp]:
    """Places among n, evenly, a share of them, or all."""
    count = max(1, min(n, round(n * share)))
    return np.asarray(np.arange(count) * n // count)


def _hatch(unsure: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Diagonal stripes through what is not sure, where there is room for them."""
    rows, columns = np.indices(unsure.shape)
    striped = (rows + columns) % 6 < 3
    return np.asarray(unsure & striped & (min(unsure.shape) >= MIN_OUTLINED_PIXELS))


def _edges(labels: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Pixels whose neighbour to the right or below is of another segment."""
    edges = np.zeros(labels.shape, dtype=bool)
    edges[:, :-1] = labels[:, 1:] != labels[:, :-1]
    edges[:-1] |= labels[1:] != labels[:-1]
    return np.asarray(edges & (min(labels.shape) >= MIN_OUTLINED_PIXELS))


def _rgb(hue: str) -> tuple[int, int, int]:
    return int(hue[1:3], 16), int(hue[3:5], 16), int(hue[5:7], 16)
