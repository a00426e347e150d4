"""What every function that draws has around it: fonts of other scripts, and no half figure left."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

FALLBACKS: Final = (
    "DejaVu Sans",
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "WenQuanYi Zen Hei"),
    *("Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Bengali"),
    *("Noto Sans Tamil", "Noto Sans Telugu", "Noto Sans Thai", "Noto Sans Ethiopic"),
    *("Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "Nirmala UI", "Leelawadee UI", "Ebrima"),
    *("Songti SC", "Apple SD Gothic Neo", "Kohinoor Devanagari", "Thonburi", "Geeza Pro"),
)
"""Fonts of Linux, Windows and macOS that have the scripts which matplotlib's own font lacks. All
but WenQuanYi have a bold weight: matplotlib logs that one has none, also where it is not needed."""


def plot_function(draw: Callable[P, R]) -> Callable[P, R]:
    """The function, which takes characters that the usual fonts lack from `FALLBACKS`, as far as
    they are installed, and closes the figures that it opened if it fails."""

    @wraps(draw)
    def draw_on(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            import matplotlib as mpl
        except ImportError:
            return draw(*args, **kwargs)  # it says itself what is missing
        before = _open_figures()
        try:
            with mpl.rc_context({"font.family": _families()}):
                return draw(*args, **kwargs)
        except BaseException:
            for number in _open_figures() - before:  # a notebook would display it
                sys.modules["matplotlib.pyplot"].close(number)
            raise

    return draw_on


def _families() -> list[str]:
    """The usual families of fonts, then those of `FALLBACKS` that are installed here."""
    import matplotlib as mpl
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return [*mpl.rcParams["font.family"], *(name for name in FALLBACKS if name in installed)]


def _open_figures() -> set[int]:
    """The numbers of the figures that are open."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set() if pyplot is None else set(pyplot.get_fignums())
