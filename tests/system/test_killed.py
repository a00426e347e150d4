"""A paid run, killed again and again: no answer is lost, no row asked twice but in flight."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from eagle.models.inputs import Inputs
from eagle.models.ledger import KEY, Ledger, keys_of
from served import Served, rows_of, shares

BATCH, AT_ONCE = 10, 2

RUN = f"""
import os, sys, warnings
import numpy as np
from eagle.models.http import Endpoint
url, path, rows = sys.argv[1:]
X = np.random.default_rng(0).normal(size=(int(rows), 3))
warnings.simplefilter("ignore")
import httpx, sqlite3
for line in sys.stdin:  # a new process for each line, without importing all again
    child = os.fork()
    if not child:
        ask = Endpoint(url, batch_rows={BATCH}, concurrency={AT_ONCE}, ledger=path, name="paid",
                       version="1")
        answers = ask(X)
        os._exit(0 if len(answers) == len(X) else 1)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@contextmanager
def runs(served: Served, path: Path, rows: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", RUN, served.url, str(path), str(rows)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as starter:
        yield starter
        assert starter.stdin is not None
        starter.stdin.close()


def begin(starter: subprocess.Popen[str]) -> int:
    """Start a run; its process."""
    assert starter.stdin is not None
    assert starter.stdout is not None
    starter.stdin.write("go\n")
    starter.stdin.flush()
    return int(starter.stdout.readline())


def ended(starter: subprocess.Popen[str]) -> int:
    assert starter.stdout is not None
    return int(starter.stdout.readline())


def stored(path: Path) -> dict[bytes, bytes]:
    with Ledger(path)._reading() as db:
        return dict(db.execute("SELECT key, answer FROM answers"))


def in_doubt(path: Path) -> Counter[bytes]:
    """How often each row was sent without an answer that was stored."""
    db = sqlite3.connect(path)
    found = [keys for (keys,) in db.execute("SELECT keys FROM intents")]
    db.close()
    return Counter(keys[i : i + KEY] for keys in found for i in range(0, len(keys), KEY))


@pytest.mark.parametrize(
    ("kills", "rows"), [(15, 2200), pytest.param(100, 12_000, marks=pytest.mark.slow)]
)
def test_killed_at_random_moments(tmp_path: Path, kills: int, rows: int) -> None:
    """There are more rows than all runs that are killed can ask, so that each has some to ask."""
    path = tmp_path / "paid.db"
    X = np.random.default_rng(0).normal(size=(rows, 3))
    keys = keys_of(("paid", "1", "answers"), Inputs.of(X))
    rng = np.random.default_rng(kills)
    row_of = {key: tuple(row) for key, row in zip(keys, X.tolist(), strict=True)}
    killed = 0
    with Served(delay=0.002) as served, runs(served, path, rows) as starter:
        before: dict[bytes, bytes] = {}
        for _ in range(kills):
            asked = len(served.requests)
            process = begin(starter)
            goal = asked + int(rng.integers(0, 4))
            end = time.monotonic() + 10
            while len(served.requests) < goal and time.monotonic() < end:
                time.sleep(0.0005)
            time.sleep(float(rng.uniform(0, 0.03)))  # before sending, in flight, or while storing
            with suppress(ProcessLookupError):  # it may have finished
                os.kill(process, signal.SIGKILL)
            killed += ended(starter) == signal.SIGKILL
            while served.busy:
                time.sleep(0.001)
            now = stored(path) if path.exists() else {}
            assert before.items() <= now.items()  # no answered row is lost
            again = {tuple(row) for body in served.requests[asked:] for row in rows_of(body)}
            assert not again & {row_of[key] for key in before}  # none is asked again
            before = now
        begin(starter)
        assert ended(starter) == 0
        times = Counter(map(tuple, served.rows))
    assert killed >= kills * 0.8
    final = stored(path)
    assert len(final) == rows
    answers = np.array([np.frombuffer(final[key]) for key in keys])
    assert np.array_equal(answers, shares(X))
    doubt = in_doubt(path)
    for key, row in row_of.items():
        assert 1 <= times[row] <= 1 + doubt[key]
    assert sum(doubt.values()) <= killed * BATCH * AT_ONCE  # what was in flight at each kill
    assert Ledger(path).verify() == []
    twice = sum(times.values()) - rows
    print(f"{killed} kills: {rows} rows, {twice} asked twice, {sum(doubt.values())} in doubt")
