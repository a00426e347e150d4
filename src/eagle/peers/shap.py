"""SHAP, by its own package: Kernel SHAP and Permutation SHAP, with every row counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from eagle._engine import memory
from eagle._values import packages
from eagle._values.arrays import Model
from eagle.peers.foreign import (
    Foreign,
    ForeignScores,
    Question,
    evenly,
    hushed,
    in_one_call,
    refuse_missing,
    seeded,
    too_small,
)


@final
@dataclass(frozen=True)
class KernelShap:
    """`shap.KernelExplainer` with `background` evenly spaced rows of the background.

    Each coalition costs as many model rows as there are background rows. These rows themselves are
    paid from the budget first. All features are kept.
    """

    background: int = 10

    def __call__(self, question: Question) -> ForeignScores:
        refuse_missing("shap", question)
        rows = evenly(question.data, self.background)
        # Before any coalition the package asks the background, and we ask the instance.
        coalitions = (question.rows_left - len(rows) - 1) // len(rows)
        if coalitions < 2:
            raise too_small("Kernel SHAP", 3 * len(rows) + 1, question)
        every = 2 ** len(question.x)  # the package draws at most all coalitions
        memory.refuse_plan(min(coalitions, every) * len(rows), len(question.x), None)
        shap = packages.shap("Kernel SHAP")

        def run(model: Model) -> ForeignScores:
            with seeded(question.seed), hushed("shap"):
                explainer = shap.KernelExplainer(model, rows)
                scores = explainer.shap_values(
                    question.x[None], nsamples=coalitions, l1_reg=False, silent=True
                )
            base = float(np.ravel(explainer.expected_value)[0])
            return ForeignScores(np.ravel(scores).astype(np.float64), base)

        return in_one_call(run, question)


@final
@dataclass(frozen=True)
class PermutationShap:
    """`shap.PermutationExplainer` with `background` evenly spaced rows of the background.

    A pass through the features, forward and back, costs 2d + 1 model rows for each of them.
    """

    background: int = 10

    def __call__(self, question: Question) -> ForeignScores:
        refuse_missing("shap", question)
        rows, d = evenly(question.data, self.background), len(question.x)
        pass_rows = 2 * d + 1
        # Besides the passes, the package asks the base once more, and we ask the instance.
        evaluations = (question.rows_left - len(rows) - 1) // len(rows)
        if evaluations < pass_rows:
            raise too_small("Permutation SHAP", (pass_rows + 1) * len(rows) + 1, question)
        memory.refuse_plan(evaluations * len(rows), d, None)
        shap = packages.shap("Permutation SHAP")
        masker = shap.maskers.Independent(rows, max_samples=len(rows))

        def run(model: Model) -> ForeignScores:
            with seeded(question.seed), hushed("shap"):
                explainer = shap.PermutationExplainer(model, masker, seed=question.seed)
                result = explainer(question.x[None], max_evals=evaluations, silent=True)
            base = float(np.ravel(result.base_values)[0])
            return ForeignScores(np.asarray(result.values[0], dtype=np.float64), base)

        return in_one_call(run, question)


SHAP_KERNEL: Final = Foreign("Kernel SHAP", KernelShap())
"""`shap`'s own KernelExplainer, with ten rows of the background."""

SHAP_PERMUTATION: Final = Foreign("Permutation SHAP", PermutationShap())
"""`shap`'s own PermutationExplainer, with ten rows of the background."""
