"""What workers are sent, and what they do: a job that is read once in each, and parts of it.

Errors come back as sentences alone: the class of an error that a model raised need not exist where
it is read. What a call raises means that the worker itself has failed.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Final, TypeAlias

from eagle._values.text import message_of, short
from eagle.dataset.parts import Job, explain_part
from eagle.dataset.report import Report
from eagle.errors import AnswerError, EagleError, InputError, ModelError, ReplyError
from eagle.saved.folders import DatasetPart

Submit: TypeAlias = Callable[[DatasetPart], "Future[EagleError | None]"]
"""Lets a part be explained elsewhere. The future has the model's error, and raises the worker's."""

ERROR_TYPES: Final = (InputError, AnswerError, ReplyError, ModelError)
"""Errors that can be made of a sentence. All others come back as an `EagleError`."""

MAX_DEATHS: Final = 3
"""The run ends with an error when workers have died this often."""

_JOBS: Final[dict[str, Job]] = {}
"""The job of this process, once it is read, by the name of its run."""


class DeathError(EagleError):
    """A worker has died. What it was at is not done."""


def hand_out(submit: Submit, todo: Sequence[DatasetPart], workers: int, report: Report) -> None:
    """Explain all parts. After an error of the model, those at hand are finished."""
    waiting, at = deque(todo), dict[Future[EagleError | None], DatasetPart]()
    error: EagleError | None = None
    while True:
        while waiting and len(at) < workers and error is None:
            part = waiting.popleft()
            at[submit(part)] = part
        if not at:
            break
        for future in wait(at, 1.0, FIRST_COMPLETED).done:
            part = at.pop(future)
            try:
                found = future.result()
            except Exception as death:  # each library has its own
                each = "; ".join(sorted(one.label_of_rows for one in (part, *at.values())))
                why = short(message_of(death), 300)
                raise DeathError(
                    f"a worker died at {short(each, 200)}, perhaps for want of memory: fewer "
                    f"workers, or smaller part_rows and another folder, need less ({why})"
                ) from None
            if found is None:
                report.add(part)
            else:
                found.add_note(f"at {part.label_of_rows}")
                error = error or found
    if error is not None:
        raise error


def pickle_job(job: Job) -> bytes:
    """A job as bytes. Functions of a script or notebook go along, if `cloudpickle` is there."""
    try:
        import cloudpickle as pickler
    except ImportError:
        pickler = pickle
    try:
        content: bytes = pickler.dumps(job, protocol=5)
    except Exception as error:  # a model's own code may raise anything
        raise InputError(
            "this cannot be sent to workers, since it cannot be pickled "
            f"({type(error).__name__}: {message_of(error)}): say workers=1, without a cluster"
        ) from None
    return content


def work_on(part: DatasetPart, run: str, content: Callable[[], bytes]) -> EagleError | None:
    """Explain a part of a run, in a worker. The run's job is read by the first call."""
    try:
        if run not in _JOBS:
            _JOBS.clear()
            _JOBS[run] = pickle.loads(content())
    except Exception as error:  # code of the user's own modules may raise anything
        return _sentence(error, "the job could not be read in a worker: ")
    try:
        explain_part(_JOBS[run], part)
    except Exception as error:  # the model may raise anything
        return _sentence(error)
    return None


def has_job(run: str) -> bool:
    """Whether the job of a run was read here."""
    return run in _JOBS


def _sentence(error: Exception, before: str = "") -> EagleError:
    for kind in ERROR_TYPES:
        if type(error) is kind:
            return kind(before + message_of(error))
    name = "" if isinstance(error, EagleError) else f"{type(error).__name__}: "
    return EagleError(f"{before}{name}{message_of(error)}")
