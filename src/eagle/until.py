"""Stop when sure: rules that say when enough rows have been asked.

    explainer.explain(x, until=Width(0.02) | Top(3), limit=eagle.Limit(seconds=10))

Rows are asked in growing parts of one plan, and a rule looks only between them. Looking several
times makes it more likely to stop too early by chance. So a probability of error α is divided:
each of K looks may use α/K.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import integer, number
from eagle._values.posterior import ALL_MASKS, Posterior, check_level
from eagle._values.text import short_repr
from eagle._values.ties import rank
from eagle.errors import InputError

__all__ = ["Both", "Either", "Look", "Rule", "Sign", "Top", "Width"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


@final
@dataclass(frozen=True, eq=False)
class Look:
    """What is known at one of the `looks` that are planned, and the cost so far."""

    posterior: Posterior
    rows: int
    calls: int
    seconds: float
    looks: int

    def sure(self, probability: float) -> float:
        """The probability to require at this look, so that all looks together keep it."""
        return 1 - (1 - probability) / self.looks

    @property
    def enough(self) -> bool:
        """Whether there are more rows than coefficients, or all possible rows."""
        return self.rows > len(self.posterior.mean) + 1 or self.posterior.kind == ALL_MASKS

    @property
    def spread(self) -> Array:
        """The standard deviation of each score, 0 where it is known exactly, shape (d,)."""
        return np.asarray(self.posterior.std)


class Rule(ABC):
    """When to stop. `a | b` stops as soon as one is met, `a & b` when both are."""

    @abstractmethod
    def reason_to_stop(self, look: Look) -> str | None:
        """The reason to stop, or None to go on."""

    @abstractmethod
    def rows(self, look: Look) -> float:
        """A forecast of the total number of rows until the rule is met."""

    def __or__(self, other: Rule) -> Rule:
        return Either(self, _rule(other))

    def __and__(self, other: Rule) -> Rule:
        return Both(self, _rule(other))


@final
@dataclass(frozen=True)
class Width(Rule):
    """Stop when no interval at the level is wider than `width`, from low to high."""

    width: float
    level: float = 0.95

    def __post_init__(self) -> None:
        check_level(self.level)
        number(self.width, "a width", above=0.0)

    def reason_to_stop(self, look: Look) -> str | None:
        widest = self._widest(look)
        if look.enough and widest <= self.width:
            return f"no {100 * self.level:.4g}% interval is wider than {self.width:g}"
        return None

    def rows(self, look: Look) -> float:
        return look.rows * max(1.0, (self._widest(look) / self.width) ** 2)

    def _widest(self, look: Look) -> float:
        low, high = look.posterior.interval(look.sure(self.level)).T
        return float((high - low).max(initial=0.0))


@final
@dataclass(frozen=True)
class Top(Rule):
    """Stop when the k strongest features are, all at once, the right ones with this probability."""

    k: int
    probability: float = 0.95

    def __post_init__(self) -> None:
        check_level(self.probability)
        integer(self.k, "k", 1)

    def reason_to_stop(self, look: Look) -> str | None:
        if (d := len(look.posterior.mean)) <= self.k:
            return f"there are only {d} features, so all are among the {self.k} strongest"
        probability = np.sort(look.posterior.probability_top(self.k))[::-1][: self.k]
        # All k are right with a probability of at least 1 minus the sum of their errors.
        sure = 1 - float((1 - probability).sum()) >= look.sure(self.probability)
        if look.enough and sure:
            which = "strongest feature is" if self.k == 1 else f"{self.k} strongest features are"
            return f"the {which} right with probability {self.probability:g}"
        return None

    def rows(self, look: Look) -> float:
        """A forecast from the gap between the k-th feature and the next one."""
        size = np.abs(look.posterior.mean)
        if len(size) <= self.k:
            return look.rows
        order = rank(size)
        last, first = order[self.k - 1], order[self.k]
        gap, unsure = float(size[last] - size[first]), look.spread
        apart = float(np.hypot(unsure[last], unsure[first]))
        return _rows_until_clear(look, gap, apart, look.sure(self.probability))


@final
@dataclass(frozen=True)
class Sign(Rule):
    """Stop when each sign of the k strongest features, or of all, has this probability."""

    probability: float = 0.95
    k: int | None = None

    def __post_init__(self) -> None:
        check_level(self.probability)
        if self.k is not None:
            integer(self.k, "k", 1)

    def reason_to_stop(self, look: Look) -> str | None:
        least = look.posterior.probability_sign()[self._features(look)].min()
        if look.enough and least >= look.sure(self.probability):
            which = "signs of all features are"
            if self.k is not None:
                some = f"{self.k} strongest features"
                which = (
                    "sign of the strongest feature is"
                    if self.k == 1
                    else f"signs of the {some} are"
                )
            return f"the {which} right with probability {self.probability:g}"
        return None

    def rows(self, look: Look) -> float:
        size, sure = np.abs(look.posterior.mean), look.sure(self.probability)
        return max(
            _rows_until_clear(look, float(size[j]), float(look.spread[j]), sure)
            for j in self._features(look)
        )

    def _features(self, look: Look) -> NDArray[np.intp]:
        return rank(np.abs(look.posterior.mean))[: self.k]


@final
@dataclass(frozen=True)
class Either(Rule):
    """Stop when one of two rules is met."""

    one: Rule
    other: Rule

    def __post_init__(self) -> None:
        _rule(self.one), _rule(self.other)

    def reason_to_stop(self, look: Look) -> str | None:
        return self.one.reason_to_stop(look) or self.other.reason_to_stop(look)

    def rows(self, look: Look) -> float:
        return min(self.one.rows(look), self.other.rows(look))


@final
@dataclass(frozen=True)
class Both(Rule):
    """Stop when both of two rules are met."""

    one: Rule
    other: Rule

    def __post_init__(self) -> None:
        _rule(self.one), _rule(self.other)

    def reason_to_stop(self, look: Look) -> str | None:
        one, other = self.one.reason_to_stop(look), self.other.reason_to_stop(look)
        return f"{one}, and {other}" if one and other else None

    def rows(self, look: Look) -> float:
        return max(self.one.rows(look), self.other.rows(look))


def _rule(other: object) -> Rule:
    if not isinstance(other, Rule):
        raise InputError(
            f"rules combine with rules, such as Top(3), not with {short_repr(other)}: rows of one "
            "explanation are the explainer's budget, and all that may be asked limit=eagle.Limit(…)"
        )
    return other


def _rows_until_clear(look: Look, gap: float, spread: float, probability: float) -> float:
    """The rows at which a gap is clear at this probability.

    Spreads shrink with the square root of the number of rows.
    """
    from scipy.special import ndtri

    if gap <= 0:
        return math.inf if spread > 0 else look.rows
    return look.rows * max(1.0, (float(ndtri(probability)) * spread / gap) ** 2)


FIRST_ROWS_PER_COEFFICIENT = 4
"""The first look has this many rows for each coefficient, and at least `MIN_FIRST_ROWS` rows."""

MIN_FIRST_ROWS, GROWTH = 50, 1.5
"""The fewest rows of a first look; each look has `GROWTH` times the rows of the one before."""


def looks(d: int, most: int) -> list[int]:
    """The number of rows asked by each look; the last look has all rows."""
    rows = [min(most, max(MIN_FIRST_ROWS, FIRST_ROWS_PER_COEFFICIENT * (d + 1)))]
    while rows[-1] < most:
        rows.append(min(most, math.ceil(rows[-1] * GROWTH)))
    return rows


def refuse_rule(until: Any, method: str, planned: bool) -> None:
    """Refuse what is not a rule, and any rule for a method without a plan."""
    if until is None:
        return
    if not isinstance(until, Rule):
        raise InputError(
            f"until is a rule such as eagle.until.Width(0.02), not {short_repr(until)}; rows of "
            "one "
            "explanation are the explainer's budget, and all that may be asked limit=eagle.Limit(…)"
        )
    if not planned:
        raise InputError(
            f"{method} chooses rows by the answers to those before, so there is no plan to stop "
            "in: use a planned method, such as EAGLE"
        )
