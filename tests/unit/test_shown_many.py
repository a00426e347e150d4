"""Many explanations as a part of a page."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import eagle
from eagle import Explanations
from markup import Page

NAMES = ["<b>age</b>", "a very long name of a column, of which only the ends are shown: 17b", "job"]


def answer(table: pd.DataFrame) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    chance = 1 / (1 + np.exp(-np.asarray(table[NAMES[0]], dtype=float) - (table["job"] == "a")))
    return np.column_stack([1 - chance, chance])


@pytest.fixture(scope="module")
def survey() -> eagle.Survey:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(60, 2))
    table = pd.DataFrame(numbers, columns=NAMES[:2]).assign(job=rng.choice(["a", "b"], 60))
    explainer = eagle.Explainer(answer, table, outputs=["no", "yes"])
    return explainer.survey(256, progress=False)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(30, 2)), columns=NAMES[:2])
    return table.assign(job=rng.choice(["a", "b"], 30)).set_axis([f"row & {i}" for i in range(30)])


def checked(e: Explanations) -> str:
    html = e._repr_html_()
    Page(html)
    assert "<b>" not in html
    assert "<script" not in html
    return html


def test_bars_say_how_much_and_which_way(survey: eagle.Survey, rows: pd.DataFrame) -> None:
    e = survey.explain_many(rows, "yes", progress=False)
    html = checked(e)
    assert "30 rows explained about yes" in html
    means = e.importance()
    order = means.order()
    first = re.findall(r'<td role="cell" class="t"><bdi>(.)', html)
    assert first == [e.names[j].replace("<", "&")[0] for j in order]
    rects = re.findall(r'<rect class="(?:up|down)" x="[\d.]+%" y="6" width="([\d.]+)%"', html)
    widths = np.array(rects, dtype=float).reshape(-1, 2)
    scale = widths.sum() / means.value.sum()
    assert widths.sum(axis=1) == pytest.approx(means.value[order] * scale, abs=0.05)
    up = np.where(e.scores > 0, e.scores, 0).mean(axis=0)
    assert widths[:, 0] == pytest.approx(up[order] * scale, abs=0.05)
    ends = re.findall(r'class="i" x1="([\d.]+)%" x2="([\d.]+)%" y1="11" y2="11"', html)
    wide = np.diff(np.array(ends, dtype=float), axis=1)[:, 0]
    assert wide == pytest.approx((means.high - means.low)[order] * scale, abs=0.05)
    assert re.search(r"<bdi>a very long name of[^<]*…[^<]*are shown: 17b<", html)


def test_the_first_rows_where_nothing_can_be_averaged(
    survey: eagle.Survey, rows: pd.DataFrame
) -> None:
    e = survey.explain_many(rows, progress=False)
    html = checked(e)
    assert "30 rows explained about their predicted classes" in html
    assert "different classes" in html
    assert html.count("<tr>") == 1 + 5
    assert "<td>row &amp; 4</td>" in html
    assert "… and 25 more rows" in html


def test_one_row_is_shown(survey: eagle.Survey, rows: pd.DataFrame) -> None:
    assert "1 row explained about no" in checked(survey.explain_many(rows[:1], "no"))
