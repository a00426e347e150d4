"""The scale on which answers are explained: as they are, or probabilities as log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from eagle._values.arrays import Array, Range
from eagle._values.checks import as_numbers
from eagle._values.text import finite, short_repr
from eagle.errors import InputError

MIN_CLIP: Final = 1e-12
"""The smallest clip: nearer to 1 a probability has too few digits for its log-odds."""

VOTES: Final = 0.005
"""The clip of models that may answer exactly 0 or 1, as forests do, and of unknown ones."""

CLIPS: Final = {
    **dict.fromkeys(
        (
            "Booster",
            "CatBoost",
            "CatBoostClassifier",
            "LGBMClassifier",
            "MLPClassifier",
            "XGBClassifier",
        ),
        1e-6,
    ),
    **dict.fromkeys(
        (
            "GradientBoostingClassifier",
            "HistGradientBoostingClassifier",
            "LinearDiscriminantAnalysis",
            "LogisticRegression",
            "LogisticRegressionCV",
        ),
        1e-12,
    ),
}
"""The clips of models whose probabilities come from a logistic function or a softmax, by the
precision of their answers."""


@final
@dataclass(frozen=True)
class Logit:
    """Log-odds of a class, log p/(1 − p); for a class against another, log p − log q.

    Probabilities nearer to 0 or 1 than `clip` are clipped: forests answer exactly 0 and 1, whose
    log-odds are infinite. The clip is fixed, so the log-odds of a row do not depend on others.
    """

    clip: float = VOTES

    def __post_init__(self) -> None:
        if not finite(self.clip) or not MIN_CLIP <= self.clip < 0.5:
            raise InputError(
                f"clip is a probability from {MIN_CLIP:g} to below ½, not {short_repr(self.clip)}"
            )
        object.__setattr__(self, "clip", float(self.clip))

    def of(self, p: Array) -> Array:
        """The log-odds of probabilities."""
        p = np.clip(p, self.clip, 1 - self.clip)
        return np.asarray(np.log(p) - np.log1p(-p))

    def against(self, p: Array, q: Array) -> Array:
        """The log-odds of one class against another, from both probabilities."""
        return np.asarray(np.log(np.maximum(p, self.clip)) - np.log(np.maximum(q, self.clip)))

    def back(self, log_odds: Any) -> Any:
        """The probabilities that have these log-odds."""
        given = as_numbers(log_odds, "log-odds")
        return 0.5 * (1 + np.tanh(0.5 * given))

    def count_clipped(self, p: Any) -> int:
        """How many probabilities are clipped."""
        p = np.asarray(p)
        return int(((p < self.clip) | (p > 1 - self.clip)).sum())

    def bounds(self, pair: bool) -> Range:
        """The least and the greatest possible log-odds."""
        most = -np.log(self.clip) if pair else np.log1p(-self.clip) - np.log(self.clip)
        return -float(most), float(most)


def softmax(logits: Array) -> Array:
    """The probabilities that have these logits, row by row."""
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def link_of(link: Any, model: Any) -> Logit | None:
    """What the caller asks for: None, "logit" with a clip that fits the model, or a `Logit`."""
    if link is None or isinstance(link, Logit):
        return link
    if not (isinstance(link, str) and link == "logit"):
        raise InputError(f"link is 'logit', eagle.Logit(clip=...) or None, not {short_repr(link)}")
    return Logit(CLIPS.get(type(answering(model)).__name__, VOTES))


def answering(model: Any) -> Any:
    """The estimator inside a bound method, a fitted search or a pipeline."""
    model = getattr(model, "__self__", model)
    inner = getattr(model, "best_estimator_", None)
    steps: Any = getattr(model, "steps", None)
    if inner is None and not steps:
        return model
    return answering(inner if inner is not None else steps[-1][1])
