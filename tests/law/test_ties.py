"""Rounding never changes which of near-ties comes first."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import eagle
from eagle._values.ties import TIE, best, rank
from eagle.metrics.validate import strongest
from evaluation.consistency import rank_similarity

SIZES = st.lists(
    st.one_of(st.integers(0, 4).map(float), st.floats(0, 1e3, allow_subnormal=False)),
    min_size=1,
    max_size=12,
)
NOISE = st.lists(st.integers(-3, 3), min_size=12, max_size=12)


@given(SIZES, NOISE)
def test_rounding_never_changes_an_order(sizes: list[float], noise: list[int]) -> None:
    given = np.array(sizes)
    gaps = np.abs(given[:, None] - given)
    edge = TIE * given.max()
    if ((gaps > 0) & (gaps < 4 * edge)).any():
        return  # neither equal nor apart: such sizes may go either way
    rounded = np.maximum(given + np.array(noise)[: len(given)] * 1e-13 * given.max(), 0.0)
    assert np.array_equal(rank(rounded), rank(given))
    assert best(rounded) == best(given) == rank(given)[0]


@given(SIZES)
def test_an_order_is_a_permutation_that_falls(sizes: list[float]) -> None:
    given = np.array(sizes)
    order = rank(given)
    assert sorted(order.tolist()) == list(range(len(given)))
    assert (np.diff(given[order]) <= TIE * given.max()).all()


def test_near_ties_in_the_features_own_order() -> None:
    sizes = np.array([[1.0, 3.0, 3.0 * (1 + 1e-13), 2.0], [4.0, 1.0, 4.0 * (1 - 1e-6), 0.0]])
    assert rank(sizes).tolist() == [[1, 2, 3, 0], [0, 2, 1, 3]]
    assert strongest(-sizes, 1).tolist() == [[False, True, False, False], [True] + [False] * 3]


def test_an_explanation_orders_its_features_by_this_rule() -> None:
    data = np.random.default_rng(3).normal(size=(300, 3))
    e = eagle.Explainer(lambda X: X.sum(axis=1), data, budget=64).explain(data[0])
    for j in (1, 2):  # as one machine or another may round two features that matter alike
        e.scores[:] = [0.1, 1.0, 1.0]
        e.scores[j] += 2e-16
        assert e.order().tolist() == [1, 2, 0]
        assert e.top(1) == ["x1"]


def test_of_two_classes_as_probable_the_first_is_explained() -> None:
    data = np.random.default_rng(3).normal(size=(300, 2))
    for off in (-1e-16, 0.0, 1e-16):  # as one machine or another may round a half
        explainer = eagle.Explainer(
            lambda X, off=off: np.full((len(X), 2), [0.5 - off, 0.5 + off]), data, budget=20
        )
        assert explainer.explain(data[0]).target == 0


def test_a_score_of_nothing_never_takes_the_place_of_a_tiny_one() -> None:
    scores = np.array([[0.0, 7630.0, 7e-6], [0.0, 7630.0, 7e-6]])
    assert rank_similarity(scores) == 1
