"""The commands of `python -m evaluation`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from importlib import import_module
from typing import Final

from eagle.cli.demo import show_demo
from eagle.errors import EagleError, InputError
from evaluation.check import check as check_records
from evaluation.demos import DEMOS
from evaluation.experiment import PROFILES, Experiment, experiment, experiments
from evaluation.problems import PROBLEMS
from evaluation.report.write import write
from evaluation.run import Outcome
from evaluation.run import run as run_trials
from evaluation.store import Store


def listed(arguments: Namespace) -> int:
    """List each experiment with its title and the number of its records."""
    records = Store(arguments.records).read()
    for name, planned in _chosen(arguments).items():
        done = sum(planned.owns(record) for record in records)
        print(f"{name:<18}{done:>7,} records  {planned.title}")
    return 0


def run(arguments: Namespace) -> int:
    """Run the trials that have no record yet, then pack the records."""
    store = Store(arguments.records)
    trials = {name: list(planned.trials()) for name, planned in _chosen(arguments).items()}
    outcome = Outcome()
    for alone in (False, True):  # first all trials that may run in parallel
        some = [t for several in trials.values() for t in several if t.alone == alone]
        some.sort(key=lambda trial: trial.problem)  # a process caches the problem it has loaded
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


def check(arguments: Namespace) -> int:
    """Run some of the stored trials again, and say which records no longer come out."""
    store, only = Store(arguments.records), arguments.names
    own = [r for r in store.read() if not only or r["problem"] in only]
    paths = experiments(arguments.experiments).values()
    planned = [experiment(path, profile) for path in paths for profile in PROFILES]
    strays = {r["key"] for r in own if not any(one.owns(r) for one in planned)}
    own = [r for r in own if r["key"] not in strays]
    checks = []
    for checked in check_records(own, arguments.trials, silent=arguments.quiet):
        checks.append(checked)
        if checked.changed:
            problem, method, options = checked.place
            print(f"{problem}, {method}, {options}: {checked.changed}", flush=True)
    bad = [checked for checked in checks if checked.changed]
    records = sum(len(checked.records) for checked in bad)
    print(f"{len(bad)} of {len(checks)} have changed: {records:,} of {len(own):,} records")
    print(f"{len(strays):,} more records belong to no experiment")
    if arguments.drop:
        store.remove(strays | {r["key"] for checked in bad for r in checked.records})
        print("both are removed: python -m evaluation run makes what is missing")
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
    """The experiments named, or all, in the profile's size; only on the data named, if any."""
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
    "check": check,
    "problems": problems,
    "bench": bench,
    "demo": demo,
}
