"""What every surrogate gives, whatever it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from eagle.surrogate.posterior import Posterior
from eagle.types import Array, InputError, Need, Rows


class Fitted(Protocol):
    """What the answers taught: a score for each feature, and how sure it is."""

    @property
    def scores(self) -> Array:
        """One score a feature, shape (d,)."""

    @property
    def posterior(self) -> Posterior | None:
        """How sure the scores are; None where the surrogate does not know."""

    @property
    def intercept(self) -> float:
        """The answer where all features are 0; NaN where that means nothing."""

    @property
    def local(self) -> float:
        """What the surrogate says of the first row: the instance itself."""

    @property
    def r2(self) -> float:
        """The weighted R² on the rows fitted; NaN where the answers do not vary."""

    @property
    def r2_held_out(self) -> float:
        """The same on rows the fit has not seen; NaN where there are none."""

    @property
    def signed(self) -> bool:
        """Whether a score says which way it pushes, or only how much it matters."""


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
    """A surrogate on its points: all that is left to come are the answers."""

    @property
    def nbytes(self) -> int:
        """How much memory it holds."""

    @property
    def shared(self) -> tuple[Array, ...]:
        """Its arrays that explanations show."""

    def fit(self, y: Array) -> Fitted:
        """Fit the answers y, shape (N,)."""


@runtime_checkable
class Surrogate(Protocol):
    """A small model of the answers near the instance; a value without state."""

    @property
    def needs(self) -> frozenset[Need]:
        """What the surrogate cannot do without."""

    def room(self, n: int, d: int) -> int:
        """How many numbers it holds beside n rows of d features while it is fitted."""

    def on(self, rows: Rows) -> Fitter:
        """The part that needs only the rows."""


class Direct(Protocol):
    """A surrogate that has nothing to do before the answers come."""

    def fit(self, features: Array, y: Array, weight: Array) -> Fitted: ...


@final
@dataclass(frozen=True, eq=False)
class DeferredFit:
    """The fitter of a surrogate that has nothing to do before the answers come."""

    surrogate: Direct
    rows: Rows

    @property
    def nbytes(self) -> int:
        return self.rows.weight.nbytes

    @property
    def shared(self) -> tuple[Array, ...]:
        return ()

    def fit(self, y: Array) -> Fitted:
        rows = self.rows
        return self.surrogate.fit(rows.features, checked(y, rows.weight), rows.weight)


def checked(y: Array, weight: Array) -> Array:
    """Answers as floats, one for each weight."""
    y = np.asarray(y, dtype=np.float64)
    if y.shape != weight.shape:
        raise InputError(f"{len(weight)} points need as many answers, not {y.shape}")
    return y


def is_flat(y: Array) -> bool:
    """Whether answers differ by no more than rounding."""
    return bool(np.ptp(y) <= 1e-12 * np.abs(y).max())


def moved(features: Array) -> NDArray[np.bool_]:
    """Which columns are not everywhere as in the first row, shape (d,); missing equals missing."""
    own = features[0]
    return np.asarray(((features != own) & ~(np.isnan(features) & np.isnan(own))).any(axis=0))


def weighted_r2(y: Array, predicted: Array, weight: Array) -> float:
    """1 minus the weighted share of the answers' variation that is left; NaN if there is none."""
    if not len(y) or is_flat(y):
        return float("nan")
    middle = float(y[0] + weight @ (y - y[0]) / weight.sum())
    return 1.0 - float(weight @ (y - predicted) ** 2) / float(weight @ (y - middle) ** 2)
