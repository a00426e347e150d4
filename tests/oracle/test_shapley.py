"""Shapley values against their definition: every coalition, met with every background row."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from math import comb, factorial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import eagle
from eagle.shapley import prior
from eagle.shapley.coalitions import all_coalitions, draw_pairs, exact_values
from eagle.shapley.curves import fit_curves, fit_line
from eagle.shapley.layout import Layout
from eagle.shapley.trees import fit_trees


def by_definition(f: Any, x: np.ndarray, background: np.ndarray, player: np.ndarray) -> np.ndarray:
    """Shapley values of one row of numbers, by all orders of the players at once."""
    d = int(player.max()) + 1
    worth = {
        s: float(f(np.where(np.array(s, bool)[player], x, background)).mean())
        for s in product((0, 1), repeat=d)
    }
    out = np.zeros(d)
    for s, value in worth.items():
        size = sum(s)
        for j in range(d):
            if not s[j]:
                weight = factorial(size) * factorial(d - size - 1) / factorial(d)
                out[j] += weight * (worth[(*s[:j], 1, *s[j + 1 :])] - value)
    return out


def some_rows(n: int, seed: int = 0) -> np.ndarray:
    """Six numbers and a column of five levels, with gaps."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 7))
    rows[:, 2] = rng.integers(0, 5, n)
    rows[rng.random(rows.shape) < 0.05] = np.nan
    return rows


def bumpy(rows: np.ndarray) -> np.ndarray:
    r = np.nan_to_num(rows)
    bumps = r[:, 0] * r[:, 1] + np.sin(2 * r[:, 3]) + (r[:, 2] % 3) * r[:, 4]
    return np.asarray(bumps + np.isnan(rows[:, 5]))


# Columns 3 and 4 are one player.
LAYOUT = Layout(np.array([0, 1, 2, 3, 3, 4, 5]), np.array([0, 0, 5, 0, 0, 0, 0]))


@pytest.mark.parametrize("kind", ["trees", "curves", "line"])
def test_a_proxys_own_values_are_exact(kind: str) -> None:
    rows = some_rows(1500)
    answers = bumpy(rows)
    fits: dict[str, Callable[[], Any]] = {
        "trees": lambda: fit_trees(rows, answers, LAYOUT, seed=0, count=40),
        "curves": lambda: fit_curves(rows, answers, LAYOUT, seed=0),
        "line": lambda: fit_line(rows, answers, LAYOUT),
    }
    proxy = fits[kind]()
    background, some = rows[100:130], rows[:4].copy()
    some[0, 2] = 7  # a level that was not there
    values = proxy.values_over(background, LAYOUT)(some)
    for i, row in enumerate(some):
        expected = by_definition(proxy.predict, row, background, LAYOUT.player)
        np.testing.assert_allclose(values[i], expected, atol=1e-12)


def test_trees_answer_as_the_ensemble_they_were_read_from() -> None:
    """With many trees they come near to what they learnt."""
    rows = some_rows(3000)
    trees = fit_trees(rows, bumpy(rows), LAYOUT, seed=0)
    rest = bumpy(rows) - trees.predict(rows)
    assert rest.std() < 0.2 * bumpy(rows).std()


def test_the_prior_is_that_of_its_definition() -> None:
    rng, d = np.random.default_rng(0), 5
    a = prior.shares(rng.random(d) + 0.5)
    q = 1 / np.sqrt(d)
    sets = [s for size in (1, 3, 5) for s in combinations(range(d), size)]
    variance = np.diag([q * d / 2 * np.prod(a[list(s)]) for s in sets])
    z = rng.choice([-1.0, 1.0], size=(6, d))
    u = np.array([[np.prod(row[list(s)]) for s in sets] for row in z])
    phi = np.array([[2 / len(s) * (j in s) for s in sets] for j in range(d)])
    np.testing.assert_allclose(prior.covariance(z, a), u @ variance @ u.T, atol=1e-13)
    np.testing.assert_allclose(prior.with_values(z, a), u @ variance @ phi.T, atol=1e-13)
    np.testing.assert_allclose(prior.of_values(a), phi @ variance @ phi.T, atol=1e-13)


def test_exact_values_are_those_of_the_definition() -> None:
    rng, d = np.random.default_rng(1), 4
    every = all_coalitions(d)
    worth = {tuple(s): rng.normal() for s in product((False, True), repeat=d)}
    none, whole = worth[(False,) * d], worth[(True,) * d]
    known = np.array([[worth[tuple(s)] for s in every.tolist()]])
    values = exact_values(every, known, np.array([none]), np.array([whole]))[0]
    for j in range(d):
        expected = sum(
            (worth[(*s[:j], True, *s[j + 1 :])] - value) / (d * comb(d - 1, sum(s)))
            for s, value in worth.items()
            if not s[j]
        )
        assert values[j] == pytest.approx(expected, abs=1e-12)


def test_pairs_are_stratified_and_do_not_repeat_background_rows() -> None:
    pairs = draw_pairs(50, 9, 64, 40, seed=3, batch=0)
    sizes = pairs.own.sum(axis=2)
    assert sizes.min() >= 1
    assert sizes.max() <= 8
    share = 1 / (np.arange(1, 9) * (9 - np.arange(1, 9)))
    expected = 64 * share / share.sum()
    counts = np.array([np.bincount(row, minlength=9)[1:] for row in sizes])
    assert (np.abs(counts - expected) <= 1).all()
    for row in pairs.other:
        assert len(set(row[:40].tolist())) == 40
    alone = draw_pairs(3, 9, 64, 40, seed=3, batch=0)
    assert (alone.own == pairs.own[:3]).all()


def table(n: int, seed: int = 0) -> pd.DataFrame:
    """Numbers, a category, a flag and gaps."""
    rng = np.random.default_rng(seed)
    out = pd.DataFrame(
        {
            "size": rng.normal(100, 20, n),
            "rooms": rng.integers(1, 7, n),
            "town": rng.choice(["north", "south", "east"], n),
            "garden": rng.random(n) < 0.4,
            "age": rng.gamma(2.0, 10.0, n),
            "noise": rng.normal(size=n),
        }
    )
    out.loc[rng.random(n) < 0.1, "age"] = np.nan
    return out


def price(data: pd.DataFrame) -> np.ndarray:
    """A model without smoothness: steps, a product and gaps."""
    base = data["size"] * (1 + 0.3 * (data["town"] == "north")) + 12 * data["rooms"]
    old = np.where(data["age"].isna(), -15, -0.8 * data["age"].clip(upper=40))
    return np.asarray(base + old + 20 * (data["garden"] & (data["rooms"] > 3)), dtype=float)


def truth_of(
    model: Any, X: pd.DataFrame, background: pd.DataFrame, players: list[list[str]]
) -> np.ndarray:
    """Shapley values of the rows of a data frame, all coalitions with all background rows."""
    every = all_coalitions(len(players))
    out = []
    for i in range(len(X)):
        parts = []
        for s in every:
            mixed = background.copy()
            for taken, columns in zip(s, players, strict=True):
                for column in columns if taken else []:
                    mixed[column] = [X[column].iloc[i]] * len(mixed)
            parts.append(mixed.astype(X.dtypes))
        worth = np.asarray(model(pd.concat(parts, ignore_index=True)), dtype=float)
        out.append(worth.reshape(len(every), len(background)).mean(axis=1))
    n = len(X)
    none = np.full(n, float(np.mean(model(background))))
    return exact_values(every, np.array(out), none, np.asarray(model(X), dtype=float))


def covers(made: eagle.Explanations, truth: np.ndarray, level: float = 0.9) -> np.ndarray:
    low, high = np.moveaxis(made.interval(level), 2, 0)
    return np.asarray((low - 1e-9 <= truth) & (truth <= high + 1e-9))


def test_intervals_cover_on_a_mixed_table() -> None:
    X, background = table(150), table(40, seed=1)
    made = eagle.Explainer(price, table(300, 2)).shapley(X, budget=32, background=background)
    truth = truth_of(price, X[:40], background, [[c] for c in X])
    inside = covers(made, np.concatenate([truth, made.scores[40:]]))[:40]
    assert 0.82 <= inside.mean() <= 0.99
    error = np.linalg.norm(made.scores[:40] - truth, axis=1) / np.linalg.norm(truth, axis=1)
    assert np.median(error) < 0.12
    total = made.table.intercept + made.scores.sum(axis=1)
    np.testing.assert_allclose(total, price(X), atol=1e-9)
    np.testing.assert_allclose(made.table.intercept, price(background).mean(), rtol=1e-12)


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(30, random_state=0), GradientBoostingRegressor(random_state=0)]
)
def test_intervals_cover_under_trees(model: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 7))
    y = X[:, 0] * X[:, 1] + 2 * np.abs(X[:, 2]) + X[:, 3] + rng.normal(0, 0.3, 400)
    model.fit(X, y)
    made = eagle.Explainer(model, X).shapley(X[:120], budget=64, background=X[200:250])
    truth = np.array([by_definition(model.predict, x, X[200:250], np.arange(7)) for x in X[:30]])
    low, high = np.moveaxis(made[:30].interval(0.9), 2, 0)
    inside = (low <= truth) & (truth <= high)
    assert 0.82 <= inside.mean() <= 0.995
    largest = np.abs(truth).argmax(axis=1)
    assert inside[np.arange(30), largest].mean() >= 0.7
    error = np.linalg.norm(made[:30].scores - truth, axis=1) / np.linalg.norm(truth, axis=1)
    assert np.median(error) < 0.15


def test_a_group_is_one_player() -> None:
    rng = np.random.default_rng(0)
    hot = np.eye(4)[rng.integers(0, 4, 120)]
    X = pd.DataFrame(
        np.column_stack([rng.normal(size=(120, 2)), hot]),
        columns=["a", "b", "c_w", "c_x", "c_y", "c_z"],
    )

    def model(data: pd.DataFrame) -> np.ndarray:
        assert (data[["c_w", "c_x", "c_y", "c_z"]].sum(axis=1) == 1).all()
        return np.asarray(data["a"] * (1 + data["c_x"]) + data["b"] + 2 * data["c_z"])

    background = X[100:]
    made = eagle.Explainer(model, eagle.Table(X, groups="auto")).shapley(
        X[:60], budget=16, background=background
    )
    assert made.names == ("a", "b", "c")
    truth = truth_of(model, X[:60], background, [["a"], ["b"], ["c_w", "c_x", "c_y", "c_z"]])
    error = np.linalg.norm(made.scores - truth, axis=1) / np.linalg.norm(truth, axis=1)
    assert np.median(error) < 0.15
    assert covers(made, truth).mean() >= 0.85


def test_a_group_of_numbers_with_many_values_is_one_player() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=["lat", "long", "size", "age"])

    def model(data: pd.DataFrame) -> np.ndarray:
        return np.asarray(np.hypot(data["lat"], data["long"]) * data["size"] + data["age"])

    explainer = eagle.Explainer(model, eagle.Table(X, groups={"place": ["lat", "long"]}))
    made = explainer.shapley(X[:120], budget=32, background=X[150:])
    truth = truth_of(model, X[:120], X[150:], [["lat", "long"], ["size"], ["age"]])
    error = np.linalg.norm(made.scores - truth, axis=1) / np.linalg.norm(truth, axis=1)
    assert np.median(error) < 0.25
    assert covers(made, truth).mean() >= 0.82
    later = made.survey.explain_many(X[120:140])
    truth = truth_of(model, X[120:140], X[150:], [["lat", "long"], ["size"], ["age"]])
    assert covers(later, truth).mean() >= 0.8


def test_few_columns_and_a_small_background_are_exact() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    background = rng.normal(size=(8, 3))

    def model(rows: np.ndarray) -> np.ndarray:
        return np.asarray(rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2]))

    made = eagle.Explainer(model, X).shapley(X, budget=48, background=background)
    assert made.survey.exact
    truth = np.array([by_definition(model, x, background, np.arange(3)) for x in X])
    np.testing.assert_allclose(made.scores, truth, atol=1e-12)
    assert (made.interval()[..., 1] == made.interval()[..., 0]).all()
    assert made.survey.cost.rows == 40 * 48 + 40 + 8
    assert "every coalition was asked" in made[0].posterior.kind  # type: ignore[union-attr]


def test_asking_each_coalition_once_is_not_exact() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    made = eagle.Explainer(lambda r: r[:, 0] * r[:, 1], X).shapley(X, budget=6, background=30)
    assert not made.survey.exact


def test_one_column_is_exact() -> None:
    X = np.random.default_rng(0).normal(size=(25, 1))
    made = eagle.Explainer(lambda r: r[:, 0] ** 2, X).shapley(X, budget=4)
    np.testing.assert_allclose(made.scores[:, 0], X[:, 0] ** 2 - (X[:, 0] ** 2).mean(), atol=1e-12)


def test_a_linear_model_comes_out_as_it_is() -> None:
    data = table(200)
    columns = ["size", "rooms", "garden", "noise"]
    towns = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    model = make_pipeline(towns, LinearRegression())
    model.fit(data[["town", *columns]], price(data))
    X = data[["town", *columns]]
    made = eagle.Explainer(model, X).shapley(X[:60], budget=8, background=X[100:150])
    truth = truth_of(model.predict, X[:60], X[100:150], [[c] for c in X])
    np.testing.assert_allclose(made.scores, truth, atol=1e-6 * np.ptp(model.predict(X)))


def test_log_odds_add_up_and_a_logistic_regression_is_linear_in_them() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    model = LogisticRegression().fit(X, X[:, 0] + X[:, 1] + rng.normal(0, 0.5, 150) > 0)
    explainer = eagle.Explainer(model, X, link="logit")
    made = explainer.shapley(X[:50], True, budget=8, background=X[100:])
    odds = model.decision_function(X)
    np.testing.assert_allclose(made.table.intercept + made.scores.sum(axis=1), odds[:50], atol=1e-9)
    truth = model.coef_[0] * (X[:50] - X[100:].mean(axis=0))
    np.testing.assert_allclose(made.scores, truth, atol=1e-8)


def test_every_class_has_values_of_its_own() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.array(["low", "mid", "high"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
    model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    made = eagle.Explainer(model, X).shapley(X[:60], budget=16, background=X[200:240])
    assert made.targets == tuple(model.predict(X[:60]))
    chance = model.predict_proba(X[:60]).max(axis=1)
    np.testing.assert_allclose(made.table.intercept + made.scores.sum(axis=1), chance, atol=1e-9)
    low = made.survey.explain_many(X[:60], "low")
    place = list(model.classes_).index("low")
    truth = np.array(
        [
            by_definition(lambda r: model.predict_proba(r)[:, place], x, X[200:240], np.arange(4))
            for x in X[:20]
        ]
    )
    assert covers(low[:20], truth).mean() >= 0.8


def kind_of_table(kind: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """A model of numbers, the rows of a survey, and its background."""
    rng = np.random.default_rng(5)
    n = 20 if kind == "twenty rows" else 60
    X, background = rng.normal(size=(n, 6)), rng.normal(size=(40, 6))
    if kind == "duplicates and constants":
        for rows in (X, background):
            rows[:, 1], rows[:, 4] = rows[:, 0], 2.0
    if kind == "booleans":
        X, background = (X > 0.3).astype(float), (background > 0.3).astype(float)
    if kind == "rows of the background":
        background = X[:40].copy()
    if kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
        background[rng.random(background.shape) < 0.2] = np.nan

    def steps(rows: np.ndarray) -> np.ndarray:
        both = (rows[:, 0] > 0) & (rows[:, 1] > -0.5)
        return np.asarray(2.0 * both + (rows[:, 2] > 1) - 1.0 * (rows[:, 3] * rows[:, 0] > 0.2))

    def without_bounds(rows: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(rows[:, 0] + rows[:, 1]) + 5 * rows[:, 2] ** 3 - rows[:, 3])

    def smooth(rows: np.ndarray) -> np.ndarray:
        r = np.nan_to_num(rows, nan=-2.0)
        return np.asarray(r[:, 0] * r[:, 1] + np.sin(2 * r[:, 2]) + r[:, 3] * (r[:, 4] + 0.5))

    models = {"steps": steps, "without bounds": without_bounds}
    return models.get(kind, smooth), X, background


@pytest.mark.parametrize(
    "kind",
    [
        "steps",
        "without bounds",
        "twenty rows",
        "duplicates and constants",
        "booleans",
        "rows of the background",
        "missing",
    ],
)
def test_intervals_cover_on_every_kind_of_table(kind: str) -> None:
    model, X, background = kind_of_table(kind)
    made = eagle.Explainer(model, X).shapley(X, budget=32, background=background, progress=False)
    some = range(0, len(X), 3)
    truth = np.array([by_definition(model, X[i], background, np.arange(6)) for i in some])
    inside = covers(made[list(some)], truth)
    largest = np.abs(truth).argmax(axis=1)
    assert inside.mean() >= 0.8
    assert inside[np.arange(len(truth)), largest].mean() >= 0.7
    np.testing.assert_allclose(made.table.intercept + made.scores.sum(axis=1), model(X), atol=1e-9)
    unused = truth.any(axis=0) == np.zeros(6, dtype=bool)
    size = np.abs(truth).max()
    assert (np.abs(made.scores[:, unused]) < 0.15 * size).all()


def test_intervals_cover_with_two_hundred_columns() -> None:
    """Of products of pairs of columns, whose Shapley values have a formula."""
    rng = np.random.default_rng(0)
    X, background = rng.normal(size=(40, 200)), rng.normal(size=(40, 200))
    size = 3 / np.arange(1, 101)

    def model(rows: np.ndarray) -> np.ndarray:
        return np.asarray((rows[:, ::2] * (2 + rows[:, 1::2])) @ size)

    made = eagle.Explainer(model, X).shapley(X, budget=32, background=background, progress=False)
    truth = np.empty(X.shape)
    for first, second in ((0, 1), (1, 0)):
        one = [part[:, first::2] + (2 if first else 0) for part in (X, background)]
        other = [part[:, second::2] + (2 if second else 0) for part in (X, background)]
        step = (one[0][:, None] - one[1]) * (other[0][:, None] + other[1])
        truth[:, first::2] = size * step.mean(axis=1) / 2
    np.testing.assert_allclose(truth.sum(axis=1), model(X) - model(background).mean(), atol=1e-9)
    inside = covers(made, truth)
    largest = np.abs(truth).argmax(axis=1)
    assert inside.mean() >= 0.85
    assert inside[np.arange(40), largest].mean() >= 0.7


def test_a_certificate_is_the_share_of_joint_draws_and_right_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 6))

    def model(rows: np.ndarray) -> np.ndarray:
        return np.asarray(
            rows[:, 0] * rows[:, 1] + np.sin(2 * rows[:, 2]) + rows[:, 3] * rows[:, 4]
        )

    made = eagle.Explainer(model, X).shapley(X[:90], budget=16, background=X[110:], progress=False)
    certain, right = 0, 0
    for i in range(0, 90, 2):
        truth = by_definition(model, X[i], X[110:], np.arange(6))
        for k in (1, 2):
            draws = np.abs(made[i].posterior.draws())  # type: ignore[union-attr]
            named = made[i].order()[:k]
            tops = np.argsort(-draws, axis=1)[:, :k]
            share = np.mean([set(top) == set(named.tolist()) for top in tops.tolist()])
            assert made[i].probability_top_set(k) == pytest.approx(float(share), abs=1e-9)
            if share >= 0.95:
                certain += 1
                right += set(np.argsort(-np.abs(truth))[:k].tolist()) == set(named.tolist())
    assert made[0].probability_top_set(6) == 1
    assert certain > 20
    assert right / certain > 0.9
