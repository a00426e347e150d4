"""Optional packages, imported without their warnings."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

from eagle.types import MissingExtraError


def one_thread() -> AbstractContextManager[Any]:
    """Within it linear algebra takes one thread, if `threadpoolctl`, which scikit-learn brings, is
    installed. Small products are faster so: threads would wait for one another."""
    try:
        limits: AbstractContextManager[Any] = import_module("threadpoolctl").threadpool_limits(1)
    except ImportError:
        return nullcontext()
    return limits


def shap(what: str) -> Any:
    """The package `shap`, for something that needs it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about its dependencies, which a user cannot change
            return import_module("shap")
    except ImportError:
        raise MissingExtraError(what, "shap", "shap") from None
