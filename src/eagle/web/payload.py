"""An explanation as plain data: what the page draws with `chart.js`.

Numbers that are not known are None. Outputs are named by their place, since their names can be
anything. `chart.js` draws `bars` in the given `order`; it needs no other field.
"""

from __future__ import annotations

import math
from base64 import b64encode
from typing import Any, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from eagle._values import png
from eagle._values.posterior import LEVEL
from eagle._values.subject import Curves, Image, Passage
from eagle._values.targets import Target
from eagle._values.text import clean, short
from eagle.display.panels import pictures
from eagle.display.sheet import (
    GREEN_ORANGE,
    NOT_SURE,
    Shown,
    hue,
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
    """One feature: its score, its interval, and the probability of its sign."""

    key: str
    name: str
    condition: str
    value: str
    score: float
    low: float | None
    high: float | None
    sure: float | None
    clear: bool


class Payload(TypedDict):
    """All that is drawn of one explanation.

    `outputs` have a `name` and the `answer` at the instance, `cost` has `rows`, `calls`, `seconds`
    and what it `stopped` by. A `subject` is of a `kind`: an "image" has `images`, itself and its
    segments by score and by how sure, as PNG; a "text" has its `words`; a "series" its strongest
    `channels`, at their `times`, and the `edges` of its segments.
    """

    version: int
    title: str
    unit: str
    target: int
    against: int | None
    prediction: float | None
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
    interval, doubtful = e.interval_or_nan(level), e.doubtful(level)
    sure = e.posterior.probability_sign() if e.posterior is not None and e.signed else None
    bars: list[BarPayload] = [
        {
            "key": str(j),
            "name": short(name, MAX_NAME),
            "condition": short(e.conditions[j], MAX_NAME),
            "value": value_text(e.data[j]),
            "score": float(e.scores[j]),
            "low": finite_or_none(interval[j, 0]),
            "high": finite_or_none(interval[j, 1]),
            "sure": None if sure is None else finite_or_none(sure[j]),
            "clear": not doubtful[j],
        }
        for j, name in enumerate(e.names)
    ]
    one, other = places(e.target, e.outputs)
    cost = e.cost
    return {
        "version": VERSION,
        "title": e.title,
        "unit": unit(e),
        "target": one,
        "against": other,
        "prediction": finite_or_none(e.prediction),
        "local": finite_or_none(e.local_prediction),
        "intercept": finite_or_none(e.intercept),
        "level": level if shown is None else shown.level,
        "signed": e.signed,
        "bars": bars,
        "order": e.order().tolist(),
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


def value_text(value: Any) -> str:
    """A value of a row as it is shown."""
    if value is None:
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return short(str(value), MAX_NAME)


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
        {"name": short(clean(str(name)), MAX_NAME), "answer": finite_or_none(answer)}
        for name, answer in zip(e.outputs, answers, strict=True)
    ]


def subject(e: Explanation) -> dict[str, Any] | None:
    """An image, a text or a series with its scores; None for rows of tables."""
    shown = Shown.of(e)
    if isinstance(e.subject, Image):
        hatched = f" Hatched: {NOT_SURE}." if shown.unsure.any() else ""
        return {
            "kind": "image",
            "images": [_source(one) for one in pictures(shown, e.subject, IMAGE_SIDE)],
            "note": f"{ways([shown.slopes])}{hatched}",
        }
    if isinstance(e.subject, Passage):
        return {
            "kind": "text",
            "words": [_word(shown, *piece) for piece in pieces(e.subject, e.scores)],
            "note": f"Green pushes the answer up, orange down. Dashed: {NOT_SURE}.",
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
        "colour": hue(shown, k, GREEN_ORANGE),
        "share": round((0.4 if unsure else 0.75) * abs(float(shown.depth[k])), 3),
        "frame": round(3 * float(shown.doubt[k]), 1),
        "unsure": unsure,
    }
