"""A line on the rows of a survey, reweighted to the law of one instance.

Rows of a survey serve every instance. For one instance the weight of a row is the row's probability
under the instance's law over that under the survey's law. Scores are those of a weighted line,

    β̂ = V Σ_r w_r x_r y_r,    V = (Σ_r w_r x_r x_rᵀ + λI)⁻¹,

with a free intercept: x are the features less their weighted mean, and w has the mean 1. Intervals
are those of `Robust` with these weights (`Pulls`). Row r adds V x_r w_r e_r/√(1 − h_r) to the
error of the scores, its pull: e is its residual and h its leverage. Were rows independent, the
squares of the pulls would add up to the variance. But rows are balanced: pulls partly cancel, and
`Evenness` says how much is left.

References: White, "A heteroskedasticity-consistent covariance matrix estimator and a direct test
for heteroskedasticity", 1980; MacKinnon and White, "Some heteroskedasticity-consistent covariance
matrix estimators with improved finite sample properties", 1985 (HC2: 1 − h); Kish, "Survey
sampling", 1965 (`effective`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import UNBOUNDED, Array, Range
from eagle._values.posterior import StudentT
from eagle.contracts import Need, Rows
from eagle.errors import InputError
from eagle.surrogates.fit import Fit, Fitter, check_answers, is_flat
from eagle.surrogates.variance import (
    BALANCE_DF,
    FEW_CARRIERS,
    MAX_BLOCK_LENGTHS,
    MAX_TRIPLE_FEATURES,
    MIN_BLOCK_ROWS,
    MIN_CARRIERS,
    MIN_ONE_LESS_LEVERAGE,
    MIN_SHARE_LEFT,
    PRIOR_SHARES,
    SERIES_TERMS,
    SHARE_EXPONENTS,
    Balance,
    beyond,
    narrowing,
)

MIN_ROWS_PER_SCORE: Final = 12
"""A feature is not known if it matches in fewer rows than this, or differs in fewer, unless it
matches in all."""

MAX_PAIRED_FEATURES: Final = 64
"""Maximum number of features in products of two; they are evenly spaced."""

SLOPE_PRECISION: Final = 0.01
"""The prior precision of each slope; weights have the mean 1. A survey has enough rows to need
almost no prior: a precision of 1 would shrink the slope of a value that 16 rows have by 6%."""

MAX_PART_NUMBERS: Final = 1 << 16
"""Maximum number of numbers in one part of a line's rows, so that a cache holds them."""

LEAST_PART: Final = 256
"""Minimum number of rows of a part."""

MIN_BLOCKED_FEATURES: Final = 16
"""Below twice this number of features, a product with itself is faster in two halves."""


@final
@dataclass(frozen=True)
class Evenness:
    """How evenly rows fill their law, in blocks of consecutive rows and all together.

    A pair of numbers is the mean square of sums of products of two features, and of three, divided
    by that of independent rows: with features x standardised under the weights w,

        Σ_blocks (Σ_r w_r x_ri x_rj)²/Σ_r w_r² x_ri² x_rj²

    over all pairs i, j, and so for triples. It is 1 for independent rows, less for even ones, and
    needs no answers. A part of the residual that is a function of one feature k makes pulls that go
    like products of two features, x_j and one of x_k; a part that is a product of two makes
    products of three. So if the shares a and b of the residual's square are such parts, balance
    leaves the share

        c = 1 − a(1 − pair) − b(1 − triple)

    of the variance. a and b are found from the same formula over blocks, where sums of pulls show
    what is left (`Balance`); c is that of all rows.

    `blocks` has a pair for each length of blocks, shortest first, and `whole` is the pair of all
    `rows` rows. Rows after these are supplements, which have no balance.
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

    @cached_property
    def _contrasts(self) -> tuple[Array, NDArray[np.intp]]:
        """A matrix of what blocks have beyond their share, and the first of each length in it.

        It takes sums over the shortest blocks; its squares add up to 1 for independent rows.
        """
        balance, size = self.balance, len(self.balance.starts[0])
        tables = []
        for starts, sizes in zip(balance.starts, balance.sizes, strict=True):
            share = sizes / sizes.sum()
            which = np.searchsorted(starts, np.arange(size), side="right") - 1
            table = (which == np.arange(len(starts))[:, None]) - share[:, None]
            tables.append(table / np.sqrt(share @ (1 - share)))
        counts = np.array([len(table) for table in tables])
        return np.concatenate(tables), np.cumsum(counts) - counts

    def share_left(self, sums: Array, variance: Array) -> float:
        """As `Balance.share_left`, from sums over the shortest blocks, shape (d, blocks), in one
        product.

        Of many lines this is done for each, so numbers of few lengths are summed without arrays.
        """
        known = variance > 0
        if not known.any() or min(self.whole) >= 1:
            return 1.0
        table, first = self._contrasts
        beyond_share = table @ (sums[known] / np.sqrt(variance[known])[:, None]).T
        square = np.einsum("ij,ij->i", beyond_share, beyond_share)
        seen = np.add.reduceat(square, first) / np.count_nonzero(known)
        return self.balance.remaining(seen.tolist())


@final
@dataclass(frozen=True)
class Reweighted:
    """The line of a survey for one instance; intervals cover that of infinitely many rows.

    Rows come in the order of the survey, the instance first with the weight 0: it is no row of the
    survey. `evenness` is that of the survey, the same for all its instances.
    """

    evenness: Evenness
    needs: ClassVar = frozenset({Need.BALANCED})

    def memory(self, n: int, d: int) -> int:
        return 3 * n * d

    def on(self, rows: Rows) -> Weighed:
        if len(rows) < 2 or rows.weight[0] != 0:
            raise InputError(
                "the line of a survey needs the instance first, with the weight 0, and then rows"
            )
        z = np.ascontiguousarray(rows.features[1:].T)
        evenness = self.evenness
        if len(rows) - 1 < evenness.rows:  # the first rows of a survey have another evenness
            evenness = measure_evenness([(z, rows.weight[1:])])
        return Weighed.of(z, rows.weight[1:], evenness, anchor=rows.features[0])


@final
class Buffers:
    """Arrays that one line after another reuses: allocation would cost more than the sums."""

    def __init__(self) -> None:
        self._held: dict[str, Array] = {}

    def take(self, name: str, shape: tuple[int, ...]) -> Array:
        """An array of this shape, whose numbers are anything."""
        size, held = math.prod(shape), self._held.get(name)
        if held is None or held.size < size:
            held = self._held[name] = np.empty(size)
        return held[:size].reshape(shape)


@final
@dataclass(frozen=True, eq=False)
class Answers:
    """Answers that a line is fitted to, shape (n,), the same for many lines.

    `flat` says whether they are all equal, and `gap` how far a bound lies beyond them.
    """

    y: Array
    flat: bool
    gap: float

    @classmethod
    def of(cls, y: Array, bounds: Range = UNBOUNDED) -> Answers:
        return cls(y, is_flat(y), beyond(y, bounds))

    @cached_property
    def relative(self) -> tuple[Array, float, float]:
        """The answers less the first one, and the least and the largest of these."""
        risen = self.y - self.y[0]
        return risen, float(risen.min()), float(risen.max())


@final
@dataclass(frozen=True, eq=False)
class Weighed(Fitter):
    """Weighted rows of one instance, ready for answers.

    `parts` are blocks of the features and, in their last row, of ones, all times the `root` of the
    weight over a `unit`; rows of a survey come first, and no part has rows both of a survey and of
    supplements. `mean` is that of the features, and `inverse` that of XᵀWX + λ, X being the
    features less their mean. `anchor`, shape (d,), are the instance's own features, and
    `matches`, shape (d,), says in how many rows each feature is 1. The parts may lie in buffers:
    fit before the next line is made.
    """

    weight: Array
    root: Array
    unit: float
    matches: Array
    parts: tuple[tuple[slice, Array], ...]
    mean: Array
    inverse: Array
    evenness: Evenness
    anchor: Array
    buffers: Buffers = field(repr=False)

    @classmethod
    def of(
        cls,
        z: Array,
        weight: Array,
        evenness: Evenness,
        *,
        anchor: Array | None = None,
        matches: Array | None = None,
        buffers: Buffers | None = None,
    ) -> Weighed:
        """From features, shape (d, n), and weights, shape (n,); the parts go into the buffers."""
        d, n = z.shape

        def fill(cut: slice, out: Array) -> Array:
            out[:] = z[:, cut]
            return weight[cut]

        if matches is None:
            matches = z @ np.ones(n)
        own = np.ones(d) if anchor is None else anchor
        return cls.of_fill(fill, n, matches, evenness, own, buffers)

    @classmethod
    def of_fill(
        cls,
        fill: Callable[[slice, Array], Array],
        n: int,
        matches: Array,
        evenness: Evenness,
        anchor: Array,
        buffers: Buffers | None = None,
    ) -> Weighed:
        """As `of`, of n rows whose features `fill` writes, part by part, and whose weights it
        returns: each part stays in the cache until it is done with."""
        d, buffers = len(matches), Buffers() if buffers is None else buffers
        flat, root = buffers.take("parts", ((d + 1) * n,)), np.empty(n)
        total, parts = np.zeros((d + 1, d + 1)), list[tuple[slice, Array]]()
        for cut in cuts(d, evenness.rows, n):
            part = flat[(d + 1) * cut.start : (d + 1) * cut.stop].reshape(d + 1, -1)
            np.sqrt(fill(cut, part[:d]), out=part[d])
            part[:d] *= part[d]
            root[cut] = part[d]
            total += gram_matrix(part)
            parts.append((cut, part))
        unit = math.sqrt(n / total[d, d])
        root *= unit
        weight, total = root**2, total * unit**2
        # The prior is so much larger than what rounding leaves that the mean may be subtracted now.
        unchanged = matches == n
        mean = np.where(unchanged, 1.0, total[d, :d] / total[d, d])
        gram = total[:d, :d] - mean[:, None] * total[d, :d]
        gram[unchanged], gram[:, unchanged] = 0.0, 0.0
        gram.flat[:: d + 1] += SLOPE_PRECISION
        inverse = np.linalg.inv(gram)
        inverse = (inverse + inverse.T) / 2
        every = tuple(parts)
        return cls(weight, root, unit, matches, every, mean, inverse, evenness, anchor, buffers)

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for _, part in self.parts) + self.weight.nbytes + self.root.nbytes

    def slopes(self, y: Array) -> Array:
        """The scores alone, shape (d,)."""
        return self._slopes(self.root * y)

    def _slopes(self, right: Array) -> Array:
        """The scores of answers times the root of the weight."""
        total = np.zeros(len(self.mean) + 1)
        for cut, part in self.parts:
            total += part @ right[cut]
        return np.asarray(self.solve @ (self.unit * total))

    @cached_property
    def solve(self) -> Array:
        """The `inverse` times features less their mean, of features and ones, shape (d, d + 1)."""
        d = len(self.mean)
        out = np.empty((d, d + 1))
        out[:, :d] = self.inverse
        np.negative(self.inverse @ self.mean, out=out[:, d])
        out[self.matches == len(self.weight)] = 0.0
        return out

    @cached_property
    def effective(self) -> float:
        """How many rows of equal weight these are worth: (Σw)²/Σw².

        The variance of a weighted mean of answers of equal variance is that of a plain mean of so
        many.
        """
        return float(self.weight.sum() ** 2 / (self.weight @ self.weight))

    @property
    def one_less_leverage(self) -> Array:
        """1 − leverage: a row's residual over its residual when it is held out, shape (n,)."""
        return np.concatenate([left for _, left in self._solve(np.zeros(len(self.mean)))])

    def _solve(self, slopes: Array) -> Iterator[tuple[Array, Array]]:
        """For each part what it gives, in an array used again, and 1 − leverage.

        It gives what its rows add to each score for a residual of 1, and in the last row what
        slopes say of them, times the root of the weight.
        """
        d = len(slopes)
        every = np.empty((d + 2, d + 1))
        every[:d] = self.solve
        np.negative(self.mean @ self.solve, out=every[d])
        every[d + 1, :d], every[d + 1, d] = slopes, -(slopes @ self.mean)
        every *= self.unit
        away = 1.0 - self.weight / len(self.weight)
        widest = max(part.shape[1] for _, part in self.parts)
        memory = self.buffers.take("reach", ((d + 2) * widest,))
        for cut, part in self.parts:
            size = (d + 2, part.shape[1])
            reach = np.matmul(every, part, out=memory[: size[0] * size[1]].reshape(size))
            left = np.einsum("ij,ij->j", reach[: d + 1], part)
            np.subtract(away[cut], np.multiply(left, self.unit, out=left), out=left)
            yield reach, np.maximum(left, MIN_ONE_LESS_LEVERAGE, out=left)

    def _blocks(self, sums: list[Array]) -> Array:
        """Sums over the shortest blocks, shape (d, blocks), from those of parts."""
        every, lengths = np.concatenate(sums, axis=1), self.evenness.lengths
        parts = lengths[0] // len(self.parts[0][1].T) if lengths else 0
        if parts < 2:
            return every
        return np.asarray(np.add.reduceat(every, np.arange(0, every.shape[1], parts), axis=1))

    @cached_property
    def known_features(self) -> NDArray[np.bool_]:
        """The features that match in enough rows and differ in enough, or match in all, (d,)."""
        off = len(self.weight) - self.matches
        return np.asarray((np.minimum(self.matches, off) >= MIN_ROWS_PER_SCORE) | (off == 0))

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        """Fit answers to all rows; the first is the instance's, which plays no part."""
        y = check_answers(y, np.empty(len(self.weight) + 1))[1:]
        return self.fit_and_pulls(y, bounds)[0]

    def fit_and_pulls(self, y: Array, bounds: Range = UNBOUNDED) -> tuple[Fit, Pulls]:
        """The fit of answers to the rows alone, shape (n,), and what each row adds to scores."""
        pulls = self.pulls(Answers.of(y, bounds))
        posterior = StudentT(
            pulls.scores, pulls.scale, pulls.df, pulls.unit**2, "robust, rows of a survey", True
        )
        fit = Fit(pulls.scores, pulls.intercept, pulls.local, pulls.r2, pulls.held, posterior)
        return fit, pulls

    def pulls(self, answers: Answers) -> Pulls:
        """The scores that answers to the rows give, shape (n,), and how sure each is by itself."""
        weight, rows, n = self.weight, self.evenness.rows, len(self.weight)
        risen, low, high = answers.relative
        middle = float(weight @ risen) / n
        unit = max(high - middle, middle - low) or 1.0
        apart = np.zeros(n) if answers.flat else (risen - middle) * self.root
        apart /= unit
        middle += float(answers.y[0])
        slopes = self._slopes(apart)
        # What is apart and missed are times the root of the weight.
        missed, left, push = np.empty((3, n))
        squares = np.empty((n, 2))
        squares[:, 1] = weight
        sums, seen, even = list[Array](), np.zeros((2, len(slopes))), np.zeros((2, len(slopes)))
        for (cut, _), (given, one) in zip(self.parts, self._solve(slopes), strict=True):
            left[cut], reach = one, given[:-2]
            np.subtract(apart[cut], given[-1], out=missed[cut])
            np.divide(missed[cut], np.sqrt(one), out=push[cut])
            extra = int(cut.start >= rows)
            if not extra:
                sums.append(_part_sums(reach, push[cut], self.evenness))
            np.square(push[cut], out=squares[cut, 0])
            square = np.square(reach, out=reach) @ squares[cut]
            seen[extra] += square[:, 0]
            even[extra] += square[:, 1]
        spread = float(apart @ apart)
        scores = unit * slopes
        intercept = middle - float(scores @ self.mean)
        share = share_left_by_balance(self.evenness, self._blocks(sums), seen[0])
        r2 = held = float("nan")
        if not answers.flat:
            r2 = 1.0 - float(missed @ missed) / spread
            missed /= (1.0 - share) + share * left
            held = 1.0 - float(missed @ missed) / spread
        square = weight * squares[:, 0]
        total = float(square.sum())
        carriers = total**2 / float(square @ square) if total > 0 else float(n)
        mean, few = total / float(weight @ weight), min(1.0, FEW_CARRIERS / carriers)
        plain = max(self.effective - len(slopes) - 1, 1.0)
        df = degrees(plain, share)
        more = mean * min(1.0, MIN_CARRIERS / carriers) / carriers
        more += (answers.gap / unit) ** 2 / self.effective
        return Pulls(
            line=self,
            scores=scores,
            intercept=intercept,
            local=intercept + float(scores @ self.anchor),
            r2=r2,
            held=held,
            push=push,
            unit=unit,
            share=share,
            seen=seen,
            even=even,
            mixed=(1 - few, few * mean, more),
            bias=_shrunk(self.inverse, slopes),
            narrowed=narrowing(df) / narrowing(plain),
            df=df,
        )


@final
@dataclass(frozen=True, eq=False)
class Pulls:
    """What each row's residual adds to the scores, and the scores' t that follows.

    The squared scale of score j is, with c the share of the variance that balance leaves,

        [c((1 − ω)S + ωmQ) + m′Q + bias²] · (1 − 2/ν)/(1 − 2/ν₀),
        S = Σ_r (V x_r)_j² w_r² e_r²/(1 − h_r),    Q = Σ_r (V x_r)_j² w_r².

    S is the sandwich of the pulls, and mQ the same with the lack of fit spread evenly, m being the
    mean of e²/(1 − h) weighted by w². Where few rows carry the lack of fit, n_e = (Σg)²/Σg² of them
    with g = w²e²/(1 − h), S is known badly and gives way by ω = min(1, 10/n_e). m′ is for rows that
    were not drawn: m·min(1, 4/n_e)/n_e, and what answers could do beyond those seen, the gap to
    their far bound squared over the effective number of rows. Of a supplement's rows c is 1. The
    bias is what the prior took: β − β̂ = Σ_k (λV)ᵏβ̂, of which three terms are taken. And as c is
    itself an estimate, 1/ν = 1/ν₀ + (1 − c)/4: longer tails at the same variance, which is what the
    last factor is for; ν₀ is the effective number of rows less the coefficients.

    The line's `solve` @ its parts × `push` × `unit` are the pulls. `share` is the share of the
    variance of independent rows that balance leaves. Without the unit, `seen` are sums of squares
    of pulls, and `even` those of equal residuals, shape (2, d): of the survey's rows, and of
    supplements, which have no balance. `mixed` says how much of either and of a constant residual
    is in the variance, `bias` is the shrinkage of the scores, and `df` are the degrees of freedom
    of their t, for which scales are multiplied by `narrowed`.
    """

    line: Weighed
    scores: Array
    intercept: float
    local: float
    r2: float
    held: float
    push: Array
    unit: float
    share: float
    seen: Array
    even: Array
    mixed: tuple[float, float, float]
    bias: Array
    narrowed: float
    df: float

    @cached_property
    def square(self) -> Array:
        """The squared scale of each score's t, without the unit, shape (d,)."""
        seen, even, more = self.mixed
        share = np.array([self.share, 1.0])
        out = share @ (seen * self.seen + even * self.even) + more * self.even.sum(axis=0)
        # A feature is not known: answers lie within ±1 of their mean, in their unit.
        return np.where(self.line.known_features, (out + self.bias**2) * self.narrowed, 4.0)

    @property
    def spread(self) -> Array:
        """The scale of each score, shape (d,)."""
        return np.sqrt(self.unit**2 * self.square)

    @property
    def variance_of_pulls(self) -> Array:
        """The part of the scores' variance that is from the pulls of rows, shape (d,)."""
        return np.asarray(self.unit**2 * (self.share * self.seen[0] + self.seen[1]))

    @property
    def scale(self) -> Array:
        """The scale matrix of the scores' t, in squares of the unit, shape (d, d)."""
        line, (seen, even, more) = self.line, self.mixed
        mix, rows = seen * self.push**2 + even * line.weight, line.evenness.rows
        mix[:rows] *= self.share
        root = np.sqrt(mix + more * line.weight)
        total = np.zeros((len(line.mean) + 1,) * 2)
        for cut, part in line.parts:
            total += gram_matrix(part * (line.unit * root[cut]))
        scale = self.narrowed * (line.solve @ total @ line.solve.T + np.outer(self.bias, self.bias))
        scale[~line.known_features], scale[:, ~line.known_features] = 0.0, 0.0
        np.fill_diagonal(scale, self.square)  # computed alone, it is the same to the last bit
        return np.asarray((scale + scale.T) / 2)

    @property
    def pull(self) -> Array:
        """What each row adds to each score by its lack of fit, shape (d, n)."""
        every = [self.line.solve @ part for _, part in self.line.parts]
        return np.asarray(np.concatenate(every, axis=1) * (self.line.unit * self.unit * self.push))


def cuts(d: int, rows: int, n: int) -> list[slice]:
    """Parts of n rows that a cache holds; none has both some of the first `rows` and others.

    A part has 16, 32, 64, … rows, except the last ones.
    """
    size = MIN_BLOCK_ROWS
    while size < LEAST_PART or 2 * size * d <= MAX_PART_NUMBERS:
        size *= 2
    ends = [*range(0, min(rows, n), size), *range(rows, n, size), n]
    return [slice(start, end) for start, end in pairwise(ends)]


def gram_matrix(part: Array) -> Array:
    """The product of an array, shape (d, n), and its transpose."""
    half = len(part) // 2
    if not 0 < half < MIN_BLOCKED_FEATURES:
        return np.asarray(part @ part.T)
    return np.concatenate([part @ part[:half].T, part @ part[half:].T], axis=1)


def _part_sums(reach: Array, push: Array, evenness: Evenness) -> Array:
    """The sums of `reach` × `push` over the shortest blocks, or over this part if it is shorter."""
    if not evenness.lengths:
        return np.empty((len(reach), 0))
    length = min(evenness.lengths[0], len(push))
    whole = len(push) // length * length
    shape = len(reach), whole // length, length
    sums = np.einsum("dbr,br->db", reach[:, :whole].reshape(shape), push[:whole].reshape(shape[1:]))
    if whole == len(push):
        return np.asarray(sums)
    return np.column_stack([sums, reach[:, whole:] @ push[whole:]])


def degrees(plain: float, share: float) -> float:
    """Degrees of freedom, fewer by what estimating the balance costs."""
    return max(1 / (1 / plain + (1 - share) / BALANCE_DF), min(plain, 3.0))


def share_left_by_balance(evenness: Evenness, sums: Array, variance: Array) -> float:
    """The share of the variance that balance leaves, shrunk towards the usual share.

    It is told^⅔ · usual^⅓: `told` is c of `Evenness` by the blocks of these answers, and `usual` is
    c with the usual shares a and b, as these rows would have it for other answers.

    `sums`, shape (d, blocks), are those of what rows add, over the shortest blocks. `variance`,
    shape (d,), is that of all if rows were independent.
    """
    balance = evenness.balance
    if not balance.starts:
        return 1.0
    told = evenness.share_left(sums, variance)
    usual = 1 - float(np.array(PRIOR_SHARES) @ (1 - balance.whole))
    return float(
        min(max(told, MIN_SHARE_LEFT), 1.0) ** SHARE_EXPONENTS[0]
        * min(max(usual, MIN_SHARE_LEFT), 1.0) ** SHARE_EXPONENTS[1]
    )


def _shrunk(inverse: Array, slopes: Array) -> Array:
    """How far the prior shrank the slopes, shape (d,).

    β̂ is (I − λV)β but for noise, so β − β̂ is the series Σ_k (λV)ᵏβ̂, k = 1, 2, …
    """
    step, total = slopes, np.zeros_like(slopes)
    for _ in range(SERIES_TERMS):
        step = SLOPE_PRECISION * (inverse @ step)
        total += step
    return total


# -- evenness ------------------------------------------------------------------------------------


def block_lengths(rows: int) -> list[int]:
    """How many rows the blocks of each length have, shortest first."""
    lengths: list[int] = []
    while 1.5 * (length := MIN_BLOCK_ROWS << len(lengths)) <= rows:
        lengths.append(length)
    return lengths[-MAX_BLOCK_LENGTHS:]


def measure_evenness(instances: list[tuple[Array, Array]]) -> Evenness:
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
    wide, some = _some(x, MAX_PAIRED_FEATURES), _some(x, MAX_TRIPLE_FEATURES)
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
