"""`eagle explain` from a survey: whole tables, with or without the model."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from eagle import Explanation, Explanations, Survey
from eagle.cli.files import columns, one_row, read_model, read_table, refuse_overwriting, there
from eagle.cli.options import with_ids
from eagle.cli.output import format_of, give, wrote
from eagle.explanations import joined
from eagle.progress import Progress
from eagle.targets import Target
from eagle.types import InputError, clean

PART: Final = 2000
"""Rows explained at once. If the command is stopped, what is finished is given."""

DECIDED: Final[dict[str, Any]] = {
    "categories": [],
    "freeze": [],
    "view": None,
    "link": None,
    "budget": None,
    "seed": 0,
    "task": None,
    "outputs": None,
    "method": "default",
}
"""Options that say how a survey is made, and what they are if they are not given."""


def is_survey(arguments: Namespace) -> bool:
    """Whether a survey explains."""
    model: Path = arguments.model
    return arguments.survey is not None or model.suffix.lower() == ".json"


def explain_from_survey(arguments: Namespace) -> int:
    """Explain rows of a file from a survey, and the model where there is one."""
    many = arguments.row is None
    if arguments.format is None and str(arguments.out or "").lower().endswith(".parquet"):
        arguments.format = "explanations"
    form = format_of(arguments, many)
    inputs = (arguments.model, arguments.survey, arguments.data, arguments.rows)
    refuse_overwriting(inputs, arguments.out)
    check_options(arguments)
    survey = survey_of(arguments)
    if survey.note and not arguments.quiet:
        print(clean(f"note: {survey.note}"), file=sys.stderr)
    rows = _rows(arguments)
    ids = None if arguments.id is None else rows.index.tolist()
    rows = rows if many else one_row(rows, arguments.row)
    target = aimed(survey.outputs, arguments.target, arguments.against)
    line = Progress("explained", len(rows), silent=arguments.quiet)
    parts: list[Explanations] = []
    try:
        for start in range(0, len(rows), PART):
            some = rows.iloc[start : start + PART]
            parts.append(survey.explain_many(some, target, progress=False))
            line.at(min(start + PART, len(rows)))
    except BaseException as error:
        done = sum(map(len, parts))
        error.add_note(f"{done} of {len(rows)} rows were explained")
        raise
    finally:  # also if the model fails: finished explanations are still given
        line.close()
        if parts:
            _give(parts, form, many, arguments, ids)
    return 0


def check_options(arguments: Namespace) -> None:
    """Refuse options that a survey has no use for."""
    for name, default in DECIDED.items():
        if vars(arguments)[name] != default:
            raise InputError(f"--{name} was decided when the survey was made: leave it out")
    if arguments.image or arguments.text or arguments.text_column is not None:
        raise InputError("a survey explains rows of a table, not images and texts")
    if arguments.quote or arguments.price is not None or arguments.limit is not None:
        raise InputError(
            "--quote, --price and --limit are for 'eagle survey': from it rows are explained by "
            "asking for their predictions alone, or, without the model, nothing"
        )
    asked = arguments.row is not None or arguments.all
    if arguments.rows is None and (arguments.data is None or not asked):
        raise InputError("which rows to explain? --rows FILE, or --data FILE with --all or --row")


def survey_of(arguments: Namespace) -> Survey:
    """The survey, with its model if one is given."""
    if arguments.survey is None:
        return Survey.load(there(arguments.model))
    model = read_model(arguments.model, arguments.trust)
    return Survey.load(there(arguments.survey), model)


def _rows(arguments: Namespace) -> Any:
    table = read_table(arguments.data if arguments.rows is None else arguments.rows)
    table = table.drop(columns=columns(table, arguments.drop, "--drop"))
    return with_ids(table, arguments.id)


def aimed(outputs: Sequence[Any], target: str | None, against: str | None) -> Target:
    """What to explain, by the texts of the outputs' names."""
    named = {str(o): o for o in outputs}
    for text in (target, against):
        if text is not None and text not in named:
            raise InputError(f"the model has no output {text!r}; it has {', '.join(named)}")
    if against is None:
        return None if target is None else named[target]
    if target is None or target == against:
        raise InputError("--against needs --target, another class")
    return named[target], named[against]


def _give(
    parts: Sequence[Explanations],
    form: str,
    many: bool,
    arguments: Namespace,
    ids: Sequence[Any] | None,
) -> None:
    every = joined(parts)
    if form == "explanations":
        every.save(arguments.out)
        wrote(arguments)
        return
    numbers = range(len(every)) if many else [arguments.row]
    each: dict[int, Explanation] = dict(zip(numbers, every, strict=True))
    give(each, form, many, arguments, ids)
