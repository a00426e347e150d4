"""S-LIME: as many rows as it takes until the order of features is no accident."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from eagle.types import Array, InputError, Kernel, MissingExtraError, Points, Seen, Space


@final
@dataclass(frozen=True)
class Append:
    """Independent rows; more of them, until the first `k` steps of LARS pass a test each.

    A step passes if the feature that enters is correlated with the residual by more than the
    next one, at the error probability `alpha`. If it does not, n grows to n(z/z_p)², at most
    twofold. Rows are appended: the published form draws all of them anew.
    """

    k: int = 5
    first: int = 100
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if min(self.k, self.first) < 1 or not 0 < self.alpha < 0.5:
            raise InputError("k and first must be at least 1, and alpha between 0 and ½")

    def ask(
        self, seen: Seen, space: Space, kernel: Kernel, left: int, rng: np.random.Generator
    ) -> Points:
        if not len(seen):
            points = space.draw(min(self.first, left), rng)
            points[0] = space.origin
            return points
        wanted = self.wanted(seen.features, seen.y, seen.weight)
        return space.draw(min(max(wanted - len(seen), 0), left), rng)

    def wanted(self, features: Array, y: Array, weight: Array) -> int:
        """How many rows the test asks for: no more than there are, if all steps pass."""
        from scipy.special import ndtri

        n, z = len(y), float(ndtri(1 - self.alpha))
        for at in self.margins(features, y, weight):
            if at < z:
                return math.ceil(min(n * (z / at) ** 2, 2 * n)) if at > 0 else 2 * n
        return n

    def margins(self, features: Array, y: Array, weight: Array) -> list[float]:
        """For each step how far the first correlation leads the second, in standard errors."""
        try:
            from sklearn.linear_model import lars_path
        except ImportError:
            raise MissingExtraError("S-LIME", "scikit-learn", "peers") from None
        root, n = np.sqrt(weight), len(y)
        apart = (features - np.average(features, axis=0, weights=weight)) * root[:, None]
        size = np.sqrt((apart**2).mean(axis=0))
        apart = apart[:, size > 1e-12] / size[size > 1e-12]
        lift = (y - np.average(y, weights=weight)) * root
        if apart.shape[1] < 2 or not np.abs(lift).max() > 1e-12 * max(np.abs(y).max(), 1e-300):
            return []
        _, active, path = lars_path(apart, lift, method="lar", max_iter=self.k)
        out = []
        for step, best in enumerate(active[: min(self.k, apart.shape[1] - 1)]):
            residual = lift - apart @ path[:, step]
            reach = apart.T @ residual / n
            others = np.setdiff1d(np.arange(apart.shape[1]), active[: step + 1])
            second = others[np.abs(reach[others]).argmax()]
            lead = (np.sign(reach[best]) * apart[:, best]
                    - np.sign(reach[second]) * apart[:, second]) * residual  # fmt: skip
            error = math.sqrt(2 * float(lead.var()) / n)
            out.append(float(lead.mean()) / error if error > 0 else math.inf)
        return out
