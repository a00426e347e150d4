"""The black box: a model, what is understood of it, and the one way to ask it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final, get_args

import numpy as np

from eagle.models import reply
from eagle.table.column import plain
from eagle.types import (
    Array,
    EagleError,
    InputError,
    Model,
    ModelError,
    Need,
    ReplyError,
    message_of,
    told,
)

Task: TypeAlias = Literal["classification", "regression"]


@final
@dataclass(frozen=True, eq=False)
class Box:
    """A model as a function, and how its answers are read.

    `task` and `outputs` are None until a reply has shown them; `margin` marks a classifier
    that gives decision values, not probabilities; `calls_it` says what is called, and `asked` what
    it is asked about, if that is no table.
    """

    function: Model | None
    calls_it: str
    task: Task | None = None
    outputs: tuple[Any, ...] | None = None
    margin: bool = False
    asked: str | None = None

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
                f"the model raised {type(error).__name__} when asked {rows} rows: "
                f"{message_of(error)}"
            ) from error
        return self.read(answers, rows)

    def read(self, answers: Any, rows: int) -> Array:
        """A reply, checked, as numbers of shape (rows, outputs)."""
        checked = reply.check(answers, rows)
        named = None if self.outputs is None else len(self.outputs)
        if self.margin:
            checked = np.concatenate([-checked, checked], 1) if checked.shape[1] == 1 else checked
        elif self.task == "classification" or (
            self.task is None and named == 2 and checked.shape[1] == 1
        ):
            checked = reply.probabilities(checked, named)
        if named is not None and checked.shape[1] != named:
            raise ReplyError(
                f"the model answered with {checked.shape[1]} outputs, but {named} are named: "
                f"{', '.join(map(str, self.outputs or ()))}"
            )
        return checked

    def refuse(self, name: str, needs: frozenset[Need]) -> None:
        """A method that needs probabilities is refused where there are none, or none are known."""
        if not needs & {Need.PROBABILITIES, Need.BINARY}:
            return
        wanted = Need.BINARY if Need.BINARY in needs else Need.PROBABILITIES
        if self.task == "regression" or self.margin:
            raise InputError(f"{name} needs {wanted.value}, which {self.calls_it} does not give")
        if self.task is None:
            raise InputError(
                f"{name} needs {wanted.value}: if that is what {self.calls_it} gives, say "
                "task='classification'"
            )
        if wanted is Need.BINARY and (self.outputs is None or len(self.outputs) != 2):
            has = "does not say how many it has"
            count = has if self.outputs is None else f"has {len(self.outputs)}"
            raise InputError(
                f"{name} needs {wanted.value}, but {self.calls_it} {count}: give a function of one "
                "class against the rest, with outputs=('rest', 'class')"
            )

    def describe(self, seen: str | None, named: tuple[Any, ...] | None) -> list[str]:
        """What is understood of the model, in words, by what an answer has shown if any did."""
        task, outputs = self.task or seen, self.outputs or named
        lines = [f"Model: {self.calls_it}", f"Task: {task or 'not known before the first answer'}"]
        if self.margin:
            lines.append("Answers: decision values, since the model gives no probabilities")
        if outputs is None:
            return [*lines, "Output: its shape is known after the first answer"]
        listed = ", ".join(map(str, outputs[:10])) + (" …" if len(outputs) > 10 else "")
        kind = "classes" if task == "classification" else "outputs"
        return [*lines, f"Output: (n, {len(outputs)}), {kind} {listed}"]

    def understood(self, answers: Array) -> tuple[Task, tuple[Any, ...]]:
        """Task and output names, as the answers about one instance show them.

        Rows of two or more numbers that sum to 1 are read as probabilities. Each instance is
        judged by its own answers, so that neither company nor history can decide. Of images and
        texts, several numbers that do not sum to 1 are most likely logits, and refused.
        """
        task = self.task
        if task is None:
            sums = answers.shape[1] > 1 and reply.are_probabilities(answers)
            if self.asked is not None and answers.shape[1] > 1 and not sums:
                raise ReplyError(
                    f"the model answered each {self.asked} with {answers.shape[1]} numbers between "
                    f"{answers.min():.3g} and {answers.max():.3g} that are no probabilities, "
                    "perhaps logits: return their softmax, or say task='regression' if they are "
                    "quantities to be explained as they are",
                    answers=answers,
                )
            task = "classification" if sums else "regression"
        if self.outputs is not None:
            return task, self.outputs
        if task == "regression" and answers.shape[1] == 1:
            return task, ("prediction",)
        return task, tuple(range(answers.shape[1]))


@final
class Steady:
    """A black box that is asked several times, and answers with as many outputs every time."""

    def __init__(self, box: Box) -> None:
        self._box, self._outputs = box, 0

    def ask(self, inputs: Any, rows: int) -> Array:
        """As `Box.ask`; outputs that change from call to call are refused."""
        answers = self._box.ask(inputs, rows)
        found = answers.shape[1]
        if self._outputs and found != self._outputs:
            raise ReplyError(
                f"the model answered with {self._outputs} output{'s' * (self._outputs > 1)} before "
                f"and with {found} now: every call must give as many"
            )
        self._outputs = found
        return answers


def box(model: Any, task: Task | None = None, outputs: Sequence[Hashable] | None = None) -> Box:
    """Any model: a fitted estimator, or any function of a table."""
    if task is not None and not (isinstance(task, str) and task in get_args(Task)):
        raise InputError(f"task is 'classification' or 'regression', not {told(task)}")
    names = None if outputs is None else _names(outputs)
    if model is None:
        return Box(None, "no model", task, names)
    if isinstance(model, type):
        raise InputError(f"{model.__name__} is a class: give a fitted model, an instance of it")
    kind, role = type(model).__name__, _role(model)
    if role == "clusterer":
        raise InputError(
            f"{kind} gives numbers of clusters, which are no quantities: give a function that "
            "returns a distance or a score"
        )
    classes = None if role == "regressor" else _classes(model)
    known = names or classes
    if role == "classifier":
        task = task or "classification"
    for method, ask_it in (
        ("predict_proba", task != "regression"),
        ("decision_function", task != "regression" and role != "regressor"),
        ("predict", True),
    ):
        function = getattr(model, method, None)
        if not ask_it or not callable(function):
            continue
        called = f"{kind}.{method}"
        if method == "predict_proba":
            return Box(function, called, "classification", known)
        if method == "decision_function" and classes is None:  # a detector of outliers
            return Box(function, called, "regression", names or ("decision",))
        if method == "decision_function":
            _refuse_pairs(model, kind, len(classes or ()))
            return Box(function, called, "classification", known, margin=True)
        if classes is not None and task != "regression":
            break
        return Box(function, called, "regression" if role == "regressor" else task, names)
    if callable(model):
        return Box(model, f"{getattr(model, '__name__', kind)}()", task, known)
    if callable(getattr(model, "predict", None)):
        raise InputError(
            f"{kind} is a classifier that only gives labels: give a function that returns a "
            "number to explain, such as a probability"
        )
    raise InputError(
        f"a model is an estimator with predict_proba or predict, or a function; {kind} is neither"
    )


def _names(outputs: Any) -> tuple[Any, ...]:
    """The names that a caller gives to the outputs."""
    if isinstance(outputs, str) or not np.iterable(outputs):
        raise InputError(f"outputs is a list of names, not {told(outputs)}")
    names = tuple(plain(o) for o in outputs)
    try:
        distinct = len(set(names))
    except TypeError:
        raise InputError(
            f"an output's name is a text or a number, which {told(outputs)} does not hold"
        ) from None
    if distinct < len(names):
        raise InputError("the names of the outputs must differ from one another")
    if not names:
        raise InputError("outputs is a list of names, and this one is empty")
    return names


def _role(model: Any) -> str | None:
    """What scikit-learn calls the kind of an estimator, if it does."""
    try:
        role = model.__sklearn_tags__().estimator_type
    except Exception:  # not an estimator, or one of an older or newer way
        role = getattr(model, "_estimator_type", None)
    return role if isinstance(role, str) else None


def _refuse_pairs(model: Any, kind: str, classes: int) -> None:
    """Margins between pairs of classes are not scores of classes."""
    while True:
        inner = getattr(model, "best_estimator_", None)
        steps = getattr(model, "steps", None)
        model = inner if inner is not None else steps[-1][1] if steps else model
        if inner is None and not steps:
            break
    if classes > 2 and getattr(model, "decision_function_shape", None) == "ovo":
        raise InputError(
            f"{kind} gives margins between pairs of classes (decision_function_shape='ovo'): "
            "use 'ovr', or a function that returns a score for each class"
        )


def _classes(model: Any) -> tuple[Any, ...] | None:
    """The model's own class names, where it has one list of them."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return None
    if isinstance(classes, list) and classes and np.ndim(classes[0]) > 0:
        return None  # one list for each of several targets
    if isinstance(classes, str) or not np.iterable(classes) or getattr(classes, "ndim", 1) != 1:
        raise InputError(
            f"{type(model).__name__} says that its classes_ are {told(classes)}, which is no list "
            "of names: give a function that returns its probabilities, and outputs, their names"
        )
    return tuple(plain(c) for c in classes)
