"""Laws of designs for wide tables: Latin hypercubes, and values that are changed often enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eagle
from eagle import Background, Method, methods
from eagle._engine import default
from eagle._tables.background import STEPS
from eagle._tables.rows import TableInstances, TableSpace
from eagle.contracts import Need
from eagle.designs.balanced import Sobol, scrambled_sobol
from eagle.designs.latin import Latin, hypercube
from eagle.designs.law import Absorbed, Clipped, every_step, mean_weight
from eagle.errors import InputError
from eagle.kernels import Exponential, Unit
from eagle.surrogates.bayes import BayesLinear, Prior

seeds = st.integers(0, 2**32 - 1)


def rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def table(shares: list[int], binned: bool = True) -> TableSpace:
    """Columns of two levels; so many of 32 rows have the row's own, and a number after them."""
    levels = np.array([[i < k for i in range(32)] for k in shares], dtype=float).T
    data = np.column_stack([levels, np.arange(32.0)])
    background = Background.of(data, categories=list(range(len(shares))))
    own = np.ones((1, len(shares) + 1))
    return TableInstances(background, background.adopt(own), binned).space(0)


RARE = [1, 2, 6, 16, 30, 31, 32]


@given(seeds, st.integers(1, 300), st.integers(1, 20))
def test_every_coordinate_has_one_point_in_every_part(seed: int, n: int, d: int) -> None:
    u = hypercube(n, d, rng(seed))
    assert (np.sort(np.floor(u * n), axis=0) == np.arange(n)[:, None]).all()
    assert ((u > 0) & (u < 1)).all()


def test_columns_of_a_hypercube_do_not_repeat_where_those_of_sobol_do() -> None:
    def most(u: Any) -> float:
        together = np.corrcoef((u < 0.25).T)
        return float(np.abs(together - np.eye(len(together))).max())

    assert most(scrambled_sobol(499, 1000, rng(0))) > 0.99
    assert most(hypercube(499, 1000, rng(0))) < 0.3


@given(seeds, st.integers(2, 200), st.sampled_from([True, False]))
def test_the_instance_first_and_all_by_the_seed(seed: int, n: int, binned: bool) -> None:
    space = table(RARE, binned)
    one, again = (Latin().plan([space], Exponential(), n, rng(seed))[0] for _ in range(2))
    assert one.shape == (n, len(space.origin))
    assert one.dtype == space.origin.dtype
    assert np.array_equal(one[0], space.origin)
    assert np.array_equal(one, again)
    assert Latin().plan([], Exponential(), n, rng(seed)) == []


@given(seeds, st.integers(2, 300))
def test_marginals_of_the_law_are_met_within_one_row(seed: int, n: int) -> None:
    space, law = table(RARE), Clipped()
    tilt = law.tilt(space, Exponential())
    upto = np.cumsum(tilt, axis=0) / tilt.sum(axis=0)
    points = Latin(law).plan([space], Exponential(), n + 1, rng(seed))[0][1:]
    for j, exact in enumerate(upto.T):
        found = np.searchsorted(np.sort(points[:, j]), np.arange(STEPS), side="right") / n
        assert np.abs(found - exact).max() <= 1 / n + 1e-6


@given(st.sampled_from([1 / 16, 1 / 8, 0.25, 0.5]), st.sampled_from([Exponential(), Unit()]))
def test_a_value_is_changed_and_kept_often_enough_and_nothing_else_moves(
    least: float, kernel: Any
) -> None:
    space = table(RARE)
    plain, clipped = Absorbed().tilt(space, kernel), Clipped(least, 100.0).tilt(space, kernel)
    features, anchor = every_step(space)
    match = features == anchor
    before, after = ((t * match).sum(axis=0) / t.sum(axis=0) for t in (plain, clipped))
    moves = before < 1
    assert np.allclose(after[moves], np.clip(before, least, 1 - least)[moves])
    assert np.array_equal(clipped[:, ~moves], plain[:, ~moves])
    inside = np.where(match, clipped / plain, np.nan)
    assert (np.nanmax(inside, axis=0) - np.nanmin(inside, axis=0) < 1e-12).all()
    fine = (before >= least) & (before <= 1 - least)
    assert np.array_equal(clipped[:, fine], plain[:, fine])
    assert mean_weight(space, kernel, Clipped(least)) == pytest.approx(
        mean_weight(space, kernel, Absorbed())
    )


def test_rows_do_not_end_up_far_away_where_nearly_all_values_are_rare() -> None:
    space, kernel = table([31] * 40), Exponential()
    features, anchor = every_step(space)

    def changes(law: Any) -> Any:
        tilt = law.tilt(space, kernel)
        return ((features != anchor) * tilt).sum(axis=0) / tilt.sum(axis=0)

    before, after = changes(Absorbed()), changes(Clipped())
    assert after.sum() == pytest.approx(1.5 * before.sum())
    assert (after[:40] > 1.4 * before[:40]).all()
    assert np.allclose(changes(Clipped(farther=1)), before)
    with pytest.raises(InputError, match="farther must be at least 1"):
        Clipped(farther=0.5)


def test_offsets_are_left_alone() -> None:
    space = table([3, 20], binned=False)
    plain, clipped = (law.tilt(space, Exponential()) for law in (Absorbed(), Clipped(0.5)))
    assert np.array_equal(plain[:, -1], clipped[:, -1])


@pytest.mark.parametrize("design", [Sobol, Latin])
def test_scores_of_features_that_act_alone_keep_their_limit(design: Any) -> None:
    data = np.column_stack([np.arange(400) < 8, np.arange(400) % 100]).astype(float)

    def model(X: Any) -> Any:
        return 3 * X[:, 0] + np.sin(X[:, 1] / 10)

    def scores(law: Any) -> Any:
        line = BayesLinear(Prior(1e-6))  # a prior shrinks more what changes more rarely
        method = Method("m", design(law), Exponential(), line)
        explainer = eagle.Explainer(model, data, method=method, budget=8193)
        return explainer.explain(data[300]).scores

    assert np.allclose(scores(Clipped()), scores(Absorbed()), atol=0.06)


@pytest.mark.parametrize("least", [0, -0.1, 0.6, float("nan"), "half"])
def test_a_share_is_above_0_and_up_to_a_half(least: Any) -> None:
    with pytest.raises(InputError, match="up to ½"):
        Clipped(least)


def test_plans_that_do_not_grow_are_refused_before_anything_is_asked() -> None:
    assert Need.WHOLE in Latin().needs
    assert not default.LATIN.nested
    assert methods.EAGLE_BALANCED.nested
    asked: list[int] = []

    def model(X: Any) -> Any:
        asked.append(len(X))
        return X[:, 0]

    explainer = eagle.Explainer(model, np.random.default_rng(0).normal(size=(50, 3)))
    wide = eagle.Explainer(
        model, np.random.default_rng(0).normal(size=(50, 3)), method=default.LATIN
    )
    with pytest.raises(InputError, match="needs a fixed number of rows"):
        wide.explain(np.zeros(3), until=eagle.until.Width(0.1))
    assert not asked
    few = explainer.with_options(budget=100)
    assert few.explain(np.zeros(3), until=eagle.until.Width(0.1)).cost.rows <= 100
