"""Masked texts, many at once: characters are picked by arrays, not joined part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray

from eagle.types import Points

TextPart: TypeAlias = tuple[int, int, int]
"""Where a part begins and ends, and the feature it belongs to."""

SPACE: Final = " \t\u00a0\u3000"

AT_ONCE: Final = 1 << 21
"""At most this many characters are masked at once, or one text if it is longer."""

Flags: TypeAlias = NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False)
class TextInParts:
    """A text as n parts and the n + 1 gaps before, between and after them.

    `characters` are those of each gap's leading spaces, the rest of the gap, the part and its glue,
    in turn; `lengths`, shape (4n + 2,), say how many. Glue is the space that a mark between two
    words leaves when it is dropped, so that they stay two words. `part_ends`, shape (n,), and
    `gap_ends`, shape (n + 1,), say whether the last character is white space. `empty` and `spaces`,
    shape (n + 1,), say whether a gap has nothing, or nothing but leading spaces.
    """

    characters: NDArray[Any]
    lengths: NDArray[np.intp]
    features: NDArray[np.intp]
    part_ends: Flags
    gap_ends: Flags
    empty: Flags
    spaces: Flags

    @classmethod
    def of(cls, text: str, parts: Sequence[TextPart]) -> TextInParts:
        gaps = _gaps(text, parts)
        lead = [len(gap) - len(gap.lstrip(SPACE)) for gap in gaps]
        glue = [" " if _separates_words(text, start, end) else "" for start, end, _ in parts]
        shown = [text[start:end] + g for (start, end, _), g in zip(parts, glue, strict=True)]
        lengths = np.zeros(4 * len(gaps) - 2, dtype=np.intp)  # lead, rest, part, glue, lead, …
        lengths[0::4], lengths[1::4] = lead, [len(g) - n for g, n in zip(gaps, lead, strict=True)]
        lengths[2::4] = [end - start for start, end, _ in parts]
        lengths[3::4] = [len(g) for g in glue]
        return cls(
            _characters("".join(p for both in zip(gaps, [*shown, ""], strict=True) for p in both)),
            lengths,
            np.array([k for _, _, k in parts], dtype=np.intp),
            np.array([text[e - 1].isspace() for _, e, _ in parts], dtype=bool),
            np.array([g[-1:].isspace() for g in gaps], dtype=bool),
            np.array([not g for g in gaps], dtype=bool),
            lengths[1::4] == 0,
        )

    def without(self, masks: Points) -> Iterator[str]:
        """The text under each mask. Of the spaces around a part that is dropped, one stays."""
        step = max(1, AT_ONCE // max(1, self.characters.size))
        for start in range(0, len(masks), step):
            off = masks[start : start + step][:, self.features].astype(bool)
            yield from self._without(off)

    def _without(self, off: Flags) -> Iterator[str]:
        before, behind = self._white(off)
        kept = np.ones((len(off), len(self.lengths)), dtype=bool)
        kept[:, 2::4] = ~off
        kept[:, 3::4] = off & ~before
        kept[:, 4::4] = ~(off & behind)  # the leading spaces of the gap behind it
        chosen = np.repeat(kept, self.lengths, axis=1)
        every = _text(np.broadcast_to(self.characters, chosen.shape)[chosen])
        # Where the last part is dropped and no text follows, spaces at the end are stripped.
        bare = off[:, -1] & (self.empty[-1] | (behind[:, -1] & self.spaces[-1]))
        at = 0
        for long, strip in zip(chosen.sum(axis=1).tolist(), bare.tolist(), strict=True):
            made = every[at : at + long]
            yield made.rstrip(SPACE) if strip else made
            at += long

    def _white(self, off: Flags) -> tuple[Flags, Flags]:
        """Whether the last character that is kept before each part, and up to its end, is white
        space, or there is none; shape (rows, n) each."""
        rows, parts = off.shape
        glued = off & (self.lengths[3::4] > 0)
        known = np.empty((rows, 2 * parts), dtype=bool)  # gap, part, gap, part, …
        known[:, 0::2], known[:, 1::2] = ~self.empty[:-1], ~off | glued
        # The place in `ends` of the last gap or part that is kept; for glue, its part's plus one.
        last = np.where(known, np.arange(2, 4 * parts + 2, 2, dtype=np.int32), np.int32(0))
        last[:, 1::2] += glued
        np.maximum.accumulate(last, axis=1, out=last)
        ends = np.ones(4 * parts + 2, dtype=bool)  # glue, and the place before the text, are white
        ends[2::4], ends[4::4] = self.gap_ends[:-1], self.part_ends
        white = ends[last]
        return white[:, 0::2], white[:, 1::2]


def replaced(text: str, parts: Sequence[TextPart], masks: Points, instead: str) -> Iterator[str]:
    """The text under each mask, with `instead` in place of parts that are off."""
    shown = [text[start:end] for start, end, _ in parts]
    pieces = [p for both in zip(_gaps(text, parts), [*shown, ""], strict=True) for p in both]
    features = np.array([k for _, _, k in parts], dtype=np.intp)
    for mask in masks:
        out = pieces.copy()
        for k in np.flatnonzero(mask[features]).tolist():
            out[2 * k + 1] = instead
        yield "".join(out)


def _gaps(text: str, parts: Sequence[TextPart]) -> list[str]:
    """What is before, between and after the parts."""
    at = [0, *(end for _, end, _ in parts)]
    return [text[a:b] for a, b in zip(at, [*(s for s, _, _ in parts), len(text)], strict=True)]


def _separates_words(text: str, start: int, end: int) -> bool:
    """Whether marks stand between two words, without spaces, in a script that has spaces."""
    around = text[start - 1 : start] + text[end : end + 1]
    return (
        len(around) == 2
        and around.isalnum()
        and not any(c.isalnum() for c in text[start:end])
        and not any(east_asian_width(c) in "WF" for c in around)
    )


def _characters(text: str) -> NDArray[Any]:
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _text(characters: NDArray[Any]) -> str:
    if characters.dtype == np.uint8:
        return characters.tobytes().decode("ascii")
    return characters.tobytes().decode("utf-32-le", "surrogatepass")
