"""Explanations of a survey in Parquet files: the survey once, and of each row what it needs of it.

Then a row that is looked at, and what is said of all rows, are computed as they were before. A part
of a data set has the rows' numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from eagle._values.arrays import Array
from eagle.cost import Cost
from eagle.explanations import Explanations, LazyExplanations, Stacked, bare
from eagle.saved import many
from eagle.survey.errors import SurveyErrors
from eagle.survey.many import RowMaker
from eagle.survey.surveyed import SavedRows, Surveyed

ANSWERS: Final = "answers"
"""The column of the model's own answers about each row: a list of its outputs."""

LINE: Final = "line"
"""The column of which rows have the same line: equal numbers."""


def value(maker: RowMaker, part: bool) -> dict[str, Any]:
    """What belongs to all rows: the survey, or, in a part of a data set, how many rows it has."""
    survey = maker.many.survey
    if part:
        return {"shared": survey.rows}
    whole = replace(survey, known=dict(maker.known))
    return {"survey": whole, "note": survey.note, "predicted": maker.asked}


def columns(pa: Any, e: Explanations, maker: RowMaker, part: bool) -> dict[str, Any]:
    """What each row needs of the survey, or, in a part of a data set, what it cost."""
    assert isinstance(e.items, LazyExplanations)
    rows, seen = list(e.items.numbers), maker.many
    out = {ANSWERS: pa.array(maker.own[rows].tolist(), pa.list_(pa.float64()))}
    if part:
        asked = [seen.rows_asked(seen.supplements(i, maker.known), maker.asked) for i in rows]
        return {**out, many.ASKED: pa.array(asked)}
    values = np.empty(seen.states.shape)
    for one, places in seen.tables:
        values[list(places)] = one.values
    alike = e.errors.alike[e.errors.rows] if isinstance(e.errors, SurveyErrors) else rows
    out[LINE] = pa.array(alike)
    for k, name in enumerate(e.names):
        out[many.place("state", k, name)] = pa.array(seen.states[rows, k])
        out[many.place("number", k, name)] = pa.array(values[rows, k])
    return out


def read(
    table: Any, value: Mapping[str, Any], t: Stacked, ids: tuple[Any, ...], targets: tuple[Any, ...]
) -> tuple[LazyExplanations, SurveyErrors]:
    """The explanations, each made when it is looked at, and their joint errors."""
    survey = replace(value["survey"], note=value["note"])
    states, values = (many.grid(table, t.names, part) for part in ("state", "number"))
    law = survey.setting.law
    if len(t.names) != len(law.share) or not ((states >= 0) & (states < law.keep.shape[1])).all():
        raise ValueError("its rows are not of its survey")
    rows = SavedRows(t.names, states.astype(np.intp), values, t.data, t.conditions)
    places = range(len(rows))
    seen = Surveyed(survey, [(rows, places)], ids, rows.states, [(0, i) for i in places])
    known = dict(survey.known)
    maker = RowMaker(seen, _answers(table, survey.outputs), known, targets, value["predicted"])
    line = np.array(table.column(LINE).to_pylist(), dtype=np.intp)
    _, first, alike = np.unique(line, return_index=True, return_inverse=True)
    errors = SurveyErrors(seen, known, targets, alike, first, None, np.arange(len(rows)))
    return LazyExplanations(places, maker, survey=survey), errors


def part(
    table: Any, shared: int, common: Mapping[str, Any], t: Stacked, targets: Sequence[Any]
) -> LazyExplanations:
    """The explanations of a part of a data set: their numbers alone."""
    answers, asked = _answers(table, common["outputs"]), table.column(many.ASKED).to_pylist()
    costs = [Cost(rows, shared=shared) for rows in asked]
    return LazyExplanations(
        range(len(t)),
        lambda i: bare(common, t, i, target=targets[i], answers=answers[i], cost=costs[i]),
    )


def _answers(table: Any, outputs: Sequence[Any]) -> Array:
    """The model's own answers about each row, shape (n, outputs)."""
    answers = np.array(table.column(ANSWERS).to_pylist(), dtype=np.float64)
    if answers.shape != (len(table), len(outputs)):
        raise ValueError("its answers do not fit its rows")
    return answers
