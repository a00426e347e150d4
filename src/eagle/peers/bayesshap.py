"""BayesSHAP: coalitions of features, each as likely as any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from eagle._engine.method import Method
from eagle._values.arrays import Array, Points
from eagle.contracts import Kernel, Need, Planned, Space
from eagle.designs.law import by_players, coalitions, uniforms
from eagle.kernels import Shapley
from eagle.peers.focus import IDENTITY, Focus
from eagle.surrogates.bayes import BayesLinear


@final
@dataclass(frozen=True)
class Coalitions(Planned):
    """The instance, a row that matches it nowhere, then rows whose matches are fair coins.

    The frequencies of bins and levels play no part. BayesSHAP's reference draws by these
    frequencies, but the Shapley kernel assumes that every player joins with the same probability.
    """

    needs: ClassVar = frozenset({Need.MATCHES})

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d). All spaces share the uniforms."""
        if not spaces:
            return []
        uniform = uniforms(spaces[0], budget, rng)
        return [coalitions(space, uniform) for space in spaces]

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return by_players(space, kernel, features)


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

BAYESSHAP_IID: Final = Method(
    "BayesSHAP (unfocused)", Coalitions(), Shapley(), BayesLinear(IDENTITY)
)
"""BayesSHAP without focus: planned, one call. Every match is a fair coin: see `BAYESSHAP`."""
