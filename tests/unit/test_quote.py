"""Quotes are what is then asked, and limits are never crossed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
from catalogue import TEXTS, Recorder, mood
from eagle import Explainer, InputError, LimitError, Quote, Texts, methods
from eagle.comparison import quote
from eagle.models.http import Endpoint
from eagle.until import Budget, Rule, Top, Width
from served import Served

X = np.random.default_rng(0).normal(size=(300, 6))


def bent(rows: Any) -> Any:
    return 3 * rows[:, 0] - 2 * rows[:, 1] + 0.5 * rows[:, 2] + np.sin(3 * rows[:, 3])


def made(**settings: Any) -> tuple[Recorder, Explainer]:
    model = Recorder(bent)
    return model, Explainer(model, X, **{"view": "continuous", "budget": 200, **settings})


# -- quotes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [methods.DEFAULT, methods.EAGLE, methods.LIME, methods.US_LIME])
@pytest.mark.parametrize("batch", [25_000, 500, 90])
@pytest.mark.parametrize("count", [1, 7])
def test_a_quote_is_what_is_then_asked(method: Any, batch: int, count: int) -> None:
    model = Recorder(lambda rows: 1 / (1 + np.exp(-bent(rows))))
    how: dict[str, Any] = {"task": "classification", "outputs": ("no", "yes")}
    explainer = Explainer(model, X, method=method, budget=200, batch_rows=batch, **how)
    said = explainer.quote(X[:count], price_per_row=0.25)
    assert not model.asked
    explainer.explain_many(X[:count], progress=False)
    assert (said.rows, said.calls) == (model.rows, len(model.asked))
    assert said.money == model.rows * 0.25
    assert not said.at_most


def test_masks_that_repeat_are_not_quoted_twice() -> None:
    model = Recorder(mood)
    settings: dict[str, Any] = {"task": "classification", "outputs": ("no", "yes"), "budget": 500}
    explainer = Explainer(model, Texts(), **settings)
    said = explainer.quote(TEXTS)
    explainer.explain_many(TEXTS, progress=False)
    assert (said.rows, said.calls) == (model.rows, len(model.asked))
    assert explainer.quote("a b", one=True).rows == 4
    several = ["a b c", "a good film of a day", *TEXTS]
    most = explainer.quote(several, until=Width(1e-9))
    model.asked.clear()
    explainer.explain_many(several, until=Width(1e-9), progress=False)
    assert most.calls is not None
    assert model.rows <= most.rows
    assert len(model.asked) <= most.calls
    both = [methods.EAGLE, methods.LIME]
    assert quote(both, explainer, "a b", 2).rows == 16
    eagle.compare(both, explainer, "a b", 2, limit=Budget(rows=16), progress=False)


@pytest.mark.parametrize("rule", [Width(1e-9), Top(2), Top(2) | Budget(rows=130)])
def test_with_a_rule_it_is_the_most(rule: Rule) -> None:
    model, explainer = made()
    said = explainer.quote(X[:3], until=rule)
    assert said.at_most
    assert str(said).startswith("At most ")
    explainer.explain_many(X[:3], until=rule, progress=False)
    assert model.rows <= said.rows
    assert said.calls is not None
    assert len(model.asked) <= said.calls
    if isinstance(rule, Width):  # which is never met
        assert (model.rows, len(model.asked)) == (said.rows, said.calls)


@pytest.mark.parametrize("method", [methods.BAYESLIME, methods.SHAP_KERNEL])
def test_who_chooses_by_the_answers_is_quoted_the_most(method: Any) -> None:
    model = Recorder(lambda rows: 1 / (1 + np.exp(-bent(rows))))
    explainer = Explainer(model, X, method=method, budget=200)
    said = explainer.quote(X[:2])
    assert said == Quote(400, None, True)
    explainer.explain_many(X[:2], progress=False)
    assert model.rows <= 400


def test_a_comparison_is_quoted_too() -> None:
    model, explainer = made()
    several = [methods.EAGLE, methods.LIME]
    said = quote(several, explainer, X[0], 2, converged=300, price_per_row=2.0)
    assert not model.asked
    eagle.compare(several, explainer, X[0], 2, converged=300, progress=False)
    assert (said.rows, said.calls) == (model.rows, len(model.asked))


def test_an_endpoint_says_requests_bytes_and_seconds() -> None:
    with Served("v2") as served:
        ask = Endpoint(served.url, batch_rows=50, concurrency=2)
        explainer = Explainer(ask, X, budget=180)
        before = explainer.quote(X[:2])
        assert before.seconds is None
        assert not served.requests
        probed = explainer.quote(X[:2], probe=True, price_per_row=0.01)
        assert len(served.rows) == 1
        assert probed.asked == 1
        assert "1 row was asked to measure this" in str(probed)
        pace = ask.pace
        assert pace is not None
        assert probed.seconds == pytest.approx(4 * pace.round_trip)  # 8 requests, two at once
        served.requests.clear()
        explainer.explain_many(X[:2], progress=False)
        assert before.calls == len(served.requests) == 8
        assert before.rows == len(served.rows)
        sent = sum(len(str(body)) for body in served.requests)
        assert before.bytes == pytest.approx(sent, rel=0.2)


def test_words() -> None:
    said = Quote(25_000, 50, bytes=9_800_000, price_per_row=0.001, seconds=0.9)
    assert str(said) == (
        "25,000 rows in 50 calls, about 9.8 MB to send, for 25.00 at 0.001 a row, in about 0.9 s "
        "of the model."
    )
    assert str(Quote(1, 1)) == "1 row in 1 call."
    assert str(said + said).startswith("50,000 rows in 100 calls, about 19.6 MB")
    assert (said + Quote(1, None, price_per_row=0.001)).calls is None
    assert made()[1].quote(X[0], seconds_per_call=2).seconds == 2
    with pytest.raises(InputError, match="different prices"):
        said + Quote(1, 1)
    for price in (-1, float("nan"), "x"):
        with pytest.raises(InputError, match="a price is a number"):
            made()[1].quote(X[0], price_per_row=price)  # type: ignore[arg-type]


# -- limits ---------------------------------------------------------------------------------------


LIMITS = [
    Budget(rows=599),
    Budget(money=5.98, price_per_row=0.01),
    Budget(rows=9999, money=1, price_per_row=0.002),
]


@pytest.mark.parametrize("limit", LIMITS)
def test_a_plan_that_would_cross_a_limit_is_refused_before_anything_is_asked(limit: Any) -> None:
    model, explainer = made()
    for ask in (
        lambda: explainer.explain_many(X[:3], limit=limit, progress=False),
        lambda: list(explainer.explain_each(X[:3], limit=limit)),
        lambda: eagle.compare([methods.EAGLE], explainer, X[0], 3, limit=limit, progress=False),
    ):
        with pytest.raises(LimitError, match=r"would cross the limit of .*nothing was asked"):
            ask()
    assert not model.asked


@pytest.mark.parametrize(
    "limit",
    [
        Budget(rows=600),
        Budget(money=6, price_per_row=0.01),
        Budget(calls=1),
        Budget(money=0.6, price_per_row=0.001),
    ],
)
def test_what_fits_a_limit_exactly_is_asked(limit: Any) -> None:
    model, explainer = made()
    assert len(explainer.explain_many(X[:3], limit=limit, progress=False)) == 3
    assert model.rows == 600


@pytest.mark.parametrize("most", [1, 30, 60, 120, 200, 400])
@pytest.mark.parametrize("how", ["rows", "money"])
def test_what_grows_stops_at_a_limit_with_what_it_has(most: int, how: str) -> None:
    model, explainer = made()
    limit = Budget(rows=most) if how == "rows" else Budget(money=most / 10, price_per_row=0.1)
    try:
        e = explainer.explain(X[0], until=Width(1e-9), limit=limit)
    except LimitError:
        assert not model.asked  # not even a first look was allowed
        assert most < 50
        return
    assert 50 <= e.bill.rows == model.rows <= most
    fixed = made(budget=e.bill.rows)[1].explain(X[0])
    named = made(method=methods.EAGLE_BALANCED, budget=e.bill.rows)[1].explain(X[0])
    assert np.array_equal(e.scores, fixed.scores) or np.array_equal(e.scores, named.scores)
    if most < 200:
        assert "would cross the limit" in e.bill.stopped


@pytest.mark.parametrize("most", [10, 95, 130])
@pytest.mark.parametrize("method", [methods.BAYESLIME, methods.S_LIME])
def test_what_is_chosen_by_answers_stops_at_a_limit(method: Any, most: int) -> None:
    model = Recorder(lambda rows: 1 / (1 + np.exp(-bent(rows))))
    explainer = Explainer(model, X, method=method, budget=400)
    try:
        e = explainer.explain(X[0], limit=Budget(rows=most))
    except LimitError:
        assert not model.asked
        return
    assert e.bill.rows == model.rows <= most
    assert len(e.evidence.answers) == model.rows


def test_all_rows_together_and_what_is_finished_is_kept() -> None:
    model, explainer = made(batch_rows=200)  # one row a call
    with pytest.raises(LimitError, match="would cross") as caught:
        explainer.explain_many(X[:9], until=Width(1e-9), limit=Budget(rows=500), progress=False)
    assert model.rows <= 500
    finished = caught.value.finished
    assert sum(e.bill.rows for e in finished) == model.rows
    assert len(finished) >= 2


def test_others_methods_are_limited_too() -> None:
    model = Recorder(bent)
    explainer = Explainer(model, X, method=methods.SHAP_KERNEL, budget=200)
    with pytest.raises(LimitError, match="would cross the limit of 150"):
        explainer.explain_many(X[:2], limit=Budget(rows=150), progress=False)
    assert model.rows <= 150


def test_a_comparison_shares_one_limit() -> None:
    model = Recorder(lambda rows: 1 / (1 + np.exp(-bent(rows))))
    explainer = Explainer(model, X, budget=200)
    several = [methods.EAGLE, methods.BAYESLIME]
    asked: dict[str, Any] = {"progress": False}
    made = eagle.compare(several, explainer, X[0], 2, limit=Budget(rows=700), **asked)
    assert model.rows <= 700
    assert [e.bill.rows for m in made.methods for e in m.runs][:2] == [200, 200]
    model.asked.clear()
    with pytest.raises(LimitError) as caught:
        eagle.compare(several, explainer, X[0], 2, limit=Budget(rows=400), **asked)
    assert model.rows == 400
    assert len(caught.value.finished) == 2


def test_no_call_begins_after_the_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(10_000))
    monkeypatch.setattr("eagle.engine.run.time.perf_counter", lambda: float(next(clock)))
    model, explainer = made(batch_rows=200)
    with pytest.raises(LimitError, match="the limit of 2 seconds is reached"):
        explainer.explain_many(X[:9], limit=Budget(seconds=2), progress=False)
    assert 1 <= len(model.asked) <= 2


def test_a_wrong_price_is_refused_before_anything_is_read_or_asked() -> None:
    model, explainer = made()
    rows = iter(X)
    with pytest.raises(InputError, match="a price is a number"):
        explainer.quote(rows, price_per_row=-1)
    assert len(list(rows)) == len(X)
    with pytest.raises(InputError, match="counts no tokens"):
        explainer.quote(X[:1], price_per_1000_tokens=1, probe=True)
    assert model.rows == 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Budget(money=1), "needs the price_per_row"),
        (lambda: Budget(rows=1, price_per_row=1), "needs the price_per_row"),
        (lambda: Budget(money=1, price_per_row=0), "price_per_row is a positive number"),
        (lambda: Budget(money=-1, price_per_row=1), "a budget of money is a positive number"),
    ],
)
def test_a_price_without_money_makes_no_sense(make: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()


def test_money_is_a_limit_and_no_rule_for_a_row() -> None:
    model, explainer = made()
    paid = Budget(money=1, price_per_row=0.001)
    for rule in (paid, Top(1) | paid, Top(1) & paid):
        for ask in (explainer.explain, explainer.explain_many, explainer.quote):
            with pytest.raises(InputError, match="give it as limit="):
                ask(X[:1], until=rule)
    for wrong in (500, Top(1)):
        with pytest.raises(InputError, match="limit is a budget"):
            explainer.explain(X[0], limit=wrong)  # type: ignore[arg-type]
    assert not model.asked


def test_the_command_quotes_and_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import joblib
    import pandas as pd
    from sklearn.linear_model import LinearRegression

    from eagle import cli

    data = pd.DataFrame(X, columns=list("abcdef"))
    data.to_csv(tmp_path / "d.csv", index=False)
    joblib.dump(LinearRegression().fit(data, bent(X)), tmp_path / "m.joblib")
    usual = [str(tmp_path / "m.joblib"), "--trust", "--data", str(tmp_path / "d.csv")]
    usual += ["--budget", "60"]
    priced = ["--quote", "--price", "0.5"]
    assert cli.main(["explain", *usual, "--all", *priced]) == 0
    out = capsys.readouterr().out
    assert out.startswith("18,000 rows in 1 call, for 9,000.00 at 0.5 a row")
    two = ["--row", "0", "--methods", "eagle", "lime", "--runs", "2"]
    assert cli.main(["compare", *usual, *two, *priced]) == 0
    assert capsys.readouterr().out.startswith("240 rows in 4 calls, for 120.00")
    assert cli.main(["explain", *usual, "--all", "--limit", "100"]) == 2
    assert "would cross the limit of 100, so nothing was asked" in capsys.readouterr().err
    assert cli.main(["compare", *usual, *two, "--limit", "239"]) == 2
    assert "would cross the limit of 239" in capsys.readouterr().err
    assert cli.main(["explain", *usual, "--row", "0", "--limit", "60"]) == 0
    assert cli.main(["explain", *usual, "--row", "0", "--price", "2"]) == 2
    assert "--price is for --quote" in capsys.readouterr().err
