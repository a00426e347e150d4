"""A survey's rows as one instance sees them: which match it, and how much each counts.

With b the instance's state in column j, z_j = 1 where a row x matches it there, and s, p and q of
`RootLaw`, the weight of a row is its probability under the instance's law over that under the
survey's, a product over columns. Its logarithm is linear in the matches,

    log w(x) = Σ_j log(s_{x_j}/q_{x_j}) + Σ_j z_j (logit p_j − logit s_j) + constant,

where p_j and s_j are those of b: a column that does not match has (1 − p_j)/(1 − s_j) · s_x/q_x,
one that does p_j/q_b, and the constant is Σ_j log((1 − p_j)/(1 − s_j)). The first sum is the same
for all instances and is kept (`base`); the second is one product of the matches and d numbers
(`gain`). The constant is left out where all rows share it, since a line needs weights only up to a
factor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from eagle._values.arrays import Array
from eagle.designs.law import raw
from eagle.surrogates.reweighted import Buffers, Evenness, Weighed, cuts, measure_evenness
from eagle.survey.law import Indices, RootLaw
from eagle.survey.rows import Drawn, States

PATTERNS: Final = 8
"""Number of instances, like those of the background, over which evenness is averaged."""


@final
@dataclass(frozen=True, eq=False)
class Supplement:
    """More rows with one value of one column, and their answers, shape (n, outputs).

    A value is asked so if the survey has it too seldom for an instance that has it
    (`RootLaw.supplements`), or not at all.

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
        return measure_evenness(
            [self.of(np.array(states), ()) for states in zip(*columns, strict=True)]
        )

    def of(
        self, states: Indices, more: Sequence[Supplement], buffers: Buffers | None = None
    ) -> tuple[Array, Array]:
        """Matches, shape (d, n), and weights, shape (n,), for an instance in these states.

        Rows of its supplements follow those of the survey. They are more of the same sample: every
        row is weighed by the mixture that it could have come from (`_mixed`), so that weighted
        sums over all of them tend to what they were without supplements. Supplements of other
        instances play no part.
        """
        d, rows = self.states.shape
        total = rows + sum(len(one.drawn) for one in more)
        z = (Buffers() if buffers is None else buffers).take("z", (d, total))
        if not more:
            fill, weight = self._fill(states), np.empty(rows)
            for cut in cuts(d, rows, rows):  # as for a line, so they are the same to the last bit
                part = np.empty((d, cut.stop - cut.start))
                weight[cut] = fill(cut, part)
                z[:, cut] = part
            return z, weight
        own = states.astype(np.uint16)[:, None]
        z[:, :rows] = self.states == own
        gain = self.law.gain[np.arange(d), states]
        log = np.empty(total)
        log[:rows] = self.base
        start = rows
        for one in more:
            end = start + len(one.drawn)
            z[:, start:end] = one.drawn.states == own
            log[start:end] = _base(self.law, one.drawn.states)
            start = end
        log += gain @ z
        return z, np.exp(log) * self._mixture_factor(z, states, more)

    def _mixture_factor(self, z: Array, states: Indices, more: Sequence[Supplement]) -> Array:
        """The factor on weights because rows are drawn from several laws, shape (n,).

        The weight of a row is its probability under the instance's law over its probability under
        the mixture of the laws of survey and supplements. With N rows of the survey, of law Q, and
        n_c of a supplement with state b in column c, of the law Q·[x_c = b]/q_b, it is

            P(x)/(Q(x) (N + Σ_c n_c [x_c = b]/q_b)),

        so that the sum over all rows of weight × anything is without bias, and no weight is larger
        than it would be with the rows of one of these laws alone (the balance heuristic of Veach
        and Guibas, "Optimally combining sampling techniques for Monte Carlo rendering", 1995).

        A value that the background lacks has q = 0: only its own supplement has it, with the chance
        1. Its rows have the factor p for this column and are divided by n_c alone; all others have
        the factor (1 − p) s/q. Rows with two such values at once are never asked, a share of p·p′
        of P.
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
        d, rows = self.states.shape
        matches = self._counts[np.arange(d), states]
        if more:
            for one in more:
                matches += (one.drawn.states == states[:, None]).sum(axis=1)
            z, weight = self.of(states, more, buffers)
            return Weighed.of(z, weight, self.evenness, matches=matches, buffers=buffers)
        fill = self._fill(states)
        return Weighed.of_fill(fill, rows, matches, self.evenness, np.ones(d), buffers)

    def _fill(self, states: Indices) -> Callable[[slice, Array], Array]:
        """A function that writes the matches of some of the survey's rows, and returns weights."""
        own, gain = states.astype(np.uint16)[:, None], self.law.gain[np.arange(len(states)), states]

        def fill(cut: slice, out: Array) -> Array:
            out[:] = self.states[:, cut] == own
            log = gain @ out
            return np.asarray(np.exp(np.add(log, self.base[cut], out=log), out=log))

        return fill

    @cached_property
    def _counts(self) -> Array:
        """How many rows have each state of each column, shape (d, states)."""
        width = self.law.draw.shape[1]
        return np.array([np.bincount(one, minlength=width) for one in self.states], dtype=float)


def _base(law: RootLaw, states: States) -> Array:
    """Σ log s/q over the columns of rows, shape (n,); a value that is never drawn adds nothing."""
    out = np.zeros(states.shape[1])
    for k, one in enumerate(states):
        out += law.base[k, one]
    return out
