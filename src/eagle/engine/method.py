"""A method is a design, a kernel and a surrogate; parts that do not fit are refused at once.

A choice picks a method for each instance: the default does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias, final

from eagle.design.law import law_of
from eagle.surrogate.fit import Surrogate
from eagle.types import (
    NOTHING,
    Adaptive,
    Array,
    InputError,
    Kernel,
    Kind,
    Law,
    Need,
    Planned,
    Points,
    Space,
    told,
)

DESIGN: Final = ("needs", "balanced", "longest", "weight")
SURROGATE: Final = ("needs", "room", "on")


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
        _check_design(self.name, self.design)
        _check_surrogate(self.name, self.surrogate)
        for kernel in (self.kernel, self.on_masks):
            if kernel is not None and not callable(kernel):
                raise InputError(
                    f"{self.name}: a kernel is a function of features and an anchor, such as "
                    f"eagle.kernel.Exponential(), not {told(kernel)}"
                )
        if Need.BALANCED in self.surrogate.needs and not self.design.balanced:
            raise InputError(
                f"{self.name}: {type(self.surrogate).__name__} needs {Need.BALANCED.value}. "
                f"Rows of {type(self.design).__name__} are not, so intervals would be too narrow: "
                "use Robust(), or a balanced design such as eagle.design.balanced.Sobol()"
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

    def describe(self, features: int | None, rows: int) -> str:
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

    def fitted_on(self, space: Space, points: Points, features: Array) -> Array:
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
        return self.design.weight(space, self.kernel_in(space), features)


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

    def describe(self, features: int | None, rows: int) -> str:
        """Its name, and that of the method for a table, whose number of features is known."""
        if features is None:
            return self.name
        return f"{self.name}, by {self.pick(features, False, rows, False).name}"

    def rows(self, features: int | None) -> int:
        """How many rows are asked unless the caller says otherwise."""
        return max(self.budget, self.per_feature * (features or 0))


def refuse_needs(name: str, needs: frozenset[Need], kind: Kind) -> None:
    """Refuse a method that needs what a source does not offer, before anything is asked."""
    for need in (Need.TABLE, Need.ROWS, Need.MASKS, Need.MATCHES, Need.OFFSETS):
        if need in needs - kind.offers:
            raise InputError(f"{name} needs {need.value}{kind.hints.get(need, '')}")


def _check_design(name: str, design: Any) -> None:
    if isinstance(design, Planned | Adaptive) and not isinstance(design, type):
        return
    raise InputError(
        f"{name}: a design picks points, such as eagle.design.balanced.Sobol(), and "
        f"{told(design)} is none: it has no {_lacking(design, DESIGN, 'plan or ask')}"
    )


def _check_surrogate(name: str, surrogate: Any) -> None:
    if isinstance(surrogate, Surrogate) and not isinstance(surrogate, type):
        return
    raise InputError(
        f"{name}: a surrogate is fitted to answers, such as eagle.surrogate.robust.Robust(), and "
        f"{told(surrogate)} is none: it has no {_lacking(surrogate, SURROGATE, '')}"
    )


def _lacking(part: Any, members: tuple[str, ...], either: str) -> str:
    """Which members of a contract a part lacks, as text."""
    absent = [name for name in members if name not in dir(part)]
    if either and not {"plan", "ask"} & set(dir(part)):
        absent.append(either)
    return ", no ".join(absent) or "instance: give a value, not a class"
