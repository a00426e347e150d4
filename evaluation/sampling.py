"""How much information a plan gives, row by row. No answers are needed.

All curves are of V⁻¹ = Λ + Σ π z zᵀ along a nested plan: `features` (n, d) and `weight` (n,) are
its rows in order, and `budgets` how many of them are asked, growing. V₀ is Λ⁻¹, so compare plans at
one prior only. D counts the coefficients: d + 1, as the intercept is one, or d if only the `slopes`
are looked at, with the intercept integrated out (D_s). A free intercept, of prior precision 0, has
no information at the start: then only slopes have curves.

All this depends on the points alone: a plan can be efficient where the model is flat.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from eagle.contracts import Array
from eagle.surrogates.bayes import Information, Prior, augment

BLOCK = 64
"""Rows that are added at once: one Cholesky factor of this size gives all their steps."""


def d_efficiency(
    features: Array, weight: Array, prior: Prior, budgets: ArrayLike, *, slopes: bool = False
) -> Array:
    """(|V₀|/|V|)^(1/D) after each budget, and D_s-efficiency with `slopes`, shape (budgets,)."""
    rows, weight, precision = _plan(features, weight, prior, slopes)
    asked = np.asarray(budgets)
    logdet, _ = _growth(rows[: asked[-1]], weight[: asked[-1]], precision)
    gain = logdet[asked - 1] - np.log(precision).sum()
    return np.asarray(np.exp(gain / len(precision)))


def a_efficiency(
    features: Array, weight: Array, prior: Prior, budgets: ArrayLike, *, slopes: bool = False
) -> Array:
    """tr V₀ / tr V after each budget: how far the mean variance shrank, shape (budgets,)."""
    rows, weight, precision = _plan(features, weight, prior, slopes)
    asked = np.asarray(budgets)
    _, trace = _growth(rows[: asked[-1]], weight[: asked[-1]], precision)
    return np.asarray((1 / precision).sum() / trace[asked - 1])


def area(curve: ArrayLike, budgets: ArrayLike, *, relative: bool = False) -> Array:
    """AUCC: the mean height of curves (…, budgets) between the first budget S and the last N.

    (1/(N − S)) ∫ curve dn by the trapezoid rule; the paper leaves it undefined. `relative` divides
    it by the height at N: it then says how early a curve rises, not how high.
    """
    heights, at = np.asarray(curve, dtype=np.float64), np.asarray(budgets, dtype=np.float64)
    mean = np.trapezoid(heights, at, axis=-1) / (at[-1] - at[0])
    return np.asarray(mean / heights[..., -1] if relative else mean)


def crossover(curve: ArrayLike, budgets: ArrayLike, level: ArrayLike) -> Array:
    """The first budget at which each curve reaches its level, NaN if none does; shape (…).

    `curve` has the shape (…, budgets) and `level` one number, or one for each curve. There is
    no interpolation between budgets.
    """
    reached = np.asarray(curve) >= np.asarray(level)[..., None]
    return np.where(reached.any(axis=-1), np.asarray(budgets)[reached.argmax(axis=-1)], np.nan)


def _growth(rows: Array, weight: Array, precision: Array) -> tuple[Array, Array]:
    """log |V⁻¹| and tr V after each row, shape (n,) each.

    A block of rows r = √π z adds the log-dets of the leading corners of I + r V rᵀ, so one
    Cholesky factor L has them all; and row i lowers V by uuᵀ, u being row i of L⁻¹ r V.
    """
    known = Information(np.diag(precision))
    logdet, trace = np.empty(len(rows)), np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        block = slice(start, start + BLOCK)
        root = np.sqrt(weight[block])[:, None] * rows[block]
        reach = root @ known.covariance
        factor = np.linalg.cholesky(np.eye(len(root)) + reach @ root.T)
        step = np.linalg.solve(factor, reach)
        logdet[block] = known.logdet + 2 * np.cumsum(np.log(np.diag(factor)))
        trace[block] = np.trace(known.covariance) - np.cumsum(np.vecdot(step, step))
        known = known.add(rows[block], weight[block])
    return logdet, trace


def _plan(features: Array, weight: Array, prior: Prior, slopes: bool) -> tuple[Array, Array, Array]:
    """Rows and weights whose sum is V⁻¹ − Λ, and the diagonal of Λ."""
    z, weight = np.asarray(features, dtype=np.float64), np.asarray(weight, dtype=np.float64)
    precision = prior.precision(z.shape[1])
    if slopes:
        return *_centred(z, weight, float(precision[0])), precision[1:]
    return augment(z), weight, precision


def _centred(z: Array, weight: Array, intercept: float) -> tuple[Array, Array]:
    """Rows whose plain sum is the slopes' information with the intercept integrated out.

    A row adds (π W/(W + π))·ccᵀ, where W is the weight before it and c the row less the weighted
    mean before it; the intercept's prior is a first row at 0. So a Schur complement for
    each n is a sum that grows a row at a time.
    """
    after = intercept + np.cumsum(weight)
    before = np.concatenate([[intercept], after[:-1]])
    moment = np.zeros_like(z)
    np.cumsum(weight[:-1, None] * z[:-1], axis=0, out=moment[1:])
    # Before the first weight there is no mean. Its row adds nothing then, since W is 0.
    mean = moment / np.where(before > 0, before, 1.0)[:, None]
    share = np.divide(weight * before, after, out=np.zeros_like(after), where=after > 0)
    return z - mean, share
