"""What a worker does: explain a part, unless its file is there, and write it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, final

from eagle.dataset.source import DataSource
from eagle.explainer import Explainer
from eagle.explanations import Explanations
from eagle.files import many
from eagle.files.folders import DatasetPart
from eagle.packages import one_thread
from eagle.survey.survey import Survey
from eagle.targets import Target
from eagle.until import Rule

Maker: TypeAlias = Explainer | Survey
"""What explains rows."""


@final
@dataclass(frozen=True)
class FinishedPart:
    """A part that is finished: its number, rows, rows that the model was asked, and seconds."""

    part: int
    rows: int
    asked: int
    seconds: float


@final
@dataclass(frozen=True, eq=False)
class WorkerJob:
    """All that a worker needs. It is sent to each of them once."""

    maker: Maker
    source: DataSource
    out: Path
    target: Target
    until: Rule | None

    def explain(self, part: DatasetPart) -> FinishedPart:
        """Explain a part. Nothing is done if its file is there."""
        began = time.perf_counter()
        if part.there(self.out):
            return FinishedPart(part.number, len(part), 0, 0.0)
        with one_thread():
            explanations, asked = self._explained(part)
        many.save(explanations, self.out / part.name, part.said())
        return FinishedPart(part.number, len(part), asked, time.perf_counter() - began)

    def _explained(self, part: DatasetPart) -> tuple[Explanations, int]:
        """The explanations, and how many rows the model was asked for them."""
        rows = self.source.read(part.file, part.start, part.end, part.first)
        if isinstance(self.maker, Survey):
            before = self.maker.account.rows
            made = self.maker.explain_many(
                rows.X, self.target, predictions=rows.predictions, progress=False
            )
            asked = self.maker.account.rows - before
        else:
            made = self.maker.explain_many(
                rows.X, self.target, until=self.until, progress=False, evidence=False
            )
            asked = sum(e.bill.rows for e in made)
            if self.maker.kind.asked is not None:  # the features of texts and images are their own
                made = replace(made, stacked=None, errors=None)
        return replace(made, ids=tuple(rows.ids)), asked


def shipped(job: Any) -> bytes:
    """A job as bytes. Functions of a script or notebook go along, if `cloudpickle` is there."""
    import pickle

    try:
        import cloudpickle
    except ImportError:
        return pickle.dumps(job, protocol=5)
    content: bytes = cloudpickle.dumps(job, protocol=5)
    return content
