"""LIME by LIME: the package `lime` 0.2.0.1, given the same rows, finds the same line."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lime import lime_base
from sklearn.metrics import pairwise_distances

import eagle
from eagle import peers
from eagle._values.arrays import Array
from eagle.kernels import COSINE
from eagle.peers import selection as select
from eagle.surrogates.fit import Fit
from eagle.surrogates.ridge import Ridge

seeds = st.integers(0, 2**32 - 1)

WAYS: dict[str, type] = {
    "highest_weights": select.Highest,
    "forward_selection": select.Forward,
    "lasso_path": select.LassoPath,
    "auto": select.Auto,
}


def same(ours: Any, lime: Any) -> bool:
    return bool(np.allclose(ours, lime, rtol=1e-8, atol=1e-8))


def kernel(d: Any, kernel_width: float) -> Any:
    """LIME's, as it stands in each of its explainers."""
    return np.sqrt(np.exp(-(d**2) / kernel_width**2))


@dataclass(frozen=True)
class Theirs:
    """What LIME makes of a sample."""

    chosen: tuple[int, ...]
    scores: Array
    intercept: float
    r2: float
    local: float


def theirs(
    z: Array,
    y: Array,
    weight: Array | None = None,
    *,
    k: int = 100_000,
    way: str = "none",
    distance: Array | None = None,
    width: float = 1.0,
) -> Theirs:
    """By the weights given, or by those that LIME finds from distances."""
    weigh = partial(kernel, kernel_width=width) if weight is None else (lambda _: weight)
    base = lime_base.LimeBase(weigh, random_state=0)
    base.generate_lars_path = without_residues(base.generate_lars_path)
    intercept, pairs, r2, local = base.explain_instance_with_data(
        z, y[:, None], distance, 0, k, way
    )
    scores = np.zeros(z.shape[1])
    scores[[j for j, _ in pairs]] = [value for _, value in pairs]
    chosen = tuple(sorted(int(j) for j, _ in pairs))
    return Theirs(chosen, scores, float(intercept), float(r2), float(local[0]))


def without_residues(path: Any) -> Any:
    """A slope that leaves the path is 0. LIME, which counts slopes that are not, may find 1e-17
    there: rounding alone decides."""

    def clean(*rows: Any) -> Any:
        alphas, slopes = path(*rows)
        return alphas, np.where(np.abs(slopes) > 1e-9 * np.abs(slopes).max(), slopes, 0.0)

    return clean


def agree(ours: Fit, lime: Theirs) -> None:
    assert same(ours.scores, lime.scores)
    assert same(ours.intercept, lime.intercept)
    assert same(ours.r2, lime.r2)
    assert same(ours.local, lime.local)


# -- tables -------------------------------------------------------------------------------------


def table(seed: int, n: int = 300) -> Array:
    """Numbers, and columns of few values, of unequal sizes."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 4)) * [1.0, 20.0, 0.1, 3.0]
    few = rng.choice(3, size=(n, 3), p=[0.6, 0.3, 0.1])
    return np.column_stack([numbers, few])


def bent(X: Array) -> Array:
    steep = np.tanh(X[:, 3]) * (X[:, 4] == 0)
    return np.asarray(np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 4 + steep + X[:, 5])


@pytest.mark.parametrize("view", ["binned", "continuous"])
@pytest.mark.parametrize("columns", [[0, 1, 2, 3, 4, 5, 6], [4, 5, 6]])
def test_explanations_of_tables(view: Any, columns: list[int]) -> None:
    """The sample of a real explanation. A row that was drawn twice is asked once, and counts
    twice: to LIME it is given twice. Three columns of three levels are drawn many times."""
    for seed in range(6):
        data = table(seed)
        model = bent if len(columns) == 7 else lambda X: np.exp(X[:, 0]) - X[:, 1] * X[:, 2]
        e = eagle.Explainer(
            model,
            eagle.Table(
                data[:, columns], view=view, categories=[columns.index(j) for j in (4, 5, 6)]
            ),
            method=peers.LIME,
            random_state=seed,
        ).explain(data[[seed]][:, columns])
        z, y, d = e.evidence.features, e.evidence.answers[:, 0], len(columns)
        distance = pairwise_distances(z, z[:1], metric="euclidean").ravel()
        once = kernel(distance, 0.75 * np.sqrt(d))
        repeats = np.rint(e.evidence.weight / once).astype(int)
        assert np.allclose(e.evidence.weight, repeats * once, rtol=1e-12)
        assert (repeats.max() > 1) == (len(columns) == 3)
        assert repeats.sum() == peers.LIME.budget
        rows = np.repeat(np.arange(len(y)), repeats)
        lime = theirs(z[rows], y[rows], distance=distance[rows], width=0.75 * np.sqrt(d))
        assert same(e.scores, lime.scores)
        assert same(e.intercept, lime.intercept)
        assert same(e.r2, lime.r2)
        assert same(e.local_prediction, lime.local)


@pytest.mark.parametrize("binned", [True, False])
def test_the_package_on_its_own_sample_of_a_table(binned: bool) -> None:
    """The other way round: what `LimeTabularExplainer` drew and found, found again by ours."""
    from lime import lime_tabular

    data = table(0)
    seen = Recorded()
    explainer = lime_tabular.LimeTabularExplainer(
        data,
        mode="regression",
        categorical_features=[4, 5, 6],
        random_state=0,
        discretize_continuous=binned,
        sample_around_instance=True,
        feature_selection="none",
    )
    seen.listen(explainer.base)
    found = explainer.explain_instance(data[3], bent, num_samples=400)
    assert binned == bool(np.isin(seen.data, (0, 1)).all())
    weight = peers.LIME.kernel(seen.data, seen.data[0])
    assert np.allclose(weight, seen.weight, rtol=1e-12)
    ours = Ridge().fit(seen.data, seen.y, weight)
    assert same(ours.scores, as_scores(found.local_exp[1], 7))
    assert same(ours.intercept, found.intercept[1])
    assert same(ours.r2, found.score)
    assert same(ours.local, found.local_pred[0])


class Recorded:
    """Remembers what LIME's base was given, and what weights it made of it."""

    data: Array
    y: Array
    weight: Array

    def listen(self, base: Any) -> None:
        inner = base.explain_instance_with_data

        def outer(
            data: Any, labels: Any, distances: Any, label: int, *rest: Any, **more: Any
        ) -> Any:
            self.data, self.y = np.asarray(data, dtype=float), np.asarray(labels)[:, label]
            self.weight = base.kernel_fn(distances)
            return inner(data, labels, distances, label, *rest, **more)

        base.explain_instance_with_data = outer


def as_scores(pairs: Any, d: int) -> Array:
    out = np.zeros(d)
    out[[j for j, _ in pairs]] = [value for _, value in pairs]
    return out


# -- masks of images and texts ----------------------------------------------------------------


def picture_masks(seed: int, n: int, d: int) -> Array:
    """Each part is kept with probability ½, as in `lime_image`."""
    masks = (np.random.default_rng(seed).random((n, d)) < 0.5).astype(float)
    masks[0] = 1.0
    return masks


def text_masks(seed: int, n: int, d: int) -> Array:
    """As many words deleted as a die says, from 1 to all, as in `lime_text`."""
    rng = np.random.default_rng(seed)
    masks = np.ones((n, d))
    for row in masks[1:]:
        row[rng.permutation(d)[: rng.integers(1, d + 1)]] = 0.0
    return masks


def answers(masks: Array, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    pull, pair = rng.normal(size=masks.shape[1]), rng.normal()
    y = 1 / (1 + np.exp(-(masks @ pull + pair * masks[:, 0] * masks[:, -1] - 1)))
    return np.asarray(y)


@pytest.mark.parametrize(
    ("draw", "times", "width"), [(picture_masks, 1.0, 0.25), (text_masks, 100.0, 25.0)]
)
@pytest.mark.parametrize(("n", "d"), [(300, 12), (200, 40), (60, 2), (25, 30)])
def test_masks(draw: Any, times: float, width: float, n: int, d: int) -> None:
    for seed in range(4):
        masks = draw(seed, n, d)
        y = answers(masks, seed)
        distance = times * pairwise_distances(masks, masks[:1], metric="cosine").ravel()
        weight = COSINE(masks, np.ones(d))
        assert np.allclose(weight, kernel(distance, width), rtol=1e-12)
        assert weight[0] == 1
        agree(Ridge().fit(masks, y, weight), theirs(masks, y, distance=distance, width=width))
        assert peers.LIME.on_masks == COSINE


def test_a_mask_that_keeps_nothing_is_at_distance_one() -> None:
    masks = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    distance = pairwise_distances(masks, masks[:1], metric="cosine").ravel()
    assert np.allclose(COSINE(masks, masks[0]), kernel(distance, 0.25))
    assert np.isclose(COSINE(masks, masks[0])[1], np.exp(-8))


def test_the_package_on_its_own_sample_of_a_text() -> None:
    from lime import lime_text

    text = "a bird in the hand is worth two in the bush they say"
    pull = {word: float(np.sin(7 * i)) for i, word in enumerate(sorted(set(text.split())))}

    def model(texts: list[str]) -> Any:
        p = 1 / (1 + np.exp(-np.array([sum(pull[w] for w in t.split()) for t in texts])))
        return np.column_stack([1 - p, p])

    seen = Recorded()
    explainer = lime_text.LimeTextExplainer(random_state=0, feature_selection="none")
    seen.listen(explainer.base)
    found = explainer.explain_instance(text, model, num_samples=300)
    weight = COSINE(seen.data, seen.data[0])
    assert np.allclose(weight, seen.weight, rtol=1e-12)
    ours = Ridge().fit(seen.data, seen.y, weight)
    assert same(ours.scores, as_scores(found.local_exp[1], len(pull)))
    assert same(ours.intercept, found.intercept[1])
    assert same(ours.r2, found.score)


# -- which features are kept --------------------------------------------------------------------


def sample(seed: int, n: int = 60, d: int = 10) -> tuple[Array, Array, Array]:
    """Binary, continuous or both, with an instance that is nowhere zero; some scores are 0."""
    rng = np.random.default_rng(seed)
    binary = (rng.random((n, d)) < rng.uniform(0.2, 0.8, d)).astype(float)
    normal = rng.normal(size=(n, d))
    z = (binary, normal, np.where(np.arange(d) % 2, binary, normal))[seed % 3]
    z[0] = np.where(np.isin(z[0], (0.0, 1.0)), 1.0, z[0])
    truth = rng.normal(size=d) * (rng.random(d) < 0.6)
    y = z @ truth + np.sin(3 * z[:, 0]) + rng.uniform(0.01, 1) * rng.normal(size=n) + 5
    return z, y, rng.uniform(0.02, 1, n)


@pytest.mark.parametrize("way", WAYS)
@given(seed=seeds, k=st.sampled_from([1, 3, 6, 8, 12]))
@settings(max_examples=9)
def test_the_same_features_and_the_same_line(way: str, seed: int, k: int) -> None:
    z, y, weight = sample(seed)
    lime = theirs(z, y, weight, k=k, way=way)
    chosen = WAYS[way](k).choose(z, y, weight)
    assert tuple(chosen) == lime.chosen
    agree(Ridge(selection=WAYS[way](k)).fit(z, y, weight), lime)


def spoilt(seed: int) -> tuple[Array, Array, Array]:
    """A column that repeats another, one that is the sum of two, and one that never changes."""
    z, y, weight = sample(seed)
    z[:, 4] = z[:, 1]
    z[:, 5] = z[:, 0] + z[:, 2]
    z[:, 6] = 1.0
    return z, y, weight


def r2_of(z: Array, y: Array, weight: Array, chosen: Any) -> float:
    """The weighted R² of least squares on some columns, by numpy's own."""
    root = np.sqrt(weight)
    design = np.column_stack([np.ones(len(y)), z[:, chosen]]) * root[:, None]
    left = y * root - design @ np.linalg.lstsq(design, y * root, rcond=1e-10)[0]
    lift = y - np.average(y, weights=weight)
    return float(1 - left @ left / (weight @ lift**2))


@given(seed=seeds)
@settings(max_examples=6)
def test_columns_that_say_the_same_or_nothing(seed: int) -> None:
    """The line is LIME's. Of two columns alike either may be kept: rounding alone decides in
    LIME, so what is compared is what the choice is made for."""
    z, y, weight = spoilt(seed)
    agree(Ridge().fit(z, y, weight), theirs(z, y, weight))
    for k in (1, 3, 6, 8):
        kept = select.Highest(k).choose(z, y, weight)
        full = np.abs(Ridge(0.01).fit(z, y, weight).scores * z[0])
        lime = theirs(z, y, weight, k=k, way="highest_weights")
        assert same(np.sort(full[kept]), np.sort(full[list(lime.chosen)]))
    for k in (1, 3):  # beyond, LIME solves singular systems: see below
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "ill-conditioned", which it is
            lime = theirs(z, y, weight, k=k, way="forward_selection")
        kept = select.Forward(k).choose(z, y, weight)
        assert len(kept) == k
        assert r2_of(z, y, weight, kept) >= r2_of(z, y, weight, list(lime.chosen)) - 1e-9
    others = np.array([0, 1, 2, 3, 5, 6, 7, 8, 9])
    for k in (1, 3, 6, 8):  # the first of two columns alike is on our path; LIME is given no other
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn drops what is degenerate, and says so
            lime = theirs(z[:, others], y, weight, k=k, way="lasso_path")
        kept = select.LassoPath(k).choose(z, y, weight)
        assert tuple(kept) == tuple(others[list(lime.chosen)])


@given(seed=seeds, k=st.integers(1, 10))
@settings(max_examples=15)
def test_forward_is_greedy_in_the_weighted_r2(seed: int, k: int) -> None:
    """By brute force, also where columns are alike: no single column would raise R² more."""
    z, y, weight = spoilt(seed)
    kept: list[int] = []
    for size in range(1, k + 1):
        best = max(r2_of(z, y, weight, [*kept, j]) for j in range(10) if j not in kept)
        (new,) = set(select.Forward(size).choose(z, y, weight).tolist()) - set(kept)
        kept.append(new)
        assert np.isclose(r2_of(z, y, weight, kept), best, rtol=0, atol=1e-9)


def test_forward_goes_on_where_lime_loses_its_way() -> None:
    """A bug of LIME's: its ridge of 0 on a column that repeats another solves a singular system,
    where rounding alone decides what comes out, or whether a warning does. Ours takes the column
    that repeats last, since it brings nothing."""
    z, y, weight = sample(1)
    z[:, 4] = z[:, 1]
    for k in range(1, 10):
        kept = set(select.Forward(k).choose(z, y, weight).tolist())
        assert not {1, 4} <= kept
    assert len(select.Forward(10).choose(z, y, weight)) == 10


def test_an_instance_at_the_origin_still_has_highest_weights() -> None:
    """A bug of LIME's: coefficient × value is 0 for every feature whose own value is 0, as all
    are that are offsets from the instance. Then it keeps the first k, whatever they do."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(200, 8))
    z[0] = 0.0
    y, weight = z @ np.arange(8.0), np.ones(200)
    assert theirs(z, y, weight, k=3, way="highest_weights").chosen == (0, 1, 2)
    assert select.Highest(3).choose(z, y, weight).tolist() == [5, 6, 7]


def test_flat_answers_need_no_feature() -> None:
    """LIME keeps all columns, with scores of 0, where the lasso's path has no step."""
    z, _, weight = sample(0)
    y = np.full(len(z), 0.7)
    for way, selection in WAYS.items():
        fit = Ridge(selection=selection(3)).fit(z, y, weight)
        assert np.abs(fit.scores).max() == 0
        assert np.isclose(fit.intercept, 0.7, rtol=1e-15)
        assert np.isclose(fit.local, 0.7, rtol=1e-15)
        assert np.isnan(fit.r2)
        assert np.allclose(theirs(z, y, weight, k=3, way=way).scores, 0)


@pytest.mark.parametrize("way", [*WAYS, "none"])
def test_a_whole_explanation_keeps_what_lime_keeps(way: str) -> None:
    """`peers.sparse_lime` from the front door, k = 3 of 7."""
    selection = None if way == "none" else WAYS[way](3)
    data = table(2)
    e = eagle.Explainer(
        bent,
        eagle.Table(data, categories=[4, 5, 6]),
        method=peers.sparse_lime(selection),
        budget=400,
    ).explain(data[[5]])
    z, y, weight = e.evidence.features, e.evidence.answers[:, 0], e.evidence.weight
    lime = theirs(z, y, weight, k=3, way=way)
    assert same(e.scores, lime.scores)
    assert same(e.r2, lime.r2)
    assert same(e.local_prediction, lime.local)
    assert np.isnan(e.r2_held_out) == (way != "none")
