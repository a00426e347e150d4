"""Run the trials of an experiment that have no record yet, in one process or several."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from threading import Thread
from typing import final

from eagle._engine.progress import Progress
from eagle.errors import EagleError, InputError
from evaluation.measure import measure
from evaluation.store import Store
from evaluation.trial import Record, Trial

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@final
@dataclass
class Outcome:
    """The keys of finished trials, and the error sentences of failed ones."""

    done: set[str] = field(default_factory=set)
    failed: dict[Trial, str] = field(default_factory=dict)

    @property
    def bad(self) -> set[str]:
        return {trial.key for trial in self.failed}

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.done | other.done, self.failed | other.failed)


def run(trials: Sequence[Trial], store: Store, jobs: int = 1, *, silent: bool = False) -> Outcome:
    """Make the records that are not in the store. Each is stored as soon as it is made.

    Except for seconds, records do not depend on the number of processes. A trial that fails leaves
    no record, and other trials go on.
    """
    if jobs < 1:
        raise InputError(f"jobs must be an integer from 1, not {jobs!r}")
    known, outcome = store.keys(), Outcome()
    todo = [trial for trial in dict.fromkeys(trials) if trial.key not in known]
    line = Progress("trials", len(todo), silent=silent)
    try:
        for trial, record in _inline(todo) if jobs == 1 else _spread(todo, jobs):
            if isinstance(record, str):
                outcome.failed[trial] = record
            else:
                store.add([record])
                outcome.done.add(trial.key)
            line.step()
    finally:
        line.close()
    return outcome


def _measured(trial: Trial) -> Record | str:
    """The record, or an error sentence."""
    try:
        return measure(trial)
    except EagleError as error:
        return str(error)
    except Exception as error:  # any other error: the other trials go on
        return f"{type(error).__name__}: {error}"


def _inline(trials: Sequence[Trial]) -> Iterator[tuple[Trial, Record | str]]:
    from threadpoolctl import threadpool_limits

    for trial in trials:
        with threadpool_limits(
            1
        ):  # the same as in worker processes, so that results are equal to the last bit
            record = _measured(trial)
        yield trial, record


def _stay_with(parent: int) -> None:
    """Exit when the parent process ends, even if it was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _spread(trials: Sequence[Trial], jobs: int) -> Iterator[tuple[Trial, Record | str]]:
    """Run trials in several processes of one thread each, with a short queue."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ |= dict.fromkeys(THREADS, "1")  # libraries read these when a process starts
    queue = iter(trials)
    running: dict[Future[Record | str], Trial] = {}
    try:
        with ProcessPoolExecutor(jobs, get_context("spawn"), _stay_with, (os.getpid(),)) as pool:
            try:
                while True:
                    for trial in islice(queue, 2 * jobs - len(running)):
                        running[pool.submit(_measured, trial)] = trial
                    if not running:
                        return
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        yield running.pop(future), future.result()
            except BrokenProcessPool:
                raise EagleError(
                    "a process died, perhaps for want of memory: what was finished is kept, so run "
                    "again, with fewer jobs"
                ) from None
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
