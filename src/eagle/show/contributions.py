"""Explanations as shap draws them: bars that add up from a mean prediction to the prediction.

A line has two ends of its own: where it starts, and what it says of the instance. Neither is a
prediction of the model. What lies between them and the model's own numbers has bars of its own.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.targets import answers_of
from eagle.types import Array, InputError, finite, told

STARTS: Final = "where the line starts"
"""The bar from the base to the line where no feature contributes."""

MISSED: Final = "what the line misses"
"""The bar from the line's value at the instance to the prediction."""

OWN: Final = (STARTS, MISSED)


def parts(scores: Array, contrast: Array, local: Array, prediction: Array, base: Array) -> Array:
    """The contributions of the features and the bars of `OWN`, shape (n, d + 2)."""
    given = scores * contrast
    start = local - given.sum(axis=1)
    return np.column_stack([given, start - base, prediction - local])


def ends(local: Array, bars: Array, base: Array) -> Array:
    """The values shown beside the bars of `OWN`, shape (n, 2): where the line starts, and what it
    misses."""
    return np.column_stack([base + bars[:, -2], bars[:, -1]])


def check(method: str, signed: bool, contrast: Array, prediction: Array) -> None:
    """Refuse scores that are no contributions, and an end that is not known."""
    if not signed:
        raise InputError(f"the scores of {method} have no sign: they add up to nothing")
    if not np.isfinite(contrast).all():
        raise InputError(
            "contributions need a background to start from, and this explanation was made "
            "from scales alone: read the scores as slopes instead"
        )
    if not np.isfinite(prediction).all():
        raise InputError(
            "contributions end at the prediction, which is not known of "
            f"{int((~np.isfinite(prediction)).sum()):,} of {len(prediction):,} rows: explain with "
            "the model, or give a survey their predictions=…"
        )


def base_of(e: Explanation, base: Any) -> float:
    """Where the bars of one explanation start: what is given, or the mean of its neighbourhood."""
    if base is not None:
        return _given(e, e.target, base)
    rows = e.evidence
    if len(rows.answers) < 2:
        raise InputError(
            "the rows that this explanation was fitted to were not kept, so their mean answer is "
            "not known: say where to start, as base=model.predict_proba(X) or base=0.5"
        )
    y = answers_of(rows.answers, e.outputs, e.target, e.link)
    counted = rows.weight > 0
    return float(np.average(y[counted], weights=rows.weight[counted]))


def bases_of(e: Explanations, base: Any) -> Array:
    """Where the bars of each row start: what is given, or the mean prediction of the rows."""
    if base is not None:
        known = {target: _given(e, target, base) for target in e.about}
    elif len(e.about) == 1:
        known = {e.target: float(e.predictions.mean())}
    else:
        answers = np.stack([one.evidence.answers[0] for one in e])
        known = {t: float(answers_of(answers, e.outputs, t, e.link).mean()) for t in e.about}
    bases = np.array([known[target] for target in e.targets])
    if not np.isfinite(bases).all():
        raise InputError(
            "these rows are explained about different outputs, and only one answer is known of "
            "each: say where to start, as base=model.predict_proba(X)"
        )
    return bases


def _given(e: Explanation | Explanations, target: Any, base: Any) -> float:
    """A number, or the mean of answers to a background about the target."""
    if finite(base):
        return float(base)
    try:
        answers = np.asarray(base, dtype=np.float64)
    except (TypeError, ValueError):
        answers = np.empty(0)
    if answers.ndim == 1 and len(e.outputs) == 1:
        answers = answers[:, None]
    fits = answers.ndim == 2 and len(answers) > 0 and answers.shape[1] == len(e.outputs)
    if not fits or not np.isfinite(answers).all():
        raise InputError(
            "base is a number, or the model's answers to the background, a row of "
            f"{len(e.outputs)} numbers each, not {told(base)}"
        )
    return float(answers_of(answers, e.outputs, target, e.link).mean())
