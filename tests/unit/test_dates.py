"""Dates, durations and decimals are numbers, and the model sees them as they were."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eagle
from eagle import Background
from eagle._tables import units

RNG = np.random.default_rng(0)
N = 100
DAYS = pd.Series(np.datetime64("2020-01-01", "s") + RNG.integers(0, 900, N) * 86_400)
MOMENTS = DAYS.dt.as_unit("ns") + pd.to_timedelta(RNG.integers(0, 86_400 * 10**9, N), unit="ns")
MICRO = MOMENTS.dt.as_unit("us")
CENTS = [Decimal(int(v)).scaleb(-2) for v in RNG.integers(-(10**6), 10**6, N)]
ROME = MOMENTS.dt.tz_localize("UTC").dt.tz_convert("Europe/Rome")


def gaps(values: Any, dtype: Any = None) -> pd.Series:
    """The values with some missing."""
    some = pd.Series(values, dtype=dtype).copy()
    some[10:16] = None
    return some


COLUMNS: dict[str, pd.Series] = {
    "days": DAYS,
    "days, some missing": gaps(DAYS),
    "nanoseconds": gaps(MOMENTS),
    "time zone": gaps(ROME),
    "durations": gaps(MOMENTS - MOMENTS[0]),
    "date objects": gaps(DAYS.dt.date, object),
    "datetime objects": gaps([m.to_pydatetime() for m in MICRO], object),
    "timestamps": gaps(list(DAYS), object),
    "timedelta objects": gaps([(m - MICRO[0]).to_pytimedelta() for m in MICRO], object),
    "zoned objects": gaps([m.to_pydatetime().replace(tzinfo=dt.UTC) for m in MICRO], object),
    "numpy objects": pd.Series([np.datetime64(d, "D") for d in DAYS.dt.date], dtype=object),
    "decimals": gaps(CENTS, object),
    "arrow dates": gaps(DAYS.dt.date, pd.ArrowDtype(pa.date32())),
    "arrow moments": gaps(list(MICRO), pd.ArrowDtype(pa.timestamp("us"))),
    "arrow decimals": gaps(CENTS, pd.ArrowDtype(pa.decimal128(12, 2))),
}


@pytest.mark.parametrize("view", ["binned", "continuous"])
@pytest.mark.parametrize("name", COLUMNS)
def test_the_model_sees_what_it_knows(name: str, view: Any) -> None:
    column = COLUMNS[name]
    table = pd.DataFrame({"t": column, "x": RNG.normal(size=N)})
    asked: list[pd.DataFrame] = []

    def model(X: pd.DataFrame) -> Any:
        asked.append(X)
        return X["x"].to_numpy()

    explainer = eagle.Explainer(model, eagle.Table(table, view=view), budget=80)
    for i in (3, 12):
        asked.clear()
        explainer.explain(table.iloc[[i]])
        (rows,) = asked
        assert (rows.dtypes == table.dtypes).all()
        own = table.iloc[[i]].reset_index(drop=True)
        pd.testing.assert_frame_equal(rows.iloc[[0]].reset_index(drop=True), own)
        assert {type(v) for v in rows["t"].dropna()} <= {type(v) for v in column.dropna()}
        assert rows["t"].nunique() > 3
    assert explainer.background.columns[0].levels is None


@pytest.mark.parametrize("arrow", [False, True])
@pytest.mark.parametrize("view", ["binned", "continuous"])
def test_polars_and_pyarrow_too(view: Any, arrow: bool) -> None:
    frame = pl.DataFrame(
        {
            "date": DAYS.dt.date.to_list(),
            "ns": pl.Series(MOMENTS.to_numpy()),
            "ms": pl.Series(MOMENTS.to_numpy()).cast(pl.Datetime("ms")),
            "zone": pl.Series(MOMENTS.to_numpy()).cast(pl.Datetime("us", "Europe/Rome")),
            "span": pl.Series((MOMENTS - MOMENTS[0]).to_numpy()),
            "cents": pl.Series([None, *CENTS[1:]], dtype=pl.Decimal(12, 2)),
            "frozen": pl.Series(MOMENTS.to_numpy()),
            "x": RNG.normal(size=N),
        }
    )
    table = frame.to_arrow() if arrow else frame
    asked: list[Any] = []

    def model(X: Any) -> Any:
        asked.append(X)
        return np.asarray(X["x"])

    explainer = eagle.Explainer(model, eagle.Table(table, view=view, fixed=["frozen"]), budget=80)
    for i in (0, 5):
        asked.clear()
        explainer.explain(table.slice(i, 1))
        assert asked[0].schema == table.schema
        assert asked[0].slice(0, 1).equals(table.slice(i, 1))
    explainer.explain(frame.row(5, named=True))
    assert asked[-1].schema == table.schema


def test_dates_are_explained_as_their_days() -> None:
    """A table of dates and one of numbers of days: the same scores to the last bit."""
    days = DAYS.to_numpy().astype("M8[D]").astype(np.int64)
    x = RNG.normal(size=N)
    dated = pd.DataFrame({"t": DAYS, "x": x})
    counted = pd.DataFrame({"t": days, "x": x})

    def model(X: pd.DataFrame) -> Any:
        t = X["t"].to_numpy()
        t = t.astype("M8[D]").astype(np.int64) if t.dtype.kind == "M" else t
        return (t - 18_300) / 300 + X["x"].to_numpy()

    for view in ("binned", "continuous"):
        a = eagle.Explainer(model, eagle.Table(dated, view=view), budget=100).explain(
            dated.iloc[[0]]
        )
        b = eagle.Explainer(model, eagle.Table(counted, view=view), budget=100).explain(
            counted.iloc[[0]]
        )
        assert np.array_equal(a.scores, b.scores)


def test_conditions_are_dates() -> None:
    table = pd.DataFrame({"joined": pd.date_range("2021-01-01", periods=101), "x": range(101)})
    explainer = eagle.Explainer(lambda X: X["x"], table, budget=60)
    e = explainer.explain(table.iloc[[26]])
    assert e.conditions[0] == "2021-01-26 < joined ≤ 2021-02-20"
    assert e.data[0] == "2021-01-27"
    assert "joined: datetime64" in explainer.describe()
    assert ", dates" in explainer.describe()
    missing = explainer.explain({"joined": pd.NaT, "x": 1})
    assert missing.conditions[0] == "joined is missing (not in the data)"
    noon = explainer.explain({"joined": "2021-01-27T12:30", "x": 1})
    assert noon.data[0] == "2021-01-27 12:30"
    zoned = pd.DataFrame({"t": ROME, "x": range(N)})
    told = eagle.Explainer(lambda X: X["x"], zoned, budget=60).explain(zoned.iloc[[0]])
    assert told.data[0].endswith(" UTC")


def test_bounds_are_dates_and_scales_are_durations() -> None:
    table = pd.DataFrame({"t": DAYS, "x": range(N)})
    asked: list[pd.DataFrame] = []

    def model(X: pd.DataFrame) -> Any:
        asked.append(X)
        return X["x"].to_numpy()

    low, high = dt.date(2020, 6, 1), pd.Timestamp("2021-06-01")
    row = table.iloc[[0]].assign(t=pd.Timestamp("2021-01-01"))
    explainer = eagle.Explainer(
        model,
        eagle.Table(
            table,
            view="continuous",
            bounds={"t": (low, high)},
            scales={"t": dt.timedelta(days=300)},
        ),
        budget=100,
    )
    explainer.explain(row)
    assert asked[0]["t"].min() == pd.Timestamp(low)
    assert asked[0]["t"].max() == high
    with pytest.raises(
        eagle.InputError, match="t = 2022-01-01, outside its bounds from 2020-06-01"
    ):
        explainer.explain(row.assign(t=pd.Timestamp("2022-01-01")))
    with pytest.raises(eagle.InputError, match="the scale of column 'x' must be zero or more"):
        eagle.Explainer(model, eagle.Table(table, scales={"x": dt.timedelta(days=1)}))
    with pytest.raises(eagle.InputError, match="a pair of dates with times"):
        eagle.Explainer(model, eagle.Table(table, bounds={"t": (1, 2)}))


def test_what_is_no_date_is_refused() -> None:
    table = pd.DataFrame({"t": pd.Series(DAYS.dt.date, dtype=object), "x": range(N)})
    explainer = eagle.Explainer(lambda X: X["x"], table, budget=60)
    for value in (17, "yesterday", Decimal(3)):
        with pytest.raises(eagle.InputError, match="'t' holds dates in the background, but"):
            explainer.explain({"t": value, "x": 1})
    mixed = table.assign(t=pd.Series([dt.date(2020, 1, 1), "x"] * (N // 2), dtype=object))
    assert Background.of(mixed).columns[0].levels == (dt.date(2020, 1, 1), "x")


@given(st.integers(-(2**62), 2**62), st.sampled_from(list(units.PER_DAY.values())))
def test_days_come_back_to_the_microsecond(tick: int, per_day: int) -> None:
    tick = int(np.fmod(tick, 36_000 * per_day))  # within a century of 1970
    (day,) = units.days(np.array([tick]), per_day)
    (back,) = units.ticks(np.array([day]), per_day)
    assert abs(int(back) - tick) <= max(per_day // units.DAY, 1) / 2
    (own,) = units.ticks(np.array([day]), per_day, np.array([tick]))
    assert own == tick


def test_days_and_decimals_are_saved(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "t": gaps(ROME),
            "d": gaps(DAYS.dt.date, object),
            "c": gaps(CENTS, object),
            "span": MOMENTS - MOMENTS[0],
        }
    )
    made = Background.of(table)
    made.save(tmp_path / "b.json")
    back = Background.load(tmp_path / "b.json")
    assert back.to_dict() == made.to_dict()
    asked: list[pd.DataFrame] = []

    def model(X: pd.DataFrame) -> Any:
        asked.append(X)
        return np.arange(len(X))

    for ground in (made, back):
        eagle.Explainer(model, ground, budget=60).explain(table.iloc[[0]])
    pd.testing.assert_frame_equal(*asked)
    stamps = pd.DataFrame({"t": pd.Series(list(DAYS), dtype=object)})
    with pytest.raises(eagle.InputError, match="'t' holds objects of time that cannot be written"):
        Background.of(stamps).save(tmp_path / "c.json")
