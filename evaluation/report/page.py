"""Pages in Markdown, and their figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTS = 130
"""Dots per inch of figures."""


@final
@dataclass
class Page:
    """A title, then blocks of Markdown, then the command that makes it."""

    name: str
    title: str
    blocks: list[str] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)

    def say(self, text: str) -> None:
        self.blocks.append(text)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
        lines.insert(1, "|" + "---|" * len(head))
        self.blocks.append("\n".join(lines))

    def columns(
        self, columns: Sequence[tuple[str, str, Sequence[str]]], metrics: Sequence[str]
    ) -> None:
        """A table of the requested columns, each (metric, head, cells), if there are any."""
        shown = [
            (head, cells) for metric, head, cells in columns if not metric or metric in metrics
        ]
        self.table([head for head, _ in shown], list(zip(*(c for _, c in shown), strict=True)))

    def draw(self, name: str, figure: Figure, about: str) -> None:
        self.figures[name] = figure
        self.blocks.append(f"![{about}]({name}.png)\n\n*{about}*")

    def write(self, folder: Path) -> Path:
        """Write the page and its figures, and return the page's path."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in self.figures.items():
            figure.savefig(folder / f"{name}.png", dpi=DOTS, metadata={"Software": None})
        path = folder / f"{self.name}.md"
        path.write_text("\n\n".join([f"# {self.title}", *self.blocks]) + "\n", encoding="utf-8")
        return path


def number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None or not np.isfinite(value) else f"{value:.{digits}f}"


def spread(value: float, error: float, digits: int = 3) -> str:
    """A value ± its standard error."""
    if not np.isfinite(value):
        return "–"
    return number(value, digits) + (f" ± {error:.{digits}f}" if np.isfinite(error) else "")


def bold(text: str, if_so: bool) -> str:
    return f"**{text}**" if if_so else text


def listed(names: Sequence[str]) -> str:
    """A list of names for a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
