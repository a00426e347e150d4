"""A limit holds for every way of asking, and for each of its kinds: however it is asked.

The model is behind a real server, which counts the requests, rows and tokens that reach it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
from eagle import Explainer, Explanation, InputError, Limit, LimitError, Survey, methods, peers
from eagle.cost import Cost
from eagle.language import Each
from eagle.models.codecs import Language
from eagle.models.http import Endpoint
from eagle.models.inputs import Inputs
from eagle.models.ledger import Ledger
from eagle.until import Width
from served import Served, rows_of
from tables import explainer_of

X = np.random.default_rng(0).normal(size=(200, 3))
NEVER = Width(1e-9)
EACH = 7
"""The tokens that the server bills for a row."""


def line(rows: Any) -> Any:
    return np.asarray(rows, dtype=np.float64) @ [1.0, -2.0, 0.5]


@dataclass(frozen=True)
class Rows:
    """Rows of a table, billed by the token; `told` is what a row is said to have before."""

    told: float = EACH * 4.0
    most: int = 1000
    path: str = ""
    probabilities: str = "ask for them"
    output: str = "score"

    def request(self, inputs: Inputs, id: str) -> Any:
        return {"instances": inputs.rows()}

    def answers(self, reply: Any, rows: int) -> Any:
        return np.array(reply["predictions"])[:, None]

    def characters(self, inputs: Inputs) -> int:
        return round(self.told * len(inputs))

    def tokens(self, reply: Any) -> int:
        return int(reply.get("usage", 0))


class Billing(Served):
    """A server that says the tokens of a reply, unless it is `silent`."""

    silent = False

    def __init__(self, delay: float = 0.0) -> None:
        super().__init__("instances", line, delay)

    def reply(self, body: Any) -> Any:
        usage = {} if self.silent else {"usage": EACH * len(rows_of(body))}
        return {**super().reply(body), **usage}

    @property
    def cost(self) -> Cost:
        rows = len(self.rows)
        return Cost(rows, len(self.requests), 0.0, EACH * rows)


def model(server: Served, **settings: Any) -> Endpoint:
    protocol: Any = settings.pop("protocol", Rows())
    return Endpoint(server.url, protocol, **{"batch_rows": 2, "concurrency": 3, **settings})


def explainer(asked: Any, **settings: Any) -> Explainer:
    return explainer_of(asked, X, **{"budget": 60, **settings})


def priced(cost: Cost) -> float:
    """Its tokens, at 3 for a thousand."""
    return (cost.tokens or 0) * 0.003


Way = Callable[[Explainer, Limit | None], Any]
"""A way of asking, within a limit."""

WAYS: dict[str, Way] = {
    "explain": lambda e, limit: e.explain(X[0], limit=limit),
    "explain_many": lambda e, limit: e.explain_many(X[:3], limit=limit, progress=False),
    "explain_each": lambda e, limit: list(e.explain_each(X[:3], limit=limit)),
    "compare": lambda e, limit: eagle.compare_methods(
        e, [methods.EAGLE, peers.LIME], X[0], 2, limit=limit, progress=False
    ),
    "survey": lambda e, limit: e.survey(128, limit=limit, progress=False),
    "Shapley values": lambda e, limit: e.shapley_survey(
        X[:20], budget=4, background=10, limit=limit, progress=False
    ),
}
GROWING: dict[str, Way] = {
    "explain": lambda e, limit: e.explain(X[0], until=NEVER, limit=limit, progress=False),
    "explain_many": lambda e, limit: e.explain_many(
        X[:3], until=NEVER, limit=limit, progress=False
    ),
    "explain_each": lambda e, limit: list(e.explain_each(X[:3], until=NEVER, limit=limit)),
    "adaptive": lambda e, limit: e.with_options(peers.BAYESLIME, budget=200).explain(
        X[0], limit=limit
    ),
    "survey": lambda e, limit: e.survey(
        1024, until=NEVER, sample=X[:40], limit=limit, progress=False
    ),
}
KINDS: dict[str, Callable[[Cost], Limit]] = {
    "rows": lambda cost: Limit(rows=cost.rows),
    "calls": lambda cost: Limit(calls=cost.calls),
    "tokens": lambda cost: Limit(tokens=cost.tokens),
    "money a row": lambda cost: Limit(money=cost.rows * 0.01, price_per_row=0.01),
    "money a token": lambda cost: Limit(money=priced(cost), price_per_1000_tokens=3.0),
    "both prices": lambda cost: Limit(
        money=cost.rows * 0.01 + priced(cost),
        price_per_row=0.01,
        price_per_1000_tokens=3.0,
    ),
}


def growing(asked: Any) -> Explainer:
    return explainer(asked, budget=200)


@cache
def whole(way: Way, made: Callable[[Any], Explainer] = explainer) -> Cost:
    """What it costs without a limit, as the server has it."""
    with Billing() as server:
        way(made(model(server)), None)
        return server.cost


def part(cost: Cost, share: float) -> Cost:
    return replace(
        cost,
        rows=round(cost.rows * share),
        calls=round(cost.calls * share),
        tokens=round((cost.tokens or 0) * share),
    )


def found(error: LimitError) -> int:
    """How many rows the answers of an error have."""
    return 0 if error.answers is None else int(np.isfinite(error.answers).all(axis=1).sum())


def scored(what: Any) -> list[Explanation]:
    """All explanations in a result, or in what an error has kept."""
    if isinstance(what, eagle.Comparison):
        return [e for one in what.methods for e in one.runs]
    return [what] if isinstance(what, Explanation) else list(what)


def test_the_codec_is_one_of_a_model_that_is_billed_by_the_token() -> None:
    assert isinstance(Rows(), Language)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_a_plan_that_fits_is_asked_and_one_that_does_not_is_refused_before(
    way: str, kind: str
) -> None:
    cost = whole(WAYS[way])
    assert cost.calls > 10
    with Billing() as server:
        with pytest.raises(LimitError, match="would cross the limit of"):
            WAYS[way](explainer(model(server)), KINDS[kind](part(cost, 0.9)))
        assert not server.requests
        WAYS[way](explainer(model(server)), KINDS[kind](cost))
        assert server.cost == cost


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", GROWING)
def test_what_grows_ends_within_the_limit_with_what_it_has(way: str, kind: str) -> None:
    cost = whole(GROWING[way], growing)
    limit = KINDS[kind](part(cost, 0.7))
    with Billing() as server:
        made = GROWING[way](growing(model(server)), limit)
        assert limit.over_limit(server.cost) is None
        assert limit.over_limit(part(server.cost, 2.0)) is not None  # it was used
        if isinstance(made, Survey):
            assert made.cost.rows == len(server.rows)
            assert made.cost.calls == len(server.requests)
            return
        assert sum(e.cost.rows for e in scored(made)) == len(server.rows)
        assert all("would cross the limit" in e.cost.stopped for e in scored(made))


@pytest.mark.parametrize("way", WAYS)
def test_no_request_begins_after_the_seconds(way: str) -> None:
    with Billing(delay=0.03) as server:
        endpoint = model(server, batch_rows=1, concurrency=1)
        with pytest.raises(LimitError, match=r"the limit of 0\.5 seconds is reached") as caught:
            WAYS[way](explainer(endpoint), Limit(seconds=0.5))
        assert len(server.requests) <= 0.5 / 0.03 + 1
        assert found(caught.value) == len(server.rows)


def test_what_grows_ends_at_the_seconds_with_what_it_has() -> None:
    with Billing(delay=0.02) as server:
        endpoint = model(server, batch_rows=1, concurrency=4)
        slow = Explainer(endpoint, X, budget=20_000)
        e = slow.explain(X[0], until=NEVER, limit=Limit(seconds=1.5), progress=False)
        assert "the limit of 1.5 seconds is reached" in e.cost.stopped
        assert 50 <= e.cost.rows <= len(server.requests) <= 4 * (1.5 / 0.02 + 1)
        server.requests.clear()
        with pytest.raises(LimitError) as caught:  # the first takes all the time
            slow.explain_many(X[:2], until=NEVER, limit=Limit(seconds=1.5), progress=False)
        (one,) = caught.value.finished
        assert 50 <= one.cost.rows <= len(server.requests)


@pytest.mark.parametrize("kind", ["tokens", "money a token"])
@pytest.mark.parametrize("way", WAYS)
def test_where_tokens_are_more_than_expected_it_ends_between_requests(
    way: str, kind: str, tmp_path: Path
) -> None:
    """What was answered is kept, in the error and in the ledger; the rest is asked later."""
    cost = whole(WAYS[way])
    limit = KINDS[kind](part(cost, 0.5))
    book = tmp_path / "answers.db"
    with Billing() as server:
        short = model(server, protocol=Rows(told=EACH), ledger=book)  # a quarter of the truth
        with pytest.raises(LimitError, match=r"about .* would cross the limit") as caught:
            WAYS[way](explainer(short), limit)
        before = len(server.rows)
        under_way = 3 * 2 * EACH
        most = KINDS[kind](replace(part(cost, 0.5), tokens=(cost.tokens or 0) // 2 + under_way))
        assert 0 < before < cost.rows
        assert most.over_limit(server.cost) is None
        assert Ledger(book).summary().rows == before
        kept, known = caught.value.finished, found(caught.value)
        if way == "survey":
            assert known == before
            assert all(isinstance(one, Survey) for one in kept)
        else:
            assert all(isinstance(one, Explanation) for one in kept)
            assert max(known, sum(e.cost.rows for e in kept)) > 0
        again = model(server, protocol=Rows(told=EACH), ledger=book)
        WAYS[way](explainer(again), None)
        assert len({tuple(row) for row in server.rows}) == len(server.rows)  # none twice


@pytest.mark.parametrize("way", WAYS)
def test_with_a_ledger_a_limit_on_the_rest_is_enough(way: str, tmp_path: Path) -> None:
    """A run that was ended goes on where it ended; a limit that is too small asks nothing."""
    book = tmp_path / "answers.db"
    with Billing() as server:
        short = model(server, protocol=Rows(told=EACH), ledger=book, batch_rows=1)
        with pytest.raises(LimitError):
            WAYS[way](explainer(short), Limit(tokens=part(whole(WAYS[way]), 0.5).tokens))
        done = len(server.rows)
        twin = model(server, protocol=Rows(told=EACH), ledger=book, batch_rows=1)
        with pytest.raises(LimitError, match=r"nothing was asked|not asked|no more was asked"):
            WAYS[way](explainer(twin), Limit(calls=5))
        assert len(server.rows) == done or way == "compare"
        done = len(server.rows)
        rest = whole(WAYS[way]).rows - done
        WAYS[way](explainer(twin), Limit(calls=rest, tokens=rest * EACH))
        assert done < len(server.rows) <= done + rest


def test_what_was_answered_whole_is_finished_and_what_is_not_is_in_the_error() -> None:
    """Many share a call, which a limit ends in the middle: those before it are explained."""
    with Billing() as server:
        wholes = explainer(model(server)).explain_many(X[:6], progress=False)
        server.requests.clear()
        short = model(server, protocol=Rows(told=EACH), concurrency=1)
        with pytest.raises(LimitError) as caught:
            explainer(short).explain_many(X[:6], limit=Limit(tokens=200 * EACH), progress=False)
        finished = caught.value.finished
        assert [e.cost.rows for e in finished] == [60, 60, 60]
        for one, other in zip(finished, wholes, strict=False):
            assert np.array_equal(one.scores, other.scores)
        known = np.isfinite(caught.value.answers[:, 0])
        assert known.sum() == len(server.rows) <= 200
        assert np.allclose(caught.value.answers[known, 0], line(server.rows))


def test_a_growing_part_that_is_ended_counts_as_far_as_it_was_answered() -> None:
    """The explanation is that of a budget of so many rows: nothing paid for is thrown away."""
    with Billing() as server:
        short = model(server, protocol=Rows(told=1.0), concurrency=1, batch_rows=1)
        many = explainer(short, budget=500)
        many.explain(X[1], until=NEVER, limit=Limit(rows=50), progress=False)  # tokens are known
        server.requests.clear()
        fresh = model(server, protocol=Rows(told=1.0), concurrency=1, batch_rows=1)
        fresh_many = explainer(fresh, budget=500)
        e = fresh_many.explain(X[0], until=NEVER, limit=Limit(calls=60, tokens=500), progress=False)
        asked = len(server.rows)
        assert 50 <= e.cost.rows <= asked <= 60
        fixed = explainer(line, budget=e.cost.rows).explain(X[0], until=NEVER, progress=False)
        assert np.array_equal(e.scores, fixed.scores)


SILENT: dict[str, Callable[[Served], Any]] = {
    "a function": lambda _: line,
    "an endpoint of a table": lambda server: Endpoint(server.url, "instances"),
    "a function of one": lambda _: Each(lambda row: float(line(row))),
}


@pytest.mark.parametrize("kind", ["tokens", "money a token", "both prices"])
@pytest.mark.parametrize("way", [*WAYS, *(f"until: {way}" for way in GROWING)])
@pytest.mark.parametrize("which", SILENT)
def test_tokens_of_a_model_that_does_not_say_them_are_refused_before_anything_is_asked(
    which: str, way: str, kind: str
) -> None:
    ask = GROWING[way.removeprefix("until: ")] if way.startswith("until") else WAYS[way]
    limit = KINDS[kind](Cost(9999, 9999, 0.0, 9999))
    with Billing() as server:
        with pytest.raises(InputError, match=r"does not say how many tokens.*limit of rows"):
            ask(explainer(SILENT[which](server)), limit)
        assert not server.requests


@pytest.mark.parametrize("way", WAYS)
def test_replies_that_do_not_say_their_tokens_end_it_at_the_first(way: str) -> None:
    with Billing() as server:
        server.silent = True
        endpoint = model(server)
        with pytest.raises(LimitError, match="do not say how many tokens"):
            WAYS[way](explainer(endpoint), Limit(tokens=99_999))
        assert 1 <= len(server.requests) <= endpoint.concurrency
        before = len(server.requests)
        with pytest.raises(InputError, match="does not say how many tokens"):
            WAYS[way](explainer(endpoint), Limit(tokens=99_999))
        assert len(server.requests) == before


BETWEEN: dict[str, Callable[[Endpoint, Path], Any]] = {
    "a function": lambda endpoint, _: lambda rows: endpoint(rows),
    "a ledger": lambda endpoint, at: eagle.models.recorded(endpoint, at / "a.db", version="1"),
}


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("limit", [Limit(calls=2), Limit(seconds=0.2)])
def test_requests_are_counted_through_what_stands_between(
    between: str, limit: Limit, tmp_path: Path
) -> None:
    with Billing(delay=0.05) as server:
        endpoint = model(server, protocol="instances", batch_rows=1, concurrency=1)
        with pytest.raises(LimitError):
            explainer(BETWEEN[between](endpoint, tmp_path)).explain(X[0], limit=limit)
        assert len(server.requests) <= (2 if limit.calls else 5)


def test_a_function_of_one_is_limited_between_its_calls() -> None:
    asked: list[Any] = []

    def score(row: Any) -> float:
        asked.append(row)
        return float(line(row))

    each = explainer(Each(score))
    estimate = each.estimate_cost(X[:1])
    assert (estimate.rows, estimate.calls, estimate.requests) == (60, 60, 60)
    assert str(estimate) == "60 rows in 60 requests."
    with pytest.raises(LimitError, match="60 calls would cross the limit of 59"):
        each.explain(X[0], limit=Limit(calls=59))
    assert not asked
    each.explain(X[0], limit=Limit(calls=60))
    assert len(asked) == 60


@pytest.mark.parametrize("way", WAYS)
def test_what_is_sent_again_counts_again(way: str) -> None:
    """A limit is on the requests that reach the server, whatever it answers."""
    cost = whole(WAYS[way])
    with Billing() as server:
        server.faults = [busy] * 3
        endpoint = model(server, retries=eagle.models.http.Retry(5, first=0.001))
        with pytest.raises(LimitError, match="would cross the limit"):
            WAYS[way](explainer(endpoint), Limit(calls=cost.calls))
        assert cost.calls / 2 < len(server.requests) <= cost.calls
        server.requests.clear()
        server.faults = [busy] * 3
        WAYS[way](explainer(endpoint), Limit(calls=cost.calls + 3))
        assert len(server.requests) == cost.calls + 3


def busy(handler: Any, _: Any) -> None:
    body = json.dumps({"error": "busy"}).encode()
    handler.send_response(503)
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def test_a_wait_that_would_be_over_after_the_seconds_is_not_waited() -> None:
    with Billing() as server:
        server.faults = [
            lambda handler, _: (
                handler.send_response(429),
                handler.send_header("retry-after", "30"),
                handler.send_header("content-length", "0"),
                handler.end_headers(),
            )[0]
        ]
        with pytest.raises(LimitError, match="the limit of 5 seconds"):
            explainer(model(server)).explain(X[0], limit=Limit(seconds=5))
        assert len(server.requests) < 30


def test_estimates_say_requests_and_what_is_limited_is_what_was_estimated() -> None:
    with Billing() as server:
        estimate = explainer(model(server)).estimate_cost(X[:3], price_per_1000_tokens=2.0)
        assert not server.requests
        assert (estimate.rows, estimate.requests, estimate.calls, estimate.tokens) == (
            180,
            90,
            90,
            180 * EACH,
        )
        assert str(estimate).startswith("180 rows in 90 requests, about ")
        assert "about 1,260 tokens, for 2.52 at 2 per 1,000 tokens" in str(estimate)
        assert estimate.cost == Cost(180, 90, 0.0, 1260)


def test_rows_that_tell_whether_a_model_is_the_one_are_counted_request_by_request(
    tmp_path: Path,
) -> None:
    with Billing() as server:
        made = explainer(model(server)).survey(128, progress=False)
        made.save(tmp_path / "survey.json")
        before = server.cost
        read = Survey.load(tmp_path / "survey.json", model(server, concurrency=1))
        assert server.cost.rows > before.rows
        assert read.cost.calls - made.cost.calls == server.cost.calls - before.calls > 1
        assert (read.cost.tokens or 0) - (made.cost.tokens or 0) == EACH * (
            server.cost.rows - before.rows
        )
        assert read.cost.model_seconds > made.cost.model_seconds
