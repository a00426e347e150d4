"""Tables: what a perturbation may do to each kind of column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

import eagle
from eagle._tables.background import GRID, MAX_VALUES_PER_BIN, STEPS, Background
from eagle._tables.rows import TableInstances, TableSpace
from eagle._values.posterior import StudentT
from tables import explainer_of

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _same_chance() -> None:
    """Seed each test, so that it does not depend on the tests before it."""
    RNG.bit_generator.state = np.random.default_rng(0).bit_generator.state


def space(data: Any, x: Any, binned: bool = True, **options: Any) -> TableSpace:
    background = Background.of(data, **options)
    return TableInstances(background, background.adopt(x), binned).space(0)


def drawn(s: TableSpace, n: int = 4000) -> Any:
    points = s.draw(n, np.random.default_rng(1))
    return s.table.inputs([s.i], [points]), s.features(points)


def test_binned_numbers_follow_the_background() -> None:
    data = RNG.gamma(2.0, size=(1000, 1))
    x = data[3, 0]
    s = space(data, [[x]])
    rows, z = drawn(s, 20_000)
    assert np.isin(rows, data).all()  # only values of the data
    edges = np.quantile(data, [0.25, 0.5, 0.75])
    assert np.allclose(s.table.background.columns[0].edges, edges)
    own = np.searchsorted(edges, x)
    assert np.array_equal(z[:, 0] == 1, np.searchsorted(edges, rows[:, 0]) == own)
    assert abs(z.mean() - 0.25) < 0.01
    assert stats.ks_2samp(rows[:, 0], data[:, 0]).statistic < 0.02


@given(st.integers(0, 10**6), st.integers(1, 80))
def test_quartiles_are_numpys(seed: int, n: int) -> None:
    values = np.random.default_rng(seed).normal(size=n).round(seed % 3)
    edges = Background.of(values[:, None]).columns[0].edges
    expected = np.unique(np.quantile(values, [0.25, 0.5, 0.75]))
    if len(set(values.tolist())) > 4 and expected.max() < values.max():
        assert np.allclose(edges, expected)


def test_a_value_on_an_edge_is_in_the_lower_bin() -> None:
    data = np.arange(1.0, 102.0)[:, None]  # quartiles 26, 51, 76
    for x, expected in ((26.0, "x0 ≤ 26"), (26.5, "26 < x0 ≤ 51"), (200.0, "x0 > 76")):
        s = space(data, [[x]])
        assert s.table.conditions(0) == (expected,)


def test_match_probabilities_are_frequencies_on_a_grid() -> None:
    levels = np.array(["a"] * 70 + ["b"] * 29 + ["c"])[:, None].astype(object)
    for level, share in (("a", 0.7), ("b", 0.29), ("c", 0.01), ("unseen", 0.0)):
        s = space(levels, [[level]])
        rows, z = drawn(s, 50_000)
        kept = max(1, round(GRID * share)) / GRID
        assert abs(z.mean() - kept) < 0.01
        assert np.array_equal(z[:, 0] == 1, rows[:, 0] == level)
        others = rows[rows != level]
        expected = {k: v for k, v in {"a": 0.7, "b": 0.29, "c": 0.01}.items() if k != level}
        for other, part in expected.items():
            assert abs(np.mean(others == other) - part / sum(expected.values())) < 0.01


def test_constant_columns_stay_and_say_so() -> None:
    data = np.column_stack([np.full(50, 3.0), RNG.normal(size=50)])
    for view in ("binned", "continuous"):
        e = eagle.Explainer(
            lambda X: X.sum(axis=1), eagle.Table(data, view=view), budget=60
        ).explain(data[0])
        assert abs(e.scores[0]) < 1e-12
        assert any("never changed: x0" in w for w in e.warnings)
        assert e.interval()[0].tolist() == [0.0, 0.0]
        assert e.probability_top(1).tolist() == [0.0, 1.0]


def test_whole_numbers_stay_whole_and_flags_stay_flags() -> None:
    table = pd.DataFrame(
        {
            "n": RNG.integers(0, 50, 200),
            "u": RNG.integers(0, 9, 200).astype(np.uint8),
            "m": pd.array(RNG.integers(0, 5, 200), dtype="Int64"),
            "b": RNG.random(200) < 0.3,
            "nb": pd.array(RNG.random(200) < 0.5, dtype="boolean"),
            "f": RNG.normal(size=200).astype(np.float32),
            "nf": pd.array(RNG.normal(size=200), dtype="Float64"),
        }
    )
    table.loc[::9, ["m", "nb", "nf"]] = pd.NA
    for binned in (True, False):
        rows, z = drawn(space(table, table.iloc[[1]], binned))
        assert (rows.dtypes == table.dtypes).all()
        assert rows["u"].between(0, 255).all()
        assert rows["nb"].isna().any()
        assert np.isfinite(z).all()
    offsets = rows["n"].to_numpy() - table["n"].iloc[1]
    assert np.allclose(z[:, 0], offsets / table["n"].std(ddof=0))


def test_whole_numbers_move_alike_from_everywhere() -> None:
    """Rounding halves up commutes with shifts: so rows of integers share one plan."""
    data = RNG.integers(-20, 20, (100, 3))
    background = Background.of(data)
    table = TableInstances(background, background.adopt(data), binned=False)
    assert len({table.space(i).law for i in range(100)}) == 1
    points = table.space(0).draw(500, np.random.default_rng(0))
    for i in (0, 1, 2):
        moved = table.inputs([i], [points]) - data[i]
        assert np.array_equal(moved, table.inputs([5], [points]) - data[5])


def test_numbers_share_one_plan_in_both_views() -> None:
    data = RNG.normal(size=(401, 4))
    background = Background.of(data)
    for binned in (True, False):
        table = TableInstances(background, background.adopt(data), binned)
        assert len({table.space(i).law for i in range(401)}) == 1


def test_continuous_numbers_are_normal_around_the_row() -> None:
    data = RNG.normal(5, 3, size=(500, 2))
    s = space(data, [[1.0, 2.0]], binned=False)
    rows, z = drawn(s, 20_000)
    assert np.allclose(rows, [1.0, 2.0] + z * data.std(axis=0))
    for k in range(2):
        assert stats.kstest(z[:, k], "norm").statistic < 0.015
    assert np.array_equal(s.table.inputs([0], [s.origin[None]]), [[1.0, 2.0]])


@pytest.mark.parametrize("binned", [True, False])
def test_missing_is_a_level_and_a_legal_move(binned: bool) -> None:
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, np.nan] * 25, "c": ["x", None, "y", "x"] * 25})
    full, hole = table.iloc[[0]], table.iloc[[3]].assign(c=None)
    rows, z = drawn(space(table, hole, binned))
    assert np.array_equal(z[:, 0] == 1, rows["a"].isna())
    assert np.array_equal(z[:, 1] == 1, rows["c"].isna())
    assert 0.1 < rows["a"].isna().mean() < 0.9
    rows, z = drawn(space(table, full, binned))
    assert rows["c"].isna().any()
    assert rows["a"].isna().any() == binned  # an offset to nothing does not exist
    assert np.isfinite(z).all()


@pytest.mark.parametrize("hole", [None, np.nan])
def test_nothing_is_said_as_the_background_says_it(hole: Any) -> None:
    table = pd.DataFrame({"c": pd.Series(["x", hole, "y", "x"] * 10, dtype=object)})
    rows, _ = drawn(space(table, table.iloc[[0]]))
    found = {type(v) for v in rows["c"] if v not in ("x", "y")}
    assert found == {type(hole)}
    array = table.to_numpy()
    rows, _ = drawn(space(array, array[:1]))
    assert {type(v) for v in rows[:, 0] if v not in ("x", "y")} == {type(hole)}


def test_levels_nobody_saw() -> None:
    table = pd.DataFrame(
        {
            "c": pd.Categorical(["a", "b"] * 20),
            "s": ["u", "v"] * 20,
            "n": range(40),
            "x": np.arange(40.0),
        }
    )
    asked: list[pd.DataFrame] = []

    def model(X: pd.DataFrame) -> Any:
        asked.append(X)
        return (X["c"] == "new").to_numpy() + 2.0 * (X["s"] == "new").to_numpy()

    explainer = eagle.Explainer(model, table, budget=150)
    strange = pd.DataFrame({"c": ["new"], "s": ["new"], "n": [1.5], "x": [np.nan]})
    e = explainer.explain(strange)
    assert e.conditions[:2] == ("c = new (not in the data)", "s = new (not in the data)")
    assert e.top(2) == ["s", "c"]
    assert asked[0].iloc[0].tolist()[:3] == ["new", "new", 1.5]
    # In company it is asked alone, and changes nothing for the others.
    asked.clear()
    mixed = pd.concat([table.iloc[:2], strange, table.iloc[2:3]], ignore_index=True)
    together = explainer.explain_many(mixed)
    assert np.array_equal(together[2].scores, e.scores)
    assert [set(X["c"].dtype.categories) for X in asked] == [{"a", "b", "new"}, {"a", "b"}]
    alone = explainer.explain(table.iloc[2])
    assert np.array_equal(together[3].scores, alone.scores)


def test_frozen_columns_are_passed_on_untouched() -> None:
    table = pd.DataFrame(
        {
            "when": pd.date_range("2020-01-01", periods=30, freq="D"),
            "id": np.arange(30) + 2**60,
            "words": [[i] for i in range(30)],
            "x": RNG.normal(size=30),
        }
    )
    asked: list[pd.DataFrame] = []

    def model(X: pd.DataFrame) -> Any:
        asked.append(X)
        return X["x"].to_numpy() + X["when"].dt.day.to_numpy()

    e = eagle.Explainer(
        model, eagle.Table(table, fixed=["when", "id", "words"]), budget=40
    ).explain(table.iloc[[7]])
    assert e.names == ("x",)
    assert (asked[0].dtypes == table.dtypes).all()
    for name in ("when", "id"):
        assert (asked[0][name] == table[name].iloc[7]).all()
    with pytest.raises(eagle.InputError, match=r"'when' .* neither numbers nor levels.* in fixed"):
        eagle.Explainer(model, table[["when"]].apply(lambda c: c.dt.to_period("D")))
    with pytest.raises(eagle.InputError, match="'id' holds integers beyond 2\\^53"):
        eagle.Explainer(model, table[["id"]])
    with pytest.raises(eagle.InputError, match="'words'"):
        eagle.Explainer(model, table[["words"]])


@pytest.mark.parametrize("binned", [True, False])
def test_bounds_are_kept(binned: bool) -> None:
    data = pd.DataFrame({"age": RNG.normal(40, 20, 300), "n": RNG.integers(-9, 9, 300)})
    bounds = {"age": (18.0, 60.0), "n": (-2, None)}
    rows, z = drawn(space(data, data.iloc[[0]].assign(age=30.0, n=1), binned, bounds=bounds))
    assert rows["age"].between(18, 60).all()
    assert (rows["n"] >= -2).all()
    assert rows["n"].max() > 2
    if not binned:
        assert np.allclose(z[:, 0], (rows["age"] - 30.0) / data["age"].std(ddof=0))
    with pytest.raises(eagle.InputError, match="x has age = 90, outside its bounds from 18 to 60"):
        space(data, data.iloc[[0]].assign(age=90.0, n=1), binned, bounds=bounds)


def test_numbers_called_categories() -> None:
    data = np.column_stack([RNG.integers(1, 4, 90), RNG.normal(size=90)])
    s = space(data, data[:1], categories=[0])
    rows, z = drawn(s)
    assert set(rows[:, 0]) == {1.0, 2.0, 3.0}
    assert np.array_equal(z[:, 0] == 1, rows[:, 0] == data[0, 0])
    assert s.table.conditions(0)[0] == f"x0 = {data[0, 0]:g}"


def test_from_the_instance_alone() -> None:
    def model(X: Any) -> Any:
        return X[:, 0] * 3.0 - X[:, 1]

    for scales in ([1.0, 2.0], {0: 1.0, 1: 2.0}):
        e = eagle.Explainer(model, eagle.Table(scales=scales), budget=60).explain(
            np.array([5.0, 6.0])
        )
        assert np.allclose(e.scores, [3.0, -2.0], atol=0.2)
        with pytest.raises(eagle.InputError, match="need a background"):
            e.to_shap()
    by_name = eagle.Explainer(
        lambda X: X["a"].to_numpy() * 2.0, eagle.Table(scales={"a": 0.5}), budget=60
    ).explain(pd.DataFrame({"a": [1.0], "b": ["text"]}))
    assert by_name.names == ("a",)
    assert np.allclose(by_name.scores, [1.0], atol=0.1)
    even = eagle.Explainer(model, eagle.Table(scales=2.0), budget=60).explain_many(np.ones((2, 2)))
    assert np.allclose(even[1].scores, [6.0, -2.0], atol=0.4)
    with pytest.raises(eagle.InputError, match="3 scales do not fit 2 columns"):
        eagle.Explainer(model, eagle.Table(scales=[1.0, 2.0, 3.0])).explain([1.0, 2.0])
    with pytest.raises(eagle.InputError, match="no bins"):
        eagle.Explainer(model, eagle.Table(scales=1.0, view="binned"))
    with pytest.raises(eagle.InputError, match="give data"):
        eagle.Explainer(model)


TABLES: dict[str, Any] = {
    "array": RNG.normal(size=(60, 3)),
    "float32": RNG.normal(size=(60, 3)).astype(np.float32),
    "flags": RNG.random((60, 3)) < 0.5,
    "text": RNG.choice(["yes", "no", "perhaps"], (60, 3)),
    "objects": np.column_stack([RNG.choice(["a", "b"], 60).astype(object), RNG.normal(size=60)]),
    "sparse": sparse.csr_matrix(np.maximum(RNG.normal(size=(60, 3)), 0)),
    "pandas": pd.DataFrame(
        {
            "x": RNG.normal(size=60),
            "c": pd.Categorical(RNG.choice([1, 2, 5], 60)),
            "s": RNG.choice(["u", "v"], 60),
            "o": pd.Series(["p", None, "q"] * 20, dtype=object),
            "i": pd.array(RNG.integers(0, 9, 60), dtype="Int32"),
        }
    ),
}
TABLES["polars"] = pl.DataFrame(
    {
        "x": RNG.normal(size=60),
        "e": pl.Series(RNG.choice(["u", "v"], 60).tolist(), dtype=pl.Enum(["u", "v", "w"])),
        "c": pl.Series(RNG.choice(["u", "v"], 60).tolist(), dtype=pl.Categorical),
        "i": pl.Series(RNG.integers(0, 9, 60), dtype=pl.Int16),
        "b": RNG.random(60) < 0.5,
    }
)
TABLES["pyarrow"] = pa.table({"x": RNG.normal(size=60), "s": RNG.choice(["u", "v"], 60).tolist()})


@pytest.mark.parametrize("kind", TABLES)
def test_a_summary_saved_without_the_rows_does_the_same(kind: str, tmp_path: Any) -> None:
    data = TABLES[kind]
    background = Background.of(data)
    background.save(tmp_path / "b.json")
    back = Background.load(tmp_path / "b.json")
    assert back.to_dict() == background.to_dict()
    assert back.template.conforms(background.template)
    row = data[:1] if not hasattr(data, "iloc") else data.iloc[:1]
    for binned in (True, False):
        one, two = (TableInstances(b, b.adopt(row), binned).space(0) for b in (background, back))
        points = one.draw(40, np.random.default_rng(0))
        asked, again = one.table.inputs([0], [points]), two.table.inputs([0], [points])
        assert type(asked) is type(data)
        if sparse.issparse(asked):
            asked, again = asked.toarray(), again.toarray()
        if isinstance(asked, pd.DataFrame):
            pd.testing.assert_frame_equal(asked, again)
            assert (asked.dtypes == data.dtypes).all()
        elif isinstance(asked, np.ndarray):
            assert (
                asked.dtype.kind
                == np.asarray(data.toarray() if kind == "sparse" else data).dtype.kind
            )
            assert np.array_equal(asked, again)
        else:
            assert asked.equals(again)
            assert asked.schema == data.schema


def test_a_summary_keeps_few_values_and_no_rows(tmp_path: Any) -> None:
    data = RNG.normal(size=(5000, 2))
    background = Background.of(data)
    background.save(tmp_path / "b.json")
    assert all(len(v) <= MAX_VALUES_PER_BIN for c in background.columns for v in c.values)
    assert (tmp_path / "b.json").stat().st_size < 20_000
    explainer = eagle.Explainer(lambda X: X[:, 0], Background.load(tmp_path / "b.json"), budget=40)
    direct = eagle.Explainer(lambda X: X[:, 0], data, budget=40)
    assert np.array_equal(explainer.explain(data[0]).scores, direct.explain(data[0]).scores)
    (tmp_path / "bad.json").write_text("[1, 2")
    with pytest.raises(eagle.InputError, match="not a background"):
        Background.load(tmp_path / "bad.json")


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_drawing_is_even_and_only_of_the_seed(seed: int) -> None:
    s = space(RNG.normal(size=(30, 3)), [[0.0, 0.0, 0.0]])
    points = s.draw(1001, np.random.default_rng(seed))
    assert np.array_equal(points, s.draw(1001, np.random.default_rng(seed)))
    assert points.max() < STEPS
    assert abs(points.mean() / (STEPS - 1) - 0.5) < 0.04


def test_the_stream_of_chance_never_changes() -> None:
    """These points were drawn by the first release: explanations of yesterday stay true."""
    s = space(np.arange(12.0).reshape(4, 3), [[0.0, 0.0, 0.0]])
    assert s.draw(2, np.random.default_rng(0)).tolist() == [[607, 450, 975], [783, 801, 729]]


@pytest.mark.parametrize("d", [1, 3, 4])
def test_pools_are_draws_one_after_another(d: int) -> None:
    background = Background.of(np.random.default_rng(0).normal(size=(20, d)))
    s = TableInstances(background, background.adopt(np.zeros((1, d)))).space(0)
    rng = np.random.default_rng(1)
    draws = [s.draw(7, rng) for _ in range(3)]
    assert np.array_equal(s.pools(3, 7, np.random.default_rng(1)), draws)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"a": 1.0}, "x lacks the column 'b'"),
        ({"a": "high", "b": 1}, "'a' holds numbers in the background, but 'high' came"),
        ({"a": np.inf, "b": 1}, "'a' of x is infinite"),
        ([1.0], "x has 1 columns, but the background has 2"),
        (3.0, "not a table"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (np.zeros((3, 2)), "explain takes one row, but 3 came"),
        (np.zeros((0, 2)), "no rows"),
    ],
)
def test_instances_that_do_not_fit(x: Any, message: str) -> None:
    data = pd.DataFrame({"a": RNG.normal(size=20), "b": range(20)})
    with pytest.raises(eagle.InputError, match=message):
        eagle.Explainer(lambda X: X["a"].to_numpy(), data).explain(x)


@pytest.mark.parametrize("rows", [[{"a": 1.0, "b": 2.0}] * 3, ({"a": 1.0}, None), [[1, 2], {}]])
def test_a_list_of_dictionaries_is_said_to_be_one(rows: Any) -> None:
    """Not taken for one row, whose columns would be dictionaries."""
    data = pd.DataFrame({"a": np.arange(9.0), "b": np.arange(9.0)})
    explainer = eagle.Explainer(lambda D: D["a"], data, budget=20)
    with pytest.raises(eagle.InputError, match=r"give pandas\.DataFrame\(rows\)"):
        explainer.explain_many(rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"view": "sideways"}, "a view is 'binned' or 'continuous'"),
        ({"budget": 0}, "budget must be an integer of at least 1"),
        ({"random_state": -1}, "random_state must be"),
        ({"fixed": ["z"]}, "fixed names the column 'z'"),
        ({"fixed": ["a", "b"]}, "every column is frozen"),
        ({"bounds": {"a": (3, 1)}}, "wrong way round"),
        ({"categories": ["a"], "bounds": {"a": (0, 1)}}, "it has no bounds"),
        ({"scales": {"a": -1.0}}, "zero or more"),
        ({"scales": [1.0, 2.0]}, "by column name"),
        ({"task": "guessing"}, "task must be"),
        ({"outputs": ["a", "a"]}, "must differ"),
        ({"bounds": {"a": (np.nan, 1)}}, "a pair of numbers"),
        ({"method": "EAGLE"}, "no method 'EAGLE'; the names are default, eagle,"),
        ({"method": 5}, "a method is a name such as 'lime', or a value such as"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, Any], message: str) -> None:
    data = pd.DataFrame({"a": RNG.normal(size=20), "b": range(20)})
    with pytest.raises(eagle.InputError, match=message):
        explainer_of(lambda X: X["a"].to_numpy(), data, **options)


def test_data_that_does_not_fit() -> None:
    def model(X: Any) -> Any:
        return X[:, 0]

    for data, message in (
        (np.empty((0, 2)), "no rows"),
        (np.array([[1.0, np.inf]]), "infinite"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "must differ from one another: 'a' 2 times"),
        (np.array([[1 + 1j]]), "complex"),
        ("file.csv", "not a table"),
    ):
        with pytest.raises(eagle.InputError, match=message):
            eagle.Explainer(model, data)
    with pytest.raises(eagle.InputError, match="is a class"):
        eagle.Explainer(dict, np.ones((2, 2)))
    with pytest.raises(eagle.InputError, match="neither"):
        eagle.Explainer(42, np.ones((2, 2)))


def test_a_model_fitted_on_an_array_and_asked_with_a_frame() -> None:
    """It gets an array, without a warning; integers and flags stay what they are."""
    from sklearn.linear_model import LinearRegression

    table = pd.DataFrame(
        {"n": RNG.integers(0, 90, 200), "b": RNG.random(200) < 0.5, "x": RNG.normal(size=200)}
    )
    model = LinearRegression().fit(table.to_numpy(dtype=float), table["n"])
    for view in ("binned", "continuous"):
        explainer = eagle.Explainer(model, eagle.Table(table, view=view), budget=60)
        plan = explainer.plan(table.iloc[0])
        assert plan.inputs.dtype == np.float64
        assert (plan.inputs[:, 0] == np.rint(plan.inputs[:, 0])).all()
        assert set(plan.inputs[:, 1]) == {0.0, 1.0}
        assert explainer.explain(table.iloc[0]).names == ("n", "b", "x")
    with pytest.raises(eagle.InputError, match="fitted on 3 columns, but data has 4: n, b, x, y"):
        eagle.Explainer(model, table.assign(y=0))


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "uint16", "int32", "float16", "float32", "Int8"]
)
@pytest.mark.parametrize("far", [False, True])
def test_what_is_asked_is_what_the_features_say(dtype: str, far: bool) -> None:
    """The model is asked x moved by its features, without overflow or rounding of the dtype."""
    values = RNG.integers(0, 100, (80, 2)).astype(float)
    if far:
        values += {"uint8": 150, "int8": 20, "uint16": 65_400, "int32": 2e9}.get(dtype, 0)
        values += {"float16": 5000, "float32": 1e8, "Int8": 25}.get(dtype, 0)
    table = pd.DataFrame(values, columns=["a", "b"]).astype(dtype)
    column = Background.of(table).columns[0]
    s = space(table, table.iloc[[0]], binned=False)
    rows, z = drawn(s, 2000)
    own = float(table["a"].iloc[0])
    assert np.allclose(
        rows["a"].astype(float), own + column.scale * z[:, 0], atol=2e-3 * column.scale
    )
    assert rows["a"].astype(float).std() > 5
    first, repeats = s.distinct(s.draw(300, np.random.default_rng(0)))
    asked = s.table.inputs([0], [s.draw(300, np.random.default_rng(0))])
    assert len(first) == len(asked.drop_duplicates())
    assert repeats.sum() == 300


def test_scales_alone_do_not_depend_on_what_was_asked_before() -> None:
    def model(X: Any) -> Any:
        return np.tanh(X[:, 0]) + X[:, 1]

    whole, real = np.array([[1, 2]]), np.array([[0.3, 2.5]])
    fresh = [
        eagle.Explainer(model, eagle.Table(scales=0.7), budget=80).explain(x) for x in (whole, real)
    ]
    one = eagle.Explainer(model, eagle.Table(scales=0.7), budget=80)
    for x, expected in ((whole, fresh[0]), (real, fresh[1]), (whole, fresh[0])):
        assert np.array_equal(one.explain(x).scores, expected.scores)


def test_rows_planned_again_keep_their_weight_but_count_once() -> None:
    from eagle import methods
    from eagle._engine.method import Method
    from eagle.peers.independent import Independent

    levels = (RNG.random((4000, 3)) < [0.75, 0.25, 0.5]).astype(str)
    method = Method("iid", Independent(), methods.EAGLE.kernel, methods.EAGLE.surrogate)
    explainer = eagle.Explainer(
        lambda X: (X == "True") @ [1.0, 2.0, 3.0], levels, method=method, budget=20_000
    )
    e = explainer.explain(np.array([["True", "True", "True"]]))
    assert e.cost.rows == 8
    repeats = e.evidence.weight / methods.EAGLE.kernel(e.evidence.features, np.ones(3))
    assert repeats.sum() == pytest.approx(20_000)
    assert isinstance(e.posterior, StudentT)
    assert e.posterior.df == 8


def test_explainers_of_tables_alike_share_plans_within_bounds() -> None:
    from eagle._engine.planning import CACHE, PlanCache, Planner

    CACHE.clear()
    plans = []
    for seed in (0, 1):
        data = np.random.default_rng(seed).normal(size=(400, 5))
        table = TableInstances(Background.of(data), Background.of(data).adopt(data[:2]))
        planner = Planner(eagle.methods.EAGLE, 60, 3)
        plans += planner.plan([table.space(0), table.space(1)])
    assert all(p is plans[0] for p in plans)
    other = Planner(eagle.methods.EAGLE, 60, 4).plan([table.space(0)])[0]
    assert not np.array_equal(other.points, plans[0].points)
    small = PlanCache(plans[0].nbytes)
    for key in range(3):
        small.put(key, plans[0])
    assert [small.get(key) is not None for key in range(3)] == [False, False, True]


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_dictionaries_of_arrow_are_levels_and_keep_their_codes(kind: str, tmp_path: Path) -> None:
    """As `pd.read_parquet(dtype_backend="pyarrow")` gives categories."""
    import pyarrow as pa

    table = pa.table(
        {
            "a": np.arange(40.0),
            "c": pa.array(["q", "p", None, "p"] * 10).dictionary_encode(),
            "n": pa.array([3, 1, 2, None] * 10).dictionary_encode(),
        }
    )
    data = table.to_pandas(types_mapper=pd.ArrowDtype) if kind == "pandas" else table
    one = data.iloc[[1]] if kind == "pandas" else data.slice(1, 1)
    seen: list[Any] = []

    def model(rows: Any) -> Any:
        columns = {
            n: rows[n].array.__arrow_array__() if kind == "pandas" else rows[n] for n in "cn"
        }
        seen.append(columns)
        return np.asarray(rows["a"], dtype=np.float64) + np.asarray(columns["c"].is_null())

    background = eagle.Background.of(data)
    assert [column.levels for column in background.columns] == [None, ("p", "q"), (1, 2, 3)]
    background.save(tmp_path / "b.json")
    again = eagle.load(tmp_path / "b.json")
    assert again.to_dict() == background.to_dict()
    for known in (data, background, again):
        e = eagle.Explainer(model, known, budget=50).explain(one)
        assert e.conditions[1:] == ("c = p", "n = 1")
        assert e.data[1:] == ("p", 1)
        for name, levels in (("c", ["q", "p"]), ("n", [3, 1, 2])):
            assert seen[-1][name].type == table[name].type
            assert seen[-1][name].chunk(0).dictionary.to_pylist() == levels
    eagle.Explainer(model, again, budget=50).explain({"a": 1.0, "c": "new", "n": 2})
    assert seen[-1]["c"].chunk(0).dictionary.to_pylist() == ["q", "p", "new"]
