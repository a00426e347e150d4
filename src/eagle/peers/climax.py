"""CLIMAX: rows with both labels in balance, and a logistic line on the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from eagle._engine.method import Method
from eagle._values.arrays import Array, Points
from eagle._values.packages import package
from eagle._values.text import finite, short_repr
from eagle.contracts import Adaptive, Kernel, Need, Seen, Space
from eagle.designs.law import draw_with_instance
from eagle.errors import InputError
from eagle.kernels import Exponential
from eagle.surrogates.fit import Fit, Surrogate, weighted_r2


@final
@dataclass(frozen=True)
class BothLabels(Adaptive):
    """Independent rows for half the budget, then rows near the rarer label.

    Each later round asks half of the rows that are left. Such a row takes each coordinate, with
    equal probability, from a row known to have the rarer label or from a fresh draw.
    """

    def ask(
        self, seen: Seen, space: Space, kernel: Kernel, left: int, rng: np.random.Generator
    ) -> Points:
        n = (left + 1) // 2
        if not len(seen):
            return draw_with_instance(space, n, rng)
        points = space.draw(n, rng)
        label = seen.y >= 0.5
        rare = np.flatnonzero(label if label.mean() < 0.5 else ~label)
        if not len(rare):
            return points
        raw = np.asarray(rng.bit_generator.random_raw(n))
        parent = seen.points[rare[(raw % np.uint64(len(rare))).astype(np.intp)]]
        coins = np.asarray(rng.bit_generator.random_raw(points.size)).reshape(points.shape)
        return np.where(coins >> np.uint64(63) == 1, parent, points)


@final
@dataclass(frozen=True)
class Logistic(Surrogate):
    """The log-odds of the label p ≥ ½ as a line; `penalty` is 1/C.

    Scores are log-odds. If the label never changes, they are 0.
    """

    penalty: float = 1.0
    needs: ClassVar = frozenset({Need.BINARY})

    def __post_init__(self) -> None:
        if not (finite(self.penalty) and self.penalty > 0):
            raise InputError(f"a penalty is a positive number, not {short_repr(self.penalty)}")

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        label = y >= 0.5
        if label.all() or not label.any():
            return Fit(np.zeros(features.shape[1]), float("nan"), float(label[0]), float("nan"))
        lines = package("sklearn.linear_model", "a logistic surrogate", "peers")
        model = lines.LogisticRegression(C=1 / self.penalty, tol=1e-8, max_iter=1000)
        model.fit(features, label, sample_weight=weight)
        says = model.predict_proba(features)[:, 1]
        scores = np.asarray(model.coef_[0], dtype=np.float64)
        intercept = float(model.intercept_[0])
        return Fit(scores, intercept, float(says[0]), weighted_r2(y, says, weight))


CLIMAX: Final = Method("CLIMAX", BothLabels(), Exponential(), Logistic())
"""The main part of CLIMAX: rows with both labels in balance, and a logistic line on the labels.

Two steps of the published method are left out: labels by the components of a mixture, and
coefficients divided by their sum. The reference asks 2,200 rows when it is set to 500.
"""
