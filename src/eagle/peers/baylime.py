"""BayLIME: a Bayesian ridge whose precisions are given, or tuned by the evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from eagle._engine.method import Method
from eagle._values.arrays import Array
from eagle._values.checks import integer, number
from eagle._values.posterior import StudentT
from eagle._values.text import short_repr
from eagle.errors import InputError
from eagle.kernels import COSINE, Exponential
from eagle.peers.independent import Independent
from eagle.surrogates.fit import Fit, Surrogate, is_flat, weighted_r2

HYPER = 1e-6
"""The shape of the Gamma hyper-priors, and their rate over the answers' variance: negligible."""


@final
@dataclass(frozen=True)
class BayesRidge(Surrogate):
    """y = φ₀ + zᵀφ + ε with ε ~ N(0, 1/(απ)) and φ ~ N(μ₀, I/λ); the intercept is free.

    π is the weight of a row, `noise` is α, `precision` is λ, and `mean` is μ₀: one number for all
    features or one for each. A precision that is None maximises the evidence (MacKay's fixed
    point). There each row is one observation, whatever its weight: α = (N − γ)/RSS, where N counts
    the rows of positive weight and RSS is the sum of π·residual². A weight says how noisy its row
    is, not how often it was seen. So a factor on all weights changes α alone, and no score or
    interval. The posterior is Gaussian: its covariance is Σ = (λI + αXᵀWX)⁻¹ and its mean Σ(λμ₀ +
    αXᵀWy), where X and y are centred at their weighted means.
    """

    noise: float | None = None
    precision: float | None = None
    mean: float | tuple[float, ...] = 0.0
    most: int = 1000
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        for name, value in (("noise", self.noise), ("precision", self.precision)):
            if value is not None:
                number(value, f"the {name} of a prior", above=0.0)
        if self.precision is None and self.noise is not None:
            raise InputError("a known noise needs a known precision: give both, or precision alone")
        try:
            mean = np.asarray(self.mean, dtype=np.float64)
        except Exception:  # a caller's object may raise anything
            mean = np.array(np.nan)
        if mean.ndim > 1 or not np.isfinite(mean).all():
            raise InputError(
                "a prior mean is a number, or one for each feature in a tuple, not "
                f"{short_repr(self.mean)}"
            )
        hashable = tuple(mean.tolist()) if mean.ndim else float(mean)
        object.__setattr__(self, "mean", hashable)
        integer(self.most, "most, the steps of the search for the largest evidence,", 1)
        number(self.tolerance, "the tolerance of the search for the largest evidence", 0.0)
        if self.precision is None and np.any(mean):
            raise InputError("a prior mean needs a precision: how strongly is it believed?")

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        prior = self._mean(features.shape[1])
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
        noise, precision = self._tune(reach / share, eigen / share, total / share, n)
        return noise / share, precision

    def _tune(self, reach: Array, eigen: Array, total: float, n: int) -> tuple[float, float]:
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
            unchanged = np.abs(slopes - last).sum() <= self.tolerance * np.abs(slopes).sum()
            if unchanged and abs(noise - before) <= self.tolerance * noise:
                break
        return noise / unit**2, self.precision or precision / unit**2


BAYLIME: Final = Method("BayLIME", Independent(), Exponential(), BayesRidge(), COSINE)
"""BayLIME without prior knowledge: both precisions maximise the evidence of ε ~ N(0, 1/(απ)).

A weight says how noisy a row is; every row counts as one row, as in the authors' code. From version
1.7 on, scikit-learn's BayesianRidge treats weights as numbers of repetitions.
"""


def baylime_with_prior(
    precision: float, mean: float | tuple[float, ...] = 0.0, noise: float | None = None
) -> Method:
    """BayLIME with a prior N(mean, 1/precision) on scores; fully informative if `noise` is given.

    With a precision of 1,000 and a noise of 1 it is as in its authors' code.
    The reference shifts each score by its own variance only; here the full covariance is used.
    """
    number(precision, "precision", above=0.0)
    how = "partial" if noise is None else "full"
    return replace(BAYLIME, name=f"BayLIME ({how})", surrogate=BayesRidge(noise, precision, mean))
