"""What all surrogates have in common: the contracts of a surrogate and of its fit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import UNBOUNDED, Array, Range
from eagle._values.posterior import Posterior
from eagle.contracts import NOTHING, Need, Rows
from eagle.errors import InputError


class Fitted(Protocol):
    """The result of a fit: a score for each feature, and its uncertainty."""

    @property
    def scores(self) -> Array:
        """One score a feature, shape (d,)."""

    @property
    def posterior(self) -> Posterior | None:
        """The uncertainty of the scores; None if the surrogate has none."""

    @property
    def intercept(self) -> float:
        """The answer where all features are 0; NaN where that means nothing."""

    @property
    def local(self) -> float:
        """The surrogate's prediction for the first row, which is the instance."""

    @property
    def r2(self) -> float:
        """The weighted R² on the rows fitted; NaN where the answers do not vary."""

    @property
    def r2_held_out(self) -> float:
        """The same on rows the fit has not seen; NaN where there are none."""

    @property
    def signed(self) -> bool:
        """Whether scores have a direction; if not, they only say how much a feature matters."""


@final
@dataclass(frozen=True, eq=False)
class Fit:
    """A fit as plain numbers."""

    scores: Array
    intercept: float
    local: float
    r2: float
    r2_held_out: float = float("nan")
    posterior: Posterior | None = None
    signed: bool = True


class Fitter(Protocol):
    """A surrogate prepared for its rows. Only the answers are missing."""

    @property
    def nbytes(self) -> int:
        """How much memory it holds besides the rows, in bytes; by default none."""
        return 0

    @property
    def shared(self) -> tuple[Array, ...]:
        """Arrays that it shares with explanations; by default none."""
        return ()

    @abstractmethod
    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fitted:
        """Fit the answers y, shape (N,), which cannot lie outside the bounds."""


@runtime_checkable
class Surrogate(Protocol):
    """A small model of the answers near the instance; a value without state.

    A class that inherits from this one need only have `fit(features, y, weight)`, which returns a
    `Fit`, or its own `on`.
    """

    @property
    def needs(self) -> frozenset[Need]:
        """What the surrogate needs; by default nothing."""
        return NOTHING

    def memory(self, n: int, d: int) -> int:
        """How many numbers it holds, besides n rows of d features, while it is fitted; by default
        none."""
        return 0

    def on(self, rows: Rows) -> Fitter:
        """The fitter: all work that needs the rows but no answers is done here. By default none is,
        and `fit` of the surrogate itself is called with the answers."""
        if not isinstance(self, Direct):
            raise InputError(
                f"the surrogate {type(self).__name__} has no fit(features, y, weight), and no on "
                "of its own"
            )
        return DeferredFit.of(self, rows)


@runtime_checkable
class Direct(Protocol):
    """A surrogate that has nothing to do before the answers come."""

    def fit(self, features: Array, y: Array, weight: Array) -> Fitted: ...


@final
@dataclass(frozen=True, eq=False)
class LazyFitter(Fitter):
    """The fitter of a plan from a file: all work is done with the answers, none when it is read."""

    surrogate: Surrogate
    rows: Rows

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fitted:
        return self.surrogate.on(self.rows).fit(y, bounds)


@final
@dataclass(frozen=True, eq=False)
class DeferredFit(Fitter):
    """The fitter of a surrogate that has nothing to do before the answers come."""

    fit_answers: Callable[[Array], Fitted]
    rows: Rows

    @classmethod
    def of(cls, surrogate: Direct, rows: Rows) -> DeferredFit:
        """The fitter of a surrogate that is fitted to features, answers and weights."""
        return cls(partial(surrogate.fit, rows.features, weight=rows.weight), rows)

    @property
    def nbytes(self) -> int:
        return self.rows.weight.nbytes

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fitted:
        return self.fit_answers(check_answers(y, self.rows.weight))


def check_answers(y: Array, weight: Array) -> Array:
    """Answers as floats, one for each weight."""
    y = np.asarray(y, dtype=np.float64)
    if y.shape != weight.shape:
        raise InputError(f"{len(weight)} points need as many answers, not {y.shape}")
    return y


def is_flat(y: Array) -> bool:
    """Whether answers differ by no more than rounding; unknown answers, NaN, are ignored."""
    known = y[~np.isnan(y)]
    return not len(known) or bool(np.ptp(known) <= 1e-12 * np.abs(known).max())


def columns_that_move(features: Array) -> NDArray[np.bool_]:
    """Which columns differ from the first row somewhere, shape (d,); missing equals missing."""
    own = features[0]
    return np.asarray(((features != own) & ~(np.isnan(features) & np.isnan(own))).any(axis=0))


def weighted_r2(y: Array, predicted: Array, weight: Array) -> float:
    """The weighted R² of predictions; NaN if the answers do not vary."""
    if not len(y) or is_flat(y):
        return float("nan")
    middle = float(y[0] + weight @ (y - y[0]) / weight.sum())
    spread = float(weight @ (y - middle) ** 2)
    return 1.0 - float(weight @ (y - predicted) ** 2) / spread if spread > 0 else float("nan")
