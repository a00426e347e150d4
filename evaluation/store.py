"""Records of trials on disk. They survive an interrupted run.

During a run each record is one committed row of an SQLite journal, which is safe if the process is
killed during a write. Finished runs are packed into Parquet, one file for each problem, which is
small enough to be committed with the code.
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

from eagle.errors import InputError
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
"""Columns of lists of numbers, stored in single precision."""

SINGLE: Final = ("prediction", "r2", "r2_held_out", "model_seconds", "own_seconds", "cpu_seconds")
"""Columns of numbers, stored in single precision."""


LARGEST: Final = 900_000
"""The largest size of a file of records, in bytes: they are committed with the code."""


@final
class Store:
    """Records by the keys of their trials, in a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._journal = self.folder / "journal.sqlite"

    def keys(self) -> set[str]:
        """The keys of finished trials."""
        done = set(self._packed_keys())
        if self._journal.exists():
            with closing(self._open()) as journal:
                done.update(key for (key,) in journal.execute("SELECT key FROM records"))
        return done

    def add(self, records: Iterable[Record]) -> None:
        """Store records, each atomically. A record that is already stored stays as it is."""
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
        by_key = {record["key"]: record for record in (*self._packed(), *self._written())}
        return [by_key[key] for key in sorted(by_key)]

    def pack(self) -> None:
        """Move the journal into Parquet files, each replaced atomically."""
        fresh: dict[str, list[Record]] = {}
        for record in self._written():
            fresh.setdefault(record["problem"], []).append(record)
        for problem, records in fresh.items():
            self._write(problem, [*self._of(problem), *records])
        for end in ("", "-wal", "-shm"):
            self._journal.with_name(self._journal.name + end).unlink(missing_ok=True)

    def remove(self, keys: set[str]) -> None:
        """Remove the records with these keys; packs what is left."""
        self.pack()
        for problem in {record["problem"] for record in self._packed()}:
            records = self._of(problem)
            left = [record for record in records if record["key"] not in keys]
            if len(left) < len(records):
                self._write(problem, left)

    # -- files -----------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        try:
            journal = sqlite3.connect(self._journal, timeout=60)
            try:
                journal.execute("PRAGMA journal_mode=WAL")
                journal.execute(
                    "CREATE TABLE IF NOT EXISTS records "
                    "(key TEXT PRIMARY KEY, problem TEXT, body TEXT)"
                )
            except BaseException:
                journal.close()
                raise
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self._journal} is no journal of records: {error}") from None
        return journal

    def _written(self) -> Iterator[Record]:
        """The records in the journal."""
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

    def _files(self, problem: str) -> list[Path]:
        """The files of a problem: it has several if it has many records."""
        first = self.folder / f"{problem}.parquet"
        return [
            path
            for path in (first, *sorted(self.folder.glob(f"{problem}.*.parquet")))
            if path.exists()
        ]

    def _of(self, problem: str) -> list[Record]:
        return [record for path in self._files(problem) for record in self._read(path)]

    def _write(self, problem: str, records: list[Record]) -> None:
        """Replace the files of a problem. None of them is larger than `LARGEST`."""
        by_key = {record["key"]: record for record in records}
        ordered = [by_key[key] for key in sorted(by_key)]
        before, parts = self._files(problem), 1
        while ordered and not self._fits(problem, ordered, parts):
            parts += 1
        kept = {self._place(problem, part) for part in range(parts if ordered else 0)}
        for path in kept:
            _new(path).replace(path)
        for path in before:
            if path not in kept:
                path.unlink()

    def _place(self, problem: str, part: int) -> Path:
        return self.folder / f"{problem}{f'.{part + 1}' if part else ''}.parquet"

    def _fits(self, problem: str, records: list[Record], parts: int) -> bool:
        """Write records to so many files beside their places; whether all are small enough."""
        size = -(-len(records) // parts)
        for part in range(parts):
            _write(_new(self._place(problem, part)), records[part * size : (part + 1) * size])
        sizes = [_new(self._place(problem, part)).stat().st_size for part in range(parts)]
        return max(sizes) <= LARGEST or size == 1

    def _read(self, path: Path) -> list[Record]:
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


def _new(path: Path) -> Path:
    """Where a file is written before it takes its place."""
    return path.with_name(path.name + ".new")


def _write(path: Path, records: list[Record]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {
        name: _column([_steps(r) if name == "ranks" else r.get(name) for r in records], name)
        for name in names
    }
    floats = [name for name in names if name in LISTS]
    parquet.write_table(
        pa.table(columns),
        path,
        compression="zstd",
        compression_level=19,
        use_dictionary=[name for name in names if name not in (*LISTS, *SINGLE)],
        use_byte_stream_split=[f"{name}.list.element" for name in floats]
        + [name for name in names if name in SINGLE],
    )


def _table(path: Path, columns: list[str] | None = None) -> Any:
    """A Parquet file of records, or these columns of it."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(path, columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise _unfit(path, str(error).partition("\n")[0]) from None
    lacking = [name for name in columns or ("key", "problem") if name not in table.column_names]
    if lacking or table.column("key").null_count:
        raise _unfit(path, "it has rows of something else")
    return table


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
    """Ranks as changes from one length to the next, for each feature; most are 0."""
    if "ranks" not in record:
        return None
    ranks = np.reshape(record["ranks"], (-1, record["d"]))
    steps: list[int] = np.diff(ranks, axis=0, prepend=0).T.ravel().tolist()
    return steps


def _ranks(steps: list[int], d: int) -> list[int]:
    """The ranks that `_steps` encodes."""
    ranks: list[int] = np.cumsum(np.reshape(steps, (d, -1)), axis=1).T.ravel().tolist()
    return ranks
