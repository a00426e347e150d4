"""Every method, one line each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from eagle.adapters import CALIBRATED, Calibrated, KernelShap, PermutationShap
from eagle.design.append import Append
from eagle.design.balanced import Sobol
from eagle.design.climax import BothLabels
from eagle.design.cluster import Cluster
from eagle.design.coalitions import Coalitions
from eagle.design.complements import Complements
from eagle.design.focused import IDENTITY, Focus, ToGo
from eagle.design.gains import Gains
from eagle.design.greedy import Greedy
from eagle.design.hadamard import Hadamard
from eagle.design.independent import Independent
from eagle.design.latin import Latin
from eagle.design.law import Absorbed, Clipped
from eagle.design.tilted import Gauss, Laplace, Removal, Tilted, Uniform
from eagle.design.unravel import Acquisition, Unravel, fur
from eagle.engine.method import Choice, Method
from eagle.foreign import Foreign
from eagle.kernel import Exponential, Shapley, Unit, cosine_distance
from eagle.source.masks import carried
from eagle.surrogate.bayes import BayesLinear, Prior
from eagle.surrogate.bayes_ridge import BayesRidge
from eagle.surrogate.bootstrap import Bootstrap
from eagle.surrogate.boundary import Boundary
from eagle.surrogate.functional import Functional
from eagle.surrogate.heldout import HeldOut
from eagle.surrogate.lasso import Lasso
from eagle.surrogate.logistic import Logistic
from eagle.surrogate.pairs import Paired
from eagle.surrogate.process import Importance, Process
from eagle.surrogate.ridge import Ridge
from eagle.surrogate.robust import Robust
from eagle.surrogate.select import Auto, LassoPath, Selection
from eagle.surrogate.tree import Tree
from eagle.table.column import plain
from eagle.types import InputError, Planned, integer

__all__ = [
    "BAYESLIME",
    "BAYESLIME_IID",
    "BAYESLIME_REPOSITORY",
    "BAYESSHAP",
    "BAYESSHAP_IID",
    "BAYESSHAP_REPOSITORY",
    "BAYLIME",
    "BAYLIME_FULL",
    "BAYLIME_PARTIAL",
    "CLIMAX",
    "CLIMAX_PUBLISHED",
    "CONTEXT_CITE",
    "COSINE",
    "DEFAULT",
    "DLIME",
    "DLIME_NEAREST",
    "EAGLE",
    "EAGLE_BALANCED",
    "EAGLE_FEW",
    "EAGLE_HADAMARD",
    "EAGLE_MASKS",
    "EAGLE_PAPER",
    "EAGLE_PROCESS",
    "EAGLE_PROCESS_LOGIT",
    "EAGLE_WIDE",
    "GLIME",
    "GLIME_GAUSS",
    "GLIME_LAPLACE",
    "GLIME_LIME",
    "GLIME_PUBLISHED",
    "GLIME_UNIFORM",
    "LIME",
    "PAPER",
    "SHAP_KERNEL",
    "SHAP_PERMUTATION",
    "S_LIME",
    "S_LIME_PUBLISHED",
    "TILIA",
    "UNRAVEL",
    "UNRAVEL_RELEVANCE",
    "US_LIME",
    "US_LIME_PUBLISHED",
    "Bootstrapped",
    "bayeslime_to_go",
    "bayesshap_to_go",
    "baylime",
    "calibrated",
    "context_cite",
    "lime",
    "suited",
    "suited_dear",
    "unravel",
]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


PAPER: Final = Prior(slopes=None, intercept=None)
"""Precision λ = d on every coefficient, also on the intercept, as the paper's numbers suggest."""

COSINE: Final = Exponential(0.25, distance=cosine_distance)
"""LIME's kernel of masks: width 0.25 of the cosine distance. For texts LIME writes 25 of 100."""

EAGLE: Final = Method("EAGLE", Greedy(), Exponential(), BayesLinear(), COSINE)
"""Algorithm 1, read consistently: greedy within a batch, a free intercept, λ = 1. On masks it has
LIME's kernel of masks."""

EAGLE_PAPER: Final = Method(
    "EAGLE (paper)", Greedy(prior=PAPER, frozen=True), Exponential(), BayesLinear(PAPER), COSINE
)
"""Algorithm 1 as printed. It is as stable as `EAGLE`, but its shrunk intercept biases scores."""

EAGLE_BALANCED: Final = Method(
    "EAGLE (balanced)", Sobol(), Exponential(), Robust(balanced=True), COSINE
)
"""Balanced rows: it converges to the same explanation as LIME, with the fewest rows of all.

Rows are scrambled Sobol' points, drawn by the kernel instead of being weighed by it. The intercept
is free and λ = 1, as in `EAGLE`. Each row has the weight π̄, the kernel's mean weight, so λ shrinks
as much as it would under the kernel. Intervals are those of `Robust`; with `BayesLinear()` in its
place they are the posterior's.
"""

EAGLE_WIDE: Final = Method("EAGLE (wide)", Latin(Clipped()), Exponential(), HeldOut())
"""For tables with fewer than four rows a feature, up to any number of features.

Rows are a Latin hypercube, since the columns of Sobol' points repeat there. Scores and intervals
come from residuals of held-out rows. Each value changes, and stays, in at least one row of eight.
Plans do not grow.
"""

EAGLE_FEW: Final = replace(EAGLE, name="EAGLE (few rows)", surrogate=Ridge())
"""`EAGLE` for fewer than two rows a part: its scores, without intervals, which would not hold."""

EAGLE_HADAMARD: Final = Method("EAGLE (Hadamard)", Hadamard(), Exponential(), Robust(), COSINE)
"""Orthogonal rows and their mirror images, for masks and bins. On images it is nearly as close to
the limit as balanced rows, otherwise less close (`python -m evaluation bench tried`)."""

EAGLE_MASKS: Final = Method("EAGLE (masks)", Complements(), Exponential(), Paired(), COSINE)
"""For images and texts: masks in pairs with their complements, none twice; intervals from pairs.

It converges to the same explanation as `EAGLE_BALANCED`, with fewer rows
(`python -m evaluation bench masks`). If all masks fit into the budget, its scores are exact.
"""

EAGLE_PROCESS: Final = Method(
    "EAGLE (process)", Gains(), Exponential(), Functional(), COSINE, budget=128
)
"""For 16 to 256 rows that are paid for: EAGLE's information gain about the scores themselves, under
a Gaussian process of the answers in place of a line.

It converges to the same explanation as `EAGLE_MASKS` and `EAGLE_BALANCED`. It works on masks and in
the binned view of tables (docs/adr/0043-few-paid-rows.md).
"""

EAGLE_PROCESS_LOGIT: Final = replace(
    EAGLE_PROCESS, name="EAGLE (process, logit)", surrogate=Functional(logit=True)
)
"""`EAGLE_PROCESS` that may predict probabilities of masks by their log-odds. Of all methods, the
closest to the converged scores at few rows. No intervals. Scores are still for probabilities."""

ENOUGH: Final = 40
"""A score needs at least this many rows with the value changed and as many with it kept."""

RAREST: Final = 1 / 32
"""The least share of rows in which a law of tables changes a value, or keeps it."""


def suited(d: int, masks: bool, rows: int, growing: bool) -> Method:
    """The method for d features, by measurement: docs/adr/0033-wide-tables.md and 0034-masks.md."""
    if masks:
        if carried(d, rows):
            return EAGLE_MASKS
        return EAGLE_BALANCED if growing else EAGLE_FEW
    law = Clipped(min(1 / 8, ENOUGH / rows)) if rows * RAREST < ENOUGH else Absorbed()
    if d > 16 and rows < (6 if d > 100 else 4) * d and not growing:
        return _drawn_by(EAGLE_WIDE, Latin(law))
    return _drawn_by(EAGLE_BALANCED, Sobol(law))


@lru_cache(64)
def _drawn_by(method: Method, design: Planned) -> Method:
    """A method with another design: the same value each time, so that its rows share plans."""
    return replace(method, design=design)


def suited_dear(d: int, masks: bool, rows: int, growing: bool) -> Method:
    """The same where each row is paid for: docs/adr/0043-few-paid-rows.md."""
    least = 2 * (d + 1) if growing else 2 * d  # a plan that grows needs intervals
    return EAGLE_PROCESS if masks and least <= rows <= 256 else suited(d, masks, rows, growing)


DEFAULT: Final = Choice("EAGLE", suited, dear=Choice("EAGLE", suited_dear, budget=128))
"""The default of an explainer: for each instance the method that suits it.

Images, texts and other parts: `EAGLE_MASKS`, exact if all masks fit into the budget; with fewer
than two rows a part the greedy rows of `EAGLE`, without intervals. Tables: `EAGLE_BALANCED`, or
`EAGLE_WIDE` with fewer than about four rows a feature. With fewer than 1,280 rows, rare changes are
drawn more often than by the kernel, so that no score depends on a handful of rows.

Prompts, whose rows are paid for, are asked 128 rows unless you say otherwise, by `EAGLE_PROCESS`
up to 256 (`python -m evaluation bench prompts`).
"""

LIME: Final = Method("LIME", Independent(), Exponential(), Ridge(), COSINE)
"""Independent rows, a weighted ridge of 1, all features kept; see `lime` to keep some.

Offsets are drawn around the instance (`sample_around_instance` in the package `lime`). Values in a
bin are drawn from the background's own values. The package draws them from a normal law cut to the
bin, which gives values that no row has where a bin is degenerate.
"""

GLIME: Final = Method("GLIME", Tilted(), Exponential(), Ridge(), COSINE)
"""GLIME-Binomial: rows are drawn by LIME's kernel and have equal weights; a ridge of 1.

On masks it draws by LIME's cosine kernel, so its scores mean the same as LIME's: a little over
half of the parts are kept. The authors' code for images has another law, with nearly all parts
kept: see `GLIME_PUBLISHED`. Their code for tables cannot be imported; here the law is exact, also
if matches have unequal probabilities.
"""

GLIME_PUBLISHED: Final = Method(
    "GLIME (published)", Tilted(Removal(0.25)), Unit(), Ridge(), budget=1024
)
"""GLIME as its authors' code draws images, for masks only: σ = ¼, 1,024 rows, a ridge of 1.

Masks of fair coins are drawn by the kernel e^(−removed/σ²) of the number of parts removed, and
the mask that keeps all parts is excluded. At σ = ¼ nearly every mask leaves out one part: 92% of 12
parts are kept, 98% of 50. So there are hardly more than d different masks, whatever the budget.
Each is asked once, and counts as often as it is drawn. A score is the effect of leaving a part out
of the complete image; in `GLIME` it is the effect when nearly half of the others are off.
"""

GLIME_LIME: Final = Method(
    "GLIME (LIME's ridge)", Tilted(mass=True), Exponential(), Ridge(), COSINE
)
"""GLIME with a ridge of α/π̄: it converges to the same explanation as LIME, with fewer rows."""

GLIME_GAUSS: Final = Method("GLIME (Gauss)", Tilted(Gauss(0.5)), Exponential(), Ridge())
"""Offsets from N(0, ½²) standard deviations, in the continuous view; the ½ is our choice."""

GLIME_LAPLACE: Final = Method("GLIME (Laplace)", Tilted(Laplace(0.5)), Exponential(), Ridge())
"""Offsets from the Laplace law of scale ½, in the continuous view."""

GLIME_UNIFORM: Final = Method("GLIME (uniform)", Tilted(Uniform(0.5)), Exponential(), Ridge())
"""Offsets from the uniform law within ½ a standard deviation, in the continuous view."""

BAYLIME: Final = Method("BayLIME", Independent(), Exponential(), BayesRidge(), COSINE)
"""BayLIME without prior knowledge: both precisions maximise the evidence of ε ~ N(0, 1/(απ)).

A weight says how noisy a row is; every row counts as one row, as in the authors' code. From version
1.7 on, scikit-learn's BayesianRidge treats weights as numbers of repetitions.
"""


def baylime(
    precision: float, mean: float | tuple[float, ...] = 0.0, noise: float | None = None
) -> Method:
    """BayLIME with a prior N(mean, 1/precision) on scores; fully informative if `noise` is given.

    The reference shifts each score by its own variance only; here the full covariance is used.
    """
    how = "partial" if noise is None else "full"
    return replace(BAYLIME, name=f"BayLIME ({how})", surrogate=BayesRidge(noise, precision, mean))


BAYLIME_PARTIAL: Final = baylime(1.0)
"""BayLIME with a prior precision of 1; the noise maximises the evidence."""

BAYLIME_FULL: Final = baylime(1000.0, noise=1.0)
"""BayLIME with the precisions of its authors' code: 1,000 for the prior and 1 for the noise."""


def lime(selection: Selection | None = None, alpha: float = 1.0) -> Method:
    """LIME that keeps the features of a selection, such as `eagle.surrogate.select.Auto(6)`."""
    how = "" if selection is None else f" ({type(selection).__name__.lower()})"
    return replace(LIME, name=f"LIME{how}", surrogate=Ridge(alpha, selection))


def Bootstrapped(method: Method | Choice, resamples: int = 200) -> Method:  # noqa: N802
    """The method with intervals from resampled rows: from the same answers, without queries."""
    if isinstance(method, Choice):
        raise InputError(
            f"{method.name} chooses a method for each input, and these have their own intervals: "
            "give one method, such as eagle.methods.LIME"
        )
    if not method.planned:
        raise InputError(
            f"{method.name} chooses rows by the answers before, so its rows cannot be resampled: "
            "a bootstrap needs a planned method"
        )
    name = f"{method.name} (bootstrap)"
    return replace(method, name=name, surrogate=Bootstrap(method.surrogate, resamples))


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

BAYESSHAP: Final = Method(
    "BayesSHAP",
    Focus(temperature=1e-2, again=True, coalitions=True),
    Shapley(),
    BayesLinear(IDENTITY),
)
"""BayesLIME's line under the Shapley kernel, on coalitions, focused.

Every match is a fair coin, in seeds and in pools: on such coalitions the Shapley kernel gives
Shapley values. The reference draws bins by their frequency, as LIME does, and still weighs them by
the Shapley kernel, which does not give Shapley values. It also has a bug: it scores candidates by
raw inputs instead of matches.
"""

BAYESSHAP_REPOSITORY: Final = Method(
    "BayesSHAP (repository)",
    Focus(100, 2500, 10_000, 1e-2, again=True, coalitions=True),
    Shapley(),
    BayesLinear(IDENTITY),
)
"""BayesSHAP with the defaults of its authors' code, but with fair coins: see `BAYESSHAP`."""

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
"""All background rows in the cluster of the instance's nearest neighbour; nothing is random.

The reference compares raw values for equality, so numbers hardly ever match; here it is by bins.
"""

DLIME_NEAREST: Final = Method("DLIME (nearest)", Cluster(nearest=True), Exponential(), Ridge())
"""DLIME within a budget: the nearest rows of the cluster first."""

US_LIME: Final = Method("US-LIME", Independent(Gauss(0.5)), Exponential(), Boundary())
"""A line fitted to a tenth of the rows asked: those near the decision boundary.

The budget is the usual one. The reference measures distances from the raw instance, which is right
only for standardised data.
"""

US_LIME_PUBLISHED: Final = replace(US_LIME, name="US-LIME (published)", budget=5000)
"""US-LIME as published: its 500 rows are a tenth of the 5,000 asked."""

TILIA: Final = Method("Tilia", Independent(), Exponential(), Tree(selection=Auto(10)), COSINE)
"""A regression tree in place of the line, on the values asked, in either view of a table.

Its importances have no sign. The reference gives them the sign of the explained class, which says
nothing about a direction.
"""

S_LIME: Final = Method("S-LIME", Append(), Exponential(), Ridge(1.0, LassoPath(5)))
"""Rows are added until the lasso path selects up to 5 features in a statistically clear order, or
the budget is spent. The tested path is the one that selects the reported features."""

S_LIME_PUBLISHED: Final = replace(
    S_LIME, name="S-LIME (published)", design=Append(first=1000), budget=10_000
)
"""S-LIME with its authors' settings, except that rows are kept from round to round."""

CLIMAX: Final = Method("CLIMAX", BothLabels(), Exponential(), Logistic())
"""The main part of CLIMAX: rows with both labels in balance, and a logistic line on the labels.

Two steps of the published method are left out: labels by the components of a mixture, and
coefficients divided by their sum.
"""

CLIMAX_PUBLISHED: Final = replace(CLIMAX, name="CLIMAX (published)", budget=2200)
"""CLIMAX with the number of rows that the reference asks when it is set to 500."""

CONTEXT_CITE: Final = Method("ContextCite", Independent(), Unit(), Lasso(), budget=65)
"""ContextCite, for prompts: 64 masks of fair coins, no kernel, a lasso of 0.01; no intervals.

The prompt itself is asked as well, to show what is explained, but takes no part in the fit. This is
the method for a score of one token: see `context_cite`.
"""


def context_cite(tokens: int, alpha: float = 0.01) -> Method:
    """ContextCite for an answer with this number of tokens.

    It divides the log-odds by the number of tokens, and multiplies the scores by it. That is the
    same as a lasso whose penalty is multiplied by it.
    """
    penalty = alpha * integer(tokens, "tokens", 1)
    return replace(CONTEXT_CITE, name=f"ContextCite ({tokens} tokens)", surrogate=Lasso(penalty))


SHAP_KERNEL: Final = Foreign("Kernel SHAP", KernelShap())
"""`shap`'s own KernelExplainer, with ten rows of the background."""

SHAP_PERMUTATION: Final = Foreign("Permutation SHAP", PermutationShap())
"""`shap`'s own PermutationExplainer, with ten rows of the background."""


def calibrated(labels: Iterable[Hashable]) -> Foreign:
    """Calibrated Explanations, by its own package. `labels` are those of the data's rows.

    To calibrate, every explanation asks all rows of the data once, up to 10,000; with less data it
    asks less. The bounds are about calibration, not about sampling.
    """
    given = tuple(plain(label) for label in labels)
    for label in given:
        if not isinstance(label, Hashable):
            raise InputError(f"a label is a class or a number, one for each row, not {label!r}")
    return Foreign(CALIBRATED, Calibrated(given), budget=20_000)


UNRAVEL: Final = Method("UnRAvEL", Unravel(), Unit(), Process(), budget=100)
"""Asks row by row where a Gaussian process is uncertain, near the instance. A score is 1/length.

Scores have no sign and no interval. It differs from the reference in three points. The reference
takes one norm of all candidates together, so locality does not distinguish them; here each has its
own. If all answers are equal, the reference ranks features by untuned lengths; here scores are 0.
The reference goes on with gradient ascent from the best candidates, which by its formula ends near
the line on which all features move together; here the best candidate of a pool is asked.

It is the one method here whose rows may differ between processors. The process is tuned after every
row, and where many lengths are about as likely, rounding decides which one is taken.
"""

UNRAVEL_RELEVANCE: Final = Method(
    "UnRAvEL (relevance)", Unravel(), Unit(), Process("relevance"), budget=100
)
"""UnRAvEL with scores by how much predictions change with a feature, not by length alone.

The reference divides variances by standard deviations here.
"""


def unravel(acquisition: Acquisition = fur, importance: Importance = "lengthscale") -> Method:
    """UnRAvEL that asks by another acquisition, such as `eagle.design.unravel.ei`."""
    how = ", ".join([acquisition.__name__] + ["relevance"] * (importance == "relevance"))
    parts = Unravel(acquisition), Process(importance)
    return replace(UNRAVEL, name=f"UnRAvEL ({how})", design=parts[0], surrogate=parts[1])
