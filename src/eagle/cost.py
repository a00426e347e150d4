"""What things cost: a `CostEstimate` before anything is asked, a `Cost` after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

from eagle._values.checks import check_flags, integer, number
from eagle._values.text import finite, short_repr
from eagle.errors import InputError


@final
@dataclass(frozen=True)
class Cost:
    """What was asked: rows the model saw, calls it took part in, its seconds and its tokens.

    `tokens` are those of a language model, None where it does not say. What is asked together,
    such as a survey, has the sum.

    An explanation says more. Those explained together share calls; each has its share of the
    seconds, and `own_seconds` were spent outside the model. `stopped` says why no more rows were
    asked, if a rule decided that. `missing` of the rows got no answer, and were left out. `shared`
    are the rows of a survey, which all its explanations share; `rows` are then those asked beside
    it.
    """

    rows: int = 0
    calls: int = 0
    model_seconds: float = 0.0
    tokens: int | None = None
    own_seconds: float = 0.0
    stopped: str = ""
    missing: int = 0
    shared: int = 0

    def __add__(self, other: Cost) -> Cost:
        """Rows, calls, seconds of the model and tokens of both."""
        known = [cost.tokens for cost in (self, other) if cost.tokens is not None]
        return Cost(
            self.rows + other.rows,
            self.calls + other.calls,
            self.model_seconds + other.model_seconds,
            sum(known) if known else None,
        )


@final
@dataclass(frozen=True)
class RequestCost:
    """What it takes to ask a model by requests: how many, bytes to send and seconds if known.

    `tokens` are about those of a language model. `concurrency` are under way at once.
    """

    requests: int
    bytes: int | None
    seconds: float | None
    tokens: int | None = None
    concurrency: int = 1


@runtime_checkable
class Remote(Protocol):
    """A model that is asked by requests, several for one call, and knows what these take.

    It counts each request before it is sent, by `eagle.models.concurrent.Requests`.
    """

    @property
    def tokens(self) -> int | None:
        """The tokens it was billed for in its life; None if it does not know them."""

    @property
    def stores(self) -> bool:
        """Whether it stores answers, so that not all rows are asked."""

    def fresh(self, table: Any) -> int:
        """How many rows of a table it would ask, since it has no answer to them."""

    def request_cost(self, table: Any, calls: Sequence[int]) -> RequestCost:
        """The cost of some calls. `calls` has the rows of each, all like those of the table."""


@final
@dataclass(frozen=True)
class CostEstimate:
    """What will be asked: rows, calls, bytes to send, money and seconds, None where not known.

    Examples:
        >>> print(eagle.Explainer(model, X).estimate_cost(X[:3], price_per_row=0.001))
        1,500 rows in 1 call, for 1.50 at 0.001 a row.

    Of a language model also about how many tokens, which may have a price of their own.

    With `at_most` the answers decide how many rows are asked, and this is the most. Where a model
    is asked by requests, as one behind an endpoint is, `requests` says how many, and each counts as
    a call. `asked` rows were asked to measure the seconds. A ledger can only make it less, and
    `stores` says that there is one: what was answered before is not asked again.
    """

    rows: int
    calls: int | None
    at_most: bool = False
    bytes: int | None = None
    price_per_row: float | None = None
    seconds: float | None = None
    asked: int = 0
    tokens: int | None = None
    price_per_1000_tokens: float | None = None
    requests: int | None = None
    stores: bool = False

    def __post_init__(self) -> None:
        check_price(self.price_per_row)
        check_price(self.price_per_1000_tokens)
        check_flags(at_most=self.at_most)
        check_flags(stores=self.stores)
        counts = {"calls": self.calls, "bytes": self.bytes, "tokens": self.tokens}
        counts["requests"] = self.requests
        for name, count in {"rows": self.rows, "asked": self.asked, **counts}.items():
            if count is not None or name not in counts:
                integer(count, name, 0)
        check_seconds(self.seconds)

    @property
    def money(self) -> float | None:
        """The price of all rows and tokens, in the units of the prices."""
        if self.price_per_row is None and self.price_per_1000_tokens is None:
            return None
        tokens = (self.tokens or 0) / 1000 * (self.price_per_1000_tokens or 0.0)
        return self.rows * (self.price_per_row or 0.0) + tokens

    @property
    def cost(self) -> Cost:
        """What is known to count towards a limit: of a model with a ledger, the rows."""
        if self.stores:
            return Cost(self.rows)
        return Cost(self.rows, self.calls or 0, tokens=self.tokens)

    def __add__(self, other: CostEstimate) -> CostEstimate:
        """Both, one after the other."""
        prices = (self.price_per_row, self.price_per_1000_tokens)
        if prices != (other.price_per_row, other.price_per_1000_tokens):
            raise InputError("estimates at different prices do not add up to one")
        return CostEstimate(
            self.rows + other.rows,
            _sum(self.calls, other.calls),
            self.at_most or other.at_most,
            _sum(self.bytes, other.bytes),
            self.price_per_row,
            _sum(self.seconds, other.seconds),
            self.asked + other.asked,
            _sum(self.tokens, other.tokens),
            self.price_per_1000_tokens,
            _sum(self.requests, other.requests),
            self.stores or other.stores,
        )

    def __str__(self) -> str:
        words = f"{'at most ' * self.at_most}{self.rows:,} row{'s' * (self.rows != 1)}"
        if self.calls is not None:
            what = "call" if self.requests is None else "request"
            words += f" in {self.calls:,} {what}{'s' * (self.calls != 1)}"
        if self.bytes is not None:
            words += f", about {_size(self.bytes)} to send"
        if self.tokens is not None:
            words += f", about {self.tokens:,} tokens"
        if self.money is not None:
            prices = (
                (self.price_per_row, "a row"),
                (self.price_per_1000_tokens, "per 1,000 tokens"),
            )
            listed = " and ".join(
                f"{price:g} {what}" for price, what in prices if price is not None
            )
            words += f", for {self.money:,.2f} at {listed}"
        if self.seconds is not None:
            words += f", in about {self.seconds:,.2g} s of the model"
        if self.asked:
            words += f". {self.asked} row was asked to measure this, and may be billed"
        return words[:1].upper() + words[1:] + "."

    def _repr_html_(self) -> str:
        from eagle.display import lines

        return lines.html("What it will cost", [str(self)])


def estimate_calls(
    model: Remote | None,
    table: Any,
    calls: Sequence[int] | None,
    most: int,
    *,
    at_most: bool = False,
    seconds_per_call: float | None = None,
    price_per_row: float | None = None,
    price_per_1000_tokens: float | None = None,
) -> CostEstimate:
    """The cost of some calls of a model, which is None if it is not asked by requests.

    `calls` has the rows of each, all like those of the table. Where the calls are not known before,
    None, at most `most` rows are asked in all.
    """
    check_seconds(seconds_per_call)
    rows = most if calls is None else sum(calls)
    count = None if calls is None else len(calls)
    seconds = None if count is None or seconds_per_call is None else count * seconds_per_call
    size = tokens = requests = None
    if model is not None:
        request_cost = model.request_cost(table, calls or [most])
        size, tokens = request_cost.bytes, request_cost.tokens
        if calls is not None:
            count = requests = request_cost.requests
            seconds = request_cost.seconds
            if seconds is None and seconds_per_call is not None:
                seconds = -(-count // request_cost.concurrency) * seconds_per_call
    if price_per_1000_tokens is not None and tokens is None:
        raise InputError("this model counts no tokens, so they have no price: give price_per_row")
    return CostEstimate(
        rows,
        count,
        at_most or calls is None,
        size,
        price_per_row,
        seconds,
        tokens=tokens,
        price_per_1000_tokens=price_per_1000_tokens,
        requests=requests,
        stores=model is not None and model.stores,
    )


def expected_cost(
    model: Remote | None,
    calls: Sequence[int],
    like: Callable[[], Any],
    every: Callable[[], Iterable[Any]],
) -> Cost:
    """About what calls of these numbers of rows cost.

    `like` makes a table of rows like theirs, and `every` the tables of all calls. These are made
    only for a model that stores answers: rows that it has cost no request and no token.
    """
    if model is None:
        return Cost(sum(calls), len(calls))
    asked = [model.fresh(table) for table in every()] if model.stores else calls
    request_cost = model.request_cost(like(), [rows for rows in asked if rows])
    return Cost(sum(calls), request_cost.requests, tokens=request_cost.tokens)


def check_price(price: Any) -> None:
    """Refuse what is no price."""
    if price is not None and (not finite(price) or price < 0):
        raise InputError(f"a price is a number that is not negative, not {short_repr(price)}")


def check_seconds(seconds: Any) -> None:
    """Refuse what is no duration."""
    if seconds is not None:
        number(seconds, "a number of seconds", 0.0)


def _sum(one: Any, other: Any) -> Any:
    return None if one is None or other is None else one + other


def _size(size: int) -> str:
    for unit, least in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= least:
            return f"{size / least:.3g} {unit}"
    return f"{size} bytes"
