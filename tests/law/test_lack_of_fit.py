"""Laws of what the line misses: units, order of columns, files, and lines, never warned of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eagle
from eagle._engine.lack_of_fit import LackOfFit
from eagle._tables.moves import Moves
from eagle._values.arrays import Array
from tables import explainer_of

RNG = np.random.default_rng(5)
TABLE = pd.DataFrame(
    {
        "skewed": RNG.lognormal(size=400),
        "flag": RNG.integers(0, 2, 400),
        "count": RNG.poisson(4, 400),
        "holes": np.where(RNG.random(400) < 0.2, np.nan, RNG.normal(size=400)),
        "level": RNG.choice(list("abcdefgh"), 400, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.04, 0.03, 0.03]),
    }
)


def bent(X: Any) -> Array:
    level = X["level"].map({c: float(i % 3) for i, c in enumerate("abcdefgh")}).to_numpy()
    holes = X["holes"].fillna(0.0).to_numpy()
    return np.asarray(
        np.log1p(np.abs(X["skewed"])) * (1 + X["flag"]) + holes * level + 0.1 * X["count"] ** 2
    )


def straight(X: Any) -> Array:
    level = X["level"].map({c: float(i % 3) for i, c in enumerate("abcdefgh")}).to_numpy()
    there = X["holes"].notna().to_numpy()
    return np.asarray(
        3 * X["skewed"] - X["flag"] + X["count"] + X["holes"].fillna(0) * there + 2 * level
    )


def explained(view: Any = "binned", row: int = 0, model: Any = bent, **how: Any) -> Any:
    return explainer_of(model, TABLE, view=view, task="regression", **how).explain(
        TABLE.iloc[[row]]
    )


def values(e: eagle.Explanation, k: int) -> Array | None:
    assert e.evidence.moves is not None
    return e.evidence.moves.values(e.evidence.points, k)


def numbers(m: LackOfFit | None) -> list[float]:
    assert m is not None
    return [m.line, m.position, m.together, m.far]


@pytest.mark.parametrize("view", ["binned", "continuous"])
@settings(max_examples=20)
@given(st.floats(1e-6, 1e6), st.floats(-1e3, 1e3), st.booleans())
def test_units_do_not_matter(view: str, scale: float, shift: float, turned: bool) -> None:
    a = -scale if turned else scale
    plain = explained(view)
    moved = explained(view, model=lambda X: a * (bent(X) + shift))
    assert numbers(moved.lack_of_fit) == pytest.approx(
        numbers(plain.lack_of_fit), rel=1e-4, abs=1e-5
    )
    for one, other in zip(moved.interactions(3), plain.interactions(3), strict=True):
        assert one.names == other.names
        assert one.share == pytest.approx(other.share, rel=1e-4, abs=1e-6)


@settings(max_examples=30)
@given(st.permutations(range(5)), st.sampled_from(["binned", "continuous"]))
def test_the_order_of_columns_does_not_matter(order: list[int], view: str) -> None:
    e = explained(view, row=3)
    evidence = e.evidence
    moves = evidence.moves
    turned = replace(
        e,
        names=tuple(e.names[j] for j in order),
        scores=e.scores[order],
        evidence=replace(
            evidence,
            points=evidence.points[:, order],
            features=evidence.features[:, order],
            moves=Moves(
                tuple(moves.tables[j] for j in order),
                moves.own[order],
                tuple(moves.coded[j] for j in order),
            ),
        ),
    )
    assert numbers(turned.lack_of_fit) == pytest.approx(numbers(e.lack_of_fit), rel=1e-6, abs=1e-9)
    one, other = e.interactions(1)[0], turned.interactions(1)[0]
    assert set(one.names) == set(other.names)
    assert one.share == pytest.approx(other.share, rel=1e-6)


@given(st.integers(0, 399), st.sampled_from(["binned", "continuous"]), st.integers(0, 3))
def test_a_line_in_the_values_is_never_warned_of(row: int, view: str, seed: int) -> None:
    e = explained(view, row, straight, random_state=seed)
    assert e.lack_of_fit.together < 0.05
    assert not any("mislead" in w for w in e.warnings)


@pytest.mark.parametrize("view", ["binned", "continuous"])
def test_files_keep_what_the_line_misses(view: str) -> None:
    e = explained(view, row=7)
    again = eagle.Explanation.from_dict(e.to_dict())
    assert again.lack_of_fit == e.lack_of_fit
    assert again.interactions(4) == e.interactions(4)
    for k in range(5):
        one, other = (values(x, k) for x in (e, again))
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one, other)


@given(st.integers(0, 399), st.sampled_from(["binned", "continuous"]))
def test_moves_are_the_values_asked(row: int, view: str) -> None:
    from eagle._tables.background import Background
    from eagle._tables.rows import TableInstances

    background = Background.of(TABLE)
    table = TableInstances(background, background.adopt(TABLE.iloc[[row]]), view == "binned")
    points = table.space(0).draw(50, np.random.default_rng(row))
    asked, moves = table.space(0).values(points), table.moves(0)
    for k in range(5):
        found = moves.values(points, k)
        if found is not None:
            np.testing.assert_array_equal(found, asked[:, k])
