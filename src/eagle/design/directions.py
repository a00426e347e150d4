"""Sobol' direction numbers: what each binary digit of a point's place does to its coordinates."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

BITS: Final = 30
"""Binary digits of a coordinate: a law has 1,024 steps, so these are many."""

MOST: Final = 21_201
"""So many directions are known."""

DEGREE: Final = 18
"""The highest degree of their polynomials."""

Whole: TypeAlias = NDArray[np.int64]


@lru_cache(maxsize=16)
def directions(d: int, levels: int) -> NDArray[np.uint64]:
    """The first numbers of the first directions, shape (levels, d): Joe and Kuo's, as in scipy.

    Point n of the sequence is the exclusive or of those at which the Gray code of n has a 1.
    """
    found = known()
    out = slowly(d, levels) if found is None else quickly(*found, d, levels)
    out.flags.writeable = False  # they are kept
    return out


def quickly(polynomials: Whole, first: Whole, d: int, levels: int) -> NDArray[np.uint64]:
    """Number j counts from the j-th digit after the point."""
    places = np.arange(BITS - 1, BITS - 1 - levels, -1)[:, None]
    return (recurrence(polynomials[:d], first[:d], levels) << places).astype(np.uint64)


def recurrence(polynomials: Whole, first: Whole, levels: int) -> Whole:
    """The numbers that start with `first` and go on by primitive polynomials, shape (levels, d).

    By a polynomial of degree s number j is that of j − s, plus 2ᵏ times that of j − k for each k
    with a coefficient, all without carry.
    """
    d = len(polynomials)
    degree = np.frexp(polynomials.astype(np.float64))[1] - 1
    out = np.ones((levels, d), dtype=np.int64)  # which is what a polynomial of degree 0 has
    for j in range(levels):
        started = j >= degree
        number = out[np.maximum(j - degree, 0), np.arange(d)]
        for k in range(1, j + 1):
            there = (polynomials >> np.maximum(degree - k, 0)) & (k <= degree)
            number ^= (there & 1) * out[j - k] << k
        out[j] = np.where(started, number, first[:, min(j, DEGREE - 1)])
    return out


@lru_cache(maxsize=1)
def known() -> tuple[Whole, Whole] | None:
    """Polynomials and first numbers, from the file that scipy has them in, if it is as known.

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
        if polynomials.shape == (MOST,) and first.shape == (MOST, DEGREE):
            return polynomials.astype(np.int64, copy=False), first.astype(np.int64, copy=False)
    return None


def slowly(d: int, levels: int) -> NDArray[np.uint64]:
    """The same numbers, from the points of scipy.stats."""
    from scipy.stats import qmc

    points = qmc.Sobol(d, scramble=False, bits=BITS).random_base2(levels)
    # The Gray code of 2ᵏ has two digits, of which the lower is that of the power before.
    powers = (points[1 << np.arange(levels)] * 2.0**BITS).astype(np.uint64)
    return np.bitwise_xor.accumulate(powers, axis=0)
