"""Plans by gains about the scores, and scores as functionals: what holds for all of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle import Background, Method, methods
from eagle._engine.planning import CACHE, Planner
from eagle._tables.rows import TableInstances
from eagle.contracts import Array, Space
from eagle.designs.gains import Gains
from eagle.kernels import COSINE
from eagle.spaces import EvenSizes, Fair, MaskSpace
from eagle.surrogates.functional import Functional

DATA = np.random.default_rng(0).normal(size=(60, 4))
TABLE = TableInstances(Background.of(DATA), Background.of(DATA).adopt(DATA[:3]))
SPACES: list[Space] = [MaskSpace(9, Fair()), MaskSpace(9, EvenSizes()), TABLE.space(0)]
SMALL = Gains(pool=90, most=40)


def planned(space: Space, n: int, seed: int) -> Array:
    rng = np.random.Generator(np.random.PCG64(seed))
    kernel = methods.EAGLE_PROCESS.kernel_in(space)
    return SMALL.plan([space], kernel, n, rng)[0]


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(SPACES), st.integers(1, 130), st.integers(1, 130), st.integers(0, 9))
def test_plans_are_nested_and_never_repeat(space: Space, n: int, m: int, seed: int) -> None:
    """Also beyond the rows that are chosen, and beyond the pool."""
    one, two = planned(space, n, seed), planned(space, m, seed)
    least = min(n, m)
    assert len(one) == n
    assert np.array_equal(one[:least], two[:least])
    assert np.array_equal(one[0], space.origin)
    assert len(np.unique(one, axis=0)) == n


def test_company_does_not_matter() -> None:
    kernel = methods.EAGLE_PROCESS.kernel
    spaces = [TABLE.space(i) for i in range(3)]
    together = SMALL.plan(spaces, kernel, 30, np.random.Generator(np.random.PCG64(5)))
    for space, points in zip(spaces, together, strict=True):
        assert np.array_equal(points, planned(space, 30, 5))


def test_all_masks_of_few_parts_are_asked_once() -> None:
    CACHE.clear()
    (made,) = Planner(methods.EAGLE_PROCESS, 100, 0).plan([MaskSpace(5, Fair())])
    assert len(made.points) == 32
    assert len(np.unique(made.points, axis=0)) == 32


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(SPACES), st.integers(0, 99), st.floats(-50, 50), st.floats(0.1, 50))
def test_scores_follow_the_scale_of_answers_and_differences_of_classes(
    space: Space, seed: int, shift: float, factor: float
) -> None:
    """A shift changes no score and a factor multiplies all. With given ratios, which all classes
    share, the scores of A less B are those of A less those of B; averaged ratios are each class's
    own, and the law does not hold."""
    a, b = np.random.default_rng(seed).normal(size=(2, 40))
    for surrogate in (Functional(), Functional((0.6, 0.3, 0.1))):
        method = Method("one", SMALL, COSINE, surrogate) if space.masks else None
        method = method or Method("one", SMALL, methods.EAGLE_PROCESS.kernel, surrogate)
        (made,) = Planner(method, 40, 1).plan([space])
        fit = made.fitter.fit
        assert np.allclose(
            fit(factor * a + shift).scores, factor * fit(a).scores, atol=1e-8 * factor
        )
        apart = np.abs(fit(a - b).scores - fit(a).scores + fit(b).scores).max()
        if surrogate.ratios is not None:
            assert apart < 1e-9
