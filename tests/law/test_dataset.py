"""Rows of files in any pieces, and sums over any blocks, are those of the whole."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from eagle._questions.totals import Block, Mean, totals
from eagle.dataset.source import Parquet, WantedColumns
from eagle.saved.folders import Manifest


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "x.parquet"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"i": range(9_000), "x": rng.normal(size=9_000), "more": "text"})
    frame.to_parquet(path, row_group_size=700)
    return path


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 8_999), st.integers(1, 3_000)), max_size=6))
def test_any_rows_in_any_order(file: Path, pieces: list[tuple[int, int]]) -> None:
    source = Parquet(file.parent, (file.name,), WantedColumns(("i", "x"), "i"))
    whole = pd.read_parquet(file)
    for start, size in pieces:
        end = min(start + size, 9_000)
        rows = source.read(file.name, start, end, 100 + start)
        assert list(rows.ids) == list(range(start, end))
        expected = whole[["i", "x"]][start:end].reset_index(drop=True)
        pd.testing.assert_frame_equal(rows.X, expected)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.integers(1, 50))
def test_parts_cover_each_row_once(sizes: list[int], part_rows: int) -> None:
    files = [(f"{i}.parquet", rows) for i, rows in enumerate(sizes)]
    manifest = Manifest({}, files, part_rows, {})
    seen = [(p.file, i) for p in manifest.parts for i in range(p.start, p.end)]
    assert seen == [(name, i) for name, rows in files for i in range(rows)]
    firsts = [p.first + k for p in manifest.parts for k in range(len(p))]
    assert firsts == list(range(sum(sizes)))
    assert all(0 < len(p) <= part_rows for p in manifest.parts)


@given(
    arrays.arrays(np.float64, (23, 3), elements=st.floats(-1e6, 1e6, width=32)),
    st.lists(st.integers(1, 22), max_size=6),
    st.integers(1, 3),
)
def test_sums_over_blocks(scores: np.ndarray, cuts: list[int], k: int) -> None:
    spread, df = np.abs(scores) / 3 + 1e-3, np.linspace(5, 50, 23)
    edges = sorted({0, 23, *cuts})
    blocks = [Block(scores[a:b], spread[a:b], df[a:b]) for a, b in pairwise(edges)]
    apart, whole = totals(blocks, 23, k), totals([Block(scores, spread, df)], 23, k)
    slack = 1e-12 * float(np.abs(scores).max()) + 1e-15
    for one, other in [
        (apart.size.value, np.abs(scores).mean(axis=0)),
        (apart.size.deviation, np.abs(scores).std(axis=0, ddof=1)),
        (apart.score.value, Mean.of(scores).value),
        (apart.score.deviation, Mean.of(scores).deviation),
        (apart.noise, whole.noise),
        (apart.top, whole.top),
        (apart.error, spread.mean(axis=0)),
        (apart.error_of_size, np.where(scores != 0, spread, 0).mean(axis=0)),
    ]:
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=10 * slack)
    assert apart.df == np.median(df)
    np.testing.assert_array_equal(apart.some.scores, scores)
