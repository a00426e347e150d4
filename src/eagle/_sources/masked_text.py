"""Masked texts, many at once: characters are picked by arrays, not joined part by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._sources.words import ALONE, Edges, Spans
from eagle._values.arrays import Points

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

    `characters` are those of each gap's glue, its leading spaces, its rest, the glue of the part
    behind it and that part, in turn; `lengths`, shape (5n + 3,), say how many. Glue is the space
    before a gap or part that keeps it from running together with a piece that was not beside it.
    Gaps and parts in turn are the 2n + 1 pieces. `ends` says whether a piece's last character is
    white space, and `empty` whether it has none. `spaces`, shape (n + 1,), says whether a gap has
    nothing but leading spaces. `seams` are the pieces that have glue.
    """

    characters: NDArray[Any]
    lengths: NDArray[np.intp]
    features: NDArray[np.intp]
    ends: Flags
    empty: Flags
    spaces: Flags
    seams: Seams

    @classmethod
    def of(cls, text: str, parts: Sequence[TextPart]) -> TextInParts:
        spans = _pieces(text, parts)
        pieces = [text[a:b] for a, b in spans]
        seams = Seams.of(text, spans)
        glue = np.zeros(len(pieces), dtype=np.intp)
        glue[seams.at] = 1
        gaps = pieces[0::2]
        lead = np.array([len(gap) - len(gap.lstrip(SPACE)) for gap in gaps])
        lengths = np.zeros(5 * len(gaps) - 2, dtype=np.intp)  # glue, lead, rest, glue, part, …
        lengths[0::5], lengths[1::5] = glue[0::2], lead
        lengths[2::5] = np.array([len(gap) for gap in gaps]) - lead
        lengths[3::5], lengths[4::5] = glue[1::2], [end - start for start, end, _ in parts]
        return cls(
            _characters("".join(" " * n + p for n, p in zip(glue.tolist(), pieces, strict=True))),
            lengths,
            np.array([k for _, _, k in parts], dtype=np.intp),
            np.array([p[-1:].isspace() for p in pieces], dtype=bool),
            np.array([not p for p in pieces], dtype=bool),
            lengths[2::5] == 0,
            seams,
        )

    def without(self, masks: Points) -> Iterator[str]:
        """The text under each mask. Of the spaces around a part that is dropped, one stays; where
        there is none, and words would run together, there is one."""
        step = max(1, AT_ONCE // max(1, self.characters.size))
        for start in range(0, len(masks), step):
            off = masks[start : start + step][:, self.features].astype(bool)
            yield from self._without(off)

    def _without(self, off: Flags) -> Iterator[str]:
        there = np.empty((len(off), len(self.empty)), dtype=bool)
        there[:, 0::2], there[:, 1::2] = ~self.empty[0::2], ~off
        last = _last(there)
        # Whether the last character that is kept up to each part's end is white, or there is none.
        behind = np.insert(self.ends, 0, True)[last[:, 2::2]]
        kept = np.ones((len(off), len(self.lengths)), dtype=bool)
        kept[:, 0::5] = kept[:, 3::5] = False
        kept[:, 4::5] = ~off
        kept[:, 6::5] = ~(off & behind)  # the leading spaces of the gap behind it
        slots = 5 * (self.seams.at // 2) + 3 * (self.seams.at % 2)
        kept[:, slots] = self.seams.needs_glue(there, last)
        chosen = np.repeat(kept, self.lengths, axis=1)
        every = _text(np.broadcast_to(self.characters, chosen.shape)[chosen])
        # Where the last part is dropped and no text follows, spaces at the end are stripped.
        bare = off[:, -1] & (self.empty[-1] | (behind[:, -1] & self.spaces[-1]))
        at = 0
        for long, strip in zip(chosen.sum(axis=1).tolist(), bare.tolist(), strict=True):
            made = every[at : at + long]
            yield made.rstrip(SPACE) if strip else made
            at += long


@final
@dataclass(frozen=True, eq=False)
class Seams:
    """The pieces of a text that could run together with an earlier one if what is between were
    dropped: their places, the numbers of the pieces before them (1 for the first; 0 for none), and
    the beginnings of these pieces and the ends of all, as in `words.Edge`: what they meet, and the
    words and runs that they are in, shape (2, …)."""

    at: NDArray[np.intp]
    before: NDArray[np.intp]
    begins: NDArray[np.intp]
    starts_in: NDArray[np.intp]
    ends: NDArray[np.intp]
    ends_in: NDArray[np.intp]

    @classmethod
    def of(cls, text: str, spans: Spans) -> Seams:
        edges, bounds = Edges(text), np.array(spans, dtype=np.intp)
        there = np.flatnonzero(bounds[:, 1] > bounds[:, 0])
        ends = np.zeros(len(spans) + 1, dtype=np.intp)
        ends[there + 1] = edges.ends(bounds[there, 1].tolist())
        # Where a gap is before a piece, nothing but that gap ever is.
        found = there[1:][there[:-1] % 2 == 1]
        begins = _integers(edges.starts(bounds[found, 0].tolist()))
        found = found[(begins & np.bitwise_or.reduce(ends)) != 0]
        if not len(found):
            none = np.zeros(0, dtype=np.intp)
            return cls(
                none, none, none, np.zeros((2, 0), dtype=np.intp), ends, np.stack([ends] * 2)
            )
        ends_in = np.zeros((2, len(ends)), dtype=np.intp)
        ends_in[:, there + 1] = edges.inside(bounds[there, 1] - 1)
        return cls(
            found,
            there[np.searchsorted(there, found) - 1] + 1,
            _integers(edges.starts(bounds[found, 0].tolist())),
            edges.inside(bounds[found, 0]),
            ends,
            ends_in,
        )

    def needs_glue(self, there: Flags, last: NDArray[np.int32]) -> Flags:
        """Which of them need glue, shape (rows, seams), given which pieces are there, and the
        number of the last one up to each, shape (rows, pieces + 1)."""
        left = last[:, self.at]
        apart = there[:, self.at] & (left != self.before)
        meets = self.ends[left] & self.begins
        word, run = self.ends_in[:, left] != self.starts_in[:, None]
        apart &= (word & (meets & ~ALONE != 0)) | (run & (meets & ALONE != 0))
        return np.asarray(apart)


def replace_parts(
    text: str, parts: Sequence[TextPart], masks: Points, instead: str
) -> Iterator[str]:
    """The text under each mask, with `instead` in place of parts that are off. There is a space
    where it would run together with a word beside it."""
    spans = _pieces(text, parts)
    pieces = [text[a:b] for a, b in spans]
    features = np.array([k for _, _, k in parts], dtype=np.intp)
    seams = _seams_of(text, spans, instead)
    for mask in masks:
        out, off = pieces.copy(), mask[features].astype(bool)
        for k in np.flatnonzero(off).tolist():
            out[2 * k + 1] = instead
        for left, right, glued in seams:
            if glued[int(left % 2 and off[left // 2])][int(right % 2 and off[right // 2])]:
                out[right] = " " + out[right]
        yield "".join(out)


def _seams_of(text: str, spans: Spans, instead: str) -> list[tuple[int, int, list[list[bool]]]]:
    """The pairs of neighbouring pieces that run together where one of them, or both, are replaced,
    and in which of these cases."""
    edges = Edges(text)
    there = [i for i, (a, b) in enumerate(spans) if b > a]
    found = []
    for left, right in pairwise(there):
        (a, b), (c, d) = spans[left], spans[right]
        ends = edges.end(b), edges.replace(a, b, instead)[1]
        starts = edges.start(c), edges.replace(c, d, instead)[0]
        glued = [[end.joins(start) for start in starts] for end in ends]
        glued[0][0] = False  # as in the text
        if any(map(any, glued)):
            found.append((left, right, glued))
    return found


def _last(there: Flags) -> NDArray[np.int32]:
    """The number of the last piece that is there before each piece, and at the end: 1 for the
    first piece, 0 for none; shape (rows, pieces + 1)."""
    rows, pieces = there.shape
    last = np.zeros((rows, pieces + 1), dtype=np.int32)
    np.multiply(there, np.arange(1, pieces + 1, dtype=np.int32), out=last[:, 1:])
    return np.asarray(np.maximum.accumulate(last, axis=1, out=last))


def _pieces(text: str, parts: Sequence[TextPart]) -> Spans:
    """Where gaps and parts begin and end, in turn."""
    at = [0, *(place for start, end, _ in parts for place in (start, end)), len(text)]
    return list(pairwise(at))


def _integers(values: Iterable[int]) -> NDArray[np.intp]:
    return np.fromiter(values, dtype=np.intp)


def _characters(text: str) -> NDArray[Any]:
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _text(characters: NDArray[Any]) -> str:
    if characters.dtype == np.uint8:
        return characters.tobytes().decode("ascii")
    return characters.tobytes().decode("utf-32-le", "surrogatepass")
