"""The report of one explanation."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Final

from eagle.explanation import Explanation
from eagle.misfit import SURE, Pair
from eagle.plot.page import meaning, per_cent
from eagle.reports import again, reading
from eagle.reports.about import About, of_one
from eagle.reports.document import Document, Section
from eagle.reports.features import features
from eagle.reports.parts import (
    Cell,
    Heading,
    bullets,
    caution,
    code,
    facts,
    first_up,
    name,
    paragraph,
    table,
)
from eagle.reports.subjects import subject
from eagle.show.sheet import Bar, Sheet, likeliest, sheet, signed_number
from eagle.subject import Curves, Image
from eagle.types import middle

PAIRS: Final = 3
"""Number of pairs of features acting together that are listed."""


def document(e: Explanation, about: About) -> Document:
    """All that is known of one explanation."""
    shown = sheet(e, about.level)
    kinds = {Image: "The image", Curves: "The series"}
    what = kinds.get(type(e.subject), "The text")
    sections = [
        Section(what, subject(shown.shown)),
        Section("What pushed the prediction", paragraph(meaning([e]), "soft") + features(shown)),
        Section("How well it fits, and what the line misses", _missed(e, shown)),
        Section("What was asked", facts(of_one(e, about))),
        Section("How to read this", reading.of_one(e, about.level)),
        Section("How to make it again", make_again(again.one(e, about))),
    ]
    said = likeliest(e)
    lead = f'<p class="lead">{summary(e, shown, about.level)}</p>'
    lead += (paragraph(first_up(said)) if said else "") + caution(shown.warnings)
    return Document(
        about.title or shown.title, "Explanation of one prediction", lead, sections, about.footer
    )


def summary(e: Explanation, shown: Sheet, level: float) -> str:
    """The strongest features in a sentence of HTML, and how many are sure."""
    if not shown.bars:
        return ""
    if not e.signed:
        return f"{_named(shown.bars[0])} matters most."
    certain = [bar for bar in shown.bars if bar.clear or not bar.known]
    ups = [bar for bar in certain if bar.score > 0]
    downs = [bar for bar in certain if bar.score < 0]
    told = [f"{_named(ups[0])} pushes it up most"] if ups else []
    told += [f"{_named(downs[0])} pushes it down most"] if downs else []
    if not told:
        return "No feature surely pushes the prediction."
    known = [bar for bar in shown.bars if bar.known]
    sure = sum(bar.clear for bar in known)
    sentence = f"{', and '.join(told)}."
    if known:
        sentence += (
            f" Of {len(known):,} feature{'s' if len(known) != 1 else ''}, {sure:,} "
            f"{'has an interval' if sure == 1 else 'have intervals'} that "
            f"{'excludes' if sure == 1 else 'exclude'} zero ({per_cent(shown.level or level)})."
        )
    return sentence


def _named(bar: Bar) -> str:
    return f"«{name(middle(bar.label, 60))}» ({signed_number(bar.score)})"


def _missed(e: Explanation, shown: Sheet) -> str:
    """How well the line fits, and what it misses, in words; pairs that act together."""
    told = [first_up(fact) for fact in shown.facts[1:] if fact != likeliest(e)]
    pairs = e.interactions(PAIRS) if isfinite(e.r2) else ()
    sure = [pair for pair in pairs if pair.p < SURE]
    if pairs and not sure:
        told.append("No pair of features is sure to act together.")
    return (bullets(told) if told else "") + (_pairs(sure) if sure else "")


def _pairs(pairs: Sequence[Pair]) -> str:
    rows = [
        [
            Cell(" × ".join(name(one, 80) for one in pair.names), kind="t"),
            Cell(f"{100 * pair.share:.1f}%", pair.share),
            Cell("&lt; 0.001" if pair.p < 0.001 else f"{pair.p:.3f}", pair.p),
        ]
        for pair in pairs
    ]
    heads = [Heading("Pair", "t"), Heading("Share of the local variation"), Heading("p-value")]
    return table(heads, rows, "Pairs", caption="Features that act together most")


def make_again(lines: str) -> str:
    """Code, and what may be missing in it."""
    if not lines:
        return paragraph("The method is not one of eagle.methods, so no code is given here.")
    return code(lines) + paragraph(
        "Give the explainer the same settings as then, if any were set: columns that were frozen, "
        "bounded, grouped or named as categories. The same seed gives the same "
        "scores, to rounding.",
        "soft",
    )
