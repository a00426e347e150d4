"""Whether stored records still come out: some trials run again, and compared with their records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

import numpy as np

from eagle._engine.progress import Progress
from eagle.errors import EagleError
from evaluation.measure import CURVES, measure
from evaluation.store import LISTS, SINGLE
from evaluation.trial import Record, Trial

Place: TypeAlias = tuple[str, str, str]
"""A problem, a method and its options: records that a change of the code changes together."""

PASSING: Final = ("versions", "model_seconds", "own_seconds", "cpu_seconds")
"""What differs from run to run."""

CLOSE: Final = 2.0 ** (1 - CURVES)
"""Numbers as near as this, in units of the largest of a list, are equal: two of the last steps that
a record keeps, since another processor rounds differently."""


@final
@dataclass(frozen=True)
class Checked:
    """The records of a place, and the part of a record that no longer comes out, "" if all do."""

    place: Place
    records: tuple[Record, ...]
    changed: str


def check(records: Iterable[Record], trials: int = 2, *, silent: bool = False) -> Iterator[Checked]:
    """Run so many of the cheapest trials of every place again.

    Curves and timed trials are compared, too, but for their seconds.
    """
    places: dict[Place, list[Record]] = {}
    for r in sorted(records, key=lambda r: (r["problem"], r["budget"], r["instance"], r["run"])):
        places.setdefault((r["problem"], r["method"], r["options"]), []).append(r)
    line = Progress("methods and problems", len(places), silent=silent)
    try:
        for place, several in places.items():
            changes = (changed(r) for r in spread(several, trials))
            yield Checked(place, tuple(several), next(filter(None, changes), ""))
            line.step()
    finally:
        line.close()


def spread(records: Sequence[Record], count: int) -> list[Record]:
    """So many of the records with the fewest rows, from the first prediction to the last."""
    cheap = [r for r in records if r["budget"] == records[0]["budget"]]
    at = np.linspace(0, len(cheap) - 1, min(count, len(cheap))).round().astype(int)
    return [cheap[i] for i in dict.fromkeys(at.tolist())]


def changed(record: Record) -> str:
    """The first part of a record that comes out differently, or why none comes out; "" if equal."""
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(1):  # as in a run
            record, now = dict(record), measure(trial(record))
    except EagleError as error:
        return str(error)
    for each in (record, now):
        if "ranks" in each:  # after few rows scores are tied, and rounding decides
            each["ranks"] = each["ranks"][-each["d"] :]
    names = [n for n in dict.fromkeys((*record, *now)) if n not in PASSING]
    return next((n for n in names if not _equal(n, record.get(n), now.get(n))), "")


def trial(record: Record) -> Trial:
    """The trial of a record."""
    return Trial(
        record["problem"],
        record["instance"],
        record["method"],
        record["budget"],
        record["run"],
        tuple(json.loads(record["options"]).items()),
        tuple(record["keep"].split()),
        record["alone"],
        record.get("chance", 0),
    )


def _equal(name: str, stored: Any, now: Any) -> bool:
    if name not in (*LISTS, *SINGLE) or stored is None or now is None:
        return bool(stored == now)
    a, b = (np.atleast_1d(np.asarray(v, dtype=np.float64)) for v in (stored, now))
    if a.shape != b.shape:
        return False
    size = float(np.abs(a[np.isfinite(a)]).max(initial=0.0))
    return bool(np.allclose(a, b, rtol=0, atol=CLOSE * size, equal_nan=True))
