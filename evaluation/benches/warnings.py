"""Do warnings mean something? How often each fires, and whether harm follows where one does.

    EAGLE_DATA=folder python -m evaluation bench warnings [--others] [--quick] [--only iris]

For each table, model and view, over instances: line, position and together as explanations have
them, and how far together is from its truth, which sums over single features of 20,000 rows give
(bias, and mean size of the error); how often a held-out R² is below ⅓ ("R²"), and how often the
warning of a lack of fit fires; harm where it fires and where it does not; how often two seeds agree
on it; how many pairs are named, and how often the pair is the strongest of 20,000 rows. At the end,
how often each warning fires. Harm is any of these, at the instance itself:

- one of the three strongest scores, of which P(sign) is 95% or more, has the wrong sign: changing
  that feature alone does the opposite, by over a quarter of the score;
- what changing single features does is unlike the scores (cosine below ½);
- taking features away by their scores lowers the answer no faster than in random order.

The tables that constants were chosen on come first; with --others, those that had no say.
A LinearRegression stands beside the models of every table: it must never be warned of.
"""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, final

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_friedman1,
    make_gaussian_quantiles,
    make_hastie_10_2,
)
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

import eagle
from eagle._engine.targets import answers_of
from eagle._tables.background import STEPS, Background
from eagle._tables.rows import TableInstances
from eagle._values.arrays import Array
from evaluation.problems import PROBLEMS, data

FAR: Final = 20_001
MOST: Final = 4_000
"""So many rows are learnt from."""

SURE: Final = 0.95
DRAWS: Final = 8
ORDERS: Final = 10
SHOWN: Final = (
    ("few", "few for"),
    ("may mislead", "may mislead"),
    ("jumps", "change much where"),
    ("small span", "answers span"),
    ("flat", "the same answer everywhere"),
    ("unknown", "too few rows"),
    ("still", "never changed"),
)
"""Warnings by a few of their words."""


# -- tables and models ----------------------------------------------------------------------------


class Case(NamedTuple):
    """A fitted model, the rows it was fitted on and rows that it has not seen."""

    name: str
    model: Any
    data: pd.DataFrame
    held: pd.DataFrame


def frame(found: Any) -> tuple[pd.DataFrame, Any]:
    return pd.DataFrame(found[0]), np.asarray(found[1])


def of_problem(name: str) -> tuple[pd.DataFrame, Any]:
    problem = PROBLEMS[name]()
    return pd.DataFrame(problem.data), np.asarray(problem.known)


def adult() -> tuple[pd.DataFrame, Any]:
    raw = data.adult()
    return raw.drop(columns="income"), (raw.income == ">50K").to_numpy().astype(int)


CHOSEN: Final[dict[str, Callable[[], tuple[pd.DataFrame, Any]]]] = {
    "cancer": lambda: frame(load_breast_cancer(return_X_y=True)),
    "Friedman 1": lambda: frame(make_friedman1(1000, random_state=0)),
    "COMPAS": lambda: of_problem("compas"),
    "German": lambda: of_problem("german"),
}
OTHERS: Final[dict[str, Callable[[], tuple[pd.DataFrame, Any]]]] = {
    "diabetes": lambda: frame(load_diabetes(return_X_y=True, scaled=False)),
    "wine": lambda: frame(load_wine(return_X_y=True)),
    "iris": lambda: frame(load_iris(return_X_y=True)),
    "Hastie 10.2": lambda: frame(make_hastie_10_2(3000, random_state=0)),
    "shells": lambda: frame(make_gaussian_quantiles(n_samples=1500, n_features=6, random_state=0)),
    "Adult": adult,
    "MAGIC": lambda: of_problem("magic"),
}
NEED_FILES: Final = ("COMPAS", "German", "Adult", "MAGIC")


def cases(others: bool, only: Sequence[str]) -> Iterator[Case]:
    """Every table under boosted trees, a network, support vectors or a forest, and a line."""
    for name, load in (OTHERS if others else CHOSEN).items():
        if name not in only or (name in NEED_FILES and not os.environ.get("EAGLE_DATA")):
            continue
        x, y = load()
        rows = np.random.default_rng(0).permutation(len(x))[: MOST * 5 // 4]
        x, y, cut = x.iloc[rows].reset_index(drop=True), y[rows], len(rows) * 4 // 5
        numbers = len(np.unique(y)) > 10
        for kind, model in (REGRESSORS if numbers else CLASSIFIERS).items():
            words = make_column_selector(dtype_exclude="number")
            hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            coded = make_column_transformer((hot, words), remainder=StandardScaler())
            box = make_pipeline(coded, model()).fit(x[:cut], y[:cut])
            yield Case(f"{name}, {kind}", box, x[:cut], x[cut:])


CLASSIFIERS: Final[dict[str, Callable[[], Any]]] = {
    "boosting": lambda: GradientBoostingClassifier(random_state=0),
    "network": lambda: MLPClassifier(
        hidden_layer_sizes=(32,), alpha=0.1, max_iter=1000, random_state=0
    ),
    "forest": lambda: RandomForestClassifier(50, random_state=0),
    "line": LinearRegression,
}
REGRESSORS: Final[dict[str, Callable[[], Any]]] = {
    "boosting": lambda: GradientBoostingRegressor(random_state=0),
    "network": lambda: MLPRegressor(
        hidden_layer_sizes=(32,), alpha=0.1, max_iter=2000, random_state=0
    ),
    "support vectors": lambda: SVR(C=1000.0),
    "line": LinearRegression,
}


# -- what single features do ----------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class Here:
    """An instance, and the model's answers about what is explained of it."""

    case: Case
    table: TableInstances
    i: int
    e: eagle.Explanation

    def ask(self, values: Array) -> Array:
        table = self.table
        index = np.full(len(values), self.i, dtype=np.intp)
        inputs = table.rows.build(
            index, table.background.moved_columns, values, table.levels
        ).native
        predict = getattr(self.case.model, "predict_proba", self.case.model.predict)
        answers = np.asarray(predict(inputs))
        answers = answers.reshape(len(values), -1)
        return answers_of(answers, self.e.outputs, self.e.target)

    def whatif(self) -> Array:
        """What changing each feature alone does, in the units of the scores, shape (d,)."""
        space, d = self.table.space(self.i), len(self.e.scores)
        kept = self.table.kept[self.i].tolist()
        steps, points = [], []
        for j, own in enumerate(kept):
            some = own + (np.arange(32) * 2 + 1) * (STEPS - own) // 64
            block = np.zeros((32, d), dtype=np.uint16)
            block[:, j] = np.minimum(some, STEPS - 1)
            steps.append(some)
            points.append(block)
        every = np.concatenate(points)
        change = self.e.prediction - self.ask(space.values(every)).reshape(d, 32)
        offsets = space.features(every).reshape(d, 32, d)[np.arange(d), :, np.arange(d)]
        square = np.maximum((offsets**2).sum(axis=1), 1e-12)
        slopes = -(change * offsets).sum(axis=1) / square
        stuck = np.array(kept) == STEPS
        return np.where(stuck, 0.0, np.where(np.array(kept) > 0, change.mean(axis=1), slopes))

    def deletion(self, rng: np.random.Generator) -> bool:
        """Whether taking features away by their scores lowers the answer faster than chance."""
        space, d = self.table.space(self.i), len(self.e.scores)
        push = self.e.scores * np.nan_to_num(self.e.contrast)
        kept = self.table.kept[self.i].astype(int)
        away = rng.integers(np.minimum(kept, STEPS - 1), STEPS, size=(DRAWS, d))
        if self.table.binned:
            others = space.values(away.astype(np.uint16))
        else:
            rows = self.case.data.sample(DRAWS, random_state=int(rng.integers(1000)))
            others = self.table.background.read(self.table.background.adopt(rows))[0]
        own = self.table.values[self.i]
        orders = [np.argsort(-push, kind="stable")] + [rng.permutation(d) for _ in range(ORDERS)]
        asked = []
        for order in orders:
            gone = np.zeros((d, d), dtype=bool)
            for k in range(d):
                gone[k, order[: k + 1]] = True
            asked += [np.where(gone, other, own) for other in others]
        answers = self.ask(np.concatenate(asked)).reshape(len(orders), -1).mean(axis=1)
        return bool(answers[0] < answers[1:].mean())


def harms(here: Here) -> tuple[bool, bool, bool]:
    """Wrong signs, unlike scores, no help in taking away."""
    e, change = here.e, here.whatif()
    top = e.order()[:3]
    sure = e.probability_sign()[top] >= SURE
    score, alone = e.scores[top], change[top]
    wrong = sure & (score * alone < 0) & (np.abs(alone) > np.abs(score) / 4)
    size = float(np.linalg.norm(e.scores) * np.linalg.norm(change))
    unlike = size > 0 and float(e.scores @ change) < 0.5 * size
    return bool(wrong.any()), unlike, not here.deletion(np.random.default_rng(0))


# -- the truth from many rows ---------------------------------------------------------------------


def truth(far: eagle.Explanation, table: TableInstances, i: int) -> tuple[float, float, float]:
    """Line, position and together of many rows: each feature's own steps as indicators."""
    points, y = far.evidence.points[1:], answers_of(far.evidence.answers, far.outputs, far.target)
    space = table.space(i)
    z, y = far.evidence.features[1:], y[1:]
    if np.ptp(y) < 1e-12:
        return np.nan, np.nan, np.nan
    values = np.nan_to_num(space.values(points))
    columns = [z, (values - values.mean(axis=0)) / (values.std(axis=0) + 1e-300)]
    for j, kept in enumerate(table.kept[i].astype(int).tolist()):
        if table.background.columns[table.background.moved_columns[j]].levels is not None:
            codes = np.unique(values[:, j])
            columns.append(values[:, j, None] == codes[1:])
        else:
            inside = np.linspace(0, kept, 7)[1:-1] if kept else np.empty(0)
            outside = np.linspace(kept, STEPS, 13 if kept else 19)[1:-1]
            columns.append(points[:, j, None] >= np.concatenate([inside, outside]))
    line, alone = (adjusted(np.column_stack(c), y) for c in ([z], columns))
    return line, alone - line, 1 - alone


def adjusted(x: Array, y: Array) -> float:
    x = x.astype(np.float64) - x.mean(axis=0)
    y = y - y.mean()
    values, right = np.linalg.eigh(x.T @ x)
    keep = values > 1e-9 * values[-1]
    along = (right[:, keep].T @ (x.T @ y)) ** 2 / values[keep]
    spare = len(y) - 1 - int(keep.sum())
    return 1 - float(y @ y - along.sum()) / spare / float(y.var())


# -- one explanation, and many --------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class Seen:
    """All that is measured of one instance."""

    here: Here
    again: eagle.Explanation
    true: tuple[float, float, float]
    best: tuple[str, str] | None

    @cached_property
    def harms(self) -> tuple[bool, bool, bool]:
        return harms(self.here)

    @property
    def harm(self) -> bool:
        return any(self.harms)


def fires(e: eagle.Explanation) -> frozenset[str]:
    """Which warnings an explanation has, by their short names."""
    text = " | ".join(e.warnings)
    return frozenset(name for name, words in SHOWN if re.search(words, text))


def lack_of_fit_fires(e: eagle.Explanation) -> bool:
    return "may mislead" in fires(e)


def seen(case: Case, view: Any, instances: int, rows: int, far: int) -> list[Seen]:
    x = case.held.iloc[:: max(1, len(case.held) // instances)][:instances]

    def explained(seed: int, budget: int, some: Any) -> Sequence[eagle.Explanation]:
        explainer = eagle.Explainer(
            case.model, eagle.Table(case.data, view=view), budget=budget, random_state=seed
        )
        return explainer.explain_many(some, progress=False)

    runs = [explained(seed, rows, x) for seed in (0, 1)]
    background = Background.of(case.data)
    table = TableInstances(background, background.adopt(x), view == "binned")
    out = []
    for i, (e, again) in enumerate(zip(*runs, strict=True)):
        (many,) = explained(99, far, x.iloc[i : i + 1]) if far else (None,)
        exact, best = (np.nan, np.nan, np.nan), None
        if many is not None:
            exact = truth(many, table, i)
            pairs = many.interactions(1)
            best = pairs[0].names if pairs else None
        out.append(Seen(Here(case, table, i, e), again, exact, best))
    return out


def rate(flags: Sequence[bool]) -> str:
    return f"{np.mean(flags):6.2f}" if len(flags) else "     –"


def line(found: Sequence[Seen]) -> str:
    """The figures of some instances."""
    both = [(s.here.e.lack_of_fit, s) for s in found]
    known = [(m, s) for m, s in both if m is not None and m.is_known]
    shares = [m for m, _ in known]
    mean = [np.mean([getattr(m, n) for m in shares]) for n in ("line", "position", "together")]
    error = np.array([m.together - s.true[2] for m, s in known])
    error = error[np.isfinite(error)]
    wide = [np.mean(error), np.mean(np.abs(error))] if len(error) else [np.nan, np.nan]
    fired = [lack_of_fit_fires(s.here.e) for s in found]
    hurt = [s.harm for s in found]
    agree = [lack_of_fit_fires(s.again) == f for s, f in zip(found, fired, strict=True)]
    told = [(m.pair, s.best) for m, s in known if m.pair is not None]
    right = [set(pair.names) == set(best) for pair, best in told if best is not None]
    cells = "".join(f"{v:6.2f}" for v in (*mean, *wide))
    cells += rate([s.here.e.r2_held_out < 1 / 3 for s in found])
    cells += rate(fired) + rate([h for h, f in zip(hurt, fired, strict=True) if f])
    cells += rate([h for h, f in zip(hurt, fired, strict=True) if not f]) + rate(agree)
    return cells + f"{len(told):4d}" + rate(right)


HEAD: Final = (
    f"{'':<34}{'line':>6}{'pos.':>6}{'tog.':>6}{'bias':>6}{'err.':>6}"
    f"{'R²':>6}{'fires':>6}{'harm':>6}{'if not':>6}{'agree':>6}{'pair':>4}{'right':>6}"
)


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench warnings", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--only", nargs="+", default=[*CHOSEN, *OTHERS], metavar="TABLE")
    args = parser.parse_args(argv)
    instances, far = (5, 4097) if args.quick else (args.instances, FAR)
    print(f"{instances} instances, {args.rows} rows\n{HEAD}")
    every: dict[tuple[str, bool], list[Seen]] = {}
    counts: dict[tuple[str, bool], list[Counter[str]]] = {}
    for case in cases(args.others, args.only):
        linear = case.name.endswith(", line")
        for view in ("binned", "continuous"):
            found = seen(case, view, instances, args.rows, far)
            print(f"{case.name + ', ' + view:<34}{line(found)}", flush=True)
            every.setdefault((view, linear), []).extend(found)
            told = counts.setdefault((view, linear), [])
            told += [Counter(fires(s.here.e)) for s in found]
    for (view, linear), found in every.items():
        name = f"all{', a line' if linear else ''}, {view}"
        print(f"{name:<34}{line(found)}")
    print(f"\nhow often each fires{'':<14}" + "".join(f"{name:>14}" for name, _ in SHOWN))
    for (view, linear), told in counts.items():
        name = f"all{', a line' if linear else ''}, {view}"
        cells = [np.mean([c[short] for c in told]) for short, _ in SHOWN]
        print(f"{name:<34}" + "".join(f"{v:14.2f}" for v in cells))
