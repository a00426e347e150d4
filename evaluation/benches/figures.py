"""Figures of the documents.

    python -m evaluation bench figures [readme] [methods] [tables] [shap]

In docs/pictures: demo.png is the README's own ten lines. methods.png is thirteen methods on one
tumour, five runs each, beside LIME from 20,000 rows. importance.png, beeswarm.png and
dependence.png are 5,000 people of Adult (from the folder EAGLE_DATA), whose incomes boosted trees
predict, explained from one survey of 4,096 rows. beside-shap.png is each plot of many explanations
beside that of `shap`, of the same scores: 300 tumours under a forest, one survey of 1,024 rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import eagle
from eagle import methods as m
from eagle import peers
from eagle._engine.method import Method
from eagle.peers.foreign import Foreign
from evaluation.problems import data

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"

EXPLAINED = 5000
"""People who are explained."""


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench figures", description=__doc__)
    parser.add_argument(
        "which", nargs="*", choices=[[], *DRAW], metavar="{readme,methods,tables,shap}"
    )
    mpl.use("Agg")
    for name in parser.parse_args(argv).which or DRAW:
        DRAW[name]()


def draw_readme() -> None:
    data = load_breast_cancer(as_frame=True)
    model = RandomForestClassifier(random_state=0).fit(data.data, data.target)
    explainer = eagle.Explainer(model, data.data, outputs=data.target_names)
    drawn: Any = eagle.plot.attribution(explainer.explain(data.data.iloc[0]), max_display=8)
    drawn.figure.savefig(PICTURES / "demo.png", dpi=150)


def draw_methods() -> None:
    data = load_breast_cancer(as_frame=True)
    X = data.data.iloc[:, :10]
    forest = RandomForestClassifier(100, random_state=0).fit(X, data.target)
    explainer = eagle.Explainer(forest, X, outputs=["malignant", "benign"])
    every: list[Method | Foreign] = [
        m.EAGLE,
        peers.LIME,
        peers.with_bootstrap(peers.LIME),
        peers.GLIME,
        peers.BAYLIME,
        peers.BAYESLIME,
        peers.BAYESSHAP,
        peers.DLIME_NEAREST,
        peers.US_LIME,
        peers.TILIA,
        peers.S_LIME,
        peers.CLIMAX,
        peers.SHAP_KERNEL,
    ]
    comparison = eagle.compare_methods(explainer, every, X.iloc[[20]], runs=5, converged=20_000)
    print(comparison)
    eagle.plot.compare_methods(comparison)[0].figure.savefig(PICTURES / "methods.png", dpi=90)


def draw_shap() -> None:
    """Each plot of many explanations, and its counterpart in `shap`."""
    import matplotlib.pyplot as plt

    from eagle._values import packages

    shap = packages.shap("docs/pictures/beside-shap.png")
    data = load_breast_cancer(as_frame=True)
    X = data.data.iloc[:300, :8]
    forest = RandomForestClassifier(100, random_state=0).fit(X, data.target[:300])
    survey = eagle.Explainer(forest, X, outputs=["malignant", "benign"]).survey(1024)
    many = survey.explain_many(X, "benign")
    theirs = many.to_shap()
    figure, axes = plt.subplots(4, 2, figsize=(15, 22), layout="constrained")
    eagle.plot.importance(many, ax=axes[0, 0])
    shap.plots.bar(theirs, ax=axes[0, 1], show=False)
    eagle.plot.beeswarm(many, ax=axes[1, 0])
    shap.plots.beeswarm(theirs, ax=axes[1, 1], show=False, plot_size=None, color_bar=False)
    eagle.plot.dependence(many, "mean area", ax=axes[2, 0])
    shap.plots.scatter(theirs[:, "mean area"], ax=axes[2, 1], show=False)
    eagle.plot.heatmap(many, ax=axes[3, 0])
    shap.plots.heatmap(theirs, ax=axes[3, 1], show=False)
    for (ours, other), name in zip(
        axes, ("importance", "beeswarm", "dependence", "heatmap"), strict=True
    ):
        ours.set_title(f"eagle.plot.{name}", loc="left")
        other.set_title("shap")
    figure.savefig(PICTURES / "beside-shap.png", dpi=66)
    plt.close(figure)


def draw_tables() -> None:
    model, seen, held = incomes()
    survey = eagle.Explainer(model, seen).survey(4096, progress=False)
    began = time.perf_counter()
    explanations = survey.explain_many(held, target=">50K", progress=False)
    spent = time.perf_counter() - began
    print(survey.describe())
    print(f"{len(explanations):,} rows explained in {spent:.1f} s")
    print(explanations.summary().round(4).to_string())
    figures: dict[str, Any] = {
        "importance": lambda: eagle.plot.importance(explanations, max_display=10),
        "beeswarm": lambda: eagle.plot.beeswarm(explanations, max_display=10),
        "dependence": lambda: eagle.plot.dependence(
            explanations, "hours_per_week", colour="marital_status"
        ),
    }
    for name, draw in figures.items():
        began = time.perf_counter()
        draw().figure.savefig(PICTURES / f"{name}.png", dpi=100)
        print(f"{name}.png drawn in {time.perf_counter() - began:.1f} s")


def incomes() -> tuple[Any, Any, Any]:
    """Boosted trees for Adult's incomes, the rows that they were fitted on, and other rows."""
    table = data.adult().replace("?", None)
    table = table.drop(columns=["fnlwgt", "education_num"], errors="ignore")
    order = np.random.default_rng(0).permutation(len(table))
    seen, held = table.iloc[order[EXPLAINED:]], table.iloc[order[:EXPLAINED]]
    words = make_column_selector(dtype_exclude="number")
    coded = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
        remainder="passthrough",
    )
    model = make_pipeline(coded, HistGradientBoostingClassifier(random_state=0))
    model.fit(seen.drop(columns="income"), seen["income"])
    return model, seen.drop(columns="income"), held.drop(columns="income")


DRAW = {
    "readme": draw_readme,
    "methods": draw_methods,
    "tables": draw_tables,
    "shap": draw_shap,
}
"""The figures that are drawn together, by name."""
