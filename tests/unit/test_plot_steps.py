"""Plots of the way from a base value to predictions show numbers that add up."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.patches import Rectangle

import eagle
from eagle import Explanations, plot
from eagle.display.numbers import number
from eagle.plot.scatter import strongest_partner


def answer(rows: pd.DataFrame) -> np.ndarray:
    product = rows["b"] * (1 + (rows["town"] == "north"))
    return np.asarray(100 + 3 * rows["a"] * rows["e"] + 2 * product - rows["c"] + 0.1 * rows["d"])


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    out = pd.DataFrame(rng.normal(size=(90, 5)), columns=list("abcde"))
    return out.assign(town=rng.choice(["north", "south"], 90))


@pytest.fixture(scope="module")
def shares(rows: pd.DataFrame) -> Explanations:
    return eagle.Explainer(answer, rows).shapley(rows, budget=16, progress=False)


def bars_of(ax: Axes) -> list[Rectangle]:
    return [bar for made in ax.containers if isinstance(made, BarContainer) for bar in made.patches]


def texts_of(ax: Axes) -> list[str]:
    return [t.get_text() for t in ax.texts] + [t.get_text() for t in ax.get_yticklabels()]


@pytest.mark.parametrize("most", [2, 9])
def test_a_waterfall_leads_from_the_average_to_the_prediction(
    shares: Explanations, most: int
) -> None:
    e = shares[4]
    ax = plot.waterfall(e, max_display=most)
    bars = bars_of(ax)
    assert len(bars) == min(most + 1, 6)
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars[::-1]]
    assert ends[0][0] == pytest.approx(e.intercept)
    for (_, end), (start, _) in pairwise(ends):
        assert start == pytest.approx(end)
    assert ends[-1][1] == pytest.approx(e.prediction)
    assert ("other feature" in " ".join(texts_of(ax))) == (most < 6)
    low, high = ax.get_xlim()
    assert low < min(min(pair) for pair in ends) <= max(max(pair) for pair in ends) < high
    (whiskers,) = [c for c in ax.containers if isinstance(c, ErrorbarContainer)]
    widths = [np.ptp(segment[:, 0]) for segment in whiskers.lines[2][0].get_segments()]
    order = e.order()[:most]
    np.testing.assert_allclose(widths[: len(order)], np.diff(e.interval()[order], axis=1)[:, 0])
    assert any(number(e.prediction) in text for text in texts_of(ax))


def test_a_strip_meets_at_the_prediction(shares: Explanations) -> None:
    e = shares[4]
    bars = bars_of(plot.strip(e))
    up = sum(bar.get_width() for bar in bars if bar.get_x() < e.prediction - 1e-9)
    down = sum(bar.get_width() for bar in bars if bar.get_x() >= e.prediction - 1e-9)
    assert up == pytest.approx(e.scores[e.scores > 0].sum())
    assert down == pytest.approx(-e.scores[e.scores < 0].sum())
    assert e.intercept + up - down == pytest.approx(e.prediction)


def test_the_others_have_the_interval_of_their_sum(shares: Explanations) -> None:
    e = shares[4]
    (whiskers,) = [
        c for c in plot.waterfall(e, max_display=1).containers if isinstance(c, ErrorbarContainer)
    ]
    widths = [np.ptp(segment[:, 0]) for segment in whiskers.lines[2][0].get_segments()]
    posterior: Any = e.posterior
    rest = e.order()[1:]
    sums = posterior.draws(20_000)[:, rest].sum(axis=1)
    assert widths[1] == pytest.approx(np.ptp(np.quantile(sums, [0.025, 0.975])), rel=0.05)


def test_lines_of_a_decision_end_at_predictions(shares: Explanations, rows: pd.DataFrame) -> None:
    lines = [line for line in plot.decision(shares).lines if np.size(line.get_xdata()) == 7]
    assert len(lines) == 90
    ends = sorted(float(np.asarray(line.get_xdata())[-1]) for line in lines)
    np.testing.assert_allclose(ends, np.sort(shares.predictions))
    starts = {round(float(np.asarray(line.get_xdata())[0]), 6) for line in lines}
    assert starts == {round(float(shares.table.intercept[0]), 6)}
    ax = plot.decision(shares, "town")
    means = [line for line in ax.lines if np.size(line.get_xdata()) == 7]
    found = sorted(float(np.asarray(line.get_xdata())[-1]) for line in means)
    north = rows["town"] == "north"
    expected = [shares.predictions[north].mean(), shares.predictions[~north].mean()]
    np.testing.assert_allclose(found, sorted(expected))
    assert len(bars_of(ax)) == 12


def test_the_partner_is_what_scores_differ_by_at_equal_values(shares: Explanations) -> None:
    names = list(shares.names)
    assert strongest_partner(shares, names.index("a")) == names.index("e")
    assert strongest_partner(shares, names.index("e")) == names.index("a")
    assert strongest_partner(shares, names.index("b")) == names.index("town")
    ax = plot.dependence(shares, "b")
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "town"
    assert plot.dependence(shares, "b", colour=False).get_legend() is None


def test_a_line_begins_where_it_starts(rows: pd.DataFrame) -> None:
    e = eagle.Explainer(answer, rows, budget=200).explain(rows.iloc[3])
    ax = plot.waterfall(e)
    assert any(text.startswith("start ") for text in texts_of(ax))
    assert bars_of(ax)[-1].get_x() == pytest.approx(float(e.to_shap().base_values))


@pytest.mark.parametrize("draw", [plot.waterfall, plot.strip])
def test_an_end_that_is_not_known_is_refused(draw: Callable[..., Axes]) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    survey = eagle.Explainer(lambda r: r[:, 0] * r[:, 1], X).shapley_survey(X[:30], budget=8)
    with pytest.raises(eagle.InputError, match="not known"):
        draw(survey.explain(X[35], ask=False))
    _, ax = plt.subplots()
    assert draw(survey.explain(X[3]), ax) is ax
    plt.close("all")
