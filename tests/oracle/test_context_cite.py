"""ContextCite beside scikit-learn's lasso, and beside its authors' package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Lasso as Reference
from sklearn.preprocessing import StandardScaler

import eagle
from eagle import peers
from eagle.contracts import Rows
from eagle.peers.context_cite import Lasso

PARTS = {f"source {k}": f"word{k}" for k in range(9)}
EFFECT = np.array([3.0, -1.0, 0.4, 0.0, 0.0, 0.05, 0.0, 2.0, 0.0])


def kept(prompts: Any) -> Any:
    return np.array([[f"word{k}" in p for k in range(9)] for p in prompts], dtype=float)


def likely(prompts: Any) -> Any:
    z = kept(prompts)
    return z @ EFFECT + 0.7 * z[:, 0] * z[:, 1] - 12


def reference(z: Any, y: Any, tokens: int, weight: Any) -> Any:
    scaler = StandardScaler().fit(z, sample_weight=weight)
    lasso = Reference(0.01, tol=1e-12, max_iter=100_000)
    lasso.fit(scaler.transform(z), y / tokens, sample_weight=weight)
    return lasso.coef_ / scaler.scale_ * tokens


@pytest.mark.parametrize("tokens", [1, 7, 40])
def test_scores_are_those_of_scikit_learn_on_the_same_masks(tokens: int) -> None:
    method = peers.context_cite_for(tokens) if tokens > 1 else peers.CONTEXT_CITE
    explainer = eagle.Explainer(likely, eagle.language.Prompt(separator=" "), method=method)
    e = explainer.explain({"sources": PARTS})
    z, weight = e.evidence.features, e.evidence.repeats.copy()
    weight[0] -= 1  # the prompt itself was not drawn
    seen = weight > 0
    y = e.evidence.answers[:, 0]
    assert e.cost.rows == 65
    assert np.allclose(e.scores, reference(z[seen], y[seen], tokens, weight[seen]), atol=1e-8)
    assert e.posterior is None
    assert (e.scores == 0).any()


def test_weights_and_still_columns() -> None:
    rng = np.random.default_rng(3)
    z = (rng.random((40, 6)) < 0.5).astype(float)
    z[:, 2], z[0] = 1.0, 1.0
    y = rng.normal(size=40) + z @ [1, 2, 0, 0, -3, 0.1]
    repeats = rng.integers(1, 4, 40).astype(float)
    fit = Lasso(0.2).on(Rows(z, repeats, repeats)).fit(y)
    weight = repeats - (np.arange(40) == 0)
    seen = weight > 0
    scaler = StandardScaler().fit(z[seen], sample_weight=weight[seen])
    lasso = Reference(0.2, tol=1e-12).fit(
        scaler.transform(z[seen]), y[seen], sample_weight=weight[seen]
    )
    assert np.allclose(fit.scores, lasso.coef_ / scaler.scale_, atol=1e-9)
    assert fit.scores[2] == 0
    said = lasso.predict(scaler.transform(z[:1]))[0]
    assert np.isclose(fit.local, said)
