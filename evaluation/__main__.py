"""The command `python -m evaluation`."""

from __future__ import annotations

import argparse
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from eagle._values.packages import package
from eagle.cli.demo import demo_option
from eagle.cli.process import run_command

HERE: Final = Path(__file__).parent
NEEDED: Final = ("pandas", "sklearn", "pyarrow", "threadpoolctl", "matplotlib")
BENCHES: Final = (
    "speed",
    "methods",
    "truth",
    "honest",
    "believed",
    "tried",
    "intervals",
    "dataset",
    "figures",
    "images",
    "levels",
    "warnings",
    "wide",
    "masks",
    "untouched",
    "survey",
    "units",
    "many",
    "segments",
    "few",
    "endpoints",
    "prompts",
    "page",
    "shapley",
    "shapley_local",
)
DEMOS: Final = ("mnist", "photo", "spam")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. An error is one sentence and exit code 2."""
    return run_command(parser(), argv)


def act(arguments: Namespace) -> int:
    """Run the command that the arguments name, if the packages for it are installed."""
    for module in NEEDED:
        package(module, "the evaluation", "bench")
    from evaluation.command import COMMANDS

    return COMMANDS[arguments.command](arguments)


def parser() -> ArgumentParser:
    top = ArgumentParser(
        "python -m evaluation",
        description="Make the paper's tables and figures again, and measure the library.",
        epilog="example: python -m evaluation run table1 --profile smoke --jobs 2",
    )
    commands = top.add_subparsers(required=True, dest="command", metavar="COMMAND")

    def command(name: str, says: str) -> ArgumentParser:
        made: ArgumentParser = commands.add_parser(
            name, help=says, description=says[:1].upper() + says[1:] + "."
        )
        made.set_defaults(run=act)
        return made

    experiment_options(command("list", "list the experiments, and how many records they have"))
    experiment_options(command("run", "run the trials of experiments that have no record yet"))
    experiment_options(command("report", "write the pages of experiments from their records"))
    p = command("check", "run some stored trials again, and say which records no longer come out")
    p.add_argument("names", nargs="*", metavar="PROBLEM", help="problems (default: all)")
    p.add_argument(
        "--trials",
        type=int,
        default=2,
        metavar="N",
        help="trials of each problem, method and options (default: 2)",
    )
    p.add_argument(
        "--drop", action="store_true", help="remove what has changed, so that `run` makes it again"
    )
    store_options(p)
    p = command("problems", "load problems, and print a line for each")
    p.add_argument("names", nargs="*", metavar="NAME", help="problems (default: all)")
    p = command("bench", "measure speed, agreement or intervals, or draw the documents' figures")
    p.add_argument("name", choices=BENCHES, metavar="NAME", help=f"one of: {', '.join(BENCHES)}")
    p.add_argument(
        "options",
        nargs=argparse.REMAINDER,
        metavar="...",
        help="what the bench is given; NAME --help lists it",
    )
    p = command("demo", "explain a prediction on the evaluation's data, and draw it")
    p.add_argument(
        "what",
        choices=DEMOS,
        help="a digit, a photograph, a message, from the folder that EAGLE_DATA names",
    )
    demo_option(p)
    return top


def experiment_options(p: ArgumentParser) -> None:
    """The options that `list`, `run` and `report` share."""
    add: Callable[..., object] = p.add_argument
    add("names", nargs="*", metavar="NAME", help="experiments (default: all)")
    add(
        "--profile",
        default="quick",
        choices=("smoke", "quick", "paper"),
        metavar="PROFILE",
        help="smoke (a minute), quick (half an hour, the default), or paper",
    )
    add("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    add("--only", nargs="+", default=[], metavar="DATA", help="these data sets alone")
    add(
        "--out",
        type=Path,
        default=HERE.parent / "docs" / "results",
        metavar="FOLDER",
        help="where the pages go (default: docs/results)",
    )
    store_options(p)


def store_options(p: ArgumentParser) -> None:
    """The options of every command that reads experiments and their records."""
    p.add_argument(
        "--experiments",
        type=Path,
        default=HERE / "experiments",
        metavar="FOLDER",
        help="where the experiments are (default: evaluation/experiments)",
    )
    p.add_argument(
        "--records",
        type=Path,
        default=HERE / "records",
        metavar="FOLDER",
        help="where the records are kept (default: evaluation/records)",
    )
    p.add_argument("--quiet", action="store_true", help="no progress")


if __name__ == "__main__":
    sys.exit(main())
