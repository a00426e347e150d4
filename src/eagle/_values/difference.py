"""The difference of two models' answers, which is explained as the answers of one model are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, final, get_args

from eagle._values.link import Logit
from eagle._values.text import middle
from eagle.errors import InputError

Unit: TypeAlias = Literal["probability", "log-odds", "decision value", "answer"]
"""What the answers of both models are: the last is that of a regression."""

UNITS: Final[tuple[str, ...]] = get_args(Unit)

NAME: Final = 40
"""Maximum number of characters of a model's name in a title."""


@final
@dataclass(frozen=True)
class Difference:
    """That answers are those of the `new` model less those of the `old` one, in a unit.

    `new` and `old` are the models' names, and the digests those of their pickles, None where not
    known. A `link` is the scale on which the difference was taken.
    """

    new: str
    old: str
    unit: Unit
    new_digest: str | None = None
    old_digest: str | None = None
    link: Logit | None = None

    def __str__(self) -> str:
        return f"{self.new} less {self.old}"

    @property
    def change(self) -> str:
        """What scores are measured in."""
        return f"change in {self.unit}"

    @property
    def pairs(self) -> bool:
        """Whether one output can be explained against another: log-odds do not subtract so."""
        return self.link is None

    def question(self, name: str) -> str:
        """What is explained of an output of this name."""
        old, new = middle(self.old, NAME), middle(self.new, NAME)
        return f"What changed for {name} from {old} to {new}?"

    def of(self, name: str) -> str:
        """An output's name, as that of the difference."""
        return f"{name}, {self}"


def names_of(new: str, old: str) -> tuple[str, str]:
    """The names of two models, told apart: those of the same name are the new and the old one."""
    one, other = map(_plain, (new, old))
    return (one, other) if one != other else (f"{one} (new)", f"{other} (old)")


def _plain(name: str) -> str:
    """A model's name without the function that was asked."""
    for function in ("predict_proba", "decision_function", "predict"):
        name = name.removesuffix(f".{function}")
    return name


def refuse_pair_of(difference: Difference | None, target: object) -> None:
    """Refuse one output against another where differences are of log-odds."""
    if isinstance(target, tuple) and difference is not None and not difference.pairs:
        raise InputError(
            "a difference of log-odds is explained for one class at a time: give one class, or "
            "leave link='logit' out"
        )


def scale(link: Logit | None, difference: Difference | None) -> str:
    """What a score adds to, in words."""
    if difference is not None:
        return difference.change
    return "answer" if link is None else "log-odds"
