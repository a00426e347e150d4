"""Colours and what they mean, the same in every output, in print, and for colour-blind readers.

Two scales that cannot be confused: blue and vermillion say which way a score pushes, plum to pink
how large a value is. Levels have colours that neither scale has; grey is what has no sign, is not
sure, or is missing.
"""

from __future__ import annotations

from typing import Final

UP, DOWN = "#0072B2", "#D55E00"
"""Which way a score pushes: blue and vermillion of Okabe and Ito's palette."""

UP_ON_DARK, DOWN_ON_DARK = "#56B4E9", "#E69F00"
"""The same on a dark background."""

GREY: Final = "#777777"
"""For what is not sure, is missing, or has no sign."""

VALUES: Final = (
    *("#1f1226", "#3f1d3e", "#5e2956", "#7e346e"),
    *("#9b4785", "#b5619a", "#cf7aaf", "#e994c4"),
)
"""From low to high values: each is lighter than the one before, also in black and white."""

VALUES_ON_DARK: Final = (
    *("#8f4d96", "#a85fa3", "#c171b1", "#d589be"),
    *("#e7a4cd", "#f5bedb", "#fad7e9", "#fff0f7"),
)
"""The same on a dark background."""

LEVELS: Final = ("#117733", "#C774A5", "#4A2A78", "#8FB339", "#9FD3C0", "#5B1A1A")
"""Levels of a feature, and things that are compared; a seventh has the colour of the text."""

LEVELS_ON_DARK: Final = ("#3FA968", "#E29CC4", "#9F7FD0", "#B5D66A", "#C8EBDD", "#C06A6A")
"""The same on a dark background."""


def variables(dark: bool) -> str:
    """The colours as properties of a style sheet: up, down, flat, r0 to r7, l0 to l5."""
    up, down = (UP_ON_DARK, DOWN_ON_DARK) if dark else (UP, DOWN)
    named = {"up": up, "down": down, "flat": "#9a9a9a" if dark else GREY}
    named |= {f"r{k}": c for k, c in enumerate(VALUES_ON_DARK if dark else VALUES)}
    named |= {f"l{k}": c for k, c in enumerate(LEVELS_ON_DARK if dark else LEVELS)}
    return "".join(f"--{key}:{colour};" for key, colour in named.items())
