"""Surveys by second roads: enumeration of all rows, least squares, plans of their own."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import eagle
from eagle import methods
from eagle._values.arrays import Array
from eagle._values.posterior import StudentT
from eagle.kernels import Exponential
from eagle.surrogates.reweighted import (
    SLOPE_PRECISION,
    Evenness,
    Weighed,
    degrees,
    measure_evenness,
    share_left_by_balance,
)
from eagle.surrogates.variance import narrowing
from eagle.survey.errors import BLOCKS
from eagle.survey.law import GRID, RootLaw
from eagle.survey.rows import draw
from eagle.survey.weigh import Weights


def mixed(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    level = rng.choice(["a", "b", "c", "d"], rows, p=[0.6, 0.3, 0.095, 0.005])
    number = rng.normal(size=rows)
    number[rng.random(rows) < 0.05] = np.nan
    flag = (rng.random(rows) < 0.3).astype(int)
    return pd.DataFrame({"number": number, "level": level, "flag": flag, "x": rng.random(rows)})


def answer(X: pd.DataFrame) -> Array:
    number = X["number"].fillna(-1.0).to_numpy(dtype=float)
    level = X["level"].map({"a": 0.0, "b": 1.0, "c": -1.0, "d": 3.0}).fillna(5.0).to_numpy()
    flag, x = X["flag"].to_numpy(dtype=float), X["x"].to_numpy(dtype=float)
    return np.asarray(np.tanh(number) + level * (1 + flag) + 0.5 * x * flag, dtype=float)


def law_of(data: pd.DataFrame) -> tuple[Any, RootLaw]:
    background = eagle.Background.of(data)
    return background, RootLaw.of(background, Exponential())


def own_law(law: RootLaw, states: Any) -> list[Array]:
    """How probable each state of each column is for an instance, from the definition."""
    out = []
    for k, b in enumerate(states):
        s, p = law.share[k], law.keep[k, b]
        one = (1 - p) * s / (1 - s[b]) if s[b] < 1 else np.zeros_like(s)
        one[b] = p
        out.append(one)
    return out


def test_the_law_is_drawn_as_it_says() -> None:
    background, law = law_of(mixed())
    drawn = draw(background, law, 1 << 13, 3)
    for k, one in enumerate(drawn.states):
        seen = np.bincount(one, minlength=law.draw.shape[1]) / len(one)
        assert np.abs(seen - law.draw[k]).max() < 2e-3
    assert np.array_equal(np.rint(law.draw * GRID), law.draw * GRID)
    assert np.allclose(law.draw.sum(axis=1), 1.0, rtol=0, atol=1e-15)
    values, _ = background.read(background.adopt(_native(background, drawn)))
    assert np.array_equal(background.states(values).T, drawn.states)


def _native(background: Any, drawn: Any) -> Any:
    from eagle.survey.rows import as_table

    return as_table(background, drawn.values)


def test_weights_turn_the_law_of_the_survey_into_that_of_the_instance() -> None:
    background, law = law_of(mixed())
    values, _ = background.read(background.adopt(mixed(5, seed=9)))
    states = background.states(values)
    columns = [np.flatnonzero(one > 0) for one in law.draw]
    rows = np.array(list(product(*columns)), dtype=np.uint16).T
    chance = np.prod([law.draw[k, rows[k]] for k in range(len(rows))], axis=0)
    for one in states:
        z, weight = Weights(law, rows).of(one, ())
        wanted = np.prod([p[rows[k]] for k, p in enumerate(own_law(law, one))], axis=0)
        ratio = weight * chance / wanted
        assert np.allclose(ratio, ratio[0], rtol=1e-12)
        assert np.array_equal(z.T, one == rows.T)
        square = float((chance * weight**2).sum() / (chance @ weight) ** 2)
        assert np.isclose(np.prod(law.worth(one[None])), square, rtol=1e-12)


def test_no_law_with_other_probabilities_has_steadier_weights() -> None:
    _, law = law_of(mixed())
    shares = law.share
    rng = np.random.default_rng(0)

    def spread(draw: Array) -> float:
        """The mean over instances of the mean square of weights, column by column."""
        total = 0.0
        for k in range(len(shares)):
            states = np.flatnonzero(shares[k] > 0)
            for b in states:
                p = own_law(law, [b if j == k else 0 for j in range(len(shares))])[k]
                total += shares[k, b] * float((p[states] ** 2 / draw[k, states]).sum())
        return total

    best = spread(law.draw)
    for _ in range(200):
        other = law.draw * np.exp(0.2 * rng.normal(size=law.draw.shape))
        assert spread(other / other.sum(axis=1, keepdims=True)) > best - 1e-9


def test_the_line_is_weighted_least_squares_with_a_free_intercept() -> None:
    rng = np.random.default_rng(1)
    z, w, y = (
        (rng.random((3, 200)) < 0.4).astype(float),
        rng.exponential(size=200),
        rng.normal(size=200),
    )
    line = Weighed.of(z.copy(), w, Evenness(200, (), (1.0, 1.0)))
    fit = line.fit_and_pulls(y)[0]
    weight = w / w.mean()
    root = np.sqrt(weight)[:, None]
    ridge = np.hstack([np.zeros((3, 1)), np.sqrt(SLOPE_PRECISION) * np.eye(3)])
    left = np.vstack([root * np.column_stack([np.ones(200), z.T]), ridge])
    wanted = np.linalg.lstsq(left, np.append(root[:, 0] * y, np.zeros(3)), rcond=None)[0]
    assert np.allclose(fit.scores, wanted[1:], atol=1e-12)
    assert np.isclose(fit.intercept, wanted[0], atol=1e-12)
    assert np.isclose(fit.local, wanted.sum(), atol=1e-12)
    hat = left[:200] @ np.linalg.pinv(left)[:, :200]
    assert np.allclose(line.one_less_leverage, 1 - np.diag(hat), atol=1e-10)


def test_pulls_are_what_a_row_does_to_the_scores() -> None:
    """Holding a row out changes the scores by its pull over √(1 − leverage)."""
    rng = np.random.default_rng(2)
    z, w, y = (
        (rng.random((3, 60)) < 0.5).astype(float),
        rng.exponential(size=60),
        rng.normal(size=60),
    )
    w /= w.mean()
    line = Weighed.of(z.copy(), w, Evenness(60, (), (1.0, 1.0)))
    fit, pulls = line.fit_and_pulls(y)
    for i in range(5):
        kept = np.delete(np.arange(60), i)
        root = np.sqrt(w[kept])[:, None]
        ridge = np.hstack([np.zeros((3, 1)), np.sqrt(SLOPE_PRECISION) * np.eye(3)])
        left = np.vstack([root * np.column_stack([np.ones(59), z[:, kept].T]), ridge])
        right = np.append(root[:, 0] * y[kept], np.zeros(3))
        without = np.linalg.lstsq(left, right, rcond=None)[0][1:]
        moved = fit.scores - without
        assert np.allclose(pulls.pull[:, i], moved * np.sqrt(line.one_less_leverage[i]), atol=1e-10)


def test_evenness_of_independent_rows_is_one_and_of_a_full_factorial_nothing() -> None:
    rng = np.random.default_rng(3)
    free = measure_evenness([((rng.random((14, 4096)) < 0.3).astype(float), np.ones(4096))])
    assert 0.7 < free.whole[0] < 1.3
    assert 0.7 < free.whole[1] < 1.3
    every = np.array(list(product([0.0, 1.0], repeat=6))).T
    full = measure_evenness([(np.tile(every, 64), np.ones(64 * 64))])
    assert max(full.whole) < 1e-20


@pytest.mark.parametrize("instance", [0, 7])
def test_its_limit_is_that_of_plans_of_their_own(instance: int) -> None:
    data = mixed()
    explainer = eagle.Explainer(answer, data, method=methods.EAGLE_BALANCED, task="regression")
    x = mixed(12, seed=5).iloc[instance]
    survey = explainer.with_options(methods.DEFAULT).survey(65_536)
    one = survey.explain(x)
    other = explainer.with_options(methods.EAGLE_BALANCED, budget=65_537).explain(x)
    slack = 4 * np.hypot(one.posterior.std, other.posterior.std) + 2e-3  # type: ignore[union-attr]
    assert (np.abs(one.scores - other.scores) <= slack).all()
    assert np.corrcoef(one.scores, other.scores)[0, 1] > 0.9999


def test_a_supplement_gives_the_same_limit_without_bias() -> None:
    """Mean over seeds of small surveys, whose rare level rests on supplements, is the limit."""
    data = mixed(2000)
    x = pd.DataFrame({"number": [0.3], "level": ["d"], "flag": [1], "x": [0.4]})
    scores, extra = [], 0
    for seed in range(24):
        explainer = eagle.Explainer(answer, data, random_state=seed, task="regression")
        survey = explainer.survey(512)
        scores.append(survey.explain(x).scores)
        extra = max(extra, sum(len(one.drawn) for one in survey.known.values()))
    assert extra > 0
    limit = eagle.Explainer(answer, data, task="regression").survey(1 << 17).explain(x).scores
    t = (np.mean(scores, axis=0) - limit) / (np.std(scores, axis=0, ddof=1) / np.sqrt(24))
    assert (np.abs(t) < 4).all()


def test_an_unseen_level_is_asked_and_scored_as_it_is() -> None:
    data = mixed()
    explainer = eagle.Explainer(answer, data, task="regression")
    x = pd.DataFrame({"number": [0.3], "level": ["new"], "flag": [0], "x": [0.4]})
    survey = explainer.survey(2048)
    e = survey.explain(x)
    k = e.names.index("level")
    other = explainer.with_options(methods.EAGLE_BALANCED, budget=8193).explain(x)
    assert abs(e.scores[k] - other.scores[k]) < 0.1 * abs(other.scores[k])
    low, high = e.interval(0.99)[k]
    assert low <= other.scores[k] <= high
    alone = survey.explain(x, "prediction", ask=False)
    assert np.array_equal(alone.scores, e.scores)  # the supplement is known now
    fresh = explainer.survey(2048).explain(x, "prediction", ask=False)
    low, high = fresh.interval(0.95)[k]
    assert low < 0 < high
    assert high - low > 5
    assert fresh.probability_sign()[k] < 0.6
    assert "not known" in " ".join(fresh.warnings)
    assert "level = new" in " ".join(fresh.warnings)


def test_intervals_cover_the_limit_over_seeds() -> None:
    data = mixed(1000)
    rows = mixed(6, seed=11)
    limit = eagle.Explainer(answer, data, task="regression").survey(1 << 16).explain_many(rows)
    inside, sure = [], []
    for seed in range(30):
        explainer = eagle.Explainer(answer, data, random_state=seed + 1, task="regression")
        many = explainer.survey(512).explain_many(rows)
        low, high = np.moveaxis(many.interval(0.9), 2, 0)
        inside.append((low <= limit.scores) & (limit.scores <= high))
        low, high = np.moveaxis(many.interval(0.99), 2, 0)
        sure.append((low <= limit.scores) & (limit.scores <= high))
    assert np.mean(inside) > 0.85
    assert np.mean(sure) > 0.97


def test_statements_about_a_table_cover_theirs_over_seeds() -> None:
    data = mixed(1000)
    rows = mixed(30, seed=12)
    groups = rows["flag"].to_numpy() == 1
    limit = eagle.Explainer(answer, data, task="regression").survey(1 << 16).explain_many(rows)
    wanted = [
        np.abs(limit.scores).mean(axis=0),
        limit.scores.mean(axis=0),
        limit.scores[groups].mean(axis=0) - limit.scores[~groups].mean(axis=0),
    ]
    held: list[list[Any]] = [[], [], []]
    for seed in range(24):
        explainer = eagle.Explainer(answer, data, random_state=seed + 1, task="regression")
        many = explainer.survey(512).explain_many(rows)
        size, mean = many.importance(0.9, sample=False), many.mean_score(0.9, sample=False)
        apart = many.compare_groups({"yes": groups, "no": ~groups}, 0.9, sample=False)
        ends = [(size.low, size.high), (mean.low, mean.high), (apart["low"], apart["high"])]
        for one, (low, high), truth in zip(held, ends, wanted, strict=True):
            one.append((np.asarray(low) <= truth) & (truth <= np.asarray(high)))
    for one in held:
        assert np.mean(one) > 0.82


def brute_deviation(survey: Any, many: Any, factor: Array) -> tuple[Array, float]:
    """The error of Σ factor × score: pulls of each explanation by itself, summed row by row."""
    surveyed = survey.instances(many)
    rows, weights = survey.rows, survey.weights
    total, untold = np.zeros((factor.shape[1], rows)), np.zeros(factor.shape[1])
    extra: dict[Any, Array] = {}
    answers = survey.answers[:, 0]
    for i, one in enumerate(factor):
        more = surveyed.supplements(i, survey.known)
        z, w = weights.of(surveyed.states[i], more)
        w, n = w / w.mean(), len(w)
        y = np.concatenate([answers, *(part.answers[:, 0] for part in more)])
        x = z - np.where((z == 1).all(axis=1), 1.0, z @ w / n)[:, None]
        inverse = np.linalg.inv((x * w) @ x.T + SLOPE_PRECISION * np.eye(len(x)))
        centred = y - w @ y / n
        misfit = centred - (inverse @ (x @ (w * centred))) @ x
        hat = 1 - w / n - w * np.einsum("ij,ik,kj->j", x, inverse, x)
        pull = inverse @ (x * w * (misfit / np.sqrt(hat)))
        fit, pulls = surveyed.line(i, survey.known)[0].fit_and_pulls(y)
        assert np.allclose(pulls.pull, pull, rtol=0, atol=1e-9 * np.abs(pull).max())
        assert isinstance(fit.posterior, StudentT)
        told = pulls.share * (pull[:, :rows] ** 2).sum(axis=1) + (pull[:, rows:] ** 2).sum(axis=1)
        rest = fit.posterior.spread**2 - narrowing(fit.posterior.df) * told
        untold += np.abs(one) * np.sqrt(np.maximum(rest, 0.0))
        total += one[:, None] * pull[:, :rows]
        start = rows
        for part in more:
            end = start + len(part.drawn)
            name = part.column, part.value
            extra[name] = extra.get(name, 0.0) + one[:, None] * pull[:, start:end]
            start = end
    variance, evenness = (total**2).sum(axis=1), weights.evenness
    starts = np.arange(0, rows, evenness.lengths[0])
    share = share_left_by_balance(evenness, np.add.reduceat(total, starts, axis=1), variance)
    variance = share * variance + sum((part**2).sum(axis=1) for part in extra.values())
    df = degrees(rows - len(total) - 1.0, share)
    return np.sqrt(narrowing(df) * variance) + untold, df


@pytest.mark.parametrize("kept", [0, 1 << 19, 128 << 20])
@pytest.mark.parametrize("length", [300, 512])
def test_errors_of_sums_are_those_of_pulls_summed_row_by_row(
    length: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether all lines are kept, some, or none: with rare and unseen values, and rows alike."""
    monkeypatch.setattr("eagle.survey.many.KEPT_BYTES", kept)
    monkeypatch.setattr("eagle.survey.errors.SLAB_BYTES", 1 << 17)
    data, rows = mixed(1500), mixed(40, seed=6)
    rows.loc[[3, 4, 9], "level"] = ["new", "new", "d"]
    rows = pd.concat([rows, rows[:7]], ignore_index=True)
    survey = eagle.Explainer(answer, data, task="regression").survey(length)
    many = survey.explain_many(rows, "prediction", progress=False)
    assert many.errors is not None
    assert survey.known
    rng = np.random.default_rng(0)
    for factor in (rng.normal(size=many.scores.shape), np.sign(many.scores) / len(many)):
        found, df = many.errors.deviation(factor)
        wanted, df_wanted = brute_deviation(survey, rows, factor)
        assert np.allclose(found, wanted, rtol=1e-9)
        assert np.isclose(df, df_wanted, rtol=1e-9)
    some = np.array([1, 3, 9, 20, 41, 44])
    part = rng.normal(size=(6, many.scores.shape[1]))
    found, _ = many[some].errors.deviation(part)  # type: ignore[union-attr]
    assert np.allclose(found, brute_deviation(survey, rows.iloc[some], part)[0], rtol=1e-9)


def test_draws_are_pulls_of_blocks_times_normal_numbers() -> None:
    data, rows = mixed(900), mixed(25, seed=8)
    survey = eagle.Explainer(answer, data, task="regression").survey(320)
    many = survey.explain_many(rows, "prediction", progress=False)
    surveyed, rng = survey.instances(rows), np.random.Generator(np.random.PCG64(0))
    push = rng.standard_normal((50, BLOCKS))
    assert many.errors is not None
    drawn = dict(many.errors.draws(50))
    assert sorted(drawn) == list(range(25))
    for i, found in drawn.items():
        line, more = surveyed.line(i, survey.known)
        fit, pulls = line.fit_and_pulls(surveyed.about("prediction", more), (-np.inf, np.inf))
        sums = pulls.pull[:, :320].reshape(4, BLOCKS, 5).sum(axis=2)
        assert isinstance(fit.posterior, StudentT)
        wide = fit.posterior.spread / np.sqrt(narrowing(fit.posterior.df))
        error = push @ sums.T / np.sqrt((sums**2).sum(axis=1)) * wide
        assert np.allclose(found, fit.scores + error, rtol=1e-9)


def test_statements_after_a_pickle_are_those_before() -> None:
    survey = eagle.Explainer(Answer(), mixed(500), task="regression").survey(256)
    many = survey.explain_many(mixed(60, seed=3), "prediction", progress=False)
    content = pickle.dumps(many)
    assert len(content) < 60 * 256 * 8  # no line is in it
    before, after = many.summary(), pickle.loads(content).summary()
    pd.testing.assert_frame_equal(before, after, check_exact=False, rtol=1e-9)


class Answer:
    """The model, so that it can be pickled."""

    def __call__(self, X: pd.DataFrame) -> Array:
        return answer(X)


@pytest.mark.parametrize(("length", "d"), [(64, 3), (1000, 9), (4096, 40), (700, 90)])
def test_an_explanation_alone_is_that_of_many_to_the_last_bit(length: int, d: int) -> None:
    """However many parts its rows have."""
    rng = np.random.default_rng(d)
    X, by = rng.normal(size=(200, d)), rng.normal(size=d)
    survey = eagle.Explainer(lambda Z: np.tanh(Z @ by), X, task="regression").survey(length)
    many = survey.explain_many(X[:6], "prediction", progress=False)
    for i in (0, 5):
        one = survey.explain(X[i], "prediction")
        for mine, name in ((one.scores, "scores"), (one.posterior.spread, "spread")):  # type: ignore[union-attr]
            assert np.array_equal(mine, vars(many.table)[name][i])
        assert (one.r2, one.r2_held_out) == (many.table.r2[i], many.table.r2_held_out[i])
        scale = one.posterior.scale  # type: ignore[union-attr]
        assert np.array_equal(scale, scale.T)
        assert np.linalg.eigvalsh(scale).min() > -1e-9 * scale.max()


def test_the_error_of_a_mean_is_that_of_one_explanation_if_all_rows_are_alike() -> None:
    """Nothing averages out where all rows share one line."""
    data = mixed(500)
    explainer = eagle.Explainer(answer, data, task="regression")
    survey = explainer.survey(1024)
    row = mixed(1, seed=4)
    one = survey.explain(row)
    many = survey.explain_many(pd.concat([row] * 50, ignore_index=True))
    mean = many.mean_score(0.9, sample=False)
    assert isinstance(one.posterior, StudentT)
    half = stats.t(one.posterior.df).ppf(0.95) * one.posterior.spread
    assert np.allclose(mean.value, one.scores)
    assert np.allclose((mean.high - mean.low) / 2, half, rtol=0.35)
    assert ((mean.high - mean.low) / 2 > 0.8 * half).all()


@pytest.mark.parametrize("rows", [40, 700, 4096, 5000])
def test_what_balance_leaves_is_the_same_in_one_product(rows: int) -> None:
    rng = np.random.default_rng(rows)
    z = (rng.random((5, rows)) < 0.4).astype(np.float64)
    evenness = measure_evenness([(z, rng.random(rows) + 0.5)])
    sums = rng.standard_normal((6, len(evenness.balance.sizes[0])))
    sums *= rng.uniform(0.1, 3.0, (6, 1))
    variance = rng.uniform(1.1, 3.0, 6) * (sums**2).sum(axis=1)
    variance[0] = 0.0
    want = evenness.balance.share_left(sums.T, variance)
    assert rows < 4096 or 0.0 < want < 1.0
    assert evenness.share_left(sums, variance) == pytest.approx(want, rel=1e-12)
