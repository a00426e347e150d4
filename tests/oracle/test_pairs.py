"""Masks in complements by a second road: all masks by least squares, intervals by a slow loop."""

from __future__ import annotations

from itertools import count, product
from math import comb
from typing import Any

import numpy as np
import pytest

import eagle
from eagle import Parts, Texts
from eagle._engine import default
from eagle._engine.planning import Planner
from eagle._values.arrays import UNBOUNDED, Range
from eagle._values.posterior import ALL_MASKS, StudentT
from eagle.contracts import Array, Rows
from eagle.designs.complements import Complements
from eagle.kernels import COSINE
from eagle.spaces import EvenSizes, Fair, MaskSpace
from eagle.surrogates.pairs import Paired, unseen_jump


def shown(z: Array) -> Array:
    """An answer that no line fits."""
    place = np.arange(1.0, z.shape[1] + 1)
    return np.asarray(np.tanh(z @ np.cos(place)) + z[:, 0] * z[:, -1] + 0.1 * np.sin(z @ place**2))


def limit(d: int, law: Array) -> Array:
    """The line through all masks, a size as probable as the law says, under LIME's kernel."""
    every = np.array(list(product((0.0, 1.0), repeat=d)))
    weights = []
    for mask in every:
        k = int(mask.sum())
        near = np.exp(-((1 - np.sqrt(k / d)) ** 2) / (2 * 0.25**2))
        weights.append(law[k] / comb(d, k) * near)
    root = np.sqrt(weights)[:, None]
    columns = np.column_stack([np.ones(len(every)), every])
    found = np.linalg.lstsq(columns * root, shown(every) * root[:, 0], rcond=None)[0]
    return np.asarray(found[1:])


def missed(d: int, law: Array) -> Array:
    """What that line misses, as the covariance of the scores if each pair of a mask and its
    complement had been drawn: Σ (Σ h e)(Σ h e)ᵀ over pairs, by the formula of least squares."""
    every = np.array(list(product((0.0, 1.0), repeat=d)))
    sizes = every.sum(axis=1).astype(int)
    near = np.exp(-((1 - np.sqrt(sizes / d)) ** 2) / (2 * 0.25**2))
    w = np.array([law[k] / comb(d, k) for k in sizes]) * near
    x = np.column_stack([np.ones(len(every)), every])
    h = np.linalg.pinv(x * np.sqrt(w)[:, None]) * np.sqrt(w)
    y = shown(every)
    adds = (h * (y - x @ (h @ y)))[1:].T
    pulls = adds + adds[::-1]  # the complement of the first mask is the last
    return np.asarray(pulls[: len(pulls) // 2].T @ pulls[: len(pulls) // 2])


def laws(d: int) -> list[tuple[Any, Array]]:
    fair = np.array([comb(d, k) / 2**d for k in range(d + 1)])
    even = np.array([1 / d] * d + [0.0]) if d > 2 else np.full(d + 1, 1 / (d + 1))
    return [(Fair(), fair), (EvenSizes(), even)]


@pytest.mark.parametrize("d", [1, 2, 3, 5, 9])
def test_all_masks_give_the_limit(d: int) -> None:
    for sizes, law in laws(d):
        (made,) = Planner(default.MASKS, 2**d, 3).plan([MaskSpace(d, sizes)])
        assert len(made.points) == 2**d
        fit = made.fitter.fit(shown(made.rows.features))
        exact = limit(d, law)
        assert np.abs(fit.scores - exact).max() < 1e-12 * max(np.abs(exact).max(), 1.0)
        assert isinstance(fit.posterior, StudentT)
        assert fit.posterior.kind == ALL_MASKS
        assert np.allclose(fit.posterior.scale, missed(d, law), rtol=1e-6, atol=1e-20)


@pytest.mark.parametrize("sizes", [Fair(), EvenSizes()])
def test_some_masks_converge_to_the_limit(sizes: Any) -> None:
    d = 12
    law = dict(zip(("Fair", "EvenSizes"), (one[1] for one in laws(d)), strict=True))
    exact = limit(d, law[type(sizes).__name__])
    errors = []
    for n in (128, 2048):
        (made,) = Planner(default.MASKS, n, 3).plan([MaskSpace(d, sizes)])
        fit = made.fitter.fit(shown(made.rows.features))
        errors.append(float(np.linalg.norm(fit.scores - exact) / np.linalg.norm(exact)))
    assert errors[1] < min(0.05, 0.5 * errors[0])


def test_one_word_and_two_sentences_have_their_effects() -> None:
    one = eagle.Explainer(
        lambda texts: [0.9 * ("Good" in t) + 0.05 for t in texts],
        Texts(),
        method=default.MASKS,
    ).explain("Good.")
    assert np.allclose(one.scores, [0.9, 0.0], atol=1e-12)
    assert one.warnings == ()
    two = eagle.Explainer(
        lambda lists: [0.5 * ("a" in t) + 0.4 * ("b" in t) for t in lists],
        Parts(list, list, sizes=EvenSizes()),
        method=default.MASKS,
    ).explain("ab")
    assert np.allclose(two.scores, [0.5, 0.4], atol=1e-12)
    assert two.cost.rows == 4


@pytest.mark.parametrize("sizes", [Fair(), EvenSizes()])
@pytest.mark.parametrize("bounds", [UNBOUNDED, (-40.0, 50.0)])
def test_the_sandwich_over_pairs_by_a_slow_loop(sizes: Any, bounds: Range) -> None:
    d, n, shrinkage, bend = 7, 60, 0.1, 20.0
    space = MaskSpace(d, sizes)
    points = Complements().plan([space], COSINE, n, np.random.default_rng(1))[0]
    z = space.features(points)
    w = Complements().weight(space, COSINE, z)
    y = shown(z)
    fit = Paired(shrinkage, bend).on(Rows.each_once(z, w)).fit(y, bounds)

    share = w / w.sum()
    k = z.sum(axis=1)
    powers = np.column_stack([np.ones(n), k, k**2, k**3]) * np.sqrt(share)[:, None]
    bends = np.linalg.qr(powers)[0][:, 2:] / np.sqrt(share)[:, None]
    x = np.column_stack([np.ones(n), z, bends])
    spread = sum(share @ (z[:, j] - share @ z[:, j]) ** 2 for j in range(d))
    prior = w.mean() * np.array([0.0] + [shrinkage * spread] * d + [bend] * 2)
    v = np.linalg.inv(sum(w[i] * np.outer(x[i], x[i]) for i in range(n)) + np.diag(prior))
    b = v @ sum(w[i] * y[i] * x[i] for i in range(n))
    assert np.allclose(fit.scores, b[1 : d + 1], rtol=1e-9, atol=1e-11)

    pulls, even, left, done, groups = [], np.zeros((d, d)), 0.0, set[int](), 0
    for i in range(n):
        if i in done:
            continue
        pull = np.zeros(d)
        groups += 1
        for j in range(n):
            if (z[j] == z[i]).all() or (z[j] == 1 - z[i]).all():
                done.add(j)
                rest = 1 - w[j] * x[j] @ v @ x[j]
                left += rest
                size = int(z[j].sum())
                unasked = 1 - sum(int(row.sum()) == size for row in z) / comb(d, size)
                gone = (y[j] - x[j] @ b) / rest
                pull += (w[j] * v @ x[j])[1 : d + 1] * gone
                alone = (w[j] * v @ x[j])[1 : d + 1] * np.sqrt(max(unasked, 0.0))
                even += np.outer(alone, alone)
        pulls.append(pull)
    carried = np.array([pull @ pull for pull in pulls])
    carriers = carried.sum() ** 2 / (carried**2).sum()
    square = carried.sum() / np.trace(even)
    unseen = square * min(1, 4 / carriers) / carriers
    if np.isfinite(bounds[0]):
        gap = max(y.min() - bounds[0], bounds[1] - y.max()) - (y.max() - y.min())
        away = sorted((abs(one - np.median(y)) for one in y), reverse=True)
        # Of the farthest tenth, the mean of the logarithms is Hill's estimate of the tail.
        index = np.mean([np.log(one / away[n // 10]) for one in away[: n // 10]])
        chance = (1 + gap / away[0]) ** (-1 / index)
        unseen += gap**2 * chance * (w @ w) / w.sum() ** 2
    total = sum(np.outer(pull, pull) for pull in pulls) + unseen * even
    shrunk = (v @ (prior * b))[1 : d + 1]
    assert isinstance(fit.posterior, StudentT)
    assert np.allclose(fit.posterior.scale, total + np.outer(shrunk, shrunk), rtol=1e-6)
    assert np.isclose(fit.posterior.df, left * groups / n)


@pytest.mark.parametrize("sizes", [Fair(), EvenSizes()])
def test_intervals_are_as_wide_as_jumps_that_no_row_met_would_make_them(sizes: Any) -> None:
    """The model says .9 to every mask. Jumps to 0 that one row in as many would meet are drawn, and
    the scores fitted anew: these are as far apart as the interval says."""
    d, n = 10, 100
    space = MaskSpace(d, sizes)
    points = Complements().plan([space], COSINE, n, np.random.default_rng(1))[0]
    z = space.features(points)
    w = Complements().weight(space, COSINE, z)
    made = Paired().on(Rows.each_once(z, w))
    flat = np.full(n, 0.9)
    calm = made.fit(flat, (0.0, 1.0))
    assert isinstance(calm.posterior, StudentT)
    low, high = calm.posterior.interval(0.9).T
    assert (low < 0).all()
    assert (high > 0).all()
    rng, chance = np.random.default_rng(2), (w @ w) / w.sum() ** 2
    kept = z.sum(axis=1).astype(int)
    hidden = 1 - np.bincount(kept)[kept] / np.array([comb(d, k) for k in kept])  # of each size
    met = [
        made.line.fit(flat - 0.9 * (rng.random(n) < chance * hidden)).mean[1 : d + 1]
        for _ in range(2000)
    ]
    known = np.sqrt(np.diag(calm.posterior.scale))
    assert np.allclose(known, np.std(met, axis=0), rtol=0.12)
    free = made.fit(flat).posterior
    assert isinstance(free, StudentT)
    assert not free.scale.any()  # nothing is known of bounds


def test_a_few_far_answers_may_be_followed_by_a_jump_and_a_well_filled_range_not() -> None:
    rng = np.random.default_rng(0)
    even = 0.99 + 0.005 * rng.random(200)
    odd = 1 - 10.0 ** rng.uniform(-14, -6, 200)  # over eight powers of ten
    assert unseen_jump(np.full(200, 0.99), (0.0, 1.0)) == pytest.approx(0.99)
    assert unseen_jump(even, (0.0, 1.0)) < 1e-6
    assert unseen_jump(odd, (0.0, 1.0)) > 100 * np.ptp(odd)
    assert unseen_jump(odd, UNBOUNDED) == 0
    assert unseen_jump(rng.random(200), (0.0, 1.0)) == 0  # all of it was seen


def test_what_a_line_holds_whole_has_no_width_whatever_its_bounds() -> None:
    space = MaskSpace(4, Fair())
    (prepared,) = Planner(default.MASKS, 16, 0).plan([space])
    fit = prepared.fitter.fit(np.full(16, 0.9), (0.0, 1.0))
    assert fit.posterior is not None
    assert not np.ptp(fit.posterior.interval(0.9), axis=1).any()


def test_a_jump_is_warned_of_only_where_a_mask_was_not_asked() -> None:
    def model(texts: list[str]) -> Array:
        p = np.array([0.99 - 1e-4 * ("a" in t.split()) for t in texts])
        return np.column_stack([1 - p, p])

    text = "a b c d e f g h i j k l"
    some = eagle.Explainer(model, Texts(unit="word"), task="classification", budget=100)
    assert "a jump that no row met" in " ".join(some.explain(text).warnings)
    whole = some.with_options(default.MASKS, budget=4096).explain(text)
    assert whole.posterior is not None
    assert whole.posterior.kind == ALL_MASKS
    assert not whole.warnings


def test_held_out_fit_by_leaving_out() -> None:
    d, n = 5, 24
    space = MaskSpace(d, Fair())
    z = space.features(Complements().plan([space], COSINE, n, np.random.default_rng(1))[0])
    w, y = Complements().weight(space, COSINE, z), shown(z)
    made = Paired().on(Rows.each_once(z, w))
    x, precision = made.line.z, made.line.surrogate.prior.precision(made.line.z.shape[1] - 1)
    misses = np.empty(n)
    for i in range(n):
        rest = np.arange(n) != i
        a = (x[rest] * w[rest, None]).T @ x[rest] + np.diag(precision)
        b = np.linalg.solve(a, (x[rest] * w[rest, None]).T @ y[rest])
        misses[i] = y[i] - x[i, : d + 1] @ b[: d + 1]
    middle = w @ y / w.sum()
    assert np.isclose(made.fit(y).r2_held_out, 1 - (w @ misses**2) / (w @ (y - middle) ** 2))


def test_what_is_exact_is_zero_not_rounding() -> None:
    def model(texts: list[str]) -> Any:
        return np.array([1 / (1 + np.exp(-1.5 * ("Good" in t))) for t in texts])

    e = eagle.Explainer(model, eagle.Texts(), task="regression").explain("Good movie")
    assert e.scores[1] == 0
    assert e.probability_sign()[1] == 0.5


@pytest.mark.parametrize("budget", [1, 3])
def test_hardly_any_rows_give_numbers(budget: int) -> None:
    """The law of texts never draws the whole text, which is then the only row, or nearly."""

    def model(texts: list[str]) -> Array:
        return np.array([float(len(text)) for text in texts])

    explainer = eagle.Explainer(model, eagle.Texts(), method=default.MASKS, budget=budget)
    e = explainer.explain("one two three four five six")
    assert np.isfinite(e.scores).all()
    assert np.isfinite([e.local_prediction, e.intercept, e.prediction]).all()


# -- parts that the model does not read ----------------------------------------------------------

IDLE: dict[str, Any] = {
    "or": lambda z: z[:, :2].max(axis=1),
    "and": lambda z: z[:, :3].prod(axis=1),
    "mixed": lambda z: 1 / (1 + np.exp(1 - 3 * z[:, 0] + 2 * z[:, 1] * z[:, 2])),
}
"""Models of masks that read three parts at most."""


def of_words(model: Any, d: int, budget: int, seed: int) -> eagle.Explanation:
    """An explanation of d words, of which the model reads the first three."""
    words = [f"w{k}" for k in range(d)]

    def read(texts: list[str]) -> Array:
        return np.asarray(model(np.array([[float(w in t.split()) for w in words] for t in texts])))

    explainer = eagle.Explainer(read, Texts(unit="word"), budget=budget, random_state=seed)
    return explainer.explain(" ".join(words))


@pytest.mark.parametrize("d", [4, 5, 8])
@pytest.mark.parametrize("name", IDLE)
def test_a_part_that_is_never_read_has_no_effect(name: str, d: int) -> None:
    e = of_words(IDLE[name], d, 500, 0)
    assert e.posterior is not None
    assert e.posterior.kind == ALL_MASKS
    read = 2 if name == "or" else 3
    assert (e.scores[:read] != 0).all()
    assert (e.scores[read:] == 0).all()
    assert not e.interval()[read:].any()
    assert np.isnan(e.to_frame()["probability_sign"][read:]).all()
    said = str(e)
    assert f"No effect (leaving it out never changed an answer): w{read}" in said
    for line in said.splitlines():
        if line.startswith(tuple(f"w{k}" for k in range(read, d))):
            assert line.split(maxsplit=2)[2] == "no effect"
    # what the line cannot fit is in the intervals of the others
    assert (np.ptp(e.interval()[:read], axis=1) > 0).all()


@pytest.mark.parametrize("name", ["or", "mixed"])
def test_rounding_in_single_precision_is_no_effect(name: str) -> None:
    """How a network sums depends on where in a batch a row stands."""
    rng = np.random.default_rng(0)

    def model(z: Array) -> Array:
        y = (1 + IDLE[name](z)).astype(np.float32)
        return np.asarray(y + rng.choice([-4e-7, 0.0, 4e-7], len(y)).astype(np.float32))

    e, read = of_words(model, 5, 500, 0), 2 if name == "or" else 3
    assert (e.scores[:read] != 0).all()
    assert (e.scores[read:] == 0).all()
    assert not e.interval()[read:].any()


@pytest.mark.parametrize("y", [4e6 + np.arange(4), 0.1 + 1e-9 * np.arange(4)])
def test_small_effects_in_whole_numbers_and_in_double_precision_are_effects(y: Array) -> None:
    e = of_words(lambda z: y[(z @ [1, 2, 0]).astype(int)], 3, 500, 0)
    assert list(e.scores != 0) == [True, True, False]


@pytest.mark.parametrize("name", IDLE)
def test_scores_of_parts_that_are_read_are_those_without_the_others(name: str) -> None:
    """A second road: least squares on the parts that are read, over all masks."""
    d, model = 6, IDLE[name]
    e = of_words(model, d, 500, 0)
    z, w, y = e.evidence.features, e.evidence.weight, e.evidence.answers[:, 0]
    read = e.scores != 0
    x = np.column_stack([np.ones(len(z)), z[:, read]]) * np.sqrt(w)[:, None]
    found = np.linalg.lstsq(x, y * np.sqrt(w), rcond=None)[0][1:]
    assert np.allclose(e.scores[read], found, atol=1e-10)


@pytest.mark.parametrize("d", [10, 14, 20])
def test_of_sampled_masks_parts_that_are_not_read_are_seldom_called_sure(d: int) -> None:
    wrong = [
        of_words(model, d, 300, seed).sure(0.9)[3:].mean()
        for model in IDLE.values()
        for seed in range(4)
    ]
    assert np.mean(wrong) <= 0.12


@pytest.mark.parametrize(
    ("d", "budget", "lost"), [(6, 63, 0), (6, 64, 3), (7, 100, 0), (7, 128, 5), (8, 250, 0)]
)
@pytest.mark.parametrize("name", IDLE)
def test_of_prompts_that_were_nearly_all_asked_too(
    name: str, d: int, budget: int, lost: int
) -> None:
    """The process knows such models exactly: what is left is the line's lack of fit alone."""
    wrong = []
    for seed in range(2):
        gone = set(np.random.default_rng(seed).choice(np.arange(1, budget), lost).tolist())
        asked = count()

        def read(prompt: str, asked: Any = asked, gone: Any = gone) -> float:
            if next(asked) in gone:
                raise TimeoutError
            z = [[float(f"w{k}." in prompt) for k in range(d)]]
            return float(IDLE[name](np.array(z))[0])

        sources = {"all": {f"s{k}": f"w{k}." for k in range(d)}}
        model = eagle.language.Each(read, gaps=0.2)
        prompt = eagle.language.Prompt("{all}")
        explainer = eagle.Explainer(model, prompt, budget=budget, random_state=seed)
        e = explainer.explain(sources)
        assert "process" in e.method
        assert e.cost.missing == len(gone)
        assert e.sure()[:2].any()
        wrong.append(e.sure(0.9)[3:].mean())
    assert np.mean(wrong) <= 0.12


@pytest.mark.parametrize("d", [5, 8, 12])
def test_of_two_valued_columns_that_are_not_read_few_are_called_sure(d: int) -> None:
    wrong = []
    for model in IDLE.values():
        for seed in range(4):
            X = np.random.default_rng(seed).integers(0, 2, size=(300, d)).astype(float)
            e = eagle.Explainer(model, X, budget=300, random_state=seed).explain(X[0])
            wrong.append(e.sure(0.9)[3:].mean())
    assert np.mean(wrong) <= 0.12


def test_of_log_odds_no_effect_is_said_of_what_was_not_clipped() -> None:
    """The second word moves probabilities beyond the clip only, where its log-odds are all one."""

    def model(texts: list[str]) -> Array:
        p = np.array([0.3 if "a" not in t else 1 - 1e-9 if "b" in t else 1 - 1e-8 for t in texts])
        return np.column_stack([1 - p, p])

    explainer = eagle.Explainer(model, Texts(unit="word"), task="classification", link="logit")
    e = explainer.explain("a b c")
    assert list(e.scores != 0) == [True, False, False]
    assert "never changed an answer, other than by what was clipped): b, c" in str(e)
