"""Other designs for the rows of a survey: independent rows, and information gain from a pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from eagle.contracts import Array
from eagle.metrics.stability import chance
from eagle.metrics.truth import agreement, relative_error
from eagle.surrogates.reweighted import Buffers
from eagle.survey.law import Indices
from eagle.survey.rows import Drawn
from eagle.survey.weigh import Weights
from evaluation.benches.surveys.accuracy import LIMITS, TOP
from evaluation.benches.surveys.cases import Case, slopes

SURVEY: Final = 1024
POOL: Final = 8192
LIKE: Final = 16
"""Rows of the background whose information is summed."""

SAYS: Final = f"""\
{SURVEY:,} rows chosen in other ways, {{seeds}} seeds, weighed and fitted alike. *Independent*:
drawn from the same law, each by itself. *Gain*: greedily from a pool of {POOL:,} rows of the law,
each time the row that adds most to Σ ½ log det(ZᵀWZ + I), summed over {LIKE} rows of the
background: EAGLE's information gain, for all of them at once.
"""

HEAD: Final = """\
| table | Sobol' rows: error | agreement | independent: error | agreement | gain: error | \
agreement |
|---|---|---|---|---|---|---|"""


def show(case: Case, seeds: int) -> None:
    """Print a table's line."""
    limit = case.limits(LIMITS).mean(axis=0)
    k = min(TOP, max(1, case.d // 2))
    cells = []
    for design in (sobol, independent, gain):
        runs = np.stack([_scores(case, design, seed) for seed in range(seeds)], axis=1)
        error = np.mean([relative_error(s, t) for s, t in zip(runs, limit, strict=True)])
        agreed = np.mean([agreement(s, t, k) for s, t in zip(runs, limit, strict=True)])
        cells.append(f"{error:.3f} | {agreed:.2f}")
    title = f"{case.name}, d = {case.d} (chance {chance(case.d, k):.2f})"
    print(f"| {title} | {' | '.join(cells)} |", flush=True)


def sobol(case: Case, seed: int) -> Drawn:
    return replace(case.setting, seed=seed).plan(SURVEY).drawn


def independent(case: Case, seed: int) -> Drawn:
    """Each row takes each column's value from a row of a long survey by itself."""
    long = replace(case.setting, seed=seed).plan(POOL).drawn
    rng = np.random.default_rng(seed)
    at = rng.integers(0, POOL, (SURVEY, case.d))
    states = np.stack([one[at[:, k]] for k, one in enumerate(long.states)])
    return Drawn(long.background, states, np.take_along_axis(long.steps, at, axis=0))


def gain(case: Case, seed: int) -> Drawn:
    """The rows of a pool that teach most about lines of rows like those of the background."""
    pool = replace(case.setting, seed=seed).plan(POOL).drawn
    chosen = greedy([_seen(case, pool, states) for states in _like(case, seed)], SURVEY)
    return Drawn(pool.background, pool.states[:, chosen], pool.steps[chosen])


def _like(case: Case, seed: int) -> Indices:
    """States of rows like those of the background, shape (LIKE, d)."""
    rng = np.random.default_rng(seed)
    law = case.setting.law
    return np.stack([rng.choice(len(s), LIKE, p=s) for s in law.share], axis=1)


def _seen(case: Case, pool: Drawn, states: Indices) -> tuple[Array, Array]:
    """The pool as an instance sees it: features with a constant, shape (n, d + 1), and weights."""
    z, weight = Weights(case.setting.law, pool.states).of(states, ())
    return np.column_stack([np.ones(len(weight)), z.T]), weight / weight.mean()


def greedy(seen: list[tuple[Array, Array]], rows: int) -> Indices:
    """The places of rows, each time the one that gains most over all instances."""
    inverse = [np.eye(z.shape[1]) for z, _ in seen]
    spread = [np.einsum("ni,ij,nj->n", z, v, z) for (z, _), v in zip(seen, inverse, strict=True)]
    total, out = len(seen[0][1]), []
    left = np.ones(total, dtype=bool)
    for _ in range(rows):
        gains = sum(np.log1p(w * s) for (_, w), s in zip(seen, spread, strict=True))
        best = int(np.argmax(np.where(left, gains, -np.inf)))
        left[best] = False
        out.append(best)
        for k, (z, w) in enumerate(seen):
            along = inverse[k] @ z[best]
            size = w[best] / (1 + w[best] * spread[k][best])
            spread[k] -= size * (z @ along) ** 2
            inverse[k] -= size * np.outer(along, along)
    return np.array(out, dtype=np.intp)


def _scores(case: Case, design: Callable[[Case, int], Drawn], seed: int) -> Array:
    """The scores of all rows, from rows of a design, shape (n, d)."""
    drawn = design(case, seed)
    plan = replace(case.setting.plan(64), drawn=drawn)
    first, which = drawn.distinct
    answers = case.setting.box.ask(plan.table(first), len(first))[which]
    survey = case.survey(64, seed)
    many, weights, buffers = (
        survey.instances(case.rows),
        Weights(survey.setting.law, drawn.states),
        Buffers(),
    )
    out = []
    for i, aim in enumerate(many.targets(case.own, None)):
        z, weight = weights.of(many.states[i], (), buffers)
        y = answers[:, survey.outputs.index(aim)]
        out.append(slopes(z, weight, y, buffers))
    return np.stack(out)
