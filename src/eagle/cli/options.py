"""Options that commands share, and the explainer that they describe."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any, Final

from eagle import Explainer, Method, methods
from eagle.cli.files import columns, read_table
from eagle.cli.output import FORMATS
from eagle.engine.method import Choice
from eagle.foreign import Foreign
from eagle.models import onnx
from eagle.types import InputError
from eagle.until import Budget

METHODS: Final[dict[str, Method | Choice | Foreign]] = {
    name.lower().replace("_", "-"): value
    for name, value in vars(methods).items()
    if isinstance(value, Method | Choice | Foreign)
}


def space_options(p: ArgumentParser, required: bool = True) -> ArgumentParser:
    """Options of data and perturbations, for `explain`, `compare` and `plan`."""
    table_options(p, required)
    add = p.add_argument
    several: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
    add("--freeze", metavar="COL", help="columns never to be moved", **several)
    add(
        "--view",
        choices=("binned", "continuous"),
        help="binned (default): keeping the value's "
        "bin; continuous: moving by a standard deviation",
    )
    add(
        "--budget",
        type=int,
        metavar="N",
        help="most rows to ask (default: the method's own, mostly 500)",
    )
    return p


def table_options(p: ArgumentParser, required: bool = True) -> ArgumentParser:
    """Options of data and model that hold also for a survey."""
    add = p.add_argument
    several: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
    add(
        "--data",
        type=Path,
        metavar="FILE",
        required=required,
        help="table like the one the model was fitted on: .csv, .csv.gz, .parquet",
    )
    add("--drop", metavar="COL", help="columns to leave out, such as the label", **several)
    add("--categories", metavar="COL", help="number columns that are levels", **several)
    add(
        "--link",
        choices=("logit",),
        help="logit: explain log-odds, better where probabilities are near 0 or 1",
    )
    add("--seed", type=int, default=0, metavar="N", help="seed of all random numbers (default: 0)")
    add("--task", choices=("classification", "regression"), help="if the model does not say it")
    add("--outputs", nargs="+", metavar="NAME", help="names of the classes or targets, in order")
    return p


def quote_options(p: ArgumentParser) -> None:
    """Options of what it costs, for `explain` and `compare`."""
    add = p.add_argument
    add("--quote", action="store_true", help="only say what would be asked, and ask nothing")
    add("--price", type=float, metavar="P", help="price of a row, for --quote")
    add("--limit", type=int, metavar="N", help="ask at most N rows in all")


def limit(arguments: Namespace) -> Budget | None:
    """The limit for all that is asked."""
    if arguments.price is not None:
        raise InputError("--price is for --quote, which asks nothing: give both or none")
    return None if arguments.limit is None else Budget(rows=arguments.limit)


def method_option(p: ArgumentParser) -> None:
    p.add_argument(
        "--method",
        choices=METHODS,
        default="default",
        metavar="METHOD",
        help=f"default: the one that suits the data; or one of: {', '.join(METHODS)}",
    )


def result_options(p: ArgumentParser) -> None:
    """Options of targets and output, for `explain` and `fit`."""
    add = p.add_argument
    add("--target", metavar="CLASS", help="class or output to explain (default: the predicted)")
    add("--against", metavar="CLASS", help="explain the target against this class")
    add(
        "--format",
        choices=FORMATS,
        help="default: as --out ends, else table. parquet: a line for each row and feature; "
        "explanations: a Parquet file for 'eagle summary', the default of a survey's .parquet",
    )
    add("--out", type=Path, metavar="PATH", help="file to write; for many images a folder")
    add("--quiet", action="store_true", help="no progress and no notes")


def explainer(model: Any, data: Any, arguments: Namespace) -> Explainer:
    outputs = arguments.outputs
    if isinstance(model, onnx.OnnxModel) and outputs is None:
        if model.classes_ is None:
            model(data.iloc[:1])  # the first answer may show the classes
        outputs = model.classes_
    return Explainer(
        model,
        data,
        view=arguments.view,
        method=METHODS[arguments.method],
        budget=arguments.budget,
        random_state=arguments.seed,
        task=arguments.task,
        outputs=outputs,
        link=arguments.link,
        categories=columns(data, arguments.categories, "--categories"),
        freeze=columns(data, arguments.freeze, "--freeze"),
    )


def read_data(arguments: Namespace) -> Any:
    data = read_table(arguments.data)
    return data.drop(columns=columns(data, arguments.drop, "--drop"))


def id_option(p: ArgumentParser) -> None:
    p.add_argument("--id", metavar="COL", help="column that names the rows; it is no feature")


def with_ids(data: Any, name: str | None, missing: bool = False) -> Any:
    """A table whose rows are named by a column, which is no feature; it may be `missing`."""
    if name is None or (missing and name not in map(str, data.columns)):
        return data
    (column,) = columns(data, [name], "--id")
    if data[column].isna().any():
        raise InputError(f"--id names the column {name!r}, which is empty in some rows")
    return data.set_index(column)
