"""UnRAvEL's surrogate: a Gaussian process, whose shape gives a score to each feature."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, final, get_args

import numpy as np

from eagle.surrogate.fit import DeferredFit, Fit, Fitter, weighted_r2
from eagle.surrogate.gaussian import STARTS, Regression, Scaled, tuned
from eagle.types import NOTHING, Array, InputError, Rows, finite

Importance = Literal["lengthscale", "relevance"]


@final
@dataclass(frozen=True)
class Process:
    """A Gaussian process with a length for each feature, tuned by its marginal likelihood.

    A feature scores 1/length, or its `relevance`; the largest score is 1, and none has a sign.
    Relevance is how far the prediction at a row moves when the feature alone moves by ±`delta`:
    √(2 KL)/δ, averaged over rows (Paananen et al. 2019). A feature that never moved scores 0, and
    if answers are equal all features do.

    All rows count the same, since UnRAvEL has no kernel. Weights are used only in the R².
    """

    importance: Importance = "lengthscale"
    delta: float = 1.0
    restarts: int = len(STARTS)
    most: int = 200
    needs: ClassVar = NOTHING

    def __post_init__(self) -> None:
        if self.importance not in get_args(Importance):
            raise InputError(f"importance is 'lengthscale' or 'relevance', not {self.importance!r}")
        if not (finite(self.delta) and self.delta > 0):
            raise InputError(f"delta must be a positive number, not {self.delta!r}")
        if not 1 <= self.restarts <= len(STARTS):
            raise InputError(f"restarts go from 1 to {len(STARTS)}, not {self.restarts!r}")
        if self.most < 1:
            raise InputError(f"tuning needs at least 1 step, not {self.most!r}")

    def room(self, n: int, d: int) -> int:
        """Numbers held besides the rows: matrices of rows by rows."""
        return 8 * n * n

    def on(self, rows: Rows) -> Fitter:
        return DeferredFit.of(self, rows)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        scaled = Scaled.of(y)
        moved = np.ptp(features, axis=0) > 0
        scores = np.zeros(features.shape[1])
        if scaled.flat or not moved.any():
            middle = scaled.middle
            predicted = np.full(len(y), middle)
            return Fit(scores, math.nan, middle, weighted_r2(y, predicted, weight), signed=False)
        process = tuned(features[:, moved], scaled.values, self.restarts, self.most)
        if self.importance == "lengthscale":
            sizes = 1.0 / process.covariance.lengths
        else:
            sizes = relevance(process, self.delta)
        scores[moved] = sizes / max(float(sizes.max()), np.finfo(np.float64).tiny)
        predicted = scaled.back(process.predict(process.features)[0])
        r2 = weighted_r2(y, predicted, weight)
        return Fit(scores, math.nan, float(predicted[0]), r2, signed=False)


def relevance(process: Regression, delta: float) -> Array:
    """√(2 KL)/δ of each feature, averaged over the process's rows and both directions, shape (d,).

    KL is between the predictions, with noise, at a row and at the row moved by δ.
    """
    x, noise = process.features, process.covariance.noise
    mean, variance = process.predict(x)
    out = np.zeros(x.shape[1])
    for j in range(len(out)):
        for sign in (-1.0, 1.0):
            there = x.copy()
            there[:, j] += sign * delta
            other, wide = process.predict(there)
            ratio = (variance + noise) / (wide + noise)
            twice = ratio - 1 - np.log(ratio) + (other - mean) ** 2 / (wide + noise)
            out[j] += 0.5 * float(np.sqrt(np.maximum(twice, 0.0)).mean()) / delta
    return out
