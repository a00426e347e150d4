"""The content that is shown of a comparison: tables of text, headings first."""

from __future__ import annotations

from typing import Final

import numpy as np

from eagle._values.text import middle, short
from eagle.comparison import Comparison
from eagle.display import numbers
from eagle.display.numbers import Numbers
from eagle.display.sheet import numbers_of
from eagle.explanation import Explanation

MAX_FEATURES: Final = 12
"""At most this many features are printed."""


def title(c: Comparison) -> str:
    """What is explained, as a question."""
    return short(c.methods[0].first.title, 200)


def notes(c: Comparison) -> list[str]:
    """Sentences that explain the tables."""
    runs = len(c.methods[0].runs)
    seeds = f" over {runs} runs with seeds of their own" if runs > 1 else ""
    out = [
        f"Stability: mean overlap of the {c.k} strongest features{seeds}; features drawn "
        f"at random would have {numbers.share(c.chance)}."
    ]
    if c.converged is None:
        out.append(
            "A stable explanation may be wrong: converged=20000 adds the agreement with LIME's "
            "explanation from that many rows."
        )
    else:
        rows = c.converged.cost.rows
        out.append(
            f"Agreement: the same overlap with LIME's explanation from {numbers.count(rows)} rows."
        )
    unsigned = [m.method for m in c.methods if not m.first.signed]
    if unsigned:
        listed = short(", ".join(unsigned), 200)
        out.append(f"Without sign, only how much a feature matters: {listed}.")
    slopes = [m.method for m in c.methods if any(m.first.slopes)]
    if 0 < len(slopes) < len(c.methods):
        listed = short(", ".join(slopes), 200)
        out.append(f"Slopes, the change of the answer per step of a number: scores of {listed}.")
    out.append(
        "Scores of the first run, ± half the 95% interval where there is one; units differ "
        "between methods."
    )
    return out


def costs(c: Comparison) -> list[list[str]]:
    """One row a method: what it cost, and how stable it is."""
    head = ["method", "rows", "calls", "seconds", "stability", "chance"]
    head += [] if c.converged is None else ["agreement"]
    rows = [head]
    for m in c.methods:
        row = [short(m.method, 60), numbers.count(m.rows), numbers.count(m.calls)]
        row += [f"{m.seconds:.3f}", numbers.share(m.stability), numbers.share(c.chance)]
        rows.append(row + ([] if c.converged is None else [numbers.share(m.agreement)]))
    return rows


def scores(c: Comparison) -> list[list[str]]:
    """One row a feature: the score of each method's first run."""
    order = c.order()
    rows = [["feature", *[short(m.method, 22) for m in c.methods]]]
    each = [(m.first, numbers_of(m.first)) for m in c.methods]
    for j in order[:MAX_FEATURES]:
        rows.append([middle(c.labels[j], 40), *[_cell(*one, j) for one in each]])
    if len(order) > MAX_FEATURES:
        rows.append([f"… and {len(order) - MAX_FEATURES} more", *[""] * len(c.methods)])
    return rows


def _cell(e: Explanation, written: Numbers, j: int) -> str:
    low, high = e.interval_or_nan()[j]
    half = "" if np.isnan(low) else f" ± {written.plain((high - low) / 2)}"
    return f"{written.signed(float(e.scores[j]))}{half}"
