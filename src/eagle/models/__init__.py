"""Anything that predicts, as a function that is asked tables and gives numbers."""

from typing import TYPE_CHECKING, Any

from eagle.models.recording import Recorded, recorded

if TYPE_CHECKING:
    from eagle.models import http, vision

__all__ = ["Recorded", "http", "recorded", "vision"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """A module that is imported when it is first asked for."""
    if name in ("http", "vision"):
        from importlib import import_module

        return import_module(f"eagle.models.{name}")
    raise AttributeError(f"module 'eagle.models' has no attribute {name!r}")
