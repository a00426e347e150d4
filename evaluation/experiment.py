"""Experiments: files that describe lists of trials."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, Final, final

from eagle.errors import InputError
from evaluation.contestants import CONTESTANTS, CONVERGED, LIMIT
from evaluation.measure import BARE, KEPT, METRICS, load
from evaluation.problems.registry import BLACK_BOXES, OWN, PROBLEMS, UNDER, named
from evaluation.trial import Option, Record, Trial

PROFILES: Final = ("smoke", "quick", "paper")


@final
@dataclass(frozen=True)
class Experiment:
    """Which methods explain which predictions, how often, and from how many rows.

    Each of `data` is combined with each of `black_boxes`; "own" is the data set's usual one.
    `metrics` are those that the records must serve. The large parts of records that these need,
    such as curves, are kept for the methods that `by_rows` names for a part, or for all, and for
    the first `detailed` instances. Another `seed` repeats the experiment with other random numbers.

    `references` is the number of rows of converged explanations, 0 for none: LIME's limit for each
    prediction, and each method's own, except on data that are `too_dear`. `sweep` gives an option
    several values, one trial each. `fewer` are data or methods with fewer instances, `slower` are
    methods with fewer rows. Trials that are timed run `alone`.
    """

    name: str
    title: str
    data: tuple[str, ...]
    methods: tuple[str, ...]
    instances: int
    runs: int
    budgets: tuple[int, ...] = (500,)
    metrics: tuple[str, ...] = ()
    by_rows: dict[str, tuple[str, ...]] = field(default_factory=dict)
    detailed: int = sys.maxsize
    black_boxes: tuple[str, ...] = (OWN,)
    seed: int = 0
    references: int = 0
    too_dear: tuple[str, ...] = ()
    sweep: dict[str, tuple[Option, ...]] = field(default_factory=dict)
    fewer: dict[str, int] = field(default_factory=dict)
    slower: dict[str, int] = field(default_factory=dict)
    alone: bool = False

    def __post_init__(self) -> None:
        _known("data set", (*self.data, *self.too_dear), PROBLEMS)
        _known("black box", self.black_boxes, (OWN, *BLACK_BOXES))
        _known("data set or method", tuple(self.fewer), (*PROBLEMS, *CONTESTANTS))
        _known("part of a record", tuple(self.by_rows), KEPT)
        detailed = tuple(m for several in self.by_rows.values() for m in several)
        _known("method", (*self.methods, *detailed, *self.slower), (*CONTESTANTS, BARE))
        _known("metric", self.metrics, METRICS)
        for name, least in (("instances", 1), ("runs", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InputError(
                    f"{self.name}: {name} must be an integer from {least}, not {value!r}"
                )

    @property
    def problems(self) -> tuple[str, ...]:
        """The names of data sets with black boxes."""
        return tuple(named(data, box) for data, box in product(self.data, self.black_boxes))

    def only(self, data: Sequence[str]) -> Experiment:
        """The part of the experiment on these data sets."""
        return replace(self, data=tuple(d for d in self.data if d in data))

    def keep(self, method: str, instance: int = 0) -> tuple[str, ...]:
        """The large parts that records of a method must have for the metrics."""
        if instance >= self.detailed:
            return ()
        needed = {METRICS[metric] for metric in self.metrics}
        return tuple(p for p in KEPT if p in needed and method in self.by_rows.get(p, (method,)))

    def trials(self) -> Iterator[Trial]:
        """All trials, those of a prediction together. Loads the problems."""
        for name in self.problems:
            problem = load(name)
            count = min(self._count(name), len(problem.instances))
            methods = [m for m in self.methods if m == BARE or CONTESTANTS[m].fits(problem)]
            for instance in range(count):
                asked = [m for m in methods if instance < self._count(m)]
                for method in asked:
                    yield from self._of(name, instance, method)
                yield from self._references(name, instance, asked)

    def _count(self, name: str) -> int:
        """How many instances a problem or a method has."""
        return self.fewer.get(name.split(UNDER)[0], self.instances)

    def _dear(self, problem: str) -> bool:
        return problem.split(UNDER)[0] in self.too_dear

    def owns(self, record: Record) -> bool:
        """Whether a record belongs to one of the trials. No problem is loaded for this."""
        problem, method, rows = record["problem"], record["method"], record["budget"]
        if problem not in self.problems or record.get("chance", 0) != self.seed:
            return False
        if record["instance"] >= min(self._count(problem), self._count(method)):
            return False
        options = tuple(json.loads(record["options"]).items())
        if rows == self.references and not record["keep"] and record["run"] == 0:
            own = options == ((LIMIT, 1),) and not self._dear(problem)
            if (method == CONVERGED and not options) or (own and method in self.methods):
                return True
        return (
            method in self.methods
            and record["run"] < self.runs
            and options in self._swept()
            and rows in {min(b, self.slower.get(method, b)) for b in self.budgets}
            and record["alone"] == self.alone
            and record["keep"] == " ".join(self.keep(method, record["instance"]))
        )

    def _swept(self) -> list[tuple[tuple[str, Option], ...]]:
        return list(product(*[[(name, v) for v in vs] for name, vs in self.sweep.items()]))

    def _of(self, problem: str, instance: int, method: str) -> Iterator[Trial]:
        keep = self.keep(method, instance)
        for options, budget, run in product(self._swept(), self.budgets, range(self.runs)):
            most = min(budget, self.slower.get(method, budget))
            if most == budget or budget == max(self.budgets):
                yield Trial(
                    problem, instance, method, most, run, options, keep, self.alone, self.seed
                )

    def _references(self, problem: str, instance: int, methods: list[str]) -> Iterator[Trial]:
        if not self.references:
            return
        yield Trial(problem, instance, CONVERGED, self.references, chance=self.seed)
        for method in methods if not self._dear(problem) else ():
            if method != BARE and CONTESTANTS[method].endless:
                rows, limit = self.references, ((LIMIT, 1),)
                yield Trial(problem, instance, method, rows, 0, limit, chance=self.seed)


def experiment(path: Path, profile: str = "quick") -> Experiment:
    """An experiment from its file, in the size of a profile."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path.name} is not an experiment: {error}") from None
    profiles = said.pop("profiles", {})
    if profile not in profiles:
        raise InputError(f"{path.name} has no profile {profile!r}: it has {', '.join(profiles)}")
    said |= profiles[profile]
    names = {f.name for f in fields(Experiment)} - {"name"}
    for key in said:
        if key not in names:
            raise InputError(
                f"{path.name}: {key!r} says nothing; known are {', '.join(sorted(names))}"
            )
    try:
        return Experiment(name=path.stem, **{k: _frozen(v) for k, v in said.items()})
    except TypeError as error:
        raise InputError(f"{path.name} is not complete: {error}") from None


def experiments(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """The files of experiments in a folder, by name."""
    paths = {path.stem: path for path in sorted(Path(folder).glob("*.toml"))}
    if not paths:
        raise InputError(
            f"there are no experiments in {os.fspath(folder)!r}: run this in a clone of the "
            "project, or name the folder that holds them"
        )
    return paths


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _frozen(v) for k, v in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _known(what: str, names: tuple[str, ...], known: Any) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"there is no {what} {name!r}: there are {', '.join(known)}")
