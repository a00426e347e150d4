"""The model is asked exactly what was planned: regression tests of cases that once failed."""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import eagle
from eagle import Background
from tables import explainer_of

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _same_chance() -> None:
    """Seed each test, so that it does not depend on the tests before it."""
    RNG.bit_generator.state = np.random.default_rng(0).bit_generator.state


X = RNG.normal(size=(200, 4))


def asked(model: Any, data: Any, x: Any, **options: Any) -> tuple[eagle.Explanation, Any]:
    seen: list[Any] = []

    def watched(table: Any) -> Any:
        seen.append(table)
        return model(table)

    e = explainer_of(watched, data, **{"budget": 80, **options}).explain(x)
    return e, seen[0]


def test_text_is_never_cut_short() -> None:
    data = np.array([["red", "x"], ["green", "y"], ["blue", "zz"]] * 30)

    def model(Z: Any) -> Any:
        return (Z[:, 0] == "green") + 2.0 * (Z[:, 0] == "blue")

    e, rows = asked(model, data, ["red", "x"])
    assert set(rows[:, 0]) == {"red", "green", "blue"}
    assert rows.dtype.kind == "U"
    batch = eagle.Explainer(model, data, budget=80).explain_many(data[:2])
    assert np.array_equal(batch[0].scores, e.scores)
    _, rows = asked(model, data, ["a colour nobody saw", "x"])
    assert rows[0, 0] == "a colour nobody saw"


def test_categories_keep_their_order_whatever_x_says() -> None:
    data = pd.DataFrame({"c": pd.Categorical(list("abc") * 50), "a": RNG.normal(size=150)})

    def model(D: pd.DataFrame) -> Any:
        return D["c"].cat.codes.to_numpy(float)

    other = data.iloc[[0]].copy()
    other["c"] = pd.Categorical(["a"], categories=["c", "b", "a"])
    one, two = asked(model, data, data.iloc[[0]])[0], asked(model, data, other)[0]
    assert one.prediction == two.prediction == 0
    assert np.array_equal(one.scores, two.scores)


def test_a_sparse_kind_stays_that_kind() -> None:
    data = sparse.csc_array(np.maximum(X, 0))
    _, rows = asked(lambda Z: Z.toarray()[:, 0], data, sparse.csr_array(data[:1]))
    assert type(rows) is sparse.csc_array
    flags = sparse.csr_array(X > 0)
    _, rows = asked(lambda Z: Z.toarray()[:, 0] * 1.0, flags, flags[:1], view="continuous")
    assert rows.dtype == bool
    assert set(rows.toarray()[:, 0]) == {True, False}


def test_large_identifiers_keep_every_digit() -> None:
    data = pd.DataFrame({"id": 2**60 + np.arange(300), "a": RNG.normal(size=300)})
    with pytest.raises(eagle.InputError, match="a float too large to be exact"):
        asked(lambda D: D["a"].to_numpy(), data, data.iloc[5], fixed=["id"])  # as pandas gives it
    for x in (data.iloc[[5]], {"id": 2**60 + 5, "a": 0.0}):
        _, rows = asked(lambda D: D["a"].to_numpy(), data, x, fixed=["id"])
        assert (rows["id"] == 2**60 + 5).all()
    e, rows = asked(lambda D: D["a"].to_numpy(), data, data.iloc[[5]], categories=["id"])
    assert e.data[0] == 2**60 + 5
    assert rows["id"].isin(data["id"]).all()
    assert rows["id"].nunique() > 20


@pytest.mark.parametrize(
    "data",
    [
        RNG.integers(0, 100, (100, 2)).astype("uint8"),
        pd.DataFrame(RNG.integers(0, 100, (100, 2)).astype("uint8")),
        pd.DataFrame(RNG.integers(0, 100, (100, 2))).astype("UInt8"),
        pl.DataFrame(RNG.integers(0, 100, (100, 2)).astype("uint8")),
    ],
    ids=["array", "pandas", "nullable", "polars"],
)
@pytest.mark.parametrize("value", [300, -1])
def test_numbers_beyond_their_dtype_are_refused(data: Any, value: int) -> None:
    with pytest.raises(eagle.InputError, match="outside its bounds from 0 to 255"):
        asked(lambda D: np.zeros(len(D)), data, [value, 5])


def test_what_is_masked_is_missing() -> None:
    masked = np.ma.masked_array(np.where(X > 1, -999.0, X), mask=X > 1)
    e, rows = asked(lambda Z: np.nan_to_num(Z[:, 0]), masked, X[0])
    assert not (rows == -999).any()
    assert np.isnan(rows).any()
    e, _ = asked(
        lambda Z: np.nan_to_num(Z[:, 0]),
        masked,
        np.ma.masked_array(X[0], mask=[True, False, False, False]),
    )
    assert e.data[0] is None
    with pytest.raises(eagle.ReplyError, match="masked some of its answers"):
        asked(lambda Z: np.ma.masked_array(Z[:, 0], mask=Z[:, 0] > 0), X, X[0])


def test_margins_of_pairs_are_no_scores_of_classes() -> None:
    wine = load_wine()
    pairs = make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo"))
    searched = GridSearchCV(pairs, {"svc__C": [1.0]}, cv=2)
    for model in (pairs, searched):
        with pytest.raises(eagle.InputError, match="pairs of classes"):
            eagle.Explainer(model.fit(wine.data, wine.target), wine.data)


def test_a_constant_that_floats_cannot_hold_exactly() -> None:
    data = X.copy()
    data[:, 1] = 0.1
    e, _ = asked(lambda Z: Z @ [1, 3.0, 0, 0], data, [0.0, 5.0, 0.0, 0.0], view="continuous")
    assert e.contrast[1] == 0
    assert any("never changed: x1" in w for w in e.warnings)


def test_objects_come_back_as_they_were() -> None:
    data = pd.DataFrame(
        {
            "n": pd.Series([1, 2, 3, None] * 50, dtype=object),
            "m": pd.Series([1, True, "x", None] * 50, dtype=object),
        }
    )
    for view in ("binned", "continuous"):
        _, rows = asked(lambda D: np.zeros(len(D)), data, data.iloc[[1]], view=view)
        assert {type(v) for v in rows["n"]} <= {int, type(None)}
        assert rows["m"].iloc[0] is True
        assert {type(v) for v in rows["m"]} == {int, bool, str, type(None)}
    array = data.to_numpy()
    _, rows = asked(lambda Z: np.zeros(len(Z)), array, array[1:2])
    assert {type(v) for v in rows[:, 0]} <= {int, type(None)}


def test_places_as_names() -> None:
    expected = asked(lambda Z: Z[:, 0], X, X[0])[0]
    for names in (range(4), [f"x{i}" for i in range(4)]):
        row = dict(zip(names, X[0], strict=True))
        mixed = {n: row[n] for n in reversed(list(names))}
        for x in (mixed, pd.DataFrame([mixed])):
            assert np.array_equal(asked(lambda Z: Z[:, 0], X, x)[0].scores, expected.scores)


def test_replies_in_another_order_are_put_back() -> None:
    data = pd.DataFrame(X, columns=list("abcd"))
    expected = asked(lambda D: D["a"], data, data.iloc[0])[0]
    for shuffled in (
        lambda D: D.sort_values("a")["a"],
        lambda D: D.sort_values("b")[["a"]],
    ):
        assert np.array_equal(asked(shuffled, data, data.iloc[0])[0].scores, expected.scores)


def test_what_predict_means() -> None:
    class Network:
        def predict(self, Z: Any) -> Any:
            p = np.exp(Z[:, :3])
            return p / p.sum(axis=1, keepdims=True)

    x = [0.0, 5.0, 0.0, 0.0]
    e = eagle.Explainer(Network(), X, outputs=list("abc"), budget=60).explain(x)
    assert (e.task, e.target) == ("classification", "b")
    told = eagle.Explainer(Network(), X, task="classification", budget=60).explain(x)
    assert told.target == 1
    forest = IsolationForest(n_estimators=5, random_state=0).fit(X)
    e = eagle.Explainer(forest, X, budget=60).explain(X[0])
    assert np.isclose(e.prediction, forest.decision_function(X[:1])[0])
    with pytest.raises(eagle.InputError, match="numbers of clusters"):
        eagle.Explainer(KMeans(4, n_init=1).fit(X), X)


def test_several_labels_and_targets_are_refused_in_a_sentence() -> None:
    labels = X[:, :3] > 0
    several = OneVsRestClassifier(RandomForestClassifier(3, random_state=0)).fit(X, labels)
    with pytest.raises(eagle.ReplyError, match="give a function that returns them"):
        eagle.Explainer(several, X, budget=60).explain(X[0])
    raw = eagle.Explainer(
        lambda Z: several.predict_proba(Z), X, task="regression", budget=60
    ).explain(X[0])
    assert len(raw.outputs) == 3
    targets = np.column_stack([X[:, 0] > 0, np.digitize(X[:, 1], [-0.5, 0.5])])
    both = MultiOutputClassifier(RandomForestClassifier(3, random_state=0)).fit(X, targets)
    with pytest.raises(eagle.ReplyError, match="returned 2 tables"):
        eagle.Explainer(both, X, budget=60).explain(X[0])
    single = RandomForestClassifier(2).fit(X, ["a"] * len(X))
    assert eagle.Explainer(single, X, budget=60).explain(X[0]).target == "a"


def test_a_mistyped_target_costs_nothing() -> None:
    calls: list[int] = []

    def model(Z: Any) -> Any:
        calls.append(len(Z))
        return 1 / (1 + np.exp(-Z[:, 0]))

    explainer = eagle.Explainer(model, X, outputs=["no", "yes"], budget=60)
    with pytest.raises(eagle.InputError, match="no output 'Yes'; it has 'no', 'yes'"):
        explainer.explain_many(X[:5], "Yes")
    with pytest.raises(eagle.InputError, match="a target is one output's name"):
        explainer.explain(X[0], np.array(["yes"]))
    assert not calls


def test_the_task_is_not_a_matter_of_history() -> None:
    def model(Z: Any) -> Any:
        share = np.where(Z[:, 0] > 100, 0.25, 3.0)
        return np.column_stack([share, 1 - share + (Z[:, 0] <= 100)])

    explainer = eagle.Explainer(model, eagle.Table(scales=1.0), budget=40)
    first = explainer.explain([500.0, 1.0])
    assert first.task == "classification"
    assert explainer.explain([0.0, 1.0]).task == "regression"


def test_odd_rows_share_calls_and_keep_their_places() -> None:
    data = pd.DataFrame(RNG.integers(0, 50, (300, 5)), columns=list("abcde"))
    calls: list[pd.DataFrame] = []

    def model(D: pd.DataFrame) -> Any:
        calls.append(D)
        return np.nan_to_num(D["a"].to_numpy(float), nan=-1.0)

    rows = data.iloc[:60].astype(float)
    rows.iloc[::7, 0] = np.nan
    explainer = eagle.Explainer(model, data, budget=40)
    together = explainer.explain_many(rows)
    assert [len(D) > 0 for D in calls] == [True, True]
    for i in (0, 1, 7, 8):
        assert np.array_equal(together[i].scores, explainer.explain(rows.iloc[i]).scores)
        assert (together[i].data[0] is None) == (i % 7 == 0)


def test_frozen_columns_of_polars_are_passed_on_and_decimals_are_numbers() -> None:
    data = pl.DataFrame(
        {
            "id": [f"customer {i}" for i in range(300)],
            "a": RNG.normal(size=300),
            "n": [None, 1, 2] * 100,
        }
    )
    explainer = eagle.Explainer(
        lambda D: D["a"].to_numpy(), eagle.Table(data, fixed=["id"], categories=["n"]), budget=60
    )
    many = explainer.explain_many(data)
    assert len(many) == 300
    assert many[5].names == ("a", "n")
    quarters = pl.Series([decimal.Decimal(i) / 4 for i in range(300)], dtype=pl.Decimal(10, 2))
    (column,) = Background.of(pl.DataFrame({"d": quarters})).columns
    assert column.mean == 149.5 / 4


def test_files_that_would_not_read_back_alike_are_not_written(tmp_path: Any) -> None:
    values = RNG.choice([0.0, 1.0, 2.0], 40)
    exact = pd.ArrowDtype(pa.decimal128(10, 2))
    for column in (
        pd.Series(values, dtype=pd.SparseDtype("float64", 0.0)),
        pd.Series([decimal.Decimal(int(v)) for v in values], dtype=exact),
    ):
        with pytest.raises(eagle.InputError, match="cannot be written"):
            Background.of(pd.DataFrame({"a": column, "b": values})).save(tmp_path / "b.json")
    endless = pd.DataFrame({"c": pd.Categorical([1.0, np.inf] * 20), "b": values})
    with pytest.raises(eagle.InputError, match="cannot be written"):
        Background.of(endless).save(tmp_path / "b.json")


def test_a_plan_saved_remembers_that_answers_are_margins(tmp_path: Any) -> None:
    model = SVC().fit(X, X[:, 0] > 0)
    explainer = eagle.Explainer(model, X, budget=60)
    plan = explainer.plan(X[0])
    plan.save(tmp_path / "p.json")
    back = eagle.Plan.load(tmp_path / "p.json")
    fitted = back.fit(model.decision_function(plan.inputs))
    assert np.array_equal(fitted.scores, explainer.explain(X[0]).scores)
    assert "answered elsewhere" in str(fitted)
    (tmp_path / "q.json").write_text("{}")
    with pytest.raises(eagle.InputError, match="not a plan"):
        eagle.Plan.load(tmp_path / "q.json")


def test_a_background_fits_the_model_as_its_table_would() -> None:
    table = pd.DataFrame(X, columns=list("abcd"))
    by_name = RandomForestClassifier(3, random_state=0).fit(table[["d", "a"]], X[:, 0] > 0)
    by_place = RandomForestClassifier(3, random_state=0).fit(X, X[:, 0] > 0)
    for model in (by_name, by_place):
        one = eagle.Explainer(model, table, budget=60).explain(table.iloc[0])
        two = eagle.Explainer(model, Background.of(table), budget=60).explain(table.iloc[0])
        assert one.names == two.names
        assert np.array_equal(one.scores, two.scores)


def test_answers_of_any_size() -> None:
    expected = asked(lambda Z: Z[:, 0], X, X[0])[0]
    for factor in (1e-140, 1e140):
        e, _ = asked(lambda Z, factor=factor: Z[:, 0] * factor, X, X[0])
        assert np.allclose(e.scores / factor, expected.scores)
        assert np.allclose(e.interval() / factor, expected.interval())
        assert np.isclose(e.r2, expected.r2)
    for factor, says in ((1e170, "overflow"), (1e-170, "vanishes"), (1e-300, "vanishes")):
        with pytest.raises(eagle.ReplyError, match=f"{says}: give the answers in other units"):
            asked(lambda Z, factor=factor: Z[:, 0] * factor, X, X[0])


def test_more_that_does_not_fit() -> None:
    def model(Z: Any) -> Any:
        return np.zeros(len(Z))

    table = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(eagle.InputError, match="this one has its own"):
        eagle.Explainer(model, eagle.Table(table, names=list("wxyz")))
    with pytest.raises(eagle.InputError, match="collect it first"):
        eagle.Explainer(model, pl.DataFrame(X).lazy())
    dated = pd.DataFrame({"t": pd.date_range("2020", periods=20), "a": range(20)})
    with pytest.raises(eagle.InputError, match=r"'t' is datetime64.* cannot hold what came"):
        eagle.Explainer(model, eagle.Table(dated, fixed=["t"])).explain({"t": "not a date", "a": 1})
    with pytest.raises(eagle.InputError, match="never moves"):
        eagle.Explainer(model, eagle.Table(scales=0.1)).explain(np.array([1, 2, 3]))
    assert (
        eagle.Explainer(lambda Z: Z[:, 0], eagle.Table(scales=0.1), budget=60)
        .explain([1, 2])
        .scores[0]
        > 0.05
    )
    with pytest.raises(eagle.InputError, match="no rows"):
        eagle.Explainer(model, eagle.Table(scales=1.0)).explain_many(np.empty((0, 2)))
    assert len(repr(Background.of(X))) < 100
    eagle.Explainer(model, eagle.Table(X, fixed=None, categories=None))  # type: ignore[arg-type]
    flags = X > 0
    assert eagle.Explainer(model, flags, budget=20).explain([1, 0, 1, 0]).data[0] is True
    one = eagle.Explainer(lambda Z: Z[:, 0], X, budget=1).explain(X[0])
    assert any("1 row is few" in w for w in one.warnings)
    assert not any("same answer" in w for w in one.warnings)
    dok = sparse.dok_array(np.maximum(X, 0))
    assert (
        len(eagle.Explainer(lambda Z: Z.toarray()[:, 0], dok, budget=20).explain(X[0]).names) == 4
    )


@pytest.mark.parametrize("dtype", ["float32", "Float32"])
@pytest.mark.parametrize("framed", [True, False])
def test_a_number_too_large_for_its_column_is_refused(dtype: Any, framed: bool) -> None:
    """1e150 is infinite as a 32-bit float, and no warning is a sentence."""
    data = pd.DataFrame({"a": pd.array(np.arange(20.0), dtype=dtype)})
    table: Any = data if framed else data.to_numpy(dtype=np.float32)
    explainer = eagle.Explainer(lambda q: np.asarray(q, dtype=float)[:, 0], table, budget=10)
    with pytest.raises(eagle.InputError, match=r"loat32 in the background.* 1e\+150 is too large"):
        explainer.explain([1e150])
    assert explainer.explain([7.0]).data == (7.0,)
