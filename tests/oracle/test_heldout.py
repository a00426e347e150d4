"""Held-out lines beside their definition, row by row, and beside known truths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from eagle._values.arrays import Array
from eagle.contracts import Rows
from eagle.errors import InputError
from eagle.surrogates.heldout import MIN_ROWS_CHANGED, Cautious, HeldOut

SIZES = [(12, 30), (40, 7), (25, 25)]


def drawn(n: int, d: int, seed: int = 0) -> tuple[Array, Array]:
    """An instance and n rows of normal offsets, and answers that no line fits."""
    rng = np.random.default_rng(seed)
    z = np.concatenate([np.zeros((1, d)), rng.normal(size=(n, d))])
    return z, np.sin(z[:, 0]) + z[:, 1] * z[:, 2] + 3.0


def by_definition(rows: Rows, y: Array, ridge: float) -> tuple[Array, Array]:
    """Scores and standard errors: each row is left out in turn, with all its copies."""
    z, often, y = rows.features[1:], rows.repeats[1:], y[1:]
    share = often / often.sum()
    x = z - share @ z
    variance = share @ x**2
    apart = y - share @ y
    strength = ridge * variance.sum() * np.eye(x.shape[1])
    each = []
    for i in range(len(x)):
        others = np.arange(len(x)) != i
        left, weight = x[others], often[others]
        moment = left.T @ (weight * apart[others])
        slopes = np.linalg.solve(left.T @ (weight[:, None] * left) + strength, moment)
        miss = apart[i] - x[i] @ slopes
        # What is known of the slopes has the row in it; what it adds is its miss alone.
        every = x.T @ (often * apart)
        whole = np.linalg.solve(x.T @ (often[:, None] * x) + strength, every)
        pull = np.linalg.solve(x.T @ (often[:, None] * x) + strength, often[i] * x[i])
        each.append(whole - pull * miss + miss * x[i] / variance)
    mean = share @ np.array(each)
    around = share[:, None] * (np.array(each) - mean)
    n = len(x)
    return mean, np.sqrt((around**2).sum(axis=0) * n / (n - 1))


@pytest.mark.parametrize(("n", "d"), SIZES)
@pytest.mark.parametrize("ridge", [1.0, 0.1])
def test_scores_and_errors_are_those_of_the_definition(n: int, d: int, ridge: float) -> None:
    z, y = drawn(n, d)
    often = 1.0 + (np.arange(n + 1) % 3 == 1)
    rows = Rows(z, 0.3 * often, often)
    fit = HeldOut(ridge).on(rows).fit(y)
    scores, errors = by_definition(rows, y, ridge)
    assert np.allclose(fit.scores, scores, rtol=1e-9, atol=1e-12)
    assert fit.posterior is not None
    assert isinstance(fit.posterior, Cautious)
    assert np.allclose(fit.posterior.plain.spread, errors, rtol=1e-9)
    assert fit.posterior.kind == "held out"


@pytest.mark.parametrize(("n", "d"), SIZES)
def test_classes_against_one_another_are_differences(n: int, d: int) -> None:
    z, y = drawn(n, d)
    other = np.cos(z[:, 1])
    fitter = HeldOut().on(Rows.each_once(z, np.ones(n + 1)))
    apart = fitter.fit(y).scores - fitter.fit(other).scores
    assert np.allclose(fitter.fit(y - other).scores, apart, atol=1e-10)


def test_intervals_hold_the_truth_with_more_features_than_rows() -> None:
    d, n, held, strong = 60, 40, [], []
    truth = np.where(np.arange(d) < 3, 1.0, 0.05)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        ranks = rng.permuted(np.repeat(np.arange(n)[:, None], d, axis=1), axis=0)
        z = np.concatenate([np.zeros((1, d)), norm.ppf((ranks + rng.random((n, d))) / n)])
        y = z @ truth + 0.5 * z[:, 0] * z[:, 1]
        rows = Rows.each_once(z, np.ones(n + 1))
        low, high = HeldOut().on(rows).fit(y).posterior.interval(0.9).T  # type: ignore[union-attr]
        hit = (low <= truth) & (truth <= high)
        held.append(hit.mean())
        strong.append(hit[:3].mean())
    assert 0.86 < np.mean(held) < 0.94
    assert 0.82 < np.mean(strong) < 0.97


def test_probabilities_know_that_most_of_many_scores_are_small() -> None:
    d, said, wrong, worse = 300, 0, 0, 0
    truth = np.where(np.arange(d) < 3, 1.0, 1e-9)
    for seed in range(8):
        z = np.concatenate([np.zeros((1, d)), np.random.default_rng(seed).normal(size=(200, d))])
        posterior = HeldOut().fit(z, z @ truth, np.ones(201)).posterior
        assert isinstance(posterior, Cautious)
        sure = posterior.probability_sign() >= 0.99
        said, wrong = said + sure.sum(), wrong + (sure & (posterior.mean < 0)).sum()
        rash = posterior.plain.probability_sign() >= 0.99
        worse += (rash & (posterior.mean < 0)).sum()
        assert set(np.argsort(posterior.probability_top(3))[-3:]) == {0, 1, 2}
    assert said > 16
    assert wrong <= 0.02 * said
    assert worse > 20 * wrong


def test_signs_of_small_scores_are_not_sure_beside_large_ones() -> None:
    """One normal law for all scores is as wide as the large ones, and believes the small ones."""
    large, said, wrong, rash = 40, 0, 0, 0
    for seed in range(10):
        truth = np.where(np.arange(300) < large, 5.0, 0.0)
        mean = truth + np.random.default_rng(seed).normal(size=300)
        posterior = Cautious(mean, np.eye(300), 400.0, 1.0)
        sure = posterior.probability_sign() >= 0.99
        said, wrong = said + sure[:large].sum(), wrong + sure[large:].sum()
        rash += (posterior.shrunk.probability_sign()[large:] >= 0.99).sum()
    assert said > 0.9 * 10 * large
    assert wrong < 0.03 * said
    assert rash > 2 * wrong


def test_the_shared_prior_is_what_errors_do_not_explain() -> None:
    mean, square = np.array([2.0, -1.0, 0.5, 0.0]), np.array([1.0, 0.25, 0.5, 0.0])
    trust = np.array([1.0, 16.0, 4.0, 0.0])
    size = trust @ (mean**2 / 4 - square) / trust.sum()
    found = Cautious(mean, np.diag(square), 9.0, 4.0).shrunk
    kept = max(size, 0.0) / (max(size, 0.0) + square[:3])
    assert np.allclose(found.mean[:3], kept * mean[:3])
    assert np.allclose(np.diag(found.factor)[:3], kept * square[:3])


def matches(n: int, changed: int) -> Array:
    """An instance of ones, and rows of which so many change the first feature."""
    z = np.ones((n + 1, 2))
    z[1 : changed + 1, 0] = 0.0
    z[1::2, 1] = 0.0
    return z


@pytest.mark.parametrize("often", ["changed", "kept"])
def test_nothing_is_claimed_of_what_hardly_ever_changed_or_stayed(often: str) -> None:
    y = np.random.default_rng(0).normal(size=41)
    for few, says in ((MIN_ROWS_CHANGED - 1, False), (MIN_ROWS_CHANGED, True)):
        z = matches(40, few if often == "changed" else 40 - few)
        fit = HeldOut().fit(z, y, np.ones(41))
        assert fit.posterior is not None
        low, high = fit.posterior.interval(0.9).T
        assert (high - low < 2 * np.ptp(y)).tolist() == [says, True]
        assert fit.posterior.probability_sign()[0] < 0.99 or says


def test_without_more_rows_than_features_there_is_no_fit_to_speak_of() -> None:
    z, y = drawn(20, 20)
    few = HeldOut().fit(z, y, np.ones(21))
    assert np.isnan([few.r2, few.r2_held_out]).all()
    z, y = drawn(60, 20)
    more = HeldOut().fit(z, y, np.ones(61))
    assert more.r2 > more.r2_held_out


@pytest.mark.parametrize("n", [0, 1, 5])
def test_answers_that_are_all_the_same_teach_nothing(n: int) -> None:
    z = drawn(n, 4)[0]
    fit = HeldOut().fit(z, np.full(n + 1, 7.5), np.ones(n + 1))
    assert (fit.scores == 0).all()
    assert fit.local == fit.intercept == 7.5


def test_what_never_changed_scores_nothing_and_claims_nothing() -> None:
    z, y = drawn(30, 4)
    z[:, 3] = 0.0
    fit = HeldOut().fit(z, y, np.ones(31))
    assert fit.scores[3] == 0
    assert fit.posterior is not None
    assert (fit.posterior.interval()[3] == 0).all()


def test_answers_of_any_size_give_scores_of_that_size() -> None:
    z, y = drawn(30, 6)
    one, large = (HeldOut().fit(z, unit * y, np.ones(31)) for unit in (1.0, 1e120))
    assert np.allclose(large.scores, 1e120 * one.scores)
    assert large.r2 == pytest.approx(one.r2)


@pytest.mark.parametrize("ridge", [0, -1.0, float("nan"), "one"])
def test_a_ridge_is_positive(ridge: object) -> None:
    with pytest.raises(InputError, match="ridge must be a positive number"):
        HeldOut(ridge)  # type: ignore[arg-type]


def test_rows_are_needed() -> None:
    with pytest.raises(InputError, match="at least one point"):
        HeldOut().on(Rows.each_once(np.empty((0, 2)), np.empty(0)))
