"""Sentences that a reader should know before trusting an explanation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from eagle._engine.lack_of_fit import MIN_HELD_OUT_R2, is_line
from eagle._engine.targets import answers_of
from eagle._values.arrays import Array
from eagle._values.posterior import ALL_MASKS
from eagle._values.subject import Image
from eagle._values.text import clean
from eagle.display import lack_of_fit, numbers
from eagle.explanation import Explanation
from eagle.surrogates.fit import columns_that_move, is_flat

POOR_FIT: Final = 1 / 3
"""The least R² without a warning, for a surrogate that is not a line."""


def notes(e: Explanation) -> tuple[str, ...]:
    """Sentences about what the scores leave open."""
    low = e.signed and e.r2_held_out < MIN_HELD_OUT_R2
    out = [little(e.r2_held_out, e.difference is not None)] if low else []
    return (*out, *_same_looks(e))


MIN_MOVE: Final = 0.1
"""If leaving segments out moves a probability by less than this, the fill may be the reason. On
photographs under ImageNet's networks it moves by .3 to .8, whatever the fill."""


def _same_looks(e: Explanation) -> Iterator[str]:
    """A segment that is off may look so much like itself that the model hardly notices."""
    if not isinstance(e.subject, Image) or not e.subject.fill or not lack_of_fit.probable(e):
        return
    y = answers_of(e.evidence.answers, e.outputs, e.target, e.link)
    moved = float(np.abs(y - y[0]).max())
    if len(y) > 1 and e.prediction > 2 * MIN_MOVE and moved < MIN_MOVE:
        other = "eagle.Images(fill=0)" if e.subject.fill.startswith("fill=") else "fill='mean'"
        yield (
            f"leaving segments out ({e.subject.fill}) moved the answer by "
            f"{numbers.number(moved, 2)} at most: what is off may look too much like what is on. "
            f"Another fill, such as {other}, may show more"
        )


def little(held_out: float, compared: bool) -> str:
    """What it means that a line explains so little of rows that it was not fitted to; `compared`
    are two models."""
    share = f"{numbers.percent(max(held_out, 0.0))}" if held_out >= 0.005 else "next to nothing"
    return (
        f"these scores explain {share} of how {_answers(compared)} near this input, checked on "
        f"rows that were held out: most of {_all_that(compared)} here is not in them, however sure "
        "each is"
    )


def _answers(compared: bool) -> str:
    return "the change of the answers varies" if compared else "the model's answers vary"


def _all_that(compared: bool) -> str:
    return "what changed" if compared else "what the model does"


def little_of_many(held_out: Array, compared: bool) -> str:
    """What the held-out R² of many explanations are, if any are low; "" otherwise."""
    known = held_out[np.isfinite(held_out)]
    low = int((known < MIN_HELD_OUT_R2).sum())
    if not low:
        return ""
    return (
        f"the scores of {numbers.count(low)} of {numbers.count(len(known))} rows explain less than "
        f"{numbers.percent(MIN_HELD_OUT_R2)} of how "
        f"{_answers(compared)} near that row (median of all rows: "
        f"{numbers.percent(float(np.median(known)))}): most of "
        f"{_all_that(compared)} there is not in them"
    )


def warnings(e: Explanation) -> tuple[str, ...]:
    """Sentences about the file, the subject, the rows, the fit, and what never changed."""
    told = [e.note, "" if e.subject is None else e.subject.note, _missing(e)]
    if e.surrogate is not None:
        told += [*_few(e), *_poor(e), *_unchanged_parts(e)]
    told += _clueless(e)
    return tuple(sentence for sentence in told if sentence)


MAX_ENTROPY_SHARE: Final = 0.6
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
    if -float(seen @ np.log(seen)) > MAX_ENTROPY_SHARE * np.log(len(answers)):
        yield (
            f"the model hardly prefers any of its {len(answers)} classes here (the likeliest has "
            f"{numbers.number(answers.max(), 2)}): are the pixels in the range and order that it "
            "was trained on? eagle.models.vision.Network has presets"
        )


def _missing(e: Explanation) -> str:
    asked, lost = e.cost.rows, e.cost.missing
    if not lost:
        return ""
    return (
        f"{lost} of {asked} rows got no answer and were left out: if what fails depends on what is "
        "asked, scores are those of the rows that do not fail"
    )


def _few(e: Explanation) -> Iterator[str]:
    rows, d = len(e.evidence.answers), len(e.names)
    kind = "" if e.posterior is None else e.posterior.kind
    if rows < 2 * (d + 1) and kind != ALL_MASKS:
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
    clipped = lack_of_fit.clipped_answers(e)
    if len(y) > 1 and is_flat(y):
        same = "the model gave the same answer"
        if e.difference is not None:
            same = "the two models' answers differed by the same"
        yield clipped or f"{same} everywhere near this input, so no feature matters here"
    elif not np.isfinite(held):
        what = "a line" if line else "the surrogate"
        yield f"too few rows were asked to tell whether {what} fits the model here"
    elif line:
        yield clipped
        yield lack_of_fit.rare(e) or lack_of_fit.warning(e)
    elif held < POOR_FIT:
        where = "on held-out rows it" if np.isfinite(e.r2_held_out) else "it"
        yield (
            f"the surrogate does not fit the model well here: {where} explains "
            f"{numbers.percent(max(held, 0))} "
            f"of the variation (weighted R² {numbers.share(held)})"
        )


def _unchanged_parts(e: Explanation) -> Iterator[str]:
    changed = columns_that_move(e.evidence.features)
    unchanged = [name for name, one in zip(e.names, changed, strict=True) if not one]
    if unchanged:
        listed = ", ".join(unchanged[:5]) + (" …" if len(unchanged) > 5 else "")
        yield clean(f"nothing could be learnt about features that never changed: {listed}")
