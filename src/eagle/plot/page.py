"""What all plots share: their axes, literal text, colours, and the meaning of a score."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import elements
from eagle._values.packages import package
from eagle._values.posterior import Bounds
from eagle._values.text import short, short_repr
from eagle.display.colours import DOWN, GREY, LEVELS, LEVELS_ON_DARK, UP
from eagle.display.numbers import Numbers, at_level
from eagle.display.sheet import cut_label
from eagle.errors import InputError
from eagle.explanation import Explanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

WIDTH: Final = 4.6
"""The width, in inches, of the area between the spines of a figure of our own."""

PAD: Final = 0.1
"""The margin, in inches, around it and all that is written beside it."""

LABEL: Final = 44
"""A line of a feature's label has at most this many characters."""

MORE_LINE_INCHES: Final = 0.27
"""The height, in inches, of the line that counts the features not shown."""

MARGIN_INCHES: Final = 1.6
"""The height, in inches, of what is written above and below bars."""

MIN_FONT_POINTS: Final = 5.0
"""No label of a row is written smaller, in points, however many rows there are."""

MIN_LINE_CHARACTERS: Final = 20
"""Lines are never folded to fewer characters, however small the axes are."""

SOFT_OPACITY: Final = 0.7
"""The opacity of less important text."""

PLAIN_TEXT: Final[dict[str, Any]] = {"parse_math": False, "usetex": False}
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
        """The number of different colours."""
        return len(LEVELS) + 1

    def colour(self, i: int) -> Any:
        return (*(LEVELS_ON_DARK if is_dark(self.ax) else LEVELS), self.ink)[i % self.colours]

    def with_height(self, height: float) -> Page:
        """The page, this high if its figure is its own."""
        if self.own is None:
            return self
        # Labels are measured while the axes have their final size.
        share = self.ax.get_position()
        self.own.set_size_inches(self.width / share.width, height / share.height)
        return replace(self, height=height)

    @property
    def small_size(self) -> float:
        """The size of small print, in points."""
        from matplotlib.font_manager import FontProperties

        return float(FontProperties(size="small").get_size_in_points())

    @property
    def label_size(self) -> float:
        """The size of the labels of rows, in points."""
        sizes = [float(t.get_fontsize()) for t in self.ax.get_yticklabels()]
        return max(sizes, default=self.small_size)

    @property
    def cell(self) -> tuple[float, float] | None:
        """Width and height of what a layout engine shares out to these axes, in inches.

        None if they are a figure's own, or if nothing lays them out.
        """
        return None if self.own is not None else layout_size(self.ax)

    @property
    def headroom(self) -> float:
        """How much may be written above the axes, in inches: a layout engine makes room."""
        if self.own is not None or self.cell is not None:
            return np.inf
        figure = self.ax.figure
        return float(figure.bbox.y1 - self.ax.get_window_extent().y1) / figure.dpi

    def fit_to_layout(self) -> Page:
        """The page as wide as a layout engine will leave it beside the labels of its rows."""
        if self.cell is None:
            return self
        labels = max((t.get_window_extent().width for t in self.ax.get_yticklabels()), default=0.0)
        return replace(self, width=max(self.cell[0] - labels / self.ax.figure.dpi - 5 * PAD, 0.8))

    def title(self, text: str, above: float = 0.0) -> None:
        """Write the title, `above` points above the axes."""
        from matplotlib import rcParams

        artist = self.ax.set_title(
            "",
            loc="left",
            fontsize="medium",
            weight="bold",
            pad=rcParams["axes.titlepad"] + above,
            **PLAIN_TEXT,
        )
        fold(artist, short(text, 160), self.width)

    def x_label(self, *lines: str) -> None:
        artist = self.ax.set_xlabel(
            "", fontsize="small", labelpad=5, linespacing=1.35, **PLAIN_TEXT
        )
        fold(artist, "\n".join(lines), self.width)
        self.small_ticks("x")
        self.ax.locator_params(axis="x", nbins=min(7, max(3, int(1.5 * self.width))))

    def small_ticks(self, axis: Literal["x", "y"]) -> None:
        self.ax.tick_params(axis=axis, labelsize="small")
        plain_ticks(self.ax.xaxis if axis == "x" else self.ax.yaxis)

    def rows(self, labels: Sequence[str], more: int = 0, *, zero: bool = True) -> None:
        """Name the rows 0, 1, … from the top; a last line counts those not shown. A line stands at
        `zero`."""
        ax, last = self.ax, len(labels) - 0.5
        ax.set_yticks(
            range(len(labels)), labels, fontsize=self._fitting(labels, more), **PLAIN_TEXT
        )
        if more:
            half = min(
                0.5,
                0.5
                * MORE_LINE_INCHES
                * len(labels)
                / max(self.height - MORE_LINE_INCHES, MORE_LINE_INCHES),
            )
            ax.set_yticks([last + half], minor=True)
            counted = f"… and {more} more feature{'s' if more > 1 else ''}"
            ax.set_yticklabels(
                [counted], minor=True, style="italic", alpha=SOFT_OPACITY, **PLAIN_TEXT
            )
            ax.tick_params(axis="y", which="minor", labelsize=self._fitting(labels, more))
            last += 2 * half
        ax.set_ylim(last, -0.5)
        ax.tick_params(axis="y", which="both", length=0)
        ax.spines[["left", "top", "right"]].set_visible(False)
        if zero:
            ax.axvline(0, color=self.ink, linewidth=0.8, zorder=1.5)
        ax.grid(axis="x", color=self.ink, alpha=0.12, linewidth=0.6)
        ax.set_axisbelow(True)

    def _fitting(self, labels: Sequence[str], more: int) -> Any:
        """The size of labels at which their rows do not overlap: the style's own, or less."""
        from matplotlib import rcParams
        from matplotlib.font_manager import FontProperties

        usual = rcParams["ytick.labelsize"]
        if self.own is not None or not labels:
            return usual
        lines = 1.25 * max(label.count("\n") + 1 for label in labels) * (len(labels) + bool(more))
        height = self.height if self.cell is None else max(self.cell[1] - MARGIN_INCHES, 0.1)
        size = FontProperties(size=usual).get_size_in_points()
        return min(size, max(72 * height / lines, MIN_FONT_POINTS))

    def note(self, lines: Iterable[str]) -> None:
        """Small print below the x label, each line folded to the width of the axes."""
        below = ("axes fraction", self.ax.xaxis.label)
        text = self.ax.annotate(
            "",
            (0, 0),
            xytext=(0, -6),
            xycoords=below,
            textcoords="offset points",
            va="top",
            fontsize="small",
            alpha=SOFT_OPACITY,
            linespacing=1.35,
            annotation_clip=False,
            **PLAIN_TEXT,
        )
        fold(text, "\n".join(short(line, 400) for line in lines), self.width)

    def finish(self) -> Axes:
        """The axes. A figure of our own grows with its labels, so that the axes keep their size."""
        if self.own is not None:
            outer, inner = self.ax.get_tightbbox(), self.ax.get_window_extent()
            assert outer is not None
            wide = self.width + (outer.width - inner.width) / self.own.dpi
            high = self.height + (outer.height - inner.height) / self.own.dpi
            self.own.set_size_inches(wide + 2 * PAD, high + 2 * PAD)
        return self.ax


def ground(ax: Axes) -> Array:
    """The colour behind what is drawn, shape (3,)."""
    from matplotlib.colors import to_rgba

    behind = to_rgba(ax.get_facecolor())
    if behind[3] == 0:
        behind = to_rgba(ax.figure.get_facecolor())
    return np.array(behind[:3] if behind[3] else (1.0, 1.0, 1.0))


def is_dark(ax: Axes) -> bool:
    return bool(ground(ax) @ [0.299, 0.587, 0.114] < 0.5)


def plain_ticks(axis: Any, values: bool = False) -> None:
    """Write the numbers of an axis as all numbers are: thousands separated, no offset beside it.
    A row's own `values` have no separators: years are such numbers."""
    from matplotlib.ticker import FuncFormatter

    def text(value: float, _: int | None) -> str:
        ticks = [float(tick) for tick in axis.get_majorticklocs()]
        largest = max((abs(tick) for tick in ticks), default=0.0)
        written = Numbers.of_ticks(ticks).tick(0.0 if abs(value) < 1e-9 * largest else value)
        return written.replace(",", "") if values else written

    axis.set_major_formatter(FuncFormatter(text))


def page(ax: Axes | None, width: float, height: float, what: str) -> Page:
    """The axes given, or fresh ones in a figure that notebooks display."""
    package("matplotlib.axes", what, "plot")
    import matplotlib.axes

    if ax is None:
        import matplotlib.pyplot as plt
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        layout = ConstrainedLayoutEngine(w_pad=PAD, h_pad=PAD)
        figure, ax = plt.subplots(layout=layout)
        return Page(ax, width, height, figure).with_height(height)
    if not isinstance(ax, matplotlib.axes.Axes):
        raise InputError(f"ax is one matplotlib Axes, not {short_repr(ax)}")
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    return Page(ax, box.width / dpi, box.height / dpi, None)


def several_axes(axes: Any, count: int, what: str) -> NDArray[np.object_]:
    """The axes that a figure is drawn on: `count` of them or more."""
    import matplotlib.axes

    given = axes.ravel().tolist() if isinstance(axes, np.ndarray) else axes
    listed = [given] if isinstance(given, matplotlib.axes.Axes) else elements(given, "axes")
    if len(listed) < count or not all(isinstance(ax, matplotlib.axes.Axes) for ax in listed):
        raise InputError(f"{what} draws on {count} matplotlib Axes, not on {short_repr(axes)}")
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


def layout_size(ax: Axes) -> tuple[float, float] | None:
    """Width and height of the part of a figure that a layout engine has for these axes."""
    spec, figure = ax.get_subplotspec(), ax.figure
    if spec is None or figure.get_layout_engine() is None:
        return None
    grid = spec.get_gridspec()
    width, height = figure.bbox.width / figure.dpi, figure.bbox.height / figure.dpi
    return width * len(spec.colspan) / grid.ncols, height * len(spec.rowspan) / grid.nrows


def inches_for_bars(ax: Axes) -> tuple[float, float]:
    """Width and height that bars have in axes that were given, in inches, about."""
    cell, box, dpi = layout_size(ax), ax.get_window_extent(), ax.figure.dpi
    if cell is None:
        return box.width / dpi, box.height / dpi
    return 0.8 * cell[0], max(cell[1] - MARGIN_INCHES, 0.1)


def wrap_labels(
    labels: Iterable[str], p: Page | None = None, names: Sequence[str] = ()
) -> list[str]:
    """Labels of rows: long ones take two lines, and of longer ones the middle is left out.

    It is left out of the feature's name, if `names` say which it is: the condition stays. In axes
    that were given, labels take about half of the width, and one line each where there is no room
    for two.
    """
    wide, lines = LABEL, 2
    if p is not None and p.own is None:
        width, height = inches_for_bars(p.ax)
        wide = max(MIN_LINE_CHARACTERS, min(LABEL, int(8 * width)))
        lines = 2 if (len(names) + 1) * 0.34 <= height else 1
    named = list(labels)
    known = names or [""] * len(named)
    return [
        "\n".join(_wrap_label(label, name, wide, lines))
        for label, name in zip(named, known, strict=True)
    ]


def _wrap_label(label: str, name: str, wide: int, most: int) -> list[str]:
    """A label in at most `most` lines: as much of it as fits."""
    for size in range(most * wide, wide, -4):
        lines = textwrap.wrap(cut_label(label, name, size), wide)
        if len(lines) <= most:
            return lines
    return [cut_label(label, name, wide)]


def tall(labels: Sequence[str], row: float, more: int) -> float:
    """The height, in inches, of rows of `row` each, and of the line that counts the others."""
    row = max(row, 0.37) if any("\n" in label for label in labels) else row
    return max(row * len(labels), 0.4) + (MORE_LINE_INCHES if more else 0)


def fold(artist: Text, text: str, inches: float) -> None:
    """Give the artist a text, broken into lines of at most this many inches."""
    figure = artist.get_figure()
    assert figure is not None
    folded = []
    for line in text.split("\n"):
        artist.set_text(line)
        size, parts = len(line), [line]
        while (
            size > MIN_LINE_CHARACTERS
            and (length := artist.get_window_extent().width / figure.dpi) > inches
        ):
            size = max(MIN_LINE_CHARACTERS, min(size - 1, int(size * inches / length)))
            parts = textwrap.wrap(line, size)
            artist.set_text("\n".join(parts))
        folded += parts
    artist.set_text("\n".join(folded))


def cautions(explanations: Iterable[Explanation]) -> list[str]:
    """The notes and warnings that a plot of scores must carry, each once."""
    every = list(explanations)
    notes = [f"Note: {note}" for e in every for note in e.notes]
    return list(dict.fromkeys([*notes, *(f"Warning: {w}" for e in every for w in e.warnings)]))


def below(own: Figure | None, ax: Axes, lines: Sequence[str]) -> None:
    """Small print below the panels, or below the first of those given."""
    style: dict[str, Any] = {
        "fontsize": "small",
        "alpha": SOFT_OPACITY,
        "linespacing": 1.35,
        **PLAIN_TEXT,
    }
    if not lines:
        return
    if own is None:
        box = ax.get_window_extent()
        inches = (ax.figure.bbox.x1 - box.x0) / ax.figure.dpi - 0.1
        beside = ax.annotate(
            "", (0, 0), (0, -4), "axes fraction", "offset points", va="top", **style
        )
        fold(beside, "\n".join(short(line, 400) for line in lines), inches)
        return
    under = own.supxlabel("", x=0.01, ha="left", **style)
    fold(under, "\n".join(short(line, 400) for line in lines), own.get_figwidth() - 0.2)
    own.set_figheight(own.get_figheight() + 0.18 * (under.get_text().count("\n") + 1))


def one(explanation: Any, what: str) -> Explanation:
    if not isinstance(explanation, Explanation):
        raise InputError(f"{what} draws one Explanation, not {short_repr(explanation)}")
    return explanation


def sides(e: Explanation, scores: Array) -> list[str]:
    """A colour for each score, by its sign; grey if scores have none."""
    return [(UP if score > 0 else DOWN) if e.signed else GREY for score in scores]


def pale(colour: str) -> tuple[float, float, float, float]:
    """The colour, nearly transparent."""
    from matplotlib.colors import to_rgba

    return to_rgba(colour, 0.25)


def meaning(explanations: Iterable[Explanation]) -> str:
    """What a score means. Row 0 is the instance, where a match is 1 and an offset is 0."""
    meanings = set()
    for e in explanations:
        if not e.signed:
            meanings.add("how much the feature matters, not which way it pushes")
            continue
        if e.additive:
            what = "answer" if e.link is None else "log-odds"
            what = what if e.difference is None else e.difference.change
            meanings.add(f"its share of the distance from the average {what}")
            continue
        if e.difference is not None:
            meanings.add(f"what having this value adds to the {e.difference.change}")
            continue
        if e.surrogate is None:
            meanings.add(f"as {short(e.method, 60)} defines it")
            continue
        match = e.evidence.features[0] == 1
        step = "standard deviation" if np.isfinite(e.contrast).all() else "given scale"
        answer = "answer" if e.link is None else "log-odds"
        if match.all():
            meanings.add(f"what having this value adds to the {answer}")
        elif match.any():
            meanings.add(f"what having this value, or one more {step}, adds")
        else:
            meanings.add(f"change of the {answer} per {step}")
    if len(meanings) > 1:
        return "Score: as each method defines it; the units differ"
    return f"Score: {meanings.pop()}"


def whiskers(explanations: Iterable[Explanation], level: float, what: str, hint: str) -> list[str]:
    """The line that says what the drawn intervals are; no line if there are none."""
    known = [e.posterior for e in explanations if e.posterior is not None]
    if any(isinstance(posterior, Bounds) for posterior in known):
        return [f"{what}: intervals as the methods give them{hint}"]
    return [f"{what}: {at_level(level)} interval{hint}"] if known else []
