"""Texts, divided into words, or into larger parts where words are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, final, get_args

import numpy as np

from eagle.source.masked_text import TextInParts, TextPart, replaced
from eagle.source.masks import (
    MASKS,
    EvenSizes,
    MaskSpace,
    Sizes,
    carried,
    check_mask_law,
    most_carried,
)
from eagle.source.words import (
    Spans,
    blocks,
    paragraphs,
    segmented,
    sentences,
    tokens,
    unspaced,
    words,
)
from eagle.subject import Passage
from eagle.types import Array, Group, InputError, Kind, Need, Points, Wanted, message_of, told

__all__ = ["TextInstances", "Texts", "paragraphs", "sentences", "tokens", "words"]

TextUnit: TypeAlias = Literal["word", "sentence", "paragraph", "block"]

EACH: Final = 3
"""The rows for each part that intervals of texts need. With two, up to a fifth of the parts
without an effect are called sure: docs/adr/0037-units-of-texts.md."""

FINER: Final[tuple[tuple[TextUnit, Callable[[str], Spans], str], ...]] = (
    ("word", tokens, "words and marks"),
    ("sentence", sentences, "sentences"),
    ("paragraph", paragraphs, "paragraphs"),
)
"""The units of a text from fine to coarse, how they are found, and what they are called."""


@final
@dataclass(frozen=True, eq=False)
class Texts:
    """How texts are divided into parts, and what replaces a part that is off.

    Examples:
        >>> explainer = eagle.Explainer(count_good, eagle.Texts(), budget=50)
        >>> explainer.explain("a very good day").top(1)  # eagle.plot.text(explanation) draws it
        ['good']

    `unit` is "word" (marks, numbers and addresses too), "sentence", "paragraph", or "block" (parts
    of equal length, as many as the budget carries). None is the finest of these that the budget
    carries with intervals, which takes three rows a part; the explanation says which, and why.
    `split` is a function from a text to parts of another kind, as spans or as strings in their
    order, or a tokenizer with offsets, such as Hugging Face's. With `bag`, all repeats of a part
    are one feature; without it each is one. A part that is off is dropped, or replaced by `mask`.
    `sizes` is the law of masks: `EvenSizes`, LIME's, or `Fair`.
    """

    split: Any = None
    bag: bool = True
    mask: str | None = None
    sizes: Sizes = field(default_factory=EvenSizes)
    unit: TextUnit | None = None

    def __post_init__(self) -> None:
        if self.split is not None and not callable(self.split):
            raise InputError("split is a function from a text to its parts, or a tokenizer")
        if self.unit is not None and (
            not isinstance(self.unit, str) or self.unit not in get_args(TextUnit)
        ):
            listed = ", ".join(map(repr, get_args(TextUnit)))
            raise InputError(f"a unit is one of {listed}, not {told(self.unit)}")
        if self.unit is not None and self.split is not None:
            raise InputError("a text is taken apart by unit or by split, not by both")
        if self.mask is not None and not isinstance(self.mask, str):
            raise InputError(f"a mask is a string, not {told(self.mask)}")
        if not isinstance(self.bag, bool | np.bool_):
            raise InputError(f"a bag is true or false, not {told(self.bag)}")
        check_mask_law(self.sizes)

    @property
    def kind(self) -> Kind:
        return Kind("text", "binned", MASKS)

    def describe(self) -> list[str]:
        if self.split is not None:
            return ["Explains: texts, by parts as split"]
        if self.unit is not None:
            return [f"Explains: texts, by {self.unit}s, as asked"]
        lines = [
            "Explains: texts, by words and marks; where rows are fewer than three for each, by "
            "sentences, paragraphs or blocks of equal length"
        ]
        return lines if segmented() else [*lines, BY_CHARACTER]

    def keep(self, needs: frozenset[Need]) -> None:
        pass  # there is no data to keep

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
        """The spans of a text's parts, and a text that says what the parts are, and why."""
        if self.split is not None:
            spans = _spans(text, self.split)
            return spans, f"{self._count(text, spans)}, as split"
        if self.unit is not None:
            spans = self._by_unit(self.unit, text, budget)
            count = self._count(text, spans)
            called = self.unit if count == 1 else f"{self.unit}s"
            return spans, f"{count} {called}, as asked{_by(spans, text)}"
        return self._finest(text, budget)

    def _finest(self, text: str, budget: int) -> tuple[Spans, str]:
        """The finest unit that the budget carries, else words."""
        by_word = tokens(text)
        finer, too_many = self._count(text, by_word), list[tuple[int, str]]()
        for unit, parts, called in FINER:
            spans = by_word if unit == "word" else parts(text)
            count = self._count(text, spans)
            if unit != "word" and not 2 <= count < finer:
                continue
            if carried(count, budget, EACH):
                said = "1 word" if (unit, count) == ("word", 1) else f"{count} {called}"
                return spans, f"{said}{_why(too_many, budget)}{_by(spans, text)}"
            too_many.append((count, called))
            finer = count
        if not 2 <= most_carried(budget, EACH) < finer:  # nothing coarser is left
            return by_word, f"{self._count(text, by_word)} words and marks{_by(by_word, text)}"
        spans = blocks(text, most_carried(budget, EACH))
        long = round(len(by_word) / len(spans))
        return spans, (
            f"{self._count(text, spans)} blocks of about {long} word{'s' if long > 1 else ''}"
            f"{_why(too_many, budget)}"
        )

    def _by_unit(self, unit: TextUnit, text: str, budget: int) -> Spans:
        parts_by = {name: parts for name, parts, _ in FINER}
        return (
            parts_by[unit](text)
            if unit in parts_by
            else blocks(text, max(2, most_carried(budget, EACH)))
        )

    def _count(self, text: str, spans: Spans) -> int:
        """The number of features: with `bag`, equal parts count once."""
        return len({text[s:e] for s, e in spans}) if self.bag else len(spans)


BY_CHARACTER: Final = (
    "Chinese, Japanese and Thai go by character; pip install 'eagle-xai[segment]' finds words"
)


def _by(spans: Spans, text: str) -> str:
    """A sentence if the text has a script without spaces that is divided by character, else ""."""
    return "" if segmented() or not unspaced(text) else f". {BY_CHARACTER}"


def _why(too_many: Sequence[tuple[int, str]], budget: int) -> str:
    """Why finer units were not taken, and what would give them."""
    if not too_many:
        return ""
    listed = " and ".join(f"{count} {called}" for count, called in too_many)
    more = ", ".join(f"{EACH * (count + 1)} rows give {called}" for count, called in too_many)
    return f", since {listed} are too many for {budget} rows ({more})"


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
    def _apart(self) -> list[tuple[tuple[str, ...], tuple[TextPart, ...], str]]:
        """Of each text its features' names, its parts, and what they are in words."""
        return [self._taken(text) for text in self.texts]

    def _taken(self, text: str) -> tuple[tuple[str, ...], tuple[TextPart, ...], str]:
        spans, cut = self.how.apart(text, self.budget)
        if not spans:
            raise InputError(f"there is nothing to explain in the text {text[:40]!r}")
        shown = [text[start:end] for start, end in spans]
        if self.how.bag:
            index = {token: k for k, token in enumerate(dict.fromkeys(shown))}
            parts = [(s, e, index[t]) for (s, e), t in zip(spans, shown, strict=True)]
            return tuple(index), tuple(parts), cut
        often = Counter(shown)
        names = tuple(t if often[t] == 1 else f"{t} [{k}]" for k, t in enumerate(shown))
        return names, tuple((s, e, k) for k, (s, e) in enumerate(spans)), cut

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

    def moves(self, i: int) -> None:
        return None

    def subject(self, i: int) -> Passage:
        _, parts, cut = self._apart[i]
        return Passage(self.texts[i], parts, cut=cut)

    def space(self, i: int) -> MaskSpace:
        return MaskSpace(len(self.names(i)), self.how.sizes)

    def inputs(self, rows: Sequence[int], points: Sequence[Points]) -> list[str]:
        return [
            text for i, some in zip(rows, points, strict=True) for text in self._written(i, some)
        ]

    def _written(self, i: int, masks: Points) -> Iterable[str]:
        text, parts = self.texts[i], self._apart[i][1]
        if self.how.mask:
            return replaced(text, parts, masks, self.how.mask)
        return TextInParts.of(text, parts).without(masks)


def _spans(text: str, split: Callable[..., Any]) -> Spans:
    """The spans that a function or a tokenizer finds."""
    spans = _offsets(text, split)
    try:
        if spans is None:
            spans = split(text)
    except Exception as error:
        raise InputError(
            f"the function that splits texts raised {type(error).__name__}: {message_of(error)}"
        ) from error
    try:
        parts = [p if isinstance(p, str) else (int(p[0]), int(p[1])) for p in spans]
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
