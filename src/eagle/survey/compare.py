"""Two models on the same survey: a new version's answers, and what changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eagle.models.box import Box, box
from eagle.survey.grow import answered
from eagle.survey.identity import Identity, identity
from eagle.survey.plan import Account
from eagle.survey.weigh import Supplement
from eagle.types import Array, InputError

if TYPE_CHECKING:
    from eagle.survey.survey import Survey


def answered_by(survey: Survey, model: Any, progress: bool) -> Survey:
    """The same rows, answered by another model with the same outputs."""
    asked = boxed(survey, model)
    which = identity(asked.function, asked.calls_it, survey.background)
    ask = replace(survey.setting.ask, box=asked)
    setting = replace(survey.setting, ask=ask, identity=which)
    out = answered(setting.plan(survey.rows), progress)
    if out.outputs != survey.outputs:
        raise InputError(
            f"the new model has the outputs {', '.join(map(str, out.outputs))}, and the survey "
            f"{', '.join(map(str, survey.outputs))}: they cannot be compared"
        )
    return out


def boxed(survey: Survey, model: Any) -> Box:
    """A model in a box, whose outputs must be those of the survey."""
    before = survey.setting.ask.box
    own = box(model, before.task).outputs
    if own is not None and own not in (survey.outputs, survey.identity.classes):
        raise InputError(
            f"the model has the classes {_listed(own)}, and the survey {_listed(survey.outputs)}: "
            "it answers another question"
        )
    return replace(box(model, before.task, survey.outputs), link=before.link)


def difference(new: Survey, old: Survey) -> Survey:
    """A survey whose answers are those of the new one less those of the old one."""
    if (new.rows, new.seed, new.drawn.digest) != (old.rows, old.seed, old.drawn.digest):
        raise InputError(
            "surveys can be compared if they have the same rows: make the new one by "
            "survey.answered_by(model)"
        )
    if (new.task, new.outputs) != (old.task, old.outputs):
        raise InputError("surveys can be compared if their models have the same outputs")
    link = new.setting.ask.box.link
    if link != old.setting.ask.box.link:
        raise InputError("surveys can be compared on one scale: both with the same link, or none")
    one, other = new.identity, old.identity
    name = f"{one.model} less {other.model}"
    which = Identity(name, None, one.background_digest, one.versions)
    answers = _on_scale(new, new.answers) - _on_scale(old, old.answers)
    apart = Box(None, name, "regression", new.outputs)
    ask = replace(new.setting.ask, box=apart)
    setting = replace(new.setting, ask=ask, identity=which)
    known = {name: _apart(new, old, name) for name in new.known.keys() & old.known.keys()}
    return replace(
        new,
        setting=setting,
        answers=answers,
        account=Account(),
        known=known,
        note="",
        pairs=link is None,
    )


def _apart(new: Survey, old: Survey, name: tuple[int, str]) -> Supplement:
    """The difference of the answers to a supplement that both have, as far as both have it."""
    rows = min(len(new.known[name].drawn), len(old.known[name].drawn))
    one, other = new.known[name].first(rows), old.known[name].first(rows)
    return replace(one, answers=_on_scale(new, one.answers) - _on_scale(old, other.answers))


def _on_scale(survey: Survey, answers: Array) -> Array:
    """Answers on the scale that is explained."""
    link = survey.setting.ask.box.link
    return answers if link is None else link.of(answers)


def _listed(names: Sequence[Any]) -> str:
    return ", ".join(map(str, names[:5])) + (" …" if len(names) > 5 else "")
