"""What every method guarantees in every space."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import eagle
from catalogue import (
    CASES,
    CERTAIN,
    CHOICES,
    FOREIGN,
    METHODS,
    PENALISED,
    Case,
    Recorder,
    budget_of,
    supports,
)
from eagle import Method, peers
from eagle._engine.method import Choice
from eagle._tables.read import frame
from eagle._values.posterior import Bounds, StudentT
from eagle.contracts import Need
from eagle.cost import Cost
from eagle.peers.foreign import Foreign
from eagle.surrogates.bayes import BayesLinear
from tables import explainer_of

PAIRS = [
    pytest.param(method, case, id=f"{name} | {place}")
    for name, method in (METHODS | CHOICES | FOREIGN).items()
    for place, case in CASES.items()
    if supports(method, case)
]
pytestmark = pytest.mark.parametrize(("method", "case"), PAIRS)


def explainer(
    case: Case, method: Method | Choice | Foreign, model: Any = None, **options: Any
) -> eagle.Explainer:
    settings = {"method": method, "budget": budget_of(method), **case.options, **options}
    return explainer_of(case.model if model is None else model, case.data, **settings)


EXPLAINED: dict[tuple[int, int], eagle.Explanation] = {}


def explained(case: Case, method: Method | Choice | Foreign) -> eagle.Explanation:
    """Row 3, explained once for all tests that change nothing of it."""
    key = id(case), id(method)
    if key not in EXPLAINED:
        EXPLAINED[key] = explainer(case, method).explain(case.row(3))
    return EXPLAINED[key]


def count(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def flat(X: Any) -> pd.DataFrame:
    """What the model was asked, a row each."""
    if isinstance(X, pd.DataFrame):
        return X
    if sparse.issparse(X):
        return pd.DataFrame(X.toarray())
    return pd.DataFrame(X if isinstance(X, list) else X.reshape(len(X), -1))


def same(a: Any, b: Any) -> bool:
    if isinstance(a, pd.DataFrame):
        return bool(a.equals(b) and (a.dtypes == b.dtypes).all())
    if sparse.issparse(a):
        a, b = a.toarray(), b.toarray()
    return bool(a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def content(e: eagle.Explanation) -> dict[str, Any]:
    """Everything in an explanation except its cost."""
    free = replace(e, cost=Cost())
    return {k: v for k, v in free.to_dict().items() if k != "sha256"}


def test_one_finite_score_a_feature_and_a_positive_covariance(
    case: Case, method: Method | Choice | Foreign
) -> None:
    e = explained(case, method)
    frozen = case.options.get("fixed", [])
    if case.things is None:
        groups = case.options.get("groups", {})
        group = {member: name for name, members in groups.items() for member in members}
        features = dict.fromkeys(group.get(n, n) for n in frame(case.data).names)
        place = "" if hasattr(case.data, "columns") else "x"
        assert e.names == tuple(f"{place}{n}" for n in features if n not in frozen)
    assert e.scores.shape == (len(e.names),)
    assert np.isfinite(e.scores).all()
    moved = np.ptp(e.evidence.features, axis=0) > 0
    if isinstance(e.posterior, StudentT):
        scale = e.posterior.scale
        assert np.linalg.eigvalsh(scale[np.ix_(moved, moved)]).min() > 0
        assert np.allclose(scale, scale.T, rtol=1e-12, atol=0)


def test_the_budget_is_kept_the_bill_is_true_and_the_instance_comes_first(
    case: Case, method: Method | Choice | Foreign
) -> None:
    model = Recorder(case.model)
    e = explainer(case, method, model).explain(case.row(3))
    asked = model.asked[0]
    rows = sum(count(part) for part in model.asked)
    assert rows == e.cost.rows == len(e.evidence.answers) <= budget_of(method)
    assert e.cost.calls == len(model.asked)
    if method.planned or method in (peers.SHAP_KERNEL, peers.SHAP_PERMUTATION):
        assert e.cost.calls == 1
    row = case.row(3)
    if case.things is not None:
        assert np.array_equal(asked[0], row if case.wholes is None else case.wholes[3])
        return
    first = asked.iloc[[0]].reset_index(drop=True) if hasattr(asked, "iloc") else asked[[0]]
    assert same(first, row.reset_index(drop=True) if hasattr(row, "iloc") else row)


def test_no_row_is_asked_twice(case: Case, method: Method | Choice | Foreign) -> None:
    model = Recorder(case.model)
    explainer(case, method, model, budget=3 * budget_of(method)).explain(case.row(3))
    assert not pd.concat([flat(part) for part in model.asked]).duplicated().any()


def test_the_model_gets_its_own_form(case: Case, method: Method | Choice | Foreign) -> None:
    model = Recorder(case.model)
    explainer(case, method, model).explain(case.row(3))
    asked = model.asked[0]
    if case.things is not None:
        assert type(asked) is type(case.things)
        assert isinstance(asked, list) or asked.dtype == case.things.dtype
        return
    assert type(asked) is type(case.data)
    if isinstance(asked, pd.DataFrame):
        assert list(asked.columns) == list(case.data.columns)
        assert (asked.dtypes == case.data.dtypes).all()
    else:
        assert asked.dtype == case.data.dtype


def test_the_seed_decides_everything(case: Case, method: Method | Choice | Foreign) -> None:
    one, two = explainer(case, method), explainer(case, method)
    two.explain(case.row(9))  # an earlier explanation must not matter
    first = explained(case, method)
    assert content(first) == content(two.explain(case.row(3)))
    assert content(one.explain(case.row(3))) == content(one.explain(case.row(3)))
    other = explainer(case, method, random_state=1).explain(case.row(3))
    every_coalition = method.name == "Kernel SHAP" and len(other.names) < 6
    if method.name in CERTAIN or every_coalition:
        assert content(replace(other, seed=0)) == content(first)
        return
    assert not np.array_equal(other.evidence.points, first.evidence.points)


def test_alone_or_in_company(case: Case, method: Method | Choice | Foreign) -> None:
    ex = explainer(case, method, batch_rows=3 * budget_of(method))
    every = case.data if case.things is None else case.things
    rows = every.iloc[:4] if hasattr(every, "iloc") else every[:4]
    together = ex.explain_many(rows, progress=False)
    assert len(together) == 4
    assert content(explainer(case, method).explain(case.row(0))) == content(together[0])
    assert content(explained(case, method)) == content(together[3])


def test_points_do_not_depend_on_the_model(case: Case, method: Method | Choice | Foreign) -> None:
    def still(X: Any) -> Any:
        return np.zeros_like(case.model(X)) + 0.5

    e = explained(case, method)
    silent = explainer(case, method, still).explain(case.row(3))
    if method.planned:
        assert np.array_equal(e.evidence.points, silent.evidence.points)
    assert np.isfinite(silent.scores).all()
    if method.name not in PENALISED:
        assert np.abs(silent.scores).max() <= (1e-12 if isinstance(method, Foreign) else 0)


def test_plans_are_nested(case: Case, method: Method | Choice | Foreign) -> None:
    if not method.planned:
        with pytest.raises(eagle.InputError, match="plan"):
            explainer(case, method).plan(case.row(3))
        return
    if method is peers.DLIME:  # the whole cluster or nothing
        with pytest.raises(eagle.InputError, match="more than the budget"):
            explainer(case, method, budget=25).plan(case.row(3))
        return
    short = explainer(case, method, budget=25).plan(case.row(3))
    long = explainer(case, method).plan(case.row(3))
    n = short.rows
    if isinstance(method, Choice):  # another budget may be another law; plans that grow are nested
        few = explainer(case, method).with_options(budget=30)
        grown = few.explain(case.row(3), until=eagle.until.Width(1e-9))
        assert grown.cost.rows <= 30
        return
    if isinstance(method, Method) and not method.nested:
        assert not np.array_equal(short.planned.points, long.planned.points[:n])
        with pytest.raises(eagle.InputError, match="leave out until"):
            explainer(case, method).explain(case.row(3), until=eagle.until.Width(1e-9))
        return
    assert np.array_equal(short.planned.points, long.planned.points[:n])


def test_plan_then_fit_is_explain(case: Case, method: Method | Choice | Foreign) -> None:
    if not method.planned:
        return
    plan = explainer(case, method).plan(case.row(3))
    assert plan.rows <= budget_of(method)
    assert content(plan.fit(case.model(plan.inputs))) == content(explained(case, method))


def test_what_is_given_is_never_changed(case: Case, method: Method | Choice | Foreign) -> None:
    data, row = copy.deepcopy(case.data), case.row(3)
    kept = copy.deepcopy(row)
    if case.things is not None:
        explainer(case, method).explain(row)
        assert np.array_equal(row, kept)
        return
    ex = explainer_of(case.model, data, method=method, budget=budget_of(method), **case.options)
    ex.explain(row)
    assert same(data, case.data)
    assert same(row, kept)


def test_nobody_can_write_into_what_explanations_share(
    case: Case, method: Method | Choice | Foreign
) -> None:
    before = explained(case, method).scores.copy()
    e = explainer(case, method).explain(case.row(3))
    shared = [e.evidence.points, e.evidence.features, e.evidence.weight]
    if isinstance(method, Method) and isinstance(method.surrogate, BayesLinear):
        assert isinstance(e.posterior, StudentT)
        shared.append(e.posterior.factor)
    for array in shared if isinstance(method, Method) else ():  # others share nothing
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    e.scores[:] = 99  # its own, and of no consequence to others
    e.evidence.answers[:] = 99
    assert np.array_equal(explainer(case, method).explain(case.row(3)).scores, before)


def test_pickled_and_back(case: Case, method: Method | Choice | Foreign) -> None:
    ex = explainer(case, method)
    e = ex.explain(case.row(3))
    again = pickle.loads(pickle.dumps(ex)).explain(case.row(3))
    assert content(again) == content(e)
    assert content(pickle.loads(pickle.dumps(e))) == content(e)


def test_saved_and_loaded(case: Case, method: Method | Choice | Foreign, tmp_path: Any) -> None:
    e = explained(case, method)
    e.save(tmp_path / "e.json")
    back = eagle.Explanation.load(tmp_path / "e.json")
    assert back.to_dict() == e.to_dict()
    assert np.array_equal(back.scores, e.scores)
    if isinstance(method, Foreign):
        with pytest.raises(eagle.InputError, match="explain anew"):
            back.about(e.outputs[-1])
        return
    assert np.array_equal(back.about(e.outputs[-1]).scores, e.about(e.outputs[-1]).scores)


def test_a_constant_added_to_the_answers_moves_only_a_free_intercept(
    case: Case, method: Method | Choice | Foreign
) -> None:
    if method.needs & {Need.PROBABILITIES, Need.BINARY} or method is FOREIGN["calibrated"]:
        return  # such answers cannot be moved
    regression = {"task": "regression", "outputs": None}

    def one(X: Any) -> Any:
        return np.asarray(case.model(X)).reshape(count(X), -1)[:, -1]

    e = explainer(case, method, one, **regression).explain(case.row(3))
    up = explainer(case, method, lambda X: one(X) + 1000.0, **regression).explain(case.row(3))
    free = method.name not in PENALISED
    # A penalised intercept leaks the base rate into the slopes: that is why it is not the default.
    assert np.allclose(up.scores, e.scores, atol=1e-6) == free
    if np.isfinite(e.intercept):
        assert np.isclose(up.intercept - e.intercept, 1000.0) == free


def test_an_interval_is_real_or_refused(case: Case, method: Method | Choice | Foreign) -> None:
    e = explained(case, method)
    if e.posterior is None:
        with pytest.raises(eagle.InputError, match="without intervals"):
            e.interval()
        assert e.to_frame()["low"].isna().all()
    else:
        bounds = e.posterior if isinstance(e.posterior, Bounds) else None
        low, high = (e.interval(0.9) if bounds is None else e.interval_or_nan()).T
        assert np.isfinite([low, high]).all()
        assert (low <= high).all()
    if not e.signed:
        assert (e.scores >= 0).all()
        with pytest.raises(eagle.InputError, match="no sign"):
            e.probability_sign()
    for form in (str(e), e._repr_html_()):
        assert len(form) < 30_000
