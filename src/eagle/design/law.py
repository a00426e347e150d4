"""Laws that designs draw from, and what every design may use: the one file that they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, final

import numpy as np
from numpy.typing import NDArray

from eagle.kernel import Exponential, Unit, euclidean
from eagle.types import NOTHING, Array, InputError, Kernel, Need, Points, Space


class Tilt(Protocol):
    """Another law of the same steps: how likely each is, beside the space's own law."""

    @property
    def needs(self) -> frozenset[Need]:
        """What the law cannot do without."""

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        """How much more often each step of each feature is drawn, shape (STEPS, d)."""


@final
@dataclass(frozen=True)
class Absorbed:
    """The kernel itself. The exponential of a squared Euclidean distance is a product over
    features, so the tilted law is again independent: a match that the space draws with
    probability q is drawn with p = q/(q + (1 − q)e^(−1/2w²)), and what leaves keeps its own law.
    """

    needs: ClassVar = NOTHING

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        if isinstance(kernel, Unit):
            return np.ones((space.steps, len(space.origin)))
        if not isinstance(kernel, Exponential) or kernel.distance is not euclidean:
            raise InputError(
                "only an exponential kernel of the Euclidean distance can be absorbed feature by "
                "feature"
            )
        features, anchor = every_step(space)
        return np.asarray(np.exp(-((features - anchor) ** 2) / kernel.scale(len(anchor))))


def by_kernel(space: Space, kernel: Kernel, features: Array) -> Array:
    """How much rows count where the design has not absorbed the kernel, shape (n,)."""
    return kernel(features, space.features(space.origin[None])[0])


def mean_weight(space: Space, kernel: Kernel, law: Tilt) -> float:
    """π̄: what the kernel gives a row of the space's own law on average."""
    if space.counts is not None:
        return float(tilted_counts(space, kernel).sum())
    return float(np.prod(law.tilt(space, kernel).mean(axis=0)))


def uniforms(space: Space, n: int, rng: np.random.Generator) -> Array:
    """n rows of uniform numbers: one for the row, then one a feature, shape (n, d + 1)."""
    d = len(space.origin)
    # Raw output: the part of numpy's generators that is promised never to change.
    raw = np.asarray(rng.bit_generator.random_raw(n * (d + 1)))
    return ((raw >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(n, d + 1)


def quantile(tilt: Array, uniform: Array) -> Array:
    """The steps at which uniform numbers stand in a tilted law, shape (n, d)."""
    points = np.empty((len(uniform), tilt.shape[1]))
    for j, one in enumerate(np.cumsum(tilt, axis=0).T):
        points[:, j] = np.searchsorted(one, uniform[:, j + 1] * one[-1], side="right")
    return points


def every_step(space: Space) -> tuple[Array, Array]:
    """The feature at each step, shape (STEPS, d), and at the instance, shape (d,)."""
    steps = np.arange(space.steps, dtype=space.origin.dtype)
    every = np.repeat(steps[:, None], len(space.origin), axis=1)
    return space.features(every), space.features(space.origin[None])[0]


def tilted_counts(space: Space, kernel: Kernel) -> Array:
    """How probable k kept parts are, times their weight, shape (d + 1,)."""
    assert space.counts is not None
    d = len(space.origin)
    kept = np.tri(d + 1, d, k=-1)
    return space.counts * kernel(kept, np.ones(d))


def even(space: Space) -> Array:
    """The law in which every feature that can move matches with probability ½, (STEPS, d)."""
    match = every_step(space)[0] == 1
    kept = match.sum(axis=0)
    left = np.maximum(len(match) - kept, 1)
    return np.where(match, 1.0 / np.maximum(kept, 1), np.where(kept > 0, 1.0 / left, 1.0))


def movable(space: Space) -> NDArray[np.bool_]:
    """The features that can change at all, shape (d,)."""
    return np.asarray(np.ptp(every_step(space)[0], axis=0) > 0)


def raw(rng: np.random.Generator, n: int) -> NDArray[np.uint64]:
    """Raw output: the part of numpy's generators that is promised never to change."""
    return np.asarray(rng.bit_generator.random_raw(n), dtype=np.uint64)


def coalitions(space: Space, uniform: Array, singles: bool = False) -> Points:
    """The instance, a row that matches it nowhere, then coalitions: every match a fair coin.

    With `singles`, the rows that match in one feature alone come before the others.
    """
    moves = movable(space)
    points = quantile(even(space), uniform)
    off = quantile(_away(space), uniform)
    first = np.zeros((1, len(moves)), dtype=bool)
    if singles:
        first = np.concatenate([first, np.eye(len(moves), dtype=bool)[moves]])
    n = min(len(first), max(len(points) - 1, 0))
    points[1 : n + 1] = np.where(first[:n] | ~moves, 0, off[1 : n + 1])
    points[0] = space.origin
    return points.astype(space.origin.dtype)


def by_players(space: Space, kernel: Kernel, features: Array) -> Array:
    """How much coalitions count, shape (n,): what cannot move is no player."""
    moves = movable(space)
    return kernel(features[:, moves], np.ones(int(moves.sum())))


def _away(space: Space) -> Array:
    """The law that never matches, where a feature can move, shape (STEPS, d)."""
    match = every_step(space)[0] == 1
    return np.where(movable(space), 1.0 - match, 1.0)
