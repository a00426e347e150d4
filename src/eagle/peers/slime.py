"""S-LIME: add rows until the order in which features are selected is statistically clear."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from eagle._engine.method import Method
from eagle._values.arrays import Array, Points
from eagle._values.checks import number
from eagle._values.text import finite, short_repr
from eagle._values.ties import TIE, best
from eagle.contracts import Adaptive, Kernel, Seen, Space
from eagle.designs.law import check_sizes, draw_with_instance
from eagle.errors import InputError
from eagle.kernels import Exponential
from eagle.peers.lasso_path import PathColumns, path, path_columns, steps_to
from eagle.peers.selection import LassoPath
from eagle.surrogates.ridge import Ridge


@final
@dataclass(frozen=True)
class Margin:
    """The lead of the feature that is selected over the next one, and its standard error.

    Both are in units of the answers' standard deviation.
    """

    lead: float
    error: float

    def passes(self, z: float, tol: float) -> bool:
        """Whether the lead is at least z standard errors minus `tol`."""
        return self.lead >= z * self.error - tol

    def rows(self, n: int, z: float) -> int:
        """The number of rows at which the lead would be z standard errors; at most 2n."""
        if not self.lead > 0:
            return 2 * n
        wanted = n * (z * self.error / self.lead) ** 2
        return math.ceil(min(wanted * (1 - TIE), 2 * n))  # rounding must not add a row


@final
@dataclass(frozen=True)
class Append(Adaptive):
    """Independent rows, and more of them until every step of the selection passes a test.

    The steps are those of the lasso path on which `LassoPath(k)` selects features, so the test is
    about the features that are reported. A step passes if the selected feature correlates with
    the residual clearly more than the next one: c₁ − c₂ ≥ z√(2·Var/n) − tol, at the error
    probability `alpha`. Here c is the mean of column × residual, and Var is the variance of the
    difference of these products. The factor 2 is there because a new sample would have an error of
    its own. If a step fails, n grows to n(z/z_p)², at most to 2n.

    `tol` is in units of the answers' standard deviation (of √weight × answer, as on the path), so
    the test does not depend on the answers' unit. The authors' 1e-3 is absolute: for probabilities
    of standard deviation s it equals 1e-3/s here, so our test is stricter. New rows are added to
    the old ones; the published form draws all rows again.
    """

    k: int = 5
    first: int = 100
    alpha: float = 0.05
    tol: float = 1e-3

    def __post_init__(self) -> None:
        check_sizes(k=self.k, first=self.first)
        if not finite(self.alpha) or not 0 < self.alpha < 0.5:
            raise InputError(f"alpha is between 0 and ½, not {short_repr(self.alpha)}")
        number(self.tol, "tol, a share of the answers' spread,", 0.0)

    def ask(
        self, seen: Seen, space: Space, kernel: Kernel, left: int, rng: np.random.Generator
    ) -> Points:
        if not len(seen):
            return draw_with_instance(space, min(self.first, left), rng)
        wanted = self.rows_wanted(seen.rows.features, seen.y, seen.rows.weight)
        return space.draw(min(max(wanted - len(seen), 0), left), rng)

    def rows_wanted(self, features: Array, y: Array, weight: Array) -> int:
        """The number of rows that the test asks for; the present number if all steps pass."""
        from scipy.special import ndtri

        n, z = len(y), float(ndtri(1 - self.alpha))
        for margin in self.margins(features, y, weight):
            if not margin.passes(z, self.tol):
                return margin.rows(n, z)
        return n

    def margins(self, features: Array, y: Array, weight: Array) -> list[Margin]:
        """The margin of each step at which a feature is selected over rivals."""
        rows = path_columns(features, y, weight)
        steps = steps_to(path(rows), self.k)
        return [
            _margin(rows, step.before, step.enters, step.rivals)
            for step in steps
            if step.enters is not None and step.rivals
        ]


def _margin(rows: PathColumns, slopes: Array, first: int, rivals: tuple[int, ...]) -> Margin:
    residual, reach = rows.residual(slopes), rows.reach(slopes)
    second = rivals[best(np.abs(reach[list(rivals)]))]
    one, two = (
        _with_positive_mean(rows.x[:, j] * residual, abs(reach[first])) for j in (first, second)
    )
    lead = one - two
    return Margin(float(lead.mean()), math.sqrt(2 * float(lead.var(ddof=1)) / len(lead)))


def _with_positive_mean(products: Array, top: float) -> Array:
    """Products with the sign that makes their mean positive. A mean of rounding keeps its sign."""
    return -products if products.mean() < -TIE * top else products


S_LIME: Final = Method("S-LIME", Append(), Exponential(), Ridge(1.0, LassoPath(5)))
"""Rows are added until the lasso path selects up to 5 features in a statistically clear order, or
the budget is spent. The tested path is the one that selects the reported features.

Its authors begin with 1,000 rows and end at 10,000: `replace(S_LIME, design=Append(first=1000),
budget=10_000)`, except that rows are kept here from round to round.
"""
