"""The law of offsets of GLIME and US-LIME: normal, and narrower than the space's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from eagle._values.arrays import Array
from eagle._values.checks import number
from eagle._values.text import short_repr
from eagle.contracts import Kernel, Need, Space
from eagle.designs.law import every_step
from eagle.errors import InputError

MAX_SCALE = 1.0
"""The largest scale: wider offsets would be cut off where the space's steps end."""

MIN_MOVE_CHANCE = 1 / 32
"""A feature that would move less often than this follows the space's own law instead."""

MAX_EXPONENT = 600.0
"""The largest exponent: it keeps exp from overflowing, far beyond the last step."""


@final
@dataclass(frozen=True)
class Gauss:
    """Offsets from N(0, σ²), in the space's own standard deviations."""

    sigma: float
    needs: ClassVar = frozenset({Need.OFFSETS})

    def __post_init__(self) -> None:
        number(self.sigma, "the scale of a law", above=0.0)

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        """The ratio of this law to the space's own, which is normal; 1 for matches.

        It is also 1 for features that this law would hardly ever move, as some numbers of two
        values.
        """
        if not 0 < self.sigma <= MAX_SCALE:
            raise InputError(
                f"the scale of offsets must be above 0 and at most {MAX_SCALE:g}, since steps end "
                f"at three standard deviations: not {short_repr(self.sigma)}"
            )
        features, anchor = every_step(space)
        with np.errstate(over="ignore", under="ignore"):
            law = np.exp(-((features / self.sigma) ** 2) / 2)
            out: Array = law * np.exp(np.minimum(features**2 / 2, MAX_EXPONENT))
        moves = anchor == 0  # at the instance a match is 1 and an offset is 0
        moves &= (out * (features != 0)).sum(axis=0) >= MIN_MOVE_CHANCE * out.sum(axis=0)
        out[:, ~moves] = 1.0
        return out
