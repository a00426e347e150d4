"""Masks: which parts of an image or a text are kept."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from eagle._tables.background import NORMAL, STEPS
from eagle._tables.rows import distinct_rows, draw_steps
from eagle._values.arrays import Array, Points
from eagle._values.text import short_repr
from eagle.contracts import Need, Space
from eagle.errors import InputError
from eagle.kernels import log_ways

MASKS: Final = frozenset({Need.MATCHES, Need.MASKS})
"""What sources of masks offer to methods."""


def is_carried(d: int, rows: int, each: int = 2) -> bool:
    """Whether rows are at least `each` for each of d + 1 coefficients, or enough for all masks."""
    return rows >= each * (d + 1) or rows >= 2**d


def most_carried(rows: int, each: int = 2) -> int:
    """The largest number of parts for which `is_carried` is true."""
    return max(rows // each - 1, rows.bit_length() - 1)


@runtime_checkable
class Sizes(Protocol):
    """A law of masks that depends only on the number of kept parts."""

    def counts(self, d: int) -> Array:
        """The probability that k of d parts are kept, for k = 0 to d, shape (d + 1,)."""

    def draw(self, n: int, d: int, rng: np.random.Generator) -> Points:
        """n masks, shape (n, d): 0 where a part is kept, 1 where it is off."""


def check_mask_law(sizes: object) -> None:
    """Refuse an object that is not a law of masks."""
    if isinstance(sizes, type) or not isinstance(sizes, Sizes):
        raise InputError(
            "sizes are a law of masks, such as eagle.spaces.EvenSizes() or Fair(), not "
            f"{short_repr(sizes)}"
        )


@final
@dataclass(frozen=True)
class Fair:
    """Every part is kept with probability ½, as LIME draws masks for images."""

    def counts(self, d: int) -> Array:
        return np.asarray(np.exp(log_ways(d) - d * np.log(2.0)))

    def draw(self, n: int, d: int, rng: np.random.Generator) -> Points:
        raw = np.asarray(rng.bit_generator.random_raw(-(-n * d // 64))).astype("<u8", copy=False)
        return np.unpackbits(raw.view(np.uint8), count=n * d).reshape(n, d)


@final
@dataclass(frozen=True)
class EvenSizes:
    """The number of parts off is uniform from 1 to d, as LIME draws masks for texts."""

    def counts(self, d: int) -> Array:
        return np.append(np.full(d, 1.0 / d), 0.0)

    def draw(self, n: int, d: int, rng: np.random.Generator) -> Points:
        raw = np.asarray(rng.bit_generator.random_raw(n * (d + 1))).reshape(n, d + 1)
        last = (raw[:, 0] % np.uint64(d)).astype(np.intp)
        order = raw[:, 1:]
        out = np.empty((n, d), dtype=np.uint8)
        for masked, row, k in zip(out, order, last.tolist(), strict=True):
            np.less_equal(row, np.partition(row, k)[k], out=masked, casting="unsafe")
        return out


@final
@dataclass(frozen=True)
class MaskSpace(Space):
    """The masks of d parts. A coordinate is 0 where the part is kept, 1 where it is off.

    A feature is 1 where its part is kept. Spaces with equal `d` and `sizes` share their plans.
    """

    d: int
    sizes: Sizes
    masks: bool = True
    steps: int = 2

    @property
    def counts(self) -> Array:
        return self.sizes.counts(self.d)

    @property
    def law(self) -> Hashable:
        return self.d, self.sizes

    @property
    def origin(self) -> Points:
        return np.zeros(self.d, dtype=np.uint8)

    def draw(self, n: int, rng: np.random.Generator) -> Points:
        return self.sizes.draw(n, self.d, rng)

    def features(self, points: Points, out: Array | None = None) -> Array:
        out = np.empty(points.shape) if out is None else out
        np.subtract(1.0, points, out=out)
        return out

    def distinct(self, points: Points) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return distinct_rows(points.astype(np.float64))


@final
@dataclass(frozen=True)
class OffsetSpace(Space):
    """The brightness of d segments, each moved by a normal step, in units of the shift."""

    d: int
    steps: int = STEPS

    @property
    def law(self) -> Hashable:
        return self.d

    @property
    def origin(self) -> Points:
        return np.zeros(self.d, dtype=np.uint16)

    def draw(self, n: int, rng: np.random.Generator) -> Points:
        return np.asarray(self.pools(1, n, rng)[0])

    def pools(self, count: int, n: int, rng: np.random.Generator) -> Points:
        return draw_steps(count, n, self.d, rng)

    def features(self, points: Points, out: Array | None = None) -> Array:
        out = np.empty(points.shape) if out is None else out
        np.take(NORMAL, points, out=out, mode="clip")
        return out

    def distinct(self, points: Points) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return distinct_rows(points.astype(np.float64))
