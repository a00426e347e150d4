"""The words every other module shares: arrays, errors, and the shape of each noun.

An instance spans a `Space` of perturbations. A `Design` picks points in it. The black box
answers. A `Surrogate`, made local by a `Kernel`, turns answers into an explanation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Protocol, TypeAlias, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
"""A float array: features, weights, answers, scores."""

Points: TypeAlias = NDArray[Any]
"""Perturbations in the encoding in which their space draws them, one per row."""

Model: TypeAlias = Callable[[Any], Any]
"""A black box: a table of n rows in, n answers out."""


JOINERS = "\u200c\u200d"
"""Not printable, but without them Persian words and families of emoji fall apart."""


def clean(text: str) -> str:
    """Text that any screen can show on one line: what cannot be printed becomes a space."""
    return "".join(c if c.isprintable() or c in JOINERS else " " for c in text)


def told(value: object, most: int = 80) -> str:
    """A value as a sentence may name it: its repr on one line, cut, and whatever its repr does."""
    try:
        text = clean(repr(value))
    except Exception:  # another's code, or a number of more digits than Python writes
        text = f"<{type(value).__name__}>"
    return text if len(text) <= most else text[: most - 1] + "…"


def finite(value: object) -> bool:
    """Whether a value is a number that a float can hold; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # integers have no end
        return False


def message_of(error: BaseException) -> str:
    """What an exception says; its own code may fail to say anything."""
    try:
        return str(error)
    except Exception:
        return "it cannot say why"


class EagleError(Exception):
    """Anything this library refuses to do, said in a sentence on one line."""

    def __init__(self, message: str = "") -> None:
        super().__init__(" ".join(clean(message).split()))


class InputError(EagleError, ValueError):
    """What the caller gave does not fit."""


class AnswerError(EagleError):
    """The black box did not answer as it must. What was already paid for is kept here:

    `finished`, the explanations made before, and `answers`, those of the unfinished rows.
    """

    def __init__(self, message: str, finished: Sequence[Any] = (), answers: Any = None) -> None:
        super().__init__(message)
        self.finished = list(finished)
        self.answers = answers

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.finished, self.answers), self.__dict__)


class ReplyError(AnswerError, ValueError):
    """What the black box answered does not fit."""


class ModelError(AnswerError, RuntimeError):
    """The black box raised."""


class MissingExtraError(EagleError, ImportError):
    """A part of this library needs a package that is not installed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the package {package!r}: pip install 'eagle-xai[{extra}]' brings it"
        )


def integer(value: Any, name: str, least: int) -> int:
    """A number that must be an integer, such as a budget."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be an integer of at least {least}, not {told(value)}")
    return int(value)


class Need(Enum):
    """What a method cannot do without, as the end of a sentence."""

    ROWS = "the rows of the background data, not a summary of them"
    TABLE = "a table"
    MATCHES = "features that match or do not: the binned view of a table, or masks"
    MASKS = "parts of an image or a text that are kept or not"
    OFFSETS = "numbers that move: the continuous view of a table, or images with a shift"
    PROBABILITIES = "class probabilities"
    BINARY = "the probabilities of exactly two classes"
    VALUES = "the values of the rows asked in place of their features: every space has them"
    BALANCED = "balanced rows, which fill their law evenly in the order in which they are planned"


NOTHING: Final[frozenset[Need]] = frozenset()
"""What a part needs that can work anywhere."""


class Space(Protocol):
    """Where the perturbations of one instance live. Chance happens once, in draws.

    A point has one coordinate a feature, and each coordinate alone decides its feature.
    """

    @property
    def law(self) -> Hashable:
        """Spaces of one law turn equal points into equal features, so they share plans."""

    @property
    def masks(self) -> bool:
        """Whether a point says which parts of an image or a text are kept."""

    @property
    def steps(self) -> int:
        """A coordinate of a point is one of so many steps; step 0 is the instance's own."""

    @property
    def counts(self) -> Array | None:
        """On masks, how probable it is that k parts are kept, shape (d + 1,)."""

    @property
    def origin(self) -> Points:
        """The point, shape (d,), that stands for the instance itself."""

    def draw(self, n: int, rng: np.random.Generator) -> Points:
        """n random points, shape (n, d)."""

    def pools(self, count: int, n: int, rng: np.random.Generator) -> Points:
        """What `count` draws of n points give one after another, shape (count, n, d)."""

    def features(self, points: Points, out: Array | None = None) -> Array:
        """The interpretable view of the points, shape (n, d), written to `out` if given."""

    def values(self, points: Points) -> Array:
        """The points as they are asked, shape (n, d): numbers as they are, levels as codes, NaN
        where missing; of an image or a text, its features."""

    def distinct(self, points: Points) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The points that ask what no earlier one has asked, and how often each is asked."""


class Instances(Protocol):
    """Several instances that are explained together and may share model calls."""

    def __len__(self) -> int: ...

    def names(self, i: int) -> tuple[str, ...]:
        """The names of instance i's features."""

    def own(self, i: int) -> tuple[Any, ...]:
        """The values of instance i itself, a feature each."""

    def conditions(self, i: int) -> tuple[str, ...]:
        """What instance i has, in words, a feature each."""

    def contrast(self, i: int) -> Array:
        """How far instance i stands from the background, in each feature's units."""

    def subject(self, i: int) -> Any:
        """The image or text that instance i is, to be shown; None for a row of a table."""

    def space(self, i: int) -> Space:
        """The space around instance i."""

    @property
    def row_bytes(self) -> int:
        """The memory that one input takes at least; 0 where it need not be counted."""

    def inputs(self, rows: Sequence[int], points: Sequence[Points]) -> Any:
        """What the model is asked: `points[k]` around instance `rows[k]`, stacked."""


@final
@dataclass(frozen=True, eq=False)
class Group:
    """Instances that are asked together, and their places among all that were given."""

    instances: Instances
    places: Sequence[int]


@final
@dataclass(frozen=True)
class Wanted:
    """How things are to be taken: by which budget, and for a method with which needs.

    `one` says that a single thing is given. `by_value` is set for methods of other packages, which
    move values, not bins.
    """

    one: bool
    budget: int
    needs: frozenset[Need]
    by_value: bool


@final
@dataclass(frozen=True, eq=False)
class Kind:
    """What a source is, in values.

    `asked` is what one input of the model is called in a sentence, None for the rows of a table.
    `view` is "binned" where features match or do not, "continuous" where they are offsets.
    `offers` is what methods may need of it, and `hints` the ends of sentences that say how to get
    what it does not offer. `background` is the summary of a table's data, if there is one.
    """

    asked: str | None
    view: str
    offers: frozenset[Need]
    hints: Mapping[Need, str] = field(default_factory=dict)
    background: Any = None


@runtime_checkable
class Source(Protocol):
    """What is explained: it turns what the caller gives into instances and their spaces."""

    @property
    def kind(self) -> Kind:
        """What it is."""

    def describe(self) -> list[str]:
        """What was understood, in words, a line each."""

    def keep(self, needs: frozenset[Need]) -> None:
        """Take now what a method will need: the caller's data may change later."""

    def without(self, needs: frozenset[Need]) -> Source:
        """What must be kept of it for a method with these needs, to be written elsewhere."""

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        """What is given, as instances. Those apart that must not be asked with others."""


class Kernel(Protocol):
    """How much a perturbation counts: in (0, 1], and 1 at the anchor."""

    def __call__(self, features: Array, anchor: Array) -> Array: ...


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """All that a surrogate may know of its rows before the answers, each row once.

    `features`, shape (n, d), are what it is fitted on; the first row is the instance. `weight`,
    shape (n,), is what each row counts, and `often` how many times it was planned, which the
    weight has in it. `balanced` says whether the rows fill their law evenly, in this order.
    """

    features: Array
    weight: Array
    often: Array
    balanced: bool = False

    @classmethod
    def each_once(cls, features: Array, weight: Array, balanced: bool = False) -> Rows:
        """Rows that were planned once each."""
        return cls(features, weight, np.ones(len(weight)), balanced)

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, index: Any) -> Rows:
        """Some of the rows, or some of them again."""
        return Rows(self.features[index], self.weight[index], self.often[index], self.balanced)


class Design(Protocol):
    """What every design says of itself, whether or not it sees answers."""

    @property
    def needs(self) -> frozenset[Need]:
        """What the design cannot do without."""

    @property
    def balanced(self) -> bool:
        """Whether its rows fill their law evenly in the order in which they are planned."""

    def longest(self, space: Space, budget: int) -> int:
        """How many points it draws at most, for a budget of rows."""

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        """How much each row counts, shape (n,): the kernel, unless the law has it in it."""


@runtime_checkable
class Planned(Design, Protocol):
    """A design that never sees an answer: all points before any query.

    Plans are nested: a plan of n is the first n points of a longer one.
    """

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d); the first one is the instance.

        The spaces have as many features, d, as one another.
        """


@final
@dataclass(frozen=True, eq=False)
class Seen:
    """What an adaptive design knows: each row asked so far once, with its answer."""

    points: Points
    rows: Rows
    y: Array

    def __len__(self) -> int:
        return len(self.y)


@runtime_checkable
class Adaptive(Design, Protocol):
    """A design that chooses by the answers so far: a pure function of them and the generator."""

    def ask(
        self, seen: Seen, space: Space, kernel: Kernel, left: int, rng: np.random.Generator
    ) -> Points:
        """The next points, at most `left`; none when enough is known. The first is the instance."""
