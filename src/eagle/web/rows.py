"""What can be opened on the page: rows of a table (`TableRows`), images or texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from eagle._values.text import clean, short, short_repr
from eagle.errors import InputError
from eagle.web.find import Indices

MAX_LABEL: Final = 80
"""Maximum number of characters of a row's label that are shown."""

MAX_TEXT: Final = 20_000
"""Maximum number of characters of a text that can be edited."""


@final
@dataclass(frozen=True)
class EditField:
    """How one feature is edited: as a "number", a "level", a "date", a "text", or "fixed"."""

    key: str
    name: str
    kind: str
    levels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    step: float | None = None
    missing: bool = False


class Rows(ABC):
    """The things that are explained, by their numbers."""

    kind: str
    """ "table", "image" or "text"."""
    fields: Sequence[EditField]
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
    def row(self, i: int, edits: Mapping[str, Any]) -> Any:
        """Row i with some fields changed, as an explainer takes it."""

    @abstractmethod
    def take(self, places: Sequence[int]) -> Any:
        """Several rows, as an explainer takes them."""

    @abstractmethod
    def search(self, words: str) -> Indices:
        """The rows that fit a search, in their own order."""

    def check(self, i: int) -> int:
        if not 0 <= i < len(self):
            raise InputError(
                f"there is no row {short_repr(i)}: there are rows 0 to {len(self) - 1}"
            )
        return i


@final
class Things(Rows):
    """Images, texts or series."""

    def __init__(self, things: Any, kind: str) -> None:
        listed: Any = things
        if isinstance(things, str) or not np.iterable(things) or not len(listed):
            raise InputError(f"the page shows a list of {kind}s: give X, a list with at least one")
        self._things = listed
        self.kind = kind
        self.fields = [EditField("text", "text", "text")] if kind == "text" else []

    def __len__(self) -> int:
        return len(self._things)

    def label(self, i: int) -> str:
        return short(str(self._things[i]), MAX_LABEL) if self.fields else f"{self.kind} {i}"

    def values(self, i: int) -> list[Any]:
        return [str(self._things[i]) for _ in self.fields]

    def row(self, i: int, edits: Mapping[str, Any]) -> Any:
        if not edits:
            return self._things[self.check(i)]
        text = edits.get("text")
        if not self.fields or not isinstance(text, str):
            raise InputError(f"{self.kind}s cannot be edited here")
        if len(text) > MAX_TEXT:
            raise InputError(f"a text that is edited here has at most {MAX_TEXT:,} characters")
        return text

    def take(self, places: Sequence[int]) -> Any:
        return [self._things[i] for i in places]

    def search(self, words: str) -> Indices:
        wanted = clean(words).strip().casefold()
        fits = [i for i in range(len(self)) if wanted in self.label(i).casefold()]
        return np.array(fits, dtype=np.intp)
