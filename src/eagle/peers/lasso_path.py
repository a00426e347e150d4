"""The lasso path by least-angle regression (LARS): the order in which features are selected.

LIME's selection and S-LIME's test use the same path, so the test is about what is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from eagle._values.arrays import Array, is_flat
from eagle._values.ties import TIE, best

MAX_STEPS_PER_COLUMN: Final = 10
"""Maximum number of steps of a path per column, in case rounding makes it go in circles."""


@final
@dataclass(frozen=True, eq=False)
class PathColumns:
    """The columns of a path: minus their weighted means, times √weight.

    `x` has shape (n, m), and `names[j]` is the feature of x[:, j]. Constant columns are left out,
    and so are those that repeat an earlier one up to sign. `lift` are the answers, treated in the
    same way and scaled to mean square 1, so that units do not matter; all 0 if answers are equal.
    """

    x: Array
    lift: Array
    names: tuple[int, ...]

    def residual(self, slopes: Array) -> Array:
        """The answers minus the line with these slopes."""
        return self.lift - self.x @ slopes

    def reach(self, slopes: Array) -> Array:
        """The mean product of each column with the residual, shape (m,).

        A product below `TIE` times the column's size is rounding, and becomes 0.
        """
        out: Array = self.x.T @ self.residual(slopes) / len(self.lift)
        out[np.abs(out) <= TIE * self.size] = 0.0
        return out

    @cached_property
    def size(self) -> Array:
        """The root mean square of each column."""
        out: Array = np.sqrt((self.x**2).mean(axis=0))
        return out


@final
@dataclass(frozen=True, eq=False)
class Step:
    """From one knot of the path to the next.

    `enters` is the column that enters at the start; None after one has left. `rivals` are the
    columns that might have entered instead: all others outside, except those that the columns
    inside explain. `before` and `after` are the slopes at the start and at the end. `inside` are
    the columns that are in the model at the end.
    """

    enters: int | None
    rivals: tuple[int, ...]
    before: Array
    after: Array
    inside: tuple[int, ...]


def path_columns(features: Array, y: Array, weight: Array) -> PathColumns:
    """The columns and answers of a path, from rows and their weights."""
    root, middle = np.sqrt(weight), np.average(features, axis=0, weights=weight)
    x = (features - middle) * root[:, None]
    size = np.abs(x).max(axis=0)
    moving = np.flatnonzero(size > TIE * np.abs(features).max(axis=0) * root.max())
    names = tuple(_first_of_alike(x, size, moving.tolist()))
    return PathColumns(x[:, list(names)], _lift(y, weight), names)


def _lift(y: Array, weight: Array) -> Array:
    """Answers minus their weighted mean, times √weight, with mean square 1; or all 0."""
    y = _in_units_of_the_largest(y)
    if is_flat(y):
        return np.zeros_like(y)
    lift = _in_units_of_the_largest((y - np.average(y, weights=weight)) * np.sqrt(weight))
    out: Array = lift / (float(np.sqrt(np.mean(lift**2))) or 1.0)
    return out


def _in_units_of_the_largest(values: Array) -> Array:
    """Values over the largest size, so that squares neither overflow nor vanish."""
    out: Array = values / (float(np.abs(values).max()) or 1.0)
    return out


def _first_of_alike(x: Array, size: Array, moving: list[int]) -> list[int]:
    """The first of each set of columns that are equal up to sign and `TIE` of the largest entry."""
    length = np.sqrt((x**2).sum(axis=0))  # equal columns have equal lengths
    slack = TIE * size * np.sqrt(len(x))
    kept: list[int] = []
    for j in moving:
        near = np.abs(length[kept] - length[j]) <= slack[j]
        alike = x[:, [i for i, close in zip(kept, near, strict=True) if close]]
        apart = np.stack([alike - x[:, [j]], alike + x[:, [j]]])
        if not (np.abs(apart).max(axis=1) <= TIE * size[j]).any():
            kept.append(j)
    return kept


def path(rows: PathColumns) -> list[Step]:
    """All steps of the lasso path, from no column to the least squares of all.

    The column that correlates most with the answers enters first. Slopes move so that all columns
    inside correlate equally with the residual. A step ends where another column correlates as much,
    which then enters, or where a slope is back at 0, whose column then leaves. Near-ties enter in
    their own order. A column that is a combination of those inside stays out.
    """
    if not rows.names or not rows.lift.any():
        return []
    state, out = _Path(rows), list[Step]()
    while not state.ended and len(out) < MAX_STEPS_PER_COLUMN * len(rows.names):
        out.append(state.step())
    return out


def steps_to(steps: list[Step], k: int) -> list[Step]:
    """The steps up to the last knot with at most k columns inside: LIME's choice."""
    ends = [i for i, step in enumerate(steps, 1) if len(step.inside) <= k]
    return steps[: ends[-1]] if ends else []


@final
class _Path:
    """The state of a path."""

    def __init__(self, rows: PathColumns) -> None:
        self._rows, m = rows, len(rows.names)
        self._slopes, self._sign = np.zeros(m), np.zeros(m)
        self._reach = rows.reach(self._slopes)
        self._level = self._top = float(np.abs(self._reach).max())  # of columns inside
        self._inside: list[int] = []
        self._inverse = np.empty((0, 0))  # of XᵀX/n of the columns inside
        self._enters: int | None = best(np.abs(self._reach))
        self._shut = np.zeros(m, dtype=bool)  # columns inside, and those they explain
        self.ended = not self._top > 0

    def step(self) -> Step:
        """Take one step."""
        enters, before, rivals = self._enters, self._slopes, self._rivals()
        if enters is not None:
            self._let_in(enters)
        self._move(*self._way())
        return Step(enters, rivals, before, self._slopes, tuple(sorted(self._inside)))

    def _rivals(self) -> tuple[int, ...]:
        """The columns outside that might enter."""
        return tuple(j for j in np.flatnonzero(~self._shut).tolist() if j != self._enters)

    def _let_in(self, j: int) -> None:
        along, left = self._regress(j)
        far = np.append(-along, 1.0)
        self._inverse = np.pad(self._inverse, (0, 1)) + np.outer(far, far / left)
        self._sign[j] = np.sign(self._reach[j])
        self._inside.append(j)

    def _let_out(self, j: int) -> None:
        at = self._inside.index(j)
        column = np.delete(self._inverse[at], at)
        rest = np.delete(np.delete(self._inverse, at, axis=0), at, axis=1)
        self._inverse = rest - np.outer(column, column / self._inverse[at, at])
        self._inside.remove(j)

    def _regress(self, j: int) -> tuple[Array, float]:
        """The slopes of column j on those inside, and the mean square of its residual."""
        products = self._rows.x.T @ self._rows.x[:, j] / len(self._rows.lift)
        along = self._inverse @ products[self._inside]
        return along, float(products[j] - along @ products[self._inside])

    def _way(self) -> tuple[Array, Array]:
        """The direction of slopes that lowers |reach| inside by 1, and how far each reach falls."""
        way, fall = np.zeros_like(self._slopes), np.zeros_like(self._slopes)
        for _ in range(2):  # the second pass corrects rounding errors of the inverse
            more = np.zeros_like(way)
            more[self._inside] = self._inverse @ (self._sign - fall)[self._inside]
            way += more
            fall += self._rows.x.T @ (self._rows.x @ more) / len(self._rows.lift)
        return way, fall

    def _move(self, way: Array, fall: Array) -> None:
        """Move until a column enters or leaves, or nothing is left to explain."""
        enters, at_entry = self._next_in(fall)
        leaves, at_leave = self._next_out(way)
        length, slack = min(at_entry, at_leave, self._level), TIE * self._top
        self._slopes = self._slopes + length * way
        self._level -= length
        self._enters = None
        self.ended = self._level <= slack
        if leaves is not None and at_leave <= length + slack:
            self._slopes[leaves] = 0.0
            self._let_out(leaves)
        elif not self.ended:
            self._enters = enters
        self._reach = self._rows.reach(self._slopes)

    def _next_in(self, fall: Array) -> tuple[int | None, float]:
        """The column that enters next, and after what length."""
        lead = np.maximum(self._level - np.stack([self._reach, -self._reach]), 0.0)
        pace = 1.0 - np.stack([fall, -fall])  # how fast the lead of columns inside shrinks
        slack = TIE * self._top
        level = (lead <= slack) & (np.abs(pace) <= TIE)  # moves along with those inside
        self._shut = level[0] | level[1]
        self._shut[self._inside] = True
        far = np.where(pace > TIE, lead / np.maximum(pace, TIE), np.inf).min(axis=0)
        while True:
            far[self._shut] = np.inf
            first = float(far.min())
            if first >= self._level - slack:  # the path ends before
                return None, np.inf
            enters = int(np.argmax(far <= first + slack))
            if not self._is_explained(enters):
                return enters, first
            self._shut[enters] = True

    def _next_out(self, way: Array) -> tuple[int | None, float]:
        """The column whose slope is next at 0, and after what length; 0 if the slope stays at 0."""
        inside = np.sort(self._inside)
        slopes, way, size = self._slopes[inside], way[inside], self._rows.size[inside]
        ahead = way * self._sign[inside] * size
        far, back = np.full(len(inside), np.inf), ahead < 0
        far[back] = np.maximum(-slopes[back] / way[back], 0.0)
        far[(np.abs(slopes) * size <= TIE) & (ahead <= TIE * ahead.max())] = 0.0
        first = float(far.min())
        if not np.isfinite(first):
            return None, np.inf
        return int(inside[np.argmax(far <= first + TIE * self._top)]), first

    def _is_explained(self, j: int) -> bool:
        """Whether column j is a combination of the columns inside."""
        return self._regress(j)[1] <= TIE * float(self._rows.size[j]) ** 2
