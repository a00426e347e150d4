"""What outputs say of slopes, of sure scores, of poor fits, and of values that are new."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

import eagle
from eagle import methods, peers, plot
from eagle._values.posterior import are_sure

RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "seniority": RNG.gamma(2.0, 4.0, 300).round(1),
        "home": RNG.choice(["rent", "own", "parents"], 300),
        "flag": RNG.integers(0, 2, 300),
    }
)


def risk(X: Any) -> Any:
    """Few years are a risk, and renting is a little one."""
    return -X["seniority"].to_numpy() / 8 + 0.5 * (X["home"] == "rent").to_numpy()


def shown(e: eagle.Explanation, folder: Path) -> dict[str, str]:
    """What each output says."""
    eagle.report(e, folder / "why.html")
    return {
        "text": str(e),
        "page": e._repr_html_(),
        "report": (folder / "why.html").read_text("utf-8"),
        "frame": e.to_frame().to_csv(),
        "json": json.dumps(e.to_dict(), ensure_ascii=False),
    }


# -- slopes --------------------------------------------------------------------------------------


def test_a_slope_is_named_as_one_everywhere(tmp_path: Path) -> None:
    e = eagle.Explainer(risk, eagle.Table(PEOPLE, view="continuous")).explain(PEOPLE.iloc[0])
    scale = PEOPLE["seniority"].std(ddof=0)
    label = f"per +1 SD ({scale:.4g}) of seniority"
    assert e.conditions[0] == label
    assert e.slopes == (True, False, True)  # a level is had or not
    assert e.conditions[1] == f"home = {PEOPLE['home'][0]}"
    assert e.scores[0] == pytest.approx(-scale / 8, rel=0.05)  # one more SD lowers the answer
    for output, said in shown(e, tmp_path).items():
        assert label in said, output
        assert "seniority = " not in said, output
    report = shown(e, tmp_path)["report"]
    assert f"«<bdi>{label} ({PEOPLE['seniority'][0]})</bdi>»" in report  # and the row's own value
    assert "lowers it most" in report
    assert "pushes it down most" not in report


def test_a_slope_is_named_as_one_in_few_words_and_of_many_rows(tmp_path: Path) -> None:
    explainer = eagle.Explainer(risk, eagle.Table(PEOPLE, view="continuous"))
    label = f"per +1 SD ({PEOPLE['seniority'].std(ddof=0):.4g}) of seniority"
    assert label in repr(explainer.explain(PEOPLE.iloc[0]))
    many = explainer.explain_many(PEOPLE.iloc[:20], progress=False)
    assert many.summary()["slope"].to_dict()["seniority"] == label
    assert many.summary()["slope"].to_dict()["home"] == ""
    halves = many.compare_groups(np.arange(20) < 10)
    assert halves.set_index("feature")["slope"].to_dict()["seniority"] == label
    both = [peers.LIME, methods.EAGLE_BALANCED]
    compared = eagle.compare_methods(explainer, both, PEOPLE.iloc[0], runs=2, progress=False)
    eagle.report(compared, tmp_path / "compared.html")
    drawn = [text.get_text() for text in eagle.plot.compare_methods(compared)[0].get_yticklabels()]
    assert label in str(compared)
    assert label.replace(" ", "") in "".join(drawn).replace(" ", "").replace("\n", "")
    assert (tmp_path / "compared.html").read_text("utf-8").count(f"<bdi>{label}") >= 3
    mixed = eagle.compare_methods(explainer, [peers.LIME, peers.TILIA], PEOPLE.iloc[0], runs=2)
    assert "Slopes, the change of the answer per step of a number: scores of LIME." in mixed.notes


def test_what_colours_mean_reads_well(tmp_path: Path) -> None:
    for view in ("continuous", "binned"):
        e = eagle.Explainer(
            risk, eagle.Table(PEOPLE[["seniority", "home"]].assign(flag=0.0), view=view)
        )
        said = shown(e.explain(PEOPLE.assign(flag=0.0).iloc[0]), tmp_path)["report"]
        assert ",:" not in said.split("How to read this")[1].split("</section>")[0]


def test_a_slope_by_a_scale_that_was_given_says_which() -> None:
    given = eagle.Explainer(risk, eagle.Table(PEOPLE, view="continuous", scales={"seniority": 2.0}))
    assert given.explain(PEOPLE.iloc[0]).conditions[0] == "per +2 of seniority"
    # a two-valued number moves by two steps of half its distance
    assert given.explain(PEOPLE.iloc[0]).conditions[2] == "per +0.5 of flag"


@pytest.mark.parametrize("method", [peers.TILIA, peers.SHAP_PERMUTATION])
def test_scores_about_values_are_no_slopes(method: Any) -> None:
    X = PEOPLE[["seniority", "flag"]].to_numpy(float)
    explainer = eagle.Explainer(
        lambda Z: Z[:, 0] - Z[:, 1], eagle.Table(X, view="continuous"), method=method, budget=400
    )
    e = explainer.explain(X[0])
    assert e.slopes == ()
    assert e.conditions == (f"x0 = {X[0, 0]:g}", f"x1 = {X[0, 1]:g}")


def test_a_plot_of_slopes_says_what_colours_mean() -> None:
    from matplotlib import pyplot as plt

    X = PEOPLE[["seniority", "flag"]].to_numpy(float)
    model = lambda Z: Z[:, 0] - Z[:, 1]  # noqa: E731
    views: list[tuple[Any, str]] = [("continuous", "rises with it"), ("binned", "pushes up")]
    for view, words in views:
        e = eagle.Explainer(model, eagle.Table(X, view=view)).explain(X[int(X[:, 0].argmax())])
        drawn = eagle.plot.attribution(e).get_legend()
        assert drawn is not None
        assert words in [text.get_text() for text in drawn.get_texts()]
        plt.close("all")


# -- sure ----------------------------------------------------------------------------------------


def test_sure_is_what_both_the_interval_and_the_probability_say() -> None:
    low, high = np.array([0.1, 0.1, -0.1, -2.0, np.nan]), np.array([1.0, 1.0, 1.0, -1.0, np.nan])
    sign = np.array([0.96, 0.92, 0.99, np.nan, 0.99])
    assert are_sure(low, high, sign, 0.95).tolist() == [True, False, False, True, False]


def test_where_interval_and_probability_disagree_there_is_no_verdict() -> None:
    """Many features without effect make a small score that stands out by chance suspicious."""
    d = 60
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, d))

    def model(Z: Any) -> Any:
        return np.sin(3 * Z[:, :8]).sum(axis=1) * Z[:, 8] + Z[:, 0] + 0.3 * Z[:, 9:20].sum(axis=1)

    seen = 0
    for i in range(6):
        e = eagle.Explainer(model, X, budget=400).explain(X[i])
        low, high = e.interval().T
        outside = (low > 0) | (high < 0)
        torn = outside & (e.probability_sign() < 0.95)
        seen += int(torn.sum())
        assert not e.sure()[torn].any()
        assert (e.sure() == (outside & (e.probability_sign() >= 0.95))).all()
        for bar in e.sheet().bars:
            assert bar.clear == e.sure()[e.conditions.index(bar.label)]
    assert seen > 0


def test_many_explanations_are_as_sure_as_each() -> None:
    X = RNG.normal(size=(100, 4))
    many = eagle.Explainer(lambda Z: Z[:, 0] + 0.1 * Z[:, 1], X).explain_many(X[:5])
    for level in (0.8, 0.95):
        assert (many.sure(level) == np.stack([e.sure(level) for e in many])).all()
        assert (many.doubtful(level) == np.stack([e.doubtful(level) for e in many])).all()


# -- poor fits -----------------------------------------------------------------------------------


def test_a_poor_fit_is_a_note_and_no_warning(tmp_path: Path) -> None:
    X = RNG.normal(size=(300, 3))
    jagged = eagle.Explainer(lambda Z: np.sign(np.sin(40 * Z).prod(axis=1)), X)
    e = jagged.explain(X[0])
    assert e.r2_held_out < 0.1
    (note,) = e.notes
    assert "held out" in note
    assert not any(note in warning for warning in e.warnings)
    for output, said in shown(e, tmp_path).items():
        assert output == "frame" or note[:40].lower() in said.lower(), output
    many = jagged.explain_many(X[:20])
    (said,) = many.notes
    low = int((many.table.r2_held_out < 0.1).sum())
    assert f"{low} of 20 rows" in said
    assert np.median(many.table.r2_held_out) < 0.005  # which is no share of anything
    assert "median of all rows: next to nothing" in said
    summary = many.summary()
    assert summary.attrs["notes"] == [said]
    assert summary.attrs["fit"].endswith(f"below 0.1 in {low} of 20 rows")
    eagle.report(many, tmp_path / "many.html")
    assert summary.attrs["fit"] in (tmp_path / "many.html").read_text("utf-8")
    for output in ((tmp_path / "many.html").read_text("utf-8"), many._repr_html_()):
        assert said[:40].lower() in output.lower()


def test_a_good_fit_has_no_note() -> None:
    X = RNG.normal(size=(300, 3))
    plain = eagle.Explainer(lambda Z: Z @ np.ones(3), eagle.Table(X, view="continuous"))
    assert plain.explain(X[0]).notes == ()
    many = plain.explain_many(X[:5])
    assert many.notes == ()
    assert (
        many.summary().attrs["fit"] == "R² on held-out rows: median 1.00, below 0.1 in 0 of 5 rows"
    )


# -- new values ----------------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["binned", "continuous"])
def test_a_value_that_the_data_never_had_is_said_to_be_new(view: Any, tmp_path: Path) -> None:
    row = PEOPLE.iloc[[0]].assign(home="castle")
    e = eagle.Explainer(risk, eagle.Table(PEOPLE, view=view)).explain(row)
    for output, said in shown(e, tmp_path).items():
        assert "home = castle (not in the data)" in said, output
    assert "home = castle (not in the data)" in repr(e)
    both: list[Any] = [eagle.methods.DEFAULT, eagle.peers.LIME]
    explainer = eagle.Explainer(risk, eagle.Table(PEOPLE, view=view))
    compared = eagle.compare_methods(explainer, both, row, 2, progress=False)
    eagle.report(compared, tmp_path / "compared.html")
    drawn = plot.compare_explanations({"one": e, "same": e})
    said = " ".join(text.get_text() for text in drawn.get_yticklabels())
    plt.close("all")
    for text in (
        str(compared),
        compared._repr_html_(),
        (tmp_path / "compared.html").read_text("utf-8").split("All scores")[1],
        said.replace("\n", " "),
    ):
        assert "home = castle (not in the data)" in text
    missing = PEOPLE.iloc[[0]].assign(home=None)
    again = eagle.Explainer(risk, eagle.Table(PEOPLE, view=view)).explain(missing)
    assert again.conditions[1] == "home is missing (not in the data)"
    known = eagle.Explainer(risk, eagle.Table(PEOPLE, view=view)).explain(PEOPLE.iloc[0])
    assert "not in the data" not in str(known)


def test_a_survey_says_it_too() -> None:
    survey = eagle.Explainer(risk, PEOPLE).survey(128, progress=False)
    many = survey.explain_many(PEOPLE.iloc[:3].assign(home=["castle", "rent", None]))
    said = many.table.conditions[:, 1].tolist()
    assert said == [e.conditions[1] for e in many]
    assert said == ["home = castle (not in the data)", "home = rent", said[2]]
    assert said[2] == "home is missing (not in the data)"
