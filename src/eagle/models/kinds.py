"""Which kind of model is given, told by the names of its classes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from eagle.models.boosters import catboost, lightgbm, xgboost
from eagle.models.native import Native, Task
from eagle.models.torch import torch_module


def native(model: Any, task: Task | None = None, outputs: Any = None) -> Any:
    """The model as a `Native` if it is of a kind known here, else the model itself.

    Kinds are told by their names, so that no package is imported for others. `task` and `outputs`
    are what the caller says: a torch module cannot say itself what its numbers are.
    """
    kinds = {(str(c.__module__).split(".")[0], c.__name__) for c in type(model).__mro__}
    if ("xgboost", "Booster") in kinds:
        return xgboost(model)
    if ("lightgbm", "Booster") in kinds:
        return lightgbm(model)
    if type(model).__name__ == "CatBoost" and ("catboost", "CatBoost") in kinds:
        return catboost(model)
    if ("torch", "Module") in kinds and not _predicts(model):
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
