"""The prior of the answers under a law of matches: a Gaussian process.

An answer is taken as a sum of independent parts: a line in the features, curves of single features,
products of two features, and a rest. Curves and products are orthogonal to the line under the law.
So the scores, which are the line that fits best under the law, are the coefficients of the first
part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.polynomial.legendre import legval
from numpy.typing import NDArray

from eagle._values.arrays import Array, Points
from eagle.contracts import Law

MEAN_PRIOR_VARIANCE: Final = 100.0
"""Prior variance of the mean answer relative to the line's; large enough to be uninformative."""

DEGREE_OUTSIDE: Final = 3
"""Curves outside the instance's bin are polynomials up to this degree; inside they are straight."""

MIN_PROBABILITY: Final = 1e-9
"""Probabilities of mask sizes, and norms of curves and products, below this count as 0."""

OWN_VARIANCE_SHARE: Final = 0.3
"""The share of the rest's variance that is independent between rows; the other share is that of
products of three features."""


@final
@dataclass(frozen=True, eq=False)
class Standardised:
    """Rows as the process sees them.

    `x`, shape (n, m), are the features that can move, with mean 0 and variance 1 under the law. The
    product of features i and j is wᵢwⱼ less `offset`, with `w` of shape (n, m) and `offset` of
    shape (n,). `curves`, shape (n, c), are the values of the curves: of single features, or on
    masks of the number of kept parts.
    """

    x: Array
    w: Array
    offset: Array
    curves: Array

    def __len__(self) -> int:
        return len(self.x)


@final
@dataclass(frozen=True, eq=False)
class Field:
    """The moments of a law, and the covariance of the answers of any two rows.

    `moves`, shape (d,), says which features can move, and `mean` and `sd`, shape (m,), are those of
    their matches. `level` is the mean of a product of two standardised features, and `along` and
    `across` are its slopes on these two features and on the others: without these three parts, a
    product is orthogonal to the line. `pairs` and `triples` are the means of the summed squares of
    products of two and of three features. `shapes` has the values of the curves: if `by_size`, for
    each number of kept parts, otherwise for each feature and step.
    """

    moves: NDArray[np.bool_]
    mean: Array
    sd: Array
    level: float
    along: float
    across: float
    pairs: float
    triples: float
    shapes: Array
    by_size: bool

    @classmethod
    def of(cls, law: Law) -> Field:
        """The field of a law."""
        moves = np.asarray((law.chance > 0) & (law.chance < 1))
        mean = law.chance[moves]
        sd = np.sqrt(mean * (1 - mean))
        m = len(mean)
        if law.sizes is None:
            shapes = _positions(law, moves)
            products = float(m * (m - 1) / 2), float(m * (m - 1) * (m - 2) / 6)
            return cls(moves, mean, sd, 0.0, 0.0, 0.0, *products, shapes, False)
        coefficients = _products(law.sizes, m)
        bare = cls(moves, mean, sd, *coefficients, 1.0, 1.0, _sizes(law.sizes), True)
        # One mask of each size stands for all: norms depend on the number of kept parts alone.
        one = bare.standardise(
            np.tri(len(law.sizes), m, k=-1) if m else np.zeros((len(law.sizes), 0))
        )
        norms = np.diagonal(bare.products(one, one)), np.diagonal(bare.triple(one, one))
        pairs, triples = (float(law.sizes @ norm) for norm in norms)
        return cls(moves, mean, sd, *coefficients, pairs, triples, bare.shapes, True)

    def standardise(self, features: Array, points: Points | None = None) -> Standardised:
        """Rows of these features; curves of a table need their points, too."""
        z = features[:, self.moves] if features.shape[1] == len(self.moves) else features
        x = (z - self.mean) / np.where(self.sd > 0, self.sd, 1.0)
        shift = self.along - self.across
        offset = shift**2 + self.level + self.across * x.sum(axis=1)
        if self.by_size:
            curves = self.shapes[np.rint(z.sum(axis=1)).astype(np.intp)]
        else:
            assert points is not None
            steps = points[:, self.moves].astype(np.intp)
            columns = [shape[steps[:, j]] for j, shape in enumerate(self.shapes)]
            curves = np.concatenate([np.empty((len(x), 0)), *columns], axis=1)
        return Standardised(x, x - shift, offset, curves)

    def line(self, one: Standardised, two: Standardised) -> Array:
        """The covariance of the mean answer and of the line, shape (n, n′)."""
        return np.asarray(MEAN_PRIOR_VARIANCE + one.x @ two.x.T / max(one.x.shape[1], 1))

    def curve(self, one: Standardised, two: Standardised) -> Array:
        """The covariance of curves, shape (n, n′); its mean variance under the law is 1."""
        return np.asarray(one.curves @ two.curves.T / max(self.shapes.size and self._rank, 1))

    @property
    def _rank(self) -> int:
        """The number of curves that are not 0."""
        return int((np.abs(self.shapes).max(axis=-2, initial=0.0) > 0).sum())

    def products(self, one: Standardised, two: Standardised) -> Array:
        """The covariance of products of two features, shape (n, n′), of mean variance 1."""
        m = one.x.shape[1]
        if self.pairs <= MIN_PROBABILITY:
            return np.zeros((len(one), len(two)))
        both = ((one.w @ two.w.T) ** 2 - (one.w**2) @ (two.w**2).T) / 2
        own = [(s.w.sum(axis=1) ** 2 - (s.w**2).sum(axis=1)) / 2 for s in (one, two)]
        both -= own[0][:, None] * two.offset + one.offset[:, None] * own[1]
        both += m * (m - 1) / 2 * one.offset[:, None] * two.offset
        return np.asarray(both / self.pairs)

    def triple(self, one: Standardised, two: Standardised) -> Array:
        """The covariance of products of three features, shape (n, n′), of mean variance 1."""
        if self.triples <= MIN_PROBABILITY:
            return np.zeros((len(one), len(two)))
        first, second, third = ((one.x**k) @ (two.x**k).T for k in (1, 2, 3))
        return np.asarray(_three(first, second, third) / self.triples)

    def rest(self, one: Standardised) -> Array:
        """The variance of the rest in each row, shape (n,); its mean under the law is 1."""
        if self.triples <= MIN_PROBABILITY:
            return np.ones(len(one))
        first, second, third = ((one.x**k).sum(axis=1) for k in (2, 4, 6))
        triples = _three(first, second, third) / self.triples
        return np.asarray(OWN_VARIANCE_SHARE + (1 - OWN_VARIANCE_SHARE) * np.maximum(triples, 0.0))


def _three(first: Array, second: Array, third: Array) -> Array:
    """The sum of products of three different terms, from the sums of their powers."""
    return np.asarray((first * (first * first - 3 * second) + 2 * third) / 6)


def _products(sizes: Array, d: int) -> tuple[float, float, float]:
    """The mean of products of two parts, and their slopes on these parts and on others."""
    if d < 2:
        return 0.0, 0.0, 0.0
    k = np.arange(len(sizes), dtype=np.float64)
    m1 = float(sizes @ k) / d
    m2 = float(sizes @ (k * (k - 1))) / (d * (d - 1))
    m3 = float(sizes @ (k * (k - 1) * (k - 2))) / (d * (d - 1) * (d - 2)) if d > 2 else 0.0
    v = m1 * (1 - m1)
    if not v > 0:
        return 0.0, 0.0, 0.0
    rho = (m2 - m1**2) / v
    # E[x₁²x₂] and E[x₁x₂x₃]
    a = ((1 - 2 * m1) * (m2 - m1**2)) / v**1.5
    b = (m3 - 3 * m1 * m2 + 2 * m1**3) / v**1.5 if d > 2 else 0.0
    total = 1 - rho + d * rho
    h = rho * (2 * a + (d - 2) * b) / total if total > MIN_PROBABILITY else 0.0
    if 1 - rho <= MIN_PROBABILITY:
        return rho, 0.0, 0.0
    return rho, (a - h) / (1 - rho), (b - h) / (1 - rho) if d > 2 else 0.0


def _sizes(sizes: Array) -> Array:
    """Polynomials of the number of kept parts, of degrees 2 and 3: orthonormal under the law, and
    orthogonal to the line, shape (d + 1, up to 2)."""
    k = np.linspace(-1.0, 1.0, len(sizes)) if len(sizes) > 1 else np.zeros(1)
    degree = min(3, int((sizes > MIN_PROBABILITY).sum()) - 1)
    basis = [np.ones_like(k)]
    for _ in range(max(degree, 0)):
        one = basis[-1] * k
        for _ in range(2):  # twice, since once loses digits
            for other in basis:
                one = one - other * (sizes @ (other * one))
        basis.append(one / np.sqrt(sizes @ one**2))
    return np.stack(basis[2:], axis=1) if degree > 1 else np.empty((len(k), 0))


def _positions(law: Law, moves: NDArray[np.bool_]) -> Array:
    """For each feature that can move and each step: Legendre polynomials of the rank inside the
    instance's bin or level, and outside, orthonormal under the law, shape (m, steps, 4)."""
    step = np.arange(law.steps, dtype=np.float64)
    out = np.zeros((int(moves.sum()), law.steps, 1 + DEGREE_OUTSIDE))
    inside = zip(law.inside[moves].tolist(), law.chance[moves].tolist(), strict=True)
    for j, (kept, chance) in enumerate(inside):
        match = step < kept
        ranks = np.where(match, (step + 0.5) / max(kept, 1), 0.0)
        others = np.where(match, 0.0, (step - kept + 0.5) / max(law.steps - kept, 1))
        share = np.where(match, chance / max(kept, 1), (1 - chance) / max(law.steps - kept, 1))
        degrees = [(match, ranks, 1), *((~match, others, k) for k in range(1, DEGREE_OUTSIDE + 1))]
        for c, (where, rank, k) in enumerate(degrees):
            one = np.where(where, legval(2 * rank - 1, [0.0] * k + [1.0]), 0.0)
            one = one - np.where(where, share @ one / max(share @ where, MIN_PROBABILITY), 0.0)
            for other in out[j, :, :c].T:
                one = one - other * (share @ (other * one))
            norm = float(np.sqrt(share @ one**2))
            out[j, :, c] = one / norm if norm > MIN_PROBABILITY else 0.0
    return out
