"""Series over time, of one channel or several, divided into segments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._sources.in_parts import call, cast_fill, distinct_names, part_groups
from eagle._sources.masks import MASKS, Fair, Sizes, check_mask_law, most_carried
from eagle._values.arrays import Array, Points
from eagle._values.checks import as_numbers, check_choice, elements, integer
from eagle._values.subject import Curves
from eagle._values.text import short, short_repr
from eagle.contracts import Group, Kind, Source, Wanted
from eagle.errors import InputError

SeriesValues: TypeAlias = NDArray[Any]
"""A series as it is given, of shape (time,) or (time, channels)."""

Steps: TypeAlias = NDArray[np.intp]

SEGMENTS: Final = 20
"""The default number of segments of a channel; fewer if the budget has too few rows for them."""

ROWS_PER_PART: Final = 3
"""The rows for each part by default. With two, intervals of masks are somewhat too narrow."""

FILLS: Final = ("mean", "linear", "noise")

NAME: Final = 40
"""The number of characters that are shown of a channel's name."""

DAY: Final = np.timedelta64(1, "D")


@final
@dataclass(frozen=True, eq=False)
class Series(Source):
    """How series are divided into segments, and what replaces a segment that is off.

    Examples:
        >>> source = eagle.Series(segments=4, names=["x", "y"])
        >>> explainer = eagle.Explainer(lambda batch: batch[:, 15:, 1].mean(axis=1), source)
        >>> explainer.explain(np.arange(40.0).reshape(20, 2)).top(1)
        ['y 15–19']

    A series has shape (time,) or (time, channels); the model is asked a batch of them, of shape
    (n, time) or (n, time, channels). Every segment of every channel is a part, kept or filled.
    `segments` is the number of segments of equal length, the steps where new segments begin, or a
    function from a series to these; None takes up to 20, or fewer if the budget is too small for
    intervals. `fill` is "mean" (of the channel, in this series), "linear" (a line between the
    nearest steps that are kept), "noise" (normal, with the channel's mean and standard deviation;
    always the same for one `seed`), a number, one number for each channel, another series, or
    several, whose mean is taken. `channels` says where a series has its channels: "last" as in
    Keras, or "first" as in torch's Conv1d. None is "last", but a series with more channels than
    steps is refused, unless its channels have names. `names` are those of channels, `time` the
    value of each step, numbers or dates; a DataFrame brings its own.
    """

    segments: int | Sequence[int] | NDArray[Any] | Callable[[SeriesValues], Any] | None = None
    fill: Any = "mean"
    channels: Literal["last", "first"] | None = None
    names: Sequence[Hashable] | None = None
    time: Any = None
    seed: int = 0
    sizes: Sizes = field(default_factory=Fair)

    def __post_init__(self) -> None:
        if self.channels is not None:
            check_choice(self.channels, ("last", "first"), "channels")
        if isinstance(self.fill, str):
            check_choice(self.fill, FILLS, "a fill, unless it is numbers,")
        if self.names is not None:
            object.__setattr__(self, "names", tuple(elements(self.names, "names of channels")))
        object.__setattr__(self, "seed", integer(self.seed, "seed", 0))
        check_mask_law(self.sizes)
        if not (self.segments is None or callable(self.segments)):
            object.__setattr__(self, "segments", _segments(self.segments))
        if not isinstance(self.fill, str):
            object.__setattr__(self, "fill", as_numbers(self.fill, "a fill").copy())
        if self.time is not None:
            object.__setattr__(self, "time", _axis(self.time))

    @property
    def kind(self) -> Kind:
        return Kind("series", "binned", MASKS)

    def describe(self) -> list[str]:
        return [f"Explains: series, by {self._cut()} of each channel; off means {self._off()}"]

    def _cut(self) -> str:
        if self.segments is None:
            return f"up to {SEGMENTS} segments"
        if isinstance(self.segments, int):
            return f"{self.segments} segment{'s' if self.segments > 1 else ''}"
        return "segments as given"

    def _off(self) -> str:
        """What stands where a segment is off, in words."""
        words = {
            "mean": "the channel's mean",
            "linear": "a line between the nearest steps that are kept",
            "noise": f"noise of seed {self.seed}",
        }
        return words[self.fill] if isinstance(self.fill, str) else "the fill that was given"

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        """One series, or several; those of one shape share calls."""
        cut_up = partial(self._cut_up, wanted.budget)
        what = "series", "series"
        return part_groups(_each(X, wanted.one), cut_up, what, wanted.one, self.sizes)

    def _cut_up(self, budget: int, given: Any) -> CutSeries:
        series = _check(as_numbers(given, "a series"))
        self._refuse_turned(given, series)
        if self.channels == "first" and series.ndim == 2:
            series = np.ascontiguousarray(series.T)
        flat = series.reshape(len(series), -1)
        names = self._names(given, flat.shape[1])
        _refuse_gaps(flat, names)
        at = self._times(given, len(flat))
        edges = self._edges(series, most_carried(budget, ROWS_PER_PART) // flat.shape[1])
        beneath = self._beneath(series).reshape(flat.shape)
        return CutSeries(series, edges, beneath, at, names, self)

    def _refuse_turned(self, given: Any, series: SeriesValues) -> None:
        """Refuse a series with more channels than steps where nobody says that it is so."""
        named = self.names is not None or _columns(given) is not None
        if self.channels is None and not named and series.ndim == 2:
            steps, channels = series.shape
            if channels > steps:
                raise InputError(
                    f"a series of shape {series.shape} looks like one with its channels first: say "
                    f"channels='first' if it has {steps} channel{'s' if steps > 1 else ''} of "
                    f"{channels} steps, or channels='last' if it has {channels} channels of {steps}"
                )

    def _names(self, given: Any, channels: int) -> tuple[str, ...]:
        """The channels' names: those said here, a DataFrame's own, or their numbers."""
        said = self.names
        if said is None:
            said = _columns(given)
        if said is None:
            return ("",) if channels == 1 else tuple(f"ch{c}" for c in range(channels))
        if len(said) != channels:
            raise InputError(f"{len(said)} names do not fit a series of {channels} channels")
        return distinct_names([short(str(name), NAME) for name in said])

    def _times(self, given: Any, steps: int) -> NDArray[Any]:
        """The value of each step: as said here, the dates of a DataFrame's index, or its number."""
        time = self.time
        if time is None:
            index = np.asarray(getattr(given, "index", ())) if hasattr(given, "iloc") else None
            dated = index is not None and index.dtype.kind == "M"
            return _axis(index) if dated else np.arange(steps)
        if len(time) != steps:
            raise InputError(f"{len(time)} values of time do not fit a series of {steps} steps")
        return np.asarray(time)

    def _edges(self, series: SeriesValues, carried: int) -> Steps:
        """The steps where segments begin, from 0, then the number of steps.

        By default there are at most `carried` segments.
        """
        steps, cut = len(series), self.segments
        if cut is None:
            cut = max(1, min(SEGMENTS, steps, carried))
        if isinstance(cut, int):
            if cut > steps:
                raise InputError(f"a series of {steps} steps does not have {cut} segments")
            return np.asarray(np.arange(cut + 1) * steps // cut, dtype=np.intp)
        given = call("the function that cuts series", cut, series.copy()) if callable(cut) else cut
        begins = _segments(given)
        if isinstance(begins, int):
            return replace(self, segments=begins)._edges(series, carried)
        if begins[0] < 0 or begins[-1] > steps:
            raise InputError(
                f"segments begin at steps from 0 to {steps - 1} of this series, not at "
                f"{begins[0] if begins[0] < 0 else begins[-1]}"
            )
        return np.unique(np.concatenate([[0], begins, [steps]]).astype(np.intp))

    def _beneath(self, series: SeriesValues) -> SeriesValues:
        """The series with every segment off, in its own shape and dtype."""
        if isinstance(self.fill, str):
            made = _noise(series, self.seed) if self.fill == "noise" else _mean(series)
            return cast_fill(series.dtype, made)
        given = np.asarray(self.fill)
        if given.ndim and self.channels == "first" and series.ndim == 2 and given.ndim > 1:
            given = np.swapaxes(given, -1, -2)
        several = given.ndim == series.ndim + 1 and len(given)
        over = given.astype(np.float64).mean(axis=0) if several else given
        per_channel = series.ndim == 2 and over.shape == series.shape[1:]
        if over.shape not in ((), series.shape) and not per_channel:
            raise InputError(
                f"a fill of shape {given.shape} is neither a number, nor one for each channel, nor "
                f"a series of shape {series.shape}, nor several of them"
            )
        return cast_fill(series.dtype, np.broadcast_to(over, series.shape), exact=not several)


@final
@dataclass(frozen=True, eq=False)
class CutSeries:
    """A series, divided into segments.

    `edges` are the steps where segments begin, then the number of steps. `beneath` is the series
    with every segment off, shape (time, channels). `at` is the value of each step.
    """

    given: SeriesValues
    edges: Steps
    beneath: SeriesValues
    at: NDArray[Any]
    channels: tuple[str, ...]
    how: Series

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The channel and the steps of each part; where there is no channel's name, the steps."""
        axis = "steps" if self.at.dtype.kind in "iu" and self.how.time is None else "time"
        return tuple(f"{name or axis} {span}" for name in self.channels for span in self._spans())

    @property
    def own(self) -> tuple[Any, ...]:
        """The mean of each part."""
        flat = self.flat.astype(np.float64)
        means = np.add.reduceat(flat, self.edges[:-1], axis=0) / np.diff(self.edges)[:, None]
        return tuple(means.T.ravel().tolist())

    @property
    def form(self) -> Hashable:
        return self.given.shape, self.given.dtype.str

    @property
    def row_bytes(self) -> int:
        return int(self.given.nbytes)

    @property
    def subject(self) -> Curves:
        times, dates = _places(self.at), self.at.dtype.kind == "M"
        between = (times[self.edges[1:-1] - 1] + times[self.edges[1:-1]]) / 2
        half = (times[-1] - times[0]) / max(len(times) - 1, 1) / 2 or 0.5
        edges = np.concatenate([[times[0] - half], between, [times[-1] + half]])
        values = self.flat.astype(np.float64)
        return Curves(times, values, edges, self.channels, dates, self._note(), self._cut()).thin()

    @property
    def flat(self) -> SeriesValues:
        """The series, shape (time, channels)."""
        return self.given.reshape(len(self.given), -1)

    def inputs(self, masks: Points) -> SeriesValues:
        """The series with the segments filled that are off, shape (n, …)."""
        segment = np.repeat(np.arange(len(self.edges) - 1), np.diff(self.edges))
        off = (masks != 0).reshape(len(masks), len(self.channels), -1)
        out = np.empty((len(masks), *self.flat.shape), dtype=self.given.dtype)
        linear = isinstance(self.how.fill, str) and self.how.fill == "linear"
        for row, mask in zip(out, off, strict=True):
            fill = self._between(mask, segment) if linear else self.beneath
            row[...] = np.where(mask.T[segment], fill, self.flat)
        if self.how.channels == "first" and self.given.ndim == 2:
            return np.ascontiguousarray(np.swapaxes(out, 1, 2))
        return out.reshape(len(masks), *self.given.shape)

    def _between(self, off: NDArray[np.bool_], segment: Steps) -> SeriesValues:
        """Lines between the nearest steps that are kept: level where there is one side only, and
        the channel's mean where no step is kept. `off` has shape (channels, segments)."""
        count, channel = off.shape[1], np.arange(len(off))[:, None]
        every = np.arange(count)
        before = np.maximum.accumulate(np.where(off, -1, every), axis=1)
        after = np.minimum.accumulate(np.where(off, count, every)[:, ::-1], axis=1)[:, ::-1]
        left, right = self.edges[before + 1] - 1, self.edges[np.minimum(after, count - 1)]
        values, at = self.flat.astype(np.float64), _places(self.at)
        low = np.where(before >= 0, values[left, channel], np.nan)
        high = np.where(after < count, values[right, channel], np.nan)
        low, high = np.where(np.isnan(low), high, low), np.where(np.isnan(high), low, high)
        both = (before >= 0) & (after < count) & off
        run = np.where(both, at[right] - at[left], 1.0)
        share = (at - at[left][:, segment]) / run[:, segment] * both[:, segment]
        line = low[:, segment] * (1 - share) + high[:, segment] * share
        line = np.where(np.isnan(line), self.beneath.T, line).T
        return cast_fill(self.given.dtype, line)

    def _spans(self) -> list[str]:
        """The segments in words: the values of their first and last steps."""
        shown = _short_values(self.at)
        pairs = zip(self.edges[:-1], self.edges[1:] - 1, strict=True)
        return [shown[a] if a == b else f"{shown[a]}–{shown[b]}" for a, b in pairs]

    def _cut(self) -> str:
        """What the parts are, in words."""
        count, length = len(self.edges) - 1, np.diff(self.edges)
        few, most = int(length.min()), int(length.max())
        steps = f"{few} step{'s' if few > 1 else ''}" if few == most else f"{few} to {most} steps"
        what = f"{count} segment{'s' if count > 1 else ''} of {steps}"
        several = len(self.channels)
        return (
            what
            if several == 1
            else f"{what} in each of {several} channels: {several * count} in all"
        )

    def _note(self) -> str:
        """What must be known to read the scores: a fill that leaves nothing to see."""
        same = (self.flat == self.beneath).all(axis=0)
        if same.all():
            return (
                "what is off looks as what is on, so the model saw one series only: another fill "
                "would tell more"
            )
        if not same.any():
            return ""
        named = [name for name, one in zip(self.channels, same, strict=True) if one]
        listed = ", ".join(named[:5]) + (" …" if len(named) > 5 else "")
        return f"the fill changes nothing in {listed}: another fill would tell more"


def _columns(given: Any) -> list[Any] | None:
    """The names of a data frame's columns; `columns` of an Arrow table are its data."""
    names = getattr(given, "column_names", getattr(given, "columns", None))
    return None if names is None else list(names)


def _each(X: Any, one: bool) -> list[Any]:
    """The series that were given, one or several."""
    if one:
        alone = getattr(X, "ndim", 0) == 3 and len(X) == 1
        return [X[0] if alone else X]
    if hasattr(X, "columns") or not isinstance(X, Iterable) or isinstance(X, str):
        raise InputError(
            "several series are an array of shape (n, time) or (n, time, channels), or a list of "
            f"series, not a {type(X).__name__}: use explain for one"
        )
    if getattr(X, "ndim", 2) < 2:
        raise InputError("an array of one dimension is one series: use explain")
    return list(X)


def _check(series: SeriesValues) -> SeriesValues:
    """A copy of a series, whose shape must be (time,) or (time, channels)."""
    if series.ndim not in (1, 2) or not series.size:
        several = ": use explain_many for several" if series.ndim == 3 else ""
        raise InputError(
            f"a series has shape (time,) or (time, channels), not {series.shape}{several}"
        )
    return series.astype(np.float64) if series.dtype.itemsize > 8 else series.copy()


def _refuse_gaps(flat: SeriesValues, names: Sequence[str]) -> None:
    if flat.dtype.kind != "f" or np.isfinite(flat).all():
        return
    step, channel = np.argwhere(~np.isfinite(flat))[0].tolist()
    where = f" of {names[channel]}" if names[channel] else ""
    raise InputError(
        f"step {step}{where} is {flat[step, channel]}: every step needs a number, so fill gaps "
        "first, as the model's own data were"
    )


def _segments(given: Any) -> Any:
    """A number of segments, or the steps at which they begin."""
    if isinstance(given, int | np.integer):
        return integer(given, "the number of segments", 1)
    try:
        begins = np.asarray(given)
    except ValueError:
        begins = np.empty(0)
    rising = begins.ndim == 1 and begins.size and begins.dtype.kind in "iu"
    if not rising or (np.diff(begins.astype(np.int64)) <= 0).any():
        raise InputError(
            "segments are a number of them, the steps where new ones begin, in order, such as "
            f"[16, 32], or a function from a series to these, not {short_repr(given, 60)}"
        )
    return begins.astype(np.intp)


def _axis(time: Any) -> NDArray[Any]:
    """The values of steps: finite numbers or dates, each later than the one before."""
    try:
        given = np.asarray(time)
        if given.dtype.kind == "O" and given.size:
            given = given.astype("datetime64[us]")
    except Exception:  # rows of different lengths, or objects that are no dates
        given = np.empty(0, dtype=object)
    known = given.ndim == 1 and given.dtype.kind in "fiuM"
    if not known or not np.isfinite(_places(given)).all() or (np.diff(_places(given)) <= 0).any():
        raise InputError(
            "time has a number or a date for each step, in rising order, not "
            f"{short_repr(time, 60)}"
        )
    return given.copy()


def _places(at: NDArray[Any]) -> Array:
    """Values of steps as floats; dates as days from 1970 on."""
    if at.dtype.kind != "M":
        return at.astype(np.float64)
    days = (at - np.datetime64("1970-01-01")) / DAY
    return np.asarray(days, dtype=np.float64)


def _short_values(at: NDArray[Any]) -> list[str]:
    """Values of steps as short texts."""
    if at.dtype.kind != "M":
        return [f"{value:.6g}".replace("-", "−") for value in at.tolist()]
    for unit in ("D", "m", "s"):
        cut = at.astype(f"datetime64[{unit}]")
        if (cut == at).all() or unit == "s":
            break
    return [str(text).replace("T", " ") for text in np.datetime_as_string(cut)]


def _mean(series: SeriesValues) -> Array:
    """The mean of each channel; that of a constant channel is exactly its value."""
    flat = series.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.where(np.ptp(flat, axis=0) == 0, flat[0], flat.mean(axis=0))
    return np.broadcast_to(mean, series.shape)


def _noise(series: SeriesValues, seed: int) -> Array:
    """Normal noise with each channel's mean and standard deviation, the same for one seed."""
    from scipy.special import ndtri

    raw = np.asarray(np.random.PCG64(seed).random_raw(series.size)) >> np.uint64(11)
    normal = ndtri((raw.astype(np.float64) + 0.5) * 2.0**-53).reshape(series.shape)
    flat = series.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = flat.std(axis=0) * (np.ptp(flat, axis=0) > 0)
        return np.asarray(_mean(series) + normal * spread)
