"""Surveys at their edges: what is refused, what is said, what is kept."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Barrier, Lock
from time import monotonic, sleep
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from threadpoolctl import threadpool_info

import eagle
from eagle import peers
from eagle._values.arrays import Array
from eagle.until import Sign, Top

DATA = load_wine(as_frame=True)
FOREST = RandomForestClassifier(10, random_state=0).fit(DATA.data, DATA.target)


@pytest.fixture(scope="module")
def explainer() -> eagle.Explainer:
    return eagle.Explainer(FOREST, DATA.data)


@pytest.fixture(scope="module")
def survey(explainer: eagle.Explainer) -> eagle.Survey:
    return explainer.survey(512)


def test_the_model_is_asked_once(explainer: eagle.Explainer) -> None:
    asked: list[int] = []

    def model(X: Any) -> Array:
        asked.append(len(X))
        return np.asarray(FOREST.predict_proba(X))

    survey = eagle.Explainer(model, DATA.data).survey(512)
    assert asked == [512]
    survey.explain(DATA.data.iloc[0], 0, ask=False)
    survey.explain_many(DATA.data, 0, ask=False)
    assert asked == [512]
    survey.explain_many(DATA.data)
    assert asked == [512, len(DATA.data)]
    assert survey.cost.rows == 512 + len(DATA.data)
    given = survey.explain_many(DATA.data, predictions=FOREST.predict_proba(DATA.data))
    assert asked == [512, len(DATA.data)]
    assert np.isfinite(given.predictions).all()


def test_a_row_of_many_is_the_row_alone(survey: eagle.Survey) -> None:
    many = survey.explain_many(DATA.data.iloc[:9])
    for i in (0, 4, 8):
        alone = survey.explain(DATA.data.iloc[i])
        assert np.array_equal(alone.scores, many[i].scores)
        assert np.allclose(many.scores[i], alone.scores, rtol=1e-9, atol=1e-12)
        assert np.allclose(many.interval()[i], alone.interval(), rtol=1e-6, atol=1e-9)
        assert np.allclose(many.probability_sign()[i], alone.probability_sign(), atol=1e-6)
        assert many.targets[i] == alone.target
        assert many.predictions[i] == alone.prediction


def test_an_explanation_is_like_any_other(survey: eagle.Survey, tmp_path: Path) -> None:
    e = survey.explain(DATA.data.iloc[0])
    other = e.about(2)
    assert np.array_equal(other.scores, survey.explain(DATA.data.iloc[0], 2).scores)
    pair = e.about((0, 2))
    assert np.allclose(pair.scores, e.about(0).scores - other.scores, atol=1e-12)
    assert e.probability_top(3).sum() == pytest.approx(3, abs=1e-6)
    assert e.lack_of_fit is not None
    assert e.lack_of_fit.line + e.lack_of_fit.position + e.lack_of_fit.together == pytest.approx(1)
    assert "512 rows, shared by all its explanations" in str(e)
    assert np.allclose(e.fit.scores, e.scores)
    assert len(e.fit_to_first(257).scores) == 13
    e.save(tmp_path / "e.json")
    read = eagle.load(tmp_path / "e.json")
    assert np.array_equal(read.scores, e.scores)
    assert np.allclose(read.interval(), e.interval())


def test_a_longer_survey_begins_with_a_shorter_one(survey: eagle.Survey) -> None:
    longer = survey.grow(700)
    assert longer.rows == 700
    assert np.array_equal(longer.answers[:512], survey.answers)
    assert np.array_equal(longer.drawn.states[:, :512], survey.drawn.states)
    with pytest.raises(eagle.InputError, match="700 rows already"):
        longer.grow(600)


def test_it_stops_when_most_of_a_sample_are_sure(explainer: eagle.Explainer) -> None:
    sample = DATA.data.iloc[::4]
    sure = explainer.survey(4096, until=Sign(0.9, k=1), sample=sample, progress=False)
    assert 512 <= sure.rows < 4096
    never = explainer.survey(1024, until=Top(13) & Sign(0.999999), sample=sample, target=0)
    assert never.rows == 1024
    with pytest.raises(eagle.InputError, match="30 rows or more, not 5"):
        explainer.survey(1024, until=Top(1), sample=DATA.data.iloc[:5])
    with pytest.raises(eagle.InputError, match="rows must be an integer"):
        explainer.survey("many", until=Top(1), sample=sample)  # type: ignore[arg-type]


def test_plan_and_fit_can_be_apart(explainer: eagle.Explainer, survey: eagle.Survey) -> None:
    plan = eagle.Explainer(None, DATA.data, task="classification").survey_plan(512)
    assert plan.rows == 512
    made = plan.fit(FOREST.predict_proba(plan.inputs))
    assert np.array_equal(made.answers, survey.answers)
    e = made.explain(DATA.data.iloc[0], 1)
    assert np.array_equal(e.scores, survey.explain(DATA.data.iloc[0], 1).scores)
    assert np.isnan(e.prediction)
    assert "was not asked" in e.title
    more = made.plan(600)
    assert more.rows == 88
    assert more.fit(FOREST.predict_proba(more.inputs)).rows == 600
    with pytest.raises(eagle.ReplyError, match="88 rows but answered 3"):
        more.fit(np.zeros((3, 3)))
    with pytest.raises(eagle.InputError, match="give a target"):
        made.explain(DATA.data.iloc[0])


def test_files_hold_no_model_and_no_rows(survey: eagle.Survey, tmp_path: Path) -> None:
    path = tmp_path / "survey.json"
    survey.save(path)
    read = eagle.load(path)
    assert isinstance(read, eagle.Survey)
    x = DATA.data.iloc[3]
    assert np.array_equal(read.explain(x, 1).scores, survey.explain(x, 1).scores)
    assert np.isnan(read.explain(x, 1).prediction)
    again = eagle.Survey.load(path, FOREST)
    assert again.note == ""
    assert again.explain(x).prediction == survey.explain(x).prediction
    other = RandomForestClassifier(10, random_state=1).fit(DATA.data, DATA.target)
    beside = eagle.Survey.load(path, other)
    assert "another model" in beside.note
    assert "another model" in " ".join(beside.explain(x).warnings)
    beside.save(tmp_path / "again.json")
    assert eagle.load(tmp_path / "again.json").note == ""
    for same in (lambda X: FOREST.predict_proba(X), pickle.loads(pickle.dumps(FOREST))):
        assert eagle.Survey.load(path, same).note == ""  # a few rows were asked again
    text = path.read_text()
    path.write_text(text.replace('"seed": 0', '"seed": 1'))
    with pytest.raises(eagle.InputError, match="digest does not fit"):
        eagle.load(path)
    path.write_text("{}")
    with pytest.raises(eagle.InputError, match="not a file saved by eagle"):
        eagle.load(path)


def test_supplements_are_saved_and_asked_once(tmp_path: Path) -> None:
    data = pd.DataFrame({"a": ["x"] * 990 + ["y"] * 10, "b": np.arange(1000.0)})
    asked: list[int] = []

    def model(X: pd.DataFrame) -> Array:
        asked.append(len(X))
        return np.asarray((X["a"] == "y") * 2.0 + X["b"] / 1000)

    survey = eagle.Explainer(model, data).survey(256)
    rare = pd.DataFrame({"a": ["y"], "b": [3.0]})
    new = pd.DataFrame({"a": ["z"], "b": [3.0]})
    first = survey.explain(new)
    paid = list(asked)
    assert len(paid) == 3
    assert np.array_equal(survey.explain(new, ask=False).scores, first.scores)
    survey.explain(new)
    assert asked == [*paid, 1]
    survey.save(tmp_path / "s.json")
    read = eagle.Survey.load(tmp_path / "s.json")
    assert np.array_equal(read.explain(new, ask=False).scores, first.scores)
    assert "not known" not in " ".join(read.explain(new, ask=False).warnings)
    assert survey.explain(rare).scores[0] == pytest.approx(2.0, abs=0.15)


def test_company_does_not_matter() -> None:
    """A supplement that another row has needed is not used for a row that needs none."""
    rng = np.random.default_rng(0)
    level = rng.choice(list("abcdefgh"), 3000, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.015, 0.004, 0.001])
    data = pd.DataFrame({"level": level, "x": rng.random(3000), "y": rng.random(3000)})

    def model(X: pd.DataFrame) -> Array:
        return np.asarray(
            X["level"].map({c: i for i, c in enumerate("abcdefgh")}) + X["x"] * X["y"]
        )

    rows = data.iloc[np.unique(level, return_index=True)[1]]
    together = eagle.Explainer(model, data).survey(1024).explain_many(rows)
    for i in range(len(rows)):
        alone = eagle.Explainer(model, data).survey(1024).explain(rows.iloc[i])
        assert np.allclose(together.scores[i], alone.scores, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["numpy", "polars", "arrow", "sparse", "float32", "integers"])
def test_tables_of_every_kind(kind: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    X = np.round(X * 100)
    model = RandomForestRegressor(5, random_state=0).fit(X, y)

    def ask(table: Any) -> Array:
        if sparse.issparse(table):
            table = table.toarray()
        elif not isinstance(table, np.ndarray):
            table = table.to_pandas().to_numpy()
        assert table.shape[1] == 10
        return np.asarray(model.predict(np.asarray(table, dtype=float)))

    makers = {
        "numpy": lambda: X,
        "polars": lambda: pl.DataFrame(X, schema=[f"c{i}" for i in range(10)]),
        "arrow": lambda: pl.DataFrame(X, schema=[f"c{i}" for i in range(10)]).to_arrow(),
        "sparse": lambda: sparse.csr_matrix(X),
        "float32": lambda: X.astype(np.float32),
        "integers": lambda: X.astype(np.int64),
    }
    data = makers[kind]()
    survey = eagle.Explainer(ask, data).survey(256)
    plain = eagle.Explainer(model.predict, X).survey(256)
    rows = data[:5] if kind != "arrow" else data.slice(0, 5)
    many = survey.explain_many(rows)
    assert np.allclose(many.scores, plain.explain_many(X[:5]).scores, rtol=1e-6)


def test_missing_values_and_flags() -> None:
    data = pd.DataFrame(
        {
            "gap": np.where(np.arange(200) % 5 == 0, np.nan, np.arange(200.0)),
            "flag": np.arange(200) % 2 == 0,
            "level": pd.Categorical([None if i % 3 == 0 else "here" for i in range(200)]),
            "constant": 1.0,
        }
    )

    def model(X: pd.DataFrame) -> Array:
        assert X.dtypes.astype(str).tolist() == data.dtypes.astype(str).tolist()
        return np.asarray(X["gap"].isna() * 3.0 + X["flag"] * 1.0 - X["level"].isna() * 2.0)

    many = eagle.Explainer(model, data).survey(1024).explain_many(data.iloc[:6])
    assert np.allclose(many.scores[0], [3, 1, -2, 0], atol=0.1)
    assert many[0].conditions[0] == "gap is missing"
    assert many.data[0].tolist() == [None, True, None, 1.0]
    low, high = np.moveaxis(many.interval(), 2, 0)
    assert (high - low)[:, 3].max() == 0


def test_several_outputs_and_log_odds(survey: eagle.Survey) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(5, random_state=0).fit(X, np.column_stack([y, -2 * y]))
    explainer = eagle.Explainer(model, X, outputs=["one", "two"])
    twice = explainer.survey(256)
    one, two = (twice.explain_many(X[:4], target) for target in ("one", "two"))
    assert np.allclose(two.scores, -2 * one.scores, rtol=1e-9, atol=1e-9)
    logit = eagle.Explainer(FOREST, DATA.data, link="logit").survey(256)
    e = logit.explain(DATA.data.iloc[0])
    assert e.link is not None
    assert e.without().shape == (13,)


def test_where_no_survey_can_be() -> None:
    X = DATA.data
    for explainer, why in (
        (eagle.Explainer(FOREST, eagle.Table(X, view="continuous")), "binned view of a table"),
        (eagle.Explainer(FOREST, eagle.Table(X, fixed=["ash"])), "cannot keep ash"),
        (eagle.Explainer(FOREST, X, method=peers.SHAP_KERNEL), "kernel"),
        (eagle.Explainer(FOREST, X, method=peers.BAYESSHAP), "kernel"),
        (eagle.Explainer(lambda texts: np.ones(len(texts)), eagle.Texts()), "binned view"),
        (eagle.Explainer(None, X), "no model to ask"),
    ):
        with pytest.raises(eagle.InputError, match=why):
            explainer.survey(128)
    for rows in (0, 63, 10**9, 5.5, True):
        with pytest.raises(eagle.InputError, match="rows"):
            eagle.Explainer(FOREST, X).survey(rows)  # type: ignore[arg-type]


def test_copies_are_asked_once() -> None:
    data = pd.DataFrame({"a": np.arange(200) % 2, "b": np.arange(200) % 3})
    asked = 0

    def model(X: pd.DataFrame) -> Array:
        nonlocal asked
        asked += len(X)
        return np.asarray(X["a"] + 10.0 * (X["b"] == 2))

    survey = eagle.Explainer(model, data).survey(1024)
    assert asked == 6
    e = survey.explain(data.iloc[5])
    assert np.allclose(e.scores, [1.0, 10.0], atol=0.05)


def test_rows_do_not_fit(survey: eagle.Survey) -> None:
    with pytest.raises(eagle.InputError, match="one row, but 2 came"):
        survey.explain(DATA.data.iloc[:2])
    with pytest.raises(eagle.InputError, match="no output"):
        survey.explain(DATA.data.iloc[0], "nobody")
    for given, why in (
        (np.ones((3, 3)) / 3, "asked 4 rows but answered 3"),
        (np.ones((4, 2)) / 2, "2 outputs, but 3"),
        (np.full((4, 3), 7.0), "not probabilities"),
    ):
        with pytest.raises(eagle.InputError, match=f"predictions given do not fit.*{why}"):
            survey.explain_many(DATA.data.iloc[:4], predictions=given)


def test_groups_of_columns_and_dates(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300, p=[0.6, 0.35, 0.05])
    data = pd.DataFrame({f"colour_{c}": (colour == c) * 1 for c in ("red", "green", "blue")})
    start = pd.Timestamp("2020-01-01")
    data["day"] = start + pd.to_timedelta(rng.integers(0, 900, 300), unit="D")

    def model(X: pd.DataFrame) -> Array:
        assert X.dtypes.tolist() == data.dtypes.tolist()
        assert (X.iloc[:, :3].sum(axis=1) <= 1).all()
        late = (X["day"] - start).dt.days / 900
        return np.asarray(2.0 * X["colour_red"] - 3.0 * X["colour_blue"] + late)

    groups = {"colour": [f"colour_{c}" for c in ("red", "green", "blue")]}
    survey = eagle.Explainer(model, eagle.Table(data, groups=groups)).survey(512)
    many = survey.explain_many(data.iloc[:8])
    assert many.names == ("colour", "day")
    assert many.data[0, 0] == colour[0]
    survey.save(tmp_path / "s.json")
    read = eagle.load(tmp_path / "s.json").explain_many(data.iloc[:8], ask=False)
    assert np.array_equal(read.scores, many.scores)
    none = data.iloc[[0]].assign(**dict.fromkeys(groups["colour"], 0))
    assert survey.explain(none).scores[0] == pytest.approx(-1.0, abs=0.3)


def test_other_classes_are_another_question(survey: eagle.Survey) -> None:
    names = np.array(["x", "y", "z"])[DATA.target]
    other = RandomForestClassifier(5, random_state=0).fit(DATA.data, names)
    with pytest.raises(eagle.InputError, match="classes x, y, z, and the survey 0, 1, 2"):
        survey.requery(other)
    named = eagle.Explainer(FOREST, DATA.data, outputs=["a", "b", "c"]).survey(128)
    again = RandomForestClassifier(5, random_state=1).fit(DATA.data, DATA.target)
    assert named.requery(again, progress=False).outputs == ("a", "b", "c")


def test_differences_know_what_both_have_asked() -> None:
    data = pd.DataFrame({"a": ["x"] * 150 + ["y"] * 150, "b": np.arange(300.0)})

    def model(size: float) -> Any:
        return lambda X: np.asarray((X["a"] == "new") * size + X["b"] / 300)

    new = pd.DataFrame({"a": ["new"], "b": [3.0]})
    one = eagle.Explainer(model(1.0), data).survey(256)
    two = one.requery(model(3.0), progress=False)
    assert "not known" in " ".join((two - one).explain(new, ask=False).warnings)
    one.explain(new)
    two.explain(new)
    changed = (two - one).explain(new, ask=False)
    assert changed.scores[0] == pytest.approx(2.0, abs=0.05)
    assert not changed.warnings


def test_a_model_that_changes_spoils_nothing() -> None:
    data = pd.DataFrame({"a": ["x"] * 150 + ["y"] * 150, "b": np.arange(300.0)})

    def model(X: pd.DataFrame) -> Array:
        one = np.asarray(X["b"] / 300)
        return np.column_stack([one, one]) if (X["a"] == "new").any() else one

    survey = eagle.Explainer(model, data).survey(128)
    new = pd.DataFrame({"a": ["new"], "b": [3.0]})
    with pytest.raises(eagle.EagleError, match="2 outputs"):
        survey.explain(new)
    assert not survey.known
    assert survey.explain(data.iloc[:1]).scores.shape == (2,)


def test_nothing_is_asked_before_it_is_refused() -> None:
    asked = 0

    def model(X: Any) -> Array:
        nonlocal asked
        asked += len(X)
        return np.asarray(FOREST.predict_proba(X))

    explainer = eagle.Explainer(model, DATA.data, outputs=[0, 1, 2], task="classification")
    for options in ({"until": Top(1)}, {"until": Top(1), "sample": DATA.data, "target": "no"}):
        with pytest.raises(eagle.InputError):
            explainer.survey(**options)
    assert asked == 0
    survey = explainer.survey(128)
    with pytest.raises(eagle.InputError, match="no output"):
        survey.explain_many(DATA.data, "no")
    assert asked == 128


def test_growing_keeps_what_was_paid_for() -> None:
    calls = 0

    def model(X: Any) -> Array:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise KeyboardInterrupt
        return np.asarray(FOREST.predict_proba(X))

    survey = eagle.Explainer(model, DATA.data, batch_rows=100).survey(300)
    with pytest.raises(KeyboardInterrupt) as stopped:
        survey.grow(900)
    (kept,) = vars(stopped.value)["finished"]
    assert kept.rows == 500
    assert kept.cost.rows == 600  # the call that was ended may be billed


def test_supplements_come_in_calls_of_the_size_that_is_allowed() -> None:
    data = pd.DataFrame({"a": ["x"] * 200 + ["y"] * 100, "b": np.arange(300.0)})
    calls: list[int] = []

    def model(X: pd.DataFrame) -> Array:
        calls.append(len(X))
        return np.asarray(X["b"])

    survey = eagle.Explainer(model, data, batch_rows=10).survey(64)
    survey.explain(pd.DataFrame({"a": ["new"], "b": [3.0]}))
    assert max(calls) == 10


def test_identifiers_are_refused() -> None:
    data = pd.DataFrame({"name": [f"{i}" for i in range(70_000)], "x": 0.0})
    with pytest.raises(eagle.InputError, match="70,000 levels, as identifiers do"):
        eagle.Explainer(lambda X: np.ones(len(X)), data).survey(64)


def test_a_level_that_nearly_all_have_is_told_as_it_is() -> None:
    data = pd.DataFrame({"k": ["x"] * 399 + ["y"], "v": np.arange(400.0)})
    survey = eagle.Explainer(lambda X: (X["k"] == "x") * 1.0, data).survey(64)
    told = " ".join(survey.explain(data.iloc[:1]).warnings)
    assert "too few rows without k = x; a larger survey" in told


def test_it_is_estimated_and_limited(explainer: eagle.Explainer, survey: eagle.Survey) -> None:
    estimate = explainer.survey_plan(512).estimate_cost(price_per_row=0.01)
    assert (estimate.rows, estimate.calls, estimate.money) == (512, 1, 5.12)
    rows = survey.estimate_cost(DATA.data, price_per_row=0.01)
    assert rows.rows == len(DATA.data)
    with pytest.raises(eagle.LimitError, match="no more was asked"):
        explainer.survey(512, limit=eagle.Limit(rows=511))
    made = explainer.survey(512, limit=eagle.Limit(rows=600))
    made.explain_many(DATA.data.iloc[:80])
    with pytest.raises(eagle.LimitError, match="no more was asked"):
        made.explain_many(DATA.data.iloc[:20])
    with pytest.raises(eagle.LimitError, match="no more was asked"):
        made.grow(1024)


# -- several threads ------------------------------------------------------------------------------


class Counting:
    """A model that counts how often it is asked each row, slowly enough that threads meet."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[float, ...]] = Counter()
        self._lock = Lock()

    def __call__(self, X: Array) -> Array:
        sleep(0.005)
        with self._lock:
            self.asked.update(map(tuple, X.tolist()))
        return np.asarray(X @ np.arange(1.0, X.shape[1] + 1), dtype=np.float64)

    def __reduce__(self) -> tuple[type[Counting], tuple[()]]:
        return Counting, ()


def rare() -> tuple[Array, Array]:
    """A table, and rows of it that a survey needs supplements for."""
    rng = np.random.default_rng(0)
    X = rng.choice([0.0, 1.0, 2.0, 3.0], size=(3000, 3), p=[0.55, 0.44, 0.007, 0.003])
    return X, X[(X >= 2).any(axis=1)]


def in_threads(work: Callable[[], Any], threads: int = 8) -> list[Any]:
    """What each of several threads gives, all started at the same moment."""
    start = Barrier(threads)

    def begun() -> Any:
        start.wait()
        return work()

    with ThreadPoolExecutor(threads) as pool:
        return [one.result() for one in [pool.submit(begun) for _ in range(threads)]]


def test_threads_ask_each_supplement_once_and_each_row_is_counted() -> None:
    X, rows = rare()
    own = np.asarray(rows @ np.arange(1.0, 4.0))
    alone, model = Counting(), Counting()
    expected = eagle.Explainer(alone, X, task="regression").survey(512)
    scores = expected.explain_many(rows, predictions=own, progress=False).scores
    survey = eagle.Explainer(model, X, task="regression", batch_rows=64).survey(512)
    assert len(expected.known) > 2
    found = in_threads(
        lambda: survey.explain_many(rows, predictions=own, progress=False, target="prediction")
    )
    assert model.asked == alone.asked
    assert survey.cost.rows == expected.cost.rows == model.asked.total()
    assert all(np.array_equal(one.scores, scores) for one in found)


def test_threads_cannot_cross_a_limit_together() -> None:
    X, _ = rare()
    model = Counting()
    explainer = eagle.Explainer(model, X, task="regression", batch_rows=50)
    survey = explainer.survey(512, limit=eagle.Limit(rows=1500))

    def predicted() -> int:
        try:
            return len(survey.predict(X[:400]))
        except eagle.LimitError:
            return 0

    answered = sum(in_threads(predicted))
    asked = survey.cost.rows
    assert model.asked.total() == asked <= 1500
    assert answered > 0
    assert survey.predict(X[: 1500 - asked]).shape[0] == 1500 - asked  # no more is held back


def test_threads_leave_the_number_of_threads_of_linear_algebra_as_it_was() -> None:
    X, rows = rare()
    survey = eagle.Explainer(Counting(), X, task="regression").survey(128)
    before = threads_of_algebra()
    in_threads(lambda: [survey.explain(x) for x in rows[:4]])
    deadline = monotonic() + 20
    while threads_of_algebra() != before and monotonic() < deadline:
        sleep(0.05)  # a thread that another test left may be within the limit just now
    assert threads_of_algebra() == before


def threads_of_algebra() -> list[int]:
    return [one["num_threads"] for one in threadpool_info()]


def test_locks_survive_pickles_copies_and_replacements() -> None:
    X, rows = rare()
    survey = eagle.Explainer(Counting(), X, task="regression").survey(128)
    wanted = survey.explain(rows[0]).scores
    others = (
        pickle.loads(pickle.dumps(survey)),
        deepcopy(survey),
        replace(survey, note="another"),
        survey.grow(256, progress=False),
    )
    for other in others:
        assert all(
            np.isfinite(one.scores).all() for one in in_threads(partial(other.explain, rows[0]))
        )
    assert np.array_equal(others[0].explain(rows[0]).scores, wanted)
