"""The front door: a model and its data in, explanations out."""

from __future__ import annotations

import time
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, final, get_args

import numpy as np

from eagle import foreign, methods
from eagle.explain import Method, Planner, Prepared, Watch, ask
from eagle.explanation import Bill, Explanation, short
from eagle.foreign import Foreign, Question
from eagle.models.box import Steady, Task, box
from eagle.plan import Plan
from eagle.progress import Progress, Watching
from eagle.space.arrays import ArrayFrame
from eagle.space.background import Background
from eagle.space.dataframes import PandasFrame
from eagle.space.frame import Frame
from eagle.space.image import Images
from eagle.space.neighbours import Neighbours, Rows
from eagle.space.read import frame
from eagle.space.tabular import Table
from eagle.space.text import Texts
from eagle.targets import Target, aimed_at, answers_of, refuse_pair, too_small
from eagle.types import Array, InputError, Instances, Need, told
from eagle.until import Rule

View: TypeAlias = Literal["binned", "continuous"]
Bounds: TypeAlias = Mapping[Any, tuple[float | None, float | None]]
CALL_BYTES: Final = 256 << 20
"""No call has more bytes of pictures than this."""

PLAN_BYTES: Final = 4 << 30
"""No plan, which is drawn as a whole, has more."""

Scales: TypeAlias = Mapping[Any, float] | Sequence[float] | float


@final
class Explainer:
    """Explains single predictions of any model on tables, pictures or texts.

    `model` is a fitted estimator or any function of a table; None if it lives elsewhere, and
    only `plan` is wanted. `data` is a table like those the model was fitted on, a `Background`
    made from one, or None if `scales` say how far each number may move. For pictures and texts it
    is `Images(...)` or `Texts(...)`, which say how they are taken apart; what follows, up to
    `task`, is for tables.

    `view` is "binned" (does the row keep the instance's quartile bin or level? the default) or
    "continuous" (how many standard deviations does it move?). `categories` names number columns
    that are levels, `freeze` columns never to be moved, `bounds` gives (low, high) of numbers.
    `task` and `outputs` (names of classes or targets) are read from the model if it knows them.
    `batch_rows` is the most rows the model is asked in one call.

    `random_state` alone decides all chance: a row's explanation is the same alone, in a batch,
    on another machine and tomorrow. None takes a seed once, from the system.
    """

    def __init__(
        self,
        model: Any,
        data: Any = None,
        *,
        view: View | None = None,
        method: Method | Foreign = methods.EAGLE_BALANCED,
        budget: int | None = None,
        random_state: int | None = 0,
        task: Task | None = None,
        outputs: Sequence[Hashable] | None = None,
        names: Sequence[Hashable] | None = None,
        categories: Collection[Hashable] = (),
        freeze: Collection[Hashable] = (),
        bounds: Bounds | None = None,
        scales: Scales | None = None,
        batch_rows: int = 25_000,
    ) -> None:
        if view is not None and not (isinstance(view, str) and view in get_args(View)):
            raise InputError(f"a view is 'binned' or 'continuous', not {told(view)}")
        self._box = box(model, task, outputs)
        self._model = model
        self._seen: tuple[str, tuple[Any, ...]] | None = None
        self.background: Background | None = None
        self._around: dict[str, Any] | None = None
        self._rows: Rows | None = None
        self._parts: Images | Texts | None = None
        if isinstance(data, Images | Texts):
            if view or _given(names, categories, freeze, bounds, scales):
                raise InputError("views, names, categories, bounds and the like are for tables")
            shifted = isinstance(data, Images) and data.shift is not None
            self._parts, view = data, "continuous" if shifted else "binned"
            thing = "picture" if isinstance(data, Images) else "text"
            self._box = replace(self._box, asked=thing)
        elif isinstance(data, Background):
            if _given(names, categories, freeze, bounds, scales):
                raise InputError(
                    "a Background has its names, categories, frozen columns, bounds and scales "
                    "already: give them where it is made"
                )
            fitted = fitted_on(model, data.template)
            self.background = data if fitted is data.template else data.fitted(fitted)
        elif data is not None:
            if scales is not None and not isinstance(scales, Mapping):
                raise InputError("with data, scales are given by column name, in a dictionary")
            table = fitted_on(model, frame(data, names))
            self.background = Background.of(
                table, categories=categories, freeze=freeze, bounds=bounds, scales=scales,
            )  # fmt: skip
            self._rows = Rows(table, self.background)
        elif scales is not None:
            if view == "binned" or _given(categories):
                raise InputError("without data there are no bins and no levels, only scales")
            view = "continuous"
            self._around = {"scales": scales, "names": names, "freeze": freeze, "bounds": bounds}
        else:
            raise InputError(
                "an explainer needs to know how features vary: give data like that the model was "
                "fitted on, or scales, a typical step for each feature"
            )
        if self.background is not None and view is None and not self.background.rows:
            view = "continuous"
        self.view: View = view or "binned"
        self.batch_rows = whole_number(batch_rows, "batch_rows", 1)
        if random_state is None:
            random_state = int(np.random.SeedSequence().generate_state(1)[0])
        self._take(method, budget, random_state)

    def _take(self, method: Method | Foreign, budget: int | None, seed: int) -> None:
        """Explain by this method from now on. One that cannot work here is refused."""
        if not isinstance(method, Method | Foreign):
            raise InputError(f"a method is a value such as eagle.methods.EAGLE, not {told(method)}")
        self.method = method
        self.seed = whole_number(seed, "random_state", 0)
        self._refuse()
        if Need.ROWS in method.needs and self._rows is not None:
            self._rows.kept()  # now, as they are
        self.budget = whole_number(method.budget if budget is None else budget, "budget", 1)
        self._planner = (
            Planner(method, self.budget, self.seed) if isinstance(method, Method) else None
        )

    def using(
        self,
        method: Method | Foreign,
        *,
        budget: int | None = None,
        random_state: int | None = None,
    ) -> Explainer:
        """An explainer of the same model and data by another method, or with another seed."""
        other = object.__new__(Explainer)
        other.__dict__.update(self.__dict__)
        other._take(method, budget, self.seed if random_state is None else random_state)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows of the data, unless the method needs them."""
        needed = Need.ROWS in self.method.needs
        return self.__dict__ if needed else {**self.__dict__, "_rows": None}

    def _refuse(self) -> None:
        """A method that cannot work here is refused now, before anything is asked."""
        needs, name, box = self.method.needs, self.method.name, self._box
        if Need.TABLE in needs and self._parts is not None:
            raise InputError(f"{name} needs {Need.TABLE.value}")
        if Need.ROWS in needs and self._rows is None:
            raise InputError(f"{name} needs {Need.ROWS.value}: give the data itself")
        if Need.MASKS in needs and (self._parts is None or self.view != "binned"):
            raise InputError(f"{name} needs {Need.MASKS.value}")
        if Need.MATCHES in needs and self.view != "binned":
            hint = "" if self._parts is not None else ": say view='binned'"
            raise InputError(f"{name} needs {Need.MATCHES.value}{hint}")
        if Need.OFFSETS in needs and self.view != "continuous":
            hint = "" if self._parts is not None else ": say view='continuous'"
            raise InputError(f"{name} needs {Need.OFFSETS.value}{hint}")
        if not needs & {Need.PROBABILITIES, Need.BINARY}:
            return
        wanted = Need.BINARY if Need.BINARY in needs else Need.PROBABILITIES
        if box.task == "regression" or box.margin:
            raise InputError(f"{name} needs {wanted.value}, which {box.calls_it} does not give")
        if box.task is None:
            raise InputError(
                f"{name} needs {wanted.value}: if that is what {box.calls_it} gives, say "
                "task='classification'"
            )
        if wanted is Need.BINARY and (box.outputs is None or len(box.outputs) != 2):
            count = "does not say how many it has" if box.outputs is None else (
                f"has {len(box.outputs)}"
            )  # fmt: skip
            raise InputError(
                f"{name} needs {wanted.value}, but {box.calls_it} {count}: give a function of one "
                "class against the rest, with outputs=('rest', 'class')"
            )

    # -- explaining -----------------------------------------------------------------------------

    def explain(
        self, x: Any, target: Target = None, *, until: Rule | None = None, progress: bool = True
    ) -> Explanation:
        """Explain the prediction at x: a row, a dictionary, or a table of one row.

        `target` is the class or output to explain, or a pair: one against another. Without it,
        the predicted class, or the first output of a regression. With a rule such as
        `until=eagle.until.Width(0.02)`, rows are asked only until it is met, at most the budget.
        """
        self._refuse_rule(until)
        line = Watching(silent=not progress or until is None)
        try:
            return next(self._each([self._one(x)], target, until, line.look))
        finally:
            line.close()

    def check(self, x: Any, target: Target = None) -> None:
        """Raise now what `explain` would refuse before it asks: an x or a target that does not
        fit, or a plan that the budget does not allow."""
        group = self._one(x)
        self._check_target(target)
        if self._planner is not None and self._planner.method.planned:
            self._planner.prepare([group.table.space(0)])

    def explain_each(
        self, X: Any, target: Target = None, *, until: Rule | None = None
    ) -> Iterator[Explanation]:
        """Explain many rows from shared model calls, each as soon as its answers are there.

        Whatever ends this early, Ctrl-C too, carries what is explained but was not yet handed out,
        since a row before it was still to come: `finished`, and their numbers in `places`.
        """
        self._refuse_rule(until)
        return self._each(self._groups(X), target, until)

    def explain_many(
        self, X: Any, target: Target = None, *, until: Rule | None = None, progress: bool = True
    ) -> list[Explanation]:
        """Explain many rows from shared model calls; with a rule, each until it is met.

        If the model fails on the way, or Ctrl-C or anything else ends it, the exception's
        `finished` holds all that is done, in order, and `places` the numbers of these rows.
        """
        self._refuse_rule(until)
        groups = self._groups(X)
        done: dict[int, Explanation] = {}
        total = sum(len(group.table) for group in groups)
        line = Progress("explained", total, silent=not progress)
        try:
            for i, explanation in self._made(groups, target, until):
                done[i] = explanation
                line.at(len(done))
        except BaseException as error:
            keep(error, done)
            raise
        finally:
            line.close()
        return [done[i] for i in sorted(done)]

    __call__ = explain_many

    def plan(self, x: Any) -> Plan:
        """What the model would be asked about x, before it is: answer it anywhere, then `fit`."""
        table = self._one(x).table
        if self._planner is None:
            raise InputError(f"{self.method.name} asks the model itself: it has no plan")
        prepared = self._planner.prepare([table.space(0)])[0]
        size = len(prepared.points) * getattr(table, "row_bytes", 0)
        if size > PLAN_BYTES:
            raise InputError(
                f"the {len(prepared.points)} {self._box.asked}s of this plan would take "
                f"{size / 2**30:.1f} GiB: use explain, which makes them as they are asked, or a "
                "smaller budget"
            )
        return replace(self._plan(table, 0, prepared), inputs=table.inputs([0], [prepared.points]))

    # -- in words -------------------------------------------------------------------------------

    def describe(self) -> str:
        """What was understood of the model and the data, in words, a line each."""
        return "\n".join(short(line, 200) for line in self._described())

    def _described(self) -> list[str]:
        b = self._box
        seen_task, seen_outputs = self._seen or (None, None)
        task = b.task or seen_task
        lines = [f"Model: {b.calls_it}", f"Task: {task or 'not known before the first answer'}"]
        if b.margin:
            lines.append("Answers: decision values, since the model gives no probabilities")
        outputs = b.outputs or seen_outputs
        if outputs is not None:
            shape = f"(n, {len(outputs)})"
            listed = ", ".join(map(str, outputs[:10])) + (" …" if len(outputs) > 10 else "")
            kind = "classes" if task == "classification" else "outputs"
            lines.append(f"Output: {shape}, {kind} {listed}")
        else:
            lines.append("Output: its shape is known after the first answer")
        lines.append(f"Method: {self.method.name}, up to {self.budget} rows, seed {self.seed}")
        if self._parts is not None:
            kind = "pictures, by segments" if isinstance(self._parts, Images) else "texts, by words"
            lines.append(f"Explains: {kind}")
            return lines
        if self.background is None:
            lines.append("Background: none, only scales; columns are read from each instance")
            return lines
        bg = self.background
        form = type(bg.template.native)
        lines.append(f"View: {self.view}")
        lines.append(
            f"Background: {bg.rows} rows of {len(bg.columns)} columns, asked as "
            f"{form.__module__.split('.')[0]}.{form.__qualname__}"
        )
        for j, column in enumerate(bg.columns):
            if column.frozen:
                what = "frozen"
            elif column.levels is not None:
                what = f"category of {len(column.levels)} levels"
            else:
                what = "whole number" if column.integer else "number"
            missing = column.shares[-1] if len(column.shares) else 0.0
            hole = f", {missing:.1%} missing" if missing else ""
            lines.append(f"  {column.name}: {bg.template.dtype(j)}, {what}{hole}")
        return lines

    def __repr__(self) -> str:
        return short(f"<Explainer of {self._box.calls_it} by {self.method.name}, {self.view}>", 200)

    # -- inside ---------------------------------------------------------------------------------

    def _one(self, x: Any) -> _Group:
        groups = self._groups(x, one=True)
        rows = sum(len(group.table) for group in groups)
        if rows != 1:
            raise InputError(f"explain takes one row, but {rows} came: use explain_many")
        return groups[0]

    def _groups(self, X: Any, one: bool = False) -> list[_Group]:
        """The rows, those apart that need a dtype of their own (a level nobody saw, a hole among
        whole numbers): they are asked apart, so that they never change what others are asked."""
        if self._parts is not None:
            parts: Sequence[Instances] = self._parts.groups(X, one, self.budget)
            ends = np.cumsum([len(p) for p in parts]).tolist()
            return [_Group(p, range(e - len(p), e)) for p, e in zip(parts, ends, strict=True)]
        if self.background is None:
            return self._around_each(X)
        # Other packages move values, not bins: values are what they explain.
        binned = self.view == "binned" and isinstance(self.method, Method)
        background = self.background
        rows = frame(X)
        if not len(rows):
            raise InputError("there are no rows to explain")
        adopted = background.adopt(rows)
        template = background.template
        if template.conforms(adopted):
            return [
                _Group(self._seen_from(Table(background, adopted, binned)), range(len(adopted)))
            ]
        apart: dict[Hashable, list[int]] = {}
        widened = [j for j in range(len(template.names)) if template.form(j) != adopted.form(j)]
        columns = [adopted.objects(j) for j in widened]
        for i, values in enumerate(zip(*columns, strict=True)):
            odd = tuple(template.misfit(j, v) for j, v in zip(widened, values, strict=True))
            apart.setdefault(odd, []).append(i)
        return [
            _Group(
                self._seen_from(Table(background, background.adopt(rows.take(part)), binned)), part
            )
            for part in apart.values()
        ]

    def _seen_from(self, table: Table) -> Instances:
        """The instances themselves, or, if the method needs these, among the background's rows."""
        if Need.ROWS not in self.method.needs or self._rows is None:
            return table
        return Neighbours(table, self._rows)

    def _around_each(self, X: Any) -> list[_Group]:
        """Without data each row is its own background."""
        assert self._around is not None
        rows = frame(X, self._around["names"])
        if isinstance(X, list | tuple) and rows.native.dtype.kind in "iu":
            rows = rows.wrap(rows.native.astype(np.float64))  # 1 in a list is a number like 1.0
        if not len(rows):
            raise InputError("there are no rows to explain")
        groups = []
        for i in range(len(rows)):
            row = fitted_on(self._model, rows.take([i]))
            ground = Background.around(row, **{**self._around, "names": None})
            groups.append(_Group(Table(ground, ground.adopt(row), binned=False), [i]))
        return groups

    def _plan(self, table: Instances, i: int, prepared: Prepared) -> Plan:
        assert isinstance(self.method, Method)
        return Plan(
            names=table.names(i),
            conditions=table.conditions(i),
            values=table.own(i),
            contrast=table.contrast(i),
            prepared=prepared,
            method=self.method.name,
            surrogate=self.method.surrogate,
            seed=self.seed,
            box=self._box,
            subject=table.subject(i),
        )

    def _check_target(self, target: Target) -> None:
        """Before anything is paid."""
        refuse_pair(self.method.name, self.method, target)
        if target is not None and self._box.outputs is not None:
            answers_of(np.zeros((1, len(self._box.outputs))), self._box.outputs, target)

    def _refuse_rule(self, until: Rule | None) -> None:
        if until is None:
            return
        if not isinstance(until, Rule):
            raise InputError(
                f"until is a rule such as eagle.until.Width(0.02), not {told(until)}; numbers of "
                "rows are eagle.until.Budget(rows=...)"
            )
        if not self.method.planned:
            raise InputError(
                f"{self.method.name} chooses rows by the answers to those before, so there is no "
                "plan to stop in: use a planned method, such as EAGLE"
            )

    def _each(
        self, groups: Sequence[_Group], target: Target, until: Rule | None = None,
        watch: Watch | None = None,
    ) -> Iterator[Explanation]:  # fmt: skip
        """Explanations in the order of the rows."""
        ready: dict[int, Explanation] = {}
        following = 0
        try:
            for i, explanation in self._made(groups, target, until, watch):
                ready[i] = explanation
                while following in ready:
                    yield ready.pop(following)
                    following += 1
        except GeneratorExit:
            raise
        except BaseException as error:
            keep(error, ready)
            raise

    def _made(
        self, groups: Sequence[_Group], target: Target, until: Rule | None = None,
        watch: Watch | None = None,
    ) -> Iterator[tuple[int, Explanation]]:  # fmt: skip
        """Explanations with the places of their rows. The few odd rows are asked first."""
        self._check_target(target)
        model = Steady(self._box)
        for group in sorted(groups, key=lambda group: len(group.table)):
            if self._planner is None:
                yield from self._foreign(group, target, model)
            else:
                yield from self._explained(group, self._planner, target, model, until, watch)

    def _foreign(
        self, group: _Group, target: Target, model: Steady
    ) -> Iterator[tuple[int, Explanation]]:
        """Another package explains one row after the other."""
        rows, method = group.table, self.method
        assert isinstance(rows, Neighbours)
        assert isinstance(method, Foreign)
        for i in range(len(rows)):
            question = Question(
                rows, i, self._box, model.ask, target, self.budget, self.seed, self.batch_rows
            )
            explanation = foreign.explain(method, question)
            self._seen = explanation.task, explanation.outputs
            yield group.places[i], explanation

    def _explained(
        self, group: _Group, planner: Planner, target: Target, model: Steady,
        until: Rule | None, watch: Watch | None,
    ) -> Iterator[tuple[int, Explanation]]:  # fmt: skip
        table = group.table

        def aim(answers: Array) -> Array:
            task, outputs = self._box.understood(answers)
            y = answers_of(answers, outputs, aimed_at(target, answers, task, outputs))
            # As flat ones, while larger answers may still come; in the end they are refused.
            return np.zeros_like(y) if too_small(y) else y

        most = min(self.batch_rows, max(1, CALL_BYTES // getattr(table, "row_bytes", 1)))
        for asked in ask(planner, table, model.ask, most, aim, until, watch):
            began = time.perf_counter()
            bill = Bill(
                len(asked.answers), asked.calls, asked.model_seconds, asked.own_seconds,
                asked.stopped,
            )  # fmt: skip
            plan = self._plan(table, asked.i, asked.prepared)
            explanation = plan.explain(asked.answers, target, bill)
            own = bill.own_seconds + time.perf_counter() - began
            explanation = replace(explanation, bill=replace(bill, own_seconds=own))
            self._seen = explanation.task, explanation.outputs
            yield group.places[asked.i], explanation


@final
@dataclass(frozen=True, eq=False)
class _Group:
    """Rows that are asked together, and their places among all rows."""

    table: Instances
    places: Sequence[int]


def _given(*options: Any) -> bool:
    """Whether one of several options was given, and is not empty."""
    return any(o is not None and not (hasattr(o, "__len__") and len(o) == 0) for o in options)


def keep(error: BaseException, made: Mapping[int, Explanation]) -> None:
    """Explanations by their places, on the exception that ends the making of others."""
    places = sorted(made)
    with suppress(Exception):  # another's exception may take no attributes
        vars(error).update(finished=[made[i] for i in places], places=places)


def whole_number(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {told(value)}")
    return int(value)


def fitted_on(model: Any, table: Frame) -> Frame:
    """The table in the form the model was fitted on: its columns, its order, its kind."""
    names = getattr(model, "feature_names_in_", None)
    if isinstance(names, str) or not np.iterable(names):
        names = None  # whatever this model means by it
    width = getattr(model, "n_features_in_", None)
    if names is not None:
        wanted = list(names)
        if table.named and not set(wanted) <= set(table.names):
            missing = [n for n in wanted if n not in table.names]
            raise InputError(
                f"the model was fitted on columns that data lacks: "
                f"{', '.join(repr(n) for n in missing[:10])}"
            )
        if table.named and wanted != table.names:
            return table.select([table.names.index(n) for n in wanted])
        if not table.named and isinstance(table, ArrayFrame) and len(wanted) == len(table.names):
            import pandas as pd  # the model has seen one, so it is there

            return PandasFrame(pd.DataFrame(table.native, columns=wanted))
    if isinstance(width, int | np.integer) and width != len(table.names):
        listed = ", ".join(map(str, table.names[:10])) + (", …" if len(table.names) > 10 else "")
        raise InputError(
            f"the model was fitted on {width} columns, but data has {len(table.names)}: {listed}. "
            "Drop what is not a feature, such as the label"
        )
    native = table.native
    if (
        names is None
        and width is not None
        and type(model).__module__.startswith("sklearn.")
        and isinstance(table, PandasFrame)
        and all(isinstance(t, np.dtype) and t.kind in "fiub" for t in native.dtypes)
    ):
        # Fitted on an array: asked with one, or it warns that names came.
        array = native.to_numpy(dtype=np.result_type(*native.dtypes))
        kinds = [t.kind for t in native.dtypes]
        whole, flags = ([j for j, k in enumerate(kinds) if k in some] for some in ("iu", "b"))
        return ArrayFrame(array, table.names, whole=whole, flags=flags)
    return table
