"""Pictures of explanations: functions of results, `ax=` in, Axes out, and nothing is shown.

The one place that needs matplotlib, and only when something is drawn.
"""

from eagle.plot.bars import attribution
from eagle.plot.dots import comparison
from eagle.plot.lines import convergence
from eagle.plot.panels import methods
from eagle.plot.picture import image
from eagle.plot.words import text

__all__ = ["attribution", "comparison", "convergence", "image", "methods", "text"]
