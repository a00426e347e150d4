"""ONNX graphs as models: what goes in, which output is read, and what is refused."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from onnx import TensorProto as Kind

from eagle import Explainer
from eagle.errors import InputError, MissingExtraError, ReplyError
from eagle.models.onnx import OnnxModel, load
from graphs import ML, graph, node, value, zipped


def summing(kind: int = Kind.FLOAT, shape: Sequence[Any] = (None, 3)) -> bytes:
    """The sum of a row, in the input's own type, then as a float."""
    nodes = [
        node("ReduceSum", "x axes", "s", keepdims=1),
        node("Cast", "s", "y", to=Kind.FLOAT),
    ]
    return graph(
        nodes, [value("x", kind, shape)], [value("y", Kind.FLOAT, [None, 1])], axes=np.array([1])
    )


def classifier(outputs: Sequence[Any], **settings: Any) -> bytes:
    """Scores, probabilities, a label and, with `settings`, a ZipMap of three classes."""
    nodes = [
        node("MatMul", "x w", "scores"),
        node("Neg", "scores", "negated"),
        node("Softmax", "scores", "probabilities", axis=1),
        node("ArgMax", "probabilities", "label", axis=1, keepdims=0),
    ]
    if settings:
        nodes.append(node("ZipMap", "probabilities", "zipped", domain=ML, **settings))
    w = np.array([[1, -1, 0], [0, 2, 1]], np.float32)
    return graph(nodes, [value("x", Kind.FLOAT, [None, 2])], outputs, w=w)


NEGATED = value("negated", Kind.FLOAT, [None, 3])
SCORES = value("scores", Kind.FLOAT, [None, 3])
PROBABILITIES = value("probabilities", Kind.FLOAT, [None, 3])
LABEL = value("label", Kind.INT64, [None])
X = np.array([[0.5, 1.0], [-2.0, 0.25]])


def softmax(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    s = np.exp(x @ [[1, -1, 0], [0, 2, 1]])
    return np.asarray(s / s.sum(axis=1, keepdims=True))


# -- inputs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Kind.FLOAT, Kind.DOUBLE, Kind.INT64, Kind.INT32])
def test_a_matrix_in_its_own_type(kind: int) -> None:
    model = OnnxModel(summing(kind))
    table = pd.DataFrame({"a": [1, 2], "b": [10.0, 20.0], "c": [True, False]})
    for given in (table, table.to_numpy(dtype=float), pl.from_pandas(table)):
        assert model(given).tolist() == [[12.0], [22.0]]
    assert model.n_features_in_ == 3
    assert model.feature_names_in_ is None


def test_doubles_are_not_rounded_on_the_way() -> None:
    nodes = [node("Identity", "x", "y")]
    model = OnnxModel(
        graph(nodes, [value("x", Kind.DOUBLE, [None, 1])], [value("y", Kind.DOUBLE, [None, 1])])
    )
    assert model(np.array([[0.1]])).tolist() == [[0.1]]


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_a_fixed_number_of_rows_is_asked_in_parts(batch: int) -> None:
    model = OnnxModel(summing(shape=(batch, 3)))
    rows = np.arange(15.0).reshape(5, 3)
    np.testing.assert_array_equal(model(rows)[:, 0], rows.sum(axis=1))


def by_columns() -> bytes:
    """age + 10 (job is "nurse") + 100 flag, each an input of its own."""
    nodes = [
        node(
            "LabelEncoder",
            "job",
            "code",
            domain=ML,
            keys_strings=["nurse"],
            values_floats=[10.0],
            default_float=0.0,
        ),
        node("Cast", "flag", "number", to=Kind.FLOAT),
        node("Mul", "number hundred", "hundreds"),
        node("Add", "age code", "s"),
        node("Add", "s hundreds", "y"),
    ]
    inputs = [
        value("age", Kind.FLOAT, [None, 1]),
        value("job", Kind.STRING, [None, 1]),
        value("flag", Kind.INT64, [None, 1]),
    ]
    outputs = [value("y", Kind.FLOAT, [None, 1])]
    return graph(nodes, inputs, outputs, hundred=np.array(100.0, np.float32))


PEOPLE = pd.DataFrame(
    {
        "flag": [1, 0, 0, 1, 1, 0],
        "job": ["nurse", "smith", "nurse", "smith", "smith", "smith"],
        "other": [9] * 6,
        "age": [30.5, 40.5, 20.0, 50.0, 61.0, 33.0],
    }
)


def test_columns_are_found_by_name() -> None:
    model = OnnxModel(by_columns())
    assert model.feature_names_in_ == ["age", "job", "flag"]
    assert model(PEOPLE)[:2].tolist() == [[140.5], [40.5]]
    categories = PEOPLE.astype({"job": "category"})
    np.testing.assert_array_equal(model(categories), model(PEOPLE))
    in_place = PEOPLE[["age", "job", "flag"]].to_numpy(dtype=object)
    np.testing.assert_array_equal(model(in_place), model(PEOPLE))


def test_an_explainer_selects_the_columns() -> None:
    explanation = Explainer(OnnxModel(by_columns()), PEOPLE, budget=40).explain(PEOPLE.iloc[[0]])
    assert explanation.names == ("age", "job", "flag")
    assert explanation.prediction == 140.5


# -- outputs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [[LABEL, SCORES, PROBABILITIES], [PROBABILITIES, SCORES]])
def test_probabilities_by_name_are_read_first(outputs: list[Any]) -> None:
    model = OnnxModel(classifier(outputs))
    np.testing.assert_allclose(model(X), softmax(X), atol=1e-6)
    assert model.classes_ is None


def test_probabilities_by_name_come_before_a_zipmap() -> None:
    outputs = [zipped("zipped", Kind.INT64), PROBABILITIES]
    model = OnnxModel(classifier(outputs, classlabels_int64s=[3, 10, 7]))
    np.testing.assert_allclose(model(X), softmax(X), atol=1e-6)
    assert model.classes_ is None


def test_else_the_last_real_numbers() -> None:
    model = OnnxModel(classifier([NEGATED, SCORES, LABEL]))
    np.testing.assert_allclose(model(X), X @ [[1, -1, 0], [0, 2, 1]], atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "settings", "classes", "order"),
    [
        (Kind.INT64, {"classlabels_int64s": [3, 10, 7]}, (3, 7, 10), [0, 2, 1]),
        (
            Kind.STRING,
            {"classlabels_strings": ["no", "yes", "maybe"]},
            ("maybe", "no", "yes"),
            [2, 0, 1],
        ),
    ],
)
def test_a_zipmap_is_read_by_its_keys(
    kind: int, settings: dict[str, Any], classes: tuple[Any, ...], order: list[int]
) -> None:
    model = OnnxModel(classifier([LABEL, zipped("zipped", kind), SCORES], **settings))
    assert model.classes_ == classes
    np.testing.assert_allclose(model(X), softmax(X)[:, order], atol=1e-6)


def test_a_zipmap_whose_width_is_not_told_has_no_classes_yet() -> None:
    nodes = [node("ZipMap", "x", "z", domain=ML, classlabels_int64s=[1, 0])]
    inputs = [value("x", Kind.FLOAT, [None, "width"])]
    model = OnnxModel(graph(nodes, inputs, [zipped("z", Kind.INT64)]))
    assert model.classes_ is None
    assert model.n_features_in_ is None
    np.testing.assert_array_equal(model(X), X[:, ::-1])
    assert model.classes_ == (0, 1)


def test_a_graph_that_refuses_zeros_names_its_classes_later(
    capfd: pytest.CaptureFixture[str],
) -> None:
    nodes = [
        node("OneHotEncoder", "x", "h", domain=ML, cats_strings=["a", "b"], zeros=0),
        node("Squeeze", "h axes", "p"),
        node("ZipMap", "p", "z", domain=ML, classlabels_strings=["yes", "no"]),
    ]
    inputs, outputs = [value("x", Kind.STRING, [None, 1])], [zipped("z", Kind.STRING)]
    model = OnnxModel(graph(nodes, inputs, outputs, axes=np.array([1])))
    assert model.classes_ is None
    assert capfd.readouterr().err == ""
    assert model(np.array([["a"], ["b"]])).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert model.classes_ == ("no", "yes")


def test_an_answer_that_is_not_one_a_row() -> None:
    nodes = [node("ReduceSum", "x", "y", keepdims=0)]
    inputs = [value("x", Kind.FLOAT, [None, 2])]
    model = OnnxModel(graph(nodes, inputs, [value("y", Kind.FLOAT, [])]))
    with pytest.raises(ReplyError, match="each of 2 rows"):
        model(X)


# -- files and pickles -------------------------------------------------------------------------


def test_files_and_pickles(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(classifier([PROBABILITIES]))
    model = load(path)
    np.testing.assert_allclose(model(X), softmax(X), atol=1e-6)
    for source in (model, OnnxModel(path.read_bytes())):
        again = pickle.loads(pickle.dumps(source))
        np.testing.assert_array_equal(again(X), model(X))
    assert "probabilities" in repr(model)


def test_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        load(tmp_path / "nix.onnx")
    junk = tmp_path / "junk.onnx"
    junk.write_bytes(b"junk")
    with pytest.raises(InputError, match=r"junk\.onnx is not an ONNX model"):
        load(junk)


def test_without_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"eagle-xai\[onnx\]"):
        OnnxModel(b"")


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inputs",
    [
        [value("x", Kind.FLOAT, [None, 3, 8, 8])],
        [value("x", Kind.FLOAT, [None, 3]), value("z", Kind.FLOAT, [None, 2])],
        [value("x", Kind.UINT8, [None, 3])],
    ],
)
def test_inputs_that_are_no_table(inputs: list[Any]) -> None:
    nodes = [node("Shape", "x", "n"), node("Cast", "n", "y", to=Kind.FLOAT)]
    with pytest.raises(InputError, match="one matrix"):
        OnnxModel(graph(nodes, inputs, [value("y", Kind.FLOAT, [None])]))


def test_labels_alone_are_refused() -> None:
    with pytest.raises(InputError, match="probabilities"):
        OnnxModel(classifier([LABEL]))


@pytest.mark.parametrize(
    ("column", "kind", "match"),
    [
        (["a", "b"], Kind.FLOAT, "'c' holds no numbers"),
        ([1.5, 2.0], Kind.INT64, "'c' must hold integers"),
        ([1.0, None], Kind.INT64, "'c' must hold integers"),
    ],
)
def test_columns_that_do_not_fit(column: list[Any], kind: int, match: str) -> None:
    model = OnnxModel(summing(kind))
    with pytest.raises(InputError, match=match):
        model(pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": column}))


def test_tables_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="takes 3 columns, but 2 came"):
        OnnxModel(summing())(X)
    model = OnnxModel(by_columns())
    with pytest.raises(InputError, match="not there: age"):
        model(PEOPLE.drop(columns="age"))
    with pytest.raises(InputError, match="takes 3 columns, but 4 came"):
        model(PEOPLE.to_numpy(dtype=object))
    with pytest.raises(InputError, match="'job' has missing values"):
        model(PEOPLE.assign(job=PEOPLE["job"].where(PEOPLE["age"] > 25)))
