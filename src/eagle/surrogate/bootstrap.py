"""Intervals for any surrogate: fit it again to resampled rows, without asking anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from eagle.surrogate.fit import Fit, Fitter, Later, Surrogate
from eagle.surrogate.posterior import Draws
from eagle.types import Array, InputError, Need


@final
@dataclass(frozen=True)
class Bootstrap:
    """The scores of a surrogate, and their spread when rows are drawn with replacement.

    The instance is asked in every plan, so it is in every resample. Always the same resamples.
    """

    surrogate: Surrogate
    resamples: int = 200

    def __post_init__(self) -> None:
        if not hasattr(self.surrogate, "on"):
            raise InputError(f"a bootstrap is of a surrogate, not of {self.surrogate!r}")
        if not isinstance(self.resamples, int) or self.resamples < 2:
            raise InputError(f"a bootstrap needs at least 2 resamples, not {self.resamples!r}")

    @property
    def needs(self) -> frozenset[Need]:
        return getattr(self.surrogate, "needs", frozenset())

    def room(self, n: int, d: int) -> int:
        """Numbers held beside the rows: how often each is in each resample, and their chance."""
        inner = getattr(self.surrogate, "room", None)
        return 4 * self.resamples * n + (0 if inner is None else int(inner(n, d)))

    def on(self, features: Array, weight: Array) -> Fitter:
        return Later(self, features, weight)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        whole = self.surrogate.on(features, weight).fit(y)
        values = np.empty((self.resamples, features.shape[1]))
        for i, often in enumerate(self._often(len(y))):
            rows = np.repeat(np.arange(len(y)), often)  # a row drawn twice is there twice
            again = self.surrogate.on(features[rows], weight[rows])
            values[i] = again.fit(y[rows]).scores
        return Fit(
            whole.scores, whole.intercept, whole.local, whole.r2, whole.r2_held_out,
            Draws(whole.scores, values), whole.signed,
        )  # fmt: skip

    def _often(self, n: int) -> NDArray[np.intp]:
        """How often each row is in each resample, shape (resamples, n)."""
        out = np.zeros((self.resamples, n), dtype=np.intp)
        out[:, 0] = 1
        if n > 1:
            raw = np.random.PCG64(0).random_raw(self.resamples * (n - 1))
            drawn = 1 + (np.asarray(raw) % np.uint64(n - 1)).astype(np.intp)
            np.add.at(out, (np.repeat(np.arange(self.resamples), n - 1), drawn), 1)
        return out
