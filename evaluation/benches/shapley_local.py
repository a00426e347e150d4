"""Whether the rows of a local survey can teach the proxies of Shapley values.

    python -m evaluation bench shapley_local

The rows of `explainer.survey` follow a product law: every column is drawn by itself. Here the same
proxies are fitted to them in place of pairs of a coalition and its mirror image, with as many model
rows in all, the predictions of the rows and of the background besides. Truth is what
`shap.TreeExplainer` reads over the same background. A row of the product law is no coalition of a
row with a background row, so what a row's own answers say is its prediction alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

import numpy as np
from threadpoolctl import threadpool_limits

import eagle
from eagle.shapley import correction, prior, proxies
from eagle.shapley.correction import Left, Scales
from eagle.shapley.layout import Layout
from evaluation.benches.shapley import LEVEL, Case, cases, error

TURNS: Final = 15


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        "python -m evaluation bench shapley_local", description=__doc__
    )
    parser.add_argument("--rows", type=int, default=200, help="rows of each table")
    parser.add_argument("--budget", type=int, default=16, help="model rows a row, of pairs")
    parser.add_argument("--only", nargs="+", default=["diabetes", "wine"], help="tables")
    args = parser.parse_args(argv)
    print("# Rows of the local survey as teachers of Shapley values\n")
    print("| table | model rows | from pairs: error | 90% | from the survey: error | 90% |")
    print("|---|---:|---:|---:|---:|---:|", flush=True)
    with threadpool_limits(1):
        for case in cases(args.rows, args.only):
            print(line(case, args.budget), flush=True)


def line(case: Case, budget: int) -> str:
    """Both ways at equal model rows."""
    explainer = eagle.Explainer(case.model, case.rows)
    pairs = explainer.shapley(case.rows, budget=budget, background=case.background, progress=False)
    asked = len(case.rows) * budget
    values, half = from_survey(case, asked)
    low, high = np.moveaxis(pairs.interval(LEVEL), 2, 0)
    held = ((low <= case.truth) & (case.truth <= high)).mean()
    inside = (np.abs(values - case.truth) <= half).mean()
    figures = [error(pairs.scores, case.truth), held, error(values, case.truth), inside]
    return f"| {case.name} | {asked:,} | " + " | ".join(f"{x:.3f}" for x in figures) + " |"


def from_survey(case: Case, asked: int) -> tuple[np.ndarray, np.ndarray]:
    """Shapley values, and half of the widths of their intervals."""
    d = case.rows.shape[1]
    explainer = eagle.Explainer(case.model, np.concatenate([case.rows, case.background]))
    plan = explainer.survey_plan(rows=asked)
    drawn = np.asarray(plan.inputs)
    layout = Layout(np.arange(d), np.zeros(d, dtype=np.intp))
    ask = case.model.predict
    own, behind, answers = ask(case.rows), ask(case.background), ask(drawn)
    fold = proxies.folds_of(len(case.rows), 0)
    best: tuple[float, Left] | None = None
    for kind in (proxies.trees, proxies.curves_and_trees):
        three = []
        for k in range(proxies.FOLDS):
            others, some = fold != k, np.arange(len(drawn)) % proxies.FOLDS != k
            rows = np.concatenate([drawn[some], case.rows[others], case.background])
            known = np.concatenate([answers[some], own[others], behind])
            three.append(kind(rows, known, layout, 0))
        left = left_by(three, case, own, behind, fold, layout)
        missed = float(np.abs(left.total).mean())
        if best is None or missed < best[0]:
            best = missed, left
    assert best is not None
    left, half = best[1], np.empty(case.rows.shape)
    values = np.empty(case.rows.shape)
    scales = scales_of_totals(left)
    base = float(behind.mean())
    for i in range(len(values)):
        made = correction.correct(left, i, np.empty((0, d)), scales, pairs=False)
        values[i] = correction.adding_up(made.values, made.factor, float(own[i]) - base)
        half[i] = student(LEVEL, made.df) * np.sqrt(np.diag(made.factor))
    return values, half


def left_by(
    three: list[proxies.Proxy],
    case: Case,
    own: np.ndarray,
    behind: np.ndarray,
    fold: np.ndarray,
    layout: Layout,
) -> Left:
    """What the proxies leave of the rows: their totals alone."""
    n = len(case.rows)
    values = np.stack([p.values_over(case.background, layout)(case.rows) for p in three])
    here = np.stack([p.predict(case.rows) for p in three])
    there = np.stack([p.predict(case.background).mean() for p in three])
    total = (own - here[fold, np.arange(n)]) - (behind.mean() - there[fold])
    none = np.empty((n, 0))
    still = np.zeros(case.rows.shape, dtype=bool)
    return Left(values[fold, np.arange(n)], values.var(axis=0, ddof=1), none, none, total, still)


def scales_of_totals(left: Left) -> Scales:
    """The scales of what is left, which totals alone can say."""
    unit = float(np.sqrt(np.mean((left.total / 2) ** 2)))
    sigma, q = 0.2, []
    for i in range(len(left.values)):
        row = correction.Observed.of(left, i, np.empty((0, left.values.shape[1])), unit, False)
        variance = sigma * prior.covariance(row.z, row.a)[0, 0] + row.noise[0]
        q.append(row.seen[0] ** 2 / variance)
    every, size = np.array(q), float(np.mean(q))
    for _ in range(TURNS):
        size = float(
            ((correction.DEGREES + 1) * every / (correction.DEGREES + every / size)).mean()
        )
    return Scales(unit, sigma, size)


def student(level: float, df: float) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, df))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
