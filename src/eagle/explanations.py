"""Many explanations as one thing: a sequence of them that is also a table.

How they are saved is in `saved`, how they are shown in `show`, what they say of a whole table in
`statements`: the methods here only lead there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from numbers import Number
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, Protocol, final, overload

import numpy as np
from numpy.typing import NDArray

from eagle._engine.evidence import Asked
from eagle._engine.targets import Target, target_text
from eagle._values.arrays import Array
from eagle._values.checks import elements, integer, is_equal, path_of
from eagle._values.difference import Difference
from eagle._values.link import Logit
from eagle._values.posterior import (
    LEVEL,
    Posterior,
    StudentT,
    are_sure,
    check_level,
    quantiles,
    sign_probabilities,
)
from eagle._values.text import short_repr
from eagle.cost import Cost
from eagle.errors import InputError
from eagle.explanation import SHAPLEY, Explanation
from eagle.io.container import Key

if TYPE_CHECKING:
    import pandas as pd

    from eagle._questions.statements import Means
    from eagle._questions.totals import Totals

NO_EVIDENCE: Final = (
    "the rows it was fitted to were not kept: explain it again to know what a line misses"
)
"""The note of an explanation without its evidence."""


class Errors(Protocol):
    """The joint distribution of the errors of many explanations.

    Explanations that share rows share errors, which do not average out over a table.
    """

    def deviation(self, factor: Array) -> tuple[Array, float]:
        """The standard error of Σ factor × score over rows, shape (d,), and its degrees of freedom.

        `factor` has shape (n, d).
        """

    def draws(self, count: int) -> Iterator[tuple[int, Array]]:
        """For some rows, evenly spread: the row number, and draws from the posterior of its scores.

        The draws, shape (count, d), are correlated over rows as the errors are.
        """

    def take(self, index: NDArray[np.intp]) -> Errors:
        """The errors of some of the rows."""


@final
@dataclass(frozen=True, eq=False)
class Common:
    """Worst case: errors of different rows may be fully correlated, so none averages out.

    Intervals are then the widest that may be needed. `spread`, shape (n, d), are the scales of the
    scores' t distributions, `df` their degrees of freedom, shape (n,).
    """

    scores: Array
    spread: Array
    df: Array

    @classmethod
    def of(cls, table: Stacked) -> Common:
        """The errors of the rows of a table."""
        return cls(table.scores, table.spread, table.df)

    def deviation(self, factor: Array) -> tuple[Array, float]:
        return np.nansum(np.abs(factor) * self.spread, axis=0), self._df

    def draws(self, count: int) -> Iterator[tuple[int, Array]]:
        rng = np.random.Generator(np.random.PCG64(0))
        push = rng.standard_normal((count, self.scores.shape[1]))
        if np.isfinite(self._df):
            push *= np.sqrt(self._df / rng.chisquare(self._df, count))[:, None]
        for i in spread_over(len(self.scores), MAX_CORRELATED_ROWS).tolist():
            yield i, self.scores[i] + push * np.nan_to_num(self.spread[i])

    def take(self, index: NDArray[np.intp]) -> Common:
        return Common(self.scores[index], self.spread[index], self.df[index])

    @property
    def _df(self) -> float:
        return float(np.median(self.df)) if len(self.df) else np.inf


MAX_CORRELATED_ROWS: Final = 1024
"""Maximum number of rows, evenly spread, on which correlations of errors are computed."""


def spread_over(rows: int, most: int) -> NDArray[np.intp]:
    """Row numbers, at most `most`, spread evenly over all rows."""
    if rows <= most:
        return np.arange(rows)
    return np.asarray(((2 * np.arange(most) + 1) * rows) // (2 * most))


@final
@dataclass(frozen=True, eq=False)
class Stacked:
    """The numbers of explanations that have the same features, a row each.

    `scores` and `spread`, the scales of their t, have shape (n, d); `df`, predictions and fits have
    shape (n,). `data`, shape (n, d), are the rows' own values, `conditions` what scores are about,
    and `slopes` which are slopes. NaN stands for what is not known.
    """

    names: tuple[str, ...]
    data: NDArray[np.object_]
    conditions: NDArray[np.object_]
    slopes: NDArray[np.bool_]
    scores: Array
    spread: Array
    df: Array
    prediction: Array
    local_prediction: Array
    intercept: Array
    r2: Array
    r2_held_out: Array
    contrast: Array
    effective: Array
    kind: str
    pooled: bool
    signed: bool

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def steps(self) -> tuple[str, ...]:
        """What one step is of each feature whose scores are slopes, "" of others."""
        if not self.slopes.any():
            return ("",) * len(self.names)
        first = self.slopes.argmax(axis=0)
        return tuple(
            str(self.conditions[i, j]) if self.slopes[i, j] else ""
            for j, i in enumerate(first.tolist())
        )

    def take(self, index: NDArray[np.intp]) -> Stacked:
        """Some of the rows."""
        rows: dict[str, Any] = {
            name: array[index]
            for name, array in vars(self).items()
            if isinstance(array, np.ndarray)
        }
        return replace(self, **rows)

    def posterior(self, i: int) -> Posterior | None:
        """How sure row i is, each score by itself."""
        if not self.kind:
            return None
        square = np.nan_to_num(self.spread[i]) ** 2
        return StudentT(
            self.scores[i], np.diag(square), float(self.df[i]), 1.0, self.kind, self.pooled
        )


@final
@dataclass(frozen=True, eq=False)
class LazyExplanations(Sequence[Explanation]):
    """Explanations that are made when they are looked at, those with these numbers.

    `asked` is how many rows were asked for each number; () where that is not known. `survey` is the
    one that they are all from, if they are.
    """

    numbers: Sequence[int]
    make: Callable[[int], Explanation]
    asked: Sequence[int] = ()
    survey: Any = None

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, places: Sequence[int]) -> LazyExplanations:
        """Some of them."""
        numbers = [self.numbers[place] for place in places]
        return LazyExplanations(numbers, self.make, self.asked, self.survey)

    @overload
    def __getitem__(self, i: int) -> Explanation: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Explanation]: ...
    def __getitem__(self, i: int | slice) -> Explanation | Sequence[Explanation]:
        if isinstance(i, slice):
            return [self.make(j) for j in self.numbers[i]]
        return self.make(self.numbers[i])


class ExplanationFiles(Protocol):
    """Explanations in several files, which are read when they are looked at."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, if they are the same for all."""

    @property
    def about(self) -> tuple[Target, ...]:
        """The different targets."""

    @property
    def steps(self) -> tuple[str, ...]:
        """What one step is of each feature whose scores are slopes, "" of others."""

    @property
    def held_out_r2(self) -> Array:
        """The held-out R² of each row, shape (n,)."""

    def take(self, index: NDArray[np.intp]) -> Explanations:
        """Some of the rows, in memory."""

    def totals(self, k: int | None = None) -> Totals:
        """Sums over all rows. Shares count where a feature is among the k strongest."""


@final
@dataclass(frozen=True, eq=False)
class Explanations(Sequence[Explanation]):
    """Explanations of many rows: a sequence of them, and a table.

    Examples:
        >>> explanations = eagle.Explainer(model, X).explain_many(X[:20])
        >>> explanations.scores.shape, explanations[0].top(1)
        ((20, 3), ['x1'])
        >>> summary = explanations.summary()  # what drives the model here, with intervals

    `ids` name the rows: a DataFrame's index, or numbers. `explanations[3]` is the row at place 3,
    `explanations["mary"]` the row with that id. A number is always a place: the row with the id 17
    is `explanations[explanations.ids.index(17)]`. A slice, a mask with a truth value for each row
    and a list of places take several rows. `targets` are what is explained of each.
    What averages over rows is refused where these differ: explain with one `target` for all.
    Those of a whole data set stay in their files, `parts`, until they are looked at.

    Explanations by two surveys of the same rows subtract: `new.explain_many(X) -
    old.explain_many(X)` explains what changed, the `difference` of two models.
    """

    items: Sequence[Explanation] = field(repr=False)
    ids: Sequence[Any] = field(repr=False)
    targets: Sequence[Target] = field(repr=False)
    outputs: tuple[Any, ...]
    task: str
    method: str
    seed: int
    link: Logit | None = None
    stacked: Stacked | None = field(default=None, repr=False)
    errors: Errors | None = field(default=None, repr=False)
    parts: ExplanationFiles | None = field(default=None, repr=False)
    difference: Difference | None = None

    @classmethod
    def of(cls, items: Sequence[Explanation], ids: Sequence[Any] | None = None) -> Explanations:
        """From explanations of the same model by the same method."""
        items = elements(items, "explanations to put together")
        for e in items:
            if not isinstance(e, Explanation):
                raise InputError(f"explanations are put together, not {short_repr(e)}")
        if not items:
            raise InputError("there are no explanations to put together")
        names = tuple(range(len(items)) if ids is None else elements(ids, "ids"))
        if len(names) != len(items):
            raise InputError(f"{len(names)} ids do not fit {len(items)} explanations")
        first = items[0]
        for e in items:
            if _model_of(e) != _model_of(first):
                raise InputError(
                    "explanations are put together if they are of one model: these differ in "
                    "their outputs, their task or their link, or in the models they compare"
                )
        stacked = stack(items) if len({e.names for e in items}) == 1 else None
        targets = tuple(e.target for e in items)
        return cls(
            items,
            names,
            targets,
            first.outputs,
            first.task,
            first.method,
            first.seed,
            first.link,
            stacked,
            _common(stacked),
            difference=first.difference,
        )

    # -- a sequence -----------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, key: int | np.integer | str | tuple[Any, ...] | date) -> Explanation: ...
    @overload
    def __getitem__(self, key: slice | list[Any] | range | NDArray[Any]) -> Explanations: ...
    def __getitem__(self, key: Any) -> Explanation | Explanations:
        """One row by its place or its id, or some by a slice, a mask or a list of places."""
        if isinstance(key, slice) or _is_list(key):
            return self._rows(_places(key, len(self)))
        return self.items[_place(key, self.ids)]

    def __eq__(self, other: object) -> bool:
        """Whether the other is a sequence of the very same explanations."""
        if other is self:
            return True
        if isinstance(other, Explanations | list):
            return len(self) == len(other) and all(a is b for a, b in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __sub__(self, other: object) -> Explanations:
        """What changed from the other explanations to these, of the same rows by two surveys."""
        from eagle.survey.compare import difference_of_explanations

        return difference_of_explanations(self, other)

    def _rows(self, places: NDArray[np.intp]) -> Explanations:
        """Some of the rows, by their places from 0."""
        if self.parts is not None:
            return self.parts.take(places)
        listed = places.tolist()
        return replace(
            self,
            items=self.items.take(listed)
            if isinstance(self.items, LazyExplanations)
            else [self.items[i] for i in listed],
            ids=tuple(self.ids[i] for i in listed),
            targets=tuple(self.targets[i] for i in listed),
            stacked=None if self.stacked is None else self.stacked.take(places),
            errors=None if self.errors is None else self.errors.take(places),
        )

    # -- a table --------------------------------------------------------------------------------

    @property
    def alike(self) -> bool:
        """Whether all rows have the same features."""
        return self.stacked is not None if self.parts is None else self.parts.names is not None

    @cached_property
    def in_memory(self) -> Explanations:
        """The same, in memory."""
        return self if self.parts is None else self[:]

    @property
    def table(self) -> Stacked:
        """The numbers of all rows, if they have the same features."""
        stacked = self.in_memory.stacked if self.alike else None
        if stacked is None:
            raise InputError(
                "these explanations have different features, as texts and images do: look at them "
                "one by one, or at to_frame()"
            )
        return stacked

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        known = None if self.parts is None else self.parts.names
        return self.table.names if known is None else known

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """What one step is of each feature whose scores are slopes, "" of others."""
        return self.table.steps if self.parts is None else self.parts.steps

    @property
    def labels(self) -> tuple[str, ...]:
        """The features as they are shown: by what one step is, where scores are slopes."""
        return tuple(step or name for step, name in zip(self.steps, self.names, strict=True))

    @property
    def scores(self) -> Array:
        """The scores, shape (n, d)."""
        return self.table.scores

    @property
    def data(self) -> NDArray[np.object_]:
        """The rows' own values, shape (n, d)."""
        return self.table.data

    @property
    def conditions(self) -> NDArray[np.object_]:
        """The condition that each feature of each row meets, as text, shape (n, d)."""
        return self.table.conditions

    @property
    def rows_asked(self) -> int:
        """How many rows were asked for these explanations alone; 0 where that is not known."""
        if isinstance(self.items, LazyExplanations):
            each = self.items.asked
            return sum(each[i] for i in self.items.numbers) if each else 0
        return sum(e.cost.rows for e in self.items)

    @property
    def predictions(self) -> Array:
        """What the model says of each row about its target, shape (n,); NaN where not known."""
        return self.table.prediction

    def interval(self, level: float = LEVEL) -> Array:
        """Intervals of all scores, shape (n, d, 2); NaN where there is none."""
        check_level(level)
        table = self.table
        if not table.kind:
            return np.stack([e.interval_or_nan(level) for e in self])
        half = quantiles((1 + level) / 2, table.df)[:, None] * table.spread
        return np.stack([table.scores - half, table.scores + half], axis=2)

    def sure(self, level: float = LEVEL) -> NDArray[np.bool_]:
        """Which scores surely have their sign, as `Explanation.sure` says, shape (n, d)."""
        if not self.table.kind:
            return np.stack([e.sure(level) for e in self])
        low, high = np.moveaxis(self.interval(level), 2, 0)
        sign = self.probability_sign() if self.table.signed else np.full(low.shape, np.nan)
        return are_sure(low, high, sign, level)

    def doubtful(self, level: float = LEVEL) -> NDArray[np.bool_]:
        """Which scores have an interval and are not sure, shape (n, d)."""
        return np.asarray(~np.isnan(self.interval(level)[..., 0]) & ~self.sure(level))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what the scores leave open: of how many rows they explain little."""
        from eagle.display.many import notes

        return notes(self)

    def probability_sign(self) -> Array:
        """The probability that each score has the right sign, shape (n, d)."""
        t = self.table
        if not t.kind or not t.signed:
            return np.stack([e.probability_sign() for e in self])
        return sign_probabilities(t.scores, np.nan_to_num(t.spread), t.df, t.pooled)

    @property
    def about(self) -> tuple[Target, ...]:
        """The different targets."""
        return tuple(dict.fromkeys(self.targets)) if self.parts is None else self.parts.about

    @cached_property
    def target(self) -> Target:
        """What all rows are explained about; refused where rows differ in it."""
        if not len(self):
            raise InputError("there are no rows here to say anything about")
        if len(self.about) > 1:
            told = ", ".join(target_text(t) for t in self.about[:20])
            raise InputError(
                f"these rows are explained about different classes ({told[:80]}), so their scores "
                "cannot be averaged: explain them again with one target=…"
            )
        return self.about[0]

    @property
    def additive(self) -> bool:
        """Whether intercept and scores of each row add up to its prediction."""
        return self.method == SHAPLEY

    @property
    def survey(self) -> Any:
        """The survey that all of these are from."""
        found = self.items.survey if isinstance(self.items, LazyExplanations) else None
        if found is None:
            raise InputError(
                "these explanations are from no survey that is at hand: explainer.survey() and "
                "explainer.shapley_survey(X) make one, and its explain_many these"
            )
        return found

    # -- what they say of the whole table: see eagle._questions.statements ------------------------

    def importance(self, level: float = LEVEL, *, sample: bool = True) -> Means:
        """The mean size of each feature's score, with an interval.

        The interval counts the explanations' own error and, unless `sample=False`, that other rows
        could have been explained.
        """
        from eagle._questions import statements

        return statements.importance(self, level, sample)

    def mean_score(self, level: float = LEVEL, *, sample: bool = True) -> Means:
        """The mean score of each feature, with its sign and an interval."""
        from eagle._questions import statements

        return statements.mean_score(self, level, sample)

    def top_k_share(self, k: int, level: float = LEVEL, *, sample: bool = True) -> Means:
        """The share of rows in which each feature is among the k strongest, with an interval."""
        from eagle._questions import statements

        return statements.top_k_share(self, integer(k, "k", 1), level, sample)

    def summary(self, k: int = 3, level: float = LEVEL, *, sample: bool = True) -> pd.DataFrame:
        """What drives the model over these rows: a row for each feature, the strongest first.

        `importance` is the mean size of the score, from `low` to `high`; `mean_score` its mean,
        with its sign; `top_k_share` the share of rows in which the feature is among the k
        strongest. Both have their own `_low` and `_high`. Where scores are slopes, `slope` is what
        one step is. `.attrs["fit"]` says how well lines fit the rows, and `.attrs["notes"]` are
        `notes`.
        """
        from eagle._questions import statements

        return statements.summary(self, integer(k, "k", 1), level, sample)

    def compare_groups(
        self, groups: Any, level: float = LEVEL, *, size: bool = False, sample: bool = True
    ) -> pd.DataFrame:
        """How the mean score differs between groups of rows, with intervals for all at once.

        `groups` is a label for each row, the name of a feature, or a mask for each group's name.
        Two groups are compared with each other, more of them each with all other rows. With `size`
        the mean sizes of scores are compared. Where scores are slopes, `slope` is what one step is.
        """
        from eagle._questions import statements

        return statements.compare_groups(self, groups, level, size, sample)

    # -- files and screens ----------------------------------------------------------------------

    def to_frame(self, level: float = LEVEL, *, wide: bool = False) -> pd.DataFrame:
        """A tidy table, a row for each row and feature: the tables of the single explanations, one
        below the other, with the `id` first; or `wide`: scores, a row for each row."""
        from eagle.display.many import explanations_frame

        return explanations_frame(self, level, wide)

    def to_shap(self, level: float = LEVEL) -> Any:
        """A `shap.Explanation` of all rows, for shap's own plots: a column for each feature.

        The values are those of `Explanation.to_shap`. Each row has a base value of its own: what
        its values leave of its prediction.
        """
        from eagle.display.many import to_shap

        return to_shap(self, level)

    def save(self, path: str | PathLike[str], *, key: Key = None) -> None:
        """Write everything as Parquet: columns of scores, intervals and values for other tools, and
        what they rest on. Explanations of a survey are written with the survey.

        A digest over the whole file is in its metadata, or with a `key` an HMAC.
        """
        from eagle.saved.many import save

        save(self, path, key)

    @classmethod
    def load(cls, path: str | PathLike[str], *, key: Key = None) -> Explanations:
        """Read what `save` wrote, or a folder that `eagle.dataset.explain` wrote."""
        path = path_of(path)
        if path.is_dir():
            from eagle.saved import folders

            return folders.load(path, key)
        from eagle.saved.many import load

        return load(path, key)

    def __repr__(self) -> str:
        about = dict.fromkeys(target_text(t) for t in self.targets[:1000])
        told = next(iter(about)) if len(about) == 1 else f"{len(about)} targets"
        told = told if self.difference is None else self.difference.of(told)
        return f"<Explanations of {len(self):,} rows about {told}, by {self.method}>"

    def _repr_html_(self) -> str:
        from eagle.display.many import html

        return html(self)


def _model_of(e: Explanation) -> tuple[Any, ...]:
    """What is the same for all explanations of one model."""
    return e.outputs, e.task, e.link, e.difference


def _is_list(key: Any) -> bool:
    """Whether it says which of several rows, as lists, arrays and columns of tables do."""
    if isinstance(key, str | bytes | np.generic):
        return False
    return isinstance(key, list | range) or hasattr(key, "__array__")


def _places(key: Any, rows: int) -> NDArray[np.intp]:
    """The places of rows, from 0, by a slice, a mask, or a list of places."""
    if isinstance(key, slice):
        try:
            return np.arange(rows)[key]
        except (TypeError, ValueError):
            raise InputError(
                f"a slice is of places, such as explanations[2:5], not {short_repr(key)}"
            ) from None
    try:
        listed = np.asarray(key)
        listed = listed if listed.size else listed.astype(np.intp)
    except (TypeError, ValueError, OverflowError):  # rows of different lengths
        listed = np.empty(0, dtype=object)
    if listed.dtype.kind == "b":
        if listed.shape != (rows,):
            raise InputError(
                f"a mask has a truth value for each of the {rows} rows, such as "
                f"explanations.scores[:, 0] > 0; this one has shape {listed.shape}"
            )
        return np.flatnonzero(listed)
    if listed.ndim != 1 or listed.dtype.kind not in "iu":
        raise InputError(
            "several rows are taken by a slice, a mask or a list of their places, not by "
            f"{short_repr(key)}"
        )
    if listed.size and not -rows <= int(listed.min()) <= int(listed.max()) < rows:
        raise InputError(f"there are rows 0 to {rows - 1}, and {short_repr(key)} has others")
    return np.arange(rows)[listed.astype(np.intp)]


def _place(key: Any, ids: Sequence[Any]) -> int:
    """The place of a row, from 0, by a place, which may count from the end, or by an id."""
    if isinstance(key, bool | np.bool_):
        raise InputError(f"a mask has a truth value for each of the {len(ids)} rows, not one")
    if isinstance(key, Number) and not isinstance(key, np.timedelta64):
        if not isinstance(key, int | np.integer):
            raise InputError(
                f"a number is the place of a row, and {short_repr(key)} is no whole number: "
                "explanations.ids.index finds the place of an id that is a number"
            )
        if not -len(ids) <= key < len(ids):
            raise IndexError(
                f"there is no row {short_repr(key)}: there are {len(ids):,}, from 0 on"
            )
        return range(len(ids))[key]
    for place, own in enumerate(ids):
        if own is key or is_equal(own, key):
            return place
    raise InputError(f"there is no row with the id {short_repr(key)}")


def stack(items: Sequence[Explanation]) -> Stacked:
    """The numbers of explanations that have the same features."""
    kinds = {_kind(e.posterior) for e in items}
    kind, pooled = kinds.pop() if len(kinds) == 1 else ("", False)
    d, missing = len(items[0].names), np.full(len(items[0].names), np.nan)
    each = {
        name: np.array([vars(e)[name] for e in items], dtype=np.float64)
        for name in ("prediction", "local_prediction", "intercept", "r2", "r2_held_out")
    }
    spread = [_spread(e.posterior, missing) if kind else missing for e in items]
    return Stacked(
        names=items[0].names,
        data=objects([e.data for e in items], d),
        conditions=objects([e.conditions for e in items], d),
        slopes=np.array([e.slopes or (False,) * d for e in items], dtype=bool).reshape(-1, d),
        scores=np.stack([e.scores for e in items]),
        spread=np.stack(spread),
        df=np.array([_df(e.posterior) for e in items]),
        contrast=np.stack([e.contrast for e in items]),
        effective=np.full(len(items), np.nan),
        kind=kind,
        pooled=pooled,
        signed=items[0].signed,
        **each,
    )


def objects(rows: Sequence[Sequence[Any]], d: int) -> NDArray[np.object_]:
    """Rows of any d values each, as an array."""
    out = np.empty((len(rows), d), dtype=object)
    for i, row in enumerate(rows):
        out[i] = np.fromiter(row, dtype=object, count=d)
    return out


def _kind(posterior: Posterior | None) -> tuple[str, bool]:
    """The kind of a t posterior, and whether its signs are pooled; ("", False) for others."""
    return (posterior.kind, posterior.pooled) if isinstance(posterior, StudentT) else ("", False)


def _spread(posterior: Posterior | None, missing: Array) -> Array:
    return posterior.spread if isinstance(posterior, StudentT) else missing


def _df(posterior: Posterior | None) -> float:
    return posterior.df if isinstance(posterior, StudentT) else np.nan


MAX_EVIDENCE_BYTES: Final = 256 << 20
"""Bytes of evidence that are kept unless the caller says otherwise."""


@final
class Keep:
    """Keeps the evidence of explanations: all of it, none, or as much as `MAX_EVIDENCE_BYTES`
    holds."""

    def __init__(self, evidence: bool | None) -> None:
        self._evidence, self._bytes = evidence, 0

    def of(self, e: Explanation) -> Explanation:
        """The explanation as it is kept."""
        if self._evidence is None:
            self._bytes += sum(a.nbytes for a in (e.evidence.points, e.evidence.answers))
        kept = self._bytes <= MAX_EVIDENCE_BYTES if self._evidence is None else self._evidence
        return e if kept else thin(e)


def thin(e: Explanation) -> Explanation:
    """An explanation without the rows that it was fitted to."""
    first = e.evidence
    one = Asked(
        first.points[:1], first.features[:1], first.weight[:1], first.answers[:1], first.repeats[:1]
    )
    return replace(e, evidence=one, surrogate=None, note=e.note or NO_EVIDENCE)


def bare(
    many: Mapping[str, Any],
    stacked: Stacked,
    i: int,
    *,
    target: Target,
    answers: Array,
    cost: Cost,
) -> Explanation:
    """The explanation of row i of a part of a data set: its numbers, without what they rest on."""
    d = len(stacked.names)
    return Explanation(
        names=stacked.names,
        conditions=tuple(stacked.conditions[i]),
        data=tuple(stacked.data[i]),
        scores=stacked.scores[i],
        posterior=stacked.posterior(i),
        signed=stacked.signed,
        intercept=float(stacked.intercept[i]),
        prediction=float(stacked.prediction[i]),
        local_prediction=float(stacked.local_prediction[i]),
        target=target,
        contrast=stacked.contrast[i],
        r2=float(stacked.r2[i]),
        r2_held_out=float(stacked.r2_held_out[i]),
        evidence=Asked(np.zeros((1, d)), np.ones((1, d)), np.ones(1), answers[None], np.ones(1)),
        cost=cost,
        surrogate=None,
        note=NO_EVIDENCE,
        slopes=tuple(stacked.slopes[i].tolist()),
        **many,
    )


def concatenate(parts: Sequence[Explanations]) -> Explanations:
    """Explanations of several parts, one after the other."""
    starts = np.cumsum([0, *(len(part) for part in parts)])

    def make(i: int) -> Explanation:
        at = int(np.searchsorted(starts, i, side="right")) - 1
        return parts[at][int(i - starts[at])]

    stacked = _concatenate([part.stacked for part in parts])
    return replace(
        parts[0],
        items=LazyExplanations(range(int(starts[-1])), make),
        ids=tuple(name for part in parts for name in part.ids),
        targets=tuple(target for part in parts for target in part.targets),
        stacked=stacked,
        errors=_common(stacked),
    )


def _common(stacked: Stacked | None) -> Common | None:
    """The errors of rows whose intervals are of one kind."""
    return Common.of(stacked) if stacked is not None and stacked.kind else None


def _concatenate(parts: Sequence[Stacked | None]) -> Stacked | None:
    """The numbers of several parts, if all have the same features."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({part.names for part in known}) > 1:
        return None
    kinds = {(part.kind, part.pooled) for part in known}
    kind, pooled = kinds.pop() if len(kinds) == 1 else ("", False)
    rows: dict[str, Any] = {
        name: np.concatenate([vars(part)[name] for part in known])
        for name, array in vars(known[0]).items()
        if isinstance(array, np.ndarray)
    }
    return replace(known[0], **rows, kind=kind, pooled=pooled)


def row_ids(X: Any, rows: int) -> tuple[Any, ...]:
    """The names of rows: a DataFrame's index, else numbers from 0."""
    index = getattr(X, "index", None)
    if type(X).__module__.split(".")[0] == "pandas" and index is not None and len(index) == rows:
        return tuple(index.tolist())
    return tuple(range(rows))
