"""Weighted ridge regression with a free intercept: LIME's surrogate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import UNBOUNDED, Array, Range
from eagle._values.text import short_repr
from eagle.contracts import Rows
from eagle.errors import InputError
from eagle.surrogates.bayes import BayesLinear, Prior
from eagle.surrogates.dual import FewPoints, is_wide, narrow
from eagle.surrogates.fit import (
    DeferredFit,
    Fit,
    Fitter,
    Surrogate,
    check_answers,
    is_flat,
    weighted_r2,
)


@runtime_checkable
class Selection(Protocol):
    """A way to choose features; a value without state."""

    def choose(self, features: Array, y: Array, weight: Array) -> NDArray[np.intp]:
        """The columns kept; the first row is the instance."""


@final
@dataclass(frozen=True)
class Ridge(Surrogate):
    """A line with the penalty `alpha` on slopes, for the features of a selection; no intervals.

    Without a selection every feature is kept. A feature that is not kept scores 0.
    """

    alpha: float = 1.0
    selection: Selection | None = None
    _line: BayesLinear = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.alpha is None:  # to a prior it would mean the number of features
            raise InputError("the penalty of a ridge must be a positive number, not None")
        if self.selection is not None and not isinstance(self.selection, Selection):
            raise InputError(
                "a ridge keeps the features of a selection, such as "
                f"eagle.peers.selection.Auto(6), not {short_repr(self.selection)}"
            )
        # The posterior mean of a Gaussian prior is the ridge.
        object.__setattr__(self, "_line", BayesLinear(Prior(self.alpha, 0.0)))

    def on(self, rows: Rows) -> Fitter:
        return DeferredFit.of(self, rows) if self.selection else self._of_all(rows)

    def _of_all(self, rows: Rows) -> _Mean | _WideMean:
        return _WideMean(self, rows) if is_wide(*rows.features.shape) else _Mean(self, rows)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        if self.selection is None:
            return self._of_all(Rows.each_once(features, weight)).fit(y)
        every = np.arange(features.shape[1])
        chosen = self.selection.choose(features, y, weight)
        line = self._line.fit(features[:, chosen], y, weight)
        scores = np.zeros(features.shape[1])
        scores[chosen] = line.scores
        # No held-out R²: every row took part in choosing the features.
        held = line.r2_held_out if len(chosen) == len(every) else float("nan")
        return Fit(scores, line.intercept, line.local, line.r2, held)


@final
class _Mean(Fitter):
    """A ridge that keeps all features, ready for any answers."""

    def __init__(self, ridge: Ridge, rows: Rows) -> None:
        self._line = ridge._line.on(rows)

    @property
    def nbytes(self) -> int:
        return self._line.nbytes

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        line = self._line.fit(y)
        return Fit(line.scores, line.intercept, line.local, line.r2, line.r2_held_out)


@final
class _WideMean(Fitter):
    """The same for fewer rows than many features: the matrix of slopes is never made."""

    def __init__(self, ridge: Ridge, rows: Rows) -> None:
        if not len(rows):
            raise InputError("a line needs at least one point")
        features = narrow(rows.features)
        self._rows = rows
        self._points = FewPoints(ridge._line.prior, features, rows.weight)
        self._unchanged = (features == features[0]).all(axis=0)

    @property
    def nbytes(self) -> int:
        return self._points.nbytes

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        """As `Line.fit`; rows cannot be held out where they are fewer than coefficients."""
        features, weight = self._rows.features, self._rows.weight
        y = check_answers(y, weight)
        if is_flat(y):
            y = np.full_like(y, y[0])
        middle = float(y[0] + weight @ (y - y[0]) / weight.sum())
        unit = float(np.abs(y - middle).max()) or 1.0
        intercept, slopes = self._points.fit((y - middle) / unit)
        slopes = np.where(self._unchanged, 0.0, slopes * unit)
        intercept = intercept * unit + middle
        local = intercept + float(features[0] @ slopes)
        r2 = weighted_r2(y, intercept + features @ slopes, weight)
        return Fit(slopes, intercept, local, r2)
