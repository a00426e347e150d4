"""A view in a notebook."""

from __future__ import annotations

from typing import Any

from eagle.explainer import Explainer
from eagle.explanations import Explanations
from eagle.notebook.asking import asking
from eagle.surrogate.posterior import LEVEL, check_level
from eagle.survey.survey import Survey
from eagle.targets import Target
from eagle.types import MissingExtraError


def view(
    made_by: Explainer | Survey | Explanations,
    X: Any = None,
    *,
    row: int = 0,
    target: Target = None,
    level: float = LEVEL,
) -> Any:
    """A widget: pick a row, change its values, pick an output, and see the scores.

    `made_by` is an explainer or a survey, and X the rows to look at; or explanations, whose rows
    cannot be changed. Each look asks the model as `explain` does. The widget's `explanation` is
    the one that is shown. It needs `pip install 'eagle-xai[notebook]'`.
    """
    check_level(level)
    what = asking(made_by, X)
    try:
        from eagle.notebook.widget import View
    except ImportError:
        raise MissingExtraError("eagle.notebook.view", "anywidget", "notebook") from None
    return View(what, row, target, level)
