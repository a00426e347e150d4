"""`eagle explain … --rows big.parquet --out folder/`: a whole data set, part by part."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from eagle import Explainer, Survey
from eagle.cli.files import read_model
from eagle.cli.from_survey import aimed, check_options, is_survey, survey_of
from eagle.cli.options import explainer, read_data, with_ids
from eagle.targets import Target
from eagle.types import EagleError, InputError, clean


def options(p: ArgumentParser) -> None:
    """Adds the command's options for whole data sets."""
    add = p.add_argument
    add("--workers", type=int, metavar="N", help="processes, if --out is a folder (default: 1)")
    add("--ray", metavar="ADDRESS", help="workers on a Ray cluster: auto, local or an address")
    add("--part-rows", type=int, metavar="N", help="rows of a part file, if --out is a folder")


def is_wanted(arguments: Namespace) -> bool:
    """Whether a folder of parts is to be written: Parquet rows, and --out without an ending."""
    out, rows, form = arguments.out, arguments.rows, arguments.format
    media = arguments.image or arguments.text or arguments.text_column is not None
    parquet = rows is not None and (rows.is_dir() or rows.suffix.lower() == ".parquet")
    folder = out is not None and (out.is_dir() or not out.suffix)
    wanted = bool(parquet and folder and form is None and not media)
    asked = (arguments.workers, arguments.ray, arguments.part_rows)
    if not wanted and any(option is not None for option in asked):
        raise InputError(
            "--workers, --ray and --part-rows are for whole data sets: --rows is a .parquet "
            "file or a folder of them, and --out a folder"
        )
    return wanted


def explain(arguments: Namespace) -> int:
    """Explain all rows of a data set into a folder."""
    from eagle import dataset

    made, target = _maker(arguments)
    address = arguments.ray
    try:
        done = dataset.explain(
            made,
            arguments.rows,
            arguments.out,
            target=target,
            id_column=arguments.id,
            part_rows=arguments.part_rows,
            workers=arguments.workers or 1,
            engine="local"
            if address is None
            else dataset.Ray(None if address == "local" else address),
            progress=not arguments.quiet,
        )
    except EagleError as error:
        for note in vars(error).get("__notes__", ()):
            print(clean(note), file=sys.stderr)
        raise
    if not arguments.quiet:
        where: Path = arguments.out.absolute()
        print(clean(f"wrote {len(done):,} explanations to {where}"), file=sys.stderr)
    return 0


def _maker(arguments: Namespace) -> tuple[Explainer | Survey, Target]:
    """What explains the rows, and about what."""
    if is_survey(arguments):
        check_options(arguments)
        survey = survey_of(arguments)
        return survey, aimed(survey.outputs, arguments.target, arguments.against)
    if arguments.quote or arguments.price is not None or arguments.limit is not None:
        raise InputError("--quote, --price and --limit are not for whole data sets: quote a sample")
    if arguments.data is None:
        raise InputError("explain needs --data, a table like the one the model was fitted on")
    model = read_model(arguments.model, arguments.trust)
    data = with_ids(read_data(arguments), arguments.id, missing=True)
    return explainer(model, data, arguments), _target(model, arguments)


def _target(model: Any, arguments: Namespace) -> Target:
    """What is explained, by the text of its name."""
    known = arguments.outputs or getattr(model, "classes_", None)
    named = {str(one): one for one in (() if known is None else list(known))}
    target, against = (
        named.get(text, text) if text is not None else None
        for text in (arguments.target, arguments.against)
    )
    if against is None:
        return target
    if target is None:
        raise InputError("--against needs a --target where many rows are explained")
    return target, against
