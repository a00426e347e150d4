"""`eagle plan` and `eagle fit`: the rows to ask a model elsewhere, and its answers."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from eagle import Plan
from eagle.cli.files import (
    one_row,
    read_table,
    refuse_overwriting,
    same_file,
    table_kind,
    there,
    write_table,
)
from eagle.cli.options import explainer, method_option, read_data, result_options, space_options
from eagle.cli.output import about, format_of, give
from eagle.types import InputError, clean


def plan(arguments: Namespace) -> int:
    out: Path = arguments.out
    table_kind(out)
    stem = Path(out.name.removesuffix(".gz")).stem
    path: Path = arguments.plan or out.with_name(f"{stem}.plan.json")
    refuse_overwriting([arguments.data], out, path)
    if out.resolve() == path.resolve() or same_file(out, path):
        raise InputError(f"the rows and the plan need two files, and {path} is one")
    data = read_data(arguments)
    made = explainer(None, data, arguments).plan(one_row(data, arguments.row))
    write_table(made.inputs, out)
    made.save(path)
    if not arguments.quiet:
        print(clean(f"{made.rows} rows to answer: {out}"))
        print(
            clean(f"Answer them in a table, one column an output, then: eagle fit {path} ANSWERS")
        )
    return 0


def fit(arguments: Namespace) -> int:
    form = format_of(arguments)
    refuse_overwriting([arguments.plan, arguments.answers], arguments.out)
    made = Plan.load(there(arguments.plan))
    answers = read_table(arguments.answers)
    if len(answers) != made.rows:
        raise InputError(
            f"{arguments.answers} has {len(answers)} rows, but the plan asks {made.rows}: give "
            "one for each, in their order, below a first line of names"
        )
    made, answers = named(made, answers)
    explanation = about(made.fit(answers.to_numpy()), arguments.target, arguments.against)
    give({0: explanation}, form, False, arguments)
    return 0


def named(made: Plan, answers: Any) -> tuple[Plan, Any]:
    """A plan and its answers with the same names and order of outputs."""
    names = [str(c) for c in answers.columns]
    if "Unnamed: 0" in names:
        raise InputError("the answers have a column without a name: write them without an index")
    outputs = made.box.outputs
    if outputs is None and len(names) > 1:
        return replace(made, box=replace(made.box, outputs=tuple(names))), answers
    order = [str(o) for o in outputs or ()]
    if sorted(order) == sorted(names):
        return made, answers.iloc[:, [names.index(o) for o in order]]
    return made, answers


def plan_options(p: ArgumentParser) -> None:
    """Adds the options of `eagle plan`."""
    space_options(p).add_argument(
        "--row", type=int, metavar="N", required=True, help="the row of the data to explain, from 0"
    )
    p.add_argument("--out", type=Path, metavar="ROWS", required=True, help="rows to be answered")
    method_option(p)
    p.add_argument("--plan", type=Path, metavar="PLAN", help="the plan (default: ROWS.plan.json)")
    p.add_argument("--quiet", action="store_true", help="say nothing")


def fit_options(p: ArgumentParser) -> None:
    """Adds the options of `eagle fit`."""
    p.add_argument("plan", type=Path, metavar="PLAN", help="what 'eagle plan' wrote")
    p.add_argument(
        "answers",
        type=Path,
        metavar="ANSWERS",
        help="table: one row for each row asked, one column an output",
    )
    result_options(p)
