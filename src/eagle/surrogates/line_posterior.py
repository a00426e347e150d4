"""The posterior of a line under a Gaussian process, averaged over ratios of variances.

Ratios are the variances of curves, of products and of the rest, in units of the line's. Each triple
of ratios is weighted by its likelihood, so that rounding never decides between two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from eagle._values.arrays import Array
from eagle.surrogates.field import MEAN_PRIOR_VARIANCE, Field, Standardised


@final
@dataclass(frozen=True, eq=False)
class Spectrum:
    """The covariance K + νR of answers, for any ν: R is diagonal, and R^-½KR^-½ = QΛQᵀ.

    `products` is the ratio of products in K. `roots`, shape (n,), is the diagonal of R^-½, `values`
    are Λ, `vectors` is Q, and `slopes`, shape (m, n), is xᵀR^-½Q/m.
    """

    products: float
    roots: Array
    values: Array
    vectors: Array
    slopes: Array

    @classmethod
    def of(cls, covariance: Array, products: float, rest: Array, seen: Standardised) -> Spectrum:
        roots = 1 / np.sqrt(rest)
        values, vectors = np.linalg.eigh(roots[:, None] * covariance * roots)
        slopes = (seen.x * roots[:, None]).T @ vectors / max(seen.x.shape[1], 1)
        return cls(products, roots, np.maximum(values, 0.0), vectors, slopes)

    @property
    def nbytes(self) -> int:
        return self.vectors.nbytes + self.slopes.nbytes

    def fit(self, y: Array, rests: Array, x: Array) -> SpectrumFit:
        """The fit to the answers y, shape (n,), for each of the ratios `rests` of the rest."""
        n, along = len(y), self.vectors.T @ (self.roots * y)
        wide = self.values + rests[:, None]
        square = (along**2 / wide).sum(axis=1) / n
        cost = 0.5 * (np.log(wide).sum(axis=1) + n * np.log(square))
        dual = self.roots[:, None] * (self.vectors @ (along / wide).T)
        own = self.roots[:, None] ** 2 * (self.vectors**2 @ (1 / wide).T)
        line = MEAN_PRIOR_VARIANCE * (self.roots @ self.vectors) + x @ self.slopes
        lever = self.roots[:, None] * ((self.vectors * line) @ (1 / wide).T)
        return SpectrumFit(cost, square, wide, dual, dual / own, lever)


@final
@dataclass(frozen=True, eq=False)
class SpectrumFit:
    """The fit of one spectrum for each of v ratios of the rest.

    `cost` is −log likelihood, up to a constant, and `square` the variance of the line, shape (v,).
    `wide`, shape (v, n), is Λ + ν. `dual`, shape (n, v), is (K + νR)⁻¹y. `missed`, shape (n, v), is
    the held-out residual of each row, and `lever`, shape (n, v), its leverage on the line.
    """

    cost: Array
    square: Array
    wide: Array
    dual: Array
    missed: Array
    lever: Array


@final
@dataclass(frozen=True, eq=False)
class LinePosterior:
    """The posterior of the slopes of standardised features, shape (m,), and of their line.

    `scale`, shape (m, m), is their covariance. `hat`, shape (m, n), is what an answer of 1 adds to
    each slope. `level` is the mean answer under the law. `held`, shape (n,), is the line's
    prediction of each held-out row, and `missed`, shape (n,), the process's residual there. `dual`
    and `paired`, shape (n,), are the coefficients of covariances with the rows: of all parts but
    products, and of products.
    """

    slopes: Array
    scale: Array
    hat: Array
    level: float
    held: Array
    missed: Array
    dual: Array
    paired: Array

    @classmethod
    def of(
        cls, spectra: Sequence[Spectrum], rests: Sequence[float], x: Array, y: Array
    ) -> LinePosterior:
        """After the answers y, shape (n,), which are not all equal."""
        n, m = x.shape
        fits = [one.fit(y, np.asarray(rests), x) for one in spectra]
        cost = np.array([one.cost for one in fits])
        chance = np.exp(cost.min() - cost)
        chance /= chance.sum()
        slopes, second = np.zeros(m), np.zeros((m, m))
        scale, hat = np.zeros((m, m)), np.zeros((m, n))
        dual, paired, missed, held = (np.zeros(n) for _ in range(4))
        for spectrum, one, share in zip(spectra, fits, chance, strict=True):
            each = x.T @ one.dual / max(m, 1)
            slopes += each @ share
            second += (each * share) @ each.T
            both = share * one.square
            scale += both.sum() * np.eye(m) / max(m, 1)
            scale -= (spectrum.slopes * (both @ (1 / one.wide))) @ spectrum.slopes.T
            reach = spectrum.slopes * (share @ (1 / one.wide))
            hat += reach @ spectrum.vectors.T * spectrum.roots
            dual += one.dual @ share
            paired += spectrum.products * (one.dual @ share)
            missed += one.missed @ share
            held -= (one.lever * one.missed) @ share
        scale += second - np.outer(slopes, slopes)
        level = MEAN_PRIOR_VARIANCE * float(dual.sum())
        return cls(slopes, scale, hat, level, held + level + x @ slopes, missed, dual, paired)

    def at(self, field: Field, curves: float, rows: Standardised, seen: Standardised) -> Array:
        """What the process says of other rows, from the rows seen, shape (n′,)."""
        out = (field.line(rows, seen) + curves * field.curve(rows, seen)) @ self.dual
        return np.asarray(out + field.products(rows, seen) @ self.paired)
