"""The result: which features pushed a prediction, how much, and how sure that is.

Its methods for files and screens only call `eagle.files` and `eagle.show`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from eagle.evidence import Asked as Asked  # this and the next were here in 0.1
from eagle.evidence import Bill as Bill
from eagle.evidence import Evidence
from eagle.link import Logit
from eagle.subject import Subject
from eagle.surrogate.fit import Fitted, Surrogate
from eagle.surrogate.posterior import LEVEL as LEVEL
from eagle.surrogate.posterior import Posterior, interval_columns
from eagle.targets import Target, answers_of, bounds_of, explained, refuse_pair, target_text
from eagle.ties import ranked
from eagle.types import NOTHING, Array, InputError, Need, integer, short, warn_renamed

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group

    from eagle.misfit import Misfit, Pair
    from eagle.show.sheet import Sheet


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """Scores of features for one output of a model near one instance, with their uncertainty.

    Examples:
        >>> explanation = eagle.Explainer(model, X).explain(X[0])
        >>> explanation.scores.shape, explanation.interval(0.9).shape, explanation.top(2)
        ((3,), (3, 2), ['x1', 'x0'])
        >>> frame = explanation.to_frame()  # also print(explanation), save(path), to_shap()

    For a line, a score is the coefficient of the feature. In the binned view a feature is 1
    while the row keeps the instance's bin or level, so its score is what *having* that value
    adds; in the continuous view it is the change per standard deviation. `data` are the instance's
    own values. `posterior` says how sure the scores are; it is None if the method does not know.
    Scores that are not `signed` only say how much a feature matters, not which way it pushes.
    `contrast` is the signed distance from the background mean, in each feature's units. If
    `surrogate` is None, the scores came from another package and cannot be fitted again. With a
    `link`, scores, intercept and predictions are log-odds. A `note` says what a reader should know
    about the file it was read from.
    """

    names: tuple[str, ...]
    conditions: tuple[str, ...]
    data: tuple[Any, ...]
    scores: Array
    posterior: Posterior | None
    signed: bool
    intercept: float
    prediction: float
    local_prediction: float
    target: Target
    outputs: tuple[Any, ...]
    task: str
    contrast: Array
    r2: float
    r2_held_out: float
    evidence: Evidence
    bill: Bill
    method: str
    surrogate: Surrogate | None
    seed: int
    subject: Subject | None = None
    link: Logit | None = None
    note: str = ""

    # -- how sure ---------------------------------------------------------------------------

    def interval(self, level: float = LEVEL, *, joint: bool = False) -> Array:
        """Credible intervals of the scores, shape (d, 2); `joint` holds for all at once."""
        return self._known.interval(level, joint=joint)

    def probability_sign(self) -> Array:
        """The probability that each coefficient has the sign of its score, shape (d,)."""
        if not self.signed:
            raise InputError(
                f"the scores of {self.method} have no sign: they say how much a feature matters, "
                "not which way it pushes"
            )
        return self._known.probability_sign()

    def probability_top(self, k: int) -> Array:
        """The probability that each feature is among the k strongest, shape (d,)."""
        return self._known.probability_top(k)

    @property
    def _known(self) -> Posterior:
        if self.posterior is None:
            raise InputError(
                f"{self.method} gives scores without intervals: eagle.methods.Bootstrapped(method) "
                "gives any planned method intervals from the same answers"
            )
        return self.posterior

    def shown(self, level: float = LEVEL) -> Array:
        """As `interval`, but NaN where there is none.

        Bounds from other packages are returned at their own level.
        """
        return np.stack(self.columns(level)[:2], axis=1)

    def columns(self, level: float = LEVEL) -> tuple[Array, Array, Array, Array]:
        """Low, high, standard deviation and P(sign), shape (d,) each; NaN where not known."""
        return interval_columns(self.posterior, self.signed, len(self.scores), level)

    @property
    def fit(self) -> Fitted:
        """The local surrogate itself, fitted again from the evidence."""
        return self._fitted(self.target)

    def _fitted(self, target: Target, rows: int | None = None) -> Fitted:
        """The surrogate fitted to the first `rows` answers about a target, or to all."""
        if self.surrogate is None:
            raise InputError(
                f"{self.method} cannot be fitted again from its answers: explain anew instead"
            )
        y = explained(self.evidence.answers, self.outputs, target, self.link)
        bounds = bounds_of(target, self.evidence.answers, self.task, self.link)
        return self.surrogate.on(self.evidence.rows(self.surrogate, rows)).fit(y[:rows], bounds)

    def grown(self, rows: int) -> Fitted:
        """The fit to the first `rows` rows alone."""
        return self._fitted(self.target, rows)

    # -- what the line misses: see eagle.misfit -------------------------------------------------

    @cached_property
    def misfit(self) -> Misfit | None:
        """How much of the local variation the line explains, and what it misses; None if the
        surrogate is not a line."""
        from eagle.misfit import misfit

        return misfit(self)

    def interactions(self, k: int = 5) -> tuple[Pair, ...]:
        """The k pairs of features that act together most, with their share of the local variation
        and a p-value. They have no intervals, since none have been shown to cover."""
        from eagle.misfit import interactions

        return interactions(self, integer(k, "k", 1))

    # -- other views of the same answers ------------------------------------------------------

    @property
    def _needs(self) -> frozenset[Need]:
        return NOTHING if self.surrogate is None else self.surrogate.needs

    def about(self, target: Target) -> Explanation:
        """The explanation of another output, or of one against another, from the same answers."""
        refuse_pair(self.method, self._needs, target)
        y = answers_of(self.evidence.answers, self.outputs, target, self.link)
        return replace(self, **described(self._fitted(target), y), target=target, note="")

    def without(self) -> Array:
        """The probability without the score of each feature, shape (d,).

        With `link="logit"`, of one class, where features match the instance or do not.
        """
        matches = bool((self.evidence.features[0] == 1).all())
        if self.link is None or isinstance(self.target, tuple) or not (self.signed and matches):
            raise InputError(
                "what is left without a feature is known with link='logit', of one class, where "
                "features match the instance or do not: the binned view, or parts"
            )
        return np.asarray(self.link.back(self.prediction - self.scores))

    @property
    def target_name(self) -> str:
        return target_text(self.target)

    def order(self) -> NDArray[np.intp]:
        """The features by decreasing size of their score; near-ties stay in their own order."""
        return ranked(np.abs(self.scores))

    def top(self, k: int) -> list[str]:
        """The names of the k features with the largest scores in size."""
        if k < 1:
            raise InputError(f"k must be at least 1, not {k!r}")
        return [self.names[j] for j in self.order()[:k]]

    def as_list(self) -> list[tuple[str, float]]:
        """(condition, score) pairs, strongest first."""
        return [(self.conditions[j], float(self.scores[j])) for j in self.order()]

    @property
    def values(self) -> tuple[Any, ...]:
        """The old name of `data`."""
        warn_renamed("Explanation")
        return self.data

    def __repr__(self) -> str:
        best = ", ".join(f"{self.names[j]} {self.scores[j]:+.3g}" for j in self.order()[:3])
        more = ", …" if len(self.names) > 3 else ""
        said = "" if np.isnan(self.prediction) else f" = {self.prediction:.4g}"
        return short(f"<Explanation of {self.target_name}{said}: {best}{more}>", 200)

    # -- files: see eagle.files -----------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a JSON file: versioned, with a checksum, and no code in it."""
        from eagle.files import explanations

        explanations.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Explanation:
        """Read what `save` wrote. Nothing in the file is ever run."""
        from eagle.files import explanations

        return explanations.load(path)

    def to_json(self, indent: int | None = None) -> str:
        """What `save` writes, as a text."""
        from eagle.files import explanations

        return explanations.to_json(self, indent)

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        """The explanation that `to_json` wrote."""
        from eagle.files import explanations

        return explanations.from_json(text)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, and its checksum."""
        from eagle.files import explanations

        return explanations.to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Explanation:
        """The explanation that `to_dict` wrote, if its scores follow from its evidence."""
        from eagle.files import explanations

        return explanations.from_dict(data)

    # -- screens: see eagle.show ----------------------------------------------------------------

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that a reader should know before trusting the scores."""
        from eagle.show.warnings import warnings

        return warnings(self)

    @property
    def title(self) -> str:
        """What is explained, as a question."""
        from eagle.show.sheet import title

        return title(self)

    def sheet(self, level: float = LEVEL) -> Sheet:
        """The content that text, HTML and rich show."""
        from eagle.show.sheet import sheet

        return sheet(self, level)

    def __str__(self) -> str:
        from eagle.show import text

        return text.explanation(self)

    def __rich__(self) -> Group:
        from eagle.show import console

        return console.explanation(self)

    def _repr_html_(self) -> str:
        from eagle.show import html

        return html.explanation(self)

    def to_frame(self, level: float = LEVEL) -> pd.DataFrame:
        """A tidy table: one row a feature, in the features' own order.

        With a link, `odds` is what a score multiplies the odds by.
        """
        from eagle.show import export

        return export.to_frame(self, level)

    def to_shap(self, level: float = LEVEL, *, base: Any = None) -> Any:
        """A `shap.Explanation`: bars that add up from a mean prediction to the prediction.

        Each feature has a bar: its score; in the continuous view, its slope times the distance from
        the background's mean. Two more bars join the line to the model's own numbers: "where the
        line starts" leads from the base to the line without these values, and "what the line
        misses" from the line's value to the prediction. So a waterfall ends at the prediction.

        `base` is the mean prediction to start from, which shap writes as E[f(X)]: the model's
        answers to the background, such as `model.predict_proba(X)`, or a number in the units of
        the scores. The background is not asked for it: by default the base is the mean answer in
        the neighbourhood, over the rows asked here, each with the weight that it has in the fit.
        """
        from eagle.show import export

        return export.to_shap(self, level, base)


def described(fit: Fitted, y: Array) -> dict[str, Any]:
    """The fields of an explanation that come from a fit; row 0 is the instance."""
    return {
        "scores": fit.scores,
        "posterior": fit.posterior,
        "signed": fit.signed,
        "intercept": fit.intercept,
        "prediction": float(y[0]),
        "local_prediction": fit.local,
        "r2": fit.r2,
        "r2_held_out": fit.r2_held_out,
    }
