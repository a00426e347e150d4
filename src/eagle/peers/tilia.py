"""Tilia: a regression tree in place of the line, whose importances have no sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.method import Method
from eagle._tables.neighbours import fill_missing
from eagle._values.arrays import Array
from eagle._values.packages import package
from eagle._values.text import short_repr
from eagle._values.ties import best
from eagle.contracts import Need
from eagle.errors import InputError
from eagle.kernels import COSINE, Exponential
from eagle.peers.independent import Independent
from eagle.peers.selection import Auto
from eagle.surrogates.fit import Fit, Surrogate, is_flat, weighted_r2
from eagle.surrogates.ridge import Selection

MIN_ROWS = 10
"""With fewer rows, none is held out and no depth is searched."""

SCALE_EXPONENT: Final = 60
"""Columns are scaled up to 2 to this power: far below the largest number of single precision, and
far above 1e-7, within which scikit-learn's trees treat values as equal."""

MAX_DEPTH: Final = 100
MIN_NUMBER: Final = 2.0**-500
"""A number far below every other, which is not 0."""

ANSWERS: Final = 2.0**20
WEIGHTS: Final = 2.0**19
"""Answers and weights are rounded to multiples of 1/`ANSWERS` and 1/`WEIGHTS`, so that sums of up
to 16,384 products are exact. Equally good splits are then equal to the last digit on every machine,
and scikit-learn's order of columns decides."""


@final
@dataclass(frozen=True)
class Tree(Surrogate):
    """Impurity importances of a tree; its depth is the best of `depths` in two-fold validation.

    It is fitted on the values asked: numbers as they are, levels as codes, missing as NaN, and
    of images and texts the masks. A fifth of the rows is held out for `r2_held_out`: the same ones
    for the same number of rows. Scores are not negative and sum to 1; they are all 0 if the tree is
    a leaf.

    A `selection` comes first. It sees the column's mean where a value is missing, which a line
    cannot use. With `raw` it sees the values themselves, as in Tilia: `Highest` then ranks by
    |coefficient × value at the instance|, which is 0 where the instance has 0. Without, it sees
    standardised offsets from the instance, where no column counts more for its unit or its origin.
    """

    depths: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 9)
    selection: Selection | None = None
    seed: int = 42
    raw: bool = False
    needs: ClassVar = frozenset({Need.VALUES})

    def __post_init__(self) -> None:
        depths = self.depths if isinstance(self.depths, tuple) else ()
        if not depths or not all(type(k) is int and 0 < k < 2**31 for k in depths):
            raise InputError(
                f"depths are integers from 1 in a tuple, not {short_repr(self.depths)}"
            )
        if type(self.seed) is not int or not 0 <= self.seed < 2**32:
            raise InputError(
                f"the seed of a tree is below 2^32 and not negative: {short_repr(self.seed)}"
            )
        if self.selection is not None and not isinstance(self.selection, Selection):
            raise InputError(
                f"a tree's selection chooses features, and is not {short_repr(self.selection)}"
            )
        if type(self.raw) is not bool:
            raise InputError(
                "raw is True or False, whether a selection sees the values themselves, "
                f"not {short_repr(self.raw)}"
            )

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        d = features.shape[1]
        y = np.full_like(y, y[0]) if is_flat(y) else y
        z, unit = scale_columns(features), float(np.ptp(y)) or 1.0
        chosen = np.arange(d)
        if self.selection is not None:
            seen = _values(features) if self.raw else _offsets(z)
            chosen = self.selection.choose(seen, y, weight)
        z, lift, weight = single(z[:, chosen]), _answers(y, unit), _weights(weight)
        train, test = self._split(len(y))
        depth = self._depth(z[train], lift[train], weight[train])
        tree = self._tree(depth).fit(z[train], lift[train], sample_weight=weight[train])
        says = tree.predict(z)
        scores = np.zeros(d)
        scores[chosen] = tree.feature_importances_
        local = float(y[0] + unit * says[0])
        r2 = weighted_r2(lift[train], says[train], weight[train])
        held = weighted_r2(lift[test], says[test], weight[test])
        return Fit(scores, float("nan"), local, r2, held, signed=False)

    def _tree(self, depth: int) -> Any:
        trees = package("sklearn.tree", "a tree", "peers")
        return trees.DecisionTreeRegressor(max_depth=depth, random_state=self.seed)

    def _split(self, n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows to fit, and rows held out."""
        every = np.arange(n)
        if n < MIN_ROWS:
            return every, every[:0]
        from sklearn.model_selection import train_test_split

        train, test = train_test_split(every, test_size=0.2, random_state=self.seed)
        return train, test

    def _depth(self, z: Array, y: Array, weight: Array) -> int:
        """The depth with the best mean R² over two shuffled folds; of equals the first."""
        if len(y) < MIN_ROWS or len(self.depths) == 1:
            return self.depths[0]
        from sklearn.model_selection import KFold

        folds = list(KFold(2, shuffle=True, random_state=self.seed).split(z))
        score = [
            np.mean([self._score(depth, z, y, weight, f) for f in folds]) for depth in self.depths
        ]
        return self.depths[best(np.array(score))]

    def _score(self, depth: int, z: Array, y: Array, weight: Array, fold: Any) -> float:
        from sklearn.metrics import r2_score

        train, test = fold
        tree = self._tree(depth).fit(z[train], y[train], sample_weight=weight[train])
        return float(r2_score(y[test], tree.predict(z[test])))


def scale_columns(values: Array) -> Array:
    """Each column times a power of two, exactly, so that its largest size is near 2^HIGH.

    A tree's splits do not depend on a factor, but its numbers are of single precision.
    """
    _, power = np.frexp(np.fmax.reduce(np.abs(values), axis=0, initial=0.0))
    return np.asarray(np.ldexp(values, SCALE_EXPONENT - power))


def single(values: Array) -> Array:
    """Columns for single precision: as they are, or minus their least value if that is needed.

    Large numbers that differ little, such as times, are equal in single precision.
    """
    out = values.copy()
    for j, column in enumerate(values.T):
        least = column - np.fmin.reduce(column)
        if _count_distinct(least) > _count_distinct(column):
            out[:, j] = least
    return out


def _count_distinct(column: Array) -> int:
    return len(np.unique(column.astype(np.float32)))


def _values(values: Array) -> Array:
    """Values with the column's mean where they are missing; the instance's 0 is as good as 0.

    A selection takes a 0 of the instance for an offset, whose coefficient alone counts. Columns
    whose largest size is beyond 2^±REACH are scaled to it, so that their squares are finite.
    """
    _, power = np.frexp(np.fmax.reduce(np.abs(values), axis=0, initial=0.0))
    within = np.ldexp(values, np.clip(power, -MAX_DEPTH, MAX_DEPTH) - power)
    full = fill_missing(within, within)
    full[0, full[0] == 0] = MIN_NUMBER
    return np.asarray(full)


def _offsets(values: Array) -> Array:
    """Standardised offsets from the first row; missing values are at their column's mean."""
    full = fill_missing(values, values)
    spread = full.std(axis=0)
    return np.asarray((full - full[0]) / np.where(spread > 0, spread, 1.0))


def _answers(y: Array, unit: float) -> Array:
    """Answers minus the first, over their range, in multiples of 2^−20."""
    return np.asarray(np.rint((y - y[0]) / unit * ANSWERS) / ANSWERS)


def _weights(weight: Array) -> Array:
    """Weights over the largest, in multiples of 2^−19, at least one of them."""
    return np.asarray(np.maximum(np.rint(weight / weight.max() * WEIGHTS), 1.0) / WEIGHTS)


TILIA: Final = Method(
    "Tilia", Independent(), Exponential(), Tree(selection=Auto(10), raw=True), COSINE
)
"""A regression tree in place of the line, on the values asked, in either view of a table.

Of more than ten features it keeps those with the largest |coefficient × value at the instance|, by
a ridge of 0.01 on the values. The reference does so unless told to keep all, as in its experiments:
`replace(peers.TILIA, surrogate=Tree())`.

Its importances have no sign. The reference gives them the sign of the explained class, which says
nothing about a direction.
"""
