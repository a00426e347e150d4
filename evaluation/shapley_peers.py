"""Explainers of the package shapiq, in a Python of their own, over pipes.

`evaluation.benches.shapley` starts this file with the Python of an environment that has shapiq,
LightGBM and xgboost. It imports nothing of eagle. A message is a line of JSON and the bytes that it
counts. A task names an explainer, a number of players, a budget and a seed; while it runs, its
coalitions are sent to be answered; its end is the values.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib import import_module
from typing import Any

import numpy as np


def send(pipe: Any, head: dict[str, Any], array: Any = None) -> None:
    """A line of JSON, and the bytes of an array."""
    content = b"" if array is None else np.ascontiguousarray(array).tobytes()
    pipe.write(json.dumps({**head, "bytes": len(content)}).encode() + b"\n" + content)
    pipe.flush()


def receive(pipe: Any) -> tuple[dict[str, Any], bytes]:
    """What `send` sent; ({}, b"") at the end."""
    line = pipe.readline()
    if not line:
        return {}, b""
    head = json.loads(line)
    return head, pipe.read(head["bytes"])


def explainer(name: str, d: int, seed: int) -> Any:
    """An explainer of shapiq by the name that tables give it."""
    of: Any = import_module("shapiq.approximator")
    made = {
        "OddSHAP": lambda: of.OddSHAP(d, random_state=seed),
        "ProxySHAP": lambda: of.ProxySHAP(
            d, max_order=1, index="SV", proxy_model="lightgbm", random_state=seed
        ),
        "RegressionMSR": lambda: of.RegressionMSR(
            d, "SV", proxy_model="xgboost", random_state=seed
        ),
        "LeverageSHAP": lambda: of.LeverageSHAP(d, random_state=seed),
        "PolySHAP": lambda: of.PolySHAP(d, random_state=seed),
    }
    return made[name]()


def main() -> None:
    reading, writing = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what packages print is no message
    warnings.simplefilter("ignore")
    told = set[str]()
    while True:
        task, _ = receive(reading)
        if not task:
            return
        d = task["d"]

        def game(coalitions: Any) -> Any:
            rows = np.atleast_2d(np.asarray(coalitions, dtype=bool)).astype(np.uint8)
            send(writing, {"ask": len(rows)}, rows)
            return np.frombuffer(receive(reading)[1]).copy()

        try:
            made = explainer(task["name"], d, task["seed"])
            found = made.approximate(task["budget"], game)
            values = np.zeros(d)
            for players, value in found.interactions.items():
                if len(players) == 1:
                    values[players[0]] = value
            send(writing, {"values": d}, values)
        except Exception as error:  # another package's code may raise anything
            said = f"{task['name']}: {type(error).__name__}: {error}"
            if said not in told:
                print(said)
            told.add(said)
            send(writing, {"error": said})


if __name__ == "__main__":
    main()
