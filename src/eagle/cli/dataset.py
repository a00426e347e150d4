"""`eagle explain … --rows big.parquet --out folder/`: a whole data set, part by part."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from eagle import Explainer, Survey, dataset
from eagle._values.text import clean
from eagle.cli.files import read_model
from eagle.cli.options import explainer, is_survey, limit, read_data, read_survey, target_of
from eagle.errors import EagleError, InputError


def options(p: ArgumentParser) -> None:
    """Adds the command's options for whole data sets."""
    group = p.add_argument_group(
        "whole files", "--rows is a .parquet file or a folder of them, and --out a folder"
    )
    add = group.add_argument
    add("--workers", type=int, metavar="N", help="processes (default: 1)")
    add("--ray", metavar="ADDRESS", help="workers on a Ray cluster: auto, local or an address")
    add("--part-rows", type=int, metavar="N", help="rows of a part file")


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
    made = _maker(arguments)
    address = arguments.ray
    try:
        done = dataset.explain(
            made,
            arguments.rows,
            arguments.out,
            target=target_of(made.outputs, arguments.target),
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


def _maker(arguments: Namespace) -> Explainer | Survey:
    """What explains the rows."""
    if is_survey(arguments):
        return read_survey(arguments)[0]
    if arguments.estimate or limit(arguments) is not None:
        raise InputError("--estimate and limits are not for whole data sets: estimate a sample")
    model = read_model(arguments.model, arguments.trust)
    return explainer(model, read_data(arguments, model, missing=True), arguments)
