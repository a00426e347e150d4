"""`eagle compare`: one row by several methods, several times each."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import eagle
from eagle._engine.names import METHODS
from eagle._engine.pipeline import take_finished
from eagle.cli.files import one_row, read_model, refuse_overwriting
from eagle.cli.options import (
    cost_options,
    data_options,
    explainer,
    how_options,
    limit,
    model_options,
    read_data,
)
from eagle.cli.output import format_of, say, wrote
from eagle.comparison import Comparison, comparison_of, estimate_cost
from eagle.errors import InputError


def compare(arguments: Namespace) -> int:
    form = format_of(arguments)
    if form in ("json", "parquet"):
        raise InputError("a comparison is written as .csv, .png or text")
    refuse_overwriting([arguments.model, arguments.data], arguments.out)
    model = read_model(arguments.model, arguments.trust)
    data = read_data(arguments, model)
    x = one_row(data, arguments.row)
    asked = explainer(model, data, arguments), arguments.methods, x
    how: dict[str, Any] = {
        "runs": arguments.runs,
        "converged": arguments.converged,
    }
    if arguments.estimate:
        print(estimate_cost(*asked, **how))
        return 0
    try:
        comparison = eagle.compare_methods(
            *asked,
            **how,
            k=arguments.top,
            limit=limit(arguments),
            progress=not arguments.quiet,
        )
    except BaseException as error:  # finished explanations are still given
        done, converged = list(take_finished(error).values()), arguments.converged is not None
        total = arguments.runs * len(arguments.methods) + converged
        error.add_note(f"{len(done)} of {total} explanations were made")
        if len(done) > converged:
            partly = comparison_of(done, arguments.runs, arguments.top, converged)
            give_comparison(partly, form, arguments)
        raise
    give_comparison(comparison, form, arguments)
    return 0


def give_comparison(comparison: Comparison, form: str, arguments: Namespace) -> None:
    out: Path | None = arguments.out
    if form == "csv":
        say(comparison.to_frame().to_csv(index=False).rstrip("\n"), out)
    elif form == "png":
        from matplotlib import pyplot as plt

        from eagle import plot

        figure: Any = plot.compare_methods(comparison)[0].figure
        figure.savefig(out, dpi=200, format="png")
        plt.close(figure)
    else:
        say(str(comparison), out)
    wrote(arguments)


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    p.usage = "eagle compare MODEL --data FILE --row N [options]"
    model_options(p)
    add = data_options(p).add_argument
    add("--row", type=int, metavar="N", required=True, help="the row of the data, from 0")
    add = how_options(p, method=False).add_argument
    add(
        "--methods",
        nargs="+",
        choices=METHODS,
        metavar="METHOD",
        default=["default", "eagle", "lime", "baylime", "bayeslime"],
        help="a wrong name lists all (default: default eagle lime baylime bayeslime)",
    )
    add("--budget", type=int, metavar="N", help="rows to ask for each run (mostly 500)")
    add("--runs", type=int, default=5, metavar="N", help="runs of each (default: 5)")
    add("--top", type=int, default=5, metavar="K", help="features that count (default: 5)")
    add(
        "--converged",
        type=int,
        metavar="N",
        help="also the agreement with LIME's explanation from N further rows",
    )
    cost_options(p)
    add = p.add_argument_group("output").add_argument
    add("--out", type=Path, metavar="PATH", help="file to write: .csv, .png, else text")
    add("--quiet", action="store_true", help="no progress and no notes")
    p.set_defaults(format=None, method="eagle")
