"""The paper's guarantees as functions: lemma 1, theorem 2, corollary 1, theorem 3 corrected.

Throughout, V⁻¹ = λI + Σ π z zᵀ over D coefficients (an intercept counts), 0 ≤ π ≤ 1.
"""

from __future__ import annotations

import math

import numpy as np

from eagle._values.checks import integer, number
from eagle._values.text import finite, short_repr
from eagle.errors import InputError
from eagle.surrogates.bayes import Information

__all__ = [
    "entropy",
    "error_bound",
    "error_radius",
    "expected_information_gain",
    "information_bound",
    "information_bound_general",
    "sample_size",
]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


def information_bound(d: int, t: int) -> float:
    """Lemma 1: Σ π zᵀVz ≤ 2d log(1 + t/d) over t points, if ‖z‖ ≤ 1 and λ = 1.

    It also holds for any λ if ‖z‖² ≤ λ, for instance after dividing binary features by √d.
    """
    integer(d, "d", 1)
    integer(t, "t", 0)
    return 2 * d * math.log1p(t / d)


def information_bound_general(
    d: int, t: int, largest: float = 1.0, precision: float = 1.0
) -> float:
    """The tighter bound for any ‖z‖ ≤ L: (c / log(1 + c))·d·log(1 + tL²/(dλ)), c = L²/λ.

    At c = 1 its constant is 1.443, where lemma 1 has 2.
    """
    integer(d, "d", 1)
    integer(t, "t", 0)
    _positive(largest=largest, precision=precision)
    c = largest**2 / precision
    return c / math.log1p(c) * d * math.log1p(t * c / d)


def error_radius(d: int, sigma: float, delta: float) -> float:
    """β_δ = σ√(d + 2√(d log 1/δ) + 2 log 1/δ): the noise's part of theorem 2."""
    integer(d, "d", 1)
    _at_least_zero(sigma=sigma)
    if not finite(delta) or not 0 < delta < 1:
        raise InputError(f"delta is a probability between 0 and 1, not {short_repr(delta)}")
    tail = math.log(1 / delta)
    return sigma * math.sqrt(d + 2 * math.sqrt(d * tail) + 2 * tail)


def error_bound(d: int, sigma: float, delta: float, norm: float, precision: float = 1.0) -> float:
    """Theorem 2: ‖φ̂ − φ*‖ in the norm of V⁻¹ is at most this with probability 1 − δ.

    It assumes noise of variance σ²/π. φ̂ = V Σ π z y, ‖φ*‖ = `norm`, λ = `precision`. It does not
    cover the usual source of error: a model that is not linear nearby.
    """
    _positive(precision=precision)
    _at_least_zero(norm=norm)
    return error_radius(d, sigma, delta) + math.sqrt(precision) * norm


def sample_size(
    d: int,
    sigma: float,
    delta: float,
    norm: float,
    accuracy: float,
    kappa: float,
    precision: float = 1.0,
) -> int:
    """Corollary 1: how many points give ‖φ̂ − φ*‖₂ ≤ `accuracy` with probability 1 − δ.

    It assumes that each point adds at least `kappa` to Σ π z zᵀ in every direction.
    """
    _positive(accuracy=accuracy, kappa=kappa)
    needed = (error_bound(d, sigma, delta, norm, precision) / accuracy) ** 2 - precision
    return max(0, math.ceil(needed / kappa))


def entropy(df: float, logdet: float, d: int) -> float:
    """Differential entropy of a d-dimensional Student-t whose scale matrix has log-det `logdet`."""
    from scipy import special

    integer(d, "d", 1)
    _positive(df=df)
    number(logdet, "logdet")
    half = (df + d) / 2
    volume = 0.5 * d * math.log(df * math.pi) + special.betaln(d / 2, df / 2)
    spread = half * (special.digamma(half) - special.digamma(df / 2))
    return float(0.5 * logdet + volume - special.gammaln(d / 2) + spread)


def expected_information_gain(before: Information, after: Information, n: int, n0: float) -> float:
    """Theorem 3, corrected: how much n answers lower the entropy of φ on average, in nats.

    It is ½ log(|V₀|/|V|) plus a term that depends only on n₀, n and d. The points change only the
    determinant, so theorem 1 is exact for the Student-t posterior too.
    """
    _positive(n0=n0)
    from scipy import special

    d = len(before.precision)
    noise = np.log((n0 + n) / n0) + special.digamma(n0 / 2) - special.digamma((n0 + n) / 2)
    rest = 0.5 * d * float(noise) + entropy(n0, 0.0, d) - entropy(n0 + n, 0.0, d)
    return after.gain(before) + rest


def _at_least_zero(**values: float) -> None:
    for name, value in values.items():
        number(value, name, 0.0)


def _positive(**values: float) -> None:
    for name, value in values.items():
        number(value, name, above=0.0)
