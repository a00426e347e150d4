"""What a view in a notebook asks, and what it sends: its widget is in tests/browser."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import eagle
from eagle import InputError, MissingExtraError
from eagle.notebook.asking import asking
from eagle.notebook.payload import view_payload
from eagle.notebook.rows import ViewRows


def answer(table: pd.DataFrame) -> Any:
    return np.asarray(table["age"], dtype=float) * (1 + (np.asarray(table["job"]) == "a"))


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 50),
            "height": rng.normal(size=50),
            "job": rng.choice(["a", "b"], 50),
            "owner": rng.random(50) < 0.5,
            "born": pd.date_range("1950-01-01", periods=50),
        }
    )
    table.loc[3, "height"] = np.nan
    return table.set_axis([f"person {i}" for i in range(50)])


@pytest.fixture(scope="module")
def explainer(people: pd.DataFrame) -> eagle.Explainer:
    return eagle.Explainer(answer, people)


def test_a_row_is_explained_as_it_is(explainer: eagle.Explainer, people: pd.DataFrame) -> None:
    live = asking(explainer, people)
    assert live.labels[:2] == ["person 0", "person 1"]
    for row in (0, 3):
        shown = live.explain(row, {}, None)
        assert shown.scores.tolist() == explainer.explain(people.iloc[[row]]).scores.tolist()


def test_columns_and_their_values(explainer: eagle.Explainer, people: pd.DataFrame) -> None:
    live = asking(explainer, people)
    kinds = {column.name: column.kind for column in live.columns}
    expected = ["number", "number", "level", "level", "fixed"]
    assert kinds == dict(zip(people.columns, expected, strict=True))
    age, height, job, owner, born = live.columns
    assert (age.low, age.high, age.whole) == (people["age"].min(), people["age"].max(), True)
    own = live.values(3)
    assert height.sent(own[1]) is None
    assert job.levels[job.sent(own[2])] == people["job"].iloc[3]
    assert owner.received(owner.sent(own[3])) is bool(people["owner"].iloc[3])
    assert born.sent(own[4]).startswith("1950-01-04")


def test_edits_change_the_row_and_not_the_table(
    explainer: eagle.Explainer, people: pd.DataFrame
) -> None:
    before = people.copy()
    live = asking(explainer, people)
    other = live.columns[2].levels.index("a")
    shown = live.explain(1, {0: 40, 2: other}, None)
    changed = people.iloc[[1]].assign(age=40, job="a")
    assert shown.prediction == answer(changed)[0] == 80
    assert shown.scores.tolist() == explainer.explain(changed).scores.tolist()
    pd.testing.assert_frame_equal(people, before)
    for edits in ({0: "old"}, {2: 7}, {2: True}, {4: "2000-01-01"}, {0: float("nan")}):
        with pytest.raises(InputError, match="is no value that"):
            live.explain(1, edits, None)
    with pytest.raises(InputError, match="no row 50"):
        live.explain(50, {}, None)


def test_other_tables_arrays_and_texts(people: pd.DataFrame) -> None:
    table = people[["age", "job"]]
    frame = pl.from_pandas(table)
    for given in (frame, frame.to_arrow()):
        rows = ViewRows.of(given)
        assert rows.values(2) == table.iloc[2].tolist()
        assert [column.kind for column in rows.columns()] == ["number", "level"]
        made_by = eagle.Explainer(answer, given)
        shown = asking(made_by, given).explain(2, {}, None)
        assert shown.scores.tolist() == made_by.explain(given[2:3]).scores.tolist()
    X = np.random.default_rng(0).normal(size=(30, 3))
    live = asking(eagle.Explainer(lambda X: X @ [1.0, 2.0, 0.0], X), X)
    assert live.explain(0, {1: 5.0}, None).prediction == pytest.approx(X[0, 0] + 10)
    assert [column.name for column in live.columns] == ["x0", "x1", "x2"]
    texts = asking(
        eagle.Explainer(lambda X: [float(len(x)) for x in X], eagle.Texts()), ["one two", "three"]
    )
    assert texts.columns == []
    assert texts.explain(1, {}, None).prediction == 5


def test_a_survey_and_explanations(explainer: eagle.Explainer, people: pd.DataFrame) -> None:
    survey = explainer.survey(128, progress=False)
    many = survey.explain_many(people, progress=False)
    live, kept = asking(survey, people), asking(many, None)
    for row in (0, 5):
        expected = many[row].scores
        assert live.explain(row, {}, None).scores == pytest.approx(expected)
        assert kept.explain(row, {}, None).scores == pytest.approx(expected)
    assert kept.labels == live.labels
    with pytest.raises(InputError, match="rows are fixed"):
        kept.explain(0, {0: 1}, None)


def test_what_is_sent(explainer: eagle.Explainer, people: pd.DataFrame) -> None:
    e = explainer.explain(people.iloc[[0]])
    sent = view_payload(e, 0.9)
    order = e.order()
    assert [bar["score"] for bar in sent["bars"]] == e.scores[order].tolist()
    assert [bar["high"] for bar in sent["bars"]] == e.interval(0.9)[order, 1].tolist()
    assert sent["level"] == 0.9
    lime = explainer.using(eagle.methods.LIME).explain(people.iloc[[0]])
    assert {bar["low"] for bar in view_payload(lime, 0.9)["bars"]} == {None}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("nothing", [1]), "a view is of"),
        (("explainer", None), "give the rows"),
        (("explainer", "a text"), "several rows"),
        (("explainer", []), "no rows"),
    ],
)
def test_refusals(given: tuple[str, Any], told: str, explainer: eagle.Explainer) -> None:
    made_by: Any = explainer if given[0] == "explainer" else given[0]
    with pytest.raises(InputError, match=told):
        eagle.notebook.view(made_by, given[1])


def test_the_package_that_is_missing_is_named(
    explainer: eagle.Explainer, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "eagle.notebook.widget", raising=False)
    with pytest.raises(MissingExtraError, match=r"eagle-xai\[notebook\]"):
        eagle.notebook.view(explainer, people)
