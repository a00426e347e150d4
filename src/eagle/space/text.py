"""Texts, taken apart into words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np

from eagle.space.mask import EvenSizes, MaskSpace, Sizes
from eagle.types import Array, InputError, Points

Spans: TypeAlias = Sequence[tuple[int, int]]
"""Where parts of a text begin and end, in order, without overlap."""

WORD = re.compile(r"\w+(?:['’\-]\w+)*")


def words(text: str) -> Spans:
    """Letters and digits of any script, and what an apostrophe or a hyphen holds together."""
    return [m.span() for m in WORD.finditer(text)]


@final
@dataclass(frozen=True, eq=False)
class Texts:
    """How texts are taken apart, and what stands where a word is off.

    `split` gives the spans of the parts. As a `bag`, all repeats of a word are one feature;
    else each place is. A word that is off is dropped, or replaced by `mask`.
    """

    split: Callable[[str], Spans] = words
    bag: bool = True
    mask: str | None = None
    sizes: Sizes = field(default_factory=EvenSizes)

    def groups(self, X: Any, one: bool) -> list[Writings]:
        """One text, or several that share model calls."""
        texts = [X] if one else list(X)
        if (isinstance(X, str) and not one) or not all(isinstance(t, str) for t in texts):
            raise InputError("texts are strings: one for explain, a list of them for explain_many")
        return [Writings(tuple(texts), self)]


@final
@dataclass(frozen=True, eq=False)
class Writings:
    """Texts to be explained."""

    texts: tuple[str, ...]
    how: Texts

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def _parts(self) -> list[tuple[tuple[str, ...], list[tuple[int, int, int]]]]:
        """Of each text its features' names, and the spans with the feature each belongs to."""
        return [self._apart(text) for text in self.texts]

    def _apart(self, text: str) -> tuple[tuple[str, ...], list[tuple[int, int, int]]]:
        spans = list(self.how.split(text))
        if not spans:
            raise InputError(f"there is no word to explain in the text {text[:40]!r}")
        tokens = [text[start:end] for start, end in spans]
        if self.how.bag:
            index = {token: k for k, token in enumerate(dict.fromkeys(tokens))}
            return tuple(index), [(s, e, index[t]) for (s, e), t in zip(spans, tokens, strict=True)]
        often = {token: tokens.count(token) for token in set(tokens)}
        names = tuple(t if often[t] == 1 else f"{t} [{k}]" for k, t in enumerate(tokens))
        return names, [(s, e, k) for k, (s, e) in enumerate(spans)]

    def names(self, i: int) -> tuple[str, ...]:
        return self._parts[i][0]

    def conditions(self, i: int) -> tuple[str, ...]:
        return self.names(i)

    def own(self, i: int) -> tuple[Any, ...]:
        """How often each feature's word stands in the text."""
        belongs = [k for _, _, k in self._parts[i][1]]
        return tuple(np.bincount(belongs, minlength=len(self.names(i))).tolist())

    def contrast(self, i: int) -> Array:
        return np.ones(len(self.names(i)))

    def space(self, i: int) -> MaskSpace:
        return MaskSpace(len(self.names(i)), self.how.sizes)

    def inputs(self, rows: Sequence[int], points: Sequence[Points]) -> list[str]:
        return [
            self._written(i, mask) for i, some in zip(rows, points, strict=True) for mask in some
        ]

    def _written(self, i: int, mask: Points) -> str:
        """The text without what is off; the gaps are healed."""
        if not mask.any():
            return self.texts[i]
        out, at, text = [], 0, self.texts[i]
        for start, end, k in self._parts[i][1]:
            out.append(text[at:start])
            out.append(text[start:end] if not mask[k] else self.how.mask or "")
            at = end
        return re.sub(r"[^\S\n]+", " ", "".join([*out, text[at:]])).strip()
