"""What an explanation is about, small enough to be kept beside it and shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

MOST = 512
"""An image is kept with at most this many pixels a side, thinned out evenly."""


@final
@dataclass(frozen=True, eq=False)
class Picture:
    """Pixels to show, uint8 of shape (height, width, 3), and the segment each belongs to."""

    pixels: NDArray[np.uint8]
    labels: NDArray[np.intp]
    note: str = ""

    @classmethod
    def of(cls, picture: NDArray[Any], labels: NDArray[np.intp], note: str = "") -> Picture:
        """An image of any range, grey or colour, with its channels last, as it can be shown."""
        step = -(-max(labels.shape) // MOST)
        small = picture[::step, ::step].astype(np.float64)
        small = small[..., None] if small.ndim == 2 else small
        if small.shape[-1] in (2, 4):  # what is transparent shows the paper
            top = 255.0 if picture.dtype.kind in "iu" else max(float(small.max()), 1.0)
            share = small[..., -1:] / top
            small = small[..., :-1] * share + top * (1 - share)
        low, high = _range(picture, small)
        if not np.isfinite(high - low):  # the ends are farther apart than a float can tell
            low, high, small = low / 2, high / 2, small / 2
        shown = np.rint(255 * np.clip((small - low) / (high - low), 0, 1)).astype(np.uint8)
        three = np.broadcast_to(shown[..., :1], (*shown.shape[:2], 3))
        return cls(shown if shown.shape[-1] == 3 else three.copy(), labels[::step, ::step], note)


def _range(picture: NDArray[Any], small: NDArray[np.float64]) -> tuple[float, float]:
    """What is black and what is white: by the dtype's custom, or by what is there."""
    low, high = float(small.min()), float(small.max())
    if picture.dtype.kind == "b" or (picture.dtype.kind == "f" and low >= 0 and high <= 1):
        return 0.0, 1.0
    if picture.dtype == np.uint8:
        return 0.0, 255.0
    return low, high if high > low else low + max(abs(low), 1.0)


@final
@dataclass(frozen=True)
class Passage:
    """A text, and its parts: where each begins and ends, and the feature it belongs to."""

    text: str
    spans: tuple[tuple[int, int, int], ...]
    note: str = ""


Subject: TypeAlias = Picture | Passage
