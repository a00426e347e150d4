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
    report,
    serve,
    survey,
)
from eagle.cli.process import run_command


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
            "         eagle explain survey.json --rows people.csv --target yes --out why.parquet\n"
            "         eagle explain net.onnx --image photo.jpg --preset imagenet",
        )
    )
    survey.options(
        command(
            survey.survey,
            "ask a model once, to explain whole tables from its answers",
            "eagle survey model.onnx --data train.csv --drop label --out survey.json",
        )
    )
    report.options(
        command(
            report.report,
            "say what a saved result says, and write it as one HTML file",
            "eagle report why.parquet --by job -o why.html",
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
    return top
