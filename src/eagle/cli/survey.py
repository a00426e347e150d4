"""`eagle survey`: rows that are asked once, to explain whole tables."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from eagle import Explainer, Survey
from eagle._values.checks import integer
from eagle._values.text import clean
from eagle.cli.files import read_model, refuse_overwriting
from eagle.cli.options import (
    cost_options,
    data_options,
    explainer,
    how_options,
    limit,
    model_options,
    read_data,
)
from eagle.cli.output import wrote
from eagle.cost import CostEstimate
from eagle.errors import InputError
from eagle.limit import Meter

FIRST_ROWS = 1024
"""First size of a survey. It then doubles, so that little is lost if the command is stopped."""


def survey(arguments: Namespace) -> int:
    out: Path = arguments.out
    if not out.absolute().parent.is_dir():
        raise InputError(f"there is no folder {out.absolute().parent} to write to")
    refuse_overwriting([arguments.model, arguments.data], out)
    rows = integer(arguments.rows, "--rows", 1)
    model = read_model(arguments.model, arguments.trust)
    ex = explainer(model, read_data(arguments, model), arguments)
    if arguments.estimate:
        print(_estimate(ex, rows))
        return 0
    made = _ask(ex, rows, arguments)
    made.save(out)
    if not arguments.quiet:
        print("\n".join(map(clean, made.describe().splitlines())))
    wrote(arguments)
    return 0


def lengths(rows: int) -> list[int]:
    """The lengths of the survey as it grows."""
    out = [min(rows, FIRST_ROWS)]
    while out[-1] < rows:
        out.append(min(2 * out[-1], rows))
    return out


def _estimate(ex: Explainer, rows: int) -> CostEstimate:
    """The cost of the survey in steps: equal rows of one step are asked once."""
    plan = ex.survey_plan(rows)
    first, *others = [
        replace(plan, drawn=plan.drawn.part(start, end)).estimate_cost()
        for start, end in pairwise([0, *lengths(rows)])
    ]
    return sum(others, first)


def _ask(ex: Explainer, rows: int, arguments: Namespace) -> Survey:
    """The survey. If it is stopped on the way, what was answered is written."""
    made: Survey | None = None
    most, progress = limit(arguments), not arguments.quiet
    Meter(most).refuse(_estimate(ex, rows).cost)  # before the first step is asked
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
    p.usage = "eagle survey MODEL --data FILE --out FILE [options]"
    model_options(p)
    data_options(p)
    add = how_options(p, method=False).add_argument
    add("--rows", type=int, default=4096, metavar="N", help="rows to ask (default: 4096)")
    cost_options(p)
    add = p.add_argument_group("output").add_argument
    add("--out", type=Path, metavar="FILE", required=True, help="the survey, a .json file")
    add("--quiet", action="store_true", help="no progress and no notes")
    p.set_defaults(budget=None, method="default")
