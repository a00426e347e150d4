"""The time of an explanation as a ratio to the model's own time, measured in one run.

    make bench          (or: python -m evaluation bench speed [--quick])

Everything runs on one thread. The black box is a random forest of 100 trees. Each ratio is the
median over repeats in which both sides are timed one after the other, so that noise of the machine
affects both. "Warm, plan known": new rows by an explainer that has explained 200 others. "New
plan": the same with its plans cleared. "Cold, new explainer": the data are summarised again, in a
process that has explained such tables before. "New process": all plans are cleared, too.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits

import eagle
from eagle import Background, Method, methods
from eagle._engine.pipeline import instances
from eagle._engine.planning import CACHE
from eagle._tables.rows import TableInstances
from eagle.designs.greedy import Greedy
from eagle.kernels import Exponential

ROWS = 5000
BUDGET = 500


def seconds(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def ratio(ours: Callable[[], Any], bare: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """The median of paired ratios, and the bare median in milliseconds."""
    pairs = [(seconds(bare), seconds(ours)) for _ in range(repeats)]
    return float(np.median([b / a for a, b in pairs])), 1e3 * float(
        np.median([a for a, _ in pairs])
    )


def tables() -> dict[str, NDArray[np.float64]]:
    """Data made by scikit-learn: COMPAS-like (numbers, integers and flags), and 30 numbers."""
    x9, y9 = make_classification(
        ROWS, 9, n_informative=5, n_redundant=2, flip_y=0.15, random_state=0
    )
    x9[:, 1] = np.floor(np.exp(x9[:, 1] / 2))  # counts, such as prior offences
    x9[:, 2] = np.rint(30 + 8 * x9[:, 2])  # an age
    cut = [np.quantile(c, q) for c, q in zip(x9[:, 4:].T, [0.2, 0.5, 0.6, 0.35, 0.8], strict=True)]
    x9[:, 4:] = x9[:, 4:] > np.array(cut)  # flags
    x30, y30 = make_classification(
        ROWS, 30, n_informative=15, n_redundant=5, flip_y=0.15, random_state=0
    )
    return {
        "9 columns, mixed": np.column_stack([x9, y9]),
        "30 columns, numbers": np.column_stack([x30, y30]),
    }


def one(forest: Any, X: NDArray[np.float64], method: Method, view: Any, repeats: int) -> None:
    """One explanation compared with one bare call of the same number of rows."""
    batch = X[np.random.default_rng(0).integers(0, len(X), BUDGET)]

    def bare() -> Any:
        return forest.predict_proba(batch)

    def first() -> Any:
        CACHE.clear()
        return eagle.Explainer(forest, eagle.Table(X, view=view), method=method).explain(X[0])

    def fresh() -> Any:
        return eagle.Explainer(forest, eagle.Table(X, view=view), method=method).explain(X[0])

    warm = eagle.Explainer(forest, eagle.Table(X, view=view), method=method)
    warm.explain_many(X[:200], progress=False)
    rows, others = iter(X[200:]), iter(X)

    def known() -> Any:
        return warm.explain(next(rows))

    def new() -> Any:
        CACHE.clear()
        return warm.explain(next(others))

    for name, run in (
        ("warm, plan known", known),
        ("warm, new plan", new),
        ("cold, new explainer", fresh),
        ("cold, new process", first),
    ):
        times, base = ratio(run, bare, repeats)
        print(f"  {view:<10}  {name:<20} {times:6.2f} x one call of {BUDGET} rows ({base:.1f} ms)")


def against_lime(forest: Any, X: NDArray[np.float64], method: Method, repeats: int) -> None:
    from lime.lime_tabular import LimeTabularExplainer

    explainer = LimeTabularExplainer(X, random_state=0)
    ours = eagle.Explainer(forest, X, method=method)
    ours.explain_many(X[:200], progress=False)
    rows = iter(X[200:])

    def lime() -> Any:
        return explainer.explain_instance(X[0], forest.predict_proba, num_samples=BUDGET)

    times, base = ratio(lambda: ours.explain(next(rows)), lime, repeats)
    beside = f"x lime 0.2.0.1 at {BUDGET} rows ({base:.1f} ms)"
    print(f"  binned      warm, plan known     {times:6.2f} {beside}")


def many(forest: Any, X: NDArray[np.float64], method: Method, view: Any, n: int) -> None:
    """Many explanations compared with bare calls of as many rows, in chunks."""
    chunk = X[np.random.default_rng(0).integers(0, len(X), 25_000)]
    laws: set[Any] = set()

    def bare() -> Any:
        for _ in range(n * BUDGET // len(chunk)):
            forest.predict_proba(chunk)

    def ours() -> Any:
        CACHE.clear()
        explainer = eagle.Explainer(forest, eagle.Table(X, view=view), method=method)
        table = instances(explainer._setup, X[:n])[0].instances
        laws.update(table.space(i).law for i in range(n))
        for _ in explainer.explain_each(X[:n]):
            pass

    times, base = ratio(ours, bare, 3)
    beside = f"x bare calls of as many rows ({base / 1e3:.2f} s)"
    print(f"  {view:<10}  {n} rows, {len(laws):>3} plans  {times:6.2f} {beside}")


def memory(forest: RandomForestClassifier, X: NDArray[np.float64]) -> None:
    for n in (50, 200):
        explainer = eagle.Explainer(forest, X)
        explainer.explain(X[0])
        tracemalloc.start()
        for _ in explainer.explain_each(X[:n]):
            pass
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        print(f"  peak while streaming {n:>4} rows: {peak:6.1f} MiB")


def plan_seconds(d: int, n: int, repeats: int = 3) -> float:
    """The best time to plan n rows of d numbers, binned."""
    X = np.random.default_rng(0).normal(size=(1000, d))
    background = Background.of(X)
    space = TableInstances(background, background.adopt(X[:1])).space(0)

    def plan() -> Any:
        return Greedy().plan([space], Exponential(), n, np.random.default_rng(0))

    return min(seconds(plan) for _ in range(repeats))


def growth(quick: bool) -> None:
    """Plan time against d and N."""
    budgets = (100, 500) if quick else (100, 500, 2000)
    print("Plan seconds, binned; N across" + "".join(f"{n:>9}" for n in budgets))
    for d in (10, 30) if quick else (10, 30, 100, 300):
        print(f"  d = {d:<24}" + "".join(f"{plan_seconds(d, n):9.4f}" for n in budgets))


def threads() -> None:
    """Time with the default number of threads compared with one: small matrices gain nothing."""
    for d in (10, 30, 100):
        free = plan_seconds(d, 500, 9)
        with threadpool_limits(1):
            one = plan_seconds(d, 500, 9)
        print(f"  plan at d = {d:<4} with all threads {free / one:6.2f} x with one")


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench speed", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, smaller sizes")
    quick = parser.parse_args(argv).quick
    with threadpool_limits(1):
        on_one_thread(quick)
    threads()


def on_one_thread(quick: bool) -> None:
    repeats, n = (7, 100) if quick else (41, 1000)
    for name, data in tables().items():
        X, y = data[:, :-1].copy(), data[:, -1]
        forest = RandomForestClassifier(100, n_jobs=1, random_state=0).fit(X, y)
        for method in (methods.EAGLE_BALANCED, methods.EAGLE):
            print(f"{name}: {method.name}")
            for view in ("binned", "continuous"):
                one(forest, X, method, view, repeats)
            against_lime(forest, X, method, repeats)
            for view in ("binned", "continuous"):
                many(forest, X, method, view, n)
        memory(forest, X)
    growth(quick)
