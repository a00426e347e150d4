"""The command `python -m evaluation`."""

from __future__ import annotations

import argparse
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from eagle.cli import demo_option, package, run_command

HERE: Final = Path(__file__).parent
NEEDED: Final = ("pandas", "sklearn", "pyarrow", "threadpoolctl", "matplotlib")
BENCHES: Final = (
    "speed",
    "methods",
    "truth",
    "honest",
    "tried",
    "intervals",
    "figures",
    "pictures",
    "levels",
)
DEMOS: Final = ("mnist", "photo", "spam")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; what cannot be done is said in one sentence, and is exit code 2."""
    return run_command(parser(), argv)


def act(arguments: Namespace) -> int:
    """Do what is asked, once the packages for it are known to be there."""
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
    """What `list`, `run` and `report` have in common."""
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
        "--experiments",
        type=Path,
        default=HERE / "experiments",
        metavar="FOLDER",
        help="where the experiments are (default: evaluation/experiments)",
    )
    add(
        "--records",
        type=Path,
        default=HERE / "records",
        metavar="FOLDER",
        help="where the records are kept (default: evaluation/records)",
    )
    add(
        "--out",
        type=Path,
        default=HERE.parent / "docs" / "results",
        metavar="FOLDER",
        help="where the pages go (default: docs/results)",
    )
    add("--quiet", action="store_true", help="no progress")


if __name__ == "__main__":
    sys.exit(main())
