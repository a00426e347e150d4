"""What the library tells while it works: its log, its progress line, and its pages."""

from __future__ import annotations

import io
import logging
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eagle
from eagle._engine.progress import Progress, Watching, duration, is_watched
from markup import Page
from tables import explainer_of

RNG = np.random.default_rng(0)
SECRET = 12345.678
DATA = np.column_stack([RNG.normal(size=60), RNG.choice([SECRET, 1.0], size=60)])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def explainer(model: Any = lambda q: q[:, 0], **how: Any) -> eagle.Explainer:
    return explainer_of(model, DATA, budget=40, **how)


# -- the log -------------------------------------------------------------------------------------


def test_the_log_has_counts_and_no_values(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level(logging.DEBUG, "eagle")
    model = eagle.models.recorded(
        lambda q: 7 * q[:, 1], tmp_path / "answers.db", name="x", version="1"
    )
    for _ in range(2):
        explainer(model).explain_many(DATA[:3])
    said = [record.getMessage() for record in caplog.records]
    assert {record.name for record in caplog.records} == {"eagle"}
    assert said[0].startswith("planned 3 instances by balanced")
    asked = [re.fullmatch(r"asked (\d+) rows, call 1, [\d.]+ s", one) for one in said]
    assert len({match[1] for match in asked if match}) == 1
    ledger = [re.fullmatch(r"the ledger has (\d+) of \d+ rows, (\d+) are asked", s) for s in said]
    (first, second) = [match for match in ledger if match]
    assert int(first[1]) == 0
    assert int(first[2]) > 0
    assert int(second[2]) == 0
    assert not any("1234" in one or "8641" in one for one in said)


def test_what_fails_is_logged_by_its_kind(caplog: pytest.LogCaptureFixture) -> None:
    def failing(table: Any) -> Any:
        raise ValueError(f"cannot take {table[0]}")

    caplog.set_level(logging.INFO, "eagle")
    with pytest.raises(eagle.ModelError):
        explainer(failing).explain(DATA[0])
    assert re.fullmatch(r"a call with \d+ rows failed: ModelError", caplog.messages[-1])


def test_nothing_is_logged_to_a_screen_unless_asked(capfd: pytest.CaptureFixture[str]) -> None:
    explainer().explain(DATA[0])
    assert capfd.readouterr() == ("", "")
    assert any(isinstance(h, logging.NullHandler) for h in logging.getLogger("eagle").handlers)


# -- progress ------------------------------------------------------------------------------------


def test_progress_is_silent_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eagle._engine.progress.PATIENCE", -1.0)
    for stream, silent, shown in (
        (Terminal(), False, True),
        (Terminal(), True, False),
        (io.StringIO(), False, False),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        line = Progress("explained", 2, silent=silent)
        line.at(2)
        line.close()
        assert ("explained: 2 of 2" in stream.getvalue()) == shown
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with Watching() as looking:
            explainer().explain(DATA[0], until=eagle.until.Width(1e-9), progress=True)
            assert looking is not None
        assert ("widest 95% interval" in stream.getvalue()) == shown
    monkeypatch.setattr(sys, "stderr", None)  # as in a program without a console
    assert not is_watched()


WAYS: dict[str, Callable[[eagle.Explainer, bool], Any]] = {
    "explain": lambda e, progress: e.explain(DATA[0], progress=progress),
    "explain_many": lambda e, progress: e.explain_many(DATA[:5], progress=progress),
    "until a rule is met": lambda e, progress: e.explain(
        DATA[0], until=eagle.until.Width(1e-9), progress=progress
    ),
    "survey": lambda e, progress: e.survey(64, progress=progress),
    "Shapley values": lambda e, progress: e.shapley_survey(DATA[:30], progress=progress),
    "explain_many of a survey": lambda e, progress: e.survey(64, progress=False).explain_many(
        DATA[:5], progress=progress
    ),
}
"""Ways of asking that may take long, each with progress or without."""


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_asking_shows_progress_and_is_silent_on_request(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eagle._engine.progress.PATIENCE", -1.0)
    for progress in (True, False):
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        WAYS[way](eagle.Explainer(lambda q: q[:, 0], DATA, budget=40, batch_rows=40), progress)
        assert bool(stream.getvalue()) == progress


@pytest.mark.parametrize(
    ("seconds", "words"), [(3.2, "3 s"), (119, "119 s"), (600, "10 min"), (9000, "2.5 h")]
)
def test_what_is_left_is_told_in_units_that_fit(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_steps_that_take_long_are_named_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With no patience at all the line of a step is there at once, or shortly after."""
    monkeypatch.setattr("eagle._engine.progress.PATIENCE", 0.0)
    for stream, progress, shown in (
        (Terminal(), True, True),
        (Terminal(), False, False),
        (io.StringIO(), True, False),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        asked: list[str] = []

        def model(things: Any, stream: Any = stream, asked: Any = asked) -> Any:
            asked.append(stream.getvalue())
            return np.array([float(len(thing)) for thing in things])

        parts = eagle.Parts(list, list)
        how = eagle.Explainer(model, parts, task="regression", budget=300)
        how.explain(range(700), progress=progress)
        assert ("planning 300 rows of 700 features …" in asked[0]) == shown
        if shown:  # and removed in the end, before the model is asked
            assert asked[0].endswith(" \r")
            assert "asked" not in stream.getvalue()


def test_a_notebook_shows_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    assert is_watched()


# -- pages ---------------------------------------------------------------------------------------


def test_hostile_names_stay_text_on_every_page() -> None:
    evil = "<script>alert(1)</script>"
    table = pd.DataFrame(DATA, columns=[evil, "</div><img src=x onerror=1>"])

    def model(table: Any) -> Any:
        return np.asarray(table)[:, 0]

    model.__name__ = evil
    made = eagle.Explainer(
        model, eagle.Table(table, fixed=[table.columns[1]]), budget=40, outputs=[evil]
    )
    compared = eagle.compare_methods(made, [eagle.methods.EAGLE], table.iloc[0], runs=2)
    for thing in (made, made.background, made.estimate_cost(table.iloc[:3]), compared):
        kinds = Page(thing._repr_html_()).kinds
        assert "div" in kinds
        assert not {"script", "img"} & set(kinds), thing
    for thing, words in (
        (made, (evil, "Method: default")),
        (made.background, ("Background of 60 rows and 2 columns", "Never moved")),
    ):
        assert all(word in Page(thing._repr_html_()).text["div"] for word in words)
