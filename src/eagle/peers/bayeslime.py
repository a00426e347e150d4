"""BayesLIME: a Bayesian line on rows where its predictions are least certain."""

from __future__ import annotations

from typing import Final

from eagle._engine.method import Method
from eagle._values.checks import number
from eagle.kernels import Exponential
from eagle.peers.focus import IDENTITY, Focus, ToGo
from eagle.peers.independent import Independent
from eagle.surrogates.bayes import BayesLinear

BAYESLIME: Final = Method("BayesLIME", Focus(), Exponential(), BayesLinear(IDENTITY))
"""Focused sampling by the EAGLE paper's protocol: 10 seeds, batches of 10 from pools of 1,000.

The reference's softmax overflows to NaN if the pilot is uncertain, and it samples intervals that
have a closed form; neither is so here. The prior shrinks the intercept, so some of the base rate
goes into the scores. This is part of the method.
"""

BAYESLIME_REPOSITORY: Final = Method(
    "BayesLIME (repository)", Focus(100, 2500, 10_000), Exponential(), BayesLinear(IDENTITY)
)
"""The defaults of its authors' code: 100 seeds, then all other rows in one batch."""

BAYESLIME_IID: Final = Method(
    "BayesLIME (unfocused)", Independent(), Exponential(), BayesLinear(IDENTITY)
)
"""BayesLIME's line on independent rows."""


def bayeslime_to_go(width: float, level: float = 0.95, budget: int = 5000) -> Method:
    """BayesLIME that asks until intervals have this half-width (PTG), or the budget is spent."""
    name = f"BayesLIME (±{number(width, 'width', above=0.0):g})"
    line = BayesLinear(IDENTITY)
    return Method(name, ToGo(width, level), Exponential(), line, budget=budget)
