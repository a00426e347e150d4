"""A plan is a thing: print it, price it, save it, send it to a paid API, answer it tomorrow."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import Any, final

from eagle.engine.method import Method
from eagle.engine.plan import Prepared
from eagle.explanation import Bill, Evidence, Explanation, described
from eagle.models.box import Box
from eagle.subject import Subject
from eagle.surrogate.fit import Surrogate
from eagle.targets import Target, aimed_at, explained, refuse_pair
from eagle.types import Array, Instances


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

    @classmethod
    def of(
        cls,
        instances: Instances,
        i: int,
        prepared: Prepared,
        method: Method,
        seed: int,
        box: Box,
    ) -> Plan:
        """What is known of instance i, and what was prepared for it."""
        return cls(
            names=instances.names(i),
            conditions=instances.conditions(i),
            values=instances.own(i),
            contrast=instances.contrast(i),
            prepared=prepared,
            method=method.name,
            surrogate=method.surrogate,
            seed=seed,
            box=box,
            subject=instances.subject(i),
        )

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
        refuse_pair(self.method, self.surrogate.needs, target)
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
        from eagle.files import plans

        plans.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Plan:
        """Read what `save` wrote. Nothing in the file is ever run."""
        from eagle.files import plans

        return plans.load(path)
