"""Sentences about what a line misses: a warning if it is likely to mislead, otherwise a fact.

The rules were chosen on some tables and measured on others: `python -m evaluation bench warnings`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from eagle._engine.default import PARTS
from eagle._engine.lack_of_fit import LackOfFit, is_line
from eagle._engine.names import method_by_name, name_by_printed
from eagle._engine.targets import answers_of, bounds_of
from eagle._values.posterior import ALL_MASKS
from eagle._values.text import clean, finite, short
from eagle.contracts import Need
from eagle.display.numbers import count, number
from eagle.explanation import Explanation

MAX_DOUBT_BINNED: Final = 0.33
MAX_DOUBT_CONTINUOUS: Final = 0.4
"""Single scores are likely to mislead above this doubt: in the binned view, and otherwise."""

MAX_DEVIATIONS: Final = 1.5
"""A row is unlike its neighbourhood if the line errs by more standard deviations than this."""

MIN_LINE_SHARE: Final = 0.55
GOOD_HELD_OUT_R2: Final = 0.67
"""No sentence is given if the line's share is above `MIN_LINE_SHARE`, or its held-out R² above
`GOOD_HELD_OUT_R2`: too little is left to doubt its scores."""

ENDS: Final = (0.05, 0.95)
"""Probabilities nearer to 0 or 1 than this are near an end."""


def warning(e: Explanation) -> str:
    """What is likely to mislead, and what to do; "" if single scores can be trusted."""
    m = None if fits(e) else e.lack_of_fit
    if m is None or not misleads(m):
        return ""
    if m.pair is None:
        told = f"the line misses much here: {_shares(m, 'it')}"
    else:
        told = f"features act together here: {_shares(m)}"
    if m.far > MAX_DEVIATIONS:
        model = "model" if e.difference is None else "models"
        told += (
            f"; the line says {says(e)} of this row, the {model} {number(e.prediction)}: it is "
            "unlike its neighbourhood"
        )
    return clean(f"{told}. Single scores may mislead: {_remedy(e, m)}")


def fits(e: Explanation) -> bool:
    """Whether the R² shows that a line fits, so that the lack of fit need not be computed."""
    exact = e.posterior is not None and e.posterior.kind == ALL_MASKS
    return e.r2_held_out > GOOD_HELD_OUT_R2 or (
        exact and e.r2 > GOOD_HELD_OUT_R2
    )  # NaN is not good


def misleads(m: LackOfFit) -> bool:
    """Whether single scores are likely to mislead."""
    return m.is_known and m.doubt > (MAX_DOUBT_BINNED if m.binned else MAX_DOUBT_CONTINUOUS)


def fact(e: Explanation) -> str:
    """What the line misses, where that is no reason to doubt its scores."""
    m = None if fits(e) else e.lack_of_fit
    if m is None or m.line > MIN_LINE_SHARE or misleads(m):
        return ""
    whole = e.posterior is not None and e.posterior.kind == ALL_MASKS
    if not m.is_known and whole:  # the intervals hold what it misses
        return ""
    if not m.is_known:
        return "What the line misses is not known" if np.isfinite(e.r2) else ""
    told = f"Locally {_shares(m)}"
    return f"{told}. {continuous(e)} shows the effect of this position" if _moves(e, m) else told


def continuous(e: Explanation) -> str:
    """An explainer of the same model in the continuous view."""
    return _explainer(e, 'eagle.Table(…, view="continuous")', {Need.MATCHES, Need.MASKS})


def log_odds(e: Explanation) -> str:
    """An explainer of the same model's log-odds."""
    return _explainer(e, 'link="logit"', {Need.PROBABILITIES, Need.BINARY})


def _explainer(e: Explanation, option: str, refused: set[Need]) -> str:
    """The explainer that is advised. The default method can do both; where the explanation's own
    needs what is refused with the option, or is not known, the default is named."""
    known = [part for part in PARTS if part.name == e.method]
    if not known and (name := name_by_printed(e.method)) is not None:
        known = [method_by_name(name)]
    able = bool(e.cost.shared) or any(not method.needs & refused for method in known)
    return f"eagle.Explainer(…, {option}{'' if able else ', method=eagle.methods.DEFAULT'})"


def _moves(e: Explanation, m: LackOfFit) -> bool:
    """Whether the continuous view would show more: a number of one model is explained as a bin. The
    difference of two is explained from a survey, which has the binned view alone."""
    return m.binned and e.difference is None and any(finite(value) for value in e.data)


def _shares(m: LackOfFit, what: str = "a line") -> str:
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


def _remedy(e: Explanation, m: LackOfFit) -> str:
    """What to do about a lack of fit."""
    advice = []
    if m.pair is not None:
        advice.append(f"look at {' × '.join(short(name, 40) for name in m.pair.names)}")
    if _moves(e, m):
        advice.append(f"try {continuous(e)}")
    if ending(e):
        advice.append(f"try {log_odds(e)}")
    if not advice:
        advice.append("look at explanation.interactions()")
    return ", or ".join(advice)


# -- log-odds ------------------------------------------------------------------------------------

MAX_CLIPPED_SHARE: Final = 0.05
"""The share of clipped answers above which there is a warning."""


def clips(e: Explanation) -> int:
    """How many answers of the class that is explained are clipped; of two, of the one with more."""
    if e.link is None:
        return 0
    pair = e.target if isinstance(e.target, tuple) else (e.target,)
    return max(e.link.count_clipped(answers_of(e.evidence.answers, e.outputs, one)) for one in pair)


def clipped_answers(e: Explanation) -> str:
    """A sentence about the answers that are clipped; "" if there are few."""
    many, rows = clips(e), len(e.evidence.answers)
    if e.link is None or many <= MAX_CLIPPED_SHARE * rows:
        return ""
    return (
        f"{count(many)} of {count(rows)} probabilities are within {e.link.clip:g} of 0 or 1 and "
        "were clipped, so their differences are lost. If the model never answers exactly 0 or 1, "
        "give a smaller link=eagle.Logit(clip)"
    )


# -- what was not seen ----------------------------------------------------------------------------

MIN_CARRIERS: Final = 5.0
"""The warning of a jump is given if fewer rows than this carry the lack of fit."""

MIN_CARRIER_SHARE: Final = 0.1
"""They must also be less than this share of the rows."""

MIN_SPAN: Final = 0.01
"""Answers that span less than this share of the possible range show little of the model."""


def rare(e: Explanation) -> str:
    """A sentence if the model jumps, or may jump, where hardly any row is."""
    kind = "" if e.posterior is None else e.posterior.kind
    if kind == ALL_MASKS:  # all that could be asked was asked
        return ""
    y = answers_of(e.evidence.answers, e.outputs, e.target, e.link)
    first = int(np.isnan(y[0]))  # the instance's own answer may not be known
    y = y[first:]
    rows, remedy = len(y), f", or use {log_odds(e)}" if probable(e) else ""
    residual = y - (e.intercept + e.evidence.features[first:] @ e.scores)
    square = (residual / (float(np.abs(residual).max()) or 1.0)) ** 2
    carriers = float(square.sum() ** 2 / ((square**2).sum() or 1.0))
    low, high = bounds_of(e.target, e.evidence.answers, e.task, e.link)
    allowed = ""
    if kind.startswith("robust"):
        what = "that" if np.isfinite(high - low) else "one more such row"
        allowed = f"Intervals allow for {what}; "
    # Within a bin, a number with a heavy tail looks the same, without a jump.
    jumps = np.isfinite(high - low) or (e.lack_of_fit is not None and not e.lack_of_fit.binned)
    if carriers < min(MIN_CARRIERS, MIN_CARRIER_SHARE * rows) and e.r2 < GOOD_HELD_OUT_R2 and jumps:
        return (
            f"{count(carriers)} of {count(rows)} rows hold{'s' * (carriers < 1.5)} nearly all that "
            "the line misses: the answers change much where hardly any row is, and rows that were "
            "not asked may jump, too. "
            f"{_sentence(allowed, remedy)}"
        )
    if np.isfinite(high - low) and np.ptp(y) < MIN_SPAN * (high - low):
        return (
            f"near this input the model's answers span {number(np.ptp(y), 2)} of a possible "
            f"{number(high - low, 2)}: a jump that no row met would change the scores. "
            f"{_sentence(allowed, remedy)}"
        )
    return ""


RULE_OF_THREE: Final = 3
"""Rule of three: an event of probability 3/n is missed by n rows with probability 5%."""


def unseen(e: Explanation) -> str:
    """A sentence on jumps that the rows may have missed, if answers have no bounds; else ""."""
    low, high = bounds_of(e.target, e.evidence.answers, e.task, e.link)
    rows = int(e.evidence.repeats.sum())
    exact = e.posterior is None or e.posterior.kind == ALL_MASKS
    repeated = bool((e.evidence.repeats > 1).all())  # then hardly any other row can be drawn
    if exact or repeated or np.isfinite(high - low) or rows <= RULE_OF_THREE:
        return ""
    jump = f"jump that affects fewer than 1 in {rows // RULE_OF_THREE} rows could have gone unseen"
    if e.difference is not None:
        return f". A {jump}"
    return f". These answers have no bounds, so a {jump}"


def _sentence(allowed: str, remedy: str) -> str:
    """What to do about jumps, and whether intervals have room for them."""
    return f"{allowed}{'ask' if allowed else 'Ask'} more rows{remedy}"


# -- probabilities -------------------------------------------------------------------------------


def probable(e: Explanation) -> bool:
    """Whether what is explained is a probability, not the difference of two."""
    if (
        e.task != "classification"
        or e.difference is not None
        or isinstance(e.target, tuple)
        or e.link is not None
    ):
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
    return f"The probability is near 0 or 1: {log_odds(e)} explains log-odds, which have no limits"


def says(e: Explanation) -> str:
    """The line's value at the instance as text; no probability below 0 or above 1."""
    if probable(e) and not 0 <= e.local_prediction <= 1:
        return "more than 1" if e.local_prediction > 1 else "less than 0"
    return number(e.local_prediction)
