"""An image, its segments by score, and by how sure their scores are, side by side."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from eagle.show.sheet import DOWN, UP, Shown, hue
from eagle.subject import Picture

SMALLEST: Final = 20
"""Outlines would cover images with fewer pixels a side."""

WIDEST: Final = 128
"""Pixels of an image's side on a page."""


def panels(shown: Shown, picture: Picture) -> NDArray[np.uint8]:
    """The image, its heat map, and its uncertainty if known, side by side, small."""
    step = -(-max(picture.labels.shape) // WIDEST)
    labels, pixels = picture.labels[::step, ::step], picture.pixels[::step, ::step]
    grey = pixels.mean(axis=2, keepdims=True)
    hues = np.array([_rgb(hue(shown, k, (UP, DOWN))) for k in range(len(shown.scores))])
    share = 0.85 * np.abs(shown.depth)[labels][..., None]
    heat = (1 - share) * (0.5 * grey + 110) + share * hues[labels]
    parts = [pixels, heat]
    if shown.doubt.any():
        parts.append(np.repeat(255 * (1 - shown.doubt)[labels][..., None], 3, axis=2))
    edge = np.where(_edges(labels), 0.6, 1.0)[..., None]
    parts[1:] = [part * edge for part in parts[1:]]
    gap = np.full((len(labels), 4, 3), 255.0)
    beside = [piece for part in parts for piece in (part, gap)][:-1]
    return np.asarray(np.rint(np.concatenate(beside, axis=1)), dtype=np.uint8)


def _edges(labels: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Pixels whose neighbour to the right or below is of another segment."""
    found = np.zeros(labels.shape, dtype=bool)
    found[:, :-1] = labels[:, 1:] != labels[:, :-1]
    found[:-1] |= labels[1:] != labels[:-1]
    return np.asarray(found & (min(labels.shape) >= SMALLEST))


def _rgb(hue: str) -> tuple[int, int, int]:
    return int(hue[1:3], 16), int(hue[3:5], 16), int(hue[5:7], 16)
