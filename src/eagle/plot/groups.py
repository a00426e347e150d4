"""How groups of rows differ, as dots with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from eagle.plot.dots import dots, legend
from eagle.plot.fonts import cautions, legible
from eagle.plot.many import MISSING, label
from eagle.plot.page import WIDTH, page, tall
from eagle.ties import ranked
from eagle.types import Array, InputError, integer, middle, short

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS: Final = ("feature", "group", "against", "difference", "low", "high")
"""What the result of `Explanations.compare` has, besides numbers of rows."""


def cohorts(
    compared: pd.DataFrame, ax: Axes | None = None, *, most: int = 12, groups: int = 7
) -> Axes:
    """How the mean score differs between groups: for each a dot with its interval.

    `compared` is what `Explanations.compare` gives. The `most` features that differ most, and the
    `groups` that differ most, are drawn; the others are counted. A dot is hollow where the
    interval contains zero.
    """
    grid = Differences.of(compared)
    most, groups = integer(most, "most", 1), integer(groups, "groups", 1)
    return _drawn((*grid.features, *grid.groups, grid.against), grid, ax, most, groups)


@legible
def _drawn(
    written: tuple[str, ...], grid: Differences, ax: Axes | None, most: int, groups: int
) -> Axes:
    """The plot. `written` is all that it may write."""
    names = ranked(np.abs(grid.value).max(axis=0))
    kinds = ranked(np.abs(grid.value).max(axis=1))[:groups]
    shown = names[:most]
    labels, more = [label(grid.features[j]) for j in shown], len(names) - len(shown)
    p = page(ax, WIDTH, tall(labels, max(0.27, 0.07 + 0.11 * len(kinds)), more), "cohorts")
    for y in range(1, len(shown), 2):
        p.ax.axhspan(y - 0.5, y + 0.5, color=p.ink, alpha=0.05, linewidth=0)
    gap, hollow = min(0.24, 0.72 / len(kinds)), False
    for i, group in enumerate(kinds):
        rows = np.arange(len(shown), dtype=np.float64) + gap * (i - (len(kinds) - 1) / 2)
        hollow |= dots(p, i, rows, grid.value[group, shown], grid.interval[group, shown])
    p.rows(labels, more)
    p.title(grid.title)
    hint = "; hollow dots where it contains zero" if hollow else ""
    p.x_label("Difference of mean scores", f"Lines: intervals for all differences at once{hint}")
    if len(grid.groups) > 1:
        left = len(grid.groups) - len(kinds)
        legend(p, [grid.groups[k] for k in kinds], f"… and {left} more" if left else "")
    if notes := cautions(()):
        p.note(notes)
    return p.done()


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
        """From the table that `Explanations.compare` gives, a block of features for each group."""
        table = _checked(compared)
        features = tuple(map(str, table["feature"].drop_duplicates()))
        shape = len(table) // len(features), len(features)
        if shape[0] * shape[1] != len(table):
            raise InputError("cohorts draws every feature of every group: give the whole table")
        first = table.iloc[:: len(features)]
        names = [_named(one, "group", "rows") for _, one in first.iterrows()]
        return cls(
            features,
            tuple(names),
            _named(table.iloc[0], "against", "rows_against"),
            table["difference"].to_numpy(float).reshape(shape),
            table[["low", "high"]].to_numpy(float).reshape(*shape, 2),
        )

    @property
    def title(self) -> str:
        if len(self.groups) == 1:
            return f"{self.groups[0]} less {self.against}"
        return f"{len(self.groups)} groups, each less all others"


def _checked(compared: Any) -> Any:
    columns = list(getattr(compared, "columns", ()))
    if any(name not in columns for name in COLUMNS):
        raise InputError(
            "cohorts draws what explanations.compare(…) gives, not "
            f"{short(' '.join(repr(compared).split()), 80)}"
        )
    if not len(compared):
        raise InputError("there are no groups to draw")
    return compared


def _named(one: Any, name: str, rows: str) -> str:
    """A group and its number of rows; missing values are a group, too."""
    text = MISSING if one[name] is None or one[name] != one[name] else str(one[name])
    return f"{middle(text, 24)} ({int(one[rows]):,} rows)" if rows in one.index else text
