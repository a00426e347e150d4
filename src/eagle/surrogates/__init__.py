"""What is fitted to the answers: surrogates for methods of your own, and what one must have."""

from eagle.surrogates.bayes import BayesLinear
from eagle.surrogates.fit import DeferredFit, Fit, Fitted, Fitter, Surrogate, weighted_r2
from eagle.surrogates.functional import Functional
from eagle.surrogates.heldout import HeldOut
from eagle.surrogates.pairs import Paired
from eagle.surrogates.ridge import Ridge
from eagle.surrogates.robust import Robust

__all__ = [
    "BayesLinear",
    "DeferredFit",
    "Fit",
    "Fitted",
    "Fitter",
    "Functional",
    "HeldOut",
    "Paired",
    "Ridge",
    "Robust",
    "Surrogate",
    "weighted_r2",
]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)
