"""How groups of rows differ, as dots with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.text import middle, short_repr
from eagle._values.ties import rank
from eagle.display.numbers import plural
from eagle.errors import InputError
from eagle.plot.dots import dots, legend
from eagle.plot.drawing import plot_function
from eagle.plot.many import MISSING, label
from eagle.plot.page import WIDTH, page, tall

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS: Final = ("feature", "group", "against", "difference", "low", "high")
"""What the result of `Explanations.compare_groups` has, besides numbers of rows."""


def compare_groups(
    compared: pd.DataFrame, ax: Axes | None = None, *, max_display: int = 12, groups: int = 7
) -> Axes:
    """How the mean score differs between groups: for each a dot with its interval.

    `compared` is what `Explanations.compare_groups` gives. The `max_display` features that differ
    most, and the `groups` that differ most, are drawn; the others are counted. A dot is hollow
    where the interval contains zero.
    """
    grid = Differences.of(compared)
    max_display, groups = integer(max_display, "max_display", 1), integer(groups, "groups", 1)
    return _draw((*grid.features, *grid.groups, grid.against), grid, ax, max_display, groups)


@plot_function
def _draw(
    written: tuple[str, ...], grid: Differences, ax: Axes | None, max_display: int, groups: int
) -> Axes:
    """The plot. `written` is all that it may write."""
    names = rank(np.abs(grid.value).max(axis=0))
    kinds = rank(np.abs(grid.value).max(axis=1))[:groups]
    shown = names[:max_display]
    labels, more = [label(grid.features[j]) for j in shown], len(names) - len(shown)
    p = page(ax, WIDTH, tall(labels, max(0.27, 0.07 + 0.11 * len(kinds)), more), "compare_groups")
    for y in range(1, len(shown), 2):
        p.ax.axhspan(y - 0.5, y + 0.5, color=p.ink, alpha=0.05, linewidth=0)
    gap, hollow = min(0.24, 0.72 / len(kinds)), False
    for i, group in enumerate(kinds):
        rows = np.arange(len(shown), dtype=np.float64) + gap * (i - (len(kinds) - 1) / 2)
        interval = grid.interval[group, shown]
        doubt = (interval[:, 0] <= 0) & (interval[:, 1] >= 0)
        hollow |= bool(doubt.any())
        dots(p, i, rows, grid.value[group, shown], interval, doubt)
    p.rows(labels, more)
    p.title(grid.title)
    hint = "; hollow dots where it contains zero" if hollow else ""
    p.x_label("Difference of mean scores", f"Lines: intervals for all differences at once{hint}")
    if len(grid.groups) > 1:
        left = len(grid.groups) - len(kinds)
        legend(p, [grid.groups[k] for k in kinds], f"… and {left} more" if left else "")
    return p.finish()


@final
@dataclass(frozen=True, eq=False)
class Differences:
    """Differences with intervals: `value` of shape (groups, d), `interval` (groups, d, 2)."""

    features: tuple[str, ...]
    groups: tuple[str, ...]
    against: str
    value: Array
    interval: Array

    @classmethod
    def of(cls, compared: Any) -> Differences:
        """From what `Explanations.compare_groups` gives: a block of features for each group."""
        table = _check(compared)
        features = tuple(map(str, table["feature"].drop_duplicates()))
        shape = len(table) // len(features), len(features)
        if shape[0] * shape[1] != len(table):
            raise InputError("groups draws every feature of every group: give the whole table")
        first = table.iloc[:: len(features)]
        names = [_group_label(one, "group", "rows") for _, one in first.iterrows()]
        return cls(
            _labels(table, features),
            tuple(names),
            _group_label(table.iloc[0], "against", "rows_against"),
            table["difference"].to_numpy(float).reshape(shape),
            table[["low", "high"]].to_numpy(float).reshape(*shape, 2),
        )

    @property
    def title(self) -> str:
        if len(self.groups) == 1:
            return f"{self.groups[0]} less {self.against}"
        return f"{len(self.groups)} groups, each less all others"


def _labels(table: Any, features: tuple[str, ...]) -> tuple[str, ...]:
    """The features as they are shown: by what one step is, where scores are slopes."""
    steps = table["slope"][: len(features)] if "slope" in table.columns else [""] * len(features)
    return tuple(str(step) or name for step, name in zip(steps, features, strict=True))


def _check(compared: Any) -> Any:
    columns = list(getattr(compared, "columns", ()))
    if any(name not in columns for name in COLUMNS):
        raise InputError(
            "compare_groups draws what explanations.compare_groups(…) gives, not "
            f"{short_repr(compared)}"
        )
    if not len(compared):
        raise InputError("there are no groups to draw")
    return compared


def _group_label(one: Any, name: str, rows: str) -> str:
    """A group and its number of rows; missing values are a group, too."""
    text = MISSING if one[name] is None or one[name] != one[name] else str(one[name])
    return f"{middle(text, 24)} ({plural(int(one[rows]), 'row')})" if rows in one.index else text
