"""Rows of a table as a survey sees them, and their explanations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables.column import key
from eagle._tables.rows import TableInstances
from eagle._values.arrays import Array, Range
from eagle._values.packages import one_thread
from eagle._values.targets import (
    Target,
    answers_of,
    bounds_of,
    explained_answers,
    own_target,
    resolve_target,
)
from eagle._values.text import clean, short_repr
from eagle.cost import Cost
from eagle.errors import InputError
from eagle.explanation import Explanation, fields_of_fit
from eagle.explanations import row_ids
from eagle.surrogates.reweighted import Answers, Buffers, Weighed
from eagle.survey.evidence import SurveyEvidence
from eagle.survey.law import Indices
from eagle.survey.rows import Drawn
from eagle.survey.weigh import Supplement

if TYPE_CHECKING:
    from eagle.survey.survey import Survey

FEW_EFFECTIVE_ROWS: Final = 100
"""An explanation that rests on fewer effective rows than this says so."""


@final
@dataclass(frozen=True, eq=False)
class SavedRows:
    """Rows that were explained, as a file keeps them: `states`, `values` as numbers and codes,
    the rows' own values `everything`, and what scores are about, `every_condition`, shape (n, d).
    """

    labels: tuple[str, ...]
    states: NDArray[np.intp]
    values: Array
    everything: NDArray[np.object_]
    every_condition: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.states)

    def names(self, i: int) -> tuple[str, ...]:
        return self.labels

    def own(self, i: int) -> tuple[Any, ...]:
        return tuple(self.everything[i])

    def conditions(self, i: int) -> tuple[str, ...]:
        return tuple(self.every_condition[i])

    def contrast(self, i: int) -> Array:
        return np.ones(len(self.labels))


Supplements: TypeAlias = Mapping[tuple[int, str], Supplement]
"""Supplements by the column and the value that they are about."""


@final
@dataclass(frozen=True, eq=False)
class Surveyed:
    """Rows of a table as a survey sees them: their states, shape (n, d), and their own values.

    `tables` are rows that share a dtype, with their places; `ids` name the rows. `where` has for
    each row the index of its table, and the row's index there.
    """

    survey: Survey
    tables: Sequence[tuple[TableInstances | SavedRows, Sequence[int]]]
    ids: tuple[Any, ...]
    states: Indices
    where: Sequence[tuple[int, int]] = field(repr=False)

    @classmethod
    def of(
        cls,
        survey: Survey,
        tables: Sequence[tuple[TableInstances | SavedRows, Sequence[int]]],
        X: Any,
    ) -> Surveyed:
        count = sum(len(table) for table, _ in tables)
        where: list[tuple[int, int]] = [(0, 0)] * count
        states = np.empty((count, len(survey.drawn.states)), dtype=np.intp)
        for t, (one, places) in enumerate(tables):
            states[list(places)] = one.states
            for i, place in enumerate(places):
                where[place] = t, i
        return cls(survey, tables, row_ids(X, count), states, where)

    def __len__(self) -> int:
        return len(self.states)

    @cached_property
    def values(self) -> NDArray[np.object_]:
        """The rows' own values, None where missing, shape (n, d)."""
        out = np.empty(self.states.shape, dtype=object)
        for one, here, at in self._by_table():
            out[here] = one.everything[at]
        return out

    def _by_table(
        self,
    ) -> Iterator[tuple[TableInstances | SavedRows, NDArray[np.intp], NDArray[np.intp]]]:
        """For each table: which rows are in it, and their places there."""
        which = np.array(self.where, dtype=np.intp).reshape(-1, 2)
        for t in np.unique(which[:, 0]).tolist():
            here = np.flatnonzero(which[:, 0] == t)
            yield self.tables[t][0], here, which[here, 1]

    @property
    def conditions(self) -> NDArray[np.object_]:
        """What the scores of all rows are about, as text, shape (n, d)."""
        out = np.empty(self.states.shape, dtype=object)
        for one, here, at in self._by_table():
            out[here] = one.every_condition[at]
        return out

    @property
    def unknown(self) -> Array:
        return np.full((len(self), self.survey.answers.shape[1]), np.nan)

    # -- supplements ----------------------------------------------------------------------------

    @cached_property
    def counts(self) -> Indices:
        """How many rows of a supplement each feature needs, shape (n, d)."""
        return self.survey.setting.law.supplements(self.states, self.survey.rows)

    @cached_property
    def supplements_needed(self) -> dict[tuple[int, str], tuple[int, int]]:
        """The supplements that rows need: how many rows each, and an instance that needs it."""
        out: dict[tuple[int, str], tuple[int, int]] = {}
        for i, k in zip(*map(np.ndarray.tolist, np.nonzero(self.counts)), strict=True):
            name = k, self.value(i, k)
            if name not in out:
                out[name] = int(self.counts[i, k]), i
        return out

    def value(self, i: int, k: int) -> str:
        """What a supplement for feature k of row i is about, as a text."""
        if not self.survey.setting.law.unseen(self.states[i : i + 1])[0, k]:
            return f"state {self.states[i, k]}"
        t, at = self.where[i]
        return f"value {key(self.tables[t][0].own(at)[k])!r}"

    def with_value(self, i: int, k: int, drawn: Drawn) -> Callable[[int, int], Any]:
        """A function that makes tables of drawn rows, with row i's own value of feature k."""
        t, at = self.where[i]
        one = self.tables[t][0]
        assert isinstance(one, TableInstances)  # rows from a file are never asked about
        background = self.survey.background
        values = drawn.values.copy()
        if self.survey.setting.law.unseen(self.states[i : i + 1])[0, k]:
            values[:, k] = one.values[at, k]
        levels = {
            j: one.levels.get(j, background.columns[j].levels or ())
            for j in background.moved_columns
            if background.columns[j].levels is not None
        }

        def make(start: int, end: int) -> Any:
            rows = np.full(end - start, at, dtype=np.intp)
            return one.rows.build(rows, background.moved_columns, values[start:end], levels).native

        return make

    def supplements(self, i: int, known: Supplements) -> tuple[Supplement, ...]:
        """The known supplements of row i that are long enough, cut to the rows that it needs."""
        out = []
        for k in np.flatnonzero(self.counts[i]).tolist():
            one = known.get((k, self.value(i, k)))
            if one is not None and len(one.drawn) >= self.counts[i, k]:
                out.append(one.first(int(self.counts[i, k])))
        return tuple(out)

    # -- results --------------------------------------------------------------------------------

    def targets(self, own: Array, target: Target) -> tuple[Target, ...]:
        """What is explained of each row."""
        task, outputs = self.survey.task, self.survey.outputs
        if target is not None:
            return (own_target(target, outputs),) * len(self)
        if task == "classification" and np.isnan(own).any():
            raise InputError(
                "which class is predicted is not known without asking the model: give a target, "
                f"one of {', '.join(short_repr(o) for o in outputs[:10])}, or the predictions"
            )
        return tuple(resolve_target(None, one[None], task, outputs) for one in own)

    def line(
        self, i: int, known: Supplements, buffers: Buffers | None = None
    ) -> tuple[Weighed, tuple[Supplement, ...]]:
        more = self.supplements(i, known)
        return self.survey.weights.line(self.states[i], more, buffers), more

    def about(self, target: Target, more: Sequence[Supplement] = ()) -> Array:
        """The answers that are explained, shape (n,)."""
        s = self.survey
        every = np.concatenate([s.answers, *(one.answers for one in more)]) if more else s.answers
        return explained_answers(every, s.outputs, target, s.setting.box.link)

    def answers(self, target: Target, more: Sequence[Supplement] = ()) -> Answers:
        """The same, ready for a line."""
        return Answers.of(self.about(target, more), self.bounds(target))

    def explanation(
        self, i: int, own: Array, known: Supplements, target: Target, asked: bool
    ) -> Explanation:
        """The explanation of row i; `asked` says whether the model was asked about it."""
        began = time.perf_counter()
        (aim,) = self.only(i).targets(own[i : i + 1], target)
        s, box = self.survey, self.survey.setting.box
        with one_thread():  # as those of many are fitted: so they are the same to the last bit
            line, more = self.line(i, known)
            fit, _ = line.fit_and_pulls(self.about(aim, more), self.bounds(aim))
        t, at = self.where[i]
        one = self.tables[t][0]
        evidence = SurveyEvidence(
            s.drawn, s.answers, s.weights, more, self.states[i], one.values[at], own[i]
        )
        spent = time.perf_counter() - began
        y = answers_of(own[i : i + 1], s.outputs, aim, box.link)
        return Explanation(
            names=one.names(at),
            conditions=one.conditions(at),
            data=one.own(at),
            target=aim,
            outputs=s.outputs,
            task=s.task,
            contrast=one.contrast(at),
            evidence=evidence,
            cost=Cost(self.rows_asked(more, asked), own_seconds=spent, shared=s.rows),
            method=s.method,
            surrogate=s.surrogate,
            seed=s.seed,
            link=box.link,
            note=self.notes_on(i, line),
            difference=s.difference,
            **fields_of_fit(fit, y),
        )

    def rows_asked(self, more: Sequence[Supplement], prediction: bool) -> int:
        """How many rows were asked for one explanation: its supplements, and its prediction."""
        return int(prediction) + sum(len(one.drawn) for one in more)

    def bounds(self, target: Target) -> Range:
        s = self.survey
        return bounds_of(target, s.answers, s.task, s.setting.box.link)

    def notes_on(self, i: int, line: Weighed) -> str:
        """What a reader should know of row i in this survey."""
        out = [self.survey.note]
        t, at = self.where[i]
        one = self.tables[t][0]
        conditions, rare = one.conditions(at), line.matches < len(line.weight) / 2
        asking = "with the model at hand they are asked"
        if self.survey.difference is not None:
            asking = "with both models at hand they are asked, by the difference of their surveys"
        for which, words, remedy in (
            (~line.known_features & rare, "with", asking),
            (~line.known_features & ~rare, "without", "a larger survey has more of them"),
        ):
            listed = [conditions[k] for k in np.flatnonzero(which)]
            if listed:
                told_all = ", ".join(listed[:5]) + (" …" if len(listed) > 5 else "")
                out.append(f"not known: the survey has too few rows {words} {told_all}; {remedy}")
        if line.effective < FEW_EFFECTIVE_ROWS:
            out.append(
                f"this row is worth only {line.effective:.0f} rows of the survey: a larger survey, "
                "or explainer.explain, knows more"
            )
        return clean("; ".join(part for part in out if part))

    def only(self, i: int) -> Surveyed:
        """Row i by itself."""
        return self.take([i])

    def take(self, rows: Sequence[int]) -> Surveyed:
        """Some of the rows."""
        return replace(
            self,
            ids=tuple(self.ids[i] for i in rows),
            states=self.states[list(rows)],
            where=[self.where[i] for i in rows],
        )
