"""Which model answered, over which background: of a survey, and of an explainer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final, final

import numpy as np

from eagle._engine.setup import Setup
from eagle._tables.background import Background
from eagle._tables.column import plain
from eagle.models.content import content_digest

PACKAGES: Final = ("eagle-xai", "numpy", "scipy", "scikit-learn", "xgboost", "lightgbm", "catboost")
"""Packages whose versions are recorded."""


@final
@dataclass(frozen=True)
class Identity:
    """A model's name, digest and own classes, a background's digest, and versions of packages.

    The model's digest is that of its content, the same in every process. It is None for what is
    pickled by its name alone, as functions are, or not at all.
    """

    model: str
    model_digest: str | None
    background_digest: str
    versions: Mapping[str, str]
    classes: tuple[Any, ...] | None = None

    def same(self, other: Identity) -> bool:
        """Whether another one is surely of the same model."""
        return self.model_digest is not None and self.model_digest == other.model_digest


def identity(function: Any, name: str, background: Background) -> Identity:
    """The identity of a model, by the function that is asked, and of a background."""
    classes = getattr(getattr(function, "__self__", None), "classes_", None)
    own = None
    if isinstance(classes, np.ndarray) and classes.ndim == 1:
        own = tuple(plain(c) for c in classes)
    return Identity(name, digest_of(function), background_digest(background), versions(), own)


def of_setup(setup: Setup) -> dict[str, Any]:
    """What decides the explanations of an explainer besides the rows, as plain data.

    Model, method and sources other than tables are represented by a digest of what they hold, the
    same in every process. It is None if they cannot be pickled, or are pickled by their name alone,
    as functions are.
    """
    box, source, method = setup.box, setup.source, setup.method
    ground = source.kind.background
    whole = digest_of(source.without(frozenset())) if ground is None else background_digest(ground)
    return {
        "model": box.calls_it,
        "model digest": digest_of(box.function),
        "background": whole,
        "view": source.kind.view,
        "method": method.name,
        "method digest": digest_of(method),
        "budget": setup.budget,
        "seed": setup.seed,
        "link": None if box.link is None else repr(box.link),
    }


def background_digest(background: Background) -> str:
    """The digest of what a background says of its columns."""
    out = sha256()
    for column in background.columns:
        out.update(f"{column.name!r} {column.levels!r} {column.frozen}".encode())
        for array in (column.edges, column.shares, *column.values):
            out.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return out.hexdigest()


def digest_of(model: Any) -> str | None:
    """The digest of what a model holds; None for functions, and for what cannot be pickled."""
    model = getattr(model, "__self__", model)
    if model is None or isinstance(model, FunctionType | BuiltinFunctionType | ModuleType | type):
        return None
    try:
        return content_digest(model)
    except Exception:  # a model's own code may raise anything
        return None


def versions() -> dict[str, str]:
    """The versions of the packages that are installed."""
    out = {}
    for name in PACKAGES:
        try:
            out[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return out
