"""A survey in words and as a part of a page."""

from __future__ import annotations

from html import escape
from typing import Final

from eagle._values.text import short
from eagle.display import numbers
from eagle.display.numbers import count, plural
from eagle.display.style import STYLE
from eagle.survey.survey import Survey

COMPARE: Final = (
    "Two models: (survey.requery(new_model) - survey).explain_many(X) explains what changed"
)
"""How another model is compared."""


def facts(s: Survey) -> list[str]:
    """What it is, what it cost, and what answered it."""
    which, cost = s.identity, s.cost
    extra = sum(len(one.drawn) for one in s.known.values())
    outputs, what = f"outputs {', '.join(map(str, s.outputs[:10]))}", s.difference
    calls = f"{plural(cost.calls, 'call')}, {numbers.seconds(cost.model_seconds)}"
    lines = [
        f"Survey: {count(s.rows)} rows of {count(len(s.drawn.states))} features, seed {s.seed}"
    ]
    if what is None:
        lines += [
            f"Model: {which.model}, {s.task}, {outputs}",
            f"Asked: {count(cost.rows)} model rows in {calls}",
        ]
    else:
        lines += [
            f"Difference: {what}, in {what.unit}, {outputs}",
            f"Asked besides the two surveys: {count(cost.rows)} rows of each model in {calls}",
        ]
    if extra:
        lines.append(
            f"Supplements: {count(extra)} rows for {count(len(s.known))} rare or unseen values"
        )
    digest = _digest(which.model_digest)
    if what is not None:
        digest = f"{_digest(what.new_digest)} (new), {_digest(what.old_digest)} (old)"
    versions = ", ".join(f"{name} {version}" for name, version in which.versions.items())
    lines += [
        f"Digests: model {digest}, background {which.background_digest[:16]}",
        f"Versions: {versions}",
    ]
    if what is None:
        lines.append(COMPARE)
    return lines + ([f"Note: {s.note}"] if s.note else [])


def _digest(known: str | None) -> str:
    return "not known" if known is None else known[:16]


def describe(s: Survey) -> str:
    """A line each."""
    return "\n".join(short(line, 200) for line in facts(s))


def html(s: Survey) -> str:
    """A page fragment without scripts."""
    lines = "".join(f'<div class="fact">{escape(short(line, 200))}</div>' for line in facts(s)[1:])
    return (
        f'<div class="eagle"><style>{STYLE}</style>'
        f'<div class="title">{escape(facts(s)[0])}</div>{lines}</div>'
    )
