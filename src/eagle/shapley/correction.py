"""From a proxy's Shapley values to the model's: what the proxy leaves, by a Gaussian process.

For each pair of a row, u is half of the difference of what the proxy leaves of both answers. The
process of `prior` is given these, and the total, which is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle.shapley import prior
from eagle.shapley.coalitions import Pairs

SIGMAS: Final = (0.002, 0.006, 0.02, 0.06, 0.2, 0.6, 2.0)
DEGREES: Final = 6.0
"""Degrees of freedom of the scale of a row, before its answers are seen."""

TURNS: Final = 15
MAX_SCALED: Final = 100
"""Maximum number of rows that the scales are estimated on."""

LEAST_NOISE: Final = 0.02
TOTAL_NOISE: Final = 1e-4


@final
@dataclass(frozen=True, eq=False)
class Left:
    """What the proxies leave of rows.

    `values`, shape (n, d), are the Shapley values of the proxies, and `apart` the variance of those
    of the three proxies. `pull` is u, and `gap` what is left of the distance between the row and
    each background row, both shape (n, pairs); `total`, shape (n,), is what is left of the distance
    from the mean answer. `unchanged`, shape (n, d), are players who change nothing: the row has the
    value of every background row.
    """

    values: Array
    apart: Array
    pull: Array
    gap: Array
    total: Array
    unchanged: NDArray[np.bool_]

    def with_slope(self, slope: Array, z: Array) -> Left:
        """The same with values that are larger by a share `slope` of themselves."""
        pull = self.pull - 0.5 * np.einsum("nd,npd->np", self.values * slope, z)
        return replace(self.grow(slope), pull=pull)

    def grow(self, slope: Array) -> Left:
        """As `sloped`, of rows without pairs."""
        more = self.values * slope
        added = more.sum(axis=1)
        return replace(
            self,
            values=self.values + more,
            gap=self.gap - added[:, None],
            total=self.total - added,
        )


def slope_of(left: Left, z: Array) -> Array:
    """By which share each player's proxy values are too small in all rows, shape (d,)."""
    d = z.shape[2]
    mean = z.mean(axis=2)
    seen = left.pull - mean * left.gap / 2
    x = ((z - mean[..., None]) / 2 * left.values[:, None, :]).reshape(-1, d)
    y = seen.ravel()
    gram, pull = x.T @ x, x.T @ y
    trace = float(np.trace(gram))
    if not trace > 0:
        return np.zeros(d)
    ridge = 1e-9 * trace / d * np.eye(d)
    inverse = np.linalg.inv(gram + ridge)
    free = inverse @ pull
    noise = float(np.mean((y - x @ free) ** 2))
    weight = (left.values**2).mean(axis=0)
    known = noise * np.diag(inverse)
    size = max(float((weight * (free**2 - known)).sum() / weight.sum()), 1e-8)
    return np.asarray(np.linalg.solve(gram + noise / size * np.eye(d) + ridge, pull))


def relevance(values: Array, apart: Array, unchanged: NDArray[np.bool_]) -> Array:
    """How much each player's value may be wrong, relative to the others, shape (d,): in equal parts
    as all others, by the size of the value, and by how far the proxies are apart in it."""
    out = (1 + _relative(values**2, ~unchanged) + _relative(apart, ~unchanged)) / 3
    return np.where(unchanged, 0.0, out)


def _relative(size: Array, moving: NDArray[np.bool_]) -> Array:
    mean = float(size[moving].mean()) if moving.any() else 0.0
    return size / mean if mean > 0 else np.ones(len(size))


@final
@dataclass(frozen=True, eq=False)
class Scales:
    """How much proxies leave: `unit` is the size of u, `sigma` the share of the process in it, and
    `size` the scale of both together."""

    unit: float
    sigma: float
    size: float


@final
@dataclass(frozen=True, eq=False)
class Observed:
    """One row's observations in the unit of the scales: coalitions z, shape (k, d), what was seen,
    and its noise, shape (k,). `a` are the players' shares."""

    z: Array
    seen: Array
    noise: Array
    a: Array

    @classmethod
    def of(cls, left: Left, i: int, z: Array, unit: float, pairs: bool = True) -> Observed:
        """Those of row i; without `pairs` only the total."""
        v = relevance(left.values[i], left.apart[i], left.unchanged[i])
        d = len(v)
        z, pull, gap = (z, left.pull[i], left.gap[i]) if pairs else (z[:0], *np.zeros((2, 0)))
        moved = z @ v / max(float(v.sum()), 1e-300) if pairs else np.zeros(0)
        seen = pull - moved * (gap - left.total[i]) / 2
        return cls(
            np.concatenate([z, np.ones((1, d))]),
            np.append(seen, left.total[i] / 2) / unit,
            np.append(np.maximum(1 - moved**2, LEAST_NOISE), TOTAL_NOISE),
            prior.shares(v),
        )


def scales_of(left: Left, z: Array, seed: int) -> Scales:
    """The scales of a survey, estimated on at most `MAX_SCALED` of its rows."""
    n = len(left.values)
    order = np.argsort(np.random.Generator(np.random.PCG64([seed, n])).random(n), kind="stable")
    some = order[:MAX_SCALED]
    unit = _unit(left, z)
    if not unit > 0:
        return Scales(0.0, SIGMAS[0], 1.0)
    rows = [Observed.of(left, i, z[i], unit) for i in some.tolist()]
    seen = np.stack([row.seen for row in rows])
    noise = np.stack([row.noise for row in rows])
    shape = np.stack([prior.covariance(row.z, row.a) for row in rows])
    best = (-np.inf, Scales(unit, SIGMAS[0], 1.0))
    for sigma in SIGMAS:
        whole = sigma * shape
        k = whole.shape[1]
        whole[:, np.arange(k), np.arange(k)] += noise
        root = np.linalg.cholesky(whole)
        white = np.linalg.solve(root, seen[..., None])[..., 0]
        q = (white**2).sum(axis=1)
        size = float(q.mean()) / k
        for _ in range(TURNS):
            size = float(((DEGREES + k) * q / (DEGREES + q / size)).mean()) / k if size else 0.0
        if not size > 0:
            continue
        log = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1) + 0.5 * k * np.log(size)
        fit = -(log + 0.5 * (DEGREES + k) * np.log1p(q / (DEGREES * size))).sum()
        best = max(best, (float(fit), Scales(unit, sigma, size)), key=lambda one: one[0])
    return best[1]


def _unit(left: Left, z: Array) -> float:
    """The size of what pairs show, over all rows."""
    total = 0.0
    for i in range(len(left.values)):
        total += float((Observed.of(left, i, z[i], 1.0).seen[:-1] ** 2).sum())
    return float(np.sqrt(total / max(left.pull.size, 1)))


@final
@dataclass(frozen=True, eq=False)
class Corrected:
    """The Shapley values of a row, shape (d,), with the scale matrix and degrees of freedom of
    their t distribution."""

    values: Array
    factor: Array
    df: float


def correct(left: Left, i: int, z: Array, scales: Scales, pairs: bool = True) -> Corrected:
    """Row i with what its own answers say; without `pairs` only its total is known."""
    values, d = left.values[i], left.values.shape[1]
    if not scales.unit > 0:
        return Corrected(values, np.zeros((d, d)), np.inf)
    row = Observed.of(left, i, z, scales.unit, pairs)
    k = len(row.seen)
    whole = scales.sigma * prior.covariance(row.z, row.a)
    whole[np.arange(k), np.arange(k)] += row.noise
    across = scales.sigma * prior.with_values(row.z, row.a)
    solved = np.linalg.solve(whole, np.column_stack([across, row.seen]))
    q = float(row.seen @ solved[:, -1])
    rest = scales.sigma * prior.of_values(row.a) - across.T @ solved[:, :-1]
    factor = scales.unit**2 * (DEGREES * scales.size + q) / (DEGREES + k) * rest
    return Corrected(
        values + scales.unit * (across.T @ solved[:, -1]), _symmetric(factor), DEGREES + k
    )


def without_answers(left: Left, i: int, scales: Scales) -> Corrected:
    """Row i, of which no answer is known."""
    a = prior.shares(relevance(left.values[i], left.apart[i], left.unchanged[i]))
    factor = scales.unit**2 * scales.size * scales.sigma * prior.of_values(a)
    return Corrected(left.values[i], _symmetric(factor), DEGREES)


def _symmetric(factor: Array) -> Array:
    out = (factor + factor.T) / 2
    place = np.diag_indices(len(out))
    out[place] = np.maximum(out[place], 0.0)
    return out


def adding_up(values: Array, factor: Array, total: float) -> Array:
    """The values with what they lack of the total, shared by how unsure each is."""
    values = values.copy()
    for _ in range(3):  # sums are rounded, too
        lack = total - float(values.sum())
        share = np.diag(factor)
        if not share.sum() > 0:
            share = np.abs(values)
        if not share.sum() > 0:
            break
        values = values + lack * share / share.sum()
    return values


def signs(pairs: Pairs) -> Array:
    """1 where the row's own value is taken and −1 elsewhere, shape (n, pairs, d)."""
    return np.where(pairs.own, 1.0, -1.0)
