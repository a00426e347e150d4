"""Drawings of one line each, as SVG: a score with its interval, a swarm of points, an axis.

Places along a strip are per cent of its width, so that strips fit any screen and nothing is
stretched. Each drawing is an image with a title, which screens show as a tooltip. Points of a swarm
are one path for each colour: a point costs a few bytes.
"""

from __future__ import annotations

from math import inf, isnan

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle.display.parts import to_html
from eagle.display.scale import Scale

STRIP_WIDTH = 1000
"""Units along a swarm."""


def axis(scale: Scale, least: float = -inf, missing: float | None = None) -> str:
    """The numbers of an axis, from the least on, and where missing values stand."""
    texts = scale.tick_texts if least == -inf else scale.value_texts
    ticks = [one for one in zip(scale.ticks, texts, strict=True) if one[0] >= least]
    if missing is not None:
        far = scale.at(missing) + 16
        ticks = [(missing, "missing"), *[one for one in ticks if scale.at(one[0]) > far]]
    return f'<svg class="a" aria-hidden="true">{"".join(_tick(scale, *one) for one in ticks)}</svg>'


def _tick(scale: Scale, number: float, words: str) -> str:
    x = scale.at(number)
    side = "start" if x < 6 else "end" if x > 94 else "middle"
    return f'<text x="{x}%" y="12" text-anchor="{side}">{words}</text>'


def bar(scale: Scale, score: float, low: float, high: float, told: str, look: str) -> str:
    """A score as a bar from 0, of the class `look`, and its interval as a line."""
    start, end = sorted((scale.at(0.0), scale.at(score)))
    body = (
        f'<rect class="{look}" x="{start}%" y="6" width="{round(end - start, 2)}%" '
        'height="10" rx="1"/>'
    )
    return strip(scale, body + whisker(scale, low, high), told)


def two_part_bar(scale: Scale, up: float, value: float, low: float, high: float, told: str) -> str:
    """A mean size as a bar of two parts: what pushes up, then what pushes down."""
    zero, one, two = scale.at(0.0), scale.at(up), scale.at(value)
    body = (
        f'<rect class="up" x="{zero}%" y="6" width="{round(one - zero, 2)}%" height="10"/>'
        f'<rect class="down" x="{one}%" y="6" width="{round(max(two - one, 0.0), 2)}%" '
        'height="10"/>'
    )
    return strip(scale, body + whisker(scale, low, high), told)


def point(
    scale: Scale, value: float, low: float, high: float, told: str, middle: float = 0.0
) -> str:
    """A number as a point with its interval; hollow where the interval contains the middle."""
    kind = "o" if low <= middle <= high else "dot"
    x = scale.at(middle)
    line = f'<line class="z" x1="{x}%" x2="{x}%" y1="0" y2="22"/>'
    body = f'<circle class="{kind}" cx="{scale.at(value)}%" cy="11" r="4"/>'
    return strip(scale, line + whisker(scale, low, high) + body, told)


def whisker(scale: Scale, low: float, high: float, y: int = 11) -> str:
    """A line over an interval, with ends where they are on the scale."""
    if isnan(low) or isnan(high):
        return ""
    a, b = scale.at(low), scale.at(high)
    ends = "".join(
        f'<line class="i" x1="{x}%" x2="{x}%" y1="{y - 3}" y2="{y + 3}"/>'
        for x, number in ((a, low), (b, high))
        if scale.low <= number <= scale.high
    )
    return f'<line class="i" x1="{a}%" x2="{b}%" y1="{y}" y2="{y}"/>{ends}'


def strip(scale: Scale, body: str, told: str) -> str:
    """What is drawn of one feature, before lines at round numbers."""
    lines = "".join(
        f'<line class="{"z" if number == 0 else "g"}" x1="{scale.at(number)}%" '
        f'x2="{scale.at(number)}%" y1="0" y2="22"/>'
        for number in scale.ticks
    )
    return f'<svg class="s" role="img"><title>{to_html(told)}</title>{lines}{body}</svg>'


# -- points --------------------------------------------------------------------------------------


def swarm(scale: Scale, x: Array, y: Array, looks: NDArray[np.str_], told: str) -> str:
    """Points of a feature: x on the scale, y from 0 to 1, and the class of each."""
    lines = "".join(
        f'<line class="{"z" if number == 0 else "g"}" x1="{10 * scale.at(number):g}" '
        f'x2="{10 * scale.at(number):g}" y1="0" y2="48"/>'
        for number in scale.ticks
    )
    across = [round(10 * scale.at(v)) for v in x.tolist()]
    down = np.rint(48 * y).astype(int).tolist()
    return (
        f'<svg class="w k" role="img" viewBox="0 0 {STRIP_WIDTH} 48" preserveAspectRatio="none">'
        f"<title>{to_html(told)}</title>{lines}{points(across, down, looks)}</svg>"
    )


def points(x: list[int], y: list[int], looks: NDArray[np.str_]) -> str:
    """Points as paths, one for each class, pale ones first. A point is a line of no length."""
    out = []
    every = looks.tolist()
    for look in sorted(set(every), key=lambda look: (not look.endswith(" q"), look)):
        places = sorted({(x[i], y[i]) for i, own in enumerate(every) if own == look})
        at, moves = (0, 0), []
        for px, py in places:
            moves.append(f"m{px - at[0]}{_with_sign(py - at[1])}h0")
            at = px, py
        out.append(f'<path class="{look}" d="{"".join(moves)}"/>')
    return "".join(out)


def _with_sign(number: int) -> str:
    """A number after another one: a minus also parts them."""
    return f" {number}" if number >= 0 else str(number)
