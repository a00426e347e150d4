"""Texts, divided into words, or into larger parts where words are too many."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, TypeAlias, final, get_args

import numpy as np

from eagle._sources.in_parts import call, distinct_names, part_groups
from eagle._sources.masked_text import TextInParts, TextPart, replace_parts
from eagle._sources.masks import MASKS, EvenSizes, Sizes, check_mask_law, is_carried, most_carried
from eagle._sources.words import (
    Spans,
    blocks,
    has_segmenter,
    is_unspaced,
    paragraphs,
    sentences,
    tokens,
    words,
)
from eagle._values.arrays import Points
from eagle._values.checks import check_choice, check_flags, check_function, string
from eagle._values.subject import Passage
from eagle._values.text import short_repr
from eagle.contracts import Group, Kind, Source, Wanted
from eagle.errors import InputError

__all__ = ["Texts", "paragraphs", "sentences", "tokens", "words"]

TextUnit: TypeAlias = Literal["word", "sentence", "paragraph", "block"]

ROWS_PER_PART: Final = 3
"""The rows for each part that intervals of texts need. With two, up to a fifth of the parts
without an effect are called sure: docs/adr/0006-parts.md."""

UNITS_BY_FINENESS: Final[tuple[tuple[TextUnit, Callable[[str], Spans], str], ...]] = (
    ("word", tokens, "words and marks"),
    ("sentence", sentences, "sentences"),
    ("paragraph", paragraphs, "paragraphs"),
)
"""The units of a text from fine to coarse, how they are found, and what they are called."""


@final
@dataclass(frozen=True, eq=False)
class Texts(Source):
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
    are one feature; without it each is one. A part that is off is dropped, or replaced by `mask`;
    a space stays where two words would be read as one. `sizes` is the law of masks: `EvenSizes`,
    LIME's, or `Fair`.
    """

    split: Any = None
    bag: bool = True
    mask: str | None = None
    sizes: Sizes = field(default_factory=EvenSizes)
    unit: TextUnit | None = None

    def __post_init__(self) -> None:
        if self.split is not None:
            check_function(self.split, "split, unless it is a tokenizer,")
        if self.unit is not None:
            check_choice(self.unit, get_args(TextUnit), "a unit")
        if self.unit is not None and self.split is not None:
            raise InputError("a text is taken apart by unit or by split, not by both")
        if self.mask is not None:
            string(self.mask, "a mask")
        check_flags(bag=self.bag)
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
        return lines if has_segmenter() else [*lines, BY_CHARACTER]

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        """One text, or several that share model calls."""
        one = wanted.one
        texts = list(X) if not one and isinstance(X, Iterable) else [X]
        if one != isinstance(X, str) or not isinstance(X, Iterable):
            raise InputError("texts are strings: one for explain, a list of them for explain_many")
        divide = partial(self._divide, wanted.budget)
        return part_groups(texts, divide, ("text", "texts"), one, self.sizes)

    def _divide(self, budget: int, text: Any) -> CutText:
        if not isinstance(text, str):
            raise InputError(f"a text is a string, not {short_repr(text)}")
        spans, cut = self._apart(text, budget)
        if not spans:
            raise InputError(f"there is nothing to explain in the text {text[:40]!r}")
        shown = [text[start:end] for start, end in spans]
        names = tuple(dict.fromkeys(shown)) if self.bag else distinct_names(shown)
        place = {name: k for k, name in enumerate(names)}
        features = [place[word] for word in shown] if self.bag else range(len(shown))
        parts = [(s, e, k) for (s, e), k in zip(spans, features, strict=True)]
        return CutText(text, names, tuple(parts), cut, self.mask)

    def _apart(self, text: str, budget: int) -> tuple[Spans, str]:
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
        for unit, parts, called in UNITS_BY_FINENESS:
            spans = by_word if unit == "word" else parts(text)
            count = self._count(text, spans)
            if unit != "word" and not 2 <= count < finer:
                continue
            if is_carried(count, budget, ROWS_PER_PART):
                said = "1 word" if (unit, count) == ("word", 1) else f"{count} {called}"
                return spans, f"{said}{_why(too_many, budget)}{_by(spans, text)}"
            too_many.append((count, called))
            finer = count
        if not 2 <= most_carried(budget, ROWS_PER_PART) < finer:  # nothing coarser is left
            return by_word, f"{self._count(text, by_word)} words and marks{_by(by_word, text)}"
        spans = blocks(text, most_carried(budget, ROWS_PER_PART))
        long = round(len(by_word) / len(spans))
        return spans, (
            f"{self._count(text, spans)} blocks of about {long} word{'s' if long > 1 else ''}"
            f"{_why(too_many, budget)}"
        )

    def _by_unit(self, unit: TextUnit, text: str, budget: int) -> Spans:
        parts_by = {name: parts for name, parts, _ in UNITS_BY_FINENESS}
        return (
            parts_by[unit](text)
            if unit in parts_by
            else blocks(text, max(2, most_carried(budget, ROWS_PER_PART)))
        )

    def _count(self, text: str, spans: Spans) -> int:
        """The number of features: with `bag`, equal parts count once."""
        return len({text[s:e] for s, e in spans}) if self.bag else len(spans)


BY_CHARACTER: Final = (
    "Chinese, Japanese and Thai go by character; pip install 'eagle-xai[segment]' finds words"
)


def _by(spans: Spans, text: str) -> str:
    """A sentence if the text has a script without spaces that is divided by character, else ""."""
    return "" if has_segmenter() or not is_unspaced(text) else f". {BY_CHARACTER}"


def _why(too_many: Sequence[tuple[int, str]], budget: int) -> str:
    """Why finer units were not taken, and what would give them."""
    if not too_many:
        return ""
    listed = " and ".join(f"{count} {called}" for count, called in too_many)
    more = ", ".join(
        f"{ROWS_PER_PART * (count + 1)} rows give {called}" for count, called in too_many
    )
    return f", since {listed} are too many for {budget} rows ({more})"


@final
@dataclass(frozen=True, eq=False)
class CutText:
    """A text, the names of its features, its parts, what these are in words, and the mask."""

    text: str
    names: tuple[str, ...]
    parts: tuple[TextPart, ...]
    cut: str
    mask: str | None
    form: Hashable = None

    @property
    def own(self) -> tuple[Any, ...]:
        """How often each feature's part stands in the text."""
        return tuple(np.bincount([k for _, _, k in self.parts]).tolist())

    @property
    def subject(self) -> Passage:
        return Passage(self.text, self.parts, cut=self.cut)

    @property
    def row_bytes(self) -> int:
        return len(self.text)

    def inputs(self, points: Points) -> list[str]:
        if self.mask:
            return list(replace_parts(self.text, self.parts, points, self.mask))
        return list(TextInParts.of(self.text, self.parts).without(points))


def _spans(text: str, split: Callable[..., Any]) -> Spans:
    """The spans that a function or a tokenizer finds."""
    spans = _offsets(text, split)
    if spans is None:
        spans = call("the function that splits texts", split, text)
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
            raise InputError(
                f"split returned {short_repr(part)}, which is not in the text in this order"
            )
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
