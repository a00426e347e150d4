"""The report of one explanation."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Final

from eagle._engine.lack_of_fit import MAX_P_VALUE, Pair
from eagle._values.subject import Curves, Image
from eagle.display.features import features
from eagle.display.numbers import at_level, count, p_value, percent, plural
from eagle.display.parts import (
    Cell,
    Heading,
    bullets,
    caution,
    code,
    facts,
    first_up,
    name,
    paragraph,
    remarks,
    table,
    to_html,
)
from eagle.display.sheet import Bar, Sheet, likeliest, sheet
from eagle.explanation import Explanation
from eagle.plot.page import meaning
from eagle.reports import reading, reproduce
from eagle.reports.document import Document, Section
from eagle.reports.provenance import ReportOptions, of_one
from eagle.reports.subjects import subject

PAIRS: Final = 3
"""Number of pairs of features acting together that are listed."""


def document(e: Explanation, options: ReportOptions) -> Document:
    """All that is known of one explanation."""
    shown = sheet(e, options.level)
    kinds = {Image: "The image", Curves: "The series"}
    what = kinds.get(type(e.subject), "The text")
    pushed, kind = "What the prediction rests on", "Explanation of one prediction"
    if e.difference is not None:
        pushed, kind = "What the change rests on", "Explanation of what changed between two models"
    sections = [
        Section(what, subject(shown.shown)),
        Section(pushed, paragraph(meaning([e]), "soft") + features(shown)),
        Section(_fit_heading(e), _lack_of_fit(e, shown)),
        Section("What was asked", facts(of_one(e, options))),
        Section("How to read this", reading.of_one(e, options.level)),
        Section("How to reproduce it", how_to_reproduce(reproduce.one(e, options))),
    ]
    said = likeliest(e)
    lead = f'<p class="lead">{summary(e, shown, options.level)}</p>'
    lead += (
        (paragraph(first_up(said)) if said else "") + remarks(shown.notes) + caution(shown.warnings)
    )
    return Document(options.title or shown.title, kind, lead, sections, options.footer)


def summary(e: Explanation, shown: Sheet, level: float) -> str:
    """The strongest features in a sentence of HTML, and how many are sure."""
    if not shown.bars:
        return ""
    if not e.signed:
        return f"{_bar_name(shown.bars[0])} matters most."
    certain = [bar for bar in shown.bars if bar.clear or not bar.has_interval]
    ups = [bar for bar in certain if bar.score > 0]
    downs = [bar for bar in certain if bar.score < 0]
    told = [
        f"{_bar_name(bar)} {'raises it' if bar.slope else 'pushes it up'} most" for bar in ups[:1]
    ]
    told += [
        f"{_bar_name(bar)} {'lowers it' if bar.slope else 'pushes it down'} most"
        for bar in downs[:1]
    ]
    if not told:
        what = "prediction" if e.difference is None else "change"
        return f"Of no feature it is sure which way it acts on the {what}."
    known = [bar for bar in shown.bars if bar.has_interval]
    sure = sum(bar.clear for bar in known)
    sentence = f"{', and '.join(told)}."
    if known:
        sentence += (
            f" Of {plural(len(known), 'feature')}, {count(sure)} "
            f"surely {'acts' if sure == 1 else 'act'} one way ({at_level(shown.level or level)})."
        )
    return sentence


def _bar_name(bar: Bar) -> str:
    return f"«{name(bar.short_label(60))}» ({to_html(bar.text)})"


def _fit_heading(e: Explanation) -> str:
    return "What scores add up to" if e.additive else "How well it fits, and what the line misses"


def _lack_of_fit(e: Explanation, shown: Sheet) -> str:
    """How well the line fits, and what it misses, in words; pairs that act together."""
    told = [first_up(fact) for fact in shown.facts[1:] if fact != likeliest(e)]
    pairs = e.interactions(PAIRS) if isfinite(e.r2) else ()
    sure = [pair for pair in pairs if pair.p < MAX_P_VALUE]
    if pairs and not sure:
        told.append("No pair of features is sure to act together.")
    return (bullets(told) if told else "") + (_pairs(sure) if sure else "")


def _pairs(pairs: Sequence[Pair]) -> str:
    rows = [
        [
            Cell(" × ".join(name(one, 80) for one in pair.names), kind="t"),
            Cell(percent(pair.share, 1), pair.share),
            Cell(to_html(p_value(pair.p)), pair.p),
        ]
        for pair in pairs
    ]
    heads = [Heading("Pair", "t"), Heading("Share of the local variation"), Heading("p-value")]
    return table(heads, rows, "Pairs", caption="Features that act together most")


def how_to_reproduce(lines: str) -> str:
    """Code, and what may be missing in it."""
    if not lines:
        return paragraph("The method is not one of eagle.methods, so no code is given here.")
    return code(lines) + paragraph(
        "Give the explainer the same settings as then, if any were set: columns that were frozen, "
        "bounded, grouped or named as categories. The same seed gives the same "
        "scores, to rounding.",
        "soft",
    )
