"""Do runs agree on signs and on ranks? BELIEF's figures, of scores of shape (runs, d).

An array does not say whether its scores have signs: give only scores that have.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eagle._values.arrays import Array
from eagle._values.text import finite, short_repr
from eagle._values.ties import rank
from eagle.errors import InputError
from eagle.metrics.validate import pairs, runs

ABSENCE_PENALTY = 0.1
"""The penalty for features that are always 0: see `sign_entropy`."""


def sign_entropy(scores: ArrayLike) -> float:
    """ASFE: the entropy of signs over runs, in bits, averaged over features.

    `scores` has the shape (runs, d). p is a feature's share of positive scores among those that
    are not 0; a feature that is always 0 adds nothing. So runs that give 0 to most features would
    look perfect. Hence BELIEF's penalty: where the entropy is 0 and only m < d/2 features are ever
    not 0, the result is 0.1·(d − m)/d.
    """
    by_run = runs(scores)
    up, down = (by_run > 0).sum(axis=0), (by_run < 0).sum(axis=0)
    doubt = _entropy(np.stack([up, down]) / np.maximum(up + down, 1))
    d, present = len(up), int(np.count_nonzero(up + down))
    if doubt == 0 and present < d / 2:
        return ABSENCE_PENALTY * (d - present) / d
    return doubt


def _entropy(shares: Array) -> float:
    """The mean over columns of the entropy of shares, shape (classes, d), in bits."""
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return float(np.mean(np.abs((shares * logs).sum(axis=0))))  # never −0


PERSISTENCE = 0.2
"""BELIEF's value: 80% of the weight is on the first rank."""


def rank_similarity(scores: ArrayLike, persistence: float = PERSISTENCE) -> float:
    """ARS: how alike the rankings of positive and of negative scores are, between 0 and 1.

    `scores` has the shape (runs, d). Each run ranks its positive features by size, and its
    negative ones; of equals the earlier one comes first. The figure is the mean of the
    extrapolated rank-biased overlap over pairs of *different* runs and both signs, 1 where both
    rankings are empty and 0 where one is. BELIEF's script also pairs each run with itself: for R
    runs this raises A to 1/R + (1 − 1/R)·A.
    """
    by_run = runs(scores)
    if not finite(persistence) or not 0 < persistence < 1:
        raise InputError(f"persistence must be between 0 and 1, not {short_repr(persistence)}")
    sides = [_overlaps(*_ranks(side), persistence) for side in (by_run, -by_run)]
    return float(np.mean(sides))


def consistency(scores: ArrayLike, persistence: float = PERSISTENCE) -> float:
    """CCM: (1 − sign entropy)·rank similarity, 1 where all runs agree.

    `scores` has the shape (runs, d). The penalty of `sign_entropy` applies: runs that give 0 to
    more than half of the features stay below 1.
    """
    return (1 - sign_entropy(scores)) * rank_similarity(scores, persistence)


def _ranks(scores: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rank of each positive score from 1, and d + 1 for the rest; how many are ranked."""
    there = scores > 0
    order = rank(np.where(there, scores, -scores.max(axis=1, keepdims=True)))
    ranks = np.empty(scores.shape, dtype=np.intp)
    np.put_along_axis(ranks, order, np.arange(1, scores.shape[1] + 1)[None], axis=1)
    return np.where(there, ranks, scores.shape[1] + 1), there.sum(axis=1)


def _overlaps(ranks: NDArray[np.intp], lengths: NDArray[np.intp], p: float) -> Array:
    """RBO_ext of each pair of rankings (Webber et al. 2010, Eq. 32), shape (pairs,)."""
    first, second = pairs(len(ranks))
    depth = np.arange(1, ranks.shape[1] + 1)
    shared = _overlap_counts(np.maximum(ranks[first], ranks[second]))
    short = np.minimum(lengths[first], lengths[second])[:, None]
    long = np.maximum(lengths[first], lengths[second])[:, None]
    ends = np.maximum(np.concatenate([short, long], axis=1) - 1, 0)
    at_short, at_long = np.hsplit(np.take_along_axis(shared, ends, axis=1), 2)
    share = at_short / np.maximum(short, 1)
    agreed = shared / depth + share * np.maximum(depth - short, 0) / depth
    seen = (1 - p) / p * (agreed * p**depth * (depth <= long)).sum(axis=1)
    beyond = ((at_long - at_short) / np.maximum(long, 1) + share) * p**long
    similarity = np.minimum(
        seen[:, None] + beyond, 1.0
    )  # 0 if one list is empty: nothing is shared
    return np.where(long == 0, 1.0, similarity)[:, 0]


def _overlap_counts(worse: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many features both lists have in their top m, for each m from 1 to d, shape (pairs, d).

    A feature is there as soon as m reaches the worse of its two ranks.
    """
    count, d = worse.shape
    enter = np.zeros((count, d + 2), dtype=np.intp)
    np.add.at(enter, (np.arange(count)[:, None], worse), 1)
    return np.cumsum(enter[:, 1 : d + 1], axis=1)
