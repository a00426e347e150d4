"""The default: for each instance the method that suits it, and what it is made of.

Which one suits was measured: docs/adr/0004-wide-tables.md, 0005-masks.md and 0008-few-paid-rows.md.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from eagle._engine.method import Choice, Method
from eagle._sources.masks import is_carried
from eagle.designs.balanced import Sobol
from eagle.designs.complements import Complements
from eagle.designs.gains import Gains
from eagle.designs.greedy import Greedy
from eagle.designs.latin import Latin
from eagle.designs.law import Absorbed, Clipped
from eagle.kernels import COSINE, Exponential
from eagle.surrogates.bayes import BayesLinear
from eagle.surrogates.functional import Functional
from eagle.surrogates.heldout import HeldOut
from eagle.surrogates.pairs import Paired
from eagle.surrogates.ridge import Ridge
from eagle.surrogates.robust import Robust

EAGLE: Final = Method("EAGLE", Greedy(), Exponential(), BayesLinear(), COSINE)
"""Algorithm 1, read consistently: greedy within a batch, a free intercept, λ = 1. On masks it has
LIME's kernel of masks."""

EAGLE_BALANCED: Final = Method("balanced", Sobol(), Exponential(), Robust(balanced=True), COSINE)
"""Balanced rows: it converges to the same explanation as LIME, with the fewest rows of all.

Rows are scrambled Sobol' points, drawn by the kernel instead of being weighed by it. The intercept
is free and λ = 1, as in `EAGLE`. Each row has the weight π̄, the kernel's mean weight, so λ shrinks
as much as it would under the kernel. Intervals are those of `Robust`; with `BayesLinear()` in its
place they are the posterior's.
"""

LATIN: Final = Method("latin", Latin(Clipped()), Exponential(), HeldOut())
"""For tables with fewer than four rows a feature, up to any number of features.

Rows are a Latin hypercube, since the columns of Sobol' points repeat there. Scores and intervals
come from residuals of held-out rows. Each value changes, and stays, in at least one row of eight.
Plans do not grow.
"""

GREEDY: Final = replace(EAGLE, name="EAGLE (few rows)", surrogate=Ridge())
"""`EAGLE` for fewer than two rows a part: its scores, without intervals, which would not hold."""

MASKS: Final = Method("balanced masks", Complements(), Exponential(), Paired(), COSINE)
"""For images and texts: masks in pairs with their complements, none twice; intervals from pairs.

It converges to the same explanation as `EAGLE_BALANCED`, with fewer rows
(`python -m evaluation bench masks`). If all masks fit into the budget, more rows would change no
score.
"""

EAGLE_PROCESS: Final = Method(
    "EAGLE (process)", Gains(), Exponential(), Functional(), COSINE, budget=128
)
"""For 16 to 256 rows that are paid for: EAGLE's information gain about the scores themselves, under
a Gaussian process of the answers in place of a line.

It converges to the same explanation as `EAGLE_BALANCED`. It works on masks and in the binned view
of tables (docs/adr/0008-few-paid-rows.md). With `Functional(logit=True)` in place of its surrogate
it may predict probabilities of masks by their log-odds, and gives no intervals; scores are still
for probabilities.
"""

PARTS: Final = EAGLE, EAGLE_BALANCED, LATIN, GREEDY, MASKS, EAGLE_PROCESS
"""What the default may choose."""

ENOUGH_ROWS: Final = 40
"""A score needs at least this many rows with the value changed and as many with it kept."""

MANY_PARTS: Final = 1000
FEWER_CANDIDATES: Final = 100
"""Above so many parts greedy rows are chosen from fewer candidates: the scores are as near, and the
plan takes a fifth of the time (`python -m evaluation bench many --pools`)."""

MIN_CHANGE_SHARE: Final = 1 / 32
"""The least share of rows in which a law of tables changes a value, or keeps it."""


@lru_cache(256)
def choose(d: int, masks: bool, rows: int, growing: bool) -> Method:
    """The method for d features. It is the same value each time, so that rows share plans."""
    if masks:
        if is_carried(d, rows):
            return MASKS
        if growing:
            return EAGLE_BALANCED
        return replace(GREEDY, design=Greedy(pool=FEWER_CANDIDATES)) if d > MANY_PARTS else GREEDY
    law = (
        Clipped(min(1 / 8, ENOUGH_ROWS / rows))
        if rows * MIN_CHANGE_SHARE < ENOUGH_ROWS
        else Absorbed()
    )
    if d > 16 and rows < (6 if d > 100 else 4) * d and not growing:
        return replace(LATIN, design=Latin(law))
    return replace(EAGLE_BALANCED, design=Sobol(law))


def choose_paid(d: int, masks: bool, rows: int, growing: bool) -> Method:
    """The same where each row is paid for."""
    least = 2 * (d + 1) if growing else 2 * d  # a plan that grows needs intervals
    return EAGLE_PROCESS if masks and least <= rows <= 256 else choose(d, masks, rows, growing)


DEFAULT: Final = Choice("default", choose, dear=Choice("default", choose_paid, budget=128))
"""The default of an explainer: for each instance the method that suits it.

Images, texts and other parts: masks in pairs with their complements, all masks if they fit into the
budget; with fewer than two rows a part the greedy rows of `EAGLE`, without intervals. Tables:
`EAGLE_BALANCED`, or a Latin hypercube with fewer than about four rows a feature. With fewer than
1,280 rows, rare changes are drawn more often than by the kernel, so that no score depends on a
handful of rows.

Prompts, whose rows are paid for, are asked 128 rows unless you say otherwise, by `EAGLE_PROCESS`
up to 256 (`python -m evaluation bench prompts`).
"""
