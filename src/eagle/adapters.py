"""Other packages' explainers, asked in their own way, with every row counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from eagle.foreign import Question, Told
from eagle.types import Array, InputError, MissingExtraError


@final
@dataclass(frozen=True)
class KernelShap:
    """`shap.KernelExplainer` beside so many evenly spaced rows of the background.

    A coalition costs a row for each of them, so the budget, less what they cost themselves,
    buys so many times fewer coalitions. All features are kept.
    """

    background: int = 10

    def __call__(self, question: Question) -> Told:
        rows = evenly(question.data, self.background)
        # The package asks for the background, and we for the instance, before any coalition.
        coalitions = (question.left - len(rows) - 1) // len(rows)
        if coalitions < 2:
            raise _too_small("Kernel SHAP", 3 * len(rows) + 1, question)
        with seeded(question.seed):
            explainer = _shap("Kernel SHAP").KernelExplainer(question.model, rows)
            scores = explainer.shap_values(
                question.x[None], nsamples=coalitions, l1_reg=False, silent=True
            )
        return Told(
            np.ravel(scores).astype(np.float64), float(np.ravel(explainer.expected_value)[0])
        )


@final
@dataclass(frozen=True)
class PermutationShap:
    """`shap.PermutationExplainer` beside so many evenly spaced rows of the background.

    A walk through the features, there and back, costs 2d + 1 rows for each of them.
    """

    background: int = 10

    def __call__(self, question: Question) -> Told:
        rows, d = evenly(question.data, self.background), len(question.x)
        walk = 2 * d + 1
        # Beside the walks, the base is asked once more, and the instance by us.
        evaluations = (question.left - len(rows) - 1) // len(rows)
        if evaluations < walk:
            raise _too_small("Permutation SHAP", (walk + 1) * len(rows) + 1, question)
        shap = _shap("Permutation SHAP")
        masker = shap.maskers.Independent(rows, max_samples=len(rows))
        with seeded(question.seed):
            explainer = shap.PermutationExplainer(question.model, masker, seed=question.seed)
            found = explainer(question.x[None], max_evals=evaluations, silent=True)
        base = float(np.ravel(found.base_values)[0])
        return Told(np.asarray(found.values[0], dtype=np.float64), base)


def evenly(data: Array, n: int) -> Array:
    """n evenly spaced rows; all of them if there are fewer. Holes are refused: shap has no way."""
    if np.isnan(data).any():
        raise InputError("shap needs a background without missing values: fill them, or drop them")
    return np.asarray(data[np.linspace(0, len(data) - 1, min(n, len(data))).round().astype(int)])


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """numpy's global chance, which other packages use, from a seed; given back as it was."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed % 2**32)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _shap(what: str) -> Any:
    try:
        import shap
    except ImportError:
        raise MissingExtraError(what, "shap", "shap") from None
    return shap


def _too_small(name: str, least: int, question: Question) -> InputError:
    return InputError(
        f"{name} needs a budget of at least {least} rows here, not {question.budget}: raise it, or "
        "take fewer background rows"
    )
