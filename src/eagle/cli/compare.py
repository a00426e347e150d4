"""`eagle compare`: one row by several methods, several times each."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import eagle
from eagle import Explanation
from eagle.cli.files import one_row, read_model, refuse_overwriting
from eagle.cli.options import (
    METHODS,
    explainer,
    limit,
    quote_options,
    read_data,
    space_options,
)
from eagle.cli.output import format_of, say, wrote
from eagle.comparison import Compared, Comparison, quote
from eagle.engine.run import kept
from eagle.files.sealed import writable
from eagle.types import InputError


def compare(arguments: Namespace) -> int:
    form = format_of(arguments)
    if form == "json":
        raise InputError("a comparison is given as a table, parquet or png")
    refuse_overwriting([arguments.model, arguments.data], arguments.out)
    model = read_model(arguments.model, arguments.trust)
    data = read_data(arguments)
    x = one_row(data, arguments.row)
    arguments.method = "eagle"
    asked = [METHODS[name] for name in arguments.methods], explainer(model, data, arguments), x
    how: dict[str, Any] = {
        "runs": arguments.runs,
        "equal": not arguments.own_budgets,
        "converged": arguments.converged,
    }
    if arguments.quote:
        print(quote(*asked, **how, price_per_row=arguments.price))
        return 0
    try:
        comparison = eagle.compare(
            *asked,
            **how,
            k=arguments.top,
            limit=limit(arguments),
            progress=not arguments.quiet,
        )
    except BaseException as error:  # finished explanations are still given
        done = list(kept(error).values())
        total = arguments.runs * len(arguments.methods) + (arguments.converged is not None)
        error.add_note(f"{len(done)} of {total} explanations were made")
        if partly := so_far(done, arguments):
            give_comparison(partly, form, arguments)
        raise
    give_comparison(comparison, form, arguments)
    return 0


def so_far(made: Sequence[Explanation], arguments: Namespace) -> Comparison | None:
    """The comparison of the explanations made before it was stopped."""
    if not made:
        return None
    truth = None if arguments.converged is None else made[0]
    runs = made if truth is None else made[1:]
    each = [runs[i : i + arguments.runs] for i in range(0, len(runs), arguments.runs)]
    methods = tuple(Compared(tuple(some), arguments.top, truth) for some in each)
    return Comparison(methods, arguments.top, truth) if methods else None


def give_comparison(comparison: Comparison, form: str, arguments: Namespace) -> None:
    out: Path | None = arguments.out
    if form == "parquet":
        table = comparison.to_frame()
        table["value"] = table["value"].map(lambda value: writable(str(value)))
        table.to_parquet(out, index=False)
    elif form == "png":
        from matplotlib import pyplot as plt

        from eagle import plot

        figure: Any = plot.methods(comparison)[0].figure
        figure.savefig(out, dpi=200, format="png")
        plt.close(figure)
    else:
        say(str(comparison), out)
    wrote(arguments)


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    add = space_options(p).add_argument
    add("model", type=Path, metavar="MODEL", help=".onnx, or .joblib or .pkl to trust")
    add("--row", type=int, metavar="N", required=True, help="the row of the data, from 0")
    add(
        "--methods",
        nargs="+",
        choices=METHODS,
        metavar="METHOD",
        default=["default", "eagle", "lime", "baylime", "bayeslime"],
        help=f"some of: {', '.join(METHODS)}",
    )
    add("--runs", type=int, default=5, metavar="N", help="runs of each (default: 5)")
    add("--top", type=int, default=5, metavar="K", help="features that count (default: 5)")
    add("--own-budgets", action="store_true", help="each method's own budget, not one for all")
    add(
        "--converged",
        type=int,
        metavar="N",
        help="also the agreement with LIME's explanation from N further rows",
    )
    add("--trust", action="store_true", help="load a pickle, which runs code from it")
    quote_options(p)
    add("--format", choices=("table", "parquet", "png"), help="default: as --out ends, else table")
    add("--out", type=Path, metavar="PATH", help="file to write")
    add("--quiet", action="store_true", help="no progress and no notes")
