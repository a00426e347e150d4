"""What BayesLIME and BayesSHAP share: rows where predictions are least certain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array, Points
from eagle._values.checks import check_flags, number
from eagle._values.text import short_repr
from eagle.contracts import Adaptive, Kernel, Need, Seen, Space
from eagle.designs.law import (
    by_kernel,
    by_players,
    check_sizes,
    draw_with_instance,
    even,
    quantile,
    uniforms,
)
from eagle.designs.law import coalitions as draw_coalitions
from eagle.errors import InputError
from eagle.surrogates.bayes import BayesLinear, Prior

IDENTITY = Prior(1.0, 1.0)
"""BayesLIME's prior: a precision of 1 on every coefficient, the intercept's too."""


@final
@dataclass(frozen=True)
class Focus(Adaptive):
    """Seeds, then batches drawn from fresh pools with probability ∝ exp(std/τ).

    std is the scale s·√(1 + zᵀVz) of the predictive law, so the answers decide how strongly
    uncertain candidates are preferred. Locality plays no part. With `again` a candidate may be
    drawn twice in a batch. With `coalitions` rows are drawn as in BayesSHAP: every match is a fair
    coin. (Its reference draws bins by their frequency, which is not the Shapley kernel's law.)
    """

    seeds: int = 10
    batch: int = 10
    pool: int = 1000
    temperature: float = 5e-4
    again: bool = False
    coalitions: bool = False
    surrogate: BayesLinear = field(default_factory=lambda: BayesLinear(IDENTITY))

    def __post_init__(self) -> None:
        check_flags(again=self.again, coalitions=self.coalitions)
        check_sizes(seeds=self.seeds, batch=self.batch, pool=self.pool)
        number(self.temperature, "a temperature", above=0.0)
        _check_line(self.surrogate)

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.MATCHES}) if self.coalitions else frozenset()

    def ask(
        self, seen: Seen, space: Space, kernel: Kernel, left: int, rng: np.random.Generator
    ) -> Points:
        if not len(seen):
            return _first(space, min(self.seeds, left), rng, self.coalitions)
        fit = self.surrogate.fit(seen.rows.features, seen.y, seen.rows.weight)
        pool = _draw(space, self.pool, rng, self.coalitions)
        _, std = fit.predict(space.features(pool))
        return pool[self._choose(std, min(self.batch, left), rng)]

    def _choose(self, std: Array, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """n candidates with probability ∝ exp(std/τ).

        The largest std is subtracted first, so nothing overflows. Draws with replacement invert
        the CDF; draws without replacement use the Gumbel trick.
        """
        raw = np.asarray(rng.bit_generator.random_raw(n if self.again else len(std)))
        uniform = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        above = (std - std.max()) / self.temperature
        if self.again:
            law = np.cumsum(np.exp(above))
            return np.asarray(np.searchsorted(law, uniform * law[-1], side="right"))
        return np.argsort(np.log(-np.log(uniform)) - above, kind="stable")[:n]

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return _weight(space, kernel, features, self.coalitions)


def _first(space: Space, n: int, rng: np.random.Generator, coalitions: bool) -> Points:
    """The rows of the first round; the first is the instance."""
    if coalitions:
        return draw_coalitions(space, uniforms(space, n, rng))
    return draw_with_instance(space, n, rng)


def _draw(space: Space, n: int, rng: np.random.Generator, coalitions: bool) -> Points:
    """n new rows, by the space's own law or as coalitions."""
    if not coalitions:
        return space.draw(n, rng)
    return quantile(even(space), uniforms(space, n, rng)).astype(space.origin.dtype)


def _weight(space: Space, kernel: Kernel, features: Array, coalitions: bool) -> Array:
    if coalitions:
        return by_players(space, kernel, features)
    return by_kernel(space, kernel, features)


def _check_line(line: object) -> None:
    if not isinstance(line, BayesLinear):
        raise InputError(f"rows are focused by a BayesLinear, not by {short_repr(line)}")
