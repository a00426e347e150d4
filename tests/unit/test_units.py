"""Texts: words and marks, larger units where the budget needs them, and how masks are written."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eagle
from eagle import Texts
from eagle._sources import texts, words
from eagle._sources.masked_text import SPACE, TextInParts, replace_parts
from eagle._sources.masks import is_carried, most_carried
from eagle._sources.words import blocks, paragraphs, sentences, tokens
from eagle.contracts import Array
from eagle.errors import InputError
from eagle.until import Width


@pytest.fixture(autouse=True)
def by_character(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without the segmenter, which may be installed or not."""
    monkeypatch.setattr(words, "has_segmenter", lambda: False)
    monkeypatch.setattr(texts, "has_segmenter", lambda: False)


def parts(text: str, spans: Any = None) -> list[str]:
    return [text[a:b] for a, b in (tokens(text) if spans is None else spans)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("WINNER!! Call 08712-300 :-)", ["WINNER", "!!", "Call", "08712-300", ":-)"]),
        (
            "£1,000.50 at 10:30, 50% off...",
            ["£", "1,000.50", "at", "10:30", ",", "50", "%", "off", "..."],
        ),
        (
            "see http://x.y/z?a=1. (www.w.com)",
            ["see", "http://x.y/z?a=1", ".", "(", "www.w.com", ")"],
        ),
        ("mail a.b@c.co.uk, #tag @me", ["mail", "a.b@c.co.uk", ",", "#tag", "@me"]),
        ("it's :D <3 ok?!", ["it's", ":D", "<3", "ok", "?", "!"]),
        ("note:Do x:y 8) a=b", ["note", ":", "Do", "x", ":", "y", "8", ")", "a", "=", "b"]),
        ("v1.2.3 C++ 👍🏽👍🏽", ["v1.2.3", "C", "++", "👍🏽", "👍🏽"]),
        ("你好，世界", ["你", "好", "，", "世", "界"]),
        ("นี้ good", ["นี้", "good"]),
        ("cafe\u0301!", ["cafe\u0301", "!"]),
        ("שלום, مرحبا!", ["שלום", ",", "مرحبا", "!"]),
    ],
)
def test_tokens(text: str, found: list[str]) -> None:
    assert parts(text) == found


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_nothing_but_white_space_is_left_out(text: str) -> None:
    spans = tokens(text)
    assert all(a < b for a, b in spans)
    assert all(b <= c for (_, b), (c, _) in pairwise(spans))
    at = 0
    for a, b in [*spans, (len(text), len(text))]:
        assert not text[at:a].strip()
        at = b


def test_a_very_long_address_takes_no_time() -> None:
    """Patterns that look ahead at every place would take minutes here."""
    assert len(tokens("a." * 50_000)) == 100_000
    assert len(tokens("a" * 200_000)) == 1


# -- units ----------------------------------------------------------------------------------------

LONG = "\n\n".join(
    " ".join(f"Word{p}x{s} and other{p}x{s} things{p}x{s}." for s in range(8)) for p in range(6)
)
"""6 paragraphs of 8 sentences of 4 words, of which 3 are met once."""


def cut(text: str, budget: int, **how: Any) -> tuple[int, str]:
    asked: list[int] = []

    def model(texts: list[str]) -> Array:
        asked.append(len(texts))
        return np.array([len(t) for t in texts], dtype=float)

    e = eagle.Explainer(model, Texts(**how), task="regression", budget=budget).explain(text)
    assert isinstance(e.subject, eagle._values.subject.Passage)
    assert sum(asked) <= budget
    if "unit" not in how:
        assert e.posterior is not None
    return len(e.names), e.subject.cut


@pytest.mark.parametrize(
    ("budget", "count", "says"),
    [
        (441, 146, "146 words and marks"),
        (440, 48, "48 sentences, since 146 words and marks are too many for 440 rows (441 rows"),
        (64, 6, "6 paragraphs, since 146 words and marks and 48 sentences are too many"),
        (16, 4, "4 blocks of about 60 words, since"),
    ],
)
def test_the_finest_unit_that_the_budget_carries(budget: int, count: int, says: str) -> None:
    found, cut_by = cut(LONG, budget)
    assert found == count
    assert cut_by.startswith(says)


def test_a_unit_that_is_asked_for() -> None:
    assert cut(LONG, 64, unit="word")[0] == 146
    assert cut(LONG, 400, unit="sentence") == (48, "48 sentences, as asked")
    assert cut(LONG, 400, unit="paragraph")[0] == 6
    assert cut(LONG, 33, unit="block")[0] == 10
    assert cut(LONG, 400, split=str.split)[1].endswith("as split")
    for wrong in ("letter", 3, ["word"]):
        with pytest.raises(InputError, match="a unit must be 'word', 'sentence'"):
            Texts(unit=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="by unit or by split, not by both"):
        Texts(unit="word", split=str.split)


def test_fewer_rows_decide_the_unit_with_a_rule_as_well() -> None:
    def model(texts: list[str]) -> Array:
        return np.array([float(len(t)) for t in texts])

    explainer = eagle.Explainer(model, Texts(), task="regression", budget=450)
    assert len(explainer.explain(LONG).names) == 146
    few = explainer.with_options(budget=200)
    assert len(few.explain(LONG, until=Width(1e-9)).names) == 48


def test_how_it_goes_is_described() -> None:
    described = eagle.Explainer(None, Texts()).describe()
    assert "by words and marks; where rows are fewer than three for each, by" in described
    assert "eagle-xai[segment]" in described
    assert "by sentences, as asked" in eagle.Explainer(None, Texts(unit="sentence")).describe()
    assert "Chinese, Japanese and Thai go by character" in cut("你好世界", 100)[1]
    assert "character" not in cut("hello world", 100)[1]


def test_what_rows_carry() -> None:
    for rows in range(1, 200):
        for each in (2, 3):
            most = most_carried(rows, each)
            assert not most or is_carried(most, rows, each)
            assert not is_carried(most + 1, rows, each)


def test_paragraphs_and_blocks() -> None:
    text = "One two.\nThree.\n\n  Four five.\n \nSix "
    assert parts(text, paragraphs(text)) == ["One two.\nThree.", "Four five.", "Six"]
    lines = "one\ntwo \n three"
    assert parts(lines, paragraphs(lines)) == ["one", "two", "three"]
    for count in (1, 2, 7, 40, 60):
        found = blocks(LONG, count)
        assert len(found) <= count
        assert "".join("".join(p.split()) for p in parts(LONG, found)) == "".join(LONG.split())
        if count < len(sentences(LONG)):
            assert all(LONG[end - 1] == "." for _, end in found)
        lengths = [b - a for a, b in found]
        assert max(lengths) <= 1.5 * len(LONG) / count + 60


def test_long_texts_have_no_falsely_sure_parts() -> None:
    """More words than rows: few parts have an effect, and few others may be called sure."""
    rng = np.random.default_rng(0)
    vocabulary = [f"w{k}" for k in range(900)]
    said = [" ".join(rng.choice(vocabulary, 8)) + "." for _ in range(250)]
    text = " ".join(said)
    strong = set(vocabulary[:6])

    def model(texts: list[str]) -> Array:
        found = [sum(w.rstrip(".") in strong for w in t.split()) for t in texts]
        return 1 / (1 + np.exp(6.0 - np.array(found, dtype=float)))

    e = eagle.Explainer(model, Texts(), task="regression", budget=300).explain(text)
    assert len(e.names) == 99
    none = np.array([not strong & {w.rstrip(".") for w in n.split()} for n in e.names])
    low, high = e.interval(0.95).T
    sure = (low > 0) | (high < 0)
    assert none.sum() > 40
    assert sure[none].mean() < 0.06
    assert sure[~none].mean() > 0.5


# -- writing --------------------------------------------------------------------------------------


def written(text: str, spans: Any, mask: Any) -> str:
    """Masked part by part, as it reads: the second road."""
    out, last, dropped = "", -1, False
    at, gap = 0, ""

    def add(place: int, piece: str) -> None:
        """Two letters that were not in one word are not brought together."""
        nonlocal out, last
        if piece and out and (out[-1] + piece[0]).isalnum() and last != place - 1:
            out += " " * (not text[last : place + 1].isalnum())
        out, last = out + piece, place + len(piece) - 1 if piece else last

    for start, end, k in [*spans, (len(text), len(text), None)]:
        gap = text[at:start]
        gap = gap.lstrip(SPACE) if dropped and (not out or out[-1].isspace()) else gap
        add(start - len(gap), gap)
        at = end
        if k is not None:
            dropped = bool(mask[k])
            add(start, "" if dropped else text[start:end])
    return out.rstrip(SPACE) if dropped and not gap else out


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_masked_texts_are_as_if_written_part_by_part(data: st.DataObject) -> None:
    text = data.draw(st.text(alphabet="aab..  \t\né\u3000🎉", min_size=1, max_size=14))
    places = data.draw(
        st.lists(st.integers(0, len(text)), min_size=2, max_size=8, unique=True).map(sorted)
    )
    ends = list(zip(places[::2], places[1::2], strict=False))
    spans = [(a, b, data.draw(st.integers(0, len(ends) - 1))) for a, b in ends]
    masks = np.array(
        data.draw(
            st.lists(
                st.lists(st.integers(0, 1), min_size=len(ends), max_size=len(ends)), min_size=1
            )
        ),
        dtype=np.uint8,
    )
    assert list(TextInParts.of(text, spans).without(masks)) == [
        written(text, spans, m) for m in masks
    ]
    for mask, made in zip(masks, replace_parts(text, spans, masks, "#"), strict=True):
        out, at = "", 0
        for start, end, k in spans:
            out, at = out + text[at:start] + ("#" if mask[k] else text[start:end]), end
        assert made == out + text[at:]


def test_a_mark_that_goes_leaves_words_apart() -> None:
    text = "good,bad (so-so)film, {\"a\":'b'} 好，坏"
    spans = [(a, b, k) for k, (a, b) in enumerate(tokens(text))]
    off = np.array([[not any(c.isalnum() for c in text[a:b]) for a, b, _ in spans]], dtype=np.uint8)
    assert list(TextInParts.of(text, spans).without(off)) == ["good bad so-so film a b 好 坏"]


def test_words_of_scripts_without_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "has_segmenter", lambda: True)
    monkeypatch.setattr(texts, "has_segmenter", lambda: True)
    assert "电影" in parts("这部电影非常好看，我推荐给大家")
    assert "電影" in parts("這部電影非常好看")
    assert "映画は" in parts("この映画は本当に面白かった。")
    assert {"หนัง", "สนุก"} <= set(parts("หนังเรื่องนี้สนุกมาก"))
    assert "character" not in cut("这部电影非常好看", 100)[1]
