"""Several methods on one prediction: the table, its text, its figure and its command."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import joblib
import matplotlib
import numpy as np
import pandas as pd
import pytest

import eagle
from catalogue import Recorder
from eagle import Comparison, Texts, cli, compare_methods, methods, peers
from eagle._engine.method import Method
from eagle.comparison import Compared
from eagle.display import tables
from eagle.metrics.stability import chance, jaccard
from eagle.metrics.truth import agreement
from tables import explainer_of

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from eagle import plot

TWO: dict[str, Any] = {"task": "classification", "outputs": ("no", "yes")}
SOME = [methods.EAGLE, peers.LIME, peers.BAYESLIME, peers.TILIA]
TWELVE: list[Method] = [
    *(methods.EAGLE, methods.EAGLE_PAPER, peers.LIME, peers.GLIME, peers.GLIME_LIME),
    *(peers.BAYLIME, peers.BAYESLIME, peers.BAYESLIME_IID, peers.BAYESSHAP_IID),
    *(peers.TILIA, peers.CLIMAX, peers.DLIME_NEAREST),
]


def table(n: int = 200, d: int = 6) -> Any:
    return np.random.default_rng(4).normal(size=(n, d))


def two(X: Any) -> Any:
    X = np.asarray(X, dtype=float)
    p = 1 / (1 + np.exp(-X[:, 0] - np.sin(2 * X[:, 1]) * X[:, 2]))
    return np.column_stack([1 - p, p])


def explainer(model: Any = two, **options: Any) -> eagle.Explainer:
    return explainer_of(model, table(), **{"budget": 80, **TWO, **options})


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare_methods(explainer(), SOME, table()[[3]], 3, k=2, converged=2000, progress=False)


# -- what is compared ---------------------------------------------------------------------------


def test_one_entry_a_method_one_run_a_seed(found: Comparison) -> None:
    assert [m.method for m in found.methods] == ["EAGLE", "LIME", "BayesLIME", "Tilia"]
    for m in found.methods:
        assert [e.seed for e in m.runs] == [0, 1, 2]
        assert m.rows == np.mean([e.cost.rows for e in m.runs]) <= 80
        assert np.array_equal(m.scores, [e.scores for e in m.runs])
        assert m.stability == jaccard(m.scores, 2)
        assert found.converged is not None
        assert m.agreement == agreement(m.scores, found.converged.scores, 2)
        assert 0 <= m.stability <= 1
    assert found.methods[2].calls == 8  # ten at a time
    assert found.chance == chance(6, 2)


def test_the_overlaps_are_those_of_the_names_on_top(found: Comparison) -> None:
    """The metrics see arrays alone; the explanations' own rule for ties must be theirs."""
    for m in found.methods:
        tops = [set(e.top(2)) for e in m.runs]
        by_name = [len(a & b) / len(a | b) for a, b in combinations(tops, 2)]
        assert np.isclose(m.stability, np.mean(by_name))


def test_explanations_of_different_features_are_not_compared(found: Comparison) -> None:
    run = found.methods[0].first
    other = replace(run, names=(*run.names[:-1], "another"))
    with pytest.raises(eagle.InputError, match="different features"):
        Compared((run, other), 2)
    with pytest.raises(eagle.InputError, match="different features"):
        Compared((run, run), 2, other)


def test_every_run_is_what_the_explainer_says_alone(found: Comparison) -> None:
    for method, m in zip(SOME, found.methods, strict=True):
        for seed, e in enumerate(m.runs):
            alone = explainer(method=method, random_state=seed).explain(table()[[3]])
            assert np.array_equal(alone.scores, e.scores)


def test_no_two_runs_share_a_plan(found: Comparison) -> None:
    """Else stability would be perfect by construction."""
    for m in found.methods:
        points = [e.evidence.points.tobytes() for e in m.runs]
        assert len(set(points)) == 3


@pytest.mark.parametrize("equal", [True, False])
def test_budgets(equal: bool) -> None:
    model = Recorder(two)
    ex = explainer(model, budget=60)
    some = [methods.EAGLE, replace(peers.US_LIME, budget=5000), peers.BAYESLIME]
    c = compare_methods(ex, some, table()[[3]], 2, equal=equal, progress=False)
    most = [60] * 3 if equal else [500, 5000, 500]
    for m, budget in zip(c.methods, most, strict=True):
        assert all(0.5 * budget < e.cost.rows <= budget for e in m.runs)
    assert model.rows == sum(e.cost.rows for m in c.methods for e in m.runs)


def test_the_converged_rows_are_paid_for_once() -> None:
    model = Recorder(two)
    c = compare_methods(explainer(model), SOME[:2], table()[[3]], 2, converged=1500, progress=False)
    assert c.converged is not None
    assert c.converged.cost.rows <= 1500
    assert model.rows == c.converged.cost.rows + sum(e.cost.rows for m in c.methods for e in m.runs)
    lime = explainer(method=peers.LIME, budget=1500).explain(table()[[3]])
    assert np.array_equal(c.converged.scores, lime.scores)
    itself = compare_methods(
        explainer(budget=1500), [peers.LIME], table()[[3]], 1, converged=1500, progress=False
    )
    assert itself.methods[0].agreement == 1.0


def test_what_the_first_explains_all_explain() -> None:
    """A model whose answer at the instance is a tie: each method alone might choose its own."""
    calls = [0]

    def fickle(X: Any) -> Any:
        calls[0] += 1
        p = two(X)
        p[0] = [0.49, 0.51] if calls[0] == 1 else [0.51, 0.49]
        return p

    c = compare_methods(explainer(fickle), SOME, table()[[3]], 2, progress=False)
    assert {e.target for m in c.methods for e in m.runs} == {"yes"}
    given = compare_methods(explainer(), SOME, table()[[3]], 1, target="no", progress=False)
    assert {m.first.target for m in given.methods} == {"no"}
    pair = compare_methods(
        explainer(), SOME[:2], table()[[3]], 1, target=("yes", "no"), progress=False
    )
    assert pair.methods[0].first.target == ("yes", "no")


@pytest.mark.parametrize("wrong", [peers.GLIME_GAUSS, peers.DLIME, "LIME", None])
def test_a_method_that_cannot_is_refused_before_anything_is_asked(wrong: Any) -> None:
    """DLIME's cluster is larger than the budget of 80, which only its plan shows."""
    model = Recorder(two)
    with pytest.raises(eagle.InputError):
        compare_methods(explainer(model), [peers.LIME, wrong], table()[[3]], 2, progress=False)
    assert not model.asked


@pytest.mark.parametrize(
    "options",
    [
        {"runs": 0},
        {"runs": True},
        {"k": 0},
        {"converged": 0},
        {"converged": 1.5},
        {"target": "maybe"},
        {"x": np.zeros((2, 6))},
        {"x": np.zeros((1, 5))},
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_asked(options: dict[str, Any]) -> None:
    model = Recorder(two)
    x = options.pop("x", table()[[3]])
    with pytest.raises(eagle.InputError):
        compare_methods(explainer(model), SOME, x, progress=False, **options)
    with pytest.raises(eagle.InputError, match="no methods"):
        compare_methods(explainer(model), [], x, progress=False)
    assert not model.asked


def test_one_method_alone_and_one_run() -> None:
    c = compare_methods(explainer(), peers.LIME, table()[[3]], 1, progress=False)
    assert [m.method for m in c.methods] == ["LIME"]
    assert np.isnan(c.methods[0].stability)
    assert np.isnan(c.methods[0].agreement)
    assert "with seeds of their own" not in str(c)
    assert repr(c) == "<Comparison of 1 method, 1 run>"


def test_another_package_beside_ours() -> None:
    c = compare_methods(
        explainer(budget=300), [methods.EAGLE, peers.SHAP_KERNEL], table()[[3]], 2, progress=False
    )
    assert [m.method for m in c.methods] == ["EAGLE", "Kernel SHAP"]
    assert all(m.rows <= 300 for m in c.methods)
    assert "Kernel SHAP" in str(c)


# -- images and texts -------------------------------------------------------------------------


def test_texts() -> None:
    ex = eagle.Explainer(
        lambda texts: np.array([t.count("good") - t.count("bad") for t in texts], dtype=float),
        Texts(),
        task="regression",
        budget=40,
    )
    text = "a good film <b>not</b> a bad one & long"
    c = compare_methods(ex, [methods.EAGLE, peers.GLIME, peers.TILIA], text, 2, k=2, progress=False)
    assert set(c.methods[0].first.top(2)) == {"good", "bad"}
    assert c.methods[0].stability == 1.0
    assert "good" in c._repr_html_()
    assert len(plot.compare_methods(c)) == 3


# -- tables and words ---------------------------------------------------------------------------


def test_summary(found: Comparison) -> None:
    frame = found.summary()
    assert list(frame["method"]) == ["EAGLE", "LIME", "BayesLIME", "Tilia"]
    assert list(frame.columns) == [
        "method",
        "rows",
        "calls",
        "seconds",
        "stability",
        "chance",
        "agreement",
        "signed",
    ]
    assert (frame["seconds"] > 0).all()
    assert list(frame["signed"]) == [True, True, True, False]
    assert frame["chance"].eq(chance(6, 2)).all()
    assert not frame.isna().any().any()


def test_to_frame_is_tidy(found: Comparison) -> None:
    frame = found.to_frame()
    assert len(frame) == 4 * 3 * 6
    assert list(frame.columns[:3]) == ["method", "run", "feature"]
    assert not frame.duplicated(["method", "run", "feature"]).any()
    one = frame[(frame["method"] == "LIME") & (frame["run"] == 2)]
    assert np.array_equal(one["score"], found.methods[1].runs[2].scores)
    assert one["low"].isna().all()
    sure = frame[(frame["method"] == "EAGLE") & (frame["run"] == 0)]
    low, high = found.methods[0].first.interval().T
    assert np.array_equal(sure["low"], low)
    assert np.array_equal(sure["high"], high)
    narrow = found.to_frame(0.5)
    assert (narrow["high"].dropna() < frame["high"].dropna()).all()


def test_in_words(found: Comparison) -> None:
    text = str(found)
    for part in ("EAGLE", "LIME", "BayesLIME", "Tilia", "stability", "chance", "agreement", "±"):
        assert part in text
    assert "Without sign, only how much a feature matters: Tilia." in text
    assert f"features drawn at random would have {found.chance:.2f}" in text
    assert "LIME's explanation from" in text
    for row in [*tables.costs(found), *tables.scores(found)]:
        assert all(cell in text for cell in row)
    assert max(map(len, text.splitlines())) <= 200
    assert repr(found) == "<Comparison of 4 methods, 3 runs>"
    order = found.order()
    assert sorted(order) == list(range(6))
    share = sum(np.abs(m.first.scores) / np.abs(m.first.scores).max() for m in found.methods)
    assert (np.diff(np.asarray(share)[order]) <= 0).all()


def test_wide_tables_are_printed_in_parts() -> None:
    c = compare_methods(explainer(), TWELVE, table()[[3]], 1, progress=False)
    lines = str(c).splitlines()
    heads = [line for line in lines if line.startswith("feature")]
    assert len(heads) > 1
    assert sum(line.split().count("Tilia") for line in heads) == 1
    body = lines[2:]
    assert all(len(line) <= 110 for line in body if line.startswith(("x", "feature")))


# -- images of it -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("some", "runs"), [(SOME[:1], 1), ([peers.TILIA], 2), (SOME, 2), (TWELVE, 1)]
)
def test_an_axes_for_each_method(some: list[Method], runs: int) -> None:
    c = compare_methods(explainer(), some, table()[[3]], runs, converged=300, progress=False)
    axes = plot.compare_methods(c, max_display=4)
    assert axes.shape == (len(some),)
    assert all(isinstance(ax, Axes) for ax in axes)
    assert len({id(ax) for ax in axes}) == len(some)
    axes[0].figure.canvas.draw()
    for ax, m in zip(axes, c.methods, strict=True):
        assert ax.get_visible()
        assert len(ax.patches) == 4
        widths = [bar.get_width() for bar in ax.patches]
        assert np.allclose(widths, m.first.scores[c.order()[:4]])
    shown = [ax for ax in axes[0].figure.axes if ax.get_visible()]
    assert len(shown) == len(some)


# -- the command --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    from sklearn.linear_model import LogisticRegression

    folder = tmp_path_factory.mktemp("files")
    data = pd.DataFrame(table(), columns=list("abcdef"))
    data.assign(label=(data["a"] > 0).astype(int)).to_csv(folder / "data.csv", index=False)
    joblib.dump(LogisticRegression().fit(data, data["a"] > 0), folder / "model.joblib")
    return (
        *("compare", f"{folder}/model.joblib", "--trust", "--data", f"{folder}/data.csv"),
        *("--drop", "label", "--row", "3", "--budget", "60", "--runs", "2", "--quiet"),
    )


Capture = pytest.CaptureFixture[str]


def test_the_command_prints_a_table(command: tuple[str, ...], capsys: Capture) -> None:
    more = ("--methods", "eagle", "lime", "tilia", "--converged", "500", "--top", "2")
    assert cli.main([*command, *more]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for part in ("EAGLE", "LIME", "Tilia", "agreement", "overlap of the 2 strongest"):
        assert part in out


def test_the_command_writes_files(
    command: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    for end in ("txt", "png", "csv"):
        out = str(tmp_path / f"out.{end}")
        assert cli.main([*command, "--methods", "eagle", "glime", "--out", out]) == 0
    assert "GLIME" in (tmp_path / "out.txt").read_text(encoding="utf-8")
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    frame = pd.read_csv(tmp_path / "out.csv")
    assert len(frame) == 2 * 2 * 6
    assert set(frame["method"]) == {"EAGLE", "GLIME"}
    assert capsys.readouterr().out == ""
    assert not plt.get_fignums()


def test_the_command_refuses_in_a_sentence(
    command: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    for more in (
        ("--methods", "glime-gauss"),
        ("--methods", "eagle", "--runs", "0"),
        ("--methods", "eagle", "--out", str(tmp_path / "x.json")),
        ("--row", "999"),
    ):
        try:
            code = cli.main([*command, *more])
        except SystemExit as stop:  # a choice that argparse does not know
            code = int(stop.code or 0)
        assert code == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "Traceback" not in err
        assert err.strip()
    assert not list(tmp_path.iterdir())
