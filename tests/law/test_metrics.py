"""Properties of every metric for all scores: bounds and invariances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from eagle._values.arrays import Array
from eagle.metrics import faith, stability, truth
from eagle.surrogates.bayes import Prior
from evaluation import sampling
from evaluation.consistency import consistency, rank_similarity, sign_entropy

# Ties, zeros and both signs are common; the rest is spread over many orders of magnitude.
SCORE = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e6, 1e6, allow_nan=False).filter(lambda v: v == 0 or abs(v) > 1e-6),
)
SHAPE = hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=7)
RUNS = hnp.arrays(np.float64, SHAPE, elements=SCORE)
PLACES = st.integers(1, 9)


def apart(scores: Array) -> bool:
    """Whether no two sizes of a run are equal: otherwise another order breaks ties differently."""
    return all(len(np.unique(np.abs(row))) == len(row) for row in scores)


@given(RUNS, PLACES)
def test_bounds(scores: Array, k: int) -> None:
    assert 0 <= stability.jaccard(scores, k) <= 1
    assert 0 <= truth.agreement(scores[1:], scores[0], k) <= 1
    assert 0 <= sign_entropy(scores) <= 1
    assert 0 <= rank_similarity(scores) <= 1
    assert 0 <= consistency(scores) <= 1
    assert consistency(scores) <= rank_similarity(scores)


@given(RUNS, PLACES, st.randoms(use_true_random=False))
def test_the_order_of_runs_is_nothing(scores: Array, k: int, random: Any) -> None:
    other = scores[random.sample(range(len(scores)), len(scores))]
    for figure in (sign_entropy, rank_similarity, consistency):
        assert np.isclose(figure(other), figure(scores))
    assert np.isclose(stability.jaccard(other, k), stability.jaccard(scores, k))


@given(RUNS, PLACES, st.randoms(use_true_random=False))
def test_the_order_of_features_is_nothing(scores: Array, k: int, random: Any) -> None:
    moved = random.sample(range(scores.shape[1]), scores.shape[1])
    other = scores[:, moved]
    assert np.isclose(sign_entropy(other), sign_entropy(scores))
    assert np.isclose(
        truth.relative_error(other, other[0]),
        truth.relative_error(scores, scores[0]),
        equal_nan=True,
    )
    if apart(scores):
        assert np.isclose(rank_similarity(other), rank_similarity(scores))
        assert np.isclose(stability.jaccard(other, k), stability.jaccard(scores, k))


@given(RUNS, PLACES, st.sampled_from([0.25, 2.0, 1024.0]))
def test_the_unit_of_scores_is_nothing(scores: Array, k: int, unit: float) -> None:
    """Powers of two scale without rounding, so ties stay ties; and a sign turns with all others."""
    for factor in (unit, -unit):
        for figure in (sign_entropy, rank_similarity, consistency):
            assert np.isclose(figure(factor * scores), figure(scores))
        assert stability.jaccard(factor * scores, k) == stability.jaccard(scores, k)
        scaled = truth.relative_error(factor * scores, factor * scores[0])
        assert np.isclose(scaled, truth.relative_error(scores, scores[0]), equal_nan=True)


@given(hnp.arrays(np.float64, st.integers(1, 8), elements=SCORE), st.integers(2, 5), PLACES)
def test_equal_runs_agree(row: Array, runs: int, k: int) -> None:
    scores = np.tile(row, (runs, 1))
    assert stability.jaccard(scores, k) == 1
    assert np.isclose(rank_similarity(scores), 1)
    if 2 * np.count_nonzero(row) >= len(row):  # else silence is fined
        assert sign_entropy(scores) == 0
        assert np.isclose(consistency(scores), 1)
    else:
        assert 0.9 <= consistency(scores) < 1
    assert truth.agreement(scores, row, k) == 1
    if row.any():
        assert truth.relative_error(scores, row) == 0


@given(RUNS)
def test_self_pairs_inflate_as_documented(scores: Array) -> None:
    """Each run twice: of its pairs, so many are a run with its own copy."""
    runs = len(scores)
    twice = rank_similarity(np.concatenate([scores, scores]))
    own = runs / (runs * (2 * runs - 1))
    assert np.isclose(twice, own + (1 - own) * rank_similarity(scores))


@given(hnp.arrays(np.float64, SHAPE, elements=SCORE), st.floats(0, 10), st.floats(0, 10))
def test_wider_intervals_cover_more(scores: Array, half: float, more: float) -> None:
    narrow = np.stack([scores - half, scores + half], axis=-1)
    wide = np.stack([scores - half - more, scores + half + more], axis=-1)
    reference = scores[0]
    assert (truth.coverage(narrow, reference) <= truth.coverage(wide, reference)).all()
    assert (truth.coverage(narrow, reference) >= 1 / len(scores)).all()
    assert (truth.width(wide) >= truth.width(narrow)).all()


@st.composite
def plans(draw: Any) -> tuple[Array, Array]:
    n, d = draw(st.integers(1, 90)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    z = rng.normal(size=(n, d)) if draw(st.booleans()) else rng.integers(0, 2, (n, d)).astype(float)
    weight = rng.uniform(0, 1, n) * (rng.random(n) < 0.8)
    weight[draw(st.integers(0, n - 1))] = 1.0
    return z, weight


@pytest.mark.parametrize("slopes", [False, True])
@given(plans(), st.sampled_from([0.1, 1.0, 7.0]))
def test_rows_only_teach(slopes: bool, plan: tuple[Array, Array], precision: float) -> None:
    z, weight = plan
    prior = Prior(precision, 0.0 if slopes else precision)
    budgets = np.arange(1, len(z) + 1)
    d_eff = sampling.d_efficiency(z, weight, prior, budgets, slopes=slopes)
    a_eff = sampling.a_efficiency(z, weight, prior, budgets, slopes=slopes)
    for curve in (d_eff, a_eff):
        assert curve[0] >= 1 - 1e-9
        assert (np.diff(curve) >= -1e-9 * curve[1:]).all()
    assert (a_eff <= d_eff * (1 + 1e-9)).all()  # a harmonic mean is below the geometric one


@given(plans(), st.randoms(use_true_random=False))
def test_a_curve_is_nested_and_ends_alike_in_any_order(
    plan: tuple[Array, Array], random: Any
) -> None:
    z, weight = plan
    n = len(z)
    whole = sampling.d_efficiency(z, weight, Prior(), np.arange(1, n + 1), slopes=True)
    some = np.unique([random.randint(1, n) for _ in range(3)])
    assert np.allclose(
        sampling.d_efficiency(z, weight, Prior(), some, slopes=True), whole[some - 1]
    )
    moved = random.sample(range(n), n)
    last = sampling.d_efficiency(z[moved], weight[moved], Prior(), [n], slopes=True)
    assert np.isclose(last[0], whole[-1])


@given(plans(), st.floats(-5, 5))
def test_a_free_intercept_takes_up_any_shift(plan: tuple[Array, Array], shift: float) -> None:
    z, weight = plan
    budgets = np.arange(1, len(z) + 1)
    here = sampling.d_efficiency(z, weight, Prior(), budgets, slopes=True)
    there = sampling.d_efficiency(z + shift, weight, Prior(), budgets, slopes=True)
    assert np.allclose(here, there)


HEIGHTS = hnp.arrays(np.float64, st.integers(2, 9), elements=st.floats(0.1, 10))


@given(HEIGHTS, st.floats(0.1, 10))
def test_areas_and_crossings_lie_where_the_curve_does(curve: Array, level: float) -> None:
    budgets = 10 * np.arange(1, len(curve) + 1)
    mean = float(sampling.area(curve, budgets))
    assert curve.min() - 1e-9 <= mean <= curve.max() + 1e-9
    assert np.isclose(sampling.area(3 * curve, 7 * budgets, relative=True), mean / curve[-1])
    rising = np.maximum.accumulate(curve)
    first = float(sampling.crossover(curve, budgets, level))
    again = float(sampling.crossover(rising, budgets, level))
    assert first == again or (np.isnan(first) and np.isnan(again))
    assert np.isnan(first) == bool(curve.max() < level)


@given(st.integers(1, 8), st.integers(0, 10**6))
def test_of_a_line_insertion_and_deletion_mirror_each_other(d: int, seed: int) -> None:
    """Insertion in one order keeps the same features as deletion in the opposite order."""
    rng = np.random.default_rng(seed)
    slopes, order = rng.normal(size=d), rng.permutation(d)

    def ask(masks: Any) -> Array:
        return np.asarray(masks @ slopes)

    total = faith.insertion(order, ask) + faith.deletion(order, ask)
    assert np.isclose(total, slopes.sum())
    assert np.isclose(faith.insertion(order, ask), faith.deletion(order[::-1], ask))
