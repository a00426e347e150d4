"""The report of a comparison of methods."""

from __future__ import annotations

from math import isnan

import numpy as np

from eagle.comparison import Comparison
from eagle.display import cell_bars, tables
from eagle.display.features import features
from eagle.display.numbers import Numbers, count, share
from eagle.display.parts import (
    Cell,
    Heading,
    bullets,
    facts,
    name,
    paragraph,
    table,
    to_html,
)
from eagle.display.scale import Scale
from eagle.display.sheet import numbers_of, sheet
from eagle.explanation import Explanation
from eagle.reports.document import Document, Section
from eagle.reports.provenance import ReportOptions, model_and_data
from eagle.reports.subjects import subject

FEATURES = 8
"""Number of features shown for each method."""

COLUMNS = 40
"""Number of features in the table of all methods."""


def document(c: Comparison, options: ReportOptions) -> Document:
    """What the methods cost, how stable they are, and what they say."""
    first = c.methods[0].first
    sections = [
        Section("What was explained", subject(sheet(first).shown)),
        Section("What they cost, and how stable they are", _costs(c)),
        Section("What they say", _each(c, options)),
        Section("All scores", _scores(c)),
        Section("How to read this", bullets(tables.notes(c))),
        Section("What was asked", facts(_model_and_data(c, options))),
    ]
    title = options.title or tables.title(c)
    runs = len(c.methods[0].runs)
    told = f"{len(c.methods)} explainers on one prediction, {runs} run{'s' * (runs > 1)} each."
    lead = paragraph(told, "lead")
    return Document(title, "Comparison of explainers", lead, sections, options.footer)


def _model_and_data(c: Comparison, options: ReportOptions) -> list[tuple[str, str]]:
    first = c.methods[0]
    return [
        *model_and_data(options),
        ("Explained", first.first.target_name),
        ("Runs of each method", str(len(first.runs))),
        ("Seeds", ", ".join(str(e.seed) for e in first.runs)),
        ("Strongest features compared", str(c.k)),
        ("Converged", "" if c.converged is None else f"LIME, {count(c.converged.cost.rows)} rows"),
    ]


def _costs(c: Comparison) -> str:
    """A row for each method, with its stability beside chance."""
    scale = Scale(0.0, 1.0)
    rows = []
    for m, written in zip(c.methods, tables.costs(c)[1:], strict=True):
        told = f"{m.method}: stability {share(m.stability)}, by chance {share(c.chance)}"
        drawn = (
            ""
            if isnan(m.stability)
            else cell_bars.bar(scale, m.stability, np.nan, np.nan, told, "up")
        )
        numbers = [m.rows, m.calls, m.seconds, m.stability, c.chance, m.agreement]
        rows.append(
            [
                Cell(name(m.method), kind="t"),
                Cell(drawn, kind="b"),
                *[
                    Cell(cell, value, heading=head)
                    for cell, value, head in zip(
                        written[1:], numbers, tables.costs(c)[0][1:], strict=False
                    )
                ],
            ]
        )
    heads = [Heading("Method", "t"), Heading(cell_bars.axis(scale), "b", sorts=False)]
    heads += [Heading(word.capitalize()) for word in tables.costs(c)[0][1:]]
    return table(heads, rows, "Costs", "bars", "Bars: stability, from 0 to 1")


def _each(c: Comparison, options: ReportOptions) -> str:
    return "".join(
        f"<h3>{name(m.method)}</h3>{features(sheet(m.first, options.level), FEATURES, FEATURES)}"
        for m in c.methods
    )


def _scores(c: Comparison) -> str:
    order = c.order()[:COLUMNS]
    every = [numbers_of(m.first) for m in c.methods]
    rows = [
        [
            Cell(name(c.labels[j]), kind="t"),
            *[_cell(m.first, j, digits) for m, digits in zip(c.methods, every, strict=True)],
        ]
        for j in order
    ]
    heads = [Heading("Feature", "t"), *[Heading(name(m.method, 40)) for m in c.methods]]
    left = len(c.names) - len(order)
    more = f"; {count(left)} weaker features are left out" if left else ""
    return table(heads, rows, "Scores", caption=f"Scores of the first run of each method{more}")


def _cell(e: Explanation, j: int, digits: Numbers) -> Cell:
    score = float(e.scores[j])
    return Cell(to_html(digits.signed(score)), score)
