"""Whether the scores of a result are those that its surrogate gives again for its answers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from os import PathLike
from typing import Any, Final, final

import numpy as np

from eagle._values.posterior import StudentT
from eagle._values.targets import answers_of
from eagle._values.text import short_repr
from eagle.errors import InputError, MissingExtraError
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.io.container import Key
from eagle.saved.reading import load
from eagle.shapley.answer import Fitted, what_is_left_of
from eagle.shapley.survey import ShapleySurvey
from eagle.surrogates.saved import SavedSurrogate, parts_of
from eagle.survey.rows import draw
from eagle.survey.survey import Survey

ROUNDING: Final = 1e-12
"""The rounding error of a fit, as a share of the largest answer."""

TOLERANCE: Final = 1e-6
"""Fits on two machines differ by rounding: by less than this share of the largest score."""

TUNED_TOLERANCE: Final = 1e-3
"""The same for surrogates that are tuned by small steps, in which rounding grows."""

TUNED_SURROGATES: Final = ("Process", "Logistic")
"""Surrogates of peers that are tuned so."""


@final
@dataclass(frozen=True)
class Verification:
    """How many explanations follow from their answers, how many do not, by their ids, and of how
    many it is not known, with the reasons."""

    follow: int
    wrong: tuple[Any, ...] = ()
    unknown: int = 0
    reasons: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether something was checked, and all of it follows."""
        return self.follow > 0 and not self.wrong and not self.unknown

    def __str__(self) -> str:
        said = []
        if self.follow:
            said.append(f"{self.follow:,} follow from the answers")
        if self.wrong:
            named = ", ".join(short_repr(one, 20) for one in self.wrong[:5])
            said.append(f"{len(self.wrong):,} do not follow from the answers ({named})")
        if self.unknown:
            said.append(f"{self.unknown:,} cannot be checked ({'; '.join(self.reasons)})")
        return ", ".join(said)


def verify(result: Any, *, key: Key = None) -> Verification:
    """Fit again what has its answers: whether the scores of a result, or of a file, follow from
    them.

    Examples:
        >>> eagle.Explainer(model, X).explain(X[0]).save(folder / "why.json")
        >>> print(eagle.verify(folder / "why.json"))
        1 follow from the answers

    `result` is an explanation, explanations or a survey, or the path of a file or folder of them.
    A digest finds damage, this also numbers that somebody invented; not invented answers. Numbers
    may differ as those of two machines do: by 1e-6 of the largest, and by 1e-3 where a surrogate is
    tuned by small steps.
    """
    if isinstance(result, str | PathLike):
        result = load(result, key=key)
    if isinstance(result, Survey):
        return verify_survey(result)
    if isinstance(result, ShapleySurvey):
        return verify_shapley(result)
    if isinstance(result, Explanation):
        return put_together([(0, check(result))], (0,))
    if isinstance(result, Explanations):
        return put_together([(i, check_row(result, i)) for i in range(len(result))], result.ids)
    raise InputError(
        "explanations and surveys have answers from which they follow, and "
        f"{short_repr(result, 60)} has "
        "none"
    )


WRONG: Final = "wrong"


def put_together(found: Sequence[tuple[int, str]], ids: Sequence[Any]) -> Verification:
    """Of each explanation "" if it follows, `WRONG`, or why it is not known."""
    reasons = [said for _, said in found if said not in ("", WRONG)]
    return Verification(
        sum(said == "" for _, said in found),
        tuple(ids[i] for i, said in found if said == WRONG),
        len(reasons),
        tuple(dict.fromkeys(reasons)),
    )


def check_row(many: Explanations, i: int) -> str:
    """As `check`, of a row, and of its numbers in the table beside it."""
    e, table = many[i], many.stacked
    said = check(e)
    if said or table is None:
        return said
    slack = TOLERANCE * float(np.abs(e.scores).max(initial=0.0))
    return "" if near(table.scores[i], e.scores, slack) else WRONG


def verify_survey(survey: Survey) -> Verification:
    """Whether the rows of a survey are those of its background and its seed."""
    drawn = draw(survey.background, survey.setting.law, survey.rows, survey.seed)
    same = drawn.digest == survey.drawn.digest
    return Verification(1) if same else Verification(0, (survey.identity.model,))


def verify_shapley(survey: ShapleySurvey) -> Verification:
    """Whether what was fitted leaves of the answers what the file says, for each target."""
    wrong = []
    for target, fit in survey.fits.items():
        if isinstance(fit, Fitted):
            slack = TOLERANCE * fit.asked.spread
            left = what_is_left_of(fit)
            both = [(getattr(fit.left, f.name), getattr(left, f.name)) for f in fields(left)]
            if not all(near(said, found, slack) for said, found in both):
                wrong.append(target)
    return Verification(max(len(survey.fits), 1) - len(wrong), tuple(wrong))


def check(e: Explanation) -> str:
    """ "" if an explanation follows from its answers, `WRONG` if not, or why that is not known."""
    y = answers_of(e.evidence.answers, e.outputs, e.target, e.link)
    if not (np.isnan(y[0]) and np.isnan(e.prediction)) and not near(
        y[0], e.prediction, ROUNDING * float(np.nanmax(np.abs(y)))
    ):
        return WRONG
    if e.additive:
        return "their scores rest on answers that all rows share, which only the survey has"
    if e.surrogate is None:
        return e.note or "they are of another package, or their answers were not kept"
    if isinstance(e.surrogate, SavedSurrogate):
        return f"they are by {e.surrogate.made_by}, which is not a part of eagle"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # they were given when it was made
            fit = e.fit
    except MissingExtraError as error:
        return str(error)
    loose = any(type(part).__name__ in TUNED_SURROGATES for part in parts_of(e.surrogate))
    share = TUNED_TOLERANCE if loose else TOLERANCE
    known = y[~np.isnan(y)]
    apart, floor = float(np.ptp(known)), ROUNDING * float(np.abs(known).max())
    slack = share * float(np.abs(fit.scores).max(initial=0.0)) + floor
    around = share * apart + slack
    said = (e.scores, e.intercept, e.local_prediction)
    there = (fit.scores, fit.intercept, fit.local)
    relative = share + (floor / apart if apart else 0.0)
    follows = (
        e.signed == fit.signed
        and all(near(*pair, around) for pair in zip(said[1:], there[1:], strict=True))
        and near(said[0], there[0], slack)
        and near(e.r2, fit.r2, relative * max(1.0, abs(fit.r2)))
        and near(e.r2_held_out, fit.r2_held_out, relative * max(1.0, abs(fit.r2_held_out)))
        and alike(e.posterior, fit.posterior, share, slack)
    )
    return "" if follows else WRONG


def alike(said: Any, fit: Any, share: float, slack: float) -> bool:
    """Whether two posteriors hold the same: numbers up to rounding."""
    if type(said) is not type(fit):
        return False
    if isinstance(said, StudentT):
        most = float(fit.spread.max(initial=0.0))
        slack += share * most
        return (
            (said.kind, said.pooled) == (fit.kind, fit.pooled)
            and near(said.df, fit.df, share * fit.df)
            and near(said.mean, fit.mean, slack)
            and near(said.spread, fit.spread, slack)
            and near(said.scale, fit.scale, slack * (2 * most + slack))
        )
    if is_dataclass(said):
        parts = [(getattr(said, f.name), getattr(fit, f.name)) for f in fields(said)]
        return all(alike(*pair, share, slack) for pair in parts)
    one, other = np.asarray(said), np.asarray(fit)
    if one.dtype.kind in "fiu" and other.dtype.kind in "fiu":
        return near(one, other, slack + share * float(np.abs(other).max(initial=0.0)))
    return bool(np.array_equal(one, other))


def near(one: Any, other: Any, slack: float) -> bool:
    """Whether all numbers differ by at most `slack`; those that are not finite must be equal."""
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if one.shape != other.shape:
        return False
    with np.errstate(invalid="ignore"):
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        return bool((same | (np.abs(one - other) <= slack)).all())
