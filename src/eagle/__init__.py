"""EAGLE explains single predictions of any model: which features, how much, and how sure.

explainer = eagle.Explainer(model, X_train)
explanation = explainer.explain(x)
"""

from typing import TYPE_CHECKING, Any

from eagle import files, methods, metrics, models, theory, until
from eagle.comparison import Comparison, compare
from eagle.engine.method import Method
from eagle.engine.plan import Plan
from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.files.load import load
from eagle.link import Logit
from eagle.quote import Quote
from eagle.source.images import Images
from eagle.source.parts import Parts
from eagle.source.prompt import Prompt
from eagle.source.series import Series
from eagle.source.texts import Texts
from eagle.survey.survey import Survey
from eagle.table.background import Background
from eagle.types import (
    AnswerError,
    EagleError,
    InputError,
    LimitError,
    MissingExtraError,
    ModelError,
    ReplyError,
)

if TYPE_CHECKING:
    from eagle import dataset, notebook, plot
    from eagle.reports import report
    from eagle.web.server import serve

__version__ = "0.2.0"

__all__ = [
    "AnswerError",
    "Background",
    "Comparison",
    "EagleError",
    "Explainer",
    "Explanation",
    "Explanations",
    "Images",
    "InputError",
    "LimitError",
    "Logit",
    "Method",
    "MissingExtraError",
    "ModelError",
    "Parts",
    "Plan",
    "Prompt",
    "Quote",
    "ReplyError",
    "Series",
    "Survey",
    "Texts",
    "compare",
    "dataset",
    "files",
    "load",
    "methods",
    "metrics",
    "models",
    "notebook",
    "plot",
    "report",
    "serve",
    "theory",
    "until",
]


def __dir__() -> list[str]:
    """The public names, without helpers of this file."""
    return sorted([*__all__, "__version__"])


def __getattr__(name: str) -> Any:
    """Import some names only when they are first used."""
    if name == "serve":
        from eagle.web.server import serve

        return serve
    if name in ("dataset", "notebook", "plot"):
        from importlib import import_module

        return import_module(f"eagle.{name}")
    if name == "report":
        from eagle.reports import report

        return report
    raise AttributeError(f"module 'eagle' has no attribute {name!r}")
