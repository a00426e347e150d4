"""The pictures of the documents.

    python -m evaluation bench figures

docs/methods.png is thirteen methods on one tumour, five runs each, beside LIME from 20,000 rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import eagle
from eagle import methods as m
from eagle.engine.method import Method
from eagle.foreign import Foreign

DOCS = Path(__file__).parents[2] / "docs"


def main(argv: Sequence[str]) -> None:
    argparse.ArgumentParser("python -m evaluation bench figures", description=__doc__).parse_args(
        argv
    )
    mpl.use("Agg")
    data = load_breast_cancer(as_frame=True)
    X = data.data.iloc[:, :10]
    forest = RandomForestClassifier(100, random_state=0).fit(X, data.target)
    explainer = eagle.Explainer(forest, X, outputs=["malignant", "benign"])
    every: list[Method | Foreign] = [
        m.EAGLE,
        m.LIME,
        m.Bootstrapped(m.LIME),
        m.GLIME,
        m.BAYLIME,
        m.BAYESLIME,
        m.BAYESSHAP,
        m.DLIME_NEAREST,
        m.US_LIME,
        m.TILIA,
        m.S_LIME,
        m.CLIMAX,
        m.SHAP_KERNEL,
    ]
    found = eagle.compare(every, explainer, X.iloc[[20]], runs=5, converged=20_000)
    print(found)
    eagle.plot.methods(found)[0].figure.savefig(DOCS / "methods.png", dpi=90)
