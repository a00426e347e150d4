"""What can be opened on the page: rows of a table, images or texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypedDict, final

import numpy as np

from eagle.explanations import row_ids
from eagle.types import InputError, clean, short
from eagle.web.find import Indices

LABEL: Final = 80
"""Maximum number of characters of a row's label that are shown."""

TEXT: Final = 20_000
"""Maximum number of characters of a text that can be edited."""


class EditField(TypedDict):
    """How one feature is edited: a number, a choice, a date, or not at all."""

    key: str
    name: str
    kind: str
    levels: list[str]
    integer: bool
    low: float | None
    high: float | None
    step: float | None
    missing: bool


class Shelf(ABC):
    """The things that are explained, by their numbers."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """ "table", "image" or "text"."""

    @property
    @abstractmethod
    def fields(self) -> list[EditField]:
        """What of a row can be edited."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def label(self, i: int) -> str:
        """What row i is called."""

    @abstractmethod
    def values(self, i: int) -> list[Any]:
        """The values of row i as they are edited, a field each."""

    @abstractmethod
    def one(self, i: int, edits: Mapping[str, Any]) -> Any:
        """Row i with some fields changed, as an explainer takes it."""

    @abstractmethod
    def some(self, places: Sequence[int]) -> Any:
        """Several rows, as an explainer takes them."""

    @abstractmethod
    def search(self, words: str) -> Indices:
        """The rows that fit a search, in their own order."""

    def check(self, i: int) -> int:
        if not 0 <= i < len(self):
            raise InputError(f"there is no row {i}: there are rows 0 to {len(self) - 1}")
        return i


@final
class Things(Shelf):
    """Images or texts."""

    def __init__(self, things: Any, kind: str) -> None:
        listed: Any = things
        if isinstance(things, str) or not np.iterable(things) or not len(listed):
            raise InputError(f"the page shows a list of {kind}s: give X, a list with at least one")
        self._things: Any = things
        self._kind = kind

    @property
    def kind(self) -> str:
        return self._kind

    @property
    def fields(self) -> list[EditField]:
        if self._kind != "text":
            return []
        return [
            {
                "key": "text",
                "name": "text",
                "kind": "text",
                "levels": [],
                "integer": False,
                "low": None,
                "high": None,
                "step": None,
                "missing": False,
            }
        ]

    def __len__(self) -> int:
        return len(self._things)

    def label(self, i: int) -> str:
        return short(str(self._things[i]), LABEL) if self._kind == "text" else f"{self._kind} {i}"

    def values(self, i: int) -> list[Any]:
        return [str(self._things[i])] if self._kind == "text" else []

    def one(self, i: int, edits: Mapping[str, Any]) -> Any:
        if not edits:
            return self._things[self.check(i)]
        text = edits.get("text")
        if self._kind != "text" or not isinstance(text, str):
            raise InputError(f"{self._kind}s cannot be edited here")
        if len(text) > TEXT:
            raise InputError(f"a text that is edited here has at most {TEXT:,} characters")
        return text

    def some(self, places: Sequence[int]) -> Any:
        return [self._things[i] for i in places]

    def search(self, words: str) -> Indices:
        wanted = clean(words).strip().casefold()
        fits = [i for i in range(len(self)) if wanted in self.label(i).casefold()]
        return np.array(fits, dtype=np.intp)


def names_of(X: Any, count: int) -> list[str]:
    """The rows' own names, as texts."""
    return [clean(str(name)) for name in row_ids(X, count)]


__all__ = ["EditField", "Shelf", "Things", "names_of"]
