"""Surveys that grow: by a number of rows, or until most rows of a sample are sure."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from eagle.progress import Progress
from eagle.surrogate.posterior import Posterior
from eagle.surrogate.reweighted import Buffers
from eagle.survey.plan import LEAST, Account, SurveyPlan, checked_rows
from eagle.survey.surveyed import Surveyed
from eagle.table.frame import frame
from eagle.targets import Target
from eagle.types import Array, InputError
from eagle.until import Look, Rule, refuse_rule

if TYPE_CHECKING:
    from eagle.survey.survey import Survey

MET: Final = 0.9
"""A survey stops when this share of the sample meets the rule."""

SAMPLE: Final = 30
"""Minimum number of rows of a sample."""

FIRST: Final = 512
"""Rows with which a survey begins that grows until a rule is met, or all rows if fewer."""


def survey_of(
    plan: Callable[[int], SurveyPlan],
    rows: int,
    until: Rule | None,
    sample: Any,
    target: Target,
    progress: bool,
) -> Survey:
    """A survey of `rows` rows, asked now; with a rule, until most rows of the sample meet it."""
    if until is None:
        return answered(plan(rows), progress)
    made = answered(plan(min(checked_rows(rows), FIRST)), progress)
    return made.grow(rows, until=until, sample=sample, target=target, progress=progress)


def answered(plan: SurveyPlan, progress: bool = True) -> Survey:
    """The survey of a plan, whose rows are asked now.

    If the model fails on the way, the exception's `finished` holds the survey of the rows that were
    answered, if there are enough.
    """
    ask, first = plan.setting.ask, plan.drawn.distinct[0]
    if not ask.can:
        raise InputError("there is no model to ask here: plan the survey, and fit its answers")
    account, line = Account(), Progress("asked", plan.rows, silent=not progress)
    ask.refuse(plan.rows, Account() if plan.before is None else plan.before.account)
    try:
        answers = ask.rows(plan.rows, lambda a, b: plan.table(first[a:b]), account, line)
    except BaseException as error:
        with suppress(Exception):  # another's exception may take no attributes
            vars(error)["finished"] = _rescued(plan, vars(error).get("answers"), account)
        raise
    finally:
        line.close()
    return plan.answered(answers, account)


def _rescued(plan: SurveyPlan, answers: Array | None, account: Account) -> list[Survey]:
    """The survey of the rows answered before the failure, in a list.

    If they are too few, the list has the survey that was to grow, or nothing.
    """
    before = [] if plan.before is None else [plan.before]
    if answers is None:
        return before
    which = plan.drawn.distinct[1]
    unknown = which >= len(answers)
    known = int(np.argmax(unknown)) if unknown.any() else len(which)
    if known < (1 if before else LEAST):
        return before
    return [plan.first(known).answered(answers[: int(which[:known].max()) + 1], account)]


def grown(
    survey: Survey, rows: int, until: Any, sample: Any, target: Target, progress: bool
) -> Survey:
    """A longer survey; with a rule, until most rows of the sample meet it."""
    refuse_rule(until, survey.method, planned=True)
    if until is None:
        return answered(survey.plan(rows), progress)
    check_sample(sample)
    looks, own = lengths(survey.rows, rows), None
    for count in [survey.rows, *looks]:
        if count > survey.rows:
            survey = answered(survey.plan(count), progress)
        many = survey.instances(sample)
        if own is None:
            own = survey.asked(many, None, True, Progress("asked", 0, silent=True))
        else:
            survey.supplement(many)
        if met(many, own, until, target, len(looks) + 1):
            break
    return survey


def check_sample(sample: Any) -> None:
    """Refuse a sample that is missing or too small, before the model is asked."""
    rows = 0 if sample is None else len(frame(sample))
    if rows < SAMPLE:
        raise InputError(
            f"a survey stops when most rows of a sample are sure: give sample=, a table of "
            f"{SAMPLE} rows or more, not {rows}"
        )


def lengths(have: int, most: int) -> list[int]:
    """The numbers of rows at which a growing survey checks its rule: doubled, up to `most`."""
    out = []
    while have < most:
        have = min(2 * have, most)
        out.append(have)
    return out


def met(many: Surveyed, own: Array, rule: Rule, target: Target, looks: int) -> bool:
    """Whether most rows of the sample meet the rule, at one of `looks` checks.

    Each check has an equal share of the error probability.
    """
    survey, sure, buffers = many.survey, 0, Buffers()
    for i, aim in enumerate(many.targets(own, target)):
        line, more = many.line(i, survey.known, buffers)
        fit, _ = line.fitted(many.about(aim, more), many.bounds(aim))
        posterior: Posterior | None = fit.posterior
        assert posterior is not None
        account = survey.account
        look = Look(posterior, survey.rows, account.calls, account.seconds, looks)
        sure += rule.met(look) is not None
    return sure >= MET * len(many)
