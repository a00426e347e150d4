"""Two models on the same survey: a new version's answers, and what changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from eagle._engine.metering import MeteredModel
from eagle._values.arrays import Array
from eagle._values.difference import Difference, names_of
from eagle._values.link import Logit
from eagle._values.text import short_repr
from eagle.errors import InputError, OperandError, ReplyError
from eagle.explanations import Explanations, LazyExplanations
from eagle.limit import Meter
from eagle.models.box import Box, are_probabilities, box
from eagle.models.native import Task
from eagle.survey.grow import ask
from eagle.survey.identity import Identity, identity
from eagle.survey.many import RowMaker, explanations
from eagle.survey.plan import BothModels, ModelSide, SurveyPlan, on_scale, unit_of
from eagle.survey.surveyed import Supplements
from eagle.survey.weigh import Supplement

if TYPE_CHECKING:
    from eagle.survey.survey import Survey


ROWS_ASKED_AGAIN: Final = 8
"""The number of rows that are asked again to tell whether a model is the one that answered."""

CLOSE: Final = 1e-6
"""The absolute and relative tolerance between answers of one model on two machines."""


def requery(survey: Survey, model: Any, progress: bool) -> Survey:
    """The same rows, answered by another model with the same outputs."""
    asked = box_of_same_outputs(survey, model)
    which = identity(asked.function, asked.calls_it, survey.background)
    setting = replace(survey.setting, box=asked, identity=which)
    out = ask(setting.plan(survey.rows), progress)
    if out.outputs != survey.outputs:
        raise InputError(
            f"the new model has the outputs {', '.join(map(str, out.outputs))}, and the survey "
            f"{', '.join(map(str, survey.outputs))}: they cannot be compared"
        )
    return out


def box_of_same_outputs(survey: Survey, model: Any) -> Box:
    """A model in a box, whose outputs must be those of the survey."""
    before = survey.setting.box
    own = box(model, before.task).outputs
    if own is not None and own not in (survey.outputs, survey.identity.classes):
        raise InputError(
            f"the model has the classes {_join_names(own)}, and the survey "
            f"{_join_names(survey.outputs)}: "
            "it answers another question"
        )
    return replace(box(model, before.task, survey.outputs), link=before.link)


def beside(survey: Survey, model: Any) -> Survey:
    """The survey with a model that it may ask for predictions and supplements.

    Unless it is surely the model that answered the survey, a few rows are asked again to tell.
    """
    if survey.difference is not None:
        raise InputError(
            f"this is a survey of the difference of two models, {survey.difference}, which one "
            "model cannot answer: load the surveys of both, each with its model, and subtract them"
        )
    asked = box_of_same_outputs(survey, model)
    which = identity(asked.function, asked.calls_it, survey.background)
    setting = replace(survey.setting, box=asked)
    out = replace(survey, setting=setting)
    if survey.identity.same(which):
        return out
    table = SurveyPlan(setting, survey.drawn).table(np.arange(ROWS_ASKED_AGAIN))
    answers = MeteredModel(asked, survey.meter).ask(table, ROWS_ASKED_AGAIN)
    known = survey.answers[:ROWS_ASKED_AGAIN]
    same = answers.shape == known.shape and np.allclose(answers, known, rtol=CLOSE, atol=CLOSE)
    if same:
        return out
    return replace(
        out,
        note=f"this survey was answered by another model than the {asked.calls_it} given: of its "
        f"rows {ROWS_ASKED_AGAIN} were asked again, and answered otherwise",
    )


def difference(new: Survey, old: object) -> Survey:
    """A survey whose answers are those of the new one less those of the old one."""
    from eagle.survey.survey import Survey

    if not isinstance(old, Survey):
        raise OperandError(
            f"from a survey another survey of the same rows is subtracted, not {short_repr(old)}: "
            "survey.requery(model) makes one"
        )
    _refuse_others(new, old)
    link, one, other = new.setting.box.link, new.identity, old.identity
    names = names_of(one.model, other.model)
    what = Difference(
        *names, unit_of(new.setting.box, new.task), one.model_digest, other.model_digest, link
    )
    which = Identity(str(what), None, one.background_digest, one.versions)
    asked = _both(new, old)
    apart = Box(asked, str(what), "regression", new.outputs)
    most = min(s.setting.batch_rows for s in (new, old))
    setting = replace(new.setting, box=apart, batch_rows=most, limit=None, identity=which)
    return replace(
        new,
        setting=setting,
        answers=on_scale(new.answers, link) - on_scale(old.answers, link),
        meter=Meter(),
        known=_supplement_differences(new.known, old.known, link),
        note="; ".join(dict.fromkeys(s.note for s in (new, old) if s.note)),
        difference=what,
    )


def _refuse_others(new: Survey, old: Survey) -> None:
    """Refuse surveys whose answers do not subtract."""
    if new.difference is not None or old.difference is not None:
        raise OperandError(
            "a difference of surveys is not subtracted again: subtract the surveys of two models"
        )
    rows = [
        (s.rows, s.seed, s.drawn.digest, s.identity.background_digest, s.setting.kernel)
        for s in (new, old)
    ]
    if rows[0] != rows[1]:
        raise OperandError(
            "surveys can be compared if they have the same rows: make the new one by "
            "survey.requery(model)"
        )
    if (new.task, new.outputs) != (old.task, old.outputs):
        raise OperandError("surveys can be compared if their models have the same outputs")
    if new.setting.box.link != old.setting.box.link:
        raise OperandError("surveys can be compared on one scale: both with the same link, or none")
    if new.setting.box.margin != old.setting.box.margin:
        raise OperandError(
            "surveys can be compared if both models give probabilities, or both decision values: "
            "one of them gives the other"
        )


def _both(new: Survey, old: Survey) -> BothModels | None:
    """Both models, to be asked; None unless both are there."""
    if not (new.setting.has_model and old.setting.has_model):
        return None
    return BothModels((ModelSide.of(new), ModelSide.of(old)))


def _supplement_differences(
    new: Supplements, old: Supplements, link: Logit | None
) -> dict[Any, Supplement]:
    """The differences of the answers to supplements that both have, as far as both have them."""
    out = {}
    for name in new.keys() & old.keys():
        rows = min(len(new[name].drawn), len(old[name].drawn))
        one, other = new[name].first(rows), old[name].first(rows)
        answers = on_scale(one.answers, link) - on_scale(other.answers, link)
        out[name] = replace(one, answers=answers)
    return out


# -- predictions of a difference -----------------------------------------------------------------


def differences_given(what: Difference, box: Box, given: Any, rows: int) -> Array:
    """The differences of predictions: given as a pair, the new model's first, or as they are."""
    if isinstance(given, tuple) and len(given) == 2:
        one, other = (on_scale(_side_of(what, box).read(side, rows), what.link) for side in given)
        return one - other
    answers = box.read(given, rows)
    sums = answers.sum(axis=1)
    if what.unit == "probability" and np.abs(sums).max(initial=0.0) <= SUM_TOLERANCE:
        return answers
    if what.unit == "answer" or (what.unit != "probability" and not are_probabilities(answers)):
        return answers
    raise ReplyError(
        "a difference of two models is given as a pair of their predictions, the new model's "
        "first: (new_model.predict_proba(X), old_model.predict_proba(X))"
    )


SUM_TOLERANCE: Final = 1e-3
"""Differences of probabilities sum to 0 in each row, up to this."""


def _side_of(what: Difference, box: Box) -> Box:
    """How the predictions of either model are read."""
    task: Task = "regression" if what.unit == "answer" else "classification"
    return Box(None, box.calls_it, task, box.outputs, what.unit == "decision value")


# -- explanations --------------------------------------------------------------------------------


def difference_of_explanations(new: Explanations, old: object) -> Explanations:
    """What changed from some explanations to others of the same rows, by two surveys."""
    if not isinstance(old, Explanations):
        raise OperandError(
            "from explanations those of the same rows by another survey are subtracted, not "
            f"{short_repr(old)}"
        )
    (one, here), (other, there) = _maker_and_rows(new), _maker_and_rows(old)
    changed = difference(one.many.survey, other.many.survey)
    if new.ids != old.ids or not np.array_equal(new.data, old.data):
        raise OperandError(
            "explanations can be subtracted if they are of the same rows, in one order: give both "
            "surveys the same table"
        )
    if new.targets != old.targets:
        raise OperandError(
            "some of these rows are explained about one class here and about another there: give "
            "both the same target=…"
        )
    for target in new.about:
        changed.check_target(target)
    link = one.many.survey.setting.box.link
    many = replace(one.many.take(here), survey=changed)
    own = on_scale(one.own[here], link) - on_scale(other.own[there], link)
    known = _supplement_differences(one.known, other.known, link)
    asked = one.asked and other.asked
    return explanations(many, own, known, tuple(new.targets), asked, silent=True)


def _maker_and_rows(e: Explanations) -> tuple[RowMaker, list[int]]:
    """What makes the explanations of a survey, and the numbers of those that are there."""
    if isinstance(e.items, LazyExplanations) and isinstance(e.items.make, RowMaker):
        return e.items.make, list(e.items.numbers)
    raise OperandError(
        "only explanations that rest on the same model rows can be subtracted, those of "
        "surveys: new = survey.requery(new_model), and then new.explain_many(X) - "
        "survey.explain_many(X)"
    )


def _join_names(names: Sequence[Any]) -> str:
    return ", ".join(map(str, names[:5])) + (" …" if len(names) > 5 else "")
