"""Tilia by scikit-learn's own search, and its index of stability on itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.tree import DecisionTreeRegressor

import eagle
from eagle import methods
from eagle.metrics.entropy import importance_entropy
from eagle.surrogate.fit import weighted_r2
from eagle.surrogate.select import Auto
from eagle.surrogate.tree import Tree
from eagle.types import Array

DEPTHS = range(2, 10)


def table(d: int, n: int = 300) -> Array:
    return np.random.default_rng(d).normal(size=(n, d)) * np.linspace(0.2, 5, d)


def bent(X: Array) -> Array:
    last = np.tanh(X[:, -1])
    return np.asarray(1 / (1 + np.exp(-2 * np.sin(3 * X[:, 0]) - X[:, 1] * last)))


def unweighted(tree: Any, z: Array, y: Array, sample_weight: Any = None) -> float:
    """R² as the reference's scorer has it: scikit-learn has begun to pass weights to scorers."""
    return float(r2_score(y, tree.predict(z)))


def theirs(z: Array, y: Array, weight: Array) -> Any:
    """The reference's search, and the rows it holds out."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=42)
    search = GridSearchCV(
        DecisionTreeRegressor(random_state=42), {"max_depth": list(DEPTHS)},
        cv=KFold(2, shuffle=True, random_state=42), scoring=unweighted,
    )  # fmt: skip
    return search.fit(z[train], y[train], sample_weight=weight[train]), test


def rounded(y: Array) -> Array:
    """Answers as eagle reads them: to nine digits of their spread."""
    return np.asarray(np.round((y - y[0]) / np.ptp(y), 9))


@pytest.mark.parametrize("view", ["binned", "continuous"])
@pytest.mark.parametrize("d", [3, 6])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_search_of_the_reference(view: Any, d: int, seed: int) -> None:
    data = table(d)
    method = replace(methods.TILIA, surrogate=Tree())
    e = eagle.Explainer(bent, data, view=view, method=method, random_state=seed).explain(
        data[[seed]]
    )
    z, weight, y = e.evidence.features, e.evidence.weight, e.evidence.answers[:, 0]
    search, test = theirs(z, rounded(y), weight)
    tree = search.best_estimator_
    assert np.allclose(e.scores, tree.feature_importances_, rtol=0, atol=1e-12)
    train = np.setdiff1d(np.arange(len(y)), test)
    order = train_test_split(np.arange(len(y)), test_size=0.2, random_state=42)[0]
    assert set(order) == set(train)
    lift = rounded(y)
    depth = Tree()._depth(z[order], lift[order], weight[order])
    assert depth == search.best_params_["max_depth"]
    assert np.isclose(e.local_prediction, y[0] + np.ptp(y) * tree.predict(z[:1])[0])
    assert np.isclose(e.r2_held_out, weighted_r2(lift[test], tree.predict(z[test]), weight[test]))
    assert np.isclose(e.r2_held_out, tree.score(z[test], lift[test], weight[test]))
    assert np.isclose(e.r2, tree.score(z[train], lift[train], weight[train]))


def test_standardised_or_raw_the_tree_is_the_same() -> None:
    """Splits do not depend on a scale: the reference fits raw values."""
    data = table(4)
    method = replace(methods.TILIA, surrogate=Tree())
    e = eagle.Explainer(bent, data, view="continuous", method=method).explain(data[[2]])
    z, weight, y = e.evidence.features, e.evidence.weight, e.evidence.answers[:, 0]
    raw = z * data.std(axis=0) + data[2]
    tree = theirs(raw, rounded(y), weight)[0].best_estimator_
    assert np.allclose(e.scores, tree.feature_importances_, atol=1e-9)


def test_ten_features_are_kept_by_the_ridge_first() -> None:
    data = table(14, n=400)
    e = eagle.Explainer(bent, data, method=methods.TILIA).explain(data[[2]])
    z, weight, y = e.evidence.features, e.evidence.weight, e.evidence.answers[:, 0]
    chosen = Auto(10).choose(z, y, weight)
    assert len(chosen) == 10
    tree = theirs(z[:, chosen], rounded(y), weight)[0].best_estimator_
    assert np.allclose(e.scores[chosen], tree.feature_importances_, rtol=0, atol=1e-12)
    assert np.abs(np.delete(e.scores, chosen)).max() == 0


def test_importances_have_no_sign_and_sum_to_one() -> None:
    data = table(5)
    for row in range(4):
        e = eagle.Explainer(bent, data, method=methods.TILIA).explain(data[[row]])
        assert not e.signed
        assert (e.scores >= 0).all()
        assert np.isclose(e.scores.sum(), 1.0)
        assert e.posterior is None


def test_few_rows_and_flat_answers() -> None:
    data = table(3)
    for budget in (1, 2, 9, 10, 11):
        e = eagle.Explainer(bent, data, method=methods.TILIA, budget=budget).explain(data[[0]])
        assert np.isfinite(e.scores).all()
        assert np.isnan(e.r2_held_out) or budget >= 10
    flat = eagle.Explainer(lambda X: np.full(len(X), 0.3), data, method=methods.TILIA)
    assert np.abs(flat.explain(data[[0]]).scores).max() == 0


def test_importance_entropy_of_tilia_itself() -> None:
    data = table(5)
    found = [
        eagle.Explainer(bent, data, method=methods.TILIA, budget=100, random_state=s).explain(
            data[[1]]
        )
        for s in range(6)
    ]
    scores = np.array([e.scores for e in found])
    middle = np.median(scores[scores > 0])
    total = 0.0
    for column in scores.T:
        classes = [0 if v == 0 else 1 if v <= middle else 2 for v in column]
        shares = [classes.count(c) / 6 for c in set(classes)]
        total -= sum(p * np.log2(p) for p in shares)
    assert np.isclose(importance_entropy(scores), total / 5)
    assert importance_entropy([found[0].scores] * 3) == 0
