"""CLIMAX's surrogate: a weighted logistic regression of the black box's own labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from eagle.surrogate.fit import DeferredFit, Fit, Fitter, weighted_r2
from eagle.types import Array, InputError, MissingExtraError, Need, Rows, finite


@final
@dataclass(frozen=True)
class Logistic:
    """The log-odds of the label p ≥ ½ as a line; `penalty` is 1/C.

    Scores are log-odds. If the label never changes, they are 0.
    """

    penalty: float = 1.0
    needs: ClassVar = frozenset({Need.BINARY})

    def __post_init__(self) -> None:
        if not (finite(self.penalty) and self.penalty > 0):
            raise InputError(f"a penalty is a positive number, not {self.penalty!r}")

    def room(self, n: int, d: int) -> int:
        return 0

    def on(self, rows: Rows) -> Fitter:
        return DeferredFit.of(self, rows)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        label = y >= 0.5
        if label.all() or not label.any():
            return Fit(np.zeros(features.shape[1]), float("nan"), float(label[0]), float("nan"))
        try:
            from sklearn.linear_model import LogisticRegression
        except ImportError:
            raise MissingExtraError("a logistic surrogate", "scikit-learn", "peers") from None
        model = LogisticRegression(C=1 / self.penalty, tol=1e-8, max_iter=1000)
        model.fit(features, label, sample_weight=weight)
        says = model.predict_proba(features)[:, 1]
        scores = np.asarray(model.coef_[0], dtype=np.float64)
        intercept = float(model.intercept_[0])
        return Fit(scores, intercept, float(says[0]), weighted_r2(y, says, weight))
