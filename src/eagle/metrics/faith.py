"""Does the model do what an explanation says, if features are taken away?

`order` lists the features from the strongest to the weakest, shape (d,). `ask` is given masks,
shape (m, d), True where a feature is the instance's own and False where it is replaced, and
returns the model's answers, shape (m,). `ask` decides how a feature is replaced, and
averages over random replacements if there are any. So the same metrics serve tables, images and
texts. Each function calls `ask` once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eagle._values.arrays import Array
from eagle._values.checks import as_numbers, check_function
from eagle.errors import InputError
from eagle.metrics.validate import count, finite_numbers

__all__ = ["Gaps", "deletion", "gaps", "insertion"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


Masks: TypeAlias = NDArray[np.bool_]
Ask: TypeAlias = Callable[[Masks], ArrayLike]


class Gaps(NamedTuple):
    """How far the prediction moves without the important features, and without the others."""

    important: float
    unimportant: float


def insertion(order: ArrayLike, ask: Ask) -> float:
    """The mean answer while features come back, strongest first: high is faithful.

    `order` is the features' numbers, strongest first, shape (d,). `ask` gives the model's answers,
    shape (n,), to masks of shape (n, d), True where a feature is kept.

    The trapezoid area under the d + 1 answers, from nothing kept to the whole instance, over the
    share of features kept, from 0 to 1. With signed scores order by the score, not by its size.
    """
    places = _order(order)
    return float(np.trapezoid(_answers(ask, _first(places)), dx=1 / len(places)))


def deletion(order: ArrayLike, ask: Ask) -> float:
    """The mean answer while features are taken away, strongest first: low is faithful.

    `order` and `ask` are as for `insertion`.
    The trapezoid area under the d + 1 answers, from the whole instance to nothing kept.
    """
    places = _order(order)
    return float(np.trapezoid(_answers(ask, ~_first(places)), dx=1 / len(places)))


def gaps(order: ArrayLike, ask: Ask, k: int, draws: int = 1) -> Gaps:
    """PGI and PGU: the mean size of f(x) − f(x'), x' without the k strongest or without the rest.

    `order` and `ask` are as for `insertion`. A large gap on important features and a small one on
    unimportant ones is faithful. If `ask` replaces at random, it is asked for `draws` replacements
    of each: the size is taken before the mean, so that changes in both directions do not cancel. k
    is below d, so that both exist.
    """
    places = _order(order)
    if count(k, "k") >= len(places):
        raise InputError(f"k must be below the number of features, {len(places)}, not {k!r}")
    everything, top = np.ones(len(places), dtype=np.bool_), _first(places)[k]
    masks = np.stack([everything, *[~top] * count(draws, "draws"), *[top] * draws])
    answers = _answers(ask, masks)
    important, unimportant = np.abs(answers[1:] - answers[0]).reshape(2, draws).mean(axis=1)
    return Gaps(float(important), float(unimportant))


def _order(order: ArrayLike) -> NDArray[np.intp]:
    places = as_numbers(order, "order")
    if places.ndim != 1 or not places.size or places.dtype.kind not in "iu":
        raise InputError("order must list integers, shape (d,): the features' places")
    if not np.array_equal(np.sort(places), np.arange(len(places))):
        raise InputError(f"order must list each of 0 to {len(places) - 1} once")
    return places.astype(np.intp)


def _first(order: NDArray[np.intp]) -> Masks:
    """Row m keeps the first m features of the order, shape (d + 1, d)."""
    rank = np.argsort(order)
    return np.asarray(rank < np.arange(len(order) + 1)[:, None])


def _answers(ask: Ask, masks: Masks) -> Array:
    check_function(ask, "ask")
    answers = finite_numbers(ask(masks), "answers", "m")
    if len(answers) != len(masks):
        raise InputError(f"{len(masks)} masks need as many answers, not {len(answers)}")
    return answers
