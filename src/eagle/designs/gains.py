"""Rows that teach most about the scores themselves, under a Gaussian process of the answers.

The scores β are linear functionals of the model, so under a Gaussian process of the answers (K, of
`surrogates/field.py`) they and the answers are jointly Gaussian, also if the model is not linear.
After the answers of rows S their covariance is

    Cov(β | S) = Cov(β) − C K_S⁻¹ Cᵀ,    C = Cov(β, f(S)),

in which no answer occurs. So, as in EAGLE, rows can be chosen before the model is asked. The row
that is chosen is the one after which the trace is least: it tells most about all scores together.
For a single score this is the row of largest information gain, ½ log(variance before ÷ after). For
several, the trace is the A-criterion of experimental design, and the information gain, which
lowers the determinant, the D-criterion; the trace is in the units in which errors of scores count.

References: O'Hagan, "Bayes–Hermite quadrature", 1991 (functionals under a Gaussian process);
Chaloner and Verdinelli, "Bayesian experimental design: a review", 1995 (the criteria).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Points
from eagle._values.ties import best
from eagle.contracts import Kernel, Need, Planned, Space
from eagle.designs.balanced import Sobol
from eagle.designs.complements import Complements
from eagle.designs.hadamard import Hadamard
from eagle.designs.law import check_sizes, law_of, raw
from eagle.surrogates.field import OWN_VARIANCE_SHARE, Field

ON_MASKS: Final = (0.6, 0.3, 0.1)
ON_TABLES: Final = (1.0, 0.5, 0.3)
"""The variances of curves, of products and of the rest, in units of the line's, for planning."""


@final
@dataclass(frozen=True)
class Gains(Planned):
    """The instance, then rows chosen one by one from a pool, each the best given those before it.

    The best is the one whose answer lowers the summed variance of the scores most. The pool is a
    plan of `pool` rows: of `Complements` on masks, of `Sobol` and `Hadamard` on tables. At most
    `most` rows are chosen; then come the others of that plan, in its order.
    """

    pool: int = 1024
    most: int = 256
    needs: ClassVar = frozenset({Need.MATCHES})

    def __post_init__(self) -> None:
        check_sizes(pool=self.pool, most=self.most)

    def longest(self, space: Space, budget: int) -> int:
        return max(budget, self.pool)

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d), or fewer if there are no more masks."""
        seeds = [int(seed) for seed in raw(rng, 2)]
        return [self._points(space, kernel, budget, seeds) for space in spaces]

    def _points(self, space: Space, kernel: Kernel, budget: int, seeds: list[int]) -> Points:
        every = self._candidates(space, kernel, budget, seeds)
        first = best_rows(space, kernel, every[: self.pool], min(budget, self.most))
        others = np.ones(len(every), dtype=bool)
        others[first] = False
        order = np.concatenate([first, np.flatnonzero(others)])
        return np.asarray(every[order[:budget]])

    def _candidates(self, space: Space, kernel: Kernel, budget: int, seeds: list[int]) -> Points:
        """The pool, and more rows after it if the budget is larger."""
        one, two = (np.random.Generator(np.random.PCG64(seed)) for seed in seeds)
        longest = max(self.pool, budget)
        if space.masks:
            return Complements().plan([space], kernel, longest, one)[0]
        apart = self.pool // 3
        (even,) = Hadamard().plan([space], kernel, apart + 1, two)
        (sobol,) = Sobol().plan([space], kernel, longest, one)
        most = self.pool - apart
        every = np.concatenate([sobol[:most], even[1:], sobol[most:]])
        return np.asarray(every[_firsts(every)])


def best_rows(space: Space, kernel: Kernel, pool: Points, n: int) -> NDArray[np.intp]:
    """The places of the n best rows of a pool, or of all; the first one is the instance.

    Greedy. Given the rows S before it, the answer of row p lowers the trace of Cov(scores) by

        gain(p) = |c_p|²/v_p,    c_p = Cov(scores, f(p) | S),    v_p = Var(f(p) | S),

    since it lowers the covariance by c_p c_pᵀ/v_p. Once p is picked, every other row r has

        ℓ_r = Cov(f(p), f(r) | S)/√v_p,    v_r ← v_r − ℓ_r²,    c_r ← c_r − (c_p/√v_p) ℓ_r.

    The vectors ℓ are the columns of a Cholesky factor of K whose pivots are the picks. So a pick
    costs its place in the plan times the pool, and no matrix is inverted. In the code ℓ is `fall`,
    v is `variance` and c is `about`, which leaves out a factor that all rows share.
    """
    field = Field.of(law_of(space, kernel))
    seen = field.standardise(space.features(pool), pool)
    curves, products, rest = ON_MASKS if space.masks else ON_TABLES
    covariance = field.line(seen, seen) + curves * field.curve(seen, seen)
    covariance += products * field.products(seen, seen)
    covariance += rest * (1 - OWN_VARIANCE_SHARE) * field.triple(seen, seen)
    covariance.flat[:: len(pool) + 1] += rest * OWN_VARIANCE_SHARE
    about = (seen.x / np.where(field.sd > 0, field.sd, 1.0)).T
    variance = np.diagonal(covariance).copy()
    fall, picks = np.empty((min(n, len(pool)), len(pool))), np.zeros(0, dtype=np.intp)
    free = np.ones(len(pool), dtype=bool)
    for k in range(len(fall)):
        gain = np.where(
            free, (about**2).sum(axis=0) / np.maximum(variance, rest * OWN_VARIANCE_SHARE), -1.0
        )
        pick = 0 if k == 0 else best(gain)
        picks = np.append(picks, pick)
        free[pick] = False
        root = np.sqrt(max(float(variance[pick]), rest * OWN_VARIANCE_SHARE))
        fall[k] = (covariance[pick] - fall[:k, pick] @ fall[:k]) / root
        about = about - np.outer(about[:, pick] / root, fall[k])
        variance -= fall[k] ** 2
    return picks


def _firsts(points: Points) -> NDArray[np.intp]:
    """The places of the points that repeat no earlier one, in order."""
    return np.sort(np.unique(points, axis=0, return_index=True)[1])
