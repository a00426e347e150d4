"""The contracts: what a source, a space, a design and a kernel must have.

An instance spans a `Space` of perturbations. A `Design` picks points in it. The black box
answers. A `Surrogate`, made local by a `Kernel`, turns answers into an explanation.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array, Points
from eagle._values.checks import lacking
from eagle.errors import InputError


class Need(Enum):
    """What a method needs, as the end of a sentence."""

    ROWS = "the rows of the background data, not a summary of them"
    TABLE = "a table"
    MATCHES = "features that match or do not: the binned view of a table, or masks"
    MASKS = "parts of an image or a text that are kept or not"
    OFFSETS = "numbers that move: the continuous view of a table, or images with a shift"
    PROBABILITIES = "class probabilities"
    BINARY = "the probabilities of exactly two classes"
    VALUES = "the values of the rows asked in place of their features: every space has them"
    BALANCED = "balanced rows, which fill their law evenly in the order in which they are planned"
    WHOLE = "a fixed number of rows, since a longer plan does not begin with a shorter one"
    LAW = "the exact probabilities of the perturbations, not only a sample of them"


NOTHING: Final[frozenset[Need]] = frozenset()
"""The needs of a part that works everywhere."""


class Space(Protocol):
    """The perturbations of one instance. Only `draw` and `pools` are random.

    Coordinate j of a point determines feature j, and nothing else does. A class that inherits from
    this one need only have what is abstract.
    """

    @property
    @abstractmethod
    def law(self) -> Hashable:
        """Cache key. Spaces with equal keys map equal points to equal features and share plans."""

    @property
    def masks(self) -> bool:
        """Whether a point says which parts of an image or a text are kept; by default not.

        Then all masks of one size are equally likely: `counts` is the whole law.
        """
        return False

    @property
    @abstractmethod
    def steps(self) -> int:
        """How many steps a coordinate has; step 0 is the instance's own value."""

    @property
    def counts(self) -> Array | None:
        """On masks, the probability that k parts are kept, shape (d + 1,); else None."""
        return None

    @property
    @abstractmethod
    def origin(self) -> Points:
        """The point, shape (d,), that stands for the instance itself."""

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Points:
        """n random points, shape (n, d)."""

    def pools(self, count: int, n: int, rng: np.random.Generator) -> Points:
        """The same as `count` draws of n points, one after another, shape (count, n, d)."""
        return np.stack([self.draw(n, rng) for _ in range(count)])

    @abstractmethod
    def features(self, points: Points, out: Array | None = None) -> Array:
        """The features of the points, shape (n, d), written to `out` if given."""

    def values(self, points: Points) -> Array:
        """The values that are asked, shape (n, d): numbers as they are, levels as codes, missing
        values as NaN; by default the features, as for an image or a text."""
        return self.features(points)

    @abstractmethod
    def distinct(self, points: Points) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The places of the points that repeat no earlier one, and how often each occurs."""


def check_space(space: Space) -> None:
    """Refuse a space that lacks a member of its contract; only `counts` may be None."""
    what = "law", "masks", "steps", "origin", "draw", "pools", "features", "values", "distinct"
    absent = lacking(space, *what)
    if absent:
        raise InputError(f"the space {type(space).__name__} lacks {', '.join(absent)}")


class Instances(Protocol):
    """Several instances that are explained together and may share model calls.

    A class that inherits from this one need only have what is abstract.
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def names(self, i: int) -> tuple[str, ...]:
        """The names of instance i's features."""

    @abstractmethod
    def own(self, i: int) -> tuple[Any, ...]:
        """The value of each feature of instance i."""

    def conditions(self, i: int) -> tuple[str, ...]:
        """The condition that each feature of instance i meets, as text; by default its value."""
        return tuple(f"{n} = {v}" for n, v in zip(self.names(i), self.own(i), strict=True))

    def contrast(self, i: int) -> Array:
        """Signed distance of each feature of instance i from the background mean, in its own units.

        It is 1 for matches and for parts that are kept, and NaN where it is not known, which is
        the default.
        """
        return np.full(len(self.names(i)), np.nan)

    def moves(self, i: int) -> Any:
        """The values that the steps of instance i stand for, an `eagle._tables.moves.Moves`; None
        if points have no steps, or if features are enough, which is the default."""
        return None

    def subject(self, i: int) -> Any:
        """The image or text that instance i is, to be shown; None, the default, for numbers."""
        return None

    @abstractmethod
    def space(self, i: int) -> Space:
        """The space around instance i."""

    @property
    def row_bytes(self) -> int:
        """The least memory of one input; 0, the default, if it need not be counted."""
        return 0

    @abstractmethod
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
    """What an explainer wants of a source: the budget, and the needs of its method.

    `one` says that a single instance is given. `by_value` is set for methods of other packages,
    which move values, not bins.
    """

    one: bool
    budget: int
    needs: frozenset[Need]
    by_value: bool

    @property
    def about_values(self) -> bool:
        """Whether scores are about values as they are, and not about features made of them."""
        return self.by_value or Need.VALUES in self.needs


@final
@dataclass(frozen=True, eq=False)
class Kind:
    """The properties of a source.

    `asked` is what one input of the model is called in a sentence, None for the rows of a table.
    `view` is "binned" where features match or do not, "continuous" where they are offsets.
    `offers` are the needs that it meets. `hints` are ends of sentences that say how to meet the
    others. `background` is the summary of a table's data, if there is one. `features` is the number
    of features, if it is the same for all instances. `dear` says that each input is paid for, in
    money or in seconds, so that few are asked.
    """

    asked: str | None
    view: str
    offers: frozenset[Need]
    hints: Mapping[Need, str] = field(default_factory=dict)
    background: Any = None
    features: int | None = None
    dear: bool = False


@runtime_checkable
class Source(Protocol):
    """It turns what the caller wants explained into instances and their spaces.

    A class that inherits from this one need only have what is abstract.
    """

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """Its properties."""

    def describe(self) -> list[str]:
        """How it was understood: lines of text; by default none."""
        return []

    def keep(self, needs: frozenset[Need]) -> None:
        """Copy what a method will need now: the caller's data may change later. By default there is
        nothing to copy."""
        return

    def without(self, needs: frozenset[Need]) -> Source:
        """The source without data that a method with these needs does not use, to be pickled; by
        default the source itself."""
        return self

    @abstractmethod
    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        """X as instances, in groups: instances of different groups never share a call."""


class Kernel(Protocol):
    """How much a perturbation counts: in (0, 1], and 1 at the anchor."""

    def __call__(self, features: Array, anchor: Array) -> Array: ...


@final
@dataclass(frozen=True, eq=False)
class Law:
    """The law of matches that scores are about: the space's own law times the kernel.

    `chance`, shape (d,), is the probability that a feature matches, and `inside`, shape (d,), how
    many of its `steps` steps do; all steps that match are equally likely, and so are the others.
    Features of a table are independent. On masks `sizes`, shape (d + 1,), is the probability that
    k parts are kept; which ones is uniform.
    """

    chance: Array
    inside: Array
    steps: int
    sizes: Array | None = None


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """All that a surrogate may know of its rows before the answers. Each row is there once.

    `features`, shape (n, d), are what it is fitted on; the first row is the instance. `weight`,
    shape (n,), is how much each row counts. `repeats` is the row's multiplicity in the plan, and
    `weight` is already multiplied by it. `balanced` says whether the rows fill their law evenly, in
    this order. A surrogate that needs it also gets the `law`, and the `points` in the encoding of
    their space.
    """

    features: Array
    weight: Array
    repeats: Array
    balanced: bool = False
    law: Law | None = None
    points: Points | None = None

    @classmethod
    def each_once(cls, features: Array, weight: Array, balanced: bool = False) -> Rows:
        """Rows that were planned once each."""
        return cls(features, weight, np.ones(len(weight)), balanced)

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, index: Any) -> Rows:
        """The rows at these places, which may repeat."""
        points = None if self.points is None else self.points[index]
        arrays = self.features[index], self.weight[index], self.repeats[index]
        return Rows(*arrays, self.balanced, self.law, points)


class Design(Protocol):
    """What all designs have, planned or adaptive."""

    @property
    def needs(self) -> frozenset[Need]:
        """What the design needs; by default nothing."""
        return NOTHING

    @property
    def balanced(self) -> bool:
        """Whether its rows fill their law evenly in the order in which they are planned; by
        default not."""
        return False

    def longest(self, space: Space, budget: int) -> int:
        """The largest number of points it draws for a budget; by default the budget."""
        return budget

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        """How much each row counts, shape (n,): the kernel, unless rows are drawn by it."""
        return kernel(features, space.features(space.origin[None])[0])


@runtime_checkable
class Planned(Design, Protocol):
    """A design that never sees an answer: all points before any query.

    Plans are nested: a plan of n is the first n points of a longer one.
    """

    @abstractmethod
    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d); the first one is the instance.

        All spaces have the same number of features, d.
        """


@final
@dataclass(frozen=True, eq=False)
class Seen:
    """What an adaptive design knows: the rows asked so far, each once, and their answers."""

    points: Points
    rows: Rows
    y: Array

    def __len__(self) -> int:
        return len(self.y)


@runtime_checkable
class Adaptive(Design, Protocol):
    """A design that chooses by the answers so far: a pure function of them and the generator."""

    @abstractmethod
    def ask(
        self, seen: Seen, space: Space, kernel: Kernel, left: int, rng: np.random.Generator
    ) -> Points:
        """The next points, at most `left`; none when enough is known. The first is the instance."""
