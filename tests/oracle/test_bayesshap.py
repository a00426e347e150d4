"""BayesSHAP by Shapley values: by enumeration, and by `shap` itself."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import eagle
from catalogue import Heard
from eagle import Background, Images, peers
from eagle._engine.method import Method
from eagle._sources.masks import Fair, MaskSpace
from eagle._tables.frame import frame
from eagle._tables.rows import TableInstances
from eagle._values.arrays import Array
from eagle.contracts import Rows, Seen
from eagle.designs.law import movable
from eagle.kernels import Shapley
from eagle.peers.bayesshap import Coalitions
from eagle.peers.focus import IDENTITY
from eagle.surrogates.bayes import BayesLinear, Prior
from tables import explainer_of

EXACT = Prior(slopes=1e-12, intercept=0.0)


def game(masks: Array) -> Array:
    """Something that no line is."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, masks.shape[1]))
    return np.asarray(np.tanh(masks @ a) + (masks @ b) ** 2 / 4 + 3 * masks[:, 0] * masks[:, -1])


def every(d: int) -> Array:
    """All coalitions, the full one first."""
    return np.array(list(product([1.0, 0.0], repeat=d)))


def by_subsets(d: int) -> Array:
    out = np.zeros(d)
    for j in range(d):
        others = [i for i in range(d) if i != j]
        for size in range(d):
            share = math.factorial(size) * math.factorial(d - size - 1) / math.factorial(d)
            for some in combinations(others, size):
                mask = np.zeros((2, d))
                mask[:, list(some)] = 1.0
                mask[1, j] = 1.0
                out[j] += share * np.diff(game(mask))[0]
    return out


# -- the kernel ---------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3, 7, 12])
def test_the_kernel_as_it_is_written(d: int) -> None:
    kept = np.tri(d + 1, d, k=-1)
    expected = [1.0] + [(d - 1) / (math.comb(d, k) * k * (d - k)) for k in range(1, d)] + [1.0]
    assert np.allclose(Shapley()(kept, np.ones(d)), expected, rtol=1e-12)
    assert np.allclose(Shapley(ends=10**6)(kept, np.ones(d))[[0, -1]], 1e6)


@pytest.mark.parametrize("d", [0, 1, 60, 1025, 3000])
def test_the_kernel_of_none_one_or_a_thousand_players(d: int) -> None:
    weight = Shapley()(np.tri(d + 1, d, k=-1), np.ones(d))
    assert (weight > 0).all()
    assert np.isfinite(weight).all()
    assert weight[0] == weight[-1] == 1


# -- Shapley values -----------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3, 5, 8])
def test_all_coalitions_and_no_prior_give_shapley_values(d: int) -> None:
    masks = every(d)
    weight = Shapley(ends=1e9)(masks, np.ones(d))
    fit = BayesLinear(EXACT).fit(masks, game(masks), weight)
    assert np.allclose(fit.scores, by_subsets(d), atol=1e-6)
    assert np.isclose(fit.intercept, game(np.zeros((1, d)))[0], atol=1e-6)
    assert np.isclose(fit.local, game(np.ones((1, d)))[0], atol=1e-6)


LABELS = np.repeat(np.arange(6).reshape(2, 3), 2, axis=1).repeat(2, axis=0)
PICTURE = np.ones((4, 6))


def seen(X: Array) -> Array:
    """The game on which segments of `PICTURE` are kept."""
    return game(np.stack([X[:, k == LABELS].mean(axis=1) for k in range(6)], axis=1))


def picture(method: Method, **options: Any) -> eagle.Explanation:
    data = Images(LABELS, fill=0)
    return explainer_of(seen, data, method=method, task="regression", **options).explain(PICTURE)


def test_pictures_through_the_front_door() -> None:
    """With a budget large enough all 64 masks are asked, once each, and count as often as they
    were drawn: with weights of their own, Shapley values come out."""
    method = Method("exact", Coalitions(), Shapley(ends=1e9), BayesLinear(EXACT))
    e = picture(method, budget=3000)
    assert e.cost.rows == 64
    repeats = e.evidence.weight / Shapley(ends=1e9)(e.evidence.features, np.ones(6))
    assert np.allclose(repeats, np.rint(repeats))
    assert repeats.sum() == 3000
    weight = e.evidence.weight / repeats
    fit = BayesLinear(EXACT).fit(e.evidence.features, e.evidence.answers[:, 0], weight)
    assert np.allclose(fit.scores, by_subsets(6), atol=1e-6)


def test_a_table_of_two_rows() -> None:
    """Two background rows, one the instance: a match or the other row's value, 2^d in all."""
    data = np.array([[1.0, 1, 1, 1], [0.0, 0, 0, 0]])
    method = Method("exact", Coalitions(), Shapley(ends=1e9), BayesLinear(EXACT))
    e = eagle.Explainer(
        game, eagle.Table(data, categories=range(4)), method=method, budget=600
    ).explain(data[:1])
    assert e.cost.rows == 16
    weight = Shapley(ends=1e9)(e.evidence.features, np.ones(4))
    fit = BayesLinear(EXACT).fit(e.evidence.features, e.evidence.answers[:, 0], weight)
    assert np.allclose(fit.scores, by_subsets(4), atol=1e-6)


# -- the plan -----------------------------------------------------------------------------------


def tables() -> list[Any]:
    rng = np.random.default_rng(4)
    numbers = rng.normal(size=(300, 3))
    few = rng.choice(3, size=(300, 2), p=[0.8, 0.15, 0.05])
    data = np.column_stack([numbers, few, np.full(300, 7.0)])
    ground = Background.of(frame(data), categories=[3, 4])
    return [TableInstances(ground, frame(data)).space(i) for i in (0, 5, 9)]


def test_the_plan() -> None:
    design, spaces = Coalitions(), [*tables()]
    plans = design.plan(spaces, Shapley(), 4000, np.random.default_rng(0))
    for space, points in zip(spaces, plans, strict=True):
        z, moves = space.features(points), movable(space)
        assert points.dtype == space.origin.dtype
        assert moves.tolist() == [True] * 5 + [False]
        assert np.array_equal(points[0], space.origin)
        assert z[0].all()
        assert not z[1, moves].any()
        assert z[:, ~moves].all()
        share = z[2:, moves].mean(axis=0)
        assert np.abs(share - 0.5).max() < 4 * 0.5 / np.sqrt(4000)
        joint = np.corrcoef(z[2:, moves].T)[np.triu_indices(5, 1)]
        assert np.abs(joint).max() < 4 / np.sqrt(4000)
        weight = design.weight(space, Shapley(), z)
        assert np.allclose(weight, Shapley()(z[:, :5], np.ones(5)))


@pytest.mark.parametrize("budget", [1, 2, 3, 7])
def test_short_plans_are_the_beginnings_of_long_ones(budget: int) -> None:
    for spaces in (tables(), [MaskSpace(6, Fair())]):
        design = Coalitions()
        short, long = (
            design.plan(spaces, Shapley(), n, np.random.default_rng(1))[0] for n in (budget, 50)
        )
        assert len(short) == budget
        assert np.array_equal(short, long[:budget])
    assert Coalitions().plan([], Shapley(), 10, np.random.default_rng(1)) == []


def test_masks_are_fair_coins_after_two_rows() -> None:
    (points,) = Coalitions().plan(
        [MaskSpace(5, Fair())], Shapley(), 32_002, np.random.default_rng(2)
    )
    code = points[2:] @ (1 << np.arange(5))
    assert points[1].all()
    assert np.abs(np.bincount(code, minlength=32) - 1000).max() < 5 * np.sqrt(1000)


def test_focused_it_starts_likewise_and_its_line_is_the_same() -> None:
    e = picture(peers.BAYESSHAP, budget=40)
    assert e.evidence.features[0].all()
    assert not e.evidence.features[1].any()
    line = BayesLinear(IDENTITY).fit(
        e.evidence.features, e.evidence.answers[:, 0], e.evidence.weight
    )
    assert np.allclose(line.scores, e.scores)
    assert peers.BAYESSHAP.surrogate == BayesLinear(IDENTITY)


def test_a_feature_that_cannot_move_is_no_player() -> None:
    data = np.column_stack([np.random.default_rng(0).normal(size=(200, 3)), np.full(200, 2.0)])
    e = eagle.Explainer(
        lambda X: X[:, 0] + X[:, 3], data, method=peers.BAYESSHAP_IID, budget=200
    ).explain(data[:1])
    inner = Shapley()(e.evidence.features[:, :3], np.ones(3))
    assert np.allclose(e.evidence.weight, inner)
    only = eagle.Explainer(
        lambda X: X[:, 1], data[:, [3, 0]], method=peers.BAYESSHAP_IID, budget=50
    ).explain(data[:1, [3, 0]])
    assert np.isfinite(only.scores).all()


# -- what the pool of a focused round holds -------------------------------------------------------


def uneven() -> tuple[Array, Any]:
    """A table of numbers and levels of uneven shares, and the space around a row of it."""
    rng = np.random.default_rng(4)
    levels = rng.choice(3, size=(3000, 2), p=[0.8, 0.15, 0.05])
    data = np.column_stack([rng.normal(size=(3000, 2)), levels, np.full(3000, 7.0)])
    row = int(np.flatnonzero((levels == [0, 1]).all(axis=1))[0])
    ground = Background.of(frame(data), categories=[2, 3])
    return data, TableInstances(ground, frame(data)).space(row)


def pooled(design: Any, space: Any, rounds: int) -> Array:
    """The points among which a design chose, or which it took, after its first rows."""
    first = design.ask(nothing(space), space, Shapley(), 50, np.random.default_rng(0))
    z = space.features(first)
    seen = Seen(first, Rows.each_once(z, np.ones(len(z))), np.sin(3 * z.sum(axis=1)) + z[:, 0])
    found = []
    for k in range(rounds):
        place = Heard(space)
        taken = design.ask(seen, place, Shapley(), 2000, np.random.default_rng(k + 1))
        scored = [p for p in place.points if len(p) not in (1, space.steps)]
        found.append(scored[0] if scored else taken)
    return np.concatenate(found)


def nothing(space: Any) -> Seen:
    none = space.origin[None][:0]
    return Seen(none, Rows.each_once(space.features(none), np.empty(0)), np.empty(0))


def test_candidates_are_fair_coins_whatever_the_shares_of_bins() -> None:
    """Counted: each match by a fair coin, no two of them related, and what leaves as it is there.

    By the shares of bins a number would match in a quarter of the rows, and a level in as many as
    have it: that is LIME's law, not Shapley's.
    """
    data, space = uneven()
    points = pooled(peers.BAYESSHAP.design, space, 4)
    z, n = space.features(points), len(points)
    assert n >= 4000
    counts = np.bincount((z[:, :4] @ [8, 4, 2, 1]).astype(int), minlength=16)
    assert stats.chisquare(counts).pvalue > 1e-3  # all 16 coalitions of 4 players alike
    assert z[:, 4].all()  # what never varies is no player
    level = space.values(points)[:, 3]
    away = level[z[:, 3] == 0]
    share = np.array([(data[:, 3] == one).mean() for one in (0, 2)])
    there = np.array([(away == one).sum() for one in (0, 2)])
    assert there.sum() == len(away)
    assert np.allclose(there / len(away), share / share.sum(), atol=0.04)


def test_unfocused_by_shapley_candidates_keep_the_shares_of_bins() -> None:
    """BayesLIME's own candidates: a quarter stays in a number's bin, and a level by its share."""
    data, space = uneven()
    z = space.features(pooled(peers.BAYESLIME.design, space, 8))
    own = space.values(space.origin[None])[0]
    share = [0.25, 0.25, (data[:, 2] == own[2]).mean(), (data[:, 3] == own[3]).mean(), 1.0]
    assert np.allclose(z.mean(axis=0), share, atol=0.03)
