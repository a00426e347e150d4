"""A plan is a thing: print it, price it, save it, send it to a paid API, answer it tomorrow."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, final

import numpy as np

from eagle import sealed
from eagle.engine.plan import Prepared
from eagle.explanation import (
    TASKS,
    Bill,
    Evidence,
    Explanation,
    Target,
    aimed_at,
    described,
    explained,
    plain_json,
    refuse_pair,
)
from eagle.models.box import Box, Task
from eagle.sealed import (
    FAULTS,
    WIDEST,
    flag,
    floats,
    listed,
    mapping,
    null,
    number_or,
    one_of,
    pack,
    scalar,
    text,
    unpack,
    whole,
    why,
)
from eagle.space import subject as subjects
from eagle.space.subject import Subject
from eagle.surrogate import saved
from eagle.surrogate.fit import Surrogate
from eagle.types import Array, InputError, Need, Rows

SCHEMA = 3
SEALED = 3
"""Since this schema files have a checksum."""

OLDEST = 2


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """All that is known about an explanation before the model has answered.

    `inputs` is the table to ask, in the model's own form; its first row is the instance. A plan
    read from a file has no inputs: they were written beside it.
    """

    names: tuple[str, ...]
    conditions: tuple[str, ...]
    values: tuple[Any, ...]
    contrast: Array
    prepared: Prepared
    method: str
    surrogate: Surrogate
    seed: int
    box: Box
    subject: Subject | None = None
    inputs: Any = field(default=None, repr=False)

    @property
    def rows(self) -> int:
        """How many rows the model is to answer: the price."""
        return len(self.prepared.points)

    def __repr__(self) -> str:
        return f"<Plan of {self.rows} rows for {len(self.names)} features by {self.method}>"

    def fit(self, answers: Any, target: Target = None) -> Explanation:
        """The explanation, now that the model has answered: one row of outputs for each input."""
        checked = self.box.read(answers, self.rows)
        return self.explain(checked, target, Bill(self.rows, 0, 0.0, 0.0))

    def explain(self, answers: Array, target: Target, bill: Bill) -> Explanation:
        """From checked answers, shape (rows, outputs), and what they cost."""
        refuse_pair(self.method, self.surrogate, target)
        task, outputs = self.box.understood(answers)
        target = aimed_at(target, answers, task, outputs)
        y = explained(answers, outputs, target)
        p = self.prepared
        return Explanation(
            names=self.names,
            conditions=self.conditions,
            values=self.values,
            target=target,
            outputs=outputs,
            task=task,
            contrast=self.contrast,
            evidence=Evidence(p.points, p.rows.features, p.rows.weight, answers, p.rows.often),
            bill=bill,
            method=self.method,
            surrogate=self.surrogate,
            seed=self.seed,
            subject=self.subject,
            **described(p.fitter.fit(y), y),
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the plan, without its inputs, as JSON with a checksum."""
        if len(self.names) > WIDEST:
            raise InputError(f"a plan for more than {WIDEST} features cannot be saved")
        p = self.prepared
        data = {
            "schema": SCHEMA,
            "kind": "eagle plan",
            "method": self.method,
            "seed": self.seed,
            "surrogate": saved.to_dict(self.surrogate),
            "task": self.box.task,
            "margin": self.box.margin,
            "outputs": plain_json(self.box.outputs),
            "features": [
                {"name": n, "condition": c, "value": plain_json(v), "contrast": null(float(k))}
                for n, c, v, k in zip(
                    self.names, self.conditions, self.values, self.contrast, strict=True
                )
            ],
            "points": pack(p.points),
            "z": pack(p.rows.features),
            "weight": pack(p.rows.weight),
            **saved.repeats(p.rows.often),
            "subject": subjects.to_dict(self.subject),
        }
        sealed.write(path, json.dumps(sealed.sealed(data), allow_nan=False))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Plan:
        """Read what `save` wrote. Nothing in the file is ever run."""
        try:
            data = mapping(sealed.parse(sealed.load(path)))
            if data["kind"] != "eagle plan":
                raise ValueError("it is something else")
            schema = whole(data["schema"])
            if not OLDEST <= schema <= SCHEMA:
                raise ValueError(f"it has schema {schema}, not {OLDEST} to {SCHEMA}")
            sealed.check(data, schema, SEALED)
            return _read(data)
        except FAULTS as error:
            raise InputError(
                f"{path} is not a plan saved by this version of eagle: {why(error)}"
            ) from None


def _read(data: Mapping[str, Any]) -> Plan:
    features, outputs = [mapping(f) for f in listed(data["features"])], data["outputs"]
    if not 0 < len(features) <= WIDEST:
        raise ValueError(f"it has {len(features)} features")
    surrogate = saved.read(data["surrogate"])
    z, points = saved.features(data["z"], surrogate), unpack(data["points"], 2)
    weight = floats(data["weight"], 1)
    if not len(z) or z.shape != (len(weight), len(features)) or len(points) != len(z):
        raise ValueError("the arrays do not fit one another")
    if (weight < 0).any():
        raise ValueError("a weight is negative")
    often = saved.often(data, surrogate)
    rows = Rows(z, weight, often, Need.BALANCED in surrogate.needs)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of numbers that no plan has
        fitter = surrogate.on(rows)
    return Plan(
        names=tuple(text(f["name"]) for f in features),
        conditions=tuple(text(f["condition"]) for f in features),
        values=tuple(f["value"] for f in features),
        contrast=np.array([number_or(f["contrast"], np.nan) for f in features]),
        prepared=Prepared(points, rows, fitter),
        method=text(data["method"]),
        surrogate=surrogate,
        seed=whole(data["seed"]),
        box=Box(
            None,
            "a plan",
            None if data["task"] is None else _task(data["task"]),
            None if outputs is None else _outputs(outputs),
            flag(data["margin"]),
        ),
        subject=subjects.read(data["subject"], len(features)),
    )


def _task(value: Any) -> Task:
    one_of(value, TASKS)
    return "classification" if value == "classification" else "regression"


def _outputs(value: Any) -> tuple[Any, ...]:
    """Names of outputs: each once."""
    found = tuple(map(scalar, listed(value)))
    if not found or len({repr(name) for name in found}) < len(found):
        raise ValueError("the names of its outputs are none, or not different")
    return found
