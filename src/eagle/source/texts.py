"""Texts, taken apart into words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, final
from unicodedata import category

import numpy as np

from eagle.source.masks import MASKS, EvenSizes, MaskSpace, Sizes, check_sizes
from eagle.subject import Passage
from eagle.types import Array, Group, InputError, Kind, Need, Points, Wanted, message_of, told

Spans: TypeAlias = Sequence[tuple[int, int]]
"""Where parts of a text begin and end, in order, without overlap."""

Part: TypeAlias = tuple[int, int, int]
"""Where a part begins and ends, and the feature it belongs to."""

# Chinese characters and Japanese syllables stand alone.
_ALONE = (
    "\u3005-\u3007\u3040-\u30ff\uff66-\uff9f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
)
_MARK = "\u0300"
_LETTER = f"[^\\W{_ALONE}]"
_LETTERS = f"{_LETTER}(?:{_LETTER}|{_MARK})*"
# An emoji is one with all that modifies it (skin, the flags of lands, what says that it is an
# emoji) and all that is joined to it; two letters for a flag are one, and a digit on a key.
_EMOJI = "[\U0001f000-\U0001faff\u2600-\u27bf\u231a\u231b\u23e9-\u23f3\u2b1b\u2b1c\u2b50\u2b55]"
_SIGN = f"(?:{_EMOJI}|[^\\w\\s](?=\ufe0f))[\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
WORD = re.compile(
    f"[0-9#*]\ufe0f?\u20e3|{_FLAG}|{_SIGN}(?:\u200d{_SIGN})*|[{_ALONE}]{_MARK}*"
    f"|{_LETTERS}(?:['\u2019\u00ad\u200c\u200d\\-]{_LETTERS})*"
)
# A full stop ends a sentence only before a space: there are numbers and addresses.
SENTENCE = re.compile(
    r"\S[^\n]*?(?:(?:[!?…。！？؟।۔]+|\.+(?=[\s\"'”’)\]]|$))[.!?…]*[\"'”’)\]」』]*|$|(?=\n))"
)

SPACE = " \t\u00a0\u3000"

CROWDED = 2
"""Words are too many where a budget has fewer rows than this for each."""


def words(text: str) -> Spans:
    """Words of any script, with what an apostrophe or a hyphen holds together; emoji; Chinese and
    Japanese by character."""
    if not text.isascii():
        # Accents and vowel signs that are characters of their own belong to the letter before,
        # but `re` does not know it: let them all be one that it is told of.
        text = "".join(_MARK if category(c) in ("Mn", "Mc") and c != "\ufe0f" else c for c in text)
    return [m.span() for m in WORD.finditer(text)]


def sentences(text: str) -> Spans:
    """What ends in a full stop, a question or exclamation mark, or a line."""
    found = [(m.start(), m.start() + len(m.group().rstrip())) for m in SENTENCE.finditer(text)]
    return [(s, e) for s, e in found if WORD.search(text, s, e)]


@final
@dataclass(frozen=True, eq=False)
class Texts:
    """How texts are taken apart, and what stands where a word is off.

    `split` is None for words, or for sentences where words are too many for the budget, and the
    explanation says so. Else it is a function from a text to its parts, as spans or as strings in
    their order, or a tokenizer with offsets, such as Hugging Face's. As a `bag`, all repeats of a
    part are one feature; else each place is. A part that is off is dropped, or replaced by `mask`.
    `sizes` is the law of masks: `EvenSizes`, LIME's, or `Fair`.
    """

    split: Any = None
    bag: bool = True
    mask: str | None = None
    sizes: Sizes = field(default_factory=EvenSizes)

    def __post_init__(self) -> None:
        if self.split is not None and not callable(self.split):
            raise InputError("split is a function from a text to its parts, or a tokenizer")
        if self.mask is not None and not isinstance(self.mask, str):
            raise InputError(f"a mask is a string, not {told(self.mask)}")
        if not isinstance(self.bag, bool | np.bool_):
            raise InputError(f"a bag is true or false, not {told(self.bag)}")
        check_sizes(self.sizes)

    @property
    def kind(self) -> Kind:
        return Kind("text", "binned", MASKS)

    def describe(self) -> list[str]:
        return ["Explains: texts, by words"]

    def keep(self, needs: frozenset[Need]) -> None:
        pass  # a text is taken as it comes

    def without(self, needs: frozenset[Need]) -> Texts:
        return self

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        """One text, or several that share model calls."""
        one = wanted.one
        texts = list(X) if not one and isinstance(X, Iterable) else [X]
        if one != isinstance(X, str) or not all(isinstance(t, str) for t in texts):
            raise InputError("texts are strings: one for explain, a list of them for explain_many")
        if not texts:
            raise InputError("there are no texts to explain")
        return [Group(TextInstances(tuple(texts), self, wanted.budget), range(len(texts)))]

    def apart(self, text: str, budget: int) -> tuple[Spans, str]:
        """The spans of a text's parts, and a note where they are not what was expected."""
        if self.split is not None:
            return _spans(text, self.split), ""
        by_word = words(text)
        count = len({text[s:e] for s, e in by_word}) if self.bag else len(by_word)
        by_sentence = sentences(text) if CROWDED * count > budget else []
        if not 2 <= len(by_sentence) < count:
            return by_word, ""
        return by_sentence, (
            f"{count} words are too many for {budget} rows, so the text is explained by its "
            f"{len(by_sentence)} sentences; a larger budget, or split=eagle.source.texts.words, "
            "gives words"
        )


@final
@dataclass(frozen=True, eq=False)
class TextInstances:
    """Texts to be explained."""

    texts: tuple[str, ...]
    how: Texts
    budget: int

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def _apart(self) -> list[tuple[tuple[str, ...], tuple[Part, ...], str]]:
        """Of each text its features' names, its parts, and a note."""
        return [self._taken(text) for text in self.texts]

    def _taken(self, text: str) -> tuple[tuple[str, ...], tuple[Part, ...], str]:
        spans, note = self.how.apart(text, self.budget)
        if not spans:
            raise InputError(f"there is no word to explain in the text {text[:40]!r}")
        tokens = [text[start:end] for start, end in spans]
        if self.how.bag:
            index = {token: k for k, token in enumerate(dict.fromkeys(tokens))}
            parts = [(s, e, index[t]) for (s, e), t in zip(spans, tokens, strict=True)]
            return tuple(index), tuple(parts), note
        often = {token: tokens.count(token) for token in set(tokens)}
        names = tuple(t if often[t] == 1 else f"{t} [{k}]" for k, t in enumerate(tokens))
        return names, tuple((s, e, k) for k, (s, e) in enumerate(spans)), note

    @property
    def row_bytes(self) -> int:
        """What one text costs in memory, at least."""
        return max(1, *map(len, self.texts))

    def names(self, i: int) -> tuple[str, ...]:
        return self._apart[i][0]

    def conditions(self, i: int) -> tuple[str, ...]:
        return self.names(i)

    def own(self, i: int) -> tuple[Any, ...]:
        """How often each feature's part stands in the text."""
        belongs = [k for _, _, k in self._apart[i][1]]
        return tuple(np.bincount(belongs, minlength=len(self.names(i))).tolist())

    def contrast(self, i: int) -> Array:
        return np.ones(len(self.names(i)))

    def subject(self, i: int) -> Passage:
        _, parts, note = self._apart[i]
        return Passage(self.texts[i], parts, note)

    def space(self, i: int) -> MaskSpace:
        return MaskSpace(len(self.names(i)), self.how.sizes)

    def inputs(self, rows: Sequence[int], points: Sequence[Points]) -> list[str]:
        return [
            self._written(i, mask) for i, some in zip(rows, points, strict=True) for mask in some
        ]

    def _written(self, i: int, mask: Points) -> str:
        """The text without what is off. Of the spaces around a part that is dropped, one stays."""
        text, instead = self.texts[i], self.how.mask or ""
        out, at, dropped = "", 0, False
        for start, end, k in self._apart[i][1]:
            out += _healed(out, text[at:start], dropped)
            dropped = bool(mask[k]) and not instead
            out += instead if mask[k] else text[start:end]
            at = end
        rest = _healed(out, text[at:], dropped)
        return out + rest if rest or not dropped else out.rstrip(SPACE)


def _healed(before: str, gap: str, dropped: bool) -> str:
    """What follows a part; if that was dropped, without spaces where there is one already."""
    return gap.lstrip(SPACE) if dropped and (not before or before[-1].isspace()) else gap


def _spans(text: str, split: Callable[..., Any]) -> Spans:
    """The spans that a function or a tokenizer finds."""
    found = _offsets(text, split)
    try:
        if found is None:
            found = split(text)
    except Exception as error:
        raise InputError(
            f"the function that splits texts raised {type(error).__name__}: {message_of(error)}"
        ) from error
    try:
        parts = [p if isinstance(p, str) else (int(p[0]), int(p[1])) for p in found]
    except (TypeError, ValueError, LookupError, OverflowError):
        raise InputError(
            "split must return the parts of a text, as strings or as (begin, end)"
        ) from None
    spans, at = [], 0
    for part in parts:
        start = text.find(part, at) if isinstance(part, str) else part[0]
        end = start + len(part) if isinstance(part, str) else part[1]
        if start < at or end > len(text):
            raise InputError(f"split returned {told(part)}, which is not in the text in this order")
        spans += [(start, end)] if end > start else []
        at = end
    return spans


def _offsets(text: str, split: Callable[..., Any]) -> Any:
    """Where a tokenizer that knows offsets finds its tokens; None if it is something else."""
    if not hasattr(split, "is_fast") and not hasattr(split, "convert_ids_to_tokens"):
        return None
    try:
        return split(text, return_offsets_mapping=True, add_special_tokens=False)["offset_mapping"]
    except NotImplementedError:
        raise InputError(
            "this tokenizer does not know where its tokens stand: take a fast one"
        ) from None
