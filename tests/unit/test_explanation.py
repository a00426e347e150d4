"""The result: numbers, words, files and screens."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import eagle
from eagle import methods, peers
from eagle.display.sheet import MAX_FEATURES
from eagle.errors import InputError
from eagle.surrogates.bayes import LineFit

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


def test_to_shap_leads_to_the_prediction(iris: eagle.Explanation) -> None:
    values = iris.to_shap()
    assert values.base_values + values.values.sum() == pytest.approx(iris.prediction, abs=1e-12)
    assert np.array_equal(values.values, iris.scores)  # binned: the instance is all ones
    assert list(values.feature_names) == list(iris.names)
    line = iris.local_prediction - iris.scores.sum()
    missed = iris.prediction - iris.local_prediction
    assert values.base_values == pytest.approx(line + missed)
    assert np.allclose(values.lower_bounds, iris.interval()[:, 0])
    assert np.allclose(values.upper_bounds, iris.interval()[:, 1])
    assert iris.posterior is not None
    assert np.allclose(values.error_std, iris.posterior.std)


def test_to_shap_starts_at_the_slopes_background() -> None:
    data = RNG.normal(3, 2, size=(200, 2))
    model = data @ [1.0, -1.0]
    slopes = eagle.Explainer(
        lambda X: X @ [1.0, -1.0], eagle.Table(data, view="continuous")
    ).explain(data[0])
    values = slopes.to_shap()
    assert values.base_values == pytest.approx(model.mean(), abs=0.02)  # nothing is missed
    assert values.base_values + values.values.sum() == pytest.approx(model[0], abs=1e-12)
    expected = (data[0] - data.mean(axis=0)) * [1.0, -1.0]
    assert np.allclose(values.values, expected, atol=0.02)
    assert (values.lower_bounds <= values.values).all()


def test_small_repr_and_text(iris: eagle.Explanation) -> None:
    assert len(repr(iris)) < 200
    assert "\n" not in repr(iris)
    assert "95% interval" in str(iris)
    for condition, _ in iris.as_list():
        assert condition in str(iris)


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
    assert "onerror=alert" not in re.sub(r"<(bdi|title)>.*?</(bdi|title)>", "", html)
    assert "prefers-color-scheme:dark" in html
    assert f"{61 - MAX_FEATURES} more features" in html
    assert html.count("<tr role") == MAX_FEATURES + 1


def test_answers_that_do_not_vary_are_said_to_be_so() -> None:
    data = RNG.normal(size=(200, 2))
    flat = eagle.Explainer(lambda X: np.full(len(X), 0.25), data).explain(data[0])
    assert any("same answer everywhere" in w for w in flat.warnings)
    assert flat.scores.tolist() == [0.0, 0.0]
    assert "no variation" in str(flat)


def test_saved_files_are_plain_and_versioned(iris: eagle.Explanation, tmp_path: Any) -> None:
    iris.save(tmp_path / "e.json")
    data = json.loads((tmp_path / "e.json").read_text())
    assert data["format"] == 4
    assert data["features"][0]["name"] == "sepal length (cm)"
    assert (tmp_path / "e.json").stat().st_size < 60_000
    data["format"] = 99
    with pytest.raises(eagle.InputError, match="format 99"):
        eagle.Explanation.from_dict(data)


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
        back = eagle.Explanation.from_dict(e.to_dict())
        assert back.target == e.target
        assert back.outputs == tuple(classes)
    one = eagle.Explainer(lambda X: model(X)[:, 1], data, outputs=["no", "yes"], budget=40)
    assert one.explain(data[0], "yes").task == "classification"


def test_describe_says_what_was_understood() -> None:
    table = pd.DataFrame({"a": RNG.normal(size=30), "c": ["u", "v", None] * 10, "n": range(30)})
    explainer = eagle.Explainer(
        lambda X: X["a"].to_numpy(), eagle.Table(table, fixed=["n"]), budget=30
    )
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
    monkeypatch.setattr("eagle._engine.progress.time.monotonic", lambda: next(clock))
    monkeypatch.setattr("eagle._engine.progress.is_watched", lambda: True)
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
        peers.with_bootstrap(methods.DEFAULT)


@pytest.mark.parametrize("name", ["budget", "method", "seed", "batch_rows", "bugdet"])
def test_an_explainer_does_not_change(name: str) -> None:
    explainer = eagle.Explainer(lambda X: X[:, 0], np.eye(4))
    with pytest.raises(AttributeError, match=f"{name} of an explainer cannot be set: with_options"):
        setattr(explainer, name, 5)
    assert explainer.with_options(budget=60).budget == 60
