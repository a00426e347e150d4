"""Workers on a Ray cluster: an actor each, which may have a part of a GPU."""

from __future__ import annotations

import math
import os
import pickle
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from eagle.dataset.crew import Died, Done, Event, Failed, Ready
from eagle.dataset.job import FinishedPart, WorkerJob, shipped
from eagle.dataset.local import error_of, module_path
from eagle.dataset.worker import error_data
from eagle.files.folders import DatasetPart
from eagle.types import EagleError, MissingExtraError, message_of, short

QUIET: Final = {"include_dashboard": False, "log_to_driver": False}
"""How a cluster is started here, if there is none."""


@final
@dataclass(frozen=True)
class Ray:
    """Actors of Ray, on a cluster at `address` ("auto" for the running one), or on this machine.

    Each actor takes `cpus` and `gpus` of a node, which may be fractions; without `cpus`, one, or
    none beside a GPU. Source and output must have the same paths on all nodes: a shared folder.
    """

    address: str | None = None
    cpus: float | None = None
    gpus: float = 0.0

    @property
    def options(self) -> dict[str, Any]:
        """The options of an actor. Ray never restarts it: a new one is asked for instead."""
        cpus = (0.0 if self.gpus else 1.0) if self.cpus is None else self.cpus
        return {"num_cpus": cpus, "num_gpus": self.gpus, "max_restarts": 0, "max_task_retries": 0}


@final
class Doer:
    """What runs in an actor."""

    def __init__(self, job: bytes) -> None:
        self._content = job
        self._job: WorkerJob
        self._parts: Sequence[DatasetPart]

    def ready(self) -> bool | dict[str, Any]:
        """Read the job. An error comes back as plain data."""
        try:
            self._job, self._parts = pickle.loads(self._content)
        except Exception as error:  # code of the user's own modules may raise anything
            return error_data(error, "the job could not be read in a worker: ")
        return True

    def explain(self, number: int) -> FinishedPart | dict[str, Any]:
        """A part that was made, or an error as plain data."""
        try:
            return self._job.explain(self._parts[number])
        except Exception as error:  # the model may raise anything
            return error_data(error)


@final
class Actors:
    """Workers that are actors. They end with this process, however it ends."""

    def __init__(
        self, job: WorkerJob, parts: Sequence[DatasetPart], settings: Ray, workers: int
    ) -> None:
        ray = _ray()
        self._settings = settings
        self._mine = not ray.is_initialized()
        if self._mine:
            _join(ray, settings, workers)
        self._job = ray.put(shipped((job, tuple(parts))))
        self._kind = ray.remote(Doer).options(**settings.options)
        self._actors: list[Any] = []
        self._waiting: dict[Any, int] = {}
        self._happened: deque[Event] = deque()

    @property
    def needs(self) -> str:
        ray, wanted = _ray(), self._settings.options
        free = ray.available_resources()
        return (
            f"the cluster to have {wanted['num_cpus']:g} CPUs and {wanted['num_gpus']:g} GPUs free "
            f"for a worker; it has {free.get('CPU', 0):g} and {free.get('GPU', 0):g}"
        )

    def hire(self) -> int:
        actor = self._kind.remote(self._job)
        self._actors.append(actor)
        self._waiting[actor.ready.remote()] = len(self._actors) - 1
        return len(self._actors) - 1

    def give(self, worker: int, part: DatasetPart) -> None:
        self._waiting[self._actors[worker].explain.remote(part.number)] = worker

    def next(self, seconds: float) -> Event | None:
        if not self._happened:
            done, _ = _ray().wait(list(self._waiting), num_returns=1, timeout=seconds)
            for one in done:
                self._happened.append(self._event(one, self._waiting.pop(one)))
        return self._happened.popleft() if self._happened else None

    def _event(self, done: Any, worker: int) -> Event:
        ray = _ray()
        try:
            value = ray.get(done)
        except ray.exceptions.RayError as error:
            ray.kill(self._actors[worker])  # it may live on where it cannot be reached
            return Died(worker, short(message_of(error), 300))
        if isinstance(value, FinishedPart):
            return Done(worker, value)
        if isinstance(value, dict):
            return Failed(worker, error_of(value["error"], value["sentence"]))
        return Ready(worker)

    def close(self) -> None:
        ray = _ray()
        for actor in self._actors:
            ray.kill(actor)
        if self._mine:
            ray.shutdown()


def _join(ray: Any, settings: Ray, workers: int) -> None:
    """Join the cluster, or start one on this machine that is as large as the workers need."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        if settings.address is not None:
            ray.init(address=settings.address, log_to_driver=False)
            return
        wanted = settings.options
        ray.init(
            address="local",
            num_cpus=max(1, math.ceil(workers * wanted["num_cpus"])),
            runtime_env={"env_vars": {"PYTHONPATH": module_path()}},
            **QUIET,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise EagleError(f"no Ray cluster could be reached: {message_of(error)}") from None


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtraError("engine='ray'", "ray", "cluster") from None
    return ray
