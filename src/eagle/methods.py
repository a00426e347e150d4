"""The methods of this package. Those of other authors are in `eagle.peers`."""

from __future__ import annotations

from typing import Final

from eagle._engine.default import DEFAULT, EAGLE, EAGLE_BALANCED, EAGLE_PROCESS
from eagle._engine.method import Method
from eagle.designs.greedy import Greedy
from eagle.kernels import COSINE, Exponential
from eagle.surrogates.bayes import PAPER, BayesLinear

__all__ = ["DEFAULT", "EAGLE", "EAGLE_BALANCED", "EAGLE_PAPER", "EAGLE_PROCESS"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


EAGLE_PAPER: Final = Method(
    "EAGLE (paper)", Greedy(prior=PAPER, frozen=True), Exponential(), BayesLinear(PAPER), COSINE
)
"""Algorithm 1 as printed. It is as stable as `EAGLE`, but its shrunk intercept biases scores."""
