"""The subject of an explanation: an image, a text or a series, small enough to keep and show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

MAX_PIXELS = 512
"""An image is kept with at most this many pixels a side, thinned out evenly."""


@final
@dataclass(frozen=True, eq=False)
class Image:
    """Pixels to show, uint8 of shape (height, width, 3), and the segment each belongs to.

    `note` is a warning; `cut` says in words what the parts are, and `fill` what is there instead
    of a segment that is off.
    """

    pixels: NDArray[np.uint8]
    labels: NDArray[np.intp]
    note: str = ""
    cut: str = ""
    fill: str = ""

    @classmethod
    def of(
        cls,
        image: NDArray[Any],
        labels: NDArray[np.intp],
        note: str = "",
        cut: str = "",
        fill: str = "",
    ) -> Image:
        """An image of any range, grey or colour, with its channels last, as it can be shown."""
        step = -(-max(labels.shape) // MAX_PIXELS)
        small = image[::step, ::step].astype(np.float64)
        small = small[..., None] if small.ndim == 2 else small
        if small.shape[-1] in (2, 4):  # transparent pixels become white
            top = 255.0 if image.dtype.kind in "iu" else max(float(small.max()), 1.0)
            share = small[..., -1:] / top
            small = small[..., :-1] * share + top * (1 - share)
        low, high = _range(image, small)
        if not np.isfinite(high - low):  # the range is beyond the largest float
            low, high, small = low / 2, high / 2, small / 2
        shown = np.rint(255 * np.clip((small - low) / (high - low), 0, 1)).astype(np.uint8)
        three = np.broadcast_to(shown[..., :1], (*shown.shape[:2], 3))
        pixels = shown if shown.shape[-1] == 3 else three.copy()
        return cls(pixels, labels[::step, ::step], note, cut, fill)


def _range(image: NDArray[Any], small: NDArray[np.float64]) -> tuple[float, float]:
    """The values of black and white: by the dtype's convention, else by the range of pixels."""
    low, high = float(small.min()), float(small.max())
    if image.dtype.kind == "b" or (image.dtype.kind == "f" and low >= 0 and high <= 1):
        return 0.0, 1.0
    if image.dtype == np.uint8:
        return 0.0, 255.0
    return low, high if high > low else low + max(abs(low), 1.0)


@final
@dataclass(frozen=True)
class Passage:
    """A text and its spans: the start, end and feature of each.

    `note` is a warning; `cut` says in words what the parts are, and why. `labels` are the names of
    the features where parts have some, as those of a prompt do: they are shown beside the parts.
    """

    text: str
    spans: tuple[tuple[int, int, int], ...]
    note: str = ""
    cut: str = ""
    labels: tuple[str, ...] = ()


MAX_POINTS = 2048
"""A series is kept with at most this many points: the least and the greatest of equal stretches."""


@final
@dataclass(frozen=True, eq=False)
class Curves:
    """A series to show: values of shape (n, channels) at n `times`, and where its segments meet.

    A feature is a segment of a channel: feature c·s + k is segment k of channel c, of s segments.
    `edges`, shape (s + 1,), are in units of the times, which are days from 1970 on if they are
    `dates`. `note` is a warning; `cut` says in words what the parts are.
    """

    times: NDArray[np.float64]
    values: NDArray[np.float64]
    edges: NDArray[np.float64]
    channels: tuple[str, ...]
    dates: bool = False
    note: str = ""
    cut: str = ""

    @property
    def segments(self) -> int:
        """How many segments a channel has."""
        return len(self.edges) - 1

    def thin(self, most: int = MAX_POINTS) -> Curves:
        """The series with at most `most` points. No peak is lost."""
        n = len(self.times)
        if n <= most:
            return self
        ends = np.arange(0, most // 2 + 1) * n // (most // 2)
        low, high = np.minimum, np.maximum
        least, greatest = (f.reduceat(self.values, ends[:-1], axis=0) for f in (low, high))
        values = np.stack([least, greatest], axis=1).reshape(-1, self.values.shape[1])
        times = np.stack([self.times[ends[:-1]], self.times[ends[1:] - 1]], axis=1).ravel()
        return replace(self, times=times, values=values)


@final
@dataclass(frozen=True)
class SavedSubject:
    """What a file keeps of a subject of one's own: what it says in words, and who made it."""

    made_by: str
    note: str = ""
    cut: str = ""

    @classmethod
    def of(cls, subject: Any) -> SavedSubject:
        made_by = f"{type(subject).__module__}.{type(subject).__qualname__}"
        return cls(made_by, *(str(getattr(subject, name, "")) for name in ("note", "cut")))


Subject: TypeAlias = Image | Passage | Curves | SavedSubject


def plain_subject(subject: Any) -> Subject | None:
    """A subject as a file keeps it."""
    known = subject is None or isinstance(subject, Image | Passage | Curves | SavedSubject)
    return subject if known else SavedSubject.of(subject)
