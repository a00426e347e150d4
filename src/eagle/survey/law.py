"""The law of a survey's rows, and how much each row weighs for an instance.

In the binned view an instance decides only two things about a perturbed row: which of its values
count as a match, and how probable the row is. So rows that are drawn once, from a law Q that no
instance decides, serve every instance. For one with the law P the row x weighs w(x) = P(x)/Q(x),
and weighted means over the rows tend to the means under P (importance sampling). A survey of N rows
is worth about N/E_Q[w²] rows of P to it, as w has the mean 1 (Kish, "Survey sampling", 1965).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables.background import STEPS, Background
from eagle._values.arrays import Array
from eagle.kernels import Exponential

GRID: Final = 1 << 20
"""Probabilities of the law are multiples of 1/GRID, so that no rounding decides a row."""

TARGET_ROWS: Final = 1000
"""Target precision of a score, in equivalent rows of the instance's own plan."""

TARGET_SHARE: Final = 1 / 4
"""For small surveys the target is this share of their rows."""

SUPPLEMENT_RESERVE: Final = 1.25
"""The factor on the number of rows that a supplement needs, as a reserve."""

MIN_ROWS_WITH_VALUE: Final = 16
"""Minimum number of rows with a value that has a supplement, the supplement included."""

Indices = NDArray[np.intp]


@final
@dataclass(frozen=True, eq=False)
class RootLaw:
    """Each column is drawn by itself, a state with probability q.

    For an instance in state b, a plan of its own keeps b with probability p_b, and draws another
    state c with probability (1 − p_b) s_c/(1 − s_b), where s are the shares in the background.
    p has the kernel in it: exp(−changes/scale) is a product over columns, so with the chance k of
    a match in a draw p = k/(k + (1 − k) e^(−1/scale)). With P_b this law, the root law

        q_x ∝ √A_x,    A_x = Σ_b s_b P_b(x)² = s_x p_x² + s_x² Σ_{c≠x} s_c u_c,
        u_c = ((1 − p_c)/(1 − s_c))²,

    makes the weights vary least, in the mean over instances like the rows of the background: for
    each column that mean of E_q[w²] is Σ_x A_x/q_x, which by Cauchy and Schwarz is at least
    (Σ_x √A_x)², with equality for this q.

    `share`, `keep` and `draw` are s, p and q, shape (d, states). A state after the last one of a
    column is a value that the background does not have: its s and q are 0.
    """

    share: Array
    keep: Array
    draw: Array

    @classmethod
    def of(cls, background: Background, kernel: Exponential) -> RootLaw:
        columns = [background.columns[j] for j in background.moved_columns]
        width = max(len(column.shares) for column in columns) + 1
        share, keep = np.zeros((len(columns), width)), np.ones((len(columns), width))
        far = np.exp(-1.0 / kernel.scale(len(columns)))
        for k, column in enumerate(columns):
            states = len(column.shares)
            share[k, :states] = column.shares / column.shares.sum()
            every = np.zeros((states + 1, len(columns)), dtype=np.intp)
            every[:, k] = np.arange(states + 1)
            kept = background.steps_kept(every, even=False)[:, k] / STEPS
            chance = kept / (kept + (1 - kept) * far)
            keep[k, :states], keep[k, states:] = chance[:states], chance[states]
        return cls(share, keep, _draw_chances(share, keep))

    @cached_property
    def ends(self) -> Array:
        """Where each state ends on the scale from 0 to `GRID`, shape (d, states)."""
        return np.cumsum(np.rint(self.draw * GRID), axis=1)

    @cached_property
    def base(self) -> Array:
        """log s/q of each state, shape (d, states): the part of log w that all instances share."""
        drawn, nothing = self.draw > 0, np.zeros_like(self.share)
        s = np.log(self.share, where=drawn, out=nothing.copy())
        return s - np.log(self.draw, where=drawn, out=nothing)

    @cached_property
    def gain(self) -> Array:
        """logit p − logit s of each state, shape (d, states): what a match adds to log w.

        It is 0 where all rows match, and where no row of the law does.
        """
        inside = (self.share > 0) & (self.share < 1) & (self.keep < 1)
        s, p = np.where(inside, self.share, 0.5), np.where(inside, self.keep, 0.5)
        return np.log(p) - np.log1p(-p) - np.log(s) + np.log1p(-s)

    @cached_property
    def _spread(self) -> Array:
        """s²/q of each state, shape (d, states)."""
        nothing = np.zeros_like(self.share)
        return np.divide(self.share**2, self.draw, out=nothing, where=self.draw > 0)

    def unseen(self, states: Indices) -> NDArray[np.bool_]:
        """Which states of instances, shape (n, d), are values that the background does not have."""
        return np.asarray(self.draw[np.arange(len(self.draw)), states] == 0)

    def worth(self, states: Indices) -> Array:
        """For each column the mean square of its weights over the square of their mean, (n, d).

            ρ = E_q[w²] = p²/q_b + u_b Σ_{c≠b} s_c²/q_c

        Columns are independent, so a row of the survey is worth 1/Πρ rows of a plan of the
        instance's own. It is known before anything is asked. An unseen value counts as 1.
        """
        at = np.arange(len(self.share))
        s, p, q = (table[at, states] for table in (self.share, self.keep, self.draw))
        others = np.maximum(self._spread.sum(axis=1) - self._spread[at, states], 0.0)
        away = np.divide(1 - p, 1 - s, out=np.zeros_like(p), where=s < 1)
        own = np.divide(p**2, q, out=np.ones_like(p), where=q > 0)
        return np.where(q > 0, own + away**2 * others, 1.0)

    def supplements(self, states: Indices, rows: int) -> Indices:
        """How many more rows, with the instance's own value, each feature needs, shape (n, d).

        A score is about the mean answer where the feature matches less the mean where it does not.
        Of answers of variance 1, N rows of a plan of its own give it with the variance
        1/(N p(1 − p)), and the N rows of a survey, reweighted in this column alone, with

            (1/q_b + r)/N,    r = Σ_{c≠b} s_c²/q_c/(1 − s_b)².

        The other columns' weights cost their factors ρ of `worth`. So for this score the survey
        has as many rows as

            N/Π_{i≠j} ρ_i/((1/q_b + r) p(1 − p))    (`has`)

        of a plan of its own. If these are fewer than wanted, min(`TARGET_ROWS`, N·`TARGET_SHARE`),
        and the survey meets the value less than half as often as such a plan does (q_b < p/2: it is
        1/q_b that is large), more rows with it are asked. A plan of the wanted size has p·wanted
        rows with the value. So many times `SUPPLEMENT_RESERVE`, and at least `MIN_ROWS_WITH_VALUE`,
        there are to be in all, and the survey itself has N q_b of them.

        Only the instance and the survey decide it.
        """
        at = np.arange(len(self.share))
        s, p, q = (table[at, states] for table in (self.share, self.keep, self.draw))
        worth = self.worth(states)
        effective = rows * worth / worth.prod(axis=1, keepdims=True)
        others = np.maximum(self._spread.sum(axis=1) - self._spread[at, states], 0.0)
        away = np.divide(others, (1 - s) ** 2, out=np.zeros_like(s), where=s < 1)
        price = (np.divide(1.0, q, out=np.full_like(q, np.inf), where=q > 0) + away) * p * (1 - p)
        has = np.divide(effective, price, out=np.full_like(p, np.inf), where=price > 0)
        wanted = min(TARGET_ROWS, TARGET_SHARE * rows)
        more = np.ceil(np.maximum(SUPPLEMENT_RESERVE * wanted * p, MIN_ROWS_WITH_VALUE) - rows * q)
        needed = (p < 1) & (q < p / 2) & (has < wanted)
        return np.where(needed, np.maximum(more, 0.0), 0.0).astype(np.intp)


def _draw_chances(share: Array, keep: Array) -> Array:
    """The probability of drawing each state, a multiple of 1/GRID; 0 for what was never seen."""
    away = np.divide(1 - keep, 1 - share, out=np.zeros_like(share), where=share < 1) ** 2
    total = (share * away).sum(axis=1, keepdims=True)
    root = np.sqrt(share * keep**2 + share**2 * np.maximum(total - share * away, 0.0))
    return np.array([_round_to_grid(one / one.sum()) for one in root]) / GRID


def _round_to_grid(chances: Array) -> Array:
    """Probabilities as integers that sum to `GRID`: at least 1 where there is a chance."""
    counts = np.where(chances > 0, np.maximum(np.rint(chances * GRID), 1.0), 0.0)
    counts[int(np.argmax(counts))] += GRID - counts.sum()
    return np.asarray(counts)
