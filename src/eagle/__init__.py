"""EAGLE explains single predictions of any model: which features, how much, and how sure.

explainer = eagle.Explainer(model, X_train)
explanation = explainer.explain(x)
"""

from eagle import methods, theory
from eagle.explain import Method
from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.plan import Plan
from eagle.space.background import Background
from eagle.types import EagleError, InputError, ModelError, ReplyError

__version__ = "0.1.0"

__all__ = [
    "Background",
    "EagleError",
    "Explainer",
    "Explanation",
    "InputError",
    "Method",
    "ModelError",
    "Plan",
    "ReplyError",
    "methods",
    "theory",
]
