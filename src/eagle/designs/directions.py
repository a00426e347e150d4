"""Sobol' direction numbers: how each bit of a point's index changes its coordinates."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

BITS: Final = 30
"""Bits of a coordinate. A law has 1,024 steps, so 30 bits are more than enough."""

MAX_DIMENSIONS: Final = 21_201
"""The number of dimensions that scipy has direction numbers for."""

DEGREE: Final = 18
"""The highest degree of scipy's primitive polynomials."""

Integers: TypeAlias = NDArray[np.int64]


@lru_cache(maxsize=16)
def directions(d: int, levels: int) -> NDArray[np.uint64]:
    """Joe and Kuo's direction numbers of the first d dimensions, as in scipy, shape (levels, d).

    Point n of the sequence is the XOR of the numbers at which the Gray code of n has a 1.
    """
    stored = read_stored()
    out = by_points(d, levels) if stored is None else by_recurrence(*stored, d, levels)
    out.flags.writeable = False  # the cache keeps this array
    return out


def by_recurrence(
    polynomials: Integers, first: Integers, d: int, levels: int
) -> NDArray[np.uint64]:
    """The numbers from scipy's tables; number j is shifted to the j-th bit after the point."""
    places = np.arange(BITS - 1, BITS - 1 - levels, -1)[:, None]
    return (recurrence(polynomials[:d], first[:d], levels) << places).astype(np.uint64)


def recurrence(polynomials: Integers, first: Integers, levels: int) -> Integers:
    """The numbers that begin with `first` and follow primitive polynomials, shape (levels, d).

    For a polynomial of degree s, number j is the XOR of number j − s and of 2ᵏ times number j − k
    for each k whose coefficient is 1.
    """
    d = len(polynomials)
    degree = np.frexp(polynomials.astype(np.float64))[1] - 1
    out = np.ones((levels, d), dtype=np.int64)  # a polynomial of degree 0 has only ones
    for j in range(levels):
        started = j >= degree
        number = out[np.maximum(j - degree, 0), np.arange(d)]
        for k in range(1, j + 1):
            there = (polynomials >> np.maximum(degree - k, 0)) & (k <= degree)
            number ^= (there & 1) * out[j - k] << k
        out[j] = np.where(started, number, first[:, min(j, DEGREE - 1)])
    return out


@lru_cache(maxsize=1)
def read_stored() -> tuple[Integers, Integers] | None:
    """Polynomials and first numbers from scipy's own file; None if it has another form.

    Importing scipy.stats, which offers them, would take longer than most explanations.
    """
    from zipfile import BadZipFile

    scipy = find_spec("scipy")
    folders = scipy.submodule_search_locations if scipy else None
    for folder in folders or ():
        try:
            path = Path(folder, "stats", "_sobol_direction_numbers.npz")
            with path.open("rb") as stream, np.load(stream) as file:
                polynomials, first = file["poly"], file["vinit"]
        except (OSError, KeyError, ValueError, BadZipFile):
            continue
        if polynomials.shape == (MAX_DIMENSIONS,) and first.shape == (MAX_DIMENSIONS, DEGREE):
            return polynomials.astype(np.int64, copy=False), first.astype(np.int64, copy=False)
    return None


def by_points(d: int, levels: int) -> NDArray[np.uint64]:
    """The same numbers, computed from the points of scipy.stats."""
    from scipy.stats import qmc

    points = qmc.Sobol(d, scramble=False, bits=BITS).random_base2(levels)
    # The Gray code of 2ᵏ has two bits: k and k − 1. So the XOR of the points 1, 2, 4, … 2ᵏ is
    # number k.
    powers = (points[1 << np.arange(levels)] * 2.0**BITS).astype(np.uint64)
    return np.bitwise_xor.accumulate(powers, axis=0)
