"""Scores of series where they are known by a second road: lines over steps, and all masks."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import eagle
from eagle._engine.default import MASKS
from eagle._values.posterior import ALL_MASKS

RNG = np.random.default_rng(5)
X = RNG.normal(size=(24, 3)) + np.array([0.0, 5.0, -2.0])
WEIGHTS = RNG.normal(size=(24, 3))
MANY = RNG.normal(size=(7, 24, 3))


def line(batch: Any) -> Any:
    """A weighted sum over all steps and channels."""
    return np.einsum("ntc,tc->n", np.asarray(batch, dtype=np.float64), WEIGHTS)


def effects(beneath: Any, edges: Any) -> Any:
    """What each segment of each channel adds: channel by channel, segment by segment."""
    gained = WEIGHTS * (X - beneath)
    return [gained[a:b, c].sum() for c in range(3) for a, b in pairwise(edges)]


@pytest.mark.parametrize(
    ("fill", "beneath"),
    [
        ("mean", X.mean(axis=0)),
        (0.0, 0.0),
        (MANY[0], MANY[0]),
        (MANY, MANY.mean(axis=0)),
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    ],
)
def test_of_a_line_the_scores_are_its_own_sums(fill: Any, beneath: Any) -> None:
    exact = eagle.Explainer(line, eagle.Series(3, fill=fill), budget=512).explain(X)
    assert exact.posterior is not None
    assert exact.posterior.kind == ALL_MASKS
    assert np.allclose(exact.scores, effects(beneath, [0, 8, 16, 24]), atol=1e-9)
    many = eagle.Explainer(line, eagle.Series([5, 9, 20], fill=fill), budget=400).explain(X)
    known = np.asarray(effects(beneath, [0, 5, 9, 20, 24]))
    low, high = many.interval(0.9).T
    slack = 1e-6
    assert (low - slack <= known).all()
    assert (known <= high + slack).all()


def test_noise_has_the_channels_mean_and_spread_and_does_not_depend_on_the_mask() -> None:
    seen: list[Any] = []

    def asked(batch: Any) -> Any:
        seen.append(batch.copy())
        return line(batch) if batch.ndim == 3 else batch.mean(axis=1)

    long = RNG.normal(3.0, 2.0, size=20_000)
    source = eagle.Series(4, fill="noise")
    eagle.Explainer(asked, source).explain(long)
    batch = seen[0]
    changed = batch != long
    noise = np.nanmax(np.where(changed, batch, -np.inf), axis=0)
    assert (batch[changed] == np.broadcast_to(noise, batch.shape)[changed]).all()
    assert noise.mean() == pytest.approx(long.mean(), abs=0.05)
    assert noise.std() == pytest.approx(long.std(), rel=0.03)
    again = eagle.Explainer(asked, eagle.Series(3, fill="noise", seed=4), budget=512).explain(X)
    other = eagle.Explainer(asked, eagle.Series(3, fill="noise", seed=5), budget=512).explain(X)
    beneath = seen[1][(seen[1] != X).all(axis=(1, 2))][0]
    assert np.allclose(again.scores, effects(beneath, [0, 8, 16, 24]), atol=1e-9)
    assert not np.allclose(again.scores, other.scores)


def test_linear_fill_is_interp_over_what_is_kept_and_its_scores_are_least_squares() -> None:
    """All masks are built by np.interp and fitted by lstsq: neither is what the library does."""
    time = np.cumsum(RNG.uniform(0.5, 2.0, 12))
    x, weights, edges = RNG.normal(size=12), RNG.normal(size=12), [0, 3, 5, 9, 12]
    seen: list[Any] = []

    def model(batch: Any) -> Any:
        seen.append(batch.copy())
        return batch @ weights

    source = eagle.Series(edges, fill="linear", time=time)
    e = eagle.Explainer(model, source, method=MASKS, budget=16).explain(x)
    masks = np.array(list(product([1, 0], repeat=4)))
    rows = []
    for mask in masks:
        on = np.repeat(mask, np.diff(edges)).astype(bool)
        rows.append(np.where(on, x, np.interp(time, time[on], x[on]) if on.any() else x.mean()))
    asked = {row.tobytes() for row in seen[0]}
    assert len(asked) == 16
    for row in rows:
        assert np.abs(seen[0] - row).max(axis=1).min() < 1e-12
    kept = masks.mean(axis=1)
    # LIME's kernel of masks: √exp(-(1 - cos)² / ¼²), whose cosine with all ones is √(share kept).
    share = np.sqrt(np.exp(-((1 - np.sqrt(kept)) ** 2) / 0.25**2))
    root = np.sqrt(share)[:, None]
    design = np.column_stack([np.ones(16), masks])
    fit = np.linalg.lstsq(root * design, root[:, 0] * (np.array(rows) @ weights), rcond=None)[0]
    assert np.allclose(e.scores, fit[1:], atol=1e-8)
