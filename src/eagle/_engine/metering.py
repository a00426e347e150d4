"""The one way in which a model is asked: past a meter, in one call after the other.

Explanations, surveys, supplements and predictions all ask here. So limits, checks of the replies,
what is logged and what an interruption leaves are the same for all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, Final, NamedTuple, final

import numpy as np

from eagle._engine.progress import Progress
from eagle._values.arrays import Array
from eagle._values.log import LOG
from eagle.cost import expected_cost
from eagle.errors import AnswerError, LimitError, ReplyError
from eagle.limit import Call, Meter
from eagle.models.box import Box

MAX_CALL_BYTES: Final = 256 << 20
"""Maximum number of bytes of images in a call."""


class Reply(NamedTuple):
    """The answers of each call, shape (rows, outputs), and the error that ended them early.

    Of the call that failed there are the answers that it gave, NaN for rows without one.
    """

    answers: list[Array]
    error: AnswerError | None


@final
class MeteredModel:
    """A model, asked within the limit of a meter. The number of its outputs must not change.

    `calls` and `seconds` are what it has taken so far. Several threads may share a meter, each
    with a metered model of its own.
    """

    def __init__(self, box: Box, meter: Meter) -> None:
        self.box, self.meter = box, meter
        self.calls, self.seconds, self._outputs = 0, 0.0, 0

    @property
    def tokens(self) -> int | None:
        """The tokens that the model has counted in its life; None if it counts none."""
        return None if self.box.remote is None else self.box.remote.tokens

    def limit_error(
        self,
        calls: Sequence[int],
        like: Callable[[], Any],
        every: Callable[[], Iterable[Any]],
    ) -> LimitError | None:
        """The LimitError to raise if calls of these numbers of rows exceed the limit, else None.

        The tables of rows are as in `expected_cost`.
        """
        if self.meter.limit is None:
            return None
        try:
            self.meter.refuse(expected_cost(self.box.remote, calls, like, every))
        except LimitError as error:
            return error
        return None

    def ask_all(self, tables: Iterable[tuple[Any, int]], line: Progress | None = None) -> Reply:
        """Ask one table after the other, each with its number of rows, until one fails.

        What is no `AnswerError`, such as Ctrl-C, is raised, with the answers so far as `answers`.
        """
        answers, asked = list[Array](), 0
        for table, rows in tables:
            try:
                answers.append(self.ask(table, rows))
            except AnswerError as error:
                late = late_answers(error, rows)
                return Reply(answers if late is None else [*answers, late], error)
            except BaseException as error:
                keep_answers(error, answers)
                raise
            asked += rows
            if line is not None:
                line.at(asked)
        return Reply(answers, None)

    def ask_rows(
        self,
        count: int,
        inputs: Callable[[int, int], Any],
        most: int,
        line: Progress | None = None,
    ) -> Array:
        """The answers to `count` rows, in calls of at most `most`.

        `inputs` makes the table of the rows from one number to another. An error that ends the
        calls early has the answers so far as `answers`.
        """
        self.refuse_rows(count, inputs, most)
        parts = pairwise([*range(0, count, most), count])
        answers, error = self.ask_all(((inputs(*part), part[1] - part[0]) for part in parts), line)
        if error is not None:
            keep_answers(error, [unbroken(one) for one in answers])
            raise error
        return np.concatenate(answers)

    def refuse_rows(self, count: int, inputs: Callable[[int, int], Any], most: int) -> None:
        """Refuse, before any is asked, what `ask_rows` would ask beyond the limit."""
        parts = pairwise([*range(0, count, most), count])
        error = self.limit_error(
            sizes_of(count, most), lambda: inputs(0, 1), lambda: (inputs(*part) for part in parts)
        )
        if error is not None:
            raise error

    def ask(self, table: Any, rows: int) -> Array:
        """The checked answers to a table. What is refused here was not asked."""
        began = time.perf_counter()
        with self.meter.call(rows, 0 if self.box.remote else 1) as call:
            try:
                answers = self.box.ask(table, rows)
            except BaseException as error:
                LOG.info("a call with %d rows failed: %s", rows, type(error).__name__)
                if isinstance(error, AnswerError):
                    self._count_failed(error, rows, call, began)
                raise
        self._count(rows, began)
        return self._same_outputs(answers)

    def _count_failed(self, error: AnswerError, rows: int, call: Call, began: float) -> None:
        """Count what a call that failed was answered, and take back what it did not ask."""
        if error.answers is not None and self._outputs not in (0, error.answers.shape[1]):
            error.answers = None
        late = late_answers(error, rows)
        if late is not None:
            self._count(rows, began)
        if isinstance(error, LimitError):  # some of its requests were refused
            call.refund(rows - (0 if late is None else len(unbroken(late))))

    def _count(self, rows: int, began: float) -> None:
        spent = time.perf_counter() - began
        self.seconds += spent
        self.calls += 1
        LOG.info("asked %d rows, call %d, %.3f s", rows, self.calls, spent)

    def _same_outputs(self, answers: Array) -> Array:
        """The answers, unless they have another number of outputs than those before."""
        before, outputs = self._outputs, answers.shape[1]
        if np.isnan(answers).all():
            return np.full((len(answers), before), np.nan) if before else answers
        if before not in (0, outputs):
            raise ReplyError(
                f"the model answered with {before} output{'s' * (before > 1)} before and with "
                f"{outputs} now: every call must give as many"
            )
        self._outputs = outputs
        return answers


@final
class Share:
    """What the model takes from now on, divided by the instances that share its calls."""

    def __init__(self, model: MeteredModel, instances: int) -> None:
        self._model, self._instances = model, instances
        self._seconds, self._tokens = model.seconds, model.tokens

    @property
    def seconds(self) -> float:
        return (self._model.seconds - self._seconds) / self._instances

    @property
    def tokens(self) -> int | None:
        """None if the model counts none."""
        now = self._model.tokens
        if now is None or self._tokens is None:
            return None
        return round((now - self._tokens) / self._instances)


def rows_per_call(batch_rows: int, row_bytes: int) -> int:
    """The most rows of one call, if each takes at least so many bytes."""
    return min(batch_rows, max(1, MAX_CALL_BYTES // max(1, row_bytes)))


def sizes_of(count: int, most: int) -> list[int]:
    """The number of rows of each call, for `count` rows in calls of at most `most`."""
    return [min(most, count - start) for start in range(0, count, most)]


def keep_answers(error: BaseException, answers: Sequence[Array]) -> None:
    """Attach what was answered to an exception, so that nothing paid for is lost."""
    with suppress(Exception):  # another's exception may take no attributes
        vars(error)["answers"] = np.concatenate(answers) if answers else None


def unbroken(answers: Array) -> Array:
    """The rows before the first that has no answer."""
    missing = np.isnan(answers).any(axis=1)
    return answers[: int(missing.argmax())] if missing.any() else answers


def late_answers(error: AnswerError, rows: int) -> Array | None:
    """The answers of a call that ended early, shape (rows, outputs): NaN where there are none."""
    answers = error.answers
    fits = isinstance(answers, np.ndarray) and answers.ndim == 2 and len(answers) == rows
    return answers if fits and np.isfinite(answers).any() else None
