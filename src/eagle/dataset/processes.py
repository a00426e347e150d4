"""Parts explained by processes of this machine: a pool of `concurrent.futures`.

The pool breaks as a whole if one of its processes dies. A new one then does again what was at hand.
The job goes through a pipe: no file has it, however any of them ends.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from threading import Thread
from types import ModuleType
from typing import Final

from eagle.dataset.parts import Job
from eagle.dataset.report import Report
from eagle.dataset.worker import (
    MAX_DEATHS,
    DeathError,
    Submit,
    hand_out,
    has_job,
    pickle_job,
    work_on,
)
from eagle.errors import EagleError
from eagle.saved.folders import DatasetPart

THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What libraries read, when a process starts, for the number of their threads."""

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
"""What a terminal and a system send to all processes of a group."""

POSIX: Final = os.name == "posix"
"""Whether processes have groups and masks of signals."""

_CONTENT: Final[list[bytes]] = []
"""The pickled job of this process, if it is a worker, until it is read."""


def by_processes(job: Job, todo: Sequence[DatasetPart], workers: int, report: Report) -> None:
    """Explain parts by workers on this machine. Those of workers that die are explained again."""
    content = pickle_job(job)
    for deaths in range(1, MAX_DEATHS + 1):
        try:
            with pool_of(content, workers) as submit:
                hand_out(submit, todo, workers, report)
            return
        except DeathError as death:
            if deaths == MAX_DEATHS:
                raise
            report.say(f"{death}. What was at hand is done again")
            todo = [part for part in todo if not part.there(job.out)]


@contextmanager
def pool_of(content: bytes, workers: int) -> Iterator[Submit]:
    """Processes with one thread of linear algebra each. They end when this one does."""
    pool = ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=_settle, initargs=(content,)
    )

    def submit(part: DatasetPart) -> Future[EagleError | None]:
        with _apart():  # a call may start a process
            return pool.submit(_work_on, part)

    try:
        yield submit
    finally:
        for process in (pool._processes or {}).values():  # `kill_workers` from 3.14 on
            process.kill()
        pool.shutdown()


@contextmanager
def _apart() -> Iterator[None]:
    """Within it a new process takes one thread, no signal, and does not run this script again.

    Functions of a script go along by `cloudpickle`, so it needs no guard around what it runs.
    Signals are for this process, which ends the others.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS) if POSIX else ()
    script, before = sys.modules["__main__"], {name: os.environ.get(name) for name in THREADS}
    try:
        sys.modules["__main__"] = ModuleType("__main__")
        os.environ.update(dict.fromkeys(THREADS, "1"))
        yield
    finally:
        sys.modules["__main__"] = script
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
        if POSIX:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _settle(content: bytes) -> None:
    """Called first in a new process: signals to its parent's group are no longer for it."""
    Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if POSIX:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    _CONTENT.append(content)


def _work_on(part: DatasetPart) -> EagleError | None:
    found = work_on(part, "", lambda: _CONTENT[0])
    if has_job(""):
        _CONTENT.clear()  # what could not be read is read again for the next part: the same error
    return found


def _end_with_parent() -> None:
    """End this process when its parent has ended, even in the middle of a part."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
