"""A line for each problem: `python -m eagle.bench [name ...]`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from eagle.bench.problems import PROBLEMS
from eagle.types import EagleError


def main(names: Sequence[str]) -> int:
    """Print a line for each problem, or the sentence that says why it cannot be loaded."""
    failed = 0
    for name in names or PROBLEMS:
        if name not in PROBLEMS:
            print(f"there is no problem {name}: there are {', '.join(PROBLEMS)}", file=sys.stderr)
            return 2
        try:
            print(PROBLEMS[name](), flush=True)
        except EagleError as error:
            failed = 1
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
