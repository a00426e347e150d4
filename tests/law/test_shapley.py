"""Laws of Shapley values: they add up, on any table, and company never enters."""

from __future__ import annotations

import datetime as dt
import io
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.ensemble import GradientBoostingClassifier

import eagle
from eagle.shapley.answer import Fitted


def numbers(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def bend(rows: Any) -> np.ndarray:
    """A model of any number of columns: products of neighbours and a step."""
    r = np.nan_to_num(np.asarray(rows, dtype=float))
    around = np.roll(r, 1, axis=1)
    return np.asarray((r * (1 + 0.5 * around)).sum(axis=1) + (r[:, 0] > 0.3))


def adds_up(made: eagle.Explanations) -> None:
    for e in made[:3]:
        assert e.additive
        assert abs(e.intercept + e.scores.sum() - e.prediction) <= 1e-9 * max(1, abs(e.prediction))
    total = made.table.intercept + made.scores.sum(axis=1)
    size = np.maximum(1, np.abs(made.predictions))
    assert (np.abs(total - made.predictions) <= 1e-9 * size).all()


@settings(max_examples=15, deadline=None)
@given(
    n=st.integers(20, 40),
    d=st.integers(1, 12),
    background=st.integers(1, 30),
    budget=st.integers(2, 9).map(lambda half: 2 * half),
    seed=st.integers(0, 1000),
    power=st.integers(-9, 9),
    rounded=st.booleans(),
)
def test_values_add_up_on_any_table(
    n: int, d: int, background: int, budget: int, seed: int, power: int, rounded: bool
) -> None:
    X = numbers(n, d, seed)
    if rounded:  # duplicates, and rows equal to those of the background
        X = np.round(X)
    if d > 2:
        X[:, 1] = 3.0  # constant
        X[:, 2] = X[:, 0]  # twice the same
    scale = 10.0**power

    def model(rows: np.ndarray) -> np.ndarray:
        return scale * bend(rows)

    made = eagle.Explainer(model, X, random_state=seed).shapley(
        X, budget=budget, background=background
    )
    total = made.table.intercept + made.scores.sum(axis=1)
    np.testing.assert_allclose(total, model(X), rtol=1e-9, atol=1e-9 * scale)
    assert np.isfinite(made.interval()).all()
    if d > 2:
        assert (made.scores[:, 1] == 0).all()
        assert (made.interval()[:, 1] == 0).all()


def test_two_hundred_columns() -> None:
    X = numbers(40, 200)
    adds_up(eagle.Explainer(bend, X).shapley(X, budget=8, background=20))
    wide = numbers(30, 201)
    with pytest.raises(eagle.InputError, match="at most 200 features"):
        eagle.Explainer(bend, wide).shapley_survey(wide)


def test_steps_only() -> None:
    X = numbers(60, 5)
    made = eagle.Explainer(lambda r: (r[:, 0] + r[:, 1] > 0).astype(float), X).shapley(X, budget=8)
    adds_up(made)


def test_a_model_that_always_says_the_same() -> None:
    X = numbers(30, 4)
    made = eagle.Explainer(lambda r: np.full(len(r), 7.0), X).shapley(X, budget=8)
    assert (made.scores == 0).all()
    assert (made.table.intercept == 7).all()


def test_alone_and_in_company_and_in_threads_values_are_the_same_to_the_last_bit() -> None:
    X = numbers(90, 6)
    explainer = eagle.Explainer(bend, X)
    survey = explainer.shapley_survey(X[:60], budget=16, background=X[60:80])
    many = survey.explain_many(X[55:70])
    for place, e in enumerate(many):
        alone = survey.explain(X[55 + place])
        assert (alone.scores == e.scores).all()
        assert (alone.scores == many.scores[place]).all()
        assert (alone.interval() == e.interval()).all()
        np.testing.assert_array_equal(e.interval(), many.interval()[place])
    with ThreadPoolExecutor(4) as pool:
        threads = list(pool.map(survey.explain, X[55:70]))
    for one, e in zip(threads, many, strict=True):
        assert (one.scores == e.scores).all()
    again = explainer.shapley_survey(X[:60], budget=16, background=X[60:80])
    assert (again.explain_many(X[:60]).scores == survey.explain_many(X[:60]).scores).all()
    copied = pickle.loads(pickle.dumps(survey.explain(X[3])))
    assert (copied.scores == survey.explain(X[3]).scores).all()


def test_other_seeds_ask_other_rows() -> None:
    X = numbers(60, 6)
    one, other = (
        eagle.Explainer(bend, X, random_state=seed).shapley(X, budget=8) for seed in (0, 1)
    )
    assert (one.scores != other.scores).any()


def test_rows_that_came_later() -> None:
    X = numbers(120, 5)
    survey = eagle.Explainer(bend, X).shapley_survey(X[:80], budget=16)
    before = survey.cost.rows
    assert before == 80 * 17 + 100
    later = survey.explain_many(X[80:])
    assert survey.cost.rows == before + 40
    adds_up(later)
    assert later.rows_asked == 40
    given_ones = survey.explain_many(X[80:], predictions=bend(X[80:]))
    assert survey.cost.rows == before + 40
    assert (given_ones.scores == later.scores).all()
    unasked = survey.explain_many(X[80:], ask=False)
    assert np.isnan(unasked.predictions).all()
    assert (np.diff(unasked.interval(), axis=2) > 0).all()
    assert "not known" in str(survey.explain(X[80], ask=False))


def test_growing_gives_a_new_survey_and_leaves_the_old_one() -> None:
    X = numbers(60, 6)
    survey = eagle.Explainer(bend, X).shapley_survey(X, budget=8, background=20)
    before = survey.explain_many(X).scores.copy()
    larger = survey.grow(24)
    assert larger.budget == 24
    assert larger.cost.rows == survey.cost.rows + 60 * 16
    assert (survey.explain_many(X).scores == before).all()
    made = larger.explain_many(X)
    adds_up(made)
    assert (
        np.diff(made.interval(), axis=2).mean()
        < np.diff(survey.explain_many(X).interval(), axis=2).mean()
    )
    with pytest.raises(eagle.InputError, match="already"):
        larger.grow(24)
    both = survey.requery(lambda rows: 2 * bend(rows)).grow(24) - larger
    np.testing.assert_allclose(both.explain_many(X).predictions, bend(X), atol=1e-12)


def test_the_difference_of_two_models_adds_up() -> None:
    X = numbers(70, 5)

    def newer(rows: np.ndarray) -> np.ndarray:
        return np.asarray(bend(rows) + np.abs(rows[:, 1]) - 0.5 * rows[:, 2])

    old = eagle.Explainer(bend, X).shapley_survey(X[:60], budget=16, background=X[:40])
    changed = old.requery(newer) - old
    made = changed.explain_many(X)  # ten of these rows are not in the survey
    apart = newer(X) - bend(X)
    np.testing.assert_allclose(made.predictions, apart, atol=1e-12)
    np.testing.assert_allclose(made.table.intercept + made.scores.sum(axis=1), apart, atol=1e-9)
    truth = np.abs(X[:, 1]) - np.abs(X[:40, 1]).mean()
    low, high = np.moveaxis(made.interval(0.95), 2, 0)
    inside = (low[:, 1] <= truth) & (truth <= high[:, 1])
    assert inside.mean() > 0.75
    assert "What changed" in made[0].title
    with pytest.raises(eagle.InputError, match="subtracted again"):
        changed - old
    again = eagle.Explainer(newer, X).shapley_survey(X[:60], budget=16, background=X[:40])
    assert ((again - old).explain_many(X[:60]).scores == made.scores[:60]).all()
    other = eagle.Explainer(bend, X, random_state=1)
    with pytest.raises(eagle.InputError, match="same rows"):
        other.shapley_survey(X[:60], budget=16, background=X[:40]) - old
    with pytest.raises(eagle.InputError, match="subtracted"):
        old - 3


def mixed(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    out = pd.DataFrame(
        {
            "n": rng.normal(size=n),
            "k": rng.integers(0, 5, n),
            "c": pd.Categorical(rng.choice(["a", "b", "c"], n)),
            "t": rng.choice(["x", "y"], n),
            "b": rng.random(n) < 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
        }
    )
    out.loc[rng.random(n) < 0.1, "n"] = np.nan
    return out


def of_mixed(data: pd.DataFrame) -> np.ndarray:
    assert str(data["day"].dtype).startswith("datetime64")
    assert data["b"].dtype in (bool, object)
    days = (data["day"] - pd.Timestamp("2024-01-01")).dt.days
    level = data["c"].astype(object).map({"a": 1.0, "b": 2.0}).fillna(5.0).astype(float)
    return np.asarray(
        data["n"].fillna(-1) * level + data["k"] * data["b"].astype(bool) + days / 100
    )


def test_frames_of_every_dtype() -> None:
    X = mixed(80)
    made = eagle.Explainer(of_mixed, X).shapley(X, budget=8, background=30)
    adds_up(made)
    assert made.ids == tuple(range(80))
    assert made.conditions[0, 2].startswith("c = ")


def test_rows_with_levels_and_gaps_that_the_data_lacks() -> None:
    X, other = mixed(80), mixed(40, 1)
    other["c"] = other["c"].astype(object)
    other.loc[3, "c"] = "new"
    other["k"] = other["k"].astype(float)
    other.loc[5, "k"] = np.nan

    def model(data: pd.DataFrame) -> np.ndarray:
        return of_mixed(data.assign(k=data["k"].fillna(9.0)))

    explainer = eagle.Explainer(model, X)
    made = explainer.shapley(other, budget=8, background=30)
    adds_up(made)
    survey = explainer.shapley_survey(X, budget=8, background=30)
    later = survey.explain_many(other)
    adds_up(later)
    np.testing.assert_allclose(later.predictions, model(other))


def test_other_kinds_of_tables() -> None:
    X = numbers(50, 4)
    expected = eagle.Explainer(bend, X).shapley(X, budget=8, background=X[:20])
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"])
    made = eagle.Explainer(lambda t: bend(t.to_numpy()), frame).shapley(
        frame, budget=8, background=frame[:20]
    )
    np.testing.assert_allclose(made.scores, expected.scores, atol=1e-12)
    packed = sparse.csr_matrix(X)
    made = eagle.Explainer(lambda t: bend(t.toarray()), packed).shapley(
        packed, budget=8, background=packed[:20]
    )
    np.testing.assert_allclose(made.scores, expected.scores, atol=1e-12)
    days = pd.DataFrame({"when": [dt.date(2024, 1, 1 + i % 28) for i in range(50)], "x": X[:, 0]})
    made = eagle.Explainer(
        lambda t: np.array([d.day for d in t["when"]]) * t["x"].to_numpy(), days
    ).shapley(days, budget=8, background=10)
    adds_up(made)


def test_explainers_without_rows_take_a_background_table() -> None:
    X = numbers(60, 4)
    for explainer in (
        eagle.Explainer(bend, eagle.Background.of(X)),
        eagle.Explainer(bend, eagle.Table(scales=1.0)),
    ):
        with pytest.raises(eagle.InputError, match="give background= a table"):
            explainer.shapley_survey(X)
        made = explainer.shapley(X[:30], budget=8, background=X[30:])
        adds_up(made)
        np.testing.assert_allclose(made.table.intercept, bend(X[30:]).mean())


def test_classes_with_a_link_and_one_against_another() -> None:
    X = numbers(200, 4)
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, y)
    explainer = eagle.Explainer(model, X, link="logit")
    survey = explainer.shapley_survey(X[:50], budget=8, background=30)
    chance = model.predict_proba(X[:50])
    odds = survey.explain_many(X[:50], "b")
    np.testing.assert_allclose(
        odds.table.intercept + odds.scores.sum(axis=1),
        np.log(chance[:, 1] / (1 - chance[:, 1])),
        atol=1e-9,
    )
    pair = survey.explain_many(X[:50], ("a", "b"))
    np.testing.assert_allclose(pair.predictions, np.log(chance[:, 0] / chance[:, 1]), atol=1e-9)
    adds_up(pair)
    assert survey.explain(X[0]).target == model.predict(X[:1])[0]


def test_what_does_not_fit_is_refused_in_a_sentence() -> None:
    X = numbers(60, 4)
    explainer = eagle.Explainer(bend, X)
    for budget, said in ((7, "even"), (0, "budget"), (2.5, "budget"), (1 << 20, "even")):
        with pytest.raises(eagle.InputError, match=said):
            explainer.shapley_survey(X, budget=budget)  # type: ignore[arg-type]
    with pytest.raises(eagle.InputError, match="at least 20 rows"):
        explainer.shapley_survey(X[:19])
    wrong: tuple[Any, ...] = (0, 2.5, True, "all", {})
    for background in wrong:
        with pytest.raises(eagle.InputError, match="background"):
            explainer.shapley_survey(X, background=background)
    with pytest.raises(eagle.InputError, match="a base value of its own"):
        eagle.Explainer(bend, eagle.Table(X, fixed=[1])).shapley_survey(X)
    with pytest.raises(eagle.InputError, match="no model to ask"):
        eagle.Explainer(None, X).shapley_survey(X)
    with pytest.raises(eagle.InputError, match="rows of a table"):
        eagle.Explainer(bend, eagle.Images()).shapley_survey(X)
    with pytest.raises(eagle.InputError, match="no output"):
        explainer.shapley(X, "b")
    survey = explainer.shapley_survey(X, budget=8)
    with pytest.raises(eagle.InputError, match="takes one row"):
        survey.explain(X[:2])
    with pytest.raises(eagle.InputError, match="columns"):
        survey.explain(X[0, :3])
    with pytest.raises(eagle.InputError, match="cannot be fitted again"):
        survey.explain(X[0]).about("prediction")
    with pytest.raises(eagle.InputError, match="from no survey"):
        _ = explainer.explain_many(X[:2]).survey


@pytest.mark.parametrize("kind", ["mixed", "groups", "classes", "exact", "line"])
def test_a_saved_survey_gives_the_same_numbers(kind: str, tmp_path: Path) -> None:
    explainer, X, other = saved_case(kind)
    survey = explainer.shapley_survey(X, budget=16, background=X[:2] if kind == "exact" else X[20:])
    before = survey.explain_many(X)
    survey.save(tmp_path / "survey.json")
    read = eagle.load(tmp_path / "survey.json")
    assert isinstance(read, eagle.ShapleySurvey)
    assert read.exact == survey.exact == (kind == "exact")
    after = read.explain_many(X)
    assert (after.scores == before.scores).all()
    assert (after.interval() == before.interval()).all()
    assert (after.conditions == before.conditions).all()
    assert after.names == before.names
    assert eagle.verify(tmp_path / "survey.json").ok
    read.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "survey.json").read_bytes()
    if kind == "exact":
        return
    later = survey.explain_many(other, target=before.targets[0], ask=False)
    assert (read.explain_many(other, target=before.targets[0]).scores == later.scores).all()
    with pytest.raises(eagle.InputError, match="has no model"):
        read.grow(20)
    model = survey.setting.box.function
    whole = eagle.ShapleySurvey.load(tmp_path / "survey.json", model)
    assert not whole.note
    larger = whole.grow(20).explain_many(X)
    assert (larger.scores == survey.grow(20).explain_many(X).scores).all()
    change = whole.requery(model) - read
    assert (change.explain_many(X, before.targets[0]).scores == 0).all()
    change.save(tmp_path / "change.json")
    assert eagle.load(tmp_path / "change.json").difference == change.difference


def saved_case(kind: str) -> tuple[eagle.Explainer, Any, Any]:
    """An explainer, rows of its survey, and rows that came later."""
    X = numbers(60, 3 if kind == "exact" else 5)
    if kind == "mixed":
        rows = mixed(60)
        rows["c"] = rows["c"].astype(object)
        rows.loc[5, "c"] = "new"
        return eagle.Explainer(of_mixed, mixed(60)), rows, mixed(10, 2)
    if kind == "groups":
        frame = pd.DataFrame(X, columns=list("abcde")).round(1)
        groups = {"place": ["b", "d"]}
        return eagle.Explainer(bend, eagle.Table(frame, groups=groups)), frame[:50], frame[50:]
    if kind == "classes":
        y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
        model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
        return eagle.Explainer(model, X, link="logit"), X[:50], X[50:]
    if kind == "line":
        return eagle.Explainer(lambda rows: rows[:, 0] - 2 * rows[:, 1], X), X[:50], X[50:]
    return eagle.Explainer(bend, X), X[:50], X[50:]


def test_a_saved_survey_says_if_another_model_is_given(tmp_path: Path) -> None:
    X = numbers(40, 3)
    survey = eagle.Explainer(bend, X).shapley_survey(X, budget=8)
    survey.save(tmp_path / "survey.json", key="secret")
    with pytest.raises(eagle.InputError, match="key"):
        eagle.load(tmp_path / "survey.json")

    def another(rows: np.ndarray) -> np.ndarray:
        return bend(rows) + 1

    read = eagle.ShapleySurvey.load(tmp_path / "survey.json", another, key="secret")
    assert "another model" in read.note
    assert "another model" in " ".join(read.explain(X[0]).warnings)
    with pytest.raises(eagle.InputError, match="not mixed"):
        read.grow(16)


def test_a_survey_that_was_altered_is_found(tmp_path: Path) -> None:
    X = numbers(40, 3)
    survey = eagle.Explainer(bend, X).shapley_survey(X, budget=8)
    survey.explain(X[0])
    (fit,) = survey.fits.values()
    assert isinstance(fit, Fitted)
    left = replace(fit.left, pull=2 * fit.left.pull)
    survey.fits.update({target: replace(fit, left=left) for target in survey.fits})
    assert not eagle.verify(survey).ok


def test_values_that_no_file_can_hold_are_refused(tmp_path: Path) -> None:
    X = pd.DataFrame({"a": numbers(40, 1)[:, 0], "b": [Decimal(i % 3) for i in range(40)]})

    def model(data: pd.DataFrame) -> np.ndarray:
        return np.asarray(data["a"] * data["b"].astype(float))

    survey = eagle.Explainer(model, X).shapley_survey(X, budget=8)
    with pytest.raises(eagle.InputError, match="written to a file"):
        survey.save(tmp_path / "survey.json")


def test_without_scikit_learn_a_sentence_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = numbers(30, 3)
    explainer = eagle.Explainer(bend, X)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(eagle.MissingExtraError, match=r"eagle-xai\[shapley\]"):
        explainer.shapley_survey(X)


def test_limits_hold_for_all_that_is_asked() -> None:
    X = numbers(60, 4)
    asked = []

    def counting(rows: np.ndarray) -> np.ndarray:
        asked.append(len(rows))
        return bend(rows)

    explainer = eagle.Explainer(counting, X)
    with pytest.raises(eagle.LimitError):
        explainer.shapley_survey(X[:50], budget=8, background=20, limit=eagle.Limit(rows=469))
    assert sum(asked) == 0
    survey = explainer.shapley_survey(X[:50], budget=8, background=20, limit=eagle.Limit(rows=470))
    assert sum(asked) == 470 == survey.cost.rows == survey.rows
    with pytest.raises(eagle.LimitError):
        survey.explain(X[55])
    assert survey.explain(X[3]).additive
    assert sum(asked) == 470


def test_what_was_answered_before_a_failure_is_kept() -> None:
    X = numbers(60, 4)
    calls = []

    def failing(rows: np.ndarray) -> np.ndarray:
        calls.append(len(rows))
        if len(calls) > 3:
            raise RuntimeError("out of order")
        return bend(rows)

    with pytest.raises(eagle.ModelError) as error:
        eagle.Explainer(failing, X, batch_rows=50).shapley_survey(X, budget=8, background=20)
    assert len(error.value.answers) == 50 + 10 + 20


def test_results_are_shown_drawn_and_given_to_others() -> None:
    X = pd.DataFrame(numbers(60, 4), columns=["a", "b", "c", "d"])
    made = eagle.Explainer(bend, X).shapley(X, budget=8)
    e = made[2]
    assert "? From the average" in e.title
    assert "Scores add up" in str(e)
    assert "share of each value" in made._repr_html_()
    assert "From the average" in e._repr_html_()
    given = made.to_shap()
    assert given.values.shape == given.data.shape == (60, 4)
    np.testing.assert_allclose(given.base_values, made.table.intercept, atol=1e-9)
    np.testing.assert_allclose(given.base_values + given.values.sum(axis=1), bend(X), atol=1e-9)
    assert e.to_shap().base_values == pytest.approx(e.intercept, abs=1e-9)
    assert len(made.to_frame()) == 240
    assert list(made.summary().columns)[:3] == ["importance", "low", "high"]
    page = io.StringIO()
    eagle.report(e, page)
    assert "its share of the distance from the average answer" in page.getvalue().lower()
    assert "survey = explainer.shapley_survey(rows)" in page.getvalue()
    every = io.StringIO()
    eagle.report(made, every, progress=False)
    assert "what having this value adds" not in every.getvalue()
    assert "survey = explainer.shapley_survey(rows)" in every.getvalue()
    assert e.lack_of_fit is None
    joint = np.diff(e.interval(joint=True), axis=1)
    assert (joint >= np.diff(e.interval(), axis=1)).all()
    assert 0 <= e.probability_top(1).min() <= e.probability_top(1).max() <= 1
    again = eagle.Explanation.from_dict(e.to_dict())
    np.testing.assert_allclose(again.scores, e.scores)
    assert again.additive
