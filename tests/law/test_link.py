"""The logit link: what is explained are log-odds, and which laws hold of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import eagle
from eagle import Explainer, Explanation, InputError, Logit, Plan, ReplyError, peers
from eagle._values.link import link_of

RNG = np.random.default_rng(5)
X = RNG.normal(size=(200, 4)) * [1.0, 2.0, 0.5, 3.0]
SLOPES = RNG.normal(size=(4, 3))
LABELS = np.array(["a", "b", "c"])[(X @ SLOPES + RNG.gumbel(size=(200, 3))).argmax(1)]


def three(x: Any) -> Any:
    return softmax(x @ SLOPES / 4, axis=1)


def explained(link: Any = "logit", view: Any = "continuous", **options: Any) -> Explanation:
    explainer = Explainer(
        three, eagle.Table(X, view=view), link=link, outputs=list("abc"), budget=129
    )
    return explainer.with_options(options.pop("method", explainer.method)).explain(X[0], **options)


def test_a_logistic_model_is_a_line_in_log_odds() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(X, LABELS == "a")
    e = Explainer(model, eagle.Table(X, view="continuous"), link="logit", budget=257).explain(
        X[3], True
    )
    assert np.allclose(e.scores, model[-1].coef_[0], rtol=0.02)
    assert e.r2 > 0.999
    plain = Explainer(model, eagle.Table(X, view="continuous"), budget=257).explain(X[3], True)
    assert plain.r2 < e.r2
    assert np.isclose(e.prediction, model.decision_function(X[3:4])[0])
    assert np.isclose(expit(e.prediction), plain.prediction)


def test_contrasts_add_up_and_a_class_is_itself_against_the_rest() -> None:
    e = explained()
    ab, bc, ac = (e.about(pair).scores for pair in (("a", "b"), ("b", "c"), ("a", "c")))
    assert np.allclose(ab + bc, ac)
    assert not np.allclose(e.about("a").scores - e.about("b").scores, ab)
    two = Explainer(lambda x: np.c_[1 - expit(x[:, 0]), expit(x[:, 0])], X, link="logit")
    one = two.explain(X[0], 1)
    assert np.allclose(one.about((1, 0)).scores, one.scores)
    assert np.allclose(one.about(0).scores, -one.scores)


def test_zero_and_one_are_clipped_and_bounds_follow() -> None:
    link = Logit(0.01)
    assert np.allclose(link.of(np.array([0.0, 0.5, 1.0])), [-np.log(99), 0, np.log(99)])
    assert np.allclose(link.bounds(pair=False), link.of(np.array([0.0, 1.0])))
    ends = link.against(np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    assert np.allclose(link.bounds(pair=True), ends)
    p = np.linspace(0.01, 0.99, 9)
    assert np.allclose(link.back(link.of(p)), p)
    forest = RandomForestClassifier(5, random_state=0).fit(X, LABELS)
    e = Explainer(forest, X, link="logit", budget=64).explain(X[0])
    assert np.isfinite(e.scores).all()
    assert np.isfinite(e.interval()).all()
    assert e.link == Logit(0.005)


def test_the_clip_is_the_models_own() -> None:
    line = LogisticRegression()
    assert link_of("logit", line) == link_of("logit", make_pipeline(StandardScaler(), line))
    assert link_of("logit", line) == Logit(1e-12)
    assert link_of("logit", three) == link_of("logit", RandomForestClassifier()) == Logit(0.005)
    assert link_of(None, line) is None
    assert link_of(Logit(0.1), line) == Logit(0.1)


def test_what_is_left_without_a_feature() -> None:
    e = explained(view="binned")
    assert np.allclose(e.without(), expit(e.prediction - e.scores))
    assert np.allclose(e.to_frame()["odds"], np.exp(e.scores))
    for other in (explained(), explained(None, view="binned"), e.about(("a", "b"))):
        with pytest.raises(InputError, match="what is left without a feature is known with link"):
            other.without()
    assert "odds" not in explained(None, view="binned").to_frame()


def test_it_is_kept_in_files(tmp_path: Path) -> None:
    e = explained(Logit(0.02))
    e.save(tmp_path / "e.json")
    back = Explanation.load(tmp_path / "e.json")
    assert back.link == Logit(0.02)
    assert np.array_equal(back.about("b").scores, e.about("b").scores)
    explainer = Explainer(None, X, link=Logit(0.02), outputs=list("abc"), task="classification")
    plan = explainer.plan(X[0])
    plan.save(tmp_path / "p.json")
    answers = three(plan.inputs)
    fitted = Plan.load(tmp_path / "p.json").fit(answers)
    assert fitted.link == Logit(0.02)
    assert np.array_equal(fitted.scores, plan.fit(answers).scores)
    data = e.to_dict()
    assert "link" in data
    assert "link" not in explained(None).to_dict()


def test_stop_when_sure_looks_at_log_odds() -> None:
    e = explained(until=eagle.until.Width(0.5))
    assert "0.5" in e.cost.stopped
    assert e.link is not None


def test_it_is_said() -> None:
    e = explained()
    assert "log-odds" in e.title
    assert "doubles the odds" in str(e)
    assert "Log-odds" in e.about(("a", "b")).title
    words = Explainer(three, X, link="logit").describe()
    assert "Scale: log-odds, probabilities clipped at 0.005" in words


def test_what_has_no_probabilities_is_refused() -> None:
    with pytest.raises(InputError, match="link='logit' is for class probabilities"):
        Explainer(LinearRegression().fit(X, X[:, 0]), X, link="logit")
    with pytest.raises(InputError, match="link='logit' is for class probabilities"):
        Explainer(LinearSVC().fit(X, LABELS), X, link="logit")
    with pytest.raises(ReplyError, match="link='logit' is for class probabilities"):
        Explainer(lambda x: x[:, 0], X, link="logit").explain(X[0])
    with pytest.raises(InputError, match="explains probabilities as they are"):
        Explainer(three, X, link="logit", task="classification", method=peers.CLIMAX)
    with pytest.raises(InputError, match="link is 'logit'"):
        Explainer(three, X, link="probit")  # type: ignore[arg-type]
    for clip in (0.0, 1e-17, 0.5, float("nan"), "x"):
        with pytest.raises(InputError, match="clip is a probability from 1e-12 to below ½"):
            Logit(clip)  # type: ignore[arg-type]


def test_what_the_clip_hides_is_said() -> None:
    steep = 40 * np.ones(4)

    def two(x: Any) -> Any:
        p = expit(x @ steep + 400)
        return np.c_[1 - p, p]

    e = Explainer(two, eagle.Table(X, view="continuous"), link="logit").explain(X[0], 1)
    assert "within 0.005 of 0 or 1" in e.warnings[0]
    assert not any("no feature matters" in w for w in e.warnings)
    assert "The model says 1, counted as 0.995" in e.title


def test_a_method_of_a_model_has_the_models_clip() -> None:
    model = LogisticRegression().fit(X, LABELS)
    assert link_of("logit", model.predict_proba) == link_of("logit", model)


def test_importance_is_no_log_odds() -> None:
    e = explained(method=peers.TILIA)
    assert "doubles the odds" not in str(e)
    assert "odds" not in e.to_frame()


def test_plots_name_the_scale() -> None:
    import matplotlib

    matplotlib.use("Agg")
    for link, word in (("logit", "log-odds"), (None, "answer")):
        assert word in eagle.plot.attribution(explained(link)).get_xlabel()
