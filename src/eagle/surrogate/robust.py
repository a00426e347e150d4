"""Intervals that do not take the line for the truth: what its misfit does to the scores.

The target is one sentence: the line that the same method would give from infinitely many rows.
Rows differ from that line by misfit, not by noise of one size, so a score's variance is summed
from the rows' own residuals (a sandwich), with what the prior may have taken away on top. Balanced
rows err less than chance would, and how much less is read off the rows themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle.surrogate.bayes import BayesLinear, Line
from eagle.surrogate.fit import Fit, is_flat
from eagle.surrogate.posterior import StudentT
from eagle.types import Array, InputError

FEW: Final = 16
"""Up to so many rows for each coefficient the degrees of freedom are worth their price."""

LEAST: Final = 1e-6
"""A residual is never taken for less than this share of what it would be if held out."""

SHORTEST: Final = 16
"""Blocks of fewer rows have no balance to speak of."""

ADDITIVE: Final = 0.7
BELIEF: Final = 0.05
"""The share of misfit that balance removes, before the answers speak, and how firmly it is believed
beside what blocks of half of the rows say. Set on six tables; `benchmarks.honest` measures it."""


@final
@dataclass(frozen=True)
class Robust:
    """A line whose intervals cover the line of infinitely many rows, also where lines do not fit.

    The scores are the `line`'s own. Their covariance is Σ (h e)(h e)ᵀ/(1 − leverage) over rows
    with residuals e and hat columns h (HC2), plus the square of the shrinkage; its t has Bell and
    McCaffrey's degrees of freedom. `balanced` rows are a `Sobol` plan in its order: the covariance
    is then lowered by what balance is seen to remove.
    """

    line: BayesLinear = field(default_factory=BayesLinear)
    balanced: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.line, BayesLinear):
            raise InputError(f"robust intervals are those of a BayesLinear, not {self.line!r}")

    def on(self, features: Array, weight: Array) -> Sandwich:
        line = self.line.on(features, weight)
        # In a balanced plan all rows weigh the same, times how often they were planned.
        often = weight / weight.min() if self.balanced else np.ones(len(weight))
        balance = Balance.of(features[1:], often[1:]) if self.balanced else None
        return Sandwich(line, often, _degrees(line), balance)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        return self.on(features, weight).fit(y)


@final
@dataclass(frozen=True, eq=False)
class Sandwich:
    """A line on its points, and what they say of its intervals before any answer."""

    line: Line
    often: Array
    df: float
    balance: Balance | None

    @property
    def nbytes(self) -> int:
        return self.line.nbytes + self.often.nbytes

    @property
    def shared(self) -> tuple[Array, ...]:
        return ()

    def fit(self, y: Array) -> Fit:
        plain = self.line.fit(y)
        scale, unit = self._scale(np.asarray(y, dtype=np.float64), plain.mean)
        kind = "sandwich" if self.balance is None else "balanced sandwich"
        posterior = StudentT(plain.scores, scale, self.df, unit**2, kind)
        return Fit(
            plain.scores, plain.intercept, plain.local, plain.r2, plain.r2_held_out, posterior
        )

    def _scale(self, y: Array, mean: Array) -> tuple[Array, float]:
        """The covariance of the slopes in units of the square of a number, and that number."""
        line = self.line
        residual = np.zeros_like(y) if is_flat(y) else y - line.z @ mean
        unit = float(np.abs(residual).max()) or 1.0
        pull = line.hat.T * (residual / unit / np.sqrt(np.maximum(line.left, LEAST)))[:, None]
        pull[:, line.still] = 0.0
        pull = pull[:, 1:]
        even = pull / np.sqrt(self.often)[:, None]
        scale = even.T @ even
        if self.balance is not None:
            scale *= self.balance.left(pull[1:], np.diag(scale))
        prior = line.surrogate.prior.precision(len(mean) - 1)
        shrunk = (line.factor @ (prior * np.where(line.still, 0.0, mean)))[1:] / unit
        if is_flat(y):
            shrunk = np.zeros_like(shrunk)
        return scale + np.outer(shrunk, shrunk), unit


@final
@dataclass(frozen=True, eq=False)
class Balance:
    """How much more even than chance rows are: in blocks of their order, and all together.

    What a line leaves has a part that is additive over features. Even rows make it cancel as they
    make products of two features cancel, which needs no answers: `evenness` is their mean square
    beside that of independent rows. Blocks of a sequence are as even as shorter plans, so residuals
    summed over blocks say how large that part is; then the whole is as good as its own evenness.
    """

    starts: tuple[NDArray[np.intp], ...]
    sizes: tuple[Array, ...]
    evenness: Array
    whole: float

    @classmethod
    def of(cls, features: Array, often: Array) -> Balance:
        rows, starts = len(features), list[NDArray[np.intp]]()
        if not rows:
            return cls((), (), np.empty(0), 1.0)
        while 1.5 * (length := SHORTEST << len(starts)) <= rows:
            starts.append(np.arange(0, rows, length))
        x = features[:, np.ptp(features, axis=0) > 0]
        x = x - np.average(x, axis=0, weights=often)
        x /= np.sqrt(np.average(x**2, axis=0, weights=often))
        sizes = tuple(np.add.reduceat(often, start) for start in starts)
        evenness = np.array([_evenness(x, often, start) for start in starts])
        whole = _evenness(x, often, np.zeros(1, dtype=np.intp))
        return cls(tuple(starts), sizes, evenness, min(whole, 1.0))

    def left(self, pull: Array, variance: Array) -> float:
        """What balance leaves of the variance, shape (d,), that independent rows would have.

        `pull` is what each row adds to each score, shape (rows, d). All scores share the answer.
        """
        known = variance > 0
        if not known.any() or self.whole >= 1:
            return 1.0
        pull = pull[:, known] / np.sqrt(variance[known])
        top, bottom = BELIEF * ADDITIVE, BELIEF
        for start, size, even in zip(self.starts, self.sizes, self.evenness, strict=True):
            share = size / size.sum()
            sums = np.add.reduceat(pull, start, axis=0) - share[:, None] * pull.sum(axis=0)
            seen = float((sums**2).sum(axis=0).mean()) / float(share @ (1 - share))
            # Long blocks are most like the whole, but few.
            trust = (1 / float(share.max()) - 1) * float(share.max()) ** 3
            top += trust * (1 - seen) * (1 - even)
            bottom += trust * (1 - even) ** 2
        additive = min(max(top / bottom, 0.0), 1.0)
        return 1 - additive * (1 - self.whole)


def _evenness(x: Array, often: Array, starts: NDArray[np.intp]) -> float:
    """The mean square of sums of products of two features over blocks; 1 if independent."""
    d = x.shape[1]
    if d < 2:  # no pair, and nothing is claimed
        return 1.0
    total = 0.0
    for part, times in zip(np.split(x, starts[1:]), np.split(often, starts[1:]), strict=True):
        products = (part * times[:, None]).T @ part
        total += float((products**2).sum() - (np.diagonal(products) ** 2).sum())
    return float(total / (d * (d - 1) * float(often.sum())))


def _degrees(line: Line) -> float:
    """Degrees of freedom of the sandwich, the median over slopes (Bell and McCaffrey).

    As if residuals were noise of one size: then each variance is a quadratic form in them, whose
    first two moments are those of a χ².
    """
    n, d = line.z.shape
    plain = float(line.left.sum())
    moved = np.ptp(line.z, axis=0) > 0
    if n > FEW * d or not moved.any():
        return max(plain, 1.0)
    rest = np.eye(n) - line.z @ line.hat
    form = (line.hat.T**2 / np.maximum(line.left, LEAST)[:, None])[:, moved]
    mean = np.diagonal(rest) @ form
    spread = np.einsum("ij,ij->j", form, (rest * rest.T) @ form)
    return max(float(np.median(mean**2 / spread)), 1.0)
