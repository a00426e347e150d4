"""What an explanation will cost, before anything is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

from eagle.types import InputError, finite, told


@final
@dataclass(frozen=True)
class Fare:
    """What it takes to ask a remote model: requests, bytes to send, and seconds if it is known.

    `tokens` are about those of a language model.
    """

    requests: int
    bytes: int
    seconds: float | None
    tokens: int | None = None


@runtime_checkable
class Remote(Protocol):
    """A model that knows what it takes to ask it."""

    def fare(self, table: Any, calls: Sequence[int]) -> Fare:
        """The cost of some calls. `calls` has the rows of each, all like those of the table."""


@final
@dataclass(frozen=True)
class Quote:
    """What will be asked: rows, calls, bytes to send, money and seconds, None where not known.

    Examples:
        >>> print(eagle.Explainer(model, X).quote(X[:3], price_per_row=0.001))
        1,500 rows in 1 call, for 1.50 at 0.001 a row.

    Of a language model also about how many tokens, which may have a price of their own.

    With `at_most` the answers decide how many rows are asked, and this is the most. A call is a
    request where the model is behind an endpoint. `asked` rows were asked to measure the seconds.
    A ledger can only make it less: what was answered before is not asked again.
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

    def __post_init__(self) -> None:
        check_price(self.price_per_row)
        check_price(self.price_per_1000_tokens)

    @property
    def money(self) -> float | None:
        """The price of all rows and tokens, in the units of the prices."""
        if self.price_per_row is None and self.price_per_1000_tokens is None:
            return None
        tokens = (self.tokens or 0) / 1000 * (self.price_per_1000_tokens or 0.0)
        return self.rows * (self.price_per_row or 0.0) + tokens

    def __add__(self, other: Quote) -> Quote:
        """Both, one after the other."""
        prices = (self.price_per_row, self.price_per_1000_tokens)
        if prices != (other.price_per_row, other.price_per_1000_tokens):
            raise InputError("quotes at different prices do not add up to one")
        return Quote(
            self.rows + other.rows,
            _sum(self.calls, other.calls),
            self.at_most or other.at_most,
            _sum(self.bytes, other.bytes),
            self.price_per_row,
            _sum(self.seconds, other.seconds),
            self.asked + other.asked,
            _sum(self.tokens, other.tokens),
            self.price_per_1000_tokens,
        )

    def __str__(self) -> str:
        words = f"{'at most ' * self.at_most}{self.rows:,} row{'s' * (self.rows != 1)}"
        if self.calls is not None:
            words += f" in {self.calls:,} call{'s' * (self.calls != 1)}"
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
        from eagle.show import lines

        return lines.html("What it will cost", [str(self)])


def quoted(
    model: Any,
    table: Any,
    calls: Sequence[int] | None,
    most: int,
    *,
    at_most: bool = False,
    seconds_per_call: float | None = None,
    price_per_row: float | None = None,
    price_per_1000_tokens: float | None = None,
) -> Quote:
    """The cost of some calls. `calls` has the rows of each, all like those of the table.

    Where the calls are not known before, None, at most `most` rows are asked in all.
    """
    rows = most if calls is None else sum(calls)
    count = None if calls is None else len(calls)
    seconds = None if count is None or seconds_per_call is None else count * seconds_per_call
    size = tokens = None
    if isinstance(model, Remote):
        fare = model.fare(table, calls or [most])
        size, tokens = fare.bytes, fare.tokens
        if calls is not None:
            count, seconds = fare.requests, seconds if fare.seconds is None else fare.seconds
    if price_per_1000_tokens is not None and tokens is None:
        raise InputError("this model counts no tokens, so they have no price: give price_per_row")
    return Quote(
        rows,
        count,
        at_most or calls is None,
        size,
        price_per_row,
        seconds,
        tokens=tokens,
        price_per_1000_tokens=price_per_1000_tokens,
    )


def check_price(price: Any) -> None:
    """Refuse what is no price."""
    if price is not None and (not finite(price) or price < 0):
        raise InputError(f"a price is a number that is not negative, not {told(price)}")


def _sum(one: Any, other: Any) -> Any:
    return None if one is None or other is None else one + other


def _size(size: int) -> str:
    for unit, least in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= least:
            return f"{size / least:.3g} {unit}"
    return f"{size} bytes"
