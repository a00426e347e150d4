"""How soon are masks of images and texts right, and do their intervals hold?

    python -m evaluation bench masks [--quick] [--others] [--kinds digits texts] [--rows 50 500]
    python -m evaluation bench masks --others --kinds texts --skip 20 --things 40 --seeds 3 \
        --methods LIME "balanced masks" --rows 50 100 200 500

For each kind of thing, method and number of rows, over things and seeds: the relative error of the
scores, how many of the five strongest parts are found (Jaccard similarity), how many 90% intervals
hold the target's score (of all parts, and of the three strongest), how many weak parts (under a
hundredth of the strongest) have an interval that leaves out both 0 and the target, and the mean
half width in units of the strongest score. A dash stands where a method gives no intervals.

The target: the line through all masks where there are up to 2^16, else what `default.MASKS` gives
from 30,000 rows and another seed with a prior that has faded; of photographs what Sobol' masks give
from 6,145. Things: SMS by their words under a line, a forest and boosted trees; digits in about 20
and in about 40 segments, under a network; with `--kinds photos`, photographs in about 50 segments
under EfficientNet-Lite0, which takes minutes a photograph. What nothing varies in is left out.

Constants were chosen on things of even places; `--others` has those of odd places, and texts under
a network and under naive Bayes as well. `--skip` leaves out the first of them, so that figures come
from things on which nothing was measured before. The last lines are each method's error as a share
of LIME's: of the means, and the quartiles over things. Needs the folder that EAGLE_DATA names.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice
from typing import Any, Final, NamedTuple

import numpy as np

from eagle import Images, Method, Texts, methods, peers
from eagle._engine import default
from eagle._engine.planning import Planner
from eagle._sources.texts import words
from eagle.contracts import Array, Instances, Space, Wanted
from eagle.designs.complements import Complements
from eagle.designs.hadamard import Hadamard
from eagle.kernels import COSINE, Exponential
from eagle.metrics import truth as metrics
from eagle.surrogates.bayes import BayesLinear, Prior
from eagle.surrogates.pairs import Paired
from eagle.surrogates.robust import Robust
from evaluation.problems import PROBLEMS, data
from evaluation.problems.boxes import estimator

LEVEL: Final = 0.9
TOP, STRONGEST, WEAK = 5, 3, 0.01
FLAT: Final = 0.002
"""Where no score is as large as this, there is nothing to find."""

ROWS: Final = (50, 100, 200, 500, 1000)
EXACT: Final = 16
FAR, SEED = 30_000, 991

HADAMARD: Final = Method("Hadamard", Hadamard(), Exponential(), Robust(), COSINE)
"""Orthogonal rows and their mirror images."""

RIVALS: Final = (
    peers.LIME,
    methods.EAGLE,
    replace(peers.GLIME_LIME, name="independent", surrogate=Robust()),
    methods.EAGLE_BALANCED,
    replace(methods.EAGLE_BALANCED, name="Sobol', pairs", surrogate=Paired()),
    HADAMARD,
    replace(HADAMARD, name="Hadamard, pairs", surrogate=Paired()),
    replace(default.MASKS, name="masks, no block", design=Complements(block=False)),
    default.MASKS,
)
FADED: Final = replace(default.MASKS, name="faded", surrogate=Paired(1e-9))
SOBOL: Final = replace(methods.EAGLE_BALANCED, name="far", surrogate=BayesLinear(Prior(1e-6)))


class Thing(NamedTuple):
    """Something made of parts: what the model says of its masks, shape (n, d), and its space."""

    name: str
    space: Space
    ask: Callable[[Array], Array]
    far: Method = FADED
    rows: int = FAR


def thing(name: str, instances: Instances, predict: Callable[[Any], Any], whole: Any) -> Thing:
    """The first of the instances, by the class that is predicted."""
    place = int(np.argmax(predict(whole)[0]))

    def ask(kept: Array) -> Array:
        parts = np.array_split((1 - kept).astype(np.uint8), -(-len(kept) // 256))
        return np.concatenate([predict(instances.inputs([0], [p]))[:, place] for p in parts])

    return Thing(name, instances.space(0), ask)


def one(source: Any, x: Any) -> Instances:
    """A thing as an instance, cut as for the default budget."""
    (group,) = source.groups(x, Wanted(True, 500, frozenset(), False))
    instances: Instances = group.instances
    return instances


# -- things ---------------------------------------------------------------------------------------


def machines(others: bool) -> dict[str, Any]:
    """Untrained models of texts."""
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    found = {
        "line": (TfidfVectorizer(), LogisticRegression(C=10.0, max_iter=1000)),
        "forest": (TfidfVectorizer(), RandomForestClassifier(100, random_state=0, n_jobs=1)),
        "boosting": (CountVectorizer(min_df=2), GradientBoostingClassifier(random_state=0)),
    }
    if others:
        network = MLPClassifier(32, max_iter=60, tol=1e-3, random_state=0)
        found["network"] = TfidfVectorizer(min_df=2), network
        found["bayes"] = CountVectorizer(), MultinomialNB()
    return {name: make_pipeline(*parts) for name, parts in found.items()}


def texts(others: bool, least: int, most: int) -> Iterator[Thing]:
    """SMS of so many different words, spam and ham in turn while there is both."""
    from sklearn.model_selection import train_test_split

    once = dict(zip(*data.sms(), strict=True))
    train, test, known, labels = train_test_split(
        list(once), list(once.values()), test_size=0.2, random_state=42
    )
    boxes = {k: estimator(f"sms-{k}", m, train, known) for k, m in machines(others).items()}
    mine = [
        (i, text, label)
        for i, (text, label) in enumerate(zip(test, labels, strict=True))
        if i % 2 == others and least <= len({text[s:e] for s, e in words(text)}) <= most
    ]
    spam = [(i, t) for i, t, label in mine if label == "spam"]
    ham = [(i, t) for i, t, label in mine if label == "ham"]
    turns = [pair for both in zip(spam, ham, strict=False) for pair in both] or ham
    for (i, text), name in zip(turns, cycle(boxes), strict=False):
        yield thing(f"{name} {i}", one(Texts(words), text), boxes[name].predict_proba, [text])


def digits(others: bool, segments: int) -> Iterator[Thing]:
    """Digits of MNIST under a network of one layer, which needs no torch."""
    from sklearn.neural_network import MLPClassifier

    train, test = data.mnist()
    some = 20_000
    pixels = train.images[:some].reshape(some, -1) / 255.0
    network = MLPClassifier(128, max_iter=200, tol=1e-3, n_iter_no_change=3, random_state=0)
    box = estimator("mnist-small", network, pixels, train.labels[:some])

    def predict(pictures: Any) -> Any:
        return box.predict_proba(pictures.reshape(len(pictures), -1) / 255.0)

    cut = Images(segments, fill=0, compactness=10.0)
    for i in range(int(others), len(test.images), 2):
        picture = test.images[i]
        yield thing(f"{i}", one(cut, picture), predict, picture[None])


def photos(others: bool) -> Iterator[Thing]:
    problem = PROBLEMS["photos"]()
    for i in range(int(others), len(problem.instances), 2):
        photo = problem.instances[i]
        instances = one(problem.data, photo)
        if len(instances.names(0)) >= 25:
            found = thing(f"{i}", instances, problem.model.predict_proba, photo[None])
            yield found._replace(far=SOBOL, rows=6145)


KINDS: Final[dict[str, tuple[str, int, Callable[[bool], Iterator[Thing]]]]] = {
    "digits": ("digits in about 20 segments", 10, lambda o: digits(o, 20)),
    "fine": ("digits in about 40 segments", 5, lambda o: digits(o, 60)),
    "texts": ("texts of 10 to 35 words", 20, lambda o: texts(o, 10, 35)),
    "long": ("texts of 36 to 80 words", 6, lambda o: texts(o, 36, 80)),
    "photos": ("photographs in about 50 segments", 3, photos),
}
"""Things by name: in words, how many, and which."""


# -- figures --------------------------------------------------------------------------------------


def target(x: Thing) -> Array:
    """The scores that the methods converge to."""
    d = len(x.space.origin)
    method, rows = (default.MASKS, 1 << d) if d <= EXACT else (x.far, x.rows)
    (prepared,) = Planner(method, rows, SEED).plan([x.space])
    return np.asarray(prepared.fitter.fit(x.ask(prepared.rows.features)).scores)


def figures(fit: Any, exact: Array) -> list[float]:
    """Error, agreement, coverage of all and of the strongest, falsely sure, half width."""
    largest = np.abs(exact).max()
    out = [
        metrics.relative_error(fit.scores[None], exact),
        metrics.agreement(fit.scores[None], exact, min(TOP, len(exact))),
    ]
    if fit.posterior is None:
        return out + [np.nan] * 4
    low, high = fit.posterior.interval(LEVEL).T
    held = (low <= exact) & (exact <= high)
    weak = np.abs(exact) < WEAK * largest
    wrong = ((low > 0) | (high < 0)) & ~held
    strong = np.argsort(-np.abs(exact))[:STRONGEST]
    false = float(wrong[weak].mean()) if weak.any() else np.nan
    return [*out, held.mean(), held[strong].mean(), false, (high - low).mean() / 2 / largest]


def measured(x: Thing, exact: Array, method: Method, rows: Sequence[int], seed: int) -> Array:
    """The figures at each number of rows, shape (rows, 6): plans are nested, so asked once."""
    (whole,) = Planner(method, max(rows), seed).plan([x.space])
    answers, out = x.ask(whole.rows.features), []
    for n in rows:
        (part,) = Planner(method, n, seed).plan([x.space])
        assert np.array_equal(part.points, whole.points[: len(part.points)])
        out.append(figures(part.fitter.fit(answers[: len(part.points)], (0.0, 1.0)), exact))
    return np.array(out)


def show(found: dict[str, list[Array]], rows: Sequence[int]) -> None:
    names = ("error", "top five", "covered", "strongest", "falsely", "half width")
    for at, name in enumerate(names):
        print(f"  {name:<24}" + "".join(f"{n:>8}" for n in rows))
        for method, several in found.items():
            values = np.array(several)[:, :, at]
            known = np.isfinite(values)
            sums = np.where(known, values, 0.0).sum(axis=0)
            cells = [
                f"{s / k:8.3f}" if k else f"{'–':>8}"
                for s, k in zip(sums, known.sum(axis=0), strict=True)
            ]
            print(f"    {method:<22}" + "".join(cells), flush=True)


def beside(found: dict[str, list[Array]], rows: Sequence[int], seeds: int) -> None:
    """The errors as shares of LIME's: of their means, and the quartiles over things."""
    if peers.LIME.name not in found:
        return
    errors = {name: np.array(several)[:, :, 0] for name, several in found.items()}
    each = {name: e.reshape(-1, seeds, len(rows)).mean(axis=1) for name, e in errors.items()}
    lime = each.pop(peers.LIME.name)
    print("  error beside LIME's")
    for name, own in each.items():
        quartiles = np.quantile(own / lime, [0.25, 0.5, 0.75], axis=0)
        lines = {"": own.mean(axis=0) / lime.mean(axis=0)}
        lines |= dict(
            zip((", lower quartile", ", median", ", upper quartile"), quartiles, strict=True)
        )
        for which, values in lines.items():
            cells = "".join(f"{v:8.3f}" for v in values)
            print(f"    {name + which:<38}" + cells, flush=True)


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench masks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a quarter of the things, one seed")
    parser.add_argument("--others", action="store_true", help="things that had no say")
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--kinds", nargs="+", default=list(KINDS)[:4], choices=list(KINDS))
    parser.add_argument("--skip", type=int, default=0, help="leave out so many things")
    parser.add_argument("--things", type=int, help="how many things of each kind")
    parser.add_argument("--seeds", type=int, help="how many seeds")
    names = [m.name for m in RIVALS]
    parser.add_argument("--methods", nargs="+", default=names, choices=names)
    args = parser.parse_args(argv)
    rivals = [m for m in RIVALS if m.name in args.methods]
    for kind in args.kinds:
        says, many, made = KINDS[kind]
        many = args.things or (-(-many // 4) if args.quick else many)
        seeds = args.seeds or (1 if args.quick or kind == "photos" else 2)
        found: dict[str, list[Array]] = {m.name: [] for m in rivals}
        sizes: list[int] = []
        for x in islice(made(args.others), args.skip, args.skip + many):
            exact = target(x)
            if np.abs(exact).max() < FLAT:
                continue
            sizes.append(len(exact))
            for method in rivals:
                for seed in range(seeds):
                    found[method.name].append(measured(x, exact, method, args.rows, seed))
        if sizes:
            print(f"\n{says}: {len(sizes)}, {min(sizes)} to {max(sizes)} parts, {seeds} seeds")
            show(found, args.rows)
            beside(found, args.rows, seeds)
