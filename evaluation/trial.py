"""One explanation of an experiment, and its record."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from importlib import metadata
from typing import Any, Final, TypeAlias, final

FORMAT: Final = 1
"""Raise it when the same trial would give another record: then all trials run again."""

HASHED_NAMES: Final = {"balanced": "EAGLE (balanced)", "default": "EAGLE (default)"}
"""What a method's name is in keys and seeds, if it had another when its first trials ran.

Keys and seeds are hashes of names. So a method that is renamed keeps its records and its chance,
and none of its trials runs again.
"""

Option: TypeAlias = float | int | str
Record: TypeAlias = dict[str, Any]
"""The result of a trial: plain values and lists of them, by name."""


@final
@dataclass(frozen=True)
class Trial:
    """One explanation: the prediction, the method, the number of rows, the number of the run.

    `options` are changes of the method, such as another pool size. `keep` lists the large parts
    that the record has. A trial that is `alone` is timed: nothing runs in parallel. Trials with
    another `chance` have other seeds.
    """

    problem: str
    instance: int
    method: str
    budget: int
    run: int = 0
    options: tuple[tuple[str, Option], ...] = ()
    keep: tuple[str, ...] = ()
    alone: bool = False
    chance: int = 0

    @property
    def key(self) -> str:
        """A hash of the trial in 20 letters. It never changes: equal trials have equal keys."""
        return self._digest(asdict(self))[:20]

    @property
    def seed(self) -> int:
        """The trial's seed. Every prediction, method and run has another."""
        what = asdict(self)
        del what["keep"], what["alone"]  # they do not change the explanation
        return int(self._digest(what)[:12], 16)

    def _digest(self, what: dict[str, Any]) -> str:
        if not what["chance"]:
            del what["chance"]
        what["method"] = HASHED_NAMES.get(what["method"], what["method"])
        return sha256(json.dumps([FORMAT, what], sort_keys=True).encode()).hexdigest()


@cache
def versions() -> str:
    """The packages that a record depends on, as JSON."""
    names = ("eagle-xai", "numpy", "scipy", "scikit-learn", "scikit-image", "onnxruntime")
    by_package = {}
    for name in names:
        try:
            by_package[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return json.dumps(by_package)
