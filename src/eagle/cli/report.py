"""`eagle report`: a saved result as one HTML file."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

import eagle
from eagle.cli.files import package, refuse_overwriting
from eagle.cli.summary import groups
from eagle.surrogate.posterior import LEVEL
from eagle.types import InputError, clean


def report(arguments: Namespace) -> int:
    file: Path = arguments.file
    out: Path = arguments.out or Path(f"{file.stem or 'why'}.html")
    refuse_overwriting([file, arguments.survey], out)
    if not file.exists():
        raise InputError(f"there is no file {file}")
    result = eagle.load(file)
    made_by = None if arguments.survey is None else eagle.Survey.load(arguments.survey)
    chosen = None
    if arguments.by is not None:
        if not isinstance(result, eagle.Explanations):
            raise InputError("--by compares groups of rows: the file has no explanations of many")
        package("pandas", "a comparison of groups")
        chosen = groups(result, arguments.by)
    eagle.report(
        result,
        out,
        title=arguments.title,
        made_by=made_by,
        groups=chosen,
        level=arguments.level,
        progress=not arguments.quiet,
    )
    if not arguments.quiet:
        print(clean(f"wrote {out.absolute()}"), file=sys.stderr)
    return 0


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    add = p.add_argument
    add("file", type=Path, metavar="FILE", help="saved explanations, or a survey")
    add("-o", "--out", type=Path, metavar="HTML", help="what to write (default: FILE's name.html)")
    add("--title", metavar="TEXT", help="the title (default: what is explained)")
    add("--by", metavar="FEATURE", help="compare groups of rows, by their value of this feature")
    add("--survey", type=Path, metavar="JSON", help="the survey that made it: it names the model")
    add(
        "--level", type=float, default=LEVEL, metavar="P", help=f"of intervals (default: {LEVEL:g})"
    )
    add("--quiet", action="store_true", help="no progress, no note on what was written")
