"""The records of an experiment, asked by what they are about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from eagle.types import Array
from evaluation.contestants import CONVERGED, LIMIT
from evaluation.experiment import Experiment
from evaluation.measure import lengths
from evaluation.trial import Record

PRINTED: Final = "EAGLE (paper)"
BALANCED: Final = "EAGLE (balanced)"
"""EAGLE as printed, and the default."""


@final
@dataclass(frozen=True, eq=False)
class Records:
    """Records of an experiment. A problem, a method and an instance have several runs."""

    experiment: Experiment
    each: Sequence[Record]

    @cached_property
    def _places(self) -> dict[tuple[Any, ...], list[Record]]:
        places: dict[tuple[Any, ...], list[Record]] = {}
        for r in self.each:
            key = r["problem"], r["method"], r["options"], r["budget"], r["instance"]
            places.setdefault(key, []).append(r)
        for several in places.values():
            several.sort(key=lambda r: int(r["run"]))
        return places

    @property
    def budget(self) -> int:
        """The largest budget of trials that are no references."""
        return max(self.experiment.budgets)

    def problems(self) -> list[str]:
        """Those with any record."""
        there = {r["problem"] for r in self.each}
        return [p for p in self.experiment.problems if p in there]

    def methods(self, problem: str) -> list[str]:
        there = {r["method"] for r in self.each if r["problem"] == problem}
        return [m for m in self.experiment.methods if m in there]

    def instances(self, problem: str) -> list[int]:
        return sorted({int(r["instance"]) for r in self.each if r["problem"] == problem})

    def runs(
        self, problem: str, method: str, instance: int, budget: int | None = None, **options: Any
    ) -> list[Record]:
        """The runs of a method on a prediction, at the largest budget unless it is said."""
        rows = self.budget if budget is None else budget
        rows = min(rows, self.experiment.slower.get(method, rows))
        said = json.dumps(options, sort_keys=True)
        return self._places.get((problem, method, said, rows, instance), [])

    def scores(self, problem: str, method: str, instance: int, **options: Any) -> Array | None:
        """The scores of the runs, shape (runs, d), or None where there are none."""
        several = self.runs(problem, method, instance, **options)
        return np.array([r["scores"] for r in several]) if several else None

    def intervals(self, problem: str, method: str, instance: int) -> Array | None:
        """The 90% intervals of the runs, shape (runs, d, 2), or None where there are none."""
        several = self.runs(problem, method, instance)
        if not several or "low" not in several[0]:
            return None
        return np.array([np.column_stack([r["low"], r["high"]]) for r in several])

    def converged(self, problem: str, instance: int) -> Array | None:
        """What LIME converges to."""
        return self._reference(problem, CONVERGED, instance, {})

    def limit(self, problem: str, method: str, instance: int) -> Array | None:
        """What the method itself converges to."""
        return self._reference(problem, method, instance, {LIMIT: 1})

    def _reference(
        self, problem: str, method: str, instance: int, options: dict[str, Any]
    ) -> Array | None:
        said, rows = json.dumps(options, sort_keys=True), self.experiment.references
        several = self._places.get((problem, method, said, rows, instance), [])
        return np.array(several[0]["scores"]) if several else None

    def curves(
        self, problem: str, method: str, name: str, **options: Any
    ) -> tuple[list[int], Array] | None:
        """Lengths, and a curve for each instance, mean over runs, shape (instances, lengths).

        At a length a run has what it had learnt from as many rows, or from all it asked if these
        are fewer: no row is asked twice. So the last heights are those of all rows of each run.
        """
        several = self.recorded(problem, method, name, **options)
        if not several:
            return None
        long = held([np.array(r[name]) for runs in several for r in runs])
        ends = np.cumsum([len(runs) for runs in several])[:-1]
        heights = np.array([runs.mean(axis=0) for runs in np.split(long, ends)])
        return lengths(self.budget)[: heights.shape[1]], heights

    def recorded(self, problem: str, method: str, name: str, **options: Any) -> list[list[Record]]:
        """For each instance that has any, the runs whose records hold a curve of this name."""
        every = (
            [r for r in self.runs(problem, method, i, **options) if name in r]
            for i in self.instances(problem)
        )
        return [runs for runs in every if runs]

    def grown(self, problem: str, method: str, instance: int, name: str) -> Array | None:
        """What the runs said at each length, shape (lengths, runs, d), or when they ended."""
        several = [r for r in self.runs(problem, method, instance) if name in r]
        if not several:
            return None
        d = int(several[0]["d"])
        return held([np.reshape(r[name], (-1, d)) for r in several]).swapaxes(0, 1)


def held(curves: Sequence[Array]) -> Array:
    """Curves as long as the longest, shape (curves, lengths, …): the others stay as they ended."""
    long = max(map(len, curves))
    return np.stack([np.concatenate([c, *[c[-1:]] * (long - len(c))]) for c in curves])


def mean(values: Sequence[float]) -> tuple[float, float]:
    """The mean of what is there, and its standard error; NaN where nothing is."""
    there = np.array([v for v in values if np.isfinite(v)])
    if not len(there):
        return float("nan"), float("nan")
    error = float(there.std(ddof=1) / np.sqrt(len(there))) if len(there) > 1 else float("nan")
    return float(there.mean()), error
