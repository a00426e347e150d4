"""The law of a survey's rows, and how much each row weighs for an instance.

In the binned view an instance decides only two things about a perturbed row: which of its values
count as a match, and how probable the row is. So rows that are drawn once, from a law that no
instance decides, serve every instance: each row is weighed by how much more probable the instance
makes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle.kernel import Exponential
from eagle.table.background import STEPS, Background
from eagle.types import Array

GRID: Final = 1 << 20
"""Probabilities of the law are multiples of 1/GRID, so that no rounding decides a row."""

WORTH: Final = 1000
"""Target precision of a score, in equivalent rows of the instance's own plan."""

SHARE: Final = 1 / 4
"""For small surveys the target is this share of their rows."""

SPARE: Final = 1.25
"""The factor on the number of rows that a supplement needs, as a reserve."""

FEWEST: Final = 16
"""Minimum number of rows with a value that has a supplement, the supplement included."""

Indices = NDArray[np.intp]


@final
@dataclass(frozen=True, eq=False)
class RootLaw:
    """Each column is drawn by itself, a state with probability q.

    For an instance in state b, a plan of its own keeps b with probability p, and draws another
    state c with probability (1 − p)·s_c/(1 − s_b), where s are the shares in the background. The
    law q_b ∝ √(s_b p_b² + s_b² Σ_{c≠b} s_c ((1 − p_c)/(1 − s_c))²) makes the weights vary least, in
    the mean over rows like those of the background.

    `share`, `keep` and `draw` are s, p and q, shape (d, states). A state after the last one of a
    column is a value that the background does not have: its s and q are 0.
    """

    share: Array
    keep: Array
    draw: Array

    @classmethod
    def of(cls, background: Background, kernel: Exponential) -> RootLaw:
        columns = [background.columns[j] for j in background.moved]
        width = max(len(column.shares) for column in columns) + 1
        share, keep = np.zeros((len(columns), width)), np.ones((len(columns), width))
        far = np.exp(-1.0 / kernel.scale(len(columns)))
        for k, column in enumerate(columns):
            states = len(column.shares)
            share[k, :states] = column.shares / column.shares.sum()
            every = np.zeros((states + 1, len(columns)), dtype=np.intp)
            every[:, k] = np.arange(states + 1)
            kept = background.kept(every, even=False)[:, k] / STEPS
            chance = kept / (kept + (1 - kept) * far)
            keep[k, :states], keep[k, states:] = chance[:states], chance[states]
        return cls(share, keep, _drawn(share, keep))

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

        A row of the survey is worth 1/Π of these to the instance. An unseen value counts as 1.
        """
        at = np.arange(len(self.share))
        s, p, q = (table[at, states] for table in (self.share, self.keep, self.draw))
        others = np.maximum(self._spread.sum(axis=1) - self._spread[at, states], 0.0)
        away = np.divide(1 - p, 1 - s, out=np.zeros_like(p), where=s < 1)
        own = np.divide(p**2, q, out=np.ones_like(p), where=q > 0)
        return np.where(q > 0, own + away**2 * others, 1.0)

    def supplements(self, states: Indices, rows: int) -> Indices:
        """How many more rows, with the instance's own value, each feature needs, shape (n, d).

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
        wanted = min(WORTH, SHARE * rows)
        more = np.ceil(np.maximum(SPARE * wanted * p, FEWEST) - rows * q)
        needed = (p < 1) & (q < p / 2) & (has < wanted)
        return np.where(needed, np.maximum(more, 0.0), 0.0).astype(np.intp)


def _drawn(share: Array, keep: Array) -> Array:
    """The probability of drawing each state, a multiple of 1/GRID; 0 for what was never seen."""
    away = np.divide(1 - keep, 1 - share, out=np.zeros_like(share), where=share < 1) ** 2
    total = (share * away).sum(axis=1, keepdims=True)
    root = np.sqrt(share * keep**2 + share**2 * np.maximum(total - share * away, 0.0))
    return np.array([_rounded(one / one.sum()) for one in root]) / GRID


def _rounded(chances: Array) -> Array:
    """Probabilities as integers that sum to `GRID`: at least 1 where there is a chance."""
    counts = np.where(chances > 0, np.maximum(np.rint(chances * GRID), 1.0), 0.0)
    counts[int(np.argmax(counts))] += GRID - counts.sum()
    return np.asarray(counts)
