"""Parts of a method are checked when they are put together, before anything is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import eagle
from catalogue import CASES, CHOICES, FOREIGN, METHODS
from eagle import methods, peers
from eagle._engine import default
from eagle._engine.method import Choice, Method
from eagle._sources.tables import SOURCE
from eagle._values.arrays import Array, Points
from eagle._values.checks import lacking
from eagle.contracts import NOTHING, Kernel, Need, Rows, Space
from eagle.designs.balanced import Sobol
from eagle.designs.gains import Gains
from eagle.designs.greedy import Greedy
from eagle.kernels import Exponential
from eagle.peers.bootstrap import Bootstrap
from eagle.peers.foreign import Foreign
from eagle.surrogates.bayes import BayesLinear
from eagle.surrogates.fit import DeferredFit, Fit, Fitter
from eagle.surrogates.functional import Functional
from eagle.surrogates.robust import Robust


@dataclass(frozen=True)
class Own:
    """A design as a user would write it."""

    needs: ClassVar = NOTHING
    balanced: ClassVar = False

    def longest(self, space: Space, budget: int) -> int:
        return budget

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return np.ones(len(features))

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        points = spaces[0].draw(budget, rng)
        points[0] = spaces[0].origin
        return [points] * len(spaces)


@dataclass(frozen=True)
class Misspelt:
    """The same, but `weight` is misspelt, so it is never called."""

    needs: ClassVar = NOTHING
    balanced: ClassVar = False
    longest = Own.longest
    plan = Own.plan
    weights = Own.weight


@dataclass(frozen=True)
class Weightless(Own):
    """The same without a weight: None is none."""

    weight = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Needy(Own):
    """The same with needs that are no set of them."""

    needs: ClassVar[Any] = ()


@dataclass(frozen=True)
class Negative(Own):
    """The same with weights below 0."""

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return -np.ones(len(features))


@dataclass(frozen=True)
class Elsewhere(Own):
    """The same, but its plans do not begin with the instance, or are no points at all."""

    cast: type | None = None

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        points = spaces[0].draw(budget, rng)
        return [points if self.cast is None else points.astype(self.cast)] * len(spaces)


class Unhashed(Own):
    """The same without a hash, as a dataclass that may change has none."""

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Slope:
    """A surrogate as a user would write it: the slope of each feature alone."""

    needs: ClassVar = NOTHING

    def memory(self, n: int, d: int) -> int:
        return 0

    def on(self, rows: Rows) -> Fitter:
        return DeferredFit.of(self, rows)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        apart, lift = features - features.mean(axis=0), y - y.mean()
        scores = apart.T @ lift / np.maximum((apart**2).sum(axis=0), 1e-12)
        return Fit(scores, float(y.mean()), float(y[0]), float("nan"))


@dataclass(frozen=True)
class Unknowing(Slope):
    """The same, but its scores are no numbers."""

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        return Fit(np.full(features.shape[1], np.nan), 0.0, 0.0, float("nan"))


@pytest.mark.parametrize(
    "method",
    [
        *(peers.LIME, methods.EAGLE, peers.GLIME, peers.BAYESLIME, peers.CLIMAX),
        *(METHODS["eagle hadamard"], peers.DLIME, peers.S_LIME),
    ],
    ids=lambda m: m.name,
)
@pytest.mark.parametrize("bootstrap", [False, True])
def test_intervals_of_balanced_rows_are_for_balanced_rows(method: Any, bootstrap: bool) -> None:
    surrogate: Any = Robust(balanced=True)
    if bootstrap:
        surrogate = Bootstrap(surrogate, 10)
    with pytest.raises(eagle.InputError, match="needs balanced rows, which fill their law evenly"):
        replace(method, surrogate=surrogate)
    assert replace(method, surrogate=Robust())
    assert replace(methods.EAGLE_BALANCED, surrogate=surrogate)


def test_intervals_of_balanced_rows_alone_on_others() -> None:
    rows = Rows.each_once(np.random.default_rng(0).normal(size=(50, 3)), np.ones(50))
    with pytest.raises(eagle.InputError, match="on other rows its intervals are too narrow"):
        Robust(balanced=True).on(rows)
    assert Robust(balanced=True).on(replace(rows, balanced=True))


def test_a_design_that_misspells_its_weight_is_refused() -> None:
    with pytest.raises(eagle.InputError, match=r"Misspelt.* does not: it lacks weight"):
        replace(peers.LIME, design=Misspelt())  # type: ignore[arg-type]
    data = np.random.default_rng(0).normal(size=(100, 3))
    mine = replace(peers.LIME, name="mine", design=Own())
    e = eagle.Explainer(lambda X: X[:, 0], data, method=mine, budget=60).explain(data[0])
    assert (e.evidence.weight == 1).all()


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"design": Negative()}, "mine: the weight of Negative must be a finite number"),
        ({"design": Elsewhere()}, "the first point of a plan must be the instance"),
        ({"design": Elsewhere(float)}, r"must have points of shape \(n, 3\) and dtype uint16"),
        ({"surrogate": Unknowing()}, "mine: a surrogate must give a finite score for each of 3"),
    ],
)
def test_what_parts_return_is_checked(part: Any, message: str) -> None:
    data = np.random.default_rng(0).normal(size=(100, 3))
    mine = replace(peers.LIME, name="mine", **part)
    with pytest.raises(eagle.InputError, match=message):
        eagle.Explainer(lambda X: X[:, 0], data, method=mine, budget=60).explain(data[0])


class Baskets:
    """A source as a user would write it; its space lacks a member."""

    kind = eagle.contracts.Kind("thing", "binned", frozenset({Need.MATCHES}))

    def describe(self, *_: Any) -> list[str]:
        return []

    keep = without = describe

    def groups(self, X: Any, wanted: Any) -> list[Any]:
        (group,) = eagle.Parts(list, list).groups(["a", "b"], wanted)
        things = group.instances
        object.__setattr__(things, "space", lambda i: Incomplete())
        return [eagle.contracts.Group(things, [0])]


class Incomplete:
    law, masks, steps, origin = 0, True, 2, np.zeros(2)
    draw = pools = values = lambda self, *_: None


class Nameless:
    """The same source without `kind`."""

    describe, keep, without, groups = Baskets.describe, Baskets.keep, Baskets.without, None


def test_a_process_needs_rows_of_a_space() -> None:
    data = np.random.default_rng(0).normal(size=(100, 3))
    mine = replace(peers.DLIME_NEAREST, name="mine", surrogate=Functional())
    with pytest.raises(eagle.InputError, match="needs rows that a space draws"):
        eagle.Explainer(lambda X: X[:, 0], data, method=mine).explain(data[0])


def test_sources_and_spaces_are_checked_too() -> None:
    with pytest.raises(eagle.InputError, match=r"Baskets is a class, not data: write Baskets\(…\)"):
        eagle.Explainer(len, Baskets)
    with pytest.raises(eagle.InputError, match=r"a source, such as .* Nameless lacks kind, groups"):
        eagle.Explainer(len, Nameless())
    with pytest.raises(eagle.InputError, match="the space Incomplete lacks features, distinct"):
        eagle.Explainer(len, Baskets()).explain("ab")
    with pytest.raises(eagle.InputError, match="sizes are a law of masks"):
        eagle.Parts(list, list, sizes="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"design": None}, "lacks needs, balanced, longest, weight, plan or ask"),
        ({"design": Sobol}, r"Sobol is a class, not a value of it: write Sobol\(…\)"),
        ({"design": BayesLinear()}, "it lacks balanced"),
        ({"surrogate": Greedy()}, "a surrogate fits answers.* it lacks memory, on"),
        ({"surrogate": Robust}, "Robust is a class"),
        ({"surrogate": "ridge"}, "it lacks needs, memory, on"),
        ({"design": Weightless()}, "it lacks weight"),
        ({"design": Unhashed()}, "Unhashed must have a hash"),
        ({"design": Needy()}, "the needs of Needy are a frozenset"),
        ({"kernel": 3}, "a kernel is a function"),
        ({"name": 3}, "the name of a method is text"),
        ({"budget": 0}, "the budget of LIME must be an integer of at least 1"),
        ({"on_masks": "cosine"}, "a kernel is a function"),
    ],
)
def test_parts_that_are_none(part: Any, message: str) -> None:
    with pytest.raises(eagle.InputError, match=message):
        replace(peers.LIME, **part)


def test_every_method_and_every_source_is_in_the_catalogue() -> None:
    listed = {m.name for m in (METHODS | FOREIGN | CHOICES).values()}
    every = [getattr(module, name) for module in (methods, peers) for name in module.__all__]
    every = [m for m in every if isinstance(m, Method | Foreign | Choice)]
    assert len(every) == 25
    assert {m.name for m in every} - listed == set()
    named = [*vars(eagle).values(), *vars(eagle.language).values()]
    sources = {value for value in named if isinstance(value, type)}
    sources = {one for one in sources if not lacking(one, *SOURCE)}
    assert {one.__name__ for one in sources} == {"Images", "Parts", "Prompt", "Series", "Texts"}
    assert sources <= {type(case.data) for case in CASES.values()}


def test_a_users_surrogate_goes_with_any_design() -> None:
    data = np.random.default_rng(0).normal(size=(200, 3))
    for method in (peers.LIME, methods.EAGLE_BALANCED, peers.BAYESLIME):
        mine = replace(method, name="mine", surrogate=Slope())
        e = eagle.Explainer(
            lambda X: 2 * X[:, 0] - X[:, 1],
            eagle.Table(data, view="continuous"),
            method=mine,
            budget=100,
        ).explain(data[0])
        assert e.order().tolist()[:2] == [0, 1]
        assert e.posterior is None


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_what_parts_need_of_one_another_is_not_asked_of_the_caller(method: Any) -> None:
    assert Need.BALANCED not in method.needs
    assert method.planned == hasattr(method.design, "plan")
    assert isinstance(method.kernel, Exponential) or callable(method.kernel)


@pytest.mark.parametrize(
    ("d", "masks", "rows", "growing", "name"),
    [
        (1, False, 500, False, "balanced"),
        (16, False, 50, False, "balanced"),
        (30, False, 100, False, "latin"),
        (30, False, 100, True, "balanced"),
        (1000, False, 500, False, "latin"),
        (1000, False, 20_000, False, "balanced"),
        (1, True, 2, False, "balanced masks"),
        (20, True, 500, False, "balanced masks"),
        (300, True, 500, False, "EAGLE (few rows)"),
        (300, True, 500, True, "balanced"),
        (100, True, 500, True, "balanced masks"),
    ],
)
def test_the_default_suits_features_and_rows(
    d: int, masks: bool, rows: int, growing: bool, name: str
) -> None:
    method = default.choose(d, masks, rows, growing)
    assert method.name == name
    assert method.nested or not growing


def test_rows_follow_the_features_of_a_table() -> None:
    wide = np.random.default_rng(0).normal(size=(50, 40))
    explainer = eagle.Explainer(lambda x: x[:, 0], wide)
    assert explainer.budget == 800
    assert "Method: default, by balanced, up to 800 rows" in explainer.describe()
    assert eagle.Explainer(lambda x: x[:, 0], wide[:, :9]).budget == 500
    few = eagle.Explainer(lambda x: x[:, 0], wide, budget=100)
    assert "by latin, up to 100 rows" in few.describe()
    assert few.explain(wide[0]).method == "latin"


def test_only_what_selects_by_expected_gain_is_called_eagle() -> None:
    """The choice is the default, a result has the name of what ran, and no two names are equal."""
    by_gain = (Greedy, Gains)
    every = {n: m for n, m in vars(methods).items() if isinstance(m, Method) and n.isupper()}
    for method in every.values():
        assert method.name.startswith("EAGLE") == isinstance(method.design, by_gain), method.name
    names = [m.name for m in {id(m): m for m in every.values()}.values()]
    assert len(set(names)) == len(names)
    assert methods.DEFAULT.name == "default"
    assert methods.DEFAULT.where(True).name == "default"
