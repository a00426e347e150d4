"""Whether plans and scores are the same as before: `python -m tools.fingerprints`.

Before a change that should move no number, write them down, and compare them afterwards:

    python -m tools.fingerprints before.json      # writes the file, if it is not there
    python -m tools.fingerprints before.json      # else it prints what differs

Every method of the tests' catalogue explains three things of every kind, one by one and together.
The default also explains until a rule is met, within limits, from plans that are answered later, by
surveys with supplements, their differences, groups of columns and log-odds, and as a whole file.
Each explanation has a fingerprint of what was asked and answered, and one of scores, intervals and
fit, both to the last bit. They belong to one machine: other processors and libraries round in other
ways.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

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


def everything() -> Fingerprints:
    """Each name with its numbers."""
    for name, e in explanations():
        yield name, *numbers(e)
    for case in ("numbers, binned", "mixed, binned", "dates and groups", "integers"):
        yield from survey(case, CASES[case])
    yield from whole_file()


def explanations() -> Iterator[tuple[str, eagle.Explanation]]:
    """Single explanations of the catalogue, and those that are made in other ways."""
    for name, method in (METHODS | CHOICES | FOREIGN).items():
        for place, case in CASES.items():
            if supports(method, case):
                yield from one_by_one(f"{name} | {place}", method, case)
                yield from together(f"{name} | {place}", method, case)
    for place, case in CASES.items():
        yield from in_parts(place, case)
        yield from planned(place, case)
    yield from of_probabilities()


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


def survey(name: str, case: Case) -> Fingerprints:
    """A survey, its supplements, one that grew, and the difference of two."""
    explainer = explainer_of(case, method=methods.DEFAULT)
    rows = things(case, range(40))
    made = explainer.survey(256, progress=False)
    grown = explainer.survey(1024, until=until.Top(1), sample=rows, progress=False)
    wide = made.grow(512, progress=False)
    other = explainer_of(replace(case, model=twisted(case.model))).survey(256, progress=False)
    ways = {"survey": made, "until": grown, "grown": wide, "difference": other - made}
    for way, one in ways.items():
        label = f"{way} | {name}"
        asked = one.drawn.values, one.answers
        yield label, asked, (one.weights.evenness.lengths,)
        for i in ROWS:
            yield f"{label} | {i}", *numbers(one.explain(case.row(i)))
        target = one.outputs[-1]
        many = one.explain_many(rows, target, progress=False)
        yield f"{label} | many", (), of_many(many)
        yield f"{label} | unseen", *numbers(one.explain(unseen(case)))


def whole_file() -> Fingerprints:
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
    """The numbers of many explanations, and of what is said of all."""
    summary = many.summary().select_dtypes("number").to_numpy()
    return many.scores, many.interval(), many.predictions, summary


def fingerprints() -> dict[str, list[str]]:
    """Of each name: a digest of what was asked and answered, and of what was made of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: [_digest(asked), _digest(made)] for name, asked, made in everything()}


def _digest(numbers: tuple[Any, ...]) -> str:
    digest = hashlib.sha256()
    for one in numbers:
        array = np.ascontiguousarray(one, dtype=np.float64)
        digest.update(str(array.shape).encode() + array.tobytes())
    return digest.hexdigest()[:16]


def main() -> None:
    """Write the file, or compare with it."""
    path, now = Path(sys.argv[1]), fingerprints()
    if not path.exists():
        path.write_text(json.dumps(now, indent=1) + "\n")
        print(f"{len(now)} fingerprints are in {path}")
        return
    before = json.loads(path.read_text())
    differ = [name for name in before if now.get(name, before[name]) != before[name]]
    gone, new = len(before.keys() - now.keys()), len(now.keys() - before.keys())
    for name in differ:
        part = "asked" if before[name][0] != now[name][0] else "made of the same answers"
        print(f"differs in what was {part}: {name}")
    print(f"{len(before) - len(differ) - gone} equal, {len(differ)} differ, {gone} gone, {new} new")
    raise SystemExit(bool(differ or gone))


if __name__ == "__main__":
    main()
