"""What `eagle bench` does."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Final

from eagle.bench.experiment import Experiment, experiment, experiments
from eagle.bench.report.write import write
from eagle.bench.run import Outcome
from eagle.bench.run import run as run_trials
from eagle.bench.store import Store
from eagle.types import InputError


def listed(arguments: Namespace) -> int:
    """Each experiment with what it makes, and how many of its records are there."""
    records = Store(arguments.records).read()
    for name, planned in _chosen(arguments).items():
        done = sum(planned.owns(record) for record in records)
        print(f"{name:<18}{done:>7,} records  {planned.title}")
    return 0


def run(arguments: Namespace) -> int:
    """Run what has no record yet; then pack the records."""
    store = Store(arguments.records)
    trials = {name: list(planned.trials()) for name, planned in _chosen(arguments).items()}
    outcome = Outcome()
    for alone in (False, True):  # all that may run side by side does, in one go
        some = [t for several in trials.values() for t in several if t.alone == alone]
        some.sort(key=lambda trial: trial.problem)  # a process keeps the problem it has loaded
        jobs = 1 if alone else arguments.jobs
        outcome += run_trials(some, store, jobs, silent=arguments.quiet)
    for name, several in trials.items():
        new, bad = (len({t.key for t in several} & keys) for keys in (outcome.done, outcome.bad))
        tail = f", {bad} failed" if bad else ""
        before = len({t.key for t in several}) - new - bad
        print(f"{name}: {new:,} trials done, {before:,} were done before{tail}")
    for sentence in dict.fromkeys(outcome.failed.values()):
        print(f"  failed: {sentence}")
    store.pack()
    return 1 if outcome.failed else 0


def report(arguments: Namespace) -> int:
    """Write the pages of all experiments that have records, or of some."""
    only = ["--only", *arguments.only] if arguments.only else []
    how = " ".join(["--profile", arguments.profile, *only])
    made = write(_chosen(arguments), Store(arguments.records), how, arguments.out)
    print(f"{len(made)} pages: {made[-1].absolute()}")
    return 0


def _chosen(arguments: Namespace) -> dict[str, Experiment]:
    """The experiments that are named, or all, in the profile's sizes; on some data, if they are."""
    every = experiments(arguments.experiments)
    for name in arguments.names:
        if name not in every:
            raise InputError(f"there is no experiment {name!r}: there are {', '.join(every)}")
    chosen = {n: experiment(every[n], arguments.profile) for n in arguments.names or every}
    if not arguments.only:
        return chosen
    known = dict.fromkeys(d for planned in chosen.values() for d in planned.data)
    for data in arguments.only:
        if data not in known:
            raise InputError(
                f"none of these experiments has the data set {data!r}: they have {', '.join(known)}"
            )
    return {n: planned.only(arguments.only) for n, planned in chosen.items()}


COMMANDS: Final[dict[str, Callable[[Namespace], int]]] = {
    "list": listed, "run": run, "report": report,
}  # fmt: skip
