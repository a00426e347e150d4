"""Few paid rows: how near to the converged explanation are 16 to 256 rows?

    EAGLE_DATA=folder python -m evaluation bench few > docs/results/few-rows.md

Things and tables here had no say in any constant. `--chosen` has those on which constants were
chosen instead. Without EAGLE_DATA there are no messages, and fewer tables. Plans and fits are timed
in the process that prints this; run it with OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product
from typing import Any, Final, NamedTuple

import numpy as np

from eagle import Background, Images, Method, Texts, methods, peers
from eagle._engine import default
from eagle._engine.method import Choice
from eagle._engine.plan import PlannedRows
from eagle._engine.planning import CACHE, Planner
from eagle._sources.texts import words
from eagle._tables.rows import TableInstances
from eagle._values.arrays import UNBOUNDED, Range
from eagle.cli.demo import ABOUT, BAD_WORDS, GOOD_WORDS
from eagle.contracts import Adaptive, Array, Instances, Planned, Points, Space
from eagle.metrics import truth as metrics
from eagle.surrogates.functional import Functional
from eagle.surrogates.pairs import Paired
from evaluation.benches import masks
from evaluation.benches.honest import CONVERGED
from evaluation.benches.tables import Black, others, tables

LEVEL: Final = 0.9
STRONGEST: Final = 3
ROWS: Final = (16, 32, 64, 128, 256)
EXACT: Final = 16
FAR: Final = (30_000, 32_769)
"""Rows of a converged explanation: of masks, unless all fit, and of a table."""

SEED: Final = 991
FLAT: Final = 0.002

INTERVALS: Final = ("EAGLE_HADAMARD", "default", "EAGLE_PROCESS")
"""The methods whose intervals are printed."""

PROCESS_LOGIT: Final = replace(
    methods.EAGLE_PROCESS, name="EAGLE (process, logit)", surrogate=Functional(logit=True)
)
"""The process that may predict probabilities of masks by their log-odds."""

RIVALS: Final[dict[str, Method | Choice]] = {
    "LIME": peers.LIME,
    "EAGLE": methods.EAGLE,
    "EAGLE_HADAMARD": masks.HADAMARD,
    "default": methods.DEFAULT,
    "EAGLE_PROCESS": methods.EAGLE_PROCESS,
    "EAGLE_PROCESS_LOGIT": PROCESS_LOGIT,
}


class Thing(NamedTuple):
    """Something to explain: its space, what the model answers to points, and the limit."""

    space: Space
    ask: Callable[[Points], Array]
    limit: Array
    bounds: Range


# -- things ---------------------------------------------------------------------------------------


def thing(instances: Instances, predict: Callable[[Any], Any], bounds: Range) -> Thing:
    """The first of the instances, by the class that is predicted, with its limit."""
    place = int(np.argmax(predict(instances.inputs([0], [instances.space(0).origin[None]]))[0]))

    def ask(points: Points) -> Array:
        parts = np.array_split(points, -(-len(points) // 2048))
        return np.concatenate([predict(instances.inputs([0], [p]))[:, place] for p in parts])

    space = instances.space(0)
    d = len(space.origin)
    if not space.masks:
        method, rows = CONVERGED, FAR[1]
    elif d <= EXACT:
        method, rows = default.MASKS, 1 << d
    else:
        method, rows = replace(default.MASKS, surrogate=Paired(1e-9)), FAR[0]
    (prepared,) = Planner(method, rows, SEED).plan([space])
    limit = np.asarray(prepared.fitter.fit(ask(prepared.points)).scores)
    CACHE.clear()
    return Thing(space, ask, limit, bounds)


def digits(odd: bool, blocks: tuple[int, int]) -> Iterator[Thing]:
    """Digits of scikit-learn in blocks of pixels, under a network."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier

    every = load_digits()
    train, test, labels, _ = train_test_split(every.images, every.target, random_state=0)
    model = MLPClassifier(64, max_iter=300, random_state=0)
    model.fit(train.reshape(len(train), -1) / 16, labels)

    def predict(images: Any) -> Any:
        return model.predict_proba(images.reshape(len(images), -1) / 16)

    high, wide = blocks
    cut = np.arange(64 // (high * wide)).reshape(8 // high, 8 // wide)
    source = Images(cut.repeat(high, axis=0).repeat(wide, axis=1), fill=0)
    for picture in test[int(odd) :: 2]:
        yield thing(masks.one(source, picture), predict, (0.0, 1.0))


def reviews(odd: bool) -> Iterator[Thing]:
    """Reviews put together from a few words, under a line; those of the other kind a forest."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(20 + odd)
    mixed = [GOOD_WORDS, BAD_WORDS]

    def review(likes: float) -> str:
        said = [
            f"{thing} was {mixed[int(rng.random() > likes)][rng.integers(8)]}"
            for thing in rng.permutation(ABOUT)[:4]
        ]
        return f"{said[0]} and {said[1]}, but {said[2]}. To me {said[3]}."

    seen = [review(likes) for likes in (0.9, 0.1) for _ in range(150)]
    moods = ["liked"] * 150 + ["disliked"] * 150
    machines = (LogisticRegression(C=10), RandomForestClassifier(random_state=0))
    boxes = [make_pipeline(TfidfVectorizer(), one).fit(seen, moods) for one in machines]
    for k in range(1000):
        instances = masks.one(Texts(words), review(0.5))
        yield thing(instances, boxes[k % 2].predict_proba, (0.0, 1.0))


def messages(odd: bool, least: int, most: int) -> Iterator[Thing]:
    """SMS of so many words, under a line, a forest and boosted trees (and others that are new)."""
    for one in masks.texts(odd, least, most):
        limit = masks.target(one)
        CACHE.clear()
        yield Thing(one.space, partial(_kept, one), limit, (0.0, 1.0))


def _kept(one: masks.Thing, points: Points) -> Array:
    """The answers to masks given as points, which are 1 where a part is off."""
    return one.ask(1.0 - points)


def rows_of(black: Black, odd: bool) -> Iterator[Thing]:
    """Held-out rows of a table, in the binned view."""
    background = Background.of(black.data)
    held = background.adopt(black.held)
    regression = not hasattr(black.model, "predict_proba")

    def predict(X: Any) -> Any:
        return black.model.predict(X)[:, None] if regression else black.model.predict_proba(X)

    for i in range(int(odd), len(held), 2):
        table = TableInstances(background, held.take([i]))
        yield thing(table, predict, UNBOUNDED if regression else (0.0, 1.0))


def kinds(odd: bool) -> Iterator[tuple[str, int, Iterator[Thing]]]:
    """Kinds of things: in words, how many of them are explained, and which."""
    yield "digits in 16 blocks, network", 6, digits(odd, (2, 2))
    yield "digits in 32 blocks, network", 4, digits(odd, (1, 2))
    yield "reviews of 15 to 17 words, line and forest", 6, reviews(odd)
    if os.environ.get("EAGLE_DATA"):
        yield "messages of 10 to 35 words", 10, messages(odd, 10, 35)
        yield "messages of 36 to 80 words", 3, messages(odd, 36, 80)
    chosen = ("cancer", "wine", "diabetes", "Friedman", "COMPAS", "German")
    for black in tables():
        if black.name.startswith(chosen) != odd:
            yield f"{black.name}", 3, rows_of(black, odd)
    for black in others() if odd else ():
        yield f"{black.name}", 3, rows_of(black, odd)


# -- figures --------------------------------------------------------------------------------------


class Figures(NamedTuple):
    """What one explanation is worth; NaN where it has no intervals."""

    error: float
    agreed: float
    covered: float
    strongest: float
    plan: float
    fit: float


def planned(x: Thing, method: Method, rows: int, seed: int) -> tuple[PlannedRows, Array, float]:
    """A plan with its answers, and how many milliseconds the plan took."""
    CACHE.clear()
    start = time.perf_counter()
    (prepared,) = Planner(method, rows, seed).plan([x.space])
    spent = 1000 * (time.perf_counter() - start)
    return prepared, x.ask(prepared.points), spent


def measured(x: Thing, method: Method, asked: tuple[PlannedRows, Array, float]) -> Figures:
    """One explanation, beside its limit."""
    prepared, y, plan = asked
    fitter = method.surrogate.on(prepared.rows)
    start = time.perf_counter()
    fit = fitter.fit(y, x.bounds)
    spent = 1000 * (time.perf_counter() - start)
    k = min(STRONGEST, len(x.limit))
    error = metrics.relative_error(fit.scores[None], x.limit)
    agreed = metrics.agreement(fit.scores[None], x.limit, k)
    covered = strongest = float("nan")
    if fit.posterior is not None:
        low, high = fit.posterior.interval(LEVEL).T
        held = (low <= x.limit) & (x.limit <= high)
        covered, strongest = held.mean(), held[np.argsort(-np.abs(x.limit))[:k]].mean()
    return Figures(error, agreed, covered, strongest, plan, spent)


Means = dict[tuple[str, int], Array]
"""Mean figures by method and number of rows."""


def compared(several: Sequence[Thing], rows: Sequence[int], seeds: int) -> Means:
    """The mean figures of each method over things and seeds."""
    each: dict[tuple[str, int], list[Figures]] = {}
    for x, n, seed in product(several, rows, range(seeds)):
        plans: dict[Planned | Adaptive, tuple[PlannedRows, Array, float]] = {}
        for name, rival in RIVALS.items():
            method = rival.of(x.space, n, growing=False)
            if name.endswith("LOGIT") and not x.space.masks:
                continue
            if method.design not in plans:
                plans[method.design] = planned(x, method, n, seed)
            each.setdefault((name, n), []).append(measured(x, method, plans[method.design]))
    return {key: mean(np.array(figures)) for key, figures in each.items()}


def mean(figures: Array) -> Array:
    """The mean of each column, without what is not known."""
    known = [column[np.isfinite(column)] for column in figures.T]
    return np.array([column.mean() if len(column) else np.nan for column in known])


# -- the page -------------------------------------------------------------------------------------

HEAD: Final = """Relative error of the scores / share of the three strongest features found (Jaccard
similarity), for 16 to 256 rows, both against the converged explanation: the line through all masks
where there are up to 2^16, else that of 30,000 masks, or of 32,769 balanced rows of a table, with
a prior that has faded. Below each table, the share of 90% intervals that hold the converged score,
of all features / of the three strongest; a dash stands where a method gives none. The default on
tables changes rare values more often than its limit does, which is part of its error here. Read
figures to ± .05."""


CAPTION: Final = "90% intervals that hold, all / the three strongest:"


def cell(one: Array, a: int, b: int) -> str:
    if not np.isfinite(one[a]):
        return "–"
    return f"{one[a]:.2f}/{one[b]:.2f}".replace("0.", ".")


def table(means: Means, rows: Sequence[int], names: Sequence[str], a: int, b: int) -> None:
    print(f"| | {' | '.join(str(n) for n in rows)} |\n|---|{'---|' * len(rows)}")
    for name in names:
        if (name, rows[0]) in means:
            cells = " | ".join(cell(means[name, n], a, b) for n in rows)
            print(f"| {name} | {cells} |")
    print(flush=True)


def summary(every: Sequence[Means], what: str, rows: Sequence[int]) -> None:
    """The mean over kinds: error and agreement, then coverage, then milliseconds."""
    if not every:
        return
    means = {key: mean(np.array([one[key] for one in every])) for key in every[0]}
    print(f"## All {what}: the mean of {len(every)} kinds\n")
    table(means, rows, list(RIVALS), 0, 1)
    print(f"{CAPTION}\n")
    table(means, rows, INTERVALS, 2, 3)
    print("Milliseconds of a plan / of a fit, on one core that others use too:\n")
    print(f"| | {' | '.join(str(n) for n in rows)} |\n|---|{'---|' * len(rows)}")
    for name in RIVALS:
        if (name, rows[0]) in means:
            cells = (f"{means[name, n][4]:.0f}/{means[name, n][5]:.0f}" for n in rows)
            print(f"| {name} | {' | '.join(cells)} |")
    print(flush=True)


def some(made: Iterator[Thing], many: int) -> list[Thing]:
    """The first things whose scores are not all about 0."""
    lively = (x for x in islice(made, 10 * many) if np.abs(x.limit).max() > FLAT)
    return list(islice(lively, many))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench few", description=__doc__)
    parser.add_argument("--chosen", action="store_true", help="what constants were chosen on")
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="two things a kind, one seed")
    args = parser.parse_args(arguments)
    print("# Few paid rows\n")
    print((__doc__ or "").split("\n\n", 2)[1].strip().join(["`", "`"]), end="\n\n")
    print((__doc__ or "").split("\n\n", 2)[2])
    print(HEAD + "\n")
    means: dict[bool, list[Means]] = {True: [], False: []}
    for says, many, made in kinds(not args.chosen):
        several = some(made, 2 if args.quick else many)
        one = compared(several, args.rows, 1 if args.quick else args.seeds)
        sizes = [len(x.limit) for x in several]
        print(f"## {says}: {len(several)}, d = {min(sizes)} to {max(sizes)}\n")
        table(one, args.rows, list(RIVALS), 0, 1)
        print(f"{CAPTION}\n")
        table(one, args.rows, INTERVALS, 2, 3)
        means[several[0].space.masks].append(one)
    summary(means[True], "masks", args.rows)
    summary(means[False], "tables", args.rows)


if __name__ == "__main__":
    main()
