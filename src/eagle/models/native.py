"""Models of other packages that are neither estimators nor functions of tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, final

from eagle._values.arrays import Model

Task: TypeAlias = Literal["classification", "regression"]


@final
@dataclass(frozen=True, eq=False)
class Native:
    """A model as a function of tables, with what it says about itself.

    `calls_it` names what is called, and `note` says how the answers are read. `outputs` are the
    classes of a classifier. `margin` is True for decision values. `plainly` is asked in place of
    `function` where the caller says task='regression'. `feature_names_in_` and `n_features_in_`
    are as in scikit-learn, None if they are not known.
    """

    function: Model
    calls_it: str
    note: str
    task: Task | None = None
    outputs: tuple[Any, ...] | None = None
    margin: bool = False
    plainly: Model | None = None
    feature_names_in_: list[str] | None = None
    n_features_in_: int | None = None


def native(model: Any, task: Task | None = None, outputs: Any = None) -> Any:
    """The model as a `Native` if it is of a kind known here, else the model itself.

    Kinds are told by their names, so that no package is imported for others. `task` and `outputs`
    are what the caller says: a torch module cannot say itself what its numbers are.
    """
    kinds = {(str(c.__module__).split(".")[0], c.__name__) for c in type(model).__mro__}
    if ("xgboost", "Booster") in kinds:
        from eagle.models.boosters import xgboost

        return xgboost(model)
    if ("lightgbm", "Booster") in kinds:
        from eagle.models.boosters import lightgbm

        return lightgbm(model)
    if type(model).__name__ == "CatBoost" and ("catboost", "CatBoost") in kinds:
        from eagle.models.boosters import catboost

        return catboost(model)
    if ("torch", "Module") in kinds and not _predicts(model):
        from eagle.models.torch import torch_module

        return torch_module(model, task, outputs)
    predict = getattr(model, "predict", None)
    if not hasattr(model, "predict_proba") and callable(predict) and _prints(predict):
        return Native(
            partial(predict, verbose=0),
            f"{type(model).__name__}.predict(verbose=0)",
            "as predict gives them",
        )
    return model


def _predicts(model: Any) -> bool:
    """Whether a module has a method of its own that predicts."""
    return any(callable(getattr(model, name, None)) for name in ("predict_proba", "predict"))


def _prints(predict: Callable[..., Any]) -> bool:
    """Whether predict shows its progress unless told not to, as that of Keras does."""
    try:
        parameters = inspect.signature(predict).parameters
    except (TypeError, ValueError):
        return False
    if not {"batch_size", "steps", "verbose"} <= set(parameters):
        return False
    default = parameters["verbose"].default
    return isinstance(default, str | int) and default != 0
