"""A line on the rows of a survey, reweighted to the law of one instance.

Rows of a survey serve every instance. For one instance the weight of a row is the row's probability
under the instance's law over that under the survey's law. Scores are those of a weighted line, and
intervals are computed as in `Robust`, with these weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle.surrogate.fit import Fit, checked, is_flat
from eagle.surrogate.posterior import StudentT
from eagle.surrogate.variance import (
    CALM,
    FEW_CARRIERS,
    KNOWN,
    LEAST,
    LENGTHS,
    LOWEST,
    SHARES,
    SHORTEST,
    STEPS,
    TRIPLES,
    UNSEEN,
    Balance,
    beyond,
    narrowing,
)
from eagle.types import UNBOUNDED, Array, InputError, Need, Range, Rows

FEWEST: Final = 12
"""A feature is not known if it matches in fewer rows than this, or differs in fewer, unless it
matches in all."""

PAIRED: Final = 64
"""Maximum number of features in products of two; they are evenly spaced."""

RIDGE: Final = 0.01
"""The prior precision of each slope; weights have the mean 1. A survey has enough rows to need
almost no prior: a precision of 1 would shrink the slope of a value that 16 rows have by 6%."""


@final
@dataclass(frozen=True)
class Evenness:
    """How evenly rows fill their law, in blocks of consecutive rows and all together.

    A pair of numbers is the mean square of sums of products of two features, and of three, divided
    by that of independent rows. `blocks` has a pair for each length of blocks, shortest first, and
    `whole` is the pair of all `rows` rows. Rows after these are supplements, which have no balance.
    """

    rows: int
    blocks: tuple[tuple[float, float], ...]
    whole: tuple[float, float]

    @cached_property
    def lengths(self) -> list[int]:
        """The lengths of blocks, in rows, shortest first."""
        return block_lengths(self.rows)

    @cached_property
    def balance(self) -> Balance:
        """The balance of rows that are already summed over the shortest blocks."""
        if not self.lengths:
            return Balance((), (), np.empty((0, 2)), np.ones(2))
        least = self.lengths[0]
        starts = tuple(np.arange(0, self.rows, length) // least for length in self.lengths)
        ends = [np.arange(0, self.rows, length) for length in self.lengths]
        sizes = tuple(np.diff(end, append=self.rows).astype(np.float64) for end in ends)
        return Balance(starts, sizes, np.array(self.blocks), np.minimum(self.whole, 1.0))


@final
@dataclass(frozen=True)
class Reweighted:
    """The line of a survey for one instance; intervals cover that of infinitely many rows.

    Rows come in the order of the survey, the instance first with the weight 0: it is no row of the
    survey. `evenness` is that of the survey, the same for all its instances.
    """

    evenness: Evenness
    needs: ClassVar = frozenset({Need.BALANCED})

    def room(self, n: int, d: int) -> int:
        return 3 * n * d

    def on(self, rows: Rows) -> Weighed:
        if len(rows) < 2 or rows.weight[0] != 0:
            raise InputError(
                "the line of a survey needs the instance first, with the weight 0, and then rows"
            )
        z = np.ascontiguousarray(rows.features[1:].T)
        evenness = self.evenness
        if len(rows) - 1 < evenness.rows:  # the first rows of a survey have another evenness
            evenness = measured_evenness([(z, rows.weight[1:])])
        return Weighed.of(z, rows.weight[1:], evenness, anchor=rows.features[0])


@final
class Buffers:
    """Arrays that one line after another reuses: allocation would cost more than the sums."""

    def __init__(self) -> None:
        self._held: dict[str, Array] = {}

    def take(self, name: str, shape: tuple[int, ...]) -> Array:
        """An array of this shape, whose numbers are anything."""
        held = self._held.get(name)
        if held is None or held.shape != shape:
            held = self._held[name] = np.empty(shape)
        return held


@final
@dataclass(frozen=True, eq=False)
class Weighed:
    """Weighted rows of one instance, ready for answers.

    `x`, shape (d, n), are the features less their means, `t` the same times the weights, `inverse`
    that of XᵀWX + λ, and `left` is 1 less the leverage of each row. `anchor`, shape (d,), are the
    instance's own features, and `matches`, shape (d,), says in how many rows each feature is 1.
    The arrays may lie in buffers: fit before the next line is made.
    """

    weight: Array
    matches: Array
    x: Array
    t: Array
    mean: Array
    inverse: Array
    evenness: Evenness
    anchor: Array

    @classmethod
    def of(
        cls,
        z: Array,
        weight: Array,
        evenness: Evenness,
        *,
        anchor: Array | None = None,
        buffers: Buffers | None = None,
    ) -> Weighed:
        """From features, shape (d, n), and weights, shape (n,); `x` and `t` go into the buffers."""
        buffers = Buffers() if buffers is None else buffers
        weight = weight / weight.mean()
        matches = z @ np.ones(len(weight))
        mean = np.where(matches == len(weight), 1.0, z @ weight / len(weight))
        x = np.subtract(z, mean[:, None], out=buffers.take("x", z.shape))
        t = np.multiply(x, weight, out=buffers.take("t", z.shape))
        gram = t @ x.T
        gram.flat[:: len(gram) + 1] += RIDGE
        inverse = np.linalg.inv(gram)
        own = np.ones(len(z)) if anchor is None else anchor
        return cls(weight, matches, x, t, mean, (inverse + inverse.T) / 2, evenness, own)

    @property
    def nbytes(self) -> int:
        return self.x.nbytes + self.t.nbytes + self.weight.nbytes

    @property
    def shared(self) -> tuple[Array, ...]:
        return ()

    def slopes(self, y: Array) -> Array:
        """The scores alone, shape (d,)."""
        return np.asarray(self.inverse @ (self.t @ y))

    @property
    def effective(self) -> float:
        """How many rows of equal weight these are worth."""
        return float(self.weight.sum() ** 2 / (self.weight @ self.weight))

    @cached_property
    def left(self) -> Array:
        """1 − leverage: a row's residual over its residual when it is held out, shape (n,)."""
        lever = np.einsum("ij,ij->j", self.inverse @ self.x, self.t)
        return np.asarray(np.maximum(1.0 - self.weight / len(self.weight) - lever, LEAST))

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """The features that match in enough rows and differ in enough, or match in all, (d,)."""
        off = self.x.shape[1] - self.matches
        return np.asarray((np.minimum(self.matches, off) >= FEWEST) | (off == 0))

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        """Fit answers to all rows; the first is the instance's, which plays no part."""
        y = checked(y, np.empty(len(self.weight) + 1))[1:]
        return self.fitted(y, bounds)[0]

    def fitted(self, y: Array, bounds: Range = UNBOUNDED) -> tuple[Fit, Pulls]:
        """The fit of answers to the rows alone, shape (n,), and what each row adds to scores."""
        flat = is_flat(y)
        middle = float(self.weight @ (y - y[0])) / len(y) + float(y[0])
        apart = np.zeros_like(y) if flat else y - middle
        unit = float(np.abs(apart).max()) or 1.0
        apart /= unit
        slopes = self.slopes(apart)
        raw = apart - slopes @ self.x
        pulls = Pulls.of(self, slopes, raw, beyond(y, bounds) / unit, unit)
        scores = unit * slopes
        posterior = StudentT(
            scores, pulls.scale, pulls.df, unit**2, "robust, rows of a survey", pooled=True
        )
        r2 = held = float("nan")
        if not flat:
            spread = float(self.weight @ apart**2)
            r2 = 1.0 - float(self.weight @ raw**2) / spread
            outside = raw / (1.0 - pulls.share * (1.0 - self.left))
            held = 1.0 - float(self.weight @ outside**2) / spread
        intercept = middle - float(scores @ self.mean)
        local = intercept + float(scores @ self.anchor)
        return Fit(scores, intercept, local, r2, held, posterior), pulls


@final
@dataclass(frozen=True, eq=False)
class Pulls:
    """What each row's misfit adds to the scores, and the scores' t that follows.

    The line's `inverse` @ `terms` × `unit`, shape (d, n), are the pulls. `share` is the share of
    the variance of independent rows that balance leaves. `scale`, shape (d, d), in squares of the
    unit, and `df` are those of the scores' t.
    """

    line: Weighed
    terms: Array
    unit: float
    share: float
    scale: Array
    df: float

    @classmethod
    def of(cls, line: Weighed, slopes: Array, raw: Array, gap: float, unit: float) -> Pulls:
        rows, inverse, weight = line.evenness.rows, line.inverse, line.weight
        residual = raw / np.sqrt(line.left)
        terms = line.t * residual
        square = (weight * residual) ** 2
        total = float(square.sum())
        carriers = total**2 / float(square @ square) if total > 0 else float(len(raw))
        mean = total / float(weight @ weight)
        seen, even = _sandwich(inverse, terms[:, :rows]), _sandwich(inverse, line.t[:, :rows])
        share = left_by_balance(line.evenness, terms[:, :rows], inverse, np.diag(seen))
        few = min(1.0, FEW_CARRIERS / carriers)
        scale = share * ((1 - few) * seen + few * mean * even)
        if len(raw) > rows:  # supplements have no balance
            more = _sandwich(inverse, line.t[:, rows:])
            scale += (1 - few) * _sandwich(inverse, terms[:, rows:]) + few * mean * more
            even = even + more
        scale += even * (mean * min(1.0, UNSEEN / carriers) / carriers + gap**2 / line.effective)
        bias = _shrunk(inverse, slopes)
        scale += bias[:, None] * bias
        plain = max(line.effective - len(slopes) - 1, 1.0)
        df = degrees(plain, share)
        scale *= narrowing(df) / narrowing(plain)
        unknown = ~line.known
        if unknown.any():
            scale[unknown], scale[:, unknown] = 0.0, 0.0
            scale[unknown, unknown] = 4.0  # answers lie within ±1 of their mean, in their unit
        return cls(line, terms, unit, share, scale, df)

    @property
    def pull(self) -> Array:
        """What each row adds to each score by its misfit, shape (d, n)."""
        return np.asarray(self.unit * (self.line.inverse @ self.terms))


def degrees(plain: float, share: float) -> float:
    """Degrees of freedom, fewer by what estimating the balance costs."""
    return max(1 / (1 / plain + (1 - share) / KNOWN), min(plain, 3.0))


def _sandwich(inverse: Array, terms: Array) -> Array:
    return np.asarray(inverse @ (terms @ terms.T) @ inverse)


def left_by_balance(
    evenness: Evenness, terms: Array, inverse: Array | None, variance: Array
) -> float:
    """The share of the variance that balance leaves, shrunk towards the usual share.

    `inverse` @ `terms`, or `terms` if there is no inverse, shape (d, rows), are what rows add to
    sums. `variance`, shape (d,), is that of the sums if rows were independent.
    """
    balance = evenness.balance
    if not balance.starts:
        return 1.0
    sums = np.add.reduceat(terms, np.arange(0, evenness.rows, evenness.lengths[0]), axis=1)
    pulls = sums if inverse is None else inverse @ sums
    told = balance.left(pulls.T, variance)
    usual = 1 - float(np.array(SHARES) @ (1 - balance.whole))
    return float(np.clip(told, LOWEST, 1) ** CALM[0] * np.clip(usual, LOWEST, 1) ** CALM[1])


def _shrunk(inverse: Array, slopes: Array) -> Array:
    """How far the prior shrank the slopes, shape (d,)."""
    step, total = slopes, np.zeros_like(slopes)
    for _ in range(STEPS):
        step = RIDGE * (inverse @ step)
        total += step
    return total


# -- evenness ------------------------------------------------------------------------------------


def block_lengths(rows: int) -> list[int]:
    """How many rows the blocks of each length have, shortest first."""
    lengths: list[int] = []
    while 1.5 * (length := SHORTEST << len(lengths)) <= rows:
        lengths.append(length)
    return lengths[-LENGTHS:]


def measured_evenness(instances: list[tuple[Array, Array]]) -> Evenness:
    """The evenness of rows, the mean over instances: features, shape (d, n), and weights, (n,)."""
    rows = len(instances[0][1])
    lengths = [*block_lengths(rows), rows]
    tables = [np.array([_evenness(z, w, length) for length in lengths]) for z, w in instances]
    table = np.mean(tables, axis=0)
    *blocks, whole = [(float(two), float(three)) for two, three in table]
    return Evenness(rows, tuple(blocks), whole)


def _evenness(z: Array, weight: Array, length: int) -> tuple[float, float]:
    """(Σ w xᵢxⱼ)² summed over blocks, divided by Σ w² xᵢ²xⱼ², for pairs, and so for triples."""
    x = z[np.ptp(z, axis=1) > 0]
    x = x - (x @ weight / weight.sum())[:, None]
    x /= np.sqrt(x**2 @ weight / weight.sum())[:, None]
    starts = np.arange(0, x.shape[1], length)
    wide, some = _some(x, PAIRED), _some(x, TRIPLES)
    m = len(some)
    i, j = np.triu_indices(m, 1)
    others = (np.arange(m) != i[:, None]) & (np.arange(m) != j[:, None])
    apart = ~np.eye(len(wide), dtype=bool)
    return (
        _ratio(wide, wide, weight, starts, apart),
        _ratio(some[i] * some[j], some, weight, starts, others),
    )


def _ratio(
    one: Array, other: Array, weight: Array, starts: NDArray[np.intp], which: NDArray[np.bool_]
) -> float:
    """The mean square of sums of products over blocks, divided by that of independent rows."""
    if not which.any():
        return 1.0
    total = 0.0
    for start, end in zip(starts, [*starts[1:], one.shape[1]], strict=True):
        block = slice(start, end)
        total += float(((((one[:, block] * weight[block]) @ other[:, block].T) ** 2)[which]).sum())
    alone = ((one * weight) ** 2) @ (other**2).T
    return total / float(alone[which].sum())


def _some(x: Array, most: int) -> Array:
    """At most `most` features, which are the rows of x, evenly spaced."""
    return x if len(x) <= most else x[np.linspace(0, len(x) - 1, most).astype(int)]
