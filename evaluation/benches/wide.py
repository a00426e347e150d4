"""Which method for how many features and rows: tables from 1 to 1,000 columns, 50 to 1,000 rows.

    EAGLE_DATA=folder python -m evaluation bench wide [formulas] [tables] [reading] [--quick]
        [--features 30 200] [--rows 100 500] [--views binned]

`formulas` are sums and products of columns whose limit is known exactly: five strong features, the
others weak, some pairs; in half of them three columns of ten are flags that one row of 25 has.
`tables` are real ones under boosted trees, forests, networks and lines. `limit` is always that of
the law as it is: the converged explanation of `EAGLE_BALANCED`. For each number of features d, of
rows N and each method, over tables, instances and seeds:

agreement   mean Jaccard similarity of the five strongest features with those of the limit
error       the relative error of the scores
coverage    the share of 90% intervals that hold the limit, of those that say anything
withheld    the share of intervals that say nothing: as wide as the answers
sure        how many of the statements "P(sign) ≥ 99%" have the wrong sign

"default" is what `methods.DEFAULT` picks. `reading` prints how
long 300 columns take in polars and pyarrow beside pandas, and how long plans of 1,000 take.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import eagle
from eagle import Background, Method, methods, peers
from eagle._engine import default
from eagle._engine.planning import CACHE, Planner
from eagle._tables.rows import TableInstances, TableSpace
from eagle.contracts import Array
from eagle.designs.law import Absorbed, every_step
from eagle.metrics import truth as metrics
from eagle.surrogates.bayes import BayesLinear, Prior
from evaluation.benches.tables import Black, fitted, forest
from evaluation.benches.truth import TOP
from evaluation.problems import data

LEVEL: Final = 0.9
SURE: Final = 0.99
FEATURES: Final = (1, 5, 13, 30, 64, 128, 200, 500, 1000)
ROWS: Final = (50, 100, 200, 500, 1000)
FAR: Final = 49_153
"""Rows of a limit: where levels are rare and columns many, 8,193 are not enough."""

OTHERS: Final = {
    "balanced": methods.EAGLE_BALANCED,
    "EAGLE": methods.EAGLE,
    "LIME": peers.LIME,
    "GLIME": peers.GLIME_LIME,
    "BayesLIME": peers.BAYESLIME,
    "S-LIME": peers.S_LIME,
}
SLOW: Final = {"EAGLE": 500, "BayesLIME": 200, "S-LIME": 200}
"""Methods that are not asked for more features than this: a plan would take many seconds."""


@dataclass(frozen=True, eq=False)
class Formula:
    """Σ a g(x) + Σ b g(x)g(x′) over columns and pairs of them; g bends or jumps."""

    single: Array
    pairs: NDArray[np.intp]
    both: Array
    jumps: bool

    @classmethod
    def of(cls, d: int, seed: int) -> Formula:
        rng = np.random.default_rng(seed)
        single = 0.3 * rng.normal(size=d) / np.sqrt(d)
        strong = rng.choice(d, min(TOP, d), replace=False)
        single[strong] = rng.choice([-1, 1], len(strong)) * np.linspace(1, 0.6, len(strong))
        many = min(d // 2, max(3, d // 10))
        pairs = np.array(
            [rng.choice(d, 2, replace=False) for _ in range(many)], dtype=np.intp
        ).reshape(-1, 2)
        return cls(single, pairs, 0.8 * rng.normal(size=many) / np.sqrt(many or 1), seed % 2 == 1)

    def bent(self, x: Array) -> Array:
        return np.asarray((x > 0.3) * 1.0 if self.jumps else np.tanh(1.5 * x))

    def __call__(self, X: Any) -> Array:
        g = self.bent(np.asarray(X, dtype=np.float64))
        one, other = self.pairs.T
        return np.asarray(g @ self.single + (g[:, one] * g[:, other]) @ self.both)

    def limit(self, space: TableSpace) -> Array:
        """The slopes that infinitely many rows of the law would have, exactly."""
        features = every_step(space)[0]
        tilt = Absorbed().tilt(space, methods.EAGLE_BALANCED.kernel)
        chance = tilt / tilt.sum(axis=0)
        points = np.repeat(np.arange(space.steps, dtype=np.uint16)[:, None], len(tilt.T), axis=1)
        g = self.bent(space.values(points))
        mean, middle = (chance * g).sum(axis=0), (chance * features).sum(axis=0)
        spread = (chance * features**2).sum(axis=0) - middle**2
        slope = (chance * features * g).sum(axis=0) - middle * mean
        weight = self.single.copy()
        one, other = self.pairs.T
        np.add.at(weight, one, self.both * mean[other])
        np.add.at(weight, other, self.both * mean[one])
        moves = spread > 1e-12
        return np.where(moves, slope * weight / np.where(moves, spread, 1.0), 0.0)


def columns(d: int, seed: int) -> Array:
    """400 rows of normal numbers; for seeds of 2 or 3 of 4, three columns of ten are flags."""
    rng = np.random.default_rng(1000 + seed)
    X = rng.normal(size=(400, d))
    flags = int(0.3 * d) if seed % 4 > 1 else 0
    X[:, :flags] = 2.0 * (rng.random((400, flags)) < 0.04)
    return np.asarray(X[:, rng.permutation(d)])


class Found(NamedTuple):
    """What one explanation is worth; NaN where it has no intervals or is sure of nothing."""

    agreement: float
    error: float
    coverage: float
    withheld: float
    wrong: float


def found(e: eagle.Explanation, limit: Array) -> Found:
    scores = e.scores[None]
    agreed, error = metrics.agreement(scores, limit, TOP), metrics.relative_error(scores, limit)
    if e.posterior is None:
        return Found(agreed, error, *[float("nan")] * 3)
    low, high = e.interval(LEVEL).T
    moved = np.ptp(e.evidence.features, axis=0) > 0
    y = e.evidence.answers[:, 0 if e.task == "regression" else e.outputs.index(e.target)]
    says = moved & (high - low < 2 * np.ptp(y))
    held = (low <= limit) & (limit <= high)
    sure = says & (e.probability_sign() >= SURE)
    return Found(
        agreed,
        error,
        _mean(held[says]),
        1 - _mean(says[moved]),
        _mean(np.sign(e.scores[sure]) != np.sign(limit[sure])),
    )


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def contestants(d: int, rows: int) -> dict[str, Method]:
    others = {name: m for name, m in OTHERS.items() if d <= SLOW.get(name, d)}
    return {"default": default.choose(d, False, rows, False), **others}


def formulas(args: argparse.Namespace) -> None:
    """Every number of features and rows, on formulas."""
    print(f"formulas: {args.tables} tables, {args.seeds} seeds")
    for view in args.views:
        for d in args.features:
            tables = []
            for seed in range(args.tables):
                X, f = columns(d, seed), Formula.of(d, 100 * d + seed)
                background = Background.of(X)
                table = TableInstances(background, background.adopt(X[:1]), view == "binned")
                tables.append((f, X, f.limit(table.space(0))))
            for rows in args.rows:
                several: dict[str, list[Found]] = {}
                for name, method in contestants(d, rows).items():
                    for place, (f, X, limit) in enumerate(tables):
                        for seed in range(args.seeds):
                            e = _explained(f, X, view, method, rows, 10 * place + seed, X[0])
                            several.setdefault(name, []).append(found(e, limit))
                show(f"{view}, d = {d}, {rows} rows", several)


def _explained(
    model: Any, X: Any, view: Any, method: Method, rows: int, seed: int, x: Any, target: Any = None
) -> eagle.Explanation:
    CACHE.clear()
    explainer = eagle.Explainer(
        model, eagle.Table(X, view=view), method=method, budget=rows, random_state=seed
    )
    return explainer.explain(x, target)


def show(what: str, several: dict[str, list[Found]]) -> None:
    """A line for each method; the figures of one that has no intervals are left out."""
    print(f"{what:<34}{'agreement':>10}{'error':>8}{'coverage':>10}{'withheld':>10}{'wrong':>8}")
    for name, all_found in several.items():
        with np.errstate(all="ignore"):
            means = [
                _mean([v for v in column if v == v]) for column in zip(*all_found, strict=True)
            ]
        width = (10, 8, 10, 10, 8)
        cells = "".join(
            f"{'–' if v != v else format(v, '.2f'):>{w}}" for v, w in zip(means, width, strict=True)
        )
        print(f"  {name:<32}{cells}", flush=True)


def settled() -> Iterator[tuple[str, Callable[[], Black]]]:
    """Tables on which the choice was made."""
    yield "German, network", lambda: _problem("german+network")
    yield "digits, network", lambda: _problem("digits")
    yield "digits, forest", lambda: _problem("digits+forest")
    yield "Adult, forest", lambda: _problem("adult")
    yield "MNIST of 14 x 14 pixels, line", lambda: pixels(14)
    yield "messages by 200 words, line", lambda: words(200)


def untouched() -> Iterator[tuple[str, Callable[[], Black]]]:
    """Tables on which nothing was chosen."""
    yield "MAGIC, boosting", lambda: _problem("magic+boosting")
    yield "COMPAS, network", lambda: _problem("compas+network")
    yield "cancer, network", lambda: _problem("cancer+network")
    yield "messages by 100 words, forest", lambda: words(100, forest())


def _problem(name: str) -> Black:
    from evaluation.measure import load

    p = load(name)
    return Black(name, p.model, np.asarray(p.data), np.asarray(p.instances))


def _line() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=500)


def pixels(side: int) -> Black:
    """Written digits as a table of their pixels, by a line."""
    digits, step = data.mnist()[1], 28 // side
    some = digits.images[:5000].astype(np.float64).reshape(-1, side, step, side, step)
    X, y = some.mean(axis=(2, 4)).reshape(len(some), -1), digits.labels[:5000]
    return fitted("pixels", _line(), X, y)


def words(many: int, model: Any = None) -> Black:
    """Messages as a table of how often each of the commonest words is in them."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts, labels = data.sms()
    counts = CountVectorizer(max_features=many).fit_transform(texts).toarray()
    return fitted("words", _line() if model is None else model, counts.astype(float), labels)


def tables(args: argparse.Namespace) -> None:
    """Every number of rows, on real tables."""
    print(f"tables: {args.instances} instances, {args.seeds} seeds, limits of {args.far} rows")
    far = replace(methods.EAGLE_BALANCED, surrogate=BayesLinear(Prior(1e-6)))
    for part, several in (("chosen on", settled()), ("untouched", untouched())):
        for name, load in several:
            if part not in args.parts:
                continue
            black = load()
            x = black.held[:: len(black.held) // args.instances][: args.instances]
            d = x.shape[1]
            limits = [
                _explained(black.model, black.data, "binned", far, args.far, 999, one) for one in x
            ]
            for rows in sorted({*args.rows, methods.DEFAULT.rows(d)}):
                rivals: dict[str, list[Found]] = {}
                for method_name, method in contestants(d, rows).items():
                    for seed in range(args.seeds):
                        for one, limit in zip(x, limits, strict=True):
                            e = _explained(
                                black.model,
                                black.data,
                                "binned",
                                method,
                                rows,
                                seed,
                                one,
                                limit.target,
                            )
                            rivals.setdefault(method_name, []).append(found(e, limit.scores))
                show(f"{name} ({part}), d = {d}, {rows} rows", rivals)


def best(run: Callable[[], Any], repeats: int = 3) -> float:
    """The least time of several runs, in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def _first(table: Any) -> Any:
    return table["c0"].to_numpy()


def reading(args: argparse.Namespace) -> None:
    """How long wide tables take to be read and asked, and plans to be made."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    names = [f"c{j}" for j in range(300)]
    X = np.random.default_rng(0).normal(size=(2000, 300))
    pandas = pd.DataFrame(X, columns=names)
    kinds = {
        "pandas": pandas,
        "polars": pl.DataFrame(X, schema=names),
        "pyarrow": pa.Table.from_pandas(pandas, preserve_index=False),
    }
    base: list[float] = []
    print("300 columns of 2,000 rows: summary, one explanation; beside pandas")
    for kind, table in kinds.items():
        row = table.iloc[:1] if kind == "pandas" else table.slice(0, 1)
        warm = eagle.Explainer(_first, table, task="regression")
        warm.explain(row)
        took = [best(partial(Background.of, table)), best(partial(warm.explain, row))]
        base = base or took
        cells = "  ".join(f"{t:7.1f} ms ({t / b:.1f} x)" for t, b in zip(took, base, strict=True))
        print(f"  {kind:<10}{cells}", flush=True)
    print("plans of 1,000 columns, binned")
    background = Background.of(np.random.default_rng(0).normal(size=(1000, 1000)))
    rows = np.random.default_rng(0).normal(size=(1, 1000))
    space = TableInstances(background, background.adopt(rows)).space(0)
    for n in (500, 5000):
        for name in ("default", "balanced", "EAGLE", "LIME"):
            method = contestants(1, n)[name]
            method = default.choose(1000, False, n, False) if name == "default" else method
            if name in SLOW and n > 500:
                continue

            def plan(m: Method = method, n: int = n) -> None:
                CACHE.clear()
                Planner(m, n, 0).plan([space])

            print(f"  {n:>5} rows, {name:<10}{best(plan, 1 if n > 500 else 3):9.0f} ms", flush=True)


PARTS: Final = {"formulas": formulas, "tables": tables, "reading": reading}


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench wide", description=__doc__)
    parser.add_argument("what", nargs="*", help=f"some of {', '.join(PARTS)}; else all")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--features", type=int, nargs="+", default=FEATURES)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--views", nargs="+", default=["binned", "continuous"])
    parser.add_argument("--parts", nargs="+", default=["chosen on", "untouched"])
    args = parser.parse_args(argv)
    args.tables, args.seeds, args.instances, args.far = (
        (4, 1, 3, 8193) if args.quick else (8, 2, 8, FAR)
    )
    for name in args.what or PARTS:
        PARTS[name](args)
