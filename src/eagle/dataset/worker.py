"""A worker process: parts come in by numbers, a line each, and what was done goes out.

It speaks over its standard input and output. What the model prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

from eagle.types import EagleError, message_of


def main(path: str) -> None:
    """Do the parts that are asked for, until the parent closes the pipe, or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then says so
    tasks, replies = _channels()
    asked = _tasks(tasks)

    def reply(data: dict[str, Any]) -> None:
        replies.write(json.dumps(data) + "\n")
        replies.flush()

    try:
        job, parts = pickle.loads(Path(path).read_bytes())
    except Exception as error:  # code of the user's own modules may raise anything
        reply(error_data(error, "the job could not be read in a worker process: "))
        return
    reply({"ready": True})
    for number in asked:
        try:
            reply({"made": asdict(job.explain(parts[number]))})
        except Exception as error:  # so may the model
            reply(error_data(error))


def error_data(error: Exception, before: str = "") -> dict[str, Any]:
    """An error as plain data."""
    said = message_of(error)
    if not isinstance(error, EagleError):
        said = f"{type(error).__name__}: {said}"
    return {"error": type(error).__name__, "sentence": before + said}


def _channels() -> tuple[IO[str], IO[str]]:
    """The pipes from and to the parent. The model neither reads the one nor writes the other."""
    tasks, replies = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return tasks, replies


def _tasks(tasks: IO[str]) -> Iterator[int]:
    """Numbers of parts. When the pipe ends, so does the process, even in the middle of a part."""
    queue: SimpleQueue[int] = SimpleQueue()

    def read() -> None:
        for line in tasks:
            queue.put(int(line))
        os._exit(0)

    Thread(target=read, daemon=True).start()
    while True:
        yield queue.get()
