"""Functions of normal numbers whose best local lines are known.

For offsets z ~ N(0, τ²I) around x the best line has the slopes E[∂f(x + z)] (Stein's lemma), which
have a closed form for all functions here. Standard normal offsets that are weighed by a kernel
exp(-|z|²/S) act as normal offsets of variance τ² = 1/(1 + 2/S); `offset_scale` gives τ. So
`truth(x, τ)` is the limit of the continuous view of `Explainer` with independent rows and no
shrinkage, except that its offsets are 1,023 quantiles of the normal law. A design that chooses its
points, such as EAGLE's, has a slightly different limit if the function is not linear.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from eagle.contracts import Array
from eagle.kernels import Exponential
from evaluation.problems.problem import Problem

D: Final = 10
LEARN: Final = 2000
HELD: Final = 200
LINE: Final = np.array([3.0, -2.0, 1.5, -1.0, 0.5, 0.25, 0.0, 0.0, 0.0, 0.0])


def offset_scale(d: int, kernel: Exponential | None = None) -> float:
    """The scale τ of standard normal offsets in d features after weighing by a kernel."""
    return 1 / math.sqrt(1 + 2 / (kernel or Exponential()).scale(d))


@final
@dataclass(frozen=True)
class Formula:
    """A function of tables of ten columns, and the best line around a row."""

    values: Callable[[Array], Array]
    slopes: Callable[[Array, float], list[float]]

    def __call__(self, table: Any) -> Array:
        return np.asarray(self.values(np.asarray(table, dtype=np.float64).T))

    def truth(self, x: Any, scale: float) -> Array:
        """The best line's slopes around x for normal offsets of this scale, shape (10,)."""
        row = np.asarray(x, dtype=np.float64).reshape(D)
        slopes = [float(slope) for slope in self.slopes(row, scale)]
        return np.array(slopes + [0.0] * (D - len(slopes)))


def _linear(x: Array) -> Array:
    return np.asarray(LINE @ x)


def _linear_slopes(x: Array, scale: float) -> list[float]:
    return list(LINE)


def _additive(x: Array) -> Array:
    return np.asarray(2 * np.sin(2 * x[0]) + x[1] ** 2 - 0.5 * x[2] ** 3 + np.exp(x[3] / 2) - x[4])


def _additive_slopes(x: Array, scale: float) -> list[float]:
    variance = scale**2
    return [
        4 * math.cos(2 * x[0]) * math.exp(-2 * variance),
        2 * x[1],
        -1.5 * (x[2] ** 2 + variance),
        math.exp(x[3] / 2 + variance / 8) / 2,
        -1.0,
    ]


def _interacting(x: Array) -> Array:
    return np.asarray(2 * x[0] * x[1] - x[2] * x[3] * x[4] + x[5] * np.sin(x[6]))


def _interacting_slopes(x: Array, scale: float) -> list[float]:
    smooth = math.exp(-(scale**2) / 2)
    return [
        2 * x[1],
        2 * x[0],
        -x[3] * x[4],
        -x[2] * x[4],
        -x[2] * x[3],
        math.sin(x[6]) * smooth,
        x[5] * math.cos(x[6]) * smooth,
    ]


def _step(x: Array) -> Array:
    return np.asarray(2.0 * (x[0] > 0) - (x[1] > 0.5) + 1.5 * ((x[2] > 0) & (x[3] > -0.5)))


def _step_slopes(x: Array, scale: float) -> list[float]:
    def edge(own: float, at: float) -> float:
        """The derivative of the probability of being above a threshold."""
        return math.exp(-(((own - at) / scale) ** 2) / 2) / (scale * math.sqrt(2 * math.pi))

    def above(own: float, at: float) -> float:
        return math.erfc((at - own) / (scale * math.sqrt(2))) / 2

    return [
        2 * edge(x[0], 0),
        -edge(x[1], 0.5),
        1.5 * edge(x[2], 0) * above(x[3], -0.5),
        1.5 * above(x[2], 0) * edge(x[3], -0.5),
    ]


LINEAR: Final = Formula(_linear, _linear_slopes)
ADDITIVE: Final = Formula(_additive, _additive_slopes)
INTERACTING: Final = Formula(_interacting, _interacting_slopes)
STEP: Final = Formula(_step, _step_slopes)


def linear() -> Problem:
    """A line."""
    return _problem("linear", LINEAR)


def additive() -> Problem:
    """A sum of curves of one number each."""
    return _problem("additive", ADDITIVE)


def interacting() -> Problem:
    """Products of two and of three numbers."""
    return _problem("interacting", INTERACTING)


def step() -> Problem:
    """Thresholds, as a tree has them."""
    return _problem("step", STEP)


def _problem(name: str, formula: Formula) -> Problem:
    """A formula over a table of standard normal numbers.

    Each column's mean and standard deviation are exactly 0 and 1, so that a score is a slope.
    """
    rows = np.random.default_rng(0).standard_normal((LEARN + HELD, D))
    data, held = rows[:LEARN], rows[LEARN:]
    data = (data - data.mean(axis=0)) / data.std(axis=0)
    return Problem(
        name,
        "table",
        formula,
        data,
        held,
        formula(held),
        LEARN,
        D,
        1.0,
        task="regression",
        note="the model is the truth itself; only the first columns matter",
        truth=formula.truth,
    )
