"""An explanation as plain data: what the page, a notebook widget and `chart.js` draw.

Numbers that are not known are None. Outputs are named by their place, since their names can be
anything. `chart.js` draws `bars` in the given `order`; it needs no other field.
"""

from __future__ import annotations

import math
from base64 import b64encode
from typing import Any, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from eagle import png
from eagle.explanation import Explanation
from eagle.show.panels import pictures
from eagle.show.sheet import GREEN_RED, Shown, hue, pieces, sheet, strongest_channels
from eagle.subject import Curves, Image, Passage
from eagle.surrogate.posterior import LEVEL
from eagle.targets import Target
from eagle.types import clean, short

VERSION: Final = 1
"""The version of the payload's fields."""

LONGEST: Final = 200
"""Maximum number of characters of a name that are sent."""

POINTS: Final = 600
"""Maximum number of points of a curve that are sent."""

SIDE: Final = 256
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


class Output(TypedDict):
    """An output of the model, and what it says at the instance."""

    name: str
    answer: float | None


class BillPayload(TypedDict):
    """What the explanation has cost."""

    rows: int
    calls: int
    seconds: float
    stopped: str


class Word(TypedDict):
    """A piece of a text; `feature` is None between parts."""

    text: str
    feature: int | None
    colour: str
    share: float
    frame: float
    unsure: bool


class Channel(TypedDict):
    """A channel of a series: its values, and the first of its features."""

    name: str
    values: list[float | None]
    first: int


class SubjectPayload(TypedDict):
    """The image, its segments by score and by how sure, each as PNG; the text in pieces; or the
    strongest channels of a series, at their times, and the edges of their segments."""

    kind: str
    images: list[str]
    words: list[Word]
    channels: list[Channel]
    times: list[float]
    edges: list[float]
    note: str


class Payload(TypedDict):
    """All that is drawn of one explanation."""

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
    outputs: list[Output]
    facts: list[str]
    warnings: list[str]
    bill: BillPayload
    method: str
    seed: int
    subject: SubjectPayload | None


def payload(e: Explanation, level: float = LEVEL, *, words: bool = True) -> Payload:
    """An explanation as plain data. Without `words` facts and warnings, which take time, are left
    out."""
    shown = sheet(e, level) if words else None
    interval = e.shown(level)
    sure = e.posterior.probability_sign() if e.posterior is not None and e.signed else None
    bars: list[BarPayload] = [
        {
            "key": str(j),
            "name": short(name, LONGEST),
            "condition": short(e.conditions[j], LONGEST),
            "value": shown_value(e.data[j]),
            "score": float(e.scores[j]),
            "low": known(interval[j, 0]),
            "high": known(interval[j, 1]),
            "sure": None if sure is None else known(sure[j]),
        }
        for j, name in enumerate(e.names)
    ]
    one, other = places(e.target, e.outputs)
    bill = e.bill
    return {
        "version": VERSION,
        "title": e.title,
        "unit": unit(e),
        "target": one,
        "against": other,
        "prediction": known(e.prediction),
        "local": known(e.local_prediction),
        "intercept": known(e.intercept),
        "level": level if shown is None else shown.level,
        "signed": e.signed,
        "bars": bars,
        "order": e.order().tolist(),
        "outputs": outputs(e),
        "facts": [] if shown is None else [short(fact, 400) for fact in shown.facts],
        "warnings": [] if shown is None else [short(one, 600) for one in shown.warnings],
        "bill": {
            "rows": bill.rows,
            "calls": bill.calls,
            "seconds": round(bill.model_seconds + bill.own_seconds, 4),
            "stopped": bill.stopped,
        },
        "method": short(e.method, LONGEST),
        "seed": e.seed,
        "subject": subject(e),
    }


def known(value: Any) -> float | None:
    """A number that JSON can hold, or None."""
    return float(value) if math.isfinite(value) else None


def shown_value(value: Any) -> str:
    """A value of a row as it is shown."""
    if value is None:
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return short(str(value), LONGEST)


def unit(e: Explanation) -> str:
    """What scores are measured in."""
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


def outputs(e: Explanation) -> list[Output]:
    """Each output's name and what the model says at the instance."""
    answers = e.evidence.answers[0]
    return [
        {"name": short(clean(str(name)), LONGEST), "answer": known(answer)}
        for name, answer in zip(e.outputs, answers, strict=True)
    ]


def subject(e: Explanation) -> SubjectPayload | None:
    """An image or a text with its scores; None for rows of tables."""
    shown = Shown(e.subject, e.scores, e.shown(0.9), e.signed)
    if isinstance(e.subject, Image):
        hatched = " Hatched: the interval contains zero." if shown.unsure.any() else ""
        return {
            "kind": "image",
            "images": [_source(one) for one in pictures(shown, e.subject, SIDE)],
            "words": [],
            "channels": [],
            "times": [],
            "edges": [],
            "note": f"Blue pushes the answer up, orange down.{hatched}",
        }
    if isinstance(e.subject, Passage):
        return {
            "kind": "text",
            "images": [],
            "words": [_word(shown, *piece) for piece in pieces(e.subject, e.scores)],
            "channels": [],
            "times": [],
            "edges": [],
            "note": "Green pushes the answer up, red down. Dashed: the interval contains zero.",
        }
    if isinstance(e.subject, Curves):
        return _series(shown, e.subject.thinned(POINTS))
    return None


def _series(shown: Shown, curves: Curves) -> SubjectPayload:
    return {
        "kind": "series",
        "images": [],
        "words": [],
        "channels": [
            {
                "name": short(curves.channels[c], LONGEST),
                "values": [known(value) for value in curves.values[:, c]],
                "first": c * curves.segments,
            }
            for c in strongest_channels(shown, curves)
        ],
        "times": curves.times.tolist(),
        "edges": curves.edges.tolist(),
        "note": "Blue pushes the answer up, orange down. Pale: the interval contains zero.",
    }


def _source(pixels: NDArray[np.uint8]) -> str:
    return f"data:image/png;base64,{b64encode(png.encode(np.ascontiguousarray(pixels))).decode()}"


def _word(shown: Shown, said: str, k: int | None) -> Word:
    if k is None:
        return {
            "text": said,
            "feature": None,
            "colour": "",
            "share": 0.0,
            "frame": 0.0,
            "unsure": False,
        }
    unsure = bool(shown.unsure[k])
    return {
        "text": said,
        "feature": k,
        "colour": hue(shown, k, GREEN_RED),
        "share": round((0.4 if unsure else 0.75) * abs(float(shown.depth[k])), 3),
        "frame": round(3 * float(shown.doubt[k]), 1),
        "unsure": unsure,
    }


__all__ = ["VERSION", "Payload", "payload"]
