"""What `eagle bench` does."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Final

from eagle.bench.experiment import experiment, experiments
from eagle.bench.report.write import write
from eagle.bench.run import run as run_trials
from eagle.bench.store import Store
from eagle.types import InputError


def listed(arguments: Namespace) -> int:
    """Each experiment with what it makes, and how many of its records are there."""
    records = Store(arguments.records).read()
    for name, path in _chosen(arguments).items():
        planned = experiment(path, arguments.profile)
        done = sum(planned.owns(record) for record in records)
        print(f"{name:<18}{done:>7,} records  {planned.title}")
    return 0


def run(arguments: Namespace) -> int:
    """Run what has no record yet; then pack the records."""
    store, failed = Store(arguments.records), 0
    for name, path in _chosen(arguments).items():
        planned = experiment(path, arguments.profile)
        outcome = run_trials(
            list(planned.trials()), store, arguments.jobs, alone=planned.alone,
            silent=arguments.quiet,
        )  # fmt: skip
        failed += len(outcome.failed)
        print(f"{name}: {outcome.done:,} trials done, {outcome.before:,} were done before", end="")
        print(f", {len(outcome.failed)} failed" if outcome.failed else "")
        for sentence in dict.fromkeys(outcome.failed.values()):
            print(f"  failed: {sentence}")
    store.pack()
    return 1 if failed else 0


def report(arguments: Namespace) -> int:
    """Write the pages."""
    if arguments.names:
        raise InputError("a report is of all experiments that have records: give no names")
    made = write(arguments.experiments, Store(arguments.records), arguments.profile, arguments.out)
    print(f"{len(made)} pages: {made[-1].absolute()}")
    return 0


def _chosen(arguments: Namespace) -> dict[str, Path]:
    """The experiments that are named, or all."""
    every = experiments(arguments.experiments)
    for name in arguments.names:
        if name not in every:
            raise InputError(f"there is no experiment {name!r}: there are {', '.join(every)}")
    return {name: every[name] for name in arguments.names or every}


COMMANDS: Final[dict[str, Callable[[Namespace], int]]] = {
    "list": listed, "run": run, "report": report,
}  # fmt: skip
