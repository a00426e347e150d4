"""Tables with fitted black boxes, for benches.

Tables of scikit-learn, each with a model of another family. With the folder EAGLE_DATA also COMPAS,
German Credit, Adult and MAGIC as in the paper: standardised, with random forests.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_friedman1,
    make_gaussian_quantiles,
    make_hastie_10_2,
    make_sparse_uncorrelated,
)
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from evaluation.problems import PROBLEMS


class Black(NamedTuple):
    """A fitted model, its training rows and held-out rows."""

    name: str
    model: Any
    data: Any
    held: Any


def forest() -> Any:
    return RandomForestClassifier(100, n_jobs=1, random_state=0)


def fitted(name: str, model: Any, X: Any, y: Any) -> Black:
    seen, held, labels, _ = train_test_split(X, y, test_size=0.2, random_state=42)
    scaler = StandardScaler().fit(seen)
    seen, held = scaler.transform(seen), scaler.transform(held)
    return Black(name, model.fit(seen, labels), seen, held)


PAPER = {"compas": "COMPAS", "german": "German", "adult": "Adult", "magic": "MAGIC"}
"""The paper's tables, by their names in `evaluation.problems`."""


def tables() -> Iterator[Black]:
    """The tables, one after another, as they are fitted."""
    yield fitted("cancer, forest", forest(), *load_breast_cancer(return_X_y=True))
    network = MLPClassifier((32,), max_iter=1000, random_state=0)
    yield fitted("wine, network", network, *load_wine(return_X_y=True))
    boosted = GradientBoostingRegressor(random_state=0)
    yield fitted("diabetes, boosting", boosted, *load_diabetes(return_X_y=True))
    yield fitted("Friedman 1, support vectors", SVR(), *make_friedman1(1000, random_state=0))
    for problem, name in PAPER.items() if os.environ.get("EAGLE_DATA") else ():
        p = PROBLEMS[problem]()
        yield Black(f"{name}, forest", p.model, p.data, p.instances)


def others() -> Iterator[Black]:
    """Tables and models on which nothing was chosen: they were used after all decisions."""
    boosted = GradientBoostingClassifier(random_state=0)
    yield fitted("Hastie 10.2, boosting", boosted, *make_hastie_10_2(2000, random_state=0))
    shells = make_gaussian_quantiles(n_samples=500, n_features=6, n_classes=2, random_state=0)
    yield fitted("shells, neighbours", KNeighborsClassifier(15), *shells)
    network = MLPRegressor(hidden_layer_sizes=(32,), max_iter=1000, random_state=0)
    sparse = make_sparse_uncorrelated(1000, 10, random_state=0)
    yield fitted("four of ten, network", network, *sparse)
    flowers = MLPClassifier((16,), max_iter=2000, random_state=0)
    yield fitted("iris, network", flowers, *load_iris(return_X_y=True))
