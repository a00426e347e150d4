"""Alternatives to scrambled Sobol' rows and a line with λ = 1, and how they compare.

    python -m evaluation bench tried [--quick] [--others] [--rows 500]

For each table and view, over instances and seeds: the agreement of two seeds, and of a seed and the
limit, on the five strongest features (mean Jaccard similarity), and the scores' relative error. The
limit is from 32,769 balanced rows. First other designs with the same line. All draw by the kernel,
so only their points differ. Then other estimates from the same Sobol' rows:

learnt prior    slopes are N(0, τ²), and τ is integrated out given all slopes
extra trees     a control variate: trees fitted to the answers and integrated over unasked rows,
                plus the line through the residuals of each tree's out-of-bag rows
interactions    lack of fit as a Gaussian process of pairs of features: generalised least squares

Last, masks: blocks of written digits under a small network. --others uses tables and models on
which nothing was chosen.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, hadamard
from scipy.stats import qmc
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.neural_network import MLPClassifier

from eagle._sources.masks import Fair, MaskSpace
from eagle._tables.background import STEPS, Background
from eagle._tables.rows import TableInstances, TableSpace
from eagle._values.arrays import Array
from eagle.designs.balanced import masks, scrambled_sobol
from eagle.designs.law import Absorbed, kept_count_law, quantile
from eagle.kernels import Exponential, cosine_distance
from eagle.metrics import stability
from eagle.metrics import truth as metrics
from eagle.surrogates.bayes import BayesLinear, Prior
from evaluation.benches.tables import Black, others, tables
from evaluation.benches.truth import TOP

KERNEL = Exponential()
COSINE = Exponential(0.25, distance=cosine_distance)
Ask = Callable[[Array], Array]
Design = Callable[[int, int, int], Array]
"""A function from rows, features and a seed to uniform numbers of shape (rows, features)."""


# -- designs -------------------------------------------------------------------------------------


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def sobol(n: int, d: int, seed: int) -> Array:
    return scrambled_sobol(n, d, generator(seed))


def several_scrambles(count: int) -> Design:
    def drawn(n: int, d: int, seed: int) -> Array:
        each = -(-n // count)
        return np.concatenate([sobol(each, d, count * seed + k) for k in range(count)])[:n]

    return drawn


def antithetic(n: int, d: int, seed: int) -> Array:
    half = sobol(-(-n // 2), d, seed)
    return np.concatenate([half, 1 - half])[:n]


def lattice(n: int, d: int, seed: int) -> Array:
    """Korobov's lattice with a random shift; its generator is the best of twenty by discrepancy."""
    rng = generator(seed)
    rows = np.arange(n)[:, None]
    tried = rng.integers(2, n - 1, 20)
    sets = [rows * (a ** np.arange(min(d, 6)) % n) % n / n for a in tried.tolist()]
    best = int(tried[np.argmin([qmc.discrepancy(s, method="L2-star") for s in sets])])
    powers = np.array([pow(best, j, n) for j in range(d)])
    return np.asarray((rows * powers % n / n + rng.random(d)) % 1)


DESIGNS: dict[str, Design] = {
    "Sobol'": sobol,
    "independent": lambda n, d, seed: generator(seed).random((n, d)),
    "Latin hypercube": lambda n, d, seed: qmc.LatinHypercube(d, rng=generator(seed)).random(n),
    "Halton": lambda n, d, seed: qmc.Halton(d, rng=generator(seed)).random(n),
    "Korobov lattice": lattice,
    "Sobol', antithetic": antithetic,
    "two scrambles": several_scrambles(2),
    "eight scrambles": several_scrambles(8),
}


def informative(z: Array, n: int) -> Array:
    """The places of n rows, chosen greedily by information gain about the line."""
    z = np.column_stack([np.ones(len(z)), z])
    covariance = np.linalg.inv(np.eye(z.shape[1]) + 1e-3 * z.T @ z / len(z))
    left, chosen = np.ones(len(z), dtype=bool), []
    for _ in range(n):
        gain = np.where(left, np.vecdot(z @ covariance, z), -1.0)
        pick = int(np.argmax(gain))
        chosen.append(pick)
        left[pick] = False
        reach = covariance @ z[pick]
        covariance -= np.outer(reach, reach) / (1 + gain[pick])
    return np.array(chosen)


# -- estimates -----------------------------------------------------------------------------------


def line(z: Array, y: Array, prior: float = 1.0) -> Array:
    return np.asarray(BayesLinear(Prior(prior)).fit(z, y, np.ones(len(y))).scores)


def learnt(z: Array, y: Array) -> Array:
    """A mean over ridges, weighed by the likelihood of the slopes under each prior scale."""
    moved = np.ptp(z, axis=0) > 0
    x, lift, spread = z[:, moved] - z[:, moved].mean(axis=0), y - y.mean(), y.std() or 1.0
    eigen, basis = np.linalg.eigh(x.T @ x)
    eigen = np.maximum(eigen, 1e-9)
    reach = basis.T @ x.T @ lift / spread
    slopes = basis @ (reach / (eigen + 1))
    noise = np.sum((lift / spread - x @ slopes) ** 2) / max(len(y) - x.shape[1] - 1, 1)
    sizes = np.exp(np.linspace(np.log(1e-3), np.log(30), 24))[:, None]
    wide = sizes**2 * eigen + noise
    log = np.log(sizes / (1 + sizes**2))[:, 0] - 0.5 * (
        np.log(wide) + reach**2 / (eigen * wide)
    ).sum(axis=1)
    chance = np.exp(log - log.max())
    out = np.zeros(z.shape[1])
    out[moved] = spread * basis @ (chance / chance.sum() @ (sizes**2 / wide) * reach)
    return out


def trees(z: Array, place: Array, y: Array, free: tuple[Array, Array]) -> Array:
    """The line through trees on unasked rows, plus the line through out-of-bag residuals."""
    forest = ExtraTreesRegressor(
        200, min_samples_leaf=2, bootstrap=True, oob_score=True, random_state=0
    ).fit(np.hstack([z, place]), y)
    smooth = line(free[0], forest.predict(np.hstack(free)), 1e-6)
    return smooth + line(z, y - forest.oob_prediction_)


def interactions(z: Array, place: Array, y: Array) -> Array:
    """Generalised least squares with lack of fit that is smooth in single features and pairs."""
    n, moved = len(y), np.ptp(z, axis=0) > 0
    alone, one, two = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for feature, at_ in zip(z.T[moved], place.T[moved], strict=True):
        both, own = (
            np.column_stack([np.ones(n), feature]),
            np.exp(-np.abs(at_[:, None] - at_) / 0.3),
        )
        known = np.linalg.pinv(both)
        own -= both @ (known @ own)  # project the linear part out on both sides
        own -= (own @ known.T) @ both.T
        own *= n / max(np.trace(own), 1e-9)
        unit = (feature - feature.mean()) / feature.std()
        alone += own
        full = np.outer(unit, unit) / 2 + own / 2
        one += full
        two += full**2
    pairs = (one**2 - two) / 2
    smooth = alone / np.trace(alone) * n / 2 + pairs / np.trace(pairs) * n / 2
    x = np.column_stack([np.ones(n), z[:, moved]])
    best: tuple[float, Array] | None = None
    for noise in (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9):
        factor = cho_factor((1 - noise) * smooth + noise * np.eye(n), lower=True)
        solved = cho_solve(factor, x)
        square = x.T @ solved + np.diag([0.0] + [1.0] * (x.shape[1] - 1))
        slopes = np.linalg.solve(square, solved.T @ y)
        left = y - x @ slopes
        loss = max(float(left @ cho_solve(factor, left)), 1e-300)
        fits = -(n / 2) * np.log(loss) - np.log(np.diag(factor[0])).sum()
        fits -= np.linalg.slogdet(square)[1] / 2
        if best is None or fits > best[0]:
            best = fits, slopes[1:]
    assert best is not None
    out = np.zeros(z.shape[1])
    out[moved] = best[1]
    return out


# -- tables --------------------------------------------------------------------------------------


class Around(NamedTuple):
    """An instance: its space, the law drawn by the kernel, and the model's answers."""

    space: TableSpace
    tilt: Array
    ask: Ask

    def points(self, uniform: Array) -> Array:
        return quantile(self.tilt, np.insert(uniform, 0, 0.0, axis=1)).astype(np.uint16)


def around(black: Black, binned: bool, count: int) -> Iterator[Around]:
    """Some held-out instances, each explained for its predicted class."""
    rows = black.held[:: len(black.held) // count][:count]
    background = Background.of(black.data)
    table = TableInstances(background, background.adopt(rows), binned)
    for i in range(count):
        space = table.space(i)
        predict = getattr(black.model, "predict_proba", black.model.predict)
        own = np.atleast_2d(predict(rows[i : i + 1]).T).T[0]
        place = int(np.argmax(own))

        def ask(points: Array, i: int = i, place: int = place, predict: Any = predict) -> Array:
            answers = np.asarray(predict(table.inputs([i], [points])))
            return answers[:, place] if answers.ndim > 1 else answers

        yield Around(space, Absorbed().tilt(space, KERNEL), ask)


def told(runs: dict[str, list[Array]], limit: Array) -> dict[str, list[float]]:
    """Stability, agreement and relative error of each alternative."""
    out = {}
    for name, several in runs.items():
        many = np.array(several)
        agrees, error = metrics.agreement(many, limit, TOP), metrics.relative_error(many, limit)
        out[name] = [stability.jaccard(many, TOP), agrees, error]
    return out


def of_table(here: Around, n: int, seeds: int, far: int, took: dict[str, list[float]]) -> Any:
    d = here.tilt.shape[1]
    points = here.points(sobol(far, d, 999_999))
    limit = line(here.space.features(points), here.ask(points), 1e-6)
    free = points[:4096]
    runs: dict[str, list[Array]] = {}
    for seed in range(seeds):
        for name, design in DESIGNS.items():
            points = here.points(design(n, d, seed))
            z, y = here.space.features(points), here.ask(points)
            runs.setdefault(name, []).append(line(z, y))
        pool = here.points(sobol(2 * n, d, seed))
        some = pool[informative(here.space.features(pool), n)]
        runs.setdefault("information picks half", []).append(
            line(here.space.features(some), here.ask(some))
        )
        points = here.points(sobol(n, d, seed))
        z, y, place = here.space.features(points), here.ask(points), points / STEPS
        loose = here.space.features(free), free / STEPS
        estimates: dict[str, Callable[[], Array]] = {
            "learnt prior": partial(learnt, z, y),
            "extra trees": partial(trees, z, place, y, loose),
            "interactions": partial(interactions, z, place, y),
        }
        for name, estimate in estimates.items():
            start = time.perf_counter()
            runs.setdefault(name, []).append(estimate())
            took.setdefault(name, []).append(time.perf_counter() - start)
    return told(runs, limit)


# -- masks ---------------------------------------------------------------------------------------


def folded(n: int, d: int, seed: int) -> Array:
    """Hadamard matrices and their mirror images, with random columns and signs."""
    rng, size = generator(seed), 1 << int(np.ceil(np.log2(d + 1)))
    blocks: list[Array] = []
    while sum(map(len, blocks)) < n:
        columns = rng.permutation(size - 1)[:d] + 1
        one = hadamard(size)[:, columns] * rng.choice([-1, 1], d)
        blocks += [one, -one]
    return (np.concatenate(blocks)[:n] > 0).astype(float)


def of_masks(n: int, seeds: int, count: int) -> list[dict[str, list[float]]]:
    images, labels = load_digits(return_X_y=True)
    network = MLPClassifier(64, max_iter=300, tol=1e-2, random_state=0)
    network.fit(images[:1400] / 16, labels[:1400])
    block = (np.arange(8)[:, None] // 2 * 4 + np.arange(8)[None] // 2).ravel()
    space, d = MaskSpace(16, Fair()), 16
    chances = kept_count_law(space, COSINE)
    out = []
    for image in images[1400 : 1400 + count] / 16:
        place = int(network.predict_proba(image[None])[0].argmax())

        def ask(z: Array, image: Array = image, place: int = place) -> Array:
            answers: Array = network.predict_proba(z[:, block] * image)[:, place]
            return answers

        every = 1.0 - (np.arange(2**d)[:, None] >> np.arange(d) & 1).astype(np.float64)
        weight = COSINE(every, np.ones(d))
        limit = np.asarray(BayesLinear(Prior(1e-6)).fit(every, ask(every), weight).scores)
        runs: dict[str, list[Array]] = {}
        for seed in range(seeds):
            sets = {
                "Sobol', kernel in the law": 1 - masks(chances, sobol(n, d, seed)),
                "Hadamard and mirror image, weighed": folded(n, d, seed),
                "independent, weighed": (generator(seed).random((n, d)) < 0.5).astype(float),
            }
            for name, z in sets.items():
                weights = np.ones(n) if "law" in name else COSINE(z, np.ones(d))
                fit = BayesLinear(Prior(1e-3)).fit(z, ask(z), weights)
                runs.setdefault(name, []).append(np.asarray(fit.scores))
        out.append(told(runs, limit))
    return out


def show(results: list[dict[str, list[float]]]) -> None:
    for name in results[0]:
        values = np.mean([one[name] for one in results], axis=0)
        print(f"  {name:<36}{values[0]:10.3f}{values[1]:10.3f}{values[2]:10.3f}", flush=True)


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench tried", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--rows", type=int, default=500)
    args = parser.parse_args(argv)
    instances, seeds, far = (3, 3, 8193) if args.quick else (10, 5, 32_769)
    print(f"{args.rows} rows, {instances} instances, {seeds} seeds: stability, agreement, error")
    took: dict[str, list[float]] = {}
    every: list[dict[str, list[float]]] = []
    for black in others() if args.others else tables():
        for binned in (True, False):
            print(f"\n{black.name}, {'binned' if binned else 'continuous'}")
            results = [
                of_table(here, args.rows, seeds, far, took)
                for here in around(black, binned, instances)
            ]
            show(results)
            every += results
    print("\nmean over tables and views")
    show(every)
    print("\nmilliseconds: " + ", ".join(f"{k} {1e3 * np.median(v):.0f}" for k, v in took.items()))
    print("\nmasks: 16 blocks of digits, a network")
    show(of_masks(args.rows, seeds, instances))
