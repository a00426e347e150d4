"""Tilia by scikit-learn's own search on what the model was asked, and its index of stability."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lime import lime_base
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import eagle
from catalogue import CASES, LABELS, PICTURES, Recorder
from eagle import Images, peers
from eagle._values.arrays import Array
from eagle.explanation import Explanation
from eagle.peers.selection import Auto, Highest
from eagle.peers.tilia import Tree
from eagle.surrogates.ridge import Selection
from tables import explainer_of

ALL = replace(peers.TILIA, surrogate=Tree())
"""Tilia that keeps all features."""


def table(d: int, n: int = 300) -> Array:
    return np.random.default_rng(d).normal(size=(n, d)) * np.linspace(0.2, 5, d)


def bent(X: Array) -> Array:
    last = np.tanh(X[:, -1])
    return np.asarray(1 / (1 + np.exp(-2 * np.sin(3 * X[:, 0]) - X[:, 1] * last)))


def unweighted(tree: Any, z: Array, y: Array, sample_weight: Any = None) -> float:
    """R² as the reference's scorer has it: scikit-learn has begun to pass weights to scorers."""
    return float(r2_score(y, tree.predict(z)))


def grid(numbers: Array, bits: int) -> Array:
    """Numbers to so many binary digits behind the point."""
    return np.asarray([round(float(v) * 2**bits) / 2**bits for v in numbers])


def theirs(asked: Array, y: Array, weight: Array, *, exact: bool = True) -> Any:
    """The reference's procedure on raw values: the best tree, the rows fitted, and those held out.

    80 of 100 rows by seed 42, the depth from 2 to 9 by two shuffled folds of these, fitted again
    to all of them. Where two rows are left any column splits them as well as another, and rounding
    chooses; so it is given the numbers on a grid, as eagle reads them, on which sums are `exact`.
    """
    if exact:
        y, weight = grid((y - y[0]) / np.ptp(y), 20), grid(weight / weight.max(), 19)
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=42)
    search = GridSearchCV(
        DecisionTreeRegressor(random_state=42),
        {"max_depth": list(range(2, 10))},
        cv=KFold(2, shuffle=True, random_state=42),
        scoring=unweighted,
    )
    search.fit(asked[train], y[train], sample_weight=weight[train])
    return search.best_estimator_, train, test


def heard(method: Any, model: Any, data: Any, row: Any, **options: Any) -> tuple[Explanation, Any]:
    """An explanation, and the rows that the model saw for it."""
    model = Recorder(model)
    e = explainer_of(model, data, method=method, **options).explain(row)
    asked = pd.concat(model.asked) if isinstance(data, pd.DataFrame) else model.asked[-1]
    return e, asked[-e.cost.rows :]


@pytest.mark.parametrize("view", ["binned", "continuous"])
@pytest.mark.parametrize("d", [3, 6])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_search_of_the_reference(view: Any, d: int, seed: int) -> None:
    data = table(d)
    e, asked = heard(ALL, bent, data, data[[seed]], view=view, random_state=seed)
    y, weight = bent(asked), e.evidence.weight
    tree, train, test = theirs(asked, y, weight)
    assert np.allclose(e.scores, tree.feature_importances_, rtol=0, atol=1e-12)
    lift = (y - y[0]) / np.ptp(y)
    assert np.isclose(e.local_prediction, y[0] + np.ptp(y) * tree.predict(asked[:1])[0])
    assert np.isclose(e.r2, tree.score(asked[train], lift[train], weight[train]), atol=1e-5)
    held = tree.score(asked[test], lift[test], weight[test])
    assert np.isclose(e.r2_held_out, held, atol=1e-5)


def codes(asked: pd.DataFrame, data: pd.DataFrame) -> Array:
    """Levels by their place in sorted order, numbers as they are, missing values as NaN."""
    out = asked.drop(columns="city").assign(size=asked["size"].cat.codes).astype(float)
    encoder = OrdinalEncoder().fit(data[["city"]].astype(object).dropna())
    there = asked["city"].notna().to_numpy()
    city = np.full(len(asked), np.nan)
    city[there] = encoder.transform(asked.loc[there, ["city"]].astype(object))[:, 0]
    out.insert(3, "city", city)
    return np.asarray(out, dtype=np.float64)


@pytest.mark.parametrize("name", ["mixed, binned", "mixed, continuous"])
@pytest.mark.parametrize("row", [0, 3, 7])
def test_levels_are_codes_and_missing_values_stay_missing(name: str, row: int) -> None:
    case = CASES[name]
    e, asked = heard(ALL, case.model, case.data, case.row(row), **case.options)
    raw = codes(asked, case.data)
    assert np.array_equal(e.evidence.features, raw, equal_nan=True)
    tree, _, _ = theirs(raw, case.model(asked), e.evidence.weight)
    assert np.allclose(e.scores, tree.feature_importances_, rtol=0, atol=1e-12)
    assert np.isnan(raw).any()


def test_of_pictures_the_mask_is_the_value() -> None:
    case = CASES["image"]
    e = explainer_of(case.model, case.data, method=ALL, budget=100, **case.options).explain(
        PICTURES[0]
    )
    z = np.array([[1 - on for on in row] for row in e.evidence.points], dtype=float)
    y = e.evidence.answers[:, e.outputs.index(e.target)]
    tree, _, _ = theirs(z, y, e.evidence.weight)
    assert np.allclose(e.scores, tree.feature_importances_, rtol=0, atol=1e-12)
    shifted = Images(LABELS, shift=0.1)
    moved = explainer_of(case.model, shifted, method=ALL, budget=60, **case.options).explain(
        PICTURES[0]
    )
    assert (moved.evidence.features[0] == 0).all()


@pytest.mark.parametrize("name", ["mixed, binned", "mixed, continuous", "image", "text"])
def test_it_is_fitted_again_from_its_evidence(name: str) -> None:
    case = CASES[name]
    e = explainer_of(case.model, case.data, method=peers.TILIA, budget=80, **case.options)
    one = e.explain(case.row(0))
    again = Explanation.from_dict(one.to_dict())
    for other in (one.fit, again.fit, one.fit_to_first(one.cost.rows), again.about(one.target)):
        assert np.array_equal(other.scores, one.scores)
    json.dumps(one.to_dict(), allow_nan=False)


def test_missing_or_not_a_column_that_never_moves_is_named() -> None:
    rng = np.random.default_rng(0)
    data = np.column_stack([rng.normal(size=200), np.full(200, 2.0), rng.normal(size=200)])
    data[::3, 2] = np.nan
    e = eagle.Explainer(lambda X: X[:, 0], data, method=ALL).explain(data[[0]])
    assert [w for w in e.warnings if w.endswith("never changed: x1")]


@pytest.mark.parametrize(
    ("unit", "place"), [(1.0, 1e9), (1.0, -1e13), (1e300, 0.0), (1e-300, 0.0), (1e-9, 0.0)]
)
def test_numbers_that_single_precision_does_not_hold(unit: float, place: float) -> None:
    """Far from 0, or as large or small as doubles go: scikit-learn alone refuses, or sees 0."""
    rng = np.random.default_rng(3)
    z, weight = rng.normal(size=(300, 2)), rng.uniform(0.5, 1, 300)
    y = np.round(z[:, 0], 2) + 0.1 * z[:, 1]
    near = Tree().fit(z, y, weight)
    far = Tree().fit(z * [unit, 1.0] + [place, 0.0], y, weight)
    assert near.scores[0] > 0.9
    assert np.allclose(far.scores, near.scores, atol=0.01)


def selected(values: Array, y: Array, weight: Array, k: int = 10) -> list[int]:
    """What the reference keeps: `lime`'s own selection, on the values of the rows asked."""
    base: Any = lime_base.LimeBase(lambda distance: distance, random_state=0)
    return sorted(int(j) for j in base.feature_selection(values, y, weight, k, "auto"))


@pytest.mark.parametrize("view", ["binned", "continuous"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ten_features_are_kept_as_the_reference_keeps_them(view: Any, seed: int) -> None:
    """Columns far from 0 are kept for their place, and those that are 0 here are not."""
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(400, 14)) * 10.0 ** rng.uniform(-2, 4, 14) + rng.choice([0, 9], 14)
    data[:, 3] = rng.integers(0, 2, 400)
    data[0, 3] = 0.0
    unit, slope = data.std(axis=0), rng.normal(size=14)
    slope[3] = 9.0

    def model(X: Array) -> Array:
        return np.asarray(bent(X / unit) + (X / unit) @ slope)

    e, asked = heard(peers.TILIA, model, data, data[[0]], view=view, random_state=seed)
    y, weight = model(asked), e.evidence.weight
    chosen = selected(asked, y, weight)
    assert 3 not in chosen
    tree, _, _ = theirs(asked[:, chosen], y, weight)
    assert np.allclose(e.scores[chosen], tree.feature_importances_, rtol=0, atol=1e-12)
    assert np.abs(np.delete(e.scores, chosen)).max() == 0
    other = replace(peers.TILIA, surrogate=Tree(selection=Auto(10)))
    offsets, _ = heard(other, model, data, data[[0]], view=view, random_state=seed)
    assert not np.allclose(offsets.scores, e.scores)


def chosen_by(selection: Selection, values: Array, y: Array, weight: Array) -> list[int]:
    """What a selection chooses of the values of a raw tree."""
    chosen: list[int] = []

    class Listening:
        def choose(self, features: Array, y: Array, weight: Array) -> Any:
            chosen.extend(np.sort(selection.choose(features, y, weight)).tolist())
            return np.array(chosen)

    Tree((2,), selection=Listening(), raw=True).fit(values, y, weight)
    return chosen


def test_a_selection_of_columns_that_are_alike_or_never_change_or_are_0_at_the_instance() -> None:
    rng = np.random.default_rng(4)
    z = rng.normal(size=(120, 6)) + 2
    y, one = z @ np.array([9.0, 3, 1, 0.1, 0.1, 0.1]), np.ones(120)
    twice = np.column_stack([z * 1e9, z * 1e9, np.full(120, 7.0)])
    assert set(chosen_by(Highest(4), twice, y, one)) == {0, 1, 6, 7}
    assert chosen_by(Highest(3), z - z[0], y, one) == [0, 1, 2]


@pytest.mark.parametrize("raw", [True, False])
def test_holes_stand_at_the_mean_where_features_are_chosen(raw: bool) -> None:
    rng = np.random.default_rng(5)
    data = rng.normal(size=(400, 12)) + 3
    data[rng.random(data.shape) < 0.2] = np.nan

    def model(X: Array) -> Array:
        return np.asarray(np.nan_to_num(X, nan=3.0) @ np.linspace(0, 1, 12) ** 3)

    method = replace(peers.TILIA, surrogate=Tree(selection=Auto(7), raw=raw))
    e, asked = heard(method, model, data, data[[0]])
    full = pd.DataFrame(asked).fillna(pd.DataFrame(asked).mean()).to_numpy()
    y, weight = model(asked), e.evidence.weight
    if raw:
        chosen = selected(full, y, weight, 7)
    else:
        ridge = Ridge(alpha=0.01).fit(StandardScaler().fit_transform(full), y, sample_weight=weight)
        chosen = sorted(np.argsort(-np.abs(ridge.coef_))[:7].tolist())
    tree, _, _ = theirs(asked[:, chosen], y, weight)
    assert np.allclose(e.scores[chosen], tree.feature_importances_, rtol=0, atol=1e-12)
    assert np.abs(np.delete(e.scores, chosen)).max() == 0


def test_the_last_digits_of_weights_decide_nothing() -> None:
    """Two columns that say the same: rounding that differs by machine must not choose."""
    rng = np.random.default_rng(2)
    one = rng.normal(size=(300, 3))
    values = np.column_stack([one, one[:, ::-1]])
    y = np.sin(2 * one[:, 0]) + one[:, 1]
    weight = rng.uniform(0.1, 1.0, 300)
    first = Tree().fit(values, y, weight).scores
    for seed in range(5):
        noise = 1 + 2e-16 * np.random.default_rng(seed).integers(-2, 3, (2, 300))
        assert np.array_equal(Tree().fit(values, y * noise[0], weight * noise[1]).scores, first)


def test_importances_have_no_sign_and_sum_to_one() -> None:
    data = table(5)
    for row in range(4):
        e = eagle.Explainer(bent, data, method=peers.TILIA).explain(data[[row]])
        assert not e.signed
        assert (e.scores >= 0).all()
        assert np.isclose(e.scores.sum(), 1.0)
        assert e.posterior is None


def test_few_rows_and_flat_answers() -> None:
    data = table(3)
    for budget in (1, 2, 9, 10, 11):
        e = eagle.Explainer(bent, data, method=peers.TILIA, budget=budget).explain(data[[0]])
        assert np.isfinite(e.scores).all()
        assert np.isnan(e.r2_held_out) or budget >= 10
    flat = eagle.Explainer(lambda X: np.full(len(X), 0.3), data, method=peers.TILIA)
    assert np.abs(flat.explain(data[[0]]).scores).max() == 0
