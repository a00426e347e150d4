"""Do intervals have the coverage that they state, and how wide are they at that coverage?

    python -m evaluation bench honest [--quick] [--others] [--rows 50 500 2000]

The target is the line that the same method would give from infinitely many rows (with its law, its
kernel, and a negligible prior), here from 32,769. For each table, view and number of rows, over
instances and seeds: the share of 90% intervals that contain the target's score, their mean width in
units of its largest score, and this width if all intervals are scaled by one factor to contain 90%:

posterior   independent rows of the tilted law, the closed-form posterior
robust      the same rows, `Robust()`
on balanced rows: the posterior, `Robust()`, and `Robust(balanced=True)`, which is `EAGLE_BALANCED`

Printed first: the agreement of two seeds, and of a seed and the target, on the five strongest
features (mean Jaccard similarity), and the relative error of the scores. --others uses tables and
models on which nothing was chosen.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import eagle
from eagle import Method, methods, peers
from eagle._values.targets import answers_of
from eagle.contracts import Array
from eagle.metrics import stability
from eagle.metrics import truth as metrics
from eagle.surrogates.bayes import BayesLinear, Prior
from eagle.surrogates.robust import Robust
from evaluation.benches.tables import Black, others, tables
from evaluation.benches.truth import TOP

LEVEL = 0.9
CONVERGED = replace(methods.EAGLE_BALANCED, surrogate=BayesLinear(Prior(1e-6)))
BALANCED = methods.EAGLE_BALANCED
INDEPENDENT = replace(peers.GLIME_LIME, name="independent", surrogate=BayesLinear())
KINDS: tuple[tuple[Method, Any], ...] = (
    (INDEPENDENT, BayesLinear()),
    (INDEPENDENT, Robust()),
    (BALANCED, BayesLinear()),
    (BALANCED, Robust()),
    (BALANCED, BALANCED.surrogate),
)
RIVALS = (peers.LIME, methods.EAGLE, methods.EAGLE_PAPER, peers.GLIME_LIME, BALANCED)

Runs = list[Sequence[eagle.Explanation]]


def explained(black: Black, view: Any, method: Method, rows: int, x: Any, seeds: int) -> Runs:
    """For each seed the explanations of all instances."""
    return [
        eagle.Explainer(
            black.model,
            eagle.Table(black.data, view=view),
            method=method,
            budget=rows,
            random_state=seed,
        ).explain_many(x, progress=False)
        for seed in range(seeds)
    ]


def agreement(runs: Runs, truth: Sequence[eagle.Explanation]) -> list[float]:
    """Stability, agreement and relative error, means over instances."""
    out = []
    for i, exact in enumerate(truth):
        mine = [run[i].scores for run in runs]
        out.append(
            [
                stability.jaccard(mine, TOP),
                metrics.agreement(mine, exact.scores, TOP),
                metrics.relative_error(mine, exact.scores),
            ]
        )
    return [float(v) for v in np.mean(out, axis=0)]


class Held(NamedTuple):
    """The share of intervals that contain the target, their width, and their width at exact
    coverage: after scaling all by one factor so that as many contain it as should."""

    share: float
    width: float
    honest: float


def covered(runs: Runs, truth: Sequence[eagle.Explanation], surrogate: Any) -> Held:
    """Over features that moved, in units of the target's largest score."""
    hits, widths, far = [], [], []
    for run in runs:
        for e, exact in zip(run, truth, strict=True):
            moved = np.ptp(e.evidence.features, axis=0) > 0
            y: Array = answers_of(e.evidence.answers, e.outputs, e.target)
            fit = surrogate.on(e.evidence.rows(surrogate)).fit(y)
            low, high = fit.posterior.interval(LEVEL)[moved].T
            score = exact.scores[moved]
            hits.append(np.mean((low <= score) & (score <= high)))
            widths.append(np.mean(high - low) / np.abs(exact.scores).max())
            half = np.maximum((high - low) / 2, 1e-300)
            far += (np.abs(score - (low + high) / 2) / half).tolist()
    width = float(np.mean(widths))
    return Held(float(np.mean(hits)), width, width * float(np.quantile(far, LEVEL)))


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench honest", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--rows", type=int, nargs="+", default=[50, 100, 500, 2000])
    args = parser.parse_args(argv)
    instances, seeds, far = (5, 3, 8193) if args.quick else (15, 6, 32_769)
    print(f"{instances} instances, {seeds} seeds")
    print(f"coverage of {LEVEL:.0%} intervals / their width / their width at true coverage")
    every: dict[int, list[list[Held]]] = {}
    for black in others() if args.others else tables():
        x = black.held[:: len(black.held) // instances][:instances]
        for view in ("binned", "continuous"):
            print(f"\n{black.name}, {view}, d = {x.shape[1]}")
            (truth,) = explained(black, view, CONVERGED, far, x, 1)
            for method in RIVALS:
                runs = explained(black, view, method, 500, x, seeds)
                cells = "".join(f"{v:8.2f}" for v in agreement(runs, truth))
                print(f"  {method.name:<22}{cells}", flush=True)
            head()
            for rows in args.rows:
                made = {
                    m: explained(black, view, m, rows, x, seeds) for m in (INDEPENDENT, BALANCED)
                }
                intervals = [covered(made[m], truth, surrogate) for m, surrogate in KINDS]
                line(rows, intervals)
                every.setdefault(rows, []).append(intervals)
    print("\nmean over tables and views")
    head()
    for rows, several in every.items():
        line(rows, [Held(*np.mean(kind, axis=0)) for kind in zip(*several, strict=True)])


def head() -> None:
    names = ("posterior", "robust", "| posterior", "robust", "balanced")
    print(f"  {'rows':>6}" + "".join(f"{name:>17}" for name in names))


def line(rows: int, intervals: list[Held]) -> None:
    cells = [f"{h.share:6.2f}/{h.width:.2f}/{h.honest:.2f}" for h in intervals]
    print(f"  {rows:>6}" + "".join(f"{cell:>17}" for cell in cells), flush=True)
