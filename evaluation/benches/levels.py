"""Levels in the continuous view: kept in half of the draws, or by their frequency in the data?

    EAGLE_DATA=folder python -m evaluation bench levels [--quick]

Adult and German Credit with their categories as categories, under boosted trees and a line. For
both laws: the agreement of 500 rows with the same law's limit (16,385 rows) on the five strongest
features, the relative error, and the coverage of 90% intervals; then the similarity of the two
limits (cosine, and agreement on the five strongest).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import eagle
from eagle import Background, methods
from eagle.metrics import truth as metrics
from eagle.surrogates.bayes import BayesLinear, Prior
from evaluation.benches.truth import TOP
from evaluation.problems import data
from evaluation.problems.files import located

FAR = 16_385
LIMIT = replace(methods.EAGLE_BALANCED, surrogate=BayesLinear(Prior(1e-6)))


def law(even: bool) -> Any:
    """Keep levels in half of the draws, as the library does, or by their frequency."""
    plain = Background.steps_kept
    return patch.object(Background, "kept", lambda self, states, **_: plain(self, states, even))


def problems() -> Iterator[tuple[str, Any, pd.DataFrame, pd.DataFrame]]:
    for name, table in (
        ("Adult", data.adult()),
        ("German", pd.read_csv(located("german/german.csv.gz"))),
    ):
        label = table.columns[-1]
        x = table.drop(columns=label)
        y = (table[label] == table[label].unique()[0]).to_numpy()
        rows = np.random.default_rng(0).permutation(len(x))[:12_000]
        x, y = x.iloc[rows], y[rows]
        cut = len(x) * 4 // 5
        words = make_column_selector(dtype_exclude="number")
        coded = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
            remainder=StandardScaler(),
        )
        for kind, model in (
            ("boosting", HistGradientBoostingClassifier(random_state=0)),
            ("line", LogisticRegression(max_iter=2000)),
        ):
            box = make_pipeline(coded, model).fit(x[:cut], y[:cut])
            yield f"{name}, {kind}", box, x[:cut], x[cut:]


def measured(box: Any, seen: Any, held: Any, seeds: int) -> tuple[list[float], Any]:
    """Agreement, error and coverage with respect to the limit, and the limit."""

    def explained(method: Any, rows: int, seed: int) -> Sequence[eagle.Explanation]:
        return eagle.Explainer(
            box, eagle.Table(seen, view="continuous"), method=method, budget=rows, random_state=seed
        ).explain_many(held, target=True, progress=False)

    limit = [e.scores for e in explained(LIMIT, FAR, 99)]
    runs = [explained(methods.EAGLE_BALANCED, 500, seed) for seed in range(seeds)]
    figures = []
    for i, exact in enumerate(limit):
        mine = np.array([run[i].scores for run in runs])
        bands = np.array([run[i].interval(0.9) for run in runs])
        moved = bands[..., 1] > bands[..., 0]
        inside = (bands[..., 0] <= exact) & (exact <= bands[..., 1])
        figures.append(
            [
                metrics.agreement(mine, exact, TOP),
                metrics.relative_error(mine, exact),
                float(inside[moved].mean()),
            ]
        )
    return [float(v) for v in np.mean(figures, axis=0)], limit


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench levels", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args(argv)
    instances, seeds = (5, 2) if args.quick else (20, 4)
    print(f"{instances} instances, {seeds} seeds: agreement / error / coverage of 90%")
    for name, box, seen, held in problems():
        held = held.iloc[:: len(held) // instances][:instances]
        cells, limits = [], []
        for even in (True, False):
            with law(even):
                figures, limit = measured(box, seen, held, seeds)
            cells.append(" / ".join(f"{v:.2f}" for v in figures))
            limits.append(limit)
        alike = [
            (a @ b / np.sqrt(a @ a * (b @ b)), metrics.agreement(a[None], b, TOP))
            for a, b in zip(*limits, strict=True)
        ]
        cosine, top = np.mean(alike, axis=0)
        print(
            f"{name}, d = {held.shape[1]}: half {cells[0]}; by frequency {cells[1]}; "
            f"limits alike: cosine {cosine:.2f}, top {TOP} {top:.2f}",
            flush=True,
        )
