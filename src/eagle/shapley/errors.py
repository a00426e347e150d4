"""The joint errors of a survey's Shapley values: a part of each row's own, and a part that rows
share, since their proxies learnt from the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._questions.errors import MAX_CORRELATED_ROWS, spread_over
from eagle._values.arrays import Array

SHARED_DF: Final = 5.0
"""Degrees of freedom of what rows share, which is estimated from three proxies."""


@final
@dataclass(frozen=True, eq=False)
class ShapleyErrors:
    """`spread` are the scales of the scores' t distributions, and `shared` the part of them that is
    common to all rows in a column, with its sign, both of shape (n, d); `df` has shape (n,)."""

    scores: Array
    spread: Array
    shared: Array
    df: Array

    def deviation(self, factor: Array) -> tuple[Array, float]:
        common = np.abs((factor * self.shared).sum(axis=0))
        own = np.sqrt((factor**2 * np.maximum(self.spread**2 - self.shared**2, 0.0)).sum(axis=0))
        return np.hypot(common, own), self._df

    def draws(self, count: int) -> Iterator[tuple[int, Array]]:
        rng = np.random.Generator(np.random.PCG64(0))
        together = rng.standard_normal((count, self.scores.shape[1]))
        own = np.sqrt(np.maximum(self.spread**2 - self.shared**2, 0.0))
        for i in spread_over(len(self.scores), MAX_CORRELATED_ROWS).tolist():
            alone = rng.standard_normal(together.shape)
            yield i, self.scores[i] + together * self.shared[i] + alone * own[i]

    def take(self, index: NDArray[np.intp]) -> ShapleyErrors:
        return ShapleyErrors(
            self.scores[index], self.spread[index], self.shared[index], self.df[index]
        )

    @property
    def _df(self) -> float:
        df = float(np.median(self.df)) if len(self.df) else np.inf
        return min(df, SHARED_DF) if self.shared.any() else df
