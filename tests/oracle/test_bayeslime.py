"""BayesLIME by explicit matrices, by draws, and by the softmax as it is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import eagle
from catalogue import Recorder
from eagle import peers
from eagle._engine.method import Method
from eagle._values.arrays import Array
from eagle._values.posterior import StudentT
from eagle.peers.focus import Focus
from tables import explainer_of


def table(n: int = 400, d: int = 5) -> Array:
    return np.random.default_rng(3).normal(size=(n, d)) * [1.0, 5.0, 0.1, 2.0, 1.0][:d]


def bent(X: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.sin(X[:, 0]) - X[:, 1] * X[:, 3] / 4 - 3 * X[:, 2])))


def explained(method: Method, model: Any = bent, **options: Any) -> eagle.Explanation:
    data = table()
    return explainer_of(model, data, method=method, **options).explain(data[[7]])


# -- the line -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [peers.BAYESLIME_IID, peers.BAYESLIME])
def test_the_posterior_by_explicit_matrices(method: Method) -> None:
    e = explained(method)
    Z = np.column_stack([np.ones(e.cost.rows), e.evidence.features])
    y, W = e.evidence.answers[:, 0], np.diag(e.evidence.weight)
    V = np.linalg.inv(Z.T @ W @ Z + np.eye(6))
    phi = V @ Z.T @ W @ y
    r = y - Z @ phi
    s2 = (r @ W @ r + phi @ phi) / len(y)
    assert isinstance(e.posterior, StudentT)
    assert np.allclose(e.scores, phi[1:], rtol=1e-9)
    assert np.isclose(e.intercept, phi[0], rtol=1e-9)
    assert np.isclose(e.posterior.variance, s2, rtol=1e-9)
    assert np.allclose(e.posterior.factor, V[1:, 1:], rtol=1e-9)
    assert e.posterior.df == len(y)


def test_its_weights_are_limes() -> None:
    """sqrt-exp of the number of mismatches, w = 0.75·√d."""
    e = explained(peers.BAYESLIME_IID)
    off = (1 - e.evidence.features).sum(axis=1)
    assert np.allclose(e.evidence.weight, np.exp(-off / (2 * 0.75**2 * 5)), rtol=1e-12)


# -- focus --------------------------------------------------------------------------------------


def softmax(std: Array, temperature: float) -> Array:
    odds = np.exp(std / temperature)
    return np.asarray(odds / odds.sum())


STD = np.array([0.100, 0.1004, 0.1010, 0.0995, 0.1002, 0.1007])


@pytest.mark.parametrize("again", [False, True])
def test_the_first_pick_follows_the_softmax(again: bool) -> None:
    rng, focus = np.random.default_rng(1), Focus(again=again)
    picked = np.array([focus._choose(STD, 1, rng)[0] for _ in range(20_000)])
    counts = np.bincount(picked, minlength=6)
    p = stats.chisquare(counts, 20_000 * softmax(STD, focus.temperature)).pvalue
    assert p > 0.01


def test_with_replacement_every_pick_does_and_without_none_comes_twice() -> None:
    many = Focus(again=True)._choose(STD, 20_000, np.random.default_rng(2))
    assert stats.chisquare(np.bincount(many), 20_000 * softmax(STD, 5e-4)).pvalue > 0.01
    rng = np.random.default_rng(1)
    pairs = np.array([Focus()._choose(STD, 2, rng) for _ in range(20_000)])
    assert (pairs[:, 0] != pairs[:, 1]).all()
    p = softmax(STD, 5e-4)
    # By the chain rule: i first, then j of those that are left.
    both = p[:, None] * p / (1 - p[:, None])
    np.fill_diagonal(both, 0.0)
    seen = np.bincount(pairs[:, 0] * 6 + pairs[:, 1], minlength=36).reshape(6, 6)
    there = both > 0
    assert stats.chisquare(seen[there], 20_000 * both[there]).pvalue > 0.01
    every = Focus()._choose(STD, 6, rng)
    assert sorted(every.tolist()) == list(range(6))


@pytest.mark.parametrize("again", [False, True])
def test_nothing_overflows(again: bool) -> None:
    """exp(1e6) is infinite: the reference divides infinity by itself."""
    std = np.array([500.0, 499.99, 1.0, 0.0])
    assert std[0] / 5e-4 == 1e6
    for seed in range(20):
        chosen = Focus(again=again)._choose(std, 1, np.random.default_rng(seed))
        assert chosen.tolist() == [0]
    two = Focus(again=again)._choose(std, 2, np.random.default_rng(0))
    assert two.tolist() == ([0, 0] if again else [0, 1])
    flat = Focus(again=again)._choose(np.full(4, 1e9), 3, np.random.default_rng(0))
    assert len(flat) == 3


@pytest.mark.parametrize("method", [peers.BAYESLIME, peers.BAYESSHAP])
def test_an_unsure_pilot_gives_finite_scores(method: Method) -> None:
    e = explained(method, lambda X: 1e9 * bent(X))
    assert e.cost.rows > 100
    assert np.isfinite(e.scores).all()
    assert np.isfinite(e.interval()).all()


def test_fifty_calls_of_ten() -> None:
    model = Recorder(bent)
    e = explained(peers.BAYESLIME, model, budget=500)
    assert [len(X) for X in model.asked] == [10] * 50
    assert (e.cost.rows, e.cost.calls) == (500, 50)


def test_focus_asks_where_the_line_is_unsure() -> None:
    """The mean of zᵀVz over the rows chosen, after the seeds, beats that of independent rows."""
    focus, iid = (explained(m, budget=200) for m in (peers.BAYESLIME, peers.BAYESLIME_IID))

    def unsure(e: eagle.Explanation) -> float:
        z = np.column_stack([np.ones(e.cost.rows), e.evidence.features])
        V = np.linalg.inv(np.eye(6) + (z[:10].T * e.evidence.weight[:10]) @ z[:10])
        return float(np.einsum("ij,jk,ik->i", z[10:40], V, z[10:40]).mean())

    assert unsure(focus) > 1.1 * unsure(iid)


def test_what_makes_no_sense_is_refused() -> None:
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(eagle.InputError, match="temperature"):
            replace(Focus(), temperature=-abs(wrong))
    with pytest.raises(eagle.InputError, match="integer"):
        Focus(seeds=0)
