"""The command `eagle`: explanations of a model in a file, for data in a file."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence

import eagle
from eagle.cli import (
    compare,
    demo,
    doctor,
    explain,
    ledger,
    plan,
    report,
    serve,
    summary,
    survey,
)
from eagle.cli.process import run_command
from eagle.types import InputError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `eagle`."""
    return run_command(parser(), argv)


def parser() -> ArgumentParser:
    top = ArgumentParser(
        "eagle",
        description="Explain single predictions: which features, how much, how sure.",
        epilog="example: eagle demo",
    )
    top.add_argument("--version", action="version", version=f"eagle {eagle.__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(run: Callable[[Namespace], int], says: str, example: str) -> ArgumentParser:
        made: ArgumentParser = commands.add_parser(
            run.__name__,
            help=says,
            description=says[:1].upper() + says[1:] + ".",
            epilog=f"example: {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.set_defaults(run=run)
        return made

    explain.options(
        command(
            explain.explain,
            "explain predictions of a model in a file",
            "eagle explain model.onnx --data train.csv --drop label --row 3\n"
            "a whole table: eagle explain survey.json --rows people.csv --id name --target yes "
            "--out explanations.parquet",
        )
    )
    survey.options(
        command(
            survey.survey,
            "ask a model once, to explain whole tables from its answers",
            "eagle survey model.onnx --data train.csv --drop label --out survey.json",
        )
    )
    summary.options(
        command(
            summary.summary,
            "say what drives a model over a whole table, with intervals",
            "eagle summary explanations.parquet --by job --plot groups.png",
        )
    )
    report.options(
        command(
            report.report,
            "write a saved result as one HTML file, to read, mail and print",
            "eagle report explanations.parquet --by job -o why.html",
        )
    )
    compare.options(
        command(
            compare.compare,
            "explain one row by several methods, several times each",
            "eagle compare model.onnx --data train.csv --drop label --row 3 --methods eagle lime",
        )
    )
    serve.options(
        command(
            serve.serve,
            "show explanations in a browser",
            "eagle serve model.onnx --data train.csv --drop label --survey-rows 4096 --open",
        )
    )
    plan.plan_options(
        command(
            plan.plan,
            "write the rows that a model elsewhere should answer",
            "eagle plan --data train.csv --drop label --row 3 --out ask.csv",
        )
    )
    plan.fit_options(
        command(
            plan.fit,
            "explain from the answers to a plan",
            "eagle fit ask.plan.json answers.csv --target yes",
        )
    )
    demo.options(
        command(demo.demo, "explain a prediction, and draw it", "eagle demo text --out me.png")
    )
    holds = commands.add_parser(
        "ledger",
        help="show, export or verify a file of answers that were paid for",
        description="Show, export or verify a file of answers that were paid for.",
        epilog="example: eagle ledger show answers.db",
    )
    ledger.options(holds)
    command(doctor.doctor, "say what is installed, and whether it works", "eagle doctor")
    # In 0.1 `bench` ran the evaluation. This prefix makes options plain arguments.
    gone = commands.add_parser("bench", prefix_chars="\0", add_help=False)
    gone.add_argument("rest", nargs="*")
    gone.set_defaults(run=bench)
    return top


def bench(arguments: Namespace) -> int:
    raise InputError(
        "the evaluation is not installed with the library: in a clone of the project, "
        "python -m evaluation runs it"
    )
