"""DLIME by scikit-learn: the cluster of the nearest neighbour, and nothing made up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.neighbors import NearestNeighbors

import eagle
from catalogue import Recorder
from eagle import Method, peers
from eagle._tables import neighbours
from eagle.contracts import Array
from eagle.kernels import Exponential
from eagle.peers.dlime import Cluster
from eagle.surrogates.ridge import Ridge


def numbers(n: int = 150, d: int = 4) -> Array:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) + 4.0 * (rng.random((n, 1)) < 0.4)


def bent(X: Any) -> Array:
    X = np.asarray(X, dtype=float)
    return np.asarray(np.sin(X[:, 0]) + X[:, 1] * X[:, 2])


def people(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    age = rng.normal(40, 12, n)
    age[rng.random(n) < 0.1] = np.nan
    city = rng.choice(["Rome", "Paris", "Oslo"], n).astype(object)
    city[rng.random(n) < 0.05] = None
    return pd.DataFrame(
        {
            "age": age,
            "visits": rng.poisson(2, n),
            "member": rng.random(n) < 0.3,
            "city": city,
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "when": rng.normal(size=n).astype(np.float32),
        }
    )


def shop(X: pd.DataFrame) -> Any:
    return (
        X["age"].fillna(0).to_numpy(float) / 40
        + X["visits"].to_numpy()
        - (X["city"] == "Rome").to_numpy()
        + X["size"].cat.codes.to_numpy()
        + X["member"].to_numpy()
    )


def members(data: Array, x: Array, clusters: int = 2) -> Array:
    """The cluster's rows, by the book."""
    labels = AgglomerativeClustering(clusters).fit_predict(data)
    near = NearestNeighbors(n_neighbors=1, algorithm="ball_tree").fit(data)
    return np.asarray(data[labels == labels[near.kneighbors(x[None])[1][0, 0]]])


def as_set(rows: Any) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in np.asarray(rows).tolist()}


# -- which rows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("clusters", [1, 2, 5])
@pytest.mark.parametrize("row", [0, 3, 77])
def test_the_cluster_of_the_nearest_neighbour(row: int, clusters: int) -> None:
    data, model = numbers(), Recorder(bent)
    x = data[row] + 0.01
    method = Method("DLIME", Cluster(clusters), Exponential(), Ridge(), budget=1000)
    eagle.Explainer(model, data, method=method).explain(x[None])
    (asked,) = model.asked
    assert np.array_equal(asked[0], x)
    assert as_set(asked[1:]) == as_set(members(data, x, clusters))
    apart = np.linalg.norm(asked[1:] - x, axis=1)
    assert (np.diff(apart) >= 0).all()


def test_features_are_bin_matches_and_the_line_is_limes() -> None:
    data = numbers()
    x = data[3] + 0.01
    e = eagle.Explainer(bent, data, method=peers.DLIME).explain(x[None])
    edges = np.quantile(data, [0.25, 0.5, 0.75], axis=0)
    rows = np.vstack([x, members(data, x)])

    def bins(X: Array) -> Array:
        return np.stack([np.searchsorted(edges[:, j], X[:, j]) for j in range(4)], axis=1)

    match = (bins(rows) == bins(x[None])).astype(float)
    assert len(e.evidence.features) == len(match)
    assert sorted(map(tuple, e.evidence.features)) == sorted(map(tuple, match))
    assert 0.15 < match[1:].mean() < 0.6  # bins, not equality of numbers
    off = (1 - match).sum(axis=1)
    weight = np.exp(-off / (2 * 0.75**2 * 4))
    linear = SklearnRidge(1.0)
    linear.fit(match, bent(rows), sample_weight=weight)
    assert np.allclose(e.scores, linear.coef_, rtol=1e-8)
    assert np.isclose(e.intercept, linear.intercept_, rtol=1e-8)


def test_a_level_that_nobody_saw() -> None:
    data, model = people(), Recorder(shop)
    row = data.iloc[[4]].assign(city="Bern")
    ex = eagle.Explainer(model, data, method=peers.DLIME)
    e = ex.explain(row)
    (asked,) = model.asked
    assert asked["city"].iloc[0] == "Bern"
    assert set(asked["city"].iloc[1:].dropna()) <= {"Rome", "Paris", "Oslo"}
    city = e.names.index("city")
    assert not e.evidence.features[1:, city].any()
    both = ex.explain_many(pd.concat([row, data.iloc[[9]]]), progress=False)
    assert np.array_equal(both[0].scores, e.scores)


def test_a_missing_number_matches_what_is_missing() -> None:
    data = numbers()
    data[::7, 1] = np.nan
    model = Recorder(lambda X: np.nan_to_num(X).sum(axis=1))
    e = eagle.Explainer(model, data, method=peers.DLIME).explain(data[[7]])
    (asked,) = model.asked
    assert np.array_equal(e.evidence.features[:, 1] == 1, np.isnan(asked[:, 1]))
    filled = np.where(np.isnan(data), np.nanmean(data, axis=0), data)
    expected = members(filled, filled[7])
    seen = np.where(np.isnan(asked), np.nanmean(data, axis=0), asked)
    assert as_set(seen) == as_set(expected)


# -- the budget ---------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 2, 10, 40, 1000])
def test_the_nearest_within_a_budget(budget: int) -> None:
    data, model = numbers(), Recorder(bent)
    ex = eagle.Explainer(model, data, method=peers.DLIME_NEAREST, budget=budget)
    e = ex.explain(data[[3]])
    rows = sum(len(X) for X in model.asked)
    assert rows == e.cost.rows <= budget
    plan, whole = ex.plan(data[[3]]), ex.with_options(peers.DLIME).plan(data[[3]])
    assert np.array_equal(plan.planned.points, whole.planned.points[: plan.rows])


def test_more_clusters_than_rows_are_refused() -> None:
    data, model = numbers(), Recorder(bent)
    many = Method("DLIME", Cluster(500), Exponential(), Ridge())
    with pytest.raises(eagle.InputError, match="cannot form 500 clusters"):
        eagle.Explainer(model, data, method=many).explain(data[[0]])
    with pytest.raises(eagle.InputError, match="clusters must be an integer of at least 1"):
        Cluster(0)
    assert not model.asked


def test_of_many_rows_evenly_spaced_ones_are_clustered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "MAX_CLUSTERED_ROWS", 50)
    data, model = numbers(149), Recorder(bent)
    eagle.Explainer(model, data, method=peers.DLIME).explain(data[[0]])
    some = data[np.linspace(0, 148, 50).round().astype(int)]
    assert as_set(model.asked[0]) == as_set(members(some, data[0]))


def test_what_the_caller_does_to_his_data_later_changes_nothing() -> None:
    data = people()
    kept = data.copy(deep=True)
    ex = eagle.Explainer(shop, data, method=peers.DLIME)
    first = ex.explain(data.iloc[[3]])
    data["age"] = 1.0
    data.loc[:, "visits"] = 0
    assert np.array_equal(ex.explain(kept.iloc[[3]]).scores, first.scores)
    array = numbers()
    again = eagle.Explainer(bent, array, method=peers.DLIME)
    before = again.explain(array[[3]].copy())
    row = array[[3]].copy()
    array[:] = 0.0
    assert np.array_equal(again.explain(row).scores, before.scores)
