"""S-LIME: its path by scikit-learn and by the lasso's own conditions; its margins by simulation,
by a covariance matrix and by hand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import lars_path

import eagle
from catalogue import Recorder
from eagle import Method, peers
from eagle.contracts import Array
from eagle.kernels import Exponential
from eagle.peers.lasso_path import path, path_columns, steps_to
from eagle.peers.selection import LassoPath
from eagle.peers.slime import Append, Margin
from eagle.surrogates.ridge import Ridge


def sample(seed: int, n: int = 80, d: int = 6) -> tuple[Array, Array, Array]:
    """Binary, or continuous and correlated with unequal sizes; weights are unequal."""
    rng = np.random.default_rng(seed)
    z = (rng.random((n, d)) < rng.uniform(0.2, 0.8, d)).astype(float)
    if seed % 2:
        z = rng.normal(size=(n, d)) @ (np.eye(d) + 0.6 * rng.normal(size=(d, d)))
    y = z @ rng.normal(size=d) + rng.uniform(0.1, 2) * rng.normal(size=n) + 3
    return z, y, rng.uniform(0.05, 1, n)


def scaled(z: Array, y: Array, weight: Array) -> tuple[Array, Array]:
    """Columns and answers about their weighted means, times √weight: nothing else."""
    root = np.sqrt(weight)
    x = (z - np.average(z, axis=0, weights=weight)) * root[:, None]
    return x, (y - np.average(y, weights=weight)) * root


def spread(y: Array, weight: Array) -> float:
    """The unit of margins."""
    return float(np.sqrt(np.mean(weight * (y - np.average(y, weights=weight)) ** 2)))


# -- the path -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_the_path_is_scikit_learns(seed: int) -> None:
    """Slopes at every knot, where columns come in and where they leave."""
    z, y, weight = sample(seed)
    x, lift = scaled(z, y, weight)
    _, _, theirs = lars_path(x, lift, method="lasso")
    steps = path(path_columns(z, y, weight))
    ours = np.array([np.zeros(6)] + [step.after for step in steps]).T * spread(y, weight)
    assert ours.shape == theirs.shape
    assert np.allclose(ours, theirs, rtol=1e-7, atol=1e-7 * np.abs(theirs).max())
    assert np.allclose(ours[:, -1], np.linalg.lstsq(x, lift)[0], rtol=1e-6, atol=1e-6)


def test_some_of_those_paths_lose_a_column() -> None:
    """So that the test before is about the lasso, not about least angles alone."""
    lost = [sum(s.enters is None for s in path(path_columns(*sample(seed)))) for seed in range(24)]
    assert sum(lost) >= 5


@pytest.mark.parametrize("seed", range(24))
def test_every_knot_solves_a_lasso(seed: int) -> None:
    """The conditions of a minimum of ½|r|²/n + penalty·Σ|slope|: inside, the mean product with
    what is left is the penalty times the slope's sign; outside, no more than the penalty."""
    z, y, weight = sample(seed)
    x, lift = scaled(z, y, weight)
    for step in path(path_columns(z, y, weight)):
        slopes = step.after * spread(y, weight)
        reach = x.T @ (lift - x @ slopes) / len(y)
        penalty = float(np.abs(reach).max())
        for j in step.inside:
            assert np.isclose(reach[j], np.sign(slopes[j]) * penalty, rtol=1e-7, atol=1e-12)
        assert set(np.flatnonzero(slopes)) <= set(step.inside)


# -- the margins --------------------------------------------------------------------------------


def by_covariance(z: Array, y: Array, weight: Array, k: int) -> list[tuple[float, float]]:
    """The published statistic on scikit-learn's path of the same columns: lead and error.

    The variance of ±x₁r ∓ x₂r is put together from the matrix of their covariances.
    """
    x, lift = scaled(z, y, weight)
    _, _, slopes = lars_path(x, lift, method="lasso")
    inside = [set(np.flatnonzero(np.abs(knot) > 1e-9)) for knot in slopes.T]
    last = max(i for i in range(1, len(inside)) if len(inside[i]) <= k)
    out = []
    for i in range(last):
        new, out_ = inside[i + 1] - inside[i], set(range(z.shape[1])) - inside[i] - inside[i + 1]
        if not new or not out_:
            continue  # a column has left, or there was no rival
        (first,) = new
        r = lift - x @ slopes[:, i]
        second = max(out_, key=lambda j: abs(np.mean(x[:, j] * r)))
        one, two = x[:, first] * r, x[:, second] * r
        both = np.cov(one, two)
        opposite = np.sign(one.mean() * two.mean())
        variance = both[0, 0] + both[1, 1] - 2 * opposite * both[0, 1]
        lead = abs(one.mean()) - abs(two.mean())
        out.append((float(lead), float(np.sqrt(2 * variance / len(y)))))
    return out


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("k", [1, 3, 5, 6])
def test_margins_by_the_covariance_of_products(seed: int, k: int) -> None:
    z, y, weight = sample(seed)
    unit = spread(y, weight)
    ours = [(m.lead * unit, m.error * unit) for m in Append(k=k).margins(z, y, weight)]
    expected = by_covariance(z, y, weight, k)
    assert len(ours) == len(expected)
    assert np.allclose(ours, expected, rtol=1e-6, atol=1e-9)


def test_four_rows_by_hand() -> None:
    """y = 3a + b on (±1, ±1): a comes in. What it leads by is (a − b)y = 0, 4, 4, 0: 2 on the mean,
    16/3 in variance. So the error is √(2·16/3/4) = √(8/3). The answers' mean square is 10."""
    z = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    y = np.array([4.0, 2.0, -2.0, -4.0])
    (margin,) = Append().margins(z, y, np.ones(4))
    assert np.isclose(margin.lead, 2 / np.sqrt(10))
    assert np.isclose(margin.error, np.sqrt(8 / 3) / np.sqrt(10))
    z95 = 1.6448536269514722
    assert Append().rows_wanted(z, y, np.ones(4)) == int(np.ceil(4 * z95**2 * (8 / 3) / 4)) == 8
    # The other sign, and the other column: the same.
    assert Append().margins(-z, y, np.ones(4)) == [margin]
    (turned,) = Append().margins(z[:, ::-1] * [1, -1], -y, np.ones(4))
    assert np.allclose([turned.lead, turned.error], [margin.lead, margin.error])


# -- one path -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("k", [1, 3, 5])
def test_what_is_reported_has_come_in_at_a_step_that_is_tested(seed: int, k: int) -> None:
    z, y, weight = sample(seed)
    rows = path_columns(z, y, weight)
    steps = steps_to(path(rows), k)
    tested = {rows.names[s.enters] for s in steps if s.enters is not None}
    assert set(LassoPath(k).choose(z, y, weight).tolist()) <= tested
    without_rivals = sum(s.enters is not None and not s.rivals for s in steps)
    entries = sum(s.enters is not None for s in steps)
    assert len(Append(k=k).margins(z, y, weight)) == entries - without_rivals


def test_columns_are_not_standardised() -> None:
    """The large column is reported though the two small ones correlate more with the answers.
    Which of the small ones comes first is random and does not matter."""
    rng = np.random.default_rng(3)
    small = rng.normal(size=(200, 2))
    z = np.column_stack([small, 20 * rng.normal(size=200)])
    y = small @ [1.0, 1.0] + 0.04 * z[:, 2]
    assert LassoPath(1).choose(z, y, np.ones(200)).tolist() == [2]
    assert Append(k=1).rows_wanted(z, y, np.ones(200)) == 200
    assert Append(k=1).rows_wanted(z / [1, 1, 20], y, np.ones(200)) > 200


# -- how many rows ------------------------------------------------------------------------------


def test_how_many_rows_the_test_wants() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(100, 2))
    weight = np.ones(100)
    z95 = float(stats.norm.ppf(0.95))
    seen = set[bool]()
    for gap in (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 2.0):
        y = (1 + gap) * z[:, 0] + z[:, 1] + rng.normal(size=100)
        (margin,) = Append().margins(z, y, weight)
        at = margin.lead / margin.error
        wanted = Append(tol=0).rows_wanted(z, y, weight)
        assert wanted == (100 if at >= z95 else min(200, int(np.ceil(100 * (z95 / at) ** 2))))
        seen.add(wanted == 100)
        if at < stats.norm.ppf(0.999):
            assert Append(alpha=0.001, tol=0).rows_wanted(z, y, weight) > 100
    assert seen == {True, False}


def test_rounding_adds_no_row() -> None:
    for m in range(101, 200):
        margin = Margin(lead=1.7 * 0.3 * np.sqrt(100 / m), error=0.3)
        assert margin.rows(100, 1.7) == m


def test_what_falls_short_by_less_than_tol_passes() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=(400, 2))
    y = z @ [1.02, 1.0] + 0.1 * rng.normal(size=400)
    (margin,) = Append().margins(z, y, np.ones(400))
    short = stats.norm.ppf(0.95) * margin.error - margin.lead
    assert short > 0
    for factor in (1.0, 1e-7, 1e7):  # of the answers' spread: no unit plays a part
        assert Append(tol=1.01 * short).rows_wanted(z, factor * y, np.ones(400)) == 400
        assert Append(tol=0.99 * short).rows_wanted(z, factor * y, np.ones(400)) > 400


def test_no_step_no_test() -> None:
    z, y, weight = sample(0)
    assert Append().margins(z[:, :1], y, weight) == []
    assert Append().margins(z, np.full(80, 0.4), weight) == []
    assert Append().margins(np.ones((80, 3)), y, weight) == []
    assert len(Append(k=6).margins(z, y, weight)) == 5  # the last of six has no rival


# -- columns that repeat, stand still or tie ----------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_columns_that_repeat_or_stand_still_play_no_part(seed: int) -> None:
    """A copy can never lead its original, so only the earlier column is used."""
    z, y, weight = sample(seed)
    noise = 1 + 1e-13 * np.random.default_rng(seed).normal(size=80)
    more = np.column_stack([z, z[:, 1] * noise, -z[:, 2], 3 - z[:, 0], np.full(80, 0.3)])
    for k in (1, 3, 5, 9):
        assert np.array_equal(
            LassoPath(k).choose(more, y, weight), LassoPath(k).choose(z, y, weight)
        )
        both = [Append(k=k).margins(rows, y, weight) for rows in (more, z)]
        assert both[0] == both[1]
        assert Append(k=k).rows_wanted(more, y, weight) == Append(k=k).rows_wanted(z, y, weight)
    turned = more[:, ::-1]  # now the copies come first, and stand for what they copy
    kept = LassoPath(4).choose(z, y, weight)
    names = {0: 1, 1: 3, 2: 2}  # 3 − z₀, z₁ and −z₂, counted from the end
    expected = sorted(names.get(j, 9 - j) for j in kept.tolist())
    assert LassoPath(4).choose(turned, y, weight).tolist() == expected


def test_a_small_change_is_not_a_copy() -> None:
    z, y, weight = sample(1)
    z = np.column_stack([z, z[:, 1]])
    z[5, 6] += 1e-3
    assert len(path_columns(z, y, weight).names) == 7


def test_what_those_inside_explain_is_nobodys_rival() -> None:
    """The mean of the first two comes level when both do: there it ties with the second, and more
    rows are asked. From then on nothing changes: the third feature has no rival."""
    rng = np.random.default_rng(5)
    z = rng.normal(size=(300, 4))
    z[:, 3] = z[:, :2].mean(axis=1)
    y = z[:, :3] @ [3.0, 2.0, 1.0] + 0.1 * rng.normal(size=300)
    assert LassoPath(4).choose(z, y, np.ones(300)).tolist() == [0, 1, 2]
    first, second = Append(k=4).margins(z, y, np.ones(300))
    assert first.lead > 0.01
    assert abs(second.lead) < 1e-9
    assert Append(k=4).rows_wanted(z, y, np.ones(300)) == 600


def test_a_sum_but_for_a_trace_is_not_kept_beside_its_parts() -> None:
    """Its slope would be a million, to fit what the trace says; or it comes and goes for ever."""
    rng = np.random.default_rng(6)
    z, trace = rng.normal(size=(100, 3)), rng.normal(size=100)
    z[:, 2] = z[:, 0] + z[:, 1] + 1e-6 * trace
    y = z[:, :2] @ [1.0, -3.0] + trace
    assert LassoPath(3).choose(z, y, np.ones(100)).tolist() == [0, 1]
    assert len(path(path_columns(z, y, np.ones(100)))) == 2


@pytest.mark.parametrize("factor", [3e-6, 1e-9, 1e-160, 1e-300, 1e9, 1e200])
def test_no_unit_of_the_answers_plays_a_part(factor: float) -> None:
    for seed in range(4):
        z, y, weight = sample(seed)
        for k in (1, 3, 6):
            kept = LassoPath(k).choose(z, y, weight)
            assert len(kept)
            assert np.array_equal(LassoPath(k).choose(z, factor * y, weight), kept)
            assert Append(k=k).rows_wanted(z, factor * y, weight) == Append(k=k).rows_wanted(
                z, y, weight
            )


def test_exact_ties_come_in_in_their_own_order() -> None:
    """All combinations, and a model that treats all columns alike: no rounding may decide."""
    z = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
    weight = np.exp(z.sum(axis=1) / 3)
    for slopes in ([1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [0.0, 0.7, 0.7, 0.0]):
        for factor in (1.0, 1 / 3, 0.1):
            order = [j for j in range(4) if slopes[j]]
            y = factor * z @ slopes
            for k in range(1, len(order) + 1):
                assert LassoPath(k).choose(z, y, weight).tolist() == order[:k]
    ordered = z @ [1.0, 1.0, 1.0, 1.0] + z[:, 0] * z[:, 1]
    assert LassoPath(1).choose(z, ordered, weight).tolist() == [0]
    assert Append(k=1).rows_wanted(z, ordered, weight) == 32  # no lead at all: twice the rows


# -- whole explanations -------------------------------------------------------------------------


def line(slopes: Sequence[float]) -> Any:
    return lambda X: sum(s * column for s, column in zip(slopes, X.T, strict=True))


def appended(model: Any, budget: int = 500, **how: Any) -> tuple[eagle.Explanation, Recorder]:
    data, seen = np.random.default_rng(2).normal(size=(600, 4)), Recorder(model)
    method = Method("S-LIME", Append(**how), Exponential(), Ridge())
    e = eagle.Explainer(
        seen, eagle.Table(data, view="continuous"), method=method, budget=budget
    ).explain(data[[0]])
    return e, seen


def test_clear_steps_ask_no_more() -> None:
    e, model = appended(line([8.0, 1.0, 0.5, 0.5]), k=1)
    assert [len(X) for X in model.asked] == [100]
    assert e.cost.rows == 100


def test_a_near_tie_appends_and_asks_nothing_twice() -> None:
    e, model = appended(line([2.0, 1.99, 0.1, 0.1]), k=1, budget=1000)
    sizes = [len(X) for X in model.asked]
    assert sizes[0] == 100
    assert len(sizes) >= 3
    assert sum(sizes) == e.cost.rows == 1000
    total = np.cumsum(sizes)
    assert (total[1:] <= 2 * total[:-1]).all()  # at most twofold
    every = np.concatenate(model.asked)
    assert not pd.DataFrame(every).duplicated().any()
    assert np.allclose(e.evidence.answers[:, 0], line([2.0, 1.99, 0.1, 0.1])(every))


def test_s_limes_own_numbers() -> None:
    assert peers.S_LIME.surrogate == Ridge(1.0, LassoPath(Append().k))
    for wrong in ({"k": 0}, {"first": 0}, {"alpha": 0.0}, {"alpha": 0.5}):
        with pytest.raises(eagle.InputError, match=r"at least 1|between 0"):
            Append(**wrong)
    for tol in (-1e-3, float("nan"), float("inf")):
        with pytest.raises(eagle.InputError, match="tol"):
            Append(tol=tol)
