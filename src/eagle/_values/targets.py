"""Which output of the model is explained, and the answers that are about it."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from eagle._values.arrays import UNBOUNDED, Array, Range, are_probabilities, is_flat
from eagle._values.checks import is_equal
from eagle._values.difference import Difference
from eagle._values.link import Logit
from eagle._values.text import short_repr
from eagle._values.ties import best
from eagle.contracts import Need
from eagle.errors import InputError, ReplyError

Target: TypeAlias = Any
"""An output's name, or a pair of them: the first against the second."""


def resolve_target(target: Target, answers: Array, task: str, outputs: tuple[Any, ...]) -> Target:
    """The target, or without one the class predicted for the first row, or the first output."""
    if target is not None:
        return own_target(target, outputs)
    return outputs[best(answers[0])] if task == "classification" else outputs[0]


def own_target(target: Target, outputs: tuple[Any, ...]) -> Target:
    """The target by the model's own names: its 1 for numpy's, which a file could not hold."""
    if isinstance(target, tuple):
        return tuple(own_target(one, outputs) for one in target)
    return outputs[_place(target, outputs)]


def check_target(target: Target) -> None:
    """Refuse what can be no name of an output, such as an array."""
    try:
        hash(target)
    except TypeError:
        raise InputError(
            f"a target is the name of an output, or a pair of names, not {short_repr(target)}"
        ) from None


def refuse_pair(method: str, needs: frozenset[Need], target: Target) -> None:
    """Refuse a pair of outputs for a method that needs the boundary p = ½ of one class."""
    if isinstance(target, tuple) and Need.BINARY in needs:
        raise InputError(
            f"{method} explains the probability of one class, not of one against another: with two "
            "classes, give one of them as the target"
        )


def refuse_target(
    method: str, needs: frozenset[Need], target: Target, outputs: tuple[Any, ...] | None
) -> None:
    """Refuse a target that does not fit, before anything is asked."""
    refuse_pair(method, needs, target)
    if target is not None and outputs is not None:
        answers_of(np.zeros((1, len(outputs))), outputs, target)


def answers_of(
    answers: Array, outputs: tuple[Any, ...], target: Target, link: Logit | None = None
) -> Array:
    """The numbers to explain, shape (n,), from answers (n, outputs): one output, or a pair."""
    if link is not None:
        if isinstance(target, tuple) and len(target) == 2:
            return link.against(*(answers_of(answers, outputs, t) for t in target))
        return link.of(answers_of(answers, outputs, target))
    if isinstance(target, tuple):
        if len(target) != 2:
            raise InputError("one output against another is a pair of names")
        one, other = (answers_of(answers, outputs, t) for t in target)
        return one - other
    return answers[:, _place(target, outputs)]


def _place(target: Target, outputs: tuple[Any, ...]) -> int:
    """Which output has this name."""
    if isinstance(target, list | np.ndarray):
        raise InputError(
            f"a target is one output's name, or a tuple of two, not {short_repr(target)}"
        )
    for k, name in enumerate(outputs):
        if type(name) is type(target) and is_equal(name, target):
            return k
    for k, name in enumerate(outputs):  # 1 and True, 1 and 1.0, numpy's own strings
        if is_equal(name, target):
            return k
    named = ", ".join(short_repr(o) for o in outputs[:20]) + (", …" if len(outputs) > 20 else "")
    raise InputError(f"the model has no output {short_repr(target)}; it has {named}")


def bounds_of(target: Target, answers: Array, task: str, link: Logit | None) -> Range:
    """The least and the greatest possible answer, for probabilities and their differences."""
    pair = isinstance(target, tuple)
    if link is not None:
        return link.bounds(pair)
    known = answers[1:] if np.isnan(answers[0]).any() else answers
    if task != "classification" or not are_probabilities(known):
        return UNBOUNDED
    return (-1.0, 1.0) if pair else (0.0, 1.0)


MIN_SQUARED: Final = 1e-150
"""The squares of smaller numbers vanish. It is 1 over the largest answer that is allowed."""


def too_small(y: Array) -> bool:
    """Whether numbers that are not all 0, or their differences, are too small to be squared."""
    largest = float(np.abs(y).max(initial=0.0))
    if not largest:
        return False
    return largest < MIN_SQUARED or (float(np.ptp(y)) < MIN_SQUARED and not is_flat(y))


def explained_answers(
    answers: Array, outputs: tuple[Any, ...], target: Target, link: Logit | None = None
) -> Array:
    """As `answers_of`. Answers that are too small for a variance are refused."""
    y = answers_of(answers, outputs, target, link)
    if too_small(y):
        raise ReplyError(
            f"the model's answers for {target_text(target)} differ by less than {MIN_SQUARED:g}, "
            "whose square vanishes: give the answers in other units",
            answers=answers,
        )
    return y


def target_text(target: Target, difference: Difference | None = None) -> str:
    """The target as text, with the models whose difference is explained."""
    name = f"{target[0]} against {target[1]}" if isinstance(target, tuple) else str(target)
    return name if difference is None else difference.of(name)
