"""ContextCite, for prompts: masks of fair coins, and a lasso."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from eagle._engine.method import Method
from eagle._values.arrays import Array
from eagle._values.checks import integer, number
from eagle._values.text import finite, short_repr
from eagle.contracts import Rows
from eagle.errors import InputError
from eagle.kernels import Unit
from eagle.peers.independent import Independent
from eagle.peers.lasso_path import PathColumns, path, path_columns
from eagle.surrogates.fit import DeferredFit, Fit, Fitter, Surrogate, is_flat, weighted_r2


@final
@dataclass(frozen=True)
class Lasso(Surrogate):
    """A line whose slopes, on features of variance 1, have the penalty `alpha`; no intervals.

    It minimises Σπ(y − line)²/2Σπ + α Σ|slope|, as scikit-learn's Lasso does, exactly: the lasso
    path is linear between its knots. The instance itself takes no part, unless it was drawn.
    """

    alpha: float = 0.01

    def __post_init__(self) -> None:
        if not (finite(self.alpha) and self.alpha > 0):
            raise InputError(
                f"the penalty of a lasso is a positive number, not {short_repr(self.alpha)}"
            )

    def memory(self, n: int, d: int) -> int:
        return 3 * n * d

    def on(self, rows: Rows) -> Fitter:
        weight = rows.weight.copy()
        weight[0] *= (rows.repeats[0] - 1) / rows.repeats[0]
        return DeferredFit(lambda y: self.fit(rows.features, y, weight), rows)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        drawn = weight > 0
        z, level, share = features[drawn], y[drawn], weight[drawn] / max(weight.sum(), 1e-300)
        if len(level) < 2 or is_flat(level):
            middle = float(share @ level) if len(level) else float(y[0])
            return Fit(np.zeros(features.shape[1]), middle, middle, float("nan"))
        slopes = self._slopes(z, level, share * len(share))
        intercept = float(share @ level - (share @ z) @ slopes)
        fitted = intercept + z @ slopes
        local = float(intercept + features[0] @ slopes)
        return Fit(slopes, intercept, local, weighted_r2(level, fitted, share))

    def _slopes(self, z: Array, y: Array, weight: Array) -> Array:
        """The slopes on the features' own scale, shape (d,). Weights have the mean 1."""
        share = weight / len(weight)
        spread = np.sqrt(share @ (z - share @ z) ** 2)
        moves = spread > 0
        unit = np.where(moves, spread, 1.0)
        rows = path_columns(z / unit, y, weight)
        size = float(np.sqrt(share @ (y - share @ y) ** 2))  # `rows` has the answers over this
        out = np.zeros(len(unit))
        out[list(rows.names)] = size * at_penalty(rows, self.alpha / size)
        return np.asarray(np.where(moves, out / unit, 0.0))


def at_penalty(rows: PathColumns, alpha: float) -> Array:
    """The slopes of the lasso path at a penalty, shape (m,)."""
    slopes = np.zeros(len(rows.names))
    for step in path(rows):
        high, low = (float(np.abs(rows.reach(at)).max()) for at in (step.before, step.after))
        if alpha >= high:
            return slopes
        if alpha > low:
            share = (high - alpha) / (high - low)
            return np.asarray(step.before + share * (step.after - step.before))
        slopes = step.after
    return slopes


CONTEXT_CITE: Final = Method("ContextCite", Independent(), Unit(), Lasso(), budget=65)
"""ContextCite, for prompts: 64 masks of fair coins, no kernel, a lasso of 0.01; no intervals.

The prompt itself is asked as well, to show what is explained, but takes no part in the fit. This is
the method for a score of one token: see `context_cite_for`.
"""


def context_cite_for(tokens: int, alpha: float = 0.01) -> Method:
    """ContextCite for an answer with this number of tokens.

    It divides the log-odds by the number of tokens, and multiplies the scores by it. That is the
    same as a lasso whose penalty is multiplied by it.
    """
    penalty = number(alpha, "alpha", above=0.0) * integer(tokens, "tokens", 1)
    return replace(CONTEXT_CITE, name=f"ContextCite ({tokens} tokens)", surrogate=Lasso(penalty))
