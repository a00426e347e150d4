"""The paper's guarantees, each against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_t

from eagle import theory
from eagle.errors import InputError
from eagle.surrogates.bayes import Information, Prior

seeds = st.integers(0, 2**32 - 1)


@given(
    seeds,
    st.integers(1, 8),
    st.integers(1, 60),
    st.sampled_from([0.1, 1.0, 3.0]),
    st.sampled_from([0.5, 1.0, 20.0]),
)
def test_lemma_1_and_its_tighter_form(
    seed: int, d: int, t: int, largest: float, precision: float
) -> None:
    rng = np.random.default_rng(seed)
    known, total = Information(precision * np.eye(d)), 0.0
    for _ in range(t):
        z = rng.normal(size=d)
        z *= largest * rng.uniform(0, 1) ** (1 / d) / np.linalg.norm(z)
        weight = rng.uniform()
        total += weight * known.variance(z[None])[0]
        known = known.add(z[None], np.array([weight]))
    assert total <= theory.information_bound_general(d, t, largest, precision) + 1e-9
    if largest**2 <= precision:
        assert total <= theory.information_bound(d, t) + 1e-9


def test_the_general_bound_is_tighter_and_nearly_reached() -> None:
    assert theory.information_bound_general(5, 100) < 0.73 * theory.information_bound(5, 100)
    assert np.isclose(theory.information_bound_general(1, 1), 1.0)  # and one unit point gives 1


def weighted_fit(
    rng: np.random.Generator, d: int, t: int, lam: float, sigma: float
) -> tuple[np.ndarray, np.ndarray, Information, float]:
    z, weight = rng.normal(size=(t, d)) / np.sqrt(d), rng.uniform(0.1, 1, t)
    truth = rng.normal(size=d)
    y = z @ truth + sigma * rng.normal(size=t) / np.sqrt(weight)
    known = Information(lam * np.eye(d)).add(z, weight)
    kappa = float(np.linalg.eigvalsh((z * weight[:, None]).T @ z)[0] / t)
    return known.covariance @ z.T @ (weight * y), truth, known, kappa


@pytest.mark.parametrize(("d", "lam", "delta"), [(2, 1.0, 0.2), (6, 6.0, 0.1), (4, 0.1, 0.5)])
def test_theorem_2_and_corollary_1_hold_as_often_as_they_say(
    d: int, lam: float, delta: float
) -> None:
    rng = np.random.default_rng(0)
    inside, enough = [], []
    for _ in range(400):
        found, truth, known, kappa = weighted_fit(rng, d, 150, lam, 0.3)
        error, norm = found - truth, float(np.linalg.norm(truth))
        radius = np.sqrt(error @ known.precision @ error)
        inside.append(radius <= theory.error_bound(d, 0.3, delta, norm, lam))
        accuracy = 1.05 * np.sqrt(
            theory.error_bound(d, 0.3, delta, norm, lam) ** 2 / (kappa * 150 + lam)
        )
        needed = theory.sample_size(d, 0.3, delta, norm, accuracy, kappa, lam)
        assert 100 < needed <= 150
        enough.append(np.linalg.norm(error) <= accuracy)
    assert np.mean(inside) >= 1 - delta
    assert np.mean(enough) >= 1 - delta


def test_the_noise_part_is_a_chi_square_bound() -> None:
    rng = np.random.default_rng(1)
    for d in (1, 5, 20):
        norms = np.sqrt(rng.chisquare(d, 100_000))
        for delta in (0.3, 0.05, 0.001):
            assert np.mean(norms > theory.error_radius(d, 1.0, delta)) <= delta


@given(st.floats(2.5, 60), st.integers(1, 6), seeds)
@settings(max_examples=25)
def test_entropy_is_scipys(df: float, d: int, seed: int) -> None:
    root = np.random.default_rng(seed).normal(size=(d, d)) + 2 * np.eye(d)
    scale = root @ root.T
    logdet = float(np.linalg.slogdet(scale)[1])
    assert np.isclose(
        theory.entropy(df, logdet, d), multivariate_t(np.zeros(d), scale, df).entropy()
    )


def test_expected_information_gain_by_simulation() -> None:
    """Draw φ, σ² and answers from the prior, and average the entropy that is lost."""
    rng = np.random.default_rng(2)
    n0, sigma0, d, n = 5.0, 0.7, 3, 6
    z, weight = rng.normal(size=(n, d)), rng.uniform(0.2, 1, n)
    before = Prior(2.0, 2.0).information(d - 1)
    after = before.add(z, weight)
    prior = theory.entropy(n0, float(np.log(sigma0**2) * d - before.logdet), d)
    lost = []
    for _ in range(20_000):
        sigma2 = n0 * sigma0**2 / rng.chisquare(n0)
        phi = rng.normal(size=d) * np.sqrt(sigma2 / 2.0)
        y = z @ phi + rng.normal(size=n) * np.sqrt(sigma2 / weight)
        mean = after.covariance @ z.T @ (weight * y)
        s2 = weight @ (y - z @ mean) ** 2 + 2.0 * mean @ mean
        scale = (n0 * sigma0**2 + s2) / (n0 + n)
        lost.append(prior - theory.entropy(n0 + n, float(np.log(scale) * d - after.logdet), d))
    expected = theory.expected_information_gain(before, after, n, n0)
    error = np.std(lost) / np.sqrt(len(lost))
    assert abs(np.mean(lost) - expected) < 4 * error
    assert error < 0.02


def test_only_the_determinant_depends_on_the_points() -> None:
    before = Prior(1.0, 1.0).information(2)
    rng = np.random.default_rng(3)
    rest = set()
    for _ in range(5):
        after = before.add(rng.normal(size=(4, 3)), np.ones(4))
        gain = theory.expected_information_gain(before, after, 4, 3.0) - after.gain(before)
        rest.add(round(gain, 9))
    assert len(rest) == 1


def test_arguments_that_make_no_sense() -> None:
    with pytest.raises(InputError, match="delta is a probability"):
        theory.error_radius(3, 1.0, 1.5)
    with pytest.raises(InputError, match="kappa must be a positive number"):
        theory.sample_size(3, 1.0, 0.1, 1.0, 0.1, 0.0)
