"""What many explanations know of their errors, which rows may share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array


class Errors(Protocol):
    """The joint distribution of the errors of many explanations.

    Explanations that share rows share errors, which do not average out over a table.
    """

    def deviation(self, factor: Array) -> tuple[Array, float]:
        """The standard error of Σ factor × score over rows, shape (d,), and its degrees of freedom.

        `factor` has shape (n, d).
        """

    def draws(self, count: int) -> Iterator[tuple[int, Array]]:
        """For some rows, evenly spread: the row number, and draws from the posterior of its scores.

        The draws, shape (count, d), are correlated over rows as the errors are.
        """

    def take(self, index: NDArray[np.intp]) -> Errors:
        """The errors of some of the rows."""


@final
@dataclass(frozen=True, eq=False)
class Common:
    """Worst case: errors of different rows may be fully correlated, so none averages out.

    Intervals are then the widest that may be needed. `spread`, shape (n, d), are the scales of the
    scores' t distributions, `df` their degrees of freedom, shape (n,).
    """

    scores: Array
    spread: Array
    df: Array

    def deviation(self, factor: Array) -> tuple[Array, float]:
        return np.nansum(np.abs(factor) * self.spread, axis=0), self._df

    def draws(self, count: int) -> Iterator[tuple[int, Array]]:
        rng = np.random.Generator(np.random.PCG64(0))
        push = rng.standard_normal((count, self.scores.shape[1]))
        if np.isfinite(self._df):
            push *= np.sqrt(self._df / rng.chisquare(self._df, count))[:, None]
        for i in spread_over(len(self.scores), MAX_CORRELATED_ROWS).tolist():
            yield i, self.scores[i] + push * np.nan_to_num(self.spread[i])

    def take(self, index: NDArray[np.intp]) -> Common:
        return Common(self.scores[index], self.spread[index], self.df[index])

    @property
    def _df(self) -> float:
        return float(np.median(self.df)) if len(self.df) else np.inf


MAX_CORRELATED_ROWS: Final = 1024
"""Maximum number of rows, evenly spread, on which correlations of errors are computed."""


def spread_over(rows: int, most: int) -> NDArray[np.intp]:
    """Row numbers, at most `most`, spread evenly over all rows."""
    if rows <= most:
        return np.arange(rows)
    return np.asarray(((2 * np.arange(most) + 1) * rows) // (2 * most))
