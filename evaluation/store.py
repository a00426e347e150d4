"""Records of trials on disk, which outlive whatever interrupts a run.

While a run goes on, each record is one committed row of an SQLite journal: no other file format
here is safe against being killed in the middle of a write. Finished runs are packed into Parquet,
a file for each problem, which is small enough to be kept beside the code.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from eagle.types import InputError
from evaluation.trial import Record

LISTS: Final = (
    "scores",
    "low",
    "high",
    "d_efficiency",
    "a_efficiency",
    "slope_efficiency",
    "inputs",
    "answers",
    "gathered",
    "error",
    "allowed",
    "prior_scores",
    "prior_low",
    "prior_high",
)
"""Columns that are lists of numbers, kept in single precision."""

SINGLE: Final = ("prediction", "r2", "r2_held_out", "model_seconds", "own_seconds")
"""Columns of numbers, kept in single precision."""


@final
class Store:
    """Records by the keys of their trials, in a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._journal = self.folder / "journal.sqlite"

    def keys(self) -> set[str]:
        """The trials that are done."""
        found = set(self._packed_keys())
        if self._journal.exists():
            with closing(self._open()) as journal:
                found.update(key for (key,) in journal.execute("SELECT key FROM records"))
        return found

    def add(self, records: Iterable[Record]) -> None:
        """Write records down, each whole or not at all; one that is known stays as it is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with closing(self._open()) as journal:
            for record in records:
                journal.execute(
                    "INSERT OR IGNORE INTO records VALUES (?, ?, ?)",
                    (record["key"], record["problem"], json.dumps(record)),
                )
                journal.commit()

    def read(self) -> list[Record]:
        """All records, each once, in the order of their keys."""
        found = {record["key"]: record for record in (*self._packed(), *self._written())}
        return [found[key] for key in sorted(found)]

    def pack(self) -> None:
        """Move the journal into Parquet files; a kill leaves either the old file or the new."""
        fresh: dict[str, list[Record]] = {}
        for record in self._written():
            fresh.setdefault(record["problem"], []).append(record)
        for problem, records in fresh.items():
            path = self.folder / f"{problem}.parquet"
            known = {r["key"]: r for r in (*self._read(path), *records)}
            self._write(path, [known[key] for key in sorted(known)])
        for end in ("", "-wal", "-shm"):
            self._journal.with_name(self._journal.name + end).unlink(missing_ok=True)

    # -- files -----------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        try:
            journal = sqlite3.connect(self._journal, timeout=60)
            journal.execute("PRAGMA journal_mode=WAL")
            journal.execute(
                "CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, problem TEXT, body TEXT)"
            )
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self._journal} is no journal of records: {error}") from None
        return journal

    def _written(self) -> Iterator[Record]:
        """What the journal holds."""
        if self._journal.exists():
            with closing(self._open()) as journal:
                for (body,) in journal.execute("SELECT body FROM records ORDER BY rowid"):
                    yield json.loads(body)

    def _packed(self) -> Iterator[Record]:
        for path in sorted(self.folder.glob("*.parquet")):
            yield from self._read(path)

    def _packed_keys(self) -> Iterator[str]:
        for path in sorted(self.folder.glob("*.parquet")):
            yield from _table(path, ["key"]).column("key").to_pylist()

    def _read(self, path: Path) -> list[Record]:
        if not path.exists():
            return []
        rows: list[Record] = _table(path).to_pylist()
        try:
            return [
                {
                    k: _ranks(v, row["d"]) if k == "ranks" else v
                    for k, v in row.items()
                    if v is not None
                }
                for row in rows
            ]
        except (KeyError, TypeError, ValueError):
            raise _unfit(path, "its ranks do not fit") from None

    def _write(self, path: Path, records: list[Record]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        names = list(dict.fromkeys(name for record in records for name in record))
        columns = {
            name: _column([_steps(r) if name == "ranks" else r.get(name) for r in records], name)
            for name in names
        }
        temporary = path.with_suffix(".parquet.new")
        floats = [name for name in names if name in LISTS]
        parquet.write_table(
            pa.table(columns),
            temporary,
            compression="zstd",
            compression_level=19,
            use_dictionary=[name for name in names if name not in (*LISTS, *SINGLE)],
            use_byte_stream_split=[f"{name}.list.element" for name in floats]
            + [name for name in names if name in SINGLE],
        )
        temporary.replace(path)


def _table(path: Path, columns: list[str] | None = None) -> Any:
    """A Parquet file of records, or these columns of it."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        found = parquet.read_table(path, columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise _unfit(path, str(error).partition("\n")[0]) from None
    lacking = [name for name in columns or ("key", "problem") if name not in found.column_names]
    if lacking or found.column("key").null_count:
        raise _unfit(path, "it has rows of something else")
    return found


def _unfit(path: Path, why: str) -> InputError:
    return InputError(
        f"{path} is no file of records, or a damaged one ({why}): move it away, or put back a "
        "copy; what is missing is run again"
    )


def _column(values: list[Any], name: str) -> Any:
    import pyarrow as pa

    if name in LISTS:
        return pa.array(values, type=pa.list_(pa.float32()))
    if name == "ranks":
        return pa.array(values, type=pa.list_(pa.int16()))
    return pa.array(values, type=pa.float32() if name in SINGLE else None)


def _steps(record: Record) -> list[int] | None:
    """Ranks as their changes from one length to the next, feature by feature: mostly none."""
    if "ranks" not in record:
        return None
    ranks = np.reshape(record["ranks"], (-1, record["d"]))
    steps: list[int] = np.diff(ranks, axis=0, prepend=0).T.ravel().tolist()
    return steps


def _ranks(steps: list[int], d: int) -> list[int]:
    """What `_steps` was made of."""
    ranks: list[int] = np.cumsum(np.reshape(steps, (d, -1)), axis=1).T.ravel().tolist()
    return ranks
