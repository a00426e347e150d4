"""The command line as tests use it: what it refuses, and processes that are stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eagle import cli

Capture = pytest.CaptureFixture[str]

MODEL = """
import time
from pathlib import Path
class {name}:
    calls = 0
    def predict(self, X):
        self.calls += 1
        if self.calls == 3:
            {then}
        return X["income"].to_numpy()
"""
HANGS = "Path(__file__).with_name('ready').touch(); time.sleep(100)"


def people(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.normal(4, 1.2, n),
            "job": rng.choice(["clerk", "nurse", "smith"], n),
            "height": rng.normal(1.7, 0.1, n),
        }
    )


def refused(capsys: Capture, *arguments: str) -> str:
    """The sentence with which the command refuses."""
    capsys.readouterr()
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("eagle: ")
    assert err.count("\n") == 1
    return err


def odd_model(folder: Path, name: str, then: str) -> tuple[str, ...]:
    """A model that does something odd at its third call, and data to ask it."""
    module = name.lower()
    (folder / f"{module}.py").write_text(MODEL.format(name=name, then=then))
    (folder / f"{module}.pkl").write_bytes(f"c{module}\n{name}\n)R.".encode())
    people(9).drop(columns="job").to_csv(folder / "data.csv", index=False)
    return (f"{module}.pkl", "--trust", "--data", "data.csv", "--seed", "1")


def ended(folder: Path, number: int | None, *arguments: str) -> tuple[int, str, str]:
    """Run the command in a process of its own: its exit code, and what it said. A signal is sent
    once its model hangs."""
    ready = folder / "ready"
    process = subprocess.Popen(
        [sys.executable, "-m", "eagle.cli", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    )
    try:
        for _ in range(1200 if number else 0):
            if ready.exists() or process.poll() is not None:
                break
            time.sleep(0.05)
        if number:
            process.send_signal(number)
        said, error = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, said, error
