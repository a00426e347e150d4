"""Saved files: the same bytes again, no fit when one is read, seals, and classes of one's own."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import damage
import eagle
from catalogue import CASES, METHODS, budget_of, supports
from eagle import methods
from eagle._engine.method import Method
from eagle._values.arrays import Array
from eagle.designs.balanced import Sobol
from eagle.io import container, values
from eagle.io import parquet as tables
from eagle.kernels import Exponential
from eagle.surrogates.fit import Fit, Surrogate
from eagle.surrogates.robust import Robust
from tables import explainer_of

X = np.random.default_rng(0).normal(size=(80, 3))
RESULTS = [name for name in damage.files() if name not in ("ledger", "manifest", "part")]


def model(q: Any) -> Array:
    return np.asarray(q[:, 0] - 2 * q[:, 1] + q[:, 0] * q[:, 2])


def explanation(**options: Any) -> eagle.Explanation:
    return explainer_of(model, X, budget=60, **options).explain(X[0])


def written(result: Any, path: Path, **options: Any) -> bytes:
    result.save(path, **options)
    return path.read_bytes()


@pytest.mark.parametrize("name", RESULTS)
def test_what_is_read_and_saved_again_has_the_same_bytes(name: str, tmp_path: Path) -> None:
    path = damage.files()[name]
    assert written(eagle.load(path), tmp_path / "again") == path.read_bytes()


@pytest.mark.parametrize("name", METHODS)
def test_explanations_of_every_method_have_the_same_bytes_again(name: str, tmp_path: Path) -> None:
    method = METHODS[name]
    case = next(case for case in CASES.values() if supports(method, case))
    given = {"budget": budget_of(method), **case.options}
    e = explainer_of(case.model, case.data, method=method, **given).explain(case.row(1))
    once = written(e, tmp_path / "e.json")
    read = eagle.load(tmp_path / "e.json")
    assert written(read, tmp_path / "f.json") == once
    assert read.surrogate == e.surrogate
    assert eagle.verify(read).ok or e.surrogate is None


def test_reading_makes_no_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explainer = eagle.Explainer(model, X, method=methods.EAGLE_BALANCED, budget=60)
    explainer.explain(X[0]).save(tmp_path / "e.json")
    explainer.plan(X[0]).save(tmp_path / "p.json")
    explainer.explain_many(X[:4], progress=False).save(tmp_path / "m.parquet")

    def refuse(*_: Any) -> Any:
        raise AssertionError("something was fitted")

    monkeypatch.setattr(Robust, "on", refuse)
    assert eagle.load(tmp_path / "e.json").scores.shape == (3,)
    assert eagle.load(tmp_path / "p.json").rows == 60
    assert eagle.load(tmp_path / "m.parquet")[2].interval().shape == (3, 2)
    with pytest.raises(AssertionError, match="fitted"):
        eagle.verify(tmp_path / "e.json")


# -- seals --------------------------------------------------------------------------------------

KEYED = ["explanation, text", "plan, text", "survey", "background, pandas", "explanations, text"]


@pytest.mark.parametrize("name", KEYED)
def test_a_key_is_needed_where_one_was_given(name: str, tmp_path: Path) -> None:
    path = damage.files()[name]
    keyed = tmp_path / path.name
    result = eagle.load(path)
    result.save(keyed, key="secret")
    assert written(eagle.load(keyed, key=b"secret"), tmp_path / "again") == path.read_bytes()
    assert type(result).load(keyed, key="secret")
    key: Any
    for key, sentence in ((None, "give that key"), ("other", "sealed with another key")):
        with pytest.raises(eagle.InputError, match=sentence):
            eagle.load(keyed, key=key)
    with pytest.raises(eagle.InputError, match="not sealed with a key"):
        eagle.load(path, key="secret")
    for key in ("", 7):
        with pytest.raises(eagle.InputError, match="a key is a text or bytes"):
            result.save(keyed, key=key)


@pytest.mark.parametrize("load", [eagle.load, eagle.Explanations.load, eagle.verify])
def test_a_folder_which_has_no_key_is_refused_with_one(load: Any) -> None:
    with pytest.raises(eagle.InputError, match=r"was not sealed with a key"):
        load(damage.files()["manifest"].parent, key="secret")


@pytest.mark.parametrize("name", ["explanation, text", "background, pandas"])
def test_a_dictionary_with_a_key_is_read_with_it(name: str) -> None:
    result = eagle.load(damage.files()[name])
    data = result.to_dict(key="secret")
    assert type(result).from_dict(data, key="secret").to_dict() == result.to_dict()
    with pytest.raises(eagle.InputError, match="give that key"):
        type(result).from_dict(data)


def test_any_tool_opens_the_table_and_the_json() -> None:
    path = damage.files()["explanations, survey"]
    assert len(pd.read_parquet(path)) == 6
    assert b"eagle seal" in parquet.ParquetFile(path).metadata.metadata
    data = json.loads(damage.files()["explanation, mixed, binned"].read_text("utf-8"))
    assert {"name", "condition", "value", "score", "low", "high"} <= data["features"][0].keys()
    again = eagle.Explanation.from_dict(json.loads(json.dumps(data, indent=7)))
    assert again.to_dict() == data


def forged(data: dict[str, Any], change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Data with a change, under a seal of their own."""
    change(data["saved"])
    rest = {key: value for key, value in data.items() if key != "sha256"}
    return {**rest, "sha256": container.seal_of(rest)}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(scores=values.pack(np.array([9.0, 1.0, 1.0]))),
        lambda d: d.update(prediction=7.0),
        lambda d: d.update(r2=0.5),
        lambda d: d["posterior"].update(variance=1e-9),
        lambda d: d["posterior"].update(df=3.0),
        lambda d: d.update(signed=False),
    ],
)
def test_invented_scores_are_found_by_verify_alone(change: Any) -> None:
    read = eagle.Explanation.from_dict(forged(explanation().to_dict(), change))
    found = eagle.verify(read)
    assert not found.ok
    assert str(found) == "1 do not follow from the answers (0)"


def test_verify_says_of_what_it_is_not_known(tmp_path: Path) -> None:
    explainer = eagle.Explainer(model, X, budget=60)
    survey = explainer.survey(64, progress=False)
    assert eagle.verify(survey).ok
    other = replace(survey, setting=replace(survey.setting, seed=5))
    assert not eagle.verify(other).ok
    for many in (explainer.explain_many(X[:3], progress=False), survey.explain_many(X[:3])):
        many.save(tmp_path / "m.parquet")
        assert str(eagle.verify(tmp_path / "m.parquet")) == "3 follow from the answers"
        assert many.stacked is not None
        wrong = replace(many.stacked, scores=many.stacked.scores * np.array([[1], [-100], [1]]))
        assert eagle.verify(replace(many, stacked=wrong)).wrong == (1,)
    thin = explainer.explain_many(X[:3], progress=False, evidence=False)
    assert eagle.verify(thin).unknown == 3
    assert "cannot be checked" in str(eagle.verify(thin))
    with pytest.raises(eagle.InputError, match="has none"):
        eagle.verify(explainer.plan(X[0]))


def test_files_of_before_are_refused_in_a_sentence() -> None:
    old = Path(__file__).parent.parent / "files" / "explanation-0.1.json"
    for read in (eagle.load, eagle.Explanation.load):
        with pytest.raises(eagle.InputError, match=r"saved by an older version.* make it again"):
            read(old)


# -- one's own ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spread:
    """A posterior of one's own."""

    mean: Array
    half: float
    kind = "own"

    @property
    def std(self) -> Array:
        return np.full(len(self.mean), self.half)

    def interval(self, level: float = 0.95, *, joint: bool = False) -> Array:
        return np.stack([self.mean - self.half, self.mean + self.half], axis=1)

    def probability_sign(self) -> Array:
        return np.full(len(self.mean), 0.75)

    def probability_top(self, k: int) -> Array:
        return np.ones(len(self.mean))


@dataclass(frozen=True)
class Means(Surrogate):
    """A surrogate of one's own."""

    factor: float = 2.0

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        scores = np.array([y[features[:, k] == 1].mean() for k in range(features.shape[1])])
        return Fit(self.factor * scores, 0.0, float(y[0]), 0.5, posterior=Spread(scores, 0.25))


OWN = Method("own", Sobol(), Exponential(), Means(3.0))


def test_a_surrogate_of_ones_own_is_read_as_what_it_said(tmp_path: Path) -> None:
    e = eagle.Explainer(model, X, method=OWN, budget=60).explain(X[0])
    once = written(e, tmp_path / "e.json")
    read = eagle.load(tmp_path / "e.json")
    assert written(read, tmp_path / "f.json") == once
    assert str(read) == str(e)
    assert read._repr_html_() == e._repr_html_()
    assert read.to_frame().equals(e.to_frame())
    assert str(read.surrogate) == f"Means(factor=3.0), made by {__name__}.Means"
    with pytest.raises(eagle.InputError, match=r"made by .*Means, which is not a part of eagle"):
        read.about("prediction")
    with pytest.raises(eagle.InputError, match=r"Spread, which knew how sure they are"):
        read.interval(0.5)
    assert "not a part of eagle" in str(eagle.verify(read))
    assert eagle.verify(e).ok


def test_nothing_that_a_file_names_is_made(tmp_path: Path) -> None:
    def named(saved: dict[str, Any]) -> None:
        saved["surrogate"] = {"is": "Popen", "args": ["true"]}

    with pytest.raises(eagle.InputError, match=r"'Popen', which this version .* does not know"):
        eagle.Explanation.from_dict(forged(explanation().to_dict(), named))


@pytest.mark.parametrize("name", [n for n in damage.files() if n.startswith("explanation, ")])
def test_what_is_of_another_type_than_its_field_is_refused(name: str) -> None:
    data = json.loads(damage.files()[name].read_text("utf-8"))
    known = {"target", "data", "outputs"}  # which may be anything
    for field in data["saved"].keys() - known - {"is"}:

        def bend(saved: dict[str, Any], field: str = field) -> None:
            saved[field] = {"is": "Prior", "slopes": 1.0, "intercept": 1.0}

        with pytest.raises(eagle.InputError, match=f"{field} of Explanation is of the wrong type"):
            eagle.Explanation.from_dict(forged(copy.deepcopy(data), bend))


# -- sizes --------------------------------------------------------------------------------------


def retold(name: str, change: Callable[[pa.Table], pa.Table], **options: Any) -> bytes:
    """The table of a file, changed, under a forger's seal."""
    source = parquet.ParquetFile(damage.files()[name])
    said = {**source.schema_arrow.metadata, tables.SEAL: tables.marker(None) + b"0" * 64}
    out = pa.BufferOutputStream()
    parquet.write_table(change(source.read()).replace_schema_metadata(said), out, **options)
    spoilt = bytearray(out.getvalue().to_pybytes())
    at = spoilt.rfind(tables.marker(None)) + len(tables.marker(None))
    spoilt[at : at + 64] = tables.seal_at(spoilt, at, None).encode()
    return bytes(spoilt)


def many_rows(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table.slice(0, 1)] * 60_000)


def wide(table: pa.Table) -> pa.Table:
    tall = pa.concat_tables([table.slice(0, 1)] * 10_000)
    more = {f"more {k}": pa.array(np.zeros(len(tall))) for k in range(500)}
    return pa.table({**dict(zip(tall.column_names, tall.columns, strict=True)), **more})


def long_text(table: pa.Table) -> pa.Table:
    place = table.column_names.index("target")
    text = pa.array(["x" * 50_000_000] * len(table))
    return table.set_column(place, "target", text)


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (many_rows, {}),
        (wide, {}),
        (long_text, {"compression": "zstd", "use_dictionary": False}),
        (lambda t: t, {"use_dictionary": False, "column_encoding": {"id": "DELTA_BYTE_ARRAY"}}),
    ],
)
def test_a_table_that_unpacks_to_far_more_than_its_bytes_is_not_read(
    change: Any, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.parquet").write_bytes(retold("explanations, survey", change, **options))

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was unpacked")

    monkeypatch.setattr(parquet.ParquetFile, "read", refuse)
    with pytest.raises(eagle.InputError, match="far more than it has bytes"):
        eagle.load(tmp_path / "m.parquet")


def test_a_text_that_repeats_is_held_once(tmp_path: Path) -> None:
    def repeat(table: pa.Table) -> pa.Table:
        tall = pa.concat_tables([table.slice(0, 1)] * 3_000)
        return tall.set_column(0, "id", pa.array([json.dumps("x" * 300_000)] * len(tall)))

    (tmp_path / "m.parquet").write_bytes(retold("explanations, survey", repeat))
    loaded = eagle.load(tmp_path / "m.parquet")
    assert len({id(one) for one in loaded.ids}) == 1


def test_explanations_that_repeat_can_be_read(tmp_path: Path) -> None:
    explainer = eagle.Explainer(model, X, budget=20)
    many = explainer.survey(64, progress=False).explain_many(
        X[:1].repeat(30_000, 0), progress=False
    )
    many.save(tmp_path / "m.parquet")
    loaded = eagle.load(tmp_path / "m.parquet")
    assert np.array_equal(loaded.scores, many.scores)


@pytest.mark.parametrize("width", [10**9, 10**18, -1, 2**70, 3])
def test_a_background_has_as_many_columns_as_it_says(width: int) -> None:
    def widen(saved: dict[str, Any]) -> None:
        for pair in saved["template"]["map"]:
            pair[1] = {"width": width, "names": None}.get(pair[0], pair[1])

    data = json.loads(damage.files()["background, array"].read_text("utf-8"))
    with pytest.raises(eagle.InputError, match="its columns do not fit its table"):
        eagle.Background.from_dict(forged(data, widen))


def test_a_text_of_nothing_but_parts_is_not_parsed() -> None:
    with pytest.raises(ValueError, match="far more parts"):
        container.parse(b"[" + b"[]," * 1_000_000 + b"[]]")


# -- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.0, -0.0, 1.0]),
        np.array([np.nan, np.inf, 5e-324]),
        np.arange(6.0).reshape(2, 3),
        np.array([70_000, -1]),
        np.array([255, 256], dtype=np.uint16),
        np.array([True, False]),
        np.zeros((0, 3), dtype=np.float32),
        np.array([1, 2], dtype=">i4"),
    ],
    ids=str,
)
def test_arrays_come_back_to_the_bit(array: Any) -> None:
    read = values.unpack(json.loads(json.dumps(values.pack(array))))
    assert read.shape == array.shape
    assert read.tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes()


@pytest.mark.parametrize("shape", [[10**12, 10**12], [-1, 4], [2**64, 0, 9], [1] * 9, [True], "x"])
def test_a_shape_that_does_not_fit_allocates_nothing(shape: Any) -> None:
    packed = values.pack(np.arange(4.0))
    with pytest.raises((ValueError, TypeError)):
        values.unpack({**packed, "shape": shape})


def test_half_a_character_can_be_saved(tmp_path: Path) -> None:
    table = pd.DataFrame({"c": ["\ud800", "b"] * 20, "x": np.arange(40.0)}, dtype=object)
    e = eagle.Explainer(lambda q: q["x"].astype(float), table, budget=30).explain(table.iloc[0])
    e.save(tmp_path / "e.json")
    assert eagle.Explanation.load(tmp_path / "e.json").to_dict() == e.to_dict()
