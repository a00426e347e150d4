"""A run: the parts that are not there yet are explained, here or by workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from eagle._engine.targets import Target
from eagle._values.checks import check_flags, integer, path_of, string
from eagle._values.text import short_repr
from eagle.dataset import config
from eagle.dataset.parts import Job, Maker, explain_part
from eagle.dataset.processes import by_processes
from eagle.dataset.ray import Ray, tasks
from eagle.dataset.report import Report
from eagle.dataset.source import data_source
from eagle.dataset.worker import hand_out
from eagle.errors import InputError
from eagle.explainer import Explainer
from eagle.explanations import Explanations
from eagle.io import atomic
from eagle.saved import folders
from eagle.saved.folders import DatasetPart, Manifest
from eagle.survey.survey import Survey
from eagle.until import Rule, refuse_rule


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
        raise InputError(f"rows are explained by an Explainer or a Survey, not {short_repr(maker)}")
    if isinstance(maker, Survey) and until is not None:
        raise InputError("a survey is asked already: a rule is for survey.grow, or an Explainer")
    if isinstance(maker, Explainer) and predictions is not None:
        raise InputError("predictions are for a Survey: an Explainer asks its model")
    if isinstance(maker, Explainer):
        refuse_rule(until, maker.method.name, maker.method.planned)
    integer(workers, "workers", 1)
    check_flags(progress=progress)
    if id_column is not None:
        string(id_column, "id_column, the name of a column,")
    source, folder = path_of(source, "source"), path_of(out, "out")
    cluster = _engine(engine)
    part_rows = config.part_rows_of(maker) if part_rows is None else part_rows
    asked = None if isinstance(maker, Survey) else maker.kind.asked
    ground = maker.background
    rows = data_source(source, asked, ground, columns, id_column, predictions)
    manifest = config.manifest(maker, rows, integer(part_rows, "part_rows", 1), target, until)
    if source.is_dir() and folder.resolve().is_relative_to(source.resolve()):
        raise InputError(f"{folder} lies in the source, {source}: name a folder outside of it")
    config.begin(folder, manifest)
    with _alone(folder):
        atomic.sweep(folder)
        todo = [part for part in manifest.parts if not part.there(folder)]
        job = Job(maker, rows, folder.absolute(), target, until)
        if todo:
            _run(job, manifest, todo, min(workers, len(todo)), cluster, progress)
        manifest.finish(folder)
    return folders.load(folder)


def _engine(engine: Any) -> Ray | None:
    if isinstance(engine, Ray):
        return engine
    if not isinstance(engine, str) or engine not in ("local", "ray"):
        raise InputError(f"an engine is 'local', 'ray' or a Ray(…), not {short_repr(engine)}")
    return Ray() if engine == "ray" else None


def _run(
    job: Job,
    manifest: Manifest,
    todo: Sequence[DatasetPart],
    workers: int,
    cluster: Ray | None,
    progress: bool,
) -> None:
    report = Report(sum(map(len, todo)), silent=not progress)
    try:
        if cluster is not None:
            with tasks(job, cluster, workers, report) as submit:
                hand_out(submit, todo, workers, report)
        elif workers > 1:
            by_processes(job, todo, workers, report)
        else:
            _explain_here(job, todo, report)
    except BaseException as error:  # Ctrl-C, too
        error.add_note(_how_far(manifest, job.out))
        raise
    finally:
        report.close()


def _explain_here(job: Job, todo: Sequence[DatasetPart], report: Report) -> None:
    for part in todo:
        try:
            explain_part(job, part)
        except Exception as error:  # the model may raise anything
            error.add_note(f"at {part.label_of_rows}")
            raise
        report.add(part)


def _how_far(manifest: Manifest, folder: Path) -> str:
    done = sum((folder / part.name).exists() for part in manifest.parts)
    return (
        f"{done:,} of {len(manifest.parts):,} parts are in {folder}: give the same command again "
        "to go on"
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
