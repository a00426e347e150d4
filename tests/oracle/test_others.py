"""US-LIME and CLIMAX, each computed a second way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import linear_model

import eagle
from catalogue import Recorder
from eagle import Method, peers
from eagle.contracts import Array
from eagle.kernels import Exponential
from eagle.peers.climax import BothLabels, Logistic
from eagle.peers.us_lime import Boundary
from eagle.surrogates.ridge import Ridge
from tables import explainer_of

TWO: dict[str, Any] = {"task": "classification", "outputs": ("no", "yes")}


def table(n: int = 400, d: int = 4) -> Array:
    return np.random.default_rng(2).normal(size=(n, d))


def chance(X: Any) -> Array:
    X = np.asarray(X, dtype=float)
    return np.asarray(1 / (1 + np.exp(-2 * X[:, 0] - X[:, 1] * X[:, 2])))


def two(X: Any) -> Array:
    return np.column_stack([1 - chance(X), chance(X)])


# -- US-LIME ------------------------------------------------------------------------------------


def naive(z: Array, y: Array, few: int) -> set[int]:
    """Per side the `few` rows with the least |p − ½|, and of these the nearer half."""
    kept = {0}
    for yes in (True, False):
        side = [i for i in range(len(y)) if (y[i] >= 0.5) == yes]
        unsure = sorted(side, key=lambda i: (abs(y[i] - 0.5), i))[:few]
        place = {i: at for at, i in enumerate(unsure)}
        kept |= set(sorted(unsure, key=lambda i: (_far(z, i), place[i]))[: few // 2])
    return kept


def _far(z: Array, i: int) -> float:
    return round(float(((z[i] - z[0]) ** 2).sum()), 9)


@pytest.mark.parametrize("view", ["binned", "continuous"])
@pytest.mark.parametrize("row", [0, 8, 21])
def test_the_rows_that_us_lime_keeps(view: Any, row: int) -> None:
    data = table()
    ex = explainer_of(two, data, method=peers.US_LIME, view=view, **TWO)
    e = ex.explain(data[[row]], "yes")
    z, y, weight = e.evidence.features, e.evidence.answers[:, 1], e.evidence.weight
    kept = Boundary().rows_to_fit(z, y)
    assert kept[0] == 0
    assert len(set(kept.tolist())) == len(kept)
    assert set(kept.tolist()) == naive(z, y, len(y) // 10)
    ridge = linear_model.Ridge(1.0).fit(z[kept], y[kept], sample_weight=weight[kept])
    assert np.allclose(e.scores, ridge.coef_, rtol=1e-7)
    assert np.isclose(e.intercept, ridge.intercept_, rtol=1e-7)


def test_a_row_drawn_often_is_not_nearer_for_it() -> None:
    """Where rows repeat, a row's weight counts its repeats: that is no nearness."""
    rng = np.random.default_rng(0)
    data = rng.choice(3, size=(300, 3), p=[0.6, 0.3, 0.1]).astype(float)

    def model(X: Any) -> Array:
        return np.asarray(1 / (1 + np.exp(0.5 + 0.2 * X[:, 0] - 0.7 * X[:, 1] * X[:, 2])))

    for row in range(6):
        ex = explainer_of(
            model, data, method=peers.US_LIME, budget=5000, categories=range(3), **TWO
        )
        e = ex.explain(data[[row]], "yes")
        z, y, weight = e.evidence.features, e.evidence.answers[:, 1], e.evidence.weight
        assert weight.max() > 5
        surrogate = Boundary(3)
        assert set(surrogate.rows_to_fit(z, y).tolist()) == naive(z, y, len(y) // 3)
        kept = surrogate.rows_to_fit(z, y)
        line = Ridge().fit(z[kept], y[kept], weight[kept])
        assert np.allclose(surrogate.fit(z, y, weight).scores, line.scores)


def test_us_lime_draws_half_as_far() -> None:
    data = table() * [1.0, 10.0, 0.1, 3.0]
    ex = explainer_of(two, data, method=peers.US_LIME, view="continuous", budget=5000, **TWO)
    z = ex.explain(data[[0]]).evidence.features[1:]
    assert np.allclose(z.std(axis=0), 0.5, atol=0.03)
    assert np.abs(z.mean(axis=0)).max() < 0.03


@pytest.mark.parametrize("flip", [False, True])
def test_either_class_gives_the_same_scores_but_for_the_sign(flip: bool) -> None:
    data = table()
    ex = explainer_of(two, data, method=peers.US_LIME, **TWO)
    e = ex.explain(data[[3]], "no" if flip else "yes")
    assert np.allclose(e.about("yes").scores, -e.about("no").scores)


@pytest.mark.parametrize(
    "method", [peers.US_LIME, peers.CLIMAX, peers.with_bootstrap(peers.US_LIME, 10)]
)
def test_exactly_two_probabilities_or_nothing_is_asked(method: Method) -> None:
    data = table()
    never = Recorder(two)

    def refused(match: str, model: Any = never, **options: Any) -> None:
        with pytest.raises(eagle.InputError, match=match) as caught:
            explainer_of(model, data, method=method, **options)
        assert method.name in str(caught.value)
        assert "exactly two classes" in str(caught.value)

    refused("does not give", task="regression")
    refused("say task='classification'")
    refused("say task='classification'", outputs=("no", "yes"))
    refused("does not say how many", task="classification")
    refused("has 3: give a function", task="classification", outputs=("a", "b", "c"))
    refused("has 1", task="classification", outputs=("a",))
    labels = np.arange(len(data)) % 3
    refused(
        "LogisticRegression.predict_proba has 3",
        linear_model.LogisticRegression().fit(data, labels),
    )
    refused(
        "RidgeClassifier.decision_function does not give",
        linear_model.RidgeClassifier().fit(data, labels > 1),
    )
    refused(
        "LinearRegression.predict does not give", linear_model.LinearRegression().fit(data, labels)
    )
    assert not never.asked
    fitted = linear_model.LogisticRegression().fit(data, data[:, 0] > 0)
    assert np.isfinite(eagle.Explainer(fitted, data, method=method).explain(data[:1]).scores).all()


@pytest.mark.parametrize("method", [peers.US_LIME, peers.CLIMAX])
def test_one_class_against_the_other_is_refused(method: Method) -> None:
    """A difference of probabilities has its boundary at 0, not at ½."""
    data, model = table(), Recorder(two)
    ex = explainer_of(model, data, method=method, **TWO)
    with pytest.raises(eagle.InputError, match=rf"{method.name}.* one class"):
        ex.explain(data[:1], ("yes", "no"))
    with pytest.raises(eagle.InputError, match="one class"):
        ex.explain_many(data[:2], ("yes", "no"), progress=False)
    assert not model.asked
    with pytest.raises(eagle.InputError, match="one class"):
        ex.explain(data[:1], "yes").about(("yes", "no"))
    if method.planned:
        plan = ex.plan(data[:1])
        with pytest.raises(eagle.InputError, match="one class"):
            plan.fit(two(plan.inputs), ("yes", "no"))


# -- CLIMAX -------------------------------------------------------------------------------------


def rare(X: Any) -> Array:
    """Class "yes" in some percent of rows."""
    p = 1 / (1 + np.exp(-6 * (X[:, 0] + X[:, 1] - 2.6)))
    return np.column_stack([1 - p, p])


def test_half_then_halves_of_what_is_left() -> None:
    data, model = table(), Recorder(rare)
    ex = explainer_of(model, data, method=peers.CLIMAX, view="continuous", **TWO)
    e = ex.explain(data[[5]], "yes")
    left, sizes = 500, [len(X) for X in model.asked]
    for size in sizes:  # but for rows that were known before
        assert 0.8 * left / 2 <= size + 1 <= (left + 1) // 2 + 1
        left -= size
    assert e.cost.rows == 500
    assert not pd.DataFrame(np.concatenate(model.asked)).duplicated().any()


def test_coordinates_come_from_a_rare_row_or_from_a_fresh_draw() -> None:
    from eagle._sources.masks import Fair, MaskSpace
    from eagle.contracts import Rows, Seen

    space = MaskSpace(8, Fair())
    points = np.zeros((4, 8), dtype=np.uint8)
    points[3] = 1
    y = np.array([0.1, 0.2, 0.3, 0.9])
    seen = Seen(points, Rows.each_once(space.features(points), np.ones(4)), y)
    asked = BothLabels().ask(seen, space, Exponential(), 8000, np.random.default_rng(0))
    assert asked.shape == (4000, 8)
    assert asked.dtype == np.uint8
    # The parent is all off: a coordinate is off with ½ + ½·½.
    assert np.abs(asked.mean(axis=0) - 0.75).max() < 4 * np.sqrt(0.75 * 0.25 / 4000)
    one_label = replace(seen, y=np.full(4, 0.2))
    plain = BothLabels().ask(one_label, space, Exponential(), 8000, np.random.default_rng(0))
    assert np.abs(plain.mean(axis=0) - 0.5).max() < 4 * 0.5 / np.sqrt(4000)


@pytest.mark.parametrize("penalty", [1.0, 0.1, 10.0])
def test_the_logistic_line(penalty: float) -> None:
    rng = np.random.default_rng(1)
    z = (rng.random((300, 6)) < 0.5).astype(float)
    y = 1 / (1 + np.exp(-z @ rng.normal(size=6) * 2 + rng.normal(size=300)))
    weight = rng.uniform(0.1, 1, 300)
    ours = Logistic(penalty).fit(z, y, weight)
    model = linear_model.LogisticRegression(C=1 / penalty, solver="newton-cholesky", tol=1e-10)
    model.fit(z, y >= 0.5, sample_weight=weight)
    assert np.allclose(ours.scores, model.coef_[0], rtol=1e-4, atol=1e-5)
    assert np.isclose(ours.intercept, model.intercept_[0], rtol=1e-4, atol=1e-5)
    assert np.isclose(ours.local, model.predict_proba(z[:1])[0, 1], atol=1e-5)
    # At the optimum the gradient vanishes: Σ w (p − label) z + penalty·score = 0.
    p = 1 / (1 + np.exp(-(z @ ours.scores + ours.intercept)))
    left = weight * (p - (y >= 0.5))
    assert np.abs(z.T @ left + penalty * ours.scores).max() < 1e-3
    assert abs(left.sum()) < 1e-3


def test_one_label_alone_separates_nothing() -> None:
    data = table()
    for p in (0.2, 0.7):

        def still(X: Any, p: float = p) -> Array:
            return np.full((len(X), 2), [1 - p, p])

        e = explainer_of(still, data, method=peers.CLIMAX, **TWO).explain(data[[0]], "yes")
        assert np.abs(e.scores).max() == 0
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(eagle.InputError, match="penalty"):
            Logistic(wrong)
