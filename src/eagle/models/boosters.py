"""Boosters in the native form of their packages: XGBoost, LightGBM, CatBoost."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.link import softmax
from eagle.errors import InputError
from eagle.models.native import Native

OVER_CLASSES: Final = frozenset({"Logloss", "CrossEntropy", "MultiClass"})
"""CatBoost's losses whose probabilities sum to 1."""


# -- XGBoost ------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class XGBoostRun:
    """A Booster as a function of tables. The DMatrix has the booster's names and types.

    `margin` asks for what the trees sum to, and `softmax` turns that into probabilities.
    """

    booster: Any
    margin: bool = False
    softmax: bool = False

    def __call__(self, table: Any) -> NDArray[Any]:
        answers = self.booster.predict(self._matrix(table), output_margin=self.margin)
        return softmax(np.asarray(answers, np.float64)) if self.softmax else np.asarray(answers)

    def _matrix(self, table: Any) -> Any:
        from xgboost import DMatrix

        booster = self.booster
        named = hasattr(table, "columns") or hasattr(table, "column_names")
        if named and booster.feature_names is not None:
            return DMatrix(table, enable_categorical=True)
        if named:  # the booster was fitted without names, and takes none
            matrix = DMatrix(table, enable_categorical=True)
            matrix.feature_names = None
            return matrix
        return DMatrix(
            table,
            feature_names=booster.feature_names,
            feature_types=booster.feature_types,
            enable_categorical=True,
        )


def xgboost(booster: Any) -> Native:
    """An XGBoost Booster. Its objective says what its answers are."""
    learner = json.loads(booster.save_config())["learner"]
    objective = str(learner["objective"]["name"])
    classes = int(learner["learner_model_param"].get("num_class", 0))
    shared: dict[str, Any] = {
        "calls_it": "Booster.predict of xgboost",
        "plainly": XGBoostRun(booster),
        "feature_names_in_": booster.feature_names,
        "n_features_in_": int(booster.num_features()),
    }
    if objective == "binary:logistic":
        note = f"the probability of class 1 ({objective})"
        return Native(
            XGBoostRun(booster), note=note, task="classification", outputs=(0, 1), **shared
        )
    if objective in ("binary:logitraw", "binary:hinge"):
        note = f"decision values ({objective})"
        return Native(
            XGBoostRun(booster, margin=True),
            note=note,
            task="classification",
            outputs=(0, 1),
            margin=True,
            **shared,
        )
    if objective in ("multi:softprob", "multi:softmax"):
        labels = objective == "multi:softmax"
        how = "from the trees' sums, since predict gives labels" if labels else "as predict gives"
        return Native(
            XGBoostRun(booster, margin=labels, softmax=labels),
            note=f"probabilities of {classes} classes, {how} ({objective})",
            task="classification",
            outputs=tuple(range(classes)),
            **{**shared, "plainly": XGBoostRun(booster, margin=labels)},
        )
    return Native(
        XGBoostRun(booster), note=f"numbers as predict gives them ({objective})", **_numbers(shared)
    )


# -- LightGBM -----------------------------------------------------------------------------------


def lightgbm(booster: Any) -> Native:
    """A LightGBM Booster. Its objective says what its answers are."""
    said = re.search(r"^objective=(.*)$", booster.model_to_string(num_iteration=1), re.MULTILINE)
    objective = said.group(1).split()[0] if said else "an objective of the caller's own"
    classes = int(booster.num_model_per_iteration())
    shared: dict[str, Any] = {
        "calls_it": "Booster.predict of lightgbm",
        "plainly": booster.predict,
        "n_features_in_": int(booster.num_feature()),
    }
    if objective == "binary":
        note = f"the probability of class 1 ({objective})"
        return Native(booster.predict, note=note, task="classification", outputs=(0, 1), **shared)
    if objective == "multiclass":
        return Native(
            booster.predict,
            note=f"probabilities of {classes} classes ({objective})",
            task="classification",
            outputs=tuple(range(classes)),
            **shared,
        )
    note = f"numbers as predict gives them ({objective})"
    if objective == "multiclassova":
        note = f"a probability for each class against the rest; they do not sum to 1 ({objective})"
        shared["outputs"] = tuple(range(classes))
    return Native(booster.predict, note=note, **_numbers(shared))


# -- CatBoost -----------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class CatBoostRun:
    """A CatBoost model as a function of tables: probabilities, or the trees' sums."""

    model: Any
    kind: str

    def __call__(self, table: Any) -> NDArray[Any]:
        return np.asarray(self.model.predict(table, prediction_type=self.kind))


def catboost(model: Any) -> Native:
    """A model of CatBoost's base class. Its loss says what its answers are."""
    if not model.is_fitted():
        raise InputError("this CatBoost is not fitted: fit it first")
    loss = str(model.get_all_params().get("loss_function", "unknown loss")).split(":")[0]
    names = [str(n) for n in model.feature_names_]
    placed = names == [str(i) for i in range(len(names))]
    raw = CatBoostRun(model, "RawFormulaVal")
    shared: dict[str, Any] = {
        "calls_it": "CatBoost.predict",
        "plainly": raw,
        "feature_names_in_": None if placed else names,
        "n_features_in_": len(names),
    }
    if loss in OVER_CLASSES:
        classes = tuple(np.asarray(model.classes_).tolist()) or (0, 1)
        return Native(
            CatBoostRun(model, "Probability"),
            note=f"probabilities of {len(classes)} classes ({loss})",
            task="classification",
            outputs=classes,
            **shared,
        )
    return Native(raw, note=f"the trees' sums, as numbers ({loss})", **_numbers(shared))


def _numbers(shared: dict[str, Any]) -> dict[str, Any]:
    """The settings of a model that gives numbers, not classes."""
    return {**shared, "task": "regression"}
