"""Pictures, taken apart into superpixels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle.space.mask import Fair, MaskSpace, Sizes
from eagle.types import Array, InputError, MissingExtraError, Points

Picture: TypeAlias = NDArray[Any]
"""Shape (height, width) or (height, width, channels)."""

SMALL: Final = 64
"""A picture with a side below this has 20 segments by default, others 50."""


@final
@dataclass(frozen=True, eq=False)
class Images:
    """How pictures are taken apart, and what stands where a segment is off.

    `segments` is about how many SLIC superpixels to make, an array of labels of the picture's
    height and width, or a function from a picture to one. `fill` is "mean" (the segment's own
    mean colour), a number or colour, or a picture of the same shape to show through.
    """

    segments: int | NDArray[Any] | Callable[[Picture], NDArray[Any]] | None = None
    fill: Any = "mean"
    sizes: Sizes = field(default_factory=Fair)

    def groups(self, X: Any, one: bool) -> list[Pictures]:
        """One picture, or several; each has segments, and so features, of its own."""
        pictures = [X] if one else X
        return [Pictures(*self._apart(np.asarray(p)), self.sizes) for p in pictures]

    def _apart(self, picture: Picture) -> tuple[Picture, NDArray[np.intp], Picture]:
        if picture.ndim not in (2, 3) or not picture.size or picture.dtype.kind not in "fiub":
            raise InputError(
                "a picture is an array of numbers of shape (height, width) or (height, width, "
                f"channels), not {picture.dtype} of shape {picture.shape}"
            )
        if picture.dtype.kind == "f" and not np.isfinite(picture).all():
            raise InputError("a picture holds NaN or infinity")
        labels = self._labels(picture)
        if labels.shape != picture.shape[:2]:
            raise InputError(
                f"segments of shape {labels.shape} do not fit a picture of {picture.shape[:2]}"
            )
        # Numbered from 0 without gaps: segmenters start where they like.
        flat = np.unique(labels, return_inverse=True)[1].reshape(labels.shape)
        return picture, flat.astype(np.intp), self._filled(picture, flat)

    def _labels(self, picture: Picture) -> NDArray[Any]:
        if callable(self.segments):
            return np.asarray(self.segments(picture))
        if isinstance(self.segments, np.ndarray):
            return self.segments
        try:
            from skimage.segmentation import slic
        except ImportError:
            raise MissingExtraError("cutting a picture", "scikit-image", "image") from None
        wanted = self.segments or (20 if min(picture.shape[:2]) < SMALL else 50)
        compactness = 10.0 if picture.ndim == 3 else 0.1
        channel = {"channel_axis": -1 if picture.ndim == 3 else None}
        scaled = picture.astype(np.float64)
        scaled = (scaled - scaled.min()) / (np.ptp(scaled) or 1.0)
        found = slic(
            scaled, n_segments=int(wanted), compactness=compactness, start_label=0, **channel
        )
        return np.asarray(found)

    def _filled(self, picture: Picture, labels: NDArray[Any]) -> Picture:
        """What shows where every segment is off."""
        if not isinstance(self.fill, str):
            try:
                return np.broadcast_to(np.asarray(self.fill, dtype=picture.dtype), picture.shape)
            except (ValueError, TypeError):
                raise InputError(
                    f"a fill is 'mean', a colour, or a picture of shape {picture.shape}"
                ) from None
        if self.fill != "mean":
            raise InputError(f"a fill is 'mean', a colour, or a picture, not {self.fill!r}")
        flat = picture.reshape(labels.size, -1).astype(np.float64)
        size = np.bincount(labels.ravel())
        means = np.stack([np.bincount(labels.ravel(), c) / size for c in flat.T], axis=1)
        if picture.dtype.kind != "f":
            means = np.rint(means)
        return np.asarray(means.astype(picture.dtype)[labels.ravel()].reshape(picture.shape))


@final
@dataclass(frozen=True, eq=False)
class Pictures:
    """One picture to be explained: its segments, numbered from 0, and what shows beneath them."""

    picture: Picture
    labels: NDArray[np.intp]
    beneath: Picture
    sizes: Sizes

    def __len__(self) -> int:
        return 1

    @property
    def d(self) -> int:
        return int(self.labels.max()) + 1

    @property
    def row_bytes(self) -> int:
        return int(self.picture.nbytes)

    def names(self, i: int) -> tuple[str, ...]:
        return tuple(f"segment {k}" for k in range(self.d))

    def conditions(self, i: int) -> tuple[str, ...]:
        return self.names(i)

    def own(self, i: int) -> tuple[Any, ...]:
        """How many pixels each segment has."""
        return tuple(np.bincount(self.labels.ravel()).tolist())

    def contrast(self, i: int) -> Array:
        return np.ones(self.d)

    def space(self, i: int) -> MaskSpace:
        return MaskSpace(self.d, self.sizes)

    def inputs(self, rows: Sequence[int], points: Sequence[Points]) -> Any:
        """Pictures whose segments are off where the masks say so, shape (n, …)."""
        off = np.concatenate(list(points)).astype(bool)[:, self.labels]
        off = off[..., None] if self.picture.ndim == 3 else off
        return np.where(off, self.beneath, self.picture)
