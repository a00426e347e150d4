"""A user's own surrogate and posterior in files: registered, or refused in a sentence."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import eagle
import eagle.files
from eagle import InputError, Method, methods
from eagle.files import sealed, surrogates
from eagle.files.registry import KINDS, TOLERANCES
from eagle.surrogate.bootstrap import Bootstrap
from eagle.surrogate.fit import DeferredFit, Fit, Fitter, weighted_r2
from eagle.types import NOTHING, Array, Rows

DATA = np.random.default_rng(0).normal(size=(60, 3))


def model(X: Any) -> Array:
    return np.asarray(X @ [1.0, -2.0, 0.5])


@dataclass(frozen=True, eq=False)
class Spread:
    """A user's own posterior: one half-width for each score."""

    mean: Array
    half: Array
    kind: str = "spread"

    @property
    def std(self) -> Array:
        return self.half / 2

    def interval(self, level: float = 0.95, *, joint: bool = False) -> Array:
        return np.stack([self.mean - level * self.half, self.mean + level * self.half], axis=1)

    def probability_sign(self) -> Array:
        return np.where(np.abs(self.mean) > self.half, 1.0, 0.5)

    def probability_top(self, k: int) -> Array:
        return np.full(len(self.mean), k / len(self.mean))


@dataclass(frozen=True)
class Twice:
    """A user's own part of a surrogate."""

    times: float = 2.0


@dataclass(frozen=True)
class Means:
    """A user's own surrogate: the mean answer with a feature less the mean without it."""

    shrink: float = 0.0
    part: Twice = field(default_factory=Twice)
    sure: bool = False
    labels: tuple[str, ...] = ("a", "b")
    needs: ClassVar = NOTHING

    def __post_init__(self) -> None:
        if not 0 <= self.shrink < 1:
            raise InputError(f"shrink is from 0 to 1, not {self.shrink!r}")

    def room(self, n: int, d: int) -> int:
        return 0

    def on(self, rows: Rows) -> Fitter:
        return DeferredFit.of(self, rows)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        middle = float(weight @ y / weight.sum())
        centred = features - weight @ features / weight.sum()
        size = weight @ centred**2 + 1e-9
        scores = (1 - self.shrink) * self.part.times * (weight * (y - middle)) @ centred / size
        predicted = middle + centred @ scores
        half = np.sqrt(1 / size)
        return Fit(
            scores,
            middle,
            float(predicted[0]),
            weighted_r2(y, predicted, weight),
            posterior=Spread(scores, half) if self.sure else None,
        )


ALL = (Means, Twice, Spread)


@pytest.fixture
def known(request: pytest.FixtureRequest) -> Iterator[None]:
    """Registers the classes that a test names, and no others, until it ends."""
    with eagle.files.registered(*getattr(request, "param", ALL)):
        yield


def explainer(surrogate: Any) -> eagle.Explainer:
    method: Method = replace(methods.LIME, name="mine", surrogate=surrogate)
    return eagle.Explainer(model, DATA, method=method, budget=40)


def explained(surrogate: Any) -> eagle.Explanation:
    return explainer(surrogate).explain(DATA[0])


EACH = [Means(), Means(0.25, Twice(3.0), labels=("ü",)), Means(sure=True), Bootstrap(Means(), 20)]


# -- registered -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("surrogate", EACH, ids=repr)
def test_it_is_saved_loaded_and_fitted_again(surrogate: Any, tmp_path: Path) -> None:
    e = explained(surrogate)
    e.save(tmp_path / "e.json")
    back = eagle.Explanation.load(tmp_path / "e.json")
    assert back.surrogate == surrogate
    assert back.to_dict() == e.to_dict()
    assert back.note == ""  # it was checked
    assert np.array_equal(back.fit.scores, e.scores)
    assert type(back.posterior) is type(e.posterior)
    assert np.array_equal(back.shown(), e.shown(), equal_nan=True)
    assert str(back) == str(e)


@pytest.mark.usefixtures("known")
def test_a_plan_with_it_is_answered_later(tmp_path: Path) -> None:
    plan = explainer(Means(0.5)).plan(DATA[0])
    plan.save(tmp_path / "plan.json")
    back = eagle.Plan.load(tmp_path / "plan.json")
    answers = model(plan.inputs)
    assert back.surrogate == Means(0.5)
    assert np.array_equal(back.fit(answers).scores, plan.fit(answers).scores)


def forged(data: dict[str, Any], part: str) -> dict[str, Any]:
    data = copy.deepcopy(data)
    if part == "surrogate":
        data["surrogate"]["Means"]["part"]["Twice"]["times"] = 4.0
    elif part == "scores":
        for feature in data["features"]:
            feature["score"] *= 1.01
    else:
        posterior = data["posterior"]["registered"]["Spread"]
        posterior["half"] = sealed.pack(0.5 * sealed.unpack(posterior["half"]))
        shown = Spread(sealed.unpack(posterior["mean"]), sealed.unpack(posterior["half"]))
        for feature, (low, high) in zip(data["features"], shown.interval(), strict=True):
            feature.update(low=float(low), high=float(high))
    return sealed.sealed(data)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("part", ["surrogate", "scores", "posterior"])
def test_it_is_checked_against_its_evidence(part: str) -> None:
    data = explained(Means(sure=True)).to_dict()
    assert eagle.Explanation.from_dict(data)
    with pytest.raises(InputError, match="says other scores than its evidence gives"):
        eagle.Explanation.from_dict(forged(data, part))


@pytest.mark.usefixtures("known")
def test_rounding_in_its_posterior_is_no_forgery() -> None:
    data = explained(Means(sure=True)).to_dict()
    posterior = data["posterior"]["registered"]["Spread"]
    posterior["half"] = sealed.pack(sealed.unpack(posterior["half"]) * (1 + 1e-12))
    assert eagle.Explanation.from_dict(sealed.sealed(data)).note == ""


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"shrink": 1.5}, "shrink is from 0 to 1"),
        ({"wrong": 1}, "unexpected keyword"),
        ({"part": {"Twice": 3}}, "no mapping"),
        ({"part": {"os.system": {"command": "true"}}}, "no part of a surrogate"),
    ],
)
def test_its_own_checks_hold_for_files(settings: dict[str, Any], match: str) -> None:
    data = explained(Means()).to_dict()
    data["surrogate"]["Means"].update(settings)
    with pytest.raises(InputError, match=match):
        eagle.Explanation.from_dict(sealed.sealed(data))


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("half", [np.ones(2), np.ones((3, 1))], ids=["short", "wide"])
def test_a_posterior_that_does_not_fit_its_scores(half: Array) -> None:
    data = explained(Means(sure=True)).to_dict()
    data["posterior"]["registered"]["Spread"]["half"] = sealed.pack(half)
    with pytest.raises(InputError, match="damaged: the uncertainty does not fit the scores"):
        eagle.Explanation.from_dict(sealed.sealed(data))


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("name", ["Means", "Ridge"])
def test_what_is_no_posterior(name: str) -> None:
    data = explained(Means(sure=True)).to_dict()
    data["posterior"]["registered"] = {name: {}}
    with pytest.raises(InputError, match="damaged"):
        eagle.Explanation.from_dict(sealed.sealed(data))


@pytest.mark.usefixtures("known")
def test_what_is_no_surrogate() -> None:
    data = explained(Means()).to_dict()
    data["surrogate"] = {"Twice": {}}
    with pytest.raises(InputError, match="Twice is not a surrogate"):
        eagle.Explanation.from_dict(sealed.sealed(data))


def test_the_librarys_own_take_no_arrays() -> None:
    with pytest.raises(ValueError, match="3 names"):
        surrogates.read({"Ridge": {"alpha": sealed.pack(np.ones(1))}})


@pytest.mark.parametrize("tolerance", [None, 1e-3])
def test_scores_may_differ_by_the_tolerance_of_their_surrogate(tolerance: float | None) -> None:
    with eagle.files.registered(Twice, Spread):
        if tolerance is None:
            eagle.files.register(Means)
        else:
            eagle.files.register(tolerance=tolerance)(Means)
        data = explained(Means()).to_dict()
        for feature in data["features"]:
            feature["score"] *= 1 + 1e-4  # as a fit on another machine might have it
        if tolerance is None:
            with pytest.raises(InputError, match="other scores than its evidence gives"):
                eagle.Explanation.from_dict(sealed.sealed(data))
        else:
            eagle.Explanation.from_dict(sealed.sealed(data))
            data["features"][0]["score"] *= 1.01
            with pytest.raises(InputError, match="other scores than its evidence gives"):
                eagle.Explanation.from_dict(sealed.sealed(data))
    assert Means not in TOLERANCES


@pytest.mark.parametrize("tolerance", [0.0, 1.0, -1e-3, np.nan, "1e-3"])
def test_a_tolerance_is_a_share(tolerance: Any) -> None:
    with pytest.raises(InputError, match="a tolerance is a number between 0 and 1, not"):
        eagle.files.register(tolerance=tolerance)


@dataclass(frozen=True, eq=False)
class Tune:
    """A user's own subject of explanations."""

    notes: Array
    note: str = "played slowly"


def test_a_subject_of_ones_own_is_saved_once_it_is_registered(tmp_path: Path) -> None:
    e = replace(explained(methods.LIME.surrogate), subject=Tune(np.arange(3)))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"a Tune cannot be saved.*@eagle\.files\.register"):
        e.save(tmp_path / "e.json")
    with eagle.files.registered(Tune):
        e.save(tmp_path / "e.json")
        back: Any = eagle.Explanation.load(tmp_path / "e.json").subject
        assert type(back) is Tune
        assert np.array_equal(back.notes, np.arange(3))
        assert back.note == "played slowly"
        data = e.to_dict() | {"subject": {"registered": "Tune"}}
        with pytest.raises(InputError, match="is damaged"):
            eagle.Explanation.from_dict(sealed.sealed(data))
    with pytest.raises(InputError, match="names 'Tune', which is not registered here"):
        eagle.Explanation.load(tmp_path / "e.json")


# -- not registered -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "surrogate", "name"),
    [
        ((), Means(), "Means"),
        ((), Bootstrap(Means(), 5), "Means"),
        ((Means,), Means(), "Twice"),
        ((Means, Twice), Means(sure=True), "Spread"),
    ],
    indirect=["known"],
)
@pytest.mark.usefixtures("known")
def test_it_is_not_saved(surrogate: Any, name: str, tmp_path: Path) -> None:
    e = explained(surrogate)
    for act in (e.to_dict, e.to_json, lambda: e.save(tmp_path / "e.json")):
        with pytest.raises(InputError, match=f"a {name} cannot be saved.*@eagle.files.register"):
            act()
    assert not list(tmp_path.iterdir())
    assert str(e)  # but it is shown


@pytest.mark.parametrize("known", [()], indirect=True)
@pytest.mark.usefixtures("known")
def test_a_plan_with_it_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a Means cannot be saved.*@eagle\.files\.register"):
        explainer(Means()).plan(DATA[0]).save(tmp_path / "plan.json")


@pytest.mark.parametrize("surrogate", [Means(sure=True), Bootstrap(Means(), 5)], ids=repr)
def test_it_is_not_loaded(surrogate: Any, tmp_path: Path) -> None:
    with eagle.files.registered(*ALL):
        explained(surrogate).save(tmp_path / "e.json")
        explainer(surrogate).plan(DATA[0]).save(tmp_path / "plan.json")
    said = "names 'Means', which is not registered here: import the module.*eagle.files.register"
    with pytest.raises(InputError, match=said):
        eagle.Explanation.load(tmp_path / "e.json")
    with pytest.raises(InputError, match=said):
        eagle.Plan.load(tmp_path / "plan.json")


@pytest.mark.parametrize(
    ("known", "name"), [((Means,), "Twice"), ((Means, Twice), "Spread")], indirect=["known"]
)
@pytest.mark.usefixtures("known")
def test_nor_are_its_parts(name: str) -> None:
    with eagle.files.registered(*ALL):
        text = explained(Means(sure=True)).to_json()
    with pytest.raises(InputError, match=f"names '{name}', which is not registered here"):
        eagle.Explanation.from_json(text)


@dataclass(frozen=True)
class Bomb:
    """A class that must never be built from a file."""

    made: int = 0

    def __post_init__(self) -> None:
        raise AssertionError("a file made this")


def test_what_is_not_registered_is_never_made() -> None:
    with eagle.files.registered(*ALL):
        data = explained(Means()).to_dict()
    for name in ("Bomb", f"{__name__}.Bomb", "__import__", "Explanation", "dict"):
        spoilt = sealed.sealed({**data, "surrogate": {name: {}}})
        with pytest.raises(InputError, match=r"not registered here|no part of a surrogate"):
            eagle.Explanation.from_dict(spoilt)


class Bare:
    """A surrogate that is no dataclass."""

    needs: ClassVar = NOTHING

    def room(self, n: int, d: int) -> int:
        return 0

    def on(self, rows: Rows) -> Fitter:
        return Means().on(rows)


@dataclass(frozen=True, eq=False)
class Odd:
    """A surrogate with a setting of any kind."""

    setting: Any
    needs: ClassVar = NOTHING

    def room(self, n: int, d: int) -> int:
        return 0

    def on(self, rows: Rows) -> Fitter:
        return Means().on(rows)


@pytest.mark.parametrize("known", [(Odd,)], indirect=True)
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("surrogate", "match"),
    [
        (Bare(), "of type Bare cannot be saved as a surrogate.*@dataclass"),
        (Odd({}), "of type dict cannot be saved"),
        (Odd(print), "of type builtin_function_or_method cannot be saved"),
        (Odd(Bomb), "of type type cannot be saved"),
        (Odd((1, [2])), "of type list cannot be saved"),
        (Odd(np.array([None])), "of type ndarray cannot be saved"),
        (Odd(float("inf")), "inf cannot be saved as a setting"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_in_a_sentence(surrogate: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        explained(surrogate).to_json()


@pytest.mark.parametrize("known", [(Odd, Twice)], indirect=True)
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    "setting", [None, True, 3, 0.1, "ü", (1, (2.0, "x")), (), Twice(5.0), np.int8(3)], ids=repr
)
def test_what_a_file_can_hold_comes_back(setting: Any) -> None:
    back = surrogates.read(json.loads(json.dumps(surrogates.to_dict(Odd(setting)))))
    assert isinstance(back, Odd)
    assert back.setting == setting


@pytest.mark.parametrize("known", [(Odd,)], indirect=True)
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("dtype", ["<f4", ">f8", "?", "u1", "<i8"])
def test_arrays_come_back_with_their_dtype(dtype: str) -> None:
    setting = np.array([[0, 1], [1, 1]], dtype=dtype)
    back = surrogates.read(json.loads(json.dumps(surrogates.to_dict(Odd((setting,))))))
    assert isinstance(back, Odd)
    (again,) = back.setting
    assert np.array_equal(again, setting)
    assert again.dtype == setting.dtype.newbyteorder("<")


# -- the registry itself --------------------------------------------------------------------------


def test_it_is_a_decorator_and_gives_the_class_back() -> None:
    with eagle.files.registered():

        @eagle.files.register
        @dataclass(frozen=True)
        class Local:
            size: int = 1

        assert Local(2).size == 2
        assert KINDS["Local"] is Local
        assert eagle.files.register(Local) is Local  # twice is once
    assert "Local" not in KINDS


def test_all_is_as_before_whatever_happens() -> None:
    before = dict(KINDS)

    def fails() -> None:
        with eagle.files.registered(*ALL):
            assert set(KINDS) == {*before, "Means", "Twice", "Spread"}
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert before == KINDS
    with pytest.raises(InputError), eagle.files.registered(Means, Bare):
        pass
    assert before == KINDS


def made(name: str, place: str) -> type:
    """A frozen dataclass of that name, as if a module of that name had defined it."""
    kind = type(name, (), {"__module__": place, "__annotations__": {"size": int}})
    return dataclass(frozen=True)(kind)


def test_a_class_defined_again_takes_its_own_place() -> None:
    with eagle.files.registered(made("Again", "notebook")):
        second = made("Again", "notebook")
        assert eagle.files.register(second) is second
        assert KINDS["Again"] is second


@dataclass
class Loose:
    """A dataclass that is not frozen."""

    size: int = 1


class Heir(Means):
    """It has its parent's fields, but was not made a dataclass itself."""


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        (Bare, "Bare is no dataclass.*@eagle.files.register above its @dataclass"),
        (Heir, "Heir is no dataclass"),
        (Loose, "Loose can be changed once it is made.*frozen=True"),
        (Means(), "a class is registered, not Means"),
        (3, "a class is registered, not 3"),
        (made("Ridge", "mine"), "Ridge is the name of a class of eagle itself.*another name"),
        (made("Means", "other"), "Means is the name of .*test_registry.Means in files, so other"),
    ],
)
@pytest.mark.usefixtures("known")
def test_what_cannot_be_registered(kind: Any, match: str) -> None:
    before = dict(KINDS)
    with pytest.raises(InputError, match=match):
        eagle.files.register(kind)
    assert before == KINDS


@pytest.mark.parametrize(
    ("schema", "remedy"), [(1, "explain again and save"), (99, "read it with a newer version")]
)
def test_a_schema_that_is_not_read_says_what_to_do(schema: int, remedy: str) -> None:
    with pytest.raises(InputError, match=remedy):
        eagle.Explanation.from_dict({"kind": "eagle explanation", "schema": schema})
