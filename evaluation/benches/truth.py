"""Stability with its chance level, agreement with the converged explanation, and coverage.

    python -m evaluation bench truth [--quick]

For each instance the *converged* explanation is from 20,000 independent rows with a free intercept
and almost no shrinkage. Over several seeds at the paper's budget of 500 rows:

stability   mean Jaccard similarity of the five strongest features between seeds
chance      what five random features would give
agreement   the same similarity with the converged explanation
coverage    how often a 95% interval contains the converged score
own         how often it contains the same method's score at 4,000 rows
width       mean width of the interval, in units of the largest converged score
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier

import eagle
from eagle import Method, methods
from eagle.metrics.stability import chance, jaccard
from eagle.metrics.truth import agreement, coverage, width
from eagle.peers.independent import Independent
from eagle.surrogates.bayes import BayesLinear, Prior

TOP = 5
CONVERGED = Method(
    "converged", Independent(), methods.EAGLE.kernel, BayesLinear(Prior(slopes=1e-6))
)
METHODS = {
    "EAGLE": methods.EAGLE,
    "EAGLE (paper)": methods.EAGLE_PAPER,
    "independent rows": replace(methods.EAGLE, name="independent", design=Independent()),
}


def data() -> dict[str, tuple[Any, Any]]:
    cancer, wine = load_breast_cancer(), load_wine()
    return {
        "breast cancer, d = 30": (cancer.data, cancer.target),
        "wine, d = 13": (wine.data, wine.target),
        "made, d = 10": make_classification(
            3000, 10, n_informative=6, n_redundant=2, flip_y=0.1, random_state=0
        ),
    }


def measure(model: Any, X: Any, method: Method, instances: int, seeds: int) -> list[float]:
    rows: list[list[Any]] = []
    for i in range(instances):
        x = X[i * len(X) // instances]
        truth = eagle.Explainer(
            model, X, method=CONVERGED, budget=20_000, random_state=10**6
        ).explain(x)
        target = truth.target
        own = eagle.Explainer(
            model, X, method=method, budget=4_000, random_state=10**6 + 1
        ).explain(x, target)
        runs = [
            eagle.Explainer(model, X, method=method, random_state=seed).explain(x, target)
            for seed in range(seeds)
        ]
        intervals, scores = ([f(e) for e in runs] for f in (lambda e: e.interval(0.95), _scores))
        rows.append(
            [
                jaccard(scores, TOP),
                agreement(scores, truth.scores, TOP),
                coverage(intervals, truth.scores).mean(),
                coverage(intervals, own.scores).mean(),
                width(intervals).mean() / np.abs(truth.scores).max(),
            ]
        )
    return [float(v) for v in np.mean(rows, axis=0)]


def _scores(e: eagle.Explanation) -> Any:
    return e.scores


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench truth", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    instances, seeds = (4, 3) if parser.parse_args(argv).quick else (20, 5)
    print(f"{instances} instances, {seeds} seeds, 500 rows each, binned view, random forests")
    for name, (X, y) in data().items():
        model = RandomForestClassifier(100, n_jobs=1, random_state=0).fit(X, y)
        print(f"\n{name}; chance {chance(X.shape[1], TOP):.2f}")
        print(f"  {'':<18}stability  agreement  coverage    own  width")
        for label, method in METHODS.items():
            figures = measure(model, X, method, instances, seeds)
            cells = "".join(f"{v:>{w}.2f}" for v, w in zip(figures, (9, 11, 10, 7, 7), strict=True))
            print(f"  {label:<18}{cells}", flush=True)
