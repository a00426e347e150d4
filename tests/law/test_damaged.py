"""Saved files of every kind: what is damaged is refused in a sentence, and nothing takes long.

`EAGLE_FUZZ=20000` tries so many mutations in place of 2,000. One that fails is made again by its
number: `damage.case(123, folder)`.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import damage
import eagle
from eagle.explanations import Explanations
from eagle.models.ledger import Ledger
from eagle.saved.folders import Manifest

CASES = int(os.environ.get("EAGLE_FUZZ", "2000"))
BLOCK = 100

MAX_SECONDS = 2.0
MAX_BYTES = 200 << 20


def refused(name: str, path: Path, before: Any) -> bool:
    """Whether a file is refused, or found damaged when it is verified. What is read must be what
    was there, `before`; None stands for a forger's, of which nothing is asked but a sentence."""
    try:
        if name == "ledger":
            return not ledger_is_whole(path, before)
        read: Any = Manifest.read(path.parent) if name == "manifest" else eagle.load(path)
        if isinstance(read, Explanations):
            list(read)  # each is read when it is looked at
    except eagle.EagleError as error:
        said = str(error)
        assert said.isprintable()
        assert len(said.split()) >= 4
        assert len(said) < 500
        return True
    if before is not None and path.read_bytes() != before:
        assert written(read, path.with_name("again")) == before, "it was read, and is another"
    return False


def written(read: Any, path: Path) -> bytes:
    if isinstance(read, Manifest):
        path.mkdir(exist_ok=True)
        read.write(path)
        return (path / "manifest.json").read_bytes()
    read.save(path)
    return path.read_bytes()


def ledger_is_whole(path: Path, before: Any) -> bool:
    ledger = Ledger(path)
    found = ledger.answers(list(before))
    assert all(np.array_equal(found[key], before[key]) for key in found), "an answer was changed"
    whole = found.keys() == before.keys()
    wrong = ledger.verify()
    assert whole or wrong, "answers were lost without a word"
    str(ledger.summary())
    list(ledger.rows())
    return bool(wrong)


def answers_before(path: Path) -> dict[bytes, Any]:
    ledger = Ledger(path)
    keys = [bytes.fromhex(row["key"]) for row in ledger.rows()]
    return ledger.answers(keys)


@pytest.mark.parametrize("block", range(-(-CASES // BLOCK)))
def test_damage_is_found_and_takes_no_time(block: int, tmp_path: Path) -> None:
    whole = {name: path.read_bytes() for name, path in damage.files().items() if name != "ledger"}
    for number in range(block * BLOCK, min((block + 1) * BLOCK, CASES)):
        name, path, content, forged = damage.case(number, tmp_path)
        spoilt = tmp_path / f"{number}" / path.name
        spoilt.parent.mkdir()
        spoilt.write_bytes(content)
        before: Any = None if forged else whole.get(name)
        if name == "ledger":
            before = answers_before(path)
        forget_peak()
        began, memory = time.perf_counter(), peak()
        try:
            refused(name, spoilt, before)
        except BaseException as error:
            error.add_note(f"case {number}, {name}")
            raise
        spent, more = time.perf_counter() - began, peak() - memory
        assert spent < MAX_SECONDS, (number, name, spent)
        assert more < MAX_BYTES, (number, name, more)
        gc.collect(0)


def forget_peak() -> None:
    """From now on the peak is what is held from now on, where the system can forget the last."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """The most memory that this process has held, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10
