"""The Gaussian process of UnRAvEL and where it asks: each number computed a second way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import eagle
from catalogue import Heard
from eagle._sources.masks import Fair, MaskSpace
from eagle._tables.frame import frame
from eagle._tables.rows import TableInstances
from eagle.contracts import Rows, Seen
from eagle.errors import InputError
from eagle.kernels import Unit
from eagle.peers import gaussian
from eagle.peers.gaussian import Covariance, Regression, Scaled, descend, tune
from eagle.peers.unravel import Process, Unravel, within

LENGTHS = np.array([0.7, 1.3, 2.0, 5.0])


def sample(seed: int, n: int = 90) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4)) if seed % 2 else (rng.random((n, 4)) < 0.5).astype(float)
    y = np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=n)
    return x, y - y.mean()


def process(seed: int) -> Regression:
    x, y = sample(seed)
    return Regression.on(Covariance(1.7, LENGTHS, 0.4, 0.05), x, y)


def sklearns(x: Any, y: Any) -> GaussianProcessRegressor:
    kernel = 1.7 * RBF(LENGTHS) + ConstantKernel(0.4) + WhiteKernel(0.05)
    return GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(x, y)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_likelihood_mean_and_variance_are_scikit_learns(seed: int) -> None:
    x, y = sample(seed)
    mine, other = process(seed), sklearns(x, y)
    assert np.isclose(mine.likelihood, other.log_marginal_likelihood_value_, rtol=1e-8)
    there = np.random.default_rng(9).normal(size=(300, 4))
    mean, variance = mine.predict(there)
    expected, std = other.predict(there, return_std=True)
    assert np.allclose(mean, expected, atol=1e-8)
    assert np.allclose(variance + 0.05, std**2, atol=1e-8)  # scikit-learn's has the noise in it


@pytest.mark.parametrize("seed", [1, 2])
def test_the_gradient_by_finite_differences(seed: int) -> None:
    mine = process(seed)

    def value(logs: Any) -> float:
        return Regression.on(Covariance.of_logs(logs), mine.features, mine.y).likelihood

    numeric = optimize.approx_fprime(mine.covariance.logs, value, 1e-6)
    assert np.allclose(mine.gradient(), numeric, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_tuning_finds_what_scipys_optimiser_finds(seed: int) -> None:
    x, y = sample(seed)
    y = Scaled.of(y).values
    found = tune(x, y, 1, 200)
    logs = Covariance.start(4).logs
    bounds = np.log([gaussian.VARIANCE, *[gaussian.LENGTH] * 4, gaussian.BIAS, gaussian.NOISE])

    def loss(at: Any) -> Any:
        one = Regression.on(Covariance.of_logs(at), x, y)
        return -one.likelihood, -one.gradient()

    other = optimize.minimize(loss, logs, jac=True, bounds=bounds)
    assert found.likelihood >= -other.fun - 1e-3


def test_the_way_down_stops_at_bounds() -> None:
    def bowl(x: Any) -> Any:
        if x[0] < -0.5:
            return math.inf, np.zeros(3)
        scale = np.array([1.0, 10.0, 100.0])
        return float(scale @ (x - [0.3, 2.0, -3.0]) ** 2), 2 * scale * (x - [0.3, 2.0, -3.0])

    place, value = descend(bowl, np.zeros(3), np.full(3, -1.0), np.full(3, 1.0), 100)
    assert np.allclose(place, [0.3, 1.0, -1.0], atol=1e-6)
    assert np.isclose(value, 10.0 + 400.0)


def test_the_features_that_matter_come_first() -> None:
    x = np.random.default_rng(4).uniform(-1, 1, size=(80, 5))
    x = np.column_stack([x, np.ones(80)])
    y = np.sin(3 * x[:, 1]) + x[:, 3] ** 2
    fit = Process().fit(x, y, np.ones(80))
    assert set(np.argsort(-fit.scores)[:2]) == {1, 3}
    assert fit.scores.max() == 1
    assert np.sort(fit.scores)[-2] > 5 * np.sort(fit.scores)[-3]
    assert fit.scores[5] == 0  # it never moved
    assert fit.r2 > 0.99
    assert np.isclose(fit.local, y[0], atol=0.05)
    assert not fit.signed
    assert math.isnan(fit.intercept)
    up = Process().fit(x, y + 1000.0, np.ones(80))
    assert np.allclose(up.scores, fit.scores, atol=1e-9)
    assert np.isclose(up.local - fit.local, 1000)
    swap = [3, 1, 0, 2, 4, 5]
    swapped = Process().fit(x[:, swap], y, np.ones(80))
    assert np.allclose(swapped.scores, fit.scores[swap], atol=1e-4)


def test_flat_answers_say_nothing() -> None:
    x, _ = sample(1)
    fit = Process().fit(x, np.full(len(x), 3.0), np.ones(len(x)))
    assert not fit.scores.any()
    assert fit.local == 3
    assert math.isnan(fit.r2)
    assert not Process().fit(np.ones((9, 2)), np.arange(9.0), np.ones(9)).scores.any()


def space(view: str) -> Any:
    X = np.random.default_rng(5).normal(size=(100, 3)) * [1, 5, 0.1]
    return TableInstances(eagle.Background.of(X), frame(X[:1]), binned=view == "binned").space(0)


def seen(place: Any, n: int) -> Seen:
    points = place.draw(n, np.random.default_rng(6))
    points[0] = place.origin
    return answered(place, points)


def answered(place: Any, points: Any) -> Seen:
    features = place.features(points)
    rows = Rows.each_once(features, np.ones(len(points)))
    return Seen(points, rows, np.sin(features[:, 0]) + features[:, 1])


class Trembling(np.random.Generator):
    """A generator whose normal numbers are always the given ε."""

    epsilon = 0.0

    def standard_normal(self, *args: Any, **kwargs: Any) -> Any:
        return self.epsilon


@pytest.mark.parametrize("view", ["binned", "continuous"])
@pytest.mark.parametrize(("n", "epsilon"), [(2, 0.4), (2, -1.3), (12, 0.0), (12, 1.6), (12, -2.5)])
def test_fur_by_scikit_learns_process_and_distances_in_a_loop(
    view: str, n: int, epsilon: float
) -> None:
    """s − ‖x − x0 − σ̄ε/ln n‖₂ of every candidate, and the candidate that has most of it.

    Features are in standard deviations, so σ̄ is 1; n counts the rows with the one to come.
    """
    place = Heard(space(view))
    known = seen(place.space, n)
    rng = Trembling(np.random.PCG64(8))
    rng.epsilon = epsilon
    design = Unravel(pool=60, most=5)
    (pick,) = design.ask(known, place, Unit(), 5, rng)
    (pool,) = [
        points
        for points in place.points
        if len(points) > 1 and points.shape[1] == 3 and len(points) <= 60
    ]
    x = place.space.features(pool)
    expected = []
    own = place.space.features(place.space.origin[None])[0]
    kernel = tuned_kernel(known)
    y = (known.y - known.y.mean()) / known.y.std()
    gp = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(known.rows.features, y)
    noise = kernel.k2.noise_level
    for row in x:
        far = 0.0
        for j in range(3):
            far += (row[j] - own[j] - epsilon / math.log(n + 1)) ** 2
        _, std = gp.predict(row[None], return_std=True)
        unsure = math.sqrt(max(float(std[0]) ** 2 - noise, 0.0))
        expected.append(unsure - math.sqrt(far))
    assert np.allclose(design._score(known, place.space, x, epsilon / math.log(n + 1)), expected)
    assert np.array_equal(pick, pool[int(np.argmax(expected))])
    asked = {tuple(row) for row in np.round(known.rows.features, 12).tolist()}
    if view == "continuous":
        assert not asked & {tuple(row) for row in np.round(x, 12).tolist()}


def tuned_kernel(known: Seen) -> Any:
    """What tuning finds, which has oracles of its own above, as scikit-learn writes it."""
    y = (known.y - known.y.mean()) / known.y.std()
    c = tune(known.rows.features, y, 1, 5).covariance
    return (
        ConstantKernel(c.variance) * RBF(c.lengths) + ConstantKernel(c.bias) + WhiteKernel(c.noise)
    )


@pytest.mark.parametrize("view", ["binned", "continuous", "masks"])
def test_candidates_are_new_and_the_pool_is_in_the_box(view: str) -> None:
    place = Heard(MaskSpace(5, Fair()) if view == "masks" else space(view))
    once = np.unique(seen(place.space, 12).points, axis=0)  # the instance, all kept, comes first
    known = answered(place.space, once)
    design = Unravel(interval=0.8, pool=500)
    design.ask(known, place, Unit(), 5, np.random.default_rng(1))
    pool = max((p for p in place.points if len(p) <= 500), key=len)
    before = {row.tobytes() for row in place.space.values(known.points)}
    rows = [row.tobytes() for row in place.space.values(pool)]
    assert not before & set(rows)
    assert len(set(rows)) == len(rows)
    if view == "masks":
        assert len(rows) == 32 - len(before)
    if view == "continuous":
        x = place.space.features(pool)
        assert np.abs(x).max() <= 0.8
        assert np.abs(x).max(axis=0).min() > 0.7


def test_offsets_stay_in_the_box_and_matches_keep_their_law() -> None:
    draw = np.random.default_rng(1)
    place = space("continuous")
    points = within(place, 0.5, place.draw(4000, draw))
    offsets = place.features(points)
    assert np.abs(offsets).max() <= 0.5
    cut = stats.truncnorm(-0.5, 0.5)
    assert all(stats.kstest(column, cut.cdf).pvalue > 1e-4 for column in offsets.T)
    place = space("binned")
    points = place.draw(50, draw)
    assert np.array_equal(within(place, 0.5, points), points)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Process(restarts=0),
        lambda: Process(most=0),
        lambda: Unravel(interval=-1.0),
        lambda: Unravel(pool=0),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any) -> None:
    with pytest.raises(InputError):
        make()
