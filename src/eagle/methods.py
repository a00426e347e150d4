"""Every method, one line each."""

from __future__ import annotations

from typing import Final

from eagle.design.greedy import Greedy
from eagle.explain import Method
from eagle.kernel import Exponential
from eagle.surrogate.bayes import BayesLinear
from eagle.surrogate.information import Prior

PAPER: Final = Prior(slopes=None, intercept=None)
"""Precision λ = d on every coefficient, the intercept's too, as the paper's numbers suggest."""

EAGLE: Final = Method("EAGLE", Greedy(), Exponential(), BayesLinear())
"""Greedy in the batch, a free intercept, λ = 1: the default."""

EAGLE_PAPER: Final = Method(
    "EAGLE (paper)", Greedy(prior=PAPER, frozen=True), Exponential(), BayesLinear(PAPER)
)
"""Algorithm 1 as printed. More stable and, by the shrunk intercept, less right: see README."""
