"""Every public name: what users import, and what they are given by it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

MODULES = (
    "eagle",
    *(f"eagle.{name}" for name in ("dataset", "language", "methods", "metrics", "models", "peers")),
    *(f"eagle.{name}" for name in ("plot", "theory", "until")),
    *(f"eagle.{name}" for name in ("contracts", "designs", "kernels", "spaces", "surrogates")),
    *(f"eagle.metrics.{name}" for name in ("stability", "truth", "faith")),
    *(f"eagle.models.{name}" for name in ("http", "vision")),
)
"""Modules that users import. Each lists its public names."""

OTHERS = (
    "eagle.saved.Verification",
    "eagle.survey.plan.SurveyPlan",
    "eagle.cost.Cost",
    "eagle._values.lack_of_fit.LackOfFit",
    "eagle._values.means.Means",
    "eagle.comparison.Compared",
)
"""What users are given by public names, or import from a module that has more."""


def public() -> Iterator[str]:
    for module in MODULES:
        names = import_module(module).__all__
        yield from (f"{module}.{name}" for name in names)
    yield from OTHERS
