"""The front door: a model and its data in, explanations out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, final

import numpy as np

from eagle import methods
from eagle.engine import cost, run
from eagle.engine.plan import Plan
from eagle.engine.run import PlacedExplanations, Show
from eagle.engine.setup import AnyMethod, Setup
from eagle.explanation import Explanation
from eagle.explanations import Explanations, Keep, row_ids
from eagle.link import Logit, link_of
from eagle.models.native import Task, native
from eagle.models.recording import box_of
from eagle.models.vision import refuse_bare
from eagle.progress import Progress, Watching
from eagle.quote import Quote, check_price
from eagle.source.tables import ColumnBounds, Columns, Scales, TableView, source
from eagle.survey import grow, identity
from eagle.survey.plan import ModelAccess, SurveyPlan, hint, setting
from eagle.survey.survey import Survey
from eagle.table.groups import Groups
from eagle.targets import Target
from eagle.types import Array, InputError, Kind, Model, short
from eagle.until import Budget, Rule, refuse_limit, refuse_rule


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
    only `plan` is wanted. `data` is a table like those the model was fitted on, a `Background`
    made from one, or None if `scales` say how far each number may move. For images, texts
    and series it is `Images(...)`, `Texts(...)` or `Series(...)`, which say how they are taken
    apart; what follows, up to `task`, is for tables.

    `view` is "binned" (does the row keep the instance's quartile bin or level? the default) or
    "continuous" (how many standard deviations does it move?). `categories` names number columns
    that are levels, `freeze` columns never to be moved, `bounds` gives (low, high) of numbers.
    `groups` names columns that move together and have one score, such as one-hot blocks:
    {"colour": ["colour_red", "colour_blue"]}, a fitted OneHotEncoder, or "auto" to find one-hot
    blocks by their names; None takes none and `describe` says what looks like one, {} is silent.
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
        view: TableView | None = None,
        method: AnyMethod = methods.DEFAULT,
        budget: int | None = None,
        random_state: int | None = 0,
        task: Task | None = None,
        outputs: Sequence[Hashable] | None = None,
        names: Sequence[Hashable] | None = None,
        categories: Collection[Hashable] = (),
        freeze: Collection[Hashable] = (),
        bounds: ColumnBounds | None = None,
        scales: Scales | None = None,
        groups: Groups | Literal["auto"] | Any | None = None,
        link: Logit | Literal["logit"] | None = None,
        batch_rows: int = 25_000,
    ) -> None:
        columns = Columns(names, categories, freeze, bounds, scales, groups)
        known, inner = box_of(model, task, outputs)
        things = source(native(inner, task, outputs), data, view, columns)
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

    def identity(self) -> dict[str, Any]:
        """What decides its explanations besides the rows, as plain data.

        Model, method and sources other than tables are represented by a digest of their pickle. It
        is None if they cannot be pickled, or are pickled by their name alone, as functions are.
        """
        s = self._setup
        return identity.of_explainer(s.box, s.source, s.method, s.budget, s.seed)

    def using(
        self,
        method: AnyMethod | None = None,
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
        return self._with(Setup.of(s.source, s.box, method, budget, seed, s.batch_rows))

    def through(self, wrap: Callable[[Model], Model]) -> Explainer:
        """An explainer that asks its model through another function: to count, delay or refuse.

        `wrap(f)` gets the current model function and returns its replacement.
        """
        box = self._setup.box
        if box.function is None:
            return self
        return self._with(replace(self._setup, box=replace(box, function=wrap(box.function))))

    def _with(self, setup: Setup) -> Explainer:
        """An explainer with another setup, of a model that was seen to answer alike."""
        other = object.__new__(Explainer)
        other._setup, other._seen = setup, self._seen
        return other

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(
                f"{name} of an explainer cannot be set: using(method, budget=…, random_state=…) "
                "makes another explainer, and all else is given where one is made"
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
        limit: Budget | None = None,
        progress: bool = True,
        show: Show | None = None,
    ) -> Explanation:
        """Explain the prediction at x: a row, a dictionary, or a table of one row.

        `target` is the class or output to explain, or a pair: one against another. Without it,
        the predicted class, or the first output of a regression. With a rule such as
        `until=eagle.until.Width(0.02)`, rows are asked only until it is met, at most the budget.
        Nothing is asked that would cross the `limit`, such as `eagle.until.Budget(money=2,
        price_per_row=0.001)`: a plan that would is refused before, and what is asked in parts
        ends there. With a rule, `show` is called whenever it looks: with the explanation from the
        answers so far, and a forecast of the total number of rows.
        """
        explain = partial(self._setup.explain, [self._setup.one(x, until)], target, until)
        if until is None or not progress:
            return next(run.in_order(self._noting(explain(limit=limit, show=show))))
        with Watching() as line:
            made = explain(limit=limit, watch=line.look, show=show)
            return next(run.in_order(self._noting(made)))

    def check(self, x: Any, target: Target = None) -> None:
        """Raise the errors that `explain` would raise before it asks: for an x or a target that
        does not fit, or for a plan that the budget does not allow."""
        instances, how = self._setup.one(x).instances, self._setup.planning
        self._setup.check_target(target)
        space = instances.space(0)
        if how is not None and how.planned:
            how.planner(space).prepare([space])

    def explain_each(
        self,
        X: Any,
        target: Target = None,
        *,
        until: Rule | None = None,
        limit: Budget | None = None,
    ) -> Iterator[Explanation]:
        """Explain many rows from shared model calls, each as soon as its answers are there.

        An exception that ends this early, also Ctrl-C, has the explanations that were not yet
        yielded because an earlier row was not finished: `finished`, and their places in `places`.
        """
        made = self._setup.explain(self._setup.groups(X, until), target, until, limit)
        return run.in_order(self._noting(made))

    def explain_many(
        self,
        X: Any,
        target: Target = None,
        *,
        until: Rule | None = None,
        limit: Budget | None = None,
        progress: bool = True,
        evidence: bool | None = None,
    ) -> Explanations:
        """Explain many rows from shared model calls; with a rule, each until it is met.

        The result is a sequence of explanations, and one table. `evidence` says whether the rows
        that each was fitted to are kept, for `about`, `misfit` and warnings; by default they are,
        up to 256 MiB in all. Where many rows of a table are explained, `survey` costs less. A
        `limit` holds for all rows together: nothing is asked that would cross it.

        If the model fails, or Ctrl-C or anything else ends this early, the exception has all
        explanations made so far as `finished`, in order, and the places of their rows as `places`.
        """
        groups = self._setup.groups(X, until)
        total = sum(len(group.instances) for group in groups)
        mention = hint(self.method, self.kind, total, total * self.budget)
        line = Progress("explained", total, silent=not progress, hint=mention)
        made = self._noting(self._setup.explain(groups, target, until, limit))
        return Explanations.of(run.gathered(made, Keep(evidence).of, line), row_ids(X, total))

    __call__ = explain_many

    def plan(self, x: Any) -> Plan:
        """The rows that the model would be asked about x. Answer them anywhere, then `fit`."""
        instances, how = self._setup.one(x).instances, self._setup.planning
        if how is None:
            raise InputError(f"{self.method.name} asks the model itself: it has no plan")
        return how.planner(instances.space(0)).plan(instances, self._setup.box)

    def predict(self, X: Any) -> Array:
        """The model's own answers about many rows, checked, shape (rows, outputs)."""
        answers = run.predict(self._setup.box, self._setup.groups(X), self.batch_rows)
        self._seen = self._setup.box.understood(answers)
        return answers

    @property
    def asks(self) -> bool:
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
        limit: Budget | None = None,
        progress: bool = True,
    ) -> Survey:
        """Ask `rows` rows once, and explain every row of the table from them.

        For the binned view of a table. With a rule such as `until=eagle.until.Top(3)` it asks at
        most `rows` rows, until 9 of 10 rows of the `sample`, a table, meet the rule about the
        target.
        A `limit` is on all that the survey will ever ask.
        """
        refuse_limit(limit)
        refuse_rule(until, self.method.name, planned=True)
        if until is not None:
            grow.check_sample(sample)
            self._setup.check_target(target)
        plan = partial(self.survey_plan, limit=limit)
        return grow.survey_of(plan, rows, until, sample, target, progress)

    def survey_plan(self, rows: int = 4096, *, limit: Budget | None = None) -> SurveyPlan:
        """What a survey would ask, before it is: quote it, answer it anywhere, then `fit`."""
        ask = ModelAccess(replace(self._setup.box, partial=False), self.batch_rows, limit)
        return setting(self._setup.source, self.method, self.seed, ask).plan(rows)

    def quote(
        self,
        X: Any,
        *,
        one: bool = False,
        until: Rule | None = None,
        price_per_row: float | None = None,
        price_per_1000_tokens: float | None = None,
        seconds_per_call: float | None = None,
        probe: bool = False,
    ) -> Quote:
        """What it would cost to explain X, before anything is asked.

        X is what `explain_many` takes; with `one`, what `explain` takes. The seconds are those of
        an endpoint's round trips so far, or `seconds_per_call`. With `probe` one row is asked to
        measure them, which is billed. Of a language model tokens are estimated, from the prompts
        that would be asked and from what its replies so far say.
        """
        check_price(price_per_row)
        check_price(price_per_1000_tokens)
        return cost.quote(
            self._setup.planning,
            self._setup.box,
            [self._setup.one(X, until)] if one else self._setup.groups(X, until),
            self.batch_rows,
            self.budget,
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
        return "\n".join(short(line, 200) for line in lines + self._setup.source.describe())

    def __repr__(self) -> str:
        return short(
            f"<Explainer of {self._setup.box.calls_it} by {self.method.name}, {self.view}>", 200
        )

    def _repr_html_(self) -> str:
        from eagle.show import lines

        return lines.html(repr(self)[1:-1], self.describe().split("\n"))

    # -- inside ---------------------------------------------------------------------------------

    def _noting(self, made: PlacedExplanations) -> PlacedExplanations:
        """The same explanations. What they show of the model's outputs is remembered."""
        for place, explanation in made:
            self._seen = explanation.task, explanation.outputs
            yield place, explanation
