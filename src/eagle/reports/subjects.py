"""The image, the text or the series that was explained, with its scores."""

from __future__ import annotations

from html import escape
from typing import Final

import numpy as np

from eagle._values.subject import Curves, Image, Passage
from eagle.display.curves import drawing
from eagle.display.html import lines
from eagle.display.numbers import at_level
from eagle.display.panels import figures
from eagle.display.parts import name
from eagle.display.sheet import NOT_SURE, Shown, pieces

SIDES: Final = (320, 256, 192, 128, 96, 64)
"""Pixels of an image's side, the most whose PNG files fit into the bytes."""

SHADES: Final = 10
"""Number of shades of a word's background, which the style of the page defines."""


def subject(shown: Shown, most: int = 160_000) -> str:
    """The image, text or series; nothing for a table. An image has at most `most` bytes."""
    if isinstance(shown.subject, Image):
        return figures(shown, shown.subject, SIDES, most)
    if isinstance(shown.subject, Passage):
        return (_prompt if shown.subject.labels else _words)(shown, shown.subject)
    if isinstance(shown.subject, Curves):
        return drawing(shown, shown.subject, 'class="c"')
    return ""


def _words(shown: Shown, passage: Passage) -> str:
    out = []
    for piece, k in pieces(passage, shown.scores):
        said = escape(lines(piece))
        out.append(said if k is None else f"<span{_look(shown, k)}>{said}</span>")
    up = "Blue pushes the answer up, orange down" if shown.signed else "The darker, the more"
    doubt = f"; a dotted line: {NOT_SURE}" if shown.unsure.any() else ""
    return (
        f'<div class="words" dir="auto">{"".join(out)}</div>'
        f'<p class="soft">{up}; the deeper the colour, the stronger{doubt}.</p>'
    )


def _prompt(shown: Shown, passage: Passage) -> str:
    """The parts of a prompt under their names, scores and intervals; grey where not sure."""
    out = []
    for piece, k in pieces(passage, shown.scores):
        said = escape(lines(piece).strip("\n"))
        if k is None:
            out += [f"<div>{said}</div>"] if said else []
            continue
        score = float(shown.scores[k])
        way = "e" if shown.unsure[k] else "b" if score > 0 else "n"
        shade = max(1, round(SHADES * float(np.abs(shown.depth[k]))))
        out.append(
            f'<div class="part {way} {way}{shade}"><small><b>{name(passage.labels[k])}</b> '
            f"{escape(shown.text_with_interval(k))}</small>\n{said}</div>"
        )
    known = shown.level is not None and not np.isnan(shown.interval).all()
    span = f"; in brackets: {at_level(shown.level or 0)} intervals" if known else ""
    span += f"; grey: {NOT_SURE}" if shown.unsure.any() else ""
    told = f"Blue makes the answer likelier, orange less likely{span}. Text without a colour was"
    return (
        f'<div class="words" dir="auto">{"".join(out)}</div><p class="soft">{told} always kept.</p>'
    )


def _look(shown: Shown, k: int) -> str:
    """The class of a word, by which way it pushes and how much, and its score as a tooltip."""
    score, depth = float(shown.scores[k]), float(np.abs(shown.depth[k]))
    way = ("b" if score > 0 else "n") if shown.signed else "e"
    shade = round(SHADES * depth)
    doubt = " u" if shown.unsure[k] else ""
    kind = f' class="{way} {way}{shade}{doubt}"' if shade else ""
    return f'{kind} title="{escape(shown.text(k))}"'
