"""Parts explained on a Ray cluster, by tasks of one part each, which may have a part of a GPU."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, final

from eagle._values.checks import number, string
from eagle._values.packages import package
from eagle._values.text import message_of
from eagle.dataset.parts import Job
from eagle.dataset.report import Report
from eagle.dataset.worker import MAX_DEATHS, Submit, pickle_job, work_on
from eagle.errors import EagleError
from eagle.saved.folders import DatasetPart

LOCAL_CLUSTER: Final = {"include_dashboard": False, "log_to_driver": False}
"""How a cluster is started here, if there is none."""


@final
@dataclass(frozen=True)
class Ray:
    """Workers of Ray, on a cluster at `address` ("auto" for the running one), or on this machine.

    Each worker takes `cpus` and `gpus` of a node, which may be fractions; without `cpus`, one, or
    none beside a GPU. Source and output must have the same paths on all nodes: a shared folder.
    """

    address: str | None = None
    cpus: float | None = None
    gpus: float = 0.0

    def __post_init__(self) -> None:
        if self.address is not None:
            string(self.address, "an address")
        for name, share in (("cpus", self.cpus), ("gpus", self.gpus)):
            if share is not None or name == "gpus":
                number(share, name, 0.0)

    @property
    def needs(self) -> dict[str, float]:
        """What a worker takes of a node."""
        cpus = (0.0 if self.gpus else 1.0) if self.cpus is None else self.cpus
        return {"num_cpus": cpus, "num_gpus": self.gpus}


@contextmanager
def tasks(job: Job, settings: Ray, workers: int, report: Report) -> Iterator[Submit]:
    """Lets a cluster explain parts. One that is not yet joined is left at the end.

    A part whose worker or node is lost is given to another one by Ray. A worker is used again for
    the next part, with the job that it has read: also one with a GPU, which Ray would end.
    """
    ray, content = _ray(), pickle_job(job)
    joins = not ray.is_initialized()
    if joins:
        _join(ray, settings, workers)
    if not any(_fits(node, settings.needs) for node in ray.nodes()):
        cpus, gpus = settings.needs.values()
        report.say(f"waiting for a node with {cpus:g} CPUs and {gpus:g} GPUs: the cluster has none")
    task = ray.remote(max_retries=MAX_DEATHS - 1, max_calls=0, **settings.needs)(_work_on)
    reference, given = ray.put(content), set[Any]()

    def submit(part: DatasetPart) -> Future[EagleError | None]:
        result = task.remote(part, [reference])
        given.add(result)
        future: Future[EagleError | None] = result.future()
        future.add_done_callback(lambda _: given.discard(result))
        return future

    try:
        yield submit
    finally:
        for result in list(given):
            ray.cancel(result, force=True)
        if joins:
            ray.shutdown()


def _work_on(part: DatasetPart, reference: list[Any]) -> EagleError | None:
    """Explain a part, in a worker. The job is fetched once: what is in a list comes as it is."""
    return work_on(part, reference[0].hex(), lambda: _ray().get(reference[0]))


def _fits(node: dict[str, Any], needs: dict[str, float]) -> bool:
    has = node["Resources"] if node["Alive"] else {}
    cpus, gpus = needs.values()
    return bool(has.get("CPU", 0) >= cpus and has.get("GPU", 0) >= gpus)


def _join(ray: Any, settings: Ray, workers: int) -> None:
    """Join the cluster, or start one on this machine that is as large as the workers need."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    modules = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    try:
        if settings.address is not None:
            ray.init(address=settings.address, log_to_driver=False)
            return
        ray.init(
            address="local",
            num_cpus=max(1, math.ceil(workers * settings.needs["num_cpus"])),
            runtime_env={"env_vars": {"PYTHONPATH": modules}},
            **LOCAL_CLUSTER,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise EagleError(f"no Ray cluster could be reached: {message_of(error)}") from None


def _ray() -> Any:
    return package("ray", "engine='ray'", "cluster")
