"""Every method, one line each."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from eagle.design.greedy import Greedy
from eagle.design.iid import Independent
from eagle.design.tilted import Gauss, Laplace, Tilted, Uniform
from eagle.design.unravel import Acquisition, Unravel, fur
from eagle.explain import Method
from eagle.kernel import Exponential, Unit, cosine
from eagle.surrogate.bayes import BayesLinear
from eagle.surrogate.bootstrap import Bootstrap
from eagle.surrogate.evidence import Evidence
from eagle.surrogate.information import Prior
from eagle.surrogate.process import Importance, Process
from eagle.surrogate.ridge import Ridge
from eagle.surrogate.select import Selection
from eagle.types import InputError

PAPER: Final = Prior(slopes=None, intercept=None)
"""Precision λ = d on every coefficient, the intercept's too, as the paper's numbers suggest."""

COSINE: Final = Exponential(0.25, distance=cosine)
"""LIME's kernel of masks: 0.25 of the cosine distance, which for texts it writes 25 of 100."""

EAGLE: Final = Method("EAGLE", Greedy(), Exponential(), BayesLinear())
"""Greedy in the batch, a free intercept, λ = 1: the default."""

EAGLE_PAPER: Final = Method(
    "EAGLE (paper)", Greedy(prior=PAPER, frozen=True), Exponential(), BayesLinear(PAPER), COSINE
)
"""Algorithm 1 as printed. More stable and, by the shrunk intercept, less right: see README."""

LIME: Final = Method("LIME", Independent(), Exponential(), Ridge(), COSINE)
"""Independent rows, a weighted ridge of 1, all features kept; see `lime` to keep some.

Offsets are drawn around the instance (`sample_around_instance` in the package `lime`), and
values in a bin from the background's own, not from a normal law cut to the bin, which returns
values that no row has where a bin is degenerate.
"""

GLIME: Final = Method("GLIME", Tilted(), Exponential(), Ridge(), COSINE)
"""GLIME-Binomial: LIME's kernel in the drawing, so that each row counts fully; ridge of 1.

The reference never draws a mask with all parts kept and cannot be imported for tables; here the
law is exact, also where matches have unequal probabilities.
"""

GLIME_LIME: Final = Method(
    "GLIME (LIME's ridge)", Tilted(mass=True), Exponential(), Ridge(), COSINE
)
"""GLIME whose ridge is α/π̄: what it converges to is what LIME converges to, sooner."""

GLIME_GAUSS: Final = Method("GLIME (Gauss)", Tilted(Gauss(0.5)), Exponential(), Ridge())
"""Offsets from N(0, ½²) standard deviations, in the continuous view; the ½ is our choice."""

GLIME_LAPLACE: Final = Method("GLIME (Laplace)", Tilted(Laplace(0.5)), Exponential(), Ridge())
"""Offsets from the Laplace law of scale ½, in the continuous view."""

GLIME_UNIFORM: Final = Method("GLIME (uniform)", Tilted(Uniform(0.5)), Exponential(), Ridge())
"""Offsets evenly within ½ a standard deviation, in the continuous view."""

BAYLIME: Final = Method("BayLIME", Independent(), Exponential(), Evidence(), COSINE)
"""BayLIME without prior knowledge: both precisions by the evidence, rows counted by weight.

The reference counts rows, not their weights, in the noise, so its intervals are too narrow.
"""


def baylime(
    precision: float, mean: float | tuple[float, ...] = 0.0, noise: float | None = None
) -> Method:
    """BayLIME with a prior N(mean, 1/precision) on scores; fully informative if `noise` is given.

    The reference shifts each score by its own variance alone; here the whole covariance counts.
    """
    how = "partial" if noise is None else "full"
    return replace(BAYLIME, name=f"BayLIME ({how})", surrogate=Evidence(noise, precision, mean))


BAYLIME_PARTIAL: Final = baylime(1.0)
"""BayLIME with a prior precision of 1, and the noise by the evidence."""

BAYLIME_FULL: Final = baylime(1000.0, noise=1.0)
"""BayLIME with the precisions its authors ship: 1,000 for the prior and 1 for the noise."""


def lime(selection: Selection | None = None, alpha: float = 1.0) -> Method:
    """LIME that keeps the features of a selection, such as `eagle.surrogate.select.Auto(6)`."""
    how = "" if selection is None else f" ({type(selection).__name__.lower()})"
    return replace(LIME, name=f"LIME{how}", surrogate=Ridge(alpha, selection))


def Bootstrapped(method: Method, resamples: int = 200) -> Method:  # noqa: N802
    """The method with intervals from resampled rows: the same answers, no further query."""
    if not method.planned:
        raise InputError(
            f"{method.name} chooses rows by the answers before, so its rows cannot be resampled: "
            "a bootstrap needs a planned method"
        )
    name = f"{method.name} (bootstrap)"
    return replace(method, name=name, surrogate=Bootstrap(method.surrogate, resamples))


UNRAVEL: Final = Method("UnRAvEL", Unravel(), Unit(), Process(), budget=100)
"""Row by row where a Gaussian process is unsure and the instance near; a score is 1/length.

Scores have no sign and no interval. The reference takes the norm of all candidates together, so
that locality does not tell them apart; here each has its own. It also ranks features by lengths
that nothing has tuned where the answers are flat; here such scores are 0. It climbs on from the
best candidates, which by the formula ends near the line on which all features move together;
here the best of a pool is asked.
"""

UNRAVEL_RELEVANCE: Final = Method(
    "UnRAvEL (relevance)", Unravel(), Unit(), Process("relevance"), budget=100
)
"""UnRAvEL scored by how far predictions move with a feature, not by length alone.

The reference divides variances by standard deviations here.
"""


def unravel(acquisition: Acquisition = fur, importance: Importance = "lengthscale") -> Method:
    """UnRAvEL that asks by another acquisition, such as `eagle.design.unravel.ei`."""
    how = ", ".join([acquisition.__name__] + ["relevance"] * (importance == "relevance"))
    parts = Unravel(acquisition), Process(importance)
    return replace(UNRAVEL, name=f"UnRAvEL ({how})", design=parts[0], surrogate=parts[1])
