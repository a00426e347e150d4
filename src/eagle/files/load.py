"""Reads any file that eagle has saved: the file says of what kind it is."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from eagle.files import backgrounds, explanations, folders, many, plans, sealed, surveys
from eagle.files.sealed import FAULTS, mapping, text, why
from eagle.types import InputError

MAGIC: Final = b"PAR1"
"""How a Parquet file begins."""

READERS: Final[dict[str, Callable[[Any], Any]]] = {
    explanations.FORMAT.kind: explanations.load,
    plans.FORMAT.kind: plans.load,
    backgrounds.FORMAT.kind: backgrounds.load,
    surveys.FORMAT.kind: surveys.load,
}


def load(path: str | PathLike[str]) -> Any:
    """An explanation, explanations, a survey, a plan or a background: what the file holds.

    Examples:
        >>> eagle.Explainer(model, X).explain(X[0]).save(folder / "why.json")
        >>> eagle.load(folder / "why.json").top(1)
        ['x1']

    A folder holds the explanations of a whole data set, which are read when they are looked at.
    """
    if Path(path).is_dir():
        return folders.load(Path(path))
    with Path(path).open("rb") as file:
        parquet = file.read(len(MAGIC)) == MAGIC
    if parquet:
        return many.load(path)
    try:
        kind = text(mapping(sealed.parse(sealed.load(path)))["kind"])
    except FAULTS as error:
        raise InputError(f"{fspath(path)} is not a file saved by eagle: {why(error)}") from None
    if kind not in READERS:
        raise InputError(f"{fspath(path)} holds {kind[:40]!r}, which this version does not know")
    return READERS[kind](path)
