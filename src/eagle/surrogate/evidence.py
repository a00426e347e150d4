"""BayLIME's surrogate: Bayesian ridge whose precisions are given, or tuned by the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from eagle.surrogate.bayes import BayesLinear
from eagle.surrogate.fit import Fit, Fitter, Later, is_flat
from eagle.surrogate.information import Prior
from eagle.surrogate.posterior import StudentT
from eagle.types import Array, InputError

HYPER = 1e-6
"""The Gamma hyper-priors' shape and rate: as good as none."""


@final
@dataclass(frozen=True)
class Evidence:
    """y = φ₀ + zᵀφ + ε with ε ~ N(0, 1/(απ)) and φ ~ N(μ₀, I/λ); the intercept is free.

    `noise` is α, `precision` is λ, `mean` is μ₀: one number for all features or one for each.
    What is None is found by maximising the evidence (MacKay's fixed point), where the rows count
    by their weights: n = Σπ. The posterior is Gaussian: Σ = (λI + αXᵀWX)⁻¹ and
    Σ(λμ₀ + αXᵀWy) about the weighted means. `rescale` stretches μ₀ to the size of the scores
    found without it, as BayLIME's code does.
    """

    noise: float | None = None
    precision: float | None = None
    mean: float | tuple[float, ...] = 0.0
    rescale: bool = False
    most: int = 1000
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        for name in ("noise", "precision"):
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) and value > 0):
                raise InputError(f"the {name} of a prior must be a positive number, not {value!r}")
        if self.precision is None and self.noise is not None:
            raise InputError("a known noise needs a known precision: give both, or precision alone")
        if self.precision is None and np.any(self.mean):
            raise InputError("a prior mean needs a precision: how strongly is it believed?")

    def on(self, features: Array, weight: Array) -> Fitter:
        return Later(self, features, weight)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        prior = self._mean(features.shape[1])
        if self.rescale and prior.any():
            found = self._fit(features, y, weight, np.zeros_like(prior))
            prior = prior * (np.abs(found.scores).max() / np.abs(prior).max())
        return self._fit(features, y, weight, prior)

    def _mean(self, d: int) -> Array:
        mean = np.asarray(self.mean, dtype=np.float64)
        if mean.shape not in ((), (d,)):
            raise InputError(f"a prior mean of {mean.size} numbers does not fit {d} features")
        return np.broadcast_to(mean, (d,)).copy()

    def _fit(self, features: Array, y: Array, weight: Array, prior: Array) -> Fit:
        shifted = y - features @ prior  # the prior mean becomes the origin
        noise, precision = self._tuned(features, shifted, weight)
        line = BayesLinear(Prior(precision / noise, 0.0)).fit(features, shifted, weight)
        factor = line.factor[1:, 1:] / noise
        still = np.ptp(features, axis=0) == 0  # nothing was learnt: the prior stands
        factor[still, still] = 1.0 / precision
        scores = line.scores + prior
        local = line.local + float(features[0] @ prior)
        posterior = StudentT(scores, factor, np.inf)
        r2 = line.r2 if not np.any(prior) else _r2(features, y, weight, scores, line.intercept)
        held = line.r2_held_out if not np.any(prior) else float("nan")
        return Fit(scores, line.intercept, local, r2, held, posterior)

    def _tuned(self, features: Array, y: Array, weight: Array) -> tuple[float, float]:
        """The precisions α and λ: those given, or those of the largest evidence."""
        if self.noise is not None and self.precision is not None:
            return self.noise, self.precision
        n = float(weight.sum())
        root = np.sqrt(weight)
        apart = (features - np.average(features, axis=0, weights=weight)) * root[:, None]
        lift = (y - np.average(y, weights=weight)) * root
        left, sizes, _ = np.linalg.svd(apart, full_matrices=False)
        reach, eigen = left.T @ lift, sizes**2
        total = float(lift @ lift)
        if is_flat(y) or total == 0:
            lift, reach, total = 0 * lift, 0 * reach, 0.0
        noise = n / total if total > 0 else 1.0
        precision = self.precision or 1.0
        slopes = np.zeros(len(eigen))
        for _ in range(self.most):
            last = slopes
            slopes = noise * sizes * reach / (precision + noise * eigen)
            loss = max(total - 2 * float(slopes @ (sizes * reach)) + float(eigen @ slopes**2), 0.0)
            known = float(np.sum(noise * eigen / (precision + noise * eigen)))
            if self.precision is None:
                precision = (known + 2 * HYPER) / (float(slopes @ slopes) + 2 * HYPER)
            noise = (n - known + 2 * HYPER) / (loss + 2 * HYPER)
            if np.abs(slopes - last).sum() <= self.tolerance * max(np.abs(slopes).sum(), 1e-300):
                break
        return max(noise, HYPER), precision


def _r2(features: Array, y: Array, weight: Array, scores: Array, intercept: float) -> float:
    from eagle.surrogate.fit import weighted_r2

    return weighted_r2(y, intercept + features @ scores, weight)
