"""How texts are divided: into words and marks, sentences, paragraphs, blocks of equal length; and
which pieces would run together if what stands between them were left out."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NamedTuple, TypeAlias, final
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

Spans: TypeAlias = Sequence[tuple[int, int]]
"""Where parts of a text begin and end, in order, without overlap."""

# Chinese characters and Japanese syllables stand alone.
_ALONE = (
    "\u3005-\u3007\u3040-\u30ff\uff66-\uff9f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
)
_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
_MARK = "\u0300"
_LETTER = f"[^\\W{_ALONE}]"
_LETTERS = f"{_LETTER}(?:{_LETTER}|{_MARK})*"
# One match is an emoji with its modifiers (skin tones, tags of flags, variation selectors) and all
# emoji joined to it, or the two letters of a flag, or a digit on a keycap.
_EMOJI = "[\U0001f000-\U0001faff\u2600-\u27bf\u231a\u231b\u23e9-\u23f3\u2b1b\u2b1c\u2b50\u2b55]"
_SIGN = f"(?:{_EMOJI}|[^\\w\\s](?=\ufe0f))[\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_PICTURES = f"[0-9#*]\ufe0f?\u20e3|{_FLAG}|{_SIGN}(?:\u200d{_SIGN})*"
_JOINED = "['\u2019\u00ad\u200c\u200d\\-]"
WORD = re.compile(f"{_PICTURES}|[{_ALONE}]{_MARK}*|{_LETTERS}(?:{_JOINED}{_LETTERS})*")

_SPACED = f"[^\\W{_ALONE}{_THAI}]"
_SPACED_WORD = f"{_SPACED}(?:{_SPACED}|{_MARK})*"
_ADDRESS = (
    r"(?:[A-Za-z][A-Za-z0-9+.\-]{0,20}+://|[Ww]{3}\.)[^\s<>\"”]*[^\s<>\"”.,;:!?)\]}'’…]"
    r"|[\w.+\-]{1,64}+@[\w\-]+(?:\.[\w\-]+)+"
)
_FACE = (
    r"(?<!\w)(?:[<>]?[:;=][\-'^]?(?:[)(\]\[}{/\\|*]+|[dDpPoO3](?!\w))|[)(\]\[][\-'^]?[:;=](?![\w/])"
    r"|</?3(?!\w)|\^_*\^|-_+-|>_+<)"
)
TOKEN = re.compile(
    f"(?P<address>{_ADDRESS})|{_PICTURES}|(?P<face>{_FACE})"
    f"|(?P<run>[{_ALONE}](?:[{_ALONE}]|{_MARK})*|[{_THAI}](?:[{_THAI}]|{_MARK})*)"
    # One match is a number with its points and colons, or a word with its leading @ or #.
    f"|(?:(?<!\\w)[@#])?{_SPACED_WORD}(?:(?:{_JOINED}|(?<=\\d)[.,:/](?=\\d)){_SPACED_WORD})*"
    f"|(?P<mark>[^\\w\\s])(?:(?P=mark)|{_MARK})*|\\S"
)
# A full stop ends a sentence only before a space, a closing quote or bracket, or the end: numbers
# and addresses have full stops, too.
SENTENCE = re.compile(
    r"\S[^\n]*?(?:(?:[!?…。！？؟।۔]+|\.+(?=[\s\"'”’)\]]|$))[.!?…]*[\"'”’)\]」』]*|$|(?=\n))"
)
PARAGRAPH = re.compile(r"\S.*?(?=\s*\n\s*\n|\s*\Z)", re.DOTALL)
LINE = re.compile(r"\S.*?(?=\s*$)", re.MULTILINE)

SEGMENTER: Final = "budoux"
"""The package that finds words where no spaces are; the extra `segment` brings it."""


def words(text: str) -> Spans:
    """Words of any script, with what an apostrophe or a hyphen holds together; emoji; Chinese and
    Japanese by character. Marks are left out: see `tokens`."""
    return [m.span() for m in WORD.finditer(_plain(text))]


def tokens(text: str) -> Spans:
    """All that is no space: words, numbers, addresses, emoticons, emoji, and punctuation marks. A
    mark that is repeated is one token. Chinese, Japanese and Thai are divided by the package
    budoux, by character if it is not installed."""
    plain = _plain(text)
    return [span for m in TOKEN.finditer(plain) for span in _divide(text, plain, m)]


def is_unspaced(text: str) -> bool:
    """Whether some of the text is in a script that does not put spaces between words."""
    return any(m["run"] and len(m["run"]) > 1 for m in TOKEN.finditer(_plain(text)))


@cache
def has_segmenter() -> bool:
    """Whether the package that divides scripts without spaces into words is installed."""
    return find_spec(SEGMENTER) is not None


def sentences(text: str) -> Spans:
    """Sentences: they end at a full stop, a question or exclamation mark, or a line's end."""
    spans = [(m.start(), m.start() + len(m.group().rstrip())) for m in SENTENCE.finditer(text)]
    out: list[tuple[int, int]] = []
    for start, end in spans:
        if out and not WORD.search(text, start, end):  # marks alone belong to what is before
            out[-1] = out[-1][0], end
        else:
            out.append((start, end))
    return out


def paragraphs(text: str) -> Spans:
    """Paragraphs, separated by blank lines; lines, if there is no blank line."""
    spans = [m.span() for m in PARAGRAPH.finditer(text)]
    return spans if len(spans) > 1 else [m.span() for m in LINE.finditer(text)]


def blocks(text: str, count: int) -> Spans:
    """At most `count` parts of about equal length, each of entire sentences if the text has more
    than `count` of them, else of entire words."""
    pieces = sentences(text)
    pieces = pieces if len(pieces) > count else tokens(text)
    if len(pieces) <= count:
        return pieces
    ends, first = [end for _, end in pieces], pieces[0][0]
    share = (ends[-1] - first) / count
    cuts = sorted({bisect_left(ends, first + share * k) for k in range(1, count)} | {len(ends) - 1})
    starts = [0, *(cut + 1 for cut in cuts[:-1])]
    return [(pieces[a][0], ends[b]) for a, b in zip(starts, cuts, strict=True)]


class Edge(NamedTuple):
    """Where a piece of a text ends or begins: what it could run together with, as bits, and the
    numbers of the word and of the run of letters that it is in."""

    meets: int
    word: int
    run: int

    def joins(self, begins: Edge) -> bool:
        """Whether this end and that beginning, of two words so far, would be read as one."""
        meets = self.meets & begins.meets
        apart = self.word != begins.word and meets & ~ALONE
        return bool(apart or (self.run != begins.run and meets & ALONE))


# What an end is, and what a beginning runs together with, as bits: a letter or its accent; an
# apostrophe or a hyphen; what joins emoji; half of a flag; anything but white space.
_A_LETTER, _A_HYPHEN, _A_JOINER, _HALF_A_FLAG, _ANYTHING = 1, 2, 4, 8, 16

_ALONE_FIRST, _ALONE_LAST = 32, 64
ALONE: Final = _ALONE_FIRST | _ALONE_LAST
"""The bits that an end and a beginning share where both are letters, one of them Chinese or
Japanese. Such letters are words alone, and stand beside others in a run: they are kept apart from
letters of another run only."""

_IS_LETTER = re.compile(f"{_LETTER}|{_MARK}")
_IS_ALONE = re.compile(f"[{_ALONE}]")
_RUN = re.compile(f"(?:\\w|{_MARK})+")
_IS_HYPHEN = re.compile(_JOINED)
_IS_HALF = re.compile("[\U0001f1e6-\U0001f1ff]")
_STICKS = re.compile(f"[{_MARK}\u200d\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")


NO_EDGE: Final = Edge(0, 0, 0)
"""Of a piece without characters: it meets nothing."""

NO_WORD: Final = -1
"""The number of a word that is not in the text; so is the number before it."""


@final
class Edges:
    """The ends and beginnings of pieces of a text."""

    def __init__(self, text: str) -> None:
        self._plain = _plain(text)

    def end(self, at: int) -> Edge:
        """Of a piece that ends before the character at this place, which is not the first one."""
        return Edge(_end(self._plain[at - 1]), self.word(at - 1), self.run(at - 1))

    def start(self, at: int) -> Edge:
        """Of a piece that begins with the character at this place."""
        return Edge(_start(self._plain[at : at + 2]), self.word(at), self.run(at))

    def ends(self, places: Iterable[int]) -> list[int]:
        """What pieces meet that end before the characters at these places."""
        return [_end(self._plain[at - 1]) for at in places]

    def starts(self, places: Iterable[int]) -> list[int]:
        """What pieces meet that begin with the characters at these places."""
        return [_start(self._plain[at : at + 2]) for at in places]

    def word(self, at: int) -> int:
        """The number of the word, or of the mark or gap, that a character is in."""
        return bisect_right(self._cuts, at)

    def run(self, at: int) -> int:
        """The number of the run of letters, or of what is between two, that a character is in."""
        return bisect_right(self._runs, at)

    @cached_property
    def _cuts(self) -> list[int]:
        """Where words and tokens begin and end."""
        found = {at for m in WORD.finditer(self._plain) for at in m.span()}
        found.update(at for m in TOKEN.finditer(self._plain) for at in m.span())
        return sorted(found)

    @cached_property
    def _runs(self) -> list[int]:
        """Where runs of letters begin and end."""
        return [at for m in _RUN.finditer(self._plain) for at in m.span()]

    def inside(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """The numbers of the words and of the runs that characters are in, shape (2, places)."""
        every = self._cuts, self._runs
        return np.stack([np.searchsorted(cuts, places, side="right") for cuts in every])

    def replace(self, start: int, end: int, instead: str) -> tuple[Edge, Edge]:
        """The beginning and the end of a text in place of the piece between these places.

        Both are words of their own: two of them side by side, or one beside the rest of a word that
        was cut, are not one word, and Thai has no spaces that would say so.
        """
        plain = _plain(instead)
        return (
            Edge(_start(plain[:2]), NO_WORD, self.run(start)),
            Edge(_end(plain[-1]), NO_WORD - 1, self.run(end - 1)),
        )


@lru_cache(1 << 12)
def _end(character: str) -> int:
    """What a piece ends with."""
    if character.isspace():
        return 0
    if _IS_LETTER.match(character):
        return _ANYTHING | _A_LETTER | _ALONE_LAST
    if _IS_ALONE.match(character):
        return _ANYTHING | ALONE
    if _IS_HYPHEN.match(character):
        return _ANYTHING | _A_HYPHEN | (_A_JOINER if character == "\u200d" else 0)
    return _ANYTHING | (_HALF_A_FLAG if _IS_HALF.match(character) else 0)


@lru_cache(1 << 12)
def _start(characters: str) -> int:
    """What a piece that begins with these two characters runs together with."""
    first, second = characters[0], characters[1:]
    if first.isspace():
        return 0
    if _STICKS.match(first):
        return _ANYTHING
    if _IS_HALF.match(first):
        return _A_JOINER | _HALF_A_FLAG
    if _IS_HYPHEN.match(first):
        return _A_JOINER | (_A_LETTER if _IS_LETTER.match(second) else 0)
    if _IS_LETTER.match(first):
        return _A_JOINER | _A_LETTER | _A_HYPHEN | _ALONE_FIRST
    return _A_JOINER | (ALONE if _IS_ALONE.match(first) else 0)


def _plain(text: str) -> str:
    """The text with every combining mark (accent, vowel sign) replaced by `_MARK`, of the same
    length. Combining marks belong to the letter before, but `re` does not take them as letters."""
    if text.isascii():
        return text
    return "".join(_MARK if category(c) in ("Mn", "Mc") and c != "\ufe0f" else c for c in text)


def _divide(text: str, plain: str, match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The spans of the words in a run of a script without spaces; any other match is one span."""
    at, end = match.span()
    if not match["run"]:
        yield at, end
        return
    if has_segmenter():
        lengths = [len(word) for word in _parser(text[at:end]).parse(text[at:end])]
    else:
        lengths = [len(m.group()) for m in re.finditer(f".{_MARK}*", plain[at:end])]
    for length in lengths:
        yield at, at + length
        at += length


def _parser(run: str) -> Any:
    """The segmenter for a run of characters, by the script it is in."""
    if re.match(f"[{_THAI}]", run):
        return _load("thai")
    if re.search("[\u3040-\u30ff\uff66-\uff9f]", run):
        return _load("japanese")
    return _load("simplified_chinese" if _writable(run, "gb2312") else "traditional_chinese")


@cache
def _load(language: str) -> Any:
    return vars(import_module(SEGMENTER))[f"load_default_{language}_parser"]()


def _writable(run: str, encoding: str) -> bool:
    try:
        run.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
