"""Weighted ridge regression with a free intercept: LIME's surrogate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np

from eagle.surrogate.bayes import BayesLinear, Prior
from eagle.surrogate.fit import DeferredFit, Fit, Fitter
from eagle.surrogate.select import Selection
from eagle.types import NOTHING, UNBOUNDED, Array, InputError, Range, Rows


@final
@dataclass(frozen=True)
class Ridge:
    """A line with the penalty `alpha` on slopes, for the features of a selection; no intervals.

    Without a selection every feature is kept. A feature that is not kept scores 0.
    """

    alpha: float = 1.0
    selection: Selection | None = None
    needs: ClassVar = NOTHING
    _line: BayesLinear = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.alpha is None:  # to a prior it would mean the number of features
            raise InputError("the penalty of a ridge must be a positive number, not None")
        if self.selection is not None and not isinstance(self.selection, Selection):
            raise InputError(
                "a ridge keeps the features of a selection, such as "
                f"eagle.surrogate.select.Auto(6), not {self.selection!r}"
            )
        # The posterior mean of a Gaussian prior is the ridge.
        object.__setattr__(self, "_line", BayesLinear(Prior(self.alpha, 0.0)))

    def room(self, n: int, d: int) -> int:
        return 0

    def on(self, rows: Rows) -> Fitter:
        return DeferredFit.of(self, rows) if self.selection else _Mean(self, rows)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        every = np.arange(features.shape[1])
        chosen = every if self.selection is None else self.selection.choose(features, y, weight)
        line = self._line.fit(features[:, chosen], y, weight)
        scores = np.zeros(features.shape[1])
        scores[chosen] = line.scores
        # No held-out R²: every row took part in choosing the features.
        held = line.r2_held_out if len(chosen) == len(every) else float("nan")
        return Fit(scores, line.intercept, line.local, line.r2, held)


@final
class _Mean:
    """A ridge that keeps all features, ready for any answers."""

    def __init__(self, ridge: Ridge, rows: Rows) -> None:
        self._line = ridge._line.on(rows)

    @property
    def nbytes(self) -> int:
        return self._line.nbytes

    @property
    def shared(self) -> tuple[Array, ...]:
        return ()

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        line = self._line.fit(y)
        return Fit(line.scores, line.intercept, line.local, line.r2, line.r2_held_out)
