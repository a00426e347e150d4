"""The way of one default explanation through the code: `python -m tools.follow`.

It prints every file that runs between `explain` and its result, in the order of the first visit,
with the number of lines that ran. Read them in this order to follow an explanation. With the word
`survey` it follows a survey, and a row explained from it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import eagle
from eagle._engine.planning import CACHE

ROOT = Path(eagle.__file__).parent


@dataclass
class Way:
    """The lines that ran, by file, and how often the next line was in another file."""

    lines: dict[str, set[int]] = field(default_factory=dict)
    functions: set[tuple[str, str]] = field(default_factory=set)
    switches: int = 0
    _last: str = ""

    def trace(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        """A function for `sys.settrace`, which leaves other packages out."""
        code = frame.f_code
        if not code.co_filename.startswith(str(ROOT)):
            return None
        if code.co_filename != self._last:
            self.switches, self._last = self.switches + 1, code.co_filename
        if code.co_name[0] != "<":  # comprehensions are none
            self.functions.add((code.co_filename, code.co_qualname))
        if event == "line":
            self.lines.setdefault(code.co_filename, set()).add(frame.f_lineno)
        return self.trace


def follow(survey: bool = False) -> Way:
    """The way of one explanation of a row of numbers, with nothing planned before it.

    With `survey`, that of a survey of the default size and the explanation of a row from it.
    """
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier

    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    explainer = eagle.Explainer(model, X)

    def run(row: int) -> None:
        if survey:
            explainer.survey(progress=False).explain(X[row])
        else:
            explainer.explain(X[row])

    run(1)  # what is imported late is imported now
    CACHE.clear()
    way = Way()
    before = sys.gettrace()
    sys.settrace(way.trace)
    try:
        run(0)
    finally:
        sys.settrace(before)
    return way


def main() -> None:
    """Print it."""
    way = follow(survey="survey" in sys.argv[1:])
    for file, lines in way.lines.items():
        count = sum(place == file for place, _ in way.functions)
        name = Path(file).relative_to(ROOT).as_posix()
        print(f"{name:<24}{len(lines):>5} lines in {count:>2} functions")
    total = sum(map(len, way.lines.values()))
    print(
        f"{len(way.lines)} files, {len(way.functions)} functions, {total:,} lines, "
        f"{way.switches} switches between files"
    )


if __name__ == "__main__":
    main()
