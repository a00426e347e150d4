"""A model that hangs: what needs it waits without a thread, and all else is answered."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eagle import Explanation
from pages import TOKEN, Line, Served, explainer, people, send, served, until

pytestmark = pytest.mark.web

CLIENTS = 40


@pytest.fixture
def model() -> Iterator[Line]:
    line = Line()
    yield line
    line.free.set()


@pytest.fixture
def page(model: Line) -> Iterator[Served]:
    """With a survey, an overview and a row's prediction, made before the model hangs."""
    with served(explainer(model), people(), survey=512) as one:
        one.result(kind="overview", row=0, target=1, rows=30)
        assert one.post("predict", rows=[0]).status_code == 200
        model.free.clear()
        yield one
        model.free.set()


def waiting(page: Served) -> int:
    return page.page.state.worker.waiting


def test_what_needs_no_model_is_answered_while_it_hangs(page: Served, model: Line) -> None:
    """Forty saves wait for it: they hold no threads, and nothing else waits."""
    threads, before = threading.active_count(), model.rows
    lines = [page.sent("save", row=k, edits={"0": 20 + k}, form="json") for k in range(CLIENTS)]
    until(lambda: waiting(page) == CLIENTS)
    assert threading.active_count() - threads < CLIENTS / 2
    with page.client() as client:
        for path in ("/", "/static/chart.js", "/api/about"):
            assert client.get(path).status_code == 200
    for path, body in (
        ("rows", {"search": "age > 30"}),
        ("row", {"row": 3}),
        ("explain", {"row": 3, "ask": False, "edits": {"0": 33}, "words": True}),
        ("save", {"row": 3, "ask": False, "edits": {"0": 33}, "form": "json"}),
        ("save", {"row": 3, "ask": False, "edits": {"0": 33}, "form": "report"}),
        ("predict", {"rows": [0]}),  # known
        ("explain", {"row": 0}),
        ("dependence", {"feature": 0, "target": 1}),
        ("groups", {"feature": 2, "target": 1}),
    ):
        answer = page.post(path, **body)
        assert answer.status_code == 200, answer.text
    page.result(kind="overview", row=0, target=1, rows=30)
    assert model.rows == before + 1
    for line in lines:
        line.close()


def test_who_left_while_waiting_is_never_asked_for(page: Served, model: Line) -> None:
    before = model.rows
    lines = [page.sent("save", row=k, edits={"0": 20 + k}, form="json") for k in range(CLIENTS)]
    until(lambda: waiting(page) == CLIENTS)
    stays = page.sent("explain", row=5, edits={"0": 77})
    until(lambda: waiting(page) == CLIENTS + 1)
    for line in lines:
        line.close()
    until(lambda: waiting(page) == 2)  # the one that hangs, and the one that stays
    model.free.set()
    assert b"200 OK" in stays.recv(1000)
    stays.close()
    until(lambda: waiting(page) == 0)
    assert model.rows == before + 2
    assert len(model.threads) <= 2  # the survey was asked before there was a page


def test_a_run_that_waits_can_be_left_or_stopped(page: Served, model: Line) -> None:
    before = model.rows
    hangs = page.sent("predict", rows=[250])
    until(lambda: waiting(page) == 1)
    left = page.run(kind="explain", row=1)
    assert next(left)[1]["waiting"] == 1
    until(lambda: waiting(page) == 2)
    left.close()
    until(lambda: waiting(page) == 1)
    stopped = page.run(kind="compare", row=1)
    name, begun = next(stopped)
    assert name == "begun"
    until(lambda: waiting(page) == 2)
    assert page.post("stop", run=begun["run"]).json() == {"stopped": True}
    assert list(stopped) == [("failed", {"error": "stopped before there was anything to show"})]
    assert waiting(page) == 1
    hangs.close()
    model.free.set()
    until(lambda: waiting(page) == 0)
    assert model.rows == before + 1


def test_what_is_paid_for_is_kept_though_nobody_waits(page: Served, model: Line) -> None:
    """A client leaves in the middle of a call: its answer is known to the next one."""
    known, before = len(page.page.state.predictions), model.rows
    with page.sent("predict", rows=[250, 251, 250]):
        until(lambda: waiting(page) == 1)
    model.free.set()
    until(lambda: waiting(page) == 0)
    assert page.post("predict", rows=[250, 251]).json()["predicted"] == known + 2
    assert model.rows == before + 2


def test_ctrl_c_ends_a_page_whose_model_hangs(tmp_path: Path) -> None:
    script = tmp_path / "hangs.py"
    script.write_text(
        "import time, numpy as np, eagle\n"
        "def model(X):\n"
        "    print('asked', flush=True)\n"
        "    time.sleep(600)\n"
        "X = np.random.default_rng(0).normal(size=(50, 3))\n"
        f"eagle.serve(eagle.Explainer(model, X), X, port=0, token='{TOKEN}')\n"
    )
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[1].decode().split("/#")[0]
        process.stdout.readline()
        with send(url, "run", {"kind": "explain", "row": 0}), send(url, "predict", {"rows": [0]}):
            assert process.stdout.readline() == b"asked\n"
            process.send_signal(signal.SIGINT)
            try:
                assert process.wait(60) == 0
            finally:
                process.kill()
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


def test_a_saved_row_is_asked_once(page: Served, model: Line) -> None:
    """The prediction of an edited row is paid for once, however often it is drawn and saved."""
    model.free.set()
    before = model.rows
    request: dict[str, Any] = {"row": 4, "edits": {"0": 66}, "target": 1}
    shown = [page.post("explain", words=words, **request).json() for words in (False, True)]
    e = Explanation.from_dict(page.post("save", form="json", **request).json())
    assert shown[0]["prediction"] == shown[1]["prediction"] == e.prediction
    assert model.rows == before + 1
