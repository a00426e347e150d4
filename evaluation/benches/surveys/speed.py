"""How fast a survey explains, and how much memory it takes, on one thread."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import eagle
from eagle._values.packages import one_thread, shap
from eagle.surrogates.reweighted import Buffers
from eagle.survey.survey import Survey
from evaluation.benches.surveys.cases import slopes
from evaluation.benches.surveys.levels import adult
from evaluation.benches.untouched import fitted

SURVEY: Final = 4096
BATCH: Final = 500
"""Rows of the bare call that times are compared with."""

SAYS: Final = f"""\
A forest of 100 trees on 5,000 rows of numbers, a survey of {SURVEY:,} rows, one thread. The unit is
one bare call of the forest with {BATCH} rows, timed in turns with what is compared with it; medians
of {{repeats}} turns. All seconds are those of one core (`time.process_time`), so that a busy
machine counts for little. *Scores alone*: weights, line and slopes of a row, without intervals.
*Complete*: `survey.explain_many`, given the predictions, with intervals, R² and all that an
explanation needs; no two rows have equal bins. *Plans of their own*: `explainer.explain_many`,
{BATCH} model rows for each row. `shap.TreeExplainer` reads the trees instead of asking the model,
and has no intervals.
"""

HEAD: Final = """\
| d | bare call | explained in that time: scores alone | complete | plans of their own | \
TreeExplainer |
|---|---|---|---|---|---|"""

TABLES: Final = ((1337, 13), (733, 73))
"""Rows and features of the tables of `TABLES_SAY`."""

TABLES_SAY: Final = f"""\
What is said of a table, beside *scores alone* of its rows, timed in turns; medians of {{repeats}}
turns. A survey of {SURVEY:,} rows of a network of five units; two groups of rows are compared.

| rows | d | scores alone | `explain_many` | `summary` | `compare` | `report`, with groups |
|---|---|---|---|---|---|---|"""

WHOLE: Final = """\
Adult, all {rows:,} rows of the file under a forest of 100 trees, its levels as they are, every row
about the class >50K. One bare call of {batch} rows takes {unit:.0f} ms here. Model rows of
explanations are supplements; plans of {batch} rows for each row would ask {plans:,}:

| step | seconds of one core | model rows |
|---|---|---|
| the survey | {asked:.1f} | {billed:,} |
| predictions of all rows | {predicted:.1f} | {rows:,} |
| explanations with intervals, {patterns:,} different ones | {explained:.1f} | {more:,} |
| `summary()` | {told:.1f} | 0 |"""


def show(repeats: int, rows: int, memory: int, table: int | None) -> None:
    """Print speeds, memory, and what a whole table takes."""
    print(SAYS.format(repeats=repeats))
    print(HEAD)
    for d in (10, 30):
        print(_speeds(*_forest(d), repeats, rows), flush=True)
    print(f"\n{TABLES_SAY.format(repeats=repeats)}")
    for count, d in TABLES:
        print(_table(min(count, 5 * rows), d, repeats), flush=True)
    print("\nMemory of `explain_many` at d = 10, beyond what it returns:\n")
    print("| rows | at most, while it works (MiB) | returned (MiB) |\n|---|---|---|")
    forest, X = _forest(10)
    for count in (memory, 8 * memory):
        print(f"| {count:,} | {_memory(forest, X, count)} |", flush=True)
    print()
    whole(table)


def _forest(d: int) -> tuple[Any, Any]:
    X, y = make_classification(
        5000, d, n_informative=d // 2, n_redundant=d // 5, flip_y=0.15, random_state=0
    )
    return RandomForestClassifier(100, n_jobs=1, random_state=0).fit(X, y), X


def _turns(bare: Callable[[], Any], ours: Callable[[], Any], count: int, repeats: int) -> float:
    """How many of our explanations, `count` in a turn, take as long as a bare call."""
    return float(np.median([count * seconds(bare) / seconds(ours) for _ in range(repeats)]))


def _speeds(forest: Any, X: Any, repeats: int, rows: int) -> str:
    explainer = eagle.Explainer(forest, X)
    survey = explainer.survey(SURVEY, progress=False)
    some = _distinct(survey, X)[:rows]
    batch = X[np.random.default_rng(0).integers(0, len(X), BATCH)]
    predictions = forest.predict_proba(some)

    def bare() -> Any:
        return forest.predict_proba(batch)

    def complete() -> Any:
        return survey.explain_many(some, 1, predictions=predictions, progress=False)

    def alone() -> Any:
        many, buffers = survey.instances(some), Buffers()
        y = many.about(1)
        for states in many.states:
            slopes(*survey.weights.of(states, (), buffers), y, buffers)

    def plans() -> Any:
        return explainer.explain_many(some[:20], 1, progress=False)

    complete()  # what a survey works out once, its evenness, is there now
    cells = [
        f"{1e3 * float(np.median([seconds(bare) for _ in range(repeats)])):.0f} ms",
        f"{_turns(bare, alone, len(some), repeats):.0f}",
        f"{_turns(bare, complete, len(some), repeats):.1f}",
        f"{_turns(bare, plans, 20, repeats):.2f}",
        _trees(forest, some[:20], bare, repeats),
    ]
    return f"| {X.shape[1]} | {' | '.join(cells)} |"


def _table(rows: int, d: int, repeats: int) -> str:
    """How many times as long as scores alone it takes to explain a table, and to sum it up."""
    rng = np.random.default_rng(0)
    X, units = rng.normal(size=(rows, d)), rng.normal(size=(d, 5)) / np.sqrt(d)
    explainer = eagle.Explainer(lambda Z: np.tanh(Z @ units).sum(axis=1), X, task="regression")
    survey = explainer.survey(SURVEY, progress=False)
    groups = np.where(X[:, 0] > 0, "more", "less")

    def alone() -> Any:
        many, buffers = survey.instances(X), Buffers()
        y = many.about("prediction")
        for states in many.states:
            slopes(*survey.weights.of(states, (), buffers), y, buffers)

    def explained() -> eagle.Explanations:
        return survey.explain_many(X, "prediction", ask=False, progress=False)

    many = explained()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        works: tuple[Callable[[], Any], ...] = (
            explained,
            many.summary,
            lambda: many.compare_groups(groups),
            lambda: eagle.report(many, path, groups=groups, progress=False),
        )
        with one_thread():
            cells = [
                f"{np.median([seconds(work) / seconds(alone) for _ in range(repeats)]):.2f}"
                for work in works
            ]
            unit = f"{seconds(alone):.2f} s"
    return f"| {rows:,} | {d} | {unit} | {' | '.join(cells)} |"


def _distinct(survey: Survey, X: Any) -> Any:
    """The rows that no earlier one has the bins of."""
    states = survey.instances(X).states
    return X[np.sort(np.unique(states, axis=0, return_index=True)[1])]


def _trees(forest: Any, rows: Any, bare: Callable[[], Any], repeats: int) -> str:
    reader = shap("the bench of surveys").TreeExplainer(forest)
    return f"{_turns(bare, lambda: reader.shap_values(rows), len(rows), repeats):.2f}"


def _memory(forest: Any, X: Any, rows: int) -> str:
    survey = eagle.Explainer(forest, X).survey(SURVEY, progress=False)
    some = np.resize(X, (rows, X.shape[1]))
    predictions = forest.predict_proba(some)
    survey.explain_many(some[:10], 1, predictions=predictions[:10], progress=False)
    tracemalloc.start()
    kept = survey.explain_many(some, 1, predictions=predictions, progress=False)
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept) == rows
    return f"{(peak - now) / 2**20:.1f} | {now / 2**20:.1f}"


def whole(rows: int | None) -> None:
    """A whole table from one survey: Adult, its levels as they are."""
    table, labels = adult()
    forest = fitted("forest", table, labels)
    batch = table.iloc[:BATCH]
    unit = float(np.median([seconds(lambda: forest.predict_proba(batch)) for _ in range(9)]))
    some = table.iloc[:rows]
    explainer = eagle.Explainer(forest, eagle.Table(table, view="binned"))
    asked, survey = _timed(lambda: explainer.survey(SURVEY, progress=False))
    billed = survey.cost.rows
    predicted, own = _timed(lambda: forest.predict_proba(some))
    explained, every = _timed(
        lambda: survey.explain_many(some, ">50K", predictions=own, progress=False)
    )
    figures = {
        "rows": len(some),
        "batch": BATCH,
        "unit": 1e3 * unit,
        "plans": BATCH * len(some),
        "asked": asked,
        "billed": billed,
        "predicted": predicted,
        "patterns": len(np.unique(survey.instances(some).states, axis=0)),
        "explained": explained,
        "more": survey.cost.rows - billed,
        "told": seconds(every.summary),
    }
    print(WHOLE.format(**figures), flush=True)


def _timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    out = function()
    return time.process_time() - start, out


def seconds(function: Callable[[], Any]) -> float:
    """The seconds of one core that a call takes."""
    return _timed(function)[0]
