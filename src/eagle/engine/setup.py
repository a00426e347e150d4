"""What an explainer works with, and how it explains with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, final

from eagle import foreign
from eagle.engine import cost, run
from eagle.engine.method import Choice, Method, refuse_needs
from eagle.engine.plan import Planning
from eagle.engine.run import Meter, PlacedExplanations, Request, Show
from eagle.engine.walk import Watch
from eagle.foreign import Foreign
from eagle.models.box import Box
from eagle.targets import Target, refuse_target
from eagle.types import Group, InputError, Instances, Source, Wanted, integer, told
from eagle.until import Budget, Rule, refuse_limit, refuse_rule

AnyMethod: TypeAlias = Method | Choice | Foreign
"""A method, a choice of methods, or a method of another package."""


@final
@dataclass(frozen=True, eq=False)
class Setup:
    """The model in its `box`, the `source` of what is explained, and the method that explains it.

    Each instance is asked `budget` rows, and no call has more rows than `batch_rows`.
    """

    source: Source
    box: Box
    method: AnyMethod
    budget: int
    seed: int
    batch_rows: int

    @classmethod
    def of(
        cls,
        source: Source,
        box: Box,
        method: AnyMethod,
        budget: int | None,
        seed: int,
        batch_rows: int,
    ) -> Setup:
        """The setup, unless the method cannot work there. No budget means the method's own."""
        if not isinstance(method, AnyMethod):
            raise InputError(f"a method is a value such as eagle.methods.EAGLE, not {told(method)}")
        batch_rows = integer(batch_rows, "batch_rows", 1)
        method = method.where(source.kind.dear)
        seed = integer(seed, "random_state", 0)
        refuse_needs(method.name, method.needs, source.kind)
        box.refuse(method.name, method.needs)
        source.keep(method.needs)
        rows = method.rows(source.kind.features) if budget is None else budget
        return cls(source, box, method, integer(rows, "budget", 1), seed, batch_rows)

    @property
    def planning(self) -> Planning | None:
        """How rows are planned; None where another package asks the model itself."""
        if isinstance(self.method, Foreign):
            return None
        return Planning(self.method, self.budget, self.seed)

    def one(self, x: Any, until: Rule | None = None) -> Group:
        """A single instance."""
        groups = self.groups(x, until, one=True)
        count = sum(len(group.instances) for group in groups)
        if count != 1:
            what = self.source.kind.asked or "row"
            raise InputError(f"explain takes one {what}, but {count} came: use explain_many")
        return groups[0]

    def groups(self, X: Any, until: Rule | None = None, one: bool = False) -> list[Group]:
        """X as instances, in groups that share no call."""
        budget = self.budget
        if until is not None:
            refuse_rule(until, self.method.name, self.method.planned)
            budget = int(min(budget, until.most))
        wanted = Wanted(one, budget, self.method.needs, self.method.by_value)
        return self.source.groups(X, wanted)

    def check_target(self, target: Target) -> None:
        """Refuse a target that the model or the method does not have."""
        refuse_target(self.method.name, self.method.needs, target, self.box.outputs)

    def explain(
        self,
        groups: Sequence[Group],
        target: Target,
        until: Rule | None = None,
        limit: Budget | None = None,
        watch: Watch | None = None,
        show: Show | None = None,
    ) -> PlacedExplanations:
        """Explanations of all instances, each with the place of its instance."""
        self.check_target(target)
        if limit is not None:
            refuse_limit(limit)
            if until is None:
                cost.refuse_over(limit, self.planning, groups, self.batch_rows)
        asked, explain = self._way
        meter = Meter(asked, limit)
        request = Request(self.box, meter, target, self.batch_rows, until, watch, show)
        return run.each(groups, explain, request)

    @property
    def _way(self) -> tuple[Box, Callable[[Instances, Request], PlacedExplanations]]:
        """The box to ask, and the function that explains: ours, or that of another package."""
        if isinstance(self.method, Foreign):
            every = replace(self.box, partial=False)  # other packages need every answer
            return every, partial(foreign.explain, self.method, self.budget, self.seed)
        return self.box, partial(run.explain, Planning(self.method, self.budget, self.seed))
