"""Which classes a file may name: those of the library, and those a user registers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from eagle.surrogate.bayes import BayesLinear
from eagle.surrogate.bootstrap import Bootstrap
from eagle.surrogate.boundary import Boundary
from eagle.surrogate.evidence import Evidence
from eagle.surrogate.information import Prior
from eagle.surrogate.logistic import Logistic
from eagle.surrogate.process import Process
from eagle.surrogate.ridge import Ridge
from eagle.surrogate.robust import Robust
from eagle.surrogate.select import Auto, Forward, Highest, LassoPath
from eagle.surrogate.tree import Tree
from eagle.types import InputError, told

T = TypeVar("T", bound=type)

OWN: Final = (
    BayesLinear,
    Prior,
    Ridge,
    Auto,
    Forward,
    Highest,
    LassoPath,
    Evidence,
    Bootstrap,
    Boundary,
    Robust,
    Logistic,
    Tree,
    Process,
)
"""The library's own surrogates and their parts."""

KINDS: Final[dict[str, type]] = {kind.__name__: kind for kind in OWN}
"""All that a file may name."""

HOW: Final = "put @eagle.files.register above its @dataclass(frozen=True)"


class UnknownKindError(ValueError):
    """A file names a class that is not registered."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"it names {told(name, 60)}, which is not registered here: import the module that "
            "registers it with eagle.files.register, and read the file again"
        )


def register(kind: T) -> T:
    """Let files name a frozen dataclass: a surrogate, a posterior, or a part of them.

    A class that is defined again, as when a cell of a notebook is run twice, takes the place of
    the one before it.
    """
    _check_frozen(kind)
    before = KINDS.get(kind.__name__, kind)
    if before in OWN and before is not kind:
        raise InputError(
            f"{kind.__name__} is the name of a class of eagle itself in files: give yours another "
            "name"
        )
    if _place(before) != _place(kind):
        raise InputError(
            f"{kind.__name__} is the name of {_place(before)} in files, so {_place(kind)} cannot "
            "have it, too: give it another name"
        )
    KINDS[kind.__name__] = kind
    return kind


@contextmanager
def registered(*kinds: type) -> Iterator[None]:
    """Register classes for a while; afterwards all is as it was before."""
    before = dict(KINDS)
    try:
        for kind in kinds:
            register(kind)
        yield
    finally:
        KINDS.clear()
        KINDS.update(before)


def name_of(part: Any) -> str:
    """What a file calls the class of a part; refused if it could not be read again."""
    kind = type(part)
    if KINDS.get(kind.__name__) is not kind:
        raise InputError(
            f"a {kind.__name__} cannot be saved, since a file that names it could not be read "
            f"again: {HOW}"
        )
    return kind.__name__


def kind_of(name: str) -> type:
    """The class that a file calls so."""
    if name not in KINDS:
        raise UnknownKindError(name)
    return KINDS[name]


def _check_frozen(kind: Any) -> None:
    if not isinstance(kind, type):
        raise InputError(f"a class is registered, not {told(kind)}")
    made = vars(kind).get("__dataclass_params__")
    if made is None:
        raise InputError(f"{kind.__name__} is no dataclass, so its settings are not known: {HOW}")
    if not made.frozen:
        raise InputError(f"{kind.__name__} can be changed once it is made: {HOW}")


def _place(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
