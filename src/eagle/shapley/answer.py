"""What is fitted once for each output that is explained, and never again: proxies and scales.

All arrays here are numbers: rows are columns of a `Layout`, answers those about one output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.packages import one_thread
from eagle.explanations import spread_over
from eagle.shapley import proxies
from eagle.shapley.coalitions import Pairs
from eagle.shapley.correction import (
    Corrected,
    Left,
    Scales,
    adding_up,
    correct,
    scales_of,
    signs,
    slope_of,
    without_answers,
)
from eagle.shapley.layout import Layout, Values
from eagle.shapley.proxies import FOLDS, Proxy

Ints: TypeAlias = NDArray[np.intp]

CHUNK: Final = 1 << 22
"""About how many numbers of mixed rows are made at once."""

COLUMN: Final = 0.1
"""The share of the proxies' variance in a column that rows' own answers do not show."""

MAX_ROWS: Final = 100
"""Maximum number of rows on which the common share of errors is computed."""

ROUNDING: Final = 1e-11
"""What proxies leave counts as nothing below this share of the answers' size."""


@final
@dataclass(frozen=True, eq=False)
class Asked:
    """The rows of a survey and its answers about one output.

    `rows`, shape (n, columns), and `background`, shape (b, columns), are as the `layout` says.
    `unchanged`, shape (n, d), are the players who change nothing. `ahead` are the answers to each
    pair's first row and `mirrored` to the second, both shape (n, pairs).
    """

    rows: Array
    background: Array
    unchanged: NDArray[np.bool_]
    layout: Layout
    pairs: Pairs
    ahead: Array
    mirrored: Array
    own: Array
    behind: Array
    seed: int

    def mix(self, row: Ints, pair: Ints, mirror: NDArray[np.bool_]) -> Array:
        """Rows of the survey mixed by one of their pairs, or by its mirror image."""
        kept = (self.pairs.own[row, pair] ^ mirror[:, None])[:, self.layout.player]
        behind = self.background[self.pairs.other[row, pair]]
        return np.where(kept, self.rows[row], behind)

    @property
    def spread(self) -> float:
        """The largest distance of two answers."""
        every = (self.ahead, self.mirrored, self.own, self.behind)
        return float(max(x.max() for x in every) - min(x.min() for x in every))

    @cached_property
    def fold(self) -> Ints:
        return proxies.folds_of(len(self.rows), self.seed)

    def values_over(self, three: Sequence[Proxy]) -> list[Values]:
        """What makes the Shapley values of each of some proxies."""
        return [proxy.values_over(self.background, self.layout) for proxy in three]

    def fit(self, kind: proxies.Fit, fold: int) -> Proxy:
        """A proxy of some kind, fitted to the answers of the other folds' rows."""
        others, count = np.flatnonzero(self.fold != fold), self.pairs.count
        some = proxies.some_of(np.arange(2 * count * len(others)), self.seed)
        row, which = others[some // (2 * count)], some % (2 * count)
        pair, mirror = which % count, which >= count
        rows = [self.mix(row, pair, mirror), self.rows[others], self.background]
        answers = [
            np.where(mirror, self.mirrored[row, pair], self.ahead[row, pair]),
            self.own[others],
            self.behind,
        ]
        return kind(np.concatenate(rows), np.concatenate(answers), self.layout, self.seed)

    def predict(self, proxy: Proxy, places: Ints, mirror: bool) -> Array:
        """What a proxy answers to the pairs of some rows, shape (places, pairs)."""
        count = self.pairs.count
        out = np.empty((len(places), count))
        step = max(CHUNK // (count * self.rows.shape[1]), 1)
        for first in range(0, len(places), step):
            row = np.repeat(places[first : first + step], count)
            pair = np.tile(np.arange(count), len(row) // count)
            mixed = self.mix(row, pair, np.full(len(row), mirror))
            out[first : first + step] = proxy.predict(mixed).reshape(-1, count)
        return out


@final
@dataclass(frozen=True, eq=False)
class Fitted:
    """The proxies of an output, what they leave of the survey's rows, and the scales of that.

    `tilt`, shape (3, d), are the mean values of each proxy over the rows, with the signs that the
    values have.
    """

    asked: Asked
    proxies: tuple[Proxy, ...]
    slope: Array
    left: Left
    scales: Scales
    tilt: Array

    @classmethod
    def of(cls, asked: Asked, step: Callable[[], None] | None = None) -> Fitted:
        with one_thread():
            three = choose_proxies(asked, step or _nothing)
            d = asked.unchanged.shape[1]
            values = np.stack([of(asked.rows) for of in asked.values_over(three)])
            rough = what_folds_leave(asked, three, values)
            tilt = (values * np.sign(rough.values)).mean(axis=1)
            z = signs(asked.pairs)
            tiny = ROUNDING * max(asked.spread, 1e-3 * float(np.abs(asked.own).max()))
            if max(float(np.abs(rough.pull).max()), float(np.abs(rough.total).max())) <= tiny:
                return cls(asked, three, np.zeros(d), rough, Scales(0.0, 0.0, 1.0), tilt)
            slope = slope_of(rough, z)
            left = rough.with_slope(slope, z)
            return cls(asked, three, slope, left, scales_of(left, z, asked.seed), tilt)

    @cached_property
    def unseen(self) -> Array:
        """The variance of a player's values that a row's own answers do not show, shape (d,)."""
        return COLUMN * self.left.apart.mean(axis=0) if self.scales.unit > 0 else 0 * self.slope

    @cached_property
    def common(self) -> float:
        """The share of errors, as a standard deviation, that is the same in all rows of a column.

        It is taken from how far apart the proxies are in the mean sizes of all columns' values.
        """
        known = np.array(
            [np.diag(self.row(i).factor) for i in spread_over(len(self.asked.rows), MAX_ROWS)]
        )
        own = float(known.mean(axis=0).sum())
        return float(np.sqrt(min(self.tilt.var(axis=0, ddof=1).sum() / own, 1.0))) if own else 0.0

    @property
    def base(self) -> float:
        """The mean answer of the background."""
        return float(self.asked.behind.mean())

    def row(self, i: int) -> Corrected:
        """The Shapley values of row i of the survey."""
        z = np.where(self.asked.pairs.own[i], 1.0, -1.0)
        out = correct(self.left, i, z, self.scales)
        return self._whole(out, self.left.unchanged[i], float(self.asked.own[i]))

    def _whole(self, out: Corrected, unchanged: NDArray[np.bool_], answer: float) -> Corrected:
        """With what the row's own answers do not show, and adding up to the answer, if known."""
        factor = out.factor + np.diag(np.where(unchanged, 0.0, self.unseen))
        values = out.values
        if not np.isnan(answer):
            values = adding_up(values, factor, answer - self.base)
        return Corrected(values, factor, out.df)

    def new_row(self, row: Array, unchanged: NDArray[np.bool_], answer: float) -> Corrected:
        """The Shapley values of a row that the survey lacks, shape (1, columns); its answer is NaN
        where it is not known."""
        left = self._new_rows_left(row, unchanged, np.array([answer]))
        if np.isnan(answer):
            out = without_answers(left, 0, self.scales)
        else:
            none = np.empty((0, left.values.shape[1]))
            out = correct(left, 0, none, self.scales, pairs=False)
        return self._whole(out, unchanged[0], answer)

    @cached_property
    def _values_over(self) -> list[Values]:
        return self.asked.values_over(self.proxies)

    def _new_rows_left(self, rows: Array, unchanged: NDArray[np.bool_], answers: Array) -> Left:
        every = np.stack([values(rows) for values in self._values_over])
        here, behind = (
            sum(proxy.predict(some) for proxy in self.proxies) / len(self.proxies)
            for some in (rows, self.asked.background)
        )
        total = (answers - here) - (self.base - float(np.mean(behind)))
        nothing = np.empty((len(rows), 0))
        apart = every.var(axis=0, ddof=1)
        left = Left(every.mean(axis=0), apart, nothing, nothing, total, unchanged)
        return left.grow(self.slope)


def what_is_left_of(fit: Fitted) -> Left:
    """What the proxies of a fit leave, from the answers again."""
    asked, three = fit.asked, fit.proxies
    values = np.stack([of(asked.rows) for of in asked.values_over(three)])
    return what_folds_leave(asked, three, values).with_slope(fit.slope, signs(asked.pairs))


def what_folds_leave(asked: Asked, three: Sequence[Proxy], values: Array) -> Left:
    """What is left of each row by the proxy that has not seen it. `values`, shape (3, n, d), are
    the Shapley values of all three."""
    n, count = len(asked.rows), asked.pairs.count
    pull, gap, total = np.empty((n, count)), np.empty((n, count)), np.empty(n)
    for k, proxy in enumerate(three):
        here = np.flatnonzero(asked.fold == k)
        pull[here], gap[here], total[here] = what_is_left(asked, proxy, here)
    own = values[asked.fold, np.arange(n)]
    return Left(own, values.var(axis=0, ddof=1), pull, gap, total, asked.unchanged)


def what_is_left(asked: Asked, proxy: Proxy, places: Ints) -> tuple[Array, Array, Array]:
    """What a proxy leaves of the answers about some rows: pull, gap and total of `Left`."""
    ahead = asked.ahead[places] - asked.predict(proxy, places, False)
    mirrored = asked.mirrored[places] - asked.predict(proxy, places, True)
    own = asked.own[places] - proxy.predict(asked.rows[places])
    behind = asked.behind - proxy.predict(asked.background)
    gap = own[:, None] - behind[asked.pairs.other[places]]
    return (ahead - mirrored) / 2, gap, own - behind.mean()


MAX_FITS: Final = 2 + FOLDS
"""Maximum number of proxies that are fitted for an output."""


def _nothing() -> None:
    """What is done after each proxy where nobody looks."""


def choose_proxies(asked: Asked, step: Callable[[], None]) -> tuple[Proxy, ...]:
    """Three proxies of the kind that leaves least of the first fold's rows."""

    def fit(kind: proxies.Fit, fold: int) -> Proxy:
        out = asked.fit(kind, fold)
        step()
        return out

    here = np.flatnonzero(asked.fold == 0)
    line = fit(proxies.line, 0)
    kind, first = proxies.line, line
    if loss_of(asked, line, here, largest=True) > proxies.NOTHING_LEFT * asked.spread:
        best = np.inf
        for other in (proxies.trees, proxies.curves_and_trees):
            proxy = fit(other, 0)
            loss = loss_of(asked, proxy, here)
            if loss < best:
                best, kind, first = loss, other, proxy
    return (first, *(fit(kind, k) for k in range(1, FOLDS)))


def loss_of(asked: Asked, proxy: Proxy, places: Ints, largest: bool = False) -> float:
    """The mean size of what a proxy leaves of the pairs of some rows, their offset apart; or the
    largest of all that it leaves."""
    pull, gap, _ = what_is_left(asked, proxy, places)
    if largest:
        return float(max(np.abs(pull).max(), np.abs(gap).max()))
    mean = np.where(asked.pairs.own[places], 1.0, -1.0).mean(axis=2)
    return float(np.abs(pull - mean * gap / 2).mean())
