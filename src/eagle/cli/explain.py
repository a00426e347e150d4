"""`eagle explain`: predictions of a model in a file, for data in a file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from eagle import Explanation
from eagle.cli import dataset, media
from eagle.cli.files import one_row, read_model, read_table, refuse_overwriting
from eagle.cli.from_survey import explain_from_survey, is_survey
from eagle.cli.options import (
    explainer,
    id_option,
    limit,
    method_option,
    quote_options,
    read_data,
    result_options,
    space_options,
    with_ids,
)
from eagle.cli.output import about, format_of, give
from eagle.engine.run import kept
from eagle.progress import Progress
from eagle.types import InputError

HELP: Final = ".onnx, or .joblib or .pkl to trust; or the .json of 'eagle survey', without a model"


def explain(arguments: Namespace) -> int:
    if dataset.is_wanted(arguments):
        return dataset.explain(arguments)
    if is_survey(arguments):
        return explain_from_survey(arguments)
    if media.asked(arguments):
        return media.explain(arguments)
    if arguments.row is None and arguments.rows is None and not arguments.all:
        raise InputError("explain needs one of --row, --rows and --all: which rows of the data")
    many = arguments.row is None
    form = format_of(arguments, many)
    inputs = (arguments.model, arguments.data, arguments.rows)
    refuse_overwriting(inputs, arguments.out)
    model = read_model(arguments.model, arguments.trust)
    data = with_ids(read_data(arguments), arguments.id, missing=arguments.rows is not None)
    media.refuse_texts(data, arguments)
    rows = data
    if arguments.rows is not None:
        rows = with_ids(read_table(arguments.rows), arguments.id)
    ids = None if arguments.id is None else rows.index.tolist()
    rows = rows if many else one_row(rows, arguments.row)
    numbers = list(range(len(rows))) if many else [arguments.row]
    if many and form == "png":
        refuse_overwriting(inputs, *(arguments.out / f"row-{row}.png" for row in numbers))
    made = explainer(model, data, arguments)
    if arguments.quote:
        print(made.quote(rows, price_per_row=arguments.price))
        return 0
    progress = Progress("explained", len(rows), silent=arguments.quiet)
    explanations: dict[int, Explanation] = {}
    try:
        each = made.explain_each(rows, limit=limit(arguments))
        for row, explanation in zip(numbers, each, strict=True):
            explanations[row] = about(explanation, arguments.target, arguments.against)
            progress.at(len(explanations))
    except BaseException as error:
        for place, explanation in kept(error).items():  # finished, but not yet yielded
            explanations[numbers[place]] = about(explanation, arguments.target, arguments.against)
        error.add_note(f"{len(explanations)} of {len(numbers)} rows were explained")
        raise
    finally:  # also if the model fails: finished explanations are still given
        progress.close()
        if explanations:
            give(explanations, form, many, arguments, ids)
    return 0


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    p.add_argument("model", type=Path, metavar="MODEL", help=HELP)
    rows = space_options(p, required=False).add_mutually_exclusive_group()
    rows.add_argument("--row", type=int, metavar="N", help="explain this row of the data, from 0")
    rows.add_argument("--rows", type=Path, metavar="FILE", help="explain the rows of another file")
    rows.add_argument("--all", action="store_true", help="explain all rows of the data")
    p.add_argument("--trust", action="store_true", help="load a pickle, which runs code from it")
    p.add_argument("--survey", type=Path, metavar="FILE", help="explain from this survey")
    id_option(p)
    media.options(p)
    method_option(p)
    quote_options(p)
    result_options(p)
    dataset.options(p)
