"""Sentences that a reader should know before trusting an explanation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from eagle.explanation import Explanation
from eagle.misfit import is_line
from eagle.show import misfit
from eagle.subject import Image
from eagle.surrogate.fit import is_flat, moved
from eagle.targets import answers_of
from eagle.types import clean

POOR_FIT: Final = 1 / 3
"""The least R² without a warning, for a surrogate that is not a line."""


def warnings(e: Explanation) -> tuple[str, ...]:
    """Sentences about the file, the subject, the rows, the fit, and what never changed."""
    told = [e.note, "" if e.subject is None else e.subject.note, _missing(e)]
    if e.surrogate is not None:
        told += [*_few(e), *_poor(e), *_still(e)]
    told += _clueless(e)
    return tuple(sentence for sentence in told if sentence)


CLUELESS: Final = 0.6
"""Warn above this share of the maximum entropy. Correct inputs had at most .35 (40 photographs, two
networks), a wrong pixel range .75 to .95 (pixels from 0 to 1, where the mean is 127)."""


def _clueless(e: Explanation) -> Iterator[str]:
    """A model that prefers no class of an image has perhaps been given it in another form."""
    answers = e.evidence.answers[0]
    if not isinstance(e.subject, Image) or e.task != "classification" or len(answers) < 10:
        return
    if answers.min() < 0:  # decision values
        return
    seen = answers[answers > 0]
    if -float(seen @ np.log(seen)) > CLUELESS * np.log(len(answers)):
        yield (
            f"the model hardly prefers any of its {len(answers)} classes here (the likeliest has "
            f"{answers.max():.2g}): are the pixels in the range and order that it was trained on? "
            "eagle.models.vision.Network has presets"
        )


def _missing(e: Explanation) -> str:
    asked, lost = e.bill.rows, e.bill.missing
    if not lost:
        return ""
    return (
        f"{lost} of {asked} rows got no answer and were left out: if what fails depends on what is "
        "asked, scores are those of the rows that do not fail"
    )


def _few(e: Explanation) -> Iterator[str]:
    rows, d = len(e.evidence.answers), len(e.names)
    kind = "" if e.posterior is None else e.posterior.kind
    if rows < 2 * (d + 1) and kind != "exact":
        what = "scores are unsteady"
        if kind not in ("", "held out"):  # held-out intervals hold
            what = "intervals may be too narrow"
        yield (
            f"{rows} row{'s are' if rows > 1 else ' is'} few for {d} "
            f"feature{'s' if d > 1 else ''}: {what}; a larger budget helps, if "
            "there is more to ask"
        )


def _poor(e: Explanation) -> Iterator[str]:
    held = e.r2_held_out if np.isfinite(e.r2_held_out) else e.r2
    y = answers_of(e.evidence.answers, e.outputs, e.target, e.link)
    line = is_line(e)
    clipped = misfit.clipped(e)
    if len(y) > 1 and is_flat(y):
        yield clipped or (
            "the model gave the same answer everywhere near this input, so no feature matters here"
        )
    elif not np.isfinite(held):
        what = "a line" if line else "the surrogate"
        yield f"too few rows were asked to tell whether {what} fits the model here"
    elif line:
        yield clipped
        yield misfit.rare(e) or misfit.warning(e)
    elif held < POOR_FIT:
        where = "on held-out rows it" if np.isfinite(e.r2_held_out) else "it"
        yield (
            f"the surrogate does not fit the model well here: {where} explains {max(held, 0):.0%} "
            f"of the variation (weighted R² {held:.2f})"
        )


def _still(e: Explanation) -> Iterator[str]:
    changed = moved(e.evidence.features)
    still = [name for name, one in zip(e.names, changed, strict=True) if not one]
    if still:
        listed = ", ".join(still[:5]) + (" …" if len(still) > 5 else "")
        yield clean(f"nothing could be learnt about features that never changed: {listed}")
