"""What `python -m evaluation` does, command by command."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from importlib import import_module
from typing import Final

from eagle.cli import show_demo
from eagle.types import EagleError, InputError
from evaluation.demos import DEMOS
from evaluation.experiment import Experiment, experiment, experiments
from evaluation.problems import PROBLEMS
from evaluation.report.write import write
from evaluation.run import Outcome
from evaluation.run import run as run_trials
from evaluation.store import Store


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


def problems(arguments: Namespace) -> int:
    """Print a line for each problem, or the sentence that says why it cannot be loaded."""
    failed = 0
    for name in arguments.names or PROBLEMS:
        if name not in PROBLEMS:
            raise InputError(f"there is no problem {name!r}: there are {', '.join(PROBLEMS)}")
        try:
            print(PROBLEMS[name](), flush=True)
        except EagleError as error:
            failed = 1
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    return failed


def bench(arguments: Namespace) -> int:
    """Run a bench by its name, with its own options."""
    import_module(f"evaluation.benches.{arguments.name}").main(arguments.options)
    return 0


def demo(arguments: Namespace) -> int:
    """Show an explanation on real data, and draw it."""
    return show_demo(DEMOS[arguments.what], arguments)


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
    "list": listed,
    "run": run,
    "report": report,
    "problems": problems,
    "bench": bench,
    "demo": demo,
}
