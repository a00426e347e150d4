"""GLIME has no reference that runs: its laws by enumeration, by frequencies, and against LIME."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import linear_model

import eagle
from eagle import Images, peers
from eagle._tables.background import NORMAL, STEPS, Background
from eagle._tables.frame import frame
from eagle._tables.rows import TableInstances, TableSpace
from eagle._values.arrays import Array, Points
from eagle.designs.law import Absorbed
from eagle.errors import InputError
from eagle.kernels import COSINE, Exponential, Unit
from eagle.peers.glime import Removal, Tilted
from eagle.peers.offsets import Gauss
from eagle.surrogates.ridge import Ridge

SHARES = ([0.7, 0.2, 0.1], [0.1, 0.4, 0.5], [0.25, 0.5, 0.25], [0.05, 0.05, 0.9])


def space(row: tuple[int, ...] = (0, 0, 0, 0), n: int = 4000) -> TableSpace:
    """Four columns of three levels, so common as SHARES say."""
    columns = [np.repeat([0, 1, 2], np.rint(np.array(s) * n).astype(int)) for s in SHARES]
    data = frame(np.column_stack(columns).astype(float))
    background = Background.of(data, categories=[0, 1, 2, 3])
    return TableInstances(background, background.adopt(np.array([row], dtype=float))).space(0)


def rates(at: TableSpace) -> Array:
    """How often each feature of the space's own law matches, over all of its equal steps."""
    steps = np.repeat(np.arange(STEPS, dtype=np.uint16)[:, None], 4, axis=1)
    return np.asarray(at.features(steps).mean(axis=0))


def absorbed(q: Array, width: float) -> Array:
    """The law of matches when the kernel is in the drawing."""
    leave = np.exp(-1 / (2 * width**2))
    return np.asarray(q / (q + (1 - q) * leave))


def plan(at: Any, design: Any, kernel: Any, n: int, seed: int = 0) -> Points:
    (points,) = design.plan([at], kernel, n, np.random.Generator(np.random.PCG64(seed)))
    return np.asarray(points)


# -- the law of tables --------------------------------------------------------------------------


@pytest.mark.parametrize("width", [0.3, 0.75, 1.5, None])
def test_matches_are_drawn_as_the_kernel_weighs_them(width: float | None) -> None:
    at, n = space(), 60_000
    q = rates(at)
    assert len(set(q.tolist())) == 4  # unequal rates
    assert np.allclose(q, [s[0] for s in SHARES], atol=1 / 32)
    features = at.features(plan(at, Tilted(), Exponential(width), n)[1:])
    p = absorbed(q, width or 0.75 * np.sqrt(4))
    error = np.sqrt(p * (1 - p) / n)
    assert (np.abs(features.mean(axis=0) - p) < 4 * error).all()
    apart = np.corrcoef(features.T) - np.eye(4)  # features stay independent
    assert np.abs(apart).max() < 4.5 / np.sqrt(n)


def test_what_leaves_keeps_its_own_frequencies() -> None:
    at, n = space(), 60_000
    kernel = Exponential(0.5)
    points = plan(at, Tilted(), kernel, n)[1:]
    values, features = at.values(points), at.features(points)
    own = at.values(at.draw(n, np.random.Generator(np.random.PCG64(1))))
    for j, shares in enumerate(SHARES):
        left = values[features[:, j] == 0, j]
        observed = np.array([(left == level).sum() for level in (1, 2)])
        assert observed.sum() == len(left)  # a match has the row's own level
        expected = len(left) * np.array(shares[1:]) / sum(shares[1:])
        assert (np.abs(observed - expected) < 4 * np.sqrt(expected) + len(left) / STEPS).all()
        # And as the space itself draws: two samples of one law.
        other = own[own[:, j] != 0, j]
        table = [observed, [(other == level).sum() for level in (1, 2)]]
        assert stats.chi2_contingency(table).pvalue > 1e-3


def test_the_row_itself_comes_first_and_plans_are_nested() -> None:
    at = space((1, 2, 0, 1))
    long, short = (plan(at, Tilted(), Exponential(), n) for n in (50, 20))
    assert np.array_equal(long[0], at.origin)
    assert np.array_equal(long[:20], short)
    assert plan(at, Tilted(), Unit(), 30).shape == (30, 4)


def test_only_a_kernel_that_is_a_product_can_be_absorbed() -> None:
    with pytest.raises(InputError, match="exponential kernel of the Euclidean distance"):
        plan(space(), Tilted(), COSINE, 10)


# -- one estimate by three roads ----------------------------------------------------------------


@pytest.mark.parametrize("width", [0.4, 1.0, None])
@pytest.mark.parametrize("alpha", [1e-3, 0.1, 1.0])
def test_the_three_populations_have_one_ridge(width: float | None, alpha: float) -> None:
    """All 2⁴ masks with their probabilities: LIME's own law and kernel; the absorbed law whose
    rows weigh π̄; and the absorbed law whose rows weigh 1, under a ridge of α/π̄."""
    at, kernel = space(), Exponential(width)
    masks = np.array(list(product([1.0, 0.0], repeat=4)))
    q = rates(at)
    tilt = Absorbed().tilt(at, kernel)
    match = at.features(np.repeat(np.arange(STEPS, dtype=np.uint16)[:, None], 4, axis=1))
    p = (tilt * match).sum(axis=0) / tilt.sum(axis=0)
    assert np.allclose(p, absorbed(q, width or 0.75 * np.sqrt(4)), rtol=1e-12)

    def chance(rate: Array) -> Array:
        return np.asarray(np.prod(np.where(masks == 1, rate, 1 - rate), axis=1))

    y = np.sin(masks @ [1.0, -2.0, 3.0, 0.5]) + masks[:, 0] * masks[:, 2]
    weight = kernel(masks, np.ones(4))
    mean = Tilted(mass=True).weight(at, kernel, masks)
    assert np.ptp(mean) == 0
    assert np.isclose(mean[0], chance(q) @ weight, rtol=1e-12)
    assert np.allclose(chance(q) * weight, chance(p) * mean, rtol=1e-12)
    lime = Ridge(alpha).fit(masks, y, chance(q) * weight)
    with_mass = Ridge(alpha).fit(masks, y, chance(p) * mean)
    without = Ridge(alpha / mean[0]).fit(masks, y, chance(p))
    for other in (with_mass, without):
        assert np.allclose(other.scores, lime.scores, rtol=1e-10)
        assert np.isclose(other.intercept, lime.intercept, rtol=1e-10)
        assert np.isclose(other.r2, lime.r2, rtol=1e-10)
    # GLIME keeps α as it is, which shrinks less than LIME does:
    glime = Ridge(alpha).fit(masks, y, chance(p))
    assert Tilted().weight(at, kernel, masks).tolist() == [1.0] * 16
    assert (glime.scores @ glime.scores) > lime.scores @ lime.scores


# -- what it converges to -----------------------------------------------------------------------


def numbers(n: int = 400, d: int = 4) -> Array:
    return np.random.default_rng(3).normal(size=(n, d)) * [1.0, 2.0, 0.5, 3.0][:d] + 1


def bent(X: Array) -> Array:
    return np.tanh(X[:, 0]) * X[:, 1] + np.exp(-(X[:, 2] ** 2)) + np.sin(X[:, 3])


# -- other laws of offsets ----------------------------------------------------------------------


def offsets(law: Any, n: int = 40_000, d: int = 3) -> Array:
    data = frame(numbers(200, d))
    background = Background.of(data)
    at = TableInstances(background, background.adopt(numbers(200, d)[[4]]), binned=False).space(0)
    return at.features(plan(at, Tilted(law), Exponential(), n)[1:])


@pytest.mark.parametrize("sigma", [0.1, 0.3, 0.5])
def test_offsets_have_the_moments_of_their_law(sigma: float) -> None:
    found, n = offsets(Gauss(sigma)), 40_000
    edge = np.abs(NORMAL).max()
    exact = stats.norm(scale=sigma)
    # As far as the steps go: beyond 3.1 standard deviations there are none. So a Gaussian of
    # scale 2 would have less spread than its name says.
    x = np.linspace(-edge, edge, 200_001)
    density = exact.pdf(x) / exact.pdf(x).sum()
    for power in (2, 4):
        moment = density @ x**power
        error = np.sqrt((density @ x ** (2 * power) - moment**2) / n)
        assert np.allclose((found**power).mean(axis=0), moment, atol=4 * error + 0.02 * moment)
    assert np.allclose(found.mean(axis=0), 0, atol=4 * sigma * np.sqrt(2 / n) + 0.004)
    assert np.allclose(found.std(axis=0), sigma, rtol=0.02)
    assert np.abs(np.corrcoef(found.T) - np.eye(3)).max() < 4.5 / np.sqrt(n)


def test_slopes_of_a_line_are_recovered() -> None:
    method = peers.GLIME_GAUSS
    data = numbers()
    slopes = np.array([2.0, -1.0, 0.5, 3.0])
    ex = eagle.Explainer(
        lambda X: X @ slopes - 4,
        eagle.Table(data, view="continuous"),
        method=replace(method, surrogate=Ridge(1e-9)),
    )
    e = ex.explain(data[[2]])
    assert np.allclose(e.scores, slopes * data.std(axis=0), rtol=1e-9)
    assert np.isclose(e.local_prediction, e.prediction, rtol=1e-9)
    assert (e.evidence.weight == 1).all()
    shrunk = eagle.Explainer(
        lambda X: X @ slopes - 4, eagle.Table(data, view="continuous"), method=method
    ).explain(data[[2]])
    assert np.allclose(shrunk.scores, e.scores, rtol=0.1)  # the ridge of 1 on 500 rows


def test_laws_of_offsets_are_for_offsets() -> None:
    with pytest.raises(InputError, match="view='continuous'"):
        eagle.Explainer(bent, numbers(), method=peers.GLIME_GAUSS)
    for sigma in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InputError, match="scale of a law must be a positive number"):
            offsets(Gauss(sigma))


# -- the law of masks ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Masks:
    """Parts that are kept (0) or off (1), as many at a time as `counts` says."""

    counts: Array
    masks: bool = True
    steps: int = 2

    @property
    def law(self) -> Any:
        return self.counts.tobytes()

    @property
    def origin(self) -> Points:
        return np.zeros(len(self.counts) - 1, dtype=np.uint16)

    def draw(self, n: int, rng: np.random.Generator) -> Points:
        d = len(self.counts) - 1
        kept = rng.choice(d + 1, size=n, p=self.counts)
        rank = rng.permuted(np.tile(np.arange(d), (n, 1)), axis=1)
        return (rank >= kept[:, None]).astype(np.uint16)

    def pools(self, count: int, n: int, rng: np.random.Generator) -> Points:
        return np.stack([self.draw(n, rng) for _ in range(count)])

    def features(self, points: Points, out: Array | None = None) -> Array:
        return 1.0 - points

    def values(self, points: Points) -> Array:
        return self.features(points)

    def distinct(self, points: Points) -> Any:
        _, first, repeats = np.unique(points, axis=0, return_index=True, return_counts=True)
        order = np.argsort(first)
        return first[order], repeats[order]


D = 6
COUNTS = {
    "image": stats.binom.pmf(np.arange(D + 1), D, 0.5),
    "text": np.array([1.0] * D + [0.0]) / D,  # from 1 to all words are deleted
}


@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize("kernel", [COSINE, Exponential(0.6), Unit()])
def test_masks_follow_the_enumerated_law(counts: Array, kernel: Any) -> None:
    at, n = Masks(counts), 40_000
    every = np.array(list(product([0, 1], repeat=D)), dtype=np.uint16)
    kept = (every == 0).sum(axis=1)
    base = counts[kept] / stats.binom.pmf(kept, D, 0.5) / 2**D  # by symmetry within a count
    assert np.isclose(base.sum(), 1)
    tilted = base * kernel(at.features(every), np.ones(D))
    points = plan(at, Tilted(), kernel, n)[1:]
    place = points.astype(int) @ (2 ** np.arange(D)[::-1])
    observed = np.bincount(place, minlength=2**D)
    expected = (n - 1) * tilted / tilted.sum()
    assert observed[expected == 0].sum() == 0
    rare = expected < 5  # lumped together, as a chi-square wants it
    pairs = [(observed[~rare], expected[~rare]), ([observed[rare].sum()], [expected[rare].sum()])]
    seen, law = (np.concatenate(part) for part in zip(*pairs, strict=True))
    seen, law = seen[law > 0], law[law > 0]
    assert stats.chisquare(seen, law).pvalue > 1e-3
    mean = Tilted(mass=True).weight(at, kernel, at.features(points))
    assert np.allclose(mean, tilted.sum(), rtol=1e-12)
    assert (Tilted().weight(at, kernel, at.features(points)) == 1).all()


# -- the published law of masks -------------------------------------------------------------------


def removed(masks: Array, sigma: float) -> Array:
    """The published law, mask by mask: a fair coin a part, e^(−removed/σ²), and never the whole."""
    chance = []
    for mask in masks:
        off = sum(1 for part in mask if part == 0)
        chance.append(0.5 ** len(mask) * math.exp(-off / sigma**2) if off else 0.0)
    return np.array(chance) / sum(chance)


@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize("sigma", [0.25, 0.6, 1.0, 3.0])
def test_published_masks_follow_the_enumerated_law(counts: Array, sigma: float) -> None:
    """The published law does not depend on the space's own law of masks."""
    every, n = np.array(list(product([0.0, 1.0], repeat=D))), 30_000
    law = removed(every, sigma)
    points = plan(Masks(counts), Tilted(Removal(sigma)), Unit(), n)
    assert not points[0].any()  # the whole image, and never again
    assert points[1:].any(axis=1).all()
    place = (1 - points[1:].astype(int)) @ (2 ** np.arange(D)[::-1])
    observed, expected = np.bincount(place, minlength=2**D), (n - 1) * law
    frequent = expected >= 5
    seen = np.append(observed[frequent], observed[~frequent].sum())
    wanted = np.append(expected[frequent], expected[~frequent].sum())
    if wanted[-1] < 5:  # too few to be tested, but few they must be
        assert seen[-1] <= 15
        seen, wanted = seen[:-1], wanted[:-1] * seen[:-1].sum() / wanted[:-1].sum()
    assert stats.chisquare(seen, wanted).pvalue > 1e-3


def test_published_through_the_front_door() -> None:
    """By a sampler and a ridge of its own: as many draws, the first of them the whole image."""
    labels = np.repeat(np.arange(12).reshape(3, 4), 2, axis=1)
    pull = np.linspace(-1, 2, 12)

    def value(masks: Array) -> Array:
        return np.asarray(np.tanh(masks @ pull / 4) + masks[:, 0] * masks[:, 11])

    def model(X: Array) -> Array:
        return value(np.stack([X[:, labels == k].mean(axis=1) for k in range(12)], axis=1))

    data = Images(labels, fill=0)
    e = eagle.Explainer(model, data, method=peers.GLIME_PUBLISHED, task="regression").explain(
        np.ones((3, 8))
    )
    repeats = e.evidence.weight
    assert np.array_equal(repeats, np.rint(repeats))  # each mask counts as often as it was drawn
    draws = int(repeats.sum())
    assert draws >= peers.GLIME_PUBLISHED.budget == 1024
    assert e.cost.rows < 30  # the whole, twelve without a part, and hardly another
    rng = np.random.default_rng(0)
    k = np.arange(12)
    law = np.array([math.comb(12, int(j)) for j in k]) * np.exp((k - 12) / 0.25**2)
    found = []
    for _ in range(5):
        masks = np.zeros((draws, 12))
        for row, kept in enumerate(rng.choice(12, size=draws, p=law / law.sum())):
            masks[row, rng.permutation(12)[:kept]] = 1.0
        masks[0] = 1.0
        found.append(linear_model.Ridge(alpha=1.0).fit(masks, value(masks)).coef_)
    error = np.std(found, axis=0, ddof=1).max()
    assert np.abs(e.scores - np.mean(found, axis=0)).max() < 6 * error + 1e-3
    # Up to a constant, scores are the effects of leaving a part out.
    drop = value(np.ones((1, 12)))[0] - value(1.0 - np.eye(12))
    assert np.allclose(e.scores - e.scores.mean(), drop - drop.mean(), atol=0.01)


@pytest.mark.parametrize("sigma", [1e-160, 1e-3, 0.05, 1e6])
@pytest.mark.parametrize("d", [1, 2, 30, 1000])
def test_published_at_any_scale(sigma: float, d: int) -> None:
    chances = Removal(sigma).chances(d)
    assert np.isfinite(chances).all()
    assert chances[d] == 0
    assert chances.sum() > 0
    if sigma < 0.1:
        assert np.isclose(chances[d - 1] / chances.sum(), 1.0)


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.nan, math.inf])
def test_a_scale_of_removal_is_positive(sigma: float) -> None:
    with pytest.raises(eagle.InputError, match="scale of a removal"):
        Removal(sigma)
