"""Surveys that grow: by a number of rows, or until most rows of a sample are sure."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from eagle._engine.metering import MeteredModel
from eagle._engine.progress import Progress
from eagle._tables.read import frame
from eagle._values.arrays import Array
from eagle._values.log import LOG
from eagle._values.posterior import Posterior
from eagle._values.targets import Target
from eagle._values.text import message_of
from eagle.errors import InputError, LimitError
from eagle.limit import Meter
from eagle.surrogates.reweighted import Buffers
from eagle.survey.plan import MIN_ROWS, SurveyPlan, check_rows
from eagle.survey.surveyed import Surveyed
from eagle.until import Look, Rule, refuse_rule

if TYPE_CHECKING:
    from eagle.survey.survey import Survey

MIN_SHARE_MET: Final = 0.9
"""A survey stops when this share of the sample meets the rule."""

MIN_SAMPLE_ROWS: Final = 30
"""Minimum number of rows of a sample."""

FIRST_ROWS: Final = 512
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
        _refuse_sample(sample, target)
        return ask(plan(rows), progress)
    made = ask(plan(min(check_rows(rows), FIRST_ROWS)), progress)
    return made.grow(rows, until=until, sample=sample, target=target, progress=progress)


def ask(plan: SurveyPlan, progress: bool = True) -> Survey:
    """The survey of a plan, whose rows are asked now.

    If the model fails on the way, the exception's `finished` holds the survey of the rows that were
    answered, if there are enough.
    """
    setting, first = plan.setting, plan.drawn.distinct[0]
    if not setting.has_model:
        raise InputError("there is no model to ask here: plan the survey, and fit its answers")
    model = MeteredModel(setting.box, Meter(setting.limit, plan.cost_before))
    line = Progress("asked", plan.rows, silent=not progress)
    try:
        answers = model.ask_rows(
            plan.rows, lambda a, b: plan.table(first[a:b]), setting.batch_rows, line
        )
    except BaseException as error:
        with suppress(Exception):  # another's exception may take no attributes
            vars(error)["finished"] = _partial_survey(plan, vars(error).get("answers"), model.meter)
        raise
    finally:
        line.close()
    return plan.survey_of(answers, model.meter)


def _partial_survey(plan: SurveyPlan, answers: Array | None, meter: Meter) -> list[Survey]:
    """The survey of the rows answered before the failure, in a list.

    If they are too few, the list has the survey that was to grow, or nothing.
    """
    before = [] if plan.before is None else [plan.before]
    if answers is None:
        return before
    which = plan.drawn.distinct[1]
    unknown = which >= len(answers)
    known = int(np.argmax(unknown)) if unknown.any() else len(which)
    if known < (1 if before else MIN_ROWS):
        return before
    return [plan.first(known).survey_of(answers[: int(which[:known].max()) + 1], meter)]


def grow(
    survey: Survey, rows: int, until: Any, sample: Any, target: Target, progress: bool
) -> Survey:
    """A longer survey; with a rule, until most rows of the sample meet it, or until a limit."""
    refuse_rule(until, survey.method, planned=True)
    if until is None:
        _refuse_sample(sample, target)
        return ask(survey.plan(rows), progress)
    check_sample(sample)
    looks, own = lengths(survey.rows, rows), None
    for count in [survey.rows, *looks]:
        if count > survey.rows:
            try:
                survey = ask(survey.plan(count), progress)
            except LimitError as error:  # the survey ends with what there is
                LOG.info("a survey of %d rows ends: %s", survey.rows, message_of(error))
                longer: list[Survey] = error.finished
                return longer[0]
        many = survey.instances(sample)
        if own is None:
            own = survey.own_answers(many, None, True, Progress("asked", 0, silent=True))
        else:
            survey.supplement(many)
        if is_met(many, own, until, target, len(looks) + 1):
            break
    return survey


def _refuse_sample(sample: Any, target: Target) -> None:
    """Refuse what only a rule looks at: without one it would do nothing."""
    for name, given in (("sample", sample), ("target", target)):
        if given is not None:
            raise InputError(
                f"{name} is for a rule, such as until=eagle.until.Top(3): give one, or leave "
                f"{name} out"
            )


def check_sample(sample: Any) -> None:
    """Refuse a sample that is missing or too small, before the model is asked."""
    rows = 0 if sample is None else len(frame(sample))
    if rows < MIN_SAMPLE_ROWS:
        raise InputError(
            f"a survey stops when most rows of a sample are sure: give sample=, a table of "
            f"{MIN_SAMPLE_ROWS} rows or more, not {rows}"
        )


def lengths(have: int, most: int) -> list[int]:
    """The numbers of rows at which a growing survey checks its rule: doubled, up to `most`."""
    out = []
    while have < most:
        have = min(2 * have, most)
        out.append(have)
    return out


def is_met(many: Surveyed, own: Array, rule: Rule, target: Target, looks: int) -> bool:
    """Whether most rows of the sample meet the rule, at one of `looks` checks.

    Each check has an equal share of the error probability.
    """
    survey, sure, buffers = many.survey, 0, Buffers()
    for i, aim in enumerate(many.targets(own, target)):
        line, more = many.line(i, survey.known, buffers)
        fit, _ = line.fit_and_pulls(many.about(aim, more), many.bounds(aim))
        posterior: Posterior | None = fit.posterior
        assert posterior is not None
        cost = survey.cost
        look = Look(posterior, survey.rows, cost.calls, cost.model_seconds, looks)
        sure += rule.reason_to_stop(look) is not None
    return sure >= MIN_SHARE_MET * len(many)
