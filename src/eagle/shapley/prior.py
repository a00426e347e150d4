"""A Gaussian process on coalitions: what a proxy leaves, before anything is known of it.

With z = ±1 for a player inside or outside of a coalition, half of the difference between a
coalition and its mirror image is u(z) = Σ a_T Π_{j∈T} z_j over sets T of odd size. The prior
variance of a_T is q (2/d)^(|T|−1) Π_{j∈T} v_j, where v is the `relevance` of players. The Shapley
value of a player is 2 Σ_{T∋j} a_T/|T|. All that is needed of it has a closed form, but for
integrals over one or two numbers from 0 to 1.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from eagle._values.arrays import Array

MAX_SHARE: Final = 0.999
"""The largest share of a player: one of 1 would have no finite logarithm."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
NODES: Final = (_NODES + 1) / 2
WEIGHTS: Final = _WEIGHTS / 2


def shares(relevance: Array) -> Array:
    """a_j = 2 v_j/d, below 1."""
    return np.minimum(2 * relevance / len(relevance), MAX_SHARE)


def covariance(z: Array, a: Array) -> Array:
    """The prior covariance of u between coalitions z, shape (k, d), over σ: shape (k, k)."""
    d = len(a)
    size = np.exp(0.5 * np.log1p(-(a**2)).sum())
    return np.asarray(np.sqrt(d) / 2 * size * np.sinh((z * np.arctanh(a)) @ z.T))


def with_values(z: Array, a: Array) -> Array:
    """The prior covariance of u at coalitions with the Shapley values, over σ: shape (k, d)."""
    d, out = len(a), np.zeros(z.shape)
    for s, w in zip(NODES.tolist(), WEIGHTS.tolist(), strict=True):
        both = 0.5 * np.log1p(-((s * a) ** 2)).sum()
        tilt = z @ np.arctanh(s * a)
        up, down = np.exp(both + tilt), np.exp(both - tilt)
        step = s * a * z
        out += w * 0.5 * (up[:, None] / (1 + step) + down[:, None] / (1 - step))
    return np.asarray(np.sqrt(d) * a * z * out)


def of_values(a: Array) -> Array:
    """The prior covariance of the Shapley values, over σ: shape (d, d)."""
    d = len(a)
    place = np.outer(NODES, NODES)
    weight = np.outer(WEIGHTS, WEIGHTS)
    i, j = np.triu_indices(len(NODES))
    t, w = place[i, j], weight[i, j] * np.where(i == j, 1.0, 2.0)
    up, down = 1 + t[:, None] * a, 1 - t[:, None] * a
    whole_up, whole_down = w * np.exp(np.log(up).sum(axis=1)), w * np.exp(np.log(down).sum(axis=1))
    apart = ((t * whole_up)[:, None] / up).T @ (1 / up)
    apart -= ((t * whole_down)[:, None] / down).T @ (1 / down)
    out = np.sqrt(d) * np.outer(a, a) * apart
    alone = (whole_up[:, None] / up + whole_down[:, None] / down).sum(axis=0)
    out[np.diag_indices(d)] = np.sqrt(d) * a * alone
    return np.asarray(out)
