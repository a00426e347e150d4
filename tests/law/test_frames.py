"""The table of many explanations is the tables of the single ones, one below the other.

For every kind of thing and every method of the catalogue, in memory, from a survey, and read from a
file and from the parts of a data set.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eagle
from catalogue import CASES, CHOICES, FOREIGN, METHODS, Case, budget_of, supports
from eagle import Explanations
from eagle._values.posterior import StudentT, sign_probabilities
from tables import explainer_of

SURVEYED = [
    name
    for name, case in CASES.items()
    if case.things is None and not {"view", "fixed"} & case.options.keys()
]


def law(e: Explanations, level: float = 0.9) -> None:
    """The columns in their order, and every value: texts and own values as they are."""
    found = e.to_frame(level)
    singles = [one.to_frame(level) for one in e]
    wanted = pd.concat(singles, ignore_index=True)
    assert found.columns.tolist() == ["id", *wanted.columns]
    ids = [name for name, one in zip(e.ids, singles, strict=True) for _ in range(len(one))]
    assert found["id"].tolist() == ids
    pd.testing.assert_frame_equal(
        found.drop(columns="id"), wanted, rtol=1e-9, atol=1e-9, check_dtype=len(e) > 0
    )


def explained(case: Case, method: Any, rows: int = 3) -> Explanations:
    budget = budget_of(method)
    explainer = explainer_of(case.model, case.data, method=method, budget=budget, **case.options)
    things = [case.row(i) for i in range(rows)] if case.things is not None else case.data[:rows]
    return explainer.explain_many(things, progress=False)


@pytest.mark.parametrize("name", CASES)
def test_every_kind(name: str, tmp_path: Path) -> None:
    made = explained(CASES[name], CHOICES["default"])
    law(made)
    made.save(tmp_path / "made.parquet")
    law(eagle.load(tmp_path / "made.parquet"))


@pytest.mark.parametrize("name", [*METHODS, *FOREIGN])
def test_every_method(name: str) -> None:
    every: dict[str, Any] = {**METHODS, **FOREIGN}
    method = every[name]
    case = next(case for case in CASES.values() if supports(method, case))
    made = explained(case, method, rows=2)
    law(made, 0.95)
    assert made.to_frame().columns.tolist()[:3] == ["id", "feature", "condition"]


@pytest.mark.parametrize("name", SURVEYED)
def test_surveys(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    survey = explainer_of(case.model, case.data, **case.options).survey(128, progress=False)
    made = survey.explain_many(case.data[:9], progress=False)
    law(made)
    law(made[1:6])
    law(made[[7, 0, 7]])
    made.save(tmp_path / "made.parquet")
    law(eagle.load(tmp_path / "made.parquet"))


def test_log_odds_and_what_the_survey_never_saw() -> None:
    case = CASES["numbers, binned"]
    explainer = explainer_of(case.model, case.data, link="logit", **case.options)
    survey = explainer.survey(128, progress=False)
    far = np.concatenate([case.data[:4], 100 + case.data[:2]])
    made = survey.explain_many(far, "yes", ask=False, progress=False)
    assert "odds" in made.to_frame()
    law(made)


def test_parts_of_a_data_set(tmp_path: Path) -> None:
    case = CASES["mixed, binned"]
    survey = eagle.Explainer(case.model, case.data).survey(128, progress=False)
    case.data[:50].to_parquet(tmp_path / "rows.parquet")
    made = eagle.dataset.explain(
        survey, tmp_path / "rows.parquet", tmp_path / "out", part_rows=20, progress=False
    )
    law(made)
    law(made[15:25])


spreads = st.lists(
    st.tuples(st.floats(-1e6, 1e6), st.just(0.0) | st.floats(1e-9, 1e6)), min_size=1, max_size=6
)


@given(
    st.lists(spreads, min_size=1, max_size=5), st.floats(1, 500) | st.just(np.inf), st.booleans()
)
@settings(max_examples=80)
def test_signs_of_many_are_those_of_each(rows: list[Any], df: float, pooled: bool) -> None:
    d = min(map(len, rows))
    mean, spread = np.moveaxis(np.array([row[:d] for row in rows]), 2, 0)
    many = sign_probabilities(mean, spread, np.full(len(rows), df), pooled)
    for row, (m, s) in enumerate(zip(mean, spread, strict=True)):
        alone = StudentT(m, np.diag(s**2), df, pooled=pooled)
        assert np.allclose(many[row], alone.probability_sign(), rtol=1e-9, atol=0)
