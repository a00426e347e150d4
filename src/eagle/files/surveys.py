"""Surveys in files: a background, a seed and a model's answers. No model, no rows of the data.

The rows of a survey follow from its background and seed, so they are drawn again when it is read; a
digest tells whether they are the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, Final, get_args

import numpy as np

from eagle.files import backgrounds, links, sealed
from eagle.files.sealed import (
    FAULTS,
    Format,
    flag,
    floats,
    listed,
    mapping,
    null,
    number,
    number_or,
    one_of,
    pack,
    plain_json,
    read_integer,
    scalar,
    text,
    why,
)
from eagle.kernel import Exponential
from eagle.models.box import Box
from eagle.models.native import Task
from eagle.source.tables import Tables
from eagle.survey.compare import boxed
from eagle.survey.identity import Identity, background_digest, identity
from eagle.survey.plan import LEAST, Account, ModelAccess, Setting
from eagle.survey.rows import supplement
from eagle.survey.survey import Survey
from eagle.survey.weigh import Supplement
from eagle.types import Array, InputError

FORMAT: Final = Format("eagle survey", oldest=1, schema=1, sealed_since=1)

AGAIN: Final = 8
"""The number of rows that are asked again to tell whether a model is the one that answered."""

ALIKE: Final = 1e-6
"""The absolute and relative tolerance between answers of one model on two machines."""

BATCH: Final = 25_000
"""The most rows of one call of a survey that was read."""


def save(survey: Survey, path: str | PathLike[str]) -> None:
    """Write a survey as JSON with a checksum."""
    sealed.write(path, json.dumps(to_dict(survey), allow_nan=False))


def to_dict(survey: Survey) -> dict[str, Any]:
    """A survey as plain data, with its checksum."""
    setting, identity = survey.setting, survey.identity
    box = setting.ask.box
    return FORMAT.seal(
        {
            "background": backgrounds.to_dict(survey.background),
            "seed": survey.seed,
            "rows": survey.rows,
            "digest": survey.drawn.digest,
            "kernel": {"width": setting.kernel.width, "root": setting.kernel.root},
            "task": survey.task,
            "margin": box.margin,
            "outputs": [plain_json(o) for o in survey.outputs],
            **links.to_dict(box.link),
            "answers": pack(survey.answers),
            "supplements": [_supplement_to_dict(one) for one in survey.known.values()],
            "account": {
                "rows": survey.account.rows,
                "calls": survey.account.calls,
                "seconds": null(survey.account.seconds),
            },
            "model": identity.model,
            "model_digest": identity.model_digest,
            "classes": None
            if identity.classes is None
            else [plain_json(c) for c in identity.classes],
            "versions": dict(identity.versions),
        }
    )


def _supplement_to_dict(one: Supplement) -> dict[str, Any]:
    return {
        "column": one.column,
        "value": one.value,
        "state": int(one.drawn.states[one.column, 0]),
        "unseen": one.unseen,
        "answers": pack(one.answers),
    }


def load(path: str | PathLike[str], model: Any = None) -> Survey:
    """Read what `save` wrote. Nothing in the file is ever run."""
    try:
        survey = _read(FORMAT.opened(sealed.parse(sealed.load(path))))
    except FAULTS as error:
        raise InputError(
            f"{path} is not a survey saved by this version of eagle: {why(error)}"
        ) from None
    return survey if model is None else beside(survey, model)


def beside(survey: Survey, model: Any) -> Survey:
    """The survey with a model that it may ask for predictions and supplements.

    Unless it is surely the model that answered the survey, a few rows are asked again to tell.
    """
    asked = boxed(survey, model)
    which = identity(asked.function, asked.calls_it, survey.background)
    setting = replace(survey.setting, ask=replace(survey.setting.ask, box=asked))
    out = replace(survey, setting=setting)
    if survey.identity.same(which):
        return out
    answers = asked.ask(setting.plan(LEAST).table(np.arange(AGAIN)), AGAIN)
    survey.account.pay(AGAIN, 1)
    known = survey.answers[:AGAIN]
    same = answers.shape == known.shape and np.allclose(answers, known, rtol=ALIKE, atol=ALIKE)
    if same:
        return out
    return replace(
        out,
        note=f"this survey was answered by another model than the {asked.calls_it} given: of its "
        f"rows {AGAIN} were asked again, and answered otherwise",
    )


def _read(data: Mapping[str, Any]) -> Survey:
    background = backgrounds.from_dict(data["background"])
    kernel = mapping(data["kernel"])
    width = None if kernel["width"] is None else number(kernel["width"])
    outputs = tuple(map(scalar, listed(data["outputs"])))
    name, digest = text(data["model"]), data["model_digest"]
    versions = {text(k): text(v) for k, v in mapping(data["versions"]).items()}
    which = Identity(
        name,
        None if digest is None else text(digest),
        background_digest(background),
        versions,
        None if data["classes"] is None else tuple(map(scalar, listed(data["classes"]))),
    )
    task: Task = (
        "classification"
        if one_of(data["task"], get_args(Task)) == "classification"
        else "regression"
    )
    asked = Box(None, name, task, outputs, flag(data["margin"]), link=links.read(data))
    setting = Setting(
        Tables(background, "binned"),
        Exponential(width, flag(kernel["root"])),
        read_integer(data["seed"]),
        ModelAccess(asked, BATCH),
        which,
    )
    answers, account = floats(data["answers"], 2), mapping(data["account"])
    plan = setting.plan(read_integer(data["rows"]))
    if answers.shape != (len(plan.drawn), len(outputs)):
        raise ValueError("its answers do not fit its rows")
    if plan.drawn.digest != text(data["digest"]):
        raise ValueError("its rows are drawn otherwise by this version")
    paid = Account(
        read_integer(account["rows"]),
        read_integer(account["calls"]),
        number_or(account["seconds"], np.nan),
    )
    survey = Survey(setting, plan.drawn, answers, paid)
    for one in listed(data["supplements"]):
        made = _supplement(survey, mapping(one), len(outputs))
        survey.known[(made.column, made.value)] = made
    return survey


def _supplement(survey: Survey, data: Mapping[str, Any], outputs: int) -> Supplement:
    column, state, value = (
        read_integer(data["column"]),
        read_integer(data["state"]),
        text(data["value"]),
    )
    law = survey.setting.law
    if column >= len(law.share) or state >= law.share.shape[1]:
        raise ValueError("a supplement is of a column that is not there")
    answers: Array = floats(data["answers"], 2)
    unseen = flag(data["unseen"])
    if answers.shape[1] != outputs or unseen != (law.draw[column, state] == 0):
        raise ValueError("a supplement does not fit the survey")
    drawn = supplement(survey.background, law, len(answers), survey.seed, column, state, value)
    return Supplement(column, value, unseen, drawn, answers)
