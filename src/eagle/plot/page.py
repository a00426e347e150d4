"""What all pictures share: the axes they draw on, literal text, colours, and what a score is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from eagle.explanation import Explanation
from eagle.render import DOWN, UP, short
from eagle.types import Array, InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

LABEL: Final = 40
"""A feature's label is cut to this many characters."""

COLOURS: Final = (UP, DOWN, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's palette without its yellow, which white paper swallows; the style's own ink,
black on white, is the seventh."""

SOFT: Final = 0.65
"""The opacity of what should stand back: notes, and the lines that only guide the eye."""

LITERAL: Final[dict[str, Any]] = {"parse_math": False, "usetex": False}
"""Text shown as it is: a `$` in the name of a column is not mathematics."""


@final
@dataclass(frozen=True, eq=False)
class Page:
    """Axes to draw on, and the size of the area between their spines, in inches.

    `own` is the figure made for them; None if the caller gave the axes.
    """

    ax: Axes
    width: float
    height: float
    own: Figure | None

    @property
    def ink(self) -> Any:
        """The colour of the style's own text: dark on white, light on black."""
        return self.ax.yaxis.label.get_color()

    @property
    def colours(self) -> int:
        """How many colours there are before the first comes back."""
        return len(COLOURS) + 1

    def colour(self, i: int) -> Any:
        return (*COLOURS, self.ink)[i % self.colours]

    def title(self, text: str) -> None:
        fold(self.ax.set_title("", loc="left", **LITERAL), short(text, 160), self.width)

    def x_label(self, text: str) -> None:
        fold(self.ax.set_xlabel("", **LITERAL), text, self.width)

    def y_label(self, text: str) -> None:
        fold(self.ax.set_ylabel("", **LITERAL), text, self.height)

    def rows(self, labels: Sequence[str], more: int = 0) -> None:
        """Name the rows 0, 1, … from the top; a last line counts those not shown."""
        ax = self.ax
        shown = [short(label, LABEL) for label in labels]
        if more:
            shown.append(f"… and {more} more feature{'s' if more > 1 else ''}")
        ax.set_yticks(range(len(shown)), shown, **LITERAL)
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "top", "right"]].set_visible(False)
        ax.axvline(0, color=self.ink, linewidth=0.8, zorder=1.5)
        ax.grid(axis="x", color=self.ink, alpha=0.12, linewidth=0.6)
        ax.set_axisbelow(True)
        if more:
            ax.get_yticklabels()[-1].set(style="italic", alpha=SOFT)

    def note(self, lines: Iterable[str]) -> None:
        """Small print below the x label, each line folded to the width of the axes."""
        below = ("axes fraction", self.ax.xaxis.label)
        text = self.ax.annotate(
            "", (0, 0), xytext=(0, -5), xycoords=below, textcoords="offset points",
            va="top", fontsize="small", alpha=0.8, annotation_clip=False, **LITERAL,
        )  # fmt: skip
        fold(text, "\n".join(short(line, 400) for line in lines), self.width)

    def done(self) -> Axes:
        """The axes. A figure of our own is sized so that the labels take nothing from them."""
        if self.own is not None:
            outer, inner = self.ax.get_tightbbox(), self.ax.get_window_extent()
            assert outer is not None
            wide = self.width + (outer.width - inner.width) / self.own.dpi
            high = self.height + (outer.height - inner.height) / self.own.dpi
            self.own.set_size_inches(wide + 0.2, high + 0.2)
        return self.ax


def page(ax: Axes | None, width: float, height: float, what: str) -> Page:
    """The axes given, or fresh ones in a figure that notebooks display."""
    try:
        import matplotlib.axes
    except ImportError:
        raise MissingExtraError(what, "matplotlib", "plot") from None
    if ax is None:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(width, height), layout="constrained")
        return Page(ax, width, height, figure)
    if not isinstance(ax, matplotlib.axes.Axes):
        raise InputError(f"ax is one matplotlib Axes, not {short(repr(ax), 80)}")
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    return Page(ax, box.width / dpi, box.height / dpi, None)


def fold(artist: Text, text: str, inches: float) -> None:
    """Give the artist a text, broken into lines of about that length, or a little less."""
    lines = []
    for line in text.split("\n"):
        artist.set_text(line)
        box, figure = artist.get_window_extent(), artist.get_figure()
        assert figure is not None
        length = max(box.width, box.height) / figure.dpi  # the y label stands upright
        fits = len(line) if length <= inches else int(0.95 * len(line) * inches / length)
        lines += textwrap.wrap(line, max(fits, 20)) or [""]
    artist.set_text("\n".join(lines))


def one(explanation: Any, what: str) -> Explanation:
    if not isinstance(explanation, Explanation):
        raise InputError(f"{what} draws one Explanation, not {short(repr(explanation), 80)}")
    return explanation


def unsure(interval: Array) -> list[bool]:
    """Which of the intervals, shape (n, 2), contain zero."""
    return [bool(low <= 0 <= high) for low, high in interval]


def meaning(explanations: Iterable[Explanation]) -> str:
    """What a score says. The instance is row 0: there a match is 1 and an offset 0."""
    found = set()
    for e in explanations:
        match = e.evidence.features[0] == 1
        step = "standard deviation" if np.isfinite(e.contrast).all() else "given scale"
        if match.all():
            found.add("what having this value adds to the answer")
        elif match.any():
            found.add(f"what having this value, or moving by one {step}, adds to the answer")
        else:
            found.add(f"change of the answer per {step}")
    return f"Score: {found.pop()}" if len(found) == 1 else "Score: coefficient in each local line"


def per_cent(level: float) -> str:
    return f"{100 * level:g}%"
