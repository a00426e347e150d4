"""Which output of the model is explained, and the answers that are about it."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from eagle.surrogate.fit import is_flat
from eagle.ties import best
from eagle.types import Array, InputError, Need, ReplyError, told

Target: TypeAlias = Any
"""An output's name, or a pair of them: the first against the second."""


def aimed_at(target: Target, answers: Array, task: str, outputs: tuple[Any, ...]) -> Target:
    """The target, or without one the class predicted for the first row, or the first output."""
    if target is not None:
        return target
    return outputs[best(answers[0])] if task == "classification" else outputs[0]


def refuse_pair(method: str, needs: frozenset[Need], target: Target) -> None:
    """What looks for the boundary p = ½ of a class cannot explain a difference of classes."""
    if isinstance(target, tuple) and Need.BINARY in needs:
        raise InputError(
            f"{method} explains the probability of one class, not of one against another: of two "
            "classes, either says it all"
        )


def answers_of(answers: Array, outputs: tuple[Any, ...], target: Target) -> Array:
    """The answers, shape (n, outputs), for one output, or for one minus another."""
    if isinstance(target, tuple):
        if len(target) != 2:
            raise InputError("one output against another is a pair of names")
        one, other = (answers_of(answers, outputs, t) for t in target)
        return one - other
    if isinstance(target, list | np.ndarray):
        raise InputError(f"a target is one output's name, or a tuple of two, not {told(target)}")
    for k, name in enumerate(outputs):
        if type(name) is type(target) and _same(name, target):
            return answers[:, k]
    for k, name in enumerate(outputs):  # 1 and True, 1 and 1.0, numpy's own strings
        if _same(name, target):
            return answers[:, k]
    named = ", ".join(told(o) for o in outputs[:20]) + (", …" if len(outputs) > 20 else "")
    raise InputError(f"the model has no output {told(target)}; it has {named}")


def _same(name: Any, target: Any) -> bool:
    try:
        return bool(name == target)
    except Exception:  # whatever another's object does when it is compared
        return False


SMALLEST: Final = 1e-150
"""Numbers below it have squares that vanish; it mirrors the largest that a model may answer."""


def too_small(y: Array) -> bool:
    """Whether numbers that are not all 0, or what they differ by, are too small to be squared."""
    largest = float(np.abs(y).max(initial=0.0))
    if not largest:
        return False
    return largest < SMALLEST or (float(np.ptp(y)) < SMALLEST and not is_flat(y))


def explained(answers: Array, outputs: tuple[Any, ...], target: Target) -> Array:
    """As `answers_of`, of all rows; refused if too small to tell how sure the scores would be."""
    y = answers_of(answers, outputs, target)
    if too_small(y):
        raise ReplyError(
            f"the model's answers for {target_text(target)} differ by less than {SMALLEST:g}, "
            "whose square vanishes: give the answers in other units",
            answers=answers,
        )
    return y


def target_text(target: Target) -> str:
    """What is explained, as a text."""
    return f"{target[0]} against {target[1]}" if isinstance(target, tuple) else str(target)
