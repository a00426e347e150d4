"""Advice that results give can be followed: each sentence is done as it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import eagle
from catalogue import CASES, FOREIGN, METHODS, Case, budget_of, supports
from eagle import methods
from tables import explainer_of


def sentences(e: eagle.Explanation) -> list[str]:
    """All that is said of an explanation beside its scores."""
    return [*e.sheet().facts, *e.notes, *e.warnings]


def again(case: Case, row: Any, **options: Any) -> eagle.Explanation:
    """The row by another explainer of the same model and data."""
    given = {"budget": 60, **case.options, **options}
    return explainer_of(case.model, case.data, **given).explain(row)


def own_method(e: eagle.Explanation) -> dict[str, Any]:
    """The method that "…" stands for: that of the explanation. A survey is no method."""
    every: list[Any] = [*METHODS.values(), *FOREIGN.values()]
    made = [method for method in every if method.name == e.method and not e.cost.shared]
    return {"method": made[0], "budget": budget_of(made[0])} if made else {}


def in_the_other_view(e: eagle.Explanation, case: Case, row: Any) -> None:
    assert e.difference is None  # which has no other view
    assert again(case, row, view="continuous", **own_method(e)).names == e.names


def as_log_odds(e: eagle.Explanation, case: Case, row: Any) -> None:
    assert e.difference is None
    assert again(case, row, link="logit", **own_method(e)).link is not None


def in_the_other_view_by_default(e: eagle.Explanation, case: Case, row: Any) -> None:
    assert again(case, row, view="continuous", method=methods.DEFAULT).names == e.names


def as_log_odds_by_default(e: eagle.Explanation, case: Case, row: Any) -> None:
    assert again(case, row, link="logit", method=methods.DEFAULT).link is not None


def with_pairs(e: eagle.Explanation, case: Case, row: Any) -> None:
    assert isinstance(e.interactions(), tuple)


def with_more_rows(e: eagle.Explanation, case: Case, row: Any) -> None:
    assert again(case, row, budget=120).cost.rows > 0


def with_a_smaller_clip(e: eagle.Explanation, case: Case, row: Any) -> None:
    assert again(case, row, link=eagle.Logit(1e-9)).link == eagle.Logit(1e-9)


def with_presets(e: eagle.Explanation, case: Case, row: Any) -> None:
    assert callable(eagle.models.vision.Network)


def with_another_fill(e: eagle.Explanation, case: Case, row: Any) -> None:
    segments = case.data.segments
    other = Case(eagle.Images(segments, fill=0), case.model, case.options)
    assert again(other, row).names == e.names


DEFAULT = ", method=eagle.methods.DEFAULT)"

FOLLOW: dict[str, Callable[[eagle.Explanation, Case, Any], None]] = {
    'eagle.Explainer(…, eagle.Table(…, view="continuous")' + DEFAULT: in_the_other_view_by_default,
    'eagle.Explainer(…, link="logit"' + DEFAULT: as_log_odds_by_default,
    'eagle.Explainer(…, eagle.Table(…, view="continuous"))': in_the_other_view,
    'eagle.Explainer(…, link="logit")': as_log_odds,
    "explanation.interactions()": with_pairs,
    "ask more rows": with_more_rows,
    "Ask more rows": with_more_rows,
    "a larger budget helps": with_more_rows,
    "link=eagle.Logit(clip)": with_a_smaller_clip,
    "a larger survey, or explainer.explain": with_more_rows,
    "a larger survey has more of them": with_more_rows,
    "with the model at hand they are asked": with_more_rows,
    "explain it again": with_more_rows,
    "eagle.models.vision.Network": with_presets,
    "eagle.Images(fill=0)": with_another_fill,
    "fill='mean'": with_another_fill,
}

CODE = re.compile(r"\w+\(|\w+=|\beagle\.\w+")
"""What looks like advice."""


def follow(e: eagle.Explanation, case: Case, row: Any) -> set[str]:
    """Do what each sentence advises, and return which advice there was."""
    found = set()
    for sentence in sentences(e):
        rest = sentence
        for words, act in FOLLOW.items():
            if words in rest:
                act(e, case, row)
                found.add(words)
                rest = rest.replace(words, "")
        names = [*e.names, *e.conditions, str(e.method), str(e.target)]
        for name in names:
            rest = rest.replace(name, "")
        assert not CODE.search(rest), f"nobody has tried the advice in: {sentence}"
    return found


def steep(case: Case) -> Case:
    """The case with a model that a line does not fit, near 0 or 1: much is said of it."""
    if not case.binary or case.things is not None:
        return case

    def model(X: Any) -> Any:
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        p = 1 / (1 + np.exp(4 - 9 * (X[:, 0] * X[:, 1] > 0) - 3 * np.sin(4 * X[:, 2])))
        return np.column_stack([1 - p, p])

    return Case(case.data, model, case.options, case.things, case.wholes)


def results(name: str) -> Iterator[tuple[eagle.Explanation, Case, Any]]:
    method: Any = {"default": methods.DEFAULT, **METHODS, **FOREIGN}[name]
    for case in CASES.values():
        if supports(method, case) and "numbers" not in case.options:
            hard = steep(case)
            explainer = explainer_of(
                hard.model, hard.data, method=method, budget=budget_of(method), **hard.options
            )
            yield explainer.explain(hard.row(2)), hard, hard.row(2)


@pytest.mark.parametrize("name", ["default", *METHODS, *FOREIGN])
def test_advice_can_be_followed(name: str) -> None:
    for e, case, row in results(name):
        follow(e, case, row)


def test_advice_of_surveys_can_be_followed() -> None:
    found = set()
    for case in CASES.values():
        if case.things is None and case.options.get("view") != "continuous":
            hard = steep(case)
            options = {k: v for k, v in hard.options.items() if k != "view"}
            survey = explainer_of(hard.model, hard.data, **options).survey(64, progress=False)
            for i in range(4):
                found |= follow(survey.explain(hard.row(i)), hard, hard.row(i))
    assert 'eagle.Explainer(…, eagle.Table(…, view="continuous"))' in found


def test_advice_of_the_difference_of_two_surveys_can_be_followed() -> None:
    said = ""
    for name in ("numbers, binned", "mixed, binned"):
        case = CASES[name]
        options = {**case.options, "task": case.options.get("task", "regression")}
        explainer = explainer_of(case.model, case.data, **options)
        old = explainer.survey(256, progress=False).rename("old")
        for hard in (steep(case), case):
            near = old.requery(partial(nearly, hard.model, case.binary), name="new")
            for i in range(4):
                e = (near - old).explain(case.row(i))
                follow(e, case, case.row(i))
                said += " ".join(sentences(e))
    assert "Locally" in said
    assert "how the change of the answers varies" in said
    assert "the model's answers vary" not in said


def nearly(model: Callable[[Any], Any], binary: bool, X: Any) -> Any:
    """The answers of a model, a little higher where they are low."""
    y = np.asarray(model(X), dtype=float)
    if not binary:
        return y + 0.1 * np.sign(np.sin(40 * y))
    p = 0.02 + 0.98 * y[:, 1]
    return np.column_stack([1 - p, p])


def test_every_advice_that_is_followed_here_is_given_somewhere() -> None:
    found = set()
    for e, case, row in results("default"):
        found |= follow(e, case, row)
    assert len(found) >= 2
