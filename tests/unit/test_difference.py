"""What changed from one model to another: a difference is said to be one in every output."""

from __future__ import annotations

import asyncio
import html
import itertools
import operator
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import eagle
from eagle import Explanations, Limit, Survey
from eagle._values.arrays import Array
from eagle.display.numbers import signed_number
from eagle.errors import OperandError
from eagle.web.payload import payload
from eagle.web.state import State
from eagle.web.worker import Job

mpl.use("Agg")

RNG = np.random.default_rng(3)
DATA = pd.DataFrame(
    {
        "income": RNG.normal(50, 12, 240),
        "town": RNG.choice(["Bonn", "Graz", "Metz"], 240),
        "age": RNG.integers(20, 70, 240).astype(float),
    }
)
ROWS = DATA.iloc[:12].set_axis([f"row {i}" for i in range(12)])
NEW, OLD = "RandomForestClassifier (new)", "RandomForestClassifier (old)"


class Counting:
    """A model that counts the rows that it is asked."""

    def __init__(self, push: float, name: str = "") -> None:
        self.push, self.rows, self.__name__ = push, 0, name or f"model_{push}"

    def __call__(self, X: pd.DataFrame) -> Array:
        self.rows += len(X)
        z = (X["income"].to_numpy() - 50) / 12 + self.push * (X["town"] == "Graz").to_numpy()
        z += 2 * self.push * (X["town"] == "Oslo").to_numpy()  # a town that the data never had
        p = 1 / (1 + np.exp(-z))
        X["income"] = 0.0  # it spoils what it is given
        return np.column_stack([p, 1 - p])


def forest(seed: int) -> RandomForestClassifier:
    table = DATA.assign(town=DATA["town"] == "Graz")
    wanted = np.where(DATA["income"] + 9 * table["town"] > 52, "bad", "good")
    return RandomForestClassifier(8, random_state=seed).fit(Town.coded(DATA), wanted)


class Town:
    """A classifier that reads towns."""

    def __init__(self, seed: int) -> None:
        self.model = forest(seed)
        self.classes_ = self.model.classes_

    @staticmethod
    def coded(X: pd.DataFrame) -> Any:
        return X.assign(town=X["town"] == "Graz").to_numpy(float)

    def fit(self, X: Any, y: Any) -> None: ...

    def predict_proba(self, X: pd.DataFrame) -> Array:
        return np.asarray(self.model.predict_proba(self.coded(X)))


Town.__name__ = "RandomForestClassifier"


def regressor(push: float) -> Callable[[pd.DataFrame], Array]:
    return lambda X: X["income"].to_numpy() * push + (X["town"] == "Graz").to_numpy()


KINDS = ("probability", "log-odds", "decision value", "answer")


def surveys(unit: str) -> tuple[Survey, Survey, Any]:
    """The new and the old survey of two models, and a target."""
    if unit == "answer":
        old = eagle.Explainer(regressor(1.0), DATA).survey(128, progress=False)
        return old.requery(regressor(2.0), progress=False), old, "prediction"
    if unit == "decision value":
        old = eagle.Explainer(Margins(1.0), DATA).survey(128, progress=False)
        return old.requery(Margins(2.0), progress=False), old, "bad"
    link: Any = "logit" if unit == "log-odds" else None
    old = eagle.Explainer(Town(0), DATA, link=link).survey(128, progress=False)
    return old.requery(Town(5), progress=False), old, "bad"


class Margins:
    """A classifier of decision values alone."""

    def __init__(self, push: float, classes: tuple[str, ...] = ("good", "bad")) -> None:
        self.push, self.classes_ = push, np.array(classes)

    def fit(self, X: Any, y: Any) -> None: ...

    def predict(self, X: pd.DataFrame) -> Any:
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def decision_function(self, X: pd.DataFrame) -> Array:
        near = 3.0 * (X["town"] == "Graz").to_numpy(float)
        return np.asarray(self.push * (X["income"].to_numpy(float) - 50) + near)


# -- every output --------------------------------------------------------------------------------


def drawn(*axes: Any) -> str:
    """All text of a figure."""
    figures = [plt.gcf()]
    texts = [t.get_text() for f in figures for t in f.findobj(mpl.text.Text)]
    plt.close("all")
    return " ".join(texts)


def of_one(e: eagle.Explanation, folder: Path) -> Iterator[tuple[str, str]]:
    eagle.report(e, folder / "one.html", progress=False)
    yield "text", str(e)
    yield "html", html.unescape(e._repr_html_())
    yield "sheet", " ".join([e.sheet().title, *e.sheet().facts])
    yield "plot", drawn(eagle.plot.attribution(e))
    yield "plot of two", drawn(eagle.plot.compare_explanations({"a": e, "b": e}))
    yield "report", html.unescape((folder / "one.html").read_text(encoding="utf-8"))
    sent = payload(e)
    yield "page", " ".join([sent["title"], sent["unit"], *sent["facts"]])


def of_many(e: Explanations, folder: Path) -> Iterator[tuple[str, str]]:
    eagle.report(e, folder / "many.html", progress=False)
    yield "html", html.unescape(e._repr_html_())
    yield "report", html.unescape((folder / "many.html").read_text(encoding="utf-8"))
    for draw in (eagle.plot.importance, eagle.plot.beeswarm, eagle.plot.heatmap):
        yield draw.__name__, drawn(draw(e))
    yield "dependence", drawn(eagle.plot.dependence(e, "income"))
    summary = e.summary()
    yield "summary", f"{summary.columns.name} {summary.attrs['difference']}"


def of_survey(s: Survey, folder: Path) -> Iterator[tuple[str, str]]:
    eagle.report(s, folder / "survey.html", progress=False)
    yield "description", s.describe()
    yield "html", html.unescape(s._repr_html_())
    yield "report", html.unescape((folder / "survey.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("unit", KINDS)
def test_every_output_says_that_it_is_a_difference_of_which_models_and_in_which_unit(
    unit: str, tmp_path: Path
) -> None:
    new, old, target = surveys(unit)
    change = new.rename("B 2026") - old.rename("A 2024")
    change.save(tmp_path / "change.json")
    again = eagle.load(tmp_path / "change.json")
    many = change.explain_many(ROWS, target, progress=False)
    many.save(tmp_path / "many.parquet")
    loaded = eagle.load(tmp_path / "many.parquet")
    ROWS.to_parquet(tmp_path / "rows.parquet")
    folder = eagle.dataset.explain(
        change,
        tmp_path / "rows.parquet",
        tmp_path / "out",
        target=target,
        part_rows=6,
        progress=False,
    )
    outputs = itertools.chain(
        of_one(change.explain(ROWS.iloc[0], target), tmp_path),
        of_one(change.explain(ROWS.iloc[0], target, ask=False), tmp_path),
        of_one(again.explain(ROWS.iloc[0], target), tmp_path),
        of_many(many, tmp_path),
        of_many(folder, tmp_path),
        of_survey(change, tmp_path),
        of_survey(again, tmp_path),
    )
    for name, text in outputs:
        for said in ("A 2024", "B 2026", unit):
            assert said in " ".join(text.split()).replace("\n", " "), (name, said)
        assert "Why" not in text, name
    alone = change.explain(ROWS.iloc[0], target)
    alone.save(tmp_path / "one.json")
    read = eagle.load(tmp_path / "one.json")
    assert (read.title, repr(read), read.difference) == (
        alone.title,
        repr(alone),
        change.difference,
    )
    for e in (many, loaded, folder):
        frame = e.to_frame()
        assert set(frame["output"]) == {f"{target}, B 2026 less A 2024"}
        assert "B 2026 less A 2024" in repr(e)
        assert repr(e[0]).startswith(f"<Explanation of {target}, B 2026 less A 2024")


def test_models_of_one_name_are_told_apart() -> None:
    new, old, _ = surveys("probability")
    change = new - old
    assert change.difference is not None
    assert (change.difference.new, change.difference.old) == (NEW, OLD)
    digests = change.difference.new_digest, change.difference.old_digest
    assert digests == (new.identity.model_digest, old.identity.model_digest)
    assert f"Digests: model {str(digests[0])[:16]} (new), {str(digests[1])[:16]} (old)" in (
        change.describe()
    )
    e = change.explain(ROWS.iloc[0], "bad")
    assert e.title == (
        f"What changed for bad from {OLD} to {NEW}? The probability changed by "
        f"{signed_number(e.prediction)}"
    )
    named = old.requery(Town(5), name="champion", progress=False) - old
    assert str(named.difference) == "champion less RandomForestClassifier"
    for wrong in ("", " ", None, 3):
        with pytest.raises(eagle.InputError, match="a model's name is a text"):
            old.rename(wrong)  # type: ignore[arg-type]


def test_log_odds_are_read_as_ratios_of_odds() -> None:
    """A score is a log: its power multiplies the new odds over the old ones."""
    new, old, target = surveys("log-odds")
    x = ROWS.iloc[0]
    e = (new - old).explain(x, target)
    p, q = (s.explain(x, target) for s in (new, old))
    odds = [np.exp(one.prediction) for one in (p, q)]
    assert np.exp(e.prediction) == pytest.approx(odds[0] / odds[1])
    assert np.allclose(e.scores, p.scores - q.scores)
    assert "+0.69 doubles the odds ratio of the new model to the old one" in str(e)
    assert "+0.69 doubles the odds," not in str(e)
    with pytest.raises(eagle.InputError, match="one class at a time"):
        e.about(("bad", "good"))
    with pytest.raises(eagle.InputError, match="no probability"):
        e.without()


def test_pairs_are_refused_after_loading_too(tmp_path: Path) -> None:
    new, old, _ = surveys("log-odds")
    (new - old).save(tmp_path / "change.json")
    read = eagle.load(tmp_path / "change.json")
    for act in (lambda x, t: read.explain(x[:1], t), read.explain_many):
        with pytest.raises(eagle.InputError, match="one class at a time"):
            act(ROWS, ("bad", "good"))
    assert not read.pairs


def test_nothing_is_said_of_missing_bounds_where_there_are_some() -> None:
    new, old, target = surveys("probability")
    assert "These answers have no bounds" not in str((new - old).explain(ROWS.iloc[0], target))


# -- predictions ---------------------------------------------------------------------------------


def test_both_models_are_asked_and_each_on_its_own_account() -> None:
    one, other = Counting(1.0), Counting(2.0)
    old = eagle.Explainer(one, DATA, outputs=("bad", "good"), task="classification").survey(
        128, progress=False
    )
    new = old.requery(other, progress=False)
    change = new - old
    before = one.rows, other.rows, old.cost.rows, new.cost.rows
    e = change.explain(ROWS.iloc[0], "bad")
    wanted = other(ROWS.iloc[[0]].copy())[0, 0] - one(ROWS.iloc[[0]].copy())[0, 0]
    assert e.prediction == pytest.approx(wanted, abs=1e-12)
    assert "1 asked of each model for this one" in str(e)
    assert (old.cost.rows, new.cost.rows) == (before[2] + 1, before[3] + 1)
    assert change.cost.rows == 1
    assert ROWS["income"].iloc[0] == DATA["income"].iloc[0]  # though models spoil what they get
    counted = one.rows, other.rows
    silent = change.explain(ROWS.iloc[0], "bad", ask=False)
    assert (one.rows, other.rows) == counted
    assert np.isnan(silent.prediction)
    assert "How much is not known" in silent.title
    far = ROWS.assign(town="Oslo")
    estimate = change.estimate_cost(far)
    change.explain_many(far, "bad", progress=False)
    assert estimate.rows == one.rows + other.rows - sum(counted)


def test_a_limit_of_either_survey_holds() -> None:
    one, other = Counting(1.0), Counting(2.0)
    explainer = eagle.Explainer(one, DATA, outputs=("bad", "good"), task="classification")
    old = explainer.survey(128, limit=Limit(rows=130), progress=False)
    change = old.requery(other, name="new", progress=False) - old
    counted = one.rows, other.rows
    with pytest.raises(eagle.LimitError):
        change.explain_many(ROWS, "bad", progress=False)
    assert (one.rows, other.rows) == counted


@pytest.mark.parametrize("unit", KINDS)
def test_predictions_may_be_given(unit: str, tmp_path: Path) -> None:
    new, old, target = surveys(unit)
    change = new - old
    asked = change.explain_many(ROWS, target, progress=False)
    change.save(tmp_path / "change.json")
    pair = tuple(s.setting.box.function(ROWS) for s in (new, old))  # type: ignore[misc]
    for survey in (change, eagle.load(tmp_path / "change.json")):
        given = survey.explain_many(ROWS, target, predictions=pair, ask=False, progress=False)
        assert np.allclose(given.predictions, asked.predictions, rtol=1e-12)
        one = survey.explain(ROWS.iloc[0], target, prediction=tuple(p[:1] for p in pair), ask=False)
        assert one.prediction == pytest.approx(asked.predictions[0])
        known = change.predict(ROWS)
        given = survey.explain_many(ROWS, target, predictions=known, ask=False, progress=False)
        assert np.allclose(given.predictions, asked.predictions, rtol=1e-12)
    if unit in ("probability", "log-odds"):
        with pytest.raises(eagle.InputError, match="as a pair of their predictions"):
            change.explain_many(ROWS, target, predictions=pair[0], progress=False)


def test_the_page_counts_the_rows_of_both_models() -> None:
    one, other = Counting(1.0), Counting(2.0)
    explainer = eagle.Explainer(one, DATA, outputs=("bad", "good"), task="classification")
    old = explainer.survey(128, progress=False)
    change = old.requery(other, progress=False) - old
    counted = one.rows + other.rows
    state = State(change, ROWS)
    answers = asyncio.run(state.worker.do(Job(), lambda: state.predict(ROWS)))
    assert state.spending["rows"] == one.rows + other.rows - counted == 2 * len(ROWS)
    assert np.allclose(answers, change.predict(ROWS))
    e = state.from_survey(ROWS.iloc[[0]], "bad", answers[0])
    assert e.title == change.explain(ROWS.iloc[0], "bad").title
    assert payload(e)["unit"] == "change in probability"


# -- explanations less explanations --------------------------------------------------------------


@pytest.mark.parametrize("unit", KINDS)
def test_explanations_subtract_as_their_surveys_do(unit: str) -> None:
    new, old, target = surveys(unit)
    rows = pd.concat([ROWS, ROWS.assign(town="Oslo").set_axis([f"far {i}" for i in range(12)])])
    some = np.array([20, 0, 3, 15])
    one = new.explain_many(rows, target, progress=False)
    other = old.explain_many(rows, target, progress=False)
    whole = (new - old).explain_many(rows, target, progress=False)
    for found, wanted in ((one - other, whole), (one[some] - other[some], whole[some])):
        assert found.difference == wanted.difference
        assert found.ids == wanted.ids
        close: Any = {"rtol": 1e-9, "atol": 1e-9}
        assert np.allclose(found.predictions, wanted.predictions, **close)
        assert np.allclose(found.interval(), wanted.interval(), **close)
        pd.testing.assert_frame_equal(found.to_frame(), wanted.to_frame(), **close)
        pd.testing.assert_frame_equal(found.summary(), wanted.summary(), **close)
        assert str(found[1]) == str(wanted[1])


def test_what_each_row_is_about_may_differ_if_both_agree() -> None:
    new, old, _ = surveys("probability")
    one, other = (s.explain_many(DATA, progress=False) for s in (new, old))
    assert len(set(one.targets)) == 2
    with pytest.raises(OperandError, match="about one class here and about another there"):
        _ = one - other
    same = np.array([a == b for a, b in zip(one.targets, other.targets, strict=True)])
    assert 0 < same.sum() < len(same)
    both = one[same] - other[same]
    assert both.targets == one[same].targets
    assert np.allclose(both.scores, (one.scores - other.scores)[same])


def test_other_pairs_are_a_type_error_in_a_sentence(tmp_path: Path) -> None:
    new, old, _ = surveys("probability")
    far, other_seed = (
        eagle.Explainer(Town(0), data, random_state=seed).survey(128, progress=False)
        for data, seed in ((DATA.assign(income=DATA["income"] + 1), 0), (DATA, 1))
    )
    names = eagle.Explainer(Town(0).predict_proba, DATA, outputs=("x", "y")).survey(
        128, progress=False
    )
    margins = Margins(1.0, ("bad", "good"))
    margin = eagle.Explainer(margins, DATA).survey(128, progress=False)
    logit = eagle.Explainer(Town(0), DATA, link="logit").survey(128, progress=False)
    one, other = (s.explain_many(ROWS, "bad", progress=False) for s in (new, old))
    one.save(tmp_path / "one.parquet")
    assert np.allclose((eagle.load(tmp_path / "one.parquet") - other).scores, (one - other).scores)
    alone = eagle.Explainer(Town(0), DATA, budget=60).explain_many(ROWS, "bad", progress=False)
    for left, right, why in (
        (new, 3, "another survey of the same rows is subtracted, not 3"),
        (new, one, "another survey"),
        (new, old.grow(256), "survey.requery"),
        (new, far, "survey.requery"),
        (new, other_seed, "survey.requery"),
        (new, names, "the same outputs"),
        (new, margin, "both decision values"),
        (new, logit, "the same link, or none"),
        (new - old, old, "is not subtracted again"),
        (one, 3, "not 3"),
        (one, other[:5], "of the same rows, in one order"),
        (one, other[::-1], "of the same rows, in one order"),
        (one, old.explain_many(DATA[:12], "bad", progress=False), "of the same rows"),
        (one, old.explain_many(ROWS, "good", progress=False), "both the same target"),
        (one, alone, "survey.requery"),
        (alone, one, "survey.requery"),
        (one - other, other, "is not subtracted again"),
        (one[0], other[0], r"\(survey.requery\(new_model\) - survey\).explain\(x\)"),
    ):
        with pytest.raises(TypeError, match=why) as caught:
            operator.sub(left, right)
        assert isinstance(caught.value, eagle.InputError)


def test_what_a_difference_cannot_do_says_what_to_do(tmp_path: Path) -> None:
    new, old, _ = surveys("probability")
    change = new - old
    change.save(tmp_path / "change.json")
    for act, why in (
        (lambda: change.grow(256), "grow both surveys"),
        (lambda: change.plan(256), "grow both surveys"),
        (lambda: change.requery(Town(1)), "one of its surveys"),
        (lambda: change.rename("x"), "rename its surveys"),
        (lambda: Survey.load(tmp_path / "change.json", Town(1)), "load the surveys of both"),
    ):
        with pytest.raises(eagle.InputError, match=why):
            act()
    grown = old.grow(256)
    assert (grown.requery(Town(5), progress=False) - grown).rows == 256


def test_surveys_read_from_files_subtract(tmp_path: Path) -> None:
    new, old, _ = surveys("log-odds")
    wanted = (new - old).explain_many(ROWS, "bad", ask=False, progress=False)
    for survey, name, model in ((new, "new.json", Town(5)), (old, "old.json", Town(0))):
        survey.save(tmp_path / name)
        assert survey.identity.same(Survey.load(tmp_path / name, model).identity)
    bare = eagle.load(tmp_path / "new.json") - eagle.load(tmp_path / "old.json")
    found = bare.explain_many(ROWS, "bad", progress=False)  # there is no model to ask
    assert np.array_equal(found.scores, wanted.scores)
    assert np.isnan(found.predictions).all()
    asking = Survey.load(tmp_path / "new.json", Town(5)) - Survey.load(
        tmp_path / "old.json", Town(0)
    )
    asked = asking.explain_many(ROWS, "bad", progress=False)
    assert np.isfinite(asked.predictions).all()


def test_comparing_two_models_is_found() -> None:
    new, old, _ = surveys("answer")
    explainer = eagle.Explainer(regressor(1.0), DATA)
    for text in (explainer.describe(), new.describe()):
        assert "(survey.requery(new_model) - survey).explain_many(X)" in text
    assert "requery" not in (new - old).describe()
    for other in (
        eagle.Explainer(regressor(1.0), eagle.Table(DATA, view="continuous")),
        eagle.Explainer(regressor(1.0), eagle.Table(DATA, fixed=["age"])),
        eagle.Explainer(None, DATA),
    ):
        assert "requery" not in other.describe()
