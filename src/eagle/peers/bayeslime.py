"""BayesLIME: a Bayesian line on rows where its predictions are least certain."""

from __future__ import annotations

from typing import Final

from eagle._engine.method import Method
from eagle.kernels import Exponential
from eagle.peers.focus import IDENTITY, Focus
from eagle.peers.independent import Independent
from eagle.surrogates.bayes import BayesLinear

BAYESLIME: Final = Method("BayesLIME", Focus(), Exponential(), BayesLinear(IDENTITY))
"""Focused sampling by the EAGLE paper's protocol: 10 seeds, batches of 10 from pools of 1,000.

The reference's softmax overflows to NaN if the pilot is uncertain, and it samples intervals that
have a closed form; neither is so here. The prior shrinks the intercept, so some of the base rate
goes into the scores. This is part of the method.
"""

BAYESLIME_IID: Final = Method(
    "BayesLIME (unfocused)", Independent(), Exponential(), BayesLinear(IDENTITY)
)
"""BayesLIME's line on independent rows."""
