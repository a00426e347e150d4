"""Other packages through our door: their numbers unchanged, every row in the cost."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import shap
from matplotlib.figure import Figure
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

import eagle
from eagle import Explainer, InputError, peers
from eagle._tables import neighbours
from eagle._values.posterior import Bounds
from eagle.errors import MissingExtraError, ModelError
from eagle.peers.foreign import Foreign
from tables import explainer_of

with np.errstate():  # a package below it changes what numpy says of errors, for all
    from calibrated_explanations import WrapCalibratedExplainer

D = 6
SEED = 5


class Counting:
    """A model's probabilities of classes, or its predictions, and what they cost so far."""

    def __init__(self, model: Any) -> None:
        self.model, self.rows, self.calls = model, 0, 0
        self.kinds: set[Any] = set()

    def __call__(self, X: Any) -> Any:
        self.rows += len(X)
        self.calls += 1
        self.kinds.add(type(X))
        ask = getattr(self.model, "predict_proba", None) or self.model.predict
        return ask(X)


def _two() -> tuple[Any, Any, Any]:
    found = make_classification(160, D, random_state=0)
    X, y = found[0], found[1]
    return RandomForestClassifier(8, random_state=0).fit(X[:80], y[:80]), X[80:], y[80:]


def _three() -> tuple[Any, Any, Any]:
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    return RandomForestClassifier(8, random_state=0).fit(X[:60], y[:60]), X[60:], y[60:]


def _numbers() -> tuple[Any, Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return RandomForestRegressor(8, random_state=0).fit(X[:80], y[:80]), X[80:180], y[80:180]


TWO, THREE, NUMBERS = _two(), _three(), _numbers()
METHODS: dict[str, Foreign] = {
    "kernel": peers.SHAP_KERNEL,
    "permutation": peers.SHAP_PERMUTATION,
    "calibrated": peers.calibrated_explanations(TWO[2]),
}
every = pytest.mark.parametrize("name", METHODS)


def two(method: Foreign, **options: Any) -> tuple[Counting, Explainer]:
    model = Counting(TWO[0])
    given = {"task": "classification", "outputs": (0, 1), "random_state": SEED, **options}
    return model, explainer_of(model, TWO[1], method=method, **given)


def refused(model: Counting, act: Callable[[], Any], rows: int = 0) -> str:
    """The sentence of a refusal before the model saw more than so many rows."""
    with pytest.raises(InputError) as caught:
        act()
    assert model.rows == rows
    return str(caught.value)


# -- their numbers ------------------------------------------------------------------------------


def background(X: Any) -> Any:
    return X[np.linspace(0, len(X) - 1, 10).round().astype(int)]


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("budget", [200, 500])
def test_kernel_shap(target: int, budget: int) -> None:
    """200 rows buy 18 coalitions of 62, drawn by chance; 500 buy 48."""
    _, explainer = two(peers.SHAP_KERNEL, budget=budget)
    e = explainer.explain(TWO[1][3], target)
    np.random.seed(SEED)  # noqa: NPY002
    direct = shap.KernelExplainer(lambda X: TWO[0].predict_proba(X)[:, target], background(TWO[1]))
    values = direct.shap_values(
        TWO[1][[3]], nsamples=(budget - 11) // 10, l1_reg=False, silent=True
    )
    assert np.array_equal(e.scores, values[0])
    assert e.intercept == direct.expected_value
    assert np.isclose(e.intercept + e.scores.sum(), e.prediction)
    assert e.local_prediction == e.intercept + e.scores.sum()
    assert e.signed
    assert e.posterior is None


@pytest.mark.parametrize("budget", [150, 500])
def test_permutation_shap(budget: int) -> None:
    _, explainer = two(peers.SHAP_PERMUTATION, budget=budget)
    e = explainer.explain(TWO[1][3], 1)
    rows = background(TWO[1])
    direct = shap.PermutationExplainer(
        lambda X: TWO[0].predict_proba(X)[:, 1], shap.maskers.Independent(rows), seed=SEED
    )
    found = direct(TWO[1][[3]], max_evals=(budget - 11) // 10, silent=True)
    assert np.array_equal(e.scores, found.values[0])
    assert e.intercept == found.base_values[0]


def test_shap_of_one_class_against_another_and_of_a_regression() -> None:
    model, X, _ = THREE
    e = Explainer(model, X, method=peers.SHAP_KERNEL).explain(X[0], (1, 2))

    def margin(X: Any) -> Any:
        return model.predict_proba(X) @ [0.0, 1.0, -1.0]

    values = shap.KernelExplainer(margin, background(X)).shap_values(
        X[[0]], nsamples=48, l1_reg=False, silent=True
    )
    assert np.allclose(e.scores, values[0], rtol=0, atol=1e-12)
    model, X, _ = NUMBERS
    e = Explainer(model, X, method=peers.SHAP_PERMUTATION).explain(X[0])
    masker = shap.maskers.Independent(background(X))
    found = shap.PermutationExplainer(model.predict, masker, seed=0)(
        X[[0]], max_evals=48, silent=True
    )
    assert np.array_equal(e.scores, found.values[0])


def factual(model: Any, X: Any, y: Any, x: Any, **options: Any) -> Any:
    """What the package itself says of a row, from its own defaults."""
    explainer = WrapCalibratedExplainer(model).calibrate(X, y, **options)
    return explainer.explain_factual(x[None])[0]


def same(e: eagle.Explanation, direct: Any) -> bool:
    assert isinstance(e.posterior, Bounds)
    ours = (e.scores, e.posterior.low, e.posterior.high)
    theirs = (direct.feature_weights[k] for k in ("predict", "low", "high"))
    return all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_calibrated_explanations_of_two_classes() -> None:
    _, explainer = two(METHODS["calibrated"])
    model, X, y = TWO
    for x in X[:5]:
        e, direct = explainer.explain(x, 1), factual(model, X, y, x)
        assert same(e, direct)
        assert e.prediction == model.predict_proba(x[None])[0, 1]  # not the calibrated one
        rules = direct.get_rules()
        by_rule = dict(zip(rules["feature"], rules["weight"], strict=True))
        assert e.scores.tolist() == [by_rule.get(j, 0.0) for j in range(D)]
        other = explainer.explain(x, 0)
        assert np.array_equal(other.scores, -e.scores)
        assert np.array_equal(other.interval_or_nan(), -e.interval_or_nan()[:, ::-1])
        assert not np.signbit(other.scores[other.scores == 0]).any()


def test_calibrated_explanations_of_three_classes() -> None:
    model, X, y = THREE
    names = np.array(["setosa", "versicolor", "virginica"])
    explainer = Explainer(
        model,
        X,
        outputs=names.tolist(),
        method=peers.calibrated_explanations(names[y]),
        random_state=SEED,
    )
    for x in X[:5]:
        direct = factual(model, X, y, x)
        assert same(explainer.explain(x, names[int(direct.prediction["classes"])]), direct)
    whole = WrapCalibratedExplainer(model).calibrate(X, y)
    told = whole.explain_factual(X[:1], multi_labels_enabled=True)
    for k, name in enumerate(names):
        assert same(explainer.explain(X[0], name), told.explanations[0][k])
    e = explainer.explain(X[0])
    assert e.target == names[model.predict_proba(X[:1])[0].argmax()]


def test_calibrated_explanations_of_a_regression() -> None:
    model, X, y = NUMBERS
    counting = Counting(model)
    e = Explainer(counting, X, method=peers.calibrated_explanations(y), random_state=SEED).explain(
        X[0]
    )
    assert same(e, factual(model, X, y, X[0], seed=SEED))
    assert np.array_equal(e.interval(0.9), e.interval_or_nan())
    assert "known at the level 0.9" in refused(counting, e.interval, counting.rows)
    assert "90% interval" in str(e)


def mixed() -> tuple[pd.DataFrame, Any, Any]:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "income": rng.normal(50, 10, 120),
            "town": rng.choice(["Bonn", "Graz", "Metz"], 120),
            "grade": pd.Categorical(rng.choice(list("ABC"), 120), list("ABC"), ordered=True),
            "children": rng.integers(0, 4, 120),
        }
    )
    bought = (table["town"] == "Graz") | ((table["grade"] == "A") & (table["income"] > 45))
    levels = ("levels", OneHotEncoder(), ["town", "grade"])
    parts = ColumnTransformer([levels], remainder="passthrough")
    forest = RandomForestClassifier(8, random_state=0)
    y = np.where(bought, "buys", "leaves")
    return table, y, make_pipeline(parts, forest).fit(table, y)


@every
def test_categories_are_codes_for_them_and_themselves_for_the_model(name: str) -> None:
    table, y, pipeline = mixed()
    codes = table.assign(
        town=table["town"].map({"Bonn": 0, "Graz": 1, "Metz": 2}), grade=table["grade"].cat.codes
    ).to_numpy(float)

    class Coded:
        """The pipeline as a model of codes."""

        def __init__(self) -> None:
            self.classes_ = pipeline.classes_

        def fit(self, X: Any, y: Any) -> None: ...

        def predict(self, X: Any) -> Any:
            return self.classes_[self.predict_proba(X).argmax(axis=1)]

        def predict_proba(self, X: Any) -> Any:
            X = pd.DataFrame(X, columns=table.columns)
            X["town"] = X["town"].map({0: "Bonn", 1: "Graz", 2: "Metz"})
            X["grade"] = pd.Categorical.from_codes(X["grade"].astype(int), list("ABC"))
            return pipeline.predict_proba(X)

    method = peers.calibrated_explanations(y) if name == "calibrated" else METHODS[name]
    model = Counting(pipeline)
    e = Explainer(model, table, method=method, outputs=pipeline.classes_).explain(
        table.iloc[[4]], "leaves"
    )
    assert model.kinds == {pd.DataFrame}
    assert e.data[1] == table["town"][4]
    rows, x = background(codes), codes[[4]]
    if name == "kernel":
        np.random.seed(0)  # noqa: NPY002
        coded = Coded()
        direct = shap.KernelExplainer(lambda X: coded.predict_proba(X)[:, 1], rows)
        expected = direct.shap_values(x, nsamples=48, l1_reg=False, silent=True)[0]
    elif name == "permutation":
        coded = Coded()
        permuted = shap.PermutationExplainer(
            lambda X: coded.predict_proba(X)[:, 1], shap.maskers.Independent(rows), seed=0
        )
        expected = permuted(x, max_evals=48, silent=True).values[0]
    else:
        told = factual(Coded(), codes, y, x[0], categorical_features=[1, 2])
        expected = told.feature_weights["predict"]
    assert np.array_equal(e.scores, expected)


def test_labels_are_thinned_as_the_rows_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "MAX_CLUSTERED_ROWS", 50)
    model, explainer = two(METHODS["calibrated"])
    kept = np.linspace(0, 79, 50).round().astype(int)
    assert same(
        explainer.explain(TWO[1][1], 1), factual(TWO[0], TWO[1][kept], TWO[2][kept], TWO[1][1])
    )
    assert model.rows <= 1 + 50 + 6 * D


# -- the cost -----------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("budget", [160, 333, 1000])
def test_every_row_is_on_the_bill_and_none_beyond_the_budget(name: str, budget: int) -> None:
    model, explainer = two(METHODS[name], budget=budget, batch_rows=50)
    e = explainer.explain(TWO[1][0])
    assert (e.cost.rows, e.cost.calls) == (model.rows, model.calls)
    assert model.rows <= budget
    assert len(e.evidence.answers) == model.rows
    assert np.array_equal(e.evidence.points[0], TWO[1][0])
    assert np.array_equal(e.evidence.answers, TWO[0].predict_proba(e.evidence.points))
    assert len(np.unique(e.evidence.points, axis=0)) == model.rows  # no row twice
    if name == "calibrated":  # the background, with the instance, and rows with one value moved
        assert np.array_equal(e.evidence.points[:80], TWO[1])
        assert ((e.evidence.points[80:] != TWO[1][0]).sum(axis=1) == 1).all()


@every
@pytest.mark.filterwarnings("ignore:Linear regression equation is singular")  # with so few rows
def test_the_least_budget_is_named_and_is_enough(name: str) -> None:
    model, explainer = two(METHODS[name], budget=1)
    said = refused(model, lambda: explainer.explain(TWO[1][0]))
    found = re.search(r"needs a budget of at least (\d+) rows here, not 1", said)
    assert found is not None
    least = int(found[1])
    model, explainer = two(METHODS[name], budget=least - 1)
    refused(model, lambda: explainer.explain(TWO[1][0]))
    model, explainer = two(METHODS[name], budget=least)
    assert explainer.explain(TWO[1][0]).cost.rows == model.rows <= least


# -- refusals, each before the model is asked -----------------------------------------------------


@every
def test_missing_values_are_refused(name: str) -> None:
    holed, x = TWO[1].copy(), TWO[1][0].copy()
    holed[7, 2] = x[2] = np.nan
    model = Counting(TWO[0])
    options: dict[str, Any] = {"method": METHODS[name], "outputs": (0, 1)}
    said = refused(model, lambda: explainer_of(model, holed, **options).explain(TWO[1][0]))
    assert "needs a background without missing values" in said
    said = refused(model, lambda: explainer_of(model, TWO[1], **options).explain(x))
    assert "needs a row without missing values" in said


def test_labels_that_do_not_fit_are_refused() -> None:
    def said(labels: Any, x: Any = TWO[1][0], target: Any = None, **options: Any) -> str:
        model, explainer = two(peers.calibrated_explanations(labels), **options)
        return refused(model, lambda: explainer.explain(x, target))

    y = TWO[2]
    assert "79 labels came for 80 rows" in said(y[1:])
    assert "the model has no output 7; it has 0, 1" in said(np.where(y == 1, 7, 0))
    assert "needs rows of every class, but no label is 1" in said(np.zeros(80, dtype=int))
    assert "explains one output, not one against another" in said(y, target=(0, 1))
    assert "no column can be frozen" in said(y, fixed=[2])
    numbers: dict[str, Any] = {"task": "regression", "outputs": ("a", "b")}
    assert "labels that are numbers in a regression" in said(y.astype(str), **numbers)
    assert "labels that are numbers in a regression" in said([np.nan, *y[1:]], **numbers)
    with pytest.raises(InputError, match="a label is a class or a number"):
        peers.calibrated_explanations(y[:, None])
    model = Counting(TWO[0])
    flat = Explainer(model, np.ones((80, D)), outputs=(0, 1), method=METHODS["calibrated"])
    assert "a feature that varies" in refused(model, lambda: flat.explain(np.ones(D)))


def test_margins_are_not_calibrated() -> None:
    machine = LinearSVC().fit(TWO[1], TWO[2])
    explainer = Explainer(machine, TWO[1], method=METHODS["calibrated"])
    with pytest.raises(InputError, match=r"needs class probabilities, not LinearSVC\.decision"):
        explainer.explain(TWO[1][0])


def test_what_only_an_answer_shows_is_refused_after_the_first() -> None:
    """A bare function does not say which classes it has, or whether it has any."""
    model = Counting(TWO[0])
    labels = np.where(TWO[2] == 1, "yes", "no")
    explainer = Explainer(model, TWO[1], method=peers.calibrated_explanations(labels))
    said = refused(model, lambda: explainer.explain(TWO[1][0]), rows=1)
    assert "the model has no output" in said


@every
def test_a_missing_package_is_named_before_anything_is_asked(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = "calibrated_explanations" if name == "calibrated" else "shap"
    monkeypatch.setitem(sys.modules, package, None)
    model, explainer = two(METHODS[name])
    with pytest.raises(MissingExtraError, match=r"needs the package .* pip install 'eagle-xai\["):
        explainer.explain(TWO[1][0])
    assert model.rows == 0


@pytest.mark.parametrize(("last", "seen"), [(0, 1), (1, 80), (80, 80 + 4 * D)])
def test_what_the_model_raises_comes_through_and_it_is_not_asked_again(
    last: int, seen: int
) -> None:
    """At once, in the calibration, which the package reports as its own error, or later."""
    model = Counting(TWO[0])

    def breaking(X: Any) -> Any:
        if model.rows >= last:
            model.rows += len(X)
            raise ValueError("out of order")
        return model(X)

    explainer = Explainer(breaking, TWO[1], outputs=(0, 1), method=METHODS["calibrated"])
    with pytest.raises(ModelError, match=r"raised ValueError when asked .* out of order") as caught:
        explainer.explain(TWO[1][0])
    assert isinstance(caught.value.__cause__, ValueError)
    assert model.rows == seen


def test_what_the_package_itself_cannot_do_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("no way")

    monkeypatch.setattr(WrapCalibratedExplainer, "explain_factual", broken)
    _, explainer = two(METHODS["calibrated"])
    with pytest.raises(InputError, match="Calibrated Explanations failed here: no way"):
        explainer.explain(TWO[1][0])


# -- manners ------------------------------------------------------------------------------------


@every
def test_nothing_global_is_left_changed(name: str) -> None:
    def state() -> tuple[Any, ...]:
        chance = np.random.get_state()  # noqa: NPY002
        log = logging.getLogger("calibrated_explanations")
        return str(chance), list(warnings.filters), log.level, np.geterr()

    before = state()
    _, explainer = two(METHODS[name])
    explainer.explain(TWO[1][0])
    assert state() == before
    broken = Explainer(lambda X: 1 / 0, TWO[1], outputs=(0, 1), method=METHODS[name])
    with pytest.raises(ModelError):
        broken.explain(TWO[1][0])
    assert state() == before


def test_the_first_import_leaves_nothing_behind() -> None:
    """Packages below change the filters of warnings and numpy's errors when imported."""
    code = """
import sys, warnings, logging, numpy as np
import eagle, sklearn.tree, matplotlib, pandas
X = np.random.default_rng(0).normal(size=(60, 3))
method = eagle.peers.calibrated_explanations(X[:, 0])
explainer = eagle.Explainer(lambda X: X[:, 0], X, method=method)
state = lambda: (list(warnings.filters), str(np.random.get_state()), logging.root.handlers[:],
                 logging.root.level, np.geterr(), np.get_printoptions(),
                 matplotlib.rcParams._get_backend_or_none())
before = state()
explainer.explain(X[0])
assert "crepes" in sys.modules
assert state() == before
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def test_the_packages_own_noise_is_silent_and_the_models_is_not(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    inner = WrapCalibratedExplainer.explain_factual

    def noisy(self: Any, *args: Any, **options: Any) -> Any:
        warnings.warn("of the package", UserWarning, stacklevel=2)
        logging.getLogger("calibrated_explanations.core").warning("of the package")
        return inner(self, *args, **options)

    def model(X: Any) -> Any:
        warnings.warn("of the model", UserWarning, stacklevel=1)
        return TWO[0].predict_proba(X)

    monkeypatch.setattr(WrapCalibratedExplainer, "explain_factual", noisy)
    explainer = Explainer(model, TWO[1], outputs=(0, 1), method=METHODS["calibrated"])
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        explainer.explain(TWO[1][0])
    assert {str(w.message) for w in caught} == {"of the model"}
    assert [r for r in caplog.records if r.name.startswith("calibrated")] == []
    assert capsys.readouterr() == ("", "")


def test_bounds_with_a_level_save() -> None:
    model, X, y = NUMBERS
    e = Explainer(model, X, method=peers.calibrated_explanations(y)).explain(X[0])
    again = eagle.Explanation.from_dict(e.to_dict())
    assert np.array_equal(again.interval(0.9), e.interval(0.9))


@every
def test_what_they_cannot_say_is_refused(name: str) -> None:
    model, explainer = two(METHODS[name])
    e = explainer.explain(TWO[1][0])
    rows = model.rows
    assert "cannot be fitted again" in refused(model, lambda: e.about(0), rows)
    assert "has no plan" in refused(model, lambda: explainer.plan(TWO[1][0]), rows)
    if name == "calibrated":
        for level in (0.9, 0.95):
            said = refused(model, partial(e.interval, level), rows)
            assert "these bounds have no level" in said
        assert "how probable a sign" in refused(model, e.probability_sign, rows)
        assert "how probable a rank" in refused(model, lambda: e.probability_top(2), rows)
        assert e.to_frame()["low"].tolist() == e.interval_or_nan()[:, 0].tolist()
        assert "bounds" in str(e)
        assert "bounds" in e._repr_html_()
    else:
        assert "gives scores without intervals" in refused(model, e.interval, rows)
        assert np.isnan(e.interval_or_nan()).all()


@every
def test_conditions_are_values_not_bins(name: str) -> None:
    _, explainer = two(METHODS[name])
    e = explainer.explain(TWO[1][0])
    assert e.conditions == tuple(f"x{j} = {v:.4g}" for j, v in enumerate(TWO[1][0]))
    own = explainer.with_options(peers.DLIME_NEAREST, budget=60).explain(TWO[1][0])
    assert any("<" in c or ">" in c for c in own.conditions)


def test_bounds_are_drawn_without_a_level_that_they_do_not_have() -> None:
    _, explainer = two(METHODS["calibrated"])
    ax = eagle.plot.attribution(explainer.explain(TWO[1][0]), Figure().subplots())
    assert "Whiskers: intervals as the methods give them" in ax.get_xlabel()
    assert "%" not in ax.get_xlabel()


def test_a_deep_copy_of_all_that_the_package_has_is_not_one_of_the_model() -> None:
    class Lone:
        def __deepcopy__(self, memo: Any) -> Any:
            raise AssertionError("a model may be large, or elsewhere")

        def __call__(self, X: Any) -> Any:
            return TWO[0].predict_proba(X)

    explainer = Explainer(Lone(), TWO[1], outputs=(0, 1), method=METHODS["calibrated"])
    explainer.explain(TWO[1][0])
