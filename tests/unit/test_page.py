"""The parts of the page that need no server: turns, spending, tickets, search, what is drawn."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import numpy as np
import pytest

import eagle
from eagle import Explainer, InputError, LimitError, cli, demos
from eagle.until import Budget, Width
from eagle.web.find import find
from eagle.web.guard import LASTS, Keys
from eagle.web.jobs import CURRENT, Gate, Job
from eagle.web.payload import payload, places, target_at
from eagle.web.spending import Spending
from eagle.web.turns import Cancelled, Turns


def line(X: Any) -> Any:
    return np.asarray(X) @ [3.0, -2.0, 0.0]


DATA = np.random.default_rng(0).normal(size=(200, 3))


# -- turns ---------------------------------------------------------------------------------------


def test_a_greedy_client_does_not_starve_a_modest_one() -> None:
    """One client has twenty jobs waiting when another comes with one: the other is next but one."""
    turns, served = Turns(), list[str]()
    held, began = threading.Event(), threading.Event()

    def job(client: str) -> None:
        with turns.turn(client, lambda: False):
            served.append(client)
            if client == "first":
                began.set()
                held.wait(20)

    def start(client: str) -> threading.Thread:
        thread = threading.Thread(target=job, args=(client,))
        thread.start()
        return thread

    threads = [start("first")]
    began.wait(20)
    threads += [start("greedy") for _ in range(20)]
    while turns.waiting < 20:
        time.sleep(0.001)
    threads.append(start("modest"))
    while turns.waiting < 21:
        time.sleep(0.001)
    held.set()
    for thread in threads:
        thread.join(20)
    assert len(served) == 22
    assert served.index("modest") <= 2


def test_who_has_gone_gets_no_turn() -> None:
    turns = Turns()
    with pytest.raises(Cancelled), turns.turn("a", lambda: True):
        raise AssertionError("this turn was given to one who has gone")
    with turns.turn("b", lambda: False):
        assert turns.waiting == 0


# -- what is asked -------------------------------------------------------------------------------


def test_the_gate_counts_and_refuses() -> None:
    spending = Spending(Budget(money=1, price_per_row=0.1))
    asked = Gate(Turns(), spending)(line)
    asked(DATA[:7])
    with pytest.raises(LimitError, match=r"1\.1 would cross the limit of 1"):
        asked(DATA[:4])
    asked(DATA[:3])
    assert spending.spent["rows"] == 10
    assert spending.spent["money"] == pytest.approx(1.0)
    with pytest.raises(LimitError, match="spent"):
        spending.left()


def test_a_job_that_is_stopped_hard_asks_no_more() -> None:
    asked = Gate(Turns(), Spending())(line)
    job = Job("a", hard=True)
    token = CURRENT.set(job)
    try:
        asked(DATA[:1])
        job.stop.set()
        with pytest.raises(Cancelled):
            asked(DATA[:1])
    finally:
        CURRENT.reset(token)


def test_an_explainer_asks_through_another_function() -> None:
    seen: list[int] = []

    def wrap(model: Any) -> Any:
        def counted(X: Any) -> Any:
            seen.append(len(X))
            return model(X)

        return counted

    plain = Explainer(line, DATA)
    wrapped = plain.through(wrap)
    assert np.array_equal(wrapped.explain(DATA[0]).scores, plain.explain(DATA[0]).scores)
    assert sum(seen) == wrapped.explain(DATA[0]).bill.rows


def test_predict_is_what_the_model_says() -> None:
    ex = Explainer(line, DATA, batch_rows=64)
    assert ex.outputs is None
    assert np.allclose(ex.predict(DATA)[:, 0], line(DATA))
    assert ex.task == "regression"
    survey = ex.survey(64, progress=False)
    assert np.array_equal(survey.predict(DATA[:5]), ex.predict(DATA[:5]))


def test_an_explanation_is_shown_as_it_grows() -> None:
    """Each look is the explanation that so many rows would give; the last is the result."""
    seen: list[tuple[eagle.Explanation, float]] = []
    ex = Explainer(line, DATA, budget=500)
    made = ex.explain(
        DATA[0], until=Width(1e-9), progress=False, show=lambda e, rows: seen.append((e, rows))
    )
    rows = [e.bill.rows for e, _ in seen]
    assert rows == sorted(set(rows))
    assert rows[-1] == made.bill.rows
    assert np.array_equal(seen[-1][0].scores, made.scores)
    first = seen[0][0]
    again = ex.explain(DATA[0], until=Budget(rows=first.bill.rows), progress=False)
    assert np.array_equal(first.scores, again.scores)
    assert all(forecast >= e.bill.rows for e, forecast in seen)


# -- tickets -------------------------------------------------------------------------------------


def test_a_ticket_is_read_by_who_has_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = Keys.of(None)
    ticket = keys.ticket({"row": 3})
    assert Keys.of(keys.token).read(ticket) == {"row": 3}
    with pytest.raises(InputError, match="not made by this page"):
        Keys.of(None).read(ticket)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + LASTS)
    with pytest.raises(InputError, match="too old"):
        keys.read(ticket)


def test_a_short_token_is_refused() -> None:
    with pytest.raises(InputError, match="at least 16"):
        Keys.of("secret")
    assert Keys.of(None).token != Keys.of(None).token


# -- search --------------------------------------------------------------------------------------

CELLS = {
    -1: ["ann", "bob", "cy"],
    0: [30, 41.5, None],
    1: ["red", "Blue", "dark red"],
}


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("", [0, 1, 2]),
        ("red", [0, 2]),
        ("BOB", [1]),
        ("age > 30", [1]),
        ("age ≥ 30", [0, 1]),
        ("a<=41.5", [0, 1]),
        ("age = missing", [2]),
        ("colour = blue", [1]),
        ("colour != blue, red", [0, 2]),
        ("age > 0, ann", [0]),
        ("nothing like it", []),
    ],
)
def test_rows_are_found(words: str, rows: list[int]) -> None:
    cells = {k: np.array(column, dtype=object) for k, column in CELLS.items()}
    assert find(words, 3, ["age", "colour"], cells.__getitem__).tolist() == rows


# -- what is drawn -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", demos.DEMOS)
def test_the_payload_is_what_the_explanation_has(kind: str) -> None:
    e = demos.DEMOS[kind]()[1]
    drawn = payload(e)
    again = json.loads(json.dumps(drawn, allow_nan=False))
    assert again == drawn
    frame = e.to_frame().sort_values("rank")
    strongest = [drawn["bars"][k] for k in drawn["order"]]
    assert [bar["condition"] for bar in strongest] == frame["condition"].tolist()
    assert [bar["score"] for bar in strongest] == frame["score"].tolist()
    assert [bar["low"] for bar in strongest] == frame["low"].tolist()
    assert [bar["sure"] for bar in strongest] == frame["probability_sign"].tolist()
    subject = drawn["subject"]
    assert (subject is None) == (kind == "table")
    if subject is not None and kind == "text":
        assert "".join(word["text"] for word in subject["words"]).startswith("A warm and funny")
    if subject is not None and kind == "image":
        assert len(subject["images"]) == 3


def test_targets_are_places() -> None:
    names = ("a", "b", ("c", "d"))
    for target in ("a", ("a", "b"), ("c", "d")):
        one, other = places(target, names)
        assert target_at(one, other, names) == target
    assert target_at(None, 1, names) is None


# -- the front door ------------------------------------------------------------------------------


def test_serve_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "starlette", None)
    with pytest.raises(eagle.MissingExtraError, match=r"eagle-xai\[web\]"):
        eagle.serve(Explainer(line, DATA), DATA)
    assert cli.main(["serve", "model.onnx", "--data", "x.csv"]) == 2
    assert "pip install 'eagle-xai[web]'" in capsys.readouterr().err
