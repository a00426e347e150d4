"""Two scales of colours that no reader can confuse, and the same colours in every output."""

from __future__ import annotations

from importlib import resources
from typing import Any

import numpy as np
import pytest

from eagle.display import colours

EYES: dict[str, Any] = {
    "usual": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
"""Machado, Oliveira & Fernandes (2009), for linear light."""

LIGHT = ((colours.UP, colours.DOWN), colours.VALUES, colours.LEVELS, "#ffffff")
DARK = (
    (colours.UP_ON_DARK, colours.DOWN_ON_DARK),
    colours.VALUES_ON_DARK,
    colours.LEVELS_ON_DARK,
    "#15181c",
)


def lab(colour: str, eye: str) -> Any:
    """CIELAB of a colour as an eye sees it."""
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    light = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(EYES[eye]) @ light, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x = np.array(to_xyz) @ seen / np.array([0.9505, 1, 1.089])
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(one: str, other: str, eye: str) -> float:
    return float(np.linalg.norm(lab(one, eye) - lab(other, eye)))


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_which_way_and_how_large_cannot_be_confused(palette: Any, eye: str) -> None:
    ways, values, levels, ground = palette
    assert apart(ways[0], ways[1], eye) > 40
    assert min(apart(way, value, eye) for way in ways for value in values) > 12
    assert min(apart(way, level, eye) for way in ways for level in levels) > 8
    assert apart(values[0], values[-1], eye) > 50
    assert min(apart(ground, one, eye) for one in (*ways, *values, *levels)) > 18


@pytest.mark.parametrize("values", [colours.VALUES, colours.VALUES_ON_DARK])
def test_larger_values_are_lighter_in_black_and_white(values: tuple[str, ...]) -> None:
    light = [lab(value, "usual")[0] for value in values]
    assert min(np.diff(light)) > 5


def test_pages_have_these_colours() -> None:
    page = (resources.files("eagle.web") / "static" / "style.css").read_text("utf-8")
    plain = page.replace(": ", ":").lower()
    for dark in (False, True):
        for one in colours.variables(dark).rstrip(";").split(";"):
            name, value = one.split(":")
            if name != "--flat":
                assert f"{name}:{value};".lower() in plain
