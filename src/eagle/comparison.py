"""Several methods on one prediction, each run several times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from eagle._engine import pipeline
from eagle._engine.method import Method
from eagle._engine.progress import Progress
from eagle._engine.setup import AnyMethod
from eagle._engine.targets import Target
from eagle._values.arrays import Array
from eagle._values.checks import check_flags, elements, integer
from eagle._values.packages import package
from eagle._values.posterior import LEVEL
from eagle._values.text import short_repr
from eagle._values.ties import rank
from eagle.cost import Cost, CostEstimate
from eagle.errors import InputError, LimitError
from eagle.explainer import Explainer, setup_of
from eagle.explanation import Explanation
from eagle.limit import Limit, Meter, refuse_limit
from eagle.metrics.stability import chance, jaccard
from eagle.metrics.truth import agreement

if TYPE_CHECKING:
    import pandas as pd


@final
@dataclass(frozen=True, eq=False)
class Compared:
    """The runs of one method on one prediction. They differ only in their seeds."""

    runs: tuple[Explanation, ...]
    k: int
    converged: Explanation | None = None

    def __post_init__(self) -> None:
        known = [*self.runs, *([] if self.converged is None else [self.converged])]
        if not self.runs or any(e.names != known[0].names for e in known):
            raise InputError("explanations of different features cannot be compared")

    @property
    def first(self) -> Explanation:
        return self.runs[0]

    @property
    def scores(self) -> Array:
        """The scores of all runs, shape (runs, d), as the metrics take them."""
        return np.array([e.scores for e in self.runs])

    @property
    def method(self) -> str:
        return self.first.method

    @property
    def rows(self) -> float:
        """The mean number of rows that a run asked."""
        return float(np.mean([e.cost.rows for e in self.runs]))

    @property
    def calls(self) -> float:
        return float(np.mean([e.cost.calls for e in self.runs]))

    @property
    def seconds(self) -> float:
        """The median run's seconds, in the model and outside it."""
        return float(np.median([e.cost.model_seconds + e.cost.own_seconds for e in self.runs]))

    @property
    def stability(self) -> float:
        """The mean overlap of the k strongest features between runs; NaN for a single run."""
        return jaccard(self.scores, self.k) if len(self.runs) > 1 else float("nan")

    @property
    def agreement(self) -> float:
        """The same overlap with the converged explanation; NaN without one."""
        if self.converged is None:
            return float("nan")
        return agreement(self.scores, self.converged.scores, self.k)


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """Several methods on one prediction. `converged` is LIME's explanation from many rows."""

    methods: tuple[Compared, ...]
    k: int
    converged: Explanation | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.methods[0].first.names

    @property
    def labels(self) -> tuple[str, ...]:
        """The features as they are shown: as `Explanation.labels`, where all methods agree."""
        every = zip(self.names, *(m.first.labels for m in self.methods), strict=True)
        return tuple(label if set(more) <= {label} else name for name, label, *more in every)

    @property
    def chance(self) -> float:
        """The stability of features drawn at random."""
        return chance(len(self.names), self.k)

    def summary(self) -> pd.DataFrame:
        """One row for each method: its cost and its stability."""
        return _pandas().DataFrame(
            {
                "method": [m.method for m in self.methods],
                "rows": [m.rows for m in self.methods],
                "calls": [m.calls for m in self.methods],
                "seconds": [m.seconds for m in self.methods],
                "stability": [m.stability for m in self.methods],
                "chance": self.chance,
                "agreement": [m.agreement for m in self.methods],
                "signed": [m.first.signed for m in self.methods],
            }
        )

    def to_frame(self, level: float = LEVEL) -> pd.DataFrame:
        """A tidy table: one row for each method, run and feature."""
        pd = _pandas()
        frames = []
        for m in self.methods:
            for run, e in enumerate(m.runs):
                frame = e.to_frame(level)
                frame.insert(0, "run", run)
                frame.insert(0, "method", m.method)
                frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def order(self) -> list[int]:
        """The features, strongest first.

        Each method adds the size of its score, divided by its largest.
        """
        share = np.zeros(len(self.names))
        for m in self.methods:
            size = np.abs(m.first.scores)
            share += size / (size.max() or 1.0)
        return [int(j) for j in rank(share)]

    def __repr__(self) -> str:
        count, runs = len(self.methods), len(self.methods[0].runs)
        return (
            f"<Comparison of {count} method{'s' if count > 1 else ''}, "
            f"{runs} run{'s' if runs > 1 else ''}>"
        )

    def __str__(self) -> str:
        from eagle.display import text

        return text.comparison(self)

    def _repr_html_(self) -> str:
        from eagle.display import html

        return html.comparison(self)

    @property
    def title(self) -> str:
        """What is explained, as a question."""
        from eagle.display import tables

        return tables.title(self)

    @property
    def notes(self) -> list[str]:
        """Sentences that explain the tables."""
        from eagle.display import tables

        return tables.notes(self)


def compare_methods(
    explainer: Explainer,
    methods: Iterable[AnyMethod | str] | AnyMethod | str,
    x: Any,
    runs: int = 5,
    *,
    k: int = 5,
    equal: bool = True,
    converged: int | None = None,
    target: Target = None,
    limit: Limit | None = None,
    progress: bool = True,
) -> Comparison:
    """Explain x by several methods, each `runs` times with seeds of its own.

    Examples:
        >>> explainer = eagle.Explainer(model, X)
        >>> comparison = eagle.compare_methods(explainer, ["eagle", "lime"], X[0], runs=2)
        >>> [one.first.top(1) for one in comparison.methods]  # print(comparison) shows it all
        [['x1'], ['x1']]

    A method is a value or a name. Each has the explainer's budget; one whose own budget is below
    the usual one, such as UnRAvEL, has at most that. With `equal=False` each has its own budget.
    `converged` is a number of further rows: LIME explains x from them, and each method is compared
    with the result. A method that does not fit is refused before anything is asked. A `limit` holds
    for all of them together: nothing is asked that would cross it. Any exception carries the
    explanations made so far as `finished`, the converged one first.
    """
    runs, k = integer(runs, "runs", 1), integer(k, "k", 1)
    check_flags(progress=progress)
    every_one = _explainers(explainer, methods, runs, equal, converged)
    for one in {(id(one.method), one.budget): one for one in reversed(every_one)}.values():
        pipeline.check(setup_of(one), x, target)  # seeds do not matter here
    refuse_limit(limit)
    meter = Meter(limit)
    if limit is not None:
        costs = [
            q.cost for q in (one.estimate_cost(x, one=True) for one in every_one) if not q.at_most
        ]
        why = limit.over_limit(sum(costs, Cost()))
        if why is not None:
            raise LimitError(f"{why}, so nothing was asked: compare less, or give smaller budgets")
    line = Progress("explained", len(every_one), silent=not progress)
    made: list[Explanation] = []
    try:
        for one in every_one:
            made.append(one.explain(x, target, limit=meter))
            target = made[-1].target  # all explain the output that the first explains
            line.step()
    except BaseException as error:
        pipeline.keep(error, dict(enumerate(made)))
        raise
    finally:
        line.close()
    return comparison_of(made, runs, k, converged is not None)


def comparison_of(made: Sequence[Explanation], runs: int, k: int, converged: bool) -> Comparison:
    """The comparison of explanations in the order in which they are made, also if the last are
    lacking: the converged one first, if there is one, then the runs of each method."""
    truth = made[0] if converged else None
    rest = made[converged:]
    each = [tuple(rest[i : i + runs]) for i in range(0, len(rest), runs)]
    return Comparison(tuple(Compared(some, k, truth) for some in each), k, truth)


def estimate_cost(
    explainer: Explainer,
    methods: Iterable[AnyMethod | str] | AnyMethod | str,
    x: Any,
    runs: int = 5,
    *,
    equal: bool = True,
    converged: int | None = None,
    price_per_row: float | None = None,
    price_per_1000_tokens: float | None = None,
    seconds_per_call: float | None = None,
) -> CostEstimate:
    """What `compare_methods` would cost, before anything is asked."""
    every_one = _explainers(explainer, methods, integer(runs, "runs", 1), equal, converged)
    first, *others = (
        one.estimate_cost(
            x,
            one=True,
            price_per_row=price_per_row,
            price_per_1000_tokens=price_per_1000_tokens,
            seconds_per_call=seconds_per_call,
        )
        for one in every_one
    )
    return sum(others, first)


def _explainers(
    explainer: Explainer,
    methods: Iterable[AnyMethod | str] | AnyMethod | str,
    runs: int,
    equal: bool,
    converged: int | None,
) -> list[Explainer]:
    """One for each explanation of a comparison, in their order: the converged one is first."""
    check_flags(equal=equal)
    if not isinstance(explainer, Explainer):
        raise InputError(
            "the explainer comes first, then the methods: eagle.compare_methods(explainer, "
            f"['eagle', 'lime'], x), not {short_repr(explainer)}"
        )
    several = "methods, such as ['eagle', 'lime'],"
    alone = isinstance(methods, AnyMethod | str)
    chosen: list[Any] = [methods] if alone else elements(methods, several)
    if not chosen:
        raise InputError("there are no methods to compare: give some, such as ['eagle', 'lime']")
    ready = [one for method in chosen for one in _runs(explainer, method, runs, equal)]
    if converged is None:
        return ready
    rows = integer(converged, "converged", 1)
    return [explainer.with_options("lime", budget=rows), *ready]


def _runs(explainer: Explainer, method: AnyMethod | str, runs: int, equal: bool) -> list[Explainer]:
    budget = explainer.budget if equal else None
    if budget is not None and isinstance(method, Method) and method.budget < Method.budget:
        budget = min(budget, method.budget)  # such a method would take hours with more rows
    seeds = [explainer.seed + run for run in range(runs)]
    if method is None:  # which `with_options` would take for the explainer's own
        raise InputError("a method is a value such as eagle.methods.EAGLE, not None")
    return [explainer.with_options(method, budget=budget, random_state=seed) for seed in seeds]


def _pandas() -> Any:
    return package("pandas", "a table of the comparison", "frames")
