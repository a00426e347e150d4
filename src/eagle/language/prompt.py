"""Prompts: which of the sources, examples or instructions made a language model say something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from string import Formatter
from typing import Any, Final, Literal, TypeAlias, final, get_args

import numpy as np

from eagle._sources.in_parts import distinct_names, part_groups
from eagle._sources.masks import MASKS, Fair, Sizes, check_mask_law
from eagle._sources.words import NO_EDGE, Edge, Edges, paragraphs, sentences, tokens
from eagle._values.arrays import Points
from eagle._values.checks import check_choice, elements, string
from eagle._values.subject import Passage
from eagle._values.text import message_of, short_repr
from eagle.contracts import Group, Kind, Source, Wanted
from eagle.errors import InputError

PromptUnit: TypeAlias = Literal["word", "sentence", "paragraph"]

UNITS: Final = {"word": tokens, "sentence": sentences, "paragraph": paragraphs}
"""How the parts of a field are found."""

WHOLE: Final = "part"
"""The name of the only field of a prompt that is a list."""


@final
@dataclass(frozen=True, eq=False)
class Prompt(Source):
    """Prompts that are made of named parts. Each part is kept or left out.

    Examples:
        >>> prompt = eagle.language.Prompt("{sources} Q: {question}", fixed=["question"])
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
        fixed = elements(self.fixed, "fixed, the names of fields that are always kept,")
        for name in fixed:
            string(name, "the name of a field")
        object.__setattr__(self, "fixed", tuple(fixed))
        if not isinstance(self.split, Mapping):
            raise InputError(
                f"split says how fields are split, such as {{'sources': 'sentence'}}, not "
                f"{short_repr(self.split)}"
            )
        for name, unit in self.split.items():
            check_choice(unit, get_args(PromptUnit), f"the unit that splits {short_repr(name)}")
        string(self.separator, "a separator")
        if self.mask is not None:
            string(self.mask, "a mask")
        check_mask_law(self.sizes)
        for name in (*self.fixed, *self.split) if self.template is not None else ():
            if name not in self.fields:
                raise InputError(f"the template has no field {short_repr(name)}: {self._fields()}")
        if self.template is not None and not set(self.fields) - set(self.fixed):
            raise InputError("all fields of the template are fixed, so there is nothing to explain")

    @cached_property
    def template_parts(self) -> tuple[tuple[str, str | None], ...]:
        """The template: text, and the field that follows it, if one does."""
        if not isinstance(self.template, str):
            raise InputError(
                f"a template is a text with {{fields}}, not {short_repr(self.template)}"
            )
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
                    f"{short_repr(name)}; a brace that is text is written twice"
                )
        named = [name for _, name, _, _ in pieces if name is not None]
        if not named:
            raise InputError("the template has no field, such as {sources}")
        twice = next((name for name in named if named.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"the template has the field {short_repr(twice)} twice: once is enough"
            )
        return tuple((text, name) for text, name, _, _ in pieces)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names of the template's fields, in their order."""
        return tuple(name for _, name in self.template_parts if name is not None)

    def _fields(self) -> str:
        return f"its fields are {', '.join(map(repr, self.fields))}"

    @property
    def kind(self) -> Kind:
        return Kind("prompt", "binned", MASKS, dear=True)

    def describe(self) -> list[str]:
        kept = f"; always kept: {', '.join(self.fixed)}" if self.fixed else ""
        return [f"Explains: prompts, by their parts{kept}"]

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        """One prompt, or several that share model calls."""
        if not wanted.one and (isinstance(X, str | Mapping) or not isinstance(X, Iterable)):
            raise InputError(f"several prompts are a list of them, not {short_repr(X)}")
        prompts = [X] if wanted.one else list(X)
        return part_groups(prompts, self._divide, ("prompt", "prompts"), wanted.one, self.sizes)

    # -- one prompt -----------------------------------------------------------------------------

    def _divide(self, prompt: Any) -> PromptInParts:
        given = self._field_texts(prompt)
        places = [("", name) for name in given] if self.template is None else self.template_parts
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
            raise InputError(f"there is no part to explain in {short_repr(prompt)}")
        return PromptInParts(tuple(out), _names(moved), tuple(text for _, _, text in moved), self)

    def _field_texts(self, prompt: Any) -> dict[str, Any]:
        """The texts of the fields, in the order of the prompt."""
        if not isinstance(prompt, Mapping):
            free = [] if self.template is None else [f for f in self.fields if f not in self.fixed]
            if isinstance(prompt, str) or not isinstance(prompt, Sequence) or len(free) > 1:
                raise InputError(
                    f"a prompt is a dictionary from fields to texts, not {short_repr(prompt)}"
                )
            prompt = {free[0] if free else WHOLE: prompt}
        for name in prompt:
            if not isinstance(name, str):
                raise InputError(f"the name of a field is a text, not {short_repr(name)}")
        if self.template is not None:
            for name in self.fields:
                if name not in prompt:
                    raise InputError(
                        f"the prompt lacks the field {short_repr(name)} of the template"
                    )
            for name in prompt:
                if name not in self.fields:
                    raise InputError(
                        f"the template has no field {short_repr(name)}: {self._fields()}"
                    )
        else:
            for name in (*self.fixed, *self.split):
                if name not in prompt:
                    raise InputError(f"the prompt has no field {short_repr(name)}")
        return dict(prompt)

    def _parts(self, name: str, value: Any) -> list[PromptPart]:
        """The parts of a field."""
        if isinstance(value, str):
            return self._of_text(name, value)
        if name in self.split:
            raise InputError(f"the field {short_repr(name)} is to be split, so it is one text")
        if isinstance(value, Mapping):
            named = [(str(own), text) for own, text in value.items()]
        elif isinstance(value, Sequence):
            named = [(f"{name} {k}", text) for k, text in enumerate(value, 1)]
        else:
            raise InputError(
                f"the field {short_repr(name)} is a text, or a list or dictionary of texts, not "
                f"{short_repr(value)}"
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
        unit, edges = self.split[name], Edges(text)
        for k, (start, end) in enumerate(UNITS[unit](text), 1):
            own = text[start:end] if unit == "word" else f"{name} {k}"
            kept = edges.start(start), edges.end(end)
            instead = edges.replace(start, end, self.mask) if self.mask else kept
            out.append(PromptPart(own, text[start:end], text[at:start], kept, instead))
            at = end
        return out


@final
@dataclass(frozen=True)
class PromptPart:
    """A part's own name, its text, and what stands between it and the part before. `edges` are its
    beginning and end in a text that is split, and `instead` those of the mask in its place."""

    name: str
    text: str
    before: str
    edges: tuple[Edge, Edge] = (NO_EDGE, NO_EDGE)
    instead: tuple[Edge, Edge] = (NO_EDGE, NO_EDGE)


@final
@dataclass(frozen=True)
class PromptField:
    """A piece of the template: its own text, then parts. `first` is the place of the first part
    among the features; None if they are always kept."""

    text: str
    parts: tuple[PromptPart, ...]
    first: int | None


@final
@dataclass(frozen=True, eq=False)
class PromptInParts:
    """A prompt in pieces, with the names and texts of the parts that may be left out."""

    fields: tuple[PromptField, ...]
    names: tuple[str, ...]
    own: tuple[str, ...]
    how: Prompt
    form: Hashable = None

    @property
    def row_bytes(self) -> int:
        return sum(map(len, self.own))

    @property
    def subject(self) -> Passage:
        """The whole prompt, and where its parts are."""
        at, spans, pieces = 0, [], list(self.pieces(np.zeros(len(self.names))))
        for text, feature in pieces:
            if feature is not None:
                spans.append((at, at + len(text), feature))
            at += len(text)
        by_word = "word" in self.how.split.values()  # words are shown where they stand
        whole = "".join(text for text, _ in pieces)
        return Passage(whole, tuple(spans), labels=() if by_word else self.names)

    def inputs(self, points: Points) -> list[str]:
        """The prompt without the parts that are off."""
        return ["".join(text for text, _ in self.pieces(mask)) for mask in points]

    def pieces(self, mask: Points) -> Iterator[tuple[str, int | None]]:
        """The prompt in order: parts with their feature, other text with none."""
        off, begun, how = mask.astype(bool).tolist(), False, self.how
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
        ends, left_out, changed = NO_EDGE, "", False
        written = False
        for k, part in enumerate(piece.parts):
            feature = None if piece.first is None else piece.first + k
            gone = feature is not None and off[feature]
            if gone and mask is None:
                left_out, changed = left_out or part.before, True
                continue
            starts, after = part.instead if gone else part.edges
            if written or not k:  # no separator where all parts before are left out
                glue = " " if (changed or gone) and ends.joins(starts) else ""
                yield part.before or left_out or glue, None
            yield (mask or "" if gone else part.text), feature
            ends, left_out, changed, written = after, "", gone, True


def _check_text(name: str, text: Any) -> None:
    if not isinstance(text, str):
        raise InputError(f"the part {short_repr(name)} is a text, not {short_repr(text)}")
    if not text.strip():
        raise InputError(
            f"the part {short_repr(name)} is empty, so it can be no reason: leave it out"
        )


def _names(moved: Sequence[tuple[str, str, str]]) -> tuple[str, ...]:
    """Distinct names: where two fields use one name, the field's is added, then the place."""
    own = Counter(name for _, name, _ in moved)
    return distinct_names([n if own[n] == 1 else f"{f}: {n}" for (f, n, _) in moved])
