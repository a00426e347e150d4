"""Explanations as text, JSON, tables and images, on the screen and in files."""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from eagle import Explanation, Explanations, plot
from eagle._values.packages import package
from eagle._values.subject import Curves, Image, Passage
from eagle._values.text import clean
from eagle.errors import InputError
from eagle.io.container import writable

FORMATS: Final = ("text", "json", "csv", "parquet", "png")


def output_options(p: ArgumentParser) -> None:
    """Where explanations go, and how."""
    add = p.add_argument_group("output").add_argument
    add(
        "--out",
        type=Path,
        metavar="PATH",
        help="file to write: .json, .csv (a line for each row and feature), .parquet (what 'eagle "
        "report' and eagle.load read), .png, else text; a folder for many images",
    )
    add("--format", choices=FORMATS, help="default: as --out ends, else text")
    add("--quiet", action="store_true", help="no progress and no notes")


def format_of(arguments: Namespace, many: bool = False) -> str:
    """The format of the output, by option or file name. Errors come before the model runs."""
    out: Path | None = arguments.out
    ending = out.suffix[1:].lower() if out is not None else ""
    form: str = arguments.format or (ending if ending in FORMATS else "text")
    if form in ("parquet", "png") and out is None:
        raise InputError(f"--format {form} needs --out, a file to write")
    if out is not None and not out.absolute().parent.is_dir():
        raise InputError(f"there is no folder {out.absolute().parent} to write to")
    if form == "parquet":
        package("pyarrow", "writing parquet", "cli")
    if form == "png":
        package("matplotlib", "drawing a plot", "cli").use("Agg")
        if many and out is not None and out.exists() and not out.is_dir():
            raise InputError(f"many images need a folder, which {out} is not")
    return form


def row_labels(ids: Sequence[Any]) -> list[str]:
    return [f"Row {name}" for name in ids]


def image_names(labels: Sequence[str]) -> list[str]:
    """The names of the images of many explanations, all different."""
    stems = [re.sub(r"[\s/\\]", "-", label.lower()) for label in labels]
    alike = len(set(stems)) < len(stems)
    return [f"{stem}-{k}.png" if alike else f"{stem}.png" for k, stem in enumerate(stems)]


def give(
    every: Explanations,
    form: str,
    arguments: Namespace,
    many: bool = True,
    labels: Sequence[str] | None = None,
) -> None:
    """Write or print explanations in the given format. `labels` are what many are called."""
    out: Path | None = arguments.out
    labels = row_labels(every.ids) if labels is None else labels
    if form == "parquet":
        assert out is not None  # `format_of` refuses parquet and png without a file
        every.save(out)
    elif form == "png":
        assert out is not None
        draw_files(every, out, image_names(labels) if many else None)
    elif form == "csv":
        say(every.to_frame().to_csv(index=False).rstrip("\n"), out)
    elif form == "json":
        say(as_json(every, many, out), out)
    else:
        texts = [
            f"{clean(label)}\n{e}" if many else str(e)
            for label, e in zip(labels, every, strict=True)
        ]
        say("\n\n".join(texts), out)
    wrote(arguments)


def wrote(arguments: Namespace) -> None:
    if arguments.out is not None and not arguments.quiet:
        print(clean(f"wrote {arguments.out.absolute()}"), file=sys.stderr)


def say(text: str, out: Path | None) -> None:
    if out is None:
        print(text)
    else:
        out.write_text(writable(text) + "\n", encoding="utf-8")


def as_json(every: Explanations, many: bool, out: Path | None) -> str:
    """One explanation as it is saved; of many a list of them, each with its id."""
    plain: Any = every[0].to_dict()
    if many:
        plain = [
            {"id": name if isinstance(name, int) else str(name), "explanation": e.to_dict()}
            for name, e in zip(every.ids, every, strict=True)
        ]
    narrow = out is None and "utf" not in (sys.stdout.encoding or "").lower()
    text = json.dumps(plain, indent=1, ensure_ascii=narrow, allow_nan=False)
    if writable(text) != text:  # a lone surrogate, which only an escape can hold
        text = json.dumps(plain, indent=1, allow_nan=False)
    return text


def draw(e: Explanation) -> Any:
    """The figure for the kind of thing that is explained."""
    if isinstance(e.subject, Image | Curves):
        return (plot.image if isinstance(e.subject, Image) else plot.series)(e)[0].figure
    if isinstance(e.subject, Passage):
        return (plot.prompt(e) if e.subject.labels else plot.text(e)).figure
    return plot.attribution(e).figure


def draw_files(every: Explanations, out: Path, names: Sequence[str] | None) -> None:
    """Write one image; or with `names` a folder of them."""
    from matplotlib import pyplot as plt

    if names is not None:
        out.mkdir(exist_ok=True)
    paths = [out] if names is None else [out / name for name in names]
    for path, e in zip(paths, every, strict=True):
        figure: Any = draw(e)
        try:
            figure.savefig(path, dpi=200, format="png")
        finally:
            plt.close(figure)
