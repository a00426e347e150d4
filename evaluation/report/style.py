"""How the figures of reports look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from eagle.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: Final = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#7F3C8D",
    "#8C8C00",
    "#A0522D",
    "#4B6E8A",
    "#F0E442",
)
"""Okabe and Ito's colours, which the colour-blind can distinguish, and some more."""

MARKERS: Final = "osD^vP*Xh<>d"
STYLES: Final = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))


def figure(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Any]]:
    """A figure of rows and columns of panels, and the panels in reading order."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("a figure", "matplotlib", "bench") from None
    made = Figure(figsize=(width, height), layout="constrained")
    axes = made.subplots(rows, columns, squeeze=False).ravel().tolist()
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(color="0.9", linewidth=0.7)
        ax.set_axisbelow(True)
        ax.tick_params(labelsize="small")
    return made, axes


def shared_legend(made: Figure, ax: Any) -> None:
    """One legend for all panels, on the right."""
    handles, labels = ax.get_legend_handles_labels()
    made.legend(handles, labels, loc="outside right upper", frameon=False, fontsize="small")
