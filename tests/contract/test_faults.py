"""Faults: interrupts, too little memory, and odd answers and inputs."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import eagle
from eagle import Background, Explainer, Images, Texts, methods, peers
from eagle._engine import memory, pipeline
from eagle._tables.rows import TableInstances
from eagle.peers.foreign import Foreign
from eagle.peers.shap import KernelShap
from eagle.until import Width

DATA = np.random.default_rng(5).normal(size=(60, 3))
NAMES = ["a", "b", "c"]
HUGE = 10**400
PICTURE = np.random.default_rng(6).random((6, 8))
LABELS = np.arange(48).reshape(6, 8) // 8

Make = Callable[[], Any]


def first(X: Any) -> Any:
    return np.asarray(X, dtype=np.float64)[:, 0]


def length(texts: Any) -> Any:
    return [float(len(text)) for text in texts]


def brightness(X: Any) -> Any:
    return np.asarray(X, dtype=np.float64).reshape(len(X), -1).mean(axis=1)


# -- stops on the way ------------------------------------------------------------------------


class Stopped(BaseException):
    """As a handler of signals may raise."""


class Proud(BaseException):
    """An object whose attributes cannot be set."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(name)


def failing(error: BaseException, call: int) -> Callable[[Any], Any]:
    """A model that raises in one of its calls."""
    calls = []

    def model(X: Any) -> Any:
        calls.append(len(X))
        if len(calls) == call:
            raise error
        return first(X)

    return model


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), Stopped(), MemoryError()])
def test_whatever_stops_it_carries_what_is_finished(error: BaseException) -> None:
    explainer = Explainer(failing(error, 3), DATA, budget=50, batch_rows=100)
    with pytest.raises((type(error), eagle.ModelError)) as caught:
        explainer.explain_many(DATA[:9], progress=False)
    good = Explainer(first, DATA, budget=50).explain_many(DATA[:4], progress=False)
    kept: Any = caught.value
    assert kept.places == [0, 1, 2, 3]
    for one, expected in zip(kept.finished, good, strict=True):
        assert np.array_equal(one.scores, expected.scores)


def test_a_stop_between_calls_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, calls = pipeline.fit, []

    def stopping(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return plain(*arguments)

    monkeypatch.setattr(pipeline, "fit", stopping)
    with pytest.raises(KeyboardInterrupt) as caught:
        Explainer(first, DATA, budget=50).explain_many(DATA[:9], progress=False)
    kept: Any = caught.value
    assert len(kept.finished) == 3


def surveyed(model: Any) -> Any:
    return Explainer(model, DATA, batch_rows=30)


ASKED: dict[str, Callable[[Any], Any]] = {
    "explain": lambda m: Explainer(m, DATA, budget=90, batch_rows=30).explain(DATA[0]),
    "survey": lambda m: surveyed(m).survey(96, progress=False),
    "a survey's supplement": lambda m: (
        surveyed(m).survey(64, progress=False).explain(DATA.max(axis=0) + 1)
    ),
    "Shapley values": lambda m: surveyed(m).shapley_survey(
        np.tile(DATA, (2, 1))[:60], budget=4, progress=False
    ),
    "predict": lambda m: surveyed(m).predict(np.tile(DATA, (2, 1))),
}
"""Ways to ask, in calls of at most 30 rows: at least three of them, and 30 rows in the first."""


@pytest.mark.parametrize("way", ASKED)
@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), OSError("gone")], ids=str)
def test_every_way_to_ask_keeps_what_was_answered_before_it_stops(
    way: str, error: BaseException
) -> None:
    with pytest.raises((type(error), eagle.ModelError)) as caught:
        ASKED[way](failing(error, 3))
    kept: Any = caught.value
    assert kept.answers.shape == (60, 1)


def test_rows_that_are_asked_first_are_kept_with_their_places() -> None:
    table = pd.DataFrame({"n": np.arange(40), "x": DATA[:40, 0]})
    rows = table.iloc[:6].astype({"n": object})
    rows.loc[4, "n"] = None  # a missing value among integers: asked in a call of its own, first
    model = failing(KeyboardInterrupt(), 2)
    explainer = Explainer(lambda X: model(X[["x"]].to_numpy()), table, budget=50)
    each = explainer.explain_each(rows)
    with pytest.raises(KeyboardInterrupt) as caught:
        next(each)
    kept: Any = caught.value
    assert kept.places == [4]
    assert kept.finished[0].data[0] is None


def test_what_lets_nobody_set_attributes_carries_it_too() -> None:
    explainer = Explainer(failing(Proud(), 2), DATA, budget=50, batch_rows=50)
    with pytest.raises(Proud) as caught:
        explainer.explain_many(DATA[:4], progress=False)
    kept: Any = caught.value
    assert len(kept.finished) == 1


def test_what_is_finished_survives_pickling() -> None:
    explainer = Explainer(failing(OSError("gone"), 2), DATA, budget=50, batch_rows=50)
    with pytest.raises(eagle.ModelError) as caught:
        explainer.explain_many(DATA[:4], progress=False)
    again: Any = pickle.loads(pickle.dumps(caught.value))
    assert (again.places, len(again.finished)) == ([0], 1)
    assert str(again) == str(caught.value)


def test_a_generator_that_is_closed_is_closed() -> None:
    each = Explainer(first, DATA, budget=50).explain_each(DATA[:3])
    next(each)
    each.close()  # type: ignore[attr-defined]
    assert list(each) == []


@pytest.mark.parametrize(("converged", "made"), [(None, 3), (60, 3)])
def test_a_comparison_keeps_what_is_finished(converged: int | None, made: int) -> None:
    explainer = Explainer(failing(KeyboardInterrupt(), 4), DATA, budget=50)
    with pytest.raises(KeyboardInterrupt) as caught:
        eagle.compare_methods(
            explainer,
            [peers.LIME, methods.EAGLE],
            DATA[0],
            2,
            converged=converged,
            progress=False,
        )
    kept: Any = caught.value
    assert len(kept.finished) == made
    assert kept.finished[0].cost.rows == (converged or 50)


# -- outputs that change -----------------------------------------------------------------------


def changing(*widths: int) -> Callable[[Any], Any]:
    """A model that answers with so many columns in its first call, its second, and so on."""
    left = list(widths)

    def model(X: Any) -> Any:
        answers = np.tile(first(X)[:, None], left.pop(0) if len(left) > 1 else left[0])
        return answers + np.arange(answers.shape[1])

    return model


CHANGES: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    **ASKED,
    "rows": lambda m: Explainer(m, DATA, budget=30, batch_rows=30).explain_many(
        DATA[:5], progress=False
    ),
    "adaptive": lambda m: Explainer(m, DATA, method=peers.BAYESLIME, budget=60).explain(DATA[0]),
    "until": lambda m: Explainer(m, DATA).explain(DATA[0], until=Width(1e-12), progress=False),
    "shap": lambda m: Explainer(
        m, DATA, method=peers.SHAP_KERNEL, budget=300, batch_rows=60
    ).explain(DATA[0]),
}


@pytest.mark.parametrize("run", CHANGES.values(), ids=CHANGES)
def test_outputs_that_change_are_refused(run: Callable[[Any], Any]) -> None:
    with pytest.raises(eagle.ReplyError, match="3 outputs before and with 2 now") as caught:
        run(changing(3, 2))
    assert caught.value.answers is None or caught.value.answers.shape[1] == 3
    kept = caught.value.answers
    assert (kept is not None and len(kept) > 0) or len(caught.value.finished) > 0


def test_a_steady_model_may_change_from_one_explanation_to_the_next() -> None:
    explainer = Explainer(changing(3, 2), DATA, budget=40)
    assert len(explainer.explain(DATA[0]).outputs) == 3
    assert len(explainer.explain(DATA[0]).outputs) == 2


def test_what_another_package_was_answered_is_kept() -> None:
    model = failing(OSError("gone"), 3)
    explainer = Explainer(model, DATA, method=peers.SHAP_KERNEL, budget=300, batch_rows=20)
    with pytest.raises(eagle.ModelError) as caught:
        explainer.explain(DATA[0])
    assert caught.value.answers.shape == (40, 1)


def test_warnings_of_another_package_stay_there() -> None:
    twins = np.stack([DATA[:, 0], DATA[:, 0], DATA[:, 1]], axis=1)[:3]  # a singular equation
    few = Foreign("Kernel SHAP", KernelShap(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        e = Explainer(first, twins, method=few, budget=7).explain(twins[0])
    assert np.isfinite(e.scores).all()

    def warned(X: Any) -> Any:
        warnings.warn("the model's own", UserWarning, stacklevel=1)
        return first(X)

    with pytest.warns(UserWarning, match="the model's own"):
        Explainer(warned, twins, method=few, budget=7).explain(twins[0])


@pytest.mark.parametrize("until", [None, Width(1e-12)])
def test_calls_in_parts_are_in_the_cost(until: Width | None) -> None:
    """A cost counts calls, not rounds, also where a call has few rows."""
    method = peers.BAYESLIME if until is None else methods.EAGLE_BALANCED
    calls: list[int] = []

    def model(X: Any) -> Any:
        calls.append(len(X))
        return first(X)

    e = Explainer(model, DATA, method=method, budget=60, batch_rows=4).explain(
        DATA[0], until=until, progress=False
    )
    assert max(calls) == 4
    assert (e.cost.rows, e.cost.calls) == (sum(calls), len(calls))


# -- memory ------------------------------------------------------------------------------------

PLANNED = [
    methods.EAGLE_BALANCED,
    methods.EAGLE,
    peers.LIME,
    peers.BAYLIME,
    peers.BAYESLIME,
    peers.S_LIME,
    peers.UNRAVEL,
    peers.with_bootstrap(peers.LIME),
    peers.SHAP_PERMUTATION,
]


@pytest.mark.parametrize("method", PLANNED, ids=lambda method: method.name)
@pytest.mark.parametrize("budget", [10**12, HUGE])
def test_budgets_that_memory_cannot_hold_are_refused_at_once(method: Any, budget: int) -> None:
    told = r"GiB of memory, .* a budget of up to [\d,]+ would|can be counted"
    with pytest.raises(eagle.InputError, match=told):
        Explainer(failing(AssertionError(), 1), DATA, method=method, budget=budget).explain(DATA[0])


def test_every_way_to_plan_refuses_them() -> None:
    explainer = Explainer(failing(AssertionError(), 1), DATA, budget=10**12)
    ways: list[Make] = [
        lambda: explainer.plan(DATA[0]),
        lambda: explainer.explain_many(DATA[:2], progress=False),
        lambda: explainer.explain(DATA[0], until=Width(0.1)),
        lambda: Explainer(length, Texts(), budget=10**12).explain("one two three"),
        lambda: Explainer(brightness, Images(LABELS), budget=10**12).explain(PICTURE),
        lambda: Explainer(brightness, Images(LABELS, shift=0.1), budget=10**12).explain(PICTURE),
    ]
    for way in ways:
        with pytest.raises(eagle.InputError, match="GiB of memory"):
            way()


def test_a_cluster_is_no_larger_than_the_data() -> None:
    e = Explainer(first, DATA, method=peers.DLIME, budget=10**12).explain(DATA[0])
    assert e.cost.rows <= len(DATA) + 1


def test_calls_that_memory_cannot_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "memory", lambda: 10 << 20)
    rows = np.zeros((100, 3))
    model = failing(AssertionError(), 1)
    with pytest.raises(eagle.InputError, match=r"a call of 200,000 rows .* a smaller batch_rows"):
        Explainer(model, DATA, budget=2000, batch_rows=10**9).explain_many(rows, progress=False)
    made = Explainer(first, DATA, budget=2000, batch_rows=4000).explain_many(rows, progress=False)
    assert len(made) == 100


def test_estimates_are_near_what_is_taken() -> None:
    import tracemalloc

    from eagle._engine.planning import CACHE, Planner

    wide = np.random.default_rng(0).normal(size=(50, 40))
    for method in (methods.EAGLE_BALANCED, peers.LIME):
        ground = Background.of(wide)
        space = TableInstances(ground, ground.adopt(wide[:1])).space(0)
        CACHE.clear()
        tracemalloc.start()
        prepared = Planner(method, 4000, 0).plan([space])[0]
        prepared.fitter.fit(np.random.default_rng(1).normal(size=len(prepared.points)))
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert 0.5 < memory.of_plan(4000, 40, method.surrogate) / taken < 2


def test_what_has_to_fit_fits() -> None:
    assert memory.of_plan(5000, 1000, methods.EAGLE_BALANCED.surrogate) < 2 << 30
    assert memory.memory() > 0


def test_a_machine_that_does_not_tell_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.sysconf", raising=False)
    assert memory.memory() == 64 << 30


def test_long_texts_are_asked_in_parts() -> None:
    sizes: list[int] = []

    def model(texts: Any) -> Any:
        sizes.append(sum(map(len, texts)))
        return [float(len(text)) for text in texts]

    long = " ".join(f"{k}{'x' * 400_000}" for k in range(10))
    Explainer(model, Texts(), budget=120).explain(long)
    assert len(sizes) > 1
    assert max(sizes) <= 256 << 20


# -- tiny answers ------------------------------------------------------------------------------


def tiny(factor: float) -> Callable[[Any], Any]:
    return lambda X: factor * first(X)


@pytest.mark.parametrize(
    "method",
    [
        *(methods.EAGLE_BALANCED, methods.EAGLE, peers.LIME, peers.BAYESLIME),
        *(peers.S_LIME, peers.UNRAVEL, peers.SHAP_KERNEL, peers.TILIA),
    ],
    ids=lambda method: method.name,
)
@pytest.mark.parametrize("factor", [1e-160, 1e-300])
def test_answers_too_small_to_square_are_refused(method: Any, factor: float) -> None:
    budget = 12 if method is peers.UNRAVEL else 60
    explainer = Explainer(tiny(factor), DATA, method=method, budget=budget)
    with pytest.raises(eagle.ReplyError, match="other units") as caught:
        explainer.explain(DATA[0])
    assert caught.value.answers.shape[1] == 1
    assert np.abs(caught.value.answers).max() > 0


def test_tiny_answers_elsewhere() -> None:
    plan = Explainer(None, DATA, budget=60).plan(DATA[0])
    with pytest.raises(eagle.ReplyError, match="other units") as caught:
        plan.fit(tiny(1e-160)(plan.inputs))
    assert caught.value.answers.shape == (60, 1)
    with pytest.raises(eagle.ReplyError, match="other units"):
        Explainer(tiny(1e-160), DATA).explain(DATA[0], until=Width(0.1), progress=False)

    def both(X: Any) -> Any:
        return np.stack([first(X), 1e-160 * first(X)], axis=1)

    e = Explainer(both, DATA, outputs=("large", "small"), budget=60).explain(DATA[0])
    with pytest.raises(eagle.ReplyError, match="for small differ by less than 1e-150") as caught:
        e.about("small")
    assert np.array_equal(caught.value.answers, e.evidence.answers)
    assert np.array_equal(e.about(("large", "small")).scores, e.scores)


def test_nothing_and_flat_are_no_tiny_answers() -> None:
    for value in (0.0, 5.0, 1e-100):
        e = Explainer(lambda X, value=value: np.full(len(X), value), DATA, budget=60).explain(
            DATA[0]
        )
        assert not e.scores.any()
    # What differs by less than can be squared is as bad as what is that small.
    with pytest.raises(eagle.ReplyError, match="other units"):
        Explainer(lambda X: 1e-145 + 1e-155 * first(X), DATA, budget=60).explain(DATA[0])


def test_a_few_tiny_answers_among_others_are_answers() -> None:
    e = Explainer(lambda X: np.where(first(X) > 0, 1.0, 1e-200), DATA, budget=60).explain(DATA[0])
    assert np.ptp(e.interval(), axis=1).max() > 0


# -- what is shown -----------------------------------------------------------------------------

ODD = "a\x1b[31m\n\r\u202eb\x00\u2028\ud800"


def test_nothing_that_is_shown_holds_control_characters() -> None:
    def model(X: Any) -> Any:
        return np.full((len(X), 2), 0.5)

    model.__name__ = ODD
    names, outputs = [ODD, ODD + "2", "plain"], (ODD, "no")
    data = DATA.copy()
    data[:, 2] = 1.0  # never changes, which a warning says
    explainer = Explainer(
        model, eagle.Table(data, names=names), outputs=outputs, task="classification", budget=40
    )
    e = explainer.explain(dict(zip(names, data[0], strict=True)))
    compared = eagle.compare_methods(explainer, [peers.LIME], data[0], 2, progress=False)
    shown = [
        explainer.describe(),
        str(e),
        repr(e),
        e._repr_html_(),
        repr(explainer),
        str(compared),
        compared._repr_html_(),
        *e.warnings,
    ]
    for text in shown:
        assert all(line.isprintable() for line in text.split("\n"))
        text.encode("utf-8")
    assert explainer.describe().count("\n") == 4 + 1 + len(names) + 1
    assert all(line.isprintable() for line in e.to_frame()["feature"].iloc[2:])
    e.to_frame()["feature"].str.encode("utf-8")


def test_errors_are_printable_sentences_on_one_line() -> None:
    def broken(X: Any) -> Any:
        raise ValueError(ODD)

    makes: list[Make] = [
        lambda: Explainer(broken, DATA).explain(DATA[0]),
        lambda: Explainer(
            first, eagle.Table(DATA, names=[ODD, "b", "c"], bounds={ODD: (9, 10)})
        ).explain(DATA[0]),
        lambda: Explainer(first, eagle.Table(DATA, names=[ODD, ODD, "c"])),
        lambda: Explainer(first, eagle.Table(DATA, names=[ODD, "b", "c"])).explain(
            {"b": 1, "c": 2}
        ),
        lambda: Explainer(first, eagle.Table(DATA, names=[ODD, "b", "c"], view=ODD)),  # type: ignore[arg-type]
        lambda: Explainer(first, DATA, outputs=[ODD, "b"]).explain(DATA[0]),
        lambda: Explainer(first, DATA).explain(DATA[0], target=ODD),
    ]
    for make in makes:
        with pytest.raises(eagle.EagleError) as caught:
            make()
        assert str(caught.value).isprintable()
        str(caught.value).encode("utf-8")


# -- values of odd kinds -----------------------------------------------------------------------


class Unspeakable:
    """It raises when asked for its name."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


class Five:
    classes_ = 5

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 2), 0.5)


def objects(*rows: Any) -> Any:
    out = np.empty((len(rows), len(rows[0])), dtype=object)
    out[...] = rows
    return out


BIG = {"id": [2**53 + 1, 2**60, 5] * 5, "x": [1.0, 2.0, 3.0] * 5}

REFUSED: dict[str, tuple[Make, str]] = {
    "no columns": (lambda: Explainer(first, np.array([], dtype=str)), "nothing left"),
    "an empty array of strings": (
        lambda: Explainer(lambda X: np.array([], dtype=str), DATA).explain(DATA[0]),
        "asked 500 rows but answered 0",
    ),
    "huge in the data": (lambda: Explainer(first, [[HUGE, 1], [2, 3]]), "too large for a float"),
    "huge in x": (lambda: Explainer(first, DATA).explain([HUGE, 1, 2]), "too large for a float"),
    "huge among integers": (
        lambda: Explainer(first, (10 * DATA).astype(int)).explain([HUGE, 1, 2]),
        "too large for a float",
    ),
    "huge answers": (
        lambda: Explainer(lambda X: [HUGE] * len(X), DATA).explain(DATA[0]),
        "too large for a float",
    ),
    "levels without a name": (
        lambda: Explainer(first, objects([Unspeakable(), 1], [Unspeakable(), 2])),
        "neither numbers nor levels",
    ),
    "tables in a row": (
        lambda: Explainer(first, DATA).explain([sparse.csr_array(DATA), 1, 2]),
        "holds numbers in the background",
    ),
    "names of a sparse matrix": (
        lambda: Explainer(first, eagle.Table(sparse.csr_array(DATA), names=["a", "b"])),
        "2 names do not fit 3 columns",
    ),
    "outputs in lists": (
        lambda: Explainer(first, DATA, outputs=[[1], [2]]),  # type: ignore[list-item]
        "an output's name",
    ),
    "categories for images": (
        lambda: Explainer(first, eagle.Table(Images(), categories=np.array([0, 1]))),
        "are for tables",
    ),
    "a cut that raises": (
        lambda: Explainer(brightness, Images(lambda p: 1 / 0)).explain(PICTURE),  # type: ignore[arg-type, return-value]
        "cuts images raised ZeroDivisionError",
    ),
    "a split that raises": (
        lambda: Explainer(length, Texts(split=lambda t: 1 / 0)).explain("a b"),
        "splits texts raised ZeroDivisionError",
    ),
    "a signalling NaN among answers": (
        lambda: Explainer(lambda X: [Decimal("sNaN")] * len(X), DATA).explain(DATA[0]),
        "not numbers",
    ),
    "classes that are a number": (lambda: Explainer(Five(), DATA), "its classes_ are 5"),
    "a mute exception": (
        lambda: Explainer(failing(MuteError(), 1), DATA).explain(DATA[0]),
        "the model raised MuteError when asked 500 rows",
    ),
    "an unspeakable target": (
        lambda: Explainer(first, DATA).explain(DATA[0], target=Unspeakable()),
        "<Unspeakable>",
    ),
    "large integers in pyarrow": (
        lambda: Explainer(first, pa.table(BIG)),
        "'id' holds integers beyond 2.53",
    ),
    "large integers in polars": (
        lambda: Explainer(first, pl.DataFrame(BIG)),
        "'id' holds integers beyond 2.53",
    ),
}


@pytest.mark.parametrize(("make", "says"), REFUSED.values(), ids=REFUSED)
def test_values_of_odd_kinds_are_refused_in_a_sentence(make: Make, says: str) -> None:
    with pytest.raises(eagle.EagleError, match=says) as caught:
        make()
    assert len(str(caught.value)) < 400


ANSWERED: dict[str, Make] = {
    "empty strings": lambda: Explainer(
        lambda X: [float(len("".join(row))) for row in X], np.array([["", "a"], ["b", ""]] * 5)
    ).explain(["", ""]),
    "a signalling NaN is missing": lambda: Explainer(
        lambda X: [float(row[1]) for row in X],
        objects([Decimal("sNaN"), 1], [Decimal(2), 3], [Decimal(1), 4]),
    ).explain([Decimal(2), 3]),
    "and in pandas": lambda: Explainer(
        lambda X: X["b"].to_numpy(float),
        pd.DataFrame({"a": [Decimal("sNaN"), Decimal(1), Decimal(2)], "b": [1, 2, 3]}),
    ).explain({"a": Decimal(1), "b": 1}),
    "and in x": lambda: Explainer(
        lambda X: np.nan_to_num(first(X)), np.where(DATA > 1, np.nan, DATA)
    ).explain([Decimal("sNaN"), 1, 2]),
    "large integers as levels in pyarrow": lambda: Explainer(
        lambda X: [float(v) for v in X["x"].to_pylist()],
        eagle.Table(pa.table(BIG), categories=["id"]),
    ).explain({"id": 2**60, "x": 1.0}),
    "a black and white image of one segment": lambda: Explainer(
        brightness, Images(np.zeros((6, 8), dtype=int), fill=False)
    ).explain(PICTURE > 0.5),
    "a black image": lambda: Explainer(brightness, Images(np.zeros((6, 8), dtype=int))).explain(
        np.zeros((6, 8), dtype=bool)
    ),
    "an image of one huge shade": lambda: Explainer(brightness, Images(LABELS, fill=0)).explain(
        np.full((6, 8), 3.4e38)
    ),
    "an image of the widest range": lambda: Explainer(
        lambda X: brightness(X > 0), Images(LABELS, fill=0)
    ).explain(np.where(PICTURE > 0.5, 1.7e308, -1.7e308)),
    "half a character in a text": lambda: Explainer(length, Texts()).explain("one \ud800two three"),
    "half a character in a name": lambda: Explainer(
        first, eagle.Table(DATA, names=["a\ud800", "b", "c"])
    ).explain(DATA[0]),
    "half a character in a level": lambda: Explainer(
        lambda X: [float(row[0] == "\ud800") for row in X],
        objects(*[["\ud800", 1], ["b", 2], ["c", 3]] * 5),
    ).explain(["\ud800", 2]),
    "half a character in an output": lambda: Explainer(
        lambda X: np.full((len(X), 2), 0.5), DATA, outputs=["\ud800", "b"]
    ).explain(DATA[0]),
}


@pytest.mark.parametrize("make", ANSWERED.values(), ids=ANSWERED)
def test_values_of_odd_kinds_are_answered(make: Make) -> None:
    e = make()
    assert np.isfinite(e.scores).all()
    for text in (str(e), repr(e), e._repr_html_()):
        text.encode("utf-8")
    assert len(e.to_frame()) == len(e.names)
    assert eagle.Explanation.from_dict(e.to_dict()).names == e.names
