"""Each metric computed a second way: scikit-learn, explicit sets, determinants, recorded numbers.

`rbo` 0.1.3 wants numpy below 2, so it is not needed to run this: what it answered is recorded here,
and its formula is written out anew.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import auc, jaccard_score

from eagle._values.arrays import Array
from eagle.errors import InputError
from eagle.metrics import faith, stability, truth
from eagle.surrogates.bayes import Prior, augment
from evaluation import sampling
from evaluation.consistency import consistency, rank_similarity, sign_entropy

SEEDS = range(5)


def made(seed: int, runs: int = 5, d: int = 9) -> Array:
    """Scores with ties, zeros and both signs."""
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=(runs, d)), 1) * (rng.random((runs, d)) < 0.7)
    return np.asarray(scores)


def listed(scores: Array) -> list[int]:
    """Features by decreasing size, of equals the earlier one first."""
    return sorted(range(len(scores)), key=lambda j: (-abs(scores[j]), j))


# -- stability ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("k", [1, 3, 5, 9, 20])
def test_jaccard_by_scikit_learn(seed: int, k: int) -> None:
    scores = made(seed)
    tops = [np.isin(np.arange(9), listed(row)[:k]) for row in scores]
    expected = [jaccard_score(a, b) for a, b in combinations(tops, 2)]
    assert np.isclose(stability.jaccard(scores, k), np.mean(expected))
    assert np.isclose(
        truth.agreement(scores[1:], scores[0], k), np.mean(expected[:4])
    )  # the first four pairs are those with the first run


def test_jaccard_by_hand() -> None:
    one, two, three = [4, -3, 2, 1], [4, 1, -3, 2], [1, 2, 3, 4]
    # The two strongest: {a, b}, {a, c}, {c, d}: overlaps 1/3, 0 and 1/3.
    assert np.isclose(stability.jaccard([one, two, three], 2), (1 / 3 + 0 + 1 / 3) / 3)
    assert stability.jaccard([one, two, three], 4) == 1.0
    assert stability.jaccard([one, two, three], 99) == 1.0
    assert np.isclose(truth.agreement([one, two], three, 2), (0 + 1 / 3) / 2)
    assert stability.jaccard([[0, 0, 0, 0], [0, 0, 0, 0]], 2) == 1.0  # ties in one order
    assert stability.jaccard([[1, 1, 1], [1, 1, 2]], 1) == 0.0  # the earlier of equals


def test_chance_is_as_published() -> None:
    known = {7: 0.569, 8: 0.471, 9: 0.402, 10: 0.350, 12: 0.279, 20: 0.155, 28: 0.107, 50: 0.058}
    for d, value in known.items():
        assert round(stability.chance(d, 5), 3) == value


@pytest.mark.parametrize("d", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_chance_by_brute_force(d: int, k: int) -> None:
    sets = [set(c) for c in combinations(range(d), min(k, d))]
    assert len(sets) == comb(d, min(k, d))
    overlap = [len(a & b) / len(a | b) for a in sets for b in sets]
    assert np.isclose(stability.chance(d, k), np.mean(overlap))


def test_chance_of_many() -> None:
    """Binomials of thousands are beyond a float; their shares are not."""
    assert 0.33 < stability.chance(3000, 1500) < 0.34
    assert np.isclose(stability.chance(10**6, 5), 5 / 10**6 * 5 / 9, rtol=0.01)
    for wrong in ((0, 5), (5, 0)):
        with pytest.raises(InputError, match="at least 1"):
            stability.chance(*wrong)


# -- entropies ----------------------------------------------------------------------------------


def test_sign_entropy_by_hand() -> None:
    # Feature 0: always positive. Feature 1: one of two. Feature 2: 1 of 2 that are not 0.
    found = [[1, 1, 0], [2, -1, 0], [1, 1, 5], [1, -3, -5]]
    assert np.isclose(sign_entropy(found), (0 + 1 + 1) / 3)
    h = -(2 / 3 * np.log2(2 / 3) + 1 / 3 * np.log2(1 / 3))
    assert np.isclose(sign_entropy([[1.0], [1.0], [-1.0]]), h)
    assert sign_entropy([[1, -1], [2, -5]]) == 0


def test_silence_is_fined() -> None:
    """Only if fewer than half of the features are ever there, and nothing else is in doubt."""
    assert np.isclose(sign_entropy([[0, 0], [0, 0]]), 0.1)
    assert np.isclose(sign_entropy([[1, 0, 0, 0], [2, 0, 0, 0]]), 0.1 * 3 / 4)
    assert sign_entropy([[1, 0, 0, -1], [2, 0, 0, 0]]) == 0  # half of them
    assert np.isclose(sign_entropy([[1, 0, 0, 0], [-2, 0, 0, 0]]), 1 / 4)


# -- rankings -----------------------------------------------------------------------------------


def rbo(first: list[int], second: list[int], p: float) -> float:
    """(1 − p) Σ pᵐ⁻¹ A_m over 5,000 depths; what a list lacks agrees as often as before."""
    if not first or not second:
        return float(not first and not second)
    short, long = sorted((first, second), key=len)
    s, at_s = len(short), len({*short} & {*long[: len(short)]})
    total = 0.0
    for m in range(1, 5001):
        depth = min(m, len(long))
        both = len({*short[:depth]} & {*long[:depth]})
        agreed = both / depth if depth <= s else (both + at_s * (depth - s) / s) / depth
        total += (1 - p) * p ** (m - 1) * agreed
    return total


def ranked(first: list[int], second: list[int], d: int) -> Array:
    """Two runs of positive scores with these rankings."""
    scores = np.zeros((2, d))
    for row, ranking in zip(scores, (first, second), strict=True):
        row[ranking] = np.arange(len(ranking), 0, -1)
    return scores


@pytest.mark.parametrize(
    ("first", "second", "p", "answer"),
    [
        ([0, 1, 2, 3], [1, 0, 2, 3], 0.2, 0.2),
        ([0, 1, 2], [2, 4, 0, 1, 3], 0.2, 0.028586666667),
        ([3, 1], [1, 3, 0, 2, 4, 5], 0.9, 0.9),
        ([0, 1], [2, 3], 0.5, 0.0),
        ([0], [0], 0.98, 1.0),
    ],
)
def test_rank_biased_overlap_as_the_package_gave_it(
    first: list[int], second: list[int], p: float, answer: float
) -> None:
    # Nothing is negative in either run, which counts 1 for that side.
    found = 2 * rank_similarity(ranked(first, second, 6), p) - 1
    assert np.isclose(found, answer, atol=1e-11)
    assert np.isclose(rbo(first, second, p), answer, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("p", [0.2, 0.9])
def test_rank_similarity_by_sets(seed: int, p: float) -> None:
    scores = made(seed)
    sides = []
    for a, b in combinations(scores, 2):
        for sign in (1, -1):
            lists = [[j for j in listed(row) if sign * row[j] > 0] for row in (a, b)]
            sides.append(rbo(lists[0], lists[1], p))
    assert np.isclose(rank_similarity(scores, p), np.mean(sides))
    expected = (1 - sign_entropy(scores)) * np.mean(sides)
    assert np.isclose(consistency(scores, p), expected)


def test_empty_rankings() -> None:
    assert rank_similarity([[1, 2], [1, 2]]) == 1.0  # no negatives in either
    assert rank_similarity([[1, 2], [-1, -2]]) == 0.0  # one side empty each
    assert rank_similarity([[0, 0], [0, 0]]) == 1.0
    assert rank_similarity([[0, 0], [1, 0]]) == 0.5


# -- sampling -----------------------------------------------------------------------------------


def plan(seed: int, n: int = 150, d: int = 6) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return (rng.random((n, d)) < 0.5).astype(float), rng.uniform(0, 1, n)


@pytest.mark.parametrize("prior", [Prior(None, None), Prior(1.0, 2.0), Prior(0.01, 0.5)])
def test_efficiencies_by_explicit_determinants(prior: Prior) -> None:
    z, weight = plan(0)
    budgets = np.array([1, 2, 7, 63, 64, 65, 128, 150])
    Z, start = augment(z), np.diag(prior.precision(6))
    known = [start + (Z[:n].T * weight[:n]) @ Z[:n] for n in budgets]
    ratio = np.array([np.linalg.det(v) / np.linalg.det(start) for v in known])
    traces = [np.trace(np.linalg.inv(start)) / np.trace(np.linalg.inv(v)) for v in known]
    asked = (z, weight, prior, budgets)
    assert np.allclose(sampling.d_efficiency(*asked), ratio ** (1 / 7))
    assert np.allclose(sampling.a_efficiency(*asked), traces)


@pytest.mark.parametrize("intercept", [0.0, 1e-9, 1.0, 6.0])
def test_the_slopes_by_blocks_of_the_covariance(intercept: float) -> None:
    """V's own block of the slopes, where a free intercept is one of next to no precision."""
    z, weight = plan(1)
    weight[:2] = 0.0  # nothing is learnt from rows without weight, nor may they break anything
    prior, budgets = Prior(2.0, intercept), np.array([1, 2, 3, 10, 64, 150])
    Z, start = augment(z), np.diag(prior.precision(6))
    start[0, 0] = max(intercept, 1e-9)
    first = np.eye(6) / 2.0
    known = [np.linalg.inv(start + (Z[:n].T * weight[:n]) @ Z[:n])[1:, 1:] for n in budgets]
    ratio = np.array([np.linalg.det(first) / np.linalg.det(v) for v in known])
    asked: Any = (z, weight, prior, budgets)
    assert np.allclose(sampling.d_efficiency(*asked, slopes=True), ratio ** (1 / 6), rtol=1e-6)
    traces = [np.trace(first) / np.trace(v) for v in known]
    assert np.allclose(sampling.a_efficiency(*asked, slopes=True), traces, rtol=1e-6)


def test_the_curve_ends_where_the_information_does() -> None:
    z, weight = plan(2)
    prior = Prior(None, None)
    before = prior.information(6)
    gain = before.add(augment(z), weight).gain(before)
    assert np.isclose(sampling.d_efficiency(z, weight, prior, [150])[0], np.exp(2 * gain / 7))


def test_next_to_no_prior() -> None:
    """Where V starts 10⁶ times as large as it ends, the running trace still has its digits."""
    z, weight = plan(3, n=200)
    prior, budgets = Prior(1e-6, 1e-6), np.arange(20, 201)
    Z = augment(z)
    known = [1e-6 * np.eye(7) + (Z[:n].T * weight[:n]) @ Z[:n] for n in budgets]
    expected = [7e6 / np.trace(np.linalg.inv(v)) for v in known]
    assert np.allclose(sampling.a_efficiency(z, weight, prior, budgets), expected, rtol=1e-6)


def test_area_by_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    budgets, curves = np.array([10, 20, 50, 100]), rng.uniform(1, 5, (3, 4))
    expected = [auc(budgets, curve) / 90 for curve in curves]
    assert np.allclose(sampling.area(curves, budgets), expected)
    assert np.allclose(sampling.area(curves, budgets, relative=True), expected / curves[:, -1])
    assert np.isclose(sampling.area(curves[0], budgets), expected[0])


def test_crossover_by_hand() -> None:
    budgets = [10, 20, 30]
    assert sampling.crossover([1.0, 2.0, 3.0], budgets, 2.0) == 20
    assert sampling.crossover([1.0, 2.0, 3.0], budgets, 0.0) == 10
    assert np.isnan(sampling.crossover([1.0, 2.0, 3.0], budgets, 3.1))
    assert sampling.crossover([1.0, 5.0, 3.0], budgets, 3.0) == 20  # the first, if it falls again
    found = sampling.crossover([[1, 2, 3], [4, 5, 6], [0, 0, 0]], budgets, [3, 3, 3])
    assert np.array_equal(found, [30, 10, np.nan], equal_nan=True)


# -- truth --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_relative_error_by_its_formula(seed: int) -> None:
    scores = made(seed)
    runs, reference = scores[1:], scores[0]
    errors = [np.sqrt(((a - reference) ** 2).sum()) / np.sqrt((reference**2).sum()) for a in runs]
    assert np.isclose(truth.relative_error(runs, reference), np.mean(errors))


def test_relative_error_at_its_edges() -> None:
    zero = np.zeros(3)
    assert np.isnan(truth.relative_error([[1, 2, 3]], zero))
    assert truth.relative_error([zero], [1, 2, 3]) == 1


def test_coverage_and_width_by_hand() -> None:
    intervals = np.array([[[0, 1], [0, 1]], [[0.5, 3], [2, 3]]])
    assert np.array_equal(truth.coverage(intervals, [1, 1.5]), [1.0, 0.0])
    assert np.array_equal(truth.width(intervals), [1.0, 1.75])
    assert truth.width(intervals[0]) == 1.0
    assert np.isinf(truth.width([[0, np.inf]]))


# -- faith --------------------------------------------------------------------------------------


class Line:
    """A model that is a line in what is kept, and remembers what it was asked."""

    def __init__(self, *slopes: float) -> None:
        self.slopes, self.calls = np.array(slopes), list[Any]()

    def __call__(self, masks: Any) -> Array:
        self.calls.append(masks)
        return np.asarray(0.5 + masks @ self.slopes)


@pytest.mark.parametrize("order", [[1, 0, 2], [2, 0, 1], [0, 1, 2]])
def test_insertion_and_deletion_by_scikit_learn(order: list[int]) -> None:
    line = Line(2.0, 5.0, -1.0)
    shares = np.linspace(0, 1, 4)
    back = [0.5 + sum(line.slopes[j] for j in order[:m]) for m in range(4)]
    away = [0.5 + sum(line.slopes[j] for j in order[m:]) for m in range(4)]
    assert np.isclose(faith.insertion(order, line), auc(shares, back))
    assert np.isclose(faith.deletion(order, line), auc(shares, away))
    assert len(line.calls) == 2
    assert line.calls[0].dtype == bool
    assert line.calls[0].sum(axis=1).tolist() == [0, 1, 2, 3]
    assert line.calls[1].sum(axis=1).tolist() == [3, 2, 1, 0]


def test_gaps_by_hand() -> None:
    line = Line(2.0, 5.0, -1.0)
    found = faith.gaps([1, 0, 2], line, 1)
    assert found == (5.0, 1.0)  # without 5, and without 2 and −1
    assert faith.gaps([1, 0, 2], line, 2) == (7.0, 1.0)
    assert len(line.calls) == 2


def test_gaps_take_sizes_before_the_mean() -> None:
    """A replacement that moves the answer up or down by 1 has a gap of 1, not of 0."""
    sign = np.array([0, 1, -1, 1, -1, 0, 0, 0, 0])

    def ask(masks: Any) -> Any:
        assert len(masks) == 9
        assert masks[0].all()
        return np.where(masks[:, 0], 0.0, sign)

    assert faith.gaps([0, 1], ask, 1, draws=4) == (1.0, 0.0)
