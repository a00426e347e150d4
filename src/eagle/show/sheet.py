"""What is shown of an explanation, in words and numbers, before it becomes text, HTML or rich."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import final

import numpy as np
from numpy.typing import NDArray

from eagle.explanation import LEVEL, Explanation, columns
from eagle.subject import Passage, Subject
from eagle.surrogate.posterior import Bounds
from eagle.types import Array

SHOWN = 20
"""At most this many features are shown; the others are counted in a line."""

UP, DOWN = "#0072B2", "#D55E00"
"""Blue and vermillion of Okabe and Ito's palette: told apart by every kind of sight."""

GREEN_RED, BLUE_ORANGE = ("#009E73", "#D55E00"), ("#0072B2", "#E69F00")
"""For words, up and down: a green and a red, or a blue and an orange, of the same palette."""

PARTS = 400
"""So many parts of a text are shown."""


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
        """Whether the interval leaves no doubt of the sign; without one, nothing doubts it."""
        return not self.low <= 0 <= self.high

    @property
    def known(self) -> bool:
        return not isnan(self.low)


@final
@dataclass(frozen=True, eq=False)
class Shown:
    """An image or text with its features' scores, shape (d,), and 90% intervals, (d, 2)."""

    subject: Subject | None
    scores: Array
    interval: Array
    signed: bool

    @property
    def depth(self) -> Array:
        """How strong each feature is beside the strongest, with its sign."""
        return self.scores / (float(np.abs(self.scores).max()) or 1.0)

    @property
    def doubt(self) -> Array:
        """How wide each interval is beside the strongest score, up to 1; 0 where none is known."""
        wide = np.nan_to_num(self.interval[:, 1] - self.interval[:, 0])
        return np.minimum(wide / (float(np.abs(self.scores).max()) or 1.0), 1.0)

    @property
    def clear(self) -> NDArray[np.bool_]:
        """Which intervals leave no doubt of the sign; where none is known, none do."""
        return np.asarray((self.interval[:, 0] > 0) | (self.interval[:, 1] < 0))


@final
@dataclass(frozen=True)
class Sheet:
    """All that a rendering shows, already in words and numbers, best feature first."""

    title: str
    bars: Sequence[Bar]
    level: float | None
    facts: Sequence[str]
    warnings: Sequence[str]
    shown: Shown


def sheet(e: Explanation, level: float = LEVEL) -> Sheet:
    """What every way of showing an explanation shows."""
    low, high, _, sure = columns(e, level)
    known = e.posterior.level if isinstance(e.posterior, Bounds) else level
    bars = [
        Bar(e.conditions[j], float(e.scores[j]), float(low[j]), float(high[j]), float(sure[j]))
        for j in e.order()
    ]
    shown = Shown(e.subject, e.scores, e.shown(0.9), e.signed)
    return Sheet(title(e), bars, known, _facts(e), e.warnings, shown)


def title(e: Explanation) -> str:
    """What is explained, as a question."""
    if e.task == "classification" and isinstance(e.target, tuple):
        return f"Why {e.target[0]}, not {e.target[1]}? Margin {e.prediction:+.4g}"
    if e.task == "classification":
        return f"Why {e.target_name}? The model says {e.prediction:.4g}"
    return f"Why {e.target_name} = {e.prediction:.6g}?"


def _facts(e: Explanation) -> list[str]:
    """What it cost, how well it fits, and what its intervals are."""
    facts = [_cost(e)]
    if e.surrogate is not None:
        fit = f"weighted R² {e.r2:.2f}" if np.isfinite(e.r2) else "no variation to fit"
        if np.isfinite(e.r2_held_out):
            fit += f", {e.r2_held_out:.2f} on held-out rows"
        facts.append(f"Fit: {fit}. At the instance it says {e.local_prediction:.4g}")
    if e.posterior is not None and e.surrogate is not None:
        facts.append(f"Intervals: {e.posterior.kind}")
    if not e.signed:
        facts.append("Scores say how much a feature matters, not which way it pushes")
    return facts


def _cost(e: Explanation) -> str:
    b = e.bill
    paid = (
        f"in {b.calls} call{'s' if b.calls != 1 else ''}, {b.model_seconds:.3f} s in the "
        f"model and {b.own_seconds:.3f} s outside"
    )
    stopped = f". It stopped there because {b.stopped}" if b.stopped else ""
    return f"{e.method}: {b.rows} rows {paid if b.calls else 'answered elsewhere'}{stopped}"


# -- in words ------------------------------------------------------------------------------------


def number(value: float) -> str:
    """Four significant digits, with a true minus sign, aligned by their sign."""
    return f"{value:+.4g}".replace("-", "−")


def sureness(sure: float) -> str:
    """A probability in per cent, never rounded up to certainty."""
    if isnan(sure):
        return ""
    return ">99.9%" if sure > 0.999 else f"{100 * sure:.1f}%"


def interval(bar: Bar) -> str:
    return f"[{number(bar.low):>10}, {number(bar.high):>10}]" if bar.known else "not known"


def heading(sheet: Sheet) -> str:
    return "bounds" if sheet.level is None else f"{100 * sheet.level:g}% interval"


def rest(sheet: Sheet) -> str | None:
    hidden = len(sheet.bars) - SHOWN
    return f"… and {hidden} more feature{'s' if hidden > 1 else ''}" if hidden > 0 else None


def pieces(passage: Passage) -> list[tuple[str, int | None]]:
    """The whole text in order: parts with their feature, and what is between them with none."""
    out: list[tuple[str, int | None]] = []
    at = 0
    for start, end, feature in passage.spans[:PARTS]:
        out += [(passage.text[at:start], None), (passage.text[start:end], feature)]
        at = end
    more = len(passage.spans) - PARTS
    return [*out, (f" … and {more} more" if more > 0 else passage.text[at:], None)]


def hue(shown: Shown, k: int, colours: tuple[str, str]) -> str:
    return (colours[0] if shown.scores[k] > 0 else colours[1]) if shown.signed else "#777777"
