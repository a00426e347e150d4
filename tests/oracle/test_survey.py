"""Surveys by second roads: enumeration of all rows, least squares, plans of their own."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import eagle
from eagle import methods
from eagle.kernel import Exponential
from eagle.surrogate.posterior import StudentT
from eagle.surrogate.reweighted import RIDGE, Evenness, Weighed, measured_evenness
from eagle.survey.law import GRID, RootLaw
from eagle.survey.rows import draw
from eagle.survey.weigh import Weights
from eagle.types import Array


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
    fit = line.fitted(y)[0]
    weight = w / w.mean()
    root = np.sqrt(weight)[:, None]
    ridge = np.hstack([np.zeros((3, 1)), np.sqrt(RIDGE) * np.eye(3)])
    left = np.vstack([root * np.column_stack([np.ones(200), z.T]), ridge])
    wanted = np.linalg.lstsq(left, np.append(root[:, 0] * y, np.zeros(3)), rcond=None)[0]
    assert np.allclose(fit.scores, wanted[1:], atol=1e-12)
    assert np.isclose(fit.intercept, wanted[0], atol=1e-12)
    assert np.isclose(fit.local, wanted.sum(), atol=1e-12)
    hat = left[:200] @ np.linalg.pinv(left)[:, :200]
    assert np.allclose(line.left, 1 - np.diag(hat), atol=1e-10)


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
    fit, pulls = line.fitted(y)
    for i in range(5):
        kept = np.delete(np.arange(60), i)
        root = np.sqrt(w[kept])[:, None]
        ridge = np.hstack([np.zeros((3, 1)), np.sqrt(RIDGE) * np.eye(3)])
        left = np.vstack([root * np.column_stack([np.ones(59), z[:, kept].T]), ridge])
        right = np.append(root[:, 0] * y[kept], np.zeros(3))
        without = np.linalg.lstsq(left, right, rcond=None)[0][1:]
        moved = fit.scores - without
        assert np.allclose(pulls.pull[:, i], moved * np.sqrt(line.left[i]), atol=1e-10)


def test_evenness_of_independent_rows_is_one_and_of_a_full_factorial_nothing() -> None:
    rng = np.random.default_rng(3)
    free = measured_evenness([((rng.random((14, 4096)) < 0.3).astype(float), np.ones(4096))])
    assert 0.7 < free.whole[0] < 1.3
    assert 0.7 < free.whole[1] < 1.3
    every = np.array(list(product([0.0, 1.0], repeat=6))).T
    full = measured_evenness([(np.tile(every, 64), np.ones(64 * 64))])
    assert max(full.whole) < 1e-20


@pytest.mark.parametrize("instance", [0, 7])
def test_its_limit_is_that_of_plans_of_their_own(instance: int) -> None:
    data = mixed()
    explainer = eagle.Explainer(answer, data, method=methods.EAGLE_BALANCED, task="regression")
    x = mixed(12, seed=5).iloc[instance]
    survey = explainer.using(methods.DEFAULT).survey(65_536)
    one = survey.explain(x)
    other = explainer.using(methods.EAGLE_BALANCED, budget=65_537).explain(x)
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
    other = explainer.using(methods.EAGLE_BALANCED, budget=8193).explain(x)
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
        size, mean = many.importance(0.9, sample=False), many.effect(0.9, sample=False)
        apart = many.compare({"yes": groups, "no": ~groups}, 0.9, sample=False)
        ends = [(size.low, size.high), (mean.low, mean.high), (apart["low"], apart["high"])]
        for one, (low, high), truth in zip(held, ends, wanted, strict=True):
            one.append((np.asarray(low) <= truth) & (truth <= np.asarray(high)))
    for one in held:
        assert np.mean(one) > 0.82


def test_the_error_of_a_mean_is_that_of_one_explanation_if_all_rows_are_alike() -> None:
    """Nothing averages out where all rows share one line."""
    data = mixed(500)
    explainer = eagle.Explainer(answer, data, task="regression")
    survey = explainer.survey(1024)
    row = mixed(1, seed=4)
    one = survey.explain(row)
    many = survey.explain_many(pd.concat([row] * 50, ignore_index=True))
    mean = many.effect(0.9, sample=False)
    assert isinstance(one.posterior, StudentT)
    half = stats.t(one.posterior.df).ppf(0.95) * one.posterior.spread
    assert np.allclose(mean.value, one.scores)
    assert np.allclose((mean.high - mean.low) / 2, half, rtol=0.35)
    assert ((mean.high - mean.low) / 2 > 0.8 * half).all()
