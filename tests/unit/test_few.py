"""Few paid rows: edges, files and error sentences."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
from eagle import InputError, Parts, methods
from eagle.files.explanations import FORMAT
from eagle.files.sealed import pack
from eagle.surrogate.functional import Functional
from eagle.types import Rows

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
    return eagle.Explainer(loud, WORDS, task="classification", **options).explain(TEXT)


def test_what_it_needs_is_said() -> None:
    with pytest.raises(InputError, match="needs the exact probabilities"):
        Functional().on(Rows.each_once(np.ones((3, 2)), np.ones(3)))
    for ratios in ((1.0, 2.0), (1.0, 1.0, 0.0), (1.0, 1.0, float("nan")), 3.0):
        with pytest.raises(InputError, match="three positive numbers"):
            Functional(ratios)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="match or do not"):
        eagle.Explainer(model, DATA, view="continuous", method=methods.EAGLE_PROCESS)
    with pytest.raises(InputError, match="use at most 1,024, or a method that converges"):
        eagle.Explainer(model, DATA, method=methods.EAGLE_PROCESS, budget=1100).explain(DATA[0])


def test_intervals_are_given_where_they_hold() -> None:
    assert explained().posterior is not None  # two rows for each coefficient
    assert explained(budget=19).posterior is None
    assert explained(method=methods.EAGLE_PROCESS_LOGIT).posterior is None
    table = eagle.Explainer(model, DATA, method=methods.EAGLE_PROCESS)
    assert table.using(methods.EAGLE_PROCESS, budget=16).explain(DATA[0]).posterior is not None
    assert table.using(methods.EAGLE_PROCESS, budget=15).explain(DATA[0]).posterior is None


def test_a_feature_that_never_changed_has_no_part() -> None:
    data = np.column_stack([DATA, np.ones(60)])

    def wide(X: Any) -> Any:
        return model(X[:, :3]) + 7 * X[:, 3]

    e = eagle.Explainer(wide, data, method=methods.EAGLE_PROCESS, budget=40).explain(data[0])
    assert e.posterior is not None
    assert e.scores[3] == e.posterior.std[3] == 0
    assert np.abs(e.scores[:3]).min() > 0.01


def test_a_law_in_a_file_is_checked(tmp_path: Path) -> None:
    e = explained()
    e.save(tmp_path / "e.json")
    assert eagle.Explanation.load(tmp_path / "e.json").fit.scores == pytest.approx(e.scores)
    data = json.loads(e.to_json())
    law = data["evidence"]["law"]
    wrong: dict[str, Any] = {
        "chance": pack(np.full(9, 1.5)),
        "inside": pack(np.full(8, 1.0)),
        "steps": 1,
        "sizes": pack(np.full(10, 0.2)),
    }
    for name, value in wrong.items():
        forged = copy.deepcopy(data)
        forged["evidence"]["law"] = {**law, name: value}
        with pytest.raises(InputError, match="damaged"):
            eagle.Explanation.from_dict(
                FORMAT.seal({k: v for k, v in forged.items() if k != "sha256"})
            )
    other = copy.deepcopy(data)
    other["evidence"]["law"]["sizes"] = pack(np.full(10, 0.1))
    with pytest.raises(InputError, match="other scores than its evidence gives"):
        eagle.Explanation.from_dict(FORMAT.seal({k: v for k, v in other.items() if k != "sha256"}))


def test_it_can_stop_when_sure() -> None:
    from eagle.until import Budget, Top

    ex = eagle.Explainer(
        loud, WORDS, task="classification", method=methods.EAGLE_PROCESS, budget=120
    )
    e = ex.explain(TEXT, until=Top(2) | Budget(rows=100))
    assert set(e.top(2)) == {"a", "e"}
    assert e.bill.rows <= 100


def test_prompts_are_asked_by_the_process_while_rows_are_few() -> None:
    def length(texts: list[str]) -> list[float]:
        return [float(len(text)) for text in texts]

    parts = [f"part {k}" for k in range(12)]
    ex = eagle.Explainer(length, eagle.Prompt())
    assert ex.budget == 128
    assert ex.explain(parts).method == methods.EAGLE_PROCESS.name
    for rows, name in ((24, "EAGLE (process)"), (23, "EAGLE (few rows)"), (257, "EAGLE (masks)")):
        assert ex.using(budget=rows).explain(parts).method == name
    again = ex.using(budget=30).using(random_state=5)
    assert (again.budget, again.seed, again.method) == (30, 5, ex.method)
    assert eagle.Explainer(length, eagle.Texts()).budget == 500
