"""Workers, whatever they are: processes here, actors of a cluster, or this process itself."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol, TypeAlias, final

from eagle.dataset.job import FinishedPart, WorkerJob
from eagle.files.folders import DatasetPart


@final
@dataclass(frozen=True)
class Ready:
    """A worker has read its job and waits for parts."""

    worker: int


@final
@dataclass(frozen=True)
class Done:
    """A worker has finished its part."""

    worker: int
    made: FinishedPart


@final
@dataclass(frozen=True)
class Failed:
    """A worker could not do its part, or not read its job: an error of the model or the rows."""

    worker: int
    error: Exception


@final
@dataclass(frozen=True)
class Died:
    """A worker died, and its part is not finished. `why` is the known reason."""

    worker: int
    why: str = "what it said stands above"


Event: TypeAlias = Ready | Done | Failed | Died


class Crew(Protocol):
    """Workers that do one part at a time each."""

    @property
    def needs(self) -> str:
        """What it waits for while no worker is ready, in words."""

    def hire(self) -> int:
        """Start a worker, and give its number."""

    def give(self, worker: int, part: DatasetPart) -> None:
        """Let a worker that is ready, or done with its last part, do this one."""

    def next(self, seconds: float) -> Event | None:
        """The next event; None if there is none within `seconds`."""

    def close(self) -> None:
        """End all workers at once."""


@final
class Inline:
    """A worker that is this process itself."""

    needs = "this process"

    def __init__(self, job: WorkerJob) -> None:
        self._job = job
        self._happened: deque[Event] = deque()

    def hire(self) -> int:
        self._happened.append(Ready(0))
        return 0

    def give(self, worker: int, part: DatasetPart) -> None:
        try:
            self._happened.append(Done(worker, self._job.explain(part)))
        except Exception as error:  # the model may raise anything
            self._happened.append(Failed(worker, error))

    def next(self, seconds: float) -> Event | None:
        return self._happened.popleft()

    def close(self) -> None:
        pass  # nothing was started
