"""US-LIME's surrogate: a ridge on the rows near the decision boundary and near the instance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from eagle.kernel import euclidean
from eagle.surrogate.fit import DeferredFit, Fit, Fitter
from eagle.surrogate.ridge import Ridge
from eagle.types import Array, InputError, Need, Rows


@final
@dataclass(frozen=True)
class Boundary:
    """Of N rows, N/`generated` are kept: half of them from each side of the boundary p = ½.

    On each side the N/`generated` rows with the least |p − ½| are taken first, and of these the
    half that is nearer to the instance is kept. The instance is always kept. Choosing rows by their
    answers biases the line; this is part of the method.
    """

    generated: int = 10
    ridge: Ridge = field(default_factory=Ridge)
    needs: ClassVar = frozenset({Need.BINARY})

    def __post_init__(self) -> None:
        if not isinstance(self.generated, int | np.integer) or self.generated < 1:
            raise InputError(f"generated must be an integer from 1, not {self.generated!r}")

    def room(self, n: int, d: int) -> int:
        return 0

    def on(self, rows: Rows) -> Fitter:
        return DeferredFit.of(self, rows)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        rows = self.kept(features, y)
        fit = self.ridge.fit(features[rows], y[rows], weight[rows])
        # No held-out R²: every row took part in choosing the rows that are kept.
        return Fit(fit.scores, fit.intercept, fit.local, fit.r2)

    def kept(self, features: Array, y: Array) -> NDArray[np.intp]:
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
