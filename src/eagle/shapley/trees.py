"""Gradient-boosted trees as plain arrays, and their exact Shapley values.

scikit-learn fits them. What is kept are numbers: nothing of scikit-learn is needed to use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from math import factorial
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.packages import one_thread, package
from eagle.shapley.layout import Layout, Values, look_up, ranks_of_levels

TREES: Final = 300
RATE: Final = 0.08
LEAVES: Final = 16
DEPTH: Final = 5
MIN_LEAF: Final = 8

CHUNK: Final = 1 << 17
"""About how many numbers are worked on at once: their arrays fit into a processor's cache."""

Ints: TypeAlias = NDArray[np.intp]

Table: TypeAlias = list[tuple[Ints, Array]]
"""For leaves of K players: their numbers, and what each player adds for each pattern of a row."""


def _nothing(players: int, rows: Array) -> Array:
    return np.zeros((len(rows), players))


@final
@dataclass(frozen=True, eq=False)
class Trees:
    """Nodes of all trees, one after another. A leaf leads to itself.

    A row goes `left` if its number is at most the threshold, or if it is missing and `missing`
    says so. `ranks` has for each column of levels the number that stands for each level.
    """

    column: Ints
    threshold: Array
    missing: NDArray[np.bool_]
    left: Ints
    right: Ints
    leaf: NDArray[np.bool_]
    value: Array
    roots: Ints
    start: float
    ranks: dict[int, Array]

    def numbers(self, rows: Array) -> Array:
        """The rows with numbers in place of levels."""
        return with_ranks(rows, self.ranks)

    def predict(self, rows: Array) -> Array:
        """What the trees answer, shape (n,)."""
        rows, out = self.numbers(rows), np.full(len(rows), self.start)
        step = max(CHUNK // max(len(self.roots), 1), 1)
        for first in range(0, len(rows), step):
            part = rows[first : first + step]
            flat, width = part.ravel(), part.shape[1]
            base = (np.arange(len(part)) * width)[:, None]
            at = np.broadcast_to(self.roots, (len(part), len(self.roots)))
            for _ in range(DEPTH):
                number = flat.take(base + self.column.take(at))
                left = number <= self.threshold.take(at)
                gap = np.isnan(number)
                if gap.any():
                    left |= gap & self.missing.take(at)
                at = np.where(left, self.left.take(at), self.right.take(at))
            out[first : first + step] += self.value.take(at).sum(axis=1)
        return out

    def check(self, layout: Layout) -> None:
        nodes, itself = len(self.leaf), np.arange(len(self.leaf))
        each = (self.column, self.threshold, self.missing, self.left, self.right, self.value)
        alike = all(one.shape == (nodes,) for one in each)
        if not alike or not ((self.roots >= 0) & (self.roots < nodes)).all():
            raise ValueError("its trees have parts that do not fit")
        down = np.minimum(self.left, self.right) > itself  # so that no way leads back
        inside = np.maximum(self.left, self.right) < nodes
        known = (self.column >= 0) & (self.column < len(layout.player))
        if not (known & inside & (down | self.leaf)).all() or max(self._depths, default=0) > DEPTH:
            raise ValueError("its trees have nodes that lead nowhere")

    @property
    def _depths(self) -> list[int]:
        """How many splits are above each node."""
        depth = np.zeros(len(self.leaf), dtype=np.intp)
        for i in np.flatnonzero(~self.leaf).tolist():
            for child in (self.left[i], self.right[i]):
                depth[child] = max(depth[child], depth[i] + 1)
        return depth.tolist()

    @cached_property
    def paths(self) -> Paths:
        return Paths.of(self)

    def values_over(self, background: Array, layout: Layout) -> Values:
        """What makes the exact Shapley values of rows, shape (n, players)."""
        if not len(self.paths.leaf):
            return partial(_nothing, layout.players)
        known = PlayedPaths.of(self.paths, layout.player)
        table = known.table(known.patterns(self.goes_left(background)))
        return partial(self._values, known, table, layout.players)

    def _values(self, known: PlayedPaths, table: Table, players: int, rows: Array) -> Array:
        out = np.empty((len(rows), players))
        step = max(CHUNK // len(known.slot_player), 1)
        for first in range(0, len(rows), step):
            pattern = known.patterns(self.goes_left(rows[first : first + step]))
            out[first : first + step] = known.shared(table, pattern, players)
        return out

    def goes_left(self, rows: Array) -> NDArray[np.bool_]:
        """Whether each inner node sends each row to the left, shape (inner nodes, n)."""
        rows = self.numbers(rows)
        number = rows.T[self.column[self.paths.inner]]
        left = number <= self.threshold[self.paths.inner, None]
        return np.asarray(left | (np.isnan(number) & self.missing[self.paths.inner, None]))


@final
@dataclass(frozen=True, eq=False)
class Paths:
    """The way to each leaf: the splits on it, and whether it goes left there.

    `inner` are the nodes that split. Each step of a path has its `leaf`, the place of its `split`
    among the inner nodes, and whether it goes `left`.
    """

    inner: Ints
    leaves: Ints
    worth: Array
    leaf: Ints
    split: Ints
    left: NDArray[np.bool_]
    column: Ints

    @classmethod
    def of(cls, trees: Trees) -> Paths:
        inner = np.flatnonzero(~trees.leaf)
        place = np.full(len(trees.leaf), -1)
        place[inner] = np.arange(len(inner))
        lefts, rights, is_leaf = trees.left.tolist(), trees.right.tolist(), trees.leaf.tolist()
        leaves: list[int] = []
        steps: list[tuple[int, int, bool]] = []
        for root in trees.roots.tolist():
            stack: list[tuple[int, tuple[tuple[int, bool], ...]]] = [(root, ())]
            while stack:
                node, way = stack.pop()
                if not is_leaf[node]:
                    stack.append((rights[node], (*way, (node, False))))
                    stack.append((lefts[node], (*way, (node, True))))
                elif way:
                    steps += [(len(leaves), n, left) for n, left in way]
                    leaves.append(node)
        way_of = np.array(steps, dtype=np.intp).reshape(-1, 3)
        at = np.array(leaves, dtype=np.intp)
        splits = way_of[:, 1]
        return cls(
            inner,
            at,
            trees.value[at],
            way_of[:, 0],
            place[splits],
            way_of[:, 2].astype(bool),
            trees.column[splits],
        )


@final
@dataclass(frozen=True, eq=False)
class PlayedPaths:
    """Paths with the players whose columns split there.

    A slot is a player on the path to a leaf. `first` is where each slot's steps begin among the
    `order` of steps, `slot_leaf` its leaf and `slot_player` its player, `bit` its place on the
    path; `many` is the number of players on each path.
    """

    paths: Paths
    order: Ints
    first: Ints
    slot_leaf: Ints
    slot_player: Ints
    bit: Ints
    many: Ints

    @classmethod
    def of(cls, paths: Paths, player: Ints) -> PlayedPaths:
        who = player[paths.column]
        order = np.lexsort((who, paths.leaf))
        leaf, who = paths.leaf[order], who[order]
        new = np.r_[True, (leaf[1:] != leaf[:-1]) | (who[1:] != who[:-1])]
        first = np.flatnonzero(new)
        many = np.bincount(leaf[first], minlength=len(paths.leaves))
        bit = np.arange(len(first)) - np.repeat(np.cumsum(many) - many, many)
        return cls(paths, order, first, leaf[first], who[first], bit, many)

    def patterns(self, goes_left: NDArray[np.bool_]) -> Ints:
        """For each leaf and row, which players' splits all lead there, as bits: (leaves, n)."""
        fits = goes_left[self.paths.split[self.order]] == self.paths.left[self.order][:, None]
        slots = np.logical_and.reduceat(fits, self.first, axis=0)
        starts = np.cumsum(self.many) - self.many
        return np.asarray(np.add.reduceat(slots << self.bit[:, None], starts, axis=0))

    def table(self, behind: Ints) -> Table:
        """What each player on a path adds for each pattern of a row, for leaves of K players:
        their numbers, and a table of shape (leaves, 2^K, K)."""
        out = []
        for k in np.unique(self.many).tolist():
            here = np.flatnonzero(self.many == k)
            codes = (np.arange(len(here)) << k)[:, None] + behind[here]
            share = np.bincount(codes.ravel(), minlength=len(here) << k) / behind.shape[1]
            part = share.reshape(-1, 1 << k) @ contribution(k).reshape(1 << k, -1)
            worth = self.paths.worth[here, None] * part
            out.append((here, worth.reshape(len(here), 1 << k, k)))
        return out

    def shared(self, table: Table, pattern: Ints, players: int) -> Array:
        """The sums of what each player adds, shape (n, players)."""
        slots = np.empty((len(self.slot_leaf), pattern.shape[1]))
        starts = np.cumsum(self.many) - self.many
        for here, worth in table:
            added = worth[np.arange(len(here))[:, None], pattern[here]]
            for k in range(worth.shape[2]):
                slots[starts[here] + k] = added[:, :, k]
        by = np.argsort(self.slot_player, kind="stable")
        who = self.slot_player[by]
        first = np.flatnonzero(np.r_[True, who[1:] != who[:-1]])
        out = np.zeros((pattern.shape[1], players))
        out[:, who[first]] = np.add.reduceat(slots[by], first, axis=0).T
        return out


@lru_cache(maxsize=32)
def contribution(k: int) -> Array:
    """What each of k players of a path adds to a leaf of value 1, shape (2^k, 2^k, k).

    The first pattern says whose splits the background row follows, the second those of the row. If
    some player follows on neither side, the leaf is never reached.
    """
    bits = (np.arange(1 << k)[:, None] >> np.arange(k)) & 1 == 1
    behind, row = bits[:, None, :], bits[None, :, :]
    only_row, only_behind = row & ~behind, behind & ~row
    a, c = only_row.sum(axis=2), only_behind.sum(axis=2)
    whole = np.array([float(factorial(i)) for i in range(2 * k + 1)])
    up = np.where(a > 0, whole[np.maximum(a - 1, 0)] * whole[c] / whole[a + c], 0.0)
    down = np.where(c > 0, whole[a] * whole[np.maximum(c - 1, 0)] / whole[a + c], 0.0)
    out = np.where(only_row, up[..., None], 0.0) - np.where(only_behind, down[..., None], 0.0)
    return np.where((row | behind).all(axis=2)[..., None], out, 0.0)


def with_ranks(rows: Array, ranks: dict[int, Array]) -> Array:
    """Rows with numbers in place of levels."""
    if not ranks:
        return rows
    out = rows.copy()
    for j, table in ranks.items():
        out[:, j] = look_up(rows[:, j], table)
    return out


def fit_trees(
    rows: Array,
    answers: Array,
    layout: Layout,
    *,
    seed: int,
    count: int = TREES,
    rate: float = RATE,
) -> Trees:
    """Trees fitted to answers by one thread, so that they are the same wherever they are fitted."""
    ranks = {
        j: ranks_of_levels(rows[:, j], answers, n)
        for j, n in enumerate(layout.levels.tolist())
        if n
    }
    start = float(answers.mean())
    scale = float(answers.std())
    none = np.empty(0, dtype=np.intp)
    if not scale > 1e-13 * max(abs(start), 1e-300):
        flags = np.empty(0, dtype=bool)
        return Trees(none, np.empty(0), flags, none, none, flags, np.empty(0), none, start, ranks)
    model = _histogram_trees(count, rate, seed)
    with one_thread():
        model.fit(with_ranks(rows, ranks), (answers - start) / scale)
    return _flat([tree for (tree,) in model._predictors], start, scale, ranks, model)


def _histogram_trees(count: int, rate: float, seed: int) -> Any:
    ensemble = package("sklearn.ensemble", "a survey of Shapley values", "shapley")
    return ensemble.HistGradientBoostingRegressor(
        max_iter=count,
        learning_rate=rate,
        max_leaf_nodes=LEAVES,
        max_depth=DEPTH,
        min_samples_leaf=MIN_LEAF,
        early_stopping=False,
        categorical_features=None,
        random_state=seed,
    )


def _flat(
    predictors: list[Any], start: float, scale: float, ranks: dict[int, Array], model: Any
) -> Trees:
    """The trees as arrays."""
    sizes = [len(tree.nodes) for tree in predictors]
    first = np.cumsum([0, *sizes[:-1]])
    nodes = np.concatenate([tree.nodes for tree in predictors])
    shift = np.repeat(first, sizes)
    leaf = nodes["is_leaf"].astype(bool)
    itself = np.arange(len(nodes))
    return Trees(
        np.where(leaf, 0, nodes["feature_idx"]).astype(np.intp),
        np.where(leaf, np.inf, nodes["num_threshold"]).astype(np.float64),
        nodes["missing_go_to_left"].astype(bool),
        np.where(leaf, itself, nodes["left"].astype(np.intp) + shift),
        np.where(leaf, itself, nodes["right"].astype(np.intp) + shift),
        leaf,
        np.where(leaf, nodes["value"], 0.0) * scale,
        first.astype(np.intp),
        start + scale * float(np.ravel(model._baseline_prediction)[0]),
        ranks,
    )
