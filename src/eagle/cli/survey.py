"""`eagle survey`: rows that are asked once, to explain whole tables."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from eagle import Explainer, Survey
from eagle.cli.files import read_model, refuse_overwriting
from eagle.cli.options import (
    explainer,
    id_option,
    limit,
    quote_options,
    read_data,
    table_options,
    with_ids,
)
from eagle.cli.output import wrote
from eagle.quote import Quote
from eagle.survey.plan import Account
from eagle.types import InputError, clean, integer

FIRST = 1024
"""First size of a survey. It then doubles, so that little is lost if the command is stopped."""


def survey(arguments: Namespace) -> int:
    out: Path = arguments.out
    if not out.absolute().parent.is_dir():
        raise InputError(f"there is no folder {out.absolute().parent} to write to")
    refuse_overwriting([arguments.model, arguments.data], out)
    rows = integer(arguments.rows, "--rows", 1)
    model = read_model(arguments.model, arguments.trust)
    data = with_ids(read_data(arguments), arguments.id)
    ex = explainer(model, data, arguments)
    if arguments.quote:
        print(_quote(ex, rows, arguments.price))
        return 0
    made = _asked(ex, rows, arguments)
    made.save(out)
    if not arguments.quiet:
        print("\n".join(map(clean, made.describe().splitlines())))
    wrote(arguments)
    return 0


def lengths(rows: int) -> list[int]:
    """The lengths of the survey as it grows."""
    out = [min(rows, FIRST)]
    while out[-1] < rows:
        out.append(min(2 * out[-1], rows))
    return out


def _quote(ex: Explainer, rows: int, price: float | None) -> Quote:
    """The cost of the survey in steps: equal rows of one step are asked once."""
    plan = ex.survey_plan(rows)
    first, *others = [
        replace(plan, drawn=plan.drawn.part(start, end)).quote(price_per_row=price)
        for start, end in pairwise([0, *lengths(rows)])
    ]
    return sum(others, first)


def _asked(ex: Explainer, rows: int, arguments: Namespace) -> Survey:
    """The survey. If it is stopped on the way, what was answered is written."""
    made: Survey | None = None
    most, progress = limit(arguments), not arguments.quiet
    ask = ex.survey_plan(rows, limit=most).setting.ask
    ask.refuse(_quote(ex, rows, None).rows, Account())  # before the first step is asked
    try:
        for count in lengths(rows):
            if made is None:
                made = ex.survey(count, limit=most, progress=progress)
            else:
                made = made.grow(count, progress=progress)
        assert made is not None
        return made
    except BaseException as error:
        rescued = [one for one in vars(error).get("finished", []) if isinstance(one, Survey)]
        made = rescued[0] if rescued else made
        if made is not None:
            made.save(arguments.out)
            wrote(arguments)
            error.add_note(
                f"the survey of the first {made.rows:,} of {rows:,} rows is in {arguments.out}"
            )
        raise


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    p.add_argument("model", type=Path, metavar="MODEL", help=".onnx, or .joblib or .pkl to trust")
    table_options(p)
    add = p.add_argument
    add("--rows", type=int, default=4096, metavar="N", help="rows to ask (default: 4096)")
    id_option(p)
    quote_options(p)
    add("--out", type=Path, metavar="FILE", required=True, help="the survey, a .json file")
    add("--trust", action="store_true", help="load a pickle, which runs code from it")
    add("--quiet", action="store_true", help="no progress and no notes")
    p.set_defaults(view=None, freeze=[], budget=None, method="default")
