"""Plots of explanations: functions of results, `ax=` in, Axes out. Nothing is shown on screen.

Only this package needs matplotlib, and only when something is drawn.
"""

from eagle.plot.bars import attribution
from eagle.plot.decision import decision
from eagle.plot.differences import compare_groups
from eagle.plot.dots import compare_explanations
from eagle.plot.grid import heatmap
from eagle.plot.images import image
from eagle.plot.lines import convergence
from eagle.plot.means import importance
from eagle.plot.panels import compare_methods
from eagle.plot.prompts import prompt
from eagle.plot.scatter import dependence
from eagle.plot.series import series
from eagle.plot.strip import strip
from eagle.plot.swarm import beeswarm
from eagle.plot.texts import text
from eagle.plot.waterfall import waterfall

__all__ = [
    "attribution",
    "beeswarm",
    "compare_explanations",
    "compare_groups",
    "compare_methods",
    "convergence",
    "decision",
    "dependence",
    "heatmap",
    "image",
    "importance",
    "prompt",
    "series",
    "strip",
    "text",
    "waterfall",
]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)
