"""Are the intervals of long texts right, and is the time outside the model small?

    python -m evaluation bench units [--words 20000] [--rows 500] [--seeds 3]

A text of SMS messages, one a sentence, is explained at so many rows by blocks of equal length, of
which the rows allow 2, 3, 4 or 8 each (3 is what `Texts()` takes), and by its first sentences,
three times as many as rows. Models: a line over counts of which one word in fifty has an effect, a
logistic line on TF-IDF, and boosted trees on counts, both trained on the messages. The target is
what `default.MASKS` gives from 10,000 rows with another seed and a prior that has faded.

For each: how many 90% intervals hold the target, how many parts without an effect (under a
hundredth of the strongest) are called sure at 95%, how many of the five strongest are found, and
the mean half width beside the strongest. Then the time of one explanation of the text itself,
inside and outside the model. Needs the folder that EAGLE_DATA names.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

import eagle
from eagle import Texts
from eagle._engine import default
from eagle._engine.planning import Planner
from eagle._sources.words import blocks, sentences
from eagle._values.arrays import UNBOUNDED, Range
from eagle.contracts import Array
from eagle.metrics import truth as metrics
from eagle.spaces import EvenSizes, MaskSpace
from eagle.surrogates.pairs import Paired
from evaluation.problems import data

FAR, SEED, WEAK = 10_000, 991, 0.01
LINE: Final = "a line of few words"
"""The model whose answers have no bounds; those of the others are probabilities."""

FADED: Final = replace(default.MASKS, name="faded", surrogate=Paired(1e-9))


def text_of(words: int, seed: int) -> str:
    """Messages in an order of chance, each a sentence."""
    messages = sorted(set(data.sms()[0]))
    order = np.random.default_rng(seed).permutation(len(messages))
    found, count = [], 0
    for k in order:
        found.append(messages[k].strip().rstrip(".!?") + ".")
        count += len(messages[k].split())
        if count >= words:
            break
    return " ".join(found)


def boxes() -> Iterator[tuple[str, Any, Callable[[Any], Array]]]:
    """Each model's name, its counter of words, and the model of counts."""
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    once = dict(zip(*data.sms(), strict=True))
    counter = CountVectorizer(min_df=2).fit(list(once))
    counts, labels = counter.transform(list(once)), list(once.values())
    rng = np.random.default_rng(0)
    effects = rng.normal(size=counts.shape[1]) * (rng.random(counts.shape[1]) < 0.02)
    yield LINE, counter, lambda x: np.asarray(x @ effects).ravel() / 1000
    line = make_pipeline(TfidfTransformer(), LogisticRegression(C=10.0, max_iter=1000))
    line.fit(counts, labels)
    yield "TF-IDF, logistic", counter, lambda x: line.predict_proba(x)[:, 1]
    trees = GradientBoostingClassifier(random_state=0).fit(counts, labels)
    yield "boosted trees", counter, lambda x: trees.predict_proba(x)[:, 1]


def fitted(
    method: Any,
    rows: int,
    seed: int,
    d: int,
    ask: Callable[[Array], Array],
    bounds: Range = UNBOUNDED,
) -> Any:
    space = MaskSpace(d, EvenSizes())
    planner = Planner(method, rows, seed)
    (prepared,) = planner.plan([space])
    kept = 1.0 - prepared.points
    answers = [ask(part) for part in np.array_split(kept, -(-len(kept) // 500))]
    return prepared.fitter.fit(np.concatenate(answers), bounds)


def figures(fit: Any, target: Array) -> list[float]:
    strongest = float(np.abs(target).max())
    weak = np.abs(target) < WEAK * strongest
    found = metrics.agreement(fit.scores[None], target, 5)
    if fit.posterior is None:
        return [np.nan, np.nan, found, np.nan]
    low, high = fit.posterior.interval(0.9).T
    sure = fit.posterior.interval(0.95)
    clear = (sure[:, 0] > 0) | (sure[:, 1] < 0)
    return [
        float(((low <= target) & (target <= high)).mean()),
        float(clear[weak].mean()) if weak.any() else np.nan,
        found,
        float(((high - low) / 2).mean() / strongest),
    ]


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench units", description=__doc__)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args(argv)
    text = text_of(args.words, 0)
    cuts = {f"{n} rows a block": blocks(text, args.rows // n - 1) for n in (2, 3, 4, 8)}
    cuts["sentences"] = sentences(text)[: 3 * args.rows]
    print(f"{len(text.split())} words, {args.rows} rows, {args.seeds} seeds")
    print(f"{'':44}    held  falsely  top 5   width")
    for name, counter, model in boxes():
        for how, spans in cuts.items():
            counts = counter.transform([text[s:e] for s, e in spans])

            def ask(kept: Array, counts: Any = counts, model: Any = model) -> Array:
                from scipy.sparse import csr_array

                return np.asarray(model(csr_array(kept) @ counts))

            d = len(spans)
            target = fitted(FADED, FAR, SEED, d, ask).scores
            method = default.choose(d, True, args.rows, False)
            bounds = UNBOUNDED if name == LINE else (0.0, 1.0)
            fits = [fitted(method, args.rows, s, d, ask, bounds) for s in range(args.seeds)]
            each = [figures(fit, target) for fit in fits]
            cells = "".join(f"{v:8.3f}" if v == v else f"{'–':>8}" for v in np.mean(each, axis=0))
            print(f"{name + ', ' + how + f' ({d})':<44}{cells}", flush=True)
        timed(name, text, counter, model, args.rows)


def timed(name: str, text: str, counter: Any, model: Callable[[Any], Array], rows: int) -> None:
    """One explanation of the text, in seconds."""

    def whole(texts: Any) -> Array:
        return model(counter.transform(texts))

    start = time.perf_counter()
    e = eagle.Explainer(whole, Texts(), task="regression", budget=rows).explain(text)
    took, inside = time.perf_counter() - start, e.cost.model_seconds
    parts = len(e.names)
    print(f"  {name}, {parts} parts: {inside:.2f} s in the model, {took - inside:.2f} s outside")
