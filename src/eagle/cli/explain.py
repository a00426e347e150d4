"""`eagle explain`: predictions of a model in a file, for data in a file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from eagle import Explainer, Explanations, Survey
from eagle._engine.pipeline import take_finished
from eagle.cli import dataset, media
from eagle.cli.files import one_row, read_model, refuse_overwriting
from eagle.cli.options import (
    cost_options,
    data_options,
    explainer,
    how_options,
    is_survey,
    limit,
    model_options,
    read_data,
    read_rows,
    read_survey,
    target_of,
)
from eagle.cli.output import format_of, give, image_names, output_options, row_labels
from eagle.errors import InputError
from eagle.explanations import row_ids


def explain(arguments: Namespace) -> int:
    whole = dataset.is_wanted(arguments)
    if media.is_wanted(arguments):
        return media.explain(arguments)
    chosen = arguments.data is not None and (arguments.row is not None or arguments.all)
    if arguments.rows is None and not chosen:
        raise InputError(
            "which rows to explain? --data FILE with --row N or --all, or --rows FILE; or images "
            "with --image, or texts with --text"
        )
    if whole:
        return dataset.explain(arguments)
    many = arguments.row is None
    form = format_of(arguments, many)
    inputs = (arguments.model, arguments.survey, arguments.data, arguments.rows)
    refuse_overwriting(inputs, arguments.out)
    made, rows = _maker_and_rows(arguments)
    ids = row_ids(rows, len(rows))
    if many and form == "png":
        names = image_names(row_labels(ids))
        refuse_overwriting(inputs, *(arguments.out / name for name in names))
    if arguments.estimate:
        print(made.estimate_cost(rows))
        return 0
    target = target_of(made.outputs, arguments.target)
    how: dict[str, Any] = {} if isinstance(made, Survey) else {"limit": limit(arguments)}
    try:
        every = made.explain_many(rows, target, progress=not arguments.quiet, **how)
    except BaseException as error:  # finished explanations are still given
        done = take_finished(error)
        error.add_note(f"{len(done)} of {len(rows)} rows were explained")
        if done:
            finished = Explanations.of(list(done.values()), [ids[place] for place in done])
            give(finished, form, arguments, many)
        raise
    give(every, form, arguments, many)
    return 0


def _maker_and_rows(arguments: Namespace) -> tuple[Explainer | Survey, Any]:
    """What explains, and the rows."""
    made: Explainer | Survey
    if is_survey(arguments):
        made, model = read_survey(arguments)
        path = arguments.data if arguments.rows is None else arguments.rows
        rows = read_rows(path, arguments, model)
    else:
        model = read_model(arguments.model, arguments.trust)
        rows = data = read_data(arguments, model, missing=arguments.rows is not None)
        media.refuse_texts(data, arguments)
        if arguments.rows is not None:
            rows = read_rows(arguments.rows, arguments, model)
        made = explainer(model, data, arguments)
    return made, rows if arguments.row is None else one_row(rows, arguments.row)


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    p.usage = "eagle explain MODEL --data FILE (--row N | --rows FILE | --all) [options]"
    model_options(p, survey=True)
    what = p.add_argument_group("what to explain")
    rows = what.add_mutually_exclusive_group()
    rows.add_argument("--row", type=int, metavar="N", help="explain this row of the data, from 0")
    rows.add_argument("--rows", type=Path, metavar="FILE", help="explain the rows of another file")
    rows.add_argument("--all", action="store_true", help="explain all rows of the data")
    what.add_argument(
        "--target", metavar="CLASS", help="class or output to explain (default: the predicted)"
    )
    data_options(p, required=False)
    how_options(p).add_argument(
        "--survey", type=Path, metavar="FILE", help="explain from this survey, and the model"
    )
    cost_options(p)
    output_options(p)
    media.options(p)
    dataset.options(p)
