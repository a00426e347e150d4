"""BayLIME's surrogate: Bayesian ridge whose precisions are given, or tuned by the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from eagle.surrogate.fit import DeferredFit, Fit, Fitter, is_flat, weighted_r2
from eagle.surrogate.posterior import StudentT
from eagle.types import NOTHING, Array, InputError, Rows

HYPER = 1e-6
"""The shape of the Gamma hyper-priors, and their rate over the answers' variance: negligible."""


@final
@dataclass(frozen=True)
class BayesRidge:
    """y = φ₀ + zᵀφ + ε with ε ~ N(0, 1/(απ)) and φ ~ N(μ₀, I/λ); the intercept is free.

    π is the weight of a row, `noise` is α, `precision` is λ, and `mean` is μ₀: one number for all
    features or one for each. A precision that is None maximises the evidence (MacKay's fixed
    point). There each row is one observation, whatever its weight: α = (N − γ)/RSS, where N counts
    the rows of positive weight and RSS is the sum of π·residual². A weight says how noisy its row
    is, not how often it was seen. So a factor on all weights changes α alone, and no score or
    interval. The posterior is Gaussian: its covariance is Σ = (λI + αXᵀWX)⁻¹ and its mean Σ(λμ₀ +
    αXᵀWy), where X and y are centred at their weighted means. `rescale` scales μ₀ to the size of
    the scores without it, as BayLIME's code does.
    """

    noise: float | None = None
    precision: float | None = None
    mean: float | tuple[float, ...] = 0.0
    rescale: bool = False
    most: int = 1000
    tolerance: float = 1e-8
    needs: ClassVar = NOTHING

    def __post_init__(self) -> None:
        for name, value in (("noise", self.noise), ("precision", self.precision)):
            if value is not None and not (np.isfinite(value) and value > 0):
                raise InputError(f"the {name} of a prior must be a positive number, not {value!r}")
        if self.precision is None and self.noise is not None:
            raise InputError("a known noise needs a known precision: give both, or precision alone")
        try:
            mean = np.asarray(self.mean, dtype=np.float64)
        except (TypeError, ValueError):
            mean = np.array(np.nan)
        if mean.ndim > 1 or not np.isfinite(mean).all():
            raise InputError(
                f"a prior mean is a number, or one for each feature in a tuple, not {self.mean!r}"
            )
        if mean.ndim:  # a value must be hashable
            object.__setattr__(self, "mean", tuple(mean.tolist()))
        if not isinstance(self.most, int) or self.most < 1 or not self.tolerance >= 0:
            raise InputError(
                "the search for the largest evidence takes at least 1 step, and its tolerance is "
                f"not below 0: {self.most!r}, {self.tolerance!r}"
            )
        if self.precision is None and np.any(mean):
            raise InputError("a prior mean needs a precision: how strongly is it believed?")

    def room(self, n: int, d: int) -> int:
        return 0

    def on(self, rows: Rows) -> Fitter:
        return DeferredFit.of(self, rows)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        prior = self._mean(features.shape[1])
        if self.rescale and prior.any():
            plain = self._fit(features, y, weight, np.zeros_like(prior))
            prior = prior * (np.abs(plain.scores).max() / np.abs(prior).max())
        return self._fit(features, y, weight, prior)

    def _mean(self, d: int) -> Array:
        mean = np.asarray(self.mean, dtype=np.float64)
        if mean.shape not in ((), (d,)):
            raise InputError(f"a prior mean of {mean.size} numbers does not fit {d} features")
        return np.broadcast_to(mean, (d,)).copy()

    def _fit(self, features: Array, y: Array, weight: Array, prior: Array) -> Fit:
        whole, root = float(weight.sum()), np.sqrt(weight)
        middle = np.average(features, axis=0, weights=weight)
        apart = (features - middle) * root[:, None]
        shifted = y - features @ prior  # the prior mean becomes the origin
        level = float(np.average(shifted, weights=weight))
        lift = 0 * root if is_flat(shifted) else (shifted - level) * root
        # The basis in which XᵀWX is diagonal. In directions without rows the prior stays.
        _, sizes, basis = np.linalg.svd(np.linalg.qr(apart, mode="r"))
        eigen = np.zeros(len(basis))
        eigen[: len(sizes)] = sizes**2
        turned = apart @ basis.T
        reach = turned.T @ lift
        noise, precision = self._precisions(reach, eigen, float(lift @ lift), weight)
        spread = 1.0 / (precision + noise * eigen)
        scores = prior + basis.T @ (noise * spread * reach)
        intercept = level - float(middle @ (scores - prior))
        predicted = intercept + features @ scores
        # 1 − leverage, at the same precisions.
        left = 1.0 - weight / whole - turned**2 @ (noise * spread)
        held = float("nan")
        if left.min() > 1e-6 and not prior.any():
            held = weighted_r2(y, y - (y - predicted) / left, weight)
        half = basis.T * np.sqrt(spread)
        return Fit(
            scores,
            intercept,
            float(predicted[0]),
            weighted_r2(y, predicted, weight),
            held,
            StudentT(scores, half @ half.T, np.inf),
        )

    def _precisions(
        self, reach: Array, eigen: Array, total: float, weight: Array
    ) -> tuple[float, float]:
        """The precisions α and λ: those given, or those of the largest evidence.

        In the basis where XᵀWX is diagonal, with the entries `eigen`, XᵀWy is `reach`; `total` is
        yᵀWy. Each row of positive weight is one observation, even if it was planned several times:
        its weight counts that already.
        """
        if self.noise is not None and self.precision is not None:
            return self.noise, self.precision
        n = int(np.count_nonzero(weight))
        share = float(weight.sum()) / n
        noise, precision = self._tuned(reach / share, eigen / share, total / share, n)
        return noise / share, precision

    def _tuned(self, reach: Array, eigen: Array, total: float, n: int) -> tuple[float, float]:
        """The precisions of the largest evidence of n rows that weigh 1 on average."""
        # In units of the answers' standard deviation, so that the hyper-priors are negligible.
        unit = float(np.sqrt(total / n)) or 1.0
        reach, total = reach / unit, total / unit**2
        noise = 1.0
        precision = 1.0 if self.precision is None else self.precision * unit**2
        slopes = np.zeros(len(eigen))
        for _ in range(self.most):
            last, before = slopes, noise
            slopes = noise * reach / (precision + noise * eigen)
            loss = max(total - 2 * float(slopes @ reach) + float(eigen @ slopes**2), 0.0)
            known = float(np.sum(noise * eigen / (precision + noise * eigen)))
            if self.precision is None:
                precision = (known + 2 * HYPER) / (float(slopes @ slopes) + 2 * HYPER)
            if known < n / 2:
                noise = (n - known + 2 * HYPER) / (loss + 2 * HYPER)
            else:  # an EM step: slower, with the same limit, and never negative
                noise = (n + 2 * HYPER) / (loss + known / noise + 2 * HYPER)
            still = np.abs(slopes - last).sum() <= self.tolerance * np.abs(slopes).sum()
            if still and abs(noise - before) <= self.tolerance * noise:
                break
        return noise / unit**2, self.precision or precision / unit**2
