"""What an explainer works with: plain values that do not fit are refused here, before any work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, final

from eagle._engine.foreign import ForeignMethod
from eagle._engine.method import Choice, Method, refuse_needs
from eagle._engine.planning import Planner
from eagle._values.checks import integer
from eagle._values.names import method_by_name
from eagle._values.text import short_repr
from eagle.contracts import Source, Space
from eagle.errors import InputError
from eagle.models.box import Box

AnyMethod: TypeAlias = Method | Choice | ForeignMethod
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
        method: AnyMethod | str,
        budget: int | None,
        seed: int,
        batch_rows: int,
    ) -> Setup:
        """The setup, unless the method cannot work there. No budget means the method's own."""
        if isinstance(method, str):
            method = method_by_name(method)
        if not isinstance(method, AnyMethod):
            raise InputError(
                "a method is a name such as 'lime', or a value such as eagle.methods.EAGLE, not "
                f"{short_repr(method)}"
            )
        batch_rows = integer(batch_rows, "batch_rows", 1)
        method = method.where(source.kind.dear)
        seed = integer(seed, "random_state", 0)
        refuse_needs(method.name, method.needs, source.kind)
        box.refuse(method.name, method.needs)
        source.keep(method.needs)
        rows = method.rows(source.kind.features) if budget is None else budget
        return cls(source, box, method, integer(rows, "budget", 1), seed, batch_rows)

    def planner(self, space: Space, growing: bool = False) -> Planner:
        """The planner of a space. Growing plans must be nested."""
        if isinstance(self.method, ForeignMethod):
            raise InputError(f"{self.method.name} asks the model itself: it has no plan")
        return Planner(self.method.of(space, self.budget, growing), self.budget, self.seed)
