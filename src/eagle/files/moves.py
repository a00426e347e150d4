"""`Moves` in files: the values that the steps of a table's points stand for, as runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from eagle.files.sealed import flag, listed, mapping, pack, read_integer, unpack
from eagle.table.background import STEPS
from eagle.table.moves import Moves
from eagle.types import Array, Points


def to_dict(moves: Moves | None) -> dict[str, Any] | None:
    """`Moves` as plain data. Successive steps with the same value are a run: its start and value.

    A feature's first run starts at 0; an offset has no runs.
    """
    if moves is None:
        return None
    starts = [_starts(table) for table in moves.tables if table is not None]
    values = [t[s] for t, s in zip((t for t in moves.tables if t is not None), starts, strict=True)]
    return {
        "steps": max([STEPS, *(len(t) for t in moves.tables if t is not None)]),
        "offsets": [table is None for table in moves.tables],
        "coded": list(moves.coded),
        "own": pack(moves.own),
        "starts": pack(np.concatenate([np.empty(0), *starts]).astype(np.uint16)),
        "values": pack(np.concatenate([np.empty(0), *values])),
    }


def _starts(table: Array) -> Any:
    same = (table[1:] == table[:-1]) | (np.isnan(table[1:]) & np.isnan(table[:-1]))
    return np.append(0, np.flatnonzero(~same) + 1)


def read(data: Any, points: Points, d: int) -> Moves | None:
    """What `to_dict` wrote for these points; None in older files."""
    if data is None:
        return None
    offsets = [flag(v) for v in listed(mapping(data)["offsets"], d)]
    coded = tuple(flag(v) for v in listed(data["coded"], d))
    steps = read_integer(data.get("steps", STEPS), STEPS)
    own, values = (unpack(data[name], 1).astype(np.float64) for name in ("own", "values"))
    starts = unpack(data["starts"], 1).astype(np.intp)
    first = np.flatnonzero(starts == 0)
    fits = len(own) == d and len(values) == len(starts) and len(first) == offsets.count(False)
    rises = (np.diff(starts) > 0) | (starts[1:] == 0)
    if not fits or starts[:1].any() or not rises.all() or starts.max(initial=0) >= steps:
        raise ValueError("the values of its steps do not fit its features")
    if np.isinf(own).any() or np.isinf(values).any():
        raise ValueError("an array has a number that is not finite")
    whole = points.dtype.kind in "ui" and points.shape[1] == d
    if not whole or points.min(initial=0) < 0 or points.max(initial=0) >= steps:
        raise ValueError("its points are no steps")
    parts = zip(np.split(starts, first[1:]), np.split(values, first[1:]), strict=True)
    tables = iter([v.repeat(np.diff(s, append=steps)) for s, v in parts] if len(first) else [])
    return Moves(tuple(None if o else next(tables) for o in offsets), own, coded)
