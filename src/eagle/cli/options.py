"""Options that commands share, and what explains as they say."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from eagle import Explainer, Limit, Survey, Table
from eagle._engine.names import METHODS
from eagle._values.text import clean
from eagle.cli.files import columns, read_model, read_table, there
from eagle.errors import InputError
from eagle.models import onnx
from eagle.models.levels import level_columns, levels_of_model, with_levels

ONE_OR_MORE: Final[dict[str, Any]] = {"nargs": "+", "action": "extend", "default": []}

SURVEY_DECIDES: Final[dict[str, Any]] = {
    "categories": [],
    "method": "default",
    "budget": None,
    "link": None,
    "seed": 0,
    "outputs": None,
    "estimate": False,
    "limit": None,
    "limit_seconds": None,
}
"""Options of how a survey is made, and what they are where they are not given."""


# -- options -------------------------------------------------------------------------------------


def model_options(p: ArgumentParser, required: bool = True, survey: bool = False) -> None:
    """The model, and whether a pickle may be loaded."""
    saved = "; or the .json of 'eagle survey'" if survey else ""
    demo = "" if required else "; without it, the demo's model"
    p.add_argument(
        "model",
        type=Path,
        metavar="MODEL",
        nargs=None if required else "?",
        help=f".onnx, .joblib or .pkl{saved}{demo}",
    )
    p.add_argument(
        "--trust", action="store_true", help="load a .joblib or .pkl, which runs code from it"
    )


def data_options(p: ArgumentParser, required: bool = True) -> Any:
    """The table and its columns. Gives the group, for options of rows."""
    group = p.add_argument_group("data")
    add = group.add_argument
    add(
        "--data",
        type=Path,
        metavar="FILE",
        required=required,
        help="table like the one the model was fitted on: .csv, .csv.gz, .parquet",
    )
    add("--drop", metavar="COL", help="columns to leave out, such as the label", **ONE_OR_MORE)
    add("--id", metavar="COL", help="column that names the rows; it is no feature")
    add("--categories", metavar="COL", help="number columns that are levels", **ONE_OR_MORE)
    return group


def how_options(p: ArgumentParser, method: bool = True) -> Any:
    """How explanations are made. Gives the group."""
    group = p.add_argument_group("how")
    add = group.add_argument
    if method:
        add(
            "--method",
            choices=METHODS,
            default="default",
            metavar="METHOD",
            help="such as eagle, lime or shap-kernel; a wrong name lists all (default: the one "
            "that suits the data)",
        )
        add(
            "--budget",
            type=int,
            metavar="N",
            help="most rows to ask for each (default: the method's own, mostly 500)",
        )
    add(
        "--link",
        choices=("logit",),
        help="logit: explain log-odds, better where probabilities are near 0 or 1",
    )
    add("--seed", type=int, default=0, metavar="N", help="seed of all random numbers (default: 0)")
    add("--outputs", nargs="+", metavar="NAME", help="names of the classes or targets, in order")
    return group


def cost_options(p: ArgumentParser, estimate: bool = True) -> Any:
    """What it costs and may cost. Gives the group."""
    group = p.add_argument_group("cost")
    add = group.add_argument
    if estimate:
        add("--estimate", action="store_true", help="only say what would be asked, and ask nothing")
    add("--limit", type=int, metavar="N", help="ask at most N rows in all")
    add("--limit-seconds", type=float, metavar="S", help="take at most S seconds of the model")
    return group


def limit(arguments: Namespace) -> Limit | None:
    """The limit for all that is asked."""
    if arguments.limit is None and arguments.limit_seconds is None:
        return None
    return Limit(rows=arguments.limit, seconds=arguments.limit_seconds)


# -- what explains -------------------------------------------------------------------------------


def is_survey(arguments: Namespace) -> bool:
    """Whether a survey explains."""
    return arguments.survey is not None or arguments.model.suffix.lower() == ".json"


def read_survey(arguments: Namespace) -> tuple[Survey, Any]:
    """The survey, and its model; None where the survey itself stands in the model's place."""
    for name, default in SURVEY_DECIDES.items():
        if vars(arguments).get(name, default) != default:
            option = name.replace("_", "-")
            raise InputError(f"--{option} is for 'eagle survey': with a survey leave it out")
    if arguments.survey is None:
        path, model = arguments.model, None
    else:
        path, model = arguments.survey, read_model(arguments.model, arguments.trust)
    survey = Survey.load(there(path), model)
    if survey.note and not arguments.quiet:
        print(clean(f"note: {survey.note}"), file=sys.stderr)
    return survey, model


def explainer(model: Any, data: Any, arguments: Namespace) -> Explainer:
    outputs = arguments.outputs
    if isinstance(model, onnx.OnnxModel) and outputs is None:
        if model.classes_ is None:
            model(data.iloc[:1])  # the first answer may show the classes
        outputs = model.classes_
    named = columns(data, arguments.categories, "--categories")
    known = level_columns(data, levels_of_model(model))
    return Explainer(
        model,
        Table(data, categories=[*named, *(c for c in known if c not in named)]),
        method=arguments.method,
        budget=arguments.budget,
        random_state=arguments.seed,
        outputs=outputs,
        link=arguments.link,
    )


def target_of(outputs: Sequence[Any] | None, text: str | None) -> Any:
    """The output that a text names. Outputs that are not known before an answer are numbered."""
    if text is None:
        return None
    if outputs is None:
        return int(text) if text.isdecimal() else text
    named = {str(output): output for output in outputs}
    if text not in named:
        raise InputError(f"the model has no output {text!r}; it has {', '.join(named)}")
    return named[text]


def read_data(arguments: Namespace, model: Any = None, missing: bool = False) -> Any:
    """The table of --data, whose columns have the levels that the model was fitted on.

    Its rows are named by --id, a column that may be `missing` where other rows are explained.
    """
    if arguments.data is None:
        raise InputError("--data is needed, a table like the one the model was fitted on")
    data = read_table(arguments.data)
    data = data.drop(columns=columns(data, arguments.drop, "--drop"))
    return _with_ids(with_levels(data, levels_of_model(model)), arguments.id, missing)


def read_rows(path: Path, arguments: Namespace, model: Any) -> Any:
    """The rows to explain, read as the table of --data is."""
    return _with_ids(with_levels(read_table(path), levels_of_model(model), few=True), arguments.id)


def _with_ids(data: Any, name: str | None, missing: bool = False) -> Any:
    if name is None or (missing and name not in map(str, data.columns)):
        return data
    (column,) = columns(data, [name], "--id")
    if data[column].isna().any():
        raise InputError(f"--id names the column {name!r}, which is empty in some rows")
    return data.set_index(column)
