"""The report of many explanations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final

import numpy as np

from eagle._engine.progress import Progress
from eagle._engine.targets import target_text
from eagle._values.text import middle
from eagle._values.ties import rank
from eagle.display.features import features
from eagle.display.many import title
from eagle.display.numbers import Numbers, count, plural
from eagle.display.parts import (
    Cell,
    Heading,
    caution,
    facts,
    first_up,
    name,
    paragraph,
    remarks,
    table,
    to_html,
)
from eagle.display.sheet import bars_of, sheet
from eagle.display.summary import TOP, Summary
from eagle.errors import InputError
from eagle.explanation import Explanation
from eagle.explanations import Explanations, spread_over
from eagle.plot.many import score_label
from eagle.reports import dependence, groups, reading, reproduce, swarms
from eagle.reports.document import Document, Section
from eagle.reports.one import how_to_reproduce
from eagle.reports.provenance import ReportOptions, of_many
from eagle.reports.subjects import subject

POINTS: Final = 10_000
"""Maximum number of rows, evenly spread, that pictures are drawn from."""

MAX_ROWS_LISTED: Final = 25
"""Number of rows that are listed singly."""

MAX_SUBJECTS: Final = 8
"""Number of images or texts that are shown."""

CLASSES: Final = 6
"""Number of classes, the most frequent, that have a summary of their own."""


def document(e: Explanations, options: ReportOptions) -> Document:
    """All that is known of many explanations."""
    if not len(e):
        raise InputError("there are no rows here to write a report of")
    lead = ""
    if e.alike:
        lead, sections = _alike(e, options)
        sections.append(Section("What was asked", facts(of_many(e, options))))
        sections.append(Section("How to read this", _reading(e, options)))
    else:
        sections = [Section("Single explanations", _each(e, options))]
        sections.append(Section("What was asked", facts(of_many(e, options))))
        sections.append(Section("How to read this", reading.of_one(e[0], options.level)))
    sections.append(Section("How to reproduce it", how_to_reproduce(reproduce.many(e, options))))
    lead += remarks(e.notes) + caution(_warnings(e))
    heading = options.title or title(e)
    kind = "Explanations of many predictions"
    if e.difference is not None:
        kind = "Explanations of what changed between two models"
    return Document(heading, kind, lead, sections, options.footer)


def _reading(e: Explanations, options: ReportOptions) -> str:
    first = e[:1]
    table = first.table
    slopes = table.slopes.ravel().tolist()
    return reading.of_many(
        table.signed, slopes, bool(table.kind), options.level, score_label(first)
    )


def _warnings(e: Explanations) -> list[str]:
    """What a reader should know of all rows: that what they were fitted to was not kept."""
    first = e[0]
    return [first.note] if first.surrogate is None and first.note else []


# -- rows that have the same features ------------------------------------------------------------


def _classes(e: Explanations) -> list[tuple[str, Explanations]]:
    """The rows of each class that rows are explained about, with words for a heading."""
    if len(e.about) == 1:
        return [("", e)]
    held = e.in_memory
    targets = np.array([target_text(target) for target in held.targets], dtype=object)
    names, counts = np.unique(targets, return_counts=True)
    order = rank(counts.astype(np.float64))[:CLASSES].tolist()
    return [
        (
            f" towards {middle(str(names[k]), 60)} ({plural(counts[k], 'row')})",
            held[targets == names[k]],
        )
        for k in order
    ]


def _alike(e: Explanations, options: ReportOptions) -> tuple[str, list[Section]]:
    """A sentence about all rows if they are about one class, and what is said of each class."""
    parts = _classes(e)
    line = Progress("summarised", len(parts), silent=options.silent)
    with closing(line):
        summaries = []
        for _, part in parts:
            summaries.append(Summary.of(part, options.level))
            line.step()
    lead = f'<p class="lead">{summaries[0].lead}</p>' if len(parts) == 1 else ""
    return lead, [*_tables(e, parts, summaries, options), Section("Single rows", _rows(e))]


def _tables(
    e: Explanations,
    parts: list[tuple[str, Explanations]],
    summaries: list[Summary],
    options: ReportOptions,
) -> Iterator[Section]:
    """For each class: what drives the model, and pictures of it."""
    for (towards, part), summary in zip(parts, summaries, strict=True):
        what = "model" if e.difference is None else "change"
        yield Section(f"What drives the {what}{towards}", summary.html())
        some = part[spread_over(len(part), POINTS)] if len(part) > POINTS else part.in_memory
        note = (
            f"Drawn from {count(len(some))} of {count(len(part))} rows. "
            if len(some) < len(part)
            else ""
        )
        swarm = swarms.section(some, options.level, note)
        yield Section(f"How scores spread over rows{towards}", swarm)
        if len(some) > 1:
            body = dependence.section(some, options.level, note)
            yield Section(f"How scores depend on values{towards}", body)
    left = len(e) - sum(len(part) for _, part in parts)
    if left:
        yield Section("Other classes", paragraph(f"{count(left)} rows are about rarer classes."))
    if options.groups is not None:
        yield Section("How groups differ", groups.section(e, options))


# -- single rows ---------------------------------------------------------------------------------


def _rows(e: Explanations) -> str:
    """Some rows, a line each."""
    some = e[spread_over(len(e), MAX_ROWS_LISTED)]
    ones = list(some)  # those of a survey are made anew each time they are looked at
    told = [one.prediction for one in ones]
    digits = Numbers.of(told)
    rows = [
        [
            Cell(name(middle(str(some.ids[i]), 40)), kind="t"),
            Cell(name(target_text(one.target), 40), kind="t"),
            Cell(to_html(digits.plain(one.prediction)), one.prediction),
            Cell(_strongest(one), kind="t"),
        ]
        for i, one in enumerate(ones)
    ]
    caption = (
        "All rows"
        if len(some) == len(e)
        else f"{count(len(some))} of {count(len(e))} rows, spread evenly"
    )
    heads = [
        Heading("Row", "t"),
        Heading("About", "t"),
        Heading("Model says" if e.difference is None else first_up(e.difference.change)),
        Heading("Strongest features", "t", sorts=False),
    ]
    return table(heads, rows, "Single rows", caption=caption)


def _strongest(one: Explanation) -> str:
    return ", ".join(
        f"{name(bar.short_label(40))} {to_html(bar.text)}" for bar in bars_of(one)[:TOP]
    )


# -- images and texts ----------------------------------------------------------------------------


def _each(e: Explanations, options: ReportOptions) -> str:
    """Some of the explanations, one after the other."""
    some = e[spread_over(len(e), MAX_SUBJECTS)]
    body = []
    for identity, one in zip(some.ids, some, strict=True):
        shown = sheet(one, options.level)
        body.append(
            f"<h3>{name(middle(str(identity), 60))}: {name(shown.title, 160)}</h3>"
            f"{subject(shown.shown, 160_000 // len(some))}{features(shown, 8, 8)}"
            f"{remarks(shown.notes)}{caution(shown.warnings)}"
        )
    left = len(e) - len(some)
    if left:
        body.append(paragraph(f"{count(left)} more are in the result, and not shown here.", "soft"))
    return "".join(body)
