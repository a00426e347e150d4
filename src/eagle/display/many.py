"""Many explanations as tables and as a part of a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.targets import target_text
from eagle._questions.statements import held_out_r2
from eagle._values import packages
from eagle._values.arrays import Array
from eagle._values.checks import check_flags
from eagle._values.posterior import LEVEL, deviations
from eagle._values.text import finite, middle, short
from eagle._values.ties import places
from eagle.display import contributions, numbers
from eagle.display.numbers import plural
from eagle.display.sheet import UNNAMED, bars_of
from eagle.display.style import STYLE
from eagle.display.summary import Summary
from eagle.display.warnings import little_of_many
from eagle.errors import EagleError
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.io.container import writable

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS: Final = 5
"""At most this many rows are shown where nothing can be averaged."""


def explanations_frame(e: Explanations, level: float, wide: bool) -> pd.DataFrame:
    """A row for each row and feature; or the scores, a row for each row."""
    pd = packages.package("pandas", "to_frame", "frames")
    check_flags(wide=wide)
    index = pd.Index(list(e.ids), name="id", tupleize_cols=False)
    if wide:
        return pd.DataFrame(e.scores, index=index, columns=[writable(name) for name in e.names])
    if not e.alike:
        parts = [one.to_frame(level).assign(id=name) for name, one in zip(e.ids, e, strict=True)]
        out = pd.concat(parts, ignore_index=True)
        return out[["id", *[column for column in out if column != "id"]]]
    n, d = e.scores.shape
    low, high, std, sure = _columns(e, level)
    targets = [writable(target_text(target, e.difference)) for target in e.targets]
    odds = {} if e.link is None or not e.table.signed else {"odds": np.exp(e.scores).ravel()}
    return pd.DataFrame(
        {
            "id": np.repeat(np.asarray(index, dtype=object), d) if n else [],
            "feature": np.tile([writable(name) for name in e.names], n),
            "condition": [writable(one) for one in e.conditions.ravel().tolist()],
            "value": pd.Series(e.data.ravel(), dtype=object),
            "output": np.repeat(targets, d),
            "prediction": np.repeat(e.predictions, d),
            "score": e.scores.ravel(),
            "low": low.ravel(),
            "high": high.ravel(),
            "std": std.ravel(),
            "probability_sign": sure.ravel(),
            "rank": places(np.abs(e.scores)).ravel(),
            **odds,
        }
    )


def _columns(e: Explanations, level: float) -> tuple[Array, Array, Array, Array]:
    """Low, high, standard deviation and P(sign), shape (n, d) each; NaN where not known."""
    t, nothing = e.table, np.full(e.table.scores.shape, np.nan)
    if not t.kind and len(t):
        each = np.array([one.columns(level) for one in e])
        return each[:, 0], each[:, 1], each[:, 2], each[:, 3]
    interval, std = e.interval(level), deviations(np.nan_to_num(t.spread), t.df)
    sure = e.probability_sign() if t.signed and len(t) else nothing
    return interval[:, :, 0], interval[:, :, 1], std, sure


def to_shap(e: Explanations, level: float) -> Any:
    """A `shap.Explanation` of all rows: contributions that lead from each row's base value to its
    prediction."""
    t = e.table
    contributions.check(e.method, t.signed, t.contrast, t.prediction)
    shap = packages.shap("to_shap")
    given, base = contributions.parts(t.scores, t.contrast, t.prediction)
    low, high, std, _ = _columns(e, level)
    lower, upper = contributions.between(low, high, t.contrast)
    return shap.Explanation(
        given,
        base_values=base,
        data=_plain(t.data),
        feature_names=list(t.names),
        lower_bounds=lower,
        upper_bounds=upper,
        error_std=std * np.abs(t.contrast),
    )


def _plain(values: NDArray[np.object_]) -> NDArray[Any]:
    """Values as shap's plots sort them: numbers, NaN where missing; levels as texts."""
    numbers = [all(v is None or finite(v) for v in column) for column in values.T.tolist()]
    if all(numbers):
        return np.array(values, dtype=np.float64)
    out = values.copy()
    for k, is_number in enumerate(numbers):
        gap: Any = np.nan if is_number else "missing"
        out[:, k] = [
            gap if v is None else float(v) if is_number else str(v) for v in values[:, k].tolist()
        ]
    return out


# -- pages ---------------------------------------------------------------------------------------


def html(e: Explanations) -> str:
    """The summary as a page fragment without scripts; the first rows where there is none."""
    head = (
        f'<div class="eagle"><style>{STYLE}</style>'
        f'<div class="title">{escape(short(title(e), 200))}</div>'
    )
    try:
        _ = e.target, e.table
        body = Summary.of(e, LEVEL).html() + "".join(
            f'<div class="note">{escape(short(note, 400))}</div>' for note in e.notes
        )
    except EagleError as error:
        body = f'<div class="fact">{escape(short(str(error), 300))}</div>{_first(e)}'
    return f"{head}{body}</div>"


def notes(e: Explanations) -> tuple[str, ...]:
    """Sentences about what the scores leave open: of how many rows they explain little."""
    note = little_of_many(held_out_r2(e), e.difference is not None)
    return (note,) if note else ()


def title(e: Explanations) -> str:
    """What is explained, in words."""
    about = [target_text(target) for target in e.about]
    rows = plural(len(e), "row")
    if e.difference is not None:
        name = about[0] if len(about) == 1 else f"{len(about)} outputs"
        return f"{e.difference.question(name)} {rows} explained, in {e.difference.unit}"
    if about == [UNNAMED]:
        return f"{plural(len(e), 'prediction')} explained{_way(e)}"
    told = about[0] if len(about) == 1 else "their predicted classes"
    return f"{rows} explained about {told}{_way(e)}"


def _way(e: Explanations) -> str:
    return ": the share of each value in the distance from the average" if e.additive else ""


def _first(e: Explanations) -> str:
    """The first rows, a line each."""
    lines = [
        f"<tr><td>{escape(middle(str(name), 30))}</td>"
        f"<td>{escape(short(target_text(one.target), 30))}</td>"
        f'<td style="text-align:left">{escape(_strongest(one))}</td></tr>'
        for name, one in zip(e.ids[:MAX_ROWS], e[:MAX_ROWS], strict=True)
    ]
    more = len(e) - len(lines)
    rest = f'<div class="fact">… and {numbers.count(more)} more rows</div>' if more > 0 else ""
    return (
        "<table><thead><tr><th>row</th><th>about</th>"
        '<th style="text-align:left">strongest features</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>{rest}"
    )


def _strongest(one: Explanation) -> str:
    return ", ".join(f"{bar.short_label(30)} {bar.text}" for bar in bars_of(one)[:3])
