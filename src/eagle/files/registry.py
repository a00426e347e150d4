"""Which classes a file may name: those of the library, and those a user registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar, cast, overload

from eagle.surrogate.bayes import BayesLinear, Prior
from eagle.surrogate.bayes_ridge import BayesRidge
from eagle.surrogate.bootstrap import Bootstrap
from eagle.surrogate.boundary import Boundary
from eagle.surrogate.functional import Functional
from eagle.surrogate.heldout import Cautious, HeldOut
from eagle.surrogate.lasso import Lasso
from eagle.surrogate.logistic import Logistic
from eagle.surrogate.pairs import Paired
from eagle.surrogate.process import Process
from eagle.surrogate.reweighted import Evenness, Reweighted
from eagle.surrogate.ridge import Ridge
from eagle.surrogate.robust import Robust
from eagle.surrogate.select import Auto, Forward, Highest, LassoPath
from eagle.surrogate.tree import Tree
from eagle.types import InputError, finite, told

T = TypeVar("T", bound=type)

OWN: Final = (
    BayesLinear,
    Prior,
    Ridge,
    Auto,
    Forward,
    Highest,
    LassoPath,
    BayesRidge,
    Bootstrap,
    Boundary,
    Robust,
    HeldOut,
    Logistic,
    Paired,
    Lasso,
    Tree,
    Process,
    Reweighted,
    Evenness,
    Functional,
)
"""The library's own surrogates and their parts."""

RENAMED: Final[dict[str, type]] = {"Evidence": BayesRidge}
"""Names that older files have for classes of today."""

KINDS: Final[dict[str, type]] = RENAMED | {kind.__name__: kind for kind in (*OWN, Cautious)}
"""All classes that a file may name."""

TIGHT: Final = 1e-6
"""Fits on two machines differ by rounding: by less than this share of the largest score."""

LOOSE: Final = 1e-3
"""Fits that are tuned by small steps, in which rounding grows, differ by less than this share."""

TOLERANCES: Final[dict[type, float]] = {Process: LOOSE, Logistic: LOOSE}
"""How much a fit made again may differ, for classes that need more than `TIGHT`."""

HOW: Final = "put @eagle.files.register above its @dataclass(frozen=True)"


class UnknownKindError(ValueError):
    """A file names a class that is not registered."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"it names {told(name, 60)}, which is not registered here: import the module that "
            "registers it with eagle.files.register, and read the file again"
        )


@overload
def register(kind: T) -> T: ...


@overload
def register(*, tolerance: float) -> Callable[[T], T]: ...


def register(kind: T | None = None, *, tolerance: float | None = None) -> T | Callable[[T], T]:
    """Let files name a frozen dataclass: a surrogate, a posterior, a subject, or a part of them.

    A file is refused if its scores are not those that its surrogate gives again. They may differ
    by 1e-6 of the largest score. A surrogate that is tuned step by step may need more:
    `@eagle.files.register(tolerance=1e-3)`.

    A class that is defined again, as when a cell of a notebook is run twice, replaces the one
    before it.
    """
    if tolerance is not None and not (finite(tolerance) and 0 < tolerance < 1):
        raise InputError(f"a tolerance is a number between 0 and 1, not {told(tolerance)}")
    if kind is None and tolerance is not None:
        return lambda named: _register(named, tolerance)
    return _register(cast("T", kind), tolerance)


def tolerance_of(part: Any) -> float:
    """How much a surrogate with this part may differ when it is fitted again."""
    return max(TIGHT, TOLERANCES.get(type(part), TIGHT))


def _register(kind: T, tolerance: float | None) -> T:
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
    if tolerance is not None:
        TOLERANCES[kind] = tolerance
    return kind


@contextmanager
def registered(*kinds: type) -> Iterator[None]:
    """Register classes within a `with` block; afterwards the registry is as before."""
    kinds_before, tolerances_before = dict(KINDS), dict(TOLERANCES)
    try:
        for kind in kinds:
            register(kind)
        yield
    finally:
        KINDS.clear()
        KINDS.update(kinds_before)
        TOLERANCES.clear()
        TOLERANCES.update(tolerances_before)


def name_of(part: Any) -> str:
    """The name of a part's class in files. A class that could not be read again is refused."""
    kind = type(part)
    if KINDS.get(kind.__name__) is not kind:
        raise InputError(
            f"a {kind.__name__} cannot be saved, since a file that names it could not be read "
            f"again: {HOW}"
        )
    return kind.__name__


def kind_of(name: str) -> type:
    """The class with this name in files."""
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
