"""`eagle ledger`: what a ledger of answers holds, as text, as a table, and whether it is whole."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from eagle._values.packages import package
from eagle._values.text import clean
from eagle.cli.files import refuse_overwriting, table_kind, there, write_table
from eagle.cli.output import wrote
from eagle.errors import InputError
from eagle.models.ledger import Ledger, as_columns


def show(arguments: Namespace) -> int:
    """Print whose answers a ledger holds, how many, and how many rows are in doubt."""
    for line in str(Ledger(there(arguments.file)).summary()).split("\n"):
        print(clean(line))
    return 0


def export(arguments: Namespace) -> int:
    """Write all answers with their rows as a table."""
    table_kind(arguments.out)
    refuse_overwriting([arguments.file], arguments.out)
    pd = package("pandas", "a table of answers", "cli")
    columns = as_columns(Ledger(there(arguments.file)).rows())
    if not columns:
        raise InputError(f"{arguments.file} holds no answers yet")
    for name, values in columns.items():  # rows of several models may mix texts and numbers
        if len({type(value) for value in values if value is not None}) > 1:
            columns[name] = [None if value is None else str(value) for value in values]
    write_table(pd.DataFrame(columns), arguments.out)
    wrote(arguments)
    return 0


def verify(arguments: Namespace) -> int:
    """Check each page, row and answer of a ledger: exit code 1 if something is wrong."""
    ledger = Ledger(there(arguments.file))
    wrong = ledger.verify()
    for sentence in wrong:
        print(clean(sentence))
    if wrong:
        return 1
    summary = ledger.summary()
    print(f"All is well: {summary.rows} answered rows, {summary.doubt} in doubt")
    return 0


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    commands = p.add_subparsers(required=True, metavar="{show,export,verify}")
    for run, says in (
        (show, "say whose answers it holds, how many, and how many rows are in doubt"),
        (export, "write all answers, with their rows, as a table"),
        (verify, "check each page, row and answer"),
    ):
        one = commands.add_parser(run.__name__, help=says, description=f"{says.capitalize()}.")
        one.add_argument("file", type=Path, metavar="FILE", help="a ledger of answers")
        one.set_defaults(run=run)
        if run is export:
            one.add_argument(
                "--out", type=Path, metavar="TABLE", required=True, help=".csv or .parquet"
            )
            one.add_argument("--quiet", action="store_true", help="no notes")
