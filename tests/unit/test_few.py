"""Few paid rows: edges, files and error sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import eagle
from eagle import InputError, Parts, methods
from eagle.contracts import Rows
from eagle.surrogates.functional import Functional
from tables import explainer_of

DATA = np.random.default_rng(0).normal(size=(60, 3))
WORDS = Parts(str.split, " ".join)
TEXT = "a b c d e f g h i"


def model(X: Any) -> Any:
    return X @ np.array([1.0, -2.0, 0.5])


def loud(texts: Any) -> Any:
    p = np.array([(1 + t.count("a") + t.count("e")) / 4 for t in texts])
    return np.column_stack([1 - p, p])


def explained(**settings: Any) -> eagle.Explanation:
    options = {"method": methods.EAGLE_PROCESS, "budget": 30, **settings}
    return explainer_of(loud, WORDS, task="classification", **options).explain(TEXT)


def test_what_it_needs_is_said() -> None:
    with pytest.raises(InputError, match="needs the exact probabilities"):
        Functional().on(Rows.each_once(np.ones((3, 2)), np.ones(3)))
    for ratios in ((1.0, 2.0), (1.0, 1.0, 0.0), (1.0, 1.0, float("nan")), 3.0):
        with pytest.raises(InputError, match="three positive numbers"):
            Functional(ratios)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="match or do not"):
        eagle.Explainer(model, eagle.Table(DATA, view="continuous"), method=methods.EAGLE_PROCESS)
    with pytest.raises(InputError, match="use at most 1,024, or a method that converges"):
        eagle.Explainer(model, DATA, method=methods.EAGLE_PROCESS, budget=1100).explain(DATA[0])


def test_intervals_are_given_where_they_hold() -> None:
    assert explained().posterior is not None  # two rows for each coefficient
    assert explained(budget=19).posterior is None
    logit = replace(methods.EAGLE_PROCESS, surrogate=Functional(logit=True))
    assert explained(method=logit).posterior is None
    table = eagle.Explainer(model, DATA, method=methods.EAGLE_PROCESS)
    assert (
        table.with_options(methods.EAGLE_PROCESS, budget=16).explain(DATA[0]).posterior is not None
    )
    assert table.with_options(methods.EAGLE_PROCESS, budget=15).explain(DATA[0]).posterior is None


def test_a_feature_that_never_changed_has_no_part() -> None:
    data = np.column_stack([DATA, np.ones(60)])

    def wide(X: Any) -> Any:
        return model(X[:, :3]) + 7 * X[:, 3]

    e = eagle.Explainer(wide, data, method=methods.EAGLE_PROCESS, budget=40).explain(data[0])
    assert e.posterior is not None
    assert e.scores[3] == e.posterior.std[3] == 0
    assert np.abs(e.scores[:3]).min() > 0.01


def test_it_can_stop_when_sure() -> None:
    from eagle.until import Top

    ex = eagle.Explainer(
        loud, WORDS, task="classification", method=methods.EAGLE_PROCESS, budget=120
    )
    e = ex.explain(TEXT, until=Top(2), limit=eagle.Limit(rows=100))
    assert set(e.top(2)) == {"a", "e"}
    assert e.cost.rows <= 100


def test_prompts_are_asked_by_the_process_while_rows_are_few() -> None:
    def length(texts: list[str]) -> list[float]:
        return [float(len(text)) for text in texts]

    parts = [f"part {k}" for k in range(12)]
    ex = eagle.Explainer(length, eagle.language.Prompt())
    assert ex.budget == 128
    assert ex.explain(parts).method == methods.EAGLE_PROCESS.name
    for rows, name in ((24, "EAGLE (process)"), (23, "EAGLE (few rows)"), (257, "balanced masks")):
        assert ex.with_options(budget=rows).explain(parts).method == name
    again = ex.with_options(budget=30).with_options(random_state=5)
    assert (again.budget, again.seed, again.method) == (30, 5, ex.method)
    assert eagle.Explainer(length, eagle.Texts()).budget == 500
