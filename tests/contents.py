"""Models and other values whose digests are compared between processes: each imports this.

`python -m contents` prints the digests of all, as JSON. What differs between processes and is no
content is made to differ: the order of sets, which strings are one object, how often a model was
asked, where things lie in memory.
"""

from __future__ import annotations

import functools
import json
import pickle
import random
import sys
import warnings
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse, special
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import eagle
from eagle.explainer import setup_of
from eagle.models.content import content_digest
from eagle.survey.identity import digest_of, of_setup

WORDS = ("free", "now", "meet", "you", "there", "win", "cash", "dinner")


class Colour(Enum):
    RED = 1
    BLUE = 2


class Weighted:
    """A model of one's own: levels in a set, weights in a dict, a folder."""

    def __init__(self, scale: float) -> None:
        names = list(fresh(WORDS))
        random.shuffle(names)  # attributes and keys come in any order
        for name in names[:3]:
            setattr(self, name, scale)
            delattr(self, name)
        self.weights = {name: scale * len(name) for name in set(names)}
        self.known = frozenset(names)
        self.folder = Path("/data") / "a" if random.random() < 0.5 else Path("/data/a")
        self.names = [name if random.random() < 0.5 else sys.intern(name) for name in fresh(WORDS)]
        self.itself = self
        self.colour = Colour.RED
        self.function = functools.partial(np.clip, a_min=-scale, a_max=scale)

    def __call__(self, table: Any) -> Any:
        return np.asarray(table)[:, 0]


class Node:
    """A node of a ring."""

    def __init__(self, name: str) -> None:
        self.name, self.others = name, set[Node]()


def fresh(words: tuple[str, ...]) -> Iterator[str]:
    """The same words as new objects, of which none is interned."""
    return ("".join(list(word)) for word in words)


def ring(*names: str) -> Node:
    """Nodes of which each knows all others."""
    nodes = [Node(name) for name in names]
    for node in nodes:
        node.others = set(nodes) - {node}
    return nodes[0]


def table(rows: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.integers(0, 4, rows) / 1})
    frame["c"] = rng.choice(["x", "y", "z"], rows)
    return frame, np.where((frame.a > 0) ^ (frame.c == "x"), "yes", "no")


def fitted(model: Any, size: int, what: str = "numbers") -> Any:
    """A model that was fitted, and asked a number of times that differs between processes."""
    frame, y = table(150 + 10 * size)
    X: Any = frame if what == "table" else frame[["a", "b"]].to_numpy()
    if what == "texts":
        rng = np.random.default_rng(size)
        X = [" ".join(rng.choice(WORDS, 5)) for _ in y]
    if what == "whole numbers":
        y = (y == "yes").astype(int)
    model.fit(X, y)
    for _ in range(random.randrange(3)):
        model.predict(X)
    return model


def estimators() -> dict[str, Callable[[int], Any]]:
    """Makers of fitted models. Another number is other data."""
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), ["a", "b"]), ("levels", OneHotEncoder(), ["c"])]
    )
    return {
        "line": lambda k: fitted(LogisticRegression(), k),
        "tree": lambda k: fitted(DecisionTreeClassifier(random_state=0), k),
        "forest": lambda k: fitted(RandomForestClassifier(10, random_state=0), k),
        "forest by a generator": lambda k: fitted(
            RandomForestClassifier(3, random_state=np.random.RandomState(1)), k
        ),
        "boosting": lambda k: fitted(HistGradientBoostingClassifier(max_iter=5, random_state=0), k),
        "machine": lambda k: fitted(SVC(), k),
        "calibrated": lambda k: fitted(CalibratedClassifierCV(SVC(), cv=2), k),
        "neighbours": lambda k: fitted(KNeighborsClassifier(algorithm="kd_tree"), k),
        "neighbours in balls": lambda k: fitted(KNeighborsClassifier(algorithm="ball_tree"), k),
        "vote": lambda k: fitted(
            VotingClassifier(
                [("a", LogisticRegression()), ("b", DecisionTreeClassifier(random_state=0))]
            ),
            k,
        ),
        "search": lambda k: fitted(
            GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [2, 3]}, cv=2), k
        ),
        "pipeline": lambda k: fitted(make_pipeline(columns, LogisticRegression()), k, "table"),
        "ufuncs": lambda k: fitted(
            make_pipeline(
                FunctionTransformer(np.arcsinh),
                FunctionTransformer(special.expit),
                LogisticRegression(),
            ),
            k,
        ),
        "texts": lambda k: fitted(
            make_pipeline(TfidfVectorizer(stop_words="english"), LogisticRegression()), k, "texts"
        ),
        "texts with stop words": lambda k: fitted(
            make_pipeline(CountVectorizer(stop_words=["you"]), LogisticRegression()), k, "texts"
        ),
    }


def boosters() -> dict[str, Callable[[int], Any]]:
    import catboost
    import lightgbm
    import xgboost

    return {
        "lightgbm": lambda k: fitted(
            lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, n_jobs=1), k
        ),
        "lightgbm's own": lambda k: (
            fitted(lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, n_jobs=1), k).booster_
        ),
        "xgboost": lambda k: fitted(
            xgboost.XGBClassifier(n_estimators=4, n_jobs=1), k, "whole numbers"
        ),
        "xgboost's own": lambda k: fitted(
            xgboost.XGBClassifier(n_estimators=4, n_jobs=1), k, "whole numbers"
        ).get_booster(),
        "catboost": lambda k: fitted(
            catboost.CatBoostClassifier(
                iterations=4, verbose=0, thread_count=1, allow_writing_files=False
            ),
            k,
        ),
    }


def networks() -> dict[str, Callable[[int], Any]]:
    import torch

    def network(k: int, dtype: Any = torch.float32) -> Any:
        torch.manual_seed(k)
        layers = torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2)
        return torch.nn.Sequential(*layers).to(dtype).eval()

    return {
        "network": network,
        "network of half numbers": lambda k: network(k, torch.bfloat16),
        "scale": lambda k: {"scale": torch.tensor(k / 3), "rows": torch.arange(k)[::2]},
    }


def values() -> dict[str, Callable[[int], Any]]:
    """Makers of other values. Another number is another value."""
    mixed: tuple[Any, ...] = (1, 2.5, None, True, "x", b"y", ("a", 2))
    spaced = np.dtype([("flag", "u1"), ("value", "f8")], align=True)

    def records(k: int) -> Any:
        out = np.frombuffer(random.randbytes(4 * spaced.itemsize), spaced).copy()
        out["flag"], out["value"] = k, np.arange(4) + k
        return out

    return {
        "own": lambda k: Weighted(1.5 + k),
        "words": lambda k: [*fresh(WORDS), *WORDS, str(k)],
        "set": lambda k: set(fresh(WORDS)) | {str(k)},
        "set of anything": lambda k: {*mixed, k + 10, frozenset(fresh(WORDS))},
        "dict": lambda k: dict.fromkeys(set(fresh(WORDS)), k),
        "dict of anything": lambda k: {name: [{k}, name] for name in {*mixed, *WORDS}},
        "dict in order": lambda k: OrderedDict((name, k) for name in fresh(WORDS)),
        "counts": lambda k: Counter(dict.fromkeys(set(fresh(WORDS)), k + 1)),
        "lists by name": lambda k: defaultdict(list, {name: [k] for name in set(WORDS)}),
        "a ring": lambda k: ring("a", "b", "c", str(k)),
        "records": records,
        "objects": lambda k: np.array([*fresh(WORDS), k, None], dtype=object),
        "numbers": lambda k: np.arange(24.0).reshape(4, 6)[:, ::2] + k,
        "dates": lambda k: np.array(["2026-01-01", "NaT"], "M8[D]") + k,
        "number": lambda k: np.float32(k),
        "table": lambda k: table(5 + k)[0],
        "sparse": lambda k: sparse.csr_matrix(np.eye(3) * k),
        "range": lambda k: (range(k), slice(k), complex(k), ..., NotImplemented, bytearray([k])),
        "functions": lambda k: (len, np.log1p, special.expit, fresh, Weighted, str.lower, k),
        "members": lambda k: (Colour.RED, Colour.BLUE if k else Colour.RED),
        "generator": np.random.default_rng,
    }


KINDS: dict[str, Callable[[], dict[str, Callable[[int], Any]]]] = {
    "ours": lambda: estimators() | values(),
    "boosters": boosters,
    "networks": networks,
}


def explainers() -> dict[str, Any]:
    """What decides the explanations of explainers."""
    frame, _ = table(150)
    numbers = frame[["a", "b"]].to_numpy()
    made = estimators()
    each = {
        "own": eagle.Explainer(Weighted(1.5), numbers),
        "forest": eagle.Explainer(made["forest"](0), numbers),
        "pipeline": eagle.Explainer(made["pipeline"](0), frame),
        "texts": eagle.Explainer(made["texts"](0), eagle.Texts()),
    }
    return {name: of_setup(setup_of(one)) for name, one in each.items()}


def main(kind: str) -> None:
    """Print digests: of two values of each name, and of the first one as it was pickled."""
    out: dict[str, Any] = {}
    warnings.simplefilter("ignore")
    for name, maker in KINDS[kind]().items():
        one, other = maker(0), maker(1)
        again = pickle.loads(pickle.dumps(one))
        out[name] = [content_digest(one), content_digest(other), content_digest(again)]
        assert digest_of(one) in (out[name][0], None), name
    print(json.dumps({"digests": out, "explainers": explainers()}))


if __name__ == "__main__":
    main(sys.argv[1])
