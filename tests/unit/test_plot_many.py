"""Plots of many explanations show their numbers as they are, however many there are."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.offsetbox import AnnotationBbox, TextArea
from matplotlib.patches import Rectangle, StepPatch
from numpy.typing import NDArray

import eagle
from eagle import Explanations, plot
from eagle._values.arrays import Array
from eagle._values.text import middle
from eagle.display.colours import GREY, LEVELS
from eagle.errors import InputError
from eagle.explanations import Common
from eagle.plot import grid
from eagle.plot.many import PALE_SHARE, FeatureValues, ramp, stack_points, thin_cells
from eagle.plot.page import ground, page
from synthetic import synthetic

ROWS = 240


def people(rows: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, rows),
            "income": rng.normal(4, 1.2, rows),
            "job": rng.choice(["clerk", "nurse", "smith"], rows, p=[0.5, 0.3, 0.2]),
            "height $x^": rng.normal(1.7, 0.1, rows),
        }
    )
    table.loc[table.index % 10 == 3, "income"] = np.nan
    table.loc[table.index % 17 == 5, "job"] = None
    return table


def answer(table: pd.DataFrame) -> Array:
    noise = np.sin(1000 * table["height $x^"])
    values = table["age"] / 40 + (table["job"] == "nurse") * table["income"].fillna(3) + noise
    return np.asarray(values, dtype=float)


@pytest.fixture(scope="module")
def many() -> Explanations:
    table = people()
    survey = eagle.Explainer(answer, table).survey(512, progress=False)
    made = survey.explain_many(table, progress=False)
    t = made.table
    return replace(made, errors=Common(t.scores, t.spread, t.df))  # a survey's own are slower


def normal(rows: int, d: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, d)) * np.linspace(1.0, 0.05, d)


DRAW: dict[str, Callable[..., Axes]] = {
    "importance": plot.importance,
    "beeswarm": plot.beeswarm,
    "dependence": lambda e, ax=None: plot.dependence(e, e.names[1], ax, colour=e.names[0]),
    "levels": lambda e, ax=None: plot.dependence(e, e.names[2], ax, colour=e.names[2]),
    "heatmap": plot.heatmap,
    "groups": lambda e, ax=None: plot.groups(e.compare_groups(e.names[2]), ax),
}
drawn = pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW)


@pytest.fixture(autouse=True)
def _nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(*_: Any, **__: Any) -> None:
        raise AssertionError("a plot was shown")

    monkeypatch.setattr(plt, "show", shown)


def labels_of(ax: Axes) -> list[str]:
    return [t.get_text() for t in ax.get_yticklabels()]


def bars_of(ax: Axes) -> list[list[Rectangle]]:
    return [c.patches for c in ax.containers if isinstance(c, BarContainer)]


def lines_of(ax: Axes, axis: int = 0) -> Array:
    """The ends of error bars, shape (n, 2)."""
    (container,) = [c for c in ax.containers if isinstance(c, ErrorbarContainer)]
    (bars,) = container.lines[2]
    return np.array([segment[:, axis] for segment in bars.get_segments()])


def points_of(ax: Axes, k: int = 0) -> tuple[Array, Array]:
    """Places and colours of the k-th set of points."""
    points: Any = ax.collections[k]
    return np.asarray(points.get_offsets()), points.get_facecolors()[:, :3]


def faint(colour: Any, ax: Axes) -> Array:
    return np.asarray(PALE_SHARE * np.array(to_rgb(colour)) + (1 - PALE_SHARE) * ground(ax))


# -- all of them ---------------------------------------------------------------------------------


@drawn
def test_axes_in_axes_out(draw: Callable[..., Axes], many: Explanations) -> None:
    _, ax = plt.subplots()
    assert draw(many, ax) is ax
    assert len(plt.get_fignums()) == 1
    draw(many)
    assert len(plt.get_fignums()) == 2
    with pytest.raises(InputError, match="one matplotlib Axes"):
        draw(many, "axes")


@drawn
@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_nothing_is_cut_and_the_axes_keep_their_size(
    draw: Callable[..., Axes], many: Explanations, style: str
) -> None:
    names = tuple(f"{name} $\\frac{{ {'very long ' * 12}" for name in many.names)
    with plt.style.context(style):
        ax = draw(replace(many, stacked=replace(many.table, names=names)))
        figure = ax.figure
        figure.canvas.draw()
    outer = ax.get_tightbbox()
    assert outer is not None
    assert outer.x0 >= 0
    assert outer.y0 >= 0
    assert outer.x1 <= figure.bbox.x1
    assert outer.y1 <= figure.bbox.y1
    assert ax.get_window_extent().width / figure.dpi == pytest.approx(4.6, abs=0.02)


@pytest.mark.parametrize(("rows", "d"), [(1, 1), (60, 30)])
@pytest.mark.parametrize("name", ["importance", "beeswarm", "dependence", "heatmap"])
def test_few_and_many_rows_and_features_are_not_cut(name: str, rows: int, d: int) -> None:
    e = synthetic(normal(rows, d))
    draw: Any = getattr(plot, name)
    ax = draw(e, "x0") if name == "dependence" else draw(e)
    figure = ax.figure
    figure.canvas.draw()
    outer = ax.get_tightbbox()
    assert outer.y1 <= figure.bbox.y1 + 0.5
    assert outer.y0 >= -0.5
    assert outer.x1 <= figure.bbox.x1 + 0.5
    title = ax.get_title("left")
    assert title == f"{rows} row{'s' if rows > 1 else ''} explained about yes"


@drawn
def test_what_cannot_be_averaged_is_refused(draw: Callable[..., Axes], many: Explanations) -> None:
    mixed = replace(many, targets=("one", *many.targets[1:]))
    with pytest.raises(InputError, match="different classes"):
        draw(mixed)


def test_what_is_no_result_is_refused(many: Explanations) -> None:
    for name in ("importance", "beeswarm", "heatmap"):
        with pytest.raises(InputError, match=f"{name} draws Explanations, as explain_many"):
            getattr(plot, name)([many[0]])
    with pytest.raises(InputError, match=r"groups draws what explanations\.compare_groups"):
        plot.groups(many)
    with pytest.raises(InputError, match="give the whole table"):
        plot.groups(many.compare_groups("job").iloc[1:])
    with pytest.raises(InputError, match="no feature 'hair'; there are age, income"):
        plot.dependence(many, "hair")


@drawn
def test_features_that_are_not_shown_are_counted(draw: Callable[..., Axes]) -> None:
    e = synthetic(normal(60, 40))
    labels = np.array(["a", "b", "c"], dtype=object)[np.arange(60) % 3]
    e = replace(e, stacked=replace(e.table, data=np.tile(labels[:, None], (1, 40))))
    ax = draw(e)
    counted = [t.get_text() for t in ax.get_yticklabels(minor=True)]
    if ax.get_ylabel():  # dependence draws one feature
        return
    shown = len([label for label in labels_of(ax) if label])
    assert counted == [f"… and {40 - shown} more features"]
    assert 10 <= shown <= 20


def test_names_lose_their_middle() -> None:
    assert middle("short", 10) == "short"
    assert middle("question 17 of the survey, part b", 20) == "question 1…y, part b"
    assert len(middle("x" * 99, 20)) == 20


# -- importance ----------------------------------------------------------------------------------


def test_bars_are_the_importance_and_which_way_it_pushes(many: Explanations) -> None:
    ax = plot.importance(many)
    means = many.importance()
    order = means.order()
    assert labels_of(ax) == [many.names[j] for j in order]
    up, down = bars_of(ax)
    blue = np.array([bar.get_width() for bar in up])
    both = blue + [bar.get_width() for bar in down]
    assert both == pytest.approx(means.value[order])
    assert blue == pytest.approx(np.where(many.scores > 0, many.scores, 0).mean(axis=0)[order])
    assert lines_of(ax) == pytest.approx(np.stack([means.low, means.high], axis=1)[order])


def test_a_bar_is_hatched_where_the_interval_reaches_zero() -> None:
    scores = np.tile([1.0, -0.01], (40, 1))
    up, down = bars_of(plot.importance(synthetic(scores)))
    assert [bar.get_hatch() for bar in up] == ["", "/////"]
    assert [bar.get_width() for bar in up] == pytest.approx([1.0, 0.0])
    assert [bar.get_width() for bar in down] == pytest.approx([0.0, 0.01])


def test_one_row_has_no_interval_for_other_rows() -> None:
    ax = plot.importance(synthetic(normal(1, 3)))
    assert np.isfinite(ax.get_xlim()).all()


def test_scores_without_a_sign_are_grey() -> None:
    e = synthetic(1 + np.abs(normal(30, 3)), 0.0)
    (bars,) = bars_of(plot.importance(replace(e, stacked=replace(e.table, signed=False))))
    assert {to_rgb(bar.get_facecolor()) for bar in bars} == {to_rgb(GREY)}


# -- beeswarm ------------------------------------------------------------------------------------


def test_a_point_for_each_row_at_its_score(many: Explanations) -> None:
    ax = plot.beeswarm(many[:50])
    order = np.argsort(-np.abs(many.scores[:50]).mean(axis=0))
    assert labels_of(ax) == [many.names[j] for j in order]
    for y, j in enumerate(order):
        places, _ = points_of(ax, y)
        assert np.sort(places[:, 0]) == pytest.approx(np.sort(many.scores[:50, j]))
        assert np.abs(places[:, 1] - y).max() < 0.5


def test_points_are_coloured_by_value_and_pale_where_unsure() -> None:
    scores = np.array([[-3.0], [-1.0], [-0.01], [0.02], [2.0], [4.0]])
    values = np.array([[10], [20], [20], [30], [None], [40]], dtype=object)
    ax = plot.beeswarm(synthetic(scores, values=values))
    places, colours = points_of(ax)
    by = {round(float(x), 2): c for (x, _), c in zip(places, colours, strict=True)}
    cmap = ramp(ax)
    assert by[-3.0] == pytest.approx(cmap(0.0)[:3])
    assert by[4.0] == pytest.approx(cmap(1.0)[:3])
    assert by[2.0] == pytest.approx(to_rgb(GREY))
    rank = FeatureValues.of(values[:, 0]).rank
    assert by[-0.01] == pytest.approx(faint(cmap(rank[2])[:3], ax), abs=1e-6)
    assert by[0.02] == pytest.approx(faint(cmap(rank[3])[:3], ax), abs=1e-6)
    assert rank[1] == rank[2] < rank[3]
    texts = [t.get_text() for t in _key_texts(ax)]
    assert texts == ["10", "40", "missing"]


def _key_texts(ax: Axes) -> list[Any]:
    (box,) = [a for a in ax.artists if isinstance(a, AnnotationBbox)]
    parts = box.offsetbox.get_children()
    return [part.get_children()[0] for part in parts if isinstance(part, TextArea)]


def test_levels_have_colours_of_their_own_the_most_frequent_first() -> None:
    levels = [f"level {k}" for k in range(9) for _ in range(10 - k)]
    values = np.array(levels, dtype=object)[:, None]
    ax = plot.beeswarm(synthetic(np.linspace(1, 2, len(levels))[:, None], 0.0, values))
    places, colours = points_of(ax)
    by_x = colours[np.argsort(places[:, 0])]
    assert by_x[0] == pytest.approx(to_rgb(LEVELS[0]))
    assert by_x[10] == pytest.approx(to_rgb(LEVELS[1]))
    assert by_x[-1] == pytest.approx(to_rgb("black"))  # one of the others
    first = _key_texts(ax)[0]
    assert first.get_text() == "level 0"
    assert to_rgb(first.get_color()) == to_rgb(LEVELS[0])


def test_many_rows_are_thinned_but_no_outlier_is_lost() -> None:
    scores = normal(30_000, 2)
    scores[77] = [9.0, -9.0]
    ax = plot.beeswarm(synthetic(scores))
    for y in range(2):
        places, _ = points_of(ax, y)
        assert len(places) < 6000
        assert scores[77, y] in places[:, 0]
        assert np.ptp(places[:, 0]) == pytest.approx(np.ptp(scores[:, y]), rel=0.02)
        assert np.abs(places[:, 1] - y).max() < 0.5
    assert "Where rows crowd, some stand for all" in ax.get_xlabel()
    again = plot.beeswarm(synthetic(scores))
    assert np.array_equal(points_of(ax)[0], points_of(again)[0])


def test_a_swarm_is_as_high_as_its_rows_are_many() -> None:
    scores = np.array([0.0] * 900 + [1.0] * 100)[:, None]
    places, _ = points_of(plot.beeswarm(synthetic(scores)))
    most, few = (places[places[:, 0] == x, 1] for x in (0.0, 1.0))
    assert np.ptp(few) / np.ptp(most) == pytest.approx(1 / 3, rel=0.05)


def test_colours_stand_out_on_light_and_dark() -> None:
    for style in ("default", "dark_background"):
        with plt.style.context(style):
            p = page(None, 4.6, 3.0, "test")
            light = ramp(p.ax)(np.linspace(0, 1, 20))[:, :3] @ [0.299, 0.587, 0.114]
            behind = ground(p.ax) @ [0.299, 0.587, 0.114]
        assert np.abs(light - behind).min() > 0.25


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 9), st.data())
def test_thinning_keeps_what_is_rare_and_bounds_what_is_frequent(
    cells: list[int], most: int, data: st.DataObject
) -> None:
    where = np.array(cells)
    first = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(cells), max_size=len(cells))))
    kept = thin_cells(where, first, most)
    assert len(set(kept.tolist())) == len(kept)
    for cell in set(cells):
        inside = kept[where[kept] == cell]
        assert len(inside) == min(most, cells.count(cell))
        assert (np.diff(first[inside]) >= 0).all()
    lift = stack_points(where, kept, 0.1, 0.8)
    for cell in set(cells):
        here = lift[where[kept] == cell]
        assert here.sum() == pytest.approx(0, abs=1e-9)
        assert np.ptp(here) <= 0.8
        assert len(here) == 1 or (np.diff(here) > 0).all()


# -- dependence ----------------------------------------------------------------------------------


def test_few_rows_have_their_own_error_bars(many: Explanations) -> None:
    some = many[:40]
    ax = plot.dependence(some, "age")
    places, _ = points_of(ax)
    expected = np.column_stack([some.data[:, 0].astype(float), some.scores[:, 0]])
    assert places[np.lexsort(places.T)] == pytest.approx(expected[np.lexsort(expected.T)])
    assert lines_of(ax, 1) == pytest.approx(some.interval()[:, 0])
    assert "interval, of each row" in ax.get_xlabel()


def test_the_error_bars_of_many_rows_are_of_rows_that_exist(many: Explanations) -> None:
    ax = plot.dependence(many, "age")
    bars = lines_of(ax, 1)
    interval = many.interval()[:, 0]
    assert len(bars) == len(set(many.conditions[:, 0]))  # one for each step
    for bar in bars:
        assert np.abs(interval - bar).sum(axis=1).min() < 1e-12


def test_missing_numbers_have_a_place_of_their_own(many: Explanations) -> None:
    ax = plot.dependence(many, "income", colour="age")
    ticks = {t.get_text(): x for t, x in zip(ax.get_xticklabels(), ax.get_xticks(), strict=True)}
    places, _ = points_of(ax)
    incomes = [v for v in many.data[:, 1] if v is not None]
    left = ticks["missing"]
    assert left < min(incomes)
    at = places[np.isclose(places[:, 0], left), 1]
    missing = many.scores[[v is None for v in many.data[:, 1]], 1]
    assert set(at.round(9)) <= set(missing.round(9))
    assert len(at)


def test_levels_stand_in_order_of_their_mean_score(many: Explanations) -> None:
    ax = plot.dependence(many, "job", colour="age")
    job = many.data[:, 2]
    jobs = ["clerk", "nurse", "smith"]
    jobs.sort(key=lambda name: float(many.scores[job == name, 2].mean()))
    assert [t.get_text() for t in ax.get_xticklabels()] == [*jobs, "missing"]
    few = plot.dependence(many, "job", most=1)
    assert [t.get_text() for t in few.get_xticklabels()] == ["clerk", "2 others", "missing"]


def test_a_value_that_never_changes_is_drawn() -> None:
    for value in (1.0, None, "level", True):
        e = synthetic(normal(3, 1), values=np.full((3, 1), value, dtype=object))
        plot.dependence(e, "x0", colour="x0").figure.canvas.draw()
        plot.beeswarm(e).figure.canvas.draw()


def test_dates_are_days_in_order() -> None:
    days = ["2020-01-01", "2020-03-01 12:00:00", None, "2019-12-31"]
    values = FeatureValues.of(np.array(days, dtype=object))
    assert values.levels is None
    assert np.diff(values.numbers[[3, 0, 1]]) == pytest.approx([1, 60.5])
    assert values.missing.tolist() == [False, False, True, False]
    assert values.ends == ("2019-12-31", "2020-03-01")
    e = synthetic(normal(4, 1), values=np.array(days, dtype=object)[:, None])
    ax = plot.dependence(e, "x0", colour="x0")
    ax.figure.canvas.draw()
    assert ax.get_xticklabels()[0].get_text() == "missing"
    assert FeatureValues.of(np.array(["2020-01-01", "soon"], dtype=object)).levels is not None


@drawn
def test_characters_that_a_font_lacks_come_from_another(draw: Callable[..., Axes]) -> None:
    """A missing character warns, which fails a test."""
    values = np.array([[f"კარგი {k % 3}"] * 3 for k in range(30)], dtype=object)
    e = synthetic(normal(30, 3), values=values)
    with mpl.rc_context({"font.family": "STIXGeneral"}):  # without Georgian, and always there
        ax = draw(replace(e, stacked=replace(e.table, names=("კარგი a", "b", "c კარგი"))))
        ax.figure.canvas.draw()


# -- heatmap -------------------------------------------------------------------------------------


def _cells(ax: Axes) -> Array:
    return np.asarray(ax.images[0].get_array())


def test_columns_are_rows_by_prediction_and_unknown_ones_last() -> None:
    e = synthetic(normal(30, 3))
    cells = _cells(plot.heatmap(e, by_prediction=True))
    order = np.argsort(-np.abs(e.scores).mean(axis=0))
    known = np.flatnonzero(~np.isnan(e.predictions))
    rows = known[np.argsort(-e.predictions[known])]
    assert np.array_equal(cells[:, : len(rows)], e.scores[rows][:, order].T)
    assert np.array_equal(cells[:, len(rows) :], e.scores[2::3][:, order].T)
    unknown = replace(e, stacked=replace(e.table, prediction=np.full(30, np.nan)))
    plot.heatmap(unknown)
    with pytest.raises(InputError, match="no prediction of these rows is known"):
        plot.heatmap(unknown, by_prediction=True)


def test_similar_rows_stand_together() -> None:
    kinds = np.array([[5.0, 0, 0], [0, 5, 0], [-5, 0, 5]])
    which = np.arange(3000) % 3
    scores = kinds[which] + 0.1 * normal(3000, 3)
    for rows in (2000, 90, 2, 1):
        order = grid.similar(scores[:rows])
        assert sorted(order) == list(range(rows))
        assert np.count_nonzero(np.diff(which[order])) == min(rows, 3) - 1


def test_many_rows_are_means_of_neighbours() -> None:
    rows = np.arange(10.0)[:, None]
    rows[4] = np.nan
    assert grid.merge_rows(rows, 5)[:, 0] == pytest.approx([0.5, 2.5, 5, 6.5, 8.5])
    assert np.array_equal(grid.merge_rows(rows, 10), rows, equal_nan=True)
    assert np.isnan(grid.merge_rows(np.full((4, 1), np.nan), 2)).all()
    cells = _cells(plot.heatmap(synthetic(normal(5000, 3))))
    assert cells.shape == (3, grid.MAX_COLUMNS)
    assert cells.mean(axis=1) == pytest.approx(normal(5000, 3).mean(axis=0), abs=1e-3)


# -- groups --------------------------------------------------------------------------------------


def test_two_groups_are_a_dot_for_each_feature() -> None:
    scores = normal(80, 3)
    scores[:40, 2] += 3
    e = synthetic(scores)
    compared = e.compare_groups(np.repeat(["old", "new"], 40))
    ax = plot.groups(compared)
    assert ax.get_title("left") == "old (40 rows) less new (40 rows)"
    assert labels_of(ax)[0] == "x2"
    by = compared.set_index("feature").loc[labels_of(ax)]
    assert lines_of(ax) == pytest.approx(by[["low", "high"]].to_numpy())
    points: Any = ax.collections[-1]
    assert np.asarray(points.get_offsets())[:, 0] == pytest.approx(by["difference"].to_numpy())
    filled = [to_rgb(c) == to_rgb(LEVELS[0]) for c in points.get_facecolors()]
    assert filled == [bool(row.low > 0 or row.high < 0) for row in by.itertuples()]
    assert filled[0]
    assert not all(filled)


def test_missing_values_are_a_group_and_groups_too_many_are_counted(many: Explanations) -> None:
    legend = plot.groups(many.compare_groups("job"), groups=2).get_legend()
    assert legend is not None
    texts = [t.get_text() for t in legend.get_texts()]
    assert len(texts) == 3
    assert texts[2] == "… and 2 more"
    every = plot.groups(many.compare_groups("job")).get_legend()
    assert every is not None
    missing = int(sum(v is None for v in many.data[:, 2]))
    assert f"missing ({missing} rows)" in [t.get_text() for t in every.get_texts()]


# -- shap's own plots ----------------------------------------------------------------------------


def test_shap_draws_what_to_shap_gives(many: Explanations) -> None:
    """Each of shap's plots of many rows and of one, and each column by its place and its name."""
    import shap

    values = many.to_shap()
    one, own = values[0], many[0].to_shap()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shap's own
        shap.plots.beeswarm(values, show=False)
        points = [len(np.asarray(c.get_offsets())) for c in plt.gcf().axes[0].collections]
        for j, name in enumerate(many.names):
            for feature in (j, name):
                shap.plots.scatter(values[:, feature], show=False)
                plt.close("all")
        for draw, drawn in (
            (shap.plots.bar, values),
            (shap.plots.heatmap, values),
            (shap.plots.bar, one),
            (shap.plots.waterfall, one),
            (shap.plots.waterfall, own),
        ):
            draw(drawn, show=False)
            written = {t.get_text() for ax in plt.gcf().axes for t in ax.get_yticklabels()}
            shown = {name for name in many.names if any(name in text for text in written)}
            assert shown == set(many.names), draw.__name__
            plt.close("all")
    assert values.values.shape == values.data.shape == many.scores.shape
    assert sum(count for count in points if count > 1) == many.scores.size
    assert values.base_values + values.values.sum(axis=1) == pytest.approx(many.predictions)


def test_values_that_are_all_numbers_are_floats_for_shap() -> None:
    values: NDArray[np.object_] = np.array([[1, 2.5], [None, 3.0]], dtype=object)
    data = synthetic(normal(2, 2), values=values).to_shap().data
    assert data.dtype == np.float64
    assert np.array_equal(data, [[1, 2.5], [np.nan, 3.0]], equal_nan=True)


def test_shap_ends_at_predictions_that_are_known() -> None:
    with pytest.raises(eagle.InputError, match="not known of 1 of 3 rows"):
        synthetic(normal(3, 2)).to_shap()


# -- steps, and what the model says itself -------------------------------------------------------


def stepped() -> tuple[eagle.Explainer, Explanations]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(160, 2)), columns=["x", "y"])
    explainer = eagle.Explainer(lambda Z: 3 * Z["x"].to_numpy() + Z["y"].to_numpy(), X)
    survey = explainer.survey(512, progress=False)
    return explainer, survey.explain_many(X, progress=False)


def test_one_score_for_a_bin_is_drawn_as_steps_that_say_so() -> None:
    _, e = stepped()
    ax = plot.dependence(e, "x")
    (steps,) = [p for p in ax.patches if isinstance(p, StepPatch)]
    values, edges, _ = steps.get_data()
    assert len(values) == len(set(e.conditions[:, 0]))
    for x, score, condition in zip(e.data[:, 0], e.scores[:, 0], e.conditions[:, 0], strict=True):
        at = min(max(int(np.searchsorted(edges, float(x))) - 1, 0), len(values) - 1)
        same = e.scores[e.conditions[:, 0] == condition, 0]
        assert same.min() <= values[at] <= same.max()
        assert abs(score - values[at]) <= np.ptp(same)
    assert "Steps: one score holds for a whole bin" in " ".join(ax.get_xlabel().split())
    rows = synthetic(normal(40, 1), 0.1, np.array([[float(k)] for k in range(40)], dtype=object))
    smooth = plot.dependence(rows, rows.names[0])
    assert not [p for p in smooth.patches if isinstance(p, StepPatch)]


def test_the_what_if_line_is_the_model_itself() -> None:
    explainer, e = stepped()
    ax = plot.dependence(e, "x", explainer=explainer)
    lines = [line for line in ax.lines if np.size(line.get_xdata()) > 10]
    x, y = np.asarray(lines[-1].get_xdata(), float), np.asarray(lines[-1].get_ydata(), float)
    assert np.diff(y) / np.diff(x) == pytest.approx(3.0)
    own = np.interp([float(v) for v in e.data[:, 0]], x, y)
    assert own.mean() == pytest.approx(0, abs=1e-9)
    with pytest.raises(eagle.InputError, match="give an explainer"):
        plot.dependence(e, "x", explainer=3)  # type: ignore[arg-type]
