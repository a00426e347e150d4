"""Anything made of parts: a prompt of sentences, a basket of goods, a list of events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from eagle.source.masks import MASKS, Fair, MaskSpace, Sizes, check_mask_law
from eagle.types import Array, Group, InputError, Kind, Need, Points, Wanted, message_of, told

WIDEST = 40
"""The number of characters that are shown of a part without a name."""


@final
@dataclass(frozen=True, eq=False)
class Parts:
    """Things that are made of parts. Each part is kept or left out.

    Examples:
        >>> basket = eagle.Parts(list, list)  # into its goods, and back into a basket
        >>> explainer = eagle.Explainer(lambda baskets: np.array([sum(b) for b in baskets]), basket)
        >>> explainer.explain([3.0, -1.0, 10.0]).scores.round(6).tolist()
        [3.0, -1.0, 10.0]

    `parts` is a function from a thing to its parts, such as `list` or `str.split`. `render` builds
    the model's input from the parts that are kept, in their order; the model gets a list of such
    inputs. `names` is a function from a thing to the names of its parts; without it, parts are
    shown as they are. `fixed` lists the places of parts that are always kept and never scored; it
    may be a function from a thing to these places. `sizes` is the law of masks: `Fair` coins, or
    `EvenSizes`, as LIME draws words.
    """

    parts: Callable[[Any], Iterable[Any]]
    render: Callable[[list[Any]], Any]
    names: Callable[[Any], Iterable[Any]] | None = None
    fixed: Collection[int] | Callable[[Any], Collection[int]] = ()
    sizes: Sizes = field(default_factory=Fair)

    def __post_init__(self) -> None:
        for name, value in (("parts", self.parts), ("render", self.render)):
            if not callable(value):
                raise InputError(f"{name} is a function, such as list, not {told(value)}")
        if self.names is not None and not callable(self.names):
            raise InputError(f"names is a function from a thing to names, not {told(self.names)}")
        if not (callable(self.fixed) or isinstance(self.fixed, Collection)):
            raise InputError(
                f"fixed lists the places of parts that are always kept, not {told(self.fixed)}"
            )
        check_mask_law(self.sizes)

    @property
    def kind(self) -> Kind:
        return Kind("thing", "binned", MASKS)

    def describe(self) -> list[str]:
        return ["Explains: things, by their parts"]

    def keep(self, needs: frozenset[Need]) -> None:
        pass  # there is no data to keep

    def without(self, needs: frozenset[Need]) -> Parts:
        return self

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        """One thing, or several that share model calls."""
        if not wanted.one and not isinstance(X, Iterable):
            raise InputError(f"several things are a list of them, not {told(X)}")
        things = [X] if wanted.one else list(X)
        if not things:
            raise InputError("there are no things to explain")
        instances = PartInstances(tuple(self._taken(thing) for thing in things), self)
        return [Group(instances, range(len(things)))]

    def _taken(self, thing: Any) -> ThingInParts:
        parts = _called("parts", self.parts, thing)
        fixed = _called("fixed", self.fixed, thing) if callable(self.fixed) else list(self.fixed)
        places_fit = all(isinstance(k, int | np.integer) and 0 <= k < len(parts) for k in fixed)
        if not places_fit:
            raise InputError(f"fixed names parts by places from 0 to {len(parts) - 1}: {fixed!r}")
        moved = [k for k in range(len(parts)) if k not in set(map(int, fixed))]
        if not moved:
            raise InputError(f"there is no part to explain in {told(thing)}")
        names = parts if self.names is None else _called("names", self.names, thing)
        if len(names) != len(parts):
            raise InputError(f"{len(names)} names do not fit {len(parts)} parts")
        return ThingInParts(tuple(parts), tuple(moved), _distinct([_text(names[k]) for k in moved]))


@final
@dataclass(frozen=True, eq=False)
class ThingInParts:
    """The parts of a thing, the places of those that may be left out, and their names."""

    parts: tuple[Any, ...]
    moved: tuple[int, ...]
    names: tuple[str, ...]


@final
@dataclass(frozen=True, eq=False)
class PartInstances:
    """Things to be explained by their parts."""

    things: tuple[ThingInParts, ...]
    how: Parts
    row_bytes: int = 0

    def __len__(self) -> int:
        return len(self.things)

    def names(self, i: int) -> tuple[str, ...]:
        return self.things[i].names

    def conditions(self, i: int) -> tuple[str, ...]:
        return self.names(i)

    def own(self, i: int) -> tuple[Any, ...]:
        """The parts themselves, as text where they are not plain values."""
        thing = self.things[i]
        plain = (str, int, float, bool, type(None))
        parts = [thing.parts[k] for k in thing.moved]
        return tuple(p if isinstance(p, plain) else _text(p) for p in parts)

    def contrast(self, i: int) -> Array:
        return np.ones(len(self.names(i)))

    def moves(self, i: int) -> None:
        return None

    def subject(self, i: int) -> None:
        return None

    def space(self, i: int) -> MaskSpace:
        return MaskSpace(len(self.names(i)), self.how.sizes)

    def inputs(self, rows: Sequence[int], points: Sequence[Points]) -> list[Any]:
        return [
            self._rendered(self.things[i], mask)
            for i, some in zip(rows, points, strict=True)
            for mask in some
        ]

    def _rendered(self, thing: ThingInParts, mask: Points) -> Any:
        off = {k for k, out in zip(thing.moved, mask, strict=True) if out}
        kept = [part for k, part in enumerate(thing.parts) if k not in off]
        try:
            return self.how.render(kept)
        except Exception as error:
            raise InputError(
                f"render raised {type(error).__name__} for {len(kept)} of {len(thing.parts)} "
                f"parts: {message_of(error)}"
            ) from error


def _called(name: str, function: Callable[[Any], Iterable[Any]], thing: Any) -> list[Any]:
    """The result of a caller's function of a thing, as a list."""
    try:
        return list(function(thing))
    except Exception as error:
        raise InputError(
            f"the function {name} raised {type(error).__name__} for {told(thing)}: "
            f"{message_of(error)}"
        ) from error


def _text(part: Any) -> str:
    """A part as text, shortened."""
    text = part if isinstance(part, str) else told(part)
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Distinct names: equal ones get their place as a suffix."""
    return tuple(n if names.count(n) == 1 else f"{n} [{k}]" for k, n in enumerate(names))
