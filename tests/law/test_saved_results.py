"""What a result says, draws and gives to others is the same after it was saved and loaded."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.tree import DecisionTreeClassifier

import eagle
from catalogue import BUDGET, CASES, FOREIGN, METHODS, Case, budget_of, supports
from eagle import methods, peers, plot
from eagle._values.subject import Curves, Image, Passage
from eagle.explanations import Explanations
from tables import explainer_of

TABLES = [name for name, case in CASES.items() if case.things is None]
BINNED = [name for name in TABLES if CASES[name].options.get("view") != "continuous"]


def explainer(case: Case, method: Any = methods.DEFAULT, **options: Any) -> eagle.Explainer:
    given = {"budget": budget_of(method), **case.options, **options}
    return explainer_of(case.model, case.data, method=method, **given)


def rows(case: Case, count: int) -> Any:
    if case.things is not None:
        return list(case.things[:count])
    return case.data.iloc[:count] if hasattr(case.data, "iloc") else case.data[:count]


@contextmanager
def figure() -> Iterator[None]:
    try:
        yield
    finally:
        plt.close("all")


def pixels(draw: Any) -> bytes:
    """A picture, as it is seen."""
    with figure():
        drawn = draw()
        ax = np.ravel(drawn)[0]
        out = io.BytesIO()
        ax.figure.savefig(out, format="raw", dpi=40)
        return out.getvalue()


def csv(frame: pd.DataFrame) -> str:
    return str(frame.to_csv())


def one_said(e: eagle.Explanation) -> dict[str, Any]:
    """All that one explanation says in words and numbers."""
    return {
        "text": str(e),
        "name": repr(e),
        "title": e.title,
        "page": e._repr_html_(),
        "notes": e.notes,
        "warnings": e.warnings,
        "frame": csv(e.to_frame()),
        "list": e.as_list(),
        "sure": e.sure().tolist(),
        "lack_of_fit": str(e.lack_of_fit) if e.surrogate is not None else "",
        **({"shap": shap_said(e)} if e.signed and not np.isnan(e.prediction) else {}),
    }


def shap_said(e: eagle.Explanation | Explanations) -> str:
    """What shap is given, or why it is not."""
    try:
        given = e.to_shap()
    except eagle.InputError as refused:
        return str(refused)
    parts = given.values, given.base_values, given.data, given.lower_bounds, given.error_std
    return str([np.asarray(part).tolist() for part in parts])


def one_drawn(e: eagle.Explanation, folder: Path) -> dict[str, Any]:
    """All that is drawn of it."""
    kinds: dict[Any, Any] = {Image: plot.image, Passage: plot.text, Curves: plot.series}
    draws = [plot.attribution, *([kinds[type(e.subject)]] if e.subject is not None else [])]
    eagle.report(e, folder / "report.html", when=NOW)
    return {
        **{f"plot {k}": pixels(lambda draw=draw: draw(e)) for k, draw in enumerate(draws)},
        "report": (folder / "report.html").read_bytes(),
    }


NOW = pd.Timestamp("2026-01-01").to_pydatetime()


def many_said(e: Explanations) -> dict[str, Any]:
    """All that many explanations say, and the first and the last of them."""
    said = {
        "name": repr(e),
        "page": e._repr_html_(),
        "frame": csv(e.to_frame()),
        "ids": [str(one) for one in e.ids],
        "targets": e.targets,
        "notes": e.notes,
        **{f"row {i}": one_said(e[i]) for i in (0, len(e) - 1)},
    }
    if e.alike:
        said["wide"] = csv(e.to_frame(wide=True))
        said["sure"] = e.sure().tolist()
        said["shap"] = shap_said(e)
    if e.errors is not None and len(e.about) == 1:
        said["summary"] = csv(e.summary()), e.summary().attrs
        said["summary of others"] = csv(e.summary(k=2, level=0.8, sample=False))
        if len(e) > 3:
            half = np.arange(len(e)) < len(e) / 2
            said["compare"] = csv(e.compare_groups({"first": half, "second": ~half}))
    return said


def many_drawn(e: Explanations, folder: Path) -> dict[str, Any]:
    eagle.report(e, folder / "report.html", when=NOW, progress=False)
    drawn: dict[str, Any] = {"report": (folder / "report.html").read_bytes()}
    if e.errors is not None and len(e.about) == 1:
        for draw in (plot.importance, plot.beeswarm, plot.heatmap):
            drawn[draw.__name__] = pixels(lambda draw=draw: draw(e))
        drawn["dependence"] = pixels(lambda: plot.dependence(e, e.names[0]))
    return drawn


def again(result: Any, folder: Path) -> Any:
    """The result, from its file."""
    path = folder / ("many.parquet" if isinstance(result, Explanations) else "one.json")
    result.save(path)
    return eagle.load(path)


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Whether both say the same; what differs is named."""
    assert one.keys() == other.keys()
    for name, said in one.items():
        if isinstance(said, dict):
            same(said, other[name])
        else:
            assert said == other[name], name


@pytest.mark.parametrize("name", CASES)
def test_one_explanation_of_every_source(name: str, tmp_path: Path) -> None:
    e = explainer(CASES[name]).explain(CASES[name].row(3))
    read = again(e, tmp_path)
    same(one_said(e), one_said(read))
    same(one_drawn(e, tmp_path), one_drawn(read, tmp_path))


@pytest.mark.parametrize("view", ["numbers, binned", "numbers, continuous"])
@pytest.mark.parametrize("name", [*METHODS, *FOREIGN])
def test_one_explanation_by_every_method(name: str, view: str, tmp_path: Path) -> None:
    method: Any = METHODS.get(name) or FOREIGN[name]
    case = CASES[view]
    if not supports(method, case):
        case = next(c for c in CASES.values() if supports(method, c))
    e = explainer(case, method).explain(case.row(1))
    same(one_said(e), one_said(again(e, tmp_path)))


@pytest.mark.parametrize("name", CASES)
def test_many_explanations_of_every_source(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    target = case.options["outputs"][1] if case.binary else None
    many = explainer(case).explain_many(rows(case, 4), target, progress=False)
    read = again(many, tmp_path)
    same(many_said(many), many_said(read))
    same(many_drawn(many, tmp_path), many_drawn(read, tmp_path))
    same(many_said(many[1:3]), many_said(again(many[1:3], tmp_path)))


@pytest.mark.parametrize("options", [{}, {"link": "logit"}], ids=["plain", "log-odds"])
@pytest.mark.parametrize("name", BINNED)
def test_explanations_of_a_survey(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    case = CASES[name]
    if options and not case.binary:
        options = {}
    target = case.options["outputs"][1] if case.binary else None
    survey = explainer(case, **options).survey(256, progress=False)
    many = survey.explain_many(rows(case, 12), target, progress=False)
    for result in (survey.explain(case.row(3)), many[4]):
        read = again(result, tmp_path)
        same(one_said(result), one_said(read))
        same(one_drawn(result, tmp_path), one_drawn(read, tmp_path))
        assert grown_pixels(result) == grown_pixels(read)
    for some in (many, many[3:9], again(many, tmp_path)[3:9]):
        same(many_said(some), many_said(again(some, tmp_path)))
    same(many_drawn(many, tmp_path), many_drawn(again(many, tmp_path), tmp_path))


def grown_pixels(e: eagle.Explanation) -> bytes:
    return pixels(lambda: plot.convergence(e, steps=3))


@pytest.mark.parametrize("name", ["numbers, binned", "mixed, binned", "sparse"])
def test_the_difference_of_two_surveys(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    target = case.options["outputs"][1] if case.binary else None
    old = explainer(case).survey(128, progress=False)

    def halved(X: Any) -> Any:
        y = np.asarray(case.model(X)) / 2
        return y + 0.25 if case.binary else y

    change = old.requery(halved, name="halved") - old
    one, many = change.explain(case.row(3)), change.explain_many(rows(case, 6), target)
    same(one_said(one), one_said(again(one, tmp_path)))
    same(one_drawn(one, tmp_path), one_drawn(again(one, tmp_path), tmp_path))
    assert grown_pixels(one) == grown_pixels(again(one, tmp_path))
    same(many_said(many), many_said(again(many, tmp_path)))
    same(many_drawn(many, tmp_path), many_drawn(again(many, tmp_path), tmp_path))


def test_explanations_of_a_survey_that_were_asked_nothing(tmp_path: Path) -> None:
    case = CASES["mixed, binned"]
    survey = explainer(case).survey(128, progress=False)
    table = rows(case, 5).assign(city=["Rome", "Paris", "Bern", None, "Oslo"])
    many = survey.explain_many(table, ask=False, progress=False)
    same(many_said(many), many_said(again(many, tmp_path)))
    with_bern = survey.explain_many(table, progress=False)  # a supplement of a level of its own
    same(many_said(with_bern), many_said(again(with_bern, tmp_path)))


@pytest.mark.parametrize("name", ["numbers, continuous", "mixed, binned", "text", "image"])
def test_explanations_whose_rows_were_not_kept(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    target = case.options["outputs"][1] if case.binary else None
    many = explainer(case).explain_many(rows(case, 4), target, progress=False, evidence=False)
    same(many_said(many), many_said(again(many, tmp_path)))
    same(one_said(many[1]), one_said(again(many[1], tmp_path)))


@pytest.mark.parametrize("method", [peers.LIME, peers.TILIA, peers.SHAP_KERNEL])
def test_many_explanations_without_standard_errors(method: Any, tmp_path: Path) -> None:
    case = CASES["numbers, continuous"]
    many = explainer(case, method).explain_many(rows(case, 3), "yes", progress=False)
    same(many_said(many), many_said(again(many, tmp_path)))


@pytest.mark.parametrize("survey", [False, True], ids=["rows of their own", "survey"])
def test_a_data_set_says_of_a_row_what_is_known_without_what_it_rests_on(
    survey: bool, tmp_path: Path
) -> None:
    """A folder has no evidence. What is left is what the explanation said."""
    case = CASES["mixed, binned"]
    table = rows(case, 12).drop(columns=["size"])
    made = eagle.Explainer(lambda X: np.nan_to_num(X["age"].to_numpy(float)), table, budget=BUDGET)
    maker: Any = made.survey(128, progress=False) if survey else made
    whole = maker.explain_many(table, progress=False)
    table.to_parquet(tmp_path / "rows.parquet")
    eagle.dataset.explain(maker, tmp_path / "rows.parquet", tmp_path / "out", progress=False)
    read = eagle.load(tmp_path / "out")
    for i in (0, 7):
        one, other = whole[i], read[i]
        assert other.conditions == one.conditions
        assert (
            str(other).splitlines()[: len(one.names) + 3]
            == str(one).splitlines()[: len(one.names) + 3]
        )
        assert csv(other.to_frame()) == csv(one.to_frame())
        assert other.cost.rows == one.cost.rows
        assert other.cost.shared == one.cost.shared
        assert other.notes == one.notes


@pytest.mark.parametrize("name", ["numbers, binned", "mixed, binned"])
def test_shapley_values_of_a_table(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    made = explainer(case).shapley(rows(case, 24), budget=8, background=20, progress=False)
    loaded = again(made, tmp_path)
    same(many_said(made), many_said(loaded))
    same(many_drawn(made, tmp_path), many_drawn(loaded, tmp_path))
    same(one_said(made[3]), one_said(again(made[3], tmp_path)))


TIMES = (
    pd.Timestamp("2020-01-01 12:30", tz="Europe/Berlin"),
    pd.Timestamp("2020-01-01") + pd.Timedelta(1, "ns"),
    pd.Timedelta("1 days 02:03:04.000000005"),
    datetime(2020, 1, 1, 5, tzinfo=UTC),
    date(2020, 1, 1),
    timedelta(days=-3, microseconds=7),
)
"""Names of rows and classes that JSON has no values for."""


@pytest.mark.parametrize("form", ["json", "parquet"])
@pytest.mark.parametrize("ids", [TIMES, [(one, 3) for one in TIMES]], ids=["times", "pairs"])
def test_rows_that_are_named_by_times_keep_their_names(ids: Any, form: str, tmp_path: Path) -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(6, 2)), columns=["a", "b"])
    made = eagle.Explainer(lambda q: q["a"].to_numpy(), X, budget=40).explain_many(
        X.set_axis(pd.Index(ids, dtype=object, tupleize_cols=False)), progress=False
    )
    made.save(tmp_path / f"many.{form}")
    loaded = eagle.load(tmp_path / f"many.{form}")
    assert [(type(one), one) for one in loaded.ids] == [(type(one), one) for one in made.ids]
    assert csv(loaded.to_frame()) == csv(made.to_frame())


def test_classes_that_are_named_by_dates_keep_their_names(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = DecisionTreeClassifier(max_depth=2).fit(X, (X[:, 0] > 0).astype(int))
    outputs = [date(2020, 1, 1), date(2021, 1, 1)]
    e = eagle.Explainer(model.predict_proba, X, budget=40, outputs=outputs).explain(X[0])
    loaded = again(e, tmp_path)
    assert loaded.outputs == e.outputs == tuple(outputs)
    same(one_drawn(e, tmp_path), one_drawn(loaded, tmp_path))


@pytest.mark.parametrize("target", [np.int64(5), 5.0, (np.int64(7), np.int64(5))])
def test_a_target_of_numpys_or_another_type_is_the_models_own(target: Any, tmp_path: Path) -> None:
    """As in `explain(x, classifier.classes_[1])`, whose file could not be read."""
    case = CASES["numbers, binned"]
    options: dict[str, Any] = {"task": "classification", "outputs": np.array([5, 7])}
    explain = explainer_of(case.model, case.data, budget=BUDGET, **options)
    survey = explain.survey(128, progress=False)
    own = (7, 5) if isinstance(target, tuple) else 5
    for made in (
        explain.explain(case.row(3), target),
        explain.explain(case.row(3)).about(target),
        explain.with_options(peers.SHAP_KERNEL).explain(case.row(3), target),
        survey.explain(case.row(3), target),
    ):
        assert repr(made.target) == repr(own)
        same(one_said(made), one_said(again(made, tmp_path)))
    for many in (
        explain.explain_many(rows(case, 3), target, progress=False),
        survey.explain_many(rows(case, 3), target, progress=False),
    ):
        assert repr(many.target) == repr(own)
        same(many_said(many), many_said(again(many, tmp_path)))
