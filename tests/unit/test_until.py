"""Stopping rules: their looks, and that the rows asked are the beginning of a plan."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats

import eagle
from catalogue import TEXTS, Recorder, mood
from eagle import Explainer, InputError, Texts, methods, peers
from eagle._values.posterior import StudentT
from eagle.until import Look, Rule, Sign, Top, Width, looks
from tables import explainer_of

X = np.random.default_rng(0).normal(size=(300, 6))


def bent(rows: Any) -> Any:
    """Three features of unequal strength, with some curvature."""
    return 3 * rows[:, 0] - 2 * rows[:, 1] + 0.5 * rows[:, 2] + np.sin(3 * rows[:, 3])


def explainer(**settings: Any) -> Explainer:
    return explainer_of(bent, X, **{"view": "continuous", "budget": 4000, **settings})


def look(mean: Any, spread: float = 0.1, rows: int = 100, **cost: Any) -> Look:
    mean = np.array(mean, dtype=np.float64)
    posterior = StudentT(mean, spread**2 * np.eye(len(mean)), np.inf)
    return Look(posterior, **{"rows": rows, "calls": 1, "seconds": 1.0, "looks": 4} | cost)


RULES: list[Rule] = [
    Width(0.5),
    Top(2),
    Sign(k=2),
    Sign(0.9, 1),
    Width(0.5) | Top(5),
    Top(2) & Width(1.0),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("method", [methods.EAGLE, methods.EAGLE_BALANCED, peers.BAYLIME])
def test_it_is_what_a_budget_of_so_many_rows_gives(method: Any, rule: Rule) -> None:
    """Nested prefixes of one plan: stopping changes how many rows, nothing else."""
    model = Recorder(bent)
    e = Explainer(model, eagle.Table(X, view="continuous"), budget=4000, method=method).explain(
        X[3], until=rule
    )
    assert e.cost.rows == model.rows < 4000
    assert e.cost.calls == len(model.asked)
    assert e.cost.stopped
    fixed = explainer(method=method, budget=e.cost.rows).explain(X[3])
    assert np.array_equal(fixed.scores, e.scores)
    assert np.array_equal(np.concatenate(model.asked), _asked(method, e.cost.rows))
    assert fixed.cost.stopped == ""


def _asked(method: Any, rows: int) -> Any:
    model = Recorder(bent)
    Explainer(model, eagle.Table(X, view="continuous"), budget=rows, method=method).explain(X[3])
    return np.concatenate(model.asked)


def test_alone_or_in_company() -> None:
    rule = Width(0.4)
    many = explainer().explain_many(X[:4], until=rule, progress=False)
    for x, e in zip(X[:4], many, strict=True):
        alone = explainer().explain(x, until=rule)
        assert np.array_equal(alone.scores, e.scores)
        assert (alone.cost.rows, alone.cost.stopped) == (e.cost.rows, e.cost.stopped)
    assert len({e.cost.rows for e in explainer().explain_each(X[:20], until=Top(3))}) > 1


def test_texts_stop_too() -> None:
    settings: dict[str, Any] = {"task": "classification", "outputs": ("no", "yes"), "budget": 2000}
    several = Explainer(mood, Texts(), **settings).explain_many(TEXTS, until=Top(2), progress=False)
    assert all(e.cost.stopped for e in several)


@pytest.mark.parametrize("words", [1, 3, 5, 8])
@pytest.mark.parametrize("method", [methods.EAGLE, methods.EAGLE_BALANCED, peers.BAYLIME])
def test_a_short_text_has_few_masks_and_stops_at_the_last(method: Any, words: int) -> None:
    text = " ".join("abcdefgh"[:words])
    settings: dict[str, Any] = {"task": "classification", "outputs": ("no", "yes")}
    made = Explainer(mood, Texts(unit="word"), method=method, budget=500, **settings)
    e = made.explain(text, until=Width(1e-9))
    assert e.cost.rows <= 2**words
    rows = [made.with_options(method, budget=n).explain(text) for n in (10, 50, 75, 113, 170, 500)]
    for short, long in pairwise(rows):  # nested, also beyond all masks
        asked = short.evidence.points
        assert np.array_equal(asked, long.evidence.points[: len(asked)])


def test_a_rule_is_met_by_the_closed_form() -> None:
    """The normal posterior's own quantiles, at the level that four looks leave."""
    error = 0.05 / 4
    wide = 2 * stats.norm.ppf(1 - error / 2) * 0.1
    assert Width(wide * 1.001).reason_to_stop(look([1, 2]))
    assert Width(wide * 0.999).reason_to_stop(look([1, 2])) is None
    sure = stats.norm.ppf(1 - error) * 0.1
    assert Sign().reason_to_stop(look([sure * 1.01, -1]))
    assert Sign().reason_to_stop(look([sure * 0.99, -1])) is None
    assert Sign(k=1).reason_to_stop(look([sure * 0.99, -1]))
    assert Top(1).reason_to_stop(look([2, 1]))
    assert Top(1).reason_to_stop(look([1.1, 1])) is None
    assert Top(2).reason_to_stop(look([1.1, 1]))  # there are no others
    once = look([sure * 0.99, -1], looks=1)
    assert Sign().reason_to_stop(once)  # who looks once need not correct


def test_forecasts_grow_with_the_square() -> None:
    seen = look([1.0, 0.5])
    assert Width(0.01).rows(seen) == pytest.approx(4 * Width(0.02).rows(seen))
    rows = Sign().rows(look([0.1, 1.0]))
    assert rows == pytest.approx(100 * stats.norm.ppf(1 - 0.05 / 4) ** 2)
    later = look([0.1, 1.0], spread=0.1 * np.sqrt(100 / rows), rows=round(rows))
    assert Sign().reason_to_stop(later) or Sign().rows(later) == pytest.approx(rows, rel=0.01)
    assert Top(1).rows(look([1.0, 1.0])) == np.inf


def test_rules_combine() -> None:
    seen = look([1.0, 0.5])
    met, not_yet = Top(1, 0.9), Width(1e-9)
    assert (
        (met | not_yet).reason_to_stop(seen)
        == (not_yet | met).reason_to_stop(seen)
        == met.reason_to_stop(seen)
    )
    assert (met & not_yet).reason_to_stop(seen) is None
    assert (met & met).reason_to_stop(
        seen
    ) == f"{met.reason_to_stop(seen)}, and {met.reason_to_stop(seen)}"
    assert (met | not_yet).rows(seen) <= (met & not_yet).rows(seen)


@pytest.mark.parametrize(("d", "most"), [(1, 10), (6, 500), (30, 100_000), (200, 500)])
def test_looks_grow_to_the_last_row(d: int, most: int) -> None:
    rows = looks(d, most)
    assert rows[-1] == most
    assert (np.diff(rows) > 0).all()
    assert len(rows) <= 25


def test_what_was_not_sure_in_the_end_is_said() -> None:
    e = explainer(budget=60).explain(X[0], until=Width(1e-6))
    assert e.cost.rows == 60
    assert "rows were asked before the rule was met" in str(e)
    assert "rows were asked before the rule was met" in e._repr_html_()
    again = eagle.Explanation.from_dict(e.to_dict())
    assert again.cost == e.cost


def test_a_line_is_sure_at_the_first_look() -> None:
    model = Recorder(lambda rows: rows @ np.arange(6.0))
    e = Explainer(model, eagle.Table(X, view="continuous")).explain(X[0], until=Sign(k=3))
    assert len(model.asked) == 1
    assert e.cost.rows == looks(6, 500)[0]


def test_looking_often_keeps_the_promise() -> None:
    """Of features that do nothing, few get a sign that is called sure."""
    rng = np.random.default_rng(1)

    def noise(rows: Any) -> Any:
        return rng.normal(size=len(rows))

    wrong = 0
    for seed in range(40):
        made = Explainer(
            noise, eagle.Table(X[:, :1], view="continuous"), random_state=seed, budget=1000
        )
        wrong += "signs" in made.explain(X[0, :1], until=Sign()).cost.stopped
    # P(sign) is at least 1/2 by chance: 95% two-sided means 10% of false calls at most.
    assert wrong <= stats.binom.ppf(0.999, 40, 0.1)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Width(0), "a width must be a positive number"),
        (lambda: Width(float("nan")), "a width must be a positive number"),
        (lambda: Top(0), "k must be an integer of at least 1"),
        (lambda: Sign(k=0), "k must be an integer of at least 1"),
        (lambda: Sign(1.5), "between 0 and 1"),
        (lambda: Top(2) | 3, "rules combine with rules"),  # type: ignore[operator]
        (lambda: Top(2) | eagle.Limit(rows=9), "limit=eagle.Limit"),  # type: ignore[operator]
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(make: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("method", "until", "sentence"),
    [
        (peers.LIME, Width(1), "gives scores without intervals, so it is never sure"),
        (peers.BAYESLIME, Width(1), "there is no plan to stop in"),
        (peers.SHAP_KERNEL, Width(1), "there is no plan to stop in"),
        (methods.EAGLE, 500, "until is a rule such as"),
    ],
)
def test_who_cannot_stop_is_refused_before_any_query(
    method: Any, until: Any, sentence: str
) -> None:
    model = Recorder(bent)
    made = Explainer(model, X, method=method)
    for ask in (made.explain, made.explain_many):
        with pytest.raises(InputError, match=sentence):
            ask(X[:1], until=until)
    assert not model.asked


@pytest.mark.parametrize("rule", [Top(1), Width(0.01), Sign(k=1)])
@pytest.mark.parametrize("rows", [1, 2])
def test_fewer_rows_than_coefficients_are_never_sure(rule: Any, rows: int) -> None:
    data = np.random.default_rng(0).normal(size=(120, 17))
    e = eagle.Explainer(lambda x: 3 * x[:, 0], data, budget=rows).explain(data[0], until=rule)
    assert "before the rule was met" in e.cost.stopped


def test_of_few_features_all_are_among_the_strongest() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    e = eagle.Explainer(lambda t: t[:, 0], X).explain(X[0], until=Top(20), progress=False)
    assert e.cost.stopped == "there are only 3 features, so all are among the 20 strongest"
