"""The image, the text or the series that was explained, with its scores."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import Final

import numpy as np

from eagle import png
from eagle.reports.parts import escaped, name
from eagle.show.curves import drawing
from eagle.show.html import lines
from eagle.show.panels import pictures
from eagle.show.sheet import Shown, pieces, signed_number
from eagle.subject import Curves, Image, Passage

SIDES: Final = (320, 256, 192, 128, 96, 64)
"""Pixels of an image's side, the most whose PNG files fit into the bytes."""

SHADES: Final = 10
"""Number of shades of a word's background, which the style of the page defines."""


def subject(shown: Shown, most: int = 160_000) -> str:
    """The image, text or series; nothing for a table. An image has at most `most` bytes."""
    if isinstance(shown.subject, Image):
        return _image(shown, shown.subject, most)
    if isinstance(shown.subject, Passage):
        return (_prompt if shown.subject.labels else _words)(shown, shown.subject)
    if isinstance(shown.subject, Curves):
        return drawing(shown, shown.subject, 'class="c"')
    return ""


def _image(shown: Shown, image: Image, most: int) -> str:
    for side in SIDES:
        files = [png.encode(part) for part in pictures(shown, image, side)]
        if sum(map(len, files)) <= most:
            break
    hatched = "; hatched where the interval contains zero" if shown.unsure.any() else ""
    way = "blue pushes up, orange pushes down" if shown.signed else "the darker, the more"
    told = ("The image", f"Scores: {way}{hatched}", "How sure: the darker, the wider the interval")
    each = "".join(
        f'<figure><img alt="{escaped(words)}" src="data:image/png;base64,'
        f'{b64encode(file).decode()}"><figcaption>{escaped(words)}</figcaption></figure>'
        for words, file in zip(told, files, strict=False)
    )
    return f'<div class="pictures">{each}</div>'


def _words(shown: Shown, passage: Passage) -> str:
    out = []
    for piece, k in pieces(passage, shown.scores):
        said = escape(lines(piece))
        out.append(said if k is None else f"<span{_look(shown, k)}>{said}</span>")
    up = "Green pushes the answer up, orange down" if shown.signed else "The darker, the more"
    doubt = "; a dotted line says that the interval contains zero" if shown.unsure.any() else ""
    return (
        f'<div class="words" dir="auto">{"".join(out)}</div>'
        f'<p class="soft">{up}; the deeper the colour, the stronger{doubt}.</p>'
    )


def _prompt(shown: Shown, passage: Passage) -> str:
    """The parts of a prompt under their names, scores and intervals; grey where zero is inside."""
    out = []
    for piece, k in pieces(passage, shown.scores):
        said = escape(lines(piece).strip("\n"))
        if k is None:
            out += [f"<div>{said}</div>"] if said else []
            continue
        score, (low, high) = float(shown.scores[k]), shown.interval[k].tolist()
        way = "e" if shown.unsure[k] else "b" if score > 0 else "n"
        shade = max(1, round(SHADES * float(np.abs(shown.depth[k]))))
        span = "" if np.isnan(low) else f" [{signed_number(low)}, {signed_number(high)}]"
        out.append(
            f'<div class="part {way} {way}{shade}"><small><b>{name(passage.labels[k])}</b> '
            f"{escape(signed_number(score) + span)}</small>\n{said}</div>"
        )
    span = "" if np.isnan(shown.interval).all() else "; in brackets: 90% intervals"
    span += ", grey where they contain zero" if shown.unsure.any() else ""
    told = f"Blue makes the answer likelier, orange less likely{span}. Text without a colour was"
    return (
        f'<div class="words" dir="auto">{"".join(out)}</div><p class="soft">{told} always kept.</p>'
    )


def _look(shown: Shown, k: int) -> str:
    """The class of a word, by which way it pushes and how much, and its score as a tooltip."""
    score, depth = float(shown.scores[k]), float(np.abs(shown.depth[k]))
    way = ("y" if score > 0 else "n") if shown.signed else "e"
    shade = round(SHADES * depth)
    doubt = " u" if shown.unsure[k] else ""
    kind = f' class="{way} {way}{shade}{doubt}"' if shade else ""
    return f'{kind} title="{escape(signed_number(score))}"'
