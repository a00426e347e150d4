"""Estimates are what is then asked, and limits are never crossed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
from catalogue import TEXTS, Recorder, mood
from eagle import CostEstimate, Explainer, InputError, Limit, LimitError, Texts, methods, peers
from eagle.comparison import estimate_cost
from eagle.models.http import Endpoint
from eagle.until import Rule, Top, Width
from served import Served
from tables import explainer_of

X = np.random.default_rng(0).normal(size=(300, 6))


def bent(rows: Any) -> Any:
    return 3 * rows[:, 0] - 2 * rows[:, 1] + 0.5 * rows[:, 2] + np.sin(3 * rows[:, 3])


def made(**settings: Any) -> tuple[Recorder, Explainer]:
    model = Recorder(bent)
    return model, explainer_of(model, X, **{"view": "continuous", "budget": 200, **settings})


# -- estimates -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [methods.DEFAULT, methods.EAGLE, peers.LIME, peers.US_LIME])
@pytest.mark.parametrize("batch", [25_000, 500, 90])
@pytest.mark.parametrize("count", [1, 7])
def test_an_estimate_is_what_is_then_asked(method: Any, batch: int, count: int) -> None:
    model = Recorder(lambda rows: 1 / (1 + np.exp(-bent(rows))))
    how: dict[str, Any] = {"task": "classification", "outputs": ("no", "yes")}
    explainer = explainer_of(model, X, method=method, budget=200, batch_rows=batch, **how)
    said = explainer.estimate_cost(X[:count], price_per_row=0.25)
    assert not model.asked
    explainer.explain_many(X[:count], progress=False)
    assert (said.rows, said.calls) == (model.rows, len(model.asked))
    assert said.money == model.rows * 0.25
    assert not said.at_most


def test_masks_that_repeat_are_not_counted_twice() -> None:
    model = Recorder(mood)
    settings: dict[str, Any] = {"task": "classification", "outputs": ("no", "yes"), "budget": 500}
    explainer = Explainer(model, Texts(), **settings)
    said = explainer.estimate_cost(TEXTS)
    explainer.explain_many(TEXTS, progress=False)
    assert (said.rows, said.calls) == (model.rows, len(model.asked))
    assert explainer.estimate_cost("a b", one=True).rows == 4
    several = ["a b c", "a good film of a day", *TEXTS]
    most = explainer.estimate_cost(several, until=Width(1e-9))
    model.asked.clear()
    explainer.explain_many(several, until=Width(1e-9), progress=False)
    assert most.calls is not None
    assert model.rows <= most.rows
    assert len(model.asked) <= most.calls
    both = [methods.EAGLE, peers.LIME]
    assert estimate_cost(explainer, both, "a b", 2).rows == 16
    eagle.compare_methods(explainer, both, "a b", 2, limit=Limit(rows=16), progress=False)


@pytest.mark.parametrize("rule", [Width(1e-9), Top(2), Top(2) | Width(0.5)])
def test_with_a_rule_it_is_the_most(rule: Rule) -> None:
    model, explainer = made()
    said = explainer.estimate_cost(X[:3], until=rule)
    assert said.at_most
    assert str(said).startswith("At most ")
    explainer.explain_many(X[:3], until=rule, progress=False)
    assert model.rows <= said.rows
    assert said.calls is not None
    assert len(model.asked) <= said.calls
    if isinstance(rule, Width):  # which is never met
        assert (model.rows, len(model.asked)) == (said.rows, said.calls)


@pytest.mark.parametrize("method", [peers.BAYESLIME, peers.SHAP_KERNEL])
def test_who_chooses_by_the_answers_is_estimated_at_most(method: Any) -> None:
    model = Recorder(lambda rows: 1 / (1 + np.exp(-bent(rows))))
    explainer = Explainer(model, X, method=method, budget=200)
    said = explainer.estimate_cost(X[:2])
    assert said == CostEstimate(400, None, True)
    explainer.explain_many(X[:2], progress=False)
    assert model.rows <= 400


def test_a_comparison_is_estimated_too() -> None:
    model, explainer = made()
    several = [methods.EAGLE, peers.LIME]
    said = estimate_cost(explainer, several, X[0], 2, converged=300, price_per_row=2.0)
    assert not model.asked
    eagle.compare_methods(explainer, several, X[0], 2, converged=300, progress=False)
    assert (said.rows, said.calls) == (model.rows, len(model.asked))


def test_an_endpoint_says_requests_bytes_and_seconds() -> None:
    with Served("v2") as served:
        ask = Endpoint(served.url, batch_rows=50, concurrency=2)
        explainer = Explainer(ask, X, budget=180)
        before = explainer.estimate_cost(X[:2])
        assert before.seconds is None
        assert not served.requests
        probed = explainer.estimate_cost(X[:2], probe=True, price_per_row=0.01)
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
    said = CostEstimate(25_000, 50, bytes=9_800_000, price_per_row=0.001, seconds=0.9)
    assert str(said) == (
        "25,000 rows in 50 calls, about 9.8 MB to send, for 25.00 at 0.001 a row, in about 0.9 s "
        "of the model."
    )
    assert str(CostEstimate(1, 1)) == "1 row in 1 call."
    assert str(said + said).startswith("50,000 rows in 100 calls, about 19.6 MB")
    assert (said + CostEstimate(1, None, price_per_row=0.001)).calls is None
    assert made()[1].estimate_cost(X[0], seconds_per_call=2).seconds == 2
    with pytest.raises(InputError, match="different prices"):
        said + CostEstimate(1, 1)
    for price in (-1, float("nan"), "x"):
        with pytest.raises(InputError, match="a price is a number"):
            made()[1].estimate_cost(X[0], price_per_row=price)  # type: ignore[arg-type]


# -- limits ---------------------------------------------------------------------------------------


def test_others_methods_are_limited_too() -> None:
    model = Recorder(bent)
    explainer = Explainer(model, X, method=peers.SHAP_KERNEL, budget=200)
    with pytest.raises(LimitError, match="would cross the limit of 150"):
        explainer.explain_many(X[:2], limit=Limit(rows=150), progress=False)
    assert model.rows <= 150


def test_a_wrong_price_is_refused_before_anything_is_read_or_asked() -> None:
    model, explainer = made()
    rows = iter(X)
    with pytest.raises(InputError, match="a price is a number"):
        explainer.estimate_cost(rows, price_per_row=-1)
    assert len(list(rows)) == len(X)
    with pytest.raises(InputError, match="counts no tokens"):
        explainer.estimate_cost(X[:1], price_per_1000_tokens=1, probe=True)
    assert model.rows == 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Limit(), "give one of them"),
        (lambda: Limit(seconds=-1), "a limit of seconds is a positive number"),
        (lambda: Limit(money=1), "needs price_per_row or price_per_1000_tokens"),
        (lambda: Limit(rows=1, price_per_row=1), "needs price_per_row"),
        (lambda: Limit(tokens=1, price_per_1000_tokens=1), "and only it does"),
        (lambda: Limit(money=1, price_per_row=0), "price_per_row is a positive number"),
        (lambda: Limit(money=-1, price_per_row=1), "a limit of money is a positive number"),
    ],
)
def test_a_price_without_money_makes_no_sense(make: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()


def test_a_limit_is_no_rule_and_a_rule_no_limit() -> None:
    model, explainer = made()
    for ask in (explainer.explain, explainer.explain_many, explainer.estimate_cost):
        with pytest.raises(InputError, match=r"limit=eagle\.Limit"):
            ask(X[:1], until=Limit(rows=100))  # type: ignore[arg-type]
    for wrong in (500, Top(1)):
        for limited in (explainer.explain, explainer.explain_many):
            with pytest.raises(InputError, match=r"such as eagle.Limit\(rows=500\)"):
                limited(X[:1], limit=wrong)  # type: ignore[arg-type]
    assert not model.asked


def test_the_command_estimates_and_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import joblib
    import pandas as pd
    from sklearn.linear_model import LinearRegression

    from eagle import cli

    data = pd.DataFrame(X, columns=list("abcdef"))
    data.to_csv(tmp_path / "d.csv", index=False)
    joblib.dump(LinearRegression().fit(data, bent(X)), tmp_path / "m.joblib")
    usual = [str(tmp_path / "m.joblib"), "--trust", "--data", str(tmp_path / "d.csv")]
    usual += ["--budget", "60"]
    assert cli.main(["explain", *usual, "--all", "--estimate"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("18,000 rows in 1 call")
    two = ["--row", "0", "--methods", "eagle", "lime", "--runs", "2"]
    assert cli.main(["compare", *usual, *two, "--estimate"]) == 0
    assert capsys.readouterr().out.startswith("240 rows in 4 calls")
    assert cli.main(["explain", *usual, "--all", "--limit", "100"]) == 2
    assert "would cross the limit of 100, so nothing was asked" in capsys.readouterr().err
    assert cli.main(["compare", *usual, *two, "--limit", "239"]) == 2
    assert "would cross the limit of 239" in capsys.readouterr().err
    assert cli.main(["explain", *usual, "--row", "0", "--limit", "60"]) == 0
