"""Calibrated Explanations, by its own package, with every row counted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables.column import plain
from eagle._values.arrays import Array
from eagle._values.checks import elements
from eagle._values.posterior import Bounds
from eagle._values.targets import answers_of
from eagle._values.text import short_repr
from eagle.errors import InputError, MissingExtraError
from eagle.peers.foreign import (
    Foreign,
    ForeignScores,
    Question,
    hushed,
    refuse_missing,
    seeded,
    too_small,
)

CALIBRATED: Final = "Calibrated Explanations"

PERCENTILES: Final = (5, 95)
"""The default percentiles of Calibrated Explanations in a regression."""


@final
@dataclass(frozen=True)
class Calibrated:
    """The factual weights of `calibrated_explanations`, calibrated on the background's rows.

    `labels` are those of the explainer's data, row by row: names of classes, or numbers in a
    regression. The instance and the background are asked once, then rows with one feature changed:
    up to six for a number, one for each level of a category. The bounds for classes come from
    Venn-Abers predictors and have no level. In a regression they are the 5th and 95th percentiles.
    """

    labels: tuple[Hashable, ...]

    def __call__(self, question: Question) -> ForeignScores:
        wrapper = _calibrated()
        self._refuse(question)
        task, labels = self._labels(question)
        classes = task == "classification"
        learner = (
            _Classifier(question.answers, np.arange(labels.max() + 1))
            if classes
            else _Regressor(question.model)
        )
        # For more than two classes the package explains the predicted one, unless asked for all.
        every = classes and bool(labels.max() > 1)
        asked = {"multi_labels_enabled": True} if every else {"low_high_percentiles": PERCENTILES}
        try:
            with seeded(question.seed), quiet():
                explainer = wrapper(learner)
                explainer.calibrate(
                    question.data.copy(),
                    labels,
                    mode=task,
                    categorical_features=question.categories,
                    seed=question.seed % 2**32,
                )
                result = explainer.explain_factual(question.x[None].copy(), **asked)
        except Exception as error:
            if learner.failed is None:
                raise InputError(f"{CALIBRATED} failed here: {error}") from error
        if learner.failed is not None:  # raise the model's own error, not the package's
            raise learner.failed
        _, outputs = question.output_names()
        place = _place(question.target, outputs) if classes else 1
        weights = (result.explanations[0][place] if every else result[0]).feature_weights
        scores, low, high = (
            np.array(weights[k], dtype=np.float64) for k in ("predict", "low", "high")
        )
        if place == 0 and not every:  # of two classes, the package explains the second
            scores, low, high = 0.0 - scores, 0.0 - high, 0.0 - low
        level = None if classes else (PERCENTILES[1] - PERCENTILES[0]) / 100
        return ForeignScores(scores, posterior=Bounds(scores, low, high, level))

    def _refuse(self, question: Question) -> None:
        """Refuse what cannot work before anything is asked."""
        if question.box.link is not None:
            raise InputError(f"{CALIBRATED} explains probabilities as they are: leave link out")
        if len(self.labels) != question.instances.rows.count:
            raise InputError(
                f"{CALIBRATED} needs a label for each row of the data: {len(self.labels)} labels "
                f"came for {question.instances.rows.count} rows"
            )
        if any(column.frozen for column in question.instances.table.background.columns):
            raise InputError(
                f"{CALIBRATED} asks the rows of the data as they are, so no column can be frozen"
            )
        refuse_missing(CALIBRATED, question)
        if not np.ptp(question.data, axis=0).any():
            raise InputError(f"{CALIBRATED} needs a feature that varies in the data")
        if question.box.margin:
            raise InputError(f"{CALIBRATED} needs class probabilities, not {question.box.calls_it}")
        if isinstance(question.target, tuple):
            raise InputError(f"{CALIBRATED} explains one output, not one against another")
        levels = [len(np.unique(question.data[:, j])) for j in question.categories]
        numbers = len(question.x) - len(levels)
        most = 1 + len(question.data) + 6 * numbers + sum(levels)
        if question.budget < most:
            raise too_small(CALIBRATED, most, question)

    def _labels(self, question: Question) -> tuple[str, NDArray[Any]]:
        """The task, and the labels of the rows used: numbers, or places of classes."""
        task: str | None = question.box.task
        outputs = question.box.outputs
        if task is None or (task == "classification" and outputs is None):
            question.answers(question.data[:0])  # asks the instance alone, whose answer shows both
            task, outputs = question.output_names()
        labels = [self.labels[j] for j in question.instances.rows.places]
        if task == "regression":
            if not all(isinstance(v, int | float) and np.isfinite(v) for v in labels):
                raise InputError(f"{CALIBRATED} needs labels that are numbers in a regression")
            return task, np.array(labels, dtype=np.float64)
        assert outputs is not None
        places = {label: _place(label, outputs) for label in dict.fromkeys(labels)}
        absent = [repr(o) for k, o in enumerate(outputs) if k not in places.values()]
        if absent:
            raise InputError(
                f"{CALIBRATED} needs rows of every class, but no label is {' or '.join(absent)}"
            )
        return task, np.array([places[label] for label in labels])


@dataclass(eq=False)
class _Learner:
    """The model as a fitted estimator."""

    ask: Callable[[Array], Array]
    failed: Exception | None = field(default=None, init=False)

    def __deepcopy__(self, memo: Any) -> _Learner:
        """Return itself: the package makes deep copies, which not every model allows."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> _Learner:
        return self

    def answers(self, X: Any) -> Array:
        if self.failed is not None:  # the package would try another way, at the same cost
            raise self.failed
        try:
            return self.ask(np.asarray(X, dtype=np.float64))
        except Exception as error:
            self.failed = error
            raise


@final
@dataclass(eq=False)
class _Classifier(_Learner):
    """The model as a classifier. Its classes are the places of the outputs."""

    classes_: NDArray[np.intp]

    def predict_proba(self, X: Any) -> Array:
        return self.answers(X)

    def predict(self, X: Any) -> NDArray[np.intp]:
        return np.asarray(self.answers(X).argmax(axis=1))


@final
class _Regressor(_Learner):
    """The model as a regressor of the explained output."""

    def predict(self, X: Any) -> Array:
        return self.answers(X)


def _place(name: Any, outputs: tuple[Any, ...]) -> int:
    """The place of an output by its name, as a target is read."""
    return int(answers_of(np.arange(float(len(outputs)))[None], outputs, name)[0])


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the warnings and the log of Calibrated Explanations, not those of the model."""
    log = logging.getLogger("calibrated_explanations")
    before = log.level
    with (
        hushed("calibrated_explanations", "crepes", "venn_abers", r"eagle\.peers\.calibrated"),
        np.errstate(),
    ):
        log.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            log.setLevel(before)


def _calibrated() -> Any:
    try:
        with quiet():  # its dependencies change warning filters and numpy's error state
            from calibrated_explanations import WrapCalibratedExplainer
    except ImportError:
        raise MissingExtraError(CALIBRATED, "calibrated-explanations", "peers") from None
    return WrapCalibratedExplainer


def calibrated_explanations(labels: Iterable[Hashable]) -> Foreign:
    """Calibrated Explanations, by its own package. `labels` are those of the data's rows.

    To calibrate, every explanation asks all rows of the data once, up to 10,000; with less data it
    asks less. The bounds are about calibration, not about sampling.
    """
    given = tuple(plain(label) for label in elements(labels, "labels of the data's rows"))
    for label in given:
        if not isinstance(label, Hashable):
            raise InputError(
                f"a label is a class or a number, one for each row, not {short_repr(label)}"
            )
    return Foreign(CALIBRATED, Calibrated(given), budget=20_000)
