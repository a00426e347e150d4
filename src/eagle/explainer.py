"""The front door: a model and its data in, explanations out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, final

import numpy as np

from eagle import methods
from eagle._engine import estimate, pipeline
from eagle._engine.pipeline import PlacedExplanations, Request, Show
from eagle._engine.plan import Plan
from eagle._engine.progress import Progress, Watching
from eagle._engine.setup import AnyMethod, Setup
from eagle._engine.targets import Target, refuse_target
from eagle._sources.tables import source
from eagle._values.arrays import Array
from eagle._values.checks import check_flags, check_function
from eagle._values.link import Logit, link_of
from eagle._values.text import short
from eagle.contracts import NOTHING, Group, Kind
from eagle.cost import CostEstimate, check_price, check_seconds
from eagle.explanation import SHAPLEY, Explanation
from eagle.explanations import Explanations, Keep, row_ids
from eagle.limit import Limit, Meter, refuse_limit
from eagle.models.native import Task, native
from eagle.models.recording import box_of
from eagle.models.vision import refuse_bare
from eagle.shapley.survey import ShapleySurvey, survey_of
from eagle.survey import grow
from eagle.survey.plan import SurveyPlan, comparing, hint, setting
from eagle.survey.survey import Survey
from eagle.until import Rule, refuse_rule


@final
class Explainer:
    """Explains single predictions of any model on tables, images, texts or series.

    Examples:
        >>> explainer = eagle.Explainer(model, X)  # a model, and a table like its training data
        >>> explanation = explainer.explain(X[0])  # one row: print(explanation), explanation.scores
        >>> explanation.top(1)
        ['x1']
        >>> explanations = explainer.explain_many(X[:3])  # many rows, one model call

    `model` is a fitted estimator or any function of a table; None if it lives elsewhere, and
    only `plan` is wanted. `data` is a table like those the model was fitted on, or a `Table(...)`,
    which says how its columns move: view, categories, fixed columns, bounds, groups. It may be a
    `Background` made from a table. For images, texts and series it is `Images(...)`, `Texts(...)`
    or `Series(...)`, which say how they are taken apart.

    `task` and `outputs` (names of classes or targets) are read from the model if it knows them.
    With `link="logit"` probabilities are explained as log-odds, which have no ends: better where
    they are near 0 or 1. `batch_rows` is the most rows the model is asked in one call.

    `random_state` is the seed of all random numbers: a row's explanation is the same alone, in a
    batch, on another machine and tomorrow. None takes a seed from the system, once.
    """

    def __init__(
        self,
        model: Any,
        data: Any = None,
        *,
        method: AnyMethod | str = methods.DEFAULT,
        budget: int | None = None,
        random_state: int | None = 0,
        task: Task | None = None,
        outputs: Sequence[Hashable] | None = None,
        link: Logit | Literal["logit"] | None = None,
        batch_rows: int = 25_000,
    ) -> None:
        known, inner = box_of(model, task, outputs)
        things = source(native(inner, task, outputs), data)
        refuse_bare(inner, things.kind.asked)
        box = replace(known, asked=things.kind.asked, link=link_of(link, inner))
        if random_state is None:
            random_state = int(np.random.SeedSequence().generate_state(1)[0])
        self._setup = Setup.of(things, box, method, budget, random_state, batch_rows)
        self._seen: tuple[str, tuple[Any, ...]] | None = None

    @property
    def method(self) -> AnyMethod:
        """The method, or the choice of methods, that explains."""
        return self._setup.method

    @property
    def budget(self) -> int:
        """The rows that are asked for each instance, at most."""
        return self._setup.budget

    @property
    def seed(self) -> int:
        """The seed of all random numbers."""
        return self._setup.seed

    @property
    def batch_rows(self) -> int:
        """The most rows of one call."""
        return self._setup.batch_rows

    @property
    def view(self) -> str:
        """ "binned" or "continuous": whether features match or are offsets."""
        return self.kind.view

    @property
    def background(self) -> Any:
        """The summary of a table's data; None if there is none."""
        return self.kind.background

    @property
    def kind(self) -> Kind:
        """What is explained: rows of a table, images, texts or other things."""
        return self._setup.source.kind

    def with_options(
        self,
        method: AnyMethod | str | None = None,
        *,
        budget: int | None = None,
        random_state: int | None = None,
    ) -> Explainer:
        """An explainer of the same model and data by another method, or with another seed.

        Without a method it keeps its own, and its budget. Another method has its usual budget.
        """
        s = self._setup
        if method is None:
            method, budget = s.method, s.budget if budget is None else budget
        seed = s.seed if random_state is None else random_state
        return with_setup(self, Setup.of(s.source, s.box, method, budget, seed, s.batch_rows))

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(
                f"{name} of an explainer cannot be set: with_options(method, budget=…, "
                "random_state=…) makes another explainer, and all else is given where one is made"
            )
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows of the data, unless the method needs them."""
        bare = self._setup.source.without(self.method.needs)
        return {**self.__dict__, "_setup": replace(self._setup, source=bare)}

    # -- explaining -----------------------------------------------------------------------------

    def explain(
        self,
        x: Any,
        target: Target = None,
        *,
        until: Rule | None = None,
        limit: Limit | Meter | None = None,
        progress: bool = True,
        show: Show | None = None,
    ) -> Explanation:
        """Explain the prediction at x: a row, a dictionary, or a table of one row.

        `target` is the class or output to explain, or a pair: one against another. Without it,
        the predicted class, or the first output of a regression. With a rule such as
        `until=eagle.until.Width(0.02)`, rows are asked only until it is met, at most the budget.
        Nothing is asked that would cross the `limit`, such as `eagle.Limit(money=2,
        price_per_row=0.001)`: a plan that would is refused before, and what is asked in parts
        ends there. A model behind an endpoint is limited between its requests. With a rule, `show`
        is called whenever it looks: with the explanation from the answers so far, and a forecast
        of the total number of rows.
        """
        check_flags(progress=progress)
        if show is not None:
            check_function(show, "show")
        groups = pipeline.instances(self._setup, x, until, one=True)
        with Watching() as line:
            watch = line.look if progress else None
            request = Request(target, meter_of(limit), until, watch, show, steps=progress)
            ((_, explanation),) = self._explain(groups, request)
        return explanation

    def explain_each(
        self,
        X: Any,
        target: Target = None,
        *,
        until: Rule | None = None,
        limit: Limit | Meter | None = None,
    ) -> Iterator[Explanation]:
        """Explain many rows from shared model calls, each as soon as its answers are there.

        An exception that ends this early, also Ctrl-C, has the explanations that were not yet
        yielded because an earlier row was not finished: `finished`, and their places in `places`.
        """
        groups = pipeline.instances(self._setup, X, until)
        return pipeline.in_order(self._explain(groups, Request(target, meter_of(limit), until)))

    def explain_many(
        self,
        X: Any,
        target: Target = None,
        *,
        until: Rule | None = None,
        limit: Limit | None = None,
        progress: bool = True,
        evidence: bool | None = None,
    ) -> Explanations:
        """Explain many rows from shared model calls; with a rule, each until it is met.

        The result is a sequence of explanations, and one table. `evidence` says whether the rows
        that each was fitted to are kept, for `about`, `lack_of_fit` and warnings; by default they
        are, up to 256 MiB in all. Where many rows of a table are explained, `survey` costs less. A
        `limit` holds for all rows together: nothing is asked that would cross it.

        If the model fails, or Ctrl-C or anything else ends this early, the exception has all
        explanations made so far as `finished`, in order, and the places of their rows as `places`.
        """
        check_flags(progress=progress, evidence=evidence is not None and evidence)
        groups = pipeline.instances(self._setup, X, until)
        total = sum(len(group.instances) for group in groups)
        mention = hint(self.method, self.kind, total, total * self.budget)
        line = Progress("explained", total, silent=not progress, hint=mention)
        made = self._explain(groups, Request(target, meter_of(limit), until))
        return Explanations.of(pipeline.gather(made, Keep(evidence).of, line), row_ids(X, total))

    def plan(self, x: Any) -> Plan:
        """The rows that the model would be asked about x. Answer them anywhere, then `fit`."""
        (group,) = pipeline.instances(self._setup, x, one=True)
        return pipeline.plan_to_send(self._setup, group.instances)

    def predict(self, X: Any) -> Array:
        """The model's own answers about many rows, checked, shape (rows, outputs)."""
        groups = pipeline.instances(self._setup, X)
        answers = pipeline.predict(self._setup, groups)
        self._seen = self._setup.box.task_and_outputs(answers)
        return answers

    @property
    def has_model(self) -> bool:
        """Whether it has a model to ask."""
        return self._setup.box.function is not None

    @property
    def outputs(self) -> tuple[Any, ...] | None:
        """The names of the model's outputs; None if no answer has shown them yet."""
        return self._setup.box.outputs if self._seen is None else self._seen[1]

    @property
    def task(self) -> str | None:
        """ "classification" or "regression"; None if no answer has shown it yet."""
        return self._setup.box.task if self._seen is None else self._seen[0]

    # -- whole tables ---------------------------------------------------------------------------

    def survey(
        self,
        rows: int = 4096,
        *,
        until: Rule | None = None,
        sample: Any = None,
        target: Target = None,
        limit: Limit | None = None,
        progress: bool = True,
    ) -> Survey:
        """Ask `rows` rows once, and explain every row of the table from them.

        For the binned view of a table. With a rule such as `until=eagle.until.Top(3)` it asks at
        most `rows` rows, until 9 of 10 rows of the `sample`, a table, meet the rule about the
        target.
        A `limit` is on all that the survey will ever ask.
        """
        check_flags(progress=progress)
        refuse_rule(until, self.method.name, planned=True)
        if until is not None:
            grow.check_sample(sample)
            pipeline.check_target(self._setup, target)
        return grow.survey_of(
            lambda n: self.survey_plan(n, limit=limit), rows, until, sample, target, progress
        )

    def survey_plan(self, rows: int = 4096, *, limit: Limit | None = None) -> SurveyPlan:
        """What a survey would ask, before it is. Answer it anywhere, then `fit` it."""
        self._setup.box.refuse_limit(limit)
        box = replace(self._setup.box, partial=False)  # all rows of a survey need an answer
        return setting(replace(self._setup, box=box), limit).plan(rows)

    def shapley_survey(
        self,
        X: Any,
        *,
        budget: int = 64,
        background: Any = 100,
        limit: Limit | None = None,
        progress: bool = True,
    ) -> ShapleySurvey:
        """Ask what explains every row of X by values that add up to its prediction.

        For tables. Each row is asked `budget` model rows, an even number, mixed with rows of the
        `background`: so many rows drawn from the explainer's data, or a table. The base value is
        the mean answer of the background. Answers about all rows teach proxies of the model, so
        many rows are explained better than few; there must be at least 20. Where all coalitions of
        few features can meet all rows of a small background, they are asked, and values are exact.
        Nothing is asked that would cross the `limit`.
        """
        return survey_of(self._setup, X, budget, background, limit, progress)

    def shapley(
        self,
        X: Any,
        target: Target = None,
        *,
        budget: int = 64,
        background: Any = 100,
        limit: Limit | None = None,
        progress: bool = True,
    ) -> Explanations:
        """Explain every row of X by Shapley values: `shapley_survey`, and its `explain_many`.

        The result has the survey as `survey`, for other targets, later rows and other models.
        """
        refuse_target(SHAPLEY, NOTHING, target, self.outputs)
        survey = self.shapley_survey(
            X, budget=budget, background=background, limit=limit, progress=progress
        )
        return survey.explain_many(X, target, progress=progress)

    def estimate_cost(
        self,
        X: Any,
        *,
        one: bool = False,
        until: Rule | None = None,
        price_per_row: float | None = None,
        price_per_1000_tokens: float | None = None,
        seconds_per_call: float | None = None,
        probe: bool = False,
    ) -> CostEstimate:
        """What it would cost to explain X, before anything is asked.

        X is what `explain_many` takes; with `one`, what `explain` takes. The seconds are those of
        an endpoint's round trips so far, or `seconds_per_call`. With `probe` one row is asked to
        measure them, which is billed. Of a language model tokens are estimated, from the prompts
        that would be asked and from what its replies so far say.
        """
        check_price(price_per_row)
        check_price(price_per_1000_tokens)
        check_seconds(seconds_per_call)
        check_flags(one=one, probe=probe)
        return estimate.estimate_cost(
            self._setup,
            pipeline.instances(self._setup, X, until, one),
            until,
            price_per_row=price_per_row,
            price_per_1000_tokens=price_per_1000_tokens,
            seconds_per_call=seconds_per_call,
            probe=probe,
        )

    # -- as text --------------------------------------------------------------------------------

    def describe(self) -> str:
        """How the model and the data were understood: lines of text."""
        name = self.method.describe(self.kind, self.budget)
        method = f"Method: {name}, up to {self.budget} rows, seed {self.seed}"
        lines = [*self._setup.box.describe(*(self._seen or (None, None))), method]
        lines += self._setup.source.describe()
        lines += comparing(self._setup.source, self.method) if self.has_model else []
        return "\n".join(short(line, 200) for line in lines)

    def __repr__(self) -> str:
        return short(
            f"<Explainer of {self._setup.box.calls_it} by {self.method.name}, {self.view}>", 200
        )

    def _repr_html_(self) -> str:
        from eagle.display import lines

        return lines.html(repr(self)[1:-1], self.describe().split("\n"))

    # -- inside ---------------------------------------------------------------------------------

    def _explain(self, groups: Sequence[Group], request: Request) -> PlacedExplanations:
        """Explanations, unless they are known to cross the limit."""
        pipeline.check_target(self._setup, request.target)
        limit = request.meter.limit
        if limit is not None:
            self._setup.box.refuse_limit(limit)
            if request.until is None:
                estimate.refuse_over(request.meter, self._setup, groups)
        return self._noting(pipeline.explain(self._setup, groups, request))

    def _noting(self, made: PlacedExplanations) -> PlacedExplanations:
        """The same explanations. What they show of the model's outputs is remembered."""
        for place, explanation in made:
            self._seen = explanation.task, explanation.outputs
            yield place, explanation


def setup_of(explainer: Explainer) -> Setup:
    """What an explainer works with, for what is built on explainers."""
    return explainer._setup


def with_setup(explainer: Explainer, setup: Setup) -> Explainer:
    """An explainer with another setup, of a model that was seen to answer alike."""
    other = object.__new__(Explainer)
    other._setup, other._seen = setup, explainer._seen
    return other


def meter_of(limit: Limit | Meter | None) -> Meter:
    """The meter of a limit, or the one that is given, with all that was asked through it."""
    if isinstance(limit, Meter):
        return limit
    refuse_limit(limit)
    return Meter(limit)
