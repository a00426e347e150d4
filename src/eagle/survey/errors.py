"""The joint errors of a survey's explanations.

All explanations rest on the same rows. A pull is what a row's residual adds to the scores of an
instance. The error of a sum over instances is that of the pulls, summed over instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.targets import Target
from eagle._values.arrays import Array
from eagle._values.packages import one_thread
from eagle.explanations import MAX_CORRELATED_ROWS, spread_over
from eagle.surrogates.reweighted import Buffers, Pulls, degrees, share_left_by_balance
from eagle.surrogates.variance import narrowing
from eagle.survey.law import Indices
from eagle.survey.rows import States
from eagle.survey.surveyed import Supplements, Surveyed
from eagle.survey.weigh import Supplement

BLOCKS: Final = 64
"""Number of blocks of rows that draws of errors are summed over, for ranks."""

KEPT_BYTES: Final = 128 << 20
"""Maximum number of bytes that are kept of lines, so that statements need not fit them again."""

SLAB_BYTES: Final = 64 << 20
"""Maximum number of bytes of the lines that are worked on at once."""


@final
@dataclass(frozen=True, eq=False)
class Lines:
    """What the pulls of m lines are made of: `inverse` @ (features − `mean`) × `push`.

    `numbers`, shape (m,), name the lines in rising order, `states`, shape (m, d), are those of
    their instances. `push`, shape (m, rows), is that of the survey's rows, and `extra` has for each
    line its supplements with theirs. `wide`, shape (m, d), are standard errors of the `scores`, and
    `untold` is what of these is not from pulls.
    """

    numbers: NDArray[np.intp]
    states: Indices
    push: Array
    inverse: Array
    mean: Array
    scores: Array
    wide: Array
    untold: Array
    extra: list[tuple[tuple[Supplement, Array], ...]]

    @classmethod
    def empty(cls, numbers: NDArray[np.intp], states: Indices, rows: int) -> Lines:
        """Room for lines of instances in these states."""
        m, d = states.shape
        push, inverse = np.empty((m, rows)), np.empty((m, d, d))
        mean, scores, wide, untold = np.empty((4, m, d))
        return cls(numbers, states, push, inverse, mean, scores, wide, untold, [()] * m)

    def __len__(self) -> int:
        return len(self.numbers)

    def put(self, at: int, pulls: Pulls, more: Sequence[Supplement]) -> None:
        """Write down a line."""
        line, rows = pulls.line, self.push.shape[1]
        push = pulls.unit * line.root * pulls.push
        self.push[at], self.inverse[at], self.mean[at] = push[:rows], line.inverse, line.mean
        variance = narrowing(pulls.df)
        rest = np.maximum(pulls.spread**2 - variance * pulls.variance_of_pulls, 0.0)
        self.scores[at], self.untold[at] = pulls.scores, np.sqrt(rest)
        self.wide[at] = pulls.spread / np.sqrt(variance)
        if not more:
            return
        ends = rows + np.cumsum([0, *(len(one.drawn) for one in more)])
        parts = zip(more, ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        self.extra[at] = tuple((one, push[start:end]) for one, start, end in parts)

    def take(self, places: NDArray[np.intp] | slice) -> Lines:
        """Some of the lines."""
        extra = [self.extra[at] for at in np.arange(len(self))[places].tolist()]
        arrays = {
            name: array[places]
            for name, array in vars(self).items()
            if isinstance(array, np.ndarray)
        }
        return replace(self, extra=extra, **arrays)

    def of_numbers(self, numbers: NDArray[np.intp]) -> Lines:
        """The lines of these numbers, which are all there."""
        places = np.searchsorted(self.numbers, numbers)
        run = slice(int(places[0]), int(places[-1]) + 1)  # a slice is not copied
        return self.take(run if run.stop - run.start == len(places) else places)

    def total(self, factor: Array, where: Places) -> Array:
        """The pulls of the survey's rows times a factor, shape (m, d), summed over lines, (n, d).

        A feature is 1 in the rows that have the state of the instance. So lines that share a state
        are summed in these rows together.
        """
        left = factor * np.einsum("ikj,ij->ik", self.inverse, self.mean)
        total = self.push.T @ -left
        for j, mine, rows in where.of(self.states):
            by = factor[mine] * self.inverse[mine, :, j]
            total[rows] += self._pushes(mine, rows).T @ by
        return np.asarray(total)

    def _pushes(self, mine: NDArray[np.intp], rows: NDArray[np.intp]) -> Array:
        """The `push` of some lines and rows: line by line is faster than by a table of places."""
        out = np.empty((len(mine), len(rows)))
        for to, at in zip(out, mine.tolist(), strict=True):
            self.push[at].take(rows, out=to, mode="clip")  # other modes copy once more
        return out

    def sums(self, starts: NDArray[np.intp], where: Places) -> Array:
        """The pulls of each line, summed over blocks of the survey's rows, shape (m, d, blocks)."""
        every = np.add.reduceat(self.push, starts, axis=1)
        out = -self.mean[:, :, None] * every[:, None, :]
        for j, mine, rows in where.of(self.states):
            block, first = np.unique(
                np.searchsorted(starts, rows, side="right") - 1, return_index=True
            )
            push = self._pushes(mine, rows)
            out[mine[:, None], j, block] += np.add.reduceat(push, first, axis=1)
        return np.asarray(self.inverse @ out)


@final
@dataclass(frozen=True, eq=False)
class Places:
    """Which rows of a survey have which state, of rows with these `states`, shape (d, n)."""

    states: States

    @cached_property
    def _rows_by_state(self) -> list[tuple[NDArray[np.intp], NDArray[np.uint16]]]:
        """For each column the rows in the order of their states, and the states so."""
        order = [np.argsort(one, kind="stable") for one in self.states]
        return [(rows, one[rows]) for rows, one in zip(order, self.states, strict=True)]

    def of(self, states: Indices) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
        """Each column and state of these instances: the column, which instances, and which rows."""
        for j, (order, there) in enumerate(self._rows_by_state):
            own = states[:, j]
            for state in np.unique(own).tolist():
                start, end = np.searchsorted(there, [state, state + 1])
                if end > start:
                    yield j, np.flatnonzero(own == state), order[start:end]


@final
@dataclass(frozen=True, eq=False)
class SurveyErrors:
    """Errors of the explanations of the instances `rows`, which all have the same target.

    `alike` is the number of each instance's line, and `first` the first instance of each line.
    `kept` are lines that need not be fitted again. They are not pickled.
    """

    many: Surveyed
    known: Supplements
    targets: tuple[Target, ...]
    alike: NDArray[np.intp]
    first: NDArray[np.intp]
    kept: Lines | None
    rows: NDArray[np.intp]

    def take(self, index: NDArray[np.intp]) -> SurveyErrors:
        return replace(self, rows=self.rows[index])

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "kept": None}

    def _lines(self, numbers: NDArray[np.intp]) -> Iterator[Lines]:
        """The lines of these numbers, so many at once as memory should hold.

        Whether they are kept does not change which come together, so sums are equal to the bit.
        """
        survey = self.many.survey
        size = slab(survey.rows, len(survey.drawn.states), SLAB_BYTES)
        for start in range(0, len(numbers), size):
            part = numbers[start : start + size]
            if self.kept is not None and np.isin(part, self.kept.numbers).all():
                yield self.kept.of_numbers(part)
            else:
                yield self._fit_again(part)

    def _fit_again(self, numbers: NDArray[np.intp]) -> Lines:
        """Lines that are not kept, fitted again."""
        first = self.first[numbers]
        out = Lines.empty(numbers, self.many.states[first], self.many.survey.rows)
        target, buffers = self.targets[int(self.rows[0])], Buffers()
        answers = self.many.answers(target)
        with one_thread():
            for at, i in enumerate(first.tolist()):
                line, more = self.many.line(i, self.known, buffers)
                y = self.many.answers(target, more) if more else answers
                out.put(at, line.pulls(y), more)
        return out

    def deviation(self, factor: Array) -> tuple[Array, float]:
        """The standard error of Σ factor × score, shape (d,), and its degrees of freedom.

        Pulls are summed over instances first. The share of the sum's variance that balance leaves
        is estimated from blocks of rows. The part of an instance's variance that is not from pulls
        may err the same way for all instances, so its standard errors are added, not their squares.
        """
        chosen = spread_over(len(self.rows), MAX_CORRELATED_ROWS)
        factor = _rescale(factor, chosen)
        some = factor.any(axis=1)  # not the rows that are in neither of two groups
        chosen, factor = chosen[some], factor[some]
        numbers, which = np.unique(self.alike[self.rows[chosen]], return_inverse=True)
        by, size = np.zeros((2, len(numbers), factor.shape[1]))
        np.add.at(by, which, factor)
        np.add.at(size, which, np.abs(factor))
        d, survey = factor.shape[1], self.many.survey
        where = Places(survey.drawn.states)
        total, untold = np.zeros((survey.rows, d)), np.zeros(d)
        more: dict[tuple[int, str], Array] = {}
        with one_thread():
            for lines in self._lines(numbers):
                at = np.searchsorted(numbers, lines.numbers)
                total += lines.total(by[at], where)
                untold += (size[at] * lines.untold).sum(axis=0)
                _add_supplements(lines, by[at], more)
        variance = (total**2).sum(axis=0)
        evenness = survey.weights.evenness
        share = 1.0
        if evenness.lengths:
            starts = np.arange(0, survey.rows, evenness.lengths[0])
            share = share_left_by_balance(evenness, np.add.reduceat(total, starts).T, variance)
        variance = share * variance + sum((part**2).sum(axis=1) for part in more.values())
        df = degrees(max(survey.rows - d - 1.0, 1.0), share)
        return np.sqrt(narrowing(df) * variance) + untold, df

    def draws(self, count: int) -> Iterator[tuple[int, Array]]:
        """For some instances, the number of each, and draws of its scores, shape (count, d).

        The pulls of each block of the survey's rows are multiplied by one normal number for all
        instances. For each instance, draws are as wide as its own intervals.
        """
        chosen = spread_over(len(self.rows), MAX_CORRELATED_ROWS)
        survey, rng = self.many.survey, np.random.Generator(np.random.PCG64(0))
        starts = np.unique(np.linspace(0, survey.rows, BLOCKS, endpoint=False).astype(np.intp))
        push = rng.standard_normal((count, len(starts)))
        alone = rng.standard_normal((count, len(survey.drawn.states)))
        numbers, which = np.unique(self.alike[self.rows[chosen]], return_inverse=True)
        rows = np.split(
            chosen[np.argsort(which, kind="stable")], np.cumsum(np.bincount(which))[:-1]
        )
        where = Places(survey.drawn.states)
        for lines in self._lines(numbers):
            with one_thread():
                every = lines.sums(starts, where)
            at = np.searchsorted(numbers, lines.numbers).tolist()
            for k, sums, scores, wide in zip(at, every, lines.scores, lines.wide, strict=True):
                size = np.sqrt((sums**2).sum(axis=1))
                there = size > 0
                with one_thread():
                    error = (push @ sums.T) / np.where(there, size, 1.0)
                drawn = scores + np.where(there, error, alone) * wide
                for i in rows[k].tolist():
                    yield i, drawn


def slab(rows: int, d: int, most: int) -> int:
    """How many lines take so many bytes; at least one."""
    return max(1, most // (8 * (rows + d * d + 2 * BLOCKS * d)))


def _add_supplements(lines: Lines, factor: Array, more: dict[tuple[int, str], Array]) -> None:
    """Add the pulls of the rows of supplements, times a factor, to those in `more`, (d, n)."""
    for at, extra in enumerate(lines.extra):
        for one, push in extra:
            seen = one.drawn.states == lines.states[at].astype(np.uint16)[:, None]
            pull = (lines.inverse[at] @ (seen - lines.mean[at][:, None])) * push
            name = one.column, one.value
            more[name] = more.get(name, 0.0) + factor[at][:, None] * pull


def _rescale(factor: Array, chosen: NDArray[np.intp]) -> Array:
    """The factors of the rows chosen, scaled to have the same sums as those of all rows.

    Positive and negative factors of each column are scaled apart.
    """
    some = factor[chosen]
    if len(some) == len(factor):
        return some
    for part in (np.maximum, np.minimum):
        whole, seen = part(factor, 0.0).sum(axis=0), part(some, 0.0).sum(axis=0)
        scale = np.divide(whole, seen, out=np.ones_like(whole), where=seen != 0)
        some = np.where(part(some, 0.0) != 0, some * scale, some)
    return np.asarray(some)
