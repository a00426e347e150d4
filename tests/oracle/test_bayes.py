"""The Bayesian line and its posterior: each number computed a second way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score

from eagle._values.posterior import StudentT
from eagle.contracts import Rows
from eagle.errors import InputError
from eagle.surrogates.bayes import BayesLinear, Prior, augment

seeds = st.integers(0, 2**32 - 1)


def sample(seed: int, n: int = 40, d: int = 4) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    z = (rng.random((n, d)) < 0.4).astype(float) if seed % 2 else rng.normal(size=(n, d))
    return z, z @ rng.normal(size=d) + rng.normal(size=n) + 3, rng.uniform(0.05, 1, n)


@given(seeds, st.sampled_from([0.01, 1.0, 30.0]))
def test_the_mean_is_scikit_learns_ridge(seed: int, lam: float) -> None:
    z, y, weight = sample(seed)
    fit = BayesLinear(Prior(lam)).fit(z, y, weight)
    ridge = Ridge(alpha=lam).fit(z, y, sample_weight=weight)
    assert np.allclose(fit.posterior.mean, ridge.coef_)
    assert np.isclose(fit.intercept, ridge.intercept_)
    assert np.isclose(fit.r2, r2_score(y, ridge.predict(z), sample_weight=weight))
    paper = BayesLinear(Prior(lam, None)).fit(z, y, weight)
    without = Ridge(alpha=lam, fit_intercept=False).fit(augment(z), y, sample_weight=weight)
    assert np.allclose(paper.joint.mean, without.coef_)


@given(seeds)
def test_the_posterior_by_the_papers_formulas(seed: int) -> None:
    z, y, weight = sample(seed)
    n0, sigma0, d = 3.0, 0.5, 4
    fit = BayesLinear(Prior(None, None), n0, sigma0).fit(z, y, weight)
    Z, W = augment(z), np.diag(weight)
    V = np.linalg.inv(Z.T @ W @ Z + d * np.eye(d + 1))
    mean = V @ Z.T @ W @ y
    s2 = (y - Z @ mean) @ W @ (y - Z @ mean) + d * mean @ mean  # with λ (A2)
    variance = (n0 * sigma0**2 + s2) / (n0 + len(y))  # a mean, not a sum (A3)
    assert np.allclose(fit.joint.mean, mean)
    assert np.isclose(fit.variance, variance)
    assert np.allclose(fit.joint.scale, variance * V)
    assert fit.joint.df == n0 + len(y)
    mean_new, scale_new = fit.predict(z[:3], weight[:3])
    assert np.allclose(mean_new, Z[:3] @ mean)
    quadratic = np.einsum("ij,jk,ik->i", Z[:3], V, Z[:3])
    assert np.allclose(scale_new**2, variance * (1 / weight[:3] + quadratic))


def test_it_is_the_posterior_by_brute_force() -> None:
    """One slope, no intercept to speak of: integrate likelihood × prior on a grid."""
    z, weight = np.array([[0.5], [1.0], [-1.0]]), np.array([1.0, 0.4, 0.7])
    y, n0, sigma0 = np.array([1.0, 1.4, -0.9]), 4.0, 0.6
    fit = BayesLinear(Prior(2.0, 1e12), n0, sigma0).fit(z, y, weight)
    phi = np.linspace(-3, 4, 1401)[:, None]
    s2 = np.exp(np.linspace(np.log(0.005), np.log(40), 1201))[None]
    log = stats.norm.logpdf(phi, 0, np.sqrt(s2 / 2.0))
    log = log + stats.invgamma.logpdf(s2, n0 / 2, scale=n0 * sigma0**2 / 2) + np.log(s2)
    for row, target, w in zip(z[:, 0], y, weight, strict=True):
        log = log + stats.norm.logpdf(target, row * phi, np.sqrt(s2 / w))
    density = np.exp(log - log.max()).sum(axis=1)
    density /= density.sum()
    mean = float(density @ phi[:, 0])
    std = float(np.sqrt(density @ (phi[:, 0] - mean) ** 2))
    assert np.isclose(fit.posterior.mean[0], mean, atol=1e-3)
    assert np.isclose(fit.posterior.std[0], std, rtol=5e-3)


@given(seeds)
@settings(max_examples=20)
def test_held_out_rows_by_leaving_each_one_out(seed: int) -> None:
    z, y, weight = sample(seed, 12, 3)
    model = BayesLinear()
    fit = model.fit(z, y, weight)
    predicted = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        without = model.fit(z[rest], y[rest], weight[rest])
        predicted.append(without.predict(z[[i]])[0][0])
    expected = r2_score(y, predicted, sample_weight=weight)
    assert np.isclose(fit.r2_held_out, expected)


@given(seeds, st.floats(0.01, 1e6))
def test_answers_scaled_scale_everything(seed: int, factor: float) -> None:
    z, y, weight = sample(seed)
    one, other = (BayesLinear().fit(z, k * y, weight) for k in (1.0, factor))
    assert np.allclose(other.posterior.mean, factor * one.posterior.mean)
    assert np.allclose(other.posterior.scale, factor**2 * one.posterior.scale)
    assert np.isclose(other.r2, one.r2)


@given(seeds)
def test_features_permuted_permute_scores(seed: int) -> None:
    z, y, weight = sample(seed)
    order = np.random.default_rng(seed).permutation(4)
    one, other = BayesLinear().fit(z, y, weight), BayesLinear().fit(z[:, order], y, weight)
    assert np.allclose(other.posterior.mean, one.posterior.mean[order])
    assert np.allclose(other.posterior.scale, one.posterior.scale[np.ix_(order, order)])


def test_a_linear_black_box_is_recovered_as_noise_goes_to_zero() -> None:
    rng = np.random.default_rng(0)
    z, truth, weight = rng.normal(size=(60, 5)), np.arange(1.0, 6.0), rng.uniform(0.1, 1, 60)
    errors, widths = [], []
    for noise in (1.0, 1e-3, 1e-6, 0.0):
        y = z @ truth - 2 + noise * rng.normal(size=60)
        fit = BayesLinear(Prior(1e-12)).fit(z, y, weight)
        errors.append(np.abs(fit.posterior.mean - truth).max())
        widths.append(np.ptp(fit.posterior.interval(0.95), axis=1).max())
    assert errors[-1] < 1e-10
    assert widths[-1] < 1e-5
    assert errors == sorted(errors, reverse=True)
    assert widths == sorted(widths, reverse=True)


def test_constant_answers_and_single_rows() -> None:
    z, weight = np.eye(3), np.ones(3)
    flat = BayesLinear().fit(z, np.full(3, 0.7), weight)
    assert np.abs(flat.posterior.mean).max() == 0
    assert np.isclose(flat.intercept, 0.7)
    assert np.isnan(flat.r2)
    single = BayesLinear().fit(z[:1], np.array([2.0]), weight[:1])
    assert np.isclose(single.intercept, 2.0)
    assert np.isnan(single.r2_held_out)
    with pytest.raises(InputError, match="3 points need as many answers"):
        BayesLinear().on(Rows.each_once(z, weight)).fit(np.ones(2))
    with pytest.raises(InputError, match="at least one point"):
        BayesLinear().on(Rows.each_once(z[:0], weight[:0]))


# -- the Student-t ------------------------------------------------------------------------------


def student(seed: int = 0, d: int = 4, df: float = 9.0) -> StudentT:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(d, d))
    return StudentT(rng.normal(size=d), root @ root.T + 0.1 * np.eye(d), df)


@given(seeds, st.floats(0.01, 0.999), st.floats(1.0, 500))
def test_marginal_intervals_and_signs_are_scipys(seed: int, level: float, df: float) -> None:
    t = student(seed, df=df)
    marginal = stats.t(df, t.mean, np.sqrt(np.diag(t.scale)))
    assert np.allclose(t.interval(level).T, marginal.interval(level), rtol=1e-6)
    positive = 1 - marginal.cdf(0)
    assert np.allclose(t.probability_sign(), np.maximum(positive, 1 - positive))
    wider, joint = t.interval(min(level + 5e-4, 0.9995)), t.interval(level, joint=True)
    assert (np.ptp(wider, axis=1) > np.ptp(t.interval(level), axis=1)).all()
    assert (np.ptp(joint, axis=1) >= np.ptp(t.interval(level), axis=1) - 1e-9).all()


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("d", [1, 2, 6])
def test_joint_intervals_hold_all_at_once(level: float, d: int) -> None:
    t = student(1, d)
    draws = stats.multivariate_t(t.mean, t.scale, t.df).rvs(200_000, random_state=3)
    draws = np.reshape(draws, (200_000, d))
    low, high = t.interval(level, joint=True).T
    held = ((draws >= low) & (draws <= high)).all(axis=1).mean()
    assert held >= level - 0.003
    if d == 1:
        assert abs(held - level) < 0.005


def test_draws_and_top_probabilities() -> None:
    t = student(5)
    ours, theirs = (
        t.draws(),
        stats.multivariate_t(t.mean, t.scale, t.df).rvs(200_000, random_state=1),
    )
    for j in range(4):
        assert stats.ks_2samp(ours[:, j], theirs[:, j]).pvalue > 1e-3
    assert np.allclose(np.cov(ours.T), t.scale * 9 / 7, atol=0.25 * np.abs(t.scale).max())
    rank = np.argsort(np.argsort(-np.abs(theirs), axis=1), axis=1)
    for k in (1, 2, 3):
        assert np.allclose(t.probability_top(k), (rank < k).mean(axis=0), atol=0.02)
        assert np.isclose(t.probability_top(k).sum(), k)
        assert np.array_equal(t.probability_top(k), t.probability_top(k))
    assert (t.probability_top(4) == 1).all()
    assert np.array_equal(t.draws(), ours)


def test_certainty_and_nonsense() -> None:
    sure = StudentT(np.array([1.0, 0.0]), np.zeros((2, 2)), 5.0)
    assert sure.probability_sign().tolist() == [1.0, 0.5]
    assert sure.interval().tolist() == [[1.0, 1.0], [0.0, 0.0]]
    with pytest.raises(InputError, match="level"):
        sure.interval(95)
    for k in (0, 1.5):
        with pytest.raises(InputError, match="k must be an integer"):
            sure.probability_top(k)  # type: ignore[arg-type]
    assert np.isinf(StudentT(np.zeros(1), np.eye(1), 2.0).std[0])
    equal = StudentT(np.array([1.0, 1.0, 0.2]), np.zeros((3, 3)), 5.0)
    assert equal.probability_top(1).tolist() == [0.5, 0.5, 0.0]
    assert StudentT(np.zeros(3), np.zeros((3, 3)), 5.0).probability_top(1).tolist() == [0, 0, 0]


def test_top_probabilities_do_not_depend_on_the_last_bits() -> None:
    t = StudentT(np.full(6, 0.3), np.eye(6), 20.0)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(6, 6)) * 1e-15
    other = StudentT(t.mean, t.scale + noise + noise.T, t.df)
    assert np.allclose(t.probability_top(2), other.probability_top(2), atol=1e-3)
