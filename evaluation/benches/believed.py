"""Can intervals be believed: also jointly, in the tails, at few rows, and where jumps are rare?

    python -m evaluation bench believed [--quick] [--others] [--rows 50 200 500 2000] [--worst]

The default method on tables, models and formulas, some of them saturated. The limit is that of
32,769 rows. For each table, view and number of rows, over instances and seeds, each with the number
of statements:

90%       how many intervals of 90% hold the limit: of all features that moved; of the strongest;
          of those of the three strongest that keep a level which four rows of five have
joint     how often all joint intervals of 90% hold at once
99, 99.9  how many such intervals miss
P ≥ .99   how many signs so sure are right; P ≈ .9, those said with .85 to .95
R²        the mean of held-out R² less that of the same line on the rows of the limit
width     in units of the intervals of before: the sandwich times what balance leaves

Constants were chosen on the first tables; with --others, on tables that had no say. At the end,
how often `until=Top(1)` stops on saturated models and is right, and what a fit costs beside the
sandwich alone.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification, make_friedman3
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.neural_network import MLPClassifier

import eagle
from eagle._engine.method import Method
from eagle._engine.targets import answers_of
from eagle._values.arrays import UNBOUNDED, Array, Range
from eagle._values.posterior import StudentT
from eagle.contracts import Rows
from eagle.surrogates.robust import Residuals, Robust
from eagle.until import Top
from evaluation.benches.honest import BALANCED, CONVERGED
from evaluation.benches.tables import Black, fitted, others, tables
from evaluation.problems import PROBLEMS

PROBABLE: Range = (0.0, 1.0)
COMMON, STRONG = 0.8, 3
SURROGATE = Robust(balanced=True)
NORMAL = np.random.default_rng(3).normal(size=(800, 20))


class Table(NamedTuple):
    """A black box, the bounds of its answers if it does not say its task, and its levels."""

    black: Black
    bounds: Range | None = None
    categories: tuple[int, ...] = ()


class Size(NamedTuple):
    """How many instances and seeds, and the rows of the limit."""

    instances: int
    seeds: int
    far: int


# -- formulas ------------------------------------------------------------------------------------


def jump(table: Any) -> Array:
    """Hardly anything, but for a jump that less than one row in a hundred makes."""
    x = np.asarray(table)
    return np.asarray(1e-5 * np.tanh(x[:, 1]) + 0.8 * (x[:, 0] > 2.6))


def bends(table: Any) -> Array:
    """Twenty columns that add up, each bent."""
    x, j = np.asarray(table), np.arange(20)
    waves = np.sin(x * (1 + 0.1 * j)) * (1 - 0.04 * j)
    return np.asarray((waves + 0.3 * np.abs(x)).sum(axis=1))


def steep(table: Any) -> Array:
    """A probability of twenty columns that add up before the logistic curve."""
    x, j = np.asarray(table), np.arange(20)
    return np.asarray(1 / (1 + np.exp(-(np.tanh(2 * x - 0.5) / np.sqrt(1 + j)).sum(axis=1))))


def saturated(table: Any) -> Array:
    """A probability that is nearly 1 almost everywhere."""
    x = np.asarray(table).T
    sum_ = 6 + 2 * x[0] + 1.5 * x[1] - x[2] + 0.5 * x[3] * x[4] + 2 * (x[5] > 1.5)
    return np.asarray(1 / (1 + np.exp(-sum_)))


def levels(table: Any) -> Array:
    """Two strong columns of two levels, a pair, and bends."""
    x = np.asarray(table).T
    strong = (x[0] == 1) + 0.8 * (x[1] == 1) * (1 + 0.3 * np.tanh(x[2]))
    return np.asarray(strong + 0.5 * np.tanh(x[2]) + 0.4 * np.abs(x[3]) + 0.3 * x[4] * x[5])


def half(table: Any) -> Array:
    """Twenty columns, of which ten have no effect."""
    x = np.asarray(table)[:, :10].T
    return np.asarray(np.tanh(x).T @ 0.8 ** np.arange(10) + 0.5 * x[0] * x[1] + np.abs(x[2]))


def with_levels(d: int) -> Table:
    """The formula of levels among d columns; instances keep the common ones."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(900, d))
    x[:, 0], x[:, 1] = rng.random(900) < 0.93, rng.random(900) < 0.85
    held = x[(x[:, 0] == 1) & (x[:, 1] == 1)]
    return Table(Black(f"common levels, d = {d}", levels, x, held), UNBOUNDED, (0, 1))


def chosen() -> Iterator[Table]:
    """What constants were chosen on."""
    for black in tables():
        if not black.name.startswith(("German", "Adult")):
            yield Table(black)
    network = MLPClassifier((32,), max_iter=1000, random_state=0)
    cancer = load_breast_cancer(return_X_y=True)
    yield Table(fitted("cancer, network (saturated)", network, *cancer))
    yield Table(Black("twenty bends", bends, NORMAL, NORMAL), UNBOUNDED)
    yield Table(Black("rare jump", jump, NORMAL[:, :8], np.zeros((1, 8))), PROBABLE)
    yield Table(Black("saturated formula", saturated, NORMAL[:, :8], NORMAL[:, :8]), PROBABLE)
    yield with_levels(10)
    yield with_levels(25)


def unseen() -> Iterator[Table]:
    """What had no say."""
    for black in others():
        yield Table(black)
    X, y = make_classification(2000, 12, n_informative=6, class_sep=3.0, flip_y=0, random_state=5)
    boosted = GradientBoostingClassifier(random_state=0)
    yield Table(fitted("far apart, boosting (saturated)", boosted, X, y))
    network = MLPClassifier((16,), max_iter=500, random_state=0)
    yield Table(fitted("far apart, network (saturated)", network, X, y))
    yield Table(Black("twenty steep columns", steep, NORMAL, NORMAL), PROBABLE)
    yield Table(Black("ten of twenty columns", half, NORMAL, NORMAL), UNBOUNDED)
    rare = make_friedman3(1500, random_state=0)
    yield Table(
        fitted("Friedman 3, boosting", HistGradientBoostingRegressor(random_state=0), *rare)
    )
    models = {
        "german": MLPClassifier((32,), max_iter=500, random_state=0),
        "adult": HistGradientBoostingClassifier(random_state=0),
    }
    for name, model in models.items() if os.environ.get("EAGLE_DATA") else ():
        p = PROBLEMS[name]()
        X, y = np.asarray(p.data)[:4000], np.asarray(p.known)[:4000]
        title = f"{name}, {type(model).__name__}"
        yield Table(Black(title, model.fit(X, y), X, np.asarray(p.instances)))


# -- measures ------------------------------------------------------------------------------------


class Tally:
    """Means of statements of several kinds, and how many statements there were."""

    def __init__(self) -> None:
        self.sums: dict[str, Array] = {}

    def add(self, kind: str, values: Any) -> None:
        values = np.atleast_1d(np.asarray(values, dtype=np.float64))
        new = np.array([values.sum(), values.size])
        self.sums[kind] = self.sums.get(kind, np.zeros(2)) + new

    def mean(self, kind: str) -> float:
        total, count = self.sums.get(kind, np.zeros(2))
        return float(total / count) if count else float("nan")

    def cell(self, kind: str) -> str:
        count = int(self.sums.get(kind, np.zeros(2))[1])
        return f"{self.mean(kind):.3f}/{count}" if count else "-"


KINDS = ("90%", "top", "common", "joint", "99", "99.9", "P≥.99", "P≈.9", "R²", "width")


def before(fitter: Any, y: Array, mean: Array) -> StudentT:
    """The intervals without remedies: sandwich times balance, and shrinkage of one term."""
    line, misfit = fitter.line, Residuals.of(fitter, y, mean, UNBOUNDED)
    prior = line.surrogate.prior.precision(len(mean) - 1)
    shrunk = (line.factor @ (prior * np.where(line.unchanged, 0.0, mean)))[1:] / misfit.unit
    left = fitter.balance.share_left(misfit.pull[1:], np.diag(misfit.plain))
    scale = left * misfit.plain + np.outer(shrunk, shrunk)
    return StudentT(mean[1:], scale, fitter.df, misfit.unit**2)


def judge(pair: tuple[Tally, Tally], e: Any, limit: Any, bounds: Range) -> None:
    """All statements of one explanation, as they were before and as they are."""
    y = answers_of(e.evidence.answers, e.outputs, e.target)
    fitter = SURROGATE.on(e.evidence.rows(SURROGATE))
    fit, plain = fitter.fit(y, bounds), fitter.line.fit(y)
    moved = np.ptp(e.evidence.features, axis=0) > 0
    if not moved.any():
        return
    earlier = before(fitter, y, plain.mean)
    state(pair[0], earlier, earlier, limit, moved)
    state(pair[1], fit.posterior, earlier, limit, moved)
    true = on_others(fit, limit, e)
    for tally, held in zip(pair, (plain.r2_held_out, fit.r2_held_out), strict=True):
        if np.isfinite(held):
            tally.add("R²", held - true)


def on_others(fit: Any, limit: Any, e: Any) -> float:
    """The R² of a fitted line on the rows of the limit, which it has not seen."""
    rows, y = limit.evidence, answers_of(limit.evidence.answers, limit.outputs, e.target)
    residual = y - fit.intercept - rows.features @ fit.scores
    middle = np.average(y, weights=rows.weight)
    return float(1 - rows.weight @ residual**2 / (rows.weight @ (y - middle) ** 2))


def state(tally: Tally, t: Any, earlier: StudentT, limit: Any, moved: Any) -> None:
    """What the intervals and signs of one posterior say, beside the limit."""
    scores: Array = limit.scores
    slack = 1e-9 * np.abs(scores).max()

    def holds(level: float, joint: bool = False) -> Array:
        low, high = t.interval(level, joint=joint).T
        return np.asarray((low - slack <= scores) & (scores <= high + slack))

    tally.add("90%", holds(0.9)[moved])
    order = np.argsort(-np.abs(scores) * moved)
    tally.add("top", holds(0.9)[order[0]])
    features = limit.evidence.features
    binned = bool(((features == 0) | (features == 1)).all())
    common = binned & moved & (features.mean(axis=0) > COMMON)
    tally.add("common", holds(0.9)[[j for j in order[:STRONG] if common[j]]])
    tally.add("joint", holds(0.9, joint=True)[moved].all())
    tally.add("99", ~holds(0.99)[moved])
    tally.add("99.9", ~holds(0.999)[moved])
    sure, right = t.probability_sign(), np.sign(t.mean) == np.sign(scores)
    tally.add("P≥.99", right[moved & (sure >= 0.99)])
    tally.add("P≈.9", right[moved & (sure >= 0.85) & (sure < 0.95)])
    was, now = (np.diff(kind.interval(0.9)[moved]).sum() for kind in (earlier, t))
    if was > 0:
        tally.add("width", now / was)


def measured(table: Table, view: Any, rows: Sequence[int], size: Size) -> list[tuple[Tally, Tally]]:
    """For each number of rows, the intervals of before and those of today."""
    some = min(size.instances, len(table.black.held))
    x = table.black.held[:: len(table.black.held) // some][:some]
    seeds = size.seeds * (1 if some > 1 else size.instances)
    truth, out = explainer(table, view, CONVERGED, size.far, 99).explain_many(x, progress=False), []
    for budget in rows:
        pair = (Tally(), Tally())
        for seed in range(seeds):
            made = explainer(table, view, BALANCED, budget, seed).explain_many(x, progress=False)
            for e, limit in zip(made, truth, strict=True):
                free = PROBABLE if e.task == "classification" else UNBOUNDED
                judge(pair, e, limit, table.bounds or free)
        out.append(pair)
    return out


def explainer(table: Table, view: Any, method: Method, budget: int, seed: int) -> eagle.Explainer:
    """Of a black box, or of a formula, which is a regression even if it gives probabilities."""
    return eagle.Explainer(
        table.black.model,
        eagle.Table(table.black.data, view=view, categories=table.categories),
        method=method,
        budget=budget,
        random_state=seed,
        task=None if table.bounds is None else "regression",
    )


# -- stopping, and what it costs -----------------------------------------------------------------


def stopping(table: Table, size: Size) -> str:
    """How often `Top(1)` stops, and how often the strongest feature is then the limit's."""
    x = table.black.held[: size.instances]
    far = explainer(table, "continuous", CONVERGED, size.far, 99)
    truth = far.explain_many(x, progress=False)
    stops, right, runs = 0, 0, 0
    for seed in range(size.seeds):
        ex = explainer(table, "continuous", BALANCED, 500, seed)
        for e, limit in zip(ex.explain_many(x, until=Top(1), progress=False), truth, strict=True):
            runs += 1
            if "strongest" in e.cost.stopped:
                stops += 1
                right += np.abs(e.scores).argmax() == np.abs(limit.scores).argmax()
    return f"  {table.black.name:<34} stops in {stops} of {runs}, right in {right}"


def unmet(seeds: int, rows: int, until: Top | None = None) -> str:
    """How often no row meets the rare jump, and another feature is called strongest."""
    data, certain, stops = NORMAL[:, :8], 0, 0
    for seed in range(seeds):
        ex = eagle.Explainer(
            jump, eagle.Table(data, view="continuous"), budget=rows, random_state=seed
        )
        e = ex.explain(np.zeros(8), until=until, progress=False)
        certain += e.top(1) == ["x1"] and float(e.probability_sign()[1]) >= 0.99
        stops += bool(e.cost.stopped) and e.top(1) == ["x1"]
    stopped = "" if until is None else f"; until=Top(1) stops on it in {stops}"
    return f"  a rare jump, {rows} rows: x1 strongest and sure in {certain} of {seeds}{stopped}"


def cost() -> float:
    """The time of a fit of 500 rows of ten features beside that of the sandwich alone."""
    e = explainer(
        Table(Black("", bends, NORMAL, NORMAL), UNBOUNDED), "continuous", BALANCED, 500, 0
    )
    evidence = e.explain(NORMAL[0]).evidence
    rows = evidence.rows(SURROGATE)
    rows = Rows(rows.features[:, :10], rows.weight, rows.repeats, rows.balanced)
    fitter, y = SURROGATE.on(rows), evidence.answers[:, 0]
    mean = fitter.line.fit(y).mean

    def took(work: Callable[[], Any]) -> float:
        best = np.inf
        for _ in range(15):
            start = time.process_time()
            for _ in range(100):
                work()
            best = min(best, time.process_time() - start)
        return float(best)

    def without() -> None:
        fitter.line.fit(y)
        before(fitter, y, mean)

    return took(lambda: fitter.fit(y)) / took(without)


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench believed", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--worst", action="store_true", help="only the sums over tables")
    parser.add_argument("--rows", type=int, nargs="+", default=[50, 200, 500, 2000])
    args = parser.parse_args(argv)
    size = Size(3, 3, 8193) if args.quick else Size(5, 10, 32_769)
    print(f"{size.instances} instances, {size.seeds} seeds; before, then today")
    print(" " * 52 + "".join(f"{kind:>12}" for kind in KINDS))
    every: dict[tuple[int, bool], list[Tally]] = {}
    rare = []
    for table in unseen() if args.others else chosen():
        rare += [table] if "satur" in table.black.name or "jump" in table.black.name else []
        for view in ("binned", "continuous"):
            if table.black.model is jump and view == "binned":
                continue
            found = measured(table, view, args.rows, size)
            for rows, pair in zip(args.rows, found, strict=True):
                for tally, old in zip(pair, (True, False), strict=True):
                    every.setdefault((rows, old), []).append(tally)
                    if not args.worst:
                        line(f"{table.black.name[:30]}, {view}", rows, old, tally.cell)
    for (rows, old), tallies in sorted(every.items(), key=lambda item: (item[0][0], -item[0][1])):
        known = {k: [m for t in tallies if not np.isnan(m := t.mean(k))] or [np.nan] for k in KINDS}
        for name, fold in (("mean", np.mean), ("least", np.min), ("most", np.max)):
            folded = {k: f"{fold(v):.3f}" for k, v in known.items()}
            line(f"{name} over tables and views", rows, old, folded.__getitem__)
    print("until=Top(1), continuous, at most 500 rows")
    for table in rare:
        print(stopping(table, size), flush=True)
    print("the rare jump as a regression, whose answers have no bounds, continuous")
    for rows, until in ((50, None), (500, None), (500, Top(1))):
        print(unmet(60, rows, until), flush=True)
    print(f"a fit of 500 rows of ten features takes {cost():.2f} times what it took before")


def line(name: str, rows: int, old: bool, cell: Callable[[str], str]) -> None:
    when = "before" if old else "today"
    print(f"{name:<40}{rows:>5} {when:<6}" + "".join(f" {cell(k):>11}" for k in KINDS), flush=True)
