"""A plan is a thing: print it, price it, save it, send it to a paid API, answer it tomorrow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np

from eagle.explain import Prepared
from eagle.explanation import (
    Bill,
    Evidence,
    Explanation,
    Target,
    aimed_at,
    described,
    explained,
    from_null,
    null,
    pack,
    plain_json,
    read_subject,
    refuse_pair,
    subject_to_dict,
    unpack,
)
from eagle.models.box import Box
from eagle.space.subject import Subject
from eagle.surrogate import saved
from eagle.surrogate.fit import Surrogate
from eagle.types import Array, InputError

SCHEMA = 2


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
            evidence=Evidence(p.points, p.features, p.weight, answers),
            bill=bill,
            method=self.method,
            surrogate=self.surrogate,
            seed=self.seed,
            subject=self.subject,
            **described(p.fitter.fit(y), y),
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the plan, without its inputs, as JSON."""
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
            "z": pack(p.features),
            "weight": pack(p.weight),
            "subject": subject_to_dict(self.subject),
        }
        Path(path).write_text(json.dumps(data, allow_nan=False), encoding="utf-8")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Plan:
        """Read what `save` wrote. Nothing in the file is ever run."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            if data["kind"] != "eagle plan" or data["schema"] != SCHEMA:
                raise KeyError("kind")
            return _read(data)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
            raise InputError(f"{path} is not a plan saved by this version of eagle") from None


def _read(data: Mapping[str, Any]) -> Plan:
    features, outputs = data["features"], data["outputs"]
    z, weight = unpack(data["z"]).astype(np.float64), unpack(data["weight"]).astype(np.float64)
    surrogate = saved.read(data["surrogate"])
    if z.shape != (len(weight), len(features)):
        raise ValueError("the arrays do not fit one another")
    return Plan(
        names=tuple(str(f["name"]) for f in features),
        conditions=tuple(str(f["condition"]) for f in features),
        values=tuple(f["value"] for f in features),
        contrast=np.array([from_null(f["contrast"]) for f in features]),
        prepared=Prepared(unpack(data["points"]), z, weight, surrogate.on(z, weight)),
        method=str(data["method"]),
        surrogate=surrogate,
        seed=int(data["seed"]),
        box=Box(
            None,
            "a plan",
            data["task"],
            None if outputs is None else tuple(outputs),
            bool(data["margin"]),
        ),
        subject=read_subject(data["subject"], len(features)),
    )
