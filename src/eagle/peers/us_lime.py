"""US-LIME: a ridge on the rows near the decision boundary and near the instance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.method import Method
from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.text import short_repr
from eagle.contracts import Need
from eagle.errors import InputError
from eagle.kernels import Exponential, euclidean
from eagle.peers.independent import Independent
from eagle.peers.offsets import Gauss
from eagle.surrogates.fit import Fit, Surrogate
from eagle.surrogates.ridge import Ridge


@final
@dataclass(frozen=True)
class Boundary(Surrogate):
    """Of N rows, N/`generated` are kept: half of them from each side of the boundary p = ½.

    On each side the N/`generated` rows with the least |p − ½| are taken first, and of these the
    half that is nearer to the instance is kept. The instance is always kept. Choosing rows by their
    answers biases the line; this is part of the method.
    """

    generated: int = 10
    ridge: Ridge = field(default_factory=Ridge)
    needs: ClassVar = frozenset({Need.BINARY})

    def __post_init__(self) -> None:
        integer(self.generated, "generated", 1)
        if not isinstance(self.ridge, Ridge):
            raise InputError(f"a boundary is fitted by a Ridge, not by {short_repr(self.ridge)}")

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        rows = self.rows_to_fit(features, y)
        fit = self.ridge.fit(features[rows], y[rows], weight[rows])
        # No held-out R²: every row took part in choosing the rows that are kept.
        return Fit(fit.scores, fit.intercept, fit.local, fit.r2)

    def rows_to_fit(self, features: Array, y: Array) -> NDArray[np.intp]:
        """The rows fitted: the instance first."""
        few = max(2, len(y) // self.generated)
        # By distance, not by weight: a row that was drawn twice weighs more, but is no nearer.
        # Rounded, so that equally distant rows stay in the order of |p − ½|.
        far = np.round(euclidean(features, features[0]), 9)
        rows = [np.zeros(1, dtype=np.intp)]
        for side in (y >= 0.5, y < 0.5):
            there = np.flatnonzero(side)
            unsure = there[np.argsort(np.abs(y[there] - 0.5), kind="stable")][:few]
            near = unsure[np.argsort(far[unsure], kind="stable")][: few // 2]
            rows.append(near[near != 0])
        return np.concatenate(rows)


US_LIME: Final = Method("US-LIME", Independent(Gauss(0.5)), Exponential(), Boundary())
"""A line fitted to a tenth of the rows asked: those near the decision boundary.

The budget is the usual one; as published its 500 rows are a tenth of 5,000 asked: `budget=5000`.
The reference measures distances from the raw instance, which is right only for standardised data.
"""
