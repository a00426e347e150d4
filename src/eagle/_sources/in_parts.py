"""Things that are made of parts: what images, texts, series and prompts share when they are asked.

A source divides a thing; all else is here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from eagle._sources.masks import MaskSpace, OffsetSpace, Sizes
from eagle._values.arrays import Array, Points
from eagle._values.checks import each_placed
from eagle._values.text import message_of
from eagle.contracts import Group, Instances
from eagle.errors import InputError


class InParts(Protocol):
    """A thing that is explained, divided into parts that are kept or off."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts, which differ from one another."""

    @property
    def own(self) -> tuple[Any, ...]:
        """The value of each part."""

    @property
    def subject(self) -> Any:
        """What is shown of it; None if nothing is."""

    @property
    def form(self) -> Hashable:
        """Things of different forms never share a call."""

    @property
    def row_bytes(self) -> int:
        """The least memory of one input; 0 if it need not be counted."""

    def inputs(self, points: Points) -> Any:
        """What the model is asked at some points, an array or a list."""


@final
@dataclass(frozen=True, eq=False)
class PartInstances(Instances):
    """Things in parts. A part is kept or off by the law `sizes`; without one, each is moved."""

    things: Sequence[InParts]
    sizes: Sizes | None

    def __len__(self) -> int:
        return len(self.things)

    @property
    def row_bytes(self) -> int:
        return max(thing.row_bytes for thing in self.things)

    def names(self, i: int) -> tuple[str, ...]:
        return self.things[i].names

    def conditions(self, i: int) -> tuple[str, ...]:
        return self.names(i)

    def own(self, i: int) -> tuple[Any, ...]:
        return self.things[i].own

    def contrast(self, i: int) -> Array:
        return np.full(len(self.names(i)), np.nan if self.sizes is None else 1.0)

    def subject(self, i: int) -> Any:
        return self.things[i].subject

    def space(self, i: int) -> MaskSpace | OffsetSpace:
        d = len(self.names(i))
        return OffsetSpace(d) if self.sizes is None else MaskSpace(d, self.sizes)

    def inputs(self, rows: Sequence[int], points: Sequence[Points]) -> Any:
        each = [self.things[i].inputs(some) for i, some in zip(rows, points, strict=True)]
        if len(each) == 1:
            return each[0]
        if isinstance(each[0], np.ndarray):
            return np.concatenate(each)
        return [made for some in each for made in some]


def part_groups(
    given: Sequence[Any],
    divide: Callable[[Any], InParts],
    what: tuple[str, str],
    one: bool,
    sizes: Sizes | None,
) -> list[Group]:
    """Things in parts as instances, those of one form together. `what` they are, one and many."""
    if not given:
        raise InputError(f"there are no {what[1]} to explain")
    things = each_placed(given, divide, what[0], one)
    alike: dict[Hashable, list[int]] = {}
    for place, thing in enumerate(things):
        alike.setdefault(thing.form, []).append(place)
    return [
        Group(PartInstances([things[k] for k in places], sizes), places)
        for places in alike.values()
    ]


def call(what: str, function: Callable[[Any], Any], given: Any, about: str = "") -> Any:
    """What a caller's function returns. `what` it is called in an error, which is `about` this."""
    try:
        return function(given)
    except Exception as error:
        raise InputError(
            f"{what} raised {type(error).__name__}{about}: {message_of(error)}"
        ) from error


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Distinct names: equal ones get their place as a suffix."""
    often = Counter(names)
    return tuple(n if often[n] == 1 else f"{n} [{k}]" for k, n in enumerate(names))


def cast_fill(dtype: np.dtype[Any], fill: NDArray[Any], exact: bool = False) -> NDArray[Any]:
    """A fill in the dtype of what it fills: rounded and clipped, unless it must be exact."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            cast = fill.astype(dtype)
        if np.isfinite(cast).all():
            return np.asarray(cast)
    elif np.isfinite(fill).all():
        whole = np.clip(np.rint(fill), *_range(dtype))
        if not exact or (whole == fill).all():
            return np.asarray((fill if exact else whole).astype(dtype))
    raise InputError(f"a fill must be finite numbers that {dtype} can hold")


def _range(dtype: np.dtype[Any]) -> tuple[float, float]:
    """The least and the greatest float that such integers, or booleans, can hold."""
    if dtype.kind == "b":
        return 0.0, 1.0
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return float(low), float(high if float(high) <= high else np.nextafter(float(high), 0.0))
