"""The lasso path is right on any rows, also if nearly everything ties."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eagle.contracts import Array
from eagle.peers.lasso_path import MAX_STEPS_PER_COLUMN, path, path_columns
from eagle.peers.selection import LassoPath
from eagle.peers.slime import Append

seeds = st.integers(0, 2**32 - 1)


def few_values(seed: int) -> tuple[Array, Array, Array]:
    """Integers, so that columns repeat, depend on one another and tie, in wild units."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 30)), int(rng.integers(1, 10))
    z = rng.integers([0, -1, 0][seed % 3], [2, 2, 3][seed % 3], (n, d)).astype(float)
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else np.ones(n)
    y = z @ rng.integers(-2, 3, d) + rng.integers(-1, 2, n) * (rng.random() < 0.5)
    return z, y * rng.choice([1.0, 1 / 3, 3e-6, 1e-300, 1e300]), weight


@given(seeds)
@settings(max_examples=300)
def test_every_knot_is_a_lasso_and_the_last_is_least_squares(seed: int) -> None:
    """The path ends, without a warning (warnings are errors here)."""
    z, y, weight = few_values(seed)
    rows = path_columns(z, y, weight)
    steps = path(rows)
    assert len(steps) < MAX_STEPS_PER_COLUMN * max(len(rows.names), 1)
    for step in steps:
        reach = np.abs(rows.reach(step.after))
        assert (reach[list(step.inside)] >= reach.max() - 1e-8).all()
        assert set(np.flatnonzero(step.after)) <= set(step.inside)
        assert step.enters not in step.rivals
        assert step.enters is None or step.before[step.enters] == 0
    if steps:
        assert np.abs(rows.reach(steps[-1].after)).max() < 1e-8
    for before, after in pairwise(steps):
        assert np.array_equal(before.after, after.before)


@example(20225, 1)  # the first column selected is not needed once the second is in
@example(51740, 1)  # the next one goes neither along nor against
@example(155958, 1)  # nothing goes along
@given(seeds, st.integers(1, 6))
@settings(max_examples=300)
def test_rounding_decides_nothing(seed: int, k: int) -> None:
    """The same rows, each number off by a few parts in 10¹⁵, as on another machine."""
    z, y, weight = few_values(seed)
    noise = np.random.default_rng(seed + 1)
    kept, wanted = LassoPath(k).choose(z, y, weight), Append(k=k).rows_wanted(z, y, weight)
    for _ in range(3):
        off = [values * (1 + 1e-15 * noise.normal(size=values.shape)) for values in (z, y, weight)]
        assert np.array_equal(LassoPath(k).choose(*off), kept)
        assert Append(k=k).rows_wanted(*off) == wanted


@pytest.mark.parametrize("k", [1, 3])
def test_rows_in_another_order_choose_the_same(k: int) -> None:
    z, y, weight = few_values(7)
    turn = np.random.default_rng(0).permutation(len(y))
    kept = LassoPath(k).choose(z, y, weight)
    assert np.array_equal(LassoPath(k).choose(z[turn], y[turn], weight[turn]), kept)
