"""What is known of the scores after a fit: a Student-t, a bootstrap's draws, or given bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Protocol, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import check_flags, integer
from eagle._values.text import finite, short_repr
from eagle.errors import InputError

DRAWS = 20_000

ALL_MASKS: Final = "what the line misses; every mask was asked"
"""The kind of intervals where nothing is left to ask."""

LEVEL: Final = 0.95
"""The level of intervals unless the caller names another."""


class Posterior(Protocol):
    """How sure the scores are. `mean` has shape (d,)."""

    @property
    def mean(self) -> Array: ...

    @property
    def kind(self) -> str:
        """In a word or two, what intervals are made of."""

    @property
    def std(self) -> Array:
        """The standard deviation of each score, shape (d,); NaN where it is not known."""

    def interval(self, level: float = LEVEL, *, joint: bool = False) -> Array:
        """Central intervals, shape (d, 2): each at that level, or jointly for all at once."""

    def probability_sign(self) -> Array:
        """The probability that each score has the sign of its mean, shape (d,)."""

    def probability_top(self, k: int) -> Array:
        """The probability that each score is among the k largest in size, shape (d,)."""


@final
@dataclass(frozen=True, eq=False)
class StudentT:
    """t_ν(mean, variance × factor): mean (d,), factor (d, d), ν = `df`; Gaussian if infinite.

    The factor is separate from the variance so that several distributions can share it. `kind`
    says where the scale is from: the line's own "posterior", or "robust", summed from residuals.
    With `pooled`, the probability of a sign uses the sizes of all coordinates.
    """

    mean: Array
    factor: Array
    df: float
    variance: float = 1.0
    kind: str = "posterior"
    pooled: bool = False

    @property
    def scale(self) -> Array:
        """The scale matrix, shape (d, d)."""
        return self.variance * self.factor

    @property
    def spread(self) -> Array:
        """The scale of each coordinate, √scale_jj, shape (d,)."""
        return np.sqrt(np.maximum(self.variance * np.diag(self.factor), 0.0))

    @property
    def std(self) -> Array:
        """The standard deviation of each coordinate: infinite up to two degrees of freedom."""
        return deviations(self.spread, np.array(self.df))

    def interval(self, level: float = LEVEL, *, joint: bool = False) -> Array:
        """Central credible intervals, shape (d, 2).

        Marginal: each coordinate lies in its own with probability `level`. Joint: all lie in
        theirs at once with at least that probability (the narrower of the box around the
        credible ellipsoid and Bonferroni's).
        """
        check_level(level)
        check_flags(joint=joint)
        d = len(self.mean)
        if joint and d:
            alone = float(quantiles(1 - (1 - level) / (2 * d), np.array(self.df)))
            reach = min(self._ellipsoid(level), alone)
        else:
            reach = float(quantiles((1 + level) / 2, np.array(self.df)))
        half = reach * self.spread
        return np.stack([self.mean - half, self.mean + half], axis=1)

    def _ellipsoid(self, level: float) -> float:
        """Half the width of the box around the credible ellipsoid, in units of `spread`."""
        from scipy import special

        d = len(self.mean)
        if np.isinf(self.df):
            return float(np.sqrt(special.chdtri(d, 1 - level)))
        return float(np.sqrt(d * special.fdtri(d, self.df, level)))

    def probability_sign(self) -> Array:
        """The probability that each coordinate has the sign of its mean, shape (d,)."""
        return sign_probabilities(self.mean, self.spread, np.array(self.df), self.pooled)

    def draws(self, n: int = DRAWS) -> Array:
        """n draws from the joint distribution, always the same ones, shape (n, d)."""
        rng = np.random.Generator(np.random.PCG64(0))
        values, vectors = np.linalg.eigh(self.scale)
        # The symmetric root: it does not depend on which eigenvectors a machine finds.
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        normal = rng.standard_normal((n, len(self.mean)))
        if np.isinf(self.df):
            return np.asarray(self.mean + normal @ root.T)
        stretch = np.sqrt(self.df / rng.chisquare(self.df, n))
        return np.asarray(self.mean + (normal @ root.T) * stretch[:, None])

    def probability_top(self, k: int) -> Array:
        """The probability that each coordinate is among the k largest in size, shape (d,)."""
        integer(k, "k", 1)
        return np.ones(len(self.mean)) if k >= len(self.mean) else top_shares(self.draws(), k)


@final
@dataclass(frozen=True, eq=False)
class Draws:
    """Equally likely scores around a mean, such as a bootstrap's: `values` of shape (n, d)."""

    mean: Array
    values: Array
    kind: ClassVar[str] = "bootstrap"

    @property
    def std(self) -> Array:
        return np.asarray(self.values.std(axis=0, ddof=1))

    def interval(self, level: float = LEVEL, *, joint: bool = False) -> Array:
        """Percentile intervals, shape (d, 2); if `joint`, so wide that all hold at once."""
        check_level(level)
        check_flags(joint=joint)
        low, high = np.quantile(self.values, [(1 - level) / 2, (1 + level) / 2], axis=0)
        if joint:
            n, ordered = len(self.values), np.sort(self.values, axis=0)
            # The depth of a draw is its rank from either end, in the coordinate where it is
            # outermost. The box of the k-th draws from either end holds all draws of depth k.
            depth = np.full(n, n)
            for line, column in zip(ordered.T, self.values.T, strict=True):
                below, above = (line.searchsorted(column, side) for side in ("right", "left"))
                depth = np.minimum(depth, np.minimum(below, n - above))
            k = np.sort(depth)[n - int(np.ceil(level * n))]
            low, high = np.minimum(low, ordered[k - 1]), np.maximum(high, ordered[n - k])
        return np.stack([low, high], axis=1)

    def probability_sign(self) -> Array:
        """The share of draws with the sign of the mean; a draw of 0 counts half."""
        same = np.sign(self.values) == np.sign(self.mean)
        out = same.mean(axis=0) + 0.5 * (self.values == 0).mean(axis=0) * (self.mean != 0)
        return np.asarray(np.where(self.mean == 0, 0.5, out))

    def probability_top(self, k: int) -> Array:
        integer(k, "k", 1)
        return np.ones(len(self.mean)) if k >= len(self.mean) else top_shares(self.values, k)


@final
@dataclass(frozen=True, eq=False)
class Bounds:
    """Intervals that another package gives, known at one level only: low and high, shape (d,).

    The level is None where the package names none: Venn-Abers bounds are no quantiles.
    """

    mean: Array
    low: Array
    high: Array
    level: float | None
    kind: ClassVar[str] = "bounds"

    @property
    def std(self) -> Array:
        return np.full(len(self.mean), np.nan)

    def interval(self, level: float = LEVEL, *, joint: bool = False) -> Array:
        if self.level is None:
            raise InputError(
                "these bounds have no level: `interval_or_nan()` gives them as they are, and no "
                f"interval at the level {level:g} can be made of them"
            )
        if joint or not np.isclose(level, self.level):
            raise InputError(
                f"these intervals are known at the level {self.level:g}, each by itself, and at "
                "no other"
            )
        return np.stack([self.low, self.high], axis=1)

    def probability_sign(self) -> Array:
        raise InputError("bounds alone do not say how probable a sign is")

    def probability_top(self, k: int) -> Array:
        raise InputError("bounds alone do not say how probable a rank is")


def deviations(spread: Array, df: Array) -> Array:
    """The standard deviations of t distributions with these scales, shape (…, d), and degrees of
    freedom, shape (…): infinite up to two of them."""
    over = np.asarray(df)[..., None]
    known = np.where(np.isfinite(over) & (over > 2), over, 3.0)
    wider = spread * np.where(np.isinf(over), 1.0, np.sqrt(known / (known - 2)))
    return np.where(over <= 2, np.where(spread > 0, np.inf, 0.0), wider)


CHUNK: Final = 1 << 15
"""About how many scores are pooled at once: their arrays fit into a processor's cache."""


def sign_probabilities(mean: Array, spread: Array, df: Array, pooled: bool) -> Array:
    """The probabilities that t distributed scores have the signs of their means, shape (…, d).

    `df` has shape (…). With `pooled` the sizes of all scores of a row are used.
    """
    from scipy import special

    sure = spread == 0
    ratio = np.abs(mean) / np.where(sure, 1.0, spread)
    known = np.where(mean == 0, 0.5, 1.0)
    over = np.asarray(df)[..., None]
    finite_df = np.where(np.isinf(over), 1.0, over)
    tail = np.where(np.isinf(over), special.ndtr(ratio), special.stdtr(finite_df, ratio))
    if pooled and tail.ndim == 1 and not sure.all():
        tail[~sure] = signs_together(tail[~sure], spread[~sure])
    elif pooled and tail.ndim == 2 and len(tail):
        _pool(tail, spread, sure)
    return np.asarray(np.where(sure, known, tail))


def _pool(tail: Array, spread: Array, sure: NDArray[np.bool_]) -> None:
    """Pool each row of probabilities, (n, d), in place; rows that lack the same scores together."""
    patterns, which = np.unique(sure, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        unsure = np.flatnonzero(~pattern)
        rows = np.flatnonzero(which.reshape(-1) == k)
        step = max(CHUNK // max(len(unsure) * SIZES, 1), 1)
        for start in range(0, len(rows) if len(unsure) else 0, step):
            some = np.ix_(rows[start : start + step], unsure)
            tail[some] = signs_together(tail[some], spread[some])


SIZES: Final = 9
"""The number of effect sizes in the mixture of `signs_together`."""

ROUNDS: Final = 30
"""Rounds of estimating the shares of sizes; after these they hardly change."""


def signs_together(alone: Array, spread: Array) -> Array:
    """Probabilities of signs, shape (…, d), from those of each score alone and their spreads.

    If most effects are small, a small one that stands out by chance may well have the wrong sign.
    So effects are modelled as draws from a mixture of `SIZES` normal distributions of mean 0, whose
    standard deviations are fixed. Their shares are estimated from all effects (Stephens 2017), with
    a prior count of 1/`SIZES` each.
    """
    from scipy import special

    far = special.ndtri(np.clip(alone, 0.5, 1 - 1e-15))
    spread = np.maximum(spread / spread.max(axis=-1, keepdims=True), 1e-100)
    variance, effect = spread**2, far * spread
    largest = 4 * np.sqrt(np.mean(effect**2, axis=-1) + np.mean(variance, axis=-1))
    sizes = np.geomspace(spread.min(axis=-1) / 2, largest, SIZES, axis=-1)[..., None, :]
    total = variance[..., None] + sizes**2
    log = -(effect[..., None] ** 2) / (2 * total) - np.log(total) / 2
    likely = np.exp(log - log.max(axis=-1, keepdims=True))
    shares = np.full(SIZES, 1 / SIZES)
    for _ in range(ROUNDS):
        each = likely * shares
        counts = (each / each.sum(axis=-1, keepdims=True)).sum(axis=-2, keepdims=True) + 1 / SIZES
        shares = counts / counts.sum(axis=-1, keepdims=True)
    each = likely * shares
    kept = np.sqrt(sizes**2 / total)
    signs = special.ndtr(kept * far[..., None])
    return np.asarray((each * signs).sum(axis=-1) / each.sum(axis=-1))


def quantiles(p: float, df: Array) -> Array:
    """The quantile p of t distributions with these degrees of freedom; Gaussian if infinite."""
    from scipy import special

    normal = np.isinf(df)
    finite_df = np.where(normal, 1.0, df)
    return np.asarray(np.where(normal, special.ndtri(p), special.stdtrit(finite_df, p)))


def check_level(level: float) -> None:
    if not finite(level) or not 0 < level < 1:
        raise InputError(f"a level is a probability between 0 and 1, not {short_repr(level)}")


def top_shares(draws: Array, k: int) -> Array:
    """How often each coordinate is among the k < d largest in size, shape (d,)."""
    return np.asarray(in_top(draws, k).mean(axis=0))


def top_set_share(posterior: Posterior, places: NDArray[np.intp]) -> float:
    """How often no other coordinate of a joint draw is larger in size than those at `places`."""
    if isinstance(posterior, StudentT):
        size = np.abs(posterior.draws())
    elif isinstance(posterior, Draws):
        size = np.abs(posterior.values)
    else:
        raise InputError(
            f"intervals of the kind {posterior.kind} are each by itself: they do not say how "
            "probable it is that several features are the strongest together"
        )
    others = np.delete(size, places, axis=1).max(axis=1, initial=0.0)
    return float((size[:, places].min(axis=1, initial=np.inf) >= others).mean())


def in_top(draws: Array, k: int) -> Array:
    """1 where a coordinate is among the k largest of its row in size, otherwise 0, shape (n, d).

    Tied coordinates share the places that are left. A coordinate of exactly 0 is never in the top.
    """
    d = draws.shape[1]
    size = np.abs(draws)
    if k >= d:
        return np.asarray((size > 0).astype(np.float64))
    least = np.partition(size, d - k, axis=1)[:, [d - k]]
    above, at = size > least, (size == least) & (size > 0)
    equal = np.maximum((size == least).sum(axis=1, keepdims=True), 1)
    return np.asarray(above + at * ((k - above.sum(axis=1, keepdims=True)) / equal))


def are_sure(low: Array, high: Array, sign: Array, level: float) -> NDArray[np.bool_]:
    """Which scores surely have their sign: the interval excludes 0, and the probability of the sign
    is at least the interval's level. A probability that is not known (NaN) does not count.

    This alone decides what is drawn pale or hatched, and what words and counts call sure. The two
    can differ, because P(sign) looks at all scores together: then neither way is called sure.
    """
    outside = (low > 0) | (high < 0)
    return np.asarray(outside & ~(sign < level))


def interval_columns(
    posterior: Posterior | None, signed: bool, d: int, level: float
) -> tuple[Array, Array, Array, Array]:
    """Low, high, standard deviation and P(sign), shape (d,) each; NaN where not known."""
    nothing = np.full(d, np.nan)
    if posterior is None:
        return nothing, nothing, nothing, nothing
    if isinstance(posterior, Bounds):
        return posterior.low, posterior.high, nothing, nothing
    low, high = posterior.interval(level).T
    if not signed:
        return low, high, posterior.std, nothing
    sign = np.where(without_effect(posterior), np.nan, posterior.probability_sign())
    return low, high, posterior.std, sign


def without_effect(posterior: Posterior | None) -> NDArray[np.bool_]:
    """Which parts no answer depends on: all masks were asked, and the score is 0 for sure."""
    if posterior is None or posterior.kind != ALL_MASKS:
        return np.zeros(0 if posterior is None else len(posterior.mean), dtype=bool)
    return np.asarray((posterior.mean == 0) & (posterior.std == 0))
