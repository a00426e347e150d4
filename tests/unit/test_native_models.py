"""Boosters in their packages' own form: the answers are those of the package itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import eagle
from tables import explainer_of

pytestmark = pytest.mark.native

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(200, 3)), columns=["a", "b", "d"]).assign(
    c=pd.Categorical(RNG.choice(["u", "v", "w"], 200))
)
NUMBERS = X[["a", "b", "d"]].to_numpy()
TWO = (X.a + X.b * X.d + (X.c == "u") > 0).astype(int)
THREE = pd.cut(X.a + X.d, 3, labels=False)
ROW = X.iloc[[0]]


def explained(model: Any, data: Any = X, row: Any = ROW, **options: Any) -> eagle.Explanation:
    return explainer_of(model, data, budget=80, **options).explain(row)


def xgboosted(objective: str, y: Any, **settings: Any) -> Any:
    import xgboost

    data = xgboost.DMatrix(X, y, enable_categorical=True)
    return xgboost.train({"objective": objective, **settings}, data, 5)


def margins(booster: Any) -> Any:
    import xgboost

    return booster.predict(xgboost.DMatrix(ROW, enable_categorical=True), output_margin=True)


def test_an_xgboost_booster_gives_what_its_objective_says() -> None:
    logistic = xgboosted("binary:logistic", TWO)
    p = 1 / (1 + np.exp(-margins(logistic).item()))
    e = explained(logistic)
    assert e.task == "classification"
    assert e.outputs == (0, 1)
    assert e.prediction == pytest.approx(max(p, 1 - p), abs=1e-6)
    raw = xgboosted("binary:logitraw", TWO)
    assert explained(raw).prediction == pytest.approx(abs(margins(raw).item()), abs=1e-6)
    squares = xgboosted("reg:squarederror", X.a)
    assert explained(squares).outputs == ("prediction",)
    assert explained(squares).prediction == pytest.approx(margins(squares).item(), abs=1e-6)


def test_labels_of_xgboosts_softmax_become_its_probabilities() -> None:
    labels = explained(xgboosted("multi:softmax", THREE, num_class=3))
    shares = explained(xgboosted("multi:softprob", THREE, num_class=3))
    assert labels.outputs == shares.outputs == (0, 1, 2)
    assert labels.prediction == pytest.approx(shares.prediction, abs=1e-6)
    assert np.allclose(labels.scores, shares.scores, atol=1e-6)


def test_an_xgboost_booster_takes_its_columns_by_name_and_arrays_by_place() -> None:
    import xgboost

    frame = X[["a", "b", "d"]]
    named = xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(frame, TWO), 5)
    bare = xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(NUMBERS, TWO), 5)
    expected = bare.predict(xgboost.DMatrix(NUMBERS[:1])).item()
    expected = max(expected, 1 - expected)
    wide = frame[["d", "a", "b"]].assign(label=1)  # another order, and one column too many
    for model, data in (
        (named, wide),
        (named, NUMBERS),
        (named, pl.from_pandas(frame)),
        (bare, NUMBERS),
        (bare, frame),
    ):
        row = NUMBERS[0] if not hasattr(data, "columns") else dict(frame.iloc[0])
        row = {**row, "label": 1} if data is wide else row
        assert explained(model, data, row).prediction == pytest.approx(expected, abs=1e-6)
    with pytest.raises(eagle.InputError, match="fitted on columns that data lacks: 'a'"):
        explained(named, frame.rename(columns={"a": "z"}))
    with pytest.raises(eagle.InputError, match="fitted on 3 columns, but data has 2"):
        explained(bare, NUMBERS[:, :2], NUMBERS[0, :2])


def test_a_lightgbm_booster_gives_what_its_objective_says() -> None:
    import lightgbm

    def boosted(objective: Any, y: Any, **settings: Any) -> Any:
        return lightgbm.train(
            {"objective": objective, "verbosity": -1, **settings}, lightgbm.Dataset(X, y), 5
        )

    two, three = boosted("binary", TWO), boosted("multiclass", THREE, num_class=3)
    p = two.predict(ROW).item()
    assert explained(two).prediction == pytest.approx(max(p, 1 - p), abs=1e-12)
    assert explained(two, outputs=["no", "yes"]).outputs == ("no", "yes")
    assert explained(three).prediction == pytest.approx(three.predict(ROW).max(), abs=1e-12)
    rest = boosted("multiclassova", THREE, num_class=3)
    e = explained(rest)
    assert e.task == "regression"
    assert e.outputs == (0, 1, 2)
    told = eagle.Explainer(rest, X).describe()
    assert "they do not sum to 1 (multiclassova)" in told
    own = boosted(lambda p, data: (p - data.get_label(), np.ones_like(p)), TWO)
    assert "an objective of the caller's own" in eagle.Explainer(own, X).describe()
    assert explained(own).prediction == pytest.approx(own.predict(ROW).item(), abs=1e-12)


def test_catboosts_base_class_gives_probabilities_where_it_can() -> None:
    import catboost

    text = X.assign(c=X.c.astype(str))
    row = text.iloc[[0]]

    def boosted(loss: str, y: Any) -> Any:
        settings = {"loss_function": loss, "iterations": 5, "verbose": 0}
        model = catboost.CatBoost({**settings, "allow_writing_files": False})
        return model.fit(text, y, cat_features=["c"])

    two = boosted("Logloss", TWO.map({0: "no", 1: "yes"}))
    e = explained(two, text, row)
    raw = two.predict(row).item()
    p = 1 / (1 + np.exp(-raw))
    assert e.outputs == ("no", "yes")
    assert e.prediction == pytest.approx(max(p, 1 - p), abs=1e-9)
    assert explained(two, text, row, task="regression").prediction == pytest.approx(raw, abs=1e-9)
    squares = boosted("RMSE", X.a)
    e = explained(squares, text, row)
    assert e.task == "regression"
    assert e.prediction == pytest.approx(squares.predict(row).item(), abs=1e-9)
    with pytest.raises(eagle.InputError, match="this CatBoost is not fitted"):
        explained(catboost.CatBoost(), text, row)


def test_log_odds_of_a_booster_are_its_margins() -> None:
    """On the log-odds scale the explained number is what the trees sum to."""
    booster = xgboosted("binary:logistic", TWO)
    e = explained(booster, link="logit")
    assert e.prediction == pytest.approx(abs(margins(booster).item()), abs=1e-4)
