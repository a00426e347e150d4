"""Reads what was saved: the file says of what kind it is."""

from __future__ import annotations

from os import PathLike
from typing import Any

from eagle._values.checks import path_of
from eagle.io import container, parquet
from eagle.io.classes import CLASSES
from eagle.io.container import Key
from eagle.saved import folders, many


def load(path: str | PathLike[str], *, key: Key = None) -> Any:
    """What a file holds: explanations, one or many, a survey, a plan or a background.

    Examples:
        >>> eagle.Explainer(model, X).explain(X[0]).save(folder / "why.json")
        >>> eagle.load(folder / "why.json").top(1)
        ['x1']

    A folder holds the explanations of a whole data set, which are read when they are looked at. A
    file that was saved with a `key` is read with that key. Nothing in a file is ever run.
    """
    path = path_of(path)
    if path.is_dir():
        return folders.load(path, key)
    with path.open("rb") as file:
        if file.read(len(parquet.MAGIC)) == parquet.MAGIC:
            return many.load(path, key)
    return container.load(path, CLASSES, key)
