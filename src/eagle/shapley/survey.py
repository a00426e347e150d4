"""A survey of Shapley values: answers about rows of a table that explain all of them.

    survey = explainer.shapley_survey(X)
    survey.explain(x)
    survey.explain_many(X)

Each row is mixed with background rows, in pairs of a coalition and its mirror image. Every answer
teaches proxies of the model, whose Shapley values are known exactly, and says what the proxies
leave of its own row.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike
from typing import Any, Final, final

import numpy as np

from eagle._engine.metering import MeteredModel, keep_answers, sizes_of, unbroken
from eagle._engine.progress import Progress
from eagle._engine.setup import Setup
from eagle._sources.tables import Tables
from eagle._tables.background import Background
from eagle._values.arrays import Array
from eagle._values.checks import check_flags, integer
from eagle._values.difference import Difference, names_of, refuse_pair_of
from eagle._values.targets import Target, answers_of, explained_answers, resolve_target
from eagle._values.text import short_repr
from eagle.cost import Cost
from eagle.errors import InputError, OperandError
from eagle.explanation import SHAPLEY, Explanation
from eagle.explanations import Explanations
from eagle.io import container
from eagle.io.classes import CLASSES
from eagle.io.container import Key
from eagle.io.values import Saved
from eagle.limit import Limit, Meter, refuse_limit
from eagle.models.box import Box, box
from eagle.models.native import Task
from eagle.shapley import files
from eagle.shapley.answer import Asked, Fitted
from eagle.shapley.coalitions import MAX_EXACT_PLAYERS, Pairs, all_coalitions, draw_pairs
from eagle.shapley.exact import Enumerated
from eagle.shapley.many import ShapleyRows, explanations
from eagle.shapley.setting import Ground, Setting, TableRows, own_tables, read, setting_of
from eagle.survey.plan import BothModels, ModelSide, on_scale, some_rows, unit_of
from eagle.survey.survey import BATCH_ROWS, one_row

MAX_BUDGET: Final = 1 << 14

ROWS_ASKED_AGAIN: Final = 8
"""The number of rows that are asked again to tell whether a model is the one that answered."""

CLOSE: Final = 1e-6
"""The absolute and relative tolerance between answers of one model on two machines."""


@final
@dataclass(frozen=True, eq=False)
class ShapleySurvey(Saved):
    """Answers that explain every row of a table by values that add up to its prediction.

    Examples:
        >>> survey = eagle.Explainer(model, X).shapley_survey(X, budget=16)
        >>> explanation = survey.explain(X[0])
        >>> total = explanation.intercept + explanation.scores.sum()
        >>> bool(abs(total - explanation.prediction) < 1e-9)
        True

    `own`, shape (n, outputs), are the answers to the rows themselves, `behind` those to the
    background's, and `answers`, shape (n, k, outputs), those to the rows of each row's pairs, or of
    all coalitions with every background row where it is `exact`.

    What is fitted to an output is fitted once, when it is first explained, and kept in files:
    read again, a survey gives the same numbers. Rows that the survey
    lacks are explained, too: the model is asked for their predictions alone. The difference of two
    surveys of the same rows, `survey.requery(new_model) - survey`, explains what changed.
    """

    setting: Setting = field(repr=False)
    ground: Ground = field(repr=False)
    pairs: Pairs | None = field(repr=False)
    answers: Array = field(repr=False)
    own: Array = field(repr=False)
    behind: Array = field(repr=False)
    meter: Meter = field(repr=False)
    batches: int = 1
    note: str = ""
    difference: Difference | None = None
    fits: dict[Target, Fitted | Enumerated] = field(default_factory=dict, repr=False)

    # -- what it is -----------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.own)

    @property
    def exact(self) -> bool:
        """Whether all coalitions were asked, with every row of the background."""
        return self.pairs is None

    @property
    def budget(self) -> int:
        """How many model rows were asked for each row, beside the row itself."""
        return int(self.answers.shape[1])

    @property
    def rows(self) -> int:
        """How many model rows it rests on."""
        return len(self.own) * (self.budget + 1) + len(self.behind)

    @property
    def cost(self) -> Cost:
        """What was asked so far: rows, calls, the model's seconds, tokens."""
        return self.meter.cost

    @property
    def seed(self) -> int:
        return self.setting.seed

    @property
    def method(self) -> str:
        """The name of the method in explanations."""
        return SHAPLEY

    @cached_property
    def _task_and_outputs(self) -> tuple[Task, tuple[Any, ...]]:
        every = np.concatenate([self.own, self.behind])
        return self.setting.box.task_and_outputs(every)

    @property
    def task(self) -> Task:
        """ "classification" or "regression"."""
        return self._task_and_outputs[0]

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The names of the model's outputs."""
        return self._task_and_outputs[1]

    def __repr__(self) -> str:
        return (
            f"<ShapleySurvey of {self.setting.box.calls_it}: {len(self):,} rows of "
            f"{self.ground.players} features, {self.budget} model rows each, over "
            f"{len(self.behind):,} background rows>"
        )

    # -- explaining -----------------------------------------------------------------------------

    def explain(
        self, x: Any, target: Target = None, *, prediction: Any = None, ask: bool = True
    ) -> Explanation:
        """Explain one row. Of a row that the survey lacks the model is asked for its prediction.

        If you give the `prediction`, as the model would answer, nothing is asked. With `ask=False`
        nothing is either: then values do not add up to a prediction, which is not known, and
        intervals are wider.
        """
        check_flags(ask=ask)
        given = None if prediction is None else one_row(prediction)
        rows = self._rows(x, given, ask, Progress("asked", 0, silent=True), one=True)
        (aim,) = rows.targets(target)
        return rows.explanation(0, aim)

    def explain_many(
        self,
        X: Any,
        target: Target = None,
        *,
        predictions: Any = None,
        ask: bool = True,
        progress: bool = True,
    ) -> Explanations:
        """Explain all rows of a table. Of rows that the survey lacks predictions are asked.

        Without a `target` each row is explained about its predicted class, or about the first
        output. `predictions` and `ask` are as in `explain`.
        """
        check_flags(ask=ask, progress=progress)
        line = Progress("asked", 0, silent=not progress)
        with closing(line):
            rows = self._rows(X, predictions, ask, line)
        return explanations(rows, rows.targets(target), silent=not progress)

    def _rows(
        self, X: Any, given: Any, ask: bool, line: Progress, one: bool = False
    ) -> ShapleyRows:
        """Rows of a table as this survey sees them, with the model's answers to them."""
        rows = read(self.setting.source, X, self.ground.rows.levels, one)
        if one and len(rows) != 1:
            raise InputError(f"explain takes one row, but {len(rows)} came: use explain_many")
        places = np.array([self._places.get(row.tobytes(), -1) for row in _keys(rows.values)])
        own = np.full((len(rows), self.own.shape[1]), np.nan)
        known = places >= 0
        own[known] = self.own[places[known]]
        asked = np.zeros(len(rows), dtype=bool)
        if given is not None:
            read_box = replace(self.setting.box, task=self.task, outputs=self.outputs)
            own[~known] = read_box.read(given, len(rows))[~known]
        elif ask and not known.all() and self.setting.box.function is not None:
            asked = ~known
            own[asked] = self._predictions(rows, np.flatnonzero(asked), line)
        if self.exact and not known.all():
            raise InputError(
                f"{int((~known).sum()):,} of {len(rows):,} rows are not in this survey, which is "
                "exact and has learnt nothing about others: make a survey of these rows"
            )
        return ShapleyRows(self, rows, X, places, own, asked)

    def _predictions(self, rows: TableRows, which: Any, line: Progress) -> Array:
        wanted = set(which.tolist())
        parts = []
        for table, every in rows.parts:
            some = [i for i, place in enumerate(every) if place in wanted]
            if some:
                parts.append((np.array([every[i] for i in some]), table.rows.take(some)))
        out = np.empty((len(rows), self.own.shape[1]))
        with self.meter.turn:
            model = MeteredModel(self.setting.box, self.meter)
            for places, some_of in parts:
                answers = model.ask_rows(
                    len(some_of), partial(some_rows, some_of), self.setting.batch_rows, line
                )
                if answers.shape[1] != self.own.shape[1]:
                    raise InputError(
                        f"the model answers with {answers.shape[1]} outputs, but the survey was "
                        f"answered with {self.own.shape[1]}: it is another model"
                    )
                out[places] = answers
        return np.asarray(out[which])

    @cached_property
    def _places(self) -> dict[bytes, int]:
        """The place of each row of the survey; of equal rows the first."""
        out: dict[bytes, int] = {}
        for i, row in enumerate(_keys(self.ground.rows.values)):
            out.setdefault(row.tobytes(), i)
        return out

    def check_target(self, target: Target) -> None:
        """Refuse a target that the survey cannot explain."""
        if target is not None:
            answers_of(self.own[:1], self.outputs, target)
            refuse_pair_of(self.difference, target)

    def about(self, answers: Array, target: Target) -> Array:
        """The numbers that are explained, of answers of shape (…, outputs)."""
        flat = answers.reshape(-1, answers.shape[-1])
        out = explained_answers(flat, self.outputs, target, self.setting.box.link)
        return np.asarray(out.reshape(answers.shape[:-1]), dtype=np.float64)

    def fit(self, target: Target, step: Callable[[], None] | None = None) -> Fitted | Enumerated:
        """What is fitted to the answers about a target, once. `step` is called after each proxy."""
        with self.meter.turn:
            if target not in self.fits:
                self.fits[target] = self._fit(target, step)
            return self.fits[target]

    def _fit(self, target: Target, step: Callable[[], None] | None) -> Fitted | Enumerated:
        self.check_target(target)
        if self.pairs is not None:
            return Fitted.of(self._teachers(self.pairs, target), step)
        answers, own = self.about(self.answers, target), self.about(self.own, target)
        return Enumerated.of(self.ground.players, answers, own, self.about(self.behind, target))

    def _teachers(self, pairs: Pairs, target: Target) -> Asked:
        """What proxies are fitted to."""
        ground, answers = self.ground, self.about(self.answers, target)
        half = answers.shape[1] // 2
        return Asked(
            ground.columns(ground.rows.values),
            ground.columns(ground.background.values),
            ground.unchanged_players(ground.rows.values),
            ground.spread.layout,
            pairs,
            np.ascontiguousarray(answers[:, :half]),
            np.ascontiguousarray(answers[:, half:]),
            self.about(self.own, target),
            self.about(self.behind, target),
            self.seed,
        )

    # -- more answers ---------------------------------------------------------------------------

    def grow(self, budget: int, *, progress: bool = True) -> ShapleySurvey:
        """A survey of the same rows with `budget` model rows each, which begins with these.

        It is a new one: this one stays, and explains as it did.
        """
        if self.difference is not None:
            raise InputError("a difference cannot grow: grow both surveys, and subtract them then")
        if self.pairs is None:
            raise InputError("this survey is exact: there is nothing more to ask")
        if check_budget(budget) <= self.budget:
            raise InputError(
                f"the survey has {self.budget} model rows each already: ask for more than these"
            )
        check_flags(progress=progress)
        if self.setting.box.function is None:
            raise InputError(
                "a survey that was read from a file has no model: ShapleySurvey.load(path, model)"
            )
        if self.note:
            raise InputError(f"{self.note}: answers of two models are not mixed")
        more = draw_pairs(
            len(self),
            self.ground.players,
            (budget - self.budget) // 2,
            len(self.behind),
            self.seed,
            self.batches,
        )
        meter = Meter(self.meter.limit, self.cost)
        (answers,) = ask_parts(self.setting, meter, self.ground, [_both_ways(more)], progress)
        half, extra = self.budget // 2, answers.shape[1] // 2
        every = [
            self.answers[:, :half],
            answers[:, :extra],
            self.answers[:, half:],
            answers[:, extra:],
        ]
        return replace(
            self,
            pairs=self.pairs.and_more(more),
            answers=np.concatenate(every, axis=1),
            meter=meter,
            batches=self.batches + 1,
            fits={},
        )

    def requery(self, model: Any, *, progress: bool = True) -> ShapleySurvey:
        """The same rows, answered by another model with the same outputs."""
        if self.difference is not None:
            raise InputError("a difference is of two models: ask one of their surveys")
        check_flags(progress=progress)
        setting = replace(self.setting, box=self._box_of(model))
        return _ask(setting, self.ground, self.pairs, Meter(self.meter.limit), progress)

    def _box_of(self, model: Any) -> Box:
        """Another model in a box, whose outputs must be those of this survey."""
        before = self.setting.box
        own = box(model, before.task).outputs
        if own is not None and own != self.outputs:
            raise InputError(
                f"the model has the outputs {', '.join(map(str, own[:5]))}, and the survey "
                f"{', '.join(map(str, self.outputs[:5]))}: it answers another question"
            )
        other = box(model, before.task, self.outputs)
        return replace(other, link=before.link, asked=before.asked, partial=False)

    def __sub__(self, old: object) -> ShapleySurvey:
        """The survey of what changed from the other model to this one."""
        if not isinstance(old, ShapleySurvey):
            raise OperandError(
                "from a survey of Shapley values another one is subtracted, not "
                f"{short_repr(old)}: "
                "survey.requery(model) makes one"
            )
        return difference_of(self, old)

    # -- files ----------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str], *, key: Key = None) -> None:
        """Write the survey as JSON under a digest, or an HMAC with a `key`.

        The file has the rows that were explained and those of the background, as numbers and
        levels: it is as confidential as they are. It has no model and no code. What was fitted is
        in it; if nothing was, what explains each row without a `target` is fitted first.
        """
        files.check_kept(self.setting.source, self.ground)
        if not self.fits:
            for target in dict.fromkeys(self._targets):
                self.fit(target)
        container.write(path, container.dump("shapley survey", self, key=key))

    @property
    def _targets(self) -> list[Target]:
        """What is explained of each row if nothing else is said."""
        return [resolve_target(None, one[None], self.task, self.outputs) for one in self.own]

    @classmethod
    def load(
        cls, path: str | PathLike[str], model: Any = None, *, key: Key = None
    ) -> ShapleySurvey:
        """Read what `save` wrote. A `model`, if given, is asked about rows that came later.

        It is asked about eight of the rows again: the survey's `note`, which its explanations have,
        too, says if it is another model than the one that answered.
        """
        survey: ShapleySurvey = container.load(path, CLASSES, key, "shapley survey")
        return survey if model is None else survey._with_model(model)

    def _with_model(self, model: Any) -> ShapleySurvey:
        if self.difference is not None:
            raise InputError(
                f"this is a survey of the difference of two models, {self.difference}, which one "
                "model cannot answer: load the surveys of both, each with its model, and subtract "
                "them"
            )
        asked, (table, places) = self._box_of(model), self.ground.rows.parts[0]
        few = list(places)[:ROWS_ASKED_AGAIN]
        answers = asked.ask(table.rows.take(range(len(few))).native, len(few))
        self.meter.add(Cost(len(few), 1))
        known = self.own[few]
        same = answers.shape == known.shape and np.allclose(answers, known, CLOSE, CLOSE)
        said = (
            f"this survey was answered by another model than the {asked.calls_it} given: of its "
            f"rows {len(few)} were asked again, and answered otherwise"
        )
        note = "" if same else said
        return replace(self, setting=replace(self.setting, box=asked), note=note)

    def to_saved(self) -> dict[str, Any]:
        """What a file keeps: rows in codes, answers, what was fitted, and the model's name."""
        source, box_ = self.setting.source, self.setting.box
        fits = [
            (target, files.of_fit(fit))
            for target, fit in self.fits.items()
            if isinstance(fit, Fitted)
        ]
        return {
            "background": source.background,
            "view": source.view,
            "seed": self.seed,
            "box": (self.task, self.outputs, box_.margin, box_.link, box_.calls_it),
            "ground": files.of_ground(self.ground),
            "pairs": files.of_pairs(self.pairs),
            "answers": self.answers,
            "own": self.own,
            "behind": self.behind,
            "batches": self.batches,
            "cost": self.cost,
            "difference": self.difference,
            "fits": fits,
        }

    @classmethod
    def of_saved(
        cls,
        background: Background,
        view: Any,
        seed: int,
        box: tuple[Any, ...],
        ground: dict[str, Any],
        pairs: Any,
        answers: Array,
        own: Array,
        behind: Array,
        batches: int,
        cost: Cost,
        difference: Difference | None,
        fits: tuple[Any, ...],
    ) -> ShapleySurvey:
        """What `to_saved` gave: a survey without a model."""
        task, outputs, margin, link, name = box
        source = Tables(background, view)
        box_ = Box(None, name, task, outputs, margin, link=link)
        rows = files.to_ground(source, ground)
        n, b, d = len(rows.rows), len(rows.background), rows.players
        drawn = files.to_pairs(pairs, n, d, b)
        if drawn is None and d > MAX_EXACT_PLAYERS:
            raise ValueError("it has no coalitions")
        count = ((1 << d) - 2) * b if drawn is None else 2 * drawn.count
        shapes = [(n, count, len(outputs)), (n, len(outputs)), (b, len(outputs))]
        if [answers.shape, own.shape, behind.shape] != shapes:
            raise ValueError("its answers do not fit its rows")
        setting = Setting(source, box_, seed, BATCH_ROWS)
        meter = Meter(None, cost)
        made = cls(setting, rows, drawn, answers, own, behind, meter, batches, "", difference)
        if drawn is not None:
            for target, fit in fits:
                made.check_target(target)
                made.fits[target] = files.to_fit(made._teachers(drawn, target), fit)
        return made


def _keys(values: Array) -> Array:
    """Rows whose bytes are equal where the rows are."""
    return np.ascontiguousarray(np.where(np.isnan(values), np.inf, values) + 0.0)


def check_budget(budget: Any) -> int:
    """An even number of model rows for each row."""
    count = integer(budget, "budget", 4)
    if count % 2 or count > MAX_BUDGET:
        raise InputError(
            f"budget is an even number of model rows for each row, at most {MAX_BUDGET:,}, since "
            f"they are asked in pairs; not {count}"
        )
    return count


def survey_of(
    setup: Setup, X: Any, budget: Any, background: Any, limit: Limit | None, progress: bool
) -> ShapleySurvey:
    """Ask what a survey of the rows of a table needs."""
    count = check_budget(budget)
    check_flags(progress=progress)
    refuse_limit(limit)
    setup.box.refuse_limit(limit)
    setting, table = setting_of(setup, background)
    if setting.box.function is None:
        raise InputError("there is no model to ask here: a survey of Shapley values asks one")
    ground = Ground.of(setting, X, table)
    d, behind = ground.players, len(ground.background)
    pairs = None
    if d > MAX_EXACT_PLAYERS or ((1 << d) - 2) * behind > count:
        pairs = draw_pairs(len(ground.rows), d, count // 2, behind, setting.seed, 0)
    return _ask(setting, ground, pairs, Meter(limit), progress)


def _ask(
    setting: Setting, ground: Ground, pairs: Pairs | None, meter: Meter, progress: bool
) -> ShapleySurvey:
    """The survey, answered: first the rows themselves, then their mixtures."""
    mixtures = _everything(ground) if pairs is None else _both_ways(pairs)
    own, behind, answers = ask_parts(
        setting, meter, ground, [ground.rows, ground.background, mixtures], progress
    )
    return ShapleySurvey(setting, ground, pairs, answers, own, behind, meter)


def _both_ways(pairs: Pairs) -> Pairs:
    """The coalitions of pairs, and then their mirror images."""
    return Pairs(
        np.concatenate([pairs.own, ~pairs.own], axis=1),
        np.concatenate([pairs.other, pairs.other], axis=1),
    )


def _everything(ground: Ground) -> Pairs:
    """All coalitions of each row with every background row."""
    every, behind = all_coalitions(ground.players), len(ground.background)
    own, other = np.repeat(every, behind, axis=0), np.tile(np.arange(behind), len(every))
    n = len(ground.rows)
    return Pairs(np.broadcast_to(own, (n, *own.shape)), np.broadcast_to(other, (n, len(other))))


def ask_parts(
    setting: Setting,
    meter: Meter,
    ground: Ground,
    parts: list[TableRows | Pairs],
    progress: bool,
) -> list[Array]:
    """The answers to rows, shape (n, outputs), and to mixtures, shape (n, k, outputs).

    What would cross the limit is refused before anything is asked. An error that ends this early
    has the answers so far as `answers`.
    """
    model, most = MeteredModel(setting.box, meter), setting.batch_rows

    def tables() -> Any:
        for at, part in enumerate(parts):
            made = (
                own_tables(part, most)
                if isinstance(part, TableRows)
                else ground.tables(part.own, part.other, most)
            )
            for places, table, count in made:
                yield at, places, table, count

    sizes = [len(part) if isinstance(part, TableRows) else part.other.size for part in parts]
    total = sum(sizes)
    first = ground.rows.parts[0][0].rows
    refused = model.limit_error(
        [one for size in sizes for one in sizes_of(size, most)],
        lambda: first.take([0]).native,
        lambda: (table for _, _, table, _ in tables()),
    )
    if refused is not None:
        raise refused
    where = list[tuple[int, Any]]()

    def batches() -> Any:
        for at, places, table, count in tables():
            where.append((at, places))
            yield table, count

    line = Progress("asked", total, silent=not progress)
    with closing(line):
        answers, error = model.ask_all(batches(), line)
    if error is not None:
        keep_answers(error, [unbroken(one) for one in answers])
        raise error
    out = [np.empty((size, answers[0].shape[1])) for size in sizes]
    for (at, places), one in zip(where, answers, strict=True):
        out[at][places] = one
    return [
        one if isinstance(part, TableRows) else one.reshape(*part.other.shape, one.shape[1])
        for part, one in zip(parts, out, strict=True)
    ]


# -- two models ----------------------------------------------------------------------------------


def difference_of(new: ShapleySurvey, old: ShapleySurvey) -> ShapleySurvey:
    """A survey whose answers are those of the new one less those of the old one."""
    if new.difference is not None or old.difference is not None:
        raise OperandError("a difference of surveys is not subtracted again")
    alike = files.same_ground(new.ground, old.ground) and files.same_pairs(new.pairs, old.pairs)
    if not alike or new.seed != old.seed:
        raise OperandError(
            "surveys can be subtracted if they have the same rows: make the new one by "
            "survey.requery(model)"
        )
    if (new.task, new.outputs) != (old.task, old.outputs):
        raise OperandError("surveys can be subtracted if their models have the same outputs")
    one, other = new.setting.box, old.setting.box
    if one.link != other.link or one.margin != other.margin:
        raise OperandError(
            "surveys can be subtracted on one scale: both probabilities, both decision values, or "
            "both with the same link"
        )
    link = one.link
    what = Difference(
        *names_of(one.calls_it, other.calls_it), unit_of(new.setting.box, new.task), link=link
    )
    both = BothModels((ModelSide.of(new), ModelSide.of(old)))
    apart = Box(both, str(what), "regression", new.outputs)
    return ShapleySurvey(
        replace(new.setting, box=apart),
        new.ground,
        new.pairs,
        on_scale(new.answers, link) - on_scale(old.answers, link),
        on_scale(new.own, link) - on_scale(old.own, link),
        on_scale(new.behind, link) - on_scale(old.behind, link),
        Meter(),
        difference=what,
    )
