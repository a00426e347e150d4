"""Whether saved numbers are what a fit of the saved answers gives."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final

import numpy as np

from eagle.surrogate.bootstrap import Bootstrap
from eagle.surrogate.fit import Fitted, Surrogate
from eagle.surrogate.logistic import Logistic
from eagle.surrogate.posterior import Bounds, Draws, Posterior, StudentT
from eagle.surrogate.process import Process
from eagle.types import Array, Rows

TIGHT: Final = 1e-6
"""Fits on two machines differ by rounding: by less than this share of the largest score."""

LOOSE: Final = 1e-3
"""What is tuned by small steps, in which rounding grows, differs by less than this share."""

TUNED: Final = (Process, Logistic)

ROUNDING: Final = 1e-12
"""What a fit loses of the answers' own size."""

GIVEN: Final = (StudentT, Draws, Bounds)
"""The library's own posteriors: those that can be compared have a rule each."""

MOST_FITS: Final = 10**6
"""A bootstrap in a file, or one within another, takes at most so many fits to check."""


def agree(said: Fitted, surrogate: Surrogate, rows: Rows, y: Array) -> bool:
    """Whether the surrogate says the same of these rows and answers, but for rounding."""
    parts = list(_parts(surrogate))
    resamples = [part.resamples for part in parts if isinstance(part, Bootstrap)]
    if resamples and not (math.prod(resamples) <= MOST_FITS and _drawn(said, resamples[0])):
        return False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # what a fit has to say was said when it was made
        found = surrogate.on(rows).fit(y)
        loose = any(isinstance(part, TUNED) for part in parts)
        return _alike(said, found, y, LOOSE if loose else TIGHT)


def _parts(part: Any) -> Iterator[Any]:
    """A surrogate, and all that it is made of."""
    if is_dataclass(part):
        yield part
        for field in fields(part):
            yield from _parts(getattr(part, field.name))


def _drawn(said: Fitted, resamples: int) -> bool:
    """Whether a bootstrap's draws are as many as it says that it makes."""
    return isinstance(said.posterior, Draws) and len(said.posterior.values) == resamples


def _alike(said: Fitted, found: Fitted, y: Array, share: float) -> bool:
    largest = float(np.abs(found.scores).max(initial=0.0))
    apart, floor = float(np.ptp(y)), ROUNDING * float(np.abs(y).max())
    slack = share * largest + floor
    around = share * max(largest, apart) + floor
    relative = share + (floor / apart if apart else 0.0)
    return (
        said.signed == found.signed
        and _near(said.scores, found.scores, slack)
        and _near(said.intercept, found.intercept, around)
        and _near(said.local, found.local, around)
        and _near(said.r2, found.r2, relative * max(1.0, abs(found.r2)))
        and _near(said.r2_held_out, found.r2_held_out, relative * max(1.0, abs(found.r2_held_out)))
        and _as_sure(said.posterior, found.posterior, share, slack)
    )


def _as_sure(said: Posterior | None, found: Posterior | None, share: float, slack: float) -> bool:
    if isinstance(said, StudentT) and isinstance(found, StudentT):
        most = float(found.spread.max(initial=0.0))
        slack += share * most
        return (
            said.kind == found.kind
            and (said.df == found.df or abs(said.df - found.df) <= share * found.df)
            and _near(said.spread, found.spread, slack)
            and _near(said.scale, found.scale, slack * (2 * most + slack))
        )
    if isinstance(said, Draws) and isinstance(found, Draws):
        slack += share * float(np.abs(found.values).max(initial=0.0))
        return _near(said.values, found.values, slack)
    if said is None or found is None or type(said) in GIVEN:
        return said is None and found is None
    return type(said) is type(found) and _same_fields(said, found, share, slack)


def _same_fields(said: Any, found: Any, share: float, slack: float) -> bool:
    """Whether a user's own dataclasses hold the same: numbers but for rounding, all else equal."""
    return all(
        _same_value(getattr(said, f.name), getattr(found, f.name), share, slack)
        for f in fields(said)
        if f.init
    )


def _same_value(said: Any, found: Any, share: float, slack: float) -> bool:
    if is_dataclass(said):
        return type(said) is type(found) and _same_fields(said, found, share, slack)
    if isinstance(said, tuple) and isinstance(found, tuple):
        pairs = zip(said, found, strict=False)
        return len(said) == len(found) and all(_same_value(*p, share, slack) for p in pairs)
    one, other = np.asarray(said), np.asarray(found)
    if one.dtype.kind in "fiu" and other.dtype.kind in "fiu":
        return _near(one, other, slack + share * float(np.abs(other).max(initial=0.0)))
    return np.array_equal(one, other)


def _near(one: Array | float, other: Array | float, slack: float) -> bool:
    """Whether all numbers are alike up to so much; what is not finite must be the same."""
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return bool((same | (np.abs(one - other) <= slack)).all())
