"""The content that is shown of an explanation, before it becomes text, HTML or rich."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import final
from unicodedata import bidirectional

import numpy as np
from numpy.typing import NDArray

from eagle.explanation import Explanation
from eagle.show.misfit import end_fact, fact, says, unseen
from eagle.subject import Curves, Image, Passage, Subject
from eagle.surrogate.fit import is_flat
from eagle.surrogate.posterior import LEVEL, Bounds
from eagle.surrogate.reweighted import Reweighted
from eagle.targets import answers_of
from eagle.types import Array, short

SHOWN = 20
"""At most this many features are shown; the others are counted in a line."""

UP, DOWN = "#0072B2", "#D55E00"
"""Blue and vermillion of Okabe and Ito's palette, which colour-blind readers can tell apart."""

GREY = "#777777"
"""For what is not sure, and for scores without a sign."""

GREEN_RED, BLUE_ORANGE = ("#009E73", "#D55E00"), ("#0072B2", "#E69F00")
"""For words, up and down: a green and a red, or a blue and an orange, of the same palette."""

PARTS, LONG = 400, 6000
"""Of a text with more parts, or more characters, only the strongest parts are shown."""

STRONGEST, HEAD = 40, 160
"""The number of these parts, and the maximum number of characters of each."""

NAME = 60
"""Maximum number of characters of a class in a title: the probability must stay in sight."""

CHANNELS = 12
"""Number of channels of a series that are shown, the strongest."""

LIKELY = 5
"""Number of classes that are listed with their probabilities."""


@final
@dataclass(frozen=True)
class Bar:
    """One feature as shown: its label, score, interval, and how sure the sign is.

    NaN stands where something is not known.
    """

    label: str
    score: float
    low: float
    high: float
    sure: float

    @property
    def clear(self) -> bool:
        """Whether the interval excludes 0, or there is none."""
        return not self.low <= 0 <= self.high

    @property
    def known(self) -> bool:
        return not isnan(self.low)


@final
@dataclass(frozen=True, eq=False)
class Shown:
    """An image, text or series with its features' scores, shape (d,), and 90% intervals, (d, 2)."""

    subject: Subject | None
    scores: Array
    interval: Array
    signed: bool

    @property
    def depth(self) -> Array:
        """Each score over the largest size of a score."""
        return self.scores / (float(np.abs(self.scores).max()) or 1.0)

    @property
    def doubt(self) -> Array:
        """The width of each interval over the strongest score, at most 1; 0 where not known."""
        wide = np.nan_to_num(self.interval[:, 1] - self.interval[:, 0])
        return np.minimum(wide / (float(np.abs(self.scores).max()) or 1.0), 1.0)

    @property
    def clear(self) -> NDArray[np.bool_]:
        """Which intervals are known and exclude 0."""
        return np.asarray((self.interval[:, 0] > 0) | (self.interval[:, 1] < 0))

    @property
    def unsure(self) -> NDArray[np.bool_]:
        """Which intervals contain zero; an unknown one does not."""
        return np.asarray((self.interval[:, 0] <= 0) & (self.interval[:, 1] >= 0))


@final
@dataclass(frozen=True)
class Sheet:
    """All that is shown, as text and numbers, strongest feature first."""

    title: str
    bars: Sequence[Bar]
    level: float | None
    facts: Sequence[str]
    warnings: Sequence[str]
    shown: Shown


def sheet(e: Explanation, level: float = LEVEL) -> Sheet:
    """The content that text, HTML and rich show."""
    low, high, _, sure = e.columns(level)
    known = e.posterior.level if isinstance(e.posterior, Bounds) else level
    bars = [
        Bar(e.conditions[j], float(e.scores[j]), float(low[j]), float(high[j]), float(sure[j]))
        for j in e.order()
    ]
    shown = Shown(e.subject, e.scores, e.shown(0.9), e.signed)
    return Sheet(title(e), bars, known, _facts(e), e.warnings, shown)


def title(e: Explanation) -> str:
    """What is explained, as a question."""
    if isnan(e.prediction):
        return f"Why {short(e.target_name, NAME)}? The model was not asked about this row"
    if e.task == "classification" and isinstance(e.target, tuple):
        margin = "Margin" if e.link is None else "Log-odds"
        one, other = (short(str(name), NAME // 2) for name in e.target)
        return f"Why {one}, not {other}? {margin} {signed_number(e.prediction)}"
    name = short(e.target_name, NAME)
    if e.task == "classification" and e.link is not None:
        said = float(answers_of(e.evidence.answers[:1], e.outputs, e.target)[0])
        counted = f"counted as {e.link.back(e.prediction):.4g}, " if e.link.clipped(said) else ""
        says = f"{said:.4g}, {counted}log-odds {signed_number(e.prediction)}"
        return f"Why {name}? The model says {says}"
    if e.task == "classification":
        return f"Why {name}? The model says {e.prediction:.4g}"
    return f"Why {name} = {e.prediction:.6g}?"


def likeliest(e: Explanation) -> str:
    """The classes that the model gives an image, a text or a series, the likeliest first."""
    many = len(e.outputs) > 2 and isinstance(e.subject, Image | Passage | Curves)
    if e.task != "classification" or not many:
        return ""
    answers = e.evidence.answers[0]
    first = np.argsort(-answers, kind="stable")[:LIKELY]
    listed = ", ".join(f"{short(str(e.outputs[j]), 30)} ({answers[j]:.3g})" for j in first)
    return f"The model says: {listed}"


def _facts(e: Explanation) -> list[str]:
    """What it cost, how well it fits, and what its intervals are."""
    facts = [_cost(e), *([said] if (said := likeliest(e)) else [])]
    if e.surrogate is not None:
        unfit = "no variation to fit" if is_flat(_explained(e)) else "too few rows to tell"
        n, d = e.evidence.features.shape
        known = np.isfinite(e.r2) and n > d + 1  # a line goes through as few rows as it has slopes
        fit = f"weighted R² {e.r2:.2f}" if known else unfit
        if np.isfinite(e.r2_held_out):
            held = f"{e.r2_held_out:.2f}".replace("-", "−")
            fit += f", {held} on held-out rows"
        facts.append(f"Fit: {fit}. Fitted value here: {says(e)}")
    if isinstance(e.subject, Image | Passage | Curves) and e.subject.cut:
        facts.append(f"Parts: {e.subject.cut}")
    facts += [words for words in (fact(e), end_fact(e)) if words]
    if e.posterior is not None and e.surrogate is not None:
        facts.append(f"Intervals: {e.posterior.kind}{unseen(e)}")
    if e.link is not None and e.signed:
        facts.append("Scores are log-odds: +0.69 doubles the odds, −0.69 halves them")
    if not e.signed:
        facts.append("Scores say how much a feature matters, not which way it pushes")
    return facts


def _explained(e: Explanation) -> Array:
    return answers_of(e.evidence.answers, e.outputs, e.target, e.link)


def _cost(e: Explanation) -> str:
    b = e.bill
    if isinstance(e.surrogate, Reweighted):
        return (
            f"{e.method}: {e.surrogate.evenness.rows:,} rows, shared by all its explanations, and "
            f"{b.rows} asked for this one"
        )
    tokens = "" if b.tokens is None else f"{b.tokens:,} tokens, "
    paid = (
        f"in {b.calls} call{'s' if b.calls != 1 else ''}, {tokens}{b.model_seconds:.3f} s in the "
        f"model and {b.own_seconds:.3f} s outside"
    )
    stopped = f". It stopped there because {b.stopped}" if b.stopped else ""
    rows = f"{b.rows} row{'s' if b.rows != 1 else ''}"
    return f"{e.method}: {rows} {paid if b.calls else 'answered elsewhere'}{stopped}"


# -- as text -------------------------------------------------------------------------------------


def signed_number(value: float) -> str:
    """Four significant digits, with a true minus sign, aligned by their sign."""
    return f"{value:+.4g}".replace("-", "−")


def sureness(sure: float) -> str:
    """A probability in per cent, never rounded up to certainty."""
    if isnan(sure):
        return ""
    return ">99.9%" if sure > 0.999 else f"{100 * sure:.1f}%"


def interval(bar: Bar) -> str:
    return (
        f"[{signed_number(bar.low):>10}, {signed_number(bar.high):>10}]"
        if bar.known
        else "not known"
    )


def heading(sheet: Sheet) -> str:
    return "bounds" if sheet.level is None else f"{100 * sheet.level:g}% interval"


def rest(sheet: Sheet) -> str | None:
    hidden = len(sheet.bars) - SHOWN
    return f"… and {hidden} more feature{'s' if hidden > 1 else ''}" if hidden > 0 else None


def pieces(passage: Passage, scores: Array) -> list[tuple[str, int | None]]:
    """The text in order: parts with their feature, and what is between them with none. Of a long
    text the strongest parts alone, and how many were left out."""
    spans = passage.spans
    whole = len(spans) <= PARTS and len(passage.text) <= LONG
    places = range(len(spans)) if whole else _strongest(passage, scores)
    out: list[tuple[str, int | None]] = []
    at, before = 0, -1
    for k in places:
        start, end, feature = spans[k]
        gap = passage.text[at:start] if k == before + 1 else " … "
        out += [(gap, None), (_head(passage.text[start:end], whole), feature)]
        at, before = end, k
    if whole:
        return [*out, (passage.text[at:], None)]
    return [*out, (f" … and {len(spans) - len(places)} more parts", None)]


def _strongest(passage: Passage, scores: Array) -> list[int]:
    """The places of the strongest features' first parts, in the order of the text."""
    first: dict[int, int] = {}
    for place, (_, _, feature) in enumerate(passage.spans):
        first.setdefault(feature, place)
    size = np.array([abs(float(scores[feature])) for feature in first])
    places = np.array(list(first.values()))
    return sorted(places[np.argsort(-size, kind="stable")[:STRONGEST]].tolist())


def _head(part: str, whole: bool) -> str:
    return part if whole or len(part) <= HEAD else part[: HEAD - 1] + "…"


def strips(shown: Shown, curves: Curves) -> list[tuple[str, str]]:
    """The strongest channels of a series, each with a mark for every segment: ▲ and ▼ where it
    surely pushes up and down, · elsewhere."""
    mark = np.where(shown.clear, np.where(shown.scores > 0, "▲", "▼"), "·")
    marks = mark.reshape(len(curves.channels), -1)
    return [(curves.channels[c], "".join(marks[c])) for c in strongest_channels(shown, curves)]


def strongest_channels(shown: Shown, curves: Curves, most: int = CHANNELS) -> list[int]:
    """The channels with the strongest parts, in their own order."""
    size = np.abs(shown.scores).reshape(len(curves.channels), -1).max(axis=1)
    return sorted(np.argsort(-size, kind="stable")[:most].tolist())


def right_to_left(text: str) -> bool:
    """Whether a text begins with a letter of a script that runs from right to left."""
    strong = (bidirectional(c) for c in text)
    return next((c in ("R", "AL") for c in strong if c in ("L", "R", "AL")), False)


def turned(text: str) -> str:
    """A line for a terminal: one that runs from right to left is marked as such, and keeps what
    stands beside it where it is."""
    return f"\u2067{text}\u2069" if right_to_left(text) else text


def hue(shown: Shown, k: int, colours: tuple[str, str]) -> str:
    return (colours[0] if shown.scores[k] > 0 else colours[1]) if shown.signed else "#777777"
