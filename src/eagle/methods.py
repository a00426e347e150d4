"""Every method, one line each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Final

from eagle.adapters import CALIBRATED, Calibrated, KernelShap, PermutationShap
from eagle.design.append import Append
from eagle.design.balanced import Sobol
from eagle.design.climax import BothLabels
from eagle.design.cluster import Cluster
from eagle.design.coalitions import Coalitions
from eagle.design.focused import IDENTITY, Focus, ToGo
from eagle.design.greedy import Greedy
from eagle.design.hadamard import Hadamard
from eagle.design.independent import Independent
from eagle.design.tilted import Gauss, Laplace, Removal, Tilted, Uniform
from eagle.design.unravel import Acquisition, Unravel, fur
from eagle.engine.method import Method
from eagle.foreign import Foreign
from eagle.kernel import Exponential, Shapley, Unit, cosine
from eagle.surrogate.bayes import BayesLinear
from eagle.surrogate.bootstrap import Bootstrap
from eagle.surrogate.boundary import Boundary
from eagle.surrogate.evidence import Evidence
from eagle.surrogate.information import Prior
from eagle.surrogate.logistic import Logistic
from eagle.surrogate.process import Importance, Process
from eagle.surrogate.ridge import Ridge
from eagle.surrogate.robust import Robust
from eagle.surrogate.select import Auto, LassoPath, Selection
from eagle.surrogate.tree import Tree
from eagle.table.column import plain
from eagle.types import InputError

PAPER: Final = Prior(slopes=None, intercept=None)
"""Precision λ = d on every coefficient, the intercept's too, as the paper's numbers suggest."""

COSINE: Final = Exponential(0.25, distance=cosine)
"""LIME's kernel of masks: 0.25 of the cosine distance, which for texts it writes 25 of 100."""

EAGLE: Final = Method("EAGLE", Greedy(), Exponential(), BayesLinear(), COSINE)
"""Algorithm 1 read consistently: greedy in the batch, a free intercept, λ = 1. On masks, LIME's
kernel of masks."""

EAGLE_PAPER: Final = Method(
    "EAGLE (paper)", Greedy(prior=PAPER, frozen=True), Exponential(), BayesLinear(PAPER), COSINE
)
"""Algorithm 1 as printed. More stable and, by the shrunk intercept, less right: see README."""

EAGLE_BALANCED: Final = Method(
    "EAGLE (balanced)", Sobol(), Exponential(), Robust(balanced=True), COSINE
)
"""Balanced rows in place of informative ones: it converges to what LIME does, soonest of all.

Scrambled Sobol' points of the law that has the kernel in it; a free intercept and λ = 1 as in
`EAGLE`, each row weighing π̄, so that λ shrinks as it would under the kernel. Intervals are those
of `Robust`; with `BayesLinear()` in its place they are the posterior's.
"""

EAGLE_HADAMARD: Final = Method("EAGLE (Hadamard)", Hadamard(), Exponential(), Robust(), COSINE)
"""Orthogonal rows and their mirror images, for masks and bins: on images nearly as near to the
limit as balanced rows, elsewhere farther (`python -m evaluation bench tried`)."""

LIME: Final = Method("LIME", Independent(), Exponential(), Ridge(), COSINE)
"""Independent rows, a weighted ridge of 1, all features kept; see `lime` to keep some.

Offsets are drawn around the instance (`sample_around_instance` in the package `lime`), and
values in a bin from the background's own, not from a normal law cut to the bin, which returns
values that no row has where a bin is degenerate.
"""

GLIME: Final = Method("GLIME", Tilted(), Exponential(), Ridge(), COSINE)
"""GLIME-Binomial: LIME's kernel in the drawing, so that each row counts fully; ridge of 1.

On masks it absorbs LIME's cosine kernel, so that its line means what LIME's does: a little over
half of the parts are kept. Its authors' code for images has another law, far nearer to the whole
image: see `GLIME_PUBLISHED`. Their code for tables cannot be imported; here the law is exact,
also where matches have unequal probabilities.
"""

GLIME_PUBLISHED: Final = Method(
    "GLIME (published)", Tilted(Removal(0.25)), Unit(), Ridge(), budget=1024
)
"""GLIME as its authors' code draws images, for masks only: σ = ¼, 1,024 rows, a ridge of 1.

Its kernel is that of the number of parts removed, e^(−removed/σ²), on fair coins, and all parts
are never kept. At σ = ¼ nearly every mask leaves out one part: of 12 parts 92% are kept, of 50
98%. So there are hardly more than d masks to ask, each once, however large the budget; one that
is drawn again counts again. It scores what leaving a part out of the whole does; `GLIME` scores
what it does among parts of which nearly half are off.
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
"""BayLIME without prior knowledge: both precisions by the evidence of ε ~ N(0, 1/(απ)).

Its noise counts rows, as its authors' code does: a weight says how noisy a row is, so it is no
count. scikit-learn's BayesianRidge sums weights from 1.7 on, as if they were repetitions.
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


BAYESLIME: Final = Method("BayesLIME", Focus(), Exponential(), BayesLinear(IDENTITY))
"""Focused sampling by the EAGLE paper's protocol: 10 seeds, batches of 10 from pools of 1,000.

The reference's softmax overflows to NaN where the pilot is uncertain, and its intervals are
drawn where a closed form exists; neither is so here. Its prior shrinks the intercept, which leaks
some of the base rate into the scores: that is the method.
"""

BAYESLIME_REPOSITORY: Final = Method(
    "BayesLIME (repository)", Focus(100, 2500, 10_000), Exponential(), BayesLinear(IDENTITY)
)
"""The defaults of its authors' code: one batch of all that the budget leaves after 100 seeds."""

BAYESLIME_IID: Final = Method(
    "BayesLIME (unfocused)", Independent(), Exponential(), BayesLinear(IDENTITY)
)
"""BayesLIME's line on independent rows."""

BAYESSHAP: Final = Method(
    "BayesSHAP",
    Focus(temperature=1e-2, again=True, coalitions=True),
    Shapley(),
    BayesLinear(IDENTITY),
)
"""BayesLIME's line under the Shapley kernel, on coalitions, focused.

Every match is a fair coin, in seeds and in pools: to coalitions drawn so, the Shapley kernel gives
Shapley values. The reference draws bins by their frequency, as LIME does, and weighs them by the
Shapley kernel all the same; that is not Shapley's law. It also scores candidates by raw inputs in
place of matches, a bug; here by matches.
"""

BAYESSHAP_REPOSITORY: Final = Method(
    "BayesSHAP (repository)",
    Focus(100, 2500, 10_000, 1e-2, again=True, coalitions=True),
    Shapley(),
    BayesLinear(IDENTITY),
)
"""BayesSHAP by the defaults of its authors' code, but by fair coins: see `BAYESSHAP`."""

BAYESSHAP_IID: Final = Method(
    "BayesSHAP (unfocused)", Coalitions(), Shapley(), BayesLinear(IDENTITY)
)
"""BayesSHAP without focus: planned, one call. Every match is a fair coin: see `BAYESSHAP`."""


def bayeslime_to_go(width: float, level: float = 0.95, budget: int = 5000) -> Method:
    """BayesLIME that asks until intervals have this half-width (PTG), or the budget is spent."""
    name = f"BayesLIME (±{width:g})"
    line = BayesLinear(IDENTITY)
    return Method(name, ToGo(width, level), Exponential(), line, budget=budget)


def bayesshap_to_go(width: float, level: float = 0.95, budget: int = 5000) -> Method:
    """BayesSHAP that asks until intervals have this half-width (PTG), or the budget is spent.

    Every match is a fair coin: see `BAYESSHAP`.
    """
    design = ToGo(width, level, coalitions=True)
    name = f"BayesSHAP (±{width:g})"
    return Method(name, design, Shapley(), BayesLinear(IDENTITY), budget=budget)


DLIME: Final = Method("DLIME", Cluster(), Exponential(), Ridge(), budget=1_000_000)
"""The whole cluster of the background that the instance's nearest neighbour is in; no chance.

The reference compares raw values for equality, so that numbers hardly ever match; here bins do.
"""

DLIME_NEAREST: Final = Method("DLIME (nearest)", Cluster(nearest=True), Exponential(), Ridge())
"""DLIME within a budget: the nearest rows of the cluster first."""

US_LIME: Final = Method("US-LIME", Independent(Gauss(0.5)), Exponential(), Boundary())
"""Rows near the decision boundary, a tenth of those asked: at the budget that others have.

The reference measures distances from the raw instance, which is right for standardised data only.
"""

US_LIME_PUBLISHED: Final = replace(US_LIME, name="US-LIME (published)", budget=5000)
"""US-LIME as published: ten rows are asked for each of the 500 that are meant."""

TILIA: Final = Method("Tilia", Independent(), Exponential(), Tree(selection=Auto(10)), COSINE)
"""A regression tree in place of the line, on the values asked, in either view of a table.

Its importances have no sign: the reference gives them one by the class that is explained, which
says nothing about a direction.
"""

S_LIME: Final = Method("S-LIME", Append(), Exponential(), Ridge(1.0, LassoPath(5)))
"""More rows until the steps of the lasso path to at most 5 features are no accident, or the budget
is spent. What is tested is what is reported: one path of the same columns."""

S_LIME_PUBLISHED: Final = replace(
    S_LIME, name="S-LIME (published)", design=Append(first=1000), budget=10_000
)
"""S-LIME with its authors' numbers, but rows are kept, not drawn anew in every round."""

CLIMAX: Final = Method("CLIMAX", BothLabels(), Exponential(), Logistic())
"""CLIMAX's sound part: rows of both labels in balance, and a logistic line on those labels.

What it labels by a mixture's components, and coefficients divided by their sum, are left out.
"""

CLIMAX_PUBLISHED: Final = replace(CLIMAX, name="CLIMAX (published)", budget=2200)
"""CLIMAX with as many rows as the reference asks for 500."""

SHAP_KERNEL: Final = Foreign("Kernel SHAP", KernelShap())
"""`shap`'s own KernelExplainer, beside ten rows of the background."""

SHAP_PERMUTATION: Final = Foreign("Permutation SHAP", PermutationShap())
"""`shap`'s own PermutationExplainer, beside ten rows of the background."""


def calibrated(labels: Iterable[Hashable]) -> Foreign:
    """Calibrated Explanations, whose own package it asks: `labels` are those of the data's rows.

    Every explanation asks the whole data once, up to 10,000 rows, to calibrate: give less data
    for less. Its bounds speak of calibration, not of sampling.
    """
    given = tuple(plain(label) for label in labels)
    for label in given:
        if not isinstance(label, Hashable):
            raise InputError(f"a label is a class or a number, one for each row, not {label!r}")
    return Foreign(CALIBRATED, Calibrated(given), budget=20_000)


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
