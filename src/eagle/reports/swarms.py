"""Every row's scores as a swarm of points for each feature."""

from __future__ import annotations

from html import escape
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eagle._values.text import short
from eagle.display import cell_bars
from eagle.display.numbers import Numbers, at_level, plural
from eagle.display.parts import name, paragraph, to_html
from eagle.display.scale import Scale
from eagle.display.sheet import NOT_SURE
from eagle.explanations import Explanations
from eagle.plot.many import (
    MAX_LEVELS,
    MISSING,
    OTHERS,
    FeatureValues,
    cell_of,
    stack_points,
    strongest_features,
    thin_cells,
)

FEATURES: Final = 10
"""Number of features that are drawn."""

CELLS_ACROSS: Final = 160
"""Cells along the axis. Points in one cell are stacked."""

STACK: Final = 14
"""Points kept per cell."""

DOT, ROOM = 0.085, 0.92
"""The height of a point, and of a stack at most, in the height of a strip."""

RAMP: Final = 8
"""Number of colours for numbers."""


def section(e: Explanations, level: float, note: str) -> str:
    """A strip for each of the strongest features."""
    order = strongest_features(e, FEATURES)
    scores = e.scores[:, order]
    scale = Scale.over(scores.ravel())
    doubt = e.doubtful(level)[:, order]
    cells = cell_of(scores.ravel(), CELLS_ACROSS).reshape(scores.shape)
    body = [cell_bars.axis(scale)]
    drawn = 0
    for k, j in enumerate(order.tolist()):
        values = FeatureValues.of(e.data[:, j])
        shown = thin_cells(cells[:, k], np.nan_to_num(values.rank, nan=-1.0), STACK)
        lift = stack_points(cells[:, k], shown, DOT, ROOM)
        looks = look(values, doubt[:, k])[shown]
        told = _describe(e.labels[j], scores[:, k])
        body.append(
            f'<div class="swarm"><div class="head"><span class="name">{name(e.labels[j])}</span>'
            f'<span class="key">{key(values)}</span></div>'
            f"{cell_bars.swarm(scale, scores[shown, k], 0.5 - lift, looks, told)}</div>"
        )
        drawn += len(shown)
    pale = f"Pale: {NOT_SURE}, at {at_level(level)}. " if doubt.any() else ""
    fewer = "Where rows crowd, some stand for all. " if drawn < scores.size else ""
    more = len(e.names) - len(order)
    rest = f"{plural(more, 'weaker feature')} {'is' if more == 1 else 'are'} not drawn. "
    rest = rest if more else ""
    said = (
        "A point is a row: its place is the score of the feature there, its colour the row's own "
        f"value. {pale}{fewer}{note}{rest}"
    )
    return paragraph(said, "soft") + f"<figure>{''.join(body)}</figure>"


def _describe(feature: str, scores: NDArray[np.float64]) -> str:
    low, mid, high = np.quantile(scores, [0.05, 0.5, 0.95])
    written = Numbers.of([low, mid, high]).signed
    return (
        f"{short(feature, 120)}: scores of {plural(len(scores), 'row')}, median {written(mid)}, "
        f"nine of ten between {written(low)} and {written(high)}"
    )


def look(values: FeatureValues, doubt: NDArray[np.bool_]) -> NDArray[np.str_]:
    """The class of each row's point: its colour, by rank or by level, and whether it is pale."""
    if values.levels is None:
        rank = np.nan_to_num(values.rank, nan=0.0)
        own = [f"r{k}" for k in np.minimum((rank * RAMP).astype(int), RAMP - 1).tolist()]
    else:
        own = [f"l{k}" for k in np.clip(values.codes, 0, MAX_LEVELS).tolist()]
    every = np.where(values.missing, "lx", np.array(own))
    return np.where(doubt, np.char.add(every, " q"), every)


def key(values: FeatureValues) -> str:
    """What the colours of a feature mean."""
    tags = _numbers(values) if values.levels is None else _levels(values)
    if values.missing.any():
        tags.append(_tag('<circle class="gx" cx="50%" cy="50%" r="45%"/>', MISSING))
    return "".join(tags)


def _numbers(values: FeatureValues) -> list[str]:
    if values.missing.all():
        return []
    low, high = values.ends
    each = "".join(
        f'<rect class="f{k}" x="{100 * k / RAMP:g}%" y="20%" width="{100 / RAMP:g}%" height="60%"/>'
        for k in range(RAMP)
    )
    ramp = f'<svg class="ramp" aria-hidden="true">{each}</svg>'
    return [f'<span class="tag">{escape(low)} {ramp}{escape(high)}</span>']


def _levels(values: FeatureValues) -> list[str]:
    names = list(values.levels or ())
    others = names[MAX_LEVELS:]
    told = names[:MAX_LEVELS] + (others if len(others) < 2 else [OTHERS])
    return [
        _tag(f'<circle class="g{k}" cx="50%" cy="50%" r="45%"/>', level)
        for k, level in enumerate(told)
    ]


def _tag(mark: str, words: str) -> str:
    named = f"<bdi>{to_html(words, 30)}</bdi>"
    return f'<span class="tag"><svg aria-hidden="true">{mark}</svg>{named}</span>'
