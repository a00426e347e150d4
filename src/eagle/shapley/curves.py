"""Straight lines, and curves with products of pairs of columns, fitted by ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.packages import one_thread
from eagle.shapley.layout import Layout, Values, look_up

KNOTS: Final = 6
FEW_VALUES: Final = 8
"""A number with at most this many values has a column for each of them."""

MAX_LEVELS: Final = 32
"""A category with more levels has a curve over their mean answers, not a column for each."""

MAX_ROWS: Final = 8_000
"""Maximum number of rows that curves are fitted to."""

MAX_PRODUCTS: Final = 1_000

PENALTIES: Final = np.geomspace(1e-3, 1e4, 15)

CLIP: Final = 2.5
"""Scores are clipped to this many standard deviations, so that no product runs away."""


@final
@dataclass(frozen=True, eq=False)
class Basis:
    """The columns that curves are sums of, made of one column of the table.

    With `knots` these are cubic splines, constant outside; otherwise one for each of the `values`.
    Without either it is the number itself. `means` has the mean answer of each level, where levels
    are numbers so. `fill` stands for missing numbers, which have a column of their own if
    `missing`.
    """

    knots: Array
    values: Array
    means: Array | None
    fill: float
    missing: bool

    @classmethod
    def straight(cls, column: Array, levels: int) -> Basis:
        """A number as it is, or a column for each level but the first."""
        there = column[~np.isnan(column)]
        missing = len(there) < len(column)
        values = np.unique(there)[1:] if levels else np.empty(0)
        return cls(np.empty(0), values, None, _middle(there), missing)

    @classmethod
    def of_values(cls, column: Array, answers: Array, levels: int) -> Basis:
        """Splines, or a column for each of a few values or levels."""
        there = column[~np.isnan(column)]
        missing = len(there) < len(column)
        distinct = np.unique(there)
        if len(distinct) <= (MAX_LEVELS if levels else FEW_VALUES):
            return cls(np.empty(0), distinct, None, np.nan, missing)
        means = None
        if levels:
            means = level_means(column, answers, levels)
            there = look_up(there, means)
        knots = np.unique(np.quantile(there, np.linspace(0, 1, KNOTS)))
        return cls(knots, np.empty(0), means, _middle(there), missing)

    def columns(self, column: Array) -> Array:
        """The columns for some rows, shape (n, k)."""
        if self.means is not None:
            column = look_up(column, self.means)
        gap = np.isnan(column)
        filled = np.where(gap, self.fill, column)
        if len(self.values):
            out = (column[:, None] == self.values).astype(np.float64)
        elif len(self.knots) > 1:
            out = splines(filled, self.knots)
        elif len(self.knots) or not np.isfinite(self.fill):
            out = np.empty((len(column), 0))
        else:
            out = filled[:, None]
        return np.column_stack([out, gap]) if self.missing else out


def _middle(there: Array) -> float:
    return float(there.mean()) if len(there) else 0.0


def splines(x: Array, knots: Array) -> Array:
    """Cubic splines between knots, constant outside, shape (n, knots + 2)."""
    from scipy.interpolate import BSpline

    every = np.concatenate([[knots[0]] * 3, knots, [knots[-1]] * 3])
    inside = np.clip(x, knots[0], knots[-1])
    return np.asarray(BSpline.design_matrix(inside, every, 3).toarray())


def level_means(codes: Array, answers: Array, levels: int) -> Array:
    """The mean answer of each level, drawn towards the mean of all, shape (levels,)."""
    known = ~np.isnan(codes) & (codes < levels)
    place, total = codes[known].astype(np.intp), float(answers.mean())
    sums = np.bincount(place, weights=answers[known], minlength=levels)
    return np.asarray((sums + 10 * total) / (np.bincount(place, minlength=levels) + 10))


@final
@dataclass(frozen=True, eq=False)
class Scores:
    """A column as one or two standardised numbers, of which products of two columns are made."""

    means: Array | None
    low: float
    high: float
    middle: float
    scale: float
    squares: bool

    @classmethod
    def of(cls, column: Array, answers: Array, levels: int, squares: bool) -> Scores:
        means = level_means(column, answers, levels) if levels > 2 else None
        there = column if means is None else look_up(column, means)
        there = there[~np.isnan(there)]
        if not len(there):
            return cls(means, 0.0, 0.0, 0.0, 0.0, squares)
        low, high = np.quantile(there, [0.005, 0.995]).tolist()
        inside = np.clip(there, low, high)
        return cls(means, low, high, float(inside.mean()), float(inside.std()), squares)

    def columns(self, column: Array) -> Array:
        """The scores of some rows, shape (n, 1) or (n, 2)."""
        if self.means is not None:
            column = look_up(column, self.means)
        if not self.scale > 0:
            return np.zeros((len(column), 2 if self.squares else 1))
        z = (np.clip(column, self.low, self.high) - self.middle) / self.scale
        z = np.clip(np.where(np.isnan(z), 0.0, z), -CLIP, CLIP)
        return np.column_stack([z, (z**2 - 1) / 1.5]) if self.squares else z[:, None]


@final
@dataclass(frozen=True, eq=False)
class CurveSum:
    """A sum of curves of single columns and of products of two columns' scores.

    `weights` are those of the basis columns, one basis after another. `products`, shape (s, s), is
    symmetric: an entry is the coefficient of the product of two scores.
    """

    start: float
    bases: tuple[Basis, ...]
    weights: tuple[Array, ...]
    scores: tuple[Scores, ...]
    products: Array

    def check(self, layout: Layout) -> None:
        wide = sum(2 if one.squares else 1 for one in self.scores)
        count = len(layout.player)
        if {len(self.bases), len(self.weights)} != {count} or self.products.shape != (wide, wide):
            raise ValueError("its curves are not of its columns")
        if len(self.scores) not in (0, count):
            raise ValueError("its products are not of its columns")

    def predict(self, rows: Array) -> Array:
        out = np.full(len(rows), self.start)
        for j, (basis, weight) in enumerate(zip(self.bases, self.weights, strict=True)):
            out += basis.columns(rows[:, j]) @ weight
        if self.scores:
            scores = self._scores(rows)
            out += ((scores @ self.products) * scores).sum(axis=1) / 2
        return out

    def values_over(self, background: Array, layout: Layout) -> Values:
        """What makes the exact Shapley values of rows, shape (n, players)."""
        alone = [
            float((basis.columns(background[:, j]) @ weight).mean())
            for j, (basis, weight) in enumerate(zip(self.bases, self.weights, strict=True))
        ]
        scores = self._scores(background) if self.scores else np.empty((len(background), 0))
        together = (scores * (scores @ self.products)).mean(axis=0)
        return partial(self._values, layout, np.array(alone), scores.mean(axis=0), together)

    def _values(
        self, layout: Layout, alone: Array, mean: Array, together: Array, rows: Array
    ) -> Array:
        each = np.empty((len(rows), len(self.bases)))
        for j, (basis, weight) in enumerate(zip(self.bases, self.weights, strict=True)):
            each[:, j] = basis.columns(rows[:, j]) @ weight
        each -= alone
        if self.scores:
            q, m = self._scores(rows), self.products
            added = (q - mean) * (q @ m) + q * (mean @ m) - together
            wide = 2 if self.scores[0].squares else 1
            each += added.reshape(len(rows), len(self.scores), wide).sum(axis=2) / 2
        return layout.by_player(each)

    def _scores(self, rows: Array) -> Array:
        return np.concatenate(
            [one.columns(rows[:, j]) for j, one in enumerate(self.scores)], axis=1
        )


def fit_line(rows: Array, answers: Array, layout: Layout) -> CurveSum:
    """A plain least-squares line."""
    bases = tuple(Basis.straight(rows[:, j], n) for j, n in enumerate(layout.levels.tolist()))
    parts = [basis.columns(rows[:, j]) for j, basis in enumerate(bases)]
    design = np.concatenate(parts, axis=1)
    middle = design.mean(axis=0)
    scale = design.std(axis=0)
    scale = np.where(scale > 1e-12 * np.maximum(np.abs(middle), 1e-300), scale, np.inf)
    start = float(answers.mean())
    with one_thread():
        solved = np.linalg.lstsq((design - middle) / scale, answers - start, rcond=1e-10)[0]
    slopes = solved / scale
    return _assemble(start - float(middle @ slopes), bases, parts, slopes, (), np.empty((0, 0)))


def fit_curves(rows: Array, answers: Array, layout: Layout, seed: int) -> CurveSum:
    """Curves and products by ridge regression, on at most `MAX_ROWS` rows drawn by the seed."""
    if len(rows) > MAX_ROWS:
        rng = np.random.Generator(np.random.PCG64(seed))
        some = np.sort(np.argsort(rng.random(len(rows)), kind="stable")[:MAX_ROWS])
        rows, answers = rows[some], answers[some]
    n, d = rows.shape
    levels = layout.levels.tolist()
    bases = tuple(Basis.of_values(rows[:, j], answers, k) for j, k in enumerate(levels))
    parts = [basis.columns(rows[:, j]) for j, basis in enumerate(bases)]
    pairs = list(combinations(range(d), 2))
    most = min(MAX_PRODUCTS, n / 4)
    squares = 4 * len(pairs) <= most
    scores: tuple[Scores, ...] = ()
    places: list[tuple[int, int]] = []
    if pairs and len(pairs) <= most:
        scores = tuple(Scores.of(rows[:, j], answers, k, squares) for j, k in enumerate(levels))
        each = np.concatenate([s.columns(rows[:, j]) for j, s in enumerate(scores)], axis=1)
        wide = 2 if squares else 1
        places = [
            (wide * i + a, wide * j + b) for i, j in pairs for a in range(wide) for b in range(wide)
        ]
        first, second = np.array(places).T
        parts.append(each[:, first] * each[:, second])
    start, slopes = ridge(np.concatenate(parts, axis=1), answers)
    products = np.zeros((len(scores) * (2 if squares else 1),) * 2)
    if places:
        first, second = np.array(places).T
        products[first, second] = products[second, first] = slopes[-len(places) :]
    return _assemble(start, bases, parts, slopes, scores, products)


def _assemble(
    start: float,
    bases: tuple[Basis, ...],
    parts: list[Array],
    slopes: Array,
    scores: tuple[Scores, ...],
    products: NDArray[np.float64],
) -> CurveSum:
    ends = np.cumsum([part.shape[1] for part in parts[: len(bases)]])
    weights = tuple(np.split(slopes[: ends[-1]], ends[:-1])) if len(bases) else ()
    return CurveSum(start, bases, weights, scores, products)


def ridge(design: Array, answers: Array) -> tuple[float, Array]:
    """Intercept and slopes of a ridge regression on standardised columns, its penalty chosen by
    generalised cross-validation."""
    n = len(design)
    middle, scale = design.mean(axis=0), design.std(axis=0)
    scale = np.where(scale > 1e-9, scale, np.inf)
    start = float(answers.mean())
    standard, rest = (design - middle) / scale, answers - start
    with one_thread():
        values, vectors = np.linalg.eigh(standard.T @ standard)
        pulled = vectors.T @ (standard.T @ rest)
        values = np.maximum(values, 0.0)
        total, best = float(rest @ rest), (np.inf, 1.0)
        for penalty in PENALTIES.tolist():
            kept = 1 / (values + penalty)
            left = total - float((pulled**2 * (2 * kept - values * kept**2)).sum())
            score = max(left, 0.0) / max(n - 1 - float((values * kept).sum()), 1e-9) ** 2
            best = min(best, (score, penalty))
        slopes = (vectors @ (pulled / (values + best[1]))) / scale
    return start - float(middle @ slopes), slopes
