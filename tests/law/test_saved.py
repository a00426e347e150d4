"""Surrogates in files are read as written; anything else is refused."""

from __future__ import annotations

import contextlib
import copy
import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import eagle
from catalogue import METHODS
from eagle import methods
from eagle.files import sealed, surrogates
from eagle.files.registry import KINDS
from eagle.surrogate.bayes import BayesLinear, Prior
from eagle.surrogate.bayes_ridge import BayesRidge
from eagle.surrogate.bootstrap import Bootstrap
from eagle.surrogate.ridge import Ridge
from eagle.surrogate.robust import Robust
from eagle.surrogate.select import Auto, Forward, Highest, LassoPath

positive = st.floats(1e-9, 1e9)
number = st.floats(-1e9, 1e9)
selections = st.one_of(
    *(st.builds(kind, st.integers(1, 10**6)) for kind in (Auto, Forward, Highest, LassoPath))
)
means = st.one_of(number, st.lists(number, min_size=1, max_size=5).map(tuple))
plain = st.one_of(
    st.builds(
        BayesLinear,
        st.builds(Prior, st.none() | positive, st.none() | st.just(0.0) | positive),
        st.floats(0, 1e6),
        number,
    ),
    st.builds(Robust, st.builds(BayesLinear, st.builds(Prior, positive)), st.booleans()),
    st.builds(Ridge, positive, st.none() | selections),
    st.builds(BayesRidge, most=st.integers(1, 10**6), tolerance=st.floats(0, 1)),
    st.builds(BayesRidge, st.none() | positive, positive, means, st.booleans()),
)
every_surrogate = st.recursive(
    plain, lambda inner: st.builds(Bootstrap, inner, st.integers(2, 10**6)), max_leaves=3
)


@given(every_surrogate)
def test_every_surrogate_comes_back_as_it_was(surrogate: Any) -> None:
    data = surrogates.to_dict(surrogate)
    text = json.dumps(data, allow_nan=False)
    for again in (surrogates.read(data), surrogates.read(json.loads(text))):
        assert again == surrogate
        assert type(again) is type(surrogate)
        assert hash(again) == hash(surrogate)
        assert repr(again) == repr(surrogate)
    assert surrogates.to_dict(surrogates.read(json.loads(text))) == json.loads(text)


@pytest.mark.parametrize("name", METHODS)
def test_the_surrogate_of_every_method_can_be_saved(name: str) -> None:
    surrogate = METHODS[name].surrogate
    assert surrogates.read(json.loads(json.dumps(surrogates.to_dict(surrogate)))) == surrogate


def test_numpys_numbers_become_plain_ones() -> None:
    odd = Bootstrap(Ridge(np.float32(0.5), Auto(np.int64(3))), 5)  # type: ignore[arg-type]
    mean = tuple(np.array([1.0, 2.0], dtype=np.float32))
    for surrogate in (odd, BayesRidge(np.float64(1), np.float64(2), mean)):
        again = surrogates.read(json.loads(json.dumps(surrogates.to_dict(surrogate))))
        assert again == surrogate


# -- what was not written -----------------------------------------------------------------------

junk = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=5),
        st.sampled_from([10**400, -(10**400), "Ridge", "__class__", {"Ridge": {}}, {}, []]),
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*KINDS, "os.system", "", "_line"]), inner, max_size=2)
    ),
    max_leaves=8,
)
words = st.sampled_from(
    [
        "alpha",
        "selection",
        "prior",
        "n0",
        "sigma0",
        "slopes",
        "intercept",
        "k",
        "noise",
        "precision",
        "mean",
        "rescale",
        "most",
        "tolerance",
        "surrogate",
        "resamples",
        "_line",
    ]
)
hostile = st.one_of(
    junk,
    st.builds(
        lambda name, options: {name: options},
        st.sampled_from([*KINDS, "Method", "eval"]),
        st.dictionaries(words, junk, max_size=3),
    ),
)


def tried(data: Any) -> Any:
    """What is read, or None where it is refused in one of the three ways."""
    try:
        return surrogates.read(data)
    except (KeyError, TypeError, ValueError):
        return None


@given(hostile)
@settings(max_examples=150)
@example({"Ridge": 3})
@example({"Ridge": None})
@example({"Ridge": ["alpha"]})
@example({"Ridge": {"alpha": 10**400}})
@example({"Evidence": {"precision": 1.0, "mean": [[1.0], [2.0, 3.0]]}})
def test_junk_is_refused_or_harmless(data: Any) -> None:
    found = tried(data)
    if found is None:
        return
    # It is a value of a kind that may be named, and it can be written again and hashed.
    assert type(found).__name__ in KINDS
    assert surrogates.read(surrogates.to_dict(found)) == found or "nan" in repr(found)
    hash(found)


REFUSED: list[Any] = [
    None,
    3,
    "Ridge",
    [],
    {},
    {"Ridge": {}, "Evidence": {}},
    {"os.system": {"command": "true"}},
    {"Ridge": 3},
    {"Ridge": {"alpha": None}},
    {"Ridge": {"alpha": "1"}},
    {"Ridge": {"alpha": [1.0]}},
    {"Ridge": {"alpha": -1.0}},
    {"Ridge": {"beta": 1.0}},
    {"Ridge": {"_line": None}},
    {"Ridge": {"selection": 5}},
    {"Ridge": {"selection": {"Prior": {}}}},
    {"Ridge": {"selection": {"Auto": {"k": 0}}}},
    {"Ridge": {"selection": {"Auto": {"k": "3"}}}},
    {"Auto": {"k": 3}},
    {"Prior": {}},
    {"BayesLinear": {"prior": 3}},
    {"BayesLinear": {"prior": {"Ridge": {}}}},
    {"BayesLinear": {"n0": -1}},
    {"Bootstrap": {}},
    {"Bootstrap": {"surrogate": 3}},
    {"Bootstrap": {"surrogate": {"Auto": {"k": 3}}}},
    {"Bootstrap": {"surrogate": {"Ridge": {}}, "resamples": 1}},
    {"Evidence": {"precision": "x"}},
    {"Evidence": {"precision": 1.0, "mean": "far"}},
    {"Evidence": {"most": "many"}},
    {"Evidence": {"tolerance": None}},
]


def nested(levels: int) -> Any:
    data: Any = {"Ridge": {}}
    for _ in range(levels):
        data = {"Bootstrap": {"surrogate": data}}
    return data


@cache
def explanation() -> dict[str, Any]:
    data = np.random.default_rng(0).normal(size=(50, 3))
    ex = eagle.Explainer(lambda X: X.sum(axis=1), data, method=methods.LIME, budget=20)
    return ex.explain(data[[0]]).to_dict()


def with_surrogate(data: Any) -> dict[str, Any]:
    """The explanation with another surrogate, under a fresh seal if JSON can hold it."""
    changed = {**explanation(), "surrogate": data}
    try:
        return sealed.sealed(changed)
    except (ValueError, RecursionError):
        return changed


@pytest.mark.parametrize("data", REFUSED, ids=lambda data: repr(data)[:60])
def test_what_is_not_a_surrogate_is_refused(data: Any) -> None:
    assert tried(data) is None
    if data is not None:  # an explanation without a surrogate is another package's
        with pytest.raises(eagle.InputError, match="damaged"):
            eagle.Explanation.from_dict(with_surrogate(data))


def test_parts_within_parts_within_parts() -> None:
    assert surrogates.read(nested(3)) == Bootstrap(Bootstrap(Bootstrap(Ridge())))
    lists: Any = 1.0
    for _ in range(5000):
        lists = [lists]
    for data in (nested(5000), {"Evidence": {"precision": 1.0, "mean": lists}}):
        with pytest.raises(ValueError, match="parts within parts"):
            surrogates.read(data)
        with pytest.raises(eagle.InputError, match="damaged"):
            eagle.Explanation.from_dict(with_surrogate(data))


@given(hostile)
@settings(max_examples=60)
def test_a_hostile_surrogate_in_an_explanation_is_an_input_error(data: Any) -> None:
    try:
        found = eagle.Explanation.from_dict(with_surrogate(data))
    except eagle.InputError:
        return
    assert found.surrogate is None or type(found.surrogate).__name__ in KINDS


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every part of nested data."""
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    found = [path] if path else []
    for key, value in inner:
        deep = isinstance(value, dict | list)
        found += places(value, (*path, key)) if deep else [(*path, key)]
    return found


@given(st.randoms(use_true_random=False), junk | st.sampled_from([float("inf"), float("nan")]))
@settings(max_examples=200)
def test_any_one_thing_spoilt_is_read_or_an_input_error(chance: Any, thing: Any) -> None:
    data = copy.deepcopy(explanation())
    path = chance.choice(places(data))
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = thing
    with contextlib.suppress(ValueError, RecursionError):  # what JSON cannot hold has no checksum
        data = sealed.sealed(data)
    with contextlib.suppress(eagle.InputError):
        eagle.Explanation.from_dict(data)
