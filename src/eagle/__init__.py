"""EAGLE explains single predictions of any model: which features, how much, and how sure.

explainer = eagle.Explainer(model, X_train)
explanation = explainer.explain(x)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eagle import (
    contracts,
    designs,
    kernels,
    methods,
    metrics,
    models,
    spaces,
    surrogates,
    theory,
    until,
)
from eagle._engine.method import Method
from eagle._engine.plan import Plan
from eagle._sources.images import Images
from eagle._sources.parts import Parts
from eagle._sources.series import Series
from eagle._sources.tables import Table
from eagle._sources.texts import Texts
from eagle._tables.background import Background
from eagle._values.link import Logit
from eagle.comparison import Comparison, compare_methods
from eagle.cost import CostEstimate
from eagle.errors import (
    AnswerError,
    EagleError,
    InputError,
    LimitError,
    MissingExtraError,
    ModelError,
    ReplyError,
)
from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.limit import Limit
from eagle.saved import load, verify
from eagle.shapley.survey import ShapleySurvey
from eagle.survey.survey import Survey

if TYPE_CHECKING:
    from eagle import dataset, language, peers, plot
    from eagle.reports import report
    from eagle.web.server import serve

__version__ = "0.2.0"

LAZY = {"report": "eagle.reports", "serve": "eagle.web.server"}
"""Functions that are imported when they are first used, and where they are."""

__all__ = [
    "AnswerError",
    "Background",
    "Comparison",
    "CostEstimate",
    "EagleError",
    "Explainer",
    "Explanation",
    "Explanations",
    "Images",
    "InputError",
    "Limit",
    "LimitError",
    "Logit",
    "Method",
    "MissingExtraError",
    "ModelError",
    "Parts",
    "Plan",
    "ReplyError",
    "Series",
    "ShapleySurvey",
    "Survey",
    "Table",
    "Texts",
    "compare_methods",
    "contracts",
    "dataset",
    "designs",
    "kernels",
    "language",
    "load",
    "methods",
    "metrics",
    "models",
    "peers",
    "plot",
    "report",
    "serve",
    "spaces",
    "surrogates",
    "theory",
    "until",
    "verify",
]


def __dir__() -> list[str]:
    """The public names, without helpers of this file."""
    return sorted([*__all__, "__version__"])


def __getattr__(name: str) -> Any:
    """Import some names only when they are first used."""
    if name in ("dataset", "language", "peers", "plot"):
        return import_module(f"eagle.{name}")
    if name in LAZY:
        return getattr(import_module(LAZY[name]), name)
    raise AttributeError(f"module 'eagle' has no attribute {name!r}")
