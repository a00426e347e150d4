"""How much information a plan gives, row by row. No answers are needed.

All curves are of V⁻¹ = Λ + Σ π z zᵀ along a nested plan: `features` (n, d) and `weight` (n,) are
its rows in order, and `budgets` how many of them are asked. D counts the coefficients: d + 1, as
the intercept is one, or d if only the `slopes` are looked at, with the intercept integrated out
(D_s). A free intercept, of prior precision 0, has no information at the start: then only slopes
have curves.

V₀ is Λ⁻¹ unless `initial` is given: then it is I/`initial`. Compare plans at one prior only. With
V₀ = Λ⁻¹ the D-efficiency falls as the prior precision λ grows; with `initial=1.0`, V₀ = I, it
rises, as the paper's ablation of λ reports.

All this depends on the points alone: a plan can be efficient where the model is flat.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eagle.metrics.validate import finite_numbers, weights
from eagle.surrogate.bayes import Information, Prior, augment
from eagle.types import Array, InputError

__all__ = ["a_efficiency", "area", "crossover", "d_efficiency", "information_gain"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


BLOCK = 64
"""Rows that are added at once: one Cholesky factor of this size gives all their steps."""


def information_gain(
    features: ArrayLike,
    weight: ArrayLike,
    prior: Prior,
    budgets: ArrayLike,
    *,
    slopes: bool = False,
    initial: float | None = None,
) -> Array:
    """Cumulative information gain ½ log(|V₀|/|V|) in nats after each budget, shape (budgets,).

    `features` has the shape (n, d) and `weight` (n,), in the order in which rows are asked;
    `budgets` are numbers of rows. With `slopes` the intercept is integrated out. `initial` is the
    precision that V₀ has in place of the prior's.
    """
    rows, weight, precision = _plan(features, weight, prior, slopes)
    asked = _budgets(budgets, len(rows))
    start = np.log(_start(precision, initial)).sum()
    logdet, _ = _growth(rows[: asked[-1]], weight[: asked[-1]], precision)
    return np.asarray(0.5 * (logdet[asked - 1] - start))


def d_efficiency(
    features: ArrayLike,
    weight: ArrayLike,
    prior: Prior,
    budgets: ArrayLike,
    *,
    slopes: bool = False,
    initial: float | None = None,
) -> Array:
    """(|V₀|/|V|)^(1/D) after each budget, and D_s-efficiency with `slopes`, shape (budgets,).

    It is exp(2·gain/D): the information gain on another scale. Arguments are those of
    `information_gain`.
    """
    gain = information_gain(features, weight, prior, budgets, slopes=slopes, initial=initial)
    return np.asarray(np.exp(2 * gain / (np.shape(features)[1] + (not slopes))))


def a_efficiency(
    features: ArrayLike,
    weight: ArrayLike,
    prior: Prior,
    budgets: ArrayLike,
    *,
    slopes: bool = False,
    initial: float | None = None,
) -> Array:
    """tr V₀ / tr V after each budget: how far the mean variance shrank, shape (budgets,).

    Arguments are those of `information_gain`.
    """
    rows, weight, precision = _plan(features, weight, prior, slopes)
    asked = _budgets(budgets, len(rows))
    _, trace = _growth(rows[: asked[-1]], weight[: asked[-1]], precision)
    return np.asarray((1 / _start(precision, initial)).sum() / trace[asked - 1])


def area(curve: ArrayLike, budgets: ArrayLike, *, relative: bool = False) -> Array:
    """AUCC: the mean height of curves (…, budgets) between the first budget S and the last N.

    (1/(N − S)) ∫ curve dn by the trapezoid rule; the paper leaves it undefined. `relative` divides
    it by the height at N: it then says how early a curve rises, not how high.
    """
    heights, at = _curve(curve, budgets)
    if len(at) < 2:
        raise InputError("an area needs at least 2 budgets")
    mean = np.trapezoid(heights, at, axis=-1) / (at[-1] - at[0])
    if not relative:
        return np.asarray(mean)
    if not heights[..., -1].all():
        raise InputError("a curve that ends at 0 has no area relative to its end")
    return np.asarray(mean / heights[..., -1])


def crossover(curve: ArrayLike, budgets: ArrayLike, level: ArrayLike) -> Array:
    """The first budget at which each curve reaches its level, NaN if none does; shape (…).

    `curve` has the shape (…, budgets) and `level` one number, or one for each curve. There is
    no interpolation between budgets.
    """
    heights, at = _curve(curve, budgets)
    wanted = finite_numbers(level, "level", "…")
    if wanted.shape not in ((), heights.shape[:-1]):
        raise InputError(
            f"level must be one number, or one for each of {heights.shape[:-1]} curves"
        )
    reached = heights >= wanted[..., None]
    return np.where(reached.any(axis=-1), at[reached.argmax(axis=-1)], np.nan)


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


def _plan(
    features: ArrayLike, weight: ArrayLike, prior: Prior, slopes: bool
) -> tuple[Array, Array, Array]:
    """Rows and weights whose sum is V⁻¹ − Λ, and the diagonal of Λ."""
    z = finite_numbers(features, "features", "n", "d")
    counts = weights(weight, len(z))
    precision = prior.precision(z.shape[1])
    if slopes:
        return *_centred(z, counts, float(precision[0])), precision[1:]
    if precision[0] == 0:
        raise InputError(
            "a free intercept has no finite information to start from: look at the slopes alone, "
            "with slopes=True"
        )
    return augment(z), counts, precision


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


def _start(precision: Array, initial: float | None) -> Array:
    """The diagonal of V₀⁻¹."""
    if initial is None:
        return precision
    if not (np.isfinite(initial) and initial > 0):
        raise InputError(f"initial must be a positive precision, not {initial!r}")
    return np.full(len(precision), float(initial))


def _budgets(budgets: ArrayLike, most: int) -> NDArray[np.intp]:
    """Increasing integers, from 1 to the number of rows."""
    asked = np.asarray(budgets)
    if asked.ndim != 1 or not asked.size or asked.dtype.kind not in "iu":
        raise InputError("budgets must list integers, shape (budgets,)")
    asked = asked.astype(np.intp)
    if asked[0] < 1 or asked[-1] > most or (np.diff(asked) <= 0).any():
        raise InputError(f"budgets must grow, from 1 at least to the plan's {most} rows at most")
    return asked


def _curve(curve: ArrayLike, budgets: ArrayLike) -> tuple[Array, Array]:
    """Heights, shape (…, budgets), and the budgets they stand at."""
    at = finite_numbers(budgets, "budgets", "budgets")
    if (np.diff(at) <= 0).any():
        raise InputError("budgets must grow")
    heights = finite_numbers(curve, "curve", "…", "budgets")
    if heights.shape[-1] != len(at):
        raise InputError(f"{len(at)} budgets need as many heights, not {heights.shape[-1]}")
    return heights, at
