"""Images, divided into superpixels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, final

import numpy as np
from numpy.typing import NDArray

from eagle._sources.in_parts import call, cast_fill, part_groups
from eagle._sources.masks import MASKS, Fair, OffsetSpace, Sizes, check_mask_law
from eagle._values.arrays import Array, Points
from eagle._values.checks import check_choice, number
from eagle._values.packages import package
from eagle._values.subject import Image
from eagle._values.text import short_repr
from eagle.contracts import Group, Kind, Need, Source, Wanted
from eagle.errors import InputError

Pixels = NDArray[Any]
"""Shape (height, width) or (height, width, channels)."""

SMALL_SIDE: Final = 64
"""An image with a side below this has about 20 segments by default, others 50."""

CHANNELS: Final = (1, 2, 3, 4)
"""Grey, grey and alpha, colour, colour and alpha."""

GREY_COMPACTNESS: Final = 0.01
"""Scales the compactness of grey images: shades differ by up to 1, CIELAB colours by up to 100."""

MAX_GREY_LEVEL: Final = 2**16 - 1
"""The largest grey level, of 16 bits. Larger integers are colours packed into one number."""


@final
@dataclass(frozen=True, eq=False)
class Images(Source):
    """How images are divided into segments, and what replaces a segment that is off.

    Examples:
        >>> explainer = eagle.Explainer(brightness, eagle.Images(segments=blocks), budget=32)
        >>> explanation = explainer.explain(image)  # eagle.plot.image(explanation) draws it
        >>> len(explanation.names)
        4

    `segments` is about how many SLIC superpixels to make, an array of labels of the image's
    height and width, or a function from an image (channels last) to such labels. `fill` is "mean"
    (the segment's own mean colour), "blur", "noise", a number or colour, or another image of the
    same shape. `channels` says where an image has its channels: "last", or "first" as in torch.
    An alpha channel is never changed. The larger `compactness` is, the less superpixels follow
    edges, and the nearer is their number to what was asked: asked for 50, photographs have 42 to
    49 at a compactness of 30, and 25 to 43 at 10.

    With `shift`, segments are not switched off. Their brightness moves by a normal step with this
    standard deviation, within the image's range, and a score is the change per `shift`.
    """

    segments: int | NDArray[Any] | Callable[[Pixels], NDArray[Any]] | None = None
    fill: Any = "mean"
    channels: Literal["last", "first"] = "last"
    sizes: Sizes = field(default_factory=Fair)
    shift: float | None = None
    compactness: float = 30.0

    def __post_init__(self) -> None:
        check_choice(self.channels, ("last", "first"), "channels")
        if self.shift is not None:
            number(self.shift, "shift", above=0)
        number(self.compactness, "compactness", above=0)
        check_mask_law(self.sizes)
        if isinstance(self.segments, list | tuple):
            object.__setattr__(self, "segments", _array(self.segments))
        whole = isinstance(self.segments, int | np.integer) and self.segments > 0
        whole = whole and not isinstance(self.segments, bool)
        labels = isinstance(self.segments, np.ndarray) and self.segments.ndim == 2
        if not (self.segments is None or callable(self.segments) or labels or whole):
            raise InputError(
                "segments are a number of them from 1, a 2-D array of labels, or a function from "
                f"an image to one, not {_segments_text(self.segments)}"
            )
        named = isinstance(self.fill, str) and self.fill in ("mean", "blur", "noise")
        if not named and _array(self.fill).dtype.kind not in "fiub":
            raise InputError(
                "a fill is 'mean', 'blur', 'noise', a colour, or an image, not "
                f"{_segments_text(self.fill)}"
            )

    @property
    def kind(self) -> Kind:
        if self.shift is not None:
            return Kind("image", "continuous", frozenset({Need.OFFSETS}))
        return Kind("image", "binned", MASKS)

    def describe(self) -> list[str]:
        return [f"Explains: images, by {self._cut()}"]

    def _cut(self) -> str:
        """What images are cut into, as text."""
        if self.as_given:
            return "segments as given"
        if self.segments is not None:
            return f"about {self.segments} segments"
        return f"about 50 segments, or 20 where a side has fewer than {SMALL_SIDE} pixels"

    @property
    def as_given(self) -> bool:
        """Whether the caller says what the segments are."""
        return callable(self.segments) or isinstance(self.segments, np.ndarray)

    def segment_count(self, image: Pixels) -> int:
        if isinstance(self.segments, int | np.integer):
            return int(self.segments)
        return 20 if min(image.shape[:2]) < SMALL_SIDE else 50

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        """One image, or several, each with segments of its own; those of one size share calls."""
        one = wanted.one
        images = list(X) if not one and isinstance(X, Iterable) else [X]
        if not one and self.channels == "last" and _is_colour(X):
            raise InputError(
                f"an array of shape {X.shape} is one colour image, not several: use explain, or "
                "give a list of images"
            )
        sizes = self.sizes if self.shift is None else None
        return part_groups(images, self._cut_up, ("image", "images"), one, sizes)

    def _cut_up(self, given: Any) -> CutImage:
        image = self._last(_check(_array(given)))
        labels = np.asarray(self._labels(image))
        if labels.shape != image.shape[:2] or labels.dtype.kind not in "iub":
            raise InputError(
                f"{labels.dtype} segments of shape {labels.shape} do not fit: they must be whole "
                f"numbers of shape {image.shape[:2]}, the image's"
            )
        # Numbered from 0 without gaps: segmenters start where they like.
        flat = np.unique(labels, return_inverse=True)[1].reshape(labels.shape).astype(np.intp)
        return CutImage(image, flat, self._beneath(image, flat), self)

    def _last(self, image: Pixels) -> Pixels:
        """The image with its channels last."""
        if image.ndim == 2:
            return image
        first, last = image.shape[0] in CHANNELS, image.shape[-1] in CHANNELS
        if self.channels == "first" and first:
            return np.moveaxis(image, 0, -1)
        if self.channels == "last" and last:
            return image
        other = "first" if self.channels == "last" else "last"
        hint = f": give eagle.Images(channels={other!r})" if (first or last) else ""
        raise InputError(
            f"an image of shape {image.shape} does not have 1 to 4 channels {self.channels}{hint}"
        )

    def _labels(self, image: Pixels) -> NDArray[Any]:
        if callable(self.segments):
            cut = self.segments
            return np.asarray(call("the function that cuts images", cut, image.copy()))
        if isinstance(self.segments, np.ndarray):
            return self.segments
        cutting = package("skimage.segmentation", "cutting an image", "image")
        wanted = self.segment_count(image)
        colour = opaque(image).astype(np.float64)
        if not np.ptp(colour, axis=(0, 1)).any():  # nothing to cut by
            return np.zeros(image.shape[:2], dtype=np.intp)
        colour = (colour - colour.min()) / float(np.ptp(colour) or 1.0)
        many = colour.ndim == 3 and colour.shape[-1] == 3
        flat = colour if many or colour.ndim == 2 else colour[..., 0]
        if min(image.shape[:2]) < 2:  # too thin to be cut by colour: by place
            place = np.arange(flat.shape[0] * flat.shape[1]).reshape(flat.shape[:2])
            return np.asarray(place * wanted // max(place.size, wanted))
        return np.asarray(
            cutting.slic(
                flat,
                n_segments=wanted,
                compactness=self.compactness * (1.0 if many else GREY_COMPACTNESS),
                start_label=0,
                channel_axis=-1 if many else None,
            )
        )

    def _beneath(self, image: Pixels, labels: NDArray[np.intp]) -> Pixels:
        """The image with every segment off, in the shape and dtype of the image."""
        if not isinstance(self.fill, str):
            given = _array(self.fill)
            if given.ndim == 3 and given.shape != image.shape and self.channels == "first":
                given = np.moveaxis(given, 0, -1)
            try:
                whole = np.broadcast_to(given, image.shape)
            except ValueError:
                raise InputError(
                    f"a fill of shape {given.shape} is neither a colour nor an image of shape "
                    f"{image.shape}"
                ) from None
            return _with_alpha(image, cast_fill(image.dtype, whole, exact=True))
        made = {"mean": _mean, "blur": _blur, "noise": _noise}[self.fill](image, labels)
        return _with_alpha(image, cast_fill(image.dtype, made))


@final
@dataclass(frozen=True, eq=False)
class CutImage:
    """An image, the labels of its segments, from 0, and the image with every segment off."""

    image: Pixels
    labels: NDArray[np.intp]
    beneath: Pixels
    how: Images

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(f"segment {k}" for k in range(int(self.labels.max()) + 1))

    @property
    def own(self) -> tuple[Any, ...]:
        """How many pixels each segment has."""
        return tuple(np.bincount(self.labels.ravel()).tolist())

    @property
    def form(self) -> Hashable:
        return self.image.shape, self.image.dtype.str

    @property
    def row_bytes(self) -> int:
        return int(self.image.nbytes)

    @property
    def subject(self) -> Image:
        return Image.of(self.image, self.labels, self._note(), self._cut(), self._fill())

    def _cut(self) -> str:
        """How many segments there are, and how many were asked for, as text."""
        count = f"{len(self.names)} segment{'s' if len(self.names) > 1 else ''}"
        if self.how.as_given:
            return f"{count}, as given"
        return f"{count}, where {self.how.segment_count(self.image)} were asked"

    def _fill(self) -> str:
        """What is there instead of a segment that is off, as text; "" where none is off."""
        if self.how.shift is not None:
            return ""
        fill = self.how.fill
        return f"fill={fill!r}" if isinstance(fill, str) else "the fill given"

    def _note(self) -> str:
        """What must be known to read the scores: a cut or a fill that leaves nothing to see."""
        notes = []
        if len(self.names) == 1:
            seen = opaque(self.image)
            plain = " of one colour" if (seen == seen[:1, :1]).all() else ""
            notes.append(f"the image{plain} is a single segment: it is kept or not as a whole")
        if self.how.shift is None and np.array_equal(self.image, self.beneath):
            notes.append(
                "what is off looks as what is on, so the model saw one image only: another fill "
                "would tell more"
            )
        return "; ".join(notes)

    def inputs(self, points: Points) -> Pixels:
        """The image at each point, shape (n, …), with its channels where they came."""
        if self.how.shift is None:
            drawn = self._mask(points)
        else:
            offsets = OffsetSpace(len(self.names)).features(points)
            drawn = self._shift(offsets, float(self.how.shift))
        first = self.how.channels == "first" and drawn.ndim == 4
        return np.ascontiguousarray(np.moveaxis(drawn, -1, 1)) if first else drawn

    def _mask(self, masks: Points) -> Pixels:
        """The image under each mask, shape (n, …): segments that are off show `beneath`.

        Bits are combined mask by mask, so that all but the result stays in the processor's cache.
        """
        word = np.dtype(f"u{self.image.dtype.itemsize}")
        shown, beneath = (
            np.ascontiguousarray(p).view(word).ravel() for p in (self.image, self.beneath)
        )
        change = shown ^ beneath
        where = np.repeat(self.labels.ravel(), shown.size // self.labels.size)
        off = (-masks.astype(np.int64)).astype(word)  # all bits of what is off, none of the rest
        out = np.empty((len(masks), shown.size), dtype=word)
        for row, mask in zip(out, off, strict=True):
            np.take(mask, where, out=row, mode="clip")
            row &= change
            row ^= shown
        return out.view(self.image.dtype).reshape(len(masks), *self.image.shape)

    def _shift(self, offsets: Array, shift: float) -> Pixels:
        """The image with segments brighter by offset × shift, within its range, shape (n, …)."""
        low, high = _limits(self.image)
        out = np.empty((len(offsets), *self.image.shape), dtype=self.image.dtype)
        seen = opaque(self.image).astype(np.float64)
        for row, offset in zip(out, offsets, strict=True):
            step = (shift * offset)[self.labels]
            moved = np.clip(seen + (step[..., None] if seen.ndim == 3 else step), low, high)
            row[...] = self.image
            row[..., : seen.shape[-1]] = moved if row.dtype.kind == "f" else np.rint(moved)
        return out


def _limits(image: Pixels) -> tuple[float, float]:
    """The least and largest pixel: by dtype; for floats 0 and 1, or their own range if outside."""
    if image.dtype.kind in "iu":
        limits = np.iinfo(image.dtype)
        return float(limits.min), float(limits.max)
    low, high = float(image.min()), float(image.max())
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)


def _segments_text(segments: Any) -> str:
    """What was given as segments, short enough for a sentence."""
    if isinstance(segments, np.ndarray):
        return f"an array of shape {segments.shape}"
    return short_repr(segments, 60)


def _is_colour(X: Any) -> bool:
    """Whether an array is taken as one colour image: no grey images are 3 or 4 pixels wide."""
    return isinstance(X, np.ndarray) and X.ndim == 3 and X.shape[-1] in (3, 4)


def _array(value: Any) -> NDArray[Any]:
    if getattr(value, "mode", None) in ("P", "PA"):  # Pillow's
        raise InputError(
            "an image with a palette holds numbers of colours, not colours: convert it to RGB"
        )
    try:
        return np.asarray(value)
    except ValueError:
        raise InputError("the rows of an image, of labels or of a fill differ in length") from None


def opaque(image: Pixels) -> Pixels:
    """The image without its alpha channel."""
    alpha = image.ndim == 3 and image.shape[-1] in (2, 4)
    return image[..., :-1] if alpha else image


def _with_alpha(image: Pixels, made: Pixels) -> Pixels:
    if opaque(image) is not image:
        made = np.concatenate([made[..., :-1], image[..., -1:]], axis=-1)
    return made


def _check(image: Pixels) -> Pixels:
    if image.ndim not in (2, 3) or not image.size or image.dtype.kind not in "fiub":
        raise InputError(
            "an image is an array of numbers of shape (height, width) or (height, width, "
            f"channels), not {image.dtype} of shape {image.shape}"
        )
    if image.ndim == 2 and image.dtype.kind in "iu" and image.max() > MAX_GREY_LEVEL:
        raise InputError(
            f"integers up to {image.max()} in an image without channels are no shades of "
            "grey: unpack colours into channels, or divide the numbers first"
        )
    if image.dtype.kind == "f" and not np.isfinite(image).all():
        raise InputError("the image holds NaN or infinity: every pixel needs a number")
    if image.dtype.itemsize > 8:
        return image.astype(np.float64)
    return image.copy()  # the caller may go on drawing in it


def _mean(image: Pixels, labels: NDArray[np.intp]) -> Pixels:
    """Every segment in its own mean colour."""
    where = labels.ravel()
    flat = image.reshape(labels.size, -1).astype(np.float64)
    size = np.bincount(where)
    means = np.stack([np.bincount(where, channel) / size for channel in flat.T], axis=1)
    return np.asarray(means[where].reshape(image.shape))


def _blur(image: Pixels, labels: NDArray[np.intp]) -> Pixels:
    """The image under a Gaussian blur; sigma is 1/20 of its shorter side, at least 1 pixel."""
    from scipy.ndimage import gaussian_filter

    sigma = max(1.0, min(labels.shape) / 20)
    axes = (sigma, sigma, 0.0)[: image.ndim]
    return np.asarray(gaussian_filter(image.astype(np.float64), axes))


def _noise(image: Pixels, labels: NDArray[np.intp]) -> Pixels:
    """Noise between the darkest and the brightest of each channel; always the same."""
    raw = np.asarray(np.random.PCG64(0).random_raw(image.size)) >> np.uint64(11)
    uniform = (raw.astype(np.float64) * 2.0**-53).reshape(image.shape)
    low, high = image.min(axis=(0, 1)).astype(float), image.max(axis=(0, 1)).astype(float)
    return np.asarray(low + uniform * (high - low))
