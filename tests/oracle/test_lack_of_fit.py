"""What the line misses, by second roads: formulas with known shares, and a dense likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import eagle
from eagle._engine.lack_of_fit import RATIOS, LackOfFit, LocalRows
from eagle._sources.masks import Fair
from eagle._sources.texts import Texts
from eagle._tables.background import Background
from eagle._tables.rows import TableInstances
from eagle._values.arrays import Array
from eagle.designs.law import Absorbed
from eagle.kernels import Exponential
from tables import explainer_of

EVEN = np.tile((np.arange(256) + 0.5) / 256, (6, 1)).T
"""Six columns of 256 even values: each quartile bin keeps all its 64 values."""


def told(model: Any, data: Any, x: Any, **how: Any) -> LackOfFit:
    found = explainer_of(model, data, task="regression", **how).explain(x).lack_of_fit
    assert found is not None
    return found


def inside(x: Array) -> Array:
    """Whether numbers are in the lowest quartile bin."""
    return np.asarray(x <= 0.25, dtype=np.float64)


def place(x: Array) -> Array:
    """Where numbers are in the lowest bin, or in all others together, from -1 to 1."""
    return np.asarray(np.where(x <= 0.25, 8 * x - 1, (2 * x - 1.25) / 0.75))


@pytest.mark.parametrize(("a", "b", "c"), [(1.0, 0.0, 0.0), (1.0, 3.0, 1.0), (0.5, 4.0, 0.3)])
def test_shares_are_those_of_the_formula(a: float, b: float, c: float) -> None:
    """y = a·z₀ + b·(z₁ − p)(z₂ − p) + c·place(x₃), all parts independent."""
    background = Background.of(EVEN)
    x = np.full(6, EVEN[10, 0])
    space = TableInstances(background, background.adopt(x[None])).space(0)
    tilt = Absorbed().tilt(space, Exponential())
    p = tilt[:256, 0].sum() / tilt[:, 0].sum()

    def model(X: Any) -> Array:
        z = inside(X)
        return np.asarray(a * z[:, 0] + b * (z[:, 1] - p) * (z[:, 2] - p) + c * place(X[:, 3]))

    parts = np.array([a**2 * p * (1 - p), c**2 / 3, (b * p * (1 - p)) ** 2])
    m = told(model, EVEN, x, budget=2000)
    shares = parts / parts.sum()
    assert [m.line, m.position, m.together] == pytest.approx(shares.tolist(), abs=0.03)
    assert m.line + m.position + m.together == pytest.approx(1.0)
    if shares[2] > 0.1:
        assert m.pair is not None
        assert m.pair.names == ("x1", "x2")
        assert m.pair.share == pytest.approx(shares[2], abs=0.06)


def test_curves_and_products_of_offsets() -> None:
    """y = z₀ + z₁² + z₂z₃ of normal offsets of one scale s: s², 2s⁴ and s⁴."""
    data = np.random.default_rng(0).normal(size=(500, 5))
    data = (data - data.mean(axis=0)) / data.std(axis=0)
    s2 = 1 / (1 + 2 / Exponential().scale(5))
    parts = np.array([s2, 2 * s2**2, s2**2])

    def model(X: Any) -> Array:
        return np.asarray(X[:, 0] + X[:, 1] ** 2 + X[:, 2] * X[:, 3])

    m = told(model, data, np.zeros(5), view="continuous", budget=3000)
    shares = (parts / parts.sum()).tolist()
    assert [m.line, m.position, m.together] == pytest.approx(shares, abs=0.04)
    assert m.pair is not None
    assert m.pair.names == ("x2", "x3")


def test_masks_have_no_position() -> None:
    """Of fair coins, z₀ + 2(z₁ − ½)(z₂ − ½)·2 has as much in the pair as in the line."""

    def model(texts: Any) -> Array:
        z = np.array([[word in t for word in ("alpha", "beta", "gamma")] for t in texts]) - 0.5
        return np.asarray(z[:, 0] + 2 * z[:, 1] * z[:, 2])

    text = "alpha beta gamma delta epsilon zeta eta theta"
    e = eagle.Explainer(model, Texts(sizes=Fair()), task="regression", budget=256).explain(text)
    m = e.lack_of_fit
    assert m is not None
    assert m.masks
    assert m.position == 0.0
    assert m.pair is not None
    assert set(m.pair.names) == {"beta", "gamma"}


@pytest.mark.parametrize("seed", range(4))
def test_reml_against_a_dense_likelihood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, k = 80, 4, 6
    z = rng.integers(0, 2, (n, d)).astype(np.float64)
    columns = rng.normal(size=(n, k))
    root = np.sqrt(rng.uniform(0.5, 1.5, n))
    root /= np.sqrt((root**2).mean())
    noise = rng.normal(size=n) / root
    y = z @ rng.normal(size=d) + [0.1, 0.5, 1.0, 3.0][seed] * columns @ rng.normal(size=k) + noise
    y -= np.average(y, weights=root**2)
    extra = [columns[:, :2], columns[:, 2:], np.empty((n, 0)), np.empty((n, 0))]
    local = LocalRows([f"x{j}" for j in range(d)], z, y, root, np.ones(d), list(extra), False)

    x = root[:, None] * np.column_stack([np.ones(n), z])
    standard = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    spread = (root[:, None] * standard) @ (root[:, None] * standard).T / k
    r = n - d - 1

    def parts(ratio: float) -> tuple[float, float]:
        v = np.eye(n) + ratio * spread
        vx, vy = np.linalg.solve(v, x), np.linalg.solve(v, root * y)
        inner = x.T @ vx
        beside = float(root * y @ vy - x.T @ vy @ np.linalg.solve(inner, x.T @ vy))
        cost = r * np.log(beside) + np.linalg.slogdet(v)[1] + np.linalg.slogdet(inner)[1]
        return float(cost), beside / r

    best = minimize_scalar(
        lambda log: parts(np.exp(log))[0], bounds=(np.log(1e-4), np.log(1e5)), method="bounded"
    )
    step = float(np.log(RATIOS[1] / RATIOS[0]))
    assert local.position is not None
    ratio = local.position.ratio
    assert abs(np.log(ratio) - best.x) < step or ratio in RATIOS[[0, -1]]
    found = local.parts
    assert found is not None
    variance = float(root**2 @ y**2) / (n - 1)
    assert found[2] == pytest.approx(parts(ratio)[1] / variance, rel=1e-6)
    flat = np.linalg.lstsq(x, root * y, rcond=None)[1][0] / r / variance
    assert found[0] == pytest.approx(max(1 - flat, 0.0), abs=1e-9)


@pytest.mark.parametrize("view", ["binned", "continuous"])
def test_steps_of_single_features_are_position(view: Any) -> None:
    """A sum of steps, each of one feature: nothing is done together, and no pair is sure."""
    data = np.exp(0.8 * np.random.default_rng(1).normal(size=(800, 12)))

    def model(X: Any) -> Array:
        return np.asarray(2.0 * (X[:, 0] > 1) + np.sin(2 * X[:, 1]) + (X[:, 2] > 0.5))

    explainer = eagle.Explainer(model, eagle.Table(data, view=view), task="regression")
    found = explainer.explain_many(data[:6], progress=False)
    assert max(e.lack_of_fit.together for e in found if e.lack_of_fit) < 0.08
    assert np.mean([e.interactions(1)[0].p < 0.05 for e in found]) < 0.5


def test_pairs_against_explicit_sums() -> None:
    rng = np.random.default_rng(1)
    n, d = 200, 4
    z = rng.integers(0, 2, (n, d)).astype(np.float64)
    y = z[:, 0] + 2 * z[:, 1] * z[:, 3] + 0.2 * rng.normal(size=n)
    y -= y.mean()
    none = [np.empty((n, 0)) for _ in range(d)]
    local = LocalRows(list("abcd"), z, y, np.ones(n), np.ones(d), list(none), False)
    x = np.column_stack([np.ones(n), z])
    hat = x @ np.linalg.pinv(x)
    e = (y - hat @ y) / np.sqrt(1 - np.diag(hat))
    phi = (z - z.mean(axis=0)) / z.std(axis=0)
    strongest = {}
    for i in range(d):
        for j in range(i):
            product = e * phi[:, i] * phi[:, j]
            strongest["abcd"[j], "abcd"[i]] = product.mean() ** 2 - (product**2).sum() / n**2
    found = local.pairs(6)
    assert found[0].names == max(strongest, key=lambda pair: strongest[pair]) == ("b", "d")
    assert found[0].share == pytest.approx(strongest["b", "d"] / y.var(ddof=1), rel=1e-9)
    assert found[0].p < 1e-6
    assert len({p.names for p in found}) == 6
    assert all(p.p > 0.05 for p in found[1:])
