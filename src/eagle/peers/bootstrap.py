"""Intervals for any planned method: fit it again to resampled rows, without further queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.method import Choice, Method
from eagle._values.arrays import UNBOUNDED, Array, Range
from eagle._values.checks import integer
from eagle._values.posterior import Draws
from eagle._values.text import short_repr
from eagle.contracts import Need, Rows
from eagle.errors import InputError
from eagle.surrogates.fit import Fit, Fitter, Surrogate, check_answers


@final
@dataclass(frozen=True)
class Bootstrap:
    """The scores of a surrogate, and their spread when rows are drawn with replacement.

    The instance is in every plan, so it is in every resample. The resamples are always the same.
    """

    surrogate: Surrogate
    resamples: int = 200

    def __post_init__(self) -> None:
        if not isinstance(self.surrogate, Surrogate):
            raise InputError(f"a bootstrap is of a surrogate, not of {short_repr(self.surrogate)}")
        integer(self.resamples, "resamples", 2)

    @property
    def needs(self) -> frozenset[Need]:
        return self.surrogate.needs

    def memory(self, n: int, d: int) -> int:
        """Numbers held besides the rows: the counts of rows in resamples, and random numbers."""
        return 4 * self.resamples * n + self.surrogate.memory(n, d)

    def on(self, rows: Rows) -> Fitter:
        return Resampled(self, rows)

    def fit(self, rows: Rows, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        full = self.surrogate.on(rows).fit(y, bounds)
        values = np.empty((self.resamples, rows.features.shape[1]))
        for i, repeats in enumerate(self._repeats(len(y))):
            again = np.repeat(np.arange(len(y)), repeats)  # a row drawn twice is fitted twice
            values[i] = self.surrogate.on(rows.take(again)).fit(y[again], bounds).scores
        return Fit(
            full.scores,
            full.intercept,
            full.local,
            full.r2,
            full.r2_held_out,
            Draws(full.scores, values),
            full.signed,
        )

    def _repeats(self, n: int) -> NDArray[np.intp]:
        """How often each row is in each resample, shape (resamples, n)."""
        out = np.zeros((self.resamples, n), dtype=np.intp)
        out[:, 0] = 1
        if n > 1:
            raw = np.random.PCG64(0).random_raw(self.resamples * (n - 1))
            drawn = 1 + (np.asarray(raw) % np.uint64(n - 1)).astype(np.intp)
            np.add.at(out, (np.repeat(np.arange(self.resamples), n - 1), drawn), 1)
        return out


@final
@dataclass(frozen=True, eq=False)
class Resampled(Fitter):
    """A bootstrap put on its rows."""

    how: Bootstrap
    rows: Rows

    @property
    def nbytes(self) -> int:
        return self.rows.weight.nbytes

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        return self.how.fit(self.rows, check_answers(y, self.rows.weight), bounds)


def with_bootstrap(method: Method | Choice, resamples: int = 200) -> Method:
    """The method with intervals from resampled rows: from the same answers, without queries."""
    if isinstance(method, Choice):
        raise InputError(
            f"{method.name} chooses a method for each input, and these have their own intervals: "
            "give one method, such as eagle.peers.LIME"
        )
    if not isinstance(method, Method):
        raise InputError(f"a method is a value such as eagle.peers.LIME, not {short_repr(method)}")
    if not method.planned:
        raise InputError(
            f"{method.name} chooses rows by the answers before, so its rows cannot be resampled: "
            "a bootstrap needs a planned method"
        )
    name = f"{method.name} (bootstrap)"
    return replace(method, name=name, surrogate=Bootstrap(method.surrogate, resamples))
