"""Every method, every kind of space, every toy model: listed once, and driving the contracts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from eagle import Images, Parts, Series, Texts, methods, peers
from eagle._engine import default
from eagle._engine.method import Choice, Method
from eagle.contracts import Need
from eagle.designs.balanced import Sobol
from eagle.designs.gains import Gains
from eagle.designs.greedy import Greedy, variance_only
from eagle.designs.hadamard import Hadamard
from eagle.designs.law import Clipped
from eagle.kernels import COSINE, Exponential
from eagle.language import Prompt
from eagle.peers import selection as select
from eagle.peers.calibrated import CALIBRATED, Calibrated
from eagle.peers.foreign import Foreign
from eagle.peers.slime import Append
from eagle.peers.tilia import Tree
from eagle.peers.unravel import Process, Unravel
from eagle.surrogates.functional import Functional
from eagle.surrogates.robust import Robust

QUICK = Unravel(pool=50, most=8)
"""A Gaussian process is tuned for every row: less well will do for contracts."""

METHODS: dict[str, Method] = {
    "eagle": methods.EAGLE,
    "eagle paper": methods.EAGLE_PAPER,
    "eagle balanced": methods.EAGLE_BALANCED,
    "eagle few": default.GREEDY,
    "eagle hadamard": Method("Hadamard", Hadamard(), Exponential(), Robust(), COSINE),
    "eagle clipped": replace(
        methods.EAGLE_BALANCED, name="clipped", design=Sobol(Clipped()), surrogate=Robust()
    ),
    "eagle latin": replace(default.LATIN, name="latin", surrogate=Robust()),
    "eagle wide": default.LATIN,
    "eagle masks": default.MASKS,
    "eagle process": replace(methods.EAGLE_PROCESS, design=Gains(pool=200)),
    "eagle process, logit": replace(
        methods.EAGLE_PROCESS,
        name="EAGLE (process, logit)",
        design=Gains(pool=200),
        surrogate=Functional(logit=True),
    ),
    "greedy by variance": replace(methods.EAGLE, name="variance", design=Greedy(variance_only)),
    "lime": peers.LIME,
    "lime, highest weights": peers.sparse_lime(select.Highest(3)),
    "lime, forward": peers.sparse_lime(select.Forward(3)),
    "lime, lasso path": peers.sparse_lime(select.LassoPath(3)),
    "lime, auto": peers.sparse_lime(select.Auto(3)),
    "lime, bootstrap": peers.with_bootstrap(peers.LIME, 10),
    "glime": peers.GLIME,
    "glime as lime": peers.GLIME_LIME,
    "glime published": peers.GLIME_PUBLISHED,
    "glime gauss": peers.GLIME_GAUSS,
    "baylime": peers.BAYLIME,
    "baylime partial": peers.baylime_with_prior(1.0),
    "baylime full": peers.baylime_with_prior(1000.0, noise=1.0),
    "bayeslime": peers.BAYESLIME,
    "bayeslime unfocused": peers.BAYESLIME_IID,
    "context cite": peers.CONTEXT_CITE,
    "dlime": peers.DLIME,
    "dlime nearest": peers.DLIME_NEAREST,
    "us-lime": peers.US_LIME,
    "us-lime published": replace(peers.US_LIME, name="US-LIME (published)", budget=5000),
    "tilia": replace(peers.TILIA, surrogate=Tree((2, 3), select.Auto(10), raw=True)),
    "s-lime": replace(peers.S_LIME, design=Append(first=20)),
    "s-lime published": replace(peers.S_LIME, name="S-LIME (published)", design=Append(first=30)),
    "climax": peers.CLIMAX,
    "climax published": replace(peers.CLIMAX, name="CLIMAX (published)", budget=2200),
    "bayesshap": peers.BAYESSHAP,
    "bayesshap unfocused": peers.BAYESSHAP_IID,
    "unravel": replace(peers.UNRAVEL, design=QUICK, surrogate=Process(restarts=1, most=15)),
}

FOREIGN: dict[str, Foreign] = {
    "kernel shap": peers.SHAP_KERNEL,
    "permutation shap": peers.SHAP_PERMUTATION,
    "calibrated": peers.calibrated_explanations(["no", "yes", "yes", "no"] * 50),
    "calibrated numbers": peers.calibrated_explanations([k % 7 for k in range(200)]),
}
"""Methods of other packages. What they ask is their own affair; the rest is ours."""

CHOICES: dict[str, Choice] = {"default": methods.DEFAULT}
"""What picks a method for each instance."""

PENALISED = {methods.EAGLE_PAPER.name} | {
    method.name for key, method in METHODS.items() if key.startswith(("bayeslime", "bayesshap"))
}
"""Methods whose scores take up some of the base rate."""

CERTAIN = {peers.DLIME.name, peers.DLIME_NEAREST.name, CALIBRATED}
"""Methods without randomness: every seed gives the same."""


@dataclass(frozen=True)
class Case:
    """A table with how to look at it, and a model that can be asked about it.

    Or, for images and texts, how they are taken apart, and `things` to explain. The model is asked
    such things themselves, or `wholes`, what they are made into.
    """

    data: Any
    model: Callable[[Any], Any]
    options: dict[str, Any]
    things: Any = None
    wholes: Any = None

    @property
    def binary(self) -> bool:
        return self.options.get("task") == "classification"

    def row(self, i: int) -> Any:
        if self.things is not None:
            return self.things[i]
        return self.data.iloc[[i]] if hasattr(self.data, "iloc") else self.data[[i]]


def _numbers(n: int = 200, d: int = 5) -> np.ndarray[Any, Any]:
    return np.random.default_rng(7).normal(size=(n, d)) * [1, 2, 3, 0.1, 10][:d]


def _mixed(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    age = rng.normal(40, 12, n)
    age[rng.random(n) < 0.1] = np.nan
    city = rng.choice(["Rome", "Paris", "Oslo"], n, p=[0.6, 0.3, 0.1]).astype(object)
    city[rng.random(n) < 0.05] = None
    return pd.DataFrame(
        {
            "age": age,
            "visits": rng.poisson(2, n),
            "member": rng.random(n) < 0.3,
            "city": city,
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "constant": 1.0,
        }
    )


def _ledger(n: int = 100) -> pd.DataFrame:
    """Dates, some missing, decimals, a one-hot block, and a place of two numbers."""
    rng = np.random.default_rng(10)
    joined = pd.Series(np.datetime64("2020-01-01", "s") + rng.integers(0, 900, n) * 86_400)
    joined[rng.random(n) < 0.1] = pd.NaT
    colour = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "joined": joined,
            "colour_red": (colour == 0).astype(int),
            "amount": pd.Series([Decimal(int(v)).scaleb(-2) for v in rng.integers(0, 10**5, n)]),
            "colour_blue": (colour == 1).astype(int),
            "colour_green": (colour == 2).astype(int),
            "lat": rng.normal(size=n),
            "lon": rng.normal(size=n).astype(np.float32),
        }
    )


GROUPS = {"colour": ["colour_red", "colour_green", "colour_blue"], "place": ["lat", "lon"]}


def linear(X: Any) -> Any:
    """A sum over columns of a sparse or dense array.

    No matrix product: its last bits depend on how many rows are asked together.
    """
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return sum(k * column for k, column in enumerate(X.T, 1))


def curved(X: Any) -> Any:
    """Two probabilities that bend."""
    X = np.asarray(X)
    p = 1 / (1 + np.exp(-np.sin(X[:, 0]) - X[:, 1] * X[:, 2] / 4))
    return np.column_stack([1 - p, p])


def shop(X: pd.DataFrame) -> Any:
    """Reads a mixed table by name, as a pipeline would."""
    return (
        np.nan_to_num(X["age"].to_numpy(float), nan=30.0) / 40
        + X["visits"].to_numpy()
        + 2.0 * X["member"].to_numpy()
        - (X["city"] == "Rome").to_numpy()
        + X["size"].cat.codes.to_numpy()
    )


def book(X: pd.DataFrame) -> Any:
    """Reads dates, decimals and groups, each as what it is; a mixed-up block is refused."""
    assert (X[GROUPS["colour"]].sum(axis=1) == 1).all()
    days = (X["joined"] - pd.Timestamp("2020-01-01")).dt.days.fillna(100)
    return (
        days.to_numpy() / 300
        + np.array([float(v) for v in X["amount"]]) / 500
        + 2.0 * X["colour_red"].to_numpy()
        + X["lat"].to_numpy() * X["lon"].to_numpy()
    )


class Recorder:
    """A model that remembers what it was asked."""

    def __init__(self, model: Any) -> None:
        self.model, self.asked = model, list[Any]()

    def __call__(self, X: Any) -> Any:
        self.asked.append(X.copy())
        return self.model(X)

    @property
    def rows(self) -> int:
        return sum(len(X) for X in self.asked)


class Heard:
    """A space that notes all points whose features were wanted of it."""

    def __init__(self, space: Any) -> None:
        self.space, self.points = space, list[Any]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.space, name)

    def features(self, points: Any, out: Any = None) -> Any:
        self.points.append(points)
        return self.space.features(points, out)


TWO: dict[str, Any] = {"task": "classification", "outputs": ("no", "yes")}

CASES: dict[str, Case] = {
    "numbers, binned": Case(_numbers(), curved, {**TWO}),
    "numbers, continuous": Case(_numbers(), curved, {"view": "continuous", **TWO}),
    "mixed, binned": Case(_mixed(), shop, {}),
    "mixed, continuous": Case(_mixed(), shop, {"view": "continuous"}),
    "bounded and frozen": Case(
        _mixed(),
        shop,
        {
            "view": "continuous",
            "fixed": ["member"],
            "bounds": {"age": (0, None), "visits": (0, 9)},
        },
    ),
    "dates and groups": Case(_ledger(), book, {"groups": GROUPS}),
    "integers": Case(np.rint(_numbers() * 3).astype(np.int64), linear, {}),
    "sparse": Case(sparse.csr_array(np.maximum(_numbers(), 0)), linear, {}),
}

PICTURES = np.random.default_rng(9).random((10, 8, 6, 3))
LABELS = np.repeat(np.arange(8).reshape(4, 2), 3, axis=1).repeat(2, axis=0) + 1
TEXTS = [
    f"the {a} plot was {b}, though actors were {c} and it's far too long {i}" + i % 3 * f" {i}{c}"
    for i, (a, b, c) in enumerate(
        zip(["good"] * 5 + ["thin"] * 5, ["bad", "fine"] * 5, "abcdefghij", strict=True)
    )
]


def brightness(X: Any) -> Any:
    """Two probabilities of a batch of images."""
    p = 1 / (1 + np.exp(-4 * (X[:, :4].mean(axis=(1, 2, 3)) - X[:, 4:, :, 0].mean(axis=(1, 2)))))
    return np.column_stack([1 - p, p])


def mood(texts: Any) -> Any:
    """Two probabilities of a list of texts."""
    tone = np.array([t.count("good") + t.count("fine") - t.count("bad") for t in texts])
    p = 1 / (1 + np.exp(-tone - np.array([len(t) for t in texts]) / 100))
    return np.column_stack([1 - p, p])


CASES["image"] = Case(Images(LABELS, fill=0), brightness, {**TWO}, PICTURES)
CASES["image, shifted"] = Case(Images(LABELS, shift=0.1), brightness, {**TWO}, PICTURES)
WORDS = Parts(str.split, " ".join, fixed=[0])
CASES["parts"] = Case(WORDS, mood, {**TWO}, [" ".join(t.split()) for t in TEXTS])
CASES["text"] = Case(Texts(unit="word"), mood, {**TWO}, TEXTS)

CASES["prompt"] = Case(
    Prompt("{words}? {end}", fixed=["end"], separator=" "),
    mood,
    {**TWO},
    [{"words": t.split(), "end": "so"} for t in TEXTS],
    [" ".join(t.split()) + "? so" for t in TEXTS],
)

WINDOWS = np.random.default_rng(11).normal(size=(10, 12, 2)).astype(np.float32)


def swing(X: Any) -> Any:
    """Two probabilities of a batch of series of two channels."""
    X = X.astype(np.float64)
    p = 1 / (1 + np.exp(-3 * X[:, :6, 0].mean(axis=1) - X[:, 3:, 1].max(axis=1)))
    return np.column_stack([1 - p, p])


CASES["series"] = Case(Series(4), swing, {**TWO}, WINDOWS)
CASES["series, linear"] = Case(Series([3, 7], fill="linear"), swing, {**TWO}, WINDOWS)

BUDGET = 60


def budget_of(method: Method | Choice | Foreign) -> int:
    """How many rows a contract may ask: fewer where each costs a tuning, more for a cluster."""
    if method is peers.DLIME:
        return 300
    if isinstance(method, Foreign):
        return 400
    slow = isinstance(method, Method) and isinstance(method.design, Unravel)
    return 7 if slow else BUDGET


def supports(method: Method | Choice | Foreign, case: Case) -> bool:
    """Whether the method can work there, by what it says that it needs."""
    if method.needs & {Need.PROBABILITIES, Need.BINARY} and not case.binary:
        return False
    if case.things is not None and Need.TABLE in method.needs:
        return False
    if isinstance(method, Foreign) and case.model in (shop, book):
        return False  # other packages have no way with missing values
    if isinstance(method, Foreign) and isinstance(method.run, Calibrated):
        return isinstance(method.run.labels[0], str) == case.binary
    shifted = isinstance(case.data, Images) and case.data.shift is not None
    if Need.MASKS in method.needs and (case.things is None or shifted):
        return False
    continuous = case.options.get("view") == "continuous" or shifted
    return (Need.MATCHES if continuous else Need.OFFSETS) not in method.needs
