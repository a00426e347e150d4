"""The result: which features pushed a prediction, how much, and how sure that is.

Its methods for files and screens only call `eagle.io`, `eagle.saved` and `eagle.display`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.evidence import Asked as Asked  # this and the next were here in 0.1
from eagle._engine.evidence import Evidence
from eagle._tables.background import NOT_IN_DATA
from eagle._values import lack_of_fit as missed
from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.difference import Difference, refuse_pair_of
from eagle._values.lack_of_fit import LackOfFit, Pair
from eagle._values.link import Logit
from eagle._values.posterior import LEVEL as LEVEL
from eagle._values.posterior import Posterior, are_sure, interval_columns, top_set_share
from eagle._values.subject import Subject, plain_subject
from eagle._values.targets import (
    Target,
    answers_of,
    bounds_of,
    explained_answers,
    own_target,
    refuse_pair,
    target_text,
)
from eagle._values.text import short
from eagle._values.ties import rank
from eagle.contracts import NOTHING, Need
from eagle.cost import Cost as Cost
from eagle.display import export, html, sheet, text, warnings
from eagle.display.sheet import Sheet
from eagle.errors import InputError, OperandError
from eagle.io import container
from eagle.io.classes import CLASSES
from eagle.io.container import Key
from eagle.io.values import Saved, values_of
from eagle.surrogates.fit import Fitted, Surrogate
from eagle.surrogates.saved import plain_posterior, plain_surrogate

if TYPE_CHECKING:
    import pandas as pd


SHAPLEY: Final = "Shapley values"
"""The method whose scores add up from the base value, the intercept, to the prediction."""


@final
@dataclass(frozen=True, eq=False)
class Explanation(Saved):
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
    about the file it was read from. With a `difference` all numbers are those of two models'
    answers, one less the other. `slopes` says of which features the score is a slope, the
    change per step of a number; () stands for none.
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
    cost: Cost
    method: str
    surrogate: Surrogate | None
    seed: int
    subject: Subject | None = None
    link: Logit | None = None
    note: str = ""
    slopes: tuple[bool, ...] = ()
    difference: Difference | None = None

    @property
    def additive(self) -> bool:
        """Whether intercept and scores add up to the prediction: then the intercept is the base
        value, the mean answer of a background, and a score is a share of the distance from it."""
        return self.method == SHAPLEY

    # -- how sure ---------------------------------------------------------------------------

    def interval(self, level: float = LEVEL, *, joint: bool = False) -> Array:
        """Credible intervals of the scores, shape (d, 2); `joint` holds for all at once."""
        return self._posterior.interval(level, joint=joint)

    def probability_sign(self) -> Array:
        """The probability that each coefficient has the sign of its score, shape (d,)."""
        if not self.signed:
            raise InputError(
                f"the scores of {self.method} have no sign: they say how much a feature matters, "
                "not which way it pushes"
            )
        return self._posterior.probability_sign()

    def probability_top(self, k: int) -> Array:
        """The probability that each feature is among the k strongest, shape (d,)."""
        return self._posterior.probability_top(k)

    def probability_top_set(self, k: int) -> float:
        """The probability that the k features of `top(k)` are the k strongest, in any order.

        It is taken from the joint distribution of the scores: at .95 or more it certifies the set.
        """
        return top_set_share(self._posterior, self.order()[: integer(k, "k", 1)])

    @property
    def _posterior(self) -> Posterior:
        if self.posterior is None:
            raise InputError(
                f"{self.method} gives scores without intervals: eagle.peers.with_bootstrap(method) "
                "gives intervals to any method that plans its rows before it asks"
            )
        return self.posterior

    def interval_or_nan(self, level: float = LEVEL) -> Array:
        """As `interval`, but NaN where there is none.

        Bounds from other packages are returned at their own level.
        """
        return np.stack(self.columns(level)[:2], axis=1)

    def columns(self, level: float = LEVEL) -> tuple[Array, Array, Array, Array]:
        """Low, high, standard deviation and P(sign), shape (d,) each; NaN where not known."""
        return interval_columns(self.posterior, self.signed, len(self.scores), level)

    def sure(self, level: float = LEVEL) -> NDArray[np.bool_]:
        """Which scores surely have their sign, shape (d,): the interval at this level excludes 0,
        and P(sign) is at least the level. Where no interval is known, none is sure."""
        low, high, _, sign = self.columns(level)
        return are_sure(low, high, sign, level)

    def doubtful(self, level: float = LEVEL) -> NDArray[np.bool_]:
        """Which scores have an interval and are not sure, shape (d,)."""
        return np.asarray(~np.isnan(self.interval_or_nan(level)[:, 0]) & ~self.sure(level))

    @property
    def fit(self) -> Fitted:
        """The local surrogate itself, fitted again from the evidence."""
        return self._fit_to(self.target)

    def _fit_to(self, target: Target, rows: int | None = None) -> Fitted:
        """The surrogate fitted to the first `rows` answers about a target, or to all."""
        if self.surrogate is None:
            raise InputError(
                f"{self.method} cannot be fitted again from its answers: explain anew instead"
            )
        y = explained_answers(self.evidence.answers, self.outputs, target, self.link)
        bounds = bounds_of(target, self.evidence.answers, self.task, self.link)
        return self.surrogate.on(self.evidence.rows(self.surrogate, rows)).fit(y[:rows], bounds)

    def fit_to_first(self, rows: int) -> Fitted:
        """The fit to the first `rows` rows alone."""
        return self._fit_to(self.target, integer(rows, "rows", 1))

    # -- what the line misses: see eagle._values.lack_of_fit --------------------------------------

    @cached_property
    def lack_of_fit(self) -> LackOfFit | None:
        """How much of the local variation the line explains, and what it misses; None if the
        surrogate is not a line."""
        return missed.lack_of_fit(self)

    def interactions(self, k: int = 5) -> tuple[Pair, ...]:
        """The k pairs of features that act together most, with their share of the local variation
        and a p-value. They have no intervals, since none have been shown to cover."""
        return missed.interactions(self, integer(k, "k", 1))

    # -- other views of the same answers ------------------------------------------------------

    @property
    def _needs(self) -> frozenset[Need]:
        return NOTHING if self.surrogate is None else self.surrogate.needs

    def about(self, target: Target) -> Explanation:
        """The explanation of another output, or of one against another, from the same answers."""
        refuse_pair(self.method, self._needs, target)
        refuse_pair_of(self.difference, target)
        y = answers_of(self.evidence.answers, self.outputs, target, self.link)
        own = own_target(target, self.outputs)
        return replace(self, **fields_of_fit(self._fit_to(target), y), target=own, note="")

    def without(self) -> Array:
        """The probability without the score of each feature, shape (d,).

        With `link="logit"`, of one class, where features match the instance or do not.
        """
        if self.difference is not None:
            raise InputError(
                "a difference of two models has no probability to take a score from: ask the "
                "explanation of either model"
            )
        matches = bool((self.evidence.features[0] == 1).all())
        if self.link is None or isinstance(self.target, tuple) or not (self.signed and matches):
            raise InputError(
                "what is left without a feature is known with link='logit', of one class, where "
                "features match the instance or do not: the binned view, or parts"
            )
        return np.asarray(self.link.back(self.prediction - self.scores))

    @property
    def target_name(self) -> str:
        return target_text(self.target, self.difference)

    def order(self) -> NDArray[np.intp]:
        """The features by decreasing size of their score; near-ties stay in their own order."""
        return rank(np.abs(self.scores))

    def top(self, k: int) -> list[str]:
        """The names of the k features with the largest scores in size."""
        return [self.names[j] for j in self.order()[: integer(k, "k", 1)]]

    def as_list(self) -> list[tuple[str, float]]:
        """(condition, score) pairs, strongest first."""
        return [(self.conditions[j], float(self.scores[j])) for j in self.order()]

    def __sub__(self, other: object) -> Explanation:
        """Refused: the rows of single explanations are their own."""
        raise OperandError(
            "explanations are not subtracted one from another: what changed between two models is "
            "explained from one survey, by (survey.requery(new_model) - survey).explain(x)"
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The features in few words: by name, but by what one step is where a score is a slope, and
        by the condition where the data never had the value."""
        slopes = self.slopes or (False,) * len(self.names)
        each = zip(self.names, self.conditions, slopes, strict=True)
        return tuple(c if slope or c.endswith(NOT_IN_DATA) else name for name, c, slope in each)

    def __repr__(self) -> str:
        named = self.labels
        best = ", ".join(f"{named[j]} {self.scores[j]:+.3g}" for j in self.order()[:3])
        more = ", …" if len(self.names) > 3 else ""
        said = "" if np.isnan(self.prediction) else f" = {self.prediction:.4g}"
        return short(f"<Explanation of {self.target_name}{said}: {best}{more}>", 200)

    # -- files: see eagle.io and eagle.saved ----------------------------------------------------

    def save(self, path: str | PathLike[str], *, key: Key = None) -> None:
        """Write everything to a JSON file, under a digest, or with a `key` under an HMAC.

        The file holds no code: reading it runs none.
        """
        container.write(path, self.to_dict(key=key))

    @classmethod
    def load(cls, path: str | PathLike[str], *, key: Key = None) -> Explanation:
        """Read what `save` wrote. Nothing in the file is ever run."""
        made: Explanation = container.load(path, CLASSES, key, "explanation")
        return made

    def to_dict(self, *, key: Key = None) -> dict[str, Any]:
        """What `save` writes, as plain data.

        What is read again is under "saved"; all else says the same for people and other programs.
        """
        return container.dump("explanation", self, self._words(), key)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, key: Key = None) -> Explanation:
        """The explanation that `to_dict` wrote."""
        made: Explanation = container.value_in(data, CLASSES, key, "explanation")
        return made

    def _words(self) -> dict[str, Any]:
        """What a file says for people: numbers that are not known are null."""
        null, plain = container.null, container.plain_json
        low, high, _, _ = self.columns(LEVEL)
        slopes = self.slopes or (False,) * len(self.names)
        return {
            "method": self.method,
            "seed": self.seed,
            "task": self.task,
            "outputs": [plain(o) for o in self.outputs],
            "target": plain(self.target),
            **({} if self.link is None else {"link": {"logit": self.link.clip}}),
            **({} if self.difference is None else {"difference": str(self.difference)}),
            "prediction": null(self.prediction),
            "local_prediction": null(self.local_prediction),
            "intercept": null(self.intercept),
            "signed": bool(self.signed),
            "r2": null(self.r2),
            "r2_held_out": null(self.r2_held_out),
            "features": [
                {
                    "name": self.names[j],
                    "condition": self.conditions[j],
                    "value": plain(self.data[j]),
                    "score": float(self.scores[j]),
                    "low": null(float(low[j])),
                    "high": null(float(high[j])),
                    "contrast": null(float(self.contrast[j])),
                    **({"slope": True} if slopes[j] else {}),
                }
                for j in range(len(self.names))
            ],
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "cost": asdict(self.cost),
        }

    def to_saved(self) -> dict[str, Any]:
        """What a file keeps: plain values, also of what was made by classes of one's own."""
        e = self.evidence
        rows = Asked(e.points, e.features, e.weight, e.answers, e.repeats, e.moves, e.law)
        return {
            **values_of(self),
            "evidence": rows,
            "surrogate": plain_surrogate(self.surrogate),
            "posterior": plain_posterior(self.posterior),
            "subject": plain_subject(self.subject),
        }

    @classmethod
    def of_saved(cls, **kept: Any) -> Explanation:
        """What `to_saved` gave, if its parts fit one another."""
        made = cls(**kept)
        e, d, n = made.evidence, len(made.names), len(made.evidence.weight)
        features = (made.conditions, made.data, made.scores, made.contrast)
        rows = (e.points, e.features, e.answers, e.repeats)
        if not d or any(len(one) != d for one in features) or len(made.slopes) not in (0, d):
            raise ValueError("its features do not fit one another")
        if not n or any(len(one) != n for one in rows) or e.answers.shape != (n, len(made.outputs)):
            raise ValueError("its rows do not fit one another")
        answers_of(e.answers[:1], made.outputs, made.target)
        return made

    # -- screens: see eagle.display ----------------------------------------------------------------

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that a reader should know before trusting the scores."""
        return warnings.warnings(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what the scores leave open: that they explain little of the model."""
        return warnings.notes(self)

    @property
    def title(self) -> str:
        """What is explained, as a question."""
        return sheet.title(self)

    def sheet(self, level: float = LEVEL) -> Sheet:
        """The content that text and HTML show."""
        return sheet.sheet(self, level)

    def __str__(self) -> str:
        return text.explanation(self)

    def _repr_html_(self) -> str:
        return html.explanation(self)

    def to_frame(self, level: float = LEVEL) -> pd.DataFrame:
        """A tidy table: one row a feature, in the features' own order.

        With a link, `odds` is what a score multiplies the odds by.
        """
        return export.to_frame(self, level)

    def to_shap(self, level: float = LEVEL) -> Any:
        """A `shap.Explanation` for shap's own plots, with one value for each feature.

        A feature's value is its score; in the continuous view, its slope times the distance from
        the background's mean. Values and base value add up to the prediction, so a waterfall ends
        there. The scores of a line do not add up to it by themselves: `base_values`, which shap
        writes as E[f(X)], is what is left, the line's value without these values plus what the line
        misses here. It is no mean prediction.
        """
        return export.to_shap(self, level)


def fields_of_fit(fit: Fitted, y: Array) -> dict[str, Any]:
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


def slopes_of(features: Array) -> tuple[bool, ...]:
    """Which features are offsets of numbers, from the instance's own: 0, where a match is 1."""
    return tuple((features == 0).tolist())
