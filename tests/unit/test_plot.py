"""Plots show the numbers of the explanation as they are, and open no window."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgba
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from eagle import Explainer, Explanation, Table, plot
from eagle._engine.evidence import Asked
from eagle._values.arrays import Array
from eagle._values.posterior import StudentT
from eagle._values.text import value_text
from eagle.display.colours import DOWN, UP
from eagle.errors import InputError, MissingExtraError
from eagle.plot.lines import spread
from eagle.surrogates.bayes import BayesLinear

MATHS = ("$x^", "a_b $ c", "$\\frac{1}{$", "100% \\$ & #", "tab\tand\nbreak", "plain")

DRAW: list[Callable[..., Axes]] = [
    plot.attribution,
    lambda e, ax=None, **how: plot.compare_explanations(
        {"one": e, "_two $x^": e.about("benign")}, ax, **how
    ),
    plot.convergence,
]
drawn = pytest.mark.parametrize("draw", DRAW, ids=["attribution", "comparison", "convergence"])


@pytest.fixture(scope="module")
def explanations() -> list[Explanation]:
    data = load_breast_cancer(as_frame=True)
    model = RandomForestClassifier(20, random_state=0).fit(
        data.data, data.target_names[data.target]
    )
    x = data.data.iloc[0]
    return [Explainer(model, data.data, budget=120, random_state=s).explain(x) for s in (0, 1)]


@pytest.fixture
def explanation(explanations: list[Explanation]) -> Explanation:
    return explanations[0]


@pytest.fixture(autouse=True)
def _nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(*_: Any, **__: Any) -> None:
        raise AssertionError("a plot was shown")

    monkeypatch.setattr(plt, "show", shown)


def first(e: Explanation, d: int) -> Explanation:
    """The explanation of the first d features alone."""
    assert isinstance(e.evidence, Asked)
    seen = replace(e.evidence, features=e.evidence.features[:, :d])
    few: dict[str, Any] = {
        name: getattr(e, name)[:d] for name in ("names", "conditions", "data", "contrast", "slopes")
    }
    p = e.posterior
    assert isinstance(p, StudentT)
    posterior = replace(p, mean=p.mean[:d], factor=p.factor[:d, :d])
    return replace(e, **few, evidence=seen, scores=e.scores[:d], posterior=posterior)


def bars_of(ax: Axes) -> list[Rectangle]:
    return next(c for c in ax.containers if isinstance(c, BarContainer)).patches


def lines_of(ax: Axes) -> list[Array]:
    """The ends of the intervals, shape (n, 2), one array for each set of error bars."""
    found = []
    for container in ax.containers:
        if isinstance(container, ErrorbarContainer):
            (bars,) = container.lines[2]
            found.append(np.array([s[:, 0] for s in bars.get_segments()]))
    return found


def labels_of(ax: Axes) -> list[str]:
    return [t.get_text() for t in ax.get_yticklabels()]


# -- all of them --------------------------------------------------------------------------------


@drawn
def test_the_given_axes_come_back_and_no_figure_is_made(
    draw: Callable[..., Axes], explanation: Explanation
) -> None:
    _, ax = plt.subplots()
    assert draw(explanation, ax) is ax
    assert len(plt.get_fignums()) == 1
    fresh = draw(explanation)
    assert isinstance(fresh, Axes)
    assert len(plt.get_fignums()) == 2


@drawn
def test_a_figure_of_our_own_cuts_nothing_and_leaves_the_axes_their_size(
    draw: Callable[..., Axes], explanation: Explanation
) -> None:
    long = tuple(f"{name} " * 9 for name in explanation.names)
    ax = draw(replace(explanation, names=long, conditions=long))
    figure = ax.figure
    figure.canvas.draw()
    outer = ax.get_tightbbox()
    assert outer is not None
    assert outer.x0 >= 0
    assert outer.y0 >= 0
    assert outer.x1 <= figure.bbox.x1
    assert outer.y1 <= figure.bbox.y1
    assert ax.get_window_extent().width / figure.dpi == pytest.approx(4.6, abs=0.02)


@drawn
def test_mathematics_in_labels_is_only_text(
    draw: Callable[..., Axes], explanation: Explanation
) -> None:
    e = first(explanation, len(MATHS))
    e = replace(e, names=MATHS, conditions=MATHS, target="malignant", outputs=("malignant", "$"))
    e = replace(e, target=("malignant", "$"))
    if draw is DRAW[1]:
        ax = plot.compare_explanations({"$x^": e, "_$": e})
        legend = ax.get_legend()
        assert legend is not None
        assert [t.get_text() for t in legend.get_texts()] == ["$x^", "_$"]
    else:
        ax = draw(e, max_display=6)
    ax.figure.canvas.draw()
    texts = [*labels_of(ax), *(t.get_text() for t in ax.texts)]
    assert {*MATHS[:4], "tab and break", "plain"} <= set(texts)
    assert "not $?" in ax.get_title(loc="left")


@drawn
@pytest.mark.parametrize("kind", ["one feature", "zero", "negative", "one row"])
def test_odd_explanations_are_drawn(
    draw: Callable[..., Axes], explanation: Explanation, kind: str
) -> None:
    e = explanation
    if kind == "one feature":
        e = first(e, 1)
    elif kind == "zero":
        nothing = StudentT(0 * e.scores, np.eye(len(e.names)), 9, 0.0)
        e = replace(e, scores=0 * e.scores, posterior=nothing)
    elif kind == "negative":
        e = replace(e, scores=-abs(e.scores), posterior=None)
    else:
        s = e.evidence
        one = Asked(s.points[:1], s.features[:1], s.weight[:1], s.answers[:1], s.repeats[:1])
        e = replace(e, evidence=one)
    draw(e, max_display=60).figure.canvas.draw()


@drawn
@pytest.mark.parametrize("wrong", [{"max_display": 0}, {"level": 1.0}, {"ax": "axes"}])
def test_what_does_not_fit_is_refused_in_a_sentence_and_no_figure_stays(
    draw: Callable[..., Axes], explanation: Explanation, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match=r"at least 1|between 0 and 1|one matplotlib Axes"):
        draw(explanation, **wrong)
    assert not plt.get_fignums()


@drawn
def test_without_matplotlib_only_the_call_fails(
    draw: Callable[..., Axes], explanation: Explanation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(MissingExtraError, match=r"eagle-xai\[plot\]"):
        draw(explanation)


def test_the_import_does_not_load_matplotlib() -> None:
    code = "import sys, eagle.plot; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# -- attribution --------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_bars_are_scores_and_whiskers_intervals(explanation: Explanation, level: float) -> None:
    e = explanation
    ax = plot.attribution(e, level=level, max_display=30)
    bars, order = bars_of(ax), e.order()
    np.testing.assert_allclose([b.get_width() for b in bars], e.scores[order])
    (whiskers,) = lines_of(ax)
    np.testing.assert_allclose(whiskers, e.interval(level)[order], atol=1e-15)
    unclear = ~e.sure(level)[order]
    assert 0 < unclear.sum() < 30
    assert [bool(b.get_hatch()) for b in bars] == unclear.tolist()
    assert [to_rgba(b.get_facecolor())[3] < 1 for b in bars] == unclear.tolist()
    colours = [UP if s > 0 else DOWN for s in e.scores[order]]
    assert [to_hex(b.get_facecolor()).upper() for b in bars] == colours
    assert f"{100 * level:g}% interval" in ax.get_xlabel()


def test_the_strongest_is_on_top_and_the_rest_is_counted(explanation: Explanation) -> None:
    ax = plot.attribution(explanation, max_display=4)
    own = dict(zip(explanation.conditions, explanation.data, strict=True))
    said = [
        f"{c} ({value_text(own[c])})" for c, _ in explanation.as_list()[:4]
    ]  # bins, and own values
    assert labels_of(ax) == said
    assert ax.yaxis_inverted()
    more = [t.get_text() for t in ax.get_yticklabels(minor=True)]
    assert more == ["… and 26 more features"]
    assert ax.get_title(loc="left") == explanation.title
    assert not plot.attribution(explanation, max_display=30).get_yticklabels(minor=True)


def test_numbers_stand_beyond_bars_and_whiskers_within_the_axes(explanation: Explanation) -> None:
    ax = plot.attribution(explanation, max_display=30)
    ax.figure.canvas.draw()
    order, inner = explanation.order(), ax.get_window_extent()
    bars, (whiskers,) = bars_of(ax), lines_of(ax)
    assert len(ax.texts) == 30
    for y, text in enumerate(ax.texts):
        score = explanation.scores[order[y]]
        assert f"  {text.get_text()}  " in str(explanation) or y >= 20
        box = Text.get_window_extent(text)
        ends = [bars[y].get_x() + bars[y].get_width(), *whiskers[y]]
        left, right = ax.transData.transform([(min(ends), y), (max(ends), y)])[:, 0]
        assert box.x0 > right if score >= 0 else box.x1 < left
        assert inner.x0 <= box.x0
        assert box.x1 <= inner.x1
    legend = ax.get_legend()
    assert legend is not None
    assert [t.get_text() for t in legend.get_texts()] == [
        "pushes up",
        "pushes down",
        "sign not sure",
    ]


def test_a_long_name_keeps_its_condition_and_its_value(explanation: Explanation) -> None:
    names = tuple(
        f"the {name} " + "of_all_the_cells_that_were_seen_" * 5 for name in explanation.names
    )
    pairs = zip(explanation.names, names, explanation.conditions, strict=True)
    conditions = tuple(c.replace(old, new) for old, new, c in pairs)
    e = replace(explanation, names=names, conditions=conditions)
    for label, j in zip(labels_of(plot.attribution(e, max_display=5)), e.order(), strict=False):
        assert label.count("\n") == 1
        told = label.replace("\n", " ")
        assert "…" in told
        before, after = conditions[j].split(names[j])
        assert told.startswith(before)
        assert told.endswith(f"{after} ({value_text(e.data[j])})")


@pytest.mark.parametrize(("across", "down"), [(1, 1), (2, 2), (1, 3)])
def test_a_layout_clips_nothing_of_a_grid(explanation: Explanation, across: int, down: int) -> None:
    figure, axes = plt.subplots(down, across, figsize=(9, 8), layout="constrained", squeeze=False)
    for ax in axes.flat:
        plot.attribution(explanation, ax, max_display=8)
    figure.canvas.draw()
    boxes = [ax.get_tightbbox() for ax in axes.flat]
    for box in boxes:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:i])


def test_the_warning_stands_below(explanation: Explanation) -> None:
    assert isinstance(explanation.evidence, Asked)
    constant = replace(explanation.evidence, answers=0 * explanation.evidence.answers)
    ax = plot.attribution(replace(explanation, evidence=constant))
    note = ax.texts[-1]
    assert note.get_text().replace("\n", " ").startswith("Warning: the model gave the same answer")
    assert "\n" in note.get_text()


@pytest.mark.parametrize(
    ("view", "says"), [("binned", "having this value"), ("continuous", "per standard deviation")]
)
def test_the_axis_says_what_a_score_is(view: Any, says: str) -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    e = Explainer(lambda X: X @ [1.0, -2.0], Table(X, view=view), budget=30).explain(X[0])
    assert says in plot.attribution(e).get_xlabel()


# -- comparison ---------------------------------------------------------------------------------


def test_dots_stand_at_the_scores_of_features_ordered_by_mean_size(
    explanations: list[Explanation],
) -> None:
    one, two = explanations
    ax = plot.compare_explanations({"one": one, "two": two}, max_display=7)
    order = np.argsort(-(abs(one.scores) + abs(two.scores)), kind="stable")[:7]
    assert labels_of(ax) == [one.names[j] for j in order]
    for e, dots, line in zip((one, two), ax.collections[-3::2], lines_of(ax), strict=True):
        np.testing.assert_allclose(np.asarray(dots.get_offsets())[:, 0], e.scores[order])
        np.testing.assert_allclose(line, e.interval()[order], atol=1e-15)


def test_features_that_one_lacks_are_left_out_there(explanations: list[Explanation]) -> None:
    one, two = explanations[0], first(explanations[1], 2)
    two = replace(two, names=("elsewhere", one.names[0]), scores=np.array([9.0, 8.0]))
    ax = plot.compare_explanations({"one": one, "two": two}, max_display=3)
    assert labels_of(ax)[:2] == ["elsewhere", one.names[0]]
    assert [len(line) for line in lines_of(ax)] == [2, 2]


@pytest.mark.parametrize(
    ("wrong", "says"), [({}, "no explanations"), ([1], "by name"), ({"a": 1}, "not 1")]
)
def test_what_cannot_be_compared_is_said(wrong: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        plot.compare_explanations(wrong)


# -- convergence --------------------------------------------------------------------------------


def test_lines_are_fits_of_prefixes_and_end_at_the_explanation(explanation: Explanation) -> None:
    e = explanation
    ax = plot.convergence(e, max_display=3, steps=9)
    lines = [line for line in ax.lines if len(np.asarray(line.get_xdata())) > 2]
    assert len(lines) == 3
    rows = np.asarray(lines[0].get_xdata()).astype(int)
    assert (rows[0], rows[-1], len(rows)) == (32, 120, 9)
    y = e.evidence.answers[:, e.outputs.index(e.target)]
    for n in (0, 4, 8):
        part = slice(rows[n])
        fit = BayesLinear().fit(e.evidence.features[part], y[part], e.evidence.weight[part])
        shown = [float(np.asarray(line.get_ydata())[n]) for line in lines]
        np.testing.assert_allclose(shown, fit.scores[e.order()[:3]])
    ends = [float(np.asarray(line.get_ydata())[-1]) for line in lines]
    np.testing.assert_allclose(ends, e.scores[e.order()[:3]])
    assert [t.get_text() for t in ax.texts] == [c for c, _ in e.as_list()[:3]]


def test_labels_of_lines_keep_their_distance(explanation: Explanation) -> None:
    ax = plot.convergence(explanation, max_display=12)
    ax.figure.canvas.draw()
    # Text's own extent: an annotation's includes the leader.
    boxes = sorted((Text.get_window_extent(t) for t in ax.texts), key=lambda b: float(b.y0))
    assert len(boxes) == 12
    assert all(below.y1 <= above.y0 for below, above in pairwise(boxes))
    places = spread(np.array([5.0, 40.0, 5.0, 5.0]), 10.0)
    np.testing.assert_allclose(places, [-5.0, 40.0, 5.0, 15.0])
