"""The joint errors of a survey's explanations.

All explanations rest on the same rows. A pull is what a row's misfit adds to the scores of an
instance. The error of a sum over instances is that of the pulls, summed over instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle.explanations import SOME, spread_over
from eagle.packages import one_thread
from eagle.surrogate.posterior import StudentT
from eagle.surrogate.reweighted import Buffers, Pulls, degrees, left_by_balance
from eagle.surrogate.variance import narrowing
from eagle.survey.surveyed import Supplements, Surveyed
from eagle.survey.weigh import Supplement
from eagle.targets import Target
from eagle.types import Array

BLOCKS: Final = 64
"""Number of blocks of rows that draws of errors are summed over, for ranks."""


@final
@dataclass(frozen=True, eq=False)
class SurveyErrors:
    """Errors of the explanations of the instances `rows`, which all have the same target."""

    many: Surveyed
    known: Supplements
    targets: tuple[Target, ...]
    rows: NDArray[np.intp]

    def take(self, index: NDArray[np.intp]) -> SurveyErrors:
        return replace(self, rows=self.rows[index])

    def _pulls(
        self, index: NDArray[np.intp]
    ) -> Iterator[tuple[Pulls, StudentT, Sequence[Supplement]]]:
        """For the instances `index`: the pulls, the posterior of the scores, and supplements."""
        target = self.targets[int(self.rows[0])]
        buffers, answers = Buffers(), self.many.about(target)
        bounds = self.many.bounds(target)
        with one_thread():
            for i in index.tolist():
                line, more = self.many.line(int(self.rows[i]), self.known, buffers)
                y = self.many.about(target, more) if more else answers
                fit, pulls = line.fitted(y, bounds)
                assert isinstance(fit.posterior, StudentT)
                yield pulls, fit.posterior, more

    def deviation(self, factor: Array) -> tuple[Array, float]:
        """The standard error of Σ factor × score, shape (d,), and its degrees of freedom.

        Pulls are summed over instances first. The share of the sum's variance that balance leaves
        is estimated from blocks of rows. The part of an instance's variance that is not from pulls
        may err the same way for all instances, so its standard errors are added, not their squares.
        """
        chosen = spread_over(len(self.rows), SOME)
        factor = _rescaled(factor, chosen)
        d, rows = factor.shape[1], self.many.survey.rows
        total, untold = np.zeros((d, rows)), np.zeros(d)
        more: dict[tuple[int, str], Array] = {}
        for (pulls, sure, extras), one in zip(self._pulls(chosen), factor, strict=True):
            pull = pulls.pull
            told = pulls.share * (pull[:, :rows] ** 2).sum(axis=1)
            told += (pull[:, rows:] ** 2).sum(axis=1)
            rest = np.maximum(sure.spread**2 - narrowing(sure.df) * told, 0.0)
            untold += np.abs(one) * np.sqrt(rest)
            total += one[:, None] * pull[:, :rows]
            start = rows
            for extra in extras:
                end = start + len(extra.drawn)
                name = extra.column, extra.value
                more[name] = more.get(name, 0.0) + one[:, None] * pull[:, start:end]
                start = end
        variance = (total**2).sum(axis=1)
        share = left_by_balance(self.many.survey.weights.evenness, total, None, variance)
        variance = share * variance + sum((part**2).sum(axis=1) for part in more.values())
        df = degrees(max(rows - d - 1.0, 1.0), share)
        return np.sqrt(narrowing(df) * variance) + untold, df

    def draws(self, count: int) -> Iterator[tuple[int, Array]]:
        """For some instances, the number of each, and draws of its scores, shape (count, d).

        The pulls of each block of the survey's rows are multiplied by one normal number for all
        instances. For each instance, draws are as wide as its own intervals.
        """
        chosen = spread_over(len(self.rows), SOME)
        rows, rng = self.many.survey.rows, np.random.Generator(np.random.PCG64(0))
        starts = np.unique(np.linspace(0, rows, BLOCKS, endpoint=False).astype(np.intp))
        push = rng.standard_normal((count, len(starts)))
        alone = rng.standard_normal((count, len(self.many.survey.drawn.states)))
        for i, (pulls, sure, _) in zip(chosen.tolist(), self._pulls(chosen), strict=True):
            sums = np.add.reduceat(pulls.pull[:, :rows], starts, axis=1)
            size = np.sqrt((sums**2).sum(axis=1))
            there = size > 0
            error = (push @ sums.T) / np.where(there, size, 1.0)
            error = np.where(there, error, alone)
            wide = sure.spread / np.sqrt(narrowing(sure.df))
            yield i, sure.mean + error * wide


def _rescaled(factor: Array, chosen: NDArray[np.intp]) -> Array:
    """The factors of the rows chosen, scaled to have the same sums as those of all rows.

    Positive and negative factors of each column are scaled apart.
    """
    some = factor[chosen]
    if len(some) == len(factor):
        return some
    for part in (np.maximum, np.minimum):
        whole, seen = part(factor, 0.0).sum(axis=0), part(some, 0.0).sum(axis=0)
        scale = np.divide(whole, seen, out=np.ones_like(whole), where=seen != 0)
        some = np.where(part(some, 0.0) != 0, some * scale, some)
    return np.asarray(some)
