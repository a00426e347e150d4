"""Anything made of parts is explained like a text: by what is kept and what is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eagle
from eagle import peers
from eagle.spaces import EvenSizes

PRICES = {"bread": 2.0, "milk": 1.0, "wine": 9.0, "bag": 0.5}


def basket(things: Any) -> Any:
    """What baskets cost; wine is half price with bread."""
    return np.array(
        [sum(PRICES[g] for g in t) - 4.5 * ("wine" in t and "bread" in t) for t in things]
    )


def test_scores_are_what_parts_add() -> None:
    e = eagle.Explainer(
        lambda things: np.array([sum(t) for t in things]), eagle.Parts(list, tuple), budget=32
    ).explain([3.0, -1.0, 10.0, 0.0])
    assert e.names == ("3.0", "-1.0", "10.0", "0.0")
    assert np.allclose(e.scores, [3, -1, 10, 0], atol=0.5)
    assert e.top(1) == ["10.0"]
    assert e.data == (3.0, -1.0, 10.0, 0.0)


def test_fixed_parts_are_always_kept_and_never_scored() -> None:
    seen: list[Any] = []

    def model(things: Any) -> Any:
        seen.extend(things)
        return basket(things)

    source = eagle.Parts(list, tuple, fixed=[3])
    e = eagle.Explainer(model, source).explain(["bread", "milk", "wine", "bag"])
    assert e.names == ("bread", "milk", "wine")
    assert all(t[-1] == "bag" for t in seen)
    assert seen[0] == ("bread", "milk", "wine", "bag")
    assert len(set(seen)) == len(seen) <= 8  # choices of three goods, each once
    by_place = eagle.Parts(list, tuple, fixed=lambda thing: [thing.index("bag")])
    assert eagle.Explainer(model, by_place).explain(["bag", "milk"]).names == ("milk",)


def test_names_are_told_apart_and_cut() -> None:
    long = "x" * 100
    e = eagle.Explainer(lambda t: np.arange(len(t)) / 9.0, eagle.Parts(list, tuple)).explain(
        ["a", "b", "a", long]
    )
    assert e.names[:3] == ("a [0]", "b", "a [2]")
    assert len(e.names[3]) == 40
    named = eagle.Parts(list, tuple, names=lambda thing: [f"part {k}" for k in range(len(thing))])
    e = eagle.Explainer(lambda t: np.arange(len(t)) / 9.0, named).explain([{}, {}])
    assert e.names == ("part 0", "part 1")


def test_several_things_of_several_sizes_in_one_call() -> None:
    calls: list[int] = []

    def model(things: Any) -> Any:
        calls.append(len(things))
        return basket(things)

    ex = eagle.Explainer(model, eagle.Parts(list, tuple, sizes=EvenSizes()), budget=16)
    found = ex.explain_many([["bread", "wine"], ["milk", "bag", "wine"]], progress=False)
    assert [len(e.names) for e in found] == [2, 3]
    assert len(calls) == 1
    alone = ex.explain(["milk", "bag", "wine"])
    assert np.array_equal(alone.scores, found[1].scores)


def test_shown_saved_and_drawn_as_any_other_result(tmp_path: Any) -> None:
    ex = eagle.Explainer(basket, eagle.Parts(list, tuple), budget=16)
    e = ex.explain(["bread", "milk", "wine"])
    assert "wine" in str(e)
    assert "wine" in e._repr_html_()
    ax = eagle.plot.attribution(e)
    assert ax.get_title(loc="left")
    e.save(tmp_path / "e.json")
    back = eagle.Explanation.load(tmp_path / "e.json")
    assert back.names == e.names
    assert np.array_equal(back.scores, e.scores)
    assert "things, by their parts" in ex.describe()
    plan = ex.plan(["bread", "milk", "wine"])
    assert np.array_equal(plan.fit(basket(plan.inputs)).scores, e.scores)


PARTS: Any = eagle.Parts


def broken(kept: list[Any]) -> Any:
    raise KeyError(f"no way to render {len(kept)}")


@pytest.mark.parametrize(
    ("source", "thing", "message"),
    [
        (lambda: PARTS(3, tuple), ["a"], "parts must be a function"),
        (lambda: PARTS(list, "x"), ["a"], "render must be a function"),
        (lambda: PARTS(list, tuple, names=["a"]), ["a"], "names must be a function"),
        (lambda: PARTS(list, tuple, fixed=3), ["a"], "fixed, the places of parts"),
        (lambda: PARTS(list, tuple, fixed=[4]), ["a", "b"], "by places from 0 to 1"),
        (lambda: PARTS(list, tuple, fixed=[0]), ["a"], "no part to explain"),
        (lambda: PARTS(list, tuple), [], "no part to explain"),
        (lambda: PARTS(list, tuple), 3, "the function parts raised TypeError"),
        (lambda: PARTS(list, broken), ["a", "b"], "render raised KeyError for 2 of 2 parts"),
        (lambda: PARTS(list, tuple, names=lambda t: ["x"]), ["a", "b"], "1 names do not fit"),
    ],
)
def test_what_does_not_fit_is_said(source: Any, thing: Any, message: str) -> None:
    with pytest.raises(eagle.InputError, match=message):
        eagle.Explainer(basket, source()).explain(thing)


def test_tables_are_needed_elsewhere() -> None:
    with pytest.raises(eagle.InputError, match="DLIME needs a table"):
        eagle.Explainer(basket, eagle.Parts(list, tuple), method=peers.DLIME)
    with pytest.raises(eagle.InputError, match="are for tables"):
        eagle.Explainer(basket, eagle.Table(eagle.Parts(list, tuple), view="binned"))
