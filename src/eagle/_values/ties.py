"""One rule for near-ties, so that rounding on another machine does not change an order."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array

TIE: Final = 1e-9
"""Sizes closer than this share of the largest count as equal, and the earlier one comes first."""


def best(score: Array) -> int:
    """The place of the largest score, the first of those that count as equal to it."""
    top = float(score.max())
    return int(np.argmax(score >= top - TIE * abs(top)))


def rank(sizes: Array) -> NDArray[np.intp]:
    """The places by decreasing size along the last axis, near-ties in order of place.

    Sizes are not negative. The largest and all that count as equal to it come first, in order of
    place; then the largest of the rest and its equals; and so on.
    """
    order = np.argsort(-sizes, axis=-1, kind="stable")
    fall = np.take_along_axis(sizes, order, axis=-1)
    slack = TIE * fall[..., :1]
    close = np.asarray((fall[..., :-1] - fall[..., 1:] <= slack).any(axis=-1))
    for row in map(tuple, np.argwhere(close)):
        order[row] = _settle(order[row], fall[row], float(slack[row][0]))
    return order


def places(sizes: Array) -> NDArray[np.intp]:
    """The rank of each size along the last axis, from 1, by the order of `rank`."""
    out = np.empty(sizes.shape, dtype=np.intp)
    np.put_along_axis(out, rank(sizes), np.arange(1, sizes.shape[-1] + 1), axis=-1)
    return out


def _settle(order: NDArray[np.intp], fall: Array, slack: float) -> NDArray[np.intp]:
    """The order, with each group of near-ties in order of place."""
    out, start = order.copy(), 0
    while start < len(fall):
        end = start + int(np.count_nonzero(fall[start] - fall[start:] <= slack))
        out[start:end] = np.sort(order[start:end])
        start = end
    return out
