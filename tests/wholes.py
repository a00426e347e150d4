"""Models and runs for the tests of whole data sets. Worker processes import this."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import pandas as pd

from eagle import Explainer
from eagle._values.arrays import Array
from eagle.methods import EAGLE_BALANCED

NAMES = ["a", "b", "c", "d"]


def table(rows: int = 60, seed: int = 0) -> pd.DataFrame:
    """Numbers, flags and levels, and a column that names the rows."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "key": [f"row {i}" for i in range(rows)],
            "a": rng.normal(size=rows),
            "b": rng.integers(0, 5, rows),
            "c": rng.normal(size=rows).astype(np.float32),
            "d": rng.choice(["x", "y", "z"], rows),
        }
    )


def number(X: pd.DataFrame) -> Array:
    """A model that is no line, and never fails."""
    level = (X["d"] == "x").to_numpy(float)
    return np.asarray(np.tanh(X["a"]) + X["b"] * level + 0.5 * X["c"] ** 2, dtype=np.float64)


@final
@dataclass(frozen=True)
class Troubled:
    """The same model, which from its call number `at` on ends the process, or raises.

    It does so once, or "always". Calls are counted in a folder, over all processes: a line a call,
    with the process and its rows.
    """

    folder: Path
    does: str
    at: int = 3

    def __call__(self, X: pd.DataFrame) -> Array:
        with (self.folder / "calls").open("a") as file:
            file.write(f"{os.getpid()} {len(X)}\n")
        calls = (self.folder / "calls").read_text().count("\n")
        always = self.does in ("wait", "die always", "raise always")
        if calls >= self.at and (always or self._first()):
            self.trouble()
        return number(X)

    def _first(self) -> bool:
        """Whether this has not happened yet, in any process."""
        try:
            (self.folder / "happened").open("x").close()
        except FileExistsError:
            return False
        return True

    def trouble(self) -> None:
        match self.does.split()[0]:
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "orphan":
                os.kill(os.getppid(), signal.SIGKILL)
            case "group":  # as a terminal's Ctrl-C, which all processes of the group get
                os.killpg(os.getpgid(os.getppid()), signal.SIGINT)
                time.sleep(600)
            case "interrupt":
                os.kill(os.getpid(), signal.SIGINT)
            case "terminate":
                os.kill(os.getpid(), signal.SIGTERM)
            case "wait":
                while not (self.folder / "go").exists():
                    time.sleep(0.05)
            case "raise":
                raise RuntimeError("the model has a bad day")

    def asked(self) -> int:
        """How many rows it was asked, by all processes."""
        lines = (self.folder / "calls").read_text().split("\n")
        return sum(int(line.split()[1]) for line in lines if line)

    def processes(self) -> set[int]:
        lines = (self.folder / "calls").read_text().split("\n")
        return {int(line.split()[0]) for line in lines if line}


@final
class Unsent:
    """The same model, which cannot be pickled, or not be read again."""

    def __init__(self, writable: bool) -> None:
        self._writable = writable

    def __call__(self, X: pd.DataFrame) -> Array:
        return number(X)

    def __reduce__(self) -> Any:
        if not self._writable:
            raise TypeError("it holds a socket")
        return refuse_reading, ()


def refuse_reading() -> Unsent:
    raise RuntimeError("its weights are elsewhere")


def explainer(model: Any = number, seed: int = 0) -> Explainer:
    """A small one, which asks the model once for each part of up to 10 rows."""
    data = table(80, 9)[NAMES]
    return Explainer(
        model, data, method=EAGLE_BALANCED, budget=48, random_state=seed, task="regression"
    )
