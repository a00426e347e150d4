"""The black box: a model, what is known about it, and the one way to ask it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeAlias, final, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from eagle._tables.column import plain
from eagle._values.arrays import Array, Model
from eagle._values.checks import check_choice, refuse_repeats
from eagle._values.link import Logit, answering
from eagle._values.text import message_of, short_repr
from eagle.contracts import Need
from eagle.cost import Remote
from eagle.errors import AnswerError, EagleError, InputError, ModelError, ReplyError
from eagle.limit import Limit, refuse_limit
from eagle.models.native import Native, Task, native

LEVELLESS: Final = (
    "categorical_feature do not match",
    "dtypes must be int",
    "dtypes for data must",
)
"""What LightGBM and XGBoost say of a table without the categories that they were fitted on."""


def _about_levels(said: str) -> str:
    """How to give a booster its levels, if that is what it misses; "" otherwise."""
    if not any(words in said for words in LEVELLESS):
        return ""
    return (
        " It was fitted on columns of levels: give them as pandas categories, with the levels of "
        "the training. Of files, .parquet keeps categories of texts"
    )


@final
@dataclass(eq=False)
class Headings:
    """The column names of replies that are data frames: every reply must have the same."""

    names: tuple[Any, ...] | None = None

    def note(self, reply: Any) -> None:
        """Remember the names, or refuse others than before."""
        names = _headings(reply)
        if names is None:
            return
        if self.names not in (None, names):
            raise ReplyError("the model's replies are tables whose columns differ between calls")
        self.names = names


@final
@dataclass(frozen=True, eq=False)
class Box:
    """A model as a function, and how its answers are read.

    `task` and `outputs` are None until a reply has shown them. `margin` is True for a classifier
    that gives decision values, not probabilities. `calls_it` is the name of the function called.
    `asked` is the kind of input, such as "image", if it is not a table. `link` is the scale on
    which probabilities are explained. `note` says how answers are read, where that was chosen
    for the model. `headings` name the outputs of a model that answers with data frames. A
    `partial` model may leave rows without an answer: these are NaN, and are left out of the fit.
    `remote` is the model itself if it is asked by requests, whatever function stands before it.
    """

    function: Model | None
    calls_it: str
    task: Task | None = None
    outputs: tuple[Any, ...] | None = None
    margin: bool = False
    asked: str | None = None
    link: Logit | None = None
    note: str | None = None
    headings: Headings = field(default_factory=Headings)
    partial: bool = False
    remote: Remote | None = None

    def ask(self, inputs: Any, rows: int) -> Array:
        """Checked answers to a table of `rows` rows, shape (rows, outputs)."""
        if self.function is None:
            raise InputError("there is no model to ask here: plan first, and fit its answers")
        try:
            answers = self.function(inputs)
        except AnswerError as error:
            error.answers = self._rest(error.answers, rows)
            raise
        except EagleError:
            raise
        except Exception as error:
            said = message_of(error)
            raise ModelError(
                f"the model raised {type(error).__name__} when asked {rows} rows: "
                f"{said}{_about_levels(said)}"
            ) from error
        return self.read(answers, rows)

    def _rest(self, answers: Any, rows: int) -> Array | None:
        """What a call that failed has answered, NaN where it has not; None if nothing."""
        if answers is None:
            return None
        try:
            read = replace(self, partial=True).read(answers, rows)
        except EagleError:
            return None
        return read if np.isfinite(read).any() else None

    def read(self, answers: Any, rows: int) -> Array:
        """A checked reply as numbers of shape (rows, outputs)."""
        checked = check_reply(answers, rows, self.partial)
        self.headings.note(answers)
        known = ~np.isnan(checked).any(axis=1)
        if known.all():
            return self._as_outputs(checked)
        if not known.any():
            return checked if self.outputs is None else np.full((rows, len(self.outputs)), np.nan)
        read = self._as_outputs(checked[known])
        out = np.full((rows, read.shape[1]), np.nan)
        out[known] = read
        return out

    def _as_outputs(self, checked: Array) -> Array:
        """Checked answers as the outputs of the model."""
        named = None if self.outputs is None else len(self.outputs)
        if self.margin:
            checked = np.concatenate([-checked, checked], 1) if checked.shape[1] == 1 else checked
        elif self.task == "classification" or (
            self.task is None and named == 2 and checked.shape[1] == 1
        ):
            checked = probabilities(checked, named)
        if named is not None and checked.shape[1] != named:
            raise ReplyError(
                f"the model answered with {checked.shape[1]} outputs, but {named} are named: "
                f"{', '.join(map(str, self.outputs or ()))}"
            )
        return checked

    def refuse(self, name: str, needs: frozenset[Need]) -> None:
        """Refuse a method or a link that needs probabilities if the model does not give them."""
        if self.link is not None and (self.task == "regression" or self.margin):
            raise InputError(
                f"link='logit' is for class probabilities, which {self.calls_it} does not give"
            )
        if not needs & {Need.PROBABILITIES, Need.BINARY}:
            return
        if self.link is not None:
            raise InputError(f"{name} explains probabilities as they are: leave link='logit' out")
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

    def refuse_limit(self, limit: Limit | None) -> None:
        """Refuse a limit in tokens if the model counts none."""
        refuse_limit(limit)
        counts = self.remote is not None and self.remote.tokens is not None
        if self.function is not None and limit is not None and limit.counts_tokens and not counts:
            raise InputError(
                f"{self.calls_it} does not say how many tokens it is billed for, so they cannot be "
                "limited: give a limit of rows, calls or seconds, or of money at price_per_row"
            )

    def describe(self, seen: str | None, named: tuple[Any, ...] | None) -> list[str]:
        """What is known about the model, as lines of text.

        `seen` and `named` are the task and the outputs that answers have shown, if any.
        """
        task, outputs = self.task or seen, self.outputs or named
        lines = [f"Model: {self.calls_it}", f"Task: {task or 'not known before the first answer'}"]
        if self.note is not None:
            lines.append(f"Answers: {self.note}")
        elif self.margin:
            lines.append("Answers: decision values, since the model gives no probabilities")
        if self.link is not None:
            lines.append(f"Scale: log-odds, probabilities clipped at {self.link.clip:g}")
        if outputs is None:
            return [*lines, "Output: its shape is known after the first answer"]
        listed = ", ".join(map(str, outputs[:10])) + (" …" if len(outputs) > 10 else "")
        kind = "classes" if task == "classification" else "outputs"
        return [*lines, f"Output: (n, {len(outputs)}), {kind} {listed}"]

    def task_and_outputs(self, answers: Array) -> tuple[Task, tuple[Any, ...]]:
        """Task and output names, as the answers for one instance show them.

        Rows of two or more numbers that sum to 1 are read as probabilities. Each instance is
        judged by its own answers, so the result does not depend on other instances or on earlier
        calls. For images and texts, several numbers that do not sum to 1 are most likely logits,
        and are refused.
        """
        task = self.task
        answers = answers[~np.isnan(answers).any(axis=1)]
        if task is None:
            sums = answers.shape[1] > 1 and are_probabilities(answers)
            if self.asked is not None and answers.shape[1] > 1 and not sums:
                raise ReplyError(
                    f"the model answered each {self.asked} with {answers.shape[1]} numbers between "
                    f"{answers.min():.3g} and {answers.max():.3g} that are no probabilities, "
                    "perhaps logits: return their softmax, or say task='regression' if they are "
                    "quantities to be explained as they are",
                    answers=answers,
                )
            if self.link is not None and not sums:
                raise ReplyError(
                    "link='logit' is for class probabilities, which sum to 1 in each row: these "
                    "answers do not; say task='classification' if one number is a probability",
                    answers=answers,
                )
            task = "classification" if sums else "regression"
        if self.outputs is not None:
            return task, self.outputs
        if self.headings.names is not None and len(self.headings.names) == answers.shape[1]:
            return task, self.headings.names
        if task == "regression" and answers.shape[1] == 1:
            return task, ("prediction",)
        return task, tuple(range(answers.shape[1]))


SavedBox: TypeAlias = tuple[Task | None, tuple[Any, ...] | None, bool, Logit | None]
"""What a file keeps of a model: its task, outputs, margin and link."""


@runtime_checkable
class Boxed(Protocol):
    """A model that says itself how it is asked, and how its answers are read."""

    def as_box(self, task: Task | None, outputs: tuple[Any, ...] | None) -> Box:
        """The box of the model. The caller may know the task and the outputs better."""


def box(model: Any, task: Task | None = None, outputs: Sequence[Hashable] | None = None) -> Box:
    """Any model: a fitted estimator, or any function of a table."""
    if task is not None:
        check_choice(task, get_args(Task), "task")
    names = None if outputs is None else _names(outputs)
    if model is None:
        return Box(None, "no model", task, names)
    if isinstance(model, type):
        raise InputError(f"{model.__name__} is a class: give a fitted model, an instance of it")
    if isinstance(model, Boxed):
        return model.as_box(task, names)
    model = native(model, task, names)
    if isinstance(model, Native):
        return _of_native(model, task, names)
    kind, role = type(model).__name__, _role(model)
    if role == "clusterer":
        raise InputError(
            f"{kind} gives numbers of clusters, which are no quantities: give a function that "
            "returns a distance or a score"
        )
    classes = None if role == "regressor" else _classes(model)
    _refuse_reordered(names, classes)
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
        if method == "decision_function" and classes is None:  # an outlier detector
            return Box(function, called, "regression", names or ("decision",))
        if method == "decision_function":
            _refuse_pairs(model, kind, len(classes or ()))
            return Box(function, called, "classification", known, margin=True)
        if classes is not None and task != "regression":
            break
        return Box(function, called, "regression" if role == "regressor" else task, names)
    if callable(model):
        remote = model if isinstance(model, Remote) else None
        return Box(model, f"{getattr(model, '__name__', kind)}()", task, known, remote=remote)
    if callable(getattr(model, "predict", None)):
        raise InputError(
            f"{kind} is a classifier that only gives labels: give a function that returns a "
            "number to explain, such as a probability"
        )
    raise InputError(
        f"a model is an estimator with predict_proba or predict, or a function; {kind} is neither"
    )


def _of_native(model: Native, task: Task | None, names: tuple[Any, ...] | None) -> Box:
    """The box of a model that says itself what it answers; the caller may know better."""
    if task == "regression" and model.task == "classification":
        note = "numbers as they are, since task='regression'"
        return Box(model.plainly, model.calls_it, task, names, note=note)
    return Box(
        model.function,
        model.calls_it,
        task or model.task,
        names or model.outputs,
        model.margin,
        note=model.note,
    )


def _names(outputs: Any) -> tuple[Any, ...]:
    """The names that a caller gives to the outputs."""
    if isinstance(outputs, str) or not np.iterable(outputs):
        raise InputError(f"outputs is a list of names, not {short_repr(outputs)}")
    names = tuple(plain(o) for o in outputs)
    if not all(isinstance(name, Hashable) for name in names):
        raise InputError(
            f"an output's name is a text or a number, which {short_repr(outputs)} does not hold"
        )
    refuse_repeats(names, "the names of the outputs")
    if not names:
        raise InputError("outputs is a list of names, and this one is empty")
    return names


def _refuse_reordered(names: tuple[Any, ...] | None, classes: tuple[Any, ...] | None) -> None:
    """Refuse the model's own class names in another order: each answer would get a wrong name."""
    if (
        names
        and classes
        and names != classes
        and sorted(map(repr, names)) == sorted(map(repr, classes))
    ):
        listed = ", ".join(map(str, classes))
        raise InputError(
            f"outputs are the model's own classes in another order than its probabilities: they "
            f"are {short_repr(listed)[1:-1]}. Leave outputs out, and the model names them itself"
        )


def _role(model: Any) -> str | None:
    """The estimator type in scikit-learn's words, such as "classifier", or None."""
    try:
        role = model.__sklearn_tags__().estimator_type
    except Exception:  # not an estimator, or one of another version of scikit-learn
        role = getattr(model, "_estimator_type", None)
    return role if isinstance(role, str) else None


def _refuse_pairs(model: Any, kind: str, classes: int) -> None:
    """Refuse a model whose margins are between pairs of classes."""
    if classes > 2 and getattr(answering(model), "decision_function_shape", None) == "ovo":
        raise InputError(
            f"{kind} gives margins between pairs of classes (decision_function_shape='ovo'): "
            "use 'ovr', or a function that returns a score for each class"
        )


def _classes(model: Any) -> tuple[Any, ...] | None:
    """The model's own class names, if it has one list of them."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return None
    if isinstance(classes, list) and classes and np.ndim(classes[0]) > 0:
        return None  # one list for each of several targets
    if isinstance(classes, str) or not np.iterable(classes) or getattr(classes, "ndim", 1) != 1:
        raise InputError(
            f"{type(model).__name__} says that its classes_ are {short_repr(classes)}, which is "
            "no list "
            "of names: give a function that returns its probabilities, and outputs, their names"
        )
    names = tuple(plain(c) for c in classes)
    refuse_repeats(names, f"the classes_ of {type(model).__name__}")
    return names


MAX_ANSWER = 1e150


def _plain(reply: Any) -> NDArray[Any]:
    """The reply, a tensor, frame, list or array, as an array."""
    if type(reply) is np.ndarray:  # and no masked array
        return reply
    if isinstance(reply, list | tuple) and reply and all(np.ndim(part) == 2 for part in reply):
        raise ReplyError(
            f"the model returned {len(reply)} tables, as one with several targets does: wrap it in "
            "a function that returns one of them"
        )
    if isinstance(reply, np.ma.MaskedArray) and np.ma.is_masked(reply):
        raise ReplyError("the model masked some of its answers: every row needs one")
    reply = _in_asked_order(reply)
    for step in ("detach", "cpu"):  # a torch-like tensor says how to leave its device
        method = getattr(reply, step, None)
        if callable(method):
            reply = method()
    if hasattr(reply, "toarray"):
        reply = reply.toarray()
    elif hasattr(reply, "to_numpy"):
        reply = reply.to_numpy()
    elif callable(getattr(reply, "numpy", None)) and not hasattr(reply, "__array__"):
        reply = reply.numpy()
    try:
        return np.asarray(reply)
    except (ValueError, TypeError) as error:
        raise ReplyError(f"the model's reply is not a table of numbers: {error}") from None


def _in_asked_order(reply: Any) -> Any:
    """A pandas reply with its rows in the order that was asked, by its index."""
    index = getattr(reply, "index", None)
    if type(reply).__module__.split(".")[0] != "pandas" or index is None:
        return reply
    order = np.asarray(index)
    rows = np.arange(len(order))
    moved = order.dtype.kind in "iu" and not np.array_equal(order, rows)
    return reply.sort_index() if moved and np.array_equal(np.sort(order), rows) else reply


def _headings(reply: Any) -> tuple[Any, ...] | None:
    """The column names of a data frame, if they can name outputs; None for other replies."""
    if type(reply).__module__.split(".")[0] not in ("pandas", "polars", "pyarrow"):
        return None
    names = getattr(reply, "column_names", None) or getattr(reply, "columns", None)
    if names is None or getattr(names, "nlevels", 1) > 1:
        return None
    listed = tuple(plain(n) for n in names)
    useful = all(isinstance(n, str | int | float) for n in listed)
    return listed if useful and len(set(listed)) == len(listed) else None


def check_reply(reply: Any, rows: int, partial: bool = False) -> Array:
    """The reply to `rows` rows as finite floats, shape (rows, outputs).

    In a `partial` reply, rows of NaN are rows without an answer.
    """
    if reply is None:
        raise ReplyError(f"the model returned None where {rows} answers were expected")
    array = _plain(reply)
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except OverflowError:
            raise ReplyError("the model answered with numbers too large for a float") from None
        except Exception:  # another package's object may raise anything
            raise ReplyError(
                "the model's reply holds values that are not numbers, such as "
                f"{short_repr(array.flat[0])}: give a function that returns probabilities or "
                "numbers"
            ) from None
    if array.dtype.kind in "US" and array.size:
        raise ReplyError(
            f"the model returned text such as {str(array.flat[0])!r}, not numbers: give a "
            "function that returns probabilities (predict_proba), not labels"
        )
    if array.dtype.kind not in "fiub" and array.size:
        raise ReplyError(f"the model returned {array.dtype} values, not real numbers")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ReplyError(
            f"the model returned an array of shape {array.shape}: one row of outputs for each "
            f"of the {rows} rows was expected. A model with several outputs of several classes "
            "must be wrapped in a function that returns one of them"
        )
    if len(array) != rows:
        raise ReplyError(f"the model was asked {rows} rows but answered {len(array)}")
    if array.shape[1] == 0:
        raise ReplyError("the model returned no outputs")
    # Always copy: a model may reuse the buffer of its answers.
    answers = np.array(array, dtype=np.float64)
    bad = ~np.isfinite(answers).all(axis=1)
    if partial:
        bad &= ~np.isnan(answers).all(axis=1)
    if bad.any():
        raise ReplyError(
            f"the model answered {int(bad.sum())} of {rows} rows with NaN or infinity, "
            f"first at row {int(bad.argmax())} of this call"
        )
    if np.abs(answers).max(initial=0.0, where=~np.isnan(answers)) > MAX_ANSWER:
        raise ReplyError(
            f"the model answered beyond ±{MAX_ANSWER:g}, whose squares overflow: give the answers "
            "in other units"
        )
    return answers


def are_probabilities(answers: Array) -> bool:
    """Whether each row could be the probabilities of exclusive classes."""
    inside = answers.min() >= -1e-6 and answers.max() <= 1 + 1e-6
    return bool(inside and np.abs(answers.sum(axis=1) - 1).max() <= 1e-3)


def probabilities(answers: Array, classes: int | None) -> Array:
    """Class probabilities, shape (n, classes). One column is that of the second of two classes."""
    if answers.shape[1] == 1 and classes in (None, 2):
        answers = np.concatenate([1 - answers, answers], axis=1)
    if not are_probabilities(answers):
        row = int(np.argmax(np.abs(answers.sum(axis=1) - 1)))
        logits = answers.shape[1] > 1 and (answers.min() < 0 or answers.max() > 1)
        hint = "; if these are logits, return their softmax" if logits else ""
        shown = ", ".join(f"{v:.4g}" for v in answers[row][:5])
        more = ", …" if answers.shape[1] > 5 else ""
        raise ReplyError(
            f"the model's reply is not probabilities: row {row} is [{shown}{more}]. They must lie "
            f"between 0 and 1 and sum to 1{hint}; to explain raw outputs, give a function "
            "that returns them, and task='regression'"
        )
    return answers
