"""The content that is shown of an explanation, before it becomes text or HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Final, final
from unicodedata import bidirectional

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array, is_flat
from eagle._values.difference import Difference
from eagle._values.names import is_default
from eagle._values.posterior import LEVEL, Bounds, without_effect
from eagle._values.subject import Curves, Image, Passage, Subject
from eagle._values.targets import answers_of
from eagle._values.text import middle, short, value_text
from eagle.display import numbers
from eagle.display.colours import DOWN, GREY, UP
from eagle.display.lack_of_fit import clips, end_fact, fact, says, unseen
from eagle.display.numbers import Numbers, number, plural, signed_number

if TYPE_CHECKING:
    from eagle.explanation import Explanation

MAX_FEATURES = 20
"""At most this many features are shown; the others are counted in a line."""

MAX_PARTS, MAX_CHARACTERS = 400, 6000
"""Of a text with more parts, or more characters, only the strongest parts are shown."""

MAX_STRONGEST_PARTS, MAX_PART_CHARACTERS = 40, 160
"""The number of these parts, and the maximum number of characters of each."""

MAX_NAME_CHARACTERS = 60
"""Maximum number of characters of a class in a title: the probability must stay in sight."""

MAX_VALUE_CHARACTERS = 20
"""Maximum number of characters of a row's own value beside a label."""

MAX_CHANNELS = 12
"""Number of channels of a series that are shown, the strongest."""

MAX_IDLE_NAMED = 8
"""Number of parts without effect that are named."""

MAX_FACT_CHARACTERS = 300
"""Maximum number of characters of a fact."""

MAX_CLASSES_LISTED = 5
"""Number of classes that are listed with their probabilities."""


@final
@dataclass(frozen=True)
class Bar:
    """One feature as shown: its label, score, interval, and P(sign), as numbers and as written.

    `value` is the row's own, where the label does not name it; NaN stands where something is not
    known. `clear` says that the score surely has its sign, or that there is no interval to tell;
    `slope`, that it is the change per step of a number; `idle`, that the feature is known to have
    no effect. `key` is its place among the features.
    """

    key: int
    name: str
    label: str
    value: str
    score: float
    low: float
    high: float
    sign: float
    clear: bool
    slope: bool = False
    idle: bool = False
    text: str = ""
    span: str = ""
    sure: str = ""

    @property
    def has_interval(self) -> bool:
        return not isnan(self.low)

    @property
    def full_label(self) -> str:
        """The label, and the row's own value where it is a bin or a slope."""
        return f"{self.label} ({self.value})" if self.value else self.label

    def short_label(self, size: int) -> str:
        """The full label on one line: where it is too long, the name loses its middle first."""
        return cut_label(self.full_label, self.name, size)


MIN_NAME_CHARACTERS: Final = 9
"""A name is not cut to fewer characters for the sake of its condition."""


def cut_label(label: str, name: str, size: int) -> str:
    """A label of at most this size: first its name is made shorter, then all of it."""
    over = len(label) - size
    if over > 0 and len(name) > MIN_NAME_CHARACTERS:
        label = label.replace(name, middle(name, max(MIN_NAME_CHARACTERS, len(name) - over)), 1)
    return middle(label, size)


@final
@dataclass(frozen=True, eq=False)
class Shown:
    """An image, text or series with its features' scores and their intervals, shape (d, 2).

    `clear` are the scores that surely have their sign, `unsure` those with an interval that are
    not sure, shape (d,) each. `slopes` says that scores are changes per step.
    """

    subject: Subject | None
    scores: Array
    interval: Array
    clear: NDArray[np.bool_]
    unsure: NDArray[np.bool_]
    signed: bool
    level: float | None
    numbers: Numbers
    slopes: bool = False

    @classmethod
    def of(cls, e: Explanation, level: float = LEVEL, written: Numbers | None = None) -> Shown:
        """The subject of an explanation with its scores."""
        sure, doubtful = e.sure(level), e.doubtful(level)
        scores, interval, named = e.scores, e.interval_or_nan(level), level_of(e, level)
        written, slopes = written or numbers_of(e, level), any(e.slopes)
        return cls(e.subject, scores, interval, sure, doubtful, e.signed, named, written, slopes)

    def text(self, k: int) -> str:
        """The score of a feature as it is written."""
        write = self.numbers.signed if self.signed else self.numbers.plain
        return write(float(self.scores[k]))

    def text_with_interval(self, k: int) -> str:
        """The score of a feature, and its interval in brackets where it is known."""
        low, high = self.interval[k].tolist()
        span = "" if isnan(low) else f" [{self.numbers.span(low, high, self.signed)}]"
        return f"{self.text(k)}{span}"

    @property
    def depth(self) -> Array:
        """Each score over the largest size of a score."""
        return self.scores / (float(np.abs(self.scores).max()) or 1.0)

    @property
    def doubt(self) -> Array:
        """The width of each interval over the strongest score, at most 1; 0 where not known."""
        wide = np.nan_to_num(self.interval[:, 1] - self.interval[:, 0])
        return np.minimum(wide / (float(np.abs(self.scores).max()) or 1.0), 1.0)


@final
@dataclass(frozen=True)
class Sheet:
    """All that is shown, as text and numbers, strongest feature first."""

    title: str
    bars: Sequence[Bar]
    numbers: Numbers
    level: float | None
    facts: Sequence[str]
    notes: Sequence[str]
    warnings: Sequence[str]
    shown: Shown


def sheet(e: Explanation, level: float = LEVEL) -> Sheet:
    """The content that text and HTML show."""
    written = numbers_of(e, level)
    shown, named = Shown.of(e, level, written), level_of(e, level)
    bars = bars_of(e, level, written)
    return Sheet(title(e), bars, written, named, _facts(e), e.notes, e.warnings, shown)


def numbers_of(e: Explanation, level: float = LEVEL) -> Numbers:
    """How the scores of an explanation and their intervals are written."""
    low, high = e.interval_or_nan(level).T
    return Numbers.of([*e.scores, *low, *high], low, high)


def bars_of(e: Explanation, level: float = LEVEL, written: Numbers | None = None) -> list[Bar]:
    """All features, the strongest first."""
    low, high, _, sign = e.columns(level)
    doubtful, slopes = e.doubtful(level), e.slopes or (False,) * len(e.names)
    idle, written = _idle(e), written or numbers_of(e, level)
    write = written.signed if e.signed else written.plain
    return [
        Bar(
            int(j),
            e.names[j],
            e.conditions[j],
            _own_value(e, int(j)),
            float(e.scores[j]),
            float(low[j]),
            float(high[j]),
            float(sign[j]),
            not doubtful[j],
            slopes[j],
            bool(idle[j]),
            write(e.scores[j]),
            NO_EFFECT if idle[j] else written.span(float(low[j]), float(high[j]), e.signed),
            numbers.sureness(float(sign[j])),
        )
        for j in e.order()
    ]


def _own_value(e: Explanation, j: int) -> str:
    """The row's own value as it was written, if the condition is a bin or a slope; "" otherwise."""
    value, condition = e.data[j], e.conditions[j]
    around = condition.replace(e.names[j], "", 1)
    slope = bool(e.slopes) and e.slopes[j] and condition != f"{e.names[j]} = {value}"
    bin_ = any(sign in around for sign in "<>≤≥")
    if e.subject is not None or value is None or not (bin_ or slope):
        return ""
    return middle(value_text(value), MAX_VALUE_CHARACTERS)


def level_of(e: Explanation, level: float) -> float | None:
    """The level of the intervals that are shown: other packages' bounds have their own, or none."""
    return e.posterior.level if isinstance(e.posterior, Bounds) else level


def ways(slopes: Iterable[bool], up: str = "Blue", down: str = "orange") -> str:
    """What two colours say of scores: of values, of slopes, or of both, as a sentence."""
    kinds = set(slopes)
    if kinds == {True}:
        rises = f"{up.removesuffix(',')}: the answer rises with the feature"
        return f"{rises}; {down.removesuffix(',')}: it falls."
    if True in kinds:
        return (
            f"{up} pushes the answer up, or says that it rises with the number; {down} pushes it "
            "down, or says that it falls."
        )
    return f"{up} pushes the answer up, {down} down."


def sides_of(signed: bool, slopes: NDArray[np.bool_], down: str = "orange") -> str:
    """What the two parts of a bar over many rows are, as a sentence; "" without signs."""
    if not signed:
        return ""
    up = "the answer rises with it" if slopes.all() else "it pushes up"
    if slopes.any() and not slopes.all():
        up += ", or the answer rises with it"
    return f"Blue: rows where {up}; {down}: the others."


UNNAMED: Final = "prediction"
"""What the answer of a regression is called where nobody named it."""

NOT_SURE: Final = "not sure which way"
"""What is said of a score whose sign is not sure."""


def title(e: Explanation) -> str:
    """What is explained, as a question."""
    return f"{_asked_text(e)}{_way(e)}"


def _way(e: Explanation) -> str:
    """Which way scores lead, where they add up to the prediction; "" of others."""
    if not e.additive:
        return ""
    base = number(e.intercept)
    start = "From" if _asked_text(e).endswith("?") else ", from"
    return f" {start} the average {base}: the share of each value".replace(" ,", ",")


def _asked_text(e: Explanation) -> str:
    if e.difference is not None:
        return f"{e.difference.question(_output(e))} {_change_of_prediction(e, e.difference)}"
    if isnan(e.prediction):
        return (
            f"Why {'this ' * (e.target_name == UNNAMED)}"
            f"{short(e.target_name, MAX_NAME_CHARACTERS)}? The model was not asked about this row"
        )
    if e.task == "classification" and isinstance(e.target, tuple):
        margin = "Margin" if e.link is None else "Log-odds"
        one, other = (short(str(name), MAX_NAME_CHARACTERS // 2) for name in e.target)
        return f"Why {one}, not {other}? {margin} {signed_number(e.prediction)}"
    name = short(e.target_name, MAX_NAME_CHARACTERS)
    if e.task == "classification" and e.link is not None:
        own = float(answers_of(e.evidence.answers[:1], e.outputs, e.target)[0])
        counted = (
            f"counted as {numbers.probability(float(e.link.back(e.prediction)))}, "
            if e.link.count_clipped(own)
            else ""
        )
        says = f"{numbers.probability(own)}, {counted}log-odds {signed_number(e.prediction)}"
        return f"Why {name}? The model says {says}"
    if e.task == "classification":
        return f"Why {name}? The model says {numbers.probability(e.prediction)}"
    value = number(e.prediction)
    return f"Why is the prediction {value}?" if name == UNNAMED else f"Why {name} {value}?"


def _output(e: Explanation) -> str:
    """The output that is explained, short enough for a title."""
    if isinstance(e.target, tuple):
        one, other = (short(str(name), MAX_NAME_CHARACTERS // 2) for name in e.target)
        return f"{one} against {other}"
    return short(str(e.target), MAX_NAME_CHARACTERS)


def _change_of_prediction(e: Explanation, what: Difference) -> str:
    """How much the prediction changed from one model to the other."""
    if isnan(e.prediction):
        return "How much is not known: the models were not asked about this row"
    unit = "margin" if isinstance(e.target, tuple) else what.unit
    return f"The {unit} changed by {signed_number(e.prediction)}"


def likeliest(e: Explanation) -> str:
    """The classes that the model gives an image, a text or a series, the likeliest first."""
    many = len(e.outputs) > 2 and isinstance(e.subject, Image | Passage | Curves)
    if e.task != "classification" or not many:
        return ""
    answers = e.evidence.answers[0]
    first = np.argsort(-answers, kind="stable")[:MAX_CLASSES_LISTED]
    listed = ", ".join(
        f"{short(str(e.outputs[j]), 30)} ({numbers.probability(answers[j])})" for j in first
    )
    return f"The model says: {listed}"


def _facts(e: Explanation) -> list[str]:
    """What it cost, how well it fits, and what its intervals are."""
    facts = [_cost(e), *([said] if (said := likeliest(e)) else [])]
    if e.surrogate is not None:
        unfit = "no variation to fit" if is_flat(_explained_answers(e)) else "too few rows to tell"
        n, d = e.evidence.features.shape
        known = np.isfinite(e.r2) and n > d + 1  # a line goes through as few rows as it has slopes
        fit = f"weighted R² {numbers.share(e.r2)}" if known else unfit
        if np.isfinite(e.r2_held_out):
            fit += f", {numbers.share(e.r2_held_out)} on held-out rows"
        facts.append(f"Fit: {fit}. Fitted value here: {says(e)}")
    facts += [said] if (said := _question(e)) else []
    if isinstance(e.subject, Image | Passage | Curves) and e.subject.cut:
        facts.append(f"Parts: {e.subject.cut}")
    facts += [words for words in (_idle_fact(e), fact(e), end_fact(e)) if words]
    if e.posterior is not None and (e.surrogate is not None or e.additive):
        facts.append(f"Intervals: {e.posterior.kind}{'' if e.additive else unseen(e)}")
    if e.difference is not None:
        facts.append(f"Difference: {e.difference}, in {e.difference.unit}")
    if e.difference is not None and e.difference.unit == "log-odds":
        facts.append(
            "+0.69 doubles the odds ratio of the new model to the old one, −0.69 halves it"
        )
    if e.link is not None and e.signed:
        facts.append("Scores are log-odds: +0.69 doubles the odds, −0.69 halves them")
    if not e.signed:
        facts.append("Scores say how much a feature matters, not which way it pushes")
    return facts


def _question(e: Explanation) -> str:
    """Which question the scores of a table answer; "" where that is said elsewhere."""
    if e.additive:
        return _sum(e)
    ours = e.cost.shared or is_default(e.method)
    if e.subject is not None or not e.signed or e.difference is not None or not ours:
        return ""
    what = "one more step" if e.slopes and all(e.slopes) else "having a value"
    return f"Scores say what {what} adds near this row: they are no shares of the prediction"


def _sum(e: Explanation) -> str:
    """What scores add up to."""
    start = f"the average answer over the background, {number(e.intercept)}"
    if isnan(e.prediction):
        return f"Scores start at {start}; where they lead to is not known: the model was not asked"
    end = number(e.prediction)
    return f"Scores add up: {start}, and all scores make the prediction, {end}"


def _idle_fact(e: Explanation) -> str:
    """Which parts no answer depends on; "" if there is none."""
    idle = [e.names[j] for j in np.flatnonzero(_idle(e))]
    if not idle or len(idle) == len(e.names):
        return ""
    more = f" and {len(idle) - MAX_IDLE_NAMED:,} more" if len(idle) > MAX_IDLE_NAMED else ""
    listed = ", ".join(short(name, 30) for name in idle[:MAX_IDLE_NAMED])
    but = ", other than by what was clipped" if clips(e) else ""
    return f"No effect (leaving it out never changed an answer{but}): {listed}{more}"


def _explained_answers(e: Explanation) -> Array:
    return answers_of(e.evidence.answers, e.outputs, e.target, e.link)


def _cost(e: Explanation) -> str:
    b = e.cost
    if b.shared:
        return (
            f"{e.method}: {numbers.count(b.shared)} rows, shared by all its explanations, and "
            f"{numbers.count(b.rows)} asked "
            f"{'of each model ' * (e.difference is not None)}for this one"
        )
    tokens = "" if b.tokens is None else f"{plural(b.tokens, 'token')}, "
    paid = (
        f"in {plural(b.calls, 'call')}, {tokens}{numbers.seconds(b.model_seconds)} in the "
        f"model and {numbers.seconds(b.own_seconds)} outside"
    )
    stopped = f". It stopped there because {b.stopped}" if b.stopped else ""
    return (
        f"{e.method}: {plural(b.rows, 'row')} {paid if b.calls else 'answered elsewhere'}{stopped}"
    )


# -- as text -------------------------------------------------------------------------------------


def _idle(e: Explanation) -> NDArray[np.bool_]:
    """Which features are known to have no effect, shape (d,)."""
    known = without_effect(e.posterior)
    return known if len(known) else np.zeros(len(e.names), dtype=bool)


NO_EFFECT: Final = "no effect"
"""What stands in place of the interval of a part that no answer depends on."""


def heading(sheet: Sheet) -> str:
    return "bounds" if sheet.level is None else f"{numbers.at_level(sheet.level)} interval"


def rest(sheet: Sheet, shown: int = MAX_FEATURES) -> str | None:
    """How many features are not among those shown, as a line."""
    hidden = len(sheet.bars) - shown
    return f"… and {numbers.count(hidden)} more feature{'s' * (hidden > 1)}" if hidden > 0 else None


def pieces(passage: Passage, scores: Array) -> list[tuple[str, int | None]]:
    """The text in order: parts with their feature, and what is between them with none. Of a long
    text the strongest parts alone, and how many were left out."""
    spans = passage.spans
    whole = len(spans) <= MAX_PARTS and len(passage.text) <= MAX_CHARACTERS
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
    return sorted(places[np.argsort(-size, kind="stable")[:MAX_STRONGEST_PARTS]].tolist())


def _head(part: str, whole: bool) -> str:
    return (
        part if whole or len(part) <= MAX_PART_CHARACTERS else part[: MAX_PART_CHARACTERS - 1] + "…"
    )


def channel_lines(shown: Shown, curves: Curves) -> list[tuple[str, str]]:
    """The strongest channels of a series, each with a mark for every segment: ▲ and ▼ where it
    surely pushes up and down, · elsewhere."""
    mark = np.where(shown.clear, np.where(shown.scores > 0, "▲", "▼"), "·")
    marks = mark.reshape(len(curves.channels), -1)
    return [(curves.channels[c], "".join(marks[c])) for c in strongest_channels(shown, curves)]


def strongest_channels(shown: Shown, curves: Curves, most: int = MAX_CHANNELS) -> list[int]:
    """The channels with the strongest parts, in their own order."""
    size = np.abs(shown.scores).reshape(len(curves.channels), -1).max(axis=1)
    return sorted(np.argsort(-size, kind="stable")[:most].tolist())


def right_to_left(text: str) -> bool:
    """Whether a text begins with a letter of a script that runs from right to left."""
    strong = (bidirectional(c) for c in text)
    return next((c in ("R", "AL") for c in strong if c in ("L", "R", "AL")), False)


def mark_direction(text: str) -> str:
    """A line for a terminal: one that runs from right to left is marked as such, and keeps what
    stands beside it where it is."""
    return f"\u2067{text}\u2069" if right_to_left(text) else text


def hue(shown: Shown, k: int) -> str:
    """The colour of a score: which way it pushes."""
    return (UP if shown.scores[k] > 0 else DOWN) if shown.signed else GREY
