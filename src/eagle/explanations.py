"""Many explanations as one thing: a sequence of them that is also a table.

How they are saved is in `files`, how they are shown in `show`, what they say of a whole table in
`statements`: the methods here only lead there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, final, overload

import numpy as np
from numpy.typing import NDArray

from eagle.evidence import Asked, Bill
from eagle.explanation import Explanation
from eagle.link import Logit
from eagle.surrogate.posterior import LEVEL, Bounds, Posterior, StudentT, check_level, check_top
from eagle.targets import Target, target_text
from eagle.types import Array, InputError, integer, warn_renamed

if TYPE_CHECKING:
    import pandas as pd

    from eagle.statements import Means
    from eagle.totals import Totals

THIN: Final = "the rows it was fitted to were not kept: explain it again to know what a line misses"
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

    def deviation(self, factor: Array) -> tuple[Array, float]:
        return np.nansum(np.abs(factor) * self.spread, axis=0), self._df

    def draws(self, count: int) -> Iterator[tuple[int, Array]]:
        rng = np.random.Generator(np.random.PCG64(0))
        push = rng.standard_normal((count, self.scores.shape[1]))
        if np.isfinite(self._df):
            push *= np.sqrt(self._df / rng.chisquare(self._df, count))[:, None]
        for i in spread_over(len(self.scores), SOME).tolist():
            yield i, self.scores[i] + push * np.nan_to_num(self.spread[i])

    def take(self, index: NDArray[np.intp]) -> Common:
        return Common(self.scores[index], self.spread[index], self.df[index])

    @property
    def _df(self) -> float:
        return float(np.median(self.df)) if len(self.df) else np.inf


SOME: Final = 1024
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
    shape (n,). `data`, shape (n, d), are the rows' own values. NaN stands for what is not known.
    """

    names: tuple[str, ...]
    data: NDArray[np.object_]
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
    """Explanations that are made when they are looked at, those with these numbers."""

    numbers: Sequence[int]
    make: Callable[[int], Explanation]

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, places: Sequence[int]) -> LazyExplanations:
        """Some of them."""
        return LazyExplanations([self.numbers[place] for place in places], self.make)

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

    `ids` name the rows: a DataFrame's index, or numbers. `targets` are what is explained of each.
    What averages over rows is refused where these differ: explain with one `target` for all.
    Those of a whole data set stay in their files, `parts`, until they are looked at.
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

    @classmethod
    def of(cls, items: Sequence[Explanation], ids: Sequence[Any] | None = None) -> Explanations:
        """From explanations of the same model by the same method."""
        if not len(items):
            raise InputError("there are no explanations to put together")
        names = tuple(range(len(items))) if ids is None else tuple(ids)
        if len(names) != len(items):
            raise InputError(f"{len(names)} ids do not fit {len(items)} explanations")
        first = items[0]
        for e in items:
            if (e.outputs, e.task, e.link) != (first.outputs, first.task, first.link):
                raise InputError(
                    "explanations are put together if they are of one model: these differ in "
                    "their outputs, their task or their link"
                )
        stacked = stack(items) if len({e.names for e in items}) == 1 else None
        errors = None
        if stacked is not None and stacked.kind:
            errors = Common(stacked.scores, stacked.spread, stacked.df)
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
            errors,
        )

    # -- a sequence -----------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, i: int) -> Explanation: ...
    @overload
    def __getitem__(self, i: slice | list[Any] | NDArray[Any]) -> Explanations: ...
    def __getitem__(self, i: int | slice | list[Any] | NDArray[Any]) -> Explanation | Explanations:
        if isinstance(i, slice | list | np.ndarray):
            chosen = np.asarray(i) if not isinstance(i, slice) else i
            return self.take(np.arange(len(self))[chosen])
        return self.items[i]

    def __eq__(self, other: object) -> bool:
        """Whether the other is a sequence of the very same explanations."""
        if other is self:
            return True
        if isinstance(other, Explanations | list):
            return len(self) == len(other) and all(a is b for a, b in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def take(self, index: NDArray[np.intp]) -> Explanations:
        """Some of the rows, by their numbers."""
        if self.parts is not None:
            return self.parts.take(np.asarray(index, dtype=np.intp))
        places = np.asarray(index, dtype=np.intp).tolist()
        return replace(
            self,
            items=self.items.take(places)
            if isinstance(self.items, LazyExplanations)
            else [self.items[i] for i in places],
            ids=tuple(self.ids[i] for i in places),
            targets=tuple(self.targets[i] for i in places),
            stacked=None if self.stacked is None else self.stacked.take(np.array(places, int)),
            errors=None if self.errors is None else self.errors.take(np.array(places, int)),
        )

    def where(self, mask: Any) -> Explanations:
        """The rows at which a mask, one truth value a row, is true."""
        chosen = np.asarray(mask)
        if chosen.shape != (len(self),) or chosen.dtype.kind != "b":
            raise InputError(
                f"a mask has a truth value for each of the {len(self)} rows, such as "
                f"explanations.scores[:, 0] > 0; this one has shape {chosen.shape}, {chosen.dtype}"
            )
        if not chosen.any():
            raise InputError("the mask is true for no row")
        return self.take(np.flatnonzero(chosen))

    def named(self, name: Any) -> Explanation:
        """The explanation of the row with this id."""
        try:
            return self[self.ids.index(name)]
        except ValueError:
            raise InputError(f"there is no row with the id {name!r}") from None

    # -- a table --------------------------------------------------------------------------------

    @property
    def alike(self) -> bool:
        """Whether all rows have the same features."""
        return self.stacked is not None if self.parts is None else self.parts.names is not None

    @cached_property
    def held(self) -> Explanations:
        """The same, in memory."""
        return self if self.parts is None else self.take(np.arange(len(self)))

    @property
    def table(self) -> Stacked:
        """The numbers of all rows, if they have the same features."""
        stacked = self.held.stacked if self.alike else None
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

    @property
    def scores(self) -> Array:
        """The scores, shape (n, d)."""
        return self.table.scores

    @property
    def data(self) -> NDArray[np.object_]:
        """The rows' own values, shape (n, d)."""
        return self.table.data

    @property
    def values(self) -> NDArray[np.object_]:
        """The old name of `data`."""
        warn_renamed("Explanations")
        return self.data

    @property
    def predictions(self) -> Array:
        """What the model says of each row about its target, shape (n,); NaN where not known."""
        return self.table.prediction

    def interval(self, level: float = LEVEL) -> Array:
        """Intervals of all scores, shape (n, d, 2); NaN where there is none."""
        check_level(level)
        table = self.table
        if not table.kind:
            return np.stack([e.shown(level) for e in self])
        from scipy import special

        at = (1 + level) / 2
        finite = np.where(np.isinf(table.df), 1.0, table.df)
        reach = np.where(np.isinf(table.df), special.ndtri(at), special.stdtrit(finite, at))
        half = reach[:, None] * table.spread
        return np.stack([table.scores - half, table.scores + half], axis=2)

    def probability_sign(self) -> Array:
        """The probability that each score has the right sign, shape (n, d)."""
        if not self.table.kind:
            return np.stack([e.probability_sign() for e in self])
        known = [self.table.posterior(i) for i in range(len(self))]
        return np.stack([one.probability_sign() for one in known if one is not None])

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

    # -- what they say of the whole table: see eagle.statements ---------------------------------

    def importance(self, level: float = LEVEL, *, sample: bool = True) -> Means:
        """The mean size of each feature's score, with an interval.

        The interval counts the explanations' own error and, unless `sample=False`, that other rows
        could have been explained.
        """
        from eagle import statements

        return statements.importance(self, level, sample)

    def effect(self, level: float = LEVEL, *, sample: bool = True) -> Means:
        """The mean score of each feature, with its sign and an interval."""
        from eagle import statements

        return statements.effect(self, level, sample)

    def share_in_top(self, k: int, level: float = LEVEL, *, sample: bool = True) -> Means:
        """The share of rows in which each feature is among the k strongest, with an interval."""
        from eagle import statements

        check_top(k)
        return statements.share_in_top(self, k, level, sample)

    def summary(self, k: int = 3, level: float = LEVEL, *, sample: bool = True) -> pd.DataFrame:
        """What drives the model over these rows: a row for each feature, the strongest first.

        `importance` is the mean size of the score, from `low` to `high`; `effect` its mean, from
        `effect_low` to `effect_high`; `top` the share of rows in which the feature is among the k
        strongest, from `top_low` to `top_high`.
        """
        from eagle import statements

        return statements.summary(self, integer(k, "k", 1), level, sample)

    def compare(
        self, groups: Any, level: float = LEVEL, *, size: bool = False, sample: bool = True
    ) -> pd.DataFrame:
        """How the mean score differs between groups of rows, with intervals for all at once.

        `groups` is a label for each row, the name of a feature, or a mask for each group's name.
        Two groups are compared with each other, more of them each with all other rows. With `size`
        the mean sizes of scores are compared.
        """
        from eagle import statements

        return statements.compare(self, groups, level, size, sample)

    # -- files and screens ----------------------------------------------------------------------

    def to_frame(self, level: float = LEVEL, *, wide: bool = False) -> pd.DataFrame:
        """A tidy table, a row for each row and feature; or `wide`: scores, a row for each row."""
        from eagle.show.many import explanations_frame

        return explanations_frame(self, level, wide)

    def to_shap(self, level: float = LEVEL, *, base: Any = None) -> Any:
        """A `shap.Explanation` of all rows, for shap's own plots.

        The bars are those of `Explanation.to_shap`, and add up from the base to each prediction.
        By default the base is the mean prediction of these rows about what each is explained
        about. `base` gives another: the model's answers to the background, or a number.
        """
        from eagle.show.many import to_shap

        return to_shap(self, level, base)

    def save(self, path: str | PathLike[str]) -> None:
        """Write scores, intervals and values as Parquet, without what they were fitted to."""
        from eagle.files.many import save

        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Explanations:
        """Read what `save` wrote, or a folder that `eagle.dataset.explain` wrote."""
        if Path(path).is_dir():
            from eagle.files import folders

            return folders.load(Path(path))
        from eagle.files.many import load

        return load(path)

    def __repr__(self) -> str:
        about = dict.fromkeys(target_text(t) for t in self.targets[:1000])
        told = next(iter(about)) if len(about) == 1 else f"{len(about)} targets"
        return f"<Explanations of {len(self):,} rows about {told}, by {self.method}>"

    def _repr_html_(self) -> str:
        from eagle.show.many import html

        return html(self)


def stack(items: Sequence[Explanation]) -> Stacked:
    """The numbers of explanations that have the same features."""
    kinds = {_kind(e.posterior) for e in items}
    kind, pooled = kinds.pop() if len(kinds) == 1 else ("", False)
    d, missing = len(items[0].names), np.full(len(items[0].names), np.nan)
    each = {
        name: np.array([vars(e)[name] for e in items], dtype=np.float64)
        for name in ("prediction", "local_prediction", "intercept", "r2", "r2_held_out")
    }
    values = np.empty((len(items), d), dtype=object)
    for i, e in enumerate(items):
        values[i] = np.fromiter(e.data, dtype=object, count=d)
    spread = [_spread(e.posterior, missing) if kind else missing for e in items]
    return Stacked(
        names=items[0].names,
        data=values,
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


def _kind(posterior: Posterior | None) -> tuple[str, bool]:
    """The kind of a t posterior, and whether its signs are pooled; ("", False) for others."""
    return (posterior.kind, posterior.pooled) if isinstance(posterior, StudentT) else ("", False)


def _spread(posterior: Posterior | None, missing: Array) -> Array:
    return posterior.spread if isinstance(posterior, StudentT) else missing


def _df(posterior: Posterior | None) -> float:
    return posterior.df if isinstance(posterior, StudentT) else np.nan


KEPT: Final = 256 << 20
"""Bytes of evidence that are kept unless the caller says otherwise."""


@final
class Keep:
    """Keeps the evidence of explanations: all of it, none, or as much as `KEPT` holds."""

    def __init__(self, evidence: bool | None) -> None:
        self._evidence, self._bytes = evidence, 0

    def of(self, e: Explanation) -> Explanation:
        """The explanation as it is kept."""
        if self._evidence is None:
            self._bytes += sum(a.nbytes for a in (e.evidence.points, e.evidence.answers))
        kept = self._bytes <= KEPT if self._evidence is None else self._evidence
        return e if kept else thin(e)


def thin(e: Explanation) -> Explanation:
    """An explanation without the rows that it was fitted to."""
    first = e.evidence
    one = Asked(
        first.points[:1], first.features[:1], first.weight[:1], first.answers[:1], first.often[:1]
    )
    return replace(e, evidence=one, surrogate=None, note=e.note or THIN)


def bare(
    many: Mapping[str, Any], stacked: Stacked, i: int, target: Target, answers: Array
) -> Explanation:
    """The explanation of row i of a table that was read from a file: its numbers alone."""
    return alone(
        many,
        names=stacked.names,
        conditions=tuple(many["conditions"][i]),
        data=tuple(stacked.data[i]),
        scores=stacked.scores[i],
        posterior=many["bounds"](i) if not stacked.kind else stacked.posterior(i),
        signed=stacked.signed,
        intercept=float(stacked.intercept[i]),
        prediction=float(stacked.prediction[i]),
        local_prediction=float(stacked.local_prediction[i]),
        target=target,
        contrast=stacked.contrast[i],
        r2=float(stacked.r2[i]),
        r2_held_out=float(stacked.r2_held_out[i]),
        answers=answers,
    )


def alone(many: Mapping[str, Any], *, answers: Array, **own: Any) -> Explanation:
    """An explanation of its numbers alone, without what they rest on."""
    d = len(own["names"])
    return Explanation(
        **own,
        outputs=many["outputs"],
        task=many["task"],
        evidence=Asked(np.zeros((1, d)), np.ones((1, d)), np.ones(1), answers, np.ones(1)),
        bill=Bill(0, 0, 0.0, 0.0),
        method=many["method"],
        surrogate=None,
        seed=many["seed"],
        link=many["link"],
        note=THIN,
    )


def joined(parts: Sequence[Explanations]) -> Explanations:
    """Explanations of several parts, one after the other."""
    starts = np.cumsum([0, *(len(part) for part in parts)])

    def make(i: int) -> Explanation:
        at = int(np.searchsorted(starts, i, side="right")) - 1
        return parts[at][int(i - starts[at])]

    stacked = _joined([part.stacked for part in parts])
    errors = None
    if stacked is not None and stacked.kind:
        errors = Common(stacked.scores, stacked.spread, stacked.df)
    return replace(
        parts[0],
        items=LazyExplanations(range(int(starts[-1])), make),
        ids=tuple(name for part in parts for name in part.ids),
        targets=tuple(target for part in parts for target in part.targets),
        stacked=stacked,
        errors=errors,
    )


def _joined(parts: Sequence[Stacked | None]) -> Stacked | None:
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


def bounds_at(low: Array, high: Array, scores: Array, level: float) -> Bounds | None:
    """Intervals at one level, if they are known."""
    return None if np.isnan(low).all() else Bounds(scores, low, high, level)


def row_ids(X: Any, rows: int) -> tuple[Any, ...]:
    """The names of rows: a DataFrame's index, else numbers from 0."""
    index = getattr(X, "index", None)
    if type(X).__module__.split(".")[0] == "pandas" and index is not None and len(index) == rows:
        return tuple(index.tolist())
    return tuple(range(rows))
