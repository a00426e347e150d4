"""Errors: each says in a sentence what does not fit, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eagle._values.text import clean


class EagleError(Exception):
    """The base of all errors of this library. The message is a sentence on one line."""

    def __init__(self, message: str = "") -> None:
        super().__init__(" ".join(clean(message).split()))


class InputError(EagleError, ValueError):
    """What the caller gave does not fit."""


class OperandError(InputError, TypeError):
    """Two things that cannot be subtracted from one another."""


class AnswerError(EagleError):
    """The black box did not answer as it must. What was already paid for is kept here:

    `finished`, the explanations made before, and `answers`, those of the unfinished rows.
    """

    def __init__(self, message: str, finished: Sequence[Any] = (), answers: Any = None) -> None:
        super().__init__(message)
        self.finished = list(finished)
        self.answers = answers

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.finished, self.answers), self.__dict__)


class ReplyError(AnswerError, ValueError):
    """What the black box answered does not fit."""


class ModelError(AnswerError, RuntimeError):
    """The black box raised."""


class RefusedError(ModelError):
    """The black box did not take the question, so nothing was computed and nothing is billed."""


class DeniedError(RefusedError):
    """The black box takes no question at all: the token, the address or the quota is at fault."""


class LimitError(AnswerError, RuntimeError):
    """Asking more would cross the limit that the caller has set, so it was not asked."""


class MissingExtraError(EagleError, ImportError):
    """A part of this library needs a package that is not installed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the package {package!r}: pip install 'eagle-xai[{extra}]' brings it"
        )
