"""In words, what a reader should know before trusting an explanation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from eagle.explanation import Explanation
from eagle.surrogate.fit import is_flat, moved
from eagle.targets import answers_of
from eagle.types import clean

POOR_FIT: Final = 1 / 3


def warnings(e: Explanation) -> tuple[str, ...]:
    """Sentences about the file, the subject, the rows, the fit, and what never changed."""
    told = [e.note, "" if e.subject is None else e.subject.note]
    if e.surrogate is not None:
        told += [*_few(e), *_poor(e), *_still(e)]
    return tuple(sentence for sentence in told if sentence)


def _few(e: Explanation) -> Iterator[str]:
    rows, d = len(e.evidence.answers), len(e.names)
    if rows < 2 * (d + 1):
        what = "scores are unsteady" if e.posterior is None else "intervals may be too narrow"
        yield (
            f"{rows} row{'s are' if rows > 1 else ' is'} few for {d} "
            f"feature{'s' if d > 1 else ''}: {what}; a larger budget helps, if "
            "there is more to ask"
        )


def _poor(e: Explanation) -> Iterator[str]:
    held = e.r2_held_out if np.isfinite(e.r2_held_out) else e.r2
    line = "a line" if e.signed else "the surrogate"
    y = answers_of(e.evidence.answers, e.outputs, e.target)
    if len(y) > 1 and is_flat(y):
        yield (
            "the model gave the same answer everywhere near this input, so no feature matters here"
        )
    elif not np.isfinite(held):
        yield f"too few rows were asked to tell whether {line} fits the model here"
    elif held < POOR_FIT:
        where = "on held-out rows it" if np.isfinite(e.r2_held_out) else "it"
        tilt = ". The scores give the average tilt" if e.signed else ""
        sure = tilt and e.posterior is not None
        curved = "; their intervals do not speak of the curvature" if sure else ""
        yield (
            f"{line} does not fit the model well here: {where} explains {max(held, 0):.0%} "
            f"of the variation (weighted R² {held:.2f}){tilt}{curved}"
        )


def _still(e: Explanation) -> Iterator[str]:
    changed = moved(e.evidence.features)
    still = [name for name, one in zip(e.names, changed, strict=True) if not one]
    if still:
        listed = ", ".join(still[:5]) + (" …" if len(still) > 5 else "")
        yield clean(f"nothing could be learnt about what never changed: {listed}")
