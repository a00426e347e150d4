"""Robust intervals against their formulas written out, and against what they promise."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eagle
from eagle import methods
from eagle.engine.method import Method
from eagle.surrogate.balance import Balance, shares
from eagle.surrogate.bayes import BayesLinear
from eagle.surrogate.information import Prior, augment
from eagle.surrogate.posterior import StudentT
from eagle.surrogate.ridge import Ridge
from eagle.surrogate.robust import Robust
from eagle.types import Array, InputError, Rows

seeds = st.integers(0, 2**32 - 1)


def rows(seed: int, n: int, d: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d)) if seed % 2 else (rng.random((n, d)) < 0.4).astype(float)
    return z, np.sin(2 * z).sum(axis=1) + z[:, 0] * z[:, -1], rng.uniform(0.2, 1, n)


def known(fit: Any) -> StudentT:
    assert isinstance(fit.posterior, StudentT)
    return fit.posterior


# -- by the formula -----------------------------------------------------------------------------


@given(seeds, st.integers(8, 60), st.integers(1, 5), st.sampled_from([1e-3, 1.0, 20.0]))
def test_the_sandwich_row_by_row(seed: int, n: int, d: int, lam: float) -> None:
    features, y, weight = rows(seed, n, d)
    features[0] = 1.0
    features[1] = 0.0  # all move
    z = augment(features)
    inverse = np.linalg.inv(z.T @ np.diag(weight) @ z + np.diag([0.0] + [lam] * d))
    mean = inverse @ z.T @ (weight * y)
    scale = np.zeros((d + 1, d + 1))
    for row, w, answer in zip(z, weight, y, strict=True):
        leverage = w * row @ inverse @ row
        pull = inverse @ row * w * (answer - row @ mean) / np.sqrt(1 - leverage)
        scale += np.outer(pull, pull)
    shrunk = inverse @ (np.array([0.0] + [lam] * d) * mean)
    scale += np.outer(shrunk, shrunk)
    fit = Robust(BayesLinear(Prior(lam))).fit(features, y, weight)
    assert np.allclose(fit.scores, mean[1:])
    assert np.allclose(known(fit).scale, scale[1:, 1:], rtol=1e-6, atol=1e-12)
    assert known(fit).kind == "robust"


def test_degrees_of_freedom_are_those_of_the_variance_under_noise() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(25, 4))
    ready = Robust(BayesLinear(Prior(1e-9))).on(Rows.each_once(features, np.ones(25)))
    drawn = [np.diag(known(ready.fit(rng.normal(size=25))).scale) for _ in range(4000)]
    variance = np.array(drawn)
    exact = np.diag(np.linalg.inv(np.cov(features.T) * 24))
    assert np.allclose(variance.mean(axis=0), exact, rtol=0.05)  # HC2 has no bias here
    moments = 2 * variance.mean(axis=0) ** 2 / variance.var(axis=0)
    assert np.isclose(np.median(moments), ready.df, rtol=0.1)
    assert ready.df < 20


@given(seeds, st.integers(24, 200), st.integers(1, 5))
def test_evenness_is_the_mean_square_of_sums_of_products(seed: int, n: int, d: int) -> None:
    x = np.random.default_rng(seed).normal(size=(n, d))
    balance = Balance.of(x, np.ones(n))
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    cuts = np.arange(16, n, 16)
    for k in (2, 3):
        products = [z[:, list(of)].prod(axis=1) for of in combinations(range(d), k)]
        whole = [p.sum() ** 2 / n for p in products] or [1.0]
        blocks = [sum(part.sum() ** 2 for part in np.split(p, cuts)) / n for p in products] or [1.0]
        assert np.isclose(balance.whole[k - 2], min(np.mean(whole), 1.0))
        assert np.isclose(balance.evenness[0, k - 2], np.mean(blocks))
    assert 0 <= balance.left(z, np.full(d, float(n))) <= 1


@given(seeds)
def test_shares_are_the_best_there_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    root, right = rng.normal(size=(2, 2)), 2 * rng.normal(size=2)
    square = root @ root.T + 0.02 * np.eye(2)
    found = shares(square, right)
    assert found.min() >= 0
    assert found.sum() <= 1 + 1e-12
    grid = np.array([(a, b) for a in np.linspace(0, 1, 41) for b in np.linspace(0, 1 - a, 41)])

    def loss(a: Array) -> Any:
        return np.einsum("...i,ij,...j->...", a, square, a) / 2 - a @ right

    assert loss(found) <= loss(grid).min() + 1e-12


def test_many_features_are_looked_at_in_part() -> None:
    x = np.random.default_rng(0).normal(size=(3000, 40))
    balance = Balance.of(x, np.ones(3000))
    assert (balance.evenness > 0.9).all()
    assert (balance.evenness < 1.1).all()


# -- laws ---------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 80), st.integers(1, 6), st.booleans())
def test_units_places_and_constants_do_not_matter(
    seed: int, n: int, d: int, balanced: bool
) -> None:
    features, y, weight = rows(seed, n, d)
    weight = np.ones(n) if balanced else weight
    surrogate = Robust(balanced=balanced)
    one = known(surrogate.fit(features, y, weight))
    assert np.isfinite(one.scale).all()
    assert np.allclose(one.scale, one.scale.T)
    many = known(surrogate.fit(features, 1e6 * y, weight))
    assert np.allclose(many.scale, 1e12 * one.scale, rtol=1e-5, atol=1e-9)
    moved = known(surrogate.fit(features, y + 100.0, weight))
    assert np.allclose(moved.scale, one.scale, rtol=1e-5, atol=1e-9)
    order = np.random.default_rng(seed).permutation(d)
    turned = known(surrogate.fit(features[:, order], y, weight))
    assert np.allclose(turned.scale, one.scale[np.ix_(order, order)], rtol=1e-6, atol=1e-12)
    assert np.isclose(turned.df, one.df)
    flat = known(surrogate.fit(features, np.full(n, 3.0), weight))
    assert not flat.scale.any()


def test_what_does_not_move_has_no_part() -> None:
    features, y, weight = rows(1, 50, 4)
    features[:, 2] = 1.0
    for surrogate in (Robust(), Robust(balanced=True)):
        t = known(surrogate.fit(features, y, np.ones_like(weight)))
        assert t.mean[2] == 0 == t.scale[2].max() == t.scale[:, 2].max()
        assert (np.diag(t.scale)[[0, 1, 3]] > 0).all()
    still = known(Robust(balanced=True).fit(np.ones((9, 2)), y[:9], np.ones(9)))
    assert not still.scale.any()


def test_only_lines_are_robust() -> None:
    with pytest.raises(InputError, match="BayesLinear"):
        Robust(Ridge())  # type: ignore[arg-type]


# -- what they promise --------------------------------------------------------------------------


def bent(X: Any) -> Any:
    """Steps, a bend and a product: no line fits."""
    X = np.asarray(X)
    return (X[:, 0] > 0.3) + np.abs(X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.2 * X[:, 4]


DATA = np.random.default_rng(5).normal(size=(500, 5))
EXACT = replace(methods.EAGLE_BALANCED, surrogate=BayesLinear(Prior(1e-6)))
CHANCE = replace(methods.GLIME_LIME, name="chance", surrogate=Robust())


def explained(method: Method, view: Any, budget: int, seed: int) -> list[eagle.Explanation]:
    ex = eagle.Explainer(
        bent, DATA, view=view, method=method, budget=budget, random_state=seed, task="regression"
    )
    return ex.explain_many(DATA[:6], progress=False)


@pytest.mark.parametrize("view", ["binned", "continuous"])
@pytest.mark.parametrize("budget", [60, 400])
def test_intervals_cover_the_line_of_infinitely_many_rows(view: str, budget: int) -> None:
    truth = explained(EXACT, view, 2**16 + 1, 99)
    hits: dict[str, list[Any]] = {"even": [], "chance": []}
    widths: dict[str, list[Any]] = {"even": [], "chance": []}
    for name, method in (("even", methods.EAGLE_BALANCED), ("chance", CHANCE)):
        for seed in range(15):
            for e, exact in zip(explained(method, view, budget, seed), truth, strict=True):
                low, high = e.interval(0.9).T
                hits[name].append((low <= exact.scores) & (exact.scores <= high))
                widths[name].append(high - low)
    assert 0.85 < np.mean(hits["chance"]) < 0.95
    assert np.mean(hits["even"]) > 0.87
    assert np.mean(widths["even"]) < (0.9 if budget > 100 else 1.05) * np.mean(widths["chance"])


def test_the_result_says_what_its_intervals_are(tmp_path: Any) -> None:
    kinds = {
        "posterior": methods.EAGLE,
        "robust, balanced rows": methods.EAGLE_BALANCED,
        "robust": CHANCE,
        "bootstrap": methods.Bootstrapped(methods.LIME, 20),
    }
    for kind, method in kinds.items():
        (e, *_) = explained(method, "binned", 50, 0)
        assert e.posterior is not None
        assert e.posterior.kind == kind
        assert f"Intervals: {kind}" in str(e)
        e.save(tmp_path / "e.json")
        again = eagle.Explanation.load(tmp_path / "e.json")
        assert again.posterior is not None
        assert again.posterior.kind == kind
        assert np.array_equal(again.interval(), e.interval())
    (none, *_) = explained(methods.LIME, "binned", 50, 0)
    assert "Intervals" not in str(none)
    # Files of before did not say.
    old = explained(methods.EAGLE, "binned", 50, 0)[0].to_dict()
    del old["posterior"]["kind"], old["sha256"]
    old["schema"] = 2
    read = eagle.Explanation.from_dict(json.loads(json.dumps(old)))
    assert read.posterior is not None
    assert read.posterior.kind == "posterior"
