"""What a language model is asked about: how likely a given answer is, on the scale of log-odds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, final, runtime_checkable

import numpy as np

from eagle._values.checks import elements, is_equal
from eagle._values.text import finite, short, short_repr
from eagle.errors import InputError, ReplyError

MAX_LOG_PROBABILITY: Final = -(2.0**-53)
"""The largest log-probability: that of the largest float below 1. Its log-odds are 36.7."""

ROUNDING: Final = 1e-3
"""A log-probability above 0 by at most this is rounding error, and is taken as 0."""


def log_odds(log_p: float) -> float:
    """log p − log(1 − p), from log p: exact for tiny p and for tiny 1 − p.

    Where p is 1 to the last digit, it counts as the largest float below 1.
    """
    if not finite(log_p) and not is_equal(log_p, -np.inf):
        raise InputError(f"a log-probability is a number, not {short_repr(log_p)}")
    log_p = min(float(log_p), MAX_LOG_PROBABILITY)
    return log_p - float(np.log(-np.expm1(log_p)))


@runtime_checkable
class Given(Protocol):
    """A score of a text that the model is given, not one that it writes."""

    @property
    def text(self) -> str:
        """The text that follows the prompt."""

    @property
    def output(self) -> str:
        """What the score is, as the name of an output."""

    def of_tokens(self, tokens: Sequence[str], log_p: Sequence[Any]) -> float:
        """The score, from the text's tokens and the log-probability of each."""


@runtime_checkable
class Next(Protocol):
    """A score of the one token that the model would write next."""

    @property
    def output(self) -> str:
        """What the score is, as the name of an output."""

    def of_top(self, top: Mapping[str, Any]) -> float:
        """The score, from the likeliest tokens and their log-probabilities."""


@final
@dataclass(frozen=True)
class Answer:
    """The log-odds that the model gives this answer, word for word, as ContextCite has it.

    The answer is given, not sampled: the log-probabilities of its tokens are summed. With a `span`
    of characters, such as (0, 5), only tokens that have a character in the span are scored, each
    given the text before it. The answer begins with the space between prompt and answer, if there
    is one.
    """

    text: str
    span: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text:
            raise InputError(f"an answer is a text that is not empty, not {short_repr(self.text)}")
        if self.span is None:
            return
        places = isinstance(self.span, tuple) and len(self.span) == 2
        if not places or not all(type(k) is int for k in self.span):
            raise InputError(
                f"a span is a pair of integers, such as (0, 5), not {short_repr(self.span)}"
            )
        if not 0 <= self.span[0] < self.span[1] <= len(self.text):
            raise InputError(
                f"a span lies within the answer's {len(self.text)} characters, and "
                f"{self.span} does not"
            )

    @property
    def output(self) -> str:
        words = self.text if self.span is None else self.text[slice(*self.span)]
        return f"log-odds of «{short(words.strip(), 40)}»"

    def of_tokens(self, tokens: Sequence[str], log_p: Sequence[Any]) -> float:
        return log_odds(sum(_log_p(log_p[k]) for k in self.places(tokens)))

    def places(self, tokens: Sequence[str]) -> list[int]:
        """The places of the tokens that are scored."""
        low, high = self.span or (0, len(self.text))
        ends = np.cumsum([len(token) for token in tokens])
        starts = ends - [len(token) for token in tokens]
        places = [k for k in range(len(tokens)) if starts[k] < high and ends[k] > low]
        if not places:
            raise ReplyError(f"the answer has no token in the span {self.span}")
        return places


@final
@dataclass(frozen=True)
class FirstToken:
    """The log-odds that the model's next token is this one, however it is written.

    Tokens are compared without spaces and case, and those that are alike are added up. A token
    that is not among the likeliest that the endpoint tells counts as likely as the last of them,
    which is an upper bound.
    """

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise InputError(f"a token is a text that is not empty, not {short_repr(self.text)}")

    @property
    def output(self) -> str:
        return f"log-odds of «{short(self.text.strip(), 40)}» as the next token"

    def of_top(self, top: Mapping[str, Any]) -> float:
        total = _sum(top, (self.text,))
        return log_odds(_least(top) if total is None else total)


@final
@dataclass(frozen=True)
class YesNo:
    """The log-odds of yes against no as the next token: log P(yes) − log P(no).

    So P(yes)/(P(yes) + P(no)) is the probability that is explained. Tokens are compared without
    spaces and case. If only one of the two is among the likeliest that the endpoint tells, the
    other counts as likely as the last of them; if neither is, the prompt has no answer.
    """

    yes: tuple[str, ...] = ("yes",)
    no: tuple[str, ...] = ("no",)

    def __post_init__(self) -> None:
        for name, given in (("yes", self.yes), ("no", self.no)):
            words = elements(given, f"{name}, one of two tuples of words,")
            if not words or not all(isinstance(w, str) for w in words):
                raise InputError(f"yes and no are tuples of words, not {short_repr(given)}")
            object.__setattr__(self, name, tuple(words))
        if {_plain(w) for w in self.yes} & {_plain(w) for w in self.no}:
            raise InputError("a word is yes or no, not both")

    @property
    def output(self) -> str:
        return f"log-odds of «{self.yes[0].strip()}» against «{self.no[0].strip()}»"

    def of_top(self, top: Mapping[str, Any]) -> float:
        yes, no = _sum(top, self.yes), _sum(top, self.no)
        if yes is None and no is None:
            listed = ", ".join(short_repr(token, 12) for token in list(top)[:5])
            raise ReplyError(
                f"neither {short_repr(self.yes[0])} nor {short_repr(self.no[0])} is among the "
                f"{len(top)} "
                f"likeliest tokens, such as {listed}: does the prompt ask for one of them?"
            )
        return (_least(top) if yes is None else yes) - (_least(top) if no is None else no)


def _plain(token: str) -> str:
    return token.strip().casefold()


def _sum(top: Mapping[str, Any], words: Sequence[str]) -> float | None:
    """The log-probability of any of the words, None if none is there."""
    wanted = {_plain(word) for word in words}
    logs = [_log_p(p) for token, p in top.items() if _plain(token) in wanted]
    return float(np.logaddexp.reduce(logs)) if logs else None


def _least(top: Mapping[str, Any]) -> float:
    return min(map(_log_p, top.values()))


def _log_p(value: Any) -> float:
    if not finite(value) or value > ROUNDING:
        raise ReplyError(f"the endpoint gave {short_repr(value)} as a log-probability")
    return float(min(value, 0.0))
