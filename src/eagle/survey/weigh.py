"""A survey's rows as one instance sees them: which match it, and how much each counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from eagle.design.law import raw
from eagle.surrogate.reweighted import Buffers, Evenness, Weighed, measured_evenness
from eagle.survey.law import Indices, RootLaw
from eagle.survey.rows import Drawn, States
from eagle.types import Array

PATTERNS: Final = 8
"""Number of instances, like those of the background, over which evenness is averaged."""


@final
@dataclass(frozen=True, eq=False)
class Supplement:
    """More rows with one value of one column, and their answers, shape (n, outputs).

    `column` is the place among the features. The value is `unseen` if the background lacks it.
    """

    column: int
    value: str
    unseen: bool
    drawn: Drawn
    answers: Array

    def first(self, rows: int) -> Supplement:
        """The first `rows` rows."""
        part = self.drawn.part(0, rows)
        return Supplement(self.column, self.value, self.unseen, part, self.answers[:rows])


@final
@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of a survey's rows, of these `states`, shape (d, n), for any instance."""

    law: RootLaw
    states: States

    @cached_property
    def base(self) -> Array:
        """The part of each row's log weight that all instances share, shape (n,)."""
        return _base(self.law, self.states)

    @cached_property
    def evenness(self) -> Evenness:
        """The evenness of the rows, the mean over `PATTERNS` instances like the background's."""
        rng = np.random.Generator(np.random.PCG64(0))
        uniform = (np.arange(PATTERNS) + 0.5) / PATTERNS
        columns = [
            np.searchsorted(np.cumsum(one), uniform[np.argsort(raw(rng, PATTERNS))], side="right")
            for one in self.law.share
        ]
        return measured_evenness(
            [self.of(np.array(states), ()) for states in zip(*columns, strict=True)]
        )

    def of(
        self, states: Indices, more: Sequence[Supplement], buffers: Buffers | None = None
    ) -> tuple[Array, Array]:
        """Matches, shape (d, n), and weights, shape (n,), for an instance in these states.

        Rows of its supplements follow those of the survey.
        """
        d, rows = self.states.shape
        total = rows + sum(len(one.drawn) for one in more)
        z = (Buffers() if buffers is None else buffers).take("z", (d, total))
        own = states.astype(np.uint16)[:, None]
        np.equal(self.states, own, out=z[:, :rows], casting="unsafe")
        gain = self.law.gain[np.arange(d), states]
        if not more:
            return z, np.exp(self.base + gain @ z)
        log = np.empty(total)
        log[:rows] = self.base
        start = rows
        for one in more:
            end = start + len(one.drawn)
            np.equal(one.drawn.states, own, out=z[:, start:end], casting="unsafe")
            log[start:end] = _base(self.law, one.drawn.states)
            start = end
        log += gain @ z
        return z, np.exp(log) * self._mixed(z, states, more)

    def _mixed(self, z: Array, states: Indices, more: Sequence[Supplement]) -> Array:
        """The factor on weights because rows are drawn from several laws, shape (n,).

        The weight of a row is its probability under the instance's law over its probability under
        the mixture of the laws of survey and supplements.
        """
        rows = self.states.shape[1]
        density = np.full(z.shape[1], float(rows))
        factor, start = np.ones(z.shape[1]), rows
        for one in more:
            end = start + len(one.drawn)
            if one.unseen:
                keep = self.law.keep[one.column, states[one.column]]
                factor *= 1 - keep
                factor[start:end] *= keep / (1 - keep)
            else:
                chance = self.law.draw[one.column, states[one.column]]
                density += z[one.column] * (len(one.drawn) / chance)
            start = end
        start = rows
        for one in more:
            end = start + len(one.drawn)
            if one.unseen:  # no other law gives this value
                density[start:end] = len(one.drawn)
            start = end
        return np.asarray(factor / density)

    def line(
        self, states: Indices, more: Sequence[Supplement], buffers: Buffers | None = None
    ) -> Weighed:
        """The line of an instance, ready for answers. With buffers, fit it before the next."""
        z, weight = self.of(states, more, buffers)
        return Weighed.of(z, weight, self.evenness, buffers=buffers)


def _base(law: RootLaw, states: States) -> Array:
    """Σ log s/q over the columns of rows, shape (n,); a value that is never drawn adds nothing."""
    out = np.zeros(states.shape[1])
    for k, one in enumerate(states):
        out += law.base[k, one]
    return out
