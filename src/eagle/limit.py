"""A limit on all that is asked together: rows, calls, seconds, tokens and money.

    explainer.explain_many(X, limit=eagle.Limit(money=5, price_per_row=0.001))

A meter counts what is asked under a limit, and refuses what would cross it. Models that send
requests, several for one call, count these themselves: see `calls_now`.
"""

from __future__ import annotations

import time
from contextvars import ContextVar, Token
from dataclasses import dataclass, field, replace
from threading import Lock, RLock
from typing import Any, Final, final

from eagle._values.checks import integer
from eagle._values.text import finite, short_repr
from eagle.cost import Cost
from eagle.errors import InputError, LimitError

__all__ = ["Limit", "Meter"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


ROUNDING: Final = 1e-12
"""How far a sum of money may be above its limit because of rounding."""


@final
@dataclass(frozen=True)
class Limit:
    """The most of rows, calls, seconds, tokens and money that all that is asked together may cost.

    Examples:
        >>> limit = eagle.Limit(money=0.5, price_per_row=0.001)  # or rows=500, seconds=60, …
        >>> explanation = eagle.Explainer(model, X).explain(X[0], limit=limit)
        >>> explanation.cost.rows
        500

    Nothing is asked that would cross it: a plan that would is refused before, and what is asked in
    parts ends there. A model that is asked by requests, such as an `Endpoint`, is limited between
    these: each counts as a call, also one that is sent again. Seconds are those of the model: once
    they are spent, no further call or request begins. Money is rows at `price_per_row`, tokens at
    `price_per_1000_tokens`, or both. Tokens are those that replies say; of requests that are not
    answered yet they are estimated. A model that counts no tokens cannot be limited in them.
    """

    rows: int | None = None
    calls: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    money: float | None = None
    price_per_row: float | None = field(default=None, kw_only=True)
    price_per_1000_tokens: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not self.limits:
            raise InputError(
                "a limit is of rows, calls, seconds, tokens or money: give one of them"
            )
        every: dict[str, Any] = {f"a limit of {name}": most for name, most in self.limits.items()}
        every["price_per_row"] = self.price_per_row
        every["price_per_1000_tokens"] = self.price_per_1000_tokens
        for what, value in every.items():
            if value is not None and (not finite(value) or not value > 0):
                raise InputError(f"{what} is a positive number, not {short_repr(value)}")
        for name in ("rows", "calls", "tokens"):
            if name in self.limits:
                integer(self.limits[name], f"a limit of {name}", 1)
        priced = self.price_per_row is not None or self.price_per_1000_tokens is not None
        if (self.money is not None) != priced:
            raise InputError(
                "a limit of money needs price_per_row or price_per_1000_tokens, and only it does"
            )

    @property
    def limits(self) -> dict[str, float]:
        """What is limited, by name."""
        every = {
            "rows": self.rows,
            "calls": self.calls,
            "seconds": self.seconds,
            "tokens": self.tokens,
            "money": self.money,
        }
        return {name: most for name, most in every.items() if most is not None}

    @property
    def counts_tokens(self) -> bool:
        """Whether the model must say its tokens."""
        return self.tokens is not None or self.price_per_1000_tokens is not None

    def money_for(self, cost: Cost) -> float:
        """The money that it costs at the prices of the limit."""
        tokens = (cost.tokens or 0) / 1000 * (self.price_per_1000_tokens or 0.0)
        return cost.rows * (self.price_per_row or 0.0) + tokens

    def over_limit(self, cost: Cost) -> str | None:
        """Which limit this total cost crosses, in words; None if none."""
        for name, most in self.limits.items():
            if name == "seconds":
                if cost.model_seconds >= most:
                    return f"the limit of {most:g} seconds is reached"
            elif (spent := self._amount(name, cost)) > most * (1 + ROUNDING):
                return f"{self._words(name, spent)} would cross the limit of {most:,.10g}"
        return None

    def after(self, cost: Cost) -> Limit | None:
        """What is left after this cost; None if any of it is used up."""
        left: dict[str, Any] = {
            name: most - self._amount(name, cost) for name, most in self.limits.items()
        }
        return replace(self, **left) if all(most > 0 for most in left.values()) else None

    def _amount(self, name: str, cost: Cost) -> float:
        spent = {
            "rows": cost.rows,
            "calls": cost.calls,
            "seconds": cost.model_seconds,
            "tokens": cost.tokens or 0,
            "money": self.money_for(cost),
        }
        return spent[name]

    def _words(self, name: str, spent: float) -> str:
        if name == "money":
            about = "about " if self.price_per_1000_tokens is not None else ""
            return f"a cost of {about}{spent:,.10g}"
        return f"{'about ' * (name == 'tokens')}{spent:,.10g} {name}"


def refuse_limit(limit: Any) -> None:
    """Refuse what is no `Limit`."""
    if limit is not None and not isinstance(limit, Limit):
        raise InputError(f"limit is a limit such as eagle.Limit(rows=500), not {short_repr(limit)}")


@final
class Meter:
    """Counts what is asked, by any number of threads, and refuses what would cross the limit.

    Rows are counted before they are asked, since a call that fails may be billed as well; tokens
    under way by their estimate, until the reply says how many they were. Threads that must not ask
    what another one is asking take turns, by the lock `turn`.
    """

    def __init__(self, limit: Limit | None = None, spent: Cost | None = None) -> None:
        self.limit = limit
        self._spent = spent or Cost()
        self._expected = 0
        self._began: list[float] = []
        self._lock, self.turn = Lock(), RLock()

    @property
    def cost(self) -> Cost:
        """What was asked so far, without estimates."""
        with self._lock:
            return self._now()

    def over_limit(self, more: Cost) -> str | None:
        """Which limit this much more would cross, in words; None if it fits."""
        with self._lock:
            return self._over_limit(more)

    def refuse(self, more: Cost) -> None:
        """Refuse to ask this much more if it would cross the limit."""
        with self._lock:
            self._refuse(more)

    def call(self, rows: int, calls: int = 1) -> Call:
        """A call of the model about some rows, for a `with`, which refuses what crosses the limit.

        Requests that the model counts within are counted in place of the call. `calls` is 0 for a
        model that is known to count all of them.
        """
        return Call(self, rows, calls)

    def begin(self, rows: int, calls: int) -> float:
        """Count a call that begins, and return when; or refuse it."""
        with self._lock:
            self._refuse(Cost(rows, calls))
            self._spent += Cost(rows, calls)
            began = time.perf_counter()
            self._began.append(began)
            return began

    def add(self, cost: Cost) -> None:
        """Count what was asked elsewhere; of a negative cost, take back what was not asked."""
        with self._lock:
            self._spent += cost

    def end(self, began: float) -> None:
        """Count the seconds of a call that ends."""
        with self._lock:
            self._began.remove(began)
            self._spent += Cost(model_seconds=time.perf_counter() - began)

    def expect(self, call: Call, tokens: int) -> None:
        """Count a request of about so many tokens before it is sent, or refuse it.

        The first ones of a call may be counted already, with the call.
        """
        with self._lock:
            calls = 0 if call.paid else 1
            self._refuse(Cost(calls=calls, tokens=tokens))
            call.paid -= 1 - calls
            self._spent += Cost(calls=calls)
            self._expected += tokens

    def settle(self, expected: int, tokens: int) -> None:
        """Count the tokens of a request in place of those that were expected of it."""
        with self._lock:
            self._expected -= expected
            self._spent += Cost(tokens=tokens)

    def __reduce__(self) -> tuple[type[Meter], tuple[Limit | None, Cost]]:
        return Meter, (self.limit, self.cost)

    def _now(self) -> Cost:
        now = time.perf_counter() if self._began else 0.0
        return self._spent + Cost(model_seconds=sum(now - began for began in self._began))

    def _over_limit(self, more: Cost) -> str | None:
        if self.limit is None:
            return None
        return self.limit.over_limit(self._now() + Cost(tokens=self._expected) + more)

    def _refuse(self, more: Cost) -> None:
        why = self._over_limit(more)
        if why is not None:
            raise LimitError(f"{why}: no more was asked")


@final
class Call:
    """A call of the model that a meter counts. `paid` is how many requests that counts for."""

    def __init__(self, meter: Meter, rows: int, calls: int) -> None:
        self.meter, self.paid = meter, calls
        self._rows, self._began = rows, 0.0
        self._token: Token[tuple[Call, ...]] | None = None

    def __enter__(self) -> Call:
        self._began = self.meter.begin(self._rows, self.paid)
        self._token = CALLS.set((*CALLS.get(), self))
        return self

    def refund(self, rows: int) -> None:
        """Take back rows that were not asked after all."""
        self.meter.add(Cost(-rows))

    def __exit__(self, *_: object) -> None:
        assert self._token is not None  # it was entered
        CALLS.reset(self._token)
        self.meter.end(self._began)


CALLS: Final[ContextVar[tuple[Call, ...]]] = ContextVar("the calls that are under way", default=())


def calls_now() -> tuple[Call, ...]:
    """The calls of the model that are under way in this thread, the innermost last.

    A model that sends requests counts each in all of them, also if functions of others stand
    between it and the meter.
    """
    return CALLS.get()
