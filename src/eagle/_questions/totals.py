"""Sums over explanations that come block by block, so that not all need be held at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from eagle._questions.errors import MAX_CORRELATED_ROWS, Common, spread_over
from eagle._values.arrays import Array
from eagle._values.posterior import in_top

UNSURE_ERRORS: Final = 2.0
"""Scores below this many standard errors are treated as possibly zero."""


@final
@dataclass(frozen=True, eq=False)
class Mean:
    """The mean of rows, shape (d,), and their standard deviation."""

    rows: int
    value: Array
    deviation: Array

    @classmethod
    def of(cls, each: Array) -> Mean:
        """Of all rows at once, shape (n, d)."""
        deviation = each.std(axis=0, ddof=1) if len(each) > 1 else np.zeros(each.shape[1])
        return cls(len(each), each.mean(axis=0), deviation)

    def and_of(self, other: Mean) -> Mean:
        """Of the rows of both. Squares are taken about the means, so that none cancel."""
        rows = self.rows + other.rows
        apart = other.value - self.value
        squares = (self.rows - 1) * self.deviation**2 + (other.rows - 1) * other.deviation**2
        squares = squares + apart**2 * (self.rows * other.rows / rows)
        value = self.value + apart * (other.rows / rows)
        return Mean(rows, value, np.sqrt(squares / (rows - 1)))


@final
@dataclass(frozen=True, eq=False)
class Block:
    """Scores and the scales of their t, shape (n, d), and its degrees of freedom, shape (n,)."""

    scores: Array
    spread: Array
    df: Array


@final
@dataclass(frozen=True, eq=False)
class Totals:
    """Sums that statements about many rows need. Errors of rows may be fully correlated.

    `size` and `score` are means over rows. `error_of_size` and `error` are their standard errors,
    `noise` is what noise may add to the mean size, and `top` the share of rows in which a feature
    is among the strongest, shape (d,) each. `some` are a few rows, spread over all.
    """

    size: Mean
    score: Mean
    error_of_size: Array
    error: Array
    noise: Array
    top: Array
    df: float
    some: Common


def totals(blocks: Iterable[Block], rows: int, k: int) -> Totals:
    """The totals of `rows` rows, which come in blocks."""
    size: Mean | None = None
    score: Mean | None = None
    sums, start = np.zeros((0, 0)), 0
    chosen, degrees = spread_over(rows, MAX_CORRELATED_ROWS), np.empty(rows)
    some: list[tuple[Array, Array]] = []
    for block in blocks:
        end, large = start + len(block.scores), np.abs(block.scores)
        spread = np.nan_to_num(block.spread)
        size = _and(size, Mean.of(large))
        score = _and(score, Mean.of(block.scores))
        parts = np.stack(
            [
                np.where(large > 0, spread, 0.0).sum(axis=0),
                spread.sum(axis=0),
                noise_inflation(large, spread).sum(axis=0),
                in_top(block.scores, k).sum(axis=0),
            ]
        )
        sums = parts if not sums.size else sums + parts
        degrees[start:end] = block.df
        here = chosen[(chosen >= start) & (chosen < end)] - start
        some.append((block.scores[here], block.spread[here]))
        start = end
    assert size is not None
    assert score is not None
    df = float(np.median(degrees))
    scores, scales = (np.concatenate(one) for one in zip(*some, strict=True))
    error_of_size, error, noise, top = sums / rows
    few = Common(scores, scales, np.array([df]))
    return Totals(size, score, error_of_size, error, noise, top, df, few)


def _and(before: Mean | None, more: Mean) -> Mean:
    return more if before is None else before.and_of(more)


def noise_inflation(size: Array, spread: Array) -> Array:
    """By how much noise of this spread makes a score of this size larger, in the mean."""
    from scipy import special

    spread = np.nan_to_num(spread)
    ratio = np.divide(size, spread, out=np.full_like(size, np.inf), where=spread > 0)
    peak = np.sqrt(2 / np.pi) * np.exp(-(np.minimum(ratio, 40.0) ** 2) / 2)
    more = spread * peak - 2 * np.where(spread > 0, size * special.ndtr(-ratio), 0.0)
    # If the score may be zero, all of its size may be noise.
    nothing = np.minimum(size, np.sqrt(2 / np.pi) * spread)
    return np.asarray(np.where(ratio < UNSURE_ERRORS, nothing, np.maximum(more, 0.0)))
