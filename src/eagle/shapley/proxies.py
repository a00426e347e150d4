"""Proxies of the model, fitted to its answers: three of a kind, each to two thirds of the rows.

A row's own proxy has not seen the row. Candidates are a plain line, trees, and curves with trees on
what they leave; the line is taken where it leaves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle.shapley.curves import CurveSum, fit_curves, fit_line
from eagle.shapley.layout import Layout, Values
from eagle.shapley.trees import Trees, fit_trees

FOLDS: Final = 3

MAX_ROWS: Final = 100_000
"""Maximum number of rows that a proxy is fitted to."""

NOTHING_LEFT: Final = 1e-9
"""A line is taken if it misses no answer by more than this share of their spread."""


class Proxy(Protocol):
    """A function whose Shapley values are known exactly."""

    def predict(self, rows: Array) -> Array:
        """Its answers, shape (n,)."""

    def values_over(self, background: Array, layout: Layout) -> Values:
        """What makes its Shapley values."""

    def check(self, layout: Layout) -> None:
        """Raise a ValueError if it is of other columns, as one of a damaged file may be."""


@final
@dataclass(frozen=True, eq=False)
class Both:
    """Curves, and trees on what they leave."""

    curves: CurveSum
    trees: Trees

    def predict(self, rows: Array) -> Array:
        return self.curves.predict(rows) + self.trees.predict(rows)

    def values_over(self, background: Array, layout: Layout) -> Values:
        parts = (self.curves, self.trees)
        return partial(_sum, [part.values_over(background, layout) for part in parts])

    def check(self, layout: Layout) -> None:
        self.curves.check(layout)
        self.trees.check(layout)


def _sum(parts: Sequence[Values], rows: Array) -> Array:
    return np.asarray(sum(part(rows) for part in parts))


Fit: TypeAlias = Callable[[Array, Array, Layout, int], Proxy]


def line(rows: Array, answers: Array, layout: Layout, seed: int) -> Proxy:
    return fit_line(rows, answers, layout)


def trees(rows: Array, answers: Array, layout: Layout, seed: int) -> Proxy:
    return fit_trees(rows, answers, layout, seed=seed)


def curves_and_trees(rows: Array, answers: Array, layout: Layout, seed: int) -> Proxy:
    curves = fit_curves(rows, answers, layout, seed)
    rest = answers - curves.predict(rows)
    return Both(curves, fit_trees(rows, rest, layout, seed=seed))


def folds_of(rows: int, seed: int) -> NDArray[np.intp]:
    """The fold of each row, by the seed: as even as can be, shape (n,)."""
    rng = np.random.Generator(np.random.PCG64([seed, FOLDS]))
    order = np.argsort(rng.random(rows), kind="stable")
    out = np.empty(rows, dtype=np.intp)
    out[order] = np.arange(rows) % FOLDS
    return out


def some_of(rows: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    """At most `MAX_ROWS` of some rows, drawn by the seed, in order."""
    if len(rows) <= MAX_ROWS:
        return rows
    rng = np.random.Generator(np.random.PCG64([seed, MAX_ROWS]))
    return rows[np.sort(np.argsort(rng.random(len(rows)), kind="stable")[:MAX_ROWS])]
