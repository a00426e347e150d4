"""Many explanations as tables and as a part of a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from eagle import packages
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.files.sealed import writable
from eagle.show import contributions
from eagle.show.sheet import signed_number
from eagle.show.style import STYLE
from eagle.statements import Means
from eagle.targets import target_text
from eagle.types import EagleError, MissingExtraError, finite, middle, short

if TYPE_CHECKING:
    import pandas as pd

SHOWN: Final = 12
"""At most this many features are shown."""

ROWS: Final = 5
"""At most this many rows are shown where nothing can be averaged."""


def explanations_frame(e: Explanations, level: float, wide: bool) -> pd.DataFrame:
    """A row for each row and feature; or the scores, a row for each row."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("to_frame", "pandas", "frames") from None
    index = pd.Index(list(e.ids), name="id", tupleize_cols=False)
    if wide:
        return pd.DataFrame(e.scores, index=index, columns=[writable(name) for name in e.names])
    if not e.alike:
        parts = [one.to_frame(level).assign(id=name) for name, one in zip(e.ids, e, strict=True)]
        out = pd.concat(parts, ignore_index=True)
        return out[["id", *[column for column in out if column != "id"]]]
    n, d = e.scores.shape
    interval = e.interval(level)
    targets = [writable(target_text(target)) for target in e.targets]
    return pd.DataFrame(
        {
            "id": np.repeat(np.asarray(index, dtype=object), d) if n else [],
            "feature": np.tile([writable(name) for name in e.names], n),
            "value": pd.Series(e.data.ravel(), dtype=object),
            "output": np.repeat(targets, d),
            "prediction": np.repeat(e.predictions, d),
            "score": e.scores.ravel(),
            "low": interval[:, :, 0].ravel(),
            "high": interval[:, :, 1].ravel(),
        }
    )


def to_shap(e: Explanations, level: float, base: Any) -> Any:
    """A `shap.Explanation` of all rows: bars from the base to each row's prediction."""
    t = e.table
    contributions.check(e.method, t.signed, t.contrast, t.prediction)
    shap = packages.shap("to_shap")
    start = contributions.bases_of(e, base)
    bars = contributions.parts(t.scores, t.contrast, t.local_prediction, t.prediction, start)
    low, high = np.moveaxis(e.interval(level), 2, 0) * t.contrast
    own = contributions.ends(t.local_prediction, bars, start)
    return shap.Explanation(
        bars,
        base_values=start,
        data=_plain(np.column_stack([t.data, own.astype(object)])),
        feature_names=[*t.names, *contributions.OWN],
        lower_bounds=np.column_stack([np.minimum(low, high), bars[:, -2:]]),
        upper_bounds=np.column_stack([np.maximum(low, high), bars[:, -2:]]),
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
        body = _bars(e, e.importance())
    except EagleError as error:
        body = f'<div class="fact">{escape(short(str(error), 300))}</div>{_first(e)}'
    return f"{head}{body}</div>"


def title(e: Explanations) -> str:
    """What is explained, in words."""
    about = [target_text(target) for target in e.about]
    told = about[0] if len(about) == 1 else "their predicted classes"
    return f"{len(e):,} row{'s' if len(e) != 1 else ''} explained about {told}"


def _first(e: Explanations) -> str:
    """The first rows, a line each."""
    lines = [
        f"<tr><td>{escape(middle(str(name), 30))}</td><td>{escape(short(one.target_name, 30))}</td>"
        f'<td style="text-align:left">{escape(_strongest(one))}</td></tr>'
        for name, one in zip(e.ids[:ROWS], e[:ROWS], strict=True)
    ]
    more = len(e) - len(lines)
    rest = f'<div class="fact">… and {more:,} more rows</div>' if more > 0 else ""
    return (
        "<table><thead><tr><th>row</th><th>about</th>"
        '<th style="text-align:left">strongest features</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>{rest}"
    )


def _strongest(one: Explanation) -> str:
    named = [(one.conditions[j], float(one.scores[j])) for j in one.order()[:3]]
    return ", ".join(f"{middle(name, 30)} {signed_number(score)}" for name, score in named)


def _bars(e: Explanations, means: Means) -> str:
    order = means.order()
    seen = means.high[order[:SHOWN]]
    reach = float(seen[np.isfinite(seen)].max(initial=means.value.max(initial=0.0)))
    scale = 100 / (reach or 1.0)
    up = np.maximum(e.scores, 0).mean(axis=0) if e.table.signed else means.value
    rows = "".join(_row(means, int(j), float(up[j]), scale) for j in order[:SHOWN])
    more = len(order) - SHOWN
    rest = f'<div class="fact">… and {more} more features</div>' if more > 0 else ""
    sides = "Blue: rows where the feature pushes up; orange: down. " if e.table.signed else ""
    return (
        "<table><thead><tr><th>feature</th><th>mean size of score</th><th></th>"
        f"<th>{100 * means.level:g}% interval</th></tr></thead><tbody>{rows}</tbody></table>{rest}"
        f'<div class="fact">{sides}The interval counts the error of the explanations, and that '
        "other rows could have been explained.</div>"
    )


def _row(means: Means, j: int, up: float, scale: float) -> str:
    value, low, high = (float(x[j]) for x in (means.value, means.low, means.high))
    bar = (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-hidden="true">'
        + _part(0.0, up * scale, 'y="2" height="6" style="fill:var(--up)"')
        + _part(up * scale, value * scale, 'y="2" height="6" style="fill:var(--down)"')
        + _part(low * scale, high * scale, 'y="4.4" height="1.2" fill="currentColor"')
        + "</svg>"
    )
    return (
        f"<tr><td>{escape(middle(means.names[j], 40))}</td><td>{value:.4g}</td>"
        f'<td class="plot">{bar}</td><td>{low:.3g} … {high:.3g}</td></tr>'
    )


def _part(start: float, end: float, look: str) -> str:
    """A part of a bar, within 0 and 100."""
    start, end = max(start, 0.0), min(end, 100.0)
    return f'<rect x="{start:.2f}" width="{max(end - start, 0.0):.2f}" {look}/>'
