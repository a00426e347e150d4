"""Files that version 0.1 wrote are read, and say what could not be checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
from eagle.files import surrogates
from eagle.surrogate.bayes_ridge import BayesRidge

FILES = Path(__file__).parents[1] / "files"
SCORES = [0.1327565400953896, 0.04611365645531837, 0.03167590975500636]


def model(q: Any) -> Any:
    p = 1 / (1 + np.exp(-q[:, 0] + q[:, 1]))
    return np.column_stack([1 - p, p])


def test_an_explanation_of_before(tmp_path: Path) -> None:
    e = eagle.Explanation.load(FILES / "explanation-0.1.json")
    assert np.allclose(e.scores, SCORES, rtol=1e-12)
    assert e.posterior is not None
    assert e.posterior.kind == "robust, balanced rows"
    assert "older version" in e.warnings[0]
    assert np.isfinite(e.interval(0.9)).all()
    assert np.allclose(e.about(e.target).scores, e.scores)  # fitted again from its answers
    e.save(tmp_path / "again.json")  # still unchecked, and it still says so
    assert "older version" in eagle.Explanation.load(tmp_path / "again.json").warnings[0]


def test_a_plan_of_before_is_answered_today() -> None:
    plan = eagle.Plan.load(FILES / "plan-0.1.json")
    before = eagle.Explanation.load(FILES / "explanation-0.1.json")
    e = plan.fit(before.evidence.answers)
    assert np.allclose(e.scores, SCORES, rtol=1e-9)


def test_a_background_of_before_explains_as_it_did() -> None:
    """Its bins are those of version 0.1: a summary is kept as it was made."""
    ground = eagle.Background.load(FILES / "background-0.1.json")
    before = eagle.Explanation.load(FILES / "explanation-0.1.json")
    ex = eagle.Explainer(model, ground, budget=24, task="classification", outputs=("no", "yes"))
    e = ex.explain(list(before.data))
    assert e.conditions == before.conditions
    assert np.allclose(e.scores, SCORES, rtol=1e-9)


@pytest.mark.parametrize("name", ["explanation-0.1.json", "plan-0.1.json", "background-0.1.json"])
def test_each_is_of_its_own_kind(name: str) -> None:
    for kind in (eagle.Explanation, eagle.Plan, eagle.Background):
        if kind.__name__.lower() not in name:
            with pytest.raises(eagle.InputError, match="is not"):
                kind.load(FILES / name)


def test_a_surrogate_of_before_is_read_by_its_old_name() -> None:
    assert surrogates.from_dict({"Evidence": {"precision": 2.0}}) == BayesRidge(precision=2.0)
    assert list(surrogates.to_dict(BayesRidge())) == ["BayesRidge"]
