"""BayLIME's surrogate: by scikit-learn, by closed forms, and by climbing the evidence itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn.linear_model import BayesianRidge

import eagle
from eagle import peers
from eagle._values.posterior import StudentT
from eagle.contracts import Array, Rows
from eagle.errors import InputError
from eagle.kernels import Exponential
from eagle.peers.baylime import HYPER, BayesRidge
from eagle.surrogates.fit import Fit, weighted_r2

seeds = st.integers(0, 2**32 - 1)


def sample(seed: int, n: int = 80, d: int = 5) -> tuple[Array, Array, Array]:
    """Binary or continuous rows with unequal weights, and answers that are mostly a line."""
    rng = np.random.default_rng(seed)
    z = (rng.random((n, d)) < 0.4).astype(float) if seed % 2 else rng.normal(size=(n, d))
    y = z @ rng.normal(size=d) + rng.uniform(0.05, 0.7) * rng.normal(size=n) + 3
    return z, y, rng.uniform(0.05, 1, n)


def centred(z: Array, y: Array, weight: Array) -> tuple[Array, Array]:
    return z - np.average(z, axis=0, weights=weight), y - np.average(y, weights=weight)


def covariance(fit: Fit) -> Array:
    assert isinstance(fit.posterior, StudentT)
    assert np.isinf(fit.posterior.df)
    assert np.array_equal(fit.posterior.mean, fit.scores)
    return fit.posterior.scale


def precisions(fit: Fit, z: Array, y: Array, weight: Array) -> tuple[float, float]:
    """α and λ, read off Σ⁻¹ = λI + αXᵀWX."""
    x, _ = centred(z, y, weight)
    eigen, basis = np.linalg.eigh(x.T @ (weight[:, None] * x))
    spread = np.diag(basis.T @ covariance(fit) @ basis)
    both = np.column_stack([eigen, np.ones(len(eigen))]) * spread[:, None]
    (alpha, lam), _, _, _ = np.linalg.lstsq(both, np.ones(len(eigen)))
    assert np.allclose(both @ [alpha, lam], 1, rtol=1e-5)
    return float(alpha), float(lam)


def scikit_learns(z: Array, y: Array, weight: Array, **how: float) -> Any:
    """Its BayesianRidge on rows scaled by √weight, which are N rows to it in every version. Given
    the weights themselves, it counts Σπ from 1.7 on."""
    x, lift = centred(z, y, weight)
    model = BayesianRidge(max_iter=10_000, tol=1e-14, fit_intercept=False, **how)
    return model.fit(x * np.sqrt(weight)[:, None], lift * np.sqrt(weight))


def hyper(z: Array, y: Array, weight: Array) -> dict[str, float]:
    """Our hyper-priors, which are in units of the answers' variance and of the mean weight."""
    total = float(weight @ centred(z, y, weight)[1] ** 2)
    rates = {"alpha_2": HYPER * total / len(y), "lambda_2": HYPER * total / weight.sum()}
    return {"alpha_1": HYPER, "lambda_1": HYPER, **rates}


# -- nothing given ------------------------------------------------------------------------------


@given(seeds)
@settings(max_examples=25)
def test_scikit_learns_bayesian_ridge(seed: int) -> None:
    z, y, weight = sample(seed)
    fit = BayesRidge(most=10_000, tolerance=1e-14).fit(z, y, weight)
    theirs = scikit_learns(z, y, weight, **hyper(z, y, weight))
    assert np.allclose(fit.scores, theirs.coef_, rtol=1e-9, atol=1e-9)
    assert np.allclose(covariance(fit), theirs.sigma_, rtol=1e-8, atol=1e-12)
    alpha, lam = precisions(fit, z, y, weight)
    assert np.isclose(alpha, theirs.alpha_, rtol=1e-6)
    assert np.isclose(lam, theirs.lambda_, rtol=1e-6)


@given(seeds)
@settings(max_examples=25)
def test_the_default_tolerance_is_tight(seed: int) -> None:
    z, y, weight = sample(seed)
    fit = BayesRidge().fit(z, y, weight)
    theirs = scikit_learns(z, y, weight, **hyper(z, y, weight))
    assert np.allclose(fit.scores, theirs.coef_, rtol=1e-6, atol=1e-7)
    alpha, lam = precisions(fit, z, y, weight)
    assert np.isclose(alpha, theirs.alpha_, rtol=1e-5)
    assert np.isclose(lam, theirs.lambda_, rtol=1e-5)
    assert np.allclose(covariance(fit), theirs.sigma_, rtol=1e-5, atol=1e-10)
    as_shipped = scikit_learns(z, y, weight)
    assert np.allclose(fit.scores, as_shipped.coef_, rtol=1e-4, atol=1e-5)
    assert np.allclose(covariance(fit), as_shipped.sigma_, rtol=1e-2, atol=1e-8)


def density(z: Array, y: Array, weight: Array, alpha: float, lam: float) -> Any:
    """The law of √weight × answer about the weighted means, N(0, I/α + XXᵀ/λ), and X."""
    x = centred(z, y, weight)[0] * np.sqrt(weight)[:, None]
    return stats.multivariate_normal(np.zeros(len(y)), np.eye(len(y)) / alpha + x @ x.T / lam), x


def climbed(z: Array, y: Array, weight: Array, lam: float | None = None) -> tuple[float, float]:
    """α and λ where that density of the answers is largest, by an optimiser that knows no
    formula; or α alone, where λ is given."""
    seen = centred(z, y, weight)[1] * np.sqrt(weight)

    def loss(logs: Any) -> float:
        both = np.exp(logs) if lam is None else (float(np.exp(logs[0])), lam)
        return -float(density(z, y, weight, *both)[0].logpdf(seen))

    start = [0.0, 0.0] if lam is None else [0.0]
    how = {"xatol": 1e-7, "fatol": 1e-10, "maxiter": 2000}
    top = optimize.minimize(loss, start, method="Nelder-Mead", options=how)
    assert top.success
    alpha, *rest = np.exp(top.x)
    return float(alpha), float(rest[0]) if lam is None else lam


UNEQUAL = {
    "kernel": lambda rng: rng.uniform(0.05, 1, 25),
    "small": lambda rng: 1e-3 * rng.uniform(0.05, 1, 25),
    "planned several times": lambda rng: rng.integers(1, 5, 25) * rng.uniform(0.2, 1, 25),
}


@pytest.mark.parametrize("weigh", UNEQUAL.values(), ids=UNEQUAL)
@pytest.mark.parametrize("seed", range(3))
def test_it_climbs_the_evidence_to_its_top(seed: int, weigh: Any) -> None:
    """And there the scores are what scores and answers, jointly normal, say of the scores: they
    have the covariance Xᵀ/λ with the answers, so E = XᵀC⁻¹y/λ and I/λ − XᵀC⁻¹X/λ²."""
    z, y, _ = sample(seed, 25, 3)
    weight = weigh(np.random.default_rng(seed))
    alpha, lam = climbed(z, y, weight)
    fit = BayesRidge().fit(z, y, weight)
    assert np.allclose(precisions(fit, z, y, weight), (alpha, lam), rtol=1e-3)
    law, x = density(z, y, weight, alpha, lam)
    seen = centred(z, y, weight)[1] * np.sqrt(weight)
    assert np.allclose(fit.scores, x.T @ np.linalg.solve(law.cov, seen) / lam, rtol=1e-3)
    spread = np.eye(3) / lam - x.T @ np.linalg.solve(law.cov, x) / lam**2
    assert np.allclose(covariance(fit), spread, rtol=2e-3, atol=1e-3 * spread.max())


@given(seeds, st.sampled_from([1e-6, 0.3, 7.0, 1e6]))
@settings(max_examples=20)
def test_the_unit_of_weights_plays_no_part(seed: int, factor: float) -> None:
    z, y, weight = sample(seed)
    for way in (BayesRidge(), BayesRidge(precision=2.0, mean=0.3)):
        one, other = (way.fit(z, y, k * weight) for k in (1.0, factor))
        assert np.allclose(other.scores, one.scores, rtol=1e-7, atol=1e-9)
        assert np.allclose(covariance(other), covariance(one), rtol=1e-6, atol=1e-12)


def test_a_row_that_weighs_nothing_says_nothing() -> None:
    z, y, weight = sample(3)
    some = np.concatenate([weight, np.zeros(300)])
    more = np.random.default_rng(0).normal(size=(300, 5))
    one = BayesRidge().fit(z, y, weight)
    other = BayesRidge().fit(np.vstack([z, more]), np.concatenate([y, more[:, 0]]), some)
    assert np.allclose(other.scores, one.scores, rtol=1e-9)
    assert np.allclose(covariance(other), covariance(one), rtol=1e-8, atol=1e-14)


def test_a_row_planned_several_times_is_one_observation() -> None:
    """Three columns of three levels: of 500 rows planned 27 are asked, and count as 27."""
    data = np.random.default_rng(0).choice(3, size=(200, 3), p=[0.5, 0.3, 0.2])
    e = eagle.Explainer(
        lambda X: np.exp(X[:, 0]) - X[:, 1] * X[:, 2],
        eagle.Table(data, categories=[0, 1, 2]),
        method=peers.BAYLIME,
        budget=500,
    ).explain(data[[0]])
    z, y, weight = e.evidence.features, e.evidence.answers[:, 0], e.evidence.weight
    assert len(y) == 27
    assert weight.sum() > 100
    fit = BayesRidge().fit(z, y, weight)
    assert np.allclose(fit.scores, e.scores)
    stationary(fit, z, y, weight, np.zeros(3))


@pytest.mark.parametrize(("n", "d"), [(12, 8), (8, 20), (3, 2), (2, 6), (1, 4), (60, 40)])
@pytest.mark.parametrize("way", [BayesRidge(), BayesRidge(precision=1.0)])
def test_rows_that_weigh_less_than_one_a_feature(way: BayesRidge, n: int, d: int) -> None:
    """There MacKay's step for the noise, (n − γ)/RSS, would leap below 0. The law still holds."""
    rng = np.random.default_rng(n)
    z = rng.normal(size=(n, d))
    truth, noise = z @ rng.normal(size=d), rng.normal(size=n)
    for y in (truth, noise, truth + noise, 1e-6 * truth, np.full(n, 0.3)):
        for weight in (rng.uniform(0.01, 0.3, n), np.ones(n), np.full(n, 1e-3)):
            weight[0] = 1.0
            fit = way.fit(z, y, weight)
            assert np.isfinite(fit.scores).all()
            assert np.isfinite([fit.intercept, fit.local]).all()
            values = np.linalg.eigvalsh(covariance(fit))
            assert values[0] > -1e-14 * values[-1]
            assert (np.diag(covariance(fit)) > 0).all()
            if n > 1 and np.ptp(y) > 1e-3:
                stationary(fit, z, y, weight, np.zeros(d))


def stationary(fit: Fit, z: Array, y: Array, weight: Array, prior: Any) -> None:
    """α·RSS + γ = N, up to hyper-priors that are small beside the answers' own variance."""
    x, lift = centred(z, y, weight)
    unit = float(weight @ (lift - x @ prior) ** 2) / len(y)
    alpha, _ = precisions(fit, z, y, weight)
    known = alpha * np.trace(x.T @ (weight[:, None] * x) @ covariance(fit))
    left = float(weight @ (lift - x @ fit.scores) ** 2) + 2 * HYPER * unit
    assert np.isclose(alpha * left + known, len(y) + 2 * HYPER, rtol=5e-3)


@given(seeds, st.sampled_from([1e-9, 1e-4, 1e5, 1e9]))
@settings(max_examples=20)
def test_answers_scaled_scale_everything(seed: int, factor: float) -> None:
    """Also where variances are far from 1: the hyper-priors are in the answers' own units."""
    z, y, weight = sample(seed)
    one, other = (BayesRidge().fit(z, k * y, weight) for k in (1.0, factor))
    assert np.allclose(other.scores, factor * one.scores, rtol=1e-6, atol=1e-9 * factor)
    assert np.allclose(covariance(other), factor**2 * covariance(one), rtol=1e-5, atol=0)
    assert np.isclose(other.r2, one.r2)


def test_a_column_that_never_changes_keeps_its_prior() -> None:
    z, y, weight = sample(2)
    z[:, 3] = 1.0
    fit = BayesRidge().fit(z, y, weight)
    theirs = scikit_learns(z, y, weight, **hyper(z, y, weight))
    assert np.allclose(fit.scores, theirs.coef_, rtol=1e-6, atol=1e-9)
    assert np.allclose(covariance(fit), theirs.sigma_, rtol=1e-5, atol=1e-10)
    given_ = BayesRidge(noise=2.0, precision=4.0, mean=(0.0, 0.0, 0.0, 5.0, 0.0)).fit(z, y, weight)
    assert np.isclose(given_.scores[3], 5.0)
    assert np.isclose(covariance(given_)[3, 3], 1 / 4.0)
    assert np.abs(np.delete(covariance(given_)[3], 3)).max() < 1e-15


# -- the prior's precision given ----------------------------------------------------------------


@given(seeds, st.sampled_from([0.01, 1.0, 50.0]), st.booleans())
@settings(max_examples=40)
def test_the_noise_alone_is_at_its_fixed_point(seed: int, lam: float, prior: bool) -> None:
    z, y, weight = sample(seed)
    mean = tuple(np.random.default_rng(seed).normal(size=5).tolist()) if prior else 0.0
    fit = BayesRidge(precision=lam, mean=mean).fit(z, y, weight)
    x, lift = centred(z, y, weight)
    alpha, found = precisions(fit, z, y, weight)
    assert np.isclose(found, lam, rtol=1e-6)
    gram = x.T @ (weight[:, None] * x)
    known = np.trace(alpha * gram @ np.linalg.inv(lam * np.eye(5) + alpha * gram))
    left = float(weight @ (lift - x @ fit.scores) ** 2)
    assert np.isclose(alpha, (len(y) - known) / left, rtol=1e-3)
    stationary(fit, z, y, weight, np.broadcast_to(mean, (5,)))
    closed(fit, z, y, weight, alpha, lam, np.broadcast_to(mean, (5,)), 1e-6)


def closed(
    fit: Fit, z: Array, y: Array, weight: Array, alpha: float, lam: float, prior: Any, rtol: float
) -> None:
    """Σ = (λI + αXᵀWX)⁻¹ and μ = Σ(λμ₀ + αXᵀWy) about the weighted means, written out."""
    x, lift = centred(z, y, weight)
    W = np.diag(weight)
    sigma = np.linalg.inv(lam * np.eye(z.shape[1]) + alpha * x.T @ W @ x)
    mean = sigma @ (lam * np.asarray(prior) + alpha * x.T @ W @ lift)
    intercept = np.average(y, weights=weight) - np.average(z, axis=0, weights=weight) @ mean
    assert np.allclose(covariance(fit), sigma, rtol=rtol, atol=1e-12)
    assert np.allclose(fit.scores, mean, rtol=rtol, atol=1e-9)
    assert np.isclose(fit.intercept, intercept, rtol=rtol, atol=1e-9)
    assert np.isclose(fit.local, intercept + z[0] @ mean, rtol=rtol, atol=1e-9)
    assert np.isclose(fit.r2, weighted_r2(y, intercept + z @ mean, weight), rtol=rtol, atol=1e-9)


# -- all given ----------------------------------------------------------------------------------


@given(seeds, st.sampled_from([0.1, 1.0, 20.0]), st.sampled_from([0.5, 3.0, 1000.0]))
@settings(max_examples=40)
def test_the_whole_covariance_carries_the_prior_mean(seed: int, alpha: float, lam: float) -> None:
    z, y, weight = sample(seed)
    z[:, 1] += 2 * z[:, 0]  # so that Σ is far from its diagonal
    prior = np.random.default_rng(seed).normal(size=5) * 3
    fit = BayesRidge(alpha, lam, tuple(prior.tolist())).fit(z, y, weight)
    closed(fit, z, y, weight, alpha, lam, prior, 1e-9)
    without = BayesRidge(alpha, lam).fit(z, y, weight)
    sigma = covariance(fit)
    assert np.allclose(fit.scores - without.scores, lam * sigma @ prior, rtol=1e-8, atol=1e-9)
    # BayLIME's code adds λΣ_jjμ₀_j alone, which is not the posterior:
    assert not np.allclose(fit.scores - without.scores, lam * np.diag(sigma) * prior, rtol=1e-3)


@given(seeds, st.floats(0.5, 0.999))
@settings(max_examples=20)
def test_intervals_are_scipys_normal(seed: int, level: float) -> None:
    z, y, weight = sample(seed)
    fit = BayesRidge(2.0, 3.0, 0.4).fit(z, y, weight)
    assert fit.posterior is not None
    normal = stats.norm(fit.scores, np.sqrt(np.diag(covariance(fit))))
    assert np.allclose(fit.posterior.interval(level).T, normal.interval(level), rtol=1e-9)
    assert np.allclose(fit.posterior.std, normal.std())
    positive = normal.sf(0)
    assert np.allclose(fit.posterior.probability_sign(), np.maximum(positive, 1 - positive))


def test_joint_intervals_hold_all_scores_at_once() -> None:
    z, y, weight = sample(0)
    fit = BayesRidge().fit(z, y, weight)
    assert fit.posterior is not None
    draws = stats.multivariate_normal(fit.scores, covariance(fit)).rvs(50_000, random_state=0)
    low, high = fit.posterior.interval(0.9, joint=True).T
    assert ((low <= draws) & (draws <= high)).all(axis=1).mean() >= 0.897


@pytest.mark.parametrize("binary", [False, True])
def test_intervals_cover_when_nothing_is_given(binary: bool) -> None:
    """At 100 rows under LIME's kernel, precisions found: 90% hold 90%, if rows are counted. By
    their weights, which sum to half of that, 98% would."""
    rng = np.random.default_rng(0)
    held = []
    for _ in range(300):
        z = (rng.random((100, 8)) < 0.25).astype(float) if binary else rng.normal(size=(100, 8))
        z[0] = float(binary)
        weight = Exponential()(z, z[0])
        truth = 2 * rng.normal(size=8)
        y = 0.3 + z @ truth + 0.4 * rng.normal(size=100) / np.sqrt(weight)
        fit = BayesRidge().fit(z, y, weight)
        assert fit.posterior is not None
        low, high = fit.posterior.interval(0.9).T
        held.append((low <= truth) & (truth <= high))
    assert abs(np.mean(held) - 0.9) < 0.03


# -- rows held out ------------------------------------------------------------------------------


@given(seeds)
@settings(max_examples=15)
def test_held_out_rows_by_leaving_each_one_out(seed: int) -> None:
    """At the precisions of the whole fit, given or found."""
    z, y, weight = sample(seed, 15, 3)
    for way in (BayesRidge(2.0, 3.0), BayesRidge(precision=1.0), BayesRidge()):
        fit = way.fit(z, y, weight)
        alpha, lam = precisions(fit, z, y, weight)
        fixed, predicted = BayesRidge(alpha, lam), []
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            without = fixed.fit(z[rest], y[rest], weight[rest])
            predicted.append(without.intercept + z[i] @ without.scores)
        expected = weighted_r2(y, np.array(predicted), weight)
        assert np.isclose(fit.r2_held_out, expected, rtol=1e-5, atol=1e-7)


def test_a_prior_that_moves_the_scores_has_no_rows_held_out() -> None:
    z, y, weight = sample(0)
    assert np.isnan(BayesRidge(1.0, 1.0, 0.5).fit(z, y, weight).r2_held_out)


# -- sentences ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings_", "sentence"),
    [
        ({"noise": 0.0, "precision": 1.0}, "noise of a prior must be a positive number, not 0.0"),
        ({"noise": 1.0, "precision": -1.0}, "precision of a prior must be a positive number"),
        ({"precision": float("nan")}, "precision of a prior must be a positive number, not nan"),
        ({"precision": float("inf")}, "precision of a prior must be a positive number, not inf"),
        ({"noise": 1.0}, "a known noise needs a known precision"),
        ({"mean": 0.5}, "a prior mean needs a precision"),
        ({"precision": 1.0, "mean": float("nan")}, "a prior mean is a number, or one for each"),
        ({"precision": 1.0, "mean": ((1.0, 2.0),)}, "a prior mean is a number, or one for each"),
        ({"most": 0}, "integer of at least 1"),
        ({"tolerance": -1.0}, "tolerance"),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(settings_: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        BayesRidge(**settings_)


def test_a_prior_mean_of_another_size() -> None:
    z, y, weight = sample(0)
    with pytest.raises(InputError, match="mean of 3 numbers does not fit 5 features"):
        BayesRidge(1.0, 1.0, (1.0, 2.0, 3.0)).fit(z, y, weight)
    with pytest.raises(InputError, match="80 points need as many answers"):
        BayesRidge().on(Rows.each_once(z, weight)).fit(y[:-1])


def test_methods_are_what_they_say() -> None:
    assert peers.BAYLIME.surrogate == BayesRidge()
    assert peers.baylime_with_prior(3.0).surrogate == BayesRidge(None, 3.0)
    full = peers.baylime_with_prior(3.0, (1.0, 2.0), noise=2.0)
    assert full.surrogate == BayesRidge(2.0, 3.0, (1.0, 2.0))
    assert (peers.baylime_with_prior(3.0).name, full.name) == (
        "BayLIME (partial)",
        "BayLIME (full)",
    )
