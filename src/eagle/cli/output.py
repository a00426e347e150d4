"""Explanations as text, JSON, tables and images, on the screen and in files."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from eagle import Explanation, Explanations
from eagle.cli.files import package
from eagle.files.sealed import writable
from eagle.types import InputError, clean

FORMATS: Final = ("table", "json", "parquet", "png", "explanations")


def format_of(arguments: Namespace, many: bool = False) -> str:
    """The format of the output, by option or file name. Errors come before the model runs."""
    out: Path | None = arguments.out
    ending = out.suffix[1:].lower() if out is not None else ""
    form: str = arguments.format or (ending if ending in FORMATS else "table")
    if form in ("parquet", "png", "explanations") and out is None:
        raise InputError(f"--format {form} needs --out, a file to write")
    if out is not None and not out.absolute().parent.is_dir():
        raise InputError(f"there is no folder {out.absolute().parent} to write to")
    if form in ("parquet", "explanations"):
        package("pyarrow", "writing parquet")
    if form == "png":
        package("matplotlib", "drawing a plot").use("Agg")
        if many and out is not None and out.exists() and not out.is_dir():
            raise InputError(f"many images need a folder, which {out} is not")
    return form


def about(explanation: Explanation, target: str | None, against: str | None) -> Explanation:
    """The explanation of other outputs, by the text of their names."""
    if target is None and against is None:
        return explanation
    named = {str(o): o for o in explanation.outputs}
    for text in (target, against):
        if text is not None and text not in named:
            raise InputError(f"the model has no output {text!r}; it has {', '.join(named)}")
    this = explanation.target if target is None else named[target]
    if against is None:
        return explanation.about(this)
    if this == named[against]:
        raise InputError(f"{against} is what is explained already: set another --target against it")
    return explanation.about((this, named[against]))


def give(
    explanations: dict[int, Explanation],
    form: str,
    many: bool,
    arguments: Namespace,
    ids: Sequence[Any] | None = None,
) -> None:
    """Write or print explanations, by row, in the given format. `ids` name all rows of the data."""
    out: Path | None = arguments.out
    names = {row: row if ids is None else ids[row] for row in explanations}
    if form == "parquet":
        tidy(explanations, names).to_parquet(out, index=False)
    elif form == "explanations":
        assert out is not None  # `format_of` refuses this without a file
        Explanations.of(list(explanations.values()), list(names.values())).save(out)
    elif form == "png":
        assert out is not None  # `format_of` refuses png without a file
        draw_files(explanations, out, many)
    elif form == "json":
        plain = [e.to_dict() for e in explanations.values()]
        narrow = out is None and "utf" not in (sys.stdout.encoding or "").lower()
        value = plain if many else plain[0]
        text = json.dumps(value, indent=1, ensure_ascii=narrow, allow_nan=False)
        if writable(text) != text:  # a lone surrogate, which only an escape can hold
            text = json.dumps(value, indent=1, allow_nan=False)
        say(text, out)
    elif out is None and sys.stdout.isatty() and find_spec("rich"):
        console = import_module("rich.console").Console(highlight=False)
        for row, e in explanations.items():
            console.print(*([f"Row {names[row]}", e, ""] if many else [e]), sep="\n")
    else:
        say(
            "\n\n".join(
                f"Row {names[row]}\n{e}" if many else str(e) for row, e in explanations.items()
            ),
            out,
        )
    wrote(arguments)


def wrote(arguments: Namespace) -> None:
    if arguments.out is not None and not arguments.quiet:
        print(clean(f"wrote {arguments.out.absolute()}"), file=sys.stderr)


def say(text: str, out: Path | None) -> None:
    if out is None:
        print(text)
    else:
        out.write_text(writable(text) + "\n", encoding="utf-8")


def tidy(explanations: dict[int, Explanation], names: Mapping[int, Any] | None = None) -> Any:
    """All explanations in one table, one line for each row and feature; values are text."""
    pd = package("pandas", "a table of explanations")
    frames = []
    for row, e in explanations.items():
        frame = e.to_frame()
        values = [None if v is None else writable(str(v)) for v in e.data]
        frame["value"] = pd.array(values, dtype="string")
        frame.insert(0, "row", row if names is None else names[row])
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def drawn(e: Explanation) -> Any:
    """The figure for the kind of thing that is explained."""
    from eagle import plot
    from eagle.subject import Curves, Image, Passage

    if isinstance(e.subject, Image | Curves):
        return (plot.image if isinstance(e.subject, Image) else plot.series)(e)[0].figure
    if isinstance(e.subject, Passage):
        return (plot.prompt(e) if e.subject.labels else plot.text(e)).figure
    return plot.attribution(e).figure


def draw_files(explanations: dict[int, Explanation], out: Path, many: bool) -> None:
    """Write one image, or a folder with one image for each row."""
    from matplotlib import pyplot as plt

    if many:
        out.mkdir(exist_ok=True)
    for row, e in explanations.items():
        figure: Any = drawn(e)
        try:
            figure.savefig(out / f"row-{row}.png" if many else out, dpi=200, format="png")
        finally:
            plt.close(figure)
