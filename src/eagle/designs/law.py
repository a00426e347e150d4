"""Probability laws that designs draw from, and helpers that every design may use.

Designs share this file alone, but `complements` and `gains` are built from other designs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array, Points
from eagle._values.checks import integer, lacking
from eagle._values.text import finite, short_repr
from eagle.contracts import NOTHING, Kernel, Law, Need, Space
from eagle.errors import InputError
from eagle.kernels import Exponential, Unit, euclidean, weight_by_count


class Tilt(Protocol):
    """A law of the same steps, given by its ratio to the space's own law."""

    @property
    def needs(self) -> frozenset[Need]:
        """What the law needs."""

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        """The factor on the probability of each step of each feature, shape (STEPS, d)."""


@final
@dataclass(frozen=True)
class Absorbed:
    """The law that is the space's own law times the kernel.

    The exponential of a squared Euclidean distance is a product over features, so features stay
    independent. A match that the space draws with probability q is drawn with probability
    p = q/(q + (1 − q)e^(−1/2w²)). Steps that do not match keep their relative frequencies.
    """

    needs: ClassVar = NOTHING

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        return _factor(kernel, *every_step(space))


def _factor(kernel: Kernel, features: Array, anchor: Array) -> Array:
    """The kernel's factor at each step of each feature, shape (STEPS, d)."""
    if isinstance(kernel, Unit):
        return np.ones_like(features)
    if not isinstance(kernel, Exponential) or kernel.distance is not euclidean:
        raise InputError(
            "only an exponential kernel of the Euclidean distance can be absorbed feature by "
            "feature"
        )
    return np.asarray(np.exp(-((features - anchor) ** 2) / kernel.scale(len(anchor))))


@final
@dataclass(frozen=True)
class Clipped:
    """As `Absorbed`, but each value changes, and stays, in a share of at least `least` of the rows.

    A level that stays in 31 of 32 rows changes in about 16 of 500: too few to learn from. The law
    inside the instance's bin or level, and outside it, is not changed. So scores of features that
    act alone have the same limit; where features act together, the limit moves. If nearly all
    values are rare, as words are, rows would be very far from the instance. So the mean number of
    changed features grows at most by the factor `farther`; beyond that, all shares move only part
    of the way. Offsets and the mean weight π̄ are not changed.
    """

    least: float = 1 / 8
    farther: float = 1.5
    needs: ClassVar = NOTHING

    def __post_init__(self) -> None:
        if not (finite(self.least) and 0 < self.least <= 0.5):
            raise InputError(
                f"a value can be changed and kept in a share of the rows above 0 and up to ½, "
                f"not {short_repr(self.least)}"
            )
        if not (finite(self.farther) and self.farther >= 1):
            raise InputError(
                f"rows can change as many features as they would, or more: farther must be at "
                f"least 1, not {short_repr(self.farther)}"
            )

    def tilt(self, space: Space, kernel: Kernel) -> Array:
        features, anchor = every_step(space)
        tilt, match = _factor(kernel, features, anchor), features == anchor
        kept = (tilt * match).sum(axis=0) / tilt.sum(axis=0)
        bounded = (anchor == 1) & (kept < 1)
        # Where nothing changes, the factor is exactly 1.
        wanted = np.where(bounded, np.clip(kept, self.least, 1 - self.least), kept)
        more_changes = float((kept - wanted).sum())
        room = (self.farther - 1) * float((1 - kept)[bounded].sum())
        if more_changes > room:
            wanted = kept + (wanted - kept) * (room / more_changes)
        more = np.divide(wanted, kept, out=np.ones_like(kept), where=bounded)
        less = np.divide(1 - wanted, 1 - kept, out=np.ones_like(kept), where=bounded)
        return np.asarray(tilt * np.where(match, more, less))


def check_sizes(**sizes: int) -> None:
    """Refuse sizes that are not integers of at least 1."""
    for name, value in sizes.items():
        integer(value, name, 1)


def check_tilt(law: object, *members: str) -> None:
    """Refuse what is no law of rows: it has one of the members."""
    if isinstance(law, type) or lacking(law, " or ".join(members or ("tilt",))):
        raise InputError(
            f"a law of rows is one such as eagle.designs.law.Absorbed(), not {short_repr(law)}"
        )


def check_batch(batch: int, pool: int) -> None:
    """Refuse a batch that is larger than the pool it is chosen from."""
    if batch > pool:
        raise InputError(f"a batch of {batch} cannot be chosen from a pool of {pool}")


def by_kernel(space: Space, kernel: Kernel, features: Array) -> Array:
    """The kernel's weight of each row, for designs that do not draw by the kernel, shape (n,)."""
    return kernel(features, space.features(space.origin[None])[0])


def mean_weight(space: Space, kernel: Kernel, law: Tilt) -> float:
    """π̄: the mean kernel weight of rows drawn from the space's own law."""
    if space.counts is not None:
        return float(kept_count_law(space, kernel).sum())
    return float(np.prod(law.tilt(space, kernel).mean(axis=0)))


def draw_with_instance(space: Space, n: int, rng: np.random.Generator) -> Points:
    """n independent points of the space's own law, the first replaced by the instance."""
    points = space.draw(n, rng)
    points[0] = space.origin
    return points


def uniforms(space: Space, n: int, rng: np.random.Generator) -> Array:
    """n rows of uniform numbers: one for the row, then one for each feature, shape (n, d + 1)."""
    d = len(space.origin)
    # numpy promises that only the raw output of its generators never changes.
    raw = np.asarray(rng.bit_generator.random_raw(n * (d + 1)))
    return ((raw >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(n, d + 1)


def quantile(tilt: Array, uniform: Array) -> Array:
    """The steps of a tilted law that uniform numbers select by its inverse CDF, shape (n, d)."""
    points = np.empty((len(uniform), tilt.shape[1]))
    for j, one in enumerate(np.cumsum(tilt, axis=0).T):
        points[:, j] = np.searchsorted(one, uniform[:, j + 1] * one[-1], side="right")
    return points


def every_step(space: Space) -> tuple[Array, Array]:
    """The feature at each step, shape (STEPS, d), and at the instance, shape (d,)."""
    origin = space.origin
    steps = np.arange(space.steps, dtype=origin.dtype)
    features = space.features(np.repeat(steps[:, None], len(origin), axis=1))
    return features, features[0]


def kept_count_law(space: Space, kernel: Kernel) -> Array:
    """The probability of k kept parts times their kernel weight, for k = 0 to d, shape (d + 1,)."""
    assert space.counts is not None
    return np.asarray(space.counts * weight_by_count(kernel, len(space.origin)))


def sizes(space: Space, kernel: Kernel) -> Array:
    """As `kept_count_law`. But with d ≤ 2 and a law that never keeps all parts, as for texts,
    keeping all gets the probability 1/(d + 1): otherwise no line could be fitted."""
    assert space.counts is not None
    d, law = len(space.origin), space.counts
    if d <= 2 and law[d] == 0:
        law = np.append(law[:d] * d, 1.0) / (d + 1)
    return np.asarray(law * weight_by_count(kernel, d))


def law_of(space: Space, kernel: Kernel) -> Law:
    """The law of matches that scores are about: the space's own law times the kernel."""
    features, anchor = every_step(space)
    if (anchor != 1).any():
        raise InputError(
            "the law of matches is known where features match the instance or do not: take the "
            "binned view of a table, or masks"
        )
    inside = (features == 1).sum(axis=0).astype(np.float64)
    if space.counts is not None:
        law = sizes(space, kernel)
        law = law / law.sum()
        chance = np.full(len(anchor), law @ np.arange(len(law)) / max(len(anchor), 1))
        return Law(chance, inside, space.steps, law)
    tilt = _factor(kernel, features, anchor)
    return Law((tilt * features).sum(axis=0) / tilt.sum(axis=0), inside, space.steps)


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
    """n raw 64-bit outputs. numpy promises that only these never change."""
    return np.asarray(rng.bit_generator.random_raw(n), dtype=np.uint64)


def coalitions(space: Space, uniform: Array) -> Points:
    """The instance, a row that matches it nowhere, then rows whose matches are fair coins."""
    points = quantile(even(space), uniform)
    points[1:2] = np.where(movable(space), quantile(_away(space), uniform)[1:2], 0)
    points[0] = space.origin
    return points.astype(space.origin.dtype)


def by_players(space: Space, kernel: Kernel, features: Array) -> Array:
    """The weight of coalitions, shape (n,). Features that cannot move are not players."""
    moves = movable(space)
    return kernel(features[:, moves], np.ones(int(moves.sum())))


def _away(space: Space) -> Array:
    """The law in which no feature that can move matches, shape (STEPS, d)."""
    match = every_step(space)[0] == 1
    return np.where(movable(space), 1.0 - match, 1.0)
