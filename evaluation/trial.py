"""One explanation to be made in an experiment, and the record of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from importlib import metadata
from typing import Any, Final, TypeAlias, final

FORMAT: Final = 1
"""Grows when the same trial would give another record: then none is taken for done."""

Option: TypeAlias = float | int | str
Record: TypeAlias = dict[str, Any]
"""What came out of a trial: plain values and lists of them, by name."""


@final
@dataclass(frozen=True)
class Trial:
    """One explanation: of which prediction, by which method, from how many rows, which time.

    `options` are what differs from the method as it is, such as a pool of another size. `keep`
    says which large parts of the outcome the record holds. A trial `alone` is timed: nothing else
    runs beside it. Trials of another `chance` share no seed.
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
        """What the trial is, in 20 letters: equal trials have equal keys, also tomorrow."""
        return self._digest(asdict(self))[:20]

    @property
    def seed(self) -> int:
        """All chance of the trial. No other prediction, method or run has the same."""
        what = asdict(self)
        del what["keep"], what["alone"]  # they change nothing in the explanation
        return int(self._digest(what)[:12], 16)

    def _digest(self, what: dict[str, Any]) -> str:
        if not what["chance"]:
            del what["chance"]
        return sha256(json.dumps([FORMAT, what], sort_keys=True).encode()).hexdigest()


@cache
def versions() -> str:
    """The packages that a record depends on, as JSON."""
    names = ("eagle-xai", "numpy", "scipy", "scikit-learn", "scikit-image", "onnxruntime")
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return json.dumps(found)
