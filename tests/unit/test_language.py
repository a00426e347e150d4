"""Language models: log-odds of answers, endpoints with faults, gaps, tokens and costs."""

from __future__ import annotations

import math
import pickle
import re
import sys
from collections.abc import Iterator
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
from eagle import InputError, ModelError, ReplyError, methods, peers
from eagle.language import (
    Answer,
    Chat,
    Completions,
    Each,
    FirstToken,
    Local,
    YesNo,
    log_odds,
)
from eagle.models.box import Box
from eagle.models.http import Endpoint, Retry
from eagle.models.ledger import Ledger
from evaluation.stand_in import CacheModel, LanguageServer
from served import Served, changed, half, said, status
from tables import explainer_of

WAITS: list[float] = []
PROMPT = eagle.language.Prompt("{sources}\n\n{question}", fixed=["question"])
GIVEN: dict[str, Any] = {
    "sources": {
        "atlas": "The capital of Freedonia is Glorville.",
        "map": "The capital of Freedonia is Zander.",
        "book": "Glorville has a wall.",
        "trains": "Trains leave at noon.",
        "weather": "It rains.",
    },
    "question": "The capital of Freedonia is",
}
ASK = Completions("stand-in", Answer(" Glorville"))


@pytest.fixture
def served() -> Iterator[Served]:
    model = LanguageServer()
    with Served("completions") as server:
        server.reply = lambda body: model.reply(  # type: ignore[method-assign]
            "/v1/chat/completions" if "messages" in body else "/v1/completions", body
        )
        WAITS.clear()
        yield server
    model._server.server_close()


def endpoint(served: Served, codec: Any = ASK, **settings: Any) -> Endpoint:
    retry = Retry(3, sleep=WAITS.append)
    return Endpoint(f"{served.root}/v1", codec, **{"retries": retry, "concurrency": 1, **settings})


def explained(model: Any, **settings: Any) -> eagle.Explanation:
    return explainer_of(model, PROMPT, **{"budget": 32, **settings}).explain(GIVEN)


# -- scores ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("log_p", [-1e-300, -1e-16, -1e-9, -0.1, -0.6931, -3.0, -40.0, -2000.0])
def test_log_odds_hold_all_digits(log_p: float) -> None:
    with localcontext(prec=60):
        p = min(Decimal(log_p), -(Decimal(2) ** -53))
        exact = p - (1 - p.exp()).ln()
        assert math.isclose(log_odds(log_p), float(exact), rel_tol=1e-12)


def test_the_surest_answer_has_finite_log_odds() -> None:
    assert log_odds(0.0) == log_odds(1e-9) == pytest.approx(53 * math.log(2))


def test_the_stand_in_has_probabilities() -> None:
    model, text = CacheModel(), "a b a b a c a"
    listed = model.likeliest(text, 99)
    assert sum(math.exp(p) for _, p in listed) == pytest.approx(1, abs=1e-2)
    tokens, log_p = model.log_probabilities(f"{text} b")
    assert "".join(tokens) == f"{text} b"
    assert log_p[0] is None
    assert log_p[-1] == pytest.approx(dict(listed)[" b"])


def test_an_answer_is_the_sum_of_its_tokens(served: Served) -> None:
    text, answer = "one two three. one two", " three. one"
    tokens, log_p = CacheModel().log_probabilities(text + answer)
    by_hand = [p for p in log_p[-3:] if p is not None]
    ask = endpoint(served, Completions("m", Answer(answer)))
    assert ask([text])[0, 0] == pytest.approx(log_odds(sum(by_hand)))
    spanned = endpoint(served, Completions("m", Answer(answer, span=(1, 6))))
    assert spanned([text])[0, 0] == pytest.approx(log_odds(by_hand[0]))
    assert len(tokens) == len(log_p)


def test_yes_against_no_and_first_tokens(served: Served) -> None:
    text = "is it yes or no? yes. is it"
    top = dict(CacheModel().likeliest(text, 20))
    for codec in (Completions("m", YesNo()), Chat("m")):
        found = endpoint(served, codec)([text])[0, 0]
        assert found == pytest.approx(top[" yes"] - top[" no"])
    first = endpoint(served, Chat("m", FirstToken("YES"), system="?"))(["yes yes yes"])[0, 0]
    expected = dict(CacheModel().likeliest("?\nyes yes yes", 20))[" yes"]
    assert first == pytest.approx(log_odds(expected))
    assert served.requests[-1]["messages"][0] == {"role": "system", "content": "?"}
    with pytest.raises(ReplyError, match="neither 'yes' nor 'no' is among the"):
        endpoint(served, Chat("m"))(["a b c"])
    one_sided = YesNo(("oui",)).of_top({"oui ": -0.1, "x": -3.0, "y": -5.0})
    assert one_sided == pytest.approx(-0.1 + 5.0)  # no is at most as likely as the last


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Answer(""), "an answer is a text"),
        (lambda: Answer("ab", span=(0, 3)), "within the answer's 2 characters"),
        (lambda: Answer("ab", span=(1.0, 2)), "a span is a pair of integers"),  # type: ignore[arg-type]
        (lambda: YesNo(("yes",), ("Yes ",)), "yes or no, not both"),
        (lambda: YesNo("yes"), "tuples of words"),  # type: ignore[arg-type]
        (lambda: Chat("m", Answer("a")), "does not say how likely a given answer is"),  # type: ignore[arg-type]
        (lambda: Completions("", Answer("a")), "a model is named by a text"),
        (lambda: Completions("m", "a"), "a score is a value such as Answer"),  # type: ignore[arg-type]
        (lambda: Endpoint("http://h", ASK, gaps=1.0), "gaps is a share"),
        (lambda: Each(3), "a function of a prompt is asked"),  # type: ignore[arg-type]
        (lambda: Local(None, None, "x"), "a score is a value such as Answer"),  # type: ignore[arg-type]
    ],
)
def test_misuse_is_a_sentence(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


# -- endpoints ------------------------------------------------------------------------------------


def test_the_source_that_says_it_is_found(served: Served) -> None:
    model = endpoint(served, concurrency=3)
    e = explained(model)
    assert e.top(2) == ["atlas", "map"]
    assert e.scores[0] > 0 > e.scores[1]
    assert e.outputs == ("log-odds of «Glorville»",)
    assert e.prediction == pytest.approx(model([f"{e.subject.text}"])[0, 0])  # type: ignore[union-attr]
    assert all(
        type(r["prompt"]) is str and r["echo"] and not r["temperature"] for r in served.requests
    )


def test_several_prompts_in_a_request(served: Served) -> None:
    prompts = ["a b a", "b a b a b", "c a Glorville a"]
    together = endpoint(served, Completions("m", Answer(" Glorville"), most=8))
    apart = endpoint(served, Completions("m", Answer(" Glorville")))
    assert np.array_equal(together(prompts), apart(prompts))
    assert len(served.requests) == 4


def test_the_base_address_may_end_with_its_version() -> None:
    for url in ("http://h", "http://h/v1", "http://h/v1/", "http://h/v1/completions"):
        assert "http://h/v1/completions," in repr(Endpoint(url, ASK))


def test_tokens_and_money_are_estimated_and_counted(served: Served) -> None:
    model = endpoint(served)
    explainer = eagle.Explainer(model, PROMPT, budget=32)
    before = explainer.estimate_cost(GIVEN, one=True, price_per_1000_tokens=2.0)
    assert not served.requests
    assert before.rows == before.calls == 32
    assert before.tokens is not None
    e = explainer.explain(GIVEN)
    sent = sum(len(CacheModel().log_probabilities(r["prompt"])[0]) + 1 for r in served.requests)
    assert e.cost.tokens == model.tokens == sent
    assert before.tokens == pytest.approx(sent, rel=0.5)
    after = explainer.estimate_cost(GIVEN, one=True, price_per_1000_tokens=2.0)
    assert after.tokens is not None
    assert after.tokens == pytest.approx(sent, rel=0.02)  # by what the replies said
    assert after.money == pytest.approx(after.tokens * 0.002)
    assert f"about {after.tokens} tokens, for" in str(after)
    assert "per 1,000 tokens" in str(after)
    assert f"{sent:,} tokens" in str(e)
    with pytest.raises(InputError, match="counts no tokens"):
        eagle.Explainer(len, PROMPT).estimate_cost(GIVEN, one=True, price_per_1000_tokens=1.0)


def nothing_of(key: str) -> Any:
    def change(reply: Any) -> Any:
        reply["choices"][0]["logprobs"][key] = None
        return reply

    return changed(change)


def moved(reply: Any) -> Any:
    tokens = reply["choices"][0]["logprobs"]["tokens"]
    tokens[-2:] = [" Glor", "ville"]
    return reply


def straddled(reply: Any) -> Any:
    reply["choices"][0]["logprobs"]["tokens"][-2] = "is Glorville"
    return reply


def not_a_number(reply: Any) -> Any:
    reply["choices"][0]["logprobs"]["token_logprobs"][-2] = math.nan
    return reply


FAULTS: dict[str, tuple[Any, str]] = {
    "422": (status(422, "too long"), "status 422.*«too long»"),
    "half": (half, "dropped the connection twice|cannot be read"),
    "no logprobs": (
        changed(lambda r: {"choices": [{"logprobs": None}]}),
        "takes echo and logprobs",
    ),
    "no tokens": (nothing_of("tokens"), "takes echo and logprobs"),
    "no choices": (said('{"error": "<b>no</b>"}'), r"not one choice for each of 1 prompts.*<b>no"),
    "other tokens": (changed(moved), "stands where ' Glorville' should"),
    "straddled": (changed(straddled), "'is Glorville' has the end of the prompt"),
    "nan": (changed(not_a_number), "gave nan as a log-probability"),
    "not JSON": (said("<html>busy"), "not JSON: «<html>busy»"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_reply_that_fails_leaves_its_row_out(served: Served, name: str, tmp_path: Path) -> None:
    fault, words = FAULTS[name]
    book = tmp_path / "answers.db"
    model = endpoint(served, ledger=book)
    whole = explained(endpoint(served))
    served.faults = [lambda handler, reply: _faultless(handler, reply)] * 3 + [fault]
    served.faults += [fault] if name == "half" else []  # a dropped connection is tried once more
    e = explained(model)
    assert e.cost.missing == 1
    assert e.cost.rows == 32
    assert len(e.evidence.answers) == 31
    assert np.isfinite(e.evidence.answers).all()
    assert "1 of 32 rows got no answer" in e.warnings[0]
    (sentence,) = model.failures
    assert re.search(words, sentence), sentence
    assert e.top(1) == whole.top(1)
    assert Ledger(book).summary().rows == 31
    # What was answered is not asked again, what was not is.
    before = len(served.requests)
    again = explained(endpoint(served, ledger=book))
    assert len(served.requests) == before + 1
    assert np.array_equal(again.scores, whole.scores)
    assert again.cost.missing == 0


def _faultless(handler: Any, reply: Any) -> None:
    changed(lambda r: r)(handler, reply)


def test_scores_without_a_row_are_those_of_the_other_rows(served: Served) -> None:
    served.faults = [lambda h, r: _faultless(h, r)] * 5 + [status(422)]
    e = explained(endpoint(served))
    assert e.surrogate is not None
    anew = e.surrogate.on(e.evidence.rows(e.surrogate)).fit(e.evidence.answers[:, 0])
    assert np.array_equal(anew.scores, e.scores)
    assert e.posterior is not None
    assert e.posterior.kind != "exact"  # of 32 masks one is not known


def test_waits_and_then_goes_on(served: Served) -> None:
    served.faults = [status(429, "slow down", retry_after="2"), status(503)]
    e = explained(endpoint(served))
    assert e.cost.missing == 0
    assert WAITS[0] == 2
    assert len(WAITS) == 2


@pytest.mark.parametrize("seed", range(3))
def test_a_third_of_the_answers_may_be_errors_that_pass(served: Served, seed: int) -> None:
    rng = np.random.default_rng(seed)
    served.faults = [status(500) if rng.random() < 0.3 else _faultless for _ in range(999)]
    sources = {f"s{k}": f"word{k} is here" for k in range(9)} | GIVEN["sources"]
    model = endpoint(served, retries=Retry(8, first=0.001))
    e = eagle.Explainer(model, PROMPT, budget=80).explain(GIVEN | {"sources": sources})
    assert (e.cost.rows, e.cost.missing) == (80, 0)
    assert len(served.requests) > 100
    assert e.top(1) == ["atlas"]


@pytest.mark.parametrize("code", [401, 403, 404])
def test_what_every_prompt_would_get_leaves_none_out(served: Served, code: int) -> None:
    served.faults = [status(code)] * 99
    model = endpoint(served, concurrency=4)
    with pytest.raises(ModelError, match=f"status {code}"):
        explained(model)
    assert len(served.requests) <= 4
    assert len(model.failures) == 1


def test_too_many_failures_end_it_and_nothing_paid_is_lost(served: Served, tmp_path: Path) -> None:
    book = tmp_path / "answers.db"
    served.faults = [lambda h, r: _faultless(h, r)] * 10 + [status(422, "broken")] * 9
    with pytest.raises(ModelError, match="broken") as caught:
        explained(endpoint(served, ledger=book))
    assert caught.value.answers is not None
    known = np.isfinite(caught.value.answers[:, 0])
    assert known.sum() == 10
    assert Ledger(book).summary().rows == 10
    assert len(served.requests) == 14  # three of 32 may fail, the fourth ends it


def test_the_prompt_itself_must_be_answered(served: Served) -> None:
    served.faults = [status(422)]
    with pytest.raises(ModelError, match="no answer about the instance itself"):
        explained(endpoint(served))


@pytest.mark.parametrize("method", [methods.DEFAULT, peers.BAYESLIME], ids=lambda m: m.name)
def test_a_model_that_never_answers_is_told_so(method: Any) -> None:
    class Silent:
        def as_box(self, task: Any, outputs: Any) -> Box:
            return Box(lambda X: np.full(len(X), np.nan), "silent()", "regression", partial=True)

    X = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(ModelError, match="no answer about the instance itself"):
        eagle.Explainer(Silent(), X, method=method, budget=50).explain(X[0])


def test_without_gaps_the_first_failure_is_raised(served: Served) -> None:
    served.faults = [status(422, "broken")]
    with pytest.raises(ModelError, match="broken"):
        explained(endpoint(served, gaps=0.0))


def test_until_and_limit_work_with_gaps(served: Served) -> None:
    sources = {f"s{k}": f"word{k} is here" for k in range(9)} | GIVEN["sources"]
    served.faults = [lambda h, r: _faultless(h, r)] * 11 + [status(422)]
    explainer = eagle.Explainer(endpoint(served), PROMPT, budget=400)
    rule = eagle.until.Top(1)
    e = explainer.explain(GIVEN | {"sources": sources}, until=rule, progress=False)
    assert e.cost.missing == 1
    assert e.cost.rows < 400
    assert e.top(1) == ["atlas"]
    with pytest.raises(eagle.LimitError):
        explainer.explain(GIVEN, limit=eagle.Limit(rows=5))


def test_answers_of_other_scores_are_not_mixed_up(served: Served, tmp_path: Path) -> None:
    book = tmp_path / "answers.db"
    one = endpoint(served, ledger=book)
    other = endpoint(served, Completions("stand-in", Answer(" Zander")), ledger=book)
    prompts = ["The capital of Freedonia is Zander. The capital of Freedonia is"]
    assert one(prompts) != other(prompts)
    assert one(prompts) == endpoint(served)(prompts)


def test_secrets_stay_secret(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LM_KEY", "s3cr3t-key")
    model = endpoint(served, token_env="LM_KEY", gaps=0.0)
    assert "s3cr3t" not in repr(model) + repr(pickle.dumps(model))
    served.faults = [status(401, "bad key s3cr3t-key")]
    with pytest.raises(ModelError) as caught:
        model(["a"])
    assert "s3cr3t" not in str(caught.value)
    assert "token_env" in str(caught.value)
    assert served.headers[-1]["authorization"] == "Bearer s3cr3t-key"
    assert pickle.loads(pickle.dumps(model))(["a b a"]) == model(["a b a"])


def test_one_string_at_a_time(tmp_path: Path) -> None:
    asked: list[str] = []

    def score(prompt: str) -> float:
        asked.append(prompt)
        if "Trains" in prompt and "Zander" not in prompt and "Glorville is" not in prompt:
            return float("nan") if len(prompt) % 2 else 1 / 0
        return 2.0 * ("Freedonia is Glorville" in prompt)

    e = explained(Each(score, gaps=0.4, name="mine"))
    assert e.outputs == ("mine",)
    assert e.cost.missing == 8
    model = Each(score, gaps=0.4, ledger=tmp_path / "a.db", version="1")
    first = explained(model)
    count = len(asked)
    explained(Each(score, gaps=0.4, ledger=tmp_path / "a.db", version="1"))
    assert len(asked) == count + 8
    assert np.array_equal(first.scores, e.scores)
    assert any("ZeroDivisionError" in words for words in model.failures)
    with pytest.raises(InputError, match="a ledger of its own"):
        eagle.Explainer(eagle.models.recorded(model, tmp_path / "b.db", version="1"), PROMPT)


def test_a_survey_needs_every_answer() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = Each(lambda row: float("nan") if row[0] > 0 else 1.0, gaps=0.9)
    with pytest.raises(ReplyError, match="NaN or infinity"):
        eagle.Explainer(model, X).survey(64, progress=False)


def test_tokens_that_are_parts_of_a_character_go_by_offsets() -> None:
    codec = Completions("m", Answer(" né"))
    tokens = ["Was", " ist", " n", "\ufffd", "\ufffd", "."]
    told = {
        "tokens": tokens,
        "token_logprobs": [None, -1.0, -0.5, -0.25, -0.125, -9.0],
        "text_offset": [0, 3, 7, 9, 9, 10],
    }
    reply = {"choices": [{"index": 0, "logprobs": told}], "usage": {"prompt_tokens": 5}}
    assert codec.answers(reply, 1)[0, 0] == pytest.approx(log_odds(-0.875))


def test_a_local_model_needs_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(eagle.MissingExtraError, match=r"eagle-xai\[torch\]"):
        Local(object(), object(), Answer(" a"))
