"""Whether saved numbers are those that a fit to the saved answers gives again."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final

import numpy as np

from eagle.files.registry import tolerance_of
from eagle.surrogate.bootstrap import Bootstrap
from eagle.surrogate.fit import Fitted, Surrogate
from eagle.surrogate.posterior import Bounds, Draws, Posterior, StudentT
from eagle.types import Array, Range, Rows

ROUNDING: Final = 1e-12
"""The rounding error of a fit, as a share of the largest answer."""

GIVEN: Final = (StudentT, Draws, Bounds)
"""The library's own posteriors. `_as_sure` has a rule for each that can be compared."""

MOST_FITS: Final = 10**6
"""The largest number of fits that checking a bootstrap, or nested ones, may take."""


def agree(said: Fitted, surrogate: Surrogate, rows: Rows, y: Array, bounds: Range) -> bool:
    """Whether the surrogate gives the same for these rows and answers, except for rounding."""
    parts = list(_parts(surrogate))
    resamples = [part.resamples for part in parts if isinstance(part, Bootstrap)]
    if resamples and not (math.prod(resamples) <= MOST_FITS and _drawn(said, resamples[0])):
        return False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # its warnings were given when it was made
        refit = surrogate.on(rows).fit(y, bounds)
        return _alike(said, refit, y, max(map(tolerance_of, parts)))


def _parts(part: Any) -> Iterator[Any]:
    """A surrogate and all its parts."""
    if is_dataclass(part):
        yield part
        for field in fields(part):
            yield from _parts(getattr(part, field.name))


def _drawn(said: Fitted, resamples: int) -> bool:
    """Whether the number of a bootstrap's draws is the one in its settings."""
    return isinstance(said.posterior, Draws) and len(said.posterior.values) == resamples


def _alike(said: Fitted, refit: Fitted, y: Array, share: float) -> bool:
    largest = float(np.abs(refit.scores).max(initial=0.0))
    known = y[~np.isnan(y)]
    apart, floor = float(np.ptp(known)), ROUNDING * float(np.abs(known).max())
    slack = share * largest + floor
    around = share * max(largest, apart) + floor
    relative = share + (floor / apart if apart else 0.0)
    return (
        said.signed == refit.signed
        and _near(said.scores, refit.scores, slack)
        and _near(said.intercept, refit.intercept, around)
        and _near(said.local, refit.local, around)
        and _near(said.r2, refit.r2, relative * max(1.0, abs(refit.r2)))
        and _near(said.r2_held_out, refit.r2_held_out, relative * max(1.0, abs(refit.r2_held_out)))
        and _as_sure(said.posterior, refit.posterior, share, slack)
    )


def _as_sure(said: Posterior | None, refit: Posterior | None, share: float, slack: float) -> bool:
    if isinstance(said, StudentT) and isinstance(refit, StudentT):
        most = float(refit.spread.max(initial=0.0))
        slack += share * most
        return (
            (said.kind, said.pooled) == (refit.kind, refit.pooled)
            and (said.df == refit.df or abs(said.df - refit.df) <= share * refit.df)
            and _near(said.spread, refit.spread, slack)
            and _near(said.scale, refit.scale, slack * (2 * most + slack))
        )
    if isinstance(said, Draws) and isinstance(refit, Draws):
        slack += share * float(np.abs(refit.values).max(initial=0.0))
        return _near(said.values, refit.values, slack)
    if said is None or refit is None or type(said) in GIVEN:
        return said is None and refit is None
    return type(said) is type(refit) and _same_fields(said, refit, share, slack)


def _same_fields(said: Any, refit: Any, share: float, slack: float) -> bool:
    """Whether a user's own dataclasses hold the same: numbers up to rounding, all else exactly."""
    return all(
        _same_value(getattr(said, f.name), getattr(refit, f.name), share, slack)
        for f in fields(said)
        if f.init
    )


def _same_value(said: Any, refit: Any, share: float, slack: float) -> bool:
    if is_dataclass(said):
        return type(said) is type(refit) and _same_fields(said, refit, share, slack)
    if isinstance(said, tuple) and isinstance(refit, tuple):
        pairs = zip(said, refit, strict=False)
        return len(said) == len(refit) and all(_same_value(*p, share, slack) for p in pairs)
    one, other = np.asarray(said), np.asarray(refit)
    if one.dtype.kind in "fiu" and other.dtype.kind in "fiu":
        return _near(one, other, slack + share * float(np.abs(other).max(initial=0.0)))
    return np.array_equal(one, other)


def _near(one: Array | float, other: Array | float, slack: float) -> bool:
    """Whether all numbers differ by at most `slack`; those that are not finite must be equal."""
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return bool((same | (np.abs(one - other) <= slack)).all())
