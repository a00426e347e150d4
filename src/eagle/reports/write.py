"""A report as a file."""

from __future__ import annotations

import io
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import IO, Any

from eagle._values.checks import check_flags, is_equal, path_of, string
from eagle._values.posterior import LEVEL, check_level
from eagle._values.text import short_repr
from eagle.comparison import Comparison
from eagle.errors import InputError
from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.io import atomic
from eagle.io.container import writable
from eagle.reports import one
from eagle.reports.document import Document
from eagle.reports.provenance import ReportOptions
from eagle.survey.survey import Survey


def report(
    result: Explanation | Explanations | Comparison | Survey,
    out: str | PathLike[str] | IO[str] | IO[bytes],
    *,
    title: str | None = None,
    made_by: Explainer | Survey | None = None,
    groups: Any = None,
    level: float = LEVEL,
    when: datetime | None = None,
    progress: bool = True,
) -> None:
    """Write a result as one HTML file, to be read, mailed and printed.

    `out` is a path, or a file that is open for writing. The file asks nothing of any server, and
    all of it is there without scripts. `made_by` is the explainer or the survey that made the
    result: then the page names the model and its digest. `groups` are groups of rows to compare,
    as `Explanations.compare_groups` takes them. `when` is the date that is written, now if it is
    not given: the same result and date give the same bytes.
    """
    check_level(level)
    check_flags(progress=progress)
    if title is not None:
        string(title, "title")
    if when is not None and not (isinstance(when, datetime) and is_equal(when, when)):
        raise InputError(f"when is a datetime, such as datetime.now(), not {short_repr(when)}")
    if made_by is not None and not isinstance(made_by, Explainer | Survey):
        raise InputError(
            "made_by is the explainer or the survey that made the result, not "
            f"{short_repr(made_by)}"
        )
    if groups is not None and not isinstance(result, Explanations):
        raise InputError("groups are groups of rows: only Explanations of many rows have them")
    options = ReportOptions(
        when or datetime.now().astimezone(), title, level, groups, made_by, not progress
    )
    _write(writable(_document(result, options).html()), out)


def _document(result: Any, options: ReportOptions) -> Document:
    from eagle.reports import compared, several, surveyed

    if isinstance(result, Explanation):
        return one.document(result, options)
    if isinstance(result, Explanations):
        return several.document(result, options)
    if isinstance(result, Comparison):
        return compared.document(result, options)
    if isinstance(result, Survey):
        return surveyed.document(result, options)
    raise InputError(
        "a report is of an Explanation, Explanations, a Comparison or a Survey, not of "
        f"{short_repr(result)}"
    )


def _write(page: str, out: Any) -> None:
    if isinstance(out, str | PathLike):
        path = path_of(out, "out")
        if path.is_dir():
            raise InputError(f"{path.absolute()} is a folder: give the name of a file in it")
        if not path.absolute().parent.is_dir():
            raise InputError(f"there is no folder {path.absolute().parent} to write to")
        atomic.put(path.absolute(), lambda beside: _put(beside, page))
    elif isinstance(out, io.TextIOBase):
        out.write(page)
    elif callable(write := getattr(out, "write", None)):
        try:
            write(page.encode())
        except TypeError:  # a file of texts that is not Python's own
            write(page)
    else:
        raise InputError(f"a report is written to a path or an open file, not to {short_repr(out)}")


def _put(path: Path, page: str) -> None:
    path.write_bytes(page.encode())
