"""The methods of the evaluation, by the names that experiments use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, final

from eagle import Method, methods, peers
from eagle._engine.method import Choice
from eagle.contracts import Need
from eagle.designs.greedy import Greedy
from eagle.errors import InputError
from eagle.explainer import Explainer
from eagle.peers.focus import Focus
from eagle.peers.independent import Independent
from eagle.surrogates.bayes import BayesLinear, Prior
from evaluation.problems.problem import Problem
from evaluation.trial import Option

SHIFT: Final = 64.0
"""The step of a segment's brightness, of 255, for methods that only have offsets."""

LIMIT: Final = "limit"
"""The option for the limit of a method, computed in the fastest way."""


@final
@dataclass(frozen=True)
class Contestant:
    """A method, and another that converges to the same limit faster, if there is one.

    `endless` is False if no affordable number of rows gives a limit.
    """

    method: Method | Choice
    limit: Method | None = None
    endless: bool = True

    def fits(self, problem: Problem) -> bool:
        """Whether the method can be used for a problem."""
        if problem.kind == "table":
            return True
        offsets = Need.OFFSETS in self.method.needs
        return Need.TABLE not in self.method.needs and not (offsets and problem.kind == "text")

    def explainer(
        self, problem: Problem, options: dict[str, Option], budget: int, seed: int
    ) -> Explainer:
        """The explainer of a problem by this method, changed by options."""
        options = dict(options)
        method = self.method
        if options.pop(LIMIT, None) and self.limit is not None:
            method = self.limit
            budget = max(budget, method.budget)
        method = varied(method, options, problem)
        offsets = Need.OFFSETS in method.needs
        view, segments = options.pop("view", "binned"), options.pop("segments", None)
        if options:
            raise InputError(f"no method knows the option {next(iter(options))!r}")
        if problem.kind == "table":
            view = "continuous" if offsets else "binned" if Need.MATCHES in method.needs else view
            base = around(problem, view=view)
        else:
            base = around(problem, shift=SHIFT if offsets else None, segments=segments)
        return base.with_options(method, budget=budget, random_state=seed)


@lru_cache(maxsize=6)
def around(
    problem: Problem, *, view: Any = None, shift: float | None = None, segments: Any = None
) -> Explainer:
    """An explainer of the problem. All methods and seeds share its summary of the data."""
    if problem.kind == "image":
        segments = problem.data.segments if segments is None else segments
        data = replace(problem.data, shift=shift, segments=segments)
        return replace(problem, data=data).explainer()
    return problem.explainer(view=view) if problem.kind == "table" else problem.explainer()


def varied(
    method: Method | Choice, options: dict[str, Option], problem: Problem
) -> Method | Choice:
    """The method with another pool or prior. Options that are used are removed from `options`.

    `precision` is λ/d, for every coefficient as in the paper.
    """
    if not {"pool", "precision"} & set(options):
        return method
    if isinstance(method, Choice) or not isinstance(method.design, Greedy):
        raise InputError(f"{method.name} has no pool and no prior to vary")
    design, surrogate = method.design, method.surrogate
    if "pool" in options:
        design = replace(design, pool=int(options.pop("pool")))
    if "precision" in options:
        if problem.d is None:
            raise InputError(f"λ/d needs a d, but it differs between instances of {problem.name}")
        ratio = float(options.pop("precision"))
        prior = Prior(slopes=ratio * problem.d, intercept=None)
        design, surrogate = replace(design, prior=prior), BayesLinear(prior)
    return replace(method, design=design, surrogate=surrogate)


CONVERGED: Final = "converged"
"""LIME's limit: independent rows, a free intercept, almost no shrinkage."""

CONTESTANTS: Final[dict[str, Contestant]] = {
    CONVERGED: Contestant(
        replace(
            peers.LIME,
            name=CONVERGED,
            design=Independent(),
            surrogate=BayesLinear(Prior(slopes=1e-6)),
        )
    ),
    "LIME": Contestant(peers.LIME),
    "GLIME": Contestant(peers.GLIME),
    "BayLIME": Contestant(peers.BAYLIME),
    "BayesLIME": Contestant(
        peers.BAYESLIME,
        # The same share of each pool, but with a hundred calls instead of two thousand.
        replace(peers.BAYESLIME, design=Focus(batch=200, pool=20_000)),
    ),
    "BayesLIME (unfocused)": Contestant(peers.BAYESLIME_IID),
    "DLIME": Contestant(peers.DLIME_NEAREST, peers.DLIME),
    "US-LIME": Contestant(peers.US_LIME),
    "Tilia": Contestant(peers.TILIA),
    "UnRAvEL": Contestant(peers.UNRAVEL, endless=False),
    "EAGLE (paper)": Contestant(methods.EAGLE_PAPER),
    "EAGLE": Contestant(methods.EAGLE),
    "balanced": Contestant(methods.EAGLE_BALANCED),
    "default": Contestant(methods.DEFAULT),
}
