"""Laws of balanced designs, over random seeds and sizes."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import comb

from eagle._sources.masks import EvenSizes, Fair, MaskSpace, OffsetSpace
from eagle._tables.background import STEPS, Background
from eagle._tables.rows import TableInstances, TableSpace
from eagle._values.arrays import Points
from eagle.designs import directions as directions_module
from eagle.designs.balanced import Sobol, masks, scrambled_sobol
from eagle.designs.directions import BITS, MAX_DIMENSIONS, by_points, directions
from eagle.designs.hadamard import Hadamard, likely, rows
from eagle.designs.law import Absorbed, mean_weight, quantile, raw
from eagle.errors import InputError
from eagle.kernels import Exponential, Unit, cosine_distance
from eagle.peers.offsets import Gauss

seeds = st.integers(0, 2**32 - 1)


def rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def table(shares: list[int], binned: bool = True, row: Any = None) -> TableSpace:
    """Columns of two levels; so many of 32 rows have the row's own, and numbers after them."""
    levels = np.array([[i < k for i in range(32)] for k in shares], dtype=float).T
    data = np.column_stack([levels, np.arange(32.0), np.arange(32.0) ** 2])
    background = Background.of(data, categories=list(range(len(shares))))
    own = np.ones(len(shares) + 2) if row is None else np.asarray(row, dtype=float)
    return TableInstances(background, background.adopt(own[None]), binned).space(0)


def plan(space: Any, n: int, seed: int, kernel: Any = None) -> Points:
    return Sobol().plan([space], kernel or Exponential(), n, rng(seed))[0]


SPACES: dict[str, tuple[Any, Any]] = {
    "binned": (table([3, 20, 32, 16]), Exponential()),
    "continuous": (table([3, 20, 32, 16], binned=False), Exponential(0.5)),
    "offsets": (OffsetSpace(7), Exponential()),
    "fair masks": (MaskSpace(9, Fair()), Exponential(0.25, distance=cosine_distance)),
    "masks of even sizes": (MaskSpace(9, EvenSizes()), Exponential(0.25, distance=cosine_distance)),
}


@given(seeds, st.integers(1, 200), st.integers(1, 200), st.sampled_from(sorted(SPACES)))
def test_nested_the_instance_first_and_all_by_the_seed(
    seed: int, n: int, more: int, name: str
) -> None:
    space, kernel = SPACES[name]
    long = plan(space, n + more, seed, kernel)
    assert long.shape == (n + more, len(space.origin))
    assert long.dtype == space.origin.dtype
    assert np.array_equal(long[0], space.origin)
    assert np.array_equal(plan(space, n, seed, kernel), long[:n])
    if n > 20:
        assert not np.array_equal(plan(space, n, seed + 1, kernel), long[:n])


@given(seeds, st.integers(0, 10), st.integers(1, 12))
def test_every_coordinate_has_one_point_in_every_part_of_its_law(
    seed: int, log: int, d: int
) -> None:
    n = 2**log
    u = scrambled_sobol(n, d, rng(seed))
    assert (np.sort(np.floor(u * n), axis=0) == np.arange(n)[:, None]).all()


def point_by_point(n: int, d: int, generator: np.random.Generator) -> Any:
    """Scipy's points, scrambled one by one by the definition."""
    from scipy.stats import qmc

    mixing = raw(generator, BITS * d).reshape(BITS, d) >> np.uint64(64 - BITS)
    shift = raw(generator, d) >> np.uint64(64 - BITS)
    plain = qmc.Sobol(d, scramble=False, bits=BITS).random_base2((n - 1).bit_length())[:n]
    digits = (plain * 2.0**BITS).astype(np.uint64)
    out = np.repeat(shift[None], n, axis=0)
    for place, mix in enumerate(mixing):
        low = np.uint64(BITS - 1 - place)
        own_and_some_before = ((mix >> low) | np.uint64(1)) << low
        odd = np.bitwise_count(digits & own_and_some_before) % 2
        out ^= odd.astype(np.uint64) << low
    return (out.astype(np.float64) + 0.5) * 2.0**-BITS


@pytest.mark.parametrize("d", [1, 2, 40, 300])
@pytest.mark.parametrize("n", [1, 2, 3, 499, 5000])
def test_points_are_those_of_scipy_scrambled_to_the_last_bit(n: int, d: int) -> None:
    for seed in (0, 7):
        assert np.array_equal(scrambled_sobol(n, d, rng(seed)), point_by_point(n, d, rng(seed)))


def test_every_direction_is_that_of_scipy() -> None:
    assert np.array_equal(directions(MAX_DIMENSIONS, 8), by_points(MAX_DIMENSIONS, 8))
    assert np.array_equal(directions(50, 16), by_points(50, 16))
    assert directions(3, 0).shape == by_points(3, 0).shape == (0, 3)


FILES: dict[str, dict[str, Any]] = {
    "other names": {"numbers": np.ones(3)},
    "another shape": {"poly": np.ones(3), "vinit": np.ones((3, 18))},
    "torn": {},
}


@pytest.mark.parametrize("form", sorted(FILES))
def test_without_the_file_of_scipy_points_are_the_same(
    form: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stats").mkdir()
    if FILES[form]:
        np.savez(tmp_path / "stats" / "_sobol_direction_numbers.npz", **FILES[form])
    else:
        (tmp_path / "stats" / "_sobol_direction_numbers.npz").write_bytes(b"PK\x03\x04 torn")
    expected = scrambled_sobol(99, 7, rng(1))
    elsewhere = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(directions_module, "find_spec", lambda name: elsewhere)
    for kept in (directions_module.read_stored, directions):
        kept.cache_clear()
    try:
        assert directions_module.read_stored() is None
        assert np.array_equal(scrambled_sobol(99, 7, rng(1)), expected)
    finally:
        for kept in (directions_module.read_stored, directions):
            kept.cache_clear()


@given(seeds, st.integers(2, 10), st.sampled_from(["binned", "continuous", "offsets"]))
def test_marginals_of_the_tilted_law_are_met_within_one_row(seed: int, log: int, name: str) -> None:
    (space, kernel), n = SPACES[name], 2**log
    tilt = Absorbed().tilt(space, kernel)
    law = np.cumsum(tilt, axis=0) / tilt.sum(axis=0)
    points = plan(space, n + 1, seed, kernel)[1:]
    for j, exact in enumerate(law.T):
        found = np.searchsorted(np.sort(points[:, j]), np.arange(STEPS), side="right") / n
        assert np.abs(found - exact).max() <= 1 / n + 1e-6


@given(seeds, st.integers(1, 6))
def test_any_rows_of_a_pair_of_directions_are_uniform(seed: int, log: int) -> None:
    # The first two directions are a net: every box of area 1/n has its point.
    n = 2**log
    u = scrambled_sobol(n, 2, rng(seed))
    for a in range(log + 1):
        cells = np.floor(u[:, 0] * 2**a) * 2 ** (log - a) + np.floor(u[:, 1] * 2 ** (log - a))
        assert len(set(cells.tolist())) == n


@pytest.mark.parametrize("name", ["fair masks", "masks of even sizes"])
def test_masks_obey_their_law(name: str) -> None:
    space, d = SPACES[name][0], 9
    chances = np.asarray(space.counts) * np.linspace(0.2, 1, d + 1)
    chances /= chances.sum()
    off = np.concatenate([masks(chances, scrambled_sobol(2**13, d, rng(i))) for i in range(16)])
    kept = (d - off.sum(axis=1)).astype(int)
    assert np.allclose(np.bincount(kept, minlength=d + 1) / len(off), chances, atol=2e-3)
    # Which parts are kept, none decides: all masks of a size are as frequent.
    number = (off @ 2 ** np.arange(d)).astype(int)
    each = (chances / comb(d, np.arange(d + 1)))[[d - i.bit_count() for i in range(2**d)]]
    assert np.abs(np.bincount(number, minlength=2**d) / len(off) - each).max() < 1e-3


@given(seeds, st.permutations(range(6)))
@settings(max_examples=25)
def test_features_in_another_order_have_the_same_points_in_that_order(
    seed: int, order: list[int]
) -> None:
    space = table([3, 20, 32, 16])
    kept, where = space.table.kept[0], np.array(order)
    tilt, key = Absorbed().tilt(space, Exponential()), rng(seed).random(6)
    uniform = np.insert(scrambled_sobol(50, 6, rng(seed)), 0, 0.0, axis=1)
    moves = kept < STEPS

    def points(of: Any) -> Any:
        out = np.empty((50, 6))
        first = np.lexsort((key[of], ~moves[of]))
        out[:, first] = quantile(tilt[:, of][:, first], uniform)
        return out

    assert np.array_equal(points(where), points(np.arange(6))[:, where])


@given(seeds)
def test_what_cannot_change_leaves_the_best_directions_to_the_others(seed: int) -> None:
    """A column that cannot leave its bin does not change how the others are asked."""
    n, kernel = 64, Unit()
    points = plan(table([32, 16, 16, 32, 16]), n + 1, seed, kernel)[1:]
    plain = scrambled_sobol(n, 7, _after(seed, 7))
    moved = {tuple(np.floor(column * STEPS)) for column in plain[:, :5].T}
    assert {tuple(column.astype(float)) for column in points[:, [1, 2, 4, 5, 6]].T} == moved


def _after(seed: int, d: int) -> np.random.Generator:
    """The generator once it has said which feature has which direction."""
    generator = rng(seed)
    generator.bit_generator.random_raw(d)
    return generator


def test_rows_weigh_as_the_kernel_would_on_average() -> None:
    for space, kernel in SPACES.values():
        drawn = space.features(space.draw(100_000, rng(0)))
        mean = kernel(drawn, space.features(space.origin[None])[0]).mean()
        weight = Sobol().weight(space, kernel, drawn[:3])
        assert np.allclose(weight, mean, rtol=0.02)
        assert np.allclose(weight, mean_weight(space, kernel, Absorbed()))
        assert np.array_equal(Sobol(mass=False).weight(space, kernel, drawn[:3]), np.ones(3))


def test_company_does_not_matter_and_nobody_may_come() -> None:
    one, two = table([3, 20, 32, 16]), table([30, 2, 16, 16])
    both = Sobol().plan([one, two], Exponential(), 40, rng(3))
    assert np.array_equal(both[0], plan(one, 40, 3))
    assert np.array_equal(both[1], plan(two, 40, 3))
    assert Sobol().plan([], Exponential(), 40, rng(3)) == []


def test_what_is_refused() -> None:
    assert Sobol(Gauss(0.5)).needs == Gauss.needs
    with pytest.raises(InputError, match="21,201"):
        scrambled_sobol(4, MAX_DIMENSIONS + 1, rng(0))
    with pytest.raises(InputError, match="absorbed"):
        plan(table([3]), 5, 0, Exponential(distance=cosine_distance))


# -- orthogonal rows ------------------------------------------------------------------------------

MATCHING: dict[str, Any] = {
    "binned": table([3, 20, 32, 16]),
    "fair masks": MaskSpace(7, Fair()),
    "masks of even sizes": MaskSpace(7, EvenSizes()),
}


@given(seeds, st.integers(1, 40))
def test_columns_are_even_and_orthogonal_and_rows_come_with_their_mirror_image(
    seed: int, d: int
) -> None:
    size = 1 << d.bit_length()
    found = rows(4 * size, d, rng(seed))
    assert (found[1::2] == ~found[::2]).all()
    for block in (found[: 2 * size], found[2 * size :]):
        signs = 2.0 * block - 1
        assert np.array_equal(signs.T @ signs, 2 * size * np.eye(d))
        assert not signs.sum(axis=0).any()
        # In pairs of rows and their mirror images, products of three cancel too.
        if d > 2:
            assert not np.prod(signs[:, :3], axis=1).sum()
    if d > 3:
        assert not np.array_equal(found[: 2 * size], found[2 * size :])


@given(
    seeds,
    st.integers(1, 60),
    st.integers(1, 60),
    st.sampled_from(sorted(MATCHING)),
)
def test_pairs_are_nested_after_the_instance(seed: int, n: int, more: int, name: str) -> None:
    space, design, kernel = MATCHING[name], Hadamard(), Exponential()
    long = design.plan([space], kernel, n + more, rng(seed))[0]
    assert long.shape == (n + more, len(space.origin))
    assert long.dtype == space.origin.dtype
    assert np.array_equal(long[0], space.origin)
    short = design.plan([space], kernel, n, rng(seed))[0]
    assert np.array_equal(short, long[:n])


def test_fair_coins_weighed_are_the_law() -> None:
    """Over all masks, and all combinations of matches, weights sum as probabilities do."""
    for space in MATCHING.values():
        d = len(space.origin)
        every = np.array(list(product((0.0, 1.0), repeat=d)))
        chance = np.exp(likely(space, every)) / 2**d
        if space.counts is None:
            match = np.array([3, 20, 32, 16, 8, 8]) / 32
            fixed = every[:, 2] == 1  # the third column cannot change
            exact = np.prod(np.where(every == 1, match, 1 - match), axis=1)
            assert np.allclose(chance[fixed] * 2, exact[fixed], atol=0.02)
            assert np.isclose(chance[fixed].sum() * 2, 1.0)
        else:
            kept = every.sum(axis=1).astype(int)
            for k in range(d):
                assert np.isclose(chance[kept == k].sum(), space.counts[k])
            assert np.isclose(chance[-1], 2.0**-d)


@given(seeds, st.integers(1, 6), st.integers(1, 50))
def test_what_the_law_never_draws_is_asked_once_as_the_instance(seed: int, d: int, n: int) -> None:
    space = MaskSpace(d, EvenSizes())
    z = space.features(Hadamard().plan([space], Unit(), n, rng(seed))[0])
    assert z.shape == (n, d)
    assert z.all(axis=1).sum() == 1


@pytest.mark.parametrize("d", [1, 5, 16])
def test_masks_by_hadamard_find_the_slopes_of_a_line_exactly(d: int) -> None:
    space = MaskSpace(d, Fair())
    z = space.features(Hadamard().plan([space], Unit(), 1 + 4 * (1 << d.bit_length()), rng(3))[0])[
        1:
    ]
    y = 3.0 + z @ np.arange(1.0, d + 1) + 0.5 * z[:, 0] * z[:, -1]
    found = np.linalg.lstsq(np.column_stack([np.ones(len(z)), z]), y, rcond=None)[0][1:]
    ends = 0.25 if d > 1 else 0.5  # what a product adds to the tilt of each of its features
    exact = np.arange(1.0, d + 1)
    exact[[0, -1]] += ends
    assert np.allclose(found, exact)
