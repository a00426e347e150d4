"""An explanation as plain data: what the page draws with `chart.js`.

Numbers that are not known are None. Outputs are named by their place, since their names can be
anything. `chart.js` draws `bars` in the given `order`; it needs no other field.
"""

from __future__ import annotations

import math
from base64 import b64encode
from dataclasses import asdict
from typing import Any, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from eagle._engine.targets import Target
from eagle._values import png
from eagle._values.posterior import LEVEL
from eagle._values.subject import Curves, Image, Passage
from eagle._values.text import clean, short
from eagle.display import lack_of_fit
from eagle.display.numbers import answer, at_level
from eagle.display.panels import captions, outlines, pictures
from eagle.display.scale import Scale
from eagle.display.sheet import (
    NOT_SURE,
    Bar,
    Shown,
    bars_of,
    cut_label,
    hue,
    level_of,
    pieces,
    sheet,
    strongest_channels,
    ways,
)
from eagle.explanation import Explanation

VERSION: Final = 1
"""The version of the payload's fields."""

MAX_NAME: Final = 200
"""Maximum number of characters of a name that are sent."""

MAX_POINTS: Final = 600
"""Maximum number of points of a curve that are sent."""

IMAGE_SIDE: Final = 256
"""Pixels of an image's side on the page."""


class BarPayload(TypedDict):
    """One feature: its score, its interval, and the probability of its sign, as numbers to draw and
    as they are written: `text`, `span`, `certain`."""

    key: str
    name: str
    condition: str
    value: str
    score: float
    low: float | None
    high: float | None
    sure: float | None
    clear: bool
    text: str
    span: str
    certain: str


class Payload(TypedDict):
    """All that is drawn of one explanation.

    `outputs` have a `name`, the `answer` at the instance and its `text`; `said` and `line` are the
    prediction and the line's value as they are written, `axis` the numbers along the scores, with
    their places. `cost` has `rows`, `calls`, `seconds`
    and what it `stopped` by. A `subject` is of a `kind`: an "image" has `images`, itself and its
    segments by score and by how sure, as PNG with `words`, and
    `outlines` of its strongest segments; a "text" has its `words`; a "series" its strongest
    `channels`, at their `times`, and the `edges` of its segments.
    """

    version: int
    title: str
    unit: str
    target: int
    against: int | None
    prediction: float | None
    said: str
    line: str
    axis: list[list[Any]]
    level_text: str
    local: float | None
    intercept: float | None
    level: float | None
    signed: bool
    bars: list[BarPayload]
    order: list[int]
    outputs: list[dict[str, Any]]
    facts: list[str]
    notes: list[str]
    warnings: list[str]
    cost: dict[str, Any]
    method: str
    seed: int
    subject: dict[str, Any] | None


def payload(e: Explanation, level: float = LEVEL, *, words: bool = True) -> Payload:
    """An explanation as plain data. Without `words` facts and warnings, which take time, are left
    out."""
    shown = sheet(e, level) if words else None
    strongest = bars_of(e, level) if shown is None else shown.bars
    bars = [bar_of(bar, e.names[bar.key]) for bar in sorted(strongest, key=lambda bar: bar.key)]
    ends = [v for bar in strongest for v in (bar.score, bar.low, bar.high)]
    one, other = places(e.target, e.outputs)
    cost = e.cost
    return {
        "version": VERSION,
        "title": e.title,
        "unit": unit(e),
        "target": one,
        "against": other,
        "prediction": finite_or_none(e.prediction),
        "said": "" if math.isnan(e.prediction) else answer(e.prediction, lack_of_fit.probable(e)),
        "line": "" if math.isnan(e.local_prediction) else lack_of_fit.says(e),
        "axis": axis(Scale.over([*ends, *(-v for v in ends * e.signed)])),
        "level_text": "" if level_of(e, level) is None else at_level(level),
        "local": finite_or_none(e.local_prediction),
        "intercept": finite_or_none(e.intercept),
        "level": level if shown is None else shown.level,
        "signed": e.signed,
        "bars": bars,
        "order": [bar.key for bar in strongest],
        "outputs": outputs(e),
        "facts": [] if shown is None else [short(fact, 400) for fact in shown.facts],
        "notes": [] if shown is None else [short(one, 600) for one in shown.notes],
        "warnings": [] if shown is None else [short(one, 600) for one in shown.warnings],
        "cost": {
            "rows": cost.rows,
            "calls": cost.calls,
            "seconds": round(cost.model_seconds + cost.own_seconds, 4),
            "stopped": cost.stopped,
        },
        "method": short(e.method, MAX_NAME),
        "seed": e.seed,
        "subject": subject(e),
    }


def finite_or_none(value: Any) -> float | None:
    """A number that JSON can hold, or None."""
    return float(value) if math.isfinite(value) else None


def bar_of(bar: Bar, name: str) -> BarPayload:
    """A bar as plain data."""
    return {
        "key": str(bar.key),
        "name": short(name, MAX_NAME),
        "condition": cut_label(bar.label, bar.name, MAX_NAME),
        "value": bar.value,
        "score": bar.score,
        "low": finite_or_none(bar.low),
        "high": finite_or_none(bar.high),
        "sure": finite_or_none(bar.sign),
        "clear": bar.clear,
        "text": bar.text,
        "span": bar.span,
        "certain": bar.sure,
    }


def axis(scale: Scale) -> list[list[Any]]:
    """Round numbers of an axis, with how they are written."""
    return [[tick, text] for tick, text in zip(scale.ticks, scale.tick_texts, strict=True)]


def unit(e: Explanation) -> str:
    """What scores are measured in."""
    if e.difference is not None:
        return e.difference.change
    if e.link is not None:
        return "log-odds"
    return "probability" if e.task == "classification" else "answer"


def places(target: Target, names: tuple[Any, ...]) -> tuple[int, int | None]:
    """The places of a target's output, and of the one it is against."""
    if isinstance(target, tuple) and target not in names:
        return names.index(target[0]), names.index(target[1])
    return names.index(target), None


def target_at(one: int | None, other: int | None, names: tuple[Any, ...]) -> Target:
    """The target that these places name; None for the predicted class."""
    if one is None:
        return None
    return names[one] if other is None or other == one else (names[one], names[other])


def outputs(e: Explanation) -> list[dict[str, Any]]:
    """Each output's name and what the model says at the instance."""
    answers = e.evidence.answers[0]
    return [
        {
            "name": short(clean(str(name)), MAX_NAME),
            "answer": finite_or_none(said),
            "text": "" if math.isnan(said) else answer(said, 0 <= said <= 1),
        }
        for name, said in zip(e.outputs, answers.tolist(), strict=True)
    ]


def subject(e: Explanation) -> dict[str, Any] | None:
    """An image, a text or a series with its scores; None for rows of tables."""
    shown = Shown.of(e)
    if isinstance(e.subject, Image):
        parts = pictures(shown, e.subject, IMAGE_SIDE)
        return {
            "kind": "image",
            "images": [
                {"src": _source(part), "words": words}
                for part, words in zip(parts, captions(shown), strict=False)
            ],
            "size": [parts[0].shape[1], parts[0].shape[0]],
            "outlines": [asdict(one) for one in outlines(shown, e.subject, IMAGE_SIDE)],
            "note": "",
        }
    if isinstance(e.subject, Passage):
        return {
            "kind": "text",
            "words": [_word(shown, *piece) for piece in pieces(e.subject, e.scores)],
            "note": f"Blue pushes the answer up, orange down. Dashed: {NOT_SURE}.",
        }
    if isinstance(e.subject, Curves):
        return _series(shown, e.subject.thin(MAX_POINTS))
    return None


def _series(shown: Shown, curves: Curves) -> dict[str, Any]:
    channels = [
        {
            "name": short(curves.channels[c], MAX_NAME),
            "values": [finite_or_none(value) for value in curves.values[:, c]],
            "first": c * curves.segments,  # its first feature
        }
        for c in strongest_channels(shown, curves)
    ]
    return {
        "kind": "series",
        "channels": channels,
        "times": curves.times.tolist(),
        "edges": curves.edges.tolist(),
        "note": f"{ways([shown.slopes])} Pale: {NOT_SURE}.",
    }


def _source(pixels: NDArray[np.uint8]) -> str:
    return f"data:image/png;base64,{b64encode(png.encode(np.ascontiguousarray(pixels))).decode()}"


def _word(shown: Shown, text: str, k: int | None) -> dict[str, Any]:
    """A piece of a text, and how it is marked; its feature is None between parts."""
    if k is None:
        return {"text": text, "feature": None}
    unsure = bool(shown.unsure[k])
    return {
        "text": text,
        "feature": k,
        "colour": hue(shown, k),
        "share": round((0.4 if unsure else 0.75) * abs(float(shown.depth[k])), 3),
        "frame": round(3 * float(shown.doubt[k]), 1),
        "unsure": unsure,
    }
