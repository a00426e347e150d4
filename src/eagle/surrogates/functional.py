"""Scores as functionals of a Gaussian process, for few and costly rows.

The target is the line of `Robust` and `Paired`: the one that fits best under the law. The process
takes the model as this line and parts that are orthogonal to it under the law,

    f = μ + xᵀβ + g + ε,    E[g] = 0,  E[x g] = 0    (x: standardised features; E: under the law),

where g are curves and products of two features, and ε is a rest that counts as noise. So the least
squares line of f is μ + xᵀβ whatever g is, and a score is β_j/sd_j. Of σ² times

    β ~ N(0, I/m),    Cov(answers) = K + νR,    Cov(β, answers) = xᵀ/m

the answers y to n rows give the posterior of a Gaussian regression,

    E[β | y] = xᵀ(K + νR)⁻¹y/m,    Cov(β | y) = σ²(I/m − xᵀ(K + νR)⁻¹x/m²),
    σ² = yᵀ(K + νR)⁻¹y/n,

averaged over the ratios of variances in K and ν by their likelihood, σ² at its maximum. Few rows
are enough, since g is estimated, too, instead of being averaged out.

References: O'Hagan, "Bayes–Hermite quadrature", 1991; Rasmussen and Williams, "Gaussian processes
for machine learning", 2006.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import UNBOUNDED, Array, Range
from eagle._values.checks import check_flags
from eagle._values.link import Logit
from eagle._values.posterior import StudentT
from eagle._values.text import finite, short_repr
from eagle.contracts import Need, Rows
from eagle.errors import InputError
from eagle.kernels import MIN_DISTANCE
from eagle.surrogates.field import Field, Standardised
from eagle.surrogates.fit import Fit, Fitter, check_answers, columns_that_move, is_flat, weighted_r2
from eagle.surrogates.line_posterior import LinePosterior, Spectrum
from eagle.surrogates.pairs import Paired

RATIOS: Final = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""The variances of products, and of the rest, in units of the line's, that are tried."""

CURVED_SHARE: Final = 0.6
POSITIONS: Final = (0.1, 1.0, 10.0)
"""The same for curves: of the number of kept parts, and of positions in a table."""

MAX_ROWS: Final = 1024
"""The largest number of rows: more would take minutes."""

TERMS: Final = 3
WIDTH_FACTOR: Final = 1.25
"""Terms of the series for the prior's shrinkage, and the factor on the width of intervals. Without
both, intervals of the strongest features were too narrow."""

ENOUGH_MASKS: Final = 2
MIN_ROWS_PER_COEFFICIENT: Final = 4
"""The fewest rows for each coefficient, of masks and of tables: with fewer, intervals of the
strongest features were too narrow; none are given."""

ENOUGH_TOGGLES: Final = 20
"""A score is held against what its part did if the answers show that at least this often."""

MAX_CODED_PARTS: Final = 62
"""With more parts a mask is no 64-bit integer; hardly any two of them then differ in one part."""

PROBABILITY: Final = (0.0, 1.0)
CLIPS: Final = (1e-6, 0.005)
MAX_ERROR_RATIO: Final = 0.8
"""Log-odds are used if their held-out root mean square error is below the share `MAX_ERROR_RATIO`
of that of probabilities. They are clipped at the one of `CLIPS` that predicts better."""

MASKS_NOT_ASKED: Final = 4096
"""The number of masks that are not asked, at which log-odds are turned into probabilities."""

KIND: Final = "Gaussian process"


@final
@dataclass(frozen=True)
class Functional:
    """The posterior of the scores under a Gaussian process of the answers.

    The variances of curves, of products and of the rest, in units of the line's, are averaged by
    their likelihood, unless they are given as `ratios`. With given ratios scores are linear in the
    answers, so that the scores of A against B are those of A less those of B. If all masks are
    asked, it is the line of `Paired`. Of masks, where a score lies beyond all that leaving the part
    out did to an answer, which is the line's lack of fit, its interval reaches as far. With
    fewer than two rows for each coefficient, or four on tables, there are no intervals.

    With `logit`, probabilities of masks are predicted by a process of their log-odds, if that
    predicts rows not seen better; scores are still those of probabilities. Then there are no
    intervals: none have been shown to hold.
    """

    ratios: tuple[float, float, float] | None = None
    logit: bool = False
    needs: ClassVar = frozenset({Need.MATCHES, Need.LAW})

    def __post_init__(self) -> None:
        check_flags(logit=self.logit)
        given = () if self.ratios is None else self.ratios
        if not (isinstance(given, tuple) and len(given) in (0, 3)) or not all(
            finite(one) and one > 0 for one in given
        ):
            raise InputError(
                "ratios are three positive numbers, the variances of curves, of products and of "
                f"the rest in units of the line's, not {short_repr(self.ratios)}"
            )

    def memory(self, n: int, d: int) -> int:
        """Numbers held besides the rows: a matrix for each spectrum, and covariances."""
        return (8 + len(RATIOS) * len(POSITIONS)) * n * n + 6 * MASKS_NOT_ASKED * (
            n + d
        ) * self.logit

    def on(self, rows: Rows) -> Fitter:
        """The part of the fit that needs only the rows."""
        law = rows.law
        if law is None or rows.points is None:
            raise InputError(f"Functional() needs {Need.LAW.value}")
        if rows.points.shape != rows.features.shape:  # as rows of a cluster of the background
            raise InputError("Functional() needs rows that a space draws: each feature by its step")
        if len(rows) > MAX_ROWS:
            raise InputError(
                f"a Gaussian process of {len(rows):,} rows would take minutes: use at most "
                f"{MAX_ROWS:,}, or a method that converges to the same, such as "
                "eagle.methods.DEFAULT"
            )
        if law.sizes is not None and _whole(rows.features):
            return Paired().on(_by_size(rows, law.sizes))
        field = Field.of(law)
        seen = field.standardise(rows.features, rows.points)
        lively = columns_that_move(rows.features)[field.moves]
        # A feature that is constant in the rows is not identifiable, so the line leaves it out.
        seen = replace(seen, x=seen.x * lively)
        return Functionals(rows, self, field, seen, lively, self._spectra(field, seen))

    def _spectra(self, field: Field, seen: Standardised) -> tuple[Spectrum, ...]:
        line, curve = field.line(seen, seen), field.curve(seen, seen)
        products, rest = field.products(seen, seen), field.rest(seen)
        curves = (CURVED_SHARE,) if field.by_size else POSITIONS
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
        return CURVED_SHARE if self.ratios is None else self.ratios[0]


@final
@dataclass(frozen=True, eq=False)
class Functionals(Fitter):
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

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        """Fit the answers y, shape (N,); within (0, 1) they may be taken as log-odds."""
        y = check_answers(y, self.rows.weight)
        d, logit = len(self.field.moves), self.surrogate.logit
        df = max(len(y) - 1.0, 1.0)
        if is_flat(y):
            sure = StudentT(np.zeros(d), np.zeros((d, d)), df, 0.0, KIND)
            none = sure if self._has_intervals and not logit else None
            return Fit(np.zeros(d), float(y[0]), float(y[0]), float("nan"), posterior=none)
        answers = Answers.of(y)
        plain = self._posterior(answers)
        if logit:
            slopes, level = self._by_log_odds(answers, plain, bounds)
            return self._fit(y, self._scores(slopes), level, plain, answers, None)
        scores = self._scores(answers.unit * plain.slopes)
        factor = np.zeros((d, d))
        factor[np.ix_(self.field.moves, self.field.moves)] = self._scale(plain)
        if self.field.by_size:
            apart = beyond_toggles(self.rows.features, y, scores) / answers.unit
            np.fill_diagonal(factor, np.maximum(np.diagonal(factor), apart**2))
        posterior = (
            StudentT(scores, factor, df, answers.unit**2, KIND) if self._has_intervals else None
        )
        return self._fit(y, scores, answers.level(plain), plain, answers, posterior)

    @property
    def _has_intervals(self) -> bool:
        """Whether there are enough rows for intervals."""
        enough = ENOUGH_MASKS if self.field.by_size else MIN_ROWS_PER_COEFFICIENT
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

        The prior shrinks slopes, the large ones most: with β̂ = Hy and A = I − Hx the mean of β̂ is
        (I − A)β, so the bias is β − β̂ = Aβ̂ + A²β̂ + A³β̂ + … Its first `TERMS` terms are taken (more
        add more noise), and their square is added. Each variance, without the bias, is at least
        that of a sandwich, Σ (H_jr e_r)² with the held-out residuals e.
        """
        shrunk = np.eye(len(plain.slopes)) - plain.hat @ self.seen.x
        bias = one = shrunk @ plain.slopes
        for _ in range(TERMS - 1):
            one = shrunk @ one
            bias = bias + one
        whole = WIDTH_FACTOR**2 * plain.scale
        missed = ((plain.hat * plain.missed) ** 2).sum(axis=1)
        np.fill_diagonal(whole, np.maximum(np.diagonal(whole), missed))
        whole = (whole + WIDTH_FACTOR**2 * np.outer(bias, bias)) * np.outer(
            self.lively, self.lively
        )
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

    def _by_log_odds(
        self, answers: Answers, plain: LinePosterior, bounds: Range
    ) -> tuple[Array, float]:
        """The slopes and the mean answer, by log-odds if they predict better."""
        slopes, level = answers.unit * plain.slopes, answers.level(plain)
        odds = self._odds(answers, plain) if bounds == PROBABILITY and self.field.by_size else None
        if odds is None:
            return slopes, level
        link, other, bent = odds
        assert self.rows.law is not None
        drawn = self.field.standardise(_draw(self.rows.law.sizes))
        curves = self.surrogate.curves
        said = link.back(other.back(bent.at(self.field, curves, drawn, self.seen)))
        # Of the plain process the line is known exactly, so only the difference is regressed.
        apart = said - answers.back(plain.at(self.field, curves, drawn, self.seen))
        z = np.column_stack([np.ones(len(drawn)), drawn.x * self.lively])
        square = z.T @ z
        square.flat[:: len(square) + 1] += MIN_DISTANCE + 1e-9 * len(z)
        more = np.linalg.solve(square, z.T @ apart)
        return slopes + more[1:], level + float(more[0])

    def _odds(
        self, answers: Answers, plain: LinePosterior
    ) -> tuple[Logit, Answers, LinePosterior] | None:
        """The link, the log-odds and what is believed of them; None if they predict no better."""
        best, least = None, MAX_ERROR_RATIO**2 * float(np.mean((answers.unit * plain.missed) ** 2))
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


def beyond_toggles(z: Array, y: Array, scores: Array) -> Array:
    """How far each score lies beyond all that its part did to the answers y to the masks z, shape
    (d,): beyond the differences of answers to two masks that differ in this part alone. It is 0
    where there are fewer than `ENOUGH_TOGGLES` of these."""
    d = z.shape[1]
    out = np.zeros(d)
    if d > MAX_CODED_PARTS:
        return out
    codes = z.astype(np.int64) @ (1 << np.arange(d, dtype=np.int64))
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    for j in range(d):
        kept = np.flatnonzero(z[:, j] == 1)
        without = codes[kept] - (1 << j)
        place = np.minimum(np.searchsorted(ordered, without), len(ordered) - 1)
        both = ordered[place] == without
        if both.sum() >= ENOUGH_TOGGLES:
            did = y[kept[both]] - y[order[place[both]]]
            out[j] = max(float(scores[j] - did.max()), float(did.min() - scores[j]), 0.0)
    return out


def _whole(z: Array) -> bool:
    """Whether the rows z, shape (n, d), have all 2^d masks."""
    d = z.shape[1]
    return d < 32 and len(z) >= 1 << d and bool(len(np.unique(z, axis=0)) == 1 << d)


def _by_size(rows: Rows, sizes: Array) -> Rows:
    """Rows weighed so that the masks of each size have the law's probability in all."""
    kept = np.rint(rows.features.sum(axis=1)).astype(np.intp)
    there = np.bincount(kept, minlength=len(sizes))
    return replace(rows, weight=np.maximum(sizes[kept] * (len(kept) / there[kept]), MIN_DISTANCE))


def _draw(sizes: Array | None) -> Array:
    """Masks of the law, always the same ones, shape (DRAWN, d): sizes evenly, parts at random."""
    assert sizes is not None
    d, evenly = len(sizes) - 1, (np.arange(MASKS_NOT_ASKED) + 0.5) / MASKS_NOT_ASKED
    kept = np.searchsorted(np.cumsum(sizes), evenly * sizes.sum())
    keys = np.asarray(np.random.PCG64(0).random_raw(MASKS_NOT_ASKED * d)).reshape(
        MASKS_NOT_ASKED, d
    )
    rank = np.argsort(np.argsort(keys, axis=1), axis=1)
    return np.asarray(rank < kept[:, None], dtype=np.float64)
