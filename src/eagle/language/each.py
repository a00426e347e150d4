"""A function of one prompt, asked for several prompts at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, final

import numpy as np

from eagle._values.arrays import Array
from eagle._values.checks import string
from eagle._values.text import finite, message_of, short_repr
from eagle.cost import RequestCost
from eagle.errors import EagleError, InputError, ModelError, ReplyError
from eagle.models.box import Box
from eagle.models.concurrent import ConcurrentCalls, Requests
from eagle.models.inputs import Inputs
from eagle.models.native import Task


@final
class Each:
    """A function of one prompt to one number, asked for several prompts at once.

    A function of a list of prompts needs no `Each`: it is a model as it is. Here at most
    `concurrency` prompts are on their way, and a share of `gaps` may raise: these are left out of
    the fit, the explanation says how many, and `failures` why. `name` is what the number is. With
    a `ledger`, a file, what was answered is never asked again; give another `version` when the
    function changes.
    """

    def __init__(
        self,
        function: Callable[[Any], float],
        *,
        concurrency: int = 4,
        gaps: float = 0.1,
        name: str = "score",
        ledger: str | PathLike[str] | None = None,
        version: str = "",
    ) -> None:
        if not callable(function):
            raise InputError(f"a function of a prompt is asked, not {short_repr(function)}")
        string(version, "a version")
        self.function, self.name = function, string(name, "name")
        self._concurrent = ConcurrentCalls(concurrency, gaps, ledger, self.name, version, "each")

    @property
    def tokens(self) -> None:
        """It does not know what its prompts take."""

    @property
    def failures(self) -> tuple[str, ...]:
        """Sentences about prompts that failed and were left out, the last 20."""
        return self._concurrent.failures

    def as_box(self, task: Task | None, outputs: tuple[Any, ...] | None) -> Box:
        """How it is asked, and how its answers are read."""
        partial, known = self._concurrent.gaps > 0, outputs or (self.name,)
        what, kind = f"Each({self.name})", task or "regression"
        return Box(self, what, kind, known, partial=partial, remote=self)

    def __call__(self, prompts: Any) -> Array:
        """The answers to all prompts, shape (prompts, 1); NaN where there is none."""
        inputs = Inputs.of(prompts)
        if not len(inputs):
            raise InputError("there are no prompts to ask")
        return self._concurrent.answer(inputs, self._ask)

    @property
    def stores(self) -> bool:
        """Whether it has a ledger."""
        return self._concurrent.recording is not None

    def fresh(self, table: Any) -> int:
        """How many rows of a table are not in the ledger."""
        return self._concurrent.fresh(Inputs.of(table))

    def request_cost(self, table: Any, calls: Sequence[int]) -> RequestCost:
        """What it takes to ask in calls of these numbers of prompts: a request for each."""
        return RequestCost(sum(calls), None, None, concurrency=self._concurrent.concurrency)

    def _ask(self, inputs: Inputs) -> Array:
        return self._concurrent.ask([inputs.take([i]) for i in range(len(inputs))], self._one)

    def _one(self, one: Inputs, requests: Requests) -> Array:
        def ask(_: Callable[[], None]) -> Array:
            with requests.one() as request:
                request.begin()
                return np.array([[self._score(one.native[0])]])

        return self._concurrent.ask_and_store(one, ask)

    def _score(self, prompt: Any) -> float:
        try:
            value = self.function(prompt)
        except EagleError:
            raise
        except Exception as error:  # a user's own function may raise anything
            raise ModelError(
                f"the function raised {type(error).__name__}: {message_of(error)}"
            ) from error
        if not finite(value):
            raise ReplyError(f"the function returned {short_repr(value)}, not a number")
        return float(value)
