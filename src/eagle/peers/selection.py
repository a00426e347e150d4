"""Which features a sparse surrogate keeps: the ways of LIME."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.ties import best, rank
from eagle.peers.lasso_path import path, path_columns, steps_to

MOST_FORWARD = 6
"""LIME's "auto" goes forward up to this many features, and by weight beyond."""


@final
@dataclass(frozen=True)
class Highest:
    """The k features with the largest |coefficient × value at the instance|, by a ridge of 0.01.

    Where the feature is 0 at the instance, as an offset is, the coefficient alone counts.
    """

    k: int

    def __post_init__(self) -> None:
        _check(self.k)

    def choose(self, features: Array, y: Array, weight: Array) -> NDArray[np.intp]:
        gram, reach = _centred_products(features, y, weight)
        # More than 0.01 only where that is lost in rounding: equal columns then share equally.
        penalty = np.maximum(0.01, 1e-10 * np.diag(gram))
        slopes = np.linalg.solve(gram + np.diag(penalty), reach)
        own = np.abs(features[0])
        size = np.abs(slopes) * np.where(own > 0, own, 1.0)
        return np.sort(rank(size)[: self.k])


@final
@dataclass(frozen=True)
class Forward:
    """One feature after the other, each time the one that raises the weighted R² most."""

    k: int

    def __post_init__(self) -> None:
        _check(self.k)

    def choose(self, features: Array, y: Array, weight: Array) -> NDArray[np.intp]:
        gram, reach = _centred_products(features, y, weight)
        floor = 1e-10 * np.diag(gram)  # a combination of the chosen ones adds nothing
        free = np.ones(len(gram), dtype=bool)
        for _ in range(min(self.k, len(gram))):
            own = np.diag(gram)
            fresh = free & (own > floor)
            gain = np.where(fresh, reach**2 / np.where(fresh, own, 1.0), 0.0)
            pick = best(np.where(free, gain, -1.0))
            free[pick] = False
            if fresh[pick]:  # remove the chosen one from all others
                share = gram[pick] / own[pick]
                reach = reach - share * reach[pick]
                gram = gram - np.outer(share, gram[pick])
        return np.flatnonzero(~free)


@final
@dataclass(frozen=True)
class LassoPath:
    """The last knot of the lasso path that has at most k features.

    Of features that are equal in all rows, up to sign, only the first can be kept.
    """

    k: int

    def __post_init__(self) -> None:
        _check(self.k)

    def choose(self, features: Array, y: Array, weight: Array) -> NDArray[np.intp]:
        rows = path_columns(features, y, weight)
        steps = steps_to(path(rows), self.k)
        inside = steps[-1].inside if steps else ()
        return np.array([rows.names[j] for j in inside], dtype=np.intp)


@final
@dataclass(frozen=True)
class Auto:
    """LIME's default: forward for up to 6 features, the highest weights for more."""

    k: int

    def __post_init__(self) -> None:
        _check(self.k)

    def choose(self, features: Array, y: Array, weight: Array) -> NDArray[np.intp]:
        way = Forward(self.k) if self.k <= MOST_FORWARD else Highest(self.k)
        return way.choose(features, y, weight)


def _check(k: int) -> None:
    integer(k, "the number of features that a selection keeps", 1)


def _centred_products(features: Array, y: Array, weight: Array) -> tuple[Array, Array]:
    """XᵀWX and XᵀWy about the weighted means."""
    apart = features - np.average(features, axis=0, weights=weight)
    lift = y - np.average(y, weights=weight)
    scaled = apart * weight[:, None]
    return scaled.T @ apart, scaled.T @ lift
