"""What the library tells while it works: its log, its progress line, and its pages."""

from __future__ import annotations

import io
import logging
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eagle
from eagle.progress import Progress, Watching, watched

RNG = np.random.default_rng(0)
SECRET = 12345.678
DATA = np.column_stack([RNG.normal(size=60), RNG.choice([SECRET, 1.0], size=60)])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def explainer(model: Any = lambda q: q[:, 0], **how: Any) -> eagle.Explainer:
    return eagle.Explainer(model, DATA, budget=40, **how)


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
    assert said[0].startswith("planned 3 instances by EAGLE")
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
    monkeypatch.setattr("eagle.progress.PATIENCE", -1.0)
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
    assert not watched()


def test_a_notebook_shows_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    assert watched()


# -- pages ---------------------------------------------------------------------------------------


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_hostile_names_stay_text_on_every_page() -> None:
    evil = "<script>alert(1)</script>"
    table = pd.DataFrame(DATA, columns=[evil, "</div><img src=x onerror=1>"])

    def model(table: Any) -> Any:
        return np.asarray(table)[:, 0]

    model.__name__ = evil
    made = eagle.Explainer(model, table, budget=40, outputs=[evil], freeze=[table.columns[1]])
    compared = eagle.compare([eagle.methods.EAGLE], made, table.iloc[0], runs=2)
    for thing in (made, made.background, made.quote(table.iloc[:3]), compared):
        page = Tags()
        page.feed(thing._repr_html_())
        assert "div" in page.found
        assert not page.found & {"script", "img"}, thing
    page = Tags()
    page.feed(made._repr_html_())
    assert evil in page.text
    assert "Method: EAGLE" in page.text
    page = Tags()
    page.feed(made.background._repr_html_())
    assert "Background of 60 rows and 2 columns" in page.text
    assert "Never moved" in page.text
