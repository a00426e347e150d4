"""Whether plans and scores are the same as before: `python -m tools.fingerprints`.

Before a change that should move no number, write them down, and compare them afterwards:

    python -m tools.fingerprints before.json      # writes the file, if it is not there
    python -m tools.fingerprints before.json      # else it prints what differs

Every method of the tests' catalogue explains three things of every kind. Each explanation has a
fingerprint of what was asked and answered, and one of scores, intervals and fit, both to the last
bit. They belong to one machine: other processors and libraries round in other ways.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import eagle

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from catalogue import CASES, CHOICES, FOREIGN, METHODS, Case, budget_of, supports

ROWS = (0, 3, 7)


def explanations() -> Iterator[tuple[str, eagle.Explanation]]:
    """Each explanation of the catalogue, with its name."""
    for name, method in (METHODS | CHOICES | FOREIGN).items():
        for place, case in CASES.items():
            if supports(method, case):
                yield from _explained(f"{name} | {place}", method, case)


def _explained(name: str, method: Any, case: Case) -> Iterator[tuple[str, eagle.Explanation]]:
    explainer = eagle.Explainer(
        case.model, case.data, method=method, budget=budget_of(method), **case.options
    )
    for i in ROWS:
        yield f"{name} | {i}", explainer.explain(case.row(i), progress=False)


def fingerprints() -> dict[str, list[str]]:
    """Of each explanation: what was asked and answered, and what was made of it."""
    out = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, e in explanations():
            rows = e.evidence
            asked = (rows.points, rows.features, rows.weight, rows.often, rows.answers)
            frame = e.to_frame().select_dtypes("number").to_numpy()  # with intervals, P(sign)
            made = (e.scores, frame, e.intercept, e.local_prediction, e.r2, e.r2_held_out)
            out[name] = [_digest(asked), _digest(made)]
    return out


def _digest(numbers: tuple[Any, ...]) -> str:
    digest = hashlib.sha256()
    for one in numbers:
        array = np.ascontiguousarray(one, dtype=np.float64)
        digest.update(str(array.shape).encode() + array.tobytes())
    return digest.hexdigest()[:16]


def main() -> None:
    """Write the file, or compare with it."""
    path, now = Path(sys.argv[1]), fingerprints()
    if not path.exists():
        path.write_text(json.dumps(now, indent=1) + "\n")
        print(f"{len(now)} fingerprints are in {path}")
        return
    before = json.loads(path.read_text())
    differ = [name for name in before if now.get(name, before[name]) != before[name]]
    gone, new = len(before.keys() - now.keys()), len(now.keys() - before.keys())
    for name in differ:
        part = "asked" if before[name][0] != now[name][0] else "made of the same answers"
        print(f"differs in what was {part}: {name}")
    print(f"{len(before) - len(differ) - gone} equal, {len(differ)} differ, {gone} gone, {new} new")
    raise SystemExit(bool(differ or gone))


if __name__ == "__main__":
    main()
