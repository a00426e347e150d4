"""`eagle serve`: explanations of a model in a file, in a browser."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any, Final

from eagle import Survey
from eagle._values.packages import package
from eagle.cli import media
from eagle.cli.demo import tumours
from eagle.cli.files import read_model
from eagle.cli.options import (
    cost_options,
    data_options,
    explainer,
    how_options,
    limit,
    model_options,
    read_data,
    read_rows,
)
from eagle.web.server import serve as serve_page

TOKEN: Final = "EAGLE_TOKEN"
"""The environment variable that holds the page's token: in the arguments all users would see it."""


def serve(arguments: Namespace) -> int:
    """Serve the page until Ctrl-C."""
    for name in ("starlette", "uvicorn", "pydantic"):
        package(name, "the page", "web")
    ready, rows, survey = _demo() if arguments.model is None else _explainer_or_survey(arguments)
    serve_page(
        ready,
        rows,
        survey=survey,
        limit=limit(arguments),
        price_per_row=arguments.price,
        port=arguments.port,
        token=os.environ.get(TOKEN) or None,
        title="Tumours" if arguments.model is None else arguments.model.stem,
        browser=arguments.open,
    )
    return 0


def _explainer_or_survey(arguments: Namespace) -> tuple[Any, Any, Any]:
    """What the arguments name: an explainer or a survey, rows to open, and a survey beside."""
    model = None
    if arguments.model.suffix.lower() != ".json":
        model = read_model(arguments.model, arguments.trust)
    rows = data = read_data(arguments, model, missing=arguments.rows is not None)
    if arguments.rows is not None:
        rows = read_rows(arguments.rows, arguments, model)
    if model is None:
        return Survey.load(arguments.model), rows, None
    media.refuse_texts(data, arguments)
    ready = explainer(model, data, arguments)
    survey: Any = arguments.survey_rows
    if arguments.survey is not None:
        survey = Survey.load(arguments.survey, model)
    return ready, rows, survey


def _demo() -> tuple[Any, Any, Any]:
    """The demo's forest and its tumours."""
    package("sklearn", "the demo", "cli")
    package("pandas", "the demo", "cli")
    ready, rows = tumours()
    return ready, rows, 4096


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    p.usage = "eagle serve MODEL --data FILE [options]\n       eagle serve"
    model_options(p, required=False, survey=True)
    rows = data_options(p, required=False)
    rows.add_argument(
        "--rows", type=Path, metavar="FILE", help="rows to open (default: those of --data)"
    )
    surveyed = how_options(p).add_mutually_exclusive_group()
    surveyed.add_argument("--survey", type=Path, metavar="FILE", help="explain from this survey")
    surveyed.add_argument(
        "--survey-rows", type=int, metavar="N", help="make a survey of N rows first"
    )
    cost_options(p, estimate=False).add_argument(
        "--price", type=float, metavar="P", help="price of a row: the page says what it costs first"
    )
    add = p.add_argument_group("page").add_argument
    add("--port", type=int, metavar="N", help="default: 8765, or any that is free")
    add("--open", action="store_true", help="open it in the browser")
