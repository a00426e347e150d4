"""Columns of real data: features that matter are seen to change, and rows asked are possible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import eagle
from catalogue import Recorder
from eagle import methods, peers
from eagle._tables.background import Background

VIEWS = ["binned", "continuous"]
OFFSETS = [
    methods.EAGLE_BALANCED,
    peers.LIME,
    peers.GLIME_GAUSS,
    peers.UNRAVEL,
]

TIED = st.lists(
    st.sampled_from([-1.0, 0.0, 0.25, 1.0, 2.0, 5.0, 7.0]), min_size=4, max_size=60
).flatmap(lambda few: st.integers(0, 400).map(lambda more: [*few, *[max(few)] * more]))
"""Columns with few distinct values, whose largest one may be most of them."""


def alone(values: list[float] | np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(values)[:, None]


@pytest.mark.parametrize("view", VIEWS)
@settings(max_examples=60, deadline=None)
@given(values=TIED, whole=st.booleans(), pick=st.integers(0, 10**6))
def test_what_varies_in_the_data_changes_in_what_is_asked(
    view: Any, values: list[float], whole: bool, pick: int
) -> None:
    column = alone(values) * (4 if whole else 1)
    data = column.astype(np.int64) if whole else column
    x = data[pick % len(data)]
    model = Recorder(lambda q: (q[:, 0] == x[0]).astype(float))
    e = eagle.Explainer(model, eagle.Table(data, view=view)).explain(x)
    if len(np.unique(data)) == 1:
        assert e.scores[0] == 0
        assert "never changed" in " ".join(e.warnings)
        return
    assert np.ptp(e.evidence.features) > 0
    assert len(np.unique(model.asked[0])) > 1
    if view == "binned":
        assert e.scores[0] > 0


@settings(max_examples=100, deadline=None)
@given(values=TIED)
def test_bins(values: list[float]) -> None:
    """Each background value is in one bin, and those of a column that varies in two or more."""
    data = alone(values)
    (column,) = Background.of(data).columns
    states = Background.of(data).states(data)[:, 0]
    counts = np.bincount(states, minlength=len(column.shares))
    distinct = np.unique(data)
    assert np.allclose(column.shares, counts / len(data))
    assert counts[-1] == 0  # none is missing
    assert (np.count_nonzero(counts) >= 2) == (len(distinct) > 1)
    if len(distinct) <= 4 and len(distinct) < len(data):
        assert len(column.shares) - 1 == len(distinct)
        assert np.array_equal(column.single, distinct)
    for state, only in enumerate(column.single):
        if only == only:
            assert set(data[states == state, 0]) == {only}


def test_a_flag_that_is_mostly_one_is_explained() -> None:
    rng = np.random.default_rng(0)
    d = pd.DataFrame({"flag": (rng.random(4000) < 0.9).astype(int), "x": rng.normal(size=4000)})
    e = eagle.Explainer(lambda q: 5 * q.flag + q.x, d).explain({"flag": 0, "x": 0.0})
    assert e.conditions[0] == "flag = 0"
    assert e.scores[0] == pytest.approx(-5, abs=0.5)
    low, high = e.interval(0.95)[0]
    assert low < -5 < high
    assert not any("never changed" in w for w in e.warnings)


def test_conditions_of_bins_with_one_value() -> None:
    rng = np.random.default_rng(1)
    d = pd.DataFrame(
        {
            "rating": rng.choice([1, 2, 3, 4, 5], 1000, p=[0.05, 0.05, 0.05, 0.05, 0.8]),
            "gain": np.where(rng.random(1000) < 0.9, 0.0, rng.lognormal(8, 1, 1000)),
            "half": rng.choice([0.0, 0.5, 1.0], 1000),
        }
    )
    explainer = eagle.Explainer(lambda q: q.rating + q.gain + q.half, d, budget=32)

    def conditions(**row: float) -> tuple[str, ...]:
        return explainer.explain(row).conditions

    assert conditions(rating=5, gain=0.0, half=0.5) == ("rating = 5", "gain = 0", "half = 0.5")
    assert conditions(rating=2, gain=9.0, half=0.7) == (
        "rating ≤ 4",
        "gain > 0",
        "half = 0.7 (not in the data)",
    )
    # What the background never saw is in no bin of one value, and is said to be new.
    told = conditions(rating=6, gain=-1.0, half=0.0)
    assert told == ("rating = 6 (not in the data)", "gain = -1 (not in the data)", "half = 0")


def test_few_rows_that_all_differ_have_ranges() -> None:
    e = eagle.Explainer(lambda q: q[:, 0], alone([1.0, 2.0, 3.0, 4.0]), budget=32).explain([2.2])
    assert e.conditions == ("1.75 < x0 ≤ 2.5",)


def test_a_value_nobody_saw_is_kept_apart_from_the_rest() -> None:
    """A flag has no values between 0 and 1: an instance there matches only itself."""
    data = alone([0.0, 1.0] * 50)
    model = Recorder(lambda q: np.where(q[:, 0] == 0.5, 7.0, q[:, 0]))
    e = eagle.Explainer(model, data, budget=400).explain([0.5])
    asked = np.unique(model.asked[0])
    assert asked.tolist() == [0.0, 0.5, 1.0]
    assert e.scores[0] == pytest.approx(6.5, abs=0.7)  # 7 minus the mean of 0 and 1


@pytest.mark.parametrize("method", OFFSETS, ids=lambda m: m.name)
@pytest.mark.parametrize("kind", [np.int64, np.float64, np.float32])
@pytest.mark.parametrize("share", [0.5, 0.01])
def test_two_values_move_only_between_them(method: Any, kind: Any, share: float) -> None:
    rng = np.random.default_rng(2)
    data = np.column_stack([rng.random(600) < share, np.round(rng.normal(size=600) * 9)])
    data[:2, 0] = 0, 1
    model = Recorder(lambda q: 3.0 * q[:, 0] + 0.1 * q[:, 1])
    ex = eagle.Explainer(
        model,
        eagle.Table(data.astype(kind), view="continuous"),
        method=method,
        budget=12 if method is peers.UNRAVEL else 200,
    )
    for own, other in ((0, 1), (1, 0)):
        e = ex.explain(np.array([own, 2], dtype=kind))
        asked = model.asked.pop()
        assert set(np.unique(asked[:, 0])) <= {0, 1}
        assert set(np.unique(e.evidence.features[:, 0])) == {0.0, 2.0 * (other - own)}
        if e.signed:  # a switch counts as two steps
            assert e.scores[0] == pytest.approx(1.5, rel=0.1)
        else:
            assert e.scores[0] > 0
    assert ex.explain(np.array([0.0, 2])).contrast[0] == pytest.approx(-2 * data[:, 0].mean())


def test_integers_that_hardly_vary_move_all_the_same() -> None:
    data = np.zeros((1000, 1), dtype=np.int64)
    data[:6, 0] = 1, 2, 3, 4, 5, 6
    data[6:20, 0] = 1
    model = Recorder(lambda q: 2.0 * q[:, 0])
    e = eagle.Explainer(model, eagle.Table(data, view="continuous")).explain([0])
    assert {-1, 0, 1} <= set(np.unique(model.asked[0]).tolist())
    assert e.scores[0] == pytest.approx(1.0, rel=0.1)  # 2 a unit, and a step is half of one


def _floats(kind: Any) -> Any:
    """Tables of two columns of any finite numbers that the dtype can hold."""
    ends = np.finfo(kind)
    width: Any = 8 * np.dtype(kind).itemsize
    one = st.floats(float(ends.min), float(ends.max), allow_nan=False, width=width)
    return hnp.arrays(kind, st.tuples(st.integers(2, 20), st.just(2)), elements=one)


FLOATS = st.one_of(*(_floats(kind) for kind in (np.float16, np.float32, np.float64)))


@pytest.mark.parametrize("view", VIEWS)
@settings(max_examples=80, deadline=None)
@given(data=FLOATS)
def test_finite_data_stay_finite(view: Any, data: np.ndarray[Any, Any]) -> None:
    model = Recorder(lambda q: np.zeros(len(q)))
    explainer = eagle.Explainer(model, eagle.Table(data, view=view), budget=40)
    for row in data[:3]:
        e = explainer.explain(row)
        assert np.isfinite(model.asked.pop()).all()
        assert np.isfinite(e.evidence.features).all()
        assert np.isfinite(e.contrast).all()


@pytest.mark.parametrize("size", [1e154, 1e-170, 1e300])
def test_units_of_any_size(size: float) -> None:
    """Scores are per step of the column, so its unit does not matter."""
    rng = np.random.default_rng(4)
    data = rng.normal(size=(400, 2))

    def scores(unit: float) -> Any:
        explainer = eagle.Explainer(
            lambda q: np.tanh(q[:, 0] / unit) + q[:, 1],
            eagle.Table(data * [unit, 1], view="continuous"),
        )
        return explainer.explain(data[3] * [unit, 1]).scores

    assert np.allclose(scores(size), scores(1.0), rtol=1e-6)


def test_plans_tell_bounds_apart() -> None:
    """The same row under other bounds moves otherwise, so it has another plan."""
    data = np.random.default_rng(0).normal(size=(300, 2))

    def model(q: Any) -> Any:
        return 2 * q[:, 0] + q[:, 1]

    for low in (0.0, -1.0, -3.0):
        explainer = eagle.Explainer(
            model, eagle.Table(data, view="continuous", bounds={0: (low, None)})
        )
        e = explainer.explain([0.1, 0.0])
        steps = explainer.background.columns[0].scale if explainer.background else np.nan
        asked = explainer.plan([0.1, 0.0]).inputs
        assert np.allclose(e.evidence.features[:, 0], (asked[:, 0] - 0.1) / steps)


def test_neighbours_of_any_size() -> None:
    """A power of two as unit changes no digit, so the same rows are the nearest."""
    data = np.random.default_rng(5).normal(size=(60, 2))

    def asked(unit: float) -> Any:
        model = Recorder(lambda q: q[:, 1] / unit)
        eagle.Explainer(model, data * unit, method=peers.DLIME).explain(data[3] * unit)
        return model.asked[0] / unit

    for unit in (2.0**520, 2.0**1020, 2.0**-600):
        assert np.array_equal(asked(unit), asked(1.0))


@pytest.mark.parametrize("view", VIEWS)
def test_what_varies_little_beside_its_size_is_explained(view: Any) -> None:
    """Large numbers that differ little, such as times in seconds, still change."""
    data = -1e13 + np.random.default_rng(6).normal(size=(300, 1))
    e = eagle.Explainer(lambda q: q[:, 0] + 1e13, eagle.Table(data, view=view)).explain(data[3])
    assert abs(e.scores[0]) > 0.1
    constant = np.full((300, 1), 0.1)
    assert (
        eagle.Explainer(lambda q: q[:, 0], eagle.Table(constant, view=view))
        .explain([0.1])
        .scores[0]
        == 0
    )
