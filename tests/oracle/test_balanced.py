"""Balanced rows against the exact law: all cells of a small table with their probabilities."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from itertools import product
from typing import Any

import numpy as np
import pytest

import eagle
from eagle import Method, methods, peers
from eagle.contracts import Array
from eagle.designs.balanced import scrambled_sobol
from eagle.designs.hadamard import Hadamard
from eagle.kernels import COSINE
from eagle.spaces import EvenSizes, Fair, MaskSpace
from eagle.surrogates.ridge import Ridge

SHARES = ([20, 8, 4], [4, 12, 16], [8, 16, 8], [2, 2, 28])


def data() -> Array:
    """Four columns of three levels, so many of 32 rows each."""
    return np.column_stack([np.repeat([0.0, 1.0, 2.0], s) for s in SHARES])


def answers(X: Any) -> Any:
    """Steps, a product, and no line."""
    X = np.asarray(X)
    return (X[:, 0] == 1) + np.sin(3 * X[:, 1]) * X[:, 2] + (X[:, 3] > 0) * X[:, 0]


def line(Z: Array, y: Array, weight: Array) -> Array:
    root = np.sqrt(weight)[:, None]
    A = np.column_stack([np.ones(len(Z)), Z])
    return np.asarray(np.linalg.lstsq(root * A, root[:, 0] * y, rcond=None)[0][1:])


def limit(row: Array) -> Array:
    """The line through all 81 cells, each by its frequency times its kernel weight."""
    cells = np.array(list(product(range(3), repeat=4)), dtype=float)
    chance = np.prod([np.array(s)[cells[:, j].astype(int)] for j, s in enumerate(SHARES)], axis=0)
    Z = (cells == row).astype(float)
    return line(Z, answers(cells), chance * methods.EAGLE.kernel(Z, np.ones(4)))


def explained(method: Method, row: Array, n: int, seed: int) -> Array:
    ex = eagle.Explainer(
        answers,
        eagle.Table(data(), categories=[0, 1, 2, 3]),
        method=method,
        budget=n,
        random_state=seed,
    )
    return np.asarray(ex.explain(row).scores)


@pytest.mark.parametrize("row", [(0, 0, 0, 0), (1, 2, 1, 2), (2, 1, 0, 1)])
def test_it_converges_to_the_line_through_the_whole_law(row: tuple[int, ...]) -> None:
    own, method = np.array(row, dtype=float), methods.EAGLE_BALANCED
    exact = limit(own)
    size = np.abs(exact).max()
    errors = {
        n: np.mean([np.abs(explained(method, own, n, s) - exact).max() for s in range(4)]) / size
        for n in (64, 512, 4096)
    }
    assert errors[4096] < 0.02  # the prior alone is worth as much at 512 rows
    assert errors[4096] < errors[512] / 3 < errors[64] / 6


def test_it_converges_sooner_than_independent_rows_of_the_same_law() -> None:
    row = np.zeros(4)
    exact = limit(row)
    even, chance = (
        np.mean([np.sum((explained(m, row, 257, s) - exact) ** 2) for s in range(12)])
        for m in (replace(m, surrogate=Ridge(1e-6)) for m in (methods.EAGLE_BALANCED, peers.GLIME))
    )
    assert even < chance / 2


def test_masks_converge_to_the_line_through_all_masks() -> None:
    d = 8
    every = np.array(list(product((0.0, 1.0), repeat=d)))

    def shown(X: Any) -> Any:
        on = np.asarray(X).reshape(len(X), d, -1)[:, :, 0]
        return on[:, 0] * on[:, 1] + np.sin(on @ np.arange(d))

    space = eagle.Images(np.arange(1, d + 1).reshape(2, 4), fill=0)
    picture = np.ones((2, 4, 1))
    kernel = COSINE(every, np.ones(d))
    exact = line(every, shown(every), kernel)
    # Nearly all masks are asked, so only their multiplicities are random.
    method = methods.EAGLE_BALANCED
    ex = eagle.Explainer(shown, space, method=method, budget=4096, task="regression")
    e = ex.explain(picture)
    assert e.cost.rows > 0.9 * 2**d
    assert np.abs(e.scores - exact).max() < 0.06 * np.abs(exact).max()


@pytest.mark.parametrize("sizes", [Fair(), EvenSizes()])
def test_orthogonal_rows_converge_to_the_line_through_all_masks_in_the_law_of_the_space(
    sizes: Any,
) -> None:
    d = 7
    space = MaskSpace(d, sizes)
    every = np.array(list(product((0.0, 1.0), repeat=d)))

    def shown(z: Array) -> Array:
        return np.asarray(z[:, 0] * z[:, 1] + np.sin(z @ np.arange(d)))

    ways = np.bincount(every.sum(axis=1).astype(int))
    chance = (space.counts / ways)[every.sum(axis=1).astype(int)]
    exact = line(every, shown(every), chance * COSINE(every, np.ones(d)))
    generator = np.random.Generator(np.random.PCG64(5))
    (points,) = Hadamard().plan([space], COSINE, 2**16 + 1, generator)
    z = space.features(points)
    found = line(z, shown(z), Hadamard().weight(space, COSINE, z))
    assert np.abs(found - exact).max() < 0.04 * np.abs(exact).max()


def test_scrambling_matches_scipy_in_kind() -> None:
    """The same sequence under another scramble: as even by scipy's own measure, and uniform."""
    from scipy.stats import kstest, qmc

    generator = np.random.Generator(np.random.PCG64(0))
    mine = [scrambled_sobol(256, 6, generator) for _ in range(20)]
    by = "rng" if "rng" in signature(qmc.Sobol).parameters else "seed"  # scipy's old name for it
    theirs = [qmc.Sobol(6, **{by: np.random.default_rng(i)}).random(256) for i in range(20)]
    ours, scipys = (np.mean([qmc.discrepancy(u) for u in sets]) for sets in (mine, theirs))
    assert (
        ours
        < 1.1 * scipys
        < 0.2
        * np.mean([qmc.discrepancy(np.random.default_rng(i).random((256, 6))) for i in range(20)])
    )
    many = np.array([scrambled_sobol(1, 1, generator)[0, 0] for _ in range(500)])
    assert kstest(many, "uniform").pvalue > 0.01
