"""How much of a model a line misses near an instance, from the answers it was fitted to.

The local variation has three parts. The *line* explains the first. *Position* adds the second:
where a number lies in its bin or outside it, or in the continuous view its curve; each feature
still acts alone. The rest cannot be explained by single features: features act *together*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray
from scipy.special import chdtrc

from eagle._engine.targets import answers_of
from eagle._values.arrays import Array
from eagle.contracts import Need
from eagle.surrogates.fit import is_flat

if TYPE_CHECKING:
    from eagle._engine.evidence import Evidence
    from eagle.explanation import Explanation

RATIOS: Final = np.geomspace(1e-4, 1e5, 60)
"""The ratios of the variance of position to that of the rest that are tried."""

MIN_HELD_OUT_R2: Final = 0.1
"""The held-out R² below which scores explain little: a note says so."""

MAX_OTHER_LEVELS: Final = 128
"""The largest number of other levels of a category that are told apart, the commonest first."""

DEGREE: Final = 5
"""The degree of the polynomial for the curve of a number in the continuous view."""

MIN_F_RATIO: Final = 4.0
MAX_STEPPED_FEATURES: Final = 4
"""Steps are fitted for at most `MAX_STEPPED_FEATURES` features: those whose groups of neighbouring
rows differ by more than chance plus `MIN_F_RATIO` standard deviations."""

MIN_SPARE_ROWS: Final = 20
"""The shares are known only if effective rows outnumber coefficients by at least this many."""

MAX_ROWS: Final = 2048
"""The largest number of rows used: the first ones."""

MAX_FEATURES: Final = 500
"""The largest number of features for which the lack of fit is computed: more would take seconds."""

MAX_CURVED_FEATURES: Final = 150
"""The largest number of features whose position is fitted: those with the largest scores."""

MAX_PAIRED_FEATURES: Final = 128
MIN_ROWS_APART: Final = 4
"""Pairs are sought among at most `MAX_PAIRED_FEATURES` features, with at least `MIN_ROWS_APART`
rows for each feature: in fewer rows, products of different features look the same."""

MAX_P_VALUE: Final = 0.05
MIN_PAIR_SHARE: Final = 0.04
"""A pair is named if its p-value is below `MAX_P_VALUE` and its share above `MIN_PAIR_SHARE`."""

CHI2_DIVISOR: Final = 1.5
"""The divisor of a pair's χ². In balanced rows, products of features correlate with what single
features leave. Without the divisor 20 to 50% of additive models had a pair with p < .05."""

MAX_PAIRS: Final = 16
"""The largest number of pairs that are removed one after another."""

MIN_VARIANCE: Final = 1e-9


@final
@dataclass(frozen=True)
class Pair:
    """Two features that act together: their share of the local variation, and a p-value that is
    corrected for the number of pairs tested."""

    names: tuple[str, str]
    share: float
    p: float

    @property
    def is_notable(self) -> bool:
        """Whether it is strong and sure enough to be shown."""
        return self.p < MAX_P_VALUE and self.share > MIN_PAIR_SHARE


@final
@dataclass(frozen=True)
class LackOfFit:
    """Shares of the local variation: the `line`'s, that of `position`, and what features do
    `together`. They sum to 1. They are NaN where they are not known.

    `pair` is the strongest pair of features that act together, if one is clear. `far` is the
    distance between the line's value and the model's at the instance, in standard deviations of
    the answers. `binned` says that position is the place in the bin or outside it; otherwise it is
    the curve of a number. `masks` says that features are parts that are kept or not, which have no
    position.
    """

    line: float
    position: float
    together: float
    pair: Pair | None
    far: float
    binned: bool
    masks: bool

    @property
    def is_known(self) -> bool:
        return bool(np.isfinite(self.together))

    @property
    def doubt(self) -> float:
        """How doubtful single scores are: together²/(together + line). Position does not count."""
        both = self.together + self.line
        return self.together**2 / both if both > 0 else 0.0


def lack_of_fit(e: Explanation) -> LackOfFit | None:
    """What the line of an explanation misses; None where it has no line."""
    if not is_line(e):
        return None
    rows = LocalRows.of(e)
    parts = None if rows is None else rows.parts
    spread = _spread(e)
    apart = abs(e.local_prediction - e.prediction)
    far = apart / spread if spread > 0 and np.isfinite(apart) else 0.0
    masks = _masks(e.evidence)
    binned = not masks and bool(_matches(e.evidence).all())
    if rows is None or parts is None:
        line = np.nan if rows is None else rows.line
        return LackOfFit(line, np.nan, np.nan, None, far, binned, masks)
    pair = next((pair for pair in rows.pairs(1) if pair.is_notable), None)
    return LackOfFit(*parts, pair, far, binned, masks)


def interactions(e: Explanation, k: int) -> tuple[Pair, ...]:
    """The k pairs of features that act together most, strongest first."""
    rows = LocalRows.of(e) if is_line(e) else None
    return () if rows is None or rows.parts is None else tuple(rows.pairs(k))


def is_line(e: Explanation) -> bool:
    """Whether the scores are those of a line in the features."""
    return e.surrogate is not None and Need.VALUES not in e.surrogate.needs and e.signed


def _spread(e: Explanation) -> float:
    """The weighted standard deviation of the answers, without the instance."""
    y = answers_of(e.evidence.answers, e.outputs, e.target, e.link)
    weight = e.evidence.weight[1:]
    if is_flat(y) or not weight.sum() > 0:
        return 0.0
    if np.isnan(y[0]):  # the instance's own answer is not known
        y = np.append(y[1], y[1:])
    unit = float(np.abs(y - y[0]).max())
    apart = (y[1:] - y[0]) / unit
    return unit * float(
        np.sqrt(np.average((apart - np.average(apart, weights=weight)) ** 2, weights=weight))
    )


def _matches(evidence: Evidence) -> NDArray[np.bool_]:
    """Which features are 1 or 0, shape (d,)."""
    z = evidence.features
    return np.asarray(((z == 0) | (z == 1)).all(axis=0))


def _masks(evidence: Evidence) -> bool:
    """Whether points are masks."""
    points, z = evidence.points, evidence.features
    return evidence.moves is None and points.shape == z.shape and bool((points == 1 - z).all())


@final
@dataclass(frozen=True, eq=False)
class Effect:
    """A random effect: orthonormal directions, shape (n, m), and `kept`, shape (m,), the share of
    the residual along each that it explains. `ratio` is its variance over that of the rest."""

    directions: Array
    kept: Array
    ratio: float

    def rest(self, left: Array) -> Array:
        """The residual `left` without what the effect explains."""
        return left - self.directions @ (self.kept * (self.directions.T @ left))

    @property
    def lever(self) -> Array:
        """The leverage of each row, shape (n,)."""
        return np.asarray((self.directions**2) @ self.kept)


# -- rows ----------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class LocalRows:
    """The rows of an explanation without the instance, prepared for least squares.

    `z` are the features that moved, shape (n, m), and `y` the answers, both scaled to a largest
    size of 1. `root` are the square roots of the weights, with mean square 1. `scores` are the
    sizes of the features' effects on the line. `extra` has for each feature the columns of its
    position, None where they are not known. `ranks` has the rank of each row among the rows inside
    the instance's bin, or among those outside.
    """

    names: Sequence[str]
    z: Array
    y: Array
    root: Array
    scores: Array
    extra: Sequence[Array | None]
    balanced: bool
    ranks: Sequence[Array | None] = ()

    @classmethod
    def of(cls, e: Explanation) -> LocalRows | None:
        """None where it is not known: too few rows, too many features, or equal answers."""
        evidence = e.evidence
        n, d = evidence.features.shape
        if d > MAX_FEATURES:
            return None
        rows = np.arange(1, min(n, 1 + MAX_ROWS))
        rows = rows[evidence.weight[rows] > 0]
        y = answers_of(evidence.answers, e.outputs, e.target, e.link)[rows]
        if len(rows) < 2 or is_flat(y):
            return None
        weight = evidence.weight[rows] / evidence.weight[rows].max()
        if weight.sum() ** 2 / (weight**2).sum() < d + 1 + MIN_SPARE_ROWS:
            return None
        z = evidence.features[rows]
        moved = np.flatnonzero((z != z[0]).any(axis=0))
        reach = np.abs(z[:, moved]).max(axis=0)
        z = z[:, moved] / reach
        middle = float(np.average(y - y[0], weights=weight))
        y = (y - y[0]) - middle
        places = list(_places(evidence, rows, moved))
        size = np.abs(e.scores[moved]) * reach * z.std(axis=0)
        return cls(
            [e.names[j] for j in moved],
            z,
            y / np.abs(y).max(),
            np.sqrt(weight / weight.mean()),
            size,
            [columns for columns, _ in places],
            e.surrogate is not None and Need.BALANCED in e.surrogate.needs,
            [rank for _, rank in places],
        )

    @cached_property
    def basis(self) -> Array:
        """An orthonormal basis of the line's columns, shape (n, rank)."""
        x = self.root[:, None] * np.column_stack([np.ones(len(self.z)), _standard(self.z)])
        q, r = np.linalg.qr(x)
        size = np.abs(np.diagonal(r))
        if size.min() > MIN_VARIANCE * size.max():
            return q
        u, s, _ = np.linalg.svd(x, full_matrices=False)
        return np.asarray(u[:, s > MIN_VARIANCE * s[0]])

    @cached_property
    def total(self) -> float:
        """The variance of the answers."""
        return float((self.root * self.y) @ (self.root * self.y)) / (len(self.y) - 1)

    @cached_property
    def residuals(self) -> Array:
        """The line's residuals, times the square root of the weight, shape (n,)."""
        return self._off_line(self.root * self.y)

    def _off_line(self, columns: Array) -> Array:
        """Columns minus their projection on the line's columns."""
        return columns - self.basis @ (self.basis.T @ columns)

    @property
    def spare(self) -> int:
        return len(self.y) - int(self.basis.shape[1])

    @cached_property
    def line(self) -> float:
        """The adjusted R²."""
        return 1.0 - float(self.residuals @ self.residuals) / self.spare / self.total

    @cached_property
    def position(self) -> Effect | None:
        """What each feature does alone, besides the line; None where it is not known.

        Smooth columns are fitted first. Where they leave steps, as of trees, groups of rows that
        are neighbours in a feature are fitted, too.
        """
        chosen = [
            self.extra[j] for j in np.argsort(-self.scores, kind="stable")[:MAX_CURVED_FEATURES]
        ]
        known = [columns for columns in chosen if columns is not None]
        if len(known) < len(chosen):
            return None
        columns = np.column_stack([np.empty((len(self.y), 0)), *known])
        smooth = self._effect(columns)
        steps = self._steps(smooth.rest(self.residuals))
        return self._effect(np.hstack([columns, *steps])) if steps else smooth

    def _effect(self, columns: Array) -> Effect:
        """Columns as a random effect with one variance, orthogonal to the line."""
        columns = self.root[:, None] * _standard(columns)
        before = (columns**2).sum(axis=0)
        columns = self._off_line(columns)
        columns = columns[:, (columns**2).sum(axis=0) > 1e-12 * before]
        if not columns.shape[1]:
            return Effect(columns, np.empty(0), 0.0)
        directions, sizes = _directions(columns)
        sizes = sizes**2 / columns.shape[1]
        ratio = self._ratio(directions, sizes)
        return Effect(directions, ratio * sizes / (1 + ratio * sizes), ratio)

    def _ratio(self, directions: Array, sizes: Array) -> float:
        """The variance of an effect over that of the rest, by restricted maximum likelihood."""
        along = (directions.T @ self.residuals) ** 2
        rest = max(float(self.residuals @ self.residuals - along.sum()), 0.0)
        wide = 1 + RATIOS[:, None] * sizes
        loss = np.maximum((along / wide).sum(axis=1) + rest, MIN_VARIANCE**2 * self.total)
        cost = self.spare * np.log(loss) + np.log(wide).sum(axis=1)
        return float(RATIOS[int(np.argmin(cost))])

    def _steps(self, rest: Array) -> list[Array]:
        """Groups of neighbours, as columns, of the features whose groups differ beyond chance."""
        stepped, total = [], float(rest @ rest)
        for j, rank in enumerate(self.ranks):
            if rank is None or not total > 0:
                continue
            group = _groups(self.z[:, j], rank)
            sizes = np.bincount(group)
            sums = np.bincount(group, rest)[sizes > 0]
            share = float((sums**2 / sizes[sizes > 0]).sum()) / total
            chance = len(sums) / len(rest)
            if share > chance + MIN_F_RATIO * np.sqrt(2 * chance / len(rest)):
                stepped.append((share, np.eye(len(sizes))[group]))
        stepped.sort(key=lambda one: -one[0])
        return [columns for _, columns in stepped[:MAX_STEPPED_FEATURES]]

    @cached_property
    def parts(self) -> tuple[float, float, float] | None:
        """The shares of the line, of position and of the rest; None where they are not known."""
        if self.position is None:
            return None
        loss = float(self.residuals @ self.position.rest(self.residuals))
        together = min(max(loss, 0.0) / self.spare / self.total, 1.0)
        line = self.line
        if len(self.names) == 1:  # a single feature always acts alone
            together = 0.0
        elif self.balanced and len(self.position.kept):
            # In balanced rows position hardly changes the line; only the rest inflates its fit.
            missed = float(self.residuals @ self.residuals) / (len(self.y) - 1) / self.total
            line = 1.0 - missed - together * (1 - self.spare / len(self.y))
        line = min(max(line, 0.0), 1.0 - together)
        return line, max(1.0 - line - together, 0.0), together

    # -- pairs ---------------------------------------------------------------------------------

    def pairs(self, k: int) -> list[Pair]:
        """The k strongest pairs, one after another.

        What a sure pair explains is removed before the next pair is sought: in balanced rows
        the products of other features correlate with it.
        """
        assert self.position is not None
        d = len(self.names)
        if not 2 <= d <= MAX_PAIRED_FEATURES or len(self.y) < MIN_ROWS_APART * d:
            return []
        left = self.position.rest(self.residuals)
        looks = np.stack([_standard(self.z), self._seconds()])
        at, pairs = np.triu_indices(d, 1), list[Pair]()
        free = np.ones(len(at[0]), dtype=bool)
        while len(pairs) < min(k, len(free)):
            share, p = self._scan(left, looks, at)
            order = np.argsort(np.where(free, -share, np.inf), kind="stable").tolist()
            sure = p[order[0]] < MAX_P_VALUE and len(pairs) < MAX_PAIRS
            for one in order[: 1 if sure else min(k, len(free)) - len(pairs)]:
                a, b = at[0][one], at[1][one]
                pairs.append(
                    Pair(
                        (self.names[a], self.names[b]),
                        float(np.clip(share[one], 0.0, 1.0)),
                        float(p[one]),
                    )
                )
                free[one] = False
            if sure:
                products = looks[:, None, :, a] * looks[None, :, :, b]
                columns = self._off_line(self.root[:, None] * products.reshape(4, -1).T)
                left = left - columns @ np.linalg.lstsq(columns, left, rcond=MIN_VARIANCE)[0]
        return pairs

    def _scan(self, left: Array, looks: Array, at: Any) -> tuple[Array, Array]:
        """The share of each pair in the local variation, and its p-value, shape (pairs,)."""
        n, m = len(self.y), looks.shape[2]
        assert self.position is not None
        lever = (self.basis**2).sum(axis=1) + self.position.lever
        left = left * self.root / np.sqrt(np.maximum(1 - lever, MIN_VARIANCE))
        both = np.hstack(list(looks))
        mean = (both.T * left) @ both / n
        noise = ((both**2).T * left**2) @ both**2 / n**2
        there = noise > 0
        strength = np.where(there, mean**2 - noise, 0.0)
        odd = np.divide(mean**2, noise, out=np.zeros_like(mean), where=there)
        fold = (strength, odd, there.astype(np.float64))
        share, chi, df = (x.reshape(2, m, 2, m).sum(axis=(0, 2))[at] for x in fold)
        d = len(self.names)
        return share / self.total, np.minimum(
            chdtrc(np.maximum(df, 1), chi / CHI2_DIVISOR) * d * (d - 1) / 2, 1.0
        )

    def _seconds(self) -> Array:
        """The first column of each feature's position, standardised; 0 where there is none."""
        out = np.zeros_like(self.z)
        for j, columns in enumerate(self.extra):
            if columns is not None and columns.shape[1]:
                out[:, j] = columns[:, 0]
        return _standard(out)


def _standard(columns: Array) -> Array:
    """Columns of mean 0 and variance 1; what does not vary is 0."""
    columns = columns - columns.mean(axis=0)
    scale = np.sqrt((columns**2).mean(axis=0))
    scale[scale <= MIN_VARIANCE] = np.inf
    return np.asarray(columns / scale)


def _directions(columns: Array) -> tuple[Array, Array]:
    """The left singular vectors and singular values, from the smaller of the two Gram matrices."""
    n, m = columns.shape
    if m <= n:
        values, right = np.linalg.eigh(columns.T @ columns)
        keep = values > MIN_VARIANCE * values[-1]
        size = np.sqrt(values[keep])
        return columns @ (right[:, keep] / size), size
    values, left = np.linalg.eigh(columns @ columns.T)
    keep = values > MIN_VARIANCE * values[-1]
    return left[:, keep], np.sqrt(values[keep])


# -- position ------------------------------------------------------------------------------------


def _places(
    evidence: Evidence, rows: NDArray[np.intp], moved: NDArray[np.intp]
) -> Iterator[tuple[Array | None, Array | None]]:
    """For each feature that moved: the columns of its position, None where they are not known, and
    the ranks of its rows if it is a number."""
    matches, points, masks = _matches(evidence), evidence.points[rows], _masks(evidence)
    for j in moved.tolist():
        z = evidence.features[rows, j]
        if masks:
            yield np.empty((len(rows), 0)), None
        elif not matches[j]:
            rank = _rank(z)
            yield _curve(z, rank), rank
        elif evidence.moves is None or (values := evidence.moves.values(points, j)) is None:
            yield None, None
        elif evidence.moves.coded[j]:
            yield _levels(z, values), None
        else:
            columns = _place(z == 1, values)
            yield columns, columns[:, 0]


def _groups(z: Array, rank: Array) -> NDArray[np.intp]:
    """Groups by rank: four inside the instance's bin and twelve outside, or sixteen in all."""
    part = (rank + 1) / 2
    if ((z == 0) | (z == 1)).all():
        return np.where(z == 1, 4 * part, 4 + 12 * part).astype(np.intp)
    return np.asarray((16 * part).astype(np.intp))


def _curve(z: Array, rank: Array) -> Array:
    """The square of an offset, and Legendre polynomials of its rank, which follow steps."""
    square = (z / np.abs(z).max()) ** 2
    return np.column_stack([square, legvander(rank, DEGREE)[:, 1:]])


def _levels(z: Array, codes: Array) -> Array:
    """Which of the commonest other levels each row has."""
    codes = np.where(np.isnan(codes), -1.0, codes)
    levels, count = np.unique(codes[z == 0], return_counts=True)
    kept = levels[np.argsort(-count, kind="stable")[:MAX_OTHER_LEVELS]]
    # The last level is left out: the feature and the other levels determine it.
    return np.asarray(codes[:, None] == kept[: len(levels) - 1], dtype=np.float64)


def _place(inside: NDArray[np.bool_], values: Array) -> Array:
    """Where a number is: its rank inside the instance's bin or outside, its value, if missing."""
    there = ~np.isnan(values)
    rank = np.zeros(len(values))
    outside = there & ~inside
    for part in (inside & there, outside):
        rank[part] = _rank(values[part])
    out = np.where(outside, rank, 0.0)
    value = np.zeros(len(values))
    if there.any():
        size = float(np.abs(values[there]).max()) or 1.0
        apart = values[there] / size
        apart -= apart.mean()
        value[there] = apart / (float(np.abs(apart).max()) or 1.0)
    columns = [rank, out, (3 * out**2 - 1) * outside, (5 * out**3 - 3 * out), value]
    return np.column_stack([*columns, *([] if there.all() else [~there])])


def _rank(values: Array) -> Array:
    """The ranks of values, the mean rank where they tie, from -1 to 1."""
    ordered = np.sort(values)
    below, upto = (ordered.searchsorted(values, side) for side in ("left", "right"))
    return np.asarray((below + upto) / max(len(values), 1) - 1)
