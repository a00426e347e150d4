"""Groups of columns: moved together, one score each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import OneHotEncoder

import eagle
from eagle import Background
from eagle._tables.background import MAX_COMBINATIONS
from eagle._tables.rows import TableInstances
from tables import explainer_of

RNG = np.random.default_rng(0)
N = 200
COLOURS = ["blue", "green", "red"]
COLOUR = RNG.choice(COLOURS, N, p=[0.2, 0.3, 0.5])
SIZE = RNG.normal(size=N)
HOT = pd.DataFrame({f"colour_{c}": np.equal(COLOUR, c).astype(float) for c in COLOURS}).assign(
    size=SIZE
)
MEMBERS = [f"colour_{c}" for c in COLOURS]
PLAIN = pd.DataFrame({"colour": pd.Categorical(COLOUR), "size": SIZE})


def hot(X: Any) -> Any:
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    assert (X[:, :3].sum(axis=1) == 1).all()
    return 2 * X[:, 2] + X[:, 1] * X[:, 3]


def plain(X: pd.DataFrame) -> Any:
    colour, size = X["colour"].astype(str).to_numpy(), X["size"].to_numpy()
    return 2.0 * (colour == "red") + (colour == "green") * size


@pytest.mark.parametrize("view", ["binned", "continuous"])
def test_a_one_hot_block_is_explained_as_the_category_it_is(view: Any) -> None:
    """The same plan, the same answers, the same scores to the last bit."""
    # Combinations are in the order of their columns' values: (0, 0, 1) is the first.
    groups = {"colour": MEMBERS[::-1]}
    grouped = eagle.Explainer(hot, eagle.Table(HOT, groups=groups, view=view), budget=200)
    category = eagle.Explainer(plain, eagle.Table(PLAIN, view=view), budget=200)
    for i in (0, 7):
        a, b = grouped.explain(HOT.iloc[[i]]), category.explain(PLAIN.iloc[[i]])
        assert a.names == b.names == ("colour", "size")
        assert a.conditions == b.conditions
        assert a.data == b.data
        assert np.array_equal(a.scores, b.scores)


TABLES: dict[str, tuple[Any, list[Any]]] = {
    "pandas": (HOT, MEMBERS),
    "polars": (pl.from_pandas(HOT), MEMBERS),
    "pyarrow": (pl.from_pandas(HOT).to_arrow(), MEMBERS),
    "array": (HOT.to_numpy(), [0, 1, 2]),
    "objects": (HOT.to_numpy().astype(object), [0, 1, 2]),
    "float32": (HOT.to_numpy(np.float32), [0, 1, 2]),
    "sparse": (sparse.csr_array(HOT.to_numpy()), [0, 1, 2]),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_every_kind_are_asked_in_their_own_form(kind: str) -> None:
    table, members = TABLES[kind]
    asked: list[Any] = []

    def model(X: Any) -> Any:
        asked.append(X)
        return hot(X).astype(float)

    row = dict(HOT.iloc[3]) if isinstance(members[0], str) else HOT.to_numpy()[3]
    e = eagle.Explainer(model, eagle.Table(table, groups={"colour": members}), budget=100).explain(
        row
    )
    assert len(e.scores) == 2
    assert isinstance(asked[0], type(table))
    assert getattr(asked[0], "dtype", None) == getattr(table, "dtype", None)
    assert getattr(asked[0], "schema", None) == getattr(table, "schema", None)
    assert len(asked[0].columns) == 4 if hasattr(table, "columns") else asked[0].shape[1] == 4


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=30)
def test_only_combinations_of_the_data_or_the_rows_own_are_asked(seed: int, binned: bool) -> None:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "a": rng.integers(0, 3, 40),
            "b": rng.choice(np.array(["x", "y", None], dtype=object), 40),
            "c": rng.normal(size=40).round(1),
            "d": np.where(rng.random(40) < 0.2, np.nan, rng.integers(0, 2, 40)),
        }
    )
    background = Background.of(data, groups={"g": ["a", "b", "d"]})
    own = data.iloc[[0]].assign(a=7)  # a combination that no row has
    for x in (data.iloc[[1]], own):
        table = TableInstances(background, background.adopt(x), binned)
        space = table.space(0)
        points = space.draw(200, rng)
        rows = table.inputs([0], [points])
        known = set(map(str, data[["a", "b", "d"]].to_numpy().tolist()))
        mine = str(x[["a", "b", "d"]].to_numpy().tolist()[0])
        told = list(map(str, rows[["a", "b", "d"]].to_numpy().tolist()))
        assert set(told) <= known | {mine}
        assert [t == mine for t in told] == [z == 1 for z in space.features(points)[:, 0]]
        assert (rows.dtypes == data.dtypes).all()


def test_objects_of_several_types_are_told_apart() -> None:
    """1 and True are two levels, and integers beyond 2^53 are told apart."""
    odd = np.array([1, True, 2**60, 2**60 + 1, "a", None, 2.5, "a"], dtype=object)
    data = np.column_stack([odd, np.arange(8).astype(object)])
    background = Background.of(data, groups={"g": [0]})
    assert len(background.columns[0].levels or ()) == 7
    for i in range(8):
        table = TableInstances(background, background.adopt(data[i]), True)
        rows = table.inputs([0], [table.space(0).draw(100, RNG)])
        assert {type(v) for v in rows[:, 0]} <= {int, bool, str, type(None), float}
        kept = table.space(0).features(table.space(0).origin[None])
        assert kept[0, 0] == 1
        (own,) = table.inputs([0], [table.space(0).origin[None]])
        assert (type(own[0]), own[0]) == (type(odd[i]), odd[i])


def test_a_group_of_numbers_keeps_evenly_spaced_combinations() -> None:
    data = np.column_stack([RNG.normal(size=(1000, 2)), RNG.normal(size=1000)])
    data[:400, :2] = (0.5, 0.25)  # one combination in four of ten rows
    column = Background.of(data, groups={"place": [0, 1]}).columns[0]
    assert column.levels is not None
    assert len(column.levels) <= MAX_COMBINATIONS
    assert column.shares.sum() == pytest.approx(1)
    often = column.shares[column.levels.index((0.5, 0.25))]
    assert often == pytest.approx(0.4, abs=1 / MAX_COMBINATIONS)
    shuffled = Background.of(RNG.permutation(data), groups={"place": [0, 1]}).columns[0]
    assert shuffled.levels == column.levels
    assert {v for level in column.levels for v in level} <= set(data[:, :2].ravel().tolist())


def test_rows_of_the_background_match_by_their_own_combination() -> None:
    """Also where the background has not kept it."""
    data = RNG.normal(size=(700, 3))
    asked: list[Any] = []

    def model(X: Any) -> Any:
        asked.append(X)
        return X[:, 0] + X[:, 2]

    explainer = eagle.Explainer(
        model, eagle.Table(data, groups={"place": [0, 1]}), method=eagle.peers.DLIME, budget=700
    )
    e = explainer.explain(data[11])
    assert explainer.background.columns[0].levels.count(tuple(data[11, :2].tolist())) == 0
    rows = {tuple(row) for row in data.tolist()}
    assert {tuple(row) for row in asked[0].tolist()} <= rows
    own = (asked[0][:, :2] == data[11, :2]).all(axis=1)
    assert np.array_equal(e.evidence.features[:, 0] == 1, own)


def test_names_and_conditions() -> None:
    table = HOT.assign(lat=SIZE, lon=SIZE[::-1], flag=COLOUR == "red", off=COLOUR != "red")
    groups = {"colour": MEMBERS, "place": ["lat", "lon"], "switch": ["flag", "off"]}
    explainer = eagle.Explainer(lambda X: X["size"], eagle.Table(table, groups=groups), budget=60)
    e = explainer.explain(table.iloc[[0]])
    assert e.names == ("colour", "size", "place", "switch")
    assert e.conditions[0] == f"colour = {COLOUR[0]}"
    assert e.conditions[2] == f"lat = {SIZE[0]:.4g}, lon = {SIZE[-1]:.4g}"
    assert e.conditions[3] == f"switch = {'flag' if COLOUR[0] == 'red' else 'off'}"
    assert "colour: float64, group of colour_blue, colour_green" in explainer.describe()
    none = table.iloc[[0]].assign(**dict.fromkeys(MEMBERS, 0.0))
    assert explainer.explain(none).conditions[0] == "colour = none (not in the data)"
    both = table.iloc[[0]].assign(**dict.fromkeys(MEMBERS, 1.0))
    assert explainer.explain(both).conditions[0].startswith("colour_blue = 1, colour_green = 1")


def test_blocks_are_named_by_describe_and_taken_only_when_asked() -> None:
    quiet = eagle.Explainer(hot, eagle.Table(HOT, groups={}))
    bare, auto = eagle.Explainer(hot, HOT), eagle.Explainer(hot, eagle.Table(HOT, groups="auto"))
    assert "Groups" not in quiet.describe()
    assert "groups='auto' would move" in bare.describe()
    assert "colour (colour_blue, colour_green, colour_red)" in bare.describe()
    row = HOT.iloc[[0]]
    first = eagle.Explainer(lambda X: X["size"], HOT, budget=60).explain(row)
    second = eagle.Explainer(lambda X: X["size"], eagle.Table(HOT, groups={}), budget=60).explain(
        row
    )
    assert first.names == second.names
    assert np.array_equal(first.scores, second.scores)
    assert auto.explain(row).names == ("colour", "size")
    spoilt = HOT.assign(colour_red=1.0)  # two ones in most rows
    assert "Groups: no one-hot blocks were found" in (
        eagle.Explainer(lambda X: X["size"], eagle.Table(spoilt, groups="auto")).describe()
    )
    deep = HOT.rename(columns={m: m.replace("colour", "a_b") for m in MEMBERS}).assign(a_c=SIZE)
    found = eagle.Explainer(lambda X: X["size"], eagle.Table(deep, groups="auto")).background
    assert found.names == ["a_b", "size", "a_c"]


def test_blocks_of_a_fitted_encoder() -> None:
    raw = pd.DataFrame({"colour": COLOUR, "odd_name": RNG.choice(["a_b", "c"], N)})
    encoder = OneHotEncoder(sparse_output=False).set_output(transform="pandas").fit(raw)
    table = encoder.transform(raw).assign(size=SIZE)
    explainer = eagle.Explainer(lambda X: X["size"], eagle.Table(table, groups=encoder), budget=60)
    assert explainer.explain(table.iloc[[0]]).names == ("colour", "odd_name", "size")
    with pytest.raises(eagle.InputError, match="all columns of this OneHotEncoder"):
        eagle.Explainer(
            lambda X: X["size"], eagle.Table(table.drop(columns="odd_name_c"), groups=encoder)
        )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"groups": {"g": ["colour_red", "nowhere"]}}, "has the column 'nowhere', which is not"),
        ({"groups": {"g": ["size"], "h": ["size"]}}, "is in the group 'g', and again in 'h'"),
        ({"groups": {"size": MEMBERS}}, "has the name of a column that is not in it"),
        ({"groups": {"g": "size"}}, "'g' is a list of columns, not 'size'"),
        ({"groups": {"g": []}}, "'g' is a list of columns"),
        ({"groups": ["size"]}, "groups are given by name"),
        ({"groups": "all"}, "groups are given by name"),
        ({"groups": np.array([1, 2])}, "groups are given by name"),
        ({"groups": {"g": MEMBERS}, "fixed": ["colour_red"]}, "'colour_red', which is in a group"),
        ({"groups": {"g": MEMBERS}, "bounds": {"g": (0, 1)}}, "'g' is a category"),
    ],
)
def test_groups_that_do_not_fit(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(eagle.InputError, match=sentence):
        explainer_of(hot, HOT, **options)


def test_groups_and_other_settings() -> None:
    frozen = eagle.Explainer(
        hot, eagle.Table(HOT, groups={"colour": MEMBERS}, fixed=["colour"]), budget=60
    )
    assert frozen.explain(HOT.iloc[[0]]).names == ("size",)
    with pytest.raises(eagle.InputError, match="groups of columns move among rows of data"):
        eagle.Explainer(hot, eagle.Table(scales=1.0, groups={"g": [0]}))
    with pytest.raises(eagle.InputError, match="already"):
        eagle.Explainer(hot, eagle.Table(Background.of(HOT), groups={"colour": MEMBERS}))


def test_groups_are_saved(tmp_path: Path) -> None:
    table = HOT.assign(day=pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N), unit="D"))
    groups = {"colour": MEMBERS, "when": ["day", "size"]}
    made = Background.of(table, groups=groups)
    made.save(tmp_path / "b.json")
    back = Background.load(tmp_path / "b.json")
    assert back.to_dict() == made.to_dict()
    row = table.iloc[[2]]
    a, b = (
        eagle.Explainer(lambda X: X["size"], ground, budget=60).explain(row)
        for ground in (made, back)
    )
    assert a.conditions == b.conditions
    assert a.conditions[1].startswith("day = 2020-01-03, size = ")
    assert np.array_equal(a.scores, b.scores)
