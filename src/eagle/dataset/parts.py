"""A part of a data set: its rows are read, explained and written to a file of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, final

from eagle._values.packages import one_thread
from eagle._values.targets import Target
from eagle.dataset.source import DataSource, SourceRows
from eagle.explainer import Explainer
from eagle.explanations import Explanations
from eagle.saved import many
from eagle.saved.folders import DatasetPart
from eagle.survey.survey import Survey
from eagle.until import Rule

Maker: TypeAlias = Explainer | Survey
"""What explains rows."""


@final
@dataclass(frozen=True, eq=False)
class Job:
    """All that is needed to explain any part."""

    maker: Maker
    source: DataSource
    out: Path
    target: Target
    until: Rule | None


def explain_part(job: Job, part: DatasetPart) -> None:
    """Explain a part and write its file, unless that is there."""
    if part.there(job.out):
        return
    with one_thread():
        rows = job.source.read(part.file, part.start, part.end, part.first)
        made = replace(_explain_rows(job, rows), ids=tuple(rows.ids))
    many.save(made, job.out / part.name, part=part.label)


def _explain_rows(job: Job, rows: SourceRows) -> Explanations:
    maker, target = job.maker, job.target
    if isinstance(maker, Survey):
        return maker.explain_many(rows.X, target, predictions=rows.predictions, progress=False)
    made = maker.explain_many(rows.X, target, until=job.until, progress=False, evidence=False)
    if maker.kind.asked is None:
        return made
    return replace(made, stacked=None, errors=None)  # each text and image has features of its own
