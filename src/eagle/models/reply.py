"""A black box's reply, checked: the right number of rows, finite numbers, real probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle.types import Array, ReplyError, told

LARGEST = 1e150


def _plain(reply: Any) -> NDArray[Any]:
    """The reply as an array: tensors, frames, lists and arrays alike."""
    if isinstance(reply, list | tuple) and reply and all(np.ndim(part) == 2 for part in reply):
        raise ReplyError(
            f"the model returned {len(reply)} tables, as one with several targets does: wrap it in "
            "a function that returns one of them"
        )
    if isinstance(reply, np.ma.MaskedArray) and np.ma.is_masked(reply):
        raise ReplyError("the model masked some of its answers: every row needs one")
    reply = _sorted(reply)
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


def _sorted(reply: Any) -> Any:
    """A pandas reply whose index says that its rows were put in another order, put back."""
    index = getattr(reply, "index", None)
    if type(reply).__module__.split(".")[0] != "pandas" or index is None:
        return reply
    order = np.asarray(index)
    rows = np.arange(len(order))
    moved = order.dtype.kind in "iu" and not np.array_equal(order, rows)
    return reply.sort_index() if moved and np.array_equal(np.sort(order), rows) else reply


def check(reply: Any, rows: int) -> Array:
    """The reply to `rows` rows as finite floats, shape (rows, outputs)."""
    if reply is None:
        raise ReplyError(f"the model returned None where {rows} answers were expected")
    array = _plain(reply)
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except OverflowError:
            raise ReplyError("the model answered with numbers too large for a float") from None
        except Exception:  # whatever another's objects do when asked for a number
            raise ReplyError(
                "the model's reply holds values that are not numbers, such as "
                f"{told(array.flat[0])}: give a function that returns probabilities or numbers"
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
    # A copy, always: a model may answer into a buffer that it will use again.
    answers = np.array(array, dtype=np.float64)
    bad = ~np.isfinite(answers).all(axis=1)
    if bad.any():
        raise ReplyError(
            f"the model answered {int(bad.sum())} of {rows} rows with NaN or infinity, "
            f"first at row {int(bad.argmax())} of this call"
        )
    if np.abs(answers).max() > LARGEST:
        raise ReplyError(
            f"the model answered beyond ±{LARGEST:g}, whose squares overflow: give the answers in "
            "other units"
        )
    return answers


def are_probabilities(answers: Array) -> bool:
    """Whether each row could be the probabilities of exclusive classes."""
    inside = answers.min() >= -1e-6 and answers.max() <= 1 + 1e-6
    return bool(inside and np.abs(answers.sum(axis=1) - 1).max() <= 1e-3)


def probabilities(answers: Array, classes: int | None) -> Array:
    """Class probabilities, shape (n, classes); one column is that of the second of two classes."""
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
