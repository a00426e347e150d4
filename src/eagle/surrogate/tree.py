"""Tilia's surrogate: a regression tree, whose importances have no sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from eagle.surrogate.fit import Fit, Fitter, Later, is_flat, weighted_r2
from eagle.surrogate.select import Selection
from eagle.types import Array, InputError, MissingExtraError

FEWEST = 10
"""Rows below which nothing is held out and no depth is searched."""


@final
@dataclass(frozen=True)
class Tree:
    """Impurity importances of a tree; its depth is the best of `depths` in two-fold validation.

    A fifth of the rows, always the same for as many, is held out for `r2_held_out`. Splits do
    not depend on the scale of a feature, so features serve as well as raw values. Scores are
    not negative and sum to 1, or are all 0 where the tree is a leaf.
    """

    depths: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 9)
    selection: Selection | None = None
    seed: int = 42

    def __post_init__(self) -> None:
        depths = self.depths if isinstance(self.depths, tuple) else ()
        if not depths or not all(type(k) is int and 0 < k < 2**31 for k in depths):
            raise InputError(f"depths are whole numbers from 1 in a tuple, not {self.depths!r}")
        if type(self.seed) is not int or not 0 <= self.seed < 2**32:
            raise InputError(f"the seed of a tree is below 2^32 and not negative: {self.seed!r}")
        if self.selection is not None and not hasattr(self.selection, "choose"):
            raise InputError(f"a tree's selection chooses features, and is not {self.selection!r}")

    def on(self, features: Array, weight: Array) -> Fitter:
        return Later(self, features, weight)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        d = features.shape[1]
        y = np.full_like(y, y[0]) if is_flat(y) else y
        chosen = (
            np.arange(d) if self.selection is None else self.selection.choose(features, y, weight)
        )
        z, unit = features[:, chosen], float(np.ptp(y)) or 1.0
        # Equal but for rounding is equal: else a split or a depth could hang on the last digit.
        lift = np.round((y - y[0]) / unit, 9)
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
        try:
            from sklearn.tree import DecisionTreeRegressor
        except ImportError:
            raise MissingExtraError("a tree", "scikit-learn", "peers") from None
        return DecisionTreeRegressor(max_depth=depth, random_state=self.seed)

    def _split(self, n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows to fit, and rows held out."""
        every = np.arange(n)
        if n < FEWEST:
            return every, every[:0]
        from sklearn.model_selection import train_test_split

        train, test = train_test_split(every, test_size=0.2, random_state=self.seed)
        return train, test

    def _depth(self, z: Array, y: Array, weight: Array) -> int:
        """The depth with the best mean R² over two shuffled folds; the shallower of equals."""
        if len(y) < FEWEST or len(self.depths) == 1:
            return self.depths[0]
        from sklearn.model_selection import KFold

        folds = list(KFold(2, shuffle=True, random_state=self.seed).split(z))
        score = [
            np.mean([self._score(depth, z, y, weight, f) for f in folds]) for depth in self.depths
        ]
        return self.depths[int(np.argmax(score))]

    def _score(self, depth: int, z: Array, y: Array, weight: Array, fold: Any) -> float:
        from sklearn.metrics import r2_score

        train, test = fold
        tree = self._tree(depth).fit(z[train], y[train], sample_weight=weight[train])
        return float(r2_score(y[test], tree.predict(z[test])))
