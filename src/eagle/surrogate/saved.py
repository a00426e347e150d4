"""Surrogates in files: plain data in, the same value out, and no code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from eagle.surrogate.bayes import BayesLinear
from eagle.surrogate.bootstrap import Bootstrap
from eagle.surrogate.evidence import Evidence
from eagle.surrogate.fit import Surrogate
from eagle.surrogate.information import Prior
from eagle.surrogate.process import Process
from eagle.surrogate.ridge import Ridge
from eagle.surrogate.select import Auto, Forward, Highest, LassoPath

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
        Process,
    )
}
"""All that a file may name."""


def to_dict(part: Any) -> Any:
    """A part as {its name: its settings}; numbers, words and None as they are."""
    if is_dataclass(part) and not isinstance(part, type):
        settings = {f.name: to_dict(getattr(part, f.name)) for f in fields(part) if f.init}
        return {type(part).__name__: settings}
    return list(part) if isinstance(part, tuple) else part


def from_dict(data: Any) -> Any:
    """What `to_dict` wrote."""
    if isinstance(data, Mapping):
        ((name, settings),) = data.items()
        return KINDS[name](**{key: from_dict(value) for key, value in settings.items()})
    return tuple(map(from_dict, data)) if isinstance(data, list) else data


def read(data: Any) -> Surrogate:
    """A surrogate, and nothing else."""
    found = from_dict(data)
    if not hasattr(found, "on"):
        raise ValueError(f"{type(found).__name__} is not a surrogate")
    surrogate: Surrogate = found
    return surrogate
