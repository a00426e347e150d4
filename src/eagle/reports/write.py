"""A report as a file."""

from __future__ import annotations

import io
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import IO, Any

from eagle.comparison import Comparison
from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.files import atomic
from eagle.files.sealed import writable
from eagle.reports import one
from eagle.reports.about import About
from eagle.reports.document import Document
from eagle.surrogate.posterior import LEVEL, check_level
from eagle.survey.survey import Survey
from eagle.types import InputError, told


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
    as `Explanations.compare` takes them. `when` is the date that is written, now if it is not
    given: the same result and date give the same bytes.
    """
    check_level(level)
    if made_by is not None and not isinstance(made_by, Explainer | Survey):
        raise InputError(
            f"made_by is the explainer or the survey that made the result, not {told(made_by)}"
        )
    if groups is not None and not isinstance(result, Explanations):
        raise InputError("groups are groups of rows: only Explanations of many rows have them")
    about = About(when or datetime.now().astimezone(), title, level, groups, made_by, not progress)
    _write(writable(_document(result, about).html()), out)


def _document(result: Any, about: About) -> Document:
    from eagle.reports import compared, several, surveyed

    if isinstance(result, Explanation):
        return one.document(result, about)
    if isinstance(result, Explanations):
        return several.document(result, about)
    if isinstance(result, Comparison):
        return compared.document(result, about)
    if isinstance(result, Survey):
        return surveyed.document(result, about)
    raise InputError(
        "a report is of an Explanation, Explanations, a Comparison or a Survey, not of "
        f"{told(result)}"
    )


def _write(page: str, out: Any) -> None:
    if isinstance(out, str | PathLike):
        path = Path(out)
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
        raise InputError(f"a report is written to a path or an open file, not to {told(out)}")


def _put(path: Path, page: str) -> None:
    path.write_bytes(page.encode())
