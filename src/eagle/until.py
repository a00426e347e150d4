"""Stop when sure: rules that say when enough rows have been asked.

    explainer.explain(x, until=Width(0.02) | Budget(rows=5000, seconds=10))

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

from eagle.surrogate.posterior import Posterior, check_level
from eagle.ties import ranked
from eagle.types import Array, InputError, finite, told

__all__ = ["Both", "Budget", "Either", "Look", "Rule", "Sign", "Top", "Width"]


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

    @property
    def spent(self) -> dict[str, float]:
        """What it has cost so far, by the names that a budget has for it."""
        return {"rows": self.rows, "calls": self.calls, "seconds": self.seconds}

    def sure(self, probability: float) -> float:
        """The probability to require at this look, so that all looks together keep it."""
        return 1 - (1 - probability) / self.looks

    @property
    def enough(self) -> bool:
        """Whether there are more rows than coefficients, or all possible rows."""
        return self.rows > len(self.posterior.mean) + 1 or self.posterior.kind == "exact"

    @property
    def spread(self) -> Array:
        """The standard deviation of each score, 0 where it is known exactly, shape (d,)."""
        return np.asarray(self.posterior.std)


class Rule(ABC):
    """When to stop. `a | b` stops as soon as one is met, `a & b` when both are."""

    @abstractmethod
    def met(self, look: Look) -> str | None:
        """The reason to stop, or None to go on."""

    @abstractmethod
    def rows(self, look: Look) -> float:
        """A forecast of the total number of rows until the rule is met."""

    @property
    def most(self) -> float:
        """The largest number of rows that the rule allows."""
        return math.inf

    @property
    def pays(self) -> bool:
        """Whether it limits money. Money is a limit on everything asked, not a rule for one row."""
        return False

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
        _check_positive("a width", self.width)

    def met(self, look: Look) -> str | None:
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
        _check_k(self.k)

    def met(self, look: Look) -> str | None:
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
        order = ranked(size)
        last, first = order[self.k - 1], order[self.k]
        gap, unsure = float(size[last] - size[first]), look.spread
        apart = float(np.hypot(unsure[last], unsure[first]))
        return _grown(look, gap, apart, look.sure(self.probability))


@final
@dataclass(frozen=True)
class Sign(Rule):
    """Stop when each sign of the k strongest features, or of all, has this probability."""

    probability: float = 0.95
    k: int | None = None

    def __post_init__(self) -> None:
        check_level(self.probability)
        if self.k is not None:
            _check_k(self.k)

    def met(self, look: Look) -> str | None:
        least = look.posterior.probability_sign()[self._asked(look)].min()
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
            _grown(look, float(size[j]), float(look.spread[j]), sure) for j in self._asked(look)
        )

    def _asked(self, look: Look) -> NDArray[np.intp]:
        return ranked(np.abs(look.posterior.mean))[: self.k]


@final
@dataclass(frozen=True, init=False)
class Budget(Rule):
    """A maximum of rows, calls, seconds of the model, or money at a price for each row.

    As a rule, `until=Budget(rows=400)`, it stops each explanation when it is spent. As a limit,
    `limit=Budget(money=5, price_per_row=0.001)`, it holds for everything that is asked, all rows
    and methods together, and nothing is asked that would cross it. Money is only a limit.
    """

    limits: tuple[tuple[str, float], ...]
    price_per_row: float | None

    def __init__(
        self,
        rows: int | None = None,
        calls: int | None = None,
        seconds: float | None = None,
        money: float | None = None,
        *,
        price_per_row: float | None = None,
    ) -> None:
        given = {"rows": rows, "calls": calls, "seconds": seconds, "money": money}
        limits = tuple((name, value) for name, value in given.items() if value is not None)
        if not limits:
            raise InputError("a budget is of rows, calls, seconds or money: give one of them")
        for name, value in limits:
            _check_positive(f"a budget of {name}", value)
        if (money is None) != (price_per_row is None):
            raise InputError("a budget of money needs the price_per_row, and only it does")
        if price_per_row is not None:
            _check_positive("price_per_row", price_per_row)
        object.__setattr__(self, "limits", limits)
        object.__setattr__(self, "price_per_row", price_per_row)

    def met(self, look: Look) -> str | None:
        spent = self._spent(**look.spent)
        for name, limit in self.limits:
            if spent[name] >= limit:
                return f"the budget of {limit:g} {name} is spent"
        return None

    def crossed(self, rows: int, calls: int, seconds: float) -> str | None:
        """Which limit these totals of rows, calls and seconds cross, in words; None if none."""
        spent = self._spent(rows, calls, seconds)
        for name, limit in self.limits:
            if name == "seconds":
                if seconds >= limit:
                    return f"the limit of {limit:g} seconds is reached"
            elif spent[name] > limit * (1 + ROUNDING):
                what = "a bill of " if name == "money" else ""
                unit = "" if name == "money" else f" {name}"
                return f"{what}{spent[name]:,.10g}{unit} would cross the limit of {limit:,.10g}"
        return None

    def after(self, rows: int, calls: int, seconds: float) -> Budget | None:
        """What is left after this spending; None if any limit is used up."""
        spent = self._spent(rows, calls, seconds)
        left = {name: limit - spent[name] for name, limit in self.limits}
        if any(value <= 0 for value in left.values()):
            return None
        made = object.__new__(Budget)
        object.__setattr__(made, "limits", tuple(left.items()))
        object.__setattr__(made, "price_per_row", self.price_per_row)
        return made

    @property
    def pays(self) -> bool:
        return self.price_per_row is not None

    def rows(self, look: Look) -> float:
        spent = self._spent(**look.spent)
        return min(look.rows * limit / max(spent[name], 1e-9) for name, limit in self.limits)

    def _spent(self, rows: float, calls: float, seconds: float) -> dict[str, float]:
        """A cost by the names that a budget has for it."""
        money = rows * (self.price_per_row or 0.0)
        return {"rows": rows, "calls": calls, "seconds": seconds, "money": money}

    @property
    def most(self) -> float:
        return dict(self.limits).get("rows", math.inf)


@final
@dataclass(frozen=True)
class Either(Rule):
    """Stop when one of two rules is met."""

    one: Rule
    other: Rule

    def met(self, look: Look) -> str | None:
        return self.one.met(look) or self.other.met(look)

    def rows(self, look: Look) -> float:
        return min(self.one.rows(look), self.other.rows(look))

    @property
    def most(self) -> float:
        return min(self.one.most, self.other.most)

    @property
    def pays(self) -> bool:
        return self.one.pays or self.other.pays


@final
@dataclass(frozen=True)
class Both(Rule):
    """Stop when both of two rules are met."""

    one: Rule
    other: Rule

    def met(self, look: Look) -> str | None:
        one, other = self.one.met(look), self.other.met(look)
        return f"{one}, and {other}" if one and other else None

    def rows(self, look: Look) -> float:
        return max(self.one.rows(look), self.other.rows(look))

    @property
    def most(self) -> float:
        return max(self.one.most, self.other.most)

    @property
    def pays(self) -> bool:
        return self.one.pays or self.other.pays


def _rule(other: object) -> Rule:
    if not isinstance(other, Rule):
        raise InputError(
            f"rules combine with rules, such as Budget(rows=500), not with {told(other)}"
        )
    return other


def _check_k(k: object) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k is an integer of at least 1, not {told(k)}")


def _check_positive(what: str, value: object) -> None:
    if not finite(value) or not value > 0:
        raise InputError(f"{what} is a positive number, not {told(value)}")


def _grown(look: Look, gap: float, spread: float, probability: float) -> float:
    """The rows at which a gap is clear at this probability.

    Spreads shrink with the square root of the number of rows.
    """
    from scipy.special import ndtri

    if gap <= 0:
        return math.inf if spread > 0 else look.rows
    return look.rows * max(1.0, (float(ndtri(probability)) * spread / gap) ** 2)


def refuse_limit(limit: Any) -> None:
    """Refuse a limit that is not a `Budget`."""
    if limit is not None and not isinstance(limit, Budget):
        raise InputError(f"limit is a budget such as eagle.until.Budget(rows=), not {told(limit)}")


ROUNDING = 1e-12
"""How far a sum of money may be above its limit because of rounding."""

FIRST = 4
"""The first look has this many rows for each coefficient, and at least `LEAST` rows."""

LEAST, GROWTH = 50, 1.5
"""The fewest rows of a first look; each look has `GROWTH` times the rows of the one before."""


def looks(d: int, most: int) -> list[int]:
    """The number of rows asked by each look; the last look has all rows."""
    rows = [min(most, max(LEAST, FIRST * (d + 1)))]
    while rows[-1] < most:
        rows.append(min(most, math.ceil(rows[-1] * GROWTH)))
    return rows


def refuse_rule(until: Any, method: str, planned: bool) -> None:
    """Refuse what is not a rule, and any rule for a method without a plan."""
    if until is None:
        return
    if not isinstance(until, Rule):
        raise InputError(
            f"until is a rule such as eagle.until.Width(0.02), not {told(until)}; numbers of "
            "rows are eagle.until.Budget(rows=...)"
        )
    if until.pays:
        raise InputError(
            "money is a limit for everything that is asked: give it as limit=Budget(money=..., "
            "price_per_row=...), beside until"
        )
    if not planned:
        raise InputError(
            f"{method} chooses rows by the answers to those before, so there is no plan to stop "
            "in: use a planned method, such as EAGLE"
        )
