"""Backgrounds in files: impossible ones are refused, unusual ones are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
from eagle.files import sealed
from eagle.table.background import Background
from tables import TABLES, X


def background(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(Background.of(TABLES[name]).to_dict()))
    return data


NUMBERS: list[dict[str, Any]] = [
    {"scale": -5},
    {"scale": "1"},
    {"scale": True},
    {"mean": []},
    {"low": 1.0, "high": 0.0},
    {"low": 0.0},
    {"high": 0.0},
    {"shares": [0.5, -0.25, 0.25, 0.5, 0.0]},
    {"shares": [0.5, 0.25, 0.25, 0.5, 0.0]},
    {"shares": [0.5, 0.5, 0.0]},
    {"shares": [0.25, 0.25, 0.25, 0.25, False]},
    {"edges": [0.5, -0.5, 0.0]},
    {"edges": [0.0, 0.0, 0.0]},
    {"edges": [0.0]},
    {"edges": [-9.0, -8.0, -7.0]},
    {"edges": [10**400, 10**401, 10**402]},
    {"values": []},
    {"values": [[0.0], [0.1], [0.2], [0.3], [0.4]]},
    {"values": [[None], [None], [None], [None], [None]]},
    {"values": [[], [], [], [], [None]]},
    {"levels": ["a", "b"]},
    {"levels": [[1], [2]]},
    {"integer": True},
    {"integer": 1},
    {"dtype": "<f8"},
    {"dtype": "<i4"},
    {"dtype": "<f2"},
    {"dtype": "f4,f4"},
    {"frozen": True},
    {"frozen": None},
]
CATEGORIES: list[dict[str, Any]] = [
    {"levels": ["no", "no", "yes"]},
    {"levels": ["no", "perhaps", 3]},
    {"levels": ["no", "perhaps", None]},
    {"levels": ["no", "yes"]},
    {"levels": None},
    {"values": [[1.0], [0.0], [2.0], [None]]},
    {"scale": 1.0},
    {"edges": [1.0]},
    {"shares": [0.5, 0.25, 0.125, 0.125]},
]
TEMPLATES: list[tuple[str, dict[str, Any]]] = [
    ("array", {"width": 10**12}),
    ("array", {"width": 3}),
    ("array", {"names": ["a", "b", "c", "a"]}),
    ("array", {"names": ["a", "b"]}),
    ("array", {"names": [None] * 4}),
    ("array", {"dtype": "<M8[s]"}),
    ("array", {"dtype": "f8,f8"}),
    ("array", {"dtype": "<i8"}),
    ("array", {"dtype": "|b1"}),
    ("text", {"dtype": "<U999999999"}),
    ("array", {"holes": ["NaN"]}),
    ("array", {"holes": ["nothing"] * 4}),
    ("array", {"whole": [9]}),
    ("array", {"whole": [0]}),
    ("array", {"flags": "all"}),
    ("array", {"table": "os.system"}),
    ("array", {"table": "sparse"}),
    ("sparse", {"type": "dok_matrix"}),
    ("sparse", {"dtype": "<U3"}),
    ("pandas", {"dtypes": []}),
    ("pandas", {"dtypes": [{"dtype": "no such thing"}] * 5}),
    ("pandas", {"dtypes": [{"dtype": "datetime64[ns]"}] * 5}),
    ("pandas", {"dtypes": [{"dtype": "int8"}] * 5}),
    ("polars", {"dtypes": [{"dtype": "Object", "levels": None}] * 3}),
    ("polars", {"dtypes": [{"dtype": "Enum", "levels": ["u", "u"]}] * 3}),
    ("polars", {"names": [1, 2, 3]}),
]


WRONG: tuple[Any, ...] = ([], {}, None, [1, 2, 3, 4])


@pytest.mark.parametrize("schema", [1, 2])
@pytest.mark.parametrize(
    ("name", "part", "spoil"),
    [
        *(("array", "column", spoil) for spoil in NUMBERS),
        *(("text", "column", spoil) for spoil in CATEGORIES),
        *((name, "template", spoil) for name, spoil in TEMPLATES),
        *(("array", "all", {"rows": rows}) for rows in (-1, 0.5, None)),
        *(("array", "all", {"columns": wrong}) for wrong in WRONG),
    ],
)
def test_what_no_background_can_be(
    name: str, part: str, spoil: dict[str, Any], schema: int, tmp_path: Path
) -> None:
    data, path = background(name), tmp_path / "b.json"
    {"column": data["columns"][0], "template": data["template"], "all": data}[part].update(spoil)
    if schema == 1:  # without a checksum
        data = {**data, "schema": 1}
        del data["sha256"]
    else:
        data = sealed.sealed(data)
    path.write_text(json.dumps(data))
    with pytest.raises(eagle.InputError, match=r"b\.json is not a background saved by this"):
        Background.load(path)


def test_every_column_frozen_is_no_background() -> None:
    data = background("array")
    bare = Background.of(X, freeze=[0]).to_dict()["columns"][0]
    assert Background.from_dict(sealed.sealed({**data, "columns": [bare, *data["columns"][1:]]}))
    with pytest.raises(eagle.InputError, match="every column is frozen"):
        Background.from_dict(sealed.sealed({**data, "columns": [bare] * 4}))


@pytest.mark.parametrize(
    "table",
    [
        np.where(X > 1, np.nan, X),
        np.full((20, 2), np.nan),
        np.ones((5, 3)),
        X[:1],
        np.rint(X * 4).astype(np.int64),
        X * 1e100,
        X * 1e-100,
    ],
)
def test_backgrounds_that_are_odd_but_true(table: Any, tmp_path: Path) -> None:
    bounds = {0: (-0.5, 0.5), 1: (9.0, None)}
    for made in (Background.of(table), Background.of(table, bounds=bounds, scales={1: 2.0})):
        made.save(tmp_path / "b.json")
        assert Background.load(tmp_path / "b.json").to_dict() == made.to_dict()
    around = Background.around(X[0], [1.0, 0.0, 2.0, 3.0], bounds={0: (None, 9.0)})
    around.save(tmp_path / "b.json")
    assert Background.load(tmp_path / "b.json").to_dict() == around.to_dict()


def test_bins_of_one_value_are_kept(tmp_path: Path) -> None:
    flags = np.array([[0.0, 1], [1, 2], [1, 3], [1, 4], [1, 5], [1, 6]] * 9)
    Background.of(flags).save(tmp_path / "b.json")
    back = Background.load(tmp_path / "b.json")
    for view in ("binned", "continuous"):
        one, two = (
            eagle.Explainer(lambda q: q[:, 0], ground, view=view).explain([0.5, 2])
            for ground in (Background.of(flags), back)
        )
        assert one.conditions == two.conditions
        assert np.array_equal(one.scores, two.scores)
    data = Background.of(flags).to_dict()
    for single in ([0.0], [0.5, 1.0], [1.0, 0.0], "x"):
        data["columns"][0]["single"] = single
        with pytest.raises(eagle.InputError, match="is not a background saved by this"):
            Background.from_dict(sealed.sealed(data))
