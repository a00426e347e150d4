"""Surrogates and posteriors in files, as plain data without code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

import numpy as np

from eagle.files.registry import HOW, OWN, kind_of, name_of
from eagle.files.sealed import (
    DTYPES,
    floats,
    mapping,
    null,
    number,
    number_or,
    pack,
    spoken,
    text,
    unpack,
)
from eagle.surrogate.fit import Surrogate
from eagle.surrogate.posterior import Bounds, Draws, Posterior, StudentT
from eagle.types import Array, InputError, Need

TINY: Final = float(np.finfo(np.float64).tiny)

RENAMED: Final = {"sandwich": "robust", "balanced sandwich": "robust, balanced rows"}
"""Names of intervals in version 0.1, and their names now."""

DEEPEST: Final = 20
"""The largest depth of nested parts: far more than any surrogate has."""

PACKED: Final = {"dtype", "shape", "data"}
"""The keys of an array in a file."""


def to_dict(part: Any, *, arrays: bool = False) -> Any:
    """A part as {its name: its settings}; numbers, texts and None as they are.

    Arrays are allowed only in users' own classes.
    """
    if is_dataclass(part) and not isinstance(part, type):
        name, arrays = name_of(part), type(part) not in OWN
        kept = {f.name: getattr(part, f.name) for f in fields(part) if f.init}
        return {name: {key: to_dict(value, arrays=arrays) for key, value in kept.items()}}
    if isinstance(part, tuple):
        return [to_dict(one, arrays=arrays) for one in part]
    if isinstance(part, np.ndarray) and arrays and part.dtype.newbyteorder("<").str in DTYPES:
        return pack(part)
    return _plain(part.item() if isinstance(part, np.generic) else part)


def _plain(part: Any) -> Any:
    if part is not None and not isinstance(part, str | int | float):
        raise InputError(
            f"a value of type {type(part).__name__} cannot be saved as a surrogate or as a part of "
            f"one: give a number, a text, a tuple of them, or a class of your own, and {HOW}"
        )
    if isinstance(part, float) and not math.isfinite(part):
        raise InputError(f"{part} cannot be saved as a setting: files hold finite numbers")
    return part


def from_dict(data: Any, depth: int = 0, *, arrays: bool = False) -> Any:
    """The part that `to_dict` wrote. Anything else is a KeyError, TypeError or ValueError."""
    if depth > DEEPEST:
        raise ValueError("the surrogate has too many parts within parts")
    if isinstance(data, list):
        return tuple(from_dict(v, depth + 1, arrays=arrays) for v in data)
    if not isinstance(data, Mapping):
        return data
    return unpack(data) if arrays and data.keys() == PACKED else _part(data, depth)


def _part(data: Mapping[str, Any], depth: int) -> Any:
    if len(data) != 1:
        raise ValueError(f"a part of a surrogate has {len(data)} names")
    ((name, settings),) = data.items()
    if not text(name).isidentifier():
        raise ValueError(f"{spoken(name)} is no part of a surrogate")
    kind = kind_of(name)
    if not isinstance(settings, Mapping):
        raise TypeError(f"the settings of {name} are no mapping")
    arrays = kind not in OWN
    read = {key: from_dict(v, depth + 1, arrays=arrays) for key, v in settings.items()}
    return kind(**read)


def features(data: Any, surrogate: Surrogate | None) -> Array:
    """The features that a surrogate is fitted on.

    They are finite, except that values of rows may be missing (NaN). A surrogate of None stands
    for another package, whose features are values of rows, too.
    """
    array = unpack(data, 2).astype(np.float64)
    values = surrogate is None or Need.VALUES in surrogate.needs
    if not (np.isfinite(array) | (np.isnan(array) & values)).all():
        raise ValueError("an array has a number that is not finite")
    return array


def repeats(often: Array) -> dict[str, Any]:
    """How often each row was planned, if any was planned more than once."""
    return {} if (often == 1).all() else {"often": pack(often)}


def often(data: Mapping[str, Any], surrogate: Surrogate | None) -> Array:
    """What `repeats` wrote. In older files of balanced rows it is derived from the weights."""
    weight = floats(data["weight"], 1)
    if "often" in data:
        counts = floats(data["often"], 1)
        if len(counts) != len(weight) or (counts < 1).any() or (counts != np.rint(counts)).any():
            raise ValueError("how often rows were planned does not fit them")
        return counts
    if surrogate is not None and Need.BALANCED in surrogate.needs and len(weight):
        return np.maximum(np.rint(weight / max(float(weight.min()), TINY)), 1.0)
    return np.ones(len(weight))


def read(data: Any) -> Surrogate:
    """A surrogate; any other part is refused."""
    part = from_dict(data)
    if not isinstance(part, Surrogate):
        raise ValueError(f"{type(part).__name__} is not a surrogate")
    surrogate: Surrogate = part
    return surrogate


def posterior_to_dict(posterior: Posterior | None) -> dict[str, Any] | None:
    """A posterior as plain data, without its mean, which is the scores."""
    match posterior:
        case None:
            return None
        case StudentT(_, factor, df, variance, kind, pooled):
            said = {"factor": pack(factor), "df": null(df), "variance": variance, "kind": kind}
            return {**said, "pooled": pooled}
        case Draws(_, values):
            return {"draws": pack(values)}
        case Bounds(_, low, high, level):
            return {"low": pack(low), "high": pack(high), "level": level}
    return {"registered": to_dict(posterior)}


def read_posterior(data: Any, scores: Array) -> Posterior | None:
    """The posterior that was written beside these scores."""
    posterior: Posterior
    if data is None:
        return None
    d = len(scores)
    if "factor" in mapping(data):
        df, variance = number_or(data["df"], np.inf), number(data["variance"])
        factor = floats(data["factor"], 2)
        kind = text(data.get("kind", "posterior"))  # older files have no kind
        kind = RENAMED.get(kind, kind)
        pooled = data.get("pooled", False) is True  # older files do not pool signs
        posterior = StudentT(scores, factor, df, variance, kind, pooled)
        fits = (d, d) == factor.shape and df > 0 and variance >= 0
    elif "registered" in data:
        posterior = from_dict(data["registered"])
        fits = np.shape(posterior.mean) == (d,) and np.shape(posterior.std) == (d,)
    elif "draws" in data:
        values = floats(data["draws"], 2)
        posterior, fits = Draws(scores, values), values.shape[1:] == (d,) and len(values) > 1
    else:
        low, high = (unpack(data[k], 1).astype(np.float64) for k in ("low", "high"))
        level = None if data["level"] is None else number(data["level"])
        posterior = Bounds(scores, low, high, level)
        fits = low.shape == high.shape == (d,) and (level is None or 0 < level < 1)
    if not fits:
        raise ValueError("the uncertainty does not fit the scores")
    return posterior
