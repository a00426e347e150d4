"""Many explanations in a Parquet file.

A row of the file is an explanation. Its columns are the row's id, what is explained, the fit, and
for each feature its value, condition, score and scale of the interval. Explanations of different
features, as of texts, have lists of these instead: see `ragged`. What they rest on is there, too:
each explanation whole, or the survey that all are from: see `surveyed`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Final

import numpy as np

from eagle._tables.column import plain
from eagle._values.arrays import Array
from eagle._values.checks import path_of
from eagle._values.posterior import LEVEL
from eagle.errors import InputError, MissingExtraError
from eagle.explanation import Explanation
from eagle.explanations import Common, Errors, Explanations, LazyExplanations, Stacked
from eagle.io import parquet
from eagle.io.container import FAULTS, Key, parse, plain_json, why, writable
from eagle.io.parquet import pyarrow
from eagle.io.values import check_types, decode, encode
from eagle.saved import ragged, surveyed
from eagle.saved.classes import CLASSES
from eagle.shapley.errors import ShapleyErrors
from eagle.survey.many import RowMaker

WHOLE: Final = "explanation"
"""The column of whole explanations, as `Explanation.save` keeps them."""

ASKED: Final = "asked"
"""The column of how many rows were asked for each explanation alone."""

BY_ROW: Final = (
    "prediction",
    "local_prediction",
    "intercept",
    "r2",
    "r2_held_out",
    "df",
    "effective",
)
"""The columns of numbers, one a row."""

COMMON: Final = ("outputs", "task", "method", "seed", "link", "difference")
"""What all explanations of a file have in common."""


# -- writing ------------------------------------------------------------------------------------


def save(e: Explanations, path: str | PathLike[str], key: Key = None, part: Any = None) -> None:
    """Write explanations as Parquet.

    A `part` of a data set, named so, is written without what its explanations rest on.
    """
    pa = pyarrow("save")
    maker = e.items.make if isinstance(e.items, LazyExplanations) else None
    alone = part is not None
    if isinstance(maker, RowMaker):
        value, rest = surveyed.value(maker, alone), surveyed.columns(pa, e, maker, alone)
    else:
        value = {}
        rest = {
            WHOLE: pa.array([_whole(one, alone) for one in e]),
            ASKED: pa.array([one.cost.rows for one in e]),
        }
    said = {"method": e.method, "task": e.task, "outputs": plain_json(e.outputs), "level": LEVEL}
    value["shared errors"] = isinstance(e.errors, ShapleyErrors)
    value |= {"part": part, "features": _features(e), **{n: getattr(e, n) for n in COMMON}}
    columns = {
        "id": pa.array([_write(name) for name in e.ids]),
        "target": pa.array([_write(target) for target in e.targets]),
        **(_columns(pa, e) if e.alike else ragged.columns(pa, e)),
        **rest,
    }
    parquet.write(path_of(path), columns, said, value, key)


def _whole(e: Explanation, part: bool) -> str:
    """An explanation as a file keeps it; in a part of a data set, without what is explained: the
    source has it."""
    return json.dumps(encode(replace(e, subject=None) if part else e), allow_nan=False)


def _write(value: Any) -> str:
    """A value as JSON. Dates and other types that JSON does not have become text."""
    parts = tuple(map(plain, value)) if isinstance(value, tuple) else plain(value)
    return json.dumps(encode(parts))


def _features(e: Explanations) -> dict[str, Any] | None:
    """What is the same of all rows; None where rows have different features."""
    if not e.alike:
        return None
    return {name: getattr(e.table, name) for name in ("names", "kind", "pooled", "signed")}


def _columns(pa: Any, e: Explanations) -> dict[str, Any]:
    """The numbers of explanations that have the same features, a few columns for each."""
    t = e.table
    interval = None if t.kind else e.interval()
    columns: dict[str, Any] = {}
    for name in BY_ROW:
        columns[name] = pa.array(vars(t)[name])
    for k, name in enumerate(t.names):
        conditions = [writable(one) for one in t.conditions[:, k]]
        columns[place("value", k, name)] = pa.array([_write(v) for v in t.data[:, k]])
        columns[place("condition", k, name)] = pa.array(conditions)
        columns[place("slope", k, name)] = pa.array(t.slopes[:, k])
        columns[place("score", k, name)] = pa.array(t.scores[:, k])
        columns[place("scale", k, name)] = pa.array(t.spread[:, k])
        columns[place("contrast", k, name)] = pa.array(t.contrast[:, k])
        if interval is not None:
            columns[place("low", k, name)] = pa.array(interval[:, k, 0])
            columns[place("high", k, name)] = pa.array(interval[:, k, 1])
        if isinstance(e.errors, ShapleyErrors):
            columns[place("shared", k, name)] = pa.array(e.errors.shared[:, k])
    return columns


# -- reading ------------------------------------------------------------------------------------


def load(path: str | PathLike[str], key: Key = None, seal: str | None = None) -> Explanations:
    """Read what `save` wrote. Nothing in the file is ever run."""
    return parquet.read(path, _read, key=key, seal=seal)


def _read(table: Any, head: Mapping[str, Any]) -> Explanations:
    """The explanations of a pyarrow table."""
    value = parquet.value_of(head, CLASSES)
    common = {name: value[name] for name in COMMON}
    check_types(Explanation, common)
    ids, targets = tuple(plain_values(table, "id")), tuple(plain_values(table, "target"))
    if not ids:
        raise ValueError("it has no rows")
    hash((ids, targets))  # what names something can be looked up
    if value["features"] is None:
        return Explanations(_items(table), ids, targets, **common)
    check_types(Stacked, value["features"])
    t = _stack(table, **value["features"])
    items: LazyExplanations
    errors: Errors | None = Common.of(t) if t.kind else None
    if value["shared errors"]:
        errors = ShapleyErrors(t.scores, t.spread, grid(table, t.names, "shared"), t.df)
    if "survey" in value:
        items, errors = surveyed.read(table, value, t, ids, targets)
    elif "shared" in value:
        items = surveyed.part(table, value["shared"], common, t, targets)
    else:
        items = _items(table)
    return Explanations(items, ids, targets, **common, stacked=t, errors=errors)


def _items(table: Any) -> LazyExplanations:
    """The explanations of a table, each read when it is looked at."""
    saved, asked = table.column(WHOLE), table.column(ASKED).to_pylist()
    return LazyExplanations(range(len(table)), lambda i: _one(saved[i].as_py()), asked)


def _one(text: Any) -> Explanation:
    try:
        made = decode(parse(text), CLASSES)
        if not isinstance(made, Explanation):
            raise ValueError("it is something else")
    except MissingExtraError:
        raise
    except FAULTS as error:
        raise InputError(f"this row of the file is no explanation: {why(error)}") from None
    return made


def _stack(table: Any, names: tuple[str, ...], kind: str, pooled: bool, signed: bool) -> Stacked:
    values, conditions = (np.empty((len(table), len(names)), dtype=object) for _ in range(2))
    for k, name in enumerate(names):
        values[:, k] = plain_values(table, place("value", k, name))
        conditions[:, k] = parquet.texts(table, place("condition", k, name))
    return Stacked(
        names=names,
        data=values,
        conditions=conditions,
        slopes=grid(table, names, "slope") == 1,
        scores=grid(table, names, "score"),
        spread=grid(table, names, "scale"),
        contrast=grid(table, names, "contrast"),
        kind=kind,
        pooled=pooled,
        signed=signed,
        **{name: numbers(table, name) for name in BY_ROW},
    )


def grid(table: Any, names: Sequence[str], part: str) -> Array:
    """The numbers of one kind of all features, shape (n, d)."""
    return np.stack([numbers(table, place(part, k, name)) for k, name in enumerate(names)], axis=1)


def place(part: str, k: int, name: str) -> str:
    """The name of a column: its part, and its feature's place and name. Names may be equal."""
    return f"{part}:{k}:{writable(name)}"


def numbers(table: Any, name: str) -> Array:
    """A column of numbers."""
    return np.asarray(table.column(name).to_numpy(), dtype=np.float64)


def plain_values(table: Any, name: str) -> list[Any]:
    """A column of values that were written as JSON. Those that are alike are read once."""
    texts = parquet.texts(table, name)
    known = {one: decode(parse(one), CLASSES) for one in dict.fromkeys(texts)}
    return [known[one] for one in texts]
