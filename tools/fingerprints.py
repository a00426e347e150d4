"""Whether plans and scores are the same as before: `python -m tools.fingerprints`.

Before a change that should move no number, write them down, and compare them afterwards:

    python -m tools.fingerprints before.json           # writes the file, if it is not there
    python -m tools.fingerprints before.json           # else it prints what differs
    python -m tools.fingerprints before.json surveys   # a part of it: see `PARTS`

Every method of the tests' catalogue explains three things of every kind, one by one and together.
The default also explains from scales alone, until a rule is met, within limits, from plans that are
answered later, and as a whole file. Surveys have supplements, grow, are planned, limited and
subtracted, on probabilities and on log-odds, over groups of columns too. What is said of all rows
and of groups of rows, Shapley values of a table, and what everything is estimated to cost are in
it. Each explanation has a fingerprint of what was asked and answered, and one of scores, intervals
and fit, both to the last bit. They belong to one machine: other processors and libraries round in
other ways.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

import eagle
from eagle import methods, peers, until

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import tables
from catalogue import (
    BUDGET,
    CASES,
    CHOICES,
    FOREIGN,
    METHODS,
    Case,
    budget_of,
    curved,
    supports,
)

ROWS = (0, 3, 7)

Fingerprints = Iterator[tuple[str, tuple[Any, ...], tuple[Any, ...]]]
"""Names, with the numbers that were asked and answered, and those that were made of them."""


def catalogue() -> Fingerprints:
    """Every method of the catalogue on every kind of thing that it takes."""
    for name, method in (METHODS | CHOICES | FOREIGN).items():
        for place, case in CASES.items():
            if supports(method, case):
                yield from numbers_of(one_by_one(f"{name} | {place}", method, case))
                yield from numbers_of(together(f"{name} | {place}", method, case))


def ways() -> Fingerprints:
    """The default in the other ways of explaining: in parts, planned, estimated, on log-odds."""
    for place, case in CASES.items():
        yield from numbers_of(in_parts(place, case))
        yield from numbers_of(planned(place, case))
        yield from estimates(place, case)
    yield from numbers_of(of_probabilities())
    yield from numbers_of(of_scales())


def surveys() -> Fingerprints:
    """Surveys, their supplements and differences, and what is said of all rows and of groups."""
    for name in ("numbers, binned", "mixed, binned", "dates and groups", "integers"):
        yield from survey(name, CASES[name])
    case = CASES["numbers, binned"]
    yield from survey("log-odds", replace(case, options={**case.options, "link": "logit"}))


def files() -> Fingerprints:
    """A file explained part by part, by an explainer and by a survey."""
    table = pd.DataFrame(CASES["numbers, binned"].data, columns=list("abcde"))
    explainer = eagle.Explainer(curved, table, budget=BUDGET, task="classification")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        table[:50].to_parquet(path)
        for name, by in (("explainer", explainer), ("survey", explainer.survey(256))):
            made = eagle.dataset.explain(
                by, path, Path(folder) / name, target=1, part_rows=20, progress=False
            )
            yield f"whole file | {name}", (), of_many(made)


def shapley() -> Fingerprints:
    """Values that add up, of a table and of a row that it lacks, and what changed."""
    case = CASES["numbers, binned"]
    explainer = explainer_of(case)
    made = explainer.shapley_survey(case.data[:40], budget=16, progress=False)
    other = made.requery(twisted(case.model), progress=False)
    for name, one in (("survey", made), ("difference", other - made)):
        yield (
            f"shapley {name}",
            (one.answers, one.own),
            of_many(one.explain_many(case.data[:60], "yes")),
        )
        yield f"shapley {name} | 0", (), (one.explain(case.data[:1]).scores,)


PARTS: Final[dict[str, Callable[[], Fingerprints]]] = {
    part.__name__: part for part in (catalogue, ways, surveys, files, shapley)
}
"""What there is, by the names that the command takes."""


def numbers_of(made: Iterator[tuple[str, eagle.Explanation]]) -> Fingerprints:
    """Explanations as their numbers."""
    for name, e in made:
        yield name, *numbers(e)


def one_by_one(name: str, method: Any, case: Case) -> Iterator[tuple[str, eagle.Explanation]]:
    """Each thing by itself."""
    explainer = explainer_of(case, method=method, budget=budget_of(method))
    for i in ROWS:
        yield f"{name} | {i}", explainer.explain(case.row(i), progress=False)


def together(name: str, method: Any, case: Case) -> Iterator[tuple[str, eagle.Explanation]]:
    """The same things in one call, and in calls of a few rows."""
    for rows in (25_000, 50):
        explainer = explainer_of(case, method=method, budget=budget_of(method), batch_rows=rows)
        made = explainer.explain_many(things(case, ROWS), progress=False, evidence=True)
        for i, explanation in zip(ROWS, made, strict=True):
            yield f"{name} | {i}, in calls of {rows}", explanation


def in_parts(name: str, case: Case) -> Iterator[tuple[str, eagle.Explanation]]:
    """Plans that grow until a rule or a limit, and rows that are chosen by the answers."""
    rules = {"top": until.Top(1), "width": until.Width(0.05) | until.Sign(0.9, 2)}
    explainer = explainer_of(case, budget=300)
    for rule, met in rules.items():
        yield f"until {rule} | {name}", explainer.explain(case.row(0), until=met, progress=False)
        many = explainer.explain_many(things(case, ROWS), until=met, progress=False, evidence=True)
        for i, explanation in zip(ROWS, many, strict=True):
            yield f"until {rule} | {name} | {i}, of many", explanation
    limit = eagle.Limit(rows=100)
    ended = explainer.explain(case.row(0), until=until.Width(1e-12), limit=limit, progress=False)
    yield f"until a limit | {name}", ended
    method = peers.BAYESLIME
    if supports(method, case):
        adaptive = explainer_of(case, method=method, budget=200)
        ended = adaptive.explain(case.row(0), limit=limit, progress=False)
        yield f"by answers, until a limit | {name}", ended


def planned(name: str, case: Case) -> Iterator[tuple[str, eagle.Explanation]]:
    """A plan that is answered by itself."""
    plan = explainer_of(case, budget=BUDGET).plan(case.row(3))
    yield f"plan | {name}", plan.fit(case.model(plan.inputs))


def of_probabilities() -> Iterator[tuple[str, eagle.Explanation]]:
    """Log-odds, and one class against another."""
    case = CASES["numbers, binned"]
    for name, options, target in (
        ("log-odds", {"link": "logit"}, "no"),
        ("log-odds of a pair", {"link": "logit"}, ("yes", "no")),
        ("a pair", {}, ("yes", "no")),
        ("process", {"method": methods.EAGLE_PROCESS}, None),
    ):
        explainer = explainer_of(case, budget=BUDGET, **options)
        yield f"{name} | numbers", explainer.explain(case.row(3), target, progress=False)


def of_scales() -> Iterator[tuple[str, eagle.Explanation]]:
    """Numbers without data."""
    case = CASES["numbers, binned"]
    table = eagle.Table(scales=0.5)
    explainer = eagle.Explainer(case.model, table, task="classification", budget=BUDGET)
    for i in ROWS:
        yield f"scales | {i}", explainer.explain(case.row(i), progress=False)


def estimates(name: str, case: Case) -> Fingerprints:
    """What it is said to cost, before anything is asked."""
    explainer = explainer_of(case, budget=300, batch_rows=50)
    for until_rule in (None, until.Top(1)):
        made = explainer.estimate_cost(things(case, ROWS), until=until_rule)
        yield f"estimate, until {until_rule} | {name}", (made.rows, made.calls or -1), ()


def survey(name: str, case: Case) -> Fingerprints:
    """A survey, its supplements, ones that grew, were planned and ended, and differences."""
    explainer = explainer_of(case, method=methods.DEFAULT)
    rows, bare = things(case, range(40)), explainer.survey_plan(256)
    made = explainer.survey(256, progress=False)
    grown = explainer.survey(1024, until=until.Top(1), sample=rows, progress=False)
    ended = explainer.survey(
        1024,
        until=until.Width(1e-12),
        sample=rows,
        limit=eagle.Limit(rows=1000),
        progress=False,
    )
    wide = made.grow(512, progress=False)
    other = explainer_of(replace(case, model=twisted(case.model))).survey(256, progress=False)
    forms = {"survey": made, "until": grown, "until a limit": ended, "grown": wide}
    forms |= {"planned": bare.fit(case.model(bare.inputs)), "difference": other - made}
    for form, one in forms.items():
        label = f"{form} | {name}"
        asked = one.drawn.values, one.answers
        yield label, asked, (one.weights.evenness.lengths,)
        cost = one.estimate_cost(rows)
        yield f"{label} | estimate", (cost.rows, cost.calls or -1), ()
        for i in ROWS:
            yield f"{label} | {i}", *numbers(one.explain(case.row(i)))
        many = one.explain_many(rows, one.outputs[-1], progress=False)
        yield f"{label} | many", (), of_many(many)
        yield f"{label} | unseen", *numbers(one.explain(unseen(case)))
        yield f"{label} | cost", (one.cost.rows, one.cost.calls), ()
    if len(made.outputs) > 1:
        many = made.explain_many(rows, tuple(made.outputs[:2]), progress=False)
        yield f"a pair | {name} | many", (), of_many(many)


def explainer_of(case: Case, **options: Any) -> eagle.Explainer:
    return tables.explainer_of(case.model, case.data, **case.options, **options)


def things(case: Case, places: Sequence[int]) -> Any:
    """Several things of a case, as `explain_many` takes them."""
    rows = [case.row(i) for i in places]
    if case.things is not None:
        return rows if isinstance(rows[0], str | dict) else np.stack(rows)
    if isinstance(case.data, pd.DataFrame):
        return pd.concat(rows)
    return case.data[list(places)]


def unseen(case: Case) -> Any:
    """A row with values that the data never had."""
    row = case.row(5)
    if not isinstance(row, pd.DataFrame):
        return row * 1000
    return row.assign(
        **{
            column: value
            for column, value in (("city", "Wien"), ("visits", 99), ("lat", 12.5))
            if column in row
        }
    )


def twisted(model: Any) -> Any:
    """Another model of the same kind."""

    def other(table: Any) -> Any:
        answers = np.asarray(model(table))
        return (
            answers[:, ::-1] ** 2 / (answers**2).sum(axis=1, keepdims=True)
            if (answers.ndim == 2)
            else 2 * answers + np.abs(answers)
        )

    return other


def numbers(e: eagle.Explanation) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What was asked and answered, and what was made of it."""
    rows = e.evidence
    asked = (rows.points, rows.features, rows.weight, rows.repeats, rows.answers)
    frame = e.to_frame().select_dtypes("number").to_numpy()  # with intervals, P(sign)
    return asked, (e.scores, frame, e.intercept, e.local_prediction, e.r2, e.r2_held_out)


def of_many(many: eagle.Explanations) -> tuple[Any, ...]:
    """The numbers of many explanations, and of what is said of all and of groups."""
    summary = many.summary().select_dtypes("number").to_numpy()
    groups = many.compare_groups(np.arange(len(many)) % 3)
    return (
        many.scores,
        many.interval(),
        many.predictions,
        summary,
        groups.select_dtypes("number").to_numpy(),
    )


def fingerprints(parts: Sequence[str]) -> dict[str, list[str]]:
    """Of each name: a digest of what was asked and answered, and of what was made of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            f"{part}: {name}": [_digest(asked), _digest(made)]
            for part in parts
            for name, asked, made in PARTS[part]()
        }


def _digest(numbers: tuple[Any, ...]) -> str:
    digest = hashlib.sha256()
    for one in numbers:
        array = np.ascontiguousarray(one, dtype=np.float64)
        digest.update(str(array.shape).encode() + array.tobytes())
    return digest.hexdigest()[:16]


def main() -> None:
    """Write the file, or compare with it."""
    path, parts = Path(sys.argv[1]), sys.argv[2:] or list(PARTS)
    now = fingerprints(parts)
    if not path.exists():
        path.write_text(json.dumps(now, indent=1) + "\n")
        print(f"{len(now)} fingerprints are in {path}")
        return
    every: dict[str, list[str]] = json.loads(path.read_text())
    before = {name: one for name, one in every.items() if name.partition(":")[0] in parts}
    differ = [name for name in before if now.get(name, before[name]) != before[name]]
    gone, new = len(before.keys() - now.keys()), len(now.keys() - before.keys())
    for name in differ:
        part = "asked" if before[name][0] != now[name][0] else "made of the same answers"
        print(f"differs in what was {part}: {name}")
    print(f"{len(before) - len(differ) - gone} equal, {len(differ)} differ, {gone} gone, {new} new")
    raise SystemExit(bool(differ or gone))


if __name__ == "__main__":
    main()
