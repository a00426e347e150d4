"""Few points of many features, a second way: by the matrix of coefficients, as in narrow cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eagle
from eagle import methods
from eagle._engine import default
from eagle._engine.planning import Planner
from eagle.contracts import Array, Rows, Space
from eagle.designs import greedy
from eagle.designs.greedy import Greedy
from eagle.errors import InputError
from eagle.spaces import EvenSizes, Fair, MaskSpace, OffsetSpace
from eagle.surrogates import dual, ridge
from eagle.surrogates.bayes import Prior, augment
from eagle.surrogates.dual import FewPoints
from eagle.surrogates.ridge import Ridge

PRIORS = (Prior(), Prior(3.0, 0.0), Prior(0.5, 2.0), Prior(None, None))


def some(seed: int, n: int, d: int, masks: bool) -> tuple[Array, Array]:
    """Points and their weights; the first feature never changes, the second is all zeros."""
    rng = np.random.default_rng(seed)
    features: Array = rng.normal(size=(n, d))
    features = (features > 0).astype(float) if masks else features
    features[:, 0], features[:, 1] = 1.0, 0.0
    weight = rng.random(n) + 0.01
    weight[n // 2] = 0.0
    return features, weight


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(3, 20),
    st.sampled_from(PRIORS),
    st.booleans(),
    st.booleans(),
)
def test_points_say_what_the_matrix_says(
    seed: int, n: int, prior: Prior, masks: bool, single: bool
) -> None:
    features, weight = some(seed, n, 24, masks)
    y = np.random.default_rng(seed).normal(size=n)
    shown = features.astype(np.float32) if masks and single else features
    points = FewPoints(prior, shown[:2], weight[:2])
    for at in range(2, n, 5):
        points.add(shown[at : at + 5], weight[at : at + 5])
    z = augment(features)
    V = np.linalg.inv(np.diag(prior.precision(24)) + (z * weight[:, None]).T @ z)
    reach = points.reach(shown)
    first, others = reach[0], reach[1:]
    common = points.product(shown, shown) - others.T @ others + np.outer(first, first)
    assert np.allclose(common, z @ V @ z.T, rtol=1e-9, atol=1e-9)
    assert np.allclose(points.spread(shown), np.diag(points.product(shown, shown)), rtol=1e-12)
    intercept, slopes = points.fit(y)
    assert np.allclose([intercept, *slopes], V @ z.T @ (weight * y), rtol=1e-9, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([0.1, 1.0, 50.0]))
def test_a_wide_ridge_is_the_ridge(seed: int, masks: bool, alpha: float) -> None:
    features, weight = some(seed, 12, 30, masks)
    rng = np.random.default_rng(seed)
    rows = Rows.each_once(features, weight)
    wide = ridge._WideMean(Ridge(alpha), rows)
    for y in (rng.normal(size=12) * 1e3 + 1e5, np.full(12, 0.1), np.zeros(12)):
        one, two = wide.fit(y), ridge._Mean(Ridge(alpha), rows).fit(y)
        size = np.abs(two.scores).max()
        assert np.allclose(one.scores, two.scores, rtol=1e-9, atol=1e-9 * size)
        assert np.isclose(one.intercept, two.intercept, rtol=1e-9)
        assert np.isclose(one.local, two.local, rtol=1e-9)
        assert np.isclose(one.r2, two.r2, rtol=1e-9, equal_nan=True)
        assert np.isnan([one.r2_held_out, two.r2_held_out]).all()
        assert one.scores[0] == one.scores[1] == 0


SPACES: dict[str, Space] = {
    "masks of texts": MaskSpace(90, EvenSizes()),
    "masks of images": MaskSpace(90, Fair()),
    "offsets": OffsetSpace(90),
}
GREEDY = {
    "": Greedy(),
    "small pools": Greedy(pool=60, batch=7),
    "frozen": Greedy(frozen=True),
    "no kernel": Greedy(score=greedy.variance_only),
    "shrunk": Greedy(prior=Prior(None, None)),
}


@pytest.mark.parametrize("how", GREEDY)
@pytest.mark.parametrize("thing", SPACES)
def test_a_wide_plan_is_the_plan(thing: str, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    space, kernel = SPACES[thing], methods.EAGLE.kernel

    def planned() -> Array:
        rng = np.random.default_rng(7)
        return np.asarray(GREEDY[how].plan([space], kernel, 80, rng)[0])

    narrow = planned()
    monkeypatch.setattr(dual, "MAX_SMALL_FEATURES", 20)
    monkeypatch.setattr(greedy, "augment", None)  # what the matrix of coefficients is made of
    assert np.array_equal(planned(), narrow)


def test_an_explanation_of_many_parts_is_that_of_the_matrix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Through the front door, at a size where both ways are quick."""
    d, rows = 560, 90
    rng = np.random.default_rng(1)
    effects = rng.normal(size=d) * (rng.random(d) < 0.05)
    things = eagle.Parts(list, lambda kept: float(sum(effects[k] for k in kept)))

    def explained() -> eagle.Explanation:
        box = eagle.Explainer(np.array, things, task="regression", budget=rows)
        return box.explain(range(d))

    wide = explained()
    monkeypatch.setattr(dual, "MAX_SMALL_FEATURES", 10_000)
    narrow = explained()
    assert np.array_equal(wide.evidence.points, narrow.evidence.points)
    size = np.abs(narrow.scores).max()
    assert np.allclose(wide.scores, narrow.scores, rtol=1e-9, atol=1e-9 * size)
    assert np.isclose(wide.r2, narrow.r2, rtol=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 30))
def test_even_sizes_drop_the_parts_of_the_lowest_numbers(seed: int, d: int, n: int) -> None:
    masks = EvenSizes().draw(n, d, np.random.default_rng(seed))
    raw = np.random.default_rng(seed).bit_generator.random_raw(n * (d + 1)).reshape(n, d + 1)
    off = 1 + (raw[:, 0] % np.uint64(d)).astype(int)
    rank = np.argsort(np.argsort(raw[:, 1:], axis=1), axis=1)
    assert np.array_equal(masks, rank < off[:, None])
    assert masks.dtype == np.uint8


def test_points_without_weight_determine_nothing() -> None:
    with pytest.raises(InputError, match="the coefficients are not determined"):
        FewPoints(Prior(), np.ones((2, 3)), np.zeros(2))


def test_more_parts_than_a_thousand_are_asked_with_fewer_candidates() -> None:
    few = replace(default.GREEDY, design=Greedy(pool=100))
    assert default.choose(1000, True, 500, False) == default.GREEDY
    assert default.choose(1001, True, 500, False) == few
    (plan,) = Planner(few, 40, 0).plan([MaskSpace(1100, EvenSizes())])
    assert plan.points.shape == (40, 1100)
