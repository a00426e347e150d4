"""Demos on real data in the folder EAGLE_DATA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from eagle.explanation import Explanation
from evaluation.problems import PROBLEMS

FOUR: Final = 4
PANDA: Final = 44
"""The places of a digit and of a photograph that are good examples."""


def mnist() -> tuple[str, Explanation]:
    """A digit of MNIST, by a network of two convolutions."""
    problem = PROBLEMS["mnist"]()
    explanation = problem.explainer().explain(problem.instance(FOUR))
    return "A network has learnt to read 60,000 digits. One it has not seen:", explanation


def photo() -> tuple[str, Explanation]:
    """A photograph, by a network for the classes of ImageNet."""
    problem = PROBLEMS["photos"]()
    photo = min(PANDA, len(problem.instances) - 1)
    explanation = problem.explainer().explain(problem.instance(photo))
    return "A network has learnt to name what is in a photograph. One it has not seen:", explanation


def spam() -> tuple[str, Explanation]:
    """The first longer message that is classified as spam."""
    problem = PROBLEMS["spam"]()
    told = problem.model.predict(problem.instances) == "spam"
    long = [len(text.split()) > 15 for text in problem.instances]
    text = problem.instances[int(np.argmax(told & long))]
    return (
        "A line over word counts has learnt to tell spam from other messages. One it has not seen:",
        problem.explainer().explain(text),
    )


DEMOS: Final[dict[str, Callable[[], tuple[str, Explanation]]]] = {
    "mnist": mnist,
    "photo": photo,
    "spam": spam,
}
