"""Experiments: what a file says, as a list of trials."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any, Final, final

from eagle.bench.contestants import CONTESTANTS, CONVERGED, LIMIT
from eagle.bench.measure import BARE, KEPT, load
from eagle.bench.problems import PROBLEMS
from eagle.bench.trial import Option, Record, Trial
from eagle.types import InputError

PROFILES: Final = ("smoke", "quick", "paper")


@final
@dataclass(frozen=True)
class Experiment:
    """Which methods explain which predictions, how often, and from how many rows.

    `references` are the rows of converged explanations, 0 for none: LIME's limit for each
    prediction, and each method's own but on the problems that are `too_dear`. `sweep` gives an
    option several values, one trial each. What `keep` says is kept of the methods in `keep_of`,
    or of all. `fewer` are problems or methods with fewer instances, `slower` methods with fewer
    rows. Trials that are timed run `alone`.
    """

    name: str
    title: str
    problems: tuple[str, ...]
    methods: tuple[str, ...]
    instances: int
    runs: int
    budgets: tuple[int, ...] = (500,)
    references: int = 0
    too_dear: tuple[str, ...] = ()
    sweep: dict[str, tuple[Option, ...]] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    keep_of: tuple[str, ...] = ()
    fewer: dict[str, int] = field(default_factory=dict)
    slower: dict[str, int] = field(default_factory=dict)
    alone: bool = False

    def __post_init__(self) -> None:
        _known("problem", self.problems, PROBLEMS)
        _known("problem", self.too_dear, PROBLEMS)
        _known("problem or method", tuple(self.fewer), (*PROBLEMS, *CONTESTANTS))
        _known("method", (*self.methods, *self.keep_of, *self.slower), (*CONTESTANTS, BARE))
        _known("part of a record", self.keep, KEPT)
        for name in ("instances", "runs"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(
                    f"{self.name}: {name} must be a whole number from 1, not {value!r}"
                )

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
        return self.fewer.get(name, self.instances)

    def owns(self, record: Record) -> bool:
        """Whether a record is of one of the trials; no problem is loaded to tell."""
        problem, method, rows = record["problem"], record["method"], record["budget"]
        if problem not in self.problems:
            return False
        if record["instance"] >= min(self._count(problem), self._count(method)):
            return False
        options = tuple(json.loads(record["options"]).items())
        if rows == self.references and not record["keep"] and record["run"] == 0:
            own = options == ((LIMIT, 1),) and problem not in self.too_dear
            if (method == CONVERGED and not options) or (own and method in self.methods):
                return True
        keep = self.keep if not self.keep_of or method in self.keep_of else ()
        return (
            method in self.methods
            and record["run"] < self.runs
            and options in self._swept()
            and rows in {min(b, self.slower.get(method, b)) for b in self.budgets}
            and (record["keep"], record["alone"]) == (" ".join(keep), self.alone)
        )

    def _swept(self) -> list[tuple[tuple[str, Option], ...]]:
        return list(product(*[[(name, v) for v in vs] for name, vs in self.sweep.items()]))

    def _of(self, problem: str, instance: int, method: str) -> Iterator[Trial]:
        keep = self.keep if not self.keep_of or method in self.keep_of else ()
        for options, budget, run in product(self._swept(), self.budgets, range(self.runs)):
            most = min(budget, self.slower.get(method, budget))
            if most == budget or budget == max(self.budgets):
                yield Trial(problem, instance, method, most, run, options, keep, self.alone)

    def _references(self, problem: str, instance: int, methods: list[str]) -> Iterator[Trial]:
        if not self.references:
            return
        yield Trial(problem, instance, CONVERGED, self.references)
        for method in methods if problem not in self.too_dear else ():
            if method != BARE and CONTESTANTS[method].endless:
                yield Trial(problem, instance, method, self.references, 0, ((LIMIT, 1),))


def experiment(path: Path, profile: str = "quick") -> Experiment:
    """An experiment from its file, in the sizes of a profile."""
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
        raise InputError(f"{path.name} is not whole: {error}") from None


def experiments(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """The files of experiments in a folder, by name."""
    found = {path.stem: path for path in sorted(Path(folder).glob("*.toml"))}
    if not found:
        raise InputError(
            f"there are no experiments in {os.fspath(folder)!r}: run this in a clone of the "
            "project, or name the folder that holds them"
        )
    return found


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _frozen(v) for k, v in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _known(what: str, names: tuple[str, ...], known: Any) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"there is no {what} {name!r}: there are {', '.join(known)}")
