"""Any model with a ledger: what it has answered is read from the file, and never asked again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, Final, final

import numpy as np

from eagle._values.arrays import Array
from eagle._values.checks import lacking, string
from eagle._values.log import LOG
from eagle._values.text import short_repr
from eagle.errors import AnswerError, InputError, LimitError, RefusedError, ReplyError
from eagle.models.box import Box, box, check_reply
from eagle.models.content import content_digest
from eagle.models.inputs import Inputs
from eagle.models.ledger import Ledger, keys_of
from eagle.models.native import Task

RECORDED_METHODS: Final = ("predict_proba", "decision_function", "predict")
"""The methods of an estimator that are recorded, each on its own."""

VERSION: Final = 16
"""How many digits a version that is made of an estimator's content has."""


NO_ANSWER: Final[Array] = np.array([np.nan])
"""What stands for the answer to a row that has none."""


@final
class Recording:
    """The answers of one function of one model, in a ledger."""

    def __init__(
        self,
        ledger: Ledger,
        name: str,
        version: str,
        function: str = "answers",
    ) -> None:
        self.ledger = ledger
        if not isinstance(version, str):
            raise InputError(f"a version is a text, such as '2026-11', not {short_repr(version)}")
        string(name, "the name of a model")
        self._model = (name, version, function)

    def answer(self, inputs: Inputs, ask: Callable[[Inputs], Array]) -> Array:
        """The answers to all rows. Those that are not in the ledger are asked, each once.

        `ask` must store what it asks, by `billed`.
        """
        keys = keys_of(self._model, inputs)
        known = self.ledger.answers(keys)
        fresh = {key: i for i, key in reversed(list(enumerate(keys))) if key not in known}
        LOG.info("the ledger has %d of %d rows, %d are asked", len(known), len(keys), len(fresh))
        if fresh:
            places = sorted(fresh.values())
            part = inputs if len(places) == len(inputs) else inputs.take(places)
            asked = [keys[i] for i in places]
            try:
                known.update(zip(asked, ask(part), strict=True))
            except AnswerError as error:
                if error.answers is not None:  # those of all rows, NaN where there are none
                    known.update(zip(asked, error.answers, strict=True))
                    error.answers = stack_answers([known.get(key, NO_ANSWER)[None] for key in keys])
                raise
        return stack_answers([known[key][None] for key in keys])

    def fresh(self, inputs: Inputs) -> int:
        """How many different rows are not in the ledger."""
        keys = keys_of(self._model, inputs)
        return len(set(keys) - set(self.ledger.answers(keys)))

    def ask_and_store(self, inputs: Inputs, ask: Callable[[Callable[[], None]], Array]) -> Array:
        """Ask, with an intent before and the answers stored after.

        `ask` gets a function to call before it sends the rows once more. The intent before is then
        in doubt, since its rows may be billed, and a new one is written.
        """
        keys = keys_of(self._model, inputs)
        intents = [self.ledger.intend(self._model, keys)]

        def resent() -> None:
            self.ledger.doubt(intents[-1])
            intents.append(self.ledger.intend(self._model, keys))

        try:
            answers = ask(resent)
        except (RefusedError, LimitError, CancelledError):  # the last time it was not sent
            self.ledger.delete_refused(intents[-1])
            raise
        except BaseException:
            self.ledger.doubt(intents[-1])
            raise
        known = np.flatnonzero(~np.isnan(answers).any(axis=1)).tolist()
        if len(known) < len(keys):  # rows without an answer may be billed, and are asked again
            lost = [key for i, key in enumerate(keys) if i not in set(known)]
            self.ledger.doubt(self.ledger.intend(self._model, lost))
            inputs, keys, stored = inputs.take(known), [keys[i] for i in known], answers[known]
        else:
            stored = answers
        self.ledger.store(intents[-1], self._model, inputs, keys, stored)
        return answers


@final
class Recorded:
    """A model whose answers are kept. It has all that the model has, and answers as it does."""

    def __init__(self, model: Any, ledger: Ledger, name: str, version: str) -> None:
        self.model, self.name, self.version = model, name, version
        self._ledger = ledger

    def box(self, task: Task | None, outputs: Sequence[Hashable] | None) -> Box:
        """What is known of the model, with a function that asks what is not in the ledger."""
        known = box(self.model, task, outputs)
        if known.partial:
            raise InputError(
                f"{known.calls_it} may leave rows without an answer: give it a ledger of its own, "
                "ledger='answers.db'"
            )
        if known.function is None:
            raise InputError("there is no model to record")
        label = known.calls_it.rpartition(".")[2]
        return replace(known, function=self._through(known.function, label))

    def __call__(self, table: Any) -> Array:
        """The answers of a model that is a function."""
        return self._ask(self.model, "answers", table)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("model", "_ledger"):  # a copy asks before it has them
            raise AttributeError(name)
        member = getattr(self.model, name)
        return self._through(member, name) if name in RECORDED_METHODS else member

    def __repr__(self) -> str:
        return f"<{short_repr(self.model)}, recorded in {self._ledger.path}>"

    def _through(self, function: Callable[[Any], Any], label: str) -> Callable[[Any], Array]:
        return partial(self._ask, function, label if label in RECORDED_METHODS else "answers")

    def _ask(self, function: Callable[[Any], Any], label: str, table: Any) -> Array:
        inputs = Inputs.of(table)
        if not len(inputs):
            raise InputError("there are no rows to ask")
        recording = Recording(self._ledger, self.name, self.version, label)

        def ask(fresh: Inputs) -> Array:
            return recording.ask_and_store(
                fresh, lambda _: check_reply(function(fresh.native), len(fresh))
            )

        return recording.answer(inputs, ask)


def recorded(
    model: Any,
    path: str | PathLike[str],
    *,
    name: str | None = None,
    version: str | None = None,
) -> Recorded:
    """A model whose answers are kept in a file: what was answered is never asked again.

        eagle.Explainer(eagle.models.recorded(forest, "answers.db"), X_train)

    Answers belong to the model's name and version. Without a version an estimator is known by its
    content, so that one that was fitted otherwise is asked again; a function needs a version, since
    its content cannot be known.
    """
    predicts = callable(model) or any(not lacking(model, name) for name in RECORDED_METHODS)
    if isinstance(model, type) or not predicts:
        raise InputError(f"a fitted model or a function is recorded, not {short_repr(model)}")
    for what, text in (("the name of a model", name), ("a version", version)):
        if text is not None:
            string(text, what)
    kind = getattr(model, "__qualname__", None) or type(model).__name__
    known = _content(model) if version is None else version
    return Recorded(model, open_ledger(path), name or kind, known)


def open_ledger(path: str | PathLike[str]) -> Ledger:
    """The ledger in a file, which is made if it is not there. It warns once of rows in doubt."""
    ledger = Ledger(path)
    ledger.settle()
    return ledger


def stack_answers(answers: Sequence[Array]) -> Array:
    """Answers below one another; all must have as many outputs. Rows of NaN have no answer."""
    widths = {part.shape[1] for part in answers if not np.isnan(part).all()}
    if len(widths) > 1:
        raise ReplyError(
            f"the model answered with {' and '.join(map(str, sorted(widths)))} outputs: every row "
            "must have as many"
        )
    wide = widths.pop() if widths else 1
    return np.concatenate(
        [part if part.shape[1] == wide else np.full((len(part), wide), np.nan) for part in answers]
    )


def _content(model: Any) -> str:
    """A version made of what an estimator holds."""
    if any(callable(getattr(model, name, None)) for name in RECORDED_METHODS):
        with suppress(Exception):  # another's code
            return content_digest(model)[:VERSION]
    raise InputError(
        "the ledger must know which model answers: say version='...', and change it when the "
        "model changes"
    )


def box_of(model: Any, task: Task | None, outputs: Sequence[Hashable] | None) -> tuple[Box, Any]:
    """The box of any model, and the model; of a `Recorded` one, the model inside."""
    if isinstance(model, Recorded):
        return model.box(task, outputs), model.model
    return box(model, task, outputs), model
