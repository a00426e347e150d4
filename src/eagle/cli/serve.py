"""`eagle serve`: explanations of a model in a file, in a browser."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any, Final

from eagle import Survey
from eagle.cli import media
from eagle.cli.files import package, read_model, read_table
from eagle.cli.options import (
    explainer,
    id_option,
    method_option,
    read_data,
    space_options,
    with_ids,
)
from eagle.types import InputError
from eagle.until import Budget

TOKEN: Final = "EAGLE_TOKEN"
"""The environment variable that holds the page's token: in the arguments all users would see it."""


def serve(arguments: Namespace) -> int:
    """Serve the page until Ctrl-C."""
    for name in ("starlette", "uvicorn", "pydantic"):
        package(name, "the page", "web")
    from eagle.web.server import serve as serve_page

    ready, rows, survey = _demo() if arguments.model is None else _given(arguments)
    serve_page(
        ready,
        rows,
        survey=survey,
        limit=_limit(arguments),
        price_per_row=arguments.price,
        together=arguments.together,
        host=arguments.host,
        port=arguments.port,
        names=arguments.name,
        token=os.environ.get(TOKEN) or None,
        title="Tumours" if arguments.model is None else arguments.title or arguments.model.stem,
        browser=arguments.open,
    )
    return 0


def _given(arguments: Namespace) -> tuple[Any, Any, Any]:
    """What the arguments name: an explainer or a survey, rows to open, and a survey beside."""
    if arguments.data is None:
        raise InputError("serve needs --data, a table like the one the model was fitted on")
    if arguments.model.suffix.lower() == ".json":
        data = with_ids(read_data(arguments), arguments.id)
        return Survey.load(arguments.model), _rows(arguments, data), None
    model = read_model(arguments.model, arguments.trust)
    data = with_ids(read_data(arguments), arguments.id, missing=arguments.rows is not None)
    media.refuse_texts(data, arguments)
    ready = explainer(model, data, arguments)
    survey: Any = arguments.survey_rows
    if arguments.survey is not None:
        survey = Survey.load(arguments.survey, model)
    return ready, _rows(arguments, data), survey


def _rows(arguments: Namespace, data: Any) -> Any:
    if arguments.rows is None:
        return data
    return with_ids(read_table(arguments.rows), arguments.id)


def _limit(arguments: Namespace) -> Budget | None:
    if arguments.limit is not None and arguments.money is not None:
        raise InputError("give one of --limit, a number of rows, and --money")
    if arguments.money is not None:
        if arguments.price is None:
            raise InputError("--money needs the --price of a row")
        return Budget(money=arguments.money, price_per_row=arguments.price)
    return None if arguments.limit is None else Budget(rows=arguments.limit)


def _demo() -> tuple[Any, Any, Any]:
    """The demo's forest and its tumours."""
    package("sklearn", "the demo")
    package("pandas", "the demo")
    from eagle import demos

    ready, rows = demos.tumours()
    return ready, rows, 4096


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    p.add_argument(
        "model",
        type=Path,
        metavar="MODEL",
        nargs="?",
        help=".onnx, or .joblib or .pkl to trust, or the .json of 'eagle survey'; without it, the "
        "demo's model",
    )
    space_options(p, required=False)
    add = p.add_argument
    add("--rows", type=Path, metavar="FILE", help="rows to open (default: those of --data)")
    id_option(p)
    method_option(p)
    asked = p.add_mutually_exclusive_group()
    asked.add_argument("--survey", type=Path, metavar="FILE", help="explain from this survey")
    asked.add_argument("--survey-rows", type=int, metavar="N", help="make a survey of N rows first")
    add("--limit", type=int, metavar="N", help="ask at most N rows in all")
    add("--price", type=float, metavar="P", help="price of a row, to be shown")
    add("--money", type=float, metavar="M", help="spend at most M, at --price a row")
    add("--together", type=int, default=1, metavar="N", help="threads that may ask at once (1)")
    add("--host", default="127.0.0.1", metavar="ADDRESS", help="default: this machine alone")
    add("--name", nargs="+", action="extend", default=[], help="names the page is opened by")
    add("--port", type=int, metavar="N", help="default: 8765, or any that is free")
    add("--title", metavar="TEXT", help="what the page is called (default: the model's file)")
    add("--open", action="store_true", help="open it in the browser")
    add("--trust", action="store_true", help="load a pickle, which runs code from it")
