"""Inputs that break other packages, as users meet them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import eagle

BUDGET = 80


def forest(X: Any, y: Any) -> RandomForestClassifier:
    return RandomForestClassifier(8, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def binary() -> tuple[Any, Any]:
    found = make_classification(300, 6, random_state=0)
    return found[0], found[1]


@pytest.fixture(scope="module")
def customers() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    n = 240
    table = pd.DataFrame(
        {
            "income": rng.normal(50, 10, n),
            "children": rng.integers(0, 4, n),
            "town": rng.choice(["Bonn", "Graz", "Metz"], n),
            "grade": pd.Categorical(rng.choice(list("ABC"), n), list("ABC"), ordered=True),
            "online": rng.random(n) < 0.5,
        }
    )
    table.loc[::17, "income"] = np.nan
    chance = (table["town"] == "Graz") * 0.6 + (table["grade"] == "A") * 0.3
    return table, np.where(rng.random(n) < chance + 0.05, "buys", "leaves")


@pytest.fixture(scope="module")
def pipeline(customers: tuple[pd.DataFrame, Any]) -> Any:
    table, y = customers
    parts = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["income", "children"]),
            ("levels", OneHotEncoder(handle_unknown="ignore"), ["town", "grade"]),
        ],
        remainder="passthrough",
    )
    return make_pipeline(parts, forest_pipeline()).fit(table, y)


def forest_pipeline() -> RandomForestClassifier:
    return RandomForestClassifier(8, random_state=0)


def check(e: eagle.Explanation, d: int) -> None:
    assert e.scores.shape == (d,)
    assert np.isfinite(e.interval()).all()
    assert (e.interval()[:, 0] <= e.scores).all()
    assert (e.scores <= e.interval()[:, 1]).all()


def test_numeric_frame(binary: Any) -> None:
    X, y = binary
    table = pd.DataFrame(X, columns=list("abcdef"))
    explainer = eagle.Explainer(forest(table, y), table, budget=BUDGET)
    e = explainer.explain(table.iloc[0])
    check(e, 6)
    assert e.names == tuple("abcdef")
    for row in (table.iloc[[0]], table.iloc[0].to_dict(), X[0], X[0].tolist()):
        assert np.array_equal(explainer.explain(row).scores, e.scores)


def test_pipeline_with_a_column_transformer(pipeline: Any, customers: Any) -> None:
    table, _ = customers
    seen: list[pd.DataFrame] = []

    def watched(X: pd.DataFrame) -> Any:
        seen.append(X)
        return pipeline.predict_proba(X)

    explainer = eagle.Explainer(watched, table, outputs=pipeline.classes_, budget=BUDGET)
    e = explainer.explain(table.iloc[3])
    check(e, 5)
    (asked,) = seen
    assert (asked.dtypes == table.dtypes).all()
    assert list(asked.columns) == list(table.columns)
    assert asked["grade"].dtype.ordered
    assert asked["income"].isna().any()  # missing is a legal move
    assert np.array_equal(
        eagle.Explainer(pipeline, table, budget=BUDGET).explain(table.iloc[[3]]).scores, e.scores
    )


def test_columns_in_another_order_and_beside_the_label(pipeline: Any, customers: Any) -> None:
    table, y = customers
    shuffled = table[["town", "online", "income", "grade", "children"]].assign(label=y)
    one = eagle.Explainer(pipeline, table, budget=BUDGET).explain(table.iloc[0])
    two = eagle.Explainer(pipeline, shuffled, budget=BUDGET).explain(shuffled.iloc[[0]])
    assert np.array_equal(one.scores, two.scores)
    with pytest.raises(eagle.InputError, match="columns that data lacks: 'grade'"):
        eagle.Explainer(pipeline, table.drop(columns="grade"))


def test_three_classes_with_string_labels() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    model = forest(X, names[y])
    e = eagle.Explainer(model, X, budget=BUDGET).explain(X[0])
    check(e, 4)
    assert e.target == "setosa"
    assert e.outputs == tuple(names)
    other = e.about("virginica")
    asked = eagle.Explainer(model, X, budget=BUDGET).explain(X[0], target="virginica")
    assert np.array_equal(other.scores, asked.scores)
    against = e.about(("setosa", "virginica"))
    assert np.allclose(against.scores, e.scores - other.scores)
    total = sum(e.about(c).scores for c in names)
    assert np.abs(total).max() < 1e-12  # probabilities sum to one
    with pytest.raises(eagle.InputError, match="no output 'rose'; it has 'setosa'"):
        e.about("rose")


def test_regression_and_several_targets() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = RandomForestRegressor(8, random_state=0).fit(X, y)
    e = eagle.Explainer(model, X, budget=BUDGET).explain(X.iloc[0])
    check(e, 10)
    assert e.task == "regression"
    assert np.isclose(e.prediction, model.predict(X.iloc[[0]])[0])
    both = LinearRegression().fit(X, np.column_stack([y, -2 * y]))
    e = eagle.Explainer(both, X, outputs=["up", "down"], budget=BUDGET).explain(X.iloc[0])
    assert e.target == "up"
    assert np.allclose(e.about("down").scores, -2 * e.scores)


def test_nan_in_the_data(binary: Any) -> None:
    X, y = binary
    X = X.copy()
    X[::5, 1] = np.nan
    X[3, 1] = np.nan
    model = HistGradientBoostingClassifier(max_iter=8).fit(X, y)
    for view in ("binned", "continuous"):
        explainer = eagle.Explainer(model, eagle.Table(X, view=view), budget=BUDGET)
        check(explainer.explain(X[1]), 6)
        e = explainer.explain(X[3])
        check(e, 6)
        assert e.conditions[1] == "x1 is missing"
        assert e.data[1] is None


@pytest.mark.parametrize(
    "reply",
    [
        lambda p: p,
        lambda p: p[:, None],
        lambda p: p.tolist(),
        lambda p: p[:, None].tolist(),
        lambda p: pd.Series(p, index=range(5, 5 + len(p))),
        lambda p: pd.DataFrame({"p": p}),
        lambda p: pl.Series(p),
        lambda p: p.astype(np.float32),
        lambda p: np.asfortranarray(p),
        lambda p: np.ma.masked_array(p),
        lambda p: sparse.csr_array(p[:, None]),
        lambda p: Tensor(p),
    ],
)
def test_replies_of_every_shape(binary: Any, reply: Any) -> None:
    X, _ = binary

    def plain(X: Any) -> Any:
        return np.tanh(X[:, 0] - X[:, 1])

    expected = eagle.Explainer(plain, X, budget=BUDGET).explain(X[0])
    e = eagle.Explainer(lambda X: reply(plain(X)), X, budget=BUDGET).explain(X[0])
    assert e.task == "regression"
    assert np.allclose(e.scores, expected.scores, atol=1e-6)


class Tensor:
    """What a deep learning library answers with: on a device, with a gradient."""

    def __init__(self, values: Any, where: str = "graph") -> None:
        self._values, self._where = values, where

    def detach(self) -> Tensor:
        return Tensor(self._values, "device")

    def cpu(self) -> Tensor:
        assert self._where == "device", "detach first"
        return Tensor(self._values, "cpu")

    def numpy(self) -> Any:
        assert self._where == "cpu", "leave the device first"
        return self._values


def test_partial_callables_and_searches(binary: Any) -> None:
    X, y = binary

    def scaled(X: Any, by: float) -> Any:
        return by * X[:, 0]

    class Tripled:
        def __call__(self, X: Any) -> Any:
            return scaled(X, 3.0)

    one = eagle.Explainer(functools.partial(scaled, by=3.0), X, budget=BUDGET).explain(X[0])
    two = eagle.Explainer(Tripled(), X, budget=BUDGET).explain(X[0])
    assert np.array_equal(one.scores, two.scores)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    e = eagle.Explainer(search, X, budget=BUDGET).explain(X[0])
    assert e.outputs == (0, 1)
    assert e.task == "classification"


def test_a_classifier_without_probabilities(binary: Any) -> None:
    X, y = binary
    model = SVC().fit(X, y)
    explainer = eagle.Explainer(model, X, budget=BUDGET)
    assert "decision values" in explainer.describe()
    e = explainer.explain(X[0])
    assert e.target == model.predict(X[:1])[0]
    assert np.isclose(abs(e.prediction), abs(model.decision_function(X[:1])[0]))


# -- models that misbehave ------------------------------------------------------------------------


def reply_error(binary: Any, answer: Any) -> str:
    X, _ = binary
    with pytest.raises(eagle.ReplyError) as caught:
        eagle.Explainer(answer, X, budget=BUDGET).explain(X[0])
    return str(caught.value)


def test_wrong_replies_say_what_came_and_what_was_expected(binary: Any) -> None:
    n = BUDGET
    assert f"asked {n} rows but answered {n - 1}" in reply_error(binary, lambda X: X[1:, 0])
    assert f"1 of {n} rows with NaN" in reply_error(
        binary, lambda X: np.where(np.arange(len(X)) == 2, np.nan, 1.0)
    )
    assert "text such as 'yes'" in reply_error(binary, lambda X: ["yes"] * len(X))
    assert "text such as 'yes'" in reply_error(binary, lambda X: np.array(["yes"] * len(X)))
    assert "not numbers" in reply_error(binary, lambda X: [{"p": 1}] * len(X))
    assert f"None where {n} answers" in reply_error(binary, lambda X: None)
    assert "shape (2, 80, 2)" in reply_error(binary, lambda X: np.zeros((2, len(X), 2)))
    assert "complex128" in reply_error(binary, lambda X: X[:, 0] + 1j)
    X, _ = binary
    for p in (1.5, -0.2):
        with pytest.raises(eagle.ReplyError, match="not probabilities"):
            eagle.Explainer(
                lambda X, p=p: np.full(len(X), p), X, task="classification", budget=BUDGET
            ).explain(X[0])
    with pytest.raises(eagle.ReplyError, match="answered with 2 outputs, but 3 are named"):
        eagle.Explainer(
            lambda X: np.full((len(X), 2), 0.5), X, outputs=["a", "b", "c"], budget=BUDGET
        ).explain(X[0])


@pytest.mark.parametrize("fault", ["raises", "answers NaN", "answers too few"])
def test_what_was_paid_for_is_kept_when_the_third_call_fails(binary: Any, fault: str) -> None:
    X, y = binary
    model, calls = forest(X, y), []

    def moody(X: Any) -> Any:
        calls.append(len(X))
        if len(calls) < 3:
            return model.predict_proba(X)
        if fault == "raises":
            raise ConnectionError("the line is dead")
        return np.full((len(X), 2), np.nan) if fault == "answers NaN" else np.zeros((1, 2))

    explainer = eagle.Explainer(moody, X, budget=BUDGET, batch_rows=2 * BUDGET)
    with pytest.raises((eagle.ModelError, eagle.ReplyError)) as caught:
        explainer.explain_many(X[:9])
    assert len(caught.value.finished) == 4
    good = eagle.Explainer(model, X, budget=BUDGET).explain_many(X[:4])
    for kept, expected in zip(caught.value.finished, good, strict=True):
        assert np.array_equal(kept.scores, expected.scores)
    if fault == "raises":
        assert "ConnectionError" in str(caught.value)
        assert isinstance(caught.value.__cause__, ConnectionError)


def test_a_model_that_writes_into_its_input(binary: Any) -> None:
    X, _ = binary
    before = X.copy()

    def rude(X: Any) -> Any:
        answer = X[:, 0].copy()
        X[:] = 0
        return answer

    polite = eagle.Explainer(lambda X: X[:, 0], X, budget=BUDGET).explain(X[0])
    explainer = eagle.Explainer(rude, X, budget=BUDGET)
    assert np.array_equal(explainer.explain(X[0]).scores, polite.scores)
    assert np.array_equal(explainer.explain(X[0]).scores, polite.scores)
    assert np.array_equal(X, before)


def test_a_model_that_answers_into_one_buffer(binary: Any) -> None:
    X, _ = binary
    buffer = np.empty(25_000)

    def thrifty(X: Any) -> Any:
        buffer[: len(X)] = X[:, 0]
        return buffer[: len(X)]

    explainer = eagle.Explainer(thrifty, X, budget=BUDGET)
    first = explainer.explain(X[0])
    answers = first.evidence.answers.copy()
    explainer.explain(X[1])
    assert np.array_equal(first.evidence.answers, answers)
