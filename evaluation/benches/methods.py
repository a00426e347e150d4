"""The time of every method at 500 rows, compared with the bare model and with its reference.

    make bench      (or: python -m evaluation bench methods [--quick])

Everything runs on one thread. The black box is a random forest of 100 trees on a COMPAS-like
table. Each explainer explains one row first. Then each ratio is the median over repeats in which
both sides are timed one after the other. UnRAvEL asks 100 rows. References are those that
can be installed from PyPI: `lime` 0.2.0.1, `shap` and `calibrated-explanations`.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits

import eagle
from eagle import peers
from eagle._engine.method import Method
from eagle._engine.names import METHODS, method_by_name
from eagle.contracts import Need
from eagle.peers.foreign import Foreign
from eagle.peers.selection import Forward, Highest, LassoPath
from evaluation.benches.speed import BUDGET, ratio, tables

OWN = {"DLIME", "UnRAvEL"}
"""Methods with another number of rows; the published form of GLIME has its own, too."""


def every() -> Iterator[Method | Foreign]:
    """All methods that explain tables."""
    for value in map(method_by_name, METHODS):
        if isinstance(value, Method | Foreign) and Need.MASKS not in value.needs:
            yield value
    yield peers.with_bootstrap(peers.LIME)
    for selection in (Highest(5), Forward(5), LassoPath(5)):
        yield peers.sparse_lime(selection)


def explainer(forest: Any, X: Any, method: Method | Foreign) -> eagle.Explainer:
    needs = {need.name for need in method.needs}
    own = method.name in OWN or "published" in method.name
    budget = method.budget if own or isinstance(method, Foreign) else BUDGET
    view: Any = "continuous" if "OFFSETS" in needs else "binned"
    return eagle.Explainer(forest, eagle.Table(X, view=view), method=method, budget=budget)


def costs(forest: Any, X: Any, repeats: int) -> None:
    batch = X[np.random.default_rng(0).integers(0, len(X), BUDGET)]
    print(f"{'method':<26}{'rows':>6}{'calls':>7}{'x one call of 500 rows':>25}")
    for method in every():
        ex = explainer(forest, X, method)
        e = ex.explain(X[0])
        rows = iter(X[1:])
        few = max(3, repeats // 5) if e.cost.calls > 20 else repeats
        times, _ = ratio(
            lambda ex=ex, rows=rows: ex.explain(next(rows)),  # type: ignore[misc]
            lambda: forest.predict_proba(batch),
            few,
        )
        print(f"{method.name:<26}{e.cost.rows:>6}{e.cost.calls:>7}{times:>25.2f}", flush=True)


def focused(forest: Any, X: Any, repeats: int) -> None:
    """The limit: less than 50 calls of 10 rows plus one second."""
    ex = explainer(forest, X, peers.BAYESLIME)
    rows = iter(X)
    times, base = ratio(
        lambda: ex.explain(next(rows)), lambda: forest.predict_proba(X[:10]), repeats
    )
    spent, allowed = times * base / 1e3, 50 * base / 1e3 + 1
    print(
        f"BayesLIME focused: {spent:.2f} s, of the {allowed:.2f} s of 50 calls of 10 rows and 1 s"
    )


def references(forest: Any, X: Any, repeats: int) -> None:
    """Our time divided by theirs, on the same rows of the same model."""
    for name, ours, theirs in (*lime(forest, X), *shap(forest, X), *calibrated(forest, X)):
        ours(), theirs()  # compile and import before timing
        times, base = ratio(ours, theirs, repeats)
        print(f"{name:<44}{times:>7.2f} x the reference's {base:.0f} ms", flush=True)


Pair = tuple[str, Callable[[], Any], Callable[[], Any]]


def lime(forest: Any, X: Any) -> Iterator[Pair]:
    from lime.lime_tabular import LimeTabularExplainer

    ways = {
        "none": None,
        "highest_weights": Highest(5),
        "forward_selection": Forward(5),
        "lasso_path": LassoPath(5),
    }
    for way, selection in ways.items():
        reference = LimeTabularExplainer(X, feature_selection=way, random_state=0)
        k = X.shape[1] if selection is None else 5
        ex = explainer(forest, X, peers.sparse_lime(selection))
        ex.explain(X[0])
        rows = iter(X[1:])
        yield (
            f"LIME, {way}, beside lime",
            lambda ex=ex, rows=rows: ex.explain(next(rows)),  # type: ignore[misc]
            lambda r=reference, k=k: r.explain_instance(  # type: ignore[misc]
                X[0], forest.predict_proba, num_samples=BUDGET, num_features=k
            ),
        )


def shap(forest: Any, X: Any) -> Iterator[Pair]:
    import shap as package

    from eagle.peers.foreign import evenly

    background = evenly(X, 10)

    def model(rows: Any) -> Any:
        return forest.predict_proba(rows)[:, 1]

    ex = explainer(forest, X, peers.SHAP_KERNEL)
    yield (
        "Kernel SHAP, beside shap itself",
        lambda: ex.explain(X[0], 1),
        lambda: package.KernelExplainer(model, background).shap_values(
            X[:1], nsamples=48, l1_reg=False, silent=True
        ),
    )
    walks = explainer(forest, X, peers.SHAP_PERMUTATION)

    def permuted() -> Any:
        masker = package.maskers.Independent(background, max_samples=10)
        explainer = package.PermutationExplainer(model, masker, seed=0)
        return explainer(X[:1], max_evals=48, silent=True)

    yield "Permutation SHAP, beside shap itself", lambda: walks.explain(X[0], 1), permuted


def calibrated(forest: Any, X: Any) -> Iterator[Pair]:
    """Both calibrate on the same 300 rows, then explain one."""
    from calibrated_explanations import WrapCalibratedExplainer

    rows = X[:300]
    labels = forest.predict(rows)

    def theirs() -> Any:
        wrapped = WrapCalibratedExplainer(forest)
        wrapped.calibrate(rows, labels)
        return wrapped.explain_factual(X[:1])

    ex = explainer(forest, rows, peers.calibrated_explanations(labels))
    yield "Calibrated Explanations, beside itself", lambda: ex.explain(X[0]), theirs


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench methods", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    repeats = 5 if parser.parse_args(argv).quick else 21
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other packages' own
        measured(repeats)


def measured(repeats: int) -> None:
    data = tables()["9 columns, mixed"]
    X, y = data[:, :-1].copy(), data[:, -1]
    forest = RandomForestClassifier(100, n_jobs=1, random_state=0).fit(X, y)
    costs(forest, X, repeats)
    focused(forest, X, repeats)
    references(forest, X, repeats)
