"""What is wrong by its type, or too extreme, is refused in a sentence where it is given.

Each parameter of each public function and constructor is given each value of `WRONG`, while all
others are right. What comes of it is an error of this library, or something that works.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest

import calls
import eagle
import hostile
from calls import CONTRACTS, ELSEWHERE, MADE, WITHIN, Call, every
from eagle import Method
from eagle._engine.method import Choice
from eagle.errors import EagleError
from eagle.peers.foreign import Foreign
from names import public

CALLS = every()

WRONG: list[Any] = [
    *hostile.JUNK,
    *(0, 0.5, False, "a\0b", {1: 2}, [1, "a"], ["a", "b"], [[1, 2], [3]]),
    *(np.array(3), np.zeros((2, 0)), pd.NA, pd.NaT, object(), dict, iter([1])),
]

DEAR = (
    "eagle.plot.",
    "eagle.report",
    "eagle.dataset.",
    "eagle.Explainer.survey",
    "eagle.Explainer.shapley",
)
"""Calls that take long are given every third of these, each another third."""

PATHS = ("path", "out", "source", "ledger")
"""Parameters of which the system may say that there is no such file, as an OSError."""

PLAIN: dict[str, tuple[type, ...]] = {
    "int": (int, np.integer),
    "float": (int, float, np.integer, np.floating),
    "str": (str,),
    "bool": (bool, np.bool_),
    "None": (type(None),),
}


def fits(value: Any, annotation: str) -> bool:
    """Whether a value may be meant, by the annotation of its parameter."""
    words = annotation.split(" | ")
    if not set(words) <= set(PLAIN):
        return type(value) is not object
    is_flag = isinstance(value, bool | np.bool_)
    return any(isinstance(value, PLAIN[w]) and (w == "bool" or not is_flag) for w in words)


def wrong_for(name: str, call: Call, parameter: inspect.Parameter) -> Iterator[Any]:
    dear = name.startswith(DEAR)
    for value in WRONG[list(CALLS).index(name) % 3 :: 3] if dear else WRONG:
        if not (parameter.name in call.functions and callable(value)):
            yield iter([1]) if hasattr(value, "__next__") else value


def tried(call: Call, parameter: inspect.Parameter, value: Any) -> None:
    """Give one parameter one value. It is refused, or what comes back works."""
    fit = parameter.name in call.free or fits(value, str(parameter.annotation))
    refusal: str | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            made = call.run(**{**call.good, parameter.name: value})
        except EagleError as error:
            refusal = str(error)
        except OSError as error:
            refusal = f"the system says: {error}" if parameter.name in PATHS else ""
        if refusal is not None:
            assert refusal.isprintable()
            assert len(refusal.split()) >= 4, refusal
            return
        assert fit, "it was accepted"
        try:
            call.then(made)
        except EagleError:
            return  # it fits here, but not the data it meets later


def is_open(kind: Any) -> bool:
    return kind in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_wrong_is_refused_in_a_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(calls.FOLDER)
    call = CALLS[name]()
    call.then(call.run(**call.good))  # or the test would refuse everything
    for parameter in inspect.signature(call.run).parameters.values():
        for value in [] if is_open(parameter.kind) else wrong_for(name, call, parameter):
            try:
                tried(call, parameter, value)
            except BaseException as error:
                error.add_note(f"{name}({parameter.name}={hostile.ascii_of(value)[:60]})")
                raise


def public_calls() -> Iterator[str]:
    """The functions, constructors and methods that users may call."""
    for name in public():
        module, _, last = name.rpartition(".")
        thing = vars(import_module(module)).get(last, getattr(import_module(module), last))
        values = isinstance(thing, Method | Choice | Foreign)
        errors = inspect.isclass(thing) and issubclass(thing, Exception)
        if values or errors or not callable(thing) or name.startswith(CONTRACTS):
            continue
        if name not in MADE:
            yield name
        if name in MADE or thing is eagle.Explainer:
            yield from (f"{name}.{method}" for method in methods_of(thing))


def methods_of(kind: type) -> Iterator[str]:
    """The public methods of a class that take something."""
    for name in dir(kind):
        method = getattr(kind, name)
        if not name.startswith("_") and callable(method):
            own = inspect.isfunction(method)
            if len(inspect.signature(method).parameters) > own:
                yield name


def test_no_public_name_is_left_out() -> None:
    known = {name.split(" of ")[0] for name in CALLS}
    assert {name for name in public_calls() if name not in (*known, *ELSEWHERE, *WITHIN)} == set()
    assert known & {*ELSEWHERE, *WITHIN, *MADE} == set()
