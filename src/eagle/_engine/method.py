"""A method is a design, a kernel and a surrogate; parts that do not fit are refused at once.

A choice picks a method for each instance: the default does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, final

import numpy as np

from eagle._values.arrays import Array, Points
from eagle._values.checks import integer, lacking
from eagle._values.text import short_repr
from eagle.contracts import NOTHING, Adaptive, Kernel, Kind, Law, Need, Planned, Space
from eagle.designs.law import law_of
from eagle.errors import InputError
from eagle.surrogates.fit import Surrogate

MOST_PARTS: Final = 2000
"""A choice is described for up to so many parts of an image or a text."""


class _Contract(NamedTuple):
    """What a part of a method is, and the members that it must have."""

    what: str
    members: tuple[str, ...]


DESIGN: Final = _Contract(
    "a design picks points, as eagle.designs.balanced.Sobol() does",
    ("needs", "balanced", "longest", "weight", "plan or ask"),
)
SURROGATE: Final = _Contract(
    "a surrogate fits answers, as eagle.surrogates.robust.Robust() does",
    ("needs", "memory", "on"),
)


@final
@dataclass(frozen=True)
class Method:
    """A way to explain: a design picks the points, a kernel weighs them, a surrogate is fitted.

    Masks say which parts of an image or a text are kept; they are weighed by `on_masks` if given.
    `budget` is how many rows the model is asked unless the caller says otherwise.
    """

    name: str
    design: Planned | Adaptive
    kernel: Kernel
    surrogate: Surrogate
    on_masks: Kernel | None = None
    budget: int = 500
    by_value: ClassVar = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(f"the name of a method is text, not {short_repr(self.name)}")
        integer(self.budget, f"the budget of {self.name}", 1)
        _check_part(self.name, self.design, DESIGN)
        _check_part(self.name, self.surrogate, SURROGATE)
        on_masks = self.kernel if self.on_masks is None else self.on_masks
        for kernel in (self.kernel, on_masks):
            if not callable(kernel):
                raise InputError(
                    f"{self.name}: a kernel is a function of features and an anchor, such as "
                    f"eagle.kernels.Exponential(), not {short_repr(kernel)}"
                )
        if Need.BALANCED in self.surrogate.needs and not self.design.balanced:
            raise InputError(
                f"{self.name}: {type(self.surrogate).__name__} needs {Need.BALANCED.value}. The "
                f"rows of {type(self.design).__name__} are not balanced, so intervals would be too "
                "narrow: "
                "use Robust(), or a balanced design such as eagle.designs.balanced.Sobol()"
            )

    def where(self, dear: bool) -> Method:
        """Returns itself. Only a `Choice` picks another method where each row is paid for."""
        return self

    def of(self, space: Space, rows: int, growing: bool) -> Method:
        """Returns itself. Only a `Choice` picks a method for each space."""
        return self

    def rows(self, features: int | None) -> int:
        """How many rows are asked unless the caller says otherwise."""
        return self.budget

    def describe(self, kind: Kind, rows: int) -> str:
        """Its name."""
        return self.name

    @property
    def planned(self) -> bool:
        """Whether all points are known before any answer."""
        return isinstance(self.design, Planned)

    @property
    def needs(self) -> frozenset[Need]:
        """The needs of design and surrogate, minus those that the method itself meets or checks."""
        met = {Need.BALANCED, Need.WHOLE, Need.LAW}
        return (self.design.needs | self.surrogate.needs) - met

    @property
    def nested(self) -> bool:
        """Whether a plan is the beginning of every longer one, so that it can grow."""
        return Need.WHOLE not in self.design.needs

    def surrogate_features(self, space: Space, points: Points, features: Array) -> Array:
        """What the surrogate is fitted on: the points' features, or their values if it needs them.

        Values belong to one instance, even if others share points, features and weights.
        """
        return space.values(points) if Need.VALUES in self.needs else features

    def kernel_in(self, space: Space) -> Kernel:
        """The kernel that weighs points of this space."""
        return self.on_masks if space.masks and self.on_masks is not None else self.kernel

    def law(self, space: Space) -> Law | None:
        """The law that scores are about, if the surrogate needs it."""
        known = Need.LAW in self.surrogate.needs
        return law_of(space, self.kernel_in(space)) if known else None

    def weight(self, space: Space, features: Array) -> Array:
        """How much each row counts, shape (n,)."""
        weight = np.asarray(self.design.weight(space, self.kernel_in(space), features))
        if weight.shape != (len(features),) or not (np.isfinite(weight) & (weight >= 0)).all():
            raise InputError(
                f"{self.name}: the weight of {type(self.design).__name__} must be a finite number "
                f"of at least 0 for each of {len(features)} rows, not {short_repr(weight)}"
            )
        return weight


Pick: TypeAlias = Callable[[int, bool, int, bool], Method]
"""A function that picks a method from the number of features, whether they are masks, how many rows
may be asked, and whether plans grow. Plans that grow must be nested."""


@final
@dataclass(frozen=True)
class Choice:
    """A method for each instance, by its kind, its number of features and the rows it may ask.

    By default, a table is asked `per_feature` rows for each feature, at least `budget`. Images and
    texts, whose number of features varies, are asked `budget` rows. `dear` is the choice that takes
    its place where each row is paid for.
    """

    name: str
    pick: Pick
    budget: int = 500
    per_feature: int = 20
    dear: Choice | None = None
    needs: ClassVar = NOTHING
    planned: ClassVar = True
    by_value: ClassVar = False

    def where(self, dear: bool) -> Choice:
        """The choice where each row is paid for, or not."""
        return self.dear if dear and self.dear is not None else self

    def of(self, space: Space, rows: int, growing: bool) -> Method:
        """The method for a space. Growing plans must be nested."""
        return self.pick(len(space.origin), space.masks, rows, growing)

    def describe(self, kind: Kind, rows: int) -> str:
        """Its name, and those of the methods that it picks for such a source and so many rows."""
        if kind.features is not None:
            return f"{self.name}, by {self.pick(kind.features, False, rows, False).name}"
        if Need.MASKS not in kind.offers:
            return self.name
        names = [self.pick(d, True, rows, False).name for d in range(1, min(rows, MOST_PARTS) + 2)]
        ends = [d for d in range(1, len(names)) if names[d] != names[d - 1]]
        parts = [f"by {names[d - 1]} up to {d:,} part{'s' if d > 1 else ''}" for d in ends]
        return ", ".join([self.name, *parts, f"by {names[-1]}{' for more' if ends else ''}"])

    def rows(self, features: int | None) -> int:
        """How many rows are asked unless the caller says otherwise."""
        return max(self.budget, self.per_feature * (features or 0))


def refuse_needs(name: str, needs: frozenset[Need], kind: Kind) -> None:
    """Refuse a method that needs what a source does not offer, before anything is asked."""
    for need in (Need.TABLE, Need.ROWS, Need.MASKS, Need.MATCHES, Need.OFFSETS):
        if need in needs - kind.offers:
            raise InputError(f"{name} needs {need.value}{kind.hints.get(need, '')}")


def _check_part(name: str, part: Any, contract: _Contract) -> None:
    """Refuse a part of a method that lacks a member of its contract, and say which."""
    if isinstance(part, type):
        raise InputError(
            f"{name}: {part.__name__} is a class, not a value of it: write {part.__name__}(…)"
        )
    absent = lacking(part, *contract.members)
    if absent:
        raise InputError(
            f"{name}: {contract.what}. {short_repr(part)} does not: it lacks {', '.join(absent)}"
        )
    if type(part).__hash__ is None:
        raise InputError(
            f"{name}: {type(part).__name__} must have a hash, since plans are kept by method: make "
            "it a frozen dataclass"
        )
    if not isinstance(part.needs, frozenset) or not all(isinstance(n, Need) for n in part.needs):
        raise InputError(
            f"{name}: the needs of {type(part).__name__} are a frozenset of eagle.contracts.Need, "
            "not "
            f"{short_repr(part.needs)}"
        )
