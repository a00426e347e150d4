"""The parts of the page that need no server: the model's thread, search, what is drawn."""

from __future__ import annotations

import asyncio
import json
import threading
from functools import partial
from typing import Any

import numpy as np
import pytest

import eagle
from eagle import Explainer, InputError, Limit, LimitError, cli
from eagle.cli.demo import DEMOS
from eagle.until import Width
from eagle.web.find import find
from eagle.web.payload import payload, places, target_at
from eagle.web.security import check_token
from eagle.web.state import State
from eagle.web.worker import Job, Stopped, Worker


def line(X: Any) -> Any:
    return np.asarray(X) @ [3.0, -2.0, 0.0]


DATA = np.random.default_rng(0).normal(size=(200, 3))


# -- what is asked -------------------------------------------------------------------------------


def do(worker: Worker, work: Any, job: Job | None = None) -> Any:
    """What the work returns on the model's thread."""
    return asyncio.run(worker.do(job or Job(), work))


def test_what_is_asked_is_counted_and_the_limit_holds() -> None:
    state = State(Explainer(line, DATA), DATA, limit=Limit(money=1, price_per_row=0.1))
    do(state.worker, lambda: state.predict(DATA[:7]))
    with pytest.raises(LimitError, match=r"1\.1 would cross the limit of 1"):
        do(state.worker, lambda: state.predict(DATA[:4]))
    do(state.worker, lambda: state.predict(DATA[:3]))
    assert state.spending == {"rows": 10, "money": pytest.approx(1.0)}
    with pytest.raises(LimitError, match="spent"):
        state.limit_left()
    state.worker.close()


@pytest.mark.parametrize("end", ["left", "stopped"])
def test_a_job_that_has_ended_asks_no_more(end: str) -> None:
    worker, job = Worker(), Job()
    asked = worker.gate(line)

    def twice() -> None:
        asked(DATA[:1])
        setattr(job, end, True)
        asked(DATA[:1])

    with pytest.raises(Stopped):
        do(worker, twice, job)
    assert worker.meter.cost.rows == 1
    do(worker, lambda: asked(DATA[:1]))
    worker.close()


def test_the_model_is_asked_in_order_on_one_thread_alone() -> None:
    worker, served = Worker(), list[tuple[int, int]]()
    asked = worker.gate(line)

    def part(k: int) -> None:
        asked(DATA[:1])
        served.append((k, threading.get_ident()))

    async def all_at_once() -> None:
        await asyncio.gather(*[worker.do(Job(), partial(part, k)) for k in range(9)])

    asyncio.run(all_at_once())
    assert [k for k, _ in served] == list(range(9))
    assert len({one for _, one in served}) == 1
    with pytest.raises(AssertionError, match="thread of its own"):
        asked(DATA[:1])
    worker.close()
    with pytest.raises(Stopped):
        do(worker, lambda: asked(DATA[:1]))


def test_what_fails_or_ends_a_script_ends_no_thread() -> None:
    worker = Worker()
    for error in (ValueError("no licence"), SystemExit(3), KeyboardInterrupt()):

        def fail(raised: BaseException = error) -> None:
            raise raised

        with pytest.raises((ValueError, RuntimeError), match=r"licence|end the process"):
            do(worker, fail)
    assert do(worker, lambda: 7) == 7
    worker.close()


def test_the_page_explains_as_the_explainer_does() -> None:
    plain = Explainer(line, DATA)
    state = State(plain, DATA)
    e = do(state.worker, lambda: state.asking().explain(DATA[0]))
    assert np.array_equal(e.scores, plain.explain(DATA[0]).scores)
    assert state.worker.meter.cost.rows == e.cost.rows
    state.worker.close()


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
    rows = [e.cost.rows for e, _ in seen]
    assert rows == sorted(set(rows))
    assert rows[-1] == made.cost.rows
    assert np.array_equal(seen[-1][0].scores, made.scores)
    first = seen[0][0]
    fewer = ex.with_options(budget=first.cost.rows)
    again = fewer.explain(DATA[0], until=Width(1e-9), progress=False)
    assert np.array_equal(first.scores, again.scores)
    assert all(forecast >= e.cost.rows for e, forecast in seen)


# -- the token -----------------------------------------------------------------------------------


def test_a_short_token_is_refused() -> None:
    with pytest.raises(InputError, match="at least 16"):
        check_token("secret")
    assert check_token(None) != check_token(None)


# -- search --------------------------------------------------------------------------------------

CELLS = {
    -1: ["ann", "bob", "cy"],
    0: [30, 41.5, None],
    1: ["red", "Blue", "dark red"],
}


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        *(("", [0, 1, 2]), ("red", [0, 2]), ("BOB", [1]), ("age > 30", [1])),
        *(("age ≥ 30", [0, 1]), ("a<=41.5", [0, 1]), ("age = missing", [2])),
        *(("colour = blue", [1]), ("colour != blue, red", [0, 2]), ("age > 0, ann", [0])),
        ("nothing like it", []),
    ],
)
def test_rows_are_found(words: str, rows: list[int]) -> None:
    cells = {k: np.array(column, dtype=object) for k, column in CELLS.items()}
    assert find(words, 3, ["age", "colour"], cells.__getitem__).tolist() == rows


# -- what is drawn -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", DEMOS)
def test_the_payload_is_what_the_explanation_has(kind: str) -> None:
    e = DEMOS[kind]()[1]
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
        assert len(subject["images"]) >= 2
        numbers = [one["number"] for one in subject["outlines"]]
        assert numbers == [int(b["key"]) for b in strongest if b["clear"] and b["score"]][:5]


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
