"""What a file keeps of a survey of Shapley values: rows in codes, coalitions, proxies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eagle._sources.tables import Tables
from eagle._tables import saved as templates
from eagle._tables.background import Background
from eagle._tables.column import key
from eagle._tables.rows import TableInstances
from eagle._values.arrays import Array
from eagle.errors import InputError
from eagle.io.values import decode, encode
from eagle.shapley.answer import Asked, Fitted
from eagle.shapley.coalitions import Pairs
from eagle.shapley.codes import Levels, Spread
from eagle.shapley.correction import Left, Scales
from eagle.shapley.proxies import FOLDS
from eagle.shapley.setting import Ground, TableRows

# -- rows ----------------------------------------------------------------------------------------


def of_ground(ground: Ground) -> dict[str, Any]:
    """The rows and the background as codes, and of each part an example of its dtypes."""
    return {
        "levels": ground.rows.levels.each,
        "rows": (ground.rows.values, _parts(ground.rows)),
        "behind": (ground.background.values, _parts(ground.background)),
    }


def _parts(rows: TableRows) -> tuple[Any, ...]:
    out = []
    for table, places in rows.parts:
        raw = table.rows.raw
        first = raw.take([0])
        example = tuple(first.objects(j)[0] for j in range(len(raw.names)))
        out.append((templates.to_saved(raw.template()), example, np.array(places, dtype=np.intp)))
    return tuple(out)


def to_ground(source: Tables, kept: Mapping[str, Any]) -> Ground:
    """What `of_ground` gave. What does not fit is a ValueError."""
    background = source.background
    levels = Levels(kept["levels"], Levels.of(background).coded)
    if len(levels.each) != len(levels.coded):
        raise ValueError("its levels do not fit its columns")
    rows, behind = (_rows(background, levels, *kept[name]) for name in ("rows", "behind"))
    return Ground(rows, behind, Spread.of(levels, background))


def _rows(background: Background, levels: Levels, values: Array, parts: Any) -> TableRows:
    if values.ndim != 2 or values.shape[1] != len(levels.each) or not len(values):
        raise ValueError("its rows do not fit its columns")
    for k, known in enumerate(levels.each):
        codes = values[~np.isnan(values[:, k]), k]
        if levels.coded[k] and not np.isin(codes, np.arange(len(known))).all():
            raise ValueError("its rows have codes that no level has")
    if sorted(np.concatenate([places for *_, places in parts]).tolist()) != list(
        range(len(values))
    ):
        raise ValueError("its parts are not all of its rows")
    tables = []
    for template, example, places in parts:
        raw = templates.of_saved(template)
        one = background.template.like(raw.adopt([_column(value) for value in example]))
        start = TableInstances(background, one, False, True)
        local, names = levels.local(values[places], start)
        zeros = np.zeros(len(places), dtype=np.intp)
        built = one.build(zeros, background.moved_columns, local, names)
        tables.append((TableInstances(background, built, False, True), tuple(places.tolist())))
    made = TableRows(tables, values, levels)
    if not _same_numbers(*(levels.values(table) for table, _ in tables), into=made):
        raise ValueError("its rows are not those of its levels")
    return made


def _column(value: Any) -> Any:
    out = np.empty(1, dtype=object)
    out[0] = value
    return out


def _same_numbers(*each: Array, into: TableRows) -> bool:
    """Whether tables that were built again hold the numbers and codes that they were built of."""
    return all(
        np.array_equal(values, into.values[list(places)], equal_nan=True)
        for values, (_, places) in zip(each, into.parts, strict=True)
    )


def check_kept(source: Tables, ground: Ground) -> None:
    """Refuse rows that a file would give back otherwise."""
    kept = of_ground(ground)
    for rows in (ground.rows, ground.background):
        for table, _ in rows.parts:
            templates.check_kept(table.rows.raw)
    try:
        again = to_ground(source, decode(encode(kept), {}))
        same = same_ground(ground, again) and all(
            one.rows.conforms(other.rows)
            for (one, _), (other, _) in zip(ground.rows.parts, again.rows.parts, strict=True)
        )
    except Exception:  # frames of other packages may raise anything
        same = False
    if not same:
        raise InputError(
            "rows of this survey have values or dtypes that cannot be written to a file and read "
            "back alike: turn them into plain ones, such as numbers, texts or datetime64"
        )


def same_ground(one: Ground, other: Ground) -> bool:
    """Whether two surveys have the same rows and the same background."""
    if one is other:
        return True
    return _same_levels(one.rows.levels, other.rows.levels) and all(
        np.array_equal(a.values, b.values, equal_nan=True)
        for a, b in ((one.rows, other.rows), (one.background, other.background))
    )


def _same_levels(one: Levels, other: Levels) -> bool:
    both = zip(one.each, other.each, strict=False)
    return one.coded == other.coded and all([*map(key, a)] == [*map(key, b)] for a, b in both)


# -- coalitions ----------------------------------------------------------------------------------


def of_pairs(pairs: Pairs | None) -> Any:
    """The coalitions, eight players in a byte."""
    if pairs is None:
        return None
    return np.packbits(pairs.own, axis=2), pairs.other, pairs.own.shape[2]


def to_pairs(kept: Any, rows: int, players: int, background: int) -> Pairs | None:
    """What `of_pairs` gave. What does not fit is a ValueError."""
    if kept is None:
        return None
    packed, other, d = kept
    if d != players or packed.ndim != 3 or packed.dtype != np.uint8:
        raise ValueError("its coalitions are not of its columns")
    if packed.shape[2] != -(-d // 8) or other.shape != packed.shape[:2] or len(other) != rows:
        raise ValueError("its coalitions are not of its rows")
    if not ((other >= 0) & (other < background)).all():
        raise ValueError("its coalitions are not of its background")
    own = np.unpackbits(packed, axis=2, count=d).astype(bool)
    return Pairs(own, other.astype(np.intp))


def same_pairs(one: Pairs | None, other: Pairs | None) -> bool:
    """Whether two surveys asked the same coalitions."""
    if one is other:
        return True
    if one is None or other is None:
        return False
    return np.array_equal(one.own, other.own) and np.array_equal(one.other, other.other)


# -- what is fitted ------------------------------------------------------------------------------


def of_fit(fit: Fitted) -> tuple[Any, ...]:
    """What was fitted to the answers about a target, without the answers."""
    left = replace(fit.left, unchanged=np.zeros((0, 0), dtype=bool))
    return fit.proxies, fit.slope, left, fit.scales, fit.tilt


def to_fit(asked: Asked, kept: Sequence[Any]) -> Fitted:
    """What `of_fit` gave. What does not fit is a ValueError."""
    three, slope, left, scales, tilt = kept
    n, d = asked.unchanged.shape
    shapes = {
        "values": (n, d),
        "apart": (n, d),
        "pull": asked.ahead.shape,
        "gap": asked.ahead.shape,
        "total": (n,),
    }
    if not isinstance(left, Left) or not isinstance(scales, Scales) or len(three) != FOLDS:
        raise ValueError("what was fitted is something else")
    fits = slope.shape == (d,) and tilt.shape == (FOLDS, d)
    if not fits or any(getattr(left, k).shape != v for k, v in shapes.items()):
        raise ValueError("what was fitted does not fit its rows")
    for proxy in three:
        proxy.check(asked.layout)
    return Fitted(asked, three, slope, replace(left, unchanged=asked.unchanged), scales, tilt)
