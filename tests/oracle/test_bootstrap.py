"""The bootstrap by hand, by a formula, and by counting how often it is right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import eagle
from eagle import peers
from eagle._values.arrays import UNBOUNDED, Array, Points, Range
from eagle._values.posterior import Draws
from eagle.contracts import NOTHING, Kernel, Rows, Seen, Space
from eagle.errors import InputError
from eagle.peers import selection as select
from eagle.peers.baylime import BayesRidge
from eagle.peers.bootstrap import Bootstrap
from eagle.surrogates.bayes import BayesLinear
from eagle.surrogates.fit import Fitted, Fitter
from eagle.surrogates.ridge import Ridge

seeds = st.integers(0, 2**32 - 1)


def sample(seed: int, n: int = 150, d: int = 3, noise: float = 0.7) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d))
    return z, z @ np.arange(1.0, d + 1) + noise * rng.normal(size=n) + 2, rng.uniform(0.2, 1, n)


def draws(surrogate: Bootstrap, z: Array, y: Array, weight: Array) -> Draws:
    posterior = surrogate.fit(Rows.each_once(z, weight), y).posterior
    assert isinstance(posterior, Draws)
    return posterior


# -- by hand ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "surrogate",
    [
        Ridge(),
        Ridge(0.1, select.Forward(2)),
        Ridge(1.0, select.Highest(1)),
        BayesLinear(),
        Ridge(1.0, select.LassoPath(2)),
        BayesRidge(),
        BayesRidge(1.0, 2.0, 0.5),
    ],
    ids=repr,
)
def test_a_row_drawn_twice_is_a_row_there_twice(surrogate: Any) -> None:
    """Each resample by the surrogate itself on rows that are really repeated."""
    z, y, weight = sample(1, 40)
    boot = Bootstrap(surrogate, 8)
    repeats = boot._repeats(40).astype(int)
    assert (repeats[:, 0] == 1).all()  # the instance is always there
    assert (repeats.sum(axis=1) == 40).all()
    for i, value in enumerate(draws(boot, z, y, weight).values):
        rows = np.repeat(np.arange(40), repeats[i])
        again = surrogate.on(Rows.each_once(z[rows], weight[rows])).fit(y[rows])
        assert np.allclose(value, again.scores, rtol=1e-6, atol=1e-8)


def test_rows_are_drawn_evenly_and_always_the_same() -> None:
    repeats = Bootstrap(Ridge(), 4000)._repeats(30)
    assert np.array_equal(repeats, Bootstrap(Ridge(), 4000)._repeats(30))
    assert not np.array_equal(repeats[0], repeats[1])
    # Each of 29 rows is drawn Binomial(29, 1/29) times: mean 1, variance 28/29.
    assert np.allclose(repeats[:, 1:].mean(axis=0), 1, atol=5 / np.sqrt(4000))
    assert np.allclose(repeats[:, 1:].var(axis=0), 28 / 29, atol=0.15)
    assert Bootstrap(Ridge(), 3)._repeats(1).tolist() == [[1.0]] * 3


@given(seeds)
@settings(max_examples=10)
def test_the_fit_itself_is_the_surrogates_own(seed: int) -> None:
    z, y, weight = sample(seed, 40)
    for inner in (Ridge(), BayesRidge(), Ridge(1.0, select.Forward(1))):
        one, other = inner.fit(z, y, weight), Bootstrap(inner, 3).fit(Rows.each_once(z, weight), y)
        assert np.array_equal(one.scores, other.scores)
        mine = [one.intercept, one.local, one.r2, one.r2_held_out]
        boots = [other.intercept, other.local, other.r2, other.r2_held_out]
        assert np.array_equal(mine, boots, equal_nan=True)
        assert np.array_equal(draws(Bootstrap(inner, 3), z, y, weight).mean, one.scores)


# -- by a formula -------------------------------------------------------------------------------


@pytest.mark.parametrize("uneven", [False, True])
def test_the_spread_is_the_sandwichs(uneven: bool) -> None:
    """(XᵀWX)⁻¹ XᵀW diag(e²) WX (XᵀWX)⁻¹, also where the noise grows with the features; and where
    it does not, and rows weigh the same, it is the σ²(XᵀX)⁻¹ of least squares."""
    z, _, weight = sample(2, 400)
    weight = weight if uneven else np.ones(400)
    rng = np.random.default_rng(3)
    size = 0.3 + np.abs(z[:, 0]) if uneven else np.full(400, 0.7)
    y = z @ [1.0, 2.0, 3.0] + size * rng.normal(size=400)
    ours = draws(Bootstrap(Ridge(1e-9), 400), z, y, weight)
    x = np.column_stack([np.ones(400), z])
    bread = np.linalg.inv(x.T @ (weight[:, None] * x))
    left = y - x @ (bread @ x.T @ (weight * y))
    sandwich = bread @ (x.T * (weight * left) ** 2) @ x @ bread
    assert np.allclose(ours.std, np.sqrt(np.diag(sandwich))[1:], rtol=0.16)
    least = np.sqrt(left @ left / 396 * np.diag(np.linalg.inv(x.T @ x)))[1:]
    if uneven:
        assert ours.std[0] > 1.2 * least[0]  # least squares would be too sure here
    else:
        assert np.allclose(ours.std, least, rtol=0.16)


# -- draws --------------------------------------------------------------------------------------


def some(seed: int, n: int = 150, d: int = 4) -> Draws:
    """Correlated, skewed, partly exactly 0 as after a selection, around a mean that is off."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)
    values[:, 0] = np.exp(values[:, 0] / 2)
    values[:, 1] *= rng.random(n) < rng.choice([0.02, 0.3, 0.9])
    return Draws(values.mean(axis=0) + rng.choice([0.0, 0.5, 5.0]) * rng.normal(size=d), values)


@given(seeds, st.floats(0.05, 0.99))
def test_intervals_are_numpys_quantiles(seed: int, level: float) -> None:
    found = some(seed)
    low, high = found.interval(level).T
    assert np.allclose(low, np.quantile(found.values, (1 - level) / 2, axis=0))
    assert np.allclose(high, np.quantile(found.values, (1 + level) / 2, axis=0))
    assert np.allclose(found.std, found.values.std(axis=0, ddof=1))


@given(seeds, st.floats(0.05, 0.99), st.sampled_from([2, 7, 10, 50, 200]))
def test_joint_intervals_hold_that_share_of_draws_at_once(seed: int, level: float, n: int) -> None:
    """Also where a selection leaves most draws at 0, and where the mean is not among them."""
    found = some(seed, n)
    low, high = found.interval(level, joint=True).T
    held = ((low <= found.values) & (found.values <= high)).all(axis=1).mean()
    assert held >= level
    one = found.interval(level)
    assert (low <= one[:, 0]).all()
    assert (high >= one[:, 1]).all()
    wider = found.interval(level + 0.009, joint=True)
    assert (wider[:, 0] <= low).all()
    assert (wider[:, 1] >= high).all()


def test_joint_intervals_are_not_needlessly_wide() -> None:
    """Of independent normal draws they are about as wide as the exact box."""
    values = np.random.default_rng(0).normal(size=(20_000, 3))
    found = Draws(np.zeros(3), values).interval(0.9, joint=True)
    exact = norm.ppf((1 + 0.9 ** (1 / 3)) / 2)
    assert np.allclose(found, [[-exact, exact]] * 3, atol=0.08)
    single = Draws(np.zeros(1), values[:, :1])
    assert np.allclose(single.interval(0.9, joint=True), single.interval(0.9), atol=0.01)
    assert Draws(np.zeros(0), values[:, :0]).interval(0.9, joint=True).shape == (0, 2)


@given(seeds, st.integers(1, 6))
@settings(max_examples=30)
def test_signs_and_tops_are_counted(seed: int, k: int) -> None:
    found = some(seed)
    signs = found.probability_sign()
    tops = found.probability_top(k)
    for j in range(4):
        column, mean = found.values[:, j], found.mean[j]
        same = [0.5 if v == 0 else float(np.sign(v) == np.sign(mean)) for v in column]
        assert np.isclose(signs[j], np.mean(same))
        rank = [sum(abs(w) > abs(v[j]) for w in v) for v in found.values]
        there = [r < k and v[j] != 0 for r, v in zip(rank, found.values, strict=True)]
        assert np.isclose(tops[j], np.mean(there) if k < 4 else 1.0)


def test_a_mean_of_zero_has_either_sign() -> None:
    found = Draws(np.zeros(2), np.array([[1.0, 0.0], [2.0, 0.0]]))
    assert found.probability_sign().tolist() == [0.5, 0.5]
    with pytest.raises(InputError, match="level"):
        found.interval(1.5)
    with pytest.raises(InputError, match="k must be an integer"):
        found.probability_top(0)


# -- methods ------------------------------------------------------------------------------------


def bent(X: Array) -> Array:
    return np.tanh(X[:, 0]) * X[:, 1] + X[:, 2]


@pytest.mark.parametrize("method", [peers.LIME, peers.GLIME, peers.sparse_lime(select.Forward(2))])
def test_any_planned_method_has_intervals_for_nothing(method: Any) -> None:
    data = np.random.default_rng(0).normal(size=(100, 4))
    asked: list[int] = []

    def model(X: Array) -> Array:
        asked.append(len(X))
        return bent(X)

    plain = eagle.Explainer(model, data, method=method, budget=200).explain(data[[1]])
    ours = peers.with_bootstrap(method, 40)
    e = eagle.Explainer(model, data, method=ours, budget=200).explain(data[[1]])
    assert asked == [200, 200]  # one call each
    assert e.cost.calls == 1
    assert np.array_equal(e.scores, plain.scores)
    assert np.array_equal(e.evidence.points, plain.evidence.points)
    assert (e.intercept, e.local_prediction, e.r2) == (
        plain.intercept,
        plain.local_prediction,
        plain.r2,
    )
    assert plain.posterior is None
    low, high = e.interval(0.9).T
    assert (low <= high).all()
    assert (low < high).any()
    assert e.method == f"{method.name} (bootstrap)"
    again = eagle.Explanation.from_dict(e.to_dict())
    assert np.array_equal(again.interval(0.9, joint=True), e.interval(0.9, joint=True))
    assert np.array_equal(again.about(e.target).interval(0.9), e.interval(0.9))


@dataclass(frozen=True)
class Twice:
    """An adaptive design: asks the instance, then random rows."""

    needs: ClassVar = NOTHING
    balanced: ClassVar = False

    def longest(self, space: Space, budget: int) -> int:
        return budget

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return np.ones(len(features))

    def ask(
        self, seen: Seen, space: Space, kernel: Kernel, left: int, rng: np.random.Generator
    ) -> Points:
        return space.origin[None] if not len(seen) else space.draw(min(left, 5), rng)


def test_rows_chosen_by_answers_cannot_be_resampled() -> None:
    adaptive = replace(peers.LIME, name="Twice", design=Twice())
    assert not adaptive.planned
    with pytest.raises(InputError, match="Twice chooses rows by the answers before"):
        peers.with_bootstrap(adaptive)


@pytest.mark.parametrize("resamples", [1, 0, -5, 2.5, "many", None])
def test_a_bootstrap_needs_resamples(resamples: Any) -> None:
    with pytest.raises(InputError, match="resamples must be an integer of at least 2"):
        Bootstrap(Ridge(), resamples)


def test_resamples_are_told_the_bounds_of_the_answers() -> None:
    told: list[Range] = []

    class Listening:
        needs = NOTHING

        def memory(self, n: int, d: int) -> int:
            return 0

        def on(self, rows: Rows) -> Fitter:
            inner = Ridge().on(rows)

            class Heard:
                nbytes, shared = 0, ()

                def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fitted:
                    told.append(bounds)
                    return inner.fit(y, bounds)

            return Heard()

    rng = np.random.default_rng(0)
    rows = Rows.each_once(rng.normal(size=(12, 2)), np.ones(12))
    Bootstrap(Listening(), 3).on(rows).fit(rng.random(12), (0.0, 1.0))
    assert told == [(0.0, 1.0)] * 4
