"""Scores as functionals of a Gaussian process, by a second road: every mask is listed, each part of
the process is made of explicit columns, and the functional is least squares over all masks."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import eagle
from eagle import Background, Logit, methods
from eagle._engine import default
from eagle._engine.planning import Planner
from eagle._tables.rows import TableInstances
from eagle._values.posterior import ALL_MASKS, StudentT
from eagle.contracts import Array, Law, Rows
from eagle.designs.gains import ON_MASKS, best_rows
from eagle.designs.law import law_of
from eagle.kernels import COSINE
from eagle.spaces import EvenSizes, Fair, MaskSpace
from eagle.surrogates.field import Field
from eagle.surrogates.functional import CURVED_SHARE, RATIOS, Functional, Functionals
from eagle.surrogates.line_posterior import LinePosterior

D = 6
EVERY = np.array(list(product((0.0, 1.0), repeat=D)))
LAWS = (Fair(), EvenSizes())

PROCESS_LOGIT = replace(methods.EAGLE_PROCESS, surrogate=Functional(logit=True))


def answer(z: Array) -> Array:
    """An answer that no line fits."""
    place = np.arange(1.0, z.shape[1] + 1)
    return np.asarray(np.tanh(z @ np.cos(place)) + z[:, 0] * z[:, -1] + 0.1 * np.sin(z @ place**2))


def shares(sizes: Array) -> Array:
    """The probability of each mask of `EVERY`."""
    kept = EVERY.sum(axis=1).astype(int)
    return np.array([sizes[k] / comb(D, k) for k in kept])


def off_line(columns: Array, x: Array, share: Array) -> Array:
    """Columns less the line that fits them best under the law."""
    root, line = np.sqrt(share)[:, None], np.column_stack([np.ones(len(x)), x])
    fitted = line @ np.linalg.lstsq(line * root, columns * root, rcond=None)[0]
    return np.asarray(columns - fitted)


def explicit(sizes: Array) -> tuple[Array, list[Array], Array]:
    """Standardised parts, the columns of curves and of products, and the rest's variances, for all
    masks: by least squares and by sums over masks."""
    share = shares(sizes)
    mean = share @ EVERY
    x = (EVERY - mean) / np.sqrt(share @ (EVERY - mean) ** 2)
    kept = EVERY.sum(axis=1, keepdims=True) / D
    bends = off_line(kept ** np.array([2, 3]), x, share)
    values, vectors = np.linalg.eigh((bends.T * share) @ bends)
    there = values > 1e-12
    bends = bends @ (vectors[:, there] / np.sqrt(values[there])) / np.sqrt(there.sum())
    pairs = np.column_stack([x[:, i] * x[:, j] for i, j in combinations(range(D), 2)])
    pairs = off_line(pairs, x, share)
    pairs /= np.sqrt(share @ (pairs**2).sum(axis=1))
    triples = sum(
        x[:, i] ** 2 * x[:, j] ** 2 * x[:, k] ** 2 for i, j, k in combinations(range(D), 3)
    )
    return x, [bends, pairs], 0.3 + 0.7 * triples / (share @ triples)


@pytest.mark.parametrize("sizes", LAWS)
def test_curves_and_products_are_orthogonal_to_the_line_and_explicit_columns_agree(
    sizes: Fair | EvenSizes,
) -> None:
    law = law_of(MaskSpace(D, sizes), COSINE)
    assert law.sizes is not None
    field = Field.of(law)
    seen = field.standardise(EVERY)
    x, (bends, pairs), rest = explicit(law.sizes)
    assert np.allclose(seen.x, x, atol=1e-12)
    assert np.allclose(field.curve(seen, seen), bends @ bends.T, atol=1e-9)
    assert np.allclose(field.products(seen, seen), pairs @ pairs.T, atol=1e-9)
    assert np.allclose(field.rest(seen), rest, atol=1e-9)
    triples = [x[:, i] * x[:, j] * x[:, k] for i, j, k in combinations(range(D), 3)]
    covariance = np.array(triples).T @ np.array(triples)
    assert np.allclose(field.triple(seen, seen) * field.triples, covariance, atol=1e-9)


def test_positions_of_a_table_are_orthonormal_under_the_law() -> None:
    steps, inside, chance = 12, np.array([3.0, 7.0, 12.0]), np.array([0.6, 0.3, 1.0])
    field = Field.of(Law(chance, inside, steps))
    points = np.array([(a, b, 0) for a, b in product(range(steps), repeat=2)], dtype=np.uint16)
    z = (points < inside).astype(np.float64)
    one = [
        np.where(np.arange(steps) < k, p / k, (1 - p) / (steps - k))
        for k, p in ((3, 0.6), (7, 0.3))
    ]
    share = one[0][points[:, 0]] * one[1][points[:, 1]]
    seen = field.standardise(z, points)
    assert seen.x.shape[1] == 2  # the third cannot move
    columns = np.column_stack([np.ones(len(z)), seen.x, seen.curves, seen.x[:, 0] * seen.x[:, 1]])
    gram = (columns.T * share) @ columns
    assert np.allclose(gram, np.eye(len(gram)), atol=1e-12)
    assert abs(share @ np.diagonal(field.curve(seen, seen)) - 1) < 1e-12
    assert abs(share @ np.diagonal(field.products(seen, seen)) - 1) < 1e-12


def planned(sizes: Fair | EvenSizes, n: int, surrogate: Functional) -> tuple[Rows, Functionals]:
    method = eagle.Method("one", methods.EAGLE_PROCESS.design, COSINE, surrogate)
    (made,) = Planner(method, n, 1).plan([MaskSpace(D, sizes)])
    assert isinstance(made.fitter, Functionals)
    return made.rows, made.fitter


def at_all_masks(rows: Rows, ratios: tuple[float, float, float], y: Array) -> tuple[Array, ...]:
    """The posterior mean and covariance of the answers at all masks, without the rest, and the log
    likelihood: a regression on explicit columns. The scale is that of greatest likelihood."""
    assert rows.law is not None
    assert rows.law.sizes is not None
    x, (bends, pairs), rest = explicit(rows.law.sizes)
    columns = np.hstack(
        [
            np.full((len(EVERY), 1), 10.0),
            x / np.sqrt(D),
            np.sqrt(ratios[0]) * bends,
            np.sqrt(ratios[1]) * pairs,
        ]
    )
    at = [int((z == EVERY).all(axis=1).argmax()) for z in rows.features]
    noise = ratios[2] * rest[at]
    own = columns[at]
    covariance = own @ own.T + np.diag(noise)
    apart = y - y.mean()
    scale = apart @ np.linalg.solve(covariance, apart) / len(y)
    precision = np.eye(columns.shape[1]) + (own.T / noise) @ own
    weights = np.linalg.solve(precision, (own.T / noise) @ apart)
    spread = scale * columns @ np.linalg.solve(precision, columns.T)
    likely = multivariate_normal(np.zeros(len(y)), scale * covariance).logpdf(apart)
    return y.mean() + columns @ weights, spread, np.array(likely)


def functional(sizes: Array) -> Array:
    """The line that fits answers at all masks best under the law, as a matrix: intercept first."""
    root = np.sqrt(shares(sizes))
    line = np.column_stack([np.ones(len(EVERY)), EVERY])
    return np.linalg.pinv(line * root[:, None]) * root


@pytest.mark.parametrize("sizes", LAWS)
def test_given_ratios_are_a_regression_on_explicit_columns(sizes: Fair | EvenSizes) -> None:
    ratios = (CURVED_SHARE, 0.3, 0.1)
    rows, fitter = planned(sizes, 30, Functional(ratios))
    y = answer(rows.features)
    fit = fitter.fit(y)
    mean, spread, _ = at_all_masks(rows, ratios, y)
    assert rows.law is not None
    assert rows.law.sizes is not None
    line = functional(rows.law.sizes)
    assert np.allclose(fit.scores, (line @ mean)[1:], atol=1e-9)
    assert abs(fit.intercept - (line @ mean)[0]) < 1e-9
    believed = LinePosterior.of(fitter.spectra, ratios[2:], fitter.seen.x, y - y.mean())
    deviation = np.outer(fitter.field.sd, fitter.field.sd)
    assert np.allclose(believed.scale / deviation, (line @ spread @ line.T)[1:, 1:], atol=1e-9)


def test_ratios_are_averaged_by_their_likelihood() -> None:
    rows, fitter = planned(Fair(), 24, Functional())
    y = answer(rows.features)
    assert rows.law is not None
    assert rows.law.sizes is not None
    line, likely, scores = functional(rows.law.sizes), [], []
    for p, v in product(RATIOS, repeat=2):
        mean, _, log = at_all_masks(rows, (CURVED_SHARE, p, v), y)
        likely.append(float(log))
        scores.append((line @ mean)[1:])
    chance = np.exp(np.array(likely) - max(likely))
    assert chance.max() < 0.9 * chance.sum()  # several count
    assert np.allclose(fitter.fit(y).scores, chance @ scores / chance.sum(), atol=1e-9)


def test_what_a_row_not_seen_is_predicted_as() -> None:
    ratios = (CURVED_SHARE, 0.3, 0.1)
    rows, fitter = planned(EvenSizes(), 20, Functional(ratios))
    y = answer(rows.features)
    unit = y - y.mean()
    believed = LinePosterior.of(fitter.spectra, ratios[2:], fitter.seen.x, unit)
    for i in (0, 7, 19):
        others = np.arange(20) != i
        x, seen = fitter.seen.x, fitter.seen
        field = fitter.field
        line = field.line(seen, seen)
        whole = line + ratios[0] * field.curve(seen, seen) + ratios[1] * field.products(seen, seen)
        part = (whole + ratios[2] * np.diag(field.rest(seen)))[np.ix_(others, others)]
        dual = np.linalg.solve(part, unit[others])
        assert abs(whole[i, others] @ dual - (unit - believed.missed)[i]) < 1e-9
        assert abs(line[i, others] @ dual - believed.held[i]) < 1e-9
        assert x.shape == (20, D)


@pytest.mark.parametrize("sizes", LAWS)
def test_the_limit_is_that_of_masks(sizes: Fair | EvenSizes) -> None:
    """All masks give the line through all of them; nearly all give nearly that."""
    space = MaskSpace(8, sizes)
    fits = {}
    for method, n in (
        (default.MASKS, 256),
        (methods.EAGLE_PROCESS, 256),
        (methods.EAGLE_PROCESS, 200),
    ):
        (made,) = Planner(method, n, 0).plan([space])
        fits[method.name, n] = made.fitter.fit(answer(made.rows.features))
    limit = fits["balanced masks", 256].scores
    whole, part = fits["EAGLE (process)", 256], fits["EAGLE (process)", 200]
    assert np.allclose(whole.scores, limit, rtol=0, atol=1e-11)
    assert isinstance(whole.posterior, StudentT)
    assert whole.posterior.kind == ALL_MASKS
    assert np.linalg.norm(part.scores - limit) < 0.05 * np.linalg.norm(limit)


def test_the_limit_of_a_table_is_the_line_under_its_law() -> None:
    """Matches and a product of two of them: the line is known from the law of matches alone."""
    data = np.random.default_rng(3).normal(size=(200, 4))
    background = Background.of(data)
    table = TableInstances(background, background.adopt(data[1:2]))
    weights = np.array([1.0, -1.0, 0.5, 0.0])

    def model(X: Array) -> Array:
        match = background.states(np.asarray(X)) == table.states[0]
        return np.asarray(match @ weights + 2.0 * match[:, 0] * match[:, 3])

    kept = table.kept[0] / 1024
    chance = kept / (kept + (1 - kept) * np.exp(-1 / (2 * 0.75**2 * 4)))  # the kernel absorbed
    exact = weights + 2.0 * np.array([chance[3], 0, 0, chance[0]])
    ex = eagle.Explainer(model, data, method=methods.EAGLE_PROCESS, budget=100)
    assert np.allclose(ex.explain(data[1]).scores, exact, atol=0.02)


@pytest.mark.parametrize("sizes", LAWS)
def test_every_row_planned_lowers_the_variance_of_the_scores_most(sizes: Fair | EvenSizes) -> None:
    space = MaskSpace(D, sizes)
    order = np.random.default_rng(2).permutation(len(EVERY) - 1)[:40]
    pool = np.concatenate([space.origin[None], (1 - EVERY[order]).astype(np.uint8)])
    law = law_of(space, COSINE)
    assert law.sizes is not None
    x, (bends, pairs), _ = explicit(law.sizes)
    triples = np.array([x[:, i] * x[:, j] * x[:, k] for i, j, k in combinations(range(D), 3)]).T
    triples /= np.sqrt(shares(law.sizes) @ (triples**2).sum(axis=1))
    parts = np.sqrt([ON_MASKS[0], ON_MASKS[1], 0.7 * ON_MASKS[2]])
    columns = np.hstack(
        [
            np.full((len(x), 1), 10.0),
            x / np.sqrt(D),
            parts[0] * bends,
            parts[1] * pairs,
            parts[2] * triples,
        ]
    )
    at = [int((1 - p == EVERY).all(axis=1).argmax()) for p in pool]
    own = columns[at]
    about = np.zeros((D, columns.shape[1]))
    about[:, 1 : D + 1] = np.eye(D)  # the slopes' own coefficients

    def left(rows: list[int]) -> float:
        precision = np.eye(own.shape[1]) + own[rows].T @ own[rows] / (0.3 * ON_MASKS[2])
        return float(np.trace(about @ np.linalg.inv(precision) @ about.T))

    picks = best_rows(space, COSINE, pool, 8).tolist()
    assert picks[0] == 0
    for k in range(1, 8):
        variances = {p: left([*picks[:k], p]) for p in range(len(pool)) if p not in picks[:k]}
        assert variances[picks[k]] <= min(variances.values()) * (1 + 1e-9)


def test_log_odds_are_turned_back_at_all_masks() -> None:
    """A line in log-odds, far into both ends, is found from few rows: a line in probabilities is
    not. What is drawn to turn them back stands for all masks."""
    space, link = MaskSpace(D, Fair()), Logit(1e-6)

    def model(z: Array) -> Array:
        return np.asarray(link.back(z @ np.array([9.0, -6.0, 4.0, 2.0, 1.0, 0.0]) - 3.0))

    law = law_of(space, COSINE)
    assert law.sizes is not None
    exact = (functional(law.sizes) @ model(EVERY))[1:]
    errors = []
    for method in (methods.EAGLE_PROCESS, PROCESS_LOGIT):
        (made,) = Planner(method, 24, 0).plan([space])
        fit = made.fitter.fit(model(made.rows.features), (0.0, 1.0))
        errors.append(np.linalg.norm(fit.scores - exact) / np.linalg.norm(exact))
    assert errors[1] < 0.02
    assert errors[1] < errors[0] / 3
    (made,) = Planner(PROCESS_LOGIT, 24, 0).plan([space])
    (plain,) = Planner(methods.EAGLE_PROCESS, 24, 0).plan([space])
    y = model(made.rows.features)
    unbounded = made.fitter.fit(y)  # no probabilities, as far as is known
    assert np.array_equal(unbounded.scores, plain.fitter.fit(y).scores)
    assert unbounded.posterior is None
