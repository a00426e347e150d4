"""What drives a model over many rows, as a table with bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._questions.statements import Means
from eagle._values.arrays import Array
from eagle._values.text import middle, short
from eagle.display import cell_bars
from eagle.display.numbers import Numbers, at_level, count, percent, plural
from eagle.display.parts import Cell, Heading, details, name, paragraph, table, to_html
from eagle.display.scale import Scale
from eagle.display.sheet import sides_of
from eagle.errors import EagleError
from eagle.explanations import Explanations

FEATURES: Final = 20
"""Number of features that are shown. The others are folded away."""

MAX_FEATURES: Final = 400
"""Maximum number of features on the page. Less important ones are only counted."""

TOP: Final = 3
"""A feature is counted in the rows where it is among this number of strongest ones."""


def numbers_of(means: Means) -> Numbers:
    """How means over rows and their intervals are written, by the most important ones."""
    few = means.order()[:FEATURES]
    value, low, high = (x[few] for x in (means.value, means.low, means.high))
    return Numbers.of([*value, *low, *high], low, high)


@final
@dataclass(frozen=True, eq=False)
class Summary:
    """The mean size of each score, its mean, and the share of rows where it is strong."""

    size: Means
    mean: Means
    top: Means | None
    up: Array
    signed: bool
    note: str
    sides: str
    labels: tuple[str, ...]

    @classmethod
    def of(cls, e: Explanations, level: float) -> Summary:
        """From the statements about all rows; without intervals where there are none."""
        try:
            if e.parts is not None:
                e.parts.totals(TOP)  # one pass over the files for all that follows
            size, mean = e.importance(level), e.mean_score(level)
            top: Means | None = e.top_k_share(min(TOP, len(e.names)), level)
            note = ""
        except EagleError as error:
            size, mean, top = _bare(e, np.abs(e.scores), level), _bare(e, e.scores, level), None
            note = str(error)
        table = (e[:1] if e.parts is not None else e).table
        signed, sides = table.signed, sides_of(table.signed, table.slopes)
        up = (size.value + mean.value) / 2 if signed else size.value
        return cls(size, mean, top, up, signed, note, sides, e.labels)

    @property
    def lead(self) -> str:
        """The most important features in a sentence of HTML."""
        most = self.size.order()[:TOP]
        sizes = [to_html(self._digits.plain(self.size.value[j])) for j in most]
        named = [name(middle(self.labels[j], 60)) for j in most]
        first, *others = [f"«{one}» ({size})" for one, size in zip(named, sizes, strict=True)]
        then = f", then {' and '.join(others)}" if others else ""
        return f"{first} matters most on average{then}."

    def html(self) -> str:
        order = self.size.order()
        body = self._table(order[:FEATURES])
        if len(order) > FEATURES:
            left = (
                f'<p class="soft">… and {count(len(order) - MAX_FEATURES)} less important ones.</p>'
            )
            more = self._table(order[FEATURES:MAX_FEATURES]) + (
                left if len(order) > MAX_FEATURES else ""
            )
            body += details(
                f"{plural(len(order) - FEATURES, 'more feature')}, less important", more
            )
        said = paragraph(f"Mean size of each feature's score over the rows. {self.sides}", "soft")
        return said + (paragraph(self.note, "soft") if self.note else "") + body

    def _table(self, order: NDArray[np.intp]) -> str:
        size, shown = self.size, self.size.order()[:FEATURES]
        scale, digits = Scale.over([*size.value[shown], *size.high[shown]]), self._digits
        heads = [
            Heading("Feature", "t"),
            Heading(cell_bars.axis(scale), "b", sorts=False),
            Heading("Importance"),
            *([Heading(f"{at_level(size.level)} interval")] if self.has_intervals else []),
            *([Heading("Mean score")] if self.signed else []),
            *([Heading("Interval")] if self.has_intervals and self.signed else []),
            *([Heading(f"Top {TOP}")] if self.top is not None else []),
        ]
        rows = [self._row(int(j), scale, digits) for j in order]
        return table(heads, rows, "What drives the model, most important first", "bars")

    @property
    def _digits(self) -> Numbers:
        return numbers_of(self.size)

    @property
    def has_intervals(self) -> bool:
        """Whether there are intervals."""
        return bool(np.isfinite(self.size.high).any())

    def _row(self, j: int, scale: Scale, digits: Numbers) -> list[Cell]:
        size, mean = self.size, self.mean
        value, low, high = (float(x[j]) for x in (size.value, size.low, size.high))
        span = digits.span(low, high, signed=False)
        cells = [
            Cell(name(middle(self.labels[j], 60)), kind="t"),
            Cell(
                self._bar(j, scale, f"{short(self.labels[j], 120)}: {digits.plain(value)}, {span}"),
                kind="b",
            ),
            Cell(to_html(digits.plain(value)), value, heading="importance"),
        ]
        if self.has_intervals:
            cells.append(Cell(to_html(span), low, "n", "interval"))
        if self.signed:
            signed = to_html(digits.signed(mean.value[j]))
            cells.append(Cell(signed, float(mean.value[j]), "", "mean score"))
        if self.has_intervals and self.signed:
            span = digits.span(float(mean.low[j]), float(mean.high[j]))
            cells.append(Cell(to_html(span), float(mean.low[j]), "n", "interval"))
        if self.top is not None:
            share = float(self.top.value[j])
            cells.append(Cell(percent(share), share, "", f"top {TOP}"))
        return cells

    def _bar(self, j: int, scale: Scale, told: str) -> str:
        value, low, high = (float(x[j]) for x in (self.size.value, self.size.low, self.size.high))
        if not self.signed:
            return cell_bars.bar(scale, value, low, high, told, "flat")
        return cell_bars.two_part_bar(scale, float(self.up[j]), value, low, high, told)


def _bare(e: Explanations, numbers: Array, level: float) -> Means:
    """Means without intervals."""
    unknown = np.full(len(e.names), np.nan)
    return Means(e.names, numbers.mean(axis=0), unknown, unknown, level)
