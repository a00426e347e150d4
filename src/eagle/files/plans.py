"""Plans in files, without their inputs, which are written to a table of their own."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from os import PathLike
from typing import Any, Final, get_args

import numpy as np

from eagle.engine.plan import Plan, Prepared
from eagle.files import laws, links, moves, sealed, subjects, surrogates
from eagle.files.registry import UnknownKindError
from eagle.files.sealed import (
    FAULTS,
    WIDEST,
    Format,
    flag,
    floats,
    listed,
    mapping,
    null,
    number_or,
    one_of,
    pack,
    plain_json,
    read_integer,
    scalar,
    text,
    unpack,
    why,
)
from eagle.models.box import Box
from eagle.models.native import Task
from eagle.types import InputError, Need, Rows

FORMAT: Final = Format("eagle plan", oldest=2, schema=3, sealed_since=3)


def save(plan: Plan, path: str | PathLike[str]) -> None:
    """Write a plan, without its inputs, as JSON with a checksum."""
    if len(plan.names) > WIDEST:
        raise InputError(f"a plan for more than {WIDEST} features cannot be saved")
    sealed.write(path, json.dumps(_to_dict(plan), allow_nan=False))


def _to_dict(plan: Plan) -> dict[str, Any]:
    rows = zip(plan.names, plan.conditions, plan.data, plan.contrast, strict=True)
    return FORMAT.seal(
        {
            "method": plan.method,
            "seed": plan.seed,
            "surrogate": surrogates.to_dict(plan.surrogate),
            "task": plan.box.task,
            "margin": plan.box.margin,
            **links.to_dict(plan.box.link),
            "outputs": plain_json(plan.box.outputs),
            "features": [
                {"name": n, "condition": c, "value": plain_json(v), "contrast": null(float(k))}
                for n, c, v, k in rows
            ],
            "points": pack(plan.prepared.points),
            "z": pack(plan.prepared.rows.features),
            "weight": pack(plan.prepared.rows.weight),
            **surrogates.repeats(plan.prepared.rows.often),
            **laws.to_dict(plan.prepared.rows.law),
            "subject": subjects.to_dict(plan.subject),
            "moves": moves.to_dict(plan.moves),
        }
    )


def load(path: str | PathLike[str]) -> Plan:
    """Read what `save` wrote. Nothing in the file is ever run."""
    try:
        return _read(FORMAT.opened(sealed.parse(sealed.load(path))))
    except UnknownKindError as error:
        raise InputError(f"the plan {path} cannot be read: {error}") from None
    except FAULTS as error:
        raise InputError(
            f"{path} is not a plan saved by this version of eagle: {why(error)}"
        ) from None


def _read(data: Mapping[str, Any]) -> Plan:
    features, outputs = [mapping(f) for f in listed(data["features"])], data["outputs"]
    if not 0 < len(features) <= WIDEST:
        raise ValueError(f"it has {len(features)} features")
    surrogate = surrogates.read(data["surrogate"])
    z, points = surrogates.features(data["z"], surrogate), unpack(data["points"], 2)
    weight = floats(data["weight"], 1)
    if not len(z) or z.shape != (len(weight), len(features)) or len(points) != len(z):
        raise ValueError("the arrays do not fit one another")
    if (weight < 0).any():
        raise ValueError("a weight is negative")
    often = surrogates.often(data, surrogate)
    law = laws.read(data.get("law"), points, len(features))
    rows = Rows(z, weight, often, Need.BALANCED in surrogate.needs, law, points)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # about numbers that no plan has
        fitter = surrogate.on(rows)
    return Plan(
        names=tuple(text(f["name"]) for f in features),
        conditions=tuple(text(f["condition"]) for f in features),
        data=tuple(f["value"] for f in features),
        contrast=np.array([number_or(f["contrast"], np.nan) for f in features]),
        prepared=Prepared(points, rows, fitter),
        method=text(data["method"]),
        surrogate=surrogate,
        seed=read_integer(data["seed"]),
        box=Box(
            None,
            "a plan",
            None if data["task"] is None else _task(data["task"]),
            None if outputs is None else _outputs(outputs),
            flag(data["margin"]),
            link=links.read(data),
        ),
        subject=subjects.read(data["subject"], len(features)),
        moves=moves.read(data.get("moves"), points, len(features)),
    )


def _task(value: Any) -> Task:
    one_of(value, get_args(Task))
    return "classification" if value == "classification" else "regression"


def _outputs(value: Any) -> tuple[Any, ...]:
    """Distinct names of outputs."""
    names = tuple(map(scalar, listed(value)))
    if not names or len({repr(name) for name in names}) < len(names):
        raise ValueError("the names of its outputs are none, or not different")
    return names
