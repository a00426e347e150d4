"""Worker processes on this machine, each with one thread of linear algebra."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any, Final, final

from eagle import types
from eagle.dataset.crew import Died, Done, Event, Failed, Ready
from eagle.dataset.job import FinishedPart, WorkerJob, shipped
from eagle.files.folders import DatasetPart
from eagle.types import EagleError, InputError, message_of

THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What libraries read, when a process starts, for the number of their threads."""

START: Final = "import sys; from eagle.dataset.worker import main; main(sys.argv[1])"
"""The program of a worker."""

ERRORS: Final = ("InputError", "AnswerError", "ReplyError", "ModelError")
"""Errors that have a sentence alone; all others come back as an `EagleError`."""


@final
class Processes:
    """Workers that are processes. They end when this process does, however it ends."""

    needs = "worker processes to start"

    def __init__(self, job: WorkerJob, parts: Sequence[DatasetPart]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="eagle-")
        self._path = Path(self._folder.name) / "job.pickle"
        try:
            self._path.write_bytes(shipped((job, tuple(parts))))
        except Exception as error:  # a model's own code may raise anything
            self._folder.cleanup()
            raise InputError(
                "this cannot be sent to worker processes, since it cannot be pickled "
                f"({type(error).__name__}: {message_of(error)}): say workers=1"
            ) from None
        self._workers: list[subprocess.Popen[str]] = []
        self._happened: SimpleQueue[Event] = SimpleQueue()

    def hire(self) -> int:
        number = len(self._workers)
        process = subprocess.Popen(
            [sys.executable, "-c", START, str(self._path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                **dict.fromkeys(THREADS, "1"),
                "PYTHONPATH": module_path(),
            },
            start_new_session=True,  # a terminal's Ctrl-C is for the parent alone
        )
        self._workers.append(process)
        assert process.stdout is not None
        Thread(target=self._listen, args=(number, process.stdout), daemon=True).start()
        return number

    def _listen(self, number: int, replies: IO[str]) -> None:
        """Put what a worker says into the queue. The end of its pipe is its own end."""
        with replies:
            for line in replies:
                self._happened.put(_event(number, line))
        self._happened.put(Died(number))

    def give(self, worker: int, part: DatasetPart) -> None:
        pipe = self._workers[worker].stdin
        assert pipe is not None
        with suppress(OSError):  # if it has just died, that comes as an event
            pipe.write(f"{part.number}\n")
            pipe.flush()

    def next(self, seconds: float) -> Event | None:
        try:
            return self._happened.get(timeout=seconds)
        except Empty:
            return None

    def close(self) -> None:
        for process in self._workers:
            process.kill()
        for process in self._workers:
            process.wait()
            assert process.stdin is not None
            with suppress(OSError):  # what was still to be written has no reader
                process.stdin.close()
        self._folder.cleanup()


def module_path() -> str:
    """Where this process finds modules, for processes that it starts."""
    return os.pathsep.join(entry or os.getcwd() for entry in sys.path)


def _event(worker: int, line: str) -> Event:
    try:
        data: dict[str, Any] = json.loads(line)
    except ValueError:  # it died while it wrote
        return Died(worker)
    if "made" in data:
        return Done(worker, FinishedPart(**data["made"]))
    if "error" in data:
        return Failed(worker, error_of(data["error"], data["sentence"]))
    return Ready(worker)


def error_of(name: str, sentence: str) -> EagleError:
    """An error of a worker, of the same kind."""
    kind: type[EagleError] = vars(types)[name] if name in ERRORS else EagleError
    return kind(sentence)
