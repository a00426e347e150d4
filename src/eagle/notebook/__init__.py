"""Explanations in a notebook: pick a row, change its values, and see what the scores become.

    eagle.notebook.view(explainer, X)
    eagle.notebook.view(survey, X)
    eagle.notebook.view(explanations)

Where widgets do not run, as in an exported page or a viewer, the first explanation stands there as
plain HTML.
"""

from eagle.notebook.view import view

__all__ = ["view"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)
