"""Sentences about what a line misses: a warning if it is likely to mislead, otherwise a fact.

The rules were chosen on some tables and measured on others: `python -m evaluation bench warnings`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from eagle.explanation import Explanation
from eagle.misfit import Misfit, is_line
from eagle.targets import answers_of, bounds_of
from eagle.types import clean, short

BINNED: Final = 0.33
MOVED: Final = 0.4
"""Single scores are likely to mislead above this doubt: in the binned view, and otherwise."""

FAR: Final = 1.5
"""A row is unlike its neighbourhood if the line errs by more standard deviations than this."""

FITS: Final = 0.55
GOOD: Final = 0.67
"""No sentence is given if the line's share is above `FITS`, or its held-out R² above `GOOD`: too
little is left to doubt its scores."""

ENDS: Final = (0.05, 0.95)
"""Probabilities nearer to 0 or 1 than this are near an end."""


def warning(e: Explanation) -> str:
    """What is likely to mislead, and what to do; "" if single scores can be trusted."""
    m = None if fits(e) else e.misfit
    if m is None or not misleads(m):
        return ""
    if m.pair is None:
        told = f"the line misses much here: {_shares(m, 'it')}"
    else:
        told = f"features act together here: {_shares(m)}"
    if m.far > FAR:
        told += (
            f"; the line says {says(e)} of this row, the model {e.prediction:.4g}: it is unlike "
            "its neighbourhood"
        )
    return clean(f"{told}. Single scores may mislead: {_remedy(e, m)}")


def fits(e: Explanation) -> bool:
    """Whether the R² shows that a line fits, so that the misfit need not be computed."""
    exact = e.posterior is not None and e.posterior.kind == "exact"
    return e.r2_held_out > GOOD or (exact and e.r2 > GOOD)  # NaN is not good


def misleads(m: Misfit) -> bool:
    """Whether single scores are likely to mislead."""
    return m.known and m.doubt > (BINNED if m.binned else MOVED)


def fact(e: Explanation) -> str:
    """What the line misses, where that is no reason to doubt its scores."""
    m = None if fits(e) else e.misfit
    if m is None or m.line > FITS or misleads(m):
        return ""
    if not m.known:
        return "What the line misses is not known" if np.isfinite(e.r2) else ""
    return f"Locally {_shares(m)}{'. ' + VIEW if m.binned else ''}"


VIEW: Final = 'view="continuous" shows the effect of this position'


def _shares(m: Misfit, what: str = "a line") -> str:
    """The shares in per cent, in words. They sum to 100."""
    line, position = round(100 * m.line), round(100 * m.position)
    first = f"{line}% of the variation is explained by {what}"
    if m.masks:
        return f"{first}, and {100 - line}% by features acting together"
    alone = "where a number lies in its bin or outside it"
    if not m.binned:
        alone = "the curves of single features"
    rest = f"{100 - line - position}% by features acting together"
    return f"{first}, {position}% by {alone}, and {rest}"


def _remedy(e: Explanation, m: Misfit) -> str:
    """What to do about a misfit."""
    advice = []
    if m.pair is not None:
        advice.append(f"look at {' × '.join(short(name, 40) for name in m.pair.names)}")
    if m.binned:
        advice.append('try view="continuous"')
    if ending(e):
        advice.append('try link="logit"')
    if not advice:
        advice.append("look at explanation.interactions()")
    return ", or ".join(advice)


# -- log-odds ------------------------------------------------------------------------------------

MANY: Final = 0.05
"""The share of clipped answers above which there is a warning."""


def clipped(e: Explanation) -> str:
    """A sentence about the answers that are clipped; "" if there are few."""
    if e.link is None:
        return ""
    pair = e.target if isinstance(e.target, tuple) else (e.target,)
    columns = [answers_of(e.evidence.answers, e.outputs, one) for one in pair]
    rows = len(columns[0])
    many = max(e.link.clipped(column) for column in columns)
    if many <= MANY * rows:
        return ""
    return (
        f"{many} of {rows} probabilities are within {e.link.clip:g} of 0 or 1 and were clipped, so "
        "their differences are lost. If the model never answers exactly 0 or 1, give "
        "a smaller link=eagle.Logit(clip)"
    )


# -- what was not seen ----------------------------------------------------------------------------

CARRIERS: Final = 5.0
"""The warning of a jump is given if fewer rows than this carry the misfit."""

SHARE: Final = 0.1
"""They must also be less than this share of the rows."""

SPAN: Final = 0.01
"""Answers that span less than this share of the possible range show little of the model."""


def rare(e: Explanation) -> str:
    """A sentence if the model jumps, or may jump, where hardly any row is."""
    kind = "" if e.posterior is None else e.posterior.kind
    if kind == "exact":  # all that could be asked was asked
        return ""
    y = answers_of(e.evidence.answers, e.outputs, e.target, e.link)
    first = int(np.isnan(y[0]))  # the instance's own answer may not be known
    y = y[first:]
    rows, remedy = len(y), ', or use link="logit"' if probable(e) else ""
    residual = y - (e.intercept + e.evidence.features[first:] @ e.scores)
    square = (residual / (float(np.abs(residual).max()) or 1.0)) ** 2
    carriers = float(square.sum() ** 2 / ((square**2).sum() or 1.0))
    low, high = bounds_of(e.target, e.evidence.answers, e.task, e.link)
    allowed = ""
    if kind.startswith("robust"):
        what = "that" if np.isfinite(high - low) else "one more such row"
        allowed = f"Intervals allow for {what}; "
    # Within a bin, a number with a heavy tail looks the same, without a jump.
    jumps = np.isfinite(high - low) or (e.misfit is not None and not e.misfit.binned)
    if carriers < min(CARRIERS, SHARE * rows) and e.r2 < GOOD and jumps:
        return (
            f"{carriers:.0f} of {rows} rows hold{'s' * (carriers < 1.5)} nearly all that the line "
            "misses: the answers change much where hardly any row is, and rows that were not asked "
            "may jump, too. "
            f"{_sentence(allowed, remedy)}"
        )
    if np.isfinite(high - low) and np.ptp(y) < SPAN * (high - low):
        return (
            f"near this input the model's answers span {np.ptp(y):.2g} of a possible "
            f"{high - low:.2g}: a jump that no row met would change the scores. "
            f"{_sentence(allowed, remedy)}"
        )
    return ""


MISSED: Final = 3
"""Rule of three: an event of probability 3/n is missed by n rows with probability 5%."""


def unseen(e: Explanation) -> str:
    """A sentence on jumps that the rows may have missed, if answers have no bounds; else ""."""
    low, high = bounds_of(e.target, e.evidence.answers, e.task, e.link)
    rows, exact = int(e.evidence.often.sum()), e.posterior is None or e.posterior.kind == "exact"
    repeated = bool((e.evidence.often > 1).all())  # then hardly any other row can be drawn
    if exact or repeated or np.isfinite(high - low) or rows <= MISSED:
        return ""
    return (
        ". These answers have no bounds, so a jump that affects fewer than 1 in "
        f"{rows // MISSED} rows could have gone unseen"
    )


def _sentence(allowed: str, remedy: str) -> str:
    """What to do about jumps, and whether intervals have room for them."""
    return f"{allowed}{'ask' if allowed else 'Ask'} more rows{remedy}"


# -- probabilities -------------------------------------------------------------------------------


def probable(e: Explanation) -> bool:
    """Whether what is explained is a probability."""
    if e.task != "classification" or isinstance(e.target, tuple) or e.link is not None:
        return False
    y = answers_of(e.evidence.answers, e.outputs, e.target, e.link)
    return bool(np.nanmin(y) >= 0 and np.nanmax(y) <= 1)


def ending(e: Explanation) -> bool:
    """Whether the probability, or the line's value, is near 0 or 1, where lines fit badly."""
    if not is_line(e) or not probable(e):
        return False
    low, high = ENDS
    outside = e.prediction < low or e.prediction > high  # neither, if it is not known
    return outside or not 0 <= e.local_prediction <= 1


def end_fact(e: Explanation) -> str:
    """A hint at log-odds for a probability near 0 or 1; else ""."""
    if not ending(e) or fits(e):
        return ""
    return 'The probability is near 0 or 1: link="logit" explains log-odds, which have no limits'


def says(e: Explanation) -> str:
    """The line's value at the instance as text; no probability below 0 or above 1."""
    if probable(e) and not 0 <= e.local_prediction <= 1:
        return "more than 1" if e.local_prediction > 1 else "less than 0"
    return f"{e.local_prediction:.4g}".replace("-", "−")
