"""`eagle report`: what a saved result says, on the screen and as one HTML file or a table."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

import eagle
from eagle import Explanations, Survey
from eagle._questions.statements import fit_of
from eagle._values.packages import package
from eagle._values.text import clean, finite, short
from eagle.cli.files import refuse_overwriting, write_table
from eagle.display.many import title
from eagle.errors import EagleError, InputError

MAX_LEVELS: Final = 8
"""A number with more distinct values than this is cut into four ranges."""

MAX_LINES: Final = 20
"""Maximum number of lines of a table on the screen. A file has all of them."""

TABLES: Final = (".csv", ".csv.gz", ".parquet")

COLUMNS: Final = ("feature", "importance", "low", "high", "mean_score", "top_k_share")
"""The columns of a summary that are shown."""


def report(arguments: Namespace) -> int:
    file: Path = arguments.file
    out: Path = arguments.out or Path(f"{file.stem or 'why'}.html")
    refuse_overwriting([file, arguments.survey], out)
    if not file.exists():
        raise InputError(f"there is no file {file}")
    result = eagle.load(file)
    made_by = None if arguments.survey is None else Survey.load(arguments.survey)
    by = None
    if arguments.by is not None:
        if not isinstance(result, Explanations):
            raise InputError("--by compares groups of rows: the file has no explanations of many")
        package("pandas", "a comparison of groups", "cli")
        by = groups(result, arguments.by)
    if out.name.lower().endswith(TABLES):
        if not isinstance(result, Explanations):
            raise InputError("a table is written of explanations of many rows: name an .html file")
        write_table(_table(result, by), out)
    else:
        eagle.report(
            result,
            out,
            made_by=made_by,
            groups=by,
            progress=not arguments.quiet,
        )
    if not arguments.quiet:
        print(_text(result, by))
        print(clean(f"wrote {out.absolute()}"), file=sys.stderr)
    return 0


# -- groups --------------------------------------------------------------------------------------


def groups(every: Explanations, feature: str) -> list[str]:
    """A label for each row: the feature's value, or the range of numbers that it is in."""
    if feature not in every.names:
        listed = ", ".join(every.names[:20]) + (", …" if len(every.names) > 20 else "")
        raise InputError(f"--by names {feature!r}, but the features are {listed}")
    values = every.data[:, every.names.index(feature)].tolist()
    known = [float(v) for v in values if finite(v)]
    if len(known) < sum(v is not None for v in values) or len(set(known)) <= MAX_LEVELS:
        return ["missing" if v is None else str(v) for v in values]
    edges = np.unique(np.quantile(known, [0.25, 0.5, 0.75]))
    labels = _ranges(feature, edges.tolist())
    return [
        "missing" if v is None else labels[int(np.searchsorted(edges, float(v)))] for v in values
    ]


def _ranges(feature: str, edges: list[float]) -> list[str]:
    """Labels of the ranges between edges, each with its upper end."""
    name = short(feature, 24)
    first, last = f"{name} ≤ {edges[0]:.4g}", f"{name} > {edges[-1]:.4g}"
    between = [f"{low:.4g} < {name} ≤ {high:.4g}" for low, high in pairwise(edges)]
    return [first, *between, last]


# -- tables and texts ----------------------------------------------------------------------------


def _table(every: Explanations, by: list[str] | None) -> Any:
    """What drives the model over all rows, or how groups of rows differ, the largest first."""
    if by is None:
        return every.summary().reset_index()
    table = every.compare_groups(by)
    return table.iloc[np.argsort(-table["difference"].abs().to_numpy(), kind="stable")]


def _text(result: Any, by: list[str] | None) -> str:
    """A result for the screen."""
    if isinstance(result, Survey):
        return "\n".join(map(clean, result.describe().splitlines()))
    if not isinstance(result, Explanations):
        return str(result)
    said = fit_of(result)
    notes = [*([f"{said}."] if said else []), *(f"Note: {note}" for note in result.notes)]
    return "\n\n".join([*_of_classes(result, by), *notes])


def _of_classes(every: Explanations, by: list[str] | None) -> Iterator[str]:
    """A table for each class that rows are explained about; groups are of one class."""
    if by is not None or len(every.about) == 1:
        yield _table_head(every, by)
        return
    for target in every.about:
        yield _table_head(
            every[[k for k, other in enumerate(every.targets) if other == target]], None
        )


def _table_head(every: Explanations, by: list[str] | None) -> str:
    """The head of the table, or why there is none."""
    try:
        table = _table(every, by)
    except EagleError as error:
        return clean(f"{title(every)}: {error}")
    shown = table.head(MAX_LINES).copy()
    for column in ("feature", "group", "against", "slope"):
        if column in shown:
            shown[column] = [short(str(value), 40) for value in shown[column]]
    told = "Difference of mean scores; low, high: 95% intervals for all at once."
    if by is None:
        shown = shown[[*COLUMNS, *(["slope"] if "slope" in shown else [])]]
        told = (
            "importance: mean size of the score, with its 95% interval;\n"
            "mean_score: mean score, with its sign;\n"
            "top_k_share: share of rows in which it is among the 3 strongest."
        )
    lines = [clean(title(every)), "", shown.to_string(index=False, float_format="{:.4g}".format)]
    if more := len(table) - len(shown):
        lines.append(f"… and {more} more lines: -o FILE.csv writes all")
    return "\n".join([*lines, "", told])


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    add = p.add_argument
    add("file", type=Path, metavar="FILE", help="what 'eagle explain' or 'eagle survey' wrote")
    add(
        "-o",
        "--out",
        type=Path,
        metavar="PATH",
        help="an .html file (default: FILE's name.html); of many rows also the table alone: .csv, "
        ".csv.gz, .parquet",
    )
    add("--by", metavar="FEATURE", help="compare groups of rows, by their value of this feature")
    add("--survey", type=Path, metavar="JSON", help="the survey that made it: it names the model")
    add("--quiet", action="store_true", help="say nothing")
