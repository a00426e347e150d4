"""Anything made of parts: a prompt of sentences, a basket of goods, a list of events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from eagle._sources.in_parts import call, distinct_names, part_groups
from eagle._sources.masks import MASKS, Fair, Sizes, check_mask_law
from eagle._values.arrays import Points
from eagle._values.checks import check_function, elements
from eagle._values.text import short_repr
from eagle.contracts import Group, Kind, Source, Wanted
from eagle.errors import InputError

MAX_PART_CHARACTERS: Final = 40
"""The number of characters that are shown of a part without a name."""


@final
@dataclass(frozen=True, eq=False)
class Parts(Source):
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
        check_function(self.parts, "parts")
        check_function(self.render, "render")
        if self.names is not None:
            check_function(self.names, "names")
        if not callable(self.fixed):
            fixed = elements(self.fixed, "fixed, the places of parts that are always kept,")
            object.__setattr__(self, "fixed", tuple(fixed))
        check_mask_law(self.sizes)

    @property
    def kind(self) -> Kind:
        return Kind("thing", "binned", MASKS)

    def describe(self) -> list[str]:
        return ["Explains: things, by their parts"]

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        """One thing, or several that share model calls."""
        if not wanted.one and not isinstance(X, Iterable):
            raise InputError(f"several things are a list of them, not {short_repr(X)}")
        things = [X] if wanted.one else list(X)
        return part_groups(things, self._divide, ("thing", "things"), wanted.one, self.sizes)

    def _divide(self, thing: Any) -> ThingInParts:
        parts = _list_of("parts", self.parts, thing)
        fixed = _list_of("fixed", self.fixed, thing) if callable(self.fixed) else list(self.fixed)
        places_fit = all(isinstance(k, int | np.integer) and 0 <= k < len(parts) for k in fixed)
        if not places_fit:
            raise InputError(f"fixed names parts by places from 0 to {len(parts) - 1}: {fixed!r}")
        moved = [k for k in range(len(parts)) if k not in set(map(int, fixed))]
        if not moved:
            raise InputError(f"there is no part to explain in {short_repr(thing)}")
        names = parts if self.names is None else _list_of("names", self.names, thing)
        if len(names) != len(parts):
            raise InputError(f"{len(names)} names do not fit {len(parts)} parts")
        shown = distinct_names([_text(names[k]) for k in moved])
        return ThingInParts(tuple(parts), tuple(moved), shown, self.render)


@final
@dataclass(frozen=True, eq=False)
class ThingInParts:
    """The parts of a thing, the places of those that may be left out, and their names."""

    parts: tuple[Any, ...]
    moved: tuple[int, ...]
    names: tuple[str, ...]
    render: Callable[[list[Any]], Any]
    subject: None = None
    form: Hashable = None
    row_bytes: int = 0

    @property
    def own(self) -> tuple[Any, ...]:
        """The parts themselves, as text where they are not plain values."""
        plain = (str, int, float, bool, type(None))
        parts = [self.parts[k] for k in self.moved]
        return tuple(p if isinstance(p, plain) else _text(p) for p in parts)

    def inputs(self, points: Points) -> list[Any]:
        return [self._render(mask) for mask in points]

    def _render(self, mask: Points) -> Any:
        off = {k for k, out in zip(self.moved, mask, strict=True) if out}
        kept = [part for k, part in enumerate(self.parts) if k not in off]
        return call("render", self.render, kept, f" for {len(kept)} of {len(self.parts)} parts")


def _list_of(name: str, function: Callable[[Any], Iterable[Any]], thing: Any) -> list[Any]:
    """The result of a caller's function of a thing, as a list."""
    what, about = f"the function {name}", f" for {short_repr(thing)}"
    made: list[Any] = call(what, lambda given: list(function(given)), thing, about)
    return made


def _text(part: Any) -> str:
    """A part as text, shortened."""
    text = part if isinstance(part, str) else short_repr(part)
    return text if len(text) <= MAX_PART_CHARACTERS else text[: MAX_PART_CHARACTERS - 1] + "…"
