"""Do explanations of one prediction agree: with one another, and with what they converge to?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from eagle.explanation import Explanation
from eagle.types import Array, InputError


def jaccard(explanations: Sequence[Explanation], k: int = 5) -> float:
    """The mean overlap |T ∩ T'|/|T ∪ T'| of the k strongest features, over all pairs of runs.

    Print it beside `chance(d, k)`. With k features or fewer it is 1 whatever is found.
    """
    tops = [set(e.top(k)) for e in _alike(explanations, 2)]
    return float(np.mean([_overlap(a, b) for a, b in combinations(tops, 2)]))


def agreement(explanations: Sequence[Explanation], converged: Explanation, k: int = 5) -> float:
    """The mean overlap of each run's k strongest features with those of a converged explanation.

    Stable is not right: a biased method repeats itself, and this shows it.
    """
    runs = _alike(explanations, 1)
    _alike([runs[0], converged], 2)
    reference = set(converged.top(k))
    return float(np.mean([_overlap(set(e.top(k)), reference) for e in runs]))


def chance(d: int, k: int = 5) -> float:
    """The mean overlap of two sets of k features of d, each drawn at random."""
    if d < 1 or k < 1:
        raise InputError(f"there must be at least 1 feature and 1 place, not {d!r} and {k!r}")
    if k >= d:
        return 1.0
    both = np.arange(max(0, 2 * k - d), k + 1)
    probability = np.exp(_ways(k, both) + _ways(d - k, k - both) - _ways(d, k))
    return float(probability @ (both / (2 * k - both)))


def _ways(n: int, k: Any) -> Any:
    """The logarithm of how many sets of k there are among n."""
    from scipy.special import gammaln

    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def sign_entropy(explanations: Sequence[Explanation]) -> float:
    """ASFE: how undecided the signs are over runs, in bits, averaged over features.

    p is a feature's share of positive scores among those that are not 0; a feature that is
    always 0 adds nothing. Scores without signs are refused.
    """
    runs = _alike(explanations, 1)
    unsigned = [e.method for e in runs if not e.signed]
    if unsigned:
        raise InputError(f"the scores of {unsigned[0]} have no sign to agree on")
    scores = _scores(runs)
    there = np.maximum((scores != 0).sum(axis=0), 1)
    return float(_entropy(np.stack([(scores > 0).sum(axis=0), (scores < 0).sum(axis=0)]) / there))


def importance_entropy(explanations: Sequence[Explanation]) -> float:
    """Tilia's stability index: how undecided the rank classes are over runs, in bits, averaged
    over features; 0 where every run says the same.

    A score is in one of five classes: 0, or, on either side, above the median size or not.
    """
    scores = _scores(_alike(explanations, 1))
    classes = np.zeros(scores.shape, dtype=np.intp)
    for sign in (1, -1):
        there = sign * scores > 0
        if there.any():
            middle = np.median(np.abs(scores[there]))
            classes[there] = sign * (1 + (np.abs(scores[there]) > middle))
    shares = np.stack([(classes == c).mean(axis=0) for c in range(-2, 3)])
    return float(_entropy(shares))


def _entropy(shares: Array) -> float:
    """The mean over columns of the entropy of shares, shape (classes, d), in bits."""
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return float(np.mean(-(shares * logs).sum(axis=0)))


def _overlap(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b)


def _scores(explanations: Sequence[Explanation]) -> Array:
    return np.array([e.scores for e in explanations])


def _alike(explanations: Sequence[Explanation], least: int) -> list[Explanation]:
    """Explanations over the same features, at least so many."""
    found = list(explanations)
    if len(found) < least or not all(isinstance(e, Explanation) for e in found):
        raise InputError(f"at least {least} explanations are needed here")
    if any(e.names != found[0].names for e in found):
        raise InputError("explanations of different features cannot be compared")
    return found
