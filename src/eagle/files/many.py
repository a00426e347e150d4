"""Many explanations in a Parquet file: scores, intervals and values, without what they rest on.

A row of the file is an explanation. Its columns are the row's id, what is explained, the fit, and
for each feature its value, score and scale of the interval. Explanations of different features, as
of texts, have lists of these instead: see `ragged`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from eagle.explanations import Common, Explanations, LazyExplanations, Stacked, bare, bounds_at
from eagle.files import atomic, links, ragged, sealed
from eagle.files.sealed import (
    FAULTS,
    Format,
    flag,
    listed,
    one_of,
    plain_json,
    read_integer,
    scalar,
    text,
    why,
    writable,
)
from eagle.surrogate.posterior import LEVEL
from eagle.table.column import plain
from eagle.targets import answers_of
from eagle.types import Array, InputError, MissingExtraError

FORMAT: Final = Format("eagle explanations", oldest=1, schema=1, sealed_since=1)

T = TypeVar("T")

KEY: Final = b"eagle"
"""The metadata key of the head: what the file says of itself, as JSON."""

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


def save(
    e: Explanations, path: str | PathLike[str], metadata: Mapping[bytes, bytes] | None = None
) -> None:
    """Write explanations as Parquet, with a checksum of each page."""
    parquet, made = _parquet("save"), table(e)
    if metadata is not None:
        made = made.replace_schema_metadata({**made.schema.metadata, **metadata})
    atomic.put(
        Path(path),
        lambda beside: parquet.write_table(
            made, beside, compression="zstd", write_page_checksum=True
        ),
    )


def table(e: Explanations) -> Any:
    """The explanations as a pyarrow table."""
    pa = _arrow("save")
    if not e.alike:
        columns, head = ragged.columns(pa, e), {"ragged": True}
    else:
        columns, head = _columns(pa, e), _head(e)
    sealed_head = FORMAT.seal(
        {
            "method": e.method,
            "seed": e.seed,
            "task": e.task,
            "outputs": [plain_json(o) for o in e.outputs],
            **links.to_dict(e.link),
            "level": LEVEL,
            **head,
        }
    )
    every = {
        "id": pa.array([_written(name) for name in e.ids]),
        "target": pa.array([_written(target) for target in e.targets]),
        **columns,
    }
    return pa.table(list(every.values()), names=list(every)).replace_schema_metadata(
        {KEY: json.dumps(sealed_head).encode()}
    )


def _written(value: Any) -> str:
    """A value as JSON. Dates and other types that JSON does not have become text."""
    parts = tuple(map(plain, value)) if isinstance(value, tuple) else plain(value)
    return json.dumps(plain_json(parts))


def _head(e: Explanations) -> dict[str, Any]:
    t = e.table
    return {
        "ragged": False,
        "names": list(t.names),
        "intervals": t.kind,
        "pooled": t.pooled,
        "signed": t.signed,
    }


def _columns(pa: Any, e: Explanations) -> dict[str, Any]:
    """The numbers of explanations that have the same features, a few columns for each."""
    t = e.table
    interval = None if t.kind else e.interval()
    columns: dict[str, Any] = {}
    for name in BY_ROW:
        columns[name] = pa.array(vars(t)[name])
    for k, name in enumerate(t.names):
        columns[place("value", k, name)] = pa.array([_written(v) for v in t.data[:, k]])
        columns[place("score", k, name)] = pa.array(t.scores[:, k])
        columns[place("scale", k, name)] = pa.array(t.spread[:, k])
        columns[place("contrast", k, name)] = pa.array(t.contrast[:, k])
        if interval is not None:
            columns[place("low", k, name)] = pa.array(interval[:, k, 0])
            columns[place("high", k, name)] = pa.array(interval[:, k, 1])
    return columns


def load(path: str | PathLike[str]) -> Explanations:
    """Read what `save` wrote. Nothing in the file is ever run."""
    return opened(path, read)


def opened(
    path: str | PathLike[str], look: Callable[[Any], T], columns: list[str] | None = None
) -> T:
    """The result of `look` for the table in a file; only `columns` are read, if given."""
    parquet = _parquet("load")
    try:
        return look(parquet.read_table(path, columns=columns, page_checksum_verification=True))
    except FileNotFoundError:
        raise
    except (*FAULTS, OSError, _arrow("load").ArrowException) as error:
        raise InputError(
            f"{fspath(path)} is not a file of explanations saved by this version of eagle: "
            f"{why(error)}"
        ) from None


def head_of(schema: Any) -> Mapping[str, Any]:
    """The head of a file, from the metadata of its schema."""
    said = (schema.metadata or {}).get(KEY)
    if said is None:
        raise ValueError("it has no head of eagle's")
    return FORMAT.opened(sealed.parse(said.decode()))


def read(table: Any) -> Explanations:
    """The explanations of a pyarrow table."""
    data = head_of(table.schema)
    if len(table) < 1:
        raise ValueError("it has no rows")
    ids = tuple(_plain(one) for one in table.column("id").to_pylist())
    targets = tuple(map(target_of, table.column("target").to_pylist()))
    common = common_of(data)
    for target in dict.fromkeys(targets):
        answers_of(np.zeros((1, len(common["outputs"]))), common["outputs"], target)
    if flag(data["ragged"]):
        items = ragged.items(table, common, targets)
        return Explanations(items, ids, targets, **common)
    names = tuple(text(name) for name in listed(data["names"]))
    if not names:
        raise ValueError("it has no features")
    return _alike(table, common, _stacked(table, data, names), ids, targets)


def common_of(head: Mapping[str, Any]) -> dict[str, Any]:
    """What all explanations of a file have in common, from its head."""
    return {
        "outputs": tuple(map(scalar, listed(head["outputs"]))),
        "task": one_of(head["task"], ("classification", "regression")),
        "method": text(head["method"]),
        "seed": read_integer(head["seed"]),
        "link": links.read(head),
    }


def _alike(
    table: Any,
    common: Mapping[str, Any],
    t: Stacked,
    ids: tuple[Any, ...],
    targets: tuple[Any, ...],
) -> Explanations:
    low, high = (None, None) if t.kind else (_grid(table, t, end) for end in ("low", "high"))

    def bounds(i: int) -> Any:
        if low is None or high is None:
            return None
        return bounds_at(low[i], high[i], t.scores[i], LEVEL)

    said = {**common, "bounds": bounds, "conditions": _Conditions(t)}
    unknown = np.full((1, len(common["outputs"])), np.nan)
    items = LazyExplanations(range(len(t)), lambda i: bare(said, t, i, targets[i], unknown))
    errors = Common(t.scores, t.spread, t.df) if t.kind else None
    return Explanations(items, ids, targets, **common, stacked=t, errors=errors)


class _Conditions:
    """The conditions of each row, as text."""

    def __init__(self, t: Stacked) -> None:
        self._t = t

    def __getitem__(self, i: int) -> list[str]:
        return [
            f"{name} is missing" if value is None else f"{name} = {value}"
            for name, value in zip(self._t.names, self._t.data[i], strict=True)
        ]


def _stacked(table: Any, data: Mapping[str, Any], names: tuple[str, ...]) -> Stacked:
    values = np.empty((len(table), len(names)), dtype=object)
    for k, name in enumerate(names):
        values[:, k] = [_plain(one) for one in table.column(place("value", k, name)).to_pylist()]
    parts = {part: grid(table, names, part) for part in ("score", "scale", "contrast")}
    if not np.isfinite(parts["score"]).all():
        raise ValueError("a score is not a finite number")
    kind, by_row = text(data["intervals"]), {name: _numbers(table, name) for name in BY_ROW}
    if kind and not ((parts["scale"] >= 0).all() and (by_row["df"] > 0).all()):
        raise ValueError("a scale or its degrees of freedom are none")
    return Stacked(
        names=names,
        data=values,
        scores=parts["score"],
        spread=parts["scale"],
        contrast=parts["contrast"],
        kind=kind,
        pooled=flag(data["pooled"]),
        signed=flag(data["signed"]),
        **by_row,
    )


def _grid(table: Any, t: Stacked, part: str) -> Array:
    return grid(table, t.names, part)


def grid(table: Any, names: Sequence[str], part: str) -> Array:
    """The numbers of one kind of all features, shape (n, d)."""
    return np.stack([_numbers(table, place(part, k, name)) for k, name in enumerate(names)], axis=1)


def place(part: str, k: int, name: str) -> str:
    """The name of a column: its part, and its feature's place and name. Names may be equal."""
    return f"{part}:{k}:{writable(name)}"


def _numbers(table: Any, name: str) -> Array:
    return np.asarray(table.column(name).to_numpy(), dtype=np.float64)


def _plain(said: Any) -> Any:
    """A value that was written as JSON: a text, a number, true, false, nothing, or a tuple."""
    value = sealed.parse(text(said))
    if isinstance(value, list):
        return tuple(one if one is None else scalar(one) for one in value)
    return value if value is None else scalar(value)


def target_of(said: Any) -> Any:
    """A target that was written as JSON."""
    value = sealed.parse(text(said))
    return tuple(map(scalar, value)) if isinstance(value, list) else scalar(value)


def _arrow(what: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError(f"{what} of many explanations", "pyarrow", "cli") from None
    return pa


def _parquet(what: str) -> Any:
    _arrow(what)
    from pyarrow import parquet

    return parquet
