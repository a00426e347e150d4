"""What few points teach about many coefficients, in matrices of points by points.

It is what `Information` says, by the dual form of the same regression: n points of d features take
n × n numbers and n²d steps, not d × d and d³.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle.errors import InputError
from eagle.surrogates.bayes import UNDETERMINED, Prior

MAX_SMALL_FEATURES: Final = 512
"""Up to this number of features the matrix of coefficients is small enough."""


def is_wide(n: int, d: int) -> bool:
    """Whether n points of d features take the dual form."""
    return d > MAX_SMALL_FEATURES and n <= d


Features: TypeAlias = NDArray[np.floating[Any]]
"""Features of points, shape (n, d). Zeros and ones may be in single precision, which is twice as
fast: the sums of their products are exact up to 2^24."""


@final
class FewPoints:
    """Weighted points of many features, to which more points may be added.

    With features F, weights W and K = F Fᵀ/λ + 1/λ₀, where λ and λ₀ are the prior precisions of
    slopes and intercept, `_inverse` is that of the Cholesky factor of I + W½ K W½. A free intercept
    (λ₀ = 0) is left out of K, and is a constant that the points determine.
    """

    def __init__(self, prior: Prior, features: Features, weight: Array) -> None:
        intercept, *slopes = prior.precision(features.shape[1]).tolist()
        self._slope, self._free = slopes[0], intercept == 0
        self._constant = 0.0 if self._free else 1.0 / intercept
        self._features = features[:0]
        self._root, self._inverse = np.empty(0), np.empty((0, 0))
        self.add(features, weight)

    @property
    def nbytes(self) -> int:
        """How much memory they hold."""
        return self._features.nbytes + self._inverse.nbytes

    def add(self, features: Features, weight: Array) -> None:
        """Add points of the given weights."""
        root, m = np.sqrt(weight), len(self._root)
        beside = self._reach(features) * root
        own = self.product(features, features) * np.outer(root, root)
        own.flat[:: len(own) + 1] += 1.0
        block = np.linalg.inv(np.linalg.cholesky(own - beside.T @ beside))
        inverse = np.zeros((m + len(root), m + len(root)))
        inverse[:m, :m], inverse[m:, m:] = self._inverse, block
        inverse[m:, :m] = -block @ (beside.T @ self._inverse)
        self._inverse, self._root = inverse, np.concatenate([self._root, root])
        self._features = np.concatenate([self._features, features])
        self._ones = inverse @ self._root
        self._counted = float(self._ones @ self._ones)
        if self._free and self._counted == 0:
            raise InputError(UNDETERMINED)

    def product(self, some: Features, others: Features) -> Array:
        """The prior covariance of the answers at some points and at others."""
        return np.asarray((some @ others.T).astype(np.float64) / self._slope + self._constant)

    def spread(self, features: Features) -> Array:
        """The prior variance of the answer at each point, shape (n,)."""
        squares = np.einsum("ij,ij->i", features, features).astype(np.float64)
        return np.asarray(squares / self._slope + self._constant)

    def reach(self, features: Features) -> Array:
        """What the points know of others: r, shape (n + 1, others). The covariance of the answers
        at z and z′ is their `product` − Σ r r′, in which the first term is added, not taken off."""
        reached = self._reach(features)
        first = np.zeros(len(features))
        if self._free:
            first = (1.0 - self._ones @ reached) / np.sqrt(self._counted)
        return np.concatenate([first[None], reached])

    def _reach(self, features: Features) -> Array:
        return self._inverse @ (self.product(self._features, features) * self._root[:, None])

    def fit(self, y: Array) -> tuple[float, Array]:
        """The intercept and the slopes that the points' answers give: V ZᵀW y."""
        known = self._inverse @ (self._root * y)
        free = float(self._ones @ known) / self._counted if self._free else 0.0
        pull = (self._inverse.T @ (known - free * self._ones)) * self._root
        return free + self._constant * float(pull.sum()), pull @ self._features / self._slope


def narrow(features: Features) -> Features:
    """Zeros and ones in single precision; other features as they are."""
    ones = bool(((features == 0) | (features == 1)).all())
    return features.astype(np.float32) if ones else features
