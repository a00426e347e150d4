"""Prompts: which of the sources, examples or instructions made a language model say something."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from string import Formatter
from typing import Any, Final, Literal, TypeAlias, final, get_args

import numpy as np

from eagle.source.masks import MASKS, Fair, MaskSpace, Sizes, check_mask_law
from eagle.source.words import paragraphs, sentences, tokens
from eagle.subject import Passage
from eagle.types import Array, Group, InputError, Kind, Need, Points, Wanted, message_of, told

PromptUnit: TypeAlias = Literal["word", "sentence", "paragraph"]

UNITS: Final = {"word": tokens, "sentence": sentences, "paragraph": paragraphs}
"""How the parts of a field are found."""

WHOLE: Final = "part"
"""The name of the only field of a prompt that is a list."""


@final
@dataclass(frozen=True, eq=False)
class Prompt:
    """Prompts that are made of named parts. Each part is kept or left out.

    Examples:
        >>> prompt = eagle.Prompt("{sources} Q: {question}", fixed=["question"])
        >>> given = {"sources": {"wiki": "good", "news": "old"}, "question": "How?"}
        >>> eagle.Explainer(count_good, prompt).explain(given).top(1)  # or behind an endpoint
        ['wiki']

    `template` has the names of fields in braces; without one, fields follow one another, with the
    `separator` between them. What is explained is a dictionary from fields to texts. A field that
    is a text is one part. In a list of texts each is a part, and in a dictionary of texts, too,
    with its key as its name. A text whose field `split` names is divided into parts by
    "sentence", "paragraph" or "word", such as {"sources": "sentence"}. A list alone is a prompt of
    one field. Parts of a list or dictionary are joined by the `separator`.

    Fields that `fixed` names, and the template's own text, are always kept and never scored. A
    part that is off is left out, or replaced by `mask`. `sizes` is the law of masks: `Fair` coins.
    """

    template: str | None = None
    fixed: Collection[str] = ()
    split: Mapping[str, PromptUnit] = field(default_factory=dict)
    separator: str = "\n\n"
    mask: str | None = None
    sizes: Sizes = field(default_factory=Fair)

    def __post_init__(self) -> None:
        if isinstance(self.fixed, str) or not isinstance(self.fixed, Collection):
            raise InputError(f"fixed lists the names of fields, not {told(self.fixed)}")
        if not isinstance(self.split, Mapping):
            raise InputError(
                f"split says how fields are split, such as {{'sources': 'sentence'}}, not "
                f"{told(self.split)}"
            )
        for name, unit in self.split.items():
            if unit not in get_args(PromptUnit):
                listed = ", ".join(map(repr, get_args(PromptUnit)))
                raise InputError(f"{told(name)} is split by one of {listed}, not {told(unit)}")
        if not isinstance(self.separator, str):
            raise InputError(f"a separator is a string, not {told(self.separator)}")
        if self.mask is not None and not isinstance(self.mask, str):
            raise InputError(f"a mask is a string, not {told(self.mask)}")
        check_mask_law(self.sizes)
        for name in (*self.fixed, *self.split) if self.template is not None else ():
            if name not in self.fields:
                raise InputError(f"the template has no field {told(name)}: {self._fields()}")
        if self.template is not None and not set(self.fields) - set(self.fixed):
            raise InputError("all fields of the template are fixed, so there is nothing to explain")

    @cached_property
    def parsed(self) -> tuple[tuple[str, str | None], ...]:
        """The template: text, and the field that follows it, if one does."""
        if not isinstance(self.template, str):
            raise InputError(f"a template is a text with {{fields}}, not {told(self.template)}")
        try:
            pieces = list(Formatter().parse(self.template))
        except ValueError as error:
            raise InputError(
                f"the template cannot be read: {message_of(error)}. A brace that is text is "
                "written twice"
            ) from None
        for _, name, form, conversion in pieces:
            if name is not None and (form or conversion or not name.isidentifier()):
                raise InputError(
                    f"a field of the template is a plain name, such as {{sources}}, not "
                    f"{told(name)}; a brace that is text is written twice"
                )
        named = [name for _, name, _, _ in pieces if name is not None]
        if not named:
            raise InputError("the template has no field, such as {sources}")
        twice = next((name for name in named if named.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"the template has the field {told(twice)} twice: once is enough")
        return tuple((text, name) for text, name, _, _ in pieces)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names of the template's fields, in their order."""
        return tuple(name for _, name in self.parsed if name is not None)

    def _fields(self) -> str:
        return f"its fields are {', '.join(map(repr, self.fields))}"

    @property
    def kind(self) -> Kind:
        return Kind("prompt", "binned", MASKS, dear=True)

    def describe(self) -> list[str]:
        kept = f"; always kept: {', '.join(self.fixed)}" if self.fixed else ""
        return [f"Explains: prompts, by their parts{kept}"]

    def keep(self, needs: frozenset[Need]) -> None:
        pass  # there is no data to keep

    def without(self, needs: frozenset[Need]) -> Prompt:
        return self

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        """One prompt, or several that share model calls."""
        if not wanted.one and (isinstance(X, str | Mapping) or not isinstance(X, Iterable)):
            raise InputError(f"several prompts are a list of them, not {told(X)}")
        prompts = [X] if wanted.one else list(X)
        if not prompts:
            raise InputError("there are no prompts to explain")
        taken = tuple(self._taken(prompt) for prompt in prompts)
        return [Group(PromptInstances(taken, self), range(len(prompts)))]

    # -- one prompt -----------------------------------------------------------------------------

    def _taken(self, prompt: Any) -> PromptInParts:
        given = self._given(prompt)
        places = [("", name) for name in given] if self.template is None else self.parsed
        moved: list[tuple[str, str, str]] = []  # the field, own name and text of each feature
        out: list[PromptField] = []
        for text, name in places:
            parts = [] if name is None else self._parts(name, given[name])
            scored = name is not None and name not in self.fixed
            first = len(moved)
            if name is not None and scored:
                moved += [(name, part.name, part.text) for part in parts]
            out.append(PromptField(text, tuple(parts), first if scored else None))
        if not moved:
            raise InputError(f"there is no part to explain in {told(prompt)}")
        return PromptInParts(tuple(out), _names(moved), tuple(text for _, _, text in moved))

    def _given(self, prompt: Any) -> dict[str, Any]:
        """The texts of the fields, in the order of the prompt."""
        if not isinstance(prompt, Mapping):
            free = [] if self.template is None else [f for f in self.fields if f not in self.fixed]
            if isinstance(prompt, str) or not isinstance(prompt, Sequence) or len(free) > 1:
                raise InputError(
                    f"a prompt is a dictionary from fields to texts, not {told(prompt)}"
                )
            prompt = {free[0] if free else WHOLE: prompt}
        for name in prompt:
            if not isinstance(name, str):
                raise InputError(f"the name of a field is a text, not {told(name)}")
        if self.template is not None:
            for name in self.fields:
                if name not in prompt:
                    raise InputError(f"the prompt lacks the field {told(name)} of the template")
            for name in prompt:
                if name not in self.fields:
                    raise InputError(f"the template has no field {told(name)}: {self._fields()}")
        else:
            for name in (*self.fixed, *self.split):
                if name not in prompt:
                    raise InputError(f"the prompt has no field {told(name)}")
        return dict(prompt)

    def _parts(self, name: str, value: Any) -> list[PromptPart]:
        """The parts of a field."""
        if isinstance(value, str):
            return self._of_text(name, value)
        if name in self.split:
            raise InputError(f"the field {told(name)} is to be split, so it is one text")
        if isinstance(value, Mapping):
            named = [(str(own), text) for own, text in value.items()]
        elif isinstance(value, Sequence):
            named = [(f"{name} {k}", text) for k, text in enumerate(value, 1)]
        else:
            raise InputError(
                f"the field {told(name)} is a text, or a list or dictionary of texts, not "
                f"{told(value)}"
            )
        for own, text in named:
            _check_text(own, text)
        return [
            PromptPart(own, text, self.separator if k else "")
            for k, (own, text) in enumerate(named)
        ]

    def _of_text(self, name: str, text: str) -> list[PromptPart]:
        if name not in self.split:
            if name not in self.fixed:
                _check_text(name, text)
            return [PromptPart(name, text, "")]
        out, at = [], 0
        unit = self.split[name]
        for k, (start, end) in enumerate(UNITS[unit](text), 1):
            own = text[start:end] if unit == "word" else f"{name} {k}"
            out.append(PromptPart(own, text[start:end], text[at:start]))
            at = end
        return out


@final
@dataclass(frozen=True)
class PromptPart:
    """A part's own name, its text, and what stands between it and the part before."""

    name: str
    text: str
    before: str


@final
@dataclass(frozen=True)
class PromptField:
    """A piece of the template: its own text, then parts. `first` is the place of the first part
    among the features; None if they are always kept."""

    text: str
    parts: tuple[PromptPart, ...]
    first: int | None


@final
@dataclass(frozen=True)
class PromptInParts:
    """A prompt in pieces, with the names and texts of the parts that may be left out."""

    fields: tuple[PromptField, ...]
    names: tuple[str, ...]
    texts: tuple[str, ...]

    def written(self, mask: Points, how: Prompt) -> str:
        """The prompt without the parts that are off."""
        return "".join(text for text, _ in self.pieces(mask, how))

    def pieces(self, mask: Points, how: Prompt) -> Iterator[tuple[str, int | None]]:
        """The prompt in order: parts with their feature, other text with none."""
        off, begun = mask.astype(bool).tolist(), False
        for piece in self.fields:
            inner = list(self._inner(piece, off, how.mask))
            if how.template is None:  # fields of which nothing is left are not separated
                if begun and inner:
                    yield how.separator, None
                begun |= bool(inner)
            yield piece.text, None
            yield from inner

    def _inner(
        self, piece: PromptField, off: Sequence[bool], mask: str | None
    ) -> Iterator[tuple[str, int | None]]:
        written = False
        for k, part in enumerate(piece.parts):
            feature = None if piece.first is None else piece.first + k
            gone = feature is not None and off[feature]
            if gone and mask is None:
                continue
            if written or not k:  # no separator where all parts before are left out
                yield part.before, None
            yield (mask or "" if gone else part.text), feature
            written = True


@final
@dataclass(frozen=True, eq=False)
class PromptInstances:
    """Prompts to be explained."""

    prompts: tuple[PromptInParts, ...]
    how: Prompt

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def row_bytes(self) -> int:
        """What one prompt costs in memory, at least."""
        return max(sum(map(len, prompt.texts)) for prompt in self.prompts)

    def names(self, i: int) -> tuple[str, ...]:
        return self.prompts[i].names

    def conditions(self, i: int) -> tuple[str, ...]:
        return self.names(i)

    def own(self, i: int) -> tuple[Any, ...]:
        """The texts of the parts."""
        return self.prompts[i].texts

    def contrast(self, i: int) -> Array:
        return np.ones(len(self.names(i)))

    def moves(self, i: int) -> None:
        return None

    def subject(self, i: int) -> Passage:
        """The whole prompt, and where its parts are."""
        taken, at = self.prompts[i], 0
        spans = []
        for text, feature in taken.pieces(self.space(i).origin, self.how):
            if feature is not None:
                spans.append((at, at + len(text), feature))
            at += len(text)
        whole = taken.written(self.space(i).origin, self.how)
        by_word = "word" in self.how.split.values()  # words are shown where they stand
        return Passage(whole, tuple(spans), labels=() if by_word else taken.names)

    def space(self, i: int) -> MaskSpace:
        return MaskSpace(len(self.names(i)), self.how.sizes)

    def inputs(self, rows: Sequence[int], points: Sequence[Points]) -> list[str]:
        return [
            self.prompts[i].written(mask, self.how)
            for i, some in zip(rows, points, strict=True)
            for mask in some
        ]


def _check_text(name: str, text: Any) -> None:
    if not isinstance(text, str):
        raise InputError(f"the part {told(name)} is a text, not {told(text)}")
    if not text.strip():
        raise InputError(f"the part {told(name)} is empty, so it can be no reason: leave it out")


def _names(moved: Sequence[tuple[str, str, str]]) -> tuple[str, ...]:
    """Distinct names: where two fields use one name, the field's is added, then the place."""
    own = [name for _, name, _ in moved]
    full = [n if own.count(n) == 1 else f"{f}: {n}" for (f, n, _) in moved]
    return tuple(n if full.count(n) == 1 else f"{n} [{k}]" for k, n in enumerate(full))
