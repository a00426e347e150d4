"""How groups of rows differ."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from eagle._values.text import short
from eagle._values.ties import rank
from eagle.display import cell_bars
from eagle.display.numbers import Numbers, at_level, count, plural
from eagle.display.parts import Cell, Heading, name, paragraph, table, to_html
from eagle.display.scale import Scale
from eagle.explanations import Explanations
from eagle.plot.many import FeatureValues
from eagle.reports.provenance import ReportOptions

FEATURES: Final = 10
"""Number of features shown for each pair of groups."""

PAIRS: Final = 8
"""Number of pairs of groups that are shown."""


def section(e: Explanations, options: ReportOptions) -> str:
    """A table for each pair of groups, those that differ most first."""
    compared = e.compare_groups(options.groups, options.level)
    made_by = [name for j, name in enumerate(e.names) if _makes(e, j, options.groups)]
    if len(made_by) < len(e.names):
        compared = compared[~compared["feature"].isin(made_by)]
    pairs = list(compared.groupby(["group", "against"], sort=False))
    largest = np.array([float(rows["difference"].abs().max()) for _, rows in pairs])
    shown = [pairs[k] for k in rank(largest)[:PAIRS].tolist()]
    body = "".join(_pair(group, against, rows, options.level) for (group, against), rows in shown)
    left = len(pairs) - len(shown)
    more = paragraph(f"{left} more groups differ less.", "soft") if left else ""
    said = (
        "Difference of mean scores between groups of rows. Intervals hold for all differences at "
        "once; a hollow point says that the interval contains zero."
    )
    if made_by:
        listed = ", ".join(short(one, 60) for one in made_by[:MAX_NAMED])
        said += f" Left out, since the groups are made by it: {listed}."
    return paragraph(said, "soft") + body + more


MAX_NAMED: Final = 5
"""Number of features that are named as left out."""


def _makes(e: Explanations, j: int, groups: Any) -> bool:
    """Whether groups are made by the values of feature j: by its name, by its levels, or by ranges
    of its numbers. It would be found to differ most, whatever the model does."""
    if isinstance(groups, str):
        return bool(groups == e.names[j])
    if not isinstance(groups, list | np.ndarray) or len(groups) != len(e):
        return False
    values, labels = FeatureValues.of(e.data[:, j]), np.asarray(groups).astype(str)
    if values.levels is not None:
        return all(len(set(labels[values.codes == k])) == 1 for k in np.unique(values.codes))
    known = labels[~values.missing][np.argsort(values.numbers[~values.missing], kind="stable")]
    return int((known[1:] != known[:-1]).sum()) == len(set(known)) - 1


def _pair(group: Any, against: Any, rows: Any, level: float) -> str:
    value, low, high = (rows[c].to_numpy(dtype=float) for c in ("difference", "low", "high"))
    order = rank(np.abs(value))[:FEATURES].tolist()
    seen = [float(x[j]) for j in order for x in (value, low, high)]
    scale, digits = Scale.over(seen), Numbers.of(seen, low[order], high[order])
    names = rows["feature"].tolist()
    if "slope" in rows.columns:
        names = [step or name for step, name in zip(rows["slope"], names, strict=True)]
    cells = [
        _row(names[j], scale, digits, float(value[j]), float(low[j]), float(high[j])) for j in order
    ]
    heads = [
        Heading("Feature", "t"),
        Heading(cell_bars.axis(scale), "b", sorts=False),
        Heading("Difference"),
        Heading(f"{at_level(level)} interval"),
    ]
    first = rows.iloc[0]
    counts = f"{plural(int(first['rows']), 'row')} against {count(int(first['rows_against']))}"
    return (
        f"<h3>{name(group, 80)} against {name(against, 80)}</h3>"
        f"{table(heads, cells, 'Differences', 'bars one', counts)}"
    )


def _row(
    feature: str, scale: Scale, digits: Numbers, value: float, low: float, high: float
) -> list[Cell]:
    span = digits.span(low, high)
    told = f"{short(feature, 120)}: {digits.signed(value)}, {span}"
    return [
        Cell(name(feature, 200), kind="t"),
        Cell(cell_bars.point(scale, value, low, high, told), kind="b"),
        Cell(to_html(digits.signed(value)), value, heading="difference"),
        Cell(to_html(span), low, "n", "interval"),
    ]
