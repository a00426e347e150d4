"""Series over time: shapes, cuts, fills, names, files, plots, and sentences of refusal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import eagle
from eagle._values.subject import MAX_POINTS, Curves
from eagle.errors import InputError
from tables import explainer_of

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 2)).astype(np.float32)
LEFT: dict[str, Any] = {"channels": "left"}


def mean(batch: Any) -> Any:
    return np.asarray(batch, dtype=np.float64).reshape(len(batch), -1).mean(axis=1)


def explained(x: Any = X, how: Any = None, model: Any = mean, **options: Any) -> Any:
    return explainer_of(model, how or eagle.Series(4), **options).explain(x)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int16", "uint8", "bool"])
@pytest.mark.parametrize("fill", ["mean", "linear", "noise", 1])
def test_the_model_gets_a_batch_of_the_callers_dtype_and_x_stays(dtype: str, fill: Any) -> None:
    seen: list[Any] = []

    def model(batch: Any) -> Any:
        seen.append(batch)
        batch[:] = 0  # a rude model
        return np.linspace(0, 1, len(batch))

    for x in (np.abs(X * 20).astype(dtype), np.abs(X[:, 0] * 20).astype(dtype)):
        before = x.copy()
        e = explained(x, eagle.Series(4, fill=fill), model)
        assert (seen[-1].dtype, seen[-1].shape[1:]) == (x.dtype, x.shape)
        assert (x == before).all()
        assert len(e.scores) == 4 * x.reshape(40, -1).shape[1]


def test_windows_of_a_table_of_sensors_are_explained_alone_as_together() -> None:
    windows = RNG.normal(size=(5, 30, 3))
    ex = eagle.Explainer(mean, eagle.Series(3))
    together = ex.explain_many(windows)
    assert len(together) == 5
    for window, e in zip(windows, together, strict=True):
        assert (ex.explain(window).scores == e.scores).all()
        assert (ex.explain(window[None]).scores == e.scores).all()
    ragged = ex.explain_many([windows[0], windows[1][:20], windows[2, :, 0]])
    assert [len(e.names) for e in ragged] == [9, 9, 3]
    first = eagle.Explainer(mean, eagle.Series(3, channels="first"))
    assert np.allclose(first.explain(windows[0].T).scores, together[0].scores)
    assert len(eagle.Explainer(mean, eagle.Series(3)).explain_many(X[:, :].T)) == 2


def test_channels_first_is_asked_as_it_was_given() -> None:
    seen: list[Any] = []

    def model(batch: Any) -> Any:
        seen.append(batch)
        return mean(batch)

    explained(X.T, eagle.Series(4, channels="first"), model, budget=60)
    assert seen[0].shape[1:] == (2, 40)
    assert (seen[0][0] == X.T).all()


def test_names_tell_the_channel_and_the_steps() -> None:
    assert explained(X[:, 0], eagle.Series(4)).names[0] == "steps 0–9"
    assert explained().names[:5] == ("ch0 0–9", "ch0 10–19", "ch0 20–29", "ch0 30–39", "ch1 0–9")
    named = eagle.Series([10, 39], names=["accel_x", "accel_y"])
    assert explained(how=named).names[:3] == ("accel_x 0–9", "accel_x 10–38", "accel_x 39")
    timed = eagle.Series(2, time=np.arange(40) / 4)
    assert explained(X[:, 0], timed).names == ("time 0–4.75", "time 5–9.75")
    hours = pd.date_range("2024-03-01", periods=40, freq="h")
    table = pd.DataFrame(X, columns=["rain", "wind"], index=hours)
    e = explained(table, eagle.Series(2))
    assert e.names[0] == "rain 2024-03-01 00:00–2024-03-01 19:00"
    assert e.subject.dates
    assert explained(how=eagle.Series(2, names=["x", "x"])).names[:2] == (
        "x [0] 0–19",
        "x [0] 20–39",
    )
    days = eagle.Series(2, time=np.arange("2024-01-01", "2024-02-10", dtype="datetime64[D]"))
    assert explained(X[:, 0], days).names[0] == "time 2024-01-01–2024-01-20"


def test_segments_are_as_many_as_the_rows_carry_unless_said() -> None:
    assert len(explained(X[:, 0], eagle.Series()).names) == 20
    wide = RNG.normal(size=(51, 6))
    e = explained(wide, eagle.Series(), budget=60)
    assert len(e.names) == 18
    assert e.posterior is not None
    assert e.subject.cut == "3 segments of 17 steps in each of 6 channels: 18 in all"
    few = explained(wide, eagle.Series(10), budget=60)
    assert few.posterior is None  # 60 parts are too many for 60 rows
    assert "60 rows are few for 60 features" in few.warnings[0]
    own = explained(X[:, 0], eagle.Series(lambda x: np.flatnonzero(np.diff(x > 2)) + 1))
    assert len(own.names) >= 1
    assert len(explained(X[:, 0], eagle.Series(lambda x: 7)).names) == 7
    assert len(explained(X[:3], eagle.Series()).names) == 6


def test_a_fill_that_changes_nothing_is_said() -> None:
    flat = X.copy()
    flat[:, 1] = 0.1
    for fill in ("mean", "linear", "noise"):
        e = explained(flat, eagle.Series(4, fill=fill, names=["a", "b"]))
        assert "the fill changes nothing in b" in e.warnings[0]
        # Lines between what is kept do not add up, so LIME's kernel gives others a trace of it.
        assert np.abs(e.scores[4:]).max() <= (1e-3 if fill == "linear" else 1e-9)
    same = explained(np.full(40, 0.1), eagle.Series(4))
    assert "the model saw one series only" in same.warnings[0]
    assert not same.scores.any()


def test_long_series_are_kept_small_and_no_peak_is_lost(tmp_path: Path) -> None:
    long = np.zeros(10_003)
    long[5_432] = 9.0
    e = explained(long, eagle.Series(5))
    curves = e.subject
    assert isinstance(curves, Curves)
    assert len(curves.times) <= MAX_POINTS
    assert curves.values.max() == 9.0
    assert (np.diff(curves.times) >= 0).all()
    assert len(e._repr_html_()) < 60_000


def test_a_series_is_saved_and_read_again(tmp_path: Path) -> None:
    hours = pd.date_range("2024-03-01", periods=40, freq="h")
    for how, x in ((eagle.Series(4), X), (eagle.Series(4, time=hours), X[:, 0])):
        e = explained(x, how)
        e.save(tmp_path / "e.json")
        again = eagle.load(tmp_path / "e.json")
        one, other = e.subject, again.subject
        assert isinstance(other, Curves)
        assert (one.channels, one.dates, one.cut) == (other.channels, other.dates, other.cut)
        for name in ("times", "values", "edges"):
            assert (getattr(one, name) == getattr(other, name)).all()
        assert again._repr_html_() == e._repr_html_()


def test_it_is_drawn_a_panel_a_channel_with_scores_and_warnings() -> None:
    import matplotlib.pyplot as plt

    e = explained(how=eagle.Series(5, names=["$a$", "b"]), budget=60)
    panels = eagle.plot.series(e)
    assert len(panels) == 2
    assert [ax.get_ylabel() for ax in panels] == ["$a$", "b"]
    assert (panels[0].lines[0].get_ydata() == e.subject.values[:, 0]).all()
    under = panels[0].child_axes[0]
    assert np.allclose([bar.get_height() for bar in under.patches], e.scores[:5])
    whiskers = np.array([s[:, 1] for s in under.collections[0].get_segments()])
    assert np.allclose(whiskers, e.interval(0.95)[:5])
    given = plt.subplots(2)[1]
    assert eagle.plot.series(e, given)[1] is given[1]
    noted = replace(e, note="a note to see")
    assert "a note to see" in eagle.plot.series(noted)[0].figure._supxlabel.get_text()
    wide = explained(RNG.normal(size=(20, 15)), eagle.Series(2))
    assert len(eagle.plot.series(wide, max_display=3)) == 3
    assert "… and 3 more channels" in str(wide)
    with pytest.raises(InputError, match="series draws on 2 matplotlib Axes, not on"):
        eagle.plot.series(e, plt.figure().add_subplot())
    with pytest.raises(InputError, match="series draws explanations of series"):
        eagle.plot.series(
            eagle.Explainer(lambda t: [len(x) for x in t], eagle.Parts(list, tuple)).explain([1, 2])
        )
    plt.close("all")


def test_marks_stand_where_the_sign_is_sure() -> None:
    def third(batch: Any) -> Any:
        return 3 * batch[:, 20:30, 0].mean(axis=1) - batch[:, :10, 1].mean(axis=1)

    x = np.ones((40, 2))
    e = explained(x, eagle.Series(4, fill=0, names=["up", "down"]), third)
    assert "up    ··▲·\ndown  ▼···" in str(e)
    assert "<polyline" in e._repr_html_()


def _with(x: Any, step: int, channel: int, value: float) -> Any:
    x = x.copy()
    x[step, channel] = value
    return x


@pytest.mark.parametrize(
    ("made", "match"),
    [
        (lambda: eagle.Series(0), "the number of segments must be an integer of at least 1"),
        (lambda: eagle.Series(True), "the number of segments must be an integer"),
        (lambda: eagle.Series([3, 3]), "in order"),
        (lambda: eagle.Series(np.array([1.5])), "segments are a number of them"),
        (lambda: eagle.Series(fill="median"), "a fill.*'mean', 'linear' or 'noise', not 'median'"),
        (lambda: eagle.Series(fill=["a"]), "a fill must be numbers"),
        (lambda: eagle.Series(**LEFT), "channels must be 'last' or 'first'"),
        (lambda: eagle.Series(names="ab"), "names of channels must be a list"),
        (lambda: eagle.Series(time=[1, 1]), "in rising order"),
        (lambda: eagle.Series(time=["a"]), "a number or a date for each step"),
        (lambda: eagle.Series(seed=-1), "seed must be an integer"),
        (lambda: explained(X, eagle.Series(41)), "40 steps does not have 41 segments"),
        (lambda: explained(X, eagle.Series([50])), "from 0 to 39 of this series, not at 50"),
        (lambda: explained(X, eagle.Series(names=["a"])), "1 names do not fit"),
        (lambda: explained(X, eagle.Series(time=[1, 2])), "2 values of time do not fit"),
        (lambda: explained(X, eagle.Series(fill=np.ones(3))), r"a fill of shape \(3,\)"),
        (lambda: explained(X, eagle.Series(fill=np.nan)), "a fill must be finite"),
        (lambda: explained((X * 9).astype(int), eagle.Series(fill=0.5)), "int64 can hold"),
        (lambda: explained(X, eagle.Series(lambda x: 1 / 0)), "raised ZeroDivisionError"),
        (lambda: explained(np.ones((2, 3, 4))), r"not \(2, 3, 4\): use explain_many"),
        (lambda: explained(np.ones(0)), "a series has shape"),
        (lambda: explained(5.0), "a series has shape"),
        (lambda: explained(["a", "b"]), "a series must be numbers"),
        (lambda: explained([[1], [1, 2]]), "a series must be numbers"),
        (lambda: explained([1.0, np.nan, 2.0, 1.0]), "step 1 is nan: every step needs a number"),
        (
            lambda: explained(_with(X, 7, 1, np.inf), eagle.Series(4, names=["a", "b"])),
            "step 7 of b is inf: every step needs a number",
        ),
        (lambda: eagle.Explainer(mean, eagle.Series(2)).explain_many(X[:, 0]), "use explain"),
        (lambda: eagle.Explainer(mean, eagle.Series(2)).explain_many([]), "no series to explain"),
        (
            lambda: eagle.Explainer(mean, eagle.Series(2)).explain_many(pd.DataFrame(X)),
            "not a DataFrame: use explain for one",
        ),
    ],
)
def test_what_does_not_fit_is_a_sentence(made: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        made()


class KerasLike:
    """A network with Keras's `predict`, which prints its progress unless told not to."""

    def predict(
        self, x: Any, batch_size: Any = None, verbose: Any = "auto", steps: Any = None
    ) -> Any:
        assert verbose == 0
        assert x.dtype == np.float32
        return x[:, :10].mean(axis=(1, 2))[:, None]


def test_a_model_like_those_of_keras_gets_windows() -> None:
    e = explained(model=KerasLike())
    assert set(np.argsort(-np.abs(e.scores))[:2]) == {0, 4}


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table, pa.RecordBatch.from_pydict, pl.DataFrame])
def test_a_table_of_any_kind_names_its_channels(make: Any) -> None:
    """The columns of an Arrow table are its data, not its names."""
    table = make({"beat": X[:, 0], "breath": X[:, 1]})
    e = explained(table)
    assert e.names[0].startswith("beat ")
    assert e.names[-1].startswith("breath ")
    assert np.array_equal(e.scores, explained(X, eagle.Series(4, names=["beat", "breath"])).scores)


def test_more_channels_than_steps_are_asked_about() -> None:
    turned = RNG.normal(size=(3, 50))
    with pytest.raises(InputError, match=r"channels='first' if it has 3 channels of 50 steps"):
        explained(turned, eagle.Series(2))
    first = explained(turned, eagle.Series(2, channels="first"))
    assert len(first.names) == 6
    last = explained(turned, eagle.Series(1, channels="last"))  # the other advice is right, too
    assert len(last.names) == 50
    named = explained(turned, eagle.Series(1, names=[f"sensor {k}" for k in range(50)]))
    assert named.names[0] == "sensor 0 0–2"
    assert len(explained(pd.DataFrame(turned), eagle.Series(1)).names) == 50
    with pytest.raises(InputError, match="series 1, counted from 0: a series of shape"):
        eagle.Explainer(mean, eagle.Series(2)).explain_many([turned.T, turned], progress=False)


@pytest.mark.torch
def test_a_torch_module_gets_windows_of_its_dtype() -> None:
    import torch

    torch.manual_seed(0)
    conv = torch.nn.Sequential(
        torch.nn.Conv1d(2, 3, 5), torch.nn.AdaptiveAvgPool1d(1), torch.nn.Flatten()
    )
    how = eagle.Series(4, channels="first")
    e = explained(X.T, how, torch.nn.Sequential(conv, torch.nn.Linear(3, 2)), task="classification")
    assert len(e.scores) == 8
    assert e.cost.calls == 1
