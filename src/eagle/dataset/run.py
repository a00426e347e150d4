"""A run: parts that are not there yet, handed out to workers one at a time each."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, final

from eagle.dataset import config
from eagle.dataset.crew import Crew, Died, Done, Failed, Inline, Ready
from eagle.dataset.job import Maker, WorkerJob
from eagle.dataset.local import Processes
from eagle.dataset.ray import Actors, Ray
from eagle.dataset.report import Report
from eagle.dataset.signals import Stopping
from eagle.dataset.source import data_source
from eagle.explainer import Explainer
from eagle.explanations import Explanations
from eagle.files import atomic, folders
from eagle.files.folders import DatasetPart, Manifest
from eagle.survey.survey import Survey
from eagle.targets import Target
from eagle.types import EagleError, InputError, integer, told
from eagle.until import Rule

DEATHS: Final = 3
"""The run ends with an error after this many workers died at the same part."""

SAID: Final = 30.0
"""Seconds without a ready worker after which a message says what is waited for."""

LONGEST: Final = 900.0
"""Seconds without a ready worker after which the run ends with an error."""


def explain(
    maker: Maker,
    source: str | PathLike[str],
    out: str | PathLike[str],
    *,
    target: Target = None,
    until: Rule | None = None,
    columns: str | Sequence[str] | None = None,
    id_column: str | None = None,
    predictions: str | Sequence[str] | None = None,
    part_rows: int | None = None,
    workers: int = 1,
    engine: Literal["local", "ray"] | Ray = "local",
    progress: bool = True,
) -> Explanations:
    """Explain all rows of a Parquet file or a folder of them, and write a folder of part files.

    `maker` is an `Explainer`, which explains each row by itself, or a `Survey`, which was asked
    once and explains all rows from that. Of a table the columns are taken that the explainer was
    made over. For texts, and all that is no table, `columns` names the column. For images, `source`
    is a folder of image files. `id_column` names the rows; without it they are numbered.

    For a survey, `predictions` may name columns with the model's own answers. Else its model is
    asked for them, a row each, if it has one; without a model a classifier needs a `target`.

    The same call again goes on where the last one ended: also after Ctrl-C, a crash, or `kill -9`.
    Any other call into the same folder is refused. `workers` are processes on this machine, or with
    `engine="ray"` actors on a cluster, each of which reads the model once. Results do not depend on
    them. What is given back is read from the folder when it is looked at, as by `eagle.load`.
    """
    if not isinstance(maker, Explainer | Survey):
        raise InputError(f"rows are explained by an Explainer or a Survey, not {told(maker)}")
    if isinstance(maker, Survey) and until is not None:
        raise InputError("a survey is asked already: a rule is for survey.grow, or an Explainer")
    if isinstance(maker, Explainer) and predictions is not None:
        raise InputError("predictions are for a Survey: an Explainer asks its model")
    integer(workers, "workers", 1)
    crew_of = _engine(engine)
    part_rows = config.part_rows_of(maker) if part_rows is None else part_rows
    asked = None if isinstance(maker, Survey) else maker.kind.asked
    ground = maker.background
    rows = data_source(Path(source), asked, ground, columns, id_column, predictions)
    manifest = config.manifest(maker, rows, integer(part_rows, "part_rows", 1), target, until)
    folder = Path(out)
    if Path(source).is_dir() and folder.resolve().is_relative_to(Path(source).resolve()):
        raise InputError(f"{folder} lies in the source, {source}: name a folder outside of it")
    config.begin(folder, manifest)
    with _alone(folder):
        atomic.sweep(folder)
        todo = [part for part in manifest.parts if not part.there(folder)]
        job = WorkerJob(maker, rows, folder.absolute(), target, until)
        if todo:
            _run(job, manifest, todo, min(workers, len(todo)), crew_of, progress)
    return folders.load(folder)


def _engine(engine: Any) -> Ray | None:
    if isinstance(engine, Ray):
        return engine
    if engine not in ("local", "ray"):
        raise InputError(f"an engine is 'local', 'ray' or a Ray(…), not {told(engine)}")
    return Ray() if engine == "ray" else None


def _run(
    job: WorkerJob,
    manifest: Manifest,
    todo: Sequence[DatasetPart],
    workers: int,
    cluster: Ray | None,
    progress: bool,
) -> None:
    parts, left = manifest.parts, sum(map(len, todo))
    report = Report(len(parts), manifest.rows, len(todo), manifest.rows - left, not progress)
    crew: Crew
    if cluster is not None:
        crew = Actors(job, parts, cluster, workers)
    else:
        crew = Inline(job) if workers == 1 else Processes(job, parts)
    with Stopping(silent=not progress) as stop:
        shift = Shift(crew, todo, report, stop)
        try:
            shift.work(workers)
        except BaseException as error:
            error.add_note(_how_far(manifest, job.out))
            raise
        finally:
            report.close()
            crew.close()
    if stop.asked:
        stop.act(_how_far(manifest, job.out))


def _how_far(manifest: Manifest, folder: Path) -> str:
    done = sum((folder / part.name).exists() for part in manifest.parts)
    return (
        f"{done:,} of {len(manifest.parts):,} parts are in {folder}: give the same command again "
        "to go on"
    )


@final
class Shift:
    """Hands out parts, and replaces workers that die."""

    def __init__(
        self, crew: Crew, todo: Sequence[DatasetPart], report: Report, stop: Stopping
    ) -> None:
        self._crew, self._report, self._stop = crew, report, stop
        self._waiting = deque(todo)
        self._at: dict[int, DatasetPart] = {}
        self._starting: set[int] = set()
        self._idle: set[int] = set()
        self._deaths: Counter[int] = Counter()
        self._error: Exception | None = None
        self._quiet = time.monotonic()

    def work(self, workers: int) -> None:
        """Explain all parts. If a worker fails, the others finish the parts they are at."""
        for _ in range(workers):
            self._starting.add(self._crew.hire())
        while self._at or (self._waiting and not self._ending):
            event = self._crew.next(1.0)
            match event:
                case Ready(worker):
                    self._starting.discard(worker)
                    self._report.ready()
                    self._give(worker)
                case Done(worker, made):
                    del self._at[worker]
                    self._report.add(made)
                    self._give(worker)
                case Failed(worker, error):
                    placed = _placed(error, self._at.pop(worker, None))
                    self._error = self._error or placed
                    self._starting.discard(worker)
                case Died(worker, why):
                    self._replace(worker, why)
                case None:
                    self._wait()
        if self._error is not None:
            raise self._error

    @property
    def _ending(self) -> bool:
        return self._stop.asked or self._error is not None

    def _give(self, worker: int) -> None:
        """The next part for a worker, if there is one. If not, a part may still come back."""
        self._quiet = time.monotonic()
        if self._waiting and not self._ending:
            part = self._at[worker] = self._waiting.popleft()
            self._crew.give(worker, part)
        else:
            self._idle.add(worker)

    def _replace(self, worker: int, why: str) -> None:
        """A worker is gone: its part is done again, by another."""
        self._idle.discard(worker)
        part = self._at.pop(worker, None)
        if part is None and worker not in self._starting:
            return  # it had nothing to do, or has said already why it ends
        self._starting.discard(worker)
        number = -1 if part is None else part.number
        self._deaths[number] += 1
        if self._deaths[number] >= DEATHS:
            self._error = self._error or EagleError(_deadly(part, why))
            return
        if part is not None:
            self._waiting.appendleft(part)
            self._report.say(f"a worker died at {part.told}: another does it again")
        if self._idle:  # it holds what a new one might wait for
            self._give(self._idle.pop())
        elif not self._ending:
            self._starting.add(self._crew.hire())

    def _wait(self) -> None:
        """Called after a second without an event. If no worker gets ready, report it, then end."""
        if self._at:
            self._quiet = time.monotonic()
        waited = time.monotonic() - self._quiet
        if SAID <= waited < SAID + 1:
            self._report.say(f"waiting for {self._crew.needs}")
        if waited > LONGEST:
            raise EagleError(f"gave up after {waited:.0f} s of waiting for {self._crew.needs}")


def _placed(error: Exception, part: DatasetPart | None) -> Exception:
    """The error, with a note of where it happened."""
    if part is not None:
        error.add_note(f"at {part.told}")
    return error


def _deadly(part: DatasetPart | None, why: str) -> str:
    if part is None:
        return f"{DEATHS} workers died before they were ready: {why}"
    return (
        f"{DEATHS} workers died at {part.told}, perhaps for want of memory: give fewer workers, or "
        f"smaller part_rows and another folder; of the last one, {why}"
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Refuse to work in a folder while another process does: rows would be paid for twice."""
    try:
        import fcntl
    except ImportError:  # Windows: two runs would only do the same work twice
        yield
        return
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"another process is writing into {folder}: wait for it") from None
        except OSError:  # a file system without locks
            pass
        yield
