"""Wide polars and pyarrow tables: read once, written as arrays, the same values and dtypes."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from eagle import Background
from eagle._tables.column import Codes, numbers, to_objects
from eagle._tables.dataframes import NarwhalsFrame
from eagle._tables.rows import TableInstances

WIDE = {f"c{j}": np.random.default_rng(j).normal(size=30) for j in range(40)}
ODD: dict[str, Any] = {
    "small": pl.Series([1, 2, None, 4], dtype=pl.Int8),
    "large": pl.Series([2**60 + 1, 3, 2**53 + 1, 0], dtype=pl.UInt64),
    "whole": pl.Series([1, -2, 3, 4], dtype=pl.Int32),
    "single": pl.Series([0.1, None, float("nan"), 2.0], dtype=pl.Float32),
    "double": pl.Series([0.1, 0.2, 0.3, None]),
}


@pytest.fixture(params=[pl.DataFrame, pa.table])
def wide(request: Any) -> Any:
    return request.param(WIDE)


def test_the_schema_is_read_once_for_each_table(wide: Any, monkeypatch: Any) -> None:
    asked: list[int] = []
    plain: Any = nw.DataFrame.schema

    def schema(self: Any) -> Any:
        asked.append(1)
        return plain.fget(self)

    monkeypatch.setattr(nw.DataFrame, "schema", property(schema))
    background = Background.of(wide)
    table = TableInstances(background, background.adopt(wide[:1]))
    points = table.space(0).draw(20, np.random.default_rng(0))
    made = table.inputs([0], [points])
    assert made.schema == wide.schema
    assert len(asked) < len(WIDE) / 2


def test_a_column_is_read_as_its_objects_would_be() -> None:
    table = pl.DataFrame(ODD)
    for native in (table, table.to_arrow()):
        frame = NarwhalsFrame(native)
        for j, name in enumerate(ODD):
            read = frame.read(j)
            assert isinstance(read, np.ndarray)
            assert np.array_equal(read, numbers(frame.objects(j), name), equal_nan=True)
            assert read.dtype == np.float64
            read[0] = 7.0  # a copy: the table is not ours to write


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [np.nan, 2.0, 3.0], [0.0, -0.0, 7.0]])
def test_what_is_written_is_what_objects_would_be(values: list[float]) -> None:
    table = pl.DataFrame(ODD)
    for native in (table, table.to_arrow()):
        frame = NarwhalsFrame(native)
        for j, name in enumerate(ODD):
            column = np.array(values)
            made = frame.write(np.array([3, 0, 3]), {j: column})
            assert made.native.schema == native.schema
            expected = to_objects(column, frame.is_integer(j), None).tolist()
            assert made.objects(j).tolist() == expected
            others = [k for k in range(len(ODD)) if k != j]
            for k in others:
                taken = frame.objects(k)[[3, 0, 3]].tolist()
                assert str(made.objects(k).tolist()) == str(taken), name


def test_rows_are_taken_as_they_are() -> None:
    levels = pa.array(["u", "v", None, "u"]).dictionary_encode()
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "s": levels, "t": [[1], [2], [3], [4]]})
    taken = NarwhalsFrame(table).take([2, 2, 0]).native
    assert taken.schema == table.schema
    assert taken.to_pylist() == [table.to_pylist()[i] for i in (2, 2, 0)]


def test_levels_beside_numbers_are_written() -> None:
    frame = NarwhalsFrame(pl.DataFrame({"x": [1.0, 2.0], "s": ["u", "v"]}))
    made = frame.write(np.array([0, 0]), {1: Codes(np.array([1, -1]), ("u", "v"))}).native
    assert made.to_dict(as_series=False) == {"x": [1.0, 1.0], "s": ["v", None]}
