"""What is left out of a text never brings two of its words together: each word of a perturbed text
is a word of the text, in the same order, whatever the script, the unit and the separators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any
from unicodedata import category

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eagle
from eagle._sources.texts import sentences, tokens, words
from eagle._values.arrays import Array

WRITTEN = (
    "free now don't co-op snake_case a b 1 2 1,000 10:30 v1.2.3 @me #tag www.x.yz a@b.cd "
    "café cafe\u0301 o\u0308l straße İstanbul naïve "
    "مرحبا كِتَاب نیم\u200cفاصله ٣٤ "
    "שלום שָׁלוֹם צה״ל "
    "हिन्दी अच्छा क्\u200dष ১২ தமிழ் "
    "привет что-то ёж "
    "Ελλάδα հայ ქართული አማርኛ 좋다 나쁘다 "
    "你 好 世界 電影 映画 これは カタカナ ﾊﾝｶｸ 々 "
    "👍 👍🏽 👩\u200d💻 🇩🇪 🇫🇷 "
    "❤\ufe0f 1\ufe0f\u20e3 🏴\U000e0067\U000e0062\U000e007f :-) <3 :D"
)
SCRIPTS = WRITTEN.split()
THAI = ["หนัง", "สนุก", "นี้", "ไทย"]
MARKS = list(
    "\"'’.,:;!?-–—_/\\|()[]{}<>=&%$€#@*+~^`«»„“”…。，、！？「」؟،।·\u00ad\u200b\u200c\u200d"
)
NASTY = "aé你1_ -'’\"(.,!\u0301\u093f\u200c\u200d\u00ad\u20e3\ufe0f👍🏽\U000e0067🇩"
CUT = re.compile("[\U0001f1e6-\U0001f1ff\ufe0f\u20e3]")
"""Letters of flags, and what makes a sign or a digit an emoji: alone they are other words."""


def pieces(*more: str) -> st.SearchStrategy[str]:
    """Words and marks of any script, with and without blanks between them."""
    some = st.sampled_from([*SCRIPTS, *MARKS, *more])
    between = st.sampled_from(["", "", " ", "\n", "\n\n", "\u3000"])
    return st.lists(st.tuples(some, between), min_size=1, max_size=9).map(
        lambda found: "".join(part for pair in found for part in pair)
    )


UNITS: tuple[Any, ...] = (None, "word", "sentence", "paragraph", "block")


def asked(source: Any, x: Any) -> list[str]:
    """The texts that a model is asked about."""
    seen: list[str] = []

    def model(texts: Sequence[str]) -> Array:
        seen.extend(texts)
        return np.array([float(len(text)) for text in texts])

    eagle.Explainer(model, source, task="regression", budget=24).explain(x)
    return seen


def in_words(text: str) -> list[str]:
    return [text[a:b] for a, b in words(text)]


def in_order(some: list[str], every: list[str]) -> bool:
    """Whether the first words are some of the second, in order."""
    left = iter(every)
    return all(word in left for word in some)


def letters_of_one(some: list[str], every: list[str]) -> bool:
    """Whether each of the first words has letters of one of the second only, in order."""
    at = 0
    for word in some:
        while at < len(every) and not in_order(list(word), list(every[at])):
            at += 1
        if at == len(every):
            return False
        # The same word may have lost its middle, and be two words now.
        every = [*every[:at], every[at][_reached(word, every[at]) :], *every[at + 1 :]]
    return True


def _reached(word: str, whole: str) -> int:
    at = 0
    for letter in word:
        at = whole.index(letter, at) + 1
    return at


def something(text: str) -> bool:
    return bool(text.strip())


def entire(text: str) -> bool:
    """Whether no part cuts a word, as the face in "-_-1" does."""
    places = {place for span in (*tokens(text), *sentences(text)) for place in span}
    return not any(a < place < b for a, b in (*tokens(text), *words(text)) for place in places)


TEXTS = (pieces() | st.text(alphabet=NASTY, min_size=1, max_size=12)).filter(something)
ENTIRE = TEXTS.filter(entire)


def kept_apart(made: str, text: str, instead: str = "") -> bool:
    """Whether the words of a perturbed text are words of the text, in order: entire ones if no part
    cuts a word, else with letters of one word each."""
    left = [word for word in in_words(made) if word not in in_words(instead)]
    return (in_order if entire(text) else letters_of_one)(left, in_words(text))


@settings(max_examples=250, deadline=None)
@given(TEXTS, st.sampled_from(UNITS))
def test_words_of_perturbed_texts_are_words_of_the_text(text: str, unit: Any) -> None:
    for bag in (True, False):
        for made in asked(eagle.Texts(unit=unit, bag=bag), text):
            assert kept_apart(made, text), made


def runs(text: str) -> list[str]:
    """Runs of letters with their accents: what many models take for words in any script."""
    found = groupby(text, lambda c: bool(re.match(r"\w", c)) or category(c) in ("Mn", "Mc"))
    return ["".join(run) for is_run, run in found if is_run]


@settings(max_examples=250, deadline=None)
@given(pieces("你好", "世界", "免费", "カナ", *THAI).filter(something), st.sampled_from(UNITS))
def test_runs_of_letters_of_perturbed_texts_are_of_one_run_of_the_text(
    text: str, unit: Any
) -> None:
    """Chinese letters that a mark held apart are not brought together either."""
    sources = [eagle.Texts(unit=unit), eagle.Texts(unit=unit, bag=False)]
    seen = [made for source in sources for made in asked(source, text)]
    if unit in ("word", "sentence", "paragraph"):
        seen += asked(eagle.language.Prompt("{a}", split={"a": unit}), {"a": text})
    for made in seen:
        assert letters_of_one(runs(made), runs(text)), made


@settings(max_examples=150, deadline=None)
@given(ENTIRE, st.sampled_from(UNITS[1:]), st.sampled_from(["UNK", "-x", "x'", "…"]))
def test_so_they_are_where_parts_are_replaced(text: str, unit: Any, mask: str) -> None:
    for made in asked(eagle.Texts(unit=unit, mask=mask), text):
        assert kept_apart(made, text, mask), made


UNSPACED = st.lists(st.sampled_from([*THAI, *THAI, "ok", "!", " ", "你好"]), min_size=1, max_size=6)


@settings(max_examples=100, deadline=None)
@given(
    UNSPACED.map("".join).filter(something),
    st.sampled_from(UNITS[1:]),
    st.sampled_from(["UNK", "ก"]),
)
def test_what_replaces_parts_is_a_word_of_its_own_in_any_script(
    text: str, unit: Any, mask: str
) -> None:
    """Also between Thai words, which no space divides: there is no word UNKUNK."""
    seen = asked(eagle.Texts(unit=unit, mask=mask), text)
    if unit != "block":
        seen += asked(eagle.language.Prompt("{a}", split={"a": unit}, mask=mask), {"a": text})
    for made in seen:
        left = [word for word in in_words(made) if word != mask]
        assert letters_of_one(left, in_words(text)), made


@settings(max_examples=150, deadline=None)
@given(ENTIRE, st.sampled_from(UNITS[1:4]), st.sampled_from([None, "UNK"]))
def test_so_they_are_where_a_prompt_is_split(text: str, unit: Any, mask: str | None) -> None:
    source = eagle.language.Prompt("{a}", split={"a": unit}, mask=mask)
    for made in asked(source, {"a": text}):
        assert kept_apart(made, text, mask or ""), made


SPLITS = {
    "characters": list,
    "words alone": lambda text: re.findall(r"\w+", text),
    "with the blanks before": lambda text: re.findall(r"\s*\S+", text),
    "with the blanks around": lambda text: re.findall(r"\s*\S\S?\s*", text),
    "pairs": lambda text: re.findall(r"(?s)..?", text),
}


@settings(max_examples=200, deadline=None)
@given(
    (pieces(*THAI) | st.text(alphabet=NASTY, min_size=1, max_size=12)).filter(
        lambda text: bool(re.search(r"\w", text)) and not CUT.search(text)
    ),
    st.sampled_from(list(SPLITS)),
)
def test_words_that_are_cut_have_letters_of_one_word(text: str, split: str) -> None:
    for made in asked(eagle.Texts(split=SPLITS[split], bag=False), text):
        assert letters_of_one(in_words(made), in_words(text)), made


@settings(max_examples=100, deadline=None)
@given(pieces(*THAI).filter(something), st.sampled_from(UNITS))
def test_scripts_without_spaces_are_cut_as_they_are(text: str, unit: Any) -> None:
    for made in asked(eagle.Texts(unit=unit, bag=False), text):
        assert letters_of_one(in_words(made), in_words(text)), made


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([s for s in SCRIPTS if s[0].isalpha()]), min_size=1, max_size=8))
def test_words_between_blanks_leave_one_blank(kept: list[str]) -> None:
    text = " ".join(kept)
    for made in asked(eagle.Texts(split=str.split, bag=False), text):
        assert " ".join(made.split()) == made
        assert in_order(made.split(), kept)


READ = {
    "json": ('{"a":"free","b":"now"}', "free"),
    "stop": ("stop!)go", "go"),
    "html": ('<p class="x"><b>free</b></p>', "free"),
    "hindi": ("हिन्दी,:अच्छा", "अच्छा"),
    "korean": ("좋다,.나쁘다", "나쁘다"),
    "emoji": ("good👍bad", "bad"),
    "chinese": ("good你bad", "bad"),
    "thai": ("goodไทยbad", "bad"),
}


@pytest.mark.parametrize(
    "text", ['{"a":"免费","b":"现在"}', "<p>免费</p>", "お。免费、です", "x!免费"]
)
def test_marks_between_chinese_words_have_no_effect_either(text: str) -> None:
    def model(texts: Sequence[str]) -> Array:
        return np.array([float("免费" in runs(t)) for t in texts])

    source = eagle.Texts(split=lambda text: re.findall(r"\w+|[^\w\s]", text))
    e = eagle.Explainer(model, source, task="regression").explain(text)
    assert e.top(1) == ["免费"]
    others = [score for name, score in zip(e.names, e.scores, strict=True) if name != "免费"]
    assert np.abs(others).max() < 1e-2


@pytest.mark.parametrize("case", READ)
def test_what_separates_words_has_no_effect_on_a_model_that_reads_one(case: str) -> None:
    text, word = READ[case]

    def model(texts: Sequence[str]) -> Array:
        return np.array([float(word in [t[a:b] for a, b in tokens(t)]) for t in texts])

    e = eagle.Explainer(model, eagle.Texts(), task="regression").explain(text)
    assert e.top(1) == [word]
    others = [score for name, score in zip(e.names, e.scores, strict=True) if name != word]
    assert np.abs(others).max() < 1e-2
    assert np.isclose(max(e.scores), 1, atol=1e-2)
