"""Scores as functionals of a Gaussian process, for few and costly rows.

The target is the line of `Robust` and `Paired`: the one that fits best under the law. This line is
a linear functional of the answers at all points, so a Gaussian process of the answers gives its
posterior. Few rows are enough, since the part of the model that is not linear is estimated, too,
instead of being averaged out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle.kernel import TINY
from eagle.link import Logit
from eagle.surrogate.field import Field, Standardised
from eagle.surrogate.fit import Fit, Fitter, checked, is_flat, moved, weighted_r2
from eagle.surrogate.line_posterior import LinePosterior, Spectrum
from eagle.surrogate.pairs import Paired
from eagle.surrogate.posterior import StudentT
from eagle.types import UNBOUNDED, Array, InputError, Need, Range, Rows, finite, told

RATIOS: Final = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""The variances of products, and of the rest, in units of the line's, that are tried."""

CURVED: Final = 0.6
POSITIONS: Final = (0.1, 1.0, 10.0)
"""The same for curves: of the number of kept parts, and of positions in a table."""

MOST: Final = 1024
"""The largest number of rows: more would take minutes."""

TERMS: Final = 3
WIDER: Final = 1.25
"""Terms of the series for the prior's shrinkage, and the factor on the width of intervals. Without
both, intervals of the strongest features were too narrow."""

ENOUGH_MASKS: Final = 2
ENOUGH: Final = 4
"""The fewest rows for each coefficient, of masks and of tables: with fewer, intervals of the
strongest features were too narrow; none are given."""

PROBABILITY: Final = (0.0, 1.0)
CLIPS: Final = (1e-6, 0.005)
BETTER: Final = 0.8
"""Log-odds are used if their held-out root mean square error is below the share `BETTER` of that of
probabilities. They are clipped at the one of `CLIPS` that predicts better."""

DRAWN: Final = 4096
"""The number of masks that are not asked, at which log-odds are turned into probabilities."""

KIND: Final = "Gaussian process"


@final
@dataclass(frozen=True)
class Functional:
    """The posterior of the scores under a Gaussian process of the answers.

    The variances of curves, of products and of the rest, in units of the line's, are averaged by
    their likelihood, unless they are given as `ratios`. With given ratios scores are linear in the
    answers, so that the scores of A against B are those of A less those of B. If all masks are
    asked, scores are exact. With fewer than two rows for each coefficient, or four on tables, there
    are no intervals.

    With `logit`, probabilities of masks are predicted by a process of their log-odds, if that
    predicts rows not seen better; scores are still those of probabilities. Then there are no
    intervals: none have been shown to hold.
    """

    ratios: tuple[float, float, float] | None = None
    logit: bool = False
    needs: ClassVar = frozenset({Need.MATCHES, Need.LAW})

    def __post_init__(self) -> None:
        given = () if self.ratios is None else self.ratios
        if not (isinstance(given, tuple) and len(given) in (0, 3)) or not all(
            finite(one) and one > 0 for one in given
        ):
            raise InputError(
                "ratios are three positive numbers, the variances of curves, of products and of "
                f"the rest in units of the line's, not {told(self.ratios)}"
            )

    def room(self, n: int, d: int) -> int:
        """Numbers held besides the rows: a matrix for each spectrum, and covariances."""
        return (8 + len(RATIOS) * len(POSITIONS)) * n * n + 6 * DRAWN * (n + d) * self.logit

    def on(self, rows: Rows) -> Fitter:
        """The part of the fit that needs only the rows."""
        law = rows.law
        if law is None or rows.points is None:
            raise InputError(f"Functional() needs {Need.LAW.value}")
        if rows.points.shape != rows.features.shape:  # as rows of a cluster of the background
            raise InputError("Functional() needs rows that a space draws: each feature by its step")
        if len(rows) > MOST:
            raise InputError(
                f"a Gaussian process of {len(rows):,} rows would take minutes: use at most "
                f"{MOST:,}, or a method that converges to the same, such as EAGLE_MASKS for images "
                "and texts or EAGLE_BALANCED for tables"
            )
        if law.sizes is not None and _whole(rows.features):
            return Paired().on(_by_size(rows, law.sizes))
        field = Field.of(law)
        seen = field.seen(rows.features, rows.points)
        lively = moved(rows.features)[field.moves]
        # A feature that is constant in the rows is not identifiable, so the line leaves it out.
        seen = replace(seen, x=seen.x * lively)
        return Functionals(rows, self, field, seen, lively, self._spectra(field, seen))

    def _spectra(self, field: Field, seen: Standardised) -> tuple[Spectrum, ...]:
        line, curve = field.line(seen, seen), field.curve(seen, seen)
        products, rest = field.products(seen, seen), field.rest(seen)
        curves = (CURVED,) if field.by_size else POSITIONS
        tried = [(c, p) for c in curves for p in RATIOS]
        if self.ratios is not None:
            tried = [self.ratios[:2]]
        return tuple(Spectrum.of(line + c * curve + p * products, p, rest, seen) for c, p in tried)

    @property
    def rests(self) -> tuple[float, ...]:
        """The variances of the rest that are tried."""
        return RATIOS if self.ratios is None else self.ratios[2:]

    @property
    def curves(self) -> float:
        """The variance of curves on masks."""
        return CURVED if self.ratios is None else self.ratios[0]


@final
@dataclass(frozen=True, eq=False)
class Functionals:
    """A Gaussian process on its rows. `lively`, shape (m,), are the features that move in them."""

    rows: Rows
    surrogate: Functional
    field: Field
    seen: Standardised
    lively: NDArray[np.bool_]
    spectra: tuple[Spectrum, ...]

    @property
    def nbytes(self) -> int:
        return self.seen.x.nbytes + sum(one.nbytes for one in self.spectra)

    @property
    def shared(self) -> tuple[Array, ...]:
        return ()

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        """Fit the answers y, shape (N,); within (0, 1) they may be taken as log-odds."""
        y = checked(y, self.rows.weight)
        d, logit = len(self.field.moves), self.surrogate.logit
        df = max(len(y) - 1.0, 1.0)
        if is_flat(y):
            sure = StudentT(np.zeros(d), np.zeros((d, d)), df, 0.0, KIND)
            none = sure if self._known and not logit else None
            return Fit(np.zeros(d), float(y[0]), float(y[0]), float("nan"), posterior=none)
        answers = Answers.of(y)
        plain = self._posterior(answers)
        if logit:
            slopes, level = self._bent(answers, plain, bounds)
            return self._fit(y, self._scores(slopes), level, plain, answers, None)
        scores = self._scores(answers.unit * plain.slopes)
        factor = np.zeros((d, d))
        factor[np.ix_(self.field.moves, self.field.moves)] = self._scale(plain)
        posterior = StudentT(scores, factor, df, answers.unit**2, KIND) if self._known else None
        return self._fit(y, scores, answers.level(plain), plain, answers, posterior)

    @property
    def _known(self) -> bool:
        """Whether there are enough rows for intervals."""
        enough = ENOUGH_MASKS if self.field.by_size else ENOUGH
        return len(self.rows) >= enough * (len(self.field.moves) + 1)

    def _posterior(self, answers: Answers) -> LinePosterior:
        return LinePosterior.of(self.spectra, self.surrogate.rests, self.seen.x, answers.standard)

    def _scores(self, slopes: Array) -> Array:
        """The scores that belong to slopes of standardised features, shape (d,)."""
        scores = np.zeros(len(self.field.moves))
        scores[self.field.moves] = slopes / self.field.sd
        return scores

    def _scale(self, plain: LinePosterior) -> Array:
        """The scale of the scores, shape (m, m), in squares of the answers' unit.

        The prior shrinks slopes, the large ones most. This bias is estimated by the first `TERMS`
        terms of its series, and its square is added. Each variance, without the bias, is at least
        that of a sandwich estimator from the held-out residuals.
        """
        shrunk = np.eye(len(plain.slopes)) - plain.hat @ self.seen.x
        bias = one = shrunk @ plain.slopes
        for _ in range(TERMS - 1):
            one = shrunk @ one
            bias = bias + one
        whole = WIDER**2 * plain.scale
        missed = ((plain.hat * plain.missed) ** 2).sum(axis=1)
        np.fill_diagonal(whole, np.maximum(np.diagonal(whole), missed))
        whole = (whole + WIDER**2 * np.outer(bias, bias)) * np.outer(self.lively, self.lively)
        return np.asarray((whole + whole.T) / 2 / np.outer(self.field.sd, self.field.sd))

    def _fit(
        self,
        y: Array,
        scores: Array,
        level: float,
        plain: LinePosterior,
        answers: Answers,
        posterior: StudentT | None,
    ) -> Fit:
        """A line of these scores whose mean under the law is `level`."""
        intercept = level - float(scores[self.field.moves] @ self.field.mean)
        line = intercept + self.rows.features @ scores
        weight = self.rows.weight
        held = weighted_r2(y, answers.back(plain.held), weight)
        r2 = weighted_r2(y, line, weight)
        return Fit(scores, intercept, float(line[0]), r2, held, posterior)

    # -- log-odds ------------------------------------------------------------------------------

    def _bent(self, answers: Answers, plain: LinePosterior, bounds: Range) -> tuple[Array, float]:
        """The slopes and the mean answer, by log-odds if they predict better."""
        slopes, level = answers.unit * plain.slopes, answers.level(plain)
        odds = self._odds(answers, plain) if bounds == PROBABILITY and self.field.by_size else None
        if odds is None:
            return slopes, level
        link, other, bent = odds
        assert self.rows.law is not None
        drawn = self.field.seen(_drawn(self.rows.law.sizes))
        curves = self.surrogate.curves
        said = link.back(other.back(bent.at(self.field, curves, drawn, self.seen)))
        # Of the plain process the line is known exactly, so only the difference is regressed.
        apart = said - answers.back(plain.at(self.field, curves, drawn, self.seen))
        z = np.column_stack([np.ones(len(drawn)), drawn.x * self.lively])
        square = z.T @ z
        square.flat[:: len(square) + 1] += TINY + 1e-9 * len(z)
        more = np.linalg.solve(square, z.T @ apart)
        return slopes + more[1:], level + float(more[0])

    def _odds(
        self, answers: Answers, plain: LinePosterior
    ) -> tuple[Logit, Answers, LinePosterior] | None:
        """The link, the log-odds and what is believed of them; None if they predict no better."""
        best, least = None, BETTER**2 * float(np.mean((answers.unit * plain.missed) ** 2))
        for clip in CLIPS:
            link = Logit(clip)
            odds = link.of(answers.y)
            if is_flat(odds):
                continue
            other = Answers.of(odds)
            bent = self._posterior(other)
            said = link.back(other.back(other.standard - bent.missed))
            error = float(np.mean((answers.y - said) ** 2))
            if error < least:
                best, least = (link, other, bent), error
        return best


@final
@dataclass(frozen=True, eq=False)
class Answers:
    """Answers with their mean and their largest distance from it."""

    y: Array
    middle: float
    unit: float

    @classmethod
    def of(cls, y: Array) -> Answers:
        middle = float(y[0] + (y - y[0]).mean())
        return cls(y, middle, float(np.abs(y - middle).max()))

    @property
    def standard(self) -> Array:
        return (self.y - self.middle) / self.unit

    def back(self, standard: Array) -> Array:
        """On the scale of the answers."""
        return np.asarray(self.middle + self.unit * standard)

    def level(self, posterior: LinePosterior) -> float:
        """The mean answer under the law."""
        return self.middle + self.unit * posterior.level


def _whole(z: Array) -> bool:
    """Whether the rows z, shape (n, d), have all 2^d masks."""
    d = z.shape[1]
    return d < 32 and len(z) >= 1 << d and bool(len(np.unique(z, axis=0)) == 1 << d)


def _by_size(rows: Rows, sizes: Array) -> Rows:
    """Rows weighed so that the masks of each size have the law's probability in all."""
    kept = np.rint(rows.features.sum(axis=1)).astype(np.intp)
    there = np.bincount(kept, minlength=len(sizes))
    return replace(rows, weight=np.maximum(sizes[kept] * (len(kept) / there[kept]), TINY))


def _drawn(sizes: Array | None) -> Array:
    """Masks of the law, always the same ones, shape (DRAWN, d): sizes evenly, parts at random."""
    assert sizes is not None
    d, evenly = len(sizes) - 1, (np.arange(DRAWN) + 0.5) / DRAWN
    kept = np.searchsorted(np.cumsum(sizes), evenly * sizes.sum())
    keys = np.asarray(np.random.PCG64(0).random_raw(DRAWN * d)).reshape(DRAWN, d)
    rank = np.argsort(np.argsort(keys, axis=1), axis=1)
    return np.asarray(rank < kept[:, None], dtype=np.float64)
