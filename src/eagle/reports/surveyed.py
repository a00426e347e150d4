"""The report of a survey: what was asked, and how its answers go with each column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from eagle._engine.targets import target_text
from eagle._tables.background import Column
from eagle._values.arrays import Array
from eagle._values.text import short
from eagle._values.ties import rank
from eagle.display import strips
from eagle.display.numbers import Numbers, at_level, count, plural, seconds
from eagle.display.parts import (
    Cell,
    Heading,
    bullets,
    caution,
    facts,
    name,
    paragraph,
    table,
    to_html,
)
from eagle.display.scale import Scale
from eagle.reports import again
from eagle.reports.about import About, model_and_data
from eagle.reports.document import Document, Section
from eagle.reports.one import make_again
from eagle.survey.survey import Survey

FEATURES: Final = 8
"""Number of features shown for an output."""

STATES: Final = 8
"""Number of bins or levels shown for a feature, the most frequent first."""

OUTPUTS: Final = 4
"""Number of outputs that are shown."""

MIN_ROWS: Final = 8
"""Of fewer rows no mean is shown."""


def document(s: Survey, about: About) -> Document:
    """What a survey is, what it cost, and how its answers go with each column."""
    outputs = _outputs(s)
    means = "Mean answers" if s.difference is None else f"Mean {s.difference.change}"
    sections = [
        Section(f"{means}: {target_text(s.outputs[k])}", _marginals(s, k, about.level))
        for k in outputs
    ]
    sections += [
        Section("What was asked", facts(_model_and_data(s, about))),
        Section("How to read this", bullets(_reading(s))),
        Section("How to make and use it", make_again(again.survey(s))),
    ]
    title = about.title or f"A survey of {short(s.identity.model, 80)}: {count(s.rows)} rows"
    who, kind = "the model was", "Survey of a model"
    if s.difference is not None:
        who, kind = "both models were", "Survey of the difference of two models"
    lead = paragraph(
        f"{count(s.rows)} rows that {who} asked once, from which any row of a table with the "
        "same columns can be explained without asking for more than its prediction.",
        "lead",
    )
    return Document(title, kind, lead + caution(_notes(s)), sections, about.footer)


def _notes(s: Survey) -> list[str]:
    return [s.note] if s.note else []


def _outputs(s: Survey) -> list[int]:
    """The outputs that are shown: of two classes, the second says it all."""
    if s.task == "classification" and len(s.outputs) == 2:
        return [1]
    return list(range(min(len(s.outputs), OUTPUTS)))


def _model_and_data(s: Survey, about: About) -> list[tuple[str, str]]:
    extra = sum(len(one.drawn) for one in s.known.values())
    cost = s.cost
    calls = plural(cost.calls, "call")
    return [
        *model_and_data(replace(about, made_by=s)),
        ("Outputs", ", ".join(short(str(output), 60) for output in s.outputs[:12])),
        ("Task", s.task),
        ("Seed", str(s.seed)),
        ("Features", count(len(s.drawn.states))),
        ("Model rows asked", f"{count(cost.rows)} in {calls}, {seconds(cost.model_seconds)}"),
        ("Supplements", f"{count(extra)} rows for {count(len(s.known))} values" if extra else ""),
    ]


def _reading(s: Survey) -> list[str]:
    return [
        "The rows are made, not taken from data: each column is drawn by itself from the values of "
        "the background, rare ones more often than they are there. So a mean answer tells what the "
        "model does with such rows, not how it treats the people or things in a data set.",
        "Lines are intervals of each mean by itself. A point is hollow where the interval contains "
        "the mean of all rows, which the dark line marks.",
        "To explain a table, use the survey: the lines below say how.",
    ]


@final
@dataclass(frozen=True)
class Level:
    """The mean answer to rows with one bin or level of a column, with its interval.

    Levels of a column are shown by increasing `order`.
    """

    label: str
    order: float
    rows: int
    mean: float
    low: float
    high: float


def levels_of(s: Survey, k: int, answers: Array, level: float) -> list[Level]:
    """Those of feature k that have enough rows: the most frequent, bins in their order."""
    from scipy import special

    states, out = s.drawn.states[k], []
    there, counts = np.unique(states, return_counts=True)
    for at in rank(counts.astype(np.float64))[:STATES].tolist():
        rows = int(counts[at])
        if rows < MIN_ROWS:
            continue
        own = answers[states == there[at]]
        half = float(special.stdtrit(rows - 1, (1 + level) / 2) * own.std(ddof=1) / np.sqrt(rows))
        mean = float(own.mean())
        state = int(there[at])
        order = mean if _column(s, k).levels is not None else state
        out.append(Level(_label(s, k, state), order, rows, mean, mean - half, mean + half))
    return sorted(out, key=lambda one: one.order)


def _column(s: Survey, k: int) -> Column:
    return s.background.columns[s.background.moved_columns[k]]


def _label(s: Survey, k: int, state: int) -> str:
    """A bin or level in words."""
    column = _column(s, k)
    label = f"{'' if column.members or s.background.template.named else 'x'}{column.name}"
    value = float(column.values[state][0])
    if value != value:
        return column.describe(label, state, None, True)
    if column.levels is None:
        return column.describe(label, state, value, True)
    if column.members:
        return column.describe_combination(label, column.levels[int(value)])
    return column.describe(label, state, column.levels[int(value)], True)


def _marginals(s: Survey, output: int, level: float) -> str:
    """The features whose levels' means differ most, and these means."""
    answers = s.answers[:, output]
    total = float(answers.mean())
    each = [levels_of(s, k, answers, level) for k in range(len(s.drawn.states))]
    moved = [
        sum(one.rows * (one.mean - total) ** 2 for one in levels) / max(len(answers), 1)
        for levels in each
    ]
    order = rank(np.array(moved))[:FEATURES].tolist()
    chosen = [each[k] for k in order if each[k]]
    drawn = [one for levels in chosen for one in levels]
    low, high = [one.low for one in drawn], [one.high for one in drawn]
    scale = Scale.over([*low, *high, total], zero=False)
    digits = Numbers.of([*low, *high, total], low, high)
    rows = [row for levels in chosen for row in _rows(levels, scale, digits, total)]
    heads = [
        Heading("Value", "t"),
        Heading(strips.axis(scale), "b", sorts=False),
        Heading("Mean"),
        Heading(f"{at_level(level)} interval"),
        Heading("Rows"),
    ]
    said = f"The mean answer over all rows is {digits.plain(total)}."
    caption = "The features whose values go with the most different answers come first"
    return paragraph(said, "soft") + table(heads, rows, "Mean answers", "bars one", caption)


def _rows(levels: list[Level], scale: Scale, digits: Numbers, total: float) -> Iterator[list[Cell]]:
    for one in levels:
        span = digits.span(one.low, one.high, signed=False)
        told = f"{one.label}: {digits.plain(one.mean)}, {span}"
        drawn = strips.point(scale, one.mean, one.low, one.high, told, total)
        yield [
            Cell(name(one.label, 120), kind="t"),
            Cell(drawn, kind="b"),
            Cell(to_html(digits.plain(one.mean)), one.mean, heading="mean"),
            Cell(to_html(span), one.low, "n", "interval"),
            Cell(count(one.rows), one.rows, heading="rows"),
        ]
