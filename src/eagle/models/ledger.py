"""Answers that were paid for, in a file: what was answered is never asked again.

Before rows are sent, an *intent* is written. The transaction that stores their answers deletes
it. The rows of an intent that is left were in flight when their process ended, or their reply never
came: they are *in doubt*, since they may be billed though no answer was stored.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from os import PathLike
from typing import Any, Final, TypeAlias, final

import numpy as np

from eagle._values.arrays import Array
from eagle._values.checks import path_of
from eagle._values.text import message_of
from eagle.errors import EagleError, InputError
from eagle.models.inputs import LARGEST_ROW, Inputs, read_row
from eagle.models.processes import PerProcess, has_ended, this_process

MARK: Final = 0x4541474C
"""SQLite's application id of a ledger."""

KEY: Final = 16
"""The bytes of a key."""

CHUNK: Final = 500
"""The number of keys that are looked up at once."""

PATIENCE: Final = 60
"""Seconds to wait for other processes that write."""

SCHEMA: Final = """
CREATE TABLE models (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, function TEXT NOT NULL,
  UNIQUE (name, version, function));
CREATE TABLE forms (id INTEGER PRIMARY KEY, form TEXT NOT NULL UNIQUE);
CREATE TABLE answers (
  key BLOB NOT NULL PRIMARY KEY, model INTEGER NOT NULL REFERENCES models,
  form INTEGER NOT NULL REFERENCES forms, row BLOB, answer BLOB NOT NULL,
  seal BLOB NOT NULL, answered REAL NOT NULL);
CREATE TABLE intents (
  id INTEGER PRIMARY KEY, model INTEGER NOT NULL REFERENCES models, keys BLOB NOT NULL,
  began REAL NOT NULL, process TEXT NOT NULL, doubt INTEGER NOT NULL DEFAULT 0);
"""

TOTALS: Final = "CREATE TABLE totals (answers INTEGER NOT NULL, keys BLOB NOT NULL)"
"""How many answers there are, and all their keys, exclusive or: so that none is lost unseen."""

STATEMENTS: Final = tuple(one.strip() for one in SCHEMA.split(";")[:-1])


@final
@dataclass(frozen=True)
class LedgerModel:
    """One model in a ledger, and how many of its rows are answered, in doubt and in flight."""

    name: str
    version: str
    function: str
    rows: int
    doubt: int
    flight: int


@final
@dataclass(frozen=True)
class LedgerSummary:
    """What a ledger holds. `first` and `last` say when the oldest and newest answers came."""

    models: tuple[LedgerModel, ...]
    first: datetime | None
    last: datetime | None

    @property
    def rows(self) -> int:
        """All answered rows."""
        return sum(known.rows for known in self.models)

    @property
    def doubt(self) -> int:
        """Rows that were sent and whose answers never came, so that they may be billed as well."""
        return sum(known.doubt for known in self.models)

    @property
    def flight(self) -> int:
        """Rows that were sent by a process that may still wait for their answers."""
        return sum(known.flight for known in self.models)

    def __str__(self) -> str:
        lines = [f"{self.rows} answered rows"]
        if self.first is not None and self.last is not None:
            lines[0] += f", from {self.first:%Y-%m-%d %H:%M:%S} to {self.last:%Y-%m-%d %H:%M:%S}"
        for m in self.models:
            version = f", version {m.version}" if m.version else ""
            lines.append(f"  {m.name}{version}, {m.function}: {m.rows} rows")
        lines.append(
            f"{self.doubt} rows in doubt: sent, but no answer was stored, so they may be billed too"
            if self.doubt
            else "No row is in doubt"
        )
        if self.flight:
            lines.append(f"{self.flight} rows are in flight")
        return "\n".join(lines)


@final
class Ledger:
    """A file of answers, which several threads and processes may use at once.

    SQLite with a write-ahead log that is synchronised at every commit: what was stored survives a
    crash of the process and of the machine. Not for network drives, where SQLite's locks fail.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path_of(path, "a ledger").absolute()
        self._own = PerProcess()
        self._models: dict[tuple[str, str, str], int] = {}
        with self._reading():
            pass  # a file that is no ledger is refused now

    # -- what was answered ----------------------------------------------------------------------

    def answers(self, keys: Sequence[bytes]) -> dict[bytes, Array]:
        """The stored answers to those of the keys that have one."""
        out: dict[bytes, Array] = {}
        with self._reading() as db:
            for start in range(0, len(keys), CHUNK):
                some = keys[start : start + CHUNK]
                marks = ",".join("?" * len(some))
                for key, answer, seal in db.execute(
                    f"SELECT key, answer, seal FROM answers WHERE key IN ({marks})", some
                ):
                    if not _fits(key, answer, seal):
                        raise self._change_error()
                    out[key] = np.frombuffer(answer, "<f8")
        return out

    def intend(self, model: tuple[str, str, str], keys: Sequence[bytes]) -> int:
        """Write an intent for rows that are about to be sent, and return its number."""
        with self._writing() as db:
            row = (self._model(db, model), b"".join(keys), time.time(), this_process())
            made = db.execute(
                "INSERT INTO intents (model, keys, began, process) VALUES (?, ?, ?, ?)", row
            )
            return int(made.lastrowid)

    def store(
        self,
        intent: int,
        model: tuple[str, str, str],
        inputs: Inputs,
        keys: Sequence[bytes],
        answers: Array,
    ) -> None:
        """Store answers and take back the intent, in one transaction."""
        now, raw = time.time(), np.ascontiguousarray(answers, "<f8")
        with self._writing() as db:
            number, form = self._model(db, model), self._form(db, inputs.form)
            insert = "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)"
            new = []
            for key, row, one in zip(keys, inputs.bytes_of_rows, raw, strict=True):
                answer = one.tobytes()
                told = (key, number, form, _stored_answer(row), answer, _seal(key, answer), now)
                new += [key] * db.execute(insert, told).rowcount
            count, every = db.execute("SELECT answers, keys FROM totals").fetchone()
            totals = count + len(new), _either(every, *new)
            db.execute("UPDATE totals SET answers = ?, keys = ?", totals)
            db.execute("DELETE FROM intents WHERE id = ?", (intent,))

    def delete_refused(self, intent: int) -> None:
        """Delete an intent whose rows were not taken, and so are not billed."""
        with self._writing() as db:
            db.execute("DELETE FROM intents WHERE id = ?", (intent,))

    def doubt(self, intent: int) -> None:
        """Mark an intent whose rows were sent without an answer as in doubt: they may be billed."""
        with self._writing() as db:
            db.execute("UPDATE intents SET doubt = 1 WHERE id = ?", (intent,))

    def settle(self) -> None:
        """Mark rows that were in flight when their processes ended as in doubt, and warn once."""
        with self._reading() as db:
            left = db.execute("SELECT id, keys, process FROM intents WHERE doubt = 0")
            dead = [(i, len(keys) // KEY) for i, keys, process in left if has_ended(process)]
        if not dead:
            return
        with self._writing() as db:
            db.executemany("UPDATE intents SET doubt = 1 WHERE id = ?", [(i,) for i, _ in dead])
        warnings.warn(
            f"{self.path.name}: {sum(rows for _, rows in dead)} rows were in flight when an "
            "earlier process ended, and no answer was stored: they may be billed, and are asked "
            "again where they are needed",
            stacklevel=5,
        )

    # -- what is in it --------------------------------------------------------------------------

    def summary(self) -> LedgerSummary:
        """How many rows of which models were answered, and how many are in doubt."""
        with self._reading() as db:
            rows = dict(db.execute("SELECT model, COUNT(*) FROM answers GROUP BY model"))
            first, last = db.execute("SELECT MIN(answered), MAX(answered) FROM answers").fetchone()
            sent: dict[tuple[int, bool], int] = {}
            for model, size, doubt, process in db.execute(
                "SELECT model, length(keys), doubt, process FROM intents"
            ):
                lost = bool(doubt) or has_ended(process)
                sent[model, lost] = sent.get((model, lost), 0) + size // KEY
            models = tuple(
                LedgerModel(
                    name,
                    version,
                    function,
                    rows.get(i, 0),
                    sent.get((i, True), 0),
                    sent.get((i, False), 0),
                )
                for i, name, version, function in db.execute(
                    "SELECT id, name, version, function FROM models"
                )
            )
            return LedgerSummary(models, _date(first), _date(last))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each answered row with its model, its inputs where they were kept, and its answers."""
        query = """
            SELECT a.key, m.name, m.version, m.function, a.answered, f.form, a.row, a.answer,
                   a.seal FROM answers a JOIN models m ON m.id = a.model
            LEFT JOIN forms f ON f.id = a.form
            ORDER BY a.answered, a.key"""
        with self._reading() as db:
            listed = [self._row(*one) for one in db.execute(query)]
        yield from listed

    def _row(
        self,
        key: Any,
        name: Any,
        version: Any,
        function: Any,
        answered: Any,
        form: Any,
        row: Any,
        answer: Any,
        seal: Any,
    ) -> dict[str, Any]:
        if not _fits(key, answer, seal):
            raise self._change_error()
        said = {"model": name, "version": version, "function": function, "key": key.hex()}
        inputs = {} if row is None else read_row(form, row)
        answers = np.frombuffer(answer, "<f8").tolist()
        return {
            **said,
            "answered": _date(answered),
            **{f"input {column}": value for column, value in inputs.items()},
            **{f"answer {k}": value for k, value in enumerate(answers)},
        }

    def verify(self) -> list[str]:
        """What is wrong with the file, a sentence each: none if all is well.

        SQLite checks its pages; each key is computed again from its row, and each seal from its
        answer.
        """
        try:
            with self._reading() as db:
                wrong = [f"SQLite: {said}" for (said,) in db.execute("PRAGMA integrity_check")]
                wrong = [] if wrong == ["SQLite: ok"] else wrong
                query = """
                    SELECT a.key, m.name, m.version, m.function, f.form, a.row, a.answer, a.seal
                    FROM answers a LEFT JOIN models m ON m.id = a.model
                    LEFT JOIN forms f ON f.id = a.form"""
                listed = []
                for key, name, version, function, form, row, answer, seal in db.execute(query):
                    listed.append(key)
                    if not _fits(key, answer, seal):
                        wrong.append(f"the answer to the row {key.hex()} was changed")
                    if name is None or form is None:
                        wrong.append(f"the row {key.hex()} belongs to no model")
                    elif row is not None and hasher((name, version, function), form)(row) != key:
                        wrong.append(f"the row {key.hex()} was changed")
                known = db.execute("SELECT answers, keys FROM totals").fetchall()
                if known != [(len(listed), _either(bytes(KEY), *listed))]:
                    wrong.append(
                        f"what is there was changed: {len(listed)} answers, not those stored"
                    )
        except EagleError as error:
            return [message_of(error)]
        return wrong

    # -- inside ---------------------------------------------------------------------------------

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        """The connection. Errors of SQLite become sentences."""
        import sqlite3

        with self._own.lock:
            try:
                yield self._own.get(self._connect)
            except sqlite3.Error as error:
                raise InputError(f"{self.path} cannot be used as a ledger: {error}") from None
            except EagleError:
                raise
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise self._change_error() from error

    def _change_error(self) -> InputError:
        return InputError(f"{self.path} was changed: 'eagle ledger verify' says where")

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        """A transaction: all of it is stored, or none."""
        with self._reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                self._models.clear()  # one that was new is not there any more
                raise
            db.execute("COMMIT")

    def _connect(self) -> Any:
        import sqlite3

        if not self.path.parent.is_dir():
            raise InputError(f"there is no folder {self.path.parent} for a ledger")
        db = sqlite3.connect(
            self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(db)
        except BaseException:
            db.close()
            raise
        self._models = {}
        return db

    def _prepare(self, db: Any) -> None:
        """Make sure that the file is a ledger, and make it one if it is new."""
        (tables,) = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        (mark,) = db.execute("PRAGMA application_id").fetchone()  # written with the tables
        if mark != MARK and tables:
            raise InputError(f"{self.path} is a database, but no ledger of answers")
        _patiently(lambda: db.execute("PRAGMA journal_mode = WAL"))
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA wal_autocheckpoint = 1")  # what the log loses by damage, the file has
        if not tables:
            self._create(db)
        self._check(db)

    def _create(self, db: Any) -> None:
        db.execute("BEGIN IMMEDIATE")
        (tables,) = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if not tables:  # or another process was faster
            for statement in STATEMENTS:
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {MARK}")
            _count(db)
        db.execute("COMMIT")

    def _check(self, db: Any) -> None:
        """Refuse another schema, or fewer answers than were stored. Older ledgers are counted."""
        listed = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
        found = {sql for (sql,) in db.execute(listed)}
        if found == set(STATEMENTS):
            db.execute("BEGIN IMMEDIATE")
            if TOTALS not in {sql for (sql,) in db.execute(listed)}:  # nobody was faster
                _count(db)
            db.execute("COMMIT")
        elif found != {*STATEMENTS, TOTALS}:
            raise InputError(f"{self.path} has other tables than a ledger of this version of eagle")
        query = "SELECT (SELECT COUNT(*) FROM answers), (SELECT SUM(answers) FROM totals)"
        there, stored = db.execute(query).fetchone()
        if there != stored:
            raise InputError(
                f"{self.path} was damaged: {there} answers are there, and {stored} were stored. "
                "To use those that are there, drop the table totals of a copy of it"
            )

    def _model(self, db: Any, model: tuple[str, str, str]) -> int:
        if model not in self._models:
            self._models[model] = _number(
                db, "models", dict(zip(("name", "version", "function"), model, strict=True))
            )
        return self._models[model]

    def _form(self, db: Any, form: str) -> int:
        return _number(db, "forms", {"form": form})


Keyed: TypeAlias = Callable[[bytes], bytes]
"""A function from the bytes of a row to its key."""


def hasher(model: tuple[str, str, str], form: str) -> Keyed:
    """Keys of rows: hashes of the model's name, version and function, and of form and bytes."""
    begun = blake2b(digest_size=KEY)
    for part in (*model, form):
        raw = part.encode("utf-8", "surrogatepass")
        begun.update(len(raw).to_bytes(8, "little") + raw)

    def key(row: bytes) -> bytes:
        one = begun.copy()
        one.update(row)
        return one.digest()

    return key


def keys_of(model: tuple[str, str, str], inputs: Inputs) -> list[bytes]:
    """The keys of all rows."""
    return list(map(hasher(model, inputs.form), inputs.bytes_of_rows))


def _patiently(act: Callable[[], Any]) -> None:
    """Try until the database is not locked, where SQLite does not wait by itself."""
    import sqlite3

    end = time.monotonic() + PATIENCE
    while True:
        try:
            act()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)


def _stored_answer(row: bytes) -> bytes | None:
    return row if len(row) <= LARGEST_ROW else None


def _seal(key: bytes, answer: bytes) -> bytes:
    return blake2b(key + answer, digest_size=8).digest()


def _number(db: Any, table: str, values: dict[str, str]) -> int:
    """The id of the row with these values, which is inserted if there is none."""
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    given = tuple(values.values())
    db.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", given)
    where = " AND ".join(f"{name} = ?" for name in values)
    return int(db.execute(f"SELECT id FROM {table} WHERE {where}", given).fetchone()[0])


def _fits(key: Any, answer: Any, seal: Any) -> bool:
    """Whether an answer is what was stored."""
    plain = isinstance(key, bytes) and isinstance(answer, bytes)
    return plain and seal == _seal(key, answer) and len(answer) > 0 and len(answer) % 8 == 0


def _either(*keys: bytes) -> bytes:
    """Keys, exclusive or."""
    every = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, KEY)
    return bytes(np.bitwise_xor.reduce(every, axis=0))


def _count(db: Any) -> None:
    """Count the answers that are there."""
    keys = [key for (key,) in db.execute("SELECT key FROM answers")]
    db.execute(TOTALS)
    db.execute("INSERT INTO totals VALUES (?, ?)", (len(keys), _either(bytes(KEY), *keys)))


def _date(seconds: float | None) -> datetime | None:
    # `fromtimestamp` raises other errors on other systems for what is no time.
    return (
        None if seconds is None else datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    )


def as_columns(rows: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
    """Rows of several models as columns, None where a row has none."""
    listed = list(rows)
    names = list(dict.fromkeys(name for row in listed for name in row))
    return {name: [row.get(name) for row in listed] for name in names}
