"""Laws of locality."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from eagle.contracts import Kernel
from eagle.errors import InputError
from eagle.kernels import Exponential, Shapley, Unit, by_count, cosine_distance, euclidean

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 8), st.booleans(), st.sampled_from([None, 0.25, 3.0]))
def test_weights_are_in_reach_and_one_at_the_anchor(
    seed: int, d: int, root: bool, width: float | None
) -> None:
    rng = np.random.default_rng(seed)
    anchor = np.ones(d)
    features = np.vstack([anchor, np.zeros(d), rng.normal(size=(20, d)) * 100])
    for distance in (euclidean, cosine_distance):
        weight = Exponential(width, root, distance)(features, anchor)
        assert ((weight > 0) & (weight <= 1)).all()
        assert np.isclose(weight[0], 1.0, atol=1e-12)
    assert (Unit()(features, anchor) == 1).all()


@given(seeds, st.integers(1, 8))
def test_distances_are_scipys(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    features, anchor = rng.normal(size=(15, d)), rng.normal(size=d)
    for ours, theirs in ((euclidean, "euclidean"), (cosine_distance, "cosine")):
        expected = cdist(features, anchor[None], theirs)[:, 0] ** 2
        assert np.allclose(ours(features, anchor), expected, atol=1e-12)


def test_the_formulas() -> None:
    features, anchor = np.array([[0.0, 1.0, 1.0, 0.0]]), np.ones(4)
    assert np.isclose(Exponential()(features, anchor)[0], np.exp(-2 / (2 * 0.5625 * 4)))
    assert np.isclose(Exponential(2.0, root=False)(features, anchor)[0], np.exp(-2 / 4))
    far = Exponential(0.25, distance=cosine_distance)(features, anchor)[0]
    assert np.isclose(far, np.sqrt(np.exp(-((1 - np.sqrt(0.5)) ** 2) / 0.0625)))
    empty = Exponential(0.25, distance=cosine_distance)(np.zeros((1, 4)), anchor)[0]
    assert np.isclose(empty, np.exp(-1 / (2 * 0.0625)))


def test_distances_far_from_the_origin_and_at_it() -> None:
    anchor = np.full(3, 1e8)
    near = Exponential(1.0)(anchor + np.array([[1.0, 0.0, 0.0]]), anchor)
    assert np.isclose(near[0], np.exp(-0.5))
    with pytest.raises(InputError, match="no direction"):
        Exponential(distance=cosine_distance)(np.ones((1, 2)), np.zeros(2))


@pytest.mark.parametrize(
    "kernel",
    [
        Exponential(),
        Exponential(0.4, root=False),
        Exponential(distance=cosine_distance),
        Unit(),
        Shapley(),
    ],
)
@pytest.mark.parametrize("d", [1, 2, 9, 30])
def test_among_matches_only_their_number_counts(kernel: Kernel, d: int) -> None:
    matches = (np.random.default_rng(d).random((200, d)) < 0.5).astype(float)
    weight = by_count(kernel, d)
    assert weight is not None
    assert np.allclose(weight[matches.sum(axis=1).astype(int)], kernel(matches, np.ones(d)), 1e-14)


def test_of_other_kernels_nothing_is_known() -> None:
    assert by_count(Exponential(distance=lambda x, a: np.abs(x - a).sum(axis=-1)), 3) is None
    assert by_count(lambda x, a: np.exp(-x[..., 0]), 3) is None
