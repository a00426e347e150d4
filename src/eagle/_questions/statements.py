"""What many explanations say of a whole table, with intervals.

A statement has two errors. The explanations' own: those of a survey share its rows, so their errors
do not average out over the table. And, if the rows are a sample, that other rows could have come.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.lack_of_fit import MIN_HELD_OUT_R2
from eagle._questions.totals import Mean, noise_inflation
from eagle._tables.column import array_of, is_missing, plain
from eagle._values.arrays import Array
from eagle._values.checks import check_flags
from eagle._values.packages import package
from eagle._values.posterior import check_level, in_top, quantiles
from eagle._values.text import short_repr
from eagle._values.ties import rank
from eagle.errors import InputError
from eagle.explanations import Errors, Explanations

if TYPE_CHECKING:
    import pandas as pd

DRAWS: Final = 200
"""Draws of what the true scores may be, for shares of ranks."""

MIN_GROUP_ROWS: Final = 2
"""Minimum number of rows of a group. Smaller groups are not compared."""


@final
@dataclass(frozen=True, eq=False)
class Means:
    """A number for each feature, with an interval: `value`, `low` and `high`, shape (d,)."""

    names: tuple[str, ...]
    value: Array
    low: Array
    high: Array
    level: float

    def order(self) -> NDArray[np.intp]:
        """The features by decreasing size of their number."""
        return rank(np.abs(self.value))

    def to_frame(self) -> pd.DataFrame:
        """A row for each feature, in the features' own order."""
        pd = _pandas()
        return pd.DataFrame(
            {"value": self.value, "low": self.low, "high": self.high},
            index=pd.Index(self.names, name="feature"),
        )


def importance(e: Explanations, level: float, sample: bool) -> Means:
    """The mean size of each score.

    Noise inflates |score|, so the lower end is moved down by the largest possible inflation.
    """
    _check(e, level, sample)
    if e.parts is not None:
        totals = e.parts.totals()
        half, noise = _quantile(totals.df, level) * totals.error_of_size, totals.noise
        size = totals.size
    else:
        size = Mean.of(np.abs(e.scores))
        half = _half(_errors(e), np.sign(e.scores) / len(e), level)
        noise = noise_inflation(np.abs(e.scores), e.table.spread).mean(axis=0)
    out = _around(e.names, size, half, level, sample)
    return Means(out.names, out.value, np.maximum(out.low - noise, 0.0), out.high, level)


def mean_score(e: Explanations, level: float, sample: bool) -> Means:
    """The mean score of each feature."""
    _check(e, level, sample)
    if e.parts is not None:
        totals = e.parts.totals()
        half = _quantile(totals.df, level) * totals.error
        return _around(e.names, totals.score, half, level, sample)
    half = _half(_errors(e), np.full(e.scores.shape, 1 / len(e)), level)
    return _around(e.names, Mean.of(e.scores), half, level, sample)


def _check(e: Explanations, level: float, sample: bool) -> None:
    check_level(level)
    check_flags(sample=sample)
    _ = e.target  # refused where rows are about different classes


def _around(names: tuple[str, ...], mean: Mean, half: Array, level: float, sample: bool) -> Means:
    """The mean over rows, with its interval. `half` is that for the explanations' own error."""
    if sample:
        half = np.hypot(half, _sampling_interval(mean, level))
    return Means(names, mean.value, mean.value - half, mean.value + half, level)


def _half(errors: Errors, factor: Array, level: float) -> Array:
    """Half of an interval for the explanations' own error, shape (d,)."""
    deviation, df = errors.deviation(factor)
    return _quantile(df, level) * deviation


def _sampling_interval(mean: Mean, level: float) -> Array:
    """Half of an interval of a mean over rows, for that other rows could have come, shape (d,)."""
    if mean.rows < MIN_GROUP_ROWS:
        return np.full(len(mean.value), np.inf)
    error = mean.deviation / np.sqrt(mean.rows)
    return np.asarray(_quantile(mean.rows - 1.0, level) * error)


def _quantile(df: float, level: float) -> float:
    return float(quantiles((1 + level) / 2, np.array(df)))


def _errors(e: Explanations) -> Errors:
    if e.errors is None:
        raise InputError(
            f"the explanations of {e.method} have no standard errors, so nothing is known of how "
            "sure their mean is: their scores are in explanations.scores"
        )
    return e.errors


def top_k_share(e: Explanations, k: int, level: float, sample: bool) -> Means:
    """The share of rows in which each feature is among the k strongest."""
    _check(e, level, sample)
    errors: Errors
    if e.parts is not None:
        totals = e.parts.totals(k)
        value, some, errors = totals.top, totals.some.scores, totals.some
    else:
        value, some, errors = in_top(e.scores, k).mean(axis=0), e.scores, _errors(e)
    rows, total, seen = 0, np.zeros((DRAWS, len(e.names))), np.zeros(len(e.names))
    for i, draws in errors.draws(DRAWS):
        total += in_top(draws, k)
        seen += in_top(some[i : i + 1], k)[0]
        rows += 1
    shares = total / max(rows, 1)
    # Noise moves ranks. The true shares may be as far from those of the scores, on either side.
    middle = shares.mean(axis=0)
    moved = np.abs(middle - seen / max(rows, 1))
    tails = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2], axis=0) - middle
    low, high = value - moved + tails[0], value + moved + tails[1]
    if sample:
        below, above = _wilson(value, len(e), level)
        low = value - np.hypot(np.maximum(value - low, 0.0), value - below)
        high = value + np.hypot(np.maximum(high - value, 0.0), above - value)
    ends = np.minimum(low, value), np.maximum(high, value)
    return Means(e.names, value, np.clip(ends[0], 0.0, 1.0), np.clip(ends[1], 0.0, 1.0), level)


def _wilson(share: Array, rows: int, level: float) -> tuple[Array, Array]:
    """Wilson's interval of a share of `rows` rows. Its width is never zero."""
    z = _quantile(np.inf, level)
    middle = (share + z**2 / (2 * rows)) / (1 + z**2 / rows)
    spread = np.sqrt(share * (1 - share) / rows + z**2 / (4 * rows**2))
    half = z * spread / (1 + z**2 / rows)
    return np.minimum(middle - half, share), np.maximum(middle + half, share)


def summary(e: Explanations, k: int, level: float, sample: bool) -> pd.DataFrame:
    """A row for each feature, the most important first."""
    pd = _pandas()
    k = min(k, len(e.names))
    if e.parts is not None:
        e.parts.totals(k)  # one pass over the files for all that follows
    size, mean = importance(e, level, sample), mean_score(e, level, sample)
    top = top_k_share(e, k, level, sample)
    order = size.order()
    columns = {
        "importance": size.value,
        "low": size.low,
        "high": size.high,
        "mean_score": mean.value,
        "mean_score_low": mean.low,
        "mean_score_high": mean.high,
        "top_k_share": top.value,
        "top_k_share_low": top.low,
        "top_k_share_high": top.high,
    }
    out = pd.DataFrame(
        {name: column[order] for name, column in columns.items()},
        index=pd.Index([e.names[j] for j in order], name="feature"),
    )
    if any(e.steps):
        out["slope"] = [e.steps[j] for j in order]
    if e.difference is not None:
        out.columns.name = e.difference.change
        out.attrs["difference"] = str(e.difference)
    out.attrs["fit"] = fit_of(e)
    out.attrs["notes"] = list(e.notes)
    return out


def held_out_r2(e: Explanations) -> Array:
    """The held-out R² of each row, shape (n,); none where scores have no sign."""
    if e.parts is not None:
        held, signed = e.parts.held_out_r2, e[0].signed
    elif e.alike:
        held, signed = e.table.r2_held_out, e.table.signed
    else:
        held, signed = np.array([one.r2_held_out for one in e]), all(one.signed for one in e)
    return held if signed else np.empty(0)


def fit_of(e: Explanations) -> str:
    """How well lines fit the rows, and how many fit badly; "" where it is not known."""
    known = held_out_r2(e)
    known = known[np.isfinite(known)]
    if not len(known):
        return ""
    low = int((known < MIN_HELD_OUT_R2).sum())
    return (
        (
            f"R² on held-out rows: median {np.median(known):.2f}, below {MIN_HELD_OUT_R2:g} in "
            f"{low:,} of {len(known):,} rows"
        )
        .replace("-", "−")
        .replace("held−out", "held-out")
    )


def compare_groups(
    e: Explanations, groups: Any, level: float, size: bool, sample: bool
) -> pd.DataFrame:
    """A row for each feature and pair of groups: the difference of means, with an interval."""
    pd = _pandas()
    _check(e, level, sample)
    check_flags(size=size)
    e = e.in_memory
    pairs = _pairs(group_masks(e, groups), len(e))
    sure = 1 - (1 - level) / (len(e.names) * len(pairs))
    each = np.abs(e.scores) if size else e.scores
    sign = np.sign(e.scores) if size else np.ones_like(e.scores)
    slopes = {"slope": e.steps} if any(e.steps) else {}
    parts = []
    for name, other, one, rest in pairs:
        where = one / one.sum() - rest / rest.sum()
        half = _half(_errors(e), sign * where[:, None], sure)
        if sample:
            for mask in (one, rest):
                half = np.hypot(half, _sampling_interval(Mean.of(each[mask]), sure))
        value = where @ each
        parts.append(
            pd.DataFrame(
                {
                    "feature": e.names,
                    "group": name,
                    "against": other,
                    "difference": value,
                    "low": value - half,
                    "high": value + half,
                    "rows": int(one.sum()),
                    "rows_against": int(rest.sum()),
                    **slopes,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


GroupMasks = dict[Any, NDArray[np.bool_]]


def group_masks(e: Explanations, groups: Any) -> GroupMasks:
    """A mask for each group."""
    if isinstance(groups, Mapping):
        masks = {name: np.asarray(mask) for name, mask in groups.items()}
        for name, mask in masks.items():
            if mask.shape != (len(e),) or mask.dtype.kind != "b":
                raise InputError(f"the mask of {short_repr(name)} has no truth value for each row")
    else:
        if isinstance(groups, str):
            if groups not in e.names:
                raise InputError(f"there is no feature {groups!r} to make groups of")
            labels = e.data[:, e.names.index(groups)]
        else:
            labels = np.asarray(groups, dtype=object)
        if labels.shape != (len(e),):
            raise InputError(
                f"groups need a label for each of the {len(e)} rows, not shape {labels.shape}"
            )
        labels = array_of(MISSING if is_missing(label) else plain(label) for label in labels)
        masks = {name: labels == name for name in dict.fromkeys(labels.tolist())}
    if not 2 <= len(masks) <= MOST_GROUPS:
        raise InputError(
            f"from 2 to {MOST_GROUPS} groups can be compared, not {len(masks)}: cut numbers into "
            "a few ranges"
        )
    for name, mask in masks.items():
        if mask.sum() < MIN_GROUP_ROWS:
            raise InputError(
                f"the group {short_repr(name)} has {int(mask.sum())} rows: too few to compare"
            )
    return masks


MOST_GROUPS: Final = 50

MISSING: Final = "missing"
"""The group of rows whose label is missing."""


def _pairs(
    masks: GroupMasks, rows: int
) -> list[tuple[Any, Any, NDArray[np.bool_], NDArray[np.bool_]]]:
    """Two groups are compared with each other, more of them each with all other rows."""
    if len(masks) == 2:
        (one, mask), (other, rest) = masks.items()
        return [(one, other, mask, rest)]
    for name, mask in masks.items():
        if rows - mask.sum() < MIN_GROUP_ROWS:
            raise InputError(
                f"the group {short_repr(name)} has nearly all rows: nothing to compare with"
            )
    return [(name, "all others", mask, ~mask) for name, mask in masks.items()]


def _pandas() -> Any:
    return package("pandas", "a summary", "frames")
