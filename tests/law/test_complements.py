"""Laws of masks in complements, over random seeds and sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eagle
from eagle._engine import default
from eagle._engine.planning import Planner
from eagle._sources.texts import words
from eagle.contracts import Points, Rows
from eagle.designs.complements import Complements, every_pair
from eagle.designs.law import sizes
from eagle.errors import InputError
from eagle.kernels import COSINE, Exponential, Unit, cosine_distance
from eagle.spaces import EvenSizes, Fair, MaskSpace
from eagle.surrogates.pairs import Paired, bend_terms

seeds = st.integers(0, 2**32 - 1)
parts = st.integers(1, 40)
laws = st.sampled_from([Fair(), EvenSizes()])
KERNELS = [COSINE, Unit(), Exponential(0.02, distance=cosine_distance)]
kernels = st.sampled_from(KERNELS)


def plan(space: Any, n: int, seed: int, kernel: Any = COSINE, block: bool = True) -> Points:
    rng = np.random.Generator(np.random.PCG64(seed))
    return Complements(block).plan([space], kernel, n, rng)[0]


@given(seeds, parts, laws, kernels, st.integers(1, 80), st.integers(1, 80), st.booleans())
def test_nested_and_no_mask_twice(
    seed: int, d: int, law: Any, kernel: Any, n: int, more: int, block: bool
) -> None:
    space = MaskSpace(d, law)
    long = plan(space, n + more, seed, kernel, block)
    assert long.dtype == space.origin.dtype
    assert not long[0].any()
    assert len(np.unique(long, axis=0)) == len(long) <= n + more
    if d <= 20:
        assert len(long) == min(n + more, 2**d)
    assert np.array_equal(plan(space, n, seed, kernel, block), long[:n])


@given(seeds, parts, laws, st.integers(2, 120))
def test_every_mask_has_its_complement_beside_it(seed: int, d: int, law: Any, n: int) -> None:
    points = plan(MaskSpace(d, law), n, seed)
    there = {bytes(p) for p in points}
    alone = [p for p in points if bytes(1 - p) not in there]
    # The instance, whose complement is empty, may be; and whom the budget has cut off.
    assert len(alone) <= 2
    assert all(not p.any() or np.array_equal(p, points[-1]) for p in alone)


@given(seeds, st.integers(1, 12), laws)
def test_all_masks_are_asked_if_they_fit(seed: int, d: int, law: Any) -> None:
    points = plan(MaskSpace(d, law), 2**d + 7, seed)
    assert len(np.unique(points, axis=0)) == 2**d == len(points)


@given(seeds, parts, laws, st.integers(2, 200))
def test_weights_are_positive_and_have_the_law_of_the_sizes_that_are_there(
    seed: int, d: int, law: Any, n: int
) -> None:
    space = MaskSpace(d, law)
    z = space.features(plan(space, n, seed))
    weight = Complements().weight(space, COSINE, z)
    assert (weight > 0).all()
    there = np.bincount(z.sum(axis=1).astype(int), weight, minlength=d + 1) / len(z)
    exact = sizes(space, COSINE)
    assert np.allclose(there[there > 0], exact[there > 0], atol=1e-12)


@given(st.integers(1, 9), seeds)
def test_listed_masks_are_all_there_are(d: int, seed: int) -> None:
    every = every_pair(d, np.random.Generator(np.random.PCG64(seed)))
    assert len(np.unique(every, axis=0)) == 2**d
    assert (every[::2] ^ every[1::2]).all()


@given(seeds, st.integers(4, 30), st.integers(30, 200))
def test_a_bend_is_orthogonal_to_every_line_in_the_size(seed: int, d: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    kept, weight = rng.integers(0, d + 1, n), rng.random(n) + 0.1
    bends = bend_terms(kept, weight, 3)
    columns = np.column_stack([np.ones(n), kept / d, bends])
    gram = (columns * weight[:, None]).T @ columns / weight.sum()
    assert np.allclose(gram[2:, :2], 0, atol=1e-9)
    assert np.allclose(gram[2:, 2:], np.eye(2), atol=1e-9)


@pytest.mark.parametrize("law", [Fair(), EvenSizes()])
def test_a_line_is_found_exactly_up_to_what_is_shrunk(law: Any) -> None:
    d, n = 10, 200
    (made,) = Planner(default.MASKS, n, 0).plan([MaskSpace(d, law)])
    slopes = np.linspace(-1, 2, d)
    fit = made.fitter.fit(5 + made.rows.features @ slopes)
    assert np.abs(fit.scores - slopes).max() < 0.1 * d / n * 4
    assert fit.posterior is not None
    low, high = fit.posterior.interval(0.9).T
    assert ((low <= slopes) & (slopes <= high)).mean() > 0.7


def test_more_parts_than_half_the_rows_have_no_intervals() -> None:
    many = " ".join(f"w{i}" for i in range(40))
    said = eagle.Explainer(
        lambda texts: [float(len(t)) for t in texts],
        eagle.Texts(words),
        method=default.MASKS,
        budget=60,
    ).explain(many)
    assert said.posterior is None
    assert "60 rows are few for 40 features: scores are unsteady" in said.warnings[0]
    with pytest.raises(InputError, match="without intervals"):
        said.interval()


def test_only_masks_have_complements() -> None:
    rows = Rows.each_once(np.array([[0.0, 1.0], [0.5, 1.0]]), np.ones(2))
    with pytest.raises(InputError, match="of zeros and ones: use Robust"):
        Paired().on(rows)
    for wrong in (0.0, -1.0, float("nan"), True):
        with pytest.raises(InputError, match="must be a positive number"):
            Paired(shrinkage=wrong)
    data = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(InputError, match="parts of an image or a text"):
        eagle.Explainer(lambda X: X[:, 0], data, method=default.MASKS)


def test_it_stops_once_all_is_known() -> None:
    e = eagle.Explainer(
        lambda lists: [float(len(t)) + 0.2 * ("a" in t) for t in lists],
        eagle.Parts(list, list),
        method=default.MASKS,
        budget=2000,
    ).explain("abcdefgh", until=eagle.until.Top(1))
    assert e.cost.rows <= 256
    assert e.top(1) == ["a"]
