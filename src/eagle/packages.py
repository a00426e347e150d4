"""Packages that a bare install lacks, imported without what they have to say."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

from eagle.types import MissingExtraError


def shap(what: str) -> Any:
    """The package `shap`, for something that needs it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of packages below it, which its user cannot mend
            return import_module("shap")
    except ImportError:
        raise MissingExtraError(what, "shap", "shap") from None
