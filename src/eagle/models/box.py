"""The black box: a model, what is understood of it, and the one way to ask it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import numpy as np

from eagle.models import reply
from eagle.space.column import plain
from eagle.types import Array, EagleError, InputError, Model, ModelError, ReplyError

Task: TypeAlias = Literal["classification", "regression"]


@final
@dataclass(frozen=True, eq=False)
class Box:
    """A model as a function, and how its answers are read.

    `task` and `outputs` are None until a reply has shown them; `margin` marks a classifier
    that gives decision values, not probabilities; `calls_it` says what is called.
    """

    function: Model | None
    calls_it: str
    task: Task | None = None
    outputs: tuple[Any, ...] | None = None
    margin: bool = False

    def ask(self, inputs: Any, rows: int) -> Array:
        """Checked answers to a table of `rows` rows, shape (rows, outputs)."""
        if self.function is None:
            raise InputError("there is no model to ask here: plan first, and fit its answers")
        try:
            answers = self.function(inputs)
        except EagleError:
            raise
        except Exception as error:
            raise ModelError(
                f"the model raised {type(error).__name__} when asked {rows} rows: {error}"
            ) from error
        return self.read(answers, rows)

    def read(self, answers: Any, rows: int) -> Array:
        """A reply, checked, as numbers of shape (rows, outputs)."""
        checked = reply.check(answers, rows)
        if self.margin:
            checked = np.concatenate([-checked, checked], 1) if checked.shape[1] == 1 else checked
        elif (self.task or self._guess(checked)) == "classification":
            checked = reply.probabilities(checked)
        if self.outputs is not None and checked.shape[1] != len(self.outputs):
            raise ReplyError(
                f"the model answered with {checked.shape[1]} outputs, but {len(self.outputs)} "
                f"are named: {', '.join(map(str, self.outputs))}"
            )
        return checked

    def _guess(self, answers: Array) -> Task:
        """Rows of two or more numbers that sum to 1 are read as probabilities."""
        if self.outputs is not None and answers.shape[1] == 1 and len(self.outputs) == 2:
            return "classification"
        several = answers.shape[1] > 1
        return "classification" if several and reply.are_probabilities(answers) else "regression"

    def understood(self, answers: Array) -> tuple[Task, tuple[Any, ...]]:
        """Task and output names, now that answers (n, outputs) have been seen."""
        task = self.task or ("classification" if self.margin else self._guess(answers))
        if self.outputs is not None:
            return task, self.outputs
        if task == "regression" and answers.shape[1] == 1:
            return task, ("prediction",)
        return task, tuple(range(answers.shape[1]))


def box(model: Any, task: Task | None = None, outputs: Sequence[Hashable] | None = None) -> Box:
    """Any model: a fitted estimator, or any function of a table."""
    if task not in (None, "classification", "regression"):
        raise InputError(f"task is 'classification' or 'regression', not {task!r}")
    names = None if outputs is None else tuple(plain(o) for o in outputs)
    if names is not None and len(set(names)) < len(names):
        raise InputError("the names of the outputs must differ from one another")
    if isinstance(model, type):
        raise InputError(f"{model.__name__} is a class: give a fitted model, an instance of it")
    classes = _classes(model)
    proba = getattr(model, "predict_proba", None)
    decision = getattr(model, "decision_function", None)
    predict = getattr(model, "predict", None)
    kind = type(model).__name__
    if task != "regression" and callable(proba):
        return Box(proba, f"{kind}.predict_proba", "classification", names or classes)
    if task != "regression" and callable(decision) and classes is not None:
        told = f"{kind}.decision_function"
        return Box(decision, told, "classification", names or classes, margin=True)
    if callable(predict) and (task == "regression" or classes is None):
        return Box(predict, f"{kind}.predict", "regression", names)
    if callable(predict) and not callable(model):
        raise InputError(
            f"{kind} is a classifier that only gives labels: give a function that returns a "
            "number to explain, such as a probability"
        )
    if callable(model):
        name = getattr(model, "__name__", kind)
        return Box(model, f"{name}()", task, names or classes)
    raise InputError(
        f"a model is an estimator with predict_proba or predict, or a function; {kind} is neither"
    )


def _classes(model: Any) -> tuple[Any, ...] | None:
    """The estimator's own class names, where it has one list of them."""
    classes = getattr(model, "classes_", None)
    if classes is None or getattr(model, "_estimator_type", None) == "regressor":
        return None
    if isinstance(classes, list) and classes and np.ndim(classes[0]) > 0:
        return None  # one list for each of several targets
    return tuple(plain(c) for c in classes)
