"""Surrogates and posteriors in files: plain data in, the same value out, and no code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

import numpy as np

from eagle.sealed import floats, mapping, null, number, number_or, pack, short, text, unpack
from eagle.surrogate.bayes import BayesLinear
from eagle.surrogate.bootstrap import Bootstrap
from eagle.surrogate.boundary import Boundary
from eagle.surrogate.evidence import Evidence
from eagle.surrogate.fit import Surrogate
from eagle.surrogate.information import Prior
from eagle.surrogate.logistic import Logistic
from eagle.surrogate.posterior import Bounds, Draws, Posterior, StudentT
from eagle.surrogate.process import Process
from eagle.surrogate.ridge import Ridge
from eagle.surrogate.robust import Robust
from eagle.surrogate.select import Auto, Forward, Highest, LassoPath
from eagle.surrogate.tree import Tree
from eagle.types import Array, InputError, Need

TINY: Final = float(np.finfo(np.float64).tiny)

KINDS: Final[dict[str, type]] = {
    kind.__name__: kind
    for kind in (
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
}
"""All that a file may name."""

DEEPEST = 20
"""So many parts within parts: far more than any surrogate has."""


def to_dict(part: Any) -> Any:
    """A part as {its name: its settings}; numbers, words and None as they are."""
    if is_dataclass(part) and not isinstance(part, type):
        settings = {f.name: to_dict(getattr(part, f.name)) for f in fields(part) if f.init}
        return {type(part).__name__: settings}
    if isinstance(part, tuple):
        return [to_dict(one) for one in part]
    return part.item() if isinstance(part, np.generic) else part


def from_dict(data: Any, depth: int = 0) -> Any:
    """What `to_dict` wrote. What else comes is a KeyError, a TypeError or a ValueError."""
    if depth > DEEPEST:
        raise ValueError("no surrogate has so many parts within parts")
    if isinstance(data, Mapping):
        if len(data) != 1:
            raise ValueError(f"a part of a surrogate has {len(data)} names")
        ((name, settings),) = data.items()
        if name not in KINDS:
            raise ValueError(f"{short(name)} is no part of a surrogate")
        if not isinstance(settings, Mapping):
            raise TypeError(f"the settings of {name} are no mapping")
        return KINDS[name](**{key: from_dict(v, depth + 1) for key, v in settings.items()})
    return tuple(from_dict(v, depth + 1) for v in data) if isinstance(data, list) else data


def features(data: Any, surrogate: Surrogate | None) -> Array:
    """What a surrogate is fitted on: finite numbers, but for the values of rows, which may be
    missing. None stands for another package, which was asked values, too."""
    found = unpack(data, 2).astype(np.float64)
    values = surrogate is None or Need.VALUES in surrogate.needs
    if not (np.isfinite(found) | (np.isnan(found) & values)).all():
        raise ValueError("an array has a number that is not finite")
    return found


def repeats(often: Array) -> dict[str, Any]:
    """How often rows were planned, if any was planned more than once."""
    return {} if (often == 1).all() else {"often": pack(often)}


def often(data: Mapping[str, Any], surrogate: Surrogate | None) -> Array:
    """What `repeats` wrote. Files of before had it in the weight alone, where rows are balanced."""
    weight = floats(data["weight"], 1)
    if "often" in data:
        found = floats(data["often"], 1)
        if len(found) != len(weight) or (found < 1).any() or (found != np.rint(found)).any():
            raise ValueError("how often rows were planned does not fit them")
        return found
    if surrogate is not None and Need.BALANCED in surrogate.needs and len(weight):
        return np.maximum(np.rint(weight / max(float(weight.min()), TINY)), 1.0)
    return np.ones(len(weight))


def read(data: Any) -> Surrogate:
    """A surrogate, and nothing else."""
    found = from_dict(data)
    if not isinstance(found, Surrogate):
        raise ValueError(f"{type(found).__name__} is not a surrogate")
    surrogate: Surrogate = found
    return surrogate


def posterior_to_dict(posterior: Posterior | None) -> dict[str, Any] | None:
    """A posterior as plain data; its mean is the scores."""
    match posterior:
        case None:
            return None
        case StudentT(_, factor, df, variance, kind):
            return {"factor": pack(factor), "df": null(df), "variance": variance, "kind": kind}
        case Draws(_, values):
            return {"draws": pack(values)}
        case Bounds(_, low, high, level):
            return {"low": pack(low), "high": pack(high), "level": level}
    raise InputError(f"a {type(posterior).__name__} cannot be saved")


def read_posterior(data: Any, scores: Array) -> Posterior | None:
    """The posterior that was written beside these scores."""
    found: Posterior
    if data is None:
        return None
    d = len(scores)
    if "factor" in mapping(data):
        df, variance = number_or(data["df"], np.inf), number(data["variance"])
        factor = floats(data["factor"], 2)
        kind = text(data.get("kind", "posterior"))  # files of before have no other
        found = StudentT(scores, factor, df, variance, kind)
        fits = (d, d) == factor.shape and df > 0 and variance >= 0
    elif "draws" in data:
        values = floats(data["draws"], 2)
        found, fits = Draws(scores, values), values.shape[1:] == (d,) and len(values) > 1
    else:
        low, high = (unpack(data[k], 1).astype(np.float64) for k in ("low", "high"))
        level = None if data["level"] is None else number(data["level"])
        found = Bounds(scores, low, high, level)
        fits = low.shape == high.shape == (d,) and (level is None or 0 < level < 1)
    if not fits:
        raise ValueError("the uncertainty does not fit the scores")
    return found
