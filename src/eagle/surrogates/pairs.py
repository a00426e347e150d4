"""A line on masks that come in complements, with intervals from pairs of rows.

The target is that of `Robust`: the line that the same method would give from all masks. The errors
of a mask and its complement are correlated, so what a pair adds to a score is one observation.

Masks that were not drawn also count, as in `Robust`: where a few pairs carry most of the lack of
fit, or where the answers could reach much farther than they did, the covariance has a part for
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import UNBOUNDED, Array, Range
from eagle._values.posterior import ALL_MASKS, StudentT
from eagle._values.text import finite, short_repr
from eagle.contracts import Need, Rows
from eagle.errors import InputError
from eagle.kernels import log_ways
from eagle.surrogates.bayes import BayesLinear, Line, Prior
from eagle.surrogates.fit import Fit, Fitter, is_flat, weighted_r2
from eagle.surrogates.variance import MIN_CARRIERS, beyond

MIN_ROWS_PER_COEFFICIENT: Final = 2
"""The fewest rows for each coefficient: with fewer, intervals were too narrow; none are given."""

MIN_ONE_LESS_LEVERAGE: Final = 1e-3
"""The least 1 − leverage that a residual is divided by, so that one row cannot dominate."""

FADED_PRIOR: Final = 1e-13
"""The factor on the prior once all masks are asked: then nothing should be shrunk."""

ROUNDING: Final = 1e-12
"""The rounding error of an exact score, as a share of the largest answer."""

ROUNDING_OF_SINGLES: Final = 8 * float(np.finfo(np.float32).eps)
"""That of answers in single precision: how a network sums depends on the row's place in a batch."""

MAX_BEND_DEGREE: Final = 3
"""A bend in the number of kept parts is a polynomial of up to this degree."""

MIN_SIZE_SHARE: Final = 1e-9
"""Mask sizes with a smaller share of the weight are not used to fit the bend."""


TAIL_SHARE: Final = 0.1
"""The tail of the answers is judged by this share of them, the farthest from their median."""

MIN_WEIGHT: Final = 1e-150
"""If all weights are below this, they are divided by the largest: their squares would underflow."""


@final
@dataclass(frozen=True)
class Paired:
    """A line for masks, whose intervals are summed over pairs of complements.

    The prior precision of scores, in rows, is `shrinkage` times the sum of the features'
    variances, so its effect does not depend on the kernel's scale. A bend in the number of kept
    parts is fitted, too. It is orthogonal to the line, so the limit stays the same; `bend` is its
    prior precision, in rows. The covariance is Σ (Σ h e/(1 − leverage))(…)ᵀ over pairs, plus what
    masks that were not drawn may hold, plus the square of the shrinkage. If all masks were asked,
    more rows would change no score: intervals then hold what the line misses, counted as if the
    masks had been drawn, and a part that no answer depends on scores exactly 0. With fewer than two
    rows per coefficient there are no intervals.
    """

    shrinkage: float = 0.1
    bend: float = 20.0
    needs: ClassVar = frozenset({Need.MASKS})

    def __post_init__(self) -> None:
        for name, value in (("shrinkage", self.shrinkage), ("bend", self.bend)):
            if not (finite(value) and value > 0):
                raise InputError(f"{name} must be a positive number, not {short_repr(value)}")

    def memory(self, n: int, d: int) -> int:
        return 3 * n * d

    def on(self, rows: Rows) -> PairedLine:
        """The part of the fit that needs only the rows."""
        z, weight = rows.features, rows.weight
        if (
            0 < weight.max(initial=0.0) < MIN_WEIGHT
        ):  # the instance alone, which its law never draws
            weight = weight / weight.max()
        if not ((z == 0) | (z == 1)).all():
            raise InputError("pairs of complements are masks, of zeros and ones: use Robust()")
        kept = z.sum(axis=1).astype(np.intp)
        pairs = MaskPairs.of(z)
        whole = z.shape[1] < 63 and pairs.masks == 1 << z.shape[1]
        spread = float(weighted_variance(z, weight).sum()) or 1.0
        mean = float(weight.mean())
        prior = mean * spread * (FADED_PRIOR if whole else self.shrinkage)
        bends = bend_terms(kept, weight, 0 if whole else MAX_BEND_DEGREE) * np.sqrt(
            prior / (self.bend * mean)
        )
        wide = Rows(np.concatenate([z, bends], axis=1), weight, rows.repeats)
        left = np.sqrt(np.maximum(1.0 - share_asked(kept, z.shape[1]), 0.0))
        return PairedLine(BayesLinear(Prior(prior)).on(wide), z.shape[1], pairs, left, whole)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        """Fit answers to masks that were planned once each."""
        return self.on(Rows.each_once(features, weight)).fit(y)


@final
@dataclass(frozen=True, eq=False)
class PairedLine(Fitter):
    """A line of d scores followed by the coefficients of the bend, and the pairs of its rows.

    `unasked` is the square root of the share of masks of a row's size that are not asked: only
    these may hold what no row met. `whole` says that all masks were asked.
    """

    line: Line
    d: int
    pairs: MaskPairs
    unasked: Array
    whole: bool

    @property
    def nbytes(self) -> int:
        return self.line.nbytes + self.unasked.nbytes

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        """Fit the answers y, shape (N,), which the model keeps within these bounds."""
        idle = self.idle(y)
        if idle.any() and not idle.all():
            return self._without(idle, y)
        line, several = self.line, slice(0, self.d + 1)
        mean = line.fit(y).mean
        y = np.asarray(y, dtype=np.float64)
        if self.whole:  # an exact score that is only rounding is 0
            mean[1:][np.abs(mean[1:]) <= ROUNDING * np.abs(y).max()] = 0.0
        residual = np.zeros_like(y) if is_flat(y) else y - line.z @ mean
        gap = unseen_jump(y, bounds)
        unit = max(float(np.abs(residual).max()), gap) or 1.0
        gone = residual / unit / np.maximum(line.left, MIN_ONE_LESS_LEVERAGE)
        straight = line.z[:, several] @ mean[several]
        held = float("nan")
        if len(y) > len(mean) and line.left.min() > MIN_ONE_LESS_LEVERAGE:
            own = np.vecdot(line.z[:, several], line.hat[several].T)
            held = weighted_r2(y, straight - unit * own * gone, line.weight)
        return Fit(
            mean[1 : self.d + 1],
            float(mean[0]),
            float(straight[0]),
            weighted_r2(y, straight, line.weight),
            held,
            self._posterior(mean, residual, gone, gap / unit, unit),
        )

    def idle(self, y: Array) -> NDArray[np.bool_]:
        """The parts without effect, shape (d,): all masks were asked, and taking such a part out of
        any of them leaves the answer as it is."""
        if not self.whole:
            return np.zeros(self.d, dtype=bool)
        place = (self.line.z[:, 1 : self.d + 1] @ 2.0 ** np.arange(self.d)).astype(np.intp)
        answers = np.empty(1 << self.d)
        answers[place] = y
        rounding = ROUNDING_OF_SINGLES if are_singles(y) else ROUNDING
        grid, most = answers.reshape((2,) * self.d), rounding * float(np.abs(y).max())
        # The last axis of the grid is part 0.
        return np.array([np.ptp(grid, axis=-1 - j).max() <= most for j in range(self.d)])

    def _without(self, idle: NDArray[np.bool_], y: Array) -> Fit:
        """The fit to the other parts: a part without effect scores 0, and is sure to."""
        z = self.line.z[:, 1 : self.d + 1][:, ~idle]
        rows = Rows.each_once(z, self.line.weight)
        fit = replace(self, line=self.line.surrogate.on(rows), d=z.shape[1]).fit(y)
        assert isinstance(fit.posterior, StudentT)
        scores, factor = np.zeros(self.d), np.zeros((self.d, self.d))
        scores[~idle] = fit.scores
        factor[np.ix_(~idle, ~idle)] = fit.posterior.factor
        return replace(
            fit, scores=scores, posterior=replace(fit.posterior, mean=scores, factor=factor)
        )

    def _posterior(
        self, mean: Array, residual: Array, gone: Array, gap: float, unit: float
    ) -> StudentT | None:
        """How sure the scores are; None with too few rows. `gone`, shape (n,), are the held-out
        residuals, and `gap` is that of `unseen_jump`, both in units of `unit`."""
        line, slopes = self.line, slice(1, self.d + 1)
        scores = mean[slopes]
        if self.whole:
            pull = self.pairs.sums(line.hat[slopes].T * residual[:, None])
            return StudentT(scores, pull.T @ pull, np.inf, 1.0, ALL_MASKS)
        if len(gone) < MIN_ROWS_PER_COEFFICIENT * (self.d + 1):
            return None
        hat = line.hat[slopes].T.copy()
        hat[:, line.unchanged[slopes]] = 0.0
        prior = line.surrogate.prior.precision(len(mean) - 1)
        shrunk = (line.factor @ (prior * np.where(line.unchanged, 0.0, mean)))[slopes] / unit
        if not gone.any():
            shrunk = np.zeros_like(shrunk)
        degrees = max(float(line.left.sum()) * len(self.pairs.starts) / len(gone), 3.0)
        scale = self._spread(hat, gone, gap) + np.outer(shrunk, shrunk)
        return StudentT(scores, scale, degrees, unit**2, "robust, pairs of masks")

    def _spread(self, hat: Array, gone: Array, gap: float) -> Array:
        """The slopes' covariance by what each pair's lack of fit adds to them, shape (d, d).

        A mask that was not drawn may carry as much lack of fit as the few that carry most of it, or
        may have an answer beyond those seen. Which slopes that mask would move is not known, so the
        variances of all are raised.
        """
        pull, alone = self.pairs.sums(hat * gone[:, None]), hat * self.unasked[:, None]
        even, each = alone.T @ alone, np.vecdot(pull, pull)
        total = float(each.sum())
        carriers = total**2 / float(each @ each) if total else float(len(each))
        few = total / (float(np.trace(even)) or 1.0) * min(1.0, MIN_CARRIERS / carriers) / carriers
        return np.asarray(pull.T @ pull + (few + gap**2 / self._effective_rows) * even)

    @property
    def _effective_rows(self) -> float:
        """How many rows the weights amount to: (Σw)²/Σw²."""
        weight = self.line.weight / self.line.weight.max()
        return float(weight.sum() ** 2 / (weight @ weight))


@final
@dataclass(frozen=True, eq=False)
class MaskPairs:
    """Rows sorted by pair, where each pair starts, and the number of different masks."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    masks: int

    @classmethod
    def of(cls, z: Array) -> MaskPairs:
        kept = z == 1
        masks = len(np.unique(_pack(kept)))
        packed = _pack(kept ^ ~kept[:, :1])  # of a pair, the mask that keeps part 0
        group = np.unique(packed, return_inverse=True)[1]
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        return cls(order, starts, masks)

    def sums(self, rows: Array) -> Array:
        """The sum over the rows of each pair, shape (pairs, …)."""
        return np.asarray(np.add.reduceat(rows[self.order], self.starts, axis=0))


def unseen_jump(y: Array, bounds: Range) -> float:
    """The root mean square distance by which an answer not seen may lie beyond those seen.

    One mask in as many as were asked is taken to have such an answer. The distance is `beyond`, the
    way to the farther bound, times √p, where p is the probability that such an answer reaches that
    bound. By Hill's estimate the tail of the answers falls as a power of their distance from the
    median. So p is large if a few answers are far beyond all others, and small if the answers fill
    their range well. If all answers are equal, p is 1.
    """
    gap = beyond(y, bounds)
    if gap == 0 or is_flat(y):
        return gap
    away = np.sort(np.abs(y - np.median(y)))[::-1]
    some = max(int(TAIL_SHARE * len(y)), 1)
    if len(y) <= some or away[some] == 0:
        return gap
    index = float(np.log(away[:some] / away[some]).mean())
    return gap * float((away[0] / (away[0] + gap)) ** (0.5 / index)) if index > 0 else 0.0


def are_singles(y: Array) -> bool:
    """Whether answers are numbers of single precision that may have been rounded: no integers."""
    with np.errstate(over="ignore"):
        return bool((y == y.astype(np.float32)).all() and (y != np.rint(y)).any())


def _pack(kept: NDArray[np.bool_]) -> NDArray[np.void]:
    """Each mask, its bits packed, as one value that can be compared, shape (n,)."""
    bits = np.ascontiguousarray(np.packbits(kept, axis=1))
    return np.asarray(bits.view(np.dtype((np.void, bits.shape[1]))).ravel())


def share_asked(kept: NDArray[np.intp], d: int) -> Array:
    """The share of all masks of each row's size that is asked, shape (n,)."""
    there = np.bincount(kept, minlength=d + 1)
    return np.asarray(np.exp(np.log(np.maximum(there, 1)) - log_ways(d))[kept])


def weighted_variance(z: Array, weight: Array) -> Array:
    """The variance of each feature, shape (d,)."""
    share = weight / weight.sum()
    middle = share @ z
    return np.asarray(share @ (z - middle) ** 2)


def bend_terms(kept: NDArray[np.intp], weight: Array, degree: int) -> Array:
    """Polynomials of the number of kept parts, from the second degree on, shape (n, up to 2).

    Under the weights they are orthogonal to the line and to one another, and have variance 1. The
    law of masks depends on the number of kept parts alone, so a polynomial that is orthogonal to
    this number is orthogonal to every part.
    """
    share = np.bincount(kept, weight) / weight.sum()
    k = np.linspace(-1.0, 1.0, len(share)) if len(share) > 1 else np.zeros(1)
    degree = min(degree, int((share > MIN_SIZE_SHARE).sum()) - 1)
    basis = [np.ones_like(k)]
    for _ in range(degree):
        one = basis[-1] * k
        for _ in range(2):  # twice, since once loses digits
            for other in basis:
                one = one - other * (share @ (other * one))
        basis.append(one / np.sqrt(share @ one**2))
    return np.stack(basis[2:], axis=1)[kept] if degree > 1 else np.empty((len(kept), 0))
