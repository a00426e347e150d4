"""Numbers as people read them: the same in text, HTML, plots, reports and the page."""

from __future__ import annotations

import re
from math import floor, log10

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eagle._values.text import value_text
from eagle.display.numbers import (
    MAX_PLAIN,
    MIN_PLAIN,
    Numbers,
    number,
    plural,
    probability,
    signed_number,
    sureness,
)
from eagle.display.scale import Scale

sizes = st.floats(1e-12, 1e12)
scores = st.one_of(st.just(0.0), sizes, sizes.map(lambda v: -v))
columns = st.lists(st.tuples(scores, st.one_of(st.just(0.0), sizes)), min_size=1, max_size=8)


def read(text: str) -> float:
    return float(text.replace("−", "-").replace(",", "").lstrip("<>"))


def column(rows: list[tuple[float, float]]) -> tuple[Numbers, list[float]]:
    values = [score for score, _ in rows]
    low, high = [s - half for s, half in rows], [s + half for s, half in rows]
    return Numbers.of([*values, *low, *high], low, high), [*values, *low, *high]


@given(columns)
def test_a_column_has_the_same_digits_after_the_point(rows: list[tuple[float, float]]) -> None:
    written, every = column(rows)
    plain = [t for t in map(written.plain, every) if "e" not in t]
    assert len({len(text.partition(".")[2]) for text in plain}) <= 1


@given(columns)
def test_what_is_written_is_the_number_or_a_bound_of_it(rows: list[tuple[float, float]]) -> None:
    written, every = column(rows)
    for value in every:
        text = written.signed(value)
        if text[0] in "<>":
            assert abs(value) < abs(read(text))
            assert value * read(text) > 0  # which side of 0 it is on is still said
            continue
        assert (read(text) == 0) == (value == 0)
        unit = 10.0 ** -len(text.partition(".")[2])
        close = 1e-3 * abs(value) if "e" in text else 0.501 * unit + 1e-12 * abs(value)
        assert abs(read(text) - value) <= close
        assert text[0] == ("−" if value < 0 else "+" if value > 0 else "0")


@given(columns)
def test_no_digit_is_noise_and_no_power_of_ten_is_needed(rows: list[tuple[float, float]]) -> None:
    written, every = column(rows)
    halves = [half for _, half in rows if half > 0]
    largest = max(map(abs, every))
    for value in every:
        text = written.plain(value)
        decimals = len(text.partition(".")[2])
        if largest >= MIN_PLAIN and abs(value) < 0.999 * MAX_PLAIN:
            assert "e" not in text
        if "e" not in text and decimals:
            assert abs(value) < 1000
            figures = floor(log10(abs(value))) + 1 + decimals if value else 1
            assert figures <= 5  # the fifth where rounding carried
            if halves and "e" not in text:
                assert min(halves) * 10.0**decimals < 31 or not min(halves)
                assert min(halves) * 10.0 ** (decimals - 1) < 3.01


def test_thousands_are_separated_and_all_digits_before_the_point_are_there() -> None:
    written = Numbers.of([41130.2, 8784.0, -12.4], [40000.0, 8000, -900], [42000.0, 9500, 800])
    assert [written.signed(v) for v in (41130.2, 8784.0, -12.4, 0.3, 0)] == [
        "+41,130",
        "+8,784",
        "−12",
        "<1",
        "0",
    ]
    assert written.span(-0.2, 8784) == ">−1 … +8,784"
    assert written.span(np.nan, 1.0) == "not known"
    assert Numbers.of([0.8123, 0.004], [0.8, 0.003], [0.82, 0.005]).plain(0.8123) == "0.8123"
    assert Numbers.of([3e9]).plain(3e9) == "3.000e+09"


any_floats = st.lists(st.floats(), max_size=6)


@given(any_floats, any_floats, any_floats)
@example([0.0, 1.0, 2.2250738585e-313], [], [])  # a step that no power of ten divides
def test_any_floats_are_written(values: list[float], low: list[float], high: list[float]) -> None:
    few = min(len(low), len(high))
    written = Numbers.of(values, low[:few], high[:few])
    ticks = Numbers.of_ticks(sorted(v for v in values if np.isfinite(v)))
    for value in (*values, *low, *high):
        for text in (written.signed(value), ticks.tick(value), number(value), probability(value)):
            assert text.isprintable()
            assert (text == "not known") == np.isnan(value)


@given(scores)
def test_a_number_by_itself(value: float) -> None:
    text = number(value)
    assert abs(read(text) - value) <= max(6e-4 * abs(value), 0)
    assert signed_number(value) == ("+" + text if value > 0 else text)
    if abs(value) < 1000 and "e" not in text:
        assert len(re.sub(r"\D", "", text).lstrip("0")) <= 4


def test_probabilities_are_not_rounded_to_certainty() -> None:
    assert [probability(p) for p in (0, 1e-9, 0.25, 0.99999, 1)] == [
        "0",
        "<0.0001",
        "0.25",
        ">0.9999",
        "1",
    ]
    assert [sureness(p) for p in (np.nan, 0.95, 0.9999)] == ["", "95.0%", ">99.9%"]
    assert [plural(n, "row") for n in (0, 1, 2048)] == ["0 rows", "1 row", "2,048 rows"]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_the_numbers_of_an_axis_are_the_ticks_and_differ(low: float, wide: float) -> None:
    scale = Scale.over([low, low + wide], zero=False)
    texts = scale.tick_texts
    assert len(set(texts)) == len(texts)
    for tick, text in zip(scale.ticks, texts, strict=True):
        assert read(text) == pytest.approx(tick, rel=1e-9, abs=1e-9 * wide)


@given(st.decimals(-99999, 99999, places=3).map(float))
def test_values_are_as_they_were_written(value: float) -> None:
    assert float(value_text(value)) == value
    assert value_text(np.float32(0.1)) == value_text(float(np.float32(0.1))) == "0.1"
    assert value_text(2019.0) == "2019"
    assert value_text(0.12345678901234) == "0.123457"
