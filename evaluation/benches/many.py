"""The time outside the model where there are very many parts, beside the model's own.

    python -m evaluation bench many [--parts 500 1000 2000 5000] [--rows 500] [--pools]

A text of SMS messages with so many different words and marks is explained by its words, with
`Texts(unit="word")`, at so many rows. The model is a logistic line on TF-IDF, trained on the
messages: the quickest of the models of texts here, so others make the ratio smaller. Everything
runs on one thread. Each line is the median of three explanations, each with a new plan: the
seconds in the model and outside, and their ratio.

With `--pools` instead: the scores of the greedy rows from pools of 1,000, 100 and 30 candidates,
of independent rows and of Sobol' rows, on two texts under three models. The columns are the
relative error, how many of the 5 and of the 20 strongest are found (Jaccard similarity), the
correlation with the target, and the seconds to plan and fit. The target is what `MASKS` gives
from four rows a part or more, with a prior that has faded. Needs the folder that EAGLE_DATA names.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

import eagle
from eagle import Texts
from eagle._engine import default
from eagle._sources.texts import tokens
from eagle.contracts import Array
from eagle.designs.balanced import Sobol
from eagle.designs.greedy import Greedy
from eagle.metrics import truth as metrics
from eagle.peers.independent import Independent
from evaluation.benches.units import FADED, SEED, boxes, fitted, text_of
from evaluation.problems import data

RUNS: Final = 3
LONG: Final = 20_000
"""The words of the text of which the beginning is taken."""

FLAT: Final = 1e-3
"""Where no score is as large as this, there is nothing to find."""

POOLS: Final = {
    **{
        f"greedy, of {n:,}": replace(default.GREEDY, design=Greedy(pool=n)) for n in (1000, 100, 30)
    },
    "independent": replace(default.GREEDY, design=Independent()),
    "Sobol'": replace(default.GREEDY, design=Sobol()),
}


def beginning(text: str, parts: int) -> str:
    """The beginning of a text that has so many different words and marks, if it has so many."""
    found, end = set[str](), 0
    for start, end in tokens(text):
        found.add(text[start:end])
        if len(found) == parts:
            break
    return text[:end]


def model() -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    once = dict(zip(*data.sms(), strict=True))
    line = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10.0, max_iter=1000))
    return line.fit(list(once), list(once.values()))


def timed(parts: Sequence[int], rows: int) -> None:
    box, whole = model(), text_of(LONG, 0)
    print(f"{rows} rows; seconds in the model and outside, and their ratio")
    for d in parts:
        text, found = beginning(whole, d), []
        for run in range(RUNS):
            explainer = eagle.Explainer(box, Texts(unit="word"), budget=rows, random_state=run)
            start = time.perf_counter()
            e = explainer.explain(text)
            took, inside = time.perf_counter() - start, e.cost.model_seconds
            found.append((inside, took - inside, (took - inside) / inside))
        inside, outside, ratio = np.median(found, axis=0)
        print(f"{len(e.names):7,} parts {inside:9.2f} {outside:9.2f} {ratio:8.2f}", flush=True)


def errors(parts: Sequence[int], rows: int) -> None:
    print(f"{rows} rows; error, top 5, top 20, correlation, seconds to plan and fit")
    for d in parts:
        found: dict[str, list[list[float]]] = {name: [] for name in POOLS}
        for seed in range(2):
            text = beginning(text_of(LONG, seed), d)
            often = Counter(text[a:b] for a, b in tokens(text))
            for _, counter, box in boxes():
                counts = csr_array(counter.transform(list(often)).multiply(_column(often)))

                def ask(kept: Array, counts: Any = counts, box: Any = box) -> Array:
                    return np.asarray(box(csr_array(kept) @ counts))

                target = fitted(FADED, max(4000, 4 * d), SEED, len(often), ask).scores
                if np.abs(target).max() >= FLAT:
                    for name, method in POOLS.items():
                        start = time.perf_counter()
                        scores = fitted(method, rows, seed, len(often), ask).scores
                        found[name].append([*figures(scores, target), time.perf_counter() - start])
        print(f"{d:,} parts, {len(found['independent'])} texts and models")
        for name, several in found.items():
            print(f"    {name:<20}" + "".join(f"{v:8.2f}" for v in np.mean(several, axis=0)))


def _column(often: Counter[str]) -> Array:
    return np.array(list(often.values()), dtype=float)[:, None]


def figures(scores: Array, target: Array) -> list[float]:
    near = [metrics.agreement(scores[None], target, k) for k in (5, 20)]
    error = metrics.relative_error(scores[None], target)
    return [error, *near, float(np.corrcoef(scores, target)[0, 1])]


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench many", description=__doc__)
    parser.add_argument("--parts", type=int, nargs="+", default=[500, 1000, 2000, 5000])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--pools", action="store_true")
    args = parser.parse_args(argv)
    with threadpool_limits(1):
        (errors if args.pools else timed)(args.parts, args.rows)
