"""Laws of information and of the greedy design, over random inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle import Background
from eagle._tables.rows import TableInstances
from eagle.contracts import Kernel, Points, Space
from eagle.designs.greedy import Greedy, gain, variance_only
from eagle.errors import InputError
from eagle.kernels import Exponential, Unit, cosine_distance
from eagle.surrogates.bayes import Information, Prior, augment

seeds = st.integers(0, 2**32 - 1)


def points(seed: int, n: int, d: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d)) if seed % 2 else (rng.random((n, d)) < 0.4).astype(float)
    return z, rng.uniform(0.01, 1, n)


@given(seeds, st.integers(1, 30), st.integers(1, 8), st.sampled_from([0.1, 1.0, 7.0]))
def test_gain_is_the_growth_of_the_log_determinant(seed: int, n: int, d: int, lam: float) -> None:
    z, weight = points(seed, n, d)
    start = Prior(lam, lam).information(d)
    known, total = start, 0.0
    for row, w in zip(augment(z), weight, strict=True):
        total += 0.5 * np.log1p(w * known.variance(row[None])[0])
        known = known.add(row[None], np.array([w]))
    assert np.isclose(total, known.gain(start))


@pytest.mark.parametrize("lam", [1e-8, 1e-4, 1.0, 100.0])
def test_long_chains_of_updates_stay_true(lam: float) -> None:
    rng = np.random.default_rng(0)
    d = 100
    known = Prior(lam, lam).information(d)
    assert known.covariance.shape == (d + 1, d + 1)
    for _ in range(100):
        known = known.add(augment(rng.normal(size=(10, d))), rng.uniform(0, 1, 10))
        known = Information(known.precision, known.covariance)
    known = known.add(np.ones((1, d + 1)), np.zeros(1))
    assert np.allclose(known.covariance, np.linalg.inv(known.precision), rtol=1e-6, atol=1e-12)


@given(seeds, st.integers(1, 40), st.integers(1, 40), st.integers(1, 12))
def test_updates_equal_an_explicit_inverse(seed: int, n: int, m: int, d: int) -> None:
    z, weight = points(seed, n + m, d)
    z = augment(z)
    start = Prior(1.0, 0.5).information(d)
    first = start.add(z[:n], weight[:n])
    assert first.covariance.shape == (d + 1, d + 1)  # known, so the next step updates it
    both = first.add(z[n:], weight[n:])
    explicit = np.linalg.inv(start.precision + z.T @ np.diag(weight) @ z)
    assert np.allclose(both.covariance, explicit, atol=1e-10)
    # The covariance shrinks in the Loewner order: no direction is ever known less well.
    assert np.linalg.eigvalsh(first.covariance - both.covariance).min() > -1e-10


@given(seeds, st.integers(2, 30), st.integers(1, 6))
def test_slopes_are_what_remains_without_the_intercept(seed: int, n: int, d: int) -> None:
    z, weight = points(seed, n, d)
    start = Prior(2.0, 0.0).information(d)
    known = start.add(augment(z), weight)
    centred = z - np.average(z, axis=0, weights=weight)
    explicit = 2.0 * np.eye(d) + centred.T @ np.diag(weight) @ centred
    assert np.allclose(known.slopes().precision, explicit)
    assert np.allclose(known.slopes().covariance, known.covariance[1:, 1:])
    expected = 0.5 * np.log(np.linalg.det(explicit / 2.0))
    assert np.isclose(known.slopes().gain(start.slopes()), expected)


def test_a_free_intercept_has_no_volume_before_the_first_point() -> None:
    start = Prior().information(3)
    with pytest.raises(InputError, match="at least one point"):
        _ = start.covariance
    with pytest.raises(InputError, match="slopes alone"):
        start.add(np.ones((1, 4)), np.ones(1)).gain(start)


# -- the plan is Algorithm 1, run as a loop ---------------------------------------------------


def algorithm_1(
    design: Greedy, space: Space, kernel: Kernel, budget: int, rng: np.random.Generator
) -> Points:
    """Algorithm 1 as printed: a loop that refits after every batch, with explicit inverses.

    It even asks a black box after each batch, whose answers it then has no use for.
    """

    def z_and_weight(chosen: Points) -> tuple[Any, Any]:
        features = space.features(chosen)
        return augment(features), kernel(features, space.features(space.origin[None])[0])

    asked = space.draw(design.seeds, rng)
    asked[0] = space.origin
    prior = np.diag(design.prior.precision(asked.shape[1]))
    while len(asked) < budget:
        pool = space.draw(design.pool, rng)
        z, weight = z_and_weight(pool)
        batch: list[int] = []
        frozen = None
        for _ in range(design.batch):
            seen, seen_weight = z_and_weight(np.concatenate([asked, pool[batch]]))
            V = np.linalg.inv(prior + seen.T @ (seen * seen_weight[:, None]))
            frozen = V if frozen is None else frozen
            v = np.array([row @ (frozen if design.frozen else V) @ row for row in z])
            score = design.score(v, weight)
            score[batch] = -np.inf
            batch.append(int(np.flatnonzero(score >= score.max() * (1 - 1e-9))[0]))
        asked = np.concatenate([asked, pool[batch]])
    return asked[:budget]


@settings(max_examples=60)
@given(
    seeds,
    st.integers(1, 7),
    st.sampled_from([gain, variance_only]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([Prior(), Prior(None, None), Prior(0.3, 2.0)]),
    st.sampled_from(
        [
            Exponential(),
            Exponential(0.4, root=False),
            Exponential(0.5, distance=cosine_distance),
            Unit(),
        ]
    ),
)
def test_the_plan_is_algorithm_1_to_the_last_bit(
    seed: int, d: int, score: Any, frozen: bool, binned: bool, prior: Prior, kernel: Kernel
) -> None:
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(50, d))
    data[:, 0] = np.rint(data[:, 0])
    background = Background.of(data)
    space = TableInstances(background, background.adopt(data[:1]), binned).space(0)
    design = Greedy(score, prior, seeds=4, batch=5, pool=90, frozen=frozen)
    if kernel == Exponential(0.5, distance=cosine_distance) and not binned:
        kernel = Unit()  # angles from an anchor at the origin mean nothing
    planned = design.plan([space], kernel, 37, np.random.default_rng(seed))[0]
    looped = algorithm_1(design, space, kernel, 37, np.random.default_rng(seed))
    assert np.array_equal(planned, looped)


@settings(max_examples=5)
@given(seeds, st.sampled_from([9, 24]))
def test_so_it_is_with_the_defaults(seed: int, d: int) -> None:
    data = np.random.default_rng(seed).normal(size=(64, d))
    background = Background.of(data)
    space = TableInstances(background, background.adopt(data[:1])).space(0)
    planned = Greedy().plan([space], Exponential(), 130, np.random.default_rng(seed))[0]
    looped = algorithm_1(Greedy(), space, Exponential(), 130, np.random.default_rng(seed))
    assert np.array_equal(planned, looped)


def test_planning_together_is_planning_alone() -> None:
    data = np.random.default_rng(0).normal(size=(60, 4))
    data[:, 1] = data[:, 1] > 0.8
    background = Background.of(data)
    table = TableInstances(background, background.adopt(data[:10]))
    spaces = [table.space(i) for i in range(10)]
    together = Greedy().plan(spaces, Exponential(), 60, np.random.default_rng(3))
    for space, plan in zip(spaces, together, strict=True):
        alone = Greedy().plan([space], Exponential(), 60, np.random.default_rng(3))[0]
        assert np.array_equal(plan, alone)


@given(seeds, st.integers(1, 4))
@settings(max_examples=25)
def test_a_batch_of_one_is_the_best_there_is(seed: int, d: int) -> None:
    """Against exhaustive search: one pick maximises the determinant over the whole pool."""
    data = np.random.default_rng(seed).normal(size=(40, d))
    background = Background.of(data)
    space = TableInstances(background, background.adopt(data[:1]), binned=False).space(0)
    design, kernel = Greedy(seeds=3, batch=1, pool=30), Exponential()
    plan = design.plan([space], kernel, 4, np.random.default_rng(seed))[0]
    rng = np.random.default_rng(seed)
    first = space.draw(3, rng)
    first[0] = space.origin
    pool = space.draw(30, rng)

    def logdet(chosen: Points) -> float:
        features = space.features(chosen)
        z = augment(features)
        weight = kernel(features, np.zeros(d))
        return float(np.linalg.slogdet(np.diag([0.0] + [1.0] * d) + z.T @ (z * weight[:, None]))[1])

    best = max(logdet(np.concatenate([first, p[None]])) for p in pool)
    assert np.isclose(logdet(plan), best)


@given(seeds)
@settings(max_examples=15)
def test_a_greedy_batch_is_near_the_best_batch(seed: int) -> None:
    """Against exhaustive search over all triples: submodularity promises 1 − 1/e of the gain."""
    from itertools import combinations

    rng = np.random.default_rng(seed)
    data = rng.normal(size=(40, 3))
    background = Background.of(data)
    space = TableInstances(background, background.adopt(data[:1])).space(0)
    design, kernel = Greedy(prior=Prior(1.0, 1.0), seeds=1, batch=3, pool=12), Unit()
    plan = design.plan([space], kernel, 4, np.random.default_rng(seed))[0]
    again = np.random.default_rng(seed)
    space.draw(1, again)
    pool = space.draw(12, again)

    def information(chosen: Points) -> Information:
        z = augment(space.features(chosen))
        return Prior(1.0, 1.0).information(3).add(z, np.ones(len(z)))

    start = information(space.origin[None])
    gains = [
        information(np.concatenate([space.origin[None], pool[list(c)]])).gain(start)
        for c in combinations(range(12), 3)
    ]
    assert (1 - 1 / np.e) * max(gains) - 1e-12 <= information(plan).gain(start) <= max(gains) + 1e-9


def test_settings_that_cannot_be() -> None:
    with pytest.raises(InputError, match="batch of 20 cannot be chosen from a pool of 10"):
        Greedy(batch=20, pool=10)
    with pytest.raises(InputError, match="seeds must be an integer"):
        Greedy(seeds=0)
    with pytest.raises(InputError, match="slopes must be positive"):
        Prior(0.0)
    with pytest.raises(InputError, match="width"):
        Exponential(-1.0)
