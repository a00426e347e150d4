"""The result: numbers, words, files and screens."""

from __future__ import annotations

import io
import json
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import eagle
from eagle import methods
from eagle.files import sealed
from eagle.show.sheet import SHOWN
from eagle.surrogate.bayes import LineFit
from eagle.types import InputError

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _same_chance() -> None:
    """Seed each test, so that it does not depend on the tests before it."""
    RNG.bit_generator.state = np.random.default_rng(0).bit_generator.state


@pytest.fixture(scope="module")
def iris() -> eagle.Explanation:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = RandomForestClassifier(8, random_state=0).fit(X, y)
    return eagle.Explainer(model, X, budget=120).explain(X.iloc[60])


def test_lists_and_ranks(iris: eagle.Explanation) -> None:
    sizes = [abs(score) for _, score in iris.as_list()]
    assert sizes == sorted(sizes, reverse=True)
    assert iris.top(2) == [iris.names[j] for j in np.argsort(-np.abs(iris.scores))[:2]]
    assert len(iris.top(99)) == 4
    assert np.isclose(iris.probability_top(2).sum(), 2)
    assert ((iris.probability_sign() >= 0.5) & (iris.probability_sign() <= 1)).all()
    with pytest.raises(eagle.InputError):
        iris.top(0)


def test_the_old_name_of_the_data_says_what_it_is(iris: eagle.Explanation) -> None:
    """In shap `values` are attributions, so whoever reads them here is told where those are."""
    said = r"\.values is now \.data; scores are in \.scores, not in \.values as in shap"
    with pytest.warns(DeprecationWarning, match=f"Explanation{said}") as caught:
        assert iris.values is iris.data
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=f"Explanations{said}"):
        assert eagle.Explanations.of([iris]).values.tolist() == [list(iris.data)]
    plan = eagle.Explainer(lambda q: q[:, 0], RNG.random((30, 2)), budget=10).plan([0.25, 1.0])
    with pytest.warns(DeprecationWarning, match=f"Plan{said}"):
        assert plan.values == plan.data == (0.25, 1.0)


def test_the_line_adds_up(iris: eagle.Explanation) -> None:
    assert np.isclose(iris.intercept + iris.scores.sum(), iris.local_prediction)
    assert np.array_equal(iris.fit.scores, iris.scores)
    X = load_iris().data
    e = eagle.Explainer(lambda rows: rows[:, 0] ** 2, X, method=methods.EAGLE).explain(X[60])
    assert isinstance(e.fit, LineFit)
    mean, scale = e.fit.predict(np.ones((1, 4)))
    assert np.isclose(mean[0], e.local_prediction)
    assert scale[0] > 0


def test_frozen(iris: eagle.Explanation) -> None:
    with pytest.raises(AttributeError):
        iris.scores = np.zeros(4)  # type: ignore[misc]


def test_to_shap_leads_from_a_mean_to_the_prediction(iris: eagle.Explanation) -> None:
    values = iris.to_shap()
    assert values.base_values + values.values.sum() == pytest.approx(iris.prediction, abs=1e-12)
    assert np.allclose(values.values[:4], iris.scores)  # binned: the instance is all ones
    assert values.values[5] == pytest.approx(iris.prediction - iris.local_prediction)
    assert values.feature_names[4:] == ["where the line starts", "what the line misses"]
    assert np.allclose(values.lower_bounds[:4], iris.interval()[:, 0])
    assert np.array_equal(values.lower_bounds[4:], values.upper_bounds[4:])
    assert iris.posterior is not None
    assert np.allclose(values.error_std, [*iris.posterior.std, 0, 0])
    rows = iris.evidence  # by default from the mean of the rows asked, as the fit weighs them
    k = list(iris.outputs).index(iris.target)
    mean = sum(w * y for w, y in zip(rows.weight, rows.answers[:, k], strict=True))
    assert values.base_values == pytest.approx(mean / rows.weight.sum())


def test_to_shap_starts_at_the_slopes_background() -> None:
    data = RNG.normal(3, 2, size=(200, 2))
    model = data @ [1.0, -1.0]
    slopes = eagle.Explainer(lambda X: X @ [1.0, -1.0], data, view="continuous").explain(data[0])
    values = slopes.to_shap(base=model)
    assert values.base_values == pytest.approx(model.mean())
    assert values.base_values + values.values.sum() == pytest.approx(model[0], abs=1e-12)
    expected = (data[0] - data.mean(axis=0)) * [1.0, -1.0]
    assert np.allclose(values.values[:2], expected, atol=0.02)
    assert np.allclose(values.values[2:], 0, atol=0.02)  # nothing is missed of a line
    assert (values.lower_bounds <= values.values).all()
    assert slopes.to_shap(base=1).base_values == 1.0
    for wrong in ("mean", [], [[1.0, 2.0]], np.nan):
        with pytest.raises(eagle.InputError, match="base is a number, or the model's answers"):
            slopes.to_shap(base=wrong)


def test_shaps_waterfall_ends_at_the_models_own_numbers(iris: eagle.Explanation) -> None:
    import matplotlib.pyplot as plt
    import shap

    X, y = load_iris(return_X_y=True, as_frame=True)
    answers = RandomForestClassifier(8, random_state=0).fit(X, y).predict_proba(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shap's own
        shap.plots.waterfall(iris.to_shap(base=answers), show=False)
    figure = plt.gcf()
    said = [t.get_text() for ax in figure.axes for t in ax.get_xticklabels()]
    rows = [t.get_text() for ax in figure.axes for t in ax.get_yticklabels()]
    plt.close(figure)
    mean = answers[:, list(iris.outputs).index(iris.target)].mean()
    for name, number in (("$f(x)$", iris.prediction), ("\n$E[f(X)]$", mean)):
        shown = said[said.index(name) + 1].strip("\n $=")
        assert float(shown) == pytest.approx(number, abs=6e-4)
    assert any("what the line misses" in row for row in rows)


def test_small_repr_and_console(iris: eagle.Explanation) -> None:
    assert len(repr(iris)) < 200
    assert "\n" not in repr(iris)
    assert "95% interval" in str(iris)
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(iris)
    text = console.export_text()
    for condition, _ in iris.as_list():
        assert condition in text


def test_html_is_small_plain_and_escaped() -> None:
    names = [f"<script>alert({j})</script>&\"'" for j in range(60)]
    table = pd.DataFrame(RNG.normal(size=(80, 60)), columns=names)
    table["<b>"] = RNG.choice(["<img src=x onerror=alert(1)>", "ok"], 80)
    e = eagle.Explainer(
        lambda X: X.iloc[:, 0].to_numpy(), table, outputs=["</style><script>"], budget=200
    ).explain(table.iloc[0])
    html = e._repr_html_()
    assert len(html.encode()) < 30_000
    assert "<script" not in html
    assert "<img" not in html
    assert "onerror=alert" not in re.sub(r"<td>.*?</td>", "", html)
    assert "prefers-color-scheme:dark" in html
    assert f"{61 - SHOWN} more features" in html
    assert html.count("<tr>") == SHOWN + 1


def test_words_when_a_line_does_not_fit() -> None:
    data = RNG.normal(size=(200, 2))
    bent = eagle.Explainer(lambda X: np.sign(X[:, 0] * X[:, 1]), data, view="continuous").explain(
        data[0] * 0
    )
    assert bent.r2_held_out < 0.3
    assert any("features act together" in w for w in bent.warnings)
    assert "features act together" in str(bent)
    assert "features act together" in bent._repr_html_()
    good = eagle.Explainer(lambda X: X @ [1.0, 2.0], data, view="continuous").explain(data[0])
    assert good.r2_held_out > 0.99
    assert good.warnings == ()
    flat = eagle.Explainer(lambda X: np.full(len(X), 0.25), data).explain(data[0])
    assert any("same answer everywhere" in w for w in flat.warnings)
    assert flat.scores.tolist() == [0.0, 0.0]
    assert "no variation" in str(flat)
    few = eagle.Explainer(lambda X: X[:, 0], data, budget=1).explain(data[0])
    assert few.bill.rows == 1
    assert few.warnings


def test_saved_files_are_plain_and_versioned(iris: eagle.Explanation, tmp_path: Any) -> None:
    iris.save(tmp_path / "e.json")
    data = json.loads((tmp_path / "e.json").read_text())
    assert data["schema"] == 3
    assert data["features"][0]["name"] == "sepal length (cm)"
    assert (tmp_path / "e.json").stat().st_size < 60_000
    data["schema"] = 99
    with pytest.raises(eagle.InputError, match="schema 99"):
        eagle.Explanation.from_dict(data)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d["posterior"].pop("factor"),
        lambda d: d["evidence"]["weight"].update(dtype="O"),
        lambda d: d["evidence"]["weight"].update(data="AAAA"),
        lambda d: d["evidence"]["weight"].update(shape=[10**12]),
        lambda d: d["surrogate"].clear(),
        lambda d: d["features"].pop(),
        lambda d: d.update(target="not an output"),
        lambda d: d["features"][0].update(score="__import__('os').system('true')"),
        lambda d: d.update(features=7),
        lambda d: d.update(bill=[]),
    ],
)
def test_a_file_by_a_hostile_hand_only_fails_to_load(iris: eagle.Explanation, spoil: Any) -> None:
    data = json.loads(iris.to_json())
    spoil(data)
    with pytest.raises(eagle.InputError):
        eagle.Explanation.from_json(json.dumps(sealed.sealed(data)))


def test_files_that_are_something_else(tmp_path: Any) -> None:
    import pickle

    for content in (b"", b"[]", b"{}", b'"x"', b"nonsense", pickle.dumps({"a": 1}), b"[" * 100_000):
        (tmp_path / "f").write_bytes(content)
        with pytest.raises(eagle.InputError):
            eagle.Explanation.load(tmp_path / "f")
    with pytest.raises(FileNotFoundError):
        eagle.Explanation.load(tmp_path / "absent")


def test_values_json_does_not_know(tmp_path: Any) -> None:
    table = pd.DataFrame({"t": pd.Categorical([(1, 2), (3, 4)] * 20), "x": RNG.normal(size=40)})
    e = eagle.Explainer(lambda X: X["x"].to_numpy(), table, budget=40).explain(table.iloc[0])
    e.save(tmp_path / "e.json")
    assert np.array_equal(eagle.Explanation.load(tmp_path / "e.json").scores, e.scores)


def test_classes_that_are_numbers_or_flags() -> None:
    data = RNG.normal(size=(50, 2))

    def model(X: Any) -> Any:
        p = 1 / (1 + np.exp(-X[:, 0]))
        return np.column_stack([1 - p, p])

    for classes in ([1, 2], [False, True], ["1", "2"], [0.5, 1.5]):
        e = eagle.Explainer(model, data, outputs=classes, budget=40).explain(data[0], classes[1])
        assert e.target == classes[1]
        assert np.isclose(e.scores[0], -e.about(classes[0]).scores[0])
        back = eagle.Explanation.from_json(e.to_json())
        assert back.target == e.target
        assert back.outputs == tuple(classes)
    one = eagle.Explainer(lambda X: model(X)[:, 1], data, outputs=["no", "yes"], budget=40)
    assert one.explain(data[0], "yes").task == "classification"


def test_describe_says_what_was_understood() -> None:
    table = pd.DataFrame({"a": RNG.normal(size=30), "c": ["u", "v", None] * 10, "n": range(30)})
    explainer = eagle.Explainer(lambda X: X["a"].to_numpy(), table, freeze=["n"], budget=30)
    words = explainer.describe()
    assert "c: str, category of 2 levels, 33.3% missing" in words or "c: object" in words
    assert "n: int64, frozen" in words
    assert "not known before the first answer" in words
    explainer.explain(table.iloc[0])
    assert "Task: regression" in explainer.describe()
    assert "Output: (n, 1), outputs prediction" in explainer.describe()


def test_a_seed_from_the_system_is_told() -> None:
    data = RNG.normal(size=(40, 3))
    one = eagle.Explainer(lambda X: X[:, 0], data, random_state=None, budget=40)
    e = one.explain(data[0])
    again = eagle.Explainer(lambda X: X[:, 0], data, random_state=e.seed, budget=40)
    assert np.array_equal(again.explain(data[0]).evidence.points, e.evidence.points)


def test_progress_speaks_after_two_seconds_and_can_be_silent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import itertools

    clock = itertools.count(0.0, 1.5)
    monkeypatch.setattr("eagle.progress.time.monotonic", lambda: next(clock))
    monkeypatch.setattr("eagle.progress.watched", lambda: True)
    data = RNG.normal(size=(6, 2))
    explainer = eagle.Explainer(lambda X: X[:, 0], data, budget=20)
    explainer.explain_many(data, progress=False)
    assert capsys.readouterr() == ("", "")
    explainer.explain_many(data)
    out, err = capsys.readouterr()
    assert out == ""
    assert "explained: 6 of 6" in err


def test_own_classes_in_another_order_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = LogisticRegression().fit(X, np.array(["a", "b", "c"])[np.arange(60) % 3])
    with pytest.raises(InputError, match="in another order than its probabilities: they are a, b"):
        eagle.Explainer(model, X, outputs=["b", "a", "c"])
    assert "x, y, z" in eagle.Explainer(model, X, outputs=["x", "y", "z"]).describe()


def test_a_fit_to_fewer_rows_than_slopes_is_not_called_good() -> None:
    parts = eagle.Parts(list, list)
    few = eagle.Explainer(lambda things: [float(len(t)) for t in things], parts, budget=20)
    assert "Fit: too few rows to tell" in str(few.explain([f"part {k}" for k in range(40)]))


def test_a_choice_of_methods_has_no_bootstrap() -> None:
    with pytest.raises(InputError, match="chooses a method for each input"):
        methods.Bootstrapped(methods.DEFAULT)


@pytest.mark.parametrize("name", ["budget", "method", "seed", "batch_rows", "bugdet"])
def test_an_explainer_does_not_change(name: str) -> None:
    explainer = eagle.Explainer(lambda X: X[:, 0], np.eye(4))
    with pytest.raises(AttributeError, match=f"{name} of an explainer cannot be set: using"):
        setattr(explainer, name, 5)
    assert explainer.using(budget=60).budget == 60
