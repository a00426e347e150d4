"""What a file keeps of surrogates, posteriors and subjects of one's own: plain values.

A file names no class outside eagle, since nothing that it names could be made without running it.
So what a class of one's own has said is kept, and who said it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, final

import numpy as np

from eagle._values.arrays import Array
from eagle._values.posterior import LEVEL, Posterior
from eagle._values.text import short
from eagle.contracts import Need, Rows
from eagle.errors import InputError
from eagle.surrogates.fit import Fitter, Surrogate


@final
@dataclass(frozen=True)
class SavedSurrogate(Surrogate):
    """A surrogate that is not eagle's own: its class, by whom it was made, and its values."""

    name: str
    made_by: str
    values: tuple[tuple[str, Any], ...]
    wants: tuple[str, ...] = ()

    @classmethod
    def of(cls, surrogate: Any) -> SavedSurrogate:
        own = next(part for part in parts_of(surrogate) if not is_eagles(part))
        kept = vars(surrogate) if hasattr(surrogate, "__dict__") else {}
        told = tuple((name, plain_value(value)) for name, value in kept.items() if name[0] != "_")
        return cls(
            type(surrogate).__name__,
            f"{type(own).__module__}.{type(own).__qualname__}",
            told,
            tuple(sorted(need.name for need in surrogate.needs)),
        )

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset(Need[name] for name in self.wants)

    def on(self, rows: Rows) -> Fitter:
        raise InputError(
            f"this was fitted by the surrogate {self.name}, made by {self.made_by}, which is not a "
            "part of eagle: a file has its results and no code, so explain anew to fit it again"
        )

    def __str__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.values)
        return short(f"{self.name}({said}), made by {self.made_by}", 200)


def plain_value(value: Any) -> Any:
    """A number, a text or an array as it is; anything else as text."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return tuple(value.ravel().tolist())
    if isinstance(value, tuple | list):
        return tuple(map(plain_value, value))
    plain = value is None or isinstance(value, str | int | float)
    return value if plain else short(str(value), 200)


def parts_of(part: Any) -> Iterator[Any]:
    """A surrogate and all its parts."""
    yield part
    if is_dataclass(part):
        for field in fields(part):
            inner = getattr(part, field.name)
            if is_dataclass(inner) and not isinstance(inner, type):
                yield from parts_of(inner)


def is_eagles(part: Any) -> bool:
    """Whether a thing is of a class of eagle's own."""
    return type(part).__module__.split(".")[0] == "eagle"


def plain_surrogate(surrogate: Surrogate | None) -> Surrogate | None:
    """A surrogate as a file keeps it."""
    if surrogate is None or all(map(is_eagles, parts_of(surrogate))):
        return surrogate
    return SavedSurrogate.of(surrogate)


@final
@dataclass(frozen=True, eq=False)
class SavedPosterior:
    """What a posterior of one's own said of scores, each by itself: the ends of intervals at one
    level, standard deviations, and probabilities of signs, shape (d,) each; None if unknown."""

    mean: Array
    kind: str
    made_by: str
    std: Array
    low: Array
    high: Array
    level: float
    sign: Array | None

    @classmethod
    def of(cls, posterior: Posterior) -> SavedPosterior:
        low, high = np.asarray(posterior.interval(LEVEL), dtype=np.float64).T
        sign = None
        with suppress(Exception):  # where scores have no sign, their own code may raise anything
            sign = np.asarray(posterior.probability_sign(), dtype=np.float64)
        made_by = f"{type(posterior).__module__}.{type(posterior).__qualname__}"
        mean, std = (np.asarray(a, dtype=np.float64) for a in (posterior.mean, posterior.std))
        return cls(mean, str(posterior.kind), made_by, std, low, high, LEVEL, sign)

    def interval(self, level: float = LEVEL, *, joint: bool = False) -> Array:
        if joint or not np.isclose(level, self.level):
            raise self._unknown(f"intervals at another level than {self.level:g}, or joint ones")
        return np.stack([self.low, self.high], axis=1)

    def probability_sign(self) -> Array:
        if self.sign is None:
            raise self._unknown("probabilities of signs")
        return self.sign

    def probability_top(self, k: int) -> Array:
        raise self._unknown("probabilities of ranks")

    def _unknown(self, what: str) -> InputError:
        return InputError(
            f"these scores were read from a file, and {self.made_by}, which knew how sure they "
            f"are, is not a part of eagle: {what} are not in the file"
        )


def plain_posterior(posterior: Posterior | None) -> Posterior | None:
    """A posterior as a file keeps it."""
    if posterior is None or is_eagles(posterior):
        return posterior
    return SavedPosterior.of(posterior)
