"""The records of an experiment, by problem, method and instance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from eagle.contracts import Array
from evaluation.contestants import CONVERGED, LIMIT
from evaluation.experiment import Experiment
from evaluation.measure import lengths
from evaluation.report import paper
from evaluation.trial import Record

PRINTED: Final = "EAGLE (paper)"
BALANCED: Final = "balanced"
DEFAULT: Final = "default"
"""The names of EAGLE as printed, of balanced rows, and of what is done unless told otherwise."""

SPOKEN: Final = {BALANCED: "balanced rows", DEFAULT: "the default"}
"""What a method is called in a sentence, if not by its name."""


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
        """The largest budget of trials that are not references."""
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

    def predictions(self) -> str:
        """How many predictions were explained, in words."""
        by_count: dict[int, list[str]] = {}
        for p in self.problems():
            by_count.setdefault(len(self.instances(p)), []).append(paper.SETS.get(p, p))
        if len(by_count) == 1:
            return f"{next(iter(by_count))} predictions"
        most = max(by_count, key=lambda n: len(by_count[n]))
        fewer = [f"{', '.join(names)} {n}" for n, names in by_count.items() if n != most]
        return f"{most} predictions of a data set ({'; '.join(fewer)})"

    def runs(
        self, problem: str, method: str, instance: int, budget: int | None = None, **options: Any
    ) -> list[Record]:
        """The runs of a method on a prediction, at the largest budget by default."""
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
        """The limit of LIME."""
        return self._reference(problem, CONVERGED, instance, {})

    def limit(self, problem: str, method: str, instance: int) -> Array | None:
        """The limit of the method itself."""
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

        At a length a run has its value after that many rows, or after all it asked if these
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
        """For each instance the runs whose records have a curve of this name, if any."""
        every = (
            [r for r in self.runs(problem, method, i, **options) if name in r]
            for i in self.instances(problem)
        )
        return [runs for runs in every if runs]

    def grown(self, problem: str, method: str, instance: int, name: str) -> Array | None:
        """The ranks of runs at each length, or at their end, shape (lengths, runs, d)."""
        several = [r for r in self.runs(problem, method, instance) if name in r]
        if not several:
            return None
        d = int(several[0]["d"])
        return held([np.reshape(r[name], (-1, d)) for r in several]).swapaxes(0, 1)


def held(curves: Sequence[Array]) -> Array:
    """Curves extended to the longest by their last values, shape (curves, lengths, …)."""
    long = max(map(len, curves))
    return np.stack([np.concatenate([c, *[c[-1:]] * (long - len(c))]) for c in curves])


def mean(values: Sequence[float]) -> tuple[float, float]:
    """The mean of values that are not NaN, and its standard error; NaN if there are none."""
    there = np.array([v for v in values if np.isfinite(v)])
    if not len(there):
        return float("nan"), float("nan")
    error = float(there.std(ddof=1) / np.sqrt(len(there))) if len(there) > 1 else float("nan")
    return float(there.mean()), error
