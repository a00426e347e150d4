"""`eagle summary`: what many explanations say of a whole table."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from eagle import Explanations
from eagle.cli.files import package, refuse_overwriting, table_kind, there, write_table
from eagle.show.many import title
from eagle.surrogate.posterior import LEVEL
from eagle.types import InputError, clean, finite, integer, short

PLOTS: Final = ("importance", "beeswarm", "heatmap")

DISTINCT: Final = 8
"""A number with more distinct values than this is cut into four ranges."""

SHOWN: Final = 20
"""Maximum number of rows printed. A file has all of them."""


def summary(arguments: Namespace) -> int:
    out: Path | None = arguments.out
    refuse_overwriting([arguments.file], out, arguments.plot)
    if out is not None:
        table_kind(out)
    if arguments.plot is not None:
        package("matplotlib", "drawing a plot").use("Agg")
    package("pandas", "a summary")
    file: Path = arguments.file
    every = _read(file if file.is_dir() else there(file))
    table = _table(every, arguments)
    if arguments.plot is not None:
        _draw(every, table, arguments)
    if arguments.by is not None:
        table = table.iloc[np.argsort(-table["difference"].abs().to_numpy(), kind="stable")]
    if out is not None:
        write_table(table, out)
    for written in (out, arguments.plot):
        if written is not None and not arguments.quiet:
            print(clean(f"wrote {written.absolute()}"), file=sys.stderr)
    if out is None:
        print(_text(every, table, arguments))
    return 0


def _read(path: Path) -> Explanations:
    try:
        return Explanations.load(path)
    except InputError as error:
        raise InputError(
            f"{error}. 'eagle explain' writes such a file from a survey, or with --format "
            "explanations"
        ) from None


def _table(every: Explanations, arguments: Namespace) -> Any:
    level, sample = arguments.level, not arguments.these_rows
    if arguments.by is None:
        top = integer(arguments.top, "--top", 1)
        return every.summary(top, level, sample=sample).reset_index()
    return every.compare(groups(every, arguments.by), level, sample=sample)


def groups(every: Explanations, feature: str) -> Any:
    """A label for each row: the feature's value, or the range of numbers that it is in."""
    if feature not in every.names:
        listed = ", ".join(every.names[:20]) + (", …" if len(every.names) > 20 else "")
        raise InputError(f"--by names {feature!r}, but the features are {listed}")
    values = every.data[:, every.names.index(feature)]
    known = [float(v) for v in values if finite(v)]
    if len(known) < sum(v is not None for v in values) or len(set(known)) <= DISTINCT:
        return [_label(v) for v in values.tolist()]
    edges = np.unique(np.quantile(known, [0.25, 0.5, 0.75]))
    labels = _ranges(feature, edges.tolist())
    return [
        "missing" if v is None else labels[int(np.searchsorted(edges, float(v)))]
        for v in values.tolist()
    ]


def _label(value: Any) -> str:
    return "missing" if value is None else str(value)


def _ranges(feature: str, edges: list[float]) -> list[str]:
    """Labels of the ranges between edges, each with its upper end."""
    name = short(feature, 24)
    first, last = f"{name} ≤ {edges[0]:.4g}", f"{name} > {edges[-1]:.4g}"
    between = [f"{low:.4g} < {name} ≤ {high:.4g}" for low, high in pairwise(edges)]
    return [first, *between, last]


def _draw(every: Explanations, table: Any, arguments: Namespace) -> None:
    from matplotlib import pyplot as plt

    from eagle import plot

    level = arguments.level
    draw: dict[str, Callable[[], Any]] = {
        "importance": lambda: plot.importance(every, level=level, sample=not arguments.these_rows),
        "beeswarm": lambda: plot.beeswarm(every, level=level),
        "heatmap": lambda: plot.heatmap(every),
    }
    ax = plot.cohorts(table) if arguments.by is not None else draw[arguments.kind]()
    figure: Any = ax.figure
    try:
        figure.savefig(arguments.plot, dpi=200, format="png")
    finally:
        plt.close(figure)


def _text(every: Explanations, table: Any, arguments: Namespace) -> str:
    """Text table. Long names are cut; rows beyond the limit are replaced by a count."""
    shown = table.head(SHOWN).copy()
    for column in ("feature", "group", "against"):
        if column in shown:
            shown[column] = [short(str(value), 40) for value in shown[column]]
    more = len(table) - len(shown)
    lines = [
        clean(title(every)),
        "",
        shown.to_string(index=False, float_format=lambda x: f"{x:.4g}"),
        *([f"… and {more} more lines: --out FILE writes all"] if more else []),
        "",
        *_notes(arguments),
    ]
    return "\n".join(lines)


def _notes(arguments: Namespace) -> list[str]:
    level = f"{100 * arguments.level:g}%"
    if arguments.by is None:
        what = [
            f"importance: mean size of the score; effect: its mean; top: share of rows in which "
            f"it is among the {arguments.top} strongest.",
            f"low, high: {level} intervals.",
        ]
    else:
        what = [f"difference of mean scores; low, high: {level} intervals for all at once."]
    rows = "" if arguments.these_rows else ", and that other rows could have been explained"
    return [*what, f"They count the error of the explanations{rows}."]


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    add = p.add_argument
    add(
        "file",
        type=Path,
        metavar="FILE",
        help="what 'eagle explain' wrote from a survey, or with --format explanations",
    )
    add("--by", metavar="FEATURE", help="compare groups of rows, by their value of this feature")
    add("--top", type=int, default=3, metavar="K", help="features that count (default: 3)")
    add(
        "--level", type=float, default=LEVEL, metavar="P", help=f"of intervals (default: {LEVEL:g})"
    )
    add("--these-rows", action="store_true", help="the rows are all there are, not a sample")
    add("--plot", type=Path, metavar="PNG", help="also draw it")
    add("--kind", choices=PLOTS, default="importance", help="which plot (default: importance)")
    add("--out", type=Path, metavar="FILE", help="write the table: .csv, .csv.gz or .parquet")
    add("--quiet", action="store_true", help="no notes on what was written")
