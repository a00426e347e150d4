"""A method is a design, a kernel and a surrogate; parts that do not fit are refused at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

from eagle.surrogate.fit import Surrogate
from eagle.types import Adaptive, Array, InputError, Kernel, Need, Planned, Points, Space, told

DESIGN: Final = ("needs", "balanced", "longest", "weight")
SURROGATE: Final = ("needs", "room", "on")


@final
@dataclass(frozen=True)
class Method:
    """A way to explain: a design picks the points, a kernel weighs them, a surrogate is fitted.

    On masks, which parts of an image or a text are kept, `on_masks` weighs them if given.
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
                f"Rows of {type(self.design).__name__} do not, and intervals would be too narrow: "
                "use Robust(), or a balanced design such as eagle.design.balanced.Sobol()"
            )

    @property
    def planned(self) -> bool:
        """Whether all points are known before any answer."""
        return isinstance(self.design, Planned)

    @property
    def needs(self) -> frozenset[Need]:
        """What the method cannot do without: what its parts cannot, but for one another."""
        return (self.design.needs | self.surrogate.needs) - {Need.BALANCED}

    def fitted_on(self, space: Space, points: Points, features: Array) -> Array:
        """What the surrogate sees of the points: their features, or their values if it needs them.

        Values are a row's own, also where rows of one law share points, features and weights.
        """
        return space.values(points) if Need.VALUES in self.needs else features

    def kernel_in(self, space: Space) -> Kernel:
        """The kernel that weighs points of this space."""
        return self.on_masks if space.masks and self.on_masks is not None else self.kernel

    def weight(self, space: Space, features: Array) -> Array:
        """How much each row counts, shape (n,)."""
        return self.design.weight(space, self.kernel_in(space), features)


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
    """Which members of a contract a part lacks, in words."""
    found = [name for name in members if name not in dir(part)]
    if either and not {"plan", "ask"} & set(dir(part)):
        found.append(either)
    return ", no ".join(found) or "instance: give a value, not a class"
