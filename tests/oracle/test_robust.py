"""Robust intervals against their formulas written out, and against what they promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import eagle
from eagle import Method, methods, peers
from eagle._values.arrays import UNBOUNDED, Range
from eagle._values.posterior import StudentT, signs_together
from eagle.contracts import Array, Rows
from eagle.errors import InputError
from eagle.surrogates.bayes import BayesLinear, Prior, augment
from eagle.surrogates.ridge import Ridge
from eagle.surrogates.robust import Residuals, Robust
from eagle.surrogates.variance import Balance, beyond, shares

seeds = st.integers(0, 2**32 - 1)


def rows(seed: int, n: int, d: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d)) if seed % 2 else (rng.random((n, d)) < 0.4).astype(float)
    return z, np.sin(2 * z).sum(axis=1) + z[:, 0] * z[:, -1], rng.uniform(0.2, 1, n)


def known(fit: Any) -> StudentT:
    assert isinstance(fit.posterior, StudentT)
    return fit.posterior


# -- by the formula -----------------------------------------------------------------------------


def slowly(features: Array, y: Array, weight: Array, lam: float, ends: Range, left: float) -> Any:
    """Scores, scale and degrees of freedom row by row, for rows of which balance leaves `left`."""
    n, d = features.shape
    z = augment(features)
    prior = np.diag([0.0] + [lam] * d)
    inverse = np.linalg.inv(z.T @ np.diag(weight) @ z + prior)
    mean = inverse @ z.T @ (weight * y)
    hats = [(inverse @ row * w)[1:] for row, w in zip(z, weight, strict=True)]
    leverage = [w * row @ inverse @ row for row, w in zip(z, weight, strict=True)]
    e = np.array([(y[i] - z[i] @ mean) / np.sqrt(1 - leverage[i]) for i in range(n)])
    plain = sum(np.outer(h * r, h * r) for h, r in zip(hats, e, strict=True))
    even = sum(np.outer(h, h) for h in hats)
    square, carriers = np.mean(e**2), (e**2).sum() ** 2 / (e**4).sum()
    few = min(1.0, 10 / carriers)
    gap = max(0.0, max(y.min() - ends[0], ends[1] - y.max()) - np.ptp(y)) if ends[1] < 9e9 else 0
    unseen = square * min(1.0, 4 / carriers) / carriers + gap**2 / n
    noise = left * ((1 - few) * plain + few * square * even) + unseen * even
    way = (inverse @ prior)[1:, 1:]
    powers = [np.linalg.matrix_power(way, k) for k in range(7)]
    bias = np.sum(powers[1:4], axis=0) @ mean[1:]
    more: Array = np.sum(powers[1:7], axis=0)
    for j in range(d):
        column = np.array([h[j] ** 2 for h in hats])
        rare = min(1.0, 12 / (column.sum() ** 2 / (column**2).sum())) ** 8
        if rare > 0.05:
            bias[j] = (1 - rare) * bias[j] + rare * more[j] @ mean[1:]
            powers[0][j] += rare * more[j]
    noise = powers[0] @ noise @ powers[0].T
    return mean[1:], noise + np.outer(bias, bias)


@given(
    seeds,
    st.integers(8, 60),
    st.integers(1, 5),
    st.sampled_from([1e-3, 1.0, 20.0]),
    st.sampled_from([UNBOUNDED, (-30.0, 9.0)]),
)
def test_the_sandwich_row_by_row(seed: int, n: int, d: int, lam: float, ends: Range) -> None:
    features, y, weight = rows(seed, n, d)
    features[0] = 1.0
    features[1] = 0.0  # all move
    scores, scale = slowly(features, y, weight, lam, ends, 1.0)
    ready = Robust(BayesLinear(Prior(lam))).on(Rows.each_once(features, weight))
    fit = ready.fit(y, ends)
    assert np.allclose(fit.scores, scores)
    assert np.allclose(known(fit).scale, scale, rtol=1e-6, atol=1e-12)
    assert known(fit).kind == "robust"
    assert np.isclose(known(fit).df, ready.df)
    assert np.isclose(fit.r2_held_out, ready.line.fit(y).r2_held_out, equal_nan=True)


@given(seeds, st.integers(24, 120), st.integers(2, 3), st.sampled_from([UNBOUNDED, (-30.0, 9.0)]))
def test_balanced_rows_row_by_row(seed: int, n: int, d: int, ends: Range) -> None:
    """With up to three features no pair has a third that is compared with others."""
    features, y, _ = rows(seed, n, d)
    features[0] = 1.0
    features[1] = 0.0
    weight = np.full(n, 0.4)
    ready = Robust(balanced=True).on(Rows.each_once(features, weight, balanced=True))
    assert ready.balance is not None
    line = ready.line.fit(y)
    e = (y - ready.line.z @ line.mean) / np.sqrt(ready.line.left)
    pull = ready.line.hat[1:].T * e[:, None]
    found = ready.balance.share_left(pull[1:], (pull**2).sum(axis=0))
    usual = 1 - 0.4 * (1 - ready.balance.whole).sum()
    left = max(found, 0.02) ** (2 / 3) * max(usual, 0.02) ** (1 / 3)
    _, scale = slowly(features, y, weight, 1.0, ends, left)
    df = max(1 / (1 / ready.df + (1 - left) / 4), min(ready.df, 3))
    tails = max(1 - 2 / df, 1 / 3) / max(1 - 2 / ready.df, 1 / 3)
    fit = ready.fit(y, ends)
    assert np.isclose(known(fit).df, df)
    assert np.allclose(known(fit).scale, tails * scale, rtol=1e-6, atol=1e-12)
    held = (y - ready.line.z @ line.mean) / (1 - left * (1 - ready.line.left))
    assert np.isclose(fit.r2_held_out, 1 - (held**2).sum() / ((y - y.mean()) ** 2).sum())


def test_a_pair_that_acts_together_widens_the_third_that_it_meets() -> None:
    rng = np.random.default_rng(4)
    n, d = 200, 6
    features = rng.normal(size=(n, d))
    features[:, 5] += 0.4 * features[:, 0] * features[:, 1]  # the rows are uneven in this triple
    ready = Robust(balanced=True).on(Rows.each_once(features, np.ones(n), balanced=True))
    assert ready.pairs is not None
    e = rng.normal(size=n) + 3 * features[:, 0] * features[:, 1]
    x = (features - features.mean(axis=0)) / features.std(axis=0)
    expected, count = np.zeros(d), d * (d - 1) / 2
    for a, b in combinations(range(d), 2):
        product = x[:, a] * x[:, b]
        strength = (e * product).mean() ** 2
        strength -= (2 * np.log(count) + 2) * (e**2 * product**2).sum() / n**2
        others = [c for c in range(d) if c not in (a, b)]
        slopes = {c: (ready.hat[:, c] * features[:, c].std()) @ product for c in others}
        for c in others:
            beside = slopes[c] - np.mean(list(slopes.values()))
            expected[c] += max(strength, 0.0) * (beside / features[:, c].std()) ** 2
    found = ready.pairs.aliasing(e)
    assert np.allclose(found, expected)
    assert found.argmax() == 5
    assert not ready.pairs.aliasing(rng.normal(size=n)).any()  # noise names no pair


def test_degrees_of_freedom_are_those_of_the_variance_under_noise() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(25, 4))
    ready = Robust(BayesLinear(Prior(1e-9))).on(Rows.each_once(features, np.ones(25)))
    drawn = []
    for _ in range(4000):
        y = rng.normal(size=25)
        misfit = Residuals.of(ready, y, ready.line.fit(y).mean, UNBOUNDED)
        drawn.append(np.diag(misfit.plain) * misfit.unit**2)
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
    assert 0 <= balance.share_left(z, np.full(d, float(n))) <= 1


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


@given(
    seeds,
    st.integers(1, 80),
    st.integers(1, 6),
    st.booleans(),
    st.sampled_from([1e-6, 0.5, -0.5, -3e7]),
    st.floats(-10, 10),
)
def test_bounds_move_with_the_answers(
    seed: int, n: int, d: int, balanced: bool, by: float, shift: float
) -> None:
    features, y, weight = rows(seed, n, d)
    rows_ = Rows.each_once(features, np.ones(n) if balanced else weight, balanced)
    ready = Robust(balanced=balanced).on(rows_)
    ends = (float(y.min()) - 7.0, float(y.max()) + 9.0)
    one = ready.fit(y, ends)
    there = sorted(by * np.array(ends) + shift)
    other = ready.fit(by * y + shift, (there[0], there[1]))
    size = np.diag(known(one).scale).max()
    slack = 1e-6 * size + 1e-12
    assert np.allclose(known(other).scale / by**2, known(one).scale, rtol=1e-5, atol=slack)
    assert np.isclose(known(other).df, known(one).df)
    assert np.isclose(other.r2_held_out, one.r2_held_out, equal_nan=True, atol=1e-6)


@given(seeds, st.integers(1, 80), st.integers(1, 6), st.booleans())
def test_wider_bounds_never_narrow_an_interval(seed: int, n: int, d: int, balanced: bool) -> None:
    features, y, weight = rows(seed, n, d)
    rows_ = Rows.each_once(features, np.ones(n) if balanced else weight, balanced)
    ready = Robust(balanced=balanced).on(rows_)
    spreads = []
    for far in (0.0, 1.0, 5.0, 40.0):
        fit = ready.fit(y, (float(y.min()) - far, float(y.max()) + far / 2))
        assert np.array_equal(fit.scores, ready.line.fit(y).scores)  # bounds move no score
        spreads.append(known(fit).spread)
    unknown = known(ready.fit(y)).spread
    assert np.allclose(unknown, spreads[0])  # answers at both ends: nothing is left to be seen
    for narrow, wide in pairwise(spreads):
        assert (wide >= narrow * (1 - 1e-9)).all()


def test_how_far_beyond_the_answers_the_model_may_reach() -> None:
    y = np.array([0.1, 0.3])
    assert beyond(y, UNBOUNDED) == 0
    assert np.isclose(beyond(y, (0.0, 1.0)), 0.5)  # 0.7 up, and 0.2 of it were seen
    assert np.isclose(beyond(y, (-2.0, np.inf)), 1.9)
    assert beyond(np.array([0.2, 0.9]), (0.0, 1.0)) == 0


def test_flat_answers_are_sure_only_where_nothing_else_can_be_answered() -> None:
    features, _, _ = rows(2, 60, 4)
    ready = Robust(balanced=True).on(Rows.each_once(features, np.ones(60), balanced=True))
    y = np.full(60, 0.98)
    assert not known(ready.fit(y)).scale.any()
    bounded = ready.fit(y, (0.0, 1.0))
    assert (known(bounded).spread > 0).all()
    assert (known(bounded).probability_sign() == 0.5).all()
    assert np.isnan(bounded.r2_held_out)


@pytest.mark.parametrize("ends", [UNBOUNDED, (-1e4, 1e4)])
def test_a_linear_model_is_known_exactly(ends: Range) -> None:
    rng = np.random.default_rng(3)
    features, slopes = rng.normal(size=(100, 6)), np.array([3.0, -2.0, 1.0, 0.0, 0.5, 1e-3])
    line = BayesLinear(Prior(1e-12))
    ready = Robust(line, balanced=True).on(Rows.each_once(features, np.ones(100), balanced=True))
    y = 7.0 + features @ slopes
    t = known(ready.fit(y))
    assert t.spread.max() < 1e-12
    assert np.allclose(t.mean, slopes, atol=1e-11)
    low, high = known(ready.fit(y, ends)).interval(0.9).T
    assert ((low - 1e-11 <= slopes) & (slopes <= high + 1e-11)).all()
    assert np.isclose(ready.fit(y, ends).r2_held_out, 1.0)


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
CHANCE = replace(peers.GLIME_LIME, name="chance", surrogate=Robust())


def explained(method: Method, view: Any, budget: int, seed: int) -> Sequence[eagle.Explanation]:
    ex = eagle.Explainer(
        bent,
        eagle.Table(DATA, view=view),
        method=method,
        budget=budget,
        random_state=seed,
        task="regression",
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


def jump(X: Any) -> Any:
    """Hardly anything, but for a jump that few rows make."""
    X = np.asarray(X)
    return 1e-5 * np.tanh(X[:, 1]) + 0.8 * (X[:, 0] > 2.6)


def test_what_was_not_seen_is_never_certain() -> None:
    data = np.random.default_rng(3).normal(size=(400, 8))
    certain = surely = 0
    for seed in range(30):
        ex = eagle.Explainer(
            jump,
            eagle.Table(data, view="continuous"),
            budget=50,
            random_state=seed,
            task="regression",
        )
        e = ex.explain(np.zeros(8))
        ready = Robust(balanced=True).on(e.evidence.rows(Robust(balanced=True)))
        y = e.evidence.answers[:, 0]
        first = np.abs(e.scores).argmax() == 1
        certain += first and known(ready.fit(y)).probability_sign()[1] >= 0.99
        bounded = known(ready.fit(y, (0.0, 1.0)))
        surely += first and bounded.probability_sign()[1] >= 0.99
        assert not (bounded.probability_top(1)[1] > 0.9 and first)
    assert certain >= 10  # without bounds nothing says that there is more
    assert surely == 0


def pair(X: Any) -> Any:
    """Two features that act together, among eight that do not."""
    X = np.asarray(X)
    return 0.5 * np.tanh(X[:, 2]) + 0.3 * X[:, 4] * X[:, 5]


def test_joint_intervals_hold_beside_a_pair_that_the_rows_alias() -> None:
    data = np.random.default_rng(1).normal(size=(400, 10))
    x = data[:3]
    held: list[Any] = []
    narrow: list[Any] = []

    def run(method: Method, budget: int, seed: int) -> Sequence[eagle.Explanation]:
        ex = eagle.Explainer(
            pair,
            eagle.Table(data, view="continuous"),
            method=method,
            budget=budget,
            random_state=seed,
            task="regression",
        )
        return ex.explain_many(x, progress=False)

    truth = run(EXACT, 2**15 + 1, 99)
    for seed in range(24):
        for e, exact in zip(run(methods.EAGLE_BALANCED, 500, seed), truth, strict=True):
            ready = Robust(balanced=True).on(e.evidence.rows(Robust(balanced=True)))
            for told, fitter in ((held, ready), (narrow, replace(ready, pairs=None))):
                t = known(fitter.fit(e.evidence.answers[:, 0]))
                low, high = t.interval(0.9, joint=True).T
                told.append(((low <= exact.scores) & (exact.scores <= high)).all())
    assert np.mean(held) > 0.85
    assert np.mean(narrow) < np.mean(held)


def test_a_level_that_hardly_ever_changes_is_covered_at_few_rows() -> None:
    rng = np.random.default_rng(1)
    data = rng.normal(size=(600, 8))
    data[:, 0] = rng.random(600) < 0.93

    def levels(X: Any) -> Any:
        X = np.asarray(X)
        return (X[:, 0] == 1) + 0.5 * np.tanh(X[:, 2]) + 0.4 * np.abs(X[:, 3]) * X[:, 4]

    x = data[data[:, 0] == 1][:4]

    def run(method: Method, budget: int, seed: int) -> Sequence[eagle.Explanation]:
        ex = eagle.Explainer(
            levels,
            eagle.Table(data, categories=[0]),
            method=method,
            budget=budget,
            random_state=seed,
            task="regression",
        )
        return ex.explain_many(x, progress=False)

    truth, held = run(EXACT, 2**15 + 1, 99), []
    for seed in range(20):
        for e, exact in zip(run(methods.EAGLE_BALANCED, 50, seed), truth, strict=True):
            if np.ptp(e.evidence.features[:, 0]):
                low, high = e.interval(0.9)[0]
                held.append(low <= exact.scores[0] <= high)
    assert np.mean(held) > 0.8


@given(seeds, st.integers(1, 30))
def test_signs_are_told_together_by_a_mixture_of_sizes(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    alone, spread = rng.uniform(0.5, 1.0, d), rng.uniform(0.1, 2.0, d)
    far = stats.norm.ppf(np.minimum(alone, 1 - 1e-15))
    effect = far * spread
    largest = 4 * np.sqrt(np.mean(effect**2) + np.mean(spread**2))
    sizes = np.geomspace(spread.min() / 2, largest, 9)
    shares_, density = np.full(9, 1 / 9), np.empty((d, 9))
    for j in range(d):
        density[j] = stats.norm.pdf(effect[j], scale=np.hypot(spread[j], sizes))
    for _ in range(30):
        mine = np.array([row * shares_ / (row @ shares_) for row in density])
        shares_ = (mine.sum(axis=0) + 1 / 9) / (d + 1)
    expected = np.zeros(d)
    for j in range(d):
        for share, size, likely in zip(shares_, sizes, density[j], strict=True):
            shrink = size**2 / (size**2 + spread[j] ** 2)
            sign = stats.norm.cdf(shrink * effect[j] / (np.sqrt(shrink) * spread[j]))
            expected[j] += share * likely * sign / (density[j] @ shares_)
    found = signs_together(alone, spread)
    assert np.allclose(found, expected, atol=1e-9)
    assert ((found >= 0.5) & (found <= alone + 1e-9)).all()
    assert np.allclose(signs_together(alone, 1e-150 * spread), found)


def test_signs_that_are_told_together_are_right_as_often_as_said() -> None:
    rng = np.random.default_rng(0)
    said: dict[str, list[Any]] = {"alone": [], "together": []}
    for _ in range(400):
        effect = rng.normal(size=12) * np.where(rng.random(12) < 0.5, 0.5, 4.0)
        seen = effect + rng.normal(size=12)
        right = np.sign(seen) == np.sign(effect)
        for name, pooled in (("alone", False), ("together", True)):
            t = StudentT(seen, np.eye(12), np.inf, pooled=pooled)
            sure = t.probability_sign()
            said[name] += right[(sure > 0.85) & (sure < 0.95)].tolist()
    assert np.mean(said["alone"]) < 0.82
    assert 0.84 < np.mean(said["together"]) < 0.95


def test_the_result_says_what_its_intervals_are(tmp_path: Any) -> None:
    kinds = {
        "posterior": methods.EAGLE,
        "robust, balanced rows": methods.EAGLE_BALANCED,
        "robust": CHANCE,
        "bootstrap": peers.with_bootstrap(peers.LIME, 20),
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
        assert np.array_equal(again.probability_sign(), e.probability_sign())
    (none, *_) = explained(peers.LIME, "binned", 50, 0)
    assert "Intervals" not in str(none)
