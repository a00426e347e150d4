"""A survey in words and as a part of a page."""

from __future__ import annotations

from html import escape

from eagle.show.style import STYLE
from eagle.survey.survey import Survey
from eagle.types import short


def facts(s: Survey) -> list[str]:
    """What it is, what it cost, and what answered it."""
    which, account = s.identity, s.account
    extra = sum(len(one.drawn) for one in s.known.values())
    lines = [
        f"Survey: {s.rows:,} rows of {len(s.drawn.states)} features, seed {s.seed}",
        f"Model: {which.model}, {s.task}, outputs {', '.join(map(str, s.outputs[:10]))}",
        f"Asked: {account.rows:,} model rows in {account.calls:,} "
        f"call{'' if account.calls == 1 else 's'}, {account.seconds:.2f} s",
    ]
    if extra:
        lines.append(f"Supplements: {extra:,} rows for {len(s.known)} rare or unseen values")
    digest = "not known" if which.model_digest is None else which.model_digest[:16]
    versions = ", ".join(f"{name} {version}" for name, version in which.versions.items())
    lines += [
        f"Digests: model {digest}, background {which.background_digest[:16]}",
        f"Versions: {versions}",
    ]
    return lines + ([f"Note: {s.note}"] if s.note else [])


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
