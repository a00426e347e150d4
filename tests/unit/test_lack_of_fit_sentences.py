"""What the line misses, in words: when it is a warning, when a line to know, and when nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eagle
from eagle import Explainer, peers
from eagle._engine.evidence import Asked
from eagle._engine.lack_of_fit import LackOfFit, Pair
from eagle._values.arrays import Array
from eagle.display import lack_of_fit
from eagle.errors import InputError
from tables import explainer_of

RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(300, 4))


def explained(model: Any, view: Any = "binned", x: Any = None, **how: Any) -> eagle.Explanation:
    x = DATA[0] if x is None else x
    return explainer_of(model, DATA, view=view, **how).explain(x)


def product(X: Any) -> Array:
    return np.asarray(np.sign(X[:, 0] * X[:, 1]))


def slope(X: Any) -> Array:
    return np.asarray(X @ [1.0, 2.0, 0.0, -1.0])


@pytest.mark.parametrize("view", ["binned", "continuous"])
def test_features_that_act_together_are_warned_of(view: str) -> None:
    e = explained(product, view, np.array([0.1, 0.1, 0.0, 0.0]))
    (told,) = e.warnings
    assert told.startswith("features act together here: ")
    assert "% of the variation is explained by a line, " in told
    assert "look at x0 × x1" in told
    assert ('view="continuous"' in told) == (view == "binned")
    assert e.lack_of_fit is not None
    assert e.lack_of_fit.pair == e.interactions(1)[0]
    for shown in (str(e), e._repr_html_()):
        assert "act together" in shown
        assert "Locally" not in shown


def test_position_alone_is_a_line_to_know() -> None:
    e = explained(slope)
    assert e.r2 < 0.55
    assert e.warnings == ()
    said = [fact for fact in e.sheet().facts if "in its bin or outside it" in fact]
    assert len(said) == 1
    assert 'view="continuous")) shows the effect of this position' in said[0]
    assert said[0] in str(e)
    straight = explained(slope, "continuous")
    assert not any("Locally" in fact for fact in straight.sheet().facts)


def shares(line: float, together: float, far: float = 0.0, **how: bool) -> LackOfFit:
    kind = {"binned": True, "masks": False} | how
    return LackOfFit(line, 1 - line - together, together, None, far, **kind)


def with_lack_of_fit(e: eagle.Explanation, m: LackOfFit) -> eagle.Explanation:
    other = replace(e)
    other.__dict__["lack_of_fit"] = m
    return other


def test_words_for_each_case() -> None:
    e = explained(slope)
    pair = replace(shares(0.09, 0.6), pair=Pair(("x0", "x3"), 0.2, 1e-9))
    assert lack_of_fit.warning(with_lack_of_fit(e, pair)) == (
        "features act together here: 9% of the variation is explained by a line, 31% by where a "
        "number lies in its bin or outside it, and 60% by features acting together. Single scores "
        'may mislead: look at x0 × x3, or try eagle.Explainer(…, eagle.Table(…, view="continuous"))'
    )
    curves = shares(0.1, 0.8, binned=False)
    assert lack_of_fit.warning(with_lack_of_fit(e, curves)) == (
        "the line misses much here: 10% of the variation is explained by it, 10% by the curves of "
        "single features, and 80% by features acting together. Single scores may mislead: look at "
        "explanation.interactions()"
    )
    parts = shares(0.2, 0.8, binned=False, masks=True)
    assert "by it, and 80% by features acting together" in lack_of_fit.warning(
        with_lack_of_fit(e, parts)
    )
    odd = shares(0.1, 0.6, far=9.0)
    assert "of this row, the model" in lack_of_fit.warning(with_lack_of_fit(e, odd))
    for calm in (shares(0.6, 0.4), shares(0.2, 0.3), shares(0.0, 0.05), shares(0.5, 0.1, far=9.0)):
        assert lack_of_fit.warning(with_lack_of_fit(e, calm)) == ""
    unknown = LackOfFit(0.2, np.nan, np.nan, None, 0.0, True, False)
    assert lack_of_fit.warning(with_lack_of_fit(e, unknown)) == ""
    assert lack_of_fit.fact(with_lack_of_fit(e, unknown)) == "What the line misses is not known"


def test_methods_without_a_line_have_no_parts() -> None:
    e = explained(slope, method=peers.TILIA)
    assert e.lack_of_fit is None
    assert e.interactions(3) == ()


@pytest.mark.parametrize("view", ["binned", "continuous"])
def test_few_rows_say_nothing(view: str) -> None:
    for budget in (1, 2, 4, 20):
        e = explained(product, view, budget=budget)
        assert e.lack_of_fit is not None
        assert not e.lack_of_fit.is_known
        assert e.interactions(2) == ()
        assert not any("act together" in w for w in e.warnings)
    flat = explained(lambda X: np.full(len(X), 0.25), view)
    assert flat.lack_of_fit is not None
    assert not flat.lack_of_fit.is_known
    assert flat.lack_of_fit.far == 0.0


@pytest.mark.parametrize("view", ["binned", "continuous"])
def test_one_feature_has_no_pairs(view: Any) -> None:
    e = eagle.Explainer(lambda X: X[:, 0] ** 3, eagle.Table(DATA[:, :1], view=view)).explain(
        DATA[0, :1]
    )
    assert e.lack_of_fit is not None
    assert e.lack_of_fit.together < 0.01
    assert e.lack_of_fit.pair is None
    assert e.interactions(5) == ()


def test_many_features_are_looked_at_in_part() -> None:
    wide = RNG.normal(size=(200, 260))
    e = eagle.Explainer(lambda X: 2 * X[:, 7] + X[:, 7] * X[:, 8], wide, budget=700).explain(
        wide[0]
    )
    assert e.lack_of_fit is not None
    assert e.lack_of_fit.is_known
    assert e.interactions(10) == ()
    assert explained(slope, budget=500).interactions(99)[5:] != ()


def test_columns_that_say_the_same_are_no_harm() -> None:
    e = explained(slope)
    assert isinstance(e.evidence, Asked)
    twice = replace(
        e,
        names=e.names + e.names,
        scores=np.tile(e.scores, 2),
        evidence=replace(
            e.evidence,
            points=np.tile(e.evidence.points, 2),
            features=np.tile(e.evidence.features, 2),
            moves=type(e.evidence.moves)(  # type: ignore[misc]
                e.evidence.moves.tables * 2,  # type: ignore[union-attr]
                np.tile(e.evidence.moves.own, 2),  # type: ignore[union-attr]
                e.evidence.moves.coded * 2,  # type: ignore[union-attr]
            ),
        ),
    )
    assert e.lack_of_fit is not None
    assert twice.lack_of_fit is not None
    assert twice.lack_of_fit.line == pytest.approx(e.lack_of_fit.line, abs=1e-6)


def test_k_is_checked() -> None:
    with pytest.raises(InputError, match="k must be an integer of at least 1"):
        explained(slope).interactions(0)


# -- probabilities --------------------------------------------------------------------------------


def chance(X: Any) -> Array:
    p = 1 / (1 + np.exp(-6 * X[:, 0] - 6 * X[:, 1]))
    return np.column_stack([1 - p, p])


@pytest.mark.parametrize("view", ["binned", "continuous"])
def test_no_probability_beyond_its_ends_is_printed(view: str) -> None:
    x = np.array([2.0, 2.0, 0.0, 0.0])
    e = explained(chance, view, x, task="classification")
    beyond = replace(e, local_prediction=1.6)
    below = replace(e, prediction=1e-4, local_prediction=-0.2)
    assert "Fitted value here: more than 1" in str(beyond)
    assert "Fitted value here: less than 0" in str(below)
    assert "1.6" not in str(beyond)
    for one in (e, beyond, below):
        assert sum('link="logit"' in fact for fact in one.sheet().facts) == 1
    middle = replace(e, prediction=0.5, local_prediction=0.6)
    assert "Fitted value here: 0.6" in str(middle)
    assert not any("logit" in fact for fact in middle.sheet().facts)
    number = explained(lambda X: 5 * X[:, 0], view)
    assert "logit" not in str(number)


# -- files ----------------------------------------------------------------------------------------


def test_plans_that_are_answered_later_keep_their_moves(tmp_path: Path) -> None:
    plan = eagle.Explainer(slope, DATA, task="regression").plan(DATA[0])
    plan.save(tmp_path / "plan.json")
    later = eagle.Plan.load(tmp_path / "plan.json").fit(slope(plan.inputs))
    assert later.lack_of_fit == plan.fit(slope(plan.inputs)).lack_of_fit


def test_many_levels_are_not_features_that_act_together() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 100, 800)
    table = pd.DataFrame({"city": pd.Categorical(codes), "a": rng.normal(size=800)})
    effect = 2 * rng.normal(size=100)

    def model(x: Any) -> Any:
        return effect[x["city"].astype(int)] + 0.3 * x["a"]

    for e in Explainer(model, table, task="regression").explain_many(table.iloc[:4]):
        assert e.lack_of_fit is not None
        assert e.lack_of_fit.together < 0.05
        assert not e.warnings


def test_a_line_of_a_heavy_tail_does_not_jump() -> None:
    rng = np.random.default_rng(1)
    data = np.c_[rng.lognormal(0, 2, 800), rng.normal(size=800)]
    explainer = Explainer(lambda x: x.sum(axis=1), data, task="regression")
    assert not any(e.warnings for e in explainer.explain_many(data[:4]))


def test_a_jump_that_hardly_any_row_met_is_said() -> None:
    def model(x: Any) -> Any:
        p = 0.1 + 1e-5 * np.tanh(x[:, 1]) + 0.8 * (x[:, 0] > 2.6)
        return np.c_[1 - p, p]

    data = np.random.default_rng(0).normal(size=(300, 8))
    for seed in range(6):
        explainer = Explainer(model, eagle.Table(data, view="continuous"), random_state=seed)
        e = explainer.explain(np.zeros(8), 1)
        assert any("jump" in w for w in e.warnings)
        assert e.probability_sign()[1] < 0.9


def test_what_no_row_met_is_unknown_where_answers_have_no_bounds() -> None:
    said = "a jump that affects fewer than 1 in 166 rows could have gone unseen"
    assert said in str(explained(slope))
    assert said not in str(explained(lambda X: 1 / (1 + np.exp(-X[:, 0])), task="classification"))
    every = Explainer(lambda texts: np.array([float(len(t)) for t in texts]), eagle.Texts())
    assert "no bounds" not in str(every.explain("good and bad"))  # all masks were asked
    flags = np.random.default_rng(0).integers(0, 2, (100, 3)).astype(float)
    few = Explainer(lambda X: X.sum(axis=1), flags).explain(flags[0])
    assert len(few.evidence.answers) <= 8  # there are no other rows
    assert "no bounds" not in str(few)
