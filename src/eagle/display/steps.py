"""The way from a base value to predictions, a step for each feature: what waterfalls, strips and
decision lines show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.posterior import LEVEL, StudentT, quantiles
from eagle.display import contributions
from eagle.display.numbers import Numbers
from eagle.explanation import Explanation


@final
@dataclass(frozen=True, eq=False)
class Steps:
    """The contributions of the strongest features, the largest first, and of all `others` together.

    `order` are the places of these features. `low` and `high` are the ends of the contributions'
    intervals, NaN where none is known, and `doubtful` those whose sign is not sure. The last
    contribution is that of the `others`, where there are any.
    """

    base: float
    prediction: float
    order: NDArray[np.intp]
    others: int
    given: Array
    low: Array
    high: Array
    doubtful: NDArray[np.bool_]

    @classmethod
    def of(cls, e: Explanation, most: int, level: float = LEVEL) -> Steps:
        prediction = np.array([e.prediction])
        contributions.check(e.method, e.signed, e.contrast, prediction)
        given, base = contributions.parts(e.scores[None], e.contrast[None], prediction)
        a, b = e.interval_or_nan(level).T
        low, high = contributions.between(a, b, e.contrast)
        order = e.order()
        shown, rest = order[:most], order[most:]
        parts = [given[0][shown], low[shown], high[shown], e.doubtful(level)[shown]]
        if len(rest):
            value = float(given[0][rest].sum())
            half = _half_of_sum(e, rest, level)
            doubt = bool(abs(value) <= half)
            ends = (value, value - half, value + half, doubt)
            parts = [np.append(part, end) for part, end in zip(parts, ends, strict=True)]
        return cls(float(base[0]), float(prediction[0]), shown, len(rest), *parts)

    @property
    def ends(self) -> Array:
        """Where the step of each contribution ends: the weakest is taken first."""
        return np.asarray(self.base + np.cumsum(self.given[::-1])[::-1])

    @property
    def starts(self) -> Array:
        return np.append(self.ends[1:], self.base)

    @property
    def numbers(self) -> Numbers:
        """How the contributions are written."""
        return Numbers.of(self.given, self.low, self.high)


def _half_of_sum(e: Explanation, places: NDArray[np.intp], level: float) -> float:
    """Half of the width of the interval of the sum of some contributions; NaN if not known."""
    posterior = e.posterior
    if not isinstance(posterior, StudentT):
        return float("nan")
    weight = e.contrast[places]
    variance = float(weight @ posterior.scale[np.ix_(places, places)] @ weight)
    reach = float(quantiles((1 + level) / 2, np.array(posterior.df)))
    return reach * float(np.sqrt(max(variance, 0.0)))
