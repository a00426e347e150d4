"""The page's server, a real one: who may ask it, what it answers, and when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from eagle import Explanation, Limit, models
from eagle.until import Width
from pages import HOSTILE, TOKEN, Line, Served, answers, explainer, people, served

pytestmark = pytest.mark.web


@pytest.fixture(scope="module")
def page() -> Any:
    with served(explainer(answers), people(), survey=512, title=HOSTILE) as one:
        yield one


# -- who may ask -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}, 400),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://evil.example"}, 403),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "null"}, 403),
        ({"Authorization": f"Bearer {TOKEN}", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Authorization": f"Bearer {TOKEN}"}, 200),
    ],
)
def test_only_the_page_itself_may_ask(page: Served, headers: dict[str, str], status: int) -> None:
    answer = httpx.get(f"{page.url}/api/about", headers=headers)
    assert answer.status_code == status
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]


def test_only_this_machine_can_reach_it(page: Served) -> None:
    assert page.page.socket.getsockname()[0] == "127.0.0.1"


def test_what_asks_the_model_is_a_post_of_json(page: Served) -> None:
    with page.client() as client:
        assert client.get("/api/predict").status_code == 405
        text = client.post("/api/predict", content="{}", headers={"Content-Type": "text/plain"})
        assert text.status_code == 415
        long = client.post("/api/rows", json={"search": "x" * 300_000})
        assert long.status_code == 413

        def chunks() -> Any:
            for _ in range(40):
                yield b" " * 10_000

        kind = {"Content-Type": "application/json"}
        assert client.post("/api/rows", content=chunks(), headers=kind).status_code == 413


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("row", {"row": 300}, "there is no row 300"),
        ("row", {"row": "0"}, "valid integer"),
        ("explain", {"row": 0, "file": "/etc/passwd"}, "Unexpected keyword"),
        ("explain", {"row": 0, "target": 2}, "there is no output number 2"),
        ("explain", {"row": 0, "edits": {"0": "x"}}, "age is a number"),
        ("explain", {"row": 0, "edits": {"2": 3}}, "job has no level number 3"),
        ("explain", {"row": 0, "edits": {"3": "soon"}}, "joined is a date"),
        ("explain", {"row": 0, "edits": {"77": 1}}, "there is no field"),
        ("rows", {"count": 201}, "less than or equal to 200"),
        ("dependence", {"feature": 0}, "open «All rows» first"),
        ("save", {"row": 0, "form": "exe"}, "json"),
    ],
)
def test_errors_are_sentences(page: Served, path: str, body: dict[str, Any], says: str) -> None:
    answer = page.post(path, **body)
    assert answer.status_code == 400
    assert says in answer.json()["error"]
    assert "Traceback" not in answer.text


def test_files_are_given_by_name_alone(page: Served) -> None:
    for name in ("chart.js", "style.css", "icon.svg"):
        assert httpx.get(f"{page.url}/static/{name}").status_code == 200
    for name in ("../app.py", "..%2fapp.py", "%2e%2e/app.py", "nothing.js"):
        assert httpx.get(f"{page.url}/static/{name}").status_code in (400, 404)


def test_an_error_of_the_server_is_not_told(page: Served, capfd: Any, monkeypatch: Any) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(type(page.page.state.rows), "values", broken)
    answer = page.post("row", row=0)
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "a secret" in capfd.readouterr().err


# -- what it answers -----------------------------------------------------------------------------


def test_a_row_is_explained_as_the_library_explains_it(page: Served) -> None:
    """At once from the survey, and streamed by the explainer: the library's own numbers."""
    ex, x = explainer(answers), people().iloc[[7]]
    survey = ex.survey(512, progress=False)
    got = page.post("explain", row=7, target=1).json()
    e = survey.explain(x, HOSTILE)
    assert np.allclose([bar["score"] for bar in got["bars"]], e.scores)
    assert np.allclose([[bar["low"], bar["high"]] for bar in got["bars"]], e.interval())
    assert got["prediction"] == pytest.approx(answers(x)[0, 1])
    (begun, _), *events = page.run(kind="explain", row=7, target=1)
    assert [begun, *(name for name, _ in events[:-1])] == ["begun"] + ["look"] * (len(events) - 1)
    rows = [data["cost"]["rows"] for _, data in events]
    assert rows == sorted(rows)
    whole = ex.explain(x, HOSTILE, until=Width(1e-9), progress=False)
    assert np.allclose([bar["score"] for bar in events[-1][1]["bars"]], whole.scores)
    first, last = events[0][1]["bars"], events[-1][1]["bars"]
    widths = [sum(bar["high"] - bar["low"] for bar in bars) for bars in (first, last)]
    assert widths[1] < widths[0]


def test_an_edited_row_is_that_other_row(page: Served) -> None:
    """Editing every value into those of another row gives that row's explanation."""
    values = page.post("row", row=9).json()["values"]
    edits = {str(k): value for k, value in enumerate(values)}
    edited = page.post("explain", row=7, target=1, edits=edits).json()
    other = page.post("explain", row=9, target=1).json()
    assert edited["bars"] == other["bars"]
    assert edited["prediction"] == pytest.approx(other["prediction"])


def test_without_asking_the_model_is_not_asked() -> None:
    model = Line()
    with served(explainer(model), people(), survey=512) as page:
        asked = model.rows
        got = page.post("explain", row=3, target=1, edits={"0": 77}, ask=False).json()
        assert got["prediction"] is None
        assert model.rows == asked
        assert page.post("explain", row=3, target=1, edits={"0": 77}).json()["prediction"] > 0
        assert model.rows == asked + 1


def test_rows_are_found_and_sorted(page: Served) -> None:
    data = people()
    fits = np.flatnonzero((data["age"] > 60) & (data["job"] == "boss"))
    got = page.post("rows", search="AGE > 60, job = Boss", count=200).json()
    assert [one["row"] for one in got["rows"]] == fits.tolist()
    for words, problem in (("agee > 3", "no column that begins"), ("age > x", "with a number")):
        got = page.post("rows", search=words).json()
        assert got["rows"] == []
        assert problem in got["problem"]
    assert page.post("rows", search="person 299").json()["rows"][0]["row"] == 299
    page.post("predict", everything=True)
    own = answers(data)[:, 1]
    up = page.post("rows", sort="prediction", down=False, target=1, count=200).json()["rows"]
    assert [one["row"] for one in up] == np.argsort(own, kind="stable")[:200].tolist()
    odd = page.post("rows", sort="surprise", target=1, count=1).json()["rows"][0]["row"]
    assert odd == int(np.argmax(np.abs(own - own.mean())))


def test_an_overview_says_what_the_library_says(page: Served) -> None:
    got = page.result(kind="overview", row=0, target=1)
    survey = explainer(answers).survey(512, progress=False)
    many = survey.explain_many(people(), HOSTILE, progress=False)
    means = many.importance()
    assert np.allclose([bar["score"] for bar in got["importance"]["bars"]], means.value)
    assert np.allclose([bar["high"] for bar in got["importance"]["bars"]], means.high)
    best = got["swarm"][0]
    j = best["feature"]
    assert all(many.scores[row, j] == score for row, score, *_ in best["points"])
    dots = page.post("dependence", feature=0, other=1, target=1).json()["points"]
    assert all(people()["age"].iloc[row] == value for row, value, *_ in dots)
    groups = page.post("groups", feature=2, target=1).json()["groups"]
    counts = people()["job"].value_counts()
    assert sorted(one["count"] for one in groups) == sorted(counts.tolist())
    frame = many.compare_groups("job")
    boss = next(one for one in groups if one["group"] == "boss")
    expected = frame[frame["group"] == "boss"]
    assert np.allclose([bar["score"] for bar in boss["bars"]], expected["difference"])
    assert np.allclose([bar["low"] for bar in boss["bars"]], expected["low"])


def test_methods_are_compared(page: Served) -> None:
    request: dict[str, Any] = {
        "kind": "compare",
        "row": 3,
        "target": 1,
        "methods": ["default", "LIME"],
        "runs": 2,
    }
    got = page.result(**request)
    assert [one["name"] for one in got["methods"]] == ["default", "LIME"]
    for one in got["methods"]:
        stability, agreement = one["shares"]
        assert stability["text"] == f"{stability['value']:.2f}"
        assert 0 <= stability["value"] <= 1
        assert agreement == {"value": None, "text": ""}


@pytest.mark.parametrize("until", ["all", "top"])
def test_what_is_shown_is_saved_without_asking_again(until: str) -> None:
    model = Line()
    with served(explainer(model), people()) as page:
        shown = page.result(kind="explain", row=3, until=until)
        asked = model.rows
        e = Explanation.from_dict(page.post("save", row=3, form="json", until=until).json())
        assert np.allclose(e.scores, [bar["score"] for bar in shown["bars"]])
        assert model.rows == asked == shown["cost"]["rows"]


def test_the_command_serves_the_demo() -> None:
    """It prints a link that works, and ends by Ctrl-C without a word of complaint."""
    environment = os.environ | {"EAGLE_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "eagle.cli", "serve", "--port", "0", "--limit", "9000"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        link = process.stdout.readline().split()[1]
        assert link.endswith(f"/#token={TOKEN}")
        headers = {"Authorization": f"Bearer {TOKEN}"}
        about = httpx.get(f"{link.split('#')[0]}api/about", headers=headers).json()
        assert about["title"] == "Tumours"
        assert about["survey"] == {"rows": 4096}
        process.send_signal(signal.SIGINT)
        assert process.wait(20) in (0, 130)
        assert "Traceback" not in process.stderr.read()


# -- what it costs, and in which order -------------------------------------------------------------


def test_nothing_is_asked_past_the_limit() -> None:
    model = Line()
    with served(explainer(model), people(), limit=Limit(rows=120)) as page:
        got = page.result(kind="explain", row=0)
        assert "limit" in got["cost"]["stopped"]
        assert model.rows <= 120
        refused = page.post("predict", everything=True)
        assert refused.status_code == 402
        assert model.rows <= 120


def test_ten_runs_at_once_are_all_answered() -> None:
    """Each is done, and the model is asked on one thread alone."""
    model = Line(wait=0.01)
    done: dict[int, Any] = {}
    with served(explainer(model), people()) as page:

        def ask(k: int) -> None:
            done[k] = page.result(kind="explain", row=k)

        threads = [threading.Thread(target=ask, args=(k,)) for k in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert len(model.threads) == 1
    assert len(done) == 10
    alone = explainer(answers).explain(people().iloc[[3]], until=Width(1e-9), progress=False)
    assert np.allclose([bar["score"] for bar in done[3]["bars"]], alone.scores)


def test_who_goes_is_not_asked_for_any_more() -> None:
    model = Line(wait=0.3)
    with served(explainer(model, budget=3000), people()) as page:
        events = page.run(kind="explain", row=0)
        while next(events)[0] != "look":
            pass
        events.close()
        deadline = time.monotonic() + 20
        before = -1
        while model.calls != before and time.monotonic() < deadline:
            before = model.calls
            time.sleep(1)
        assert model.rows < 3000
        assert page.post("explain", row=0).status_code == 400  # it still answers: no survey here


def test_stop_keeps_what_there_is() -> None:
    model = Line(wait=0.3)
    with served(explainer(model, budget=3000), people()) as page:
        events = page.run(kind="explain", row=0)
        _, begun = next(events)
        assert next(events)[0] == "look"
        assert page.post("stop", run=begun["run"]).json() == {"stopped": True}
        *_, (name, data) = events
        assert name == "done"
        assert data["cost"]["stopped"] == "you stopped it"
        assert data["cost"]["rows"] == model.rows < 3000


def test_an_overview_that_is_stopped_keeps_what_is_done() -> None:
    """And a survey that is made later explains all rows."""
    model = Line(wait=0.05)
    with served(explainer(model, budget=64, batch_rows=64), people()) as page:
        events = page.run(kind="overview", row=0, target=1)
        _, begun = next(events)
        while (event := next(events))[1].get("what") != "explaining" or event[1]["done"] < 3:
            pass
        assert page.post("stop", run=begun["run"]).json() == {"stopped": True}
        *_, (name, got) = events
        assert name == "done"
        assert 3 <= got["rows"] < 60
        assert len(got["swarm"]) == 5
        assert page.result(kind="survey", row=0, rows=512)["survey"] == {"rows": 512}
        assert page.result(kind="overview", row=0, target=1)["rows"] == 300


def test_a_run_that_is_asked_again_after_a_restart_pays_nothing_twice(tmp_path: Path) -> None:
    model = Line()
    recorded = models.recorded(model, tmp_path / "answers.db", version="1")
    with served(explainer(recorded), people()) as page:
        events = page.run(kind="explain", row=5)
        while next(events)[0] != "look":
            pass
        events.close()
    assert model.rows > 0
    with served(explainer(recorded), people()) as page:
        got = page.result(kind="explain", row=5)
    assert model.rows == got["cost"]["rows"]
    whole = explainer(answers).explain(people().iloc[[5]], until=Width(1e-9), progress=False)
    assert np.allclose([bar["score"] for bar in got["bars"]], whole.scores)


def test_a_survey_without_a_model_explains() -> None:
    survey = explainer(answers).survey(512, progress=False)
    mute = replace(survey.setting, box=replace(survey.setting.box, function=None))
    with served(replace(survey, setting=mute), people()) as page:
        got = page.post("explain", row=0, target=1).json()
        assert got["prediction"] is None
        assert page.post("predict", rows=[0]).status_code == 400
        assert page.result(kind="overview", row=0, target=1)["rows"] > 1
