"""Plots of explanations: functions of results, `ax=` in, Axes out. Nothing is shown on screen.

Only this package needs matplotlib, and only when something is drawn.
"""

from eagle.plot.bars import attribution
from eagle.plot.dots import comparison
from eagle.plot.lines import convergence
from eagle.plot.panels import methods
from eagle.plot.picture import image
from eagle.plot.words import text

__all__ = ["attribution", "comparison", "convergence", "image", "methods", "text"]
